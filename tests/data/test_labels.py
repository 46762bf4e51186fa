"""Labels of any container and kind: classes, measured numbers, dates, and rows without one."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gnomon._entrance import entrance
from gnomon.data import check_labels
from gnomon.data.labels import in_order, measured_labels, name_of, order_of, sort_into_classes
from gnomon.plot.colors import colors_of
from gnomon.viewer.columns import encode_column

NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        (["a", "b"], "U", ["a", "b"]),
        ([1, 2], "i", [1, 2]),
        (["a", None], "O", ["a", None]),
        (["a", 1], "O", ["a", 1]),
        (pd.Series(["a", "b"], dtype="category"), "U", ["a", "b"]),
        (pl.Series(["a", "b"]), "U", ["a", "b"]),
        (np.array([[1], [2]]), "i", [1, 2]),
        (np.array(["a", "b"], dtype=object), "U", ["a", "b"]),
        (pd.Series(["a", None], dtype="category"), "O", ["a", None]),
        (pd.array(["a", None], dtype="string"), "O", ["a", None]),
        (pl.Series(["a", None]), "O", ["a", None]),
        (pa.chunked_array([["a", None]]), "O", ["a", None]),
        (["a", ""], "O", ["a", None]),
        (np.array(["a", "  "]), "O", ["a", None]),
        (["a", NAN], "O", ["a", None]),
        ([None, None], "O", [None, None]),
        ([True, None], "O", [True, None]),
    ],
)
def test_labels_of_any_container(labels, kind, expected):
    checked = check_labels(labels, 2)
    assert checked.dtype.kind == kind
    assert checked.tolist() == expected


@pytest.mark.parametrize("labels", ["ab", 3, None])
def test_labels_must_be_a_sequence(labels):
    with pytest.raises(TypeError, match="a sequence of labels"):
        check_labels(labels, 2)


def test_labels_must_be_one_column():
    with pytest.raises(ValueError, match=r"one-dimensional \(shape=\(2, 3\)\).*argmax"):
        check_labels(np.eye(3)[:2], 2)


@pytest.mark.parametrize("labels", [[1, None], pd.array([1, None], dtype="Int64"), pl.Series([1, None]), [1.0, NAN]])
def test_numbers_stay_numbers_where_one_is_missing(labels):
    checked = check_labels(labels, 2)
    assert checked.dtype.kind == "f"
    np.testing.assert_array_equal(checked, [1.0, NAN])


def test_whole_numbers_in_objects_stay_whole_as_long_as_64_bits_hold_them():
    held, beyond = [2**63 - 1, -(2**63) + 1], [2**63, 1]
    assert check_labels(np.array(held, dtype=object), 2).tolist() == held
    assert check_labels(np.array(beyond, dtype=object), 2).tolist() == [2.0**63, 1.0]


@pytest.mark.parametrize(
    "labels",
    [
        [datetime.date(2024, 5, 31), None],
        [datetime.datetime(2024, 5, 31), None],
        pd.Series(pd.to_datetime(["2024-05-31", None])),
        pl.Series([datetime.date(2024, 5, 31), None]),
        np.array(["2024-05-31", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_dates_are_dates(labels):
    checked = check_labels(labels, 2)
    assert checked.dtype.kind == "M"
    assert checked.astype("datetime64[D]").astype(str).tolist() == ["2024-05-31", "NaT"]
    np.testing.assert_array_equal(measured_labels(checked), [1717113600.0, NAN])


def test_classes_are_sorted_and_rows_without_a_label_are_in_none():
    texts = sort_into_classes(["b", None, "a", "", "b"])
    assert texts.values == ["a", "b"]
    assert texts.codes.tolist() == [1, -1, 0, -1, 1]
    numbers = sort_into_classes([10, 9, None, 10.0])
    assert numbers.names == ["9", "10"]
    assert numbers.codes.tolist() == [1, 0, -1, 1]
    mixed = sort_into_classes(["b", 2, 10, True, None])
    assert mixed.codes.tolist() == [3, 1, 2, 0, -1]
    assert sort_into_classes(np.array([3, 1, 3])).codes.tolist() == [1, 0, 1]
    assert len(sort_into_classes([None, NAN])) == 0


def test_the_most_frequent_label_leaves_rows_without_one_out():
    classes = sort_into_classes(["a", None, None, None, "b", "b"])
    assert classes.most_frequent([0, 1, 2, 3]) == "a"
    assert classes.most_frequent([0, 4]) == "a"  # the first of equals
    assert classes.most_frequent([0, 4, 5]) == "b"
    assert classes.most_frequent([4, 5]) == "b"  # though no row is "a"
    assert classes.most_frequent([1, 2]) is None


def test_fractions_of_many_values_are_measured_and_whole_numbers_are_classes():
    assert measured_labels(np.linspace(0, 1, 13)) is not None
    assert measured_labels(np.linspace(0, 1, 12)) is None
    assert measured_labels(np.arange(300.0)) is None
    assert measured_labels(np.arange(300)) is None
    assert measured_labels(np.array(["a", "b"])) is None


def test_texts_have_the_classes_that_sorting_gives():
    texts = np.array(["b", "", "a", "Z", "ü", "b", " ", "a", "10", "9"])
    classes = sort_into_classes(texts)
    assert classes.values == ["9", "10", "Z", "a", "b", "ü"]
    assert classes.codes.tolist() == [4, -1, 3, 2, 5, 4, -1, 3, 1, 0]


def test_texts_are_sorted_by_the_numbers_in_them():
    ordered = ["-2", "9", "10", "1e3", "b 2.5", "b 2.10", "c2", "c10", "c10x2", "c10x11", "nan?"]
    shuffled = np.array(ordered)[::-1]
    assert sort_into_classes(shuffled).values == ordered
    assert sort_into_classes(shuffled).codes.tolist() == list(range(len(ordered)))[::-1]
    assert sort_into_classes(np.array([*ordered[::-1], 3, 2.5], dtype=object)).values == [2.5, 3, *ordered]
    many = np.array([f"row {i}" for i in range(10_001)])
    assert sort_into_classes(many).values == sorted(many.tolist())  # the time that it takes counts


def test_page_and_figures_have_classes_in_one_order():
    labels = np.array([f"cluster {i}" for i in range(1, 13)])
    names = [f"cluster {i}" for i in range(1, 13)]
    assert encode_column(labels[::-1], 12, name="labels").categories == names
    assert colors_of(labels[::-1], None, 12).names == names


def test_texts_are_sorted_once_in_a_call_and_anew_in_the_next():
    texts = np.array(["b", "a", "b", ""])

    @entrance("outer")
    def sorted_twice():
        first = sort_into_classes(texts)
        assert sort_into_classes(texts) is first
        return first

    assert sorted_twice().codes.tolist() == [1, 0, 1, -1]
    texts[3] = "c"
    assert sorted_twice().values == ["a", "b", "c"]


class Holder:
    """What NumPy can read and has no length."""

    def __array__(self, dtype=None, copy=None):
        return np.array([2, 1])


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


BERLIN = datetime.timezone(datetime.timedelta(hours=2))
DAY = datetime.date(2024, 5, 31)


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        (Holder(), "i", [2, 1]),
        (objects(1, 2.5), "f", [1.0, 2.5]),
        (objects(1.5, np.float64(2.5)), "f", [1.5, 2.5]),
        (objects(True, 2), "O", [True, 2]),
        (objects(True, False), "O", [True, False]),
        (objects(DAY, "a"), "O", [DAY, "a"]),
        (objects("a", b"b"), "O", ["a", b"b"]),
        (objects("a", np.str_("b")), "U", ["a", "b"]),
        (
            objects(datetime.datetime(2024, 5, 31, 1, tzinfo=BERLIN), datetime.datetime(2024, 5, 31, 1)),
            "M",
            [datetime.datetime(2024, 5, 30, 23), datetime.datetime(2024, 5, 31, 1)],
        ),
        (pd.Series([3, 1], dtype="category"), "i", [3, 1]),
        (pd.Series([True, False], dtype="category"), "b", [True, False]),
        (pd.Series(np.array(["2024-05-31", "2024-06-01"], "M8[s]")).astype("category"), "M", None),
        (pd.Series([3, None], dtype="category"), "O", ["3", None]),
        (pd.Series(["", "b"], dtype="category"), "O", [None, "b"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), "U", ["b", "a"]),
        (["a", "\t"], "O", ["a", None]),
        (np.array([True, False]), "b", [True, False]),
    ],
)
def test_labels_keep_their_kind(labels, kind, expected):
    checked = check_labels(labels, 2)
    assert checked.dtype.kind == kind
    assert expected is None or checked.tolist() == expected


def test_categories_of_text_alone_carry_their_order():
    for given, order in (
        (pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["b", "c", "a"])), ("b", "c", "a")),
        (pd.Series(["a", None], dtype=pd.CategoricalDtype(["b", "a"])), ("b", "a")),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), ("b", "a")),
        (pd.Series([3, 1], dtype="category"), ()),
        (pd.Series(["a", "b"]), ()),
        (np.array([["a"], ["b"]]), ()),
    ):
        checked = check_labels(given, 2)
        assert order_of(checked) == order
        assert order_of(check_labels(checked, 2)) == order
    ordered = in_order(np.array(["a", "z", "b", "y"]), ["b", "a"])
    assert sort_into_classes(ordered).values == ["b", "a", "y", "z"]  # those without a place last
    assert sort_into_classes(ordered).codes.tolist() == [1, 3, 0, 2]
    plain = np.array(["a"])
    assert in_order(plain, []) is plain


@pytest.mark.parametrize(
    ("labels", "error", "text"),
    [
        (
            [[1], [1, 2]],
            ValueError,
            "labels must be one label for each row (some rows have several). Join those of a row to one text, or",
        ),
        (iter("ab"), TypeError, "must be a sequence of labels ("),
        (b"ab", TypeError, "labels=b'ab' must be a sequence of labels (bytes)."),
        (np.array([1j, 2]), ValueError, "labels must be text or real numbers (Complex data not supported)."),
        ([1, 2, 3], ValueError, "labels must be one for each row (3 labels, 2 rows)."),
        (
            np.zeros((2, 1, 1)),
            ValueError,
            "labels must be one-dimensional (shape=(2, 1, 1)). Pass one label for each row",
        ),
        (np.eye(2), ValueError, "of indicator columns such as these, labels.argmax(axis=1)."),
        (np.ones((2, 3)), ValueError, "of which a row may have several or none, one at a time, such as labels[:, 0]."),
        (np.array([[0, 1, 0], [0, 0, 0]]), ValueError, "one at a time, such as labels[:, 0]."),
        (np.array([[0, 2], [1, 0]]), ValueError, "Pass one label for each row."),
        (np.array(3), ValueError, "labels must be one-dimensional (shape=())."),
    ],
)
def test_what_is_no_column_of_labels_is_refused(labels, error, text):
    with pytest.raises(error) as caught:
        check_labels(labels, 2)
    assert text in str(caught.value)
    assert str(caught.value).startswith("gnomon: ")


def test_classes_are_of_one_column():
    with pytest.raises(ValueError, match="labels must be one-dimensional"):
        sort_into_classes(np.eye(3))
    for column in (np.array([[2.0], [1.0]]), np.array([["b"], ["a"]])):
        assert sort_into_classes(column).codes.tolist() == [1, 0]
    assert sort_into_classes(np.array([NAN, 1.5])).codes.tolist() == [-1, 0]
    dates = sort_into_classes(np.array(["2024-05-31", "NaT"], dtype="M8[D]"))
    assert (dates.names, dates.codes.tolist(), dates.labelled.tolist()) == (["2024-05-31"], [0, -1], [True, False])


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (2.0, "2"),
        (0.25, "0.25"),
        (7, "7"),
        (True, "True"),
        ("a", "a"),
        (DAY, "2024-05-31"),
        (datetime.datetime(2024, 5, 31), "2024-05-31"),
        (datetime.datetime(2024, 5, 31, 12, 30), "2024-05-31 12:30:00"),
        (datetime.time(), "00:00:00"),
    ],
)
def test_labels_have_names(label, name):
    assert name_of(label) == name


def test_as_many_texts_as_are_sorted_by_their_numbers_are():
    texts = np.array([f"row {i}" for i in range(10_000)])
    for given in (texts, texts.astype(object)):
        assert sort_into_classes(given).values[9:11] == ["row 9", "row 10"]
    more = [*texts.tolist(), "row 10000", None, 3]
    assert sort_into_classes(np.array(more, dtype=object)).values == [3, *sorted(more[:-2])]


def test_measured_labels_that_are_not_finite_are_unknown():
    labels = np.r_[np.linspace(0, 1, 13), np.inf, NAN].astype(np.float32)
    found = measured_labels(labels)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(found), np.arange(15) >= 13)
    stamps = measured_labels(np.array(["1970-01-01T00:00:01.5", "1969-12-31"], dtype="M8[ms]"))
    assert stamps.tolist() == [1.5, -86400.0]
