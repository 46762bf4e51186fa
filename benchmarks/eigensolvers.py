"""Compare gnomon's eigensolvers with SciPy's (ARPACK, SuperLU, LOBPCG, LAPACK) on matrices that maps are made of.

GNOMON_DATA=FOLDER python -m benchmarks.eigensolvers --out eigensolvers.json

Every solve runs on one thread in a process of its own, within a limit of CPU time and of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu

from benchmarks.tables import load_table

__all__ = ["PROBLEMS", "SOLVERS", "main", "solve"]

_ROOT = Path(__file__).resolve().parent.parent
_ROUNDING = 1e-12  # residuals below this share of the norm of the matrix count as converged
_LARGEST_DENSE = 5000
_LEAST_SECONDS = 0.3  # a solve is repeated up to here: clocks of CPU time are coarse


# -- matrices --


def _graph(X: np.ndarray) -> sp.csr_array:
    """Return the weights of UMAP's graph of 15 neighbours, of its largest connected component."""
    from gnomon.affinities import fuzzy_simplicial_set
    from gnomon.linalg import connected_components
    from gnomon.neighbors import compute_neighbors

    weights = fuzzy_simplicial_set(compute_neighbors(X, 15)).matrix
    pieces = connected_components(weights)
    kept = np.flatnonzero(pieces == np.bincount(pieces).argmax())
    return sp.csr_array(sp.csr_matrix(weights)[kept][:, kept])


def _bridged() -> sp.csr_array:
    """Return the graphs of MNIST's zeros and ones among 10,000 rows, joined by one edge of weight 1e-6."""
    X, labels = load_table("mnist", 10_000, 50)
    zeros, ones = _graph(X[labels == 0]), _graph(X[labels == 1])
    both, middle = sp.lil_array(sp.block_diag([zeros, ones])), zeros.shape[0]
    both[0, middle] = both[middle, 0] = 1e-6
    return sp.csr_array(both, dtype=np.float32)


def _table(name: str, rows: int | None = None) -> np.ndarray:
    return load_table(name, rows, 50)[0]


def _ring() -> sp.csr_array:
    """Return the weights of a ring of 700 nodes, whose Laplacian has every eigenvalue twice."""
    i = np.arange(700)
    one_way = sp.coo_array((np.ones(700), (i, (i + 1) % 700)), shape=(700, 700)).tocsr()
    return sp.csr_array(one_way + one_way.T, dtype=np.float32)


def _swiss_roll(rows: int) -> np.ndarray:
    from sklearn.datasets import make_swiss_roll

    return np.asarray(make_swiss_roll(rows, random_state=0)[0])


def _reconstruction(X: np.ndarray) -> sp.csr_array:
    """Return locally linear embedding's (I - W)'(I - W) of 10 neighbours."""
    from gnomon.affinities import reconstruction_weights
    from gnomon.neighbors import compute_neighbors

    return reconstruction_weights(X, compute_neighbors(X, 10)).M


def _centred(K: np.ndarray) -> np.ndarray:
    return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())


def _gaussian_gram(X: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    squares = cdist(X.astype(np.float64), X.astype(np.float64), "sqeuclidean")
    return _centred(np.exp(-squares / np.median(squares)))


@dataclass(frozen=True)
class Problem:
    """One matrix, which pairs of it are wanted, and how exactly."""

    title: str
    kind: str
    build: Callable[[], Any]
    n_vectors: int = 2

    @property
    def tolerance(self) -> float:
        return _KINDS[self.kind]

    @property
    def largest(self) -> bool:
        return self.kind in ("gram", "kernel")


_KINDS = {  # of matrices: the tolerance asked for
    "start": 1e-2,  # the normalised Laplacian of a graph, as a start of UMAP
    "graph": 1e-7,  # the same, as a map
    "lle": 1e-6,
    "gram": 1e-9,  # a centred Gaussian Gram matrix that is kept
    "kernel": 1e-9,  # the same, computed anew for each product
}

PROBLEMS = {
    "digits_start": Problem("UMAP's graph of digits", "start", lambda: _graph(_table("digits"))),
    "pbmc_start": Problem("UMAP's graph of pbmc4k", "start", lambda: _graph(_table("pbmc4k"))),
    "mnist10k_start": Problem("UMAP's graph of MNIST, 10,000", "start", lambda: _graph(_table("mnist", 10_000))),
    "mnist70k_start": Problem("UMAP's graph of MNIST", "start", lambda: _graph(_table("mnist"))),
    "bridge_start": Problem("two digits of MNIST, one weak edge", "start", _bridged),
    "roll20k_start": Problem("UMAP's graph of a swiss roll", "start", lambda: _graph(_swiss_roll(20_000))),
    "digits_graph": Problem("Laplacian of digits", "graph", lambda: _graph(_table("digits"))),
    "paul15_graph": Problem("Laplacian of paul15", "graph", lambda: _graph(_table("paul15"))),
    "mnist10k_graph": Problem("Laplacian of MNIST, 10,000", "graph", lambda: _graph(_table("mnist", 10_000))),
    "mnist70k_graph": Problem("Laplacian of MNIST", "graph", lambda: _graph(_table("mnist"))),
    "bridge_graph": Problem("Laplacian of two digits, one weak edge", "graph", _bridged),
    "roll20k_graph": Problem("Laplacian of a swiss roll", "graph", lambda: _graph(_swiss_roll(20_000))),
    "ring_graph": Problem("Laplacian of a ring", "graph", _ring),
    "mnist10k_60": Problem("60 vectors, MNIST, 10,000", "graph", lambda: _graph(_table("mnist", 10_000)), 60),
    "digits_lle": Problem("LLE of digits", "lle", lambda: _reconstruction(load_table("digits")[0])),
    "paul15_lle": Problem("LLE of paul15", "lle", lambda: _reconstruction(_table("paul15"))),
    "pbmc_lle": Problem("LLE of pbmc4k", "lle", lambda: _reconstruction(_table("pbmc4k"))),
    "mnist10k_lle": Problem("LLE of MNIST, 10,000", "lle", lambda: _reconstruction(_table("mnist", 10_000))),
    "mnist20k_lle": Problem("LLE of MNIST, 20,000", "lle", lambda: _reconstruction(_table("mnist", 20_000))),
    "mnist40k_lle": Problem("LLE of MNIST, 40,000", "lle", lambda: _reconstruction(_table("mnist", 40_000))),
    "roll2k_lle": Problem("LLE of a swiss roll", "lle", lambda: _reconstruction(_swiss_roll(2000))),
    "roll20k_lle": Problem("LLE of a swiss roll", "lle", lambda: _reconstruction(_swiss_roll(20_000))),
    "digits_gram": Problem("Gram matrix of digits", "gram", lambda: _gaussian_gram(_table("digits"))),
    "pbmc_gram": Problem("Gram matrix of pbmc4k", "gram", lambda: _gaussian_gram(_table("pbmc4k"))),
    "cifar_gram": Problem("Gram matrix of CIFAR", "gram", lambda: _gaussian_gram(_table("cifar10_5k"))),
    "mnist14k_kernel": Problem("Gram matrix of MNIST, not kept", "kernel", lambda: _table("mnist", 14_000)),
}


@dataclass(frozen=True)
class _Task:
    """A problem as solvers see it: a symmetric matrix, the vector that is left out, and when a result is good."""

    problem: Problem
    given: Any
    matrix: Any
    known: np.ndarray | None
    norm: float

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def judge(self, vectors: np.ndarray) -> dict[str, Any]:
        """Return the last eigenvalue and the largest residual of the space of some vectors; whether it is enough."""
        if self.known is not None:
            vectors = vectors - np.outer(self.known, self.known @ vectors)
        basis = np.linalg.qr(vectors)[0]
        images = self.matrix @ basis
        values, rotation = np.linalg.eigh(basis.T @ images)
        residuals = np.linalg.norm(images @ rotation - (basis @ rotation) * values, axis=0)
        k, smallest = self.problem.n_vectors, not self.problem.largest
        wanted = slice(0, k) if smallest else slice(-k, None)
        values, residual = values[wanted], float(residuals[wanted].max())
        rounding = 5e-6 if self.problem.kind == "start" else _ROUNDING * self.norm
        bound = max(self.problem.tolerance * abs(float(values[-1])), rounding)
        value = float(values[-1] if smallest else values[0])
        return {"value": value, "residual": residual, "converged": residual <= bound}


def _task(problem: Problem, given: Any) -> _Task:
    if problem.kind == "gram":
        return _Task(problem, given, given, None, float(np.abs(given).sum(axis=1).max()))
    if problem.kind == "kernel":
        from gnomon.affinities import Gram

        gram = Gram.from_kernel("gaussian", given)
        n, product = len(given), gram.centred_matvec

        def one(v: np.ndarray) -> np.ndarray:
            return np.asarray(product(v.reshape(n, -1))).reshape(v.shape)

        return _Task(
            problem, given, LinearOperator((n, n), matvec=one, matmat=product, dtype=np.float64), None, float(n)
        )
    if problem.kind == "lle":
        known = np.full(given.shape[0], given.shape[0] ** -0.5)
        return _Task(problem, given, given, known, float(abs(given).sum(axis=1).max()))
    weights = sp.csr_array(given, dtype=np.float64)
    roots = np.sqrt(np.asarray(weights.sum(axis=1)).ravel())
    inverse = sp.diags_array(1.0 / roots)
    laplacian = sp.csr_array(sp.eye_array(len(roots)) - inverse @ weights @ inverse)
    return _Task(problem, given, laplacian, roots / np.linalg.norm(roots), 2.0)


# -- solvers --


def _deflated(task: _Task) -> LinearOperator:
    """Return the matrix with the known vector beyond the far end of the spectrum."""
    matrix, known, far = task.matrix, task.known, 1.5 * task.norm
    assert known is not None

    def product(V: np.ndarray) -> np.ndarray:
        V = V.reshape(task.n, -1)
        return np.asarray(matrix @ V + far * np.outer(known, known @ V))

    return LinearOperator(matrix.shape, matvec=product, matmat=product, dtype=np.float64)


def _start(task: _Task, width: int = 1) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(task.n, width))


def _arpack(task: _Task) -> np.ndarray:
    operator, which = (task.matrix, "LA") if task.problem.largest else (_deflated(task), "SA")
    found = eigsh(
        operator,
        task.problem.n_vectors,
        which=which,
        tol=task.problem.tolerance,
        v0=_start(task)[:, 0],
        ncv=max(40, 4 * task.problem.n_vectors),
        maxiter=10**7,
    )
    return np.asarray(found[1])


def _superlu(task: _Task) -> np.ndarray:
    """ARPACK on the inverse, by a factor in SuperLU's symmetric mode, which fills less than its default."""
    shift = 1e-10 * task.norm
    shifted = sp.csc_matrix(task.matrix + shift * sp.eye_array(task.n))
    options = {"SymmetricMode": True}
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    inverse = LinearOperator(shifted.shape, matvec=factor.solve, dtype=np.float64)
    found = eigsh(
        task.matrix,
        task.problem.n_vectors + 1,
        sigma=-shift,
        OPinv=inverse,
        which="LM",
        tol=task.problem.tolerance * 1e-2,
        v0=_start(task)[:, 0],
    )
    return np.asarray(found[1])


def _lobpcg(task: _Task) -> np.ndarray:
    """LOBPCG with the diagonal as preconditioner, 100 iterations at a time while the result is not good."""
    block = _start(task, task.problem.n_vectors + 3)
    largest = task.problem.largest
    inverse = None if largest else sp.diags_array(1.0 / task.matrix.diagonal())
    known = None if task.known is None else task.known[:, None]
    while True:
        _, block = lobpcg(task.matrix, block, M=inverse, Y=known, tol=1e-30, maxiter=100, largest=largest)
        nearly_up = time.process_time() > 0.9 * resource.getrlimit(resource.RLIMIT_CPU)[0]
        if nearly_up or task.judge(block)["converged"]:
            return block


def _lapack(task: _Task) -> np.ndarray:
    k = task.problem.n_vectors
    if task.problem.largest:
        return np.asarray(scipy.linalg.eigh(task.matrix, subset_by_index=[task.n - k, task.n - 1])[1])
    return np.asarray(scipy.linalg.eigh(task.matrix.toarray(), subset_by_index=[0, k])[1])


def _gnomon(solver: str) -> Callable[[_Task], np.ndarray]:
    def run(task: _Task) -> np.ndarray:
        from gnomon.linalg import GraphLaplacian, eigenpairs

        graph, largest = task.problem.kind in ("start", "graph"), task.problem.largest
        operator = GraphLaplacian(task.given) if graph else task.matrix
        return eigenpairs(
            operator,
            task.problem.n_vectors,
            which="largest" if largest else "smallest",
            known=None if graph else task.known,
            tol=task.problem.tolerance,
            solver=solver,
        ).vectors

    return run


_GRAPHS, _SPARSE = ("start", "graph"), ("start", "graph", "lle")

SOLVERS: dict[str, tuple[tuple[str, ...], Callable[[_Task], np.ndarray]]] = {
    "multilevel": (_GRAPHS, _gnomon("multilevel")),
    "lanczos": (tuple(_KINDS), _gnomon("lanczos")),
    "factor": (_SPARSE, _gnomon("factor")),
    "descent": (_SPARSE, _gnomon("descent")),
    "ARPACK": (tuple(_KINDS), _arpack),
    "SuperLU": (_SPARSE, _superlu),
    "LOBPCG": (tuple(_KINDS), _lobpcg),
    "LAPACK": ((*_SPARSE, "gram"), _lapack),
}


# -- one solve in a process of its own --


def _load(path: Path) -> Any:
    return np.load(path) if path.suffix == ".npy" else sp.csr_array(sp.load_npz(path))


def _store(problem: Problem, stem: Path) -> Path:
    for path in (stem.with_suffix(".npy"), stem.with_suffix(".npz")):
        if path.is_file():
            return path
    matrix = problem.build()
    if isinstance(matrix, np.ndarray):
        np.save(stem.with_suffix(".npy"), matrix)
        return stem.with_suffix(".npy")
    sp.save_npz(stem.with_suffix(".npz"), sp.csr_matrix(matrix))
    return stem.with_suffix(".npz")


def _peak() -> float:
    """Return the peak of resident memory since the process began or the peak was last forgotten, in MB."""
    text = Path("/proc/self/status").read_text()
    return float(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def solve(name: str, solver: str, path: Path, seconds: int, megabytes: int) -> dict[str, Any]:
    """Solve one problem here; the process ends by a signal when its CPU time is spent."""
    task = _task(PROBLEMS[name], _load(path))
    if solver in ("lanczos", "LOBPCG", "ARPACK"):  # modules are loaded before the clock starts
        eigsh(sp.eye_array(9, format="csr"), 1)
    import gnomon.linalg  # noqa: F401

    Path("/proc/self/clear_refs").write_text("5")
    before, begin = _peak(), time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begin) + seconds, int(begin) + seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    vectors, n_runs = SOLVERS[solver][1](task), 1
    memory = _peak() - before
    while time.process_time() - begin < _LEAST_SECONDS:
        vectors, n_runs = SOLVERS[solver][1](task), n_runs + 1
    seconds = (time.process_time() - begin) / n_runs
    return {"seconds": seconds, "megabytes": memory, **task.judge(vectors)}


def _in_a_process(name: str, solver: str, path: Path, seconds: int, megabytes: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.eigensolvers", "--one", name, solver, str(path)]
    command += ["--seconds", str(seconds), "--megabytes", str(megabytes)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=_ROOT, env=environment, check=False, capture_output=True, text=True)
    if result.returncode < 0:
        return {"failed": f"over {seconds} s"}
    if result.returncode > 0:
        line = (result.stderr.strip().splitlines() or ["?"])[-1]
        return {"failed": "over the memory" if "MemoryError" in line else line[:100]}
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer


# -- table --


def _cell(result: dict[str, Any] | None, best: float) -> str:
    if result is None:
        return ""
    if "failed" in result:
        return str(result["failed"])
    text = f"{result['seconds']:.2g} s, {max(result['megabytes'], 0):.0f} MB"
    if not result["converged"]:
        if abs(best) < 1e-12:  # no solver found it, or it is zero
            return f"({text}, residual {result['residual']:.0e})"
        excess = result["value"] / best - 1
        told = f"value {excess:+.1%}" if abs(excess) < 1 else "far off"
        return f"({text}, residual {result['residual']:.0e}, {told})"
    if abs(result["value"] - best) > 1e-2 * abs(best) + 1e-9:
        return f"({text}, other pairs)"
    return text


def table(results: dict[str, dict[str, Any]]) -> str:
    """Lay out the results, one row a matrix, one column a solver."""
    lines = ["| matrix | rows | tolerance | " + " | ".join(SOLVERS) + " |", "|---" * (3 + len(SOLVERS)) + "|"]
    for name, row in results.items():
        good = [one["value"] for one in row["solvers"].values() if one.get("converged")]
        best = (max if PROBLEMS[name].largest else min)(good, default=0.0)
        cells = [_cell(row["solvers"].get(solver), best) for solver in SOLVERS]
        lines.append(
            f"| {PROBLEMS[name].title} | {row['rows']:,} | {PROBLEMS[name].tolerance:.0e} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eigensolvers", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS), metavar="PROBLEM")
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=list(SOLVERS), metavar="SOLVER")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time that one solve may take")
    parser.add_argument("--megabytes", type=int, default=8000, help="address space of one solve")
    parser.add_argument("--out", type=Path, help="a JSON file of results; those it holds are not measured again")
    parser.add_argument("--matrices", type=Path, help="a folder that keeps the matrices")
    parser.add_argument("--one", nargs=3, metavar=("PROBLEM", "SOLVER", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        name, solver, path = options.one
        warnings.simplefilter("ignore")
        print(json.dumps(solve(name, solver, Path(path), options.seconds, options.megabytes)))
        return 0
    results = json.loads(options.out.read_text()) if options.out and options.out.is_file() else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.matrices or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.problems:
            problem = PROBLEMS[name]
            path = _store(problem, folder / name)
            rows = int(_load(path).shape[0])
            row = results.setdefault(name, {"rows": rows, "solvers": {}})
            for solver in options.solvers:
                fits = (
                    rows <= _LARGEST_DENSE if solver == "LAPACK" else solver != "multilevel" or problem.n_vectors <= 56
                )
                if solver in row["solvers"] or problem.kind not in SOLVERS[solver][0] or not fits:
                    continue
                row["solvers"][solver] = _in_a_process(name, solver, path, options.seconds, options.megabytes)
                print(name, solver, row["solvers"][solver], file=sys.stderr, flush=True)
                if options.out:
                    options.out.write_text(json.dumps(results, indent=1))
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
