"""What `Clusters` say in words, in each case that they tell apart."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gnomon.clusters.result import Cluster, Clusters, Level
from gnomon.neighbors.column_halves import HiddenDirections, HidingColumns

CHECKED = (
    "checked in 50 rows held out; where the data are one cloud without bends, clusters are claimed in at most 5 % "
    "of tables"
)
NONE = Clusters((), -1, np.full(100, -1), np.full(100, np.nan), 0.05, 7, 50)
FEW = f"No clusters: none of 7 possible splits could be shown, {CHECKED}."
DIRECTIONS = HiddenDirections(spread=0.7, agreed=0.2, missed=0.1)
IN_COMPONENTS = (
    " columns may hide groups, as it does in texts: find them in principal components, by clusters() of a map with "
    "n_pcs=50. Few groups may need fewer (n_pcs=10)."
)


def hiding(n):
    return HidingColumns(np.arange(n), share=0.814, agreed=0.5, kept=0.1)


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({}, ""),
        ({"n_columns": 99}, ""),
        ({"n_columns": 100}, f" Noise in 100{IN_COMPONENTS}"),
        ({"n_columns": 1200}, f" Noise in 1,200{IN_COMPONENTS}"),
        ({"n_columns": 1200, "metric": "braycurtis"}, ""),
        ({"n_columns": 10, "of_components": True}, ""),
        (
            {"n_columns": 11, "of_components": True},
            " Noise in 11 coordinates may hide groups: fewer show some, about as many as there are groups (n_pcs=10).",
        ),
        ({"smallest": 24}, " Groups of fewer than about 24 rows can hardly be shown in 100 rows, however clear."),
        (
            {"apart": np.arange(1)},
            " 1 row lies with few others apart from the rest, too few to be shown a cluster (apart): "
            "gnomon.evaluation.is_real tells of 30 and more whether there is a gap.",
        ),
        (
            {"apart": np.arange(12)},
            " 12 rows lie with few others apart from the rest, too few to be shown a cluster (apart): "
            "gnomon.evaluation.is_real tells of 30 and more whether there is a gap.",
        ),
        (
            {"hidden": hiding(1), "n_columns": 120},
            " 1 of 120 columns makes 81% of the squared distances and may hide groups of the others: find them by "
            "clusters() of a map with scale='standard'.",
        ),
        (
            {"hidden": hiding(3), "n_columns": 1200},
            " 3 of 1,200 columns make 81% of the squared distances and may hide groups of the others: find them by "
            "clusters() of a map with scale='standard'.",
        ),
        (
            {"hidden": DIRECTIONS, "n_columns": 120},
            " Lengths of rows differ and may hide groups that lie in unlike directions: find them by clusters() of a "
            "map with metric='cosine'.",
        ),
        ({"hidden": DIRECTIONS, "of_components": True}, ""),
        ({"counting": "Weights are left out."}, " Weights are left out."),
    ],
)
def test_where_there_is_none_it_is_said_what_may_hide_some(changes, more):
    found = replace(NONE, **changes)
    assert found.summary() == str(found) == FEW + more
    assert len(found) == 0
    assert found.continuum == found.told == ""


def test_rows_that_repeat_others_are_counted_in_words():
    told = replace(NONE, n_repeats=1200).summary()
    assert told == f"{FEW[:-1]}; 1,200 rows repeat others, or nearly, and one of each set counts."


def clusters(*names, parents=None, share=0.2):
    return tuple(
        Cluster(k, name, 10 * (len(names) - k), None if parents is None else parents[k], None, 0.0123, share, 1.5)
        for k, name in enumerate(names)
    )


def level(n, **more):
    given = clusters(*(f"high x{k}" for k in range(n)), **more)
    return Level(given, np.repeat(np.arange(n), [one.size for one in given]), 0.5)


def made(*levels, default=0, **more):
    labels = levels[default].labels
    return Clusters(tuple(levels), default, labels, np.ones(len(labels)), 0.05, 7, 50, **more)


def test_each_cluster_has_a_line_in_a_column_as_wide_as_the_longest_name():
    one = Level(clusters("high a", "low feature 12"), np.repeat([0, 1], [20, 10]), 0.5)
    assert made(one).summary().splitlines() == [
        f"2 clusters, {CHECKED}.",
        "  high a               20 rows; density between it and the nearest 20 %, p = 0.012",
        "  low feature 12       10 rows; density between it and the nearest 20 %, p = 0.012",
    ]
    labels = one.labels.copy()
    labels[:4] = -1
    told = made(replace(one, labels=labels), apart=np.arange(3), told="It is the batch.", counting="By weights.")
    assert told.summary().splitlines()[1] == "By weights."
    assert told.summary().splitlines()[4:] == [
        "It is the batch.",
        "  4 rows are in no cluster",
        "  3 rows lie with few others apart from every cluster, too few to be shown one",
    ]
    alone = replace(told, apart=np.arange(1)).summary()
    assert alone.endswith("  1 row lies with few others apart from every cluster, too few to be shown one")
    assert one.names.tolist() == ["high a"] * 20 + ["low feature 12"] * 10
    assert replace(one, labels=labels).names.tolist()[:5] == [""] * 4 + ["high a"]


@pytest.mark.parametrize(("n", "more"), [(29, 0), (30, 0), (31, 1), (44, 14)])
def test_thirty_clusters_are_listed(n, more):
    lines = made(level(n)).summary().splitlines()
    assert sum(" rows; density" in line for line in lines) == n - more
    assert [line for line in lines if line.startswith("  and ")] == ([f"  and {more} more"] if more else [])


def test_the_longest_name_of_those_that_are_not_listed_widens_nothing():
    one = Level(clusters(*["a"] * 30, "a" * 50), np.arange(31), 0.5)
    assert made(one).summary().splitlines()[1].startswith("  a      310 rows")


def test_clusters_are_within_those_of_the_next_coarser_level():
    coarse = Level(clusters("high a", "low b"), np.zeros(60, dtype=np.int64), 0.5)
    fine = Level(clusters("high c", "low b", "low d", parents=[0, 1, 0]), np.zeros(60, dtype=np.int64), 0.7)
    finest = level(4, parents=[0, 0, 1, 2])
    found = made(coarse, fine, finest, default=1)
    assert [found.within(one) for one in fine.clusters] == ["high a", "", "high a"]  # the second is that very one
    assert [found.within(one) for one in coarse.clusters] == ["", ""]
    lines = found.summary().splitlines()
    assert [line.endswith("; within 'high a'") for line in lines[1:4]] == [True, False, True]
    assert lines[-1] == "Levels of zoom: 2, 3, 4 clusters."
    assert made(coarse, fine).summary().endswith("Levels of zoom: 2, 3 clusters.")
    assert "Levels" not in made(coarse).summary()
    assert repr(found) == "Clusters(n_samples=60, clusters by level: 2, 3, 4)"
    assert repr(NONE) == "Clusters(n_samples=100, clusters by level: none)"
    assert [len(found.level(k)) for k in range(3)] == [2, 3, 4]
    assert len(found) == len(found.level()) == 3
    for number in (-1, 3):
        with pytest.raises(ValueError, match=rf"level={number} must be in \[0, 3\)"):
            found.level(number)


@pytest.mark.parametrize("n_stages", range(9))
def test_clusters_above_a_quarter_of_the_density_may_be_stages(n_stages):
    shares = [math.nextafter(0.25, 1.0)] * n_stages + [0.25] * (8 - n_stages)
    one = level(8)
    one = replace(one, clusters=tuple(replace(k, share=s) for k, s in zip(one.clusters, shares, strict=True)))
    found = made(one)
    first, second = found.summary().splitlines()[:2]
    if not n_stages:
        assert found.continuum == ""
        assert first == f"8 clusters, {CHECKED}."
        return
    assert second == found.continuum
    if n_stages == 8:
        assert first == f"8 clusters, maybe all stages of a continuum, {CHECKED}."
        assert found.continuum == (
            "Between each and the nearest there is more than 25 % of the density of the sparser side: all may be "
            "stages of a continuum."
        )
        return
    assert first == f"8 clusters, {n_stages} of them maybe stages of a continuum, {CHECKED}."
    named = ", ".join(f"'high x{k}'" for k in range(min(n_stages, 5)))
    others = f" and {n_stages - 5} more" if n_stages > 5 else ""
    assert found.continuum == (
        "Not empty between, at more than 25 % of the density of the sparser side, and so maybe stages of a "
        f"continuum: {named}{others}."
    )
