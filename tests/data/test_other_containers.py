"""What lies under a mask is missing, integers beyond 2^53 are told, and other containers keep what they say."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data import check_labels, check_sample_weight, check_table, warn_of_distances
from gnomon.data.labels import sort_into_classes
from gnomon.exceptions import DataWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, :2].copy()


def masked(values, rows=3):
    hidden = np.zeros(values.shape, dtype=bool)
    hidden[rows] = True
    return np.ma.masked_array(np.where(hidden, 1e6, values), mask=hidden)


@pytest.mark.parametrize("ask", [gn.evaluate, gn.explain])
def test_masked_features_are_missing_for_judges_too(ask):
    with pytest.raises(ValueError, match=r"X must be finite \(it contains NaN \(4\)"):
        ask(masked(X), Y)
    ask(np.ma.masked_array(X, mask=False), Y)


def test_masked_places_are_rows_without_a_place():
    gone = np.where(np.arange(60)[:, None] == 3, np.nan, Y)
    for ask in (lambda given: gn.evaluate(X, given).trustworthiness, lambda given: gn.embedding_similarity(given, X)):
        assert ask(masked(Y)) == ask(gone) != ask(masked(Y).data)
    np.testing.assert_array_equal(gn.AffineAtlas(X, masked(Y)).transform(X), gn.AffineAtlas(X, gone).transform(X))


@pytest.mark.parametrize("values", [np.arange(5), np.arange(5.0), np.array(list("abcde"))])
def test_masked_labels_are_missing(values):
    labels = check_labels(np.ma.masked_array(values, mask=np.arange(5) == 3), 5)
    assert [str(labels[i]) for i in (0, 4)] == [str(check_labels(values.astype(labels.dtype), 5)[i]) for i in (0, 4)]
    assert labels[3] is None or np.isnan(labels[3])


def test_masked_weights_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must be finite .*row 3 has nan"):
        check_sample_weight(masked(np.ones(60)), X)


STAMPS = 1_700_000_000_000_000_000 + np.arange(30).reshape(10, 3)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda v: v.astype(np.uint64)])
def test_integers_that_float64_rounds_are_told(form):
    with pytest.warns(
        DataWarning, match=r"17000000000000000\d\d are rounded in float64; differences below 256 are lost"
    ):
        check_table(form(STAMPS))


def test_integers_that_float64_holds_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for held in (STAMPS - STAMPS.min(), STAMPS // 1024 * 1024, np.full((4, 3), 2**53), -np.full((4, 3), 2**53)):
            check_table(held)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_the_largest_integers_are_rounded(kind):
    with pytest.warns(DataWarning, match=r"6 whole numbers .* are rounded"):
        check_table(np.full((2, 3), np.iinfo(kind).max, dtype=kind))


class Labelled:
    """What an array of xarray shows."""

    def __init__(self, values, names):
        self.values, self.dims, self.coords = values, ("row", "feature"), {} if names is None else {"feature": names}

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


def test_texts_along_the_columns_of_an_array_are_names():
    assert check_table(Labelled(X, ["a", "b", "c", "d"])).feature_names == ["a", "b", "c", "d"]
    for names in (None, [0, 1, 2, 3]):
        assert check_table(Labelled(X, names)).feature_names is None
    fitted = gn.PCA().fit(Labelled(X, ["a", "b", "c", "d"]))
    with pytest.raises(ValueError, match="order"):
        fitted.transform(Labelled(X[:, ::-1], ["d", "c", "b", "a"]))


def test_a_map_of_records_places_records():
    columns = {"a": X[:, 0], "b": X[:, 1], "kind": np.array(["x", "y"])[np.arange(60) % 2]}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    made = gn.map(columns, max_iter=5, random_state=0)
    for new in (columns, records, dict(reversed(columns.items()))):
        np.testing.assert_allclose(made.transform(new), made.embedding, atol=1e-5)
    made.transform(records[:1])


def test_a_lazy_frame_is_refused_with_what_to_do():
    pl = pytest.importorskip("polars")
    for ask in (gn.map, lambda lazy: gn.evaluate(lazy, Y), gn.PCA().fit):
        with pytest.raises(TypeError, match=r"lazy frame.*Pass X\.collect\(\)"):
            ask(pl.DataFrame(X).lazy())
    with pytest.raises((TypeError, ValueError), match=r"evaluate: Y must be an array of numbers \(LazyFrame"):
        gn.evaluate(X, pl.DataFrame(Y).lazy())


@pytest.mark.usefixtures("here")
def test_the_types_decide_the_precision_in_every_container(tmp_path):
    pytest.importorskip("pyarrow")
    rounded = X.round(3).astype(np.float32).astype(np.float64)  # float32 would hold them
    frame = pd.DataFrame(rounded, columns=list("abcd"))
    frame.to_parquet(tmp_path / "X.parquet")
    forms = [frame, {name: frame[name].to_numpy() for name in frame}, frame.to_dict("records")]
    forms.append(gn.read_table(tmp_path / "X.parquet"))
    expected = gn.map(rounded, max_iter=3, random_state=0).embedding.tobytes()
    for form in forms:
        made = gn.map(form, max_iter=3, random_state=0)
        assert made.X.dtype == np.float64
        assert made.embedding.tobytes() == expected


def test_a_sparse_matrix_that_is_a_mapping_is_a_table():
    stored = sp.dok_matrix(np.where(X > 0, X, 0.0))
    assert gn.Map(stored, Y).X.shape == (60, 4)
    with pytest.warns(DataWarning, match="60 rows hold"):
        assert gn.map(stored, max_iter=3).n_samples == 60
    assert gn.map(X, max_iter=3).transform(stored).shape == (60, 2)


def _with_fields(values, **texts):
    table = np.zeros(len(values), dtype=[("a", "f8"), ("b", "f4"), ("c", "i4"), *((name, "U3") for name in texts)])
    for j, name in enumerate("abc"):
        table[name] = 10 * values[:, j]
    for name, column in texts.items():
        table[name] = column
    return table


@pytest.mark.parametrize("form", [np.asarray, lambda table: table.view(np.recarray)])
def test_a_structured_array_is_a_data_frame(form):
    plain, mixed = form(_with_fields(X)), form(_with_fields(X, kind=np.where(X[:, 0] > 0, "up", "low")))
    for table in (plain, mixed):
        frame = pd.DataFrame(np.asarray(table))
        made, expected = gn.map(table, method="pca"), gn.map(frame, method="pca")
        assert made.feature_names == expected.feature_names
        np.testing.assert_array_equal(made.embedding, expected.embedding)
        assert made.extend(table[:3])[0].n_samples == 63
    fitted = gn.PCA().fit(plain)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.transform(plain), fitted.embedding_)
    with pytest.raises(TypeError, match=r"found records.*for instance with pandas\.DataFrame\(X\)"):
        gn.PCA().fit(mixed)


def test_masked_fields_are_missing():
    table = np.ma.array(_with_fields(X), mask=False)
    table.mask["b"][3] = True
    with pytest.raises(ValueError, match="at row 3, column 'b'"):
        gn.PCA().fit(table)
    with pytest.warns(DataWarning, match=r"1 of 180 values are missing .*\('b' 1\)"):
        gn.map(table, method="pca")


@pytest.mark.parametrize("kind", [int, str, bool])
def test_a_map_that_grows_keeps_its_labels(kind):
    labels = np.array([0, 1] * 30).astype(kind)
    made = gn.Map(X, Y, labels=labels)
    larger, _ = made.extend(X[:3] + 0.01)
    assert larger.labels[:60].tolist() == labels.tolist()
    assert sort_into_classes(larger.labels).codes[60:].tolist() == [-1] * 3
    assert larger.contrast(larger.labels == labels[0]).n_selected == 30


def test_distances_that_are_taken_for_features_are_told():
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=-1))
    told = r"X of shape \(60, 60\) is symmetric with zeros on its diagonal, as distances are"
    for ask in (lambda given: gn.MDS(max_iter=3).fit(given), lambda given: gn.map(given, method="mds", max_iter=3)):
        with pytest.warns(DataWarning, match=told) as caught:
            ask(D)
        assert sum("symmetric" in str(one.message) for one in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.MDS(metric="precomputed", max_iter=3).fit(D)
        for other in (D + np.eye(60), D - 1.0 + np.eye(60), np.triu(D), np.zeros((60, 60)) + X[:, :1], D[:, :59]):
            check_table(other)
            warn_of_distances(other)
