"""The catalogue of faults met by the estimators: each case is named after its number there."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from gnomon import PCA, TSNE, UMAP
from gnomon.exceptions import GnomonWarning

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 5))
LINE = np.linspace(0, 1, 60)[:, None]
GRAINS = 10.0 + 1e-9 * rng.normal(size=(60, 5))
ISLANDS = np.concatenate([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 1e6, rng.normal(size=(8, 4)) - 1e6])

# Input that other tools answered with crashes, NaN or hangs, and that has a map.
MAPPABLE = {
    "f04-huge": NOISE * 1e30,
    "f05-tiny-variance": GRAINS,
    "f06-large-offset": NOISE + 1.6e9,
    "f07-one-distinct-row": np.full((20, 3), 2.5),
    "f08-many-copies": np.repeat(NOISE[:6], 10, axis=0),
    "f09-constant-columns": np.column_stack([NOISE, np.ones(60), np.zeros(60)]),
    "f16-weak-bridge": np.concatenate([NOISE[:30], np.add(NOISE[30:], [20, 0, 0, 0, 0])]),
    "f17-disconnected": ISLANDS,
    "f18-line": LINE,
    "f18-equidistant": np.eye(40),
    "f23-eight-rows": NOISE[:8],
    "f24-three-rows": NOISE[:3],
    "f25-fewer-rows-than-features": rng.normal(size=(12, 300)),
    "f29-one-feature": rng.normal(size=(50, 1)),
    "f37-bool": NOISE > 0,
    "f38-signs": np.sign(NOISE).astype(np.int8),
    "f39-half": NOISE.astype(np.float16),
    "f49-sparse": sparse.coo_matrix(np.where(NOISE > 0.5, NOISE, 0)),
}
ESTIMATORS = {
    "umap": UMAP(n_neighbors=5, max_iter=30, random_state=0, n_jobs=2),
    "tsne": TSNE(perplexity=1.5, max_iter=60, early_exaggeration_iter=30, random_state=0, n_jobs=2),
    "pca": PCA(n_components=1, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("fault", MAPPABLE)
def test_input_that_broke_other_tools_has_a_finite_map(name, fault):
    X = MAPPABLE[fault]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        Y = clone(ESTIMATORS[name]).fit_transform(X)
    assert Y.shape[0] == X.shape[0]
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("X", "text"),
    [
        pytest.param(np.where(NOISE > 2, np.nan, NOISE), "NaN", id="f01-nan"),
        pytest.param(np.where(NOISE > 2, np.inf, NOISE), "infinity", id="f02-inf"),
        pytest.param(NOISE[:0], "0 sample", id="f24-no-rows"),
        pytest.param(NOISE[:1], "1 sample", id="f24-one-row"),
        pytest.param(NOISE * 1j, "Complex data not supported", id="f41-complex"),
    ],
)
def test_input_without_a_map_is_refused(name, X, text):
    with pytest.raises(ValueError, match=text):
        clone(ESTIMATORS[name]).fit(X)


@pytest.mark.parametrize("seed", range(8))
def test_f28_one_dimension_is_finite_for_every_seed(seed):
    Y = UMAP(n_neighbors=5, n_components=1, max_iter=30, random_state=seed).fit_transform(NOISE)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("estimator", [UMAP(n_neighbors=7), TSNE(perplexity=7)], ids=["umap", "tsne"])
def test_f17_pieces_of_a_disconnected_graph_are_kept_apart(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        Y = clone(estimator).set_params(init="spectral", max_iter=300, random_state=0).fit_transform(ISLANDS)
    pieces = [Y[:30], Y[30:60], Y[60:]]
    radius = max(float(np.abs(piece - piece.mean(axis=0)).max()) for piece in pieces[:2])
    assert np.linalg.norm(pieces[0].mean(axis=0) - pieces[1].mean(axis=0)) > radius


@pytest.mark.parametrize("name", ["umap", "tsne"])
def test_f72_a_generator_is_advanced_and_an_int_is_not(name, digits):
    X = digits[0][:100]
    generator = np.random.default_rng(0)
    first = clone(ESTIMATORS[name]).set_params(random_state=generator, init="random").fit(X)
    second = clone(ESTIMATORS[name]).set_params(random_state=generator, init="random").fit(X)
    assert first.seed_ != second.seed_


def test_f77_fits_in_two_threads_equal_fits_in_turn(digits):
    from concurrent.futures import ThreadPoolExecutor

    X = digits[0][:300]

    def fit(seed):
        return UMAP(max_iter=30, random_state=seed, n_jobs=2).fit_transform(X).tobytes()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fit, range(4)))
    assert together == [fit(seed) for seed in range(4)]


def test_f05_differences_below_working_precision_are_mapped_not_rounded_away():
    corners = np.repeat([[0.0], [1.0]], 20, axis=0)
    X = 10.0 + 1e-9 * np.column_stack([corners + 0.01 * rng.normal(size=(40, 1)), rng.normal(size=(40, 1)) * 0.01])
    Y = UMAP(n_neighbors=5, max_iter=200, random_state=0).fit_transform(X)
    apart = np.linalg.norm(Y[:20].mean(axis=0) - Y[20:].mean(axis=0))
    assert apart > 2 * max(Y[:20].std(), Y[20:].std())
