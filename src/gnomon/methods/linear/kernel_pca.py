"""Kernel PCA: Gram matrix of an input kernel, linear output kernel, Frobenius loss, solved as an eigenproblem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing, check_is_fitted
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import (
    Either,
    Elsewhere,
    Having,
    Instance,
    Integer,
    Nothing,
    Options,
    Real,
    Rule,
    check_parameters,
    message,
    warn,
)
from gnomon.affinities import Gram
from gnomon.affinities.kernel_components import (
    KernelComponents,
    approximate_components,
    exact_components,
    negative_share,
    place_by_similarity,
    weighted_components,
)
from gnomon.data import check_sample_weight, check_table, warn_of_one_row, weights_that_count
from gnomon.data.arrays import LARGEST_SQUARED
from gnomon.exceptions import DataWarning
from gnomon.kernels import INPUT_KERNELS, input_kernel
from gnomon.linalg import dense_rows
from gnomon.linalg.table import evenly_spaced
from gnomon.methods.base import PlacesRows, WeighsRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.linear.preimages import Preimages
from gnomon.methods.other_names import INPUT_KERNEL_NAMES, KERNEL_PCA, other_names
from gnomon.methods.parameters import check_n_components, check_scores

__all__ = ["KernelPCA"]

Float64Array = npt.NDArray[np.float64]

_STEP = 6e-6  # of the largest entry of a row, for differences of a user's kernel
_MOST_EXACT = 12_000  # rows up to which "auto" finds the eigenvectors of the whole matrix: 576 MB for one half of it
_RANK = 500
_PRODUCTS = 20  # with the matrix that the eigenvectors take at least
_SECONDS_OF_SIMILARITY = 2e-8  # of one core
_MOST_REGRESSED = 4000  # rows that pre-images are learned from
_MOST_FOR_INERTIA = 5000  # rows up to which all eigenvalues are found: half a minute


@other_names(KERNEL_PCA)
class KernelPCA(WeighsRows, PlacesRows):
    """Map rows onto their principal components in the feature space of a kernel.

    Input affinity: the Gram matrix of a kernel. Output kernel: the inner product. Loss: the Frobenius norm of the
    difference of both after centring. Optimizer: an eigenproblem.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Number of components; less than n_samples.
    kernel : str, callable or InputKernel, default="gaussian"
        "linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy", "sketch_map" or "umap", see
        `gnomon.kernels`; "precomputed" takes similarities (not distances); a callable takes rows A and B to their
        (len(A), len(B)) similarities.
    kernel_params : dict or None, default=None
        Of a named kernel, such as ``{"sigma": 2.0}``. A sigma that is not given is the median distance of rows,
        which weigh as `sample_weight` says.
    approximation : {"auto", "nystrom", "cholesky"} or None, default="auto"
        None uses similarities of all pairs of rows, in float64; up to 12 000 rows one half of them is kept, 4 n^2
        bytes; above they are evaluated for each product, and beyond 158 000 rows refused. "nystrom" and "cholesky" use
        those of `rank` rows to all others, for a semidefinite kernel. "auto" is None up to 12 000 rows and where the
        kernel is not known to be semidefinite, else "nystrom". On 10 000 images of digits its leading five eigenvalues
        are within 0.5 % of the exact ones.
    rank : int in [1, n_samples] or None, default=None
        Rows that an approximation reads; None takes 500, or ten for each component.
    inverse : {"ridge", "fixed_point"}, default="ridge"
        How `inverse_transform` finds a row. "ridge" regresses the rows on their scores, for any kernel that takes rows.
        "fixed_point" seeks the row whose image in the feature space is nearest, for kernels of the distance. Of noisy
        digits with 32 components both remove the same noise; with 16 "ridge" removes more. Of the linear kernel both
        are the reconstruction of PCA.
    alpha : float > 0, default=1.0
        Weight of the penalty of "ridge".
    random_state : int, Generator, RandomState or None, default=None
        Of the approximation and of the start of the eigenproblem. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` as each stage begins.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        Scores: eigenvectors times the roots of the eigenvalues. Where fewer eigenvalues are positive than components
        were asked for, the other columns are zero and a `DataWarning` says so.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the centred Gram matrix, falling; 0 for what is not positive.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        The entry of largest magnitude of each is positive.
    explained_ratio_ : ndarray of shape (n_components,)
        The eigenvalues over the trace of the centred Gram matrix. Of an indefinite kernel they can add to more than 1.
    negative_inertia_ : float or None
        Sum of the magnitudes of the negative eigenvalues over that of all: 0 for a semidefinite kernel, else found
        when it is asked for, up to 5000 rows; None above.
    kernel_ : InputKernel or None
        The kernel with its scale; None for "precomputed".
    sigma_ : float or None
        Its scale, if it has one.
    approximation_ : {"nystrom", "cholesky"} or None
        What was used.
    landmarks_ : ndarray of int or None
        Rows that the approximation read.
    approximation_residual_ : float
        Share of the trace of the Gram matrix that the approximation left out; 0 without one.
    seed_, timings_
        The seed used, and seconds by stage.

    References
    ----------
    .. [1] Schölkopf, Smola & Müller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural
       Computation 10, 1998.
    .. [2] Mika et al., "Kernel PCA and de-noising in feature spaces", NeurIPS 1998 (pre-images).
    .. [3] Williams & Seeger, "Using the Nyström method to speed up kernel machines", NeurIPS 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, factor=0.3, random_state=0)
    >>> from gnomon.methods.linear.kernel_pca import KernelPCA
    >>> KernelPCA(2, kernel="gaussian", kernel_params={"sigma": 0.3}, random_state=0).fit_transform(X).shape
    (200, 2)
    """

    _keeps_rows: ClassVar[bool] = False
    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "kernel": Either(
            Elsewhere(Options(*INPUT_KERNELS, "precomputed"), INPUT_KERNEL_NAMES),
            Instance((Callable,), "a callable"),  # type: ignore[arg-type]
            Having(("block", "diagonal"), "an input kernel"),
        ),
        "kernel_params": Either(Instance((dict,), "a dict"), Nothing()),
        "approximation": Either(Options("auto", "nystrom", "cholesky"), Nothing()),
        "rank": Either(Integer(1), Nothing()),
        "inverse": Options("ridge", "fixed_point"),
        "alpha": Real(0.0, low_open=True),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "gaussian",
        kernel_params: dict[str, Any] | None = None,
        approximation: str | None = "auto",
        rank: int | None = None,
        inverse: str = "ridge",
        alpha: float = 1.0,
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
        self.inverse = inverse
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with kernel="precomputed" the similarities, shape (n_samples, n_samples). Sparse input
            is not densified.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many rows each row stands for, >= 0: a row of weight 3 is three rows, but parameters that the kernel
            takes from the table, and landmarks, are those of the rows given. A row of weight 0 takes no part in the fit
            and is placed afterwards. With weights the similarities of all pairs are written out, unless approximated.
            None counts each row once.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.

        Raises
        ------
        MemoryError
            If the method keeps all pairs of rows, or much of them, and there is less memory; before any work.
        ValueError
            If X or a parameter is refused, or going through all pairs would take more than three hours of one core.
        """
        parameters = self._check_parameters()
        table = check_table(X, accept_sparse=True, min_samples=2, dtype=np.float64, largest=LARGEST_SQUARED)
        self._check_target(y, table.values)
        weights = weights_that_count(check_sample_weight(sample_weight, table.values))
        present = None if weights is None or weights.all() else np.flatnonzero(weights)
        given: Any = table.values
        if weights is not None and present is not None:
            table = replace(table, values=self._columns_of(given[present], present), index=None)
            weights = weights[present]
        n_samples = int(table.values.shape[0])
        check_n_components(parameters["n_components"], n_samples - 1, f"less than n_samples={n_samples}")
        self.seed_ = current_run().seed
        self._remember_features(table)
        reporter = current_run().reporter
        reporter.begin("similarity")
        rows = self._prepare(table.values, parameters, weights)
        width = float(rows.shape[1] if isinstance(rows, np.ndarray) else rows.nnz / n_samples)
        self._foresee_with(self.kernel_, n_samples, width, parameters, weighted=weights is not None).check(n_samples)
        gram = self._gram(rows, parameters)
        self._components = self._solve(gram, parameters, weights)
        self._keep_rows(rows)
        self._similarity = None if gram.semidefinite else gram
        self._publish(self._components, one_row=warn_of_one_row(table.values))
        if present is not None:
            absent = np.setdiff1d(np.arange(given.shape[0]), present)
            places = np.empty((given.shape[0], self.embedding_.shape[1]))
            places[present], places[absent] = self.embedding_, self._place(self._columns_of(given[absent], present))
            self.embedding_, self._present = places, present
        reporter.end()
        self.timings_ = reporter.timings
        return self

    def _columns_of(self, rows: Any, present: npt.NDArray[np.intp]) -> Any:
        """Return given similarities to the rows that take part; rows of features as they are."""
        if not self._precomputed:
            return rows
        return np.ascontiguousarray(rows[:, present]) if isinstance(rows, np.ndarray) else rows[:, present]

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _prepare(self, X: Any, parameters: dict[str, Any], weights: npt.NDArray[Any] | None) -> Any:
        """Set the kernel and the point that it is evaluated around; return the rows from there."""
        self._center: Any = None
        self.kernel_ = None
        if self._precomputed:
            if parameters["kernel_params"]:
                raise ValueError(message("kernel_params", "None for kernel='precomputed'"))
            return X
        self.kernel_ = input_kernel(parameters["kernel"], X, parameters=parameters["kernel_params"], weights=weights)
        # Inner products and distances of rows far from the origin keep their digits when they are moved to it.
        if isinstance(X, np.ndarray) and (self.kernel_.of_differences or self.kernel_.name == "linear"):
            self._center = X.mean(axis=0)
            return X - self._center
        return X

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return ", approximated" if _choose_approximation(n_samples, parameters, self._kernel(parameters, 2.0)) else ""

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        kernel = self._kernel(parameters, n_features)
        return self._foresee_with(kernel, n_samples, n_features, parameters)

    def _kernel(self, parameters: dict[str, Any], n_features: float) -> Any:
        """Return the kernel of rows that are not known yet; None for similarities that are given."""
        if self._precomputed:
            return None
        sample = np.eye(2, max(1, round(n_features)))  # that scales are taken from, which do not matter here
        return input_kernel(parameters["kernel"], sample, parameters=parameters["kernel_params"])

    def _foresee_with(
        self, kernel: Any, n_samples: int, width: float, parameters: dict[str, Any], *, weighted: bool = False
    ) -> Forecast:
        """Return what the fit takes: similarities of all pairs, or of some rows to all others."""
        n, n_components = float(n_samples), parameters["n_components"]
        pairs = f"{n_samples} x {n_samples} pairs"
        approximation, seconds, strips = _choose_approximation(n_samples, parameters, kernel), 0.0, 0.0
        if kernel is None:  # checked, and averaged with its transpose if they differ by rounding; or sparse
            kept, width = (16.0 if width == n else 24.0 * width / n) * n**2, 0.0
        elif kernel.name == "linear":
            kept = 0.0
        else:
            kept = Gram.bytes_kept(n_samples)
            strips = (17_000.0 if kept >= 8.0 * n**2 else 6000.0) * n + 3e6
            if approximation is None and kept == 0.0:  # the similarities are evaluated again for each product
                seconds = _PRODUCTS * _SECONDS_OF_SIMILARITY * n**2
        if approximation is not None:
            rank = _choose_rank(n_samples, parameters)
            kept = (0.0 if kernel is not None else kept) + 24.0 * n * rank + 1.2e7
            strips, what = 1000.0 * n, f"similarities of {n_samples:,} rows to {rank} of them"
        else:
            what = f"similarities of {pairs}"
            if n_components > n_samples // 4:
                kept += 40.0 * n**2  # eigenvectors of the whole matrix
        if weighted and approximation is None:
            kept += 40.0 * n**2  # written out, centred and reflected
        remedy = "Lower rank, or use fewer rows."
        if approximation is None:
            remedy = "Use approximation='nystrom', or fewer rows."
        needed = kept + strips + n * (22.0 * width + 300.0 * n_components)
        return Forecast(needed, what, remedy, seconds, f"{_PRODUCTS} evaluations of the similarities of {pairs}")

    def _gram(self, rows: Any, parameters: dict[str, Any]) -> Gram:
        if self.kernel_ is None:
            return Gram.from_matrix(rows)
        self.approximation_ = _choose_approximation(rows.shape[0], parameters, self.kernel_)
        stored = None if self.approximation_ is None else False
        return Gram.from_kernel(self.kernel_, rows, stored=stored)

    def _solve(self, gram: Gram, parameters: dict[str, Any], weights: Float64Array | None) -> KernelComponents:
        reporter = current_run().reporter
        if self.kernel_ is None:
            self.approximation_ = _choose_approximation(gram.n_samples, parameters, None)
        n_components = parameters["n_components"]
        if self.approximation_ is None:
            reporter.begin("eigenvectors")
            if weights is not None:
                return weighted_components(gram, n_components, weights, seed=self.seed_)
            return exact_components(gram, n_components, seed=self.seed_)
        reporter.begin("approximation")
        rank = _choose_rank(gram.n_samples, parameters)
        found = gram.approximate(self.approximation_, rank=rank, seed=self.seed_)
        reporter.begin("eigenvectors")
        return approximate_components(gram, found, n_components, weights)

    def _keep_rows(self, rows: Any) -> None:
        """Keep the rows that new ones are compared with, and some that pre-images are learned from."""
        self._rows: Any = None
        self._sample: Any = None
        if self.kernel_ is not None:
            landmarks = self._components.landmarks
            self._rows = rows if landmarks is None else rows[landmarks]
            some = evenly_spaced(rows.shape[0], _MOST_REGRESSED)
            self._sample = some, (None if landmarks is None else rows[some])

    def _publish(self, components: KernelComponents, *, one_row: bool) -> None:
        self.embedding_ = components.scores
        self.eigenvalues_ = components.values
        self.eigenvectors_ = components.vectors
        self.explained_ratio_ = components.values / (components.trace if components.trace > 0.0 else 1.0)
        self.sigma_ = getattr(self.kernel_, "sigma", None)
        self.landmarks_ = components.landmarks
        self.approximation_residual_ = components.residual
        self._preimages: Preimages | None = None
        wanted = components.values.size
        if components.n_positive < wanted and not one_row:  # else that has been said
            text = f"{components.n_positive} of {wanted} eigenvalues are positive; the other columns are zero."
            warn(text, DataWarning)

    @property
    def negative_inertia_(self) -> float | None:
        """Share of the negative eigenvalues in the sum of all magnitudes."""
        check_is_fitted(self)
        if self._similarity is None:
            return 0.0
        return negative_share(self._similarity) if self._similarity.n_samples <= _MOST_FOR_INERTIA else None

    def _place(self, X: Any) -> Float64Array:
        landmarks = self._components.landmarks

        def similarities(some: slice) -> Float64Array:
            rows = X[some]
            if self.kernel_ is None:
                near = rows if landmarks is None else rows[:, landmarks]
                return dense_rows(near)
            rows = rows.astype(np.float64)
            return self.kernel_.block(rows if self._center is None else self._moved(rows), self._rows)

        return place_by_similarity(self._components, similarities, int(X.shape[0]))

    @property
    def _has_formula(self) -> bool:
        return True

    def _derive(self, X: Any) -> Float64Array:
        if self.kernel_ is None:
            raise ValueError(message("kernel='precomputed'", "a kernel of rows", remedy="Fit rows with a kernel."))
        gradients = getattr(self.kernel_, "gradients", None)
        if gradients is None:
            return self._differences(X)
        found = np.empty((X.shape[0], self.embedding_.shape[1], self.n_features_in_))
        with single_threaded_blas():
            for i in range(X.shape[0]):  # one by one: a product of several rows may round in another way
                row = dense_rows(X[i : i + 1])
                row = row if self._center is None else row - self._center
                found[i] = gradients(row, self._rows, self._components.projection)[0]
        return found

    def _expand(self, X: Any) -> tuple[Float64Array, Float64Array]:
        with single_threaded_blas():  # once for both
            return super()._expand(X)

    def _differences(self, X: Any) -> Float64Array:
        """Return the derivatives of the formula of a user's kernel by central differences."""
        form: Any = scipy.sparse.csr_array if scipy.sparse.issparse(X) else np.asarray
        found = np.empty((X.shape[0], self.embedding_.shape[1], self.n_features_in_))
        for i in range(X.shape[0]):
            row = dense_rows(X[i : i + 1])
            step = _STEP * (float(np.abs(row).max()) or 1.0)
            moved = step * np.eye(row.shape[1])
            found[i] = (self._place(form(row + moved)) - self._place(form(row - moved))).T / (2.0 * step)
        return found

    def _moved(self, rows: Any) -> Float64Array:
        """Return rows as they lie from the middle of those fitted; dense ones, since those fitted were dense."""
        return np.asarray(dense_rows(rows) - self._center, dtype=np.float64)

    @entrance()
    def inverse_transform(self, Y: Any) -> Float64Array:
        """Return rows whose scores are about Y.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
            Dense, each row a function of its scores alone.

        Raises
        ------
        ValueError
            For kernel="precomputed", which has no rows; for inverse="fixed_point" with a kernel that is not one of the
            distance.
        """
        check_is_fitted(self)
        scores = check_scores(Y, self.embedding_.shape[1])
        if self.kernel_ is None:
            remedy = "Fit rows with a kernel."
            raise ValueError(message("kernel='precomputed'", "a kernel of rows", remedy=remedy))
        given = check_parameters(self._rules, {"inverse": self.inverse, "alpha": self.alpha}, ["inverse", "alpha"])
        wanted = ("linear" if self.kernel_.name == "linear" else given["inverse"], given["alpha"])
        preimages: Preimages | None = getattr(self, "_preimages", None)
        if preimages is None or (preimages.inverse, preimages.alpha) != wanted:
            some, rows = self._sample
            sample = (self._rows[some] if rows is None else rows), self._fitted_places[some]
            preimages = Preimages.learn(*wanted, self._components, self.kernel_, self._rows, sample)
            self._preimages = preimages
        found = preimages.find(scores)
        return found if self._center is None else found + self._center

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags


def _choose_approximation(n_samples: int, parameters: dict[str, Any], kernel: Any) -> str | None:
    """Return how the similarities are approximated; a kernel of None is similarities that are given."""
    wanted: str | None = parameters["approximation"]
    if wanted != "auto":
        return wanted
    if kernel is None or not kernel.semidefinite or kernel.name == "linear":
        return None
    return "nystrom" if n_samples > _MOST_EXACT else None


def _choose_rank(n_samples: int, parameters: dict[str, Any]) -> int:
    rank: int | None = parameters["rank"]
    return min(n_samples, max(_RANK, 10 * parameters["n_components"])) if rank is None else rank
