"""Class colours can be told apart by every eye, and seen on light and on dark paper; ramps rise evenly."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._palette import CYCLIC, DIVERGING_MARKS, N_DISTINCT, OTHER, RAMP, STANDS_OUT, class_colors

EYES = {"full": 0, "deuteranopia": 1, "protanopia": 2, "tritanopia": 3}
# Machado, Oliveira & Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009.
VISION = np.array(
    [
        np.eye(3),
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
PAPERS = {"light": "#ffffff", "light wash": "#f6f7f9", "dark": "#14181d", "dark wash": "#1b2026"}
# Smallest distances in OKLab among the first k classes, with full vision and for the eye that tells them worst.
FULL = {2: 0.40, 4: 0.17, 6: 0.12, 8: 0.11, 10: 0.10, 20: 0.09, 40: 0.065, 60: 0.055}
ANY = {2: 0.31, 4: 0.10, 6: 0.088, 8: 0.085, 10: 0.079, 20: 0.033, 40: 0.022, 60: 0.018}
TAB10 = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"]
OKABE_ITO = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#000000"]


def from_hex(names):
    return np.array([[int(name[k : k + 2], 16) for k in (1, 3, 5)] for name in names]) / 255


def linear(srgb):
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def seen(srgb):
    """OKLab (Ottosson 2020) as each eye sees it, of shape (4, n, 3)."""
    light = np.clip(np.einsum("vab,nb->vna", VISION, linear(srgb)), 0, 1)
    cones = light @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    return np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


def gaps_among_first(colors):
    """Smallest distance of the first 2, 3, ... colours: one row for each eye."""
    places = seen(from_hex(colors))
    distances = np.linalg.norm(places[:, :, None] - places[:, None], axis=3)
    distances[:, np.tri(len(colors), dtype=bool)] = np.inf
    return np.minimum.accumulate(distances.min(axis=1), axis=1)[:, 1:]


def luminance(colors):
    return linear(from_hex(colors)) @ [0.2126, 0.7152, 0.0722]


def contrast(colors, paper):
    light = np.stack([luminance(colors), np.broadcast_to(luminance([paper]), len(colors))])
    return (light.max(axis=0) + 0.05) / (light.min(axis=0) + 0.05)


@pytest.mark.parametrize("k", FULL)
def test_any_two_of_the_first_classes_differ_for_every_eye(k):
    gaps = gaps_among_first(class_colors(60))[:, k - 2]
    assert gaps[0] >= FULL[k]
    assert gaps.min() >= ANY[k]


@pytest.mark.parametrize("paper", PAPERS)
def test_classes_are_seen_on_every_paper(paper):
    colors = [*class_colors(60), OTHER, *STANDS_OUT]
    assert contrast(colors, PAPERS[paper]).min() >= 3.0


def test_dichromats_tell_more_classes_apart_than_by_common_palettes():
    own, tab10, okabe_ito = (gaps_among_first(colors).min(axis=0) for colors in (class_colors(10), TAB10, OKABE_ITO))
    assert own[8] > 8 * tab10[8]  # ten classes
    assert own[6] > 1.05 * okabe_ito[6]  # eight, one of them black
    assert contrast(OKABE_ITO, "#ffffff").min() < 1.5 < 2.0 < contrast(TAB10, "#ffffff").min() + 0.1 < 3.0


def test_classes_beyond_the_distinct_ones_take_their_colours_in_turn():
    colors = class_colors(300)
    assert len(set(colors)) == N_DISTINCT == 60
    assert colors[:60] == class_colors(60)
    assert {colors.count(one) for one in colors} == {5}
    assert class_colors(0) == []


def test_a_missing_label_looks_like_no_class_and_flags_differ_from_it():
    places = seen(from_hex([OTHER, *class_colors(10)]))
    assert np.linalg.norm(places[:, :1] - places[:, 1:], axis=2).min() > 0.055
    assert gaps_among_first([OTHER, *STANDS_OUT])[:, -1].min() > 0.04


@pytest.mark.parametrize("eye", EYES)
def test_ramp_rises_evenly_in_lightness_for_every_eye(eye):
    steps = np.diff(seen(from_hex(RAMP))[EYES[eye], :, 0])
    assert (steps > 0.05).all()
    assert steps.max() < 2.3 * steps.min()


@pytest.mark.parametrize("eye", EYES)
def test_both_arms_of_the_diverging_ramp_rise_evenly_and_differ_for_every_eye(eye):
    places = seen(from_hex(DIVERGING_MARKS))[EYES[eye]]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 1.4 * steps.min()
    np.testing.assert_allclose(places[:4, 0], places[:-5:-1, 0], atol=0.05)  # as far from the middle, as light
    sides = np.linalg.norm(places[:4] - places[:-5:-1], axis=1)
    assert (np.diff(sides) < 0).all()
    assert sides[0] > 0.13


def test_the_diverging_ramp_is_seen_on_light_and_dark_paper():
    assert min(contrast(DIVERGING_MARKS, PAPERS[paper]).min() for paper in ("light", "dark")) > 2.2


@pytest.mark.parametrize("eye", EYES)
def test_the_ramp_around_a_circle_closes_in_even_steps_and_never_comes_back(eye):
    assert CYCLIC[0] == CYCLIC[-1]
    places = seen(from_hex(CYCLIC))[EYES[eye]]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 1.8 * steps.min()
    n = len(steps)
    around = np.abs(np.arange(n)[:, None] - np.arange(n))
    around = np.minimum(around, n - around)
    distances = np.linalg.norm(places[:-1, None] - places[None, :-1], axis=2)
    assert distances[around >= n // 8].min() > 0.065
    assert distances[around >= n // 4].min() > 0.12


def test_the_ramp_around_a_circle_is_seen_on_light_and_dark_paper():
    assert min(contrast(CYCLIC, paper).min() for paper in PAPERS.values()) > 2.1


def test_simulated_vision_keeps_greys():
    greys = np.repeat(np.linspace(0.1, 1.0, 5)[:, None], 3, axis=1)
    np.testing.assert_allclose(seen(greys)[1:], np.broadcast_to(seen(greys)[0], (3, 5, 3)), atol=2e-4)
    np.testing.assert_allclose(seen(np.ones((1, 3)))[0, 0], [1, 0, 0], atol=1e-4)
    np.testing.assert_allclose(VISION.sum(axis=2), 1.0, atol=1e-5)
