"""What a map will take, told before it is begun."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.stored import StoredTable, as_stored
from gnomon.maps.blocks import GOWER
from gnomon.maps.costs import answer_takes, evaluation_keeps, sparse_columns
from gnomon.maps.fitting import make_estimator
from gnomon.maps.landmarks.count import Needs, Shape, Sized, check_count, count_landmarks
from gnomon.maps.landmarks.forecast import LandmarkForecast, forecast_with_landmarks
from gnomon.maps.pace import machine_pace
from gnomon.methods.base import Embedder, kind_of_table
from gnomon.methods.forecast import Forecast
from gnomon.neighbors import check_metric, native_metric

__all__ = ["FOLLOWING", "forecast"]

FOLLOWING = ("explanation", "evaluation", "page", "report", "file")
"""What may be made of a map, in this order."""

_FREED = 0.3  # share of the memory of an explanation that stays with the process
_FILE = Cost(fixed=1e7, row=1e4, entry=100.0)  # nanoseconds
_SPREAD = 3.0  # of the time of a map with all that follows: the data decide how it is explained


@entrance("forecast")
def forecast(
    X: Any,
    method: str | Embedder = "umap",
    *,
    then: Sequence[str] = (),
    n_fitted: int | None = None,
    n_workers: int | None = None,
    **parameters: Any,
) -> Forecast | LandmarkForecast:
    """Tell what a fit, and what is made of its map, would take, without beginning it.

    Memory is counted by the arrays that each stage holds, time by operations, at the pace of this machine, which small
    fits of a third of a second measure once in a process. How well both hold is told in the documentation of parts
    (``python -m benchmarks.forecast``). Equal rows take less, since they are mapped once.

    Parameters
    ----------
    X : (int, int), ndarray, sparse matrix, DataFrame or stored table of shape (n_samples, n_features)
        The table, or its shape: ``(1_000_000, 50)``. Of a table its type counts as well and, of a dense one, how many
        columns vary, which is looked for in one pass if some rows have constant ones: fits leave these out. One that is
        read in blocks, see `gnomon.open_table`, is not read; where its fit takes more than is free the forecast is that
        of as many landmarks as `gnomon.map` would take.
    method : str or estimator, default="umap"
        A name that ``gnomon methods`` lists, or one of our estimators.
    then : sequence of {"explanation", "evaluation", "page", "report", "file"}, default=()
        What is made of the map: `Map.explain`, `Map.evaluate`, `Map.to_html` and `Map.write_report`, which need both,
        and `Map.save`. Captions are in the page and the report and take little of either. Of a map of landmarks those
        of `LandmarkMap`, whose page explains and scores the rows that it shows, and which has no report.
    n_fitted : int in [3, n_samples] or None, default=None
        Rows that are fitted, as in `gnomon.map`; every other row is placed. The time of the fit is that of the method;
        how long a row is placed was measured with UMAP: a method that places by a formula takes less, and one that
        places in three dimensions or by a loss of one's own longer.
    n_workers : int >= 1 or None, default=None
        Workers of one core each that share the blocks of a map of landmarks. None: the process that calls does all.
    **parameters
        Parameters of the method, such as ``n_neighbors=30`` and ``n_jobs=4``; an estimator has its own.

    Returns
    -------
    Forecast or LandmarkForecast
        ``n_bytes`` at the peak, beyond the table and the libraries that are loaded, and ``stages``, those of each;
        ``seconds`` of one core, ``between`` which they are expected, ``elapsed`` by the clock, and ``durations``, those
        of each stage. The latter for a map of landmarks, with what a worker holds, receives and sends, and what ends
        below so many rows.

    Raises
    ------
    ValueError
        If X has no shape of a table, a parameter or the metric is refused, or the method does not tell what it takes,
        such as a `NeighborEmbedding` of parts of your own.
    TypeError
        If the method is not one of ours.

    Examples
    --------
    >>> import gnomon
    >>> expected = gnomon.forecast((1_000_000, 50), method="umap")
    >>> expected.n_bytes < 4e9
    True
    >>> least, most = expected.between
    >>> least < expected.seconds < most
    True
    >>> expected = gnomon.forecast((100_000_000, 50), n_fitted=100_000, n_workers=8)
    >>> expected.worker_bytes < 1e9 < expected.n_bytes < 4e9
    True
    """
    unknown = [name for name in then if name not in FOLLOWING]
    if isinstance(then, str) or unknown:
        raise ValueError(message(f"then={then!r:.60}", f"a sequence of {', '.join(map(repr, FOLLOWING))}"))
    if n_workers is not None:
        check_parameters({"n_workers": Integer(1)}, {"n_workers": n_workers})
    estimator = make_estimator(method, parameters, {})
    if not isinstance(estimator, Embedder):
        remedy = "Give a name that `gnomon methods` lists."
        raise TypeError(message(f"method={estimator!r:.60}", "one of gnomon's methods", remedy=remedy))
    metric = getattr(estimator, "metric", None)
    params = getattr(estimator, "metric_params", None)
    if isinstance(metric, str) and metric != GOWER and native_metric(metric, params) is None:
        check_metric(metric, getattr(X, "nnz", None) is not None)
    stored = as_stored(X)
    n_samples, n_features, kind = _shape(X if stored is None else stored, estimator)
    needs = Needs(_sized(X, stored, n_samples), estimator, int(getattr(estimator, "n_components", 2)))
    if n_fitted is not None:
        n_fitted = check_count(n_fitted, n_samples)
    elif stored is not None and (count := count_landmarks(needs)) < n_samples:
        n_fitted = count
    if n_fitted is None and n_workers is not None:
        raise ValueError(message(f"n_workers={n_workers}", "of a map of landmarks", remedy="Pass n_fitted=... too."))
    if n_fitted is None:
        found = estimator.foresee(n_samples, n_features, **kind)
    elif "report" in then:
        remedy = "Write its page, or map fewer rows at once."
        raise ValueError(message("then='report'", "left out of a map of landmarks", remedy=remedy))
    else:
        following = [name for name in FOLLOWING if name in then]
        found = forecast_with_landmarks(needs, n_fitted, following, width=n_features, n_workers=n_workers)
    if found is None:
        fact = "its memory has not been measured"
        raise ValueError(message(f"method={method!r:.60}", "one that tells what it takes", fact=fact))
    if n_fitted is None:
        found = _with_what_follows(found, then, n_samples, n_features, sparse_columns(X))
    return found.at_pace(machine_pace())


def _sized(X: Any, stored: StoredTable | None, n_samples: int) -> Sized:
    """Return what of a table decides the memory of a map of landmarks."""
    if stored is not None:
        return stored
    itemsize = getattr(getattr(X, "dtype", None), "itemsize", 4 if isinstance(X, tuple) else 8)
    n_features = X[1] if isinstance(X, tuple) else X.shape[1]
    return Shape(n_samples, int(n_features), np.float32 if itemsize == 4 else np.float64)


def _with_what_follows(
    found: Forecast, then: Sequence[str], n_samples: int, n_features: float, columns: tuple[int, int] | None
) -> Forecast:
    """Return the forecast of a fit with what is made of its map; `columns` are those of `sparse_columns`."""
    if not then:
        return found
    kept = [*found.stages.values(), found.n_bytes][-2 if found.stages else -1]  # of the last stage
    wanted = {*then, *(("explanation", "evaluation") if {"page", "report"} & {*then} else ())}
    side_by_side = current_run().n_threads > 1
    following: dict[str, tuple[float, float]] = {}
    explained = 0.0
    for name in FOLLOWING:
        if name not in wanted:
            continue
        if name == "file":
            needed, seconds = 0.0, 1e-9 * _FILE.of(n_samples, n_features)
        else:
            needed, seconds = answer_takes(name, n_samples, n_features, columns)
        if name == "page" and side_by_side:  # clusters are found while the map is explained
            needed += explained
        following[name] = kept + needed, seconds
        if name == "explanation":
            kept, explained = kept + _FREED * needed, (1.0 - _FREED) * needed
        elif name == "evaluation":
            kept += evaluation_keeps(n_samples)
    return replace(found.then(following), spread=max(found.spread, _SPREAD))


def _shape(X: Any, estimator: Embedder) -> tuple[int, float, dict[str, Any]]:
    """Return the rows of a table, the numbers stored for each, and what kind it is; of a table or a shape."""
    if isinstance(X, tuple) and all(isinstance(size, numbers.Integral) for size in X):
        shape = X
    else:
        shape = getattr(X, "shape", None) or ()
    if len(shape) != 2:
        fact = f"a shape of {len(shape)} numbers" if shape else type(X).__name__
        raise ValueError(message("X", "a table or its shape, (n_samples, n_features)", fact=fact))
    named = dict(zip(("n_samples", "n_features"), map(int, shape), strict=True))
    check_parameters({"n_samples": Integer(2), "n_features": Integer(1)}, named)
    stored = None if estimator._writes_out else getattr(X, "nnz", None)  # of a sparse matrix
    width = float(named["n_features"] if stored is None else stored / named["n_samples"])
    if isinstance(X, StoredTable):
        return named["n_samples"], width, {"itemsize": X.dtype().itemsize}
    return named["n_samples"], width, {} if isinstance(X, tuple) else kind_of_table(X)
