"""A fit takes at its peak no more memory than is told before it begins."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from kept import ALL, begun, examples
from stress import measured

from gnomon.exceptions import GnomonWarning
from tables import tables

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs") or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="needs /proc and the C library of GNU",
)
_TOLD = [name for name in ALL if name != "neighbor_embedding"]  # whose parts may be anyone's
_OF_ALL_PAIRS = ("mds", "kernel_pca", "two_kernel_pca", "isomap", "phate", "lle")
_TABLES = tables(
    kinds=("normal", "low rank"), scales=(1.0,), offsets=(0.0,), n_rows=(300, 900), n_columns=(2, 30), copies=False
)


@pytest.fixture(scope="module", autouse=True)
def what_other_tests_left_stays():
    """Each measurement begins with a look for garbage, which need not look through all that was there before."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", _TOLD)
@examples(1)
@given(X=_TABLES)
def test_10_the_peak_of_a_fit_is_at_most_what_was_told(name, X):
    model = begun(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        begun(name).fit(X[:100])  # loads what a fit needs
        assert measured(model, X) <= model.foresee(*X.shape).n_bytes


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [3, 10, 50])
@pytest.mark.parametrize("name", _TOLD)
def test_10_the_peak_of_a_fit_of_many_rows_is_at_most_what_was_told(name, n_columns):
    n_rows = 4000 if name in _OF_ALL_PAIRS else 20_000
    program = Path(__file__).with_name("stress.py")
    arguments = [sys.executable, str(program), "peak", name, str(n_rows), str(n_columns)]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr
    peak, told = map(float, run.stdout.split())
    print(f"{name}, {n_rows} x {n_columns}: {peak / 1e6:.1f} MB at the peak, {told / 1e6:.1f} MB told")
    assert peak <= told
