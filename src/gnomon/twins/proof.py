"""Does a map prove a claim? Not if a table has this map and the claim is false of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import prints_harmlessly
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Rule, check_parameters
from gnomon.twins.changes import Floats
from gnomon.twins.claims import Claim, claim_of
from gnomon.twins.result import Twin, told_disparity
from gnomon.twins.search import Search, open_search

__all__ = ["Proof", "proves"]

_RULES: dict[str, Rule] = {"n_seeds": Integer(low=1), "budget": Integer(low=1), "n_random": Integer(low=0)}
_STEPS = (1.0, 1.5, 3.0)  # powers of the smallest change that turns a claim


@dataclass(frozen=True, repr=False)
class Proof:
    """Whether a claim can be read from a map: what it is of this table, and of others that have the same map.

    Attributes
    ----------
    claim : str
        In words.
    holds : bool
        Whether it is true of the table that was given.
    refuted : bool
        Whether a table with this map was found of which the claim is false. If it is false of the given table, that is
        one.
    unreadable : bool
        Whether a table with this map was found of which the opposite is true: the map then shows neither.
    twin : Twin or None
        That table and its map.
    tried : list of Twin
        All changed tables of the opposite truth that were mapped, in order.
    threshold : float
        Disparity up to which maps count as the same.
    same_seeds : float
        Share of the maps of the table as it is, by other seeds, that count as the same if each is left out where the
        threshold is taken. NaN of a single one.
    same_random : float
        Of changes in random directions, as large row by row as the one tried whose map is the most alike, the share
        whose map counts as the same. NaN where a twin was found, or none was asked for.
    n_fits : int
        Maps that were made.
    parameters : dict
        In which the map of the table as it is differs from the method that was given: the seed, and where the start is
        random, the place where a first map came to rest.
    """

    claim: str
    holds: bool
    refuted: bool
    unreadable: bool
    twin: Twin | None
    tried: list[Twin]
    threshold: float
    same_seeds: float
    same_random: float
    n_fits: int
    parameters: dict[str, Any]

    def __bool__(self) -> bool:
        raise TypeError("Proof: there is no plain yes; ask for .refuted or .unreadable")

    @prints_harmlessly
    def summary(self) -> str:
        """Return the answer in words."""
        is_so, is_not = ("true", "false") if self.holds else ("false", "true")
        of_this = f"It is {is_so} of this table" + ("" if self.holds else ", which refutes it")
        same = f"the same up to {self.threshold:.2g}"
        if self.twin is not None:
            return (
                f'"{self.claim}" cannot be read from the map. {of_this}, and {is_not} of another that has the same '
                f"map: {self.twin.told} (disparity {told_disparity(self.twin.disparity)}, {same})."
            )
        if not self.tried:
            return f'"{self.claim}": {of_this}. None of the changes that are tried makes it {is_not}.'
        nearest = min(twin.disparity for twin in self.tried)
        nulls = []
        if np.isfinite(self.same_seeds):
            nulls.append(f"{self.same_seeds:.0%} of the maps of this table by other seeds count as the same")
        if np.isfinite(self.same_random):
            nulls.append(f"{self.same_random:.0%} of those of equally large changes in random directions")
        chance = f" By chance {' and '.join(nulls)}." if nulls else ""
        return (
            f'No counterexample to "{self.claim}" within {len(self.tried)} changed tables that make it {is_not}: all '
            f"have other maps (disparity {told_disparity(nearest)} at least, {same}).{chance} {of_this}. That none was "
            "found is no proof."
        )

    def __repr__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and text, as JSON takes them."""
        rates = {"same_seeds": self.same_seeds, "same_random": self.same_random}
        return {
            "claim": self.claim,
            "holds": self.holds,
            "refuted": self.refuted,
            "unreadable": self.unreadable,
            "counterexample": None if self.twin is None else self.twin.told,
            "tried": [{"told": twin.told, "disparity": twin.disparity, "same": twin.same} for twin in self.tried],
            "threshold": self.threshold,
            **{name: None if np.isnan(rate) else rate for name, rate in rates.items()},
            "n_fits": self.n_fits,
        }


@entrance("proves", seeded=True)
def proves(
    estimator: Any,
    X: Any,
    claim: Any,
    *,
    labels: npt.ArrayLike | None = None,
    n_seeds: int = 9,
    budget: int = 12,
    n_random: int = 4,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Proof:
    """Search for a table with the same map of which a claim is false, or true if it is false of this one.

    A verdict, such as `gnomon.evaluation.are_apart`, asks the data whether a claim is true. This asks whether the *map*
    could show it: the table is changed by just so much that the claim turns, and somewhat more, and the same method
    with the same seed maps it again. If the map stays the same, to the disparity of two seeds, nobody can read the
    claim from it, whether it is true or not. A claim that is false of the table at hand is refuted by that table
    already; the search then looks for one of which it is true.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
        Any method; it is copied and stays as it is.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    claim : tuple, or gnomon.twins.Claim
        ("apart", A, B): the means of two groups are farther from each other than their radii reach. ("nearer", A, B,
        C): A is nearer to B than to C, by their means. ("empty", A, B): no row lies in the middle fifth of the way
        from A to B. ("denser", A, B): rows of A lie closer together. ("wider", A, B): A reaches farther from its mean.
        ("near", x, y): row y is among the 15 nearest of row x. Groups are labels or, without `labels`, "cluster 0" and
        so on.
    labels : array-like of shape (n_samples,) or None, default=None
        Groups. None takes the clusters of `gnomon.find_clusters`.
    n_seeds : int >= 1, default=9
        Further seeds of the table as it is.
    budget : int >= 1, default=12
        Changed tables tried at most.
    n_random : int >= 0, default=4
        Changes in random directions whose maps are made where no counterexample is found.
    random_state : int, Generator or None, default=0
        Seed of the maps where the estimator has none, and of the other seeds.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Proof

    Raises
    ------
    ValueError
        If the claim is none of these, or about groups or rows that do not exist.
    """
    checked = check_parameters(_RULES, {"n_seeds": n_seeds, "budget": budget, "n_random": n_random})
    search = open_search(estimator, X, labels, current_run().seed)
    made = claim_of(claim, search.names, len(search.X))
    holds = made.holds(search.X, search.groups)
    seeds = search.other_seeds(checked["n_seeds"])
    threshold = search.threshold(seeds)
    tried = _counterexamples(search, made, threshold, checked["budget"])
    twin = tried[-1] if tried and tried[-1].same else None
    same_random = float("nan")
    if twin is None and tried and checked["n_random"]:
        nearest = min(tried, key=lambda one: one.disparity)
        same_random = search.same_at_random(nearest.table, threshold, checked["n_random"], current_run().seed)
    return Proof(
        claim=made.told(search.names),
        holds=holds,
        refuted=twin is not None or not holds,
        unreadable=twin is not None,
        twin=twin,
        tried=tried,
        threshold=threshold,
        same_seeds=_left_out(search, seeds),
        same_random=same_random,
        n_fits=search.n_fits,
        parameters=search.own,
    )


def _counterexamples(search: Search, claim: Claim, threshold: float, budget: int) -> list[Twin]:
    """Return changed tables of the opposite truth and their maps, to the first whose map is the same."""
    holds = claim.holds(search.X, search.groups)
    aimed = claim.counters(search.X, search.groups)
    tried: list[Twin] = []
    for power in _STEPS:
        for change in (one.raised(power) for one in aimed):
            if len(tried) == budget:
                return tried
            if claim.holds(search.changed(change), search.groups) == holds:
                continue
            tried.append(search.twin_of(change, threshold, float("nan")))
            if tried[-1].same:
                return tried
    return tried


def _left_out(search: Search, seeds: Floats) -> float:
    """Return the share of seeds whose map counts as the same by the threshold of the others."""
    if len(seeds) < 2:
        return float("nan")
    return float(np.mean([one <= search.threshold(np.delete(seeds, k)) for k, one in enumerate(seeds)]))
