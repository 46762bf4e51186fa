"""Tables of all kinds of columns as features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, pass_on, warn
from gnomon.data.arrays import FloatArray, warn_of_rounded, whole_numbers
from gnomon.data.columns.copies import warn_of_copies, warn_of_repeated_names
from gnomon.data.columns.find import (
    MOST_CATEGORIES,
    Lists,
    Ordered,
    check_lists,
    check_ordered,
    find_rules,
    writings_of,
)
from gnomon.data.columns.raw import (
    RawColumn,
    asked_columns,
    columns_of_fit,
    columns_of_frame,
    raw_columns,
    with_entries,
)
from gnomon.data.columns.rule import ColumnRule, mark_of
from gnomon.data.columns.values import known_texts, plain_column, texts_of, truth_values, with_dates
from gnomon.data.columns.vectors import odd_vector, vectors_among
from gnomon.data.dataset import TEXT_NOTE, Dataset, first_few, listed, require_names
from gnomon.data.frames import is_frame, read_frame
from gnomon.data.labels import in_order, order_of, sort_into_classes
from gnomon.data.names import default_names, names_beside
from gnomon.data.table import check_table
from gnomon.data.written import decimal_of, read_numbers
from gnomon.exceptions import DataWarning

__all__ = ["encode_dataset", "encode_rows", "unknown_categories"]


def encode_rows(
    X: Any,
    rules: Sequence[ColumnRule],
    *,
    keep_missing: bool = False,
    can_lack: bool = True,
    decimal: str = "",
    fitted: Sequence[str] | None = None,
) -> FloatArray:
    """Return the features of rows of a table of the same columns, by rules found before.

    Each value is read by the rules, and texts in a column of numbers by the decimal sign of the source: never by the
    other rows, so that a row has the same features alone and beside any others.

    Parameters
    ----------
    X : DataFrame, mapping of str to array-like, or array-like of shape (n_samples, n_columns)
    rules : sequence of ColumnRule
    keep_missing : bool, default=False
        As of `ColumnRule.encode`.
    can_lack : bool, default=True
        Whether a text that is no number or date may be taken as a missing value.
    decimal : str, default=""
        The decimal sign of other numbers in the source, "." or ","; empty if it is not told.
    fitted : sequence of str or None, default=None
        The names of all columns that the rules were found of. Where these or the columns of X have no names, columns
        are taken by their place and have to be as many. None if the caller has seen to it.

    Raises
    ------
    ValueError
        If a column is not there, holds dates where numbers belong or numbers where dates belong, or, without
        `can_lack`, a text that cannot be read; if a column taken by its place has no value that its rule can read; if
        texts in a column of numbers would be read otherwise than other texts of the table tell.

    Warns
    -----
    DataWarning
        Names values that cannot be read, numbers that may be shares beside percent, and categories that were not there
        when the rules were found. Says that
        columns are taken by their place though either side has names.
    """
    columns, used = raw_columns(X), [rule for rule in rules if rule.features]
    by_place = ""
    if fitted is not None:
        columns, by_place = columns_of_fit(columns, fitted, [rule.name for rule in used])
    for rule in used:
        _refuse_odd_vectors(rule.name, columns)
    require_names((rule.name for rule in used), list(columns), what="column")
    for name in [rule.name for rule in used if is_frame(X) and columns[rule.name].rounding]:
        warn_of_rounded(columns[name].rounding, name)
    columns = _with_truths(columns, used)
    used = _with_writings(used, columns, decimal)
    if by_place:
        _refuse_other_columns(used, columns, by_place)
        pass_on(f"{by_place}. Columns are taken by their place.", DataWarning)
    told = {rule: said for rule in used if (said := rule.unknown(columns[rule.name].values))}
    lacking = [said.replace(", taken as missing", "") for rule, said in told.items() if rule.may_lack]
    if lacking and not can_lack:
        allowed = "of values that can be read where what was fitted had none missing and cannot fill them in"
        remedy = (
            "Correct these values, or leave the rows out, or pass the rows to m.filling(), which takes them as missing."
        )
        raise ValueError(message("X", allowed, fact="; ".join(lacking), remedy=remedy))
    doubts = [doubt for rule in used if (doubt := rule.doubt(columns[rule.name].values))]
    if told or doubts:
        warn(f"{'; '.join([*told.values(), *doubts])}.", DataWarning)
    return _stack([rule.encode(columns[rule.name].values, keep_missing=keep_missing) for rule in used])


def _refuse_odd_vectors(name: str, columns: Mapping[str, RawColumn]) -> None:
    """Raise ValueError if a column of vectors in fit holds something else, so that their numbers are not there."""
    of, bracket, place = name.rpartition("[")
    if name not in columns and of in columns and bracket and place.rstrip("]").isdecimal():
        fact = odd_vector(columns[of].values) or "it holds others, or something else"
        raise ValueError(message(f"column {of!r}", "of vectors of as many numbers as in fit", fact=fact))


def _refuse_other_columns(rules: Sequence[ColumnRule], columns: dict[str, RawColumn], by_place: str) -> None:
    """Raise ValueError if a column taken by its place has values, and none that its rule can read."""
    for rule in rules:
        values = columns[rule.name].values
        unread = len(rule.unknown_rows(values))
        if rule.kind == "answers" and rule.encode(values).any():
            continue
        if unread and unread == np.count_nonzero(sort_into_classes(known_texts(values)).labelled):
            place = list(columns).index(rule.name)
            known = f"categories such as {listed(rule.categories[:2])}" if rule.categories else "numbers"
            raise ValueError(
                message(
                    f"column {place}",
                    f"of {known}, as column {rule.name!r} in fit",
                    fact=f"found {listed(sort_into_classes(values).names[:3])}; {by_place}",
                    remedy="Pass a data frame, here and in fit, so that columns are found by their names.",
                )
            )


def unknown_categories(X: Any, rules: Sequence[ColumnRule]) -> dict[str, tuple[str, int]]:
    """Return for each column with categories that its rule does not know which they are, and how many rows have one.

    Parameters
    ----------
    X, rules : as for `encode_rows`
    """
    columns, found = _with_truths(raw_columns(X), rules), {}
    for rule in rules:
        if rule.features and rule.categories:
            values = columns[rule.name].values
            rows = rule.unknown_rows(values)
            if len(rows):
                found[rule.name] = listed(rule.unknown_values(values)), len(rows)
    return found


def _with_truths(columns: dict[str, RawColumn], rules: Sequence[ColumnRule]) -> dict[str, RawColumn]:
    """Return columns of which truth values where categories belong are True and False, as beside texts, not 1 and 0."""
    places = {rule.name for rule in rules if rule.categories}
    truths = {name for name, raw in columns.items() if raw.boolean and raw.values.dtype.kind == "f"} & places
    return {
        name: replace(raw, values=truth_values(raw.values)) if name in truths else raw for name, raw in columns.items()
    }


def _with_writings(rules: list[ColumnRule], columns: dict[str, RawColumn], decimal: str) -> list[ColumnRule]:
    """Return rules in which those of numbers know how texts in their columns are read.

    By the decimal sign of the source, a point where it tells none; never by the other rows.
    """
    texts = [rule.name for rule in rules if rule.kind == "number" and not columns[rule.name].numeric]
    for name in texts:
        values = with_dates(columns[name].values)  # empty texts seem dates
        if values.dtype.kind in "mM" and not np.isnat(values).all():
            raise ValueError(message(f"column {name!r}", "of numbers, as in fit", fact="dates or durations"))
    writing = f"0{decimal or '.'}0"
    for name, other in (writings_of(columns, {*texts}, decimal) if texts else {}).items():
        if name in texts and decimal_of(other) != decimal_of(writing):
            _refuse_other_sign(name, texts_of(columns[name].values), writing, other)
    return [replace(rule, writing=writing) if rule.name in texts else rule for rule in rules]


def _refuse_other_sign(name: str, texts: list[str], writing: str, other: str) -> None:
    """Raise ValueError if texts of which the table tells that they are written in another way are read as numbers."""
    here, there = read_numbers(texts, writing), read_numbers(texts, other)
    odd = np.flatnonzero(np.isfinite(here) & np.isfinite(there) & (here != there))
    if len(odd):
        rule = f"of numbers with a decimal {'point' if decimal_of(writing) == '.' else 'comma'} where they are texts"
        first = odd[0]
        fact = f"{texts[first]!r} is {here[first]:.12g} so, and other texts of these rows tell that it is "
        fact += f"{there[first]:.12g}"
        remedy = "Pass the column as numbers."
        raise ValueError(message(f"column {name!r}", rule, fact=fact, remedy=remedy))


def encode_dataset(
    data: Dataset,
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    forget: Collection[str] = (),
    *,
    ordered: Ordered = True,
    lists: Lists = True,
) -> Dataset:
    """Turn the columns of a data set that are still as they came into features; the rest stays.

    Columns that are left out, and those that became indicators, ranks or dates, are kept as metadata.

    Parameters
    ----------
    data : Dataset
        Its table may be a data frame.
    features, drop : sequence of str or None
        As of `TablePreprocessor`.
    forget : collection of str, default=()
        Columns that are left out and not kept as metadata either.
    ordered : bool or mapping of str to sequence of str or False, default=True
        As of `TablePreprocessor`.
    lists : bool or mapping of str to {";", "|", ",", "[]"} or False, default=True
        As of `TablePreprocessor`.

    Returns
    -------
    Dataset
        Its notes say what became of the columns.

    Warns
    -----
    DataWarning
        As `find_rules` does, and names texts that cannot be read and columns that are as others are.
    """
    if forget:
        drop = [*(drop or ()), *forget]
    ordered, lists = check_ordered(ordered), check_lists(lists)
    if is_frame(data.X):
        frame = read_frame(data.X)
        columns = columns_of_frame(frame)
        if data.feature_names is None:
            warn_of_repeated_names(data.X)
        else:
            columns = dict(zip(data.feature_names, columns.values(), strict=True))
        if frame.names is None and all(raw.numeric and not raw.boolean for raw in columns.values()):
            _refuse_of_numbers(ordered=ordered, lists=lists)
            return _select(data, features, drop)  # numbers without names
    elif data.text_columns is not None and isinstance(data.X, np.ndarray):
        names = data.feature_names or names_beside(data.n_features, data.text_columns)
        truths = {*data.truth_columns}
        columns = {
            name: RawColumn(data.X[:, j], boolean=name in truths, integers=data.integers.get(name))
            for j, name in enumerate(names)
        }
        texts = {name: RawColumn(data.metadata[name], order_of(data.metadata[name])) for name in data.text_columns}
        columns |= texts
        columns = with_entries({name: columns[name] for name in data.in_order(names)})
        if data.feature_names is None and not data.text_columns and features is None and drop is None:
            _refuse_of_numbers(ordered=ordered, lists=lists)
            return data
    else:
        _refuse_of_numbers(ordered=ordered, lists=lists)
        return _select(data, features, drop)
    return _encode(data, columns, features, drop, forget, {"ordered": ordered, "lists": lists})


def _refuse_of_numbers(**said: Any) -> None:
    """Raise ValueError if orders or separators are said of the columns of a table of numbers alone."""
    for name, columns in said.items():
        if isinstance(columns, Mapping) and columns:
            fact = f"{listed(columns)}, and all columns are numbers"
            remedy = f"Leave {name} out, or pass these columns as texts."
            raise ValueError(message(name, "of columns of texts", fact=fact, remedy=remedy))


def _encode(
    data: Dataset,
    columns: dict[str, RawColumn],
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    forget: Collection[str],
    said: dict[str, Any],
) -> Dataset:
    rules = find_rules(columns, features, drop, MOST_CATEGORIES, decimal=data.decimal, **said)
    made = [rule for rule in rules if rule.kind not in ("number", "boolean", "left out")]
    used = {rule.name for rule in rules if rule.features}
    entries = vectors_among(rule.name for rule in rules if rule.kind in ("number", "left out"))
    vectors = {name: own for name, own in entries.items() if not used & {*own} and not {*own} <= {*forget}}
    of_vectors = {name: own for name, own in entries.items() if used & {*own}}
    gone = {*forget, *(name for own in entries.values() for name in own)}
    left = [rule for rule in rules if not rule.features and rule.name not in gone]
    notes = [said for said in data.notes if not said.startswith(TEXT_NOTE)]
    if made:
        notes.append(f"columns turned into numbers: {', '.join(rule.told() for rule in made)}")
    others = [rule for rule in left if rule.name not in (data.label_name, data.target_name)]
    if others:
        notes.append(f"columns left out and kept as metadata: {first_few(rule.told() for rule in others)}")
    if of_vectors:
        lengths = [f"{name!r} ({len(used & {*own}):,})" for name, own in of_vectors.items()]
        notes.append(f"columns of vectors, a feature for each of their numbers: {first_few(lengths)}")
    if vectors:
        notes.append(f"columns of vectors left out and not kept: {listed(vectors)}")
    if doubtful := [rule for rule in rules if rule.kind == "number" and rule.reason]:
        whole = ", ".join(rule.told() for rule in doubtful)
        notes.append(f"columns taken as numbers, though they may name the rows: {whole}. Pass drop=[...] if they do")
    texts = [
        rule
        for rule in made
        if (rule.kind in ("written", "date") and columns[rule.name].values.dtype.kind not in "mM")
        or (rule.kind == "ordinal" and rule.reason)
        or rule.kind == "answers"
    ]
    odd = [told for rule in texts if (told := rule.unknown(columns[rule.name].values))]
    if odd := [*odd, *(doubt for rule in texts if (doubt := rule.doubt(columns[rule.name].values)))]:
        notes += odd
        warn(f"{'; '.join(odd)}.", DataWarning)
    blocks = [rule.encode(columns[rule.name].values, keep_missing=True) for rule in rules if rule.features]
    X = _stack(blocks)
    warn_of_copies(rules, X)
    metadata = {rule.name: _kept(rule, columns[rule.name]) for rule in made}
    written = {*forget, *({*entries} & {*(data.text_columns or ())})}
    untyped = data.text_columns is not None  # whole numbers of a text file are no floats
    for rule in left:
        kept = plain_column(columns[rule.name].labels)
        metadata[rule.name] = whole_numbers(kept) if untyped else kept
    return replace(
        data,
        X=X,
        feature_names=[name for rule in rules for name in rule.features],
        metadata={**metadata, **{name: column for name, column in data.metadata.items() if name not in written}},
        columns=rules if made or of_vectors or any(rule.is_truth for rule in rules) else None,
        text_columns=None,
        integers={},
        notes=notes,
    )


def _kept(rule: ColumnRule, raw: RawColumn) -> npt.NDArray[Any]:
    """Return the values of a column that became features, in the order of its ranks if its texts tell one."""
    kept = plain_column(raw.labels)
    if rule.kind != "ordinal" or not rule.reason:
        return kept
    place = {mark_of(level): rank for rank, level in enumerate(rule.categories)}
    names = sort_into_classes(kept).names
    return in_order(kept, sorted(names, key=lambda name: place.get(mark_of(name), len(place))))


def _select(data: Dataset, features: Sequence[str] | None, drop: Sequence[str] | None) -> Dataset:
    """Take some of the features of a data set whose features are final; the others are left."""
    if features is None and drop is None:
        return data
    table = check_table(data.X, accept_sparse=True, feature_names=data.feature_names, allow_missing=True)
    names = table.feature_names or default_names(table.n_features)
    gone = set(asked_columns("drop", drop, names) or ())
    wanted = names if features is None else asked_columns("features", features, names)
    order = [names.index(name) for name in dict.fromkeys(wanted or ()) if name not in gone]
    if not order:
        raise ValueError(message("drop", "such that a feature is left", fact=listed(names)))
    return replace(data, X=table.values[:, order], feature_names=[names[j] for j in order], image_shape=None)


def _stack(blocks: list[FloatArray]) -> FloatArray:
    single = all(block.dtype == np.float32 for block in blocks)
    return np.ascontiguousarray(np.concatenate(blocks, axis=1), dtype=np.float32 if single else np.float64)
