"""Blocks of columns and Gower's coefficient of a map: which features they are of, and how each is scaled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from gnomon._validation import message
from gnomon.data import Block, Dataset, Table, check_blocks, columns_of_blocks
from gnomon.data.cells import read_cells, read_part
from gnomon.data.columns import Lists, Ordered, encode_dataset, features_of, mixed_spreads, raw_columns, unit_ranges
from gnomon.data.dataset import require_name
from gnomon.data.frames import is_frame
from gnomon.data.names import default_names
from gnomon.data.scaling import Scaling, choose_scaling

__all__ = [
    "GOWER",
    "blocks_of_cells",
    "column_names",
    "encode_columns",
    "gower_scaling",
    "of_features",
    "refuse_with_blocks",
    "scaling_of_blocks",
    "told_of_blocks",
]

GOWER = "gower"
"""The metric that is "manhattan" of features divided by `gnomon.data.columns.unit_ranges`."""


def refuse_with_blocks(blocks: Any, **given: Any) -> None:
    """Raise ValueError if blocks are given beside arguments that choose or weigh columns as well."""
    remedies = {"feature_weight": "Give each block its weight."}
    for name, value in given.items():
        if blocks is not None and value is not None:
            remedy = remedies.get(name, "Blocks name the columns to use.")
            raise ValueError(message(name, "left out where blocks are given", remedy=remedy))


def blocks_of_cells(
    cells: Any, blocks: Any, labels: str | None, stated: Mapping[str, Any]
) -> tuple[Dataset, dict[str, Block]] | None:
    """Return the parts of an AnnData object that blocks name, side by side, and the blocks; None if they name columns.

    Parameters
    ----------
    cells : AnnData of shape (n_obs, n_vars)
    blocks : dict of str to Block
        Of which each names "X" or a key of `obsm` alone.
    labels : str or None
        A column of `obs`.
    stated : mapping of str to object
        Other arguments that name parts of the object; they must be None.
    """
    known, keys = check_blocks(blocks), {"X": "X"} | {str(key): f"obsm/{key}" for key in cells.obsm}
    if not any(name in keys for block in known.values() for name in block.columns):
        return None
    for name in (str(name) for block in known.values() for name in block.columns):
        require_name(name, list(keys), what="block")
    parts = {name: keys[block.columns[0]] for name, block in known.items()}
    for name, value in stated.items():
        if value is not None:
            raise ValueError(message(name, "left out where blocks are given", remedy="Blocks name the parts to use."))
    read = {name: read_part(cells, str(part)) for name, part in parts.items()}
    every = [column for _, names in read.values() for column in names]
    columns = {
        name: [f"{name}: {one}" if every.count(one) > 1 else one for one in names] for name, (_, names) in read.items()
    }
    tables = [table for table, _ in read.values()]
    joined = (
        scipy.sparse.csr_array(scipy.sparse.hstack(tables))
        if any(map(scipy.sparse.issparse, tables))
        else np.hstack(tables)
    )
    about = read_cells(cells, labels=labels, part=str(next(iter(parts.values()))))
    data = replace(about, X=joined, feature_names=[one for names in columns.values() for one in names], part="")
    return data, {name: replace(block, columns=columns[name]) for name, block in known.items()}


def encode_columns(
    data: Dataset,
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    blocks: Any,
    forget: Collection[str] = (),
    *,
    ordered: Ordered = True,
    lists: Lists = True,
) -> tuple[Dataset, dict[str, Block] | None]:
    """Return a data set whose columns are features, those of the blocks if there are any, and the blocks.

    Parameters
    ----------
    data : Dataset
    features, drop : sequence of str or None
        As for `encode_dataset`; with blocks, `drop` are the columns that serve as labels, target or weights.
    blocks : dict of str to Block, or None
    forget : collection of str, default=()
        As for `encode_dataset`.
    ordered : bool or mapping of str to sequence of str or False, default=True
        As for `encode_dataset`.
    lists : bool or mapping of str to {";", "|", ",", "[]"} or False, default=True
        As for `encode_dataset`.
    """
    if blocks is None:
        return encode_dataset(data, features, drop, forget, ordered=ordered, lists=lists), None
    known = check_blocks(blocks)
    for name in ("distances", "representation"):
        if getattr(data, name) is not None:
            rule = f"left out where the map is made of given {name}"
            raise ValueError(message("blocks", rule, remedy="Pass the table of features alone."))
    names = column_names(data)
    found = columns_of_blocks(known, names)
    chosen = [names[k] for k in np.concatenate(list(found.values())).tolist()]
    for name in [*(drop or ()), *forget]:
        if name in chosen:
            fact = f"{name!r:.60} serves as labels, target or weights, or is to be forgotten"
            remedy = "Leave it out of them."
            raise ValueError(message("blocks", "of columns that are features", fact=fact, remedy=remedy))
    if chosen != names:
        data = encode_dataset(_named(data, names), chosen, None, forget, ordered=ordered, lists=lists)
    else:
        every = None if data.feature_names is None and not is_frame(data.X) else chosen
        data = encode_dataset(data, every, None, forget, ordered=ordered, lists=lists)
    by_name = {name: replace(known[name], columns=[names[k] for k in some.tolist()]) for name, some in found.items()}
    return data, by_name


def column_names(data: Dataset) -> list[str]:
    """Return the names of the columns of a data set, those of text included."""
    if is_frame(data.X) and data.feature_names is None:
        return list(raw_columns(data.X))
    n_columns = int(data.X.shape[1])
    return data.in_order(data.feature_names or default_names(n_columns))


def _named(data: Dataset, names: list[str]) -> Dataset:
    """Return a data set whose columns have names, so that some can be chosen."""
    return data if data.feature_names is not None or is_frame(data.X) else replace(data, feature_names=names)


def of_features(blocks: Mapping[str, Block], data: Dataset, table: Table) -> dict[str, Block]:
    """Return blocks whose columns are numbers of features, as a method takes them."""
    names = table.feature_names or default_names(table.n_features)
    at = {name: np.array([k]) for k, name in enumerate(names)}
    if data.columns is not None:
        numbers = np.arange(table.n_features)
        at |= {rule.name: numbers[columns] for rule, columns in features_of(data.columns).items()}
    made = {}
    for name, block in blocks.items():
        columns = np.concatenate([at[column] for column in block.columns])
        metric = "manhattan" if block.metric == GOWER else block.metric
        made[name] = replace(block, columns=columns, metric=metric, scale=None)
    return made


def gower_scaling(data: Dataset, table: Table) -> Scaling:
    """Return the scaling by which Manhattan distances are Gower's coefficient times the number of columns."""
    if table.is_sparse:
        raise ValueError(message("metric='gower'", "used with a dense table", remedy="Use metric='manhattan'."))
    values = np.asarray(table.values)
    return Scaling(GOWER, values.min(axis=0).astype(np.float64), unit_ranges(data.columns, values))


def scaling_of_blocks(
    blocks: Mapping[str, Block], columns: Mapping[str, Block], data: Dataset, table: Table
) -> tuple[Scaling | None, list[str]]:
    """Decide how the columns of each block are standardised.

    Parameters
    ----------
    blocks : mapping of str to Block
        As they were given, with their metric and scale.
    columns : mapping of str to Block
        As `of_features` returns them.
    data, table : Dataset, Table

    Returns
    -------
    scaling : Scaling or None
        Of all columns; None if no block is scaled.
    unlike : list of str
        Clauses about blocks whose columns have unlike units.
    """
    n, values = table.n_features, table.values
    center, spread = np.zeros(n), np.ones(n)
    spreads = mixed_spreads(data.columns, values)
    names = table.feature_names or default_names(n)
    found: list[Scaling] = []
    clauses = []
    for name, block in blocks.items():
        at = columns[name].columns
        if block.metric == GOWER:
            whole = gower_scaling(data, table)
            scaling: Scaling | None = Scaling(GOWER, whole.center[at], whole.spread[at])
        else:
            own = None if spreads is None or not np.isfinite(spreads[at]).any() else spreads[at]
            metric = block.metric if isinstance(block.metric, str) else "other"
            scaling, unlike, _ = choose_scaling(
                values[:, at], block.scale, names=[names[k] for k in at], metric=metric, spreads=own
            )
            if unlike:
                clauses.append(f"in block {name!r}, {unlike}")
        if scaling is not None:
            found.append(scaling)
            center[at], spread[at] = scaling.center, scaling.spread
    return (Scaling("blocks", center, spread) if found else None), clauses


def told_of_blocks(blocks: Mapping[str, Block]) -> str:
    """Say in a line what the blocks are."""
    return "; ".join(f"{name}: {block}" for name, block in blocks.items())
