# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .completion import Completion as Completion
from .completion import check_missing as check_missing
from .completion import complete_missing as complete_missing
from .completion import learn_to_fill as learn_to_fill
from .predictors import LowRankNormal as LowRankNormal
from .recipe import HeldOut as HeldOut
from .recipe import Recipe as Recipe
