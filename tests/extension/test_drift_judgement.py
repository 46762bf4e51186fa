"""From which numbers on new rows are said to differ and to speak for a new fit, and how: of drifts made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import betabinom

from gnomon.extension.drift.columns import ColumnShift, MissingShift, UnknownShift
from gnomon.extension.drift.judgement import _rank
from gnomon.extension.drift.result import Drift

ALIKE = Drift(1000, 100, 1000, np.full(100, 0.5), 0.05, 0.0, 0.1, 0.2, 0.6, 0.6, 1.0, 15, [], {})
"""100 new rows like the 1000 of a map."""
JUST = 1e-9


def columns(shifts=(0.1, 0.1), p_value=1.0, constant=(), together=0.0, together_p_value=1.0):
    order, same = np.arange(len(shifts)), np.array(constant, dtype=int)
    return ColumnShift(order, np.array(shifts), 0.2, p_value, same, 2, together, 0.15, together_p_value)


def test_a_row_is_unusual_if_more_than_95_percent_of_the_old_are_less_novel():
    for novelty, told in ((0.95, False), (0.951, True)):
        drift = replace(ALIKE, novelty=np.repeat([novelty, 0.2], [20, 80]), unusual=0.2)
        assert drift.refit == told


def test_the_rank_beyond_which_a_row_is_unusual_is_the_first_that_more_than_95_percent_are_below():
    for n in range(1, 500):
        assert _rank(n) == next(rank for rank in range(1, n + 1) if rank / n > 0.95)


def test_rows_like_the_old_have_nothing_told_of_them():
    assert (ALIKE.reasons, ALIKE.differences, ALIKE.slight, ALIKE.refit, ALIKE.differs) == ([], [], [], False, False)
    assert (ALIKE.n_blank, ALIKE.n_equal, ALIKE.n_repeated, len(ALIKE.copies)) == (0, 0, 0, 0)
    assert ALIKE.summary().splitlines() == [
        "100 new rows among 1,000: 5.0% unusual (5 % expected), 0.0% out of range",
        "how far out they lie, not where (their novelty), differs in distribution by 0.10, by chance up to 0.20",
        "15 nearest old rows kept in the map: 60% for new rows, 60% for old",
        "No need to fit again.",
    ]
    held_out = replace(ALIKE, n_compared=400).summary().splitlines()
    assert held_out[2] == "novelty is told by 400 old rows, held out of the components of others"


@pytest.mark.parametrize("n_old", [300, 1000, 2000])
def test_so_many_unusual_rows_speak_for_a_new_fit_as_are_hardly_ever_by_chance(n_old):
    rank = 19 * n_old // 20 + 1  # an unusual row has more than 95 % of the old below it
    chances = betabinom.sf(np.arange(21) - 1, 20, n_old - rank + 1, rank)
    enough = int(np.flatnonzero(chances <= 0.0025)[0])
    for count, refit in ((enough, True), (enough - 1, False)):
        novelty = np.where(np.arange(20) < count, 0.951, 0.0)
        drift = replace(ALIKE, n_old=n_old, n_compared=n_old, n_new=20, novelty=novelty, unusual=count / 20)
        assert drift.refit == refit
    text = f"{enough / 20:.0%} of the new rows lie farther out than 95 % of the old (more than 15%, and than chance)"
    novelty = np.where(np.arange(20) < enough, 0.951, 0.0)
    drift = replace(ALIKE, n_old=n_old, n_compared=n_old, n_new=20, novelty=novelty, unusual=enough / 20)
    assert drift.reasons == [text]
    held_out = replace(drift, n_old=n_old + 1).reasons[0]
    assert held_out == text.replace("lie farther out than 95 % of the old", "are less like the old than 95 % of these")
    assert not replace(drift, unusual=0.15).refit


def test_rows_that_are_far_out_together_speak_for_a_new_fit_though_few_are_unusual():
    far = replace(ALIKE, n_new=20, novelty=np.full(20, 0.94), unusual=0.2)
    assert far.refit
    assert not replace(far, novelty=np.linspace(0.025, 0.975, 20)).refit


def test_neighbours_lost_speak_for_a_new_fit_beyond_a_share_and_chance():
    lost = replace(ALIKE, preserved_old=0.6, preserved_new=0.44, lost_by_chance=0.0025)
    assert lost.reasons == ["new rows keep 16% of their neighbours less than old rows (more than 15%)"]
    assert not replace(lost, lost_by_chance=0.0025 + JUST).refit
    assert not replace(lost, preserved_old=0.15, preserved_new=0.0).refit
    chance = replace(lost, lost_by_chance=0.1)
    assert chance.summary().endswith("No need to fit again: what speaks for it may be chance, of 100 new rows.")
    one = replace(ALIKE, n_new=1, novelty=np.array([0.96]), unusual=1.0, n_compared=100)
    assert one.summary().endswith("No need to fit again: what speaks for it may be chance, of one new row.")
    assert replace(ALIKE, unusual=0.15).summary().endswith("No need to fit again.")


def test_a_new_group_speaks_for_a_new_fit_beyond_a_share_and_is_named_by_its_rows():
    group = replace(ALIKE, group=np.arange(20, 36))
    assert group.reasons == ["16% of the new rows lie together, unlike the old (more than 15%)"]
    assert group.differences == [
        "16 of the new rows are unlike the old and lie together (rows 20, 21, 22, 23, 24 and 11 more): perhaps a group "
        "that the map has not seen"
    ]
    few = replace(ALIKE, group=np.arange(15))
    assert not few.refit
    assert "(rows 0, 1, 2, 3, 4)" in replace(ALIKE, group=np.arange(5)).differences[0]
    assert few.summary().splitlines()[-1].startswith("The new rows are not like the old: 15 of the new rows are unlike")


@pytest.mark.parametrize(
    ("count", "n_new", "refit", "differs"),
    [(6, 100, True, True), (5, 100, False, True), (3, 20, True, True), (2, 20, False, True)],
)
def test_unknown_categories_speak_for_a_new_fit_of_three_rows_and_a_twentieth(count, n_new, refit, differs):
    unknown = UnknownShift(("a",), ("'x'",), np.array([count / n_new]), np.array([False]))
    drift = replace(ALIKE, n_new=n_new, novelty=np.full(n_new, 0.5), unknown=unknown)
    assert (drift.refit, drift.differs) == (refit, differs)
    assert not replace(drift, unknown=replace(unknown, by_chance=np.array([True]))).differs


def test_of_many_columns_with_unknown_categories_three_are_named():
    names = ("a", "b", "c", "d", "e")
    unknown = UnknownShift(names, ("'x'",) * 5, np.full(5, 0.2), np.array([False, True, False, False, False]))
    drift = replace(ALIKE, unknown=unknown)
    assert drift.differences == [
        f"20% of the new rows have a '{name}' that the map does not know ('x')" for name in ("a", "c", "d")
    ]
    assert drift.differences == drift.reasons
    assert "'c' in 20.0% of the new rows ('x'), and 2 more columns" in drift.summary()
    three = replace(unknown, names=names[:3], values=("'x'",) * 3, of_new=np.full(3, 0.2), by_chance=np.zeros(3, bool))
    assert "more columns" not in replace(ALIKE, unknown=three).summary()


@pytest.mark.parametrize(
    ("shift", "p_value", "told"),
    [(0.3 + JUST, 0.0025, "differs"), (0.3, 0.0025, "slight"), (0.9, 0.0025 + JUST, ""), (0.3, 0.0025 + JUST, "")],
)
def test_a_sure_shift_is_a_difference_above_three_tenths_and_slight_up_to_there(shift, p_value, told):
    for drift in (
        replace(ALIKE, shift=shift, shift_p_value=p_value),
        replace(ALIKE, columns=columns((shift, 0.1), p_value)),
        replace(ALIKE, columns=columns(together=-shift, together_p_value=p_value)),
    ):
        assert (len(drift.differences), len(drift.slight)) == (told == "differs", told == "slight")


def test_where_rows_lie_is_told_with_their_share():
    near = replace(ALIKE, shift=0.4, shift_p_value=0.0, novelty=np.r_[np.full(70, 0.4), np.full(30, 0.9)])
    assert near.differences == ["70% lie nearer in than half of the old (a shift of 0.40, by chance up to 0.20)"]
    assert replace(near, shift=0.2).slight == ["how far out they lie by 0.20 (nearer in; by chance up to 0.20)"]
    far = replace(near, novelty=1.0 - near.novelty)
    assert far.differences == ["70% lie farther out than half of the old (a shift of 0.40, by chance up to 0.20)"]
    assert replace(far, shift=0.2).slight == ["how far out they lie by 0.20 (farther out; by chance up to 0.20)"]


def test_columns_are_counted_beyond_the_limit_and_the_first_is_named():
    named = replace(ALIKE, column_names=["age", "height"])
    of = columns((0.5, 0.4, 0.3, 0.2, 0.1), 0.0, constant=(1,))
    assert replace(named, columns=of).differences == [
        "a column has one value in all new rows (height)",
        "2 columns differ in distribution (first age: by 0.50, by chance up to 0.20)",
    ]
    assert replace(ALIKE, columns=columns((0.5, 0.3), 0.0, constant=(2, 0))).differences == [
        "2 columns have one value in all new rows (first column 2)",
        "a column differs in distribution (column 0: by 0.50, by chance up to 0.20)",
    ]
    slight = replace(ALIKE, columns=columns((0.25, 0.21, 0.2), 0.0)).slight
    assert slight == ["2 columns by up to 0.25 (first column 0; by chance up to 0.20)"]
    assert replace(ALIKE, columns=columns((0.25, 0.2), 0.0)).slight == [
        "a column by 0.25 (column 0; by chance up to 0.20)"
    ]
    together = replace(ALIKE, columns=columns(together=0.2, together_p_value=0.0)).slight
    assert together == ["the mean of 2 columns by 0.20 (higher; by chance up to 0.15)"]


def test_features_that_one_column_became_are_missing_as_one():
    missing = MissingShift(np.array([1, 2, 0, 3, 4, 5]), np.full(6, 0.1), np.linspace(0.9, 0.4, 6))
    drift = replace(ALIKE, missing=missing, missing_names=["a", "b", "b", "c", "d"])
    assert drift.differences == [
        "values are missing more often (b in 90% of the new rows and 10% of the old, a in 70% of the new rows and 10% "
        "of the old, c in 60% of the new rows and 10% of the old, and 2 more columns), and what was filled in was not "
        "measured"
    ]
    assert not replace(drift, missing=replace(missing, columns=missing.columns[:0])).differs


def test_regions_and_copies_are_told_beyond_chance_alone():
    region = [(np.array([1.0, 2.0]), 30, 100)]
    crowded = replace(ALIKE, regions=region, region_p_values=np.array([0.0025]))
    told = "more new rows than by chance: in the region about (1, 2) lie 30, and by its 100 old rows 10 would"
    assert told in crowded.summary().splitlines()
    assert "region" not in replace(crowded, region_p_values=np.array([0.0025 + JUST])).summary()
    pairs = np.arange(8).reshape(4, 2)
    copied = replace(ALIKE, copies=pairs, n_equal=3, n_repeated=2, copies_p_value=0.0025)
    assert (
        "copies: 4 of 100 new rows are rows of the map (3 equal, 1 nearly; row 0 of 1, 2 of 3, 4 of 5 and 1 more), as "
        "2 of its 1,000 rows repeat others"
    ) in copied.summary()
    assert "6 of 7" not in copied.summary()
    assert "4 of 5), as" in replace(copied, copies=pairs[:3], n_equal=3).summary()
    assert "copies" not in replace(copied, copies_p_value=0.0025 + JUST).summary()
    # As their own neighbours copies lie nearer in; this is no difference. Farther out they do not lie as copies.
    moved = replace(copied, shift=0.5, shift_p_value=0.0, novelty=np.full(100, 0.1))
    assert not moved.differs
    assert replace(moved, novelty=np.full(100, 0.9)).differs
    assert replace(moved, copies_p_value=1.0).differs


def test_the_five_commonest_labels_are_told_and_how_many_of_each_are_of_the_group():
    labels = {"a": 1, "b": 30, "c": 20, "d": 9, "e": 7, "f": 33}
    lines = replace(ALIKE, labels=labels, labels_of_group={"c": 5}).summary().splitlines()
    assert "they came to f (33), b (30), c (20, 5 of them unlike the old and together), d (9), e (7)" in lines
    other = replace(ALIKE, labels=labels, columns=columns((0.5, 0.1), 0.0), by_shares=True)
    assert other.summary().endswith(
        "No need to fit again. The new rows come in other shares of the labels (33% came to f), and otherwise are like "
        "the old."
    )
    unknown = UnknownShift(("x",), ("'y'",), np.array([0.02]), np.array([False]))
    assert "otherwise are like" not in replace(other, unknown=unknown).summary()
    moved = replace(other, preserved_new=0.4, lost_by_chance=0.0)
    assert "First check" not in moved.summary()
    assert "First check that they were prepared alike: a column differs" in replace(moved, by_shares=False).summary()


def test_columns_without_a_mean_over_them_have_no_shift_of_it():
    alone = ColumnShift(np.arange(1), np.array([0.1]), 0.2, 1.0, np.empty(0, dtype=int))
    drift = replace(ALIKE, columns=alone)
    assert (drift.differences, drift.slight) == ([], [])
