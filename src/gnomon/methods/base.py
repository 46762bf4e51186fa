"""What all methods share: fitting from a table and placing new rows, as scikit-learn estimators."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import Estimator, check_is_fitted, refuse_weights
from gnomon._run import current_run
from gnomon._validation import Rule, check_parameters, message
from gnomon.data import Table, check_unused_target
from gnomon.data.places import refuse_longitude_first
from gnomon.extension import MapFunction
from gnomon.methods.forecast import Forecast
from gnomon.methods.other_names import OtherName, check_names
from gnomon.methods.times import TIMES
from gnomon.scale import by_blocks, require_answers, stored_of

if TYPE_CHECKING:
    from gnomon.data.stored import StoredTable
    from gnomon.extension.sensitivity import DataLoss, Sensitivity
    from gnomon.methods.rows import SharedGraph
    from gnomon.surfaces import Surface

__all__ = [
    "Differentiable",
    "DifferentiableScores",
    "Embedder",
    "PlacesRows",
    "WeighsRows",
    "kind_of_table",
    "stored_features",
]

_WRITTEN_OUT = 12  # bytes of a number of sparse rows that are written out, and of its deviation


class Embedder(MapFunction, Estimator):
    """A method as a scikit-learn estimator: it learns from a table and remembers its features."""

    embedding_: npt.NDArray[Any]
    surface_: Surface | None = None  # that the map lies on; None for flat space
    _shared: SharedGraph | None = None  # during a fit whose neighbours others will ask for
    _other_names: ClassVar[Mapping[str, OtherName]] = {}  # of parameters, by other libraries
    _rules: ClassVar[Mapping[str, Rule]] = {}
    _memory: ClassVar[Mapping[str, Cost]] = {}  # bytes at the peak of each stage, where `_forecast` does not count them
    _time_spread: ClassVar[float] = 2.0  # factor by which the time may differ from what is forecast
    _sparse_time_spread: ClassVar[float | None] = None  # and of a sparse table, where it is another
    _writes_out: ClassVar[bool] = False  # whether sparse rows are written out
    _fits_blocks: ClassVar[bool] = False  # whether a table may be fitted in blocks, whose map is not kept
    _one_place: bool = False  # whether all rows that were fitted are equal and share one position

    @abstractmethod
    def fit(self, X: Any, y: object = None) -> Self:
        """Compute the map of X, ``embedding_``."""

    def fit_transform(self, X: Any, y: object = None, sample_weight: Any = None) -> npt.NDArray[Any]:
        """Compute the map of X and return it, ``embedding_`` of shape (n_samples, n_components).

        Parameters
        ----------
        X, y
            As in `fit`. Of a stored table that is fitted in blocks the map is that of `transform`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As in the `fit` of methods that take weights of rows; an error of the others.

        Raises
        ------
        MemoryError
            If the map of a stored table does not fit in memory.
        """
        self._require_map(X)
        fitted = self.fit(X, y, **self._weighing(sample_weight))
        return fitted.embedding_ if hasattr(fitted, "embedding_") else fitted.transform(X)

    @entrance()
    def _require_map(self, X: Any) -> None:
        """Raise MemoryError if the map of a stored table does not fit in memory."""
        stored, kept = stored_of(X), getattr(self, "n_components", None)
        if stored is not None and isinstance(kept, int):
            require_answers(stored, (kept,), np.dtype(stored.dtype).itemsize)

    @entrance()
    def _weighing(self, sample_weight: Any) -> dict[str, Any]:
        """Return the weights of rows as `fit` takes them, or raise ValueError if it takes none."""
        if sample_weight is None:
            return {}
        if not isinstance(self, WeighsRows):
            refuse_weights()
        return {"sample_weight": sample_weight}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what another library calls otherwise raises a TypeError that says its name here."""
        own = self.get_params(deep=False)  # a class of somebody's may have a name of its own
        check_names(self._other_names, [name for name in params if name not in own], type(self).__name__)
        super().set_params(**params)
        return self

    @entrance()
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file, which `gnomon.load` reads.

        The file holds arrays and text, no code: the parameters and all fitted attributes. What is loaded places rows
        with the same bytes.

        Parameters
        ----------
        path : str or path-like
            File to write; what was there stays until the new file is complete.

        Raises
        ------
        NotFittedError
            Before `fit`.
        TypeError
            If a part is a function or an object of another library, or callback is set. A random_state that is a
            generator is stored as the seed that was drawn from it.
        OSError
            If the file cannot be written.
        """
        from gnomon.methods.file import save_method  # loaded when first asked for

        check_is_fitted(self)
        save_method(self, path)

    @entrance()
    def foresee(
        self,
        n_samples: int,
        n_features: float,
        *,
        n_columns: int | None = None,
        n_varying: int | None = None,
        itemsize: int = 8,
        of_bytes: bool = False,
        n_shared: float | None = None,
    ) -> Forecast | None:
        """Return what a fit takes, without any work; None if this method does not tell.

        Parameters
        ----------
        n_samples : int >= 2
            Rows, all distinct.
        n_features : float >= 0
            Numbers stored for a row.
        n_columns : int or None, default=None
            Columns of a sparse table; None for a dense one, which has n_features.
        n_varying : int or None, default=None
            Columns that are not constant, of which principal components are found; None for all.
        itemsize : {4, 8, 12}, default=8
            Bytes of a number: of float32, of float64, and of a sparse table's rows where they are written out.
        of_bytes : bool, default=False
            Whether the table is dense and its numbers are 0, 1, ..., 255, such as pixels: a copy in bytes is then kept.
        n_shared : float or None, default=None
            Columns that two rows of a sparse table both store, in the mean; None for a dense one.

        Returns
        -------
        Forecast or None
            Memory and, for the reference machine, time by stage; parts put together by the user do not tell.

        Raises
        ------
        ValueError, TypeError
            If a parameter is refused.
        """
        parameters = self._check_parameters()
        columns = round(n_features) if n_columns is None else n_columns
        varying = columns if n_varying is None else n_varying
        parameters |= {"n_columns": columns, "n_varying": varying, "itemsize": itemsize, "of_bytes": of_bytes}
        parameters["n_shared"] = n_shared
        width = 0.0 if self._takes_distances else n_features
        found = self._forecast(n_samples, width, parameters)
        if found is None:
            return None
        durations = self._durations(n_samples, width, parameters)
        spread = (None if n_columns is None else self._sparse_time_spread) or self._time_spread
        return replace(found.with_reserve(), durations=durations, spread=spread, n_threads=current_run().n_threads)

    def _check_parameters(self) -> dict[str, Any]:
        """Return the parameters, or raise an error if one breaks its rule.

        They are read as attributes, since `get_params` knows only those of the constructor: a subclass may take fewer
        and give the others itself.
        """
        rules = self._all_rules()
        return check_parameters(rules, {name: getattr(self, name) for name in rules})

    def _all_rules(self) -> Mapping[str, Rule]:
        """Return what each parameter may be."""
        return self._rules

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        """Return what the fit of so many distinct rows takes, but for its time; None if this method does not tell.

        n_features is the numbers stored for a row: fewer than its features in a sparse table, 0 for given distances.
        """
        if not self._memory:
            return None
        peaks = {name: cost.of(n_samples, n_features) for name, cost in self._memory.items()}
        return Forecast.of_stages(peaks, f"{n_samples} x {n_features:.0f} numbers and what is made of them")

    def _refuse_excess(self, table: Table, parameters: dict[str, Any]) -> None:
        """Raise MemoryError or ValueError if the fit of a table would take more than there is."""
        known = parameters | kind_of_table(table.values)
        forecast = self._forecast(table.n_samples, stored_features(self, table.values), known)
        if forecast is not None:
            forecast.with_reserve().check(table.n_samples)

    def _durations(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> dict[str, float]:
        """Return the seconds of one core of the reference machine that each stage takes."""
        k, n_iter = self._n_compared(parameters, n_samples), self._n_iterations(parameters, n_samples)
        names = (f"{known.__name__}{self._manner(parameters, n_samples)}" for known in type(self).__mro__)
        stages = next((TIMES[name] for name in names if name in TIMES), {})
        return {name: work.seconds(n_samples, n_features, k, n_iter) for name, work in stages.items()}

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        """Return how so many rows are fitted, where that changes the stages, as `TIMES` calls it."""
        return ""

    def _n_compared(self, parameters: dict[str, Any], n_samples: int) -> int:
        """Return how many neighbours of each row the method looks at; 0 if it looks for none."""
        return min(int(parameters.get("n_neighbors") or 0), n_samples - 1)

    def _n_iterations(self, parameters: dict[str, Any], n_samples: int) -> int:
        """Return the most iterations of a fit."""
        return int(parameters.get("max_iter") or 0)

    def _check_target(self, y: Any, X: Any) -> Any:
        """Check a target of the fit, whose length is that of X; return what the fit uses of it, None for nothing."""
        check_unused_target(X, y)

    transform = MapFunction.transform  # scikit-learn's set_output sees only what an estimator's own class defines

    def _remember_stored(self, stored: StoredTable) -> None:
        """Remember the features of a table that was fitted in blocks, whose map is not kept."""
        self._remember_features(Table(stored.read(0, 0), stored.feature_names))
        self.__dict__.pop("embedding_", None)

    def _remember_features(self, table: Table) -> None:
        refuse_longitude_first(table.feature_names, getattr(self, "metric", None))
        self.n_features_in_ = int(table.values.shape[1])
        self._keep_rows_for_atlas(table)
        if table.feature_names is not None:
            self.feature_names_in_ = np.asarray(table.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def stored_features(estimator: Embedder, X: Any) -> float:
    """Return how many numbers a row stores that may be copied: those of given distances are not.

    Parameters
    ----------
    estimator : Embedder
    X : ndarray or CSR of shape (n_samples, n_features)

    Returns
    -------
    float
    """
    if estimator._takes_distances:
        return 0.0
    return float(X.shape[1] if isinstance(X, np.ndarray) or estimator._writes_out else X.nnz / X.shape[0])


def kind_of_table(X: Any) -> dict[str, Any]:
    """Return what beside its stored numbers decides the memory that a table takes, as parameters of a forecast.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    dict
        ``n_columns``, ``n_varying``, ``itemsize``, ``of_bytes`` and ``n_shared`` of `Embedder.foresee`.
    """
    from gnomon.linalg.principal.spectra import n_decomposed
    from gnomon.linalg.table import seems_of_bytes
    from gnomon.neighbors.sparse_rows import shared_numbers

    columns = {"n_columns": int(X.shape[1]), "n_varying": n_decomposed(X), "of_bytes": seems_of_bytes(X)}
    if getattr(X, "nnz", None) is not None:
        return {**columns, "itemsize": _WRITTEN_OUT, "n_shared": shared_numbers(X.tocsr())}
    itemsize = getattr(getattr(X, "dtype", None), "itemsize", 8)
    return {**columns, "itemsize": 4 if itemsize == 4 else 8, "n_shared": None}


class WeighsRows(Embedder):
    """An estimator whose `fit` takes the weights of rows: a row of weight 3 is three rows."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the map of X, ``embedding_``."""


class PlacesRows(Embedder):
    """An estimator with a way of its own to place new rows; a subclass computes the places in ``_place``."""

    @abstractmethod
    def _place(self, X: Any) -> npt.NDArray[Any]:
        """Return the positions of checked rows, one row at least, each a function of the row alone."""

    @entrance()
    @by_blocks
    def place(self, X: Any) -> npt.NDArray[Any]:
        """Place rows in the map in the method's own way, each by the row alone; the map does not change.

        A neighbour embedding places a row where its part of the loss is least, Isomap by paths, the spectral methods
        by neighbours: what umap-learn, openTSNE and scikit-learn call transform. Such places may jump from one row
        to a similar one and have no derivative; `transform` is smooth. For methods with a differentiable formula the
        two are the same.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)
            Of a stored table or memory map the rows are read and placed in blocks, by who works in the run.
            With metric="precomputed" the distances of the rows to those fitted, shape (n_rows, n_samples).

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            A row that was fitted gets its fitted position, up to rounding.

        Warns
        -----
        DataWarning
            If rows are out of range, or most are unlike those that were fitted, see `novelty`, of methods that look for
            a row's neighbours.
        """
        rows = self._check_new(X)
        if rows.shape[0] == 0 and hasattr(self, "embedding_"):
            return np.empty((0, self._n_features_out), dtype=self.embedding_.dtype)
        if self._one_place:
            return np.repeat(self.embedding_[:1], rows.shape[0], axis=0)
        return self._place(rows)

    def _evaluate(self, X: Any) -> npt.NDArray[Any]:
        return self._place(X) if self._has_formula or self._takes_distances else super()._evaluate(X)


class Differentiable(Embedder):
    """An estimator whose map can be differentiated by the data; a subclass gives the loss, or the derivatives."""

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        """Return the loss that the map should minimise, as a function of the data."""
        raise NotImplementedError

    def _differentiate(
        self, X: npt.NDArray[np.float64], feature_names: Sequence[str] | None, **options: Any
    ) -> Sensitivity:
        """Return the sensitivity of the map to checked data, the options being those of the public function."""
        from gnomon.extension.sensitivity import sensitivity  # loaded when first asked for

        loss = self._loss_of_data(X)
        return sensitivity(loss, self.embedding_, feature_names=feature_names, **options)


class DifferentiableScores(Differentiable):
    """One whose map is the principal components' scores, which need no minimum."""

    def _differentiate(
        self, X: npt.NDArray[np.float64], feature_names: Sequence[str] | None, **options: Any
    ) -> Sensitivity:
        """Return the sensitivity of the scores."""
        if getattr(self, "_weighted", False):
            raise ValueError(message("the fit", "one without sample_weight"))
        from gnomon.extension.sensitivity import principal_sensitivity  # loaded when first asked for

        return principal_sensitivity(X, self.embedding_.shape[1], rows=options["rows"], feature_names=feature_names)
