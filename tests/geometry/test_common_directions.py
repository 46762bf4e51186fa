"""Directions in which columns go together are counted, and noise of single columns is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

import gnomon as gn
from gnomon.geometry.common_directions import _ranks, _variances, common_directions, directions_beside_noise
from gnomon.geometry.dimension import DimensionEstimate, intrinsic_dimension
from gnomon.maps.report import report_text
from gnomon.maps.together import directions_told


def _rows(kind, seed, n=300, d=60):
    draw = np.random.default_rng(seed)
    noise = draw.normal(size=(n, d))
    if kind == "counts":
        return draw.poisson(np.exp(0.5 * draw.normal(size=(n, 3)) @ draw.normal(size=(3, d))))
    if kind == "counts of nothing":
        return draw.poisson(np.exp(draw.normal(size=d)), (n, d))
    if kind == "heavy tails":
        return draw.standard_t(2.0, size=(n, d)) * np.exp(draw.normal(size=d))
    if kind == "ring of cells":
        angles, preferred = draw.uniform(0.0, 2.0 * np.pi, (500, 1)), draw.uniform(0.0, 2.0 * np.pi, d)
        return np.sqrt(draw.poisson(3.0 * np.exp(4.0 * (np.cos(angles - preferred) - 1.0))))
    if kind == "numbers under noise":
        return 2.0 * draw.normal(size=(n, 3)) @ draw.normal(size=(3, d)) + 3.0 * noise
    if kind == "ellipsoid":
        return (draw.normal(size=(n, 20)) * 0.75 ** np.arange(20)) @ draw.normal(size=(20, d))
    if kind == "groups":
        return 2.0 * draw.normal(size=(4, d))[draw.integers(0, 4, n)] + noise
    return 2.0 * draw.normal(size=(n, 3)) @ draw.normal(size=(3, d)) * (kind != "noise") + noise


@pytest.mark.parametrize(
    ("kind", "number"),
    [("noise", 0), ("numbers", 3), ("counts", 3), ("counts of nothing", 0), ("heavy tails", 0), ("groups", 3)],
)
def test_directions_are_as_many_as_made_the_table(kind, number):
    for seed in range(2):
        X = _rows(kind, seed)
        assert common_directions(X) == number
        assert common_directions(np.exp(0.1 * X)) == number  # of ranks
        assert common_directions(sp.csr_array(X)) == number


def test_many_directions_are_not_taken_for_noise():
    draw = np.random.default_rng(0)
    pairs = np.repeat(draw.normal(size=(400, 20)), 2, axis=1) + 0.35 * draw.normal(size=(400, 40))
    assert common_directions(pairs) >= 19


def test_few_columns_or_rows_are_not_asked():
    X = _rows("numbers", 0)
    assert common_directions(X[:, :19]) is None
    assert common_directions(X[:19]) is None
    assert common_directions(np.hstack([X[:, :19], np.ones((300, 50))])) is None
    assert common_directions(np.tile(X[:, :20], 100)) >= 3  # every so many-th of 2,000 columns


def test_ranks_are_those_of_scipy_and_variances_those_of_the_singular_values():
    X = np.random.default_rng(0).integers(0, 5, (40, 25)).astype(float)
    ranks = rankdata(X, axis=0)
    ranks = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    np.testing.assert_allclose(_ranks(X), ranks, atol=1e-12)
    for table in (ranks, ranks[:20]):
        expected = np.linalg.svd(table, compute_uv=False) ** 2
        np.testing.assert_allclose(_variances(table)[: len(expected)], expected, atol=1e-9)


def test_a_report_says_so_where_rows_show_more_dimensions():
    assert directions_told(None, 40.0) == directions_told(7, 8.0) == ""
    assert directions_told(0, 40.0).startswith("Columns go together in no direction (")
    assert directions_told(1, 40.0).startswith("Columns go together in about 1 direction (")
    m = gn.map(_rows("ellipsoid", 0), method="pca")
    number = m.to_dict()["common_directions"]
    assert m.intrinsic_dimension().n_common is None
    told = directions_told(number, m.intrinsic_dimension().value)
    assert told.startswith(f"Columns go together in about {number} directions (")
    assert f"  {told}" in report_text(m, verdicts=False).splitlines()


@pytest.mark.parametrize(
    "kind", ["ring of cells", "numbers under noise", "noise", "ellipsoid", "groups", "few columns"]
)
def test_noise_of_each_column_is_told_from_directions_that_grow_shorter(kind):
    number = {"ring of cells": 4, "numbers under noise": 3, "groups": 3}.get(kind)
    for seed in range(2):
        X = _rows("numbers", seed)[:, :19] if kind == "few columns" else _rows(kind, seed)
        assert directions_beside_noise(X) == number
        assert intrinsic_dimension(X).n_common == number


def test_a_number_that_counts_noise_of_columns_says_so_first():
    m = gn.map(_rows("ring of cells", 0), method="pca")
    found = m.intrinsic_dimension()
    assert found.low > 4.0 > 1.0  # of a ring
    narrow = replace(found, estimates={**found.estimates, "growth": DimensionEstimate(20.0, 18.0, 22.0)})
    for one in (found, narrow):
        assert one.is_open
        assert not one.is_above(2)
    assert not replace(narrow, n_common=None).is_open
    assert replace(narrow, n_common=None).is_above(2)
    first, caution = found.summary().splitlines()[:2]
    assert first.startswith("Columns go together in about 4 directions; with what each has by itself, as noise, the ")
    assert "what was measured has fewer dimensions, about 4 at most, which the interval need not hold." in caution
    assert found.to_dict()["n_common"] == 4
    report = report_text(m, verdicts=False)
    assert report.count("Columns go together") == 1
    assert "A map of 2 dimensions may not keep all of this. Trust" in report
    assert "with the noise of columns" in gn.viewer.content._info(m)["intrinsic dimension"]
    rows = _rows("ring of cells", 0)
    given = intrinsic_dimension(cdist(rows, rows), metric="precomputed")
    assert given.n_common is None
