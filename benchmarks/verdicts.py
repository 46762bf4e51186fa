"""Judge the islands of maps of data whose truth is known, beside the published procedures of EMBEDR and scDEED.

python -m benchmarks.verdicts --seeds 100

In each map the widest gap is looked for, wherever it is: the worst choice that an eye can make. The verdict is right
if it tells parts of different groups apart and calls parts of one group one. EMBEDR and scDEED judge single rows; what
they say of an island is what they say of most of its rows.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.report import table_of

__all__ = ["COMPARISONS", "GAPS", "embedr_p_values", "main", "scdeed_scores", "widest_gap"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
Draw = np.random.Generator
_N = 600
_FEWEST = 50  # rows on either side of a gap in the map
_LEVEL = 0.05


def _gaussians(draw: Draw) -> tuple[Floats, Groups]:
    groups = np.arange(_N) % 2
    return draw.normal(size=(_N, 10)) + 8.0 * np.eye(10)[0] * groups[:, None], groups


def _one(draw: Draw) -> tuple[Floats, Groups]:
    return draw.normal(size=(_N, 10)), np.zeros(_N, dtype=np.int64)


def _heavy(draw: Draw) -> tuple[Floats, Groups]:
    scales = np.sqrt(draw.chisquare(3, (_N, 1)) / 3)
    return draw.normal(size=(_N, 5)) / scales, np.zeros(_N, dtype=np.int64)


def _circles(draw: Draw) -> tuple[Floats, Groups]:
    n = 3 * _N // 2  # rings of one dimension need more rows for their density to stand out from the gap
    angle, groups = draw.uniform(0, 2 * np.pi, n), (np.arange(n) % 4 > 0).astype(np.int64)
    points = (1.0 + 2.0 * groups)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return points + 0.08 * draw.normal(size=(n, 2)), groups


def _sphere(draw: Draw) -> tuple[Floats, Groups]:
    points = draw.normal(size=(_N, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points + 0.02 * draw.normal(size=(_N, 3)), np.zeros(_N, dtype=np.int64)


def _dip(draw: Draw) -> tuple[Floats, Groups]:
    """Draw a bar whose middle sixth holds half as many rows to a length."""
    along = draw.uniform(-3, 3, 4 * _N)
    kept = along[(np.abs(along) > 0.5) | (draw.uniform(size=4 * _N) < 0.5)][:_N]
    return np.c_[kept, 0.3 * draw.normal(size=(_N, 1))], np.zeros(_N, dtype=np.int64)


def _noise(draw: Draw) -> tuple[Floats, Groups]:
    return draw.uniform(size=(_N, 10)), np.zeros(_N, dtype=np.int64)


GAPS: dict[str, Callable[[Draw], tuple[Floats, Groups]]] = {
    "two Gaussians": _gaussians,
    "one Gaussian": _one,
    "heavy tails": _heavy,
    "nested circles": _circles,
    "sphere": _sphere,
    "continuum with a dip": _dip,
    "uniform noise": _noise,
}
"""Makers of tables and of the groups that their rows were drawn from."""


def _three(draw: Draw, second: tuple[float, float], third: tuple[float, float], spreads: tuple[float, ...]) -> Floats:
    """Draw three Gaussian groups in ten dimensions, the first at 0."""
    centers = np.zeros((3, 10))
    centers[1, :2], centers[2, :2] = second, third
    groups = np.arange(_N) % 3
    return np.asarray(centers[groups] + np.array(spreads)[groups][:, None] * draw.normal(size=(_N, 10)))


_EVEN = (30.0 * 0.5, 30.0 * 0.75**0.5)
COMPARISONS: dict[str, tuple[str, str, Callable[[Draw], Floats]]] = {
    "four times as wide": ("denser", "yes", lambda draw: _three(draw, (60.0, 0.0), (0.0, 60.0), (1.0, 4.0, 1.0))),
    "as wide": ("denser", "cannot be told", lambda draw: _three(draw, (30.0, 0.0), _EVEN, (1.0, 1.0, 1.0))),
    "twice as far": ("nearer", "yes", lambda draw: _three(draw, (30.0, 0.0), (-60.0, 0.0), (1.0, 1.0, 1.0))),
    "as far": ("nearer", "cannot be told", lambda draw: _three(draw, (30.0, 0.0), _EVEN, (1.0, 1.0, 1.0))),
}
"""Question about the first group, right answer, and maker of three groups."""


def widest_gap(Y: Floats) -> npt.NDArray[np.bool_]:
    """Return one side of the deepest dip of density in a map, with at least 50 rows on either side."""
    from gnomon.evaluation.saddles import Landscape

    landscape = Landscape.of(Y)
    smaller, falls = landscape.dips()
    deepest = int(np.argmax(np.where(smaller >= _FEWEST, falls, -1.0)))
    members: list[list[int]] = [[row] for row in range(len(Y))]
    for i, j, _ in landscape.merges[:deepest]:
        members.append(members[i] + members[j])
    side = np.zeros(len(Y), dtype=np.bool_)
    side[members[landscape.merges[deepest][0]]] = True
    if np.count_nonzero(side) == 1 or smaller[deepest] < _FEWEST:  # no gap at all: halves along the longer axis
        along = Y[:, np.argmax(Y.var(axis=0))]
        side = along > np.median(along)
    return side


def _distances(X: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, X))


def _conditional(squares: Floats, perplexity: float = 30.0) -> Floats:
    """Return Gaussian affinities of each row to the others, of one perplexity, by bisection."""
    low, high = np.full(len(squares), 1e-12), np.full(len(squares), 1e12)
    shifted = squares + np.where(np.eye(len(squares)) > 0, np.inf, 0.0)
    shifted = shifted - shifted.min(axis=1, keepdims=True)
    for _ in range(100):
        beta = np.sqrt(low * high)
        weights = np.exp(-beta[:, None] * shifted)
        P = weights / weights.sum(axis=1, keepdims=True)
        entropy = -np.sum(P * np.log(np.maximum(P, 1e-300)), axis=1)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
    return np.asarray(P)


def _row_divergence(X: Floats, Y: Floats) -> Floats:
    """Return EMBEDR's quality of each row: the divergence of its affinities in the data from those in the map."""
    P = _conditional(_distances(X) ** 2)
    Q = 1.0 / (1.0 + _distances(Y) ** 2)
    np.fill_diagonal(Q, 0.0)
    Q /= Q.sum(axis=1, keepdims=True)
    return np.asarray(np.sum(P * np.log(np.maximum(P, 1e-300) / np.maximum(Q, 1e-300)), axis=1))


def embedr_p_values(X: Floats, Y: Floats, X_null: Floats, Y_null: Floats) -> Floats:
    """Return EMBEDR's p-values: how many rows of the map of shuffled columns are embedded as well.

    References
    ----------
    .. [1] Johnson, Kath & Mani, "EMBEDR: distinguishing signal from noise in single-cell omics data", Patterns 3, 2022.
    """
    null = np.sort(_row_divergence(X_null, Y_null))
    return (1 + np.searchsorted(null, _row_divergence(X, Y), side="right")) / (1 + len(null))


def scdeed_scores(X: Floats, Y: Floats) -> Floats:
    """Return scDEED's reliability of each row: the correlation of distances to its nearest half in data and map.

    References
    ----------
    .. [1] Xia, Lee & Li, "Statistical method scDEED for detecting dubious 2D single-cell embeddings and optimizing
       t-SNE and UMAP hyperparameters", Nature Communications 15, 2024.
    """
    far, shown = _distances(X), _distances(Y)
    half = np.argsort(far, axis=1, kind="stable")[:, 1 : len(X) // 2 + 1]
    a, b = (np.take_along_axis(one, half, axis=1) for one in (far, shown))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    return np.asarray((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))


def _map_of(X: Floats, method: str, seed: int) -> Floats:
    import gnomon

    estimator = {"umap": gnomon.UMAP, "tsne": gnomon.TSNE}[method]
    return np.asarray(estimator(random_state=seed, n_jobs=1).fit_transform(X), dtype=np.float64)


def _most(rows: npt.NDArray[np.bool_]) -> bool:
    return bool(np.count_nonzero(rows) > len(rows) / 2)


def _judge_gap(name: str, method: str, seed: int, baselines: bool) -> dict[str, str]:
    """Return the answers about the widest gap of one map, and the true one."""
    from gnomon.evaluation import are_apart
    from gnomon.evaluation.structureless import draw_structureless

    draw = np.random.default_rng((seed, list(GAPS).index(name)))
    X, groups = GAPS[name](draw)
    Y = _map_of(X, method, seed)
    side = widest_gap(Y)
    shares = [np.bincount(groups[part], minlength=2) / np.count_nonzero(part) for part in (side, ~side)]
    pure = all(share.max() >= 0.95 for share in shares)
    true = "yes" if pure and shares[0].argmax() != shares[1].argmax() else "no"
    found = are_apart(X, Y, side, ~side, random_state=0)
    answers = {"true": true, "verdict": found.answer, "map alone": str(found.in_map), "finding": found.finding}
    if baselines:
        shuffled = draw_structureless(X, "columns", draw)
        Y_null = _map_of(shuffled, method, seed)
        small = side if np.count_nonzero(side) <= len(side) / 2 else ~side
        p_values = embedr_p_values(X, Y, shuffled, Y_null)[small]
        answers["EMBEDR"] = "yes" if _most(p_values <= _LEVEL) else "no"
        null, scores = scdeed_scores(shuffled, Y_null), scdeed_scores(X, Y)[small]
        trusted, dubious = scores > np.quantile(null, 1 - _LEVEL), scores < np.quantile(null, _LEVEL)
        answers["scDEED"] = "yes" if _most(trusted) else "no" if _most(dubious) else "cannot be told"
    return answers


def _judge_comparison(name: str, method: str, seed: int) -> dict[str, str]:
    from gnomon.evaluation import is_denser, is_nearer

    asked, true, make = COMPARISONS[name]
    X = make(np.random.default_rng((seed, 100 + list(COMPARISONS).index(name))))
    Y = _map_of(X, method, seed)
    groups = [np.arange(_N) % 3 == one for one in range(3)]
    found = is_denser(X, Y, *groups[:2]) if asked == "denser" else is_nearer(X, Y, *groups)
    return {"true": true, "verdict": found.answer, "map alone": str(found.in_map), "finding": found.finding}


def _run(task: tuple[str, str, int, bool]) -> tuple[str, str, dict[str, str]]:
    name, method, seed, baselines = task
    if name in GAPS:
        return name, method, _judge_gap(name, method, seed, baselines)
    return name, method, _judge_comparison(name, method, seed)


def _report(found: dict[str, list[dict[str, str]]]) -> str:
    rows = []
    for key, runs in found.items():
        line = [key, str(len(runs))]
        for judge in ("verdict", "map alone", "EMBEDR", "scDEED"):
            known = [one for one in runs if judge in one]
            right = sum(one[judge] == one["true"] for one in known)
            unsure = sum(one[judge] == "cannot be told" != one["true"] for one in known)
            line.append("-" if not known else f"{100 * right / len(known):.0f} % ({100 * unsure / len(known):.0f} %)")
        line.append(", ".join(f"{count} {what}" for what, count in Counter(o["finding"] for o in runs).most_common(3)))
        rows.append(line)
    header = ["data, map", "seeds", "verdict", "map alone", "EMBEDR", "scDEED", "found"]
    return "right (of the rest: cannot be told)\n" + table_of(header, rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="runs of each set")
    parser.add_argument("--sets", nargs="+", default=[*GAPS, *COMPARISONS], choices=[*GAPS, *COMPARISONS])
    parser.add_argument("--methods", nargs="+", default=["umap", "tsne"], choices=["umap", "tsne"])
    parser.add_argument("--no-baselines", action="store_true", help="leave EMBEDR and scDEED out")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", help="write the answers of every run")
    options = parser.parse_args()
    tasks = [
        (name, method, seed, not options.no_baselines)
        for name in options.sets
        for method in options.methods
        for seed in range(options.seeds)
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, method, answers in pool.map(_run, tasks):
            found.setdefault(f"{name}, {method}", []).append(answers)
    print(_report(found))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main()
