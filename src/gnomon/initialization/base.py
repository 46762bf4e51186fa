"""The start of a layout and how it is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import SEED, Either, Integer, Nothing, Real, Rule, check_parameters, message, warn
from gnomon.affinities.base import Affinities
from gnomon.exceptions import ConvergenceWarning
from gnomon.initialization.spectral import spectral_start
from gnomon.initialization.starts import principal_start, random_start

__all__ = ["Initialization", "initialize"]

_OPTIONS = ("pca", "spectral", "random")
_RULES: dict[str, Rule] = {"n_components": Integer(1), "seed": SEED, "time_budget": Either(Nothing(), Real(0.0))}


@dataclass(frozen=True)
class Initialization:
    """Where the points start.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float32
        Finite. "spectral" and "random" lie within about [-10, 10]; "pca" has the units of the data; an array is as it
        was given. A method scales it to its convention by `rescale` or `rescale_to_box`.
    kind : {"pca", "spectral", "random", "array"}
        The start that was used, which a fall-back makes another one than was asked for.
    note : str or None
        What is out of the ordinary: a fall-back, disconnected components, columns filled with noise.
    """

    embedding: npt.NDArray[np.float32]
    kind: str
    note: str | None = None


@part("initialize")
def initialize(
    init: Any,
    *,
    X: Any = None,
    affinities: Affinities | None = None,
    n_components: int = 2,
    seed: int = 0,
    time_budget: float | None = None,
) -> Initialization:
    """Find a start for a layout.

    Parameters
    ----------
    init : {"pca", "spectral", "random"} or array-like of shape (n_samples, n_components)
        "pca": scores of `X` on its principal components. Columns beyond the rank of `X` are noise of 1e-4 of the
        spread of the first.
        "spectral": eigenvectors of the smallest eigenvalues of the normalised Laplacian of `affinities`, scaled to a
        largest coordinate of 10, plus normal noise of 1e-4, as in umap-learn. Connected components are laid out one by
        one (see `spectral_start`). Where eigenvectors do not exist or show no structure within the bulk of the points,
        the start falls back to "pca", or to "random" without `X`, with a `ConvergenceWarning`.
        "random": uniform in [-10, 10), a function of (seed, row).
    X : ndarray or CSR of shape (n_samples, n_features), or None, default=None
        Needed by "pca", used by "spectral" to place components.
    affinities : Affinities or None, default=None
        Needed by "spectral".
    n_components : int >= 1, default=2
        Dimension of the embedding.
    seed : int in [0, 2**63), default=0
        Of all random numbers drawn.
    time_budget : float or None, default=None
        Seconds for the eigenvectors, whose iterations are bounded anyhow. If it ends them, that is in the note.

    Returns
    -------
    Initialization
    """
    given = {"n_components": n_components, "seed": seed, "time_budget": time_budget}
    values = check_parameters(_RULES, given)
    n_components, seed = values["n_components"], values["seed"]
    if not isinstance(init, str):
        return Initialization(_checked_array(init, X, affinities, n_components), "array")
    if init == "pca":
        if X is None:
            raise ValueError(message("init='pca'", "'spectral', 'random' or an array", fact="there is no table X"))
        embedding, note = principal_start(X, n_components, seed=seed)
        return Initialization(embedding, "pca", note)
    if init == "spectral":
        if affinities is None:
            raise ValueError(message("init='spectral'", "'pca', 'random' or an array", fact="no affinities"))
        return _spectral(X, affinities, values)
    if init == "random":
        return Initialization(random_start(_n_samples(X, affinities), n_components, seed), "random")
    rule = ", ".join(repr(option) for option in _OPTIONS) + " or an array"
    raise ValueError(message(f"init={init!r}", rule))


def _n_samples(X: Any, affinities: Affinities | None) -> int:
    if X is not None:
        return int(X.shape[0])
    if affinities is None:
        raise ValueError(message("X and affinities", "given, one of them at least"))
    return affinities.n_samples


def _checked_array(init: Any, X: Any, affinities: Affinities | None, n_components: int) -> npt.NDArray[np.float32]:
    try:
        array = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        rule = ", ".join(repr(option) for option in _OPTIONS) + " or an array of numbers"
        raise TypeError(message(f"init of type {type(init).__name__}", rule)) from None
    shape = (_n_samples(X, affinities), n_components)
    if array.shape != shape:
        raise ValueError(message(f"init of shape {array.shape}", f"of shape {shape} (n_samples, n_components)"))
    with np.errstate(over="ignore"):
        embedding = np.array(array, dtype=np.float32, order="C")
    if not np.isfinite(embedding).all():
        n_bad = int(np.count_nonzero(~np.isfinite(embedding)))
        raise ValueError(message("init", "finite in float32", fact=f"{n_bad} entries are not"))
    return embedding


def _spectral(X: Any, affinities: Affinities, values: dict[str, Any]) -> Initialization:
    n_components, seed = values["n_components"], values["seed"]
    found = spectral_start(affinities, n_components, X=X, seed=seed, time_budget=values["time_budget"])
    if found.embedding is not None:
        if not found.converged:
            warn(f"{found.note}", ConvergenceWarning)
        return Initialization(found.embedding, "spectral", found.note)
    kind = "random" if X is None else "pca"
    note = f"init='spectral' fell back to {kind!r}: {found.note}"
    warn(f"{note}", ConvergenceWarning)
    if X is None:
        return Initialization(random_start(affinities.n_samples, n_components, seed), kind, note)
    embedding, extra = principal_start(X, n_components, seed=seed)
    return Initialization(embedding, kind, note if extra is None else f"{note}; {extra}")
