"""What landmarks cost: maps with more and more of them beside the fit of all rows.

GNOMON_DATA=FOLDER python -m benchmarks.large curve --json curve.json --figure docs/images/landmarks.png
python -m benchmarks.large curve --table FOLDER/X.npy --landmarks 20000 50000 100000 200000 500000

Scores are those of `gnomon.evaluate` over all rows, the same anchors for each map.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.large.landmarks import place_all
from benchmarks.machine import describe_machine
from benchmarks.tables import load_table

__all__ = ["main", "measure_curve", "write_figure"]

_SCORES = ("trustworthiness", "neighborhood_preservation", "knn_accuracy")


def measure_curve(
    X: npt.NDArray[Any], labels: npt.NDArray[Any], counts: list[int], *, seed: int = 0
) -> list[dict[str, float]]:
    """Return scores and seconds for each number of landmarks; the last is the fit of all rows."""
    found = []
    for count in [*(count for count in counts if count < len(X)), len(X)]:
        placed = place_all(X, count, seed=seed)
        scores = gnomon.evaluate(X, placed.embedding, labels=labels, random_state=0)
        taken = placed.stages.taken
        one = {name: float(getattr(scores, name)) for name in _SCORES}
        one["cpu_seconds"] = sum(stage["cpu_seconds"] for stage in taken.values())
        one["seconds"] = sum(stage["seconds"] for stage in taken.values())
        found.append({"landmarks": count, **one, "peak_bytes": placed.stages.peak_bytes})
        print(_row(found[-1]), flush=True)
    return found


def _row(one: dict[str, float]) -> str:
    scores = " | ".join(f"{one[name]:.4f}" for name in _SCORES)
    return f"| {one['landmarks']:,} | {scores} | {one['cpu_seconds']:.1f} |"


def write_figure(found: list[dict[str, float]], path: Path, title: str) -> None:
    """Draw trust and accuracy over the number of landmarks, with the fit of all rows as lines."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    placed, whole = found[:-1], found[-1]
    for one, (name, said) in zip(
        axes, (("trustworthiness", "trustworthiness"), ("knn_accuracy", "label accuracy")), strict=True
    ):
        one.semilogx([each["landmarks"] for each in placed], [each[name] for each in placed], "o-", color="#1f77b4")
        one.axhline(whole[name], color="0.4", linestyle="--", label="all rows fitted")
        one.set(xlabel="landmarks", title=said)
        one.xaxis.set_minor_formatter(NullFormatter())
        one.legend(frameon=False, loc="lower right")
    figure.suptitle(title)
    figure.savefig(path, dpi=120)


def main(arguments: list[str] | None = None) -> int:
    """Print a table; write the figures and a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="mnist", help="mnist and the like (in GNOMON_DATA), or digits")
    parser.add_argument("--pca", type=int, default=50)
    parser.add_argument("--table", type=Path, help="X.npy beside y.npy, as `make` writes them, instead of --data")
    parser.add_argument("--rows", type=int, help="the first rows of --table")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[2000, 5000, 10_000, 20_000, 35_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--figure", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    if given.table is None:
        X, labels = load_table(given.data, pca=given.pca)
        name = given.data
    else:
        X, labels = np.load(given.table, mmap_mode="r")[: given.rows], np.load(given.table.with_name("y.npy"))
        labels, name = labels[: given.rows], str(given.table)
    print(f"| landmarks | {' | '.join(_SCORES)} | CPU s |\n|---|---|---|---|---|", flush=True)
    found = measure_curve(X, np.asarray(labels), given.landmarks, seed=given.seed)
    if given.json:
        document = {"data": name, "shape": X.shape, "curve": found, "machine": describe_machine()}
        given.json.write_text(json.dumps(document, indent=1) + "\n")
    if given.figure:
        write_figure(found, given.figure, f"{len(X):,} rows of {X.shape[1]} columns")
    return 0
