"""The registry, the package and the documentation name the same methods."""

import builtins
import re
from dataclasses import asdict
from pathlib import Path
from runpy import run_path

import pytest

import gnomon
import gnomon.methods
from gnomon.methods import METHODS, find_method

_ROOT = Path(__file__).parents[2]
_DOCS = _ROOT / "docs"
_LISTS = run_path(str(_DOCS / "lists.py"))
_ESTIMATORS = [name for name in gnomon.methods.__all__ if hasattr(getattr(gnomon.methods, name), "fit")]


def _table(page):
    """Return the rows of the first table of a page as dictionaries, without its marks of code."""
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip().strip("`") for cell in line] for line in lines]
    listed = rows[: len(METHODS)]
    return [dict(zip(head, row, strict=True)) for row in listed]


@pytest.mark.parametrize("path", _LISTS["LISTS"])
def test_a_list_of_methods_is_that_of_the_registry(path):
    assert (_ROOT / path).read_text() == _LISTS["written"](path), "run `make lists`"


@pytest.mark.parametrize("card", METHODS, ids=lambda card: card.name)
def test_a_card_names_an_estimator_of_the_package(card):
    estimator = getattr(gnomon, card.estimator)
    assert estimator is getattr(gnomon.methods, card.estimator)
    assert callable(estimator.fit_transform)
    assert estimator().get_params()["n_components"] == 2
    assert find_method(card.name) is card


def test_names_are_unique_and_fit_a_command_line():
    assert len({card.name for card in METHODS}) == len(METHODS) == len({card.estimator for card in METHODS})
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", card.name) for card in METHODS)
    assert find_method("magic") is None


def test_the_table_of_the_documentation_is_the_registry():
    listed = _table((_DOCS / "methods.md").read_text())
    assert [{**row, "limits": card.limits} for row, card in zip(listed, METHODS, strict=True)] == [
        asdict(card) for card in METHODS
    ]


def test_the_page_of_the_command_line_names_every_method():
    page = (_DOCS / "command-line.md").read_text()
    listed = page.split("begin: methods")[1].split("end: methods")[0]
    assert re.findall(r"`(\w+)`", listed) == [card.name for card in METHODS]


@pytest.mark.parametrize("name", _ESTIMATORS)
def test_every_estimator_is_public_and_documented(name):
    assert name in gnomon.__all__
    assert re.search(rf"^\.\. autoclass:: {name}$", (_DOCS / "api.rst").read_text(), re.MULTILINE)


def test_all_names_at_once_leave_those_of_python_alone():
    assert not set(gnomon.__all__) & set(dir(builtins))
    assert "map" in dir(gnomon)


def test_every_public_name_is_documented():
    page = (_DOCS / "api.rst").read_text()
    missing = [
        name
        for name in (*gnomon.__all__, "map")
        if name not in ("__version__", "plot")  # of plot each function is listed
        and not re.search(rf"^\.\. auto(class|function|module):: (gnomon\.)?{name}$", page, re.MULTILINE)
    ]
    assert missing == []
