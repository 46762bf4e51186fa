"""A map made in principal components, or other coordinates, is asked and answers in the features of its table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

import gnomon as gn
from gnomon.data import Dataset, Reduction, Representation
from gnomon.exceptions import DataWarning

N_PCS = 8


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(120, 3)) + 4.0 * np.repeat(np.eye(3), 40, axis=0)
    return latent @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(120, 30)) + 5.0


@pytest.fixture(scope="module")
def made(table):
    return gn.map(table, n_pcs=N_PCS, max_iter=60, labels=np.repeat([0, 1, 2], 40))


def by_hand(table):
    return gn.PCA(n_components=N_PCS).fit(table)


def test_the_map_is_that_of_the_components(table, made):
    scores = by_hand(table).embedding_
    np.testing.assert_allclose(made.representation.values, scores, atol=1e-8 * np.abs(scores).max())
    assert gn.map(Dataset(table, representation=made.representation), "pca", n_pcs=0).representation is None
    direct = gn.map(np.asarray(made.representation.values), max_iter=60)
    np.testing.assert_array_equal(made.embedding, direct.embedding)
    np.testing.assert_array_equal(made.neighbors().indices, direct.neighbors().indices)
    assert made.evaluate().trustworthiness == direct.evaluate().trustworthiness
    assert made.intrinsic_dimension().value == direct.intrinsic_dimension().value


def test_answers_are_in_the_features(table, made):
    np.testing.assert_array_equal(made.X, table)
    told = made.explain()
    assert told.n_features == 30
    np.testing.assert_array_equal(
        told.r2, gn.explain(table, made.embedding, graph=made.neighbors(), feature_names=made.feature_names).r2
    )
    assert set(made.contrast(np.arange(40)).features) == set(made.feature_names)
    assert set(made.why(0).features) <= set(made.feature_names)
    assert "Neighbours and scores are in principal components (8 coordinates)." in made.report()
    assert made.to_dict()["representation"] == {"name": "principal components", "n_coordinates": N_PCS}


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_rows_of_the_table_come_and_go(table, made, method):
    result = made if method == "umap" else gn.map(table, "pca", n_pcs=N_PCS)
    np.testing.assert_allclose(result.transform(table), result.embedding, atol=1e-4)
    rows = result.inverse_transform(result.embedding)
    assert rows.shape == table.shape
    off = (rows - result.representation.center) - (
        (rows - result.representation.center) @ result.representation.components.T @ result.representation.components
    )
    assert np.abs(off).max() < 1e-8 * np.abs(table).max()
    if method == "pca":  # of two components, the plane of the first two
        plane = gn.PCA(n_components=2).fit(table)
        np.testing.assert_allclose(rows, plane.inverse_transform(plane.embedding_), atol=1e-4)


@pytest.mark.parametrize("scale", [None, "standard", "robust"])
def test_the_derivative_is_by_the_features(table, scale):
    unlike = table * np.linspace(1.0, 3.0, 30)
    result = gn.map(unlike, n_pcs=N_PCS, scale=scale, max_iter=30)
    rng = np.random.default_rng(1)
    x, v = unlike[5] + 0.01 * rng.normal(size=30), 1e-5 * rng.normal(size=30)
    measured = (result.transform((x + v)[None]) - result.transform((x - v)[None]))[0] / 2.0
    np.testing.assert_allclose(result.jacobian(x) @ v, measured, rtol=1e-4, atol=1e-10)
    place, jacobian = result.linearize(x)
    np.testing.assert_allclose(place, result.transform(x[None])[0], rtol=1e-12)
    np.testing.assert_allclose(jacobian, result.jacobian(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(result.jacobian(unlike[:2]).shape, (2, 2, 30))


def test_components_are_of_the_standardised_table():
    wine = load_wine().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        result = gn.map(wine, "pca", n_pcs=5)
    assert result.scale.name == "standard"
    z = (wine - wine.mean(axis=0)) / wine.std(axis=0)
    expected = gn.PCA(n_components=5).fit_transform(z)
    np.testing.assert_allclose(result.representation.values, expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(result.transform(wine), result.embedding, atol=1e-4)


def test_a_sparse_table_is_not_made_dense(table):
    sparse = sp.csr_array(np.where(table > np.median(table), table, 0.0))
    result, same = (gn.map(X, n_pcs=N_PCS, max_iter=30, scale=None) for X in (sparse, sparse.toarray()))
    assert sp.issparse(result.X)
    np.testing.assert_allclose(result.representation.values, same.representation.values, atol=1e-6)
    np.testing.assert_allclose(result.transform(sparse[:5]), result.embedding[:5], atol=1e-4)


def test_the_file_keeps_them(table, made, tmp_path):
    made.save(tmp_path / "m.gnomon")
    again = gn.Map.load(tmp_path / "m.gnomon")
    assert again.representation.name == "principal components"
    for name in ("values", "center", "components"):
        np.testing.assert_array_equal(getattr(again.representation, name), getattr(made.representation, name))
    np.testing.assert_array_equal(again.transform(table + 0.01), made.transform(table + 0.01))
    np.testing.assert_array_equal(again.place(table[:4] + 0.01), made.place(table[:4] + 0.01))


def test_the_bytes_do_not_depend_on_threads(table):
    one, two = (gn.map(table, n_pcs=N_PCS, max_iter=20, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding, two.embedding)
    np.testing.assert_array_equal(one.representation.values, two.representation.values)
    np.testing.assert_array_equal(one.inverse_transform(one.embedding), two.inverse_transform(two.embedding))
    np.testing.assert_array_equal(one.jacobian(table), two.jacobian(table))


def test_the_map_grows_in_its_coordinates(table, made):
    larger, _ = made.extend(table[:3] + 0.05)
    assert larger.representation.values.shape == (123, N_PCS)
    np.testing.assert_allclose(
        larger.representation.values[120:], by_hand(table).transform(table[:3] + 0.05), atol=1e-6
    )
    np.testing.assert_array_equal(larger.transform(table[:5]), made.transform(table[:5]))


def test_a_counterfactual_changes_features(made):
    assert set(made.counterfactual(0, target=2).features) == set(made.feature_names)


def test_coordinates_without_a_formula_leave_an_atlas_of_the_features(table, tmp_path):
    rng = np.random.default_rng(2)
    curved = np.tanh(table[:, :4] - 5.0).astype(np.float32)
    positions = curved[:, :2] + 0.01 * rng.normal(size=(120, 2))
    result = gn.Map(table, positions, representation=Representation("curved", curved))
    assert result.extension_kind == "atlas"
    np.testing.assert_allclose(result.transform(table[:9]), result.embedding[:9], atol=1e-4)
    assert result.jacobian(table[0]).shape == (2, 30)
    assert result.inverse_transform(result.embedding[:3]).shape == (3, 30)
    np.testing.assert_array_equal(result.neighbors().indices, gn.Map(curved, positions).neighbors().indices)
    with pytest.raises(ValueError, match=r"must be one whose coordinates new rows have \(curved \(4 coordinates\)"):
        result.extend(table[:2])
    result.save(tmp_path / "m.gnomon")
    again = gn.Map.load(tmp_path / "m.gnomon")
    assert not again.representation.has_formula
    np.testing.assert_array_equal(again.transform(table[:9]), result.transform(table[:9]))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (np.zeros((120, 2)), "representation must be a gnomon.data.Representation"),
        (Representation("a", np.zeros((119, 2))), r"one row for each of X \(119 rows, 120"),
        (
            Representation("a", np.full((120, 2), np.nan)),
            r"values of representation 'a' must be finite .*row 0, column 0",
        ),
        (Representation("a", np.zeros((120, 2), int)), "a table of float32 or float64"),
        (Representation("a", np.zeros((120, 2)), np.zeros(30)), "both given or both None"),
        (Representation("a", np.zeros((120, 2)), np.zeros(30), np.zeros((3, 30))), r"components of .*shape \(2, 30\)"),
    ],
)
def test_what_is_no_representation_of_the_table_is_refused(table, given, text):
    with pytest.raises((TypeError, ValueError), match=text):
        gn.Map(table, table[:, :2], representation=given)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_pcs": -1}, "n_pcs=-1 must be"),
        ({"n_pcs": 31}, r"n_pcs=31 must be at most 30 \(n_samples=120, n_features=30"),
        ({"use_rep": "X_pca"}, r"use_rep='X_pca' must be left out \(it names a part of an AnnData object"),
        ({"labels": "kind"}, r"labels='kind' must be one of those in the data \(there are none\)"),
    ],
)
def test_what_a_table_does_not_have_is_refused(table, options, text):
    with pytest.raises(ValueError, match=text):
        gn.map(table, "pca", **options)


NOISE = np.random.default_rng(7).normal(size=(1500, 120))


@pytest.fixture(scope="module")
def of_noise():
    return gn.map(NOISE[:500], "pca", n_pcs=30)


def test_novelty_is_uniform_for_rows_like_those_of_the_map(of_noise):
    novelty = of_noise.novelty(NOISE[500:])
    assert 0.4 < np.median(novelty) < 0.6
    assert 0.01 < (novelty > 0.95).mean() < 0.1  # 166 rows tell where 5 of a hundred are
    _, drift = of_noise.extend(NOISE[500:])
    np.testing.assert_array_equal(drift.novelty, novelty)
    assert (drift.n_old, drift.n_compared, drift.refit) == (500, 166, False)
    assert drift.shift < 0.12
    assert "novelty is told by 166 old rows, held out of the components of others" in drift.summary()


def test_rows_that_differ_off_the_components_are_a_reason_to_fit_again(table):
    made, rng = gn.map(table, "pca", n_pcs=3), np.random.default_rng(1)
    off = np.linalg.svd(made.representation.components)[2][3:]
    _, drift = made.extend(table[:40] + 0.5 * rng.normal(size=(40, 27)) @ off)
    assert drift.unusual > 0.9
    assert drift.summary().splitlines()[-1].startswith("Fit again: ")
    assert "of the new rows are less like the old than 95 % of these (more than 15%, and than chance)" in str(drift)


def test_the_novelty_of_a_map_in_components_stays_when_it_grows_and_in_a_file(of_noise, tmp_path):
    made = gn.Map(NOISE[:500], of_noise.embedding, representation=of_noise.representation)
    known = made.novelty(NOISE[500:550])
    np.testing.assert_array_equal(known, of_noise.novelty(NOISE[500:550]))
    with pytest.warns(DataWarning, match="out of range"):
        larger, _ = made.extend(3.0 * NOISE[550:600])
    larger.save(tmp_path / "noise.gnomon")
    for other in (larger, gn.load(tmp_path / "noise.gnomon")):
        np.testing.assert_array_equal(other.novelty(NOISE[500:550]), known)
    _, again = larger.extend(NOISE[600:650])
    assert (again.n_old, again.n_compared) == (550, 183)


def test_novelty_is_of_the_columns_of_the_components():
    columns = np.arange(120) < 60
    data = gn.data.Dataset(X=NOISE[:300], representation=Reduction(10, columns))
    made = gn.map(data, "pca")
    changed = NOISE[500:700].copy()
    changed[:, 60:] += 100.0
    np.testing.assert_array_equal(made.novelty(changed), made.novelty(NOISE[500:700]))


@pytest.mark.parametrize("n", [3, 4, 12])
def test_few_rows_in_components_have_a_novelty(n):
    """Of 3 rows one is held out of the components of two."""
    novelty = gn.map(NOISE[:n], "pca", n_components=1, n_pcs=1).novelty(NOISE[:6])
    assert novelty.shape == (6,)
    assert ((novelty >= 0.0) & (novelty <= 1.0)).all()
