"""Springs against a repulsion that fades: ForceAtlas2 and the elastic embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Options, Real, Rule, check_parameters, message
from gnomon.kernels import Linear, Logarithmic
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.pairs import Edges
from gnomon.objectives.terms import AllPairs, ByDegree, EdgePairs, Gravity, Term

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["LinearAttraction"]

_RULES: dict[str, Rule] = {
    "repulsion_strength": Real(low=0.0),
    "gravity": Real(low=0.0),
    "charges": Options("degree", "uniform"),
    "evaluation": Options("auto", "exact", "tree"),
    "theta": Real(low=0.0, high=1.0),
}
_FAR, _FADED = 1e8, 0.5  # squared distance, and the share of a repulsion's slope at 1 that is left there at most


class LinearAttraction(PairObjective):
    """Every edge a spring, every pair of points repelling: summed over unordered pairs,

        loss = sum_{i<j} [ a_ij |y_i - y_j|^2 / 2 + g h_i h_j k_ij ].

    With k = -log |y_i - y_j| and charges h_i = degree + 1 this is ForceAtlas2: attraction a d, repulsion
    g h_i h_j / d. With a Gaussian kernel and equal charges it is the elastic embedding. Without repulsion it is the
    loss of Laplacian eigenmaps, which needs their constraint.

    Parameters
    ----------
    affinities : Affinities
        Strengths a_ij of the springs.
    kernel : OutputKernel, default=Logarithmic()
        Potential of the repulsion, which fades where points are far apart: with `Linear` there is no minimum.
    repulsion_strength : float >= 0, default=1.0
        g.
    gravity : float >= 0, default=0.0
        Adds gravity * sum_i h_i |y_i - c|^2, c the mean of the points by their charges: a pull to the middle, without
        which pieces of the graph drift apart. Two pieces then rest about sqrt(g sum_i h_i / (2 gravity)) apart.
    charges : {"degree", "uniform"}, default="degree"
        h_i: the sum of a point's springs plus 1, or 1; plus its mass, or its mass, where points stand for several rows.
    evaluation : {"auto", "exact", "tree"}, default="auto"
        How the repulsion is summed; "auto" takes the tree from 4000 points on.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.

    References
    ----------
    .. [1] Jacomy et al., "ForceAtlas2, a continuous graph layout algorithm", PLoS ONE 9, 2014.
    .. [2] Carreira-Perpinan, "The elastic embedding algorithm for dimensionality reduction", ICML 2010.
    .. [3] Böhm, Berens & Kobak, "Attraction-repulsion spectrum in neighbor embeddings", JMLR 23, 2022.
    """

    name = "linear_attraction"

    @entrance("LinearAttraction")
    def __init__(
        self,
        affinities: Affinities,
        kernel: OutputKernel | None = None,
        *,
        repulsion_strength: float = 1.0,
        gravity: float = 0.0,
        charges: str = "degree",
        evaluation: str = "auto",
        theta: float = 0.8,
    ) -> None:
        given = {
            "repulsion_strength": repulsion_strength,
            "gravity": gravity,
            "charges": charges,
            "evaluation": evaluation,
            "theta": theta,
        }
        checked = check_parameters(_RULES, given)
        self.kernel: OutputKernel = Logarithmic() if kernel is None else kernel
        if checked["repulsion_strength"]:
            _check_fades(self.kernel)
        edges = Edges.from_affinities(affinities)
        degrees = np.asarray(edges.degrees_in(affinities.matrix), dtype=affinities.matrix.dtype)
        masses = affinities.masses
        own = degrees.dtype.type(1.0) if masses is None else masses.astype(degrees.dtype)  # of a point without springs
        h = degrees + own if checked["charges"] == "degree" else np.broadcast_to(own, degrees.shape)
        # sums run over ordered pairs: half of everything, and -s / 2 is the linear kernel
        springs = EdgePairs(affinities.matrix, Linear(), "value", scale=-0.5, symmetric=affinities.symmetric)
        repulsion = AllPairs(
            edges.n_samples,
            self.kernel,
            "value",
            weights=(degrees.dtype.type(0.25 * checked["repulsion_strength"]) * h, h),
            by_degree=ByDegree(0.25 * checked["repulsion_strength"], 1.0) if checked["charges"] == "degree" else None,
            dtype=affinities.matrix.dtype.type,
            evaluation=checked["evaluation"],
            theta=checked["theta"],
        )
        self._strength, self._charges = checked["repulsion_strength"], None
        if checked["charges"] == "degree" or masses is not None:
            self._charges = h
        self._by_degree = checked["charges"] == "degree"
        self._degree = float(edges.degrees.mean(dtype=np.float64))
        self.gravity: float = checked["gravity"]
        self._mass = float(h.sum(dtype=np.float64))
        pulls: list[Term] = [springs]
        if self.gravity:
            pulls.append(Gravity(h, self.gravity, of_degrees=checked["charges"] == "degree"))
        unit = float(edges.values.sum(dtype=np.float64))
        super().__init__(pulls, [repulsion], masses=masses, added_unit=unit)

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return the energy of a new point divided by the strength of its springs, of which its charge is the sum."""
        springs = self._degree if degree is None else degree
        charges = None if self._charges is None else self._charges.astype(np.float64)
        own = springs + 1.0 if self._by_degree else 1.0
        repulsions = [Repulsion(self.kernel, "value", self._strength * own / springs, charges=charges)]
        if self.gravity:  # h |y - c|^2 is a sum over all points but for a constant; -s / 2 is the linear kernel
            strength = -2.0 * self.gravity * own / (springs * self._mass)
            repulsions.append(Repulsion(Linear(), "value", strength, charges=charges))
        return RowLoss((PairTerm(Linear(), "value", -1.0),), tuple(repulsions))


def _check_fades(kernel: OutputKernel) -> None:
    """Raise ValueError if a repulsion still pushes as springs pull where points are far apart."""
    near, far = (float(slope) for slope in kernel.derivative(np.array([1.0, _FAR])))
    if far < 0.0 and far <= _FADED * near:
        rule = "a repulsion that fades with the distance, as springs grow with it"
        fact = f"k' is {near:.3g} at a squared distance of 1 and {far:.3g} at {_FAR:.0e}, so the loss has no minimum"
        remedy = "Use Logarithmic() or Gaussian()."
        raise ValueError(message(f"kernel={type(kernel).__name__}", rule, fact=fact, remedy=remedy))
