"""The report as a part of a page of the documentation: tables in Markdown, pictures in files beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.report.pictures import lines, scatter
from benchmarks.report.subjects import Subject
from benchmarks.report.tables import BASE, LOSSES, MODES, Results, grown, left_out, ratios, scores, tools_of, trade
from benchmarks.summary import table_of

__all__ = ["PAGE", "write_site"]

PAGE = "benchmarks.md"
"""Name of the page; what is written stands between its lines ``begin: report`` and ``end: report``."""

_PART = re.compile(r"(^[^\n]*begin: report[^\n]*\n).*?(^[^\n]*end: report)", re.MULTILINE | re.DOTALL)
_TITLES = {"umap": "UMAP", "tsne": "t-SNE"}


def write_site(results: Mapping[str, Results], command: str, docs: Path) -> Path:
    """Write tables and pictures into the page of a folder of documentation and return the page.

    Parameters
    ----------
    results : mapping of str to mapping of Subject to dict
        By method and table.
    command : str
        What made them, for the reader who wants to repeat it.
    docs : Path
        Holds `PAGE`; pictures go to ``images/benchmarks`` in it.
    """
    page, pictures = docs / PAGE, docs / "images" / "benchmarks"
    pictures.mkdir(parents=True, exist_ok=True)
    first = next(result for own in results.values() for result in own.values())["machine"]
    system = f"{first['cpu']}, {first['cores']} cores, {first['system']}, Python {first['python']}"
    parts = [f"Measured on {system}, by\n\n```\n{command}\n```"]
    for method, own in results.items():
        parts += _of_method(method, own, pictures)
    written = "\n" + "\n\n".join(parts) + "\n\n"
    text, found = _PART.subn(lambda match: match[1] + written + match[2], page.read_text(encoding="utf-8"))
    if found != 1:
        raise LookupError(f"{page} must have one pair of lines 'begin: report' and 'end: report', found {found}")
    page.write_text(text, encoding="utf-8")
    return page


def _of_method(method: str, results: Results, pictures: Path) -> list[str]:
    names, title = tools_of(results, method), _TITLES.get(method, method)
    versions = {tool: v for result in results.values() for tool, v in result["methods"][method]["versions"].items()}
    parts = [f"### {title}", ", ".join(f"{tool} {version}" for tool, version in versions.items()) + "."]
    for mode, words in MODES.items():
        header, rows = ratios(results, method, mode, names)
        if rows:
            parts += [
                f"{BASE}'s seconds, and how many times these each of the others takes, {words}:",
                table_of(["table", *header[1:]], rows),
            ]
        for what, unit in (("wall", "seconds"), ("peak", "MiB")):
            series = {} if (mode, what) == ("warm", "peak") else grown(results, method, mode, what)
            if series:
                drawn = lines(series, names, "rows", f"{unit}, {words}")
                parts.append(
                    _picture(pictures, f"{method}-{what}-{mode}", drawn, f"{title}: {unit} over rows, {words}")
                )
    missing = left_out(results, method)
    if missing:
        parts.append("Left out: " + "; ".join(f"{tool}, {why}" for tool, why in missing.items()) + ".")
    judged = [subject for subject, result in results.items() if result["methods"][method]["quality"]]
    if judged:

        def wealth(subject: Subject) -> tuple[int, int]:
            """Count the tools that were judged, and the rows."""
            return len(results[subject]["methods"][method]["quality"]), results[subject]["data"]["rows"]

        shown = max(judged, key=wealth)
        parts += _quality(method, shown, results[shown], names, pictures)
    return parts


def _quality(method: str, subject: Subject, result: Mapping[str, Any], names: list[str], pictures: Path) -> list[str]:
    """Return scores, pictures of quality over seconds, and the maps, of one table."""
    part, title = result["methods"][method], _TITLES.get(method, method)
    size = f"{result['data']['rows']:,} x {result['data']['columns']:,}"
    parts = [f"Quality of the maps of {subject.name}, {size}:", table_of(*scores(part["quality"]))]
    mode = next((mode for mode in reversed(MODES) if mode in part["costs"]), None)
    for measure in ("trustworthiness", LOSSES.get(method, "preservation")):
        points = {} if mode is None else trade(part, mode, measure)
        if points and mode is not None:
            words = measure.replace("_", " ")
            drawn = scatter(points, names, f"seconds, {MODES[mode]}", words)
            parts.append(_picture(pictures, f"{method}-{measure}", drawn, f"{title}: {words} over seconds"))
    maps = []
    for tool, picture in result["maps"].items():
        name = f"{method}-map-{tool}.png"
        (pictures / name).write_bytes(base64.b64decode(picture))
        maps.append((tool, f"![{title} by {tool}](images/benchmarks/{name})"))
    if maps:
        parts.append(table_of([tool for tool, _ in maps], [[image for _, image in maps]]))
    return parts


def _picture(folder: Path, name: str, drawn: str, alt: str) -> str:
    (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
    return f"![{alt}](images/benchmarks/{name}.svg)"
