"""Descent with sampled repulsion: the optimizer of UMAP."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._progress import Reporter
from gnomon._validation import Boolean, Either, Integer, Options, Real, Rule, check_parameters
from gnomon.objectives.edges import Edges
from gnomon.optimizers.solution import Solution, diverged
from gnomon.optimizers.start import check_start, read_only

__all__ = ["SampledDescent", "SampledObjective", "SampledState"]

_RULES: dict[str, Rule] = {
    "max_iter": Either(Options("auto"), Integer(low=0)),
    "learning_rate": Real(low=0.0, low_open=True),
    "block": Integer(low=1),
    "track_loss": Boolean(),
}
_SMALL = 10_000  # points up to which "auto" runs 500 epochs, as in umap-learn


class SampledObjective(Protocol):
    """An objective whose repulsion can be sampled, such as `CrossEntropy`."""

    @property
    def n_samples(self) -> int:
        """Number of points."""
        ...

    @property
    def n_threads(self) -> int:
        """Threads used; the result does not depend on it."""
        ...

    @property
    def edges(self) -> Edges:
        """The affinities."""
        ...

    @property
    def sampling_weights(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights of the points pushed and of the points drawn; no weights count as 1."""
        ...

    @property
    def compiled_kernel(self) -> _core.OutputKernel:
        """The output kernel."""
        ...

    @property
    def sampling(self) -> _core.SamplingParameters:
        """How an epoch is sampled."""
        ...

    def loss(self, Y: npt.NDArray[np.float32]) -> float:
        """Return the loss."""
        ...


@dataclass(frozen=True)
class SampledState:
    """Where a sampled descent stands.

    Attributes
    ----------
    embedding, first_moment, second_moment : ndarray of shape (n_samples, n_components), float32
        Points, and Adam's averages of the force and of its square.
    iteration : int
        Epochs done.
    """

    embedding: npt.NDArray[np.float32]
    first_moment: npt.NDArray[np.float32]
    second_moment: npt.NDArray[np.float32]
    iteration: int = 0


class SampledDescent:
    """Descend by epochs in which each point feels all its edges and 16 points drawn at random.

    An edge that umap-learn would visit in a share of the epochs is felt in every epoch with that share as its weight,
    and the draws are weighted to the same mean, so an epoch has umap-learn's mean force with less noise. All points
    move at once, from the positions of the last epoch, by Adam with short memories (0.5, 0.9) [2]_: plain steps of
    this size, all at once, would overshoot. Random draws depend on seed, epoch and point alone.

    Parameters
    ----------
    max_iter : "auto" or int >= 0, default="auto"
        Epochs; "auto" is 500 up to 10000 points, else 200.
    learning_rate : float > 0, default=1.0
        Step of the first epoch, in units of the embedding; falls linearly to 0.
    block : int >= 1, default=10
        Epochs between reports.
    track_loss : bool, default=False
        Evaluate the loss after each block: all pairs of points, which takes longer than the epochs from a few thousand
        points on.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018.
    .. [2] Melville, "uwot: the uniform manifold approximation and projection method in R" (batch mode).
    """

    def __init__(
        self,
        max_iter: int | Literal["auto"] = "auto",
        *,
        learning_rate: float = 1.0,
        block: int = 10,
        track_loss: bool = False,
    ) -> None:
        given = {"max_iter": max_iter, "learning_rate": learning_rate, "block": block, "track_loss": track_loss}
        checked = check_parameters("SampledDescent", _RULES, given)
        self.max_iter: int | str = checked["max_iter"]
        self.learning_rate: float = checked["learning_rate"]
        self.block: int = checked["block"]
        self.track_loss: bool = checked["track_loss"]

    def resolve_max_iter(self, n_samples: int) -> int:
        """Return the number of epochs for n_samples points."""
        if self.max_iter == "auto":
            return 500 if n_samples <= _SMALL else 200
        return int(self.max_iter)

    def minimize(
        self,
        objective: SampledObjective,
        Y0: npt.ArrayLike,
        *,
        reporter: Reporter | None = None,
        state: SampledState | None = None,
        stop_after: int | None = None,
    ) -> Solution:
        """Descend from Y0.

        Parameters
        ----------
        objective : SampledObjective
            What to minimise.
        Y0 : array-like of shape (n_samples, n_components)
            Where to start, about 10 wide; not changed.
        reporter : Reporter, default=None
            Told after each block; may ask to end.
        state : SampledState, default=None
            Go on from the state of an earlier Solution; Y0 is not used then.
        stop_after : int, default=None
            End when so many epochs have been done in all, to be resumed later.

        Returns
        -------
        Solution

        Raises
        ------
        FloatingPointError
            If the embedding leaves the finite numbers.
        """
        reporter = Reporter() if reporter is None else reporter
        n_epochs = self.resolve_max_iter(objective.n_samples)
        if state is None:
            start = check_start(Y0, objective.n_samples, who="SampledDescent")
            state = SampledState(start, np.zeros_like(start), np.zeros_like(start))
        Y, first, second = state.embedding.copy(), state.first_moment.copy(), state.second_moment.copy()
        epoch, last = state.iteration, n_epochs if stop_after is None else min(stop_after, n_epochs)
        schedule = _core.SampledSchedule(self.learning_rate, max(n_epochs, 1))
        history: list[tuple[int, float]] = []
        began, stopped = time.perf_counter(), False
        while epoch < last and not stopped:
            end = min((epoch // self.block + 1) * self.block, last)
            _core.sampled_epochs(
                *objective.edges.csr,
                *objective.sampling_weights,
                objective.compiled_kernel,
                objective.sampling,
                schedule,
                epoch,
                end,
                Y,
                first,
                second,
                objective.n_threads,
            )
            epoch = end
            if not np.isfinite(Y).all():
                raise diverged("SampledDescent", epoch, self.learning_rate)
            loss = None
            if self.track_loss:
                loss = objective.loss(Y)
                history.append((epoch, loss))
            stopped = reporter.update(epoch, n_epochs, loss=loss, embedding=read_only(Y))
        reason = f"Epoch {epoch} of {n_epochs} was reached."
        if stopped:
            reason = f"The callback asked to end after epoch {epoch} of {n_epochs}."
        timings = {"epochs": time.perf_counter() - began}
        converged = epoch >= n_epochs and not stopped
        return Solution(Y, history, converged, reason, epoch, timings, SampledState(Y, first, second, epoch))
