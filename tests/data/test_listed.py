"""Lists of texts in the cells of a column, and texts that write them: an indicator for each of their entries."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns import raw_columns
from gnomon.data.columns.answers import split_by
from gnomon.data.columns.listed import read_list, written_lists

WORDS = ["Python", "C++", "it's", 'say "hi"', "x, y", "back\\slash", "Go"]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("['a', 'b c']", ["a", "b c"]),
        ('["a", "b, c"]', ["a", "b, c"]),
        ("['a' \"it's\"]", ["a", "it's"]),
        ("[np.str_('a'), np.str_('b')]", ["a", "b"]),
        ("('a', 'b')", ["a", "b"]),
        ("('a',)", ["a"]),
        ("{'b', 'a'}", ["b", "a"]),
        ("{a,b}", ["a", "b"]),
        ("[rock, folk metal]", ["rock", "folk metal"]),
        (r"['it\'s', 'a\\b']", ["it's", "a\\b"]),
        (" [ ] ", []),
        ("['']", []),
        ("['12', '7']", ["12", "7"]),
    ],
)
def test_lists_are_read_as_programs_write_them(text, entries):
    assert read_list(text) == entries


@pytest.mark.parametrize(
    "text",
    [
        *("", "a, b", "[1, 2]", "(0, 10]", "[0.1 0.2]", "(Berlin, Germany)", "[a] and [b]", "['a', ['b']]", "{'a': 1}"),
        *("['a", "a']", "['a' b]", "[note]: see below", "['a';'b']", "{'a': 'b'}"),
    ],
)
def test_other_texts_in_brackets_are_none(text):
    assert read_list(text) is None


def test_lists_are_written_so_that_they_are_read():
    column = np.empty(4, dtype=object)
    column[:] = [WORDS, (), None, {"b", "a"}]
    written = written_lists(column)
    assert read_list(written[0]) == WORDS
    assert written[1:].tolist() == ["[]", None, "['a', 'b']"]
    for other in ([1, "a"], [["a"], "b"], [{"a": 1}, None], [[1, 2], ["a"]], [[], []]):
        column = np.empty(2, dtype=object)
        column[:] = other
        assert written_lists(column) is None


def picked(seed, n=120, words=WORDS):
    draw = np.random.default_rng(seed)
    return [[word for word in words if draw.random() < 0.3] for _ in range(n)]


FORMS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "array": lambda one: np.array(one, dtype=object),
    "python": str,
    "json": json.dumps,
    "numpy": lambda one: str([np.str_(word) for word in one]),
}


@pytest.mark.parametrize("form", [*FORMS])
def test_each_entry_has_an_indicator(form, tmp_path):
    lists = picked(0)
    draw = np.random.default_rng(1)
    table = pd.DataFrame(
        {"a": draw.normal(size=120), "used": [FORMS[form](one) for one in lists], "b": draw.random(120)}
    )
    made = gn.TablePreprocessor().fit(table)
    assert [*made.get_feature_names_out()] == ["a", *(f"used = {word}" for word in sorted(WORDS)), "b"]
    wanted = np.array([[float(word in one) for word in sorted(WORDS)] for one in lists])
    np.testing.assert_array_equal(made.transform(table)[:, 1:-1], wanted)
    new = table.head(2).assign(used=[FORMS[form]([]), FORMS[form](["Go"])])
    assert made.transform(new)[:, 1:-1].sum(axis=1).tolist() == [0.0, 1.0]


def test_lists_of_records_and_files_are_those_of_frames(tmp_path):
    draw = np.random.default_rng(1)
    columns = {"a": draw.normal(size=120).tolist(), "used": picked(0), "b": draw.random(120).tolist()}
    table = pd.DataFrame(columns)
    wanted = gn.map(table, "pca")
    assert "'used' (lists in cells: 7)" in wanted.notes[0]
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    read = [gn.read_table(tmp_path / name) for name in ("t.csv", "t.parquet")]
    for form in (*read, columns, table.to_dict("records")):
        np.testing.assert_array_equal(gn.map(form, "pca").embedding, wanted.embedding)
    wanted.save(tmp_path / "m.gnomon")
    again = gn.load(tmp_path / "m.gnomon").transform(table.head(3))
    np.testing.assert_array_equal(again, wanted.transform(table.head(3)))


def test_an_empty_list_is_known_and_an_empty_cell_is_missing():
    lists = [*picked(0), None]
    table = pd.DataFrame({"a": np.random.default_rng(1).normal(size=121), "used": lists})
    rule = gn.TablePreprocessor().fit(table).rules_[1]
    found = rule.encode(raw_columns(table)["used"].values, keep_missing=True)
    assert np.isnan(found[-1]).all()
    assert not np.isnan(found[:-1]).any()
    assert not found[[not one for one in lists[:-1]] + [False]].any()


def test_lists_of_many_different_words_are_not_split():
    many = [str(one) for one in picked(0, words=[f"word {k}" for k in range(40)])]
    assert split_by(many, 30) == ("", ())
    assert split_by([str([f"word {k}"]) for k in range(60)], 30) == ("", ())
