"""Does a map that is had directly save iterations, if UMAP and t-SNE begin at it?

The best of the direct maps, springs solved four times, is the start of UMAP and of t-SNE with their usual number of
iterations and with half of it. Beside it stand the starts that they have: the graph's eigenvectors and principal
components. Losses are summed over all pairs; processor time counts the making of the start, and is without the search
for neighbours, which all share.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import TSNE, UMAP, running
from gnomon._threads import resolve_n_threads
from gnomon.kernels import Cauchy
from gnomon.objectives import CrossEntropy, KLDivergence
from gnomon.theory import direct
from studies.output import parse, parser, write_json
from studies.tables import load_rows

__all__ = ["main"]

Points = npt.NDArray[Any]

_TABLES: Mapping[str, int] = {"digits": 1797, "paul15": 2730, "pbmc4k": 4000, "mnist": 6000}
_SOLVES = 4


def _halved(method: Any) -> dict[str, int]:
    """Return half the iterations of a fitted method."""
    if isinstance(method, UMAP):
        return {"max_iter": method.n_iter_ // 2}
    early = {name: getattr(method, name) // 2 for name in ("early_exaggeration_iter", "annealing_iter")}
    return {"max_iter": method.n_iter_ // 2, **early}


def _fits(make: Callable[..., Any], X: Points, start: Points, start_seconds: float) -> dict[str, dict[str, float]]:
    """Return the loss and the processor time of fits from the usual start and from the direct one."""
    usual = make()
    usual.fit(X)
    half = _halved(usual)
    if isinstance(usual, UMAP):
        exact: Any = CrossEntropy(usual.affinities_, usual.kernel_, evaluation="exact")
    else:
        exact = KLDivergence(usual.affinities_, Cauchy(), evaluation="exact")
    found = {}
    for told, given, seconds in (
        ("usual start", {}, 0.0),
        ("usual start, half the iterations", half, 0.0),
        ("direct start", {"init": start}, start_seconds),
        ("direct start, half the iterations", {"init": start, **half}, start_seconds),
    ):
        method = make(precomputed_knn=usual.graph_, **given)
        began = time.process_time()
        Y = method.fit_transform(X)
        found[told] = {"loss": float(exact.loss(Y)), "cpu_seconds": time.process_time() - began + seconds}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    made = parser("direct_starts", __doc__ or "")
    made.add_argument("--seeds", type=int, default=3)
    options = parse(made, arguments)
    results: dict[str, Any] = {}
    print("| table | method | fit | loss over that of the usual fit | CPU s |")
    print("|---|---|---|---|---|")
    with running(n_threads=resolve_n_threads(options.jobs)):
        for name, rows in _TABLES.items():
            X, _ = load_rows(name, rows, seed=options.seed)
            X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]  # UMAP puts equal rows into one place
            umap = UMAP(random_state=options.seed).fit(X)
            began = time.process_time()
            start = direct.balanced_map(umap.affinities_, umap.kernel_, n_solves=_SOLVES).astype(np.float32)
            seconds = time.process_time() - began
            for kind in (UMAP, TSNE):
                of_seeds = [
                    _fits(lambda kind=kind, seed=seed, **given: kind(random_state=seed, **given), X, start, seconds)
                    for seed in range(options.seed, options.seed + options.seeds)
                ]
                results.setdefault(name, {"rows": len(X), "start_seconds": seconds})[kind.__name__] = of_seeds
                for told in of_seeds[0]:
                    over = [one[told]["loss"] / one["usual start"]["loss"] - 1.0 for one in of_seeds]
                    least = min(one[told]["cpu_seconds"] for one in of_seeds)
                    share = f"{100.0 * np.mean(over):+.2f} % ({100.0 * min(over):+.2f} to {100.0 * max(over):+.2f})"
                    print(f"| {name} {len(X):,} | {kind.__name__} | {told} | {share} | {least:.2f} |", flush=True)
            write_json(options.out, "direct_starts", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
