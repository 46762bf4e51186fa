"""Copy the page's scripts and style sheets without comments that fill whole lines: python strip_comments.py FROM TO.

Every written page holds the scripts, and nobody reads comments in a wheel. Lines of template literals are left alone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

__all__ = ["main", "without_comments"]

_BLOCK = re.compile(r"[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.DOTALL)
_LINE = re.compile(r"[ \t]*//.*\n")


def without_comments(source: str, *, slashes: bool = True) -> str:
    """Leave out comments that begin and end a line; `slashes` says whether ``//`` begins one."""
    kept: list[str] = []
    at = 0
    literal = False  # whether a template literal is open
    while at < len(source):
        comment = None if literal else _BLOCK.match(source, at) or (slashes and _LINE.match(source, at)) or None
        if comment is not None:
            at = comment.end()
            continue
        end = source.find("\n", at) + 1 or len(source)
        line = source[at:end]
        kept.append(line)
        literal ^= line.count("`") % 2 == 1
        at = end
    return "".join(kept)


def main(source: str, target: str) -> None:
    """Write the scripts and style sheets below one folder to the same places below another."""
    for path in sorted(Path(source).rglob("*")):
        if path.suffix in {".js", ".css"}:
            copy = Path(target) / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = without_comments(path.read_text(encoding="utf-8"), slashes=path.suffix == ".js")
            copy.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
