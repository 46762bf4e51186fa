"""Print the table of docs/large.md: what maps of landmarks are forecast to take, up to a billion rows.

python -m benchmarks.large forecasts

50 columns, 100,000 landmarks, with all that follows a map, answers written and not kept in memory; on the reference
machine.
"""

from __future__ import annotations

import argparse

from gnomon.scale.costs import forecast_landmarks

__all__ = ["forecast_table", "main"]

_SIZES = ((10**6, 1), (10**7, 1), (10**8, 8), (10**9, 64))  # rows and workers
_COLUMNS, _LANDMARKS = 50, 100_000
_HEAD = (
    "rows",
    "workers of one core",
    "core hours",
    "hours by the clock",
    "memory of a worker",
    "memory of the client",
    "read by a worker",
)


def forecast_table() -> str:
    """Return the table in Markdown."""
    lines = [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|"]
    for rows, workers in _SIZES:
        told = forecast_landmarks(rows, _COLUMNS, _LANDMARKS, n_workers=workers, keep_answers=False)
        hours = f"{told.seconds / 3600:.2g} | {told.elapsed() / 3600:.2g}"
        memory = f"{told.worker_bytes / 1e6:.0f} MB | {told.client_bytes / 1e9:.1f} GB"
        lines.append(f"| {rows:,} | {workers} | {hours} | {memory} | {told.messages['rows'] / 1e9:.2g} GB |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    print(forecast_table())
    return 0
