"""All tools of the benchmark find the same singular values in a table on disk."""

import numpy as np
import pytest
from benchmarks.stored_principal import TOOLS, fit, write_table


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_agree(tool, tmp_path):
    if tool.startswith("dask"):
        pytest.importorskip("dask.array")
    write_table(tmp_path / "x.npy", 3000, 12)
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    wanted = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:4]
    np.testing.assert_allclose(fit(tool, X, 4), wanted, rtol=2e-2)
