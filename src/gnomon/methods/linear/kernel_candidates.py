"""What the choice of a kernel found: the best kernel of each family, and the one to take."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.kernels import InputKernel

if TYPE_CHECKING:
    from gnomon.plot import GridDisplay

__all__ = ["KernelCandidate", "KernelSelection"]


@dataclass(frozen=True)
class KernelCandidate:
    """A kernel and what its leading components are worth.

    Attributes
    ----------
    label : str
        Names it in tables and figures.
    kernel : InputKernel
        For `KernelPCA`.
    n_parameters : int
        Those that were searched, and the degree of a polynomial: 0 for "linear", "cosine" and kernels that were given.
    ratio : float in [0, 1]
        Sum of the n_components largest eigenvalues of the centred Gram matrix over that of all positive ones.
    fidelity : float
        Mean of order and position, 1 at best.
    fidelity_error : float
        Its standard error over the rows, as if they were independent.
    order : float
        Mean area under R_NX of rows held out: how far the scores keep geodesic neighbourhoods of every size, 1 at best
        and about 0 for random ones.
    position : float
        Share of the variance of the geodesic positions of rows held out, their distances to all others, that the mean
        of their nearest rows in the map explains: 1 at best, below 0 where the mean of all rows does better.
    negative_inertia : float
        Share of the negative eigenvalues in the sum of all magnitudes.
    n_trials : int
        Parameters tried.
    on_front : bool
        Whether no other candidate has both a higher ratio and a higher fidelity.
    spectrum : ndarray of shape (n_values,)
        Largest eigenvalues over the sum of the positive ones.
    """

    label: str
    kernel: InputKernel
    n_parameters: int
    ratio: float
    fidelity: float
    fidelity_error: float
    order: float
    position: float
    negative_inertia: float
    n_trials: int
    on_front: bool
    spectrum: npt.NDArray[np.float64] = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the kernel, as `KernelPCA` takes it; "custom" for a function of yours."""
        return self.kernel.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the kernel, as ``kernel_params`` of `KernelPCA` takes them."""
        values: Any = self.kernel
        known = fields(values) if is_dataclass(values) else ()
        return {one.name: getattr(values, one.name) for one in known}

    @property
    def product(self) -> float:
        """Ratio times fidelity."""
        return self.ratio * self.fidelity


@dataclass(frozen=True, repr=False)
class KernelSelection(Printed):
    """Kernels for one table, by spectrum and by fidelity. Made by `select_kernel`.

    Attributes
    ----------
    table : tuple of KernelCandidate
        The best of each family in the order they were asked for.
    best : KernelCandidate
        The one to take by `rule`; ``KernelPCA(selection.n_components, kernel=selection.best.kernel)`` takes it.
    pca : KernelCandidate
        Ordinary PCA, whether it was among the candidates or not.
    rule : {"simplest", "product"}
        How the best was chosen.
    tolerance : float
        Fidelity below the highest that "simplest" allows: one standard error of the highest, at least 0.01.
    n_components : int
        Components whose eigenvalues and scores were judged.
    intrinsic_dimension : float
        Estimated from the distances to the nearest 15 rows.
    n_samples, n_rows : int
        Rows given, and rows looked at.
    n_neighbors : int
        Of the graph along which geodesic distances run, and in the map.
    by_direction : bool
        Whether lengths of rows were found to be a nuisance, so that geodesic distances are those of rows of length 1.
    seed : int
        Chose the rows.
    """

    table: tuple[KernelCandidate, ...]
    best: KernelCandidate
    pca: KernelCandidate
    rule: str
    tolerance: float
    n_components: int
    intrinsic_dimension: float
    n_samples: int
    n_rows: int
    n_neighbors: int
    by_direction: bool
    seed: int

    def __repr__(self) -> str:
        return f"KernelSelection({self.best.label!r} of {len(self.table)}, n_components={self.n_components})"

    @property
    def pareto(self) -> tuple[KernelCandidate, ...]:
        """The candidates on the Pareto front, by falling ratio."""
        return tuple(sorted((one for one in self.table if one.on_front), key=lambda one: -one.ratio))

    @property
    def spectra(self) -> dict[str, npt.NDArray[np.float64]]:
        """The spectrum of each candidate by its label."""
        return {one.label: one.spectrum for one in self.table}

    def plot(self, **options: Any) -> GridDisplay:
        """Draw the spectra and the Pareto front, see `gnomon.plot.plot_spectra`."""
        from gnomon.plot import plot_spectra

        return plot_spectra(self, **options)

    def summary(self) -> str:
        """Return the candidates as a table, and which is recommended by what rule."""
        width = max(len(one.label) for one in self.table) + 3
        lines = [f"{'':{width}}{'free':>5}{'ratio':>8}{'fidelity':>10}{'error':>8}{'order':>8}{'position':>10}"]
        for one in self.table:
            mark = "* " if one is self.best else "+ " if one.on_front else "  "
            lines.append(
                f"{mark + one.label:{width}}{one.n_parameters:5d}{one.ratio:8.3f}{one.fidelity:10.3f}"
                f"{one.fidelity_error:8.3f}{one.order:8.3f}{one.position:10.3f}"
            )
        rule = "the highest product of ratio and fidelity"
        if self.rule == "simplest":
            rule = f"of fidelity within {self.tolerance:.3f} of the highest: fewest free parameters, then highest ratio"
        lines.append(f"* {rule}; + not surpassed in both")
        rows = "all rows" if self.n_rows == self.n_samples else f"{self.n_rows:,} of {self.n_samples:,} rows"
        lines.append(
            f"{self.n_components} components; intrinsic dimension about {self.intrinsic_dimension:.1f}; {rows}, each "
            f"held out once; paths over {self.n_neighbors} neighbours; random_state={self.seed}"
        )
        if self.by_direction:
            lines.append("lengths of rows say nothing here: judged by paths between rows scaled to length 1")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()
