"""Do the pieces of data and map tell a map from places that know nothing of the data?

Two ways to compare them: by their diagrams, the scales at which pieces join whichever rows they hold, and by the
scales at which each pair of rows comes into one piece, as `topology_h0` of a scorecard does. Both are taken of maps, of
a cloud of normal places and of a map whose rows were shuffled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.summary import table_of
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from gnomon.evaluation.topology import diagram_agreement, joining_agreement
from studies.embedders import embed_here
from studies.output import parse, parser, write_json
from studies.tables import load_rows

__all__ = ["main"]

Floats = npt.NDArray[np.float64]

_METHODS = ("pca", "mds", "tsne", "umap")
_CLUSTERS = "five clusters"


def _clusters(rows: int, seed: int) -> npt.NDArray[np.float32]:
    draw = np.random.default_rng(seed)
    centers = 6.0 * draw.normal(size=(5, 10))
    return (centers[np.arange(rows) % 5] + draw.normal(size=(rows, 10))).astype(np.float32)


def diagrams_alike(a: Floats, b: Floats) -> float:
    """Return how alike the H0 diagrams of two matrices of distances are, each in units of its mean death."""
    bars = []
    for distances in (a, b):
        deaths = minimum_spanning_tree(distances).data
        bars.append(np.column_stack([np.zeros_like(deaths), deaths / deaths.mean()]))
    return diagram_agreement(*bars)


def _judge(X: Any, options: Any, seed: int) -> dict[str, dict[str, float]]:
    draw = np.random.default_rng(seed)
    maps = {name: embed_here(name, X, seed=seed, n_jobs=options.jobs) for name in _METHODS}
    maps |= {"umap, rows shuffled": draw.permutation(maps["umap"]), "normal places": draw.normal(size=(len(X), 2))}
    apart = cdist(X, X)
    return {
        name: {"diagrams": diagrams_alike(apart, cdist(Y, Y)), "rows": joining_agreement(apart, cdist(Y, Y))}
        for name, Y in maps.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("pieces_joined", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=[_CLUSTERS, "swiss_roll", "digits", "iris"], help="data sets")
    made.add_argument("--rows", type=int, default=300, help="rows of each random sample")
    made.add_argument("--seeds", type=int, default=3)
    options = parse(made, arguments)
    report, lines = {}, []
    for name in options.sets:
        found = []
        for seed in range(options.seed, options.seed + options.seeds):
            made_here = name == _CLUSTERS
            X = _clusters(options.rows, seed) if made_here else load_rows(name, options.rows, seed=seed)[0]
            found.append(_judge(X, options, seed))
        report[name] = {
            map_: {way: float(np.mean([one[map_][way] for one in found])) for way in ("diagrams", "rows")}
            for map_ in found[0]
        }
        told = report[name].values()
        lines += [[f"{name}, {way}", *(f"{one[way]:.2f}" for one in told)] for way in ("diagrams", "rows")]
    print(table_of(["pieces compared by", *next(iter(report.values()))], lines))
    write_json(options.out, "pieces_joined", {"rows": options.rows, "seeds": options.seeds, "sets": report})
    return 0


if __name__ == "__main__":
    sys.exit(main())
