"""Blocks of columns, each with a metric and a weight of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._printed import Constructed
from gnomon._validation import Instance, Integer, Real, Rule, check_parameters, message
from gnomon.data.dataset import listed, require_names
from gnomon.data.scaling import check_scale

__all__ = ["METRIC", "Block", "check_blocks", "columns_of_blocks"]

_PATTERN = frozenset("*?")
METRIC = Instance((str, Callable), "the name of a metric or a callable")  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Block(Constructed):
    """Columns of a table that are compared together, in a metric of their own.

    Parameters
    ----------
    columns : str, int or sequence of str or int
        Names of columns, also with ``*`` and ``?`` for any letters ("word_*"), or their numbers.
    metric : str or callable, default="euclidean"
        Distance between rows of these columns, as for the methods; "precomputed" is none. `gnomon.map` takes "gower"
        too.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    weight : float >= 0, default=1.0
        How much the block counts, against the largest weight of all blocks; 0 leaves it out.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        How `gnomon.map` standardises the columns, as its own ``scale``. Estimators take columns as they are.

    Raises
    ------
    TypeError, ValueError
        If a part has another type or value.
    """

    columns: Any
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    weight: float = 1.0
    scale: str | None = "auto"

    @part("Block")
    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _columns(self.columns))
        rules: dict[str, Rule] = {"weight": Real(0.0), "metric": METRIC}
        given = check_parameters(rules, {"weight": self.weight, "metric": self.metric})
        object.__setattr__(self, "weight", given["weight"])
        if self.metric == "precomputed":
            raise ValueError(message("metric='precomputed'", "a metric between rows of the columns"))
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise TypeError(message("metric_params", "a dict or None", fact=_kind(self.metric_params)))
        check_scale(self.scale)

    def __str__(self) -> str:
        metric = self.metric if isinstance(self.metric, str) else getattr(self.metric, "__name__", "a callable")
        weight = "" if self.weight == 1.0 else f", weight {self.weight:g}"
        n = len(self.columns)
        columns = f"{n} column{'s' if n > 1 else ''}" if isinstance(self.columns, np.ndarray) else listed(self.columns)
        return f"{columns}, {metric}{weight}"

    def find(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of the columns among those of a table, in the order of the block."""
        if isinstance(self.columns, np.ndarray):
            if len(names) <= int(self.columns.max()):
                fact, rule = f"the table has {len(names)} columns", f"below {len(names)}"
                raise ValueError(message(f"column {int(self.columns.max())} of a block", rule, fact=fact))
            return self.columns
        found: list[int] = []
        gone: list[str] = []
        for name in self.columns:
            alike = [k for k, one in enumerate(names) if one == name]
            if not alike and _PATTERN & set(name):
                alike = [k for k, one in enumerate(names) if fnmatchcase(one, name)]
            gone += [name] * (not alike)
            found += alike
        require_names(gone, list(names), what="block column")
        return np.array(list(dict.fromkeys(found)), dtype=np.int64)


def _kind(value: object) -> str:
    return f"found {type(value).__name__}"


def _columns(given: Any) -> tuple[str, ...] | npt.NDArray[np.int64]:
    """Return names as a tuple, numbers as an array."""
    several = [given] if isinstance(given, (str, int)) or not isinstance(given, Iterable) else list(given)
    if several and all(isinstance(one, str) for one in several):
        return tuple(str(one) for one in several)
    rule = Integer(0)
    try:
        numbers = [rule.check(one) for one in several]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or len(set(numbers)) < len(numbers):
        what, rule_text = f"columns={given!r:.60}", "names or different numbers >= 0 of columns, one at least"
        raise ValueError(message(what, rule_text, remedy="A name may hold * and ?, such as 'word_*'."))
    return np.array(numbers, dtype=np.int64)


def check_blocks(blocks: Any) -> dict[str, Block]:
    """Return blocks by name if they are some.

    Parameters
    ----------
    blocks : dict of str to Block
        What was given for them.

    Returns
    -------
    dict of str to Block

    Raises
    ------
    TypeError
        If they are anything else.
    ValueError
        If no block has a weight.
    """
    known = isinstance(blocks, Mapping) and all(isinstance(name, str) for name in blocks)
    if not known or not blocks or not all(isinstance(block, Block) for block in blocks.values()):
        remedy = "Pass blocks={'people': gnomon.Block(['age', 'country']), ...}."
        raise TypeError(message("blocks", "a dict of names and gnomon.Block", remedy=remedy))
    if not any(block.weight > 0.0 for block in blocks.values()):
        raise ValueError(message("weights of blocks", "> 0 for one block at least"))
    return dict(blocks)


def columns_of_blocks(blocks: Mapping[str, Block], names: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """Return the numbers of the columns of each block; raise ValueError if one is in two blocks.

    Parameters
    ----------
    blocks : mapping of str to Block
        By name.
    names : sequence of str
        Of the columns of the table.

    Returns
    -------
    dict of str to ndarray of int64
    """
    found = {name: block.find(names) for name, block in blocks.items()}
    owner: dict[int, str] = {}
    for name, columns in found.items():
        for column in columns.tolist():
            if column in owner:
                fact = f"{names[column]!r:.60} is in {owner[column]!r:.60} and in {name!r:.60}"
                raise ValueError(message("blocks", "of different columns", fact=fact))
            owner[column] = name
    return found
