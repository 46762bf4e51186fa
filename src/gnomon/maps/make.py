"""From a table to a map in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from gnomon._entrance import check_callback, entrance
from gnomon._progress import Callback
from gnomon._random import resolve_seed
from gnomon.data import Block
from gnomon.data.cells import is_cells, key_of_coordinates
from gnomon.data.stored import as_stored
from gnomon.maps.fitting import Fitting, check_method, fit_map
from gnomon.maps.matching import refuse_other_order
from gnomon.maps.prepare import Reading, prepare, stated_parts
from gnomon.maps.result import Map
from gnomon.methods.keywords import MethodParameters

__all__ = ["map"]


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
    feature_names: Sequence[str] | str | None = None,
    images: npt.NDArray[np.uint8] | None = None,
    image_shape: tuple[int, ...] | None = None,
    metadata: Mapping[str, npt.ArrayLike] | None = None,
    point_names: npt.ArrayLike | None = None,
    label_name: str | None = None,
    name: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    forget: Sequence[str] | None = None,
    ordered: bool | Mapping[str, Sequence[str] | Literal[False]] = True,
    lists: bool | Mapping[str, str | Literal[False]] = True,
    blocks: Mapping[str, Block] | None = None,
    scale: Literal["auto", "standard", "robust"] | None = "auto",
    feature_weight: Mapping[str, float] | npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | str | None = None,
    missing: Literal["distance", "median", "drop", "error"] = "distance",
    n_components: int = 2,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    memory_budget: float | str | None = None,
    n_fitted: int | npt.ArrayLike | None = None,
    executor: Any = None,
    folder: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
    **parameters: Unpack[MethodParameters],
) -> Map | Any:
    """Map a table: compute positions and keep them with the data, ready to be explained and evaluated.

    A table that does not fit in memory is mapped by landmarks: some rows, drawn uniformly, are fitted, and every other
    row is placed among them, block by block. The result then is a `gnomon.LandmarkMap`.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame of shape (n_samples, n_features), mapping, records, AnnData or Dataset
        Or a table that is read in blocks, as `gnomon.data.stored.as_stored` takes it, such as a memory map of NumPy.
        Numbers, NaN where a value is missing; of a data frame, a mapping of columns or a list of records also texts and
        dates. A Dataset brings its labels, names and pictures along; an AnnData object,
        also one that is a view or backed by a file, its matrix, names and annotations.
    method : str or estimator, default="umap"
        A name that ``gnomon methods`` lists, such as "umap", "tsne" or "pca", or an object with ``fit_transform``, ours
        or any other. A copy of ours is fitted, so that the map does not change with the estimator; `random_state`,
        `n_jobs` and `callback` are its own where it has some. One of another library is fitted as it is if it has a
        seed, or takes none; else a copy with `random_state` is, or a pipeline whose steps have it.
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
        features themselves, or for an AnnData object what `use_rep` says; 0 takes the features. For the cosine they are
        those of the rows at length 1 about 0 and not about their mean, as directions are about 0. Not with metrics that
        read what values are, see `scale`.
    use_rep : str or None, default=None
        Of an AnnData object: the key of ``obsm``, such as "X_pca" or "X_scVI", of the coordinates in which neighbours
        are found and the map is made, of which `n_pcs` takes the leading ones; or "X". None takes those that
        ``uns["neighbors"]`` names, as a note says, with the columns that it names if `n_pcs` is None; where none are
        named, the rule of ``scanpy.pp.neighbors``: "X" up to 50 genes, else "X_pca", and where there is none 50
        principal components, of ``var["highly_variable"]`` if these are marked.
    explain : str or None, default=None
        Of an AnnData object: the table that explains the map. None and "X" take ``X`` or the `layer`; "raw" takes
        ``raw``; else a layer or a key of ``obsm``.
    layer : str or None, default=None
        Of an AnnData object: the layer that stands for ``X``.
    neighbors_key : str or None, default=None
        Of an AnnData object: the key of ``uns``, such as "neighbors", of a graph that scanpy made: the map is made of
        its distances, and `use_rep` is that of the graph. For methods that take given distances; ``n_neighbors`` is
        then what the graph has, ``perplexity`` a third of it.
    feature_names : sequence of str, str or None, default=None
        None takes the column names of a DataFrame, else numbers the features. Of an AnnData object also the name of a
        column of ``var`` that has the names of the genes, such as "symbol"; genes without one keep that of
        ``var_names``, which tells those of one name apart.
    images : ndarray of shape (n_samples, height, width[, 3]), uint8, or None, default=None
        A picture for each row.
    image_shape : tuple of int or None, default=None
        (height, width[, channels]) if the features are the pixels of a picture.
    metadata : mapping of str to array-like of shape (n_samples,) or None, default=None
        Further columns, shown and searched in the viewer.
    point_names : array-like of shape (n_samples,) or None, default=None
        A name for each row. None takes the index of a data frame of pandas, if it has texts, dates or numbers that all
        differ, or the names of the cells of an AnnData object.
    label_name : str or None, default=None
        What the labels are, such as "species".
    name : str or None, default=None
        Title of the map.
    features, drop : sequence of str or None, default=None
        Columns of a data frame or file to use, and to leave out, by name, or by number where they have no names.
        Identifiers are left out anyway, unless `features` names them; categories, dates and truth values become
        numbers. See `gnomon.TablePreprocessor` for the rules. Of a table that is read in blocks they are columns of
        numbers, and all others are stored beside the features. Of one in memory what is left out, and what became
        numbers, is kept as `metadata`, so that pages and files of the map hold it, unless `forget` names it; then the
        columns are standardised.
    forget : sequence of str or None, default=None
        Columns, or metadata that a file or an AnnData object brings, that the map is to know nothing of, by name as for
        `drop`: they are no features and no metadata, and no page, report or file of the map has any of their values.
    ordered : bool or mapping of str to sequence of str or False, default=True
        Whether columns of texts that plainly are steps of one scale become ranks, such as "never" to "always", bands of
        numbers and grades, as a note says; False leaves them categories. A mapping such as ``{"size": ["S", "M"]}``
        names the values of columns from low to high, others of them being missing, or has False for a category, also
        one of numbers, such as codes of regions.
    lists : bool or mapping of str to {";", "|", ",", "[]"} or False, default=True
        Whether cells that plainly list several answers, such as "email; phone", become an indicator for each answer, as
        a note says; False takes each combination for a category. A mapping names what divides the answers of columns.
    blocks : dict of str to gnomon.Block or None, default=None
        Blocks of columns, each with a metric and a weight of its own, for neighbour embeddings that have the parameter
        ``blocks``; ``join`` says how they are joined: "intersection" (default), "union" or "mean". Columns in no block
        are left out and kept as `metadata`. Each block has its own ``scale``. Of an AnnData object each names "X" or a
        key of `obsm`: ``{"rna": Block("X_pca"), "protein": Block("protein")}``.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        Standardise the columns first: "standard" by mean and standard deviation, "robust" by median and interquartile
        range. "auto" is "standard" where the columns have unlike units, with a warning that names them, else None: one
        or two columns make more than half of the squared distances and the widest spreads 30 times as much as the
        median of the others; or a tenth of the columns spread 100 times as much as another tenth; or, of at most 50
        columns with names, one spreads 5 times as much as another and lies at another level, has other signs or other
        steps. Where spreads differ so and columns stay, a note says so; where a few columns make most distances and
        hide what the others agree about, a warning. Pixels, counts, words, sparse tables and columns without
        correlation, as the principal components of these rows are, stay as they are, and so does the table of an
        estimator of another library, or under a metric that does not compare coordinates one by one, such as "cosine".
        Pass None for other scores of components, whose spreads mean something: of a part of the rows, of
        another table, of time-lagged components. The map takes and returns rows in their own units all the same.
        Metrics that read what values are, "periodic", "haversine", "hellinger", "ruzicka", "hamming" and those of sets,
        such as "jaccard", take columns as they are given: "standard" and "robust" are refused.
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
    n_components : int >= 1, default=2
        Dimension of the map; that of an estimator is its own.
    random_state : int or None, default=0
        The same seed gives the same bytes for any number of threads. None draws one, and leaves an estimator of another
        library as it is. Beside an estimator with a seed of its own, another than this is refused.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    memory_budget : float > 0, str or None, default=None
        Most memory that the map may take beyond the table: bytes, or a text such as "4G", "500 MB" or "2 GiB". What is
        forecast to take more is refused before it begins, see `gnomon.forecast`. None allows what is free.
    n_fitted : int in [3, n_samples], array-like of row numbers or None, default=None
        Rows that are fitted: how many, drawn by `gnomon.neighbors.draw_landmarks` whatever holds the table, or which.
        Every other row is placed where its own part of the loss is least (about 15 microseconds a row), by the formula
        of a method that has one, or else by the `gnomon.AffineAtlas` of the landmarks; one that equals a landmark gets
        its position. A warning and a note say how many lie out of the range of the landmarks, and
        `LandmarkMap.out_of_range` which.
        None maps all rows, unless X is read in blocks and fit and table are forecast to take more memory than
        `memory_budget`, or than is free: then as many as this allows of 200,000, 100,000, 50,000, 20,000, 10,000,
        5,000, 2,000 and 1,000, as a note says. Columns are standardised by all rows; the components of `n_pcs`, the
        ranges of "gower" and the weight of a target are those of the landmarks. Of an AnnData object that is backed by
        a file the coordinates of `use_rep` are mapped and explain, or with `n_pcs` components of its matrix. Not with
        `sample_weight`, `blocks`, given neighbours, starts, anchors or coordinates of single cells in memory.
    executor : gnomon.scale.Executor, distributed.Client, str or None, default=None
        Who works on the blocks; None is this process. Does not change the result.
    folder : path-like or None, default=None
        Where each stage and block leaves its result, so that the same call goes on after it was cut, to the same bytes.
        Of maps with landmarks; made if it is not there, and yours to remove.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    **parameters
        Further parameters of the method, such as ``n_neighbors=30``; or give them to an estimator, and that as
        `method`. ``metric="gower"`` is Gower's coefficient, for any method with a ``metric``: the mean over the columns
        of |difference| / range for numbers, dates and ranks, and of 0 or 1 for categories, found as Manhattan distances
        of features scaled so.

    Returns
    -------
    Map or LandmarkMap
        The latter if `n_fitted` is given, or X is read in blocks and does not fit in memory.

    Warns
    -----
    DataWarning
        If placed rows lie out of the range of the landmarks, of metadata that tell who people are, and of what is
        unusual in the data.

    Raises
    ------
    MemoryError
        If the fit would take more memory than memory_budget or than is free.
    TypeError
        If `method` is neither a name nor an estimator, or another argument has a wrong type.
    ValueError
        If `folder` holds another run, or an argument does not go with landmarks or with an estimator.

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True)
    >>> m = gnomon.map(wine.data, labels=wine.target, scale="standard", random_state=0)
    >>> m.embedding.shape
    (178, 2)
    >>> m.to_html("wine.html")
    """
    beside = {"labels": labels, "target": target, "metadata": metadata, "point_names": point_names}
    refuse_other_order(X, **beside, sample_weight=sample_weight)
    stated = stated_parts(
        labels=labels,
        label_name=label_name,
        feature_names=feature_names,
        images=images,
        image_shape=image_shape,
        metadata=metadata,
        point_names=point_names,
    )
    reading = Reading(
        stated=stated,
        cells={"use_rep": use_rep, "explain": explain, "layer": layer, "neighbors_key": neighbors_key},
        column=labels if isinstance(labels, str) else None,
        target=target,
        n_pcs=n_pcs,
        features=features,
        drop=drop,
        forget=forget,
        ordered=ordered,
        lists=lists,
        blocks=blocks,
        scale=scale,
        feature_weight=feature_weight,
        sample_weight=sample_weight,
        missing=missing,
        random_state=resolve_seed(None) if random_state is None else random_state,
        anchored=parameters.get("anchors") is not None,
        metric=parameters.get("metric", getattr(method, "metric", None)),
        is_kept=True,
    )
    fitting = Fitting(
        method=check_method(method),
        parameters=dict(parameters),
        common={"n_components": n_components, "random_state": random_state, "n_jobs": n_jobs},
        scale=scale,
        feature_weight=feature_weight,
        name=name,
        images_given=images is not None,
        callback=check_callback(callback),
    )
    asked = n_fitted is not None or folder is not None
    if asked and use_rep is None and n_pcs is None and is_cells(X) and X.isbacked and not X.is_view:
        use_rep = key_of_coordinates(X)
    stored = as_stored(X, use_rep=use_rep) if asked or not is_cells(X) else None
    if stored is None and not asked:
        return fit_map(prepare(X, reading), fitting)
    from gnomon.maps.landmarks import map_by_landmarks  # loaded when first asked for

    return map_by_landmarks(X, stored, reading, fitting, n_fitted=n_fitted, folder=folder)
