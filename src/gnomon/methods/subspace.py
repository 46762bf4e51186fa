"""The way back from the scores of a map to the principal subspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gnomon._threads import single_threaded_blas
from gnomon.methods.parameters import check_scores

__all__ = ["PrincipalSubspace"]


class PrincipalSubspace:
    """An estimator with orthonormal directions ``components_`` through a point ``mean_``."""

    components_: npt.NDArray[np.float64]
    mean_: npt.NDArray[np.float64]

    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]:
        """Return the points of the principal subspace that have the scores Y.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
        """
        check_is_fitted(self)
        scores = check_scores(type(self).__name__, Y, len(self.components_))
        with single_threaded_blas():
            return np.asarray(scores @ self.components_ + self.mean_)
