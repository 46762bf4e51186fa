"""How far to trust a map, overall and point by point."""

from gnomon.evaluate.evaluation import Evaluation
from gnomon.evaluate.scoring import evaluate

__all__ = ["Evaluation", "evaluate"]
