"""What of a map stays when it is made again: with other seeds, starts, draws of rows or parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, check_parameters, message, warn
from gnomon.data import check_table
from gnomon.evaluation.baselines import dynamicviz
from gnomon.evaluation.cluster_stability import ClusterStability, check_clusters, follow_clusters
from gnomon.evaluation.refits import VARIED, planned, refit
from gnomon.exceptions import DataWarning
from gnomon.linalg import mean_shape
from gnomon.neighbors import compute_neighbors, succession_of_rows

__all__ = ["MapStability", "compare_runs", "stability_of_maps"]

Floats = npt.NDArray[np.float64]

_DRAWS = "draws of single rows leave most of each stretch in place, so that maps move less than those of other series"
_RULES: dict[str, Rule] = {
    "vary": Options(*VARIED),
    "n_runs": Either(Integer(2), Nothing()),
    "n_neighbors": Integer(1),
    "touching": Real(0.0, 1.0, low_open=True),
}


@dataclass(frozen=True, repr=False)
class MapStability(Printed):
    """Several maps of the same rows, laid over each other, and what differs between them.

    Lengths that are told are over `size`. Where a run does not hold a row, its places are NaN and do not count.

    Attributes
    ----------
    vary : str
        What differed: "seeds", "starts", "bootstrap", "parameters", or "given".
    settings : list of dict
        The parameters in which each run differed.
    reference : ndarray of shape (n_samples, n_components), float64
        The map that is looked at; it is no run.
    runs : ndarray of shape (n_runs, n_samples, n_components), float64
        The maps, scaled to the spread of the reference, rotated, reflected and moved onto their mean, and all together
        onto the reference.
    mean : ndarray of shape (n_samples, n_components), float64
        Of the runs (generalised Procrustes mean).
    scales : ndarray of shape (n_runs,), float64
        By what each map was multiplied.
    drawn : ndarray of shape (n_runs, n_samples), bool
        Which rows each map was made of; others were placed in it.
    size : float
        Root mean square distance of the points of the reference from their mean, in units of the map.
    spread : ndarray of shape (n_samples,), float64
        Standard deviation of the place of each point over runs, over `size`: the root of the sum over coordinates of
        the variances, with n_runs - 1. NaN for a point that fewer than two runs hold.
    displacement : ndarray of shape (n_samples,), float64
        Distance of each point of the reference from its mean place, over `size`: large where the map that is looked at
        is untypical.
    neighbors_kept : ndarray of shape (n_samples,), float64
        Share of the `n_neighbors` nearest points in the reference that are among as many nearest in a run, mean over
        runs, in [0, 1].
    chance : float
        What `neighbors_kept` is for unrelated maps: n_neighbors / (n_samples - 1).
    n_neighbors : int
    clusters : ClusterStability or None
        Of the labels or masks that were given.
    pairs : ndarray of shape (n_pairs, 2), int64
        Rows whose distances were asked for.
    pair_distances : ndarray of shape (n_runs, n_pairs), float64
        Their distances in the runs, over `size`.
    touching : float
        Share of members that makes two clusters touch.
    random_state : int
        Seed of the runs and draws.
    caution : str, default=""
        Of "bootstrap", what the order of the rows says against it: draws of single rows of a series change less than
        another series would. Empty if nothing.
    """

    vary: str
    settings: list[dict[str, Any]]
    reference: Floats
    runs: Floats
    mean: Floats
    scales: Floats
    drawn: npt.NDArray[np.bool_]
    size: float
    spread: Floats
    displacement: Floats
    neighbors_kept: Floats
    chance: float
    n_neighbors: int
    clusters: ClusterStability | None
    pairs: npt.NDArray[np.int64]
    pair_distances: Floats
    touching: float
    random_state: int
    caution: str = ""

    def __repr__(self) -> str:
        return f"MapStability(vary={self.vary!r}, n_runs={self.n_runs}, n_samples={len(self.reference)})"

    @property
    def n_runs(self) -> int:
        """Number of maps beside the reference."""
        return len(self.runs)

    @property
    def unmoved(self) -> bool:
        """Whether no point moved from run to run: the method does not depend on what was varied."""
        return not np.nanmax(self.spread, initial=0.0) > 1e-9

    def dynamicviz(self, n_others: int | None = None) -> Floats:
        """Return the variance score of DynamicViz of each point. See `gnomon.evaluation.dynamicviz`.

        The reference counts as a map, and each run for the rows it was made of, in its own scale.

        Parameters
        ----------
        n_others : int >= 1 or None, default=None
            Points whose distances count; None takes all.

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        maps = [self.reference, *(self.runs / self.scales[:, None, None])]
        drawn = np.vstack([np.ones((1, len(self.reference)), dtype=np.bool_), self.drawn])
        return dynamicviz(maps, drawn, n_others=n_others, random_state=self.random_state)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return a number for each point, by name, as `metadata` of a map takes them to colour its page by."""
        return {
            "spread over runs": self.spread,
            "displacement from the mean": self.displacement,
            "neighbors kept over runs": self.neighbors_kept,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values; places are in units of the map."""
        plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}
        return {**plain, "clusters": None if self.clusters is None else self.clusters.to_dict()}

    def summary(self) -> str:
        """Say how much points move, and what clusters do."""
        low, middle, high = np.nanpercentile(self.spread, [5, 50, 95])
        lines = [
            f"{self.n_runs} maps of {len(self.reference):,} rows, varied: {self.vary}",
            f"spread of a point over the size of the map: median {middle:.3f}, 5 to 95 %: {low:.3f} to {high:.3f}",
            f"its {self.n_neighbors} neighbours in the map that stay: mean {np.nanmean(self.neighbors_kept):.3f}, "
            f"by chance {self.chance:.3f}",
        ]
        if self.unmoved:
            lines.append("no point moves: the method does not depend on what was varied")
        found = self.clusters
        if found is not None:
            width = max(len(name) for name in found.names)
            lines.append(f"{'':{width}}{'rows':>8}{'moves':>8}{'deforms':>9}")
            lines += [
                f"{name:{width}}{found.sizes[k]:8d}{found.movement[k]:8.3f}{found.deformation[k]:9.3f}"
                for k, name in enumerate(found.names)
            ]
            share = found.touch_share
            touching = [(share[a, b], a, b) for a in range(len(share)) for b in range(a + 1, len(share)) if share[a, b]]
            lines += [
                f"{found.names[a]} and {found.names[b]} touch in {part:.0%} of the runs"
                for part, a, b in sorted(touching, key=lambda one: (-one[0], one[1], one[2]))
            ]
        for (i, j), distances in zip(self.pairs, self.pair_distances.T, strict=True):
            lines.append(f"rows {i} and {j} lie {np.nanmin(distances):.3f} to {np.nanmax(distances):.3f} apart")
        lines += [self.caution] if self.caution else []
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@entrance("stability_of_maps", seeded=True)
def stability_of_maps(
    estimator: Any,
    X: Any,
    *,
    vary: str = "seeds",
    n_runs: int | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    reference: npt.ArrayLike | None = None,
    labels: Any = None,
    pairs: npt.ArrayLike | None = None,
    n_neighbors: int = 15,
    touching: float = 0.05,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> MapStability:
    """Make a map again and again, and say which points, clusters and distances stay.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
        A method, ours or another library's; it is not changed and need not be fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table. With ``metric="precomputed"`` distances of shape (n_samples, n_samples).
    vary : {"seeds", "starts", "bootstrap", "parameters"}, default="seeds"
        What differs from run to run. "seeds": ``random_state``. "starts": random first positions, ``init="random"``,
        and the seed; a method that starts from principal components and samples nothing moves by this alone.
        "bootstrap": as many rows as there are, drawn with replacement; the distinct ones among them, about 63 %, make
        the map, and the others are placed in it by ``place`` or ``transform`` (NaN where the method has neither); and
        the seed. "parameters": the values of `grid`, with the same seed.
    n_runs : int >= 2 or None, default=None
        Maps beside the reference; None takes 10, or all combinations of `grid`.
    grid : mapping of str to sequence, default=None
        For "parameters": values of each, all combinations of which are taken.
    reference : array-like of shape (n_samples, n_components), default=None
        The map that is looked at, made by the same method; None makes it, which is one more run.
    labels : array-like of shape (n_samples,) or mapping of str to mask, default=None
        Clusters to follow: a class for each row, or masks of shape (n_samples,), which may overlap.
    pairs : array-like of shape (n_pairs, 2), default=None
        Rows whose distances to follow.
    n_neighbors : int in [1, n_samples - 1), default=15
        Neighbours in the map of which it is asked whether they stay.
    touching : float in (0, 1], default=0.05
        Two clusters touch in a run if this share of the members of the smaller one, one at least, have a member of the
        other within the wider of the two spacings. The spacing of a cluster is the median distance of its members to
        their 5th nearest other member.
    random_state : int, Generator, RandomState or None, default=0
        Draws the seeds and the rows.
    n_jobs : int or None, default=None
        Threads of each map; None or -1 for all. Does not change the result.

    Returns
    -------
    MapStability

    Raises
    ------
    TypeError
        If `estimator` is no estimator.
    ValueError
        If it lacks the parameter that is to vary, or an argument breaks its rule.

    Warns
    -----
    DataWarning
        If no point moves, because the method does not depend on what was varied.
    GnomonWarning
        What the method warns of, once where several runs say the same.

    Notes
    -----
    With "seeds" and "starts" the neighbours in the data are searched once, where the method can be given them: runs
    then cost less than maps, and an approximate search does not vary.

    See Also
    --------
    compare_runs : The same for maps that were made elsewhere.

    References
    ----------
    .. [1] Gower, "Generalized Procrustes analysis", Psychometrika 40, 1975.
    .. [2] Sun, Ma & Zou, "Dynamic visualization of high-dimensional data", Nature Computational Science 3, 2023
       (bootstraps).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import stability_of_maps
    >>> from gnomon.methods import PCA
    >>> X = np.random.default_rng(0).normal(size=(60, 5)) * [9, 4, 1, 1, 1]
    >>> found = stability_of_maps(PCA(), X, vary="bootstrap", n_runs=4)
    >>> found.runs.shape
    (4, 60, 2)
    """
    checked = check_parameters(_RULES, {"vary": vary, "n_runs": n_runs}, ["vary", "n_runs"])
    values = check_table(X, accept_sparse=True, keep_zeros=True).values
    n, seed = int(values.shape[0]), current_run().seed
    asked = _Asked.of(n, labels, pairs, n_neighbors, touching)
    own_seed = estimator.get_params(deep=False).get("random_state") if hasattr(estimator, "get_params") else None
    plan = planned(checked["vary"], checked["n_runs"], grid, own_seed, seed)
    if len(plan) < 2:
        raise ValueError(message("grid", "of two combinations at least", fact=f"it has {len(plan)}"))
    start = None if reference is None else _check_reference(reference, n)
    found = refit(estimator, values, plan, vary=vary, reference=start, seed=seed)
    told = asked.measure(found.reference, found.embeddings, found.drawn, vary, found.settings)
    if told.unmoved:
        remedy = " Use vary='starts' or 'bootstrap'." if vary == "seeds" else ""
        warn(
            f"no point moves: {type(estimator).__name__} does not depend on what vary={vary!r} varies.{remedy}",
            DataWarning,
        )
    if vary != "bootstrap":
        return told
    metric = getattr(estimator, "metric", "euclidean")
    order = succession_of_rows(values, metric if isinstance(metric, str) else "euclidean")
    return told if order is None else replace(told, caution=order.told(_DRAWS))


@entrance("compare_runs", seeded=True)
def compare_runs(
    embeddings: Sequence[npt.ArrayLike],
    *,
    reference: npt.ArrayLike | None = None,
    drawn: npt.ArrayLike | None = None,
    labels: Any = None,
    pairs: npt.ArrayLike | None = None,
    n_neighbors: int = 15,
    touching: float = 0.05,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> MapStability:
    """Say which points, clusters and distances stay over maps of the same rows that were made elsewhere.

    Parameters
    ----------
    embeddings : sequence of array-like of shape (n_samples, n_components)
        Two maps at least, row i of all the same thing; NaN where a map does not hold a row.
    reference : array-like of shape (n_samples, n_components), default=None
        The map that is looked at, which is no run; None takes the first of the embeddings as reference and run.
    drawn : array-like of shape (n_runs, n_samples), bool, default=None
        Which rows each map was made of, for the variance score of DynamicViz; None takes those it holds.
    labels, pairs, n_neighbors, touching : as in `stability_of_maps`
        What to follow.
    random_state : int, Generator, RandomState or None, default=0
        Draws points for `MapStability.dynamicviz`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    MapStability

    Raises
    ------
    ValueError
        If there are fewer than two maps, or their shapes differ.
    """
    given = [np.asarray(one, dtype=np.float64) for one in embeddings]
    if len(given) < 2 or given[0].ndim != 2 or any(one.shape != given[0].shape for one in given):
        shapes = ", ".join(str(one.shape) for one in given) or "none"
        raise ValueError(message(f"embeddings of shapes {shapes}", "two or more of the same shape (n, d)"))
    n = len(given[0])
    held = np.stack([np.isfinite(one).all(axis=1) for one in given])
    made_of = held if drawn is None else np.asarray(drawn)
    if made_of.shape != held.shape or made_of.dtype.kind != "b":
        what = f"drawn of {made_of.dtype} and shape {made_of.shape}"
        raise ValueError(message(what, f"a mask of shape {held.shape}"))
    asked = _Asked.of(n, labels, pairs, n_neighbors, touching)
    start = given[0] if reference is None else _check_reference(reference, n)
    return asked.measure(start, given, made_of, "given", [{} for _ in given])


@dataclass(frozen=True)
class _Asked:
    """What is to be followed over runs."""

    clusters: list[tuple[str, npt.NDArray[np.intp]]] | None
    pairs: npt.NDArray[np.int64]
    n_neighbors: int
    touching: float

    @classmethod
    def of(cls, n: int, labels: Any, pairs: Any, n_neighbors: int, touching: float) -> _Asked:
        given = {"n_neighbors": n_neighbors, "touching": touching}
        checked = check_parameters(_RULES, given, list(given))
        if not checked["n_neighbors"] < n - 1:
            fact = f"{n:,} rows; with more neighbours than that all rows would be neighbours"
            raise ValueError(message(f"n_neighbors={n_neighbors}", f"below {n - 1}", fact=fact))
        clusters = None if labels is None else check_clusters(labels, n)
        return cls(clusters, _check_pairs(pairs, n), checked["n_neighbors"], checked["touching"])

    def measure(
        self,
        reference: Floats,
        embeddings: Sequence[Floats],
        drawn: npt.NDArray[np.bool_],
        vary: str,
        settings: list[dict[str, Any]],
    ) -> MapStability:
        found = mean_shape(embeddings, reference=reference)
        placed = np.isfinite(reference).all(axis=1)
        size = float(np.sqrt(reference[placed].var(axis=0).sum())) if placed.any() else 0.0
        if not size > 0:
            raise ValueError(message("reference", "of two distinct points at least"))
        runs, n = found.aligned, len(reference)
        times = np.isfinite(runs).all(axis=2).sum(axis=0)
        squares = np.nansum((runs - found.mean) ** 2, axis=(0, 2))
        spread = np.where(times > 1, np.sqrt(squares / np.maximum(times - 1, 1)) / size, np.nan)
        i, j = self.pairs.T
        return MapStability(
            vary=vary,
            settings=settings,
            reference=reference,
            runs=runs,
            mean=found.mean,
            scales=found.scales,
            drawn=drawn,
            size=size,
            spread=spread,
            displacement=np.linalg.norm(reference - found.mean, axis=1) / size,
            neighbors_kept=_neighbors_kept(reference, runs, self.n_neighbors),
            chance=self.n_neighbors / (n - 1),
            n_neighbors=self.n_neighbors,
            clusters=None
            if self.clusters is None
            else follow_clusters(runs, self.clusters, size=size, touching=self.touching),
            pairs=self.pairs,
            pair_distances=np.linalg.norm(runs[:, i] - runs[:, j], axis=2) / size,
            touching=self.touching,
            random_state=current_run().seed,
        )


def _neighbors_kept(reference: Floats, runs: Floats, k: int) -> Floats:
    """Return the mean over runs of the share of neighbours in the reference that a run keeps, of those it holds."""
    before = _nearest(reference, k)
    total, counted = np.zeros(len(reference)), np.zeros(len(reference))
    for one in runs:
        after = np.sort(_nearest(one, k), axis=1)
        held = np.isfinite(one).all(axis=1)
        asked = (before >= 0) & held[before] & held[:, None]
        n = len(reference)
        keys = (np.arange(n)[:, None] * (n + 1) + after + 1).ravel()
        kept = np.isin(np.arange(n)[:, None] * (n + 1) + before + 1, keys) & asked
        wanted = asked.sum(axis=1)
        total += np.where(wanted > 0, kept.sum(axis=1) / np.maximum(wanted, 1), 0.0)
        counted += wanted > 0
    share: Floats = np.where(counted > 0, total / np.maximum(counted, 1), np.nan)
    return share


def _nearest(Y: Floats, k: int) -> npt.NDArray[np.int64]:
    """Return the k nearest points of each, -1 for a point without a place and where there are fewer."""
    rows = np.flatnonzero(np.isfinite(Y).all(axis=1))
    found = np.full((len(Y), k), -1, dtype=np.int64)
    if len(rows) > 1:
        possible = min(k, len(rows) - 1)
        places = np.ascontiguousarray(Y[rows] - Y[rows].mean(axis=0))
        found[rows, :possible] = rows[compute_neighbors(places, possible).indices]
    return found


def _check_reference(reference: npt.ArrayLike, n: int) -> Floats:
    places = np.asarray(reference, dtype=np.float64)
    if places.ndim != 2 or len(places) != n:
        raise ValueError(message(f"reference of shape {places.shape}", f"of shape ({n}, n_components)"))
    return places


def _check_pairs(pairs: Any, n: int) -> npt.NDArray[np.int64]:
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    found = np.asarray(pairs)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(
            message(f"pairs of {found.dtype} and shape {found.shape}", "row numbers of shape (n_pairs, 2)")
        )
    outside = np.flatnonzero(((found < 0) | (found >= n)).any(axis=1))
    if len(outside):
        fact = f"pair {int(outside[0])} is {found[outside[0]].tolist()}"
        raise ValueError(message("pairs", f"of rows in [0, {n})", fact=fact))
    return found.astype(np.int64)
