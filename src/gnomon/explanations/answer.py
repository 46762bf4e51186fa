"""What all answers share: features, their effects with errors, how far the answer goes, and the printed table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.data.columns.dates import told_date

__all__ = ["Answer", "AnswersByLabel", "Column", "GroupedAnswer", "format_number", "format_table", "members_text"]

_SHOWN = 10  # rows of a printed table
_LABELS, _OF_LABEL = 20, 5  # labels that are printed, and features of each


def format_number(value: float) -> str:
    """Return a number with four significant digits, without a needless exponent."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4g}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3e}"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, the first column to the left and the others to the right."""
    widths = [max(len(line[c]) for line in [header, *rows]) for c in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(cell.rjust(w) for cell, w in zip(cells[1:], widths[1:], strict=True))]).rstrip()

    return "\n".join([line(header), *(line(row) for row in rows)])


@dataclass(frozen=True)
class Column:
    """A column of a printed table.

    Attributes
    ----------
    header : str
        What stands above it.
    name : str
        Attribute of the answer.
    error : str, default=""
        Attribute that holds the standard errors, printed behind the numbers that are not infinite.
    blank : str, default="nan"
        What is printed for a number that is NaN.
    of_features : bool, default=False
        Whether the numbers are values of the features, of which dates are printed as dates.
    """

    header: str
    name: str
    error: str = ""
    blank: str = "nan"
    of_features: bool = False

    def cells(self, answer: Any) -> list[str]:
        """Return one text a row."""
        values = _listed(getattr(answer, self.name))
        if self.of_features:
            dates = [told_date(name, value) for name, value in zip(answer.features, values, strict=True)]
            values = [date or value for date, value in zip(dates, values, strict=True)]
        if not self.error:
            return [self.blank if isinstance(value, float) and math.isnan(value) else _cell(value) for value in values]
        errors = _listed(getattr(answer, self.error))
        pairs = zip(values, errors, strict=True)
        return [_cell(value) if math.isinf(value) else f"{_cell(value)} ± {_short(error)}" for value, error in pairs]


def _short(error: float) -> str:
    return f"{error:.2g}" if error == 0 or 1e-4 <= error < 1e3 else f"{error:.1e}"


def _listed(column: Any) -> list[Any]:
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(_cell(item) for item in value) + ")"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, (int, float)) else str(value)


@dataclass(frozen=True, kw_only=True)
class Answer(Printed):
    """Features by how much they matter to a question, with errors and fidelity.

    Attributes
    ----------
    features : list of str
        Names, most important first.
    indices : ndarray of shape (n_features,), int64
        Their column numbers.
    effect : ndarray of shape (n_features,), float64
        How much each feature matters; the kind of answer says in which units.
    error : ndarray of shape (n_features,), float64
        Standard error of the effect, in its units; 0 for a constant feature, NaN where none can be given.
    fidelity : float
        How far the answer accounts for what it explains; 1 is fully. NaN where it cannot be measured.
    caution : str, default=""
        What the answer leaves out, such as weights of rows that made the map; empty if nothing.
    """

    _question: ClassVar[str] = ""
    _per_feature: ClassVar[tuple[str, ...]] = ()  # further fields and properties with one entry a feature
    _facts: ClassVar[tuple[str, ...]] = ()  # single values that the document holds
    _columns: ClassVar[tuple[Column, ...]] = (Column("effect", "effect", "error"),)

    features: list[str]
    indices: npt.NDArray[np.int64]
    effect: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]
    fidelity: float
    caution: str = ""

    def __len__(self) -> int:
        return len(self.features)

    def head(self, n_top: int) -> Self:
        """Return the first `n_top` features."""
        names = ("features", "indices", "effect", "error", *self._per_feature)
        stored = [name for name in names if name in self.__dataclass_fields__]
        return replace(self, **{name: getattr(self, name)[:n_top] for name in stored})

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it."""
        names = ("effect", "error", *self._per_feature)
        return {
            "feature": list(self.features),
            "index": self.indices.tolist(),
            **{name: _listed(getattr(self, name)) for name in names},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the answer with plain Python values, one record for each feature; NaN and infinity stay floats."""
        columns = self.columns()
        records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        facts = {name: _plain(getattr(self, name)) for name in self._facts}
        told = {"caution": self.caution} if self.caution else {}
        return {"question": self._question, "fidelity": float(self.fidelity), **facts, "features": records, **told}

    def _with_caution(self, text: str) -> str:
        """Return a text, and the caution on a line of its own."""
        return f"{text}\n{self.caution}" if self.caution else text

    def headline(self) -> str:
        """Return the line above the printed table."""
        return f"fidelity {format_number(self.fidelity)}"

    def __str__(self) -> str:
        shown = self.head(_SHOWN)
        texts = [column.cells(shown) for column in self._columns]
        rows: list[Sequence[str]] = [list(cells) for cells in zip(shown.features, *texts, strict=True)]
        table = format_table(["feature", *(column.header for column in self._columns)], rows)
        more = f"\n... and {len(self) - len(shown)} more features" if len(self) > len(shown) else ""
        return f"{self.headline()}\n{table}{more}"


@dataclass(frozen=True, kw_only=True)
class GroupedAnswer(Answer):
    """An answer whose features may be groups of collinear features.

    Attributes
    ----------
    groups : dict of str to dict of str to float, or None
        Name of each group among the features to its members by name, with their shares; None if features were not
        grouped. The effect of a group is that of its joint movement, its index that of the member most correlated
        with it.
    """

    groups: dict[str, dict[str, float]] | None = None

    def head(self, n_top: int) -> Self:
        """Return the first `n_top` features, and the groups among them."""
        shown = super().head(n_top)
        if self.groups is None:
            return shown
        return replace(shown, groups={name: self.groups[name] for name in shown.features if name in self.groups})

    def to_dict(self) -> dict[str, Any]:
        """Return the answer with plain Python values; "groups" only if features were grouped."""
        document = super().to_dict()
        return document if self.groups is None else {**document, "groups": self.groups}

    def __str__(self) -> str:
        listed = self.head(_SHOWN).groups or {}
        lines = [f"{name}: {members_text(members)}" for name, members in listed.items()]
        return "\n".join([super().__str__(), *lines])


_One = TypeVar("_One", bound=Answer | None)


class AnswersByLabel(Printed, dict[Any, _One]):
    """A dict of an answer for each label, in their order, which prints as text.

    None stands where a label has no answer. Printed are at most 20 labels, and the first five features of each.

    Parameters
    ----------
    answers : mapping or iterable of pairs, default=()
        Label and answer.

    Attributes
    ----------
    caution : str
        What the answers leave out, printed last; empty if nothing.
    """

    def __init__(self, answers: Mapping[Any, _One] | Iterable[tuple[Any, _One]] = ()) -> None:
        super().__init__(answers)
        self.caution = ""

    def __str__(self) -> str:
        if not self:
            return self.caution or "no labels"
        texts = {label: "no answer" if one is None else str(one.head(_OF_LABEL)) for label, one in self.items()}
        shown = list(texts.items())[:_LABELS]
        plain = not any("\n" in text for text in texts.values())
        lines = [f"{label}: {text}" if plain else f"{label}\n{text}" for label, text in shown]
        if len(texts) > len(shown):
            left = len(texts) - len(shown)
            lines.append(f"... and {left} more {'label' if left == 1 else 'labels'}")
        if not plain and any(one is not None and len(one) > _OF_LABEL for one in self.values()):
            lines.append(f"The first {_OF_LABEL} features of each label are shown.")
        lines += [self.caution] if self.caution else []
        return ("\n" if plain else "\n\n").join(lines)


def members_text(members: dict[str, float]) -> str:
    """Return the members of a group of features with their shares, the largest first."""
    ranked = sorted(members.items(), key=lambda member: -round(member[1], 9))
    text = ", ".join(f"{name} {share:.0%}" for name, share in ranked[:_SHOWN])
    return text if len(ranked) <= _SHOWN else f"{text} and {len(ranked) - _SHOWN} more"


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
