"""The studies of eigenmaps and of classical maps of digits run from end to end on tiny data."""

import json

import numpy as np
import pytest
from studies.density_adapted import METHODS, SAMPLINGS, SCORES, _auc, _disparity, _matched, _ranks, _roll

from studies import density_adapted, mnist_classical

PNG = b"\x89PNG"


@pytest.mark.slow
def test_density_adapted_from_end_to_end(tmp_path, capsys):
    assert density_adapted.main(["--out", str(tmp_path), "--rows", "150", "--seeds", "2", "--neighbors", "8"]) == 0
    report = json.loads((tmp_path / "density_adapted.json").read_text())
    assert len(report["table"]) == len(METHODS) * len(SAMPLINGS) * len(SCORES)
    for row in report["table"]:
        assert -1 <= row["mean"] <= 1
        assert len(row["values"]) == 2
        if row["method"] == "LE, heat":
            assert row["difference"] == 0
    assert (tmp_path / "density_adapted.png").read_bytes().startswith(PNG)
    assert "VLE" in capsys.readouterr().out


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_roll_keeps_short_distances_and_its_true_map_is_perfect(sampling):
    roll = _roll(sampling, 400, 0.0, 0)
    near = np.argsort(np.linalg.norm(roll.truth[:, None] - roll.truth, axis=2), axis=1)[:, 1]
    flat = np.linalg.norm(roll.truth - roll.truth[near], axis=1)
    np.testing.assert_allclose(np.linalg.norm(roll.X - roll.X[near], axis=1), flat, rtol=0.1)
    bent = np.stack([-np.exp(roll.truth[:, 1] / 50), roll.truth[:, 0] ** 3], axis=1)
    matched, rank = _matched(bent, roll.truth)
    assert rank == pytest.approx(1)
    assert _disparity(matched, roll.truth) < 1e-12
    assert _auc(_ranks(roll.truth), 3 * roll.truth[:, ::-1]) == pytest.approx(1)
    noise = np.random.default_rng(0).normal(size=(400, 2))
    assert abs(_auc(_ranks(roll.truth), noise)) < 0.05


def test_mnist_classical_from_end_to_end(tmp_path, capsys):
    assert mnist_classical.main(["--out", str(tmp_path), "--set", "digits", "--rows", "100"]) == 0
    runs = json.loads((tmp_path / "mnist_classical.json").read_text())["runs"]
    names = list(mnist_classical.METHODS)
    assert [(run["method"], run["n_components"]) for run in runs] == [(name, d) for d in (2, 3) for name in names]
    assert all(0.5 < run["trustworthiness"] <= 1 for run in runs)
    assert (tmp_path / "mnist_classical.png").read_bytes().startswith(PNG)
    assert "Laplacian eigenmaps" in capsys.readouterr().out
