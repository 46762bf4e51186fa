"""Many maps of one table beside each other, and the choice of method and parameters without labels."""

from gnomon.comparison.make import compare
from gnomon.comparison.recommendation import Curve, Recommendation
from gnomon.comparison.result import HEADLINES, Comparison
from gnomon.comparison.search import recommend
from gnomon.comparison.trials import Trial

__all__ = ["HEADLINES", "Comparison", "Curve", "Recommendation", "Trial", "compare", "recommend"]
