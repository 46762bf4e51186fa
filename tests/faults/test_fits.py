"""The catalogue of faults met by the estimators: each case is named after its number there."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import gnomon
from gnomon import TSNE, UMAP
from gnomon.exceptions import ConvergenceWarning, GnomonWarning
from gnomon.kernels import Cauchy
from quick import ESTIMATORS

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
# Those of components of the features have at most as many as there are.
OF_FEATURES = [name for name in ESTIMATORS if name.endswith("pca") and not name.startswith(("two_kernel", "kernel"))]
OF_POINTS = [name for name in ESTIMATORS if name not in OF_FEATURES]
STARTED = [name for name in ESTIMATORS if "init" in ESTIMATORS[name].get_params()]


@pytest.mark.parametrize("fault", MAPPABLE)
def test_input_that_broke_other_tools_has_a_finite_map(fault):
    X = MAPPABLE[fault]
    for name, estimator in ESTIMATORS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            Y = clone(estimator).fit_transform(X)
        assert Y.shape[0] == X.shape[0], name
        assert np.isfinite(Y).all(), name


@pytest.mark.parametrize(
    ("X", "text"),
    [
        pytest.param(np.where(NOISE > 2, np.nan, NOISE), "NaN", id="f01-nan"),
        pytest.param(np.where(NOISE > 2, np.inf, NOISE), "infinity", id="f02-inf"),
        pytest.param(NOISE[:0], "0 sample", id="f24-no-rows"),
        pytest.param(NOISE[:1], "1 sample", id="f24-one-row"),
        pytest.param(NOISE * 1j, "Complex data not supported", id="f41-complex"),
        pytest.param(NOISE[:, 0], "Reshape your data", id="f29-one-dimension"),
    ],
)
def test_input_without_a_map_is_refused(X, text):
    for name, estimator in ESTIMATORS.items():
        if name == "robust_pca" and text == "NaN":
            continue  # takes what is missing as unknown
        with pytest.raises(ValueError, match=text):
            clone(estimator).fit(X)


def test_f42_text_is_refused():
    for estimator in ESTIMATORS.values():
        with pytest.raises(TypeError, match=r"must be .*found 'a' at row 0, column 0"):
            clone(estimator).fit(np.array([["a", 1.0], ["b", 2.0], ["c", 3.0]], dtype=object))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f40_a_data_frame_gives_the_map_of_its_values_and_its_names(name):
    fitted = clone(ESTIMATORS[name]).fit(pd.DataFrame(NOISE, columns=list("abcde")))
    assert list(fitted.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(fitted.embedding_, clone(ESTIMATORS[name]).fit(NOISE).embedding_)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name], "n_neighbors")])
def test_f21_more_neighbors_than_rows_are_lowered_with_one_warning(name):
    with pytest.warns(GnomonWarning, match=r"neighbours were asked for and a row has only 59 others") as caught:
        Y = clone(ESTIMATORS[name]).set_params(n_neighbors=200).fit_transform(NOISE)
    assert sum("neighbours" in str(one.message) for one in caught) == 1
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name], "perplexity")])
def test_f26_a_perplexity_beyond_the_rows_is_refused(name):
    with pytest.raises(ValueError, match=r"perplexity=60\.0 must be less than the number of distinct rows.*Try"):
        clone(ESTIMATORS[name]).set_params(perplexity=60).fit(NOISE)


@pytest.mark.parametrize("name", OF_POINTS)
@pytest.mark.parametrize("n_components", [1, 3, 4])
def test_f27_f28_any_small_number_of_components(name, n_components):
    Y = clone(ESTIMATORS[name]).set_params(n_components=n_components).fit_transform(NOISE)
    assert Y.shape == (60, n_components)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("name", STARTED)
def test_a_start_of_another_shape_or_without_numbers_is_refused(name):
    estimator = clone(ESTIMATORS[name])
    shape = (NOISE.shape[1] if name == "stiefel_pca" else 60, estimator.n_components)
    with pytest.raises(ValueError, match=rf"init of shape \(59, \d\) must be of shape .*=\({shape[0]}, {shape[1]}\)"):
        estimator.set_params(init=np.zeros((59, 2))).fit(NOISE)
    with pytest.raises(ValueError, match="init must be finite"):
        estimator.set_params(init=np.full(shape, np.nan)).fit(NOISE)


@pytest.mark.parametrize("name", ["umap", "tsne", "pacmap", "trimap", "largevis"])
def test_a_start_in_one_place_or_of_another_scale_is_warned_of(name):
    start = np.random.default_rng(0).normal(scale=500.0, size=(60, 2))
    estimator = clone(ESTIMATORS[name]).set_params(n_components=2)
    with pytest.warns(ConvergenceWarning, match="init puts all rows in one place"):
        estimator.set_params(init=np.ones((60, 2))).fit(NOISE)
    with pytest.warns(ConvergenceWarning, match=r"init has a standard deviation of [45]\d\d .* by [45]\d or so"):
        estimator.set_params(init=start).fit(NOISE)
    estimator.set_params(init=start / 50.0).fit(NOISE)


def _numbers(name):
    """Name the parameters of an estimator that are numbers."""
    parameters = ESTIMATORS[name].get_params().items()
    other = ("random_state", "n_jobs")
    return [key for key, value in parameters if type(value) in (int, float) and key not in other]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_numbers_below_their_range_and_other_things_are_refused_by_name(name):
    for key in _numbers(name):
        for value, error in ((-2, ValueError), (np.nan, ValueError), ("many", (TypeError, ValueError))):
            with pytest.raises(error, match=rf"{type(ESTIMATORS[name]).__name__}: {key}=.* must be "):
                clone(ESTIMATORS[name]).set_params(**{key: value}).fit(NOISE)


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("two_kernel_pca", {"input_kernel": "magic"}, "input_kernel='magic' must be one of 'linear', "),
        ("two_kernel_pca", {"metric": "cosine"}, "metric='cosine' must be one of 'euclidean'"),
        ("two_kernel_lle", {"kernel": "magic"}, "kernel='magic' must be one of 'linear', 'gaussian', "),
        ("two_kernel_pca", {"kernel": "magic"}, "kernel='magic' must be one of 'linear', 'gaussian', "),
        ("two_kernel_pca", {"kernel": "custom"}, r"kernel='custom' must be given kernel_params: value, derivative, "),
        ("neighbor_embedding", {"kernel": "umap", "kernel_params": {"a": 1.0}}, r"kernel_params: a, b \(found a\)"),
        ("neighbor_embedding", {"optimizer": "magic"}, "optimizer='magic' must be one of 'auto', "),
        ("neighbor_embedding", {"loss": "magic"}, "loss='magic' must be one of 'kl', "),
        ("neighbor_embedding", {"affinity": "magic"}, "affinity='magic' must be one of 'fuzzy', "),
        ("neighbor_embedding", {"optimizer": "sampled_descent"}, "KLDivergence: link='log' must be 'identity' to be"),
        ("neighbor_embedding", {"kernel": "distance"}, r"kernel=Distance\(\) must be a similarity between 0 and 1"),
    ],
)
def test_parts_that_do_not_exist_or_fit_are_refused(name, parameters, text):
    with pytest.raises(ValueError, match=text):
        type(ESTIMATORS[name])(**parameters).fit(NOISE)


@pytest.mark.parametrize("name", ["neighbor_embedding", "two_kernel_pca", "two_kernel_lle"])
def test_a_class_is_no_kernel(name):
    with pytest.raises(TypeError, match=r"kernel=<class .*Cauchy'> must be .*value\(s\) and derivative\(s\)"):
        clone(ESTIMATORS[name]).set_params(kernel=Cauchy).fit(NOISE)


@pytest.mark.parametrize("loss", ["reconstruction", "frobenius"])
def test_losses_of_other_inputs_say_what_they_take(loss):
    estimator = gnomon.NeighborEmbedding(n_neighbors=5, loss=loss)
    with pytest.raises((TypeError, ValueError), match=r"must be .*\(found Affinities\)"):
        estimator.fit(NOISE)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f28_one_dimension_is_finite_for_every_seed(name):
    for seed in range(1, 5):
        Y = clone(ESTIMATORS[name]).set_params(n_components=1, random_state=seed).fit_transform(NOISE[:30])
        assert Y.shape == (30, 1)
        assert np.isfinite(Y).all()


@pytest.mark.parametrize("estimator", [UMAP(n_neighbors=7), TSNE(perplexity=7)], ids=["umap", "tsne"])
def test_f17_pieces_of_a_disconnected_graph_are_kept_apart(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        Y = clone(estimator).set_params(init="spectral", max_iter=300, random_state=0).fit_transform(ISLANDS)
    pieces = [Y[:30], Y[30:60], Y[60:]]
    radius = max(float(np.abs(piece - piece.mean(axis=0)).max()) for piece in pieces[:2])
    assert np.linalg.norm(pieces[0].mean(axis=0) - pieces[1].mean(axis=0)) > radius


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f72_a_generator_is_advanced_and_an_int_is_not(name):
    generator = np.random.default_rng(0)
    drawn = [clone(ESTIMATORS[name]).set_params(random_state=generator).fit(NOISE[:30]) for _ in range(2)]
    assert drawn[0].seed_ != drawn[1].seed_
    first, again = (clone(ESTIMATORS[name]).set_params(random_state=5).fit(NOISE[:30]) for _ in range(2))
    assert first.seed_ == again.seed_ == 5
    np.testing.assert_array_equal(first.embedding_, again.embedding_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f77_fits_in_two_threads_equal_fits_in_turn(name):
    def fit(seed):
        return clone(ESTIMATORS[name]).set_params(random_state=seed, n_jobs=2).fit_transform(NOISE).tobytes()

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fit, range(3)))
    assert together == [fit(seed) for seed in range(3)]


def test_f05_differences_below_working_precision_are_mapped_not_rounded_away():
    corners = np.repeat([[0.0], [1.0]], 20, axis=0)
    X = 10.0 + 1e-9 * np.column_stack([corners + 0.01 * rng.normal(size=(40, 1)), rng.normal(size=(40, 1)) * 0.01])
    Y = UMAP(n_neighbors=5, max_iter=200, random_state=0).fit_transform(X)
    apart = np.linalg.norm(Y[:20].mean(axis=0) - Y[20:].mean(axis=0))
    assert apart > 2 * max(Y[:20].std(), Y[20:].std())
