"""A map as a printed report: what was mapped, how, how far to believe it, and how to make it again."""

from gnomon.maps.printed.sections import SECTIONS
from gnomon.maps.printed.subject import Section, Subject
from gnomon.maps.printed.write import write_report

__all__ = ["SECTIONS", "Section", "Subject", "write_report"]
