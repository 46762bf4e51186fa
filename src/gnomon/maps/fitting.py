"""From a prepared table to a map: the estimator, the scaling, the fit, and the map with all that is known of it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import neighbors
from gnomon._estimator import changed_parameters, copied, unseeded
from gnomon._progress import Callback
from gnomon._random import resolve_seed
from gnomon._validation import check_positions, message, near_miss, warn
from gnomon.data import Block, Dataset, Reduction, Representation, Table, check_table, find_constant_columns
from gnomon.data.columns import mixed_spreads
from gnomon.data.dataset import first_few
from gnomon.data.feature_weights import check_feature_weight, weigh_features
from gnomon.data.names import default_names
from gnomon.data.places import refuse_longitude_first
from gnomon.data.scaling import Scaling, ScalingChoice, check_scale, choose_scaling, compares_columns, reads_values
from gnomon.data.tails import told_of_long_tails
from gnomon.data.wild_cell_warnings import warn_of_wild_cells, warn_of_wild_rows
from gnomon.exceptions import DataWarning
from gnomon.maps.blocks import GOWER, gower_scaling, of_features, scaling_of_blocks, told_of_blocks
from gnomon.maps.depth import warn_of_depth, warn_of_totals
from gnomon.maps.form import told_of_shares, warn_of_packed
from gnomon.maps.missing import parameters_of_kept
from gnomon.maps.outputs import NAMELESS
from gnomon.maps.prepare import Prepared, noted
from gnomon.maps.representation import resolve, told_of_coordinates
from gnomon.maps.result import N_NEIGHBORS, Map
from gnomon.maps.seam import warn_of_units
from gnomon.maps.steering import steering, target_of_fit, told_of_fit, warn_of_left_out
from gnomon.maps.weights import refuse_given, told_of_weights
from gnomon.maps.wrapped import warn_of_wrapped
from gnomon.methods.base import Embedder, kind_of_table, stored_features
from gnomon.methods.other_names import METHOD_NAMES, check_names
from gnomon.methods.rows import RowEmbedder
from gnomon.neighbors.column_halves import warn_of_hiding_columns
from gnomon.neighbors.graph import ANSWER_NEIGHBORS

__all__ = ["ChooseScaling", "Fitting", "check_method", "fit_map", "make_estimator", "rows_to_map"]

_SEED, _USUAL_SEED = "random_state", 0  # which every map has unless another is given
_SEEDS = 2**32  # that other libraries take
_LEFT_OPEN = (_SEED, "n_jobs", "callback")  # which an estimator of ours that has none takes from the map
_NAMED = 5  # constant columns, or rows without near neighbours

ChooseScaling = Callable[..., ScalingChoice]
"""What `choose_scaling` returns, of (scale, names=, metric=, spreads=)."""


@dataclass(frozen=True)
class Fitting:
    """How a prepared table is fitted: the arguments of `gnomon.map` by their names.

    Attributes
    ----------
    parameters : dict
        Of the method.
    common : dict
        ``n_components``, ``random_state`` and ``n_jobs``.
    images_given : bool
        Whether pictures were given, and not made of the features.
    choose : callable, default=None
        Decides how columns are standardised; None by the table itself.
    """

    method: Any
    parameters: dict[str, Any]
    common: dict[str, Any]
    scale: Any
    feature_weight: Any
    name: str | None
    images_given: bool
    callback: Callback | None
    choose: ChooseScaling | None = None

    def estimator(self, more: dict[str, Any]) -> Any:
        """Return the estimator, with more parameters than were given."""
        given = {**more, **self.parameters}
        if isinstance(given.get("metric"), str) and given["metric"] == GOWER:
            given["metric"] = "manhattan"
        return make_estimator(self.method, given, {**self.common, "callback": self.callback})


def fit_map(prepared: Prepared, how: Fitting) -> Map:
    """Fit a method to a prepared table and return the map."""
    if prepared.kept is not None:
        how = replace(how, parameters=parameters_of_kept(how.parameters, prepared.kept, prepared.n_given))
    method, parameters, common, scale = how.method, how.parameters, how.common, how.scale
    data, table, known_blocks = prepared.data, prepared.table, prepared.blocks
    choose = how.choose or partial(choose_scaling, table.values)
    checked = prepared.labels
    is_gower = isinstance(parameters.get("metric"), str) and parameters["metric"] == GOWER
    columns = None if known_blocks is None else of_features(known_blocks, data, table)
    more = {**steering(data, method), **_of_distances(data, method, parameters)}
    if columns is not None:
        if not isinstance(method, str):
            raise ValueError(message("blocks", "left out where method is an estimator", remedy="Give it the blocks."))
        more["blocks"] = columns
    estimator = how.estimator(more)
    y = target_of_fit(data, estimator)
    metric, metric_notes = (data.metric, []) if data.distances is not None else _metric_of(estimator)
    with noted() as notes:
        if is_gower or known_blocks is not None:
            scaling = _own_scaling(table, scale, data, known_blocks, columns)
        else:
            ours = isinstance(estimator, Embedder)
            scaling, left = _scaling(table, scale, data, "other" if metric_notes else metric, choose, ours=ours)
            notes += left
        if data.representation is None and data.distances is None:
            warn_of_units(table.values, metric)
            if data.image_shape is None:
                refuse_longitude_first(table.feature_names, metric)
                named = GOWER if is_gower else metric
                warn_of_wrapped(table.values, named, _names(table), divided=scaling is not None)
        _warn_of_wild_cells(prepared, scaling, metric, ours=isinstance(estimator, Embedder))
        weights = check_feature_weight(how.feature_weight, _names(table), data.columns)
        scaling = weigh_features(table.values, refuse_given(weights, data), scaling, metric=metric)
        if isinstance(estimator, Embedder) and data.distances is None and data.representation is None:
            _foresee(estimator, table, copied=scaling is not None)
        mapped = replace(table, values=table.values if scaling is None else scaling.apply(table.values))
        seed = resolve_seed(common["random_state"])
        representation = resolve(data.representation, table.values, mapped.values, metric=metric, seed=seed)
        if data.distances is not None:
            mapped = check_table(data.distances, accept_sparse=True, keep_zeros=True)
        elif representation is not None:
            mapped = check_table(representation.values)
        by_row = None if prepared.weighing is None else data.metadata[prepared.weighing]
        graph, embedding = _lay_out(estimator, mapped, y, by_row)
        warn_of_left_out(data, estimator)
        _check_range(embedding)
        rows = None if data.distances is not None else mapped.values
        warn_of_depth(data.depth, table.values, representation, rows, embedding)
        ours = representation is None or isinstance(data.representation, Reduction)
        plain = data.depth is None and ours and rows is not None and data.image_shape is None
        if plain and not warn_of_packed(table.values):
            warn_of_totals(table.values, metric, rows, embedding)
            shares = told_of_shares(table.values)
            notes += shares or (told_of_long_tails(table.values, _names(table)) if compares_columns(metric) else [])
    kept = _usable(graph, getattr(estimator, "graph_", None), table.n_samples, metric)
    notes += told_of_coordinates(data.representation, representation)
    notes += _isolated_rows(kept)
    surface = estimator.surface_ if isinstance(estimator, Embedder) else None
    if surface is not None:
        embedding = surface.drawn(embedding)
        notes.append(surface.words)
    steered, steering_notes = told_of_fit(data, estimator)
    weighted, weight_notes = told_of_weights(data, prepared.weighing)
    made = Map(
        X=table,
        embedding=embedding,
        surface=surface,
        method=method if isinstance(method, str) else type(estimator).__name__,
        parameters={**_parameters_used(estimator), **steered, **weighted},
        labels=checked,
        label_name=data.label_name or "label",
        feature_names=list(table.feature_names or []),
        images=None
        if not how.images_given and data.image_shape is not None
        else data.images,  # pixels are drawn from the features
        image_shape=data.image_shape,
        metadata=data.metadata if y is None else {data.target_name: y, **data.metadata},
        point_names=data.point_names,
        metric=metric,
        scale=scaling,
        columns=data.columns,
        representation=representation,
        completion=prepared.completion,
        graph=kept,
        timings=dict(getattr(estimator, "timings_", {})),
        notes=[
            *data.notes,
            *prepared.told,
            *notes,
            *steering_notes,
            *weight_notes,
            *metric_notes,
            *_constant_features(table),
        ],
        name=how.name or (data.name if data.source else NAMELESS),
        n_jobs=common["n_jobs"],
    )
    made._part = data.part
    made._join = (prepared.join,)
    if data.distances is None:  # what was fitted to distances takes no rows of features
        made._estimator = estimator
    return made


def rows_to_map(
    prepared: Prepared, *, scale: str | None = "auto", metric: str = "euclidean", seed: int
) -> tuple[Any, list[str]]:
    """Return the rows (n_samples, n_coordinates) that a method of ours is given of a table, and what to know of them.

    Parameters
    ----------
    prepared : Prepared
    scale : {"auto", "standard", "robust"} or None, default="auto"
        How the columns are standardised.
    metric : str, default="euclidean"
        In which they will be compared.
    seed : int
    """
    data, table = prepared.data, prepared.table
    with noted() as notes:
        scaling, left = _scaling(table, scale, data, metric, partial(choose_scaling, table.values), ours=True)
        _warn_of_wild_cells(prepared, scaling, metric, ours=True)
        notes += left
        if data.image_shape is None and data.representation is None and compares_columns(metric):
            notes += told_of_long_tails(table.values, _names(table))
    mapped = table.values if scaling is None else scaling.apply(table.values)
    representation = resolve(data.representation, table.values, mapped, metric=metric, seed=seed)
    told = [*data.notes, *prepared.told, *notes, *_constant_features(table)]
    return (mapped if representation is None else check_table(representation.values).values), told


def _lay_out(
    estimator: Any, table: Table, y: Any, weights: Any
) -> tuple[neighbors.NeighborGraph | None, npt.NDArray[Any]]:
    """Fit the estimator; return the neighbours that it searched for, if it did, and the positions."""
    plain = replace(table, feature_names=None)
    if isinstance(estimator, RowEmbedder):
        graph = estimator.fit_sharing_graph(plain, N_NEIGHBORS, y, weights)
        return graph, np.asarray(estimator.embedding_)
    if isinstance(estimator, Embedder):
        return None, np.asarray(estimator.fit_transform(plain, y, sample_weight=weights))
    given = {} if weights is None else {"sample_weight": weights}
    found = estimator.fit_transform(table.values, *([] if y is None else [y]), **given)
    return None, check_positions(found, f"fit_transform(X) of {type(estimator).__name__}", int(table.values.shape[0]))


def _check_range(embedding: npt.NDArray[Any]) -> None:
    """Raise ValueError if positions are beyond float32, which a map holds."""
    known = np.abs(embedding[np.isfinite(embedding)])
    largest = float(known.max(initial=0.0))
    if largest > float(np.finfo(np.float32).max):
        fact = f"the farthest is at {largest:.3g}"
        remedy = f"Pass X * 1e-{math.floor(math.log10(largest))}, or scale='standard'."
        raise ValueError(message("X", "of positions in the range of float32, ±3.4e38", fact=fact, remedy=remedy))


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


def _scaling(
    table: Table, scale: Any, data: Dataset, metric: str, choose: ChooseScaling, *, ours: bool
) -> tuple[Scaling | None, list[str]]:
    """Decide how the columns are standardised, and warn of unlike units; say which are left in units that differ."""
    if isinstance(data.representation, Representation) or data.distances is not None:
        if check_scale(scale) in ("standard", "robust"):
            given = "distances" if data.distances is not None else str(data.representation)
            fact, remedy = f"the map is made of {given}", "Standardise the table before these are computed."
            raise ValueError(message(f"scale={scale!r}", "left out", fact=fact, remedy=remedy))
        return None, []
    if scale in ("auto", None) and (data.image_shape is not None or not ours):
        return None, []
    names = _names(table)
    spreads = mixed_spreads(data.columns, table.values)
    scaling, unlike, left = choose(scale, names=names, metric=metric, spreads=spreads)
    if unlike and scaling is not None:
        warn(f"{unlike}: all columns are standardised. Pass scale=None to map them in their own units.", DataWarning)
    elif unlike:
        remedy = "Pass scale='standard' to standardise all columns."
        if reads_values(metric):
            remedy = "Divide columns that spread more by a number of your own, and their periods in metric by the same."
        warn(f"{unlike}: the map shows little else. {remedy}", DataWarning)
    if scaling is None and scale == "auto" and not unlike and warn_of_hiding_columns(table.values, names, metric):
        return None, []
    remedy = "If they have unlike units, pass scale='standard'."
    return scaling, [f"columns stay in their own units, though {left}. {remedy}"] if left else []


def _warn_of_wild_cells(prepared: Prepared, scaling: Scaling | None, metric: str, *, ours: bool) -> None:
    """Warn of cells that make the spread of their column, or where columns are compared as they are, of their rows."""
    data, table = prepared.data, prepared.table
    filled = None if prepared.completion is None else prepared.completion.missing
    warn_of_wild_cells(table.values, scaling, _names(table), filled)
    given = isinstance(data.representation, Representation) or data.distances is not None
    if scaling is None and ours and not given and not reads_values(metric):
        warn_of_wild_rows(table.values, _names(table), filled)


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


def _isolated_rows(graph: neighbors.NeighborGraph | None) -> list[str]:
    """Say which rows have no near neighbours, so that nothing follows from where they lie."""
    rows = [] if graph is None else np.flatnonzero(graph.isolated).tolist()
    if graph is None or not rows:
        return []
    named = first_few(map(str, rows), _NAMED)
    text = f"are as far as can be from all others, in {graph.metric} distance: {named}. Where they lie says nothing"
    return [f"{len(rows):,} of {graph.n_samples:,} rows {text}; the mask is graph.isolated."]


def _constant_features(table: Table) -> list[str]:
    constant = find_constant_columns(table.values).tolist()
    if not constant:
        return []
    names, first = table.feature_names, constant[:_NAMED]
    told = ", ".join(str(column) if names is None else repr(names[column]) for column in first)
    if names is None:
        told = f"column{'s' if len(constant) > 1 else ''} {told}"
    if len(constant) > len(first):
        told += f" and {len(constant) - len(first):,} more"
    which, whose = ("is", "its") if len(constant) == 1 else ("are", "their")
    many = f"{len(constant):,} of {table.n_features:,} features"
    return [f"{many} {which} constant: {told}; {whose} importance is exactly 0."]


def _estimator_of(method: str) -> Any:
    from gnomon import methods

    card = methods.find_method(method)
    if card is None:
        if (other := METHOD_NAMES.get(method.lower())) is not None:
            raise ValueError(message(f"method={method!r}", f"written as {other.ours}", fact=other.why))
        names = ", ".join(repr(known.name) for known in methods.METHODS)
        remedy = near_miss(method, (known.name for known in methods.METHODS))
        raise ValueError(message(f"method={method!r}", f"one of {names}", remedy=remedy))
    return getattr(methods, card.estimator)


def check_method(method: Any) -> Any:
    """Return a name or an estimator; raise TypeError for a class and for what cannot make a map."""
    if isinstance(method, str) or (not isinstance(method, type) and callable(getattr(method, "fit_transform", None))):
        return method
    rule = "a name that `gnomon methods` lists, or an object with fit_transform"
    if not isinstance(method, type):
        raise TypeError(message(f"method={method!r:.60}", rule, fact=f"found {type(method).__name__}"))
    from gnomon.methods import METHODS

    name = method.__name__
    ours = [repr(card.name) for card in METHODS if card.estimator == name and method.__module__.startswith("gnomon.")]
    remedy = f"Pass {' or '.join([f'gnomon.{name}()', *ours] if ours else [f'{name}()'])}."
    raise TypeError(message(f"method={name}", rule, fact="found a class", remedy=remedy))


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


def make_estimator(method: Any, parameters: Mapping[str, Any], common: Mapping[str, Any]) -> Any:
    """Return the estimator of a name with its parameters, a copy of one of ours, or that of another library.

    Parameters
    ----------
    method : str or estimator
    parameters : mapping
        Of the method; none beside an estimator, which has them.
    common : mapping
        Of what every map has: ``n_components``, ``random_state``, ``n_jobs`` and, for methods that take one,
        ``callback``. An estimator of ours gets those of the latter three that it leaves open. One of another library
        is returned as it is, or as a copy with the seed, if there is one, where it or a part of it has none.

    Returns
    -------
    estimator

    Raises
    ------
    TypeError
        If the method has no parameter of a name.
    ValueError
        If parameters are given beside an estimator, or another number of components or another seed than it has.
    """
    if not isinstance(method, str):
        return _own_copy(method, parameters, common)
    estimator = _estimator_of(method)
    check_names(getattr(estimator, "_other_names", {}), parameters, estimator.__name__)
    allowed = estimator().get_params()
    parameters = {**common, **parameters}
    if common.get("callback") is None or "callback" not in allowed:
        parameters.pop("callback", None)
    for name in parameters:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, n=1)
            meant = f"Did you mean {near[0]}? " if near else ""
            remedy = f"{meant}It takes {', '.join(sorted(allowed))}."
            raise TypeError(message(f"{name}", f"a parameter of {method}", remedy=remedy))
    return estimator(**parameters)


def _own_copy(method: Any, parameters: Mapping[str, Any], common: Mapping[str, Any]) -> Any:
    """Return an estimator that no later fit of the given one changes."""
    given = list(parameters)
    if common.get("n_components", 2) not in (2, getattr(method, "n_components", 2)):
        given.append(f"n_components={common['n_components']}")
    own_seed, seed = getattr(method, _SEED, None), common.get(_SEED)
    if own_seed is not None and seed not in (_USUAL_SEED, None) and seed is not own_seed and seed != own_seed:
        given.append(f"{_SEED}={seed!r}")
    if given:
        rule, remedy = "left out where method is an estimator", "Give them to the estimator."
        raise ValueError(message(", ".join(given), rule, remedy=remedy))
    if not isinstance(method, Embedder):
        return method if seed is None else _seeded(method, resolve_seed(seed) % _SEEDS)
    made = copied(method)
    for name in _LEFT_OPEN:
        if getattr(made, name, name) is None:
            setattr(made, name, common.get(name))
    return made


def _seeded(method: Any, seed: int) -> Any:
    """Return an estimator of another library, or a copy with a seed where it, or a part of it, has none."""
    unset = unseeded(method)
    return copied(method).set_params(**dict.fromkeys(unset, seed)) if unset else method


def _parameters_used(estimator: Any) -> dict[str, Any]:
    """Return the parameters that differ from the default, and the seed."""
    if not hasattr(estimator, "get_params"):  # any object with fit_transform makes a map
        return {}
    shown = {
        key: value
        for key, value in changed_parameters(estimator).items()
        if key not in {"callback", "n_jobs", "verbose"}
    }
    if "precomputed_knn" in shown:
        shown["precomputed_knn"] = "given"
    if "blocks" in shown:
        shown["blocks"] = told_of_blocks(shown["blocks"])
    if hasattr(estimator, "seed_"):
        shown["random_state"] = estimator.seed_
    return {key: value if isinstance(value, (int, float, str, bool)) else str(value) for key, value in shown.items()}


def _ours(estimator: Any) -> str:
    """Return the class of an estimator of gnomon; MDS in place of another one."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.partition(".")[0] == "gnomon" else "MDS"


def _metric_of(estimator: Any) -> tuple[str, list[str]]:
    """Return the metric to explain and evaluate in, and a note where it is not the one the map was made with."""
    metric = getattr(estimator, "metric", "euclidean")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            message(
                "metric='precomputed'",
                "a metric between rows of features",
                fact="a map is explained by features, which distances do not have",
                remedy="Fit the estimator on the distances in Python, such as "
                f"Y = gnomon.{_ours(estimator)}(metric='precomputed').fit_transform(D), and judge it by "
                "gnomon.evaluate(D, Y, metric='precomputed') or, of files, by gnomon evaluate D.npy Y.npy "
                "--metric precomputed; with features, pass them and the positions to gnomon.Map, and of an AnnData "
                "object pass neighbors_key.",
            )
        )
    if blocks := getattr(estimator, "blocks", None):
        return "euclidean", [
            f"The map was made of blocks of columns ({told_of_blocks(blocks)}); it is explained and evaluated in "
            "euclidean distance of all columns."
        ]
    named = neighbors.metric_name(metric, getattr(estimator, "metric_params", None))
    if named is not None:
        return named, []
    return "euclidean", [
        "The map was made with a metric of its own; it is explained and evaluated in euclidean distance."
    ]


def _usable(
    graph: neighbors.NeighborGraph | None, kept: Any, n_samples: int, metric: str
) -> neighbors.NeighborGraph | None:
    """Return the graph that a fit found if it is sound, of the rows of X, in this metric and large enough to explain.

    What the estimator kept says in which metric, and of which features; it is the graph itself of an estimator that
    shares none.
    """
    if not isinstance(kept, neighbors.NeighborGraph) or kept.metric != neighbors.metric_name(metric):
        return None
    found = kept if graph is None else graph
    if found.n_neighbors < ANSWER_NEIGHBORS or found.n_samples != n_samples or neighbors.graph_fault(found):
        return None
    return found
