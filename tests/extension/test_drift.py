"""New rows like those of a map are hardly ever advised to be fitted again, however few or many; others are."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import betabinom, fisher_exact, ks_2samp

from gnomon.extension import Novelty, measure_drift
from gnomon.extension.drift.chance import (
    chance_of_farther,
    chance_of_fewer,
    chance_of_shift,
    counts_beyond,
    largest_shift,
)
from gnomon.extension.drift.columns import Unknown, largest_difference, measure_unknown
from gnomon.extension.drift.copies import find_copies
from gnomon.extension.held_out import Unlikeness
from gnomon.neighbors import RowSearch, compute_neighbors, near_copies

ROWS = np.random.default_rng(0).normal(size=(300, 3))


def drift_of(X_new, X=ROWS):
    return measure_drift(X, X[:, :2], X_new, X_new[:, :2])


@pytest.mark.parametrize("m", [1, 2, 5, 10, 50])
def test_rows_like_the_old_ones_are_no_reason_to_fit_again(m):
    rng = np.random.default_rng(m)
    assert sum(drift_of(rng.normal(size=(m, 3))).refit for _ in range(20)) <= 1


@pytest.mark.parametrize("m", [1, 2, 5, 10, 50])
def test_rows_far_from_the_old_ones_are_one(m):
    drift = drift_of(np.random.default_rng(m).normal(size=(m, 3)) + 8.0)
    assert drift.refit
    assert "of the new rows lie farther out than 95 % of the old (more than 15%, and than chance)" in str(drift)


def test_what_may_be_chance_is_called_so():
    one = ROWS[:1] * 2.2 / np.linalg.norm(ROWS[0])
    drift = drift_of(one + np.array([[0.0, 0.0, 1.2]]))
    assert drift.unusual == 1.0
    assert not drift.refit
    assert drift.summary().splitlines()[-1] == (
        "No need to fit again: what speaks for it may be chance, of one new row."
    )


def test_rows_that_the_map_places_badly_are_a_reason():
    rng = np.random.default_rng(0)
    X_new = rng.normal(size=(50, 3))
    drift = measure_drift(ROWS, ROWS[:, :2], X_new, rng.normal(size=(50, 2)))
    assert "of their neighbours less than old rows (more than 15%)" in " ".join(drift.reasons)
    assert drift.lost_by_chance < 1e-6
    assert drift_of(X_new).lost_by_chance > 0.9


def test_the_difference_of_distributions_is_told_beside_that_of_chance():
    drift = drift_of(ROWS[:1] + 0.01)
    assert drift.shift <= drift.shift_by_chance == 1.0
    assert "how far out they lie, not where (their novelty), differs in distribution by" in str(drift)
    rng = np.random.default_rng(0)
    for m in (10, 200):
        found = [
            np.abs(np.searchsorted(np.sort(rng.random(m)), old := np.sort(rng.random(300))) / m - np.arange(300) / 300)
            for _ in range(300)
        ]
        assert len(old) == 300
        above = np.mean([one.max() > largest_shift(300, m) for one in found])
        assert 0.01 <= above <= 0.1


def test_the_number_beyond_an_old_row_is_beta_binomial():
    for n, m, rank in ((300, 1, 286), (300, 7, 286), (20, 5, 20), (1, 3, 1)):
        expected = np.cumsum(betabinom.pmf(np.arange(m, -1, -1), m, n - rank + 1, rank))[::-1]
        np.testing.assert_allclose(counts_beyond(n, m, rank), expected, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 4, 300])
def test_farther_rows_are_as_likely_as_told(m):
    rng = np.random.default_rng(m)
    told = np.array(
        [chance_of_farther(np.searchsorted(np.sort(rng.random(200)), rng.random(m)), 200) for _ in range(2000)]
    )
    for level in (0.05, 0.01):
        assert np.mean(told <= level) <= level + 3 * np.sqrt(level / 2000)
    assert np.mean(told <= 0.05) >= 0.02


def test_sums_of_few_and_of_many_counts_are_as_likely_as_told():
    old = np.array([1, 1, 2])  # and one of 0
    assert chance_of_fewer(old, 1, 0.0) == pytest.approx(0.25)
    assert chance_of_fewer(old, 2, 1.5) == pytest.approx(1 / 16 + 2 * 2 / 16)
    assert chance_of_fewer(old, 2, -0.5) == 0.0
    assert chance_of_fewer(old, 3, 6.0) == pytest.approx(1.0)
    assert min(chance_of_fewer(np.arange(5, 25), n, 0.0) for n in range(20, 60)) >= 0.0  # that of none is 1e-26 or less
    assert chance_of_fewer(np.zeros(4, int), 2000, 0.0) == 1.0
    for total in (980.0, 1000.0, 1030.0):
        assert chance_of_fewer(old, 1001, total) == pytest.approx(chance_of_fewer(old, 1000, total - 1.0), abs=0.02)


@pytest.mark.parametrize("m", [1, 2, 5, 10, 50])
def test_rows_like_the_old_ones_do_not_differ(m):
    rng = np.random.default_rng(m)
    drawn = [drift_of(rng.normal(size=(m, 3))) for _ in range(6)]
    assert not any(one.differs for one in drawn)
    assert not any("not like" in str(one) for one in drawn)


FAULTS = {
    "scaled down": (lambda rows: 0.3 * rows, "lie nearer in than half of the old (a shift of 0."),
    "dead sensors": (
        lambda rows: rows * [1, 0, 0, 1, 1, 1],
        "2 columns have one value in all new rows (first b); 2 columns",
    ),
    "one dead sensor": (
        lambda rows: rows * [1, 1, 1, 0, 1, 1],
        "a column has one value in all new rows (d); a column differs",
    ),
    "one row many times": (lambda rows: 0 * rows, "6 columns have one value in all new rows (first a)"),
    "another offset": (lambda rows: rows + np.eye(6)[4], "a column differs in distribution (e: by 0."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_rows_that_were_prepared_otherwise_are_told_where_no_new_fit_is_advised(fault):
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(300, 6)), FAULTS[fault][0](rng.normal(size=(100, 6)))
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2], column_names=list("abcdef"))
    last = drift.summary().splitlines()[-1]
    assert drift.differs
    assert not drift.refit
    assert last.startswith("No need to fit again, but the new rows are not like the old: ")
    assert "Check that they were prepared alike; rows of another kind, or in other shares" in last
    assert FAULTS[fault][1] in last


@pytest.mark.parametrize(
    "fault", [lambda rows: rows + 2.0 * (np.arange(32) < 8), lambda rows: rows * (np.arange(32) < 16)]
)
def test_directions_that_moved_are_told_where_their_distances_are_as_usual(fault):
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(300, 32)), fault(rng.normal(size=(150, 32)))
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2], metric="cosine")
    assert drift.differs
    assert "columns differ in distribution (first column " in str(drift)
    scaled = measure_drift(X, X[:, :2], X[::2] * 7.0, X[::2, :2], metric="cosine")
    assert scaled.columns.shifts.max() < 0.1  # the length of a row says nothing


def test_a_new_fit_is_advised_after_a_look_at_how_rows_were_prepared():
    drift = drift_of(np.random.default_rng(1).normal(size=(50, 3)) + 8.0)
    assert drift.refit
    last = drift.summary().splitlines()[-1]
    assert (
        "First check that they were prepared alike: 100% lie farther out than half of the old (a shift of 1.00" in last
    )


@pytest.mark.parametrize(("n", "share"), [(100, "100%"), (70, "70%")])
def test_columns_that_stopped_arriving_are_told_and_filled_values_are_not_compared(n, share):
    old_gaps, new_gaps = np.arange(900).reshape(300, 3) % 10 == 0, np.zeros((100, 3), bool)
    new = ROWS[:100].copy()
    new[:n, 1], new_gaps[:n, 1] = 0.3, True
    masks = {"missing": (old_gaps, new_gaps), "missing_names": ["a", "age", "c"]}
    drift = measure_drift(ROWS, ROWS[:, :2], new, new[:, :2], **masks)
    text = f"values are missing more often (age in {share} of the new rows and 10% of the old)"
    assert f"{text}, and what was filled in was not measured" in drift.summary().splitlines()[-1]
    assert [one for one in drift.differences if "distribution" in one or "one value" in one] == []
    assert "distribution" in str(measure_drift(ROWS, ROWS[:, :2], new, new[:, :2]).differences)
    like = np.random.default_rng(1).normal(size=(100, 3))
    same = measure_drift(ROWS, ROWS[:, :2], like, like[:, :2], missing=(old_gaps, old_gaps[:100]))
    assert not same.differs


@pytest.mark.parametrize(("count", "refit", "differs"), [(20, True, True), (4, False, True), (1, False, False)])
def test_categories_that_the_map_does_not_know_count(count, refit, differs):
    unknown = measure_unknown([Unknown("country", "'US'", count, 0)], 3000, 100)
    new = np.random.default_rng(1).normal(size=(100, 3))
    drift = measure_drift(ROWS, ROWS[:, :2], new, new[:, :2], unknown=unknown)
    assert f"categories that the map does not know: 'country' in {count}.0% of the new rows ('US')" in str(drift)
    text = f"{count}% of the new rows have a 'country' that the map does not know ('US')"
    assert (drift.reasons == [text]) == drift.refit == refit
    assert (drift.differences == [text]) == drift.differs == differs
    assert str(drift).count(text) == differs


def test_other_shares_of_the_labels_are_told_as_such():
    rng = np.random.default_rng(0)

    def kinds(counts):
        kind = np.repeat([0, 1, 2], counts)
        return rng.normal(size=(len(kind), 4)) + 9.0 * np.eye(4)[kind], np.array(["a", "b", "c"])[kind]

    (X, labels), (X_new, _) = kinds([150, 100, 50]), kinds([5, 5, 90])
    told = measure_drift(X, X[:, :2], X_new, X_new[:, :2], labels=labels)
    assert told.by_shares
    unlike = Unlikeness(told.novelty, np.zeros(100), np.zeros(100, dtype=bool), 300)
    for given, explained in ((unlike, True), (unlike._replace(novelty=np.full(100, 0.9)), False)):
        in_components = measure_drift(X, X[:, :2], X_new, X_new[:, :2], labels=labels, unlikeness=given)
        assert (in_components.differs, in_components.by_shares) == (True, explained)
    assert told.summary().splitlines()[-1] == (
        "No need to fit again. The new rows come in other shares of the labels (90% came to c), and otherwise are like "
        "the old."
    )
    without = measure_drift(X, X[:, :2], X_new, X_new[:, :2])
    assert not without.by_shares
    assert "or in other shares of the same kinds" in str(without)
    broken = measure_drift(X, X[:, :2], X_new * [1, 1, 1, 0], X_new[:, :2], labels=labels)
    assert not broken.by_shares
    assert "a column has one value in all new rows (column 3)" in str(broken)


def test_slightly_other_shares_of_the_labels_are_no_fault_of_preparation():
    rng = np.random.default_rng(0)
    centers = 5.0 * np.eye(8)

    def rows(shares, n):
        kind = rng.choice(8, n, p=shares)
        return centers[kind] + rng.normal(size=(n, 8)), np.array(list("abcdefgh"))[kind]

    (X, labels), (X_new, _) = rows(np.full(8, 0.125), 1500), rows([0.3, *np.full(7, 0.1)], 1000)
    told = measure_drift(X, X[:, :2], X_new, X_new[:, :2], labels=labels)
    assert (told.differs, bool(told.slight), told.by_shares) == (False, True, True)
    assert told.summary().splitlines()[-1].startswith("No need to fit again. The new rows come in other shares of the")
    shifted = X_new + 0.3 * np.eye(8)[5]  # and one column is higher beside
    told = measure_drift(X, X[:, :2], shifted, shifted[:, :2], labels=labels)
    assert (told.differs, bool(told.slight), told.by_shares) == (False, True, False)
    assert "surely shifted, though little" in told.summary()


def test_a_shift_is_as_likely_as_told():
    rng = np.random.default_rng(0)
    for n, m in ((300, 5), (300, 100)):
        found = largest_difference(rng.random((n, 600)), rng.random((m, 600)), np.full(n, 1 / n))
        told = np.array([chance_of_shift(one, n, m) for one in found])
        assert np.mean(told <= 0.05) <= 0.075
        assert np.mean(told <= 0.5) >= 0.3
    assert chance_of_shift(1.0, 1e6, 2) > 0.0025 > chance_of_shift(1.0, 1e6, 3)  # of one row or two none is beyond it
    assert chance_of_shift(largest_shift(300, 40), 300, 40) == pytest.approx(0.05, rel=0.01)
    assert chance_of_shift(largest_shift(300, 40, n_compared=8), 300, 40) * 8 == pytest.approx(0.05, rel=0.01)


def test_a_sure_shift_that_is_little_is_told_with_its_size():
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(1000, 5)), 0.85 * rng.normal(size=(1000, 5))
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2])
    assert drift.shift_p_value < 1e-6
    assert drift.shift < 0.3
    assert not drift.differs
    assert not drift.refit
    assert (
        drift.summary()
        .splitlines()[-1]
        .startswith(
            "No need to fit again, but the new rows have surely shifted, though little: how far out they lie by "
            f"{drift.shift:.2f} (nearer in; by chance up to {drift.shift_by_chance:.2f})"
        )
    )
    one = X.copy()
    one[:, 3] += 0.4
    told = measure_drift(X, X[:, :2], one, one[:, :2], column_names=list("abcde"))
    assert any(text.startswith("a column by 0.") and "(d; by chance" in text for text in told.slight)
    assert not told.differs
    like = rng.normal(size=(1000, 5))
    assert measure_drift(X, X[:, :2], like, like[:, :2]).slight == []


@pytest.mark.parametrize(("sign", "word"), [(-1.0, "lower"), (1.0, "higher")])
def test_many_small_shifts_in_one_direction_are_one_that_is_seen(sign, word):
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(300, 40)), rng.normal(size=(200, 40))
    shifted = X_new + 0.2 * sign
    drift = measure_drift(X, X[:, :2], shifted, shifted[:, :2])
    assert drift.columns.shifts.max() < 0.3
    assert drift.columns.n_together == 40
    assert f"the mean of 40 columns differs in distribution ({word} in new rows: by 0." in str(drift)
    both = np.concatenate([X, shifted])
    scores = [((rows - both.mean(axis=0)) / both.std(axis=0)).mean(axis=1) for rows in (X, shifted)]
    assert abs(drift.columns.together) == pytest.approx(ks_2samp(*scores).statistic, abs=1e-9)
    back_and_forth = X_new + 0.2 * np.where(np.arange(40) % 2, 1.0, -1.0)
    assert not measure_drift(X, X[:, :2], back_and_forth, back_and_forth[:, :2]).differs
    gaps = np.zeros(X.shape, dtype=bool), np.arange(40) % 2 * np.ones(shifted.shape, dtype=bool) > 0
    part = measure_drift(X, X[:, :2], shifted, shifted[:, :2], missing=gaps)
    assert part.columns.n_together == 20


def test_of_equal_rows_the_shift_is_that_of_the_scores_and_they_count_as_few():
    rng = np.random.default_rng(0)
    X, X_new = (np.repeat(rng.normal(size=(n, 2)), 8, axis=0) for n in (50, 40))
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2], n_neighbors=5)
    assert drift.shift_by_chance == largest_shift(50.0, 320)
    bits, like = ((rng.random((n, 8)) < 0.3).astype(float) for n in (400, 300))
    told = measure_drift(bits, bits[:, :2], like, like[:, :2])
    graph = compute_neighbors(bits, 15)
    known = Novelty.learn(graph.indices, graph.distances)
    scores = known.score(*RowSearch.of(bits, 15).find(like))
    assert told.shift == pytest.approx(ks_2samp(known.scores, scores).statistic, abs=1e-9)
    assert told.slight == []


def test_a_region_is_told_where_more_new_rows_come_than_by_chance():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    crowded = np.concatenate([rng.uniform(size=(60, 2)), rng.uniform(0.51, 0.6, size=(40, 2))])
    drift = measure_drift(X, X, crowded, crowded)
    (place, new, old), p_value = drift.regions[0], drift.region_p_values[0]
    assert np.all(np.abs(place - 0.56) < 0.07)
    table = [[new - 1, 100 - new], [old, 400 - old]]  # without the row that the region is about
    size = new - 1 + old
    of_size = min(100, math.ceil(8 * 500 / size))
    n_sizes = sum(7 * 2 ** (i / 2) <= 250 for i in range(20))  # from ln(100 / 0.0025) / ln 5 on: 7 rows, all new
    alike = fisher_exact(table, alternative="greater").pvalue
    assert p_value == pytest.approx(of_size * n_sizes * alike, rel=1e-6)
    where = ", ".join(f"{one:.3g}" for one in place)
    expected = f"in the region about ({where}) lie {new}, and by its {old} old rows {old / 4:.0f} would"
    assert f"more new rows than by chance: {expected}" in str(drift)
    for _ in range(10):
        like = rng.uniform(size=(100, 2))
        told = measure_drift(X, X, like, like)
        assert "region" not in str(told)
        assert (np.diff(told.region_p_values) >= 0.0).all()


def test_new_rows_that_are_rows_of_the_map_are_told():
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(400, 6)), rng.normal(size=(100, 6))
    X_new[10:20] = X[50:60]
    X_new[20:25] = X[70:75] + 1e-4 * rng.normal(size=(5, 6))
    places = X[:, :2].copy()
    places[0] = np.nan  # row numbers stay those of the map
    drift = measure_drift(X, places, X_new, X_new[:, :2])
    assert drift.copies.tolist() == [[10 + j, 50 + j] for j in range(10)] + [[20 + j, 70 + j] for j in range(5)]
    assert (drift.n_equal, drift.n_repeated) == (10, 0)
    lines = str(drift).splitlines()
    assert lines[-2] == (
        "copies: 15 of 100 new rows are rows of the map (10 equal, 5 nearly; row 10 of 50, 11 of 51, 12 of 52 and 12 "
        "more), as 0 of its 399 rows repeat others"
    )
    assert lines[-1].endswith("15 of the new rows are not new: they test nothing.")
    sparse = measure_drift(csr_array(X), places, csr_array(X_new), X_new[:, :2])
    assert sparse.copies.tolist() == drift.copies.tolist()


def test_rows_that_are_near_by_a_few_giant_columns_are_no_copies():
    near = 0
    for seed in range(20):
        rows = np.random.default_rng([seed, 2]).standard_cauchy((260, 120))
        graph, found = compute_neighbors(rows[:200], 15, seed=0), RowSearch.of(rows[:200], 15).find(rows[200:])
        near += np.count_nonzero(near_copies(graph, *found) >= 0)
        assert len(find_copies(rows[:200], rows[200:], graph, *found).pairs) == 0
    assert near >= 3


def test_copies_do_not_lie_nearer_in_than_the_rows_that_they_are():
    X = np.random.default_rng(0).normal(size=(400, 30))
    drift = measure_drift(X, X[:, :2], X[:100], X[:100, :2])
    assert drift.shift_p_value < 1e-6
    assert (drift.differences, drift.slight) == ([], [])
    assert "copies: 100 of 100 new rows are rows of the map" in drift.summary()


def test_copies_that_are_to_be_expected_are_counted_and_not_told():
    rng = np.random.default_rng(0)
    twice = np.repeat(rng.normal(size=(300, 6)), 2, axis=0)
    order = rng.permutation(600)
    drift = measure_drift(twice[order[:450]], twice[order[:450], :2], twice[order[450:]], twice[order[450:], :2])
    assert len(drift.copies) > 80
    assert "copies" not in str(drift)
    nearly = twice + 1e-4 * rng.normal(size=twice.shape)
    assert measure_drift(nearly, nearly[:, :2], twice[:50], twice[:50, :2]).n_repeated == 600
    answers = rng.integers(1, 6, size=(500, 4)).astype(float)
    answered = measure_drift(answers[:400], answers[:400, :2], answers[:100], answers[:100, :2])
    assert answered.n_equal == 100
    assert "copies" not in str(answered)
    like = rng.normal(size=(100, 6))
    assert len(measure_drift(twice[::2], twice[::2, :2], like, like[:, :2]).copies) == 0
