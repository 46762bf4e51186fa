"""Plant wrong labels and strange rows in tables, and look for them in the data and in the map.

python -m benchmarks.suspects
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/suspects.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon.explanations.outliers import find_outliers
from gnomon.explanations.suspects import find_suspects
from gnomon.neighbors import compute_neighbors

__all__ = ["find_strange_rows", "find_wrong_labels", "main", "plant_labels", "plant_rows"]

Floats = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
_N_NEIGHBORS = 15
_SHARE = 0.05  # of the rows that get a wrong label, and of the rows added that are strange


def plant_labels(labels: Any, seed: int) -> tuple[npt.NDArray[Any], Bools]:
    """Return labels of which 5 % are another class, any with equal chance, and which are."""
    rng = np.random.default_rng(seed)
    classes, codes = np.unique(labels, return_inverse=True)
    wrong = np.zeros(len(codes), dtype=np.bool_)
    wrong[rng.choice(len(codes), int(_SHARE * len(codes)), replace=False)] = True
    codes[wrong] = (codes[wrong] + rng.integers(1, len(classes), int(wrong.sum()))) % len(classes)
    return classes[codes], wrong


def plant_rows(X: Floats, labels: Any, kind: str, seed: int) -> tuple[Floats, Bools]:
    """Return a table with 5 % of strange rows added, and which they are.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    kind : {"mixtures", "shuffled"}
        Means of two rows with different labels; rows whose values change places.
    seed : int
    """
    rng = np.random.default_rng(seed)
    m = int(_SHARE * len(X))
    if kind == "shuffled":
        planted = rng.permuted(X[rng.choice(len(X), m, replace=False)], axis=1)
    else:
        one = rng.choice(len(X), m, replace=False)
        other = np.array([rng.choice(np.flatnonzero(labels != labels[i])) for i in one])
        planted = (X[one] + X[other]) / 2
    return np.concatenate([X, planted.astype(X.dtype)]), np.arange(len(X) + m) >= len(X)


def find_wrong_labels(X: Floats, Y: Floats, labels: Any, wrong: Bools) -> dict[str, float]:
    """Return the AUC of planted errors by the scores of gnomon, of a plain vote in the data, and of one in the map."""
    from sklearn.metrics import roc_auc_score

    graph, in_map = compute_neighbors(X, _N_NEIGHBORS), compute_neighbors(Y, _N_NEIGHBORS)
    return {
        "gnomon": roc_auc_score(wrong, find_suspects(graph, labels).scores),
        "plain kNN": roc_auc_score(wrong, np.mean(labels[graph.indices] != labels[:, None], axis=1)),
        "in the map": roc_auc_score(wrong, np.mean(labels[in_map.indices] != labels[:, None], axis=1)),
    }


def find_strange_rows(X: Floats, Y: Floats, strange: Bools) -> dict[str, float]:
    """Return the AUC of planted rows by the scores of gnomon, of scikit-learn, and of gnomon in the map."""
    from sklearn.metrics import roc_auc_score
    from sklearn.neighbors import LocalOutlierFactor

    library = LocalOutlierFactor(_N_NEIGHBORS).fit(X)
    return {
        "gnomon": roc_auc_score(strange, find_outliers(compute_neighbors(X, _N_NEIGHBORS)).scores),
        "scikit-learn": roc_auc_score(strange, -library.negative_outlier_factor_),
        "in the map": roc_auc_score(strange, find_outliers(compute_neighbors(Y, _N_NEIGHBORS)).scores),
    }


def _map_of(X: Floats, seed: int) -> Floats:
    return np.asarray(gnomon.UMAP(random_state=seed).fit_transform(X), dtype=np.float32)


def _scores_of(X: Floats, labels: Any, seed: int) -> dict[str, dict[str, float]]:
    """Return the scores by what was planted."""
    given, wrong = plant_labels(labels, seed)
    found = {"labels": find_wrong_labels(X, _map_of(X, seed), given, wrong)}
    for kind in ("mixtures", "shuffled"):
        larger, strange = plant_rows(X, labels, kind, seed)
        found[kind] = find_strange_rows(larger, _map_of(larger, seed), strange)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suspects", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["digits", "mnist", "pbmc68k_reduced"], help="see load_table")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write all scores here")
    options = parser.parse_args(arguments)
    results: list[dict[str, Any]] = []
    for name in options.data:
        X, labels = load_table(name, options.rows)
        runs = [_scores_of(X, labels, seed) for seed in range(options.seeds)]
        for planted in runs[0]:
            for tool in runs[0][planted]:
                scores = [run[planted][tool] for run in runs]
                results.append({"data": name, "planted": planted, "by": tool, "auc": scores})
    columns = ["data", "planted", "by"]
    lines = [[*(r[c] for c in columns), f"{np.mean(r['auc']):.4f} ± {np.std(r['auc']):.4f}"] for r in results]
    print(table_of([*columns, "AUC, mean ± SD over seeds"], lines))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
