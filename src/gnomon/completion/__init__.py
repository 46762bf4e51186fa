"""Tables with missing values: completed so that neighbourhoods are kept, with the error of that measured."""

from gnomon.completion.completion import Completion, check_missing, complete_missing
from gnomon.completion.predictors import LowRankNormal
from gnomon.completion.recipe import HeldOut, Recipe

__all__ = ["Completion", "HeldOut", "LowRankNormal", "Recipe", "check_missing", "complete_missing"]
