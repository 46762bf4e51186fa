"""All answers have one shape; their errors are right where theory or repetition says what they must be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import cluster_profiles, explain, mean_importance
from gnomon.explanations.answer import Column, format_number
from gnomon.explanations.axis import axis
from gnomon.explanations.contrast import contrast
from gnomon.explanations.contrast.errors import auc_errors, effect_size_errors
from gnomon.explanations.saliency import saliency
from gnomon.explanations.why import Why


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 9))
    X[:, 3] = 2.5
    return X, X[:, :2].copy()


@pytest.fixture(scope="module")
def answers(data):
    X, Y = data
    explanation = explain(X, Y, n_jobs=1)
    return {
        "why": explanation.why(3, n_top=9),
        "axis": axis(explanation, [(-0.9, 0), (0.9, 0)]),
        "contrast": contrast(X, X[:, 0] > 0),
        "importance": mean_importance(explanation),
        "saliency": saliency(explanation, 3, image_shape=(3, 3)),
    }


@pytest.mark.parametrize("question", ["why", "axis", "contrast", "importance", "saliency"])
def test_every_answer_is_a_table_of_features_effects_errors_and_fidelity(answers, question):
    found = answers[question]
    assert len(found) == len(found.features) == len(found.effect) == len(found.error) == 9
    assert 0 <= found.fidelity <= 1
    at = found.features.index("feature 3")
    assert found.effect[at] == found.error[at] == 0  # a constant feature
    top = found.head(2)
    assert type(top) is type(found)
    assert top.features == found.features[:2]
    document = json.loads(json.dumps(top.to_dict()))
    assert document["question"] == question
    assert [record["feature"] for record in document["features"]] == top.features
    assert document["features"][0]["effect"] == top.effect[0]
    assert set(found.columns()) >= {"feature", "index", "effect", "error"}
    assert len({len(column) for column in found.columns().values()}) == 1
    assert any(line.startswith(top.features[0]) for line in str(top).splitlines()[2:4])
    assert "and 7 more" not in str(top)


def test_errors_of_effect_sizes_and_aucs_cover_the_truth():
    rng = np.random.default_rng(0)
    inside = np.arange(120) < 40
    X = rng.normal(size=(120, 3000)) + 0.8 * inside[:, None]
    found = contrast(X, inside)
    assert np.mean(np.abs(found.effect - 0.8) < 1.96 * found.error) == pytest.approx(0.95, abs=0.015)
    truth = 0.7142  # P(N(0.8, 1) > N(0, 1)) = Phi(0.8 / sqrt 2)
    assert np.mean(np.abs(found.auc - truth) < 1.96 * found.auc_error) == pytest.approx(0.95, abs=0.025)


def test_errors_cover_the_truth_where_the_two_sides_vary_differently():
    """Of 3,000 draws each: shares of yes/no features, counts, and normal features of three times the deviation."""
    rng = np.random.default_rng(0)
    inside = np.arange(330) < 30
    sides = {
        "yes": ((rng.random((330, 3000)) < np.where(inside, 0.5, 0.05)[:, None]), 0.45, 0.25, 0.0475, 0.725),
        "counts": (rng.poisson(np.where(inside, 4.0, 0.5)[:, None], (330, 3000)), 3.5, 4.0, 0.5, None),
        "normal": (rng.normal(size=(330, 3000)) * np.where(inside, 3.0, 1.0)[:, None], 0.0, 9.0, 1.0, 0.5),
    }
    for name, (X, gap, variance, rest_variance, auc) in sides.items():
        found = contrast(X.astype(float), inside)
        truth = gap / np.sqrt((29 * variance + 299 * rest_variance) / 328)
        assert 0.9 < np.mean(np.abs(found.effect - truth) < 1.96 * found.error) < 0.98, name
        assert found.error.mean() == pytest.approx(found.effect.std(), rel=0.13), name
        if auc is not None:
            assert np.mean(np.abs(found.auc - auc) < 1.96 * found.auc_error) == pytest.approx(0.945, abs=0.015), name


@pytest.mark.parametrize("sizes", [(5, 50), (5, 395), (20, 200), (5, 5)])
def test_errors_of_few_rows_cover_what_is_rare(sizes):
    """Five rows, none of which has what a twentieth of all have, do not vary: 1.96 errors held the truth in 22 %."""
    rng = np.random.default_rng(0)
    n, inside = sum(sizes), np.arange(sum(sizes)) < sizes[0]
    laws = {
        "yes, 5 %": (rng.random((n, 2000)) < 0.05, 0.05, 0.05, 0.05 * 0.95),
        "yes, 20 %": (rng.random((n, 2000)) < 0.2, 0.2, 0.2, 0.16),
        "yes, 90 and 10 %": (rng.random((n, 2000)) < np.where(inside, 0.9, 0.1)[:, None], 0.9, 0.1, 0.09),
        "counts, mean 0.2": (rng.poisson(0.2, (n, 2000)), 0.2, 0.2, 0.2),
        "normal": (rng.normal(size=(n, 2000)), 0.0, 0.0, 1.0),
        "log-normal": (np.exp(rng.normal(size=(n, 2000))), np.e**0.5, np.e**0.5, np.e * (np.e - 1)),
    }
    for name, (X, mean, rest_mean, variance) in laws.items():
        found = contrast(X.astype(float), inside)
        varies = found.error > 0
        truth = (mean - rest_mean) / np.sqrt(variance)
        assert np.mean((np.abs(found.effect - truth) <= 1.96 * found.error)[varies]) > 0.88, name
        auc = 0.5 + (mean - rest_mean) / 2.0  # without an order of unequal values where the means are equal
        if max(sizes) > 5:
            assert np.mean((np.abs(found.auc - auc) <= 1.96 * found.auc_error)[varies]) > 0.86, name


def test_errors_in_closed_form():
    zero, one = np.zeros(2), np.ones(2)
    found = effect_size_errors(np.array([0.0, 1.0]), (zero, zero), (one, one), (10, 10))
    assert found == pytest.approx([np.sqrt(0.2), np.sqrt(0.2 + 1 / 36)])
    single = np.full(2, np.nan)
    found = effect_size_errors(np.array([0.0, 1.0]), (zero, zero), (single, 4 * one), (1, 10))
    assert found == pytest.approx([np.sqrt(1.1), np.sqrt(1.1 + 1 / 18)])  # it is taken to vary as the rest does
    nine, unit = np.array([9.0]), np.array([1.0])
    found = effect_size_errors(np.array([0.5]), (unit, unit), (nine, unit), (5, 9), by_rows=False)
    lent = (8 * 1 + 4 * 9) / 12  # by the side that varies more, as of four rows
    assert found[0] == pytest.approx(np.sqrt((9 / 5 + lent / 9) / 5 + 0.25 * (81 / 4 + 1 / 8) / (8 * 25)))
    far = effect_size_errors(np.array([0.5]), (unit, unit), (9e200 * unit, 1e200 * unit), (5, 9), by_rows=False)
    assert far == pytest.approx(found)  # squares of variances would be too large
    nothing = (np.zeros(2), np.zeros(2))
    np.testing.assert_array_equal(
        effect_size_errors(np.array([np.inf, 0.0]), (one, zero), nothing, (5, 5)), [np.nan, 0.0]
    )
    half = np.array([0.5])
    unknown = (single[:1], single[:1])
    assert auc_errors(half, (half, half), unknown, unknown, (2, 3))[0] == pytest.approx(np.sqrt(1 / 24 + 1 / 36))
    assert auc_errors(np.array([0.0, 1.0]), (zero, one), nothing, nothing, (5, 5)).tolist() == [0, 0]


def test_errors_of_zeros_and_ones_are_those_of_their_shares():
    share, rest_share = np.array([0.0]), np.array([0.07])
    rest = 0.07 * 0.93 * 200 / 199
    within = 199 * rest / 203
    effect = -0.07 / np.sqrt(within)
    few, many = 1 / 7 * 6 / 7 * 5 / 7, rest  # one of each added to five rows; of 200 that makes little less
    slopes = (
        1 - effect * 4 / 203 * (5 / 7) / (2 * np.sqrt(within)),
        -1 - effect * 199 / 203 * (172 / 202) / (2 * np.sqrt(within)),
    )
    many = max(many, 15 / 202 * 187 / 202 * 200 / 202)
    expected = np.sqrt((slopes[0] ** 2 * few / 5 + slopes[1] ** 2 * many / 200) / within)
    sides = (np.zeros(1), np.array([rest]))
    assert effect_size_errors(np.array([effect]), (share, rest_share), sides, (5, 200)) == pytest.approx(expected)
    auc = np.array([0.465])
    found = auc_errors(auc, (share, rest_share), sides, (np.zeros(1), np.array([rest / 4])), (5, 200))
    assert found == pytest.approx(np.sqrt(few / 5 + many / 200) / 2)
    of_twos = effect_size_errors(np.array([effect]), (share, 2 * rest_share), (sides[0], 4 * sides[1]), (5, 200))
    assert of_twos != pytest.approx(expected)  # no shares: as any other feature


@pytest.mark.parametrize("kind", ["floats", "bytes", "sparse"])
def test_errors_come_from_the_rows_of_both_sides(kind):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (60, 3))
    X[:, 2] = 5
    inside = np.arange(60) < 7
    tables = {"floats": X.astype(float), "bytes": X.astype(np.uint8), "sparse": sp.csr_matrix(X.astype(float))}
    found = contrast(tables[kind], inside)
    at = np.argsort(found.indices)
    high, low = X[inside], X[~inside]
    above = (high[:, None] > low[None]) + 0.5 * (high[:, None] == low[None])

    def of_both(own, other):  # a side that varies less than the other varies as with four rows of it
        return np.maximum(own, (6 * own + 4 * other) / 10) / 7 + np.maximum(other, (52 * other + 4 * own) / 56) / 53

    auc_square = of_both(*(above.mean(axis=axis).var(axis=0, ddof=1) for axis in (1, 0)))
    np.testing.assert_allclose(found.auc_error[at], np.sqrt(auc_square), rtol=1e-12, atol=1e-15)
    v, w = high.var(axis=0, ddof=1)[:2], low.var(axis=0, ddof=1)[:2]
    square = (6 * v + 52 * w) / 58
    d = (high.mean(axis=0) - low.mean(axis=0))[:2] / np.sqrt(square)
    expected = of_both(v, w) / square + d**2 * (6 * v**2 + 52 * w**2) / (2 * 58**2 * square**2)
    np.testing.assert_allclose(found.error[at], [*np.sqrt(expected), 0.0], rtol=1e-12)


def test_fidelity_of_a_contrast_is_half_for_noise_and_one_for_what_is_apart():
    rng = np.random.default_rng(0)
    inside = np.arange(400) < 60
    noise = rng.normal(size=(400, 500))
    found = contrast(noise, inside)
    assert abs(found.fidelity - 0.5) < 0.1  # although its best features look distinctive: they were chosen
    assert abs(found.auc[0] - 0.5) > 0.1
    noise[inside, 7] += 6
    for form in (noise, sp.csr_array(noise), noise.astype(np.float32)):
        assert contrast(form, inside).fidelity > 0.99
    assert np.isnan(contrast(noise, [5]).fidelity)


def test_a_cluster_of_one_row_has_no_fidelity_and_the_others_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    labels = np.arange(90) % 3
    labels[0] = 7
    X[labels == 1, 2] += 5
    found = cluster_profiles(X, labels)
    assert np.isnan(found[7].fidelity)
    assert found[1].fidelity > 0.95


def test_the_fidelity_of_contrasts_does_not_depend_on_threads(data):
    X, _ = data
    one, three = (contrast(X, X[:, 0] > 0.3, n_jobs=n) for n in (1, 3))
    assert one.fidelity == three.fidelity


def test_standard_errors_of_arrows_match_their_spread_over_noise():
    """The map is linear plus noise: over many draws of the noise, arrows scatter as their errors say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    arrows, errors = [], []
    for _ in range(50):
        Y = X[:, :2] + 0.2 * rng.normal(size=(30, 2))
        why = explain(X, Y, n_neighbors=20, n_jobs=1).why(0, n_top=3)
        order = np.argsort(why.indices)
        arrows.append(why.arrows[order])
        errors.append(why.arrow_errors[order])
    spread, told = np.std(arrows, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.all(np.abs(np.log(told / spread)) < np.log(2))


def test_features_that_do_nothing_are_rarely_called_significant():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, 6))
    Y = X[:, :2] + 0.1 * rng.normal(size=(400, 2))
    explanation = explain(X, Y, n_neighbors=25, n_jobs=1)
    flags = np.zeros(6)
    for i in range(0, 400, 20):
        why = explanation.why(i, n_top=6)
        flags[why.indices] += why.significant
    assert np.all(flags[:2] > 18)
    assert np.all(flags[2:] < 8)


def test_ranks_say_where_a_value_lies_among_all(data):
    X, Y = data
    why = explain(X, Y, n_jobs=1).why(11, n_top=9)
    for f, rank in zip(why.indices, why.ranks, strict=True):
        expected = (np.mean(X[:, f] < X[11, f]) + np.mean(X[:, f] <= X[11, f])) / 2
        assert rank == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1e-3, "0.001"),
        (9.994e-4, "9.994e-04"),
        (-2e-4, "-2.000e-04"),
        (999_949.0, "9.999e+05"),
        (12_345.0, "1.234e+04"),
        (1e6, "1.000e+06"),
        (-1e6, "-1.000e+06"),
        (1e6 + 0.5, "1.000e+06"),
        (np.inf, "inf"),
        (np.nan, "nan"),
    ],
)
def test_numbers_have_four_digits_and_an_exponent_beyond_a_million_and_below_a_thousandth(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [(0.0, "0"), (1e-4, "0.0001"), (9e-5, "9.0e-05"), (999.0, "1e+03"), (0.25, "0.25"), (1e3, "1.0e+03")],
)
def test_errors_have_two_digits(error, text):
    class Told:
        value, its_error = [2.0], [error]

    assert Column("value", "value", error="its_error").cells(Told)[0].endswith(f" ± {text}")
    Told.value = [2.0, 3.0]
    with pytest.raises(ValueError, match="shorter than"):
        Column("value", "value", error="its_error").cells(Told)


def test_what_is_printed_says_how_many_features_it_leaves_out():
    X = np.random.default_rng(0).normal(size=(60, 12))
    whole = contrast(X, X[:, 0] > 0)
    assert str(whole).endswith("\n... and 2 more features")
    assert str(whole.head(11)).endswith("\n... and 1 more features")
    assert "more features" not in str(whole.head(10))
    assert len(str(whole.head(10)).splitlines()) == 12


@pytest.fixture
def told():
    """An answer about two features, one of them a group, where nothing much is to be believed."""
    return Why(
        index=4,
        features=["size", "b"],
        indices=np.array([3, 0]),
        effect=np.array([12.5, 0.25]),
        error=np.array([0.5, 0.0]),
        fidelity=0.25,
        values=np.array([2.0, np.nan]),
        ranks=np.array([0.5, np.nan]),
        arrows=np.array([[7.5, -10.0], [0.0, 0.25]], np.float32),
        arrow_errors=np.array([[0.5, 1.0], [0.125, 0.0]]),
        significant=np.array([True, False]),
        place=np.array([1.0, 2.0]),
        push_r2=0.125,
        fit_r2=0.75,
        fit="place fitted",
        groups={"size": {"width": 0.25, "height": 0.75}},
    )


def test_an_answer_is_printed_in_columns_under_its_headline_and_the_members_of_groups_below(told):
    headline = "point 4: R2 0.25, of pushes 0.12, place fitted"
    table = """\
feature    value  rank  importance       arrow  significant
size           2   0.5  12.5 ± 0.5  (7.5, -10)          yes
b        missing          0.25 ± 0   (0, 0.25)           no
size: height 75%, width 25%"""
    assert str(told) == f"{headline}; the map is hardly linear here: read the arrows with care\n{table}"
    assert str(replace(told, fidelity=0.3)).startswith(f"{headline.replace('0.25', '0.30')}\nfeature ")
    assert str(replace(told, groups=None)).endswith("           no")
    assert str(replace(told, features=["a", "b"], groups={})).endswith("           no")
    nothing = str(replace(told, fidelity=float("nan")))
    assert nothing == "point 4: nothing can be said (no place, or fewer than two distinct neighbours)"


def test_an_answer_is_a_table_by_columns_and_a_document_by_features(told):
    columns = {
        "feature": ["size", "b"],
        "index": [3, 0],
        "effect": [12.5, 0.25],
        "error": [0.5, 0.0],
        "importance": [12.5, 0.25],
        "values": [2.0, pytest.approx(np.nan, nan_ok=True)],
        "ranks": [0.5, pytest.approx(np.nan, nan_ok=True)],
        "arrows": [[7.5, -10.0], [0.0, 0.25]],
        "arrow_errors": [[0.5, 1.0], [0.125, 0.0]],
        "significant": [True, False],
    }
    assert told.columns() == columns
    document = told.to_dict()
    names = {"values": "value", "ranks": "rank", "arrows": "arrow", "arrow_errors": "arrow_error"}
    records = [{names.get(name, name): column[f] for name, column in columns.items()} for f in (0, 1)]
    assert document.pop("features") == records
    assert document == {
        "question": "why",
        "fidelity": 0.25,
        "index": 4,
        "r2": 0.25,
        "push_r2": 0.125,
        "fit_r2": 0.75,
        "fit": "place fitted",
        "place": [1.0, 2.0],
        "groups": {"size": {"width": 0.25, "height": 0.75}},
    }


def test_ten_members_of_a_group_are_named_the_largest_first_and_equal_ones_in_their_order(told):
    shares = {f"f{j}": share for j, share in enumerate([0.1] * 4 + [0.2 + 1e-12, 0.2] + [0.03] * 4)}
    (line,) = str(replace(told, groups={"size": shares})).splitlines()[4:]
    first = "size: f4 20%, f5 20%, f0 10%, f1 10%, f2 10%, f3 10%, f6 3%, f7 3%, f8 3%, f9 3%"
    assert line == first
    (line,) = str(replace(told, groups={"size": {"g": 0.2 - 1e-12, **shares, "h": 0.0}})).splitlines()[4:]
    assert line == "size: g 20%, " + first.removeprefix("size: ").removesuffix(", f9 3%") + " and 2 more"


def test_head_keeps_what_belongs_to_the_first_features(told):
    first = told.head(1)
    assert (first.features, first.arrows.tolist(), first.significant.tolist()) == (["size"], [[7.5, -10.0]], [True])
    assert (first.place.tolist(), first.groups) == ([1.0, 2.0], told.groups)
    assert replace(told, features=["b", "size"]).head(1).groups == {}
    assert replace(told, groups=None).head(1).groups is None


def test_columns_of_different_lengths_are_no_table(told):
    for broken in (replace(told, values=told.values[:1]), replace(told, error=told.error[:1])):
        for table in (broken.to_dict, broken.__str__):
            with pytest.raises(ValueError, match="shorter than"):
                table()
