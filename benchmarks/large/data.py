"""Make a long table out of a short one: rows between near neighbours, with noise and the label of the nearer row.

GNOMON_DATA=FOLDER python -m benchmarks.large make --rows 10000000 --out FOLDER
python -m benchmarks.large make --data digits --rows 20000 --out FOLDER --also parquet

Row i is x_a + t (x_b - x_a) + noise, with a drawn from the rows of the short table, b from the 5 nearest of a, t from
[0, 0.5], and noise of a tenth of each column's spread; its label is that of a. Cells of 8,192 rows have generators of
their own, of the seed and the number of the cell: the same rows come out whatever is written at a time, and a shorter
table is the beginning of a longer one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.tables import load_table

__all__ = ["Recipe", "main", "recipe_of", "write_table"]

_CELL = 8192  # rows of one generator
_NEAR, _FARTHEST, _NOISE = 5, 0.5, 0.1


class Recipe:
    """A short table with its neighbours, from which rows of a long one are drawn.

    Parameters
    ----------
    X : ndarray of shape (n_base, n_features), float32
    labels : ndarray of shape (n_base,)
    seed : int, default=0
    """

    def __init__(self, X: npt.NDArray[np.float32], labels: npt.NDArray[Any], seed: int = 0) -> None:
        from gnomon.neighbors import compute_neighbors

        self.X, self.labels, self.seed = X, labels, seed
        self._near = compute_neighbors(X, _NEAR).indices
        self._noise = (_NOISE * X.std(axis=0)).astype(np.float32)

    def cell(self, number: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
        """Return the rows of a cell and their labels."""
        rng = np.random.Generator(np.random.Philox(key=[self.seed, number]))
        first = rng.integers(0, len(self.X), _CELL)
        second = self._near[first, rng.integers(0, _NEAR, _CELL)]
        share = np.float32(_FARTHEST) * rng.random((_CELL, 1), dtype=np.float32)
        rows = rng.standard_normal((_CELL, self.X.shape[1]), dtype=np.float32)
        rows *= self._noise
        rows += (1 - share) * self.X[first]
        rows += share * self.X[second]
        return rows, self.labels[first]

    def blocks(self, n_rows: int, cells: int = 16) -> Iterator[tuple[npt.NDArray[np.float32], npt.NDArray[Any]]]:
        """Yield the first n_rows rows and their labels, so many cells at a time."""
        for start in range(0, n_rows, cells * _CELL):
            numbers = range(start // _CELL, min(start // _CELL + cells, -(-n_rows // _CELL)))
            parts = [self.cell(number) for number in numbers]
            stop = n_rows - start
            yield np.concatenate([rows for rows, _ in parts])[:stop], np.concatenate([own for _, own in parts])[:stop]


def write_table(recipe: Recipe, n_rows: int, folder: Path, *, also: str | None = None, cells: int = 16) -> Path:
    """Write X.npy and y.npy, and the same rows as a Zarr or Parquet table; return the path of X.npy, last to appear."""
    from numpy.lib.format import open_memmap

    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / "X.unfinished.npy"
    X = open_memmap(unfinished, mode="w+", dtype=np.float32, shape=(n_rows, recipe.X.shape[1]))
    labels = np.empty(n_rows, dtype=recipe.labels.dtype)
    start = 0
    for rows, own in recipe.blocks(n_rows, cells):
        X[start : start + len(rows)] = rows
        labels[start : start + len(rows)] = own
        start += len(rows)
        if start % (64 * _CELL) == 0:
            X.flush()
    X.flush()
    del X
    np.save(folder / "y.npy", labels)
    if also is not None:
        {"zarr": _write_zarr, "parquet": _write_parquet}[also](recipe, n_rows, folder)
    return unfinished.rename(folder / "X.npy")


def _write_zarr(recipe: Recipe, n_rows: int, folder: Path) -> None:
    import zarr

    shape = n_rows, recipe.X.shape[1]
    group = zarr.open_group(folder / "table.zarr", mode="w")
    X = group.create_array("X", shape=shape, dtype="float32", chunks=(min(n_rows, 16 * _CELL), shape[1]))
    labels = group.create_array("label", shape=(n_rows,), dtype=recipe.labels.dtype.str, chunks=(n_rows,))
    start = 0
    for rows, own in recipe.blocks(n_rows):
        X[start : start + len(rows)] = rows
        labels[start : start + len(rows)] = own
        start += len(rows)


def _write_parquet(recipe: Recipe, n_rows: int, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "parquet").mkdir(exist_ok=True)
    for number, (rows, own) in enumerate(recipe.blocks(n_rows)):
        columns = {f"x{j}": np.ascontiguousarray(rows[:, j]) for j in range(rows.shape[1])} | {"label": own}
        pq.write_table(pa.table(columns), folder / "parquet" / f"part-{number:06d}.parquet")


def recipe_of(data: str, pca: int | None, seed: int) -> Recipe:
    """Return the recipe of a table that `load_table` knows."""
    X, labels = load_table(data, pca=pca)
    if labels is None:
        raise ValueError(f"--data {data} has no labels.")
    return Recipe(X, np.asarray(labels), seed)


def main(arguments: list[str] | None = None) -> int:
    """Write a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="mnist", help="mnist and the like (in GNOMON_DATA), or digits")
    parser.add_argument("--pca", type=int, default=50, help="components of the short table")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--also", choices=["zarr", "parquet"], help="the same rows in another form too")
    given = parser.parse_args(arguments)
    print(write_table(recipe_of(given.data, given.pca, given.seed), given.rows, given.out, also=given.also))
    return 0
