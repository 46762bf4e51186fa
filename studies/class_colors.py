"""Search the class colours of gnomon._palette: apart for every eye, and seen on light and dark paper alike.

Every colour keeps a contrast of 3:1 with the papers of the page. Among those, ten are found by annealing so that the
smallest distance of the first k is large for each k, as seen with full vision and with the three dichromacies; each
further one is the farthest from those before. Of the palette in use the first ten were then moved by single levels of
sRGB where that parted them more. Ten searches take some minutes:

    python -m studies.class_colors --seeds 10
"""

from __future__ import annotations

import argparse

import numpy as np

# Machado, Oliveira & Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009,
# severity 1: full vision, deuteranopia, protanopia, tritanopia.
VISION = np.array(
    [
        np.eye(3),
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
# OKLab (Ottosson 2020), in which distance is about what the eye sees.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
LUMINANCE = (0.1425, 0.2765)
"""Of colours at 3:1 with #ffffff, #f6f7f9, #14181d and #1b2026."""
GREY = np.array([[0x87, 0x90, 0x9A]]) / 255
MOST_CHROMA = 0.22
N_FIRST, N_ALL = 10, 60
EASE = 1.35
"""Full vision should tell colours that much better than the dichromacies do."""


def linear(srgb):
    """Linear light of sRGB in [0, 1]."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def oklab(light):
    """OKLab of linear light."""
    return np.cbrt(light @ TO_CONES.T) @ TO_LAB.T


def seen(srgb):
    """Return OKLab as seen by each eye, of shape (4, n, 3)."""
    light = linear(srgb)
    return np.stack([oklab(np.clip(light @ matrix.T, 0, 1)) for matrix in VISION])


def lattice(step):
    """Return the colours of a lattice in sRGB that keep the contrasts."""
    axis = np.arange(0, 256, step)
    colors = np.array(np.meshgrid(axis, axis, axis)).reshape(3, -1).T / 255
    luminance = linear(colors) @ [0.2126, 0.7152, 0.0722]
    return colors[(luminance >= LUMINANCE[0]) & (luminance <= LUMINANCE[1])]


def smallest_gaps(gaps):
    """Smallest distance among the first 2, 3, ... colours."""
    upper = np.where(np.tri(len(gaps), dtype=bool), np.inf, gaps)
    return np.minimum.accumulate(upper.min(axis=0))[1:]


class Search:
    """Annealing over ordered sets of colours."""

    def __init__(self, colors, seed):
        self.random = np.random.default_rng(seed)
        lab = oklab(linear(colors))
        self.colors = colors = colors[np.hypot(lab[:, 1], lab[:, 2]) <= MOST_CHROMA]
        self.places = seen(colors)
        self.from_grey = self._gap(self.places, seen(GREY))
        self.weights = np.full(N_FIRST - 1, 0.12)
        self.weights[-1], self.weights[6] = 1.42, 0.62

    @staticmethod
    def _gap(a, b):
        distances = np.linalg.norm(a - b, axis=2)
        distances[0] /= EASE
        return distances.min(axis=0)

    def _row(self, ids, k):
        return self._gap(self.places[:, ids], self.places[:, [k]])

    def _score(self, gaps, ids):
        return self.weights @ smallest_gaps(gaps) + 0.7 * min(self.from_grey[ids].min(), 0.06)

    def run(self, n_steps):
        """Return the score and the colours found."""
        random, n = self.random, len(self.colors)
        ids = random.integers(0, n, N_FIRST)
        gaps = np.array([self._row(ids, k) for k in ids])
        score = self._score(gaps, ids)
        best = (score, ids)
        for step in range(n_steps):
            left = 1 - step / n_steps
            changed, other = ids.copy(), random.integers(N_FIRST)
            if random.random() < 0.1:
                order = np.arange(N_FIRST)
                order[[0, other]] = order[[other, 0]]
                changed, trial = ids[order], gaps[order][:, order]
            else:
                wanted = self.places[0, ids[other]] + random.normal(scale=0.06 * left + 0.008, size=3)
                changed[other] = (
                    random.integers(n)
                    if random.random() < 0.25 * left
                    else ((self.places[0] - wanted) ** 2).sum(axis=1).argmin()
                )
                trial = gaps.copy()
                trial[other] = trial[:, other] = self._row(changed, changed[other])
            value = self._score(trial, changed)
            if value > score or random.random() < np.exp((value - score) / (0.015 * left * left + 2e-5)):
                ids, gaps, score = changed, trial, value
                best = max(best, (score, ids), key=lambda pair: pair[0])
        return best[0], self.colors[best[1]]


def extended(first):
    """Add the colours farthest from those before; dichromacies count three times, else their gaps count for nothing."""
    colors = lattice(5)
    places, factors = seen(colors), np.array([1, 3, 3, 3])[:, None]
    gaps = np.full(len(colors), np.inf)
    chosen = list(first)
    for one in [*first, *GREY]:
        gaps = np.minimum(gaps, (np.linalg.norm(places - seen(one[None]), axis=2) * factors).min(axis=0))
    while len(chosen) < N_ALL:
        chosen.append(colors[gaps.argmax()])
        gaps = np.minimum(gaps, (np.linalg.norm(places - seen(chosen[-1][None]), axis=2) * factors).min(axis=0))
    return np.array(chosen)


def from_hex(names):
    """Colours of names such as #0091ff."""
    return np.array([[int(name[k : k + 2], 16) for k in (1, 3, 5)] for name in names]) / 255


def report(name, colors):
    """Print the smallest gaps of the first 4, 8, 10, 20, ... colours for each eye, and the contrasts."""
    luminance = linear(colors) @ [0.2126, 0.7152, 0.0722]
    on_white, on_dark = (1.05 / (luminance + 0.05)).min(), ((luminance + 0.05) / 0.05906).min()
    print(f"{name}: {len(colors)} colours; contrast with #ffffff from {on_white:.2f}, with #14181d from {on_dark:.2f}")
    for eye, places in zip(("full", "deuteranopia", "protanopia", "tritanopia"), seen(colors), strict=True):
        gaps = smallest_gaps(np.linalg.norm(places[:, None] - places[None], axis=2))
        told = [f"{k}: {gaps[k - 2]:.3f}" for k in (4, 8, 10, 12, 20, 40, 60) if k <= len(colors)]
        print(f"  {eye:13} {'  '.join(told)}")


def main():
    """Search, extend, and compare with the palette in use and with others."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=0, help="annealings to run; 0 only compares")
    parser.add_argument("--steps", type=int, default=90_000)
    arguments = parser.parse_args()
    from gnomon._palette import class_colors

    if arguments.seeds:
        found = max(
            (Search(lattice(6), seed).run(arguments.steps) for seed in range(arguments.seeds)), key=lambda f: f[0]
        )
        names = ["#" + "".join(f"{round(255 * channel):02x}" for channel in color) for color in extended(found[1])]
        print(" ".join(names))
        report("found", from_hex(names))
    report("gnomon", from_hex(class_colors(N_ALL)))
    tab10 = "1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf"
    okabe_ito = "e69f00 56b4e9 009e73 f0e442 0072b2 d55e00 cc79a7 000000"
    for name, codes in {"tab10": tab10, "Okabe-Ito": okabe_ito}.items():
        report(name, from_hex([f"#{code}" for code in codes.split()]))


if __name__ == "__main__":
    main()
