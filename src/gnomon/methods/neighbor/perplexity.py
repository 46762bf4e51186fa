"""Neighbour embeddings whose affinities have a perplexity, by default one that the number of rows decides."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gnomon.methods.neighbor.supervised import SupervisedEmbedder
from gnomon.methods.parameters import check_perplexity, usual_perplexity

__all__ = ["PerplexityEmbedder"]


class PerplexityEmbedder(SupervisedEmbedder):
    """A neighbour embedding with the parameter ``perplexity``; None takes the usual one of so many rows."""

    perplexity_: float | None  # the one used; None where all neighbours count alike
    _most_perplexity: ClassVar[float] = 30.0  # where none is given

    def _usual_perplexity(self, n_samples: int) -> float:
        """Return the perplexity that is taken for so many distinct rows where none is given."""
        return usual_perplexity(self._most_perplexity, n_samples)

    def _take_perplexity(self, parameters: dict[str, Any], n_samples: int) -> tuple[float, int]:
        """Return perplexity and neighbours to search for so many distinct rows; remember the former."""
        perplexity, n_neighbors = check_perplexity(parameters, n_samples, self._most_perplexity)
        self.perplexity_ = perplexity
        return perplexity, n_neighbors

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        if parameters.get("n_neighbors") is not None:
            return int(parameters["n_neighbors"])
        given = parameters["perplexity"]
        return math.floor(3 * (self._usual_perplexity(n_samples) if given is None else given))

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return 1 if self.perplexity_ is None else math.ceil(self.perplexity_)
