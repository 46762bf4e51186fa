"""Find the cuts of rings and spheres that were cut open and laid flat, and flag nothing else.

python -m benchmarks.tears
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/tears.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from gnomon.geometry import distortion, local_jacobians
from gnomon.neighbors import compute_neighbors

__all__ = ["SHAPES", "cut_shape", "judge", "main"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
N_NEIGHBORS = 15
_DIMENSION = 10
_APART = 2.2  # half the distance of the centres of two discs of radius pi / 2


def _ring(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    angle = rng.uniform(-np.pi, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]), angle[:, None], angle


def _whole_ring(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    ring, _, _ = _ring(rng, n)
    return ring, ring.copy(), np.zeros(n)


def _sphere(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, np.arctan2(points[:, 1], points[:, 0]), np.arcsin(points[:, 2])


def _meridian(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    """Cut along half a meridian and laid flat with all areas kept (sinusoidal)."""
    points, longitude, latitude = _sphere(rng, n)
    return points, np.column_stack([longitude * np.cos(latitude), latitude]), longitude


def _equator(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    """Cut along the equator into two discs that keep the distances from the poles."""
    points, longitude, latitude = _sphere(rng, n)
    side, radius = np.sign(latitude), np.pi / 2 - np.abs(latitude)
    across = side * (radius * np.cos(longitude) - _APART)
    return points, np.column_stack([across, radius * np.sin(longitude)]), 4.0 * side


def _cap(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    """Half a sphere, laid flat with all areas kept; nothing is cut."""
    points, longitude, _ = _sphere(rng, n)
    points[:, 2] = np.abs(points[:, 2])
    radius = np.sqrt(2.0 * (1.0 - points[:, 2]))
    return points, radius[:, None] * np.column_stack([np.cos(longitude), np.sin(longitude)]), np.zeros(n)


SHAPES: dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats, Floats]]] = {
    "ring, cut": _ring,
    "sphere, cut at a meridian": _meridian,
    "sphere, cut at the equator": _equator,
    "ring, whole": _whole_ring,
    "half a sphere, whole": _cap,
}
"""Each returns points, their map, and a coordinate that jumps by more than pi across the cut."""


def cut_shape(name: str, n: int, noise: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return rows in ten dimensions, their map, and the coordinate that jumps by more than pi across the cut.

    Parameters
    ----------
    name : str
        Of `SHAPES`.
    n : int
        Rows.
    noise : float
        Standard deviation of the noise in each dimension; the radius is 1.
    seed : int
    """
    rng = np.random.default_rng(seed)
    points, places, coordinate = SHAPES[name](rng, n)
    basis, _ = np.linalg.qr(rng.normal(size=(_DIMENSION, points.shape[1])))
    return points @ basis.T + noise * rng.normal(size=(n, _DIMENSION)), places, coordinate


def judge(X: Floats, Y: Floats, coordinate: Floats) -> tuple[float, float]:
    """Return the share found of the points with a neighbour across the cut, and the share flagged of the others."""
    graph = compute_neighbors(X, N_NEIGHBORS)
    found = distortion(local_jacobians(X, Y, graph), Y=Y, graph=graph).tear
    assert found is not None
    torn = (np.abs(coordinate[graph.indices] - coordinate[:, None]) > np.pi).any(axis=1)
    return float(np.mean(found[torn])) if torn.any() else float("nan"), float(np.mean(found[~torn]))


def _umap_of_rings(seeds: int, noise: float) -> str:
    """Say what is flagged in maps by UMAP of whole rings."""
    shares = []
    for seed in range(seeds):
        X, _, _ = cut_shape("ring, whole", 500, noise, seed)
        Y = np.asarray(gnomon.UMAP(random_state=seed).fit_transform(X), dtype=np.float64)
        shares.append(judge(X, Y, np.zeros(len(X)))[1])
    flagged = f"{np.mean(shares):.3f} of the points flagged, at most {max(shares):.3f}"
    return f"rings of noise {noise:g} mapped by UMAP: {flagged}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tears", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 2000])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.02, 0.05, 0.1])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path, help="also write all shares here")
    options = parser.parse_args(arguments)
    results: list[dict[str, Any]] = []
    for name in SHAPES:
        for n in options.rows:
            for noise in options.noise:
                shares = [judge(*cut_shape(name, n, noise, seed)) for seed in range(options.seeds)]
                found, false = np.mean(shares, axis=0).tolist()
                worst = max(share for _, share in shares)
                results.append(
                    {"shape": name, "rows": n, "noise": noise, "found": found, "false": false, "worst": worst}
                )
    columns = ["shape", "rows", "noise", "found", "false", "worst"]
    print(table_of(columns, [[f"{r[c]:.3f}" if c in columns[3:] else str(r[c]) for c in columns] for r in results]))
    cut = [r for r in results if np.isfinite(r["found"])]
    print(f"\ncut: {np.mean([r['found'] for r in cut]):.3f} found, {np.mean([r['false'] for r in cut]):.3f} false")
    print(_umap_of_rings(min(options.seeds, 5), 0.05))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
