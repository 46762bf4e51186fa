"""FeatMAP keeps spreads along tangent directions, follows its start and names the features that move each row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.manifold import trustworthiness

from gnomon import geometry
from gnomon.exceptions import GnomonWarning
from gnomon.methods.neighbor.composed import NeighborEmbedding
from gnomon.methods.neighbor.featmap import FeatMAP
from gnomon.methods.neighbor.large_vis import LargeVis
from gnomon.methods.neighbor.umap import UMAP

TURNS = {
    "rotation": np.array([[0.6, -0.8], [0.8, 0.6]]),
    "reflection": np.array([[0.28, 0.96], [0.96, -0.28]]),
}


@pytest.fixture(scope="module")
def strips():
    """A sheet in six features whose spread along its second direction changes by a factor of 20."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(0, 10, 600), rng.normal(size=600)
    X = np.zeros((600, 6))
    X[:, 0], X[:, 1] = u, v * np.exp(-1.0 + 0.3 * u)
    X[:, 2] = 0.3 * np.sin(u)
    X[:, 3] = 0.01 * rng.normal(size=600)
    X[:, 4] = 7.0
    return X


@pytest.fixture(scope="module")
def fitted(strips):
    return FeatMAP(n_neighbors=15, random_state=0, n_jobs=1).fit(strips)


def test_the_term_keeps_the_spread_along_both_directions(strips, fitted):
    without = clone(fitted).set_params(frames=0.0).fit(strips)
    assert fitted.frame_correlation_.shape == (2,)
    assert (fitted.frame_correlation_ > 0.8).all()
    assert (fitted.frame_correlation_ > without.frame_correlation_ + 0.05).all()


def test_what_is_fitted_has_its_shape_and_units(strips, fitted):
    assert fitted.dimension_ in (1, 2)
    assert fitted.frames_.n_directions == 2
    assert fitted.frames_.indices.shape == (600, 30)
    assert fitted.graph_.n_neighbors == 15
    Q = fitted.embedding_frames_
    np.testing.assert_allclose(np.einsum("icl,icm->ilm", Q, Q), np.repeat(np.eye(2)[None], 600, axis=0), atol=1e-9)
    assert fitted.importance_.shape == (6,)
    assert fitted.importance_[0] > 10 * fitted.importance_[3] > fitted.importance_[4] == 0.0
    each = fitted.feature_importance()
    np.testing.assert_allclose(each.mean(axis=0), fitted.importance_, rtol=1e-5)
    np.testing.assert_array_equal(fitted.feature_importance([7, 3]), each[[7, 3]])
    shares = fitted.feature_importance(weighted=False)
    np.testing.assert_allclose(np.square(shares).sum(axis=1), 2.0, rtol=1e-5)
    assert shares.max() <= 1.0 + 1e-6


def test_loadings_predict_where_neighbours_lie(strips, fitted):
    rows = np.arange(0, 600, 40)
    explained = []
    for row in rows:
        loadings = fitted.feature_loadings(row)
        assert loadings.shape == (2, 6)
        assert not loadings[:, 4].any()
        near = fitted.graph_.indices[row]
        moved = fitted.embedding_[near] - fitted.embedding_[row]
        rest = moved - (strips[near] - strips[row]) @ loadings.T
        explained.append(1 - np.square(rest).sum() / np.square(moved).sum())
    assert np.median(explained) > 0.6
    with pytest.raises(ValueError, match="FeatMAP: rows=600 must be row numbers from 0 to 599"):
        fitted.feature_loadings(600)


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_turning_the_start_turns_the_map_and_changes_nothing_else(strips, fitted, turn):
    start = np.random.default_rng(1).normal(size=(600, 2)) * [5.0, 3.0]
    maps = [clone(fitted).set_params(init=Y0, n_neighbors=10).fit(strips) for Y0 in (start, start @ turn)]
    spread = maps[0].embedding_.std()
    assert np.abs(maps[0].embedding_ @ turn - maps[1].embedding_).max() < 1e-3 * spread
    np.testing.assert_allclose(maps[0].frame_correlation_, maps[1].frame_correlation_, atol=1e-3)
    turned = np.einsum("ca,icl->ial", turn, maps[0].embedding_frames_)
    np.testing.assert_allclose(turned, maps[1].embedding_frames_, atol=1e-2)
    np.testing.assert_allclose(turn.T @ maps[0].feature_loadings(5), maps[1].feature_loadings(5), atol=1e-3)


def test_the_descent_itself_prefers_no_axes(strips, monkeypatch):
    """Without the turn of the start, rounding errors are all that differs; they grow with the passes."""
    monkeypatch.setattr("gnomon.methods.neighbor.featmap.principal_rotation", lambda Y: np.eye(2))
    start, turn = np.random.default_rng(1).normal(size=(600, 2)) * [5.0, 3.0], TURNS["rotation"]
    model = FeatMAP(n_neighbors=10, max_iter=12, frames={"begins": 0.0}, random_state=0, n_jobs=1)
    first, second = (clone(model).set_params(init=Y0).fit_transform(strips) for Y0 in (start, start @ turn))
    assert np.abs(first @ turn - second).mean() < 1e-3 * first.std()
    monkeypatch.setattr("gnomon.methods.neighbor.featmap.SampledDescent", _with_axes)
    first, second = (clone(model).set_params(init=Y0).fit_transform(strips) for Y0 in (start, start @ turn))
    assert np.abs(first @ turn - second).mean() > 1e-1 * first.std()


def _with_axes(max_iter, *, learning_rate, isotropic):
    from gnomon.optimizers import SampledDescent

    assert isotropic
    return SampledDescent(max_iter, learning_rate=learning_rate)


def test_signs_of_singular_vectors_change_nothing(strips, monkeypatch):
    model = FeatMAP(n_neighbors=10, max_iter=60, random_state=0, n_jobs=1)
    expected = clone(model).fit(strips)
    original = geometry.tangent_frames

    def flipped(*args, **kwargs):
        from dataclasses import replace

        found = original(*args, **kwargs)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(found.rows), 1, found.n_directions))
        return replace(found, coefficients=found.coefficients * signs)

    monkeypatch.setattr(geometry, "tangent_frames", flipped)
    found = clone(model).fit(strips)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    np.testing.assert_allclose(found.importance_, expected.importance_)


def test_the_unit_of_the_data_changes_nothing(strips):
    model = FeatMAP(n_neighbors=10, max_iter=60, random_state=0, n_jobs=1, init="random")
    first, second = (clone(model).fit(strips * unit) for unit in (1.0, 2.0**-40))
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-4)
    np.testing.assert_allclose(second.importance_, first.importance_ * 2.0**-40, rtol=1e-5)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_equal_bytes_for_any_number_of_threads(strips, n_components):
    maps = [
        FeatMAP(n_neighbors=8, n_components=n_components, max_iter=40, random_state=0, n_jobs=n).fit(strips[:300])
        for n in (1, 2, 3)
    ]
    assert len({one.embedding_.tobytes() for one in maps}) == 1
    assert len({one.importance_.tobytes() for one in maps}) == 1
    assert len({one.embedding_frames_.tobytes() for one in maps}) == 1


def test_more_components_than_directions_compare_those_that_there_are(strips):
    sheet = strips[:200, :2]
    fitted = FeatMAP(n_neighbors=8, n_components=3, max_iter=60, random_state=0, n_jobs=1).fit(sheet)
    assert fitted.embedding_frames_.shape == (200, 3, 2)
    assert fitted.frame_correlation_.shape == (2,)
    line = FeatMAP(n_neighbors=8, max_iter=60, random_state=0, n_jobs=1).fit(sheet[:, :1])
    assert line.embedding_frames_.shape == (200, 2, 1)


def test_more_components_keep_more_neighbours():
    X = np.random.default_rng(0).normal(size=(150, 12))
    two, eight = (FeatMAP(n_components=d, random_state=0, max_iter=150).fit(X) for d in (2, 8))
    kept = [trustworthiness(X, one.embedding_, n_neighbors=15) for one in (two, eight)]
    assert kept[1] > kept[0] + 0.07
    assert eight.frame_correlation_.mean() > 0.5


def test_sparse_rows_have_the_map_of_dense_ones(strips):
    model = FeatMAP(n_neighbors=8, max_iter=20, random_state=0, n_jobs=1)  # rounding errors grow with the passes
    dense, thin = clone(model).fit(strips[:200]), clone(model).fit(sparse.csr_array(strips[:200]))
    np.testing.assert_allclose(thin.embedding_, dense.embedding_, atol=1e-2)
    np.testing.assert_allclose(thin.feature_loadings(3), dense.feature_loadings(3), atol=1e-2)


def test_equal_rows_share_what_is_learned(strips):
    X = np.concatenate([strips[:100], strips[:20]])
    with pytest.warns(GnomonWarning, match="120 rows hold 100 distinct rows"):
        fitted = FeatMAP(n_neighbors=8, max_iter=40, random_state=0, n_jobs=1).fit(X)
    assert fitted.embedding_frames_.shape == (120, 2, 2)
    np.testing.assert_array_equal(fitted.embedding_frames_[:20], fitted.embedding_frames_[100:])
    np.testing.assert_array_equal(fitted.feature_importance([0, 100])[0], fitted.feature_importance([100])[0])
    np.testing.assert_array_equal(fitted.feature_loadings(3), fitted.feature_loadings(103))
    with pytest.warns(GnomonWarning, match="1 distinct row"):
        alone = clone(fitted).fit(np.ones((5, 3)))
    assert alone.dimension_ == 0
    assert not alone.importance_.any()
    assert np.isnan(alone.feature_loadings(0)).all()


def test_distances_have_no_frames(strips):
    D = np.abs(strips[:30, :1] - strips[:30, :1].T)
    with pytest.raises(ValueError, match="FeatMAP: metric='precomputed' must be a metric of rows with features"):
        FeatMAP(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="UMAP: metric='precomputed' must be a metric of rows with features"):
        UMAP(metric="precomputed", n_neighbors=5, frames=0.5).fit(D)


@pytest.mark.parametrize(
    "model",
    [
        UMAP(n_neighbors=15, random_state=0, n_jobs=1),
        LargeVis(perplexity=10, max_iter=200, random_state=0, n_jobs=1),
        NeighborEmbedding(
            affinity="fuzzy", kernel="umap", loss="cross_entropy", n_neighbors=15, random_state=0, n_jobs=1
        ),
    ],
    ids=["umap", "large_vis", "neighbor_embedding"],
)
def test_other_methods_take_the_term(strips, model):
    plain = clone(model).fit(strips)
    assert not hasattr(plain, "frame_correlation_")
    small = clone(model).set_params(frames={"weight": 1e-12, "every": 50}).fit(strips)
    strong = clone(model).set_params(frames=1.0).fit(strips)
    assert strong.frame_correlation_.sum() > small.frame_correlation_.sum() + 0.1
    with pytest.raises(ValueError, match=r"frames=\{'lam': 1\} must be a number or a dict of some of weight, begins"):
        clone(model).set_params(frames={"lam": 1}).fit(strips)
    both = clone(model).set_params(frames=0.5, density=2.0).fit(strips)
    assert np.isfinite(both.embedding_).all()
    assert both.density_correlation_ > 0.5


def test_a_loss_without_terms_refuses_frames(strips):
    with pytest.raises(ValueError, match=r"frames=0\.5 must be None here \(loss='kl' takes no added terms\)"):
        NeighborEmbedding(n_neighbors=5, frames=0.5).fit(strips[:50])


def test_featmap_is_umap_with_other_defaults_and_two_parameters_of_its_frames(strips):
    preset, plain = FeatMAP().get_params(), UMAP().get_params()
    assert preset.keys() - plain.keys() == {"tangent_neighbors", "variance_share"}
    assert {name for name in plain if preset[name] != plain[name]} == {"n_neighbors", "frames", "min_dist"}
    assert FeatMAP(7, 3).get_params() == FeatMAP(n_neighbors=7, n_components=3).get_params()
    with pytest.raises(TypeError, match="frame_weight"):
        FeatMAP(frame_weight=1.0)
    model = FeatMAP(n_neighbors=8, max_iter=40, random_state=0, n_jobs=1)
    expected = clone(model).fit_transform(strips[:200])
    options = {"weight": 0.5, "begins": 0.7, "every": 10, "variance_shift": 0.1}
    for frames in ({}, options):
        np.testing.assert_array_equal(clone(model).set_params(frames=frames).fit_transform(strips[:200]), expected)
    off = [clone(model).set_params(frames=frames).fit(strips[:200]) for frames in (None, 0.0, {"begins": 1.0})]
    assert len({one.embedding_.tobytes() for one in off}) == 1
    assert all(one.feature_loadings(3).shape == (2, 6) for one in off)
    both = clone(model).set_params(density=2.0).fit(strips[:200])
    assert (
        both.density_correlation_ > off[0].set_params(density={"weight": 1e-9}).fit(strips[:200]).density_correlation_
    )
    with pytest.raises(ValueError, match=r"FeatMAP: every=0 must be an integer >= 1"):
        clone(model).set_params(frames={"every": 0}).fit(strips[:200])
