"""The interactive map: one HTML file that opens from disk."""

from gnomon.viewer.write import write_html

__all__ = ["write_html"]
