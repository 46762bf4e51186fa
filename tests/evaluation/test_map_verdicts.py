"""Verdicts on a whole map: which gaps, sizes, densities and distances of its classes are those of the data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import t as student
from scipy.stats import ttest_ind

from gnomon import PCA, TSNE, UMAP
from gnomon.evaluation import are_apart, find_illusions, judge_gaps
from gnomon.evaluation.illusions import _Factor, _Sides, adjusted_by_holm
from gnomon.maps import Map
from gnomon.maps import map as make_map
from gnomon.maps.printed.sections import answers


def three(gap=(12.0, 0.0), spreads=(1.0, 1.0, 1.0), n=120, seed=0):
    """Return three Gaussian classes in four dimensions: b at `gap` from a, c at 30."""
    codes = np.repeat(np.arange(3), n)
    centers = np.array([[0, 0, 0, 0], [*gap, 0, 0], [30, 0, 0, 0]], dtype=float)[codes]
    rows = np.random.default_rng(seed).normal(size=(3 * n, 4))
    return centers + np.array(spreads)[codes][:, None] * rows, np.array(["a", "b", "c"])[codes]


def test_the_nearest_classes_and_the_islands_of_a_map_are_judged_in_the_data():
    X, labels = three(gap=(0.0, 0.0))
    Y = X[:, :2] + 9.0 * np.c_[labels == "b", labels == "b"]  # a map that tears b from a
    found = judge_gaps(X, Y, labels, n_pairs=2, n_islands=2, n_nulls=19)
    assert [one.question for one in found[:2]] == ["Are a and b apart?", "Are b and c apart?"]
    assert [one.answer for one in found[:2]] == ["no", "yes"]
    assert found[0].is_illusion
    islands = [one for one in found if one.question.startswith("Is the island at (")]
    assert len(islands) == len(found) - 2 == 2
    assert {one.answer for one in islands} == {"yes", "no"}
    assert any("33 % of the rows, mostly c" in one.question for one in islands)
    assert found.illusions == [one for one in found if one.is_illusion]
    lines = found.summary().splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("False alarms: at most 5 %, over all of these questions together")
    assert found.to_dict()["verdicts"][0]["answer"] == "no"


def test_no_gap_is_claimed_of_even_rows_more_often_than_said_however_many_are_asked():
    claimed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.sort(rng.uniform(size=(160, 1)), axis=0)
        quarters = np.arange(160) // 40
        Y = np.c_[10.0 * quarters, np.zeros(160)] + 0.3 * rng.normal(size=(160, 2))
        found = judge_gaps(X, Y, quarters, bridge=0.95, n_nulls=19, random_state=seed % 2)
        assert len(found) >= 5
        claimed += any(one.answer == "yes" for one in found)
    assert claimed <= 3  # 0.6 expected; a chance of 0.3 %


def test_rows_without_a_place_and_small_classes_are_left_out():
    X, labels = three()
    Y = X[:, :2].copy()
    Y[labels == "c"] = np.nan
    labels[:5] = "d"
    found = judge_gaps(X, Y, labels, n_nulls=19)
    assert [one.question for one in found if "island" not in one.question] == ["Are a and b apart?"]
    assert len(judge_gaps(X, Y, None, n_nulls=19)) == 1
    few = "Too few to judge, and left out, are classes of fewer than 30 rows that have a place: 'c', 'd'."
    assert found.summary().endswith(few)
    assert "max_rows" not in found.left_out  # that would not help


def test_classes_are_left_out_for_a_small_sample_or_for_want_of_rows():
    X = np.random.default_rng(0).normal(size=(400, 3))
    labels = np.repeat(["large", "rare", "few"], [350, 35, 15])
    told = judge_gaps(X, X[:, :2], labels, max_rows=100, n_nulls=19).left_out
    sampled, scarce = told.split(". Raise max_rows. ")
    assert sampled.endswith("of fewer than 30 of the 100 rows looked at: 'rare'")
    assert scarce.endswith("fewer than 30 rows that have a place: 'few'.")
    assert "'rare'" not in judge_gaps(X, X[:, :2], labels, n_nulls=19).left_out


def test_holm_adjusts_by_the_number_of_questions_left():
    np.testing.assert_allclose(adjusted_by_holm([0.01, np.nan, 0.04, 0.02]), [0.03, np.nan, 0.04, 0.04])
    np.testing.assert_allclose(adjusted_by_holm([0.9, 0.6]), [1.0, 1.0])


def test_a_faithful_map_has_no_illusions_whatever_its_unit():
    X, labels = three(spreads=(1.0, 3.0, 1.0))
    found = find_illusions(X[:, :2], 17.0 * X[:, :2], labels)
    assert len(found) == 9
    assert not found.illusions
    for one in found:
        assert one.statistic == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("unit", [1.0, 2.0, 3.0])
def test_a_map_that_multiplies_all_distances_alike_is_as_it_looks(unit):
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 2)) * np.repeat([1.0, 2.0, 4.0], 40)[:, None]
    X += np.repeat([[0.0, 0.0], [20.0, 0.0], [50.0, 30.0]], 40, axis=0)
    found = find_illusions(X, unit * X, labels)
    assert len(found) == 9
    for one in found:
        assert one.answer == "yes", one.sentence
        assert "by 1 [1, 1]: as it looks" in one.sentence


def test_factors_of_size_and_distance_are_found():
    X, labels = three(gap=(10.0, 0.0))
    X = X[:, :2]
    Y = X.copy()
    Y[labels == "b"] = [10.0, 0.0] + 3.0 * (Y[labels == "b"] - [10.0, 0.0])
    Y[labels == "c"] += [70.0, 0.0]
    wide = {one.question: one for one in find_illusions(X, Y, labels)}
    size = wide["Is b as wide as it looks?"]
    assert (size.answer, size.finding) == ("no", "drawn too large")
    assert size.statistic == pytest.approx(math.log(3.0), abs=1e-6)
    assert size.interval[0] <= math.log(3.0) <= size.interval[1]
    assert wide["Is b as dense as it looks?"].finding == "drawn too thin"
    far = wide["Seen from a, is c as much farther than b as it looks?"]
    assert far.finding == "looks too far"
    assert "in the map, which multiplies it by" in far.sentence


@pytest.mark.parametrize("method", [TSNE, UMAP])
def test_maps_draw_a_group_of_four_times_the_width_as_large_and_are_found_out(method):
    rng = np.random.default_rng(1)
    groups = np.repeat(["narrow", "wide"], 150)
    X = np.where(groups == "wide", 4.0, 1.0)[:, None] * rng.normal(size=(300, 5)) + 40.0 * (groups == "wide")[:, None]
    found = find_illusions(X, method(random_state=0).fit_transform(X), groups)
    assert {one.question: one.finding for one in found.illusions} == {
        "Is narrow as wide as it looks?": "drawn too large",
        "Is wide as wide as it looks?": "drawn too small",
        "Is narrow as dense as it looks?": "drawn too thin",
        "Is wide as dense as it looks?": "drawn too dense",
    }


def test_ratios_that_are_right_but_for_noise_are_called_illusions_no_more_often_than_said():
    wrong = 0
    for seed in range(100):
        X, labels = three(gap=(0.0, 20.0), n=30, seed=seed)
        Y, _ = three(gap=(0.0, 20.0), n=30, seed=1000 + seed)  # drawn by itself, of the same widths and distances
        wrong += bool(find_illusions(X, Y, labels, least=1.0001).illusions)
    assert wrong <= 11  # 5 expected at most; a chance of 1 %


def test_one_class_alone_cannot_be_compared():
    X, labels = three()
    with pytest.raises(
        ValueError, match="find_illusions: labels must be of two classes at least, of 20 rows in the map"
    ):
        find_illusions(X, X[:, :2], np.where(labels == "a", "a", None))
    with pytest.raises(ValueError, match=r"judge_gaps: X with 12 rows must be of at least 60 rows"):
        judge_gaps(X[:12], X[:12, :2], None)
    with pytest.raises(ValueError, match=r"find_illusions: least=1 must be a number > 1"):
        find_illusions(X, X[:, :2], labels, least=1)


def test_the_report_of_a_labelled_map_tells_them_unless_left_out():
    X, labels = three(gap=(0.0, 0.0))
    Y = X[:, :2] + 9.0 * np.c_[labels == "b", labels == "b"]
    result = Map(X, Y, labels=labels)
    told = result.report().split("What it shows, judged in the data\n")[1].split("\n\n")[0]
    assert "Are a and b apart? No (the map misleads here)." in told
    assert "sizes, densities and distances of classes" in told
    assert "judged in the data" not in result.report(verdicts=False)
    assert "judged in the data" not in Map(X[:50], Y[:50]).report()
    told = Map(X, Y, metric="manhattan").report()
    known = "euclidean, cosine, correlation, hellinger, haversine or periodic"
    assert f"judged in the data\n  not judged: gaps, sizes and distances are in {known} distances" in told
    assert result.verdicts(n_nulls=19).summary()
    with pytest.raises(ValueError, match="illusions: a map must be with classes as labels"):
        Map(X, Y).illusions()


def test_a_map_compares_its_scores_with_those_of_structureless_tables():
    X, labels = three(n=40)
    result = make_map(X, method="pca", labels=labels)
    found = result.null_scores(kind="columns", n_nulls=3)
    assert found.p_values["shepard"] in (0.25, 0.5, 0.75, 1.0)
    assert found.nulls["shepard"].shape == (3,)
    assert result.null_scores(kind="columns", n_nulls=3).to_dict() == found.to_dict()
    with pytest.raises(
        ValueError, match=r"null_scores: a map must be one that its method makes .*Call gnomon.evaluation.null_scores"
    ):
        Map(X, PCA(n_components=2).fit_transform(X)).null_scores()


def test_what_a_map_shows_is_judged_once_for_all_reports(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    result = Map(X, X[:, :2], labels=np.arange(120) % 2)
    gaps, drawn = result.verdicts(), result.illusions()
    asked = result.verdicts(n_islands=0)
    monkeypatch.setattr("gnomon.evaluation.judge_gaps", None)
    monkeypatch.setattr("gnomon.evaluation.find_illusions", None)
    assert result.verdicts() is gaps
    assert result.illusions() is drawn
    assert asked is not gaps
    assert "judged in the data" in result.report()


def test_maps_by_other_metrics_say_in_which_they_can_be_judged():
    X = np.random.default_rng(0).normal(size=(120, 3))
    labels = np.repeat(["a", "b"], 60)
    made = Map(X, X[:, :2], labels=labels, metric="manhattan")
    for ask in (lambda: made.are_apart("a", "b"), lambda: made.is_real("a"), made.verdicts, made.illusions):
        with pytest.raises(ValueError, match=r"by one of .*'cosine', .* \(the metric of this map is 'manhattan'\)"):
            ask()
    amounts = Map(abs(X), X[:, :2], labels=labels, metric="braycurtis")
    with pytest.raises(ValueError, match=r"pass metric='hellinger' to judge by the roots of each row's shares"):
        amounts.is_real("a")
    assert amounts.is_real("a", metric="hellinger").answer in ("no", "cannot be told")
    assert str(made.are_apart("a", "b", metric="euclidean")).startswith("Are a and b apart?")


def test_a_class_drawn_at_one_place_cannot_be_compared_and_the_others_can():
    X, labels = three(n=50)
    Y = X[:, :2].copy()
    Y[labels == "b"] = [12.0, 0.0]
    found = {one.question: one for one in find_illusions(X, Y, labels)}
    for question in ("Is b as wide as it looks?", "Is b as dense as it looks?"):
        assert found[question].answer == "cannot be told"
        assert found[question].sentence == "Too few rows, or no distance that the data could show."
        assert math.isnan(found[question].p_value)
    for name, other in (("a", "c"), ("c", "a")):
        width, beside = (
            math.log(np.mean(pdist(Y[labels == one])) / np.mean(pdist(X[labels == one]))) for one in (name, other)
        )
        assert found[f"Is {name} as wide as it looks?"].statistic == pytest.approx(width - beside)


def test_a_factor_at_the_limit_is_called_beyond_it_as_often_as_stated():
    logs = np.random.default_rng(0).normal(math.log(1.01), 0.1, size=4000)
    found = [_Factor(log, 0.01).beyond(math.log(1.01)) <= 0.05 for log in logs]
    assert np.mean(found) == pytest.approx(0.05, abs=0.011)  # three standard errors


def test_factors_are_compared_by_welchs_test():
    one, two, three = (np.random.default_rng(seed).normal(seed, 1 + seed, size=5 + 4 * seed) for seed in range(3))
    a, b, c = (_Factor(x.mean(), x.var(ddof=1) / len(x), len(x) - 1.0) for x in (one, two, three))
    difference = a - b
    expected = ttest_ind(one, two, equal_var=False)
    assert difference.beyond(0.0) == pytest.approx(expected.pvalue)
    assert difference.interval(0.1) == pytest.approx(tuple(expected.confidence_interval(0.9)))
    assert (b - a).beyond(0.0) == difference.beyond(0.0)
    shifts = np.array([abs(difference.log) - 0.25, abs(difference.log) + 0.25]) / difference.variance**0.5
    assert difference.beyond(0.25) == pytest.approx(student.sf(shifts, difference.freedom).sum())
    both = _Factor.mean([b, c])
    assert both.log == pytest.approx((two.mean() + three.mean()) / 2)
    assert both.variance == pytest.approx((b.variance + c.variance) / 4)
    assert both.freedom == pytest.approx((b - c).freedom)  # the halves of both weigh as the whole of both
    assert _Factor.mean([a]) == a
    assert (_Factor(0.0, 0.0, 3.0) - _Factor(0.0, 0.0, 3.0)).freedom == math.inf
    assert _Factor.mean([_Factor(0.0, 0.0, 3.0)] * 2).freedom == math.inf
    assert (_Factor(0.0, 0.0).beyond(0.1), _Factor(0.2, 0.0).beyond(0.1)) == (1.0, 0.0)
    for nothing in (_Factor(math.nan, 1.0), _Factor(0.0, math.nan)):
        assert math.isnan(nothing.beyond(0.1))


def test_the_error_of_a_width_is_that_of_samples():
    """Of 300 samples of a class in map and data, the logarithm of the factor of its width spreads as told."""
    factors = []
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(40, 2))
        Y = X * [3.0, 0.2]
        factors.append(_Sides(squareform(pdist(X)), squareform(pdist(Y)), [np.arange(40)]).width(0))
    assert {one.freedom for one in factors} == {39.0}
    small = _Sides(1e-3 * squareform(pdist(X)), 1e-6 * squareform(pdist(Y)), [np.arange(40)]).width(0)
    assert small.log == pytest.approx(factors[-1].log - math.log(1e3))
    assert small.variance == pytest.approx(factors[-1].variance)
    told = np.mean([one.variance for one in factors])
    assert np.var([one.log for one in factors], ddof=1) == pytest.approx(told, rel=0.25)


def test_islands_are_called_by_their_middle_their_share_and_their_commonest_class():
    X, labels = three()
    Y = X[:, :2].copy()
    Y[:5] = np.nan
    given = np.where(labels == "c", np.array(["d", "e", "f"])[np.arange(360) % 3], labels)
    for asked, end in ((labels, ", mostly c"), (given, ", of several classes"), (None, "")):
        found = judge_gaps(X, Y, asked, n_pairs=0, n_islands=1, n_nulls=19)
        x, y = np.median(Y[labels == "c"], axis=0)
        assert [one.question for one in found] == [
            f"Is the island at ({x:.3g}, {y:.3g}; 34 % of the rows{end}) a group of its own?"
        ]


def test_among_principal_components_fewer_of_them_are_advised_in_answers_islands_and_the_report():
    X = np.random.default_rng(0).normal(size=(400, 60))
    X[:200, 0] += 6.0
    labels = np.repeat(["a", "b"], 200)
    advice = "ask about fewer coordinates than these 50 (principal components), or find clusters."
    made = make_map(X, method="pca", n_pcs=50, labels=labels, random_state=0)
    asked = [ask("a", "b", n_nulls=19) for ask in (made.are_apart, made.is_continuum)]
    for found in (*asked, made.is_real("a", n_nulls=19), made.verdicts(n_islands=0, n_nulls=19)[0]):
        assert advice in found.sentence
    whole = make_map(X, method="pca", labels=labels, random_state=0)
    assert "ask about principal components, or find clusters" in whole.are_apart("a", "b", n_nulls=19).sentence


def test_of_too_few_rows_the_report_shows_no_figures():
    X = np.random.default_rng(0).normal(size=(100, 3))
    few = are_apart(X, X[:, :2], range(11), range(50, 100))
    told = str(answers._judged([few], "Caption."))
    assert "not computed" in told
    assert few.sentence in told
    assert "nan" not in told
