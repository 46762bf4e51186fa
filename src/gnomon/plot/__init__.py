"""Static figures with matplotlib (an extra: it is imported when a figure is drawn)."""

from gnomon.plot.map import plot_map
from gnomon.plot.picture import save_png

__all__ = ["plot_map", "save_png"]
