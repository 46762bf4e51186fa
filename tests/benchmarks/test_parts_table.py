"""The benchmark of layouts in parts: its table, and the neighbours that it keeps."""

import numpy as np
import pytest
from benchmarks.layout_in_parts import main


@pytest.mark.parametrize(
    "method", ["umap", *(pytest.param(one, marks=pytest.mark.slow) for one in ("umap-mesh", "tsne"))]
)
def test_it_prints_costs_and_keeps_neighbours(tmp_path, capsys, method, monkeypatch):
    monkeypatch.setattr("benchmarks.layout_in_parts._IDLE", 0.01)
    kept = tmp_path / "neighbors.npz"
    arguments = ["--method", method, "--rows", "1500", "--iterations", "4", "--neighbors", str(kept), "--workers"]
    main(arguments)
    found = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines() if line.startswith("| one")]
    assert [row[0] for row in rows] == ["one process, whole", "one process, in parts"]
    assert [row[8] for row in rows] == ["yes" if method == "umap" else "no", "yes"]
    with np.load(kept) as stored:
        assert stored["indices"].shape == (1500, 15)
    written = kept.stat().st_mtime_ns
    main(arguments)
    assert kept.stat().st_mtime_ns == written
    again = [line.split("|")[8] for line in capsys.readouterr().out.splitlines() if line.startswith("| one")]
    assert [one.strip() for one in again] == [row[7] for row in rows]  # the hashes


def test_neighbours_of_another_number_of_rows_are_refused(tmp_path):
    kept = tmp_path / "neighbors.npz"
    np.savez(kept, indices=np.array([[1], [0]], np.int32), distances=np.ones((2, 1), np.float32))
    with pytest.raises(SystemExit, match="neighbours of 2 rows, not of 1,500"):
        main(["--rows", "1500", "--iterations", "4", "--neighbors", str(kept), "--workers"])
