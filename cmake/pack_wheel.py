"""Write a wheel again, with everything in it deflated by Zopfli: python pack_wheel.py WHEEL FOLDER.

The same files under the same names, for a thirtieth less to download. Needs zopflipy.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED
from zipfile import ZipFile as AnyZipFile

import zopfli

__all__ = ["main", "pack"]


def pack(wheel: Path, folder: Path) -> Path:
    """Write a wheel into a folder, which is made where there is none, and return its path there."""
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / wheel.name
    with AnyZipFile(wheel) as source, zopfli.ZipFile(packed, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            entry.compress_type = ZIP_DEFLATED
            target.writestr(entry, content)
    return packed


def main(wheel: str, folder: str) -> None:
    """Pack one wheel and say how long it was and is."""
    packed = pack(Path(wheel), Path(folder))
    print(f"{packed}: {Path(wheel).stat().st_size:,} -> {packed.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
