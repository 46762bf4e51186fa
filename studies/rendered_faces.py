"""Pictures of faces, painted by formulas from a few numbers each, so that what makes them differ is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Faces", "render_faces"]

Pixels = npt.NDArray[np.float64]

_OF_A_PERSON = 14
_OF_A_PICTURE = 6  # light from the side, from above, smile, turn, shift along x, along y


@dataclass(frozen=True)
class Faces:
    """Painted faces.

    Attributes
    ----------
    pictures : ndarray of shape (n, side * side), values in [0, 1]
    people : ndarray of shape (n,), int
        Who is shown.
    causes : ndarray of shape (n, 20)
        The numbers from which each picture is painted: 14 of the person, then 6 of the picture (light from the right,
        light from above, smile, turn of the head, shift to the right, shift down), each of about unit size.
    side : int
    """

    pictures: Pixels
    people: npt.NDArray[np.int64]
    causes: Pixels
    side: int


def _inside(distance: Pixels, blur: float = 0.03) -> Pixels:
    """Return 1 where a signed distance is far below 0, and 0 where it is far above, with a soft edge."""
    return np.asarray(1.0 / (1.0 + np.exp(np.clip(distance / blur, -40, 40))))


def _ellipse(x: Pixels, y: Pixels, center: tuple[float, float], radii: tuple[float, float]) -> Pixels:
    """Return a signed distance from an ellipse, in units of its smaller radius."""
    away = np.hypot((x - center[0]) / radii[0], (y - center[1]) / radii[1]) - 1.0
    return np.asarray(away * min(radii))


def _paint(person: Pixels, shown: Pixels, side: int) -> Pixels:
    """Paint one face; y falls from the forehead to the chin."""
    axis = np.linspace(-0.95, 0.95, side)
    x, y = np.meshgrid(axis, axis)
    light_x, light_y, smile, turn, right, down = shown
    x, y = x - 0.05 * right, y - 0.05 * down
    wide, high, skin, hair, line, apart, eye, lid, brow, nose, nostril, mouth, lips, chin = person
    width, height = 0.62 + 0.05 * wide, 0.82 + 0.05 * high
    narrow = 1.0 - (0.16 + 0.06 * chin) * np.clip(y, 0.0, 1.0) ** 2
    head = _inside(np.asarray((np.hypot(x / (width * narrow), y / height) - 1.0) * width))
    # The head is lit as an ellipsoid, the features move as on one that turns.
    depth = np.sqrt(np.clip(1.0 - (x / width) ** 2 - (y / height) ** 2, 0.0, 1.0))
    lit = np.clip(0.80 * depth + 0.22 * light_x * x / width - 0.16 * light_y * y / height + 0.25, 0.0, 1.3)
    u = x - 0.08 * turn * depth
    picture = 0.30 + 0.05 * y + head * ((0.68 + 0.08 * skin) * lit - 0.30 - 0.05 * y)
    tone = 0.16 + 0.08 * hair
    top = _inside(y + 0.52 + 0.08 * line + 0.12 * np.cos(3.0 * u))
    around = _inside(_ellipse(x, y, (0.0, -0.12), (width + 0.10, height + 0.06)))
    picture += top * around * (tone - picture)
    spread, eye_y = 0.25 + 0.03 * apart, -0.12
    for sign in (-1.0, 1.0):
        place = (sign * spread, eye_y)
        white = _inside(_ellipse(u, y, place, (0.105, 0.055 + 0.012 * eye)), 0.015)
        iris = _inside(_ellipse(u, y, (place[0] + 0.02 * turn, place[1]), (0.045, 0.045)), 0.012)
        bow = eye_y - 0.14 - 0.02 * lid + 0.35 * (u - place[0]) ** 2 / 0.15
        arch = _inside(np.abs(y - bow) - (0.022 + 0.008 * brow), 0.012) * _inside(np.abs(u - place[0]) - 0.13)
        picture += head * white * (0.85 * np.clip(lit, 0.3, 1.0) - picture)
        picture += head * white * iris * (0.12 - picture)
        picture += head * arch * (tone + 0.05 - picture)
    bridge = np.exp(-((u / 0.09) ** 2)) * _inside(np.abs(y - 0.06) - (0.20 + 0.03 * nose), 0.06)
    picture += head * 0.10 * bridge * (0.4 + light_x * np.tanh(u / 0.05) * 0.5)
    under = _ellipse(u, y, (0.0, 0.26 + 0.03 * nose), (0.10 + 0.02 * nostril, 0.03))
    picture -= head * 0.16 * _inside(under, 0.02)
    half = 0.20 + 0.03 * mouth
    curve = 0.50 + 0.10 * smile * (0.5 - (u / half) ** 2)
    lip = _inside(np.abs(y - curve) - (0.035 + 0.012 * lips), 0.015) * _inside(np.abs(u) - half)
    picture += head * lip * (0.28 + 0.05 * skin - picture)
    return np.clip(picture, 0.0, 1.0)


def render_faces(n_people: int = 40, n_each: int = 10, *, side: int = 48, noise: float = 0.02, seed: int = 0) -> Faces:
    """Paint faces of people, each in several lights, moods and places.

    Parameters
    ----------
    n_people, n_each : int
        People, and pictures of each.
    side : int, default=48
        Pixels along a side.
    noise : float, default=0.02
        Standard deviation of the noise in a pixel; white is 1.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), n_each)
    causes = np.hstack(
        [rng.normal(size=(n_people, _OF_A_PERSON))[people], rng.normal(size=(len(people), _OF_A_PICTURE))]
    )
    painted = np.stack([_paint(row[:_OF_A_PERSON], row[_OF_A_PERSON:], side).ravel() for row in causes])
    pictures = np.clip(painted + noise * rng.normal(size=painted.shape), 0.0, 1.0)
    return Faces(pictures, people, causes, side)
