"""Does the map of a network's latent space show that the network has gone wrong?

A small classifier learns to read digits. In one epoch half of its labels are swapped between twins (4 and 9, 3 and 5,
2 and 7, 0 and 6, 1 and 8), in a later one nine tenths are random; after both it recovers. The last hidden layer of
held-out pictures is mapped by UMAP before training and after each epoch, and by t-SNE beside it; so are the channels
of the last convolutional layer. The plain maps are what is usually published; below them stands what gnomon adds: what
the clusters hold, how far neighbours agree, which units make them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from gnomon.plot import plot_map
from studies.network import Epoch, Snapshot, train
from studies.output import make_figure, parse, parser, write_json, write_png
from studies.reading import Reading, read_latent_space

__all__ = ["main"]

TWINS = (6, 8, 7, 5, 9, 3, 0, 2, 1, 4)
EPOCHS = (
    (Epoch(0.02), "labels are right"),
    (Epoch(0.02), "labels are right"),
    (Epoch(0.06, twins=TWINS), "SPOILED: half swapped by twins"),
    (Epoch(0.02), "labels are right"),
    (Epoch(0.02, wrong_labels=0.9), "SPOILED: 9 in 10 random"),
    (Epoch(0.02), "labels are right"),
)
_ORDER = (4, 9, 3, 5, 2, 7, 0, 6, 1, 8)  # twins side by side
_SHOWN_UNITS = 16
_TSNE, _CONVOLVED = "tsne_knn_accuracy", "convolved_knn_accuracy"
_LINES = (
    ("network_accuracy", "accuracy of the network (what the map is to tell)", "black", "-"),
    ("visible_separation", "plain map: how well its visible clusters stand apart", "#d47719", "--"),
    ("trustworthiness", "plain map: trustworthiness", "#9aa3ad", "--"),
    ("knn_accuracy", "gnomon: neighbours of one digit", "#6273d5", "-"),
    ("worst_pair_told_apart", "gnomon: best unit for the digits that are told apart worst", "#2aa56d", "-"),
)


@dataclass(frozen=True)
class Other:
    """Another map beside the one that is read: positions, and the share of rows that their neighbours name rightly."""

    embedding: npt.NDArray[np.float64]
    knn_accuracy: float


def _others(snapshot: Snapshot, labels: npt.NDArray[np.int64], options: Any) -> dict[str, Other]:
    """Map the last hidden layer by t-SNE and the convolutional one by UMAP."""
    found = {}
    for name, method, layer in ((_TSNE, gnomon.TSNE, snapshot.latent), (_CONVOLVED, gnomon.UMAP, snapshot.convolved)):
        Y = np.asarray(method(random_state=options.seed, n_jobs=options.jobs).fit_transform(layer), dtype=np.float64)
        scores = gnomon.evaluate(layer, Y, labels=labels, n_jobs=options.jobs).scores()
        found[name] = Other(Y, scores["knn_accuracy"])
    return found


def _name(epoch: int) -> str:
    return "untrained" if epoch == 0 else f"epoch {epoch}"


def _draw_lines(ax: Any, figures: Sequence[dict[str, Any]]) -> None:
    """Draw how the figures of the maps move with the accuracy of the network."""
    epochs = np.arange(len(figures))
    for key, text, color, style in _LINES:
        values = [one[key] for one in figures]
        ax.plot(epochs, values, style, color=color, lw=2.4, marker="o", ms=5, label=text)
    for k, (_, what) in enumerate(EPOCHS, start=1):
        if what.startswith("SPOILED"):
            ax.axvspan(k - 0.3, k + 0.3, color="#c0392b", alpha=0.09, lw=0)
    ax.set_xlim(-0.5, len(figures) - 0.5)
    ax.set_ylim(0, 1.03)
    ax.set_xticks([])
    ax.tick_params(axis="y", labelsize=8)
    ax.legend(frameon=False, fontsize=10.5, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.set_ylabel("Figures of the maps\nand the accuracy\nthey are to tell", **_SIDE)


def _draw_clusters(ax: Any, reading: Reading, pictures: npt.NDArray[np.uint8]) -> None:
    """Draw the visible clusters, found without labels, and on each the mean pictures of two groups of its members."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage
    from sklearn.cluster import KMeans

    Y = reading.embedding
    ax.scatter(Y[:, 0], Y[:, 1], s=3, color="#c9d3e0", linewidths=0)
    for cluster in range(int(reading.clusters.max()) + 1):
        inside = reading.clusters == cluster
        members = pictures[inside].reshape(int(inside.sum()), -1).astype(np.float64)
        means = KMeans(2, n_init=3, random_state=0).fit(members).cluster_centers_.reshape(2, *pictures.shape[1:])
        both = np.hstack([mean / mean.max() for mean in means])
        place = np.median(Y[inside], axis=0)
        box = AnnotationBbox(OffsetImage(both, cmap="gray_r", zoom=0.85), place, pad=0.1)
        box.patch.set(edgecolor="0.4", linewidth=0.7)
        ax.add_artist(box)
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[:].set_visible(False)
    found = reading.figures
    few, most = (int(found[key]) for key in ("fewest_clusters", "most_clusters"))
    ax.set_title(f"{few} to {most} clusters in five maps" if few < most else f"{few} clusters", loc="left", fontsize=10)


def _draw_units(ax: Any, reading: Reading) -> None:
    """Draw which units are higher (red) or lower (blue) for which digit."""
    ax.imshow(reading.separation[:_SHOWN_UNITS][:, _ORDER], cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for edge in range(2, len(_ORDER), 2):
        ax.axvline(edge - 0.5, color="white", lw=3)
    ax.set_xticks(range(len(_ORDER)), [str(digit) for digit in _ORDER], fontsize=9)
    ax.set_yticks(range(_SHOWN_UNITS), [str(unit) for unit in reading.units[:_SHOWN_UNITS]], fontsize=7)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    one, other = reading.worst_pair
    ax.set_title(
        f"{reading.figures['units_in_use']:.0f} units shape the map\n"
        f"{one} and {other} told apart worst: {reading.figures['worst_pair_told_apart']:.2f}",
        loc="left",
        fontsize=10,
    )


_SIDE: dict[str, Any] = {"fontsize": 11.5, "rotation": 0, "ha": "right", "va": "center", "labelpad": 14}
_ROWS = (
    "Plain map",
    "The same layer\nby t-SNE",
    "What the clusters hold:\nthe mean pictures of\ntwo groups of members\n(no labels needed)",
    "With the labels",
    "Last convolutional\nlayer, by UMAP",
    "Which units are higher\n(red) or lower (blue) for\neach digit, strongest\nfirst; twins side by side",
)


def _picture(
    readings: Sequence[Reading],
    others: Sequence[dict[str, Other]],
    snapshots: Sequence[Snapshot],
    figures: Sequence[dict[str, Any]],
    pictures: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.int64],
) -> Any:
    n = len(readings)
    figure = make_figure(3.0 * n + 2.5, 22)
    grid = figure.add_gridspec(7, n, height_ratios=[0.75, 1, 1, 1, 1, 1, 1.1])
    _draw_lines(figure.add_subplot(grid[0, :]), figures)
    figure.suptitle(_headline(figures), x=0.01, ha="left", fontsize=16, fontweight="bold")
    axes = np.array([[figure.add_subplot(grid[row, k]) for k in range(n)] for row in range(1, 7)])
    for k, (reading, snapshot) in enumerate(zip(readings, snapshots, strict=True)):
        plain, tsne, clusters, colored, convolved, units = axes[:, k]
        plot_map(reading.embedding, ax=plain)
        for ax, name in ((tsne, _TSNE), (convolved, _CONVOLVED)):
            plot_map(others[k][name].embedding, labels=labels, ax=ax, legend=False)
            ax.set_title(f"neighbours of one digit: {others[k][name].knn_accuracy:.0%}", loc="left", fontsize=10)
        what = "no training" if k == 0 else EPOCHS[k - 1][1]
        color = "#c0392b" if what.startswith("SPOILED") else "black"
        plain.set_title(
            f"{_name(snapshot.epoch)}: accuracy {snapshot.accuracy:.0%}\n{what}",
            loc="left",
            fontsize=11.5,
            fontweight="bold",
            color=color,
        )
        _draw_clusters(clusters, reading, pictures)
        plot_map(reading.embedding, labels=labels, ax=colored, legend=False)
        colored.set_title(f"neighbours of one digit: {reading.figures['knn_accuracy']:.0%}", loc="left", fontsize=10)
        _draw_units(units, reading)
    for row, text in enumerate(_ROWS):
        axes[row, 0].set_ylabel(text, **_SIDE)
    return figure


def _headline(figures: Sequence[dict[str, Any]]) -> str:
    """Say of the spoiled epoch with the tidiest map how little its tidiness tells."""
    spoiled = [k for k, (_, what) in enumerate(EPOCHS, start=1) if what.startswith("SPOILED")]
    k = max(spoiled, key=lambda epoch: figures[epoch]["visible_separation"])
    before, here = figures[k - 1], figures[k]
    one, other = here["worst_pair"].split()
    return (
        f"From epoch {k - 1} to {k} the accuracy falls from {before['network_accuracy']:.0%} to "
        f"{here['network_accuracy']:.0%}; clusters of the plain map still stand apart "
        f"({before['visible_separation']:.2f} before, {here['visible_separation']:.2f} now).\n"
        f"The explanation shows what is lost: the best unit tells {one} from {other} by "
        f"{here['worst_pair_told_apart']:.2f}, where before even the worst pair had "
        f"{before['worst_pair_told_apart']:.2f}."
    )


def _table(figures: Sequence[dict[str, Any]]) -> str:
    """Return the figures of all epochs as a table."""
    lines = []
    for name in figures[0]:
        cells = (one[name] if isinstance(one[name], str) else f"{one[name]:.3g}" for one in figures)
        lines.append(f"{name.replace('_', ' '):28}" + "".join(f"{cell:>10}" for cell in cells))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("latent_space", __doc__ or "")
    made.add_argument("--train", type=int, default=10_000, help="training pictures")
    made.add_argument("--test", type=int, default=3000, help="held-out pictures, which are mapped")
    made.add_argument("--units", type=int, default=32, help="units of the latent layer")
    options = parse(made, arguments)
    data = load_dataset("mnist")
    rows = np.random.default_rng(options.seed).permutation(len(data.X))[: options.train + options.test]
    pictures = np.asarray(data.X)[rows].reshape(-1, *data.image_shape)
    labels = check_labels(data.labels, len(data.X))[rows].astype(np.int64)
    seen, unseen = slice(0, options.train), slice(options.train, None)
    snapshots, readings, others = [], [], []
    for snapshot in train(
        pictures[seen],
        labels[seen],
        pictures[unseen],
        labels[unseen],
        [epoch for epoch, _ in EPOCHS],
        n_units=options.units,
        seed=options.seed,
    ):
        snapshots.append(snapshot)
        others.append(_others(snapshot, labels[unseen], options))
        readings.append(read_latent_space(snapshot.latent, labels[unseen], seed=options.seed, n_jobs=options.jobs))
        print(f"{_name(snapshot.epoch)}: accuracy {snapshot.accuracy:.3f}", flush=True)
    figures = [
        {
            "epoch": s.epoch,
            "network_accuracy": s.accuracy,
            **r.figures,
            **{name: other.knn_accuracy for name, other in o.items()},
            "worst_pair": "{} {}".format(*r.worst_pair),
        }
        for s, r, o in zip(snapshots, readings, others, strict=True)
    ]
    print(_table(figures))
    write_json(options.out, "latent_space", {"labels": [what for _, what in EPOCHS], "epochs": figures})
    picture = _picture(readings, others, snapshots, figures, pictures[unseen], labels[unseen])
    write_png(options.out, "latent_space", picture, 100)
    return 0


if __name__ == "__main__":
    sys.exit(main())
