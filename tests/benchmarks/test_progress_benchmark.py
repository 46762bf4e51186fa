"""What the benchmark of progress says of fits whose every word is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.progress import Told, first_line, left_of_fit, left_of_stage, longest_gap, table_for


def _told():
    # neighbours for two seconds, then a layout of eight whose time left is told right, half too long, and not at all
    states = [(0.0, "neighbors", None, None), (1.0, "neighbors", 1.0, 9.0)]
    states += [(2.0, "layout", None, None), (4.0, "layout", 6.0, 12.0), (6.0, "layout", 6.0, 2.0)]
    return Told(rows=100, seconds=10.0, lines=[0.5, 1.0, 4.0, 9.0], states=states)


def test_the_first_line_and_the_longest_silence_are_found_at_either_end_too():
    assert first_line(_told()) == 0.5
    assert longest_gap(_told()) == 5.0
    assert longest_gap(Told(rows=1, seconds=3.0)) == first_line(Told(rows=1, seconds=3.0)) == 3.0
    assert longest_gap(Told(rows=1, seconds=9.0, lines=[1.0, 2.0])) == 7.0


def test_errors_are_of_the_longest_stage_by_the_last_claim_before_each_moment():
    stage, errors = left_of_stage(_told())
    assert stage == "layout"
    assert errors == pytest.approx([0.0, 0.5, 0.5])


def test_errors_of_the_fit_are_by_its_own_claims():
    assert left_of_fit(_told()) == pytest.approx([0.0, 1.0, -0.5])
    assert left_of_fit(Told(rows=1, seconds=3.0, states=[(0.0, "fit", None, None)])) == [None, None, None]


class _Linear:
    """Takes a second for a thousand rows."""

    def foresee(self, n_samples, n_features):
        assert n_features in (3, 50)
        return SimpleNamespace(seconds=n_samples / 1000)


def test_a_table_has_as_many_rows_as_take_the_time_and_are_there(tmp_path):
    path = tmp_path / "some.npz"
    X = np.arange(9000, dtype=np.float32).reshape(3000, 3)
    np.savez(path, X=X)
    few = table_for(_Linear(), 2.0, 10**9, data=str(path))
    assert len(few) == pytest.approx(2000, rel=0.02)
    assert (np.diff(few[:, 0]) > 0).all()  # different rows, in their order
    assert set(few[:, 0]) <= set(X[:, 0])
    assert table_for(_Linear(), 60.0, 10**9, data=str(path)).tobytes() == X.tobytes()
    assert table_for(_Linear(), 60.0, 500, data=str(path)).shape == (500, 3)
    assert table_for(_Linear(), 1.0, 10**9).shape == (pytest.approx(1000, rel=0.02), 50)
