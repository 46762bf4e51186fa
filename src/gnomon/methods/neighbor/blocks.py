"""Neighbour embeddings of tables whose columns stand in blocks, each with a metric of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import affinities, data, extension, neighbors
from gnomon._run import current_run
from gnomon._validation import Either, Instance, Nothing, Options, Rule, message
from gnomon.data.names import default_names
from gnomon.methods.neighbor.base import NeighborEmbedder, Recipe

if TYPE_CHECKING:
    from gnomon.extension.sensitivity import DataLoss

__all__ = ["BlockEmbedder"]


@dataclass(eq=False, repr=False)
class BlockEmbedder(NeighborEmbedder):
    """A neighbour embedding that may take blocks of columns, each with its own metric, instead of one metric of all.

    Parameters
    ----------
    blocks : dict of str to gnomon.Block or None, default=None
        Columns in no block are not used.
    join : {"intersection", "union", "mean"}, default="intersection"
        How blocks are joined. "intersection": near in all blocks, as the product of memberships, whose logarithms add
        up. "union": near in one block at least, by the probabilistic sum 1 - prod_b (1 - w_b v_b). "mean": the weighted
        mean of the affinities.

    Notes
    -----
    Let d_b be the distance of two rows in block b, u_b the mean of the row's distances to its nearest rows in that
    block, though a quarter of the block's root mean square distance at least, and w_b the weights over the largest.
    Memberships exp(-d_b / u_b) have the product exp(-D), D = sum_b w_b d_b / u_b, in which w_b stand as exponents, as
    in umap-learn's intersection. A pair that is near in one block alone has its own, small membership in the others:
    none is missing, so none needs a floor. The affinity of the method is made of the nearest rows by D, and so gives
    each row its largest membership and its sum again. Affinities of squared distances take D^2 = sum_b w_b (d_b /
    u_b)^2, the product of Gaussians.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018 (fuzzy simplicial sets and their operations).
    """

    _: KW_ONLY
    blocks: Mapping[str, data.Block] | None = None
    join: str = "intersection"

    _common_rules: ClassVar[dict[str, Rule]] = {
        **NeighborEmbedder._common_rules,
        "blocks": Either(Instance((Mapping,), "a dict of names and gnomon.Block"), Nothing()),
        "join": Options("intersection", "union", "mean"),
    }

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        self.__dict__.pop("columns_", None)
        if parameters["blocks"] is None:
            return super()._distinct_rows(values, parameters, counted=counted)
        columns, parts = self._parts(int(values.shape[1]), parameters)
        self.columns_ = columns
        values = values[:, columns]
        values = np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values
        self._refuse_with_blocks(parameters, len(parts))
        if len(parts) == 1:
            parameters["metric"], parameters["metric_params"] = parts[0].metric, parts[0].metric_params
        else:
            parameters["parts"] = parts
        return super()._distinct_rows(values, parameters, counted=counted)

    def _parts(
        self, n_features: int, parameters: dict[str, Any]
    ) -> tuple[npt.NDArray[np.int64], tuple[neighbors.BlockPart, ...]]:
        """Return the columns that count, block after block, and where each block stands in them."""
        if parameters["metric"] != "euclidean" or parameters["metric_params"]:
            what, rule = f"metric={parameters['metric']!r:.60}", "left out where blocks are given"
            raise ValueError(message(what, rule, remedy="Give each block its metric."))
        blocks = data.check_blocks(parameters["blocks"])
        for name, block in blocks.items():
            if block.scale not in ("auto", None):
                what, remedy = (
                    f"scale={block.scale!r} of block {name!r:.60}",
                    "Standardise the columns, or use gnomon.map.",
                )
                raise ValueError(message(what, "'auto' or None for an estimator", remedy=remedy))
        named = getattr(self, "feature_names_in_", None)
        names = default_names(n_features) if named is None else [str(name) for name in named]
        found = data.columns_of_blocks(blocks, names)
        counted = {name: block for name, block in blocks.items() if block.weight > 0.0}
        largest = max(block.weight for block in counted.values())
        parts, start = [], 0
        for name, block in counted.items():
            stop = start + len(found[name])
            parts.append(neighbors.BlockPart(start, stop, block.metric, block.metric_params, block.weight / largest))
            start = stop
        return np.concatenate([found[name] for name in counted]), tuple(parts)

    @staticmethod
    def _refuse_with_blocks(parameters: dict[str, Any], n_blocks: int) -> None:
        if parameters.get("frames"):
            fact = "tangent directions are of all features"
            raise ValueError(message(f"frames={parameters['frames']!r:.60}", "None where blocks are given", fact=fact))
        if n_blocks == 1:
            return
        fact = "neighbours are searched, and rows placed, block by block"
        if parameters["precomputed_knn"] is not None:
            raise ValueError(message("precomputed_knn", "None where several blocks are given", fact=fact))
        if parameters.get("output_metric", "euclidean") != "euclidean":
            what, rule = f"output_metric={parameters['output_metric']!r}", "'euclidean' where several blocks are given"
            raise ValueError(message(what, rule, fact=fact))
        if parameters.get("density"):
            rule, fact = "None where several blocks are given", "their distances have no common unit"
            raise ValueError(message(f"density={parameters['density']!r:.60}", rule, fact=fact))

    def _why_rows_count_alike(self, parameters: dict[str, Any]) -> str:
        if parameters["blocks"] is not None and parameters["join"] != "intersection":
            return f"blocks joined by {parameters['join']!r} count distinct rows"
        return super()._why_rows_count_alike(parameters)

    def _chosen(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        recipe = super()._chosen(parameters, n_samples)
        parts = parameters.get("parts")
        if parts is None:
            return recipe
        given = recipe.affinity
        affinity = given.affinity if isinstance(given, affinities.SupervisedAffinity) else given
        if not isinstance(affinity, affinities.NeighborAffinity) or not recipe.n_neighbors:
            rule, remedy = (
                "None with affinities that are no weights of neighbours",
                "Name the affinity, such as 'fuzzy'.",
            )
            raise ValueError(message("blocks", rule, remedy=remedy))
        parameters["power"], parameters["each"] = affinity.power, parameters["join"] != "intersection"
        if not parameters["each"]:
            return recipe
        if parameters["target"] is not None:
            fact, remedy = f"join={parameters['join']!r}", "Use join='intersection', or no y."
            raise ValueError(message("y", "None where blocks are not intersected", fact=fact, remedy=remedy))
        return replace(
            recipe,
            affinity=affinities.BlockAffinity(affinity, tuple(part.weight for part in parts), parameters["join"]),
        )

    def _search_neighbors(self, X: Any, n_neighbors: int, parameters: dict[str, Any]) -> neighbors.NeighborGraph:
        parts = parameters.get("parts")
        if parts is None:
            graph = super()._search_neighbors(X, n_neighbors, parameters)
            columns = getattr(self, "columns_", None)
            whole = columns is None or np.array_equal(columns, np.arange(self.n_features_in_))
            return graph if whole else replace(graph, metric=f"{graph.metric}, {X.shape[1]} features")
        parts, given = neighbors.usual_distances(X, parts), {key: parameters[key] for key in ("power", "each")}
        found = neighbors.find_block_neighbors(
            X, parts, n_neighbors, **given, seed=self.seed_, reporter=current_run().reporter
        )
        parameters["of_blocks"] = found.of_blocks
        parameters["placement"] = partial(extension.BlockPlacement, parts=parts, **given)
        return found.joined

    def _start_rows(self, X: Any, parameters: dict[str, Any]) -> Any:
        parts = parameters.get("parts")
        return super()._start_rows(X, parameters) if parts is None else neighbors.balanced_blocks(X, parts)

    def _place(self, X: Any) -> npt.NDArray[Any]:
        columns = getattr(self, "columns_", None)
        return super()._place(X if columns is None else X[:, columns])

    @property
    def _has_own_graph(self) -> bool:
        """Whether `graph_` is of all columns in the metric of the estimator."""
        return self.blocks is None

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        if self.blocks is not None:
            remedy = "Fit without blocks, or ask for jacobian, the derivative of transform."
            raise ValueError(
                message("the map", "one in a single metric of all columns", fact="it has blocks", remedy=remedy)
            )
        return super()._loss_of_data(X)
