"""Positions made elsewhere that are those of another row are told, also where rows are sorted; others are not."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import gnomon as gn
from gnomon.maps.shifted import shift_of_rows
from gnomon.neighbors import compute_neighbors


def make(name):
    draw = np.random.default_rng(0)
    if name == "sorted groups":
        return np.repeat(5.0 * draw.normal(size=(5, 8)), 60, axis=0) + draw.normal(size=(300, 8))
    if name == "a sorted column":
        X = draw.normal(size=(300, 8))
        return X[np.argsort(X[:, 0])]
    if name == "noise":
        return draw.normal(size=(300, 8))
    if name == "a walk":
        return np.cumsum(draw.normal(size=(300, 8)), axis=0)
    if name == "repeated frames":
        return np.repeat(draw.normal(size=(30, 8)), 10, axis=0) + 0.05 * draw.normal(size=(300, 8))
    return np.stack(np.meshgrid(range(20), range(15)), axis=-1).reshape(-1, 2).astype(float)


def neighbours_and_places(name):
    X = make(name)
    return compute_neighbors(X, 15).indices, PCA(2).fit_transform(X)


@pytest.mark.parametrize("shift", [-3, -1, 1, 2])
@pytest.mark.parametrize("name", ["sorted groups", "a sorted column", "noise"])
def test_positions_of_a_later_or_an_earlier_row_are_told(name, shift):
    nearest, places = neighbours_and_places(name)
    assert shift_of_rows(nearest, np.roll(places, -shift, axis=0)) == shift


@pytest.mark.parametrize("name", ["sorted groups", "a sorted column", "noise", "a walk", "repeated frames", "a grid"])
def test_right_positions_and_those_of_no_rows_are_not(name):
    nearest, places = neighbours_and_places(name)
    assert shift_of_rows(nearest, places) is None
    assert shift_of_rows(nearest, np.random.default_rng(1).normal(size=places.shape)) is None
    assert shift_of_rows(nearest, np.random.default_rng(1).permutation(places)) is None
    assert shift_of_rows(nearest[:29], places[:29]) is None


def test_positions_of_rows_that_follow_each_other_in_the_data_are_not_told_apart():
    nearest, places = neighbours_and_places("a walk")
    assert shift_of_rows(nearest, np.roll(places, 1, axis=0)) is None


def test_a_map_says_so_once_in_scores_and_report_unless_it_was_made_here():
    X = make("sorted groups")
    places = np.roll(PCA(2).fit_transform(X), 1, axis=0)
    found = gn.Map(X, places)
    told = found.evaluate().caution
    assert told.startswith("The positions fit the data better 1 row earlier than as they stand: each seems to be that ")
    assert found.report(verdicts=False).count(told) == 1
    assert gn.Map(X, np.roll(places, -1, axis=0)).evaluate().caution == ""
    assert "better 2 rows later" in gn.Map(X, np.roll(places, -3, axis=0)).evaluate().caution
