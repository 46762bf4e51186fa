"""Time the stages of fits on one thread and on several, and say what more cores would bring.

GNOMON_DATA=FOLDER python -m benchmarks.scaling --data mnist --pca 50 --methods UMAP TSNE --repeats 3
python -m benchmarks.scaling --data digits --threads 2 --cores 4 8 16

The machine's own speed-up, of threads that share nothing, is measured in the same run: cores that share memory, power
or a processor with other programs give less than one each. The share of a stage that runs on one thread follows by
Amdahl's law from its time on the most threads, and from that share what so many cores bring, each as fast as one alone.
On a busy machine nothing can be said, and the program ends.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/scaling.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.machine import describe_machine, n_cores
from benchmarks.summary import table_of
from benchmarks.tables import load_table

__all__ = ["main", "own_speed_up", "predicted", "serial_share", "stage_times"]

_SIDE = 1024  # of the matrices that threads multiply, each its own
_PRODUCTS = 20
_BUSY = 1.2  # own speed-up below which nothing can be said


def serial_share(speed_up: float, own: float) -> float:
    """Return the share of the time on one thread that does not get shorter on several.

    Parameters
    ----------
    speed_up : float > 0
        Of the stage, on several threads.
    own : float > 1
        Of work without any serial share, on as many threads of the same machine.

    Returns
    -------
    float
        (1 / speed_up - 1 / own) / (1 - 1 / own), in [0, 1].
    """
    return min(max((1.0 / speed_up - 1.0 / own) / (1.0 - 1.0 / own), 0.0), 1.0)


def predicted(share: float, cores: int) -> float:
    """Return the speed-up on so many cores, each as fast as one alone, by Amdahl's law."""
    return 1.0 / (share + (1.0 - share) / cores)


def own_speed_up(n_threads: int) -> float:
    """Return how many times as much so many threads multiply in a second as one does."""
    from threadpoolctl import threadpool_limits

    A = np.random.default_rng(0).random((_SIDE, _SIDE), dtype=np.float32)

    def work(product: npt.NDArray[np.float32]) -> None:
        for _ in range(_PRODUCTS):
            np.matmul(A, A, out=product)

    rates = []
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        for threads in (1, n_threads):
            products = [np.empty_like(A) for _ in range(threads)]
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                list(pool.map(work, products))
                seconds.append(time.perf_counter() - start)
            rates.append(threads / min(seconds))
    return rates[1] / rates[0]


def stage_times(
    method: str, X: npt.NDArray[np.float32], threads: Sequence[int], repeats: int
) -> dict[int, dict[str, float]]:
    """Return median seconds by stage, and of the whole "fit", for each number of threads; runs alternate.

    Parameters
    ----------
    method : str
        Name of an estimator.
    X : ndarray of shape (n_samples, n_features)
    threads : sequence of int
    repeats : int
        Fits of each.
    """
    runs: dict[int, list[dict[str, float]]] = {count: [] for count in threads}
    for _ in range(repeats):
        for count, series in runs.items():
            estimator = getattr(gnomon, method)(random_state=0, n_jobs=count)
            start = time.perf_counter()
            estimator.fit(X)
            series.append({"fit": time.perf_counter() - start, **estimator.timings_})
    return {
        count: {stage: statistics.median(run.get(stage, 0.0) for run in series) for stage in series[0]}
        for count, series in runs.items()
    }


def _rows(times: Mapping[int, Mapping[str, float]], own: float, cores: Sequence[int]) -> list[list[str]]:
    one, most = times[1], times[max(times)]
    rows = []
    for stage in most:
        if min(one[stage], most[stage]) < 0.005 * most["fit"]:
            continue
        speed_up = one[stage] / most[stage]
        share = serial_share(speed_up, own)
        more = [f"{predicted(share, count):.1f}" for count in cores]
        rows.append([stage, f"{one[stage]:.3f}", f"{most[stage]:.3f}", f"{speed_up:.2f}", f"{share:.3f}", *more])
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Time fits and print a table for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--pca", type=int, help="reduce the table to so many components first")
    parser.add_argument("--methods", nargs="+", default=["UMAP", "TSNE"], help="names of estimators")
    parser.add_argument("--threads", type=int, default=n_cores(), help="beside one")
    parser.add_argument("--cores", type=int, nargs="*", default=[4, 8, 16], help="for which to predict")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the times there")
    options = parser.parse_args(arguments)
    if options.threads < 2:
        parser.error(f"--threads must be at least 2, got {options.threads}: one thread is what it is compared with.")
    X, _ = load_table(options.data, options.rows, options.pca)
    machine, own = describe_machine(), own_speed_up(options.threads)
    if own < _BUSY:
        print(f"{options.threads} threads that share nothing: {own:.2f} times one. Other programs run on this machine.")
        return 1
    print(f"{machine['cpu']}, {machine['cores']} cores; {options.threads} threads that share nothing: {own:.2f}")
    found = {}
    for method in options.methods:
        times = stage_times(method, X, (1, options.threads), options.repeats)
        found[method] = times
        print(f"\n## {method}, {X.shape[0]} x {X.shape[1]}\n")
        header = ["stage", "s on 1", f"s on {options.threads}", "speed-up", "serial share"]
        print(table_of([*header, *(f"on {count}" for count in options.cores)], _rows(times, own, options.cores)))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "own": own, "times": found}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
