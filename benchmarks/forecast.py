"""Compare the memory that fits take with what was forecast, one fresh process a fit.

python -m benchmarks.forecast --methods umap tsne --rows 2000 10000 30000 --columns 10 50 784
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from typing import Any

import numpy as np

__all__ = ["CASES", "main", "measure", "verdict"]

CASES: dict[str, tuple[str, dict[str, Any], int]] = {
    "umap": ("UMAP", {}, 10**9),
    "tsne": ("TSNE", {}, 10**9),
    "tsne, tree": ("TSNE", {"method": "tree"}, 10**9),
    "tsne, exact": ("TSNE", {"method": "exact"}, 10_000),
    "sne": ("SNE", {}, 30_000),
    "symmetric_sne": ("SymmetricSNE", {}, 10**9),
    "largevis": ("LargeVis", {}, 10**9),
    "pacmap": ("PaCMAP", {}, 10**9),
    "trimap": ("TriMap", {}, 10**9),
    "densmap": ("DensMAP", {}, 10**9),
    "featmap": ("FeatMAP", {}, 10**9),
    "pca": ("PCA", {}, 10**9),
    "classical_mds": ("ClassicalMDS", {}, 10**9),
    "classical_mds, manhattan": ("ClassicalMDS", {"metric": "manhattan"}, 10_000),
    "mds": ("MDS", {}, 10_000),
    "kernel_pca": ("KernelPCA", {}, 30_000),
    "isomap": ("Isomap", {}, 10**9),
    "phate": ("PHATE", {}, 10**9),
    "laplacian_eigenmaps": ("LaplacianEigenmaps", {}, 10**9),
    "lle": ("LocallyLinearEmbedding", {}, 30_000),
}
"""By name: the class, its parameters, and the most rows that are fitted here."""

_ITERATIONS = 3  # of descents: memory does not rise with them
_BEST, _WORST, _SLACK = 0.9, 1.2, 1e7  # forecast / measured, or bytes between them


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def _table(n_samples: int, n_features: int) -> np.ndarray:
    """Return rows near a subspace of eight dimensions, made in parts so that nothing large is freed before a fit."""
    rng = np.random.default_rng(0)
    turned = rng.normal(size=(8, n_features)).astype(np.float32)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for begin in range(0, n_samples, 4096):
        part = X[begin : begin + 4096]
        part[:] = rng.standard_normal((len(part), 8), dtype=np.float32) @ turned
        part += 0.5 * rng.standard_normal(part.shape, dtype=np.float32)
    return X


def _estimator(case: str) -> Any:
    import gnomon

    name, parameters, _ = CASES[case]
    estimator = getattr(gnomon, name)(random_state=0, **parameters)
    return estimator.set_params(max_iter=_ITERATIONS) if "max_iter" in estimator.get_params() else estimator


def measure(case: str, n_samples: int, n_features: int) -> dict[str, float]:
    """Fit in this process; return bytes at the peak beyond table and libraries, and those forecast."""
    warnings.simplefilter("ignore")
    _estimator(case).fit(_table(300, min(n_features, 100)))  # loads libraries
    X = _table(n_samples, n_features)
    before = _status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counts from here
    estimator = _estimator(case).fit(X)
    return {"measured": _status("VmHWM") - before, "forecast": estimator.foresee(n_samples, n_features).n_bytes}


def verdict(found: dict[str, float]) -> str:
    """Say whether a forecast holds: within a fifth, never under by a tenth, or within 10 MB."""
    if _BEST <= found["forecast"] / max(found["measured"], 1.0) <= _WORST:
        return "holds"
    return "within 10 MB" if abs(found["forecast"] - found["measured"]) <= _SLACK else "FAILS"


def _run(case: str, n_samples: int, n_features: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.forecast", "--one", case, str(n_samples), str(n_features)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(f"{case}, {n_samples} x {n_features}: {answer.stderr.strip().splitlines()[-1:]}")
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print a table; return 1 if a forecast fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=list(CASES), default=list(CASES), metavar="NAME")
    parser.add_argument("--rows", nargs="+", type=int, default=[2000, 10_000, 30_000])
    parser.add_argument("--columns", nargs="+", type=int, default=[10, 50, 300, 784])
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        case, n_samples, n_features = options.one
        print(json.dumps(measure(case, int(n_samples), int(n_features))))
        return 0
    failed = 0
    print(f"{'method':26}{'rows':>8}{'columns':>9}{'measured MB':>13}{'forecast MB':>13}{'ratio':>7}")
    for case in options.methods:
        for n_samples in (n for n in options.rows if n <= CASES[case][2]):
            for n_features in options.columns:
                found = _run(case, n_samples, n_features)
                measured, told = found["measured"], found["forecast"]
                failed += verdict(found) == "FAILS"
                print(
                    f"{case:26}{n_samples:8}{n_features:9}{measured / 1e6:13.1f}{told / 1e6:13.1f}"
                    f"{told / max(measured, 1.0):7.2f}  {verdict(found)}",
                    flush=True,
                )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
