"""A fitted method that goes through a file answers with the same bytes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD

import gnomon as gn
from gnomon.methods import METHODS
from gnomon.methods.state import pack_method
from gnomon.storage import NotStorableError, Parts
from quick import ESTIMATORS

DIGITS = load_digits().data.astype(np.float32)
X, NEW = DIGITS[:100], DIGITS[200:206]
QUICK = {name: {"max_iter": 10} for name, one in ESTIMATORS.items() if "max_iter" in one.get_params()}


def farthest_step(a, b):
    return float(np.abs(a - b).max())


def answers(result):
    """Bytes and types of all that a map says as a function."""
    asked = {"inverse_transform": result.embedding[:4] + np.float32(0.01), "jacobian": NEW[:2]}
    asked |= {name: NEW for name in ("place", "transform") if hasattr(result._estimator, name)}
    found = {name: np.asarray(getattr(result, name)(rows)) for name, rows in asked.items()}
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in found.items()}


def through_a_file(result, path):
    result.save(path)
    return gn.Map.load(path)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [card.name for card in METHODS])
def test_a_loaded_map_answers_with_the_same_bytes(method, tmp_path):
    made = gn.map(X, method, **QUICK.get(method, {}))
    loaded = through_a_file(made, tmp_path / "map.gnomon")
    assert type(loaded._estimator) is type(made._estimator)
    assert loaded.extension_kind == made.extension_kind
    assert loaded.notes == made.notes
    assert answers(loaded) == answers(made)


@pytest.mark.parametrize(
    ("table", "method", "parameters"),
    [
        pytest.param(np.concatenate([X, X[:20]]), "umap", {"max_iter": 10}, id="equal rows"),
        pytest.param(sp.csr_array(X), "umap", {"max_iter": 10}, id="sparse"),
        pytest.param(X.astype(np.float64) / 7.0, "kernel_pca", {}, id="double precision"),
        pytest.param(X, "umap", {"max_iter": 10, "metric": "cosine"}, id="cosine"),
        pytest.param(X, "two_kernel_lle", {"max_iter": 10, "input_kernel": "gaussian"}, id="weights of a kernel"),
        pytest.param(
            X, "umap", {"max_iter": 10, "metric": "minkowski", "metric_params": {"p": 3}}, id="with parameters"
        ),
        pytest.param(X, "umap", {"max_iter": 10, "init": X[:, 20:22].copy()}, id="start as an array"),
    ],
)
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_tables_and_parameters_of_other_kinds_go_through_too(table, method, parameters, tmp_path):
    made = gn.map(table, method, **parameters)
    loaded = through_a_file(made, tmp_path / "map.gnomon")
    assert loaded.extension_kind == made.extension_kind
    rows = sp.csr_array(NEW) if sp.issparse(table) else NEW
    np.testing.assert_array_equal(loaded.transform(rows), made.transform(rows))
    np.testing.assert_array_equal(loaded.place(rows), made.place(rows))


def test_what_the_file_holds_already_is_not_held_again():
    made = gn.map(X, "umap", max_iter=10)
    arrays, _ = pack_method(made._estimator, Parts(made.X, made.embedding, made.graph))
    assert sum(array.nbytes for array in arrays.values()) < 0.1 * X.nbytes
    alone, _ = pack_method(made._estimator, Parts(X[:1], made.embedding[:1], None))
    assert sum(array.nbytes for array in alone.values()) > X.nbytes


@pytest.mark.parametrize(
    ("method", "why"),
    [
        pytest.param(
            gn.UMAP(metric=lambda a, b: float(np.abs(a - b).sum()), max_iter=5), "metric is a function", id="metric"
        ),
        pytest.param(TruncatedSVD(2, random_state=0), "TruncatedSVD is no method of gnomon", id="another library"),
    ],
)
def test_a_method_that_no_file_can_hold_is_noted_and_the_map_is_the_same_function(method, why, tmp_path):
    made = gn.map(X[:60], method)
    assert made.extension_kind == "atlas"
    loaded = through_a_file(made, tmp_path / "map.gnomon")
    assert loaded.extension_kind == "atlas"
    (note,) = set(loaded.notes) - set(made.notes)
    assert note.startswith("The fitted method is not in the file: ")
    assert why in note
    np.testing.assert_array_equal(loaded.transform(NEW), made.transform(NEW))
    assert made.place(NEW).shape == (6, 2)
    with pytest.raises(ValueError, match="Map: the map must be one with a fitted method that places rows"):
        loaded.place(NEW)


def test_a_class_of_the_same_name_is_not_taken_for_one_of_gnomon():
    class UMAP(gn.UMAP):
        pass

    fitted = UMAP(max_iter=5).fit(X[:60])
    with pytest.raises(NotStorableError, match="is no method of gnomon"):
        pack_method(fitted, Parts(X[:60], fitted.embedding_, None))


def test_a_question_does_not_keep_the_method_out_of_the_file(tmp_path):
    made = gn.map(X, "kernel_pca")
    rows = made.inverse_transform(made.embedding[:3])
    loaded = through_a_file(made, tmp_path / "map.gnomon")
    assert loaded.notes == made.notes
    np.testing.assert_array_equal(loaded.inverse_transform(made.embedding[:3]), rows)
