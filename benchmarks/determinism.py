"""Show that maps and answers depend neither on threads, nor on the instruction set, nor on the libraries' choices.

python -m benchmarks.determinism --data digits --threads 1 2 3 5 --asked pca umap tsne --builds --cores
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.machine import instruction_set_levels
from benchmarks.subjects import SUBJECTS
from benchmarks.tables import load_table
from gnomon.methods import METHODS

__all__ = ["build", "compare", "hash_results", "main"]

_ROOT = Path(__file__).resolve().parent.parent

_WIDE = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"  # X86_V4 since NumPy 2.4
CORES: dict[str, dict[str, str]] = {
    "SkylakeX": {},
    "Haswell": {"NPY_DISABLE_CPU_FEATURES": _WIDE, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F"},
    "Nehalem": {
        "NPY_DISABLE_CPU_FEATURES": f"{_WIDE} AVX2 FMA3 X86_V3",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",
    },
}
"""Processors whose kernels OpenBLAS takes when told, and what NumPy and the C library then leave unused."""

Hashes = dict[str, dict[str, str]]


def build(level: str, folder: Path) -> Path:
    """Compile gnomon for one instruction-set level and install it, without dependencies, below a folder.

    Only this level is compiled, and nothing is chosen at load time (GNOMON_ARCH in CMakeLists.txt). In a folder that
    has a build already, only what changed since is compiled again.

    Returns
    -------
    Path
        The folder to put on the module search path.
    """
    target = folder / level
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(target)]
    command += [str(_ROOT), "-C", f"cmake.define.GNOMON_ARCH={level}", "-C", f"build-dir={folder / f'build-{level}'}"]
    if importlib.util.find_spec("scikit_build_core") and importlib.util.find_spec("nanobind"):
        command.append("--no-build-isolation")
    subprocess.run(command, check=True)
    return target


def hash_results(
    data: Path,
    methods: Sequence[str],
    threads: Sequence[int],
    installed: Path | None = None,
    *,
    asked: Sequence[str] = (),
    max_iter: int | None = None,
    core: str | None = None,
) -> Hashes:
    """Hash the maps of a table, and what they answer, in a fresh process.

    Parameters
    ----------
    data : Path
        The table, .npz as `load_table` reads it.
    methods : sequence of str
        Names in `benchmarks.subjects.SUBJECTS`.
    threads : sequence of int
    installed : Path, default=None
        Use the build in this folder rather than the one of the running interpreter.
    asked : sequence of str, default=()
        Names in `gnomon.methods.METHODS`: their maps are asked all of `benchmarks.answers.QUESTIONS`.
    max_iter : int, default=None
        Iterations of every method but PCA; None takes the usual number of each.
    core : str, default=None
        A name in `CORES`: linear algebra and NumPy's loops are those of this processor, or of an older one's features.

    Returns
    -------
    dict of dict
        Hashes by number of threads, by method and by method and question, as "umap" and "umap: axis".
    """
    task = {
        "methods": list(methods),
        "asked": list(asked),
        "threads": list(threads),
        "inside": None if installed is None else str(installed),
        "max_iter": max_iter,
    }
    command, environment = [sys.executable], dict(os.environ)
    if core is not None:
        environment |= {"OPENBLAS_CORETYPE": core, **CORES[core]}
    if installed is not None:
        command.append("-S")  # or the hook of an editable installation would win over the search path
        environment["PYTHONPATH"] = os.pathsep.join([str(installed), *filter(None, sys.path)])
    command += ["-m", "benchmarks.fingerprint", str(data), json.dumps(task)]
    result = subprocess.run(command, env=environment, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    hashes: Hashes = json.loads(result.stdout.splitlines()[-1])
    return hashes


def compare(hashes: Mapping[str, Hashes]) -> tuple[list[str], bool]:
    """Lay out the hashes of several builds, and say whether each result has one hash in all."""
    lines: list[str] = []
    equal = True
    width = max((len(name) for build_hashes in hashes.values() for name in build_hashes), default=0)
    for name in dict.fromkeys(name for build_hashes in hashes.values() for name in build_hashes):
        seen = set()
        for build_name, build_hashes in hashes.items():
            for n, digest in build_hashes[name].items():
                lines.append(f"{name:{width}} {build_name:12} {n:>2} threads  {digest}")
                seen.add(digest)
        equal = equal and len(seen) == 1
        lines.append(f"{name:{width}} {'equal' if len(seen) == 1 else f'DIFFERENT: {len(seen)} hashes'}")
    return lines, equal


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--columns", type=int, help="the first so many columns that are not constant")
    parser.add_argument("--methods", nargs="*", default=list(SUBJECTS), choices=list(SUBJECTS), metavar="METHOD")
    names = [card.name for card in METHODS]
    parser.add_argument("--asked", nargs="+", default=[], choices=names, metavar="METHOD", help="ask maps of these")
    parser.add_argument("--max-iter", type=int, help="iterations of every method; the usual number by default")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 3, 5])
    parser.add_argument("--builds", action="store_true", help="also compile for every level this CPU runs")
    parser.add_argument("--cores", action="store_true", help="also with the linear algebra of older processors (x86)")
    parser.add_argument("--levels", nargs="+", help="the levels to compile for, if not all")
    options = parser.parse_args(arguments)
    X, labels = load_table(options.data, options.rows)
    if options.columns is not None:
        X = np.ascontiguousarray(X[:, np.flatnonzero(np.ptp(X, axis=0))[: options.columns]])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "table.npz"
        np.savez(data, X=X, **({} if labels is None else {"y": labels}))
        hashed = partial(hash_results, data, options.methods, asked=options.asked, max_iter=options.max_iter)
        hashes = {"installed": hashed(options.threads)}
        for level in options.levels or (instruction_set_levels() if options.builds else []):
            hashes[level] = hashed(options.threads, build(level, folder))
        for core in CORES if options.cores else []:
            hashes[core] = hashed(options.threads[:1], core=core)
    lines, equal = compare(hashes)
    print("\n".join(lines))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
