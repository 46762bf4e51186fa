"""`gnomon map --feature-names` names the columns of tables without names; `gnomon forecast` takes a metric."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.cli import main
from gnomon.data.cells import read_cells

WORDS = ["ship", "rose", "salt", "naïve"]


def run(*arguments):
    return click.testing.CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).poisson(1.0, (60, 4)).astype(np.float32) + 0.1
    np.save("X.npy", X)
    sp.save_npz("X.npz", sp.csr_matrix(X))
    np.savez("named.npz", X=X, feature_names=np.array(WORDS))
    Path("X.csv").write_text("a,b\n" + "".join(f"{row[0]},{row[1]}\n" for row in X))
    Path("words.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    Path("few.txt").write_text("ship\nrose\n")
    Path("odd.txt").write_bytes(b"\xff\xfe\x00\nb\nc\nd\n")


@pytest.mark.parametrize("table", ["X.npy", "X.npz"])
def test_columns_without_names_get_those_of_the_file(files, table):
    found = run("map", table, "--feature-names", "words.txt", "--method", "pca", "--save", "m.gnomon", "--quiet")
    assert found.exit_code == 0, found.output
    assert gnomon.load("m.gnomon").feature_names == WORDS


@pytest.mark.parametrize(
    ("table", "names", "told"),
    [
        ("X.npy", "few.txt", "it has 2 lines, DATA 4 columns"),
        ("X.npy", "odd.txt", "must be a text file in UTF-8"),
        ("X.csv", "words.txt", "must be left out where the columns of DATA have names"),
        ("named.npz", "words.txt", "must be left out where the columns of DATA have names"),
    ],
)
def test_names_that_do_not_fit_are_refused(files, table, names, told):
    found = run("map", table, "--feature-names", names, "--method", "pca", "--quiet", "--save", "m.gnomon")
    assert found.exit_code != 0
    assert f"--feature-names='{names}'" in found.output
    assert told in found.output


def test_a_file_of_names_that_is_not_there_is_told_with_names_that_are_near(files):
    found = run("map", "X.npy", "--feature-names", "word.txt", "--method", "pca", "--quiet", "--save", "m.gnomon")
    assert found.exit_code != 0
    assert "file 'word.txt' must be there (no such file). Did you mean 'words.txt'" in found.output


def test_tables_in_blocks_have_their_own_names(files):
    found = run(
        "map", "X.npy", "--feature-names", "words.txt", "--n-fitted", 30, "--method", "pca", "--save", "m.gnomon"
    )
    assert found.exit_code != 0
    assert "--feature-names" in found.output
    assert "blocks" in found.output


@pytest.fixture
def cells(tmp_path, monkeypatch, here):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    found = anndata.AnnData(np.random.default_rng(0).poisson(1.0, (60, 4)).astype(np.float32) + 0.1)
    found.var = pd.DataFrame({"symbol": WORDS}, index=[f"ENSG{j}" for j in range(4)])
    found.write_h5ad("c.h5ad")
    return found


def test_a_column_of_var_names_the_genes_also_of_new_cells(cells):
    found = run("map", "c.h5ad", "--feature-names", "symbol", "--method", "pca", "--save", "m.gnomon", "--quiet")
    assert found.exit_code == 0, found.output
    assert gnomon.load("m.gnomon").feature_names == WORDS
    cells[:5, ::-1].copy().write_h5ad("new.h5ad")
    found = run("transform", "m.gnomon", "new.h5ad", "-o", "places.npy")
    assert found.exit_code == 0, found.output
    np.testing.assert_allclose(np.load("places.npy"), gnomon.load("m.gnomon").embedding[:5], atol=1e-4)
    assert read_cells(cells, feature_names=WORDS[1:]).feature_names == WORDS
    assert read_cells(cells, feature_names=["other"]).feature_names == list(cells.var_names)


def test_a_column_that_var_does_not_have_is_told_with_those_it_has(cells):
    found = run("clusters", "c.h5ad", "--feature-names", "symbols")
    assert found.exit_code != 0
    assert "feature_names='symbols' must be" in found.output
    assert "symbol" in found.output.split("must be")[1]


def test_a_forecast_is_that_of_the_metric():
    shape = ("--shape", "3000x3000", "--json")
    plain, other, given = (
        run("forecast", *shape, *more).output
        for more in ((), ("--metric", "precomputed"), ("-p", "metric=precomputed"))
    )
    stages = [json.loads(text)["stages"] for text in (plain, other, given)]
    assert stages[1] == stages[2] != stages[0]  # given distances take no search
