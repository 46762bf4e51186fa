"""Similarity of embeddings: the five properties of every measure, agreement with definitions, chance levels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group, spearmanr
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon.evaluation import SIMILARITY_METRICS, compare_embeddings, embedding_similarity
from gnomon.evaluation.anchors import choose_anchors
from gnomon.evaluation.similarities import (
    _counted_rank_correlation,
    _squared_to_later,
    correct_for_chance,
    distance_correlation,
    rank_correlation,
)


@pytest.fixture(scope="module")
def pair():
    """Two related embeddings of 200 rows, of two and three components."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 2)) * [3, 1]
    return A, np.column_stack([A[:, 0] + 0.7 * rng.normal(size=200), A[:, 1] ** 2, rng.normal(size=200)])


@pytest.fixture(scope="module")
def iris_pair(iris):
    """The pair whose values the specification gives."""
    i, j = np.arange(150)[:, None], np.arange(4)
    X = iris[0] + 1e-3 * np.sin(1 + 7 * i + 3 * j)
    left, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    E = left[:, :2] * lengths[:2]
    E *= np.sign(np.sum(E**3, axis=0))
    return E, np.column_stack([E[:, 0] + 0.3 * np.sin(E[:, 1]), E[:, 1] ** 3])


def moved(Y, seed):
    """The same embedding at another scale, turned and reflected, elsewhere."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.01, 100) * Y @ ortho_group.rvs(Y.shape[1], random_state=seed) + rng.normal(size=Y.shape[1])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("procrustes", 0.9752021957),
        ("cka", 0.9949962086),
        ("distance_correlation", 0.9962793945),
        ("knn", 0.6426666667),
    ],
)
def test_reproduces_the_reference_values(iris_pair, metric, expected):
    assert embedding_similarity(*iris_pair, metric, n_neighbors=10) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("chance_corrected", [False, True])
@pytest.mark.parametrize("metric", SIMILARITY_METRICS)
class TestProperties:
    """What the specification requires of every measure, corrected for chance or not."""

    def test_symmetry(self, pair, metric, chance_corrected):
        A, B = pair
        there = embedding_similarity(A, B, metric, chance_corrected=chance_corrected)
        back = embedding_similarity(B, A, metric, chance_corrected=chance_corrected)
        assert there == pytest.approx(back, abs=1e-12)

    def test_range(self, pair, metric, chance_corrected):
        A, B = pair
        unrelated = np.random.default_rng(1).normal(size=(200, 5))
        line = np.linspace(0, 1, 200)[:, None]
        for other in (B, unrelated, line, line[::-1] ** 3, A[::-1]):
            assert 0 <= embedding_similarity(A, other, metric, chance_corrected=chance_corrected) <= 1

    def test_identity(self, pair, metric, chance_corrected):
        for Y in pair:
            same = embedding_similarity(Y, Y, metric, chance_corrected=chance_corrected)
            assert same == pytest.approx(1, abs=1e-9)

    def test_each_side_alone_may_be_scaled_turned_and_shifted(self, pair, metric, chance_corrected):
        A, B = pair
        expected = embedding_similarity(A, B, metric, chance_corrected=chance_corrected)
        for left, right in ((moved(A, 1), B), (A, moved(B, 2)), (moved(A, 3), moved(B, 4))):
            found = embedding_similarity(left, right, metric, chance_corrected=chance_corrected)
            assert found == pytest.approx(expected, abs=1e-9)

    def test_more_components_do_not_matter_in_themselves(self, pair, metric, chance_corrected):
        A, _ = pair
        flat_in_space = moved(np.column_stack([A, np.zeros((200, 2))]), 5)
        found = embedding_similarity(A, flat_in_space, metric, chance_corrected=chance_corrected)
        assert found == pytest.approx(1, abs=1e-9)


def test_agrees_with_the_definitions(pair):
    A, B = pair
    a, b = A - A.mean(axis=0), B - B.mean(axis=0)
    found = compare_embeddings(A, B, n_neighbors=7).value
    padded = np.column_stack([A, np.zeros(200)])
    assert found["procrustes"] == pytest.approx(1 - procrustes(padded, B)[2])
    K, L = a @ a.T, b @ b.T
    assert found["cka"] == pytest.approx(np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L))
    H = np.eye(200) - 1 / 200
    D, E = (H @ squareform(pdist(Y)) @ H for Y in (A, B))
    dcor = np.sqrt(np.sum(D * E) / np.linalg.norm(D) / np.linalg.norm(E))
    assert found["distance_correlation"] == pytest.approx(dcor)
    assert found["spearman"] == pytest.approx((1 + spearmanr(pdist(A), pdist(B)).statistic) / 2)
    near = [NearestNeighbors(n_neighbors=7).fit(Y).kneighbors(return_distance=False) for Y in (A, B)]
    shared = np.array([len(set(p) & set(q)) for p, q in zip(*near, strict=True)])
    assert found["knn"] == pytest.approx(np.mean(shared) / 7)
    assert found["jaccard"] == pytest.approx(np.mean(shared / (14 - shared)))


def test_chance_is_what_shuffled_rows_get(pair):
    A, B = pair
    A, B = A[:80], B[:80]
    rng = np.random.default_rng(0)
    shuffled = [compare_embeddings(A, rng.permutation(B), n_permutations=1).value for _ in range(300)]
    found = compare_embeddings(A, B, n_permutations=300)
    for metric in SIMILARITY_METRICS:
        values = np.array([one[metric] for one in shuffled])
        level = np.sqrt(np.mean(values**2)) if metric == "distance_correlation" else values.mean()
        assert found.chance[metric] == pytest.approx(level, abs=5 * values.std() / np.sqrt(300)), metric
        corrected = (found.value[metric] - found.chance[metric]) / (1 - found.chance[metric])
        assert found.corrected[metric] == pytest.approx(corrected)


def test_chance_levels_are_about_those_of_the_specification():
    """60 rows, two components: procrustes .02, CKA .03, distance correlation .32, spearman .50."""
    rng = np.random.default_rng(0)
    levels = [compare_embeddings(*rng.normal(size=(2, 60, 2)), n_neighbors=10).chance for _ in range(5)]
    expected = {"procrustes": 0.02, "cka": 0.03, "distance_correlation": 0.32, "spearman": 0.5, "knn": 10 / 59}
    for metric, level in expected.items():
        assert np.mean([one[metric] for one in levels]) == pytest.approx(level, abs=0.01), metric


@pytest.mark.parametrize(
    ("make", "tolerance"),
    [
        (lambda A, rng: A + rng.normal(size=A.shape), 1e-6),
        (lambda A, rng: np.round(A[:, :1]), 1e-6),  # many equal distances
        (lambda A, rng: A**7, 3e-5),  # many orders of magnitude
        (lambda A, rng: A[:, :2] * np.exp(4 * rng.normal(size=(700, 1))), 3e-5),
    ],
)
def test_ranks_by_counting_are_those_of_a_list_of_all_pairs(make, tolerance):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(700, 3))
    B = make(A, rng)
    a, b = A - A.mean(axis=0), B - B.mean(axis=0)
    expected = spearmanr(pdist(A), pdist(B)).statistic
    assert rank_correlation(a, b) == pytest.approx(expected, abs=1e-6)
    for n_threads in (1, 3):
        assert on_threads(n_threads, _counted_rank_correlation)(a, b) == pytest.approx(expected, abs=tolerance)


def test_distances_of_few_and_many_components_agree():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(60, 3))
    turned = np.column_stack([few, np.zeros((60, 27))]) @ ortho_group.rvs(30, random_state=0)
    np.testing.assert_allclose(_squared_to_later(turned, 5, 20), _squared_to_later(few, 5, 20), atol=1e-12)
    for metric in SIMILARITY_METRICS:
        assert embedding_similarity(few, turned, metric) == pytest.approx(1, abs=1e-9)


def test_a_sample_of_rows_states_its_error():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3000, 2))
    B = A + rng.normal(size=A.shape)
    full, part = compare_embeddings(A, B), compare_embeddings(A, B, max_rows=1000)
    for metric in ("distance_correlation", "spearman"):
        assert (full.n_rows[metric], part.n_rows[metric]) == (3000, 1000)
        assert full.standard_error[metric] == 0
        assert 0 < part.standard_error[metric] < 0.03
        assert abs(part.value[metric] - full.value[metric]) < 4 * part.standard_error[metric]
    assert part.value["knn"] == full.value["knn"]
    assert "distance correlation, spearman: from 1000 random rows" in part.summary()
    assert "random rows" not in full.summary()


def test_same_bits_for_any_number_of_threads(pair):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 1700, 20))
    one = compare_embeddings(A, B, n_jobs=1).to_dict()
    for n_jobs in (2, 3, 5):
        assert compare_embeddings(A, B, n_jobs=n_jobs).to_dict() == one


def test_whitening_forgives_axes_that_were_scaled_by_hand(pair):
    A, _ = pair
    stretched = A * [1, 20]
    assert embedding_similarity(A, stretched, "procrustes") < 0.7
    for metric in SIMILARITY_METRICS:
        assert embedding_similarity(A, stretched, metric, whiten=True) == pytest.approx(1, abs=1e-9)
    flat = np.column_stack([stretched, np.zeros(200)])
    assert embedding_similarity(flat, A, "procrustes", whiten=True) == pytest.approx(1, abs=1e-9)


def test_rows_without_a_place_are_left_out_and_counted(pair):
    A, B = pair
    torn, other = A.copy(), B.copy()
    torn[3, 0], other[100, 2] = np.nan, np.inf
    kept = np.setdiff1d(np.arange(200), [3, 100])
    found = compare_embeddings(torn, other)
    assert found.value == compare_embeddings(A[kept], B[kept]).value
    assert found.n_left_out == 2
    assert "2 rows have no place in one of the embeddings" in found.summary()


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_the_unit_does_not_matter(pair, unit):
    A, B = pair
    expected = compare_embeddings(A, B)
    found = compare_embeddings(unit * A, B)
    for metric in SIMILARITY_METRICS:
        assert found.value[metric] == pytest.approx(expected.value[metric], abs=1e-9)


def test_collapsed_groups_and_duplicates_give_finite_values(pair):
    A, _ = pair
    corners = np.repeat(np.eye(4)[:, :2], 50, axis=0)
    for metric in SIMILARITY_METRICS:
        assert 0 <= embedding_similarity(A, corners, metric, chance_corrected=True) <= 1
        assert embedding_similarity(corners, 2 * corners, metric) == pytest.approx(1)


def test_wrong_arguments_are_refused(pair):
    A, B = pair
    with pytest.raises(ValueError, match="A with 200 rows and B with 199 must be of the same length"):
        embedding_similarity(A, B[:-1])
    with pytest.raises(ValueError, match="metric='euclid' must be one of 'procrustes', 'cka'"):
        embedding_similarity(A, B, "euclid")
    with pytest.raises(ValueError, match=r"n_neighbors=199 must be at most 198 \(200 rows have a place"):
        embedding_similarity(A, B, "knn", n_neighbors=199)
    with pytest.raises(ValueError, match=r"B must be of rows at two places or more \(all 200 rows lie at one place\)"):
        embedding_similarity(A, np.full((200, 2), 0.1))
    with pytest.raises(ValueError, match="they differ by rounding alone"):
        embedding_similarity(A, 1e17 + B)
    with pytest.raises(TypeError, match="chance_corrected=1 must be True or False"):
        embedding_similarity(A, B, chance_corrected=1)
    with pytest.raises(ValueError, match="n_permutations=0 must be an integer >= 1"):
        embedding_similarity(A, B, n_permutations=0)
    with pytest.raises(ValueError, match="of at least 4 rows"):
        embedding_similarity(A[:3], B[:3])
    with pytest.raises(ValueError, match="at least one name"):
        compare_embeddings(A, B, [])


def test_distances_that_are_all_equal_agree_with_none_and_by_no_chance():
    a = np.random.default_rng(0).normal(size=(6, 2))
    assert distance_correlation(a - a.mean(axis=0), np.zeros((6, 3))) == (0.0, 0.0)
    assert distance_correlation(np.zeros((6, 1)), np.zeros((6, 3))) == (0.0, 0.0)
    value, chance = distance_correlation(a - a.mean(axis=0), 3.0 * (a - a.mean(axis=0))[:, ::-1])
    assert value == pytest.approx(1.0)
    assert 0.0 < chance < 1.0


def test_the_error_of_a_sample_is_that_of_its_fifths(pair):
    """By the definition: the standard deviation of five disjoint parts over the root of five."""
    A, B = pair
    found = compare_embeddings(A, B, max_rows=100, random_state=7)
    rows = choose_anchors(200, 100, 7)
    parts = np.array_split(np.random.default_rng(7).permutation(rows), 5)
    for metric in ("spearman", "distance_correlation"):
        values = [embedding_similarity(A[part], B[part], metric) for part in parts]
        assert found.value[metric] == pytest.approx(embedding_similarity(A[rows], B[rows], metric))
        assert found.standard_error[metric] == pytest.approx(np.std(values, ddof=1) / np.sqrt(5))
        assert found.n_rows[metric] == 100
    assert found.n_rows["knn"] == found.n_samples == 200
    assert compare_embeddings(A, B, max_rows=200).standard_error["spearman"] == 0
    assert compare_embeddings(A, B, max_rows=None).standard_error["spearman"] == 0


def test_what_is_compared_is_real_and_has_rows_and_neighbours_enough(pair):
    A, B = pair
    assert embedding_similarity(A, B, "knn", n_neighbors=198) > 0.99
    assert embedding_similarity(A, B, "procrustes", n_neighbors=500) > 0  # asks for no neighbours
    holes = np.where(np.arange(200)[:, None] < 4, A, np.nan)
    assert 0 <= embedding_similarity(holes, B) <= 1
    holes[0] = np.nan
    with pytest.raises(ValueError, match="embeddings with 3 rows in common must be of at least 4 rows"):
        embedding_similarity(holes, B)
    with pytest.raises(ValueError, match=r"B of shape \(200,\) must be 2-D with at least one component"):
        embedding_similarity(A, B[:, 0])
    with pytest.raises(ValueError, match=r"A of shape \(200, 0\) must be 2-D with at least one component"):
        embedding_similarity(A[:, :0], B)
    with pytest.raises(TypeError, match="B of type complex128 must be of real numbers"):
        embedding_similarity(A, B * 1j)
    for value, chance, expected in ((0.75, 0.5, 0.5), (0.25, 0.5, 0.0), (1.0, 0.5, 1.0), (1.0, 1.0, 0.0)):
        assert correct_for_chance(value, chance) == expected


def test_neighbours_are_ten_unless_told(pair):
    A, B = pair
    assert compare_embeddings(A, B).n_neighbors == 10
    for metric in ("knn", "jaccard"):
        assert embedding_similarity(A, B, metric) == embedding_similarity(A, B, metric, n_neighbors=10)
