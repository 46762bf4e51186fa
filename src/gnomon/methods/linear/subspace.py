"""The way back from the scores of a map to the principal subspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon.linalg import PrincipalComponents
from gnomon.methods.parameters import check_scores

__all__ = ["PrincipalSubspace", "linear_derivative"]


class PrincipalSubspace:
    """An estimator with orthonormal directions ``components_`` through a point ``mean_``."""

    components_: npt.NDArray[np.float64]
    mean_: npt.NDArray[np.float64]

    _keeps_rows = False

    @entrance()
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
        scores = check_scores(Y, len(self.components_))
        with single_threaded_blas():
            return np.asarray(scores @ self.components_ + self.mean_)

    def _derive(self, X: Any) -> npt.NDArray[np.float64]:
        return np.repeat(np.asarray(self.components_, dtype=np.float64)[None], X.shape[0], axis=0)


def linear_derivative(
    model: PrincipalComponents, n_rows: int, n_features: int, n_components: int
) -> npt.NDArray[np.float64]:
    """Return the directions of the components once for each row, (n_rows, n_components, n_features); 0 for others."""
    found = np.zeros((n_rows, n_components, n_features))
    found[:, : len(model.components)] = model.components
    return found
