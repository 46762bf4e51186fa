"""Every kernel can be timed; the table has the worst first, and names what is slower than allowed."""

from __future__ import annotations

from benchmarks.kernel_calls import kernel_calls
from benchmarks.kernels import above, table

from gnomon import _core

_TIMES = {
    "tree": {"x86-64-v2": 9.0, "x86-64-v3": 3.0, "x86-64-v4": 2.0},
    "mesh": {"x86-64-v2": 4.0, "x86-64-v3": 5.0, "x86-64-v4": 2.0},
}


def test_the_worst_kernel_comes_first_with_its_ratios():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table(_TIMES).splitlines()]
    assert rows[2:] == [
        ["mesh", "4.00", "5.00", "2.00", "2.00", "2.50"],
        ["tree", "9.00", "3.00", "2.00", "4.50", "1.50"],
    ]
    assert all(len(row) == len(rows[0]) for row in rows)


def test_a_kernel_above_the_bar_is_named():
    assert above(_TIMES, "x86-64-v3", "x86-64-v4", 2.5) == []
    assert above(_TIMES, "x86-64-v3", "x86-64-v4", None) == []
    assert above(_TIMES, "x86-64-v3", "x86-64-v4", 2.4) == ["mesh: x86-64-v3 takes 2.50 times, not within 2.4"]
    assert above(_TIMES, "x86-64-v2", "x86-64-v4", 4.4) == ["tree: x86-64-v2 takes 4.50 times, not within 4.4"]


def test_every_kernel_is_called_as_it_is_bound():
    for name, call in kernel_calls(_core).items():
        assert call() is not None, name
