"""What a comparison maps by: names of methods, and estimators that people give, ours or any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gnomon._estimator import Estimator, changed_parameters, copied, unseeded
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.comparison.trials import SEEDS, Request, neighbors_of, requests_of

__all__ = ["Given", "requests_of_all"]

_NOT_NAMED = ("callback", "n_jobs", "random_state", "verbose")  # which change no map, or the seed alone


@dataclass(frozen=True)
class Given:
    """A map to be made by an estimator, as `Request` is one by the name of a method."""

    name: str
    given: Any
    n_components: int
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The class of the estimator."""
        return type(self.given).__name__

    def estimator(self, *, random_state: int, n_jobs: int) -> Any:
        """Return a copy that is not fitted; where it has a seed that of the first map is its own."""
        if not _has_parameters(self.given):
            return self.given
        made, own = copied(self.given), getattr(self.given, "random_state", None)
        if isinstance(own, int | np.integer):
            made.random_state = (int(own) + random_state - current_run().seed) % SEEDS
        made.set_params(**dict.fromkeys(unseeded(made), random_state))
        if isinstance(made, Estimator) and getattr(made, "n_jobs", 0) is None:
            made.set_params(n_jobs=n_jobs)
        return made

    def in_metric(self, metric: str) -> Given:
        """Return it as it is: an estimator has a metric of its own."""
        return self

    def n_neighbors(self, n_samples: int, metric: str = "euclidean") -> int | None:
        """Return the neighbours that it looks for in so many rows where a graph by a metric can serve it, else None."""
        if not isinstance(self.given, Estimator):
            return None
        own = self.given.get_params(deep=False)
        taken = own.get("precomputed_knn", own) is None and own.get("blocks") is None
        return neighbors_of(self.given, own.get("metric"), n_samples, metric) if taken else None


def requests_of_all(
    methods: Any, parameters: Mapping[str, Mapping[str, Any]] | None, n_components: int
) -> list[Request | Given]:
    """Return every map that is asked for, of names as `requests_of` does, and one of each estimator.

    Parameters
    ----------
    methods : str, estimator, sequence of these, or mapping of names to them
    parameters : as of `requests_of`
    n_components : int
        Of all maps.
    """
    entries = _entries(methods)
    named = requests_of([one for _, one in entries if isinstance(one, str)], parameters, n_components, others=True)
    found: list[Request | Given] = []
    for label, one in entries:
        if isinstance(one, str):
            found += [replace(request, label=label) for request in named if request.method == one]
        else:
            found.append(_given(label, one, n_components))
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        remedy = "Pass a dict with a name for each."
        raise ValueError(message("methods", "maps of different names", fact=f"{twice[0]!r:.80} twice", remedy=remedy))
    if not found:
        raise ValueError(message("methods", "at least one name or estimator", fact="it is empty"))
    return found


def _entries(methods: Any) -> list[tuple[str, Any]]:
    """Return names and methods, "" for a method without a name of its own."""
    if isinstance(methods, Mapping):
        return [(str(name), one) for name, one in methods.items()]
    if isinstance(methods, str) or _maps(methods):
        return [("", methods)]
    if isinstance(methods, type) or not isinstance(methods, Sequence):
        rule = "names, estimators, or a dict of names and these"
        raise TypeError(message(f"methods={methods!r:.60}", rule, fact=f"found {type(methods).__name__}"))
    return [("", one) for one in methods]


def _maps(one: Any) -> bool:
    return not isinstance(one, type) and callable(getattr(one, "fit_transform", None))


def _has_parameters(one: Any) -> bool:
    return all(callable(getattr(one, name, None)) for name in ("get_params", "set_params"))


def _given(label: str, one: Any, n_components: int) -> Given:
    kind = type(one).__name__
    if not _maps(one):
        is_class = isinstance(one, type)
        fact, remedy = ("a class", f"Pass {one.__name__}().") if is_class else (f"found {kind}", "")
        what = f"methods with {one.__name__ if is_class else repr(one):.60}"
        raise TypeError(message(what, "names, or objects with fit_transform", fact=fact, remedy=remedy))
    own = getattr(one, "n_components", n_components)
    if isinstance(own, int | np.integer) and own != n_components:
        remedy = f"Pass n_components={own}, or set that of the estimator."
        what = f"n_components={own} of {label or kind}"
        raise ValueError(message(what, f"{n_components}, as of all maps", remedy=remedy))
    changed = changed_parameters(one) if _has_parameters(one) else {}
    shown = {
        key: value if isinstance(value, int | float | str | bool) else f"{value!r:.60}"
        for key, value in changed.items()
        if key not in (*_NOT_NAMED, "n_components")
    }
    name = label or ", ".join([kind, *(f"{key}={value}" for key, value in shown.items())])
    return Given(name, one, n_components, shown)
