"""Methods that lay out a graph of neighbours by attraction and repulsion."""
