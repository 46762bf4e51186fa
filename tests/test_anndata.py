"""What is written into an AnnData object lies where scanpy looks for it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn

anndata = pytest.importorskip("anndata")
N, GENES = 90, 60
QUICK = {"max_iter": 40}


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], N // 3)
    X = np.log1p(rng.poisson(rng.gamma(1.0, size=(3, GENES))[kind])).astype(np.float32)
    found = anndata.AnnData(
        sp.csr_matrix(X),
        obs=pd.DataFrame({"kind": pd.Categorical(np.array(["T", "B", "NK"])[kind])}, index=[f"c{i}" for i in range(N)]),
        var=pd.DataFrame(index=[f"g{j}" for j in range(GENES)]),
        layers={"counts": sp.csr_matrix(np.expm1(X).round())},
    )
    found.obsm["X_pca"] = gn.PCA(n_components=12).fit_transform(X).astype(np.float32)
    return found


def test_positions_are_written_under_scanpys_keys(cells, tmp_path):
    assert gn.anndata.embed(cells, n_pcs=6, **QUICK) is None
    np.testing.assert_array_equal(cells.obsm["X_umap"], gn.map(cells, n_pcs=6, **QUICK).embedding)
    about = cells.uns["umap"]["params"]
    assert (about["method"], about["use_rep"], about["n_pcs"], about["max_iter"]) == ("umap", "X_pca", 6, 40)
    gn.anndata.embed(cells, "pca", key_added="plane")
    assert "plane" in cells.obsm
    with pytest.raises(ValueError, match=r"key_added='X_pca' must be another key .*Pass key_added='X_pca_map'"):
        gn.anndata.embed(cells, "pca")
    cells.write_h5ad(tmp_path / "c.h5ad")
    again = anndata.read_h5ad(tmp_path / "c.h5ad")
    np.testing.assert_array_equal(again.obsm["X_umap"], cells.obsm["X_umap"])


def test_blocks_are_parts_of_the_object(cells):
    proteins = np.random.default_rng(1).normal(size=(N, 3))
    cells.obsm["protein"] = pd.DataFrame(proteins, index=cells.obs_names, columns=["CD3", "CD19", "g0"])
    blocks = {"rna": gn.Block("X_pca"), "protein": gn.Block("protein", weight=0.5)}
    made = gn.map(cells, blocks=blocks, labels="kind", **QUICK)
    assert made.feature_names == [*(f"X_pca {j}" for j in range(12)), "CD3", "CD19", "g0"]
    assert (made.labels.tolist(), made.point_names[0]) == (cells.obs["kind"].tolist(), "c0")
    by_hand = {"rna": gn.Block(range(12)), "protein": gn.Block([12, 13, 14], weight=0.5)}
    table = np.hstack([cells.obsm["X_pca"], proteins])
    np.testing.assert_array_equal(made.embedding, gn.map(table, blocks=by_hand, **QUICK).embedding)
    genes = gn.map(cells, blocks={"rna": gn.Block("X"), "protein": gn.Block("protein")}, **QUICK)
    assert [genes.feature_names[j] for j in (0, 1, GENES, -1)] == ["rna: g0", "g1", "CD3", "protein: g0"]
    with pytest.raises(ValueError, match=r"block='protien' must be one of those in the data.*'protein'"):
        gn.map(cells, blocks={"rna": gn.Block("X_pca"), "protein": gn.Block("protien")})
    with pytest.raises(ValueError, match="use_rep must be left out where blocks are given"):
        gn.map(cells, blocks=blocks, use_rep="X_pca")


def test_a_copy_leaves_the_object_as_it_was(cells):
    copied = gn.anndata.embed(cells, copy=True, **QUICK)
    assert copied.obsm["X_umap"].shape == (N, 2)
    assert "X_umap" not in cells.obsm
    assert "umap" not in cells.uns


def test_positions_that_are_there_become_a_map(cells):
    gn.anndata.embed(cells, **QUICK)
    made = gn.anndata.to_map(cells, labels="kind")
    whole = gn.map(cells, labels="kind", **QUICK)
    np.testing.assert_array_equal(made.embedding, whole.embedding)
    np.testing.assert_array_equal(made.explain().r2, whole.explain().r2)
    assert made.evaluate().to_dict() == whole.evaluate().to_dict()
    assert (made.name, made.representation.name, made.parameters["max_iter"]) == ("umap", "X_pca", 40)
    assert made.labels.tolist() == list(cells.obs["kind"])
    assert gn.anndata.to_map(cells, "X_umap", layer="counts").X.max() == cells.layers["counts"].max()


def test_neighbours_are_in_the_coordinates_that_scanpy_used(cells):
    cells.obsm["X_other"] = np.asarray(cells.obsm["X_pca"])[:, 3:8]
    cells.uns["neighbors"] = {"params": {"use_rep": "X_other"}}
    gn.anndata.embed(cells, **QUICK)
    assert cells.uns["umap"]["params"]["use_rep"] == "X_other"
    whole = gn.map(cells, **QUICK)
    np.testing.assert_array_equal(cells.obsm["X_umap"], whole.embedding)
    np.testing.assert_array_equal(cells.obsm["X_umap"], gn.map(cells, use_rep="X_other", **QUICK).embedding)
    taken = gn.anndata.to_map(cells)
    assert taken.representation.name == whole.representation.name == "X_other"
    assert any("as scanpy found those" in text for text in taken.notes)
    assert taken.notes[0] == whole.notes[0]
    gn.anndata.embed(cells, use_rep="X_pca", **QUICK)
    assert cells.uns["umap"]["params"]["use_rep"] == "X_pca"
    cells.uns["neighbors"] = {"params": {"n_pcs": 7}}
    assert gn.anndata.to_map(cells).representation.n_coordinates == 7
    assert gn.anndata.to_map(cells, use_rep="X_pca").representation.n_coordinates == 12
    cells.uns["neighbors"] = {"params": {"use_rep": "X_gone"}}
    assert gn.anndata.to_map(cells).representation.name == "X_pca"


def test_an_explanation_is_written_gene_by_gene_and_cell_by_cell(cells, tmp_path):
    gn.anndata.embed(cells, **QUICK)
    gn.anndata.explain(cells)
    told = gn.anndata.to_map(cells).explain()
    np.testing.assert_array_equal(cells.var["umap_importance"], told.global_importance)
    np.testing.assert_array_equal(cells.obs["umap_r2"], told.r2)
    np.testing.assert_array_equal(cells.obsm["umap_top_features"], told.top_features(8).indices)
    assert cells.obsm["umap_arrows"].shape == (N, 8, 2)
    found = cells.uns["umap_explanation"]
    assert found["features"][0] == cells.var["umap_importance"].idxmax()
    assert (np.diff(found["importance"]) <= 0).all()
    cells.write_h5ad(tmp_path / "c.h5ad")
    again = anndata.read_h5ad(tmp_path / "c.h5ad")
    assert list(again.uns["umap_explanation"]["features"]) == list(found["features"])
    np.testing.assert_array_equal(again.obsm["umap_arrows"], cells.obsm["umap_arrows"])


def test_another_table_explains_without_touching_the_genes(cells):
    gn.anndata.embed(cells, **QUICK)
    cells.obsm["protein"] = pd.DataFrame(np.asarray(cells.obsm["X_umap"]), columns=["P1", "P2"], index=cells.obs_names)
    gn.anndata.explain(cells, explain="protein")
    assert set(cells.uns["umap_explanation"]["features"]) == {"P1", "P2"}
    assert "umap_importance" not in cells.var


def test_what_is_missing_is_named(cells):
    with pytest.raises(ValueError, match=r"anndata.to_map: basis='umap' must be one of .*'X_pca'"):
        gn.anndata.to_map(cells)
    with pytest.raises(TypeError, match=r"adata must be an AnnData object \(found ndarray"):
        gn.anndata.embed(np.eye(3))
    with pytest.raises(TypeError, match=r"method=UMAP.* must be a name .*\(found UMAP\)\. Pass the parameters by name"):
        gn.anndata.embed(cells, gn.UMAP())


def test_a_coordinate_that_is_missing_is_named_with_its_key_and_place(cells):
    gn.anndata.embed(cells, **QUICK)
    cells.obsm["X_pca"][5, 2] = np.nan
    told = (
        r"representation 'X_pca' must be finite \(NaN or infinite in 1 row, the first at row 5, column 2\)\. "
        r"Of an AnnData object leave these rows out, adata\[np\.isfinite\(adata\.obsm\['X_pca'\]\)\.all\(axis=1\)\]"
    )
    for ask in (gn.anndata.to_map, gn.anndata.embed, gn.map):
        with pytest.raises(ValueError, match=told):
            ask(cells)
    kept = cells[np.isfinite(cells.obsm["X_pca"]).all(axis=1)]
    assert gn.anndata.to_map(kept).n_samples == N - 1
