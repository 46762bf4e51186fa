"""What a fit will take is told before it begins, and a table too large for it is refused at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import gnomon
from gnomon.exceptions import GnomonWarning

WIDE_MAP = {"n_components": 4}
# What goes through or keeps all pairs of rows, with the figure that is to be told and the way out.
OF_ALL_PAIRS = {
    "isomap": (gnomon.Isomap(n_landmarks=None), MemoryError, r"take 160 GB\)\. Use n_landmarks=1000"),
    "mds": (gnomon.MDS(), MemoryError, r"take 323 GB\)\. Use LandmarkMDS"),
    "mds-ordinal": (gnomon.MDS(variant="ordinal"), MemoryError, r"GB\)\. Use LandmarkMDS"),
    "mds-weights": (gnomon.MDS(weights="inverse"), MemoryError, r"GB\)\. Use LandmarkMDS"),
    "classical_mds": (gnomon.ClassicalMDS(metric="manhattan"), MemoryError, r"take 322 GB\)\. Use LandmarkMDS"),
    "phate": (gnomon.PHATE(n_landmarks=None), MemoryError, r"take [\d,]+ GB\)\. Use n_landmarks=2000"),
    "sketch_map": (gnomon.SketchMap(n_landmarks=200_000), MemoryError, r"GB\)\. Use n_landmarks=1000"),
    "kernel_pca": (
        gnomon.KernelPCA(approximation=None),
        ValueError,
        r"hours of one core .* Use approximation='nystrom'",
    ),
    "kernel_pca-rank": (gnomon.KernelPCA(rank=100_000), MemoryError, r"take 480 GB\)\. Lower rank"),
    "kernel_pca-all": (gnomon.KernelPCA(60_000, kernel="linear"), MemoryError, r"GB\)"),
    "gradient_pca": (gnomon.GradientPCA(kernel="gaussian"), ValueError, r"hours of one core .* Use approximation="),
    "two_kernel_pca": (gnomon.TwoKernelPCA(), MemoryError, r"take 963 GB\)\. Use KernelPCA"),
    "lle": (gnomon.LocallyLinearEmbedding(solver="dense"), MemoryError, r"take 2,0\d\d GB\)\. Use solver='descent'"),
    "sne": (
        gnomon.SNE(),
        ValueError,
        r"at most 3 hours .* about 19 hours\)\. Use SymmetricSNE",
    ),
    "symmetric_sne": (gnomon.SymmetricSNE(evaluation="exact"), ValueError, "without exact sums"),
    "tsne": (gnomon.TSNE(evaluation="exact"), ValueError, "without exact sums"),
    "tsne-wide": (gnomon.TSNE(**WIDE_MAP), ValueError, "Use at most 3 components"),
    "two_kernel_lle": (gnomon.TwoKernelLLE(evaluation="exact"), ValueError, "without exact sums"),
}
# The defaults that need little for 200,000 rows, and what they are refused for where there is even less.
WITHIN_A_FEW_GB = {
    "isomap": (gnomon.Isomap(), 2.1),
    "kernel_pca": (gnomon.KernelPCA(), 2.8),
    "lle": (gnomon.LocallyLinearEmbedding(), 4.9),
    "lle-descent": (gnomon.LocallyLinearEmbedding(solver="descent"), 2.3),
    "phate": (gnomon.PHATE(), 0.9),
    "sketch_map": (gnomon.SketchMap(), 0.1),
}
SMALL = {
    "isomap": gnomon.Isomap(),
    "isomap-landmarks": gnomon.Isomap(n_landmarks=50),
    "mds": gnomon.MDS(max_iter=5),
    "mds-manhattan": gnomon.MDS(max_iter=5, metric="manhattan"),
    "mds-ordinal": gnomon.MDS(max_iter=5, variant="ordinal"),
    "mds-weights": gnomon.MDS(max_iter=5, weights="inverse"),
    "classical_mds": gnomon.ClassicalMDS(metric="manhattan"),
    "phate": gnomon.PHATE(max_iter=5),
    "phate-landmarks": gnomon.PHATE(n_landmarks=50, max_iter=5),
    "sketch_map": gnomon.SketchMap(max_iter=5),
    "kernel_pca": gnomon.KernelPCA(),
    "kernel_pca-nystrom": gnomon.KernelPCA(approximation="nystrom", rank=50),
    "gradient_pca": gnomon.GradientPCA(kernel="gaussian", max_iter=50, tol=1e-2),
    "two_kernel_pca": gnomon.TwoKernelPCA(max_iter=5),
    "lle": gnomon.LocallyLinearEmbedding(),
    "lle-dense": gnomon.LocallyLinearEmbedding(solver="dense"),
    "sne": gnomon.SNE(max_iter=5),
    "tsne-exact": gnomon.TSNE(max_iter=5, evaluation="exact"),
}


@pytest.fixture(scope="module")
def many_rows():
    return np.random.default_rng(0).normal(size=(200_000, 2)).astype(np.float32)


@pytest.fixture
def memory(monkeypatch):
    """Return a function that sets the bytes that can still be taken."""
    return lambda n_bytes: monkeypatch.setattr("gnomon._memory.available_memory", lambda: float(n_bytes))


@pytest.mark.parametrize("name", OF_ALL_PAIRS)
def test_f84_two_hundred_thousand_rows_are_refused_before_any_work(name, memory, many_rows, monkeypatch):
    estimator, error, text = OF_ALL_PAIRS[name]
    memory(64e9)
    monkeypatch.setattr("gnomon.neighbors.compute_neighbors", lambda *_, **__: pytest.fail("neighbours were sought"))
    began = time.perf_counter()
    with pytest.raises(error, match=rf"{type(estimator).__name__}: X of 200,000 rows must be one .*{text}") as caught:
        clone(estimator).fit(many_rows)
    assert time.perf_counter() - began < 3.0
    assert error is not MemoryError or "fits in memory, 64 GB" in str(caught.value)


@pytest.mark.parametrize("name", WITHIN_A_FEW_GB)
def test_f84_defaults_that_take_landmarks_or_a_factor_are_measured_by_these(name, memory, many_rows):
    estimator, most = WITHIN_A_FEW_GB[name]
    forecasts = []

    class StopError(Exception):
        pass

    def take(forecast, n_samples):
        forecasts.append(forecast)
        raise StopError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gnomon.methods.forecast.Forecast.check", take)
        with pytest.raises(StopError):
            clone(estimator).fit(many_rows)
    assert 0.01e9 < forecasts[0].n_bytes < 1e9 * most
    assert forecasts[0].seconds < 1e4
    memory(0.9 * forecasts[0].n_bytes)
    with pytest.raises(MemoryError, match="fewer rows"):
        clone(estimator).fit(many_rows)


@pytest.mark.parametrize("name", SMALL)
def test_f84_a_fit_runs_with_the_memory_forecast_and_is_refused_with_less(name, memory, monkeypatch):
    from gnomon.methods import forecast

    X = np.random.default_rng(0).normal(size=(120, 4))
    needed = []
    given = forecast.require_memory
    monkeypatch.setattr(
        forecast,
        "require_memory",
        lambda what, n_bytes, **texts: (needed.append(n_bytes), given(what, n_bytes, **texts)),
    )
    memory(0)
    with pytest.raises(MemoryError, match=r"must be one whose computation fits in memory, 0 GB"):
        clone(SMALL[name]).fit(X)
    memory(0.99 * needed[0])
    with pytest.raises(MemoryError):
        clone(SMALL[name]).fit(X)
    memory(1.01 * needed[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        assert np.isfinite(clone(SMALL[name]).fit(X).embedding_).all()


def test_f84_equal_rows_count_once(memory):
    memory(1e9)
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 2)), 1000, axis=0)
    with pytest.warns(GnomonWarning, match="100 distinct rows"):
        assert gnomon.Isomap(n_landmarks=None).fit(X).embedding_.shape == (100_000, 2)


GROWING = {
    "umap": gnomon.UMAP(max_iter=5),
    "tsne": gnomon.TSNE(max_iter=5),
    "pca": gnomon.PCA(),
    "classical_mds": gnomon.ClassicalMDS(),  # by principal components
    "laplacian_eigenmaps": gnomon.LaplacianEigenmaps(),
    "pacmap": gnomon.PaCMAP(max_iter=5),
    "trimap": gnomon.TriMap(max_iter=5),
}


@pytest.mark.parametrize("name", GROWING)
def test_f84_methods_that_grow_with_the_table_alone_obey_a_budget_too(name, memory):
    X = np.random.default_rng(0).normal(size=(150, 3))
    needed = GROWING[name].foresee(150, 3).n_bytes
    memory(0.99 * needed)
    with pytest.raises(MemoryError, match=r"X of 150 rows must be one whose computation fits in memory, .* MB \("):
        clone(GROWING[name]).fit(X)
    memory(1.01 * needed)
    assert clone(GROWING[name]).fit(X).embedding_.shape == (150, 2)


def test_the_time_of_eigenmaps_of_sparse_tables_is_told_as_less_certain():
    """Of random rows in many columns one of few numbers is near all others, which the shape does not tell."""
    for method, factor in ((gnomon.LaplacianEigenmaps(), 4.0), (gnomon.UMAP(), 2.0)):
        least, most = (found := method.foresee(2000, 50.0, n_columns=1000, n_shared=2.5)).between
        assert (found.seconds / least, most / found.seconds) == pytest.approx((factor, factor))
        assert method.foresee(2000, 50.0).spread == 2.0


_MEASURE = """
import sys, warnings
import numpy as np
import gnomon
from gnomon.methods import forecast
warnings.simplefilter("ignore")
def status(name):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
X = np.random.default_rng(0).normal(size=(int(sys.argv[2]), 10)).astype(np.float32)
if "precomputed" in sys.argv[1]:
    from scipy.spatial.distance import cdist
    X = cdist(X, X)
make = lambda: eval("gnomon." + sys.argv[1])
make().fit(X[:60, :60].copy())
said = []
given = forecast.require_memory
forecast.require_memory = lambda what, n_bytes, **texts: said.append(n_bytes)
before = status("VmRSS")
make().fit(X)
print(status("VmHWM") - before, said[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
@pytest.mark.parametrize(
    "code",
    [
        "MDS(max_iter=3, random_state=0)",
        "MDS(max_iter=3, metric='manhattan', random_state=0)",
        "MDS(max_iter=3, metric='precomputed', random_state=0)",
        "MDS(max_iter=3, weights='inverse', random_state=0)",
        "MDS(max_iter=1, variant='ordinal', random_state=0)",
        "ClassicalMDS(metric='manhattan', random_state=0)",
        "ClassicalMDS(metric='precomputed', random_state=0)",
        "Isomap(n_landmarks=None, random_state=0)",
        "Isomap(n_landmarks=500, random_state=0)",
        "PHATE(n_landmarks=None, max_iter=5, random_state=0)",
        "PHATE(n_landmarks=1000, max_iter=5, random_state=0)",
        "SketchMap(n_landmarks=3000, max_iter=5, random_state=0)",
        "SketchMap(max_iter=5, random_state=0)",
        "KernelPCA(random_state=0)",
        "KernelPCA(approximation='nystrom', random_state=0)",
        "TwoKernelPCA(max_iter=3, random_state=0)",
        "LocallyLinearEmbedding(random_state=0)",
        "LocallyLinearEmbedding(solver='dense', random_state=0)",
        "LocallyLinearEmbedding(solver='descent', random_state=0)",
        "GradientPCA(kernel='gaussian', max_iter=20, random_state=0)",
    ],
)
def test_f84_the_peak_is_at_most_the_forecast_and_not_far_below(code):
    run = subprocess.run([sys.executable, "-c", _MEASURE, code, "3000"], capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stderr
    peak, forecast = (float(number) for number in run.stdout.split())
    print(f"{code}: {peak / 1e6:.0f} MB at the peak, {forecast / 1e6:.0f} MB forecast, {forecast / peak:.2f}")
    assert 0.9 * peak <= forecast <= 2.2 * peak
