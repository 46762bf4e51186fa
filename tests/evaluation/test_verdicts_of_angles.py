"""Verdicts on angles know no seam: where numbers start again makes no difference to any of them."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import are_apart, find_illusions, is_denser, is_nearer, is_real, judge_gaps
from gnomon.neighbors.straight import has_straight_rows, straight_rows

DRAW = np.random.default_rng(0)
ONE = 180 + 25 * DRAW.normal(size=200)  # a well on the seam
TWO = np.repeat([140.0, 220.0], 100) + 10 * DRAW.normal(size=200)  # two wells, the seam between them
THREE = np.repeat([180.0, 210.0, 60.0], 100) + 10 * DRAW.normal(size=300)
FEW = {"metric": "periodic(360, inf)", "n_nulls": 19}


def table(angles, turned=0.0):
    """The angles, between -180 and 180 after a turn, beside a plain column."""
    beside = 20 * np.random.default_rng(1).normal(size=len(angles))
    return np.column_stack([(angles + turned + 180) % 360 - 180, beside])


def answers(turned):
    """What every verdict says of the wells after a turn."""
    first, parts = np.arange(200) < 100, np.repeat(np.arange(3), 100)
    one, two, three = (table(angles, turned) for angles in (ONE, TWO, THREE))
    a, b, c = (parts == part for part in range(3))
    return [
        are_apart(one, None, ONE < 180, ONE >= 180, **FEW).answer,
        are_apart(two, None, first, ~first, **FEW).answer,
        is_real(two, None, first, **FEW).answer,
        is_denser(two, None, first, ~first, metric=FEW["metric"]).answer,
        is_nearer(three, None, a, b, c, metric=FEW["metric"]).answer,
        [verdict.answer for verdict in judge_gaps(two, two, first, n_islands=0, **FEW)],
        len(find_illusions(three, straight_rows(three, FEW["metric"]), parts, metric=FEW["metric"]).illusions),
    ]


@pytest.mark.parametrize("turned", [0, 100, -90])
def test_one_well_is_one_and_two_are_two_wherever_the_numbers_start_again(turned):
    assert answers(turned) == ["no", "yes", "yes", "cannot be told", "yes", ["yes"], 0]


def test_chords_grow_with_the_shorter_way_round_and_are_that_way_near_by():
    way = np.array([0.0, 1.0, 5.0, 90.0, 180.0])
    circle = straight_rows(179.5 + way[:, None], "periodic(360)")
    chords = np.linalg.norm(circle - circle[0], axis=1)
    np.testing.assert_allclose(chords, 360 / np.pi * np.sin(way * np.pi / 360), atol=1e-9)
    np.testing.assert_allclose(chords[1:3], way[1:3], rtol=1e-3)


def test_places_on_a_sphere_have_no_date_line():
    longitudes = np.column_stack([0.1 * DRAW.normal(size=200), np.deg2rad((ONE + 180) % 360 - 180)])
    west = longitudes[:, 1] < 0
    assert are_apart(longitudes, None, west, ~west, metric="haversine", n_nulls=19).answer == "no"
    assert are_apart(longitudes, None, west, ~west, n_nulls=19).answer == "yes"  # as numbers


def test_a_map_of_angles_answers_by_itself_and_its_report_tells_gaps():
    few = ONE[:100]
    made = gn.Map(table(few), table(few), metric="periodic(360, inf)", labels=np.where(few < 180, "left", "right"))
    assert made.are_apart("left", "right", n_nulls=19).answer == "no"
    assert made.is_continuum("left", "right", n_nulls=19).answer == "yes"
    assert "Are left and right apart? No (the map misleads here)." in made.report()


def test_metrics_without_verdicts_say_which_have_them():
    assert all(has_straight_rows(name) for name in ("euclidean", "cosine", "periodic(360, inf)", "haversine"))
    assert not has_straight_rows("manhattan")
    with pytest.raises(
        ValueError,
        match=r"metric='manhattan' must be 'euclidean', 'cosine', 'correlation', 'hellinger', 'haversine' or 'periodic",
    ):
        are_apart(table(ONE), None, ONE < 180, ONE >= 180, metric="manhattan")
    with pytest.raises(ValueError, match=r"metric='periodic' must be .* with its periods"):
        are_apart(table(ONE), None, ONE < 180, ONE >= 180, metric="periodic")
    with pytest.raises(ValueError, match="one of the metrics 'euclidean', 'cosine', 'correlation', 'hell"):
        gn.Map(table(ONE), table(ONE), metric="manhattan").are_apart(ONE < 180, ONE >= 180)
