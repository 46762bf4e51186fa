"""Maps and tables against each other: how alike embeddings are, new rows, and what filling gaps is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.plot.curves import HistogramDisplay
from gnomon.plot.display import draws
from gnomon.plot.intervals import SIGMAS, IntervalsDisplay, Line, in_words

__all__ = ["plot_agreement", "plot_completion", "plot_drift"]


@draws("Agreement")
@entrance("plot_agreement")
def plot_agreement(agreement: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> IntervalsDisplay:
    """Draw how alike two embeddings are by several measures, beside what unrelated ones get.

    Parameters
    ----------
    agreement : gnomon.evaluation.Agreement
        Made by `gnomon.evaluation.compare_embeddings`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        Values with intervals of 95 %; a grey tick is the chance level.
    """
    lines = []
    for name, value in agreement.value.items():
        half, chance = SIGMAS * float(np.nan_to_num(agreement.standard_error[name])), agreement.chance[name]
        note = f"{value:.3f}  ({chance:.3f} by chance)"
        lines.append(Line(in_words(name), value, value - half, value + half, (chance, chance), note))
    label = "agreement, 1 for equal embeddings; grey: unrelated ones"
    return IntervalsDisplay(lines, label, title, limits=(0.0, 1.0)).plot(ax, **style)


@draws("Drift")
@entrance("plot_drift")
def plot_drift(drift: Any, *, ax: Any = None, **style: Any) -> HistogramDisplay:
    """Draw how far out new rows lie, by the share of the old rows that lie less far out.

    Parameters
    ----------
    drift : gnomon.extension.Drift
        Made by `gnomon.Map.extend`; of a time series rows are drawn that are hardly alike.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    HistogramDisplay
        Even where new rows are like the old ones.
    """
    few = drift.independent
    told, which = (drift, "new rows") if few is None else (few, "new rows that are hardly alike")
    title = f"{told.unusual:.0%} of {told.n_new:,} {which} are unusual (5% expected)"
    label = "novelty: share of the old rows that lie less far out"
    marks = {"unusual": 0.95}
    return HistogramDisplay({"new rows": told.novelty}, label, title=title, x_marks=marks).plot(ax, **style)


@draws("Completion")
@entrance("plot_completion")
def plot_completion(
    completion: Any, *, names: Any = None, n_top: int = 20, ax: Any = None, **style: Any
) -> IntervalsDisplay:
    """Draw where values were missing, and how well hidden ones were found again.

    Parameters
    ----------
    completion : gnomon.completion.Completion
        Made by `gnomon.complete_missing`.
    names : sequence of str or None, default=None
        Of the columns; None takes those of the table, or numbers if it had none.
    n_top : int >= 1, default=20
        Columns at most, those with most gaps first.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A bar for each column with a gap; the title says what became of known values that were hidden.

    Raises
    ------
    ValueError
        If nothing was missing, or there is not a name for each column.
    """
    n_top = check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"]
    shares = np.asarray(completion.missing_by_column)
    named = completion.feature_names if names is None else names
    told = [f"column {k}" for k in range(len(shares))] if named is None else [str(name) for name in named]
    if len(told) != len(shares):
        raise ValueError(message(f"{len(told)} names", f"{len(shares)}", fact="one for each column"))
    if not shares.any():
        raise ValueError(message("completion", "of a table with gaps", fact="nothing was missing"))
    order = [k for k in np.argsort(-shares, kind="stable")[:n_top] if shares[k] > 0.0]
    lines = [Line(told[k], shares[k], note=f"{shares[k]:.1%}") for k in order]
    held = completion.held_out
    title = (
        f"by {completion.how}; of {held.n_values:,} hidden values {1.0 - held.error:.0%} of the variance found again"
    )
    if not np.isfinite(held.error):
        title = f"by {completion.how}"
    return IntervalsDisplay(lines, "share of values that were missing", title, zero=True, bars=True).plot(ax, **style)
