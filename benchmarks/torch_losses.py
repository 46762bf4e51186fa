"""The losses of gnomon written plainly in PyTorch, and the child process that differentiates one of them.

This file is started by its path in the interpreter that has PyTorch, so it needs NumPy and nothing of this package.

    python torch_losses.py LOSS ARRAYS.npz THREADS GRADIENT.npy

evaluates loss and gradient once for each line on stdin and answers with a line of JSON; the gradient is saved each
time. Everything is dense and in float32, all pairs at once, as one writes it: squared distances from inner products,
which autograd differentiates fastest; no pair is counted with itself.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

_FLOOR = 1e-3  # below this squared distance -log(1 - k) goes on as a straight line
_SMALLEST = 1e-12

Arrays = dict[str, Any]  # tensors and floats
Loss = Callable[[Tensor, Arrays], Tensor]


def _squared_distances(Y: Tensor) -> Tensor:
    squares = Y.square().sum(1)
    return squares[:, None] + squares - 2 * Y @ Y.T


def _distances(Y: Tensor) -> Tensor:
    """Of differences, where inner products would lose the small ones; hardly slower."""
    return torch.cdist(Y, Y, compute_mode="donot_use_mm_for_euclid_dist")


def _cauchy(Y: Tensor) -> Tensor:
    return 1 / (1 + _squared_distances(Y))


def kl_cauchy(Y: Tensor, given: Arrays) -> Tensor:
    s = _squared_distances(Y)
    return (given["P"] * torch.log1p(s)).sum() + torch.log((1 / (1 + s)).sum() - len(Y)) + given["constant"]


def kl_gaussian(Y: Tensor, given: Arrays) -> Tensor:
    s = _squared_distances(Y)
    return (given["P"] * s).sum() + torch.log(torch.exp(-s).sum() - len(Y)) + given["constant"]


def sne(Y: Tensor, given: Arrays) -> Tensor:
    s = _squared_distances(Y)
    return (given["P"] * s).sum() + torch.log(torch.exp(-s).sum(1) - 1).sum() + given["constant"]


def cross_entropy(Y: Tensor, given: Arrays) -> Tensor:
    """Of UMAP's kernel k = 1 / (1 + a s^b): -log k = log(1 + a s^b), -log(1 - k) = log(1 + 1 / (a s^b))."""
    a, b = given["a"], given["b"]
    s = _distances(Y).square()
    power = a * s.clamp(min=_SMALLEST) ** b
    edge = a * _FLOOR**b
    slope = -b / (_FLOOR * (1 + edge))
    repulsion = torch.log1p(1 / power.clamp(min=edge)) + slope * (s - _FLOOR).clamp(max=0)
    return (given["attraction"] * torch.log1p(power)).sum() + (given["repulsion"] * repulsion).sum() + given["constant"]


def two_kernel_pca(Y: Tensor, given: Arrays) -> Tensor:
    difference = _cauchy(Y) - given["target"]
    return difference.square().sum() - difference.diagonal().square().sum()


def two_kernel_pca_centred(Y: Tensor, given: Arrays) -> Tensor:
    difference = _cauchy(Y) - given["target"]
    centred = difference - difference.mean(0) - difference.mean(1)[:, None] + difference.mean()
    return centred.square().sum()


def two_kernel_lle_uniform(Y: Tensor, given: Arrays) -> Tensor:
    k = 1 / (1 + _distances(Y).square())
    return (given["M"] * k).sum() + given["strength"] * k.sum()


def two_kernel_lle_quadratic(Y: Tensor, given: Arrays) -> Tensor:
    k = 1 / (1 + _distances(Y).square())
    return (given["M"] * k).sum() + given["strength"] * (given["identity"] - k).square().sum()


def force_atlas2(Y: Tensor, given: Arrays) -> Tensor:
    s = _distances(Y).square()
    potential = torch.log(s.clamp(min=_SMALLEST))
    return 0.25 * ((given["springs"] * s).sum() - (given["charges"] * potential).sum())


def info_nce(Y: Tensor, given: Arrays) -> Tensor:
    """Over edges and points drawn, not all pairs; index_select has a much faster derivative than Y[...]."""
    heads, tails = given["heads"], given["tails"]
    k = 1 / (1 + (Y.index_select(0, heads) - Y.index_select(0, tails)).square().sum(1))
    drawn = Y.index_select(0, given["drawn"].ravel()).reshape(len(Y), -1, Y.shape[1])
    noise = (1 / (1 + (Y[:, None] - drawn).square().sum(2))).sum(1)
    return (given["weights"] * (torch.log(k + noise.index_select(0, heads)) - torch.log(k))).sum()


def raw_stress(Y: Tensor, given: Arrays) -> Tensor:
    return (_distances(Y) - given["target"]).square().sum()


LOSSES: dict[str, Loss] = {
    loss.__name__: loss
    for loss in (
        kl_cauchy,
        kl_gaussian,
        sne,
        cross_entropy,
        two_kernel_pca,
        two_kernel_pca_centred,
        two_kernel_lle_uniform,
        two_kernel_lle_quadratic,
        force_atlas2,
        info_nce,
        raw_stress,
    )
}


def _load(path: str) -> tuple[Tensor, Arrays]:
    """Return the points and the rest: matrices as tensors, numbers as floats, sparse matrices made dense."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    points = torch.from_numpy(arrays.pop("Y")).requires_grad_()
    n = len(points)
    given: Arrays = {}
    for name, array in arrays.items():
        if name.endswith("_entries"):  # rows, columns, values
            dense = np.zeros((n, n), dtype=np.float32)
            dense[array[0].astype(np.int64), array[1].astype(np.int64)] = array[2]
            given[name.removesuffix("_entries")] = torch.from_numpy(dense)
        else:
            given[name] = torch.from_numpy(array) if array.ndim else float(array)
    return points, given


def main(arguments: list[str]) -> None:
    name, path, threads, out = arguments
    torch.set_num_threads(int(threads))
    loss = LOSSES[name]
    points, given = _load(path)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        value = loss(points, given)
        (gradient,) = torch.autograd.grad(value, points)
        number = value.item()
        report = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "loss": number}
        np.save(out, gradient.numpy())
        print(json.dumps(report | {"version": torch.__version__, "pid": os.getpid()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
