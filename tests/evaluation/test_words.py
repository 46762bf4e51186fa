"""One rule makes words of measures: no sentence claims more than the worst of its measures allows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gnomon.evaluation import MEASURES, POINT_SCORES, evaluate
from gnomon.evaluation.words import (
    READINGS,
    Statement,
    grade,
    grade_groups,
    grade_stretch,
    grade_torn,
    in_words,
    percent,
    title_of,
    verdict,
)

_WORDS = {
    "near": {"good": "are close in the data", "fair": "mostly close", "poor": "often not close"},
    "nearest": {"good": "can mostly be read too", "fair": "only in part", "poor": "Do not read which"},
    "far": {"good": "is mostly farther", "fair": "only roughly", "poor": "Do not read over the whole map"},
}
_MEASURES = {
    "near": ("trustworthiness", "continuity"),
    "nearest": ("neighborhood_preservation",),
    "far": ("shepard", "triplet_accuracy"),
}


def test_a_verdict_never_says_more_than_its_worst_measure():
    order = ["good", "fair", "poor"]
    values = {"near": (0.7, 0.85, 0.96), "nearest": (0.12, 0.3, 0.7), "far": (0.32, 0.66, 0.9)}
    names = [(aspect, name) for aspect, several in _MEASURES.items() for name in several]
    for chosen in itertools.product(*(values[aspect] for aspect, _ in names)):
        scores = dict(zip((name for _, name in names), chosen, strict=True))
        told = {one.aspect: one for one in verdict(scores)}
        for aspect, several in _MEASURES.items():
            worst = max((grade(name, scores[name]) for name in several), key=order.index)
            assert told[aspect].grade == worst
            assert _WORDS[aspect][worst] in told[aspect].text


def test_few_neighbours_kept_are_told_beside_high_trust():
    """The page once said that neighbourhoods can be believed above 12 % of them kept."""
    told = verdict({"trustworthiness": 0.95, "continuity": 0.96, "neighborhood_preservation": 0.12})
    assert [one.grade for one in told] == ["good", "poor"]
    assert "12 %" in told[1].text


def test_neighbours_of_which_most_are_false_are_not_said_to_be_readable():
    """Of 15 neighbours shown, of which 41 % are kept, 9 are false."""

    def told(share, k):
        return verdict({"neighborhood_preservation": share}, None, k)[0].text

    of_six = "Which of them are the nearest can be read only in part: about 6 of the 15 nearest that are shown are true"
    assert told(0.41, 15) == f"{of_six} ones (41 %)."
    assert "can mostly be read too: about 7 of the 10 nearest" in told(0.67, 10)
    assert "Do not read" in told(0.01, 15)
    assert "hardly any of the 15 nearest" in told(0.01, 15)


def test_a_map_that_knows_nothing_is_said_to_and_one_that_knows_a_little_is_not():
    X, Y = np.random.default_rng(0).normal(size=(300, 3)), np.random.default_rng(1).normal(size=(300, 2))
    kept = {"shuffled": Y, "third of the rows right": np.where(np.arange(300)[:, None] < 100, X[:, :2], Y)}
    for name, places in kept.items():
        found = evaluate(X, places)
        told = verdict(found.scores(), found.random_map, found.n_neighbors)
        if name == "shuffled":
            assert [(one.aspect, one.grade) for one in told] == [("all", "poor")]
            assert "whether its rows are in the order of those of the data" in told[0].text
        else:
            assert [one.aspect for one in told] == ["near", "nearest", "far"]
    few = {"trustworthiness": 0.5, "neighborhood_preservation": 0.05}  # distances may be kept
    assert "all" not in [one.aspect for one in verdict(few, {"neighborhood_preservation": 0.05})]


@pytest.mark.parametrize("name", [name for name, reading in READINGS.items() if reading.bounds])
def test_grades_fall_with_the_value_and_chance_is_poor(name):
    found = [grade(name, step / 100) for step in range(100, -1, -1)]
    assert found == sorted(found, key=["good", "fair", "poor"].index)
    assert found[0] == "good"
    for chance in (0.1, 0.5, 0.95):
        assert grade(name, chance, chance) == "poor"
        assert grade(name, 1.0, chance) == "good"


def test_a_majority_class_earns_no_praise():
    assert grade("knn_accuracy", 0.9) == "good"
    assert grade("knn_accuracy", 0.9, chance=0.9) == "poor"


def test_what_has_no_grade_or_no_value_gets_none():
    assert grade("stress", 0.1) is None
    assert grade("something else", 0.1) is None
    assert grade("trustworthiness", float("nan")) is None
    assert in_words("trustworthiness", float("nan"), 15) == ""
    assert verdict({}) == verdict({"trustworthiness": float("nan")}) == []


def test_torn_and_stretched_maps_are_graded_by_their_bounds():
    assert [grade_torn(share) for share in (0.05, 0.1, 0.11)] == ["good", "fair", "poor"]
    assert [grade_stretch(factor) for factor in (2.0, 8.0, 8.1)] == ["good", "fair", "poor"]


def test_every_measure_of_a_scorecard_has_a_sentence():
    for name in MEASURES:
        text = in_words(name, 0.5, 15)
        assert text.endswith(".")
        assert text[0].isupper() or text[0].isdigit()


def test_every_diagnostic_of_points_has_one_name_and_a_scale():
    for name, one in POINT_SCORES.items():
        assert one.name == name
        assert one.title.lower() == title_of(name).lower()  # one score has one name, of a point as of a map
        assert one.scale in ("sequential", "diverging", "flags")
        assert (one.scale == "diverging") <= (one.stands_out == "both")
        assert one.center in (None, 0.0)  # a difference or a logarithm: the middle colour is where there is none


@pytest.mark.parametrize(
    ("names", "good", "fair"),
    [
        ("trustworthiness continuity mrre_false mrre_missing", 0.925, 0.8),
        ("auc_rnx", 0.4, 0.15),
        ("neighborhood_preservation q_local", 2 / 3, 0.15),
        ("random_triplets centroid_triplets triplet_accuracy", 0.8, 0.65),
        ("shepard pearson local_radius_correlation", 0.8, 0.5),
        ("knn_accuracy neighborhood_hit distance_consistency", 0.85, 0.6),
        ("knn_r2 local_r2", 0.7, 0.4),
    ],
)
def test_grades_begin_at_the_value_that_is_written_down(names, good, fair):
    for name in names.split():
        found = [grade(name, value) for value in (1.0, good, good - 1e-6, fair, fair - 1e-6)]
        assert found == ["good", "good", "fair", "fair", "poor"], name
        assert grade(name, 1.0, chance=1.0) is None
        assert grade(name, math.inf) is None
        # Half of the way from another chance level.
        share = 0.5 * (good + fair) if name in ("auc_rnx", "shepard") else None
        if share is not None:
            assert grade(name, 0.2 + 0.8 * share, chance=0.2) == "fair"


def test_sentences_hold_the_figures_of_their_measures():
    for name, value, text in (
        ("topographic_product", -0.1, "too few dimensions"),
        ("topographic_product", 0.0, "more dimensions than it needs"),
        ("auc_rnx", -0.2, " 0 % of what"),
        ("steadiness", 0.456, "to 46 %."),
        ("intrinsic_dimension", 3.26, "about 3.3-dimensional"),
        ("dimension_ratio", 0.256, "0.26 of the dimensions"),
        ("shepard", 0.256, "a rank correlation of 0.26"),
        ("neighborhood_hit", 0.5, "50 % of the 7 nearest"),
        ("neighborhood_preservation", 0.5, "Of the 7 nearest neighbours of a point in the data, 50 %"),
    ):
        assert text in in_words(name, value, 7)
    assert in_words("nothing of the kind", 0.5, 7) == ""


def test_a_verdict_is_of_what_is_known_beside_its_chance():
    scores = {"trustworthiness": 0.95, "shepard": 0.9, "random_triplets": 0.66}
    assert verdict(scores) == [
        Statement("near", "good", "Points that lie close together are close in the data."),
        Statement(
            "far",
            "fair",
            "Over the whole map, what lies farther apart is only roughly so in the data (rank correlation "
            "0.90); of single distances between groups this says nothing.",
        ),
    ]
    assert [one.grade for one in verdict(scores, {"trustworthiness": 0.95, "shepard": None})] == ["poor", "fair"]
    assert "mean something" not in verdict({"triplet_accuracy": 0.9, "shepard": 0.99})[0].text
    assert verdict({"stress": 0.1}) == []


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100"), (0.998, "100"), (0.654, "65"), (0.0996, "10"), (0.094, "9.4"), (0.00123, "0.12")]
)
def test_shares_are_whole_per_cents_from_ten_on(share, text):
    assert percent(share) == text


def test_distances_between_groups_are_graded_by_how_unlike_they_are_drawn():
    assert [grade_groups(one) for one in (1.0, 1.5, 1.51, 3.0, 3.01, float("inf"))] == [
        *["good"] * 2,
        *["fair"] * 2,
        *["poor"] * 2,
    ]
    for factor, text in (
        (1.0, "Distances between groups mean something: they keep their ratios to within 1 %."),
        (1.234, "Distances between groups mean something: they keep their ratios to within 24 %."),
        (
            2.04,
            "Distances between groups are only a rough guide: one is drawn 2 times as long as another that is as long",
        ),
        (
            4.56,
            "Do not read distances between groups: one is drawn 4.6 times as long as another that is as long in the",
        ),
        (float("inf"), "Do not read distances between groups: some are not drawn at all."),
    ):
        far, groups = verdict({"shepard": 0.9}, groups=factor)
        assert (groups.aspect, groups.grade) == ("groups", grade_groups(factor))
        assert groups.text.startswith(text)
        assert "says nothing" not in far.text
