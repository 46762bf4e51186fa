"""A map made again by its own method, to see what of it stays and what chance gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon._validation import message, warning_once

if TYPE_CHECKING:
    from gnomon.evaluation import MapStability, NullScores
    from gnomon.maps.result import Map

__all__ = ["method_of", "null_scores", "stability"]

_NEIGHBORS = 15  # that stability follows where there are enough rows


def stability(result: Map, n_runs: int | None, vary: str, options: dict[str, Any]) -> MapStability:
    """Make a map again by the method that made it, or raise ValueError if it cannot be made alike."""
    from gnomon.evaluation import stability_of_maps

    method = method_of(result, remedy="Call gnomon.evaluation.compare_runs with maps that you made.")
    given: dict[str, Any] = {"labels": result.labels if len(result._classes()) else None, "n_jobs": result.n_jobs}
    n = int(result.X.shape[0])
    if 3 <= n < _NEIGHBORS + 2:  # with as many all rows would be neighbours
        given["n_neighbors"] = (n - 1) // 2
    given |= options
    return stability_of_maps(method, result._mapped(), vary=vary, n_runs=n_runs, reference=result.embedding, **given)


def null_scores(result: Map, options: dict[str, Any]) -> NullScores:
    """Score maps of structureless tables by the method that made a map, or raise ValueError if it cannot."""
    from gnomon.evaluation import null_scores
    from gnomon.evaluation.refits import method_again

    method = method_of(result, remedy="Call gnomon.evaluation.null_scores with a function that makes maps.")

    told = set[str]()

    def embed(table: Any) -> Any:
        with warning_once(told):
            return method_again(method, {}).fit_transform(table)

    return null_scores(result._mapped(), result.embedding, embed, **options)


def method_of(result: Map, *, remedy: str) -> Any:
    """Return the method of a map that can be made again from its table alone, or raise ValueError.

    Parameters
    ----------
    result : Map
    remedy : str
        The last sentence of the error.
    """
    method, why = result._estimator, ""
    if method is None:
        why = "its method is not known"
    elif result.surface is not None:
        why = result.surface.words
    elif result.caution:
        why = "a target steered it"
    elif getattr(method, "_weighted", False):
        why = "rows were weighted"
    elif getattr(method, "_takes_distances", False):
        why = "it is made of given distances"
    elif len(getattr(method, "embedding_", result.embedding)) != result.n_samples:
        why = "rows were added to it"
    if why:
        raise ValueError(message("a map", "one that its method makes from the table alone", fact=why, remedy=remedy))
    return method
