"""The benchmark of reported recalls compares them with those over all rows."""

from benchmarks.recall import main, measure
from benchmarks.tables import load_table


def test_reported_recalls_stand_beside_the_true_ones(capsys):
    found = measure(load_table("digits")[0], 5, range(2), 0.5)
    assert [len(values) for values in found.values()] == [2, 2, 2, 2]
    for reported, error, true in zip(found["reported"], found["error"], found["true"], strict=True):
        assert abs(reported - true) < 5 * error
    assert main(["--seeds", "1", "--neighbors", "5", "--target", "0.5"]) == 0
    assert "over 1 searches" in capsys.readouterr().out
