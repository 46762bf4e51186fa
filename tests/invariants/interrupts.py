"""Fits that are interrupted at random moments, in a process of their own: python interrupts.py SEED N_MOMENTS METHOD...

After each interrupt the same estimator and another one are fitted to the end: their maps are those of fits that nothing
interrupted. The last line printed is how many interrupts came during a fit.
"""

from __future__ import annotations

import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from gnomon._run import current_run
from quick import fresh

_LONGER = {"max_iter": 60}  # where a method takes steps
_inside = False


def _interrupt(number, frame):
    global _inside
    if _inside:  # else it came after the fit
        _inside = False
        raise KeyboardInterrupt


def main(seed, n_moments, names):
    global _inside
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _interrupt)
    rng = random.Random(seed)
    X = np.random.default_rng(seed).standard_normal((250, 6))
    n_heard = 0
    for name in names:
        fresh(name, **_LONGER).fit(X)
        began = time.perf_counter()
        expected = fresh(name, **_LONGER).fit(X).embedding_.tobytes()
        duration = time.perf_counter() - began
        for _ in range(n_moments):
            one = fresh(name, **_LONGER)
            signal.setitimer(signal.ITIMER_REAL, max(1e-5, rng.random() * duration))
            _inside = True
            try:
                one.fit(X)
                _inside = False
            except KeyboardInterrupt:
                n_heard += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert current_run().name == "", name
            assert one.fit(X).embedding_.tobytes() == expected, name
            assert fresh(name, **_LONGER).fit(X).embedding_.tobytes() == expected, name
    print(n_heard)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
