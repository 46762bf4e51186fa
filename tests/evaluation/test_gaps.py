"""Landscapes, islands and verdicts on gaps, on a few rows worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import binom, norm
from sklearn.datasets import make_circles
from sklearn.metrics import roc_auc_score

from gnomon.data.labels import check_labels, sort_into_classes
from gnomon.evaluation import MapVerdicts, Verdict, are_apart, is_continuum, judge_gaps
from gnomon.evaluation.gaps import judgement, questions, sentences
from gnomon.evaluation.gaps.borders import Border
from gnomon.evaluation.gaps.falls import FEWEST_ROWS, Fall
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.gaps.lines import Line, PlantedLines, _apart, _share_in_order
from gnomon.evaluation.gaps.planted import planted_falls
from gnomon.evaluation.gaps.saddles import Landscape, NullDips, _Bytes
from gnomon.evaluation.gaps.sample import SampledRows
from gnomon.evaluation.map_verdicts import _called, _islands, _nearest_pairs
from gnomon.neighbors.straight import straight_rows

GROUND = {"metric": "euclidean", "max_rows": 1000, "n_nulls": 19, "seed": 0}


@pytest.fixture(name="landscape")
def of_five_rows():
    """0 and 1 join at 2, 3 and 4 at 3, then 2 joins the latter at 5 and all are one at 8."""
    tree = np.array([[0, 1, 2, 2], [3, 4, 3, 2], [2, 6, 5, 3], [5, 7, 8, 5]], dtype=float)
    return Landscape(np.array([1.0, 2.0, 4.0, 3.0, 0.5]), tree, 3.0)


def test_a_fall_is_from_the_lower_peak_to_where_enough_of_both_become_one(landscape):
    a, b = np.array([True, True, False, False, False]), np.array([False, False, True, True, True])
    whole = 3 * math.log(8 / 1.0)
    for enough in ((2, 3), (1, 3), (2, 2), (1, 1)):
        assert landscape.between(a, b, enough) == pytest.approx(whole)
        assert landscape.between(b, a, enough[::-1]) == pytest.approx(whole)
    assert landscape.between(a, b, (3, 1)) == landscape.between(a, b, (1, 4)) == 0.0  # there are not as many
    assert landscape.between(a, b, (2, 3), (1.5, 0.0)) == pytest.approx(3 * math.log(8 / 1.5))
    assert landscape.between(a, b, (2, 3), (0.0, 4.0)) == pytest.approx(3 * math.log(8 / 4))
    assert landscape.between(a, b, (2, 3), (9.0, 0.0)) == 0.0  # no rise is a fall
    one, rest = np.arange(5) == 0, np.arange(5) > 0
    assert landscape.between(one, rest, (1, 1)) == pytest.approx(3 * math.log(2 / 2.0))  # joins its neighbour first
    assert landscape.between(one, rest, (1, 2)) == pytest.approx(3 * math.log(8 / 1.0))  # whose part is too small
    assert landscape.between(one, rest, (1, 4)) == 0.0  # no part holds so many without the row
    np.testing.assert_array_equal(landscape.dips()[0], [1, 1, 1, 2])
    np.testing.assert_allclose(landscape.dips()[1], [0.0, 0.0, 3 * math.log(5 / 4), whole])


def test_the_rows_of_a_part_are_those_that_were_merged(landscape):
    assert [landscape.members(part).tolist() for part in range(5)] == [[0], [1], [2], [3], [4]]
    parts = [landscape.members(part).tolist() for part in (5, 6, 7, 8)]
    assert parts == [[0, 1], [3, 4], [2, 3, 4], [0, 1, 2, 3, 4]]


def test_the_deepest_dips_are_of_parts_of_enough_rows():
    dips = [(np.array([1, 3, 4]), np.array([9.0, 2.0, 1.0])), (np.array([2, 2, 2]), np.array([3.0, 4.0, 5.0]))]
    for least, expected in ((1, [9.0, 5.0]), (2, [2.0, 5.0]), (3, [2.0, 0.0]), (5, [0.0, 0.0])):
        assert [kind.tolist() for kind in NullDips(dips, dips[::-1]).deepest(least)] == [expected, expected[::-1]]


def test_tables_of_the_same_bytes_are_the_same():
    X = np.arange(6.0)
    one, same, other = _Bytes(X[:, None]), _Bytes(X.copy()[:, None]), _Bytes(X[None])
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "table"


def test_rows_are_centred_have_a_place_and_are_as_many_as_may_be_looked_at():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(61, 2)) + 1e6, rng.normal(size=(61, 2))
    Y[4] = np.nan
    whole, placed = Ground.of(X, Y, **GROUND), Ground.of(X, Y, **GROUND, placed=True)
    assert len(whole.rows) == 61
    np.testing.assert_allclose(whole.X, X - X.mean(axis=0), atol=1e-9)
    assert placed.rows.tolist() == [row for row in range(61) if row != 4]
    assert placed.basis.startswith("60 of 61 rows, ")
    assert len(Ground.of(X, Y, **{**GROUND, "max_rows": 60}).rows) == 60
    np.testing.assert_array_equal(Ground.of(X, None, **{**GROUND, "max_rows": 61}).rows, np.arange(61))
    assert Ground.of(X, None, **GROUND, placed=True).Y is None
    Y[5] = np.nan
    with pytest.raises(ValueError, match=r"59 rows must be of at least 60 rows\. Fewer have no density to speak of: "):
        Ground.of(X, Y, **GROUND, placed=True)
    np.testing.assert_array_equal(straight_rows(np.array([[3.0, 4.0], [0.0, 0.0]]), "cosine"), [[0.6, 0.8], [0, 0]])


def test_what_the_map_alone_would_say_needs_thirty_rows_of_both_with_a_place(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    a = np.arange(120) < 60
    for held, dip, shown in ((30, 2.0, "yes"), (30, 1.9, "no"), (29, 2.0, None)):
        Y = np.where((np.arange(120) < 60 + held)[:, None], X, np.nan)
        ground = Ground.of(X, Y, **GROUND)
        monkeypatch.setattr(judgement, "fall_between", lambda _, a, b, dip=dip, **__: Fall(dip, 5, a, b))
        assert ground._in_map(a, ~a, False, 2.0) == shown
        assert ground._in_map(~a, a, False, 2.0) == shown
    assert Ground.of(X, None, **GROUND)._in_map(a, ~a, False, 2.0) is None


def test_rows_between_two_groups_are_told_with_the_density_without_them(monkeypatch):
    X = np.random.default_rng(0).normal(size=(150, 2))
    a, b = np.arange(150) < 50, np.arange(150) >= 100
    ground = Ground.of(X, None, **GROUND)
    falls = {100: math.log(10.0), 150: 0.0}
    monkeypatch.setattr(judgement, "fall_between", lambda _, a, b, **__: Fall(falls[len(a)], 5, a, b))
    told = " Rows of neither lie between: among those of P and Q alone it falls to 10 %."
    assert ground._by_way_of_others(a, b, ("P", "Q"), math.log(10.0)) == told
    assert ground._by_way_of_others(a, b, ("P", "Q"), math.log(10.1)) == ""
    assert ground._by_way_of_others(a, ~a, ("P", "Q"), 0.0) == ""
    # Asked where there is no gap, by more than the noise of a density.
    nulls = [np.full(19, 0.01)] * 2
    monkeypatch.setattr(NullDips, "deepest", lambda self, least: nulls)
    monkeypatch.setattr(NullDips, "of", lambda *_: NullDips([], []))
    asked = []
    monkeypatch.setattr(Ground, "_by_way_of_others", lambda self, a, b, names, least: asked.append(least) or "")
    assert are_apart(X, None, a, b, alpha=0.1, n_nulls=19).answer == "no"
    assert asked == [pytest.approx(norm.isf(0.1) * np.sqrt(polygamma(1, 15)))]


def _blobs(gap, n=40):
    """Three clouds in a row, of n, n + 5 and n + 10 rows, as far apart as said."""
    rng = np.random.default_rng(1)
    places = np.repeat([[0.0, 0.0], [gap, 0.0], [2.5 * gap, 0.0]], [n, n + 5, n + 10], axis=0)
    return places + rng.normal(size=places.shape)


def test_islands_are_the_smaller_sides_of_falls_below_the_bridge():
    Y = _blobs(12.0)
    ground = Ground.of(Y, Y, **GROUND, placed=True)
    smaller, falls = ground.map_landscape.dips()
    deep = np.sort(falls[smaller >= FEWEST_ROWS])[::-1]
    assert len(deep) == 2
    assert deep[1] > 2.0
    for n_islands, limit, count in ((3, 2.0, 2), (1, 2.0, 1), (3, deep[0], 1), (3, deep[0] + 0.1, 0), (0, 2.0, 0)):
        found = _islands(ground, None, n_islands, limit)
        assert len(found) == count
        assert all(is_island for *_, is_island in found)
    (last, rest, names, _), (first, *_) = _islands(ground, None, 3, 2.0)
    assert np.flatnonzero(last).tolist() == list(range(85, 135))  # the deepest gap is the widest
    assert np.flatnonzero(first).tolist() == list(range(40))
    np.testing.assert_array_equal(rest, ~last)
    assert names[1] == "the rest"
    # With a bridge that the gaps of the map reach, or not.
    asked = [len(_islands(ground, None, 9, -math.log(bridge))) for bridge in (0.99, 1e-9)]
    assert asked[0] >= 2 > asked[1]


def test_judged_are_the_gaps_that_fall_below_the_bridge_in_the_map(monkeypatch):
    Y = _blobs(4.5)
    limits = []
    monkeypatch.setattr("gnomon.evaluation.map_verdicts._islands", lambda *given: limits.append(given[2:]) or [])
    found = judge_gaps(Y, Y, bridge=0.2, n_islands=2)
    assert limits == [(2, pytest.approx(-math.log(0.2)))]
    assert len(found) == 0
    assert found.summary() == "The map shows no gap."
    assert str(found) == "Gaps in the map, judged in the data\nThe map shows no gap."
    rare = judge_gaps(Y, Y, np.arange(len(Y)) < 40, max_rows=60)
    assert rare.summary().endswith("of fewer than 30 of the 60 rows looked at: 'True'. Raise max_rows.")
    with pytest.raises(ValueError, match=r"judge_gaps: Y=None must be a map\. Ask are_apart"):
        judge_gaps(Y, None)


def test_pairs_of_classes_come_by_the_distance_that_half_of_the_rows_of_one_have_to_the_other():
    Y = _blobs(12.0)
    given = np.repeat(np.array(["a", "b", "c"], dtype=object), [40, 45, 50])
    ground = Ground.of(Y, Y, **GROUND, placed=True)
    classes = sort_into_classes(check_labels(given, len(Y)))
    pairs = _nearest_pairs(ground, classes, 5)
    assert [names for *_, names, _ in pairs] == [("a", "b"), ("b", "c"), ("a", "c")]
    assert [names for *_, names, _ in _nearest_pairs(ground, classes, 2)] == [("a", "b"), ("b", "c")]
    a, b, _, is_island = pairs[0]
    assert (np.flatnonzero(a)[-1], np.flatnonzero(b)[0], is_island) == (39, 40, False)
    given[:10] = None  # thirty are left
    assert len(_nearest_pairs(ground, sort_into_classes(check_labels(given, len(Y))), 5)) == 3
    given[10] = None
    assert len(_nearest_pairs(ground, sort_into_classes(check_labels(given, len(Y))), 5)) == 1
    # A small class inside a wide one is near to it by its own rows, if not by those of the other.
    Y[:40] *= 50.0
    Y[40:85] = Y[:1] + 0.1 * np.random.default_rng(0).normal(size=(45, 2))
    Y[85:] = 400.0 + 10.0 * np.random.default_rng(0).normal(size=(50, 2))
    given[:40] = "a"
    ground = Ground.of(Y, Y, **GROUND, placed=True)
    assert _nearest_pairs(ground, sort_into_classes(check_labels(given, len(Y))), 1)[0][2] == ("a", "b")


def test_an_island_is_called_by_a_class_that_has_half_of_its_rows():
    Y = _blobs(12.0)
    ground, rows = Ground.of(Y, Y, **GROUND, placed=True), np.arange(40)
    x, y = np.median(Y[:40], axis=0)
    start = f"the island at ({x:.3g}, {y:.3g}; 30 % of the rows"
    for named, end in ((20, ", mostly p"), (19, ", of several classes")):
        given = np.array([f"q{row}" for row in range(len(Y))], dtype=object)
        given[:named], given[named : 40 - 5] = "p", None
        assert _called(ground, rows, sort_into_classes(check_labels(given, len(Y)))) == f"{start}{end})"
    assert _called(ground, rows, None) == f"{start})"


def _verdict(answer, in_map, **more):
    given = {"finding": "one", "sentence": "So it is.", "statistic": 1.5, "unit": "units", "interval": (0.5, math.nan)}
    given |= {"p_value": 0.04, "null": "chance", "false_positive_rate": 0.05, "rests_on": "9 rows", **more}
    return Verdict("Is it?", answer, in_map=in_map, **given)


def test_a_verdict_says_where_the_map_misleads_and_writes_nothing_for_what_is_not_known():
    assert [_verdict("yes", shown).is_illusion for shown in ("yes", "no", None)] == [False, True, False]
    assert [_verdict("no", shown).is_illusion for shown in ("yes", "no", None)] == [True, False, False]
    assert not any(_verdict("cannot be told", shown).is_illusion for shown in ("yes", "no", None))
    told = _verdict("no", "yes")
    assert told.line == "Is it? No (the map misleads here). So it is."
    plain = json.loads(json.dumps(told.to_dict()))
    assert plain == {
        "question": "Is it?",
        "answer": "no",
        "finding": "one",
        "sentence": "So it is.",
        "in_map": "yes",
        "statistic": 1.5,
        "unit": "units",
        "interval": [0.5, None],
        "p_value": 0.04,
        "null": "chance",
        "false_positive_rate": 0.05,
        "rests_on": "9 rows",
        "caution": "",
        "told_apart": None,
        "is_illusion": True,
    }
    assert _verdict("no", "no", interval=(0.5, math.inf)).to_dict()["interval"] == [0.5, None]
    nothing = _verdict("cannot be told", None, statistic=math.nan, p_value=math.nan).to_dict()
    assert (nothing["statistic"], nothing["p_value"], nothing["is_illusion"]) == (None, None, False)
    several = MapVerdicts([told, _verdict("no", "no")], "Gaps", "over all")
    assert several[1].answer == several[-1].answer == "no"
    assert (len(several), len(several.illusions), next(iter(several))) == (2, 1, told)
    assert several.summary().splitlines() == [
        "Is it? No (the map misleads here). So it is.",
        "Is it? No. So it is.",
        "False alarms: at most 5 %, over all. Judged on 9 rows.",
    ]
    assert str(several) == f"Gaps\n{several.summary()}"
    assert several.to_dict() == {
        "about": "Gaps",
        "verdicts": [one.to_dict() for one in several],
        "together": "over all",
    }


def test_a_continuum_is_the_opposite_of_a_gap(monkeypatch):
    for answer, shown, turned, turned_map in (
        ("yes", "no", "no", "yes"),
        ("cannot be told", None, "cannot be told", None),
    ):
        told = _verdict(answer, shown)
        monkeypatch.setattr(questions, "are_apart", lambda *_, told=told, **given: told)
        found = is_continuum(None, None, [1], [2], names=("P", "Q"))
        assert (found.answer, found.in_map) == (turned, turned_map)
        assert found.question == "Are P and Q one continuum?"


def test_rows_between_two_groups_are_counted_along_the_line_that_the_other_half_tells():
    rng = np.random.default_rng(0)
    X, first = rng.normal(size=(800, 20)), np.arange(800) < 400
    X[first, 0] += 8.0
    apart = Line.of(X, first, ~first, 0)
    assert apart.between <= 1
    assert 100 < apart.peak < 220  # of 400, those within half a deviation of the median
    left = X[:, 1] > 0
    joined = Line.of(X, left, ~left, 0)
    assert joined.between > 0.8 * joined.peak
    assert joined == Line.of(X * 3.0 + 5.0, left, ~left, 0)
    mixed = rng.random(800) < 0.5
    same = Line.of(X[:, 1:], mixed, ~mixed, 0)  # without a line that tells them apart
    assert same.between > 0.6 * same.peak > 60
    # Rows of neither group do not join them.
    X[700:, 0] = 4.0
    assert Line.of(X, first, ~first & (np.arange(800) < 700), 0).between <= 1


def test_a_line_joins_where_the_density_between_is_surely_above_a_share():
    for between in range(60):
        above = binom.sf(between - 1, between + 50, 0.2) <= 0.05  # a quarter of the peak
        thin = binom.cdf(between, between + 50, 0.5) <= 0.05 and between <= 30
        assert Line(between, 50, 50, 0.5).joins(0.25, 0.05) == (above and not thin)
    assert [Line(between, 50, 50, 0.5).joins(0.25, 0.05) for between in (0, 12, 29, 40, 50)] == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert not Line(0, 0, 0, 0.5).joins(0.25, 0.05)


def test_planted_gaps_fall_as_said_in_few_dimensions_and_are_not_seen_in_many():
    few, many = (planted_falls((300, 300), d, math.log(4.0), False, 19, 0) for d in (2, 20))
    assert np.median(few) == pytest.approx(math.log(4.0), abs=0.4)
    assert np.quantile(few, 0.05) > 0.5
    assert np.median(many) == 0.0


def test_an_island_is_held_against_as_many_rows_that_are_nearest_to_it(monkeypatch):
    X = np.random.default_rng(0).permutation(200).astype(float)[:, None]
    island = X[:, 0] < 40
    for rows, least, most in ((island, 40, 80), (~island, 0, 40)):
        near = np.sort(X[judgement._nearest_of(X, rows, ~rows), 0])
        assert near.tolist() == list(range(least, most))
    asked, original = [], Line.of
    monkeypatch.setattr(Line, "of", lambda X, a, b, seed: asked.append((a, b)) or original(X, a, b, seed))
    ground = Ground.of(X, None, **GROUND)
    given = {"bridge": 0.25, "alpha": 0.05}
    assert ground.judge(island, ~island, ("island", "rest"), island=True, **given).answer != "yes"
    assert np.sort(X[asked[0][1], 0]).tolist() == list(range(40, 80))
    asked.clear()
    ground.judge(island, ~island, ("island", "rest"), island=False, **given)
    assert asked[0][1].sum() == 160


def test_how_well_held_out_rows_are_told_apart_is_said_where_a_gap_cannot_be_told():
    rng = np.random.default_rng(0)
    X, first = rng.normal(size=(400, 40)), np.arange(400) < 200
    X[first, 0] += 4.0
    found = are_apart(X, None, first, ~first, n_nulls=19)
    assert found.answer == "cannot be told"
    expected = norm.cdf(4.0 / math.sqrt(2.0))
    assert found.told_apart == pytest.approx(expected, abs=0.01)
    assert found.sentence.endswith(
        f" A line tells held-out rows of the two (200 and 200) apart in {100 * found.told_apart:.3g} % of pairs "
        "(chance: 50 %); so it may tell two halves of one cloud."
    )
    assert found.to_dict()["told_apart"] == found.told_apart
    X, ring = make_circles(400, noise=0.03, factor=0.4, random_state=0)
    rings = are_apart(X, None, ring == 0, ring == 1, n_nulls=19)
    assert rings.answer == "cannot be told"
    assert rings.told_apart < 0.6
    assert " No line tells held-out rows of the two (200 and 200) apart: the best does in " in rings.sentence
    assert "halves of a continuum" not in rings.sentence
    assert "without mixing" in rings.sentence
    assert "counts" not in rings.sentence
    mixed = rng.random(400) < 0.5  # rows that the line was fitted to would seem to be told apart
    assert Line.of(X, mixed, ~mixed, 0).in_order == pytest.approx(0.5, abs=0.08)
    X = rng.normal(size=(400, 2)) + 12.0 * first[:, None]
    assert are_apart(X, None, first, ~first, n_nulls=19).told_apart is None


def test_rows_that_a_sample_left_out_are_named_where_more_would_tell():
    rng = np.random.default_rng(0)
    first = np.arange(600) < 300
    X = rng.normal(size=(600, 2))
    X[first, 0] += 4.08  # density falls to about a quarter
    asked = {"n_nulls": 19, "random_state": 0}
    some, every = (are_apart(X, None, first, ~first, max_rows=most, **asked).sentence for most in (200, 600))
    assert "more rows would tell" in some
    assert some.endswith(" 200 of 600 rows were looked at: raise max_rows.")
    assert "more rows would tell" in every
    assert "max_rows" not in every
    Y = X.copy()
    Y[rng.permutation(600)[:300]] = np.nan  # rows without a place are not looked at, however large `max_rows` is
    placed = judge_gaps(X, Y, np.where(first, "a", "b"), n_islands=0, **asked).verdicts[0].sentence
    assert "max_rows" not in placed


@pytest.mark.parametrize(("n_columns", "remedy"), [(2, "so few rows might not"), (4, "principal components, or find")])
def test_components_of_two_columns_are_no_remedy(n_columns, remedy):
    told = sentences.sentence(
        "a gap might not be seen", "A", "B", (0.0, 0.0, 1.0), 0.25, sentences.components_advice(n_columns)
    )
    assert remedy in told
    assert ("more rows would tell" in told) == (n_columns == 2)


@pytest.mark.parametrize("whole", [True, False])
def test_logarithms_of_counts_are_advised_of_whole_numbers_alone(whole):
    X = np.random.default_rng(0).poisson(3.0, (80, 4)) + (0.0 if whole else 0.5)
    assert Ground.of(X, None, **GROUND).whole_numbers == whole
    told = sentences.told_of_border(sentences.SHARP, Border(2, 60, True), 15, whole_numbers=whole)
    assert told.startswith(" (2 are, where 60 lie beside the border). ")
    assert ("if these are counts, their logarithms" in told) == whole
    assert not Ground.of(np.minimum(X, 1.0), None, **GROUND).whole_numbers  # yes and no


def test_pairs_in_order_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    low, high = rng.integers(0, 6, 30).astype(float), rng.integers(2, 8, 50).astype(float)
    expected = roc_auc_score(np.repeat([0, 1], [30, 50]), np.concatenate([low, high]))
    assert _share_in_order(low, high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_gap_among_far_more_columns_than_rows_is_not_denied(seed):
    X, a = np.random.default_rng(seed).normal(size=(60, 1500)), np.arange(60) < 30
    X[a, :5] += 2.5  # density falls to 4 %, and the line of so few rows shows nothing of it
    found = are_apart(X, None, a, ~a, n_nulls=19)
    assert (found.answer, found.finding, found.interval[1]) == ("cannot be told", "a gap might not be seen", math.inf)


def winding_thread(seed, n, d=5):
    """Draw rows along a thread that winds through some columns, and which lie on its first half."""
    rng = np.random.default_rng(seed)
    along = np.sort(rng.uniform(size=n))
    heights, begins = rng.normal(size=(3, d)), rng.uniform(0.0, 6.28, size=(3, d))
    waves = np.cos(np.pi * np.arange(1, 4)[:, None, None] * along[:, None] + begins[:, None])
    X = (heights[:, None] * waves).sum(axis=0) + 0.01 * rng.normal(size=(n, d))
    return X, along < np.median(along)


def test_dimensions_are_the_reason_only_where_gaps_would_show_in_one():
    thread, cloud = winding_thread(5, 80), np.random.default_rng(0).normal(size=(80, 12))
    for (X, a), many in ((thread, False), ((cloud, cloud[:, 0] < np.median(cloud[:, 0])), True)):
        found = are_apart(X, None, a, ~a, n_nulls=19)
        assert found.finding == "a gap might not be seen"
        assert ("in so many dimensions" in found.sentence) == many
        assert ("ask about principal components" in found.sentence) == many
        assert ("but so few rows might not show one" in found.sentence) != many
        assert ("more rows would tell, or find clusters" in found.sentence) != many


def test_a_line_must_show_planted_gaps_to_join_groups(monkeypatch):
    rng = np.random.default_rng(0)
    a = np.arange(120) < 60
    few, many = (PlantedLines.of(rng.normal(size=(120, p)), a, ~a, 0) for p in (3, 1000))
    assert few.are_below(1.0, math.log(4.0), 0.05)
    assert few.are_below(9.0, math.log(4.0), 0.05)
    assert not few.are_below(0.1, math.log(4.0), 0.05)
    assert not many.are_below(9.0, math.log(4.0), 0.05)  # however many rows lie between
    # Of 39 tables one may be as high, or none where the share is small.
    for n_high, alpha, below in ((1, 0.05, True), (2, 0.05, False), (0, 0.01, True), (1, 0.01, False)):
        monkeypatch.setattr(
            PlantedLines, "line", lambda _, fall, number, n=n_high: Line(9 if number < n else 4, 9, 9, 0.5)
        )
        assert few.are_below(1.0, 2.0, alpha) == below


def test_planted_groups_of_unequal_sizes_are_farther_apart_for_the_same_fall():
    for share in (0.5, 0.1, 0.9, 0.02):
        apart = _apart(math.log(4.0), share)
        places = np.linspace(0.0, apart, 2001)
        density = share * norm.pdf(places) + (1.0 - share) * norm.pdf(places - apart)
        assert density.min() / min(density[0], density[-1]) == pytest.approx(0.25, rel=1e-3)
    assert _apart(math.log(4.0), 0.5) == pytest.approx(math.sqrt(8.0 * math.log(8.0)), rel=1e-2)
    assert _apart(math.log(4.0), 0.1) == pytest.approx(_apart(math.log(4.0), 0.9))


def test_a_planted_gap_falls_as_said_in_the_units_of_each_axis():
    rng = np.random.default_rng(1)
    a = np.arange(4000) < 2000
    planted = PlantedLines.of(rng.normal(size=(4000, 3)) * [1.0, 2.0, 3.0] + 50.0 * a[:, None], a, ~a, 0)
    np.testing.assert_allclose(planted.deviations, [3.0, 2.0, 1.0], rtol=0.05)
    assert (planted.n_hidden, planted.n_first) == (0, 2000)
    levels = [planted.line(math.log(4.0), number).level for number in range(10)]
    assert np.median(levels) == pytest.approx(0.25, abs=0.05)
    assert np.std(levels) > 0.0  # each number is a table of its own
    assert planted.line(math.log(4.0), 3) == planted.line(math.log(4.0), 3)
    # Of few rows with many columns the axes alone tell deviations five times too large; of strong axes they do not.
    X, a = rng.normal(size=(40, 1000)), a[1980:2020]
    X[:, 0] *= 1000.0
    X = np.c_[X, np.ones((40, 500))]  # constant columns have no part
    few = PlantedLines.of(X, a, ~a, 0)
    assert few.n_hidden == 960
    assert few.hidden == pytest.approx(1.0, abs=0.1)
    assert few.deviations[0] == pytest.approx(1000.0, rel=0.4)
    assert np.all((few.deviations[1:] > 0.9) & (few.deviations[1:] < 5.0))
    assert few.line(math.log(4.0), 0).level > 0.0
    # Nor have axes without rows off them.
    low = PlantedLines.of(rng.normal(size=(40, 3)) @ rng.normal(size=(3, 100)), a, ~a, 0)
    assert (low.rows.shape, low.n_hidden) == ((40, 3), 0)
    alike = PlantedLines.of(np.repeat(a[:, None], 5, axis=1) * 1.0, a, ~a, 0)
    assert (alike.rows.shape, alike.deviations.tolist()) == ((40, 1), [0.0])


def _paid(seed, spread=0.25):
    """Draw half of 600 rows without a payment, beside three columns that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    paid = np.where(rng.random(600) < 0.5, 0.0, np.exp(rng.normal(3.0, spread, 600)))
    X = np.c_[paid, rng.poisson(1, 600), rng.uniform(size=600), rng.normal(size=600)]
    return (X - X.mean(axis=0)) / X.std(axis=0), paid == 0.0


@pytest.mark.parametrize("seed", [1, 2, 8])
def test_a_gap_that_neighbours_reach_over_is_not_denied(seed):
    X, none = _paid(seed)
    for found in (are_apart(X, None, none, ~none, n_nulls=19), is_continuum(X, None, none, ~none, n_nulls=19)):
        assert (found.answer, found.finding) == ("cannot be told", "a gap too narrow for densities")
        assert found.interval[1] == math.inf
        assert (
            "hardly any row lies at one place between. The 15 neighbours of a density reach over it" in found.sentence
        )


def test_rows_of_any_group_fill_a_gap_along_the_line():
    rng = np.random.default_rng(0)
    X, first = rng.normal(size=(900, 3)), np.arange(900) < 400
    X[first, 0] += 8.0
    second = ~first & (np.arange(900) < 800)
    X[800:, 0] = rng.uniform(0.0, 8.0, 100)
    apart, joined = Line.of(X[:800], first[:800], second[:800], 0), Line.of(X, first, second, 0)
    assert (apart.between, apart.peak) == (joined.between, joined.peak)
    assert apart.crossing <= 1.0
    assert 5.0 <= joined.crossing <= 20.0  # a hundred, an eighth in each window


def test_few_cross_where_they_are_fewer_than_have_a_density_and_surely_below_a_share():
    for crossing in range(30):
        surely = binom.cdf(crossing, crossing + 80, 0.2) <= 0.05
        assert Line(9, 80, crossing, 0.5).is_crossed_by_few(0.25, 15, 0.05) == (surely and crossing < 15)
    assert [Line(9, 80, few, 0.5).is_crossed_by_few(0.25, 15, 0.05) for few in (0, 10, 14)] == [True, True, False]
    assert not Line(9, 13, 0, 0.5).is_crossed_by_few(0.25, 15, 0.05)  # chance alone leaves so few out


@pytest.mark.parametrize("seed", [5, 8, 13])
def test_the_sides_of_one_well_on_a_circle_are_one_group(seed):
    angle = np.degrees(np.random.default_rng(seed).vonmises(0.0, 1.0, 200))
    asked = {"metric": "periodic(360)", "n_nulls": 19}
    assert are_apart(angle[:, None], None, angle < -60, angle > 60, **asked).answer == "no"


def test_a_single_column_with_a_period_is_judged_as_a_line_and_others_are_not():
    angles = np.random.default_rng(0).uniform(0.0, 360.0, size=(100, 2))
    options = {"Y": None, "max_rows": 1000, "n_nulls": 19, "seed": 0}
    assert SampledRows.of(angles[:, :1], metric="periodic(360)", **options).is_line
    assert SampledRows.of(angles[:, :1], metric="euclidean", **options).is_line
    assert not SampledRows.of(angles, metric="periodic(360)", **options).is_line
    assert not SampledRows.of(angles, metric="periodic(360, inf)", **options).is_line
    assert not SampledRows.of(np.radians(angles) / 4, metric="haversine", **options).is_line


def test_two_wells_on_a_circle_are_apart_across_its_ends():
    rng = np.random.default_rng(0)
    angle = np.degrees(np.where(rng.random(400) < 0.5, rng.vonmises(0.0, 20.0, 400), rng.vonmises(np.pi, 20.0, 400)))
    near = np.abs(angle) < 90
    assert are_apart(angle[:, None], None, near, ~near, metric="periodic(360)", n_nulls=19).answer == "yes"


@pytest.mark.parametrize("k", [4, 15])
@pytest.mark.parametrize("n_items", [4, 6, 8])
def test_tied_neighbours_tell_no_more_dimensions_than_columns_that_vary(n_items, k):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(400, n_items)) + rng.normal(size=(400, 1)) > 0.6).astype(float)
    known = Landscape.of(np.c_[X, np.ones(400)] - X.mean(), k)
    assert 1.0 <= known.dimension <= n_items
    assert np.isfinite(known.dips()[1]).all()
    nulls = NullDips.of(X - X.mean(axis=0), known.dimension, 2, 0, k)
    assert max(falls.max() for kind in (nulls.clouds, nulls.uniform) for _, falls in kind) < 1e3


def test_neighbours_all_at_one_distance_fill_all_columns_and_equal_rows_none():
    corners = np.repeat(np.eye(3), 2, axis=0)  # each row has an equal one and four at the square root of 2
    assert Landscape.of(corners, 2).dimension == 3.0
    assert Landscape.of(np.zeros((6, 3)), 2).dimension == 1.0
