"""The same numbers are the same map: in any container, for any number of threads, in any memory, in blocks."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from kept import ALIKE_UP_TO, ALL, BOTH_OF_TWO, brief, examples, fit, shape_error
from scipy import sparse

import gnomon
from gnomon.exceptions import GnomonWarning
from quick import ESTIMATORS
from tables import tables

_THREADED = [name for name in ALL if "n_jobs" in ESTIMATORS[name].get_params()]
_APART = {"kinds": ("normal", "low rank"), "scales": (1.0,), "offsets": (0.0,), "n_rows": (12, 60), "n_columns": (3, 8)}


def _strided(X):
    wide = np.full((2 * X.shape[0], X.shape[1] + 1), np.nan)
    wide[::-2, 1:] = X
    return wide[::-2, 1:]


_FORMS = {
    "columns": np.asfortranarray,
    "strides": _strided,
    "big-endian": lambda X: X.astype(">f8"),
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("name", ALL)
@examples(1)
@given(X=tables())
def test_6_the_container_does_not_change_a_bit(name, X):
    assume(not (name in BOTH_OF_TWO and len(np.unique(X, axis=0)) == 2))
    expected = fit(name, X).embedding_.tobytes()
    for form, make in _FORMS.items():
        assert fit(name, make(X)).embedding_.tobytes() == expected, form


@pytest.mark.parametrize("name", [name for name in ALL if not isinstance(ALIKE_UP_TO[name], str)])
@examples(1)
@given(X=tables(**_APART))
def test_6_sparse_rows_have_the_map_of_dense_ones_up_to_rounding(name, X):
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    X[:, 0] += 1.0  # no row of zeros
    dense, expected = fit(name, X, **brief(name)), None
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        found = fit(name, form(X), **brief(name)).embedding_
        expected = found if expected is None else expected
        assert found.tobytes() == expected.tobytes()
    assert shape_error(dense.embedding_, expected) <= ALIKE_UP_TO[name]


@pytest.mark.parametrize("name", ALL)
def test_6_a_table_on_disk_is_fitted_and_its_rows_are_placed_as_in_memory(name, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 5))
    np.save(tmp_path / "X.npy", X)
    stored = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = fit(name, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        assert model.transform(stored).tobytes() == model.transform(X).tobytes()
        from_disk = fit(name, stored)
        np.testing.assert_allclose(from_disk.transform(X), model.transform(X), atol=1e-9 * np.abs(X).max())


@pytest.mark.parametrize("name", _THREADED)
@examples(2)
@given(X=tables())
def test_5_threads_and_budgets_of_memory_do_not_change_a_bit(name, X):
    assume(not (name in BOTH_OF_TWO and len(np.unique(X, axis=0)) == 2))
    expected = fit(name, X).embedding_.tobytes()
    fewer = 1 if ESTIMATORS[name].n_jobs == 2 else 2
    with gnomon.running(memory=2.0**24):
        found = fit(name, X, n_jobs=fewer).embedding_
    assert found.tobytes() == expected
    assert fit(name, X, n_jobs=3).embedding_.tobytes() == expected
