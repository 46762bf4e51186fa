"""Blocks of columns: which columns they name, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.data import check_blocks, columns_of_blocks

NAMES = ["age", "word_a", "word_b", "a*"]


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ("age", [0]),
        (["word_b", "age"], [2, 0]),
        ("word_*", [1, 2]),
        ("a*", [3]),  # a name that is there is no pattern
        (["word_?", "word_a"], [1, 2]),
        (3, [3]),
        (range(1, 3), [1, 2]),
        (np.array([2, 0]), [2, 0]),
    ],
)
def test_names_patterns_and_numbers_are_found_in_their_order(columns, wanted):
    assert gn.Block(columns).find(NAMES).tolist() == wanted


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"columns": []}, r"Block: columns=\[\] must be names or different numbers"),
        ({"columns": [1, 1]}, "different numbers >= 0"),
        ({"columns": [1, "age"]}, "names or different numbers"),
        ({"columns": [-1]}, "numbers >= 0"),
        ({"columns": "age", "weight": -1.0}, r"weight=-1.0 must be a number >= 0"),
        ({"columns": "age", "metric": "precomputed"}, "metric='precomputed' must be a metric between rows"),
        ({"columns": "age", "scale": "other"}, "scale='other' must be one of"),
    ],
)
def test_a_block_that_is_none_is_refused(given, text):
    with pytest.raises(ValueError, match=text):
        gn.Block(**given)
    with pytest.raises(TypeError, match="metric_params must be a dict or None"):
        gn.Block("age", metric_params=3)


def test_a_name_that_is_not_there_is_answered_by_one_that_is_near():
    with pytest.raises(ValueError, match=r"block column='aeg' must be one of those in the data .* Did you mean 'age'"):
        gn.Block("aeg").find(NAMES)
    with pytest.raises(ValueError, match="column 4 of a block must be below 4"):
        gn.Block([4]).find(NAMES)


@pytest.mark.parametrize("name", ["word_[ab]", "[aw]ord_a"])
def test_brackets_are_part_of_a_name_and_no_pattern(name):
    with pytest.raises(ValueError, match="block column="):
        gn.Block(name).find(NAMES)
    assert gn.Block(name).find([*NAMES, name]).tolist() == [4]


def test_a_column_belongs_to_one_block():
    with pytest.raises(ValueError, match=r"blocks must be of different columns .*'word_a' is in 'one' and in 'two'"):
        columns_of_blocks({"one": gn.Block([0, 1]), "two": gn.Block("word_a")}, NAMES)


def test_blocks_are_a_dict_with_a_weight_in_it():
    with pytest.raises(TypeError, match=r"blocks must be a dict of names and gnomon\.Block"):
        check_blocks([gn.Block("age")])
    with pytest.raises(ValueError, match="weights of blocks must be > 0 for one block"):
        check_blocks({"one": gn.Block("age", weight=0.0)})


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (gn.Block("age"), "'age', euclidean"),
        (gn.Block(["age", "word_*"], metric="cosine", weight=0.5), "'age', 'word_*', cosine, weight 0.5"),
        (gn.Block(3, weight=2), "1 column, euclidean, weight 2"),
        (gn.Block([3, 4], metric=np.hypot), "2 columns, hypot"),
    ],
)
def test_a_block_says_its_columns_metric_and_weight(block, text):
    assert str(block) == text


def test_numbers_of_columns_may_be_of_any_type():
    for given in (np.int64(3), 3.0, [3], (np.uint8(3),)):
        assert gn.Block(given).find(NAMES).tolist() == [3]
    with pytest.raises(ValueError, match=r"^Block: columns=None must be names or different numbers >= 0 of columns"):
        gn.Block(None)
    with pytest.raises(ValueError, match=r"column 4 of a block must be below 4 \(the table has 4 columns\)"):
        gn.Block([0, 4]).find(NAMES)


def test_parts_of_a_block_are_kept_as_they_are():
    params = {"p": 3}
    block = gn.Block("age", metric="minkowski", metric_params=params, weight=2, scale=None)
    assert (block.metric, block.metric_params, block.weight, block.scale) == ("minkowski", params, 2.0, None)
    assert type(block.weight) is float
    plain = gn.Block("age")
    assert (plain.metric, plain.metric_params, plain.weight, plain.scale) == ("euclidean", None, 1.0, "auto")
    with pytest.raises(TypeError, match=r"metric_params must be a dict or None \(found list\)"):
        gn.Block("age", metric_params=[])
    with pytest.raises(TypeError, match=r"metric=3 must be the name of a metric or a callable"):
        gn.Block("age", metric=3)


@pytest.mark.parametrize(
    "given",
    [{}, {1: gn.Block("age"), "a": gn.Block("age")}, {"a": gn.Block("age"), "b": "age"}, None, {"a": None}],
)
def test_what_is_no_dict_of_names_and_blocks_is_refused(given):
    with pytest.raises(TypeError, match=r"^gnomon: blocks must be a dict of names and gnomon\.Block\. Pass blocks="):
        check_blocks(given)


def test_one_block_with_a_weight_is_enough_and_blocks_have_their_columns():
    blocks = {"one": gn.Block("word_*", weight=0.0), "two": gn.Block("age", weight=0.5)}
    assert check_blocks(blocks) == blocks
    found = columns_of_blocks(blocks, NAMES)
    assert {name: columns.tolist() for name, columns in found.items()} == {"one": [1, 2], "two": [0]}
