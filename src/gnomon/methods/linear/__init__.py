"""Principal components and their kin, with kernels too."""
