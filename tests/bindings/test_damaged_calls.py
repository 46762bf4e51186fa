"""Damaged arguments end in an error or in numbers, never in a crash: the calls run in a process of their own.

GNOMON_FUZZ_MUTANTS sets how many damaged calls of each binding the slow test makes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bindings.cases import cases

_ROOT = Path(__file__).parents[2]
_MANY = int(os.environ.get("GNOMON_FUZZ_MUTANTS", "20000"))


def _run(names, n_mutants, *, seconds):
    command = [sys.executable, "-m", "tests.bindings.damage", str(n_mutants), *names]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=seconds, check=False)


def test_a_few_damaged_calls_of_every_binding():
    done = _run([name for name, _ in cases()], 60, seconds=240)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [name for name, _ in cases()])
def test_many_damaged_calls(name):
    done = _run([name], _MANY, seconds=3600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
