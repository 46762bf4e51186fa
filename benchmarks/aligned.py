"""Aligned maps of several tables, beside umap-learn's AlignedUMAP: how far shared rows move, and what it costs.

python -m benchmarks.aligned --sets digits mnist_noise pbmc4k
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/aligned.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.quality import compare_neighborhoods
from benchmarks.summary import table_of
from benchmarks.tables import load_table

__all__ = ["judge", "main", "tables_of"]

Floats = npt.NDArray[np.floating]
Ids = list[npt.NDArray[np.int64]]
SETS = ("digits", "mnist_noise", "pbmc4k")
_NEIGHBORS = 15
_VOTERS = 10


def tables_of(name: str) -> tuple[list[Floats], Ids, list[npt.NDArray[Any]]]:
    """Return tables, the number of each row's object and its class.

    "digits": the digits in the order of their classes, in windows of 400 rows of which 250 are in the next, as
    umap-learn's own example. "mnist_noise": 2,000 digits of MNIST in 50 principal components, five times, with noise
    that adds up. Any other table: three random halves of it, in 50 principal components.
    """
    rng = np.random.default_rng(0)
    if name == "digits":
        X, y = load_table("digits")
        order = np.argsort(y, kind="stable")
        ids = [order[first : first + 400] for first in range(0, len(X) - 250, 150)]
    elif name == "mnist_noise":
        X, y = load_table("mnist", rows=2000, pca=50)
        ids = [np.arange(len(X))] * 5
    else:
        X, y = load_table(name, rows=4000, pca=50)
        ids = [np.sort(rng.choice(len(X), len(X) // 2, replace=False)) for _ in range(3)]
    y = np.zeros(len(X)) if y is None else y
    tables, noise = [], np.zeros_like(X)
    for own in ids:
        tables.append((X + noise)[own])
        if name == "mnist_noise":
            noise += rng.standard_normal(X.shape).astype(X.dtype) * (0.3 * X.std())
    return tables, [own.astype(np.int64) for own in ids], [np.asarray(y)[own] for own in ids]


def _of_umap_learn(tables: list[Floats], ids: Ids, seed: int, **parameters: Any) -> list[Floats]:
    from umap import AlignedUMAP

    relations = []
    for one, two in pairwise(ids):
        _, first, second = np.intersect1d(one, two, return_indices=True)
        relations.append(dict(zip(first.tolist(), second.tolist(), strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of seeds and threads
        maps = AlignedUMAP(n_neighbors=_NEIGHBORS + 1, random_state=seed, **parameters)  # it counts the row itself
        return list(maps.fit(tables, relations=relations).embeddings_)


def _of_gnomon(tables: list[Floats], ids: Ids, seed: int, **parameters: Any) -> list[Floats]:
    maps = gnomon.AlignedMaps("umap", n_neighbors=_NEIGHBORS, random_state=seed, **parameters)
    return list(maps.fit(tables, ids=ids).embeddings_)


Tool = Callable[[list[Floats], Ids, int], list[Floats]]
TOOLS: dict[str, Tool] = {
    "gnomon": _of_gnomon,
    "gnomon, weight 0": lambda tables, ids, seed: _of_gnomon(tables, ids, seed, alignment_weight=0),
    "gnomon, weight 1": lambda tables, ids, seed: _of_gnomon(tables, ids, seed, alignment_weight=1),
    "umap-learn": _of_umap_learn,
    "umap-learn, 0.1": lambda tables, ids, seed: _of_umap_learn(tables, ids, seed, alignment_regularisation=0.1),
}


def judge(maps: list[Floats], tables: list[Floats], ids: Ids, classes: list[npt.NDArray[Any]]) -> dict[str, float]:
    """Return mean trustworthiness and accuracy of the maps, and how far shared rows move, in spreads of the maps."""
    from sklearn.neighbors import KNeighborsClassifier

    trust, votes, apart = [], [], []
    for X, Y, y in zip(tables, maps, classes, strict=True):
        trust.append(compare_neighborhoods(np.asarray(X), np.asarray(Y), _NEIGHBORS).trustworthiness)
        near = KNeighborsClassifier(_VOTERS).fit(Y, y).kneighbors(return_distance=False)  # others than the row itself
        values, codes = np.unique(y, return_inverse=True)
        counts = np.stack([(codes[near] == code).sum(axis=1) for code in range(len(values))], axis=1)
        votes.append(float(np.mean(counts.argmax(axis=1) == codes)))
    spread = float(np.sqrt(np.mean([np.var(Y, axis=0).sum() for Y in maps])))
    for t in range(len(maps) - 1):
        _, first, second = np.intersect1d(ids[t], ids[t + 1], return_indices=True)
        apart.append(np.linalg.norm(np.asarray(maps[t])[first] - np.asarray(maps[t + 1])[second], axis=1) / spread)
    far = np.concatenate(apart)
    return {
        "trustworthiness": float(np.mean(trust)),
        "accuracy": float(np.mean(votes)),
        "displacement": float(np.median(far)),
        "90 % below": float(np.quantile(far, 0.9)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Map every set with every tool and print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args(arguments)
    small = np.random.default_rng(0).standard_normal((80, 5)).astype(np.float32)
    found: dict[str, dict[str, dict[str, float]]] = {}
    tools: dict[str, Tool] = {}
    for name in given.tools:
        try:
            TOOLS[name]([small, small], [np.arange(80)] * 2, 0)  # what is compiled or imported is not counted
            tools[name] = TOOLS[name]
        except ImportError as error:
            print(f"{name} is left out: {error}")
    for name in given.sets:
        tables, ids, classes = tables_of(name)
        scores: dict[str, list[dict[str, float]]] = {tool: [] for tool in tools}
        for seed in range(given.seeds):
            for tool, make in tools.items():
                begin, cpu = time.perf_counter(), time.process_time()
                maps = make(tables, ids, seed)
                seconds = {"wall s": time.perf_counter() - begin, "CPU s": time.process_time() - cpu}
                scores[tool].append({**judge(maps, tables, ids, classes), **seconds})
        means = {
            tool: {key: float(np.mean([one[key] for one in all_])) for key in all_[0]} for tool, all_ in scores.items()
        }
        base = means.get("gnomon", {})
        for own in means.values():
            for kind in ("wall", "CPU"):
                own[f"{kind} / gnomon"] = own[f"{kind} s"] / base[f"{kind} s"] if base else float("nan")
        found[name] = means
        shapes = f"{len(tables)} tables of {min(map(len, tables))} to {max(map(len, tables))} rows"
        print(f"\n{name}, {shapes}, {given.seeds} seeds\n")
        columns = ["tool", *next(iter(means.values()))]
        print(
            table_of(columns, [[tool, *(f"{value:.4g}" for value in own.values())] for tool, own in means.items()]),
            flush=True,
        )
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
