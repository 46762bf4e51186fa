"""Input kernels that users bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon._validation import message
from gnomon.kernels.base import FloatArray

__all__ = ["CustomInput"]


@dataclass(frozen=True)
class CustomInput:
    """A user's kernel.

    Parameters
    ----------
    function : callable
        Takes rows A and B to the (len(A), len(B)) similarities, which must be symmetric: f(A, B) = f(B, A)'.
    """

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "custom"
    semidefinite: ClassVar[bool | None] = None
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return what the function gives, checked for shape and finite values."""
        values = np.asarray(self.function(A, B), dtype=np.float64)
        shape = (A.shape[0], B.shape[0])
        if values.shape != shape:
            found = f"similarity(A, B) of shape {values.shape}"
            raise ValueError(message("CustomInput", found, f"of shape (len(A), len(B))={shape}"))
        if not np.isfinite(values).all():
            raise ValueError(message("CustomInput", "similarity(A, B)", "finite"))
        return values

    def diagonal(self, A: Any) -> FloatArray:
        """Return the similarity of each row with itself."""
        return np.concatenate([np.zeros(0), *(self.block(A[i : i + 1], A[i : i + 1])[0] for i in range(A.shape[0]))])
