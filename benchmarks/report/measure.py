"""Measure a method on a table, all contenders turn and turn about, and keep the result in a folder."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import n_cores
from benchmarks.report.limits import measure_limits
from benchmarks.report.pictures import thumbnail
from benchmarks.report.subjects import Subject
from benchmarks.run import Plan, benchmark

__all__ = ["measure_subject", "read_results"]


def measure_subject(subject: Subject, method: str, folder: Path, plan: Plan, slow: set[str]) -> dict[str, Any]:
    """Return the result that is kept, or measure and keep it.

    Parameters
    ----------
    subject : Subject
    method : str
    folder : Path
        Where results are kept; an interrupted report goes on from there.
    plan : Plan
        What all tables have in common.
    slow : set of str
        Peers that took too long on a shorter table: they are left out, and those that take too long now are added.
    """
    kept = subject.file(folder, method)
    if not kept.exists():
        X, labels = subject.load()
        own = replace(plan, methods=[method], peers=[peer for peer in plan.peers if peer not in slow])
        with tempfile.TemporaryDirectory() as temporary:
            report = benchmark(own, subject.name, X, labels, Path(temporary))
            maps = {
                label: thumbnail(np.load(Path(temporary, method, f"{label}-0.npy")), labels)
                for label in report["methods"][method]["versions"]
                if Path(temporary, method, f"{label}-0.npy").exists()
            }
        report["maps"] = maps
        report["limits"] = vars(measure_limits(n_cores()))
        why = f"took more than {plan.limit:g} s on a shorter table"
        report["methods"][method]["left_out"] |= dict.fromkeys(sorted(slow), why)
        kept.write_text(json.dumps(report, indent=1))
    result: dict[str, Any] = json.loads(kept.read_text())
    left_out: Mapping[str, str] = result["methods"][method]["left_out"]
    slow.update(peer for peer, why in left_out.items() if "took more than" in why)
    return result


def read_results(folder: Path, subjects: Sequence[Subject], method: str) -> dict[Subject, dict[str, Any]]:
    """Return what is kept of a method, by table."""
    files = {subject: subject.file(folder, method) for subject in subjects}
    return {subject: json.loads(file.read_text()) for subject, file in files.items() if file.exists()}
