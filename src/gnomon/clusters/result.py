"""`Clusters`: what was found at every level, in arrays, in tables and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._optional import import_optional
from gnomon._printed import Printed, ShortRepr
from gnomon._validation import message
from gnomon.data.dataset import first_few
from gnomon.evaluation.gaps.falls import BRIDGE
from gnomon.evaluation.gaps.sentences import MANY_COLUMNS, map_of_components
from gnomon.neighbors import Succession
from gnomon.neighbors.column_halves import HiddenDirections, HidingColumns

if TYPE_CHECKING:
    from gnomon.explanations import Caption

__all__ = ["Cluster", "Clusters", "Level"]

_LISTED = 30  # clusters of a summary
_FEW_COMPONENTS = 10  # in which few groups show that more components hide
_COMPONENTS = 50  # in which groups that noise hides are to be looked for
_NAMED = 5  # of those that go over into others


@dataclass(frozen=True)
class Cluster:
    """One cluster of a level.

    Attributes
    ----------
    number : int
        The label of its rows in its level.
    name : str
        What tells it from the clusters beside it, such as "high petal width"; no other of the level has it.
    size : int
        Rows.
    parent : int or None
        Number of the cluster of the next coarser level that holds it; None at the coarsest.
    caption : gnomon.explanations.Caption or None
        The features that set it apart from its siblings, in held-out rows, with effects, errors and the siblings each
        sets it apart from. None where no feature does.
    p_value : float
        The largest of the splits that part it from its neighbours, adjusted for all splits looked at.
    share : float
        Density of held-out rows between it and the neighbour it is least apart from, over that of the sparser of both:
        the largest found between all rows of both, their nearest halves, and their nearest 30 %.
    persistence : float
        Logarithm of the distance between neighbours at which it joins another cluster over that at its peak.
    """

    number: int
    name: str
    size: int
    parent: int | None
    caption: Caption | None
    p_value: float
    share: float
    persistence: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        own = {name: value for name, value in vars(self).items() if name != "caption"}
        drivers = [] if self.caption is None else self.caption.to_dict()["features"]
        return {**own, "features": drivers}


@dataclass(frozen=True)
class Level(ShortRepr):
    """The clusters at one level of zoom.

    Attributes
    ----------
    clusters : tuple of Cluster
        Cluster k has the number k; the largest comes first.
    labels : ndarray of shape (n_samples,), int64
        Number of the cluster of each row, -1 for a row that belongs to none.
    persistence : float
        Logarithm of the range of distances between means over which the data fall into just these clusters.
    """

    clusters: tuple[Cluster, ...]
    labels: npt.NDArray[np.int64]
    persistence: float

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def names(self) -> npt.NDArray[np.str_]:
        """Name of the cluster of each row, empty for a row that belongs to none."""
        names = np.array([*(cluster.name for cluster in self.clusters), ""], dtype=np.str_)
        found: npt.NDArray[np.str_] = names[self.labels]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {
            "n_clusters": len(self),
            "persistence": self.persistence,
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "labels": self.labels.tolist(),
        }


@dataclass(frozen=True, repr=False)
class Clusters(Printed):
    """Clusters of the rows of a table at nested levels.

    Attributes
    ----------
    levels : tuple of Level
        The coarsest first; each cluster lies within one of the level before. Empty where no cluster could be shown.
    default : int
        Which level is meant where none is named: the finest of at most 20 clusters, as each split of it has been shown
        in held-out rows; the coarsest if all have more. -1 without levels.
    nearest : ndarray of shape (n_samples,), int64
        Number of the nearest cluster of the default level, by the votes of neighbours, also for rows that belong to
        none. -1 without levels.
    margin : ndarray of shape (n_samples,), float64, in [0, 1]
        Share of the votes for the nearest cluster less that for the second nearest; NaN without levels.
    alpha : float
        How often at most any cluster is claimed where the data are one cloud without bends.
    n_splits : int
        Splits looked at.
    n_held_out : int
        Rows that had no part in finding the clusters, by which they were checked.
    n_repeats : int, default=0
        Rows that repeat others and were neither learned from nor held out; they are in clusters as all are.
    succession : gnomon.neighbors.Succession or None, default=None
        What says that rows that follow each other in the table are alike, as those of a time series are.
    n_columns : int, default=0
        Columns of the table in which they were found.
    of_components : bool, default=False
        Whether these are principal components, or other coordinates of a map, and no features.
    metric : str, default="euclidean"
        Distances between rows, in which they were found.
    smallest : int, default=0
        Rows, about, that a group far from all others has at least to be shown as a cluster in nearly all tables of so
        many rows; 0 if not known.
    apart : ndarray of int64
        Numbers of the rows that lie with a few others apart from every cluster, or from the rest where none is claimed,
        too few to be shown one; in no cluster.
    counting : str, default=""
        How rows were counted, where weights of them that made a map were not; the last of `caution`.
    told : str, default=""
        Of a map, which columns beside the data the cluster of a row tells, such as its batch; empty if none.
    hidden : HidingColumns, HiddenDirections or None, default=None
        Where no clusters could be shown by distances, what hides neighbours that halves of the columns agree about: a
        few wide columns, or lengths of rows.
    standardised : bool, default=False
        Whether the columns in which they were found are those of a map that standardised them.
    """

    levels: tuple[Level, ...]
    default: int
    nearest: npt.NDArray[np.int64]
    margin: npt.NDArray[np.float64]
    alpha: float
    n_splits: int
    n_held_out: int
    n_repeats: int = 0
    succession: Succession | None = None
    n_columns: int = 0
    of_components: bool = False
    metric: str = "euclidean"
    smallest: int = 0
    apart: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counting: str = ""
    told: str = ""
    hidden: HidingColumns | HiddenDirections | None = None
    standardised: bool = False

    def __len__(self) -> int:
        return 0 if not self.levels else len(self.level())

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(level)) for level in self.levels) or "none"
        return f"Clusters(n_samples={len(self.nearest)}, clusters by level: {sizes})"

    def __str__(self) -> str:
        return self.summary()

    def level(self, number: int | None = None) -> Level:
        """Return a level by its number, the coarsest is 0; None is the default one.

        Where no clusters could be shown the default level has none, and every row is in none.

        Raises
        ------
        ValueError
            If there is no level of a number.
        """
        if not self.levels:
            if number is None:
                return Level((), np.full(len(self.nearest), -1, dtype=np.int64), 0.0)
            fact, remedy = "no clusters could be shown", "level() is then the level without any."
            raise ValueError(message(f"level={number}", "left out", fact=fact, remedy=remedy))
        wanted = self.default if number is None else number
        if not 0 <= wanted < len(self.levels):
            raise ValueError(message(f"level={number}", f"in [0, {len(self.levels)})"))
        return self.levels[wanted]

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """Cluster of each row at the default level, -1 for none."""
        return self.level().labels

    @property
    def names(self) -> npt.NDArray[np.str_]:
        """Name of the cluster of each row at the default level, empty for none."""
        return self.level().names

    @property
    def caution(self) -> str:
        """What the order of the rows says against the clusters, if there are any, and `counting`; empty if nothing."""
        told = [self.counting] if self.counting else []
        if self.succession is not None and self.levels:
            told = [self.succession.told("clusters may be stretches of one way through a single cloud"), *told]
        return " ".join(told)

    @property
    def continuum(self) -> str:
        """Which clusters of the default level are not empty between, so that they may be stages; empty if none.

        Those between which and the nearest cluster density is above a quarter of the sparser side's, as for
        `gnomon.evaluation.are_apart`.
        """
        names = [f"{cluster.name!r}" for cluster in self._maybe_stages()]
        if not names:
            return ""
        density = f"{100 * BRIDGE:g} % of the density of the sparser side"
        if len(names) == len(self):
            return f"Between each and the nearest there is more than {density}: all may be stages of a continuum."
        shown = first_few(names, _NAMED)
        return f"Not empty between, at more than {density}, and so maybe stages of a continuum: {shown}."

    def _maybe_stages(self) -> list[Cluster]:
        return [cluster for cluster in self.level().clusters if cluster.share > BRIDGE] if self else []

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values; None for NaN."""
        return {
            "n_clusters": len(self),
            "default": self.default,
            "levels": [level.to_dict() for level in self.levels],
            "nearest": self.nearest.tolist(),
            "margin": [None if math.isnan(value) else value for value in self.margin.tolist()],
            "alpha": self.alpha,
            "n_splits": self.n_splits,
            "n_held_out": self.n_held_out,
            "n_repeats": self.n_repeats,
            "smallest": self.smallest,
            "caution": self.caution,
            "continuum": self.continuum,
            "told": self.told,
            "apart": self.apart.tolist(),
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each cluster of each level, the features as one text.

        Raises
        ------
        MissingDependencyError
            If pandas cannot be imported.
        """
        pandas = import_optional("pandas", package="pandas", extra="frames")
        rows = [
            {
                "level": number,
                **cluster.to_dict(),
                "features": ", ".join([] if cluster.caption is None else cluster.caption.features),
            }
            for number, level in enumerate(self.levels)
            for cluster in level.clusters
        ]
        columns = ["level", "number", "name", "size", "parent", "p_value", "share", "persistence", "features"]
        return pandas.DataFrame(rows, columns=columns)

    def summary(self) -> str:
        """Return the clusters of the default level in words, and what the claim rests on."""
        checked = (
            f"checked in {self.n_held_out:,} rows held out; where the data are one cloud without bends, clusters are "
            f"claimed in at most {100 * self.alpha:g} % of tables"
        )
        if self.n_repeats:
            checked += f"; {self.n_repeats:,} rows repeat others, or nearly, and one of each set counts"
        if not self.levels:
            few = f"No clusters: none of {self.n_splits} possible splits could be shown, {checked}."
            few += f" {self._told_smallest}" if self.smallest else ""
            few += f" {self.caution}" if self.caution else ""
            few += f" {self._told_apart}" if len(self.apart) else ""
            if self.hidden is not None and not self.of_components:
                return f"{few} {self._told_hidden}"
            how = map_of_components(_COMPONENTS, self.metric)
            if self.of_components and self.n_columns > _FEW_COMPONENTS:
                return (
                    f"{few} Noise in {self.n_columns:,} coordinates may hide groups: fewer show some, about as many as "
                    f"there are groups (n_pcs={_FEW_COMPONENTS})."
                )
            if self.n_columns < MANY_COLUMNS or self.of_components or not how:
                return few
            return (
                f"{few} Noise in {self.n_columns:,} columns may hide groups, as it does in texts: find them in "
                f"principal components, by clusters() of {how}. Few groups may need fewer (n_pcs={_FEW_COMPONENTS})."
            )
        level = self.level()
        stages = len(self._maybe_stages())
        all_or_some = "maybe all" if stages == len(level) else f"{stages:,} of them maybe"
        doubt = f", {all_or_some} stages of a continuum" if stages else ""
        lines = [f"{len(level)} clusters{doubt}, {checked}.", *([self.caution] if self.caution else [])]
        lines += [self.continuum] if self.continuum else []
        width = max(len(cluster.name) for cluster in level.clusters[:_LISTED])
        lines += [self._line(cluster, width) for cluster in level.clusters[:_LISTED]]
        if len(level) > _LISTED:
            lines.append(f"  and {len(level) - _LISTED} more")
        lines += [self.told] if self.told else []
        if none := int(np.count_nonzero(level.labels < 0)):
            lines.append(f"  {none:,} rows are in no cluster")
        if len(self.apart):
            verb = "row lies" if len(self.apart) == 1 else "rows lie"
            lines.append(
                f"  {len(self.apart):,} {verb} with few others apart from every cluster, too few to be shown one"
            )
        if len(self.levels) > 1:
            lines.append("Levels of zoom: " + ", ".join(f"{len(one)}" for one in self.levels) + " clusters.")
        return "\n".join(lines)

    @property
    def _told_smallest(self) -> str:
        """Say which groups are too small to be shown, however clear they are."""
        n = len(self.nearest)
        return f"Groups of fewer than about {self.smallest:,} rows can hardly be shown in {n:,} rows, however clear."

    @property
    def _told_apart(self) -> str:
        """What is to be said of rows that lie apart where there is no cluster."""
        verb = "row lies" if len(self.apart) == 1 else "rows lie"
        return (
            f"{len(self.apart):,} {verb} with few others apart from the rest, too few to be shown a cluster (apart): "
            "gnomon.evaluation.is_real tells of 30 and more whether there is a gap."
        )

    @property
    def _told_hidden(self) -> str:
        """What hides neighbours, and by which map to look for clusters."""
        assert self.hidden is not None
        if isinstance(self.hidden, HidingColumns):
            n, share = len(self.hidden.columns), f"{self.hidden.share:.0%} of the squared distances"
            wide = f"1 of {self.n_columns:,} columns makes" if n == 1 else f"{n:,} of {self.n_columns:,} columns make"
            what, how = f"{wide} {share} and may hide groups of the others", "scale='standard'"
        else:
            what = "Lengths of rows differ and may hide groups that lie in unlike directions"
            how = "metric='cosine'" + (", scale='standard'" if self.standardised else "")
        return f"{what}: find them by clusters() of a map with {how}."

    def within(self, cluster: Cluster) -> str:
        """Return the name of the cluster that holds one of the default level; empty if it is that one, or none."""
        if cluster.parent is None:
            return ""
        holder = self.levels[self.default - 1].clusters[cluster.parent]
        return "" if holder.name == cluster.name else holder.name

    def _line(self, cluster: Cluster, width: int) -> str:
        holder = self.within(cluster)
        return (
            f"  {cluster.name:{width}}  {cluster.size:>7,} rows; density between it and the nearest "
            f"{100 * cluster.share:.0f} %, p = {cluster.p_value:.2g}{f'; within {holder!r}' if holder else ''}"
        )
