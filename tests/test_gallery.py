"""Every script of the gallery runs and draws its picture, and every picture that a page shows is there and small."""

import ast
import re
import runpy
import warnings
from pathlib import Path

import pytest

from gnomon.methods import METHODS

_DOCS = Path(__file__).parents[1] / "docs"
_IMAGES = _DOCS / "images"
_SCRIPTS = sorted((_DOCS / "gallery").glob("*.py"))
_SMALL = ("methods", "parameters", "guides", "gallery")


@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda script: script.stem)
def test_a_script_has_a_title_and_a_text_and_ends_by_drawing_its_picture(script):
    tree = ast.parse(script.read_text())
    title, _, told = ast.get_docstring(tree).partition("\n\n")
    assert title.endswith(".")
    assert told
    assert len(script.read_text().splitlines()) <= 40
    assert f'.save("{script.stem}.png", dpi=100)' in ast.unparse(tree.body[-1]).replace("'", '"')


@pytest.mark.slow
@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_and_draws_its_picture(script, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of graphs in pieces
        runpy.run_path(str(script))
    assert [path.name for path in tmp_path.iterdir()] == [f"{script.stem}.png"]
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 5000


def test_the_gallery_has_six_scripts_or_more():
    assert len(_SCRIPTS) >= 6


@pytest.mark.skipif(not _IMAGES.is_dir(), reason="a source distribution has no pictures")
@pytest.mark.parametrize("page", sorted(_DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_every_picture_of_a_page_is_there_and_said_in_words(page):
    for words, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text()):
        assert (_DOCS / path).is_file(), path
        assert words, f"{path} has no text for those who do not see it"


@pytest.mark.skipif(not _IMAGES.is_dir(), reason="a source distribution has no pictures")
def test_each_method_has_its_picture_and_no_picture_is_left_over():
    shown = {
        path for page in _DOCS.glob("*.md") for path in re.findall(r"\]\(images/([^)]+\.webp)\)", page.read_text())
    }
    kept = {path.relative_to(_IMAGES).as_posix() for path in _IMAGES.rglob("*.webp")}
    assert {f"methods/{card.name}.webp" for card in METHODS} <= shown
    assert kept == shown


@pytest.mark.skipif(not _IMAGES.is_dir(), reason="a source distribution has no pictures")
def test_small_pictures_are_small():
    sizes = [path.stat().st_size for path in _IMAGES.rglob("*.webp")]
    assert max(sizes) < 50_000
    assert sum(sizes) < 1_500_000
