"""The searches that the benchmark compares find the same graph."""

import numpy as np
import pytest
from benchmarks.part_neighbors import SEARCHES, search, share_found, write_rows

from gnomon.scale import cells


@pytest.mark.parametrize("kind", ["cells", "pairs"])
def test_searches_of_one_kind_agree(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_HELD", cells._HELD)  # the benchmark changes it
    base = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    write_rows(tmp_path / "x.npy", base, 4000)
    names = [name for name in SEARCHES if name.startswith(kind)]
    graphs = [search(name, tmp_path / "x.npy", 5, tmp_path / "kept") for name in names]
    assert {graph.method for graph in graphs} == {"cells" if kind == "cells" else "exact"}
    assert len({graph.indices.tobytes() for graph in graphs}) == 1
    assert share_found(graphs[-1], np.load(tmp_path / "x.npy")) >= 0.95
