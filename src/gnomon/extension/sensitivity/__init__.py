"""What would become of points if their rows were a little different: dY/dX by implicit differentiation.

`sensitivity` takes a loss of map and data, `GraphLoss` of `DataAffinities` or `StressLoss`, and a map at its minimum;
`principal_sensitivity` differentiates PCA; `agreement` sets a sensitivity beside an explanation.
"""

from gnomon.extension.sensitivity.affinities import DataAffinities
from gnomon.extension.sensitivity.agreement import Agreement, agreement
from gnomon.extension.sensitivity.graph_losses import GraphLoss
from gnomon.extension.sensitivity.implicit import sensitivity
from gnomon.extension.sensitivity.pairs import PairLoss
from gnomon.extension.sensitivity.principal import principal_sensitivity
from gnomon.extension.sensitivity.result import Sensitivity
from gnomon.extension.sensitivity.stationary import Stationarity
from gnomon.extension.sensitivity.stress_loss import StressLoss

__all__ = [
    "Agreement",
    "DataAffinities",
    "GraphLoss",
    "PairLoss",
    "Sensitivity",
    "Stationarity",
    "StressLoss",
    "agreement",
    "principal_sensitivity",
    "sensitivity",
]
