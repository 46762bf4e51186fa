"""Eigenvectors of large symmetric matrices."""
