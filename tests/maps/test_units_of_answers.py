"""Answers about a table do not depend on its unit."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gnomon

_EXPONENTS = (-90, -60, 60, 90)


def _table():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(150, 4))
    X[:, 0] += 10.0 * np.repeat([0, 1, 2], 50)
    return X


@functools.cache
def _map(exponent, method="pca"):
    return gnomon.map(_table() * 2.0**exponent, method=method, random_state=0)


@pytest.mark.parametrize("exponent", _EXPONENTS)
@pytest.mark.parametrize("method", ["pca", "umap"])
def test_clusters_are_the_same_in_any_unit(method, exponent):
    found, known = _map(exponent, method).clusters(), _map(0, method).clusters()
    assert len(set(known.labels.tolist()) - {-1}) == 3
    np.testing.assert_array_equal(found.labels, known.labels)


@pytest.mark.parametrize("exponent", _EXPONENTS)
def test_gaps_are_the_same_in_any_unit(exponent):
    found, known = (_map(one).verdicts() for one in (exponent, 0))
    assert [(one.answer, one.p_value) for one in found] == [(one.answer, one.p_value) for one in known]


@pytest.mark.parametrize("exponent", _EXPONENTS)
def test_dimension_and_rows_far_out_are_the_same_in_any_unit(exponent):
    here, there = _map(exponent), _map(0)
    found, known = here.intrinsic_dimension(), there.intrinsic_dimension()
    np.testing.assert_allclose([found.low, found.value, found.high], [known.low, known.value, known.high], rtol=1e-5)
    np.testing.assert_array_equal(here.outliers().rows, there.outliers().rows)


@pytest.mark.parametrize("exponent", _EXPONENTS)
@pytest.mark.parametrize("method", ["pca", "umap"])
def test_arrows_and_ellipses_have_the_units_of_map_and_table(method, exponent):
    here, there = _map(exponent, method).explain(), _map(0, method).explain()
    of_map = 2.0**exponent if method == "pca" else 1.0  # that of PCA has the table's own
    np.testing.assert_allclose(here.importance.astype(float), there.importance * of_map, rtol=1e-3, atol=1e-5 * of_map)
    lengths = there.semi_axes * (of_map / 2.0**exponent)
    np.testing.assert_allclose(here.semi_axes, lengths, rtol=1e-3, atol=1e-5 * lengths.max())
    assert (here.importance > 0.0).all()
    assert (there.semi_axes > 0.0).all()
