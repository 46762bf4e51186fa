"""Another run of the process that a map is of is not new to it, and rows of another state are."""

import numpy as np
import pytest

import gnomon as gn


def _run(n, seed, d=6, tau=12.0):
    """Return an Ornstein-Uhlenbeck process in one well."""
    rng, kept = np.random.default_rng(seed), np.exp(-1.0 / tau)
    X = rng.normal(size=(n, d))
    for i in range(1, n):
        X[i] = kept * X[i - 1] + np.sqrt(1.0 - kept**2) * X[i]
    return X


@pytest.fixture(scope="module")
def m():
    return gn.map(_run(1200, 0), method="pca")


def test_another_run_is_judged_by_rows_that_are_hardly_alike(m):
    new = _run(1000, 1)
    _, drift = m.extend(new)
    assert np.mean(drift.novelty > 0.95) > 0.3
    assert drift.unusual == drift.independent.unusual
    assert drift.novelty.shape == (1000,)
    assert (drift.refit, drift.differs, len(drift.group)) == (False, False, 0)
    assert drift.independent.n_old < 100
    assert drift.independent.n_new < 100
    assert drift.independent.unusual < 0.15
    assert "Of the map: Rows that follow each other" in drift.caution
    assert "The same holds of the new rows" in drift.caution
    assert drift.caution in drift.summary()
    assert f"judged by {drift.independent.n_new} of the new rows" in drift.summary()
    assert drift.summary().endswith("No need to fit again.")


def test_what_is_judged_are_the_rows_by_themselves(m):
    new = _run(1000, 1)
    _, drift = m.extend(new)
    old, few = m.clusters().succession.independent, gn.neighbors.succession_of_rows(new).independent
    assert (drift.independent.n_old, drift.independent.n_new) == (len(old), len(few))
    again = gn.extension.measure_drift(m.X[old], m.embedding[old], new[few], m.transform(new)[few])
    shares = ("unusual", "out_of_range", "shift", "shift_by_chance", "preserved_new", "preserved_old")
    chances = ("shift_p_value", "lost_by_chance")
    for name in (*shares, *chances):
        assert getattr(drift, name) == getattr(again, name), name
    assert drift.columns.p_value == again.columns.p_value
    np.testing.assert_array_equal(drift.region_p_values, again.region_p_values)
    assert [new for _, new, _ in drift.regions] == [new for _, new, _ in again.regions]
    assert f"{again.unusual:.1%} unusual (5 % expected)" in drift.summary()
    assert (drift.n_old, drift.n_new, len(drift.novelty)) == (1200, 1000, 1000)
    assert drift.reasons == again.reasons


def test_p_values_of_another_run_are_those_of_rows_like_the_old():
    p = []
    for seed in range(8):
        both = _run(1600, 20 + seed, tau=6.0)
        _, drift = gn.map(both[:800], method="pca").extend(both[800:])
        p.append([drift.shift_p_value, drift.region_p_values[0], drift.columns.p_value])
    assert np.mean(np.array(p) < 0.05, axis=0).max() <= 0.25


def test_a_figure_is_of_the_rows_that_are_judged(m):
    _, drift = m.extend(_run(300, 1))
    display = gn.plot.plot_drift(drift)
    assert f"of {drift.independent.n_new} new rows that are hardly alike" in display.title
    np.testing.assert_array_equal(display.values["new rows"], drift.independent.novelty)


def test_a_run_in_another_state_is_new_and_its_group_is_named_by_rows_of_the_run(m):
    _, drift = m.extend(_run(1000, 1) + 7.0)
    assert drift.refit
    assert len(drift.group) >= 5
    assert len(drift.group) < 100
    assert drift.group.max() > 500


@pytest.mark.parametrize("which", ["old", "new"])
def test_one_table_may_be_a_series_and_the_other_not(which):
    rng = np.random.default_rng(0)
    old, new = (
        (_run(1200, 0), rng.normal(size=(500, 6))) if which == "old" else (rng.normal(size=(1200, 6)), _run(500, 1))
    )
    _, drift = gn.map(old, method="pca").extend(new)
    assert (drift.independent.n_old < 1200) == (which == "old")
    assert (drift.independent.n_new < 500) == (which == "new")
    assert drift.caution.startswith("Of the map" if which == "old" else "Of the new rows")
    assert not drift.refit


def test_independent_rows_are_compared_as_they_are():
    rng = np.random.default_rng(0)
    _, drift = gn.map(rng.normal(size=(300, 4)), method="pca").extend(rng.normal(size=(200, 4)))
    assert drift.independent is None
    assert drift.caution == ""


@pytest.mark.parametrize("n", [20, 60])
def test_few_frames_of_another_run_count_as_those_of_the_series(m, n):
    for seed in range(3):
        _, drift = m.extend(_run(n, seed + 2))
        assert (drift.refit, drift.differs, drift.slight) == (False, False, [])
        assert drift.independent.n_new < n / 5
        assert "too few to show their order" in drift.caution
        assert "region" not in drift.summary()


def test_masks_and_labels_of_the_rows_that_are_judged_are_theirs():
    old, new = _run(600, 3), _run(400, 4)
    orders = tuple(gn.neighbors.succession_of_rows(rows) for rows in (old, new))
    rng = np.random.default_rng(0)
    labels = np.where(old[:, 0] > 0, "a", "b")
    masks = rng.random(old.shape) < 0.1, rng.random(new.shape) < [0.1, 0.6, 0.1, 0.1, 0.1, 0.1]
    drift = gn.extension.measure_drift(old, old[:, :2], new, new[:, :2], labels=labels, missing=masks, orders=orders)
    some, few = (order.independent for order in orders)
    again = gn.extension.measure_drift(
        old[some],
        old[some, :2],
        new[few],
        new[few, :2],
        labels=labels[some],
        missing=(masks[0][some], masks[1][few]),
    )
    assert drift.differences == again.differences
    assert "column 1 in " in drift.differences[0]
    np.testing.assert_array_equal(drift.missing.of_new, again.missing.of_new)
    assert drift.independent.labels == again.labels
    assert sum(drift.labels.values()) == 400


def test_a_new_kind_in_the_columns_is_sought_among_the_rows_that_are_judged():
    old, new = _run(900, 3), _run(600, 4)
    new[-300:, 3:] += 8.0
    orders = tuple(gn.neighbors.Succession(1e-9, 3, len(rows)) for rows in (old, new))
    some, few = (order.independent for order in orders)
    tables = old[:, :2], old[:, :2], new[:, :2], new[:, :2]
    drift = gn.extension.measure_drift(*tables, features=(old, new), n_together=4, orders=orders)
    judged = (one[rows] for one, rows in zip(tables, (some, some, few, few), strict=True))
    again = gn.extension.measure_drift(*judged, features=(old[some], new[few]), n_together=4)
    assert len(again.group) >= 60
    np.testing.assert_array_equal(drift.group, few[again.group])


def test_new_rows_of_four_steps_of_a_series_may_be_none():
    old = _run(600, 3)
    order, rng = gn.neighbors.succession_of_rows(old), np.random.default_rng(0)
    for n, alike in ((4 * order.step, False), (4 * order.step - 1, True)):
        new = rng.normal(size=(n, 6))
        drift = gn.extension.measure_drift(old, old[:, :2], new, new[:, :2], orders=(order, None))
        assert ("too few to show their order" in drift.caution) == alike
        assert drift.independent.n_new == (4 if alike else n)


def test_of_a_short_series_eight_rows_are_judged():
    old, new = _run(60, 3), _run(60, 4)
    for step, judged in ((20, 8), (9, 8), (7, 9)):
        order = gn.neighbors.Succession(1e-9, step, 60)
        drift = gn.extension.measure_drift(old, old[:, :2], new, new[:, :2], orders=(order, order))
        assert drift.independent.n_old == judged
    order = gn.neighbors.Succession(1e-9, 8, 60)  # eight rows: those that are hardly alike, and no others
    drift = gn.extension.measure_drift(old, old[:, :2], new, new[:, :2], orders=(order, order)).independent
    own = order.independent
    again = gn.extension.measure_drift(old[own], old[own, :2], new[own], new[own, :2])
    assert len(own) == 8
    assert (drift.shift, drift.unusual, drift.preserved_old) == (again.shift, again.unusual, again.preserved_old)
    np.testing.assert_array_equal(drift.novelty, again.novelty)
