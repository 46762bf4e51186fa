"""New rows placed where the similarities of the map match those of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.extension.placement.placement import RowPlacement
from gnomon.kernels import Cauchy, OutputKernel
from gnomon.optimizers import place_points

__all__ = ["SimilarityPlacement"]

_ROWS = 256  # placed at a time
_ROUNDS = 3  # in which the free offset is found again

Float32Array = npt.NDArray[np.float32]


@dataclass
class SimilarityPlacement(RowPlacement):
    """How a map that matches similarities places new rows.

    A new row at y minimises sum_l (k_y(|y - z_l|^2) - k_x(x, x_l))^2 over the fitted points z; centred, the sum of
    squares of the differences of double-centred similarities. That equals the plain sum with targets
    k_x(x, x_l) - mean_l k_x(x_l, .) + mean_l k_y(z_l, .) and a free offset, which is found in turn with y; each step
    lowers the loss.

    Parameters
    ----------
    input_kernel : InputKernel
        k_x.
    kernel : OutputKernel
        k_y, a compiled one.
    centered : bool
    means : ndarray of shape (n_samples,) or None
        Mean similarity of each fitted row in the map less that in the data; with centered=True.
    """

    input_kernel: Any = None
    kernel: OutputKernel = Cauchy()  # noqa: RUF009  immutable
    centered: bool = False
    means: npt.NDArray[np.float64] | None = None

    def _positions(self, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        parts = []
        for begin in range(0, int(X_new.shape[0]), _ROWS):
            rows = X_new[begin : begin + _ROWS]
            with single_threaded_blas():  # row by row, so that the bits of products do not depend on the other rows
                targets = np.concatenate(
                    [self.input_kernel.block(rows[i : i + 1], self.rows) for i in range(rows.shape[0])]
                )
            parts.append(self._match(targets))
        return np.concatenate(parts)

    def _match(self, targets: npt.NDArray[np.float64]) -> Float32Array:
        if self.centered and self.means is not None:
            targets = targets + self.means
        places, _ = place_points(targets, self.Y, self.kernel)
        if not self.centered:
            return places
        best = np.full(len(targets), np.inf)
        found = places
        for left in reversed(range(_ROUNDS)):
            offsets, losses = self._offsets(targets, places)
            better = losses < best
            found = np.where(better[:, None], places, found)
            best = np.minimum(losses, best)
            if left:
                places, _ = place_points(targets + offsets[:, None], self.Y, self.kernel)
        return np.asarray(found, dtype=np.float32)

    def _offsets(
        self, targets: npt.NDArray[np.float64], places: Float32Array
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the best offset for each place and the loss with it."""
        points = self.Y.astype(np.float64)
        offsets, losses = np.empty(len(places)), np.empty(len(places))
        for i, place in enumerate(places.astype(np.float64)):
            errors = self.kernel.value(np.square(points - place).sum(axis=1)) - targets[i]
            offsets[i] = errors.mean()
            losses[i] = float(np.square(errors - offsets[i]).sum())
        return offsets, losses
