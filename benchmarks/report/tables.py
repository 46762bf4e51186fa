"""What was measured as rows and points, for pages in HTML and Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report.subjects import GROWTH, Subject
from benchmarks.summary import half_width, with_interval

__all__ = [
    "BASE",
    "LOSSES",
    "MIB",
    "MODES",
    "Results",
    "Table",
    "grown",
    "left_out",
    "ratios",
    "scores",
    "tools_of",
    "trade",
]

Results = Mapping[Subject, Mapping[str, Any]]
Table = tuple[list[str], list[list[str]]]
"""A header and rows."""

MODES = {"process": "whole process", "warm": "warm"}
LOSSES = {"tsne": "kl_divergence", "umap": "effective_loss"}
"""What each method lowers."""
BASE = "gnomon"
MIB = 2**20


def tools_of(results: Results, method: str) -> list[str]:
    """Return the tools that ran on any table."""
    return list(dict.fromkeys(tool for result in results.values() for tool in result["methods"][method]["versions"]))


def ratios(results: Results, method: str, mode: str, names: Sequence[str]) -> Table:
    """Return how many times our seconds each peer takes, by table; no rows if the mode was not measured.

    Of each table the number of runs, whose medians count, and our seconds come first.
    """
    peers = [tool for tool in names if tool != BASE]
    rows = []
    for subject, result in results.items():
        part = result["methods"][method]
        costs = part["costs"].get(mode, {})
        if costs:
            own = [str(len(part["runs"][mode][BASE])), f"{costs[BASE]['wall']:.2f}"]
            rows.append(
                [subject.name, *own, *(f"{costs[tool]['wall_ratio']:.1f}" if tool in costs else "" for tool in peers)]
            )
    return [f"seconds / {BASE}'s, {MODES[mode]}", "runs", f"{BASE}, s", *peers], rows


def left_out(results: Results, method: str) -> dict[str, str]:
    """Return tools that did not run on every table that they were asked for, and why, at the first such table."""
    found: dict[str, str] = {}
    for subject, result in results.items():
        for tool, why in result["methods"][method]["left_out"].items():
            found.setdefault(tool, f"{why} ({subject.name})")
    return found


def grown(results: Results, method: str, mode: str, what: str) -> dict[str, list[tuple[float, float]]]:
    """Return rows and a cost, "wall" in seconds or "peak" in MiB, of each tool on one kind of table."""
    series: dict[str, list[tuple[float, float]]] = {}
    for subject in GROWTH:
        if subject in results:
            result = results[subject]
            for tool, cost in result["methods"][method]["costs"].get(mode, {}).items():
                value = cost[what] / (MIB if what == "peak" else 1.0)
                series.setdefault(tool, []).append((result["data"]["rows"], value))
    return series


def scores(quality: Mapping[str, Mapping[str, Sequence[float]]]) -> Table:
    """Return the mean of each measure and half its interval, by tool."""
    measures = list(dict.fromkeys(measure for own in quality.values() for measure in own))
    rows = [[tool, *(with_interval(own[m]) if m in own else "" for m in measures)] for tool, own in quality.items()]
    return ["tool", *(measure.replace("_", " ") for measure in measures)], rows


def trade(part: Mapping[str, Any], mode: str, measure: str) -> dict[str, tuple[float, float, float]]:
    """Return seconds, a measure of quality and half the width of its interval, by tool."""
    return {
        tool: (part["costs"][mode][tool]["wall"], statistics.fmean(own[measure]), half_width(own[measure]))
        for tool, own in part["quality"].items()
        if measure in own and tool in part["costs"][mode]
    }
