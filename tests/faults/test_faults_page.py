"""The page of faults cannot rot: what it says is tested has a test, and what is tested stands in it."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"
_ROW = re.compile(r"^\| F(\d+) \| (.*) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
_NAMED = re.compile(r"`([\w/]+\.py)::([^`]+)`")
# Where numbers stand in the names and ids of tests: test_f01_..., "f01-nan", "f53-f70-{}".
_NAMES = re.compile(r"def (test_\w+)|[\"'](f\d{2,3}(?:-[^\"'\s]*)?)[\"']")
_NUMBER = re.compile(r"(?<![a-zA-Z0-9])f(\d{2,3})(?=[_-]|$)")

ENTRIES = {int(row[0]): row[1:] for row in _ROW.findall(PAGE.read_text())}
NAMES = {
    path.relative_to(TESTS).as_posix(): {first or second for first, second in _NAMES.findall(path.read_text())}
    for path in TESTS.rglob("test_*.py")
}


def numbers(name):
    """Return the numbers of faults in the name or id of a test."""
    return {int(found) for found in _NUMBER.findall(name.replace("test_", "", 1).replace("_f", "-f"))}


def test_the_page_has_every_number_once_and_in_order():
    listed = [int(number) for number in re.findall(r"^\| F(\d+) ", PAGE.read_text(), re.MULTILINE)]
    assert listed == list(range(1, 111))
    assert list(ENTRIES) == listed


@pytest.mark.parametrize("number", ENTRIES, ids="F{:02}".format)
def test_what_an_entry_names_exists(number):
    _, does, _, tests = ENTRIES[number]
    named = _NAMED.findall(tests)
    if tests == "does not arise":
        assert "Does not arise: " in does
        return
    assert named, "no test is named"
    for path, name in named:
        assert name in NAMES[path], f"{path} has no test or case {name}"
    assert any(number in numbers(name) for _, name in named), "no test carries the number"


def test_every_number_of_a_test_is_in_the_page():
    found = {number: path for path, names in NAMES.items() for name in names for number in numbers(name)}
    assert len(found) > 80  # else the walk is blind
    assert {number: path for number, path in found.items() if number not in ENTRIES} == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f01-nan", {1}),
        ("test_f72_f73_the_seed", {72, 73}),
        ("f53-f70-{}", {53, 70}),
        ("test_f100_x", {100}),
        ("test_off20_x", set()),
        ("float32-f1", set()),
    ],
)
def test_numbers_are_read_from_names(name, expected):
    assert numbers(name) == expected
