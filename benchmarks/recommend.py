"""Does `gnomon.recommend`, which sees no labels, choose maps in which rows of a label lie together?

python -m benchmarks.recommend --rows 1000 --seeds 2

Of each real table, and for each seed of a fresh sample of its rows, the method and parameters are chosen. Then the map
of the choice and those of the methods with their defaults are made with a seed that the choice did not see, and judged
by benchmarks/quality.py: label accuracy and trustworthiness.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/recommend.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.quality import map_quality
from benchmarks.report import table_of
from benchmarks.tables import load_table
from gnomon.methods import METHODS

__all__ = ["SETS", "judge", "load", "main"]

SETS = ("mnist", "cifar10_5k", "paul15", "pbmc4k", "pbmc68k_reduced", "digits", "breast_cancer", "wine", "iris")
DEFAULTS = ("umap", "tsne", "pca", "pacmap", "trimap")
_BUNDLED = ("breast_cancer", "wine", "iris")
_COLUMNS = 50
_JUDGED_SEED = 1000  # beyond those that the choice sees

Made = tuple[str, dict[str, Any]]


def load(name: str, rows: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Return a random sample of the rows of a table, in 50 principal components if it is wide, and their labels."""
    if name in _BUNDLED:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    else:
        X, y = load_table(name)
    assert y is not None
    chosen = np.sort(np.random.default_rng(seed).permutation(len(X))[:rows])
    X, y = X[chosen], np.asarray(y)[chosen]
    if min(X.shape) > _COLUMNS and X.shape[1] > 64:
        from sklearn.decomposition import PCA

        X = PCA(_COLUMNS, svd_solver="covariance_eigh").fit_transform(X)
    return np.ascontiguousarray(X, dtype=np.float32), y


def judge(X: npt.NDArray[np.float32], y: npt.NDArray[Any], made: Made, seed: int) -> dict[str, float]:
    """Return label accuracy and trustworthiness of the map of a method and its parameters."""
    estimators = {card.name: card.estimator for card in METHODS}
    method, parameters = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pieces that a graph falls into
        Y = getattr(gnomon, estimators[method])(random_state=seed, **parameters).fit_transform(X)
    scores = map_quality(X, Y, y)
    return {"accuracy": scores["label_accuracy"], "trustworthiness": scores["trustworthiness"]}


def _of_one(name: str, rows: int, seed: int) -> dict[str, Any]:
    X, y = load(name, rows, seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gnomon.recommend(X, scale=None, random_state=seed)
    seconds = time.perf_counter() - began
    chosen = judge(X, y, (found.method, found.parameters), seed + _JUDGED_SEED)
    defaults = {one: judge(X, y, (one, {}), seed + _JUDGED_SEED) for one in DEFAULTS}
    print(f"{name}, seed {seed}: {found.chosen.name}, {seconds:.0f} s", flush=True)
    return {
        "set": name,
        "rows": len(X),
        "seed": seed,
        "chosen": found.chosen.name,
        "maps": len(found.comparison.trials),
        "seconds": seconds,
        "recommended": chosen,
        "defaults": defaults,
    }


def _means(found: Sequence[dict[str, Any]], measure: str) -> dict[str, float]:
    """Return the mean of a measure over all tables and seeds, of the recommended map and of each default."""
    told = {"recommended": float(np.mean([one["recommended"][measure] for one in found]))}
    for name in DEFAULTS:
        told[name] = float(np.mean([one["defaults"][name][measure] for one in found]))
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit status, 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recommend", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names of tables")
    parser.add_argument("--rows", type=int, default=1000, help="rows of each sample")
    parser.add_argument("--seeds", type=int, default=2, help="samples of each table")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    found = [_of_one(name, options.rows, seed) for name in options.sets for seed in range(options.seeds)]
    rows = []
    for one in found:
        accuracies = [one["recommended"]["accuracy"], *(one["defaults"][name]["accuracy"] for name in DEFAULTS)]
        trust = one["recommended"]["trustworthiness"]
        best = max(scores["trustworthiness"] for scores in one["defaults"].values())
        rows.append(
            [one["set"], str(one["seed"]), one["chosen"], *(f"{v:.3f}" for v in accuracies), f"{trust - best:+.4f}"]
        )
    means = _means(found, "accuracy")
    rows.append(["mean", "", "", *(f"{v:.3f}" for v in means.values()), ""])
    print(table_of(["table", "seed", "recommended", "accuracy", *DEFAULTS, "trust - best default's"], rows))
    best_default = max(DEFAULTS, key=lambda name: means[name])
    behind = max(
        max(scores["trustworthiness"] for scores in one["defaults"].values()) - one["recommended"]["trustworthiness"]
        for one in found
    )
    print(
        f"recommended {means['recommended']:.4f}; best fixed default, {best_default}, {means[best_default]:.4f}; "
        f"trustworthiness at most {behind:.4f} below the best default's"
    )
    if options.json:
        options.json.write_text(json.dumps({"runs": found, "accuracy": means, "trust_behind": behind}, indent=1) + "\n")
    return 0 if means["recommended"] >= means[best_default] and behind <= 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
