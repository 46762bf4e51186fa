# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .changes import Change as Change
from .changes import Distance as Distance
from .changes import Shift as Shift
from .changes import Step as Step
from .changes import Unfolded as Unfolded
from .changes import Width as Width
from .claims import Apart as Apart
from .claims import Claim as Claim
from .claims import Denser as Denser
from .claims import Near as Near
from .claims import Nearer as Nearer
from .claims import Wider as Wider
from .proof import Proof as Proof
from .proof import proves as proves
from .result import BlindSpots as BlindSpots
from .result import Twin as Twin
from .search import blind_spots as blind_spots
