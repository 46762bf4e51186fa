"""What do outliers do to principal directions, and does robust PCA get them back?

A cloud of rows is normal, long in two directions of thirty and thin in the others. Some entries are then replaced by
gross errors, or some rows thrown far off as a whole. PCA and robust PCA (the PCA of the low-rank part of the table)
look for the two directions; the figure is the largest angle between the plane they find and the true one. Robust PCA is
made for the first kind of error, which is sparse in each row, and not for the second.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import subspace_angles

from gnomon import PCA
from gnomon.exceptions import GnomonWarning
from studies.output import dress, make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Float64 = npt.NDArray[np.float64]

_N_FEATURES, _NOISE, _SIZE = 30, 0.05, 20.0
_DEVIATIONS = np.array([3.0, 2.0])
_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
_COLORS = {"PCA": "#2f2f2f", "robust PCA": "#d47719"}
_KINDS = {"entries": "1  Single entries are wrong", "rows": "2  Whole rows are wrong, all alike"}


def _cloud(n_samples: int, draw: np.random.Generator) -> tuple[Float64, Float64]:
    """Return rows and the two directions in which they are long."""
    plane, _ = np.linalg.qr(draw.normal(size=(_N_FEATURES, 2)))
    rows = (draw.normal(size=(n_samples, 2)) * _DEVIATIONS) @ plane.T
    return rows + _NOISE * draw.normal(size=rows.shape), plane


def _spoil(X: Float64, kind: str, share: float, draw: np.random.Generator) -> Float64:
    """Return the rows with a share of entries, or of rows, replaced."""
    spoiled = X.copy()
    if kind == "entries":
        wrong = draw.random(X.shape) < share
        spoiled[wrong] += _SIZE * draw.choice([-1.0, 1.0], size=int(wrong.sum()))
    else:
        wrong_rows = draw.random(len(X)) < share
        direction = draw.normal(size=X.shape[1])
        spoiled[wrong_rows] += _SIZE * direction / np.linalg.norm(direction)
    return spoiled


def _methods(seed: int, jobs: int | None) -> dict[str, Callable[[Float64], Float64]]:
    from gnomon.methods.linear.robust_pca import RobustPCA

    return {
        "PCA": lambda X: PCA(2, n_jobs=jobs).fit(X).components_,
        "robust PCA": lambda X: RobustPCA(2, random_state=seed, n_jobs=jobs).fit(X).components_,
    }


def _angles(kind: str, share: float, n_samples: int, n_draws: int, seed: int, jobs: int | None) -> dict[str, Any]:
    """Return for each method the largest angle from the true plane in degrees, of several draws."""
    methods = _methods(seed, jobs)
    found: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(n_draws):
        draw = np.random.default_rng([seed, number])
        X, plane = _cloud(n_samples, draw)
        X = _spoil(X, kind, share, draw)
        for name, directions in methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GnomonWarning)
                found[name].append(float(np.degrees(subspace_angles(directions(X).T, plane).max())))
    return {name: {"median": np.median(one), "least": min(one), "most": max(one)} for name, one in found.items()}


def _picture(report: dict[str, dict[str, Any]]) -> Any:
    figure = make_figure(11.5, 4.4)
    for ax, (kind, title) in zip(figure.subplots(1, 2, sharey=True), _KINDS.items(), strict=True):
        shares = [100.0 * float(share) for share in report[kind]]
        for name, color in _COLORS.items():
            runs = [one[name] for one in report[kind].values()]
            ax.plot(shares, [run["median"] for run in runs], "o-", color=color, lw=2.4, label=name)
            ax.fill_between(
                shares, [r["least"] for r in runs], [r["most"] for r in runs], color=color, alpha=0.15, lw=0
            )
        ax.set_xlabel(f"{kind} that are wrong, per cent")
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
        ax.set_ylim(-2, 92)
        dress(ax)
    figure.axes[0].set_ylabel("angle from the true plane, degrees")
    figure.axes[0].legend(frameon=False, fontsize=9)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("outlier_directions", __doc__ or "")
    made.add_argument("--rows", type=int, default=300, help="rows of the cloud")
    made.add_argument("--draws", type=int, default=5, help="clouds for each figure")
    options = parse(made, arguments)
    report: dict[str, dict[str, Any]] = {}
    for kind in _KINDS:
        report[kind] = {}
        for share in _SHARES:
            angles = _angles(kind, share, options.rows, options.draws, options.seed, options.jobs)
            report[kind][str(share)] = angles
            shown = "  ".join(f"{name} {one['median']:5.1f}" for name, one in angles.items())
            print(f"{kind:<8} {share:5.0%}  {shown}", flush=True)
    write_json(options.out, "outlier_directions", {"rows": options.rows, "draws": options.draws, "angles": report})
    write_png(options.out, "outlier_directions", _picture(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
