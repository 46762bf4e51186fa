"""Programs that press a machine: run as `python stress.py KIND ...` by the tests and by hand.

kills FOLDER SEED METHOD    fits and saves maps of growing number until it is killed
checks FOLDER SEED METHOD   loads what is in the folder: each file is whole and the map of its number
parallel SEED N             N fits and transforms in threads, then in processes, equal to those one after the other
memory METHOD N             prints the peak after each tenth of N fits, in bytes beyond the first
peak METHOD N D             prints the peak of a fit of N rows of D features, beyond what was there, and the forecast
"""

from __future__ import annotations

import ctypes
import gc
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import gnomon
from quick import ESTIMATORS, fresh


def _table(seed, n=120):
    return np.random.default_rng(seed).standard_normal((n, 6))


def kills(folder, seed, name):
    print("ready", flush=True)
    for number in count():
        path = folder / f"{number % 5}.gnomon"  # files are replaced, too
        model = fresh(name).fit(_table(seed + number % 5))
        model.save(path)
        gnomon.load(path)


def checks(folder, seed, name):
    # A kill between the two calls that name a file leaves it under a hidden name, until it is written again.
    for part in folder.glob(".*.gnomon.*.part"):
        number = int(part.name[1])
        fresh(name).fit(_table(seed + number)).save(folder / f"{number}.gnomon")
    found = sorted(folder.iterdir())
    for path in found:
        assert path.suffix == ".gnomon", f"left behind: {path.name}"
        X = _table(seed + int(path.stem))
        expected = fresh(name).fit(X)
        loaded = gnomon.load(path)
        assert loaded.embedding_.tobytes() == expected.embedding_.tobytes(), path.name
        assert loaded.transform(X[:5] + 0.1).tobytes() == expected.transform(X[:5] + 0.1).tobytes(), path.name
    print(len(found))


def _one(job):
    name, seed, n_jobs = job
    warnings.simplefilter("ignore")
    model, X = fresh(name, n_jobs=n_jobs), _table(seed)
    return model.fit(X).embedding_.tobytes(), model.transform(X[:7] + 0.1).tobytes()


def parallel(seed, n):
    rng = np.random.default_rng(seed)
    names = list(ESTIMATORS)
    jobs = [(names[i % len(names)], int(rng.integers(1000)), 1 + i % 3) for i in range(n)]
    expected = [_one(job) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(_one, jobs)) == expected, "threads"
    for way in ("fork", "spawn"):
        with ProcessPoolExecutor(4, mp_context=get_context(way)) as workers:
            assert list(workers.map(_one, jobs, chunksize=5)) == expected, way
    print(3 * n)


def _resident():
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def memory(name, n):
    warnings.simplefilter("ignore")
    X = _table(0, 1500)
    for _ in range(3):
        fresh(name).fit(X).transform(X[:50])
    gc.collect()
    before = _resident()
    for i in range(n):
        fresh(name).fit(X).transform(X[:50])
        if (i + 1) % max(1, n // 10) == 0:
            print(_resident() - before, flush=True)


def measured(model, X):
    """Return the bytes that a fit takes at its peak beyond what is there before it."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the highest is now what is held
    before = _resident()
    model.fit(X)
    return _resident() - before


def peak(name, n, d):
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).standard_normal((n, d))
    model = fresh(name)
    fresh(name).fit(X[:300])  # loads what a fit needs
    print(measured(model, X), model.foresee(n, d).n_bytes)


def main(kind, *given):
    warnings.simplefilter("ignore")
    if kind in ("kills", "checks"):
        {"kills": kills, "checks": checks}[kind](Path(given[0]), int(given[1]), given[2])
    elif kind == "parallel":
        parallel(int(given[0]), int(given[1]))
    elif kind == "memory":
        memory(given[0], int(given[1]))
    elif kind == "peak":
        peak(given[0], *map(int, given[1:]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
