"""A contrast agrees with plain definitions, feature by feature, whatever the form of the table."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import brunnermunzel, false_discovery_control, mannwhitneyu
from sklearn.metrics import roc_auc_score

from gnomon.explanations import cluster_profiles
from gnomon.explanations.contrast import contrast
from gnomon.explanations.contrast.errors import rank_p_values
from gnomon.explanations.contrast.groups import _order, group_contrasts
from gnomon.explanations.contrast.held_out import _ROWS, _auc_of_discriminant, _side, _split_groups


def plain_effect_size(a, b):
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2)
    return (a.mean() - b.mean()) / np.sqrt(pooled)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12)) * (rng.random((900, 12)) < 0.4)
    X[:, 3] = np.round(X[:, 3] * 3)
    X[:, 5] = 7.1
    X[:, 6] = np.exp(8 * rng.normal(size=900))
    X[:, 7] += 1e5
    X[:, 8] = -np.abs(X[:, 8])
    inside = rng.random(900) < 0.3
    X[inside, 0] += 1
    X[inside, 1] -= 0.5
    return X, inside


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
    "csr32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_scikit_learn_and_numpy(table, form):
    X, inside = table
    X = X.astype(np.float32).astype(np.float64) if form in ("float32", "csr32") else X
    given_table = FORMS[form](X)
    found = contrast(given_table, inside)
    assert (found.n_selected, found.n_rest) == (inside.sum(), (~inside).sum())
    assert sorted(found.indices.tolist()) == list(range(12))
    for at, f in enumerate(found.indices.tolist()):
        assert found.auc[at] == pytest.approx(roc_auc_score(inside, X[:, f]), abs=1e-12)
        assert found.mean_selected[at] == pytest.approx(X[inside, f].mean(), rel=1e-12)
        assert found.mean_rest[at] == pytest.approx(X[~inside, f].mean(), rel=1e-12)
        if f != 5:
            expected = plain_effect_size(X[inside, f], X[~inside, f])
            assert found.effect_size[at] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    constant = found.indices.tolist().index(5)
    assert found.effect_size[constant] == 0
    assert found.auc[constant] == 0.5
    distance = np.abs(found.auc - 0.5)
    assert np.all(np.diff(distance) <= 0)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_auc_counts_pairs(data):
    values = st.lists(st.integers(-3, 3), min_size=2, max_size=30)
    column = np.array(data.draw(values), dtype=float)
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(column), max_size=len(column))))
    inside[0], inside[-1] = True, False
    a, b = column[inside][:, None], column[~inside][None, :]
    expected = np.mean((a > b) + 0.5 * (a == b))
    for form in (column[:, None], sp.csr_matrix(column[:, None]), column[:, None].astype(np.float32)):
        found = contrast(form, inside)
        assert found.auc[0] == expected
        swapped = contrast(form, ~inside)
        assert swapped.auc[0] == pytest.approx(1 - expected, abs=1e-15)
        if np.isfinite(found.effect_size[0]):
            assert swapped.effect_size[0] == pytest.approx(-found.effect_size[0], abs=1e-12)


def test_long_columns_are_sorted_by_digits_as_short_ones_by_comparison():
    rng = np.random.default_rng(1)
    for column in (rng.normal(size=5000), rng.integers(0, 255, 5000), np.exp(15 * rng.normal(size=5000))):
        inside = rng.random(5000) < 0.5
        for dtype in (np.float64, np.float32, np.uint8):
            if dtype == np.uint8 and column.dtype != np.int64:
                continue
            cast = column.astype(dtype)
            assert contrast(cast[:, None], inside).auc[0] == pytest.approx(roc_auc_score(inside, cast), abs=1e-12)


def test_depends_on_ranks_alone_and_on_the_unit_not_at_all(table):
    X, inside = table
    plain = contrast(X[:, [0]], inside)
    assert contrast(np.exp(X[:, [0]]), inside).auc[0] == plain.auc[0]
    assert contrast(8 * X[:, [0]], inside).effect_size[0] == pytest.approx(plain.effect_size[0], rel=1e-12)
    assert contrast(-X[:, [0]], inside).auc[0] == pytest.approx(1 - plain.auc[0], abs=1e-15)


def test_masks_row_numbers_and_an_explicit_rest_agree(table):
    X, inside = table
    by_mask, by_rows = contrast(X, inside), contrast(X, np.flatnonzero(inside))
    assert by_mask.auc.tobytes() == by_rows.auc.tobytes()
    explicit = contrast(X, inside, ~inside)
    assert by_mask.effect_size.tobytes() == explicit.effect_size.tobytes()
    some = np.flatnonzero(~inside)[:50]
    part = contrast(X, inside, some)
    assert part.n_rest == 50
    f = part.indices[0]
    both = np.concatenate([np.flatnonzero(inside), some])
    assert part.auc[0] == pytest.approx(roc_auc_score(inside[both], X[both, f]), abs=1e-12)


def test_same_bits_for_any_number_of_threads(table):
    X, inside = table
    one = contrast(X, inside, n_jobs=1)
    for n_jobs in (2, 3, 5):
        many = contrast(X, inside, n_jobs=n_jobs)
        assert one.effect_size.tobytes() == many.effect_size.tobytes()
        assert one.auc.tobytes() == many.auc.tobytes()


def test_captions_and_tables_read_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    inside = np.arange(400) < 100
    X[inside, 2] += 3
    X[inside, 1] -= 1.5
    found = contrast(X, inside, feature_names=["ash", "zinc", "aspect_ratio", "hue"])
    assert found.caption(2) == "more aspect_ratio, less zinc"
    assert "aspect_ratio" in str(found).splitlines()[2]
    assert str(found).startswith("100 selected, 300 in the rest: more aspect_ratio, less zinc")
    record = json.loads(json.dumps(found.to_dict()))
    assert record["features"][0]["feature"] == "aspect_ratio"
    assert record["features"][0]["auc"] == found.auc[0]
    noise = contrast(np.random.default_rng(1).normal(size=(400, 2)), inside)
    assert noise.caption() == "no feature sets it apart"


def test_sorting_by_effect_size(table):
    X, inside = table
    found = contrast(X, inside, sort_by="effect_size")
    assert np.all(np.diff(np.abs(found.effect_size)) <= 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_feature_that_is_alike_in_both_groups_has_an_error_unless_it_never_varies(form):
    alike, constant = np.tile([0.0, 1.0, 2.0, 1.0], 30), np.full(120, 3.0)
    noise = np.random.default_rng(0).normal(size=120)
    found = contrast(form(np.column_stack([alike, constant, noise])), np.arange(120) < 40)
    at = [found.indices.tolist().index(feature) for feature in (0, 1)]
    assert found.effect[at].tolist() == [0.0, 0.0]
    assert found.auc[at].tolist() == [0.5, 0.5]
    assert found.error[at[0]] > 0.1
    assert found.auc_error[at[0]] > 0.03
    assert found.error[at[1]] == found.auc_error[at[1]] == 0.0


def test_two_different_constants_are_infinitely_apart():
    X = np.array([[1.0], [1.0], [2.0], [2.0]])
    found = contrast(X, [2, 3])
    assert found.effect_size[0] == np.inf
    assert str(found).splitlines()[2].split("  ")[1:3] == ["more without exception", "1 ± 0"]
    assert found.auc[0] == 1
    one_each = contrast(X[[0, 2]], [0])
    assert one_each.effect_size[0] == -np.inf


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_group_of_one_value_does_not_vary_whatever_its_binary_fraction_is(form):
    rng = np.random.default_rng(0)
    groups = np.arange(303) % 3
    values = rng.gamma(1.0, size=(3, 50))
    values[2] = values[1]
    values[1:, :25] = 0.0
    for one in contrast(form(values[groups]), groups == 0), contrast(form(values[groups]), groups != 0):
        assert np.isinf(one.effect).all()


def test_what_all_rows_of_a_side_have_and_no_other_is_said_so():
    yes = np.repeat([1.0, 0.0], [3, 4])
    found = contrast(np.column_stack([yes, 1.0 - yes, 5.0 * yes, -yes]), yes == 1.0)
    told = dict(zip(found.features, [line[11:33].strip() for line in str(found).splitlines()[2:]], strict=True))
    assert told == {
        "feature 0": "in all, no other",
        "feature 1": "in none, all others",
        "feature 2": "more without exception",
        "feature 3": "less without exception",
    }
    assert not {"inf", "nan"} & {*str(found).split()}


def test_of_many_labels_that_say_nothing_none_is_set_apart():
    """Of each label by itself it would be so in one of twenty: of 50 labels nearly always in some."""
    rng = np.random.default_rng(0)
    n_told = 0
    for _ in range(20):
        X, labels = rng.normal(size=(750, 5)), rng.integers(0, 25, 750)
        n_told += any(one.n_beyond_chance for one in cluster_profiles(X, labels).values())
    assert n_told <= 3
    X[labels == 7, 2] += 2.0
    profiles = cluster_profiles(X, labels)
    assert profiles[7].caption() == "more feature 2"
    alone = contrast(X, labels == 7)
    np.testing.assert_allclose(profiles[7].false_discovery_rate, np.minimum(25.0 * alone.false_discovery_rate, 1.0))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_profiles_are_the_contrasts_of_each_cluster(table, form):
    X, _ = table
    labels = np.array(["c", "a", "b"])[np.arange(900) % 3]
    found = cluster_profiles(form(X), labels, n_top=4)
    assert list(found) == ["a", "b", "c"]
    for label, profile in found.items():
        alone = contrast(form(X), labels == label).head(4)
        assert profile.features == alone.features
        assert profile.auc.tobytes() == alone.auc.tobytes()
        np.testing.assert_allclose(profile.effect_size, alone.effect_size, rtol=1e-9)
        np.testing.assert_allclose(profile.mean_rest, alone.mean_rest, rtol=1e-12)
    constant = cluster_profiles(X[:, [5]], labels)
    assert all(c.effect_size[0] == 0 and c.auc[0] == 0.5 for c in constant.values())


def test_wrong_selections_are_refused(table):
    X, inside = table
    with pytest.raises(ValueError, match=r"selection with 0 rows must be of at least one row\. .* labels are numbers"):
        contrast(X, np.zeros(900, bool))
    with pytest.raises(ValueError, match="selection with all 900 rows must be smaller than the data"):
        contrast(X, np.ones(900, bool))
    with pytest.raises(ValueError, match=r"selection of shape \(899,\) must be a mask of 900 rows"):
        contrast(X, inside[:-1])
    with pytest.raises(ValueError, match="selection with row 900 must be below n_samples=900"):
        contrast(X, [1, 900])
    with pytest.raises(TypeError, match="selection of type float64 must be a mask or row numbers"):
        contrast(X, [0.5])
    with pytest.raises(ValueError, match="rest with 1 selected rows must be apart from the selection"):
        contrast(X, [0, 1], [1, 2])
    with pytest.raises(ValueError, match="sort_by='p' must be one of 'auc', 'effect_size'"):
        contrast(X, inside, sort_by="p")
    with pytest.raises(ValueError, match="labels with 1 value must be of at least two values"):
        cluster_profiles(X, np.zeros(900))
    with pytest.raises(ValueError, match="899 labels, 900 rows"):
        cluster_profiles(X, np.zeros(899))


def test_halves_of_a_group_are_equal_and_no_larger_than_needed():
    groups = np.repeat([0, 1, 2, -1], [3 * _ROWS, 2 * _ROWS + 1, 7, 5]).astype(np.int32)
    half = _split_groups(groups, 3)
    counts = [np.bincount(half[groups == g] + 1, minlength=3).tolist() for g in range(3)]
    assert counts == [[_ROWS, _ROWS, _ROWS], [1, _ROWS, _ROWS], [0, 4, 3]]
    assert (half[groups == -1] == -1).all()
    first = np.flatnonzero((half == 0) & (groups == 0))
    assert abs(first.mean() / (1.5 * _ROWS) - 1.0) < 0.1  # at random
    np.testing.assert_array_equal(half, _split_groups(groups, 3))


def test_a_side_has_all_of_few_rows_and_evenly_spaced_ones_of_many():
    groups = np.array([0, 1, -1, 1] * _ROWS, dtype=np.int32)
    np.testing.assert_array_equal(_side(groups, 0, True), np.arange(0, 4 * _ROWS, 4))
    np.testing.assert_array_equal(_side(groups, 1, False), np.arange(0, 4 * _ROWS, 4))
    some = _side(groups, 1, True)
    assert len(some) == _ROWS
    assert (groups[some] == 1).all()
    assert [some[0], some[-1]] == [1, 4 * _ROWS - 1]
    assert set(np.diff(some).tolist()) <= {2, 4, 6}


def test_the_discriminant_is_that_of_fisher_on_columns_of_variance_one():
    rng = np.random.default_rng(0)
    inside, outside, new_inside, new_outside = (
        rng.normal(size=(n, 3)) @ [[3.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.2, 9.0]] + shift
        for n, shift in ((30, 1.0), (50, 0.0), (20, 1.0), (25, 0.0))
    )
    both = np.concatenate([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    scale = np.sqrt(np.mean(both**2, axis=0))
    covariance = (both / scale).T @ (both / scale) / 80 + 1e-3 * np.eye(3)
    weights = np.linalg.solve(covariance, (inside.mean(axis=0) - outside.mean(axis=0)) / scale) / scale
    high, low = new_inside @ weights, new_outside @ weights
    expected = np.mean(high[:, None] > low) + np.mean(high[:, None] == low) / 2
    assert 0.5 < expected < 1.0
    assert _auc_of_discriminant(inside, outside, new_inside, new_outside) == pytest.approx(expected, abs=1e-12)
    flat = [np.column_stack([part, np.full(len(part), 4.0)]) for part in (inside, outside, new_inside, new_outside)]
    assert _auc_of_discriminant(*flat) == pytest.approx(expected, abs=1e-12)


def test_the_discriminant_is_damped_where_columns_are_copies():
    rng = np.random.default_rng(1)
    a, b, c, d = (rng.normal(size=(40, 1)) + shift for shift in (1.0, 0.0, 1.0, 0.0))
    single = _auc_of_discriminant(a, b, c, d)
    copies = _auc_of_discriminant(*(np.repeat(part, 3, axis=1) for part in (a, b, c, d)))
    assert copies == pytest.approx(single)
    same = np.ones((5, 1))
    assert _auc_of_discriminant(same, same, same, same) == 0.5  # all ties


def test_a_caption_names_features_from_a_tenth_beyond_the_middle():
    found = cluster_profiles(np.arange(20.0).reshape(10, 2), np.arange(10) // 5, n_top=None)[0]
    auc = np.array([0.61, 0.39, 0.7, 0.59, 0.3])
    named = replace(found, features=list("abcde"), auc=auc, false_discovery_rate=np.full(5, 0.05))
    assert named.caption() == "more a, less b, more c"
    assert named.caption(5) == "more a, less b, more c, less e"
    weak = replace(named, auc=np.full(5, 0.41), n_beyond_chance=7)
    assert weak.caption() == "no feature sets it strongly apart; 7 differ beyond chance, most: less a, less b, less c"
    assert replace(weak, n_beyond_chance=1).head(1).caption() == (
        "no feature sets it strongly apart; 1 differs beyond chance: less a"
    )
    chance = replace(weak, n_beyond_chance=0, false_discovery_rate=np.full(5, 0.06))
    assert chance.caption() == "no feature sets it apart"
    rates = np.array([0.06, 0.05, 0.0, 0.0, 1.0])
    assert replace(named, false_discovery_rate=rates).caption(5) == "less b, more c"


def test_arbitrary_rows_of_noise_are_set_apart_by_no_feature_and_the_first_sentence_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    found = contrast(X, np.arange(40))
    assert np.abs(found.auc[0] - 0.5) > 0.1
    assert found.headline() == (
        "40 selected, 260 in the rest: no feature sets it apart; up to ten features tell them apart with AUC "
        f"{found.fidelity:.2f} on rows held out, where chance has 0.50"
    )
    assert len(found) == 200  # the table stays
    alike = mannwhitneyu(X[:40], X[40:], method="asymptotic", use_continuity=False).pvalue
    rates = false_discovery_control(np.maximum(alike, brunnermunzel(X[:40], X[40:]).pvalue))
    np.testing.assert_allclose(found.false_discovery_rate, rates[found.indices], rtol=2e-3)  # a bound on Student's tail
    X[:40, 5] += 2.0
    assert contrast(X, np.arange(40)).caption() == "more feature 5"
    assert (
        contrast(X, np.arange(40))
        .headline()
        .endswith(
            "on rows held out; chance is judged as of independent rows, chosen by something else than their features"
        )
    )


def test_features_that_differ_beyond_chance_but_little_are_counted_and_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    inside = np.arange(4000) < 1000
    X[inside, :5] -= 0.25
    found = contrast(X, inside)
    rates = false_discovery_control(mannwhitneyu(X[inside], X[~inside], use_continuity=False).pvalue)
    assert found.n_beyond_chance == np.sum(rates <= 0.05) == found.beyond_chance.sum() >= 5
    assert not found.sets_apart.any()
    named = ", ".join(f"less feature {k}" for k in found.indices[:3])
    assert found.caption() == (
        f"no feature sets it strongly apart; {found.n_beyond_chance} differ beyond chance, most: {named}"
    )
    assert found.head(3).caption() == found.caption()
    assert found.headline().endswith(
        "where chance has 0.50; chance is judged as of independent rows, chosen by something else than their features"
    )
    X[inside, 7] -= 1.0
    assert contrast(X, inside).caption() == "less feature 7"


@pytest.mark.parametrize("n_selected", [2, 3, 5, 10])
def test_few_rows_that_happen_to_be_alike_are_not_set_apart(n_selected):
    rng = np.random.default_rng(n_selected)
    rare, counts = rng.random((100, 200)) < 0.3, rng.poisson(0.3, (100, 200))
    for X in (rng.normal(size=(100, 200)), rare.astype(float), counts.astype(float)):
        assert not contrast(X, np.arange(n_selected)).sets_apart.any()


@pytest.mark.parametrize(
    ("n_selected", "n_rest", "few"), [(2, 2, True), (4, 30, True), (5, 30, False), (30, 4, True), (30, 5, False)]
)
def test_fewer_than_five_rows_are_said_to_be_too_few(n_selected, n_rest, few):
    X = np.random.default_rng(0).normal(size=(n_selected + n_rest, 3))
    text = contrast(X, np.arange(n_selected)).headline()
    assert ("fewer than 5 rows are too few for errors and to hold any out" in text) == few
    assert ("with AUC" in text) != few
    assert text.startswith(f"{n_selected} selected, {n_rest} in the rest: ")


def test_features_are_sorted_by_one_measure_then_by_the_other():
    auc, effect = np.array([0.6, 0.4, 0.9, 0.6, 0.5]), np.array([1.0, -2.0, 0.5, -1.0, 2.0])
    assert _order(auc, effect, "auc").tolist() == [2, 1, 0, 3, 4]
    assert _order(auc, effect, "effect_size").tolist() == [1, 4, 0, 3, 2]


@pytest.mark.parametrize("sort_by", ["auc", "effect_size"])
def test_fidelity_is_that_of_ten_features_chosen_in_one_half_and_tried_in_the_other(sort_by):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(90, 15)), np.repeat([0, 1, 2, -1], [25, 30, 25, 10]).astype(np.int32)
    X[groups == 1, :3] += 0.6
    X[groups == 2, 3] -= 1.0
    labels = [None if g < 0 else int(g) for g in groups]
    found = cluster_profiles(X, labels, sort_by=sort_by)
    halves = _split_groups(groups, 3)
    for g in range(3):
        scores = []
        for h in (0, 1):
            known, unseen = np.flatnonzero(halves == h), np.flatnonzero(halves == 1 - h)
            rest = known[groups[known] != g]
            named = contrast(X, known[groups[known] == g], rest, sort_by=sort_by).indices[:10]
            sides = [
                X[rows][:, named]
                for part in (known, unseen)
                for rows in (part[groups[part] == g], part[groups[part] != g])
            ]
            scores.append(_auc_of_discriminant(*sides))
        assert found[g].fidelity == pytest.approx(np.mean(scores), abs=1e-12)
        assert found[g].fidelity < 1.0
        assert (found[g].n_selected, found[g].n_rest) == (np.sum(groups == g), 80 - np.sum(groups == g))
        assert len(found[g]) == 10
    assert len(cluster_profiles(X, labels, n_top=None)[0]) == 15
    with pytest.raises(ValueError, match="n_top=0 must be an integer >= 1"):
        cluster_profiles(X, labels, n_top=0)


@pytest.mark.parametrize(("n_selected", "n_rest", "known"), [(2, 2, True), (1, 5, False), (5, 1, False), (2, 5, True)])
def test_fidelity_takes_two_rows_of_each_side(n_selected, n_rest, known):
    X = np.random.default_rng(0).normal(size=(n_selected + n_rest, 3))
    found = contrast(X, np.arange(n_selected))
    assert np.isfinite(found.fidelity) == known
    assert ("cannot be told of a single row" in found.headline()) != known


@pytest.mark.parametrize("sizes", [(2, 4), (2, 60), (3, 41), (40, 4), (4, 5)])
def test_chance_between_few_rows_is_that_of_every_order_of_them(sizes):
    rng = np.random.default_rng(sum(sizes))
    for shift in (0.0, 1.0, 9.0):
        one, other = rng.normal(size=sizes[0]) + shift, rng.normal(size=sizes[1])
        exact = mannwhitneyu(one, other, method="exact")
        auc = np.array([exact.statistic / (sizes[0] * sizes[1])])
        assert rank_p_values(auc, sizes) == pytest.approx(exact.pvalue, rel=1e-12)
        assert rank_p_values(1.0 - auc, sizes) == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize("sizes", [(6, 30), (8, 395), (20, 80), (300, 300)])
def test_chance_is_that_of_brunner_and_munzel_where_mann_and_whitney_are_surer(sizes):
    rng = np.random.default_rng(sum(sizes))
    X = np.concatenate([3.0 * rng.normal(0.3, size=(sizes[0], 40)), rng.normal(size=(sizes[1], 40))])
    X[: sizes[0], 20:] /= 9.0  # the few rows vary more than the others, or less
    selected = np.arange(sizes[0])
    auc, *_, spread, rest_spread = (one[0] for one in group_contrasts(X, np.repeat([0, 1], sizes).astype(np.int32), 2))
    alike = mannwhitneyu(X[selected], X[sizes[0] :], method="asymptotic", use_continuity=False).pvalue
    unlike = brunnermunzel(X[selected], X[sizes[0] :]).pvalue
    np.testing.assert_allclose(rank_p_values(auc, sizes), alike, rtol=1e-9)
    found = rank_p_values(auc, sizes, (spread, rest_spread))
    assert (unlike > alike).any()
    np.testing.assert_allclose(np.log(found), np.log(np.maximum(alike, unlike)), rtol=0.05, atol=0.05)


def test_sides_that_do_not_overlap_or_do_not_vary_are_judged_by_mann_and_whitney():
    nothing = np.zeros(2)
    auc = np.array([1.0, 0.5])
    np.testing.assert_array_equal(rank_p_values(auc, (10, 20), (nothing, nothing)), rank_p_values(auc, (10, 20)))


def test_two_rows_far_from_two_hundred_are_set_apart():
    X = np.random.default_rng(0).normal(size=(200, 50))
    X[:2, 7] += 9.0
    assert contrast(X, [0, 1]).caption() == "more feature 7"


def test_a_contrast_is_told_in_full():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [7.0, 1.0], [8.0, 0.0], [9.0, 1.0]])
    found = contrast(X, [3, 4, 5], feature_names=["a", "b"])
    headline = "3 selected, 3 in the rest: no feature sets it apart"
    assert found.headline() == f"{headline}; fewer than 5 rows are too few for errors and to hold any out"
    document = found.to_dict()
    assert (document["n_selected"], document["n_rest"], document["caption"]) == (3, 3, "no feature sets it apart")
    assert list(document["features"][0]) == [
        "feature",
        "index",
        "effect",
        "error",
        "effect_size",
        "auc",
        "auc_error",
        "false_discovery_rate",
        "beyond_chance",
        "sets_apart",
        "mean_selected",
        "mean_rest",
        "difference",
        "difference_low",
        "difference_high",
    ]
    assert [document["features"][0][name] for name in ("mean_selected", "mean_rest", "auc")] == [8.0, 2.0, 1.0]


def test_a_feature_that_only_varies_in_rows_of_no_side_is_constant():
    X = np.column_stack([np.array([1.0] * 6 + [5.0, 6.0]), np.arange(8.0), np.array([0.0, 1.0, 0.5] * 2 + [0.0] * 2)])
    found = contrast(X, [0, 1, 2], [3, 4, 5])
    errors = dict(zip(found.indices.tolist(), found.error.tolist(), strict=True))
    assert errors[0] == 0.0
    assert errors[1] > 0.0
    assert errors[2] > 0.0  # alike in both, but not constant
    assert found.auc_error[found.indices.tolist().index(2)] > 0.0
