"""Words of a column that differ only in case or in blanks: answers of their own unless they are written alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gnomon.data.columns.rule import mark_of
from gnomon.data.dataset import first_few

__all__ = ["told_of_variants", "variants_of"]

_SHOWN = 2  # words of a column, and columns, that are named


def variants_of(texts: Sequence[str]) -> list[dict[str, int]]:
    """Return the writings of each word that comes in several, with how often each comes; the most frequent first.

    Words are alike if they differ in blanks at their ends or within, or in case: all letters small, all large, or the
    first large and the others small, as people write. So mixed letters, as in codes, tell; so does the case of a single
    letter and of one that is repeated, as in the genotypes AA, Aa and aa.

    Parameters
    ----------
    texts : sequence of str
        One a row, empty where none is known.
    """
    words, counts = np.unique(np.array([*filter(None, texts)], dtype=object), return_counts=True)
    found: dict[str, dict[str, int]] = {}
    for word, count in zip(words.tolist(), counts.tolist(), strict=True):
        plain = " ".join(word.split())
        found.setdefault(mark_of(word) if _is_usual(plain) else plain, {})[word] = count
    several = [writings for writings in found.values() if len(writings) > 1]
    return [dict(sorted(one.items(), key=lambda pair: -pair[1])) for one in several]


def _is_usual(word: str) -> bool:
    """Return whether letters are large and small as people write words, so that the case says nothing."""
    letters = {letter for letter in word.casefold() if letter.isalpha()}
    return len(letters) > 1 and word in (word.lower(), word.upper(), word.capitalize(), word.title())


def told_of_variants(columns: Mapping[str, list[dict[str, int]]]) -> str:
    """Say in one line which columns have words in several writings, and what to do about it.

    Parameters
    ----------
    columns : mapping of str to list of dict
        What `variants_of` found, of columns where it found any.
    """

    def told(name: str, words: list[dict[str, int]]) -> str:
        shown = [", ".join(f"{word!r:.40} ({count:,})" for word, count in one.items()) for one in words]
        return f"{name!r} {first_few(shown, _SHOWN, of='word', between='; ')}"

    named = first_few((told(name, words) for name, words in columns.items()), _SHOWN, of="column", between="; ")
    return (
        f"answers that differ only in case or blanks are answers of their own: {named}. Write them alike if they are "
        "one, such as by table[name].str.strip().str.lower() of pandas."
    )
