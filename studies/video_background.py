"""Does robust PCA part the background of a video from what moves in it?

Frames are rows of a table. The background, alike in all frames up to the light, is of low rank; objects cover few
pixels of each frame and are sparse. Robust PCA finds both parts; PCA of as many components as the light needs and the
median of each pixel are what else one would try. The objects and the background are known, so each can be scored. A
program as it is found in many places (inexact augmented Lagrange multipliers with a full singular value decomposition
and a penalty that always grows) runs on the same frames: is it slower, and does it end at the minimum?
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import PCA
from gnomon._threads import single_threaded_blas
from gnomon.methods.linear.robust_pca import RobustPCA
from studies.frames import KINDS, Video, make_video
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Float = npt.NDArray[Any]

_LIGHT = 3  # components: the picture, its brightness, the light that wanders
_THRESHOLDS = np.linspace(0.01, 0.4, 40)
_NAMES = {"robust_pca": "robust PCA", "leading": "its 3 leading components", "pca": "PCA", "median": "median"}


def grow_always(X: Float, sparsity: float, *, tol: float = 1e-7, max_iter: int = 200) -> tuple[Float, Float, int]:
    """Take a table apart by the inexact augmented Lagrange multipliers of Lin, Chen & Ma, as commonly programmed.

    Returns
    -------
    low_rank, sparse : ndarray of shape (n_samples, n_features)
    n_iter : int
    """
    size, spectral = np.linalg.norm(X), np.linalg.norm(X, 2)
    multiplier = X / max(spectral, np.abs(X).max() / sparsity)
    penalty = 1.25 / spectral
    sparse, low_rank = np.zeros_like(X), X
    for iteration in range(1, max_iter + 1):
        left, values, right = np.linalg.svd(X - sparse + multiplier / penalty, full_matrices=False)
        low_rank = (left * np.maximum(values - 1.0 / penalty, 0.0)) @ right
        rest = X - low_rank + multiplier / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - sparsity / penalty, 0.0)
        multiplier = multiplier + penalty * (X - low_rank - sparse)
        if np.linalg.norm(X - low_rank - sparse) <= tol * size:
            return low_rank, sparse, iteration
        penalty *= 1.5
    return low_rank, sparse, max_iter


def _score(video: Video, background: Float) -> dict[str, float]:
    """Return how far a background is from the true one, and how well it tells objects at its best threshold."""
    truth = video.background
    error = float(np.linalg.norm(background - truth) / np.linalg.norm(truth))
    apart = np.abs(video.frames - background)
    best = 0.0
    objects = int(video.foreground.sum())
    for threshold in _THRESHOLDS:
        found = apart > threshold
        hits = int(np.count_nonzero(found & video.foreground))
        best = max(best, 2.0 * hits / (int(found.sum()) + objects))
    return {"background_error": error, "foreground_f1": best}


def _study(video: Video, options: Any) -> tuple[dict[str, Any], dict[str, Float]]:
    """Return the figures of a video and the backgrounds found."""
    X = video.frames
    began, used = time.perf_counter(), time.process_time()
    model = RobustPCA(
        _LIGHT, tol=options.tol, penalty=options.penalty, random_state=options.seed, n_jobs=options.jobs
    ).fit(X)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    optimality = model.convergence_.optimality
    figures: dict[str, Any] = {
        "objects_cover": float(video.foreground.mean()),
        "seconds": seconds,
        "cpu_seconds": used,
        "iterations": model.n_iter_,
        "rank": model.rank_,
        "loss": model.loss_,
        "optimality": optimality.largest,
        "not_zero": float(np.count_nonzero(model.sparse_) / X.size),
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2,
        "methods": {},
    }
    linear = PCA(_LIGHT, random_state=options.seed, n_jobs=options.jobs).fit(X)
    backgrounds: dict[str, Float] = {
        "robust_pca": model.low_rank_,
        "leading": model.inverse_transform(model.embedding_),
        "pca": linear.inverse_transform(linear.embedding_),
        "median": np.broadcast_to(np.median(X, axis=0), X.shape),
    }
    figures["methods"] = {name: _score(video, background) for name, background in backgrounds.items()}
    if options.plain:
        centred = X.astype(np.float64) - model.center_
        began, used = time.perf_counter(), time.process_time()
        with single_threaded_blas():  # else it waits for busy processors
            low_rank, _, n_iter = grow_always(centred, model.sparsity_)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        loss = np.linalg.norm(low_rank, "nuc") + model.sparsity_ * np.abs(centred - low_rank).sum()
        figures["plain_program"] = {
            "seconds": seconds,
            "cpu_seconds": used,
            "iterations": n_iter,
            "loss": float(loss),
        }
        figures["methods"]["plain_program"] = _score(video, low_rank + model.center_)
    return figures, backgrounds


def _picture(videos: dict[str, Video], results: dict[str, tuple[dict[str, Any], dict[str, Float]]]) -> Any:
    """Draw of each video the frame with most objects, the backgrounds and the differences from them."""
    figure = make_figure(15, 4.6 * len(videos))
    for part, (kind, video) in zip(np.atleast_1d(figure.subfigures(len(videos), 1)), videos.items(), strict=True):
        figures, backgrounds = results[kind]
        axes = part.subplots(2, len(_NAMES) + 1)
        frame = int(video.foreground.sum(axis=1).argmax())
        _show(axes[0, 0], video.frames[frame], video.shape, "frame", gray=True)
        _show(axes[1, 0], video.foreground[frame] * 0.4, video.shape, "objects", gray=False)
        for column, (name, words) in enumerate(_NAMES.items(), start=1):
            scores = figures["methods"][name]
            title = f"{words}\nbackground error {scores['background_error']:.4f}"
            _show(axes[0, column], backgrounds[name][frame], video.shape, title, gray=True)
            difference = np.abs(video.frames[frame] - backgrounds[name][frame])
            _show(axes[1, column], difference, video.shape, f"foreground, F1 {scores['foreground_f1']:.3f}", gray=False)
        part.suptitle(f"{kind}: {len(video.frames)} frames", x=0.01, ha="left", fontweight="bold")
    return figure


def _show(ax: Any, pixels: Float, shape: tuple[int, int], title: str, *, gray: bool) -> None:
    ax.imshow(pixels.reshape(shape), cmap="gray" if gray else "magma", vmin=0.0, vmax=1.0 if gray else 0.4)
    ax.set_title(title, loc="left", fontsize=9)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return 0."""
    made = parser("video_background", __doc__ or "")
    made.add_argument("--frames", type=int, default=200)
    made.add_argument("--size", type=int, nargs=2, default=(40, 60), metavar=("HEIGHT", "WIDTH"))
    made.add_argument("--videos", nargs="+", choices=KINDS, default=list(KINDS))
    made.add_argument("--tol", type=float, default=1e-4)
    made.add_argument("--penalty", choices=("fixed", "increasing", "balanced"), default="increasing")
    made.add_argument("--no-plain", dest="plain", action="store_false", help="leave the plain program out: it is slow")
    options = parse(made, arguments)
    videos, results = {}, {}
    for kind in options.videos:
        videos[kind] = make_video(kind, options.frames, *options.size, seed=options.seed)
        results[kind] = _study(videos[kind], options)
        figures = results[kind][0]
        print(f"{kind}: {options.frames} frames of {videos[kind].frames.shape[1]} pixels")
        for name, value in figures.items():
            print(f"  {name}: {value}")
    report = {"frames": options.frames, "size": options.size, "videos": {k: r[0] for k, r in results.items()}}
    write_json(options.out, "video_background", report)
    write_png(options.out, "video_background", _picture(videos, results), small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
