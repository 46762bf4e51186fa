"""Bytes packed for a page: deflate in whichever of two ways makes them smaller, on as many threads as there are.

Most columns of a page are codes that look like noise, in which a search for repeated text finds nothing: coding each
byte by how common it is, with runs, then takes a third of the time and often fewer bytes.
"""

from __future__ import annotations

import zlib

__all__ = ["pack", "packed_size"]

_LEVEL = 4
_THOROUGH = 6  # where there is little to pack
_LITTLE = 1 << 20  # bytes
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


def _deflate(raw: bytes | memoryview, level: int, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    # 31: a gzip frame, whose time stamp zlib leaves at zero, so the same data give the same bytes.
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, zlib.DEF_MEM_LEVEL, strategy)
    return packer.compress(raw) + packer.flush()


def _deflate_runs(raw: bytes | memoryview) -> bytes:
    return _deflate(raw, _LEVEL, zlib.Z_RLE)
