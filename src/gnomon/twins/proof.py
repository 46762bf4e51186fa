"""Does a map prove a claim? Not if another table has the same map and the claim is false of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Rule, check_parameters
from gnomon.twins.claims import Claim, claim_of
from gnomon.twins.result import Twin, told_disparity
from gnomon.twins.search import Search, open_search

__all__ = ["Proof", "proves"]

_RULES: dict[str, Rule] = {"n_seeds": Integer(low=1), "budget": Integer(low=1)}
_STEPS = (1.0, 1.5, 3.0)  # powers of the smallest change that makes a claim false


@dataclass(frozen=True, repr=False)
class Proof:
    """Whether a table was found that has the same map, and of which a claim is false.

    Attributes
    ----------
    claim : str
        In words.
    holds : bool
        Whether it is true of the table that was given.
    refuted : bool
        Whether it cannot be read from the map: another table has the same map, and of that the claim has the opposite
        truth.
    twin : Twin or None
        That table and its map.
    tried : list of Twin
        All changes that were tried, in order.
    threshold : float
        Disparity up to which maps count as the same.
    n_fits : int
        Maps that were made.
    """

    claim: str
    holds: bool
    refuted: bool
    twin: Twin | None
    tried: list[Twin]
    threshold: float
    n_fits: int

    def __bool__(self) -> bool:
        raise TypeError("Proof: there is no plain yes; ask for .refuted")

    def summary(self) -> str:
        """Return the answer in words."""
        is_so = "true" if self.holds else "false"
        if self.twin is not None:
            return (
                f'"{self.claim}" cannot be read from the map. It is {is_so} of this table, and the opposite holds of '
                f"another that has the same map: {self.twin.told} "
                f"(disparity {told_disparity(self.twin.disparity)}, the same up to {self.threshold:.2g})."
            )
        nearest = min((twin.disparity for twin in self.tried), default=np.nan)
        return (
            f'No counterexample to "{self.claim}" in {len(self.tried)} changed tables: all have other maps (disparity '
            f"{told_disparity(nearest)} at least, the same up to {self.threshold:.2g}). It is {is_so} of this table. "
            "That none was found is no proof."
        )

    def __repr__(self) -> str:
        return self.summary()


@entrance("proves", seeded=True)
def proves(
    estimator: Any,
    X: Any,
    claim: Any,
    *,
    labels: npt.ArrayLike | None = None,
    n_seeds: int = 3,
    budget: int = 12,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Proof:
    """Search for a table with the same map of which a claim is false.

    A verdict, such as `gnomon.are_apart`, asks the data whether a claim is true. This asks whether the *map* could show
    it: the table is changed by just so much that the claim turns false, and somewhat more, and the same method with the
    same seed maps it again. If the map stays the same, to the disparity of two seeds, nobody can read the claim from
    it, whether it is true or not.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
        Any method; it is copied and stays as it is.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    claim : tuple, or gnomon.twins.Claim
        ("apart", A, B): the means of two groups are farther from each other than their radii reach. ("nearer", A, B,
        C): A is nearer to B than to C, by their means. ("denser", A, B): rows of A lie closer together. ("wider", A,
        B): A reaches farther from its mean. ("near", x, y): row y is among the 15 nearest of row x. Groups are labels
        or, without `labels`, "cluster 0" and so on.
    labels : array-like of shape (n_samples,) or None, default=None
        Groups. None takes the clusters of `gnomon.find_clusters`.
    n_seeds : int >= 1, default=3
        Further seeds of the table as it is.
    budget : int >= 1, default=12
        Changed tables tried at most.
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
    checked = check_parameters(_RULES, {"n_seeds": n_seeds, "budget": budget})
    search = open_search(estimator, X, labels, current_run().seed)
    made = claim_of(claim, search.names, len(search.X))
    threshold = search.threshold(search.other_seeds(checked["n_seeds"]))
    tried, twin = _counterexample(search, made, threshold, checked["budget"])
    return Proof(
        claim=made.told(search.names),
        holds=made.holds(search.X, search.groups),
        refuted=twin is not None,
        twin=twin,
        tried=tried,
        threshold=threshold,
        n_fits=search.n_fits,
    )


def _counterexample(search: Search, claim: Claim, threshold: float, budget: int) -> tuple[list[Twin], Twin | None]:
    """Return all that was tried, and the first table of the opposite truth and the same map."""
    holds = claim.holds(search.X, search.groups)
    aimed = claim.counters(search.X, search.groups)
    tried: list[Twin] = []
    for power in _STEPS:
        for change in aimed:
            if len(tried) == budget:
                return tried, None
            twin = search.twin_of(change.raised(power), threshold, float("nan"))
            if claim.holds(twin.table, search.groups) == holds:
                continue
            tried.append(twin)
            if twin.same:
                return tried, twin
    return tried, None
