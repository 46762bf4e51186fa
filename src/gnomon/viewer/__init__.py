"""The interactive map: one HTML file that opens from disk."""

from gnomon.viewer.content import PageContent, Sequence
from gnomon.viewer.write import write_html

__all__ = ["PageContent", "Sequence", "write_html"]
