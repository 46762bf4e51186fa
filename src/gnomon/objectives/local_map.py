"""The loss of LocalMAP: PaCMAP's, whose last phase follows the map of the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import SEED, Real, Rule, check_parameters, message
from gnomon.affinities.base import sum_of_directions
from gnomon.kernels import ShortReach
from gnomon.objectives.added import AddedTerm
from gnomon.objectives.base import Embedding
from gnomon.objectives.pacmap import FURTHER, LAST_PHASE, NEAR_REACH, PacmapLoss
from gnomon.objectives.pair_objective import PairTerm, Repulsion, RowLoss
from gnomon.objectives.pairs import check_embedding
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import PacmapPairs

__all__ = ["LocalmapLoss", "NearbyPairs"]

_RULES: dict[str, Rule] = {"radius": Real(low=0.0, low_open=True), "seed": SEED}
_NEAR = ShortReach(NEAR_REACH)
_TRIES = 100  # draws for each pair, as in the authors' program
_LAST_COST = 2.2  # what an iteration of the last phase takes, which counts the pairs near by, relative to the others
_STREAM = 0x6E6279  # "nby"


class NearbyPairs(AddedTerm):
    """Further pairs of points that lie near each other in the map, drawn anew every 10 iterations.

    Each point draws as many others as it had further pairs, at random among those within a radius in the map that are
    no near pair of it; where 100 draws find none, one of its own further pairs takes the place. With d = 1 + squared
    distance and m near pairs, between two draws

        loss = 1 / m sum over the pairs 1 / (1 + d).

    As an added term of `LocalmapLoss`, in which m is the sum of all affinities, the pairs count as PaCMAP's do.

    Parameters
    ----------
    near, further : ndarray of shape (n_samples, n_partners), int32
        The partners that each point chose, different from each other; see `gnomon.affinities.pacmap_pairs`.
    radius : float > 0
        Largest distance, in units of the map.
    seed : int in [0, 2**63), default=0
        Decides the draws, with the iteration and the point.
    """

    every = 10
    begins = LAST_PHASE

    @entrance("NearbyPairs")
    def __init__(
        self, near: npt.NDArray[np.int32], further: npt.NDArray[np.int32], radius: float, *, seed: int = 0
    ) -> None:
        self.radius, self.seed = check_parameters(_RULES, {"radius": radius, "seed": seed}).values()
        self._near, self._further = (np.ascontiguousarray(chosen, dtype=np.int32) for chosen in (near, further))
        self._unit = float(max(self._near.size, 1))
        self._pairs = self._of(self._further)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self._near)

    @entrance("NearbyPairs")
    def refresh(self, Y: npt.NDArray[Any], iteration: int) -> None:
        """Draw the pairs of an iteration."""
        if self._pairs is None:
            return
        drawn = _core.random_others_within(
            self.seed,
            _STREAM + (iteration << 24),
            self._near,
            check_embedding(Y, self.n_samples),
            self.radius,
            _TRIES,
            self._further,
            current_run().n_threads,
        )
        self._pairs = self._of(drawn)

    def loss(self, Y: Embedding) -> float:
        """Return the loss with the pairs drawn last."""
        return 0.0 if self._pairs is None else self._pairs.energy(Y) / self._unit

    def gradient(self, Y: Embedding) -> npt.NDArray[Any]:
        """Return its gradient."""
        return np.zeros_like(Y) if self._pairs is None else np.asarray(-self._pairs.force(Y) / self._unit)

    def reference(self, Y: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        """Return loss and gradient in float64."""
        if self._pairs is None:
            return 0.0, np.zeros_like(Y)
        energy, force = self._pairs.reference(Y)
        return energy / self._unit, -force / self._unit

    @staticmethod
    def _of(partners: npt.NDArray[np.int32]) -> EdgePairs | None:
        return EdgePairs(sum_of_directions(partners), FURTHER, "value", symmetric=True) if partners.size else None


class LocalmapLoss(PacmapLoss):
    """PaCMAP's loss, in whose last phase near pairs that lie far apart pull less and further pairs are nearby ones.

    In the first two phases it is `PacmapLoss`. In the third, with d = 1 + squared distance in the map,

        loss = c sum_near h(d) + sum_nearby 1 / (1 + d),    h'(d) = 10 / (10 + d)^2 / sqrt(d),

    so that a near pair pulls as PaCMAP's does, times c / sqrt(d): edges that the map stretches are taken for false ones
    and let go (`gnomon.kernels.ShortReach`). `NearbyPairs` part what the map crowds.

    Parameters
    ----------
    pairs : PacmapPairs
        The pairs.
    nearby : NearbyPairs
        The nearby pairs; 2 c is their radius. Near pairs that lie closer than half of it pull more than PaCMAP's,
        others less.

    References
    ----------
    .. [1] Wang, Sun, Huang & Rudin, "Dimension reduction with locally adjusted graphs", AAAI 2025.
    """

    @entrance("LocalmapLoss")
    def __init__(self, pairs: PacmapPairs, nearby: NearbyPairs) -> None:
        super().__init__(pairs)
        if nearby.n_samples != self.n_samples:
            what, rule = (
                f"nearby pairs of {nearby.n_samples:,} points",
                f"of the {self.n_samples:,} points of the pairs",
            )
            raise ValueError(message(what, rule))
        self.nearby = nearby
        self._strength = 0.5 * nearby.radius
        self._local = EdgePairs(pairs.near, _NEAR, "value", scale=self._strength, symmetric=True)
        self.added.join(nearby)
        self._adjust()

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the weights of one iteration, counted from 0, of max_iter; an optimizer calls it before each."""
        super().at(iteration, max_iter)
        self._adjust()

    def costs(self, max_iter: int) -> list[tuple[int, float]]:
        """Return what iterations cost relative to the first: the last phase draws pairs anew."""
        return [(round(LAST_PHASE * max_iter), _LAST_COST)]

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of a new row in the last phase.

        Its further pairs are replaced by all points, each with a share of the repulsion that nearby pairs have in the
        map.
        """
        points = self._check(np.asarray(Y))
        everyone = AllPairs(self.n_samples, FURTHER, "value", evaluation="auto").energy(points)
        strength = self.nearby.loss(points) * self.n_samples / everyone
        return RowLoss((PairTerm(_NEAR, "value", self._strength),), (Repulsion(FURTHER, "value", strength),))

    def _adjust(self) -> None:
        """Put the terms of the last phase in place of PaCMAP's once it has begun, as the nearby pairs then act."""
        if self.added.acting:
            self.constant, self.attractions, self.repulsions = 0.0, [self._local], []
        else:
            self.repulsions = list(self._further)
