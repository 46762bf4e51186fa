"""What a search for tables with the same map has found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._printed import ShortRepr, prints_harmlessly
from gnomon._validation import message
from gnomon.twins.changes import Change, Floats, Groups

__all__ = ["Answers", "BlindSpots", "Twin", "told_disparity"]

_LEAST_TOLD = 0.001
_NO_GROUPS = (
    "The table has no groups that could be changed by themselves: made wider, moved or raised as a whole it is the "
    "same table. Pass labels to change groups of your own."
)
_LEAST_SHARE = 0.2  # of a feature in a direction that is told


@dataclass(frozen=True)
class Twin(ShortRepr):
    """A changed table, and the map that the same method with the same seed makes of it.

    Attributes
    ----------
    change : Change
        The largest amount tried at which the map stayed the same, or the smallest tried where it did at none.
    told : str
        In words.
    table : ndarray of shape (n_samples, n_features), float64
    embedding : ndarray of shape (n_samples, n_components), float64
        Its map, laid over the map that was asked about.
    disparity : float
        Procrustes disparity of the two maps, 0 where they are alike and 1 where they have nothing in common; or the
        same of the rows that were changed alone, in units of the whole map, where that is more.
    same : bool
        Whether that is at most the disparity of two seeds.
    answer : float
        How much the map would move for a little of the change, by its exact derivative: root mean square displacement
        of the points over the radius of the map, for one unit of the amount. NaN where it is not known.
    parameters : dict
        In which the run differs from the method that was given: the seed, and where the start is random, the place
        where the map of the table as it is came to rest.
    """

    change: Change
    told: str
    table: Floats
    embedding: Floats
    disparity: float
    same: bool
    answer: float
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Answers:
    """How far a map moves for small changes of its table, by its exact derivative.

    All are root mean square displacements of all points, or that of one, over the radius of the map.

    Attributes
    ----------
    features : ndarray of shape (n_groups, n_features), float64
        Of the map, if a feature of all rows of a group rises by one standard deviation.
    pairs : ndarray of shape (n_groups, n_groups), float64
        Of the map, per doubling of the way of the first group from the second.
    points : ndarray of shape (n_samples, n_features), float64
        Of a row's own point, if one of its features rises by one standard deviation.
    lengths : ndarray of shape (n_groups, n_features), float64
        Of the map, if all rows of a group move by one along each of `directions`, from the largest to the smallest:
        singular values of the derivative along moves of the group.
    directions : ndarray of shape (n_groups, n_features, n_features), float64
        In rows, orthogonal directions in which a group can move, features being in units of their standard deviations.
    """

    features: Floats
    pairs: Floats
    points: Floats
    lengths: Floats
    directions: Floats

    @prints_harmlessly
    def summary(self, group_names: list[str], feature_names: list[str], n_top: int = 3) -> str:
        """Return in words to what the map answers most and least.

        Parameters
        ----------
        group_names, feature_names : list of str
        n_top : int, default=3
            Groups and rows that are listed, and features of a direction.

        Returns
        -------
        str
        """
        lines = ["By its exact derivative, in radii of the map per standard deviation, it answers"]
        for g, name in list(enumerate(group_names))[:n_top]:
            if self.lengths[g, 0] < _LEAST_TOLD:
                lines.append(f"  to no move of {name} as a whole")
                continue
            most, least = (_told_direction(self.directions[g, k], feature_names, n_top) for k in (0, -1))
            high, low = (told_disparity(self.lengths[g, k]) for k in (0, -1))
            lines.append(f"  to moves of {name}: {high} along {most}, {low} along {least}")
        if len(group_names) > 1:
            off = np.where(np.eye(len(group_names), dtype=bool), np.nan, self.pairs)
            (a, b), (c, d) = (np.unravel_index(which(off), off.shape) for which in (np.nanargmax, np.nanargmin))
            told = "to no pair that moves apart"
            if off[a, b] >= _LEAST_TOLD:
                told = (
                    f"to a doubled way: {told_disparity(off[a, b])} of {group_names[a]} from {group_names[b]}, "
                    f"{told_disparity(off[c, d])} of {group_names[c]} from {group_names[d]}"
                )
            lines.append(f"  {told}")
        whole = np.linalg.norm(self.points, axis=1)
        order = np.argsort(-whole, kind="stable")
        most, least = (
            ", ".join(f"{i} ({whole[i]:.2g})" for i in rows) for rows in (order[:n_top], order[::-1][:n_top])
        )
        lines.append(f"  to single rows: most to {most}; least to {least}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return lists, as JSON takes them."""
        return {name: getattr(self, name).tolist() for name in ("features", "pairs", "points", "lengths", "directions")}


@dataclass(frozen=True, repr=False)
class BlindSpots:
    """What could change in a table without its map showing it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
    embedding : ndarray of shape (n_samples, n_components), float64
        The map that others are compared with, made by `parameters`.
    groups : ndarray of shape (n_samples,), int64
        Number of each row's group, -1 for none.
    group_names, feature_names : list of str
        No groups where the table has none, or one that holds all rows.
    seeds : ndarray of shape (n_seeds,), float64
        Disparity between the map and those of the same table with other seeds, or that of the group that differs most.
    threshold : float
        Up to which two maps count as the same: the median of `seeds`, and at least 0.001.
    twins : list of Twin
        Every change that was tried, those first that the map does not show, the largest of them first.
    answers : Answers or None
        To which small changes of points, groups and pairs of groups the map answers, by its exact derivative. None
        where the method has none or the table has more than 1,500 rows.
    n_fits : int
        Maps that were made.
    parameters : dict
        In which the run differs from the method that was given.
    """

    X: Floats
    embedding: Floats
    groups: Groups
    group_names: list[str]
    feature_names: list[str]
    seeds: Floats
    threshold: float
    twins: list[Twin]
    answers: Answers | None
    n_fits: int
    parameters: dict[str, Any]

    @property
    def found(self) -> list[Twin]:
        """The changes that the map does not show."""
        return [twin for twin in self.twins if twin.same]

    @property
    def shown(self) -> list[Twin]:
        """The changes that it does show."""
        return [twin for twin in self.twins if not twin.same]

    @prints_harmlessly
    def summary(self, n_top: int = 8) -> str:
        """Return what was found in words.

        Parameters
        ----------
        n_top : int, default=8
            Changes listed of either kind.

        Returns
        -------
        str
        """
        lines = [] if self.group_names else [_NO_GROUPS]
        if self.twins or self.group_names:
            lines.append(self._told())
        for head, twins in (("The same map would have been made with", self.found), ("It does show", self.shown)):
            if twins:
                lines.append(f"{head}")
                lines += [f"  {twin.told} (disparity {told_disparity(twin.disparity)})" for twin in twins[:n_top]]
                if len(twins) > n_top:
                    lines.append(f"  and {len(twins) - n_top} more")
        if self.answers is not None:
            lines.append(self.answers.summary(self.group_names, self.feature_names))
        return "\n".join(lines)

    def _told(self) -> str:
        """Say how many changes the map does not show."""
        whose = ", that of two seeds" if np.median(self.seeds) >= self.threshold else ""
        one = len(self.twins) == 1
        changes = "one change" if one else f"{len(self.twins)} changes"
        return (
            f"Of {changes} of the table the map does not show {len(self.found)}: made again, it is the same to a "
            f"disparity of {self.threshold:.2g}{whose}."
        )

    def __repr__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and lists, as JSON takes them."""
        return {
            "threshold": self.threshold,
            "seeds": self.seeds.tolist(),
            "n_fits": self.n_fits,
            "groups": list(self.group_names),
            "changes": [
                {
                    "told": twin.told,
                    "kind": type(twin.change).__name__.lower(),
                    "amount": twin.change.amount,
                    "disparity": twin.disparity,
                    "same": twin.same,
                    "answer": None if np.isnan(twin.answer) else twin.answer,
                }
                for twin in self.twins
            ],
            "answers": None if self.answers is None else self.answers.to_dict(),
        }

    @entrance("BlindSpots.to_html")
    def to_html(self, path: str | os.PathLike[str], which: int = 0) -> None:
        """Write two tables and their two maps side by side: what differs in the data and not on the map.

        The tables are shown along the same two axes, the principal components of both together.

        Parameters
        ----------
        path : str or path-like
            One HTML file that opens from disk and asks the network for nothing.
        which : int, default=0
            Which of `twins`.
        """
        from gnomon.viewer import write_side_by_side

        if not -len(self.twins) <= which < len(self.twins):
            raise IndexError(message(f"which={which}", f"one of {len(self.twins)} twins, counted from 0"))
        twin = self.twins[which]
        both = np.vstack([self.X, twin.table])
        centre = both.mean(axis=0)
        axes = np.linalg.svd(both - centre, full_matrices=False)[2][:2].T
        named = np.array([*self.group_names, "none"])[self.groups]
        write_side_by_side(
            path,
            {
                "the table": (self.X - centre) @ axes,
                "another table": (twin.table - centre) @ axes,
                "its map": self.embedding,
                "the other's map": twin.embedding,
            },
            captions=[
                "along two principal components of both tables",
                twin.told,
                "as it was given",
                f"by the same method and seed; disparity {told_disparity(twin.disparity)}, "
                f"the same up to {self.threshold:.2g}",
            ],
            labels=named,
            label_name="group",
            title="These two tables have the same map" if twin.same else "The map shows this change",
        )


def _told_direction(direction: Floats, features: list[str], n_top: int) -> str:
    """Return the features with the largest shares of a direction, with their signs; the first is positive."""
    order = np.argsort(-np.abs(direction), kind="stable")[:n_top]
    sign = -1.0 if direction[order[0]] < 0.0 else 1.0
    shares = [(sign * direction[f], features[f]) for f in order if abs(direction[f]) >= _LEAST_SHARE]
    return " ".join(f"{share:+.2f} {name}" for share, name in shares)


def told_disparity(disparity: float) -> str:
    """Return a disparity in words."""
    return f"{disparity:.2g}" if disparity >= _LEAST_TOLD else f"below {_LEAST_TOLD:g}"
