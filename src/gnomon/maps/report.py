"""What a map shows, in words and in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._printed import harmless
from gnomon.data.columns import mixed_columns
from gnomon.data.dataset import first_few
from gnomon.data.labels import name_of, sort_into_classes
from gnomon.data.names import default_names
from gnomon.evaluation.words import NOTHING, verdict
from gnomon.explanations.contrast.result import NOTHING_APART, NOTHING_STRONGLY_APART
from gnomon.explanations.contrast.without_spread import without_spread
from gnomon.maps.cautions import of_neighbors, of_order, without_cautions
from gnomon.maps.confounded import told_of_confounded_labels
from gnomon.maps.depth import told_of_unlike_sums
from gnomon.maps.found import told_of_labels
from gnomon.maps.hubs import hubs_told, neighbor_lists
from gnomon.maps.together import directions_together, directions_told
from gnomon.maps.verdicts import islands_beside, verdict_lines
from gnomon.neighbors.straight import STRAIGHT, has_straight_rows

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["describe", "report_text"]

_TOP_FEATURES = 8
_TOP_OF_CLASS = 3
_MAX_CLASSES = 20
_STRETCH, _MOST_MEMBERS = 3, 8  # columns side by side that are told as one, and members of a group that are told
_MOST_MIXED = 5  # columns that are no numbers, told
_MOST_WEIGHTS = 8  # of features that are told
_SUSPECTS = 5  # rows named


def describe(result: Map) -> dict[str, Any]:
    """Return the report as plain numbers and text, ready for JSON."""
    points = result.point_scores()  # before the evaluation, which then looks at the same distances
    explanation, evaluation = result.explain(), result.evaluate()
    groups = result.feature_groups() if result.image_shape is None else None  # pictures are shown by pixel
    moving = explanation if groups is None else groups.explanation
    top = np.argsort(-moving.global_importance, kind="stable")[:_TOP_FEATURES]
    profiles = {
        name_of(label): profile.head(_TOP_OF_CLASS).to_dict()["features"]
        for label, profile in result.profiles(groups=groups).items()
    }
    suspects, (apart, islands) = result._doubts(_SUSPECTS), result._told_apart()
    return {
        "name": result.name,
        "n_samples": result.n_samples,
        "n_features": result.n_features,
        "method": result.method,
        "parameters": result.parameters,
        "caution": result.caution,
        "scale": None if result.scale is None else result.scale.name,
        **_weights(result),
        "representation": _representation(result),
        "seconds": {stage: round(seconds, 3) for stage, seconds in result.timings.items()},
        "neighbor_recall": None if result.graph is None else result.graph.recall,
        "neighbor_recall_error": None if result.graph is None else result.graph.recall_error,
        "verdict": [
            {"grade": one.grade, "text": one.text}
            for one in verdict(
                evaluation.scores(), evaluation.random_map, evaluation.n_neighbors, evaluation.group_distances
            )
        ],
        "evaluation": evaluation.to_dict(),
        "points": points.to_dict(),
        "intrinsic_dimension": result.intrinsic_dimension().to_dict(),
        "common_directions": directions_together(result),
        "neighbor_lists": neighbor_lists(result),
        "fit": explanation.describe_fit(),
        "median_local_r2": float(np.nanmedian(explanation.r2)) if explanation.mask.any() else None,
        "top_features": [
            {"feature": moving.feature_names[j], "importance": float(moving.global_importance[j])} for j in top
        ],
        **({"groups": groups.groups} if groups is not None and groups.groups else {}),
        "apart": None if apart is None else apart.to_dict(),
        "islands": None if islands is None else islands.to_dict(),
        "profiles": profiles,
        "clusters": _clusters(result),
        "suspects": None if suspects is None else suspects.to_dict(),
        "notes": list(result.notes),
    }


def report_text(result: Map, *, verdicts: bool = True, notes: bool = True) -> str:
    """Say in words what was mapped, how far to trust it and what sets its classes apart.

    With `verdicts`, what the data say of the gaps, sizes and distances that the map shows too; with `notes`, what was
    noticed when it was made.
    """
    facts = describe(result)
    judged = _verdict_section(result, verdicts)
    how = "at given positions" if facts["method"] == "given" else f"mapped by {facts['method']}"
    lines = [
        f"{facts['name']}: {facts['n_samples']:,} rows with {facts['n_features']:,} features, {how}"
        f"{_seconds(facts['seconds'])}",
        *filter(None, [result.caution, of_neighbors(result), of_order(result)]),
        *_scale_lines(result),
        *([] if result.representation is None else [f"Neighbours and scores are in {result.representation}."]),
        "",
        "How far to trust it",
        *(f"  {one['text']}" for one in facts["verdict"]),
        *_indent(replace(result.evaluate(), caution="").summary()),  # the notes say it once
        *_fidelity_lines(facts["median_local_r2"], facts["fit"]),
        "",
        "Point by point",
        *_indent(result.point_scores().summary()),
        *judged,
        "",
        "How many dimensions the data have",
        *_dimension_lines(result, facts["common_directions"]),
        f"  {hubs_told(facts['neighbor_lists'])}",
    ]
    if NOTHING not in [one["text"] for one in facts["verdict"]]:
        moving = ", ".join(str(row["feature"]) for row in facts["top_features"])
        lines += ["", "What moves points most, within neighbourhoods", f"  {moving}"]
    after_features = len(lines)
    are_judged = bool(judged) and has_straight_rows(result.metric)
    parted = [one.told(judged=are_judged) for one in result._told_apart() if one is not None]
    if parted:
        lines += ["", "What parts groups of points", *(f"  {told}" for told in parted)]
    if facts["profiles"]:
        lines += ["", f"What sets each {result.label_name} apart (effect size in standard deviations, AUC)"]
        lines += list(_class_lines(facts["profiles"], result))
        lines += _told_of_sums(result)
        named = [label for label in result._classes() if _is_named(facts["profiles"].get(name_of(label), []))]
        cautions = [told_of_labels(result), told_of_confounded_labels(result), result._told_of_units_of_labels(named)]
        lines += [f"  {told}" for told in cautions if told and named]
    found = result._clusters_shown()
    if found is not None:
        lines += ["", "Clusters of the data", *_indent(without_cautions(result, found).summary())]
        lines += [f"  {told}" for told in [islands_beside(result, found) if verdicts else ""] if told]
    elif told := result._told_beside_labels():
        lines += ["", "Clusters of the data", f"  {told}"]
    if facts["suspects"] is not None:
        lines += ["", f"Rows whose neighbours in the data disagree with their {result.label_name}"]
        lines.append(f"  {_suspect_line(facts['suspects'])}")
    if notes and facts["notes"]:
        lines += ["", "Notes", *(f"  {note}" for note in facts["notes"])]
    lines[after_features:after_features] = _group_lines(
        facts.get("groups", {}), result.feature_names or default_names(facts["n_features"]), "\n".join(lines)
    )
    return harmless("\n".join(lines))


def _group_lines(groups: dict[str, list[str]], features: Sequence[str], text: str) -> list[str]:
    """Say which features the groups hold that the text names, and how many more groups there are."""
    named = [name for name in groups if name in text]
    lines = [f"  {name}: {_stretches(groups[name], features)}" for name in named]
    left = len(groups) - len(named)
    more = f"  {left} more {'group' if left == 1 else 'groups'} of features that change alike"
    return [*lines, more] if left else lines


def _verdict_section(result: Map, wanted: bool) -> list[str]:
    lines = verdict_lines(result) if wanted else []
    if wanted and not has_straight_rows(result.metric):
        known = f"{', '.join(STRAIGHT[:-1])} or {STRAIGHT[-1]}"
        lines = [f"not judged: gaps, sizes and distances are in {known} distances, the map in {result.metric}"]
    return ["", "What it shows, judged in the data", *(f"  {line}" for line in lines)] if lines else []


def _told_of_sums(result: Map) -> list[str]:
    """Return a line of the first label whose rows were read unlike the others, of a map that compares shares."""
    if result.metric != "hellinger" or result.labels is None:
        return []
    classes = sort_into_classes(result.labels)
    for code, name in enumerate(classes.names):
        inside = np.asarray(classes.codes == code)
        rest = np.asarray(classes.labelled) & ~inside
        if rest.any() and (told := told_of_unlike_sums(result.X, inside, rest)):
            return [f"  {name}: {told}"]
    return []


def _fidelity_lines(r2: float | None, fit: str) -> list[str]:
    if r2 is None:
        return ["  no features explain where points lie"]
    return [f"  {100 * r2:.0f} % of the local displacements follow the features named below (median)", f"  {fit}"]


def _representation(result: Map) -> dict[str, Any] | None:
    found = result.representation
    return None if found is None else {"name": found.name, "n_coordinates": found.n_coordinates}


def _clusters(result: Map) -> dict[str, Any] | None:
    """Return the clusters of data without labels, without what there is of every row."""
    found = result._clusters_shown()
    if found is None:
        return None
    document = found.to_dict()
    levels = [{name: one[name] for name in one if name != "labels"} for one in document["levels"]]
    return {**{name: document[name] for name in document if name not in ("nearest", "margin")}, "levels": levels}


def _weights(result: Map) -> dict[str, Any]:
    """Return the weights of features other than 1, if there are any."""
    weight = None if result.scale is None else result.scale.weight
    if weight is None:
        return {}
    return {"feature_weight": {result.feature_names[j]: float(weight[j]) for j in np.flatnonzero(weight != 1.0)}}


def _scale_lines(result: Map) -> list[str]:
    if result._has_other_features:
        return ["These features are others than those mapped; they are standardised to explain the map."]
    scale = result.scale
    how = {"gower": "divided by their ranges, for Gower's coefficient", "blocks": "standardised block by block"}
    lines = []
    if scale is not None and scale.name != "none":
        mixed = mixed_columns(result.columns) if scale.name == "standard" else []
        why = f", as not all are numbers: {first_few(map(repr, mixed), _MOST_MIXED)}" if mixed else ""
        lines = [f"Columns are {how.get(scale.name, f'standardised ({scale.name})')}{why}."]
    told = [f"{name} {weight:g}" for name, weight in _weights(result).get("feature_weight", {}).items()]
    if told:
        lines.append(f"Features count in distances by weights: {first_few(told, _MOST_WEIGHTS)}.")
    return lines


def _dimension_lines(result: Map, together: int | None) -> list[str]:
    dimension, shown = result.intrinsic_dimension(), int(result.embedding.shape[1])
    lines = _indent(without_cautions(result, dimension).summary())
    if dimension.n_components > shown:
        enough = "" if dimension.is_open else f"; n_components={dimension.n_components} could"
        kept = "cannot" if dimension.is_above(shown) else "may not"
        lines.append(
            f"  A map of {shown} dimensions {kept} keep all of this{enough}. Trust neighbourhoods more than distances."
        )
    told = directions_told(together, dimension.value) if dimension.n_common is None else ""
    return [*lines, f"  {told}"] if told else lines


def _stretches(members: Iterable[str], features: Sequence[str]) -> str:
    """Return members of a group in the order of the columns, those side by side as the first and last of them."""
    kept = {*members}
    places = np.array([j for j, name in enumerate(features) if name in kept], dtype=np.intp)
    told: list[str] = []
    n_left = len(places)
    for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        named = [features[j] for j in part]
        joined = len(part) >= _STRETCH
        for one in [f"{named[0]} to {named[-1]} ({len(part):,})"] if joined else named:
            if len(told) < _MOST_MEMBERS:
                told.append(one)
                n_left -= len(part) if joined else 1
    return ", ".join(told) + (f" and {n_left:,} more" if n_left else "")


def _seconds(timings: dict[str, float]) -> str:
    if not timings:
        return ""
    parts = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in timings.items())
    return f" in {sum(timings.values()):.1f} s ({parts})"


def _indent(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _suspect_line(suspects: dict[str, Any]) -> str:
    named = [
        f"{row.get('name', 'row ' + str(row['row']))} ({row['label']}, neighbours say {row['vote']})"
        for row in suspects["rows"]
    ]
    more = suspects["n_suspects"] - len(named)
    told = f"{suspects['n_suspects']:,} of {suspects['n_labelled']:,}"
    facts = []
    if suspects["n_by_chance"] is not None:
        facts.append(f"of labels given at random about {suspects['n_by_chance']:,} would")
    if suspects["n_wrong_at_most"] is not None and suspects["n_wrong_at_most"] < suspects["n_suspects"]:
        facts.append(f"if wrong labels come at random, at most about {suspects['n_wrong_at_most']:,} are wrong")
    if suspects["n_alone"]:
        whose = "its" if suspects["n_alone"] == 1 else "their"
        facts.append(f"{suspects['n_alone']:,} alone with {whose} label, not judged")
    told += f" ({'; '.join(facts)})" if facts else ""
    told += f". {suspects['weakness']} They are" if suspects["weakness"] else ""
    return f"{told}: {', '.join(named)}{f' and {more:,} more' if more else ''}" if named else told


def _named(rows: list[dict[str, Any]], which: str) -> str:
    return ", ".join(f"{row['feature']} {_effect(row)} ({row['auc']:.2f})" for row in rows if row[which])


def _effect(row: dict[str, Any]) -> str:
    effect = row["effect_size"]
    return f"{effect:+.1f}" if np.isfinite(effect) else without_spread(effect, row["mean_selected"], row["mean_rest"])


def _is_named(rows: list[dict[str, Any]]) -> bool:
    """Return whether the profile of a class names a feature beyond chance."""
    return any(row["beyond_chance"] for row in rows)


def _class_lines(profiles: dict[str, list[dict[str, Any]]], result: Map) -> list[str]:
    """Say what sets each class apart from all others together, or else what tells it from each, as in the middle."""
    width = max(len(label) for label in profiles)
    lines = []
    bare = [label for label, rows in profiles.items() if not any(row["beyond_chance"] for row in rows)]
    each = {name_of(label): one.text for label, one in result.captions().items() if len(one)} if bare else {}
    for label, rows in list(profiles.items())[:_MAX_CLASSES]:
        told = _named(rows, "sets_apart")
        weak = _named(rows, "beyond_chance")
        told = told or (f"{NOTHING_STRONGLY_APART}; beyond chance: {weak}" if weak else NOTHING_APART)
        if label in bare and label in each:
            told = f"{each[label]}, against each other; nothing against all others together"
        lines.append(f"  {label:>{width}}  {told}")
    if len(profiles) > _MAX_CLASSES:
        lines.append(f"  and {len(profiles) - _MAX_CLASSES} more")
    return lines
