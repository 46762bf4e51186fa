"""DensMAP, and density kept by other methods."""

import numpy as np
import pytest

import gnomon
from gnomon import UMAP, LargeVis, NeighborEmbedding
from gnomon.evaluation import local_radius_correlation
from gnomon.exceptions import DataWarning
from gnomon.methods.neighbor.densmap import DensMAP
from gnomon.objectives import CrossEntropy, DensityCorrelation
from gnomon.optimizers import Adam


@pytest.fixture(scope="module")
def blobs():
    """Three groups of 100 rows, of standard deviations 0.2, 1 and 5."""
    rng = np.random.default_rng(0)
    spreads = np.repeat([0.2, 1.0, 5.0], 100)
    centres = 30 * rng.normal(size=(3, 8))[np.repeat(np.arange(3), 100)]
    return (centres + spreads[:, None] * rng.normal(size=(300, 8))).astype(np.float32)


def test_wide_groups_are_wide_in_the_map_and_tight_ones_tight(blobs):
    kept = DensMAP(n_neighbors=15, max_iter=300, random_state=0, n_jobs=1).fit(blobs)
    plain = UMAP(n_neighbors=15, max_iter=300, random_state=0, n_jobs=1).fit(blobs)
    sizes = [group.std(axis=0).mean() for group in np.split(kept.embedding_, 3)]
    assert sizes[0] < 0.6 * sizes[1] < 0.6 * sizes[2]
    assert kept.density_correlation_ > 0.9
    assert local_radius_correlation(blobs, kept.embedding_) > 0.9 > local_radius_correlation(blobs, plain.embedding_)


def test_radii_are_those_of_the_affinities_and_of_the_map(blobs):
    fitted = DensMAP(n_neighbors=10, max_iter=20, random_state=0, n_jobs=1).fit(blobs)
    term = DensityCorrelation.from_neighbors(fitted.affinities_, fitted.graph_, fitted.kernel_)
    np.testing.assert_array_equal(fitted.radii_, term.radii)
    np.testing.assert_array_equal(fitted.map_radii_, term.map_radii(fitted.embedding_))
    expected = np.corrcoef(fitted.radii_, fitted.map_radii_)[0, 1]
    assert fitted.density_correlation_ == pytest.approx(expected, abs=1e-12)


def test_the_map_is_at_an_optimum_of_the_stated_loss(blobs):
    fitted = DensMAP(n_neighbors=15, max_iter=300, random_state=0, n_jobs=1).fit(blobs)
    term = DensityCorrelation.from_neighbors(fitted.affinities_, fitted.graph_, fitted.kernel_, begins=0.0)
    stated = CrossEntropy(fitted.affinities_, fitted.kernel_, added=(term,), evaluation="exact")
    further = Adam(0.03, decay="linear", max_iter=100).minimize(stated, fitted.embedding_).embedding
    pairs = float(fitted.affinities_.matrix.sum())
    assert 0 <= (stated.loss(fitted.embedding_) - stated.loss(further)) / pairs < 0.003


def test_without_weight_or_passes_it_is_umap(blobs):
    expected = UMAP(n_neighbors=10, max_iter=30, random_state=3, n_jobs=1).fit_transform(blobs)
    for density in (0.0, None, {"weight": 0.0}, {"begins": 1.0}):
        found = DensMAP(n_neighbors=10, max_iter=30, random_state=3, n_jobs=1, density=density).fit(blobs)
        np.testing.assert_array_equal(found.embedding_, expected)
        assert found.radii_.shape == (300,)


def test_the_parameter_density_of_umap_is_densmap(blobs):
    expected = DensMAP(n_neighbors=10, max_iter=30, random_state=3, n_jobs=1).fit(blobs)
    options = {"weight": 2.0, "begins": 0.7, "variance_shift": 0.1}
    for density in (2.0, {}, options):
        found = UMAP(n_neighbors=10, max_iter=30, density=density, random_state=3, n_jobs=1).fit(blobs)
        np.testing.assert_array_equal(found.embedding_, expected.embedding_)
        np.testing.assert_array_equal(found.map_radii_, expected.map_radii_)
    own = NeighborEmbedding(
        n_neighbors=10,
        kernel="umap",
        loss="cross_entropy",
        init="spectral",
        density=2.0,
        optimizer_params={"max_iter": 30},
        random_state=3,
        n_jobs=1,
    ).fit(blobs)
    np.testing.assert_array_equal(own.embedding_, expected.embedding_)


def test_densmap_is_umap_with_other_defaults(blobs):
    preset, plain = DensMAP().get_params(), UMAP().get_params()
    assert {name for name in preset if preset[name] != plain[name]} == {"n_neighbors", "density"}
    assert list(preset) == list(plain)
    assert DensMAP(7, 3).get_params() == DensMAP(n_neighbors=7, n_components=3).get_params()
    with pytest.raises(TypeError, match="density_weight"):
        DensMAP(density_weight=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'density_fraction'"):
        DensMAP().set_params(density_fraction=0.3)
    both = DensMAP(n_neighbors=10, max_iter=30, frames=0.5, random_state=0, n_jobs=1).fit(blobs)
    np.testing.assert_array_equal(both.embedding_, UMAP(**{**both.get_params(), "density": 2.0}).fit_transform(blobs))
    assert both.frame_correlation_.shape == (2,)


def test_density_off_is_the_map_without_it_and_leaves_no_radii(blobs):
    estimator = UMAP(n_neighbors=10, max_iter=30, density=2.0, random_state=3, n_jobs=1).fit(blobs)
    plain = UMAP(n_neighbors=10, max_iter=30, random_state=3, n_jobs=1).fit_transform(blobs)
    assert hasattr(estimator, "radii_")
    for density in (None, 0, {"weight": 0.0}):
        np.testing.assert_array_equal(estimator.set_params(density=density).fit_transform(blobs), plain)
        assert not hasattr(estimator, "radii_")


def test_density_can_be_kept_by_largevis_and_by_full_gradients(blobs):
    common = {"random_state": 0, "n_jobs": 1}
    for estimator in (
        LargeVis(perplexity=10, max_iter=100, **common),
        NeighborEmbedding(
            n_neighbors=10,
            loss="cross_entropy",
            loss_params={"evaluation": "exact"},
            optimizer="adam",
            optimizer_params={"max_iter": 100, "learning_rate": 0.3},
            **common,
        ),
    ):
        plain, kept = (
            estimator.set_params(density=density).fit(blobs).density_correlation_
            for density in ({"weight": 1e-9}, {"weight": 20.0, "begins": 0.5})
        )
        assert kept > max(plain + 0.05, 0.8)


def test_equal_bytes_for_any_number_of_threads(blobs):
    fits = [DensMAP(n_neighbors=10, max_iter=40, random_state=0, n_jobs=n).fit(blobs) for n in (1, 2, 3)]
    assert len({fit.embedding_.tobytes() for fit in fits}) == 1
    assert len({fit.map_radii_.tobytes() for fit in fits}) == 1


def test_the_callback_ends_the_layout(blobs):
    calls = []

    def stop(progress):
        calls.append(progress)
        return progress.stage == "layout" and progress.done >= 80

    fitted = DensMAP(n_neighbors=10, max_iter=100, random_state=0, n_jobs=1, callback=stop).fit(blobs)
    assert fitted.n_iter_ == 80
    assert np.isfinite(fitted.density_correlation_)


def test_rows_that_are_equal_share_radii(blobs):
    X = np.concatenate([blobs[:60], blobs[:20]])
    with pytest.warns(DataWarning, match="80 rows hold 60 distinct"):
        fitted = DensMAP(n_neighbors=5, max_iter=20, random_state=0, n_jobs=1).fit(X)
    assert fitted.radii_.shape == fitted.map_radii_.shape == (80,)
    np.testing.assert_array_equal(fitted.radii_[60:], fitted.radii_[:20])
    with pytest.warns(DataWarning, match="1 distinct row"):
        fitted.fit(np.ones((7, 3)))
    assert np.isnan(fitted.radii_).all()
    assert fitted.radii_.shape == (7,)
    assert np.isnan(fitted.density_correlation_)


@pytest.mark.parametrize(
    ("estimator", "error", "text"),
    [
        (DensMAP(density=-1), ValueError, r"DensMAP: density=-1 must be a number >= 0 or a dict of weight"),
        (DensMAP(density={"begins": 1.5}), ValueError, r"DensMAP: begins=1\.5 must be a number >= 0 and <= 1"),
        (
            DensMAP(density={"variance_shift": "many"}),
            TypeError,
            r"DensMAP: variance_shift='many' must be a number >= 0",
        ),
        (DensMAP(min_dist=2.0), ValueError, r"DensMAP: min_dist=2\.0 must be at most spread=1\.0"),
        (UMAP(density=-1), ValueError, r"UMAP: density=-1 must be a number >= 0 or a dict of weight"),
        (UMAP(density={"lambda": 1}), ValueError, r"UMAP: density=\{'lambda': 1\} must be a number or a dict of some"),
        (UMAP(density={"begins": 2}), ValueError, r"begins=2 must be a number >= 0 and <= 1"),
        (NeighborEmbedding(density=1), ValueError, r"NeighborEmbedding: density=1\.0 must be None here \(loss='kl'"),
    ],
)
def test_wrong_parameters_are_refused_by_name(estimator, error, text, blobs):
    with pytest.raises(error, match=text):
        estimator.fit(blobs)


def test_the_radius_correlation_of_copies_and_of_shuffled_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * rng.uniform(0.1, 3, size=(400, 1))
    assert local_radius_correlation(X, -2 * X + 5) == pytest.approx(1.0, abs=1e-5)
    assert abs(local_radius_correlation(X, X[rng.permutation(400)])) < 0.2
    assert np.isnan(local_radius_correlation(X, np.zeros((400, 2))))
    with pytest.raises(ValueError, match="Y with 3 rows must be of as many rows as X, 400"):
        local_radius_correlation(X, X[:3])
    with pytest.raises(ValueError, match="n_neighbors=400 must be less than n_samples=400"):
        local_radius_correlation(X, X, n_neighbors=400)


def test_the_radius_correlation_is_that_of_mean_squared_distances():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(80, 4)), rng.normal(size=(80, 2))
    logs = []
    for points in (X, Y):
        squared = np.sort(np.square(points[:, None] - points[None]).sum(-1), axis=1)[:, 1:8]
        logs.append(np.log(squared.mean(1)))
    assert local_radius_correlation(X, Y, n_neighbors=7) == pytest.approx(np.corrcoef(*logs)[0, 1], abs=1e-5)


def test_a_method_from_a_file_forgets_what_it_learned_when_it_is_fitted_without(blobs, tmp_path):
    given = {"n_neighbors": 10, "max_iter": 30, "random_state": 0, "n_jobs": 1}
    made = gnomon.map(blobs, "densmap", frames=0.5, **given)
    made.save(tmp_path / "map.gnomon")
    loaded = gnomon.Map.load(tmp_path / "map.gnomon")._estimator
    np.testing.assert_array_equal(loaded.map_radii_, made._estimator.map_radii_)
    assert loaded.frame_correlation_.shape == (2,)
    loaded.set_params(frames=None, **given).fit(blobs)
    fresh = DensMAP(**given).fit(blobs)
    assert vars(loaded).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(loaded.map_radii_, fresh.map_radii_)
