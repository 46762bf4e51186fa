"""Principal components by blocks: those of the table in memory, whoever works."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import Backwards, SmallBlocks
from tests.threads import on_threads

import gnomon
from gnomon.linalg import principal_components
from gnomon.scale import principal as by_blocks
from gnomon.scale import stored_principal_components

SOLVERS = ("covariance", "svd", "randomized")


def _assert_alike(found, wanted, *, atol, rtol):
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.components, wanted.components, atol=atol)
    np.testing.assert_allclose(found.explained_variance, wanted.explained_variance, rtol=rtol)
    np.testing.assert_allclose(found.total_variance, wanted.total_variance, rtol=1e-6)
    np.testing.assert_allclose(found.singular_values, wanted.singular_values, rtol=rtol)
    assert found.n_samples == wanted.n_samples


@pytest.mark.parametrize("solver", ["covariance", "svd"])
def test_they_are_those_of_the_table_in_memory(digits, solver):
    X, _ = digits
    found = stored_principal_components(SmallBlocks(X, 128), 10, solver=solver)
    _assert_alike(found, principal_components(X, 10), atol=1e-5, rtol=1e-6)
    assert found.solver == solver


def test_a_randomized_range_holds_the_leading_ones(digits):
    X, _ = digits
    found = stored_principal_components(SmallBlocks(X, 128), 8, solver="randomized")
    _assert_alike(found, principal_components(X, 8), atol=2e-3, rtol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_bit_depends_on_who_works_nor_on_threads(solver):
    X = (np.random.default_rng(0).normal(size=(3000, 12)) * np.arange(1, 13)).astype(np.float32)
    table = SmallBlocks(X, 170)
    one = stored_principal_components(table, 3, solver=solver)
    with gnomon.running(executor=Backwards()):
        found = [stored_principal_components(table, 3, solver=solver)]
    found += [on_threads(n, stored_principal_components)(table, 3, solver=solver) for n in (1, 2)]
    for other in found:
        assert other.components.tobytes() == one.components.tobytes()
        assert other.singular_values.tobytes() == one.singular_values.tobytes()


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_far_from_zero_lose_no_digits(solver):
    X = np.random.default_rng(1).normal(size=(2000, 6)) * [10, 5, 3, 2, 1, 1]
    wanted = principal_components(X, 3)
    found = stored_principal_components(SmallBlocks(X + 1e8, 150), 3, solver=solver)
    np.testing.assert_allclose(found.components, wanted.components, atol=1e-6)
    np.testing.assert_allclose(found.explained_variance, wanted.explained_variance, rtol=1e-6)


def _of_known_spectrum(values, n=1200):
    rng = np.random.default_rng(2)
    left, _ = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, len(values)))]))
    right, _ = np.linalg.qr(rng.normal(size=(len(values), len(values))))
    return (left[:, 1:] * values) @ right.T


def test_triangular_factors_keep_what_a_scatter_matrix_loses():
    """As the documentation says: below 1e-8 of the largest singular value a scatter matrix knows nothing."""
    wanted = np.array([1.0, 1e-3, 1e-6, 1e-11])
    table = SmallBlocks(_of_known_spectrum(wanted), 200)
    by_factor = stored_principal_components(table, 4, solver="svd").singular_values
    by_scatter = stored_principal_components(table, 4, solver="covariance").singular_values
    np.testing.assert_allclose(by_factor, wanted, rtol=1e-3)
    np.testing.assert_allclose(by_scatter[:3], wanted[:3], rtol=1e-3)
    assert not 1e-12 < by_scatter[3] < 1e-10


@pytest.mark.parametrize("solver", ["covariance", "randomized"])
def test_sparse_tables(solver):
    X = sp.random_array((900, 60), density=0.1, rng=np.random.default_rng(3), format="csr")
    X = sp.csr_array(X @ sp.diags_array(0.8 ** np.arange(60)))
    found = stored_principal_components(SmallBlocks(X, 128), 4, solver=solver)
    wanted = principal_components(X.toarray(), 4)
    atol = 1e-8 if solver == "covariance" else 1e-3
    _assert_alike(found, wanted, atol=atol, rtol=1e-5)
    with pytest.raises(ValueError, match=r"solver='svd' must be .* for sparse X"):
        stored_principal_components(SmallBlocks(X, 128), 4, solver="svd")


def test_a_share_of_the_variance_and_its_refusal():
    X = np.random.default_rng(4).normal(size=(600, 5)) * [9, 3, 1, 0.1, 0.1]
    for solver in ("covariance", "svd"):
        assert len(stored_principal_components(SmallBlocks(X), 0.95, solver=solver).components) == 2
    with pytest.raises(ValueError, match=r"n_components=0\.95 must be an integer"):
        stored_principal_components(SmallBlocks(X), 0.95, solver="randomized")
    with pytest.raises(ValueError, match="n_components=6 must be at most 5"):
        stored_principal_components(SmallBlocks(X), 6)
    with pytest.raises(ValueError, match="solver='gram' must be"):
        stored_principal_components(SmallBlocks(X), 2, solver="gram")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_constant_table_has_no_variance(solver):
    found = stored_principal_components(SmallBlocks(np.full((500, 3), 0.1)), 2, solver=solver)
    assert found.singular_values.tolist() == [0.0, 0.0]
    assert found.total_variance == 0.0
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(2), atol=1e-12)


def test_wide_tables_are_solved_by_a_random_range(monkeypatch):
    X = np.random.default_rng(5).normal(size=(400, 30))
    assert stored_principal_components(SmallBlocks(X), 2).solver == "covariance"
    monkeypatch.setattr(by_blocks, "WIDEST_DENSE", 29)
    assert stored_principal_components(SmallBlocks(X), 2).solver == "randomized"


def test_blocks_are_joined_before_they_are_sent():
    """What is merged stays small beside what is read: 8 rows for each row of a matrix."""
    table = SmallBlocks(np.zeros((1000, 50)), 100)
    assert [len(group) for group in by_blocks._groups(table, 50)] == [4, 4, 2]
    assert [len(group) for group in by_blocks._groups(table, 5)] == [1] * 10


def test_matrices_that_do_not_fit_are_refused_before_the_start():
    table = SmallBlocks(np.broadcast_to(np.float32(0), (5000, 4000)), 1000)
    with gnomon.running(memory=1e8), pytest.raises(MemoryError, match="matrices of 4000 x 4000 of some blocks take"):
        stored_principal_components(table, 2)


_BOUND = """
import resource, sys
import numpy as np
import gnomon
X = np.lib.format.open_memmap(sys.argv[1], mode="r")
gnomon.PCA(2).fit(X[:300_000])  # what is loaded on first use
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gnomon.PCA(5).fit(X).transform(X[:1000])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
def test_a_million_rows_take_the_memory_of_some_blocks(tmp_path):
    written = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=(1_000_000, 20))
    for start in range(0, 1_000_000, 100_000):
        written[start : start + 100_000] = np.random.default_rng(start).normal(size=(100_000, 20))
    written.flush()
    command = [sys.executable, "-c", _BOUND, str(tmp_path / "x.npy")]
    grown = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert grown < written.nbytes + 64e6  # pages of the file that the system keeps, and some blocks
