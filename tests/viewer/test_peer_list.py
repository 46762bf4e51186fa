"""Every row of the comparison with other tools names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "page.md"


def test_every_row_names_a_test_that_exists():
    text = PAGE.read_text(encoding="utf-8").split("## What other tools have")[1]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 12
    for row in rows:
        assert len(row) == 6, row[0]
        assert all(cell.strip() for cell in row)
        name = re.fullmatch(r"`(\w+\.py)::(\w+)`", row[-1].strip())
        assert name, row[0]
        source = (HERE / name[1]).read_text(encoding="utf-8")
        assert re.search(rf"^def {name[2]}\(", source, re.MULTILINE), row[-1]
