"""What does each method make of the same table?

Every method of `gnomon.methods.METHODS`, with its default parameters, maps one sample of a data set. Each panel says
how many points get their own label from their ten nearest neighbours in the map (kNN) and how often two distances keep
their order (triplets): the first speaks of neighbourhoods, the second of the large scale.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.methods
from gnomon.plot import plot_panels
from studies.embedders import embed
from studies.output import parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

_WIDTH = 1200  # pixels of the picture, about


def _map_and_score(name: str, X: np.ndarray, labels: np.ndarray, options: Any) -> tuple[np.ndarray, dict[str, float]]:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pieces that a neighbour graph falls into
        Y = embed(name, X, seed=options.seed, n_jobs=options.jobs)
    seconds = time.perf_counter() - began
    scores = gnomon.evaluate(X, Y, labels=labels, n_jobs=options.jobs).scores()
    print(f"{name}: {seconds:.1f} s, " + ", ".join(f"{key} {value:.3f}" for key, value in scores.items()), flush=True)
    return Y, {**scores, "seconds": seconds}


def main(arguments: Sequence[str] | None = None) -> int:
    """Map one data set by all methods, draw the maps side by side and write the scores."""
    names = [card.name for card in gnomon.methods.METHODS]
    made = parser("all_methods", __doc__ or "")
    made.add_argument("--set", default="mnist", help="data set, mnist by default")
    made.add_argument("--rows", type=int, default=5000, help="rows of a fixed sample")
    made.add_argument("--methods", nargs="+", choices=names, default=names, metavar="NAME", help="all by default")
    options = parse(made, arguments)
    X, labels = load_rows(options.set, options.rows)
    maps, figures = {}, {}
    for name in options.methods:
        maps[name], figures[name] = _map_and_score(name, X, labels, options)
    estimators = {card.name: card.estimator for card in gnomon.methods.METHODS}
    titles = [
        f"{estimators[name]}\nkNN {one['knn_accuracy']:.2f}, triplets {one['triplet_accuracy']:.2f}"
        for name, one in figures.items()
    ]
    figure = plot_panels(list(maps.values()), labels=labels, titles=titles, annotate=False).figure_
    write_png(options.out, "methods", figure, dpi=round(_WIDTH / figure.get_figwidth()), small=True)
    write_json(options.out, "methods", {"set": options.set, "rows": len(X), "seed": options.seed, "methods": figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
