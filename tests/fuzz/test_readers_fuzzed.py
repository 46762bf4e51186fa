"""Damaged files end in an error that says so: never in a crash, an endless loop or an exception of another kind."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import pytest
from harness import end, fuzz
from seeds import SEEDS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and limits of a process")
_BUDGET = int(os.environ.get("GNOMON_FUZZ_MUTANTS", "20000"))
_FEW = 10  # mutants in every run of the tests


@dataclass(frozen=True)
class Case:
    """A target, its mutators, and how many mutants it affords."""

    target: str
    suffix: str
    kind: str
    package: str = "numpy"
    share: float = 1.0  # of the budget
    few: int = _FEW
    few_seeds: int | None = None  # files of which those few are made; None: of all


_WHOLE = {
    "csv": Case("read_table", "csv", "csv"),
    "csv.gz": Case("read_table", "csv.gz", "csv.gz"),
    "npy": Case("read_table", "npy", "npy"),
    "npz": Case("read_table", "npz", "npz"),
    "pictures": Case("read_picture", "png", "png", "PIL"),
    "map": Case("read_map", "gnomon", "npz", few=6),
    "map of landmarks": Case("read_landmark_map", "landmarks", "npz", few=6),
    "saved": Case("read_saved", "saved", "npz", few=6),
    "aligned maps": Case("read_aligned", "aligned", "npz", few=6),
    "journal": Case("read_journal", "journal", "npz"),
    "run": Case("read_run", "run", "csv"),
    # Each of these mutants and of the files that they are made of costs a process, so there are fewer.
    "parquet": Case("read_table", "parquet", "bytes", "pyarrow", 0.02, 1, 1),
    "feather": Case("read_table", "feather", "bytes", "pyarrow", 0.02, 1, 1),
    "h5ad": Case("read_table", "h5ad", "bytes", "anndata", 0.02, 1, 1),
}
_CONTAINED = {
    "parquet": Case("read_arrow_inside", "parquet", "bytes", "pyarrow"),
    "feather": Case("read_arrow_inside", "feather", "bytes", "pyarrow"),
    "h5ad": Case("read_h5ad_inside", "h5ad", "bytes", "anndata"),
}


@pytest.fixture(scope="module", autouse=True)
def one_worker():
    """Let one process read for test after test: to start it takes longer than to read a few mutants."""
    yield
    end()


def _run(case, n_mutants, tmp_path, n_seeds=None):
    pytest.importorskip(case.package)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    SEEDS[case.suffix](seeds)
    for path in sorted(seeds.iterdir())[n_seeds:] if n_seeds else ():
        path.unlink()
    tally = fuzz(case.target, seeds, case.kind, case.suffix, n_mutants, tmp_path / "failing")
    print(f"{case.target}, {case.suffix}: {tally}")
    return tally


def _assert_all_in_the_form(tally):
    assert (dict(tally.others), dict(tally.crashes), tally.timeouts) == ({}, {}, 0), tally


@pytest.mark.parametrize("case", _WHOLE.values(), ids=_WHOLE)
def test_f99_a_few_damaged_files(tmp_path, case):
    _assert_all_in_the_form(_run(case, case.few, tmp_path, case.few_seeds))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("case", _WHOLE.values(), ids=_WHOLE)
def test_f99_many_damaged_files(tmp_path, case):
    _assert_all_in_the_form(_run(case, int(case.share * _BUDGET), tmp_path))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("case", _CONTAINED.values(), ids=_CONTAINED)
def test_f99_what_the_reading_process_contains(tmp_path, case):
    """Crashes and endless loops of the libraries are theirs; all their exceptions are turned into the form."""
    tally = _run(case, _BUDGET, tmp_path)
    assert dict(tally.others) == {}, tally
    assert tally.read + tally.refused > 0.9 * _BUDGET
