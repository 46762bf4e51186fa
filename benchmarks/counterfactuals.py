"""Ask a classifier that knows nothing of the map whether counterfactual rows belong to their target.

GNOMON_DATA=folder python -m benchmarks.counterfactuals --data digits breast_cancer wine mnist paul15
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

if __package__ in (None, ""):  # started as `python benchmarks/counterfactuals.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from benchmarks.tables import load_table

__all__ = ["agreement", "main"]

_BUNDLED = ("breast_cancer", "wine")  # besides digits


def _labelled_table(name: str, rows: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Return a table with its labels; those of unlike units standardised."""
    if name not in _BUNDLED:
        X, labels = load_table(name, rows)
        assert labels is not None
        return X, labels
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    X, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return StandardScaler().fit_transform(X).astype(np.float32), labels


def agreement(
    X: npt.NDArray[np.float32], labels: npt.NDArray[Any], n_points: int = 60, **options: Any
) -> dict[str, float]:
    """Compare a random forest's verdict on counterfactual rows with its verdict on real rows of the same targets.

    The rows are halved at random. One half makes the map and the counterfactuals, the forest learns the labels of the
    other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    n_points : int, default=60
        Rows asked about, each with another label as its target, at random.
    **options
        Of ``gnomon.Map.counterfactual``.

    Returns
    -------
    dict
        real: share of the rows of the targets in the map's half that the forest gives to the target, the mean over the
        questions. answered: share of the questions for which features needed are found; of these, changed and needed:
        share where the forest gives the row with all changes, and with those needed, to the target. n_needed,
        n_changed: medians. novelty: median of the rows with what is needed.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    X, other, y, other_labels = train_test_split(X, labels, test_size=0.5, random_state=0, stratify=labels)
    forest = RandomForestClassifier(300, random_state=0, n_jobs=2).fit(other, other_labels)
    found = gnomon.map(X, labels=y, random_state=0)
    said = forest.predict(X)
    rng = np.random.default_rng(0)
    known = np.unique(y)
    real, cases = [], []
    for i in rng.choice(len(X), size=min(n_points, len(X)), replace=False):
        target = rng.choice(known[known != y[i]])
        real.append(np.mean(said[y == target] == target))
        cases.append((target, found.counterfactual(int(i), target, **options)))
    answered = [(target, one) for target, one in cases if one.n_needed is not None]
    verdicts = {
        name: float(np.mean([forest.predict(getattr(one, row)[None])[0] == t for t, one in answered]))
        for name, row in (("changed", "row"), ("needed", "needed_row"))
    }
    return {
        "real": float(np.mean(real)),
        "answered": len(answered) / len(cases),
        **verdicts,
        "n_needed": float(np.median([one.n_needed for _, one in answered])),
        "n_changed": float(np.median([one.n_changed for _, one in answered])),
        "novelty": float(np.median([one.needed_novelty for _, one in answered])),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counterfactuals", description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["digits", *_BUNDLED], help="as of python -m benchmarks")
    parser.add_argument("--rows", type=int, default=4000, help="of each table at most, half of them for the map")
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--json", type=Path, help="also write all numbers here")
    options = parser.parse_args(arguments)
    results = {}
    for name in options.data:
        results[name] = agreement(*_labelled_table(name, options.rows), options.points)
        print(name, results[name], file=sys.stderr)
    measures = list(next(iter(results.values())))
    print(table_of(["table", *measures], [[n, *(f"{r[m]:.2f}" for m in measures)] for n, r in results.items()]))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
