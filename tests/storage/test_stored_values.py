"""Values that are written as nodes and arrays are read as the same values; nothing else is read."""

import json
import math
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from gnomon.kernels import CustomKernel, OutputKernel, StudentT
from gnomon.neighbors import compute_neighbors
from gnomon.optimizers import Adam, Residuals
from gnomon.storage import CLASSES, NotStorableError, Parts, Reader, Writer, check_names, checksum
from gnomon.storage.classes import find_class, fits, hints_of, names_of


def through_json(value, parts=None):
    writer = Writer(parts or Parts())
    node = json.loads(json.dumps(writer.pack(value, "value")))
    reader = Reader(writer.arrays, parts or Parts())
    found = reader.unpack(node)
    assert not reader.left
    return found


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**70,
        -0.0,
        math.inf,
        "ä",
        [1, "x", None],
        (1.5, (2,)),
        {"a": {"b": []}},
        [(1, 0.5, True), (2, math.inf, False)],
        [(1, 2), (3,)],
        [(1, 2**70)],
        [(1, 2.0), (3, 4)],
        [Residuals(1, 0.1, 0.2, 3.0), Residuals(2, 0.0, 0.0, 3.0)],
        [(), ()],
    ],
    ids=repr,
)
def test_values_keep_type_and_content(value):
    found = through_json(value)
    assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[:, :2],
        np.array(3, dtype=np.int64),
        np.zeros((0, 4), np.uint8),
        np.array([True, False]),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_arrays_keep_bytes_and_layout(array):
    found = through_json(array)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert array.size == 0 or found.strides == array.strides


def test_matrices_texts_and_scalars():
    matrix = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]], np.float32))
    np.testing.assert_array_equal(through_json(matrix).toarray(), matrix.toarray())
    assert through_json(np.array(["a", "ä"], object)).tolist() == ["a", "ä"]
    found = through_json(np.float32(0.1))
    assert (type(found), found) == (np.float32, np.float32(0.1))


@pytest.mark.parametrize(
    ("parts", "shape", "fact"),
    [
        (([1, 2], [0, 3], [0, 1, 2]), (2, 3), "a column number of X is outside of \\[0, 3\\)"),
        (([1, 2], [0, -1], [0, 1, 2]), (2, 3), "a column number of X is outside of \\[0, 3\\)"),
        (([1, 2], [0, 1], [0, 1, 2]), (3, 3), "row offsets .* from 0 to 2 in 3 steps"),
        (([1, 2], [0, 1], [0, 1, 2]), (1, 3), "row offsets .* from 0 to 2 in 1 steps"),
        (([1, 2], [0, 1], [0, 1, 1]), (2, 3), "row offsets .* from 0 to 2 in 2 steps"),
        (([1, 2], [0, 1], [1, 1, 2]), (2, 3), "row offsets .* from 0 to 2 in 2 steps"),
        (([1, 2], [0, 1], [0, 2, 1, 2]), (3, 3), "row offsets .* from 0 to 2 in 3 steps"),
        (([1, 2], [0], [0, 1, 2]), (2, 3), "2 values and 1 column numbers"),
        (([[1, 2]], [0, 1], [0, 1, 2]), (2, 3), "not values, column numbers and row offsets"),
        (([1, 2], [0.0, 1.0], [0, 1, 2]), (2, 3), "not values, column numbers and row offsets"),
        (([1, 2], [0, 1], [0.0, 1.0, 2.0]), (2, 3), "not values, column numbers and row offsets"),
    ],
)
def test_a_matrix_whose_parts_do_not_belong_together_is_refused(parts, shape, fact):
    """Kernels trust column numbers and row offsets: SciPy takes a number of a column that is not there."""
    arrays = dict(zip("abc", map(np.array, parts), strict=True))
    with pytest.raises(ValueError, match=fact):
        Reader(arrays).unpack({"csr": ["a", "b", "c"], "shape": [*shape]})


def test_a_matrix_of_columns_in_any_order_is_read():
    node = {"csr": ["a", "b", "c"], "shape": [2, 3]}
    arrays = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([2, 0, 1]), "c": np.array([0, 2, 3])}
    np.testing.assert_array_equal(Reader(arrays).unpack(node).toarray(), [[2, 0, 1], [0, 3, 0]])


def test_a_history_of_any_length_is_few_arrays():
    writer = Writer()
    history = [(number, 1.0 / (number + 1)) for number in range(20_000)]
    assert len(json.dumps(writer.pack(history, "history"))) < 100
    assert [array.nbytes for array in writer.arrays.values()] == [160_000, 160_000]


def test_equal_arrays_are_held_once_and_those_of_the_file_not_at_all():
    X = np.arange(6.0).reshape(2, 3)
    writer = Writer(Parts(X=X))
    writer.pack([X + 1, X + 1, X], "value")
    assert len(writer.arrays) == 1


def test_objects_are_made_by_their_own_constructors():
    assert through_json(StudentT(0.5)) == StudentT(0.5)
    assert through_json({3: (1.0, 2.0), 0: "a"}) == {3: (1.0, 2.0), 0: "a"}
    assert vars(through_json(Adam(0.1, max_iter=7))) == vars(Adam(0.1, max_iter=7))


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (print, "value is a function"),
        ({"a": [lambda: 0]}, "value.a.0 is a function"),
        (CustomKernel(np.exp, np.exp), "value is of type CustomKernel"),
        (np.array([object()]), "value holds objects"),
        (np.array([1j]), "value is of type complex128"),
        ({1.5: 2}, "value is of type dict"),
        ([[[[[[[[[[[[[[1]]]]]]]]]]]]]], "nested too deep"),
        (list(range(6000)), "too long"),
    ],
)
def test_what_no_file_can_hold_is_named(value, what):
    with pytest.raises(NotStorableError, match=what):
        Writer().pack(value, "value")


def test_twelve_lists_in_each_other_are_held_and_thirteen_are_not():
    deepest = 1
    for _ in range(12):
        deepest = [deepest]
    assert through_json(deepest) == deepest
    with pytest.raises(NotStorableError, match="nested too deep"):
        Writer().pack([deepest], "value")
    with pytest.raises(ValueError, match="nested too deep"):
        Reader({}).unpack({"list": [Writer().pack(deepest, "value")]})


@pytest.mark.parametrize(
    ("node", "fact"),
    [
        ({"records": "Popen", "columns": ["method_0"]}, "Popen"),
        ({"records": "tuple", "columns": []}, "records are not columns"),
        ({"records": "tuple", "columns": ["method_1"]}, "records are not columns"),
        ({"records": "tuple", "columns": ["method_0", "method_2"]}, "argument 2 is shorter"),
        ({"records": "StudentT", "columns": ["method_0"]}, "StudentT is no record of 1 numbers"),
        ({"records": "Residuals", "columns": ["method_0"]}, "Residuals is no record of 1 numbers"),
        ({"class": "Adam", "fields": {"learning_rate": 1.0}}, "Adam is described by learning_rate"),
        ({"class": "Popen", "fields": {"args": "true"}}, "Popen"),
        ({"array": "method_3", "lead": 5, "order": "C"}, r"an array of shape \(2, 2, 2\) has rows of 5 entries"),
        ({"array": "method_1", "lead": 2, "order": "C"}, r"an array of shape \(2, 2\) has rows of 2 entries"),
        ({"array": "method_1", "lead": 2**40, "order": "C"}, "has rows of 1099511627776 entries"),
        ({"array": "method_1", "lead": 0, "order": "K"}, "'K'"),
    ],
)
def test_nodes_that_no_writer_makes_are_refused(node, fact):
    arrays = {"method_0": np.arange(3.0), "method_1": np.zeros((2, 2)), "method_2": np.arange(2.0)}
    arrays["method_3"] = np.zeros((2, 2, 2))
    with pytest.raises(ValueError, match=fact):
        Reader(arrays).unpack(node)


def test_every_class_that_may_be_restored_declares_its_types():
    for name in CLASSES:
        cls = find_class(name)
        assert set(names_of(cls)) <= hints_of(cls).keys(), name


def test_five_thousand_values_are_held_and_not_one_more():
    texts = ["a"] * 4999  # and the list
    assert through_json(texts) == texts
    with pytest.raises(NotStorableError, match=r"value\.4999 is nested too deep or too long"):
        Writer().pack([*texts, "a"], "value")


@pytest.mark.parametrize("number", [np.complex64(1j), np.datetime64("2020-01-01"), np.str_("a"), np.float16(1)])
def test_numbers_of_types_that_files_do_not_have_are_named(number):
    with pytest.raises(NotStorableError, match=f"value.0 is of type {type(number).__name__}"):
        Writer().pack([number], "value")


def test_the_matrix_that_a_file_holds_anyway_is_referred_to_and_any_other_is_held():
    X = sp.csr_array(np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 1.0]], np.float32))
    writer = Writer(Parts(X=X))
    assert writer.pack(X.copy(), "value") == {"shared": "X", "dtype": "f4"}
    assert writer.pack(X.astype(np.float64), "value") == {"shared": "X", "dtype": "f8"}
    assert not writer.arrays
    other_values, wide = X.copy(), X.copy()
    other_values.data[0] = 5.0
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    moved = sp.csr_array(np.array([[2.0, 0.0, 0.0], [3.0, 0.0, 1.0]], np.float32))
    cut = sp.csr_array(np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]], np.float32))
    broad = sp.csr_array((X.data, X.indices, X.indptr), shape=(2, 5))
    backwards = sp.csr_array((X.data[[0, 2, 1]], X.indices[[0, 2, 1]], X.indptr), shape=(2, 3))
    for other in (other_values, wide, moved, cut, X[:1], broad, backwards):
        node = Writer(Parts(X=X)).pack(other, "value")
        assert "csr" in node
        found = through_json(other, Parts(X=X))
        np.testing.assert_array_equal(found.toarray(), other.toarray())
        assert (found.dtype, found.indices.dtype) == (other.dtype, other.indices.dtype)


@pytest.mark.parametrize(
    ("hint", "those", "others"),
    [
        (Any, [None, print], []),
        (int, [3, np.int8(3), -(2**70)], [True, 3.0, "3", None]),
        (float, [3.5, 3, math.inf, np.float32(0.5)], [True, math.nan, np.nan, "3", None, 1j]),
        (bool, [True], [1, None]),
        (str, ["a"], [b"a", 3]),
        (int | None, [3, None], [3.5, "a"]),
        (tuple[int, ...], [(), (1,), (1, 2)], [[1], (1, "a"), (1.5, 1), 3]),
        (tuple[int, str], [(1, "a")], [[1, "a"]]),
        (list[int], [[1], []], [(1,), None]),
        (dict[str, int], [{}, {"a": 1}], [[], None]),
        (Literal["a", "b"], ["a", "b"], ["c", None, 3]),
        (npt.NDArray[np.float64], [np.zeros(2)], [np.zeros(2, np.float32), [0.0], np.float64(0.0)]),
        (npt.NDArray[np.floating], [np.zeros(2), np.zeros(2, np.float32)], [np.zeros(2, int), None]),
        (npt.NDArray[Any], [np.zeros(2), np.array(["a"])], [[0.0], None]),
        (OutputKernel, [StudentT(0.5)], [3, Residuals(1, 0.1, 0.2, 3.0), StudentT]),
        (StudentT, [StudentT(0.5)], [None, StudentT]),
        (SimpleNamespace(__value__=int | None), [3, None], ["a"]),  # a name for a type
    ],
)
def test_a_value_fits_the_type_that_is_declared_or_does_not(hint, those, others):
    assert all(fits(value, hint) is True for value in those)
    assert not any(fits(value, hint) for value in others)


def test_what_is_stored_has_a_checksum_of_every_bit_of_it():
    arrays, about = {"a": np.arange(6.0), "b": np.zeros(0)}, {"x": 1, "y": ["ä"]}
    told = checksum(arrays, about)
    assert len(told) == 64
    swapped = {"b": arrays["b"], "a": arrays["a"].astype(">f8").view(">f8")[::1]}
    assert checksum({"a": np.asfortranarray(arrays["a"]), "b": arrays["b"]}, dict(reversed(about.items()))) == told
    others = [
        ({**arrays, "a": arrays["a"] + 1}, about),
        ({**arrays, "a": arrays["a"].reshape(2, 3)}, about),
        ({**arrays, "a": arrays["a"].astype(np.float32)}, about),
        ({**arrays, "a": -arrays["a"]}, about),
        ({"c": arrays["a"], "b": arrays["b"]}, about),
        ({"a": arrays["a"]}, about),
        ({**arrays, "b": np.zeros((0, 2))}, about),
        (arrays, {**about, "x": 2}),
        (swapped, {**about, "y": ["a"]}),
    ]
    assert len({told, *(checksum(*one) for one in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("count", "names", "whole"),
    [
        (2, ["method_0", "method_1"], True),
        (0, [], True),
        (1, ["method_0", "method_1"], False),
        (2, ["method_0", "method_2"], False),
        (2, ["method_0", "a"], False),
        (None, [], False),
        ("2", ["method_0", "method_1"], False),
    ],
)
def test_a_file_has_the_arrays_that_it_describes(count, names, whole):
    shapes = dict.fromkeys(names, (3,))
    if whole:
        check_names({"n_arrays": count}, shapes)
        return
    with pytest.raises(ValueError, match=f"^it holds {len(names)} arrays and describes {count!r}$"):
        check_names({"n_arrays": count}, shapes)


def test_rows_of_up_to_64_times_their_width_keep_their_layout():
    part, wider = np.arange(128.0).reshape(2, 64)[:, :1], np.arange(130.0).reshape(2, 65)[:, :1]
    assert through_json(part).strides == part.strides
    found = through_json(wider)
    assert (found.strides, found.tolist()) == ((8, 8), wider.tolist())
    for lead, refused in ((64, False), (65, True), (1, True)):
        node = {"array": "a", "order": "C", "lead": lead}
        if refused:
            with pytest.raises(ValueError, match=rf"an array of shape \(2, 1\) has rows of {lead} entries"):
                Reader({"a": part}).unpack(node)
        else:
            assert Reader({"a": part}).unpack(node).strides == part.strides


def test_the_checksum_is_that_of_earlier_releases():
    told = checksum({"a": np.arange(3, dtype=np.float32)}, {"y": ["ä", 1.5]})
    assert told == "8ccfb6b742409aeb57bc86ae2e93f03852e5febaa1ff2fccb4cb4de672b3d23f"


@pytest.mark.parametrize("node", [{"pickle": "x"}, {}, [1], {"list": [], "more": 1}, {1: 2}, (1,), b"x"])
def test_what_is_no_node_is_refused(node):
    with pytest.raises(ValueError, match=r"^it holds "):
        Reader({}).unpack(node)


@pytest.mark.parametrize(
    ("node", "fact"),
    [
        ({"records": "tuple", "columns": ["whole", "wide"]}, "records are not columns of numbers"),
        ({"records": "tuple", "columns": ["whole", "single"]}, "records are not columns of numbers"),
        ({"records": "tuple", "columns": "whole"}, "it holds 'whole' where list should be"),
        ({"records": 3, "columns": ["whole"]}, "it holds 3"),
        ({"keys": [1, 2], "values": ["a"]}, "argument 2 is shorter"),
        ({"keys": [1.0], "values": ["a"]}, "it holds 1.0 where int should be"),
        ({"keys": [True], "values": ["a"]}, "it holds True where int should be"),
        ({"dict": []}, r"it holds \[\] where dict should be"),
        ({"tuple": None}, "it holds None where list should be"),
        ({"list": {}}, "it holds {} where list should be"),
        ({"scalar": ["f4", 1]}, "it holds 1 where float should be"),
        ({"scalar": ["i4", 1.0]}, "it holds 1.0 where int should be"),
        ({"scalar": ["b1", 1]}, "it holds 1 where bool should be"),
        ({"scalar": ["f2", 1.0]}, "it holds 'f2'"),
        ({"scalar": ["f8"]}, "not enough values"),
        ({"texts": ["a", 3]}, "it holds 3 where str should be"),
        ({"array": "whole", "order": "C", "lead": 1.0}, "it holds 1.0 where int should be"),
        ({"array": 3, "order": "C", "lead": 0}, "it holds 3 where str should be"),
        ({"array": "complex", "order": "C", "lead": 0}, "it holds 'c16'"),
        ({"array": "tall", "order": "C", "lead": 2}, r"shape \(5, 2\) has rows of 2 entries"),
        ({"array": "tall", "order": "C", "lead": 129}, r"shape \(5, 2\) has rows of 129 entries"),
        ({"array": "whole", "order": "C", "lead": 5}, r"shape \(3,\) has rows of 5 entries"),
        ({"shared": "graph", "dtype": "f4"}, "it holds 'graph'"),
        ({"shared": "X", "dtype": "i4"}, "it holds 'i4'"),
        ({"graph": "mask", "n_neighbors": 2}, "it holds 'mask'"),
        ({"graph": "indices", "n_neighbors": 0}, "it refers to 0 neighbours, which the map does not have"),
        ({"graph": "indices", "n_neighbors": 4}, "it refers to 4 neighbours, which the map does not have"),
        ({"graph": "indices", "n_neighbors": 2.0}, "it holds 2.0 where int should be"),
        ({"class": "StudentT", "fields": {"degrees": 1.0}}, "StudentT is described by degrees"),
        ({"class": "StudentT", "fields": {"dof": "1"}}, "dof of StudentT is str, of another type than it should be"),
        ({"scalar": [[], 1]}, r"it holds \[\]"),
        ({"class": "StudentT", "fields": []}, r"it holds \[\] where dict should be"),
        ({"class": "CustomKernel", "fields": {}}, "it holds 'CustomKernel'"),
    ],
)
def test_parts_of_nodes_have_their_types_and_sizes(node, fact):
    arrays = {"whole": np.arange(3), "wide": np.zeros((3, 2)), "single": np.zeros(3, np.float32)}
    arrays |= {"complex": np.zeros(3, complex), "tall": np.zeros((5, 2))}
    with pytest.raises((ValueError, TypeError), match=fact):
        Reader(arrays, PARTS).unpack(node)


X = np.arange(8.0).reshape(4, 2)
PARTS = Parts(X=X, embedding=X[:, :1].astype(np.float32), graph=compute_neighbors(X, 3))


def test_what_the_file_holds_anyway_is_given():
    reader = Reader({}, PARTS)
    found = reader.unpack({"shared": "X", "dtype": "f4"})
    assert (found.dtype, found.tolist()) == (np.float32, X.tolist())
    assert reader.unpack({"shared": "X", "dtype": "f8"}) is X
    assert reader.unpack({"shared": "embedding", "dtype": "f4"}) is PARTS.embedding
    for name in ("indices", "distances"):
        for k in (1, 2, 3):
            found = reader.unpack({"graph": name, "n_neighbors": k})
            np.testing.assert_array_equal(found, getattr(PARTS.graph, name)[:, :k])
            assert found.flags.c_contiguous
    with pytest.raises(ValueError, match="it refers to 1 neighbours"):
        Reader({}).unpack({"graph": "indices", "n_neighbors": 1})


def test_rows_of_an_array_may_be_far_apart_and_bytes_in_any_order():
    tall = np.arange(10.0).reshape(5, 2)
    for lead in (3, 100, 128):
        for order in ("C", "F"):
            found = Reader({"a": tall}).unpack({"array": "a", "order": order, "lead": lead})
            np.testing.assert_array_equal(found, tall if order == "C" else tall.T)
            assert max(found.strides) == 8 * lead
    found = Reader({"a": tall.astype(">f8")}).unpack({"array": "a", "order": "C", "lead": 0})
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, tall)


def test_arrays_of_the_file_are_referred_to_and_those_that_differ_in_a_bit_are_held():
    def kind(value, parts=PARTS):
        return sorted(Writer(parts).pack(value, "value"))

    shared, held, of_graph = ["dtype", "shared"], ["array", "lead", "order"], ["graph", "n_neighbors"]
    graph = PARTS.graph
    assert kind(X) == kind(X.copy()) == kind(X.astype(np.float32)) == kind(X[:, :1].copy()) == shared
    assert (
        kind(X + np.array([0.0, 1e-9]))
        == kind(X[:3])
        == kind(X.astype(np.int64))
        == kind(np.asfortranarray(X.copy()))
        == held
    )
    signed = Parts(X=np.zeros((2, 2)))
    assert kind(np.zeros((2, 2)), signed) == shared
    assert kind(-np.zeros((2, 2)), signed) == held
    assert kind(X, Parts()) == held
    for k in (1, 2, 3):
        for values in (graph.indices, graph.distances):
            assert Writer(PARTS).pack(values[:, :k].copy(), "value")["n_neighbors"] == k
    assert kind(graph.indices.copy()) == of_graph
    for other in (graph.indices + 1, graph.indices[:, ::-1].copy(), graph.indices.astype(np.int64), graph.indices[:3]):
        assert kind(other) == held
    assert kind(np.concatenate([graph.indices, graph.indices], axis=1)) == kind(graph.indices[:, 0].copy()) == held


@pytest.mark.parametrize(
    ("array", "order", "lead"),
    [
        (np.zeros((3, 4)), "C", 0),
        (np.zeros((3, 4)).T, "F", 0),
        (np.zeros((3, 8))[:, :4], "C", 8),
        (np.zeros((3, 8))[:, :4].T, "F", 8),
        (np.zeros((3, 8))[:, ::2], "C", 0),
        (np.zeros((6, 4))[::2], "C", 8),
        (np.zeros((3, 4))[::-1], "C", 0),
        (np.zeros(9)[::3], "C", 0),
        (np.zeros((0, 8))[:, :4], "C", 0),
        (np.zeros((2, 3, 8))[:, :, :4], "C", 0),
        (np.zeros((3, 256))[:, :4], "C", 256),
        (np.zeros((3, 257))[:, :4], "C", 0),
        (np.zeros(15, "V12").view([("a", "V4"), ("b", "f8")])["b"].reshape(5, 3), "C", 0),
    ],
)
def test_the_layout_of_an_array_is_told(array, order, lead):
    node = Writer().pack(array, "value")
    assert (node["order"], node["lead"]) == (order, lead)
    np.testing.assert_array_equal(through_json(array), array)


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        ([(1, 0.5, True)], 3),
        ([(-(2**63), 2**63 - 1)], 2),
        ([(2**63,)], 0),
        ([(-(2**63) - 1,), (0,)], 0),
        ([(0,), (2**63,)], 0),
        ([(1, 2.0), (3, 4)], 0),
        ([(1,), (1, 2)], 0),
        ([(1,), [1]], 0),
        ([[1], [2]], 0),
        ([(None,), (None,)], 0),
        ([(1, "a"), (2, "b")], 0),
        ([Residuals(1, 0.1, 0.2, 3.0)] * 2, 4),
        ([Residuals(1, 0.1, 0.2, 3.0), (1, 0.1, 0.2, 3.0)], 0),
        ([()], 0),
        ([], 0),
    ],
)
def test_equal_tuples_of_numbers_are_columns(values, columns):
    node = Writer().pack(values, "value")
    assert len(node.get("columns", [])) == columns
    found = through_json(values)
    assert (found, [type(one) for one in found]) == (values, [type(one) for one in values])


def test_a_value_that_no_file_can_hold_is_named_by_where_it_stands():
    for value, what in (
        ({"a": (1, [print])}, "value.a.1.0 is a function"),
        ({3: object()}, "value.3 is of type object"),
        ({"a": 1, 2: 3}, "value is of type dict"),
        ({True: 1}, "value is of type dict"),
        (np.array([["a"]], dtype=object), "value holds objects"),
        (np.array(["a", 1], dtype=object), "value holds objects"),
        (np.zeros(2, np.float16), "value is of type float16"),
        (sp.csr_array(np.eye(2) * 1j), "value is of type complex128"),
        (type("StudentT", (), {})(), "value is of type StudentT"),
        (StudentT, "value is a function"),
    ):
        with pytest.raises(NotStorableError) as caught:
            Writer().pack(value, "value")
        assert str(caught.value) == what
    broken = sp.csr_array(np.eye(2))
    broken.indices[0] = 9
    with pytest.raises(NotStorableError, match=r"^value: a column number of X is outside of \[0, 2\)$"):
        Writer().pack(broken, "value")
