"""Rotation, reflection, scaling and translation that bring one set of points closest to another, and chains of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._validation import message
from gnomon.linalg.products import product
from gnomon.linalg.stacks import small_svd

__all__ = ["MeanShape", "Procrustes", "align", "mean_shape", "procrustes", "procrustes_error"]

Float64Array = npt.NDArray[np.float64]

_ROUNDS = 100
_STILL = 1e-12  # change of the mean in a round, over its size, that ends the rounds


@dataclass(frozen=True)
class Procrustes(ShortRepr):
    """A similarity of the plane or space: ``scale * A @ rotation + translation``.

    Attributes
    ----------
    rotation : ndarray of shape (d, d), float64
        Orthogonal; its determinant is -1 where a reflection fits better.
    scale : float
        At least 0; 1 if no scale was asked for.
    translation : ndarray of shape (d,), float64
    disparity : float
        Sum of squares that is left, as a share of the sum of squares of the target around its mean; with a free scale
        in [0, 1]. NaN if the target has no spread.
    """

    rotation: Float64Array
    scale: float
    translation: Float64Array
    disparity: float

    def apply(self, A: npt.ArrayLike) -> Float64Array:
        """Move points; rows with missing coordinates come out missing."""
        moved: Float64Array = self.scale * product(np.asarray(A, dtype=np.float64), self.rotation) + self.translation
        return moved


@entrance("procrustes")
def procrustes(A: npt.ArrayLike, B: npt.ArrayLike, *, scaling: bool = True) -> Procrustes:
    """Find the similarity that brings A closest to B in the sum of squares.

    Parameters
    ----------
    A, B : array-like of shape (n, d)
        Row i of one belongs to row i of the other. Rows that are not finite in both take no part.
    scaling : bool, default=True
        Whether A may be scaled; otherwise it is only rotated, reflected and translated.

    Returns
    -------
    Procrustes
        Without two distinct points in common the rotation is the identity and the scale 1.

    References
    ----------
    P. H. Schönemann. A generalized solution of the orthogonal Procrustes problem. Psychometrika 31, 1966.
    """
    source, target = _points(A, "A"), _points(B, "B")
    if source.shape != target.shape:
        raise ValueError(message(f"A of shape {source.shape}", f"of the shape of B, {target.shape}"))
    both = np.isfinite(source).all(axis=1) & np.isfinite(target).all(axis=1)
    d = source.shape[1]
    if not both.any():
        return Procrustes(np.eye(d), 1.0, np.zeros(d), float("nan"))
    source, target = source[both], target[both]
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    source, target = source - source_mean, target - target_mean
    left, values, right = small_svd(product(source.T, target))
    rotation = product(left, right.T) if values[0] > 0 else np.eye(d)
    spread, goal = float((source**2).sum()), float((target**2).sum())
    scale = float(values.sum()) / spread if scaling and spread > 0 and values[0] > 0 else 1.0
    rest = float(((scale * product(source, rotation) - target) ** 2).sum())
    disparity = rest / goal if goal > 0 else float("nan")
    return Procrustes(rotation, scale, target_mean - scale * product(source_mean[None], rotation)[0], disparity)


def procrustes_error(Y: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Return the least relative distance of Y from a reference over all translations, rotations and reflections.

    Parameters
    ----------
    Y, reference : array-like of shape (n_samples, n_components)

    Returns
    -------
    float
        min over orthogonal Q of |HY Q - H reference| / |H reference| in Frobenius norms; 0 where both are constant.
        Sizes are compared too: no factor is divided out.
    """
    disparity = procrustes(Y, reference, scaling=False).disparity
    if np.isnan(disparity):  # the reference is constant
        return float("inf") if np.ptp(np.asarray(Y), axis=0).any() else 0.0
    return float(np.sqrt(disparity))


@entrance("align")
def align(embeddings: Sequence[npt.ArrayLike], *, reference: int = 0, scaling: bool = True) -> list[npt.NDArray[Any]]:
    """Rotate, reflect and translate embeddings of the same points: each follows its neighbour with least motion.

    Parameters
    ----------
    embeddings : sequence of array-like of shape (n, d)
        In their order; rows that are not finite stay so and take no part.
    reference : int, default=0
        The embedding that stays as it is. Those after it are aligned to the one before each, those before it to the
        one after each.
    scaling : bool, default=True
        Bring all to the spread (root mean square distance from the mean) of the reference. The spread and not the
        best fit is equalised: the best fit would shrink an embedding the more, the less it resembles its neighbour.

    Returns
    -------
    list of ndarray of shape (n, d)
        The reference itself; the others float32 where they were, else float64. The same for the same input.
    """
    given = _of_one_shape(embeddings)
    if not -len(given) <= reference < len(given):
        raise ValueError(message(f"reference={reference}", f"the number of one of {len(given)} embeddings"))
    start = reference % len(given)
    aligned = list(given)
    goal = _spread(given[start])
    neighbors = [(k, k - 1) for k in range(start + 1, len(given))] + [(k, k + 1) for k in range(start - 1, -1, -1)]
    for k, neighbor in neighbors:
        points = _points(given[k], "embeddings")
        spread = _spread(points) if scaling else goal
        if spread > 0 and goal > 0:
            points = points * (goal / spread)
        moved = procrustes(points, aligned[neighbor], scaling=False).apply(points)
        aligned[k] = moved.astype(np.float32) if given[k].dtype == np.float32 else moved
    return aligned


@dataclass(frozen=True)
class MeanShape(ShortRepr):
    """Embeddings of the same points laid over each other, and their mean.

    Attributes
    ----------
    mean : ndarray of shape (n, d), float64
        Of the embeddings that hold each point; NaN for a point that none holds.
    aligned : ndarray of shape (n_embeddings, n, d), float64
    scales : ndarray of shape (n_embeddings,), float64
        By what each embedding was multiplied; 1 where it has no spread.
    n_iter : int
        Rounds of alignment.
    """

    mean: Float64Array
    aligned: Float64Array
    scales: Float64Array
    n_iter: int


@entrance("mean_shape")
def mean_shape(
    embeddings: Sequence[npt.ArrayLike], *, reference: npt.ArrayLike | None = None, scaling: bool = True
) -> MeanShape:
    """Lay embeddings of the same points over their common mean: generalised Procrustes analysis.

    In turn each embedding is rotated, reflected and translated onto the mean, and the mean is taken anew, until it
    stands still. The whole is then laid over the reference.

    Parameters
    ----------
    embeddings : sequence of array-like of shape (n, d)
        Row i of all is the same point; NaN where an embedding does not hold it.
    reference : array-like of shape (n, d), default=None
        Where rounds start, and what gives the frame and the size of the result; None takes the first embedding.
    scaling : bool, default=True
        Bring all embeddings to the spread (root mean square distance from the mean) of the reference first.

    Returns
    -------
    MeanShape

    References
    ----------
    J. C. Gower. Generalized Procrustes analysis. Psychometrika 40, 1975.
    """
    given = [_points(one, "embeddings") for one in _of_one_shape(embeddings)]
    start = given[0] if reference is None else _points(reference, "reference")
    if start.shape != given[0].shape:
        raise ValueError(message(f"reference of shape {start.shape}", f"of the shape of embeddings, {given[0].shape}"))
    goal, spreads = _spread(start), np.array([_spread(one) for one in given])
    scales = np.ones(len(given))
    if scaling and goal > 0:
        scales = np.where(spreads > 0, goal / np.where(spreads > 0, spreads, 1.0), 1.0)
    points = [one * scale for one, scale in zip(given, scales, strict=True)]
    mean = start
    for n_iter in range(1, _ROUNDS + 1):
        aligned = np.stack([procrustes(one, mean, scaling=False).apply(one) for one in points])
        before, mean = mean, _mean_of_known(aligned)
        if n_iter > 1 and not np.nanmax(np.abs(mean - before), initial=0.0) > _STILL * max(goal, 1e-300):
            break
    onto = procrustes(mean, start, scaling=False)
    return MeanShape(onto.apply(mean), np.stack([onto.apply(one) for one in aligned]), scales, n_iter)


def _mean_of_known(aligned: Float64Array) -> Float64Array:
    known: npt.NDArray[np.bool_] = np.all(np.isfinite(aligned), axis=2)
    counts = known.sum(axis=0)[:, None]
    total = np.where(known[:, :, None], aligned, 0.0).sum(axis=0)
    mean: Float64Array = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return mean


def _of_one_shape(embeddings: Sequence[npt.ArrayLike]) -> list[npt.NDArray[Any]]:
    given = [np.asarray(one) for one in embeddings]
    if not given or any(one.ndim != 2 or one.shape != given[0].shape for one in given):
        shapes = ", ".join(str(one.shape) for one in given) or "none"
        raise ValueError(message(f"embeddings of shapes {shapes}", "one or more of the same shape (n, d)"))
    return given


def _points(values: npt.ArrayLike, name: str) -> Float64Array:
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(message(f"{name} of shape {points.shape}", "of shape (n, d)"))
    return points


def _spread(points: npt.ArrayLike) -> float:
    finite = np.asarray(points, dtype=np.float64)
    finite = finite[np.isfinite(finite).all(axis=1)]
    return float(np.sqrt(finite.var(axis=0).sum())) if len(finite) else 0.0
