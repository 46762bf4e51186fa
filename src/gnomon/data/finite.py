"""The check for missing and infinite values, which says where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.data.dtypes import FloatArray
from gnomon.data.names import column_text

__all__ = ["all_finite", "check_finite"]

_SHOWN = 5  # places named in an error
_CHUNK = 1 << 22  # values looked at together, so that the masks stay small beside the data


def all_finite(values: npt.NDArray[Any]) -> bool:
    """Return whether no value is NaN or infinite."""
    # NaN and infinity survive a sum, which is one pass without a mask. Only if it is not finite (also because large
    # finite values overflowed) every value is looked at.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return True
    flat = values.ravel()
    return all(bool(np.isfinite(flat[i : i + _CHUNK]).all()) for i in range(0, flat.size, _CHUNK))


def _blocks(values: FloatArray | sp.csr_array) -> Iterator[tuple[npt.NDArray[Any], int]]:
    if isinstance(values, np.ndarray):
        rows = max(1, _CHUNK // max(1, values.shape[1]))
        for start in range(0, values.shape[0], rows):
            yield values[start : start + rows].ravel(), start * values.shape[1]
    else:
        yield values.data, 0


def _place(values: FloatArray | sp.csr_array, position: int, names: Sequence[str] | None) -> str:
    if isinstance(values, np.ndarray):
        row, column = divmod(position, values.shape[1])
    else:
        row = int(np.searchsorted(values.indptr, position, side="right")) - 1
        column = int(values.indices[position])
    return f"row {row}, {column_text(column, names)}"


def check_finite(
    values: FloatArray | sp.csr_array, *, who: str, names: Sequence[str] | None = None, allow_missing: bool = False
) -> None:
    """Raise ValueError if a value is NaN or infinite.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        The values to look at; of a sparse matrix the stored ones.
    who : str
        Opens the error text.
    names : sequence of str, default=None
        Names of the columns.
    allow_missing : bool, default=False
        Let NaN through.

    Raises
    ------
    ValueError
        Says how many values are NaN, +infinity and -infinity, and where the first five are.
    """
    if all_finite(values if isinstance(values, np.ndarray) else values.data):
        return
    counts = {"NaN": 0, "+infinity": 0, "-infinity": 0}
    places: list[int] = []
    for block, offset in _blocks(values):
        bad = np.flatnonzero(np.isinf(block) if allow_missing else ~np.isfinite(block))
        counts["NaN"] += int(np.isnan(block[bad]).sum())
        counts["+infinity"] += int((block[bad] == np.inf).sum())
        counts["-infinity"] += int((block[bad] == -np.inf).sum())
        places += [int(i) + offset for i in bad[: _SHOWN - len(places)]]
    if not places:
        return
    found = ", ".join(f"{kind} ({count:,})" for kind, count in counts.items() if count)
    where = "; ".join(_place(values, place, names) for place in places)
    more = sum(counts.values()) > len(places)
    remedies = []
    if counts["NaN"]:
        remedies.append(
            "Impute the missing values or leave these rows or columns out, "
            "or pass distances from a metric that accepts missing values."
        )
    if counts["+infinity"] or counts["-infinity"]:
        remedies.append("Was a logarithm of zero or a division by zero taken? Clip or remove infinity.")
    fact = f"it contains {found}: {'the first at ' if more else 'at '}{where}"
    rule = "finite or NaN" if allow_missing else "finite"
    raise ValueError(message(who, "X", rule, fact=fact, remedy=" ".join(remedies)))
