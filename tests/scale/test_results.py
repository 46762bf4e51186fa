"""Results by blocks: what is written is read, a run that was cut goes on, and nothing half done has a name."""

import numpy as np
import pytest

from gnomon.data.stored import RowBlock
from gnomon.scale import ResultColumn, open_results, read_results

COLUMNS = [ResultColumn("y", "float64", 2), ResultColumn("r2", "float32"), ResultColumn("top", "int16", 3, ("a", "b"))]
BLOCKS = [RowBlock(0, 0, 4), RowBlock(1, 4, 8), RowBlock(2, 8, 11)]


def _arrays():
    rng = np.random.default_rng(0)
    return {
        "y": rng.normal(size=(11, 2)),
        "r2": np.append(rng.random(10), np.nan).astype(np.float32),
        "top": rng.integers(0, 2, (11, 3)).astype(np.int16),
    }


def _write(writer, block, arrays):
    writer.write(
        block, {name: values[block.start : block.stop] for name, values in arrays.items()}, {"sum": np.ones(1)}
    )


@pytest.mark.parametrize("ending", ["zarr", "parquet"])
def test_a_cut_run_goes_on_and_is_read_back_bit_for_bit(tmp_path, ending):
    path, arrays = tmp_path / f"out.{ending}", _arrays()
    writer = open_results(path, COLUMNS, BLOCKS, {"seed": 1})
    _write(writer, BLOCKS[1], arrays)
    assert not path.exists()
    with pytest.raises(ValueError, match=r"2 of 3 are not, the first is block 0"):
        writer.finish()
    again = open_results(path, COLUMNS, BLOCKS, {"seed": 1})
    assert [block.number for block in again.missing()] == [0, 2]
    for block in reversed(again.missing()):
        _write(again, block, arrays)
    found = again.finish()
    for name, values in arrays.items():
        np.testing.assert_array_equal(found.read(name), values)
        np.testing.assert_array_equal(found.read(name, 3, 9), values[3:9])
        assert found.read(name).dtype == values.dtype
    np.testing.assert_array_equal(found.table("y").read(2, 10), arrays["y"][2:10])
    assert found.table("y").shape == (11, 2)
    third = open_results(path, COLUMNS, BLOCKS, {"seed": 1})
    assert not third.missing()
    assert len(list(third.notes())) == 3
    np.testing.assert_array_equal(third.finish().read("y"), arrays["y"])


def test_other_tools_read_what_is_written(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    zarr = pytest.importorskip("zarr")
    for ending in ("zarr", "parquet"):
        writer = open_results(tmp_path / f"out.{ending}", COLUMNS, BLOCKS, {})
        for block in BLOCKS:
            _write(writer, block, _arrays())
        writer.finish()
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["y1", "y2", "r2", "top1", "top2", "top3"]
    assert table["top2"].to_pylist() == [("a", "b")[code] for code in _arrays()["top"][:, 1]]
    group = zarr.open_group(tmp_path / "out.zarr", mode="r")
    assert group["y"].chunks == (4, 2)
    assert group["top"].attrs["values"] == ["a", "b"]


def test_a_single_array_goes_to_a_file_of_numpy(tmp_path):
    path = tmp_path / "places.npy"
    writer = open_results(path, COLUMNS[:1], BLOCKS, {})
    for block in BLOCKS:
        writer.write(block, {"y": _arrays()["y"][block.start : block.stop]})
    np.testing.assert_array_equal(writer.finish().read("places"), np.load(path))
    np.testing.assert_array_equal(np.load(path), _arrays()["y"])
    with pytest.raises(ValueError, match=r"'all.npy' must be for one array \(there are 3: y, r2, top\)"):
        open_results(tmp_path / "all.npy", COLUMNS, BLOCKS, {})


def test_results_of_another_run_are_not_touched(tmp_path):
    writer = open_results(tmp_path / "out.zarr", COLUMNS, BLOCKS, {"seed": 1})
    with pytest.raises(ValueError, match="seed was 1 there and is 2 now"):
        open_results(tmp_path / "out.zarr", COLUMNS, BLOCKS, {"seed": 2})
    with pytest.raises(ValueError, match=r"array 'y' must be of shape \(4, 2\) for block 0 \(found \(3, 2\)\)"):
        writer.write(BLOCKS[0], {"y": np.zeros((3, 2))})
    (tmp_path / "other.zarr").mkdir()
    with pytest.raises(FileExistsError, match="must be a name that nothing has yet"):
        open_results(tmp_path / "other.zarr", COLUMNS, BLOCKS, {})
    with pytest.raises(ValueError, match=r"one of the endings .zarr, .parquet, .npy"):
        open_results(tmp_path / "out.csv", COLUMNS, BLOCKS, {})
    with pytest.raises(FileNotFoundError, match="an existing file or folder"):
        read_results(tmp_path / "none.zarr")


def test_what_was_taken_away_is_written_again(tmp_path):
    import shutil

    path = tmp_path / "out.parquet"
    for _ in range(2):
        writer = open_results(path, COLUMNS, BLOCKS, {})
        assert len(writer.missing()) == 3
        for block in BLOCKS:
            _write(writer, block, _arrays())
        writer.finish()
        shutil.rmtree(path)
