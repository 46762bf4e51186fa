"""The classes of a map, each with its size, its diagnostics and what sets it apart; and rows to look at again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import sort_into_classes
from gnomon.explanations.answer import format_number
from gnomon.explanations.contrast.without_spread import WITHOUT_EXCEPTION
from gnomon.maps.cautions import without_cautions
from gnomon.maps.confounded import told_of_confounded_labels
from gnomon.maps.found import told_of_labels
from gnomon.maps.printed.markup import drawing, join, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.maps.verdicts import islands_beside
from gnomon.plot import plot_clusters

__all__ = ["classes", "doubts", "found_clusters"]

_MOST_CLASSES = 60
_LISTED = 10  # rows
_NUMBERS, _TEXTS = ("off", "within", "chance"), ("by", "most in")  # told of rows off common directions


def classes(subject: Subject) -> Section | None:
    """Return a line for each class: how many, how well mapped, how dense, how steady, and its caption with effects."""
    result = subject.map
    if len(result._classes()) < 2:
        return None
    sorted_classes, scores = sort_into_classes(result.labels), result.point_scores()
    captions = {str(label): one for label, one in result.captions(groups=subject.groups).items()}
    rows = []
    counts = np.bincount(sorted_classes.codes[sorted_classes.codes >= 0], minlength=len(sorted_classes.names))
    order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES] if len(counts) > _MOST_CLASSES else range(len(counts))
    for k in order:
        name, members = sorted_classes.names[k], sorted_classes.codes == k
        rows.append(
            [
                name,
                f"{counts[k]:,}",
                _mean(scores, "trustworthiness", members),
                _mean(scores, "continuity", members),
                _mean(scores, "torn", members, percent=True),
                _density(scores, members),
                _mean(scores, "label_doubt", members),
                *_steadiness(subject, name),
                _caption(captions.get(str(sorted_classes.values[k]))),
            ]
        )
    steady = ["movement"] if _clusters(subject) is not None else []
    header = [
        "class",
        "rows",
        "trust",
        "continuity",
        "torn",
        "density",
        "doubt",
        *steady,
        "what tells it from the others",
    ]
    caption = (
        "Means over the rows of each class. Density: how dense it is on the map, over how dense it is in the data, as "
        "a multiple of the typical row's (by radii of neighbourhoods). Effects in standard deviations, with errors."
    )
    if steady:
        caption += " Movement: standard deviation of its centre over runs, in sizes of the map."
    more = f"The {_MOST_CLASSES} largest of {len(counts):,} classes." if len(counts) > _MOST_CLASSES else None
    told = table(header, rows, caption, texts=(0, len(header) - 1))
    found = [
        told_of_labels(result),
        told_of_confounded_labels(result),
        result._told_beside_labels(),
        result._told_of_units_of_labels(result._classes()),
    ]
    cautions = [tag("p", one, class_="caution") for one in found if one]
    body = join([*cautions, told, None if more is None else tag("p", more)])
    return Section(f"The classes ({result.label_name})", body)


def found_clusters(subject: Subject) -> Section | None:
    """Return the clusters of the data, where there are no labels: how many rows, how sure, and what names them."""
    found = subject.map._clusters_shown()
    if found is None:
        return None
    found = without_cautions(subject.map, found)
    told = [tag("p", found.summary().splitlines()[0])]
    if found.caution:
        told.append(tag("p", found.caution, class_="caution"))
    if found.told:
        told.append(tag("p", found.told))
    if found.levels:
        level = found.level()
        rows = [
            [
                one.name,
                f"{one.size:,}",
                f"{one.share:.0%}",
                f"{one.p_value:.2g}",
                found.within(one) or "-",
                _caption(one.caption),
            ]
            for one in level.clusters[:_MOST_CLASSES]
        ]
        header = ["cluster", "rows", "density between", "p", "within", "what tells it from those beside it"]
        caption = (
            "Density between: of held-out rows between the cluster and the nearest, over that of the sparser of both. "
            "Effects in standard deviations, with errors."
        )
        told.append(table(header, rows, caption, texts=(0, 4, 5)))
        told += [tag("p", one) for one in (found.continuum, islands_beside(subject.map, found)) if one]
        told.append(drawing(plot_clusters(subject.map._plotted(), found), "Clusters by level.", key="clusters"))
    return Section("Clusters of the data", join(told))


def _mean(scores: Any, name: str, members: npt.NDArray[np.bool_], *, percent: bool = False) -> str:
    values = scores[name][members] if name in scores else np.array([])
    known = values[np.isfinite(values)]
    if not len(known):
        return "-"
    return f"{known.mean():.0%}" if percent else f"{known.mean():.3f}"


def _density(scores: Any, members: npt.NDArray[np.bool_]) -> str:
    """Return by how much denser the class is on the map than in the data, in two dimensions' worth of area."""
    values = scores["radius_ratio"][members] if "radius_ratio" in scores else np.array([])
    known = values[np.isfinite(values)]
    return f"{2.0 ** -float(np.median(known)):.2f}" if len(known) else "-"


def _clusters(subject: Subject) -> Any:
    return None if subject.stability is None else subject.stability.clusters


def _steadiness(subject: Subject, name: str) -> list[str]:
    found = _clusters(subject)
    if found is None:
        return []
    return [f"{found.movement[found.names.index(name)]:.3f}" if name in found.names else "-"]


def _caption(caption: Any) -> str:
    """Return the words of a caption, with the effect of each of its features."""
    if caption is None:
        return "-"
    if not len(caption):
        return str(caption.text)
    effects = ", ".join(
        f"{effect:+.1f} ± {error:.1f}" if np.isfinite(effect) else WITHOUT_EXCEPTION
        for effect, error in zip(caption.effect, caption.error, strict=True)
    )
    whom = ", ".join(map(str, caption.unseparated))
    unlike = f"; hardly apart from {whom}" if whom and any(caption.against) else ""
    return f"{caption.text} ({effects}){unlike}"


def doubts(subject: Subject) -> Section:
    """Return rows whose neighbours have another label, and rows far from all others."""
    result, parts = subject.map, []
    found = result._doubts(_LISTED)
    if found is not None:
        rows = [
            [_name(found, i), label, vote, f"{share:.0%}"]
            for i, (label, vote, share) in enumerate(zip(found.labels, found.votes, found.share, strict=True))
        ]
        weakness = f" {found.weakness}" if found.weakness else ""
        told = f"{found.told}.{weakness} The most doubtful:"
        parts += [tag("h3", "Doubtful labels"), tag("p", told)]
        parts += [table(["row", "label", "neighbours say", "their share"], rows, texts=(0, 1, 2))] if rows else []
    far = result.outliers(_LISTED)
    rows = [[_name(far, i), f"{score:.2f}"] for i, score in enumerate(far.score)]
    parts += [tag("h3", "Outliers in the data"), tag("p", f"By the {far.headline()}.")]
    parts += [table(["row", "score"], rows)]
    off = far.off_directions
    if off is not None:
        told = off.headline()
        parts += [tag("h3", "Rows off what columns have in common"), tag("p", f"{told[0].upper()}{told[1:]}.")]
        columns = off.columns()
        numbers = [[format_number(value) for value in columns[name]] for name in _NUMBERS]
        cells = [*numbers, *(columns[name] for name in _TEXTS)]
        rows = [[_name(off, i), *(column[i] for column in cells)] for i in range(min(len(off), _LISTED))]
        parts += [table(["row", *_NUMBERS, *_TEXTS], rows, texts=(0, 4, 5))] if rows else []
    return Section("Rows to look at again", join(parts))


def _name(found: Any, i: int) -> str:
    row = f"row {int(found.rows[i])}"
    return row if found.names is None else f"{found.names[i]} ({row})"
