"""Cells of a donor are alike: what sets a selection apart is judged between donors where they are named."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import false_discovery_control, ttest_ind, ttest_rel

import gnomon as gn

FEATURES = 60


def of_donors(n_donors, effect=0.0, seed=0, each=40):
    """Return rows of donors that differ, the first half of them in one condition, where 10 features are higher."""
    rng = np.random.default_rng(seed)
    donor = np.repeat(np.arange(n_donors), each)
    X = rng.normal(size=(len(donor), FEATURES)) + 0.5 * rng.normal(size=(n_donors, FEATURES))[donor]
    selected = donor < n_donors // 2
    X[selected, :10] += effect
    return X, selected, donor


def found(contrast):
    return int(contrast.sets_apart.sum())


def test_what_donors_differ_in_is_not_taken_for_the_condition():
    X, selected, donor = of_donors(8)
    assert found(gn.contrast(X, selected)) > 10
    judged = gn.contrast(X, selected, units=donor)
    assert found(judged) == 0
    assert judged.headline().endswith("on units held out; chance is judged between 4 and 4 units")
    assert "no feature sets it apart" in judged.headline()


def test_what_differs_between_conditions_is_found():
    X, selected, donor = of_donors(12, effect=3.0)
    judged = gn.contrast(X, selected, units=np.array([f"d{k}" for k in donor]))
    assert set(judged.indices[judged.sets_apart]) == set(range(10))
    assert judged.to_dict()["n_units"] == (6, 6)


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_the_rates_are_those_of_students_test_of_the_means(made):
    X, selected, donor = of_donors(8, effect=1.0)
    means = np.stack([X[donor == k].mean(axis=0) for k in range(8)])
    expected = false_discovery_control(ttest_ind(means[:4], means[4:]).pvalue)
    judged = gn.contrast(made(X), selected, units=donor)
    np.testing.assert_allclose(judged.false_discovery_rate, expected[judged.indices], rtol=1e-6)


def test_donors_with_rows_on_both_sides_are_compared_with_themselves():
    X, _, donor = of_donors(5)
    selected = np.arange(len(X)) % 3 == 0
    X[selected, :10] += 1.0
    sides = [np.stack([X[(donor == k) & one].mean(axis=0) for k in range(5)]) for one in (selected, ~selected)]
    expected = false_discovery_control(ttest_rel(*sides).pvalue)
    judged = gn.contrast(X, selected, units=donor)
    np.testing.assert_allclose(judged.false_discovery_rate, expected[judged.indices], rtol=1e-6)
    assert judged.n_units == (5, 5)
    assert set(judged.indices[judged.sets_apart]) <= set(range(10))
    assert found(judged) > 5


def test_too_few_donors_tell_nothing():
    X, selected, donor = of_donors(4, effect=3.0)
    judged = gn.contrast(X, selected, units=donor)
    assert found(judged) == 0
    assert judged.headline().endswith("what sets it apart cannot be told from 2 and 2 units; each side needs 3")
    one = gn.contrast(X, selected, units=np.where(donor == 0, "a", None))
    assert one.headline().endswith("cannot be told from 1 and 0 units; each side needs 3")


def test_rows_without_a_donor_are_in_no_mean():
    X, selected, donor = of_donors(8, effect=1.0)
    names = np.array([f"d{k}" for k in donor], dtype=object)
    names[::7] = None
    kept = np.array([name is not None for name in names])
    some, others = gn.contrast(X, selected, units=names), gn.contrast(X[kept], selected[kept], units=names[kept])
    rates = [one.false_discovery_rate[np.argsort(one.indices)] for one in (some, others)]
    np.testing.assert_allclose(*rates)


def test_a_map_takes_its_metadata_and_says_what_rates_of_rows_assume():
    X, selected, donor = of_donors(8)
    made = gn.map(X, "pca", metadata={"donor": donor.astype(str)}, n_jobs=1)
    assert made.contrast(selected, units="donor").n_units == (4, 4)
    assert str(made.contrast(selected)).splitlines()[0].endswith("; chance is judged as of independent rows")
    with pytest.raises(ValueError, match=r"units='donr' must be one of those in the data .*Did you mean 'donor'"):
        made.contrast(selected, units="donr")
    with pytest.raises(ValueError, match="groups must be left out where units are given"):
        made.contrast(selected, units="donor", groups="auto")
