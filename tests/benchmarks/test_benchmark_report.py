"""The report: powers of the rows, limits of the machine, what is kept of an interrupted run, and the page."""

from __future__ import annotations

import json
import re
import statistics

import numpy as np
import pytest
from benchmarks.measure import Contender, ToolError, measure_processes
from benchmarks.report import measure
from benchmarks.report.__main__ import main
from benchmarks.report.growth import growth
from benchmarks.report.limits import Limits, least_seconds
from benchmarks.report.measure import measure_subject
from benchmarks.report.page import page
from benchmarks.report.site import write_site
from benchmarks.report.subjects import GROWTH, SUBJECTS, Subject
from benchmarks.run import Plan
from benchmarks.summary import half_width, with_interval

PLAN = Plan(["umap"], ["peer", "other"], repeats=2, modes=["warm"], limit=60.0)


def result(rows: int, tools: dict[str, float]) -> dict:
    """What a benchmark of one method returns, with seconds by tool."""
    base = tools["gnomon"]
    costs = {
        tool: {"wall": s, "wall_min": s, "wall_max": s, "cpu": s, "peak": 2**20, "wall_ratio": s / base}
        for tool, s in tools.items()
    }
    run = {"stages": {"neighbors": 0.25 * base, "layout": 0.75 * base}, "work": {"passes": 100, "edges": 20 * rows}}
    part = {
        "versions": dict.fromkeys(tools, "1.0"),
        "left_out": {},
        "runs": {"warm": {"gnomon": [run]}},
        "costs": {"warm": costs},
        "quality": {tool: {"trustworthiness": [0.9, 0.92]} for tool in tools},
    }
    machine = {"cpu": "a <fast> one", "cores": 2, "system": "Linux", "python": "3.11"}
    limits = {"operations": 1e11, "bytes_read": 1e10}
    data = {"name": "mnist", "rows": rows, "columns": 50}
    return {"machine": machine, "data": data, "methods": {"umap": part}, "maps": {"gnomon": "AAAA"}, "limits": limits}


def test_the_exponent_of_a_power_is_found_with_no_error():
    rows = [1_000, 5_000, 70_000]
    found = growth(rows, [3e-6 * n**1.25 for n in rows])
    assert found.exponent == pytest.approx(1.25)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)
    assert growth([10], [1.0]) is None
    assert np.isnan(growth([10, 20], [1.0, 2.0]).standard_error)


def test_intervals_of_means_are_those_of_student():
    from scipy.stats import t

    values = [0.90, 0.94, 0.98]
    low, high = t.interval(0.95, 2, loc=statistics.fmean(values), scale=statistics.stdev(values) / 3**0.5)
    assert 2 * half_width(values) == pytest.approx(high - low)
    assert with_interval(values) == f"0.9400 ± {(high - low) / 2:.4f}"
    assert with_interval([0.5]) == "0.5000"
    assert [with_interval([value]) for value in (10.0, 999.0, 58488.75)] == ["10.00", "999.00", "58,489"]
    assert with_interval([58488.75], 1) == "58,488.8"


def test_stages_take_at_least_what_arithmetic_or_reading_takes():
    limits = Limits(operations=1e11, bytes_read=1e10)
    work = {"passes": 10, "edges": 1_000_000}
    assert least_seconds("umap", "neighbors", (1_000, 50), {}, limits) == pytest.approx(1_000 * 1_000 * 50 / 1e11)
    pairs = 10 * (1_000_000 + 16 * 50_000)
    assert least_seconds("umap", "layout", (50_000, 50), work, limits) == pytest.approx(pairs * 45 / 1e11)
    assert least_seconds("tsne", "layout", (50_000, 50), work, limits) == pytest.approx(10 * 8e6 / 1e10)  # reading
    assert least_seconds("umap", "affinities", (1_000, 50), work, limits) is None
    assert least_seconds("umap", "layout", (1_000, 50), {}, limits) is None


def test_a_run_that_takes_too_long_is_stopped_and_said(tmp_path):
    data = tmp_path / "table.npy"
    np.save(data, np.zeros((10, 3), np.float32))
    with pytest.raises(ToolError, match=r"scikit-learn \(pca\) took more than 0\.001 s") as caught:
        measure_processes([Contender("sk", "scikit-learn", "pca")], data, tmp_path, 1, limit=0.001)
    assert caught.value.label == "sk"


def test_an_interrupted_report_goes_on_and_leaves_slow_peers_out(monkeypatch, tmp_path):
    asked = []

    def benchmark(plan, name, X, labels, folder):
        asked.append((name, list(plan.peers)))
        made = result(len(X), {"gnomon": 1.0, "other": 3.0})
        made["methods"]["umap"]["left_out"] = {"peer": "ended with an error: peer (umap) took more than 60 s"}
        (folder / "umap").mkdir()
        for label in ("gnomon", "other"):
            np.save(folder / "umap" / f"{label}-0.npy", X[:, :2])
        return made

    monkeypatch.setattr(measure, "benchmark", benchmark)
    monkeypatch.setattr(measure, "measure_limits", lambda cores: Limits(1e11, 1e10))
    slow: set[str] = set()
    first, second = Subject("digits", 40), Subject("digits", 50, 5)
    measure_subject(first, "umap", tmp_path, PLAN, slow)
    assert slow == {"peer"}
    kept = measure_subject(second, "umap", tmp_path, PLAN, slow)
    assert asked == [("digits-40-raw", ["peer", "other"]), ("digits-50-pca5", ["other"])]
    assert set(kept["maps"]) == {"gnomon", "other"}
    assert json.loads((tmp_path / "digits-50-pca5-umap.json").read_text()) == kept
    measure_subject(first, "umap", tmp_path, PLAN, set())
    assert len(asked) == 2  # what is kept is not measured again


def test_the_page_needs_nothing_else_and_says_what_was_measured():
    own = {s: result(s.rows, {"gnomon": 1e-5 * s.rows, "peer": 1e-4 * s.rows}) for s in GROWTH[:3]}
    text = page({"umap": own}, "python -m benchmarks.report --out <here>")
    assert not re.findall(r'(?:src|href)="(?!data:)(?!#)[^"]*"', text)
    assert "a &lt;fast&gt; one" in text
    assert "--out &lt;here&gt;" in text
    assert "<td>peer</td><td>1.00 ± 0.00</td><td>3</td>" in text  # seconds grow with the rows
    assert "<td>mnist-1800-pca50</td><td>1</td><td>0.02</td><td>10.0</td>" in text
    assert "0.9100 ± 0.1271" in text
    taken, least = 0.75 * 1e-5 * 1_800, 100 * (20 + 16) * 1_800 * 45 / 1e11
    assert f"<td>layout</td><td>{taken:.3f}</td><td>{least:.3f}</td><td>{100 * least / taken:.0f} %</td>" in text


def test_the_site_gets_tables_and_pictures_between_its_lines_and_again(tmp_path):
    (tmp_path / "benchmarks.md").write_text("before\n<!-- begin: report -->\nold\n<!-- end: report -->\nafter\n")
    own = {s: result(s.rows, {"gnomon": 1e-5 * s.rows, "peer": 1e-4 * s.rows}) for s in GROWTH[:3]}
    for later in GROWTH[1:3]:
        own[later]["methods"]["umap"]["left_out"] = {"slow": "took more than 60 s"}
    texts = [write_site({"umap": own}, "python -m", tmp_path).read_text() for _ in range(2)]
    assert texts[0] == texts[1]
    assert texts[0].startswith("before\n")
    assert texts[0].endswith("after\n")
    assert "old" not in texts[0]
    assert re.search(r"\| mnist-1800-pca50 +\| 1 +\| 0\.02 +\| 10\.0", texts[0])
    assert texts[0].count("Left out: slow, took more than 60 s (mnist-6000-pca50).") == 1
    pictures = re.findall(r"\]\((images/benchmarks/[^)]+)\)", texts[0])
    assert len(pictures) == 3
    assert all((tmp_path / picture).stat().st_size for picture in pictures)


def test_tables_have_names_of_their_own_and_missing_ones_are_left_out(monkeypatch, tmp_path, capsys):
    assert len({subject.name for subject in SUBJECTS}) == len(SUBJECTS)
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    assert main(["--out", str(tmp_path / "out"), "--data", "mnist"]) == 1
    assert "left out, not in GNOMON_DATA: mnist" in capsys.readouterr().err
