"""Methods that take eigenvectors of a graph."""
