"""Mean importance counts points by how far they can be explained, with an error that knows of neighbours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import explain, importance_by_label, mean_importance
from gnomon.explanations.importance import _mean_over, find_apart
from gnomon.explanations.jackknife import places_in_blocks


@pytest.fixture(scope="module")
def regions():
    """Features 0, 1 drive the left half, 2, 3 the right half, whose places are partly noise."""
    rng = np.random.default_rng(0)
    X = 0.01 * rng.normal(size=(400, 6))
    X[:200, :2] = rng.uniform(-1, 1, (200, 2))
    X[200:, 2:4] = rng.uniform(-1, 1, (200, 2))
    X[:, 4] = 3
    X[200:, 5] += 10
    Y = np.concatenate([X[:200, :2], X[200:, 2:4] + rng.normal(size=(200, 2)) + 10])
    return explain(X, Y, n_jobs=1), np.repeat(["left", "right"], 200)


def test_unweighted_over_all_points_it_is_the_global_importance(regions):
    explanation, _ = regions
    found = mean_importance(explanation, weighted=False)
    np.testing.assert_allclose(found.effect, explanation.global_importance[found.indices], rtol=1e-6, atol=1e-12)
    assert np.all(np.diff(found.effect) <= 0)
    assert found.share.sum() == pytest.approx(1)
    assert (found.effect[-1], found.error[-1], found.features[-1]) == (0, 0, "feature 4")


def test_weighted_by_r2_it_is_the_weighted_mean(regions):
    explanation, _ = regions
    found = mean_importance(explanation)
    expected = np.average(explanation.importance, axis=0, weights=explanation.r2)
    np.testing.assert_allclose(found.effect, expected[found.indices], rtol=1e-5, atol=1e-12)
    assert found.fidelity == pytest.approx(float(np.mean(explanation.r2)))
    plain = mean_importance(explanation, weighted=False)
    share = {True: found, False: plain}
    noisy = [sum(table.share[table.features.index(f"feature {j}")] for j in (2, 3)) for table in share.values()]
    assert noisy[0] < noisy[1]  # points whose places are noise count less


def test_each_label_names_what_drives_it(regions):
    explanation, labels = regions
    found = importance_by_label(explanation, labels)
    assert list(found) == ["left", "right"]
    assert set(found["left"].features[:2]) == {"feature 0", "feature 1"}
    assert set(found["right"].features[:2]) == {"feature 2", "feature 3"}
    alone = mean_importance(explanation, labels == "left")
    assert alone.effect.tobytes() == found["left"].effect.tobytes()
    assert found["left"].n_points == 200


def test_blocks_hold_every_point_once_and_are_even():
    places = np.random.default_rng(0).normal(size=(1000, 2))
    blocks = places_in_blocks(places)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(1000))
    assert {len(block) for block in blocks} <= {31, 32}


def test_same_bits_for_any_number_of_threads(regions):
    explanation, _ = regions
    other = explain(explanation._X, explanation.places, n_jobs=3)
    one, three = mean_importance(explanation), mean_importance(other)
    assert one.effect.tobytes() == three.effect.tobytes()
    assert one.error.tobytes() == three.error.tobytes()


def test_what_cannot_be_answered_is_said(regions):
    explanation, labels = regions
    places = explanation.places.copy()
    places[200:] = np.nan
    half = explain(explanation._X, places, n_jobs=1)
    assert importance_by_label(half, labels)["right"] is None
    with pytest.raises(ValueError, match="one has an explanation"):
        mean_importance(half, labels == "right")
    with pytest.raises(ValueError, match="rows with row 400 must be below n_samples=400"):
        mean_importance(half, [400])
    with pytest.raises(ValueError, match="3 labels, 400 rows"):
        importance_by_label(half, [1, 2, 3])


def test_places_are_halved_along_their_wider_side_until_fewer_than_four_are_together():
    places = np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 0.5], [6.0, 0.7], [1.0, 5.0]])
    assert [block.tolist() for block in places_in_blocks(places, 2)] == [[0, 4], [2, 3, 1]]
    assert [block.tolist() for block in places_in_blocks(places)] == [[0, 4], [2, 3, 1]]  # of 3 none is halved
    assert [block.tolist() for block in places_in_blocks(places[:3])] == [[0, 1, 2]]
    tall = places[[0, 1, 2, 3]][:, ::-1]
    assert [block.tolist() for block in places_in_blocks(tall)] == [[0, 2], [3, 1]]
    assert len(places_in_blocks(np.random.default_rng(0).normal(size=(500, 2)))) == 32


@pytest.mark.parametrize("numbers", [1 << 22, 20, 1])
def test_the_mean_is_the_same_however_many_rows_are_added_at_a_time(regions, numbers, monkeypatch):
    explanation, _ = regions
    monkeypatch.setattr("gnomon.explanations.importance._NUMBERS", numbers)
    rows = np.arange(0, 400, 3)
    found = mean_importance(explanation, rows)
    weights = explanation.r2[rows].astype(float)
    expected = np.average(explanation.importance[rows], axis=0, weights=weights)
    np.testing.assert_allclose(found.effect, expected[found.indices], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.share, found.effect / found.effect.sum())
    assert found.percent[0] == round(100 * found.share[0], 1)


def test_where_the_map_is_linear_nowhere_all_points_count_alike(monkeypatch):
    monkeypatch.setattr("gnomon.explanations.importance.error_of_mean", lambda *_: np.zeros(3))
    importance = np.random.default_rng(0).uniform(size=(20, 3))
    names = ["a", "b", "c"]
    told = SimpleNamespace(
        r2=np.zeros(20),
        n_samples=20,
        n_features=3,
        places=importance[:, :2],
        importance=importance,
        feature_names=names,
    )
    found = _mean_over(told, np.arange(2, 20), True)
    np.testing.assert_allclose(found.effect, np.sort(importance[2:].mean(axis=0))[::-1])
    assert (found.fidelity, found.n_points) == (0.0, 18)


def test_the_mean_is_told_with_what_it_rests_on(regions, monkeypatch):
    told = SimpleNamespace(
        r2=np.full(6, 0.5),
        n_samples=6,
        n_features=2,
        places=np.arange(12.0).reshape(6, 2),
        importance=np.zeros((6, 2)),
        feature_names=["a", "b"],
    )
    with monkeypatch.context() as patched:
        patched.setattr("gnomon.explanations.importance.error_of_mean", lambda *_: np.zeros(2))
        nothing, plain = (_mean_over(told, np.arange(5), weighted) for weighted in (True, False))
        told.importance = np.tile([1.0, 2.0], (6, 1))
        found = _mean_over(told, np.arange(5), True)
    assert nothing.share.tolist() == [0.0, 0.0]
    within = "; how far features move points within neighbourhoods, not what parts groups\n"
    within += "errors take neighbourhoods as given: of other rows means may differ twice as much; "
    within += "features that do nothing have shares too"
    assert nothing.headline() == f"5 points, mean R2 0.50, weighted by R2{within}"
    assert plain.headline() == f"5 points, mean R2 0.50{within}"
    assert str(found).splitlines()[2:] == [
        "feature  mean importance  share (%)",
        "b                  2 ± 0       66.7",
        "a                  1 ± 0       33.3",
    ]
    document = found.to_dict()
    assert (document["n_points"], document["weighted"], document["fidelity"]) == (5, True, 0.5)
    assert list(document["features"][0]) == ["feature", "index", "effect", "error", "share"]
    with pytest.raises(TypeError, match="weighted=2"):
        mean_importance(regions[0], weighted=2)
    grouped = importance_by_label(regions[0], regions[1], weighted=False)
    assert not grouped["left"].weighted


def test_features_that_part_groups_are_told_beside_those_that_move_points():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 40)
    X = np.column_stack(
        [group == 1, 6.0 * (group == 2) + rng.normal(size=120), rng.normal(size=(120, 6)), np.ones(120)]
    )
    found = find_apart(X, group, list("abcdefghi"), "clusters")
    assert (found.kind, found.n_groups, found.features) == ("clusters", 3, ["a", "b"])
    assert found.share[0] == 1.0
    between = 40 * ((X[:, 1].reshape(3, 40).mean(axis=1) - X[:, 1].mean()) ** 2).sum()
    within = 120 * X[:, 1].var() - between
    assert found.share[1] == pytest.approx(1.0 - (within / 117) / ((within + between) / 119), rel=1e-9)
    assert str(found).startswith("the 3 clusters are told apart by 'a' 100%, 'b' ")
    assert [row["feature"] for row in found.to_dict()["features"]] == ["a", "b"]
    sparse = find_apart(sp.csr_array(X), group, list("abcdefghi"), "clusters")
    np.testing.assert_allclose(sparse.share, found.share, rtol=1e-9)


def test_a_category_is_told_as_one_by_goodman_and_kruskals_tau():
    rng = np.random.default_rng(2)
    group, level = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    level = np.where(rng.random(300) < 0.6, group, level)
    X = np.column_stack([rng.normal(size=300), level[:, None] == np.arange(4), group == 1])
    names = ["x", *(f"town = {k}" for k in "abcd"), "b"]
    found = find_apart(X, group, names, "islands", {"town": slice(1, 5)})
    assert found.features == ["b", "town"]
    table = np.array([[np.sum((group == g) & (level == k)) for k in range(4)] for g in range(3)]) / 300
    gini = 1.0 - np.sum(table.sum(axis=0) ** 2)
    left = 1.0 - np.sum(table**2 / table.sum(axis=1, keepdims=True))
    assert found.share[1] == pytest.approx(1.0 - (left / 297) / (gini / 299), rel=1e-9)
    assert str(found).startswith("the 3 islands of the map are told apart by 'b' 100%, 'town' ")
    alone = find_apart(X, group, names, "islands")
    assert alone.features[0] == "b"
    assert {"town = a", "town = b", "town = c"} <= set(alone.features)
    chance = [
        find_apart(X[:, :5], rng.integers(0, 3, 300), names[:5], "labels", {"town": slice(1, 5)}) for _ in range(40)
    ]
    assert not any(one.features for one in chance)


def test_labels_drawn_at_random_are_told_apart_by_no_feature():
    rng, names = np.random.default_rng(1), [f"f{j}" for j in range(30)]
    tables = [rng.normal(size=(60, 30)) for _ in range(100)]
    told = [find_apart(X, rng.integers(0, 4, 60), names, "labels") for X in tables]
    assert sum(bool(one.features) for one in told) <= 11  # 5 on the mean
    assert "no feature has 14% of its variance between the 4 labels" in map(str, told)
    assert find_apart(tables[0], np.zeros(60), names, "labels") is None
    assert find_apart(tables[0], np.arange(60), names, "labels") is None  # names of rows are no groups


def test_means_over_all_points_are_formed_once_and_those_over_some_or_otherwise_weighted_are_others():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 4))
    explanation = explain(X, X[:, :2] + 0.5 * np.tanh(X[:, 2:]), n_jobs=1)
    found = mean_importance(explanation)
    assert mean_importance(explanation) is found
    every = mean_importance(explanation, np.arange(90))
    np.testing.assert_array_equal(every.effect, found.effect)
    assert mean_importance(explanation, weighted=False).effect.tobytes() != found.effect.tobytes()
    assert mean_importance(explanation, np.arange(30)).n_points == 30
