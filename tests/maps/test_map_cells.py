"""A map of an AnnData object: neighbours in scanpy's coordinates or graph, words in genes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.affinities import fuzzy_simplicial_set
from gnomon.data.cells import read_cells
from gnomon.data.labels import order_of
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.neighbors import compute_neighbors
from gnomon.viewer.content import PageContent

anndata = pytest.importorskip("anndata")
pytestmark = pytest.mark.filterwarnings("ignore:.*map shows the depth of each cell")  # counts that were not normalised
N, GENES = 90, 60
QUICK = {"max_iter": 40}


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], N // 3)
    rates = rng.gamma(1.0, size=(3, GENES))[kind] * rng.gamma(4.0, 0.25, size=(N, 1))
    X = np.log1p(rng.poisson(rates)).astype(np.float32)
    found = anndata.AnnData(
        sp.csr_matrix(X),
        obs=pd.DataFrame({"kind": pd.Categorical(np.array(["T", "B", "NK"])[kind])}, index=[f"c{i}" for i in range(N)]),
        var=pd.DataFrame(index=[f"g{j}" for j in range(GENES)]),
        layers={"counts": sp.csr_matrix(np.expm1(X).round())},
    )
    center = X.mean(axis=0, dtype=np.float64)
    directions = np.linalg.svd(X - center)[2][:12].T
    found.obsm["X_pca"] = ((X - center) @ directions).astype(np.float32)
    found.varm["PCs"] = directions
    graph = compute_neighbors(np.asarray(found.obsm["X_pca"]), 14)
    rows = np.repeat(np.arange(N), 14)
    found.obsp["distances"] = sp.csr_matrix((graph.distances.ravel(), (rows, graph.indices.ravel())), shape=(N, N))
    found.obsp["connectivities"] = sp.csr_matrix(fuzzy_simplicial_set(graph).matrix)
    found.uns["neighbors"] = {
        "connectivities_key": "connectivities",
        "distances_key": "distances",
        "params": {"n_neighbors": 15, "method": "umap", "metric": "euclidean", "use_rep": "X_pca"},
    }
    return found


def test_the_map_is_of_the_components_and_speaks_of_genes(cells):
    made = gn.map(cells, labels="kind", **QUICK)
    np.testing.assert_array_equal(made.embedding, gn.map(cells.obsm["X_pca"], **QUICK).embedding)
    np.testing.assert_array_equal(made.X.toarray(), cells.X.toarray())
    assert (made.label_name, made.representation.name) == ("kind", "X_pca")
    assert made.labels.tolist() == list(cells.obs["kind"])
    assert made.point_names.tolist() == list(cells.obs_names)
    assert set(made.why(0).features) <= set(cells.var_names)


def test_the_formula_of_the_components_is_found_and_new_cells_are_placed(cells):
    made = gn.map(cells, "pca")
    assert made.representation.has_formula
    np.testing.assert_allclose(made.transform(cells[:7]), made.embedding[:7], atol=1e-4)
    assert made.jacobian(np.asarray(cells.X[[0]].toarray())[0]).shape == (2, GENES)


@pytest.mark.filterwarnings("ignore:.* the depth of each cell")  # squared components of counts show it
def test_cells_taken_out_of_more_keep_the_formula(cells):
    part = cells[:70].copy()
    made = gn.map(part, **QUICK)
    rest = cells.X[70:].toarray()
    larger, _ = made.extend(rest)
    np.testing.assert_allclose(larger.representation.values[70:], cells.obsm["X_pca"][70:], atol=1e-4)
    part.obsm["X_pca"] = part.obsm["X_pca"] ** 2
    curved = gn.anndata.to_map(gn.anndata.embed(part, copy=True, **QUICK))
    assert "do not make them of these features" in curved.notes[-1]


@pytest.mark.parametrize("options", [{"layer": "counts"}, {"explain": "counts"}])
def test_genes_that_the_components_are_not_made_of_have_no_formula(cells, options):
    made = gn.map(cells, **options, **QUICK)
    assert not made.representation.has_formula
    assert any("do not make them of these features" in text for text in made.notes) == ("layer" in options)
    np.testing.assert_array_equal(made.X.toarray(), cells.layers["counts"].toarray())
    np.testing.assert_array_equal(made.embedding, gn.map(cells, **QUICK).embedding)
    np.testing.assert_allclose(made.transform(made.X[:5]), made.embedding[:5], atol=1e-4)


PARTS = {
    "layers['counts']": {"layer": "counts"},
    "layers['other']": {"explain": "other"},
    "raw": {"explain": "raw"},
    "obsm['protein']": {"explain": "protein"},
}


@pytest.fixture(scope="module")
def parted(cells):
    """Cells with tables beside X, of which no two are alike."""
    found = cells.copy()
    found.raw = cells[:, ::-1].copy()
    found.layers["other"] = cells.X * 3
    found.obsm["protein"] = pd.DataFrame(cells.X[:, :4].toarray() + 1, columns=list("abcd"), index=cells.obs_names)
    return found


def _table(cells, told):
    where, _, key = told.partition("[")
    return cells.raw.X if where == "raw" else getattr(cells, where)[key.strip("']")]


@pytest.mark.parametrize("told", PARTS)
def test_new_cells_are_read_from_the_part_that_the_map_is_of(parted, told, tmp_path):
    made = gn.map(parted, "pca", **PARTS[told])
    new = parted[:9].copy()
    expected = made.transform(_table(new, told))
    made.save(tmp_path / "m.gnomon")
    new.write_h5ad(tmp_path / "new.h5ad")
    for one in (made, gn.Map.load(tmp_path / "m.gnomon")):
        np.testing.assert_array_equal(one.transform(new), expected)
    np.testing.assert_array_equal(made.transform(anndata.read_h5ad(tmp_path / "new.h5ad", backed="r")), expected)
    bare = anndata.AnnData(new.X, obs=new.obs, var=new.var)
    with pytest.raises(ValueError, match=rf"Map: the AnnData must be one with {re.escape(told)} \(.*pass the matrix"):
        made.transform(bare)


def test_a_map_of_a_layer_grows_by_that_layer(parted):
    made = gn.map(parted, "pca", layer="counts", n_pcs=5, use_rep="X")
    larger, _ = made.extend(parted[:9])
    again, _ = larger.extend(parted[:9])
    np.testing.assert_allclose(again.embedding[N:], np.tile(made.embedding[:9], (2, 1)), atol=1e-4)
    np.testing.assert_array_equal(again.X[N:].toarray(), np.tile(parted.layers["counts"][:9].toarray(), (2, 1)))


def test_genes_are_taken_in_any_order_and_missing_ones_refused(parted):
    made = gn.map(parted, "pca")
    for ask in (made.transform, made.extend):
        with pytest.raises(ValueError, match=r"now missing:\n- g0\n- g1\nAdd them to the new rows, or fit again with"):
            ask(parted[:5, 2:])
    np.testing.assert_array_equal(made.transform(parted[:5, ::-1]), made.transform(parted[:5]))


def test_a_cell_is_asked_about_by_its_name(cells):
    made = gn.map(cells, "pca")
    assert made.why("c10").index == made.why(made.find("c10")).index == 10
    with pytest.raises(TypeError, match=r"^why: row 2\.5 must be an integer"):
        made.why(2.5)


def test_what_is_known_of_new_cells_is_kept(parted):
    cells = anndata.AnnData(parted.X, obs=parted.obs.assign(depth=np.arange(N), good=[True, False] * (N // 2)))
    cells.obs["batch"] = pd.Categorical(["late", "early", "late"] * (N // 3), ["late", "early", "never"])
    made = gn.map(cells, "pca", labels="kind", n_pcs=5, use_rep="X")
    new = cells[[3, 50, 80]].copy()
    new.obs_names = ["n1", "n2", "n3"]
    new.obs["unknown to the map"] = 1.0
    larger, _ = made.extend(new, labels="kind")
    assert larger.labels.tolist()[N:] == new.obs["kind"].tolist()
    assert larger.point_names.tolist()[N:] == ["n1", "n2", "n3"]
    assert set(larger.metadata) == {"depth", "good", "batch", "fitted"}
    for name in ("depth", "good", "batch"):
        assert larger.metadata[name].tolist()[N:] == new.obs[name].tolist()
    assert order_of(larger.metadata["batch"]) == ("late", "early", "never")
    read = read_cells(new, labels="kind")
    for again in (made.extend(read)[0], made.extend(read, labels="kind")[0]):
        assert again.labels.tolist() == larger.labels.tolist()
        assert again.point_names.tolist() == larger.point_names.tolist()
        assert again.metadata["batch"].tolist() == larger.metadata["batch"].tolist()
    given, _ = made.extend(new, metadata={"depth": [7, 8, 9]}, point_names=["a", "b", "c"])
    assert given.metadata["depth"].tolist()[N:] == [7, 8, 9]
    assert given.metadata["good"].tolist()[N:] == new.obs["good"].tolist()
    assert (given.point_names[N], given.labels[N]) == ("a", None)
    with pytest.raises(ValueError, match=r"labels='kin' must be one of those in the data .* Did you mean 'kind'"):
        made.extend(new, labels="kin")
    with pytest.raises(TypeError, match=r"labels='kind' must be the labels themselves.* such as X_new\['kind'\]\."):
        made.extend(new.X, labels="kind")


def test_maps_of_tables_in_files_remember_the_part(parted, tmp_path):
    parted.write_h5ad(tmp_path / "c.h5ad")
    table = gn.open_table(tmp_path / "c.h5ad", key="layers/counts")
    expected = parted.layers["counts"][:9]
    for made in (gn.map(table, "pca"), gn.map(table, "pca", n_fitted=50)):
        np.testing.assert_array_equal(made.transform(parted[:9]), made.transform(expected))
        np.testing.assert_array_equal(made.transform(table)[:9], made.transform(expected))
        with pytest.raises(ValueError, match=r"from layers\['counts'\], .* Pass key='layers/counts' to"):
            made.transform(gn.open_table(tmp_path / "c.h5ad"))


def test_a_map_of_given_positions_remembers_its_part(parted):
    shown = gn.anndata.to_map(gn.anndata.embed(parted, key_added="X_here", copy=True, **QUICK), "here", layer="counts")
    np.testing.assert_array_equal(shown.transform(parted[:5]), shown.transform(parted.layers["counts"][:5]))


def test_the_command_reads_the_part_that_the_map_is_of(parted, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from gnomon.cli import main

    monkeypatch.setattr("gnomon.data.isolated._interpreter", lambda: None)  # in this process, which takes less time
    paths = [str(tmp_path / name) for name in ("m.gnomon", "new.h5ad", "places.npy", "bare.h5ad")]
    made = gn.map(parted, "pca", explain="raw")
    made.save(paths[0])
    parted[:9].copy().write_h5ad(paths[1])
    asked = CliRunner().invoke(main, ["transform", paths[0], paths[1], "-o", paths[2]])
    assert asked.exit_code == 0, asked.output
    np.testing.assert_array_equal(np.load(paths[2]), made.transform(parted[:9].raw.X))
    read = gn.read_table(paths[1])
    with pytest.raises(ValueError, match=r"read from raw, .* \(it is of X\)\. Pass key='raw/X' to gnomon\.read_table"):
        made.transform(read)
    anndata.AnnData(parted.X[:9]).write_h5ad(paths[3])
    asked = CliRunner().invoke(main, ["transform", paths[0], paths[3]])
    assert asked.exit_code == 2
    assert "one with raw (raw is empty)" in asked.stderr


def test_a_file_names_the_part_of_cells_alone(parted):
    from gnomon.maps.file import VERSION, pack, unpack, version_of

    arrays, about = pack(gn.map(parted, "pca", layer="counts"))
    assert (about["part"], version_of(about)) == ("layers/counts", 6)
    assert "part" not in pack(gn.map(parted, "pca"))[1]
    for odd in ("uns/counts", 3):
        with pytest.raises(ValueError, match=r"^part is "):
            unpack(arrays, {**about, "part": odd, "version": VERSION}, gn.Map)


def test_without_components_those_of_the_variable_genes_are_computed(cells):
    bare = cells.copy()
    del bare.obsm["X_pca"]
    bare.var["highly_variable"] = np.arange(GENES) < 30
    made = gn.map(bare, n_pcs=5, **QUICK)
    expected = gn.PCA(n_components=5).fit_transform(cells.X[:, :30].toarray())
    np.testing.assert_allclose(made.representation.values, expected, atol=1e-4)
    assert not made.representation.components[:, 30:].any()
    assert "no obsm['X_pca']: neighbours are found in 5 principal components of 30 highly" in made.notes[0]
    np.testing.assert_allclose(made.transform(bare[:5]), made.embedding[:5], atol=1e-4)


@pytest.mark.parametrize("place", ["view", "file", "view of a file"])
def test_views_and_files_give_the_same_map(cells, place, tmp_path):
    part = cells[::2].copy()
    if place == "view":
        given = cells[::2]
    else:
        part.write_h5ad(tmp_path / "c.h5ad")
        given = anndata.read_h5ad(tmp_path / "c.h5ad", backed="r")
        given = given[:] if "view" in place else given
    np.testing.assert_array_equal(gn.map(given, **QUICK).embedding, gn.map(part, **QUICK).embedding)


def test_scanpys_graph_makes_the_map(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NeighborsWarning)
        made = gn.map(cells, neighbors_key="neighbors", **QUICK)
    distances = gn.UMAP(n_neighbors=14, metric="precomputed", random_state=0, **QUICK)
    np.testing.assert_array_equal(made.embedding, distances.fit_transform(sp.csr_array(cells.obsp["distances"])))
    assert (made.representation.name, made.metric) == ("X_pca", "euclidean")
    with pytest.raises(ValueError, match="one with a fitted method that places rows"):
        made.place(cells[:3])
    with pytest.raises(ValueError, match="metric must be left out where neighbors_key is given"):
        gn.map(cells, neighbors_key="neighbors", metric="cosine")


def test_similarities_given_as_distances_are_refused(cells):
    with pytest.raises(ValueError, match=r'given distances .*obsp\["distances"\] and not obsp\["connectivities"\]'):
        gn.UMAP(metric="precomputed").fit(cells.obsp["connectivities"])
    with pytest.raises(ValueError, match="pass neighbors_key"):
        gn.map(cells, metric="precomputed")


def test_given_coordinates_are_not_standardised(cells):
    with pytest.raises(ValueError, match=r"scale='standard' must be left out \(the map is made of X_pca"):
        gn.map(cells, scale="standard")


def test_labels_may_be_missing_in_some_cells(cells):
    part = cells.copy()
    part.obs["kind"] = part.obs["kind"].where(np.arange(N) % 7 > 0)
    made = gn.map(part, labels="kind", **QUICK)
    assert [label is None for label in made.labels] == (np.arange(N) % 7 == 0).tolist()


def test_a_page_of_cells_names_genes(cells):
    page = PageContent.of(gn.map(cells, labels="kind", **QUICK))
    assert page.info["neighbours in"] == "X_pca (12 coordinates)"
    assert page.feature_names == list(cells.var_names)
    assert any(name in page.captions["NK"] for name in cells.var_names)


def test_a_method_that_starts_from_components_starts_from_the_graph(cells):
    assert np.isfinite(gn.map(cells, "largevis", neighbors_key="neighbors", max_iter=20).embedding).all()


def test_a_view_of_cells_in_a_file_is_read_as_the_same_cells_in_memory(cells, tmp_path):
    cells.write_h5ad(tmp_path / "c.h5ad")
    part = anndata.read_h5ad(tmp_path / "c.h5ad", backed="r")[5:45]
    memory = cells[5:45]
    made = gn.map(cells, "pca")
    places = made.transform(memory)
    np.testing.assert_array_equal(made.transform(part), places)
    np.testing.assert_array_equal(made.novelty(part), made.novelty(memory))
    np.testing.assert_array_equal(gn.explain(part, places).importance, gn.explain(memory, places).importance)
    asked = {"n_neighbors": 5, "random_state": 0}
    assert gn.evaluate(part, places, **asked).trustworthiness == gn.evaluate(memory, places, **asked).trustworthiness


@pytest.mark.parametrize("kind", ["frame", "cells", "sparse cells", "stored"])
def test_new_rows_are_taken_by_the_names_of_their_columns(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(60, 4)).astype(np.float32), columns=list("abcd"), index=[f"r{i}" for i in range(60)]
    )

    def give(frame):
        if kind == "frame":
            return frame
        values = frame.to_numpy()
        cells = anndata.AnnData(sp.csr_matrix(values) if kind.startswith("sparse") else values, obs=frame[[]])
        cells.var_names = list(frame.columns)
        if kind != "stored":
            return cells
        cells.write_h5ad(tmp_path / "x.h5ad")
        return gn.open_table(tmp_path / "x.h5ad")

    made = gn.map(X if kind == "frame" else give(X), "pca")
    expected = made.transform(X.to_numpy())
    np.testing.assert_array_equal(made.transform(give(X[list("dbac")])), expected)
    with pytest.warns(DataWarning, match="columns of the new rows that the map does not have are left out: 'f', 'e'$"):
        np.testing.assert_array_equal(
            made.transform(give(X.assign(e=np.float32(1), f=np.float32(2))[list("fdebac")])), expected
        )
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- b"):
        made.transform(give(X[list("dac")]))
    if kind != "stored":
        grown, _ = made.extend(give(X[list("dbac")]))
        np.testing.assert_array_equal(np.asarray(grown.X[60:].todense() if sp.issparse(grown.X) else grown.X[60:]), X)


def test_lacking_values_of_columns_in_another_order_are_filled_in():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    X.iloc[0, 1] = np.nan
    with pytest.warns(DataWarning, match="1 of 180 values are missing"):
        made = gn.map(X, "pca", missing="median")
    np.testing.assert_array_equal(made.transform(X[list("cab")]), made.transform(X))


def test_genes_are_called_by_a_column_of_var(cells):
    cells = cells.copy()
    cells.var["symbol"] = [None, "CD3", "CD3", "g4", None, *(f"S{j}" for j in range(5, GENES))]
    made = gn.map(cells, feature_names="symbol", **QUICK)
    assert made.feature_names[:6] == ["g0", "CD3 (g1)", "CD3 (g2)", "g4 (g3)", "g4", "S5"]
    again = gn.map(cells, feature_names=made.feature_names, **QUICK)
    np.testing.assert_array_equal(made.embedding, again.embedding)
    expected = made.transform(cells.X[:5])
    np.testing.assert_array_equal(made.transform(cells[:5]), expected)
    np.testing.assert_array_equal(made.transform(cells[:5, ::-1]), expected)
    with pytest.raises(ValueError, match=r"feature_names='symbl' must be .* Did you mean 'symbol'\?"):
        gn.map(cells, feature_names="symbl", **QUICK)
    with pytest.raises(ValueError, match=r"feature_names='symbol' must be left out .*obsm\['X_pca'\] has columns"):
        gn.map(cells, feature_names="symbol", explain="X_pca", **QUICK)
    other = gn.map(cells, feature_names="symbol", explain="raw" if cells.raw is not None else "counts", **QUICK)
    np.testing.assert_array_equal(other.transform(cells[:5, ::-1]), other.transform(cells[:5]))
