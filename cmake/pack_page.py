"""Write scripts and style sheets of a wheel with short indents and without comments: python pack_page.py FROM TO.

Every written page holds the scripts, and nobody reads them in a wheel. Lines of template literals are left alone.
Those of the viewer, some hundred files, become one, `viewer/static.z`, which takes two thirds of their room: paths and
texts by turns, with a zero byte between them.
"""

from __future__ import annotations

import re
import sys
import zlib
from itertools import chain
from pathlib import Path

__all__ = ["compact", "main"]

_TOGETHER = Path("viewer/static")

_BLOCK = re.compile(r"[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.DOTALL)
_LINE = re.compile(r"[ \t]*//.*\n")
_TYPE = re.compile(r"/\*\* @(?:(?!\*/).)*\*/ ?")
_REMARK = re.compile(r"[ \t]+//[ \t][^\"'`/\n]*$", re.MULTILINE)  # in a text, a quotation mark would follow


def compact(source: str, *, slashes: bool = True) -> str:
    """Leave out comments (`slashes` says whether ``//`` begins one), and all but a space of indents."""
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
        at = end
        odd = line.count("`") % 2 == 1
        if not literal:
            text = line.lstrip()
            line = text if text == line or not text else " " + text
            if slashes and not odd:
                line = _TYPE.sub("", _REMARK.sub("", line))
        kept.append(line)
        literal ^= odd
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
    packed.write_bytes(zlib.compress("\0".join(chain(*together.items())).encode(), 9))


if __name__ == "__main__":
    main(*sys.argv[1:])
