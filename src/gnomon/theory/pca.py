"""Attractions and repulsions between points end at principal component analysis: a certificate for one table.

It follows a descent, recorded as it goes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._progress import Progress, Reporter
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.affinities import Gram
from gnomon.data import check_table
from gnomon.initialization import strain_start
from gnomon.linalg import principal_components, procrustes_error
from gnomon.linalg.table import evenly_spaced
from gnomon.objectives import Strain
from gnomon.optimizers import SafeDescent, Solution
from gnomon.optimizers.safe_descent import BABYLONIAN_RATE

__all__ = ["PCACertificate", "descend", "pca_certificate"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "n_components": Integer(1),
    "step": Options("safe", "babylonian"),
    "max_iter": Integer(0),
    "tol": Real(0.0),
    "every": Integer(1),
}
_ROUNDING = 16 * np.finfo(np.float64).eps  # of the squared norm of the similarity, from which the loss is a difference


def descend(
    objective: Strain,
    n_components: int,
    *,
    step: str = "safe",
    max_iter: int,
    tol: float,
    every: int = 1,
    seed: int = 0,
) -> tuple[Solution, list[int], list[Float64Array]]:
    """Descend a strain from a small random start and keep the embedding after each `every` iterations.

    Returns
    -------
    solution : Solution
    iterations : list of int
        0 for the start, then those at which an embedding was kept; the last one always.
    embeddings : list of ndarray of shape (n_samples, n_components), float64
    """
    start = strain_start(objective.gram, n_components, seed)
    safe = objective.safe_bound(start)
    iterations, embeddings = [0], [start]

    def keep(progress: Progress) -> None:
        if progress.embedding is not None and progress.done > iterations[-1]:
            iterations.append(progress.done)
            embeddings.append(np.array(progress.embedding, dtype=np.float64))

    preconditioned = step == "babylonian"
    optimizer = SafeDescent(
        BABYLONIAN_RATE if preconditioned else safe.learning_rate,
        preconditioned=preconditioned,
        tol=None,
        n_iter_without_progress=None,
        max_iter=max_iter,
        min_grad_norm=safe.gradient_tolerance(tol),
        block=every,
    )
    with single_threaded_blas():  # once: each entry takes a millisecond
        solution = optimizer.minimize(objective, start, reporter=Reporter(keep))
    return solution, iterations, embeddings


@dataclass(frozen=True)
class PCACertificate(Printed):
    """What was seen on the path from a random start to the principal components.

    Attributes
    ----------
    n_samples, n_components : int
    step : {"safe", "babylonian"}
    gamma : float
        The step of Y + gamma (T Y - Yc Yc'Yc) that is proved safe; the one taken if `step` is "safe".
    radius : float
        rho, which the squared spectral norm of Yc never exceeds under the safe step.
    eigenvalues : ndarray of shape (n_components + 1,), float64
        The largest of T, the last one with the gap behind it; 0 where there is none.
    iterations : ndarray of shape (n_records,), int64
        At which the four below were recorded; the start is 0.
    loss : ndarray of shape (n_records,), float64
    gradient_norm : ndarray of shape (n_records,), float64
        Frobenius norm.
    error : ndarray of shape (n_records,), float64
        Relative Procrustes distance from direct PCA.
    spread : ndarray of shape (n_records,), float64
        Squared spectral norm of Yc.
    gram_error : float
        |Yc Yc' - U Lam U'| / |U Lam U'| in Frobenius norms at the end, which knows of no rotation.
    monotone : bool
        Whether the loss never rose from one record to the next by more than its rounding.
    converged : bool
        Whether the gradient fell below its tolerance.
    n_iter : int
    seconds : float
        Of the descent, what recording costs included.
    reason : str
        Why it ended.
    """

    n_samples: int
    n_components: int
    step: str
    gamma: float
    radius: float
    eigenvalues: Float64Array
    iterations: npt.NDArray[np.int64]
    loss: Float64Array
    gradient_norm: Float64Array
    error: Float64Array
    spread: Float64Array
    gram_error: float
    monotone: bool
    converged: bool
    n_iter: int
    seconds: float
    reason: str

    @property
    def procrustes_error(self) -> float:
        """Relative distance of the last embedding from direct PCA over all rotations."""
        return float(self.error[-1])

    @property
    def expected_rate(self) -> float:
        """Factor by which the safe step shrinks the error in an iteration at the end: 1 - gamma (gap)."""
        return float(1.0 - self.gamma * (self.eigenvalues[-2] - self.eigenvalues[-1]))

    @property
    def observed_rate(self) -> float:
        """The same factor as measured over the second half of the records; NaN for fewer than four of them."""
        half = len(self.error) // 2
        first, last = self.error[half], self.error[-1]
        n_iter = self.iterations[-1] - self.iterations[half]
        if len(self.error) < 4 or n_iter == 0 or first == 0.0:
            return float("nan")
        return float((last / first) ** (1.0 / n_iter))

    def holds(self, tol: float = 1e-6) -> bool:
        """Return whether the descent converged to PCA within a relative error, monotonely if the step is safe."""
        return self.converged and self.procrustes_error <= tol and (self.monotone or self.step != "safe")

    def summary(self, n_rows: int = 12) -> str:
        """Return the certificate in words, with a table of at most about `n_rows` evenly spaced records."""
        fell = "fell in every record" if self.monotone else "rose at least once"
        lines = [
            f"PCA by attraction and repulsion: {self.n_samples:,} points, {self.n_components} components, "
            f"{self.step} step",
            f"{self.reason} ({self.seconds:.2f} s)",
            f"Procrustes error to direct PCA {self.procrustes_error:.2e}, error of the inner products "
            f"{self.gram_error:.2e}; the loss {fell}.",
            f"gamma {self.gamma:.3e}, rho {self.radius:.3e}, largest squared spread {self.spread.max():.3e}; "
            f"rate {self.observed_rate:.5f} observed, {self.expected_rate:.5f} expected of the safe step",
            f"{'iteration':>9}  {'loss':>12}  {'|gradient|':>12}  {'error':>9}",
        ]
        rows = evenly_spaced(len(self.iterations), n_rows)
        lines += [
            f"{self.iterations[r]:9d}  {self.loss[r]:12.6e}  {self.gradient_norm[r]:12.6e}  {self.error[r]:9.2e}"
            for r in rows
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@entrance("pca_certificate", seeded=True)
def pca_certificate(
    X: Any,
    *,
    n_components: int = 2,
    step: str = "safe",
    max_iter: int = 5000,
    tol: float = 1e-8,
    every: int = 1,
    random_state: RandomState = 0,
) -> PCACertificate:
    """Run PCA by attraction and repulsion on a table and compare it with PCA by singular values.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Gram
        A table, whose similarity is linear, or any similarity; the direct solution of the latter is by eigenvectors.
    n_components : int >= 1, default=2
        Less than n_samples.
    step : {"safe", "babylonian"}, default="safe"
        See `gnomon.GradientPCA`.
    max_iter : int >= 0, default=5000
        Most iterations.
    tol : float >= 0, default=1e-8
        End when the norm of the gradient is below tol * 4 rho^(3/2).
    every : int >= 1, default=1
        Iterations between records.
    random_state : int, Generator, RandomState or None, default=0
        Of the start.

    Returns
    -------
    PCACertificate
        Print it for a summary.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023, lemma 1
       and theorem 1. Convergence is for almost every start, not for every one: saddles are critical points, too.
    """
    given = {"n_components": n_components, "step": step, "max_iter": max_iter, "tol": tol, "every": every}
    values = check_parameters(_RULES, given)
    table = None if isinstance(X, Gram) else check_table(X, accept_sparse=True, min_samples=2)
    gram = X if table is None else Gram.from_features(table.values)
    d, n = values["n_components"], gram.n_samples
    if d >= n:
        raise ValueError(message(f"n_components={d}", f"less than n_samples={n}"))
    direct, eigenvalues = _direct(gram, None if table is None else table.values, d)
    objective = Strain(gram)
    began = time.perf_counter()
    options = {name: values[name] for name in ("step", "max_iter", "tol", "every")}
    solution, iterations, embeddings = descend(objective, d, seed=current_run().seed, **options)
    seconds = time.perf_counter() - began
    safe, last = objective.safe_bound(embeddings[0]), embeddings[-1] - embeddings[-1].mean(axis=0)
    loss = np.array([objective.loss(embeddings[0]), *(value for _, value in solution.loss)])
    return PCACertificate(
        n_samples=n,
        n_components=d,
        step=values["step"],
        gamma=safe.gamma,
        radius=safe.radius,
        eigenvalues=eigenvalues,
        iterations=np.array(iterations, dtype=np.int64),
        loss=loss,
        **_measure(objective, embeddings, direct),
        gram_error=_gram_distance(last, direct),
        monotone=bool(np.all(np.diff(loss) <= _ROUNDING * gram.centred_squared_norm)),
        converged=solution.converged,
        n_iter=solution.n_iter,
        seconds=seconds,
        reason=solution.reason,
    )


def _direct(gram: Gram, X: Any, n_components: int) -> tuple[Float64Array, Float64Array]:
    """Return the solution by singular values or eigenvectors, and the leading d + 1 eigenvalues."""
    wanted = min(n_components + 1, gram.n_samples)
    if X is None:
        found = gram.leading_eigenpairs(wanted, seed=current_run().seed)
        scores = found.vectors[:, :n_components] * np.sqrt(np.maximum(found.values[:n_components], 0.0))
        return scores, np.pad(found.values, (0, n_components + 1 - wanted))
    double, wanted = X.astype(np.float64), min(wanted, *X.shape)
    model = principal_components(double, wanted, seed=current_run().seed)
    scores = np.asarray(model.transform(double))[:, :n_components]
    scores = np.pad(scores, ((0, 0), (0, n_components - scores.shape[1])))
    return scores, np.pad(model.singular_values**2, (0, n_components + 1 - wanted))


def _measure(objective: Strain, embeddings: list[Float64Array], direct: Float64Array) -> dict[str, Any]:
    """Return the columns of the record that the descent does not bring along."""
    with single_threaded_blas():  # once: each entry takes a millisecond
        return {
            "gradient_norm": np.array([np.linalg.norm(objective.gradient(Y)) for Y in embeddings]),
            "error": np.array([procrustes_error(Y, direct) for Y in embeddings]),
            "spread": np.array([np.linalg.norm(Y - Y.mean(axis=0), 2) ** 2 for Y in embeddings]),
        }


def _gram_distance(Y: Float64Array, reference: Float64Array) -> float:
    """Return |Y Y' - Z Z'| / |Z Z'| in Frobenius norms, through a QR factor of both and nothing of n x n."""
    d = Y.shape[1]
    triangle: Float64Array = np.asarray(np.linalg.qr(np.concatenate([Y, reference], axis=1), mode="r"))
    own, other = triangle[:, :d] @ triangle[:, :d].T, triangle[:, d:] @ triangle[:, d:].T
    size = float(np.linalg.norm(other))
    return float(np.linalg.norm(own - other)) / (size if size > 0.0 else 1.0)
