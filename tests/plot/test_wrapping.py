"""Names are broken and shortened without losing or splitting characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon._printed import harmless
from gnomon.plot.wrapping import columns_of, shortened, wrapped


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("T cells", ["T cells"]),
        ("natural killer cells", ["natural", "killer", "cells"]),
        ("antidisestablishment", ["antidisest", "ablishment"]),
        ("細胞の種類が多い", ["細胞の種類", "が多い"]),
        ("one two three four five six", ["one two", "three four", "five six"]),
        ("one two three four five six seven", ["one two", "three four", "five six…"]),
        ("  a \n b ", ["a b"]),
        ("", [""]),
    ],
)
def test_lines_end_where_the_script_allows(text, lines):
    assert wrapped(text, 10, 3).split("\n") == lines


@pytest.mark.parametrize(
    ("text", "short"),
    [("abcdef", "abcdef"), ("abcdefg", "abcde…"), ("細胞の", "細胞の"), ("細胞の種", "細胞…"), ("a b c d", "a b c…")],
)
def test_what_is_shortened_ends_with_an_ellipsis(text, short):
    assert shortened(text, 6) == short


def test_letters_keep_their_marks():
    text = "e\u0301" * 12  # each of two code points
    assert columns_of(text) == 12
    assert shortened(text, 5) == "e\u0301" * 4 + "…"
    assert wrapped(text, 4, 3).split("\n") == ["e\u0301" * 4] * 3
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert shortened("aaaa" + family, 5) == "aaaa…"


@settings(max_examples=60)
@given(st.text(max_size=60), st.integers(2, 12), st.integers(1, 4))
def test_nothing_is_wider_than_asked_and_nothing_is_lost_without_an_ellipsis(text, most, n_lines):
    lines = wrapped(text, most, n_lines).split("\n")
    assert len(lines) <= n_lines
    assert all(columns_of(line) <= most for line in lines)
    whole = harmless("".join(text.split()))
    kept = "".join("".join(lines).split())
    assert kept == whole or "…" in kept
    assert not any(unicodedata.category(line[0]) == "Mn" for line in lines[1:] if line)
