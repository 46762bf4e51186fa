"""Where an algorithm changes with the size or the shape of a table, both sides have the same map."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept import ALL, brief, examples, fit

from gnomon.initialization.spectral import spectral_start
from gnomon.linalg import GraphLaplacian
from gnomon.methods.neighbor.base import NeighborEmbedder
from gnomon.neighbors import compute_neighbors
from quick import ESTIMATORS
from tables import tables

_APART = {"scales": (1.0,), "offsets": (0.0,), "copies": False, "constants": False}
_ROWS = tables(kinds=("normal", "low rank"), n_rows=(30, 60), n_columns=(5, 8), **_APART)
_WIDE = tables(kinds=("low rank",), n_rows=(40, 60), n_columns=(30, 40), **_APART)
_GRAPHS = tables(kinds=("normal", "low rank", "line"), n_rows=(40, 200), n_columns=(2, 6), **_APART)
_MANY = tables(kinds=("normal", "low rank"), n_rows=(3000, 4000), n_columns=(3, 12), **_APART)

_SEARCHED = tuple(name for name in ALL if "metric" in ESTIMATORS[name].get_params())
_OF_ALL_ROWS = {"classical_mds", "landmark_mds", "mds", "sketch_map", "two_kernel_pca"}  # search no neighbours
_LAID_OUT = tuple(name for name in ALL if isinstance(ESTIMATORS[name], NeighborEmbedder))
_FINISHED = {"tsne": {"perplexity": 5.0, "max_iter": 250}, "umap": {"max_iter": 200}, "pacmap": {"max_iter": 200}}


@dataclass(frozen=True)
class Switch:
    """Numbers by which an algorithm is chosen.

    Attributes
    ----------
    moved : dict of str to number
        Where they stand, in the modules that read them, and what puts the tables of these tests on the other side.
    methods : tuple of str
        Those that read them.
    apart : float, default=0.0
        How far both sides may lie apart, as a share of the map's size; the same bytes by default.
    tables : strategy
        What is fitted.
    """

    moved: dict[str, float]
    methods: tuple[str, ...]
    apart: float = 0.0
    tables: Any = _ROWS


SWITCHES = {
    "eigenvectors of a matrix written out": Switch(
        {f"gnomon.linalg.eigen.{module}.LARGEST_DENSE": 8 for module in ("eigenpairs", "krylov", "laplacian")},
        ("lle", "laplacian_eigenmaps", "kernel_pca", "isomap", "sketch_map"),
        1e-6,
    ),
    "components of all columns": Switch(
        {f"gnomon.linalg.principal.{module}.LARGEST_DENSE_SIDE": 8 for module in ("components", "scatter", "spectra")},
        ("pca", "stiefel_pca", "classical_mds", "robust_pca", "huber_pca", "mds", "phate", "tsne", "pacmap"),
        1e-3,
        _WIDE,
    ),
    "a full decomposition": Switch(
        {"gnomon.linalg.principal.components.LARGEST_SVD": 0.0}, ("pca", "classical_mds", "tsne"), 1e-6
    ),
    "thresholds of singular values": Switch(
        {"gnomon.linalg.proximal._SMALL": 0.0}, ("robust_pca", "graph_robust_pca"), 1e-6, _WIDE
    ),
    "a sum over all pairs": Switch(
        {"gnomon.objectives.terms.all_pairs.TREE_FROM": 10},
        ("tsne", "symmetric_sne", "dreams", "force_atlas2", "two_kernel_lle", "neighbor_embedding"),
        1e-5,
    ),
    "edges in the order of the map": Switch(
        {"gnomon.objectives.terms.edges._SCATTERED": 1, "gnomon.objectives.terms.edges._ORDERED_AT": (2, 4)},
        ("tsne", "dreams"),
    ),
    "a kernel's matrix": Switch({"gnomon.affinities.gram._LARGEST_MATRIX": 5}, ("two_kernel_pca", "kernel_pca"), 1e-9),
    "a kernel's matrix or half of it": Switch(
        {"gnomon.affinities.gram._LARGEST_TRIANGLE": 5}, ("two_kernel_pca", "kernel_pca"), 1e-9
    ),
    "a factor's decomposition": Switch({"gnomon.affinities.gram_sources.LARGEST_SVD": 0.0}, ("gradient_pca",), 1e-6),
    "a factor's products": Switch(
        {"gnomon.affinities.gram_sources._LARGEST_SCATTER": 2}, ("gradient_pca", "classical_mds"), 1e-6
    ),
    "a kernel by as many landmarks as rows": Switch(
        {"gnomon.methods.linear.kernel_pca._MOST_EXACT": 10}, ("kernel_pca",), 1e-6
    ),
    "geodesics in double": Switch({"gnomon.methods.distance.isomap._LARGEST_DOUBLE": 10}, ("isomap",), 1e-5),
    "geodesics from as many landmarks as rows": Switch(
        {"gnomon.methods.distance.isomap._LARGEST_EXACT": 10}, ("isomap",), 1e-5
    ),
    "neighbours by cells": Switch(
        {"gnomon.neighbors.compute.EXACT_FLOPS": 0.0}, tuple(name for name in _SEARCHED if name not in _OF_ALL_ROWS)
    ),
}
OF_NEW_ROWS = {
    "neighbours by cells": Switch({"gnomon.neighbors.row_search._MANY_FROM": 10}, _LAID_OUT),
    "repulsion by a table": Switch(
        {"gnomon.extension.placement.placement.EXACT_UP_TO": 20}, ("umap", "tsne", "pacmap"), 1e-3
    ),
}


def _cases(switches: dict[str, Switch]) -> list[tuple[str, str]]:
    return [(name, method) for name, switch in switches.items() for method in switch.methods]


def _watched(number: float) -> Any:
    """Return a number that keeps in `asked` whether something was compared with it."""
    kind = type(number)

    def compares(name: str) -> Any:
        def compare(self: Any, other: Any) -> Any:
            type(self).asked = True
            return getattr(float, name)(float(self), float(other))

        return compare

    orders = {name: compares(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}
    return type("Watched", (kind,), {**orders, "asked": False})(number)


def _put(patch: pytest.MonkeyPatch, switch: Switch) -> list[Any]:
    """Put a switch on its other side, and return the numbers that say whether they were asked for."""
    moved = []
    for path, value in switch.moved.items():
        module, _, attribute = path.rpartition(".")
        moved.append(_watched(type(getattr(importlib.import_module(module), attribute))(value)))
        patch.setattr(path, moved[-1])
    return moved


@pytest.mark.parametrize(("switch", "method"), _cases(SWITCHES))
@examples(1)
@given(data=st.data())
def test_8_both_sides_of_a_switch_have_the_same_map(switch, method, data):
    at = SWITCHES[switch]
    X = data.draw(at.tables)
    expected = fit(method, X, **brief(method)).embedding_
    with pytest.MonkeyPatch.context() as patch:
        moved = _put(patch, at)
        found = fit(method, X, **brief(method)).embedding_
    assert any(number.asked for number in moved), "nothing asks for the switch"
    assert np.abs(found - expected).max() <= at.apart * np.ptp(expected, axis=0).max()


@pytest.mark.parametrize(("switch", "method"), _cases(OF_NEW_ROWS))
@examples(1)
@given(data=st.data())
def test_8_both_sides_of_a_switch_have_the_same_places(switch, method, data):
    """Nine rows of ten: of those that fit as well in two places another may be taken."""
    at = OF_NEW_ROWS[switch]
    X = data.draw(at.tables)
    new = X[:20] + 0.02 * np.ptp(X, axis=0)
    model = fit(method, X, **_FINISHED.get(method, {}))
    expected = model.place(new)
    with pytest.MonkeyPatch.context() as patch:
        moved = _put(patch, at)
        found = fit(method, X, **_FINISHED.get(method, {})).place(new)
    assert any(number.asked for number in moved), "nothing asks for the switch"
    far = np.abs(found - expected).max(axis=1) / np.ptp(model.embedding_, axis=0).max()
    assert np.quantile(far, 0.9) <= at.apart


@examples(3)
@given(X=_GRAPHS)
def test_8_a_start_at_eigenvectors_is_as_smooth_on_both_sides(X):
    """Single eigenvectors turn where eigenvalues crowd; the sum of these is what a start is good for."""
    affinities = fit("umap", X, max_iter=1).affinities_
    laplacian = GraphLaplacian(affinities.matrix).matrix
    smoothness = []
    for largest in (600, 8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gnomon.linalg.eigen.laplacian.LARGEST_DENSE", largest)
            start = spectral_start(affinities, 2, X=X).embedding.astype(np.float64)
        axes = np.linalg.qr(start)[0]
        smoothness.append(np.trace(axes.T @ (laplacian @ axes)))
    np.testing.assert_allclose(smoothness[1], smoothness[0], rtol=0.05)


@examples(2)
@given(X=_MANY)
def test_8_cells_find_the_neighbours_that_all_pairs_have(X):
    exact = compute_neighbors(X, 10, method="exact")
    cells = compute_neighbors(X, 10, method="approximate", target_recall=0.95)
    shared = np.mean([np.isin(one, other).mean() for one, other in zip(cells.indices, exact.indices, strict=True)])
    assert shared >= 0.95 - 0.01
