"""The losses by name, for those who build a method from parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gnomon.objectives.base import Objective
from gnomon.objectives.cross_entropy import CrossEntropy, StatedCrossEntropy
from gnomon.objectives.frobenius import Frobenius
from gnomon.objectives.info_nce import InfoNCE
from gnomon.objectives.kl_divergence import ConditionalDivergence, KLDivergence
from gnomon.objectives.linear_attraction import LinearAttraction
from gnomon.objectives.reconstruction_trace import ReconstructionTrace

__all__ = ["LOSSES", "takes_added", "takes_seed"]

LOSSES: dict[str, Callable[..., Objective]] = {
    "kl": KLDivergence,
    "conditional_kl": ConditionalDivergence,
    "cross_entropy": CrossEntropy,
    "stated_cross_entropy": StatedCrossEntropy,
    "info_nce": InfoNCE,
    "linear_attraction": LinearAttraction,
    "frobenius": Frobenius,
    "reconstruction": ReconstructionTrace,
}
"""Every loss takes (input, kernel, *, ...), where the input is Affinities, a dense target ("frobenius") or
weights ("reconstruction")."""


def takes_added(loss: Callable[..., Any]) -> bool:
    """Return whether further terms can be added to a loss (`AddedTerm`).

    Parameters
    ----------
    loss : callable
        As in `LOSSES`.

    Returns
    -------
    bool
    """
    return "added" in inspect.signature(loss).parameters


def takes_seed(loss: Callable[..., Any]) -> bool:
    """Return whether a loss is sampled and so needs a seed.

    Parameters
    ----------
    loss : callable
        As in `LOSSES`.

    Returns
    -------
    bool
    """
    return "seed" in inspect.signature(loss).parameters
