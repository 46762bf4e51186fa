"""The contenders, one function each, and the child process that runs one of them.

This file is started by its path in the interpreter that has the tool, so it needs NumPy and nothing of this package.

    python tools.py probe TOOL METHOD                           prints {"version": ...} or {"missing": ...}
    python tools.py once  TOOL METHOD DATA OUT PARAMETERS SEED  one fit, OUT-SEED.npy and OUT-SEED.json
    python tools.py serve TOOL METHOD DATA OUT PARAMETERS       one fit for each seed, a line on stdin; a JSON line each
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

Parameters = dict[str, Any]


class Fitted(NamedTuple):
    """A map, the seconds of its stages, and how much work there was, where a tool tells."""

    Y: np.ndarray
    stages: dict[str, float]
    work: dict[str, int]


class Tool(NamedTuple):
    """A contender: the package that must be installed, the methods it has, and how it makes a map of a table.

    `fit` takes the method, the table, parameters and the seed, and returns the map or a `Fitted`.
    """

    package: str
    module: str
    methods: tuple[str, ...]
    fit: Callable[[str, np.ndarray, Parameters, int], Any]
    max_rows: Mapping[str, int] = MappingProxyType({})  # by method; above that it would take hours


class Twin(NamedTuple):
    """A method that scikit-learn has as well: the same mathematics with the same parameters on both sides."""

    estimator: str  # in gnomon
    ours: Parameters
    module: str
    peer: str
    theirs: Parameters
    max_rows: int | None = None  # of scikit-learn, for which more take hours or more memory than there is


# scikit-learn counts neighbours as gnomon does, but for the graph of SpectralEmbedding, which counts the point itself.
_TWINS = {
    "random_projection": Twin(
        "RandomProjection",
        {"n_components": 50},
        "sklearn.random_projection",
        "GaussianRandomProjection",
        {"n_components": 50, "random_state": 0},
    ),
    "kernel_pca": Twin(
        "KernelPCA",
        {"kernel": "gaussian", "kernel_params": {"sigma": 1000.0}},
        "sklearn.decomposition",
        "KernelPCA",
        {"n_components": 2, "kernel": "rbf", "gamma": 5e-7, "n_jobs": -1},
        10_000,
    ),
    "classical_mds": Twin("ClassicalMDS", {}, "sklearn.manifold", "ClassicalMDS", {"n_components": 2}, 10_000),
    "mds": Twin(
        "MDS",
        {"max_iter": 30, "tol": 0.0, "init": "random"},
        "sklearn.manifold",
        "MDS",
        {"max_iter": 30, "eps": 0.0, "n_init": 1, "init": "random", "random_state": 0},
        10_000,
    ),
    "isomap": Twin(
        "Isomap",
        {"n_neighbors": 10, "n_landmarks": None},
        "sklearn.manifold",
        "Isomap",
        {"n_neighbors": 10, "n_jobs": -1},
        10_000,
    ),
    **{
        name: Twin(
            "LocallyLinearEmbedding",
            {"n_neighbors": 12, "variant": variant},
            "sklearn.manifold",
            "LocallyLinearEmbedding",
            {"n_neighbors": 12, "method": variant, "n_jobs": -1, "random_state": 0},
            10_000,
        )
        for name, variant in (
            ("lle", "standard"),
            ("modified_lle", "modified"),
            ("hessian_lle", "hessian"),
            ("ltsa", "ltsa"),
        )
    },
    "laplacian_eigenmaps": Twin(
        "LaplacianEigenmaps",
        {"n_neighbors": 9},
        "sklearn.manifold",
        "SpectralEmbedding",
        {"n_neighbors": 10, "n_jobs": -1, "random_state": 0},
        10_000,
    ),
}
_PHATE = {"t": 20}  # steps; left to itself each side counts them its own way
_ESTIMATORS = {
    **{"umap": "UMAP", "tsne": "TSNE", "pca": "PCA", "pacmap": "PaCMAP", "trimap": "TriMap", "densmap": "DensMAP"},
    **{name: twin.estimator for name, twin in _TWINS.items()},
    "phate": "PHATE",
}


def _n_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _work(estimator: Any) -> dict[str, int]:
    """Return the passes of a layout and the pairs that attract, both ways, of a method that has them."""
    affinities, passes = getattr(estimator, "affinities_", None), getattr(estimator, "n_iter_", None)
    if not hasattr(affinities, "matrix") or passes is None:
        return {}
    return {"passes": int(passes), "edges": int(affinities.matrix.nnz)}


def _gnomon(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    import gnomon

    settings: Parameters = {"random_state": seed}
    if method == "umap":
        settings |= {"n_neighbors": 15, "n_jobs": None}
    elif method == "tsne":
        settings |= {"n_jobs": None}  # its perplexity is 30, unless a preset has another
    elif method == "pca":
        settings = {"n_components": 2}
    elif method == "phate":
        settings |= {**_PHATE, "n_landmarks": None}
    elif method in _TWINS:
        settings |= _TWINS[method].ours
    estimator = getattr(gnomon, _ESTIMATORS[method])(**{**settings, **parameters})
    Y = estimator.fit_transform(X)
    return Fitted(Y, dict(getattr(estimator, "timings_", {})), _work(estimator))


def _umap_learn(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Its default: parallel and not reproducible, whatever the seed. It counts the point itself: 16 is our 15."""
    import umap

    settings = {"n_neighbors": 31, "densmap": True} if method == "densmap" else {"n_neighbors": 16}
    return umap.UMAP(**{**settings, "n_jobs": -1, **parameters}).fit_transform(X)


def _umap_learn_seeded(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Reproducible, for which it gives up parallel work."""
    import umap

    return umap.UMAP(**{"n_neighbors": 16, "n_jobs": 1, "random_state": seed, **parameters}).fit_transform(X)


def _open_tsne(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Its default of 250 + 500 iterations from a PCA start."""
    import openTSNE

    settings = {"perplexity": 30, "n_jobs": _n_cpus(), "initialization": "pca", "random_state": seed}
    return np.asarray(openTSNE.TSNE(**{**settings, **parameters}).fit(X))


def _pacmap(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Its default of 10 neighbours against UMAP; as itself, as many as its authors advise for the size.

    A seed would make it serial: it is not given.
    """
    import pacmap

    settings = {"n_components": 2, **({"n_neighbors": None} if method == "pacmap" else {})}
    return pacmap.PaCMAP(**{**settings, **parameters}).fit_transform(X)


def _trimap(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Its defaults; it has no seed."""
    import trimap

    return trimap.TRIMAP(**{"verbose": False, **parameters}).fit_transform(X)


def _pymde(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Its recipe for neighbours, with its defaults."""
    import pymde

    pymde.seed(seed)
    return pymde.preserve_neighbors(X, **{"device": "cpu", **parameters}).embed().numpy()


def _torch_dr(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """On the CPU, its default schedules."""
    import torchdr

    if method == "tsne":
        return torchdr.TSNE(**{"perplexity": 30, "device": "cpu", "random_state": seed, **parameters}).fit_transform(X)
    settings = {"n_neighbors": 15, "device": "cpu", "random_state": seed}
    return torchdr.UMAP(**{**settings, **parameters}).fit_transform(X)


def _phate(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """By SMACOF, as in the paper; the default of the package, stochastic descent, comes close to it."""
    import phate

    settings = {
        "n_landmark": None,
        "n_pca": None,
        "mds_solver": "smacof",
        "n_jobs": -1,
        "random_state": seed,
        "verbose": 0,
    }
    return phate.PHATE(**{**settings, **_PHATE, **parameters}).fit_transform(X)


def _hnne(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """By Euclidean distances, as all others; the default of the package is the cosine."""
    import hnne

    return hnne.HNNE(**{"metric": "euclidean", "random_state": seed, **parameters}).fit_transform(X)


def _scikit_learn(method: str, X: np.ndarray, parameters: Parameters, seed: int) -> Any:
    if method == "tsne":
        from sklearn.manifold import TSNE

        settings = {"perplexity": 30, "init": "pca", "n_jobs": -1, "random_state": seed}
        return TSNE(**{**settings, **parameters}).fit_transform(X)
    if method in _TWINS:
        twin = _TWINS[method]
        estimator = getattr(importlib.import_module(twin.module), twin.peer)
        seeded = {"random_state": seed} if "random_state" in twin.theirs else {}
        return estimator(**{**twin.theirs, **seeded, **parameters}).fit_transform(X)
    from sklearn.decomposition import PCA

    return PCA(**{"n_components": 2, "random_state": seed, **parameters}).fit_transform(X)


TOOLS = {
    "gnomon": Tool("gnomon", "gnomon", tuple(_ESTIMATORS), _gnomon),
    "umap-learn": Tool("umap-learn", "umap", ("umap", "densmap"), _umap_learn),
    "umap-learn-seeded": Tool("umap-learn", "umap", ("umap",), _umap_learn_seeded),
    "openTSNE": Tool("openTSNE", "openTSNE", ("tsne",), _open_tsne),
    "pacmap": Tool("pacmap", "pacmap", ("umap", "pacmap"), _pacmap),
    "trimap": Tool("trimap", "trimap", ("umap", "trimap"), _trimap),
    "pymde": Tool("pymde", "pymde", ("umap",), _pymde),
    "torchdr": Tool("torchdr", "torchdr", ("umap", "tsne"), _torch_dr, {"tsne": 10_000}),
    "phate": Tool("phate", "phate", ("phate",), _phate, {"phate": 5000}),
    "hnne": Tool("hnne", "hnne", ("hnne",), _hnne),
    "scikit-learn": Tool(
        "scikit-learn",
        "sklearn",
        ("pca", "tsne", *_TWINS),
        _scikit_learn,
        {"tsne": 10_000, **{name: twin.max_rows for name, twin in _TWINS.items() if twin.max_rows is not None}},
    ),
}


def probe(name: str, method: str) -> dict[str, str]:
    """Say which version is installed, or why the tool cannot run the method; imports no peer."""
    tool = TOOLS[name]
    if importlib.util.find_spec(tool.module) is None:
        return {"missing": f"{tool.package} is not installed for {sys.executable}"}
    if name == "gnomon":
        import gnomon

        estimator = _ESTIMATORS[method]
        if not hasattr(gnomon, estimator):
            return {"missing": f"gnomon has no {estimator}"}
        return {"version": gnomon.__version__}
    return {"version": importlib.metadata.version(tool.package)}


def peak_memory() -> int | None:
    """Peak resident bytes of this program since it was started, where the system tells (Linux).

    `getrusage` would not do: its peak includes the parent's memory from between fork and exec.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)


def _timed_fit(name: str, method: str, X: np.ndarray, parameters: Parameters, seed: int, out: str) -> dict[str, Any]:
    """Fit, save the map as OUT-SEED.npy and return what it cost."""
    wall, cpu = time.perf_counter(), time.process_time()
    made = TOOLS[name].fit(method, X, parameters, seed)
    report = {"fit_wall": time.perf_counter() - wall, "fit_cpu": time.process_time() - cpu}
    Y, stages, work = made if isinstance(made, Fitted) else (made, {}, {})
    np.save(f"{out}-{seed}.npy", np.asarray(Y, dtype=np.float32))
    return {**report, "peak": peak_memory(), "stages": stages, "work": work}


def once(name: str, method: str, data: str, out: str, parameters: Parameters, seed: int) -> None:
    """Fit once and save; the first fit of the process, imports and compilation included in its time."""
    report = _timed_fit(name, method, np.load(data), parameters, seed, out)
    Path(f"{out}-{seed}.json").write_text(json.dumps(report))


def serve(name: str, method: str, data: str, out: str, parameters: Parameters) -> None:
    """Fit for each seed asked, in one process, and answer on what was stdout; what the tool prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    X = np.load(data)
    for line in sys.stdin:
        answers.write(json.dumps(_timed_fit(name, method, X, parameters, int(line), out)) + "\n")


def main(arguments: list[str]) -> None:
    command, name, method, *rest = arguments
    if command == "probe":
        print(json.dumps(probe(name, method)))
        return
    data, out, parameters, *seed = rest
    if command == "once":
        once(name, method, data, out, json.loads(parameters), int(seed[0]))
    else:
        serve(name, method, data, out, json.loads(parameters))


if __name__ == "__main__":
    main(sys.argv[1:])
