"""What do the pictures of a data set look like in the order of a map?

A map of pictures is brought to a grid, one cell for each, by the assignment that moves all points together as little as
possible, and the pictures are laid into the cells. The figures say what the grid costs: how many of a picture's eight
neighbours on the grid have its label or are among its nearest rows, beside the map itself and a grid in random order.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.datasets import load_dataset
from gnomon.neighbors import compute_neighbors
from gnomon.plot import assign_to_grid, mosaic
from studies.embedders import embed
from studies.output import parse, parser, write_json, write_png

__all__ = ["main"]

_FIXED = 50  # principal components that the map is made of
_AROUND = 8


def _pictures(name: str, rows: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Return pictures, their principal components and their labels, of a fixed sample of rows."""
    from sklearn.decomposition import PCA

    data = load_dataset(name)
    if data.image_shape is None:
        raise SystemExit(f"{name} holds no pictures; take mnist, digits or cifar10_sample.")
    values, labels = np.asarray(data.X, dtype=np.float64), np.asarray(data.labels)
    chosen = np.sort(np.random.default_rng(0).choice(len(values), min(rows, len(values)), replace=False))
    values, labels = values[chosen], labels[chosen]
    images = np.round(values * (255.0 / values.max())).astype(np.uint8).reshape(-1, *data.image_shape)
    components = PCA(min(_FIXED, *values.shape), svd_solver="covariance_eigh").fit_transform(values)
    return images, components.astype(np.float32), labels


def _scores(cells: npt.NDArray[Any], X: npt.NDArray[np.float32], labels: npt.NDArray[Any]) -> dict[str, float]:
    """Return how often neighbours on a plane share the label, and how often they are near rows."""
    around = compute_neighbors(np.asarray(cells, dtype=np.float64), _AROUND).indices
    near = compute_neighbors(X, _AROUND).indices
    shared = [len(np.intersect1d(one, other)) for one, other in zip(around, near, strict=True)]
    same = labels[around] == labels[:, None]
    return {"same_label": float(same.mean()), "near_rows": float(np.mean(shared)) / _AROUND}


def main(arguments: Sequence[str] | None = None) -> int:
    """Map pictures, lay them on a grid, draw the mosaic and write what the grid keeps."""
    made = parser("picture_mosaic", __doc__ or "")
    made.add_argument("--set", default="cifar10_sample", help="a data set of pictures, cifar10_sample by default")
    made.add_argument("--rows", type=int, default=2000)
    made.add_argument("--method", default="umap", help="how the map is made, umap by default")
    options = parse(made, arguments)
    images, X, labels = _pictures(options.set, options.rows)
    Y = embed(options.method, X, seed=options.seed, n_jobs=options.jobs)
    began = time.perf_counter()
    cells = assign_to_grid(Y)
    seconds = time.perf_counter() - began
    shuffled = np.random.default_rng(options.seed).permutation(cells)
    figures = {
        "map": _scores(Y, X, labels),
        "grid": _scores(cells, X, labels),
        "random grid": _scores(shuffled, X, labels),
    }
    for name, one in figures.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.3f}" for key, value in one.items()))
    ax = mosaic(images, Y, gap=1).ax_
    write_png(options.out, "picture_mosaic", ax.figure, dpi=ax.figure.dpi)
    about = {"set": options.set, "rows": len(X), "method": options.method, "seconds_for_the_grid": seconds}
    write_json(options.out, "picture_mosaic", {**about, "figures": figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
