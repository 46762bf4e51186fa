"""Clusters found without labels: beside EVoC, in tables without any, and with features planted that set them apart.

    python -m benchmarks.clusters --evoc-python ../evoc/bin/python

Four parts, each of which can be run by itself (`--parts`):

- real: the adjusted Rand index (ARI) between clusters and labels, rows in no cluster counted as one more cluster, for
  `gnomon.find_clusters` and EVoC [1]_, both with their defaults, over several seeds; the mean counts.
- noise: tables of one cloud, in each of which no cluster must be claimed.
- curved: the same of one thread or sheet that is bent, where p-values are not exact.
- planted: clusters, some within others, of which it is known which features set each apart; a caption is right if it
  names one of these and no other feature.

.. [1] Tutte Institute, EVoC: embedding vector oriented clustering, https://github.com/TutteInstitute/evoc.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.summary import table_of

Floats = npt.NDArray[np.float64]

_EVOC = """
import json, sys, time
import numpy as np, evoc
X = np.load(sys.argv[1])
for seed in range(int(sys.argv[2])):
    start = time.process_time()
    labels = evoc.EVoC(random_state=seed).fit_predict(X)
    print(json.dumps([np.asarray(labels).tolist(), time.process_time() - start]), flush=True)
"""
_MARGIN = 0.02


def _digits(rows: int) -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data.astype(np.float32), data.target


def _mnist(rows: int) -> tuple[Any, Any]:
    with np.load(_file("mnist.npz")) as data:
        chosen = np.sort(np.random.default_rng(0).choice(len(data["y"]), min(rows, len(data["y"])), replace=False))
        X = data["X"][chosen].reshape(len(chosen), -1).astype(np.float32) / 255
        return _principal(X), data["y"][chosen]


def _cells(rows: int) -> tuple[Any, Any]:
    import scipy.sparse as sp

    with np.load(_file("pbmc4k.npz")) as data:
        X = sp.csr_matrix((data["data"], data["indices"], data["indptr"]), shape=data["shape"])
        return _principal(X.toarray()), data["y"]


def _file(name: str) -> str:
    return os.path.join(os.environ.get("GNOMON_DATA", "."), name)


def _principal(X: Any) -> Any:
    from sklearn.decomposition import PCA

    return PCA(50, random_state=0).fit_transform(X).astype(np.float32)


REAL: dict[str, Callable[[int], tuple[Any, Any]]] = {"digits": _digits, "mnist": _mnist, "cells": _cells}


def _correlated(draw: np.random.Generator, n: int) -> Floats:
    return np.asarray(draw.normal(size=(n, 20)) @ (draw.normal(size=(20, 20)) * np.exp(-np.arange(20) / 4)[:, None]))


NOISE: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal, 20 features": lambda draw, n: draw.normal(size=(n, 20)),
    "normal, 2 features": lambda draw, n: draw.normal(size=(n, 2)),
    "correlated normal": _correlated,
    "even, 20 features": lambda draw, n: draw.uniform(size=(n, 20)),
    "even, 2 features": lambda draw, n: draw.uniform(size=(n, 2)),
    "Student's t, 3 degrees": lambda draw, n: draw.standard_t(3, size=(n, 20)),
    "radial t, 2 degrees": lambda draw, n: draw.normal(size=(n, 20)) / np.sqrt(draw.chisquare(2, size=(n, 1))),
    "lognormal": lambda draw, n: np.exp(draw.normal(size=(n, 20))),
}
"""Tables of one cloud."""


def _ring(draw: np.random.Generator, n: int, turn: float) -> Floats:
    angle = turn * draw.uniform(size=n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.08 * draw.normal(size=(n, 2))


def _roll(draw: np.random.Generator, n: int) -> Floats:
    angle = 1.5 * np.pi * (1.0 + 2.0 * draw.uniform(size=n))
    return np.stack([angle * np.cos(angle), 21.0 * draw.uniform(size=n), angle * np.sin(angle)], axis=1)


def _s_curve(draw: np.random.Generator, n: int) -> Floats:
    angle = 3.0 * np.pi * (draw.uniform(size=n) - 0.5)
    return np.stack([np.sin(angle), 2.0 * draw.uniform(size=n), np.sign(angle) * (np.cos(angle) - 1.0)], axis=1)


CURVED: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "ring": lambda draw, n: _ring(draw, n, 2.0 * np.pi),
    "horseshoe": lambda draw, n: _ring(draw, n, 1.7 * np.pi),
    "rolled sheet": _roll,
    "S-shaped sheet": _s_curve,
}
"""Tables of one curved thread or sheet, of even density, where no p-value is exact."""


def planted(draw: np.random.Generator, n: int) -> tuple[Floats, list[npt.NDArray[np.int64]], list[list[set[int]]]]:
    """Return a table, the true clusters at two levels, and for each the features that set it apart from its siblings.

    Four groups, the first two of which fall into three each; 40 features, of which 10 matter.
    """
    groups, inner = draw.integers(0, 4, n), draw.integers(0, 3, n)
    X = draw.normal(size=(n, 40))
    drivers: list[list[set[int]]] = [[], []]
    for g in range(4):
        X[groups == g, g] += draw.uniform(16.0, 22.0)
        drivers[0].append(set(range(4)))
    fine = groups.copy()
    for g in range(2):
        for s in range(3):
            rows = (groups == g) & (inner == s)
            X[rows, 4 + 3 * g + s] += draw.uniform(5.0, 9.0)
            fine[rows] = 4 + 3 * g + s
    for g in range(10):
        drivers[1].append(
            set() if g < 2 else set(range(4)) if g < 4 else set(range(4 + (g - 4) // 3 * 3, 7 + (g - 4) // 3 * 3))
        )
    return X, [groups, fine], drivers


def _ours(X: Any, seed: int) -> tuple[Any, float]:
    from gnomon import find_clusters

    start = time.process_time()
    found = find_clusters(X, random_state=seed)
    return found.labels, time.process_time() - start


def _evoc(python: str, X: Any, seeds: int) -> list[tuple[Any, float]]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        np.save(path, X)
        command = [python, "-c", _EVOC, path, str(seeds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return []
    return [(np.array(labels), seconds) for labels, seconds in map(json.loads, done.stdout.splitlines())]


def _real(options: argparse.Namespace) -> None:
    from sklearn.metrics import adjusted_rand_score

    rows = []
    for name in options.sets:
        X, y = REAL[name](options.rows)
        runs = {"gnomon": [_ours(X, seed) for seed in range(options.seeds)]}
        if options.evoc_python:
            runs["EVoC"] = _evoc(options.evoc_python, X, options.seeds)
        means = {}
        for tool, found in runs.items():
            if not found:
                continue
            scores = [adjusted_rand_score(y, labels) for labels, _ in found]
            means[tool] = float(np.mean(scores))
            sizes = [int(labels.max()) + 1 for labels, _ in found]
            none = np.mean([np.mean(labels < 0) for labels, _ in found])
            rows.append(
                [
                    f"{name}, {len(y):,} rows",
                    tool,
                    f"{means[tool]:.3f} ({min(scores):.3f} to {max(scores):.3f})",
                    f"{min(sizes)} to {max(sizes)}",
                    f"{100 * none:.1f} %",
                    f"{np.median([seconds for _, seconds in found]):.1f}",
                ]
            )
        if len(means) == 2:
            rows[-1].append("met" if means["gnomon"] >= means["EVoC"] - _MARGIN else "missed")
    header = ["data", "tool", "ARI, mean (range)", "clusters", "in none", "CPU s", "bar"]
    print(table_of(header, [[*row, *[""] * (len(header) - len(row))] for row in rows]))


def _noise(options: argparse.Namespace) -> None:
    _count_claims(NOISE, "one cloud", options)


def _curved(options: argparse.Namespace) -> None:
    _count_claims(CURVED, "one curved thread or sheet", options)


def _count_claims(kinds: dict[str, Callable[..., Floats]], what: str, options: argparse.Namespace) -> None:
    from gnomon import find_clusters

    rows, claimed, total = [], 0, 0
    for number, (name, make) in enumerate(kinds.items()):
        hits = [
            bool(len(find_clusters(make(np.random.default_rng((seed, number)), options.noise_rows), random_state=seed)))
            for seed in range(options.noise_seeds)
        ]
        claimed, total = claimed + sum(hits), total + len(hits)
        rows.append([name, str(len(hits)), str(sum(hits)), "met" if sum(hits) <= 0.05 * len(hits) else "missed"])
    rows.append(["all", str(total), str(claimed), "met" if claimed <= 0.05 * total else "missed"])
    print(table_of([f"{what}, {options.noise_rows:,} rows", "tables", "with clusters", "bar"], rows))


def _planted(options: argparse.Namespace) -> None:
    from sklearn.metrics import adjusted_rand_score

    from gnomon import find_clusters

    right = invented = total = 0
    scores = []
    for seed in range(options.planted_seeds):
        X, truth, drivers = planted(np.random.default_rng((seed, 99)), options.noise_rows)
        found = find_clusters(X, random_state=seed)
        scores.append(max(adjusted_rand_score(truth[1], level.labels) for level in found.levels))
        for level in found.levels:
            fits = [adjusted_rand_score(one, level.labels) for one in truth]
            depth = int(np.argmax(fits))
            for cluster in level.clusters:
                inside = truth[depth][level.labels == cluster.number]
                expected = drivers[depth][int(np.bincount(inside).argmax())]
                named = set() if cluster.caption is None else set(cluster.caption.indices.tolist())
                total += 1
                right += bool(named & expected)
                invented += bool(named - set(range(10)))
    share, wrong = right / max(total, 1), invented / max(total, 1)
    rows = [[str(options.planted_seeds), str(total), f"{100 * share:.1f} %", f"{100 * wrong:.1f} %"]]
    rows[0] += [f"{np.mean(scores):.3f}", "met" if share >= 0.95 else "missed"]
    header = ["tables", "captions", "name a planted driver", "name another feature", "ARI of the finer truth", "bar"]
    print(table_of(header, rows))


PARTS = {"real": _real, "noise": _noise, "curved": _curved, "planted": _planted}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--sets", nargs="+", default=list(REAL), choices=list(REAL))
    parser.add_argument("--evoc-python", help="an interpreter that has evoc; left out without it")
    parser.add_argument("--rows", type=int, default=10_000, help="rows of MNIST")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each tool")
    parser.add_argument("--noise-rows", type=int, default=1000, help="rows of each drawn table")
    parser.add_argument("--noise-seeds", type=int, default=40, help="tables of each kind of noise")
    parser.add_argument("--planted-seeds", type=int, default=20, help="tables with planted clusters")
    options = parser.parse_args()
    for part in options.parts:
        PARTS[part](options)
        print()


if __name__ == "__main__":
    main()
