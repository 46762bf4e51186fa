"""The page of a map as a widget of notebooks: what people mark there is known to Python, and the reverse."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, cast

import anywidget
import numpy as np
import numpy.typing as npt
import traitlets

from gnomon._entrance import entrance
from gnomon._validation import Instance, check_parameters, message
from gnomon.data.dataset import require_name
from gnomon.evaluation.point_columns import POINT_SCORES
from gnomon.geometry.check import row_mask
from gnomon.viewer import PageContent
from gnomon.viewer.columns import encode_column
from gnomon.viewer.write import compose

__all__ = ["MapWidget"]


class _Rows(traitlets.List):
    """Row numbers, ascending; a mask of the rows will do."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        """Check rows given by Python or by the page."""
        given = np.asarray(value)
        none = given.size == 0 or (given.dtype == np.bool_ and not given.any())
        return [] if none else np.flatnonzero(obj._mask(given)).tolist()


class _Row(traitlets.Any):
    """A row number, or None."""

    def validate(self, obj: Any, value: Any) -> int | None:
        """Check a row given by Python or by the page."""
        if value is None:
            return None
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise TypeError(message(f"{self.name}={value!r}", "a row number or None", who="MapWidget"))
        if not 0 <= value < obj.n_samples:
            fact = f"the map has {obj.n_samples:,} rows"
            raise ValueError(message(f"{self.name}={value}", f"in [0, {obj.n_samples})", fact=fact, who="MapWidget"))
        return int(value)


class _ColumnName(traitlets.Unicode):
    """What the page colours by."""

    def validate(self, obj: Any, value: Any) -> str:
        """Check a name given by Python or by the page."""
        if value:
            obj._check_name(value)
        return str(value)


class MapWidget(anywidget.AnyWidget):
    """The page of a map in a notebook, with what is marked in it as attributes that can be read, set and observed.

    Made by `gnomon.Map.widget`; needs ``pip install "gnomon[widget]"``. The page runs in a sandboxed frame, which
    reaches nothing of the notebook and nothing of any network.

    Parameters
    ----------
    map : gnomon.Map
        It is explained and evaluated first, unless it is already.
    height : int, default=640
        Of the page, in pixels.
    byte_budget : int, default=16 MiB
        Bytes of the page; what is left out where it needs more is as for `gnomon.viewer.write_html`, and said in it.

    Attributes
    ----------
    selection : list of int
        Selected rows, ascending. May be set to an array of rows or a mask; empty for none.
    hovered, pinned : int or None
        The row under the pointer, and the one that a click has pinned.
    color_by : str
        Name of what the points are coloured by, one of `color_names`.
    n_samples : int
        Rows of the map.
    color_names : list of str
        The label, metadata, diagnostics and features of the map, and columns given to `color`.

    Examples
    --------
    ``w = m.widget(); w.observe(lambda change: print(change.new), "selection")`` prints what is selected;
    ``w.selection = [3, 5]`` selects two rows; ``m.X[w.selection]`` are their values.
    """

    _esm = (files("gnomon.notebook") / "widget.js").read_text(encoding="utf-8")
    _page = traitlets.Unicode().tag(sync=True)
    _title = traitlets.Unicode().tag(sync=True)
    _height = traitlets.Int().tag(sync=True)
    _columns = traitlets.List().tag(sync=True)
    selection = _Rows().tag(sync=True)
    hovered = _Row(None, allow_none=True).tag(sync=True)
    pinned = _Row(None, allow_none=True).tag(sync=True)
    color_by = _ColumnName().tag(sync=True)

    @entrance("MapWidget")
    def __init__(self, map: Any, *, height: int = 640, byte_budget: int = 16 << 20) -> None:
        content = PageContent.of(map)
        self.n_samples: int = map.n_samples
        self.color_names: list[str] = _color_names(content)
        page = "".join(compose(content, byte_budget=byte_budget, header={"host": True}))
        super().__init__(_page=page, _title=map.heading, _height=height)

    @entrance("MapWidget.color")
    def color(self, values: npt.ArrayLike, name: str) -> None:
        """Colour the points by values of your own, which join what the page can be coloured by.

        Parameters
        ----------
        values : array-like of shape (n_samples,)
            Numbers, text, categories or dates; up to 12 different integers count as categories.
        name : str
            What the values are; a second column of this name replaces the first.

        Raises
        ------
        TypeError, ValueError
            If there is not one value for each row, or the map has a column of this name itself.
        """
        check_parameters({"name": Instance((str,), "a text")}, {"name": name})
        others = [one for one in self._columns if one["name"] != name]
        if len(others) == len(self._columns) and name in self.color_names:
            raise ValueError(
                message(f"name={name!r}", "new", fact="the map has such a column", remedy="Choose another.")
            )
        column = _as_message(values, name, self.n_samples)
        self.color_names = list(dict.fromkeys([*self.color_names, name]))
        with self.hold_sync():
            self._columns = [*others, column]
            self.color_by = name

    @entrance("MapWidget")
    def _check_name(self, name: str) -> None:
        require_name(name, self.color_names, what="color_by")

    @entrance("MapWidget")
    def _mask(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return row_mask(rows, self.n_samples, name="selection")


def _color_names(content: PageContent) -> list[str]:
    """Return the names that the page may give to what it colours by."""
    label = [content.label_name or "label"] if content.labels is not None else ["One colour"]
    distortion = getattr(content.explanation, "distortion", None)
    known = {
        "r2": content.explanation,
        "label_doubt": content.suspects,
        "stretch": distortion,
        "anisotropy": distortion,
        "torn": getattr(distortion, "tear", None),
    }
    scores = [*(content.points or {}), *(name for name, there in known.items() if there is not None)]
    titles = [POINT_SCORES[name].title if name in POINT_SCORES else name.capitalize() for name in scores]
    names = [*label, *(content.metadata or {}), *titles, *(content.feature_names or [])]
    return list(dict.fromkeys(str(name) for name in names))


def _as_message(values: Any, name: str, n_samples: int) -> dict[str, Any]:
    """Return a column as the page takes it; what is missing is None, or the last category."""
    column = encode_column(values, n_samples, name="values", title=name)
    if column.codes is None:
        numbers = cast("npt.NDArray[np.float64]", column.numbers)
        told = {"name": name, "values": [value if np.isfinite(value) else None for value in numbers.tolist()]}
        return told if column.circle is None else {**told, "circle": [column.circle.begin, column.circle.period]}
    return {
        "name": name,
        "values": column.codes.tolist(),
        "categories": column.categories,
        "colors": column.colors,
        "missing": len(column.categories) - 1 if column.missing else -1,
    }
