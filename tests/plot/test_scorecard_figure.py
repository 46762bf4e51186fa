"""The figure of a scorecard shows its values, its curves with their bands, and the Shepard diagram."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.evaluation import QUALITIES, scorecard
from gnomon.plot import plot_scorecard, save_scorecard


@pytest.fixture(scope="module")
def card():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = X[:, :2] + 0.3 * rng.normal(size=(120, 2))
    names = ["auc_rnx", "topographic_product", "stress", "trustworthiness", "neighborhood_hit", "local_r2"]
    return scorecard(X, Y, np.arange(120) % 3, measures=names, n_anchors=60)


def test_values_curves_and_distances_are_drawn(card):
    figure = plot_scorecard(card, title="Two of five").figure_
    table, curves, shepard = figure.axes
    notes = [text.get_text() for text in table.texts]
    names = [text.get_text() for text in table.get_yticklabels()]
    for one in card.values():
        assert one.name.replace("_", " ") in names
        assert any(f"{one.value:.3f}" in note for note in notes)
    assert set(QUALITIES.values()) <= set(names)
    points = [line.get_xdata()[0] for line in table.get_lines() if line.get_marker() == "o"]
    shares = [one.value for one in card.values() if one.name != "topographic_product"]
    np.testing.assert_allclose(points, shares)
    drawn = {line.get_label(): line.get_xydata() for line in curves.get_lines()}
    np.testing.assert_array_equal(drawn["continuity"], np.column_stack([card.curves.sizes, card.curves.continuity]))
    assert len(curves.collections) == 6  # bands
    np.testing.assert_array_equal(
        shepard.collections[0].get_offsets(), np.column_stack([card.shepard.data, card.shepard.map])
    )
    assert figure.get_suptitle() == "Two of five"


def test_the_figure_is_written(card, tmp_path):
    save_scorecard(tmp_path / "card.svg", card, title="$1 of 2$")
    assert "<svg" in (tmp_path / "card.svg").read_text()
