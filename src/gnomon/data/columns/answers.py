"""Cells that list several answers, such as "email; phone": what divides them, and which answers there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gnomon.data.columns.listed import LISTED, are_written_lists, read_list

__all__ = ["SEPARATORS", "split_answers", "split_by", "told_answers"]

SEPARATORS = (";", "|", ",", LISTED)

_FEWEST_CELLS = 10  # with a value
_FEWEST_ANSWERS = 3
_FEWEST_ROWS = 2  # that have an answer; others are told, and count as none
_LEAST_SEVERAL = {";": 0.2, "|": 0.2, ",": 0.4}  # share of the cells with two answers or more
_LEAST_COVERED = 0.9  # of all answers in all cells by those that have a feature
_LEAST_EACH = 5  # rows of an answer on the mean
_LEAST_LENGTH = 0.05  # share of the cells that have as many answers, of two numbers of answers at least
_LEAST_MOVING = 0.5  # of the answers come at several places among those of a cell
_LONGEST = 60  # characters of an answer on the mean


def split_answers(text: str, separator: str) -> list[str]:
    """Return the answers in a cell, without spaces around them and empty ones.

    Parameters
    ----------
    text : str
    separator : str
        "[]" of lists such as "['a', 'b']". A text that is none is an answer by itself.
    """
    if separator == LISTED:
        found = read_list(text)
        return [" ".join(text.split())] if found is None and text.strip() else found or []
    return [part for piece in text.split(separator) if (part := " ".join(piece.split()))]


def split_by(texts: Sequence[str], most: int) -> tuple[str, tuple[str, ...]]:
    """Return what divides the answers of cells that plainly list several, and the answers; empty of other cells.

    Many cells share the same few answers, at most `most`, each in five rows on the mean; a fifth of the cells (of
    commas two fifths) have two or more, and not all as many; none comes twice in a cell; and at least half of the
    answers come at different places, first in one cell and second in another, so that city and country, last and first
    name and the levels of a path are none. Between commas each answer has a letter. Cells that are lists in brackets
    need only have few answers.

    Parameters
    ----------
    texts : sequence of str
        Of all rows, empty where one has none.
    most : int
        Different answers that become features.
    """
    known = [text for text in texts if text]
    if len(known) < _FEWEST_CELLS:
        return "", ()
    if are_written_lists(known):
        cells = [split_answers(text, LISTED) for text in known]
        answers = told_answers(cells, most)
        return (LISTED, answers) if answers and _are_shared(cells, {*answers}) else ("", ())
    for separator in _LEAST_SEVERAL:
        if sum(separator in text for text in known) >= _LEAST_SEVERAL[separator] * len(known):
            cells = [split_answers(text, separator) for text in known]
            answers = told_answers(cells, most)
            if answers and _are_lists(cells, {*answers}, separator):
                return separator, answers
    return "", ()


def told_answers(cells: Sequence[Sequence[str]], most: int) -> tuple[str, ...]:
    """Return the answers that two cells or more have, by their text; empty if they are too many, or too few.

    Parameters
    ----------
    cells : sequence of sequence of str
        The answers of each row.
    most : int
    """
    counts = Counter(answer for cell in cells for answer in {*cell})
    answers = tuple(sorted(answer for answer, count in counts.items() if count >= _FEWEST_ROWS))
    return answers if len(answers) <= most else ()


def _are_lists(cells: Sequence[Sequence[str]], answers: set[str], separator: str) -> bool:
    """Return whether cells plainly list answers, and are no texts, paths, names or places."""
    n = len(cells)
    every = [answer for cell in cells for answer in cell]
    lengths = Counter(map(len, cells))
    several = sum(count for length, count in lengths.items() if length > 1)
    usual = sum(count >= max(_FEWEST_ROWS, _LEAST_LENGTH * n) for count in lengths.values())
    if (
        len(answers) < _FEWEST_ANSWERS
        or several < _LEAST_SEVERAL[separator] * n
        or usual < 2
        or not _are_shared(cells, answers)
        or sum(map(len, every)) > _LONGEST * len(every)
        or any(len({*cell}) < len(cell) for cell in cells)
        or len({frozenset(cell) for cell in cells}) <= len(answers)
    ):
        return False
    if separator == "," and not all(any(map(str.isalpha, answer)) for answer in answers):
        return False
    return sum(len(found) > 1 for found in _places(cells, answers).values()) >= _LEAST_MOVING * len(answers)


def _are_shared(cells: Sequence[Sequence[str]], answers: set[str]) -> bool:
    """Return whether answers are in five cells on the mean, and make nine tenths of all."""
    every = [answer for cell in cells for answer in cell]
    told = sum(answer in answers for answer in every)
    return len(every) >= _LEAST_EACH * len(answers) and told >= _LEAST_COVERED * len(every)


def _places(cells: Sequence[Sequence[str]], answers: set[str]) -> Mapping[str, set[int]]:
    found: dict[str, set[int]] = {answer: set() for answer in answers}
    for cell in cells:
        for place, answer in enumerate(cell):
            if answer in found:
                found[answer].add(place)
    return found
