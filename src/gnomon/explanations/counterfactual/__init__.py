"""What would have to change in a row for its point to lie elsewhere."""

from gnomon.explanations.counterfactual.search import Counterfactual, counterfactual

__all__ = ["Counterfactual", "counterfactual"]
