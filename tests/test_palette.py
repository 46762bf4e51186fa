"""Class colours can be told apart, with and without full colour vision."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._palette import OTHER, RAMP, _linear, _oklab, class_colors

# Machado, Oliveira & Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009.
VISION = {
    "full": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}


def seen(color, matrix):
    rgb = np.clip(np.asarray(matrix) @ [_linear(int(color[k : k + 2], 16) / 255) for k in (1, 3, 5)], 0, 1)
    srgb = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)
    return np.array(_oklab("#" + "".join(f"{round(255 * c):02x}" for c in srgb)))


def smallest_gap(colors, matrix):
    places = np.array([seen(c, matrix) for c in colors])
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    return gaps[~np.eye(len(colors), dtype=bool)].min()


@pytest.mark.parametrize("vision", VISION)
def test_twelve_classes_differ_however_one_sees(vision):
    assert smallest_gap(class_colors(12), VISION[vision]) > 0.09


def test_forty_classes_differ_and_the_rest_share_one_colour():
    colors = class_colors(45)
    assert colors[:12] == class_colors(12)
    assert smallest_gap([*colors[:40], OTHER], VISION["full"]) > 0.035
    assert colors[40:] == [OTHER] * 5
    assert class_colors(0) == []


def test_ramp_rises_evenly_in_lightness():
    lightness = [_oklab(color)[0] for color in RAMP]
    steps = np.diff(lightness)
    assert (steps > 0.05).all()
    assert steps.max() < 2.1 * steps.min()


def test_white_is_the_origin_of_chroma():
    np.testing.assert_allclose(_oklab("#ffffff"), [1, 0, 0], atol=1e-4)
