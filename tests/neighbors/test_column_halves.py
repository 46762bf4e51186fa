"""Halves of the columns agree about neighbours that a few wide columns, or lengths of rows, hide."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import gnomon
from gnomon.exceptions import DataWarning
from gnomon.neighbors.column_halves import (
    agreement_of_halves,
    find_hidden_directions,
    find_hiding_columns,
    standardised_agrees_more,
)


def groups(n=300, d=60, seed=0, apart=0.8):
    """Draw four groups that no single column tells."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    return rng.normal(size=(4, d))[y] * apart + rng.normal(size=(n, d)), y


def with_wide(X, n_wide=3, times=20.0, seed=1):
    wide = X.copy()
    wide[:, 5 : 5 + n_wide] = times * np.random.default_rng(seed).normal(size=(len(X), n_wide))
    return wide


def lengths(n, spread, seed=2):
    return np.exp(spread * np.random.default_rng(seed).normal(size=(n, 1)))


def nearest(X):
    return NearestNeighbors(n_neighbors=15).fit(X).kneighbors(return_distance=False)


def shared(first, second):
    return np.mean([len({*a} & {*b}) for a, b in zip(first, second, strict=True)]) / 15


def test_wide_columns_that_hide_what_the_others_agree_about_are_found():
    X = with_wide(groups()[0])
    found = find_hiding_columns(X)
    assert sorted(found.columns) == [5, 6, 7]
    variance = X.var(axis=0)
    assert found.share == pytest.approx(variance[5:8].sum() / variance.sum())
    assert found.kept == pytest.approx(shared(nearest(np.delete(X, [5, 6, 7], axis=1)), nearest(X)), abs=1e-12)
    assert found.kept < 0.2
    assert found.told([f"c{f}" for f in range(60)]).startswith(f"'c{found.columns[0]}' and 2 more of 60 columns make 9")


def test_wide_columns_that_hide_nothing_are_not_told():
    X, y = groups()
    rng = np.random.default_rng(3)
    assert find_hiding_columns(X) is None  # none is wide
    for _ in range(6):
        assert find_hiding_columns(with_wide(rng.normal(size=X.shape))) is None  # the others agree about nothing
    assert find_hiding_columns(with_wide(groups(600, apart=0.4)[0])) is None  # they agree about 1 % of neighbours
    assert find_hiding_columns(with_wide(X, times=5.0)) is None  # less than half of the squared distances
    assert find_hiding_columns(with_wide(X, n_wide=10)) is None  # more than a tenth of the columns
    with_groups = X.copy()
    with_groups[:, 5:8] = 20.0 * (rng.normal(size=(4, 3))[y] + 0.1 * rng.normal(size=(len(X), 3)))
    assert find_hiding_columns(with_groups) is None  # the wide ones tell the same groups


def test_wide_columns_of_components_and_counts_stay():
    X = with_wide(groups()[0])
    assert find_hiding_columns(gnomon.PCA(n_components=40).fit_transform(X)) is None
    counts = np.random.default_rng(4).poisson(np.exp(groups()[0] - 1.0)).astype(float)
    counts[:, 5:8] *= 1000
    assert find_hiding_columns(counts) is None


def test_halves_that_are_the_same_agree_in_all_but_chance():
    one = np.random.default_rng(5).normal(size=(200, 1))
    agreed, error = agreement_of_halves(np.tile(one, 8))
    in_lists = np.bincount(nearest(one).ravel(), minlength=200)
    assert agreed == pytest.approx(1.0 - ((in_lists / 200) ** 2).sum() / 15)
    assert error == 0.0


def test_halves_of_independent_columns_agree_by_chance_alone():
    rng = np.random.default_rng(6)
    for X in (rng.normal(size=(400, 30)), np.exp(rng.normal(size=(400, 30)))):
        agreed, error = agreement_of_halves(X)
        assert abs(agreed) < 4 * error
        assert standardised_agrees_more(X) is None
        assert find_hidden_directions(X) is None


def test_standardised_columns_agree_more_where_wide_ones_agree_about_nothing():
    before, after = standardised_agrees_more(with_wide(groups()[0], times=8.0))
    assert after > 2 * before
    assert standardised_agrees_more(groups()[0]) is None


@pytest.mark.parametrize("level", [0.0, 2.0])
def test_lengths_that_hide_directions_are_found(level):
    X = groups(600, d=120, apart=0.5)[0] + level
    assert find_hidden_directions(X) is None
    found = find_hidden_directions(lengths(len(X), 0.7) * X)
    assert found.spread == pytest.approx(0.7, abs=0.1)
    assert found.missed < 0.85 * found.agreed
    again = find_hidden_directions(7.0 * lengths(len(X), 0.7) * X)
    assert (again.agreed, again.missed) == pytest.approx((found.agreed, found.missed), abs=0.01)


def test_lengths_that_hide_nothing_are_not_told():
    X = groups(d=120)[0]
    assert find_hidden_directions(lengths(len(X), 0.3) * X) is None  # groups are as near by distance
    for seed in range(6):
        noise = np.random.default_rng(seed).normal(size=(300, 120))
        assert find_hidden_directions(lengths(len(noise), 0.7) * noise) is None


def test_places_far_out_in_a_plane_are_no_lengths():
    rng = np.random.default_rng(7)
    plane = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 200)) + 0.3 * rng.normal(size=(500, 200))
    assert np.log(np.linalg.norm(plane, axis=1)).std() > 0.4
    assert find_hidden_directions(plane) is None
    assert find_hidden_directions(lengths(500, 0.7) * plane) is not None


def test_empty_rows_have_no_direction():
    X = lengths(600, 0.7) * groups(600, d=120, apart=0.5)[0]
    X[3] = 0.0
    assert find_hidden_directions(X) is None


def told(X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gnomon.map(X, "pca", **options)
    return [str(one.message) for one in caught if issubclass(one.category, DataWarning)]


def test_a_map_warns_of_wide_columns_unless_told_how_to_scale():
    X = with_wide(groups()[0])
    (text,) = told(X)
    assert "and 2 more of 60 columns make 93% of the squared distances and hide what the others agree about" in text
    assert "scale='standard'" in text
    assert told(X, scale=None) == told(X, scale="standard") == told(groups()[0]) == []
    assert told(X, n_pcs=5) == [text]
