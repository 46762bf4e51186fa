"""Clusters are not described by what most of their rows were not asked."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn

NAMES = ["age", "smokes", "per day", "years"]


@pytest.fixture
def asked():
    """Return a table of four classes, of which two were asked how much they smoke, what was there, and the labels."""
    rng = np.random.default_rng(0)
    kind = np.arange(240) % 4
    X = rng.normal(size=(240, 4))
    X[:, 0] += 3 * (kind % 2)
    X[:, 1] = kind >= 2
    X[:, 2] += 10 + 4 * (kind == 3)
    known = np.ones(X.shape, dtype=bool)
    known[:, 2:] = (kind >= 2)[:, None]
    known[rng.random(240) < 0.03, 3] = False
    return X, known, np.array(list("ABCD"))[kind]


def filled(X, known, value):
    return np.where(known, X, value)


@pytest.mark.parametrize("value", [-30.0, 12.0, 100.0])
def test_what_was_filled_in_describes_no_class_that_was_not_asked(asked, value):
    X, known, labels = asked
    given = {"feature_names": NAMES, "known": known}
    captions = gn.cluster_captions(filled(X, known, value), labels, **given)
    assert all(not {"per day", "years"} & {*captions[label].features} for label in "AB")
    plain = gn.cluster_captions(filled(X, known, 0.0), labels, **given)
    assert [one.text for one in captions.values()] == [one.text for one in plain.values()]
    profiles = gn.cluster_profiles(filled(X, known, value), labels, **given)
    for label in "AB":
        assert sorted(profiles[label].features) == ["age", "smokes"]
        assert [NAMES[j] for j in profiles[label].indices] == profiles[label].features
    assert "per day" in profiles["D"].features


def test_classes_that_were_asked_are_told_apart_by_it(asked):
    X, known, labels = asked
    alone = X[:, 1:3], known[:, 1:3]
    captions = gn.cluster_captions(filled(*alone, 0.0), labels, feature_names=NAMES[1:3], known=alone[1])
    assert captions["C"].text == "high smokes, low per day"
    assert captions["D"].text == "high smokes, high per day"
    assert captions["D"].against == [["A", "B"], ["C"]]


def test_nothing_changes_where_all_values_were_there(asked):
    X, _, labels = asked
    for of in (gn.cluster_captions, gn.cluster_profiles):
        assert str(of(X, labels, known=np.ones(X.shape, dtype=bool))) == str(of(X, labels))


def test_other_truth_values_are_refused(asked):
    X, known, labels = asked
    for of in (gn.cluster_captions, gn.cluster_profiles):
        with pytest.raises(ValueError, match=r"known must be truth values of shape \(240, 4\)"):
            of(X, labels, known=known[:, :2])
        with pytest.raises(ValueError, match="known must be truth values"):
            of(X, labels, known=known.astype(float))


@pytest.mark.filterwarnings("ignore:map.*(missing|not asked):gnomon.exceptions.DataWarning")
def test_a_map_knows_what_was_missing(asked):
    X, known, labels = asked
    rng = np.random.default_rng(1)
    X = np.column_stack([X, rng.normal(size=(240, 2))])
    known = np.column_stack([known, np.ones((240, 2), dtype=bool)])
    table = pd.DataFrame(np.where(known, X, np.nan), columns=[*NAMES, "u", "v"])
    made = gn.map(table, labels=labels, method="pca")
    captions, profiles = made.captions(), made.profiles()
    for label in "AB":
        assert not {"per day", "years"} & {*captions[label].features, *profiles[label].features}
    told = "Not described by what most of their rows lack: per day ('A', 'B'), years ('A', 'B')."
    assert told.replace("'", "") in captions.caution.replace("'", "")
    assert told.replace("'", "") in profiles.caution.replace("'", "")


def test_clusters_are_not_named_by_it():
    rng = np.random.default_rng(0)
    far = np.repeat([0.0, 14.0], 150)
    X = np.column_stack([rng.normal(size=300) + far, rng.normal(size=300) + 30 * (far > 0), rng.normal(size=(300, 2))])
    known = np.ones(X.shape, dtype=bool)
    plain = gn.find_clusters(X, feature_names=["a", "b", "c", "d"])
    known[far == 0, 1] = False
    found = gn.find_clusters(X, feature_names=["a", "b", "c", "d"], known=known)
    assert any("b" in one.name.split() for one in plain.levels[0].clusters)
    assert [one.name for one in found.levels[0].clusters] in (["high a", "low a"], ["low a", "high a"])
    assert np.array_equal(found.labels, plain.labels)
