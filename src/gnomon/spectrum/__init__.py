"""From Laplacian eigenmaps to t-SNE and beyond: maps of one graph as attraction gives way to repulsion."""

from gnomon.spectrum.make import attraction_repulsion_spectrum
from gnomon.spectrum.marks import Mark
from gnomon.spectrum.result import Spectrum

__all__ = ["Mark", "Spectrum", "attraction_repulsion_spectrum"]
