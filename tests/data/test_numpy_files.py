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
    assert data.notes == []


@pytest.mark.parametrize("shape", [(5, 4, 3), (5, 4, 3, 3)])
def test_arrays_of_pictures_are_laid_out_in_rows(tmp_path, shape):
    pictures = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.save(tmp_path / "X.npy", pictures)
    data = read_table(tmp_path / "X.npy")
    np.testing.assert_array_equal(data.X, pictures.reshape(5, -1))
    np.testing.assert_array_equal(data.images, pictures)
    assert data.image_shape == shape[1:]
    (said,) = data.notes
    assert said.startswith(f"the array of shape {shape} is read as 5 pictures of 4 x 3 pixels; if it holds something")
    np.save(tmp_path / "X.npy", pictures[:1])
    assert "is read as one picture of 4 x 3 pixels" in read_table(tmp_path / "X.npy").notes[0]


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


def npy(header, content=b"", version=1):
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text + content


HEADERS = {
    "records": (
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "plain numbers .it holds records.*gnomon.map takes",
    ),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", "Python objects, which could run code"),
    "negative": (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 8), }",
        "not that of an array of plain numbers",
    ),
    "open": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,", "not that of an array of plain numbers"),
    "twice": ("{'descr': '<f8', 'descr': '<f8', 'shape': (1, 1), }", "not that of an array of plain numbers"),
    "code": ("{'descr': '<f8', 'fortran_order': False, 'shape': (print(1),), }", "not that of an array"),
    "type": ("{'descr': '<f7', 'fortran_order': False, 'shape': (1, 1), }", "NumPy knows no type <f7"),
    "several": ("{'descr': '<f8,<f8', 'fortran_order': False, 'shape': (1, 1), }", "not that of plain numbers or text"),
    "empty": ("{'descr': '<U0', 'fortran_order': False, 'shape': (999999999999, 1), }", "has no size"),
    "long": (" " * 20_000, "header has 20,001 bytes"),
}


@pytest.mark.parametrize(("header", "text"), HEADERS.values(), ids=HEADERS)
def test_f99_damaged_headers(tmp_path, header, text):
    (tmp_path / "t.npy").write_bytes(npy(header, bytes(64)))
    with pytest.raises(ValueError, match=f"a complete NPY file .*{text}"):
        read_table(tmp_path / "t.npy")


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }",
        '{"shape": (3L, 4L), "fortran_order": False, "descr": "<f8"}   ',  # other writers, and Python 2
    ],
)
def test_headers_of_other_writers(tmp_path, header, version):
    (tmp_path / "t.npy").write_bytes(npy(header, X.tobytes(), version))
    np.testing.assert_array_equal(read_table(tmp_path / "t.npy").X, X)


@pytest.mark.parametrize("kind", ["<f8", ">i4", "<f2", "|b1", "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders(tmp_path, kind, order):
    array = np.asarray(X, dtype=kind, order=order)
    np.save(tmp_path / "t.npy", array)
    data = read_table(tmp_path / "t.npy").X
    np.testing.assert_array_equal(data, array)
    assert data.dtype == array.dtype


ODD = {
    "no dimensions": ({"X": X, "feature_shape": np.array(4)}, "feature_shape must be 2 or 3 whole numbers"),
    "shape of text": ({"X": X, "feature_shape": np.array(["2", "2"])}, "feature_shape must be 2 or 3 whole numbers"),
    "huge shape": ({"X": X, "feature_shape": np.array([2**62, 2**62])}, "must be that of a row"),
    "text": ({"X": np.array([["a", "b"]])}, "X must be an array of numbers"),
    "complex": ({"X": X * 1j}, "Complex data not supported"),
    "names": (
        {"X": X, "y": np.array([0, 1, 0]), "target_names": np.array("a")},
        "target_names must be a list of names",
    ),
    "no rows": ({"X": np.zeros((0, 2, 2, 2))}, "a table or an array of pictures"),
}
PARTS = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 3])}
ODD_PARTS = {
    "shape": ({"shape": np.array(2)}, "shape must be 2 whole numbers"),
    "negative": ({"shape": np.array([2, -3])}, r"a valid sparse matrix \(shape \(2, -3\)\)"),
    "wide": ({"shape": np.array([2, 2**40])}, "a valid sparse matrix .shape"),
    "fractions": ({"indices": np.array([0.0, 1.0])}, "not whole numbers"),
    "outside": ({"indices": np.array([0, 3])}, "a valid sparse matrix"),
    "backwards": ({"indptr": np.array([0, 2, 1])}, "a valid sparse matrix"),
    "dimensions": ({"data": np.ones((2, 1))}, "more or fewer dimensions"),
    "layout": ({"format": np.array(["csr", "csc"])}, "a CSR or CSC matrix"),
    # A row without entries takes no bytes in this layout: 250 bytes would become 17 GB.
    "rows": (
        {"format": np.array("csc"), "shape": np.array([2**31 - 1, 2])},
        r"a valid sparse matrix \(2,147,483,647 rows and 2 entries\)",
    ),
}


@pytest.mark.parametrize(("arrays", "text"), ODD.values(), ids=ODD)
def test_f99_odd_arrays(save, arrays, text):
    with pytest.raises((ValueError, TypeError), match=text):
        read_table(save(**arrays))


@pytest.mark.parametrize(("changes", "text"), ODD_PARTS.values(), ids=ODD_PARTS)
def test_f99_odd_parts_of_a_sparse_matrix(save, changes, text):
    assert read_table(save(**PARTS)).X.toarray().tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match=text):
        read_table(save(**(PARTS | changes)))


def test_pictures_of_a_damaged_table_are_drawn_without_a_warning(save):
    values = np.array([[np.nan, np.inf, 1e308, -1e308]])
    data = read_table(save(X=values, feature_shape=np.array([2, 2])))
    assert data.images.tolist() == [[[0, 255], [255, 0]]]


def test_f99_text_of_characters_that_do_not_exist(save):
    broken = np.array([2**31 - 1] * 3, "<u4").view("<U1")
    with pytest.raises(ValueError, match="characters that do not exist"):
        read_table(save(X=X, names=broken))


def archive(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name), content, method)
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_f99_odd_archives(tmp_path):
    whole = io.BytesIO()
    np.save(whole, X)
    whole = whole.getvalue()
    path = tmp_path / "t.npz"
    with pytest.raises(ValueError, match="array 'X' is stored twice"):
        read_table(archive(path, [("X.npy", whole), ("X.npy", whole)]))
    with pytest.raises(ValueError, match="compressed as NumPy never does"):
        read_table(archive(path, [("X.npy", whole)], zipfile.ZIP_LZMA))
    with pytest.raises(ValueError, match="array 'X' has more bytes than its shape takes"):
        read_table(archive(path, [("X.npy", whole + b"x")]))
    np.testing.assert_array_equal(read_table(archive(path, [("X.npy", whole), ("about.txt", b"hello")])).X, X)
    damaged = bytearray(archive(path, [("X.npy", whole)], zipfile.ZIP_DEFLATED).read_bytes())
    damaged[60:90] = bytes(30)
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="a complete NPZ file"):
        read_table(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_f99_a_size_in_the_directory_that_cannot_be_is_refused(tmp_path, method):
    whole = io.BytesIO()
    np.save(whole, X)
    content = bytearray(archive(tmp_path / "t.npz", [("X.npy", whole.getvalue())], method).read_bytes())
    entry = content.rindex(b"PK\1\2")
    content[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(ValueError, match="states more bytes than can be stored"):
        read_table(tmp_path / "t.npz")
