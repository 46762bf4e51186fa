"""NPY and NPZ: which arrays are found, and that nothing hostile is run or allocated."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.data import read_table

X = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        np.savez(tmp_path / "table.npz", **arrays)
        return tmp_path / "table.npz"

    return save


def test_table(tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = read_table(tmp_path / "X.npy")
    np.testing.assert_array_equal(data.X, X)
    assert data.images is None


@pytest.mark.parametrize("shape", [(5, 4, 3), (5, 4, 3, 3)])
def test_arrays_of_pictures_are_laid_out_in_rows(tmp_path, shape):
    pictures = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.save(tmp_path / "X.npy", pictures)
    data = read_table(tmp_path / "X.npy")
    np.testing.assert_array_equal(data.X, pictures.reshape(5, -1))
    np.testing.assert_array_equal(data.images, pictures)
    assert data.image_shape == shape[1:]


def test_archive_with_everything(save):
    data = read_table(
        save(
            X=X.astype(np.uint8),
            y=np.array([1, 0, 1]),
            target_names=np.array(["no", "yes"]),
            feature_names=np.array(["a", "a", "b", ""]),
            feature_shape=np.array([2, 2]),
            batch=np.array(["p", "q", "p"]),
        )
    )
    assert data.X.dtype == np.uint8
    assert data.labels.tolist() == ["yes", "no", "yes"]
    assert data.label_name == "y"
    assert data.feature_names == ["a", "a (2)", "b", "column 3"]
    assert data.image_shape == (2, 2)
    assert data.images.shape == (3, 2, 2)
    assert data.metadata["batch"].tolist() == ["p", "q", "p"]


def test_labels_by_name(save):
    path = save(values=X, group=np.array([5, 6, 7]))
    assert read_table(path).labels is None
    assert read_table(path, labels="group").labels.tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match="available: 'group'"):
        read_table(path, labels="y")


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_parts(tmp_path, form):
    matrix = sp.csr_array(np.diag([1.0, 2.0, 3.0])).asformat(form)
    sp.save_npz(tmp_path / "m.npz", matrix)
    data = read_table(tmp_path / "m.npz")
    assert isinstance(data.X, sp.csr_array)
    np.testing.assert_array_equal(data.X.toarray(), matrix.toarray())


def test_sparse_parts_with_labels_and_genes(save):
    m = sp.csr_array(X)
    data = read_table(
        save(
            data=m.data,
            indices=m.indices,
            indptr=m.indptr,
            shape=np.array(m.shape),
            y=np.array([0, 1, 0]),
            gene_names=np.array(list("wxyz")),
        )
    )
    np.testing.assert_array_equal(data.X.toarray(), X)
    assert data.feature_names == list("wxyz")
    assert data.metadata == {}


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"a": X, "b": X}, r"an archive with one table.*found a \(3, 4\), b \(3, 4\)"),
        ({"a": np.arange(3)}, r"found a \(3,\)"),
        ({"X": X, "y": np.arange(2)}, "one for each row .2 labels, 3 rows"),
        ({"X": X, "y": np.array([0, 1, 2]), "target_names": np.array(["a"])}, "labels from 0 to 2, 1 names"),
        ({"X": np.zeros((2, 2, 2, 2, 2))}, "has shape"),
        (
            {"data": np.ones(1), "indices": np.array([9]), "indptr": np.array([0, 1]), "shape": np.array([1, 2])},
            "a valid sparse matrix",
        ),
    ],
)
def test_archives_that_cannot_be_read(save, arrays, text):
    with pytest.raises(ValueError, match=text):
        read_table(save(**arrays))


def test_f99_pickles_are_refused(tmp_path, save):
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="NPY file"):
        read_table(tmp_path / "o.npy")
    with pytest.raises(ValueError, match="Python objects, which could run code"):
        read_table(save(X=np.array([[{}]], dtype=object)))
    (tmp_path / "p.npy").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(ValueError, match="a complete NPY file"):
        read_table(tmp_path / "p.npy")


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_f99_truncated_files(tmp_path, kind, keep):
    whole = io.BytesIO()
    (np.save if kind == "npy" else np.savez)(whole, np.random.default_rng(0).standard_normal((50, 5)))
    path = tmp_path / f"cut.{kind}"
    path.write_bytes(whole.getvalue()[: int(keep * len(whole.getvalue()))])
    with pytest.raises(ValueError, match=f"a complete {kind.upper()} file"):
        read_table(path)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_f99_a_shape_beyond_the_stored_bytes_is_refused_before_allocation(tmp_path, kind):
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
    path = tmp_path / f"huge.{kind}"
    if kind == "npy":
        path.write_bytes(array.getvalue())
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", array.getvalue())
    with pytest.raises(ValueError, match=f"a complete {kind.upper()} file"):
        read_table(path)
