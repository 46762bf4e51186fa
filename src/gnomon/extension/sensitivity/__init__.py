"""What would become of points if their rows were a little different: dY/dX by implicit differentiation.

`sensitivity` takes a loss of map and data, a `DataLoss` of affinities and an objective, and a map at its minimum;
`principal_sensitivity` differentiates PCA; `agreement` sets a sensitivity beside an explanation.
"""

from gnomon.extension.sensitivity.data_loss import DataLoss
from gnomon.extension.sensitivity.implicit import principal_sensitivity, sensitivity
from gnomon.extension.sensitivity.result import Agreement, Sensitivity, agreement
from gnomon.extension.sensitivity.stationary import Stationarity

__all__ = [
    "Agreement",
    "DataLoss",
    "Sensitivity",
    "Stationarity",
    "agreement",
    "principal_sensitivity",
    "sensitivity",
]
