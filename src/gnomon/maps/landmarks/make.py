"""From a table larger than memory to a map: landmarks are drawn and fitted, and every other row is placed."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gnomon import __version__
from gnomon._progress import ProgressLines, Reporter
from gnomon._random import resolve_seed
from gnomon._run import running
from gnomon._validation import message, warn
from gnomon.data import check_labels
from gnomon.data.labels import measured_labels, name_of, sort_into_classes
from gnomon.data.scaling import Scaling, ScalingChoice
from gnomon.data.stored import StoredTable
from gnomon.exceptions import DataWarning
from gnomon.extension import RowPlacement
from gnomon.maps.fitting import ChooseScaling, Fitting, fit_map
from gnomon.maps.landmarks.columns import features_in_blocks
from gnomon.maps.landmarks.count import FEWEST, Needs, check_landmarks, count_landmarks
from gnomon.maps.landmarks.forecast import forecast_with_landmarks
from gnomon.maps.landmarks.place import STAGE, place_all, way_of
from gnomon.maps.landmarks.result import LandmarkMap
from gnomon.maps.landmarks.source import Rows, Source, crc_of, noting_unused, open_source
from gnomon.maps.pace import machine_pace
from gnomon.maps.prepare import Reading, prepare
from gnomon.maps.result import Map
from gnomon.neighbors import draw_landmarks
from gnomon.scale import Journal, LocalExecutor, current_executor

__all__ = ["map_by_landmarks"]

_FIT = "fit.gnomon"
_MANY = 10_000_000  # pairs of a landmark and a row, which take half a second where repulsions are summed one by one
_SHOWN = 5  # rows or classes named in a note
_FEWEST_OF_CLASS = 5  # rows of a class; where fewer are fitted, the map has no place of its own for it
_MOST_CLASSES = 100  # labels with more such classes are names of rows, or nearly
_OF_ROWS = ("precomputed_knn", "init")  # parameters that may hold something for each row


def map_by_landmarks(
    X: Any,
    stored: StoredTable | None,
    reading: Reading,
    fitting: Fitting,
    *,
    n_fitted: Any,
    folder: str | os.PathLike[str] | None,
) -> Map | LandmarkMap:
    """Map a table by landmarks, or as a whole if it is read in blocks and fits in memory; see `gnomon.map`.

    Parameters
    ----------
    X : object
        As it was given.
    stored : StoredTable or None
        What X is if it is read in blocks.
    reading : Reading
        How it is read.
    fitting : Fitting
        How it is fitted.
    n_fitted : int, array of row numbers or None
    folder : path-like or None
        Where stages are kept.
    """
    if n_fitted is None and stored is None:
        remedy = "Pass n_fitted=..., or leave the folder out."
        raise ValueError(message(f"folder={os.fspath(folder or '')!r}", "of a map with landmarks", remedy=remedy))
    _refuse_of_rows(fitting)
    seed = resolve_seed(fitting.common["random_state"])
    reading = replace(reading, random_state=seed)
    fitting = replace(fitting, common={**fitting.common, "random_state": seed})
    told: list[str] = []
    if stored is not None:
        stored, reading, told = features_in_blocks(stored, reading)
    if stored is not None and n_fitted is None and folder is None:
        needs = Needs(stored, fitting.estimator({}), int(fitting.common["n_components"]))
        if count_landmarks(needs) == stored.n_samples:
            whole = prepare(_whole(X, stored), _of_whole(reading, stored))
            noted = noting_unused(whole, stored, reading)
            return fit_map(replace(noted, told=[*told, *noted.told]), fitting)
    source = open_source(X, stored, reading)
    reporter = Reporter(fitting.callback)
    table, n = source.table, source.table.n_samples
    if n < FEWEST:
        raise ValueError(message(f"X of {n:,} rows", f"a table of at least {FEWEST} rows"))
    wanted = None if n_fitted is None else check_landmarks(n_fitted, n)
    needs = Needs(table, fitting.estimator({}), int(fitting.common["n_components"]))
    journal = Journal(folder, {} if folder is None else _record(source, fitting, wanted, reading))
    reporter.begin("landmarks", n)
    rows = journal.stage("landmarks", lambda: {"rows": _draw(needs, wanted, seed)})["rows"]
    needs.check(len(rows))
    lines = ProgressLines("map") if getattr(needs.estimator, "verbose", False) else None
    if lines is not None:
        reporter.listen(lines)
        _foretell(needs, len(rows))
    fitted = _fitted(source, rows, fitting, journal, reporter)  # which fills its own silence
    with nullcontext() if lines is None else lines:
        places, far = place_all(table, rows, fitted, journal, reporter)
    return LandmarkMap(
        embedding=places,
        landmarks=rows,
        landmark_map=fitted,
        table=table,
        labels=source.labels,
        notes=[
            *told,
            *_notes(rows, n, wanted, fitted, places),
            *_told_of_classes(rows, source.labels),
            *_told_of_far(far, n - len(rows)),
        ],
        timings=_timings(reporter.timings, fitted.timings),
        random_state=seed,
        out_of_range=far,
    )


def _foretell(needs: Needs, count: int) -> None:
    """Write what the map is forecast to take, if its method tells, to standard error."""
    executor = current_executor()
    workers = None if isinstance(executor, LocalExecutor) else executor.n_workers
    expected = forecast_with_landmarks(needs, count, (), width=float(needs.table.n_features), n_workers=workers)
    if expected is not None:
        sys.stderr.write(f"{expected.at_pace(machine_pace())}\n")


def _refuse_of_rows(fitting: Fitting) -> None:
    for name in _OF_ROWS:
        value = fitting.parameters.get(name)
        if value is not None and not isinstance(value, str):
            remedy = "Leave it out, or map all rows without n_fitted."
            raise ValueError(message(name, "left out where landmarks are fitted", remedy=remedy))


def _whole(X: Any, stored: StoredTable) -> Any:
    """Return a table that fits in memory, in memory."""
    if isinstance(X, np.ndarray):
        return X
    from gnomon.data import Dataset

    names = stored.feature_names
    X = stored.read(0, stored.n_samples)
    return Dataset(X, feature_names=None if names is None else list(names), part=stored.part)


def _of_whole(reading: Reading, stored: StoredTable) -> Reading:
    """Return how a whole table is read whose columns of labels and target are stored beside it."""
    stated, target = dict(reading.stated), reading.target
    if reading.column is not None:
        stated = {"label_name": reading.column, **stated, "labels": stored.column(reading.column)}
    if isinstance(target, str):
        target = stored.column(target)
    return replace(reading, stated=stated, column=None, target=target, drop=None)


def _record(source: Source, fitting: Fitting, wanted: Any, reading: Reading) -> dict[str, Any]:
    """Return what decides a map, for its folder."""
    method = fitting.method
    named = {key: crc_of(value) for key, value in sorted(fitting.parameters.items())}
    shown = {key: crc_of(value) for key, value in sorted(reading.stated.items()) if key != "labels"}
    return {
        "gnomon": __version__,
        "table": source.table.fingerprint,
        "n_fitted": crc_of(wanted) if isinstance(wanted, np.ndarray) else wanted,
        "method": method if isinstance(method, str) else f"{type(method).__name__} {crc_of(repr(method))}",
        "scale": fitting.scale,
        "feature_weight": crc_of(fitting.feature_weight),
        "missing": str(reading.missing),
        "n_components": fitting.common["n_components"],
        "random_state": fitting.common["random_state"],
        **{f"parameter {key}": value for key, value in named.items()},
        **{f"given {key}": value for key, value in shown.items()},
        **{f"rows' {key}": value for key, value in source.facts.items()},
    }


def _draw(needs: Needs, wanted: Any, seed: int) -> Rows:
    """Return the landmarks: those given, or as many drawn as are wanted, or as the memory allows."""
    if isinstance(wanted, np.ndarray):
        return wanted
    count = count_landmarks(needs) if wanted is None else wanted
    return draw_landmarks(needs.table.n_samples, count, seed=seed)


def _fitted(source: Source, rows: Rows, fitting: Fitting, journal: Journal, reporter: Reporter) -> Map:
    """Return the map of the landmarks, fitted or as an earlier run left it."""
    path = None if journal.folder is None else Path(journal.folder) / _FIT
    if path is None or not path.exists():
        part = source.part(rows)
        reporter.end()
        all_rows = len(rows) == source.table.n_samples
        choose = None if all_rows else _kept(source.choose, journal, reporter)
        with running(journal=None if path is None else journal):
            made = fit_map(part, replace(fitting, choose=choose))
        _expect_rows(made, source.table.n_samples - len(rows))
        if path is None:
            return made
        made.save(path)
    reporter.end()
    loaded = Map.load(path)  # also of the first run, so that those that go on place by the same function
    loaded.n_jobs = fitting.common["n_jobs"]
    return loaded


def _expect_rows(fitted: Map, n_placed: int) -> None:
    """Have a map tabulate the repulsion of its points, few as they may be, if so many rows will be placed."""
    placement = getattr(fitted._estimator, "placement_", None)
    if isinstance(placement, RowPlacement) and fitted.n_samples * n_placed > _MANY:
        fitted._estimator.placement_ = replace(placement, many=True)


def _kept(choose: ChooseScaling, journal: Journal, reporter: Reporter) -> ChooseScaling:
    """Return how columns are standardised, found once for a folder."""

    def kept(scale: Any, **about: Any) -> ScalingChoice:
        def found() -> dict[str, Any]:
            scaling, unlike, left = choose(scale, **about)
            arrays = {} if scaling is None else {"center": scaling.center, "spread": scaling.spread}
            name = "" if scaling is None else scaling.name
            return {"name": np.array(name), "unlike": np.array(unlike), "left": np.array(left), **arrays}

        reporter.begin("scaling")
        arrays = journal.stage("scaling", found)
        reporter.end()
        name = str(arrays["name"])
        scaling = Scaling(name, arrays["center"], arrays["spread"]) if name else None
        return ScalingChoice(scaling, str(arrays["unlike"]), str(arrays["left"]))

    return kept


def _timings(own: dict[str, float], of_fit: dict[str, float]) -> dict[str, float]:
    """Return the seconds of all stages, in their order."""
    before = {stage: seconds for stage, seconds in own.items() if stage != STAGE}
    return {**before, **of_fit, STAGE: own.get(STAGE, 0.0)}


def _notes(rows: Rows, n: int, wanted: Any, fitted: Map, places: Any) -> list[str]:
    """Return what a reader of the map should know."""
    notes = list(fitted.notes)
    if len(rows) < n:
        how = "as given" if isinstance(wanted, np.ndarray) else "drawn uniformly"
        how += "" if wanted is not None else ", as many as the memory allows"
        told = f"{len(rows):,} of {n:,} rows, {how}, are fitted; all others are placed {way_of(fitted)}."
        notes.append(told)
    missing = int(np.isnan(places[:, 0]).sum())
    if missing:
        notes.append(f"{missing:,} rows have no place: the callback ended the stage {STAGE!r}.")
    return notes


def _told_of_classes(rows: Rows, labels: Any) -> list[str]:
    """Warn of classes of which hardly a row is fitted, and return the words."""
    if labels is None or measured_labels(known := check_labels(labels, len(labels))) is not None:
        return []
    classes = sort_into_classes(known)
    in_all, fitted = (
        np.bincount(codes[codes >= 0], minlength=len(classes)) for codes in (classes.codes, classes.codes[rows])
    )
    few = np.flatnonzero(fitted < np.minimum(_FEWEST_OF_CLASS, in_all))
    if not 1 <= len(few) <= _MOST_CLASSES:
        return []
    shown = ", ".join(f"{name_of(classes.values[c])!r} ({fitted[c]:,} of {in_all[c]:,})" for c in few[:_SHOWN])
    shown += ", ..." if len(few) > _SHOWN else ""
    text = (
        f"classes of which fewer than {_FEWEST_OF_CLASS} rows are fitted: {shown}. Their other rows may be drawn among "
        "other classes. Raise n_fitted, or fit more of these rows: pass numbers of rows, "
        "numpy.union1d(made.landmarks, ...), as n_fitted."
    )
    warn(text, DataWarning)
    return [text]


def _told_of_far(far: Rows, n_placed: int) -> list[str]:
    """Warn of placed rows that lie out of the landmarks' range, and return the words."""
    if not len(far):
        return []
    shown = ", ".join(map(str, far[:_SHOWN].tolist()))
    which = f"row{'s' if len(far) > 1 else ''} {shown}{', ...' if len(far) > _SHOWN else ''}"
    text = (
        f"out of the landmarks' range: {len(far):,} of {n_placed:,} placed rows ({which}). Too few rows near them are "
        "fitted, so that they may be drawn among rows of another kind. Raise n_fitted, or fit these rows too: pass "
        "numpy.union1d(made.landmarks, made.out_of_range) as n_fitted."
    )
    warn(text, DataWarning)
    return [text]
