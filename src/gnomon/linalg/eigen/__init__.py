"""Eigenpairs of symmetric matrices, operators and graph Laplacians, by one function over several solvers."""
