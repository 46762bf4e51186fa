"""Answers that were asked for before the report: what stays from run to run, and verdicts on groups."""

from __future__ import annotations

import numpy as np

from gnomon.maps.printed.markup import drawing, join, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.plot import plot_stability, plot_verdicts

__all__ = ["found_stability", "found_verdicts"]


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


def found_verdicts(subject: Subject) -> Section | None:
    """Return the verdicts that were given, with statistic, interval and false-positive rate."""
    if not subject.verdicts:
        return None
    rows = [
        [
            one.question,
            f"{one.answer}{' (the map misleads)' if one.is_illusion else ''}",
            f"{one.statistic:.3g} [{one.interval[0]:.3g}, {one.interval[1]:.3g}]",
            f"{one.p_value:.3g}",
            one.sentence,
        ]
        for one in subject.verdicts
    ]
    rates = ", ".join(sorted({f"{one.false_positive_rate:g}" for one in subject.verdicts}))
    caption = (
        f"Each judged in the data, not on the map; false-positive rate {rates} each, not corrected for their number."
    )
    told = table(["question", "answer", "statistic", "p", "finding"], rows, caption, texts=(0, 1, 4))
    words = (
        "Each statistic with its interval, in half-widths of the interval: a line that reaches 0 cannot be told from "
        "the null."
    )
    return Section(
        "Questions about groups", join([told, drawing(plot_verdicts(subject.verdicts), words, key="verdicts")])
    )
