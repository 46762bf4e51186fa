"""Landmarks of cells in a file lie in the coordinates that `gnomon.map` takes of the same cells in memory."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import gnomon as gn
from gnomon.cli import main
from gnomon.data.stored import coordinates_in_file
from gnomon.exceptions import DataWarning

anndata = pytest.importorskip("anndata")
pytest.importorskip("h5py")
N, GENES = 60, 55
MADE_OF = "the map is made of obsm['{}'] and explained in these coordinates"


@pytest.fixture
def write(tmp_path):
    def write(*keys, use_rep=None, n_pcs=None, n_genes=GENES):
        rng = np.random.default_rng(0)
        cells = anndata.AnnData(rng.normal(size=(N, n_genes)).astype(np.float32))
        for key in keys:
            cells.obsm[key] = rng.normal(size=(N, 4)).astype(np.float32)
        params = {name: value for name, value in (("use_rep", use_rep), ("n_pcs", n_pcs)) if value is not None}
        if params:
            cells.uns["neighbors"] = {"params": params}
        cells.write_h5ad(tmp_path / "c.h5ad")
        return tmp_path / "c.h5ad"

    return write


@pytest.mark.parametrize(
    ("keys", "about", "expected"),
    [
        (["X_pca", "X_other"], {}, "X_pca"),
        (["X_pca", "X_other"], {"use_rep": "X_other"}, "X_other"),
        (["X_pca"], {"use_rep": "X_gone"}, "X_pca"),
        (["X_pca"], {"n_pcs": 4}, "X_pca"),
        (["X_pca"], {"use_rep": "X"}, None),
        (["X_pca"], {"n_genes": 50}, None),
        (["X_other"], {}, None),
        ([], {}, None),
    ],
)
def test_the_coordinates_of_a_file_are_those_of_its_cells_in_memory(write, keys, about, expected):
    path = write(*keys, **about)
    assert coordinates_in_file(str(path)) == (None if expected is None else f"obsm/{expected}")
    if keys:  # otherwise components of the genes are computed, which landmarks leave to n_pcs
        found = gn.map(anndata.read_h5ad(path), "pca").representation
        assert (found is None or not found.name.startswith("X_")) == (expected is None)
        assert expected is None or found.name == expected


def test_leading_columns_that_are_recorded_are_not_cut_and_it_is_said(write):
    with pytest.warns(DataWarning, match=r"the first 2 columns of obsm\['X_pca'\]; where landmarks are fitted, all 4"):
        coordinates_in_file(str(write("X_pca", n_pcs=2)))


def test_landmarks_of_an_object_in_a_file_take_its_coordinates(write):
    cells = anndata.read_h5ad(write("X_pca", "X_other"), backed="r")
    asked = {"method": "pca", "n_fitted": 30, "random_state": 0}
    made = gn.map(cells, **asked)
    np.testing.assert_array_equal(made.embedding, gn.map(np.asarray(cells.obsm["X_pca"]), **asked).embedding)
    assert any(note.startswith(MADE_OF.format("X_pca")) for note in made.notes)
    np.testing.assert_allclose(made.transform(cells), made.embedding, atol=1e-5)
    genes = gn.map(cells, use_rep="X", **asked)
    np.testing.assert_array_equal(genes.embedding, gn.map(np.asarray(cells.X[:]), **asked).embedding)
    assert not any("obsm" in note for note in genes.notes)


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], "X_pca"), (["--obsm", "X_other"], "X_other"), (["--obsm", "X"], None), (["--n-pcs", "4"], None)],
)
def test_the_command_takes_them_too_and_says_so(write, options, expected):
    path = write("X_pca", "X_other")
    given = [
        "map",
        str(path),
        "--method",
        "pca",
        "--n-fitted",
        "30",
        "--coordinates",
        f"{path}.npy",
        "--json",
        *options,
    ]
    told = json.loads(CliRunner().invoke(main, given).stdout)
    notes = told["map"]["notes"]
    assert [note for note in notes if note.startswith("the map is made of obsm")] == [
        note for note in notes if expected and note.startswith(MADE_OF.format(expected))
    ]
    assert any(note.startswith("the map is made of") for note in notes) == (expected is not None)
    left = any("--n-pcs takes the genes, not obsm['X_pca']" in text for text in told["warnings"])
    assert left == ("--n-pcs" in options)


def test_the_command_refuses_coordinates_that_are_not_there(write, tmp_path):
    refused = CliRunner().invoke(main, ["map", str(write("X_pca")), "--n-fitted", "30", "--obsm", "X_pc"])
    assert refused.exit_code == 2
    assert "'X_pc' must be one of those in the data (available: 'X', 'X_pca')" in refused.output
    np.save(tmp_path / "X.npy", np.zeros((40, 3)))
    refused = CliRunner().invoke(main, ["map", str(tmp_path / "X.npy"), "--n-fitted", "30", "--obsm", "X_pca"])
    assert refused.exit_code == 2
    assert "--obsm='X_pca' must be given for an .h5ad file" in refused.output
