"""Along a descent or a path of embeddings: losses, certificates, alignments, and other curves of theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.curves import Curve, CurvesDisplay
from gnomon.plot.display import GridDisplay, draws
from gnomon.plot.intervals import IntervalsDisplay, Line, in_words

__all__ = [
    "plot_alignment",
    "plot_certificate",
    "plot_effective_loss",
    "plot_loss",
    "plot_removal",
    "plot_separation",
]


@draws("Solution")
@entrance("plot_loss")
def plot_loss(solution: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> CurvesDisplay:
    """Draw the loss of a descent by its iterations.

    Parameters
    ----------
    solution : gnomon.optimizers.Solution
        Returned by an optimizer.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay

    Raises
    ------
    ValueError
        If the loss was not evaluated.
    """
    if not solution.loss:
        raise ValueError(message("solution", "with a loss", fact="none was evaluated"))
    iterations, losses = zip(*solution.loss, strict=True)
    return CurvesDisplay([Curve("", iterations, losses)], "iteration", "loss", title).plot(ax, **style)


@draws("PCACertificate")
@entrance("plot_certificate")
def plot_certificate(certificate: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> GridDisplay:
    """Draw how a gradient descent came to the principal components.

    Parameters
    ----------
    certificate : gnomon.theory.PCACertificate
        Made by `gnomon.theory.pca_certificate`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left the loss; right the norm of the gradient and the distance from direct PCA, on a logarithmic scale.
    """
    at = certificate.iterations
    loss = CurvesDisplay([Curve("", at, certificate.loss)], "iteration", "loss")
    curves = [
        Curve("norm of the gradient", at, certificate.gradient_norm),
        Curve("distance from direct PCA", at, certificate.error),
    ]
    distances = CurvesDisplay(curves, "iteration", y_log=True)
    return GridDisplay([loss, distances], [[0, 1]], (10.0, 4.2), title).plot(ax, **style)


@draws("LowRankAlignment")
@entrance("plot_alignment")
def plot_alignment(alignment: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> CurvesDisplay:
    """Draw how well the gradient of a low-rank approximation is aligned with the full one.

    Parameters
    ----------
    alignment : gnomon.theory.LowRankAlignment
        Made by `gnomon.theory.lowrank_alignment`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay
        The cosine of both gradients by iterations; marks are full where the condition that implies a positive one
        holds.
    """
    curve = Curve(
        "cosine, full where the condition holds", alignment.iterations, alignment.cosine, marked=alignment.condition
    )
    limits = (min(0.0, float(np.nanmin(alignment.cosine, initial=0.0))) - 0.02, 1.02)
    return CurvesDisplay([curve], "iteration", "cosine of the gradients", title, levels=(0.0,), y_limits=limits).plot(
        ax, **style
    )


@draws("EffectiveLoss")
@entrance("plot_effective_loss")
def plot_effective_loss(losses: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> CurvesDisplay:
    """Draw the loss that UMAP states beside those that its sampling descends.

    Parameters
    ----------
    losses : gnomon.theory.EffectiveLoss
        Made by `gnomon.theory.effective_loss`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay
        Each over its first value.
    """
    curves = [
        Curve(name, np.arange(len(values)), np.asarray(values) / values[0])
        for name, values in (("stated", losses.stated), ("sampled", losses.sampled), ("effective", losses.effective))
    ]
    return CurvesDisplay(curves, "state of the run", "loss over its first value", title).plot(ax, **style)


@draws("FeatureRemoval")
@entrance("plot_removal")
def plot_removal(removal: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> CurvesDisplay:
    """Draw how far rows move when features are set to a reference, the important ones first and last.

    Parameters
    ----------
    removal : gnomon.evaluation.FeatureRemoval
        Made by `gnomon.evaluation.remove_features`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay
        The farther the first curve is above the last, the better the explanation.
    """
    curves = [
        Curve("most important first", removal.shares, removal.deletion),
        Curve("random order", removal.shares, removal.random, plain=True, dashed=True),
        Curve("least important first", removal.shares, removal.insertion),
    ]
    return CurvesDisplay(curves, "share of the features set", "distance moved, share", title).plot(ax, **style)


@draws("MetricSeparation")
@entrance("plot_separation")
def plot_separation(separation: Any, *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw how well measures of similarity tell two classes of methods apart.

    Parameters
    ----------
    separation : gnomon.theory.MetricSeparation
        Made by `gnomon.theory.metric_separation`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        Phi of each measure with its interval, and how often it has the largest one.
    """
    rows = zip(separation.metrics, separation.phi, separation.low, separation.high, strict=True)
    lines = [
        Line(in_words(name), phi, low, high, note=f"{phi:.2f}  largest in {separation.best_share.get(name, 0.0):.0%}")
        for name, phi, low, high in rows
    ]
    label = f"Phi, intervals of {separation.confidence:.0%}"
    return IntervalsDisplay(lines, label, zero=True).plot(ax, **style)
