"""`explain`: of tables in memory, and of those that are read in blocks."""

from __future__ import annotations

from typing import Any, Literal, cast

from gnomon._entrance import entrance
from gnomon._validation import check_parameters, message
from gnomon.data.scaling import Scaling
from gnomon.data.stored import StoredTable, as_stored
from gnomon.explanations.blocks import explain_by_blocks
from gnomon.explanations.explanation import EXPLAIN_RULES, Explanation, explain_in_memory
from gnomon.geometry.check import check_places
from gnomon.surfaces import Surface

__all__ = ["explain"]


@entrance("explain")
def explain(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int | Literal["auto"] = "auto",
    pooling: int | Literal["auto"] = "auto",
    graph: Any = None,
    feature_names: Any = None,
    metric: str = "euclidean",
    scale: Literal["auto", "standard", "robust"] | Scaling | None = None,
    fit: str = "auto",
    surface: Surface | None = None,
    executor: Any = None,
    n_jobs: int | None = None,
) -> Explanation:
    """Explain an embedding made anywhere: which features move each point, and how far to believe it.

    Around each point the linear map is fitted that best carries the displacements of its neighbours in the data to
    their displacements in the embedding. The arrow of a feature is where the point would move for one local standard
    deviation of the feature, within the directions in which the data vary there. The explanation is of the embedding
    as it is, not of a model beside it, and a feature that is constant among the neighbours gets exactly zero.

    In tables of counts, of zeros and ones, or of much noise, neighbours in the data are mostly noise. If it predicts
    the places of held-out rows clearly better, the map is therefore fitted the other way: the features by the place,
    over up to 400 neighbours in the map, each feature weighted by one over the variance of its own residuals.

    Rows that were copied or measured several times foretell each other whatever the features do. Where a tenth of the
    rows at least could be spared, as they lie in sets of two to ten far nearer to each other than to other rows, only
    one row of each set enters fits, R2 and errors, rows are explained by neighbours outside of their set, and a
    DataWarning says so (`Explanation.n_repeats`). Rows of few columns of few values, which are as often equal by
    chance, are fitted in the same way, since equal rows have equal places, but not warned of.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data. float32, float64, uint8 and CSR are used without a copy. A table that is read in blocks
        (`gnomon.data.stored`, a memory map of NumPy) is explained by `gnomon.explanations.explain_by_blocks`.
    Y : array-like of shape (n_samples, n_components)
        The embedding. Rows with NaN have no place; nothing is said about them.
    n_neighbors : int >= 2 or "auto", default="auto"
        Neighbours of each point, itself not counted; the first of them if the graph has more. "auto": 15, or the most
        of 4, 6, 8 and 10 that tell best which features change to a neighbour left out, where that is clearly better,
        as in pictures of objects that turn: without noise more neighbours only smear.
    pooling : int >= 0 or "auto", default="auto"
        Times that the fit at each point is replaced by the mean over the point and its neighbours. Fits of single
        neighbourhoods of noisy data rank the features poorly; a few rounds reach some hundred points at the cost of
        reading 15. The local standard deviations of the features are then averaged too, once. More rounds smooth over
        more of a curved map; 0 explains by each neighbourhood alone. "auto": 3; or where the fits predict their
        neighbours with a median R2 of 0.5 at least, the most that do not leave clearly more than 4/3 of what
        the best number leaves unpredicted of the places of held-out rows.
    graph : NeighborGraph of n_samples rows, tuple, sparse matrix or None, default=None
        Neighbours in the data, also in the forms of `precomputed_knn` of `UMAP`; computed if not given. Where rows
        repeat others and the graph is of X, more are searched for in its metric, else those that are distinct remain.
    feature_names : sequence of n_features str, default=None
        By default the columns of a data frame, else "feature 0" and so on.
    metric : str, default="euclidean"
        Metric in which the neighbours are found if the graph is not given; the fit itself is linear. Columns that have
        a period under it are cut where they hold fewest rows, and their values told from there; of a table that is read
        in blocks, fewest of the reference rows. A metric of sets, such as "jaccard", reads of a value alone if it is 0,
        and so does the explanation: all other numbers are 1.
    scale : {"auto", "standard", "robust"}, Scaling or None, default=None
        Standardise the features for neighbours and fits, as `gnomon.map` does: "auto" where columns have unlike units.
        Arrows and importances are per local standard deviation either way, axes and values in units of the features.
        A given graph is taken as it is.
    fit : {"auto", "forward", "inverse"}, default="auto"
        "forward": the place by the features. "inverse": the features by the place, over the number of map neighbours
        that predicts held-out rows best. "auto": the one that does, for the whole map: forward unless the inverse fit
        predicts clearly more, and always where the median R2 of the forward fits reaches 0.5.
        `Explanation.direction` and `Explanation.scores` tell.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on, as the ``surface_`` of a method; Y then holds its two coordinates, and the explanation is
        of the places where such a map is shown: of a sphere in space, where near is near and arrows have three
        components; of a hyperboloid in the Poincare disk, where directions are true and lengths are those of the disk.
    executor : Executor, distributed.Client, str or None, default=None
        Who works on a table that is read in blocks; None is who works in the run around the call.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Explanation
        Of a table that is read in blocks a StoredExplanation.

    References
    ----------
    .. [1] Yang et al., "Interpretable Dimensionality Reduction by Feature Preserving Manifold Approximation and
       Projection", 2022, whose frames are taken here from the embedding itself.
    """
    if graph is None and metric == "precomputed":
        remedy = (
            "Pass the features, and the neighbours by graph=gnomon.neighbors.compute_neighbors(D, 15, metric=metric)."
        )
        raise ValueError(message("metric='precomputed'", "a metric between rows of features", remedy=remedy))
    stored = as_stored(X)
    if stored is not None:
        checked = check_parameters(EXPLAIN_RULES, {"n_neighbors": n_neighbors, "pooling": pooling, "fit": fit})
        by_blocks = {**checked, "feature_names": feature_names, "metric": metric, "scale": scale}
        # Declared as what nearly all callers get: two types would have to be told apart where only one can occur.
        return cast("Explanation", _explain_stored(stored, Y, by_blocks, graph, surface))
    return explain_in_memory(
        X,
        Y,
        n_neighbors=n_neighbors,
        pooling=pooling,
        graph=graph,
        feature_names=feature_names,
        metric=metric,
        scale=scale,
        fit=fit,
        surface=surface,
        n_jobs=n_jobs,
        cut=True,
    )


def _explain_stored(table: StoredTable, Y: Any, given: dict[str, Any], graph: Any, surface: Surface | None) -> object:
    """Explain a table that is read in blocks."""
    fact = f"{table.name} is read in blocks"
    if graph is not None:
        raise ValueError(message("graph", "None", fact=fact, remedy="Its neighbours are searched block by block."))
    if given.pop("fit") == "inverse":
        raise ValueError(message("fit='inverse'", "'auto' or 'forward'", fact=fact, remedy="Explain a sample of it."))
    places = check_places(Y, table.n_samples)
    return explain_by_blocks(table, places if surface is None else surface.drawn(places), **given)
