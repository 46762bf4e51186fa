"""A recommendation: method and parameters, why these, and the curves that the choice rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon._entrance import entrance
from gnomon.comparison.result import Comparison
from gnomon.comparison.trials import Request, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    default, chosen : object
        The method's default, and the value taken for the method.
    """

    method: str
    parameter: str
    values: tuple[Any, ...]
    criterion: tuple[float, ...]
    trustworthiness: tuple[float, ...]
    default: Any
    chosen: Any


@dataclass(frozen=True, repr=False, eq=False)
class Recommendation:
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
        Differences of the criterion up to this one count as none.
    intrinsic_dimension : float
        Coordinates that the data need.
    """

    method: str
    parameters: dict[str, Any]
    n_components: int
    reasons: tuple[str, ...]
    curves: tuple[Curve, ...]
    comparison: Comparison = field(repr=False)
    chosen: Trial = field(repr=False)
    runner_ups: tuple[Trial, ...] = field(repr=False)
    refused: tuple[str, ...]
    criterion: str
    tolerance: float
    intrinsic_dimension: float

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
    def plot(self) -> Figure:
        """Draw the curves and the recommended map.

        Returns
        -------
        matplotlib Figure
        """
        from gnomon.plot import plot_recommendation

        return plot_recommendation(self)
