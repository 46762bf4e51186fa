"""Map a stored table by landmarks, explain and evaluate it, write it, and compare it with the fit of a sample.

python -m benchmarks.large run --table FOLDER/X.npy --rows 10000000 --landmarks 200000 --memory 8G --minutes 15
python -m benchmarks.large run --table FOLDER/X.npy --sample 1000000 --within 0.01

What each stage took is printed, and written to record.json, as soon as it ends; the exit status is 1 if a bar is
missed. Processor time and memory are those of this process and its children, not of a cluster elsewhere. The sample is
a uniform one of the same rows. Both maps are judged on its rows, ranked among its rows, by `gnomon.evaluate` with the
same anchors: what differs is where the two maps lay these rows. The sample is fitted in a process of its own, so that
the memory told is that of the large map.
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
from benchmarks.large.measure import Stages, memory_held
from benchmarks.machine import describe_machine
from gnomon._memory import check_budget
from gnomon.maps.forecasting import FOLLOWING
from gnomon.maps.pace import machine_pace

__all__ = ["Record", "bars", "judge", "main", "measure"]

_SCORES = ("trustworthiness", "neighborhood_preservation", "knn_accuracy")
_BARRED = ("trustworthiness", "knn_accuracy")  # may not lie below those of the sample
_OF_MAP = {"scaling": "scaling", "landmarks": "landmarks", "positions": "positions"}  # all others are the fit
_ANSWERED = ("preparation", "scaling", "landmarks", "fit", "positions", "explanation")  # mapped and explained


class Record:
    """What is known of a run, printed and written as it comes.

    Parameters
    ----------
    path : Path
        Of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.found, self._headed = path, dict[str, Any](complete=False, stages={}), False

    def add(self, **found: Any) -> None:
        """Write what was found."""
        self.found |= found
        unfinished = self.path.with_suffix(".part")
        unfinished.write_text(json.dumps(self.found, indent=1) + "\n")
        unfinished.replace(self.path)

    def stage(self, name: str, taken: dict[str, float]) -> None:
        """Print and write what a stage took."""
        if not self._headed:
            print("| stage | seconds | CPU seconds | peak MB |\n|---|---|---|---|", flush=True)
            self._headed = True
        print(_row(name, taken), flush=True)
        self.add(stages={**self.found["stages"], name: taken})


def _row(name: str, taken: dict[str, float]) -> str:
    return f"| {name} | {taken['seconds']:.1f} | {taken['cpu_seconds']:.1f} | {taken['peak_bytes'] / 1e6:,.0f} |"


def judge(X: npt.NDArray[Any], Y: npt.NDArray[Any], labels: npt.NDArray[Any]) -> dict[str, float]:
    """Return the scores that two maps of the same rows are compared by."""
    scores = gnomon.evaluate(X, Y, labels=labels, random_state=0)
    return {name: float(getattr(scores, name)) for name in _SCORES}


def measure(given: argparse.Namespace, record: Record) -> None:
    """Map, explain, evaluate and write; record what each stage took, and the scores."""
    X = np.load(given.table, mmap_mode="r")[: given.rows]
    labels = np.load(given.table.with_name("y.npy"))[: given.rows]
    expected = gnomon.forecast(X.shape, n_fitted=given.landmarks, then=FOLLOWING)
    record.add(
        shape=list(X.shape),
        landmarks=given.landmarks,
        pace=machine_pace(),
        base_bytes=memory_held(),
        forecast={"durations": dict(expected.durations), "stages": dict(expected.stages)},
    )
    stages = Stages(record.stage)
    stages.begin("preparation")
    made = gnomon.map(
        X,
        n_fitted=given.landmarks,
        labels=labels,
        executor=given.cluster,
        memory_budget=given.memory,
        folder=given.folder,
        random_state=given.seed,
        n_jobs=given.threads,
        callback=stages.follow(_OF_MAP, "fit"),
    )
    stages.end()
    with stages.stage("explanation"):
        explanation = made.explain(executor=given.cluster)
    with stages.stage("evaluation"):
        evaluation = made.evaluate(executor=given.cluster)
    record.add(
        scores={name: float(getattr(evaluation, name)) for name in _SCORES},
        median_r2=float(np.nanmedian(explanation.r2)),
    )
    if not given.no_page:
        with stages.stage("loss"):
            loss = made.landmark_loss()
        record.add(landmark_loss={"value": loss.value, "standard_error": loss.standard_error})
        with stages.stage("page"):
            made.write_html(given.out / "map.html")
    with stages.stage("file"):
        made.write(given.out / "map.parquet")
    of_all = {name: sum(one[name] for one in stages.taken.values()) for name in ("seconds", "cpu_seconds")}
    of_all["peak_bytes"] = stages.peak_bytes
    print(_row("all", of_all), f"\n\n{made.summary(loss=not given.no_page)}", flush=True)
    record.add(**of_all, answered=sum(stages.taken[name]["seconds"] for name in _ANSWERED if name in stages.taken))
    if given.sample:
        record.add(**_beside_sample(X, labels, made.embedding, given))


def _beside_sample(
    X: npt.NDArray[Any], labels: npt.NDArray[Any], Y: npt.NDArray[Any], given: argparse.Namespace
) -> dict[str, Any]:
    rows = np.sort(np.random.default_rng(given.seed + 1).choice(len(X), min(given.sample, len(X)), replace=False))
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (("X", X[rows]), ("y", labels[rows]), ("Y", Y[rows])):
            np.save(Path(folder, f"{name}.npy"), values)
        command = [sys.executable, "-m", "benchmarks.large", "run", "--one-sample", folder, "--seed", str(given.seed)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _of_sample(folder: Path, seed: int) -> dict[str, Any]:
    X, labels, Y = (np.load(folder / f"{name}.npy") for name in ("X", "y", "Y"))
    stages = Stages()
    with stages.stage("fit"):
        fitted = gnomon.UMAP(random_state=seed).fit_transform(X)
    large, own = judge(X, Y, labels), judge(X, fitted, labels)
    differences = {name: large[name] - own[name] for name in _SCORES}
    return {"sample": {"rows": len(X), **stages.taken["fit"], "scores": own}, "of its rows": large, "more": differences}


def _print_sample(found: dict[str, Any]) -> None:
    sample = found["sample"]
    print(f"\n| of {sample['rows']:,} rows | map of landmarks | fit of these rows | difference |\n|---|---|---|---|")
    for name in _SCORES:
        pair = found["of its rows"][name], sample["scores"][name]
        print(f"| {name} | {pair[0]:.4f} | {pair[1]:.4f} | {found['more'][name]:+.4f} |")
    print(f"\n{_row('fit of the sample', sample)}", flush=True)


def bars(found: dict[str, Any], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what was asked of the run: each bar with what was measured, what is allowed and whether it was met."""
    asked = [("memory, GB", found["peak_bytes"] / 1e9, check_budget(given.memory) / 1e9)]
    if given.minutes is not None:
        asked.append(("mapped and explained, minutes", found["answered"] / 60.0, given.minutes))
    if given.within is not None and "more" in found:
        asked += [(f"{name} below the sample", -found["more"][name], given.within) for name in _BARRED]
    return [
        {"bar": name, "measured": value, "allowed": most, "met": bool(value <= most)} for name, value, most in asked
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print and write what was measured; return 1 if a bar that was given is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, help="X.npy beside y.npy, as `make` writes them")
    parser.add_argument("--rows", type=int, help="the first rows of the table; all by default")
    parser.add_argument("--landmarks", type=int, default=200_000)
    parser.add_argument("--threads", type=int, help="of this process; all by default")
    parser.add_argument("--memory", default="8G", help="budget, and bar of the peak")
    parser.add_argument("--minutes", type=float, help="bar of the time by the clock until the map is explained")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler; by default this process works")
    parser.add_argument("--folder", help="where stages are kept, so that a run that was cut goes on")
    parser.add_argument("--sample", type=int, default=1_000_000, help="rows fitted for comparison; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("large"), metavar="FOLDER")
    parser.add_argument("--within", type=float, help="most that trust and accuracy may lie below those of the sample")
    parser.add_argument("--no-page", action="store_true", help="leave out the page, and the loss of trust by placing")
    parser.add_argument("--one-sample", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one_sample:
        print(json.dumps(_of_sample(given.one_sample, given.seed)))
        return 0
    if given.table is None:
        parser.error("--table is needed")
    given.out.mkdir(parents=True, exist_ok=True)
    record = Record(given.out / "record.json")
    record.add(machine=describe_machine())
    measure(given, record)
    if given.sample:
        _print_sample(record.found)
    judged = bars(record.found, given)
    record.add(bars=judged, complete=True)
    print("\n| bar | measured | allowed | |\n|---|---|---|---|")
    for one in judged:
        print(f"| {one['bar']} | {one['measured']:.4g} | {one['allowed']:.4g} | {'met' if one['met'] else 'MISSED'} |")
    return int(not all(one["met"] for one in judged))
