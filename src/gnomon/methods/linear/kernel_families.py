"""Families of kernels with continuous parameters, and the search for the parameters that suit a table best."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import Integer, check_parameters, message
from gnomon.kernels import INPUT_KERNELS, InputKernel, input_kernel
from gnomon.kernels.choice import median_distance
from gnomon.kernels.inputs import (
    CauchyInput,
    CosineInput,
    GaussianInput,
    LaplacianInput,
    LinearInput,
    PolynomialInput,
    SketchMapInput,
    UMAPInput,
)
from gnomon.methods.linear.kernel_fidelity import Fidelity

__all__ = ["Family", "Trial", "kernel_families", "search"]

Float64Array = npt.NDArray[np.float64]
Interval = tuple[float, float]

_SIGMAS = (0.05, 10.0)  # of the median distance
_GRID = {1: 7, 2: 4, 3: 3}  # values of each parameter in the first round, by the number of parameters
_STEPS = 10  # trials of the second round for each parameter


@dataclass(frozen=True)
class Family:
    """Kernels that differ in continuous parameters above 0.

    Attributes
    ----------
    name : str
        Of the kernel.
    make : callable
        Takes the parameters to the kernel.
    intervals : tuple of (float, float)
        Where each is searched.
    n_parameters : int
        Those searched, and the degree of a polynomial.
    """

    name: str
    make: Callable[..., InputKernel]
    intervals: tuple[Interval, ...] = ()
    n_parameters: int = 0


@dataclass(frozen=True)
class Trial:
    """A kernel and how true its map is to the rows."""

    kernel: InputKernel
    fidelity: Fidelity


def kernel_families(kernels: Sequence[Any], degrees: Sequence[int], rows: Any) -> list[Family]:
    """Return the families of the names, and kernels that were given as families without parameters.

    Parameters
    ----------
    kernels : sequence of str, callable or InputKernel
    degrees : sequence of int >= 1
        Of "polynomial", a family each: (1 + (x - mean) . (z - mean) / scale)^degree. With a larger scale its terms of
        degree 1 weigh more. "cosine" stands for two, measured from the origin and from the mean.
    rows : ndarray or CSR of shape (n_samples, n_features), float64
        Give the units.
    """
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    unit, found = median_distance(rows), []
    sigmas = (_SIGMAS[0] * unit, _SIGMAS[1] * unit)
    radial: dict[str, tuple[Callable[..., InputKernel], tuple[Interval, ...]]] = {
        "gaussian": (GaussianInput, (sigmas,)),
        "laplacian": (LaplacianInput, (sigmas,)),
        "cauchy": (CauchyInput, (sigmas, (0.1, 10.0))),
        "sketch_map": (SketchMapInput, (sigmas, (0.5, 2.0), (0.5, 10.0))),
        "umap": (lambda a, b: UMAPInput(unit, a, b), ((0.05, 50.0), (0.2, 1.0))),
    }
    for one in kernels:
        if not isinstance(one, str):
            kernel = input_kernel(one, rows)
            found.append(Family(_name(one), lambda kernel=kernel: kernel))
        elif one == "linear":
            found.append(Family(one, LinearInput))
        elif one == "cosine":
            found += [Family(one, CosineInput), Family("cosine from mean", lambda: CosineInput(mean))]
        elif one == "polynomial":
            found += [_polynomials(degree, mean, rows) for degree in degrees]
        elif one in radial:
            make, intervals = radial[one]
            found.append(Family(one, make, intervals, len(intervals)))
        else:
            rule = "names among " + ", ".join(map(repr, INPUT_KERNELS)) + " or kernels"
            raise ValueError(message(f"kernels with {one!r}", rule))
    if not found:
        raise ValueError(message("0 kernels", "at least 1"))
    return found


def _name(kernel: Any) -> str:
    return str(getattr(kernel, "__name__", repr(kernel)))


def _polynomials(degree: Any, mean: Float64Array, rows: Any) -> Family:
    """Return the family (1 + (x - mean) . (z - mean) / scale)^degree."""
    degree = check_parameters({"degrees": Integer(1)}, {"degrees": degree})["degrees"]
    coefficients = tuple(float(math.comb(degree, power)) for power in range(degree + 1))
    size = float((LinearInput().diagonal(rows) - mean @ mean).mean())  # mean squared distance from the mean
    size = size if size > 0.0 else 1.0
    return Family(
        f"polynomial degree {degree}",
        lambda scale: PolynomialInput(coefficients, scale, mean),
        ((0.05 * size, 20.0 * size),),
        2,
    )


def search(family: Family, judge: Callable[[InputKernel], Trial], worth: Callable[[Trial], float]) -> list[Trial]:
    """Try parameters of a family: a grid of their logarithms, then Nelder and Mead's simplex from its best point.

    Parameters
    ----------
    family : Family
    judge : callable
        Takes a kernel to its trial.
    worth : callable
        What is maximised.

    Returns
    -------
    list of Trial
        All that were made.
    """
    if not family.intervals:
        return [judge(family.make())]
    tried: list[Trial] = []

    def loss(logarithms: Float64Array) -> float:
        tried.append(judge(family.make(*np.exp(logarithms).tolist())))
        return -worth(tried[-1])

    n_free = len(family.intervals)
    bounds: Float64Array = np.log(np.array(family.intervals))
    axes = [np.linspace(low, high, _GRID[n_free]) for low, high in bounds]
    points = np.array(list(itertools.product(*axes)))
    start = points[int(np.argmin([loss(point) for point in points]))]
    steps = (bounds[:, 1] - bounds[:, 0]) / (_GRID[n_free] - 1) / 2.0
    steps = np.where(start + steps > bounds[:, 1], -steps, steps)
    simplex = np.vstack([start, start + np.diag(steps)])
    options: Any = {"initial_simplex": simplex, "maxfev": _STEPS * n_free, "xatol": 0.02, "fatol": 1e-5}
    scipy.optimize.minimize(
        loss, start, method="Nelder-Mead", bounds=[(low, high) for low, high in bounds], options=options
    )
    return tried
