"""Neighbour embeddings that may follow a target beside the data."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon import neighbors
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._validation import Options, Real, Rule, message, warn
from gnomon.affinities import Affinities, Inputs, NeighborAffinity
from gnomon.data import Target, check_target, check_target_length, check_unused_target
from gnomon.exceptions import SupervisionWarning
from gnomon.linalg.table import evenly_spaced
from gnomon.methods.base import WeighsRows
from gnomon.methods.neighbor.blocks import BlockEmbedder

if TYPE_CHECKING:
    from gnomon.extension.sensitivity import DataLoss

__all__ = ["SupervisedEmbedder", "Supervision", "agreement_with_data"]

_KINDS: dict[str, Any] = {"auto": "auto", "categorical": "classes", "euclidean": "numbers", "l2": "numbers"}
_NEIGHBORS = 15
_ROWS = 20_000  # whose neighbours are looked at
_SHUFFLES = 20
_ERRORS = 3.0  # above chance by more than so many errors, a target goes with the data


@dataclass(frozen=True)
class Supervision:
    """How far the target of a fit goes with its data.

    Attributes
    ----------
    kind : {"classes", "numbers"}
        What the target was taken for.
    n_known : int
        Distinct rows that have a class or number.
    agreement : float
        Classes: the share of neighbours in the data that have the row's class. Numbers: Moran's I, the mean product of
        the standardised numbers of neighbours.
    chance : float
        What is expected of it if the target were shuffled among the rows.
    error : float
        Standard deviation of it over 20 shuffles.
    """

    kind: str
    n_known: int
    agreement: float
    chance: float
    error: float

    @property
    def is_by_chance(self) -> bool:
        """Whether the agreement is not above that of a shuffled target by more than three errors."""
        return not self.agreement > self.chance + _ERRORS * self.error


def agreement_with_data(target: Target, graph: neighbors.NeighborGraph, *, seed: int) -> Supervision:
    """Compare the target of neighbours with that of shuffled rows.

    Parameters
    ----------
    target : Target of n_samples rows
    graph : NeighborGraph of n_samples rows
        The 15 nearest neighbours count, of at most 20,000 rows.
    seed : int
        Of the shuffles.

    Returns
    -------
    Supervision
    """
    known = np.flatnonzero(target.known)
    m = len(known)
    rows = known[evenly_spaced(m, _ROWS)]
    near = graph.indices[rows, :_NEIGHBORS]
    valid = target.known[near]
    if graph.mask is not None:
        valid &= graph.mask[rows, :_NEIGHBORS]
    values = target.values
    if target.kind == "numbers":
        values = (values - values[known].mean()) / values[known].std()
        chance = -1.0 / (m - 1)
    else:
        sizes = np.bincount(values[known]).astype(np.float64)
        chance = float((sizes * (sizes - 1.0)).sum() / (m * (m - 1.0)))

    def agreement(given: npt.NDArray[Any]) -> float:
        ours, theirs = np.broadcast_to(given[rows][:, None], near.shape)[valid], given[near][valid]
        return float(np.mean(ours * theirs if target.kind == "numbers" else ours == theirs)) if len(ours) else chance

    rng = np.random.default_rng(seed)
    found = []
    for _ in range(_SHUFFLES):
        shuffled = values.copy()
        shuffled[known] = rng.permutation(values[known])
        found.append(agreement(shuffled))
    error = float(np.sqrt(np.mean(np.square(np.array(found) - chance))))
    return Supervision(target.kind, m, agreement(values), chance, error)


@dataclass(eq=False, repr=False)
class SupervisedEmbedder(WeighsRows, BlockEmbedder):
    """A neighbour embedding whose affinities may be intersected with those of a target.

    A subclass for which other programs ignore a target sets the default of ``target_weight`` to 0.
    """

    _: KW_ONLY
    target_weight: float = 0.5
    target_metric: str = "auto"

    _common_rules: ClassVar[dict[str, Rule]] = {
        **BlockEmbedder._common_rules,
        "target_weight": Real(0.0, 1.0),
        "target_metric": Options(*_KINDS),
    }

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the map of X, or of X and a target.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with metric="precomputed" the distances, shape (n_samples, n_samples).
        y : array-like of shape (n_samples,) or None, default=None
            Classes or numbers that the map should follow too, with the weight ``target_weight``: by default 0.5 for
            UMAP and its relatives and LargeVis, and 0, not at all, for t-SNE and its relatives. None, NaN, NaT or an
            empty text for a row without one; also -1, where it stands among whole numbers of at least two other
            classes. Dates, fractions of more than twelve values and whole numbers such as ages, many of few rows each,
            are numbers, everything else classes, unless ``target_metric`` says so. Equal rows have the mean of their
            numbers or the most frequent of their classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many rows each row stands for, >= 0: a row of weight 3 is three rows. Only their ratios count. A row of
            weight 0 takes no part in the fit and is placed afterwards, as by `transform`. None counts each row once.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.

        Raises
        ------
        MemoryError
            If the method keeps all pairs of rows, or much of them, and there is less memory; before any work.
        ValueError
            If X, y, sample_weight or a parameter is refused.

        Warns
        -----
        SupervisionWarning
            If neighbours in the data agree in y no more than by chance, as with shuffled labels; the figures are
            ``supervision_``. If all rows that have a class or number have the same one, y is not used. If the weight
            is 0 by default, y is not used either, and in a pipeline or search of scikit-learn no warning says so.
        """
        return self._fit(X, y, sample_weight)

    def _check_target(self, y: Any, X: Any) -> Target | None:
        self.supervision_: Supervision | None = None
        check_target_length(X, y)
        if self.target_weight == 0.0 and type(self).target_weight == 0.0:  # nobody may have chosen it
            check_unused_target(X, y, remedy="To follow y pass target_weight=0.5, or else leave y out.")
        if y is None or self.target_weight == 0.0:
            return None
        target = check_target(y, int(X.shape[0]), _KINDS[self.target_metric])
        if target.varies:
            return target
        warn("y is not used: all rows that have a class or number have the same one.", SupervisionWarning)
        return None

    def _supervised(self, affinity: NeighborAffinity, parameters: dict[str, Any]) -> Any:
        """Return the affinity of the table, or that of table and target if there is one."""
        parameters.setdefault("target")  # a fit knows one, a derivative does not
        target = parameters["target"]
        if target is None:
            return affinity
        from gnomon.affinities import SupervisedAffinity

        return SupervisedAffinity(affinity, target, parameters["target_weight"])

    @staticmethod
    def _of_data(
        affinities: Affinities, affinity: NeighborAffinity, inputs: Inputs, parameters: dict[str, Any]
    ) -> Affinities:
        """Return the affinities of the table alone, for terms that keep what the data are like."""
        return affinities if parameters["target"] is None else affinity(inputs)

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[np.float32]:
        positions = super()._embed(X, parameters)
        target = parameters["target"]
        if target is not None:
            self.supervision_ = agreement_with_data(target, self.graph_, seed=self.seed_)
            _warn_of_chance(self.supervision_)
        return positions

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        if self.supervision_ is not None:
            what, remedy = "the map", "Fit without y, or with target_weight=0."
            raise ValueError(message(what, "one of the data alone", fact="it was fitted with y", remedy=remedy))
        return super()._loss_of_data(X)


def _warn_of_chance(found: Supervision) -> None:
    if found.is_by_chance:
        what = "share of neighbours of the same class" if found.kind == "classes" else "Moran's I of neighbours"
        warn(
            f"y goes with the data no more than shuffled labels would: the {what} is {found.agreement:.3g}, by chance "
            f"{found.chance:.3g} ± {found.error:.2g}. The map shows y where the data do not. Check that rows of X and "
            "y are in the same order, or use target_weight=0.",
            SupervisionWarning,
        )
