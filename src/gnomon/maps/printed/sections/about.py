"""The map at a glance, the data that it is of and the method that made it."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from gnomon import __version__
from gnomon._memory import in_bytes
from gnomon.data.dataset import first_few
from gnomon.data.labels import measured_labels, name_of, sort_into_classes
from gnomon.maps.cautions import of_neighbors, of_order
from gnomon.maps.missing import told_missing
from gnomon.maps.printed.markup import drawing, facts, join, listing, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.plot import plot_map

__all__ = ["data", "method", "overview", "versions"]

_NAMED = 12  # features or classes that are listed
_GIVEN = "positions given; not made here"


def overview(subject: Subject) -> Section:
    """Draw the map, and say in a few sentences how far to believe it."""
    result = subject.map
    told = listing(
        (join([tag("b", f"{one.grade}: ", class_=one.grade), one.text]) for one in subject.verdict), class_="verdict"
    )
    cautions = filter(None, [result.caution, of_neighbors(result), of_order(result)])
    picture = None
    if result.embedding.shape[1] in (2, 3):
        drawn = plot_map(result._plotted(), labels=result.labels, surface=result.surface, name=result.label_name)
        colored = "" if result.labels is None else f", coloured by {result.label_name}"
        words = f"The map of {result.n_samples:,} rows by {result.method}{colored}. Its axes have no unit."
        picture = drawing(drawn, words, key="map")
    return Section("The map at a glance", join([*(tag("p", one, class_="caution") for one in cautions), told, picture]))


def data(subject: Subject) -> Section:
    """Say what was mapped: rows, features, labels, gaps, copies, units and checksums."""
    result = subject.map
    names = first_few(map(str, result.feature_names), _NAMED)
    pairs: list[tuple[str, Any]] = [
        ("rows", f"{result.n_samples:,}"),
        ("features", f"{result.n_features:,}: {names}"),
        ("labels", _labels(result)),
        ("missing values", _missing(result)),
        ("rows equal to an earlier one", f"{subject.n_duplicates:,}"),
        ("scaling", "none" if result.scale is None else f"{result.scale.name} (values in this report are not scaled)"),
        ("distances", f"{result.metric}{'' if result.representation is None else f' in {result.representation}'}"),
        (
            f"SHA-256 of the {'' if _missing(result) == 'none' else 'completed '}table",
            tag("code", subject.table_checksum),
        ),
        *((f"SHA-256 of {name}", tag("code", digest)) for name, digest in subject.checksums()),
    ]
    notes = listing(result.notes) if result.notes else None
    heading = tag("h3", "What was noticed when the map was made") if result.notes else None
    return Section("The data", join([facts(pairs), heading, notes]))


def _labels(result: Any) -> str:
    if result.labels is None:
        return "none"
    if measured_labels(result.labels) is not None:
        return f"{result.label_name}: measured"
    classes = sort_into_classes(result.labels)
    counts = np.bincount(classes.codes + 1, minlength=len(classes.names) + 1)
    told = [f"{name_of(name)} ({count:,})" for name, count in zip(classes.names, counts[1:], strict=True)]
    unknown = f"; {counts[0]:,} rows without one" if counts[0] else ""
    return f"{result.label_name}, {len(told):,} classes: {first_few(told, _NAMED)}{unknown}"


def _missing(result: Any) -> str:
    found = result.completion
    if found is None or not found.missing.any():
        return "none"
    return told_missing(found, result.feature_names, result.columns)


def method(subject: Subject) -> Section:
    """Say how the map was made: the choices of the method, each parameter, versions, threads, time and memory."""
    result = subject.map
    known: dict[str, Any] = getattr(result._estimator, "get_params", dict)()
    changed = result.parameters
    shown = {**known, **changed}
    rows = [
        [name, _value(value), "default" if name not in changed else "set"]
        for name, value in sorted(shown.items())
        if name not in ("callback", "verbose", "n_jobs")
    ]
    parameters = table(["parameter", "value", "default or set"], rows, "All parameters.", texts=(0, 1, 2))
    pairs: list[tuple[str, Any]] = [
        ("method", result.method if result.method != "given" else _GIVEN),
        ("seed", changed.get("random_state")),
        ("threads", "all usable" if result.n_jobs is None else result.n_jobs),
        ("versions", versions()),
    ]
    cost = _cost(result)
    return Section("The method", join([facts(pairs), parameters if rows else None, cost]))


def versions() -> str:
    """Return the versions of what computed the report."""
    import scipy

    return (
        f"gnomon {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    )


def _value(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _cost(result: Any) -> Any:
    """Return time and memory by stage; None if neither is known."""
    foresee = getattr(result._estimator, "foresee", None)
    expected = None if foresee is None else foresee(result.n_samples, result.n_features)
    stages = {} if expected is None else dict(expected.stages)
    names = list(dict.fromkeys([*result.timings, *stages]))
    if not names:
        return None
    rows = [
        [
            name,
            f"{result.timings[name]:.2f}" if name in result.timings else "-",
            in_bytes(stages[name]) if name in stages else "-",
        ]
        for name in names
    ]
    peak = "-" if expected is None else in_bytes(expected.n_bytes)
    rows.append(["in all", f"{sum(result.timings.values()):.2f}" if result.timings else "-", peak])
    caption = "Time measured, and the peak of memory beyond the table that the forecast expects."
    return table(["stage", "seconds", "expected memory"], rows, caption)
