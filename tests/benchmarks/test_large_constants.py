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
from gnomon.data.stored import row_blocks
from gnomon.scale.costs import STAGES, StageCost, rows_held

_TRUE = {
    "fit": StageCost(Cost(), Cost(row=7e4, entry=150.0)),
    "positions": StageCost(Cost(row=5e3, entry=20.0), Cost(row=900.0), doubling=700.0),
    "evaluation": StageCost(Cost(row=8e3, entry=30.0)),
}
_MEMORY = {"_PLACING_BYTES": 1e8, "_LANDMARK_BYTES": 900.0, "_LANDMARK_COPIES": 2.0, "_BLOCK_COPIES": 5.0}


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
    block = 4.0 * width * len(row_blocks(n, width)[0])
    parts = np.array([1.0, landmarks, 4.0 * width * landmarks, block])
    stages["positions"]["peak_bytes"] = 5e7 + 8.0 * n + float(parts @ list(_MEMORY.values()))
    return {"shape": [n, width], "landmarks": landmarks, "pace": pace, "base_bytes": 5e7, "stages": stages}


@pytest.fixture(scope="module")
def records():
    sizes = itertools.product((10, 50, 784), (10_000, 50_000, 200_000), (20_000, 90_000))
    return [_record(*size, 1.0 + 0.1 * number) for number, size in enumerate(sizes)]


def test_constants_are_found_again_at_any_pace(records):
    found = fit_stages(records)
    assert set(found) == set(_TRUE)
    for name, cost in _TRUE.items():
        true = {"row": cost.rows.row, "entry": cost.rows.entry, "doubling": cost.doubling}
        true |= {"held": cost.held.row, "held entry": cost.held.entry}
        for term, value in found[name].items():
            assert value == pytest.approx(true[term], rel=1e-4, abs=1.0)
    assert fit_memory(records) == pytest.approx(_MEMORY, rel=1e-4)


def test_what_is_printed_is_the_code_of_the_constants(records, tmp_path, capsys):
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(records))
    assert main(["--from", str(path)]) == 0
    printed = capsys.readouterr().out
    code, _, ratios = printed.partition("| rows |")
    made = eval(f"{{{code.split('_PLACING_BYTES')[0]}}}", {"Cost": Cost, "StageCost": StageCost})
    assert made["fit"] == _TRUE["fit"]
    assert set(made) <= set(STAGES)
    assert "_BLOCK_COPIES = 5\n" in code
    cells = [float(cell) for line in ratios.splitlines()[2:] for cell in line.split("|")[4:-1]]
    assert len(cells) == 3 * len(records)
    assert cells == pytest.approx([1.0] * len(cells), abs=0.011)


def test_costs_that_are_nothing_are_not_written():
    assert as_code({"file": {"row": 500.0}}, {}).strip() == '"file": StageCost(Cost(row=500)),'


def test_drawn_rows_lie_near_eight_dimensions(tmp_path):
    write_drawn(tmp_path / "X.npy", 3000, 40)
    values = np.linalg.svd(np.load(tmp_path / "X.npy"), compute_uv=False)
    assert values[7] > 3 * values[8]
    assert math.isclose(len(set(np.load(tmp_path / "y.npy").tolist())), 8)


def test_the_documentation_has_the_forecasts_of_the_constants():
    page = Path(__file__).parents[2] / "docs" / "large.md"
    assert forecast_table() in page.read_text()
