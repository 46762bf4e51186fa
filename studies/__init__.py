"""The papers' figures and tables, made with gnomon; not part of the package."""
