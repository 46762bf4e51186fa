"""Show that a map depends neither on threads, nor on the instruction set of the kernels, nor on the libraries' choices.

python -m benchmarks.determinism --data digits --threads 1 2 3 5 --builds --cores
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
from pathlib import Path

import numpy as np

from benchmarks.machine import instruction_set_levels
from benchmarks.subjects import SUBJECTS
from benchmarks.tables import load_table

__all__ = ["build", "compare", "hash_maps", "main"]

_ROOT = Path(__file__).resolve().parent.parent

_WIDE = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
CORES: dict[str, dict[str, str]] = {
    "SkylakeX": {},
    "Haswell": {"NPY_DISABLE_CPU_FEATURES": _WIDE, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F"},
    "Nehalem": {
        "NPY_DISABLE_CPU_FEATURES": f"{_WIDE} AVX2 FMA3",
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


def hash_maps(
    data: Path,
    methods: Sequence[str],
    threads: Sequence[int],
    installed: Path | None = None,
    *,
    max_iter: int | None = None,
    core: str | None = None,
) -> Hashes:
    """Hash the maps of a table in a fresh process.

    Parameters
    ----------
    data : Path
        The table, .npy.
    methods : sequence of str
        Names in `benchmarks.subjects.SUBJECTS`.
    threads : sequence of int
    installed : Path, default=None
        Use the build in this folder rather than the one of the running interpreter.
    max_iter : int, default=None
        Iterations of every method but PCA; None takes the usual number of each.
    core : str, default=None
        A name in `CORES`: linear algebra and NumPy's loops are those of this processor, or of an older one's features.

    Returns
    -------
    dict of dict
        Hashes by method and number of threads.
    """
    inside = None if installed is None else str(installed)
    task = {"methods": list(methods), "threads": list(threads), "inside": inside, "max_iter": max_iter}
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
    """Lay out the hashes of several builds, and say whether each method has one hash in all."""
    lines: list[str] = []
    equal = True
    width = max((len(method) for build_hashes in hashes.values() for method in build_hashes), default=0)
    for method in dict.fromkeys(method for build_hashes in hashes.values() for method in build_hashes):
        seen = set()
        for name, build_hashes in hashes.items():
            for n, digest in build_hashes[method].items():
                lines.append(f"{method:{width}} {name:12} {n:>2} threads  {digest}")
                seen.add(digest)
        equal = equal and len(seen) == 1
        lines.append(f"{method:{width}} {'equal' if len(seen) == 1 else f'DIFFERENT: {len(seen)} hashes'}")
    return lines, equal


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--methods", nargs="+", default=list(SUBJECTS), choices=list(SUBJECTS), metavar="METHOD")
    parser.add_argument("--max-iter", type=int, help="iterations of every method; the usual number by default")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 3, 5])
    parser.add_argument("--builds", action="store_true", help="also compile for every level this CPU runs")
    parser.add_argument("--cores", action="store_true", help="also with the linear algebra of older processors (x86)")
    parser.add_argument("--levels", nargs="+", help="the levels to compile for, if not all")
    options = parser.parse_args(arguments)
    X, _ = load_table(options.data, options.rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder / "table.npy"
        np.save(data, X)
        hashes = {"installed": hash_maps(data, options.methods, options.threads, max_iter=options.max_iter)}
        for level in options.levels or (instruction_set_levels() if options.builds else []):
            installed = build(level, folder)
            hashes[level] = hash_maps(data, options.methods, options.threads, installed, max_iter=options.max_iter)
        for core in CORES if options.cores else []:
            hashes[core] = hash_maps(data, options.methods, options.threads[:1], max_iter=options.max_iter, core=core)
    lines, equal = compare(hashes)
    print("\n".join(lines))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
