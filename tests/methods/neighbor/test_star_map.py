"""StarMAP: UMAP with stars."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

import gnomon
from gnomon import UMAP, StarMAP

QUICK = {"n_neighbors": 8, "max_iter": 60, "random_state": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def blobs():
    """Six groups of 25 rows."""
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(6, 8))[np.repeat(np.arange(6), 25)]
    return (centres + rng.normal(size=(150, 8))).astype(np.float32)


def test_without_weight_it_is_umap(blobs):
    for init in ("pca", "spectral", "random"):
        expected = UMAP(init=init, **QUICK).fit_transform(blobs)
        found = StarMAP(star_weight=0, init=init, **QUICK).fit(blobs)
        np.testing.assert_array_equal(found.embedding_, expected)
    assert not hasattr(found, "stars_")


def test_stars_are_the_means_of_their_clusters_along_the_principal_components(blobs):
    fitted = StarMAP(n_stars=6, **QUICK).fit(blobs)
    groups = np.repeat(np.arange(6), 25)
    assert len({(a, b) for a, b in zip(groups, fitted.star_of_rows_, strict=True)}) == 6
    scores = gnomon.PCA(2).fit_transform(blobs).astype(float)
    scores *= 20.0 / np.ptp(scores, axis=0).max()
    means = np.array([scores[fitted.star_of_rows_ == star].mean(0) for star in range(6)])
    np.testing.assert_allclose(np.abs(fitted.stars_), np.abs(means), atol=1e-3)


def test_strong_stars_hold_their_points(blobs):
    fitted = StarMAP(n_stars=6, star_weight=100.0, **QUICK).fit(blobs)
    away = fitted.embedding_ - fitted.stars_[fitted.star_of_rows_]
    assert np.sqrt(np.square(away).sum(1)).max() < 1.5


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_clusters_lie_as_principal_components_place_them(init, blobs):
    distances = pdist(blobs)
    plain = UMAP(init=init, **QUICK).fit_transform(blobs)
    fitted = StarMAP(star_weight=0.3, init=init, **QUICK).fit(blobs)
    kept = spearmanr(distances, pdist(fitted.embedding_))[0]
    assert kept > max(0.6, spearmanr(distances, pdist(plain))[0] - 0.02)


def test_clusters_are_those_of_rows_far_from_the_origin(blobs):
    """The clusters are found in float32, where 8,388,608 leaves steps of 1."""
    exact = np.round(blobs.astype(float) * 64) / 64
    here, there = (StarMAP(n_stars=6, **QUICK).fit(X) for X in (exact, exact + 2.0**23))
    np.testing.assert_array_equal(there.star_of_rows_, here.star_of_rows_)
    np.testing.assert_array_equal(there.embedding_, here.embedding_)


def test_threads_do_not_change_a_bit(blobs):
    maps = {StarMAP(**{**QUICK, "n_jobs": n}).fit_transform(blobs).tobytes() for n in (1, 2)}
    assert len(maps) == 1


def test_more_stars_than_rows_are_one_for_each(blobs):
    fitted = StarMAP(n_stars=1000, **QUICK).fit(blobs[:40])
    assert len(fitted.stars_) == 40


def test_rows_that_come_twice_pull_their_star(blobs):
    weights = np.where(np.arange(150) < 25, 9.0, 1.0)
    fitted = StarMAP(n_stars=1, **QUICK).fit(blobs, sample_weight=weights)
    assert np.isfinite(fitted.embedding_).all()
    assert np.square(fitted.stars_).sum() > 1.0  # the mean of the weighted rows


def test_new_rows_lie_with_their_neighbours(blobs, tmp_path):
    order = np.random.default_rng(1).permutation(150)
    groups = np.repeat(np.arange(6), 25)[order]
    fitted = StarMAP(**QUICK).fit(blobs[order[:120]])
    placed = fitted.place(blobs[order[120:]])
    nearest = np.square(placed[:, None] - fitted.embedding_).sum(-1).argmin(1)
    assert (groups[:120][nearest] == groups[120:]).mean() > 0.9
    fitted.save(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(gnomon.load(tmp_path / "map.gnomon").place(blobs[order[120:]]), placed)


def test_bad_parameters_are_refused(blobs):
    with pytest.raises(ValueError, match=r"StarMAP: star_weight=-1 must be"):
        StarMAP(star_weight=-1).fit(blobs)
    with pytest.raises(ValueError, match=r"StarMAP: n_stars=0 must be"):
        StarMAP(n_stars=0).fit(blobs)
    distances = np.sqrt(np.square(blobs[:, None] - blobs).sum(-1))
    with pytest.raises(ValueError, match=r"metric='precomputed' must be a metric of rows with features"):
        StarMAP(metric="precomputed", init="random").fit(distances)
    with pytest.raises(ValueError, match=r"output_metric='sphere' must be 'euclidean' with stars"):
        StarMAP(output_metric="sphere").fit(blobs)
