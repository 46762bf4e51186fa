"""Where to believe the map: the diagnostics of its points."""

from __future__ import annotations

from gnomon.evaluation import POINT_SCORES
from gnomon.maps.points import told_quantile
from gnomon.maps.printed.markup import drawing, join, table
from gnomon.maps.printed.subject import Section, Subject
from gnomon.plot import plot_point_scores

__all__ = ["points"]

_ON_A_PAGE = 20  # maps


def points(subject: Subject) -> Section:
    """Return the distribution of each diagnostic over the points, and the map coloured by each."""
    result = subject.map
    found = result.point_scores()
    rows = [
        [
            POINT_SCORES[name].title,
            *(told_quantile(one[q]) for q in ("low", "median", "high")),
            f"{one['n']:,}",
            one["stands_out"],
            one["says"],
        ]
        for name, one in found.to_dict()["columns"].items()
    ]
    caption = f"Quantiles over the points; {found.n_neighbors} neighbours on either side."
    if found.n_references < result.n_samples:
        caption += f" Ranks are exact from {found.n_references:,} rows and estimated for the others."
    header = ["of each point", "5 %", "median", "95 %", "rows", "look at", "it says"]
    told = table(header, rows, caption, texts=(0, 5, 6))
    if result.embedding.shape[1] not in (2, 3):
        return Section("Where to believe it", told)
    words = (
        "The map coloured by each diagnostic. Dark is what to look at; where both ends stand out, purple is below and "
        "orange above an ordinary point, which is grey."
    )
    names = list(found)
    pictures = []
    for start in range(0, len(names), _ON_A_PAGE):
        shown = names[start : start + _ON_A_PAGE]
        drawn = plot_point_scores(result._plotted(), found, names=shown, n_columns=4, surface=result.surface)
        pictures.append(drawing(drawn, words, key=f"points{start}"))
    return Section("Where to believe it", join([told, *pictures]))
