"""Interrupts, kills, crowds of fits and memory: each in processes of their own, which they may not take down."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kept import ALL
from tests.threads import of_a_whole_machine

_HERE = Path(__file__).parent
_POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
_PROC = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
_KILLED = ["umap", "pca", "tsne", "isomap", "pacmap"]
_PRESSED = ["umap", "tsne", "pca", "pacmap", "isomap", "lle"]


def _command(program, *arguments):
    return [sys.executable, str(_HERE / program), *map(str, arguments)]


def _run(program, *arguments, timeout=1200):
    command, environment = _command(program, *arguments), of_a_whole_machine()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@_POSIX
def test_11_after_an_interrupt_at_any_moment_fits_are_those_of_a_fresh_process():
    assert int(_run("interrupts.py", 0, 2, "umap", "pca", "tsne", "isomap", "pacmap")) > 0


@_POSIX
@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", ALL)
def test_11_after_many_interrupts_every_method_fits_as_in_a_fresh_process(name):
    assert int(_run("interrupts.py", 1, 20, name)) > 0


@_POSIX
@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", _KILLED)
def test_twenty_kills_leave_whole_files_and_nothing_else(name, tmp_path):
    rng = random.Random(name)
    for _ in range(20):
        with subprocess.Popen(_command("stress.py", "kills", tmp_path, 7, name), stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(rng.random() * 0.4)
            child.kill()
        files = int(_run("stress.py", "checks", tmp_path, 7, name))
    assert files > 0


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks and spawns")
def test_two_hundred_fits_at_once_are_those_one_after_the_other():
    assert int(_run("stress.py", "parallel", 0, 200)) == 600


@_PROC
@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", _PRESSED)
def test_memory_is_flat_over_fifty_fits(name):
    peaks = [int(line) for line in _run("stress.py", "memory", name, 50).split()]
    assert peaks[-1] - peaks[4] < 2e6, peaks
    assert peaks[-1] < 2e7, peaks
