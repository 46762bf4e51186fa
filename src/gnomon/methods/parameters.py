"""Rules of parameters that several methods share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Either, Having, Nothing, Options, Real, Rule, caller, check_parameters, message
from gnomon.data import check_table
from gnomon.data.frames import is_frame
from gnomon.data.tensors import is_tensor
from gnomon.kernels import KERNELS, OutputKernel, UMAPKernel

__all__ = [
    "INIT",
    "KERNEL",
    "PERPLEXITY",
    "Numbers",
    "Rows",
    "check_n_components",
    "check_perplexity",
    "check_scores",
    "check_start",
    "make_kernel",
    "term_options",
    "usual_perplexity",
]


@dataclass(frozen=True)
class Rows:
    """A table as a parameter: an array, list or tuple of rows, data frame or tensor; its numbers are checked later."""

    text: str

    def check(self, value: object) -> object:
        """Return the table as it is, a data frame or tensor as an array."""
        if is_frame(value) or is_tensor(value):
            return np.asarray(check_table(value, allow_missing=True).values)
        if not isinstance(value, (np.ndarray, list, tuple)):
            if not hasattr(value, "__array__"):
                raise TypeError
            return np.asarray(value)  # such as a column of a data frame
        return value


PERPLEXITY = Either(Real(1.0, low_open=True), Nothing())
INIT = Either(
    Options("pca", "spectral", "random"),
    Rows("an array of shape (n_samples, n_components)"),
)
KERNEL: Rule = Either(
    Options(*KERNELS), Having(("value", "derivative"), "a kernel, an object with value(s) and derivative(s)")
)
_LEAST_PERPLEXITY = 1.5  # of a few rows


@dataclass(frozen=True)
class Numbers:
    """A tuple or list of finite numbers, of a given length or of any."""

    low: float
    low_open: bool = False
    length: int | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        count = "numbers" if self.length is None else f"{self.length} numbers"
        return f"a tuple of {count} {'>' if self.low_open else '>='} {self.low:g}"

    def check(self, value: object) -> tuple[float, ...]:
        """Return a tuple of Python floats."""
        if not isinstance(value, (tuple, list, np.ndarray)):
            raise TypeError
        numbers = tuple(Real(self.low, low_open=self.low_open).check(one) for one in value)
        if self.length is not None and len(numbers) != self.length:
            raise ValueError
        return numbers


def check_n_components(n_components: float, limit: int, rule: str | None = None) -> None:
    """Raise ValueError if more components are wanted than there are; `rule` says why there are no more."""
    if n_components > limit:
        rule = rule or f"at most min(n_samples, n_features)={limit}"
        raise ValueError(message(f"n_components={n_components}", rule, remedy=f"Use n_components={limit} or fewer."))


def check_scores(Y: Any, n_components: int) -> npt.NDArray[np.float64]:
    """Return positions in the map, (n_rows, n_components), as a dense array, or raise an error about Y."""
    scores = np.asarray(check_table(Y, min_samples=0, dtype=np.float64).values)
    if scores.shape[1] != n_components:
        raise ValueError(message(f"Y with {scores.shape[1]} columns", f"of {n_components} columns, n_components"))
    return scores


def usual_perplexity(most: float, n_samples: int) -> float:
    """Return the perplexity of n_samples distinct rows where none is given: a third of the other rows up to `most`."""
    return min(most, max(_LEAST_PERPLEXITY, (n_samples - 1) / 3))


def check_perplexity(parameters: dict[str, Any], n_samples: int, most: float) -> tuple[float, int]:
    """Return perplexity and neighbours to search for n_samples distinct rows, or raise ValueError.

    A perplexity of None is the usual one, up to `most`. Without n_neighbors three for each unit of perplexity are
    taken; a perplexity above their number, possible below 3 only through rounding, is brought down to it.
    """
    perplexity, n_neighbors = parameters["perplexity"], parameters.get("n_neighbors")
    if perplexity is None:
        perplexity = usual_perplexity(most, n_samples)
    if perplexity >= n_samples:
        raise ValueError(
            message(
                f"perplexity={perplexity}",
                f"less than the number of distinct rows, n_samples={n_samples}",
                remedy=f"Try perplexity={usual_perplexity(math.inf, n_samples):.3g}.",
            )
        )
    if n_neighbors is None:
        n_neighbors = min(n_samples - 1, math.floor(3 * perplexity))
        return min(perplexity, float(n_neighbors)), n_neighbors
    if perplexity > min(n_neighbors, n_samples - 1):
        rule = f"at most the number of neighbours, {min(n_neighbors, n_samples - 1)}"
        raise ValueError(message(f"perplexity={perplexity}", rule, remedy="Raise n_neighbors or lower perplexity."))
    return perplexity, n_neighbors


def make_kernel(kernel: Any, parameters: dict[str, Any] | None = None) -> OutputKernel:
    """Return the output kernel that a name and its parameters stand for, or a kernel as it is.

    "umap" takes a and b, or min_dist and spread; without any, UMAP's defaults of these.
    """
    if isinstance(kernel, str):
        given = parameters or {}
        make: Callable[..., OutputKernel] = KERNELS[kernel]
        if kernel == "umap" and not {"a", "b"} & set(given):
            make = UMAPKernel.from_min_dist
        known = list(inspect.signature(make).parameters.values())
        names = ", ".join(one.name for one in known) or "none"
        needed = {one.name for one in known if one.default is one.empty}
        if not needed <= set(given) <= {one.name for one in known}:
            found = ", ".join(sorted(given)) or "none"
            rule, fact = f"given kernel_params: {names}", f"found {found}"
            raise ValueError(message(f"kernel={kernel!r}", rule, fact=fact, remedy="Or pass a kernel object."))
        return make(**given)
    if parameters:
        raise ValueError(message("kernel_params", "None where kernel is an object"))
    return kernel  # type: ignore[no-any-return]


def check_start(init: Any, shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Return given start positions as an array of shape (n_samples, n_components), or raise an error about init."""
    try:
        start = np.asarray(check_table(init).values)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace(f"{caller()}: X ", f"{caller()}: init ", 1)) from None
    if start.shape != shape:
        raise ValueError(message(f"init of shape {start.shape}", f"of shape (n_samples, n_components)={shape}"))
    return start


def term_options(
    name: str, given: float | dict[str, Any] | None, rules: Mapping[str, Rule], *, always: bool = False
) -> dict[str, Any] | None:
    """Return the options of a term that a parameter wants in the loss, None if it wants none.

    The parameter is the weight of the term or a dict of some of its options; None is a weight of 0. A term of weight 0
    is wanted only with `always`.
    """
    options = dict(given) if isinstance(given, dict) else {"weight": 0.0 if given is None else given}
    if not set(options) <= set(rules):
        raise ValueError(message(f"{name}={given!r}", f"a number or a dict of some of {', '.join(rules)}"))
    checked = check_parameters(rules, options, names=list(options))
    return None if checked.get("weight") == 0 and not always else checked
