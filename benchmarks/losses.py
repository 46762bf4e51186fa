"""The losses whose iterations are timed: gnomon's objectives, and the arrays that PyTorch needs for the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon.affinities import (
    Affinities,
    conditional_affinities,
    fuzzy_simplicial_set,
    gaussian_affinities,
    reconstruction_weights,
    uniform_affinities,
)
from gnomon.kernels import Cauchy, Distance, Gaussian, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import (
    ConditionalDivergence,
    CrossEntropy,
    Frobenius,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    ReconstructionTrace,
    StatedCrossEntropy,
)

__all__ = ["CASES", "Case", "Table", "make_table"]

Rows = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any] | float]

_NEIGHBORS = 15
_PERPLEXITY = 30.0


@dataclass(frozen=True)
class Table:
    """Rows, a map of them, and what several losses share."""

    X: Rows
    Y: Rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @cached_property
    def near(self) -> Any:
        """Neighbours for perplexity 30."""
        return compute_neighbors(self.X, int(3 * _PERPLEXITY))

    @cached_property
    def graph(self) -> Any:
        """Fifteen neighbours of each row."""
        return compute_neighbors(self.X, _NEIGHBORS)

    @cached_property
    def probabilities(self) -> Affinities:
        """Those of t-SNE."""
        return gaussian_affinities(self.near, perplexity=_PERPLEXITY)

    @cached_property
    def memberships(self) -> Affinities:
        """Those of UMAP."""
        return fuzzy_simplicial_set(self.graph)


def make_table(X: Rows) -> Table:
    """Return a table with its two principal components, brought to a standard deviation of 1, as the map."""
    from gnomon import PCA

    Y = np.asarray(PCA(n_components=2).fit_transform(X), dtype=np.float64)
    return Table(X, np.ascontiguousarray(Y / Y[:, 0].std(), dtype=np.float32))


def _entries(matrix: Any) -> npt.NDArray[np.float64]:
    """Return rows, columns and values of a sparse matrix, off the diagonal or on it."""
    part = sp.coo_array(matrix)
    return np.stack([part.row, part.col, part.data]).astype(np.float64)


def _kl(table: Table, evaluation: str, kernel: Any) -> KLDivergence:
    return KLDivergence(table.probabilities, kernel, evaluation=evaluation)


def _cross_entropy(table: Table, evaluation: str) -> CrossEntropy:
    kernel = UMAPKernel.from_min_dist(0.1)
    return CrossEntropy(table.memberships, kernel, evaluation=evaluation)


def _stated_cross_entropy(table: Table, evaluation: str) -> StatedCrossEntropy:
    kernel = UMAPKernel.from_min_dist(0.1)
    return StatedCrossEntropy(table.memberships, kernel, evaluation=evaluation)


def _sne(table: Table, evaluation: str) -> ConditionalDivergence:
    affinities = conditional_affinities(table.near, perplexity=_PERPLEXITY)
    return ConditionalDivergence(affinities)


def _springs(table: Table) -> Affinities:
    return uniform_affinities(table.graph, normalization="membership")


def _force_atlas2(table: Table, evaluation: str) -> LinearAttraction:
    return LinearAttraction(_springs(table), evaluation=evaluation)


def _lle(table: Table, evaluation: str, penalty: str) -> ReconstructionTrace:
    weights = reconstruction_weights(table.X, table.graph)
    return ReconstructionTrace(weights, Cauchy(), penalty=penalty, evaluation=evaluation)


def _info_nce(table: Table, evaluation: str) -> InfoNCE:
    return InfoNCE(uniform_affinities(table.graph))


def _distances(table: Table, of: Callable[[Any], Any]) -> Rows:
    """Return a function of the distances of all rows, float32, strip by strip."""
    found = np.empty((table.n, table.n), dtype=np.float32)
    for first in range(0, table.n, 512):
        rows = slice(first, first + 512)
        found[rows] = of(cdist(table.X[rows], table.X))
    return found


def _similarities(table: Table) -> Rows:
    scale = float(np.median(cdist(table.X[:500], table.X[:500])))
    return _distances(table, lambda d: 1.0 / (1.0 + (d / scale) ** 2))


def _frobenius(table: Table, evaluation: str, centered: bool) -> Frobenius:
    return Frobenius(_similarities(table), Cauchy(), centered=centered)


def _raw_stress(table: Table, evaluation: str) -> Frobenius:
    return Frobenius(_distances(table, lambda d: d), Distance())


def _kl_arrays(table: Table) -> Arrays:
    matrix = table.probabilities.matrix
    return {"P_entries": _entries(matrix), "constant": _entropy(matrix.data)}


def _sne_arrays(table: Table) -> Arrays:
    matrix = conditional_affinities(table.near, perplexity=_PERPLEXITY).matrix
    return {"P_entries": _entries(matrix), "constant": _entropy(matrix.data)}


def _entropy(values: npt.NDArray[Any]) -> float:
    present = values[values > 0].astype(np.float64)
    return float(np.sum(present * np.log(present)))


def _kernel_arrays() -> Arrays:
    kernel = UMAPKernel.from_min_dist(0.1)
    return {"a": kernel.a, "b": kernel.b}


def _cross_entropy_arrays(table: Table) -> Arrays:
    matrix = table.memberships.matrix
    degrees = np.asarray(matrix.sum(axis=1)).ravel().astype(np.float64)
    repulsion = 5.0 * (degrees[:, None] + degrees) / (4.0 * table.n)
    np.fill_diagonal(repulsion, 0.0)
    return {"attraction_entries": _entries(matrix), "repulsion": repulsion.astype(np.float32), "constant": 0.0}


def _stated_arrays(table: Table) -> Arrays:
    matrix = table.memberships.matrix
    repulsion = 1.0 - matrix.toarray()
    np.fill_diagonal(repulsion, 0.0)
    inside = matrix.data[(matrix.data > 0) & (matrix.data < 1)].astype(np.float64)
    constant = float(np.sum(inside * np.log(inside) + (1 - inside) * np.log1p(-inside)))
    return {"attraction_entries": _entries(matrix), "repulsion": repulsion.astype(np.float32), "constant": constant}


def _lle_arrays(table: Table) -> Arrays:
    weights = reconstruction_weights(table.X, table.graph)
    identity = np.eye(table.n, dtype=np.float32)
    return {"M_entries": _entries(weights.M), "strength": 1.0 / table.n, "identity": identity}


def _force_atlas2_arrays(table: Table) -> Arrays:
    matrix = _springs(table).matrix
    charges = np.asarray(matrix.sum(axis=1)).ravel() + 1.0
    products = np.outer(charges, charges).astype(np.float32)
    np.fill_diagonal(products, 0.0)
    return {"springs_entries": _entries(matrix), "charges": products}


def _info_nce_arrays(table: Table) -> Arrays:
    objective = _info_nce(table, "exact")
    edges = sp.coo_array(uniform_affinities(table.graph).matrix)
    drawn = (np.arange(table.n)[:, None] + objective.shifts()) % table.n
    weights = edges.data.astype(np.float32)
    return {
        "heads": edges.row.astype(np.int64),
        "tails": edges.col.astype(np.int64),
        "weights": weights,
        "drawn": drawn,
    }


def _target_arrays(table: Table) -> Arrays:
    return {"target": _similarities(table)}


@dataclass(frozen=True)
class Case:
    """One loss.

    Attributes
    ----------
    name : str
    torch : str
        Its name in torch_losses.py.
    objective : callable
        (table, evaluation) -> Objective.
    arrays : callable
        Table -> what the loss in PyTorch takes besides the points.
    evaluations : tuple of str
        Other ways of evaluation.
    whole : str
        What evaluation over all pairs is called, or the one there is.
    """

    name: str
    torch: str
    objective: Callable[[Table, str], Any]
    arrays: Callable[[Table], Mapping[str, Any]]
    evaluations: tuple[str, ...] = ()
    whole: str = "exact"


CASES = (
    Case(
        "KL, Cauchy (t-SNE)",
        "kl_cauchy",
        lambda table, way: _kl(table, way, Cauchy()),
        _kl_arrays,
        ("interpolated", "tree"),
    ),
    Case(
        "KL, Gaussian (symmetric SNE)",
        "kl_gaussian",
        lambda table, way: _kl(table, way, Gaussian()),
        _kl_arrays,
        ("interpolated", "tree"),
    ),
    Case("KL of rows (SNE)", "sne", _sne, _sne_arrays),
    Case(
        "effective cross-entropy (UMAP)",
        "cross_entropy",
        _cross_entropy,
        lambda table: _cross_entropy_arrays(table) | _kernel_arrays(),
        ("tree",),
    ),
    Case(
        "stated cross-entropy (UMAP)",
        "cross_entropy",
        _stated_cross_entropy,
        lambda table: _stated_arrays(table) | _kernel_arrays(),
        ("tree",),
    ),
    Case("two-kernel PCA", "two_kernel_pca", lambda table, way: _frobenius(table, way, centered=False), _target_arrays),
    Case(
        "two-kernel PCA, centred",
        "two_kernel_pca_centred",
        lambda table, way: _frobenius(table, way, centered=True),
        _target_arrays,
    ),
    Case(
        "two-kernel LLE, uniform",
        "two_kernel_lle_uniform",
        lambda table, way: _lle(table, way, "uniform"),
        _lle_arrays,
        ("interpolated", "tree"),
    ),
    Case(
        "two-kernel LLE, quadratic",
        "two_kernel_lle_quadratic",
        lambda table, way: _lle(table, way, "quadratic"),
        _lle_arrays,
    ),
    Case("ForceAtlas2", "force_atlas2", _force_atlas2, _force_atlas2_arrays, ("tree",)),
    Case("InfoNCE", "info_nce", _info_nce, _info_nce_arrays, whole="sampled"),
    Case("raw stress", "raw_stress", _raw_stress, lambda table: {"target": _distances(table, lambda d: d)}),
)
"""All of them."""
