"""Bytes packed for a page: deflated in whichever of two ways makes them smaller, and written as text of a page.

Most columns of a page are codes that look like noise, in which a search for repeated text finds nothing: coding each
byte by how common it is, with runs, then takes a third of the time and often fewer bytes.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

__all__ = ["TEXT", "as_text", "pack", "packed_size"]

TEXT = 16.0 / 13.0
"""Characters of text for a byte."""

_LEVEL = 4
_THOROUGH = 6  # where there is little to pack
_LITTLE = 1 << 20  # bytes
_SIGNS = np.array([code for code in range(33, 127) if chr(code) not in '"&<'], dtype=np.uint16)  # 91, none of which
# means anything in HTML or is lost by an editor; mirrored by static/data/text.js
_PAIRS = (_SIGNS[None, :] + (_SIGNS[:, None] << 8)).reshape(-1)[: 1 << 13].astype("<u2")
_GROUPS = 1 << 15  # of 13 bytes, 8 pairs each
_PIECES, _PIECE = 4, 1 << 15  # bytes that decide, as wide as the window of deflate


def pack(raw: memoryview) -> bytes:
    """Return a gzip frame of some bytes, a view of which has one dimension; the same bytes give the same frame."""
    level = _THOROUGH if len(raw) <= _LITTLE else _LEVEL
    if len(raw) <= _PIECES * _PIECE:
        return min(_deflate(raw, level), _deflate_runs(raw), key=len)
    step = (len(raw) - _PIECE) // (_PIECES - 1)
    pieces = [raw[at : at + _PIECE] for at in range(0, _PIECES * step, step)]
    by_runs = sum(len(_deflate_runs(one)) for one in pieces) <= sum(len(_deflate(one, level)) for one in pieces)
    return _deflate_runs(raw) if by_runs else _deflate(raw, level)


def packed_size(raw: bytes | memoryview) -> int:
    """Return how many bytes a part of something large takes when it is packed."""
    return min(len(_deflate(raw, _LEVEL)), len(_deflate_runs(raw)))


def as_text(packed: bytes) -> str:
    """Return bytes as printable ASCII: 13 bits, the highest first, are two characters, up to 6 at the end are one.

    Pairs of 91 signs hold 8281 numbers, so 13 bytes take 16 characters, where base64 takes 17.3.

    References
    ----------
    .. [1] Henke, "basE91 encoding", https://base91.sourceforge.net, of which this is the variant with fixed width.
    """
    size = 13 * _GROUPS
    text = b"".join(_text_of(packed[start : start + size]) for start in range(0, len(packed), size))
    return text.decode("ascii")


def _text_of(packed: bytes) -> bytes:
    n_groups = -(-len(packed) // 13)
    padded = np.zeros((n_groups, 14), dtype=np.uint32)  # the last column is zero
    padded[:, :13] = np.frombuffer(packed.ljust(13 * n_groups, b"\0"), np.uint8).reshape(-1, 13)
    pairs: npt.NDArray[np.uint16] = np.empty((n_groups, 8), dtype="<u2")
    for word in range(8):
        byte, bit = divmod(13 * word, 8)
        three = padded[:, byte] << 16 | padded[:, byte + 1] << 8
        three |= padded[:, min(byte + 2, 13)]
        pairs[:, word] = _PAIRS[three >> (11 - bit) & 8191]
    n_pairs, rest = divmod(8 * len(packed), 13)
    last = _SIGNS[(packed[-1] << (6 - rest)) & 63].astype(np.uint8).tobytes() if 0 < rest <= 6 else b""
    return pairs.tobytes()[: 2 * (n_pairs + (rest > 6))] + last


def _deflate(raw: bytes | memoryview, level: int, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    # 31: a gzip frame, whose time stamp zlib leaves at zero, so the same data give the same bytes.
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, zlib.DEF_MEM_LEVEL, strategy)
    return packer.compress(raw) + packer.flush()


def _deflate_runs(raw: bytes | memoryview) -> bytes:
    return _deflate(raw, _LEVEL, zlib.Z_RLE)
