"""A fitted estimator that goes through a file, a pickle or a copy is the same estimator, to the last bit."""

import copy
import io
import pickle
from dataclasses import fields, is_dataclass

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gnomon as gn
from gnomon.affinities import Gram
from quick import ESTIMATORS, VARIANTS

DIGITS = load_digits().data[:, 18:46:2]  # fourteen pixels of the middle
X, NEW = DIGITS[:60].astype(np.float32), DIGITS[200:204].astype(np.float32)
KINDS = {
    "float32": (X, NEW),
    "float64": (DIGITS[:60] / 7.0, DIGITS[200:204] / 7.0),
    "sparse": (sp.csr_array(X), sp.csr_array(NEW)),
}
CASES = [
    *((f"{name}, {kind}", one, kind) for name, one in ESTIMATORS.items() for kind in ("float32", "sparse")),
    *((f"{name}, float64", ESTIMATORS[name], "float64") for name in ("umap", "pca", "kernel_pca", "mds")),
    *((f"variant {number}", one, "float64") for number, one in enumerate(VARIANTS)),
]
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")


def same(one, other):
    """Say whether two values are of one type and equal in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and one.dtype.hasobject:
        return one.tolist() == other.tolist()
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, sp.csr_array):
        return all(same(getattr(one, part), getattr(other, part)) for part in ("data", "indices", "indptr", "shape"))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one) if field.init)
    if isinstance(one, Gram):
        products = [gram.matvec(np.ones((gram.n_samples, 1))).tobytes() for gram in (one, other)]
        return (one.kind, one.stored, one.semidefinite) == (other.kind, other.stored, other.semidefinite) and (
            products[0] == products[1]
        )
    if type(one).__module__.startswith("gnomon."):
        return all(map(same, sorted(vars(one).items()), sorted(vars(other).items())))
    return one == other or (one != one and other != other)


def learned(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("_")}


def answers(estimator, rows):
    """Bytes of all that a fitted estimator says of new rows."""
    places = estimator.embedding_[:3] + np.float32(0.01)
    found = {
        "transform": np.asarray(estimator.transform(rows)),
        "inverse_transform": np.asarray(estimator.inverse_transform(places)),
        "jacobian": np.asarray(estimator.jacobian(rows[:2])),
    }
    if hasattr(estimator, "place"):
        found["place"] = estimator.place(rows)
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in found.items()}


def through_a_file(estimator, folder):
    estimator.save(folder / "method.gnomon")
    return gn.load(folder / "method.gnomon")


def copies(estimator, folder):
    """What a file, a pickle, joblib and a deep copy give back."""
    stream = io.BytesIO()
    joblib.dump(estimator, stream)
    stream.seek(0)
    return {
        "file": through_a_file(estimator, folder),
        "pickle": pickle.loads(pickle.dumps(estimator)),
        "joblib": joblib.load(stream),
        "deepcopy": copy.deepcopy(estimator),
    }


@pytest.mark.parametrize(("one", "kind"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_f97_a_copy_of_any_kind_is_what_was_fitted(one, kind, tmp_path):
    table, rows = KINDS[kind]
    made = clone(one).fit(table)
    first = answers(made, rows)
    for name, other in copies(made, tmp_path).items():
        assert type(other) is type(made), name
        assert same(other.get_params(), made.get_params()), name
        assert same(learned(other), learned(made)), name
        assert answers(other, rows) == first, name
    assert not learned(clone(made))


@pytest.mark.parametrize("name", ["pca", "umap", "isomap"])
def test_names_of_features_and_the_kind_of_output_are_kept(name, tmp_path):
    frame = pd.DataFrame(X, columns=[f"pixel {number}" for number in range(X.shape[1])])
    made = clone(ESTIMATORS[name]).set_output(transform="pandas").fit(frame)
    loaded = through_a_file(made, tmp_path)
    np.testing.assert_array_equal(loaded.feature_names_in_, frame.columns)
    pd.testing.assert_frame_equal(loaded.transform(frame[:5]), made.transform(frame[:5]))
    with pytest.raises(ValueError, match="feature"):
        loaded.transform(frame[frame.columns[::-1]])


@pytest.mark.parametrize("name", ["tsne", "umap", "isomap", "mds", "kernel_pca"])
def test_methods_of_given_distances_are_kept(name, tmp_path):
    distances = pairwise_distances(X, metric="manhattan").astype(np.float32)
    parameter = {"kernel": "precomputed"} if name == "kernel_pca" else {"metric": "precomputed"}
    start = {"init": "random"} if name == "tsne" else {}
    made = clone(ESTIMATORS[name]).set_params(**parameter, **start).fit(distances)
    rows = pairwise_distances(NEW, X, metric="manhattan").astype(np.float32)
    np.testing.assert_array_equal(through_a_file(made, tmp_path).transform(rows), made.transform(rows))


@pytest.mark.parametrize(
    "parts",
    [
        {"metric": "minkowski", "metric_params": {"p": 3}},
        {"init": X[:, 4:6].copy()},
        {"kernel": gn.kernels.StudentT(0.5), "affinity": gn.affinities.GaussianAffinity(4.0)},
        {"optimizer": gn.optimizers.Adam(0.1, max_iter=20)},
        {"loss": "cross_entropy", "optimizer": gn.optimizers.SampledDescent(10, seed=3)},
        {"affinity": sp.csr_array(np.exp(-0.01 * pairwise_distances(X)) * (1 - np.eye(60)))},
        {"affinity": Gram.from_features(X), "loss": "frobenius", "kernel": "linear"},
    ],
    ids=lambda parts: ", ".join(parts),
)
def test_parts_of_gnomon_are_kept(parts, tmp_path):
    usual = {"optimizer_params": {"max_iter": 20}} if "optimizer" not in parts else {}
    made = gn.NeighborEmbedding(n_neighbors=5, random_state=0, **usual, **parts).fit(X)
    loaded = through_a_file(made, tmp_path)
    assert answers_of_transform(loaded) == answers_of_transform(made)
    np.testing.assert_array_equal(loaded.fit(X).embedding_, made.embedding_)


def answers_of_transform(estimator):
    return estimator.transform(NEW).tobytes()


def test_indefinite_similarities_keep_their_inertia(tmp_path):
    similarities = np.round(np.corrcoef(DIGITS[:60]), 1)
    made = gn.KernelPCA(2, kernel="precomputed", random_state=0).fit(similarities)
    assert made.negative_inertia_ > 0.01
    assert through_a_file(made, tmp_path).negative_inertia_ == made.negative_inertia_


def test_a_loaded_estimator_is_fitted_again_to_the_same_map(tmp_path):
    for name in ("umap", "tsne", "pca"):
        made = clone(ESTIMATORS[name]).fit(X)
        np.testing.assert_array_equal(through_a_file(made, tmp_path).fit(X).embedding_, made.embedding_)


def test_a_loaded_estimator_works_in_a_pipeline(tmp_path):
    pipe = make_pipeline(StandardScaler(), clone(ESTIMATORS["umap"])).fit(X)
    places = pipe.transform(NEW)
    pipe.steps[-1] = ("umap", through_a_file(pipe[-1], tmp_path))
    np.testing.assert_array_equal(pipe.transform(NEW), places)


def _manhattan(a, b):
    return float(np.abs(a - b).sum())


class _Own(gn.UMAP):
    pass


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (gn.UMAP(metric=_manhattan, max_iter=5), "metric is a function"),
        (gn.UMAP(callback=lambda progress: None, max_iter=5), "callback is a function"),
        (gn.NeighborEmbedding(loss=gn.objectives.KLDivergence, optimizer_params={"max_iter": 5}), "loss is a function"),
        (
            gn.NeighborEmbedding(
                kernel=gn.kernels.CustomKernel(lambda s: 1 / (1 + s), lambda s: -1 / (1 + s) ** 2, bounded=True),
                optimizer_params={"max_iter": 5},
            ),
            "kernel is of type CustomKernel",
        ),
        (_Own(max_iter=5), "_Own is no method of gnomon"),
    ],
)
def test_what_a_file_cannot_hold_is_named_with_a_remedy(made, what, tmp_path):
    made.fit(X[:40])
    form = f"{type(made).__name__}: the estimator must be one that a file can hold .*{what}, .*no code.*\\. Give parts"
    with pytest.raises(TypeError, match=form):
        made.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()
    pickled = None if what.startswith(("callback", "kernel")) else pickle.loads(pickle.dumps(made))
    assert pickled is None or same(pickled.embedding_, made.embedding_)


def test_only_what_is_fitted_is_saved(tmp_path):
    with pytest.raises(NotFittedError):
        gn.UMAP().save(tmp_path / "x")


def test_a_generator_is_stored_as_the_seed_it_gave(tmp_path):
    made = gn.UMAP(random_state=np.random.default_rng(3), max_iter=5).fit(X)
    loaded = through_a_file(made, tmp_path)
    assert loaded.random_state == made.seed_
    np.testing.assert_array_equal(loaded.fit(X).embedding_, made.embedding_)


def test_one_function_loads_whatever_was_saved(tmp_path):
    made = gn.map(X, "pca")
    made.save(tmp_path / "map")
    assert isinstance(gn.load(tmp_path / "map"), gn.Map)
    gn.AffineAtlas(X, made.embedding).save(tmp_path / "atlas")
    assert isinstance(gn.load(tmp_path / "atlas"), gn.AffineAtlas)
    with pytest.raises(FileNotFoundError, match=r"^load: file '.*none' must be there \(no such file\)\.$"):
        gn.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"no such file\)\. Did you mean '.*map'\?$"):
        gn.load(tmp_path / "maps")
    with pytest.raises(FileNotFoundError, match=r"must be there \(no folder '.*none'\)\.$"):
        gn.Map.load(tmp_path / "none" / "map")
    with pytest.raises(IsADirectoryError, match=r"must be a file \(it is a folder\)\.$"):
        gn.load(tmp_path)
    np.savez(tmp_path / "table.npz", X=X)
    kinds = "gnomon-map or gnomon-landmark-map or gnomon-method or gnomon-atlas or gnomon-aligned-maps"
    with pytest.raises(ValueError, match=rf"^load: file .* must be a complete {kinds}"):
        gn.load(tmp_path / "table.npz")


def test_rows_that_are_all_the_same_share_one_place_after_the_file_too(tmp_path):
    fitted = gn.UMAP(max_iter=10).fit(np.ones((40, 8), np.float32))
    fitted.save(tmp_path / "one.gnomon")
    rows = np.eye(3, 8, dtype=np.float32)
    np.testing.assert_array_equal(gn.load(tmp_path / "one.gnomon").transform(rows), fitted.transform(rows))
