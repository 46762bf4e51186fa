"""Tables as they are measured, of unlike units, counted or binary, whose driving features are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchmarks.known_drivers.manifolds import DrivenManifold
from gnomon._entrance import entrance
from gnomon._random import RandomState, resolve_seed
from gnomon._validation import Integer, Options, check_parameters, message

__all__ = ["TABLES", "driven_table"]

TABLES = ("clean", "units", "counts", "low depth", "binary")
"""The kinds that `driven_table` knows."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_STREAM = 312
_DRIVERS = 6  # features of each cluster
_NOISE = 0.25  # of "clean" and "units", beside signals of standard deviation 0.6
_SLOPE = 2.4  # length of the slope of each driver in its latent coordinates, which lie in [-1/2, 1/2]
_STEEP = 9.0  # the same of the log odds of "binary"
_BETWEEN = 0.5  # standard deviation between the clusters of each feature's level
_BETWEEN_BINARY = 1.0  # the same of log odds
_DECADES = 4.0  # decades between the largest and the least unit of "units"
_MEAN_COUNT = 6.0  # typical count of "counts"
_DEPTH = 0.2  # that of "low depth" beside it
_SHAPE = 3.0  # of the gamma distribution of the rates
_MOST = 4000  # counts whose probability is summed

Level = Callable[[Floats], tuple[Floats, Floats]]


def _expected_log_count() -> Level:
    """Return log rate -> mean of log(1 + count) of a gamma-Poisson count, and its derivative."""
    from scipy.interpolate import CubicSpline
    from scipy.stats import nbinom

    grid, counts = np.linspace(-9.0, 6.0, 301), np.arange(_MOST)
    chance = nbinom.pmf(counts, _SHAPE, (_SHAPE / (_SHAPE + np.exp(grid)))[:, None])
    curve = CubicSpline(grid, chance @ np.log1p(counts))
    return lambda level: (curve(level), curve(level, 1))


def _expected_binary(level: Floats) -> tuple[Floats, Floats]:
    chance = 1.0 / (1.0 + np.exp(-level))
    return chance, chance * (1.0 - chance)


def _measure(rng: np.random.Generator, kind: str, level: Floats, units: Floats) -> tuple[Floats, Level]:
    """Return what is measured of the levels, and its mean and derivative as a function of the levels."""
    if kind in ("clean", "units"):
        noisy = level + _NOISE * rng.normal(size=level.shape)
        return noisy * units, lambda wanted: (wanted * units, np.broadcast_to(units, wanted.shape))
    if kind == "binary":
        return (rng.random(level.shape) < _expected_binary(level)[0]).astype(np.float64), _expected_binary
    rates = np.exp(level) * rng.gamma(_SHAPE, 1.0 / _SHAPE, size=level.shape)
    return np.log1p(rng.poisson(rates)).astype(np.float64), _expected_log_count()


@entrance("driven_table")
def driven_table(
    kind: str,
    n_samples: int = 2000,
    *,
    n_features: int = 60,
    n_clusters: int = 4,
    random_state: RandomState = 0,
) -> DrivenManifold:
    """Draw clusters of rows, each driven along two latent coordinates by six features of its own.

    All other features stay at the cluster's level but for the noise of the measurement. `u` are the true latent
    coordinates; `u` with the clusters set apart is the map that an explanation finds easiest.

    Parameters
    ----------
    kind : {"clean", "units", "counts", "low depth", "binary"}
        "clean": normal noise. "units": the same in columns whose units differ by up to 10,000. "counts": log(1 + c)
        of gamma-Poisson counts. "low depth": the same at a fifth of the rates. "binary": draws of zero and one.
    n_samples : int >= 30, default=2000
    n_features : int, default=60
        At least six for each cluster.
    n_clusters : int >= 2, default=4
    random_state : int, Generator, RandomState or None, default=0
        Seed of everything drawn.

    Returns
    -------
    DrivenManifold
        Its surface is the mean of what is measured, and its noise what is measured beyond.
    """
    rules = {"kind": Options(*TABLES), "n_samples": Integer(30), "n_features": Integer(12), "n_clusters": Integer(2)}
    given = {"kind": kind, "n_samples": n_samples, "n_features": n_features, "n_clusters": n_clusters}
    check_parameters(rules, given)
    if n_features < _DRIVERS * n_clusters:
        raise ValueError(message(f"n_features={n_features}", f"at least {_DRIVERS} * n_clusters={n_clusters}"))
    rng = np.random.default_rng((resolve_seed(random_state), _STREAM, TABLES.index(kind)))
    regions = (np.arange(n_samples) * n_clusters // n_samples).astype(np.int32)
    u = rng.uniform(-0.5, 0.5, (n_samples, 2))
    owner = np.full(n_features, -1)
    owner[: _DRIVERS * n_clusters] = np.repeat(np.arange(n_clusters), _DRIVERS)
    owner = rng.permutation(owner)
    angles = rng.uniform(0.0, 2.0 * np.pi, n_features)
    steep = _STEEP if kind == "binary" else _SLOPE
    loadings = steep * np.column_stack([np.cos(angles), np.sin(angles)])
    levels = (_BETWEEN_BINARY if kind == "binary" else _BETWEEN) * rng.normal(size=(n_clusters, n_features))
    if kind in ("counts", "low depth"):
        levels += np.log(_MEAN_COUNT * (_DEPTH if kind == "low depth" else 1.0))
    units = 10.0 ** rng.uniform(0.0, _DECADES, n_features) if kind == "units" else np.ones(n_features)

    def level(u: Floats, regions: Ints) -> Floats:
        found: Floats = levels[regions] + (u @ loadings.T) * (owner == regions[:, None])
        return found

    X, mean = _measure(rng, kind, level(u, regions), units)
    expected, rate = mean(level(u, regions))
    drivers = owner == regions[:, None]
    return DrivenManifold(
        name=kind,
        X=X,
        regions=regions,
        pieces=regions.copy(),
        u=u,
        drivers=drivers,
        faint=np.zeros_like(drivers),
        derivative=(rate * drivers)[:, :, None] * loadings,
        noise=X - expected,
        signal_to_noise=float(np.var(expected - _cluster_means(expected, regions)) / np.var(X - expected)),
        surface=lambda u, regions: mean(level(u, regions))[0],
    )


def _cluster_means(values: Floats, regions: Ints) -> Floats:
    return np.array([values[regions == r].mean(axis=0) for r in np.unique(regions)])[regions]
