"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

import html
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.report.growth import growth
from benchmarks.report.limits import Limits, least_seconds
from benchmarks.report.pictures import lines, scatter, stacks
from benchmarks.report.tables import BASE, LOSSES, MIB, MODES, Results, grown, ratios, scores, tools_of, trade

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
tr.own td { font-weight: 600; }
.row { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; font-size: 12px; text-align: center; }
p.small { font-size: 13px; color: #555; }
svg { max-width: 100%; height: auto; }
"""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], own: str = BASE) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr{' class=own' if row[0] == own else ''}>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _costs(part: Mapping[str, Any]) -> str:
    """Seconds by the clock and of all cores, ratios and memory of all tools, in the modes that were measured."""
    modes = [mode for mode in MODES if mode in part["costs"]]
    header = ["tool"]
    for mode in modes:
        header += [f"{MODES[mode]}: s (min-max)", "CPU s", f"/ {BASE}"]
    rows = []
    for tool in part["versions"]:
        cells = [tool]
        for mode in modes:
            cost = part["costs"][mode][tool]
            cells += [f"{cost['wall']:.2f} ({cost['wall_min']:.2f}-{cost['wall_max']:.2f})", f"{cost['cpu']:.2f}"]
            cells.append(f"{cost['wall_ratio']:.1f}" if "wall_ratio" in cost else "")
        rows.append([*cells, f"{part['costs'][modes[0]][tool]['peak'] / MIB:.0f}"])
    left_out = "; ".join(f"{tool}: {why}" for tool, why in part["left_out"].items())
    note = f"<p class=small>Left out: {html.escape(left_out)}.</p>" if left_out else ""
    return _table([*header, "peak MiB"], rows) + note


def _scores(quality: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    header, rows = scores(quality)
    return _table(header, rows) if rows else ""


def _glance(results: Results, method: str, names: Sequence[str]) -> str:
    """How many times our seconds each peer takes: a table by mode."""
    tables = (ratios(results, method, mode, names) for mode in MODES)
    return "".join(_table(header, rows) for header, rows in tables if rows)


def _trade(part: Mapping[str, Any], names: Sequence[str], method: str) -> str:
    """Quality over seconds, of the tools that ran."""
    mode = next((mode for mode in reversed(MODES) if mode in part["costs"]), None)
    if mode is None:
        return ""
    pictures = []
    for measure in ("trustworthiness", LOSSES.get(method, "preservation")):
        points = trade(part, mode, measure)
        if points:
            pictures.append(scatter(points, names, f"seconds, {MODES[mode]}", measure.replace("_", " ")))
    return "".join(f"<figure>{picture}</figure>" for picture in pictures)


def _gallery(maps: Mapping[str, str]) -> str:
    figures = [
        f'<figure><img alt="map by {html.escape(tool)}" src="data:image/png;base64,{picture}">'
        f"<figcaption>{html.escape(tool)}</figcaption></figure>"
        for tool, picture in maps.items()
    ]
    return f"<div class=row>{''.join(figures)}</div>"


def _grown(results: Results, method: str, names: Sequence[str]) -> str:
    """Seconds and memory over the rows of one kind of table, and the powers they grow with."""
    parts = []
    for mode, words in MODES.items():
        for what, unit in (("wall", "seconds"), ("peak", "MiB")):
            series = {} if (mode, what) == ("warm", "peak") else grown(results, method, mode, what)
            if not series:
                continue
            parts.append(f"<figure>{lines(series, names, 'rows', f'{unit}, {words}')}</figure>")
            if what == "wall" and mode == "warm":
                parts.append(_exponents(series))
    return f"<div class=row>{''.join(parts)}</div>"


def _exponents(series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    rows = []
    for tool, points in series.items():
        found = growth(*zip(*points, strict=True)) if len(points) > 1 else None
        if found is not None:
            rows.append([tool, f"{found.exponent:.2f} ± {found.standard_error:.2f}", str(len(points))])
    return _table(["tool", "seconds ~ rows to the power of (± standard error)", "sizes"], rows) if rows else ""


def _stages(results: Results, method: str, limits: Limits) -> str:
    """Where the time of our own fits goes, and how near the limit of the machine it comes."""
    seconds: dict[str, dict[str, float]] = {}
    rows = []
    for subject, result in results.items():
        part = result["methods"][method]
        runs = part["runs"].get("warm", part["runs"].get("process", {})).get(BASE, [])
        if not runs or not runs[0]["stages"]:
            continue
        stages = {stage: statistics.median(run["stages"][stage] for run in runs) for stage in runs[0]["stages"]}
        seconds[subject.name] = stages
        shape = result["data"]["rows"], result["data"]["columns"]
        for stage, taken in stages.items():
            least = least_seconds(method, stage, shape, runs[0]["work"], limits)
            share = "" if least is None else f"{100 * least / taken:.0f} %"
            rows.append([subject.name, stage, f"{taken:.3f}", "" if least is None else f"{least:.3f}", share])
    if not seconds:
        return ""
    table = _table(["table", "stage", "seconds", "at the machine's limit", "share"], rows)
    return f"<figure>{stacks(seconds, f'share of the seconds of a {BASE} fit')}</figure>{table}"


def page(results: Mapping[str, Results], command: str) -> str:
    """Lay out the results of all methods, by method and table.

    Parameters
    ----------
    results : mapping of str to mapping of Subject to dict
    command : str
        What made them, for the reader who wants to repeat it.

    Returns
    -------
    str
        HTML without references to other files.
    """
    first = next(result for own in results.values() for result in own.values())
    machine = first["machine"]
    measured = [result["limits"] for own in results.values() for result in own.values()]  # the best of a noisy machine
    limits = Limits(*(max(one[name] for one in measured) for name in ("operations", "bytes_read")))
    body = [
        "<h1>gnomon beside its peers: time, memory, quality</h1>",
        f"<p>{html.escape(machine['cpu'])}, {machine['cores']} cores, {html.escape(machine['system'])}, "
        f"Python {machine['python']}. {limits.operations / 1e9:.0f} billion multiplications and additions a second in "
        f"a product of matrices, {limits.bytes_read / 1e9:.0f} GB a second read. "
        f"Made by <code>{html.escape(command)}</code>.</p><p class=small>"
        "All tools have the same float32 table and run turn and turn about. <em>Whole process</em>: "
        "start, import, read, fit, save. <em>Warm</em>: a fit after another in the same process. Seconds are medians "
        f"with smallest and largest; <em>/ {BASE}</em> is the ratio to ours, above 1 if ours is quicker. Quality is "
        "judged by one evaluator that belongs to none of the tools: the mean over seeds and half its 95 % interval. "
        "The losses (KL divergence, effective loss) are exact sums over all pairs, lower is better. At the machine's "
        "limit: what the arithmetic (of an exact search, for neighbours) or the reading of a stage would take at the "
        "measured rates; a share above 100 % of a search means that it avoids work.</p>",
    ]
    for method, own in results.items():
        names = tools_of(own, method)
        versions = {k: v for result in own.values() for k, v in result["methods"][method]["versions"].items()}
        body += [f"<h2>{method}</h2>", f"<p>{', '.join(f'{html.escape(k)} {v}' for k, v in versions.items())}</p>"]
        body += [_glance(own, method, names), "<h3>With the number of rows</h3>", _grown(own, method, names)]
        body += ["<h3>By stage</h3>", _stages(own, method, limits)]
        for subject, result in own.items():
            part = result["methods"][method]
            size = f"{result['data']['rows']:,} × {result['data']['columns']:,}"
            body += [f"<h3>{subject.name}, {size}</h3>", _costs(part), _scores(part["quality"])]
            body += [f"<div class=row>{_trade(part, names, method)}</div>", _gallery(result["maps"])]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>gnomon beside its peers</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )
