"""An AnnData object is a table: its parts are found by scanpy's names, whether in memory, a view or in a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data import Reduction, Representation, check_table, read_table
from gnomon.data.cells import annotation, in_memory, read_cells
from gnomon.data.h5ad import read_h5ad
from gnomon.data.labels import name_of, sort_into_classes
from gnomon.neighbors import compute_neighbors
from gnomon.viewer.columns import encode_column

anndata = pytest.importorskip("anndata")
N, GENES = 40, 60


def make_cells(n_genes=GENES, sparse=True):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, n_genes)) < 0.4, rng.gamma(2.0, size=(N, n_genes)), 0.0).astype(np.float32)
    kinds = pd.Categorical(["T", "B", None, "T"] * (N // 4), ["T", "B"])
    cells = anndata.AnnData(
        sp.csr_matrix(X) if sparse else X,
        obs=pd.DataFrame({"kind": kinds, "depth": np.arange(N)}, index=[f"cell{i}" for i in range(N)]),
        var=pd.DataFrame(index=[f"g{j}" for j in range(n_genes)]),
        layers={"double": 2 * X},
    )
    center = X.mean(axis=0, dtype=np.float64)
    directions = np.linalg.svd(X - center)[2][:10].T
    cells.obsm["X_pca"] = ((X - center) @ directions).astype(np.float32)
    cells.varm["PCs"] = directions
    cells.obsm["protein"] = pd.DataFrame(rng.random((N, 2)), columns=["CD3", "CD19"], index=cells.obs_names)
    return cells


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def backed(cells, path):
    cells.write_h5ad(path)
    return anndata.read_h5ad(path, backed="r")


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("place", ["memory", "view", "file", "view of a file"])
def test_the_matrix_is_read_wherever_it_lies(tmp_path, sparse, place):
    cells = make_cells(sparse=sparse)
    X = dense(cells.X)
    if "file" in place:
        cells = backed(cells, tmp_path / "c.h5ad")
    if "view" in place:
        cells, X = cells[5:25, ::2], X[5:25, ::2]
    table = check_table(cells, accept_sparse=True)
    np.testing.assert_array_equal(dense(table.values), X)
    assert table.is_sparse == sparse
    assert table.feature_names == list(cells.var_names)
    own = [f"own{j}" for j in range(X.shape[1])]
    assert check_table(cells, accept_sparse=True, feature_names=own).feature_names == own
    matrix = check_table(cells.X, accept_sparse=True)
    np.testing.assert_array_equal(dense(matrix.values), X)
    np.testing.assert_array_equal(dense(read_cells(cells).X), X)


def test_estimators_and_questions_take_it_as_the_table_it_holds():
    cells = make_cells(sparse=False)
    fitted = gn.PCA().fit(cells[:, ::2])
    np.testing.assert_array_equal(fitted.embedding_, gn.PCA().fit_transform(cells.X[:, ::2].copy()))
    assert fitted.feature_names_in_.tolist() == list(cells.var_names[::2])
    places = fitted.embedding_
    told = gn.explain(make_cells(), places)
    assert told.feature_names == list(cells.var_names)
    np.testing.assert_array_equal(told.r2, gn.explain(sp.csr_array(cells.X), places).r2)
    labels = cells.obs["depth"].to_numpy() % 2
    profile = gn.contrast(cells, labels == 1)
    assert set(profile.features) == set(cells.var_names)
    np.testing.assert_array_equal(profile.auc, gn.contrast(cells.X, labels == 1).auc)
    assert gn.evaluate(cells, places).to_dict() == gn.evaluate(cells.X, places).to_dict()
    assert gn.intrinsic_dimension(cells).value == gn.intrinsic_dimension(cells.X).value
    assert gn.Map(cells, places).feature_names == list(cells.var_names)
    assert compute_neighbors(cells, 5).indices.tolist() == compute_neighbors(cells.X, 5).indices.tolist()
    assert gn.AffineAtlas(cells, places).n_features_in_ == GENES


def test_scanpys_rule_chooses_the_coordinates():
    cells = make_cells()
    given = read_cells(cells).representation
    assert isinstance(given, Representation)
    assert (given.name, given.n_coordinates, given.components.shape) == ("X_pca", 10, (10, GENES))
    assert read_cells(cells, n_pcs=4).representation.values.shape == (N, 4)
    assert read_cells(cells, use_rep="X").representation is None
    assert read_cells(cells, n_pcs=0).representation is None
    assert read_cells(make_cells(50)).representation is None
    assert read_cells(cells, use_rep="protein").representation.values.shape == (N, 2)
    cells.obsm["spatial"] = np.arange(2 * N).reshape(N, 2)
    assert read_cells(cells, use_rep="spatial").representation.values.dtype == np.float64
    del cells.obsm["X_pca"]
    wanted = read_cells(cells)
    assert isinstance(wanted.representation, Reduction)
    assert (wanted.representation.n_components, wanted.representation.columns) == (N - 1, None)
    assert "no obsm['X_pca']" in wanted.notes[0]
    cells.var["highly_variable"] = np.arange(GENES) < 20
    assert read_cells(cells, n_pcs=7).representation.columns.sum() == 20


def recorded(found):
    """Return name and size of the coordinates, and what a note says of their origin."""
    given = found.representation
    size = None if given is None else given.n_coordinates if isinstance(given, Representation) else given.n_components
    return getattr(given, "name", None), size, [text for text in found.notes if "uns['neighbors']" in text]


@pytest.mark.parametrize(
    ("params", "options", "expected"),
    [
        ({"use_rep": "X_own"}, {}, ("X_own", 8)),
        ({"use_rep": "X_own", "n_pcs": np.int64(3)}, {}, ("X_own", 3)),
        ({"use_rep": "X_own", "n_pcs": 3}, {"n_pcs": 5}, ("X_own", 5)),
        ({"n_pcs": np.array([4])}, {}, ("X_pca", 4)),
        ({"use_rep": "X"}, {}, (None, None)),
        ({"n_pcs": 0}, {}, (None, None)),
    ],
)
def test_the_coordinates_of_the_objects_own_neighbours_are_taken_and_noted(params, options, expected):
    cells = make_cells()
    cells.obsm["X_own"] = np.asarray(cells.obsm["X_pca"])[:, :8]
    cells.uns["neighbors"] = {"params": params}
    name, size, told = recorded(read_cells(cells, **options))
    assert (name, size) == expected
    assert len(told) == 1
    assert (f"obsm['{name}']" if name else "the table itself") in told[0]


@pytest.mark.parametrize(
    ("params", "options", "expected"),
    [
        ({"use_rep": "X_own"}, {"use_rep": "X_pca"}, ("X_pca", 10)),
        ({"use_rep": "X_own"}, {"n_pcs": 0}, (None, None)),
        ({"use_rep": "X"}, {"n_pcs": 6}, ("X_pca", 6)),
        ({"n_neighbors": 15}, {}, ("X_pca", 10)),
        ({"use_rep": 3}, {}, ("X_pca", 10)),
    ],
)
def test_what_a_user_names_comes_before_the_record(params, options, expected):
    cells = make_cells()
    cells.obsm["X_own"] = np.asarray(cells.obsm["X_pca"])[:, :8]
    cells.uns["neighbors"] = {"params": params}
    assert recorded(read_cells(cells, **options)) == (*expected, [])


def test_recorded_coordinates_that_are_gone_are_missed_aloud():
    cells = make_cells()
    cells.uns["neighbors"] = {"params": {"use_rep": "X_gone"}}
    name, _, told = recorded(read_cells(cells))
    assert name == "X_pca"
    assert "names obsm['X_gone'], which is not there" in told[0]


@pytest.mark.parametrize(
    "marks",
    [
        pd.Series([True, False, np.nan]),
        pd.Series([True, None, pd.NA], dtype="boolean"),
        pd.Series(["True", "False", None]),
        pd.Categorical(["TRUE", "FALSE", "FALSE"]),
        pd.Series([1.0, 0.0, np.nan]),
        pd.Series([1, 2, 0]),
        pd.Series(["yes", "no", "no"]),
    ],
)
def test_genes_are_variable_where_the_column_says_so(marks):
    cells = make_cells()
    del cells.obsm["X_pca"]
    cells.var["highly_variable"] = pd.Series(marks).take(np.arange(GENES) % 3).set_axis(cells.var_names)
    if set(marks) & {2, "yes"}:
        with pytest.raises(ValueError, match=r"var\['highly_variable'\] must be .*True and False \(found ('yes'|2)\)"):
            read_cells(cells)
    else:
        assert np.flatnonzero(read_cells(cells).representation.columns).tolist() == list(range(0, GENES, 3))


def test_the_table_that_explains_can_be_chosen():
    cells = make_cells()
    np.testing.assert_array_equal(dense(read_cells(cells, layer="double").X), 2 * dense(cells.X))
    np.testing.assert_array_equal(dense(read_cells(cells, explain="double").X), 2 * dense(cells.X))
    protein = read_cells(cells, explain="protein")
    assert (protein.feature_names, protein.representation.components) == (["CD3", "CD19"], None)
    assert read_cells(cells, explain="X_pca").feature_names[3] == "X_pca 3"
    cells.raw = cells
    small = cells[:, :55].copy()
    assert read_cells(small, explain="raw").X.shape == (N, GENES)
    assert read_cells(small).X.shape == (N, 55)


def test_annotations_keep_what_is_missing():
    data = read_cells(make_cells(), labels="kind")
    assert data.labels[:4].tolist() == ["T", "B", None, "T"]
    assert data.metadata["depth"].tolist() == list(range(N))
    assert data.point_names[2] == "cell2"


STAGES = ["low", "mid", "high"]


@pytest.mark.parametrize(
    ("names", "missing"), [(STAGES, False), (STAGES, True), ([str(k) for k in range(12)], False), ([1, 2, 3], True)]
)
def test_classes_come_in_the_order_of_their_categories(names, missing, tmp_path):
    values = np.resize(np.array(names, dtype=object), N)
    values[0] = None if missing else values[0]
    kinds = pd.Categorical(values, categories=[*names, "none"] if names == STAGES else names, ordered=names == STAGES)
    cells = make_cells()
    cells.obs["stage"] = kinds
    frame = pd.DataFrame(cells.obsm["X_pca"], columns=list("abcdefghij")).assign(stage=kinds)
    places = cells.obsm["X_pca"][:, :2]
    made = gn.Map(cells, places, labels=annotation(cells.obs["stage"]))
    made.save(tmp_path / "m.gnomon")
    given = [
        made,
        gn.Map.load(tmp_path / "m.gnomon"),
        gn.Map(cells, places, labels=kinds),
        gn.map(frame, "pca", labels="stage"),
    ]
    for one in given:
        assert sort_into_classes(one.labels).names == [str(name) for name in names]
        assert encode_column(one.labels, N, name="stage", as_label=True).categories[: len(names)] == [*map(str, names)]
        assert [name_of(key) for key in one.profiles()] == [str(name) for name in names]
    assert [str(made.labels[1]), made.labels[0]] == [str(names[1]), None if missing else names[0]]
    larger, _ = made.extend(cells.X[:2].toarray())
    assert sort_into_classes(larger.labels).names == [*map(str, names)]
    assert sort_into_classes(larger.labels).codes[N:].tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"use_rep": "X_pc"}, r"use_rep='X_pc' must be one of .*Did you mean 'X_pca'"),
        ({"use_rep": "X_pca", "n_pcs": 11}, r"n_pcs=11 must be at most .* \(obsm\['X_pca'\] has 10 columns"),
        ({"explain": "CD3"}, r"explain='CD3' must be one of .*'X', 'double', 'X_pca', 'protein'"),
        ({"layer": "dubble"}, r"layer='dubble' .*Did you mean 'double'"),
        ({"labels": "kin"}, r"labels='kin' .*Did you mean 'kind'"),
        ({"neighbors_key": "neighbors"}, r"neighbors_key='neighbors' .*there are none"),
        ({"use_rep": "X", "explain": "double"}, r"use_rep='X' must be left out .*Run scanpy.pp.pca first"),
    ],
)
def test_names_that_are_not_there_are_told_with_those_that_are(options, text):
    with pytest.raises(ValueError, match=text):
        read_cells(make_cells(), **options)


def test_components_of_counts_come_with_a_warning_in_the_notes():
    cells = make_cells()
    del cells.obsm["X_pca"]
    cells.X = sp.csr_matrix(np.random.default_rng(0).poisson(9.0, (N, GENES)) * 5.0)
    assert any("holds counts up to" in text for text in read_cells(cells).notes)
    cells.X = np.log1p(cells.X)
    assert not any("counts" in text for text in read_cells(cells).notes)


@pytest.mark.parametrize("marked", [False, True])
def test_a_file_read_in_another_process_gives_what_the_object_gives(tmp_path, marked):
    cells = make_cells()
    if marked:
        del cells.obsm["X_pca"]
        cells.var["highly_variable"] = np.arange(GENES) < 20
    cells.write_h5ad(tmp_path / "c.h5ad")
    data, expected = read_table(tmp_path / "c.h5ad", labels="kind"), read_cells(cells, labels="kind")
    np.testing.assert_array_equal(dense(data.X), dense(expected.X))
    assert data.labels.tolist() == expected.labels.tolist()
    assert sort_into_classes(data.labels).names == ["T", "B"]
    assert (data.notes, data.part) == (expected.notes, "X")
    got, wanted = data.representation, expected.representation
    if marked:
        assert (got.n_components, got.columns.tolist()) == (19, (np.arange(GENES) < 20).tolist())
    else:
        assert got.name == "X_pca"
        np.testing.assert_array_equal(got.values, wanted.values)
        np.testing.assert_array_equal(got.components, wanted.components)


@pytest.mark.usefixtures("here")
def test_parts_of_a_file_are_named_as_those_of_the_object(tmp_path):
    cells = make_cells()
    cells.write_h5ad(tmp_path / "c.h5ad")
    np.testing.assert_array_equal(dense(read_h5ad(tmp_path / "c.h5ad", layer="double").X), 2 * dense(cells.X))
    assert read_h5ad(tmp_path / "c.h5ad", obsm="X").representation is None
    assert read_h5ad(tmp_path / "c.h5ad", obsm="protein").representation.name == "protein"
    told = read_h5ad(tmp_path / "c.h5ad", key="layers/double")
    assert (told.part, told.representation) == ("layers/double", None)
    np.testing.assert_array_equal(dense(told.X), 2 * dense(cells.X))
    for options, text in (
        ({"key": "layers/dubble"}, r"the AnnData must be one with layers\['dubble'\] \(layers: double\)"),
        ({"key": "uns"}, r"key='uns' must be 'X', 'raw/X', 'layers/NAME' or 'obsm/KEY'"),
        ({"key": "X", "layer": "double"}, r"layer='double' must be left out .*a table that is named by key"),
    ):
        with pytest.raises(ValueError, match=rf"^read_table: {text}"):
            read_table(tmp_path / "c.h5ad", **options)
    with pytest.raises(ValueError, match=r"use_rep='X_pc' must be one of .*Did you mean 'X_pca'"):
        read_h5ad(tmp_path / "c.h5ad", obsm="X_pc")


def test_obsm_has_no_meaning_for_other_files(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"obsm='X_pca' must be left out \(it has no meaning for a text file"):
        read_table(tmp_path / "t.csv", obsm="X_pca")


def test_a_matrix_of_dask_whose_chunks_are_sparse_is_read():
    dask = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).poisson(1.0, size=(30, 5)).astype(np.float32)
    lazy = dask.from_array(X, chunks=(10, 5))
    for matrix in (lazy, lazy.map_blocks(sp.csr_matrix)):
        found = in_memory(matrix)
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X)


@pytest.mark.usefixtures("here")
def test_the_layer_raw_of_a_file_is_its_raw_unless_a_layer_is_called_so(tmp_path):
    cells = make_cells()
    cells.raw = cells
    small = cells[:, :55].copy()
    small.write_h5ad(tmp_path / "c.h5ad")
    found, expected = read_table(tmp_path / "c.h5ad", layer="raw"), read_cells(small, explain="raw")
    np.testing.assert_array_equal(dense(found.X), dense(cells.X))
    assert (found.feature_names, found.part) == (expected.feature_names, "raw/X")
    np.testing.assert_array_equal(found.representation.values, expected.representation.values)
    small.layers["raw"] = 3 * small.X
    small.write_h5ad(tmp_path / "c.h5ad")
    assert read_table(tmp_path / "c.h5ad", layer="raw").part == "layers/raw"
    del small.layers["raw"]
    small.raw = None
    small.write_h5ad(tmp_path / "c.h5ad")
    with pytest.raises(ValueError, match="layer='raw'"):
        read_table(tmp_path / "c.h5ad", layer="raw")
