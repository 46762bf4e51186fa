"""Numbers that start again where they end, such as angles, have colours and a scale that do too."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.plot import plot_map
from gnomon.plot.colors import colors_of
from gnomon.plot.theme import DARK, LIGHT

TURNS = np.linspace(0.0, 1.0, 400, endpoint=False)
PLACES = np.stack([np.cos(2 * np.pi * TURNS), np.sin(2 * np.pi * TURNS)], axis=1)


@pytest.mark.parametrize(
    ("values", "name", "told"),
    [
        (360.0 * TURNS, "", ["0", "90", "180", "270", "360"]),
        (360.0 * TURNS - 180.0, "", ["-180", "-90", "0", "90", "180"]),
        (2 * np.pi * TURNS, "", ["0", "\u03c0/2", "\u03c0", "3\u03c0/2", "2\u03c0"]),
        (2 * np.pi * TURNS - np.pi, "phase", ["\u2212\u03c0", "\u2212\u03c0/2", "0", "\u03c0/2", "\u03c0"]),
        (24.0 * TURNS, "hour", ["0", "6", "12", "18", "24"]),
    ],
)
def test_values_around_a_circle_are_near_where_they_meet(values, name, told):
    values = np.append(values[:-1], np.nan)
    colors = colors_of(None, values, 400, name=name)
    assert colors.circle is not None
    rgb = colors.rgb
    steps = np.abs(np.diff(np.vstack([rgb[:-1], rgb[:1]]), axis=0)).max(axis=1)
    assert steps.max() < 0.03  # also from the last to the first
    np.testing.assert_array_equal(rgb[-1], np.full(3, 0.75))  # missing
    figure = plot_map(PLACES, values=values, name=name).figure_
    (bar,) = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
    assert [text.get_text() for text in bar.get_yticklabels()] == told
    for theme in (LIGHT, DARK):
        shades = colors.on(theme).shades
        assert shades(0.0) == shades(1.0)


@pytest.mark.parametrize(
    "values", [np.random.default_rng(0).normal(size=400), 360.0 * TURNS**2, 24.0 * TURNS, 100.0 * TURNS, 180.0 * TURNS]
)
def test_other_numbers_keep_the_ramp(values):
    assert colors_of(None, values, 400, name="").circle is None
    assert colors_of(None, 360.0 * TURNS, 400).circle is None  # spreads, room: what is never an angle
    assert colors_of(360.0 * TURNS, None, 400, name="direction").circle is not None  # labels that are measured
