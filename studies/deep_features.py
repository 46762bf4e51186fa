"""What do maps of photographs show: their pixels, or what a network makes of them?

Papers map the last layer of a trained network and get tidy classes, where maps of pixels show colour and brightness. A
small network learns part of the CIFAR photographs; the rest, which it has not seen, is mapped by pixels and by the last
hidden layer, by t-SNE and by UMAP, in two and in three dimensions. Do a photograph's ten neighbours in the map vote for
its class? Beside the maps the photographs themselves, laid on a grid in the order of the map. The network's own
accuracy bounds what any map of its layer can tell.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon._palette import class_colors
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from gnomon.plot import mosaic
from studies.network import train_classifier
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Float32 = npt.NDArray[np.float32]

_METHODS = {"t-SNE": gnomon.TSNE, "UMAP": gnomon.UMAP}
_SPACES = ("pixels", "last hidden layer")


def _score(space: Float32, Y: Float32, labels: npt.NDArray[np.int64], jobs: int | None) -> dict[str, float]:
    found = gnomon.evaluate(space, Y, labels=labels, n_jobs=jobs).scores()
    return {key: found[key] for key in ("knn_accuracy", "trustworthiness")}


def _neighbors_vote(space: Float32, labels: npt.NDArray[np.int64]) -> float:
    """Return how often the ten nearest rows of the space itself, without a map, vote for a row's class."""
    from sklearn.model_selection import cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier

    told = cross_val_predict(KNeighborsClassifier(10), space, labels, cv=len(labels) // 50)
    return float(np.mean(told == labels))


def _draw(ax: Any, Y: Float32, colors: npt.NDArray[Any], title: str) -> None:
    ax.scatter(*Y.T, c=colors, s=5, lw=0)
    ax.set(xticks=[], yticks=[])
    if Y.shape[1] == 3:
        ax.set_zticks([])
        ax.view_init(elev=22, azim=-60)
    else:
        ax.set_aspect("equal", adjustable="datalim")
        ax.spines[:].set_color("0.85")
    ax.set_title(title, loc="left", fontsize=10)


def _picture(runs: Sequence[dict[str, Any]], labels: npt.NDArray[np.int64], names: Sequence[str]) -> Any:
    from matplotlib.lines import Line2D

    palette = class_colors(len(names))
    figure = make_figure(17, 9.2)
    for number, run in enumerate(runs, start=1):
        solid = run["n_components"] == 3
        ax = figure.add_subplot(len(_SPACES), len(runs) // 2, number, projection="3d" if solid else None)
        title = f"{run['space']}, {run['method']}, {run['n_components']}-D"
        vote = f"neighbours vote rightly: {run['knn_accuracy']:.0%}"
        _draw(ax, run["map"], np.array(palette)[labels], f"{title}\n{vote}")
    handles = [Line2D([], [], marker="o", ls="", color=c, label=name) for c, name in zip(palette, names, strict=True)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def _agreement(runs: Sequence[dict[str, Any]], network: float) -> str:
    """Say in one sentence whether the layer's maps tell the classes and the pixels' do not."""
    flat = {(run["space"], run["method"]): run["knn_accuracy"] for run in runs if run["n_components"] == 2}
    (before, after) = ({method: flat[space, method] for method in _METHODS} for space in _SPACES)
    better = all(after[method] > before[method] for method in _METHODS)
    told = " and ".join(f"{method} {before[method]:.2f} to {after[method]:.2f}" for method in _METHODS)
    return (
        f"Maps of the layer tell the classes {'better' if better else 'not always better'} than those of pixels, as "
        f"papers show (accuracy {told}); the network itself, which has so few photographs to learn from, is right in "
        f"{network:.2f} of the unseen ones."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, map what was held out by pixels and by the layer, draw and score; return the exit status."""
    made = parser("deep_features", __doc__ or "")
    made.add_argument("--held-out", type=int, default=1500, help="photographs that are mapped and not learned from")
    made.add_argument("--epochs", type=int, default=12)
    made.add_argument("--set", default="cifar10_sample", help="a data set of square pictures in colour")
    options = parse(made, arguments)
    data = load_dataset(options.set)
    names, labels = np.unique(check_labels(data.labels, len(data.X)).astype(str), return_inverse=True)
    pictures = np.asarray(data.X).reshape(-1, *(data.image_shape or ()))
    order = np.random.default_rng(options.seed).permutation(len(pictures))
    unseen, seen = np.split(order, [options.held_out])
    values = (pictures / 255.0).astype(np.float32)
    begun = time.process_time()
    network = train_classifier(
        values[seen], labels[seen], epochs=options.epochs, widths=(32, 64), mirrored=True, seed=options.seed
    )
    seconds = time.process_time() - begun
    accuracy = float(np.mean(network.predict(values[unseen]) == labels[unseen]))
    print(f"network: {accuracy:.3f} of {len(unseen)} unseen photographs, {seconds:.0f} CPU s to learn", flush=True)
    flat = values[unseen].reshape(len(unseen), -1)
    spaces = dict(zip(_SPACES, (flat, network.latent(values[unseen])), strict=True))
    runs = []
    for space, X in spaces.items():
        for method, estimator in _METHODS.items():
            for n_components in (2, 3):
                model = estimator(n_components=n_components, random_state=options.seed, n_jobs=options.jobs)
                Y = model.fit_transform(X)
                scores = _score(X, Y, labels[unseen], options.jobs)
                runs.append({"space": space, "method": method, "n_components": n_components, **scores, "map": Y})
                shown = "  ".join(f"{key} {value:.3f}" for key, value in scores.items())
                print(f"{space:18} {method:6} {n_components}-D  {shown}", flush=True)
    agreement = _agreement(runs, accuracy)
    print(agreement)
    figures = {
        "agreement": agreement,
        "learned_from": len(seen),
        "mapped": len(unseen),
        "network_accuracy": accuracy,
        "cpu_seconds_to_learn": seconds,
        "neighbors_vote_without_a_map": {name: _neighbors_vote(X, labels[unseen]) for name, X in spaces.items()},
        "maps": [{key: value for key, value in run.items() if key != "map"} for run in runs],
    }
    write_json(options.out, "deep_features", figures)
    write_png(options.out, "deep_features", _picture(runs, labels[unseen], names.tolist()), 90, small=True)
    for run in runs:
        if run["method"] == "UMAP" and run["n_components"] == 2:
            ax = mosaic(pictures[unseen], run["map"], gap=1).ax_
            place = run["space"].replace(" ", "_")
            write_png(options.out, f"deep_features_mosaic_{place}", ax.figure, dpi=ax.figure.dpi)
    return 0


if __name__ == "__main__":
    sys.exit(main())
