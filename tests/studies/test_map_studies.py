"""The comparison of methods and the study of illusions: from end to end on little data, and what their figures mean."""

from __future__ import annotations

import json

import numpy as np
import pytest
from studies.method_comparison import CLAIMS, JUDGED, OURS, Run
from studies.tables import REAL, load_rows

from gnomon.evaluation import MEASURES
from gnomon.methods import METHODS
from studies import illusions, method_comparison

PNG = b"\x89PNG"


def test_the_comparison_of_methods_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--sets", "iris", "wine", "--rows", "60", "--seeds", "1", "--peers"]
    assert method_comparison.main([*arguments, "--methods", "pca", "isomap"]) == 0
    report = json.loads((tmp_path / "method_comparison.json").read_text())
    assert report["methods"] == ["pca", "isomap"]
    assert [(one["data_set"], one["method"]) for one in report["maps"][:2]] == [("iris", "pca"), ("iris", "isomap")]
    assert set(JUDGED) <= set(report["means"])
    for mean, low, high in report["means"]["trustworthiness"]:
        assert 0.5 < low <= mean <= high <= 1.0
    for ranks in report["ranks"].values():
        assert sum(one[0] for one in ranks) == pytest.approx(3.0)  # places 1 and 2
    assert all(0 <= one["holds"] <= one["of"] <= 2 for one in report["claims"])
    text = (tmp_path / "method_comparison.md").read_text()
    assert "## wine" in text
    assert "| trustworthiness" in text
    assert (tmp_path / "method_comparison.png").read_bytes().startswith(PNG)
    assert "Mean ranks" in capsys.readouterr().out


def test_twelve_methods_meet_eight_real_tables():
    assert len(OURS) >= 12
    assert len(REAL) >= 8
    assert set(OURS) <= {card.name for card in METHODS}
    assert set(JUDGED) <= set(MEASURES)
    assert {measure for _, measure, _, _ in CLAIMS} <= set(MEASURES)


@pytest.mark.parametrize("name", ["breast_cancer", "wine"])
def test_measurements_are_in_units_of_their_spread_and_sampled_by_seed(name):
    X, labels = load_rows(name, 10_000)
    np.testing.assert_allclose(X.std(axis=0), 1.0, rtol=1e-4)
    assert len(X) == len(labels)
    first, second = (load_rows(name, 50, seed=seed)[0] for seed in (0, 1))
    assert first.shape == second.shape == (50, X.shape[1])
    assert not np.array_equal(first, second)


def _run(data_set, method, value, low=None, high=None):
    scores = {"stress": (value, value if low is None else low, value if high is None else high)}
    return Run(data_set, method, 0, 1.0, scores, {"stress": 1.0 - value})


def test_ranks_count_from_the_best_and_intervals_compare_methods_over_the_same_sets():
    shifts = {"a": 0.0, "b": 0.3, "c": 0.6}  # sets differ, methods by 0.1 in each
    runs = [_run(one, method, 0.1 + shift + 0.1 * i) for one, shift in shifts.items() for i, method in enumerate("xy")]
    found = method_comparison._summary(runs, ["x", "y"], list(shifts), 0)
    np.testing.assert_allclose(found["ranks"]["stress"][:, 0], [1.0, 2.0])
    np.testing.assert_allclose(found["means"]["stress"], [[0.4] * 3, [0.5] * 3], atol=1e-12)
    np.testing.assert_allclose(found["quality"][:, 0], [0.6, 0.5])


def test_a_claim_holds_where_the_first_have_less_and_counts_sets_with_both(monkeypatch):
    monkeypatch.setattr(method_comparison, "CLAIMS", (("x has less", "stress", ("x",), ("y", "z")),))
    runs = [_run("a", "x", 0.1), _run("a", "y", 0.2), _run("a", "z", 0.3), _run("b", "x", 0.9), _run("b", "y", 0.2)]
    runs += [_run("b", "z", 0.3), _run("c", "x", 0.1), _run("d", "x", 0.0), _run("d", "y", 0.1), _run("d", "z", 0.1)]
    (found,) = method_comparison._claims(runs, ["a", "b", "c", "d"])
    assert (found["holds"], found["of"]) == (2, 3)


def test_a_cell_spans_the_intervals_of_all_seeds():
    runs = [_run("a", "x", 0.2, 0.1, 0.3), _run("a", "x", 0.4, 0.35, 0.45)]
    assert method_comparison._mean(runs, "stress") == pytest.approx((0.3, 0.1, 0.45))
    assert method_comparison._cell(0.3, 0.1, 0.45) == "0.300 [0.100, 0.450]"
    assert method_comparison._cell(0.3, 0.3, 0.3) == "0.300"
    assert method_comparison._cell(*[float("nan")] * 3) == "-"


def test_the_illusions_from_end_to_end(tmp_path, capsys):
    assert illusions.main(["--out", str(tmp_path), "--illusions", "sizes", "distances", "--draws", "1"]) == 0
    report = json.loads((tmp_path / "illusions.json").read_text())
    for one in report["rates"]:
        assert one["truth"][0] == pytest.approx(4.0, rel=0.1)
        assert one["drawn"][0] < 2.0  # the illusion
        assert one["verdict_right"] == 1.0
    assert "log of the ratio" in report["verdicts"]["sizes, UMAP"]["unit"]
    picture = (tmp_path / "illusions.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) < 200_000
    assert "cannot be told" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Gaussian noise", "even noise"])
@pytest.mark.parametrize("method", list(illusions.METHODS))
def test_islands_of_noise_are_called_none(name, method):
    found = [illusions._of_one(name, method, seed) for seed in range(5)]
    assert max(one["drawn"] for one in found) >= 2
    assert "yes" not in {one["verdict"].answer for one in found}


def test_what_the_eye_sees_is_measured_as_stated():
    groups = np.arange(300) % 3
    angle = np.arange(300) * 2.4
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    places = circle * np.array([1.0, 3.0, 1.0])[groups][:, None] + np.array([[0, 0], [20, 0], [0, 50]])[groups]
    assert illusions._radii(places, groups) == pytest.approx(3.0, rel=0.02)
    assert illusions._distances(places, groups) == pytest.approx(2.5, rel=0.02)
    assert illusions._clusters(places, groups) == 3
    assert np.unique(groups[illusions._island(places)]).size == 1
