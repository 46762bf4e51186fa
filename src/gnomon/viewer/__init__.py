"""The interactive map: one HTML file that opens from disk."""

from gnomon.viewer.content import PageContent, Sequence
from gnomon.viewer.levels import PageLevel
from gnomon.viewer.side_by_side import write_side_by_side
from gnomon.viewer.write import write_html

__all__ = ["PageContent", "PageLevel", "Sequence", "write_html", "write_side_by_side"]
