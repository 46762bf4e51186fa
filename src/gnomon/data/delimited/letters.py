"""Letters of a text that was read in a wrong encoding."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["find_unlikely"]

_UNLIKELY = re.compile(
    r"[^\W\d_][£¥¯³¹¿¼¾ªº]+[^\W\d_]"  # a sign within a word: z³oty of Windows-1250
    r"|(?<!\w)[£¥¯³¼¾][a-zà-ÿ]{2}"  # or before it: £ódź
    r"|[a-zà-ÿ]Ÿ"
    r"|[À-ÿ]{5}"  # a word without any plain letter: Cyrillic of Windows-1251
)


def find_unlikely(texts: Iterable[str]) -> str:
    """Return the first text with letters that no language writes so in Windows-1252; empty if all may be right.

    Parameters
    ----------
    texts : iterable of str
    """
    return next((text for text in texts if not text.isascii() and _UNLIKELY.search(text)), "")
