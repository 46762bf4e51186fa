"""The page's scripts in a wheel say what the scripts say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from gnomon.viewer import write

ROOT = Path(__file__).resolve().parents[2]
pack_page = runpy.run_path(str(ROOT / "cmake" / "pack_page.py"))
compact = pack_page["compact"]
SOURCES = sorted(p for p in (ROOT / "src" / "gnomon").rglob("*") if p.suffix in {".js", ".css"})


def test_only_indents_and_comments_are_left_out():
    source = '/** doc\n * `x` */\n// one\nconst a = "//"; // why\n  /* two */\n\n    b = `\n  // text\n `;\n  // end\n'
    assert compact(source) == 'const a = "//";\n b = `\n  // text\n `;\n'
    assert compact("(\n  /** @type {string} */ id,\n) => id;\n/** doc */\n") == "(\n id,\n) => id;\n"


@pytest.mark.parametrize("text", ['a("x // y");', "a('x // y');", "a(`x // y`);", "a(`x // y", "a = b.c // d's\n / 2;"])
def test_slashes_within_a_text_begin_no_comment(text):
    assert compact(text + "\n") == text + "\n"


def test_slashes_are_no_comments_in_style_sheets():
    assert compact("/* one */\n// two\na {}\n", slashes=False) == "// two\na {}\n"


def without_remarks(line):
    """Leave out what types and comments at the end say, and spaces before it."""
    return re.sub(r"\s+//\s[^\"'`/]*$", "", re.sub(r"/\*\* @\w+ .*? \*/ ", "", line)).strip()


@pytest.mark.parametrize("kind", sorted({path.suffix for path in SOURCES}))
def test_what_is_left_out_of_the_page_is_comments_and_indents(kind):
    for path in SOURCES:
        if path.suffix == kind:
            check_left_out(path)


def check_left_out(path):
    source = path.read_text(encoding="utf-8")
    slashes = path.suffix == ".js"
    kept = iter(compact(source, slashes=slashes).splitlines())
    wanted, comment = next(kept, None), False
    for line in source.splitlines():
        if not comment and wanted and without_remarks(line) == without_remarks(wanted):
            wanted = next(kept, None)
            continue
        if not comment and not line.strip():
            continue
        starts = line.lstrip().startswith("/*")
        assert comment or starts or (slashes and line.lstrip().startswith("//")), line
        comment = (comment or starts) and "*/" not in line
        assert comment or "*/" not in line or line.rstrip().endswith("*/"), line
    assert wanted is None
    assert not comment


def test_a_page_from_packed_scripts_is_that_from_the_files(tmp_path, monkeypatch):
    source = ROOT / "src" / "gnomon"
    pack_page["main"](str(source), str(tmp_path))
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"viewer/static.z", "notebook/widget.js", "maps/printed/report.css"}
    for name in ("page.html", "map.html"):
        (tmp_path / "viewer" / name).write_bytes((source / "viewer" / name).read_bytes())

    def page_of(folder):
        monkeypatch.setattr(write, "files", lambda package: folder)
        write._packed.cache_clear()
        write.bundle.cache_clear()
        return "".join(write.page_parts([], title="", subtitle="", preview=b""))

    pages = [page_of(source / "viewer"), page_of(tmp_path / "viewer")]
    assert "/*" in pages[0]
    assert len(pages[1]) < 0.9 * len(pages[0])
    assert compact(pages[0], slashes=True) == compact(pages[1], slashes=True)
    write._packed.cache_clear()
    write.bundle.cache_clear()
