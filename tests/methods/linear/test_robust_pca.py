"""Robust PCA, with and without a graph: known parts, the conditions of a minimum, an independent implementation."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import gnomon as gn
from gnomon.affinities import neighbor_laplacian
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.linalg import robust_coordinates, robust_derivative
from gnomon.methods.linear.graph_robust_pca import GraphRobustPCA
from gnomon.methods.linear.robust_pca import RobustPCA
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import LowRankSparse
from gnomon.optimizers import ADMM

SPARSITY = 0.1825741858  # 1 / sqrt(30), of the reference values


def _reference_table():
    i, j = np.arange(30)[:, None], np.arange(20)[None]
    low_rank = np.sin(0.3 * i) * np.cos(0.5 * j) + 0.5 * np.cos(0.7 * i + 1) * np.sin(0.2 * j + 0.3)
    return low_rank, np.where((7 * i + 11 * j) % 23 == 0, 5.0 * (-1.0) ** (i + j), 0.0)


def _corrupted(n=60, width=40, rank=2, share=0.05, seed=0):
    rng = np.random.default_rng(seed)
    low_rank = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, width))
    sparse = np.where(rng.random((n, width)) < share, 10.0 * rng.choice([-1.0, 1.0], (n, width)), 0.0)
    return low_rank, sparse


def _path_laplacian(n):
    edges = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])
    return sp.csr_array(sp.diags_array(np.asarray(edges.sum(axis=1)).ravel()) - edges)


def _plain_admm(X, sparsity, laplacian=None, smoothness=0.0, penalty=0.4, n_iter=4000):
    """Run the updates of the paper, corrected, with full decompositions and dense inverses."""
    L, S, M = np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)
    Z1, Z2 = np.zeros_like(X), np.zeros_like(X)
    r1, r2 = penalty, penalty if laplacian is not None else 0.0
    inverse = None if laplacian is None else np.linalg.inv(np.eye(len(X)) + 2.0 * smoothness / r2 * laplacian)
    for _ in range(n_iter):
        target = (r1 * (X - S) + Z1 + r2 * M - Z2) / (r1 + r2)
        left, values, right = np.linalg.svd(target, full_matrices=False)
        L = (left * np.maximum(values - 1.0 / (r1 + r2), 0.0)) @ right
        rest = X - L + Z1 / r1
        S = np.sign(rest) * np.maximum(np.abs(rest) - sparsity / r1, 0.0)
        Z1 = Z1 + r1 * (X - L - S)
        if inverse is not None:
            M = inverse @ (L + Z2 / r2)
            Z2 = Z2 + r2 * (L - M)
    return L, S


def test_the_reference_table_has_the_reference_parts():
    low_rank, sparse = _reference_table()
    fitted = RobustPCA(center=None, sparsity=SPARSITY, tol=1e-9).fit(low_rank + sparse)
    assert fitted.rank_ == 2
    assert np.count_nonzero(np.abs(fitted.sparse_) > 1e-5) == 27
    assert fitted.loss_ == pytest.approx(43.27181148, rel=1e-7)
    expected = [0.07983512454, 0.129517362, 0.1740361509, 0.2116166678, 0.2407606958, 0.2603063547, 0.2694744207]
    np.testing.assert_allclose(fitted.low_rank_[0, :7], expected, atol=1e-6)
    np.testing.assert_allclose(fitted.low_rank_, low_rank, atol=1e-6)


@pytest.mark.parametrize("penalty", ["fixed", "increasing", "balanced"])
def test_the_reference_table_on_a_path_has_the_reference_parts(penalty):
    X = np.add(*_reference_table())
    problem = LowRankSparse(X, SPARSITY, laplacian=_path_laplacian(30), smoothness=0.05)
    solution = ADMM(penalty=penalty, tol=1e-9, max_iter=5000).minimize(problem, X)
    assert problem.loss(solution.embedding) == pytest.approx(44.76089036, rel=1e-6)
    expected = [0.07983512526, 0.1295173624, 0.1740361514, 0.2116166678, 0.2407606954, 0.2603063542]
    np.testing.assert_allclose(solution.embedding[0, :6], expected, atol=1e-5)
    state = solution.state
    assert problem.optimality(state.memory, state.copies, state.multipliers).largest < 1e-5


@pytest.mark.parametrize("center", [None, "median"])
def test_low_rank_and_sparse_parts_are_recovered_exactly(center):
    low_rank, sparse = _corrupted()
    fitted = RobustPCA(center=center, tol=1e-8).fit(low_rank + sparse)
    assert np.linalg.norm(fitted.low_rank_ - low_rank) < 1e-6 * np.linalg.norm(low_rank)
    np.testing.assert_allclose(fitted.low_rank_ + fitted.sparse_, low_rank + sparse, atol=1e-6)
    centred = low_rank - low_rank.mean(axis=0)
    _, _, right = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(fitted.components_.T @ fitted.components_, right[:2].T @ right[:2], atol=1e-6)


def test_missing_entries_are_filled_and_their_errors_are_none():
    low_rank, sparse = _corrupted()
    missing = np.random.default_rng(5).random(low_rank.shape) < 0.1
    fitted = RobustPCA(center=None, tol=1e-8).fit(np.where(missing, np.nan, low_rank + sparse))
    assert np.linalg.norm(fitted.low_rank_ - low_rank) < 1e-6 * np.linalg.norm(low_rank)
    assert (fitted.sparse_[missing] == 0.0).all()
    assert (fitted.solution_.state.multipliers[0][missing] == 0.0).all()  # they are no outliers: nothing pulls there
    assert fitted.sparsity_ == pytest.approx(1.0 / np.sqrt((~missing).mean() * 60))
    np.testing.assert_allclose(
        fitted.transform(np.where(missing, np.nan, low_rank + sparse)), fitted.embedding_, atol=1e-5
    )


@pytest.fixture(scope="module")
def noise_and_its_parts():
    X = np.random.default_rng(1).normal(size=(50, 15))
    return X, *_plain_admm(X, 1.0 / np.sqrt(50), n_iter=2000)


@pytest.mark.parametrize("penalty", ["fixed", "increasing", "balanced"])
def test_on_noise_any_penalty_ends_at_the_minimum(penalty, noise_and_its_parts):
    X, low_rank, sparse = noise_and_its_parts
    fitted = RobustPCA(center=None, penalty=penalty, tol=1e-9, max_iter=5000).fit(X)
    np.testing.assert_allclose(fitted.low_rank_, low_rank, atol=1e-6)
    np.testing.assert_allclose(fitted.sparse_, sparse, atol=1e-6)
    optimality = fitted.convergence_.optimality
    assert optimality.outside <= 1.0 + 1e-7
    assert optimality.largest < 1e-7


def test_the_conditions_of_a_minimum_fail_away_from_it():
    X = np.random.default_rng(1).normal(size=(50, 15))
    with pytest.warns(ConvergenceWarning, match=r"RobustPCA: 4 iterations left a primal residual"):
        early = RobustPCA(center=None, max_iter=4).fit(X)
    assert early.convergence_.optimality.largest > 0.01
    assert not early.convergence_.converged
    assert len(early.convergence_.residuals) == early.n_iter_ == 4


@pytest.mark.parametrize("factor", [2.0**40, 1e-6, -3.0])
@pytest.mark.parametrize("estimator", [RobustPCA(tol=1e-8), GraphRobustPCA(n_neighbors=5, tol=1e-8)])
def test_a_multiple_of_the_table_has_that_multiple_of_the_parts(estimator, factor):
    X = np.random.default_rng(4).normal(size=(40, 10))
    one, other = clone(estimator).fit(X), clone(estimator).fit(factor * X)
    np.testing.assert_allclose(other.low_rank_, factor * one.low_rank_, atol=1e-5 * abs(factor))
    np.testing.assert_allclose(other.sparse_, factor * one.sparse_, atol=1e-5 * abs(factor))


def test_without_smoothness_the_graph_changes_nothing():
    X = np.add(*_corrupted())
    plain = RobustPCA(tol=1e-8).fit(X)
    graph = GraphRobustPCA(smoothness=0.0, tol=1e-8).fit(X)
    np.testing.assert_allclose(graph.low_rank_, plain.low_rank_, atol=1e-6)
    np.testing.assert_allclose(graph.embedding_, plain.embedding_, atol=1e-5)


@pytest.mark.filterwarnings("ignore:GraphRobustPCA. the map keeps:gnomon.exceptions.DataWarning")
def test_on_a_graph_the_parts_are_those_of_a_plain_program_and_lower_the_loss_with_the_graph():
    X = np.random.default_rng(2).normal(size=(24, 10))
    fitted = GraphRobustPCA(n_neighbors=4, smoothness=0.1, center=None, tol=1e-9, max_iter=5000).fit(X)
    laplacian = neighbor_laplacian(compute_neighbors(X, 4)).toarray()
    low_rank, _ = _plain_admm(X, fitted.sparsity_, laplacian, 0.1)
    np.testing.assert_allclose(fitted.low_rank_, low_rank, atol=1e-6)
    problem = LowRankSparse(X, fitted.sparsity_, laplacian=sp.csr_array(laplacian), smoothness=0.1)
    without = RobustPCA(center=None, tol=1e-9, max_iter=5000).fit(X).low_rank_
    assert fitted.loss_ == pytest.approx(problem.loss(low_rank), rel=1e-8)
    assert problem.loss(low_rank) < 0.999 * problem.loss(without)  # as printed, the iteration ends at `without`


def test_the_laplacian_of_neighbours_sums_squared_differences():
    X = np.random.default_rng(3).normal(size=(20, 3))
    graph = compute_neighbors(X, 3)
    edges = {tuple(sorted((i, int(j)))) for i in range(20) for j in graph.indices[i]}
    laplacian = neighbor_laplacian(graph)
    squares = sum(np.sum((X[i] - X[j]) ** 2) for i, j in edges)
    assert np.vdot(X, laplacian @ X) == pytest.approx(squares / (2 * len(edges) / 20))
    assert laplacian.diagonal().mean() == pytest.approx(1.0)


def test_new_rows_are_placed_by_themselves_and_outliers_do_not_move_them():
    low_rank, sparse = _corrupted(90)
    fitted = RobustPCA(tol=1e-8).fit((low_rank + sparse)[:60])
    np.testing.assert_allclose(fitted.transform((low_rank + sparse)[:60]), fitted.embedding_, atol=1e-5)
    clean = (low_rank[60:] - fitted.mean_) @ fitted.components_.T
    placed = fitted.transform((low_rank + sparse)[60:])
    plain = (low_rank + sparse)[60:] @ fitted.components_.T - fitted.mean_ @ fitted.components_.T
    assert np.abs(placed - clean).max() < 0.2 * np.abs(plain - clean).max()
    np.testing.assert_allclose(fitted.transform((low_rank + sparse)[60:61]), placed[:1], atol=1e-9)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.embedding_), fitted.low_rank_[:60], atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_has_the_same_bytes_alone_and_in_any_batch(seed):
    X = np.add(*_corrupted(90, 10, seed=seed)) + np.random.default_rng(seed).normal(size=(90, 10))
    fitted = RobustPCA(tol=1e-3).fit(X[:60])
    together = fitted.transform(X)
    assert np.concatenate([fitted.transform(row[None]) for row in X]).tobytes() == together.tobytes()
    assert fitted.transform(X[7:30]).tobytes() == together[7:30].tobytes()
    assert np.abs(together[:60] - fitted.embedding_).max() < 0.05 * fitted.embedding_.std()


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12])
def test_fitted_rows_get_their_places_beside_errors_of_any_size(size):
    low_rank, sparse = _corrupted()
    X = low_rank + size * sparse
    fitted = RobustPCA(tol=1e-6, random_state=0).fit(X)
    assert np.abs(fitted.transform(X) - fitted.embedding_).max() < 0.002 * fitted.embedding_.std()
    np.testing.assert_allclose(fitted.transform(low_rank + 1e16 * sparse), fitted.transform(X), atol=1e-5)


def test_an_error_beyond_reach_pulls_as_any_larger_one_does():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    X, spread = rng.normal(size=(20, 12)), np.array([5.0, 2.0, 0.5])
    wrong = np.where(rng.random(X.shape) < 0.1, rng.choice([-1.0, 1.0], X.shape), 0.0)
    near, far = (robust_coordinates(X + size * wrong, directions, spread, 0.7, tol=1e-10) for size in (1e2, 1e14))
    np.testing.assert_allclose(far, near, atol=1e-8)
    slopes = [robust_derivative(X + size * wrong, directions, spread, 0.7) for size in (1e2, 1e14)]
    np.testing.assert_allclose(slopes[1], slopes[0], atol=1e-8)


def test_coordinates_are_the_minimum_of_their_loss():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    x, spread = rng.normal(size=(1, 12)), np.array([5.0, 2.0, 0.5])

    def loss(a):
        return 0.5 * np.sum(a**2 / spread) + 0.7 * np.abs(x - a @ directions).sum()

    found = robust_coordinates(x, directions, spread, 0.7, tol=1e-10)
    least = loss(found)
    assert all(least <= loss(found + step * rng.normal(size=(1, 3))) + 1e-9 for step in (1e-1, 1e-3, 1e-5))


@pytest.mark.parametrize("estimator", [RobustPCA(random_state=0), GraphRobustPCA(random_state=0, tol=1e-3)])
def test_threads_change_no_bit_of_the_map(estimator, monkeypatch):
    monkeypatch.setattr("gnomon.linalg.proximal._SMALL", 0.0)  # the large way
    monkeypatch.setattr("gnomon.optimizers.admm._ENTRIES", 1000)  # and have several blocks
    X = np.add(*_corrupted(120, 90))
    fits = [clone(estimator).set_params(n_jobs=n_jobs).fit(X) for n_jobs in (1, 2, 3)]
    assert "svd" not in {fit.solution_.state.memory.solver for fit in fits}
    assert len({fit.embedding_.tobytes() for fit in fits}) == 1
    assert len({fit.sparse_.tobytes() for fit in fits}) == 1


def test_large_and_small_tables_take_ways_that_agree(monkeypatch):
    X = np.add(*_corrupted(120, 90))
    full = RobustPCA(tol=1e-8, random_state=0).fit(X)
    monkeypatch.setattr("gnomon.linalg.proximal._SMALL", 0.0)
    partial = RobustPCA(tol=1e-8, random_state=0).fit(X)
    assert (full.solution_.state.memory.solver, partial.solution_.state.memory.solver) == ("gram", "subspace")
    np.testing.assert_allclose(partial.low_rank_, full.low_rank_, atol=1e-6)


def test_equal_rows_are_their_centre():
    with pytest.warns(DataWarning, match=r"RobustPCA: 8 rows hold 1 distinct row;"):
        fitted = RobustPCA().fit(np.full((8, 3), 2.5))
    np.testing.assert_array_equal(fitted.embedding_, np.zeros((8, 2)))
    np.testing.assert_array_equal(fitted.transform([[1.0, 7.0, 2.0]]), np.zeros((1, 2)))
    assert fitted.convergence_.converged


def test_what_cannot_be_taken_apart_is_refused():
    X = np.add(*_corrupted(20, 6))
    with pytest.raises(ValueError, match=r"a number in each row \(1 rows hold only NaN, the first is row 3\)"):
        RobustPCA().fit(np.where(np.arange(20)[:, None] == 3, np.nan, X))
    with pytest.raises(ValueError, match=r"a number in each column"):
        RobustPCA().fit(np.where(np.arange(6) == 3, np.nan, X))
    with pytest.raises(ValueError, match=r"X must be finite or NaN \(it contains \+infinity \(20\)"):
        RobustPCA().fit(np.where(np.arange(6) == 3, np.inf, X))
    with pytest.raises(ValueError, match=r"NaN"):
        GraphRobustPCA().fit(np.where(np.arange(6) == 3, np.nan, X))
    with pytest.raises(ValueError, match=r"n_components=7 must be at most min\(n_samples, n_features\)=6"):
        RobustPCA(7).fit(X)
    with pytest.raises(ValueError, match=r"metric='precomputed' must be a metric of rows"):
        GraphRobustPCA(metric="precomputed").fit(np.zeros((5, 5)))


def test_a_callback_ends_the_iteration_with_what_was_reached():
    X = np.add(*_corrupted())
    fitted = RobustPCA(callback=lambda progress: progress.stage == "decomposition" and progress.done == 7).fit(X)
    assert fitted.n_iter_ == 7
    assert np.isfinite(fitted.embedding_).all()


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_errors_of_any_size_leave_the_same_components(size):
    low_rank, sparse = _corrupted()
    noisy = low_rank + 0.05 * np.random.default_rng(7).normal(size=low_rank.shape)
    one, other = (RobustPCA(tol=1e-6).fit(noisy + factor * sparse) for factor in (10.0, size))
    np.testing.assert_allclose(other.low_rank_, one.low_rank_, atol=5e-3)
    np.testing.assert_allclose(other.low_rank_ + other.sparse_, noisy + size * sparse, rtol=1e-12, atol=0.02)
    assert other.loss_ == pytest.approx(one.loss_ + one.sparsity_ * (size - 10.0) * np.abs(sparse).sum(), rel=1e-6)
    assert other.convergence_.optimality.outside < 1.01


def test_large_entries_of_low_rank_are_no_errors_and_are_not_cut():
    rows = np.where(np.arange(60) % 3 == 0, 1e5, 1.0)
    X = rows[:, None] * np.random.default_rng(3).normal(1.0, 0.01, size=(1, 40))
    problem = LowRankSparse(X, 1.0 / np.sqrt(60))
    cut = problem.with_gross_entries_cut()
    assert cut is not problem
    assert not problem.has_minimum_of(cut, np.clip(X, None, cut.X.max(axis=0)))
    fitted = RobustPCA(center=None, tol=1e-8).fit(X)
    np.testing.assert_allclose(fitted.low_rank_, X, rtol=1e-5)


def test_a_table_without_gross_entries_is_its_own_cut():
    problem = LowRankSparse(np.add(*_corrupted()), 0.2)
    assert problem.with_gross_entries_cut() is problem


@pytest.mark.parametrize("estimator", [RobustPCA(), GraphRobustPCA(n_neighbors=5)])
@pytest.mark.parametrize("seed", range(2))
def test_a_map_of_little_of_the_table_is_warned_of_and_a_larger_sparsity_keeps_it(estimator, seed):
    X = np.random.default_rng(seed).normal(size=(80, 4))
    with pytest.warns(DataWarning, match=r"PCA: the map keeps .* Raise sparsity, for instance to"):
        little = clone(estimator).fit(X)
    assert little.variance_kept_ < 0.1
    assert little.variance_kept_ == pytest.approx(little.embedding_.var(axis=0).sum() / _leading_variance(X), rel=0.2)
    more = clone(estimator).set_params(sparsity=2.0 * little.sparsity_).fit(X)
    assert more.variance_kept_ > 0.8


def test_a_map_of_one_point_is_called_one():
    counts = (np.random.default_rng(0).random((120, 12)) < 0.2).astype(float)
    with pytest.warns(DataWarning, match=r"RobustPCA: the map is a single point: nearly all of X went to the sparse"):
        fitted = RobustPCA().fit(counts)
    assert (fitted.rank_, fitted.variance_kept_, np.ptp(fitted.embedding_)) == (0, 0.0, 0.0)
    with pytest.warns(DataWarning):
        notes = gn.map(counts, method=RobustPCA()).notes
    assert any("the map is a single point" in note for note in notes)


@pytest.mark.parametrize("estimator", [RobustPCA(), GraphRobustPCA(n_neighbors=5)])
def test_planted_parts_keep_their_variance_however_large_the_errors_are(estimator):
    low_rank, sparse = _corrupted()
    noise = 0.1 * np.random.default_rng(1).normal(size=low_rank.shape)
    kept = [clone(estimator).fit(low_rank + noise + size * sparse).variance_kept_ for size in (0.0, 1.0, 1e5)]
    assert min(kept) > 0.7


def _leading_variance(X, n=2):
    return np.sort(np.linalg.eigvalsh(np.cov(X.T, ddof=0)))[-n:].sum()
