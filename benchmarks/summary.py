"""From runs to medians, ratios and tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.measure import Run

__all__ = ["half_width", "markdown", "summarise", "table_of", "with_interval"]

_MIB = 2**20


def summarise(runs: Mapping[str, Sequence[Run]], base: str) -> dict[str, dict[str, float]]:
    """Take medians of the runs of each contender, and ratios to the base: above 1 the base is better.

    Parameters
    ----------
    runs : mapping of str to sequence of Run
        By label.
    base : str
        The label that the others are compared with.
    """
    summary: dict[str, dict[str, float]] = {}
    for label, series in runs.items():
        walls = [run.wall for run in series]
        summary[label] = {
            "wall": statistics.median(walls),
            "wall_min": min(walls),
            "wall_max": max(walls),
            "cpu": statistics.median(run.cpu for run in series),
            "peak": statistics.median(run.peak for run in series),
            "fit_wall": statistics.median(run.fit_wall for run in series),
        }
    if base in summary:
        for own in summary.values():
            for measure in ("wall", "cpu", "peak"):
                other = summary[base][measure]
                own[f"{measure}_ratio"] = own[measure] / other if other > 0 else float("nan")
    return summary


def table_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows of text as a table in Markdown."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    cells = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells)


def _cost_rows(summary: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    rows = []
    for label, cost in summary.items():
        ratios = [f"{cost[r]:.2f}" if r in cost else "" for r in ("wall_ratio", "cpu_ratio", "peak_ratio")]
        spread = f"{cost['wall']:.2f} ({cost['wall_min']:.2f}-{cost['wall_max']:.2f})"
        rows.append([label, spread, f"{cost['cpu']:.2f}", f"{cost['peak'] / _MIB:.0f}", *ratios])
    return rows


def half_width(values: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the mean, by Student's t; nan for a single value."""
    from scipy.stats import t

    n = len(values)
    return float("nan") if n < 2 else float(t.ppf(0.975, n - 1)) * statistics.stdev(values) / n**0.5


def with_interval(values: Sequence[float], digits: int | None = None) -> str:
    """Print the mean of some values, and half the width of its 95 % interval if there are several.

    Parameters
    ----------
    values : sequence of float
    digits : int or None, default=None
        Decimals; None takes 4, 2 from 10 on, and none from 1000 on.
    """
    mean = statistics.fmean(values)
    if digits is None:
        digits = 0 if abs(mean) >= 1000 else 2 if abs(mean) >= 10 else 4
    text = f"{mean:,.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {half_width(values):,.{digits}f}"


def _quality_table(quality: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    measures = list(dict.fromkeys(measure for scores in quality.values() for measure in scores))
    rows = [
        [label, *(with_interval(scores[m]) if m in scores else "" for m in measures)]
        for label, scores in quality.items()
    ]
    return table_of(["tool", *measures], rows)


def markdown(report: Mapping[str, Any]) -> str:
    """Lay out a report of `run.benchmark` as Markdown."""
    machine, table = report["machine"], report["data"]
    load = ", ".join(f"{x:.1f}" for x in machine["load_average"] or ())
    lines = [
        f"# {table['name']}: {table['rows']} x {table['columns']}",
        "",
        f"{machine['cpu']}, {machine['cores']} cores, load average {load or 'unknown'}, Python {machine['python']}",
    ]
    for method, part in report["methods"].items():
        base = part["base"]
        ratios = [f"wall / {base}", f"CPU / {base}", f"memory / {base}"]
        lines += ["", f"## {method}", ""]
        lines += [f"- {label}: {version}" for label, version in part["versions"].items()]
        lines += [f"- {label}: left out, {why}" for label, why in part["left_out"].items()]
        for mode, summary in part["costs"].items():
            header = ["tool", "wall s: median (min-max)", "CPU s", "peak MiB", *ratios]
            lines += ["", f"{_MODES[mode]}:", "", table_of(header, _cost_rows(summary))]
        if part["quality"]:
            lines += ["", "Quality, mean over seeds and half its 95 % interval:", "", _quality_table(part["quality"])]
    return "\n".join(lines) + "\n"


_MODES = {"process": "Fresh processes (start, import, read, fit, save)", "warm": "Warm fits in one process"}
