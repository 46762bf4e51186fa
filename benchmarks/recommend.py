"""Does `gnomon.recommend`, which sees no labels, choose maps in which rows of a label lie together?

python -m benchmarks.recommend --group judged --rows 1000 --samples 2
python -m benchmarks.recommend --group judged --vary perplexity

Of each table of a group of benchmarks/labelled.py, and for each random sample of its rows, method and parameters are
chosen. The maps of the choice and of the methods' defaults are then made with seeds that the choice did not see, and
judged by benchmarks/quality.py: label accuracy and trustworthiness. With --vary one parameter alone is chosen, and
compared with each fixed value of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.labelled import GROUPS, load
from benchmarks.quality import compare_neighborhoods, label_hits
from benchmarks.summary import table_of
from gnomon.comparison.candidates import SEARCHED
from gnomon.methods import METHODS

__all__ = ["DEFAULTS", "VARIED", "Judge", "Judged", "compare_on", "main", "paired"]

DEFAULTS = ("umap", "tsne", "pca", "pacmap", "trimap")
VARIED = {"perplexity": "tsne", "n_neighbors": "umap", "min_dist": "umap", "n_components": "tsne"}
"""Each parameter that can be judged alone, and the method that it is judged of."""
_DIMENSIONS = (1, 2, 3)
_UNSEEN = 1000  # beyond the seeds that the choice sees
_NEIGHBORS = 15
_NORMAL = 1.96

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """A map under seeds that no choice saw: for each row the share of seeds with which its label is told; trust."""

    hits: npt.NDArray[np.float64]
    trust: float

    @property
    def accuracy(self) -> float:
        """Share of rows whose label most of their ten neighbours in the map have."""
        return float(self.hits.mean())


class Judge:
    """Makes maps of one table with unseen seeds, each once, and judges them by its labels."""

    def __init__(self, X: npt.NDArray[np.float32], y: npt.NDArray[Any], seed: int, n_fits: int) -> None:
        self._X, self._y = X, y
        self._seeds = [_UNSEEN + 100 * seed + k for k in range(n_fits)]
        self._made: dict[str, Judged] = {}

    def __call__(self, method: str, parameters: Mapping[str, Any]) -> Judged:
        """Return the map of a method with these parameters, judged."""
        key = f"{method} {sorted(parameters.items())}"
        if key not in self._made:
            found = [self._of(method, parameters, seed) for seed in self._seeds]
            hits = np.mean([one for one, _ in found], axis=0)
            self._made[key] = Judged(hits, float(np.mean([trust for _, trust in found])))
        return self._made[key]

    def _of(self, method: str, parameters: Mapping[str, Any], seed: int) -> tuple[Bools, float]:
        estimators = {card.name: card.estimator for card in METHODS}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pieces that a graph falls into
            Y = getattr(gnomon, estimators[method])(random_state=seed, **parameters).fit_transform(self._X)
        trust = compare_neighborhoods(self._X, Y, _NEIGHBORS).trustworthiness
        return label_hits(Y, self._y, np.arange(len(Y))), trust


def compare_on(name: str, rows: int, seed: int, n_fits: int, vary: str | None) -> dict[str, Any]:
    """Let a sample of a table be recommended for, and judge the choice beside what is fixed."""
    X, y = load(name, rows, seed)
    judge = Judge(X, y, seed, n_fits)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gnomon.recommend(X, scale=None, random_state=seed, **_asked(vary))
    seconds = time.process_time() - began
    chosen = dict(found.parameters)
    if vary == "n_components":
        chosen["n_components"] = found.n_components
    fixed: dict[str, tuple[str, dict[str, Any]]] = {one: (one, {}) for one in DEFAULTS}
    if vary is not None:
        method = VARIED[vary]
        usual = next(card for card in METHODS if card.name == method)
        default = getattr(gnomon, usual.estimator)().get_params()[vary]
        values = _DIMENSIONS if vary == "n_components" else next(one.values for one in found.curves)
        fixed = {f"{value:g}": (method, {} if value == default else {vary: value}) for value in values}
    if chosen.get("n_components") == 2:
        del chosen["n_components"]
    print(f"{name}, sample {seed}: {_told(found.method, chosen)}, {seconds:.1f} CPU s", file=sys.stderr, flush=True)
    return {
        "table": name,
        "sample": seed,
        "rows": len(X),
        "chosen": _told(found.method, chosen),
        "maps": len(found.comparison.trials),
        "cpu_seconds": seconds,
        "recommended": judge(found.method, chosen),
        "fixed": {label: judge(*one) for label, one in fixed.items()},
    }


def _asked(vary: str | None) -> dict[str, Any]:
    if vary is None:
        return {}
    method = VARIED[vary]
    if vary == "n_components":
        return {"methods": method, "parameters": {}, "n_components": None}
    return {"methods": method, "parameters": {method: {vary: SEARCHED[method][vary]}}}


def _told(method: str, parameters: Mapping[str, Any]) -> str:
    return ", ".join([method, *(f"{name}={value:g}" for name, value in parameters.items())])


def paired(ours: Sequence[Judged], others: Sequence[Judged]) -> tuple[float, float]:
    """Return the difference of two accuracies on the same rows, and half of its interval of 95 % over rows."""
    differences = np.concatenate([a.hits - b.hits for a, b in zip(ours, others, strict=True)])
    return float(differences.mean()), float(_NORMAL * differences.std(ddof=1) / np.sqrt(len(differences)))


def _over_tables(runs: Sequence[Mapping[str, Any]], label: str) -> tuple[float, float]:
    """Return the mean difference of accuracy to something fixed over tables, and half of its interval of 95 %."""
    from scipy.stats import t

    tables = list(dict.fromkeys(one["table"] for one in runs))
    means = [paired(*_pair([one for one in runs if one["table"] == name], label))[0] for name in tables]
    if len(means) < 2:
        return float(np.mean(means)), float("nan")
    half = t.ppf(0.975, len(means) - 1) * np.std(means, ddof=1) / np.sqrt(len(means))
    return float(np.mean(means)), float(half)


def _pair(runs: Sequence[Mapping[str, Any]], label: str) -> tuple[list[Judged], list[Judged]]:
    return [one["recommended"] for one in runs], [one["fixed"][label] for one in runs]


def _rows(runs: Sequence[dict[str, Any]], labels: Sequence[str], measure: str) -> list[list[str]]:
    """Return a row for each table, and the means over tables last."""
    tables = list(dict.fromkeys(one["table"] for one in runs))
    cells, values = [], []
    for name in tables:
        own = [one for one in runs if one["table"] == name]
        line = [np.mean([getattr(one["recommended"], measure) for one in own])]
        line += [np.mean([getattr(one["fixed"][label], measure) for one in own]) for label in labels]
        values.append(line)
        cells.append([name, "; ".join(dict.fromkeys(one["chosen"] for one in own)), *(f"{v:.3f}" for v in line)])
    return [*cells, ["mean", "", *(f"{v:.4f}" for v in np.mean(values, axis=0))]]


def _labels(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is fixed and was mapped of every sample."""
    return [one for one in runs[0]["fixed"] if all(one in other["fixed"] for other in runs)]


def report(runs: Sequence[dict[str, Any]], *, vary: str | None) -> tuple[str, bool]:
    """Return the figures as text, and whether the promises hold.

    They are: at least as accurate on average over the tables as the best that is fixed, and, where method and
    parameters are chosen, trustworthiness never more than 0.01 below the best of the defaults.
    """
    labels = _labels(runs)
    accuracy = _rows(runs, labels, "accuracy")
    best = labels[int(np.argmax([float(cell) for cell in accuracy[-1][3:]]))]
    for row in accuracy[:-1]:
        difference, half = paired(*_pair([one for one in runs if one["table"] == row[0]], best))
        row.append(f"{difference:+.3f} ± {half:.3f}")
    mean, half = _over_tables(runs, best)
    accuracy[-1].append(f"{mean:+.4f} ± {half:.4f}")
    head = ["table", "chosen", "recommended", *labels]
    behind = max(max(one["fixed"][label].trust for label in labels) - one["recommended"].trust for one in runs)
    seconds = [one["cpu_seconds"] for one in runs]
    lines = [
        "label accuracy",
        table_of([*head, f"to {best}"], accuracy),
        "",
        "trustworthiness",
        table_of(head, _rows(runs, labels, "trust")),
        "",
        f"recommended {mean:+.4f} ± {half:.4f} to the best fixed, {best}; trustworthiness at most {behind:.4f} below "
        f"the best fixed of any sample; {np.mean(seconds):.1f} CPU s a choice, at most {max(seconds):.1f}",
    ]
    return "\n".join(lines), mean >= 0.0 and (vary is not None or behind <= 0.01)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit status, 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recommend", description=__doc__)
    parser.add_argument("--group", choices=GROUPS, default="judged", help="group of tables")
    parser.add_argument("--sets", nargs="+", help="tables; all of the group by default")
    parser.add_argument("--rows", type=int, default=1000, help="rows of each sample")
    parser.add_argument("--samples", "--seeds", type=int, default=2, help="samples of each table")
    parser.add_argument("--fits", type=int, default=2, help="unseen seeds that each judged map is made with")
    parser.add_argument("--vary", choices=VARIED, help="choose this parameter alone")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    runs = [
        compare_on(name, options.rows, seed, options.fits, options.vary)
        for name in options.sets or GROUPS[options.group]
        for seed in range(options.samples)
    ]
    text, holds = report(runs, vary=options.vary)
    print(text)
    if options.json:
        found = [
            {
                **one,
                "recommended": _numbers(one["recommended"]),
                "fixed": {label: _numbers(judged) for label, judged in one["fixed"].items()},
            }
            for one in runs
        ]
        options.json.write_text(json.dumps({"runs": found, "holds": holds, "report": text}, indent=1) + "\n")
    return 0 if holds else 1


def _numbers(judged: Judged) -> dict[str, float]:
    return {"accuracy": judged.accuracy, "trustworthiness": judged.trust}


if __name__ == "__main__":
    sys.exit(main())
