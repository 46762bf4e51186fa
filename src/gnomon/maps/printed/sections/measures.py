"""How far to believe the map as a whole: each measure with its interval and chance level, and the curves."""

from __future__ import annotations

from typing import Any

from gnomon.evaluation import QUALITIES
from gnomon.evaluation.words import grade, in_words
from gnomon.maps.printed.markup import drawing, join, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.plot import plot_curves, plot_shepard

__all__ = ["curves", "scores"]

_HEADER = ["measure", "value", "interval", "chance", "best", "word", "in words"]


def scores(subject: Subject) -> Section:
    """Return every measure with its interval, what a random map gets, its word and a sentence."""
    card = subject.scorecard
    if card is None:
        return _of_evaluation(subject)
    rows: list[list[Any]] = []
    for quality, found in card.by_quality().items():
        rows.append([QUALITIES[quality].capitalize()])
        rows += [_row(one, card.n_neighbors, subject) for one in found.values()]
    anchors = "all rows" if card.n_anchors == card.n_samples else f"{card.n_anchors:,} random rows"
    caption = (
        f"{card.n_neighbors} neighbours; ranks of {anchors}; intervals hold the value of all rows at "
        f"{card.confidence:.0%}; chance is what a map that knows nothing of the data gets; seed {card.random_state}."
    )
    skipped = [f"{name.replace('_', ' ')} ({why})" for name, why in card.skipped.items()]
    left = tag("p", f"Left out: {'; '.join(skipped)}.", class_="small") if skipped else None
    return Section(
        "How far to believe it", join([table(_HEADER, rows, caption, texts=(0, 5, 6)), left, _nulls(subject)])
    )


def _row(one: Any, k: int, subject: Subject) -> list[str]:
    interval = "exact" if one.exact else "-" if one.interval is None else "{:.3f} to {:.3f}".format(*one.interval)
    return [
        one.name.replace("_", " "),
        f"{one.value:.3f}",
        interval,
        "-" if one.chance is None else f"{one.chance:.3f}",
        "-" if one.measure.best is None else f"{one.measure.best:g}",
        _word(subject, one.name, one.value, one.chance),
        in_words(one.name, one.value, k),
    ]


def _word(subject: Subject, name: str, value: float, chance: float | None) -> str:
    if subject.map.caution and name.startswith("knn"):
        return "steered"
    return grade(name, value, chance) or ""


def _of_evaluation(subject: Subject) -> Section:
    found = subject.map.evaluate()
    rows = [
        [
            name.replace("_", " "),
            f"{value:.3f}",
            f"{found.random_map[name]:.3f}",
            _word(subject, name, value, found.random_map[name]),
            in_words(name, value, found.n_neighbors),
        ]
        for name, value in found.scores().items()
    ]
    caption = f"Distances on the map are those along its surface; {found.n_neighbors} neighbours."
    errors = found.errors()
    if errors:
        caption += (
            f" Ranks of {found.n_anchors:,} rows; standard errors of their means at most {max(errors.values()):.4f}."
        )
    header = ["measure", "value", "chance", "word", "in words"]
    return Section("How far to believe it", join([table(header, rows, caption, texts=(0, 3, 4)), _nulls(subject)]))


def _nulls(subject: Subject) -> Any:
    """Return the scores beside those of maps of structureless tables, if they were made."""
    nulls = subject.nulls
    if nulls is None:
        return None
    rows = [
        [
            name.replace("_", " "),
            f"{value:.3f}",
            f"{nulls.nulls[name].min():.3f} to {nulls.nulls[name].max():.3f}",
            f"{nulls.p_values[name]:.3g}",
        ]
        for name, value in nulls.scores.items()
    ]
    count = len(next(iter(nulls.nulls.values())))
    caption = f"The same method on {count} tables without structure ({nulls.kind})."
    return table(["measure", "map", "structureless", "p"], rows, caption)


def curves(subject: Subject) -> Section | None:
    """Draw the measures over neighbourhoods of every size, and distances against distances."""
    card = subject.scorecard
    if card is None or card.curves is None:
        return None
    sizes = (
        "Measures over the size of neighbourhoods. R_NX is the share of common neighbours beyond chance: 1 at best, 0 "
        "for a map that knows nothing."
    )
    pairs = (
        "Distances of pairs of rows on the map against those in the data (Shepard diagram). On a map that keeps "
        "distances the points lie on the dashed line."
    )
    return Section(
        "Neighbourhoods of every size, and distances",
        join(
            [
                drawing(plot_curves(card), sizes, key="curves"),
                drawing(plot_shepard(card), pairs, key="shepard"),
            ]
        ),
    )
