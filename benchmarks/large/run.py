"""Map a stored table by landmarks, explain and evaluate it, write it, and compare it with the fit of a sample.

python -m benchmarks.large run --table FOLDER/X.npy --rows 10000000 --landmarks 200000 --memory 8G --sample 1000000

The sample is a uniform one of the same rows. Both maps are judged on its rows, ranked among its rows, by
`gnomon.evaluate` with the same anchors: what differs is where the two maps lay these rows. The sample is fitted in a
process of its own, so that the memory told is that of the large map.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.large.measure import Stages
from benchmarks.machine import describe_machine

__all__ = ["judge", "main", "measure"]

_SCORES = ("trustworthiness", "neighborhood_preservation", "knn_accuracy")


def judge(X: npt.NDArray[Any], Y: npt.NDArray[Any], labels: npt.NDArray[Any]) -> dict[str, float]:
    """Return the scores that two maps of the same rows are compared by."""
    scores = gnomon.evaluate(X, Y, labels=labels, random_state=0)
    return {name: float(getattr(scores, name)) for name in _SCORES}


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Map, explain, evaluate and write; return what each stage took, and the scores."""
    given.out.mkdir(parents=True, exist_ok=True)
    X = np.load(given.table, mmap_mode="r")[: given.rows]
    labels = np.load(given.table.with_name("y.npy"))[: given.rows]
    stages = Stages()
    with stages.stage("map"):
        made = gnomon.map(
            X,
            n_landmarks=given.landmarks,
            labels=labels,
            executor=given.cluster,
            memory_budget=given.memory,
            folder=given.folder,
            random_state=given.seed,
        )
    with stages.stage("explain"):
        explanation = made.explain()
    with stages.stage("evaluate"):
        evaluation = made.evaluate()
    with stages.stage("page"):
        made.write_html(given.out / "map.html")
    with stages.stage("write"):
        made.write(given.out / "map.parquet")
    found: dict[str, Any] = {
        "shape": list(X.shape),
        "landmarks": len(made.landmarks),
        "stages": stages.taken,
        "peak_bytes": stages.peak_bytes,
        "seconds": sum(one["seconds"] for one in stages.taken.values()),
        "scores": {name: float(getattr(evaluation, name)) for name in _SCORES},
        "median_r2": float(np.nanmedian(explanation.r2)),
        "summary": made.summary(),
    }
    if given.sample:
        found |= _beside_sample(X, labels, made.embedding, given)
    return found


def _beside_sample(
    X: npt.NDArray[Any], labels: npt.NDArray[Any], Y: npt.NDArray[Any], given: argparse.Namespace
) -> dict[str, Any]:
    rows = np.sort(np.random.default_rng(given.seed + 1).choice(len(X), min(given.sample, len(X)), replace=False))
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (("X", X[rows]), ("y", labels[rows]), ("Y", Y[rows])):
            np.save(Path(folder, f"{name}.npy"), values)
        command = [sys.executable, "-m", "benchmarks.large", "run", "--one-sample", folder, "--seed", str(given.seed)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _of_sample(folder: Path, seed: int) -> dict[str, Any]:
    X, labels, Y = (np.load(folder / f"{name}.npy") for name in ("X", "y", "Y"))
    stages = Stages()
    with stages.stage("fit"):
        fitted = gnomon.UMAP(random_state=seed).fit_transform(X)
    large, own = judge(X, Y, labels), judge(X, fitted, labels)
    differences = {name: large[name] - own[name] for name in _SCORES}
    return {"sample": {"rows": len(X), **stages.taken["fit"], "scores": own}, "of its rows": large, "more": differences}


def main(arguments: list[str] | None = None) -> int:
    """Print and write what was measured; return 1 if a bound that was given does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, help="X.npy beside y.npy, as `make` writes them")
    parser.add_argument("--rows", type=int, help="the first rows of the table; all by default")
    parser.add_argument("--landmarks", type=int, default=200_000)
    parser.add_argument("--memory", default="8G")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler; by default this process works")
    parser.add_argument("--folder", help="where stages are kept, so that a run that was cut goes on")
    parser.add_argument("--sample", type=int, default=1_000_000, help="rows fitted for comparison; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("large"), metavar="FOLDER")
    parser.add_argument("--within", type=float, help="most that trust and accuracy may lie below those of the sample")
    parser.add_argument("--one-sample", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one_sample:
        print(json.dumps(_of_sample(given.one_sample, given.seed)))
        return 0
    if given.table is None:
        parser.error("--table is needed")
    found = {**measure(given), "machine": describe_machine()}
    text = json.dumps(found, indent=1)
    (given.out / "record.json").write_text(text + "\n")
    print(text)
    lower = [-found["more"][name] for name in ("trustworthiness", "knn_accuracy")] if "more" in found else []
    return int(given.within is not None and max(lower, default=0.0) > given.within)
