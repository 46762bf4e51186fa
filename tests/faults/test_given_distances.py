"""The catalogue of faults in distances and neighbours that the user supplies (group D)."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS, NOISE

import gnomon
from gnomon.exceptions import GnomonWarning
from gnomon.neighbors import as_neighbor_graph

DISTANCES = cdist(NOISE, NOISE)
NAMES = ["umap", "tsne", "isomap", "mds", "classical_mds", "laplacian_eigenmaps"]


def changed(row, column, value, mirrored=True):
    found = DISTANCES.copy()
    found[row, column] = value
    if mirrored:
        found[column, row] = value
    return found


def fit(name, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        model = clone(ESTIMATORS[name]).set_params(metric="precomputed", **parameters)
        return model.set_params(init="spectral").fit(X) if name == "tsne" else model.fit(X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("X", "text"),
    [
        pytest.param(changed(3, 4, -1.0), r"must be >= 0 \(the smallest is -1\)", id="f57-negative"),
        pytest.param(
            changed(3, 4, 50.0, mirrored=False),
            r"must be symmetric \(the largest gap is .* at row 3 and column 4\)",
            id="f58-asymmetric",
        ),
        pytest.param(DISTANCES[:, :50], r"shape \(60, 50\) must be square, one row and column", id="f60-not-square"),
        pytest.param(changed(3, 4, np.nan), r"it contains NaN \(2\): at row 3, column 4", id="f66-nan"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(name, X, text):
    with pytest.raises(ValueError, match=text):
        fit(name, X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "X",
    [
        pytest.param(changed(3, 3, -1e-9), id="f57-rounding"),
        pytest.param(DISTANCES + 1e-12 * NOISE[:, [0]], id="f58-rounding"),
        pytest.param(DISTANCES + np.eye(60), id="f59-diagonal"),
    ],
)
def test_rounding_and_a_diagonal_do_not_matter(name, X):
    same, expected = (fit(name, D, random_state=0).embedding_ for D in (X, DISTANCES))
    np.testing.assert_allclose(same, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_f59_a_diagonal_that_is_not_zero_is_told_and_rounding_there_is_not(name, is_sparse):
    off = ~np.eye(60, dtype=bool)

    def told(diagonal):
        rows, columns = np.nonzero(off | (diagonal != 0))
        X = DISTANCES + np.diag(diagonal)
        given = sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape) if is_sparse else X
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = clone(ESTIMATORS[name]).set_params(metric="precomputed")
            model.set_params(init="spectral").fit(given) if name == "tsne" else model.fit(given)
        return [str(one.message) for one in caught if "diagonal" in str(one.message)]

    assert told(np.full(60, 1e-9)) == []
    found = told(np.where(np.arange(60) < 50, 0.0, 0.25))
    assert len(found) == 1
    assert "the diagonal of the distances is not 0 for 10 of 60 rows and is not used (the first is 0.25)" in found[0]


@pytest.mark.parametrize("name", NAMES)
def test_f57_how_many_distances_are_zero_by_rounding_is_logged(name, caplog):
    with caplog.at_level("INFO", logger="gnomon.neighbors"):
        fit(name, changed(3, 4, -1e-9))
    told = [record.getMessage() for record in caplog.records]
    assert told == ["2 distances are below 0 by rounding and count as 0"]
    caplog.clear()
    fit(name, DISTANCES)
    assert caplog.records == []


@pytest.mark.parametrize("name", NAMES)
def test_f61_sparse_and_dense_distances_have_the_same_map(name):
    rows, columns = np.nonzero(~np.eye(60, dtype=bool))
    stored = sparse.csr_array((DISTANCES[rows, columns], (rows, columns)), shape=(60, 60))
    maps = [fit(name, X, random_state=0).embedding_ for X in (DISTANCES, stored)]
    np.testing.assert_array_equal(*maps)


@pytest.mark.parametrize("name", NAMES)
def test_f62_new_rows_are_placed_by_their_distances_as_by_themselves(name):
    model = fit(name, DISTANCES, random_state=0)
    new = cdist(NOISE[:7] + 0.01, NOISE)
    together = model.transform(new)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(model.transform(new[3:4]), together[3:4], atol=1e-9)
    np.testing.assert_allclose(model.transform(DISTANCES[:5]), model.embedding_[:5], atol=1e-5)


def test_f63_missing_neighbours_are_never_indices_and_the_row_itself_is_taken_out():
    with pytest.warns(GnomonWarning, match=r"1 rows have fewer than 2 neighbours .* \(first: 0\)"):
        graph = as_neighbor_graph([[1, -1], [0, 2], [0, 1]], [[1, np.inf], [1, 1], [2, 1]])
    assert graph.mask.tolist() == [[True, False], [True, True], [True, True]]
    assert (graph.indices >= 0).all()
    with_self = as_neighbor_graph([[1, 0], [1, 0], [2, 0]], [[1, 0], [0.0, 1], [0, 2]])  # itself first, or later
    assert with_self.indices.ravel().tolist() == [1, 0, 0]


def test_f63_numbers_of_rows_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"indices must be in \[0, 3\), or -1 for none \(1 are not, first in row 0\)"):
        as_neighbor_graph([[1, 9], [0, 2], [0, 1]], [[1, 2], [1, 1], [2, 1]])


def test_f64_a_row_that_repeats_one_neighbour_is_refused_by_number():
    with pytest.raises(ValueError, match=r"must be different rows \(1 rows repeat a neighbour, first: 3\)"):
        as_neighbor_graph([[1, 2], [0, 2], [0, 1], [0, 0]], [[1, 2], [1, 1], [2, 1], [1, 1]])


@pytest.mark.parametrize("name", ["umap", "tsne"])
def test_f65_rows_of_few_distances_are_named_and_use_what_exists(name):
    few = DISTANCES.copy()
    few[7, 2:], few[2:, 7] = 0.0, 0.0
    model = clone(ESTIMATORS[name]).set_params(metric="precomputed", init="random")
    with pytest.warns(GnomonWarning, match=r"1 rows have fewer than \d+ neighbours at finite distance \(first: 7\)"):
        Y = model.fit_transform(sparse.csr_array(few))
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("variant", ["metric", "ordinal"])
def test_f67_stress_is_recomputed_from_the_points_and_squared_distances_are_no_obstacle(variant):
    squared = np.square(DISTANCES)  # no metric: the triangle inequality fails
    model = gnomon.MDS(variant=variant, metric="precomputed", max_iter=30, random_state=0).fit(squared)
    assert np.isfinite(model.embedding_).all()
    if variant == "metric":
        errors = np.square(squared - cdist(model.embedding_, model.embedding_))
        assert model.stress_ == pytest.approx(errors.sum() / 2, rel=1e-6)
