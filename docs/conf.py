"""Settings of the documentation."""

project = "gnomon"
copyright = "2026, the gnomon developers"
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
