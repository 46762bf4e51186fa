"""Files of earlier versions, of many rows, and how large they are (group G)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS

import gnomon
from archives import read_parts

KEPT = Path(__file__).parent / "kept"
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(np.round(rng.normal(size=(24, 3)), 2), columns=["a", "b", "c"])
KINDS = np.repeat(["x", "y", "z"], 8)


# What the files were written of, by their names; each version of a format has one, which is never written anew.
def asked():
    """Return a map that keeps what was asked of it alone."""
    made = gnomon.map(TABLE, labels=KINDS, n_neighbors=5, max_iter=20, name="kept", scale="standard", n_jobs=1)
    made.proves(("apart", "x", "y"), n_seeds=1, budget=1, n_random=0)
    return made


MADE = {
    "map-5.gnomon": asked,
    "map-4.gnomon": lambda: gnomon.map(
        TABLE, labels=KINDS, n_neighbors=5, max_iter=20, name="kept", scale="standard", n_jobs=1
    ),
    "landmark-map-1.gnomon": lambda: gnomon.map(TABLE, "pca", n_fitted=12, scale=None, n_jobs=1),
    "method-1.gnomon": lambda: gnomon.UMAP(n_neighbors=5, max_iter=20, random_state=0, n_jobs=1).fit(TABLE),
}

POSITIONS = {
    "map-4.gnomon": "3e3cf732a514ff38",
    "map-5.gnomon": "3e3cf732a514ff38",
    "method-1.gnomon": "6154de35a140eb28",
}  # their checksums


def version(path):
    return read_parts(path)[1]["version"]


@pytest.mark.parametrize("name", MADE)
def test_f95_a_file_that_an_earlier_version_wrote_is_read(name):
    found = gnomon.load(KEPT / name)
    places = np.asarray(found.transform(TABLE))
    assert places.shape == (24, 2)
    if name.startswith("map"):
        assert (found.name, found.method, found.feature_names) == ("kept", "umap", ["a", "b", "c"])
        assert found.labels.tolist() == KINDS.tolist()
        np.testing.assert_array_equal(found.X, TABLE.to_numpy())
    if not name.startswith("landmark"):
        fitted = found.embedding if name.startswith("map") else found.embedding_
        np.testing.assert_allclose(places, fitted, atol=1e-4 * np.abs(fitted).max())
        assert hashlib.sha256(fitted.tobytes()).hexdigest()[:16] == POSITIONS[name]
        assert np.isfinite(np.asarray(found.inverse_transform(places[:2]))).all()


@pytest.mark.parametrize("name", MADE)
def test_f95_each_format_of_the_present_has_a_file_among_the_tests(name, tmp_path):
    MADE[name]().save(tmp_path / name)
    written = version(tmp_path / name)
    assert (KEPT / f"{name.rsplit('-', 1)[0]}-{written}.gnomon").exists(), "keep a file of the new version too"
    assert version(KEPT / name) <= written


def test_f96_a_map_of_many_rows_is_saved_and_loaded(tmp_path):
    n = 300_000
    X = np.zeros((n, 3), dtype=np.float32)
    X[-2:] = [[1, 2, 3], [4, 5, 6]]
    Y = np.zeros((n, 2), dtype=np.float32)
    Y[-1] = 7.0
    labels = np.zeros(n, dtype=np.int64)
    labels[-1] = 3
    gnomon.Map(X, Y, labels=labels).save(tmp_path / "large.gnomon")
    again = gnomon.load(tmp_path / "large.gnomon")
    for given, found in ((X, again.X), (Y, again.embedding), (labels, again.labels)):
        np.testing.assert_array_equal(found, given)
    assert os.path.getsize(tmp_path / "large.gnomon") < 1e5


# Those whose map is a formula of few numbers, as long as the map of the fitted rows itself.
@pytest.mark.parametrize("name", ["pca", "random_projection", "stiefel_pca"])
def test_f98_methods_of_a_formula_are_kept_without_the_table(name, tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 60))
    clone(ESTIMATORS[name]).set_params(n_components=2).fit(X).save(tmp_path / "method.gnomon")
    assert os.path.getsize(tmp_path / "method.gnomon") < X.nbytes / 5


def test_f98_a_table_of_small_whole_numbers_takes_a_byte_each_and_is_stored_once(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, size=(300, 200)).astype(np.float64)
    made = gnomon.map(X, scale=None, max_iter=5)
    made.save(tmp_path / "map.gnomon")
    assert os.path.getsize(tmp_path / "map.gnomon") < 1.3 * X.size + 100_000
