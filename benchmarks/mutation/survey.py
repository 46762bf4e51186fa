"""Which test runs which line: every test file is run twice, watched and not, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.rooms import ROOT, Room
from benchmarks.mutation.worker import Worker, run_pytest

__all__ = ["Survey", "survey"]

_ALL = "*"  # the context of what tests of a file share, such as a fixture of the module


@dataclass
class Survey:
    """What is known of a room's tests.

    Attributes
    ----------
    seconds : dict
        Processor time that each test takes, by its node id; tests that fail where nothing is changed are left out.
    lines : dict
        The tests that run a line, by file and number.
    failed : list of str
        Tests that fail where nothing is changed.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def add(self, file: dict[str, Any]) -> None:
        """Take what is known of one test file."""
        self.failed += file["failed"]
        self.seconds |= file["seconds"]
        known = set(file["seconds"])
        for source, lines in file["lines"].items():
            for line, tests in lines.items():
                running = known if _ALL in tests else known.intersection(tests)
                self.lines.setdefault(source, {}).setdefault(int(line), set()).update(running)

    def tests_of(self, mutant: Mutant) -> set[str]:
        """Return the tests that run some of the lines of a mutant.

        What is reached when a file is imported, such as a constant, is answered for by all tests that run any line of
        the file, and by those that run no line at all, which look at signatures and docstrings. All tests of the file
        answer for a line that no test is seen to run: it may run in another process.
        """
        lines = self.lines.get(mutant.file, {})
        found: set[str] = set()
        if mutant.at_import:
            running = (tests for one in self.lines.values() for tests in one.values())
            found = set(self.seconds).difference(*running)
            return found.union(*lines.values())
        found = found.union(*(lines.get(line, ()) for line in range(mutant.first, mutant.last + 1)))
        return found or set().union(*lines.values())

    def whole_files(self, tests: set[str]) -> set[str]:
        """Return all tests of the files that hold some tests: those may keep what the first of them made."""
        files = {test.partition("::")[0] for test in tests}
        return {test for test in self.seconds if test.partition("::")[0] in files}


class _Contexts:
    """A pytest plugin that says which test runs, and that something shared is made."""

    def __init__(self, coverage: Any = None) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def _switch(self, context: str) -> None:
        if self.coverage is not None:
            self.coverage.switch_context(context)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._now = item.nodeid
        self._switch(item.nodeid)
        start = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = sum(os.times()[:4]) - start
            self._switch("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        self._switch(_ALL)
        try:
            return (yield)
        finally:
            self._switch(self._now)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def survey(room: Room, worker: Worker, folder: Path) -> Survey:
    """Run a room's tests where nothing is changed.

    Parameters
    ----------
    room : Room
        Which tests.
    worker : Worker
        Where they run.
    folder : Path
        Keeps what was found; a test file is run again when it or the source has changed.
    """
    found = Survey()
    source = hashlib.sha256()
    for path in sorted((ROOT / "src" / "gnomon").rglob("*.py")):
        source.update(path.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    for file in room.test_files():
        key = hashlib.sha256(source.digest() + (ROOT / file).read_bytes()).hexdigest()[:16]
        kept = folder / f"{file.replace('/', '.')}.{key}.json"
        if not kept.exists():
            watched = worker.folder / "watched.json"
            worker.run(lambda file=file, watched=watched: _watch(file, watched), seconds=1800.0)
            plain = worker.folder / "plain.json"
            worker.run(lambda file=file, plain=plain: _time(file, plain), seconds=900.0)
            first, second = (json.loads(path.read_text()) for path in (watched, plain))
            failed = sorted({*first["failed"], *second["failed"]})
            seconds = {test: took for test, took in second["seconds"].items() if test not in failed}
            kept.write_text(json.dumps({"failed": failed, "seconds": seconds, "lines": first["lines"]}))
            watched.unlink()
            plain.unlink()
        found.add(json.loads(kept.read_text()))
    return found


def _time(file: str, out: Path) -> int:
    plugin = _Contexts()
    status = run_pytest([file], [plugin], stop_early=False)
    out.write_text(json.dumps({"failed": plugin.failed, "seconds": plugin.seconds}))
    return status


def _watch(file: str, out: Path) -> int:
    import coverage

    package = Path(os.environ["PYTHONPATH"].split(os.pathsep)[0])
    watcher = coverage.Coverage(data_file=None, config_file=False, source=[str(package / "gnomon")])
    plugin = _Contexts(watcher)
    watcher.start()
    try:
        status = run_pytest([file], [plugin], stop_early=False)
    finally:
        watcher.stop()
    data = watcher.get_data()
    lines: dict[str, dict[int, list[str]]] = {}
    for path in data.measured_files():
        contexts = data.contexts_by_lineno(path)
        name = Path(path).relative_to(package).as_posix()
        lines[name] = {line: sorted({*tests} - {""}) for line, tests in contexts.items() if {*tests} - {""}}
    out.write_text(json.dumps({"failed": plugin.failed, "lines": lines}))
    return status
