"""The programs of the page for newcomers run: what they wrote by its grammar and names, what they write in full."""

import importlib.util
import inspect
import re
import sys
import types
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import sklearn.manifold
from sklearn.datasets import load_digits

import gnomon as gn

_PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text()
_PROGRAMS = re.findall(r"^### From ([\w-]+)\n(.*?)(?=^##|\Z)", _PAGE, re.MULTILINE | re.DOTALL)
_STOOD_FOR = {
    "umap-learn": ["umap"],
    "scikit-learn": ["sklearn.manifold", "sklearn.decomposition"],
    "openTSNE": ["openTSNE"],
    "scanpy": ["scanpy"],
}
_CLASSES = [
    ("Isomap", gn.Isomap),
    ("LocallyLinearEmbedding", gn.LocallyLinearEmbedding),
    ("MDS", gn.MDS),
    ("SpectralEmbedding", gn.LaplacianEigenmaps),
]


def _lines(text):
    """Return the two programs of a table, as lists of lines."""
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if "| `" in line]
    columns = [[re.findall(r"`([^`]+)`", cell) for cell in column] for column in zip(*map(_pair, rows), strict=True)]
    return [[code for cell in column for code in cell] for column in columns]


def _pair(row):
    return row if len(row) == 2 else [row[0].rstrip(" |"), ""]


def _data(library):
    """Return what the programs are given."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:160], y[:160]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    given = {"X": X[:140], "X_new": X[140:], "y": y[:140], "D": D[:140, :140]}
    if library == "scanpy":
        anndata = pytest.importorskip("anndata")
        for name, rows in (("adata", slice(0, 140)), ("adata_new", slice(140, 160))):
            given[name] = anndata.AnnData(X[rows].astype(np.float32))
            given[name].obs["type"] = [f"kind {digit}" for digit in y[rows]]
    return given


def _run(lines, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small tables
        for line in lines:
            exec(compile(line, line, "exec"), given)


def test_there_is_a_program_for_each_library():
    assert [library for library, _ in _PROGRAMS] == list(_STOOD_FOR)
    assert all(len(lines) >= 6 for _, text in _PROGRAMS for lines in _lines(text))


@pytest.mark.parametrize(("library", "text"), _PROGRAMS, ids=[library for library, _ in _PROGRAMS])
def test_what_is_written_here_runs(library, text, tmp_path, monkeypatch):
    if library == "scanpy":
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    _, ours = _lines(text)
    given = _data(library)
    _run(ours, given)
    if "Y" in given:
        assert given["Y"].shape == (140, 2)
    if "Y_new" in given:
        assert given["Y_new"].shape == (20, 2)
    if library == "scanpy":
        assert given["places"].shape == (20, 2)
        assert {"X_umap", "X_tsne", "X_force_atlas2"} <= given["adata"].obsm.keys()


@pytest.mark.parametrize(("library", "text"), _PROGRAMS, ids=[library for library, _ in _PROGRAMS])
def test_what_was_written_elsewhere_is_a_program(library, text, tmp_path, monkeypatch):
    """Run with a stand-in in place of the library."""
    monkeypatch.chdir(tmp_path)
    for name in _STOOD_FOR[library]:
        stands_in = types.ModuleType(name)
        stands_in.__getattr__ = lambda name: MagicMock(name=name)  # of the module
        monkeypatch.setitem(sys.modules, name, stands_in)
    monkeypatch.setattr("pickle.dump", lambda *_: None)
    monkeypatch.setattr("pickle.load", lambda *_: None)
    (tmp_path / "reducer.pickle").touch()
    _run(_lines(text)[0], _data(library))


@pytest.mark.slow
@pytest.mark.parametrize(("library", "text"), _PROGRAMS, ids=[library for library, _ in _PROGRAMS])
def test_what_was_written_elsewhere_runs_there(library, text, tmp_path, monkeypatch):
    if importlib.util.find_spec(_STOOD_FOR[library][0]) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.chdir(tmp_path)
    _run(_lines(text)[0], _data(library))


def _parameters(name):
    """Return what the page says of the parameters of a class of scikit-learn."""
    table = _PAGE.split(f"| `sklearn.manifold.{name}` |")[1].split("\n\n")[0].splitlines()[2:]
    return {cells[1].strip(" `"): cells[2].strip(" `") for cells in (line.split("|") for line in table)}


@pytest.mark.parametrize(("name", "ours"), _CLASSES, ids=[name for name, _ in _CLASSES])
def test_parameters_of_manifold_methods_are_all_told_and_have_their_names_here(name, ours):
    told = _parameters(name)
    theirs = set(inspect.signature(getattr(sklearn.manifold, name)).parameters)
    assert theirs - {"metric_mds", "dissimilarity"} <= set(told)  # of MDS, in some versions
    assert {here for here in told.values() if here != "None"} <= set(inspect.signature(ours).parameters)
