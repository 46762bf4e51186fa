"""Damage done to files on purpose: each mutant is a function of the seeds and of a number alone."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["MUTATORS", "make_mutant"]

_EDGES = (0, 1, -1, 2, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
_NONSENSE: tuple[Any, ...] = (None, True, -1, 0, 3, 1e308, 2**31, 10**18, 2**64, "", "<f8", "x" * 300, [], [-1], {})


def _flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(data: bytearray, rng: random.Random) -> None:
    """Put a number at the edge of a range where a field may begin."""
    size = rng.choice((1, 2, 4, 8))
    value = (rng.choice(_EDGES) % 2 ** (8 * size)).to_bytes(size, rng.choice(("little", "little", "big")))
    start = rng.randrange(len(data)) // size * size
    data[start : start + size] = value


def _insert(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data) + 1)
    data[start:start] = rng.randbytes(rng.choice((1, 2, 8, 64, 300)))


def _delete(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 2, 8, 64, 300))]


def _truncate(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def _repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    chunk = data[start : start + rng.choice((1, 4, 32, 256))]
    data[start:start] = chunk * rng.choice((1, 2, 10, 100))


_BYTE_EDITS = (_flip, _flip, _overwrite, _overwrite, _insert, _delete, _truncate, _repeat)


def _edit_bytes(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Change bytes without regard to what they mean."""
    if rng.random() < 0.1:
        other = rng.choice(seeds)
        return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if changed:
            rng.choice(_BYTE_EDITS)(changed, rng)
    return bytes(changed)


# Text


def _edit_text(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Change a table of text where its grammar is."""
    words = [
        b'"',
        b'""',
        b"  ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"1" * 500,
        b"x" * 200_000,
    ]
    words += [b"1," * 5_000, b"1\n" * 5_000, *", ,,,, ; - nan inf 1e999 1_0 0x1 ä".encode().split()]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(changed) + 1)
        changed[start : start + rng.choice((0, 0, 1, 3))] = rng.choice(words)
    return bytes(changed)


def _edit_compressed_text(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    return gzip.compress(_edit_text(gzip.decompress(data), rng, seeds), 1, mtime=0)


# NumPy


_SHAPES = [
    "()",
    "(3,)",
    "(-1, 4)",
    "(3, -4)",
    "(10**9, 10**9)",
    "(1000000000, 1000000000)",
    "(4611686018427387904, 4)",
    "(0, 0)",
    "(0, 5)",
    "(3, 4, 0)",
    "3",
    "None",
    "(3.0, 4)",
    "(True, 4)",
    "(3L, 4L)",
    "(1,)*9",
    "(((((((((((((",
    "(1, (1, (1, (1,",
    "[3, 4]",
    "(3, 4",
    "3, 4)",
    "('3', 4)",
]
_TYPES = [
    "'<f4'",
    "'>f8'",
    "'|O'",
    "'<U3'",
    "'|S2'",
    "'<U0'",
    "'|V8'",
    "'<M8[ns]'",
    "'<M8[zz]'",
    "'<c16'",
    "'|b1'",
    "'<f99'",
    "'<f2'",
    "[('a', '<f8'), ('b', '<i4')]",
    "[('a', '|O')]",
    "'(2,)<f8'",
    "'<f8, <i4'",
    "None",
    "''",
    "'<i8'",
    "'q'",
    "'<U999999999'",
    "'<S99999999999'",
    "'\\x00'",
    "'\\N{x}'",
    "'\\d'",
    "f'{1}'",
    "b'<f8'",
    "'T'",
]


def _header_words(rng: random.Random) -> str:
    shape, kind = rng.choice(_SHAPES), rng.choice(_TYPES)
    order = rng.choice(("False", "True", "0", "None", "'x'"))
    which = rng.randrange(4)
    shape = shape if which in (0, 3) else rng.choice(("(3, 4)", "(12,)", "(12, 1)"))
    kind = kind if which in (1, 3) else "'<f8'"
    order = order if which in (2, 3) else "False"
    text = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if rng.random() < 0.3:
        changed = bytearray(text.encode())
        rng.choice((_flip, _insert, _delete, _truncate, _repeat))(changed, rng)
        text = changed.decode("latin1")
    return text


def _edit_npy_header(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Write another header in front of the same numbers, its length right or wrong."""
    body = data[10 + int.from_bytes(data[8:10], "little") :]
    text = _header_words(rng).encode("latin1")
    version = rng.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\4\0", b"\0\0"))
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    length = len(text) if rng.random() < 0.8 else rng.choice((0, 1, 9, 60_000, len(text) - 1, len(text) + 1))
    return b"\x93NUMPY" + version + length.to_bytes(2 if version[0] < 2 else 4, "little") + text + body


def _npy(array: Any, *, pickled: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=pickled)
    return buffer.getvalue()


def _nonsense_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return an array like another, with something a program may not expect."""
    flat = np.array(array).reshape(-1)
    what = rng.randrange(12)
    if what == 0:
        return np.asarray(rng.choice((0, 1.5, "text", b"bytes", True, 1j)))  # no dimensions
    if what == 1:
        return array.reshape(-1)[: rng.randrange(flat.size + 1)]
    if what == 2:
        return array[..., None] if rng.random() < 0.5 else array[None]
    if what == 3:
        kinds = ("<i1", "<u8", "<i8", ">i4", "<f2", "<f8", ">f8", "<c16", "?", "<U5", "|S3", "<M8[s]", "<f4", "<u4")
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(kinds)) if array.dtype.kind in "biuf" else array.astype("<U2")
    if what == 4:
        return np.zeros(array.shape, [("a", "<f8"), ("b", "<i4")])
    if what == 5:
        return np.asfortranarray(array)
    if what == 6:
        return np.concatenate([array] * rng.choice((2, 3))) if array.ndim else array
    if what == 7:
        return np.empty((0, *array.shape[1:]), array.dtype)
    if what == 8:
        return np.full(array.shape, rng.choice(("", "a", "ä" * 50)))
    if what == 9:
        return np.array([min(rng.choice(_EDGES), 2**63 - 1) for _ in range(rng.choice((0, 1, 2, 3, 5)))], np.int64)
    # values out of range
    if flat.size and flat.dtype.kind in "iu":
        limits = np.iinfo(flat.dtype)
        for _ in range(rng.choice((1, 1, 3))):
            value = rng.choice((limits.min, limits.max, -1, 0, 1, flat.size, flat.size + 1, 2**31 - 1))
            flat[rng.randrange(flat.size)] = min(max(value, limits.min), limits.max)
        if rng.random() < 0.2:
            flat[:] = flat[0]
    elif flat.size and flat.dtype.kind == "f":
        tops = np.finfo(flat.dtype)
        flat[rng.randrange(flat.size)] = rng.choice((np.nan, np.inf, -np.inf, tops.max, tops.min, tops.tiny, -0.0))
        if rng.random() < 0.2:
            flat[:] = rng.choice((np.nan, 0.0, float(tops.max)))
    elif flat.size and flat.dtype.kind == "U":
        flat[rng.randrange(flat.size)] = rng.choice(("", "\0", "<script>", "\u202e", "nan"))
    return flat.reshape(array.shape)


def _members(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _zipped(members: list[tuple[str, bytes]], rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    methods = (zipfile.ZIP_DEFLATED,) * 8 + (zipfile.ZIP_STORED,) * 8 + (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(buffer, "w", rng.choice(methods)) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return buffer.getvalue()


def _edit_members(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Change an array or the set of arrays within a valid archive."""
    members = _members(data)
    place = rng.randrange(len(members))
    name, content = members[place]
    what = rng.randrange(10)
    if what == 0:
        del members[place]
    elif what == 1:
        other = rng.choice([n for n, _ in members])
        names = (other + "x", "X", "X.npy", "y.npy", "shape.npy", "../X.npy", "\0.npy", ".npy", "ä.npy")
        members[place] = (rng.choice(names), content)
    elif what == 2:
        members.append((rng.choice(("X.npy", "note.txt", "data.npy", "format.npy", "feature_shape.npy", "X")), content))
    elif what == 3 and name.endswith(".npy"):
        members[place] = (name, _edit_npy_header(content, rng, seeds))
    elif what == 4:
        members[place] = (name, _edit_bytes(content, rng, seeds) if content else b"x")
    elif what == 5 and name.endswith(".npy"):
        members[place] = (name, _npy(np.array([{"a": 1}, None], dtype=object), pickled=True))
    elif name.endswith(".npy"):
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.choice([i for i, (n, _) in enumerate(members) if n.endswith(".npy")])
            name, content = members[place]
            try:
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
                members[place] = (name, _npy(_nonsense_array(array, rng)))
            except (ValueError, TypeError, OverflowError):  # one edit made it unfit for the next
                continue
    else:
        members[place] = (name, _edit_json(content, rng))
    return _zipped(members, rng)


def _edit_directory(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Write nonsense into a field of a zip archive's headers."""
    heads = [(m.start(), m.group()) for m in re.finditer(b"PK(?:\1\2|\3\4|\5\6|\6\6|\6\7)", data)]
    if not heads:
        return _edit_bytes(data, rng, seeds)
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2))):
        start, kind = rng.choice(heads)
        fields = {b"PK\1\2": (6, 8, 10, 16, 20, 24, 28, 30, 32, 42, 46), b"PK\3\4": (4, 6, 8, 14, 18, 22, 26, 28, 30)}
        offset = rng.choice(fields.get(kind, (4, 8, 10, 12, 16, 20)))
        size = rng.choice((2, 4))
        value = rng.choice(_EDGES) % 2 ** (8 * size)
        changed[start + offset : start + offset + size] = value.to_bytes(size, "little")
    return bytes(changed)


# JSON


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container with each of its keys."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        found += _places(inner)
    return found


def _edit_json(content: bytes, rng: random.Random) -> bytes:
    value = json.loads(content)
    for _ in range(rng.choice((1, 1, 2))):
        places = _places(value)
        if not places:
            break
        container, key = rng.choice(places)
        what = rng.randrange(5)
        if what == 0:
            del container[key]
        elif what == 1 and isinstance(container, dict):
            container[str(key) + "x"] = container.pop(key)
        elif what == 2:
            container[key] = [container[key]] * rng.choice((1, 2, 3))
        else:
            container[key] = rng.choice(_NONSENSE)
    text = json.dumps(value)
    if rng.random() < 0.1:
        text = rng.choice(
            ('{"a":' * 5_000, "[" * 200_000, "null", "[]", '"x"', text[:-1], text.replace(":", ": 1e999,"))
        )
    return text.encode()


# Pictures


def _edit_png(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    """Change a chunk of a PNG and write its checksum anew, so that the damage is not seen at once."""
    if not data.startswith(b"\x89PNG"):
        return _edit_bytes(data, rng, seeds)
    chunks, start = [], 8
    while start + 8 <= len(data):
        length = int.from_bytes(data[start : start + 4], "big")
        chunks.append((data[start + 4 : start + 8], data[start + 8 : start + 8 + length]))
        start += 12 + length
    place = rng.randrange(len(chunks))
    kind, body = chunks[place]
    what = rng.randrange(6)
    if what == 0 and kind == b"IHDR":
        fields = list(struct.unpack(">IIBBBBB", body))
        fields[rng.randrange(2)] = rng.choice((0, 1, 7, 1000, 9000, 20_000, 60_000, 2**31 - 1))
        fields[rng.randrange(2, 7)] = rng.choice((0, 1, 2, 3, 4, 6, 8, 16, 255))
        chunks[place] = (kind, struct.pack(">IIBBBBB", *fields))
    elif what == 1:
        kinds = b"PLTE tRNS iCCP zTXt iTXt eXIf acTL fcTL fdAT IDAT gAMA pHYs".split()
        chunk = (rng.choice(kinds), rng.randbytes(rng.choice((0, 1, 4, 12, 26, 80))))
        chunks.insert(rng.randrange(len(chunks) + 1), chunk)
    elif what == 2:
        del chunks[place]
    elif what == 3 and kind == b"IDAT":
        chunks[place] = (kind, zlib.compress(_edit_bytes(zlib.decompress(body) or b"x", rng, [b"0"])))
    elif body:
        chunks[place] = (kind, _edit_bytes(body, rng, [body]))
    out = bytearray(data[:8])
    for kind, body in chunks:
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return bytes(out)


Edit = Callable[[bytes, random.Random, list[bytes]], bytes]
MUTATORS: dict[str, tuple[Edit, ...]] = {
    "bytes": (_edit_bytes,),
    "csv": (_edit_bytes, _edit_text),
    "csv.gz": (_edit_bytes, _edit_compressed_text),
    "npy": (_edit_bytes, _edit_npy_header),
    "npz": (_edit_bytes, _edit_directory, _edit_members, _edit_members),
    "png": (_edit_bytes, _edit_png),
}


def make_mutant(seeds: list[bytes], kind: str, number: int) -> bytes:
    """Return mutant `number` of a list of valid files."""
    rng = random.Random(number)
    return rng.choice(MUTATORS[kind])(rng.choice(seeds), rng, seeds)
