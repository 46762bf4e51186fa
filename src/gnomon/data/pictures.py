"""Folders of pictures through pillow."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._optional import import_optional
from gnomon._validation import message, warn
from gnomon.data.dataset import Dataset, listed, note
from gnomon.data.limits import refuse_unreadable
from gnomon.exceptions import DataWarning

__all__ = ["read_pictures"]

_SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_TABLES = (".csv", ".tsv", ".npy", ".npz", ".feather", ".h5ad")
_LARGEST = 128  # pictures of one size, but for a few, are kept up to this many pixels on a side
_NEARLY_ALL = 0.9  # share of pictures whose size the others are brought to
_SHRUNK = 64  # else all are brought to this
_MOST_PIXELS = 2**26  # in one picture: 270 MB as pillow holds it, while it is decoded and brought to size
# Named, because pillow goes by the content: a file called .png may hold PostScript, which pillow would run.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")


def _find(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not files:
        fact = f"no files ending in {', '.join(sorted(_SUFFIXES))}"
        tables = sorted(path for path in folder.iterdir() if path.suffix.lower() in _TABLES)
        remedy = f"Name one of its tables, such as {str(tables[0])!r}." if tables else ""
        raise ValueError(message(f"folder {str(folder)!r}", "one with pictures", fact=fact, remedy=remedy))
    return files


def _open(path: Path) -> Any:
    image_module = import_optional("PIL.Image", package="pillow", extra="images")
    what = f"picture {str(path)!r}"
    # Whatever pillow raises while it reads a picture means that the picture cannot be read; it names no classes.
    with refuse_unreadable(what, "a complete picture", errors=(Exception,)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image_module.init()
        with path.open("rb") as file:
            picture = image_module.open(file, formats=[name for name in _FORMATS if name in image_module.OPEN])
            width, height = picture.size
            if width * height <= _MOST_PIXELS:
                picture.load()
                return picture
    fact = f"{width:,} x {height:,} pixels"
    raise ValueError(message(what, f"of at most {_MOST_PIXELS:,} pixels", fact=fact, remedy="Make it smaller."))


def _pixels(path: Path, mode: str, size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Return a picture in a mode ("L" or "RGB") and a size (width, height)."""
    picture = _open(path)
    with refuse_unreadable(f"picture {str(path)!r}", "a complete picture", errors=(Exception,)):
        picture = picture.convert(mode)
        return np.asarray(picture if picture.size == size else picture.resize(size))


def _choose_size(files: list[Path], sizes: list[tuple[int, int]], notes: list[str]) -> tuple[int, int]:
    """Return the (width, height) that pictures are brought to: that of nearly all, unless it is large."""
    counts = Counter(sizes)
    size, most = counts.most_common(1)[0]
    if most >= _NEARLY_ALL * len(sizes) and max(size) <= _LARGEST:
        others = [str(path) for path, own in zip(files, sizes, strict=True) if own != size]
        if others:
            common = f"{size[0]} x {size[1]} pixels of the others"
            what = f"{len(others):,} of {len(files):,} pictures are resized to the {common}"
            warn(f"{what}: {listed(others)}. Leave them out if they do not belong there", DataWarning)
            note(notes, f"{what}: {listed(others)}")
        return size
    why = f"{len(counts)} sizes" if len(counts) > 1 else f"{size[0]} x {size[1]} pixels"
    note(notes, f"pictures ({why}) are resized to {_SHRUNK} x {_SHRUNK}; pass images to choose another size")
    return (_SHRUNK, _SHRUNK)


def _folder_labels(names: list[Path]) -> npt.NDArray[Any] | None:
    if any(len(name.parts) < 2 for name in names):
        return None
    return np.array([name.parts[0] for name in names])


@part("read_table")
def read_pictures(folder: str | os.PathLike[str], *, images: tuple[int, ...] | None = None) -> Dataset:
    """Read all pictures in a folder and its sub-folders, which name the labels; see `read_table`."""
    root = Path(folder)
    files = _find(root)
    notes: list[str] = []
    # Two passes, so that only pictures of the final size are held in memory.
    sizes: list[tuple[int, int]] = []
    grey = True
    for path in files:
        picture = _open(path)
        sizes.append(picture.size)
        grey = grey and picture.mode in ("1", "L")
    width, height = _choose_size(files, sizes, notes) if images is None else (images[1], images[0])
    shape = (height, width) if grey else (height, width, 3)
    pixels = np.empty((len(files), *shape), np.uint8)
    for i, path in enumerate(files):
        pixels[i] = _pixels(path, "L" if grey else "RGB", (width, height))
    names = [path.relative_to(root) for path in files]
    labels = _folder_labels(names)
    return Dataset(
        pixels.reshape(len(files), -1),
        labels=labels,
        label_name=None if labels is None else "folder",
        point_names=np.array([name.as_posix() for name in names]),
        images=pixels,
        image_shape=shape,
        source=str(root),
        notes=notes,
    )
