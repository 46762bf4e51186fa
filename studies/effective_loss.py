"""Which loss does UMAP lower: the one that the paper states, or another?

UMAP maps handwritten digits, and three losses are evaluated over all pairs along the run: the cross-entropy that the
paper states, the one whose gradient its sampling follows on average, and the effective loss of the literature. Then
each of the first two is minimised itself, from the same start: whose minimum looks like UMAP's map?
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.linalg import procrustes
from gnomon.theory import EffectiveLoss, effective_loss
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

Maps = list[npt.NDArray[np.float32]]

_LINES = {
    "stated": ("stated in the paper", "#c0392b"),
    "sampled": ("followed by its sampling", "#6273d5"),
    "effective": ("effective loss of the literature", "#2aa56d"),
}
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "fontweight": "bold"}


def _run_umap(X: npt.NDArray[np.float32], seed: int, jobs: int | None) -> tuple[Any, list[int], Maps]:
    """Return a fitted UMAP and the maps along its run, its start first."""
    iterations = [0]
    maps: Maps = [gnomon.UMAP(random_state=seed, n_jobs=jobs, max_iter=0).fit_transform(X)]

    def keep(progress: Any) -> None:
        if progress.embedding is not None and progress.done > iterations[-1]:
            iterations.append(progress.done)
            maps.append(np.array(progress.embedding))

    fitted = gnomon.UMAP(random_state=seed, n_jobs=jobs, callback=keep).fit(X)
    return fitted, iterations, maps


def _minimise(X: npt.NDArray[np.float32], umap: Any, start: npt.NDArray[np.float32], loss: str, jobs: Any) -> Any:
    """Return the map that minimises a loss of UMAP's affinities and kernel over all pairs, from UMAP's start."""
    made = gnomon.NeighborEmbedding(
        affinity=umap.affinities_,
        kernel=umap.kernel_,
        loss=loss,
        loss_params={"evaluation": "exact"},
        optimizer="lbfgs",
        optimizer_params={"max_iter": 500},
        init=start,
        n_jobs=jobs,
    )
    return made.fit_transform(X)


def _draw_losses(ax: Any, iterations: Sequence[int], losses: EffectiveLoss) -> None:
    for key, (name, color) in _LINES.items():
        values = getattr(losses, key)
        ax.plot(iterations, values / values[0], color=color, lw=2.4, label=name)
    turn = int(np.argmin(losses.stated))
    if turn < len(iterations) - 1:
        ax.axvline(iterations[turn], color="#c0392b", ls=":", lw=1.2)
        ax.text(
            iterations[turn], 0.98, " from here on the\n stated loss rises", color="#c0392b", fontsize=8.5, va="top"
        )
    ax.set_xlabel("iteration of UMAP")
    ax.legend(frameon=False, fontsize=8.5, loc="upper right", bbox_to_anchor=(1.0, 0.9))
    ax.set_title("1  Three losses along the run of UMAP,\n    each over its value at the start", **_TITLE)
    dress(ax)


def _draw_map(ax: Any, Y: npt.NDArray[Any], labels: npt.NDArray[np.str_], title: str) -> None:
    ax.scatter(*Y.T, c=np.searchsorted(np.unique(labels), labels), cmap="tab10", s=3, lw=0)
    ax.set_aspect("equal", adjustable="datalim")
    ax.tick_params(labelsize=8, color="0.7")
    ax.spines[:].set_color("0.8")
    ax.set_title(title, **_TITLE)


def _picture(
    iterations: Sequence[int],
    losses: EffectiveLoss,
    maps: dict[str, Any],
    at_rest: EffectiveLoss,
    labels: npt.NDArray[np.str_],
) -> Any:
    figure = make_figure(17, 4.9)
    first, *others = figure.subplots(1, 1 + len(maps), width_ratios=[1.15] + [1] * len(maps))
    _draw_losses(first, iterations, losses)
    reference = next(iter(maps.values()))
    for number, (ax, (name, Y)) in enumerate(zip(others, maps.items(), strict=True), start=2):
        turned = procrustes(Y, reference, scaling=False).apply(Y) if number > 2 else Y
        _draw_map(ax, turned, labels, f"{number}  {name}" + ("; colours: labels" if number == 2 else ""))
    figure.suptitle(_headline(at_rest), x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def _headline(at_rest: EffectiveLoss) -> str:
    """Say how far UMAP ends above the least value of each loss; the maps are UMAP's and the two minima."""
    sampled, stated = at_rest.sampled[0] / at_rest.sampled[1], at_rest.stated[0] / at_rest.stated[2]
    return (
        f"UMAP ends at {sampled:.2f} times the least value of the loss that its sampling follows, and at {stated:.1f} "
        f"times that of the loss stated for it, which repels {at_rest.repulsion_ratio:.0f} times as much"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("effective_loss", __doc__ or "")
    made.add_argument("--set", default="mnist", help="name of the data set")
    made.add_argument("--rows", type=int, default=2000, help="rows of it")
    options = parse(made, arguments)
    X, labels = load_rows(options.set, options.rows)
    umap, iterations, maps = _run_umap(X, options.seed, options.jobs)
    losses = effective_loss(umap.affinities_, maps, umap.kernel_)
    print(losses.summary())
    shown = {
        "UMAP": umap.embedding_,
        "Minimum of the sampled loss": _minimise(X, umap, maps[0], "cross_entropy", options.jobs),
        "Minimum of the stated loss": _minimise(X, umap, maps[0], "stated_cross_entropy", options.jobs),
    }
    at_rest = effective_loss(umap.affinities_, list(shown.values()), umap.kernel_)
    figures = {
        "rows": len(X),
        "iterations": iterations,
        "repulsion_ratio": losses.repulsion_ratio,
        "along_the_run": {key: getattr(losses, key) for key in _LINES},
        "of_the_maps": {name: {key: getattr(at_rest, key)[i] for key in _LINES} for i, name in enumerate(shown)},
        "scores": {
            name: gnomon.evaluate(X, Y, labels=labels, n_jobs=options.jobs).scores() for name, Y in shown.items()
        },
    }
    write_json(options.out, "effective_loss", figures)
    write_png(options.out, "effective_loss", _picture(iterations, losses, shown, at_rest, labels))
    return 0


if __name__ == "__main__":
    sys.exit(main())
