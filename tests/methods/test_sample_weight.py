"""Weights of rows: a row of weight 3 is three rows, in every method that takes weights."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

import gnomon
from gnomon.affinities import FuzzyAffinity, GaussianAffinity, Inputs
from gnomon.data.weights import relative_masses, weights_that_count
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.methods.base import WeighsRows
from gnomon.neighbors import compute_neighbors
from quick import ESTIMATORS

COUNT_ALIKE = ("densmap", "featmap")  # for the term that they add
WEIGHING = [name for name, one in ESTIMATORS.items() if isinstance(one, WeighsRows) and name not in COUNT_ALIKE]
MERGING = [name for name in WEIGHING if getattr(ESTIMATORS[name], "_merges_equal_rows", False)]
OTHERS = [name for name in ESTIMATORS if name not in WEIGHING]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [5, 4, 3, 2, 1]
WEIGHTS = RNG.integers(1, 5, 60)
REPEATED = np.concatenate([X[count < WEIGHTS] for count in range(4)])  # every row first, then its copies

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")


def fit(name, X, weights=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        one = clone(ESTIMATORS[name]).set_params(**parameters)
        return one.fit(X) if weights is None else one.fit(X, sample_weight=weights)


def test_the_methods_that_weigh_rows_are_these():
    assert set(WEIGHING) >= {"umap", "tsne", "pca", "sne", "symmetric_sne", "largevis", "neg_tsne", "info_nce_tsne"}
    assert set(WEIGHING) >= {"force_atlas2", "mds", "neighbor_embedding", "kernel_pca", "laplacian_eigenmaps"}


@pytest.mark.parametrize("name", MERGING)
def test_a_row_of_weight_three_is_three_rows_to_the_last_bit(name):
    weighted, repeated = fit(name, X, WEIGHTS), fit(name, REPEATED)
    np.testing.assert_array_equal(weighted.embedding_, repeated.embedding_[:60])
    np.testing.assert_array_equal(weighted.place(X[:9] + 0.1), repeated.place(X[:9] + 0.1))
    found = repeated.transform(X[:9] + 0.1)  # of an atlas, which takes the mean of the places of equal rows
    np.testing.assert_allclose(weighted.transform(X[:9] + 0.1), found, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("y", [np.arange(60) % 3, X[:, 0] + 0.1 * X[:, 1]], ids=["classes", "numbers"])
@pytest.mark.parametrize("name", ["umap", "largevis"])
def test_a_target_goes_with_weighted_rows(name, y):
    weights = WEIGHTS.copy()
    weights[5] = 0
    rows = np.concatenate([np.flatnonzero(weights > count) for count in range(4)])
    weighted = clone(ESTIMATORS[name]).fit(X, y, sample_weight=weights)
    repeated = clone(ESTIMATORS[name]).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.embedding_[weights > 0], repeated.embedding_[:59])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["auto", "covariance", "gram", "svd", "randomized"])
def test_principal_components_of_weighted_rows_are_those_of_repeated_ones(solver, form):
    if form is sp.csr_array and solver == "svd":
        solver = "auto"
    for n_components, table in ((3, X), (2, np.hstack([X, np.roll(X, 7, 0), np.roll(X, 3, 1)])[:12] + 100.0)):
        weights = WEIGHTS[: len(table)]
        given = form(np.where(table > 0.0, table, 0.0))
        weighted = gnomon.PCA(n_components, solver=solver).fit(given, sample_weight=weights)
        repeated = gnomon.PCA(n_components, solver=solver).fit(given[np.repeat(np.arange(len(table)), weights)])
        for fact in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            np.testing.assert_allclose(getattr(weighted, fact), getattr(repeated, fact), rtol=1e-8, atol=1e-9)
        assert weighted.noise_variance_ == pytest.approx(repeated.noise_variance_, rel=1e-8)
        assert weighted.n_samples_ == repeated.n_samples_ == weights.sum()
        np.testing.assert_allclose(weighted.transform(given), repeated.transform(given), atol=1e-8)
        np.testing.assert_array_equal(weighted.embedding_, weighted.transform(given))


@pytest.mark.parametrize("total", [1e-310, 0.6, 1.0, 1.0 + 1e-9])
def test_weights_that_sum_to_one_or_less_are_shares_of_the_rows(total):
    weights = np.r_[0.0, WEIGHTS[1:]]
    shares = total / weights.sum() * weights
    found = gnomon.PCA(2).fit(X, sample_weight=shares)
    wanted = gnomon.PCA(2).fit(X, sample_weight=weights * 59 / weights.sum())
    assert found.n_samples_ == wanted.n_samples_ == 59
    for fact in ("mean_", "components_", "explained_variance_", "total_variance_", "embedding_"):
        np.testing.assert_allclose(getattr(found, fact), getattr(wanted, fact), rtol=1e-9, atol=1e-12)
    even = gnomon.PCA(2).fit(X, sample_weight=np.full(60, total / 60))
    np.testing.assert_allclose(even.explained_variance_, gnomon.PCA(2).fit(X).explained_variance_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_classical_scaling_of_weighted_rows_is_that_of_repeated_ones(metric):
    table = pairwise_distances(X, metric="chebyshev") if metric == "precomputed" else X
    rows = np.repeat(np.arange(60), WEIGHTS)
    larger = table[np.ix_(rows, rows)] if metric == "precomputed" else table[rows]
    weighted = gnomon.ClassicalMDS(3, metric=metric).fit(table, sample_weight=WEIGHTS)
    repeated = gnomon.ClassicalMDS(3, metric=metric).fit(larger)
    np.testing.assert_allclose(weighted.embedding_, repeated.embedding_[np.cumsum(WEIGHTS) - 1], atol=1e-8)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    assert weighted.strain_ == pytest.approx(repeated.strain_, rel=1e-6)
    np.testing.assert_allclose(weighted.place(table), weighted.embedding_, atol=1e-8)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "gaussian", "kernel_params": {"sigma": 4.0}},
        {"kernel": "gaussian"},
        {"kernel": "cauchy"},
        {"kernel": "polynomial"},
        {"kernel": "linear"},
        {"kernel": "sketch_map", "kernel_params": {"sigma": 5.0, "a": 2.0, "b": 4.0}},
        {"kernel": "precomputed"},
        {"kernel": "gaussian", "kernel_params": {"sigma": 4.0}, "approximation": "nystrom", "rank": 60},
    ],
    ids=lambda given: "-".join(str(value) for value in given.values() if isinstance(value, str)),
)
def test_kernel_components_of_weighted_rows_are_those_of_repeated_ones(parameters):
    rows = np.repeat(np.arange(60), WEIGHTS)
    table = -pairwise_distances(X) if parameters["kernel"] == "precomputed" else X
    larger = table[np.ix_(rows, rows)] if parameters["kernel"] == "precomputed" else table[rows]
    repeated = {name: value for name, value in parameters.items() if name not in ("approximation", "rank")}
    one = gnomon.KernelPCA(3, random_state=0, **parameters).fit(table, sample_weight=WEIGHTS)
    other = gnomon.KernelPCA(3, random_state=0, **repeated).fit(larger)
    atol = 1e-6 * np.abs(one.embedding_).max()
    np.testing.assert_allclose(one.embedding_, other.embedding_[np.cumsum(WEIGHTS) - 1], atol=atol)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(one.explained_ratio_, other.explained_ratio_, rtol=1e-6)
    np.testing.assert_allclose(one.place(table), one.embedding_, atol=atol)


@pytest.mark.parametrize("parameters", [{"alpha": 1.0}, {"weights": "heat"}, {"diffusion_time": 2.0}], ids=str)
def test_eigenmaps_of_weighted_rows_solve_the_problem_of_the_rows(parameters):
    one = gnomon.LaplacianEigenmaps(8, random_state=0, **parameters).fit(X, sample_weight=WEIGHTS)
    A, m = one.affinities_.matrix.toarray().astype(float), one.affinities_.masses
    of_rows = A / np.outer(m, m)
    plain = gnomon.LaplacianEigenmaps(8, random_state=0, **{**parameters, "alpha": 0.0}).fit(X).affinities_.matrix
    q = (plain.toarray().astype(float) @ m) ** -parameters.get("alpha", 0.0)
    np.testing.assert_allclose(of_rows, plain.toarray() * np.outer(q, q), rtol=1e-5, atol=1e-9)
    walk = A / A.sum(axis=1, keepdims=True)
    for vector, value in zip(one.embedding_.T, one.eigenvalues_, strict=True):
        np.testing.assert_allclose(vector - walk @ vector, value * vector, atol=1e-4 * np.abs(vector).max())


def test_a_new_row_of_eigenmaps_lies_among_its_neighbours_as_often_as_they_count():
    one = gnomon.LaplacianEigenmaps(8, random_state=0).fit(X, sample_weight=WEIGHTS)
    near = np.argsort(np.linalg.norm(X[:8, None] + 0.1 - X, axis=2), axis=1)[:, :8]
    middle = np.array([np.average(one.embedding_[rows], axis=0, weights=WEIGHTS[rows]) for rows in near])
    np.testing.assert_allclose(one.place(X[:8] + 0.1), middle / np.maximum(1.0 - one.eigenvalues_, 0.5), rtol=1e-6)


@pytest.mark.parametrize("parameters", [{}, {"metric": "manhattan"}, {"weights": "inverse"}, {"weights": "rows"}])
def test_stress_of_weighted_rows_is_that_of_repeated_ones(parameters):
    of_rows = parameters.get("weights") == "rows"
    given = RNG.uniform(0.5, 2.0, 60)
    first, second = (
        {**parameters, "weights": w} if of_rows else parameters for w in (given, np.repeat(given, WEIGHTS))
    )
    weighted = gnomon.MDS(max_iter=3000, tol=1e-12, **first).fit(X, sample_weight=WEIGHTS)
    repeated = gnomon.MDS(max_iter=3000, tol=1e-12, **second).fit(np.repeat(X, WEIGHTS, axis=0))
    assert weighted.stress_ == pytest.approx(repeated.stress_, rel=1e-4)
    far = np.abs(weighted.embedding_ - repeated.embedding_[np.cumsum(WEIGHTS) - 1]).max()
    assert far < 0.01 * weighted.embedding_.std() or weighted.stress_ <= repeated.stress_ * (1 + 1e-4)


@pytest.mark.parametrize("name", MERGING)
def test_only_ratios_of_weights_count(name):
    np.testing.assert_array_equal(fit(name, X, 3 * WEIGHTS).embedding_, fit(name, X, WEIGHTS).embedding_)
    np.testing.assert_array_equal(fit(name, X, np.full(60, 0.3)).embedding_, fit(name, X).embedding_)
    twice = np.concatenate([X, X])
    np.testing.assert_array_equal(fit(name, twice).embedding_[:60], fit(name, X).embedding_)


@pytest.mark.parametrize("name", WEIGHING)
def test_maps_are_continuous_in_the_weights(name):
    few = {"max_iter": 3} if "max_iter" in ESTIMATORS[name].get_params() else {}
    if "early_exaggeration_iter" in ESTIMATORS[name].get_params():
        few["early_exaggeration_iter"] = 1
    if name == "neighbor_embedding":
        few = {"optimizer_params": {"max_iter": 3}}
    base = fit(name, X, WEIGHTS, **few).embedding_
    near = fit(name, X, WEIGHTS * (1 + 1e-5 * RNG.normal(size=60)), **few).embedding_
    other = fit(name, X, WEIGHTS**2, **few).embedding_
    assert 0 < np.median(np.abs(near - base)) < 1e-3 * base.std()
    assert np.median(np.abs(near - base)) < 0.1 * np.median(np.abs(other - base))


@pytest.mark.parametrize("name", WEIGHING)
def test_a_row_of_weight_zero_is_absent_and_placed_as_a_new_one(name):
    weights = WEIGHTS.astype(float)
    weights[[0, 7, 30]] = 0.0
    present = weights > 0.0
    all_rows, fewer = fit(name, X, weights), fit(name, X[present], weights[present])
    np.testing.assert_array_equal(all_rows.embedding_[present], fewer.embedding_)
    np.testing.assert_array_equal(all_rows.transform(X), fewer.transform(X))
    absent = fewer.transform(X[~present]).astype(fewer.embedding_.dtype)
    np.testing.assert_array_equal(all_rows.embedding_[~present], absent)
    np.testing.assert_allclose(all_rows.transform(X), all_rows.embedding_, atol=1e-5 * np.abs(fewer.embedding_).max())
    again = all_rows.fit(X)
    assert np.isfinite(again.transform(X)).all()  # and the fit before is forgotten


@pytest.mark.parametrize("name", ["umap", "tsne", "mds"])
def test_a_start_follows_its_rows_when_some_are_absent(name):
    start, weights = RNG.normal(size=(60, 2)), WEIGHTS.copy()
    weights[3:9] = 0
    kept = weights > 0
    given, fewer = fit(name, X, weights, init=start), fit(name, X[kept], weights[kept], init=start[kept])
    np.testing.assert_array_equal(given.embedding_[kept], fewer.embedding_)


@pytest.mark.parametrize("name", ["umap", "tsne", "classical_mds", "mds"])
def test_given_distances_of_absent_rows_are_left_out(name):
    one = gnomon.ClassicalMDS(metric="precomputed") if name == "classical_mds" else ESTIMATORS[name]
    one = clone(one).set_params(metric="precomputed", **({"init": "spectral"} if name == "tsne" else {}))
    D, weights = pairwise_distances(X), WEIGHTS.copy()
    weights[:4] = 0
    found = clone(one).fit(D, sample_weight=weights)
    fewer = clone(one).fit(D[4:, 4:], sample_weight=weights[4:])
    np.testing.assert_array_equal(found.embedding_[4:], fewer.embedding_)
    np.testing.assert_array_equal(found.embedding_[:4], fewer.transform(D[:4, 4:]).astype(found.embedding_.dtype))


@pytest.mark.parametrize("name", WEIGHING)
def test_a_saved_fit_of_weighted_rows_places_rows_with_the_same_bytes(name, tmp_path):
    weights = WEIGHTS.copy()
    weights[:2] = 0
    fitted = fit(name, X, weights)
    fitted.save(tmp_path / "fit.gnomon")
    loaded = gnomon.load(tmp_path / "fit.gnomon")
    np.testing.assert_array_equal(loaded.embedding_, fitted.embedding_)
    np.testing.assert_array_equal(loaded.transform(X + 0.01), fitted.transform(X + 0.01))
    if hasattr(fitted, "place"):
        np.testing.assert_array_equal(loaded.place(X + 0.01), fitted.place(X + 0.01))


@pytest.mark.parametrize("name", WEIGHING)
def test_threads_change_no_bit_of_a_weighted_map(name):
    one, two = (fit(name, X, WEIGHTS, n_jobs=n).embedding_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("evaluation", ["exact", "interpolated", "tree"])
def test_sums_of_tsne_agree_on_weighted_rows(evaluation):
    common = {"perplexity": 8, "max_iter": 6, "early_exaggeration_iter": 3, "random_state": 0}
    exact = gnomon.TSNE(evaluation="exact", **common).fit(X, sample_weight=WEIGHTS)
    other = gnomon.TSNE(evaluation=evaluation, **common).fit(X, sample_weight=WEIGHTS)
    assert other.evaluation_ == evaluation
    assert other.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.01)


@pytest.mark.parametrize(
    ("estimator", "growth"),
    [
        (gnomon.TSNE(perplexity=15, random_state=0), 1.2),
        (gnomon.SymmetricSNE(perplexity=15, random_state=0), 1.1),
        (gnomon.UMAP(random_state=0, max_iter=200), 1.1),
    ],
    ids=["tsne", "symmetric_sne", "umap"],
)
def test_heavier_rows_take_more_of_the_map(estimator, growth):
    rng = np.random.default_rng(1)
    two = np.concatenate([rng.normal(size=(150, 4)), rng.normal(size=(150, 4)) + 6.0])
    heavy = np.repeat([9.0, 1.0], 150)

    def ratio(Y):  # of the widths of the two clouds
        return np.linalg.norm(Y[:150].std(axis=0)) / np.linalg.norm(Y[150:].std(axis=0))

    plain, weighted = (clone(estimator).fit(two, sample_weight=w).embedding_ for w in (None, heavy))
    assert ratio(weighted) > growth * ratio(plain)


def test_a_new_row_is_pulled_by_its_neighbours_as_often_as_they_count():
    springs = gnomon.NeighborEmbedding(
        n_neighbors=5,
        affinity="uniform",
        kernel="logarithmic",
        loss="linear_attraction",
        loss_params={"repulsion_strength": 1e-9},
        optimizer="gradient_descent",
        optimizer_params={"max_iter": 2, "early_exaggeration_iter": 1},
        random_state=0,
    ).fit(X, sample_weight=WEIGHTS)
    near = np.argsort(np.linalg.norm(X[:8, None] + 0.1 - X, axis=2), axis=1)[:, :5]
    middle = [np.average(springs.embedding_[rows], axis=0, weights=WEIGHTS[rows]) for rows in near]
    np.testing.assert_allclose(springs.place(X[:8] + 0.1), middle, atol=1e-4)


@pytest.mark.parametrize("affinity", [GaussianAffinity(6.0), FuzzyAffinity()], ids=["gaussian", "fuzzy"])
def test_affinities_by_mass_are_sums_over_the_rows(affinity):
    graph, masses = compute_neighbors(X, 12), WEIGHTS / WEIGHTS.mean()
    found = affinity(Inputs(X, graph, masses=masses)).matrix.toarray()
    v = np.zeros((60, 60))
    np.put_along_axis(v, graph.indices, affinity.of_rows(graph.distances).astype(float), axis=1)
    if affinity.join == "membership":
        expected = np.outer(masses, masses) * (v + v.T - v * v.T)
    else:
        shares = v * masses / (v @ masses)[:, None]
        directed = masses[:, None] * shares
        expected = (directed + directed.T) / (2.0 * masses.sum())
        assert found.sum() == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)
    even = affinity(Inputs(X, graph, masses=np.ones(60))).matrix
    np.testing.assert_allclose(even.toarray(), affinity(Inputs(X, graph)).matrix.toarray(), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        (np.ones(59), ValueError, "sample_weight must be as long as X"),
        (np.r_[np.ones(59), -1.0], ValueError, r"finite numbers >= 0 \(1 are not; first: row 59 has -1\)"),
        (np.r_[np.nan, np.ones(59)], ValueError, "first: row 0 has nan"),
        (np.r_[np.inf, np.ones(59)], ValueError, "first: row 0 has inf"),
        (np.zeros(60), ValueError, r"positive for at least 2 rows \(0 of 60 weights are not zero\)"),
        (np.r_[1.0, np.zeros(59)], ValueError, "1 of 60 weights are not zero"),
        (np.ones((60, 1)), ValueError, r"of shape \(n_samples,\)"),
        (["a"] * 60, TypeError, "a number for each row"),
        (3.0, ValueError, r"of shape \(n_samples,\)"),
    ],
    ids=["short", "negative", "nan", "inf", "zero", "one", "column", "text", "number"],
)
@pytest.mark.parametrize("name", WEIGHING)
def test_wrong_weights_are_refused(name, weights, error, text):
    with pytest.raises(error, match=text):
        clone(ESTIMATORS[name]).fit(X, sample_weight=weights)


@pytest.mark.parametrize("name", OTHERS)
def test_methods_that_count_rows_alike_say_so(name):
    one = clone(ESTIMATORS[name])
    for fitting in (one.fit, one.fit_transform):
        with pytest.raises(ValueError, match=rf"{type(one).__name__}: sample_weight must be left out"):
            fitting(X, sample_weight=WEIGHTS)
    assert "sample_weight" not in inspect.signature(one.fit).parameters or name in COUNT_ALIKE


def test_terms_and_parts_that_count_rows_alike_say_so():
    for parameters, text in (({"density": 1.0}, "term of density"), ({"frames": {"weight": 0.1}}, "term of frames")):
        with pytest.raises(ValueError, match=text):
            gnomon.UMAP(**parameters).fit(X, sample_weight=WEIGHTS)
    for parameters, text in (
        ({"loss": "stated_cross_entropy"}, "loss='stated_cross_entropy' counts distinct rows"),
        ({"affinity": np.ones((60, 60), np.float32) - np.eye(60, dtype=np.float32)}, "an affinity that is given"),
    ):
        with pytest.raises(ValueError, match=text):
            gnomon.NeighborEmbedding(**parameters).fit(X, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="left out with normalized=False"):
        gnomon.LaplacianEigenmaps(normalized=False).fit(X, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="left out with variant='ordinal'"):
        gnomon.MDS(variant="ordinal").fit(X, sample_weight=WEIGHTS)


@pytest.mark.parametrize("name", ["tsne", "pca", "mds"])
def test_derivatives_by_the_data_are_of_rows_that_count_alike(name):
    with pytest.raises(ValueError, match="must be one"):
        gnomon.sensitivity(fit(name, X, WEIGHTS), X)


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300, 1.7e308])
def test_weights_count_by_their_ratios_however_large(unit):
    weights = unit * np.array([0.25, 0.5, 1.0])
    np.testing.assert_allclose(relative_masses(weights, None, 3), np.array([0.25, 0.5, 1.0]) * 12 / 7, rtol=1e-14)


@pytest.mark.parametrize("name", [name for name in WEIGHING if name != "pca"])
def test_weights_too_small_to_count_make_the_map_of_weight_zero(name):
    """Such as exp(-V / kT) of a wide range: no NaN and no failed descent, but the map of the others, with a warning."""
    small, none = WEIGHTS.astype(float), WEIGHTS.astype(float)
    small[::4], none[::4] = 1e-40 * small[::4], 0.0
    with pytest.warns(
        DataWarning, match=r"15 of 60 weights are smaller than 2.2e-16 of the largest, 4, and count as 0"
    ):
        found = clone(ESTIMATORS[name]).fit(X, sample_weight=small).embedding_
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, fit(name, X, none).embedding_)


@pytest.mark.parametrize("name", ["tsne", "laplacian_eigenmaps", "kernel_pca"])
def test_weights_of_a_wide_range_give_finite_maps(name):
    found = fit(name, X, np.exp(-np.linspace(0.0, 200.0, 60)))
    assert np.isfinite(found.embedding_).all()


def test_weights_count_down_to_what_a_sum_of_doubles_keeps():
    weights = np.array([1.0, 2.3e-16, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weights_that_count(weights) is weights
        assert weights_that_count(None) is None
    with pytest.warns(DataWarning, match="1 of 3 weights"):
        np.testing.assert_array_equal(weights_that_count(np.array([2e-16, 1.0, 1.0])), [0.0, 1.0, 1.0])


def test_one_weight_beside_which_no_other_counts_is_refused_by_name():
    with pytest.raises(ValueError, match=r"sample_weight must be at least 2.2e-16 of the largest for 2 rows or more"):
        gnomon.UMAP().fit(X, sample_weight=np.r_[1.0, np.full(59, 1e-20)])
