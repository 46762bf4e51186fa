"""Arrays of Dask: their graph is sent, and each worker computes the chunks that it needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from gnomon._optional import import_optional
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.data.arrays import working_dtype
from gnomon.data.stored.arrays import check_array
from gnomon.data.stored.grouped import GroupedTable

__all__ = ["DaskTable", "array_of_frame"]


class DaskTable(GroupedTable):
    """A two-dimensional array of Dask.

    Its chunks are computed by threads of the process that asks for rows, never by a cluster: a task that waited for
    other tasks could wait for ever where all workers do.

    Parameters
    ----------
    array : dask.array.Array of shape (n_samples, n_features)
        With known chunk sizes. Chunks of SciPy's sparse matrices are read as CSR.
    feature_names : sequence of str, default=None
        Of the columns.

    Raises
    ------
    ValueError
        If the sizes of its chunks are unknown, or its chunks are on the workers of a cluster.
    """

    def __init__(self, array: Any, *, feature_names: Sequence[str] | None = None) -> None:
        self.name = "X"
        if array.ndim == 2 and any(np.isnan(size) for sizes in array.chunks for size in sizes):
            remedy = "Call X.compute_chunk_sizes() first."
            raise ValueError(message("X", "a dask array of known chunk sizes", remedy=remedy))
        _refuse_futures(array)
        self._array = array
        self.is_sparse = bool(scipy.sparse.issparse(array._meta))
        self.n_samples, self.n_features = check_array(array.shape, np.dtype(array.dtype), "X")
        self.dtype = working_dtype(np.dtype(array.dtype))
        self.feature_names = None if feature_names is None else list(feature_names)
        self.has_columns = feature_names is not None
        self._bounds = np.unique(np.concatenate([[0], np.cumsum(array.chunks[0])]).astype(np.int64))
        if self.is_sparse:
            if len(array.chunks[1]) > 1:
                fact, remedy = f"{len(array.chunks[1])} chunks of columns", "Call X.rechunk({1: -1}) first."
                raise ValueError(message("X", "chunks of whole rows, being sparse", fact=fact, remedy=remedy))
        else:
            self._check_groups()

    @property
    def fingerprint(self) -> str:
        """The name of the array, which Dask makes of what it is computed from."""
        return f"{self._array.name} {self.shape} {np.dtype(self._array.dtype).str}"

    def _groups(self, first: int, last: int) -> Any:
        part = self._array[int(self._bounds[first]) : int(self._bounds[last])]
        rows = part.compute(scheduler="threads", num_workers=current_run().n_threads)
        return scipy.sparse.csr_array(rows) if self.is_sparse else np.asarray(rows)

    def __getstate__(self) -> dict[str, Any]:
        """Write the graph as Dask does: its functions may have no name."""
        pickler = import_optional("cloudpickle", package="dask", extra="scale")
        return {**super().__getstate__(), "_array": pickler.dumps(self._array)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        pickler = import_optional("cloudpickle", package="dask", extra="scale")
        self.__dict__.update(state, _array=pickler.loads(state["_array"]))


def _refuse_futures(array: Any) -> None:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    tasks = (task for task in dict(array.__dask_graph__()).values())
    if any(isinstance(one, distributed.Future) for task in tasks for one in (task, getattr(task, "value", None))):
        fact, remedy = "it was persisted on a cluster", "Pass the array as it was before, or write it with to_zarr."
        raise ValueError(message("X", "a dask array that is computed where it is needed", fact=fact, remedy=remedy))


def array_of_frame(frame: Any) -> Any:
    """Return a data frame of Dask, of columns of numbers, as an array; its rows are counted for that."""
    bad = [f"{name!r}: {dtype}" for name, dtype in frame.dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
    if bad:
        fact = f"{len(bad)} of {len(frame.dtypes)} columns hold something else: {', '.join(bad[:5])}"
        remedy = "Leave these columns out, X[[...]], and pass labels as an array: labels=X[...].compute()."
        raise TypeError(message("X", "a table of real numbers", fact=fact, remedy=remedy))
    # Types of pandas and Arrow become objects in an array, unless they are turned into NumPy's before.
    kinds = [working_dtype(np.dtype(getattr(dtype, "numpy_dtype", dtype))) for dtype in frame.dtypes]
    target = np.float64 if np.float64 in kinds else np.float32
    return frame.astype(target).to_dask_array(lengths=True)
