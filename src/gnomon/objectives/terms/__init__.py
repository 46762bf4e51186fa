"""Terms of a loss: pairs of points, an output kernel, and a law."""

from gnomon.objectives.terms.all_pairs import AllPairs, ByDegree
from gnomon.objectives.terms.base import Draws, Float64, Term
from gnomon.objectives.terms.edges import EdgePairs, edge_force
from gnomon.objectives.terms.gravity import Gravity
from gnomon.objectives.terms.targets import TargetPairs

__all__ = ["AllPairs", "ByDegree", "Draws", "EdgePairs", "Float64", "Gravity", "TargetPairs", "Term", "edge_force"]
