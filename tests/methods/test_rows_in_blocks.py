"""Estimators and maps answer stored tables as they answer tables in memory."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import Backwards, SmallBlocks

import gnomon as gn
from gnomon.data.stored import ArrayTable
from gnomon.exceptions import DataWarning
from gnomon.methods.registry import METHODS


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(450, 6)) + 6.0 * rng.integers(0, 2, (450, 1))).astype(np.float32)


@pytest.mark.parametrize(
    "estimator", [gn.PCA(2), gn.UMAP(max_iter=20, random_state=0), gn.LandmarkMDS(2), gn.RandomProjection()]
)
@pytest.mark.parametrize("name", ["transform", "place"])
def test_rows_in_blocks_get_the_same_bytes(table, estimator, name):
    fitted = estimator.fit(table[:200])
    if not hasattr(fitted, name):
        pytest.skip(f"no {name}")
    ask = getattr(fitted, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        wanted = ask(table)
        found = ask(SmallBlocks(table, 64))
        with gn.running(executor=Backwards()):
            again = ask(SmallBlocks(table, 120))
    assert found.dtype == wanted.dtype
    assert found.tobytes() == again.tobytes() == wanted.tobytes()
    assert ask(SmallBlocks(table[:0])).shape == (0, 2)
    assert ask(SmallBlocks(table[:1])).tobytes() == wanted[:1].tobytes()


def test_a_map_and_its_atlas(table):
    result = gn.map(table[:200], method="umap", scale="standard", random_state=0)
    stored = SmallBlocks(table[:300] + np.float32(0.01), 110)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for ask in (result.transform, result.place, gn.AffineAtlas(table[:200], result.embedding).transform):
            assert ask(stored).tobytes() == ask(stored.read(0, 300)).tobytes()


def test_sparse_rows():
    X = sp.random_array((400, 12), density=0.4, rng=np.random.default_rng(1), format="csr")
    fitted = gn.PCA(3).fit(X)
    assert fitted.transform(SmallBlocks(X, 90)).tobytes() == fitted.transform(X).tobytes()


def test_likelihoods(table):
    fitted = gn.PCA(3).fit(table)
    assert np.array_equal(fitted.score_samples(SmallBlocks(table)), fitted.score_samples(table))
    assert fitted.score(SmallBlocks(table)) == fitted.score(table)


def test_blocks_warn_once_together(table):
    fitted = gn.UMAP(max_iter=20, random_state=0).fit(table[:200])
    far = table + np.float32(50.0)
    with pytest.warns(DataWarning) as told:
        fitted.transform(SmallBlocks(far, 100))
    assert len(told) == 1
    assert "AffineAtlas: 100 of 100 rows lie out of range" in str(told[0].message)
    assert "These are rows 0 to 99; 4 other blocks warn alike." in str(told[0].message)
    assert told[0].filename == __file__
    with pytest.warns(DataWarning, match=r"450 of 450 rows lie .* See novelty\(\)\.$"):
        fitted.transform(SmallBlocks(far, 1000))


def test_errors_are_those_of_the_table(table):
    fitted = gn.PCA(2).fit(table)
    with pytest.raises(ValueError, match="X has 5 features, but PCA is expecting 6"):
        fitted.transform(SmallBlocks(table[:, :5]))
    bad = table.copy()
    bad[333, 0] = np.inf
    with pytest.raises(ValueError, match="PCA: row 333 of X must be finite"):
        fitted.transform(SmallBlocks(bad))
    with gn.running(memory=1000.0), pytest.raises(MemoryError, match="answers of 450 x 2 numbers take"):
        fitted.transform(SmallBlocks(table))
    distances = sp.csr_array(np.abs(table[:, :1] - table[:, 0]))
    precomputed = gn.MDS(metric="precomputed").fit(distances.toarray()[:50, :50])
    with pytest.raises(ValueError, match="distances in blocks must be dense"):
        precomputed.place(SmallBlocks(distances[:, :50]))


def test_names_of_columns_are_compared(table):
    pandas = pytest.importorskip("pandas")
    fitted = gn.PCA(2).fit(pandas.DataFrame(table, columns=list("abcdef")))
    assert fitted.transform(SmallBlocks(table, names=list("abcdef"))).shape == (450, 2)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(SmallBlocks(table, names=list("abcdeg")))


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", "randomized"])
def test_pca_is_fitted_by_blocks(digits, solver):
    X, _ = digits
    stored = SmallBlocks(X, 300, names=[f"p{i}" for i in range(64)])
    wanted, found = gn.PCA(5).fit(X), gn.PCA(5, solver=solver, random_state=0).fit(X).fit(stored)
    rough = solver == "randomized"
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-3 if rough else 1e-5)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-3 if rough else 1e-6)
    np.testing.assert_allclose(found.mean_, wanted.mean_, atol=1e-9)
    assert (found.n_samples_, found.n_components_, found.n_features_in_) == (1797, 5, 64)
    assert found.solver_ == ("covariance" if solver == "auto" else solver)
    assert found.feature_names_in_[3] == "p3"
    assert not hasattr(found, "embedding_")
    scores = gn.PCA(5, solver=solver, random_state=0).fit_transform(stored)
    assert scores.tobytes() == found.transform(X).tobytes()


def test_what_pca_reads_whole(digits):
    """Two blocks, weights, and the solver of a matrix of all rows."""
    X, _ = digits
    wanted = gn.PCA(3).fit(X)
    assert gn.PCA(3).fit(SmallBlocks(X, 900)).embedding_.tobytes() == wanted.embedding_.tobytes()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 1797)
    heavy = gn.PCA(3).fit(X, sample_weight=weights)
    assert np.array_equal(gn.PCA(3).fit(SmallBlocks(X, 300), sample_weight=weights).components_, heavy.components_)
    few = X[:500]
    gram = gn.PCA(3, solver="gram").fit(SmallBlocks(few, 100))
    assert np.array_equal(gram.embedding_, gn.PCA(3, solver="gram").fit(few).embedding_)


def test_partial_fit_begins_anew_after_a_stored_table(digits):
    X, _ = digits
    fitted = gn.PCA(3).fit(SmallBlocks(X, 300))
    with pytest.warns(DataWarning, match="begins anew"):
        fitted.partial_fit(X[:500])
    assert fitted.n_samples_ == 500


def test_random_projections_need_the_width_alone(table):
    wanted, found = gn.RandomProjection(random_state=0).fit(table), gn.RandomProjection(random_state=0)
    assert found.fit_transform(SmallBlocks(table, 100)).tobytes() == wanted.embedding_.tobytes()
    assert not hasattr(found, "embedding_")
    assert np.array_equal(found.get_feature_names_out(), wanted.get_feature_names_out())
    assert found.transform(table[:0]).shape == (0, 2)


@pytest.mark.parametrize("estimator", [gn.PCA(2), gn.RandomProjection(variant="sparse", random_state=0)])
def test_what_was_fitted_in_blocks_is_saved_and_read(estimator, table, tmp_path):
    fitted = estimator.fit(SmallBlocks(table))
    fitted.save(tmp_path / "fitted.npz")
    again = gn.load(tmp_path / "fitted.npz")
    assert again.transform(table).tobytes() == fitted.transform(table).tobytes()
    fitted.components_ = fitted.components_[:, :5]
    fitted.save(tmp_path / "damaged.npz")
    with pytest.raises(ValueError, match="directions of other features"):
        gn.load(tmp_path / "damaged.npz")


def test_a_map_that_does_not_fit_is_refused_before_the_fit(table, monkeypatch):
    estimator = gn.PCA(3)
    monkeypatch.setattr(type(estimator), "fit", None)
    with gn.running(memory=4000.0), pytest.raises(MemoryError, match=r"PCA: X of 450 rows .*Fit first, then transform"):
        estimator.fit_transform(SmallBlocks(table))


def test_memory_maps_of_some_blocks_are_read_in_blocks(tmp_path, monkeypatch):
    X = np.random.default_rng(3).normal(size=(300_000, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    fitted = gn.PCA(2).fit(mapped)
    assert not hasattr(fitted, "embedding_")
    wanted = fitted.transform(X)
    asked = []
    read = ArrayTable.read
    monkeypatch.setattr(ArrayTable, "read", lambda self, *rows: asked.append(rows) or read(self, *rows))
    assert fitted.transform(mapped).tobytes() == wanted.tobytes()
    assert len(asked) == 4  # one row to begin with, and three blocks
    assert hasattr(gn.PCA(2).fit(mapped[:1000]), "embedding_")
    asked.clear()
    assert fitted.transform(mapped[:1000]).tobytes() == wanted[:1000].tobytes()
    assert asked == []


def test_every_method_that_places_rows_takes_tables_in_blocks():
    for card in METHODS:
        method = getattr(gn, card.estimator)
        for name in ("transform", "place"):
            assert not hasattr(method, name) or "by_blocks" in _decorators(method, name), (card.estimator, name)


def _decorators(method, name):
    """Return the qualified names of the wrappers around a method of a class, the classes above it included."""
    found = []
    for known in method.__mro__:
        one = vars(known).get(name)
        while one is not None:
            found.append(one.__code__.co_qualname.split(".")[0])
            one = getattr(one, "__wrapped__", None)
    return found


def test_missing_values_of_memory_maps_are_still_let_through(tmp_path, monkeypatch):
    X = np.random.default_rng(4).normal(size=(60, 3))
    X[5, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    fitted = gn.RobustPCA(1, sparsity=0.3).fit(X)
    monkeypatch.setattr(ArrayTable, "blocks", lambda self: [None, None])
    found = fitted.transform(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert np.array_equal(found, fitted.transform(X))
