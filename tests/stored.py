"""Tables in small blocks and workers in any order, for tests."""

import pickle

import numpy as np

from gnomon.data.stored import ArrayTable, RowBlock, StoredTable
from gnomon.scale import LocalExecutor, Shared


class SmallBlocks(StoredTable):
    """Rows of an array or of a sparse one, in blocks of few."""

    def __init__(self, X, step=100, names=None):
        self._X, self._step, self.feature_names = X, step, names
        self.n_samples, self.n_features = X.shape
        self.dtype, self.is_sparse = X.dtype.type, hasattr(X, "tocsr")

    @property
    def fingerprint(self):
        return f"small {self.shape}"

    def blocks(self):
        starts = range(0, self.n_samples, self._step)
        return [RowBlock(i, start, min(start + self._step, self.n_samples)) for i, start in enumerate(starts)]

    def _rows(self, start, stop):
        return self._X[start:stop]


class Backwards(LocalExecutor):
    """Other processes, as it were: what they are sent is pickled, and the last item is worked on first."""

    def map(self, function, items, *shared, needed=0.0):
        values = [one.held if isinstance(one, Shared) else one for one in shared]
        function, items, values = pickle.loads(pickle.dumps((function, list(items), values)))
        found = [function(item, *values) for item in reversed(items)]
        return iter(pickle.loads(pickle.dumps(found[::-1])))

    def reduce(self, function, combine, items, *shared, needed=0.0):
        found = list(self.map(function, items, *shared))

        def tree(parts):
            if len(parts) == 1:
                return parts[0]
            half = 2 ** int(np.ceil(np.log2(len(parts))) - 1)
            right = tree(parts[half:])
            return combine(tree(parts[:half]), right)

        return tree(found)


__all__ = ["ArrayTable", "Backwards", "SmallBlocks"]
