"""PCA by attraction and repulsion: Gram affinity, linear kernel, Frobenius loss, solved by gradient descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Either, Elsewhere, Instance, Integer, Nothing, Options, Real, Rule, message, warn
from gnomon.affinities import Gram
from gnomon.data import check_table
from gnomon.data.arrays import LARGEST_SQUARED
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.initialization import strain_start
from gnomon.kernels import INPUT_KERNELS
from gnomon.linalg import column_signs, procrustes_error, product, symmetric_eigen, with_signs
from gnomon.methods.base import Embedder
from gnomon.methods.forecast import FEWER_ROWS, STRIPS, Forecast
from gnomon.methods.other_names import INPUT_KERNEL_NAMES
from gnomon.methods.parameters import Rows, check_n_components, check_start
from gnomon.objectives import Strain
from gnomon.optimizers import SafeDescent, Solution
from gnomon.optimizers.safe_descent import BABYLONIAN_RATE

if TYPE_CHECKING:
    from gnomon.linalg import LowRank

__all__ = ["GradientPCA"]

Float64Array = npt.NDArray[np.float64]

_LARGEST = 1e96  # n_samples times a similarity: about the largest eigenvalue
_FEW_ITERATIONS = 100  # a descent takes as many or more

_OF_ROWS = Cost(fixed=2e5, row=120.0, entry=16.0)  # bytes: the table in double, twice, and positions


class GradientPCA(Embedder):
    """Principal components as the rest state of attractions and repulsions.

    Input affinity: a Gram matrix. Output kernel: the inner product. Loss: the Frobenius norm of the difference of both
    after centring. Optimizer: gradient descent with a step that is proved to lower the loss. The result is that of
    `PCA`, or of kernel PCA for other similarities; this class shows that and how forces lead there. To get principal
    components quickly, use `PCA`.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map; less than n_samples, and for "linear" at most n_features.
    kernel : str or callable, default="linear"
        "linear", "polynomial", "gaussian", "laplacian", "cauchy" or "cosine"; "precomputed" takes any symmetric
        matrix; a callable takes rows A and B to their (len(A), len(B)) similarities. Of a similarity with negative
        eigenvalues the map shows the positive part.
    kernel_params : dict or None, default=None
        Of the kernel, such as ``{"sigma": 2.0}``; without, sigma is the median distance of rows.
    approximation : {"randomized", "nystrom", "cholesky"} or None, default=None
        Replace the similarity by a factor of few columns, which makes an iteration cheap. "linear" and "precomputed"
        are centred before.
    rank : int >= 1 or None, default=None
        Columns of the factor; None takes ten for each component and 100 at least. The rank used is ``low_rank_.rank``.
    step : {"safe", "babylonian"}, default="safe"
        "safe": plain gradient steps of a length that lowers the loss every time. "babylonian": the gradient times the
        inverse of Y'Y, in fewer iterations; the loss may rise in the first ones.
    max_iter : int >= 0, default=5000
        Most iterations. The number used is ``n_iter_``.
    tol : float >= 0, default=1e-8
        End when the norm of the gradient is below tol * 4 rho^(3/2), with rho about the largest eigenvalue.
    init : "random" or ndarray of shape (n_samples, n_components), default="random"
        Start positions. "random" is normal with the variance lambda_1 / (100 n_samples).
    random_state : int, Generator, RandomState or None, default=None
        Of the start and the approximation. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each ten iterations; returning True ends the descent early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, centred and rotated to its principal axes by falling variance, which changes no distance. For "linear"
        the signs are those of `PCA`, else the entry of largest magnitude of each column is positive.
    strain_ : float
        Loss of the map.
    procrustes_error_ : float
        Relative distance of the map from the solution by eigenvectors, over all rotations. It stays large without an
        error where the eigenvalues d and d + 1 are equal, because the solution is not unique then.
    safe_step_ : float
        gamma of the safe step Y + gamma (T Y - Y Y'Y).
    gram_ : Gram
        The similarity.
    low_rank_ : LowRank or None
        Its approximation, which is not centred for a kernel.
    solution_ : Solution
        Loss history, reason for stopping, times; its embedding is the one before the rotation.
    n_iter_, seed_, timings_
        What was used, and seconds by stage.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "kernel": Either(
            Elsewhere(Options(*INPUT_KERNELS, "precomputed"), INPUT_KERNEL_NAMES),
            Instance((Callable,), "a callable"),  # type: ignore[arg-type]
        ),
        "kernel_params": Either(Instance((dict,), "a dict"), Nothing()),
        "approximation": Either(Options("randomized", "nystrom", "cholesky"), Nothing()),
        "rank": Either(Integer(1), Nothing()),
        "step": Options("safe", "babylonian"),
        "max_iter": Integer(0),
        "tol": Real(0.0),
        "init": Either(Options("random"), Rows("an array of shape (n_samples, n_components)")),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        approximation: str | None = None,
        rank: int | None = None,
        step: str = "safe",
        max_iter: int = 5000,
        tol: float = 1e-8,
        init: Any = "random",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.rank = rank
        self.step = step
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Compute the map of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with kernel="precomputed" the similarities, shape (n_samples, n_samples). Sparse
            input is not densified.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.
        """
        parameters = self._check_parameters()
        table = check_table(X, accept_sparse=True, min_samples=2, dtype=np.float64, largest=LARGEST_SQUARED)
        self._check_target(y, table.values)
        self._check_n_components(table.values.shape, parameters)
        self.seed_ = current_run().seed
        self._remember_features(table)
        reporter = current_run().reporter
        reporter.begin("similarity")
        self._refuse_excess(table, parameters)
        objective = self._objective(table.values, parameters)
        reporter.begin("initialization")
        start = self._start(objective, parameters)
        reporter.begin("descent", parameters["max_iter"])
        self.solution_ = self._descend(objective, start, parameters)
        reporter.begin("comparison")
        self.n_iter_ = self.solution_.n_iter
        self.embedding_ = _on_principal_axes(self.solution_.embedding)
        if isinstance(self.kernel, str) and self.kernel == "linear":
            with single_threaded_blas():
                self.embedding_ *= column_signs(table.values.T @ self.embedding_)
        direct = objective.gram.leading_eigenpairs(parameters["n_components"], seed=self.seed_)
        self.procrustes_error_ = procrustes_error(
            self.embedding_, direct.vectors * np.sqrt(np.maximum(direct.values, 0.0))
        )
        reporter.end()
        self.timings_ = reporter.timings
        return self

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        kernel = parameters["kernel"]
        given = isinstance(kernel, str) and kernel == "precomputed"
        if isinstance(kernel, str) and kernel == "linear":
            dense = n_features >= parameters["n_columns"]
            compared = Gram.bytes_of_eigenpairs(n_samples, n_features, dense=dense)
            needed = _OF_ROWS.of(n_samples, n_features) + compared
            return Forecast(needed, f"{n_samples} x {n_features:.0f} numbers and what is made of them", FEWER_ROWS)
        if given and n_features < n_samples:
            return Forecast(24.0 * n_samples * n_features, "similarities that are stored", FEWER_ROWS)
        kept = 16.0 * float(n_samples) ** 2 if given else Gram.bytes_kept(n_samples)
        pairs = f"{n_samples} x {n_samples} pairs"
        passes = (
            0 if given or kept > 0.0 or parameters["approximation"] else min(parameters["max_iter"], _FEW_ITERATIONS)
        )
        return Forecast(
            kept + 2.0 * STRIPS * n_samples,
            f"similarities of {pairs}",
            "Use approximation='nystrom', or fewer rows.",
            2e-8 * passes * float(n_samples) ** 2,
            f"{passes} evaluations of the similarities of {pairs}",
        )

    def _check_n_components(self, shape: tuple[int, int], parameters: dict[str, Any]) -> None:
        n_components, (n_samples, n_features) = parameters["n_components"], shape
        limit, rule = n_samples - 1, f"less than n_samples={n_samples}"
        if parameters["kernel"] == "linear" and n_features < limit:
            limit, rule = n_features, f"at most n_features={n_features}"
        check_n_components(n_components, limit, rule)

    def _objective(self, X: Any, parameters: dict[str, Any]) -> Strain:
        """Return the loss; set the similarity and its approximation."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            self.gram_ = Gram.from_matrix(X)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # refused next
                self.gram_ = Gram.from_kernel(parameters["kernel"], X, parameters=parameters["kernel_params"])
        _check_range(X, self.gram_)
        self.low_rank_: LowRank | None = None
        if parameters["approximation"] is None:
            return Strain(self.gram_)
        current_run().reporter.begin("approximation")
        rank = parameters["rank"]
        if rank is None:
            rank = min(self.gram_.n_samples, max(10 * parameters["n_components"], 100))
        # Centring costs a pass over all pairs for a kernel, of which the mean takes one column at most.
        given = self.gram_.centred() if self.gram_.kind in ("linear", "matrix") else self.gram_
        self.low_rank_ = given.approximate(parameters["approximation"], rank=rank, seed=self.seed_)
        return Strain(Gram.from_factor(self.low_rank_))

    def _start(self, objective: Strain, parameters: dict[str, Any]) -> Float64Array:
        shape = (objective.n_samples, parameters["n_components"])
        if isinstance(parameters["init"], str):
            start = strain_start(objective.gram, shape[1], self.seed_)
            if not start.any():
                text = "all points are equally similar; they share one position."
                warn(text, DataWarning)
            return start
        return check_start(parameters["init"], shape).astype(np.float64)

    def _descend(self, objective: Strain, start: Float64Array, parameters: dict[str, Any]) -> Solution:
        safe = objective.safe_bound(start)
        self.safe_step_ = safe.gamma
        preconditioned = parameters["step"] == "babylonian"
        optimizer = SafeDescent(
            BABYLONIAN_RATE if preconditioned else safe.learning_rate,
            preconditioned=preconditioned,
            tol=None,
            n_iter_without_progress=None,
            block=10,
            max_iter=parameters["max_iter"],
            min_grad_norm=safe.gradient_tolerance(parameters["tol"]),
        )
        solution = optimizer.minimize(objective, start, reporter=current_run().reporter)
        if not solution.converged and solution.n_iter == parameters["max_iter"]:
            text = f"{solution.n_iter} iterations did not reach tol={parameters['tol']:g}. Raise max_iter."
            warn(text, ConvergenceWarning)
        return solution

    @property
    def strain_(self) -> float:
        """Loss of the map."""
        return float(self.solution_.loss[-1][1])

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _check_range(X: Any, gram: Gram) -> None:
    """Raise ValueError if similarities are so large that squared lengths of gradients, third powers, may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(gram.diagonal().max())
    if not largest * gram.n_samples <= _LARGEST:
        power = math.floor(math.log10(float(np.abs(X if isinstance(X, np.ndarray) else X.data).max())))
        rule = f"of similarities whose sum over the rows stays below {_LARGEST:g}"
        fact = f"the largest of a row with itself is {largest:.3g}"
        raise ValueError(message("X", rule, fact=fact, remedy=f"Pass X * 1e-{power}."))


def _on_principal_axes(Y: npt.NDArray[Any]) -> Float64Array:
    """Return Y centred and rotated so that its columns are uncorrelated, by falling variance."""
    centred = Y - Y.mean(axis=0)
    with single_threaded_blas():
        _, axes = symmetric_eigen(product(centred.T, centred))
        return with_signs(product(centred, axes))
