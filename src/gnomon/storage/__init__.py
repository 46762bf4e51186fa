"""Values as arrays and a description that JSON can hold, and back; never a pickle."""

from gnomon.storage.classes import CLASSES
from gnomon.storage.nodes import Arrays, NotStorableError, Parts, check_names, checksum
from gnomon.storage.reader import Reader
from gnomon.storage.writer import Writer

__all__ = ["CLASSES", "Arrays", "NotStorableError", "Parts", "Reader", "Writer", "check_names", "checksum"]
