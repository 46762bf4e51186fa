"""What the determinism check asks of a map: each explanation, answer, score and verdict by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.evaluation import compare_embeddings, structureless

__all__ = ["QUESTIONS", "Question", "map_of"]

Question = Callable[[gnomon.Map], Any]

_GROUPS = 5
_OF_ITS_OWN = 7  # the row that questions about one point are asked about


def map_of(X: npt.NDArray[Any], labels: npt.NDArray[Any] | None, method: str, n_jobs: int, max_iter: int | None) -> Any:
    """Return the map of a table that all questions are asked of.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,) or None
        None takes five groups of rows, by their means.
    method : str
        A name in `gnomon.methods.METHODS`.
    n_jobs : int
    max_iter : int or None
        Iterations of a method that has them; None for the usual number.

    Returns
    -------
    gnomon.Map
    """
    from gnomon.methods import METHODS

    if labels is None:
        ranks = np.argsort(np.argsort(X.mean(axis=1), kind="stable"), kind="stable")
        labels = ranks * _GROUPS // len(X)
    estimator = next(card.estimator for card in METHODS if card.name == method)
    limited = max_iter is not None and "max_iter" in getattr(gnomon, estimator)().get_params()
    options = {"max_iter": max_iter} if limited else {}
    return gnomon.map(X, method=method, labels=labels, random_state=0, n_jobs=n_jobs, **options)


def _picked(asked: gnomon.Map, number: int) -> Any:
    """Return one of the labels, in their order."""
    return np.unique(np.asarray(asked.labels))[number]


def _group(asked: gnomon.Map, number: int) -> npt.NDArray[np.bool_]:
    return np.asarray(np.asarray(asked.labels) == _picked(asked, number))


def _far(asked: gnomon.Map) -> Any:
    """Return a label that the point asked about does not have."""
    own = np.asarray(asked.labels)[_OF_ITS_OWN]
    return next(label for label in np.unique(np.asarray(asked.labels)) if label != own)


def _explanation(asked: gnomon.Map) -> dict[str, Any]:
    told = asked.explain()
    names = ("mask", "r2", "r2_error", "push_r2", "push_scale", "ellipses", "semi_axes", "direction", "importance")
    values = {name: getattr(told, name) for name in names}
    point = {"axes": told.axes(_OF_ITS_OWN), "axes_error": told.axes_error(_OF_ITS_OWN)}
    return {**values, **point, "foretell": told.foretell(_OF_ITS_OWN, _moved(asked))}


def _inverse_explanation(asked: gnomon.Map) -> dict[str, Any]:
    told = gnomon.explain(asked.X, asked.embedding, fit="inverse", n_jobs=asked.n_jobs)
    names = ("mask", "r2", "fit_r2", "push_r2", "importance")
    point = {"axes": told.axes(_OF_ITS_OWN), "axes_error": told.axes_error(_OF_ITS_OWN)}
    return {**{name: getattr(told, name) for name in names}, **point}


def _moved(asked: gnomon.Map) -> npt.NDArray[Any]:
    """Return rows half way from one row of the table to the next."""
    rows = np.asarray(asked.X[:20])
    return (rows[1:] + rows[:-1]) / 2


def _axis(asked: gnomon.Map) -> tuple[Any, Any]:
    along = asked.axis(direction=[1.0] + [0.0] * (asked.embedding.shape[1] - 1))
    return along, along.profile(int(along.indices[0]))


def _nearer(asked: gnomon.Map) -> Any:
    return asked.is_nearer(*(_picked(asked, number) for number in range(3)))


def _agreement(asked: gnomon.Map) -> Any:
    other = gnomon.PCA(random_state=0, n_jobs=asked.n_jobs).fit_transform(asked.X)
    return compare_embeddings(asked.embedding, other, n_permutations=5, random_state=0, n_jobs=asked.n_jobs)


QUESTIONS: dict[str, Question] = {
    "explain": _explanation,
    "explain, inverse": _inverse_explanation,
    "why": lambda asked: asked.why(_OF_ITS_OWN, 10),
    "axis and profile": _axis,
    "contrast": lambda asked: asked.contrast(_group(asked, 0), _group(asked, 1)),
    "profiles": lambda asked: asked.profiles(),
    "captions": lambda asked: asked.captions(),
    "feature_groups": lambda asked: asked.feature_groups().explanation.importance,
    "importance": lambda asked: asked.importance(),
    "counterfactual": lambda asked: asked.counterfactual(_OF_ITS_OWN, _far(asked)),
    "suspects and outliers": lambda asked: (asked.suspects(), asked.outliers()),
    "transform": lambda asked: asked.transform(_moved(asked)),
    "distortion": lambda asked: asked.explain().distortion,
    "evaluate": lambda asked: asked.evaluate(),
    "scorecard": lambda asked: asked.scorecard(),
    "point_scores": lambda asked: asked.point_scores(),
    "intrinsic_dimension": lambda asked: asked.intrinsic_dimension(),
    "clusters": lambda asked: asked.clusters(),
    "verdicts": lambda asked: asked.verdicts(),
    "illusions": lambda asked: asked.illusions(),
    "are_apart": lambda asked: asked.are_apart(_picked(asked, 0), _picked(asked, 1)),
    "is_real": lambda asked: asked.is_real(_picked(asked, 0)),
    "is_denser": lambda asked: asked.is_denser(_picked(asked, 0), _picked(asked, 1)),
    "is_nearer": _nearer,
    "agreement of maps": _agreement,
    "structureless": lambda asked: [structureless(asked.X, kind) for kind in ("copula", "elliptical")],
}
"""By name: what is asked, in words of `gnomon.Map` where it has them."""
