"""The processors that a process may use: affinity, the container's quota and OMP_NUM_THREADS are respected."""

from __future__ import annotations

import math

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
    monkeypatch.setattr(_machine, "Path", lambda path: tmp_path / path.removeprefix("/sys/fs/cgroup/"))
    assert _machine._cgroup_quota() == expected
