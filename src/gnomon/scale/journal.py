"""What the stages of a long run leave in a folder, so that a run that was cut goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon._validation import message
from gnomon.data.stored import RowBlock
from gnomon.scale.executor import Executor

__all__ = ["Journal"]

Arrays = dict[str, npt.NDArray[Any]]


class Journal:
    """Results of stages by name; without a folder nothing is kept.

    Parameters
    ----------
    folder : path-like or None
        Made if it is not there.
    run : mapping of str to str, int, float, bool or None
        What decides the results: the table's fingerprint, the parameters, the seed, the version of gnomon.

    Raises
    ------
    ValueError
        If the folder holds stages of another run; the text names what differs.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, run: Mapping[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        written, known = self.folder / "run.json", json.loads(json.dumps(dict(run)))
        if not written.exists():
            with atomic_write(written, "w") as file:
                json.dump(known, file, indent=1)
            return
        before = json.loads(written.read_text())
        other = sorted(name for name in before.keys() | known.keys() if before.get(name) != known.get(name))
        if other:
            fact = f"{other[0]} was {before.get(other[0])!r:.80} there and is {known.get(other[0])!r:.80} now"
            remedy = "Choose another folder, or remove it."
            raise ValueError(message(f"folder {str(self.folder)!r}", "empty or of this run", fact=fact, remedy=remedy))

    def stage(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a stage, read if an earlier run left them, else computed and kept."""
        if self.folder is None:
            return compute()
        path = self.folder / f"{name}.npz"
        if not path.exists():
            _write(path, compute())
        return _read(path)

    def blocks(
        self,
        name: str,
        executor: Executor,
        function: Callable[..., Arrays],
        blocks: Sequence[RowBlock],
        *shared: Any,
    ) -> Iterator[Arrays]:
        """Yield the arrays of each block, in order; workers write them, and blocks written before are only read.

        With a folder that the workers of a cluster do not share, leave it out.
        """
        if self.folder is None:
            yield from executor.map(function, blocks, *shared)
            return
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{block.number:06d}.npz" for block in blocks]
        missing = [(block, path) for block, path in zip(blocks, paths, strict=True) if not path.exists()]
        for _ in executor.map(partial(_compute_and_write, function), missing, *shared):
            pass
        for path in paths:
            yield _read(path)


def _compute_and_write(function: Callable[..., Arrays], item: tuple[RowBlock, Path], *shared: Any) -> None:
    block, path = item
    _write(path, function(block, *shared))


def _write(path: Path, arrays: Arrays) -> None:
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _read(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
