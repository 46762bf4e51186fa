"""Settings of the documentation."""

import re

project = "gnomon"
copyright = "2026, the gnomon developers"
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
myst_heading_anchors = 3


def _escape_bars(_app, _what, _name, _object, _options, lines):
    """Keep |x| in docstrings a norm: reStructuredText would take it for a substitution. Code is left as it is."""
    for i, line in enumerate(lines):
        parts = re.split(r"(``.*?``)", line)
        lines[i] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def setup(app):
    """Connect the hook, to run before numpydoc."""
    app.connect("autodoc-process-docstring", _escape_bars, priority=100)
