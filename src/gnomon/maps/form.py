"""What is said of tables whose numbers are written in a way that needs another preparation: packed bits and shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._validation import warn
from gnomon.data.form import seem_packed, total_of_shares
from gnomon.exceptions import DataWarning

__all__ = ["told_of_shares", "warn_of_packed"]

_PREPARED = "np.log(X / X[:, [k]]) of a column k that stays, or np.log(X) - np.log(X).mean(axis=1, keepdims=True)"


def warn_of_packed(X: Any) -> bool:
    """Warn if a table looks like bits packed into bytes, and return whether it does."""
    if not seem_packed(X):
        return False
    n = int(X.shape[1])
    warn(
        f"the table looks like {8 * n:,} bits packed into {n:,} bytes, as np.packbits does: most of its numbers are 0, "
        "1, 2, 4 and so on up to 128. Distances between such numbers say next to nothing of the bits. If so, pass "
        "np.unpackbits(X, axis=1) of an array of uint8, of fingerprints with metric='jaccard'.",
        DataWarning,
    )
    return True


def told_of_shares(X: Any) -> list[str]:
    """Return what a map of shares notes of them, nothing of other tables."""
    total = total_of_shares(X)
    if total is None:
        return []
    values = X if isinstance(X, np.ndarray) else X.data
    zeros = bool((values == 0).any()) or values.size < X.shape[0] * X.shape[1]
    first = " once zeros are replaced by small amounts" if zeros else ""
    return [
        f"the rows sum to {total:.4g}, as shares of a whole do: of what there is more the others are less, so that "
        "columns may tell groups apart whose amounts are the same. Logarithms of ratios are the usual preparation"
        f"{first}: {_PREPARED}"
    ]
