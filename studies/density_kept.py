"""Which maps keep the density around each point, and what does it cost them?

UMAP evens out densities. DensMAP adds a term that ties the radius of each point's neighbourhood in the map to the one
in the data, FeatMAP one spread for each of its leading local directions. The study maps the same tables by UMAP,
DensMAP and FeatMAP of gnomon and by umap-learn's densMAP, if an interpreter that has it is named, and gives the
correlation of local radii in map and data (logarithm of the mean squared distance to the 15 and to the 30 nearest),
beside the trustworthiness of the map and the seconds it took.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.evaluation.radii import local_radius_correlation
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

Float32 = npt.NDArray[np.float32]

_PEER = Path(__file__).parent.parent / "benchmarks" / "tools.py"
_COLORS = {"UMAP": "#9aa3ad", "DensMAP": "#6273d5", "FeatMAP": "#2aa56d", "umap-learn densMAP": "#d47719"}


def _ours(X: Float32, seed: int, jobs: int | None) -> dict[str, tuple[Float32, float]]:
    found = {}
    for name, estimator in (
        ("UMAP", gnomon.UMAP(n_neighbors=30, random_state=seed, n_jobs=jobs)),
        ("DensMAP", gnomon.DensMAP(random_state=seed, n_jobs=jobs)),
        ("FeatMAP", gnomon.FeatMAP(random_state=seed, n_jobs=jobs)),
    ):
        begun = time.perf_counter()
        Y = estimator.fit_transform(X)
        found[name] = (Y, time.perf_counter() - begun)
    return found


def _theirs(X: Float32, python: str) -> tuple[Float32, float]:
    """Run umap-learn's densMAP with its defaults (n_neighbors=30) in another interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table.npy", Path(folder) / "map"
        np.save(table, X)
        parameters = json.dumps({"densmap": True, "n_neighbors": 31})  # it counts the point itself
        command = [python, str(_PEER), "once", "umap-learn", "umap", str(table), str(out), parameters]
        subprocess.run(command, check=True, capture_output=True)
        return np.load(f"{out}.npy"), json.loads(Path(f"{out}.json").read_text())["fit_wall"]


def _judge(X: Float32, Y: Float32, seed: int, jobs: int | None) -> dict[str, float]:
    scores = gnomon.evaluate(X, Y, random_state=seed, n_jobs=jobs)
    return {
        "radii_15": local_radius_correlation(X, Y, n_neighbors=15, n_jobs=jobs),
        "radii_30": local_radius_correlation(X, Y, n_neighbors=30, n_jobs=jobs),
        "trustworthiness": scores.trustworthiness,
        "continuity": scores.continuity,
    }


def _picture(report: dict[str, dict[str, dict[str, float]]]) -> Any:
    figure = make_figure(11.0, 4.4)
    for ax, (name, runs) in zip(np.atleast_1d(figure.subplots(1, len(report))), report.items(), strict=True):
        for method, one in runs.items():
            ax.scatter(one["trustworthiness"], one["radii_15"], s=70, color=_COLORS[method], label=method)
        ax.set_title(name, loc="left", fontsize=11, fontweight="bold")
        ax.set_xlabel("trustworthiness")
        dress(ax)
    figure.axes[0].set_ylabel("correlation of local radii, map and data")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("density_kept", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=["mnist", "paul15", "pbmc4k"])
    made.add_argument("--rows", type=int, default=10_000)
    made.add_argument("--peer-python", help="interpreter that has umap-learn; without it gnomon's maps alone")
    options = parse(made, arguments)
    report: dict[str, dict[str, dict[str, float]]] = {}
    for name in options.sets:
        X, _ = load_rows(name, options.rows)
        maps = _ours(X, options.seed, options.jobs)
        if options.peer_python:
            maps["umap-learn densMAP"] = _theirs(X, options.peer_python)
        report[name] = {}
        for method, (Y, seconds) in maps.items():
            one = report[name][method] = {**_judge(X, Y, options.seed, options.jobs), "seconds": seconds}
            print(f"{name:10} {method:20} " + "  ".join(f"{key} {value:.3f}" for key, value in one.items()), flush=True)
    write_json(options.out, "density_kept", {"rows": options.rows, "sets": report})
    write_png(options.out, "density_kept", _picture(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
