"""PCA by gradient descent on its directions: Gram affinity, linear kernel, projection error, orthonormal steps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._costs import Cost, returned_late
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, message, warn
from gnomon.data import check_table, warn_of_one_row
from gnomon.exceptions import ConvergenceWarning
from gnomon.linalg import inner, normal_matrix, principal_components, project_rows, with_signs
from gnomon.linalg.principal.scatter import centring_memory
from gnomon.methods.base import PlacesRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.linear.subspace import PrincipalScores
from gnomon.methods.parameters import Rows, check_n_components, check_start
from gnomon.objectives import NormalizedGradient, ProjectionError, polar_factor
from gnomon.optimizers import PolarDescent, SafeDescent, Solution
from gnomon.optimizers.fenchel import EuclideanBall, averaged_gradient_descent

__all__ = ["StiefelPCA"]

Float64Array = npt.NDArray[np.float64]

_STREAM_START = 131
_AVERAGED = ("no_regret", "averaged")


_COPIES = Cost(fixed=2e5, entry=16.0)  # bytes: the table in double, twice


@dataclass(eq=False, repr=False)
class StiefelPCA(PrincipalScores, PlacesRows):
    """Principal directions as the rest state of a descent of the projection error.

    Input affinity: a Gram matrix. Output kernel: the inner product. Loss: |Xc U U' - Xc|^2, what is lost when the
    centred rows are projected onto the columns of U. Optimizer: steps among the matrices with orthonormal columns.
    The result is that of `PCA`; this class shows how a descent leads there, and `GradientPCA` does so for the
    positions of the points. To get principal components quickly, use `PCA`.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Number of directions, at most min(n_samples, n_features).
    step : {"polar", "safe", "no_regret", "averaged"}, default="polar"
        "polar": U + eta S U with S = Xc'Xc, then the nearest matrix with orthonormal columns; the loss falls in every
        iteration. "safe": plain gradient steps in all matrices, of length 1 / (12 lambda_1) or shorter where the loss
        would rise; the nearest matrix with orthonormal columns is taken at the end. "no_regret": a heuristic, steps of
        length sqrt(n_components / max_iter) against the gradient in the ball of radius sqrt(n_components), where the
        orthonormal matrices are; the matrix nearest to the mean of all iterates is taken. It is a `FenchelGame` with
        the players OMD and BestRespPlus on `NormalizedGradient`; the loss is not convex, so the gap certifies nothing.
        Its error falls with max_iter as 1 / sqrt(max_iter) or slower, and slowest where variances differ widely.
        "averaged": the same without the ball, as Tucker wrote it: max_iter steps of length
        radius / (gradient_bound sqrt(max_iter)) against the gradient divided by its norm, and the mean of the iterates.
    learning_rate : "infinite" or float > 0, default="infinite"
        eta times the largest eigenvalue of S, for step="polar". "infinite" is orthogonal iteration, the fastest.
        A number is refused for step="no_regret" and "averaged".
    radius : float > 0 or None, default=None
        R, for step="averaged": distance from the start to the solution that is allowed for. None takes
        sqrt(n_components), the norm of orthonormal directions; Tucker's 1 is right for one component alone.
    gradient_bound : float >= 1, default=1.0
        G, for step="averaged": a bound on the norm of the gradient, which is divided by its norm.
    max_iter : int >= 0, default=5000
        Most iterations. The number used is ``n_iter_``; step="no_regret" and "averaged" do all of them, one at least.
    tol : float >= 0, default=1e-7
        End when the norm of the gradient is at most this share of the largest eigenvalue of S; for step="polar" and
        "safe".
    init : "random" or ndarray of shape (n_features, n_components), default="random"
        Directions to start from. "random" is a uniformly distributed orthonormal matrix; a given one is made
        orthonormal but for step="safe".
    random_state : int, Generator, RandomState or None, default=None
        Of the start. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each ten iterations; returning True ends the descent early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the training rows, in the units of the features.
    components_ : ndarray of shape (n_components, n_features)
        The directions found, rotated within their span to those of falling variance; signs as in `PCA`.
    mean_ : ndarray of shape (n_features,)
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each direction (divisor n_samples - 1).
    projector_error_ : float
        |U U' - V V'| in the Frobenius norm, with the directions V of `PCA`. It stays large without an error where the
        eigenvalues k and k + 1 are equal, because the span is not unique then.
    solution_ : Solution
        Loss history, reason for stopping, times; its embedding is U of shape (n_features, n_components), for
        step="no_regret" and "averaged" the mean of the iterates.
    regret_, regret_bound_ : float
        For step="averaged": mean of <U_t - U, g_t> over the iterations, g_t the gradient divided by its norm, for the U
        within `radius` of the start where it is largest; and what it can come to, R G / sqrt(T), the bound of Tucker's
        remark 6.23. For a convex loss it would bound what the loss of the mean, divided by the norm of the gradient, is
        above the least; this loss is not convex.
    n_iter_, seed_, timings_
        What was used, and seconds by stage.

    References
    ----------
    .. [1] Tucker, "Dimensionality reduction and the Fenchel game", theorem 1.7 and section 6 (no regret).
    .. [2] Edelman, Arias & Smith, "The geometry of algorithms with orthogonality constraints", SIMAX 20, 1998.
    """

    n_components: int = 2
    _: KW_ONLY
    step: str = "polar"
    learning_rate: float | str = "infinite"
    radius: float | None = None
    gradient_bound: float = 1.0
    max_iter: int = 5000
    tol: float = 1e-7
    init: Any = "random"
    random_state: RandomState = None
    n_jobs: int | None = None
    callback: Callback | None = None
    verbose: bool | int = False

    _writes_out: ClassVar[bool] = True
    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "step": Options("polar", "safe", "no_regret", "averaged"),
        "learning_rate": Either(Options("infinite"), Real(0.0, low_open=True)),
        "radius": Either(Real(0.0, low_open=True), Nothing()),
        "gradient_bound": Real(1.0),
        "max_iter": Integer(0),
        "tol": Real(0.0),
        "init": Either(Options("random"), Rows("an array of shape (n_features, n_components)")),
    }

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers. Sparse input is not densified.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.
        """
        parameters = self._check_parameters()
        _check_averaged(parameters)
        table = check_table(X, accept_sparse=True, min_samples=2)
        self._refuse_excess(table, parameters)
        self._check_target(y, table.values)
        warn_of_one_row(table.values)
        n_components = parameters["n_components"]
        check_n_components(n_components, min(table.values.shape))
        self.seed_ = current_run().seed
        start = self._start((int(table.values.shape[1]), n_components))
        self._remember_features(table)
        reporter = current_run().reporter
        reporter.begin("comparison")
        direct = principal_components(table.values, n_components, seed=self.seed_)
        self.mean_ = direct.mean
        reporter.begin("similarity")
        # Squares of a table of 1e30 stay in range, and a power of two changes no digit of the directions.
        size = float(direct.singular_values[0])
        scale = float(2.0 ** -np.round(np.log2(size))) if size > 0.0 else 1.0
        objective = ProjectionError(table.values.astype(np.float64) * scale)
        reporter.begin("descent", parameters["max_iter"])
        self.solution_ = self._descend(objective, start, parameters)
        self.n_iter_ = self.solution_.n_iter
        self._publish(objective, table.values.shape[0], scale, direct.components)
        self.embedding_ = self._place(table.values)
        reporter.end()
        self.timings_ = reporter.timings
        return self

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        direct = centring_memory(n_samples, parameters["n_varying"], parameters["itemsize"])
        peaks = {
            "comparison": direct,
            "similarity": returned_late(direct) + _COPIES.of(n_samples, n_features),
            "descent": returned_late(direct) + _COPIES.of(n_samples, n_features),
        }
        return Forecast.of_stages(peaks, f"copies of {n_samples} x {n_features:.0f} numbers")

    def _start(self, shape: tuple[int, int]) -> Float64Array:
        if isinstance(self.init, str):
            return polar_factor(normal_matrix(self.seed_, _STREAM_START, shape))
        try:
            return check_start(self.init, shape).astype(np.float64)
        except ValueError as error:
            raise ValueError(str(error).replace("(n_samples, n_components)", "(n_features, n_components)")) from None

    def _descend(self, objective: ProjectionError, start: Float64Array, parameters: dict[str, Any]) -> Solution:
        reporter = current_run().reporter
        tol, max_iter = parameters["tol"], parameters["max_iter"]
        if parameters["step"] == "polar":
            polar = PolarDescent(parameters["learning_rate"], max_iter=max_iter, tol=tol)
            solution = polar.minimize(objective, start, reporter=reporter)
        elif parameters["step"] in _AVERAGED:
            # Distance sqrt(k) and gradients of length 1 in the step R / (G sqrt T) of averaged gradient descent.
            radius = float(np.sqrt(parameters["n_components"]))
            ball = EuclideanBall(radius) if parameters["step"] == "no_regret" else None
            radius, bound = parameters["radius"] or radius, parameters["gradient_bound"]
            step = radius / bound / float(np.sqrt(max_iter))
            game = averaged_gradient_descent(step, domain=ball, max_iter=max_iter, certify_every=max_iter, block=10)
            solution = game.minimize(NormalizedGradient(objective), polar_factor(start), reporter=reporter)
            if ball is None:
                state = solution.state
                best = inner(state.start, state.total_y) - radius * float(np.linalg.norm(state.total_y))
                self.regret_ = (state.paid_x - best) / state.weight
                self.regret_bound_ = radius * bound / float(np.sqrt(max_iter))
        else:
            safe = SafeDescent(
                backtracking=True,
                max_iter=max_iter,
                tol=None,
                n_iter_without_progress=None,
                min_grad_norm=tol * objective.largest_eigenvalue(),
                block=10,
            )
            solution = safe.minimize(objective, start, reporter=reporter)
        if not solution.converged and solution.n_iter == max_iter:
            text = f"{solution.n_iter} iterations did not reach tol={tol:g}. Raise max_iter."
            warn(text, ConvergenceWarning)
        return solution

    def _publish(self, objective: ProjectionError, n_samples: int, scale: float, direct: Float64Array) -> None:
        """Rotate the directions to falling variance and compare them with those by eigenvectors."""
        with single_threaded_blas():
            U = polar_factor(self.solution_.embedding)
            inside = U.T @ objective.scatter_times(U)
            variances, rotation = scipy.linalg.eigh((inside + inside.T) / 2.0, check_finite=False)
            components = U @ rotation[:, ::-1]
            # |U U' - V V'|^2 = 2 (k - |U' V|^2) loses half of the digits; what U leaves of V does not.
            outside = direct.T - U @ (U.T @ direct.T)
            self.projector_error_ = float(np.sqrt(2.0) * np.linalg.norm(outside))
        self.components_ = np.ascontiguousarray(with_signs(components).T)
        self.explained_variance_ = np.maximum(variances[::-1], 0.0) / scale / scale / max(n_samples - 1, 1)

    def _place(self, X: Any) -> npt.NDArray[Any]:
        return project_rows(X, self.mean_, self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_averaged(parameters: dict[str, Any]) -> None:
    """Refuse what a step has no use for."""
    step = parameters["step"]
    if step != "averaged" and (parameters["radius"] is not None or parameters["gradient_bound"] != 1.0):
        name = "gradient_bound" if parameters["radius"] is None else "radius"
        remedy = "Leave it out, or use step='averaged'."
        raise ValueError(message(f"{name}={parameters[name]}", f"left out where step={step!r}", remedy=remedy))
    if step not in _AVERAGED:
        return
    if parameters["learning_rate"] != "infinite":
        length = "sqrt(n_components / max_iter)" if step == "no_regret" else "radius / (gradient_bound sqrt(max_iter))"
        remedy = "Leave learning_rate out, or use step='polar'."
        what = f"learning_rate={parameters['learning_rate']}"
        raise ValueError(message(what, f"left out where step={step!r}", fact=f"the step is {length}", remedy=remedy))
    if parameters["max_iter"] == 0:
        raise ValueError(message("max_iter=0", f"at least 1 where step={step!r}"))
