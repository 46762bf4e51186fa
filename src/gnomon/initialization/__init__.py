"""Where the points start: PCA, spectral, random or given."""
