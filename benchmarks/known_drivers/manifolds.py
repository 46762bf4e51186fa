"""Data whose driving features are known, region by region: what an explanation of a map has to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from benchmarks.known_drivers.surfaces import JOINED, SEPARATE, Ints, Values, tangent
from gnomon._entrance import entrance
from gnomon._random import RandomState, resolve_seed
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.data.scaling import Scaling

__all__ = ["MANIFOLDS", "DrivenManifold", "driven_manifold"]

MANIFOLDS = (*SEPARATE, *JOINED)
"""The shapes that `driven_manifold` knows."""

_STREAM = 310
_SPREAD = 3.0  # variance between the pieces, in units of the largest variance within them
_FAINT = 0.2  # below this share of the typical derivative at a point a driving feature stands still

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DrivenManifold:
    """Rows on a surface of two dimensions in regions, each moved by features of its own, with noise in all features.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features), float64
        The data. All features have variance 1 over the whole table, whatever they do in a region.
    regions : ndarray of shape (n_samples,), int32
        Region of each row; -1 for rows that hold noise alone and are there to give all features the same variance.
    pieces : ndarray of shape (n_samples,), int32
        Connected piece of each row: regions of one piece touch.
    u : ndarray of shape (n_samples, 2), float64
        Coordinates on the surface; 0 for rows of region -1.
    drivers : ndarray of shape (n_samples, n_features), bool
        Features that move the row when it moves on the surface: those of its region, where their derivative is not
        below a fifth of the root mean square derivative of the region's features.
    faint : ndarray of shape (n_samples, n_features), bool
        Features of the region that stand (almost) still at the row, as a sine does at its crest: neither drivers nor
        others.
    derivative : ndarray of shape (n_samples, n_features, 2), float64
        dx/du at each row: zero for features that do not drive it.
    noise : ndarray of shape (n_samples, n_features), float64
        What was added to the surface; independent and normal.
    signal_to_noise : float
        For each feature, its variance in the region that it drives, without noise, over that of its noise.
    surface : callable
        (coordinates of shape (n_rows, 2), region of each row) -> the rows there, without noise.
    """

    name: str
    X: Floats
    regions: npt.NDArray[np.int32]
    pieces: npt.NDArray[np.int32]
    u: Floats
    drivers: npt.NDArray[np.bool_]
    faint: npt.NDArray[np.bool_]
    derivative: Floats
    noise: Floats
    signal_to_noise: float
    surface: Callable[[Floats, npt.NDArray[np.int32]], Floats] = field(repr=False)

    @property
    def on_surface(self) -> npt.NDArray[np.int64]:
        """Numbers of the rows that lie in a region."""
        return np.flatnonzero(self.regions >= 0)

    def metric(self) -> Floats:
        """Return the inner products of the tangent vectors, (n_samples, 2, 2); the identity off the surface."""
        G: Floats = np.einsum("ifa,ifb->iab", self.derivative, self.derivative)
        G[self.regions < 0] = np.eye(2)
        return G

    def extent(self) -> float:
        """Return the root mean square distance of the rows, without noise, from the middle of their region."""
        on = self.on_surface
        clean, regions = self.X[on] - self.noise[on], self.regions[on]
        parts = [clean[regions == r] for r in np.unique(regions)]
        return float(np.sqrt(sum(np.sum((part - part.mean(axis=0)) ** 2) for part in parts) / len(on)))

    def directions(self) -> Floats:
        """Return du for a unit step in each feature projected on the tangent space, (n_samples, n_features, 2).

        It is ``G^-1 dx_f/du`` with G the metric: of all moves of its length, the one in which feature f grows most.
        """
        inverse = np.linalg.inv(self.metric())
        found: Floats = self.derivative @ inverse
        return found

    def push(
        self, rows: npt.NDArray[np.int64], features: npt.NDArray[np.int64], length: float
    ) -> tuple[Floats, Floats]:
        """Move rows along the surface in the direction in which a feature grows.

        Parameters
        ----------
        rows, features : ndarray of shape (m,)
            The rows, and for each the feature that drives the move.
        length : float
            Length of the move in the tangent space, in units of the data.

        Returns
        -------
        X : ndarray of shape (m, n_features)
            The moved rows, each with the noise that it had.
        u : ndarray of shape (m, 2)
            Their coordinates.
        """
        step = self.directions()[rows, features]
        size = np.sqrt(np.einsum("ma,mab,mb->m", step, self.metric()[rows], step))
        u = self.u[rows] + length * step / size[:, None]
        return self.surface(u, self.regions[rows]) + self.noise[rows], u

    def standardised(self, scaling: Scaling) -> DrivenManifold:
        """Return the same rows with standardised features; lengths and tangents are then in these units."""
        spread = scaling.spread
        return replace(
            self,
            name=f"{self.name}, standardised",
            X=scaling.apply(self.X),
            derivative=self.derivative / spread[:, None],
            noise=self.noise / spread,
            surface=lambda u, regions: (self.surface(u, regions) - scaling.center) / spread,
        )


def _coordinates(name: str, n_regions: int) -> Callable[[Values, Ints], Values]:
    """Return the map from (m, 2) surface coordinates and (m,) regions to (m, n_regions, p) coordinates.

    The coordinates of a region are constant on the others.
    """
    if name in JOINED:
        joined = JOINED[name].shape
        return lambda u, regions: joined(u, regions, n_regions)
    separate = SEPARATE[name].shape

    def blocks(u: Values, regions: Ints) -> Values:
        shape = separate(u)
        found = np.zeros((len(u), n_regions, shape.shape[1]), dtype=shape.dtype)
        found[np.arange(len(u)), regions] = shape
        return found

    return blocks


def _split(name: str, n_samples: int, n_regions: int) -> tuple[Ints, Ints]:
    """Return region and piece of each row: parts of equal size, for a joined surface with two of noise alone."""
    if name not in JOINED:
        regions = (np.arange(n_samples) * n_regions // n_samples).astype(np.int32)
        return regions, regions.copy()
    n_surface = n_samples - 2 * round(0.1 * n_samples)
    regions = np.full(n_samples, -1, np.int32)
    regions[:n_surface] = np.arange(n_surface) * n_regions // n_surface
    pieces = np.zeros(n_samples, np.int32)
    pieces[n_surface:] = 1 + np.arange(n_samples - n_surface) % 2
    return regions, pieces


def _draw_coordinates(rng: np.random.Generator, name: str, regions: Ints, n_regions: int) -> Floats:
    bounds = JOINED[name] if name in JOINED else SEPARATE[name]
    u: Floats = rng.uniform(bounds.low, bounds.high, (len(regions), 2))
    if name == "ribbon":  # its regions are the parts of its length
        u[:, 0] = (regions + u[:, 0]) / n_regions
    u[regions < 0] = 0.0
    return u


def _loadings(rng: np.random.Generator, blocks: Floats, regions: Ints, n_features: int) -> Floats:
    """Return what each feature takes of each coordinate, (n_features, n_regions, p): of those of one region alone.

    The direction is random; the feature has variance 1 in its region.
    """
    n_regions, p = blocks.shape[1:]
    owner = rng.permutation(np.arange(n_features) % n_regions)
    loadings = np.zeros((n_features, n_regions, p))
    for f, r in enumerate(owner):
        direction = rng.normal(size=p)
        loadings[f, r] = direction / np.std(blocks[regions == r, r] @ direction)
    return loadings


def _level(rng: np.random.Generator, X: Floats, pieces: Ints) -> tuple[Floats, float]:
    """Return the shift of each piece, (n_pieces, n_features), that gives all features one variance, and its root."""
    share = np.bincount(pieces) / len(pieces)
    means = np.array([X[pieces == c].mean(axis=0) for c in range(len(share))])
    within = np.mean((X - means[pieces]) ** 2, axis=0)
    goal = (1.0 + _SPREAD) * within.max()
    places = rng.normal(size=means.shape)
    places -= share @ places
    places *= np.sqrt((goal - within) / (share @ places**2))
    return places - means, float(np.sqrt(goal))


@entrance("driven_manifold")
def driven_manifold(
    name: str,
    n_samples: int = 1500,
    *,
    n_features: int = 60,
    signal_to_noise: float = 10.0,
    n_regions: int = 3,
    random_state: RandomState = 0,
) -> DrivenManifold:
    """Draw rows from a surface whose regions are driven by different, known features.

    Each feature drives one region and is constant on the others; every feature carries noise of one size everywhere.
    The pieces lie so far apart, and so placed, that all features have the same variance over the table: the variance
    of a feature says nothing about where it matters.

    Parameters
    ----------
    name : str
        "sheets", "rolls", "s_curves", "cylinders", "caps" or "tori": one curved piece for each region. "ribbon": one
        piece, whose drivers change along its length. "tree": one piece, branches that meet in a point.
    n_samples : int >= 30, default=1500
        Rows; of "ribbon" and "tree" a fifth hold noise alone.
    n_features : int >= 12, default=60
        Of which each region has an equal share.
    signal_to_noise : float > 0, default=10.0
        Variance of a feature in the region that it drives over the variance of its noise.
    n_regions : int >= 2, default=3
        Regions, of equally many rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of everything drawn.

    Returns
    -------
    DrivenManifold
    """
    rules: dict[str, Rule] = {
        "name": Options(*MANIFOLDS),
        "n_samples": Integer(30),
        "n_features": Integer(12),
        "signal_to_noise": Real(0.0, low_open=True),
        "n_regions": Integer(2),
    }
    given = {
        "name": name,
        "n_samples": n_samples,
        "n_features": n_features,
        "signal_to_noise": signal_to_noise,
        "n_regions": n_regions,
    }
    checked = check_parameters(rules, given)
    if checked["n_features"] < 4 * checked["n_regions"]:
        rule = f"at least 4 * n_regions={4 * n_regions}"
        raise ValueError(message(f"n_features={n_features}", rule))
    rng = np.random.default_rng((resolve_seed(random_state), _STREAM))
    return _draw(rng, **checked)


def _draw(
    rng: np.random.Generator, *, name: str, n_samples: int, n_features: int, signal_to_noise: float, n_regions: int
) -> DrivenManifold:
    regions, pieces = _split(name, n_samples, n_regions)
    u = _draw_coordinates(rng, name, regions, n_regions)
    blocks = _coordinates(name, n_regions)
    on = np.flatnonzero(regions >= 0)
    loadings = _loadings(rng, blocks(u[on], regions[on]), regions[on], n_features)

    def bare(u: Values, regions: Ints) -> Values:
        found: Values = np.einsum("irp,frp->if", blocks(u, regions), loadings)
        return found

    clean = np.zeros((n_samples, n_features))
    clean[on] = bare(u[on], regions[on])
    noise = rng.normal(size=clean.shape) / np.sqrt(signal_to_noise)
    shifts, scale = _level(rng, clean + noise, pieces)
    derivative = np.zeros((n_samples, n_features, 2))
    derivative[on] = tangent(lambda v: bare(v, regions[on]), u[on]) / scale
    piece_of_region = np.array([pieces[regions == r][0] for r in range(n_regions)])
    size = np.linalg.norm(_unit_directions(derivative), axis=2)
    typical = np.sqrt(np.sum(size**2, axis=1) / np.maximum(np.sum(size > 0, axis=1), 1))
    moving = size >= _FAINT * typical[:, None]
    moving[regions < 0] = False
    return DrivenManifold(
        name=name,
        X=(clean + noise + shifts[pieces]) / scale,
        regions=regions,
        pieces=pieces,
        u=u,
        drivers=moving,
        faint=(size > 0) & ~moving,
        derivative=derivative,
        noise=noise / scale,
        signal_to_noise=signal_to_noise,
        surface=lambda u, regions: (bare(u, regions) + shifts[piece_of_region[regions]]) / scale,
    )


def _unit_directions(derivative: Floats) -> Floats:
    """Return the derivative of each feature along orthonormal directions of the tangent space."""
    G = np.einsum("ifa,ifb->iab", derivative, derivative)
    G[~np.any(derivative, axis=(1, 2))] = np.eye(2)
    root = np.linalg.cholesky(G)
    found: Floats = np.swapaxes(np.linalg.solve(root, np.swapaxes(derivative, 1, 2)), 1, 2)
    return found
