"""Time gnomon and its peers on the same table, turn and turn about, and judge their maps by the same measures.

python -m benchmarks --data digits --methods umap tsne pca --repeats 3
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/run.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.divergence import kl_divergence, nearest_neighbor_affinities
from benchmarks.effective_loss import KERNEL, effective_loss, nearest_neighbor_memberships
from benchmarks.machine import describe_machine
from benchmarks.measure import Contender, Run, ToolError, measure_processes, measure_warm, probe
from benchmarks.quality import disparity, map_quality
from benchmarks.summary import markdown, summarise
from benchmarks.tables import load_table
from benchmarks.tools import TOOLS

__all__ = ["MODES", "Plan", "benchmark", "main"]

_MEASURES = {"process": measure_processes, "warm": measure_warm}
MODES = {"both": tuple(_MEASURES), **{mode: (mode,) for mode in _MEASURES}}
"""What each choice of --mode measures."""
_LOSS_ROWS = 100_000  # the affinities of more rows, by exact neighbours, would take hours
_UMAP_TOOLS = ("gnomon", "umap-learn", "torchdr")  # that lower its loss


@dataclass(frozen=True)
class Plan:
    """What to run: see `python -m benchmarks --help`."""

    methods: Sequence[str]
    peers: Sequence[str]
    base: str = "gnomon"
    repeats: int = 3
    modes: Sequence[str] = ("process", "warm")
    python: str = sys.executable
    peer_python: str = sys.executable
    parameters: dict[str, Any] = field(default_factory=dict)  # of the base, by method
    quality: bool = True
    limit: float | None = None  # seconds of a run, above which a contender is left out


def _gather(plan: Plan, method: str, n_rows: int) -> tuple[list[Contender], dict[str, str]]:
    """Return the contenders of a method that can run, the base first, and why the others cannot."""
    contenders: list[Contender] = []
    left_out: dict[str, str] = {}
    for i, name in enumerate([plan.base, *plan.peers]):
        label = f"{name}-peer" if i > 0 and name == plan.base else name
        tool = TOOLS[name]
        if method not in tool.methods:
            continue
        if n_rows > tool.max_rows.get(method, n_rows):
            left_out[label] = f"at most {tool.max_rows[method]} rows"
            continue
        python = plan.python if i == 0 else plan.peer_python
        answer = probe(name, method, python)
        if "missing" in answer:
            left_out[label] = answer["missing"]
            continue
        parameters = plan.parameters.get(method, {}) if i == 0 else {}
        contenders.append(Contender(label, name, method, python, parameters, answer["version"]))
    return contenders, left_out


class _Judge:
    """Judges maps of one table; the affinities for the losses are computed once, when first needed."""

    def __init__(self, X: npt.NDArray[np.float32], labels: npt.NDArray[np.integer] | None) -> None:
        self.X, self.labels = X, labels

    @cached_property
    def _probabilities(self) -> Any:
        return nearest_neighbor_affinities(self.X, min(30.0, (len(self.X) - 1) / 3))

    @cached_property
    def _memberships(self) -> Any:
        return nearest_neighbor_memberships(self.X, min(15, len(self.X) - 1))

    def __call__(self, method: str, label: str, Y: npt.NDArray[np.float32]) -> dict[str, float]:
        quality = map_quality(self.X, Y, self.labels)
        if len(self.X) > _LOSS_ROWS:
            return quality
        if method == "tsne":
            quality["kl_divergence"] = kl_divergence(self._probabilities, Y)
        elif method == "umap" and label.startswith(_UMAP_TOOLS):
            quality["effective_loss"] = effective_loss(self._memberships, Y, *KERNEL)
        return quality

    def all(self, method: str, labels: Sequence[str], folder: Path, repeats: int) -> dict[str, dict[str, list[float]]]:
        """Judge the maps of all contenders and seeds; maps that are the same are judged once."""
        quality: dict[str, dict[str, list[float]]] = {}
        for label in labels:
            known: dict[bytes, dict[str, float]] = {}
            for seed in range(repeats):
                Y = np.load(folder / f"{label}-{seed}.npy")
                if Y.tobytes() not in known:
                    known[Y.tobytes()] = self(method, label, Y)
                    if method == "phate":  # whose map does not depend on a seed
                        known[Y.tobytes()]["disparity"] = disparity(np.load(folder / f"{labels[0]}-0.npy"), Y)
                for measure, value in known[Y.tobytes()].items():
                    quality.setdefault(label, {}).setdefault(measure, []).append(value)
        return quality


def _one_method(plan: Plan, method: str, data: Path, folder: Path, n_rows: int, judge: _Judge) -> dict[str, Any]:
    contenders, left_out = _gather(plan, method, n_rows)
    folder.mkdir()
    runs: dict[str, dict[str, list[Run]]] = {}
    while contenders and len(runs) < len(plan.modes):
        mode = plan.modes[len(runs)]
        try:
            runs[mode] = _MEASURES[mode](contenders, data, folder, plan.repeats, plan.limit)
        except ToolError as error:
            if error.label in ("", contenders[0].label):
                raise
            left_out[error.label] = "ended with an error: " + str(error).splitlines()[-1]
            contenders = [contender for contender in contenders if contender.label != error.label]
            runs.clear()  # all of one table are of the same contenders
    quality = judge.all(method, [c.label for c in contenders], folder, plan.repeats) if plan.quality else {}
    return {
        "base": plan.base,
        "versions": {c.label: c.version for c in contenders},
        "left_out": left_out,
        "runs": {m: {label: [asdict(r) for r in series] for label, series in s.items()} for m, s in runs.items()},
        "costs": {mode: summarise(series, plan.base) for mode, series in runs.items()},
        "quality": quality,
    }


def benchmark(
    plan: Plan, name: str, X: npt.NDArray[np.float32], labels: npt.NDArray[np.integer] | None, folder: Path
) -> dict[str, Any]:
    """Carry out a plan on one table.

    Parameters
    ----------
    plan : Plan
    name : str
        Of the table, for the report.
    X, labels : ndarray
        The table; labels may be None.
    folder : Path
        Where the table and the maps are written (METHOD/LABEL-SEED.npy).

    Returns
    -------
    dict
        The report, ready for JSON and for `summary.markdown`.
    """
    data = folder / "table.npy"
    np.save(data, X)
    judge = _Judge(X, labels)
    machine = describe_machine()  # before the load that follows
    methods = {method: _one_method(plan, method, data, folder / method, len(X), judge) for method in plan.methods}
    table = {"name": name, "rows": X.shape[0], "columns": X.shape[1]}
    return {"machine": machine, "data": table, "methods": methods}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    peers = [name for name in TOOLS if name != "gnomon"]
    parser.add_argument("--data", default="digits", help="digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--pca", type=int, help="reduce the table to so many components first")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["umap", "tsne", "pca"],
        choices=sorted({method for tool in TOOLS.values() for method in tool.methods}),
    )
    parser.add_argument("--peers", nargs="*", default=peers, choices=list(TOOLS))
    parser.add_argument("--base", default="gnomon", choices=list(TOOLS), help="what the peers are compared with")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, with the seeds 0, 1, ...")
    parser.add_argument("--limit", type=float, help="seconds of a run, above which a contender is left out")
    parser.add_argument("--mode", default="both", choices=list(MODES))
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--parameters", default="{}", help='of the base, as JSON: {"umap": {"min_dist": 0.2}}')
    parser.add_argument("--no-quality", dest="quality", action="store_false", help="time only")
    parser.add_argument("--json", type=Path, help="also write the report here")
    parser.add_argument("--keep", type=Path, help="keep the maps in this folder, which must not exist")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    plan = Plan(
        methods=options.methods,
        peers=options.peers,
        base=options.base,
        repeats=options.repeats,
        modes=MODES[options.mode],
        peer_python=options.peer_python,
        parameters=json.loads(options.parameters),
        quality=options.quality,
        limit=options.limit,
    )
    try:
        X, labels = load_table(options.data, options.rows, options.pca)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if options.keep is not None:
            folder = options.keep
            folder.mkdir(parents=True)
        try:
            report = benchmark(plan, options.data, X, labels, folder)
        except ToolError as error:
            print(error, file=sys.stderr)
            return 1
    print(markdown(report))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
