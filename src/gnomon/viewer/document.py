"""From arrays to the payload of a page: what is shown, in which columns, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._palette import CYCLIC, DIVERGING_MARKS, N_DISTINCT, OTHER, RAMP, STANDS_OUT
from gnomon._validation import message
from gnomon.data.labels import MISSING, name_of
from gnomon.data.names import default_names
from gnomon.evaluation.point_columns import POINT_SCORES
from gnomon.viewer.budget import Plan, fit_payload, most_points, usual_budget
from gnomon.viewer.columns import (
    Column,
    Facts,
    encode_column,
    evaluation_facts,
    explanation_facts,
    local_facts,
    stratified_rows,
)
from gnomon.viewer.content import PageContent, encode_frames, told_of_ungrouped
from gnomon.viewer.content import Sequence as EmbeddingSequence
from gnomon.viewer.density import count_points, positions_of_all
from gnomon.viewer.levels import PageLevel
from gnomon.viewer.payload import Payload
from gnomon.viewer.rounding import POSITION_LEVELS
from gnomon.viewer.side_file import identity_of
from gnomon.viewer.values import (
    MOST_FEATURES,
    add_images,
    add_values,
    as_table,
    check_images,
    measure_images,
    measure_values,
    pictures_of,
)

__all__ = ["MAX_POINTS", "Document"]

MAX_POINTS = 1_000_000
"""More points than this are sampled, each class with its share, and the page says so."""


class Document:
    """Collects what a page shows; every `add_` method checks its arguments and fills columns of the payload.

    Attributes
    ----------
    payload : Payload
    embedding : ndarray of shape (n_points, 2 or 3), float32
        The rows that are shown.
    notes : list of str
        What a reader must know about things left out.
    """

    def __init__(
        self,
        embedding: Any,
        labels: Any,
        label_name: str,
        unlabelled: str = MISSING,
        *,
        most: int | None = None,
        beside: str = "",
        all_positions: Any = None,
    ) -> None:
        Y = np.asarray(embedding)
        if Y.ndim != 2 or Y.shape[1] not in (2, 3) or Y.dtype.kind not in "iuf":
            remedy = "A page shows 2 or 3 components: fit with n_components=2."
            raise ValueError(
                message(f"embedding of shape {Y.shape}", "numbers of shape (n, 2) or (n, 3)", remedy=remedy)
            )
        self.n_samples, self.n_components = Y.shape
        self.payload = Payload()
        self.notes: list[str] = []
        self._feature_names: list[str] = []
        self._beside = beside
        self._local: Facts | None = None  # what goes into the file beside
        label = None
        if labels is not None:
            label = encode_column(
                labels,
                self.n_samples,
                name="labels",
                as_label=True,
                missing_name=unlabelled,
                title=label_name or "label",
            )
        self.rows: npt.NDArray[np.int64] | None = None
        limit = MAX_POINTS if most is None else min(MAX_POINTS, most)
        behind = None if all_positions is None else positions_of_all(all_positions, Y)
        self.n_all = self.n_samples if behind is None else len(behind)
        if self.n_samples > limit:
            self._draw_sample(None if label is None else label.codes, limit)
        if self.n_all > min(self.n_samples, limit):
            self._add_density(Y if behind is None else behind, uniform=behind is not None)
        self.embedding = self._shown(Y).astype(np.float32)
        self.payload.header |= {"n": len(self.embedding), "d": self.n_components, "ramp": list(RAMP), "other": OTHER}
        self.payload.header |= {"diverging": list(DIVERGING_MARKS), "standsOut": list(STANDS_OUT)}
        self.payload.header["cyclic"] = list(CYCLIC)
        self.payload.header["pointScores"] = {
            one.name: {
                "title": one.title,
                "says": one.says,
                "low": one.stands_out == "low",
                "center": one.center,
                "flags": one.flags,
            }
            for one in POINT_SCORES.values()
        }
        self.payload.add("core", "embedding", self.embedding)
        self.colors = np.full((len(self.embedding), 3), 110, dtype=np.uint8)
        self._classes: npt.NDArray[Any] | None = None
        if label is not None:
            self._add_label(label, label_name or "label")

    def _draw_sample(self, codes: npt.NDArray[Any] | None, limit: int) -> None:
        """Show some of the points."""
        self.rows = stratified_rows(codes, self.n_samples, limit)
        self.payload.add("core", "rows", self.rows.astype(np.uint32))

    def _add_density(self, Y: npt.NDArray[Any], *, uniform: bool) -> None:
        """Show behind the points how many of all lie where, and say how many there are."""
        shown = self.n_samples if self.rows is None else len(self.rows)
        said = "drawn uniformly." if uniform else "drawn at random with every class in proportion."
        grid = count_points(Y)
        if grid is not None:
            self.payload.add("core", "density", grid.counts)
            self.payload.header["density"] = {"low": list(grid.low), "high": list(grid.high)}
            said = f"{said[:-1]}; the shade behind them counts all."
        self.notes.append(f"{shown:,} of {len(Y):,} points are shown, {said}")

    @classmethod
    def of(
        cls,
        content: PageContent,
        sequence: EmbeddingSequence | None,
        *,
        byte_budget: int | None = None,
        side_file: str = "",
    ) -> Self:
        """Collect all that a page shows, its title apart; `side_file` names the file for what it leaves out."""
        explanation, evaluation = content.explanation, content.evaluation
        if sequence is not None:
            of_main = sequence.facts(sequence.main)
            explanation = of_main[0] if explanation is None else explanation
            evaluation = of_main[1] if evaluation is None else evaluation
        unlabelled = {level.column: level.unlabelled for level in content.levels}
        of_label = unlabelled.get(content.label_name or "label", MISSING)
        n_samples = len(np.asarray(content.embedding))
        budget = usual_budget(n_samples) if byte_budget is None else byte_budget
        n_columns = len(content.metadata or ()) + len(content.points or ()) + (content.labels is not None)
        most = most_points(budget, n_columns=n_columns, explained=explanation is not None)
        made = cls(
            content.embedding,
            content.labels,
            content.label_name,
            of_label,
            most=most,
            beside=side_file,
            all_positions=content.all_positions,
        )
        made.add_metadata(content.metadata, unlabelled)
        made.add_levels(content.levels)
        made.add_column_notes(content.column_notes)
        made.add_point_names(content.point_names)
        made.name_features(as_table(content.X), content.feature_names, content.image_shape)
        made.add_explanation(explanation, content.groups)
        if content.groups is None and explanation is not None and content.image_shape is None:
            made.notes += told_of_ungrouped(len(made._feature_names))
        made.add_evaluation(evaluation, content.points)
        made.add_suspects(content.suspects)
        made.add_sequence(sequence, content.embedding)
        made.add_profiles(content.profiles)
        if side_file:
            made.payload.header["sideFile"] = {"name": side_file, "id": made.identity}
        made._fill(content, explanation, budget)
        made.payload.header |= {
            "captions": {str(label): str(text) for label, text in (content.captions or {}).items()},
            "cautions": {str(label): str(text) for label, text in (content.class_cautions or {}).items()},
            "method": content.method,
            "samples": made.n_samples,
            "info": [[str(name), str(value)] for name, value in (content.info or {}).items()],
            "notes": made.notes,
            "caution": content.caution,
            "doubts": content.doubts,
            "apart": content.apart,
            "comparesNeighbors": content.compares_neighbors,
        }
        if content.alone:
            made.payload.header["alone"] = dict(content.alone)
        if content.verdicts:
            made.payload.header["verdicts"] = [dict(one) for one in content.verdicts]
        return made

    def _fill(self, content: PageContent, explanation: Any, budget: int) -> None:
        """Add values and pictures, as much as the budget allows, and say what was left out."""
        n, shape = len(self.embedding), content.image_shape
        images = check_images(content.images, self.n_samples, shape)
        table = as_table(content.X)
        low, high = (0.0, 1.0) if table is None else (float(table.min()), float(table.max()))
        if shape is not None and table is not None:
            self.payload.header["pixels"] = {"shape": [*shape, 1][:3], "low": low, "high": high}
        table, images = (None if given is None else self._shown(given) for given in (table, images))
        columns = self.payload.header.get("columns", ())
        plan = fit_payload(
            self.payload,
            n,
            budget,
            values=measure_values(table, pixels=shape is not None),
            pictures=measure_images(images),
            exact={entry["key"] for entry in columns if entry.get("dates")},
        )
        if plan.rows < n and (table is not None or images is not None):
            chosen = stratified_rows(self._classes, n, plan.rows)
            plan = replace(plan, rows=len(chosen))
            self.payload.add("core", "valued", chosen.astype(np.uint32))
            table, images = (None if given is None else given[chosen] for given in (table, images))
        if table is not None:
            importance = None if explanation is None else np.asarray(explanation.global_importance)
            self.notes += add_values(
                self.payload, table, importance=importance, plan=plan, most=MOST_FEATURES if shape is None else None
            )
            if shape is not None and images is None and self.payload.header["features"]["kept"] < table.shape[1]:
                images = pictures_of(table, shape, low, high)
        if images is not None:
            self.notes += add_images(self.payload, images)
        self._tell(plan, budget)

    def _tell(self, plan: Plan, budget: int) -> None:
        """Say what was rounded and left out."""
        if plan.exact:
            return
        n, told = len(self.embedding), []
        if "valued" in self.payload.groups["core"]:
            told.append(f"The values of {plan.rows:,} of {n:,} points are in this page.")
        if not plan.neighbors:
            told.append("The neighbours of points in the data are not in it.")
        elif not plan.fits:
            told.append("The local fits of points are not in it.")
        if "sideFile" in self.payload.header and told:
            told.append(f"Open {self.payload.header['sideFile']['name']} for the rest.")
        told.append(
            f"To keep the page below {budget / 1e6:.0f} MB, positions are rounded to 1/{POSITION_LEVELS:,} of the "
            "width and height of the map, scores of points and what moves them to 256 levels."
        )
        self.notes.append(" ".join(told))

    @property
    def identity(self) -> str:
        """What the page and the file beside it share."""
        return identity_of(self.embedding, self._feature_names)

    def side_payload(self, content: PageContent) -> Payload:
        """Return what goes into the file beside the page: the values of all points shown, and all local fits."""
        made = Payload({"id": self.identity})
        add_values(made, self._shown(as_table(content.X)))
        if self._local is not None:
            made.header |= self._local.header
            for name, column in self._local.columns.items():
                made.add("local", name, column)
        return made

    def _shown(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if self.rows is None else values[self.rows]

    def _add_label(self, label: Column, name: str) -> None:
        if label.codes is None:
            self._add_column("label", name, label)
            return
        self._classes = codes = self._shown(label.codes)
        counts = np.bincount(codes, minlength=len(label.categories))
        if label.missing:
            counts[-1] = -1  # comes last and is grey
        palette = label.colors
        # Where colours come again the largest classes get the ones that differ most.
        crowded = counts.size - label.missing > N_DISTINCT
        rank = np.argsort(-counts, kind="stable") if crowded else np.arange(counts.size)
        hexes = np.empty(counts.size, dtype=object)
        hexes[rank] = palette
        self._add_column("label", name, label, colors=hexes.tolist())
        rgb = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in hexes], dtype=np.uint8)
        self.colors = rgb[codes]

    def _add_column(self, role: str, name: str, column: Column, colors: list[str] | None = None) -> None:
        columns = self.payload.header.setdefault("columns", [])
        key = f"column{len(columns)}"
        entry: dict[str, Any] = {"name": name, "role": role, "key": key}
        if column.codes is not None:
            entry["categories"] = column.categories
            entry["missing"] = column.missing
            entry["colors"] = colors or column.colors
            self.payload.add("core", key, self._shown(column.codes))
        elif column.numbers is not None:
            entry["dates"] = column.dates
            if column.circle is not None:
                entry["circle"] = [column.circle.begin, column.circle.period]
            self.payload.add("core", key, self._shown(column.numbers))
        columns.append(entry)

    def add_metadata(self, metadata: Mapping[str, Any] | None, unlabelled: Mapping[str, str] | None = None) -> None:
        """Columns shown on hover, searched and coloured by; `unlabelled` names the rows without a value of some."""
        for name, values in (metadata or {}).items():
            missing_name = (unlabelled or {}).get(name, MISSING)
            column = encode_column(
                values, self.n_samples, name=f"metadata[{name!r}]", missing_name=missing_name, title=str(name)
            )
            self._add_column("metadata", str(name), column)

    def add_levels(self, levels: Sequence[PageLevel]) -> None:
        """Which columns hold nested groups, the coarsest first, with captions and parents of the groups."""
        columns = {one["name"]: one for one in reversed(self.payload.header.get("columns", []))}  # labels come first
        for level in levels:
            if "categories" not in columns.get(level.column, {}):
                rule = "the name of the labels or of a column of the metadata that holds groups"
                raise ValueError(message(f"levels with column={level.column!r}", rule))
        if levels:
            self.payload.header["levels"] = [
                {
                    "key": columns[level.column]["key"],
                    "captions": {str(name): str(text) for name, text in level.captions.items()},
                    "parents": {str(name): str(holder) for name, holder in level.parents.items()},
                    "found": level.found,
                }
                for level in levels
            ]

    def add_column_notes(self, notes: Mapping[str, str] | None) -> None:
        """Say below the legend of columns what they tell, by their names; of two of a name the first, the labels."""
        columns = {one["name"]: one for one in reversed(self.payload.header.get("columns", []))}
        for name, text in (notes or {}).items():
            if name not in columns:
                raise ValueError(message(f"column_notes with {name!r}", "the name of the labels or of a column"))
            columns[name]["says"] = str(text)

    def add_pictures(self, images: Any) -> None:
        """Pictures of all points that are shown."""
        pictures = check_images(images, self.n_samples, None)
        if pictures is not None:
            self.notes += add_images(self.payload, self._shown(pictures))

    def add_plane(self, name: str, positions: npt.NDArray[Any]) -> None:
        """Positions of all points in one of several maps."""
        self.payload.add("core", name, self._shown(positions).astype(np.float32))

    def add_point_names(self, names: Sequence[object] | None) -> None:
        """One name a point."""
        if names is None:
            return
        if len(names) != self.n_samples:
            raise ValueError(message(f"{len(names)} point_names", f"{self.n_samples}", fact="one for each row"))
        rows = range(self.n_samples) if self.rows is None else self.rows
        self.payload.header["pointNames"] = [str(names[i]) for i in rows]

    def name_features(self, X: Any, names: Sequence[object] | None, shape: tuple[int, ...] | None) -> None:
        """Check a table and the names of its columns."""
        if X is None and names is None:
            return
        n_features = X.shape[1] if X is not None else len(names or ())
        if X is not None and X.shape[0] != self.n_samples:
            raise ValueError(message(f"X with {X.shape[0]:,} rows", f"of {self.n_samples:,} rows"))
        if names is not None and len(names) != n_features:
            raise ValueError(message(f"{len(names)} feature_names", f"{n_features}", fact="columns of X"))
        if shape is not None and int(np.prod(shape)) != n_features:
            raise ValueError(message(f"image_shape={shape}", f"{n_features} pixels in all", fact="columns of X"))
        self._feature_names = [str(name) for name in names] if names is not None else default_names(n_features, shape)
        self.payload.header["features"] = {"names": self._feature_names}

    def add_explanation(self, explanation: Any, groups: Any = None) -> None:
        """Per point: fidelity, distortion ellipse, and the features, or groups of them, that move it most."""
        if explanation is not None:
            self._name_features(explanation)
            self._add_facts(self._explanation_facts(explanation, "explanation", groups))
            local = local_facts(explanation, self.n_samples) if self.rows is None else None
            self._local = local if self._beside else None
            if local is not None:
                self.payload.header |= local.header
                for name, column in local.columns.items():
                    self.payload.add("local", name, column)

    def add_evaluation(self, evaluation: Any, points: Mapping[str, Any] | None = None) -> None:
        """Scores of the whole map and diagnostics of each point."""
        if evaluation is not None:
            facts = evaluation_facts(evaluation, self.n_samples, self._shown, name="evaluation", points=points)
            self._add_facts(facts)

    def add_suspects(self, suspects: Any) -> None:
        """Rows whose neighbours disagree with their label: a score for each row, and a list of the most doubtful."""
        if suspects is None:
            return
        self.payload.add("core", "doubt", self._shown(_scores_of(suspects, self.n_samples)))
        shown = suspects.rows if self.rows is None else np.searchsorted(self.rows, suspects.rows)
        there = np.ones(len(shown), bool) if self.rows is None else np.isin(suspects.rows, self.rows)
        listed = zip(shown.tolist(), suspects.labels, suspects.votes, suspects.share.tolist(), strict=True)
        self.payload.header["suspects"] = {
            "n": suspects.n_suspects,
            "neighbors": suspects.n_neighbors,
            "alone": suspects.n_alone,
            "chance": getattr(suspects, "n_by_chance", None),
            "rows": [list(entry) for entry, one in zip(listed, there, strict=True) if one],
        }

    def _add_facts(self, facts: Facts) -> None:
        self.payload.header |= facts.header
        for name, column in facts.columns.items():
            self.payload.add("core", name, column)

    def _explanation_facts(self, explanation: Any, name: str, groups: Any = None) -> Facts:
        shape = (self.n_samples, self.n_components)
        return explanation_facts(explanation, shape, self._shown, name=name, groups=groups)

    def _name_features(self, explanation: Any) -> None:
        if not self._feature_names:
            names = getattr(explanation, "feature_names", None)
            n_features = len(np.asarray(explanation.global_importance))
            self._feature_names = [str(f) for f in names] if names is not None else default_names(n_features, None)
            self.payload.header["features"] = {"names": self._feature_names}

    def add_sequence(self, sequence: EmbeddingSequence | None, embedding: Any) -> None:
        """Positions of the points along a parameter, and what is known about each embedding."""
        if sequence is None:
            return
        self._check_main(sequence, np.asarray(embedding))
        codes = encode_frames(self._shown(one) for one in sequence.embeddings)
        self.payload.add("sequence", "planes", codes.planes)
        self.payload.add("sequence", "low", codes.low)
        self.payload.add("sequence", "step", codes.step)
        facts = [self._add_frame_facts(sequence, k) for k in range(len(sequence.labels))]
        self.payload.header["sequence"] = {
            "name": str(sequence.name),
            "labels": list(sequence.labels),
            "main": sequence.main,
            "facts": facts,
        }

    def _check_main(self, sequence: EmbeddingSequence, embedding: npt.NDArray[Any]) -> None:
        main = sequence.embeddings[sequence.main]
        if main.shape != embedding.shape:
            raise ValueError(message(f"sequence of embeddings of shape {main.shape}", f"of shape {embedding.shape}"))
        known = embedding[np.isfinite(embedding)]
        reach = float(known.max() - known.min()) if known.size else 0.0
        if not np.allclose(main, embedding, rtol=0.0, atol=1e-4 * reach, equal_nan=True):
            raise ValueError(
                message(
                    f"sequence.embeddings[{sequence.main}]",
                    "the embedding itself",
                    fact="its explanation and evaluation belong to it, in its orientation",
                    remedy=f"Pass align(embeddings, reference={sequence.main}), which leaves it as it is.",
                )
            )

    def _add_frame_facts(self, sequence: EmbeddingSequence, k: int) -> dict[str, Any] | None:
        """Facts of an embedding other than the main one, in a group of their own; None if there are none."""
        explanation, evaluation = sequence.facts(k)
        if k == sequence.main or (explanation is None and evaluation is None):
            return None
        header: dict[str, Any] = {}
        columns: dict[str, npt.NDArray[Any]] = {}
        if explanation is not None:
            self._name_features(explanation)
            facts = self._explanation_facts(explanation, f"sequence.explanations[{k}]")
            header |= facts.header
            columns |= facts.columns
        if evaluation is not None:
            facts = evaluation_facts(evaluation, self.n_samples, self._shown, name=f"sequence.evaluations[{k}]")
            header |= facts.header
            columns |= facts.columns
        for name, column in columns.items():
            self.payload.add(f"frame{k}", name, column)
        return header

    def add_profiles(self, profiles: Mapping[Any, Sequence[tuple[Any, ...]]] | None) -> None:
        """Add what sets each class apart.

        Rows of feature name or number, effect size and AUC, then whether it does and whether it differs beyond chance.
        """
        if profiles:
            names = self._feature_names
            self.payload.header["profiles"] = {
                name_of(label): [
                    [names[f] if isinstance(f, (int, np.integer)) else str(f), *map(_number, (effect, auc)), *apart]
                    for f, effect, auc, *apart in rows
                ]
                for label, rows in profiles.items()
            }


def _scores_of(suspects: Any, n_samples: int) -> npt.NDArray[np.float32]:
    scores = np.asarray(suspects.scores, dtype=np.float32)
    if scores.shape != (n_samples,):
        raise ValueError(message(f"suspects.scores of shape {scores.shape}", f"of shape ({n_samples},)"))
    return scores


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
