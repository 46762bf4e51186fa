"""Where distances show no clusters, the answer names the map that would, if halves of the columns tell one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gnomon
from gnomon.neighbors.column_halves import HiddenDirections


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    return 0.5 * rng.normal(size=(4, 120))[y] + rng.normal(size=(600, 120))


def test_lengths_that_hide_groups_are_named_and_directions_show_them(groups):
    long = groups * np.exp(0.7 * np.random.default_rng(2).normal(size=(600, 1)))
    found = gnomon.find_clusters(long)
    assert len(found) == 0
    assert found.summary().endswith("in unlike directions: find them by clusters() of a map with metric='cosine'.")
    assert len(gnomon.find_clusters(long, metric="cosine")) == 4


def test_wide_columns_that_hide_groups_are_named_and_standardised_columns_show_them(groups):
    wide = groups.copy()
    wide[:, :3] = 20.0 * np.random.default_rng(3).normal(size=(600, 3))
    found = gnomon.find_clusters(wide)
    assert len(found) == 0
    assert f"3 of 120 columns make {found.hidden.share:.0%} of the squared distances" in found.summary()
    assert found.summary().endswith("find them by clusters() of a map with scale='standard'.")
    assert len(gnomon.find_clusters(wide / wide.std(axis=0))) == 4


def test_one_cloud_is_still_referred_to_components():
    found = gnomon.find_clusters(np.random.default_rng(4).normal(size=(300, 120)))
    assert found.hidden is None
    assert "by clusters() of a map with n_pcs=50." in found.summary()


def test_a_standardised_map_names_both_scale_and_metric(groups):
    scaled = gnomon.map(np.random.default_rng(4).normal(size=(80, 5)), "pca", scale="standard").clusters()
    assert scaled.standardised
    hidden = HiddenDirections(spread=0.7, agreed=0.2, missed=0.1)
    assert replace(scaled, hidden=hidden).summary().endswith("a map with metric='cosine', scale='standard'.")
    raw = replace(scaled, hidden=hidden, standardised=False)
    assert raw.summary().endswith("a map with metric='cosine'.")
