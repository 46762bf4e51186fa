"""The cost of a map of landmarks is a sum over stages that grows as it says."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.scale.costs import BY_BLOCKS, LIMITS, STAGES, forecast_landmarks, rows_held


def test_a_stage_grows_with_the_rows_that_it_goes_through_and_not_with_those_it_holds():
    short, middle, long = (forecast_landmarks(n, 50, 100_000) for n in (10**6, 10**7, 2 * 10**7))
    assert list(long.durations) == list(STAGES)
    assert long.durations["fit"] == short.durations["fit"]
    for name, cost in STAGES.items():
        step = 1e-9 * 10**7 * (cost.rows.row + 50 * cost.rows.entry + cost.doubling * np.log2(100_000))
        assert long.durations[name] - middle.durations[name] == pytest.approx(step, abs=1e-9)


def test_only_rows_beside_the_landmarks_are_placed():
    cost = STAGES["positions"]
    all_rows, more = (forecast_landmarks(n, 7, 5000).durations["positions"] for n in (5000, 8000))
    assert 1e9 * all_rows == pytest.approx(cost.held.of(5000, 7))
    placed = cost.rows.of(3000, 7) + 3000 * cost.doubling * np.log2(5000)
    assert 1e9 * (more - all_rows) == pytest.approx(placed)


def test_an_explanation_holds_no_more_landmarks_than_it_fits():
    assert rows_held("explanation", 10**7, 50, 500_000) == 100_000
    assert rows_held("explanation", 10**7, 50, 20_000) == 20_000
    assert rows_held("page", 10**7, 50, 20_000) == 50_000
    assert rows_held("page", 3000, 50, 2000) == 3000
    assert rows_held("fit", 10**7, 50, 20_000) == 20_000


def test_a_worker_holds_landmarks_and_a_block_whatever_the_length_of_the_table():
    found = [forecast_landmarks(n, 50, 100_000, n_workers=w) for n, w in ((10**6, 1), (10**9, 1), (10**9, 64))]
    assert len({one.worker_bytes for one in found}) == 1
    more = forecast_landmarks(10**6, 50, 200_000)
    assert more.worker_bytes > found[0].worker_bytes


def test_positions_of_a_billion_rows_are_eight_gigabytes():
    few, many = (forecast_landmarks(n, 50, 1000, keep_answers=False) for n in (1000, 10**9))
    assert many.client_bytes - few.client_bytes == pytest.approx(8e9, rel=1e-5)
    assert sum(many.messages[name] for name in ("rows", "positions")) == pytest.approx(208e9)


def test_what_ends_is_said_from_there_on():
    assert forecast_landmarks(10**8, 50, 1000).ends == ()
    text = str(forecast_landmarks(3 * 10**9, 50, 1000))
    assert all(limit.what in text for limit in LIMITS)
    assert "row numbers in graphs are of 32 bits" in text


def test_workers_share_all_that_is_done_by_blocks():
    one, four = (forecast_landmarks(10**7, 50, 100_000, n_workers=w) for w in (1, 4))
    assert one.seconds == four.seconds
    own = sum(one.durations[name] for name in STAGES if name not in BY_BLOCKS)
    assert np.isclose((one.elapsed() - own) / (four.elapsed() - own), 4.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((10, 5, 11), "n_landmarks=11 must be at most n_samples=10"),
        ((2**32, 5, 2**31), "must be below 2^31"),
        ((1, 5, 2), "n_samples"),
        ((10, 0, 5), "n_features=0 must be above 0"),
    ],
)
def test_impossible_sizes_are_refused(given, said):
    with pytest.raises(ValueError, match=said.replace("^", r"\^")):
        forecast_landmarks(*given)
