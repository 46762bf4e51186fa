"""Maps are made and judged by the metric that is asked for."""

import numpy as np
import pytest

import gnomon as gn

RNG = np.random.default_rng(0)
TURNS = RNG.uniform(-180, 180, (150, 2))


def test_maps_are_made_and_judged_by_the_metric():
    how = {"n_seeds": 1, "measures": ["trustworthiness"], "random_state": 0}
    few = {"umap": {"max_iter": 30, "n_neighbors": 10}}
    found = gn.compare(TURNS, ("umap", "pca"), few, metric="periodic(360)", **how)
    assert found.graph_neighbors == 10  # the search by the metric serves the map
    by_hand = gn.UMAP(n_neighbors=10, max_iter=30, metric="periodic(360)", random_state=0).fit(TURNS).embedding_
    np.testing.assert_array_equal(found.trials[0].embedding, by_hand.astype(np.float32))
    card = gn.evaluation.scorecard(TURNS, by_hand, metric="periodic(360)", random_state=0)
    assert found.trials[0].scores["trustworthiness"] == pytest.approx(card["trustworthiness"].value)
    own = {"umap": {**few["umap"], "metric": "euclidean"}}  # a metric of its own has neighbours of its own
    other = gn.compare(TURNS, ("umap",), own, metric="periodic(360)", **how)
    assert other.graph_neighbors == 0
    plain = gn.UMAP(n_neighbors=10, max_iter=30, random_state=0).fit(TURNS).embedding_
    np.testing.assert_array_equal(other.trials[0].embedding, plain.astype(np.float32))


def test_a_torus_is_not_cut_open_by_the_choice():
    asked = {"umap": {"max_iter": 60}, "isomap": {}}
    found = gn.recommend(
        TURNS, ("umap", "isomap"), asked, metric="periodic(360)", n_seeds=1, criterion="trustworthiness"
    )
    assert all("metric" not in trial.parameters for trial in found.comparison.trials)
    assert found.chosen.scores["trustworthiness"] > 0.9
    assert found.parameters["metric"] == found.estimator().metric == found.comparison.metric == "periodic(360)"
    assert "by periodic(360) distances" in found.comparison.summary()
    plain = gn.recommend(TURNS, ("pca",), metric="periodic(360)", n_seeds=1)
    assert plain.parameters == {}  # the method takes no metric


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("precomputed", "must be the name of a metric between rows of features"),
        (len, "must be the name of a metric between rows of features"),
        ("nonsense", "must be a callable or one of"),
        ("minkowski(3)", "must be a callable or one of"),
    ],
)
@pytest.mark.parametrize("ask", [gn.compare, gn.recommend])
def test_other_metrics_are_refused(ask, metric, text):
    with pytest.raises(ValueError, match=f"metric=.* {text}"):
        ask(TURNS, metric=metric)
