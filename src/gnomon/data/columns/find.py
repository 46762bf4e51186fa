"""Which rule each column of a table follows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data.arrays import FloatArray, is_missing, warn_of_rounded
from gnomon.data.columns.answers import SEPARATORS, split_answers, split_by, told_answers
from gnomon.data.columns.codes import told_of_codes
from gnomon.data.columns.dates import UNITS
from gnomon.data.columns.identifiers import NAMED_UNITS, Naming, named_as_id, named_as_unit, naming_of
from gnomon.data.columns.raw import RawColumn, asked_columns
from gnomon.data.columns.rule import ColumnRule, mark_of
from gnomon.data.columns.scales import order_of_texts
from gnomon.data.columns.times import IN_ORDER, follow_rows, named_as_time
from gnomon.data.columns.values import (
    as_numbers,
    known_texts,
    plain_column,
    refuse_other_values,
    seconds_of,
    texts_of,
    with_dates,
)
from gnomon.data.columns.variants import told_of_variants, variants_of
from gnomon.data.dataset import LABEL_WORDS, first_few, listed
from gnomon.data.labels import Classes, name_of, sort_into_classes
from gnomon.data.texts import TEXTS_TO_NUMBERS, are_sentences
from gnomon.data.unread import Unread, find_unread
from gnomon.data.written import (
    are_truths,
    date_numbers,
    date_order,
    decimal_of,
    find_writings,
    read_date_numbers,
    read_numbers,
    unit_of,
    without_signs,
    words_beside_numbers,
)
from gnomon.exceptions import DataWarning

__all__ = [
    "MOST_CATEGORIES",
    "NOT_ASKED",
    "Lists",
    "Ordered",
    "check_lists",
    "check_ordered",
    "find_rules",
    "writings_of",
]

Array = npt.NDArray[Any]
Float64Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Lists = bool | Mapping[str, str | Literal[False]]
Ordered = bool | Mapping[str, Sequence[str] | Literal[False]]

MOST_CATEGORIES = 30
"""More different texts are no categories, unless one asks for it."""
_MOST_ASKED = 300  # categories of a column that one asks for
NOT_ASKED = "not asked for"
"""Why a column that nobody named is left out."""
_NO_VALUES = "no values"
_IDENTIFIER, _DIFFERENT = "an identifier", "different texts"  # why texts are left out because they are many
_FEWEST_BLANK = 0.05  # share of the rows that must be blank beside one value; fewer seem to lack it
_FEWEST_DIFFERENT = 10  # texts that all differ and are fewer may be categories
_FEWEST_UNITS = 10  # categories of a column named as units are
_SHOWN = 5  # columns named


@dataclass(frozen=True)
class _Others:
    """The names of the columns of numbers beside one; few are asked for, and no list of them is made for each."""

    own: str
    numbers: Mapping[str, Any]
    chosen: set[str]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.numbers if name != self.own and name in self.chosen)

    def __bool__(self) -> bool:
        return any(True for _ in self)


def find_rules(
    columns: dict[str, RawColumn],
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    most: int,
    *,
    decimal: str = "",
    allow_none: bool = False,
    ordered: Ordered = True,
    lists: Lists = True,
) -> list[ColumnRule]:
    """Find out what becomes of each column; the rules are said in `TablePreprocessor`.

    Parameters
    ----------
    columns : dict
        As `raw_columns` returns them.
    features, drop : sequence of str or None
        Columns to use, and to leave out.
    most : int
        More different texts than this are no categories.
    decimal : str, default=""
        The decimal sign of other numbers in the source, "." or ","; empty if it is not told.
    allow_none : bool, default=False
        Let a table through of which no column can become a feature, and columns of one value and blanks without a
        warning: of metadata none can be dropped.
    ordered : bool or mapping of str to sequence of str or False, default=True
        As of `TablePreprocessor`.
    lists : bool or mapping of str to {";", "|", ",", "[]"} or False, default=True
        As of `TablePreprocessor`.

    Warns
    -----
    DataWarning
        Names features of whole numbers that float64 rounds, columns whose commas or points may be decimal signs or
        stand between thousands, columns of numbers, and of texts that look like numbers, times or dates, that are
        left out, and columns of one value and blanks, which become 1 and 0; columns of many texts that may be
        categories; and categories that differ only in case or blanks.
    """
    features, drop = asked_columns("features", features, columns), asked_columns("drop", drop, columns)
    columns, may_order = _with_orders(columns, ordered)
    separators = _separators(columns, lists)
    chosen = set(columns if features is None else features) - set(drop or ())
    numbers = {name: as_numbers(raw.values) for name, raw in columns.items() if raw.numeric}
    names = [*dict.fromkeys([*(features or ()), *columns])]
    asked_for = frozenset(features or ())
    writings = writings_of(columns, chosen, decimal, asked=asked_for)

    @cache
    def ranks(name: str) -> Ints:
        return np.argsort(np.argsort(numbers[name], kind="stable"), kind="stable")

    def named_rows(rule: ColumnRule) -> ColumnRule:
        """Return the rule of a column of numbers, which is left out if it is an identifier and nobody asked for it."""
        others = _Others(rule.name, numbers, chosen)
        found = Naming() if features is not None else naming_of(rule.name, numbers, others, ranks)
        if found.certain:
            return ColumnRule(rule.name, "left out", reason=found.told)
        return replace(rule, reason=found.told) if found.told and rule.kind == "number" else rule

    rules, unread = [], dict[str, Unread]()
    for name in names:
        raw = columns[name]
        if name not in chosen:
            rules.append(ColumnRule(name, "left out", reason=NOT_ASKED))
        elif name in numbers and not allow_none and bool(np.isnan(numbers[name]).all()):
            rules.append(ColumnRule(name, "left out", reason=_NO_VALUES))
        elif raw.boolean or _holds_truths(name, raw, asked=name in asked_for):
            rules.append(_rule_of_truths(name, raw.values))
        elif raw.numeric:
            rules.append(_rule_of_date_numbers(name, numbers[name]) or named_rows(ColumnRule(name, "number", (name,))))
        elif found_lists := _rule_of_answers(name, raw, separators.get(name, ""), most, asked=name in asked_for):
            rules.append(found_lists)
        elif name in writings and not (features is not None and _are_codes(name, raw.values, most)):
            found = _rule_of_written(name, writings[name], texts_of(plain_column(raw.values)))
            numbers[name] = found.encode(raw.values)[:, 0]
            rules.append(_rule_of_date_numbers(name, numbers[name]) or named_rows(found))
        else:
            rule = _rule_of_texts(name, raw.values, raw.ordered, most, asked=features is not None)
            if may_order(name) and not raw.category:
                rule = _in_order_of_texts(rule)
            elif raw.ordered and isinstance(ordered, Mapping) and rule.kind == "ordinal" and name in ordered:
                rule = replace(rule, reason=_told_order(raw.ordered))
            if rule.reason and not rule.features and not raw.category and (found_unread := _unread(rule, raw.values)):
                unread[name] = found_unread
                rule = replace(rule, reason=found_unread.fact)
            rules.append(rule)
    if features is None and not allow_none:
        rules = _without_times(rules, columns)
    empty = [rule for rule in rules if rule.reason == _NO_VALUES]
    asked = [rule for rule in rules if rule.name in chosen.intersection(features or ()) and not rule.features]
    asked = [rule for rule in asked if rule not in empty]
    if asked:
        fact = f"{asked[0].name!r}: {asked[0].reason}"
        raise ValueError(
            message("features", "columns that can become numbers", fact=fact, remedy="Encode it yourself.")
        )
    if not allow_none and not any(rule.features for rule in rules):
        fact = "; ".join(rule.told() for rule in rules[:5])
        has_texts = any(are_sentences(columns[rule.name].values.tolist()) for rule in rules)
        remedy = TEXTS_TO_NUMBERS if has_texts else ""
        raise ValueError(message("X", "a table with a column that can become a feature", fact=fact, remedy=remedy))
    for rule in rules:
        if rule.features and columns[rule.name].rounding:
            warn_of_rounded(columns[rule.name].rounding, rule.name)
    presences = [rule for rule in rules if rule.kind == "presence"]
    if presences and not allow_none:
        facts = ", ".join(f"{rule.told()[:-1]} in {_n_blank(columns[rule.name].values):,} rows)" for rule in presences)
        fewer = f"drop={[rule.name for rule in presences[:_SHOWN]]!r}"
        warn(
            f"columns of one value and blanks: {facts}: taken as 1 and 0. Pass {fewer} if blanks do not mean that it is"
            " not so.",
            DataWarning,
        )
    if not allow_none:
        if empty:
            warn(f"columns without any value left out: {listed(rule.name for rule in empty)}.", DataWarning)
        _warn_of_left_out([rule for rule in rules if rule not in empty], numbers)
        _warn_of_categories(rules, columns)
        _warn_of_variants(rules, columns)
        _warn_of_units(rules if features is None else [])
        amounts = [rule.name for rule in rules if rule.kind in ("number", "written") and features is None]
        if told := told_of_codes({name: numbers[name] for name in amounts}):
            warn(told, DataWarning)
    if unread:
        remedies = " ".join(dict.fromkeys(one.remedy for one in unread.values()))
        facts = "; ".join(f"{name!r} has {one.fact}" for name, one in unread.items())
        warn(f"columns left out and kept as metadata: {facts}. {remedies}", DataWarning)
    return rules


def check_lists(lists: Any) -> Lists:
    """Check what is said about cells that list several answers: yes, no, or what divides them in each column.

    Raises
    ------
    TypeError, ValueError
        If it is something else.
    """
    if isinstance(lists, bool):
        return lists
    rule = f"True, False, or a mapping of columns to one of {', '.join(map(repr, SEPARATORS))}, or to False"
    if not isinstance(lists, Mapping):
        remedy = "Pass lists={'tools': ';'}."
        raise TypeError(message(f"lists={lists!r:.60}", rule, fact=type(lists).__name__, remedy=remedy))
    for name, separator in lists.items():
        if separator is not False and separator not in SEPARATORS:
            fact = f"column {name!r:.60} has {separator!r:.60}"
            raise ValueError(message("lists", rule, fact=fact, remedy="Pass what divides the answers in a cell."))
    return {str(name): separator for name, separator in lists.items()}


def _separators(columns: dict[str, RawColumn], lists: Lists) -> dict[str, str]:
    """Return what divides the answers in the cells of columns: "" where nothing may, "?" where it is to be found."""
    found = {
        name: "?" if lists is not False and not (raw.ordered or raw.category) else "" for name, raw in columns.items()
    }
    if isinstance(lists, Mapping):
        for name, separator in zip(asked_columns("lists", [*lists], columns) or (), lists.values(), strict=True):
            if separator and columns[name].numeric:
                remedy = "Leave it out of lists."
                raise ValueError(message("lists", "of columns of texts", fact=f"{name!r} holds numbers", remedy=remedy))
            found[name] = separator or ""
    return found


def _rule_of_answers(name: str, raw: RawColumn, separator: str, most: int, *, asked: bool) -> ColumnRule | None:
    """Return the rule of a column whose cells list several answers, between a separator or "?"; None of others."""
    if not separator or raw.values.dtype.kind not in "OU" or (separator == "?" and _may_be_labels(name, asked)):
        return None
    texts = texts_of(plain_column(raw.values))
    if separator == "?":
        separator, answers = split_by(texts, most)
    else:
        answers = told_answers([split_answers(text, separator) for text in texts if text], _MOST_ASKED)
        if not answers:
            fact = f"{name!r} has no answer, or more than {_MOST_ASKED}, that come twice between {separator!r}"
            remedy = f"Pass lists={{{name!r}: False}}."
            raise ValueError(message("lists", "of columns whose cells list a few answers", fact=fact, remedy=remedy))
    if not answers:
        return None
    return ColumnRule(name, "answers", tuple(f"{name} = {one}" for one in answers), answers, writing=separator)


def check_ordered(ordered: Any) -> Ordered:
    """Check what is said about the order of texts: yes, no, or the order of each column, low to high.

    Raises
    ------
    TypeError, ValueError
        If it is something else, or an order has fewer than two different values.
    """
    if isinstance(ordered, bool):
        return ordered
    rule = "True, False, or a mapping of columns to their values from low to high, or to False"
    if not isinstance(ordered, Mapping):
        remedy = "Pass ordered={'size': ['small', 'large']}."
        raise TypeError(message(f"ordered={ordered!r:.60}", rule, fact=type(ordered).__name__, remedy=remedy))
    checked: dict[str, Sequence[str] | Literal[False]] = {}
    for name, order in ordered.items():
        if order is False:
            checked[str(name)] = False
            continue
        several = hasattr(order, "__iter__") and not isinstance(order, str)
        values = [name_of(one) for one in order] if several else []
        if len(values) < 2 or len({*map(mark_of, values)}) < len(values):
            fact = f"column {name!r:.60} has {order!r:.60}"
            raise ValueError(message("ordered", rule, fact=fact, remedy="Name two different values or more."))
        checked[str(name)] = values
    return checked


def _with_orders(columns: dict[str, RawColumn], ordered: Ordered) -> tuple[dict[str, RawColumn], Callable[[str], bool]]:
    """Return columns with the orders that a person says, and which of the others may be ordered by their texts."""
    if not isinstance(ordered, Mapping):
        return columns, lambda _: bool(ordered)
    names = dict(zip(ordered, asked_columns("ordered", [*ordered], columns) or (), strict=True))
    said = {names[name]: order for name, order in ordered.items()}
    columns = dict(columns)
    for name, order in said.items():
        raw = columns[name]
        if order is False:
            columns[name] = replace(raw, ordered=(), category=raw.category or _are_numbers(raw))
            continue
        if raw.numeric:
            remedy = "Numbers are in their order already. False makes categories of them; pass texts for another order."
            raise ValueError(message("ordered", "of columns of texts", fact=f"{name!r} holds numbers", remedy=remedy))
        found = {mark_of(text) for text in texts_of(plain_column(raw.values)) if text}
        if not found & {*map(mark_of, order)}:
            fact = f"{name!r} has {listed(sort_into_classes(known_texts(raw.values)).names)}, none of {listed(order)}"
            raise ValueError(message("ordered", "of values that the column has", fact=fact, remedy="Name its values."))
        columns[name] = replace(raw, ordered=tuple(order), categories=tuple(order))
    return columns, lambda name: name not in said


def _are_numbers(raw: RawColumn) -> bool:
    """Return whether a column holds numbers, or texts of digits alone."""
    if raw.numeric or raw.boolean:
        return not raw.boolean
    texts = [text for text in texts_of(plain_column(raw.values)) if text]
    return bool(texts) and all(text.isdecimal() for text in texts)


def _in_order_of_texts(rule: ColumnRule) -> ColumnRule:
    """Return the rule of ranks instead of that of a category whose texts are plainly in an order."""
    if rule.kind != "category" or not all(isinstance(value, str) for value in rule.categories):
        return rule
    order = order_of_texts(rule.name, rule.categories)
    if not order:
        return rule
    plainest = sorted(order, key=lambda text: (text != " ".join(text.split()), text))
    written = {mark_of(text): text for text in reversed(plainest)}  # each level in one way
    levels = tuple(written[mark] for mark in dict.fromkeys(map(mark_of, order)))
    return ColumnRule(rule.name, "ordinal", (f"{rule.name} (rank)",), levels, reason=_told_order(levels))


def _told_order(levels: Sequence[str]) -> str:
    """Say an order of levels, of many the first and the last."""
    shown = [*levels] if len(levels) <= _SHOWN + 2 else [*levels[:3], "...", levels[-1]]
    return " < ".join(shown)


def _without_times(rules: Sequence[ColumnRule], columns: dict[str, RawColumn]) -> list[ColumnRule]:
    """Return rules that leave out dates, and durations called times, that go with the rows, unless no others are left.

    Dates of birth, of purchase and the like stay, as they are in no order, and so do such that one asks for.
    """
    dates = [rule for rule in rules if rule.kind == "date" and (not rule.of_durations or named_as_time(rule.name))]
    gone = {rule.name for rule in dates if follow_rows(rule.encode(columns[rule.name].values)[:, 0])}
    if not any(rule.features and rule.name not in gone for rule in rules):
        return list(rules)
    return [ColumnRule(rule.name, "left out", reason=IN_ORDER) if rule.name in gone else rule for rule in rules]


def _warn_of_left_out(rules: Sequence[ColumnRule], numbers: Collection[str]) -> None:
    """Warn of columns of numbers, and of times, that are left out though nobody asked for that."""
    left = [rule for rule in rules if not rule.features and rule.reason != NOT_ASKED]
    gone = [rule for rule in left if rule.name in numbers or rule.reason == IN_ORDER]
    if gone:
        names = ", ".join(rule.told() for rule in gone)
        warn(f"{names} left out. Pass features=[...] with these names, beside the others, to use them.", DataWarning)


def _warn_of_categories(rules: Sequence[ColumnRule], columns: dict[str, RawColumn]) -> None:
    """Warn of columns left out for many texts of which most come again, so that they may be categories."""
    gone = []
    for rule in rules:
        if rule.reason.endswith(_DIFFERENT):
            classes = sort_into_classes(known_texts(columns[rule.name].values))
            if len(classes) <= _MOST_ASKED and 2 * len(classes) <= int(classes.labelled.sum()) + 2:
                gone.append(rule)
    if gone:
        names = first_few(rule.told() for rule in gone)
        remedy = "Pass features=[...] with these names, beside the others, to take them as categories"
        warn(f"columns of many categories left out: {names}. {remedy}.", DataWarning)


def _warn_of_variants(rules: Sequence[ColumnRule], columns: dict[str, RawColumn]) -> None:
    """Warn of categories that differ only in how they are written."""
    texts = {rule.name: texts_of(columns[rule.name].values) for rule in rules if rule.kind == "category"}
    found = {name: words for name, given in texts.items() if (words := variants_of(given))}
    if found:
        warn(told_of_variants(found), DataWarning)


def _warn_of_units(rules: Sequence[ColumnRule]) -> None:
    """Warn of features that number or name units, such as machines, of each of which there are many rows."""
    found = {}
    for rule in rules:
        if rule.kind == "number" and rule.reason == NAMED_UNITS:
            found[rule.name] = "taken as amounts, as if 2 lay between 1 and 3"
        elif rule.kind == "category" and len(rule.categories) >= _FEWEST_UNITS and named_as_unit(rule.name):
            found[rule.name] = f"{len(rule.categories)} categories"
    if found:
        told = "; ".join(f"{name!r} ({what})" for name, what in found.items())
        warn(
            f"columns named as units are that have become features: {told}. They draw the rows of one together. Pass "
            f"drop={[*found]!r} if such rows are not to be alike; {listed(found)} can then be asked for as units=.",
            DataWarning,
        )


def _unread(rule: ColumnRule, values: Array) -> Unread | None:
    """Say what the texts of a column look like that is left out because they are many; None for other columns."""
    texts = texts_of(plain_column(values))
    many = rule.reason == _IDENTIFIER or rule.reason.endswith(_DIFFERENT)
    return find_unread(texts) if many and not named_as_id(rule.name, _all_differ(texts)) else None


def _are_codes(name: str, values: Array, most: int) -> bool:
    """Return whether a column that is called an identifier holds few texts of digits alone, such as zip codes."""
    known = [text for text in texts_of(plain_column(values)) if text]
    n_different = len({*known})
    few = 2 <= n_different <= most and 2 * n_different <= len(known) + 2
    return few and named_as_id(name, n_different == len(known)) and all(text.isdecimal() for text in known)


def _all_differ(texts: list[str]) -> bool:
    known = [text for text in texts if text]
    return len({*known}) == len(known)


def _rule_of_texts(name: str, values: Array, ordered: tuple[Any, ...], most: int, *, asked: bool = False) -> ColumnRule:
    labels = with_dates(values)
    classes = sort_into_classes(labels)
    n_known = int(classes.labelled.sum())
    seconds = seconds_of(labels)
    if seconds is not None and len(classes):
        rule = _rule_of_dates(name, seconds, labels.dtype.kind == "m")
        return replace(rule, writing=date_order(without_signs(texts_of(values)))) if values.dtype.kind in "OU" else rule
    if ordered:
        return ColumnRule(name, "ordinal", (f"{name} (rank)",), ordered)
    if not n_known:
        return ColumnRule(name, "left out", reason=_NO_VALUES)
    if _may_be_labels(name, asked):
        return ColumnRule(name, "left out", reason="it may hold labels")
    different = len(classes) == n_known
    named, many = named_as_id(name, different), len(classes) > most or 2 * len(classes) > n_known + 2
    if (different and n_known >= _FEWEST_DIFFERENT) or (named and many and not asked):
        return ColumnRule(name, "left out", reason=_IDENTIFIER)
    marked = _rule_of_marks(name, classes)
    if many and not marked and not (asked and len(classes) <= _MOST_ASKED):
        return ColumnRule(name, "left out", reason=f"{len(classes):,} {_DIFFERENT}")
    if named and not asked:
        remedy = f"named in features=[...] beside the others, its {len(classes)} codes are categories"
        few = f"an identifier by its name; {remedy}"
        return ColumnRule(name, "left out", reason=few if len(classes) > 1 else _IDENTIFIER)
    names = classes.names
    if len(names) == 1 and n_known == len(labels):
        return ColumnRule(name, "left out", reason=f"all rows have {names[0]!r:.40}")
    if len(names) == 1:
        return _rule_of_presence(name, classes.values[0], n_known, len(labels))
    if marked:
        return marked
    shown = names[1:] if len(names) == 2 else names
    return ColumnRule(name, "category", tuple(f"{name} = {value}" for value in shown), tuple(classes.values))


def _rule_of_presence(name: str, value: Any, n_known: int, n_rows: int) -> ColumnRule:
    """Return the rule of a column that has one value or none: 1 and 0, unless nearly all rows have it, or one alone."""
    if n_known < 2:
        return ColumnRule(name, "left out", reason="one row has a value")
    if n_rows - n_known < _FEWEST_BLANK * n_rows:
        return ColumnRule(name, "left out", reason=f"all rows that have a value have {str(value)!r:.40}")
    return ColumnRule(name, "presence", (f"{name} = {value}",), (value,))


def _rule_of_marks(name: str, classes: Classes) -> ColumnRule | None:
    """Return the rule of a column of one value that is written in several ways, and of blanks; None of others."""
    n_known = int(classes.labelled.sum())
    if len(classes) < 2 or len({*map(mark_of, classes.names)}) > 1:
        return None
    value = classes.most_frequent(classes.labelled)
    rule = _rule_of_presence(name, value, n_known, len(classes.codes))
    others = listed(other for other in classes.values if other != value)
    return replace(rule, reason=others) if rule.features else None


def _rule_of_truths(name: str, values: Array) -> ColumnRule:
    truths = ColumnRule(name, "boolean", (name,))
    known = truths.encode(values)[:, 0]
    found, n_blank = np.unique(known[~np.isnan(known)]), int(np.isnan(known).sum())
    if len(found) != 1 or n_blank < max(1, _FEWEST_BLANK * len(known)) or len(known) - n_blank < 2:
        return truths
    rule = _rule_of_presence(name, str(bool(found[0])), len(known) - n_blank, len(known))
    return replace(rule, features=(name,)) if found[0] else rule


def _n_blank(values: Array) -> int:
    return int(np.count_nonzero(~sort_into_classes(known_texts(values)).labelled))


def _may_be_labels(name: str, asked: bool) -> bool:
    """Return whether texts may be labels by the name of their column, which nobody asked for as a feature."""
    return name.lower() in LABEL_WORDS and not asked


def _holds_truths(name: str, raw: RawColumn, *, asked: bool) -> bool:
    """Return whether a column is of truth values that are written as texts."""
    if raw.ordered or raw.category or _may_be_labels(name, asked) or raw.values.dtype.kind not in "OU":
        return False
    return are_truths("" if is_missing(value) else str(value) for value in raw.values.tolist())


def writings_of(
    columns: dict[str, RawColumn], chosen: set[str], decimal: str, *, asked: Collection[str] = ()
) -> dict[str, str]:
    """Return how the columns are written that are numbers written as texts; where one may be read in two ways, others
    of the table decide. Columns called "label" and the like are among them only if they are `asked` for.

    Warns
    -----
    DataWarning
        Names the chosen ones of which nothing in the table tells how they are meant.
    """
    found, texts = {}, {}
    for name, raw in columns.items():
        if name in chosen and raw.values.dtype.kind == "c":
            refuse_other_values(name, raw.values)
        labels = _may_be_labels(name, name in asked)
        if raw.ordered or raw.category or labels or raw.values.dtype.kind not in "OU":
            continue
        if name in chosen:
            refuse_other_values(name, raw.values)
        texts[name] = [text for text in without_signs(texts_of(plain_column(raw.values))) if text]
        if writings := find_writings(texts[name]):
            found[name] = writings
    found |= _writings_beside_words(texts, found)
    telling = [name for name, way in found.items() if len(way) == 1 and {",", "."} & {*"".join(texts[name])}]
    signs = {decimal_of(found[name][0]) for name in telling} | {decimal} - {""}
    told = []
    for name, way in found.items():
        if len(way) == 2 and len(signs) == 1:
            found[name] = [writing for writing in way if decimal_of(writing) in signs]
        elif len(way) == 2 and name in chosen:
            told.append(_two_readings(name, texts[name], way))
    if told:
        remedy = "If the other is meant, pass the column as numbers"
        warn(f"{'; '.join(told)}. Nothing in the table tells. {remedy}.", DataWarning)
    return {name: way[0] for name, way in found.items()}


def _writings_beside_words(texts: dict[str, list[str]], found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return how further columns are written that are numbers but for one or two words, such as "don't know".

    Columns that have the words of such a one, or of one that is of numbers anyway, are judged with it: so items that
    are alike do not become numbers or categories by how many people did not know.
    """
    words = {name: words_beside_numbers(own) for name, own in texts.items()}
    known = frozenset().union(*words.values())
    words = {name: own or words_beside_numbers(texts[name], known) for name, own in words.items() if name not in found}
    more = {
        name: find_writings([text for text in texts[name] if text.strip() not in own])
        for name, own in words.items()
        if own
    }
    return {name: writings for name, writings in more.items() if writings}


def _two_readings(name: str, texts: list[str], writings: list[str]) -> str:
    point, comma = (read_numbers(texts, writing) for writing in writings)
    place = int(np.flatnonzero(np.isfinite(point) & np.isfinite(comma) & (point != comma))[0])
    return f"{name!r} has {texts[place]!r}, read as {point[place]:.12g}, which may be {comma[place]:.12g}"


def _rule_of_written(name: str, writing: str, texts: list[str]) -> ColumnRule:
    """Return the rule of a column of numbers that are written as texts."""
    unit = unit_of(writing)
    numbers = read_numbers(texts, writing)
    known = np.flatnonzero(np.isfinite(numbers))
    largest = float(np.abs(numbers[known]).max()) if unit == "%" else 0.0
    features, first = (f"{name} ({unit})" if unit else name,), texts[known[0]].strip()
    return ColumnRule(name, "written", features, start=largest, reason=first, writing=writing)


def _rule_of_date_numbers(name: str, values: FloatArray) -> ColumnRule | None:
    """Return the rule of a column of dates that are written as whole numbers; None of other numbers."""
    writing = "" if named_as_id(name, different=False) else date_numbers(values)
    seconds = seconds_of(read_date_numbers(values, writing)) if writing else None
    return None if seconds is None else replace(_rule_of_dates(name, seconds, durations=False), writing=writing)


def _rule_of_dates(name: str, seconds: Float64Array, durations: bool) -> ColumnRule:
    known = seconds[np.isfinite(seconds)]
    start, span = 0.0 if durations else float(known.min()), float(np.ptp(known))
    word, unit = next((word, unit) for word, unit, least in UNITS if span >= least * unit)
    if durations:
        return ColumnRule(name, "date", (f"{name} ({word})",), unit=unit)
    first = str(np.datetime64(int(start), "s"))[:10]
    return ColumnRule(name, "date", (f"{name} ({word} since {first})",), start=start, unit=unit)
