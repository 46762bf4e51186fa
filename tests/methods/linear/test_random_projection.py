"""Random projection: distances on average, exact orthonormality, the map back, determinism and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from gnomon.methods.linear.random_projection import RandomProjection

VARIANTS = ["gaussian", "orthonormal", "sparse"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_components", [1, 5])
def test_squared_distances_are_kept_on_average_over_seeds(variant, n_components):
    X = np.random.default_rng(0).normal(size=(6, 30)) * np.linspace(0.5, 3, 30)
    exact = pdist(X, "sqeuclidean")
    found = np.array(
        [
            pdist(RandomProjection(n_components, variant=variant, random_state=seed).fit_transform(X), "sqeuclidean")
            for seed in range(400)
        ]
    )
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) < 4 * error).all()
    assert (error < 0.12 * exact).all()


def test_orthonormal_rows_are_exactly_so_and_vary_less():
    X = np.random.default_rng(0).normal(size=(5, 12))
    model = RandomProjection(7, variant="orthonormal", random_state=0).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, 12 / 7 * np.eye(7), atol=1e-14)
    whole = RandomProjection(12, variant="orthonormal", random_state=0).fit_transform(X)
    np.testing.assert_allclose(pdist(whole), pdist(X), rtol=1e-12)


def test_sparse_directions_have_the_stated_density_and_size():
    model = RandomProjection(50, variant="sparse", random_state=0).fit(np.eye(2, 2500))
    assert sparse.issparse(model.components_)
    assert model.components_.nnz / (50 * 2500) == pytest.approx(1 / 50, rel=0.05)
    np.testing.assert_allclose(np.unique(np.abs(model.components_.data)), [1.0])
    assert abs(np.mean(model.components_.data)) < 0.1


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_map_is_linear_and_the_map_back_ends_where_it_began(variant):
    X = np.random.default_rng(1).normal(size=(20, 40))
    model = RandomProjection(6, variant=variant, random_state=0).fit(X)
    dense = model.components_.toarray() if variant == "sparse" else model.components_
    np.testing.assert_allclose(model.embedding_, X @ dense.T, atol=1e-12)
    back = model.inverse_transform(model.embedding_)
    np.testing.assert_allclose(model.transform(back), model.embedding_, atol=1e-10)
    assert (np.linalg.norm(back, axis=1) <= np.linalg.norm(X, axis=1)).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_is_placed_alone_as_in_a_batch_in_any_number_of_threads(variant, form, dtype):
    X = np.random.default_rng(2).normal(size=(30, 17)).astype(dtype)
    model = RandomProjection(3, variant=variant, random_state=0, n_jobs=1).fit(form(X))
    assert model.embedding_.dtype == dtype
    np.testing.assert_array_equal(model.transform(form(X[4:5]))[0], model.embedding_[4])
    for n_jobs in (2, 3):
        again = RandomProjection(3, variant=variant, random_state=0, n_jobs=n_jobs).fit_transform(form(X))
        assert again.tobytes() == model.embedding_.tobytes()
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-5)


def test_the_seed_that_was_drawn_repeats_the_run_and_names_are_kept():
    frame = pd.DataFrame(np.eye(6), columns=list("abcdef"))
    drawn = RandomProjection().fit(frame)
    again = RandomProjection(random_state=drawn.seed_).fit(frame)
    np.testing.assert_array_equal(drawn.embedding_, again.embedding_)
    assert list(drawn.feature_names_in_) == list("abcdef")
    assert list(drawn.get_feature_names_out()) == ["randomprojection0", "randomprojection1"]


def test_errors_name_the_argument_and_the_rule():
    X = np.eye(4)
    with pytest.raises(ValueError, match=r"RandomProjection: n_components=5 must be at most n_features=4 for variant="):
        RandomProjection(5, variant="orthonormal").fit(X)
    assert RandomProjection(5).fit_transform(X).shape == (4, 5)
    with pytest.raises(ValueError, match="variant='normal' must be one of 'gaussian', 'orthonormal', 'sparse'"):
        RandomProjection(variant="normal").fit(X)
    with pytest.raises(ValueError, match="n_components=0 must be an integer >= 1"):
        RandomProjection(0).fit(X)
    with pytest.raises(ValueError, match="Y with 3 columns must be of 2 columns, n_components"):
        RandomProjection().fit(X).inverse_transform(np.ones((1, 3)))
