"""A map served to the browser of this machine: its page, and exact answers from all rows and values."""

from gnomon.server.answers import Answers
from gnomon.server.serve import MapServer

__all__ = ["Answers", "MapServer"]
