"""The map as one object: made, explained, evaluated, contrasted, saved, loaded, described."""

import dataclasses
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA as ReferencePCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

import gnomon as gn
from gnomon.evaluation import scorecard
from gnomon.linalg import align
from gnomon.viewer import Sequence


@pytest.fixture(scope="module")
def digits_map():
    digits = gn.datasets.load_digits()
    some = dataclasses.replace(digits, X=digits.X[:1200], labels=digits.labels[:1200])
    return gn.map(some, method="umap", max_iter=60, random_state=0)


def test_a_data_set_brings_its_names_labels_and_pictures(digits_map):
    assert digits_map.n_samples == 1200
    assert digits_map.embedding.shape == (1200, 2)
    assert len(digits_map.feature_names) == 64
    assert digits_map.labels is not None
    assert digits_map.parameters["random_state"] == 0


def test_explanation_and_evaluation_are_of_this_map_and_computed_once(digits_map):
    explanation = digits_map.explain()
    assert explanation is digits_map.explain()
    assert explanation.r2.shape == (1200,)
    assert digits_map.evaluate().trustworthiness > 0.9
    constant = np.flatnonzero(np.ptp(digits_map.X, axis=0) == 0)
    assert constant.size > 0
    assert (explanation.global_importance[constant] == 0).all()


def test_contrast_of_a_class_equals_its_profile(digits_map):
    zeros = np.flatnonzero(digits_map.labels == digits_map.labels[0])
    contrast = digits_map.contrast(zeros)
    profile = digits_map.profiles()[digits_map.labels[0]]
    assert contrast.features[:10] == profile.features[:10]
    np.testing.assert_allclose(contrast.effect_size[:10], profile.effect_size[:10], rtol=1e-6)


def test_report_names_scores_features_and_classes(digits_map):
    text = digits_map.report()
    for part in (
        "1,200 rows",
        "How far to trust it",
        "What moves points most, within",
        "What parts groups",
        "What sets each",
    ):
        assert part in text
    facts = json.loads(json.dumps(digits_map.to_dict()))
    assert facts["n_features"] == 64
    assert len(facts["profiles"]) == 10


def test_f97_saved_and_loaded_maps_are_equal(tmp_path):
    digits = gn.datasets.load_digits()
    labels, shape = np.asarray(digits.labels)[:400], digits.image_shape
    digits_map = gn.map(digits.X[:400], labels=labels, image_shape=shape, max_iter=60, random_state=0)
    path = tmp_path / "digits.gnomon"
    digits_map.save(path)
    again = gn.Map.load(path)
    np.testing.assert_array_equal(again.X, digits_map.X)
    assert again.X.dtype == digits_map.X.dtype
    np.testing.assert_array_equal(again.embedding, digits_map.embedding)
    np.testing.assert_array_equal(again.labels, digits_map.labels)
    np.testing.assert_array_equal(again.graph.indices, digits_map.graph.indices)
    np.testing.assert_array_equal(again.explain().r2, digits_map.explain().r2)
    assert again.parameters == digits_map.parameters
    assert again.report() == digits_map.report()
    again.save(tmp_path / "again.gnomon")
    assert (tmp_path / "again.gnomon").read_bytes() == path.read_bytes()


def test_a_sparse_map_with_metadata_round_trips(tmp_path):
    X = sparse.random(80, 30, density=0.3, format="csr", random_state=0)
    names = np.array([f"cell {i}" for i in range(80)], dtype=object)
    result = gn.map(X, method="pca", metadata={"barcode": names}, feature_names=[f"gene{j}" for j in range(30)])
    result.save(tmp_path / "map.gnomon")
    again = gn.Map.load(tmp_path / "map.gnomon")
    assert sparse.issparse(again.X)
    np.testing.assert_array_equal(again.X.toarray(), X.toarray())
    assert list(again.metadata["barcode"]) == list(names)


def test_f99_hostile_and_damaged_files_are_refused(digits_map, tmp_path):
    path = tmp_path / "map.gnomon"
    digits_map.save(path)
    whole = path.read_bytes()
    damaged = tmp_path / "damaged.gnomon"
    damaged.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"Map.load: file .* must be a complete gnomon-map file \(.*\)"):
        gn.Map.load(damaged)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("description.json", json.dumps({"kind": "gnomon-map", "version": 999}))
    with pytest.raises(ValueError, match="newer gnomon"):
        gn.Map.load(damaged)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("description.json", json.dumps({"kind": "gnomon-map", "version": 1}))
        header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little")
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000), }".ljust(117) + "\n"
        archive.writestr("embedding.npy", header + text.encode())
    with pytest.raises(ValueError, match=r"embedding.npy states 4000000000000000 bytes and has 0"):
        gn.Map.load(damaged)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("description.json", json.dumps({"kind": "gnomon-map", "version": 1}))
        text = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
        archive.writestr("embedding.npy", header + text.encode() + b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ValueError, match=r"embedding.npy does not hold plain numbers or text"):
        gn.Map.load(damaged)
    with pytest.raises(FileNotFoundError):
        gn.Map.load(tmp_path / "absent.gnomon")


def test_positions_made_elsewhere_are_explained_as_well(iris):
    X = pd.DataFrame(iris[0], columns=["sepal length", "sepal width", "petal length", "petal width"])
    result = gn.Map(X, ReferencePCA(2).fit_transform(iris[0]), labels=iris[1])
    assert result.method == "given"
    assert result.feature_names[2] == "petal length"
    assert np.median(result.explain().r2) > 0.9


def test_a_map_passes_a_sequence_to_its_page(iris, tmp_path):
    Y = ReferencePCA(2).fit_transform(iris[0])
    frames = align([Y[:, ::-1] * 7, Y.astype(np.float32)], reference=1)
    result = gn.Map(iris[0], Y, labels=iris[1])
    result.to_html(tmp_path / "plain.html")
    result.to_html(tmp_path / "moving.html", sequence=Sequence("weight", [0.5, 1], frames, main=-1))
    assert 'data-group="sequence"' in (tmp_path / "moving.html").read_text()
    assert 'data-group="sequence"' not in (tmp_path / "plain.html").read_text()
    with pytest.raises(ValueError, match="must be the embedding itself"):
        result.to_html(tmp_path / "wrong.html", sequence=Sequence("weight", [0.5, 1], [Y[::-1], Y]))


def test_any_estimator_can_make_the_map(iris):
    result = gn.map(iris[0], method=ReferencePCA(2))
    assert result.method == "PCA"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"method": "umpa"}, ValueError, "map: method='umpa' must be one of 'umap', 'tsne', 'pca'"),
        ({"method": "UMAPP"}, ValueError, r"'scale_map'\. Did you mean 'umap'\?"),
        ({"n_neighbours": 5}, TypeError, "map: n_neighbours must be a parameter of umap. Did you mean n_neighbors"),
        ({"n_epochs": 5}, TypeError, "UMAP: n_epochs must be written as max_iter"),
        ({"labels": [1, 2, 3]}, ValueError, "150"),
        ({"metric": "precomputed"}, ValueError, "map: metric='precomputed' must be a metric between rows of features"),
        ({"feature_names": ["a"]}, ValueError, "4"),
        ({"method": 3}, TypeError, r"map: method=3 must be a name .*, or an object with fit_transform \(found int\)"),
        ({"method": None}, TypeError, r"map: method=None must be a name .* \(found NoneType\)"),
        (
            {"method": gn.PCA},
            TypeError,
            r"map: method=PCA must be .* \(found a class\)\. Pass gnomon\.PCA\(\) or 'pca'\.",
        ),
        ({"method": ReferencePCA}, TypeError, r"\(found a class\)\. Pass PCA\(\)\."),
        ({"image_shape": 5}, TypeError, r"map: image_shape=5 must be \(height, width\) .* \(found int\)"),
        ({"image_shape": (2, "2")}, ValueError, r"map: image_shape=\(2, '2'\) must be \(height, width\)"),
        ({"metadata": [1]}, TypeError, r"to columns \(found list\)\. Pass .*that drop names"),
        (
            {"callback": 3},
            TypeError,
            r"map: callback=3 must be a function of a gnomon\.Progress, or None \(found int\)",
        ),
    ],
)
def test_wrong_arguments_are_named(arguments, error, text, iris):
    with pytest.raises(error, match=text):
        gn.map(iris[0], **arguments)


def test_lists_of_rows_are_tables_and_nothing_is_none(iris):
    made = gn.map(iris[0].tolist(), "pca")
    np.testing.assert_array_equal(made.embedding, gn.map(np.asarray(iris[0]), "pca").embedding)
    for X, error, text in (
        (None, TypeError, r"map: X must be an array, a data frame or a sparse matrix \(found NoneType\)"),
        ([], ValueError, "map: X must be two-dimensional"),
        ([[1, 2], [3]], ValueError, "map: X must be a list of rows of equal length"),
    ):
        with pytest.raises(error, match=text):
            gn.map(X)


def test_the_scorecard_of_a_map_is_of_its_rows_metric_and_labels():
    X = np.random.default_rng(0).normal(size=(90, 4))
    labels = np.arange(90) % 3
    made = gn.maps.Map(X, X[:, :2], labels=labels, metric="cosine", n_jobs=1)
    names = ["trustworthiness", "silhouette", "pearson"]
    expected = scorecard(X, made.embedding, labels, metric="cosine", measures=names, n_neighbors=7, n_jobs=1)
    assert made.scorecard(names, n_neighbors=7).to_dict() == expected.to_dict()


def test_a_map_is_explained_and_evaluated_in_its_own_metric(digits):
    X = digits[0][:300]
    result = gn.map(X, metric="cosine", max_iter=30, n_neighbors=20)
    assert result.metric == result.graph.metric == "cosine"
    expected = gn.evaluate(X, result.embedding, metric="cosine", random_state=0)
    assert result.evaluate().trustworthiness == expected.trustworthiness
    other = gn.map(X[:100], metric=lambda a, b: float(np.abs(a - b).sum()), max_iter=5)
    assert other.metric == "euclidean"
    assert other.graph is None
    assert "metric of its own" in other.notes[0]


def test_functions_are_not_hidden_by_rooms_of_the_same_name():

    assert callable(gn.map)
    assert callable(gn.explain)
    assert callable(gn.evaluate)


def test_an_estimator_is_copied_and_takes_what_it_leaves_open(iris):
    X = iris[0][:100]  # which are different
    estimator, told = gn.UMAP(n_neighbors=8, max_iter=20), []
    first = gn.map(X, method=estimator, random_state=7, callback=told.append)
    assert not hasattr(estimator, "embedding_")
    assert told
    assert first.parameters == {"n_neighbors": 8, "max_iter": 20, "random_state": 7}
    named = gn.map(X, n_neighbors=8, max_iter=20, random_state=7)
    np.testing.assert_array_equal(first.embedding, named.embedding)
    own = gn.map(X, method=gn.UMAP(n_neighbors=8, max_iter=20, random_state=3))
    assert own.parameters["random_state"] == 3
    places = first.place(X[:5] + 0.1)
    gn.map(X[::-1] + 5, method=estimator)
    np.testing.assert_array_equal(first.place(X[:5] + 0.1), places)


@pytest.mark.parametrize("method", [gn.UMAP(), ReferencePCA(2)])
def test_what_an_estimator_has_is_not_given_to_the_map_too(iris, method):
    rule = r"must be left out where method is an estimator\. Give them to the estimator\."
    with pytest.raises(ValueError, match=f"map: n_neighbors, foo {rule}"):
        gn.map(iris[0], method=method, n_neighbors=50, foo="bar")
    with pytest.raises(ValueError, match=f"map: n_components=3 {rule}"):
        gn.map(iris[0], method=method, n_components=3)
    with pytest.raises(ValueError, match=f"map: random_state=4 {rule}"):
        gn.map(iris[0], method=clone(method).set_params(random_state=3), random_state=4)


def test_a_seed_that_is_not_at_odds_with_that_of_an_estimator_is_taken(iris):
    X, method = iris[0][:100], gn.UMAP(max_iter=5, random_state=3)
    wanted = clone(method).fit_transform(X)
    for given in ({}, {"random_state": 3}, {"random_state": np.int64(3)}, {"random_state": None}):
        np.testing.assert_array_equal(gn.map(X, method=method, scale=None, **given).embedding, wanted)


@pytest.mark.parametrize(
    "form", [lambda one: one, lambda one: make_pipeline(StandardScaler(with_std=False, with_mean=False), one)]
)
def test_an_estimator_of_another_library_without_a_seed_gets_that_of_the_map(iris, form):
    X = iris[0][:80]
    method = form(GaussianRandomProjection(2))
    other = form(GaussianRandomProjection(2, random_state=5)).fit_transform(X)
    for seed in (5, 5 + 2**32):
        found = gn.map(X, method=method, random_state=seed)
        np.testing.assert_array_equal(found.embedding, other.astype(np.float32))
    assert all(value is None for name, value in method.get_params().items() if name.endswith("random_state"))
    assert "5" in str(found.parameters)


def test_an_estimator_of_another_library_is_fitted_as_it_is_if_it_has_a_seed_or_none_is_asked_for(iris):
    for method, seed in ((ReferencePCA(2, random_state=1), 0), (ReferencePCA(2), None)):
        gn.map(iris[0], method=method, random_state=seed)
        assert hasattr(method, "components_")


def test_an_estimator_that_cannot_get_the_seed_of_the_map_is_refused(iris):
    class Careless(ReferencePCA):
        def __init__(self, n_components=2, random_state=None):
            super().__init__(n_components=int(n_components) + 0, random_state=random_state)
            self.n_components = [n_components]

    with pytest.raises(TypeError, match=r"map: method of type Careless must be .*Give it a random_state"):
        gn.map(iris[0], method=Careless())


@pytest.mark.parametrize("method", ["umap", "mds"])
def test_given_distances_are_refused_with_the_way_of_the_method(method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    way = rf"Y = gnomon\.{method.upper()}\(metric='precomputed'\)\.fit_transform\(D\)"
    with pytest.raises(ValueError, match=way):
        gn.map(distances, method, metric="precomputed")
    places = getattr(gn, method.upper())(metric="precomputed", random_state=0).fit_transform(distances)
    assert gn.evaluate(distances, places, metric="precomputed").trustworthiness > 0.7
    assert gn.Map(X, places).n_features == 3  # as the error says
