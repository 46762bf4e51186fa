"""Compare memory and processor time that fits take with what was forecast, one fresh process a fit.

python -m benchmarks.forecast --methods umap tsne --rows 1000 5000 20000 --columns 10 50 784
GNOMON_DATA=FOLDER python -m benchmarks.forecast --data mnist --rows 5000 20000
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import load_table

__all__ = ["CASES", "KINDS", "drawn_table", "main", "measure", "measure_map", "verdict"]

CASES: dict[str, tuple[str, dict[str, Any], int]] = {
    "umap": ("UMAP", {}, 10**9),
    "umap, sampled": ("UMAP", {"evaluation": "sampled"}, 10**9),
    "tsne": ("TSNE", {}, 10**9),
    "tsne, tree": ("TSNE", {"evaluation": "tree"}, 20_000),
    "tsne, exact": ("TSNE", {"evaluation": "exact"}, 5_000),
    "pca": ("PCA", {}, 10**9),
    "sne": ("SNE", {}, 12_000),
    "symmetric_sne": ("SymmetricSNE", {}, 10**9),
    "dreams": ("DREAMS", {}, 10**9),
    "largevis": ("LargeVis", {}, 10**9),
    "force_atlas2": ("ForceAtlas2", {}, 10**9),
    "neg_tsne": ("NegTSNE", {}, 10**9),
    "info_nce_tsne": ("InfoNCETSNE", {}, 10**9),
    "two_kernel_pca": ("TwoKernelPCA", {}, 5_000),
    "two_kernel_lle": ("TwoKernelLLE", {}, 20_000),
    "pacmap": ("PaCMAP", {}, 10**9),
    "local_map": ("LocalMAP", {}, 10**9),
    "trimap": ("TriMap", {}, 10**9),
    "random_projection": ("RandomProjection", {}, 10**9),
    "gradient_pca": ("GradientPCA", {}, 10**9),
    "stiefel_pca": ("StiefelPCA", {}, 10**9),
    "robust_pca": ("RobustPCA", {}, 5_000),
    "graph_robust_pca": ("GraphRobustPCA", {}, 5_000),
    "huber_pca": ("HuberPCA", {}, 5_000),
    "kernel_pca": ("KernelPCA", {}, 30_000),
    "classical_mds": ("ClassicalMDS", {}, 10**9),
    "classical_mds, manhattan": ("ClassicalMDS", {"metric": "manhattan"}, 10_000),
    "landmark_mds": ("LandmarkMDS", {}, 10**9),
    "mds": ("MDS", {}, 10_000),
    "isomap": ("Isomap", {}, 10**9),
    "phate": ("PHATE", {}, 10**9),
    "sketch_map": ("SketchMap", {}, 10**9),
    "lle": ("LocallyLinearEmbedding", {}, 30_000),
    "laplacian_eigenmaps": ("LaplacianEigenmaps", {}, 10**9),
    "densmap": ("DensMAP", {}, 10**9),
    "featmap": ("FeatMAP", {}, 10**9),
    "star_map": ("StarMAP", {}, 10**9),
    "scale_map": ("ScaleMAP", {}, 10**9),
}
"""By name: the class, its parameters, and the most rows that are fitted here."""

KINDS = ("float32", "float64", "sparse")
"""Of tables; the sparse ones keep the tenth of the numbers that is largest."""

_BEST, _WORST, _SLACK = 0.9, 1.2, 3e6  # forecast / measured, or bytes between them
_NEAR = 1.5  # factor of the time
_LIMIT = 600  # seconds of a fit


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def _forget_peak() -> int:
    """Give back what was freed, let the peak count from here, and return the bytes held."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return _status("VmRSS")


def drawn_table(n_samples: int, n_features: int) -> np.ndarray:
    """Return rows near a subspace of eight dimensions, made in parts so that nothing large is freed before a fit."""
    rng = np.random.default_rng(0)
    turned = rng.normal(size=(8, n_features)).astype(np.float32)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for begin in range(0, n_samples, 4096):
        part = X[begin : begin + 4096]
        part[:] = rng.standard_normal((len(part), 8), dtype=np.float32) @ turned
        part += 0.5 * rng.standard_normal(part.shape, dtype=np.float32)
    return X


def _made(data: str, n_samples: int, n_features: int, kind: str) -> Any:
    """Return so many rows of a table, of the data named or drawn, as numbers of a kind."""
    if data == "drawn":
        X = drawn_table(n_samples, n_features)
    else:
        whole = load_table(data)[0]
        rows = np.random.default_rng(0).permutation(whole.shape[0])[:n_samples]
        X = whole[np.sort(rows)]
        X = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
    if kind == "float64":
        return X.astype(np.float64)
    if kind == "sparse":
        import scipy.sparse as sp

        X[np.abs(X) < np.quantile(np.abs(X[:500]), 0.9)] = 0
        return sp.csr_array(X)
    return X


def _estimator(case: str, max_iter: int | None) -> Any:
    import gnomon

    name, parameters, _ = CASES[case]
    estimator = getattr(gnomon, name)(random_state=0, **parameters)
    stops = max_iter is not None and "max_iter" in estimator.get_params()
    return estimator.set_params(max_iter=max_iter) if stops else estimator


def measure(
    case: str, n_samples: int, n_features: int, *, data: str = "drawn", kind: str = "float32", max_iter: int | None = 3
) -> dict[str, float]:
    """Fit in this process; return bytes at the peak beyond table and libraries, seconds, and those forecast."""
    import gnomon

    warnings.simplefilter("ignore")
    _estimator(case, max_iter).fit(_made("drawn", 300, min(n_features, 100), kind))  # loads libraries
    X = _made(data, n_samples, n_features, kind)
    estimator = _estimator(case, max_iter)
    before = _forget_peak()
    began = time.process_time()
    estimator.fit(X)
    seconds = time.process_time() - began
    measured = _status("VmHWM") - before
    expected = gnomon.forecast(X, _estimator(case, max_iter))
    return {"measured": measured, "forecast": expected.n_bytes, "seconds": seconds, "expected": expected.seconds}


def measure_map(
    case: str, n_samples: int, n_features: int, *, data: str = "drawn", kind: str = "float32", max_iter: int | None = 3
) -> dict[str, float]:
    """Make a map, its explanation, scores, page and file in this process; return what `measure` does."""
    import gnomon

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:

        def make(X: Any) -> None:
            made = gnomon.map(X, _estimator(case, max_iter), scale=None)
            made.to_html(Path(folder, "map.html"))
            made.save(Path(folder, "map.gnomon"))

        make(_made("drawn", 300, min(n_features, 100), kind))
        X = _made(data, n_samples, n_features, kind)
        before = _forget_peak()
        began = time.process_time()
        make(X)
        seconds = time.process_time() - began
        measured = _status("VmHWM") - before
    expected = gnomon.forecast(X, _estimator(case, max_iter), then=("page", "file"))
    return {"measured": measured, "forecast": expected.n_bytes, "seconds": seconds, "expected": expected.seconds}


def verdict(found: dict[str, float]) -> str:
    """Say whether a forecast of memory holds: within a fifth, never under by a tenth, or within 3 MB."""
    if _BEST <= found["forecast"] / max(found["measured"], 1.0) <= _WORST:
        return "holds"
    return "within 3 MB" if abs(found["forecast"] - found["measured"]) <= _SLACK else "FAILS"


def _run(case: str, n_samples: int, n_features: int, options: argparse.Namespace) -> dict[str, float] | str:
    one = [case, str(n_samples), str(n_features)]
    command = [sys.executable, "-m", "benchmarks.forecast", "--one", *one, "--data", options.data]
    command += ["--kind", options.kind, *(["--map"] if options.map else [])]
    command += [] if options.max_iter is None else ["--max-iter", str(options.max_iter)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        return f"stopped after {_LIMIT} seconds"
    if answer.returncode != 0:
        return f"failed: {answer.stderr.strip().splitlines()[-1:]}"
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def _summary(found: list[dict[str, float]]) -> str:
    if not found:
        return "nothing was measured"
    memory = [verdict(one) for one in found]
    ratios = np.array([one["expected"] / max(one["seconds"], 1e-6) for one in found])
    near = [float(np.mean((ratios < factor) & (ratios > 1.0 / factor))) for factor in (_NEAR, 2.0)]
    shares = ", ".join(f"{memory.count(word)} {word}" for word in ("holds", "within 3 MB", "FAILS"))
    return f"memory of {len(found)}: {shares}; time within a factor of 1.5: {near[0]:.0%}, of 2: {near[1]:.0%}"


def main(arguments: list[str] | None = None) -> int:
    """Print a table; return 1 if a forecast of memory fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=list(CASES), default=list(CASES), metavar="NAME")
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 5000, 20_000])
    parser.add_argument("--columns", nargs="+", type=int, default=[10, 50, 784])
    parser.add_argument(
        "--data", default="drawn", help="drawn, or mnist and the like (in GNOMON_DATA), with its columns"
    )
    parser.add_argument("--kind", choices=KINDS, default="float32")
    parser.add_argument("--max-iter", type=int, help="iterations of descents; by default those of the method")
    parser.add_argument("--map", action="store_true", help="with explanation, scores, page and file")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        case, n_samples, n_features = options.one
        given = {"data": options.data, "kind": options.kind, "max_iter": options.max_iter}
        print(json.dumps((measure_map if options.map else measure)(case, int(n_samples), int(n_features), **given)))
        return 0
    columns = options.columns if options.data == "drawn" else [int(load_table(options.data)[0].shape[1])]
    measured = []
    head = f"{'method':26}{'rows':>8}{'columns':>9}{'MB':>9}{'forecast':>10}{'ratio':>7}"
    print(f"{head}{'CPU s':>9}{'forecast':>10}{'ratio':>7}")
    for case in options.methods:
        for n_samples in (n for n in options.rows if n <= CASES[case][2]):
            for n_features in columns:
                found = _run(case, n_samples, n_features, options)
                line = f"{case:26}{n_samples:8}{n_features:9}"
                if isinstance(found, str):
                    print(f"{line}  {found}", flush=True)
                    continue
                measured.append(found)
                memory, told = found["measured"], found["forecast"]
                seconds, expected = found["seconds"], found["expected"]
                print(
                    f"{line}{memory / 1e6:9.1f}{told / 1e6:10.1f}{told / max(memory, 1.0):7.2f}"
                    f"{seconds:9.3f}{expected:10.3f}{expected / max(seconds, 1e-6):7.2f}  {verdict(found)}",
                    flush=True,
                )
    print(_summary(measured))
    return int(any(verdict(one) == "FAILS" for one in measured))


if __name__ == "__main__":
    sys.exit(main())
