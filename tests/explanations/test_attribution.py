"""Contributions add up to what is predicted, and the features called needed are enough and cannot be fewer."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

import gnomon
from gnomon.data.column_scales import column_scales
from gnomon.explanations import explain
from gnomon.explanations.counterfactual import counterfactual
from gnomon.explanations.counterfactual.attribution import (
    Attribution,
    Order,
    direction,
    fewest_features,
    irreducible,
)
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.paths import Candidate, Path
from gnomon.explanations.counterfactual.region import Membership
from gnomon.methods.distance.isomap import Isomap
from gnomon.methods.neighbor.umap import UMAP

NOWHERE = Membership(np.zeros(2), True, 0.0, None)


class Linear:
    """An explanation whose local maps are known: at row r it is A[r]."""

    n_components, n_features = 2, 4

    def __init__(self, A, errors=None, mask=None):
        self.A, self.errors = A, errors
        self.mask = np.ones(len(A), dtype=bool) if mask is None else mask

    def axes(self, i):
        return self.A[i]

    def axes_error(self, i):
        return self.errors[i]


def candidate_on(stations, share=1.0, rows=None):
    path = Path.of(np.arange(len(stations)) if rows is None else rows, stations, RowMetric("euclidean"))
    return Candidate(path, "rows", share, NOWHERE, path.at(share))


@pytest.fixture
def bent():
    rng = np.random.default_rng(0)
    stations = rng.normal(size=(4, 4))
    return stations, column_scales(rng.normal(size=(50, 4)) * 100), rng


@pytest.mark.parametrize("share", [0.05, 0.4, 1.0])
def test_for_an_affine_map_a_contribution_is_the_column_times_the_change(bent, share):
    stations, scales, rng = bent
    A = rng.normal(size=(2, 4))
    candidate = candidate_on(stations, share)
    found = Attribution(Linear(np.stack([A] * 4)), stations[0], scales)
    change = candidate.row - stations[0]
    np.testing.assert_allclose(found.displacements(candidate), A * change, rtol=1e-12)
    np.testing.assert_allclose(found.displacements(candidate).sum(axis=1), A @ change, rtol=1e-12)


def test_each_step_takes_the_mean_of_the_maps_at_its_ends(bent):
    stations, scales, rng = bent
    A = rng.normal(size=(4, 2, 4))
    steps = np.diff(stations, axis=0)
    expected = sum((A[s] + A[s + 1]) / 2 * steps[s] for s in range(3))
    candidate = candidate_on(stations)
    np.testing.assert_allclose(
        Attribution(Linear(A), stations[0], scales).displacements(candidate), expected, rtol=1e-12
    )
    # A row without a map leaves its steps to the other end.
    mask = np.array([True, True, False, True])
    expected = (A[0] + A[1]) / 2 * steps[0] + A[1] * steps[1] + A[3] * steps[2]
    known = Attribution(Linear(A, mask=mask), stations[0], scales)
    np.testing.assert_allclose(known.displacements(candidate), expected, rtol=1e-12)


def test_errors_add_up_along_the_way_in_the_direction_asked(bent):
    stations, scales, rng = bent
    errors = rng.uniform(1, 2, (4, 2, 4))
    found = Attribution(Linear(np.zeros((4, 2, 4)), errors), stations[0], scales)
    steps = np.abs(np.diff(stations, axis=0))
    total = sum((errors[s] + errors[s + 1]) / 2 * steps[s] for s in range(3))
    candidate = candidate_on(stations)
    np.testing.assert_allclose(found.errors(candidate, np.array([0.0, 1.0])), total[1], rtol=1e-12)
    np.testing.assert_allclose(
        found.errors(candidate, np.array([0.6, 0.8])), np.hypot(0.6 * total[0], 0.8 * total[1]), rtol=1e-12
    )


def test_a_changed_row_stays_in_the_range_of_the_data_and_contributions_with_it(bent):
    stations, _, rng = bent
    scales = column_scales(np.array([stations[0] - 0.5, stations[0] + 0.5]))
    candidate = candidate_on(stations)
    candidate = Candidate(candidate.path, candidate.kind, 1.0, NOWHERE, np.clip(candidate.row, scales.low, scales.high))
    A = rng.normal(size=(2, 4))
    found = Attribution(Linear(np.stack([A] * 4)), stations[0], scales).displacements(candidate)
    np.testing.assert_allclose(found, A * (candidate.row - stations[0]), rtol=1e-12)
    maps = rng.normal(size=(4, 2, 4))
    steps = np.diff(np.clip(stations, scales.low, scales.high), axis=0)
    expected = sum((maps[s] + maps[s + 1]) / 2 * steps[s] for s in range(3))
    np.testing.assert_allclose(
        Attribution(Linear(maps), stations[0], scales).displacements(candidate), expected, rtol=1e-9
    )
    assert (np.abs(candidate.row - stations[0]) <= 0.5 + 1e-12).all()


def test_directions():
    np.testing.assert_allclose(direction(np.zeros(2), np.array([3.0, 4.0])), [0.6, 0.8])
    assert not direction(np.ones(2), np.ones(2)).any()
    assert np.isnan(direction(np.ones(2), np.full(2, np.nan))).all()


def test_contributions_of_principal_components_are_their_loadings_times_the_change():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2
    X = rng.normal(size=(300, 6)) + 3 * np.eye(2, 6)[labels]
    pca = PCA(2).fit(X)
    found = counterfactual(explain(X, pca.transform(X), n_jobs=1), 0, transform=pca.transform, target=1, labels=labels)
    toward = direction(found.start, found.landed)
    change = found.row - X[0]
    expected = toward @ pca.components_ * change
    np.testing.assert_allclose(found.effect, expected[found.indices], atol=0.05 * np.abs(expected).max())
    assert found.effect.sum() == pytest.approx(np.linalg.norm(found.landed - found.start), rel=0.05)
    assert found.cosine > 0.99
    assert (found.error < 0.2 * np.abs(expected).max()).all()


@pytest.mark.parametrize("enough", [1, 2, 7, 38, 40])
def test_the_fewest_features_are_those_of_trying_every_size(enough):
    own, row = np.zeros(40), np.arange(1.0, 41.0)
    asked = []

    def arrives(rows):
        asked.append(len(rows))
        return [np.count_nonzero(one[-enough:]) == enough for one in rows]

    good = Order.by(row, own, row)  # the largest first: the last columns
    bad = Order.by(-1 / row, own, row)  # the smallest change weighs most
    assert good.features[0] == 39
    assert bad.features[0] == 0
    assert fewest_features(own, [bad, good], arrives) == (1 if enough < 40 else 0, enough)
    assert len(asked) <= 4


def test_only_features_that_change_are_counted():
    own, row = np.zeros(4), np.array([0.0, 2.0, 0.0, -3.0])
    order = Order.by(np.array([9.0, np.nan, 9.0, np.nan]), own, row)
    assert order.features.tolist() == [3, 1]
    np.testing.assert_array_equal(order.first(1, own), [0, 0, 0, -3])
    assert fewest_features(own, [order], lambda rows: [True] * len(rows)) == (0, 1)
    assert fewest_features(own, [order], lambda rows: [bool(one[1]) for one in rows]) == (0, 2)


@pytest.fixture(scope="module")
def follower():
    """Feature 1 follows feature 0, but the map shows feature 0 and 2 only; 3 to 9 are noise."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 10, 500)
    X = np.column_stack([t, t + rng.normal(0, 0.1, 500), rng.uniform(0, 1, 500), 0.1 * rng.normal(size=(500, 7))])
    return X, np.where(t > 7, "high", np.where(t < 3, "low", "middle")), explain(X, X[:, [0, 2]].copy(), n_jobs=1)


def shown(rows):
    return np.asarray(rows)[:, [0, 2]]


def ask(follower, **options):
    _X, labels, explanation = follower
    i = int(np.flatnonzero(labels == "low")[0])
    return counterfactual(explanation, i, transform=shown, target="high", labels=labels, plausible=False, **options)


def test_what_only_goes_along_is_not_needed(follower):
    X, _, _ = follower
    found = ask(follower)
    by_name = dict(zip(found.features, found.change, strict=True))
    assert by_name["feature 1"] == pytest.approx(by_name["feature 0"], abs=0.5)
    assert found.n_needed == 1
    assert found.n_changed == 10
    assert found.features[0] == "feature 0"
    assert found.needed.tolist() == [True] + [False] * 9
    expected = X[found.index].copy()
    expected[0] = found.row[0]
    np.testing.assert_array_equal(found.needed_row, expected)


def test_the_smallest_change_goes_no_further_than_it_must(follower):
    X, _, _ = follower
    near, far = ask(follower, minimize="distance"), ask(follower)
    assert near.reached
    assert near.share <= far.share
    assert near.row[0] == pytest.approx(7, abs=0.3)
    assert np.linalg.norm(near.row - X[near.index]) <= np.linalg.norm(far.row - X[far.index])
    assert near.n_needed >= far.n_needed


def test_features_needed_come_first_and_both_groups_are_sorted_as_asked(follower):
    for name, key in (("contribution", "effect"), ("change", "change_sd")):
        found = ask(follower, sort_by=name)
        values = np.abs(getattr(found, key))
        assert found.needed[0]
        assert (np.diff(values[1:]) <= 0).all()


def test_a_needed_feature_stands_before_one_that_changes_more(follower):
    _X, labels, explanation = follower
    overtaken = 0
    for i in np.flatnonzero(labels == "low")[:6]:
        found = counterfactual(
            explanation, int(i), transform=shown, target="high", labels=labels, sort_by="change", plausible=False
        )
        assert found.features[0] == "feature 0"
        overtaken += np.abs(found.change_sd).max() > abs(found.change_sd[0])
    assert overtaken > 0


def test_novelty_is_told_of_both_changed_rows(follower):
    found = ask(follower, novelty=lambda rows: np.abs(rows[:, 0] - rows[:, 1]))
    assert found.novelty == pytest.approx(abs(found.row[0] - found.row[1]))
    assert found.needed_novelty == pytest.approx(abs(found.needed_row[0] - found.needed_row[1]))
    assert found.needed_novelty > 3 > 1 > found.novelty
    assert f"1 are enough, novelty {found.needed_novelty:.2f}" in found.headline()


@pytest.fixture(scope="module")
def groups():
    """Two groups that differ in features 0 and 1, of twelve."""
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 2
    X = rng.normal(size=(240, 12)).astype(np.float32)
    X[:, :2] += np.where(labels[:, None] == 1, 4, 0)
    return X, labels


@pytest.mark.parametrize(
    "method",
    [Isomap(n_neighbors=10, n_jobs=1), UMAP(n_neighbors=10, random_state=0, n_jobs=1)],
    ids=["isomap", "umap"],
)
def test_methods_place_changed_rows_themselves(groups, method):
    X, labels = groups
    Y = method.fit_transform(X)
    for i in (0, 10):
        found = counterfactual(explain(X, Y, n_jobs=1), i, transform=method.transform, target=1, labels=labels)
        assert found.reached
        assert found.label == 1
        for row in (found.row, found.needed_row):
            place = method.transform(row[None].astype(np.float32))[0]
            near = np.argsort(np.linalg.norm(Y - place, axis=1))[:5]
            assert labels[near].mean() > 0.5
        assert {"feature 0", "feature 1"} & set(found.features[:2])
        assert 1 <= found.n_needed < 12


@pytest.mark.slow
@pytest.mark.skipif("GNOMON_DATA" not in os.environ, reason="needs the real data sets")
def test_blood_cells_become_others_by_their_markers():
    stored = np.load(pathlib.Path(os.environ["GNOMON_DATA"]) / "pbmc68k_reduced.npz")
    X = sp.csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"])
    labels = stored["target_names"][stored["y"]]
    names = stored["gene_names"].tolist()
    maps = [gnomon.map(X, labels=labels, feature_names=names, n_jobs=1, random_state=seed) for seed in range(5)]
    kinds = {
        ("CD56+ NK", "CD19+ B"): {"CD79A", "CD79B", "MS4A1", "MZB1", "IGJ", "IGLL5"},
        ("CD14+ Monocyte", "Dendritic"): {"FCER1A", "CLEC10A", "HLA-DMA", "HLA-DQA1", "HLA-DQB1", "FCGR3A", "CD1C"},
    }
    for (start, end), markers in kinds.items():
        rows = np.flatnonzero(labels == start)
        hits, shares = [], []
        for shown in maps:  # where kinds lie side by side, a cell first loses the markers of its own
            distances = np.linalg.norm(shown.embedding[rows] - np.median(shown.embedding[rows], axis=0), axis=1)
            for i in rows[np.argsort(distances)[:3]]:
                found = shown.counterfactual(int(i), end)
                assert found.reached
                shares.append(found.n_needed / found.n_changed)
                hits.append(len(markers & set(found.features[:10])))
        assert np.median(hits) >= 2
        assert np.median(shares) < 0.5


def test_sixteen_sizes_are_tried_at_first_by_factors_then_evenly():
    own, asked = np.zeros(400), []
    order = Order(np.ones(400), np.arange(400))

    def arrives(rows):
        sizes = np.count_nonzero(rows, axis=1)
        asked.append(sizes.tolist())
        return (sizes >= 137).tolist()

    assert fewest_features(own, [order], arrives) == (0, 137)
    first = np.unique(np.round(np.geomspace(1, 399, 16)).astype(int)).tolist()
    low = max(size for size in first if size < 137)
    high = min(size for size in first if size >= 137)
    assert asked[0] == first
    assert asked[1] == np.unique(np.round(np.linspace(low + 1, high - 1, 16)).astype(int)).tolist()


def test_features_are_taken_by_weight_then_by_change_and_only_those_that_change():
    own, row = np.zeros(6), np.array([1.0, 0.0, -3.0, 2.0, 0.5, 4.0])
    order = Order.by(np.array([1.0, 9.0, -2.0, 2.0, np.nan, 0.0]), own, row)
    assert order.features.tolist() == [2, 3, 0, 5, 4]
    np.testing.assert_array_equal(order.first(2, own), [0.0, 0.0, -3.0, 2.0, 0.0, 0.0])
    np.testing.assert_array_equal(own, np.zeros(6))


def test_features_that_change_together_are_taken_together():
    own, row = np.zeros(6), np.array([1.0, -1.0, 2.0, 0.0, 0.5, 3.0])
    order = Order.by(np.array([2.0, 2.0, 3.0, 0.0, 0.1, 0.2]), own, row, np.array([0, 0, 2, 2, 4, 5]))
    assert order.features.tolist() == [0, 1, 2, 5, 4]
    assert order.n_units == 4
    np.testing.assert_array_equal(order.first(1, own), [1, -1, 0, 0, 0, 0])
    np.testing.assert_array_equal(order.first(2, own), [1, -1, 2, 0, 0, 0])
    assert order.first(0, own).tolist() == own.tolist()
    assert fewest_features(own, [order], lambda rows: [bool(one[2]) for one in rows]) == (0, 2)


@pytest.mark.parametrize("n", [3, 40, 200])
def test_what_can_be_dropped_is_dropped_until_nothing_can(n):
    own, row, asked = np.zeros(n), np.arange(1.0, n + 1.0), []
    wanted = [0, n // 2, n - 1]

    def arrives(rows):
        asked.append(len(rows))
        return (rows[:, wanted] != 0).all(axis=1).tolist()

    left = irreducible(own, row, [np.array([f]) for f in range(n)], arrives)
    assert [int(unit[0]) for unit in left] == wanted
    assert sum(asked) < 3 * n + 60
    either = irreducible(own, row, [np.array([0]), np.array([1, 2])], lambda rows: (rows != 0).any(axis=1).tolist())
    assert [unit.tolist() for unit in either] == [[1, 2]]  # the first is dropped first
    free = irreducible(own, row, [np.array([0])], lambda rows: [True] * len(rows), fewest=0)
    assert free == []
