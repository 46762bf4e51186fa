"""A comparison: maps of one table beside each other, by four qualities and by how alike they are."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._optional import import_optional
from gnomon._printed import prints_harmlessly
from gnomon._validation import Options, check_parameters
from gnomon.comparison.trials import Trial
from gnomon.evaluation import QUALITIES

if TYPE_CHECKING:
    from gnomon.plot import GridDisplay

__all__ = ["HEADLINES", "Comparison"]

HEADLINES = {
    "manifolds": "auc_rnx",
    "reduction": "random_triplets",
    "neighborhoods": "neighborhood_preservation",
    "coordinates": "local_r2",
}
"""The measure that stands for each of the four qualities; of all a perfect map has 1."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Maps of one table. Made by `gnomon.compare`.

    Attributes
    ----------
    trials : tuple of n_maps Trial
        Each with its name, parameters, embedding, scores and their noise.
    agreement : ndarray of shape (n_maps, n_maps), float64
        How alike two maps are, in [0, 1]; 1 on the diagonal.
    agreement_metric : str
        A measure of `gnomon.evaluation.embedding_similarity`.
    labels : ndarray of shape (n_samples,) or None
        They colour figures and page.
    n_neighbors : int
        Of the measures.
    graph_neighbors : int
        Neighbours of each row in the graph that maps share; 0 if each looked for its own.
    n_seeds : int
        Fits of each map.
    random_state : int
        The first seed.
    metric : str
        In which maps were made, where the method takes one, and judged.
    """

    trials: tuple[Trial, ...]
    agreement: npt.NDArray[np.float64]
    agreement_metric: str
    labels: npt.NDArray[Any] | None
    n_neighbors: int
    graph_neighbors: int
    n_seeds: int
    random_state: int
    metric: str = "euclidean"

    @property
    def maps(self) -> dict[str, npt.NDArray[np.float32]]:
        """The embeddings by the names of the maps."""
        return {one.name: one.embedding for one in self.trials}

    @property
    def qualities(self) -> npt.NDArray[np.float64]:
        """The four qualities of each map, of shape (n_maps, 4): the measures of `HEADLINES`, nan where not taken."""
        return np.array([[one.scores.get(name, math.nan) for name in HEADLINES.values()] for one in self.trials])

    @property
    def pareto(self) -> tuple[str, ...]:
        """Names of the maps that no other map equals or excels in all four qualities and excels in one."""
        found = np.nan_to_num(self.qualities, nan=-np.inf)
        return tuple(
            one.name
            for one, own in zip(self.trials, found, strict=True)
            if not ((found >= own).all(axis=1) & (found > own).any(axis=1)).any()
        )

    @entrance("Comparison")
    def best(self, measure: str) -> Trial:
        """Return the map that is best by one of the measures taken.

        Parameters
        ----------
        measure : str
            A name in `gnomon.evaluation.MEASURES` that judges.
        """
        judging = {
            name: card.measure
            for name, card in self.trials[0].scorecard.items()
            if card.measure.direction != "describes, does not judge"
        }
        check_parameters({"measure": Options(*judging)}, {"measure": measure})
        target, low = judging[measure].best, judging[measure].low
        if target == 1.0:
            return max(self.trials, key=lambda one: one.scores[measure])
        return min(self.trials, key=lambda one: one.scores[measure] if low == 0.0 else abs(one.scores[measure]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the embeddings, with plain Python values."""
        return {
            "maps": [
                {
                    "name": one.name,
                    "method": one.method,
                    "parameters": one.parameters,
                    "scores": one.scores,
                    "noise": {name: v if v == v else None for name, v in one.noise.items()},
                    "seconds": one.seconds,
                }
                for one in self.trials
            ],
            "pareto": list(self.pareto),
            "agreement": self.agreement.tolist(),
            "agreement_metric": self.agreement_metric,
            "n_neighbors": self.n_neighbors,
            "graph_neighbors": self.graph_neighbors,
            "n_seeds": self.n_seeds,
            "random_state": self.random_state,
            "metric": self.metric,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each map: method, measures, their noise, seconds, Pareto set.

        Raises
        ------
        MissingDependencyError
            If pandas cannot be imported.
        """
        pandas = import_optional("pandas", package="pandas", extra="frames")
        rows = {
            one.name: {
                "method": one.method,
                **one.scores,
                **{f"{name}_noise": value for name, value in one.noise.items()},
                "seconds": one.seconds,
                "pareto": one.name in self.pareto,
            }
            for one in self.trials
        }
        return pandas.DataFrame.from_dict(rows, orient="index")

    @prints_harmlessly
    def summary(self) -> str:
        """Return the four qualities of each map and how alike the maps are."""
        width = max(len(one.name) for one in self.trials) + 2
        heads = [name.replace("_", " ") for name in HEADLINES.values()]
        lines = [" " * width + "".join(f"{head:>27}" for head in heads) + f"{'seconds':>10}"]
        for one, values in zip(self.trials, self.qualities, strict=True):
            mark = "*" if one.name in self.pareto else " "
            noises = [one.noise.get(name, math.nan) for name in HEADLINES.values()]
            cells = "".join(f"{_told(value, noise):>27}" for value, noise in zip(values, noises, strict=True))
            lines.append(f"{one.name:{width - 1}}{mark}{cells}{one.seconds:10.2f}")
        for quality, name in HEADLINES.items():
            lines.append(f"{name.replace('_', ' ')}: {QUALITIES[quality]}")
        if len(self.trials) > 1:
            lines += ["", f"how alike two maps are ({self.agreement_metric.replace('_', ' ')}, 1: the same map)"]
            for k, one in enumerate(self.trials):
                lines.append(f"{k + 1:3} {one.name:{width}}" + "".join(f"{v:6.2f}" for v in self.agreement[k]))
        shared = f"one graph of {self.graph_neighbors} neighbours" if self.graph_neighbors else "no shared graph"
        by = "" if self.metric == "euclidean" else f" by {self.metric} distances"
        lines.append(
            f"*: no other map is as good in all four; {self.n_neighbors} neighbours in the measures{by}; {shared}; "
            f"{self.n_seeds} fits of each; random_state={self.random_state}"
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from gnomon.notebook.embedded import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        return f"Comparison of {len(self.trials)} maps"

    @entrance("Comparison.plot")
    def plot(self, *, titles: Sequence[object] | None = None, **style: Any) -> GridDisplay:
        """Draw all maps side by side, coloured by the labels.

        Parameters
        ----------
        titles : sequence of n_maps objects, default=None
            One for each map; None writes its name and how many of the neighbours it keeps.
        **style
            As for `gnomon.plot.Display.plot`.

        Returns
        -------
        GridDisplay
        """
        from gnomon.plot import plot_panels

        kept = HEADLINES["neighborhoods"]
        told = [f"{one.name}\nneighbours kept {one.scores.get(kept, math.nan):.2f}" for one in self.trials]
        maps = [one.embedding for one in self.trials]
        return plot_panels(maps, labels=self.labels, titles=told if titles is None else titles, **style)

    @entrance("Comparison.to_html")
    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Maps side by side",
        point_names: Any = None,
        metadata: Mapping[str, Any] | None = None,
        images: Any = None,
    ) -> None:
        """Write all maps as one page: what the pointer or a lasso marks in one map is marked in all.

        The page lists the rows that changed most from map to map; see `gnomon.viewer.write_side_by_side`.

        Parameters
        ----------
        path : str or path-like
            One HTML file that opens from disk and asks the network for nothing.
        title : str, default="Maps side by side"
            Heading.
        point_names : array-like of shape (n_samples,), default=None
            A name for each row, told where the pointer is.
        metadata : mapping of str to array-like of shape (n_samples,), default=None
            Further columns to colour by.
        images : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
            A picture of each row.

        Raises
        ------
        ValueError
            If the maps have more than three components.
        """
        from gnomon.viewer import write_side_by_side

        scored = [HEADLINES["manifolds"], HEADLINES["neighborhoods"]]
        captions = [
            " · ".join(f"{name.replace('_', ' ')} {one.scores[name]:.3f}" for name in scored if name in one.scores)
            for one in self.trials
        ]
        write_side_by_side(
            path,
            self.maps,
            captions=captions,
            labels=self.labels,
            point_names=point_names,
            title=title,
            metadata=metadata,
            images=images,
        )


def _told(value: float, noise: float) -> str:
    return f"{value:.3f}" if noise != noise else f"{value:.3f} ± {noise:.3f}"
