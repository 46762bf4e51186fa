"""The search for tables with the same map: change, map again, compare with what another seed does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Rule, check_parameters, message
from gnomon.data import check_labels, check_table
from gnomon.data.names import default_names
from gnomon.evaluation.refits import method_again, planned
from gnomon.exceptions import GnomonWarning
from gnomon.extension.sensitivity import Sensitivity
from gnomon.linalg import procrustes
from gnomon.methods import sensitivity
from gnomon.twins.changes import Change, Distance, Floats, Groups, Shift, Unfolded, Width
from gnomon.twins.result import Answers, BlindSpots, Twin

__all__ = ["Search", "blind_spots", "open_search"]

_RULES: dict[str, Rule] = {"n_seeds": Integer(low=1), "n_shifts": Integer(low=0)}
_SAME = 1e-3  # disparity up to which maps are the same, however alike those of two seeds are
_MOST_DIFFERENTIATED = 1500  # rows up to which the exact derivative is taken
_FEWEST = 5  # rows of a group that is changed
_FEWEST_CLUSTERED = 60  # rows in which clusters are looked for
_LADDERS = {
    "wider": (1.5, 2.0, 4.0),
    "narrower": (0.67, 0.5, 0.25),
    "farther": (1.5, 2.0, 4.0),
    "nearer": (0.75, 0.5, 0.25),
    "raised": (1.0, 2.0, 4.0),
}
"""Amounts of each kind of change, from the least that a person would notice on."""
_CLEARLY = 2.0  # times the largest disparity of seeds: no seed will make such a map the same
_UNIT = 0.01  # of the amount: the derivative is linear, the step only keeps the numbers apart
_FLAT_NEIGHBORS = 10
_NOTICED = 0.05  # disparity of a table and its unfolded form from which there was something to unfold


@entrance("blind_spots", seeded=True)
def blind_spots(
    estimator: Any,
    X: Any,
    *,
    labels: npt.ArrayLike | None = None,
    n_seeds: int = 9,
    n_shifts: int = 2,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> BlindSpots:
    """Search for changes of a table that its map does not show: other data, the same map.

    What differs between two tables that have the same map cannot be read from it. Groups of rows are made wider and
    narrower, moved farther from and nearer to the nearest other group, and raised in the features to which their points
    answer least by the exact derivative of the map; all folds of the table are laid flat. The method maps each changed
    table, with the same seed, first by the smallest amount that a person would notice; while the map stays the same,
    the amount grows. Maps are the same whose Procrustes disparity is at most that of two seeds of the table as it is,
    by the median over seeds. A random start is drawn once: all maps begin where the map of the table as it is came to
    rest, since a start knows no table and two of them give unlike maps of the same one. Where seeds still differ, as
    those of sampled methods do, the changed table is mapped by them in turn until a map is the same. A table without
    groups, or of a single one, is only laid flat: made wider, moved or raised as a whole it is the same table.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
        Any method with a ``random_state``; it is copied and stays as it is.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    labels : array-like of shape (n_samples,) or None, default=None
        Groups, of which those of five rows or more are changed. None takes the clusters of `gnomon.find_clusters`, if
        there are any.
    n_seeds : int >= 1, default=9
        Further seeds of the table as it is.
    n_shifts : int >= 0, default=2
        Features of each group that are raised.
    random_state : int, Generator or None, default=0
        Seed of the maps where the estimator has none, and of the other seeds.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    BlindSpots
        About 8 + 2 `n_shifts` maps a group are made at most, and up to `n_seeds` times as many where seeds differ.

    Raises
    ------
    TypeError
        If the estimator is no method, or X is sparse.
    ValueError
        If no group has five rows.
    """
    checked = check_parameters(_RULES, {"n_seeds": n_seeds, "n_shifts": n_shifts})
    search = open_search(estimator, X, labels, current_run().seed)
    values, groups, names = search.X, search.groups, search.names
    seeds = search.other_seeds(checked["n_seeds"])
    threshold = search.threshold(seeds)
    derivative = search.derivative()
    answers = None if derivative is None else search.answers(derivative)
    ladders = _ladders(values, groups, len(names), None if answers is None else answers.features, checked["n_shifts"])
    moves = search.moves([ladder[0] for ladder in ladders], derivative)
    twins = [search.climb(ladder, threshold, move) for ladder, move in zip(ladders, moves, strict=True)]
    flat = Unfolded(1.0, _FLAT_NEIGHBORS)
    if procrustes(search.changed(flat), values).disparity > _NOTICED:
        twins.append(search.climb([flat], threshold, float("nan")))
    order = {True: 0, False: 1}
    twins.sort(key=lambda twin: (order[twin.same], -_size(twin.change) if twin.same else -twin.disparity))
    return BlindSpots(
        X=values,
        embedding=search.reference,
        groups=groups,
        group_names=names,
        feature_names=search.features,
        seeds=seeds,
        threshold=threshold,
        twins=twins,
        answers=answers,
        n_fits=search.n_fits,
        parameters=search.own,
    )


def open_search(estimator: Any, X: Any, labels: npt.ArrayLike | None, seed: int) -> Search:
    """Return a search among tables like X, with the map of X made.

    Parameters
    ----------
    estimator, X, labels : as in `blind_spots`
    seed : int
        Of the maps where the estimator has none, and of other seeds.
    """
    table = check_table(X, accept_sparse=False)
    values = np.asarray(table.values, dtype=np.float64)
    groups, names = _groups(values, labels)
    return Search(estimator, values, groups, names, list(table.feature_names or default_names(values.shape[1])), seed)


def _groups(X: Floats, labels: npt.ArrayLike | None) -> tuple[Groups, list[str]]:
    if labels is None:
        from gnomon.clusters import find_clusters

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            found = find_clusters(X, random_state=0).labels if len(X) >= _FEWEST_CLUSTERED else np.zeros(len(X))
        return _parts(np.asarray(found, dtype=np.int64), [f"cluster {k}" for k in range(int(found.max()) + 1)])
    given = check_labels(labels, len(X)).astype(str)
    names, numbers, sizes = np.unique(given, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes >= _FEWEST)
    if kept.size == 0:
        fact = f"the largest has {sizes.max()}"
        raise ValueError(message("labels", f"groups of {_FEWEST} rows or more", fact=fact))
    place = np.full(names.size, -1, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    return _parts(place[numbers], [str(name) for name in names[kept]])


def _parts(groups: Groups, names: list[str]) -> tuple[Groups, list[str]]:
    """Return groups and their names; none where all rows are one, as what changes all of them changes no map."""
    if len(names) == 1 and (groups == 0).all():
        return np.full_like(groups, -1), []
    return groups, names


def _ladders(X: Floats, groups: Groups, n_groups: int, answers: Floats | None, n_shifts: int) -> list[list[Change]]:
    """Return the changes to try, each by rising amounts."""
    means = _means(X, groups, n_groups)
    found: list[list[Change]] = []
    for g in range(n_groups):
        found += [[Width(amount, g) for amount in _LADDERS[kind]] for kind in ("wider", "narrower")]
        if n_groups > 1:
            apart = np.linalg.norm(means - means[g], axis=1)
            apart[g] = np.inf
            other = int(apart.argmin())
            found += [[Distance(amount, g, other) for amount in _LADDERS[kind]] for kind in ("farther", "nearer")]
        spread = X.std(axis=0)
        least = np.where(spread > 0.0, -spread if answers is None else answers[g], np.inf)
        order = np.argsort(least, kind="stable")[:n_shifts]
        found += [[Shift(amount, g, int(f)) for amount in _LADDERS["raised"]] for f in order if np.isfinite(least[f])]
    return found


def _means(X: Floats, groups: Groups, n_groups: int) -> Floats:
    return np.array([X[groups == g].mean(axis=0) for g in range(n_groups)]).reshape(n_groups, X.shape[1])


def _size(change: Change) -> float:
    """Return how large a change is, so that different kinds can be set in order: doublings, or two deviations."""
    return change.amount / 2.0 if isinstance(change, Shift) else abs(float(np.log2(change.amount))) or 4.0


@dataclass
class Search:
    """A method, a table and its map, and how many maps were made so far."""

    estimator: Any
    X: Floats
    groups: Groups
    names: list[str]
    features: list[str]
    seed: int

    def __post_init__(self) -> None:
        known = self.estimator.get_params(deep=False) if hasattr(self.estimator, "get_params") else {}
        self.seeded = "random_state" in known
        own = known.get("random_state")
        self.own: dict[str, Any] = {}
        if self.seeded:
            self.own = {"random_state": own if isinstance(own, int | np.integer) else self.seed % 2**31}
        self.n_fits = 0
        self.others: list[dict[str, Any]] = []
        self.hopeless = 0.0
        self.fitted = method_again(self.estimator, self.own)
        self.reference = self.map_of(self.X, self.fitted)
        if isinstance(known.get("init"), str) and known["init"] == "random":
            self._begin_at(self.reference)

    def _begin_at(self, start: Floats) -> None:
        """Let all maps begin at one, if the method takes a start."""
        begun = {**self.own, "init": start}
        try:
            fitted = method_again(self.estimator, begun)
            self.reference = self.map_of(self.X, fitted)
        except (TypeError, ValueError):  # another library's, which takes its start elsewhere
            return
        self.own, self.fitted = begun, fitted

    def map_of(self, X: Floats, method: Any = None) -> Floats:
        """Return the map of a table by the method and its seed."""
        self.n_fits += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)  # of graphs that the changes leave in pieces
            made = method_again(self.estimator, self.own) if method is None else method
            return np.asarray(made.fit_transform(X), dtype=np.float64)

    def other_seeds(self, n_seeds: int) -> Floats:
        """Return the disparity of maps of the same table with other seeds, or that of the group that differs most.

        Where they differ by more than maps that are the same, changed tables are mapped by these seeds as well.
        """
        if not self.seeded:
            return np.zeros(1)
        plan = planned("seeds", n_seeds, None, self.own["random_state"], self.seed)
        plan = [{**self.own, **one} for one in plan]
        parts = [self.groups == g for g in range(len(self.names))]
        seeds = np.array(
            [self._compared(self.map_of(self.X, method_again(self.estimator, one)), parts)[1] for one in plan]
        )
        self.others = plan if seeds.max() > _SAME else []
        self.hopeless = _CLEARLY * float(seeds.max())
        return seeds

    def threshold(self, seeds: Floats) -> float:
        """Return the disparity up to which maps count as the same."""
        return max(float(np.median(seeds)), _SAME)

    def derivative(self) -> Sensitivity | None:
        """Return the exact derivative of the map by the table, if it is to be had."""
        if len(self.X) > _MOST_DIFFERENTIATED:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", GnomonWarning
                )  # that no minimum was reached: answers are to be compared
                return sensitivity(self.fitted, self.X)
        except (TypeError, ValueError):
            return None

    def answers(self, derivative: Sensitivity) -> Answers:
        """Return how far the map moves for a deviation more of each feature, of points, groups and pairs of groups."""
        n_groups, spread = len(self.names), self.X.std(axis=0)
        radius = float(np.sqrt(np.square(self.reference - self.reference.mean(axis=0)).sum(axis=1).mean()))
        means = _means(self.X, self.groups, n_groups)
        features = np.zeros((n_groups, spread.size))
        pairs = np.zeros((n_groups, n_groups))
        lengths, directions = np.zeros((n_groups, spread.size)), np.zeros((n_groups, spread.size, spread.size))
        for g in range(n_groups):
            changes = np.zeros((*self.X.shape, spread.size))
            changes[self.groups == g] = np.diag(spread)
            moved = derivative.along(changes)
            features[g] = [self._length(moved[:, :, f]) for f in range(spread.size)]
            of_unit = moved / np.where(spread > 0.0, spread, 1.0)
            pairs[g] = [self._length(of_unit @ (means[g] - mean)) for mean in means]
            _, values, directions[g] = np.linalg.svd(moved.reshape(-1, spread.size), full_matrices=True)
            lengths[g, : values.size] = values / (np.sqrt(len(self.X)) * radius)
        points = np.linalg.norm(derivative.own, axis=1) * spread / radius
        return Answers(features, pairs, points, lengths, directions)

    def changed(self, change: Change) -> Floats:
        """Return a changed table."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)  # of graphs in pieces that are joined
            return change.apply(self.X, self.groups)

    def climb(self, ladder: Sequence[Change], threshold: float, answer: float) -> Twin:
        """Return the largest change of a ladder that leaves the map the same, or the smallest that does not."""
        best: Twin | None = None
        for change in ladder:
            twin = self.twin_of(change, threshold, answer)
            if not twin.same:
                return best or twin
            best = twin
        assert best is not None
        return best

    def twin_of(self, change: Change, threshold: float, answer: float) -> Twin:
        """Return a changed table and its map."""
        table = self.changed(change)
        placed, disparity, parameters = self.laid_over(table, threshold)
        told = change.told(self.names, self.features)
        return Twin(change, told, table, placed, disparity, disparity <= threshold, answer, parameters)

    def laid_over(self, table: Floats, threshold: float) -> tuple[Floats, float, dict[str, Any]]:
        """Return the map of a table laid over the reference, the disparity of the two, and how it was made.

        The disparity is that of the changed rows where that is more. Of all seeds, the first whose map is the same is
        taken, or the one whose map is most alike.
        """
        parts, parameters = [(table != self.X).any(axis=1)], self.own
        placed, disparity = self._compared(self.map_of(table), parts)
        for one in self.others:
            if not threshold < disparity <= self.hopeless:
                break
            other = self._compared(self.map_of(table, method_again(self.estimator, one)), parts)
            if other[1] < disparity:
                (placed, disparity), parameters = other, one
        return placed, disparity, parameters

    def _compared(self, made: Floats, parts: Sequence[npt.NDArray[np.bool_]]) -> tuple[Floats, float]:
        """Return a map laid over the reference, and its disparity, or that of the part of the rows that differs most.

        That of a part is its mean squared displacement, in units of the whole map.
        """
        fit = procrustes(made, self.reference)
        placed = fit.apply(made)
        radius = np.square(self.reference - self.reference.mean(axis=0)).sum(axis=1).mean()
        moved = np.square(placed - self.reference).sum(axis=1)
        of_parts = [float(moved[part].mean() / radius) for part in parts if part.any()]
        return placed, max([float(fit.disparity), *of_parts])

    def same_at_random(self, table: Floats, threshold: float, n_random: int, seed: int) -> float:
        """Return the share of tables, changed as this one but in random directions, whose map counts as the same.

        The changes of all rows are rotated together: they keep their lengths and the angles between them.
        """
        rng = np.random.default_rng(seed)
        changed = (table != self.X).any(axis=1)
        U, lengths, axes = np.linalg.svd((table - self.X)[changed], full_matrices=False)
        same = 0
        for _ in range(n_random):
            other = self.X.copy()
            other[changed] += (U * lengths) @ np.linalg.qr(rng.normal(size=axes.T.shape))[0].T
            same += self.laid_over(other, threshold)[1] <= threshold
        return same / n_random

    def moves(self, changes: Sequence[Change], derivative: Sensitivity | None) -> list[float]:
        """Return how much the map would move for one unit of each change, in radii, by its derivative."""
        if derivative is None or not changes:
            return [float("nan")] * len(changes)
        little = [
            replace(change, amount=(0.0 if isinstance(change, Shift) else 1.0) + _UNIT).apply(self.X, self.groups)
            for change in changes
        ]
        moved = derivative.along(np.stack([(table - self.X) / _UNIT for table in little], axis=2))
        return [self._length(moved[:, :, k]) for k in range(len(changes))]

    def _length(self, moved: Floats) -> float:
        centred = self.reference - self.reference.mean(axis=0)
        return float(np.sqrt(np.square(moved).sum(axis=1).mean() / np.square(centred).sum(axis=1).mean()))
