"""A learner finds a way through the pages: a short lesson, short sentences, links that lead somewhere, an index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_DOCS = _ROOT / "docs"
_PAGES = sorted(_DOCS.glob("*.md"))
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FIRST = ("index", "install", "quickstart", "reading-a-map", "illusions", "choosing", "glossary")
_LEFT_OUT = ("images/", "docs/images/", "benchmarks/")  # of a source distribution
_LEARNT = (*_FIRST[1:5], "tables", "choosing", "questions", "verdicts", "command-line")


def _words(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def _sentences(page):
    """Return the sentences of a page without its code, tables, headings and addresses of links."""
    kept = [
        re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n\n", line)
        for line in _FENCED.sub("\n", page.read_text()).splitlines()
        if not re.match(r"\s*[|#<]", line)
    ]
    text = re.sub(r"`[^`]*`", "CODE", _LINK.sub(r"\2", "\n".join(kept))).replace("*", "")
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
    return [one for paragraph in paragraphs for one in re.split(r"(?<=[.!?])[)\"]?\s+(?=[A-Z\d\"(])", paragraph)]


def _headings(page):
    """Return what a heading of a page is called in links, as GitHub and MyST call it."""
    found = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", _LINK.sub(r"\2", heading).lower()).replace(" ", "-") for heading in found}


def test_the_lesson_on_reading_a_map_is_read_in_ten_minutes():
    lesson = _DOCS / "reading-a-map.md"
    assert len(_words(lesson.read_text())) <= 1250
    assert re.findall(r"^## (\d)\.", lesson.read_text(), re.MULTILINE) == list("12345678")


@pytest.mark.parametrize(
    "page", [_ROOT / "README.md", *(_DOCS / f"{name}.md" for name in _FIRST)], ids=lambda p: p.stem
)
def test_sentences_of_the_first_pages_are_short(page):
    sentences = _sentences(page)
    assert len(sentences) >= 10
    assert not [one for one in sentences if len(_words(one)) > 32]


@pytest.mark.parametrize("page", [_ROOT / "README.md", *_PAGES], ids=lambda page: page.stem)
def test_links_lead_to_pages_and_headings_that_exist(page):
    for _, _, address in _LINK.findall(_FENCED.sub("", page.read_text())):
        if re.match(r"https?:|mailto:", address):
            continue
        path, _, heading = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not path.startswith(_LEFT_OUT):
            assert target.exists(), address
        if heading:
            assert heading in _headings(target), address


def test_the_index_lists_every_page_once_and_first_those_to_learn_in_their_order():
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```$", (_DOCS / "index.md").read_text(), re.MULTILINE | re.DOTALL)
    listed = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    assert sorted(listed) == sorted({page.stem for page in _PAGES} - {"index"} | {"api", "api-rest"})
    assert listed[: len(_LEARNT)] == list(_LEARNT)


def test_the_words_by_which_the_page_on_verdicts_tells_answers_apart_are_those_of_the_program():
    rows = re.findall(r"^\| (.*?) \|.*\|.*\|$", (_DOCS / "verdicts.md").read_text(), re.MULTILINE)
    quoted = [words for row in rows for words in re.findall(r'"([^"]+)"', row)]
    assert len(quoted) >= 15
    sources = [path.read_text() for path in (_ROOT / "src" / "gnomon" / "evaluation").rglob("*.py")]
    said = re.sub(r'"\s*\n\s*f?"', "", "\n".join(sources)).replace("{100 * bridge:g}", "25")
    assert not [words for words in quoted if words not in said]
