"""The pages of the documentation run, and print what they say they print."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

_DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r"\(\d+\.\d+ s\)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _run(code, namespace):
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "documentation", "exec"), namespace)
    return printed.getvalue()


def _assert_alike(printed, stated):
    """Compare words exactly and numbers nearly: other processors round the tables that some pages make otherwise."""
    printed, stated = (_SECONDS.sub("", text) for text in (printed, stated))
    assert _NUMBER.sub("#", printed).split() == _NUMBER.sub("#", stated).split()
    found, wanted = (list(map(float, _NUMBER.findall(text))) for text in (printed, stated))
    assert found == pytest.approx(wanted, rel=0.03, abs=0.01)


@pytest.mark.parametrize(
    ("page", "n_examples"),
    [
        ("aligned.md", 7),
        ("cells.md", 4),
        ("choosing.md", 2),
        ("clusters.md", 1),
        ("coming-from.md", 1),
        ("determinism.md", 3),
        ("dimension.md", 1),
        ("figures.md", 3),
        ("files.md", 3),
        ("functions.md", 5),
        ("illusions.md", 1),
        ("large.md", 3),
        ("layout-in-parts.md", 2),
        ("memory.md", 2),
        ("methods.md", 2),
        ("notebooks.md", 1),
        ("parameters.md", 1),
        ("parts.md", 6),
        ("questions.md", 8),
        ("quickstart.md", 9),
        ("reading-a-map.md", 8),
        pytest.param("report.md", 3, marks=pytest.mark.slow),
        ("scorecard.md", 1),
        ("security.md", 1),
        ("stored-tables.md", 1),
        ("tables.md", 5),
        ("theory.md", 5),
        ("verdicts.md", 4),
    ],
)
def test_a_page_runs_and_prints_what_it_says(page, n_examples, tmp_path, monkeypatch):
    if page == "cells.md":
        pytest.importorskip("anndata")
    monkeypatch.chdir(tmp_path)  # where its files go
    blocks = _BLOCK.findall((_DOCS / page).read_text())
    assert sum(kind == "python" for kind, _ in blocks) >= n_examples
    namespace, printed = {}, ""
    for kind, text in blocks:
        if kind == "text":
            _assert_alike(printed, text)
            printed = ""
        else:
            assert printed == "", "output that the page does not show"
            printed = _run(text, namespace)
    assert printed == ""
