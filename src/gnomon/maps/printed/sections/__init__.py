"""The parts of a report, in order: each a function of the subject that returns a section, or None if it has nothing."""

from __future__ import annotations

from collections.abc import Callable

from gnomon.maps.printed.sections.about import data, method, overview
from gnomon.maps.printed.sections.answers import found_stability, found_verdicts, shown
from gnomon.maps.printed.sections.diagnostics import points
from gnomon.maps.printed.sections.groups import classes, doubts, found_clusters
from gnomon.maps.printed.sections.meaning import axes, dimension, features
from gnomon.maps.printed.sections.measures import curves, scores
from gnomon.maps.printed.sections.reading import cautions
from gnomon.maps.printed.sections.sources import paragraph, references, reproduce
from gnomon.maps.printed.subject import Section, Subject

__all__ = ["SECTIONS"]

SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    overview,
    cautions,
    data,
    method,
    scores,
    curves,
    points,
    shown,
    classes,
    found_clusters,
    features,
    axes,
    dimension,
    doubts,
    found_stability,
    found_verdicts,
    paragraph,
    reproduce,
    references,
)
"""What a report says, in order; a part that is added here is in every report."""
