"""The rooms that are mutated, and the tests that answer for each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOMS", "ROOT", "Room"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Room:
    """Source files below src/gnomon, and test files or folders below tests; both may be patterns."""

    source: tuple[str, ...]
    tests: tuple[str, ...]

    def source_files(self) -> list[str]:
        """Paths below src, in order."""
        found = {path for pattern in self.source for path in (ROOT / "src" / "gnomon").glob(pattern)}
        return sorted(path.relative_to(ROOT / "src").as_posix() for path in found if path.suffix == ".py")

    def test_files(self) -> list[str]:
        """Paths below the root, in order."""
        found: set[Path] = set()
        for pattern in self.tests:
            for path in (ROOT / "tests").glob(pattern):
                found.update(path.rglob("test_*.py") if path.is_dir() else [path])
        return sorted(path.relative_to(ROOT).as_posix() for path in found)


_CHECKS = ("arrays", "blocks", "feature_weights", "labels", "names", "representation", "rows", "sparse", "table")

ROOMS = {
    "validation": Room(
        (
            "_validation.py",
            "_entrance.py",
            *(f"data/{name}.py" for name in (*_CHECKS, "target", "tensors", "weights")),
        ),
        (
            "test_validation.py",
            "test_entrance.py",
            "data/test_arrays.py",
            "data/test_check_table.py",
            "data/test_cells.py",
            "data/test_blocks.py",
            "data/test_feature_weights.py",
            "data/test_labels.py",
            "data/test_names.py",
            "data/test_other_containers.py",
            "data/test_rows.py",
            "data/test_sparse.py",
            "data/test_tensors.py",
            "data/test_weights.py",
            "faults/test_inputs.py",
            "faults/test_parameters.py",
            "methods/test_sample_weight.py",
            "methods/test_target.py",
            "maps/test_map_blocks.py",
            "maps/test_map_representation.py",
            "maps/test_map_weights.py",
        ),
    ),
    "persistence": Room(
        ("maps/file.py", "storage/*.py", "_archive.py", "_files.py"),
        (
            "storage",
            "test_archive.py",
            "test_files.py",
            "maps/test_damaged_files.py",
            "maps/test_file_parts.py",
            "maps/test_map.py",
            "maps/test_map_blocks.py",
            "maps/test_map_labels.py",
            "maps/test_map_on_surface.py",
            "maps/test_map_representation.py",
            "maps/test_map_scale.py",
            "maps/test_map_target.py",
            "maps/test_map_weights.py",
            "maps/test_missing.py",
            "maps/test_typed_parameters.py",
            "methods/test_saved_estimators.py",
            "methods/test_damaged_estimators.py",
            "extension/test_saved_atlas.py",
            "cli/test_saved_map_commands.py",
        ),
    ),
    "clusters": Room(("clusters/*.py",), ("clusters", "maps/test_islands_beside_clusters.py")),
    "data": Room(
        ("data/**/*.py",),
        (
            "data",
            "test_entrance.py",
            "test_validation.py",
            "faults/test_inputs.py",
            "faults/test_values.py",
            "maps/test_landmarks_of_cells.py",
            "maps/test_map_cells.py",
            "maps/test_map_depth.py",
            "maps/test_map_of_angles.py",
            "maps/test_missing.py",
            "maps/test_stray_texts.py",
            "methods/test_sample_weight.py",
            "methods/test_target.py",
            "scale/test_stored_scaling.py",
        ),
    ),
    "maps": Room(
        ("maps/**/*.py",),
        (
            "maps",
            "data/test_columns_of_new_rows.py",
            "data/test_times_of_rows.py",
            "evaluation/test_clumps.py",
            "evaluation/test_map_verdicts.py",
            "explanations/test_outliers.py",
            "explanations/test_repeated_rows.py",
            "explanations/test_suspects.py",
            "geometry/test_common_directions.py",
            "twins/test_map_alone.py",
            "twins/test_proves.py",
        ),
    ),
    "evaluation": Room(("evaluation/**/*.py",), ("evaluation", "test_docstrings.py")),
    "explanations": Room(("explanations/**/*.py",), ("explanations", "test_docstrings.py")),
    "comparison": Room(("comparison/*.py",), ("comparison", "cli/test_recommend_command.py", "test_docstrings.py")),
    "extension": Room(
        ("extension/**/*.py",),
        ("extension", "maps/test_map_function.py", "neighbors/test_graph.py", "test_docstrings.py"),
    ),
    "drift": Room(
        ("extension/drift/*.py",),
        (
            "extension/test_blank_rows.py",
            "extension/test_drift.py",
            "extension/test_drift_judgement.py",
            "extension/test_drift_of_series.py",
            "extension/test_new_columns.py",
            "extension/test_unseen.py",
        ),
    ),
    "questions": Room(
        ("maps/named_rows.py", "maps/*questions.py"),
        (
            "explanations/test_listed_repeats.py",
            "explanations/test_outliers.py",
            "explanations/test_repeated_rows.py",
            "explanations/test_suspects.py",
            "maps/test_islands_beside_clusters.py",
            "maps/test_map_alike.py",
            "maps/test_map_cautions.py",
            "maps/test_map_continuity.py",
            "maps/test_map_of_angles.py",
            "maps/test_map_questions.py",
            "maps/test_map_words.py",
        ),
    ),
}
"""A room's tests are those that answer for it; what others happen to run does not count."""
