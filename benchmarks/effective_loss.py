"""The loss that UMAP's sampling lowers, by one evaluator for all maps of a table: NumPy, SciPy and scikit-learn only.

    loss = sum_ij [ -mu_ij log k_ij - m (d_i + d_j) / (4 n) log(1 - k_ij) ],
    k_ij = 1 / (1 + a |y_i - y_j|^(2b)),  d_i = sum_j mu_ij,  over ordered pairs of different points

Each visit of an edge moves both ends together and its head away from m points drawn at random, which stay: the mean
force on i has m d_i / (2 n) in place of m (d_i + d_j) / (4 n), of which only the symmetric form is the gradient of
anything (Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021; theirs repels twice as much, since there
the points drawn move as well). Memberships mu come from the exact nearest neighbours of the rows. The sum of
attractions has few terms; that of repulsions has n^2, taken block by block.

python -m benchmarks.effective_loss --data mnist --rows 6000 --pca 50 --repeats 3 --peer-python PATH
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.measure import Contender, measure_warm
from benchmarks.quality import map_quality
from benchmarks.summary import table_of, with_interval
from benchmarks.tables import load_table

__all__ = ["KERNEL", "effective_loss", "fuzzy_memberships", "main", "nearest_neighbor_memberships"]

KERNEL = 1.576943, 0.895061
"""a and b for min_dist=0.1, the default of all."""

_DIGITS = {"loss": 1, "CPU s": 2}
_BLOCK = 256  # a block of 256 x 1024 float32 and its copies stay in the cache of one core
_WIDTH = 1024
_NEAR = 1e-3  # squared distance below which -log(1 - k), infinite at 0, goes on as a straight line


def fuzzy_memberships(distances: npt.NDArray[np.floating], indices: npt.NDArray[np.integer]) -> sp.csr_array:
    """Turn neighbour distances into UMAP's fuzzy memberships, a symmetric matrix.

    Parameters
    ----------
    distances, indices : ndarray of shape (n_samples, n_neighbors)
        The neighbours of each row in ascending order, the row itself not counted (umap-learn counts it).
    """
    n, k = distances.shape
    d = np.asarray(distances, dtype=np.float64)
    rho = np.where(d > 0, d, np.inf).min(axis=1, keepdims=True)
    rho[~np.isfinite(rho)] = 0.0
    beyond = np.maximum(d - rho, 0.0)
    mean = d.mean(axis=1, keepdims=True)
    scale = np.maximum(mean, np.finfo(np.float64).tiny)
    low, high = np.full((n, 1), -40.0), np.full((n, 1), 40.0)  # bounds of the logarithm of sigma / mean distance
    for _ in range(60):
        middle = 0.5 * (low + high)
        wide = np.exp(-beyond / (scale * np.exp(middle))).sum(axis=1, keepdims=True) > np.log2(k + 1)
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    floor = 1e-3 * np.where(rho > 0, mean, d.mean())
    sigma = np.maximum(np.maximum(scale * np.exp(middle), floor), np.finfo(np.float64).tiny)
    directed = sp.csr_array((np.exp(-beyond / sigma).ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), (n, n))
    return sp.csr_array(directed + directed.T - directed.multiply(directed.T))


def nearest_neighbor_memberships(X: npt.NDArray[np.floating], n_neighbors: int = 15) -> sp.csr_array:
    """Memberships of a table from its exact nearest neighbours (brute force: minutes at 70,000 x 784)."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=-1)
    return fuzzy_memberships(*search.fit(np.asarray(X, dtype=np.float64)).kneighbors())


def _log_deficit(squared: npt.NDArray[np.floating], a: float, b: float) -> npt.NDArray[np.floating]:
    """-log(1 - k) = log(1 + s^-b / a) of squared distances."""
    inside = np.maximum(squared, _NEAR)
    values = np.log1p(inside**-b / a)
    slope = -b / (_NEAR * (1.0 + a * _NEAR**b))
    return values + slope * np.minimum(squared - _NEAR, 0.0)


def effective_loss(
    graph: sp.csr_array, Y: npt.NDArray[np.floating], a: float, b: float, negative_sample_rate: float = 5.0
) -> float:
    """Evaluate the loss of a map over all pairs, about 60 CPU seconds at 70,000 rows.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Symmetric memberships without a diagonal.
    Y : ndarray of shape (n_samples, n_components)
        The map.
    a, b : float > 0
        The kernel of the map.
    negative_sample_rate : float, default=5
        Points drawn for each visit of an edge, m.

    Returns
    -------
    float
        Smaller is better. Rounding is below one part in a million.
    """
    n = len(Y)
    pairs = graph.tocoo()
    degrees = np.bincount(pairs.coords[0], weights=pairs.data, minlength=n)
    difference = Y[pairs.coords[0]].astype(np.float64) - Y[pairs.coords[1]]
    squared = np.einsum("ij,ij->i", difference, difference)
    attraction = float(pairs.data @ np.log1p(a * squared**b))
    columns = np.ascontiguousarray((Y - Y.mean(axis=0, dtype=np.float64)).T, dtype=np.float32)
    charges, repulsion = degrees.astype(np.float32), 0.0
    for row in range(0, n, _BLOCK):
        rows = slice(row, row + _BLOCK)
        for column in range(row - row % _WIDTH, n, _WIDTH):  # the pairs i < j, once
            there = slice(column, column + _WIDTH)
            s = np.zeros((len(charges[rows]), len(charges[there])), np.float32)
            for coordinates in columns:
                s += np.square(coordinates[rows, None] - coordinates[there])
            values = _log_deficit(s, a, b)
            if column < row + _BLOCK:  # the block meets the diagonal
                values *= np.arange(row, row + len(s))[:, None] < np.arange(column, column + s.shape[1])
            repulsion += float(charges[rows].astype(np.float64) @ values.sum(axis=1, dtype=np.float64))
            repulsion += float(charges[there].astype(np.float64) @ values.sum(axis=0, dtype=np.float64))
    return attraction + 2.0 * negative_sample_rate / (4.0 * n) * repulsion


def _contenders(
    passes: Sequence[int], ways: Sequence[str], n_neighbors: int, peer_python: str | None
) -> list[Contender]:
    """Return gnomon by each way and number of passes, and umap-learn, all of one thread."""
    found = []
    for way, n in itertools.product(ways, passes):
        parameters = {"n_neighbors": n_neighbors, "n_jobs": 1, "evaluation": way, **({"max_iter": n} if n else {})}
        found.append(Contender(f"gnomon, {way}, {n or 'default'} passes", "gnomon", "umap", parameters=parameters))
    if peer_python:  # it counts a row among its own neighbours
        counted = {"n_neighbors": n_neighbors + 1}
        found.append(Contender("umap-learn", "umap-learn-seeded", "umap", peer_python, counted))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the loss and the quality of maps of gnomon, for several numbers of passes, and of umap-learn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits", help="a table, as load_table takes it")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--pca", type=int)
    parser.add_argument("--neighbors", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=3, help="maps of each, with the seeds 0, 1, ...")
    parser.add_argument("--passes", type=int, nargs="+", default=[0], help="of gnomon; 0 is the default number")
    parser.add_argument("--ways", nargs="+", default=["auto"], help='of gnomon: "auto", "interpolated", "sampled"')
    parser.add_argument("--peer-python", help="a Python that has umap-learn")
    given = parser.parse_args(arguments)
    X, labels = load_table(given.data, given.rows, given.pca)
    graph = nearest_neighbor_memberships(X, given.neighbors)
    rows: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        np.save(folder / "table.npy", X)
        contenders = _contenders(given.passes, given.ways, given.neighbors, given.peer_python)
        for label, runs in measure_warm(contenders, folder / "table.npy", folder, given.repeats).items():
            scores: dict[str, list[float]] = {}
            for seed, run in enumerate(runs):
                Y = np.load(folder / f"{label}-{seed}.npy")
                quality = {"loss": effective_loss(graph, Y, *KERNEL), **map_quality(X, Y, labels), "CPU s": run.cpu}
                for name, value in quality.items():
                    scores.setdefault(name, []).append(value)
            rows[label] = [with_interval(values, _DIGITS.get(name, 4)) for name, values in scores.items()]
            measures = list(scores)
    print(
        f"{given.data}: {X.shape[0]} x {X.shape[1]}, means over {given.repeats} seeds and half their 95 % intervals\n"
    )
    print(table_of(["tool", *measures], [[label, *cells] for label, cells in rows.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
