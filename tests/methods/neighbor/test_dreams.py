"""DREAMS: between t-SNE and its reference."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

import gnomon
from gnomon import DREAMS, PCA, TSNE
from gnomon.exceptions import DataWarning
from gnomon.initialization import starts
from gnomon.linalg import procrustes

QUICK = {"perplexity": 8.0, "max_iter": 150, "early_exaggeration_iter": 50, "random_state": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def blobs():
    """Six groups of 25 rows."""
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(6, 8))[np.repeat(np.arange(6), 25)]
    return (centres + rng.normal(size=(150, 8))).astype(np.float32)


def test_without_weight_it_is_tsne(blobs):
    expected, found = TSNE(**QUICK).fit(blobs), DREAMS(reference_weight=0, **QUICK).fit(blobs)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    assert found.solution_.loss == expected.solution_.loss
    assert found.kl_divergence_ == expected.kl_divergence_
    assert not hasattr(found, "reference_")


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
def test_with_all_weight_it_is_the_reference(init, blobs):
    fitted = DREAMS(reference_weight=1.0, init=init, **QUICK).fit(blobs)
    principal = PCA(2).fit_transform(blobs).astype(float)
    fit = procrustes(fitted.embedding_.astype(float), principal)
    size = np.abs(principal).max()
    assert np.abs(fit.apply(fitted.embedding_.astype(float)) - principal).max() < 1e-3 * size
    assert np.abs(fitted.embedding_ - fitted.reference_).max() < 1e-3 * np.abs(fitted.reference_).max()


@pytest.mark.parametrize("init", ["pca", "random"])
def test_components_are_computed_once_and_give_the_map_of_those_that_are_given(init, blobs, monkeypatch):
    found, base = [], starts.principal_start
    monkeypatch.setattr("gnomon.initialization.base.principal_start", lambda *a, **k: found.append(1) or base(*a, **k))
    quick = {**QUICK, "max_iter": 20, "early_exaggeration_iter": 5, "init": init}
    fitted = DREAMS(**quick).fit(blobs)
    assert len(found) == 1
    given = DREAMS(reference=base(blobs, 2, seed=3)[0], **quick).fit(blobs)
    np.testing.assert_array_equal(fitted.embedding_, given.embedding_)


def test_weight_trades_divergence_for_distances(blobs):
    distances = pdist(blobs)
    fits = [DREAMS(reference_weight=w, **QUICK).fit(blobs) for w in (0.0, 0.003, 0.1)]
    divergences = [fit.kl_divergence_ for fit in fits]
    ranks = [spearmanr(distances, pdist(fit.embedding_))[0] for fit in fits]
    assert divergences == sorted(divergences)
    assert ranks == sorted(ranks)
    assert ranks[2] > ranks[0] + 0.05


def test_the_map_lies_as_a_given_reference_does(blobs):
    principal = PCA(2).fit_transform(blobs)
    turned = 100.0 * np.stack([-principal[:, 1], principal[:, 0]], axis=1) + 5.0
    fitted = DREAMS(reference=turned, reference_weight=0.02, **QUICK).fit(blobs)
    for axis in range(2):
        assert np.corrcoef(fitted.embedding_[:, axis], turned[:, axis])[0, 1] > 0.9


def test_equal_rows_and_rows_of_no_weight_have_references_too(blobs):
    principal = PCA(2).fit_transform(blobs)
    twice, given = np.concatenate([blobs, blobs[:10]]), np.concatenate([principal, principal[:10]])
    with pytest.warns(DataWarning, match="150 distinct rows"):
        fitted = DREAMS(reference=given, **QUICK).fit(twice)
    np.testing.assert_array_equal(fitted.embedding_[:10], fitted.embedding_[150:])
    np.testing.assert_array_equal(fitted.reference_[:10], fitted.reference_[150:])
    weights = np.ones(150)
    weights[:5] = 0.0
    lighter = DREAMS(reference=principal, **QUICK).fit(blobs, sample_weight=weights)
    assert np.isfinite(lighter.embedding_).all()


def test_threads_do_not_change_a_bit(blobs):
    maps = {DREAMS(**{**QUICK, "n_jobs": n}).fit_transform(blobs).tobytes() for n in (1, 2)}
    assert len(maps) == 1


def test_new_rows_lie_with_their_neighbours(blobs, tmp_path):
    order = np.random.default_rng(1).permutation(150)
    groups = np.repeat(np.arange(6), 25)[order]
    fitted = DREAMS(**QUICK).fit(blobs[order[:120]])
    placed = fitted.place(blobs[order[120:]])
    nearest = np.square(placed[:, None] - fitted.embedding_).sum(-1).argmin(1)
    assert (groups[:120][nearest] == groups[120:]).mean() > 0.9
    fitted.save(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(gnomon.load(tmp_path / "map.gnomon").place(blobs[order[120:]]), placed)


def test_bad_parameters_are_refused(blobs):
    with pytest.raises(ValueError, match=r"DREAMS: reference_weight=1.5 must be"):
        DREAMS(reference_weight=1.5).fit(blobs)
    with pytest.raises(ValueError, match=r"DREAMS: reference of shape \(3, 2\) must be of shape \(n_samples"):
        DREAMS(reference=np.ones((3, 2))).fit(blobs)
    broken = np.ones((150, 2))
    broken[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"reference must be finite .*1 rows are not, the first is row 4"):
        DREAMS(reference=broken).fit(blobs)
    with pytest.raises(TypeError, match=r"reference of type list must be an array of numbers"):
        DREAMS(reference=[["a", "b"]] * 150).fit(blobs)
    distances = np.sqrt(np.square(blobs[:, None] - blobs).sum(-1))
    with pytest.raises(ValueError, match=r"reference='pca' must be an array where distances are given"):
        DREAMS(metric="precomputed", init="random").fit(distances)
    with pytest.raises(TypeError, match=r"reg_lambda must be written as reference_weight"):
        DREAMS(reg_lambda=0.1)
