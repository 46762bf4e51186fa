"""A budget of memory is read as people write it, and holds for all that a run does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon._memory import available_memory, check_budget, in_bytes
from gnomon._run import current_run
from gnomon.maps.costs import answer_takes


@pytest.mark.parametrize(
    ("budget", "n_bytes"),
    [
        ("4G", 4e9),
        ("4g", 4e9),
        ("500 MB", 5e8),
        ("2 GiB", 2.0**31),
        ("64Ki", 65536.0),
        (" 1.5 TB ", 1.5e12),
        ("12", 12.0),
        ("7 B", 7.0),
        (1e9, 1e9),
        (np.int64(5), 5.0),
        (None, float("inf")),
    ],
)
def test_amounts_of_memory_are_read(budget, n_bytes):
    assert check_budget(budget) == n_bytes


@pytest.mark.parametrize("budget", [0, -1, "0", "-4G", "4 Q", "G", "", "a lot", "4 GiBs", float("nan")])
def test_what_is_no_amount_is_refused(budget):
    with pytest.raises(ValueError, match=r"memory_budget=.* must be an amount of memory > 0\. Give bytes, or a text"):
        check_budget(budget)


@pytest.mark.parametrize("budget", [True, [1], {}])
def test_other_types_are_refused(budget):
    with pytest.raises(TypeError, match=r"memory_budget=.* must be an amount of memory"):
        check_budget(budget)


def test_the_budget_of_a_run_bounds_those_inside_it():
    with gnomon.running(memory=1e6):
        assert check_budget(None) == 1e6
        assert check_budget("4G") == 1e6
        assert check_budget(10) == 10.0
        assert available_memory() == 1e6
    assert current_run().memory == float("inf")


def test_amounts_are_written_for_people():
    assert [in_bytes(n) for n in (12_345_678.0, 4.2e9, 1.2e13)] == ["12.3 MB", "4.2 GB", "12,000 GB"]


def test_a_map_obeys_its_budget_before_any_work(monkeypatch):
    X = np.random.default_rng(0).normal(size=(2000, 5))
    monkeypatch.setattr("gnomon.neighbors.compute_neighbors", lambda *_, **__: pytest.fail("neighbours were sought"))
    text = r"map: X of 2,000 rows must be one whose computation fits in memory, 1 MB \(15 neighbours of 2,000 rows"
    with pytest.raises(MemoryError, match=text):
        gnomon.map(X, memory_budget="1 MB")
    with pytest.raises(ValueError, match=r"map: memory_budget='much' must be an amount"):
        gnomon.map(X, memory_budget="much")


def test_a_standardised_copy_counts(monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 50))
    needed = gnomon.forecast(X, "pca").n_bytes
    gnomon.map(X, "pca", scale=None, memory_budget=needed)
    with pytest.raises(MemoryError, match="and a standardised copy of the table take"):
        gnomon.map(X, "pca", scale="standard", memory_budget=needed)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_answers_to_a_map_obey_the_budget_of_a_run_before_any_work(kind, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 20))
    found = gnomon.map(kind(X), "pca")
    monkeypatch.setattr("gnomon.explanations.explain", lambda *_, **__: pytest.fail("it was explained"))
    monkeypatch.setattr("gnomon.evaluation.evaluate", lambda *_, **__: pytest.fail("it was scored"))
    path, refused = tmp_path / "map.html", r": a map of 400 rows must be one whose computation fits in memory, 0.5 MB"
    asked = {
        "explain": found.explain,
        "evaluate": found.evaluate,
        "to_html": lambda: found.to_html(path),
        "report": found.report,
    }
    for name, ask in asked.items():
        with gnomon.running(memory=5e5), pytest.raises(MemoryError, match=rf"^{name}{refused}.*Allow more memory"):
            ask()
    assert not path.exists()


def test_answers_that_are_there_take_nothing_and_budgets_are_those_of_forecasts():
    X = np.random.default_rng(0).normal(size=(400, 20))
    found = gnomon.map(X, "pca")
    needed = {name: answer_takes(name, 400, 20, None)[0] for name in ("explanation", "evaluation")}
    with gnomon.running(memory=needed["explanation"]):
        told = found.explain()
    with gnomon.running(memory=needed["evaluation"]):
        scored = found.evaluate()
    with gnomon.running(memory=1.0):
        assert found.explain() is told
        assert found.evaluate() is scored


def test_a_budget_changes_no_map():
    X = np.random.default_rng(0).normal(size=(120, 5))
    free, bounded = (gnomon.map(X, max_iter=20, memory_budget=budget).embedding for budget in (None, "1G"))
    assert free.tobytes() == bounded.tobytes()
