"""Three verbs: order, fixed trees, and errors."""

import numpy as np
import pytest

import gnomon
from gnomon.data.stored import ArrayTable, row_blocks
from gnomon.scale import Journal, LocalExecutor, as_executor, current_executor


def _times(item, factor):
    return item * factor


def _join(left, right):
    return f"({left}{right})"


def test_results_come_in_the_order_of_the_items():
    executor = LocalExecutor()
    assert list(executor.map(_times, [1, 2, 3], executor.broadcast(10))) == [10, 20, 30]


@pytest.mark.parametrize(
    ("n", "tree"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (6, "(((ab)(cd))(ef))"), (7, "(((ab)(cd))((ef)g))")]
)
def test_the_tree_of_a_reduction_is_that_of_the_items_alone(n, tree):
    assert LocalExecutor().reduce(_times, _join, list("abcdefg"[:n]), 1) == tree


def test_blocks_cover_all_rows_once_and_depend_on_the_shape_alone():
    for n, width in [(1, 1), (1024, 50), (300_000, 50), (10_000_000, 50), (5000, 30_000)]:
        blocks = row_blocks(n, width)
        assert [block.start for block in blocks[1:]] == [block.stop for block in blocks[:-1]]
        assert (blocks[0].start, blocks[-1].stop) == (0, n)
        assert len({len(block) for block in blocks[:-1]}) <= 1


def test_who_works_is_nobody_a_client_or_an_executor():
    with pytest.raises(TypeError, match="executor of type int"):
        as_executor(3)


def test_the_run_says_who_works():
    executor = LocalExecutor()
    with gnomon.running(executor=executor):
        assert current_executor() is executor
    assert current_executor() is not executor


def _square(block, table):
    return {"squares": table.read(block.start, block.stop) ** 2}


def _fail(block, table):
    if block.number == 1:
        raise RuntimeError("killed")
    return _square(block, table)


def test_a_run_that_was_cut_goes_on_with_the_missing_blocks(tmp_path):
    X = np.arange(6000.0, dtype=np.float32).reshape(3000, 2)
    table, executor = ArrayTable(X), LocalExecutor()
    blocks = row_blocks(3000, 30_000)
    with pytest.raises(RuntimeError):
        list(Journal(tmp_path, {"seed": 0}).blocks("squares", executor, _fail, blocks, table))
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "squares").iterdir()}
    assert [path.name for path in written] == ["000000.npz"]
    found = list(Journal(tmp_path, {"seed": 0}).blocks("squares", executor, _square, blocks, table))
    assert np.array_equal(np.concatenate([part["squares"] for part in found]), X**2)
    assert all(path.stat().st_mtime_ns == time for path, time in written.items())
    with pytest.raises(ValueError, match="seed was 0 there and is 1 now"):
        Journal(tmp_path, {"seed": 1})


def test_a_stage_is_computed_once(tmp_path):
    journal = Journal(tmp_path, {})
    first = journal.stage("fit", lambda: {"Y": np.ones(3)})
    again = journal.stage("fit", lambda: {"Y": np.zeros(3)})
    assert np.array_equal(first["Y"], again["Y"])


def test_rows_are_read_checked_and_chosen_in_any_order(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    import pickle

    table = ArrayTable(np.load(tmp_path / "x.npy", mmap_mode="r"))
    sent = pickle.dumps(table)
    assert len(sent) < 2000
    again = pickle.loads(sent)
    assert again.fingerprint == table.fingerprint
    assert np.array_equal(again.read(10, 2000), X[10:2000])
    rows = [7, 4999, 7, 0]
    assert np.array_equal(again.take(rows), X[rows])
    X[3000, 2] = np.nan
    with pytest.raises(ValueError, match="row 3,000 of X"):
        ArrayTable(X).read(2500, 3500)
