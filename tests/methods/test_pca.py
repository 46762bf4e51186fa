"""PCA against scikit-learn, its invariances, and its errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA as Reference

from gnomon import PCA


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
