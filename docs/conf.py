"""Settings of the documentation."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from live import write_live_pages
from reference import rest_of_reference

project = "gnomon"
copyright = "2026, the gnomon developers"
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
html_title = "gnomon"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_theme_options = {"navbar_center": [], "show_prev_next": True, "show_nav_level": 2}
html_sidebars = {"index": [], "**": ["pages.html"]}  # all pages under their captions, at the side of each
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
numpydoc_show_class_members = False
autodoc_typehints = "none"  # types stand in the docstrings
highlight_language = "text"  # blocks of Python say so; the others are commands and what they print
python_maximum_signature_line_length = 88  # longer ones have a line for each parameter
exclude_patterns = ["_build"]
myst_heading_anchors = 3


def _escape_bars(_app, _what, _name, _object, _options, lines):
    """Keep |x| in docstrings a norm: reStructuredText would take it for a substitution. Code is left as it is."""
    for i, line in enumerate(lines):
        parts = re.split(r"(``.*?``)", line)
        lines[i] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def _write_rest(app):
    """Write the page of the names that the reference does not list otherwise."""
    path, text = Path(app.srcdir, "api-rest.rst"), rest_of_reference()
    if not path.exists() or path.read_text() != text:  # so that an unchanged page is not built anew
        path.write_text(text)


def _write_live_pages(app, failure):
    """Put the pages of maps beside the pages of text."""
    if failure is None and app.builder.format == "html":
        write_live_pages(Path(app.outdir, "live"))


def setup(app):
    """Connect the hooks, the first to run before numpydoc."""
    app.connect("autodoc-process-docstring", _escape_bars, priority=100)
    app.connect("builder-inited", _write_rest)
    app.connect("build-finished", _write_live_pages)
