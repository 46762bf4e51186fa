"""The benchmark of eigensolvers measures each in a process of its own and lays out what it found."""

import json

from benchmarks.eigensolvers import PROBLEMS, SOLVERS, main, table


def test_two_solvers_find_the_same_pairs_in_time(tmp_path, capsys):
    out = tmp_path / "results.json"
    options = ["--problems", "digits_graph", "--solvers", "multilevel", "SuperLU", "--out", str(out)]
    assert main(options) == 0
    found = json.loads(out.read_text())["digits_graph"]["solvers"]
    assert all(one["converged"] for one in found.values())
    assert abs(found["multilevel"]["value"] - found["SuperLU"]["value"]) < 1e-9
    printed = capsys.readouterr().out
    assert main(options) == 0  # what is measured is not measured again
    assert capsys.readouterr().out == printed


def test_what_failed_or_found_other_pairs_is_told_in_its_cell():
    assert {kind for kinds, _ in SOLVERS.values() for kind in kinds} == {one.kind for one in PROBLEMS.values()}
    one = {"seconds": 1.0, "megabytes": 2.0, "value": 0.5, "residual": 0.0, "converged": True}
    row = {"factor": one, "ARPACK": {"failed": "over 60 s"}, "LAPACK": {**one, "value": 0.7}}
    row["descent"] = {**one, "residual": 0.1, "converged": False}
    text = table({"digits_lle": {"rows": 1797, "solvers": row}}).splitlines()[-1]
    cells = ("| 1 s, 2 MB |", "| over 60 s |", "(1 s, 2 MB, other pairs)", "(1 s, 2 MB, residual 1e-01, value +0.0%)")
    assert all(cell in text for cell in cells)
