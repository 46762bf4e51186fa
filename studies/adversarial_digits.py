"""Where do pictures that fool a network lie in a map, and which pixels hold them there?

A small classifier learns to read digits; held-out digits are moved by the fast gradient sign method until it reads them
wrong. The clean digits are mapped twice by UMAP, once by their pixels and once by the network's last hidden layer, and
the fooling ones are placed in both maps. Figures: whether their neighbours in the map are of the class they show
(source) or of the class they are read as (target), and how much their mean saliency, the pixels that move a point in
the map, is like that of either class. The latent map is explained by pixels too: neighbours from the hidden layer,
displacements in pixels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from gnomon.exceptions import GnomonWarning
from gnomon.neighbors import compute_neighbors, query_neighbors
from studies.network import Classifier, train_classifier
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Float32 = npt.NDArray[np.float32]

_SIDE, _NEIGHBORS = 28, 10
_SHOWN_PAIRS = 4


def _sample(n_train: int, n_test: int, seed: int) -> tuple[Float32, npt.NDArray[np.int64], Float32, npt.NDArray[Any]]:
    """Return pictures in [0, 1] and classes, to learn from and held out."""
    data = load_dataset("mnist")
    labels = check_labels(data.labels, data.X.shape[0]).astype(np.int64)
    order = np.random.default_rng(seed).permutation(data.X.shape[0])[: n_train + n_test]
    pictures = (np.asarray(data.X[order], dtype=np.float32) / 255.0).reshape(-1, _SIDE, _SIDE)
    given = labels[order]
    return pictures[:n_train], given[:n_train], pictures[n_train:], given[n_train:]


def _neighbor_shares(
    Y: npt.NDArray[Any], labels: npt.NDArray[Any], placed: npt.NDArray[Any], wanted: npt.NDArray[Any]
) -> float:
    """Return the mean share of the clean neighbours in the map, of each placed point, that are of the wanted class."""
    indices, _ = query_neighbors(np.asarray(Y, np.float64), np.asarray(placed, np.float64), _NEIGHBORS)
    return float(np.mean(labels[indices] == wanted[:, None]))


def _cosine(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """Return the cosine of two saliencies after what all points share, their common mean, is taken off."""
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _study_map(
    space: Float32, fooled_space: Float32, pixels: Float32, fooled_pixels: Float32, facts: dict[str, Any]
) -> dict[str, Any]:
    """Map clean rows, place the fooling ones, explain all by pixels and compare them with both classes."""
    labels, source, target = facts["labels"], facts["source"], facts["target"]
    umap = gnomon.UMAP(random_state=facts["seed"], n_jobs=facts["jobs"]).fit(space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        placed = umap.transform(fooled_space)
    both = np.concatenate([space, fooled_space])
    graph = compute_neighbors(np.ascontiguousarray(both), 15)
    explanation = gnomon.explain(
        np.concatenate([pixels, fooled_pixels]),
        np.concatenate([umap.embedding_, placed]),
        graph=graph,
        n_jobs=facts["jobs"],
    )
    importance = explanation.importance.astype(np.float64)
    importance /= np.maximum(np.linalg.norm(importance, axis=1, keepdims=True), 1e-12)
    common = importance[: len(labels)].mean(axis=0)
    of_class = {c: importance[: len(labels)][labels == c].mean(axis=0) - common for c in np.unique(labels)}
    of_fooled = importance[len(labels) :] - common
    to_source, to_target, weight, pairs = [], [], [], {}
    for s, t in sorted(set(zip(source.tolist(), target.tolist(), strict=True))):
        members = (source == s) & (target == t)
        if members.sum() < 5:
            continue
        mean = of_fooled[members].mean(axis=0)
        to_source.append(_cosine(mean, of_class[s]))
        to_target.append(_cosine(mean, of_class[t]))
        weight.append(int(members.sum()))
        pairs[s, t] = (mean, to_source[-1], to_target[-1], weight[-1])
    return {
        "embedding": umap.embedding_,
        "placed": placed,
        "pairs": pairs,
        "of_class": of_class,
        "figures": {
            "neighbors_of_source": _neighbor_shares(umap.embedding_, labels, placed, source),
            "neighbors_of_target": _neighbor_shares(umap.embedding_, labels, placed, target),
            "saliency_like_source": float(np.average(to_source, weights=weight)),
            "saliency_like_target": float(np.average(to_target, weights=weight)),
            "pairs_nearer_source": float(np.mean(np.greater(to_source, to_target))),
            "median_r2_clean": float(np.nanmedian(explanation.r2[: len(labels)])),
            "median_r2_fooled": float(np.nanmedian(explanation.r2[len(labels) :])),
        },
    }


def _fool(
    network: Classifier, pictures: Float32, labels: npt.NDArray[Any], step: float
) -> tuple[Float32, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return pictures that were read right and are now read wrong, with what they show and what they are read as."""
    right = network.predict(pictures) == labels
    moved = network.fool(pictures[right], labels[right], step)
    read = network.predict(moved)
    wrong = read != labels[right]
    return moved[wrong], labels[right][wrong], read[wrong]


def _picture(maps: dict[str, dict[str, Any]], facts: dict[str, Any]) -> Any:
    figure = make_figure(12.0, 4.6 * len(maps))
    for part, (name, study) in zip(np.atleast_1d(figure.subfigures(len(maps), 1)), maps.items(), strict=True):
        axes = part.subplots(_SHOWN_PAIRS, 5, width_ratios=[4, 1, 1, 1, 0.1])
        grid = axes[0, 0].get_gridspec()
        for ax in axes.ravel():
            ax.set_axis_off()
        ax = part.add_subplot(grid[:, 0])
        ax.scatter(*study["embedding"].T, s=2, c=facts["labels"], cmap="tab10", linewidths=0, alpha=0.35)
        ax.scatter(*study["placed"].T, s=9, c=facts["target"], cmap="tab10", linewidths=0.4, edgecolors="black")
        ax.set_title(f"{name}; outlined: fooling pictures, colour of what they are read as", loc="left", fontsize=9)
        ax.set_axis_off()
        largest = sorted(study["pairs"].items(), key=lambda item: -item[1][3])[:_SHOWN_PAIRS]
        for row, ((s, t), (mean, like_s, like_t, _)) in enumerate(largest):
            shown = (study["of_class"][s], mean, study["of_class"][t])
            titles = (f"class {s}", f"shows {s}, read as {t}: {like_s:+.2f}, {like_t:+.2f}", f"class {t}")
            for column, (values, title) in enumerate(zip(shown, titles, strict=True), start=1):
                reach = np.abs(values).max()
                axes[row, column].imshow(values.reshape(_SIDE, _SIDE), cmap="PuOr_r", vmin=-reach, vmax=reach)
                axes[row, column].set_title(title, fontsize=7)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("adversarial_digits", __doc__ or "")
    made.add_argument("--train", type=int, default=20_000, help="digits the network learns from")
    made.add_argument("--rows", type=int, default=6_000, help="held-out digits that are mapped and attacked")
    made.add_argument("--step", type=float, default=0.15, help="change of each pixel, in shares of white")
    options = parse(made, arguments)
    learn, learn_labels, held, labels = _sample(options.train, options.rows, options.seed)
    network = train_classifier(learn, learn_labels, seed=options.seed)
    accuracy = float(np.mean(network.predict(held) == labels))
    fooled, source, target = _fool(network, held, labels, options.step)
    print(
        f"the network reads {accuracy:.1%} right, {1 - len(fooled) / (accuracy * len(held)):.1%} of these under attack"
    )
    facts = {"labels": labels, "source": source, "target": target, "seed": options.seed, "jobs": options.jobs}
    flat, flat_fooled = held.reshape(len(held), -1), fooled.reshape(len(fooled), -1)
    maps = {
        "map by pixels": _study_map(flat, flat_fooled, flat, flat_fooled, facts),
        "map by the last hidden layer": _study_map(
            network.latent(held), network.latent(fooled), flat, flat_fooled, facts
        ),
    }
    for name, study in maps.items():
        print(name, "  ".join(f"{key} {value:.2f}" for key, value in study["figures"].items()))
    report = {name: study["figures"] for name, study in maps.items()}
    write_json(
        options.out,
        "adversarial_digits",
        {"accuracy": accuracy, "fooled": len(fooled), "step": options.step, "maps": report},
    )
    write_png(options.out, "adversarial_digits", _picture(maps, facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
