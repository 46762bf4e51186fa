"""Write scripts and style sheets of a wheel with short indents and no lines of comments: python pack_page.py FROM TO.

Every written page holds the scripts, and nobody reads them in a wheel. Lines of template literals are left alone.
Those of the viewer, some hundred files, become one, `viewer/static.z`, which takes two thirds of their room.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from pathlib import Path

__all__ = ["compact", "main"]

_TOGETHER = Path("viewer/static")

_BLOCK = re.compile(r"[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.DOTALL)
_LINE = re.compile(r"[ \t]*//.*\n")


def compact(source: str, *, slashes: bool = True) -> str:
    """Leave out comments that fill lines (`slashes` says whether ``//`` begins one), and all but a space of indents."""
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
        text = line.lstrip()
        kept.append(line if literal or text == line else text and " " + text)
        literal ^= line.count("`") % 2 == 1
        at = end
    return "".join(kept)


def main(source: str, target: str) -> None:
    """Write the scripts and style sheets below one folder to the same places below another, or into one file."""
    together: dict[str, str] = {}
    for path in sorted(Path(source).rglob("*")):
        if path.suffix not in {".js", ".css"}:
            continue
        place = path.relative_to(source)
        text = compact(path.read_text(encoding="utf-8"), slashes=path.suffix == ".js")
        if place.is_relative_to(_TOGETHER):
            together[place.relative_to(_TOGETHER.parent).as_posix()] = text
            continue
        (Path(target) / place).parent.mkdir(parents=True, exist_ok=True)
        (Path(target) / place).write_text(text, encoding="utf-8", newline="\n")
    packed = (Path(target) / _TOGETHER).with_suffix(".z")
    packed.parent.mkdir(parents=True, exist_ok=True)
    packed.write_bytes(zlib.compress(json.dumps(together).encode(), 9))


if __name__ == "__main__":
    main(*sys.argv[1:])
