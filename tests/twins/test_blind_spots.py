"""Tables that have the same map are found where they are known to exist, and no other is called the same."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

import gnomon as gn
from gnomon.linalg import procrustes
from gnomon.neighbors import compute_neighbors
from gnomon.twins import Distance, Shift, Unfolded, Width
from gnomon.twins.search import open_search

_WIDTHS = np.array([1.0, 0.5, 2.0])
_SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]


def _clusters(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 30)
    return 12.0 * rng.normal(size=(3, 4))[y] + _WIDTHS[y, None] * rng.normal(size=(90, 4)), y


@pytest.fixture(scope="module")
def tsne():
    X, y = _clusters()
    method = gn.TSNE(perplexity=8, init="pca", random_state=0)
    return X, y, method, gn.blind_spots(method, X, labels=y, n_seeds=2, n_shifts=1)


def _of(spots, kind):
    return [twin for twin in spots.twins if isinstance(twin.change, kind)]


def test_each_change_does_what_its_words_say():
    X, y = _clusters()
    wide = Width(3.0, 1).apply(X, y)
    assert np.allclose(wide[y == 1].std(axis=0), 3.0 * X[y == 1].std(axis=0))
    assert np.allclose(wide[y == 1].mean(axis=0), X[y == 1].mean(axis=0))
    assert np.array_equal(wide[y != 1], X[y != 1])
    far = Distance(2.5, 2, 0).apply(X, y)
    before, after = (np.linalg.norm(Z[y == 2].mean(axis=0) - Z[y == 0].mean(axis=0)) for Z in (X, far))
    assert after == pytest.approx(2.5 * before)
    raised = Shift(2.0, 0, 3).apply(X, y)
    assert np.allclose(raised[y == 0, 3] - X[y == 0, 3], 2.0 * X[:, 3].std())
    assert (raised != X).sum() == 30
    assert Width(3.0, 1).told(["a", "b"], []) == "b made 3 times as wide"
    assert Shift(-2.0, 0, 1).told(["a"], ["u", "v"]) == "v of a moved by -2 standard deviations"


def test_a_sheet_is_unrolled_and_rows_stay_as_far_from_their_neighbours():
    roll = make_swiss_roll(400, random_state=0)[0] * [1.0, 0.5, 1.0]  # dense enough for no way from turn to turn
    flat = Unfolded(1.0, 10).apply(roll, np.zeros(400, dtype=np.int64))
    assert flat.shape == roll.shape
    longest = [np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)[0] for Z in (roll, flat)]
    assert longest[1] > 3.0 * longest[0]
    near = compute_neighbors(roll, 10).indices
    lengths = [np.linalg.norm(Z[:, None] - Z[near], axis=2) for Z in (roll, flat)]
    assert np.quantile(np.abs(lengths[1] / lengths[0] - 1.0), 0.95) < 0.03


def test_isomap_does_not_show_whether_a_sheet_is_rolled():
    rng = np.random.default_rng(0)
    angle = 1.5 * np.pi + 2.0 * np.pi * rng.uniform(size=300)
    roll = np.stack([angle * np.cos(angle), 10.0 * rng.uniform(size=300), angle * np.sin(angle)], axis=1)
    spots = gn.blind_spots(gn.Isomap(n_neighbors=10), roll, labels=np.zeros(300), n_shifts=0)
    assert [twin.same for twin in _of(spots, Unfolded)] == [True]


def test_tsne_does_not_show_how_wide_a_cluster_is(tsne):
    assert all(twin.same for twin in _of(tsne[3], Width))
    assert {twin.change.amount for twin in _of(tsne[3], Width)} >= {4.0, 0.25}


def test_a_twin_has_another_table_and_the_same_map_by_the_same_method(tsne):
    X, y, method, spots = tsne
    assert spots.found
    for twin in spots.found[:3]:
        assert twin.disparity <= spots.threshold
        assert np.array_equal(twin.table, twin.change.apply(X, y))
        again = procrustes(method.fit_transform(twin.table), spots.embedding)
        assert again.disparity <= twin.disparity + 1e-12
        assert np.linalg.norm(twin.table - X) > 0.05 * np.linalg.norm(X - X.mean(axis=0))
    for twin in spots.shown:
        assert twin.disparity > spots.threshold


def test_the_derivative_along_a_move_of_a_whole_cluster_is_zero_where_its_neighbours_are_its_own(tsne):
    X, y, _, spots = tsne
    assert spots.answers.features.shape == (3, 4)
    assert spots.answers.features.max() < 1e-6
    assert spots.answers.lengths.max() < 1e-6
    assert spots.answers.pairs.max() < 1e-5
    assert spots.answers.points.max() > 0.01
    pca = gn.blind_spots(gn.PCA(), X, labels=y, n_shifts=1)
    assert pca.answers.features.min() > 0.0
    assert pca.answers.features.max() > 0.1


def test_principal_components_answer_to_single_rows_and_to_pairs_as_they_move():
    X, y = _clusters()
    answers = gn.blind_spots(gn.PCA(), X, labels=y, n_shifts=0).answers
    radius = np.sqrt(np.square(gn.PCA().fit_transform(X)).sum(axis=1).mean())
    step = 1e-5

    def slope(change):
        ends = [gn.PCA().fit_transform(X + sign * step * change) for sign in (1.0, -1.0)]
        return (ends[0] - ends[1]) / (2.0 * step)

    one = np.zeros_like(X)
    one[7, 2] = X[:, 2].std()
    assert answers.points[7, 2] == pytest.approx(np.linalg.norm(slope(one)[7]) / radius, rel=1e-3)
    away = np.zeros_like(X)
    away[y == 0] = X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)
    assert answers.pairs[0, 1] == pytest.approx(np.sqrt(np.square(slope(away)).sum(axis=1).mean()) / radius, rel=1e-3)
    for k in (0, -1):
        along = np.zeros_like(X)
        along[y == 2] = answers.directions[2, k] * X.std(axis=0)
        assert answers.lengths[2, k] == pytest.approx(
            np.sqrt(np.square(slope(along)).sum(axis=1).mean()) / radius, abs=1e-4
        )


def test_the_exact_derivative_along_a_change_is_that_of_finite_differences():
    X, y = _clusters(3)
    change = Width(2.0, 2).apply(X, y) - X
    found = gn.sensitivity(gn.PCA().fit(X), X, rows=[0]).along(change)
    step = 1e-5
    ends = [gn.PCA().fit_transform(X + sign * step * change) for sign in (1.0, -1.0)]
    assert np.allclose(found, (ends[0] - ends[1]) / (2.0 * step), atol=1e-4)


def test_changes_at_once_are_those_one_by_one():
    X = _clusters()[0]
    answer = gn.sensitivity(gn.MDS(random_state=0, tol=1e-9, max_iter=2000).fit(X), X, rows=[0], polish=True)
    changes = np.random.default_rng(0).normal(size=(90, 4, 2))
    changes[5:] = 0.0
    both = answer.along(changes)
    assert np.allclose(both[:, :, 1], answer.along(changes[:, :, 1]))
    by_row = sum(answer.others(i) @ changes[i, :, 0] for i in range(5))
    assert np.allclose(both[:, :, 0], by_row)
    with pytest.raises(ValueError, match="changes"):
        answer.along(np.zeros((3, 4)))


def test_principal_components_show_what_is_large():
    X, y = _clusters()
    spots = gn.blind_spots(gn.PCA(), X, labels=y)
    assert spots.threshold == 1e-3
    assert not any(twin.same for twin in _of(spots, Distance))


def test_it_is_told_listed_and_shown(tsne, tmp_path):
    spots = tsne[3]
    text = spots.summary()
    assert "does not show" in text
    assert spots.found[0].told in text
    assert json.loads(json.dumps(spots.to_dict()))["n_fits"] == spots.n_fits
    spots.to_html(tmp_path / "twin.html")
    page = (tmp_path / "twin.html").read_text()
    assert "These two tables have the same map" in page
    with pytest.raises(IndexError, match="which=99"):
        spots.to_html(tmp_path / "none.html", which=99)


def test_a_table_without_groups_is_not_changed_as_a_whole():
    """A map says nothing of the unit and the origin of its table, which is no blind spot."""
    X = np.random.default_rng(0).normal(size=(90, 4)) * [5.0, 3.0, 1.0, 0.5]
    for labels in (None, np.zeros(90)):
        spots = gn.blind_spots(gn.PCA(), X, labels=labels)
        assert spots.group_names == spots.to_dict()["groups"] == []
        assert not _of(spots, (Width, Shift, Distance))
        assert spots.answers.features.shape == (0, 4)
        assert "no groups that could be changed by themselves" in spots.summary()
        assert "cluster" not in spots.summary()
        assert "to single rows" in spots.summary()
    with pytest.raises(ValueError, match="'cluster 0'"):
        gn.proves(gn.PCA(), X, ("wider", "cluster 0", "cluster 1"))


def test_what_cannot_be_searched_is_refused():
    X, y = _clusters()
    with pytest.raises(ValueError, match="groups of 5 rows or more"):
        gn.blind_spots(gn.PCA(), X, labels=np.arange(90))
    with pytest.raises(TypeError, match="fit_transform"):
        gn.blind_spots("umap", X, labels=y)


def _apart(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 30)
    return 60.0 / np.sqrt(2.0) * np.eye(4)[y] + _WIDTHS[y, None] * rng.normal(size=(90, 4)), y


@pytest.mark.slow
def test_known_blind_spots_are_found_in_nearly_every_table():
    found = 0
    for seed in range(50):
        X, y = _apart(seed)  # each row's neighbours are its cluster's
        method = gn.TSNE(perplexity=8, init="random", random_state=seed)  # components as a start show widths
        spots = gn.blind_spots(method, X, labels=y, n_shifts=0)
        found += all(twin.same for twin in _of(spots, Width))
    assert found >= 48


def test_a_random_start_is_drawn_once_so_that_only_the_table_makes_maps_differ():
    X, y = _apart(0)
    method = gn.TSNE(perplexity=8, init="random", random_state=0)
    spots = gn.blind_spots(method, X, labels=y, n_seeds=3, n_shifts=0)
    assert spots.seeds.max() < 1e-6  # two random starts differ by more than 0.01
    assert spots.threshold == 1e-3
    assert np.array_equal(spots.parameters["init"], method.fit_transform(X))
    assert all(twin.same for twin in _of(spots, Width))


@pytest.mark.parametrize("seed", _SEEDS)
def test_umap_does_not_show_how_wide_clusters_are_whose_neighbours_are_their_own(seed):
    X, y = _apart(seed)
    method = gn.UMAP(n_neighbors=10, init="random", random_state=seed)
    spots = gn.blind_spots(method, X, labels=y, n_shifts=0, random_state=seed)
    assert spots.seeds.max() > 1e-3  # it samples
    assert all(twin.same for twin in _of(spots, Width))
    for twin in _of(spots, Width)[:2]:
        again = gn.UMAP(**{**method.get_params(), **twin.parameters}).fit_transform(twin.table)
        assert procrustes(again, spots.embedding).disparity <= spots.threshold


@pytest.mark.parametrize("seed", _SEEDS)
def test_umap_does_show_that_two_clusters_are_one(seed):
    X, y = _apart(seed)
    search = open_search(gn.UMAP(n_neighbors=10, init="random", random_state=seed), X, y, seed)
    threshold = search.threshold(search.other_seeds(9))
    assert not search.twin_of(Distance(1e-3, 0, 1), threshold, np.nan).same


def test_a_method_that_takes_no_start_as_a_parameter_begins_at_random_each_time():
    from sklearn.manifold import MDS

    X, y = _apart(1)
    spots = gn.blind_spots(
        MDS(n_init=1, init="random", random_state=0, normalized_stress="auto"), X, labels=y, n_shifts=0, n_seeds=2
    )
    assert "init" not in spots.parameters
    assert len(spots.seeds) == 2
