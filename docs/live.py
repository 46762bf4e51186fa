"""Pages of maps that the site brings along, made when it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_swiss_roll

import gnomon as gn

__all__ = ["LIVE", "write_live_pages"]


def _digits(path: Path) -> None:
    digits = load_digits()
    m = gn.map(digits.data, labels=digits.target, image_shape=(8, 8), random_state=0)
    m.clusters()
    m.to_html(path, title="Handwritten digits")


def _tumours(path: Path) -> None:
    tumours = load_breast_cancer(as_frame=True)
    m = gn.map(tumours.data, labels=tumours.target_names[tumours.target], scale="standard", random_state=0)
    m.to_html(path, title="Tumours")


def _sheet(path: Path) -> None:
    X, along = make_swiss_roll(800, random_state=0)
    sixth = np.searchsorted(np.quantile(along, np.arange(1, 6) / 6), along)
    found = gn.compare(X, methods=("pca", "umap", "tsne", "isomap"), labels=sixth + 1)
    found.to_html(path, title="A rolled sheet")


def _spectrum(path: Path) -> None:
    X, digits = load_digits(return_X_y=True)
    gn.attraction_repulsion_spectrum(X[:800], random_state=0).to_html(path, labels=digits[:800])


def _wines(path: Path) -> None:
    wines = load_wine(as_frame=True)
    kinds = wines.target_names[wines.target]
    gn.map(wines.data, labels=kinds, scale="standard", random_state=0).write_report(path, title="Wines")


LIVE: Mapping[str, Callable[[Path], None]] = {
    "digits.html": _digits,
    "tumours.html": _tumours,
    "sheet.html": _sheet,
    "spectrum.html": _spectrum,
    "wines.html": _wines,
}
"""What writes each page, by the name of its file; `live.md` says what is on them."""


def write_live_pages(folder: Path) -> None:
    """Write those pages that the folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in LIVE.items():
        if not (folder / name).exists():
            write(folder / name)
