"""A recommendation: method and parameters, why these, and the curves that the choice rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon.comparison.result import Comparison
from gnomon.comparison.trials import Request, Trial

if TYPE_CHECKING:
    from gnomon.plot import GridDisplay

__all__ = ["Curve", "Recommendation"]


@dataclass(frozen=True)
class Curve:
    """The criterion over one parameter of a method, the others as chosen before.

    Attributes
    ----------
    method, parameter : str
    values : tuple
        Values of the parameter, ascending.
    criterion, trustworthiness : tuple of float
        Of the map at each value, means over the seeds.
    n_seeds : tuple of int
        Seeds that the map at each value was made with; those of the worse half with one alone.
    default, chosen : object
        The method's default, and the value taken for the method.
    """

    method: str
    parameter: str
    values: tuple[Any, ...]
    criterion: tuple[float, ...]
    trustworthiness: tuple[float, ...]
    n_seeds: tuple[int, ...]
    default: Any
    chosen: Any

    @classmethod
    def of(cls, criterion: str, parameter: str, values: Sequence[Any], trials: Sequence[Trial], taken: int) -> Self:
        """Return the curve of maps at some values, of which the one at this place was taken."""
        return cls(
            method=trials[0].method,
            parameter=parameter,
            values=tuple(values),
            criterion=tuple(one.scores[criterion] for one in trials),
            trustworthiness=tuple(one.scores["trustworthiness"] for one in trials),
            n_seeds=tuple(one.n_seeds for one in trials),
            default=Request(trials[0].method).default(parameter, len(trials[0].embedding)),
            chosen=values[taken],
        )


@dataclass(frozen=True, repr=False, eq=False)
class Recommendation(Printed):
    """Which method and parameters to map a table with. Made by `gnomon.recommend`.

    Attributes
    ----------
    method : str
        As in `gnomon.methods.METHODS` and for `gnomon.map`.
    parameters : dict of str to object
        Those that are not the method's defaults.
    n_components : int
        Dimension of the map.
    reasons : tuple of str
        Sentences: what was measured, what was chosen and by which rule.
    curves : tuple of Curve
        The criterion over each parameter that was searched.
    comparison : Comparison
        All maps tried; ``comparison.maps`` has their positions.
    chosen : Trial
        The map of the recommendation.
    runner_ups : tuple of Trial
        The other maps allowed by the rule of trust, the best first.
    refused : tuple of str
        Names of maps that the rule of trust refuses.
    criterion : str
        The measure that maps were chosen by.
    tolerance : float
        The difference of the criterion that counts as none between the best map and the chosen one.
    intrinsic_dimension : float
        Coordinates that the data need; nan where their distinct rows are too few to tell.
    rows : ndarray of int64
        Rows of the table that were mapped, ascending: all, or a random sample of a long table.
    """

    method: str
    parameters: dict[str, Any]
    n_components: int
    reasons: tuple[str, ...]
    curves: tuple[Curve, ...]
    comparison: Comparison
    chosen: Trial
    runner_ups: tuple[Trial, ...]
    refused: tuple[str, ...]
    criterion: str
    tolerance: float
    intrinsic_dimension: float
    rows: npt.NDArray[np.int64]

    def estimator(self, **settings: Any) -> Any:
        """Return the recommended estimator, not fitted.

        Parameters
        ----------
        **settings
            Further parameters, such as ``random_state``.
        """
        return Request(self.method, self.parameters, self.n_components).estimator(**settings)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the embeddings, with plain Python values."""
        return {
            "method": self.method,
            "parameters": self.parameters,
            "n_components": self.n_components,
            "criterion": self.criterion,
            "tolerance": self.tolerance,
            "intrinsic_dimension": self.intrinsic_dimension,
            "n_rows": len(self.rows),
            "reasons": list(self.reasons),
            "curves": [
                {name: list(v) if isinstance(v, tuple) else v for name, v in vars(one).items()} for one in self.curves
            ],
            "runner_ups": [one.name for one in self.runner_ups],
            "refused": list(self.refused),
            "comparison": self.comparison.to_dict(),
        }

    def summary(self) -> str:
        """Return the recommendation, its reasons, the curves and the best of the other maps."""
        lines = [f"Use {self.chosen.name}.", *self.reasons, ""]
        for one in self.curves:
            lines.append(f"{one.method}, {self.criterion.replace('_', ' ')} over {one.parameter}")
            for value, found, trust in zip(one.values, one.criterion, one.trustworthiness, strict=True):
                mark = "  <- chosen" if value == one.chosen else "  (default)" if value == one.default else ""
                lines.append(f"  {value!s:>6}{found:8.3f}   trust {trust:.3f}{mark}")
        shown = [f"{one.name} ({one.scores[self.criterion]:.3f})" for one in self.runner_ups[:3]]
        if shown:
            lines.append(f"Next best: {'; '.join(shown)}.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Recommendation of {self.chosen.name}"

    @entrance("Recommendation.plot")
    def plot(self, **style: Any) -> GridDisplay:
        """Draw the curves and the recommended map.

        Parameters
        ----------
        **style
            As for `gnomon.plot.Display.plot`.

        Returns
        -------
        GridDisplay
        """
        from gnomon.plot import plot_recommendation

        return plot_recommendation(self, **style)
