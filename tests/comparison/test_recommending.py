"""A recommendation follows its stated rule, sees no labels, and shows the curve it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import gnomon
from gnomon._entrance import entrance
from gnomon.comparison.trials import Request, Trials
from gnomon.evaluation import scorecard


@pytest.fixture(scope="module")
def curved():
    """Points on a curved sheet in five dimensions, which no plane shows."""
    rng = np.random.default_rng(5)
    along, across = rng.uniform(0, 9, 150), rng.uniform(0, 2, 150)
    sheet = np.column_stack([along * np.cos(along), along * np.sin(along), across])
    return np.hstack([sheet, 0.05 * rng.normal(size=(150, 2))]).astype(np.float32)


@pytest.fixture(scope="module")
def recommended(curved):
    return gnomon.recommend(curved, scale=None)


def test_a_plane_is_left_to_principal_components():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 6))
    found = gnomon.recommend(plane.astype(np.float32), scale=None)
    assert (found.method, found.parameters) == ("pca", {})
    assert found.intrinsic_dimension == pytest.approx(2.0, abs=0.5)


def test_the_chosen_map_is_the_simplest_within_the_tolerance_of_the_best(recommended):
    tried = recommended.comparison.trials
    least = max(one.scores["trustworthiness"] for one in tried if not one.parameters) - 0.005
    allowed = [one for one in tried if one.scores["trustworthiness"] >= least]
    settled = [one for one in allowed if one.n_seeds == 2]
    noise = np.array([one.noise["neighborhood_preservation"] for one in tried])
    from_seeds = np.sqrt(2 * np.mean(noise[noise > 0] ** 2) / 2)  # of one seed it is nan, and without chance zero

    def tolerance(one, other):
        a, b = (trial.scorecard["neighborhood_preservation"].by_row for trial in (one, other))
        return max(0.01, 2 * np.sqrt(np.var(a - b, ddof=1) / len(a) + from_seeds**2))

    best = max(settled, key=lambda one: one.scores["neighborhood_preservation"])
    near = [
        one
        for one in settled
        if best.scores["neighborhood_preservation"] - one.scores["neighborhood_preservation"] <= tolerance(best, one)
    ]
    simplest = min(len(one.parameters) for one in near)
    order = ("pca", "tsne", "umap")
    first = min(order.index(one.method) for one in near if len(one.parameters) == simplest)
    assert recommended.chosen in near
    assert (len(recommended.chosen.parameters), recommended.method) == (simplest, order[first])
    assert recommended.tolerance == pytest.approx(tolerance(best, recommended.chosen), rel=1e-9)
    assert {*recommended.refused} == {one.name for one in tried} - {one.name for one in allowed}


def test_curves_tell_the_scores_of_the_maps(recommended):
    by_name = {one.name: one for one in recommended.comparison.trials}
    curve = next(one for one in recommended.curves if one.parameter == "perplexity")
    for value, found in zip(curve.values, curve.criterion, strict=True):
        name = "tsne" if value == curve.default else f"tsne, perplexity={value}"
        assert found == by_name[name].scores["neighborhood_preservation"]
    assert list(curve.values) == sorted(curve.values)
    assert curve.chosen in curve.values


def test_the_better_half_and_defaults_alone_have_all_seeds(recommended):
    for curve in recommended.curves:
        again = [n == 2 for n, value in zip(curve.n_seeds, curve.values, strict=True) if value != curve.default]
        assert (set(curve.n_seeds), sum(again) <= (len(curve.values) + 1) // 2) == ({1, 2}, True)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 1), (5, 2), (20, 9), (21, 10), (40, 10)])
def test_measures_of_few_rows_look_at_as_many_neighbours_as_they_may(curved, n, k):
    assert gnomon.recommend(curved[:n], "pca", scale=None, n_seeds=1).comparison.n_neighbors == k


def test_no_map_is_made_twice(recommended):
    names = [one.name for one in recommended.comparison.trials]
    assert len(names) == len(set(names))


def test_labels_do_not_touch_the_choice(curved, recommended):
    labels = np.random.default_rng(1).integers(0, 3, len(curved))
    found = gnomon.recommend(curved, scale=None, labels=labels)
    assert (found.chosen.name, found.tolerance) == (recommended.chosen.name, recommended.tolerance)
    assert "knn_accuracy" in found.chosen.scores


def test_the_estimator_makes_the_recommended_map(curved, recommended):
    Y = recommended.estimator(random_state=0).fit_transform(curved)
    np.testing.assert_array_equal(np.asarray(Y, np.float32), recommended.chosen.embedding)


def test_threads_change_no_bit(curved):
    one, two = (gnomon.recommend(curved[:90], ("pca", "umap"), scale=None, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.chosen.embedding, two.chosen.embedding)
    assert one.curves == two.curves


def test_a_line_is_given_one_component():
    rng = np.random.default_rng(2)
    line = np.outer(rng.uniform(0, 10, 80), np.ones(4)) + 1e-4 * rng.normal(size=(80, 4))
    found = gnomon.recommend(line.astype(np.float32), "pca", scale=None, n_components=None)
    assert found.n_components == 1
    assert found.chosen.embedding.shape == (80, 1)
    assert found.comparison.maps["pca"].shape == (80, 2)  # methods are compared in two
    assert found.curves[-1].values == (1, 2)
    assert gnomon.recommend(line, "pca", scale=None, n_seeds=1, n_components=1).chosen.embedding.shape == (80, 1)
    assert "1 component reaches 95% of what 2 do." in found.reasons


def test_another_criterion_is_followed(curved):
    found = gnomon.recommend(curved, ("pca", "umap"), scale=None, criterion="local_r2", n_seeds=1)
    best = max(one.scores["local_r2"] for one in found.comparison.trials if one.name not in found.refused)
    assert found.chosen.scores["local_r2"] >= best - found.tolerance


def test_summary_names_the_choice_and_plot_draws_each_curve(recommended):
    assert recommended.summary().startswith(f"Use {recommended.chosen.name}.")
    assert len(recommended.plot().axes_) == len(recommended.curves) + 1
    assert recommended.to_dict()["method"] == recommended.method


def test_a_winner_is_confirmed_by_the_trustworthiness_that_a_scorecard_tells(curved):
    @entrance("confirm", seeded=True)
    def confirm(random_state):
        trials = Trials(curved, labels=None, scale=None, n_neighbors=4, measures="trustworthiness", n_seeds=2)
        return trials.held_out_trust(Request("umap"), 2)

    maps = [gnomon.UMAP(random_state=seed).fit_transform(curved) for seed in (9, 10)]  # 7 and 8 are compared by
    told = [scorecard(curved, Y, measures="trustworthiness")["trustworthiness"].value for Y in maps]
    np.testing.assert_allclose(confirm(random_state=7), told, rtol=1e-12)


def test_values_that_are_asked_for_are_tried_beside_the_default(curved):
    found = gnomon.recommend(curved, ("pca", "umap"), {"umap": {"n_neighbors": [30, 6]}}, scale=None, n_seeds=1)
    assert [(one.method, one.parameter, one.values) for one in found.curves] == [("umap", "n_neighbors", (6, 15, 30))]
    assert found.curves[0].n_seeds == (1, 1, 1)


def test_zeros_and_ones_may_be_sets():
    bits = (np.random.default_rng(0).random((60, 20)) < 0.3).astype(float)

    def told(X, **options):
        reasons = gnomon.recommend(X, "pca", scale=None, n_components=2, n_seeds=1, **options).reasons
        return any("as sets by metric='jaccard'" in one for one in reasons)

    assert told(bits)
    assert told(csr_array(bits))
    assert not told(bits, metric="jaccard")
    assert not told(2.0 * bits)
    assert told(bits[:, :16])
    assert not told(bits[:, :15])


def test_measures_of_pairs_are_those_of_a_scorecard_of_fifty_thousand(curved):
    X = np.vstack([curved, curved[:, ::-1], curved**2])
    found = gnomon.recommend(X, "pca", scale=None, n_seeds=1, random_state=2).chosen
    how = {"measures": "shepard", "n_neighbors": 10, "random_state": 2}
    assert found.scores["shepard"] == scorecard(X, found.embedding, n_pairs=50_000, **how)["shepard"].value


def test_the_last_reason_is_how_many_coordinates_the_data_need_where_that_can_be_told(curved, recommended):
    need = f"The data need about {recommended.intrinsic_dimension:.1f} coordinates (gnomon.intrinsic_dimension)"
    assert recommended.reasons[-1] == f"{need}; no map of fewer keeps everything."
    few = gnomon.recommend(curved[:3], "pca", scale=None, n_seeds=1)
    assert np.isnan(few.intrinsic_dimension)
    assert not any("coordinates" in one for one in few.reasons)


def test_a_sample_stands_for_a_long_table(curved):
    labels = np.arange(len(curved)) % 5
    found = gnomon.recommend(curved, "pca", scale=None, labels=labels, max_rows=50, random_state=3)
    assert found.rows.shape == (50,)
    assert (np.diff(found.rows) > 0).all()
    np.testing.assert_array_equal(found.comparison.labels, labels[found.rows])
    alone = gnomon.recommend(curved[found.rows], "pca", scale=None, random_state=3)
    np.testing.assert_array_equal(found.chosen.embedding, alone.chosen.embedding)
    assert f"50 random rows of {len(curved)} were mapped." in found.reasons


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"methods": ("umpa",)}, r"recommend: methods='umpa' must be one of"),
        ({"criterion": "knn_accuracy"}, r"recommend: criterion='knn_accuracy' must be one of"),
        ({"n_components": 0}, r"recommend: n_components=0 must be"),
        ({"n_seeds": 1.5}, r"recommend: n_seeds=1.5 must be"),
        ({"max_rows": 49}, r"recommend: max_rows=49 must be"),
        ({"parameters": {"umap": {"n_nbrs": [5]}}}, r"recommend: parameters\['umap'\]\['n_nbrs'\] must be a parameter"),
        ({"parameters": {"isomap": {"n_neighbors": [5]}}}, r"parameters of 'isomap' must be of one of the methods"),
    ],
)
def test_wrong_arguments_are_named(curved, options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        gnomon.recommend(curved, **options)


def four_groups(n=600, d=120):
    rng = np.random.default_rng(8)
    return 0.5 * rng.normal(size=(4, d))[np.arange(n) % 4] + rng.normal(size=(n, d)), rng


def reasons_beside_scores(X, **options):
    found = gnomon.recommend(X, ["pca"], n_seeds=1, **options)
    return [one for one in found.reasons if "halves of the columns" in one]


def test_reasons_name_other_distances_by_which_halves_of_the_columns_agree_more():
    X, rng = four_groups()
    wide = X.copy()
    wide[:, :3] *= 12.0 * rng.normal(size=(len(X), 3))
    with pytest.warns(gnomon.exceptions.DataWarning, match="hide what the others agree about"):
        (told,) = reasons_beside_scores(wide)
    assert "Standardised columns were tried too" in told
    assert not reasons_beside_scores(wide, scale=None)  # they are wanted as they are
    assert told.endswith("ask again with scale='standard'.")
    long = X * np.exp(0.7 * rng.normal(size=(len(X), 1)))
    (told,) = reasons_beside_scores(long)
    assert told.endswith("ask again with metric='cosine'.")
