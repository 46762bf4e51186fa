"""Settings of the documentation."""

project = "gnomon"
copyright = "2026, the gnomon developers"
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
html_theme = "pydata_sphinx_theme"
autosummary_generate = True
numpydoc_show_class_members = False
exclude_patterns = ["generated", "_build"]
