"""A map of features without meaning is explained by metadata, categories and words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.exceptions import DataWarning
from gnomon.explanations import encode_features, explain_with_features, mean_importance
from gnomon.explanations.contrast import contrast
from gnomon.explanations.interpretable import _texts_of, read_features
from gnomon.maps import Map


@pytest.fixture(scope="module")
def texts():
    """Short texts, each a bag of common words; some are about ships, some about bread. The data are projections."""
    rng = np.random.default_rng(0)
    common = [f"word{j}" for j in range(12)]
    about = rng.integers(0, 3, 400)
    rows = []
    for topic in about:
        words = list(rng.choice(common, 4, replace=False))
        words += [["Harbour", "sails"], ["flour", "OVEN"], []][topic]
        rows.append(" ".join(rng.permutation(words)) + ".")
    Z, names = encode_features({"text": np.array(rows)})
    X = Z.toarray() @ rng.normal(size=(Z.shape[1], 30)) / np.sqrt(30)
    return np.array(rows), about, X, Z, names


def test_words_that_drive_a_direction_are_named(texts):
    _, about, X, Z, names = texts
    ships, bread = names.index("text: sails"), names.index("text: flour")
    Y = np.stack([Z[:, [ships]].toarray().ravel(), Z[:, [bread]].toarray().ravel()], axis=1) * 5
    Y += 0.05 * np.random.default_rng(1).normal(size=Y.shape)
    with pytest.warns(DataWarning, match="43 of 400 rows"):  # of the same words
        explanation = explain_with_features(X, Y, Z, feature_names=names, n_neighbors=30, n_jobs=1)
    found = mean_importance(explanation)
    assert {"text: sails", "text: flour", "text: harbour", "text: oven"} == set(found.features[:4])
    assert found.fidelity > 0.5
    apart = contrast(Z, about == 0, feature_names=names)
    assert set(apart.features[:2]) == {"text: sails", "text: harbour"}


def test_the_map_asks_in_terms_of_other_features(texts):
    rows, about, X = (part[:200] for part in texts[:3])
    rng = np.random.default_rng(0)
    age = np.where(about == 2, 60.0, 20.0) + rng.normal(size=200)
    Y = np.stack([age / 10, rng.normal(size=200)], axis=1)
    result = Map(X, Y, metadata={"text": rows, "age": age, "kind": np.array(list("ab"))[np.arange(200) % 2]}, n_jobs=1)
    Z, names = encode_features(result.metadata)
    explanation = result.explain(features=Z, feature_names=names)
    assert explanation.feature_names == names
    assert result.importance(explanation=explanation).features[0] == "age"
    line = result.axis([(1.5, 0), (6.5, 0)], explanation=explanation, width=2.0)
    assert line.features[0] == "age"
    assert explanation.why(3).features[0] in names
    assert result.explain().feature_names != names


@pytest.mark.parametrize(
    "given",
    [
        lambda columns: columns,
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).astype({"kind": "string"}),
        lambda columns: pd.DataFrame(columns).astype({"kind": "category"}),
        pl.DataFrame,
    ],
    ids=["mapping", "objects", "strings", "categories", "polars"],
)
def test_columns_of_several_kinds_are_encoded_and_explain(given):
    rng = np.random.default_rng(0)
    kind, X = rng.integers(0, 2, 100), rng.normal(size=(100, 4))
    columns = {"age": X[:, 0], "kind": np.array(["x", "y"], dtype=object)[kind]}
    Y = np.stack([3.0 * kind, X[:, 1]], axis=1)
    found = explain_with_features(X, Y, given(columns), n_neighbors=20)
    Z, names = encode_features(columns)
    expected = explain_with_features(X, Y, Z, feature_names=names, n_neighbors=20)
    assert found.feature_names == names == ["age", "kind = y"]
    assert found.importance.tobytes() == expected.importance.tobytes()
    assert mean_importance(found).features[0] == "kind = y"
    with pytest.raises(ValueError, match="feature_names must be None"):
        explain_with_features(X, Y, given(columns), feature_names=["a", "b"])


def test_one_text_for_each_row_explains_by_its_words(texts):
    rows, about, X, _, _ = texts
    Y = np.stack([5.0 * (about == 0), np.random.default_rng(0).normal(size=400)], axis=1)
    with pytest.warns(DataWarning, match="43 of 400 rows"):  # of the same words
        found = explain_with_features(X, Y, rows.tolist(), n_neighbors=30)
    assert set(mean_importance(found).features[:2]) == {"sails", "harbour"}


def test_numbers_keep_their_units_and_missing_ones_are_at_the_mean_and_marked():
    Z, names = encode_features({"age": np.array([10.0, 20, np.nan, 30]), "flat": np.ones(4), "old": [True, False] * 2})
    assert names == ["age", "age missing", "flat", "old"]
    np.testing.assert_array_equal(Z, [[10, 0, 1, 1], [20, 0, 1, 0], [20, 1, 1, 1], [30, 0, 1, 0]])


def test_categories_become_one_feature_each_and_two_of_them_one():
    Z, names = encode_features({"kind": np.array(["b", "a", "b", None], dtype=object)})
    assert names == ["kind = b", "kind missing"]
    np.testing.assert_allclose(Z, [[1, 0], [0, 0], [1, 0], [2 / 3, 1]])
    Z, names = encode_features({"kind": np.array(["c", "a", "b", "b", "b"]), "all": ["x"] * 5})
    assert names == ["kind = a", "kind = b", "kind = c", "all = x"]
    np.testing.assert_array_equal(Z, np.eye(4)[[2, 0, 1, 1, 1]] + [0, 0, 0, 1])


def test_columns_are_called_and_measured_as_in_a_map_of_the_same_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(20, 80, 60), "sex": rng.choice(["f", "m"], 60)})
    frame["land"], frame["when"] = (
        rng.choice(list("xyz"), 60),
        pd.date_range("2020-01-01", periods=60)[rng.permutation(60)],
    )
    frame["grade"] = pd.Categorical(rng.choice(["low", "mid", "top"], 60), ["low", "mid", "top"], ordered=True)
    frame["old"] = frame["age"] > 50
    mapped = gn.map(frame, "pca", random_state=0)
    Z, names = encode_features(frame)
    assert names == mapped.feature_names
    np.testing.assert_array_equal(Z, mapped.X)


def test_texts_become_words_as_documented():
    rows = [f"Red-hot {j} x naïve" + (" blue" if j < 6 else "") for j in range(30)]
    Z, names = encode_features({"text": np.array(rows)}, min_rows=5)
    assert names == ["text: blue"]  # red, hot and naïve are in all rows, numbers in too few, x is one letter
    assert sp.issparse(Z)
    np.testing.assert_array_equal(Z.toarray()[:, 0], np.arange(30) < 6)
    some, fewest = encode_features({"t": np.array([f"alpha{j % 25} beta{j % 3}" for j in range(100)])}, max_words=2)
    assert fewest == ["t: beta0", "t: beta1"]
    assert some.shape == (100, 2)


def test_frames_and_dates_are_read():
    frame = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=3), "n": [1, 2, 3]})
    frame["maybe"] = pd.array([1, None, 3], dtype="Int64")
    Z, names = encode_features(frame)
    assert names == ["when (days since 2020-01-01)", "n", "maybe", "maybe missing"]
    np.testing.assert_array_equal(Z, [[0, 1, 1, 0], [1, 2, 2, 1], [2, 3, 3, 0]])


def test_wrong_metadata_are_refused(texts):
    _, _, X, Z, _ = texts
    with pytest.raises(ValueError, match="metadata must be columns of one length"):
        encode_features({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="there are none"):
        encode_features({})
    with pytest.raises(TypeError, match="metadata of type list must be a mapping or a data frame"):
        encode_features([1, 2])
    with pytest.raises(ValueError, match="such that a feature comes of it"):
        encode_features({"name": np.array([f"n{j}" for j in range(40)])})
    with pytest.raises(ValueError, match="max_words=0 must be an integer >= 1"):
        encode_features({"a": [1, 2]}, max_words=0)
    with pytest.raises(ValueError, match="X with 400 rows and features with 399"):
        explain_with_features(X, X[:, :2], Z[1:])


def test_a_column_with_just_as_many_texts_as_allowed_stays_categories():
    column = np.array(["aa", "bb", "cc"])[np.arange(30) % 3]
    assert encode_features({"kind": column}, max_categories=3)[1] == ["kind = aa", "kind = bb", "kind = cc"]
    assert encode_features({"kind": column}, max_categories=2)[1] == ["kind: aa", "kind: bb", "kind: cc"]


def test_a_word_counts_once_in_a_text_however_often_it_is_there():
    Z, names = encode_features({"text": np.array(["oar oar oar sail", "oar", "sail sail", "rope", "rope oar", "rope"])})
    found = dict(zip(names, (Z.toarray() if sp.issparse(Z) else np.asarray(Z)).T, strict=True))
    several = [column for name, column in found.items() if "oar" in name]
    assert several
    assert all(len(np.unique(column)) == 2 for column in several)


def test_texts_are_told_from_other_columns_though_some_are_missing():
    assert _texts_of(["oar", None, "", np.nan]) == ["oar", "", "", ""]
    assert _texts_of(pd.Series(["oar", None], dtype=object)) == ["oar", ""]
    for other in (["", None], ["oar", 1.0], "oar", {"a": ["oar"]}, pd.DataFrame({"a": ["oar"]}), [["oar"], ["sail"]]):
        assert _texts_of(other) is None


def test_missing_texts_have_no_words():
    texts = ["oar sail", "oar", None, "sail", ""] * 3
    counts, words = read_features(texts)
    assert words == ["oar", "sail"]
    np.testing.assert_array_equal(counts.toarray(), [[1, 1], [1, 0], [0, 0], [0, 1], [0, 0]] * 3)
    assert read_features(["oar"] * 5 + ["sail"] * 4)[1] == ["oar"]  # a word in five texts, not in four
    with pytest.raises(ValueError, match="texts with words in common"):
        read_features(["oar"] * 4 + ["sail"] * 4)


def test_features_are_explained_by_their_deviations_whatever_their_units(texts):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    Z[:, 2] = 4.0
    Y = Z[:, :2] + 0.01 * rng.normal(size=(200, 2))
    one, other = (
        explain_with_features(Y, Y, table, n_neighbors=20, n_jobs=1) for table in (Z, Z * [1000.0, 0.01, 1.0])
    )
    np.testing.assert_allclose(one.importance, other.importance, rtol=1e-4)
    assert not one.importance[:, 2].any()
    assert [answer.why(7).values[answer.why(7).features.index("feature 0")] for answer in (one, other)] == [
        Z[7, 0],
        1000.0 * Z[7, 0],
    ]
    few = explain_with_features(Y[:30], Y[:30], Z[:30], n_jobs=1)
    assert few.n_neighbors == 29
    assert explain_with_features(Y, Y, Z, n_jobs=1).n_neighbors == 60


def test_numbers_among_objects_stay_numbers_and_gaps_are_marked():
    Z, names = encode_features({"n": np.array([1, None, 4.5, 2], dtype=object)})
    expected, _ = encode_features({"n": np.array([1, np.nan, 4.5, 2])})
    assert names == ["n", "n missing"]
    np.testing.assert_array_equal(Z, expected)


def test_dates_are_times_since_the_first_and_missing_ones_marked():
    days = np.array(["2020-01-01", "NaT", "2020-01-03", "2020-01-02"], dtype="datetime64[D]")
    Z, names = encode_features({"when": days, "never": np.full(4, "NaT", dtype="datetime64[s]")})
    assert names == ["when (days since 2020-01-01)", "when missing", "never missing"]
    np.testing.assert_array_equal(Z, [[0, 0, 1], [1, 1, 1], [2, 0, 1], [1, 0, 1]])
    close = np.datetime64("2020-01-01T00:00:00.000000") + np.array([0, 10, 20, 60]) * np.timedelta64(1, "us")
    np.testing.assert_allclose(encode_features({"when": close})[0][:, 0] * 3.6e9, [0, 10, 20, 60], atol=0.5)


def test_columns_without_numbers_that_are_known_and_of_other_shapes():
    Z, names = encode_features({"n": np.array([np.nan, np.inf, np.nan]), "same": np.array([2.0, np.nan, 2.0])})
    assert names == ["n", "n missing", "same", "same missing"]
    np.testing.assert_array_equal(Z, [[0, 1, 2, 0], [0, 1, 2, 1], [0, 1, 2, 0]])
    assert encode_features({"a": np.tile([0.0, 1.0], (3, 1))})[1] == ["a[0]", "a[1]"]
    for wrong in ({"a": np.zeros((3, 2, 2))}, {"a": []}, {"a": [1.0, 2.0], "b": np.zeros((2, 1))}):
        with pytest.raises(ValueError, match="metadata must be columns of one length"):
            encode_features(wrong)
    for option, least in (("max_categories", 2), ("max_words", 1), ("min_rows", 1)):
        with pytest.raises(ValueError, match=f"{option}={least - 1} must be an integer >= {least}"):
            encode_features({"a": [1, 2]}, **{option: least - 1})
        assert encode_features({"a": [1, 2]}, **{option: least})[1] == ["a"]


def test_the_words_of_most_texts_are_kept_up_to_two_hundred_in_alphabetical_order():
    words = np.array([f"w{j:03d}" for j in range(203)])
    texts = [" ".join(words if i % 2 else words[3:]) for i in range(10)] + ["zz"]
    counts, kept = read_features(texts)  # in ten texts, but three in five
    assert kept == words[3:].tolist()
    assert counts.shape == (11, 200)
    several, names = encode_features({"t": np.array(texts), "n": np.arange(11.0)}, max_categories=2)
    assert names == [*(f"t: {word}" for word in words[3:]), "n"]
    assert several.format == "csr"
    np.testing.assert_array_equal(several.toarray()[:, 200], np.arange(11))
    assert encode_features({"t": np.array(["aa bb", "aa", "bb"])}, max_categories=2, min_rows=2)[1] == [
        "t: aa",
        "t: bb",
    ]


def test_sparse_features_and_whole_numbers_are_explained_as_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (80, 3))
    Z = (rng.random((80, 4)) < 0.4) * [1.0, 2.0, 0.5, 1.0]
    Y = np.column_stack([Z[:, 0] + 0.1 * X[:, 0], X[:, 1]]).astype(float)
    one = explain_with_features(X, Y, Z, n_neighbors=20, n_jobs=1)
    for form in (X.astype(np.float32), np.asfortranarray(X.astype(float)), sp.csr_array(X)):
        other = explain_with_features(form, Y, sp.csr_array(Z), n_neighbors=20, n_jobs=1)
        np.testing.assert_array_equal(other.graph.indices, one.graph.indices)
        np.testing.assert_allclose(other.importance, one.importance, rtol=1e-4, atol=1e-6)
    graph = one.graph.nearest(12)
    given = explain_with_features(X, Y, Z, graph=graph, n_neighbors=12, n_jobs=1)
    np.testing.assert_array_equal(given.graph.indices, graph.indices)
    city = explain_with_features(X, Y, Z, n_neighbors=20, metric="manhattan", n_jobs=1)
    assert city.graph.metric == "manhattan"


def test_one_text_and_blanks_is_there_or_not():
    flags = {"vip": np.array(["x", None, None, "x"] * 10, dtype=object), "a": np.arange(40.0) ** 2}
    Z, names = encode_features(flags)  # of which nothing can be dropped, so that nothing is warned of
    assert names == ["vip = x", "a"]
    np.testing.assert_array_equal(Z[:4, 0], [1, 0, 0, 1])
    Z, names = encode_features({"id": np.array(["u", "v"] * 20)})  # which a map leaves out by its name
    assert names == ["id = v"]
    assert Z[:, 0].tolist() == [0.0, 1.0] * 20
