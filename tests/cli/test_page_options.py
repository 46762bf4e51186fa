"""What is asked of a page on the command line reaches it, and is refused where there is no page."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import gnomon
from gnomon.cli import main
from gnomon.cli.outputs import page_options


def test_options_of_a_page_need_a_page():
    assert page_options({"png": "a.png"}, None, side_file=False) == {}
    asked = page_options({"html": "a.html"}, 2_000_000, side_file=True)
    assert asked == {"byte_budget": 2_000_000, "side_file": True}
    with pytest.raises(ValueError, match=r"--byte-budget must be given with a page\. Name one with -o FILE"):
        page_options({"png": "a.png"}, 2_000_000, side_file=False)
    with pytest.raises(ValueError, match=r"--side-file must be given with a page in a file"):
        page_options({"html": "-"}, None, side_file=True)


def test_show_writes_the_file_beside_a_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5))
    gnomon.Map(X, X[:, :2]).save(tmp_path / "m.gnomon")
    given = ["show", str(tmp_path / "m.gnomon"), "-o", str(tmp_path / "m.html"), "--side-file"]
    done = CliRunner().invoke(main, [*given, "--byte-budget", "1500000"], standalone_mode=False)
    assert done.exception is None
    assert (tmp_path / "m.data").read_bytes().startswith(b"gnomon page data 1\n")
    assert (tmp_path / "m.html").stat().st_size < 1_500_000
