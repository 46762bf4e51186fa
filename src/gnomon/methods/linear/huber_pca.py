"""Robust principal components by a convex game: Huber's loss under a bound on the nuclear norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Either, Integer, Options, Real, Rule, warn
from gnomon.data import check_table, warn_of_one_row
from gnomon.exceptions import ConvergenceWarning
from gnomon.linalg import (
    dense_rows,
    huber_coordinates,
    inner_products,
    principal_components,
    product,
    symmetric_eigen,
)
from gnomon.methods.base import PlacesRows
from gnomon.methods.linear.subspace import PrincipalScores
from gnomon.methods.parameters import check_n_components
from gnomon.objectives import HuberFit
from gnomon.optimizers.fenchel import NuclearBall, frank_wolfe

__all__ = ["HuberPCA"]

Float64Array = npt.NDArray[np.float64]

_NORMAL = 1.4826  # standard deviation of a normal distribution over its median absolute value
_CLIP = 3.0  # standard deviations beyond which an entry is an outlier for the first guess
_EFFICIENT = 1.345  # Huber's threshold in standard deviations of the noise: 95 % efficient for normal noise
_CERTIFY = 10


@dataclass(eq=False, repr=False)
class HuberPCA(PrincipalScores, PlacesRows):
    """Principal components of the matrix that fits a table best in Huber's loss, among those of bounded nuclear norm.

    The problem is convex, and it is solved by Frank and Wolfe's method, each of whose steps adds a matrix of rank one.
    The method is played as a game of two learners, whose regrets certify how far the loss can be from the least one:
    the fit ends with a guarantee, not with a small step. Use `RobustPCA` where errors are few and the rest is exact;
    use this where noise is in every entry as well, and where a certificate is wanted.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map, at most min(n_samples, n_features).
    nuclear_norm : "auto" or float > 0, default="auto"
        Bound on the sum of the singular values of the fit. "auto" takes the sum of the first n_components singular
        values of the table with each column clipped at three robust standard deviations. The bound used is
        ``nuclear_norm_``.
    threshold : "auto" or float > 0, default="auto"
        Errors below it count as noise, in the units of the features. "auto" is 1.345 robust standard deviations of what
        the first n_components of the clipped table leave. The threshold used is ``threshold_``.
    tol : float >= 0, default=5e-3
        End when the certified gap is at most this share of the loss of the medians alone.
    max_iter : int >= 1, default=1000
        Most rounds. The number used is ``n_iter_``.
    random_state : int, Generator, RandomState or None, default=None
        Nothing is drawn; ``seed_`` records it.
    n_jobs : int or None, default=None
        Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each fifty rounds; returning True ends the game early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        Coordinates of the rows along the components, fitted in Huber's loss.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; the entry of largest magnitude of each is positive.
    mean_ : ndarray of shape (n_features,)
        Of the rows of the fit.
    low_rank_ : ndarray of shape (n_samples, n_features)
        The fit, with the medians.
    gap_ : float
        Certificate: the loss of the fit is at most this far above the least one. It says nothing where it is no less
        than ``loss_``, as no loss is negative.
    loss_ : float
        Huber's loss of the fit.
    nuclear_norm_, threshold_ : float
    solution_ : Solution
        ``solution_.state.rounds`` holds loss, gap and regrets.
    n_iter_, seed_, timings_
        What was used, and seconds by stage.

    References
    ----------
    .. [1] Jaggi, "Revisiting Frank-Wolfe: projection-free sparse convex optimization", ICML 2013.
    .. [2] Wang, Abernethy & Levy, "No-regret dynamics in the Fenchel game", Mathematical Programming 205, 2024.
    """

    n_components: int = 2
    _: KW_ONLY
    nuclear_norm: float | str = "auto"
    threshold: float | str = "auto"
    tol: float = 5e-3
    max_iter: int = 1000
    random_state: RandomState = None
    n_jobs: int | None = None
    callback: Callback | None = None
    verbose: bool | int = False

    _memory: ClassVar[Mapping[str, Cost]] = {
        "preparation": Cost(fixed=2e5, entry=72.0),
        "game": Cost(fixed=2e5, entry=140.0),
        "components": Cost(fixed=2e5, entry=150.0),
    }
    _writes_out: ClassVar[bool] = True
    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "nuclear_norm": Either(Options("auto"), Real(0.0, low_open=True)),
        "threshold": Either(Options("auto"), Real(0.0, low_open=True)),
        "tol": Real(0.0),
        "max_iter": Integer(1),
    }

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Find the components of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers. Sparse input is made dense, as the fit is.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.
        """
        parameters = self._check_parameters()
        table = check_table(X, accept_sparse=True, min_samples=2)
        self._refuse_excess(table, parameters)
        self._check_target(y, table.values)
        warn_of_one_row(table.values)
        n_components = parameters["n_components"]
        check_n_components(n_components, min(table.values.shape))
        self.seed_ = current_run().seed
        self._remember_features(table)
        reporter = current_run().reporter
        reporter.begin("preparation")
        self._center, self._unit, centred = _prepare(table.values)
        nuclear_norm, threshold = _guess(centred, n_components)
        self.nuclear_norm_ = _given(parameters["nuclear_norm"], nuclear_norm, self._unit)
        self.threshold_ = _given(parameters["threshold"], threshold, self._unit)
        reporter.begin("game", parameters["max_iter"])
        fit = self._play(centred, parameters)
        reporter.begin("components")
        model = principal_components(fit, n_components)
        self.components_ = model.components
        self._mean = model.mean
        self.low_rank_ = fit * self._unit + self._center
        self.mean_ = model.mean * self._unit + self._center
        self.embedding_ = self._coordinates(centred)
        reporter.end()
        self.timings_ = reporter.timings
        return self

    def _play(self, centred: Float64Array, parameters: dict[str, Any]) -> Float64Array:
        """Return the fit in units of the table; set loss, gap and solution."""
        objective = HuberFit(centred, self.threshold_ / self._unit)
        start = np.zeros_like(centred)
        first = objective.loss(start)
        game = frank_wolfe(
            NuclearBall(self.nuclear_norm_ / self._unit),
            max_iter=parameters["max_iter"],
            tol=parameters["tol"] * first,
            certify_every=_CERTIFY,
            block=_CERTIFY,
        )
        self.solution_ = game.minimize(objective, start, reporter=current_run().reporter)
        last, squared = self.solution_.state.rounds[-1], self._unit * self._unit
        self.n_iter_, self.loss_, self.gap_ = self.solution_.n_iter, last.loss * squared, last.gap * squared
        if not self.solution_.converged:
            known = f"the loss is certified to {last.gap / max(first, 1e-300):.2g} of its first value"
            if last.gap >= last.loss:  # the least loss is not negative, so this much is known without a game
                known = f"nothing is certified, as gap_={self.gap_:.3g} is no less than loss_={self.loss_:.3g}"
            asked = f"tol={parameters['tol']:g} was asked for"
            warn(f"after {self.n_iter_} rounds {known}; {asked}. Raise max_iter or tol.", ConvergenceWarning)
        return np.asarray(self.solution_.embedding)

    def _coordinates(self, centred: Float64Array) -> Float64Array:
        found = huber_coordinates(centred - self._mean, self.components_, self.threshold_ / self._unit)
        return found * self._unit

    def _place(self, X: Any) -> npt.NDArray[Any]:
        return self._coordinates((dense_rows(X) - self._center) / self._unit)

    def _derive(self, X: Any) -> Float64Array:
        """Return (V H V')^-1 V H for each row: H is 1 for the entries that count by their square, else 0."""
        V = self.components_
        centred = (dense_rows(X) - self._center) / self._unit - self._mean
        found = np.empty((X.shape[0], *V.shape))
        with single_threaded_blas():
            for i, row in enumerate(centred):
                place = self._place(X[i : i + 1])[0] / self._unit
                inner = V * (np.abs(row - place @ V) <= self.threshold_ / self._unit)
                found[i] = np.linalg.pinv(inner @ V.T) @ inner
        return found


def _prepare(X: Any) -> tuple[Float64Array, float, Float64Array]:
    """Return the medians of the columns, the largest distance of an entry from them, and the table in these units."""
    table = dense_rows(X)
    center = np.median(table, axis=0)
    centred = table - center
    unit = float(np.abs(centred).max()) or 1.0
    return center, unit, centred / unit


def _guess(centred: Float64Array, n_components: int) -> tuple[float, float]:
    """Return the bound and the threshold that a table with clipped columns suggests."""
    scale = _NORMAL * np.median(np.abs(centred), axis=0)
    constant = scale == 0.0  # at least half of the column is its median: its other entries are taken as they are
    limit = np.where(constant, np.abs(centred).max(axis=0), _CLIP * scale)
    clipped = np.clip(centred, -limit, limit)
    tall = clipped if clipped.shape[0] >= clipped.shape[1] else clipped.T
    squares, axes = symmetric_eigen(inner_products(tall), n_components)
    left = product(tall, axes)
    rest = tall - product(left, axes.T)
    size = float(np.sqrt(np.maximum(squares[:n_components], 0.0)).sum())
    noise = _NORMAL * float(np.median(np.abs(rest)))
    largest = float(np.abs(centred).max(initial=0.0))
    if not noise > 1e-12 * largest > 0.0:  # most entries are fitted exactly
        return size or 1.0, max(1e-3 * largest, 1e-3)
    return size or 1.0, _EFFICIENT * noise


def _given(value: float | str, guess: float, unit: float) -> float:
    return guess * unit if isinstance(value, str) else float(value)
