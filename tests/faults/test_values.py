"""The catalogue of faults in values and sizes (groups A and B): what a map of them is, beyond being finite."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS, NOISE

import gnomon
from gnomon import _core
from gnomon.data.stored import as_stored
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.linalg import GraphLaplacian, eigenpairs
from gnomon.linalg.table import RowTable
from gnomon.neighbors import compute_neighbors

MERGING = [name for name, one in ESTIMATORS.items() if getattr(one, "_merges_equal_rows", False)]
# Those whose components are those of a matrix of rows or features, of which there are so many.
LIMITED = ("pca", "stiefel_pca", "robust_pca", "graph_robust_pca", "huber_pca", "gradient_pca", "kernel_pca")
LIMITED += ("classical_mds", "landmark_mds", "lle", "laplacian_eigenmaps")
PIECES = np.concatenate([NOISE[:30], NOISE[30:] + 30.0])


def fit(name, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return clone(ESTIMATORS[name]).set_params(**parameters).fit(X)


@pytest.mark.parametrize(
    ("method", "factor", "text"),
    [
        (gnomon.UMAP(), 1e-100, r"range of float32.*Pass X \* 1e100"),
        (gnomon.UMAP(), 1e38, r"range of float32.*row \d+, column \d is .*Pass X \* 1e-38"),
        (gnomon.UMAP(), 1e200, r"range of float32.*Pass X \* 1e-200"),
        (gnomon.PCA(), 1e200, r"finite variances.*Pass X \* 1e-20"),
        (gnomon.MDS(), 1e200, r"finite variances.*Pass X \* 1e-20"),
        (gnomon.LandmarkMDS(metric="manhattan"), 1e200, r"finite squares.*Pass X \* 1e-20"),
        (gnomon.LandmarkMDS(refine=True), 1e160, r"finite squares.*Pass X \* 1e-16[01]"),
        (gnomon.GradientPCA(), 1e60, r"similarities .* below 1e\+96 .*Pass X \* 1e-60"),
        (gnomon.GradientPCA(), 1e100, r"similarities .* below 1e\+96 .*Pass X \* 1e-100"),
        (gnomon.GradientPCA(kernel="polynomial"), 1e90, r"similarities .* below 1e\+96 .*Pass X \* 1e-90"),
        (gnomon.Isomap(metric="manhattan"), 1e39, r"range of float32.*60 rows are farther away.*Pass X \* 1e-39"),
        (gnomon.UMAP(metric="minkowski"), 1e100, r"range of float32.*60 rows are farther away.*Pass X \* 1e-100"),
    ],
)
def test_f04_distances_and_variances_out_of_range_are_refused_with_the_place(method, factor, text):
    X = np.random.default_rng(0).normal(size=(60, 5))
    with pytest.raises(ValueError, match=text):
        clone(method).fit(X * factor)


@pytest.mark.parametrize("method", ["pca", "sketch_map"])
def test_f04_a_map_whose_positions_are_beyond_float32_is_refused(method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match=r"map: X must be of positions in the range of float32.*Pass X \* 1e-1[34]\d"):
        gnomon.map(X * 1e140, method)


def test_f04_scaling_of_distances_with_infinite_squares_is_right():
    X = np.random.default_rng(0).normal(size=(40, 3))
    found, small = (
        gnomon.MDS(metric="manhattan", n_init=1).fit_transform(X * factor) / factor for factor in (1e200, 1.0)
    )
    np.testing.assert_allclose(found, small, atol=1e-3)


@pytest.mark.parametrize(("value", "lost"), [(1e17, False), (9.96921e36, True)])
def test_f04_a_value_that_takes_the_digits_of_the_others_is_named(value, lost):
    X = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    near = compute_neighbors(X, 7).indices
    X[0, 3] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compute_neighbors(X, 7).indices
    assert [("row 0, column 3" in str(one.message)) for one in caught] == [True] * lost
    kept = (near[1:] != 0).all(axis=1)
    assert lost or np.array_equal(found[1:][kept], near[1:][kept])


@pytest.mark.parametrize("missing", ["distance", "error"])
@pytest.mark.parametrize(
    ("value", "rows", "text"),
    [
        (1e160, [7], r"map: X must be numbers up to 1e\+150 in magnitude.*\(1\): at row 7, column 'energy'\)\. Mend"),
        (-1e308, [7, 9, 30], r"map: X must be numbers up to 1e\+150.*\(3\): at row 7, column 'energy'; row 9.*row 30"),
    ],
)
def test_f04_a_map_refuses_entries_whose_squares_overflow_and_names_them(value, rows, text, missing):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[rows, 1] = value
    table = pd.DataFrame(X, columns=["x", "energy"])
    with pytest.raises(ValueError, match=text):
        gnomon.map(table, method="pca", missing=missing)
    grown = gnomon.map(table.drop(rows), method="pca", scale=None)
    with pytest.raises(ValueError, match=r"numbers up to 1e\+150.*at row 7, column 'energy'"):
        grown.extend(table)


@pytest.mark.parametrize(
    ("fit", "value", "text"),
    [
        (lambda X: gnomon.PCA().fit(X), 1e308, r"up to 1e\+300 in magnitude.*\(1\): at row 7, column 2"),
        (lambda X: gnomon.KernelPCA().fit(X), 1e160, r"up to 1e\+150 in magnitude.*\(1\): at row 7, column 2"),
        (lambda X: gnomon.GradientPCA().fit(X), 1e160, r"up to 1e\+150 in magnitude.*\(1\): at row 7, column 2"),
        (lambda X: gnomon.complete_missing(X), 1e160, r"up to 1e\+150 in magnitude or NaN.*at row 7, column 2"),
    ],
)
def test_f04_what_no_square_or_sum_can_be_taken_of_is_refused_with_its_place(fit, value, text):
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[7, 2] = value
    with pytest.raises(ValueError, match=text):
        fit(X)


def test_f04_large_ratios_are_told_in_a_few_characters():
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[7, 2] = 1e100
    cells = pytest.warns(DataWarning, match=r"'feature 2' has 1e\+100 .* standard deviation that is 1\.2e\+99 times as")
    with cells, pytest.raises(ValueError, match=r"X must be of positions in the range of float32"):  # told all the same
        gnomon.map(X, method="pca")
    X[7, 2] = 1.0
    X[:, 2] *= 1e30
    spreads = r"'feature 2' makes 100.0% .* and spreads .*e\+\d+ times as much as the median of the others"
    with pytest.warns(DataWarning, match=spreads):
        gnomon.map(X, method="pca")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f06_an_offset_is_taken_off_before_anything_is_rounded(name):
    half = np.round(NOISE[:30] * 1024) / 1024
    X = np.concatenate([half, -half])  # of mean 0, and of mean 2^30 when moved: nothing is rounded by the move itself
    near, far = fit(name, X).embedding_, fit(name, X + 2.0**30).embedding_
    if name == "random_projection":  # whose map is not centred
        near, far = near - near.mean(axis=0), far - far.mean(axis=0)
    np.testing.assert_allclose(far, near, atol=1e-4 * np.abs(near).max())


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("sparse_rows", [False, True], ids=["dense", "sparse"])
def test_f07_one_warning_says_that_all_rows_are_one(name, sparse_rows):
    X = np.full((20, 3), 2.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Y = clone(ESTIMATORS[name]).fit_transform(sparse.csr_array(X) if sparse_rows else X)
    assert (Y[0] == Y).all()
    assert np.isfinite(Y).all()
    assert len(caught) == 1
    expected = "20 rows hold 1 distinct row; " if name != "gradient_pca" else "all points are equally similar; "
    assert expected in str(caught[0].message)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f08_copies_share_a_place_and_are_counted_where_neighbours_are_sought(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Y = clone(ESTIMATORS[name]).fit_transform(np.repeat(NOISE[:12], 5, axis=0)).reshape(12, 5, -1)
    np.testing.assert_allclose(Y, np.repeat(Y[:, :1], 5, axis=1), atol=1e-12 * np.abs(Y).max())
    told = [str(one.message) for one in caught if "60 rows hold 12 distinct rows; equal rows share" in str(one.message)]
    assert len(told) == (name in MERGING or name == "graph_robust_pca")
    if name in MERGING:
        assert (Y[:, :1] == Y).all()


def with_a_constant_column(X):
    return np.column_stack([X[:, :2], np.ones(len(X)), X[:, 2:]])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f09_a_constant_column_is_of_no_importance(name):
    table = with_a_constant_column(NOISE)
    fitted = fit(name, table)
    explanation = gnomon.explain(table, fitted.embedding_)
    assert (explanation.importance[:, 2] == 0).all()
    assert explanation.global_importance[2] == 0
    if name != "random_projection":  # whose matrix knows nothing of the columns
        derivative = fitted.jacobian(with_a_constant_column(NOISE[:5] + 0.01))
        np.testing.assert_allclose(derivative[:, :, 2], 0.0, atol=1e-12 * np.abs(derivative).max())


def test_f09_constant_columns_are_named_in_what_is_noticed_of_a_map():
    found = gnomon.map(pd.DataFrame(with_a_constant_column(NOISE), columns=list("abcdef")), "pca")
    assert found.notes == ["1 of 6 features is constant: 'c'; its importance is exactly 0."]
    named = gnomon.map(np.column_stack([NOISE, np.ones((60, 7))]), "pca", scale=None).notes
    assert named == ["7 of 12 features are constant: columns 5, 6, 7, 8, 9 and 2 more; their importance is exactly 0."]


@pytest.mark.parametrize("name", ["umap", "isomap", "lle", "mds"])
def test_f10_rows_without_a_correlation_are_named(name):
    X = NOISE.copy()
    X[3] = 2.0
    with pytest.raises(ValueError, match=r"metric='correlation' must be .*(first: 3|nan between row)"):
        fit(name, X, metric="correlation")


@pytest.mark.parametrize("name", ["umap", "tsne", "isomap", "mds", "laplacian_eigenmaps"])
def test_f11_rows_of_zeros_have_a_place_under_cosine_and_are_counted(name):
    X = np.abs(NOISE)
    X[3] = 0.0
    with pytest.warns(DataWarning, match="1 row is all zeros; its cosine distance is 0 to such rows and 1") as caught:
        Y = clone(ESTIMATORS[name]).set_params(metric="cosine").fit_transform(X)
    assert np.isfinite(Y).all()
    assert sum("all zeros" in str(one.message) for one in caught) == 1


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_rows_of_zeros_that_share_a_place_are_all_counted(made):
    X = np.abs(NOISE)
    X[[3, 8, 9]] = 0.0
    model = clone(ESTIMATORS["umap"]).set_params(metric="cosine")
    with (
        pytest.warns(DataWarning, match="rows hold .* distinct"),
        pytest.warns(DataWarning, match=r": 3 rows are all ze"),
    ):
        model.fit(made(X))


@pytest.mark.parametrize("name", ["umap", "tsne", "isomap", "mds", "densmap", "laplacian_eigenmaps"])
def test_f13_rows_as_far_as_can_be_from_all_have_a_finite_place(name):
    apart = np.eye(40, dtype=bool)
    some = np.zeros((40, 80), dtype=bool)
    some[:30] = np.random.default_rng(0).random((30, 80)) > 0.5
    some[30:, :10] = np.eye(10, dtype=bool)
    for X in (apart, some):
        Y = fit(name, X, metric="jaccard").embedding_  # without scikit-learn's warning of a conversion to truth values
        assert Y.shape == (40, 2 if name != "pca" else 1)
        assert np.isfinite(Y).all()


def test_f13_rows_that_have_nothing_in_common_with_any_other_are_masked_and_told():
    sets = np.random.default_rng(0).random((40, 30)) > 0.5
    sets[[7, 20]] = False
    sets[7, :2], sets[:, 0], sets[:7, 1], sets[8:, 1] = True, False, False, False
    sets[20, 0] = True  # rows 7 and 20 hold what no other row holds
    graph = gnomon.neighbors.compute_neighbors(sets, 5, metric="jaccard")
    assert np.flatnonzero(graph.isolated).tolist() == [7, 20]
    assert not gnomon.neighbors.compute_neighbors(sets, 5).isolated.any()  # no distance is the largest there can be
    made = gnomon.map(sets, metric="jaccard", n_neighbors=15, max_iter=5)
    assert np.flatnonzero(made.graph.isolated).tolist() == [7, 20]
    assert [note for note in made.notes if "as far as can be" in note] == [
        "2 of 40 rows are as far as can be from all others, in jaccard distance: 7, 20. Where they lie says nothing; "
        "the mask is graph.isolated."
    ]


def one_row_far_from_all():
    """Return sparse distances of which row 5 has none."""
    distances = np.sqrt(np.square(NOISE[:, None] - NOISE).sum(axis=2))
    distances[5] = distances[:, 5] = 0.0
    return sparse.csr_array(distances)


def test_f14_a_row_without_finite_distances_leaves_those_of_others_as_they_are():
    with pytest.warns(GnomonWarning, match=r"1 rows have fewer than 5 neighbours at finite distance \(first: 5\)"):
        graph = gnomon.neighbors.compute_neighbors(one_row_far_from_all(), 5, metric="precomputed")
    assert np.flatnonzero(graph.isolated).tolist() == [5]
    found = gnomon.affinities.fuzzy_simplicial_set(graph)
    assert np.isfinite(found.matrix.data).all()
    others = np.delete(np.arange(60), 5)
    assert (np.diff(found.matrix.indptr)[others] >= 5).all()


@pytest.mark.parametrize("name", ["umap", "densmap", "largevis", "neg_tsne"])
def test_f15_a_row_without_neighbours_has_a_finite_place_and_no_radius(name):
    fitted = fit(name, one_row_far_from_all(), metric="precomputed", init="random")
    assert np.isfinite(fitted.embedding_).all()
    if name == "densmap":  # it has none, and no part in what is compared
        assert np.flatnonzero(np.isnan(fitted.radii_)).tolist() == [5]
        assert np.isfinite(fitted.density_correlation_)


def test_f16_a_search_for_eigenvectors_ends_within_its_budget_of_products():
    n = 1200  # two rings that one weak edge joins
    rows = np.concatenate([np.arange(n), [0]])
    columns = np.concatenate([np.roll(np.arange(n // 2), -1), n // 2 + np.roll(np.arange(n // 2), -1), [n // 2]])
    graph = sparse.csr_array((np.concatenate([np.ones(n), [1e-6]]), (rows, columns)), shape=(n, n))
    weights = sparse.csr_array(graph + graph.T).astype(np.float32)
    found = eigenpairs(GraphLaplacian(weights), 2, tol=1e-2, max_products=60)
    assert np.isfinite(found.vectors).all()
    assert found.vectors.shape == (n, 2)


def test_f16_the_start_that_was_used_is_said():
    sets = np.eye(40, dtype=bool)  # all at one distance: under this metric scikit-learn picks among the equal ones
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = gnomon.UMAP(n_neighbors=5, metric="russellrao", init="spectral", max_iter=5).fit(sets)
    assert fitted.init_ == "pca"
    assert any("init='spectral' fell back to 'pca'" in str(one.message) for one in caught)


@pytest.mark.parametrize("name", ["isomap", "lle", "laplacian_eigenmaps"])
def test_f17_a_graph_in_pieces_is_joined_or_refused_with_the_sizes(name):
    with pytest.warns(GnomonWarning, match="30, 30 rows"):
        Y = clone(ESTIMATORS[name]).fit_transform(PIECES)
    assert Y.shape[0] == 60
    with pytest.raises(ValueError, match=r"must be connected .*30, 30 rows"):
        clone(ESTIMATORS[name]).set_params(disconnected="error").fit(PIECES)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f18_where_eigenvalues_are_equal_a_fit_repeats_to_the_bit(name):
    for X in (np.eye(20), np.linspace(0, 1, 30)[:, None]):
        first, again = (fit(name, X, n_components=1).embedding_ for _ in range(2))
        np.testing.assert_array_equal(first, again)


def test_f19_a_map_of_noise_scores_as_a_random_one():
    rng = np.random.default_rng(1)
    scores = gnomon.evaluate(rng.normal(size=(200, 20)), rng.normal(size=(200, 2)), random_state=0)
    assert abs(scores.trustworthiness - scores.random_map["trustworthiness"]) < 0.05
    assert abs(scores.neighborhood_preservation - scores.random_map["neighborhood_preservation"]) < 0.05


@pytest.mark.parametrize("variant", ["standard", "modified", "hessian", "ltsa"])
def test_f20_neighbours_on_a_line_have_a_finite_map(variant):
    line = np.linspace(0, 1, 50)[:, None] * np.ones((1, 4))
    Y = fit("lle", line, variant=variant, n_neighbors=8).embedding_
    assert np.isfinite(Y).all()


@pytest.mark.parametrize(
    ("name", "n_components", "text"),
    [
        ("pca", 6, r"n_components=6 must be at most min\(n_samples, n_features\)=5\. Use n_components=5"),
        ("lle", 8, r"n_components=8 must be at most 7 \(8 distinct rows\)\. Lower n_components or pass more rows"),
        ("laplacian_eigenmaps", 8, r"n_components=8 must be at most 7 \(8 distinct rows\)"),
        ("kernel_pca", 8, r"n_components=8 must be less than n_samples=8"),
        ("classical_mds", 9, r"n_components=9 must be at most n_samples=8"),
    ],
    ids=lambda value: f"f22-{value}" if isinstance(value, str) and value in ESTIMATORS else None,
)
def test_more_components_than_rows_are_refused_with_both_numbers(name, n_components, text):
    with pytest.raises(ValueError, match=text):
        fit(name, NOISE[:8], n_components=n_components)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f22_as_many_components_as_rows_work_or_are_refused_with_the_most_there_can_be(name):
    X = np.random.default_rng(0).normal(size=(8, 40))
    Y = fit(name, X, n_components=7).embedding_
    assert Y.shape == (8, 7)
    assert np.isfinite(Y).all()
    if name not in LIMITED:
        Y = fit(name, X, n_components=9).embedding_
        assert Y.shape == (8, 9)
        assert np.isfinite(Y).all()
        return
    with pytest.raises(ValueError, match="n_components=9 must be ") as caught:
        fit(name, X, n_components=9)
    rule = re.search(r"must be (at most|less than) (?:[\w(), ]*=)?(\d)\b", str(caught.value))
    assert rule is not None, caught.value
    assert int(rule[2]) - (rule[1] == "less than") in (7, 8)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n", [8, 30, 90])
def test_f23_f25_few_rows_of_many_features_have_a_map(name, n):
    X = np.random.default_rng(n).normal(size=(n, 100))
    Y = fit(name, X).embedding_
    assert Y.shape[0] == n
    assert np.isfinite(Y).all()
    assert np.unique(Y, axis=0).shape[0] == n


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f24_two_rows_have_a_map_of_one_dimension(name):
    Y = fit(name, NOISE[:2], n_components=1).embedding_
    assert Y.shape == (2, 1)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f24_two_rows_have_a_map_of_two_dimensions_or_the_most_there_can_be_is_said(name):
    if name in ("gradient_pca", "kernel_pca", "lle", "laplacian_eigenmaps"):
        with pytest.raises(ValueError, match=r"n_components=2 must be (at most 1\b|less than n_samples=2)"):
            fit(name, NOISE[:2], n_components=2)
        return
    Y = fit(name, NOISE[:2], n_components=2).embedding_
    assert Y.shape == (2, 2)
    assert np.isfinite(Y).all()


def test_f35_sizes_beyond_31_bits_are_told_right(monkeypatch):
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: 64e9)
    X = np.zeros((70_000, 1), dtype=np.float32)
    X[:, 0] = np.arange(70_000)  # 4.9e9 pairs: no number of 32 bits
    with pytest.raises(MemoryError, match=r"similarities of 70000 x 70000 pairs take 119 GB"):
        gnomon.TwoKernelPCA().fit(X)


@pytest.fixture
def more_than_31_bits(tmp_path):
    """A table of 2^31 + 2^27 bytes on disk, of which the last rows alone are written: the others are a hole."""
    path, shape = tmp_path / "table.raw", (2**31 + 2**27, 1)
    table = np.memmap(path, dtype=np.uint8, mode="w+", shape=shape)
    if path.stat().st_blocks * 512 > 2**20:
        pytest.skip("this file system has no files with holes")
    table[-5:, 0] = [1, 2, 3, 4, 5]
    return table


def test_f35_rows_beyond_31_bits_are_read_from_their_place(more_than_31_bits):
    stored = as_stored(more_than_31_bits)
    n = stored.n_samples
    assert n == 2**31 + 2**27
    assert stored.read(n - 5, n).ravel().tolist() == [1, 2, 3, 4, 5]
    blocks = stored.blocks()
    assert [blocks[0].start, blocks[-1].stop] == [0, n]
    assert all(left.stop == right.start for left, right in itertools.pairwise(blocks))


def test_f35_a_kernel_finds_rows_beyond_31_bits(tmp_path):
    n, width = 70_000, 31_000  # 2.17e9 numbers
    few = np.random.default_rng(0).normal(size=(8, width)).astype(np.float32)
    large = np.memmap(tmp_path / "table.raw", dtype=np.float32, mode="w+", shape=(n, width))
    if (tmp_path / "table.raw").stat().st_blocks * 512 > 2**20:
        pytest.skip("this file system has no files with holes")
    large[-8:] = few
    near = np.array([[1, 2, 3, 4], [0, 2, 3, 5]], dtype=np.int32)

    def frames(table, first):
        indices = np.full((len(table), 4), 0, dtype=np.int32)
        indices[first : first + 2] = near + first
        rows = np.arange(first, first + 2, dtype=np.int64)
        weights = np.ones(indices.shape, dtype=np.float32)
        return _core.tangent_frames(RowTable.of(table).core, indices, weights, rows, 2, True, 0.9, 1)

    for here, there in zip(frames(few, 0), frames(large, n - 8), strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("n", [50_000, 3_000_000, 5_000_000_000])
def test_f35_forecasts_count_beyond_31_and_63_bits(n):
    needed = gnomon.ClassicalMDS(metric="manhattan").foresee(n, 10).n_bytes
    assert needed == pytest.approx(8.0 * n**2, rel=0.3)
    assert gnomon.UMAP().foresee(n, 10).n_bytes > 15 * 8 * n


@pytest.mark.parametrize("name", ["umap", "tsne", "pca", "isomap"])
def test_f36_a_million_columns_stay_sparse(name, monkeypatch):
    wide = sparse.random_array((200, 1_000_000), density=2e-5, rng=np.random.default_rng(0), format="csr")
    toarray = sparse.csr_array.toarray

    def small_only(self, *arguments, **named):
        assert self.shape[0] * self.shape[1] < 10_000_000, "the table was made dense"
        return toarray(self, *arguments, **named)

    monkeypatch.setattr(sparse.csr_array, "toarray", small_only)
    Y = fit(name, wide).embedding_
    assert np.isfinite(Y).all()
