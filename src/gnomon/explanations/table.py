"""Small tables as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["format_number", "format_table"]


def format_number(value: float) -> str:
    """Return a number with four significant digits, without a needless exponent."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4g}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3e}"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, the first column to the left and the others to the right."""
    widths = [max(len(line[c]) for line in [header, *rows]) for c in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(cell.rjust(w) for cell, w in zip(cells[1:], widths[1:], strict=True))]).rstrip()

    return "\n".join([line(header), *(line(row) for row in rows)])
