"""What `metric_separation` found: which measure of similarity best tells two families of methods apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MetricSeparation"]

Floats = npt.NDArray[np.float64]

_NOTABLE = 0.1  # of Phi: a class that contributes less is not what is told apart


@dataclass(frozen=True)
class MetricSeparation:
    """How well each measure of similarity separates two classes of methods, Phi of equation (8).

    Phi is the mean similarity of two methods of one class, plus that of the other class, minus twice the mean
    similarity of two methods of different classes; in [-2, 2]. 0: the measure sees no classes. 2: embeddings of one
    class are the same, those of different classes unrelated.

    Attributes
    ----------
    metrics : tuple of str
        The measures, of largest `phi` first.
    phi : ndarray of shape (n_metrics,)
        Mean over the data sets.
    low, high : ndarray of shape (n_metrics,)
        Ends of the percentile confidence interval, from resampled data sets.
    within : ndarray of shape (n_metrics, 2)
        Mean similarity within each class; their sum less twice `between` is `phi`.
    between : ndarray of shape (n_metrics,)
    per_data_set : ndarray of shape (n_metrics, n_data_sets)
        Phi of each data set alone.
    without_method : dict of str to ndarray of shape (n_metrics,)
        Phi when one method is left out; NaN where too few of its class are left to form a pair.
    similarities : ndarray of shape (n_metrics, n_data_sets, n_methods, n_methods)
        Mean over pairs of runs; NaN where a method has no embedding of the data set. On the diagonal that of
        different runs of the method, NaN if there is one run; it has no part in `phi`.
    class_names : tuple of two str
    classes : dict of str to str
        The class of every method.
    methods, data_sets : tuple of str
        In the order of the arrays; the methods class by class.
    best_share : dict of str to float
        Share of resamples in which each measure has the largest Phi.
    chance_corrected, whitened : bool
        How similarities were formed.
    n_neighbors, n_bootstrap, random_state : int
    confidence : float
        Of the intervals.
    """

    metrics: tuple[str, ...]
    phi: Floats
    low: Floats
    high: Floats
    within: Floats
    between: Floats
    per_data_set: Floats = field(repr=False)
    without_method: dict[str, Floats] = field(repr=False)
    similarities: Floats = field(repr=False)
    class_names: tuple[str, str]
    classes: dict[str, str]
    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    best_share: dict[str, float]
    chance_corrected: bool
    whitened: bool
    n_neighbors: int
    n_bootstrap: int
    confidence: float
    random_state: int

    @property
    def best(self) -> str:
        """The measure of largest Phi, f* of the paper; no mixture of the measures has a larger one."""
        return self.metrics[0]

    @property
    def cohesion(self) -> Floats:
        """How much more alike each class is within than with the other, (n_metrics, 2); the sum of a row is `phi`."""
        return self.within - self.between[:, None]

    @property
    def changed_by(self) -> dict[str, str]:
        """Methods without which another measure would be the best, and that measure."""
        found = {}
        for method, phi in self.without_method.items():
            if np.isfinite(phi).all() and self.metrics[int(np.argmax(phi))] != self.best:
                found[method] = self.metrics[int(np.argmax(phi))]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {
            "best": self.best,
            **{name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in vars(self).items()},
            "without_method": {name: phi.tolist() for name, phi in self.without_method.items()},
            "changed_by": self.changed_by,
        }

    def summary(self) -> str:
        """Return the table of the measures and what it rests on."""
        one, two = self.class_names
        width = max(len(name) for name in self.metrics) + 2
        columns = [f"within {one}", f"within {two}", "between"]
        interval = f"{self.confidence:.0%} interval"
        lines = [
            f"{'measure':{width}}{'Phi':>7}{interval:>18}{'best':>7}"
            + "".join(f"{name:>{len(name) + 2}}" for name in columns)
        ]
        for i, name in enumerate(self.metrics):
            parts = (*self.within[i], self.between[i])
            between = f"[{self.low[i]:.2f}, {self.high[i]:.2f}]"
            lines.append(
                f"{name.replace('_', ' '):{width}}{self.phi[i]:7.3f}{between:>18}{self.best_share[name]:7.0%}"
                + "".join(f"{part:{len(column) + 2}.3f}" for part, column in zip(parts, columns, strict=True))
            )
        lines += ["", *self._conclusion()]
        return "\n".join(lines)

    def _conclusion(self) -> list[str]:
        members = [", ".join(m for m in self.methods if self.classes[m] == name) for name in self.class_names]
        best = self.best.replace("_", " ")
        lines = [f"{name}: {who}" for name, who in zip(self.class_names, members, strict=True)]
        lines.append(f"{len(self.data_sets)} data sets: {', '.join(self.data_sets)}")
        if self.low[0] > 0:
            lines.append(f"{best} separates the classes best, in {self.best_share[self.best]:.0%} of resamples.")
        else:
            lines.append(f"No measure separates the classes beyond the spread of the data sets ({best} comes closest).")
            return lines
        lines += [self._share_of(k) for k in (0, 1)]
        known = [method for method, phi in self.without_method.items() if np.isfinite(phi).all()]
        changed = self.changed_by
        if changed:
            lines += [f"Without {method} it would be {name.replace('_', ' ')}." for method, name in changed.items()]
        elif known:
            lines.append("No method that can be left out decides this.")
        if len(known) < len(self.methods):
            rest = ", ".join(method for method in self.methods if method not in known)
            lines.append(f"Cannot be left out, for lack of a pair in its class: {rest}.")
        return lines

    def _share_of(self, k: int) -> str:
        """Return what one class contributes to the largest Phi."""
        name, other = self.class_names[k], self.class_names[1 - k]
        numbers = f"{self.within[0, k]:.2f} among themselves, {self.between[0]:.2f} with the others"
        if self.cohesion[0, k] < _NOTABLE * self.phi[0]:
            return f"{name} maps form no family by it: no more alike each other than {other} ones ({numbers})."
        return f"{name} maps form a family by it ({numbers})."

    def __str__(self) -> str:
        return self.summary()
