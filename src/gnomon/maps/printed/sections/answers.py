"""Verdicts on what the map shows, and answers that were asked for before: stability over runs, verdicts on groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.evaluation import MapVerdicts, Verdict
from gnomon.maps.printed.markup import Markup, drawing, join, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.maps.verdicts import shown_verdicts
from gnomon.plot import plot_stability, plot_verdicts

__all__ = ["found_stability", "found_verdicts", "shown"]

_MOST_TOLD = 10  # illusions


def found_stability(subject: Subject) -> Section | None:
    """Return how far points and classes move when the map is made again, if it was."""
    found = subject.stability
    if found is None:
        return None
    told = (
        f"The map was made {found.n_runs} times more, varying {found.vary}. A point moves by "
        f"{np.nanmedian(found.spread):.3f} of the size of the map (median standard deviation over runs) and keeps "
        f"{np.nanmean(found.neighbors_kept):.0%} of its {found.n_neighbors} nearest points "
        f"({found.chance:.1%} by chance)."
    )
    words = "How far points move from run to run, and the share of the runs in which two classes touch."
    picture = drawing(plot_stability(found), words, key="stability") if found.mean.shape[1] in (2, 3) else None
    return Section("What stays when the map is made again", join([tag("p", told), picture]))


def shown(subject: Subject) -> Section | None:
    """Return what the data say of the gaps, sizes and distances that the map shows."""
    found = shown_verdicts(subject.map)
    if found is None:
        return None
    gaps, drawn = found
    parts: list[Markup | None] = [
        _judged(gaps, f"False alarms: {_rate(gaps)}, {gaps.together}. Judged on {gaps[0].rests_on}.")
        if len(gaps)
        else tag("p", gaps.told_of_clumps or "The map shows no gap.")
    ]
    if len(gaps) and gaps.told_of_clumps:
        parts.append(tag("p", gaps.told_of_clumps))
    if drawn is not None and len(drawn):
        told = drawn.worst
        parts.append(tag("h3", "Sizes and distances that are not as they look"))
        are = "is" if len(told) == 1 else "are"
        words = f"{len(told)} of {len(drawn)} sizes, densities and distances of classes {are} surely other in the data"
        parts.append(tag("p", f"{words}{'; the worst:' if told else '.'}"))
        if told:
            parts.append(_judged(told[:_MOST_TOLD], f"False alarms: {_rate(drawn)}, {drawn.together}."))
    return Section("What the map shows, judged in the data", join(parts))


def found_verdicts(subject: Subject) -> Section | None:
    """Return the verdicts that were given, with statistic, interval and false-positive rate."""
    if not subject.verdicts:
        return None
    rates = ", ".join(sorted({f"{one.false_positive_rate:g}" for one in subject.verdicts}))
    caption = (
        f"Each judged in the data, not on the map; false-positive rate {rates} each, not corrected for their number."
    )
    words = "The statistic of each verdict with its interval, over the half-width of the interval from 0."
    picture = drawing(plot_verdicts(subject.verdicts), words, key="verdicts")
    return Section("Questions about groups", join([_judged(subject.verdicts, caption), picture]))


def _judged(verdicts: Sequence[Verdict], caption: str) -> Markup:
    rows = [
        [
            one.question,
            f"{one.answer}{' (the map misleads)' if one.is_illusion else ''}",
            one.figures,
            f"{one.p_value:.3g}" if one.is_computed else "",
            one.sentence,
        ]
        for one in verdicts
    ]
    return table(["question", "answer", "statistic", "p", "finding"], rows, caption, texts=(0, 1, 4))


def _rate(found: MapVerdicts) -> str:
    return f"at most {100 * found[0].false_positive_rate:g} %"
