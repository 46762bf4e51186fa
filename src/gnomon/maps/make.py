"""From a table to a map in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Callback
from gnomon._random import resolve_seed
from gnomon._validation import Either, Integer, Nothing, check_parameters, message, warn
from gnomon.data import (
    Block,
    Dataset,
    Reduction,
    Representation,
    Table,
    check_labels,
    check_table,
    find_constant_columns,
)
from gnomon.data.cells import is_cells, read_cells
from gnomon.data.columns import spreads_of
from gnomon.data.feature_weights import check_feature_weight, weigh_features
from gnomon.data.names import default_names
from gnomon.data.records import are_records, read_records
from gnomon.data.scaling import Scaling, check_scale, choose_scaling
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.maps.blocks import (
    GOWER,
    encode_columns,
    gower_scaling,
    of_features,
    refuse_with_blocks,
    scaling_of_blocks,
    told_of_blocks,
)
from gnomon.maps.missing import settle_missing
from gnomon.maps.representation import leading, resolve
from gnomon.maps.result import N_NEIGHBORS, Map
from gnomon.maps.steering import steering, take_columns, target_of_fit, told_of_fit
from gnomon.maps.weights import SAMPLE_WEIGHT, refuse_given, with_weights, without_weights
from gnomon.methods.base import Embedder, kind_of_table, stored_features
from gnomon.methods.rows import RowEmbedder
from gnomon.neighbors import NeighborGraph, graph_fault, metric_name

__all__ = ["make_estimator", "map"]

_GRAPH_NEIGHBORS = 15  # what explain and evaluate ask for


@entrance("map")
def map(
    X: Any,
    method: str | Any = "umap",
    *,
    labels: npt.ArrayLike | str | None = None,
    target: npt.ArrayLike | str | None = None,
    n_pcs: int | None = None,
    use_rep: str | None = None,
    explain: str | None = None,
    layer: str | None = None,
    neighbors_key: str | None = None,
    feature_names: Sequence[str] | None = None,
    images: npt.NDArray[np.uint8] | None = None,
    image_shape: tuple[int, ...] | None = None,
    metadata: Mapping[str, npt.ArrayLike] | None = None,
    point_names: npt.ArrayLike | None = None,
    label_name: str | None = None,
    name: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    blocks: Mapping[str, Block] | None = None,
    scale: Literal["auto", "standard", "robust"] | None = "auto",
    feature_weight: Mapping[str, float] | npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | str | None = None,
    missing: Literal["distance", "median", "drop", "error"] = "distance",
    n_components: int = 2,
    random_state: int = 0,
    n_jobs: int | None = None,
    memory_budget: float | str | None = None,
    callback: Callback | None = None,
    **parameters: Any,
) -> Map:
    """Map a table: compute positions and keep them with the data, ready to be explained and evaluated.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame of shape (n_samples, n_features), mapping, records, AnnData or Dataset
        Numbers, NaN where a value is missing; of a data frame, a mapping of columns or a list of records also texts and
        dates. A Dataset brings its labels, names and pictures along; an AnnData object,
        also one that is a view or backed by a file, its matrix, names and annotations.
    method : str or estimator, default="umap"
        A name that ``gnomon methods`` lists, such as "umap", "tsne" or "pca", or an object with ``fit_transform``, ours
        or any other.
    labels : array-like of shape (n_samples,), str or None, default=None
        A class for each row, used to colour and to describe the map, never to compute it. Also the name of a column of
        a data frame or Dataset, which is no feature then, or of ``obs`` of an AnnData object.
    target : array-like of shape (n_samples,), str or None, default=None
        Classes or numbers that the map is to follow beside the features, or the name of a column as for `labels`,
        which is no feature then. For methods with a ``target_weight``, which says how much, such as "umap", and for
        estimators of other libraries whose ``fit_transform`` takes y: class numbers with -1 for a row without one, or
        numbers. The report and the page say that the map was steered, since what it was told to set apart lies apart.
    n_pcs : int >= 0 or None, default=None
        Find neighbours and make the map in so many principal components of the table, standardised if `scale` says so.
        Every answer, every new row and every derivative is in terms of the features all the same. None takes the
        features themselves, or for an AnnData object what `use_rep` says; 0 takes the features.
    use_rep : str or None, default=None
        Of an AnnData object: the key of ``obsm``, such as "X_pca" or "X_scVI", of the coordinates in which neighbours
        are found and the map is made, of which `n_pcs` takes the leading ones; or "X". None takes the rule of
        ``scanpy.pp.neighbors``: "X" up to 50 genes, else "X_pca", and where there is none 50 principal components, of
        ``var["highly_variable"]`` if these are marked.
    explain : str or None, default=None
        Of an AnnData object: the table that explains the map. None and "X" take ``X`` or the `layer`; "raw" takes
        ``raw``; else a layer or a key of ``obsm``.
    layer : str or None, default=None
        Of an AnnData object: the layer that stands for ``X``.
    neighbors_key : str or None, default=None
        Of an AnnData object: the key of ``uns``, such as "neighbors", of a graph that scanpy made: the map is made of
        its distances, and `use_rep` is that of the graph. For methods that take given distances; ``n_neighbors`` is
        then what the graph has, ``perplexity`` a third of it.
    feature_names : sequence of str or None, default=None
        None takes the column names of a DataFrame, else numbers the features.
    images : ndarray of shape (n_samples, height, width[, 3]), uint8, or None, default=None
        A picture for each row.
    image_shape : tuple of int or None, default=None
        (height, width[, channels]) if the features are the pixels of a picture.
    metadata : mapping of str to array-like of shape (n_samples,) or None, default=None
        Further columns, shown and searched in the viewer.
    point_names : array-like of shape (n_samples,) or None, default=None
        A name for each row.
    label_name : str or None, default=None
        What the labels are, such as "species".
    name : str or None, default=None
        Title of the map.
    features, drop : sequence of str or None, default=None
        Columns of a data frame or file to use, and to leave out, by name, or by number where they have no names.
        Identifiers are left out anyway, unless `features` names them; categories, dates and truth values become
        numbers. See `gnomon.TablePreprocessor` for the rules. What is left out, and what became numbers, is kept as
        `metadata`; then the columns are standardised.
    blocks : dict of str to gnomon.Block or None, default=None
        Blocks of columns, each with a metric and a weight of its own, for neighbour embeddings that have the parameter
        ``blocks``; ``join`` says how they are joined: "intersection" (default), "union" or "mean". Columns in no block
        are left out and kept as `metadata`. Each block has its own ``scale``.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        Standardise the columns first: "standard" by mean and standard deviation, "robust" by median and interquartile
        range. "auto" is "standard" where the columns have unlike units, with a warning that names them, else None: one
        or two columns make more than half of the squared distances and the widest spreads 30 times as much as the
        median of the others, or a tenth of the columns spread 100 times as much as another tenth. Pixels, counts,
        words, sparse tables and principal components stay as they are, and so does the table of an estimator of another
        library, or under a metric that does not compare coordinates one by one, such as "cosine". The map takes and
        returns rows in their own units all the same.
    feature_weight : mapping of str to number, array-like of shape (n_features,), or None, default=None
        How much features count in the distances, >= 0, after standardisation: a feature of weight 2 counts as if its
        column were given twice, one of weight 0 not at all. A mapping such as ``{"age": 2}`` names features, or columns
        that became several features; the others count 1. For Euclidean, cosine and city-block distance. New rows,
        derivatives and answers remain in units of the features.
    sample_weight : array-like of shape (n_samples,), str or None, default=None
        How many rows each row stands for, >= 0, or the name of the column that says so, which is then no feature: a row
        of weight 3 makes the map of three rows. A row of weight 0 is placed in the map of the others. They are kept as
        metadata. Positions alone follow them: columns are standardised, and the map is explained and scored, row by
        row.
    missing : {"distance", "median", "drop", "error"}, default="distance"
        What to do about missing values; a warning says which they are, what was done and how well that could be done.
        "distance" fills them in so that rows keep their neighbours, see `gnomon.complete_missing`; "median" by the
        median of the column; "drop" leaves out rows that lack a value, with their labels, names and pictures; "error"
        refuses them. A missing category is one of them: its indicators are filled in as numbers. Sparse tables must
        have none.
    n_components : {2, 3}, default=2
        Dimension of the map.
    random_state : int, default=0
        The same seed gives the same bytes for any number of threads.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    memory_budget : float > 0, str or None, default=None
        Most memory that the map may take beyond the table: bytes, or a text such as "4G", "500 MB" or "2 GiB". What is
        forecast to take more is refused before it begins, see `gnomon.forecast`. None allows what is free.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    **parameters
        Further parameters of the method, such as ``n_neighbors=30``. ``metric="gower"`` is Gower's coefficient, for
        any method with a ``metric``: the mean over the columns of |difference| / range for numbers, dates and ranks,
        and of 0 or 1 for categories, found as Manhattan distances of features scaled so.

    Returns
    -------
    Map

    Raises
    ------
    MemoryError
        If the fit would take more memory than memory_budget or than is free.
    """
    parts: dict[str, Any] = {
        "labels": None if isinstance(labels, str) else labels,
        "label_name": label_name,
        "feature_names": feature_names,
        "images": images,
        "image_shape": image_shape,
        "metadata": None if metadata is None else {key: np.asarray(column) for key, column in metadata.items()},
        "point_names": None if point_names is None else np.asarray(point_names),
    }
    stated = {key: value for key, value in parts.items() if value is not None}
    cells = {"use_rep": use_rep, "explain": explain, "layer": layer, "neighbors_key": neighbors_key}
    column = labels if isinstance(labels, str) else None
    data = replace(_read(X, column, n_pcs, cells), **stated)
    refuse_with_blocks(blocks, features=features, drop=drop, feature_weight=feature_weight)
    data, drop = take_columns(data, column, target, drop)
    weighing = sample_weight if isinstance(sample_weight, str) else SAMPLE_WEIGHT
    data, known_blocks = encode_columns(*without_weights(data, features, drop, sample_weight), blocks)
    if column not in (None, weighing):
        data.metadata.pop(column, None)
    data = with_weights(data, sample_weight)
    n_given = data.n_samples
    with _noted() as told:
        data, table, completion = settle_missing(data, missing, scale=scale, random_state=random_state)
    if missing == "drop" and parameters.get("anchors") is not None and table.n_samples < n_given:
        fact, remedy = f"{n_given - table.n_samples} rows are left out", "Leave the rows and their anchors out before."
        raise ValueError(message("anchors with missing='drop'", "of rows that all stay", fact=fact, remedy=remedy))
    _refuse_equal_rows(table)
    checked = None if data.labels is None else check_labels(data.labels, table.n_samples)
    common = {"n_components": n_components, "random_state": random_state, "n_jobs": n_jobs}
    is_gower = isinstance(parameters.get("metric"), str) and parameters["metric"] == GOWER
    if is_gower:
        parameters = {**parameters, "metric": "manhattan"}
    columns = None if known_blocks is None else of_features(known_blocks, data, table)
    given = {**common, **steering(data, method), **_of_distances(data, method, parameters), **parameters}
    if columns is not None:
        if not isinstance(method, str):
            raise ValueError(message("blocks", "left out where method is an estimator", remedy="Give it the blocks."))
        given["blocks"] = columns
    estimator = make_estimator(method, callback, given)
    y = target_of_fit(data, estimator)
    metric, metric_notes = (data.metric, []) if data.distances is not None else _metric_of(estimator)
    with _noted() as notes:
        if is_gower or known_blocks is not None:
            scaling = _own_scaling(table, scale, data, known_blocks, columns)
        else:
            scaling = _scaling(table, scale, data, estimator, "other" if metric_notes else metric)
        weights = check_feature_weight(feature_weight, _names(table), data.columns)
        scaling = weigh_features(table.values, refuse_given(weights, data), scaling, metric=metric)
        if isinstance(estimator, Embedder) and data.distances is None and data.representation is None:
            _foresee(estimator, table, copied=scaling is not None)
        mapped = replace(table, values=table.values if scaling is None else scaling.apply(table.values))
        seed = resolve_seed(random_state)
        representation = resolve(data.representation, table.values, mapped.values, seed=seed)
        if data.distances is not None:
            mapped = check_table(data.distances, accept_sparse=True, keep_zeros=True)
        elif representation is not None:
            mapped = check_table(representation.values)
        by_row = None if sample_weight is None else data.metadata[weighing]
        graph, embedding = _lay_out(estimator, mapped, y, by_row)
    surface = estimator.surface_ if isinstance(estimator, Embedder) else None
    if surface is not None:
        embedding = surface.drawn(embedding)
        notes.append(surface.words)
    steered, steering_notes = told_of_fit(data, estimator)
    made = Map(
        X=table,
        embedding=embedding,
        surface=surface,
        method=method if isinstance(method, str) else type(estimator).__name__,
        parameters={**_parameters_used(estimator), **steered},
        labels=checked,
        label_name=data.label_name or "label",
        feature_names=list(table.feature_names or []),
        images=None
        if images is None and data.image_shape is not None
        else data.images,  # pixels are drawn from the features
        image_shape=data.image_shape,
        metadata=data.metadata if y is None else {data.target_name: y, **data.metadata},
        point_names=data.point_names,
        metric=metric,
        scale=scaling,
        columns=data.columns,
        representation=representation,
        completion=completion,
        graph=_usable(graph, getattr(estimator, "graph_", None), table.n_samples, metric),
        timings=dict(getattr(estimator, "timings_", {})),
        notes=[*data.notes, *told, *notes, *steering_notes, *metric_notes, *_constant_features(table)],
        name=name or (data.name if data.source else "map"),
        n_jobs=n_jobs,
    )
    if data.distances is None:  # what was fitted to distances takes no rows of features
        made._estimator = estimator
    return made


def _lay_out(estimator: Any, table: Table, y: Any, weights: Any) -> tuple[NeighborGraph | None, npt.NDArray[Any]]:
    """Fit the estimator; return the neighbours that it searched for, if it did, and the positions."""
    plain = replace(table, feature_names=None)
    if isinstance(estimator, RowEmbedder):
        graph = estimator.fit_sharing_graph(plain, N_NEIGHBORS, y, weights)
        return graph, np.asarray(estimator.embedding_)
    if isinstance(estimator, Embedder):
        return None, np.asarray(estimator.fit_transform(plain, y, sample_weight=weights))
    given = {} if weights is None else {"sample_weight": weights}
    return None, np.asarray(estimator.fit_transform(table.values, *([] if y is None else [y]), **given))


def _read(X: Any, labels: str | None, n_pcs: int | None, cells: dict[str, str | None]) -> Dataset:
    """Return what is to be mapped, with the coordinates in which that is asked for."""
    check_parameters({"n_pcs": Either(Integer(0), Nothing())}, {"n_pcs": n_pcs})
    if is_cells(X):
        return read_cells(X, n_pcs=n_pcs, labels=labels, **cells)
    for name, value in cells.items():
        if value is not None:
            fact = f"it names a part of an AnnData object, and X is {type(X).__name__}"
            raise ValueError(message(f"{name}={value!r:.60}", "left out", fact=fact))
    data = X if isinstance(X, Dataset) else read_records(X) if are_records(X) else Dataset(X)
    if n_pcs is None:
        return data
    if n_pcs == 0:
        return replace(data, representation=None)
    if isinstance(data.representation, Representation):
        return replace(data, representation=leading(data.representation, n_pcs))
    columns = None if data.representation is None else data.representation.columns
    return replace(data, representation=Reduction(n_pcs, columns))


def _of_distances(data: Dataset, method: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method that is to take given distances; none if there are none."""
    if data.distances is None:
        return {}
    if not isinstance(method, str) or "metric" in parameters:
        what = "metric" if isinstance(method, str) else "method"
        rule = "left out where neighbors_key is given" if isinstance(method, str) else "the name of one"
        raise ValueError(message(what, rule, remedy="The distances are those of the graph."))
    most = int(np.diff(data.distances.indptr).max())
    default = _estimator_of(method)().get_params()
    found: dict[str, Any] = {"metric": "precomputed"}
    if "n_neighbors" in default:
        found["n_neighbors"] = most
    if "perplexity" in default:
        found["perplexity"] = max(most / 3.0, 1.0)  # as the methods themselves choose neighbours
    if default.get("init") == "pca":  # which asks for a table
        found["init"] = "spectral"
    return found


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Keep the texts of gnomon's warnings; the warnings themselves go on to the caller."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GnomonWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, GnomonWarning):
            notes.append(str(warning.message))
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _scaling(table: Table, scale: Any, data: Dataset, estimator: Any, metric: str) -> Scaling | None:
    """Decide how the columns are standardised, and warn of unlike units."""
    if isinstance(data.representation, Representation) or data.distances is not None:
        if check_scale(scale) in ("standard", "robust"):
            given = "distances" if data.distances is not None else str(data.representation)
            fact, remedy = f"the map is made of {given}", "Standardise the table before these are computed."
            raise ValueError(message(f"scale={scale!r}", "left out", fact=fact, remedy=remedy))
        return None
    ours = isinstance(estimator, Embedder)
    if scale in ("auto", None) and (data.image_shape is not None or not ours):
        return None
    names = _names(table)
    spreads = None if data.columns is None else spreads_of(data.columns, table.values)
    scaling, unlike = choose_scaling(table.values, scale, names=names, metric=metric, spreads=spreads)
    if unlike and scaling is not None:
        warn(f"{unlike}: all columns are standardised. Pass scale=None to map them in their own units.", DataWarning)
    elif unlike:
        warn(f"{unlike}: the map shows little else. Pass scale='standard' to standardise all columns.", DataWarning)
    return scaling


def _names(table: Table) -> list[str]:
    return table.feature_names or default_names(table.n_features)


def _own_scaling(
    table: Table, scale: Any, data: Dataset, blocks: dict[str, Block] | None, columns: dict[str, Block] | None
) -> Scaling | None:
    """Return the scaling that Gower's coefficient asks for, or that of the blocks, with a warning of unlike units."""
    if check_scale(scale) != "auto":
        reason = "metric='gower' divides columns by their ranges" if blocks is None else "each block has its own"
        raise ValueError(message(f"scale={scale!r}", "'auto' here", fact=reason))
    if blocks is None or columns is None:
        if data.distances is not None or data.representation is not None:
            remedy = "Leave the coordinates out, or use metric='manhattan'."
            raise ValueError(message("metric='gower'", "used with a map of the features themselves", remedy=remedy))
        return gower_scaling(data, table)
    scaling, unlike = scaling_of_blocks(blocks, columns, data, table)
    for clause in unlike:
        warn(f"{clause}. Each block is standardised by its own scale, 'auto' if it names none.", DataWarning)
    return scaling


def _refuse_equal_rows(table: Table) -> None:
    if len(find_constant_columns(table.values)) == table.n_features:
        fact = f"all {table.n_samples:,} rows are the same"
        raise ValueError(message("X", "a table of rows that differ", fact=fact, remedy="Are these the right columns?"))


def _constant_features(table: Table) -> list[str]:
    constant = find_constant_columns(table.values)
    if not len(constant):
        return []
    return [f"{len(constant)} of {table.n_features} features are constant; their importance is exactly 0."]


def _estimator_of(method: str) -> Any:
    from gnomon import methods

    card = methods.find_method(method)
    if card is None:
        names = ", ".join(repr(known.name) for known in methods.METHODS)
        raise ValueError(message(f"method={method!r}", f"one of {names}"))
    return getattr(methods, card.estimator)


def _foresee(estimator: Embedder, table: Table, *, copied: bool) -> None:
    """Raise MemoryError if the fit and a standardised copy of the table would take too much."""
    expected = estimator.foresee(
        table.n_samples, stored_features(estimator, table.values), **kind_of_table(table.values)
    )
    if expected is not None and copied:
        stored = table.values if isinstance(table.values, np.ndarray) else table.values.data
        expected = expected.beside(float(stored.nbytes), "a standardised copy of the table")
    if expected is not None:
        expected.check(table.n_samples)


def make_estimator(method: Any, callback: Callback | None, parameters: dict[str, Any]) -> Any:
    """Return the estimator of a name with its parameters, or an estimator as it is.

    Parameters
    ----------
    method : str or estimator
    callback : callable or None
        For methods that take one.
    parameters : dict

    Returns
    -------
    estimator

    Raises
    ------
    TypeError
        If the method has no parameter of a name.
    """
    if not isinstance(method, str):
        return method
    estimator = _estimator_of(method)
    allowed = estimator().get_params()
    if callback is not None and "callback" in allowed:
        parameters = {**parameters, "callback": callback}
    for name in parameters:
        if name not in allowed:
            raise TypeError(
                message(f"{name}", f"a parameter of {method}", remedy=f"It takes {', '.join(sorted(allowed))}.")
            )
    return estimator(**parameters)


def _parameters_used(estimator: Any) -> dict[str, Any]:
    """Return the parameters that differ from the default, and the seed."""
    from sklearn.utils._pprint import _changed_params

    if not hasattr(estimator, "get_params"):  # any object with fit_transform makes a map
        return {}
    shown = {key: value for key, value in _changed_params(estimator).items() if key not in {"callback", "n_jobs"}}
    if "precomputed_knn" in shown:
        shown["precomputed_knn"] = "given"
    if "blocks" in shown:
        shown["blocks"] = told_of_blocks(shown["blocks"])
    if hasattr(estimator, "seed_"):
        shown["random_state"] = estimator.seed_
    return {key: value if isinstance(value, (int, float, str, bool)) else str(value) for key, value in shown.items()}


def _metric_of(estimator: Any) -> tuple[str, list[str]]:
    """Return the metric to explain and evaluate in, and a note where it is not the one the map was made with."""
    metric = getattr(estimator, "metric", "euclidean")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            message(
                "metric='precomputed'",
                "a metric between rows of features",
                remedy="Fit the estimator on the distances and pass the features and its positions to gnomon.Map; for "
                "an AnnData object pass neighbors_key.",
            )
        )
    if blocks := getattr(estimator, "blocks", None):
        return "euclidean", [
            f"The map was made of blocks of columns ({told_of_blocks(blocks)}); it is explained and evaluated in "
            "euclidean distance of all columns."
        ]
    named = metric_name(metric, getattr(estimator, "metric_params", None))
    if named is not None:
        return named, []
    return "euclidean", [
        "The map was made with a metric of its own; it is explained and evaluated in euclidean distance."
    ]


def _usable(graph: NeighborGraph | None, kept: Any, n_samples: int, metric: str) -> NeighborGraph | None:
    """Return the graph that a fit found if it is sound, of the rows of X, in this metric and large enough to explain.

    What the estimator kept says in which metric, and of which features; it is the graph itself of an estimator that
    shares none.
    """
    if not isinstance(kept, NeighborGraph) or kept.metric != metric_name(metric):
        return None
    found = kept if graph is None else graph
    if found.n_neighbors < _GRAPH_NEIGHBORS or found.n_samples != n_samples or graph_fault(found):
        return None
    return found
