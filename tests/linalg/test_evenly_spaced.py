"""Some of many rows at even steps."""

from __future__ import annotations

from gnomon.linalg.table import evenly_spaced


def test_some_rows_at_even_steps_are_both_ends_and_what_lies_between_or_all_of_few():
    assert [evenly_spaced(7, 3).tolist(), evenly_spaced(10, 4).tolist()] == [[0, 3, 6], [0, 3, 6, 9]]
    assert evenly_spaced(5, 5).tolist() == evenly_spaced(5, 9).tolist() == [0, 1, 2, 3, 4]
    assert [evenly_spaced(1, 3).tolist(), evenly_spaced(0, 3).tolist()] == [[0], []]
