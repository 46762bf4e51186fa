"""SketchMap: what it keeps, what it chooses, and where it places rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from gnomon.affinities import sketch_map_advice
from gnomon.exceptions import GnomonWarning
from gnomon.kernels import SketchMapKernel
from gnomon.methods.distance.sketch_map import SketchMap
from gnomon.objectives import SigmoidStress

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 5))


def path_of_clusters(n=240, n_features=30, n_clusters=8, step=12.0, seed=0):
    """Return wide Gaussian clusters along a path that turns into a new direction at each."""
    draws = np.random.default_rng(seed)
    centres = np.zeros((n_clusters, n_features))
    for k in range(1, n_clusters):
        centres[k] = centres[k - 1]
        centres[k, k] += step
    labels = np.arange(n) % n_clusters
    return centres[labels] + draws.normal(size=(n, n_features)), labels


PATH, LABELS = path_of_clusters()


@pytest.fixture(scope="module")
def fitted():
    return SketchMap(random_state=0, n_jobs=1).fit(PATH)


def test_clusters_on_a_path_stay_apart_and_in_order_where_distances_alone_mix_them(fitted):
    """Classical scaling folds the path; the sigmoid of the distances keeps each cluster and its neighbours."""
    from gnomon.initialization import classical_start

    def fidelity(Y):
        d = cdist(Y, Y)
        clusters = [Y[k::8] for k in range(8)]
        centres = np.array([one.mean(axis=0) for one in clusters])
        radius = np.mean(
            [np.linalg.norm(one - centre, axis=1).mean() for one, centre in zip(clusters, centres, strict=True)]
        )
        between = cdist(centres, centres)[np.triu_indices(8, 1)]
        off = ~np.eye(len(Y), dtype=bool)
        near = LABELS[:, None] == LABELS
        auc = np.mean(d[near & off][:, None][::50] < np.quantile(d[~near], np.linspace(0.005, 0.995, 100)))
        steps = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))[np.triu_indices(8, 1)]
        return between.min() / radius, auc, spearmanr(between, steps).statistic

    mine = fidelity(fitted.embedding_)
    plain = fidelity(classical_start(cdist(PATH, PATH), 2).astype(float))
    assert mine[0] > 1.5 * plain[0]
    assert mine[1] > 0.99
    assert mine[1] > plain[1]
    assert mine[2] > 0.9


def test_the_loss_is_that_of_the_map(fitted):
    high, low = SketchMapKernel(fitted.sigma_, *fitted.high_), SketchMapKernel(fitted.sigma_, *fitted.low_)
    objective = SigmoidStress(cdist(PATH, PATH), high, low)
    assert fitted.loss_ == pytest.approx(objective.loss(fitted.embedding_), rel=1e-4)
    assert fitted.embedding_.dtype == np.float64
    assert fitted.landmark_weights_ is None
    assert len(fitted.landmark_indices_) == len(PATH)


def test_a_flat_table_is_mapped_onto_itself_with_equal_sigmoids():
    X = rng.normal(size=(50, 2)) * 4.0
    m = SketchMap(sigma=3.0, high=(2.0, 3.0), low=(2.0, 3.0), random_state=0, n_jobs=1).fit(X)
    assert m.loss_ < 1e-8
    assert (m.sigma_, m.high_, m.low_, m.advice_) == (3.0, (2.0, 3.0), (2.0, 3.0), None)
    np.testing.assert_allclose(cdist(m.embedding_, m.embedding_), cdist(X, X), atol=1e-2)


def test_auto_is_the_advice_and_is_said(fitted):
    advice = sketch_map_advice(PATH, seed=0)
    assert (fitted.sigma_, fitted.high_, fitted.low_) == (advice.sigma, advice.high, advice.low)
    assert fitted.advice_.reasons == advice.reasons
    other = SketchMap(sigma=5.0, low=(1.0, 2.0), max_iter=5, random_state=0, n_jobs=1).fit(PATH)
    assert (other.sigma_, other.high_, other.low_) == (5.0, advice.high, (1.0, 2.0))


@pytest.mark.parametrize("parameters", [{}, {"n_landmarks": 60}, {"n_landmarks": 60, "landmarks": "random"}])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_transform_gives_fitted_rows_their_positions_and_looks_at_each_row_alone(parameters, metric):
    X = cdist(PATH, PATH) if metric == "precomputed" else PATH
    m = SketchMap(metric=metric, max_iter=20, random_state=0, n_jobs=1, **parameters).fit(X)
    placed = m.place(X)
    np.testing.assert_allclose(placed, m.embedding_, rtol=0, atol=1e-6 * np.abs(m.embedding_).max())
    some = [200, 3, 77]
    np.testing.assert_array_equal(m.place(X[some]), placed[some])
    assert m.place(X[:0]).shape == (0, 2)


def test_sparse_rows_have_the_map_of_dense_ones():
    X = np.where(PATH > 0.5, PATH, 0.0)[:100]
    dense = SketchMap(n_landmarks=30, max_iter=20, random_state=0, n_jobs=1).fit(X)
    sparse = SketchMap(n_landmarks=30, max_iter=20, random_state=0, n_jobs=1).fit(sp.csr_array(X))
    assert sparse.loss_ == pytest.approx(dense.loss_, rel=1e-2)
    np.testing.assert_allclose(sparse.place(sp.csr_array(X)), sparse.embedding_, atol=1e-4)


def test_new_rows_fall_among_their_cluster(fitted):
    X, labels = path_of_clusters(n=80, seed=5)
    nearest = cdist(fitted.place(X), fitted.embedding_).argmin(axis=1)
    assert np.mean(LABELS[nearest] == labels) > 0.95


def test_landmarks_and_placed_rows_together_keep_the_clusters():
    m = SketchMap(n_landmarks=80, random_state=0, n_jobs=1).fit(PATH)
    assert len(m.landmark_indices_) == 80
    assert m.landmark_weights_.sum() == len(PATH)
    d = cdist(m.embedding_, m.embedding_)
    np.fill_diagonal(d, np.inf)
    assert np.mean(LABELS[d.argmin(axis=1)] == LABELS) > 0.98


def test_distances_given_are_as_good_as_rows():
    rows = SketchMap(random_state=0, n_jobs=1).fit(PATH[:80])
    given = SketchMap(metric="precomputed", random_state=0, n_jobs=1).fit(cdist(PATH[:80], PATH[:80]))
    assert given.sigma_ == pytest.approx(rows.sigma_)
    assert given.loss_ == pytest.approx(rows.loss_, rel=1e-2)


def test_the_order_of_rows_does_not_matter_to_the_loss(fitted):
    order = rng.permutation(len(PATH))
    other = SketchMap(random_state=0, n_jobs=1).fit(PATH[order])
    assert other.loss_ == pytest.approx(fitted.loss_, rel=0.02)


def test_the_unit_of_the_data_is_that_of_the_map():
    one = SketchMap(random_state=0, n_jobs=1).fit(NOISE)
    for factor in (2.0**-90, 2.0**90):
        other = SketchMap(random_state=0, n_jobs=1).fit(NOISE * factor)
        np.testing.assert_allclose(other.embedding_ / factor, one.embedding_, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("n_landmarks", ["auto", 100])
def test_any_number_of_threads_gives_the_same_bytes(n_landmarks):
    maps = {
        SketchMap(n_landmarks=n_landmarks, max_iter=30, random_state=0, n_jobs=n).fit_transform(PATH).tobytes()
        for n in (1, 2, 3)
    }
    assert len(maps) == 1


@pytest.mark.parametrize("seed", range(2))
def test_moves_and_annealing_do_not_raise_the_loss(seed):
    X = np.random.default_rng(seed).normal(size=(90, 6))
    without = SketchMap(global_moves=0, random_state=0, n_jobs=1).fit(X)
    moved = SketchMap(global_moves=3, random_state=0, n_jobs=1).fit(X)
    assert without.n_moves_ == 0
    assert moved.loss_ <= without.loss_ * (1 + 1e-6)
    assert moved.n_moves_ == 0 or moved.loss_ < without.loss_


def test_rows_that_distances_do_not_tell_apart_share_a_position():
    X = cdist(*[np.repeat(NOISE[:10], 2, axis=0)] * 2)
    m = SketchMap(metric="precomputed", max_iter=30, random_state=0, n_jobs=1).fit(X)
    np.testing.assert_array_equal(m.embedding_[::2], m.embedding_[1::2])
    assert len(m.landmark_indices_) == 10


def test_equal_rows_after_a_fit_of_others_have_one_place():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        m = SketchMap(max_iter=5, random_state=0, n_jobs=1).fit(NOISE).fit(np.ones((6, 5)))
    np.testing.assert_array_equal(m.embedding_, 0.0)
    np.testing.assert_array_equal(m.place(NOISE[:3]), 0.0)


def test_a_callback_sees_every_stage_and_may_end_the_layout():
    seen = []
    SketchMap(n_landmarks=30, max_iter=10, random_state=0, n_jobs=1, callback=lambda p: seen.append(p.stage)).fit(PATH)
    assert set(seen) >= {"landmarks", "affinities", "initialization", "layout", "moves", "placement"}
    ended = SketchMap(max_iter=300, random_state=0, n_jobs=1, callback=lambda p: p.stage == "layout").fit(PATH)
    assert ended.n_iter_ < 300


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"sigma": 0.0}, ValueError, r"sigma=0\.0 must be a number > 0 or one of 'auto'"),
        ({"high": (4.0,)}, ValueError, r"high=\(4\.0,\) must be a tuple of 2 numbers > 0 or one of 'auto'"),
        ({"low": (0.0, 3.0)}, ValueError, r"low=\(0\.0, 3\.0\) must be a tuple of 2 numbers > 0"),
        ({"n_landmarks": 1}, ValueError, "n_landmarks=1 must be an integer >= 2 or one of 'auto'"),
        ({"annealing": 3.0}, TypeError, r"annealing=3\.0 must be a tuple of numbers > 0"),
        ({"landmarks": "best"}, ValueError, "landmarks='best' must be one of 'maxmin', 'random'"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, error, text):
    with pytest.raises(error, match=f"SketchMap: {text}"):
        SketchMap(**parameters).fit(NOISE)


def test_sparse_distances_are_refused():
    with pytest.raises(ValueError, match="SketchMap: X must be dense for metric='precomputed'"):
        SketchMap(metric="precomputed").fit(sp.csr_array(cdist(NOISE, NOISE)))


@pytest.mark.parametrize("n_columns", [1, 3])
def test_points_that_the_loss_leaves_free_stay_near_the_others(n_columns):
    if n_columns == 1:  # one of these came to 180,000 radii
        X = (np.random.default_rng(1).normal(size=(300, 4)) @ np.diag([5, 3, 1, 0.3]))[:, :1]
    else:
        X = np.random.default_rng(5).standard_t(2, size=(300, 3))
    fitted = SketchMap(random_state=0).fit(X)
    middle = np.median(fitted.embedding_, axis=0)
    assert np.linalg.norm(fitted.embedding_ - middle, axis=1).max() <= 1.001 * cdist(X, X).max()
    high, low = (SketchMapKernel(fitted.sigma_, *one) for one in (fitted.high_, fitted.low_))
    stress = SigmoidStress(cdist(X, X), high, low).loss(fitted.embedding_.astype(np.float32))
    assert fitted.loss_ == pytest.approx(stress, rel=1e-3)


def test_distances_beyond_the_numbers_are_refused():
    with pytest.raises(ValueError, match=r"X must be of finite distances .* Pass it in a larger unit"):
        SketchMap().fit(1e170 * np.random.default_rng(0).normal(size=(60, 3)))
