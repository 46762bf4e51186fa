"""What every method promises of any table: finite maps, copies together, order, units and places of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from kept import (
    ALIKE_UP_TO,
    ALL,
    BOTH_OF_TWO,
    IN_UNITS,
    PERMUTED,
    PLACED_UP_TO,
    SHARED_UP_TO,
    begun,
    brief,
    examples,
    fit,
    shape_error,
)

import gnomon
from gnomon.exceptions import GnomonWarning
from gnomon.neighbors import NATIVE_METRICS, compute_neighbors
from tables import tables

# Rows whose distances are all different, so that rounding decides nothing.
_APART = {"kinds": ("normal", "low rank"), "scales": (1.0,), "offsets": (0.0,), "n_rows": (12, 60), "n_columns": (3, 8)}
_GENERIC = tables(**_APART, copies=False, constants=False)
_DYADIC = st.integers(-60, 60).map(lambda exponent: 2.0**exponent)
# Whether a constant added to all numbers changes nothing, and whether their unit is that of the distances.
_METRICS = {
    "euclidean": (True, True),
    "manhattan": (True, True),
    "chebyshev": (True, True),
    "cosine": (False, False),
    "correlation": (True, False),
}
_OF_OTHER_VALUES = {  # of symbols, angles, shares, amounts, truths
    *("hamming", "haversine", "periodic", "hellinger", "ruzicka"),
    *("jaccard", "dice", "sokalsneath", "rogerstanimoto"),
}


def _refused(name, X):
    return name in BOTH_OF_TWO and len(np.unique(X, axis=0)) == 2


@pytest.mark.parametrize("name", ALL)
@examples(3)
@given(X=tables())
def test_7_a_map_is_finite_of_its_shape_and_leaves_the_table_as_it_was(name, X):
    assume(not _refused(name, X))
    before = X.tobytes()
    X.flags.writeable = False
    model = fit(name, X)
    assert model.embedding_.shape == (len(X), model.n_components)
    assert np.isfinite(model.embedding_).all()
    assert X.tobytes() == before


@pytest.mark.parametrize("name", [name for name in ALL if name != "graph_robust_pca"])
@examples(2)
@given(X=tables(), data=st.data())
def test_2_equal_rows_share_a_position(name, X, data):
    n = len(X)
    rows = np.concatenate([np.arange(n), data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n))])
    assume(not _refused(name, X))
    Y = fit(name, X[rows]).embedding_
    first = np.unique(X[rows], axis=0, return_index=True, return_inverse=True)
    apart = np.abs(Y - Y[first[1][first[2].ravel()]]).max()
    assert apart <= SHARED_UP_TO.get(name, 0.0) * np.abs(Y).max()


@pytest.mark.parametrize("name", [name for name in ALL if not isinstance(PERMUTED[name], str)])
@examples(2)
@given(X=_GENERIC, seed=st.integers(0, 2**32 - 1))
def test_1_a_map_of_permuted_rows_is_the_permuted_map(name, X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    Y = fit(name, X, **brief(name)).embedding_
    assert shape_error(Y[order], fit(name, X[order], **brief(name)).embedding_) <= PERMUTED[name]


@pytest.mark.parametrize("name", [name for name in ALL if isinstance(PERMUTED[name], str) and name != "sketch_map"])
@examples(2)
@given(X=_GENERIC, seed=st.integers(0, 2**32 - 1))
def test_1_where_a_map_depends_on_the_order_of_rows_its_neighbours_do_not(name, X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    here, there = fit(name, X, **brief(name)), fit(name, X[order], **brief(name))
    np.testing.assert_allclose(there.graph_.distances, here.graph_.distances[order], rtol=1e-6)
    assert np.array_equal(order[there.graph_.indices], here.graph_.indices[order])
    if hasattr(here.affinities_, "matrix"):
        one, other = here.affinities_.matrix.toarray(), there.affinities_.matrix.toarray()
        np.testing.assert_allclose(other, one[order][:, order], atol=1e-5 * one.max())


@pytest.mark.parametrize("name", ALL)
@examples(2)
@given(X=tables(scales=(1.0,), offsets=(0.0,)), factor=_DYADIC)
def test_3_in_other_units_the_map_is_the_same(name, X, factor):
    """A power of two rounds nothing, so that maps differ by nothing but their size."""
    assume(not _refused(name, X))
    Y, Z = fit(name, X).embedding_, fit(name, X * factor).embedding_
    assert shape_error(Y, Z) <= 1e-9
    if name in IN_UNITS:
        Z = Z / factor
    np.testing.assert_allclose(Z, Y, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("name", [name for name in ALL if not isinstance(ALIKE_UP_TO[name], str)])
@examples(2)
@given(X=_GENERIC, offset=st.sampled_from((1.0, -4096.0, 2.0**20, 2.0**30)))
def test_3_a_constant_that_is_added_does_not_change_the_map(name, X, offset):
    """The numbers end at 2^-20, so that adding the constant rounds nothing."""
    X = np.round(X * 2**20) / 2**20
    Y, Z = (fit(name, table, **brief(name)).embedding_ for table in (X, X + offset))
    assert shape_error(Y, Z) <= ALIKE_UP_TO[name]


def test_3_every_metric_is_known_to_have_an_origin_or_none():
    assert set(_METRICS) | _OF_OTHER_VALUES == set(NATIVE_METRICS.values())


@pytest.mark.parametrize("metric", _METRICS)
@examples(3)
@given(X=_GENERIC, factor=_DYADIC, offset=st.sampled_from((1.0, -4096.0, 2.0**20)))
def test_3_distances_know_no_units_and_no_origin_where_a_metric_has_none(metric, X, factor, offset):
    X = np.round(X * 2**20) / 2**20
    has_no_origin, in_units = _METRICS[metric]
    here = compute_neighbors(X, 4, metric=metric, method="exact")
    there = compute_neighbors((X + offset * has_no_origin) * factor, 4, metric=metric, method="exact")
    # of one minus a correlation near 1 the last digits of float32 are lost
    np.testing.assert_allclose(there.distances / (factor if in_units else 1.0), here.distances, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
@examples(2)
@given(X=tables(), data=st.data())
def test_4_a_row_is_placed_by_itself_whatever_is_placed_with_it(name, X, data):
    assume(not _refused(name, X))
    model = fit(name, X)
    new = np.concatenate([X[::2], X[:3] + 0.25 * np.ptp(X, axis=0), X.mean(axis=0)[None]])
    some = data.draw(st.lists(st.integers(0, len(new) - 1), min_size=1, max_size=len(new)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        together, apart = model.transform(new), model.transform(new[some])
        again = model.transform(new)
    assert np.isfinite(together).all()
    assert again.tobytes() == together.tobytes()
    atol = PLACED_UP_TO.get(name, 0.0) * max(np.abs(model.embedding_).max(), np.abs(together).max())
    np.testing.assert_allclose(apart, together[some], rtol=0, atol=atol)


@pytest.mark.parametrize("name", ALL)
@examples(1)
@given(X=tables())
def test_9_what_is_loaded_places_rows_with_the_same_bytes(name, X, tmp_path_factory):
    assume(not _refused(name, X))
    model, path = fit(name, X), tmp_path_factory.mktemp("saved") / "model"
    model.save(path)
    loaded, new = gnomon.load(path), np.concatenate([X[:4], X[:3] + 0.25 * np.ptp(X, axis=0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        assert loaded.transform(new).tobytes() == model.transform(new).tobytes()
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()
    assert str(loaded.get_params()) == str(begun(name).get_params())
