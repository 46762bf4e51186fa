"""How far to trust a map, overall and point by point."""

from gnomon.evaluate.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]
