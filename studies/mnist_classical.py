"""What do classical methods make of digits, in two dimensions and in three, beside t-SNE and UMAP?

PCA, locally linear embedding and Laplacian eigenmaps solve one eigenproblem; t-SNE and UMAP move points until forces
balance. The study maps the same digits by all five and scores each map: do the ten nearest points in it vote for a
point's digit (accuracy), are its neighbours neighbours in the data (trustworthiness), and the other way round
(continuity)?
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon._palette import class_colors
from studies.output import make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("PCA", {}),
    "LLE": ("LocallyLinearEmbedding", {"n_neighbors": 15}),
    "Laplacian eigenmaps": ("LaplacianEigenmaps", {"n_neighbors": 15}),
    "t-SNE": ("TSNE", {}),
    "UMAP": ("UMAP", {}),
}
"""Name, class in gnomon.methods and parameters other than the defaults."""
SCORES = {
    "knn_accuracy": "accuracy",
    "trustworthiness": "trust",
    "continuity": "continuity",
}


def _estimator(name: str, n_components: int, seed: int, jobs: int | None) -> Any:
    estimator, parameters = METHODS[name]
    return getattr(gnomon, estimator)(n_components=n_components, random_state=seed, n_jobs=jobs, **parameters)


def _fit(name: str, n_components: int, X: Any, labels: Any, options: Any) -> dict[str, Any]:
    """Map the rows once; return the map, its scores and the seconds it took."""
    model = _estimator(name, n_components, options.seed, options.jobs)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pieces that a neighbour graph falls into
        Y = model.fit_transform(X)
    seconds = time.perf_counter() - began
    found = gnomon.evaluate(X, Y, labels=labels, random_state=options.seed, n_jobs=options.jobs).scores()
    shown = "  ".join(f"{text} {found[key]:.3f}" for key, text in SCORES.items())
    print(f"{name:<20} {n_components}-D  {shown}  {seconds:.1f} s", flush=True)
    return {"method": name, "n_components": n_components, **found, "seconds": seconds, "map": np.asarray(Y)}


def _limits(Y: npt.NDArray[Any]) -> list[tuple[float, float]]:
    """Return for each axis an interval that holds all points but the outermost half per cent."""
    low, high = np.quantile(Y, [0.0025, 0.9975], axis=0)
    middle, half = (low + high) / 2, 0.55 * (high - low)
    return [(float(a), float(b)) for a, b in zip(middle - half, middle + half, strict=True)]


def _panel(figure: Any, place: tuple[int, int, int], run: dict[str, Any], colors: npt.NDArray[np.str_]) -> None:
    Y, solid = run["map"], run["n_components"] == 3
    limits = _limits(Y)
    inside = np.all([(Y[:, k] >= low) & (Y[:, k] <= high) for k, (low, high) in enumerate(limits)], axis=0)
    order = np.random.default_rng(0).permutation(np.flatnonzero(inside))  # no digit lies on top by its number
    ax = figure.add_subplot(*place, projection="3d" if solid else None)
    ax.scatter(*Y[order].T, c=colors[order], s=2.0, lw=0, rasterized=True)
    for setter, limit in zip((ax.set_xlim, ax.set_ylim, getattr(ax, "set_zlim", None)), limits, strict=False):
        setter(*limit)
    axes = (ax.xaxis, ax.yaxis, ax.zaxis) if solid else (ax.xaxis, ax.yaxis)
    for axis in axes:
        axis.set_ticks([])
    if solid:
        ax.view_init(elev=22, azim=-60)
        ax.set_box_aspect((1, 1, 1), zoom=1.2)
    else:
        ax.spines[:].set_color("0.85")
    score = ", ".join(f"{text} {run[key]:.2f}" for key, text in SCORES.items())
    ax.set_title(f"{run['method']}, {run['n_components']}-D\n{score}", fontsize=10)


def _picture(runs: list[dict[str, Any]], labels: npt.NDArray[np.str_]) -> Any:
    from matplotlib.lines import Line2D

    names, codes = np.unique(labels, return_inverse=True)
    palette = class_colors(len(names))
    figure = make_figure(3.5 * len(METHODS), 8.2)
    for number, run in enumerate(runs, start=1):
        _panel(figure, (2, len(METHODS), number), run, np.array(palette)[codes])
    handles = [
        Line2D([], [], marker="o", ls="", color=color, label=name, ms=7)
        for color, name in zip(palette, names, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(names), frameon=False, fontsize=11)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("mnist_classical", __doc__ or "")
    made.add_argument("--set", default="mnist", help="name of the data set")
    made.add_argument("--rows", type=int, default=5000, help="rows of the data set")
    options = parse(made, arguments)
    X, labels = load_rows(options.set, options.rows)
    runs = [_fit(name, n_components, X, labels, options) for n_components in (2, 3) for name in METHODS]
    plain = [{key: value for key, value in run.items() if key != "map"} for run in runs]
    write_json(options.out, "mnist_classical", {"rows": len(X), "data_set": options.set, "runs": plain})
    write_png(options.out, "mnist_classical", _picture(runs, labels))
    return 0


if __name__ == "__main__":
    sys.exit(main())
