"""The studies of explanations run from end to end on small data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies import adversarial_digits, density_kept, marker_genes, saliency_maps

PNG = b"\x89PNG"


@pytest.mark.slow
def test_the_pixels_that_move_a_turning_object_are_those_that_change(tmp_path, capsys):
    assert saliency_maps.main(["--out", str(tmp_path), "--no-digits", "--views", "60"]) == 0
    report = json.loads((tmp_path / "saliency_maps.json").read_text())
    objects = list(report["objects"].values())
    for other in ("15 averaged", "15 alone", "frames"):
        assert all(one["like_change"] > one[other] for one in objects)
    assert np.median([one["like_change"] for one in objects]) > 0.7
    assert (tmp_path / "saliency_maps.png").read_bytes().startswith(PNG)
    assert "like_brightness" in capsys.readouterr().out


def test_views_of_an_object_change_little_by_little_and_come_round():
    X, kinds, change = saliency_maps.draw_objects(24, seed=1)
    assert X.shape == change.shape == (120, 1024)
    assert 0 <= X.min() < X.max() <= 1
    for kind in range(5):
        views = X[kinds == kind]
        steps = np.linalg.norm(np.roll(views, -1, axis=0) - views, axis=1)
        assert steps.max() < 0.9 * np.linalg.norm(views - views.mean(axis=0), axis=1).max() * 2
        assert np.abs(change[kinds == kind]).max() > 0


def test_density_kept_from_end_to_end(tmp_path):
    assert density_kept.main(["--out", str(tmp_path), "--sets", "digits", "--rows", "150"]) == 0
    runs = json.loads((tmp_path / "density_kept.json").read_text())["sets"]["digits"]
    assert list(runs) == ["UMAP", "DensMAP", "FeatMAP"]
    assert runs["DensMAP"]["radii_15"] > runs["UMAP"]["radii_15"]
    assert (tmp_path / "density_kept.png").read_bytes().startswith(PNG)


def test_fooling_pictures_are_placed_and_compared_with_both_classes():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 80)
    X = np.zeros((240, 64), np.float32)
    X[np.arange(240), labels * 20] = 8
    X += rng.normal(size=X.shape).astype(np.float32)
    source, target = np.repeat([0, 1], 10), np.repeat([1, 2], 10)
    fooled = (X[np.flatnonzero(np.isin(labels, [0, 1]))][::8] + 0.3).astype(np.float32)
    facts = {"labels": labels, "source": source, "target": target, "seed": 0, "jobs": 1}
    study = adversarial_digits._study_map(X, fooled, X, fooled, facts)
    assert study["figures"]["neighbors_of_source"] > 0.9
    assert study["figures"]["saliency_like_source"] > study["figures"]["saliency_like_target"]
    assert set(study["pairs"]) == {(0, 1), (1, 2)}


def test_ranks_count_from_the_largest():
    assert marker_genes._ranks(np.array([0.1, 0.9, 0.5]), np.array([1, 0])).tolist() == [1, 3]
    for groups in marker_genes.MARKERS.values():
        assert all(members and markers for members, markers in groups.values())
