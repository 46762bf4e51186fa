"""Videos whose background and foreground are known: a plain one and one with texture, light, noise and occlusion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["KINDS", "Video", "make_video"]

KINDS = ("plain", "street")
_NOISE = 0.01  # of each pixel of the street, where black is 0 and white is 1


@dataclass(frozen=True)
class Video:
    """Frames as rows.

    Attributes
    ----------
    frames : ndarray of shape (n_frames, n_pixels), float32
    background : ndarray of the same shape, float32
        Without objects and noise.
    foreground : ndarray of the same shape, bool
        Where an object is.
    shape : (height, width)
    """

    frames: npt.NDArray[np.float32]
    background: npt.NDArray[np.float32]
    foreground: npt.NDArray[np.bool_]
    shape: tuple[int, int]


def _texture(rng: np.random.Generator, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Return a picture whose spectrum falls as in photographs, between 0.25 and 0.75."""
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1])[None])
    spectrum = np.fft.rfft2(rng.normal(size=shape)) / np.maximum(frequency, 1.0 / max(shape)) ** 1.2
    picture = np.fft.irfft2(spectrum, s=shape)
    low, high = np.quantile(picture, [0.01, 0.99])
    return np.clip(0.25 + 0.5 * (picture - low) / (high - low), 0.2, 0.8)


def _background(rng: np.random.Generator, kind: str, n_frames: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Return the background of every frame: still, or under a light that changes and wanders."""
    picture = _texture(rng, shape).ravel()
    if kind == "plain":
        return np.tile(picture, (n_frames, 1))
    time = np.linspace(0.0, 1.0, n_frames)
    across = np.tile(np.linspace(-1.0, 1.0, shape[1]), shape[0])
    light = 1.0 + 0.12 * np.sin(2 * np.pi * time) + 0.04 * np.sin(14 * np.pi * time)
    wander = 0.08 * np.cos(3 * np.pi * time)
    return (light[:, None] + wander[:, None] * across) * picture


def make_video(kind: str, n_frames: int, height: int, width: int, *, n_objects: int = 6, seed: int = 0) -> Video:
    """Draw a video.

    Parameters
    ----------
    kind : {"plain", "street"}
        "plain": a still picture, objects of one shade, no noise. "street": slow changes of light, noise in each pixel,
        textured objects, some of which stop for a while.
    n_frames, height, width : int
    n_objects : int, default=6
        They cross the picture again and again at different speeds; the first ones lie in front of the others.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    shape = (height, width)
    background = _background(rng, kind, n_frames, shape)
    frames = background.copy().reshape(n_frames, height, width)
    foreground = np.zeros(frames.shape, dtype=bool)
    rows, columns = np.mgrid[:height, :width]
    for _ in range(n_objects):
        radii = rng.uniform(0.04, 0.09, 2) * min(shape) + 1.0
        shade, grain = rng.choice([0.05, 0.95]), 0.15 * rng.normal(size=shape) * (kind == "street")
        speed = rng.choice([-1, 1]) * rng.uniform(0.4, 1.5) * width / 100.0
        moves = np.ones(n_frames)
        if kind == "street":  # it stands still for a twentieth of the video
            begin = rng.integers(0, n_frames)
            moves[begin : begin + n_frames // 20] = 0.0
        places = (rng.uniform(0, width) + speed * np.cumsum(moves)) % (width + 4 * radii[1]) - 2 * radii[1]
        heights = rng.uniform(0.15, 0.85) * height + 0.05 * height * np.sin(np.arange(n_frames) / rng.uniform(8, 25))
        for frame, (row, column) in enumerate(zip(heights, places, strict=True)):
            inside = ((rows - row) / radii[0]) ** 2 + ((columns - column) / radii[1]) ** 2 < 1.0
            frames[frame][inside] = np.clip(shade + grain, 0.0, 1.0)[inside]
            foreground[frame] |= inside
    frames = frames.reshape(n_frames, -1)
    if kind == "street":
        frames += _NOISE * rng.normal(size=frames.shape)
    return Video(frames.astype(np.float32), background.astype(np.float32), foreground.reshape(n_frames, -1), shape)
