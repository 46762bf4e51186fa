"""How far from UMAP's best map is any map made of a few eigenvectors, where a graph has many loosely tied parts?

The first eigenvectors of a graph of m equal parts, tied by bridges of small weight, are constant on the parts, so a map
that is any function of q < m of them has a dot for each part, or fewer. Here the dots themselves are free: their best
places are found by descent, which no function of eigenvectors can better. What is left is a lower bound of epsilon for
the whole class, in the limit of weak bridges.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse as sp

from gnomon import running
from gnomon._threads import resolve_n_threads
from gnomon.affinities import Affinities
from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy
from gnomon.optimizers import LBFGS, minimize
from gnomon.theory import direct
from studies.output import parse, parser, write_json

__all__ = ["main"]

_SIZE = 40  # points of a part
_NEAR = 10  # neighbours of a point within its part
_STARTS = 3


def _graph(parts: int, bridge: float, seed: int) -> tuple[Affinities, npt.NDArray[np.int64]]:
    """Return random points in squares joined to their neighbours, and one edge from each part to every other."""
    rng = np.random.default_rng(seed)
    n = parts * _SIZE
    matrix = sp.lil_array((n, n), dtype=np.float32)
    for part in range(parts):
        points = rng.uniform(size=(_SIZE, 2))
        apart = np.square(points[:, None] - points[None]).sum(axis=2)
        for row, near in enumerate(np.argsort(apart, axis=1)[:, 1 : _NEAR + 1]):
            for other in near:
                matrix[part * _SIZE + row, part * _SIZE + other] = matrix[part * _SIZE + other, part * _SIZE + row] = 1
        for other in range(part):
            head, tail = part * _SIZE + rng.integers(_SIZE), other * _SIZE + rng.integers(_SIZE)
            matrix[head, tail] = matrix[tail, head] = bridge
    return Affinities(sp.csr_array(matrix), "membership"), np.repeat(np.arange(parts), _SIZE)


def _dots(loss: CrossEntropy, of: npt.NDArray[np.int64], rng: np.random.Generator) -> float:
    """Return the least loss found of maps that put every part into one dot."""
    parts = int(of.max()) + 1

    def both(places: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        value, slopes = loss.loss_and_gradient(places.reshape(parts, 2)[of].astype(np.float32))
        return value, np.stack([np.bincount(of, column, parts) for column in slopes.T], axis=1).ravel()

    starts = [scale * rng.normal(size=2 * parts) for scale in (1.0, 5.0, 20.0)]
    return min(float(scipy.optimize.minimize(both, start, jac=True, method="L-BFGS-B").fun) for start in starts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(parser("parts_as_dots", __doc__ or ""), arguments)
    kernel, found = UMAPKernel.from_min_dist(0.1), []
    print("| parts | bridge | any dots | eigenvectors | half ranks | springs, 4 |\n|---|---|---|---|---|---|")
    with running(n_threads=resolve_n_threads(options.jobs)):
        for parts in (2, 4, 8, 16):
            for bridge in (0.001, 0.1, 1.0):
                affinities, of = _graph(parts, bridge, options.seed)
                loss, rng = direct.umap_loss(affinities, kernel), np.random.default_rng(options.seed)
                made = {
                    "eigenvectors": direct.eigenmap(affinities, kernel),
                    "half ranks": direct.eigenmap(affinities, kernel, ranks=0.5),
                    "springs, 4": direct.balanced_map(affinities, kernel, n_solves=4),
                }
                starts = [*made.values(), *(5.0 * rng.normal(size=(len(of), 2)) for _ in range(_STARTS))]
                rested = [minimize(LBFGS(max_iter=500), loss, Y.astype(np.float32)).embedding for Y in starts]
                least = min(loss.loss(Y) for Y in rested)
                row: dict[str, Any] = {"parts": parts, "bridge": bridge, "any dots": _dots(loss, of, rng) / least - 1.0}
                row |= {name: loss.loss(Y.astype(np.float32)) / least - 1.0 for name, Y in made.items()}
                found.append(row)
                told = " | ".join(f"{100.0 * value:.0f} %" for value in list(row.values())[2:])
                print(f"| {parts} | {bridge:g} | {told} |", flush=True)
    write_json(options.out, "parts_as_dots", {"rows": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
