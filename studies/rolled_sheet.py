"""Does locally linear embedding unroll a swiss roll, and when does it not?

The picture of the papers: a rolled sheet, coloured along its length, laid flat by LLE and its variants, beside PCA and
Isomap. The sheet is known, so the figures say how flat it lies: the Procrustes disparity from the true sheet; what no
linear map of the positions explains of it, which is bent or torn and not only stretched (LLE fixes the lengths of its
axes, so its sheet is a square); and the order along the roll. Noise and numbers of neighbours vary.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Float64 = npt.NDArray[np.float64]

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("PCA", {}),
    "LLE": ("LocallyLinearEmbedding", {}),
    "modified LLE": ("LocallyLinearEmbedding", {"variant": "modified"}),
    "Hessian LLE": ("LocallyLinearEmbedding", {"variant": "hessian"}),
    "LTSA": ("LocallyLinearEmbedding", {"variant": "ltsa"}),
    "Isomap": ("Isomap", {}),
}
NEIGHBORS = (8, 12, 20, 40)
NOISE = (0.0, 0.3, 1.0)
_USUAL = (12, 0.0)  # neighbours and noise of the picture
_HEIGHT = 21.0
_FLAT = 0.1  # disparity of axes at their best lengths below which a sheet counts as laid flat


def roll(rows: int, noise: float, seed: int) -> tuple[Float64, Float64]:
    """Return rows on a rolled sheet, even in area, and their places on the sheet: length along the roll and height."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(1.5 * np.pi, 4.5 * np.pi, 4000)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(1.0, angles[1:]) * np.diff(angles))])
    along = rng.uniform(0.0, length[-1], rows)
    angle, height = np.interp(along, length, angles), rng.uniform(0.0, _HEIGHT, rows)
    X = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)]) + noise * rng.normal(size=(rows, 3))
    return X, np.column_stack([along, height])


def disparity(Y: Float64, truth: Float64, *, axes: bool) -> float:
    """Return the share of the truth's variance that the map, turned and scaled at best, leaves.

    With `axes` any linear map of the positions is allowed: what then remains is bent or torn, not only stretched.
    """
    Y, truth = Y - Y.mean(axis=0), truth - truth.mean(axis=0)
    if axes:
        fitted = Y @ np.linalg.lstsq(Y, truth, rcond=None)[0]
        return float(np.sum((truth - fitted) ** 2) / np.sum(truth**2))
    singular = np.linalg.svd(Y.T @ truth, compute_uv=False).sum()
    return float(1 - singular**2 / (np.sum(Y**2) * np.sum(truth**2)))


def _order(Y: Float64, along: Float64) -> float:
    """Return the largest rank correlation of the length along the roll with a direction of the map."""
    from scipy.stats import spearmanr

    turns = np.linspace(0, np.pi, 90, endpoint=False)
    return max(abs(float(spearmanr(Y @ [np.cos(t), np.sin(t)], along)[0])) for t in turns)


def _fit(name: str, X: Float64, n_neighbors: int, seed: int, jobs: int | None) -> Float64:
    estimator, parameters = METHODS[name]
    more = {} if name == "PCA" else {"n_neighbors": n_neighbors}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pieces that a graph falls into
        model = getattr(gnomon, estimator)(n_components=2, n_jobs=jobs, **more, **parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return np.asarray(model.fit_transform(X), dtype=np.float64)


def _picture(X: Float64, truth: Float64, maps: dict[str, Float64], scores: dict[str, dict[str, float]]) -> Any:
    figure = make_figure(3.1 * (len(maps) + 1), 3.6)
    ax = figure.add_subplot(1, len(maps) + 1, 1, projection="3d")
    ax.scatter(*X.T, c=truth[:, 0], cmap="viridis", s=3, lw=0)
    ax.view_init(elev=12, azim=-72)
    ax.set(xticks=[], yticks=[], zticks=[])
    ax.set_title("the rolled sheet", fontsize=10, loc="left")
    for number, (name, Y) in enumerate(maps.items(), start=2):
        ax = figure.add_subplot(1, len(maps) + 1, number)
        ax.scatter(*Y.T, c=truth[:, 0], cmap="viridis", s=3, lw=0)
        ax.set(xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
        ax.spines[:].set_color("0.85")
        one = scores[name]
        ax.set_title(f"{name}\norder {one['order']:.2f}, bent {one['bent']:.2f}", fontsize=10, loc="left")
    return figure


def _agreement(table: Sequence[dict[str, Any]]) -> str:
    """Say in one sentence what of the picture of the papers holds here."""
    flat = [one for one in table if one["noise"] == 0 and one["bent"] < _FLAT]
    found = {name: [str(one["n_neighbors"]) for one in flat if one["method"] == name] for name in METHODS}
    told = "; ".join(f"{name} with {', '.join(numbers) or 'none'}" for name, numbers in found.items() if name != "PCA")
    return f"Without noise the sheet lies flat (under a tenth of its variance bent) of the neighbours tried: {told}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Unroll rolls by all methods, draw the usual one and write all figures; return the exit status."""
    made = parser("rolled_sheet", __doc__ or "")
    made.add_argument("--rows", type=int, default=2000)
    options = parse(made, arguments)
    table, maps, usual = [], {}, {}
    X, truth = roll(options.rows, 0.0, options.seed)
    for noise in NOISE:
        X, truth = roll(options.rows, noise, options.seed)
        for n_neighbors in NEIGHBORS:
            for name in METHODS:
                Y = _fit(name, X, n_neighbors, options.seed, options.jobs)
                scores = {
                    "disparity": disparity(Y, truth, axes=False),
                    "bent": disparity(Y, truth, axes=True),
                    "order": _order(Y, truth[:, 0]),
                }
                table.append({"method": name, "n_neighbors": n_neighbors, "noise": noise, **scores})
                if (n_neighbors, noise) == _USUAL:
                    maps[name], usual[name] = Y, scores
                shown = "  ".join(f"{key} {value:.3f}" for key, value in scores.items())
                print(f"noise {noise}  {n_neighbors:2} neighbours  {name:14} {shown}", flush=True)
    agreement = _agreement(table)
    print(agreement)
    write_json(options.out, "rolled_sheet", {"rows": options.rows, "agreement": agreement, "table": table})
    X, truth = roll(options.rows, _USUAL[1], options.seed)
    write_png(options.out, "rolled_sheet", _picture(X, truth, maps, usual))
    return 0


if __name__ == "__main__":
    sys.exit(main())
