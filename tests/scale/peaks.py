"""What the first task of each stage takes in a process, beside what is forecast; run as a program on one table.

python peaks.py map|covariance|svd|randomized N_ROWS N_FEATURES COUNT

prints a line for each stage: its name, the bytes forecast and the bytes taken. The count is that of landmarks, or of
components.
"""

import ctypes
import gc
import pickle
import sys
import tempfile

import numpy as np

import gnomon
from gnomon.data.stored import ArrayTable
from gnomon.scale import LocalExecutor, Shared, stored_principal_components
from gnomon.scale.task import _name


def _status(field):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


class Measured(LocalExecutor):
    """Lets the first task of each stage begin as on a worker: with what is sent, and nothing made or left before."""

    def __init__(self):
        self._known = set()

    def map(self, function, items, *shared, needed=0.0):
        items, name = list(items), _name(function)
        if name not in self._known:
            self._known.add(name)
            values = [one.held if isinstance(one, Shared) else one for one in shared]
            print(name, needed, self._taken(pickle.dumps((function, items[0], values))), flush=True)
        return super().map(function, items, *shared, needed=needed)

    def _taken(self, sent):
        function, item, values = pickle.loads(sent)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = _status("VmRSS")
        with gnomon.running(n_threads=1):
            _kept = function(item, *values)
        return _status("VmHWM") - before


def _write(path, n, n_features):
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(30, n_features)).astype(np.float32)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, n_features))
    for start in range(0, n, 4096):
        rows = min(4096, n - start)
        X[start : start + rows] = centres[rng.integers(0, 30, rows)] + rng.normal(size=(rows, n_features))
    X.flush()


def main(kind, n, n_features, count):
    """Measure a map with its answers, or principal components."""
    with tempfile.TemporaryDirectory() as folder, gnomon.running(executor=Measured()):
        _write(f"{folder}/X.npy", n, n_features)
        X = np.load(f"{folder}/X.npy", mmap_mode="r")
        if kind != "map":
            stored_principal_components(ArrayTable(X), count, solver=kind)
            return
        made = gnomon.map(X, n_fitted=count, max_iter=5, random_state=0)
        made.explain().importance_by_label(np.arange(n) % 3)
        made.evaluate()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
