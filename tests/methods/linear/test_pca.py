"""PCA against scikit-learn, its invariances, and its errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA as Reference

from gnomon import PCA
from gnomon.exceptions import DataWarning


def test_agrees_with_scikit_learn_up_to_sign(iris):
    X = iris[0]
    ours, theirs = PCA(n_components=3).fit(X), Reference(n_components=3).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.transform(X)), atol=1e-9)


def test_each_direction_has_its_largest_entry_positive(iris):
    components = PCA(n_components=4).fit(iris[0]).components_
    largest = np.abs(components).argmax(axis=1)
    assert (components[np.arange(4), largest] > 0).all()


def test_all_components_give_the_data_back(iris):
    model = PCA(n_components=None).fit(iris[0])
    np.testing.assert_allclose(model.inverse_transform(model.transform(iris[0])), iris[0], atol=1e-10)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)


def test_a_row_is_placed_alone_as_in_a_batch(digits):
    X = digits[0]
    model = PCA(n_components=5).fit(X)
    batch = model.transform(X[:50])
    alone = np.concatenate([model.transform(X[i : i + 1]) for i in range(50)])
    np.testing.assert_array_equal(alone, batch)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    assert model.transform(X[:0]).shape == (0, 5)


def test_same_bytes_for_any_number_of_threads(digits):
    maps = [PCA(n_components=3, n_jobs=n).fit_transform(digits[0]).tobytes() for n in (1, 2, 3, 5)]
    assert len(set(maps)) == 1


def test_sparse_agrees_with_dense(digits):
    X = digits[0].astype(np.float64)
    dense = PCA(n_components=2, random_state=0).fit(X)
    for format in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        thin = PCA(n_components=2, random_state=0).fit(format(X))
        np.testing.assert_allclose(np.abs(thin.embedding_), np.abs(dense.embedding_), atol=1e-3)


@pytest.mark.parametrize("solver", ["covariance", "svd", "randomized"])
def test_solvers_agree(solver, digits):
    X = digits[0].astype(np.float64)
    reference = PCA(n_components=2, solver="svd").fit(X)
    model = PCA(n_components=2, solver=solver, random_state=0).fit(X)
    assert model.solver_ == solver
    np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_, rtol=1e-6)


def test_errors_name_the_argument_and_the_rule(iris):
    with pytest.raises(ValueError, match=r"PCA: n_components=5 must be at most min\(n_samples, n_features\)=4"):
        PCA(n_components=5).fit(iris[0])
    model = PCA().fit(iris[0])
    with pytest.raises(ValueError, match="X has 3 features, but PCA is expecting 4 features as input"):
        model.transform(iris[0][:, :3])
    with pytest.raises(ValueError, match="Y with 3 columns must be of 2 columns"):
        model.inverse_transform(iris[0][:, :3])


def test_names_of_columns_are_kept_and_checked(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    model = PCA().fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == ["pca0", "pca1"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("badc")])
    assert isinstance(PCA().set_output(transform="pandas").fit_transform(frame), pd.DataFrame)


def reference_model(X, n_components, whiten=False):
    return Reference(n_components, whiten=whiten, svd_solver="full").fit(X)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 3, 4])
def test_the_normal_model_is_that_of_scikit_learn(iris, n_components, whiten):
    X = iris[0]
    ours, theirs = PCA(n_components, whiten=whiten).fit(X), reference_model(X, n_components)  # whiten changes no model
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-7)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X))
    theirs = reference_model(X, n_components, whiten)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.transform(X)), atol=1e-8)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.embedding_), theirs.inverse_transform(theirs.transform(X)), atol=1e-9
    )


def test_whitened_scores_have_unit_variance_and_directions_without_variance_stay_zero(iris):
    X = np.column_stack([iris[0], iris[0][:, 0]])
    Y = PCA(5, whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(Y[:, :4].T), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(Y[:, 4], 0, atol=1e-12)
    single = PCA(2, whiten=True).fit(iris[0].astype(np.float32))
    assert single.embedding_.dtype == np.float32
    np.testing.assert_array_equal(single.transform(iris[0].astype(np.float32)), single.embedding_)


@pytest.mark.parametrize("share", [0.1, 0.9, 0.99])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_a_share_keeps_the_fewest_components_that_reach_it(digits, share, form, shape):
    X = digits[0][: 400 if shape == "tall" else 50].astype(np.float64)
    model = PCA(share).fit(form(X))
    curve = np.cumsum(reference_model(X, None).explained_variance_ratio_)
    assert model.n_components_ == int(np.argmax(curve >= share)) + 1
    assert model.explained_variance_ratio_.sum() >= share > model.explained_variance_ratio_[:-1].sum()
    assert model.solver_ == ("covariance" if shape == "tall" else "gram")


def test_a_share_that_is_reached_exactly_is_enough():
    X = np.kron(np.diag([3.0, 1.0]), [[1.0], [-1.0]])  # variances 9 to 1
    assert PCA(0.9).fit(X).n_components_ == 1
    assert PCA(0.91).fit(X).n_components_ == 2
    with pytest.warns(DataWarning, match="5 rows hold 1 distinct row; they share one position"):
        assert PCA(0.5).fit(np.ones((5, 3))).n_components_ == 1


def test_small_components_of_double_tables_are_found_by_svd():
    X = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 1e-3, 1e-7]
    small = PCA(None).fit(X)
    assert small.solver_ == "svd"
    assert PCA(2).fit(X).solver_ == "covariance"
    np.testing.assert_allclose(small.explained_variance_, reference_model(X, None).explained_variance_, rtol=1e-8)


def test_loadings_rebuild_the_covariance(iris):
    model = PCA(None).fit(iris[0])
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, np.cov(iris[0].T), atol=1e-12)
    assert model.total_variance_ == pytest.approx(np.trace(np.cov(iris[0].T)))


def test_samples_have_the_mean_and_covariance_of_the_model(iris):
    model = PCA(2).fit(iris[0])
    drawn = model.sample(200_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.03)
    np.testing.assert_allclose(model.sample(5, random_state=0), drawn[:5], rtol=1e-12)
    assert model.sample(0, random_state=0).shape == (0, 4)
    assert model.sample(3, random_state=1)[0, 0] != drawn[0, 0]


def test_likelihood_of_sparse_rows_is_that_of_dense_ones(digits):
    X = digits[0][:300].astype(np.float64)
    model = PCA(10).fit(X)
    np.testing.assert_allclose(model.score_samples(sparse.csr_array(X)), model.score_samples(X), rtol=1e-12)


def test_without_variance_in_a_direction_there_is_no_density():
    X = np.column_stack([np.arange(5.0), np.zeros(5)])
    for n_components in (1, 2):
        model = PCA(n_components).fit(X)
        assert np.isfinite(model.get_covariance()).all()
        for call in (model.get_precision, lambda model=model: model.score_samples(X)):
            with pytest.raises(ValueError, match="PCA: the model must be one with variance in all directions"):
                call()


@pytest.mark.parametrize("n_components", [3, 0.9])
@pytest.mark.parametrize("order", ["forward", "backward"])
def test_blocks_give_the_fit_of_all_rows_in_any_order(digits, n_components, order):
    X = digits[0].astype(np.float64)
    blocks = np.array_split(X, [1, 40, 700, 1000])[:: 1 if order == "forward" else -1]
    whole, parts = PCA(n_components).fit(X), PCA(n_components)
    for block in blocks:
        parts.partial_fit(block)
    for model in (parts, PCA(n_components).fit_blocks(iter(blocks)), PCA(n_components).fit_blocks(X)):
        np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-11)
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-9)
        np.testing.assert_allclose(model.mean_, whole.mean_, atol=1e-12)
        assert model.noise_variance_ == pytest.approx(whole.noise_variance_)
        assert model.n_samples_ == len(X)
        np.testing.assert_allclose(model.transform(X), whole.embedding_, atol=1e-8)
        assert not hasattr(model, "embedding_")


def test_blocks_far_from_the_origin_lose_no_digits():
    X = np.random.default_rng(0).normal(size=(3000, 4)) * [4, 3, 2, 1]
    near, far = PCA(4).fit_blocks(np.array_split(X, 7)), PCA(4).fit_blocks(np.array_split(X + 1e6, 7))
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-9)


def test_a_memory_map_and_sparse_blocks_are_read_by_blocks(tmp_path, digits):
    X = digits[0].astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    whole = PCA(3).fit(X.astype(np.float64))
    for blocks in (np.load(tmp_path / "rows.npy", mmap_mode="r"), [sparse.csr_array(X[:900]), X[900:]]):
        model = PCA(3).fit_blocks(blocks)
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-9)


def test_blocks_in_any_number_of_threads_give_equal_bytes(digits):
    models = [PCA(3, n_jobs=n).fit_blocks(np.tile(digits[0], (3, 1))) for n in (1, 2, 3)]
    assert len({model.components_.tobytes() for model in models}) == 1


def test_blocks_that_do_not_fit_are_refused(iris, monkeypatch):
    X = iris[0]
    with pytest.raises(ValueError, match="X has 3 features, but PCA is expecting 4"):
        PCA().partial_fit(X).partial_fit(X[:, :3])
    with pytest.raises(ValueError, match=r"PCA: blocks must be of at least 2 rows together \(0 sample"):
        PCA().fit_blocks([])
    with pytest.raises(ValueError, match="solver='gram' must be 'auto' or 'covariance' for rows in blocks"):
        PCA(solver="gram").partial_fit(X)
    with pytest.raises(ValueError, match=r"n_components=5 must be at most n_features=4\. Use n_components=4"):
        PCA(5).fit_blocks([X])
    with pytest.raises(ValueError, match="squares are within the range of float64"):
        PCA().partial_fit(X * 1e200)
    with pytest.warns(DataWarning, match="forgets the rows given to fit"):
        model = PCA().fit(X).partial_fit(X[:50])
    assert model.n_samples_ == 50
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: 1e9)
    with pytest.raises(MemoryError, match=r"PCA: X of 20000 columns must be .* fits in memory, 1 GB .* take 12\.8 GB"):
        PCA().partial_fit(np.zeros((2, 20_000)))
    with pytest.raises(MemoryError, match="solver='gram'"):
        PCA(solver="covariance").fit(np.eye(2, 20_000))


def test_a_share_cannot_be_had_from_few_components(iris):
    with pytest.raises(ValueError, match=r"PCA: n_components=0\.9 must be an integer where solver='randomized'"):
        PCA(0.9, solver="randomized").fit(iris[0])
    for wrong in (0.0, 1.5, -0.5):
        with pytest.raises(
            ValueError, match=r"n_components=.* must be an integer >= 1 or a number > 0 and < 1 or None"
        ):
            PCA(wrong).fit(iris[0])
