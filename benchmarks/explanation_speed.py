"""Time the explanation of a UMAP map of a whole table beside the fit of the map itself, in one process.

python -m benchmarks.explanation_speed --data mnist
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as `python benchmarks/explanation_speed.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon._threads import resolve_n_threads
from gnomon.explanations import explain
from gnomon.geometry import tangent_frames

__all__ = ["main", "measure"]


def _peak() -> float:
    """Return the largest resident memory of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def measure(X: Any, n_jobs: int | None, repeats: int) -> dict[str, tuple[float, float, float]]:
    """Fit UMAP, explain all points, fit their tangent frames and take the frames' importance, turn and turn about.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_jobs : int or None
        Threads; None for all.
    repeats : int

    Returns
    -------
    dict
        By stage: least wall seconds, least CPU seconds, and the peak memory of the process in MiB after its first run.
    """
    found: dict[str, tuple[float, float, float]] = {}

    def timed(stage: str, body: Callable[..., Any], *given: Any, **named: Any) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = body(*given, **named)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        before = found.get(stage, (wall, cpu, _peak()))
        found[stage] = (min(wall, before[0]), min(cpu, before[1]), before[2])
        return result

    n_threads = resolve_n_threads(n_jobs)
    for _ in range(repeats):
        model = timed("UMAP fit", gnomon.UMAP(random_state=0, n_jobs=n_jobs).fit, X)
        timed("explain", explain, X, model.embedding_, graph=model.graph_, n_jobs=n_jobs)
        with gnomon.running(n_threads=n_threads):
            frames = timed("tangent frames", tangent_frames, X, model.graph_)
            timed("importance of frames", frames.mean_importance, X)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explanation_speed", description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--jobs", type=int, help="threads; all by default")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    X, _ = load_table(options.data, options.rows)
    found = measure(X, options.jobs, options.repeats)
    fit = found["UMAP fit"]
    rows = [
        [stage, f"{wall:.2f}", f"{cpu:.2f}", f"{wall / fit[0]:.2f}", f"{cpu / fit[1]:.2f}", f"{peak - fit[2]:+.0f}"]
        for stage, (wall, cpu, peak) in found.items()
    ]
    print(f"{X.shape[0]} rows, {X.shape[1]} columns; peak of the fit {fit[2]:.0f} MiB\n")
    print(table_of(["stage", "wall s", "CPU s", "wall / fit", "CPU / fit", "peak MiB beyond the fit"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
