"""The runner works from end to end, names what is missing and computes ratios the stated way round."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.machine import instruction_set_levels
from benchmarks.measure import Contender, Run, ToolError, measure_processes, measure_warm, probe
from benchmarks.run import Plan, benchmark, main
from benchmarks.summary import summarise
from benchmarks.tables import load_table


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["process", "both"])
def test_scikit_learn_against_itself_on_200_rows(mode, tmp_path, capsys):
    out = tmp_path / "report.json"
    arguments = ["--data", "digits", "--rows", "200", "--methods", "pca", "--base", "scikit-learn", "--repeats", "1"]
    arguments += ["--mode", mode]
    assert main([*arguments, "--peers", "scikit-learn", "--json", str(out), "--keep", str(tmp_path / "maps")]) == 0
    report = json.loads(out.read_text())
    part = report["methods"]["pca"]
    assert set(part["costs"]) == ({"process"} if mode == "process" else {"process", "warm"})
    for summary in part["costs"].values():
        assert set(summary) == {"scikit-learn", "scikit-learn-peer"}
        assert summary["scikit-learn"]["wall_ratio"] == 1.0
    cost = part["costs"]["process"]["scikit-learn-peer"]
    assert 0 < cost["fit_wall"] < cost["wall"]
    assert cost["peak"] > 2**20
    assert part["quality"]["scikit-learn"] == part["quality"]["scikit-learn-peer"]
    assert 0.5 < part["quality"]["scikit-learn"]["trustworthiness"][0] < 1
    assert np.load(tmp_path / "maps" / "pca" / "scikit-learn-0.npy").shape == (200, 2)
    assert report["data"] == {"name": "digits", "rows": 200, "columns": 64}
    text = capsys.readouterr().out
    assert "| scikit-learn-peer |" in text
    assert "label_accuracy" in text


def test_ratios_are_peer_over_base():
    runs = {"own": [Run(2.0, 4.0, 100, 1.0)] * 3, "peer": [Run(w, 8.0, 300, 1.0) for w in (1.0, 6.0, 50.0)]}
    summary = summarise(runs, "own")
    assert summary["peer"]["wall"] == 6.0
    assert (summary["peer"]["wall_min"], summary["peer"]["wall_max"]) == (1.0, 50.0)
    assert summary["peer"]["wall_ratio"] == 3.0
    assert summary["peer"]["cpu_ratio"] == 2.0
    assert summary["peer"]["peak_ratio"] == 3.0


def test_missing_interpreters_and_tools_are_named_not_errors(tmp_path, capsys):
    assert "missing" in probe("scikit-learn", "pca", str(_failing_interpreter(tmp_path)))
    arguments = ["--data", "digits", "--rows", "100", "--methods", "pca", "--base", "gnomon", "--no-quality"]
    arguments += ["--peers", "scikit-learn", "--peer-python", str(_failing_interpreter(tmp_path))]
    assert main([*arguments, "--repeats", "1", "--mode", "warm"]) == 0
    assert "- scikit-learn: left out, no such tool here" in capsys.readouterr().out


def _failing_interpreter(folder):
    script = folder / "python"
    script.write_text("#!/bin/sh\necho no such tool here >&2\nexit 1\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("measure", [measure_processes, pytest.param(measure_warm, marks=pytest.mark.slow)])
def test_a_failing_tool_is_reported_with_what_it_said(measure, tmp_path):
    data = tmp_path / "table.npy"
    np.save(data, np.zeros((10, 3), np.float32))
    contender = Contender("gnomon", "gnomon", "pca", parameters={"n_components": -1})
    with pytest.raises(ToolError, match=r"(?s)gnomon \(pca\) ended.*n_components"):
        measure([contender], data, tmp_path, 1)


@pytest.mark.slow
def test_a_peer_that_fails_is_left_out_and_says_why(tmp_path):
    X = np.zeros((8, 3), np.float32)  # eight equal rows: scikit-learn finds no null space, gnomon maps them
    plan = Plan(methods=["ltsa"], peers=["scikit-learn"], repeats=1, modes=["warm"], quality=False)
    report = benchmark(plan, "zeros", X, None, tmp_path)["methods"]["ltsa"]
    assert list(report["runs"]["warm"]) == ["gnomon"]
    assert report["left_out"]["scikit-learn"].startswith("ended with an error: ")


def test_tables_are_float32_and_samples_are_fixed(tmp_path):
    X, labels = load_table("digits", rows=50)
    again, _ = load_table("digits", rows=50)
    assert X.dtype == np.float32
    assert X.flags.c_contiguous
    assert len(labels) == 50
    assert np.array_equal(X, again)
    np.savez(tmp_path / "table.npz", X=X.astype(np.uint8))
    same, nothing = load_table(str(tmp_path / "table.npz"))
    assert np.array_equal(same, X)
    assert nothing is None
    assert load_table("digits", rows=50, pca=5)[0].shape == (50, 5)


def test_a_missing_table_says_where_it_is_looked_for(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    assert main(["--data", "mnist"]) == 1
    assert "Set GNOMON_DATA" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError, match=r"Set GNOMON_DATA to the folder that holds mnist\.npz"):
        load_table("mnist")


def test_levels_stop_at_the_first_that_is_incomplete(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    v2 = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}
    assert instruction_set_levels(set()) == ["x86-64"]
    assert instruction_set_levels(v2 | {"avx512f", "avx512bw"}) == ["x86-64", "x86-64-v2"]
