"""Put errors into a room's source at random, and count those that its tests notice."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.mutation.mutants import Mutant, mutants_of
from benchmarks.mutation.rooms import ROOMS, ROOT, Room
from benchmarks.mutation.survey import Survey, survey
from benchmarks.mutation.worker import Worker, run_pytest

__all__ = ["equivalents", "interval", "main", "order_of_tests"]

_EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], help="which rooms, by default all")
    parser.add_argument("-n", type=int, default=80, help="mutants drawn in each room, by default 80")
    parser.add_argument("--seed", type=int, default=0, help="of the draw, by default 0")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests for one mutant, by default 20")
    parser.add_argument("--only", default="", help="mutate only files whose path contains this")
    parser.add_argument(
        "--again", action="store_true", help="go on with the last such run, and try again what survived"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation", help="for copies and what is kept")
    given = parser.parse_args(arguments)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in given.rooms or ROOMS:
        _run_room(name, given)
    return 0


def _run_room(name: str, given: argparse.Namespace) -> None:
    room = ROOMS[name]
    drawn = draw(room, given.n, given.seed, given.only)
    record = given.folder / f"{name}-{given.seed}-{given.n}{given.only and '-' + given.only.replace('/', '.')}.json"
    ended: dict[str, str] = json.loads(record.read_text()) if given.again and record.exists() else {}
    told = equivalents()
    worker = Worker(given.folder / name)
    known = survey(room, worker, given.folder / "surveys")
    for test in known.failed:
        print(f"{test} fails where nothing is changed, and is left out")
    for number, mutant in enumerate(drawn, 1):
        if ended.get(mutant.key, "survived") != "survived":
            continue
        ended[mutant.key] = "equivalent" if mutant.key in told else judge(mutant, worker, known, given.budget)
        if ended[mutant.key] == "survived":
            print(f"{number} src/{mutant.file}:{mutant.line} {mutant.function}: {mutant.before} -> {mutant.after}")
        record.write_text(json.dumps(ended, indent=1))
        sys.stdout.flush()
    counts = Counter(ended[mutant.key] for mutant in drawn)
    noticed = counts["killed"] + counts["hung"]
    of = noticed + counts["survived"]
    low, high = interval(noticed, of)
    print(
        f"{name}: {noticed} of {of} noticed, {100 * noticed / max(of, 1):.0f} % [{100 * low:.0f}, {100 * high:.0f}], "
        f"{counts['hung']} of them because tests come to no end; {counts['equivalent']} more change nothing"
    )


def draw(room: Room, count: int, seed: int, only: str = "") -> list[Mutant]:
    """Return mutants of a room's source drawn without replacement, each as likely as any other."""
    files = [file for file in room.source_files() if only in file]
    every = [mutant for file in files for mutant in mutants_of((ROOT / "src" / file).read_text(), file)]
    unlike = list({mutant.key: mutant for mutant in every}.values())
    return random.Random(seed).sample(unlike, min(count, len(unlike)))


def judge(mutant: Mutant, worker: Worker, known: Survey, budget: float) -> str:
    """Return "killed" if some test fails with the mutant, "hung" if one comes to no end, else "survived".

    What `budget` seconds of tests do not notice has survived.
    """
    order = {test: place for place, test in enumerate(order_of_tests(known.tests_of(mutant), known, budget))}
    if not order:
        return "survived"
    files = list(dict.fromkeys(test.partition("::")[0] for test in order))
    limit = 10.0 + 5.0 * sum(known.seconds[test] for test in order)
    with worker.changed(mutant.file, mutant.put_into((worker.folder / "src" / mutant.file).read_text())):
        status = worker.run(
            lambda: run_pytest(files, [_Chosen(order)], stop_early=True), seconds=limit, keeps_compiled=False
        )
    if status is None:
        return "hung"
    return "survived" if status == pytest.ExitCode.OK else "killed"


def order_of_tests(near: set[str], known: Survey, budget: float) -> list[str]:
    """Return the tests that answer for a mutant, up to so many seconds of them.

    First come the tests that run its lines, then the rest of their files, whose tests may share what one of them has
    made. Of both the quickest are taken, which are most, and the files of which least is taken come first.
    """
    order: list[str] = []
    for tests in (near, known.whole_files(near) - near):
        by_file: dict[str, list[str]] = {}
        for test in sorted(tests, key=lambda test: (known.seconds[test], test)):
            if budget >= 0.0:
                by_file.setdefault(test.partition("::")[0], []).append(test)
                budget -= known.seconds[test]
        for chosen in sorted(by_file.values(), key=lambda chosen: sum(known.seconds[test] for test in chosen)):
            order += chosen
    return order


class _Chosen:
    """A pytest plugin that keeps some tests, in a given order."""

    def __init__(self, order: dict[str, int]) -> None:
        self.order = order

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )


def equivalents() -> set[str]:
    """Return the keys of mutants that are known to change nothing, from equivalent.txt."""
    lines = _EQUIVALENT.read_text().splitlines() if _EQUIVALENT.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith((" ", "#"))}


def interval(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    z, share = 1.959964, hits / of
    middle = (share + z**2 / (2 * of)) / (1 + z**2 / of)
    half = z / (1 + z**2 / of) * math.sqrt(share * (1 - share) / of + z**2 / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)
