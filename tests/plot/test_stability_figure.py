"""The figure of a map's stability: what it shows is what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import EllipseCollection

from gnomon.evaluation import compare_runs
from gnomon.plot import plot_stability


def runs_of(d=2):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(90, d)) * 5
    return [Y + rng.normal(size=Y.shape) * ([1.0, 0.2, 0.2][:d]) for _ in range(5)]


def test_ellipses_have_the_widths_of_the_spread(tmp_path):
    found = compare_runs(runs_of(), labels=np.repeat(["$a", "b", "c"], 30))
    figure = plot_stability(found, n_ellipses=90, title="Some points").figure_
    figure.savefig(tmp_path / "figure.png")
    left, right = figure.axes[:2]
    (drawn,) = (one for one in left.collections if isinstance(one, EllipseCollection))
    radii = np.sqrt((drawn.get_widths() / 2) ** 2 + (drawn.get_heights() / 2) ** 2)
    np.testing.assert_allclose(radii / found.size, found.spread)
    np.testing.assert_allclose(right.images[0].get_array().filled(-1)[0, 1], found.clusters.touch_share[0, 1])


def test_without_clusters_there_is_one_panel(tmp_path):
    figure = plot_stability(compare_runs(runs_of(3)), n_ellipses=0).figure_
    figure.savefig(tmp_path / "figure.png")
    assert len([ax for ax in figure.axes if ax.get_title(loc="left")]) == 1
    assert not any(isinstance(one, EllipseCollection) for one in figure.axes[0].collections)


def test_maps_of_one_dimension_are_refused():
    with pytest.raises(ValueError, match="plot_stability: maps of 1 dimensions must be of two or three"):
        plot_stability(compare_runs(runs_of(1)))
