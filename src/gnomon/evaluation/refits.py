"""The same method again on the same table: with other seeds, starts, draws of rows or parameters."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warning_once

__all__ = ["VARIED", "Refits", "method_again", "planned", "refit"]

VARIED = ("seeds", "starts", "bootstrap", "parameters")
"""What may differ from run to run."""
_N_RUNS = 10
_STREAM = 0x7275
_LARGEST_SEED = 2**31

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Refits:
    """Maps of one table.

    Attributes
    ----------
    reference : ndarray of shape (n_samples, n_components), float64
        The map that the others are compared with.
    embeddings : list of ndarray of shape (n_samples, n_components), float64
        One a run; NaN where a row was not drawn and the method cannot place it.
    drawn : ndarray of shape (n_runs, n_samples), bool
        Which rows each map was made of.
    settings : list of dict
        The parameters in which each run differs from the method that was given.
    """

    reference: Floats
    embeddings: list[Floats]
    drawn: npt.NDArray[np.bool_]
    settings: list[dict[str, Any]]


def planned(
    vary: str, n_runs: int | None, grid: Mapping[str, Sequence[Any]] | None, own_seed: Any, seed: int
) -> list[dict[str, Any]]:
    """Return the parameters in which each run differs from the method.

    Parameters
    ----------
    vary : str
        One of `VARIED`.
    n_runs : int or None
        None takes 10, or the size of the grid.
    grid : mapping of str to sequence, or None
        Values of parameters, all combinations of which are taken.
    own_seed : int or None
        ``random_state`` of the method.
    seed : int
        Draws the seeds of runs.
    """
    if vary == "parameters":
        from sklearn.model_selection import ParameterGrid

        if not grid:
            raise ValueError(
                message("grid", "a mapping of parameters to values", remedy="Pass grid={'n_neighbors': [10, 30]}.")
            )
        found = [dict(one) for one in ParameterGrid({name: list(values) for name, values in grid.items()})]
        if n_runs is not None and n_runs != len(found):
            fact = "the number of combinations"
            raise ValueError(message(f"n_runs={n_runs}", f"{len(found)}", fact=fact, remedy="Leave n_runs out."))
        common = {} if isinstance(own_seed, int | np.integer) else {"random_state": seed % _LARGEST_SEED}
        return [{**common, **one} for one in found]
    if grid is not None:
        raise ValueError(message("grid", "left out", fact=f"vary={vary!r}", remedy="Pass vary='parameters'."))
    count = _N_RUNS if n_runs is None else n_runs
    seeds = np.random.default_rng((seed, _STREAM)).choice(_LARGEST_SEED, size=count, replace=False)
    start = {"init": "random"} if vary == "starts" else {}
    return [{"random_state": int(one), **start} for one in seeds]


def method_again(estimator: Any, changes: Mapping[str, Any]) -> Any:
    """Return an unfitted copy of a method with other parameters, which takes its threads from the run around it.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
    changes : mapping
        New values of parameters.

    Raises
    ------
    TypeError
        If the object is not such a method.
    ValueError
        If it lacks a parameter that is to change.
    """
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, name, None)) for name in ("get_params", "set_params", "fit_transform")
    ):
        rule = "an estimator with get_params, set_params and fit_transform"
        raise TypeError(message("estimator", rule, fact=f"found {type(estimator).__name__}"))
    from sklearn.base import clone

    known = estimator.get_params(deep=False)
    for name in changes:
        if name not in known:
            fact = f"{type(estimator).__name__} has no parameter {name!r}"
            raise ValueError(message("estimator", f"one with the parameter {name!r}", fact=fact))
    silent = copy.copy(estimator)  # before it is cloned: a callback need not be one that can be copied
    if hasattr(estimator, "fit_sharing_graph"):
        quiet = {"callback": None, "n_jobs": None, "verbose": False}  # a subclass need not take them
        silent.set_params(**{name: value for name, value in quiet.items() if name in known})
    return clone(silent).set_params(**changes)


def refit(estimator: Any, X: Any, plan: Sequence[Mapping[str, Any]], *, vary: str, reference: Any, seed: int) -> Refits:
    """Make the maps of a plan, and the reference if none is given.

    Neighbours are searched once where only the seed or the start differs and the method takes them. What several of the
    maps warn of in the same words is told once.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
    X : ndarray or CSR matrix of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    plan : sequence of mapping
        As from `planned`.
    vary : str
        One of `VARIED`.
    reference : ndarray of shape (n_samples, n_components) or None
        None makes the map of the method as it is; one without a seed gets `seed`.
    seed : int
        Draws rows.
    """
    fits, told = _Fits(X, vary in ("seeds", "starts")), set[str]()
    if reference is None:
        known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        own = {"random_state": seed % _LARGEST_SEED} if known.get("random_state", 0) is None else {}
        with warning_once(told):
            reference = fits.fit(method_again(estimator, own))
    n = int(X.shape[0])
    drawn = np.ones((len(plan), n), dtype=np.bool_)
    if vary == "bootstrap":
        drawn[:] = False
        for run, rows in enumerate(_draws(n, len(plan), seed)):
            drawn[run, rows] = True
    embeddings = []
    for changes, some in zip(plan, drawn, strict=True):
        with warning_once(told):
            whole = bool(some.all())
            made = fits.fit(method_again(estimator, changes)) if whole else _of_some(estimator, changes, X, some)
        embeddings.append(made)
    return Refits(np.asarray(reference, dtype=np.float64), embeddings, drawn, [dict(one) for one in plan])


class _Fits:
    """Maps of all rows, which share the neighbours that the first of them found."""

    def __init__(self, X: Any, shared: bool) -> None:
        self.X, self.shared, self.graph = X, shared, None

    def fit(self, estimator: Any) -> Floats:
        parameters = estimator.get_params(deep=False)
        takes = (
            self.shared
            and hasattr(estimator, "fit_sharing_graph")
            and parameters.get("precomputed_knn", self) is None
            and parameters.get("blocks") is None
            and estimator.metric != "precomputed"
        )
        if not takes:
            return np.asarray(estimator.fit_transform(self.X), dtype=np.float64)
        if self.graph is not None:
            return np.asarray(estimator.set_params(precomputed_knn=self.graph).fit_transform(self.X), dtype=np.float64)
        found = estimator.fit_sharing_graph(self.X, 1)
        known = getattr(estimator, "graph_", None)
        # Neighbours among distinct rows, or in fewer features, are not those of the table.
        if found is not None and known is not None and found.metric == known.metric:
            self.graph = found if found.n_samples == self.X.shape[0] else None
        return np.asarray(estimator.embedding_, dtype=np.float64)


def _draws(n: int, n_runs: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield as many rows as there are, drawn with replacement."""
    for run in range(n_runs):
        yield np.random.default_rng((seed, _STREAM, run)).integers(n, size=n)


def _of_some(estimator: Any, changes: Mapping[str, Any], X: Any, drawn: npt.NDArray[np.bool_]) -> Floats:
    """Map some rows and place the others in their map."""
    method = method_again(estimator, changes)
    rows, others = np.flatnonzero(drawn), np.flatnonzero(~drawn)
    init = method.get_params(deep=False).get("init")
    if init is not None and not isinstance(init, str):
        method.set_params(init=np.asarray(init)[rows])
    of_pairs = method.get_params(deep=False).get("metric") == "precomputed"
    made = np.asarray(method.fit_transform(X[rows][:, rows] if of_pairs else X[rows]), dtype=np.float64)
    places = np.full((len(drawn), made.shape[1]), np.nan)
    places[rows] = made
    place = getattr(method, "place", None) or getattr(method, "transform", None)
    if place is not None:
        places[others] = place(X[others][:, rows] if of_pairs else X[others])
    return places
