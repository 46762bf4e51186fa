"""What a map is written as: a page, a printed report, pictures, tables for other programs, words and numbers."""

from __future__ import annotations

import os
from collections import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._files import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gnomon.evaluation import Evaluation
    from gnomon.explanations import Explanation, FeatureGroups
    from gnomon.notebook.widget import MapWidget
    from gnomon.plot import MapDisplay
    from gnomon.surfaces import Surface
    from gnomon.viewer import Sequence

__all__ = ["NAMELESS", "Outputs"]

NAMELESS = "map"
"""Name of a map that was given none."""


class Outputs:
    """What `gnomon.Map` is written as."""

    name: str
    embedding: npt.NDArray[np.float32]
    labels: npt.NDArray[Any] | None
    label_name: str
    image_shape: tuple[int, ...] | None
    surface: Surface | None
    explain: Callable[[], Explanation]
    evaluate: Callable[[], Evaluation]
    feature_groups: Callable[[], FeatureGroups]

    @property
    def heading(self) -> str:
        """What pages, reports and pictures are headed by: the name; of a map without one, how many rows it is of."""
        return f"A map of {len(self.embedding):,} rows" if self.name == NAMELESS else self.name

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        sequence: Sequence | None = None,
        byte_budget: int | None = None,
        side_file: bool = False,
        metadata: bool | abc.Sequence[str] = True,
    ) -> None:
        """Write the explained map as one HTML file that opens from disk and asks nothing of the network.

        Parameters
        ----------
        path : str or path-like
            File to write.
        title : str, default=None
            Heading; None takes the name of the map, or "A map of 150 rows" of one without.
        sequence : gnomon.viewer.Sequence, default=None
            Embeddings of the same rows along a parameter, of which ``sequence.main`` is that of the map: the page
            gets a slider that moves the points from one to the next.
        byte_budget : int >= 1,000,000 or None, default=None
            Bytes of the whole page, which says what it rounds and leaves out to keep them; see
            `gnomon.viewer.write_html`. None allows 21 MB and 50 bytes a point, at most 56 MB. Of more than
            40,000 features the values of the most important are in the page, and more than 10,000 are not put into
            groups for it, unless `feature_groups` was called.
        side_file : bool, default=False
            Whether to write what the page leaves out beside it, as ``map.data`` for ``map.html``, for its reader to
            open in it.
        metadata : bool or sequence of str, default=True
            Which metadata the page holds; False, and names alone, leave out names of rows too. Labels and values of
            features stay.

        Raises
        ------
        MemoryError
            If the page, or the explanation or scores it shows, would take more memory than may be taken; before any
            work.
        """
        from gnomon.maps.forgetting import shared
        from gnomon.viewer import write_html

        self._require_memory("to_html", "explanation", "evaluation", "page")  # type: ignore[attr-defined]

        with shared(self, metadata) as told:  # type: ignore[arg-type]
            write_html(path, told, title=title, sequence=sequence, byte_budget=byte_budget, side_file=side_file)

    def _repr_html_(self) -> str:
        """Return the page in a sandboxed frame for notebooks, of 4 MiB at most. See `gnomon.notebook.map_html`."""
        from gnomon.notebook import map_html

        return map_html(self)

    @entrance("Map.widget")
    def widget(self, *, height: int = 640, byte_budget: int = 16 << 20) -> MapWidget:
        """Show the page in a notebook and share with Python what is selected, hovered, pinned and coloured.

        Parameters
        ----------
        height : int, default=640
            Of the page, in pixels.
        byte_budget : int, default=16 MiB
            Bytes of the page; what is left out where it needs more is as for `to_html`, and said in it.

        Returns
        -------
        gnomon.notebook.MapWidget
            Its ``selection``, ``hovered``, ``pinned`` and ``color_by`` can be read, set and observed, and ``color``
            colours by values of yours.

        Raises
        ------
        MissingDependencyError
            If anywidget is not installed.
        """
        from gnomon import notebook

        kind: type[MapWidget] = notebook.MapWidget
        return kind(self, height=height, byte_budget=byte_budget)

    def write_report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        metadata: bool | abc.Sequence[str] = True,
        **options: Any,
    ) -> None:
        """Write all that is known of the map as one HTML file to read, to print and to hand to a reviewer.

        Parameters
        ----------
        path : str or path-like
            File to write; it asks nothing of the network, and prints to A4.
        title : str, default=None
            Heading; None takes the name of the map, or "A map of 150 rows" of one without.
        metadata : bool or sequence of str, default=True
            Which metadata the report holds; False, and names alone, leave out names of rows too. Labels and values of
            features stay.
        **options
            Further arguments of `gnomon.maps.printed.write_report`: a ``scorecard``, what `stability` returned,
            ``verdicts`` such as of `are_apart`, ``nulls``, and ``files`` to name with their checksums.

        Raises
        ------
        MemoryError
            If the report, or the explanation or scores it tells, would take more memory than may be taken; before any
            work.
        """
        from gnomon.maps.forgetting import shared
        from gnomon.maps.printed import write_report

        self._require_memory("write_report", "explanation", "evaluation", "report")  # type: ignore[attr-defined]

        with shared(self, metadata) as told:  # type: ignore[arg-type]
            write_report(path, told, title=title, **options)

    def plot(self, *, ax: Axes | None = None, **options: Any) -> MapDisplay:
        """Draw the map with matplotlib. See `gnomon.plot.plot_map`."""
        from gnomon.plot import plot_map

        options = {"name": self.label_name} | options
        return plot_map(self._plotted(), labels=self.labels, ax=ax, surface=self.surface, **options)

    def _plotted(self) -> npt.NDArray[Any]:
        """Return the positions as a figure takes them: on a surface its coordinates."""
        return self.embedding if self.surface is None else self.surface.read(self.embedding)

    @entrance("Map.to_png")
    def to_png(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a static picture of the map with its scores and most important features."""
        from gnomon.plot import save_png

        check_writable(path)
        explanation = self.explain() if self.image_shape is not None else self.feature_groups().explanation
        save_png(
            path,
            embedding=self._plotted(),
            surface=self.surface,
            labels=self.labels,
            title=self.heading if title is None else title,
            explanation=explanation,
            evaluation=self.evaluate(),
            feature_names=explanation.feature_names,
        )

    def export(self, path: str | os.PathLike[str], *, metadata: bool | abc.Sequence[str] = True) -> list[str]:
        """Write the points for other programs: name, position, label, metadata and `point_scores`.

        Features that are numbers are not among the columns, but in the ``X`` of an AnnData object.

        Parameters
        ----------
        path : str or path-like
            - ``.csv`` or ``.parquet``: a table of one row for each point.
            - ``.h5ad``: an AnnData object with `X`, positions in ``obsm["X_METHOD"]`` and the other columns in ``obs``.
            - a folder, which is there or whose name ends in a slash: ``tensors.tsv`` with the positions,
              ``metadata.tsv`` and ``projector_config.pbtxt`` for TensorBoard's projector. Tabs and line breaks in text
              become spaces.
        metadata : bool or sequence of str, default=True
            Which metadata the file holds; False, and names alone, leave out names of rows too. Labels and values of
            features stay.

        Returns
        -------
        list of str
            The files written.

        Raises
        ------
        ValueError
            If `path` ends in something else.
        MissingDependencyError
            If pyarrow or anndata is needed and not installed.
        """
        from gnomon.maps.export import export
        from gnomon.maps.forgetting import shared

        with shared(self, metadata) as told:  # type: ignore[arg-type]
            return export(told, path)

    @entrance("report", keeps_name=True)
    def report(self, *, verdicts: bool = True, notes: bool = True) -> str:
        """Say in words what was mapped, how far to trust it and what sets its classes apart.

        Parameters
        ----------
        verdicts : bool, default=True
            Tell what the data say of the gaps that the map shows, between its nearest classes and around its islands,
            and which sizes and distances of classes are illusions: `verdicts` and `illusions` with their defaults,
            some seconds of work on at most 1,500 rows, whatever the size of the table. Maps of fewer than 60 rows, on
            surfaces, or in other metrics than Euclidean distances and those of directions and angles have none.
        notes : bool, default=True
            Tell `notes`, what was noticed when the map was made.
        """
        from gnomon.maps.report import report_text

        self._require_memory("report", "explanation", "evaluation")  # type: ignore[attr-defined]
        return report_text(self, verdicts=verdicts, notes=notes)  # type: ignore[arg-type]

    @entrance("to_dict", keeps_name=True)
    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain numbers and text, ready for JSON."""
        from gnomon.maps.report import describe

        return describe(self)  # type: ignore[arg-type]
