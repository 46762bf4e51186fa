"""scanpy's tutorial with the line of the map changed: scanpy plots what is written, and cards show genes."""

from __future__ import annotations

import textwrap
import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import GnomonWarning
from gnomon.viewer import PageContent
from gnomon.viewer.document import Document

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own
    sc = pytest.importorskip("scanpy")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")

pytestmark = pytest.mark.filterwarnings("ignore")

TUTORIAL = """
    adata = sc.AnnData(counts.astype("float32"))
    adata.var_names = genes
    adata.obs["sample"] = sample
    adata.var["mt"] = adata.var_names.str.startswith("MT-")
    sc.pp.calculate_qc_metrics(adata, qc_vars=["mt"], percent_top=None, inplace=True, log1p=True)
    sc.pp.filter_cells(adata, min_genes=10)
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=60)
    sc.tl.pca(adata, n_comps=20)
    sc.pp.neighbors(adata)
    sc.tl.umap(adata)
    sc.pl.umap(adata, color=["sample", "gene 30"], show=False)
    sc.tl.rank_genes_groups(adata, groupby="sample", method="wilcoxon")
    sc.pl.rank_genes_groups(adata, n_genes=5, show=False)
    sc.tl.dendrogram(adata, groupby="sample")
    sc.tl.tsne(adata)
    sc.pl.tsne(adata, color="sample", show=False)
    sc.pl.embedding(adata, basis="umap", color="total_counts", show=False)
"""


@pytest.fixture(scope="module")
def adata():
    rng = np.random.default_rng(0)
    sample = rng.integers(0, 3, 240)
    rates = rng.gamma(0.6, 2.0, 100) * np.exp(1.2 * rng.normal(size=(3, 100)))
    scope = {
        "sc": sc,
        "gn": gn,
        "counts": rng.poisson(rates[sample]),
        "genes": [f"MT-{j}" if j < 5 else f"gene {j}" for j in range(100)],
        "sample": [f"kind {k}" for k in sample],
    }
    program = TUTORIAL.replace("sc.tl.umap(adata)", 'gn.anndata.embed(adata, "umap")')
    program = program.replace("sc.tl.tsne(adata)", 'gn.anndata.embed(adata, "tsne")')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(textwrap.dedent(program), scope)
    return scope["adata"]


def test_the_tutorial_runs_with_its_import_changed_and_leaves_what_scanpy_reads(adata):
    assert adata.obsm["X_umap"].shape == adata.obsm["X_tsne"].shape == (240, 2)
    assert adata.uns["rank_genes_groups"]["names"].dtype.names == ("kind 0", "kind 1", "kind 2")
    assert "X_pca" in adata.obsm


def test_cards_of_cells_show_genes(adata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        made = gn.anndata.to_map(adata, basis="umap", labels="sample")
    page = Document.of(PageContent.of(made), None, byte_budget=1 << 30).payload
    assert page.header["features"]["names"] == list(adata.var_names)
    assert page.groups["core"]["top"].max() < adata.n_vars
    assert set(made.why(0).features) <= set(adata.var_names)
