"""Time `gnomon.evaluation.scorecard` beside ZADU on the same maps, and compare what both find.

python -m benchmarks.scorecard --data mnist --pca 50 --rows 10000 70000 --peer-python ../peers/bin/python
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as `python benchmarks/scorecard.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.report import table_of

__all__ = ["GROUPS", "SAME", "main"]

_K = 15
GROUPS = {
    "ranks": ["tnc", "mrre", "lcmc", "topo"],
    "labels": ["nh", "dsc", "ivm"],
    "sums over pairs": ["pr", "stress", "sn_stress"],
    "order of pairs": ["srho", "nm_stress"],
    "clusters": ["snc"],
}
"""ZADU's measures that share what they need: one object measures each group at once."""
SAME = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "mrre_false": "mrre_false",
    "mrre_missing": "mrre_missing",
    "topographic_product": "topographic_product",
    "neighborhood_hit": "neighborhood_hit",
    "distance_consistency": "distance_consistency",
    "silhouette": "silhouette",
    "pearson_r": "pearson",
    "stress": "raw_stress",
    "scale_normalized_stress": "stress",
    "spearman_rho": "shepard",
    "non_metric_stress": "non_metric_stress",
    "steadiness": "steadiness",
    "cohesiveness": "cohesiveness",
}
"""ZADU's names of values to those of the scorecard."""


def _read(path: str) -> tuple[Any, Any, Any]:
    with np.load(path) as archive:
        return archive["X"], archive["Y"], archive["labels"]


def _measure_here(path: str, n_anchors: int | None, jobs: int | None) -> dict[str, Any]:
    """Take every measure by gnomon."""
    from gnomon.evaluation import scorecard

    X, Y, labels = _read(path)
    begin = time.perf_counter()
    found = scorecard(X, Y, labels, n_neighbors=_K, n_anchors=n_anchors, n_jobs=jobs)
    seconds = time.perf_counter() - begin
    values = {name: [one.value, *(one.interval or (one.value, one.value))] for name, one in found.items()}
    return {"seconds": seconds, "values": values}


def _measure_there(path: str, group: str, memory: str) -> dict[str, Any]:
    """Take the measures of one group by ZADU."""
    from zadu import ZADU
    from zadu.engine.config import ExecutionConfig

    X, Y, labels = _read(path)
    specs = []
    for name in GROUPS[group]:
        parameters: dict[str, Any] = {"k": _K} if name in ("tnc", "mrre", "lcmc", "topo", "nh") else {}
        specs.append({"id": name, "params": {"random_state": 0} if name == "snc" else parameters})
    begin = time.perf_counter()
    measured = ZADU(specs, X, execution=ExecutionConfig(memory_budget=memory)).measure(Y, labels)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "values": {name: value for one in measured for name, value in one.items()}}


def _child(python: str, arguments: list[str], limit: float) -> dict[str, Any]:
    """Run this file in another process; say so where it takes too long or fails."""
    command = [python, str(Path(__file__).resolve()), *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        found = {"seconds": limit, "failed": f"stopped after {limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr.strip().splitlines() or ["no reason given"])[-1][:160]}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {**found, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def _make_map(options: argparse.Namespace, rows: int, path: Path) -> None:
    import gnomon
    from benchmarks.tables import load_table

    X, labels = load_table(options.data, rows, options.pca)
    Y = gnomon.UMAP(random_state=0, n_jobs=options.jobs).fit_transform(X)
    np.savez(path, X=X, Y=Y, labels=np.zeros(len(X)) if labels is None else labels)


def _compare(options: argparse.Namespace, rows: int, path: Path) -> dict[str, Any]:
    shared = ["--jobs", str(options.jobs)] if options.jobs else []
    here = {"sampled": _child(sys.executable, ["--here", str(path), *shared], options.limit)}
    if rows <= options.exact_up_to:
        here["exact"] = _child(sys.executable, ["--here", str(path), "--anchors", str(rows), *shared], options.limit)
    there = {
        group: _child(
            options.peer_python, ["--there", str(path), "--group", group, "--memory", options.memory], options.limit
        )
        for group in options.groups
    }
    return {"rows": rows, "gnomon": here, "zadu": there}


def _report(found: dict[str, Any]) -> str:
    lines = [f"\n{found['rows']} rows"]
    own = found["gnomon"]["sampled"]

    def row(name: str, one: dict[str, Any]) -> list[str]:
        if "seconds" not in one:
            return [name, "-", "-", "-", "-", one.get("failed", "")]
        wall, cpu = one["seconds"], one["cpu"]
        figures = [f"{wall:.1f}", f"{cpu:.1f}", f"{wall / own['seconds']:.1f}", f"{cpu / own['cpu']:.1f}"]
        return [name, *figures, one.get("failed", "")]

    rows = [row(f"gnomon, every measure, {name}", one) for name, one in found["gnomon"].items()]
    rows += [row(f"ZADU, {group}", one) for group, one in found["zadu"].items()]
    ran = [one for one in found["zadu"].values() if "seconds" in one]
    total = {key: sum(one[key] for one in ran) for key in ("seconds", "cpu")}
    rows.append(row("ZADU, in all", {**total, "failed": "up to where it was stopped or failed"}))
    lines.append(table_of(["", "wall s", "CPU s", "wall / gnomon sampled", "CPU / gnomon sampled", ""], rows))
    rows = []
    for one in found["zadu"].values():
        for name, value in one.get("values", {}).items():
            if name in SAME:
                mine, low, high = found["gnomon"]["sampled"]["values"][SAME[name]]
                exact = found["gnomon"].get("exact", {}).get("values", {}).get(SAME[name], [float("nan")])[0]
                rows.append([name, f"{value:.6f}", f"{exact:.6f}", f"{mine:.6f}", f"[{low:.6f}, {high:.6f}]"])
    lines.append(table_of(["value", "ZADU", "gnomon, all anchors", "gnomon, sampled", "interval of 95 %"], rows))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scorecard", description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, nargs="+", default=[1797], help="fixed random samples of so many rows")
    parser.add_argument("--pca", type=int, help="principal components that the table is reduced to first")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has zadu")
    parser.add_argument("--groups", nargs="+", choices=[*GROUPS], default=[*GROUPS])
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds that a group may take")
    parser.add_argument("--memory", default="12GiB", help="memory that ZADU may plan with")
    parser.add_argument("--exact-up-to", type=int, default=10_000, help="rows up to which all are anchors as well")
    parser.add_argument("--jobs", type=int, help="threads of gnomon; all by default")
    parser.add_argument("--json", help="file for the figures")
    for hidden in ("--here", "--there", "--group"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--anchors", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(_measure_here(options.here, options.anchors, options.jobs)))
        return 0
    if options.there:
        print(json.dumps(_measure_there(options.there, options.group, options.memory)))
        return 0
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            path = Path(folder, f"{rows}.npz")
            _make_map(options, rows, path)
            results.append(_compare(options, rows, path))
            print(_report(results[-1]), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
