"""Values that are written as nodes and arrays are read as the same values; nothing else is read."""

import json
import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from gnomon.kernels import CustomKernel, OutputKernel, StudentT
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
    for other in (other_values, wide, moved, cut, X[:1]):
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
