"""Random projection: no fit to the data, yet squared distances are kept on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing, check_is_fitted
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Options, Rule, message
from gnomon.data import check_table, warn_of_one_row
from gnomon.linalg import dense_rows, project_rows, random_directions
from gnomon.methods.base import PlacesRows
from gnomon.methods.parameters import check_scores
from gnomon.scale import several_blocks

__all__ = ["RandomProjection"]

Float64Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class RandomProjection(PlacesRows):
    """Map rows by a random matrix, Y = X R / sqrt(n_components).

    The squared distance of two rows in the map is, on average over seeds, that in the data, and with many components
    nearly so for every seed. It is the baseline that a map must beat: it looks at nothing but the number of features.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map; for "orthonormal" at most n_features. More than n_features are allowed otherwise.
    variant : {"gaussian", "orthonormal", "sparse"}, default="gaussian"
        "gaussian": entries of R are standard normal. "orthonormal": orthonormal columns, uniformly distributed, times
        sqrt(n_features): distances vary less from seed to seed. "sparse": a share 1 / sqrt(n_features) of the
        entries, drawn one by one, is ±n_features^(1/4), the others are 0; the quickest for wide tables.
    random_state : int, Generator, RandomState or None, default=None
        Of the matrix. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, in the units of the features; float32 for float32 rows, else float64. Not centred.
    components_ : ndarray or csr_array of shape (n_components, n_features), float64
        R' / sqrt(n_components); sparse for variant="sparse".
    seed_ : int

    References
    ----------
    .. [1] Johnson & Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space", Contemporary Mathematics
       26, 1984.
    .. [2] Achlioptas, "Database-friendly random projections", JCSS 66, 2003.
    .. [3] Li, Hastie & Church, "Very sparse random projections", KDD 2006.
    """

    n_components: int = 2
    _: KW_ONLY
    variant: str = "gaussian"
    random_state: RandomState = None
    n_jobs: int | None = None

    _keeps_rows, _fits_blocks = False, True
    _memory: ClassVar[Mapping[str, Cost]] = {"projection": Cost(fixed=1e5, row=16.0)}
    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "variant": Options("gaussian", "orthonormal", "sparse"),
    }

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Draw the matrix and map X by it.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or stored table of shape (n_samples, n_features)
            Finite numbers. Sparse input is not densified. Of a stored table or memory map of more than two blocks only
            the width counts: ``embedding_`` is not kept, `transform` maps the rows.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.
        """
        parameters = self._check_parameters()
        stored = several_blocks(X)
        rows: Any = stored
        if stored is None:
            table = check_table(X, accept_sparse=True, min_samples=2)
            self._refuse_excess(table, parameters)
            warn_of_one_row(table.values)
            rows = table.values
        self._check_target(y, rows)
        n_features, n_components = int(rows.shape[1]), parameters["n_components"]
        if parameters["variant"] == "orthonormal" and n_components > n_features:
            what, rule = f"n_components={n_components}", f"at most n_features={n_features} for variant='orthonormal'"
            raise ValueError(message(what, rule, remedy="Use variant='gaussian' or fewer."))
        if stored is None:
            self._remember_features(table)
        else:
            self._remember_stored(stored)
        self.seed_ = current_run().seed
        self.components_: Any = random_directions(parameters["variant"], n_components, n_features, seed=self.seed_)
        if stored is None:
            self.embedding_ = self._place(rows)
        return self

    def _place(self, X: Any) -> npt.NDArray[Any]:
        if not isinstance(self.components_, np.ndarray):
            product = X @ self.components_.T  # SciPy sums in the order of the columns, for each row by itself
            scores = np.ascontiguousarray(product if isinstance(product, np.ndarray) else product.toarray())
            return np.asarray(scores, dtype=np.float32 if X.dtype == np.float32 else np.float64)
        return project_rows(X, np.zeros(self.n_features_in_), self.components_)

    @entrance()
    def inverse_transform(self, Y: Any) -> Float64Array:
        """Return the shortest rows that have the positions Y, by the pseudo-inverse of ``components_``.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
        """
        check_is_fitted(self)
        positions = check_scores(Y, self.components_.shape[0])
        with single_threaded_blas():
            return np.asarray(positions @ np.linalg.pinv(dense_rows(self.components_)).T)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    @property
    def _has_formula(self) -> bool:
        return True

    def _derive(self, X: Any) -> Float64Array:
        return np.repeat(dense_rows(self.components_)[None], X.shape[0], axis=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
