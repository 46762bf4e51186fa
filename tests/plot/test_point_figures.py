"""Figures of the diagnostics of points: each by the scale that fits it."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._palette import STANDS_OUT
from gnomon.evaluation import POINT_SCORES
from gnomon.plot import plot_point_scores, plot_points
from gnomon.plot.colors import colors_of_score

Y = np.random.default_rng(0).normal(size=(60, 2))


def _values(one):
    draw = np.random.default_rng(1)
    values = draw.integers(0, 2, 60).astype(float) if one.flags else draw.normal(size=60)
    values[0] = np.nan
    return values


@pytest.mark.parametrize("name", POINT_SCORES)
def test_each_is_drawn_with_its_name_and_what_it_means(name):
    one = POINT_SCORES[name]
    ax = plot_points(Y, _values(one), name).ax_
    assert ax.get_title(loc="left") == one.title
    assert ax.get_xlabel().lower() == one.says.lower()


@pytest.mark.parametrize("name", POINT_SCORES)
def test_the_scale_says_which_values_to_look_at(name):
    """Dark is where values stand out; a diverging scale is even about its middle."""
    one = POINT_SCORES[name]
    found = colors_of_score(_values(one), one, 60)
    if one.flags:
        assert found.hexes[0 if one.stands_out == "low" else 1] == STANDS_OUT[1]
        return
    ends = [sum(found.shades(share)[:3]) for share in (0.0, 0.5, 1.0)]
    if one.scale == "diverging":
        assert found.norm.vmin + found.norm.vmax == pytest.approx(2 * one.center)
        assert ends[1] > max(ends[0], ends[2])
    else:
        assert (ends[0] < ends[2]) == (one.stands_out == "low")
    np.testing.assert_array_equal(found.rgb[0], 0.75)  # not known


def test_several_are_drawn_side_by_side_and_unknown_names_refused():
    scores = {name: _values(one) for name, one in POINT_SCORES.items()}
    figure = plot_point_scores(Y, scores, names=["torn", "stretch"], n_columns=2).figure_
    assert [ax.get_title(loc="left") for ax in figure.axes[:2]] == ["Torn", "Stretch"]
    with pytest.raises(ValueError, match="plot_point_scores: name 'trust' must be one of trustworthiness"):
        plot_point_scores(Y, scores, names=["trust"])
    with pytest.raises(ValueError, match="0 names in 3 columns must be at least 1 of each"):
        plot_point_scores(Y, {})
