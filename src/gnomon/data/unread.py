"""What texts look like that are no numbers by the rules though many are measured: amounts in two currencies, times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gnomon.data.columns.vectors import odd_vector
from gnomon.data.written import are_codes, without_signs

__all__ = ["Unread", "find_unread"]

_LOOK = 1000  # texts that decide, at most
_MOST = 0.5  # share of them that must look so
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK"
_DIGITS = (
    r"(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[.,' \u00a0\u2009\u202f]\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3})?"
    r"(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
)
_AMOUNT = re.compile(
    rf"[~<>≤≥≈=(]*\s*[+\-−]?\s*(?P<before>{_CURRENCY})?\s*[+\-−]?(?=[\d.,]){_DIGITS}(?<=\d)"
    rf"[\-−]?\s*(?:(?:[kKM]|B|[bBmM]n|Mio|Mrd)(?![^\W\d_]))?\.?\s*(?P<after>{_CURRENCY}|[%‰°]|[a-zµ][^\W\d_]{{0,7}}(?:/[a-z]{{1,3}})?"
    r"|[A-Z][^\W\d_]{1,5})?\.?\)?"
)
_VECTOR = re.compile(r"[\[(]\s*[+-]?\d[\d.eE+-]*[,\s].*\]?", re.DOTALL)
_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")
_FEWEST_BARE = 0.05  # share of amounts that must be without a unit, or with it, where some have one
_TIME = re.compile(r"\d{1,3}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?")
_DATE = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    r"|(?:[^\W\d_]{2,9},? )?\d{1,2}(?:st|nd|rd|th|\.)?[ \-./]{1,2}[^\W\d_]{3,9}\.?,?[ \-./](?:\d{2}|\d{4})"
    r"|[^\W\d_]{3,9}\.? {1,2}\d{1,2}(?:(?:st|nd|rd|th)?,? \d{4}| \d{1,2}:\d{2}(?::\d{2})?))(?:[ T,].*)?"
)


class Unread(NamedTuple):
    """What a column of texts looks like.

    Attributes
    ----------
    fact : str
        What it holds, a clause.
    remedy : str
        What to do, a sentence.
    """

    fact: str
    remedy: str


def find_unread(texts: Sequence[str]) -> Unread | None:
    """Say what texts look like of which at least half are vectors, dates, times, amounts or codes; None for others.

    Parameters
    ----------
    texts : sequence of str
        Empty where one is missing.
    """
    some = [text.strip() for text in without_signs(texts) if text.strip()][:_LOOK]
    if found := _matches(_VECTOR, some):
        why = odd_vector(np.array(texts, dtype=object))
        if any("..." in match[0] for match in found):
            why = "cut when they were written"
        fact = f"vectors that are not read ({why or 'written otherwise than [0.1, 0.2]'})"
        return Unread(fact, "Give each row as many numbers, all of them, as arrays, in Parquet or as [0.1, 0.2].")
    if found := _matches(_DATE, some):
        return Unread(f"dates such as {found[0][0]!r:.40}", "Write dates such as 2024-05-31.")
    if found := _matches(_TIME, some):
        return Unread(f"times such as {found[0][0]!r:.40}", "Pass times as numbers of hours.")
    found = _matches(_AMOUNT, some)
    if not found or _are_hex(some):
        return None
    if are_codes(some):
        code = next(text for text in some if text[0] == "0" and text.isdecimal() and len(text) > 2)
        return Unread(f"codes such as {code!r:.40}, which begin with 0", "Pass codes that count something as numbers.")
    units = Counter(match["before"] or match["after"] or "" for match in found)
    names = [unit for unit, _ in units.most_common() if unit]
    if len(names) > 1:
        what = "currency" if all(re.fullmatch(_CURRENCY, name) for name in names) else "unit"
        return Unread(f"amounts in {', '.join(names[:4])}", f"Convert amounts to one {what}.")
    bare = [match[0] for match in found if not (match["before"] or match["after"])]
    if names and _FEWEST_BARE * len(found) <= len(bare) <= (1.0 - _FEWEST_BARE) * len(found):
        other = next(match[0] for match in found if match[0] not in bare)
        told = f"numbers with and without {names[0]}, such as {other!r:.40} and {bare[0]!r:.40}"
        return Unread(told, f"Write all numbers with {names[0]}, or none.")
    fact = f"numbers such as {found[0][0]!r:.40} in {len(found) / len(some):.0%} of its texts"
    return Unread(fact, "Pass numbers as numbers, with NaN for what is missing.")


def _are_hex(texts: Sequence[str]) -> bool:
    """Return whether texts are codes of hexadecimal digits, of one length and some from a letter on: 3f, a0."""
    if len({*map(len, texts)}) > 1 or len(texts[0]) < 2:
        return False
    return all(map(_HEX.fullmatch, texts)) and any(text[0].isalpha() for text in texts)


def _matches(form: re.Pattern[str], texts: Sequence[str]) -> list[re.Match[str]]:
    """Return the texts that have a form, if at least half have."""
    found = [match for text in texts if (match := form.fullmatch(text))]
    return found if found and len(found) >= _MOST * len(texts) else []
