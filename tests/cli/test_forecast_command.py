"""`gnomon forecast` tells what a fit would take; `gnomon map --memory` refuses more."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import gnomon
from gnomon.cli import main


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, np.random.default_rng(0).normal(size=(300, 7)))
    return path


def test_a_shape_is_enough():
    found = run("forecast", "--shape", "1,000,000x50", "--method", "tsne", "-p", "perplexity=10")
    assert found.exit_code == 0, found.output
    assert "tsne, 1,000,000 rows of 50 numbers:" in found.output
    assert "30 neighbours of 1,000,000 rows" in found.output
    assert "are free" in found.output


def test_data_and_their_shape_give_the_same_figures(table):
    told = [json.loads(run("forecast", *given, "--json").output) for given in ([table], ["--shape", "300x7"])]
    assert told[0]["n_bytes"] == told[1]["n_bytes"] == gnomon.forecast((300, 7)).n_bytes
    assert told[0]["stages"] == dict(gnomon.forecast((300, 7)).stages)


def test_features_are_counted_as_the_map_makes_them(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("a,kind\n" + "".join(f"{i % 7},{'xyz'[i % 3]}\n" for i in range(30)))
    assert json.loads(run("forecast", path, "--json").output)["shape"] == [30, 4]


def test_columns_that_are_no_features_are_not_counted(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'xyz'[i % 3]}\n" for i in range(30)))
    for options, n_features in (("--labels=kind", 2), ("--drop=b", 4), ("--features=a,b", 2)):
        assert json.loads(run("forecast", path, options, "--json").output)["shape"] == [30, n_features]
    refused = run("forecast", "--shape", "30x3", "--drop", "b")
    assert refused.exit_code == 2
    assert "--drop says what of DATA is used" in refused.output


def test_columns_of_a_table_read_in_blocks_are_chosen_too(table):
    for options, n_features in (
        ((), 7),
        (("--drop", "2"), 6),
        (("--features", "0,3"), 2),
        (("--labels", "feature 1"), 6),
    ):
        found = json.loads(run("forecast", table, "--n-fitted", "100", *options, "--json").output)
        assert found["shape"] == [300, n_features]
    refused = run("forecast", table, "--n-fitted", "100", "--images", "1x7")
    assert refused.exit_code == 2
    assert "--images must be left out for a table that is read in blocks" in refused.output


@pytest.mark.parametrize("shape", ["50", "axb", "5x5x5", "-3x4", "1.5x2"])
def test_what_is_no_shape_is_refused(shape):
    found = run("forecast", f"--shape={shape}")
    assert found.exit_code == 2
    assert "must be ROWSxCOLUMNS" in found.output


def test_data_or_a_shape_is_needed(table):
    for arguments in ((), (table, "--shape", "300x7")):
        found = run("forecast", *arguments)
        assert found.exit_code == 2
        assert "given one without the other" in found.output


def test_a_map_that_would_take_more_is_refused(table, tmp_path):
    path = tmp_path / "map.csv"
    found = run("map", table, "--coordinates", path, "--memory", "100 kB")
    assert found.exit_code == 2
    assert "X of 300 rows must be one whose computation fits in memory, 0.1 MB" in found.output
    assert not path.exists()
    assert run("map", table, "--coordinates", path, "--memory", "1G", "--quiet").exit_code == 0


def test_time_and_what_follows_are_told():
    found = run("forecast", "--shape", "3000x20", "--then", "page", "--then", "file")
    assert found.exit_code == 0, found.output
    assert "explanation" in found.output
    assert "seconds of one core" in found.output
    told = json.loads(run("forecast", "--shape", "3000x20", "--then", "page", "--json").output)
    assert told["between"][0] < told["seconds"] < told["between"][1]
    assert {"layout", "page"} <= told["durations"].keys()


def test_a_map_whose_page_would_need_more_than_the_budget_is_refused_before_the_fit(tmp_path):
    table, path = tmp_path / "table.npy", tmp_path / "map.html"
    np.save(table, np.random.default_rng(0).normal(size=(1000, 20)))
    found = run("map", table, "-o", path, "--memory", "30 MB")
    assert found.exit_code == 2
    assert "arrays of the evaluation of the map take" in found.output
    assert "Raise --memory, or fit some rows and place the others: --n-fitted." in found.output
    assert not path.exists()


def test_landmarks_and_workers_are_told():
    found = run("forecast", "--shape", "10000000x50", "--n-fitted", "100000", "--workers", "4", "--then", "explanation")
    assert found.exit_code == 0, found.output
    assert "100,000 landmarks are fitted and 9,900,000 rows placed" in found.output
    assert "4 workers" in found.output
    told = json.loads(run("forecast", "--shape", "10000x50", "--n-fitted", "1000", "--json").output)
    assert told["n_landmarks"] == 1000
    assert told["messages"].keys() == {"landmarks", "rows", "positions"}
    assert told["n_bytes"] == gnomon.forecast((10_000, 50), n_fitted=1000).n_bytes


def test_a_table_that_is_read_in_blocks_is_not_read(table, monkeypatch):
    from gnomon.data.stored import ArrayTable

    monkeypatch.setattr(ArrayTable, "_rows", None)
    found = run("forecast", table, "--n-fitted", "100")
    assert found.exit_code == 0, found.output
    assert "100 landmarks are fitted and 200 rows placed" in found.output


def test_a_map_of_landmarks_tells_its_forecast_first(table, tmp_path):
    given = ["map", table, "--n-fitted", "100", "--coordinates", tmp_path / "map.csv", "-p", "max_iter=2"]
    found = run(*given)
    assert found.exit_code == 0, found.output
    assert found.stderr.startswith("Forecast: 100 landmarks are fitted and 200 rows placed")
    assert "Forecast" not in run(*given, "--quiet").stderr
    assert "Forecast" not in run(*given, "--json").stderr
    assert "Forecast" not in run(*given[:3], "1000", *given[4:]).stderr  # what is wrong the map says itself


def test_a_forecast_of_no_metric_is_refused_as_the_fit_is():
    for given in (("--metric", "nonsense"), ("-p", "metric=nonsense")):
        found = run("forecast", "--shape", "300x7", *given)
        assert found.exit_code == 2
        assert "metric='nonsense' must be a callable or one of 'braycurtis'" in found.output
    with pytest.raises(ValueError, match="forecast: metric='nonsense' must be"):
        gnomon.forecast((300, 7), method="isomap", metric="nonsense")
    for metric in ("gower", "periodic(360)", "canberra", "precomputed"):
        assert run("forecast", "--shape", "300x300", "--metric", metric).exit_code == 0


def test_a_forecast_over_the_memory_given_is_told_and_refused_as_the_map_is(table):
    found = run("forecast", table, "--memory", "100 kB")
    assert found.exit_code == 2
    assert "umap, 300 rows of 7 numbers:" in found.output
    assert "0.1 MB may be taken" in found.output
    assert "X of 300 rows must be one whose computation fits in memory, 0.1 MB" in found.output
    enough = run("forecast", table, "--memory", "1G")
    assert enough.exit_code == 0
    assert "1 GB may be taken" in enough.output
    page = ("--shape", "1000x20", "--memory", "30 MB")
    assert run("forecast", *page).exit_code == 0
    over = run("forecast", *page, "--then", "page")
    assert over.exit_code == 2
    assert "take" in over.output
    assert json.loads(run("forecast", table, "--memory", "1G", "--json").output)["free"] == 1e9
    nonsense = run("forecast", table, "--memory", "much")
    assert nonsense.exit_code == 2
    assert "--memory='much' must be an amount of memory" in nonsense.output
