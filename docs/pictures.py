"""Draw the small maps of the documentation: `python docs/pictures.py [methods parameters guides gallery]`.

All of them by default, into `docs/images`, as WebP; about a minute of one core. Nothing is downloaded.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits, make_blobs, make_swiss_roll

import gnomon as gn
from gnomon.methods import METHODS
from gnomon.plot import plot_map

_DOCS = Path(__file__).parent
_IMAGES = _DOCS / "images"
_DPI = 100
_PANEL = 1.8  # inches
_WIDEST = 900  # pixels

Panel = tuple[str, np.ndarray, dict[str, Any]]


def _keep(picture: Image.Image, name: str) -> None:
    """Write a picture into the folder of images."""
    path = _IMAGES / f"{name}.webp"
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.thumbnail((_WIDEST, _WIDEST))
    picture.convert("RGB").save(path, quality=76, method=6)
    print(f"{path.relative_to(_DOCS)}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def _save(figure: Figure, name: str) -> None:
    buffer = BytesIO()
    figure.savefig(buffer, dpi=_DPI, facecolor="white")
    _keep(Image.open(buffer), name)


def _panels(name: str, panels: list[Panel], size: float = _PANEL) -> None:
    """Draw maps beside each other: of each its title, its positions and how it is coloured."""
    figure = Figure(figsize=(size * len(panels), size + 0.25), layout="constrained")
    for ax, (title, Y, color) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        plot_map(Y, ax=ax, legend=False, annotate=False, point_size=4, font_size=8, **color)
        ax.set_title(title, fontsize=9, loc="center")
        ax.set_xlabel("")
        ax.set_ylabel("")
    for bar in figure.axes[len(panels) :]:
        bar.remove()
    _save(figure, name)


@cache
def _digits() -> tuple[np.ndarray, dict[str, Any]]:
    X, y = load_digits(return_X_y=True)
    return X[:900], {"labels": y[:900]}


@cache
def _roll() -> tuple[np.ndarray, dict[str, Any]]:
    X, along = make_swiss_roll(800, noise=0.2, random_state=0)
    return X, {"values": along}


@cache
def _groups() -> tuple[np.ndarray, dict[str, Any]]:
    """Three groups in ten dimensions: one is four times as wide as the others."""
    X, y = make_blobs([250] * 3, 10, cluster_std=[1, 1, 4], center_box=(-8, 8), random_state=3)
    return X, {"labels": y}


def _methods() -> None:
    for card in METHODS:
        panels = []
        for title, (X, color) in (
            ("digits", _digits()),
            ("a rolled sheet", _roll()),
            ("groups, one of them wide", _groups()),
        ):
            estimator = getattr(gn, card.estimator)()
            if "random_state" in estimator.get_params():
                estimator.set_params(random_state=0)
            panels.append((title, estimator.fit_transform(X), color))
        _panels(f"methods/{card.name}", panels)


def _values(estimator: Callable[..., Any], name: str, values: list[Any], data: Any = _digits, **others: Any) -> None:
    """Draw maps over the values of one parameter."""
    X, color = data()
    panels = [
        (f"{name}={value!r}", estimator(**{"random_state": 0, **others, name: value}).fit_transform(X), color)
        for value in values
    ]
    _panels(f"parameters/{name}", panels)


def _parameters() -> None:
    _values(gn.UMAP, "n_neighbors", [3, 8, 15, 100])
    _values(gn.UMAP, "min_dist", [0.0, 0.1, 0.5, 1.0])
    _values(gn.UMAP, "metric", ["euclidean", "cosine", "correlation", "chebyshev"])
    _values(gn.UMAP, "random_state", [0, 1, 2, 3], init="random")
    _values(gn.TSNE, "perplexity", [3, 10, 30, 150])
    _values(gn.TSNE, "early_exaggeration", [1, 4, 12, 50], init="random")
    _values(gn.TSNE, "exaggeration", [0.5, 1, 2, 4])
    _values(gn.TSNE, "max_iter", [20, 60, 120, 250])
    _values(gn.TSNE, "learning_rate", [5, 50, "auto", 8000])
    _values(gn.UMAP, "init", ["pca", "spectral", "random"])
    _values(gn.UMAP, "density", [None, 0.5, 2, 10], data=_groups)
    _values(gn.UMAP, "frames", [None, 0.5, 2, 10], data=_roll)
    X, color = _digits()
    panels = []
    for n in (1, 2, 3):
        Y = gn.UMAP(n_components=n, random_state=0).fit_transform(X)
        scatter = np.random.default_rng(0).uniform(0, np.ptp(Y[:, 0]) / 4, len(Y))
        turned = Y @ np.array([[0.9, 0.2], [-0.1, 0.9], [0.4, -0.4]]) if n == 3 else Y
        panels.append((f"n_components={n}", np.column_stack([Y[:, 0], scatter]) if n == 1 else turned, color))
    _panels("parameters/n_components", panels)


def _guides() -> None:
    digits = load_digits()
    m = gn.map(digits.data, labels=digits.target, image_shape=(8, 8), random_state=0)
    _panels(
        "guides/trust",
        [
            ("by class", m.embedding, {"labels": digits.target}),
            ("by trust, dark is low", m.embedding, {"values": np.maximum(m.point_scores()["trustworthiness"], 0.9)}),
        ],
        size=3.4,
    )


def _gallery() -> None:
    for script in sorted((_DOCS / "gallery").glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            began = os.getcwd()
            os.chdir(folder)
            try:
                runpy.run_path(str(script))
            finally:
                os.chdir(began)
            _keep(Image.open(Path(folder) / f"{script.stem}.png"), f"gallery/{script.stem}")


_ALL = {"methods": _methods, "parameters": _parameters, "guides": _guides, "gallery": _gallery}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of graphs in pieces, and of fits that are cut short to be shown
    for part in sys.argv[1:] or _ALL:
        _ALL[part]()
