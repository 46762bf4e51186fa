"""Symmetric similarities as operators: of a table, a factor, a matrix or an input kernel."""

from gnomon.affinities.gram.gram import Gram

__all__ = ["Gram"]
