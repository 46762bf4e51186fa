"""The cost of a map of landmarks is a sum over stages that grows as it says."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.scale.costs import LIMITS, forecast_landmarks


def test_every_stage_but_the_fit_is_proportional_to_the_rows():
    short, long = (forecast_landmarks(n, 50, 100_000) for n in (1_000_000, 10_000_000))
    assert long.durations["fit"] == short.durations["fit"]
    for name in short.durations.keys() - {"fit"}:
        assert long.durations[name] == pytest.approx(10 * short.durations[name])


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


def test_workers_share_all_but_the_fit():
    one, four = (forecast_landmarks(10**7, 50, 100_000, n_workers=w) for w in (1, 4))
    assert one.seconds == four.seconds
    fit = one.durations["fit"]
    assert np.isclose((one.elapsed() - fit) / (four.elapsed() - fit), 4.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((10, 5, 11), "n_landmarks=11 must be at most n_samples=10"),
        ((2**32, 5, 2**31), "must be below 2^31"),
        ((1, 5, 2), "n_samples"),
    ],
)
def test_impossible_sizes_are_refused(given, said):
    with pytest.raises(ValueError, match=said.replace("^", r"\^")):
        forecast_landmarks(*given)
