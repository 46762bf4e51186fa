"""The errors that are put into a source are those it says, and what is counted is what happened."""

from __future__ import annotations

import ast
import importlib
import os
import signal
import sys
import time
from dataclasses import replace

import pytest
from benchmarks.mutation import worker as module
from benchmarks.mutation.mutants import mutants_of
from benchmarks.mutation.rooms import ROOMS, ROOT
from benchmarks.mutation.run import draw, equivalents, interval, order_of_tests
from benchmarks.mutation.survey import Survey

_SOURCE = '''"""Numbers up to 9."""
from __future__ import annotations

__all__ = ["clip"]
if TYPE_CHECKING:
    limit = 3


@dataclass(frozen=True)
class Range:
    low: int = 7


def clip(values: list[int] | None, high=4):
    """Keep 5."""
    if values and high > 2:
        raise ValueError(f"{high + 1} of {len(values)}")
    for value in values[1:high]:
        sums[0] += min(value, high)
        note("2 é", flag=True)
    return [-x for x in values if x not in (6,)]
'''


def _changes(source):
    return {(mutant.before, mutant.after) for mutant in mutants_of(source, "gnomon/clip.py")}


def _after(line):
    return {after for before, after in _changes(_SOURCE) if before == line}


def test_a_condition_loses_a_half_is_turned_round_and_is_moved_by_one():
    assert _after("if values and high > 2:") == {
        "if (not (values and high > 2)):",
        "if (values or high > 2):",
        "if (values):",
        "if (high > 2):",
        "if values and (high >= 2):",
        "if values and high > (3):",
        "if values and high > (1):",
    }


def test_sums_and_calls_are_changed_and_left_out():
    assert _after("sums[0] += min(value, high)") == {
        "pass",
        "sums[0] -= min(value, high)",
        "sums[(1)] += min(value, high)",
        "sums[(-1)] += min(value, high)",
        "sums[0] += (max(value, high))",
    }
    assert _after('note("2 é", flag=True)') == {"pass", 'note("2 é", flag=(False))'}


def test_numbers_are_one_more_or_less_where_that_is_another_number():
    assert {after for _, after in _changes("limit = 1e30\nleast = 0.5\n")} == {"least = (1.5)", "least = (-0.5)"}


def test_slices_are_moved_answers_are_lost_and_errors_are_not_raised():
    assert "for value in values[1:high - 1]:" in _after("for value in values[1:high]:")
    lost = "return [-x for x in values if x not in (6,)]"
    assert {"return None", "return [(x) for x in values if x not in (6,)]"} < _after(lost)
    assert "return [-x for x in values if (x in (6,))]" in _after(lost)
    assert _after('raise ValueError(f"{high + 1} of {len(values)}")') == {"pass"}


def test_texts_types_and_lists_of_names_are_left_alone():
    assert not any(
        word in before for before, _ in _changes(_SOURCE) for word in ("limit", "__all__", "frozen", "9", "5")
    )
    defaults = {before for before, _ in _changes(_SOURCE) if "high=4" in before}
    assert defaults == {"def clip(values: list[int] | None, high=4):"}
    assert not any("list[int] & None" in after for _, after in _changes(_SOURCE))


def test_every_mutant_of_the_longest_file_of_a_room_is_another_program():
    programs = {}
    for room in ROOMS.values():
        longest = max(room.source_files(), key=lambda file: (ROOT / "src" / file).stat().st_size)
        for mutant in draw(room, 8, seed=1, only=longest):
            source = (ROOT / "src" / mutant.file).read_text()
            if mutant.file not in programs:
                programs[mutant.file] = ast.dump(ast.parse(source))
            assert ast.dump(ast.parse(mutant.put_into(source))) != programs[mutant.file]
            assert mutant.first <= mutant.line <= mutant.last


def test_the_same_seed_draws_the_same_mutants():
    room = ROOMS["persistence"]
    assert draw(room, 9, seed=3) == draw(room, 9, seed=3) != draw(room, 9, seed=4)


def test_mutants_said_to_change_nothing_exist_and_have_a_reason():
    keys = {
        mutant.key
        for room in ROOMS.values()
        for file in room.source_files()
        if any(key.startswith(file) for key in equivalents())
        for mutant in mutants_of((ROOT / "src" / file).read_text(), file)
    }
    assert equivalents() <= keys
    lines = (ROOT / "benchmarks/mutation/equivalent.txt").read_text().splitlines()
    keyed = [i for i, line in enumerate(lines) if line.strip() in keys]
    assert len(keyed) == len(equivalents())
    assert all(lines[i + 1].startswith("    ") for i in keyed if lines[i + 1 :])


def test_a_line_is_answered_for_by_the_tests_that_run_it_else_by_those_of_its_file():
    known = Survey()
    known.add(
        {
            "failed": ["t.py::broken"],
            "seconds": {"t.py::one": 0.1, "t.py::two": 0.2},
            "lines": {"a.py": {"3": ["t.py::one", "t.py::broken"], "5": ["*"]}, "b.py": {"1": ["t.py::two"]}},
        }
    )
    mutant = replace(mutants_of("def f():\n    return 1\n", "a.py")[0], first=2, last=3)
    assert known.tests_of(mutant) == {"t.py::one"}
    assert known.tests_of(replace(mutant, first=5, last=5)) == {"t.py::one", "t.py::two"}
    assert known.tests_of(replace(mutant, at_import=True)) == {"t.py::one", "t.py::two"}
    assert known.tests_of(replace(mutant, file="b.py", first=7, last=9)) == {"t.py::two"}
    assert known.tests_of(replace(mutant, file="c.py")) == set()
    known.add({"failed": [], "seconds": {"signatures.py::one": 0.1}, "lines": {}})
    assert known.tests_of(replace(mutant, file="b.py", at_import=True)) == {"t.py::two", "signatures.py::one"}
    assert known.tests_of(mutant) == {"t.py::one"}


def test_the_quickest_tests_are_taken_those_of_the_line_first():
    seconds = {"a.py::slow": 8.0, "a.py::quick": 0.1, "b.py::one": 0.2, "b.py::two": 0.3, "b.py::rest": 0.1}
    known = Survey(seconds=seconds)
    near = {"a.py::slow", "a.py::quick", "b.py::one", "b.py::two"}
    quick = ["a.py::quick", "b.py::one", "b.py::two"]
    assert order_of_tests(near, known, 0.55) == quick
    assert order_of_tests(near, known, 5.0) == ["b.py::one", "b.py::two", "a.py::quick", "a.py::slow"]
    assert order_of_tests(near, known, 9.0) == ["b.py::one", "b.py::two", "a.py::quick", "a.py::slow", "b.py::rest"]
    assert order_of_tests(set(), known, 9.0) == []


def test_what_is_reached_at_import_is_told_from_what_is_called():
    found = {mutant.before: mutant.at_import for mutant in mutants_of(_SOURCE, "gnomon/clip.py")}
    assert found["def clip(values: list[int] | None, high=4):"]
    assert found["low: int = 7"]
    assert not found["sums[0] += min(value, high)"]


def test_intervals_are_wilsons():
    low, high = interval(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(10, 10)[1] == pytest.approx(1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")
def test_children_that_fail_crash_or_hang_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WARM", ())
    monkeypatch.setattr(module.shutil, "copytree", lambda *_, **__: (tmp_path / "w/src/gnomon").mkdir(parents=True))
    monkeypatch.setattr(module.Worker, "_takes_copy", lambda _: 0)
    worker = module.Worker(tmp_path / "w")
    monkeypatch.setattr(module, "_GRACE", 0.2)
    assert worker.run(lambda: 0, seconds=5.0) == 0
    assert worker.run(lambda: 1, seconds=5.0) == 1
    assert worker.run(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0, seconds=5.0) == -signal.SIGKILL
    assert worker.run(lambda: time.sleep(60) or 0, seconds=0.1) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")
def test_a_child_runs_the_changed_source_though_the_old_one_is_compiled(tmp_path, monkeypatch):
    package = tmp_path / "src" / "gnomon"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "one.py").write_text("ONE = 1\n")
    monkeypatch.setattr(module, "_WARM", ())
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "gnomon"]:
        monkeypatch.delitem(sys.modules, name)
    worker = module.Worker(tmp_path / "w")
    assert any((tmp_path / "w" / "compiled").rglob("one.*.pyc"))

    def one():
        return importlib.import_module("gnomon.one").ONE

    with worker.changed("gnomon/one.py", "ONE = 2\n"):
        assert worker.run(one, seconds=5.0, keeps_compiled=False) == 2
    assert worker.run(one, seconds=5.0) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")
def test_a_package_that_is_taken_from_elsewhere_is_no_subject(tmp_path, monkeypatch):
    package = tmp_path / "src" / "gnomon"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "_WARM", ("gnomon",))  # which the children then have, from where it is
    with pytest.raises(RuntimeError, match="gnomon is not taken from"):
        module.Worker(tmp_path / "w")
