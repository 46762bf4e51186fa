"""The pages of maps that the site brings along are those that its text links to."""

import re
import runpy
from pathlib import Path

import pytest

_DOCS = Path(__file__).parents[1] / "docs"


def test_every_page_that_is_linked_is_written_and_the_other_way_round():
    live = runpy.run_path(str(_DOCS / "live.py"))["LIVE"]
    assert set(re.findall(r'href="live/([^"]+)"', (_DOCS / "live.md").read_text())) == set(live)


@pytest.mark.slow
def test_every_page_is_written_once(tmp_path):
    module = runpy.run_path(str(_DOCS / "live.py"))
    module["write_live_pages"](tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(module["LIVE"])
    for path in tmp_path.iterdir():
        assert path.stat().st_size > 50_000
        path.write_text("kept")
    module["write_live_pages"](tmp_path)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"kept"}
