"""Does `gnomon.blind_spots` find the changes that a map is known not to show?

The answers are known from how the methods work. t-SNE and UMAP read a table through the neighbours of each row, whose
distances they measure in units of their own. While a cluster's rows have all their neighbours in it, nothing of it
changes for them if it is made wider, moved, or raised in a feature; from a random start, which knows no table (that of
principal components does show where clusters lie), the map is the same. Isomap reads distances along paths, the same
on a rolled sheet and a flat one. Principal components show a cluster that moves: of them nothing must be found.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import PCA, TSNE, UMAP, Isomap, blind_spots, running
from gnomon._threads import resolve_n_threads
from gnomon.twins import Distance, Shift, Unfolded, Width
from studies.output import parse, parser, write_json
from studies.rates import told_share, wilson

__all__ = ["main"]

Table = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]
_FLOOR = 1e-3  # disparity of maps that look the same whatever other seeds do
_KINDS = {"widened": Width, "moved": Distance, "raised in a feature": Shift, "rolled": Unfolded}


def _clusters(seed: int) -> Table:
    """Return three clusters of 30 rows, of widths 1, 0.5 and 2, each 60 from the others."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat([0, 1, 2], 30)
    noise = np.array([1.0, 0.5, 2.0])[kinds, None] * rng.normal(size=(90, 4))
    return 60.0 / np.sqrt(2.0) * np.eye(4)[kinds] + noise, kinds


def _sheet(seed: int) -> Table:
    """Return a sheet rolled once around, of 400 rows: no row has neighbours on another turn."""
    rng = np.random.default_rng(seed)
    angle = 1.5 * np.pi + 2.0 * np.pi * rng.uniform(size=400)
    roll = np.stack([angle * np.cos(angle), 10.0 * rng.uniform(size=400), angle * np.sin(angle)], axis=1)
    return roll, np.zeros(400, dtype=np.int64)


_CASES: Mapping[str, tuple[Callable[[int], Table], Callable[[int], Any], tuple[str, ...]]] = {
    "t-SNE": (
        _clusters,
        lambda seed: TSNE(perplexity=8, init="random", random_state=seed),
        ("widened", "moved", "raised in a feature"),
    ),
    "UMAP": (
        _clusters,
        lambda seed: UMAP(n_neighbors=10, init="random", random_state=seed),
        ("widened", "moved", "raised in a feature"),
    ),
    "Isomap": (_sheet, lambda seed: Isomap(n_neighbors=10), ("rolled",)),
    "PCA": (_clusters, lambda seed: PCA(), ("moved",)),
}
"""By method: a table of a seed, the method, and what the map is asked to hide; of PCA, what it shows."""


def _case(name: str, seeds: Sequence[int], jobs: int | None) -> dict[str, Any]:
    """Return of each kind of change in how many tables every one of it was found, and the disparities."""
    make, method, kinds = _CASES[name]
    found: dict[str, Any] = {kind: {"tables": 0, "below_floor": 0, "disparity": []} for kind in kinds}
    of_seeds = []
    for seed in seeds:
        X, groups = make(seed)
        spots = blind_spots(method(seed), X, labels=groups, n_shifts=1, random_state=seed, n_jobs=jobs)
        of_seeds.append(spots.threshold)
        for kind in kinds:
            twins = [twin for twin in spots.twins if isinstance(twin.change, _KINDS[kind])]
            least = [twin.disparity for twin in twins]
            found[kind]["tables"] += bool(twins) and all(twin.same for twin in twins)
            found[kind]["below_floor"] += bool(twins) and max(least) <= _FLOOR
            found[kind]["disparity"].append(max(least, default=float("nan")))
    for kind in kinds:
        found[kind]["interval"] = wilson(found[kind]["tables"], len(seeds))
    return {"kinds": found, "median of two seeds": of_seeds}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    made = parser("blind_spots", __doc__ or "")
    made.add_argument("--tables", type=int, default=50, help="for each method")
    options = parse(made, arguments)
    seeds = range(options.seed, options.seed + options.tables)
    results: dict[str, Any] = {}
    print("| map | change | tables in which all were found | below 0.001 | largest disparity | two seeds, median |")
    print("|---|---|---|---|---|---|")
    with running(n_threads=resolve_n_threads(options.jobs)):
        for name in _CASES:
            begin = time.process_time()
            results[name] = _case(name, seeds, options.jobs)
            results[name]["cpu_seconds"] = time.process_time() - begin
            between = float(np.median(results[name]["median of two seeds"]))
            for kind, found in results[name]["kinds"].items():
                print(
                    f"| {name} | {kind} | {told_share(found['tables'], len(seeds))} | {found['below_floor']} | "
                    f"{np.nanmax(found['disparity']):.1g} | {between:.2g} |",
                    flush=True,
                )
            write_json(options.out, "blind_spots", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
