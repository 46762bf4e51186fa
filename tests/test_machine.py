"""The processors that a process may use: affinity, the container's quota and OMP_NUM_THREADS are respected."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gnomon import _machine
from gnomon._machine import usable_cpus


@pytest.fixture
def machine(monkeypatch):
    """Eight CPUs, no quota, no OMP_NUM_THREADS; returns a function that sets the quota."""
    monkeypatch.setattr(_machine.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    def set_quota(cores):
        monkeypatch.setattr(_machine, "_cgroup_quota", lambda: cores)

    set_quota(math.inf)
    return set_quota


@pytest.mark.parametrize(("quota", "expected"), [(0.5, 1), (1.0, 1), (2.7, 2), (8.0, 8), (64.0, 8)])
def test_f81_the_quota_of_a_container_is_respected(machine, quota, expected):
    machine(quota)
    assert usable_cpus() == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("3", 3), ("4,2", 4), (" 3 ", 3), ("100", 8), ("0", 8), ("", 8), ("many", 8), ("²", 8)]
)
def test_omp_num_machine_is_an_upper_limit(machine, monkeypatch, text, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert usable_cpus() == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ({"cpu.max": "nonsense"}, math.inf),
        ({}, math.inf),
    ],
)
def test_both_versions_of_cgroups_are_read(monkeypatch, tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(_machine, "_GROUPS", tmp_path)
    assert _machine._cgroup_quota() == expected


@pytest.mark.parametrize(
    ("own", "quotas", "expected"),
    [
        ("0::/a/b", {"a/b": "50000 100000", "a": "max 100000"}, 0.5),
        ("0::/a/b", {"a/b": "max 100000", "a": "150000 100000"}, 1.5),
        ("0::/a/b", {"a/b": "300000 100000", "a": "200000 100000", "": "250000 100000"}, 2.0),
        ("0::/", {"a": "50000 100000"}, math.inf),
    ],
)
def test_f81_the_least_quota_of_a_service_and_its_parents_counts(monkeypatch, tmp_path, own, quotas, expected):
    for folder, text in quotas.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "cpu.max").write_text(text)
    (tmp_path / "cgroup").write_text(own)
    monkeypatch.setattr(_machine, "_GROUPS", tmp_path)
    monkeypatch.setattr(
        _machine, "Path", lambda path: tmp_path / "cgroup" if path == "/proc/self/cgroup" else Path(path)
    )
    assert _machine._cgroup_quota() == expected


def _folder(path, **files):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)
    return path


def test_the_least_that_any_group_leaves_counts_and_pages_of_files_do_not(monkeypatch, tmp_path):
    files = ("memory.max", "memory.current", "inactive_file")
    root = _folder(tmp_path, memory__max="max", memory__current="900")
    outer = _folder(
        tmp_path / "a", memory__max="1000", memory__current="700", memory__stat="anon 1\ninactive_file 500\n"
    )
    inner = _folder(tmp_path / "a" / "b", memory__max="600", memory__current="100")
    groups = [(folder, *files) for folder in (root, outer, inner)]
    for found, expected in ((groups, 500.0), (groups[:2], 800.0), (groups[:1], math.inf)):
        monkeypatch.setattr(_machine, "_limited_groups", lambda found=found: tuple(found))
        assert _machine._left_by_groups() == expected
        assert _machine.free_memory() <= expected


def test_a_group_that_took_more_than_it_may_leaves_nothing(monkeypatch, tmp_path):
    folder = _folder(tmp_path, memory__max="10", memory__current="30")
    groups = ((folder, "memory.max", "memory.current", "inactive_file"),)
    monkeypatch.setattr(_machine, "_limited_groups", lambda: groups)
    assert _machine._left_by_groups() == 0.0


def test_limits_of_the_process_are_respected(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert _machine._left_by_limits() == math.inf
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**50, 2**50))
    assert 0.0 < _machine._left_by_limits() < 2**50
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert _machine._left_by_limits() == 0.0 == _machine.free_memory()
