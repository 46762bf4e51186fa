"""Do attractions and repulsions between points lead to principal component analysis? (theorem 1 and lemma 3)

A thousand handwritten digits start as a small random cloud. Each point is drawn to others by the inner product of
their pictures and pushed off by that of their places in the map; the study follows the map to rest and compares it with
PCA by eigenvectors. Then the similarity is replaced by one of few columns: does the cheap gradient lead the same way,
and do the conditions under which it is said to do so hold where it does, and fail where it does not?
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities import Gram
from gnomon.linalg import procrustes
from gnomon.objectives import Strain
from gnomon.theory import LowRankAlignment, PCACertificate, lowrank_alignment, pca_certificate
from gnomon.theory.pca import descend
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

Float64 = npt.NDArray[np.float64]

_STEPS = {"safe": ("the safe step", "#6273d5"), "babylonian": ("the same, preconditioned", "#d47719")}
_APPROXIMATIONS = (("randomized", 10), ("nystrom", 20), ("nystrom", 100), ("cholesky", 20), ("cholesky", 100))
_COLORS = ("#2f2f2f", "#d47719", "#e8b586", "#3f51b5", "#a9b2e0")
_SHOWN_ERRORS = (1.0, 0.6, 0.3, 0.1, 1e-3)  # maps are shown when their error first falls to these
_ROUNDING = 1e-9
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "fontweight": "bold"}


@dataclass(frozen=True)
class Descent:
    """A certificate and the maps it speaks of, each turned and mirrored onto PCA."""

    certificate: PCACertificate
    maps: list[Float64]
    scores: Float64  # of PCA by eigenvectors


def _descend(X: npt.NDArray[np.float32], step: str, seed: int) -> Descent:
    certificate = pca_certificate(X, step=step, random_state=seed)
    gram = Gram.from_features(X)
    direct = gram.leading_eigenpairs(2, seed=seed)
    scores = direct.vectors * np.sqrt(direct.values)
    _, _, path = descend(Strain(gram), 2, step=step, max_iter=certificate.n_iter, tol=0.0, seed=seed)
    return Descent(certificate, [_onto(Y, scores) for Y in path], scores)


def _onto(Y: Float64, scores: Float64) -> Float64:
    """Turn and mirror a map onto another; no scaling."""
    return np.asarray((Y - Y.mean(axis=0)) @ procrustes(Y - Y.mean(axis=0), scores).rotation)


def _shown(certificate: PCACertificate) -> list[int]:
    """Return the records whose maps are shown: where the error first falls to each of a few values."""
    falls = [int(np.argmax(certificate.error <= error)) for error in _SHOWN_ERRORS[1:]]
    return [0, *falls]


def _draw_map(ax: Any, Y: Float64, labels: npt.NDArray[np.str_], limit: float, title: str) -> Any:
    digits = np.unique(labels)
    points = ax.scatter(*Y.T, c=np.searchsorted(digits, labels), cmap="tab10", s=5, lw=0)
    ax.set_xlim(-limit, limit)
    ax.set_ylim(-limit, limit)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, loc="left", fontsize=9.5)
    ax.spines[:].set_color("0.8")
    return points


def _draw_error(ax: Any, descents: dict[str, Descent]) -> None:
    for step, (name, color) in _STEPS.items():
        certificate = descents[step].certificate
        ax.semilogy(certificate.iterations, certificate.error, color=color, lw=2.6, label=name)
    safe = descents["safe"].certificate
    half = len(safe.error) // 2
    theory = safe.error[half] * safe.expected_rate ** (safe.iterations - safe.iterations[half])
    name = f"slope that theory gives the safe step, {safe.expected_rate:.4f}"
    ax.semilogy(safe.iterations, theory, ":", color="black", lw=1.3, label=name)
    ax.set_xlabel("iteration")
    ax.set_title("1  Distance from PCA,\n    over all rotations and reflections", **_TITLE)
    ax.legend(frameon=False, fontsize=8.5)
    dress(ax)


def _draw_loss(ax: Any, descents: dict[str, Descent]) -> None:
    for step, (_, color) in _STEPS.items():
        certificate = descents[step].certificate
        ax.plot(certificate.iterations, certificate.loss / certificate.loss.min(), color=color, lw=2.6)
    ax.axhline(1.0, color="0.45", ls=":", lw=1.2)
    ax.set_title("2  Loss over that of PCA, the first iterations:\n    the safe step never raises it", **_TITLE)
    _show_beginning(ax, descents["safe"])


def _draw_axes(ax: Any, descent: Descent) -> None:
    """Draw how the two axes of the map grow to those of PCA, one after the other."""
    squared = np.array([np.linalg.svd(Y, compute_uv=False) ** 2 for Y in descent.maps])
    largest = descent.certificate.eigenvalues[0]
    for axis, shade in enumerate(("#6273d5", "#a9b2e0")):
        ax.plot(descent.certificate.iterations, squared[:, axis] / largest, color=shade, lw=2.6)
        ax.axhline(descent.certificate.eigenvalues[axis] / largest, color="0.45", ls=":", lw=1.2)
    ax.text(0.97, 0.93, "first axis", transform=ax.transAxes, ha="right", va="top", fontsize=9, color="#6273d5")
    ax.text(0.97, 0.62, "second axis", transform=ax.transAxes, ha="right", va="top", fontsize=9, color="#8790cf")
    ax.set_title(
        "3  Length of the map's axes, squared, over that of\n    PCA's first: the safe step never passes it", **_TITLE
    )
    _show_beginning(ax, descent)


def _show_beginning(ax: Any, safe: Descent) -> None:
    """Cut a plot at the iteration where nothing moves to the eye any more; mark the maps shown above."""
    records = _shown(safe.certificate)
    last = int(1.4 * records[-2])
    ax.set_xlim(-1, last)
    for record in records[1:-1]:
        ax.axvline(safe.certificate.iterations[record], color="0.85", lw=1, zorder=0)
    ax.set_xlabel("iteration (grey: the maps above)")
    dress(ax)


def _picture(descents: dict[str, Descent], labels: npt.NDArray[np.str_]) -> Any:
    safe = descents["safe"]
    records = _shown(safe.certificate)
    limit = 1.05 * float(np.abs(safe.scores).max())
    figure = make_figure(16.5, 7.6)
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 1.15])
    axes = upper.subplots(1, len(records) + 1)
    for ax, record in zip(axes, records, strict=False):
        error = safe.certificate.error[record]
        title = f"iteration {safe.certificate.iterations[record]}\n{error:.1%} from PCA"
        _draw_map(ax, safe.maps[record], labels, limit, title if record else "a random start\n")
    points = _draw_map(axes[-1], safe.scores, labels, limit, "PCA by eigenvectors\n")
    digits = np.unique(labels)
    axes[-1].legend(
        points.legend_elements(num=None)[0],
        digits,
        frameon=False,
        fontsize=7,
        loc="upper right",
        ncol=2,
        handletextpad=0,
        columnspacing=0.4,
        markerscale=0.7,
    )
    first, second, third = lower.subplots(1, 3)
    _draw_error(first, descents)
    _draw_loss(second, descents)
    _draw_axes(third, safe)
    certificate = safe.certificate
    figure.suptitle(
        f"Attraction and repulsion end at PCA: {certificate.n_samples} rows, {certificate.procrustes_error:.0e} away "
        f"after {certificate.n_iter} iterations" + (", the loss falling in every one" if certificate.monotone else ""),
        x=0.01,
        ha="left",
        fontsize=13,
        fontweight="bold",
    )
    return figure


def _between(descent: Descent, low: Gram, seed: int) -> list[Float64]:
    """Return maps on the straight line from the solution of a low-rank similarity to PCA, ends left out."""
    found = low.leading_eigenpairs(2, seed=seed)
    start = _onto(found.vectors * np.sqrt(np.maximum(found.values, 0.0)), descent.scores)
    return [(1.0 - t) * start + t * descent.scores for t in np.linspace(0.0, 1.0, 42)[1:-1]]


def _align(X: npt.NDArray[np.float32], descent: Descent, seed: int) -> dict[str, tuple[LowRankAlignment, ...]]:
    """Return for each approximation the alignment along its own descent, and on the line from its rest to PCA."""
    gram = Gram.from_features(X)
    found = {}
    for method, rank in _APPROXIMATIONS:
        approximation = gram.centred().approximate(method, rank=rank, seed=seed)
        low = Gram.from_factor(approximation)
        along = lowrank_alignment(gram, approximation, max_iter=400, random_state=seed)
        found[f"{method}, {rank} columns"] = (
            along,
            lowrank_alignment(gram, approximation, _between(descent, low, seed), random_state=seed),
        )
    return found


def _draw_cosines(ax: Any, alignments: dict[str, tuple[LowRankAlignment, ...]], which: int) -> None:
    for (name, pair), color in zip(alignments.items(), _COLORS, strict=True):
        alignment = pair[which]
        at = alignment.iterations if which == 0 else np.linspace(0, 1, len(alignment.cosine) + 2)[1:-1]
        ax.plot(at, alignment.cosine, color=color, lw=2.0, label=name)
    ax.axhline(0, color="0.5", lw=0.8)
    ax.set_ylim(-1.05, 1.05)
    dress(ax)


_CONDITIONS = (
    ("condition", "measured:\n|R Y| < |E Y|"),
    ("certificate", "certified:\n|R| |Y| < |E Y|"),
    ("printed_condition", "as printed\nin lemma 3"),
)


def _share(promised: npt.NDArray[np.bool_], holds: npt.NDArray[np.bool_]) -> str:
    """Return in how many of the maps of which something is promised it does not hold."""
    return f"{np.count_nonzero(promised & ~holds)} of {np.count_nonzero(promised)}"


def _draw_conditions(ax: Any, alignments: dict[str, tuple[LowRankAlignment, ...]]) -> None:
    """Write how often each condition promises a common direction, and how often wrongly."""
    ax.axis("off")
    ax.set_xlim(0, 1)
    ax.set_ylim(len(alignments) + 1.2, -0.6)
    columns = (0.0, 0.46, 0.68, 0.91)
    for x, (_, text) in zip(columns[1:], _CONDITIONS, strict=True):
        ax.text(x, 0, text, fontsize=9, ha="center", va="bottom", color="0.3")
    for y, ((name, pair), color) in enumerate(zip(alignments.items(), _COLORS, strict=True), start=1):
        ax.text(columns[0], y, name, fontsize=9.5, color=color, fontweight="bold")
        for x, (key, _) in zip(columns[1:], _CONDITIONS, strict=True):
            broken = _broken(pair, key)
            wrong = not broken.startswith("0 ")
            ax.text(x, y, broken, fontsize=9.5, ha="center", color="#c0392b" if wrong else "0.2")
    ax.set_title(
        "3  Maps of which a condition promises a common direction,\n    and how many of them have none", **_TITLE
    )


def _broken(pair: tuple[LowRankAlignment, ...], key: str) -> str:
    sizes = np.concatenate([alignment.gradient_norm for alignment in pair])
    zero = (
        sizes <= _ROUNDING * sizes.max()
    )  # where both solutions are one, gradients are rounding and have no direction
    promised = np.concatenate([getattr(alignment, key) for alignment in pair]) & ~zero
    positive = np.concatenate([alignment.inner_product > 0 for alignment in pair])
    return _share(promised, positive)


def _low_rank_picture(alignments: dict[str, tuple[LowRankAlignment, ...]]) -> Any:
    figure = make_figure(16.5, 5.2)
    first, second, third = figure.subplots(1, 3, width_ratios=[1, 0.9, 1.15])
    _draw_cosines(first, alignments, 0)
    first.set_xlabel("iteration")
    first.set_ylabel("cosine of the two gradients")
    first.set_title("1  Along the descent of each approximation:\n    1, the same direction; below 0, apart", **_TITLE)
    first.legend(frameon=False, fontsize=8.5, loc="lower left")
    _draw_cosines(second, alignments, 1)
    second.set_xlabel("from where the approximation rests (0) to PCA (1)")
    second.set_title("2  On the line between both solutions,\n    where they pull apart", **_TITLE)
    _draw_conditions(third, alignments)
    figure.suptitle(
        "A low-rank similarity leads the same way at first and parts from the full one near its own rest; the "
        "condition in print does not notice",
        x=0.01,
        ha="left",
        fontsize=13,
        fontweight="bold",
    )
    return figure


def _figures(descent: Descent) -> dict[str, Any]:
    one = descent.certificate
    return {
        "n_iter": one.n_iter,
        "error_of_the_map": f"{one.procrustes_error:.3e}",
        "error_of_inner_products": f"{one.gram_error:.3e}",
        "loss_never_rose": one.monotone,
        "rate_observed": one.observed_rate,
        "rate_expected_of_safe_step": one.expected_rate,
        "iterations": one.iterations,
        "error": [f"{error:.3e}" for error in one.error],
        "loss": one.loss,
    }


def _alignment_figures(pair: tuple[LowRankAlignment, ...]) -> dict[str, Any]:
    along, between = pair
    return {
        "residual_norm": along.residual_norm,
        "least_cosine_along_descent": np.nanmin(along.cosine),
        "least_cosine_between_solutions": np.nanmin(between.cosine),
        "certified_share_of_descent": along.certified_share,
        **{f"broken_{key}": _broken(pair, key) for key, _ in _CONDITIONS},
        "cosine": along.cosine,
        "cosine_between_solutions": between.cosine,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("gradient_pca", __doc__ or "")
    made.add_argument("--set", default="mnist", help="name of the data set")
    made.add_argument("--rows", type=int, default=1000, help="rows of it")
    options = parse(made, arguments)
    X, labels = load_rows(options.set, options.rows, columns=10_000)
    X = X / X.max()
    descents = {step: _descend(X, step, options.seed) for step in _STEPS}
    for descent in descents.values():
        print(descent.certificate)
    alignments = _align(X, descents["safe"], options.seed)
    for name, (along, _) in alignments.items():
        print(f"\n{name}\n{along}")
    figures = {
        "rows": len(X),
        "descents": {step: _figures(descent) for step, descent in descents.items()},
        "low_rank": {name: _alignment_figures(pair) for name, pair in alignments.items()},
    }
    write_json(options.out, "gradient_pca", figures)
    write_png(options.out, "gradient_pca", _picture(descents, labels))
    write_png(options.out, "gradient_pca_low_rank", _low_rank_picture(alignments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
