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
    assert (
        str(made.contrast(selected))
        .splitlines()[0]
        .endswith("; chance is judged as of independent rows, chosen by something else than their features")
    )
    with pytest.raises(ValueError, match=r"units='donr' must be one of those in the data .*Did you mean 'donor'"):
        made.contrast(selected, units="donr")
    with pytest.raises(ValueError, match="groups must be left out where units are given"):
        made.contrast(selected, units="donor", groups="auto")


def of_types(effect=0.0, seed=0):
    """Return rows of three types: donors 0 to 5 gave "a" and "b", donors 6 to 9 "c" and, but for one, no other."""
    rng = np.random.default_rng(seed)
    donor = np.repeat(np.arange(10), 30)
    label = np.where(donor > 5, "c", np.where(rng.random(300) < 0.2 + 0.1 * donor, "a", "b"))
    label[-3:] = "b"
    X = rng.normal(size=(300, FEATURES)) + 0.5 * rng.normal(size=(10, FEATURES))[donor]
    X[label == "a", :10] += effect
    return X, label, donor


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_a_profile_is_the_contrast_of_its_label_between_the_same_units(made):
    X, label, donor = of_types(effect=1.0)
    names = np.where(np.arange(300) % 11 == 0, "", donor.astype(str))  # some cells without a donor
    profiles = gn.cluster_profiles(made(X), label, units=names, n_top=None)
    assert [one.n_units for one in profiles.values()] == [(6, 6), (7, 7), (3, 6)]
    for name, profile in profiles.items():
        alone = gn.contrast(made(X), label == name, units=names)
        assert (profile.features, profile.n_units) == (alone.features, alone.n_units)
        for column in ("effect", "error", "auc", "mean_rest"):
            np.testing.assert_allclose(getattr(profile, column), getattr(alone, column), rtol=1e-9)
        among_three = np.minimum(3.0 * alone.false_discovery_rate, 1.0)
        np.testing.assert_allclose(profile.false_discovery_rate, among_three, rtol=1e-6)
    assert found(profiles["a"]) > 3
    assert gn.cluster_profiles(made(X), label, units=names, n_top=4)["c"].n_units == (3, 6)


def test_of_few_donors_profiles_and_captions_say_that_nothing_can_be_told():
    X, selected, donor = of_donors(4, effect=3.0)
    told = "what sets it apart cannot be told from 2 and 2 units; each side needs 3"
    for one in gn.cluster_profiles(X, selected, units=donor).values():
        assert one.headline().endswith(told)
    for one in gn.cluster_captions(X, selected, units=donor).values():
        assert one.text == told


@pytest.mark.parametrize(("shared", "own", "n_units"), [(2, 1, (2, 2)), (2, 2, (2, 2)), (1, 2, (2, 2)), (1, 0, (1, 1))])
def test_donors_of_one_condition_do_not_make_up_for_too_few_with_both(shared, own, n_units):
    X, _, donor = of_donors(shared + 2 * own, effect=3.0)
    selected = np.where(donor < 2 * own, donor % 2 == 0, np.arange(len(X)) % 2 == 0)
    X[selected] += 3.0
    told = gn.contrast(X, selected, units=donor)
    assert (told.n_units, found(told)) == (n_units, 0)
    assert f"cannot be told from {n_units[0]} and {n_units[1]} units" in told.headline()


def test_rows_that_differ_the_other_way_than_their_donors_are_not_named():
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(6), 300)
    selected = rng.random(1800) < np.where(donor < 3, 0.1, 0.9)
    X = rng.normal(size=(1800, 3)) + 2.0 * (donor > 2)[:, None]  # more where most are selected
    X[:, :2] += (
        0.6 * np.where(selected, 1, 0)[:, None] * [-1, 1]
    )  # the first is less, and the second more, in each donor
    judged = gn.contrast(X, selected, units=donor)
    means = [np.stack([X[(donor == k) & side].mean(axis=0) for k in range(6)]) for side in (selected, ~selected)]
    assert (ttest_rel(*means).pvalue[:2] < 0.001).all()
    assert (judged.mean_selected > judged.mean_rest).all()
    assert set(judged.indices[judged.sets_apart]) == {1}
    label = np.where(selected, "s", "c")
    assert gn.cluster_captions(X, label, units=donor)["s"].text == "high feature 1"
    assert gn.cluster_captions(X[:, [0, 2]], label, units=donor)["s"].features == []


def test_captions_name_what_is_no_chance_between_donors():
    X, selected, donor = of_donors(8)
    X[:, :20] += 2.0 * np.random.default_rng(1).normal(size=(8, 20))[donor]
    assert gn.cluster_captions(X, selected)[True].features
    none = gn.cluster_captions(X, selected, units=donor)
    assert [one.text for one in none.values()] == [
        "no feature sets it apart, like True",
        "no feature sets it apart, like False",
    ]
    assert str(none).endswith("\nChance is judged between units, 8 in all.")
    X[selected, 30] += 4.0
    assert gn.cluster_captions(X, selected, units=donor)[True].text == "high feature 30"
    assert gn.cluster_captions(X, selected).caution == ""


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("paired", [False, True])
def test_a_caption_takes_the_largest_gap_of_those_that_students_test_finds(made, paired):
    named = []
    for seed in range(8):
        X, one, donor = of_donors(8, effect=1.5, seed=seed)
        X *= np.repeat([1.0, 0.3], FEATURES // 2)  # what differs between donors is large in deviations of rows
        one = np.arange(len(X)) % 2 == 0 if paired else one
        X[one, 5:12] += 1.2
        sides = [
            np.stack([X[(donor == k) & side].mean(axis=0) for k in np.unique(donor[side])]) for side in (one, ~one)
        ]
        rates = false_discovery_control((ttest_rel if paired else ttest_ind)(*sides).pvalue)
        gaps = (X[one].mean(axis=0) - X[~one].mean(axis=0)) / np.sqrt((X[one].var(axis=0) + X[~one].var(axis=0)) / 2)
        gaps[(rates > 0.05) | (np.abs(gaps) < 0.8)] = 0.0
        caption = gn.cluster_captions(made(X), one, units=donor)[True]
        assert caption.indices.tolist() == ([int(np.argmax(np.abs(gaps)))] if gaps.any() else [])
        named += caption.features
    assert len(named) > 3


def test_captions_say_from_which_labels_too_few_donors_tell_nothing():
    X, label, donor = of_types(effect=4.0)
    label[donor == 9] = label[donor == 8] = "b"
    told = gn.cluster_captions(X, label, units=donor)
    assert (told["a"].n_units, told["a"].untold) == (6, ["c"])
    assert (told["a"].against, told["a"].unseparated) == ([["b"]], ["c"])
    assert told["c"].text == "what sets it apart cannot be told from 2 and 8 units; each side needs 3"
    assert told.caution.endswith("10 in all, which are too few for 2 of 3 pairs of labels: each side needs 3.")
    document = told["c"].to_dict()
    assert (document["n_units"], document["untold"]) == (2, ["a", "b"])
    assert "untold" not in gn.cluster_captions(X, label)["c"].to_dict()


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("paired", [False, True])
def test_means_that_are_equal_have_no_difference(made, paired):
    donor = np.repeat(np.arange(6), 6 * np.arange(1, 7))
    X = np.random.default_rng(0).normal(size=(len(donor), 3))
    X[:, 0], X[:, 1] = 0.1, np.arange(len(X)) % 6 > 1  # constant, and yes in two of three rows of each donor
    selected = np.arange(len(X)) // 3 % 2 == 0 if paired else donor < 3
    if paired:
        X[:, 1] = np.arange(len(X)) % 3 > 0
    judged = gn.contrast(made(X), selected, units=donor)
    assert judged.n_units == ((6, 6) if paired else (3, 3))
    assert judged.false_discovery_rate[np.argsort(judged.indices)][:2].tolist() == [1.0, 1.0]


def test_what_units_do_not_go_with_is_refused():
    X, selected, donor = of_donors(8)
    made = gn.map(X, "pca", labels=selected, metadata={"donor": donor}, n_jobs=1)
    for ask in (made.profiles, made.captions):
        with pytest.raises(ValueError, match=r"units='donr' must be one of those in the data .*Did you mean 'donor'"):
            ask(units="donr")
        with pytest.raises(ValueError, match="groups must be left out where units are given"):
            ask(units="donor", groups="auto")
    assert made._groups is None  # refused before groups are looked for
    for ask in (gn.cluster_profiles, gn.cluster_captions):
        with pytest.raises(ValueError, match="units"):
            ask(X, selected, units=donor[1:])
        with pytest.raises(ValueError, match="groups must be left out where units are given"):
            ask(X, selected, units=donor, groups=made.feature_groups())
    with pytest.raises(ValueError, match="alpha=None must be a rate where units are given"):
        gn.cluster_captions(X, selected, units=donor, alpha=None)


def test_the_answers_of_a_map_about_labels_are_those_of_its_units():
    X, selected, donor = of_donors(8)
    made = gn.map(X, "pca", labels=selected, metadata={"donor": donor.astype(str)}, n_jobs=1)
    plain = made.profiles()
    judged = made.profiles(units="donor")
    assert (found(plain[True]) > 5, found(judged[True]), judged[True].n_units) == (True, 0, (4, 4))
    assert made.profiles() is plain
    assert str(judged) == str(made.profiles(units=donor)) == str(gn.cluster_profiles(X, selected, units=donor))
    assert str(made.captions(units="donor")) == str(gn.cluster_captions(X, selected, units=donor))
