"""The study of kernel choices runs from end to end on tiny data; its scores have closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from studies.kernel_choice import predicted, score
from studies.known_truths import SETS

from studies import kernel_choice


@pytest.mark.slow
def test_kernel_choice_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--sets", "parabola", "iris", "--rows", "60", "--seeds", "1"]
    assert kernel_choice.main(arguments) == 0
    report = json.loads((tmp_path / "kernel_choice.json").read_text())
    assert [run["set"] for run in report["runs"]] == ["parabola", "iris"]
    for run in report["runs"]:
        assert run["rows"] == 60
        assert run["lack"] == pytest.approx(run["informed_score"] - run["score"], abs=2e-6)
        assert run["highest_score"] >= max(run["score"], run["informed_score"], run["pca"])
    assert report["runs"][0]["score"] > report["runs"][0]["pca"]
    assert report["summary"]["seen"]["runs"] == 2
    assert (tmp_path / "kernel_choice.png").read_bytes().startswith(b"\x89PNG")
    assert "of the informed choice" in capsys.readouterr().out


def test_a_map_that_is_the_truth_predicts_it():
    Z = np.random.default_rng(0).uniform(size=(400, 2))
    assert score(predicted(Z[:300], Z[:300], Z[300:]), Z[300:]) > 0.95
    labels = (Z[:, 0] > 0.5).astype(int)
    assert score(predicted(Z[:300], labels[:300], Z[300:]), labels[300:]) > 0.9
    assert score(np.tile(Z.mean(axis=0), (400, 1)), Z) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "name", [name for name in SETS if "_" not in name and name not in ("mnist", "pbmc4k", "paul15")]
)
def test_a_set_is_rows_with_their_truth(name):
    group, make = SETS[name]
    first, again = (make(50, np.random.default_rng(1)) for _ in range(2))
    assert group in ("seen", "hidden")
    assert len(first.X) == len(first.truth) == 50
    assert np.isfinite(first.X).all()
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.truth.ndim == 2) == (first.truth.dtype.kind == "f")
