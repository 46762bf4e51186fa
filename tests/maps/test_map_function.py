"""A map is a function of rows, has an inverse and a derivative, and grows without moving what is there."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.exceptions import DataWarning
from gnomon.extension import AffineAtlas
from gnomon.maps import Map

RNG = np.random.default_rng(0)
BLOBS = np.r_[RNG.normal(size=(150, 4)), RNG.normal(size=(150, 4)) + 6.0]
SIDES = np.repeat(["left", "right"], 150)
LIKE = np.r_[RNG.normal(size=(100, 4)), RNG.normal(size=(100, 4)) + 6.0]


@pytest.fixture(scope="module")
def fitted():
    return gnomon.map(BLOBS, "pca", labels=SIDES, metadata={"size": np.arange(300.0)}, n_jobs=1)


def test_rows_are_placed_by_the_method_and_by_the_atlas_without_one(fitted):
    assert fitted.extension_kind == "method"
    np.testing.assert_allclose(fitted.transform(BLOBS), fitted.embedding, atol=1e-5)
    given = Map(BLOBS, fitted.embedding)
    assert given.extension_kind == "atlas"
    np.testing.assert_allclose(given.transform(BLOBS), fitted.embedding, atol=1e-6)
    np.testing.assert_allclose(given.transform(LIKE[:5]), fitted.transform(LIKE[:5]), atol=1e-4)
    np.testing.assert_allclose(given.jacobian(LIKE[0]), fitted.jacobian(LIKE[0]), atol=1e-4)
    np.testing.assert_array_equal(given.novelty(LIKE), fitted.novelty(LIKE))
    atlas = AffineAtlas(BLOBS, fitted.embedding)
    places = fitted.embedding[:4]
    np.testing.assert_array_equal(given.inverse_transform(places), atlas.inverse_transform(places))
    assert fitted.inverse_transform(places).shape == (4, 4)


def test_a_map_grows_and_old_rows_keep_their_places_to_the_bit(fitted):
    larger, drift = fitted.extend(LIKE, labels=np.repeat(["left", "right"], 100))
    np.testing.assert_array_equal(larger.embedding[:300], fitted.embedding)
    assert larger.embedding.tobytes().startswith(fitted.embedding.tobytes())
    np.testing.assert_allclose(larger.embedding[300:], fitted.transform(LIKE), atol=1e-5)
    np.testing.assert_array_equal(larger.X[300:], LIKE)
    assert larger.labels.tolist()[300:] == ["left"] * 100 + ["right"] * 100
    assert np.isnan(larger.metadata["size"][300:]).all()
    assert larger.metadata["fitted"].tolist() == ["yes"] * 300 + ["no"] * 200
    assert not drift.refit
    assert drift.labels == {"left": 100, "right": 100}
    assert drift.unusual < 0.15
    assert abs(drift.preserved_new - drift.preserved_old) < 0.1
    assert "No need to fit again." in drift.summary()
    np.testing.assert_array_equal(larger.transform(LIKE[:3]), fitted.transform(LIKE[:3]))
    assert larger.extension_kind == "method"


def test_rows_of_another_kind_are_reported_and_a_new_fit_is_advised(fitted):
    other = np.random.default_rng(1).normal(size=(80, 4)) * 0.3 + np.array([3.0, -9.0, 12.0, 3.0])
    larger, drift = fitted.extend(other)
    assert drift.unusual > 0.95
    assert drift.out_of_range > 0.5
    assert drift.shift > 0.9
    assert drift.refit
    assert "Fit again: " in str(drift)
    assert set(larger.labels[300:]) == {None}
    assert sum(new for _, new, _ in drift.regions) == 80
    assert any("80 rows were added" in note for note in larger.notes)


def test_new_rows_of_a_map_in_components_are_compared_by_their_features():
    rng = np.random.default_rng(0)
    names = [f"f{j}" for j in range(30)]
    made = gnomon.map(rng.normal(size=(200, 30)), "pca", n_pcs=5, feature_names=names, scale=None)
    new = rng.normal(size=(100, 30))
    new[:, 17] = 0.0
    larger, drift = made.extend(new)
    assert sorted(drift.columns.columns) == list(range(30))
    assert "a column has one value in all new rows (f17)" in drift.summary()
    assert "a column has one value in all new rows (f17)" in larger.notes[-1]


@pytest.mark.parametrize("kind", [str, int, bool])
def test_new_rows_without_labels_change_no_score_of_them(kind, tmp_path):
    names = np.repeat(np.array([0, 1], dtype=kind), 150)
    made = Map(BLOBS, BLOBS[:, :2], labels=names)
    larger, _ = made.extend(LIKE)
    again, drift = larger.extend(LIKE)
    assert set(drift.labels) == {*names.tolist()}
    assert sum(drift.labels.values()) == 200
    assert again.evaluate().knn_accuracy == pytest.approx(made.evaluate().knn_accuracy, abs=0.06)
    again.save(tmp_path / "m.gnomon")
    assert len(Map.load(tmp_path / "m.gnomon").profiles()) == 2
    mixed, _ = larger.extend(LIKE[:2], labels=["other", None])
    assert {*mixed.profiles()} == {*names.tolist(), "other"}


def test_a_map_of_given_positions_grows_by_its_atlas_and_goes_on_with_it():
    given = Map(BLOBS, BLOBS[:, :2])
    larger, drift = given.extend(LIKE[:40])
    assert larger.extension_kind == "atlas"
    np.testing.assert_allclose(larger.embedding[300:], LIKE[:40, :2], atol=1e-3)
    again, _ = larger.extend(LIKE[40:60])
    np.testing.assert_array_equal(again.transform(LIKE[60:]), given.transform(LIKE[60:]))
    assert again.metadata["fitted"].tolist() == ["yes"] * 300 + ["no"] * 60
    assert drift.n_new == 40


def test_sparse_maps_grow():
    X = np.where(np.abs(BLOBS) < 0.4, 0.0, BLOBS)
    larger, _ = Map(sp.csr_array(X), X[:, :2]).extend(LIKE[:30])
    assert larger.X.shape == (330, 4)
    np.testing.assert_allclose(larger.X[[300]].toarray()[0], LIKE[0], atol=1e-6)


def test_equal_bytes_for_any_number_of_threads():
    grown = []
    for n_jobs in (1, 2, 3):
        larger, drift = Map(BLOBS, BLOBS[:, :2], n_jobs=n_jobs).extend(LIKE)
        grown.append((larger.embedding.tobytes(), drift.novelty.tobytes(), drift.summary()))
    assert grown[0] == grown[1] == grown[2]


def test_new_rows_are_checked(fitted):
    for ask in (fitted.transform, fitted.extend, fitted.novelty):
        with pytest.raises(ValueError, match="X has 3 features, but Map is expecting 4 features"):
            ask(LIKE[:, :3])
    with pytest.raises(ValueError, match="0 sample"):
        fitted.extend(LIKE[:0])
    assert fitted.transform(LIKE[:0]).shape == (0, 2)
    named = gnomon.map(pd.DataFrame(BLOBS, columns=list("abcd")), "pca")
    with pytest.raises(ValueError, match="feature names"):
        named.transform(pd.DataFrame(LIKE, columns=list("bacz")))
    np.testing.assert_array_equal(named.transform(LIKE), named.transform(pd.DataFrame(LIKE, columns=list("abcd"))))
    with pytest.raises(ValueError, match="Map: labels must be None for a map without labels"):
        named.extend(LIKE, labels=np.zeros(200))
    with pytest.raises(ValueError, match="size of length 3 must be one entry for each of 200 new rows"):
        fitted.extend(LIKE, metadata={"size": np.zeros(3)})
    with pytest.warns(DataWarning, match="out of range"):
        Map(BLOBS, BLOBS[:, :2]).transform(LIKE[:2] + 100.0)


@pytest.mark.parametrize("method", ["umap", "lle", "mds"])
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.NeighborsWarning")
def test_a_map_that_grew_is_the_same_function_as_before_and_after_a_file(method, tmp_path):
    made = gnomon.map(BLOBS, method, random_state=0)
    larger, _ = made.extend(LIKE[:50])
    larger.save(tmp_path / "larger.gnomon")
    for grown in (larger, Map.load(tmp_path / "larger.gnomon")):
        for ask in ("transform", "place", "jacobian"):
            np.testing.assert_array_equal(getattr(grown, ask)(LIKE[50:60]), getattr(made, ask)(LIKE[50:60]))
        np.testing.assert_array_equal(
            grown.inverse_transform(made.embedding[:5]), made.inverse_transform(made.embedding[:5])
        )
    assert np.abs(made.place(LIKE[50:]) - made.transform(LIKE[50:])).max() > 0.0


def test_rows_out_of_range_are_told_with_their_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(5.0, 1.0, (120, 6)), columns=[f"lab{j}" for j in range(6)])
    made = gnomon.map(frame, "umap", random_state=0)
    new = frame.iloc[:30] + 0.01
    new["lab4"] *= 18.0
    new.iloc[:2, 1] += 20.0
    ends = f"{frame['lab4'].min():.4g} to {frame['lab4'].max():.4g}"
    around = f"{new['lab4'].median():.4g}"
    for ask in (made.transform, made.place, made.extend):
        with pytest.warns(DataWarning, match="30 of 30 rows lie out of range") as caught:
            ask(new)
        (told,) = [str(one.message) for one in caught if "out of range" in str(one.message)]
        assert f"Beyond all rows of the map lie 30 in 'lab4' (around {around}, the map has {ends}), 2 in 'lab1'" in told
        assert told.endswith(". See novelty().")
        assert "'lab0'" not in told


def test_rows_out_of_range_of_a_sparse_map_and_between_its_rows_name_no_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * 0.1
    X[:60] += 5.0
    middle = np.full((1, 5), 2.5)
    for table, rows in ((X, middle), (sp.csr_array(X), sp.csr_array(middle * 9))):
        made = gnomon.map(table, "umap", random_state=0)
        with pytest.warns(DataWarning, match="1 of 1 rows lie out of range") as caught:
            made.transform(rows)
        assert "Beyond" not in str(caught[0].message)
