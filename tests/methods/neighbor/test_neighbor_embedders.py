"""What the neighbour embeddings promise alike: determinism, quality, stated rules for hard input, stopping."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from gnomon import (
    DREAMS,
    PCA,
    SNE,
    TSNE,
    UMAP,
    ForceAtlas2,
    InfoNCETSNE,
    LargeVis,
    NegTSNE,
    PaCMAP,
    SymmetricSNE,
    TriMap,
    TwoKernelPCA,
    embedding_similarity,
)
from gnomon.exceptions import DataWarning, NeighborsWarning

QUICK = [
    pytest.param(UMAP(max_iter=60, random_state=3), id="umap"),
    pytest.param(TSNE(max_iter=80, early_exaggeration_iter=40, random_state=3), id="tsne"),
    pytest.param(PaCMAP(max_iter=90, random_state=3), id="pacmap"),
    pytest.param(TriMap(max_iter=90, random_state=3), id="trimap"),
    pytest.param(SNE(max_iter=80, random_state=3), id="sne"),
    pytest.param(SymmetricSNE(max_iter=60, random_state=3), id="symmetric_sne"),
    pytest.param(LargeVis(perplexity=20, repulsion_strength=1, max_iter=100, random_state=3), id="largevis"),
    pytest.param(ForceAtlas2(max_iter=150, random_state=3), id="force_atlas2"),
    pytest.param(NegTSNE(max_iter=60, random_state=3), id="neg_tsne"),
    pytest.param(InfoNCETSNE(max_iter=60, random_state=3), id="info_nce_tsne"),
]
ALL_QUICK = [*QUICK, pytest.param(TwoKernelPCA(max_iter=40, random_state=3), id="two_kernel_pca")]


def _brief(params):
    """The same with few iterations, for equalities: what differs after many does so after these."""
    few = {"max_iter": 24, "early_exaggeration_iter": 12}
    return [
        pytest.param(one.set_params(**{name: n for name, n in few.items() if name in one.get_params()}), id=param.id)
        for param in params
        for one in [clone(param.values[0])]
    ]


BRIEF, ALL_BRIEF = _brief(QUICK), _brief(ALL_QUICK)


@pytest.mark.parametrize("estimator", ALL_BRIEF)
def test_f83_same_bytes_for_any_number_of_threads(estimator, digits):
    X = digits[0][:550]
    maps = [clone(estimator).set_params(n_jobs=n).fit_transform(X).tobytes() for n in (1, 2, 3)]
    assert len(set(maps)) == 1


@pytest.mark.parametrize("estimator", ALL_BRIEF)
def test_a_seed_repeats_and_another_seed_differs(estimator, digits):
    X = digits[0][:300]
    first = clone(estimator).set_params(init="random").fit(X)
    again = clone(estimator).set_params(init="random").fit(X)
    other = clone(estimator).set_params(init="random", random_state=4).fit(X)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert not np.array_equal(first.embedding_, other.embedding_)


@pytest.mark.parametrize("estimator", ALL_BRIEF)
def test_f73_without_a_seed_the_drawn_one_is_kept_and_repeats_the_run(estimator, digits):
    X = digits[0][:200]
    drawn = clone(estimator).set_params(random_state=None).fit(X)
    repeated = clone(estimator).set_params(random_state=drawn.seed_).fit(X)
    np.testing.assert_array_equal(drawn.embedding_, repeated.embedding_)


def _assert_quality(estimator, X, y, least_trust, least_accuracy):
    """Judge a map, or the mean of the maps of several estimators."""
    trust, accuracy = [], []
    for one in estimator if isinstance(estimator, list) else [estimator]:
        Y = one.fit_transform(X)
        trust.append(trustworthiness(X, Y, n_neighbors=15))
        for half in (0, 1):  # each is told by the other
            told = KNeighborsClassifier(10).fit(Y[half::2], y[half::2])
            accuracy.append(told.score(Y[1 - half :: 2], y[1 - half :: 2]))
    assert np.mean(trust) > least_trust
    assert np.mean(accuracy) > least_accuracy


@pytest.mark.parametrize(
    ("estimator", "least_trust", "least_accuracy"),
    [
        pytest.param([UMAP(random_state=seed) for seed in range(3)], 0.983, 0.89, id="umap"),
        pytest.param(PaCMAP(random_state=0), 0.98, 0.855, id="pacmap"),
        pytest.param(TriMap(random_state=0), 0.977, 0.9, id="trimap"),
        pytest.param(NegTSNE(random_state=0), 0.98, 0.89, id="neg_tsne"),
        pytest.param(InfoNCETSNE(random_state=0), 0.987, 0.9, id="info_nce_tsne"),
        pytest.param(TSNE(random_state=0), 0.987, 0.915, id="tsne"),
        pytest.param(LargeVis(random_state=0), 0.979, 0.87, id="largevis"),
        # without heavy tails or with springs, points of different classes crowd together
        pytest.param(SNE(random_state=0), 0.966, 0.8, id="sne"),
        pytest.param(SymmetricSNE(random_state=0), 0.964, 0.83, id="symmetric_sne"),
        pytest.param(ForceAtlas2(random_state=0), 0.96, 0.87, id="force_atlas2"),
    ],
)
def test_f94_digits_keep_their_neighbours_and_their_classes(estimator, least_trust, least_accuracy, digits):
    _assert_quality(estimator, digits[0][:500], digits[1][:500], least_trust, least_accuracy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "n", "least_trust", "least_accuracy"),
    [
        pytest.param(UMAP(random_state=0), 1797, 0.975, 0.96, id="umap"),
        pytest.param(PaCMAP(random_state=0), 1797, 0.975, 0.96, id="pacmap"),
        pytest.param(TriMap(random_state=0), 1797, 0.97, 0.95, id="trimap"),
        pytest.param(NegTSNE(random_state=0), 1797, 0.975, 0.96, id="neg_tsne"),
        pytest.param(InfoNCETSNE(random_state=0), 1797, 0.985, 0.96, id="info_nce_tsne"),
        # those that go through all pairs get fewer rows
        pytest.param(TSNE(random_state=0), 800, 0.986, 0.91, id="tsne"),
        pytest.param(LargeVis(random_state=0), 800, 0.977, 0.89, id="largevis"),
        pytest.param(SNE(random_state=0), 800, 0.961, 0.845, id="sne"),
        pytest.param(SymmetricSNE(random_state=0), 800, 0.961, 0.845, id="symmetric_sne"),
        pytest.param(ForceAtlas2(random_state=0), 800, 0.957, 0.85, id="force_atlas2"),
    ],
)
def test_f94_more_digits_keep_their_neighbours_and_their_classes(estimator, n, least_trust, least_accuracy, digits):
    _assert_quality(estimator, digits[0][:n], digits[1][:n], least_trust, least_accuracy)


@pytest.mark.parametrize("estimator", QUICK)
@pytest.mark.parametrize("n_components", [1, 3])
def test_other_dimensions_work(estimator, n_components, digits):
    Y = clone(estimator).set_params(n_components=n_components).fit_transform(digits[0][:300])
    assert Y.shape == (300, n_components)
    assert np.isfinite(Y).all()
    assert Y.std(axis=0).min() > 0


@pytest.mark.parametrize("estimator", BRIEF)
def test_f08_equal_rows_share_a_position_and_are_reported(estimator, iris):
    X = np.concatenate([iris[0], iris[0][:40]])
    with pytest.warns(DataWarning, match="190 rows hold 149 distinct rows"):
        Y = clone(estimator).fit_transform(X)
    np.testing.assert_array_equal(Y[:40], Y[150:])


@pytest.mark.parametrize("estimator", QUICK)
def test_f07_a_table_of_one_distinct_row_is_mapped_to_one_point(estimator):
    with pytest.warns(DataWarning, match="1 distinct row;"):
        Y = clone(estimator).fit_transform(np.full((20, 3), 7.0))
    np.testing.assert_array_equal(Y, np.zeros((20, 2)))


def test_too_few_rows_for_the_neighbours_is_a_warning_with_both_numbers():
    X = np.random.default_rng(0).normal(size=(9, 4))
    with pytest.warns(NeighborsWarning, match="15 neighbours were asked for and a row has only 8 others"):
        Y = UMAP(random_state=0, max_iter=20).fit_transform(X)
    assert np.isfinite(Y).all()


def test_perplexity_must_be_below_the_number_of_rows():
    with pytest.raises(ValueError, match=r"TSNE: perplexity=30.0 must be less than .* n_samples=20\. Try perplexity="):
        TSNE(perplexity=30).fit(np.random.default_rng(0).normal(size=(20, 3)))


@pytest.mark.parametrize("method", [TSNE, DREAMS, SNE, SymmetricSNE, LargeVis])
@pytest.mark.parametrize(("n", "least"), [(3, 1.5), (20, 19 / 3), (200, None)])
def test_a_perplexity_left_out_is_a_third_of_the_other_rows_up_to_the_usual_one(method, n, least):
    X = np.random.default_rng(0).normal(size=(n, 3))
    usual = (50.0 if method is LargeVis else 30.0) if least is None else least
    fitted, told = (method(perplexity=p, max_iter=3, random_state=0, n_jobs=1).fit(X) for p in (None, usual))
    assert fitted.perplexity is None
    assert fitted.perplexity_ == told.perplexity_ == usual
    assert fitted.graph_.n_neighbors == min(n - 1, 3 * usual)
    np.testing.assert_array_equal(fitted.embedding_, told.embedding_)
    known = (one.foresee(n, 3) for one in (fitted, told))
    assert len({(one.seconds, one.n_bytes) for one in known}) == 1


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_equal_rows_do_not_count_for_the_perplexity():
    X = np.repeat(np.random.default_rng(0).normal(size=(13, 3)), 10, axis=0)
    assert TSNE(max_iter=3, random_state=0).fit(X).perplexity_ == 4.0
    assert TSNE(max_iter=3, random_state=0, preset="fast").fit(X).perplexity_ is None


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_neighbors": 1}, r"UMAP: n_neighbors=1 must be an integer >= 2"),
        ({"n_neighbors": 2.5}, r"UMAP: n_neighbors=2.5 must be an integer >= 2"),
        ({"min_dist": 2.0}, r"UMAP: min_dist=2.0 must be at most spread=1.0"),
        ({"init": "spektral"}, r"UMAP: init='spektral' must be one of 'pca', 'spectral', 'random'"),
        ({"random_state": -1}, r"UMAP: random_state=-1 must be in \[0, 2\*\*63\)"),
        ({"n_jobs": 0}, r"UMAP: n_jobs=0 must not be 0"),
    ],
)
def test_a_wrong_parameter_is_named_with_its_rule(parameters, text, digits):
    with pytest.raises(ValueError, match=text):
        UMAP(**parameters).fit(digits[0][:100])


def test_f71_numbers_that_are_integers_are_taken_as_integers(iris):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        a = UMAP(n_neighbors=10.0, max_iter=np.int64(20), random_state=np.int32(1)).fit_transform(iris[0])
        b = UMAP(n_neighbors=10, max_iter=20, random_state=1).fit_transform(iris[0])
    np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("estimator", BRIEF)
def test_f46_f47_containers_of_the_same_numbers_give_the_same_map(estimator, iris):
    X = iris[0].astype(np.float32)
    expected = clone(estimator).fit_transform(X)
    for same in (np.asfortranarray(X), X.astype(">f4"), pd.DataFrame(X), X.repeat(2, axis=0)[::2]):
        np.testing.assert_array_equal(clone(estimator).fit_transform(same), expected)
    double = clone(estimator).fit_transform(iris[0])
    np.testing.assert_array_equal(clone(estimator).fit_transform(iris[0].tolist()), double)


@pytest.mark.parametrize("estimator", QUICK)
def test_sparse_rows_and_precomputed_distances_work(estimator, digits):
    X, y = digits[0][:400], digits[1][:400]
    distances = np.sqrt(((X[:, None].astype(float) - X[None]) ** 2).sum(-1))
    for table, metric in ((sparse.csr_matrix(X), "euclidean"), (distances, "precomputed")):
        model = clone(estimator).set_params(metric=metric)
        if metric == "precomputed":
            model.set_params(init="spectral")
        Y = model.fit_transform(table)
        assert KNeighborsClassifier(5).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2]) > 0.8


@pytest.mark.parametrize("estimator", BRIEF)
def test_f61_dense_and_sparse_precomputed_distances_give_the_same_map(estimator, digits):
    X = digits[0][:150].astype(float)
    X[1] = X[0]  # a distance of zero, which the sparse form must store
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    rows, columns = np.nonzero(~np.eye(150, dtype=bool))
    stored = sparse.csr_array((distances[rows, columns], (rows, columns)), shape=(150, 150))
    model = clone(estimator).set_params(metric="precomputed", init="random")
    np.testing.assert_array_equal(clone(model).fit_transform(stored), clone(model).fit_transform(distances))


@pytest.mark.parametrize("estimator", QUICK)
def test_a_callback_sees_progress_and_can_stop_the_layout(estimator, digits):
    seen = []

    def stop_after_first_layout_block(progress):
        seen.append((progress.stage, progress.done, progress.total))
        return progress.stage == "layout" and progress.done > 0

    model = clone(estimator).set_params(callback=stop_after_first_layout_block).fit(digits[0][:300])
    stages = ["neighbors", "affinities", "initialization", "layout"]
    assert [stage for stage, done, _ in seen if done == 0][:4] == stages
    assert 0 < model.n_iter_ < model.max_iter
    assert not model.solution_.converged
    assert np.isfinite(model.embedding_).all()
    assert set(model.timings_) >= set(stages)


@pytest.mark.parametrize("estimator", QUICK)
def test_start_positions_are_taken_as_they_are(estimator, digits):
    X = digits[0][:200]
    start = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    Y = clone(estimator).set_params(init=start, max_iter=0).fit_transform(X)
    np.testing.assert_allclose(Y - Y.mean(0), start - start.mean(0), atol=1e-5)
    with pytest.raises(ValueError, match=r"init of shape \(100, 2\) must be of shape \(n_samples, n_components\)"):
        clone(estimator).set_params(init=start[:100]).fit(X)


@pytest.mark.parametrize("estimator", BRIEF)
def test_f45_the_input_is_not_written(estimator, digits):
    X = digits[0][:200].copy()
    before = X.copy()
    X.setflags(write=False)
    clone(estimator).fit(X)
    np.testing.assert_array_equal(X, before)


def test_two_kernel_pca_with_linear_kernels_is_pca(digits):
    X = digits[0][:200]
    Y = TwoKernelPCA(input_kernel="linear", kernel="linear", random_state=0).fit_transform(X)
    assert embedding_similarity(Y, PCA().fit_transform(X)) > 1 - 1e-6
    np.testing.assert_allclose(Y.var(axis=0).sum(), PCA().fit_transform(X).var(axis=0).sum(), rtol=1e-3)


def test_two_kernel_pca_leaves_no_point_behind_far_out(digits):
    Y = TwoKernelPCA(random_state=0).fit_transform(digits[0][:600])
    distances = np.linalg.norm(Y - np.median(Y, axis=0), axis=1)
    assert distances.max() < 10 * np.median(distances)


@pytest.mark.parametrize(
    ("parameters", "kernel"),
    [
        ({}, "a=1.57"),
        ({"min_dist": 0.5}, "a=0.58"),
        ({"a": 1.0, "b": 2.0}, "UMAPKernel(a=1.0, b=2.0)"),
    ],
)
def test_the_umap_kernel_by_name_takes_its_own_parameters_or_umaps(parameters, kernel, digits):
    estimator = TwoKernelPCA(kernel="umap", kernel_params=parameters, max_iter=5, random_state=0)
    assert kernel in str(estimator.fit(digits[0][:60]).kernel_)


def test_f07_a_map_of_one_place_took_no_iteration_and_has_no_divergence():
    with pytest.warns(DataWarning, match="equal rows share one position"):
        fitted = TSNE().fit(np.ones((50, 3)))
    assert fitted.n_iter_ == 0
    assert fitted.kl_divergence_ == 0.0
