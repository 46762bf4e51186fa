"""Output kernels: similarity as a function of squared distance, with its derivative."""
