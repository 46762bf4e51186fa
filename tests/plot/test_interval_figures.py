"""Figures of answers with intervals: every value, its interval and what it is compared with are drawn and named."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import Verdict, evaluate, scorecard
from gnomon.evaluation.baselines import PointNulls
from gnomon.evaluation.nulls import NullScores
from gnomon.plot import (
    plot_curves,
    plot_dimension,
    plot_evaluation,
    plot_forecast,
    plot_nulls,
    plot_point_nulls,
    plot_scorecard,
    plot_shepard,
    plot_verdicts,
)
from gnomon.plot.files import svg_of

X = np.random.default_rng(0).normal(size=(80, 4))


def _labels(figure):
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def _places(figure):
    return [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]


def test_scores_stand_beside_their_chance_levels():
    found = evaluate(X, X[:, :2])
    figure = plot_evaluation(found).figure_
    assert _places(figure) == list(found.scores().values())
    notes = [text.get_text() for text in figure.axes[0].texts]
    assert all(f"{value:.3f}" in note for value, note in zip(found.scores().values(), notes, strict=True))


def test_every_estimate_of_the_dimension_is_drawn_and_an_interval_without_end_stops():
    found = gn.intrinsic_dimension(X)
    known = {name: one for name, one in found.estimates.items() if np.isfinite(one.value)}
    figure = plot_dimension(found).figure_
    assert _labels(figure) == [name.replace("_", " ") for name in known]
    assert _places(figure) == [one.value for one in known.values()]
    endless = SimpleNamespace(estimates={"growth": SimpleNamespace(value=5.0, low=2.0, high=np.inf)}, confidence=0.95)
    ends = plot_dimension(endless).ax_
    assert list(ends.lines[0].get_xdata()) == [2.0, 15.0]
    assert "no upper end" in ends.texts[0].get_text()
    with pytest.raises(ValueError, match="a dimension without estimates must be one with at least one"):
        plot_dimension(SimpleNamespace(estimates={}))


def test_a_verdict_is_drawn_in_half_widths_of_its_interval():
    facts = {"finding": "", "sentence": "", "unit": "", "p_value": 0.5, "null": "", "false_positive_rate": 0.05}
    one = Verdict("Are $A and B apart?", "no", statistic=1.0, interval=(-1.0, 3.0), in_map="yes", rests_on="", **facts)
    figure = plot_verdicts([one]).figure_
    assert _labels(figure) == ["Are $A and B apart?"]
    assert _places(figure) == [0.5]
    assert figure.axes[0].texts[0].get_text() == "no, the map misleads"
    figure.savefig("/dev/null", format="png")  # a lone dollar sign starts no formula
    with pytest.raises(ValueError, match="0 verdicts must be at least 1"):
        plot_verdicts([])


def test_null_maps_are_a_bar_from_the_least_to_the_most():
    rest = {"point_p_values": X[:, 0], "point_rates": X[:, 0], "trusted": X[:, 0] > 0, "kind": "shuffled"}
    nulls = NullScores({"shepard": 0.7}, {"shepard": np.array([0.1, 0.3])}, {"shepard": 1 / 3}, alpha=0.05, **rest)
    figure = plot_nulls(nulls).figure_
    assert [0.1, 0.3] in [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert figure.axes[0].texts[0].get_text() == "p = 0.333"


@pytest.mark.parametrize("n_components", [2, 4])
def test_points_are_drawn_beside_points_of_null_maps(n_components):
    found = PointNulls("embedr", X[:, 0], X[:, 1:3].T, np.linspace(0, 1, 80), X[:, :n_components])
    figure = plot_point_nulls(found).figure_
    assert len(figure.axes) == (2 if n_components == 2 else 1)
    assert figure.axes[0].get_xlabel() == "score of a point (embedr)"


def test_each_stage_of_a_forecast_is_a_bar_and_the_peak_a_line():
    expected = gn.forecast((10_000, 50), method="umap")
    figure = plot_forecast(expected).figure_
    assert _labels(figure) == list(expected.stages)
    assert [bar.get_width() for bar in figure.axes[0].patches] == [size / 1e6 for size in expected.stages.values()]
    assert figure.axes[0].lines[0].get_xdata()[0] == expected.n_bytes / 1e6


def test_curves_and_distances_stand_alone_and_are_vectors_with_text():
    card = scorecard(X, X[:, :2], measures=["auc_rnx", "shepard"])
    ax = plot_curves(card).ax_
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), card.curves.trustworthiness)
    one, two = (svg_of(plot_shepard(card).figure_, label='a "b" <c>', key="k") for _ in range(2))
    assert one == two
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in one
    assert "distance in the data</text>" in one
    assert one.count("<image") == (len(card.shepard.data) > 2500)


def test_a_scorecard_without_ranks_has_no_curves_to_draw():
    X = np.random.default_rng(0).normal(size=(60, 3))
    card = scorecard(X, X[:, :2], np.arange(60) % 2, measures="silhouette")
    assert len(plot_scorecard(card).axes_) == 1
    with pytest.raises(ValueError, match=r"scorecard must be with a measure of ranks \(it has no curves\)"):
        plot_curves(card)
