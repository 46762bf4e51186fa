"""How often intervals of the intrinsic dimension hold the truth.

python -m benchmarks.dimension --rows 500 2000 --noise 0 0.01 0.05 --seeds 40 --json out.json
python -m benchmarks.dimension --shapes cube sphere --rows 500 --seeds 10 --peers            # scikit-dimension too
python -m benchmarks.dimension --shapes ellipsoid ring_cube saddle helix uneven moebius      # not seen by the settings

Each table is a known set in 30 dimensions (or as many as it needs), drawn anew for each seed; noise is Gaussian in all
of them, its length a share of the root mean square distance of the rows from their mean. Sets that the settings of
`intrinsic_dimension` were not chosen on are turned at random in 50 dimensions.
"""

from __future__ import annotations

import argparse
import importlib
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.summary import table_of

__all__ = ["DIMENSIONS", "PEERS", "SHAPES", "UNSEEN", "coverage", "draw", "main"]

DIMENSIONS = (1, 2, 3, 5, 8, 10, 12, 15, 20)
PEERS = ("TwoNN", "MLE", "ESS", "DANCo")  # of scikit-dimension
UNSEEN = ("ellipsoid", "ring_cube", "saddle", "helix", "uneven", "moebius")
SHAPES = (
    "sphere",
    "cube",
    "roll",
    "ball",
    "gaussian",
    "torus",
    "tapered",
    "exponential",
    "bent",
    "clusters",
    *UNSEEN,
)
_ONLY = {"helix": 1, "moebius": 2}  # dimensions of sets that have no others
_WIDTH, _WIDTH_UNSEEN = 30, 50


def draw(shape: str, d: int, n: int, noise: float, generator: np.random.Generator) -> np.ndarray:
    """Return rows of a set of d dimensions.

    Parameters
    ----------
    shape : str
        One of SHAPES: "roll" is the Swiss roll 21 wide, "torus" a product of d circles, "tapered" a Gaussian whose
        standard deviations fall as 1, 1/2, 1/3, ..., "exponential" has d exponential columns, "bent" is a cube lifted
        to a paraboloid, "clusters" are five Gaussians ten standard deviations apart. "ellipsoid" is a sphere with
        half-axes from 1 to 3, "ring_cube" the product of a circle and a cube, "saddle" a ball with the height
        x_1^2 - x_2^2 + x_3^2 ..., "helix" three turns, "uneven" a cube that is filled as its coordinates grow,
        "moebius" a band.
    noise : float
        Length as a share of the root mean square distance from the mean.

    Returns
    -------
    ndarray of shape (n, 30 or more), float64
    """
    rows = _unseen_rows(shape, d, n, generator) if shape in UNSEEN else _rows(shape, d, n, generator)
    width = _WIDTH_UNSEEN if shape in UNSEEN else _WIDTH
    rows = np.pad(rows, [(0, 0), (0, max(0, width - rows.shape[1]))])
    if shape in UNSEEN:
        rows = rows @ np.linalg.qr(generator.normal(size=(width, width)))[0]
    spread = np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())
    return rows + noise * spread / np.sqrt(rows.shape[1]) * generator.normal(size=rows.shape)


def _rows(shape: str, d: int, n: int, generator: np.random.Generator) -> np.ndarray:
    normal = generator.normal(size=(n, d + 1))
    even = generator.random((n, d))
    if shape == "sphere":
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)
    if shape == "ball":
        return normal[:, 1:] / np.linalg.norm(normal[:, 1:], axis=1, keepdims=True) * even[:, :1] ** (1 / d)
    if shape == "roll":
        angle = 1.5 * np.pi * (1 + 2 * even[:, 0])
        return np.column_stack([angle * np.cos(angle), angle * np.sin(angle), 21 * even[:, 1:]])
    if shape == "torus":
        return np.column_stack([np.cos(2 * np.pi * even), np.sin(2 * np.pi * even)])
    if shape == "bent":
        return np.column_stack([even, np.square(2 * even - 1).sum(axis=1)])
    if shape == "clusters":
        return normal[:, 1:] + 10 * generator.integers(0, 5, (n, 1)) / np.sqrt(d)
    flat = {
        "cube": even,
        "gaussian": normal[:, 1:],
        "tapered": normal[:, 1:] / np.arange(1, d + 1),
        "exponential": -np.log(1 - even),
    }
    return flat[shape]


def _unseen_rows(shape: str, d: int, n: int, generator: np.random.Generator) -> np.ndarray:
    normal, even = generator.normal(size=(n, d + 1)), generator.random((n, d))
    angle = 2 * np.pi * even[:, 0]
    if shape == "ellipsoid":
        return normal / np.linalg.norm(normal, axis=1, keepdims=True) * np.linspace(1, 3, d + 1)
    if shape == "ring_cube":
        return np.column_stack([np.cos(angle), np.sin(angle), 2 * even[:, 1:]])
    if shape == "saddle":
        ball = normal[:, 1:] / np.linalg.norm(normal[:, 1:], axis=1, keepdims=True) * even[:, :1] ** (1 / d)
        return np.column_stack([ball, np.square(ball) @ (-1.0) ** np.arange(d)])
    if shape == "helix":
        return np.column_stack([np.cos(3 * angle), np.sin(3 * angle), 0.3 * angle])
    if shape == "uneven":
        return np.sqrt(even)
    width = 0.5 * (2 * even[:, 1] - 1)
    radius = 1 + width * np.cos(angle / 2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), width * np.sin(angle / 2)])


def coverage(
    shape: str, d: int, n: int, noise: float, seeds: int, *, peers: Sequence[str] = (), confidence: float = 0.95
) -> dict[str, Any]:
    """Count how often the interval holds the dimension.

    Returns
    -------
    dict
        The table, the share of the intervals of the answer and of each estimate that hold d, the medians of the values
        and of the answer's ends, and how many answers came with a caution.
    """
    from gnomon import intrinsic_dimension

    found = []
    for seed in range(seeds):
        X = draw(shape, d, n, noise, np.random.default_rng([seed, d, n]))
        one = intrinsic_dimension(X, confidence=confidence, random_state=seed)
        held = {name: bool(each.low <= d <= each.high) for name, each in one.estimates.items()}
        values = {name: each.value for name, each in one.estimates.items()} | _peer_values(peers, X)
        found.append((held, values, one.low, one.high, one.noise, bool(one.caution)))
    held, values = ([row[part] for row in found] for part in (0, 1))
    low, high, found_noise = (float(np.nanmedian([row[part] for row in found])) for part in (2, 3, 4))
    return {
        "shape": shape,
        "dimension": d,
        "rows": n,
        "noise": noise,
        "held": {name: float(np.mean([one[name] for one in held])) for name in held[0]},
        "values": {name: float(np.nanmedian([one[name] for one in values])) for name in values[0]},
        "low": low,
        "high": high,
        "found noise": found_noise,
        "cautioned": float(np.mean([row[5] for row in found])),
    }


def _peer_values(names: Sequence[str], X: np.ndarray) -> dict[str, float]:
    if not names:
        return {}
    estimators = importlib.import_module("skdim.id")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {f"skdim {name}": float(getattr(estimators, name)().fit(X).dimension_) for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dimension", description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES[:3])
    parser.add_argument("--dimensions", nargs="+", type=int, default=DIMENSIONS)
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 2000])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.01, 0.05])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=(), help="of scikit-dimension; none named: all")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    peers = PEERS if asked.peers == [] else tuple(asked.peers)
    results = []
    for n in asked.rows:
        for noise in asked.noise:
            for shape in asked.shapes:
                for d in [_ONLY[shape]] if shape in _ONLY else asked.dimensions:
                    one = coverage(shape, d, n, noise, asked.seeds, peers=peers, confidence=asked.confidence)
                    results.append(one)
                    print("|", " | ".join(_cells(one, peers)), "|", flush=True)
    header = ["rows", "noise", "set", "d", "held", "interval", "value", "noise found", "caution", "extrapolated held"]
    print()
    print(table_of([*header, "mle", "two_nn", *peers], [_cells(one, peers) for one in results]))
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1))
    return 0


def _cells(one: dict[str, Any], peers: Sequence[str]) -> list[str]:
    values = one["values"]
    others = [values[name] for name in ("mle", "two_nn", *(f"skdim {peer}" for peer in peers))]
    return [
        str(one["rows"]),
        f"{one['noise']:g}",
        one["shape"],
        str(one["dimension"]),
        f"{one['held']['growth']:.2f}",
        f"{one['low']:.2f}-{one['high']:.2f}",
        f"{values['growth']:.2f}",
        f"{one['found noise']:.3f}",
        f"{one['cautioned']:.2f}",
        f"{one['held']['extrapolated']:.2f}",
        *(f"{value:.2f}" for value in others),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
