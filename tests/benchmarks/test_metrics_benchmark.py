"""The benchmark of metrics has each that is searched here, with rows that it is defined for."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.metrics import METRICS, clusters, main, measure, rows_for

from gnomon.neighbors import NATIVE_METRICS


def test_every_metric_that_is_searched_here_is_timed():
    assert set(METRICS) == set(NATIVE_METRICS.values())
    assert len(METRICS) == len(set(METRICS))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", METRICS)
def test_an_exact_search_finds_all_neighbours(metric, form):
    rows = rows_for(metric, clusters(120, 40, density=0.5))
    found = measure(metric, form(rows), method="exact", peers=["scikit-learn"], repeats=1)
    assert found["recall"] == 1.0
    assert found["seconds"] > 0.0


def test_rows_of_sets_are_members_or_not_and_amounts_are_no_less_than_0():
    X = clusters(60, 20)
    for metric in ("jaccard", "dice", "sokalsneath", "rogerstanimoto"):
        assert set(np.unique(rows_for(metric, X))) == {0.0, 1.0}
    assert rows_for("ruzicka", X).min() >= 0.0


def test_the_table_names_each_metric_asked_for(tmp_path, capsys):
    asked = ["cosine", "rogerstanimoto", "ruzicka"]
    out = tmp_path / "found.json"
    small = ["--rows", "150", "--columns", "12", "--forms", "dense", "--repeats", "1", "--out", str(out)]
    assert main([*small, "--metrics", *asked]) == 0
    assert [one["metric"] for one in json.loads(out.read_text())["found"]] == asked
    assert "rogerstanimoto" in capsys.readouterr().out
