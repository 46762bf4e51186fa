"""Constants of the cost model are found again from measurements that follow the model."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.large.constants import as_code, fit_memory, fit_stages, main, write_drawn
from benchmarks.large.forecasts import forecast_table

from gnomon._costs import Cost
from gnomon.scale.costs import STAGES, PeakCost, StageCost, rows_held

_TRUE = {
    "fit": StageCost(Cost(), Cost(row=7e4, entry=150.0)),
    "positions": StageCost(Cost(row=5e3, entry=20.0), Cost(row=900.0), doubling=700.0),
    "evaluation": StageCost(Cost(fixed=3e8, row=8e3, entry=30.0)),
}
_PEAK = PeakCost(fixed=1e8, held=900.0, copies=2.0, block=5.0)


def _record(width, landmarks, placed, pace):
    n = landmarks + placed
    stages = {
        name: {
            "cpu_seconds": pace
            * cost.seconds(
                placed if name == "positions" else n, width, landmarks, rows_held(name, n, width, landmarks)
            ),
            "peak_bytes": 0.0,
        }
        for name, cost in _TRUE.items()
    }
    stages["positions"]["peak_bytes"] = 5e7 + 8.0 * n + _PEAK.of(n, width, landmarks)
    return {"shape": [n, width], "landmarks": landmarks, "pace": pace, "base_bytes": 5e7, "stages": stages}


@pytest.fixture(scope="module")
def records():
    sizes = itertools.product((10, 50, 784), (10_000, 50_000, 200_000), (20_000, 90_000))
    return [_record(*size, 1.0 + 0.1 * number) for number, size in enumerate(sizes)]


def test_constants_are_found_again_at_any_pace(records):
    found = fit_stages(records)
    assert set(found) == set(_TRUE)
    for name, cost in _TRUE.items():
        true = {"fixed": cost.rows.fixed, "row": cost.rows.row, "entry": cost.rows.entry, "doubling": cost.doubling}
        true |= {"held": cost.held.row, "held entry": cost.held.entry}
        for term, value in found[name].items():
            assert value == pytest.approx(true[term], rel=1e-4, abs=1.0)
    assert fit_memory(records)["positions"] == pytest.approx(vars(_PEAK), rel=1e-4)


def test_what_is_printed_is_the_code_of_the_constants(records, tmp_path, capsys):
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(records))
    assert main(["--from", str(path)]) == 0
    printed = capsys.readouterr().out
    code, _, ratios = printed.partition("| rows |")
    made = {"Cost": Cost, "StageCost": StageCost, "PeakCost": PeakCost}
    exec(code, made)
    assert made["STAGES"]["fit"] == _TRUE["fit"]
    assert set(made["STAGES"]) <= set(STAGES)
    assert made["PEAKS"]["positions"] == _PEAK
    cells = [float(cell) for line in ratios.splitlines()[2:] for cell in line.split("|")[4:-1]]
    assert len(cells) == 3 * len(records)
    assert cells == pytest.approx([1.0] * len(cells), abs=0.011)


def test_costs_that_are_nothing_are_not_written():
    assert '    "file": StageCost(Cost(row=500)),\n}' in as_code({"file": {"row": 500.0}}, {})


def test_drawn_rows_lie_near_eight_dimensions(tmp_path):
    write_drawn(tmp_path / "X.npy", 3000, 40)
    values = np.linalg.svd(np.load(tmp_path / "X.npy"), compute_uv=False)
    assert values[7] > 3 * values[8]
    assert math.isclose(len(set(np.load(tmp_path / "y.npy").tolist())), 8)


def test_the_documentation_has_the_forecasts_of_the_constants():
    page = Path(__file__).parents[2] / "docs" / "large.md"
    assert forecast_table() in page.read_text()
