"""Studies that draw again what lectures and papers show: faces, a rolled sheet, few entries, groups, photographs."""

import json
from pathlib import Path

import numpy as np
import pytest
import studies.__main__ as every
from studies.rendered_faces import render_faces
from studies.rolled_sheet import disparity, roll

from studies import faces, rolled_sheet, subclusters, sublinear_pca

PNG = b"\x89PNG"


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """A folder with an mnist.npz of 280 pictures, 70 of each digit."""
    rng = np.random.default_rng(0)
    middles = rng.integers(0, 200, (4, 784))
    y = np.arange(280) % 4
    X = np.clip(middles[y] + rng.integers(0, 60, (280, 784)), 0, 255).astype(np.uint8)
    np.savez(tmp_path / "mnist.npz", X=X, y=y, feature_shape=np.array([28, 28]))
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    return tmp_path


def test_a_face_is_painted_from_its_causes_alone():
    first, again = render_faces(3, 2, side=24, noise=0.0), render_faces(3, 2, side=24, noise=0.0)
    np.testing.assert_array_equal(first.pictures, again.pictures)
    assert first.pictures.shape == (6, 576)
    assert first.causes.shape == (6, 20)
    np.testing.assert_array_equal(first.causes[0, :14], first.causes[1, :14])  # one person
    assert 0 <= first.pictures.min() < first.pictures.max() <= 1
    assert np.abs(first.pictures[0] - first.pictures[1]).max() > 0.05


def test_faces_from_end_to_end(tmp_path, capsys):
    assert faces.main(["--out", str(tmp_path), "--people", "24", "--side", "20"]) == 0
    report = json.loads((tmp_path / "faces.json").read_text())
    kept = list(report["variance_kept"].values())
    assert kept == sorted(kept)
    assert list(report["lost_of_new_people"].values()) == sorted(report["lost_of_new_people"].values(), reverse=True)
    assert report["causes"]["light from the right"]["r2_of_2_10_50_directions"][2] > 0.7
    assert (tmp_path / "faces.png").read_bytes().startswith(PNG)
    assert "the mean is a face" in capsys.readouterr().out


def test_a_stretched_sheet_is_not_bent_and_a_roll_is():
    X, truth = roll(300, 0.0, 0)
    assert disparity(truth * [1.0, 3.0], truth, axes=True) == pytest.approx(0, abs=1e-12)
    assert disparity(truth * [1.0, 3.0], truth, axes=False) > 0.05
    turned = truth @ np.array([[0.6, -0.8], [0.8, 0.6]]) * 2.5 + 7
    assert disparity(turned, truth, axes=False) == pytest.approx(0, abs=1e-12)
    assert disparity(X[:, [0, 2]], truth, axes=True) > 0.5


def test_neighbours_on_a_roll_are_as_far_apart_as_on_its_sheet():
    X, truth = roll(2000, 0.0, 1)
    near = np.argsort(np.linalg.norm(truth[:1] - truth, axis=1))[1:6]
    flat = np.linalg.norm(truth[near] - truth[0], axis=1)
    np.testing.assert_allclose(np.linalg.norm(X[near] - X[0], axis=1), flat, rtol=0.05)


@pytest.mark.slow
def test_rolled_sheet_from_end_to_end(tmp_path):
    assert rolled_sheet.main(["--out", str(tmp_path), "--rows", "600"]) == 0
    table = json.loads((tmp_path / "rolled_sheet.json").read_text())["table"]
    assert len(table) == len(rolled_sheet.METHODS) * len(rolled_sheet.NEIGHBORS) * len(rolled_sheet.NOISE)
    assert min(one["bent"] for one in table if one["method"] == "LLE") < 0.1
    assert (tmp_path / "rolled_sheet.png").read_bytes().startswith(PNG)


def test_few_entries_from_end_to_end(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(sublinear_pca, "_CASES", (("mnist", "linear"), ("mnist", "gaussian")))
    given = ["--rows", "60", "120", "--columns", "2", "8", "40", "--seeds", "1", "--out", str(tmp_path)]
    assert sublinear_pca.main(given) == 0
    report = json.loads((tmp_path / "sublinear_pca.json").read_text())
    assert len(report["table"]) == 2 * 2 * 3 * 3
    for one in report["table"]:
        assert one["excess"] > -1e-9  # nothing beats the map by the eigenvectors
        assert one["entries_share"] == pytest.approx((one["columns"] + 1) / one["rows"], abs=1e-6)
    assert max(one["excess"] for one in report["table"] if one["columns"] == 40) < 0.05
    assert (tmp_path / "sublinear_pca.png").read_bytes().startswith(PNG)


def test_columns_needed_are_those_from_which_on_all_are_good_enough():
    table = [{"columns": c, "excess": e} for c, e in ((4, 0.5), (8, 0.005), (16, 0.02), (32, 0.001), (64, 0.0))]
    assert sublinear_pca._columns_needed(table) == 32
    assert np.isnan(sublinear_pca._columns_needed(table[:3]))
    assert sublinear_pca._exponent([100, 1000], [10, 10]) == pytest.approx(1)
    assert sublinear_pca._exponent([100, 1000], [10, 100]) == pytest.approx(2)


@pytest.mark.slow
def test_groups_from_end_to_end(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(subclusters, "WEIGHTS", (0.0, 0.5))
    given = ["--rows", "60", "--digits", "0", "1", "--weigh-rows", "150", "--out", str(tmp_path)]
    assert subclusters.main(given) == 0
    report = json.loads((tmp_path / "subclusters.json").read_text())
    assert [one["weight"] for one in report["weights"]] == [0.0, 0.5]
    assert report["weights"][1]["first_direction"] > report["weights"][0]["first_direction"]
    assert (tmp_path / "subclusters.png").read_bytes().startswith(PNG)


def test_every_study_is_run_by_the_one_command():
    shared = {"__init__", "__main__", "conjecture_picture", "embedders", "frames", "known_truths", "network", "output"}
    shared |= {"rates", "reading", "rendered_faces", "tables"}
    here = {path.stem for path in Path(every.__file__).parent.glob("*.py")}
    assert set(every.STUDIES) == here - shared
    readme = (Path(every.__file__).parent / "README.md").read_text()
    for name in every.STUDIES:
        assert f"studies.{name} " in readme + " ", name
        assert f"\n## {name}" in readme, name


def test_studies_that_lack_something_are_left_out_and_failures_are_told(tmp_path, monkeypatch, capsys):
    outcomes = {"faces": "raise FileNotFoundError('no data')", "rolled_sheet": "raise ValueError('odd')", "proves": ""}
    monkeypatch.setattr(every.sys, "executable", str(tmp_path / "python"))
    script = tmp_path / "python"
    cases = "\n".join(
        f'case "$2" in studies.{name}) exec python3 -c "{code}";; esac' for name, code in outcomes.items()
    )
    script.write_text(f"#!/bin/sh\n{cases}\n")
    script.chmod(0o755)
    assert every.main(["--out", str(tmp_path), "--only", *outcomes]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert ["left out" in line for line in lines] == [True, False, False]
    assert ["failed: ValueError: odd" in line for line in lines] == [False, True, False]
    assert lines[2].endswith("done")
