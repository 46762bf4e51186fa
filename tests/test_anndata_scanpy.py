"""gnomon beside scanpy itself: what is written can be plotted, and maps are as good."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import gnomon as gn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own
    scanpy = pytest.importorskip("scanpy")
    anndata = pytest.importorskip("anndata")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SEEDS = range(3)


def load(folder, name):
    parts = np.load(folder / f"{name}.npz")
    X = sp.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"]).astype(np.float32)
    cells = anndata.AnnData(X)
    cells.obs["kind"] = parts["y"].astype(str)
    scanpy.pp.pca(cells)
    scanpy.pp.neighbors(cells)
    return cells


def accuracy(Y, labels):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(KNeighborsClassifier(10), Y, labels, cv=folds).mean()


@pytest.mark.parametrize("name", ["pbmc68k_reduced", "pbmc4k", "paul15"])
def test_cells_lie_among_their_kind_as_in_scanpys_map(real_data, name):
    cells = load(real_data, name)
    ours, theirs = [], []
    for seed in SEEDS:
        scanpy.tl.umap(cells, random_state=seed)
        theirs.append(accuracy(cells.obsm["X_umap"], cells.obs["kind"]))
        ours.append(accuracy(gn.map(cells, random_state=seed).embedding, cells.obs["kind"]))
    assert np.mean(ours) > np.mean(theirs) - 0.005


def test_scanpy_plots_what_is_written_and_its_own_map_is_explained(real_data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    cells = load(real_data, "pbmc68k_reduced")
    scanpy.tl.umap(cells)
    gn.anndata.explain(cells)
    best = cells.var["umap_importance"].idxmax()
    gn.anndata.embed(cells, "tsne")
    gn.anndata.embed(cells, "largevis", neighbors_key="neighbors", key_added="X_lv")
    for basis in ("umap", "tsne", "lv"):
        scanpy.pl.embedding(cells, basis, color=["kind", "umap_r2", best], show=False)
    assert gn.anndata.to_map(cells).representation.has_formula
    with pytest.raises(ValueError, match='obsp\\["distances"\\]'):
        gn.UMAP(metric="precomputed").fit(cells.obsp["connectivities"])
