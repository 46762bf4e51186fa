"""Every door to the kernels looks at what it lets in, whoever calls."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.bindings.cases import cases

from gnomon import _core

CASES = dict(cases())
TABLE = Path(__file__).parents[2] / "cpp" / "bindings" / "README.md"
# Integers that are compared with row numbers and never used as such, or taken modulo their number.
NO_ROW_NUMBERS = {
    ("edge_distances", "indices"),
    ("scan_rows", "self"),
    ("info_nce", "shifts"),
    ("count_below_bounds", "sums"),
    ("count_below_bounds", "squares"),
    ("count_below_in_map", "sums"),
    ("count_below_in_map", "squares"),
    ("count_agreeing", "halves"),
}
PLAIN = {"MomentumParameters", "AdamParameters", "SampledSchedule", "SamplingParameters", "PairTerm"}


def bindings():
    """Return the names of all functions, classes and methods of the extension."""
    found = set()
    for name in dir(_core):
        made = getattr(_core, name)
        if name.startswith("_") or not callable(made):
            continue
        found.add(name)
        if isinstance(made, type):
            found |= {
                f"{name}.{method}" for method in dir(made) if callable(getattr(made, method)) and method[0] != "_"
            }
    return found


def binding_of(case):
    return re.split("-", case)[0]


def row_numbers(case):
    """Yield the arguments of an example that are row numbers, and their places in those of several arrays."""
    for name, value in CASES[case].arguments.items():
        parts = value if isinstance(value, tuple) else (value,)
        for place, part in enumerate(parts):
            integers = isinstance(part, np.ndarray) and part.dtype in (np.int32, np.int64) and part.size
            written = name == "indices" and case in ("CellJoin", "CellJoin-rounded")  # and not read
            if integers and not written and (binding_of(case), name) not in NO_ROW_NUMBERS:
                yield name, place


def with_part(value, place, part):
    return (*value[:place], part, *value[place + 1 :]) if isinstance(value, tuple) else part


def test_the_examples_are_accepted():
    for call in CASES.values():
        call.function(**call.arguments)


def test_every_binding_has_an_example():
    tried = {binding_of(case).split(".")[0] for case in CASES} | PLAIN | {"PairTerm", "RowPlacer", "AtlasCharts"}
    assert {name.split(".")[0] for name in bindings()} == tried


def test_the_table_of_checks_lists_every_binding():
    listed = re.findall(r"^\| `([\w.]+)` \|", TABLE.read_text(), re.MULTILINE)
    assert set(listed) == bindings()
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("case", [case for case in CASES if any(row_numbers(case))])
def test_row_numbers_out_of_range_are_refused(case):
    call = CASES[case]
    for name, place in row_numbers(case):
        value = call.arguments[name]
        whole = value[place] if isinstance(value, tuple) else value
        for wild in (2**30, int(whole.max()) + 10**4, *([-(10**6)] if name != "own" else [])):  # of "own": none
            part = whole.copy()
            part.flat[part.size // 2] = wild
            with pytest.raises(ValueError, match=r"^\w+(\.\w+)?: .* must be .*\."):
                call.function(**{**call.arguments, name: with_part(value, place, part)})


def test_an_error_names_function_argument_rule_and_place():
    graph = list(CASES["Graph"].arguments.values())
    graph[1] = graph[1].copy()
    graph[1][7] = 24
    with pytest.raises(ValueError, match=re.escape("Graph: columns must be in [0, 24) (entry 7 is 24).")):
        _core.Graph(*graph)


def test_rounded_rows_are_narrow_enough_for_their_sums():
    cells = np.zeros((1, 1), np.int32), np.zeros(1, np.int32), np.array([0, 1])
    row = np.ones((1, 2**16 + 1), np.float32)
    with pytest.raises(ValueError, match=r"CellJoin: the number of columns of points must be .*65536"):
        _core.CellJoin(row, *cells, 1, rounded=True)
    _core.CellJoin(row, *cells, 1)
    _core.CellJoin(row[:, 1:].copy(), *cells, 1, rounded=True)


@pytest.mark.parametrize("n_threads", [0, -3, 2**20])
def test_threads_are_counted_from_one(n_threads):
    call = CASES["row_sums"]
    with pytest.raises(ValueError, match="n_threads"):
        call.function(**{**call.arguments, "n_threads": n_threads})
