"""The copies of the page's scripts in a wheel say what the scripts say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
without_comments = runpy.run_path(str(ROOT / "cmake" / "strip_comments.py"))["without_comments"]
SOURCES = sorted(p for p in (ROOT / "src" / "gnomon").rglob("*") if p.suffix in {".js", ".css"})


def test_only_comments_that_fill_lines_are_left_out():
    source = '/** doc\n * `x` */\n// one\nconst a = "//"; // why\n  /* two */\n  const b = `\n// text\n`;\n// end\n'
    assert without_comments(source) == 'const a = "//"; // why\n  const b = `\n// text\n`;\n'
    before = "(\n  /** @type {string} */ id,\n) => id;\n"
    assert without_comments(before + "/** doc */\n") == before


def test_slashes_are_no_comments_in_style_sheets():
    assert without_comments("/* one */\n// two\na {}\n", slashes=False) == "// two\na {}\n"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_what_is_left_out_of_the_page_is_comments(path):
    source = path.read_text(encoding="utf-8")
    slashes = path.suffix == ".js"
    kept = iter(without_comments(source, slashes=slashes).splitlines())
    wanted, comment = next(kept, None), False
    for line in source.splitlines():
        if not comment and line == wanted:
            wanted = next(kept, None)
            continue
        starts = line.lstrip().startswith("/*")
        assert comment or starts or (slashes and line.lstrip().startswith("//")), line
        comment = (comment or starts) and "*/" not in line
        assert comment or "*/" not in line or line.rstrip().endswith("*/"), line
    assert wanted is None
    assert not comment
