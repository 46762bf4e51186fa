"""The kernels that were compared for kernel PCA, and the one to take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnomon.kernels import InputKernel

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
    ratio : float in [0, 1]
        Sum of the n_components largest eigenvalues of the centred Gram matrix over that of all positive ones.
    fidelity : float
        Area under R_NX: how far the scores keep neighbourhoods of every size, 1 at best and about 0 for random ones.
    trustworthiness, neighborhood_preservation : float
        As in `gnomon.Evaluation`, of the scores.
    negative_inertia : float
        Share of the negative eigenvalues in the sum of all magnitudes.
    on_front : bool
        Whether no other candidate has both a higher ratio and a higher fidelity.
    spectrum : ndarray of shape (n_values,)
        Largest eigenvalues over the sum of the positive ones.
    """

    label: str
    kernel: InputKernel
    ratio: float
    fidelity: float
    trustworthiness: float
    neighborhood_preservation: float
    negative_inertia: float
    on_front: bool
    spectrum: npt.NDArray[np.float64] = field(repr=False)

    @property
    def product(self) -> float:
        """Ratio times fidelity."""
        return self.ratio * self.fidelity


@dataclass(frozen=True, repr=False)
class KernelSelection:
    """Kernels for one table, by spectrum and by fidelity. Made by `select_kernel`.

    Attributes
    ----------
    table : tuple of KernelCandidate
        All candidates in the order they were asked for.
    best : KernelCandidate
        The one to take by `rule`; ``KernelPCA(selection.n_components, kernel=selection.best.kernel)`` takes it.
    pca : KernelCandidate
        Ordinary PCA, whether it was among the candidates or not.
    rule : {"constrained", "product"}
        How the best was chosen.
    n_components : int
        Components whose eigenvalues and scores were judged.
    intrinsic_dimension : float
        Estimated from the distances to the nearest 15 rows.
    n_samples, n_rows : int
        Rows given, and rows looked at.
    n_neighbors : int
        For trustworthiness and neighbourhood preservation.
    seed : int
        Chose the rows.
    """

    table: tuple[KernelCandidate, ...]
    best: KernelCandidate
    pca: KernelCandidate
    rule: str
    n_components: int
    intrinsic_dimension: float
    n_samples: int
    n_rows: int
    n_neighbors: int
    seed: int

    def __repr__(self) -> str:
        return f"KernelSelection({self.best.label!r} of {len(self.table)}, n_components={self.n_components})"

    @property
    def pareto(self) -> tuple[KernelCandidate, ...]:
        """The candidates on the front, by falling ratio."""
        return tuple(sorted((one for one in self.table if one.on_front), key=lambda one: -one.ratio))

    @property
    def spectra(self) -> dict[str, npt.NDArray[np.float64]]:
        """The spectrum of each candidate by its label."""
        return {one.label: one.spectrum for one in self.table}

    def plot(self, **options: Any) -> Figure:
        """Draw the spectra and the front, see `gnomon.plot.plot_spectra`."""
        from gnomon.plot import plot_spectra

        return plot_spectra(self, **options)

    def summary(self) -> str:
        """Return the candidates as a table, and which is recommended by what rule."""
        width = max(len(one.label) for one in self.table) + 3
        lines = [f"{'':{width}}{'ratio':>8}{'AUC':>8}{'product':>9}{'trust':>8}{'kept':>7}{'negative':>10}"]
        for one in self.table:
            mark = "* " if one is self.best else "+ " if one.on_front else "  "
            lines.append(
                f"{mark + one.label:{width}}{one.ratio:8.3f}{one.fidelity:8.3f}{one.product:9.3f}"
                f"{one.trustworthiness:8.3f}{one.neighborhood_preservation:7.3f}{one.negative_inertia:10.3f}"
            )
        rule = "the highest product of ratio and fidelity"
        if self.rule == "constrained":
            rule = f"the highest ratio among those that keep neighbourhoods as PCA does ({self.pca.fidelity:.3f})"
        lines.append(f"* {rule}; + not surpassed in both")
        rows = "all rows" if self.n_rows == self.n_samples else f"{self.n_rows} of {self.n_samples} rows"
        lines.append(
            f"{self.n_components} components; intrinsic dimension about {self.intrinsic_dimension:.1f}; {rows}; "
            f"{self.n_neighbors} neighbours; random_state={self.seed}"
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()
