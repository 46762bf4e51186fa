"""write_report: one HTML file that prints as it is seen."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.resources import files as resources
from typing import Any

from gnomon import __version__
from gnomon._entrance import entrance
from gnomon._files import atomic_write, check_writable
from gnomon._optional import import_optional
from gnomon.maps.printed.markup import Markup, join, tag
from gnomon.maps.printed.sections import SECTIONS
from gnomon.maps.printed.subject import Section, Subject

__all__ = ["write_report"]


@entrance("write_report")
def write_report(
    path: str | os.PathLike[str],
    map: Any,
    *,
    title: str | None = None,
    scorecard: Any = None,
    stability: Any = None,
    verdicts: Sequence[Any] = (),
    nulls: Any = None,
    files: Sequence[str | os.PathLike[str]] = (),
    command: str = "",
) -> None:
    """Write all that is known of a map as one HTML file to read, to print and to hand to a reviewer.

    What was mapped and how, the map with its legend, every measure with its interval and chance level, what can be read
    in the map and what not, diagnostics of its points, classes, the features behind it, its dimension, doubtful rows, a
    paragraph for a methods section with sources, and how to make it again. The file asks nothing of the network and has
    no script; figures are vector graphics; the same map gives the same bytes.

    Parameters
    ----------
    path : str or path-like
        Written atomically: a reader sees the old file or the whole new one.
    map : gnomon.Map
        Explained and evaluated first, unless it is already.
    title : str, default=None
        Heading; None takes the name of the map, or "A map of 150 rows" of one without.
    scorecard : gnomon.evaluation.Scorecard, default=None
        One that was taken before; None takes all measures, or on a surface those of `evaluate`.
    stability : gnomon.evaluation.MapStability, default=None
        What `Map.stability` returned, to be told too.
    verdicts : sequence of gnomon.evaluation.Verdict, default=()
        Answers such as those of `Map.are_apart`, to be told too.
    nulls : gnomon.evaluation.NullScores, default=None
        What `gnomon.evaluation.null_scores` returned, to stand beside the scores.
    files : sequence of str or path-like, default=()
        Files that the data or the map came from, named with their SHA-256.
    command : str, default=""
        The command that made the map.

    Raises
    ------
    TypeError
        If `map` is no map.
    MissingDependencyError
        If matplotlib cannot be imported.
    OSError
        If a file cannot be read or written.
    """
    import_optional("matplotlib", package="matplotlib", extra="plot")
    check_writable(path)
    subject = Subject(map, scorecard, stability, verdicts, nulls, files, command)
    sections = [section for make in SECTIONS if (section := make(subject)) is not None]
    heading = map.heading if title is None else title
    text = _page(heading, _subtitle(map), sections)
    with atomic_write(path, "w") as file:
        file.write(text)


def _subtitle(map: Any) -> str:
    return f"A map of {map.n_samples:,} rows with {map.n_features:,} features, by {map.method}; gnomon {__version__}"


def _page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Put the sections, numbered, and a table of contents into the template."""
    contents = tag(
        "ol", *(tag("li", tag("a", one.title, href=f"#section-{k}")) for k, one in enumerate(sections, start=1))
    )
    body = join(
        tag("section", tag("h2", f"{k}. {one.title}"), Markup(one.body), id=f"section-{k}")
        for k, one in enumerate(sections, start=1)
    )
    values = {
        "title": join([title]),
        "subtitle": join([subtitle]),
        "style": _asset("report.css"),
        "contents": contents,
        "body": body,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _asset("report.html"))


def _asset(name: str) -> str:
    return (resources("gnomon.maps.printed") / name).read_text(encoding="utf-8")
