"""Gaps that one column makes, or a few, are named by them."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import are_apart, is_continuum, is_real, judge_gaps
from gnomon.evaluation.gaps.columns import check_columns, columns_of_gap, columns_of_one_value
from gnomon.evaluation.gaps.sentences import told_of_columns

_ALONE = " It is that of {} alone: without this column none is seen."
_OPTIONS = {"n_nulls": 19, "max_rows": 300}


def _with_a_coin(n=300, seed=0):
    draw = np.random.default_rng(seed)
    coin = draw.random(n) < 0.4
    return np.column_stack([draw.normal(size=(n, 3)), coin / coin.std()]), coin


def test_a_truth_value_that_depends_on_nothing_is_named_by_every_question():
    X, coin = _with_a_coin()
    told = [
        are_apart(X, None, coin, ~coin, **_OPTIONS),
        is_real(X, None, coin, **_OPTIONS),
        *judge_gaps(X, np.column_stack([30.0 * coin, X[:, 0]]), coin, **_OPTIONS),
    ]
    assert [one.answer for one in told] == ["yes"] * 4
    assert all(one.sentence.endswith(": a gap." + _ALONE.format("feature 3")) for one in told)
    continuum = is_continuum(X, None, coin, ~coin, **_OPTIONS)
    assert (continuum.answer, continuum.sentence) == ("no", told[0].sentence)
    assert are_apart(X, None, coin, ~coin, columns={}, **_OPTIONS).sentence.endswith(": a gap.")
    named = are_apart(X, None, coin, ~coin, columns={"all else": [0, 1, 2], "coin": slice(3, 4)}, **_OPTIONS)
    assert named.sentence.endswith(_ALONE.format("coin"))


def test_a_gap_that_other_columns_have_too_is_not_of_one_alone():
    X, coin = _with_a_coin()
    X[:, :3] += 8.0 * coin[:, None]
    assert are_apart(X, None, coin, ~coin, **_OPTIONS).sentence.endswith(": a gap.")


def _fall(sides, nothing=0.0):
    """Return a fall of 1 where some column of numbers parts sides wholly, else of `nothing`."""

    def fall(X):
        a, b = X[sides], X[~sides]
        return 1.0 if ((a.min(axis=0) > b.max(axis=0)) | (a.max(axis=0) < b.min(axis=0))).any() else nothing

    return fall


def test_columns_are_taken_out_until_no_gap_is_left_up_to_three_and_half_of_all():
    draw = np.random.default_rng(1)
    sides = np.arange(200) < 70
    for n_columns, n_parting in [(8, 1), (8, 2), (8, 3), (8, 4), (2, 1), (4, 2), (4, 3), (8, 0)]:
        X = draw.normal(size=(200, n_columns))
        X[:, :n_parting] += 12.0 * sides[:, None]
        columns = {f"c{f}": np.array([f]) for f in range(n_columns)}
        found, alone = columns_of_gap(X, sides, ~sides, columns, _fall(sides), 1.0)
        expected = n_parting if n_parting <= min(3, n_columns // 2) else 0
        assert set(found) == {f"c{f}" for f in range(expected)}
        assert alone == (expected > 0)
        halved, alone = columns_of_gap(X, sides, ~sides, columns, _fall(sides, 0.6), 1.0)
        assert (halved, alone) == (found, False)  # without them density still falls


def test_columns_in_which_alone_no_gap_is_seen_do_not_make_it_alone():
    sides = np.arange(200) < 70
    X = np.random.default_rng(1).normal(size=(200, 4))
    X[:, 0] += 12.0 * sides
    columns = {f"c{f}": np.array([f]) for f in range(4)}
    assert columns_of_gap(X, sides, ~sides, columns, lambda some: float(some.shape[1] == 4), 1.0) == (["c0"], False)
    X[:, 0] = sides
    assert columns_of_gap(X, sides, ~sides, columns, lambda some: float(some.shape[1] == 4), 1.0) == (["c0"], True)
    assert told_of_columns(["c0"], alone=False) == " Without c0 it could not be shown."


def test_levels_of_categories_tell_sides_apart_together_and_also_those_between_others():
    draw = np.random.default_rng(2)
    town, shop = draw.integers(0, 4, 400), draw.integers(0, 3, 400)
    X = np.column_stack([draw.normal(size=400), town[:, None] == np.arange(4), shop, draw.normal(size=(400, 2))])
    columns = {"x": np.array([0]), "town": np.arange(1, 5), "shop": np.array([5])} | {
        name: np.array([f]) for f, name in enumerate("yz", start=6)
    }
    for sides, expected in {
        "two towns": (town < 2, ["town"]),
        "a shop between others": (shop == 1, ["shop"]),
        "a shop in two towns": ((shop == 1) & (town < 2), ["shop", "town"]),
        "neither": (draw.random(400) < 0.5, []),
    }.values():
        found, _ = columns_of_gap(X, sides, ~sides, columns, lambda left: float(left.shape[1] == X.shape[1]), 1.0)
        assert set(found) == set(expected)
        assert columns_of_gap(X, sides, ~sides, columns, lambda left: 1.0, 1.0) == ([], False)


def test_a_map_names_the_column_of_a_category():
    draw = np.random.default_rng(3)
    country = np.array(["DE", "FR", "IT"])[draw.integers(0, 3, 300)]
    table = {"size": draw.normal(size=300), "age": draw.normal(size=300), "country": country}
    made = gn.map(table, "pca", random_state=0)
    found = made.is_real("country=FR", n_nulls=19)
    assert found.sentence.endswith(_ALONE.format("country"))
    by_levels = is_real(made._mapped(), None, country == "FR", n_nulls=19)
    assert by_levels.sentence.endswith(": a gap.")  # each indicator by itself is what the two others say too
    told = made.are_apart(country == "FR", country == "DE", n_nulls=19)
    assert told.sentence.endswith(_ALONE.format("country"))


def test_columns_that_are_none_are_refused():
    X, coin = _with_a_coin()
    with pytest.raises(
        TypeError, match=r"are_apart: columns=\['a'\] must be a mapping of names to numbers of features"
    ):
        are_apart(X, None, coin, ~coin, columns=["a"])
    for wrong in ({"a": [4]}, {"a": "b"}):
        with pytest.raises(
            ValueError, match="is_real: columns must be a mapping of names to numbers of features, below 4"
        ):
            is_real(X, None, coin, columns=wrong)


def test_columns_are_named_in_straight_distances_alone():
    X, coin = _with_a_coin()
    X[:, 3] = np.where(coin, 8.0, -8.0)
    assert are_apart(X, None, coin, ~coin, **_OPTIONS).sentence.endswith(_ALONE.format("feature 3"))
    for metric in ("cosine", "periodic(400)"):
        assert are_apart(X, None, coin, ~coin, metric=metric, **_OPTIONS).sentence.endswith(": a gap.")


def test_features_that_no_column_is_given_for_count_by_themselves():
    draw = np.random.default_rng(0)
    country = np.eye(3)[draw.integers(0, 3, 300)]
    X = np.c_[draw.normal(size=(300, 4)), 6.0 * country]
    a = country[:, 0] == 1
    told = " It is that of country alone: without this column none is seen."
    found = are_apart(X, None, a, ~a, columns={"country": [4, 5, 6]}, n_nulls=19)
    assert (found.answer, found.sentence.endswith(told)) == ("yes", True)
    assert list(check_columns({"two": [1, 2]}, list("abcd"))) == ["two", "a", "d"]
    assert check_columns({}, ["a"]) == {}


def test_columns_of_a_value_on_each_side_are_found_and_categories_of_other_levels():
    rng = np.random.default_rng(0)
    a, rest = np.arange(90) < 40, np.arange(90) >= 50
    X = rng.normal(size=(90, 7))
    X[:, 1] = np.where(a, 2.0, 5.0)
    X[:, 2] = np.where(a, 0.0, rng.integers(1, 4, 90))  # a count that a lacks is no label
    X[:, 3:6] = np.eye(3)[np.where(a, 0, rng.integers(1, 3, 90))]
    columns = {"own": [0], "flag": [1], "count": [2], "kind": [3, 4, 5], "last": [6]}
    known = {name: np.array(at) for name, at in columns.items()}
    for one, other in ((a, rest), (rest, a)):
        assert columns_of_one_value(X, one, other, known) == ["flag", "kind"]
    X[0, 1] = 5.0
    X[89, 3:6] = [1.0, 0.0, 0.0]
    assert columns_of_one_value(X, a, rest, known) == []


@pytest.mark.parametrize(
    ("n_leaked", "answer", "told"),
    [
        (0, "no", ""),
        (1, "cannot be told", " 'c0' alone tells the two apart, "),
        (3, "cannot be told", " Each of the columns 'c0', 'c1', 'c2' tells the two apart, "),
        (5, "yes", ""),
    ],
)
def test_where_no_gap_can_be_told_a_column_that_is_the_groups_is_named(n_leaked, answer, told):
    rng = np.random.default_rng(1)
    X, first = rng.normal(size=(200, 8)), rng.random(200) < 0.5
    X[:, :n_leaked] = first[:, None]
    found = are_apart(X, None, first, ~first, n_nulls=19, columns={f"c{f}": [f] for f in range(8)})
    assert found.answer == answer
    assert told in found.sentence
    assert found.sentence.endswith("leave out such columns and ask again.") == bool(told)
    assert not told or "would tell" not in found.sentence
