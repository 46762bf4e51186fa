"""Compare placing rows among landmarks that are compared with all of them, or found through cells.

GNOMON_DATA=FOLDER python -m benchmarks.placed_rows --data mnist --pca 50 --landmarks 10000 30000

Landmarks are drawn and mapped by UMAP; every other row is placed both ways, on one thread. Printed are the CPU time of
a row, without the first call, which makes the search; the share of the true neighbours found for 4,096 placed rows; the
scores of all rows; and how many rows have the same place, to the bit, and one within a hundredth of the map's extent.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/placed_rows.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.tables import load_table
from gnomon.neighbors import draw_landmarks, query_neighbors

__all__ = ["WAYS", "compare", "main"]

WAYS = {"compared with all": sys.maxsize, "through cells": 0}
"""From a way to the fewest landmarks that are searched through cells."""
_TOGETHER, _ASKED = 16_384, 4096  # rows placed at a time, and whose true neighbours are sought

Row = dict[str, Any]


def compare(X: npt.NDArray[Any], y: Any, n_landmarks: int, *, max_iter: int | None = None) -> list[Row]:
    """Return what each way takes and how good its map is.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
    n_landmarks : int in [2, n_samples - 1]
    max_iter : int or None, default=None
        Of UMAP.
    """
    landmarks = draw_landmarks(len(X), n_landmarks)
    others = np.setdiff1d(np.arange(len(X)), landmarks)
    fitted = gnomon.UMAP(max_iter=max_iter, random_state=0).fit(X[landmarks])
    fitted.n_jobs = 1
    rows: list[Row] = []
    maps = []
    for way, least in WAYS.items():
        with mock.patch("gnomon.neighbors.row_search._MANY_FROM", least):
            one = copy.deepcopy(fitted)
            Y = np.empty((len(X), 2), np.float32)
            Y[landmarks] = one.embedding_
            one.place(X[others[:1]])
            start = time.process_time()
            for begin in range(0, len(others), _TOGETHER):
                some = others[begin : begin + _TOGETHER]
                Y[some] = one.place(X[some])
            seconds = time.process_time() - start
        search, asked = one.placement_.search, X[others[:_ASKED]]
        true = query_neighbors(X[landmarks], asked, search.n_neighbors)[1][:, -1:]
        scores = gnomon.evaluate(X, Y, labels=y)
        rows.append(
            {
                "landmarks": n_landmarks,
                "way": f"{way} ({search.method})",
                "microseconds": 1e6 * seconds / len(others),
                "recall": float((search.find(asked)[1] <= true).mean()),
                "trust": scores.trustworthiness,
                "kept": scores.neighborhood_preservation,
                "accuracy": scores.knn_accuracy,
            }
        )
        maps.append(Y[others])
    apart = np.linalg.norm(maps[0] - maps[1], axis=1) / np.ptp(maps[0], axis=0).max()
    rows[-1] |= {"same": float((apart == 0).mean()), "near": float((apart < 0.01).mean())}
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="mnist")
    parser.add_argument("--pca", type=int, default=50)
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--landmarks", type=int, nargs="+", default=[10_000, 30_000])
    asked = parser.parse_args(arguments)
    X, y = load_table(asked.data, rows=asked.rows, pca=asked.pca)
    X = np.ascontiguousarray(X, np.float32)
    print("landmarks  way                          us/row  recall  trust  kept   accuracy  same places, near")
    for count in asked.landmarks:
        for row in compare(X, y, count):
            same = f"{row['same']:.3f}, {row['near']:.4f}" if "same" in row else ""
            print(
                f"{count:9,}  {row['way']:28} {row['microseconds']:6.1f}  {row['recall']:.4f}  {row['trust']:.3f}  "
                f"{row['kept']:.3f}  {row['accuracy'] or float('nan'):.3f}     {same}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
