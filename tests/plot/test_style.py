"""Figures go to files whole or not at all."""

import os

import numpy as np
import pytest

from gnomon.plot import save_panels, save_png, save_saliency
from gnomon.plot.files import save_figure

matplotlib = pytest.importorskip("matplotlib")
Y = np.random.default_rng(0).normal(size=(30, 2))

WRITERS = {
    "png": lambda path: save_png(path, embedding=Y),
    "panels": lambda path: save_panels(path, [Y, Y]),
    "saliency": lambda path: save_saliency(path, np.ones((4, 5))),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_figure_that_fails_leaves_the_old_one(tmp_path, monkeypatch, write):
    path = tmp_path / "map.png"
    write(path)
    old = path.read_bytes()
    assert old.startswith(b"\x89PNG")

    def half(figure, file, **options):
        with open(file, "wb") if isinstance(file, (str, os.PathLike)) else file as stream:
            stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", half)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["map.png"]


@pytest.mark.parametrize(
    ("name", "made", "start"), [("a.svg", "a.svg", b"<?xml"), ("a.PDF", "a.PDF", b"%PDF"), ("a", "a.png", b"\x89PNG")]
)
def test_the_suffix_says_the_format(tmp_path, name, made, start):
    figure = matplotlib.figure.Figure()
    save_figure(figure, tmp_path / name, dpi=50)
    assert os.listdir(tmp_path) == [made]
    assert (tmp_path / made).read_bytes().startswith(start)
