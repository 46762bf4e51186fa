"""The benchmark of missing values: what it hides, what it counts, and that it runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.missing import hide_values, kept_neighbors, main


@pytest.mark.parametrize("pattern", ["random", "blocks"])
def test_the_share_asked_for_is_hidden_and_no_row_is_left_empty(pattern):
    hidden = hide_values((400, 40), 0.2, pattern, 0)
    assert hidden.mean() == pytest.approx(0.2, abs=0.01)
    assert not hide_values((400, 3), 0.95, pattern, 0).all(axis=1).any()


def test_blocks_are_one_run_of_columns_in_each_of_ten_groups():
    hidden = hide_values((400, 40), 0.2, "blocks", 0)
    assert len(np.unique(hidden, axis=0)) <= 10
    assert (np.abs(np.diff(hidden.astype(int), axis=1, append=hidden[:, :1])).sum(axis=1) == 2).all()


def test_kept_neighbors_counts_those_that_two_tables_share():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert kept_neighbors(X, 2.0 * X) == 1.0
    assert kept_neighbors(X, np.random.default_rng(1).normal(size=(60, 3))) == pytest.approx(15 / 59, abs=0.06)


def test_it_runs_and_writes_what_it_measured(tmp_path, capsys):
    path = tmp_path / "out.json"
    main(["--data", "wine", "--shares", "0.2", "--patterns", "random", "--json", str(path)])
    by_way = {row["way"]: row for row in json.loads(path.read_text())}
    assert by_way["mean"]["error"] == pytest.approx(1.0)
    assert by_way["gnomon"]["kept in the table"] > by_way["mean"]["kept in the table"]
    assert "20% missing, random" in capsys.readouterr().out
