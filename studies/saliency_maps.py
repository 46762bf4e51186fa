"""Which pixels move a picture in a map: do they trace the edges of digits, and the parts of an object that turn?

Digits: MNIST is mapped by UMAP; the saliency of each pixel, the displacement in the map for one local standard
deviation of it, is compared picture by picture with the strokes and with their edges (length of the gradient of the
picture), and averaged over each digit. Objects: five painted solids are drawn from all sides, as in the Columbia object
images; turning is the only thing that changes, so the pixels that move a picture along its loop are known: those that
change most per degree. Saliency is compared with them by rank correlation: as gnomon chooses its neighbourhoods, with
15 neighbours averaged three times or not at all, and by the importance of pixels for the tangent frames of the data.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter
from scipy.stats import spearmanr

import gnomon
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["draw_objects", "main"]

Float64 = npt.NDArray[np.float64]

_SIDE, _LOOKED_AT = 32, 300
_ACTIVE = 1e-3  # standard deviation of a pixel over the views, from which on it counts
_TURN = 1.5  # degrees to either side, for the true change
_LIGHT = np.array([0.4, 0.5, 0.77])


def _solid(kind: int, draw: np.random.Generator) -> tuple[Float64, Float64]:
    """Return points on the surface of a solid of about unit size and its outward normals."""
    n = 12_000
    if kind < 3:  # boxes of different sides, the last with a tower on one corner
        sides = np.array([[0.9, 0.35, 0.35], [0.6, 0.6, 0.8], [0.8, 0.5, 0.25]])[kind]
        points, normals = _box(sides, n, draw)
        if kind == 2:
            more, out = _box(np.array([0.2, 0.2, 0.45]), n // 2, draw)
            corner = np.array([0.5, 0.25, 0.5])
            points, normals = np.concatenate([points, more + corner]), np.concatenate([normals, out])
        return points, normals
    angle, across = draw.uniform(0, 2 * np.pi, n), draw.uniform(0, 2 * np.pi, n)
    if kind == 3:  # a ring that stands on its edge
        tube = 0.25
        normals = np.stack([np.cos(angle) * np.cos(across), np.sin(across), np.sin(angle) * np.cos(across)], axis=1)
        centre = 0.65 * np.stack([np.cos(angle), np.zeros(n), np.sin(angle)], axis=1)
        return centre + tube * normals, normals
    up = draw.uniform(-0.8, 0.8, n)  # a cylinder with a handle, as a cup
    normals = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    points = np.stack([0.45 * np.cos(angle), 0.45 * np.sin(angle), up], axis=1)
    handle_out = np.stack([np.cos(across) * np.cos(angle), np.sin(angle), np.sin(across) * np.cos(angle)], axis=1)
    handle = np.stack([0.65 + 0.3 * np.cos(across), np.zeros(n), 0.35 * np.sin(across)], axis=1) + 0.09 * handle_out
    keep = handle[:, 0] > 0.45
    return np.concatenate([points, handle[keep]]), np.concatenate([normals, handle_out[keep]])


def _box(half: Float64, n: int, draw: np.random.Generator) -> tuple[Float64, Float64]:
    points = draw.uniform(-1, 1, (n, 3))
    face, side = draw.integers(0, 3, n), draw.choice([-1.0, 1.0], n)
    normals = np.zeros((n, 3))
    points[np.arange(n), face], normals[np.arange(n), face] = side, side
    return points * half, normals


def _paint(points: Float64, draw: np.random.Generator) -> Float64:
    """Return how bright a solid is painted at points on its surface: patches of two shades."""
    waves, phase = 3.0 * draw.normal(size=(4, 3)), draw.uniform(0, 2 * np.pi, 4)
    return 0.6 + 0.4 * np.sign(np.sin(points @ waves.T + phase).sum(axis=1))


def _render(points: Float64, normals: Float64, paint: Float64, degrees: float) -> Float64:
    """Draw a solid turned about its upright axis, seen from a little above, with one lamp and a depth buffer."""
    turn, tilt = np.radians(degrees), np.radians(25.0)
    about = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    down = np.array([[1, 0, 0], [0, np.cos(tilt), np.sin(tilt)], [0, -np.sin(tilt), np.cos(tilt)]])
    seen, out = points @ (down @ about).T, normals @ (down @ about).T
    fine = 3 * _SIDE
    column = np.clip(((seen[:, 0] / 1.35 + 1) / 2 * fine).astype(int), 0, fine - 1)
    row = np.clip(((1 - seen[:, 2] / 1.35) / 2 * fine).astype(int), 0, fine - 1)
    order = np.argsort(seen[:, 1], kind="stable")[::-1]  # far first: nearer points paint over them
    shade = (0.25 + 0.75 * np.maximum(out @ (_LIGHT * [1, -1, 1]), 0.0)) * paint
    canvas = np.zeros((fine, fine))
    canvas[row[order], column[order]] = shade[order]
    smooth = gaussian_filter(canvas, 1.5)
    return smooth.reshape(_SIDE, 3, _SIDE, 3).mean(axis=(1, 3))


def draw_objects(n_views: int, *, seed: int = 0) -> tuple[Float64, npt.NDArray[np.int64], Float64]:
    """Draw five solids from all sides.

    Parameters
    ----------
    n_views : int
        Views of each, evenly spaced over the circle.
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (5 * n_views, 1024), values in [0, 1]
    kinds : ndarray of shape (5 * n_views,), int
    change : ndarray like X
        Derivative of each pixel by the angle, in degrees, by central differences over three degrees.
    """
    draw = np.random.default_rng(seed)
    X, change = [], []
    for kind in range(5):
        points, normals = _solid(kind, draw)
        paint = _paint(points, draw)
        for degrees in np.arange(n_views) * (360.0 / n_views):
            X.append(_render(points, normals, paint, degrees).ravel())
            ahead, behind = (_render(points, normals, paint, degrees + by).ravel() for by in (_TURN, -_TURN))
            change.append((ahead - behind) / (2.0 * _TURN))
    return np.array(X), np.repeat(np.arange(5), n_views), np.array(change)


def _mean_saliency(importance: npt.NDArray[Any], r2: npt.NDArray[Any], groups: npt.NDArray[Any]) -> dict[Any, Float64]:
    """Return the mean saliency of each group, points weighted by how far they are to be believed."""
    known = np.isfinite(r2)
    weights = np.where(known, r2, 0.0)
    return {
        group: np.average(np.nan_to_num(importance[groups == group]), axis=0, weights=weights[groups == group] + 1e-9)
        for group in np.unique(groups)
    }


def _edges(picture: Float64) -> Float64:
    rows, columns = np.gradient(picture)
    return np.hypot(rows, columns)


def _digits(rows: int, seed: int, jobs: int | None) -> dict[str, Any]:
    data = load_dataset("mnist")
    labels = check_labels(data.labels, data.X.shape[0]).astype(int)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(labels))[:rows])
    X, labels = np.asarray(data.X[chosen]), labels[chosen]
    Y = gnomon.UMAP(random_state=seed, n_jobs=jobs).fit_transform(X)
    explanation = gnomon.explain(X, Y, n_jobs=jobs)
    importance = np.nan_to_num(explanation.importance)
    saliency = _mean_saliency(importance, explanation.r2, labels)
    draw = np.random.default_rng(seed)
    shown = {}
    for digit, found in saliency.items():
        members = np.flatnonzero(labels == digit)
        looked_at = draw.choice(members, min(_LOOKED_AT, len(members)), replace=False)
        alike = np.array([_alike(importance[i], X[i].reshape(28, 28).astype(float)) for i in looked_at])
        shown[str(digit)] = {
            "mean": X[members].mean(axis=0).reshape(28, 28),
            "saliency": found.reshape(28, 28),
            "like_edges": float(np.median(alike[:, 0])),
            "like_strokes": float(np.median(alike[:, 1])),
            "share_on_edges": float(np.median(alike[:, 2])),
        }
    return shown


def _alike(saliency: npt.NDArray[Any], picture: Float64) -> tuple[float, float, float]:
    """Return how a saliency goes with edges and strokes (rank correlation), and its share on the strongest edges.

    Pixels that never change nearby are left out; the strongest edges are the upper quarter of those that do, so a
    saliency that does not see edges has a share of a quarter.
    """
    active = saliency > 0
    edges = _edges(picture).ravel()[active]
    found = saliency[active]
    strong = edges >= np.quantile(edges, 0.75)
    return (
        float(spearmanr(found, edges).statistic),
        float(spearmanr(found, picture.ravel()[active]).statistic),
        float(found[strong].sum() / found.sum()),
    )


def _objects(views: int, seed: int, jobs: int | None) -> dict[str, Any]:
    X, kinds, change = draw_objects(views, seed=seed)
    Y = gnomon.UMAP(random_state=seed, n_jobs=jobs).fit_transform(X)
    explanation = gnomon.explain(X, Y, n_jobs=jobs)
    wide = gnomon.explain(X, Y, n_neighbors=15, pooling=3, n_jobs=jobs)
    alone = gnomon.explain(X, Y, n_neighbors=15, pooling=0, n_jobs=jobs)
    tables = {
        "like_change": explanation.importance,
        "15 averaged": wide.importance,
        "15 alone": alone.importance,
        "frames": gnomon.tangent_frames(X, wide.graph).importance(X),
    }
    print(f"objects: {explanation.n_neighbors} neighbours, averaged {explanation.pooling} times")
    shown = {}
    for kind in range(5):
        of_kind = np.flatnonzero(kinds == kind)
        active = X[of_kind].std(axis=0) > _ACTIVE
        known = of_kind[explanation.mask[of_kind]]
        alike = {
            name: float(np.median([_ranked_alike(table[i], np.abs(change[i]), active) for i in known]))
            for name, table in tables.items()
        }
        brightness = [_ranked_alike(explanation.importance[i], X[i], active) for i in known]
        one = of_kind[len(of_kind) // 3]
        shown[str(kind)] = {
            "mean": X[one].reshape(_SIDE, _SIDE),
            "saliency": np.nan_to_num(explanation.importance[one]).reshape(_SIDE, _SIDE),
            "truth": np.abs(change[one]).reshape(_SIDE, _SIDE),
            **alike,
            "like_brightness": float(np.median(brightness)),
            "median_r2": float(np.nanmedian(explanation.r2[of_kind])),
        }
    return shown


def _ranked_alike(found: npt.NDArray[Any], truth: npt.NDArray[Any], active: npt.NDArray[np.bool_]) -> float:
    """Return the rank correlation over the pixels that any view of the object changes."""
    return float(spearmanr(found[active], truth[active]).statistic)


def _picture(digits: dict[str, Any], objects: dict[str, Any]) -> Any:
    figure = make_figure(12.0, 6.2)
    axes = figure.subplots(5, 10)
    for ax in axes.ravel():
        ax.set_axis_off()
    for column, (digit, one) in enumerate(digits.items()):
        axes[0, column].imshow(one["mean"], cmap="gray_r")
        axes[0, column].set_title(f"mean {digit}", fontsize=8)
        axes[1, column].imshow(one["saliency"], cmap="magma")
        axes[1, column].set_title(f"saliency\nedges {one['like_edges']:+.2f}", fontsize=8)
    for column, one in enumerate(objects.values()):
        for row, (key, title) in enumerate((("mean", "a view"), ("saliency", "saliency"), ("truth", "true change"))):
            axes[2 + row, 2 * column].imshow(one[key], cmap="gray_r" if key == "mean" else "magma")
            extra = f" ({one['like_change']:+.2f})" if key == "saliency" else ""
            axes[2 + row, 2 * column].set_title(title + extra, fontsize=8)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("saliency_maps", __doc__ or "")
    made.add_argument("--rows", type=int, default=10_000, help="digits that are mapped")
    made.add_argument("--views", type=int, default=72, help="views of each object")
    made.add_argument("--no-digits", action="store_true", help="objects alone, which need no data")
    options = parse(made, arguments)
    digits = {} if options.no_digits else _digits(options.rows, options.seed, options.jobs)
    objects = _objects(options.views, options.seed, options.jobs)
    pictures = ("mean", "saliency", "truth")
    report = {
        name: {key: {k: v for k, v in one.items() if k not in pictures} for key, one in part.items()}
        for name, part in (("digits", digits), ("objects", objects))
    }
    for name, part in report.items():
        for key, one in part.items():
            print(f"{name} {key}  " + "  ".join(f"{k} {v:+.2f}" for k, v in one.items()))
    write_json(options.out, "saliency_maps", {"rows": options.rows, "views": options.views, **report})
    write_png(options.out, "saliency_maps", _picture(digits, objects))
    return 0


if __name__ == "__main__":
    sys.exit(main())
