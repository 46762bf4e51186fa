"""Figures of illusions against their definitions written out, class by class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import t as student

from gnomon.evaluation import find_illusions
from gnomon.evaluation.illusions import adjusted_by_holm

SEED, EACH = 5, 60


@pytest.fixture(scope="module")
def drawn():
    """Three classes of other widths and places, one of 19 rows, rows without a place and rows without a label."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["small", "b", "c", "d"], [19, 70, 90, 64])
    centers = {"small": (0, 60), "b": (0, 0), "c": (9, 0), "d": (-6, 8)}
    X = np.array([centers[one] for one in labels]) + rng.normal(size=(243, 2)) * np.where(labels == "c", 2, 1)[:, None]
    Y = X * np.where(labels == "d", 3.0, 1.0)[:, None] + 0.3 * rng.normal(size=X.shape)
    Y[19:21] = np.nan
    labels = labels.astype(object)
    labels[242] = None
    return X, Y, labels


@pytest.fixture(scope="module")
def expected(drawn):
    """The log, variance and degrees of freedom of the factor of every question, by the question."""
    X, Y, labels = drawn
    draw, names = np.random.default_rng(SEED), ["c", "b", "d"]  # the largest first
    placed = np.isfinite(Y[:, 0])
    members = [np.sort(draw.permutation(np.flatnonzero(placed & (labels == one)))[:EACH]) for one in names]
    rows = np.concatenate(members)
    sides = [cdist(A[rows], A[rows]) for A in (Y, X)]  # in the map, in the data
    of = [np.arange(EACH) + EACH * at for at in range(3)]

    def minus_mean(factors, a):
        others = [one for b, one in enumerate(factors) if b != a]
        parts = [factors[a], *(((log / 2, variance / 4, freedom)) for log, variance, freedom in others)]
        variance = sum(one[1] for one in parts)
        mean_variance = parts[1][1] + parts[2][1]
        of_mean = mean_variance**2 / sum(one[1] ** 2 / one[2] for one in parts[1:])
        freedom = variance**2 / (parts[0][1] ** 2 / parts[0][2] + mean_variance**2 / of_mean)
        return parts[0][0] - parts[1][0] - parts[2][0], variance, freedom

    def width(a):
        means = [side[np.ix_(of[a], of[a])].sum(axis=1) / (EACH - 1) for side in sides]
        shares = 2 * (means[0] / means[0].mean() - means[1] / means[1].mean())
        return np.log(means[0].mean() / means[1].mean()), shares.var(ddof=1) / EACH, EACH - 1

    near = np.argsort(sides[1], axis=1)[:, :11]
    radii = [np.sort(side, axis=1)[:, 10] for side in sides]
    apart, free = [], np.ones(len(rows), bool)
    for row in draw.permutation(len(rows)):
        if free[near[row]].all():
            apart.append(row)
            free[near[row]] = False

    def spacing(a):
        mine = [row for row in apart if row // EACH == a]
        logs = np.log(radii[0][mine] / radii[1][mine])
        return logs.mean(), logs.var(ddof=1) / len(mine), len(mine) - 1

    def between(side, a, b):
        side = side**2
        own = [side[np.ix_(of[one], of[one])].sum(axis=1) / (EACH - 1) for one in (a, b)]
        pair = side[np.ix_(of[a], of[b])]
        distance = pair.mean() - own[0].mean() / 2 - own[1].mean() / 2
        return distance, pair.mean(axis=1) - own[0], pair.mean(axis=0) - own[1]

    found = {}
    for kind, factors in (("wide", [width(a) for a in range(3)]), ("dense", [spacing(a) for a in range(3)])):
        assert kind == "wide" or min(one[2] for one in factors) >= 2
        for a, name in enumerate(names):
            found[f"Is {name} as {kind} as it looks?"] = minus_mean(factors, a)
    for a, name in enumerate(names):
        near_one, far_one = sorted((b for b in range(3) if b != a), key=lambda b: between(sides[0], a, b)[0])
        (far_map, near_map), (far_data, near_data) = (
            [between(side, a, b) for b in (far_one, near_one)] for side in sides
        )
        log = np.log(far_map[0] / near_map[0] / (far_data[0] / near_data[0])) / 2
        shares = [
            far_map[1] / far_map[0]
            - near_map[1] / near_map[0]
            - far_data[1] / far_data[0]
            + near_data[1] / near_data[0],
            far_map[2] / far_map[0] - far_data[2] / far_data[0],
            near_map[2] / near_map[0] - near_data[2] / near_data[0],
        ]
        question = f"Seen from {name}, is {names[far_one]} as much farther than {names[near_one]} as it looks?"
        ratios = np.sqrt(far_data[0] / near_data[0]), np.sqrt(far_map[0] / near_map[0])
        found[question] = (log, sum(one.var(ddof=1) / EACH for one in shares) / 4, EACH - 1, ratios)
    return found


@pytest.mark.parametrize(("least", "alpha"), [(1.5, 0.05), (1.2, 0.2), (5.0, 0.05)])
def test_all_figures_are_those_of_the_definitions(drawn, expected, least, alpha):
    told = find_illusions(*drawn, least=least, alpha=alpha, max_rows=180, random_state=SEED)
    assert [one.question for one in told] == list(expected)
    limit = np.log(least)
    p_values = adjusted_by_holm(
        [
            student.sf((abs(one[0]) + np.array([-limit, limit])) / np.sqrt(one[1]), max(1, one[2])).sum()
            for one in expected.values()
        ]
    )
    words = {"wide": ("large", "small"), "dense": ("thin", "dense"), "farther": ("far", "near")}
    for one, (log, variance, freedom, *ratios), p_value in zip(told, expected.values(), p_values, strict=True):
        half = student.ppf(1 - alpha / 2, max(1, freedom)) * np.sqrt(variance)
        assert one.statistic == pytest.approx(log, rel=1e-9, abs=1e-9)
        assert one.interval == pytest.approx((log - half, log + half), rel=1e-9)
        assert one.p_value == pytest.approx(p_value, rel=1e-6)
        is_within = -limit <= log - half and log + half <= limit
        assert one.answer == ("no" if p_value <= alpha else "yes" if is_within else "cannot be told")
        kind = next(kind for kind in words if kind in one.question)
        wrong = f"{'looks too' if kind == 'farther' else 'drawn too'} {words[kind][0 if log > 0 else 1]}"
        right = {"no": wrong, "yes": "as it looks", "cannot be told": "no sure difference"}[one.answer]
        assert one.finding == right
        size, low, high = np.exp([log, log - half, log + half])
        assert one.sentence.endswith(f" by {size:.3g} [{low:.3g}, {high:.3g}]: {right}.")
        assert (one.in_map, one.false_positive_rate) == ("yes", alpha)
        assert one.null == f"a factor of {least:.3g} at most"
        assert one.rests_on == "180 of 243 rows of 3 classes"
        for data, shown in ratios:
            assert one.sentence.startswith(
                f"From centre to centre it is {data:.3g} times as far in the data and {shown:.3g} times in the map"
            )
    assert {one.answer for one in told} >= {"no"} if least < 5 else {one.answer for one in told} == {"yes"}


def test_classes_are_the_twenty_largest_that_have_twenty_rows_in_the_map():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.full(20 + (one < 21), f"c{one:02}") for one in range(22)])
    X = rng.normal(size=(len(labels), 2)) + 20.0 * rng.normal(size=(22, 2))[np.unique(labels, return_inverse=True)[1]]
    found = find_illusions(X, X, labels)
    assert [one.question[3:6] for one in found[:20]] == [f"c{one:02}" for one in range(20)]
    assert len(found) == 60
    assert found[0].rests_on == f"420 of {len(labels)} rows of 20 classes"
    some = find_illusions(X[:63], X[:63], labels[:63])
    assert some[0].rests_on == "63 rows"
    X[0] = X[21]
    Y = X.copy()
    Y[:2] = np.nan
    few = find_illusions(X[:63], Y[:63], labels[:63])
    assert len(few) == 4  # of the first class 19 have a place; of two classes no distances compare
    assert few[0].rests_on == "42 of 63 rows of 2 classes"
    with pytest.raises(ValueError, match=r"of 20 rows in the map \(1 is\)"):
        find_illusions(X[:42], Y[:42], labels[:42])


@pytest.mark.parametrize("apart", [0.0, 1.0, 3.0, 10.0])
def test_the_density_of_a_small_class_over_or_beside_another_is_told(apart):
    labels = np.repeat(["small", "b", "c"], [40, 150, 150])
    centers = np.repeat([[0.0, 0.0], [apart, 0.0], [-8.0, 3.0]], [40, 150, 150], axis=0)
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(340, 2)) + centers
        told = {one.question: one.finding for one in find_illusions(X, X, labels)}
        assert [told[f"Is {one} as dense as it looks?"] for one in ("small", "b", "c")] == ["as it looks"] * 3


def test_a_small_class_drawn_too_dense_is_found():
    X = np.random.default_rng(0).normal(size=(390, 2))
    X[40:] += [10.0, 0.0]
    Y = X.copy()
    Y[:40] /= 8.0
    told = find_illusions(X, Y, np.repeat(["small", "b"], [40, 350]))
    assert "drawn too dense" in [one.finding for one in told.illusions if one.question.startswith("Is small as dense")]


def test_a_cosine_sees_directions_alone_and_classes_at_one_place_have_no_figures():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(80, 3)), np.repeat(["a", "b"], 40)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    one, two = (find_illusions(A, X[:, :2], labels, **how) for A, how in ((X, {"metric": "cosine"}), (units, {})))
    assert [verdict.statistic for verdict in one] == pytest.approx([verdict.statistic for verdict in two], nan_ok=True)
    X[40:] = 0.0
    found = find_illusions(X, X, labels)
    for verdict in found:
        assert verdict.answer == "cannot be told"
        assert verdict.sentence == "Too few rows, or no distance that the data could show."
        assert verdict.false_positive_rate == 0.05


def test_a_map_to_scale_misleads_in_no_distance_whatever_the_noise():
    """Of equal groups at 0, 10 and 50 in 50 columns, in the map of the first two components."""
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(180, 50))
        X[:, 0] += np.repeat([0.0, 10.0, 50.0], 60)
        labels = np.repeat(["a", "b", "c"], 60)
        far = [one for one in find_illusions(X, X[:, :2], labels) if "farther" in one.question]
        assert [one.answer for one in far] == ["yes"] * 3
        assert max(abs(one.statistic) for one in far) < 0.05
        Y = X[:, :2] - np.repeat([[0.0, 0.0], [30.0, 0.0]], [120, 60], axis=0)
        drawn = [one for one in find_illusions(X, Y, labels).illusions if "c as much farther than b" in one.question]
        assert [one.finding for one in drawn] == ["looks too near"]  # 2 instead of 5
