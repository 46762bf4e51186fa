"""Does the gradient of a low-rank similarity lead where the full one does: measured along a path, and certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.affinities import Gram
from gnomon.linalg import LowRank, spectral_bounds
from gnomon.linalg.table import evenly_spaced
from gnomon.objectives import Strain
from gnomon.theory.pca import descend

__all__ = ["LowRankAlignment", "lowrank_alignment"]

Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_RULES: dict[str, Rule] = {
    "n_components": Integer(1),
    "max_iter": Integer(1),
    "every": Integer(1),
    "epsilon": Real(0.0),
}


@dataclass(frozen=True)
class LowRankAlignment(Printed):
    """The full gradient against that of the approximation, embedding by embedding.

    With E = H (K - Y Y') H and the residual R = H (K' - K) H of the approximation K', the gradients are -4 E Y and
    -4 (E + R) Y.

    Attributes
    ----------
    iterations : ndarray of shape (n_records,), int64
        Of the path, or 0, 1, 2, ... for embeddings that were given.
    cosine : ndarray of shape (n_records,), float64
        Of the angle between both gradients; NaN where one of them is zero.
    inner_product : ndarray of shape (n_records,), float64
        <grad, grad'> = 16 <E Y, (E + R) Y>.
    gradient_norm : ndarray of shape (n_records,), float64
        Of the full gradient.
    condition : ndarray of shape (n_records,), bool
        |R Yc| < |E Yc|, which implies a positive inner product.
    certificate : ndarray of shape (n_records,), bool
        |grad| > 4 |R|_2 |Yc|, which implies the condition and needs of R its spectral norm only.
    printed_condition : ndarray of shape (n_records,), bool
        |T - Yc Yc'|^2 >= (1 + epsilon) (lambda_1 / lambda_d) |R|^2 as the paper's lemma 3 has it; it does not imply a
        positive inner product.
    residual_norm : float
        Upper estimate of |R|_2: Lanczos steps with a margin, or the residual trace where it is a bound and smaller.
    residual_frobenius : float
        |R| in Frobenius norm.
    subspace_bound : float
        Davis and Kahan's bound |R|_2 / (lambda_d - lambda_d+1 - |R|_2) on the sine of the angle between the components
        of K' and of K; infinite where the gap is too small for it.
    """

    iterations: npt.NDArray[np.int64]
    cosine: Float64Array
    inner_product: Float64Array
    gradient_norm: Float64Array
    condition: BoolArray
    certificate: BoolArray
    printed_condition: BoolArray
    residual_norm: float
    residual_frobenius: float
    subspace_bound: float

    @property
    def always_aligned(self) -> bool:
        """Whether the inner product was positive wherever neither gradient is zero."""
        return bool(np.all(self.inner_product[np.isfinite(self.cosine)] > 0.0))

    @property
    def certified_share(self) -> float:
        """Share of the records for which the certificate holds."""
        return float(self.certificate.mean())

    def summary(self, n_rows: int = 12) -> str:
        """Return the comparison in words, with a table of at most about `n_rows` evenly spaced records."""
        finite = self.cosine[np.isfinite(self.cosine)]
        least = float(finite.min()) if finite.size else float("nan")
        lines = [
            f"Low-rank gradient: |R|_2 <= {self.residual_norm:.3e}, |R| = {self.residual_frobenius:.3e}, "
            f"angle to the true components: sine <= {self.subspace_bound:.3g}",
            f"Smallest cosine {least:.4f} over {len(self.cosine)} embeddings; certified for "
            f"{100 * self.certified_share:.0f} %, condition holds for {100 * float(self.condition.mean()):.0f} %",
            f"{'iteration':>9}  {'|gradient|':>12}  {'cosine':>8}  condition  certificate  printed",
        ]
        rows = evenly_spaced(len(self.iterations), n_rows)
        words = {True: "yes", False: "no"}
        lines += [
            f"{self.iterations[r]:9d}  {self.gradient_norm[r]:12.6e}  {self.cosine[r]:8.5f}  "
            f"{words[bool(self.condition[r])]:>9}  {words[bool(self.certificate[r])]:>11}  "
            f"{words[bool(self.printed_condition[r])]:>7}"
            for r in rows
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@entrance("lowrank_alignment", seeded=True)
def lowrank_alignment(
    gram: Gram,
    approximation: LowRank,
    embeddings: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
    *,
    n_components: int = 2,
    max_iter: int = 300,
    every: int = 1,
    epsilon: float = 0.0,
    random_state: RandomState = 0,
) -> LowRankAlignment:
    """Compare the gradient of PCA with that of a low-rank approximation of its similarity.

    Parameters
    ----------
    gram : Gram
        The similarity K.
    approximation : LowRank
        K' = B B', for instance ``gram.centred().approximate("nystrom", rank=50)``.
    embeddings : array-like of shape (n_samples, n_components), a sequence of such, or None, default=None
        Where to compare. None: along the safe descent of the approximation from a small random start.
    n_components : int >= 1, default=2
        Of that descent.
    max_iter, every : int >= 1, default=300 and 1
        Most iterations of that descent, and iterations between comparisons.
    epsilon : float >= 0, default=0.0
        Of the printed condition.
    random_state : int, Generator, RandomState or None, default=0
        Of the start.

    Returns
    -------
    LowRankAlignment
        Print it for a summary.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023, lemma 3,
       with the condition corrected.
    """
    given = {"n_components": n_components, "max_iter": max_iter, "every": every, "epsilon": epsilon}
    values, seed = check_parameters(_RULES, given), current_run().seed
    if approximation.n_samples != gram.n_samples:
        found = f"approximation of {approximation.n_samples:,} points"
        raise ValueError(message(found, f"of the similarity's {gram.n_samples:,} points"))
    low = Gram.from_factor(approximation)
    if embeddings is None:
        options = {name: values[name] for name in ("max_iter", "every")}
        _, iterations, path = descend(Strain(low), values["n_components"], tol=1e-8, seed=seed, **options)
    else:
        path = _as_list(embeddings)
        iterations = list(range(len(path)))
    d = path[0].shape[1]
    leading = gram.leading_eigenpairs(min(d + 1, gram.n_samples), seed=seed).values
    norm, frobenius = _residual_norms(gram, low, approximation)
    strain = Strain(gram)
    with single_threaded_blas():  # once: each entry takes a millisecond
        columns = _compare(gram, low, path, norm)
        losses = np.array([strain.loss(Y) for Y in path])
    stretch = leading[0] / leading[d - 1] if leading[d - 1] > 0.0 else np.inf
    gap = float(leading[d - 1] - leading[d]) if d < len(leading) else 0.0
    return LowRankAlignment(
        iterations=np.array(iterations, dtype=np.int64),
        **columns,
        printed_condition=losses >= (1.0 + values["epsilon"]) * stretch * frobenius**2,
        residual_norm=norm,
        residual_frobenius=frobenius,
        subspace_bound=norm / (gap - norm) if gap > norm else float("inf"),
    )


def _as_list(embeddings: npt.ArrayLike | Sequence[npt.ArrayLike]) -> list[Float64Array]:
    stacked = np.asarray(embeddings, dtype=np.float64)
    if stacked.ndim not in (2, 3) or 0 in stacked.shape:
        rule = "one of shape (n_samples, n_components), or several"
        raise ValueError(message(f"embeddings of shape {stacked.shape}", rule))
    return [stacked] if stacked.ndim == 2 else list(stacked)


def _residual_norms(gram: Gram, low: Gram, approximation: LowRank) -> tuple[float, float]:
    """Return an upper estimate of the spectral norm of the residual, and its Frobenius norm."""
    lowest, highest = spectral_bounds(lambda Y: low.centred_matvec(Y) - gram.centred_matvec(Y), gram.n_samples)
    norm = min(max(-lowest, highest, 0.0), approximation.error_bound)
    factor = approximation.centred().B
    cross = float(np.vdot(factor, gram.centred_matvec(factor))) if factor.size else 0.0
    squared = gram.centred_squared_norm - 2.0 * cross + low.centred_squared_norm
    return norm, float(np.sqrt(max(squared, 0.0)))


def _compare(gram: Gram, low: Gram, path: list[Float64Array], norm: float) -> dict[str, Any]:
    """Return the columns of the comparison that depend on the embedding."""
    records = []
    for Y in path:
        points = Y - Y.mean(axis=0)
        full = gram.centred_matvec(points)
        change = low.centred_matvec(points) - full
        error = full - points @ (points.T @ points)
        inner = 16.0 * float(np.vdot(error, error + change))
        sizes = 16.0 * float(np.linalg.norm(error)) * float(np.linalg.norm(error + change))
        gradient = 4.0 * float(np.linalg.norm(error))
        records.append(
            (
                inner / sizes if sizes > 0.0 else np.nan,
                inner,
                gradient,
                float(np.linalg.norm(change)) < float(np.linalg.norm(error)),
                gradient > 4.0 * norm * float(np.linalg.norm(points)),
            )
        )
    names = ("cosine", "inner_product", "gradient_norm", "condition", "certificate")
    return {name: np.array(column) for name, column in zip(names, zip(*records, strict=True), strict=True)}
