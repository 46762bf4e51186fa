"""Every measure against its definition written out, ZADU, scikit-learn and the reference values, to 1e-6."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, squareform
from scipy.stats import pearsonr, rankdata, spearmanr
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score

from gnomon._run import running
from gnomon.evaluation import evaluate, local_radius_correlation, scorecard
from gnomon.evaluation.classes import centroid_distances, neighborhood_hits
from gnomon.evaluation.pairs import non_metric_stress, stresses_of_random_map
from gnomon.evaluation.ranks import local_and_global, neighborhood_sizes, random_rank_errors, rank_anchors
from gnomon.evaluation.scores import _average_ranks, neighbor_ranks, rank_agreement
from gnomon.evaluation.steadiness import SharedNeighbors, distortions, score_of
from gnomon.evaluation.topology import diagram_agreement, joining_agreement, joining_scales, loops
from gnomon.neighbors import cross_distances


def iris():
    i, j = np.arange(150)[:, None], np.arange(4)
    X = load_iris().data + 1e-3 * np.sin(1 + 7 * i + 3 * j)
    centred = X - X.mean(axis=0)
    return X, centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T, load_iris().target


def waves():
    i = np.arange(240)[:, None]
    X = np.sin(0.1 * i * np.arange(1, 7)) + 0.3 * np.cos(i**1.5 * np.arange(2, 8))
    Y = X[:, :2] @ np.array([[1, 0.5], [-0.3, 1.2]]) + 0.2 * np.sin(i * [[3.0, 5.0]])
    return X, Y, (np.arange(240) * 7 // 40) % 5


def coarse():
    """Whole numbers: many equal distances, and rows that are equal."""
    rng = np.random.default_rng(5)
    return rng.integers(0, 4, (70, 3)) * 1.0, rng.integers(0, 5, (70, 2)) * 1.0, np.arange(70) % 4


# ZADU 0.5.4: for (X, Y, labels), k of `iris()`, 10 and `waves()`, 7
#   ZADU([{"id": m, "params": {"k": k}} for m in ("tnc", "mrre", "nh", "topo")] + [{"id": m, "params": {}} for m in
#   ("dsc", "ivm", "pr", "srho", "stress", "sn_stress", "nm_stress")], X).measure(Y, labels)
# and {"id": "snc", "params": {"random_state": 0}}, with "clustering_strategy": "4-means" or without.
ZADU = {
    "iris": {
        "trustworthiness": 0.9829938042131352,
        "continuity": 0.9908748451053282,
        "mrre_false": 0.968512654926884,
        "mrre_missing": 0.9808715468302306,
        "neighborhood_hit": 0.9313333333333332,
        "topographic_product": -0.039576000819426305,
        "distance_consistency": 0.9266666666666666,
        "silhouette": 0.5343912619434686,
        "pearson": 0.9983831265548582,
        "shepard": 0.9958003736926755,
        "raw_stress": 0.04180966325276151,
        "stress": 0.040493700528525016,
        "non_metric_stress": 0.030233730371826244,
    },
    "waves": {
        "trustworthiness": 0.827700665419006,
        "continuity": 0.9335932626325639,
        "mrre_false": 0.8197125172305825,
        "mrre_missing": 0.9333319042180986,
        "neighborhood_hit": 0.21011904761904757,
        "topographic_product": -0.10373642966545799,
        "distance_consistency": 0.2708333333333333,
        "silhouette": -0.0922387529584707,
        "pearson": 0.5637015256686094,
        "shepard": 0.5162976613219437,
        "raw_stress": 0.4360551363716955,
        "stress": 0.35746384068390424,
        "non_metric_stress": 0.3549070303487313,
    },
}
ZADU_CLUSTERS = {
    "iris": {"hdbscan": (0.9190333534537974, 0.8577679750889989), "4-means": (0.9359255664932425, 0.8966400591875449)},
    "waves": {"hdbscan": (0.4685363744697719, 0.6351267009157782), "4-means": (0.5214697354003761, 0.6997119759066324)},
}
DATA = {"iris": (*iris(), 10), "waves": (*waves(), 7), "coarse": (*coarse(), 6)}


@pytest.mark.parametrize("name", ["iris", "waves"])
def test_values_are_those_of_zadu(name):
    X, Y, labels, k = DATA[name]
    found = scorecard(X, Y, labels, n_neighbors=k, measures=list(ZADU[name]))
    assert {one: score.value for one, score in found.items()} == pytest.approx(ZADU[name], abs=1e-6)
    assert all(score.exact for score in found.values())


class _Legacy:
    """The random numbers that ZADU draws, one after the other."""

    def __init__(self):
        self.source = np.random.RandomState(0)

    def integer(self, high):
        return int(self.source.randint(high))

    def uniform(self, count):
        return self.source.rand(count)


def _nearest(A, k):
    apart = cdist(A, A)
    np.fill_diagonal(apart, -1)
    return np.argsort(apart, axis=1, kind="stable")[:, 1 : k + 1]


@pytest.mark.parametrize(
    ("name", "clustering"),
    [
        ("iris", "4-means"),
        pytest.param("waves", "4-means", marks=pytest.mark.slow),
        ("iris", "hdbscan"),
        ("waves", "hdbscan"),
    ],
)
def test_steadiness_with_the_draws_of_zadu_is_zadus(name, clustering):
    X, Y, _, _ = DATA[name]
    k = int(np.sqrt(len(X)))
    graphs = [SharedNeighbors.of(_nearest(A, k)) for A in (X, Y)]
    draws = _Legacy()
    found = []
    for score, A in (("steadiness", X), ("cohesiveness", Y)):
        means = {}
        if clustering == "4-means":

            def means_of(members, _, A=A):
                seed = draws.integer(np.iinfo(np.int32).max)
                return KMeans(min(4, len(members)), n_init="auto", random_state=seed).fit_predict(A[members])

            means = {"clusters": means_of}
        with running(n_threads=1):  # one after the other
            sums = distortions(score, *graphs, 0, draws=[draws] * 150, **means)
        found.append(float(score_of(sums.sum(axis=0))))
    # Distances by shared neighbours are often equal, and the two HDBSCANs join equal ones in another order.
    assert found == pytest.approx(ZADU_CLUSTERS[name][clustering], abs=1e-6 if clustering == "4-means" else 0.01)


@pytest.mark.parametrize("name", ["iris", "waves"])
def test_steadiness_of_our_own_draws_is_near_zadus(name):
    X, Y, _, _ = DATA[name]
    found = scorecard(X, Y, measures=["steadiness", "cohesiveness"])
    for one, expected in zip(found.values(), ZADU_CLUSTERS[name]["hdbscan"], strict=True):
        half = one.interval[1] - one.value
        assert 0.0 < half < 0.08
        assert abs(one.value - expected) < 4.0 * half  # both are samples


def test_reference_values_are_reproduced():
    X, Y, labels, _ = DATA["iris"]
    names = ["trustworthiness", "continuity", "neighborhood_preservation", "auc_rnx", "shepard", "raw_stress", "stress"]
    names += ["neighborhood_hit", "local_radius_correlation"]
    found = {k: scorecard(X, Y, labels, n_neighbors=k, measures=names) for k in (5, 10, 30)}
    for k, trust, continuity, kept in (
        (5, 0.9784882629, 0.9902723005, 0.6373333333),
        (10, 0.9829938042, 0.9908748451, 0.734),
        (30, 0.9935353535, 0.9961637427, 0.9155555556),
    ):
        assert found[k]["trustworthiness"].value == pytest.approx(trust, rel=1e-6)
        assert found[k]["continuity"].value == pytest.approx(continuity, rel=1e-6)
        assert found[k]["neighborhood_preservation"].value == pytest.approx(kept, rel=1e-6)
    ten = found[10]
    for name, value in (
        ("auc_rnx", 0.6894006417),
        ("shepard", 0.9958003737),
        ("raw_stress", 0.04180966325),
        ("stress", 0.04049370053),
        ("neighborhood_hit", 0.9313333333),
        ("local_radius_correlation", 0.8883761832),
    ):
        assert ten[name].value == pytest.approx(value, rel=1e-6), name
    assert ten.shepard.scale == pytest.approx(1.010525291, rel=1e-6)
    assert ten.curves.q_nx[0] == pytest.approx(0.3733333333, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.* places of the map:gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("name", list(DATA))
def test_ranks_follow_their_definitions(name):
    X, Y, _, k = DATA[name]
    n = len(X)
    # Whole squared distances, so that equal ones are equal to the last bit.
    given = np.round(cdist(X, X, "sqeuclidean"), 9)
    in_map = cdist(Y, Y, "sqeuclidean")
    found = scorecard(given, Y, n_neighbors=k, metric="precomputed", measures=["auc_rnx", "q_local", "q_global"])
    r, e = neighbor_ranks(given).astype(float), neighbor_ranks(in_map).astype(float)
    other = ~np.eye(n, dtype=bool)
    q = np.array([np.mean(np.sum((r <= size) & (e <= size) & other, axis=1)) / size for size in range(1, n)])
    r_nx = [((n - 1) * q[size - 1] - size) / (n - 1 - size) for size in range(1, n - 1)]
    weights = 1.0 / np.arange(1, n - 1)
    assert found["auc_rnx"].value == pytest.approx(np.sum(r_nx * weights) / weights.sum(), abs=1e-9)
    assert found["auc_rnx"].value == pytest.approx(rank_agreement(r.astype(np.int32), e.astype(np.int32), k).auc_rnx)
    size = int(np.argmax(q - np.arange(1, n) / (n - 1))) + 1
    assert found.local_size == size
    assert found["q_local"].value == pytest.approx(q[:size].mean(), abs=1e-9)
    assert found["q_global"].value == pytest.approx(q[size - 1 :].mean(), abs=1e-9)
    curves = found.curves
    for at, size in enumerate(curves.sizes):
        assert curves.q_nx[at] == pytest.approx(q[size - 1], abs=1e-9)
        assert curves.r_nx[at] == pytest.approx(r_nx[size - 1], abs=1e-9)
        norm = n * np.sum(np.abs(n - 2.0 * np.arange(1, size + 1) + 1) / np.arange(1, size + 1))
        near_map, near_data = (e <= size) & other, (r <= size) & other
        gaps = np.abs(r - e)
        assert curves.mrre_false[at] == pytest.approx(1 - np.sum(gaps[near_map] / e[near_map]) / norm, abs=1e-9)
        assert curves.mrre_missing[at] == pytest.approx(1 - np.sum(gaps[near_data] / r[near_data]) / norm, abs=1e-9)
        if 2 * size >= n:
            assert np.isnan(curves.trustworthiness[at])
            continue
        scale = 2.0 / (n * size * (2 * n - 3 * size - 1))
        assert curves.trustworthiness[at] == pytest.approx(1 - scale * np.sum((r - size)[near_map & ~near_data]))
        assert curves.continuity[at] == pytest.approx(1 - scale * np.sum((e - size)[near_data & ~near_map]))


@pytest.mark.filterwarnings("ignore:.* places of the map:gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("name", list(DATA))
def test_triplets_are_all_triplets(name):
    X, Y, labels, _ = DATA[name]
    given, in_map = cdist(X, X), cdist(Y, Y, "sqeuclidean")

    def share(a, b):
        n, agreeing = len(a), 0.0
        for i in range(n):
            others = np.delete(np.arange(n), i)
            x, y = a[i, others], b[i, others]
            orders = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
            same = (orders[0] == orders[1]) + 0.5 * ((orders[0] == 0) ^ (orders[1] == 0))
            agreeing += np.triu(same, 1).sum()
        return agreeing / (n * (n - 1) * (n - 2) / 2)

    found = scorecard(given, Y, labels, metric="precomputed", measures="random_triplets")["random_triplets"]
    assert found.value == pytest.approx(share(given, in_map), abs=1e-12)
    assert found.n_pairs == len(X) * (len(X) - 1) * (len(X) - 2) // 2
    centers = [np.array([A[labels == c].mean(axis=0) for c in np.unique(labels)]) for A in (X, Y)]
    found = scorecard(X, Y, labels, measures="centroid_triplets")["centroid_triplets"]
    assert found.value == pytest.approx(share(*(cdist(one, one) for one in centers)), abs=1e-9)
    count = len(centers[0])
    assert found.n_pairs == count * (count - 1) * (count - 2) // 2


def sets(n_classes=5, per_class=30):
    """Rows of 0 and 1, whose columns are set as often as their class has them, and places that follow a few columns."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat(np.arange(n_classes), per_class))
    often = rng.uniform(0.1, 0.6, (n_classes, 40))
    X = (rng.random((len(labels), 40)) < often[labels]) * 1.0
    return X, often[labels][:, :2] + 0.1 * rng.normal(size=(len(labels), 2)), labels


def order_kept(apart, in_map):
    n = len(apart)
    triplets = [(i, j, k) for i in range(n) for j in range(n) for k in range(j) if i not in (j, k)]
    return np.mean([(apart[i, j] < apart[i, k]) == (in_map[i, j] < in_map[i, k]) for i, j, k in triplets])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("metric", ["jaccard", "dice", "sokalsneath", "rogerstanimoto", "hamming"])
def test_centroids_of_sets_are_those_of_the_space_whose_squared_distances_the_metric_is(metric, form):
    X, Y, labels = sets()
    given = cross_distances(X, X, metric=metric)
    middle = np.eye(len(X)) - 1.0 / len(X)
    values, vectors = np.linalg.eigh(-0.5 * middle @ given @ middle)  # classical scaling
    assert values.min() > -1e-9
    space = vectors * np.sqrt(np.maximum(values, 0.0))
    centers = [np.array([A[labels == c].mean(axis=0) for c in range(5)]) for A in (space, Y)]
    expected = cdist(centers[0], centers[0], "sqeuclidean")
    np.testing.assert_allclose(centroid_distances(form(X), labels, metric), expected, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scorecard(form(X), Y, labels, metric=metric, measures="centroid_triplets")["centroid_triplets"]
    assert found.value == pytest.approx(order_kept(expected, cdist(centers[1], centers[1])), abs=1e-12)
    assert (found.exact, found.n_rows, found.n_pairs) == (True, len(X), 30)


def test_centroids_of_sets_under_hamming_are_as_far_as_those_of_numbers():
    X, _, labels = sets()
    centers = np.array([X[labels == c].mean(axis=0) for c in range(5)])
    found = centroid_distances(X, labels, "hamming")
    np.testing.assert_allclose(found, cdist(centers, centers, "sqeuclidean") / X.shape[1], atol=1e-12)


def angles(turned=0.0, n_classes=6, per_class=20):
    """Classes around a circle, one of them about 0, with a column beside; a map that shows them as they are."""
    rng = np.random.default_rng(5)
    labels = rng.permutation(np.repeat(np.arange(n_classes), per_class))
    where = np.array([0.0, 0.9, 2.2, 3.0, 4.4, 5.3])[labels] + 0.1 * rng.normal(size=len(labels))
    latitude = 0.1 * rng.normal(size=len(labels))
    return where + turned, latitude, np.c_[np.cos(where), np.sin(where)], labels


@pytest.mark.parametrize("metric", ["periodic(6.283185307179586, inf)", "haversine"])
def test_the_order_of_classes_does_not_depend_on_where_angles_begin(metric):
    def order(turned):
        where, latitude, Y, labels = angles(turned)
        around = (where + np.pi) % (2.0 * np.pi) - np.pi if metric == "haversine" else where % (2.0 * np.pi)
        X = np.c_[latitude, around] if metric == "haversine" else np.c_[around, latitude]
        return scorecard(X, Y, labels, metric=metric, measures="centroid_triplets")["centroid_triplets"]

    found = [order(turned).value for turned in (0.0, 0.4, 2.0, np.pi)]
    assert min(found) > 0.95
    np.testing.assert_allclose(found, found[0], atol=1e-12)
    assert order(0.0).exact


def test_centroids_of_angles_within_half_a_period_are_as_far_as_those_of_numbers():
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(4), 15)
    X = np.c_[rng.uniform(0.0, 170.0, 60), rng.normal(size=60)]
    centers = np.array([X[labels == c].mean(axis=0) for c in range(4)])
    expected = cdist(centers, centers, "sqeuclidean")
    for turned in (0.0, 90.0, 300.0):
        around = np.c_[(X[:, 0] + turned) % 360.0, X[:, 1]]
        found = centroid_distances(around, labels, "periodic(360, inf)", squared=True)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_of_many_rows_centroids_of_sets_rest_on_as_many_rows_of_each_class():
    X, Y, labels = sets(per_class=60)
    labels = np.where(np.arange(len(labels)) < 2, 5, labels)  # a class of two rows is not missed
    found = scorecard(X, Y, labels, metric="dice", measures="centroid_triplets", n_anchors=120)["centroid_triplets"]
    assert (found.n_rows, found.exact, found.interval) == (5 * 20 + 2, False, None)
    all_rows = scorecard(X, Y, labels, metric="dice", measures="centroid_triplets")["centroid_triplets"]
    assert found.value == pytest.approx(all_rows.value, abs=0.2)


@pytest.mark.parametrize("name", ["iris", "waves"])
def test_pairs_and_classes_are_those_of_scipy_and_scikit_learn(name):
    X, Y, labels, k = DATA[name]
    upper = np.triu_indices(len(X), 1)
    x, y = cdist(X, X)[upper], cdist(Y, Y)[upper]
    fitted = IsotonicRegression().fit_transform(x, y)
    expected = {
        "trustworthiness": trustworthiness(X, Y, n_neighbors=k),
        "continuity": trustworthiness(Y, X, n_neighbors=k),
        "pearson": pearsonr(x, y).statistic,
        "shepard": spearmanr(x, y).statistic,
        "raw_stress": np.sqrt(np.sum((x - y) ** 2) / np.sum(x * x)),
        "stress": min(np.sqrt(np.sum((x - a * y) ** 2) / np.sum(x * x)) for a in [np.sum(x * y) / np.sum(y * y)]),
        "non_metric_stress": np.sqrt(np.sum((y - fitted) ** 2) / np.sum(y * y)),
        "silhouette": silhouette_score(Y, labels),
        "local_radius_correlation": local_radius_correlation(X, Y, n_neighbors=k),
        "knn_accuracy": evaluate(X, Y, labels=labels).knn_accuracy,
    }
    found = scorecard(X, Y, labels, n_neighbors=k, measures=[*expected, "neighborhood_hit"])
    assert {one: found[one].value for one in expected} == pytest.approx(expected, abs=1e-6)
    near = _nearest(Y, k)
    assert found["neighborhood_hit"].value == pytest.approx(np.mean(labels[near] == labels[:, None]))


def test_equal_distances_share_one_place_on_the_increasing_curve():
    X, Y, _ = coarse()
    upper = np.triu_indices(len(X), 1)
    x, y = cdist(X, X)[upper], cdist(Y, Y)[upper]
    fitted = IsotonicRegression().fit_transform(x, y)
    assert non_metric_stress(x, y) == pytest.approx(np.sqrt(np.sum((y - fitted) ** 2) / np.sum(y * y)), abs=1e-12)


def test_the_topographic_product_follows_its_definition():
    X, Y, _, k = DATA["waves"]
    given, in_map = cdist(X, X), cdist(Y, Y)
    near_data, near_map = _nearest(X, k), _nearest(Y, k)
    total = []
    for i in range(len(X)):
        first = given[i, near_map[i]] / given[i, near_data[i]]
        second = in_map[i, near_map[i]] / in_map[i, near_data[i]]
        total += [np.log(np.prod(first[:j] * second[:j]) ** (1 / (2 * j))) for j in range(1, k + 1)]
    found = scorecard(X, Y, n_neighbors=k, measures="topographic_product")["topographic_product"]
    assert found.value == pytest.approx(np.mean(total), abs=1e-9)
    assert found.measure.direction == "nearer to 0 is better"


@pytest.mark.parametrize("seed", range(3))
def test_rows_join_at_the_heights_of_single_linkage(seed):
    X = np.random.default_rng(seed).normal(size=(80, 3)).round(1)  # some distances are equal
    apart = cdist(X, X)
    expected = squareform(cophenet(linkage(squareform(apart, checks=False), "single")))
    np.testing.assert_allclose(joining_scales(apart), expected, atol=1e-12)
    tree = np.sort(minimum_spanning_tree(apart).data)
    assert set(np.round(tree, 9)) <= set(np.round(joining_scales(apart).ravel(), 9))
    line = np.array([0.0, 7.0, 1.0, 3.0])[:, None]
    np.testing.assert_array_equal(joining_scales(cdist(line, line))[1], [4, 0, 4, 4])


def test_the_joining_of_pieces_tells_a_map_from_places_that_know_nothing():
    rng = np.random.default_rng(0)
    centers = 6 * rng.normal(size=(5, 10))
    X = centers[np.arange(200) % 5] + rng.normal(size=(200, 10))
    Y = X @ np.linalg.qr(rng.normal(size=(10, 2)))[0]
    apart = cdist(X, X)
    assert joining_agreement(apart, 3 * apart) == pytest.approx(1.0)
    kept = [cdist(Y, Y), cdist(X[:, :6], X[:, :6])]
    nothing = [rng.normal(size=(200, 2)), rng.uniform(size=(200, 2)), Y[rng.permutation(200)]]
    assert min(joining_agreement(apart, one) for one in kept) > 0.3
    assert max(abs(joining_agreement(apart, cdist(one, one))) for one in nothing) < 0.15
    card = scorecard(X, nothing[0], measures="topology_h0")["topology_h0"]
    assert card.chance == 0.0
    assert card.value == pytest.approx(joining_agreement(apart, cdist(nothing[0], nothing[0])), abs=1e-9)


def test_the_joining_of_pieces_is_undefined_where_all_join_at_once():
    row = np.arange(30.0)[:, None]
    assert np.isnan(joining_agreement(cdist(row, row), cdist(row**2, row**2)))
    assert np.isnan(scorecard(np.c_[row, row], row**2, measures="topology_h0")["topology_h0"].value)


def _distance(a, b):
    """Distance of two diagrams by assignment: each bar to a bar of the other, or to the diagonal."""
    n, m = len(a), len(b)
    costs = np.zeros((n + m, n + m))
    costs[:n, :m] = np.abs(a[:, None] - b[None]).max(axis=2)
    costs[:n, m:], costs[n:, :m] = np.diff(a) / 2, np.diff(b).T / 2
    return costs[linear_sum_assignment(costs)].sum()


@pytest.mark.parametrize("seed", range(5))
def test_likeness_of_diagrams_is_the_wasserstein_distance(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.exponential(size=rng.integers(1, 30)), rng.exponential(size=rng.integers(1, 30)) ** 3
    bars = [np.column_stack([np.zeros(len(one)), np.sort(one)]) for one in (a, b)]
    whole = (a.sum() + b.sum()) / 2
    assert diagram_agreement(*bars) == pytest.approx(1 - _distance(*bars) / whole, abs=1e-12)
    late = [one + rng.random(len(one))[:, None] for one in bars]
    assert diagram_agreement(*late) == pytest.approx(1 - _distance(*late) / whole, abs=1e-12)
    assert diagram_agreement(late[0], late[0]) == diagram_agreement(bars[0], bars[0]) == 1.0
    nothing = np.empty((0, 2))
    assert diagram_agreement(nothing, late[0]) == pytest.approx(0.0, abs=1e-12)
    assert diagram_agreement(nothing, nothing) == 1.0


def test_a_circle_has_one_loop_and_keeps_it_whatever_the_scale():
    pytest.importorskip("gudhi")
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    found = loops(cdist(circle, circle))
    assert found.shape == (1, 2)
    assert found[0, 0] == pytest.approx(2 * np.sin(np.pi / 60))
    assert found[0, 1] == pytest.approx(np.sqrt(3), abs=0.06)
    lifted = np.column_stack([5 * circle, np.zeros(60)])
    assert scorecard(lifted, circle, measures="topology_h1")["topology_h1"].value == pytest.approx(1.0)
    cut = np.column_stack([angle, np.zeros(60)])
    assert scorecard(lifted, cut, measures="topology_h1")["topology_h1"].value == 0.0


def test_a_tree_of_a_scaled_copy_is_the_same():
    X, _, _, _ = DATA["waves"]
    assert scorecard(X, 7 * X[:, ::-1] + 3, measures="topology_h0")["topology_h0"].value == pytest.approx(1.0)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_the_metric_of_the_data_is_respected(metric):
    X, Y, _, k = DATA["waves"]
    names = ["auc_rnx", "shepard", "pearson", "stress", "random_triplets", "topology_h0", "topographic_product"]
    found = scorecard(X, Y, n_neighbors=k, metric=metric, measures=names)
    apart = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    expected = scorecard(apart, Y, n_neighbors=k, metric="precomputed", measures=names)
    for name in names:
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-6), name


def test_sums_of_anchors_add_up_to_those_of_all_rows():
    X, Y, _, k = DATA["waves"]
    given = {"metric": "precomputed", "sizes": neighborhood_sizes(240, k), "n_nearest": k, "n_pairs": 10, "seed": 0}
    X = cdist(X, X)
    whole = rank_anchors(X, Y, np.arange(240), **given)
    odd, even = (rank_anchors(X, Y, np.arange(first, 240, 2), **given) for first in (1, 0))
    for name in ("shared", "intruders", "extruders", "discordant", "nearest_in_map", "auc", "moments"):
        np.testing.assert_allclose(getattr(odd, name), getattr(whole, name)[1::2], rtol=1e-12, err_msg=name)
    total = odd.coranked.sum(axis=0) + even.coranked.sum(axis=0)
    np.testing.assert_array_equal(total, whole.coranked.sum(axis=0))
    several = np.stack([total, odd.coranked.sum(axis=0), even.coranked.sum(axis=0)])
    np.testing.assert_array_equal(local_and_global(several), [local_and_global(one) for one in several])
    assert local_and_global(total)[0] == pytest.approx(
        scorecard(X, Y, measures="q_local", metric="precomputed")["q_local"].value
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"Y": np.zeros((9, 2))}, "Y with 9 rows must be of as many rows as X, 10"),
        ({"n_neighbors": 10}, "n_neighbors=10 must be less than n_samples=10"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be an integer >= 1"),
    ],
)
def test_radii_that_cannot_be_compared_are_refused(given, text):
    X = np.random.default_rng(0).normal(size=(10, 2))
    assert local_radius_correlation(X, X, n_neighbors=9) == pytest.approx(1.0)
    with pytest.raises(ValueError, match=text):
        local_radius_correlation(**{"X": X, "Y": X, "n_neighbors": 9, **given})


def test_a_map_without_knowledge_has_the_stresses_of_shuffled_distances():
    """Also of a map in small units, and not if all rows are at one place."""
    rng = np.random.default_rng(0)
    x, y = rng.gamma(2.0, size=200), 1e-3 * rng.gamma(3.0, size=200)

    def moments(x, y):
        return np.column_stack([x, y, x * x, y * y, x * y])

    found = stresses_of_random_map(moments(x, y), 200)
    mixed = [(x, rng.permutation(y)) for _ in range(400)]
    raw = np.mean([np.sum((a - b) ** 2) / np.sum(a * a) for a, b in mixed])
    scaled = np.mean([np.sum(a * b) / 200 for a, b in mixed]) ** 2 / (np.mean(x * x) * np.mean(y * y))
    assert found["raw_stress"] == pytest.approx(np.sqrt(raw), rel=1e-4)
    assert found["stress"] == pytest.approx(np.sqrt(1 - scaled), rel=1e-2)
    assert found["non_metric_stress"] == pytest.approx(np.sqrt(y.var() / np.mean(y * y)))
    small = stresses_of_random_map(moments(1e-4 * x, 1e-4 * y), 200)
    assert small == pytest.approx(found)
    same = stresses_of_random_map(moments(np.full(5, 1e-3), np.full(5, 1e-3)), 5)
    assert same == pytest.approx({"raw_stress": 0.0, "stress": 0.0, "non_metric_stress": 0.0}, abs=1e-7)
    assert stresses_of_random_map(moments(x, 0 * y), 200) == {}
    assert stresses_of_random_map(moments(0 * x, y), 200) == {}


def test_neighbours_hit_their_class_among_those_that_have_one():
    codes = np.array([0, 0, 1, -1, -1])
    nearest = np.array([[1, 2, 3], [0, 3, 4], [0, 1, 3], [0, 1, 2], [0, 1, 2]])
    with np.errstate(all="raise"):
        found = neighborhood_hits(codes, np.arange(5), nearest)
        alone = neighborhood_hits(codes, np.array([2]), np.array([[3, 4]]))
    np.testing.assert_array_equal(found, [0.5, 1.0, 0.0, np.nan, np.nan])
    np.testing.assert_array_equal(alone, [np.nan])


@pytest.mark.parametrize(("n", "k"), [(9, 1), (9, 4), (30, 7)])
def test_relative_rank_errors_of_a_random_map_are_the_mean_over_all_ranks(n, k):
    ranks, others = np.arange(1, k + 1), np.arange(1, n)
    gaps = np.abs(ranks[:, None] - others).mean(axis=1) / ranks
    largest = np.sum(np.abs(n - 2 * ranks + 1) / ranks)
    assert random_rank_errors(n, k) == pytest.approx(1 - gaps.sum() / largest)


def test_ranks_of_equal_values_are_those_of_scipy():
    x = np.array([3.0, 1.0, 3.0, 3.0, -2.0, 1.0, 7.0])
    np.testing.assert_array_equal(_average_ranks(x), rankdata(x))


def test_radii_are_those_of_the_rows_that_have_one():
    """Of equal rows, whose neighbours are as near as 0, none counts; the others by Pearson's correlation."""
    rng = np.random.default_rng(0)
    X, Y = rng.exponential(size=(40, 2)), rng.exponential(size=(40, 2))
    X[:6], Y[20:26] = 50.0, 50.0
    radii = [np.mean(np.sort(cdist(one, one), axis=1)[:, 1:5] ** 2, axis=1) for one in (X, Y)]
    known = (radii[0] > 1e-12) & (radii[1] > 1e-12)
    assert known.sum() == 28
    expected = pearsonr(*(np.log(one[known]) for one in radii)).statistic
    assert local_radius_correlation(X, Y, n_neighbors=4) == pytest.approx(expected, abs=1e-5)
    assert np.isfinite(local_radius_correlation(X, Y, n_neighbors=39))
    assert np.isfinite(local_radius_correlation(X[7:10], Y[7:10], n_neighbors=1))
