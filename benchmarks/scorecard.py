"""Time `gnomon.evaluation.scorecard` beside ZADU on the same maps, and compare what both find.

python -m benchmarks.scorecard --data mnist --pca 50 --rows 10000 70000 --peer-python ../peers/bin/python

A limit is one of CPU time, so that what else the machine does cuts nothing off. Where ZADU is stopped, the ratios are
lower bounds and written as such.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
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

from benchmarks.summary import table_of

__all__ = ["GROUPS", "SAME", "TAKEN", "main"]

_K = 15
GROUPS = {
    "ranks": ["tnc", "mrre", "lcmc", "topo"],
    "labels": ["nh", "dsc", "ivm"],
    "sums over pairs": ["pr", "stress", "sn_stress"],
    "order of pairs": ["srho", "nm_stress"],
    "clusters": ["snc"],
}
"""ZADU's measures that share what they need: one object measures each group at once."""
TAKEN = {
    "tnc": ["trustworthiness", "continuity"],
    "mrre": ["mrre_false", "mrre_missing"],
    "lcmc": ["neighborhood_preservation"],
    "topo": ["topographic_product"],
    "nh": ["neighborhood_hit"],
    "dsc": ["distance_consistency"],
    "ivm": ["silhouette"],
    "pr": ["pearson"],
    "stress": ["raw_stress"],
    "sn_stress": ["stress"],
    "srho": ["shepard"],
    "nm_stress": ["non_metric_stress"],
    "snc": ["steadiness", "cohesiveness"],
}
"""ZADU's measures to those of the scorecard that ask the same."""
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


def _members(group: str) -> list[str]:
    """Return ZADU's measures of a group; a measure is a group of its own."""
    return GROUPS.get(group, [group])


def _measure_here(path: str, group: str | None, n_anchors: int | None, jobs: int | None) -> dict[str, Any]:
    """Take by gnomon the measures that a group of ZADU's asks for, every measure without a group."""
    from gnomon.evaluation import scorecard

    measures = "all" if group is None else [name for one in _members(group) for name in TAKEN[one]]

    X, Y, labels = _read(path)
    begin, cpu = time.perf_counter(), time.process_time()
    found = scorecard(X, Y, labels, n_neighbors=_K, measures=measures, n_anchors=n_anchors, n_jobs=jobs)
    seconds = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu}
    values = {name: [one.value, *(one.interval or (one.value, one.value))] for name, one in found.items()}
    return {**seconds, "values": values}


def _measure_there(path: str, group: str, memory: str) -> dict[str, Any]:
    """Take the measures of one group by ZADU."""
    from zadu import ZADU
    from zadu.engine.config import ExecutionConfig

    X, Y, labels = _read(path)
    specs = []
    for name in _members(group):
        parameters: dict[str, Any] = {"k": _K} if name in ("tnc", "mrre", "lcmc", "topo", "nh") else {}
        specs.append({"id": name, "params": {"random_state": 0} if name == "snc" else parameters})
    begin, cpu = time.perf_counter(), time.process_time()
    measured = ZADU(specs, X, execution=ExecutionConfig(memory_budget=memory)).measure(Y, labels)
    seconds = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu}
    return {**seconds, "values": {name: value for one in measured for name, value in one.items()}}


def _child(python: str, arguments: list[str], limit: int) -> dict[str, Any]:
    """Run this file in another process; say so where it takes more CPU seconds than it may, or fails."""
    command = [python, str(Path(__file__).resolve()), *arguments]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 60)),
    )
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == -signal.SIGXCPU:
        return {"seconds": seconds, "cpu": cpu, "failed": f"stopped after {limit} CPU s"}
    if done.returncode < 0:  # by the system, for its memory, say
        return {"seconds": seconds, "cpu": cpu, "failed": f"ended by {signal.Signals(-done.returncode).name}"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no reason given"])[-1][:160]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _make_map(options: argparse.Namespace, rows: int, path: Path) -> None:
    import gnomon
    from benchmarks.tables import load_table

    X, labels = load_table(options.data, rows, options.pca)
    Y = gnomon.UMAP(random_state=0, n_jobs=options.jobs).fit_transform(X)
    np.savez(path, X=X, Y=Y, labels=np.zeros(len(X)) if labels is None else labels)


def _compare(options: argparse.Namespace, rows: int, path: Path) -> dict[str, Any]:
    shared = ["--here", str(path), *(["--jobs", str(options.jobs)] if options.jobs else [])]
    here = {"sampled": _child(sys.executable, shared, options.limit)}
    if rows <= options.exact_up_to:
        here["exact"] = _child(sys.executable, [*shared, "--anchors", str(rows)], options.limit)
    there, alone = {}, {}
    for group in options.groups:
        peer = ["--there", str(path), "--group", group, "--memory", options.memory]
        there[group] = _child(options.peer_python, peer, options.limit)
        alone[group] = _child(sys.executable, [*shared, "--group", group], options.limit)
        print(f"{rows} rows, {group}: {_told(there[group])}; gnomon {_told(alone[group])}", file=sys.stderr, flush=True)
    return {"rows": rows, "gnomon": here, "zadu": there, "alone": alone}


def _told(one: dict[str, Any]) -> str:
    figures = f"{one['seconds']:.1f} s, {one['cpu']:.1f} CPU s" if "cpu" in one else ""
    return " ".join(part for part in (figures, one.get("failed", "")) if part)


def _report(found: dict[str, Any]) -> str:
    lines = [f"\n{found['rows']} rows"]
    own = found["gnomon"]["sampled"]

    def over(peer: dict[str, Any], mine: dict[str, Any]) -> str:
        at_least = ">= " if peer.get("failed") else ""
        return at_least + f"{peer['cpu'] / mine['cpu']:.1f}"

    rows = []
    for name, one in found["gnomon"].items():
        rows.append([f"gnomon, every measure, {name}", f"{one['seconds']:.1f}", f"{one['cpu']:.1f}", "", "", "", ""])
    for group, one in found["zadu"].items():
        mine = found["alone"][group]
        figures = [f"{one['seconds']:.1f}", f"{one['cpu']:.1f}"] if "cpu" in one else ["-", "-"]
        ratios = [over(one, mine), over(one, own)] if "cpu" in one else ["-", "-"]
        rows.append([f"ZADU, {group}", *figures, f"{mine['cpu']:.1f}", *ratios, one.get("failed", "")])
    ran = [one for one in found["zadu"].values() if "cpu" in one]
    total = {key: sum(one[key] for one in ran) for key in ("seconds", "cpu")}
    part = {"failed": any("failed" in one for one in found["zadu"].values())}
    in_all = [f"{total['seconds']:.1f}", f"{total['cpu']:.1f}", "", "", over({**total, **part}, own), ""]
    rows.append(["ZADU, in all", *in_all])
    header = ["", "wall s", "CPU s", "gnomon, the same alone: CPU s", "ratio", "ratio to every measure", ""]
    lines.append(table_of(header, rows))
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
    groups = [*GROUPS, *TAKEN]
    parser.add_argument(
        "--groups", nargs="+", choices=groups, default=[*GROUPS], help="groups, or single measures of ZADU alone"
    )
    parser.add_argument("--limit", type=int, default=1800, help="CPU seconds that a group may take")
    parser.add_argument("--memory", default="12GiB", help="memory that ZADU may plan with")
    parser.add_argument("--exact-up-to", type=int, default=10_000, help="rows up to which all are anchors as well")
    parser.add_argument("--jobs", type=int, help="threads of gnomon; all by default")
    parser.add_argument("--json", help="file for the figures")
    for hidden in ("--here", "--there", "--group"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--anchors", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(_measure_here(options.here, options.group, options.anchors, options.jobs)))
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
