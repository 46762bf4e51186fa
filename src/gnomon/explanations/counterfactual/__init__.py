"""What would have to change in a row for its point to lie elsewhere."""

from gnomon.explanations.counterfactual.answer import Counterfactual
from gnomon.explanations.counterfactual.search import counterfactual

__all__ = ["Counterfactual", "counterfactual"]
