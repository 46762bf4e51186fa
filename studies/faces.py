"""What do principal components make of faces: the mean, the directions, the variance, and faces that nobody has?

Lectures show eigenfaces: pictures of faces are points, their mean is a face, the directions in which they differ most
look like ghosts, some tens of them hold nearly all of the variance, and normal numbers along them give new faces. Here
the faces are painted from twenty numbers each (light, mood, turn, shift, and fourteen of the person), so the study can
ask as well what the directions mean: how much of each cause can be read off the scores. Faces of people who had no
part in the fit tell how many directions are worth keeping.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.methods import PCA
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.rendered_faces import Faces, render_faces

__all__ = ["main"]

Float64 = npt.NDArray[np.float64]

_KEPT = (2, 5, 10, 20, 50, 100, 200)
_SHOWN = 8
_TOLD_ALONE = 0.8  # correlation of a cause with the scores along one direction
_STEP = 2.0  # standard deviations to either side of the mean, in the picture of a direction
_CAUSES = ("light from the right", "light from above", "smile", "turn of the head", "shift right", "shift down")


@dataclass(frozen=True)
class Found:
    """Principal components of known faces, and what they make of faces of other people."""

    model: PCA
    generated: Float64
    figures: dict[str, Any]


def _explained(scores: Float64, cause: Float64, new_scores: Float64, new_cause: Float64) -> float:
    """Return the share of the variance of a cause that a linear function of the scores tells of new faces (R2)."""
    design = np.column_stack([scores, np.ones(len(scores))])
    weights = np.linalg.lstsq(design, cause, rcond=None)[0]
    told = np.column_stack([new_scores, np.ones(len(new_scores))]) @ weights
    return float(1 - np.sum((new_cause - told) ** 2) / np.sum((new_cause - new_cause.mean()) ** 2))


def _nearest(rows: Float64, others: Float64) -> float:
    """Return the median distance of rows from the nearest of others."""
    squares = np.sum(rows**2, axis=1)[:, None] + np.sum(others**2, axis=1) - 2 * rows @ others.T
    return float(np.median(np.sqrt(np.maximum(squares, 0.0).min(axis=1))))


def _study(known: Faces, new: Faces, seed: int, jobs: int | None) -> Found:
    """Fit known faces; return the model, generated faces and what was measured."""
    model = PCA(n_components=max(_KEPT), random_state=seed, n_jobs=jobs).fit(known.pictures)
    scores, new_scores = model.transform(known.pictures), model.transform(new.pictures)
    total = np.sum((new.pictures - model.mean_) ** 2)
    lost = [
        float(np.sum((new.pictures - model.mean_ - new_scores[:, :k] @ model.components_[:k]) ** 2) / total)
        for k in _KEPT
    ]
    told = {}
    for name, cause, new_cause in zip(_CAUSES, known.causes.T[-6:], new.causes.T[-6:], strict=True):
        r2 = [_explained(scores[:, :k], cause, new_scores[:, :k], new_cause) for k in (2, 10, 50)]
        correlations = [abs(float(np.corrcoef(scores[:, k], cause)[0, 1])) for k in range(_SHOWN)]
        told[name] = {
            "r2_of_2_10_50_directions": r2,
            "direction_most_like_it": int(np.argmax(correlations)) + 1,
            "correlation": max(correlations),
        }
    # The usual sampling: normal scores along fifty directions, which the picture shows.
    few = PCA(n_components=50, random_state=seed, n_jobs=jobs).fit(known.pictures)
    draws = np.random.default_rng(seed).normal(size=(200, 50)) * np.sqrt(few.explained_variance_)
    generated = few.inverse_transform(draws)
    shuffled = np.random.default_rng(seed).permuted(known.pictures, axis=0)[:200]
    variance = np.cumsum(model.explained_variance_ratio_)
    figures = {
        "known_faces": len(known.pictures),
        "new_faces": len(new.pictures),
        "pixels": known.pictures.shape[1],
        "variance_kept": dict(zip(map(str, _KEPT), variance[np.array(_KEPT) - 1].tolist(), strict=True)),
        "directions_for_90_percent": int(np.searchsorted(variance, 0.9)) + 1,
        "lost_of_new_people": dict(zip(map(str, _KEPT), lost, strict=True)),
        "causes": told,
        "distance_to_the_nearest_known_face": {
            "new people": _nearest(new.pictures, known.pictures),
            "generated": _nearest(generated, known.pictures),
            "pixels drawn one by one": _nearest(shuffled, known.pictures),
        },
    }
    return Found(model, np.clip(generated, 0, 1), figures)


def _show(ax: Any, picture: Float64, side: int, title: str = "", **limits: float) -> None:
    ax.imshow(picture.reshape(side, side), cmap="gray", **limits)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=9, loc="left")


def _picture(found: Found, known: Faces) -> Any:
    model, side, figures = found.model, known.side, found.figures
    white = {"vmin": 0.0, "vmax": 1.0}
    figure = make_figure(1.45 * (_SHOWN + 1), 11.6)
    above, below = figure.subfigures(2, 1, height_ratios=[5, 1.9])
    grid = above.add_gridspec(5, _SHOWN + 1)
    _show(above.add_subplot(grid[0, 0]), model.mean_, side, "the mean", **white)
    for k in range(_SHOWN):
        away = _STEP * np.sqrt(model.explained_variance_[k]) * model.components_[k]
        largest = float(np.abs(away).max())
        share = f"direction {k + 1}: {model.explained_variance_ratio_[k]:.0%}"
        _show(above.add_subplot(grid[0, k + 1]), away, side, share, vmin=-largest, vmax=largest)
        _show(above.add_subplot(grid[1, k + 1]), model.mean_ - away, side, "mean minus" if k == 0 else "", **white)
        _show(above.add_subplot(grid[2, k + 1]), model.mean_ + away, side, "mean plus" if k == 0 else "", **white)
    for k in range(_SHOWN + 1):
        _show(above.add_subplot(grid[3, k]), known.pictures[11 * k], side, "painted" if k == 0 else "", **white)
        _show(above.add_subplot(grid[4, k]), found.generated[k], side, "generated" if k == 0 else "", **white)
    curve, causes = below.subplots(1, 2)
    curve.plot(np.cumsum(model.explained_variance_ratio_), color="#6273d5", lw=2.2, label="variance kept, known faces")
    kept = [1 - figures["lost_of_new_people"][str(k)] for k in _KEPT]
    curve.plot(np.array(_KEPT) - 1, kept, "o--", color="#d47719", label="of faces of other people")
    curve.set(xlabel="directions", ylim=(0, 1.02))
    curve.legend(frameon=False, loc="lower right")
    names = list(figures["causes"])
    for shift, (column, color) in enumerate(((0, "#c9d3e0"), (1, "#9aa3ad"), (2, "#6273d5"))):
        values = [max(0.0, figures["causes"][name]["r2_of_2_10_50_directions"][column]) for name in names]
        causes.barh(
            np.arange(len(names)) + 0.27 * (shift - 1), values, 0.25, color=color, label=f"{(2, 10, 50)[shift]}"
        )
    causes.set_yticks(range(len(names)), names, fontsize=9)
    causes.set_xlabel("share told by so many directions (R2, other people)")
    causes.legend(frameon=False, fontsize=9)
    for ax in (curve, causes):
        dress(ax)
    return figure


def _agreement(figures: dict[str, Any]) -> str:
    """Say in one sentence what of the lectures' account holds here."""
    variance, near = figures["variance_kept"], figures["distance_to_the_nearest_known_face"]
    alone = [name for name, one in figures["causes"].items() if one["correlation"] > _TOLD_ALONE]
    return (
        f"As lectures say, the mean is a face, few directions hold most of the variance ({variance['10']:.0%} by 10, "
        f"{variance['50']:.0%} by 50 of {figures['pixels']}), and normal scores give new faces, which lie "
        f"{near['generated']:.1f} from the nearest known face, other people {near['new people']:.1f}, pixels drawn one "
        f"by one {near['pixels drawn one by one']:.1f}. Directions are mixtures: one alone follows "
        f"{' and '.join(alone) or 'none'} of the {len(figures['causes'])} causes."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Paint faces, find their principal components, draw and write what they are worth; return the exit status."""
    made = parser("faces", __doc__ or "")
    made.add_argument("--people", type=int, default=60, help="people whose faces are fitted; half as many are held out")
    made.add_argument("--side", type=int, default=48, help="pixels along a side")
    options = parse(made, arguments)
    both = render_faces(options.people + options.people // 2, 10, side=options.side, seed=options.seed)
    seen = both.people < options.people
    known, new = (Faces(both.pictures[rows], both.people[rows], both.causes[rows], both.side) for rows in (seen, ~seen))
    found = _study(known, new, options.seed, options.jobs)
    found.figures["agreement"] = _agreement(found.figures)
    print(found.figures["agreement"])
    for name, one in found.figures["causes"].items():
        told = "  ".join(f"{r2:5.2f}" for r2 in one["r2_of_2_10_50_directions"])
        print(f"{name:22} {told}  most like direction {one['direction_most_like_it']} ({one['correlation']:.2f})")
    write_json(options.out, "faces", found.figures)
    write_png(options.out, "faces", _picture(found, known), 90, small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
