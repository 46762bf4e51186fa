"""The benchmark of forecasts measures fresh processes and knows a wrong forecast."""

from __future__ import annotations

import os

import pytest
from benchmarks.forecast import CASES, main, verdict


@pytest.mark.parametrize(
    ("measured", "forecast", "said"),
    [
        (100e6, 100e6, "holds"),
        (100e6, 119e6, "holds"),
        (100e6, 91e6, "holds"),
        (100e6, 121e6, "FAILS"),
        (200e6, 175e6, "FAILS"),
        (20e6, 22.9e6, "holds"),
        (10e6, 12.9e6, "within 3 MB"),
        (0.0, 2e6, "within 3 MB"),
    ],
)
def test_a_verdict_follows_the_bounds(measured, forecast, said):
    assert verdict({"measured": measured, "forecast": forecast}) == said


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
def test_forecasts_of_pairs_hold_in_fresh_processes(capsys):
    assert main(["--methods", "mds", "--rows", "2000", "--columns", "20"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("  holds")


def test_every_case_is_a_method_that_tells():
    import gnomon

    for name, parameters, _ in CASES.values():
        assert getattr(gnomon, name)(**parameters).foresee(1000, 20).n_bytes > 0
