"""The catalogue of faults in types and containers (group C), for every method: numbers count, not what holds them."""

import functools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from gnomon.exceptions import GnomonWarning
from quick import ESTIMATORS, of_few_steps

rng = np.random.default_rng(0)
WHOLE = np.unique(rng.integers(0, 10, size=(24, 5)), axis=0).astype(np.float64)  # what every type holds exactly
SINGLE = WHOLE.astype(np.float32)
BITS = ((np.arange(24)[:, None] >> np.arange(5)) & 1).astype(np.float32)  # of which no two rows are equal
BYTES = (25 * SINGLE).astype(np.uint8)  # differences below 0 and squares above 255: no numbers of eight bits
SIGNED = (14 * SINGLE - 63).astype(np.int8)
HALVES = (6000 * SINGLE).astype(np.float16)  # sums and squares are beyond the 65,504 of float16
FRAME = pd.DataFrame(WHOLE, columns=list("abcde"))
FORMATS = {"csr": "matrix", "csc": "array", "coo": "matrix", "bsr": "array", "lil": "matrix", "dok": "array"}


def read_only(given):
    for array in (given,) if isinstance(given, np.ndarray) else (given.data, given.indices, given.indptr):
        array.setflags(write=False)
    return given


def scrambled(X):
    """Return rows whose entries are out of order, those of the first column in two parts, with a flag that lies."""
    entries = np.column_stack([X[:, ::-1], np.ones(len(X))])
    entries[:, 4] -= 1.0
    columns = np.tile([4, 3, 2, 1, 0, 0], len(X))
    given = sparse.csr_array((entries.ravel(), columns, 6 * np.arange(len(X) + 1)), shape=X.shape)
    given.has_sorted_indices = True
    return given


def of_wide_indices(X):
    given = sparse.csr_array(X)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    return given


# What is given, and the array or canonical matrix whose map it must have.
SAME = {
    "f37-bool": (BITS > 0, BITS),
    "f37-sparse-bool": (sparse.csr_array(BITS > 0), sparse.csr_array(BITS)),
    "f38-uint8": (BYTES, BYTES.astype(np.float32)),
    "f38-int8": (SIGNED, SIGNED.astype(np.float32)),
    "f38-int64": (WHOLE.astype(np.int64), WHOLE),
    "f39-half": (HALVES, HALVES.astype(np.float32)),
    "f40-lists": (WHOLE.tolist(), WHOLE),
    "f44-nullable": (FRAME.astype("Int64"), WHOLE),
    "f44-arrow-backed": (FRAME.astype(pd.ArrowDtype(pa.float64())), WHOLE),
    "f44-arrow": (pa.Table.from_pandas(FRAME), WHOLE),
    "f44-polars": (pl.from_pandas(FRAME), WHOLE),
    "f45-read-only": (read_only(WHOLE.copy()), WHOLE),
    "f45-read-only-sparse": (read_only(sparse.csr_array(WHOLE)), sparse.csr_array(WHOLE)),
    "f46-columns": (np.asfortranarray(WHOLE), WHOLE),
    "f46-strided": (np.repeat(WHOLE, 2, axis=0)[::2], WHOLE),
    "f46-negative-strides": (WHOLE[::-1, ::-1].copy()[::-1, ::-1], WHOLE),
    "f47-big-endian": (WHOLE.astype(">f8"), WHOLE),
    "f47-big-endian-single": (WHOLE.astype(">f4"), SINGLE),
    "f47-big-endian-integers": (WHOLE.astype(">i2"), SINGLE),
    **{
        f"f49-{kind}": (getattr(sparse, f"{kind}_{how}")(WHOLE), sparse.csr_array(WHOLE))
        for kind, how in FORMATS.items()
    },
    "f50-scrambled": (scrambled(WHOLE), sparse.csr_array(WHOLE)),
    "f52-wide-indices": (of_wide_indices(WHOLE), sparse.csr_array(WHOLE)),
}
MIXED = FRAME.assign(kind=pd.Categorical(["x", "y"] * 12), town=["p"] * 24)
REFUSED = {
    "f43-pandas": (MIXED, TypeError, r"2 of 7 columns hold something else: 'kind': Categorical, 'town': String"),
    "f43-polars": (pl.from_pandas(MIXED), TypeError, r"2 of 7 columns hold something else: 'kind': .*, 'town': String"),
    "f44-nullable": (FRAME.astype("Int64").mask(FRAME["a"] > 8), ValueError, r"NaN \(\d+\): .*column 'a'"),
    "f44-polars": (pl.from_pandas(FRAME.mask(FRAME["b"] > 8)), ValueError, r"NaN \(\d+\): .*column 'b'"),
    "f48-matrix": (WHOLE.view(np.matrix), TypeError, r"np\.matrix is not supported.*np\.asarray"),
}


def stored(X):
    """Return the bytes of everything that X holds, as it holds it."""
    if isinstance(X, np.ndarray):
        return [X.tobytes()]
    if isinstance(X, (sparse.sparray, sparse.spmatrix)):
        parts = ("data", "indices", "indptr", "coords", "rows", "offsets")
        return [np.asarray(getattr(X, name)).tolist() for name in parts if hasattr(X, name)]
    return [X.tolist() if hasattr(X, "tolist") else repr(X)]


def map_of(name, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return of_few_steps(name).fit_transform(X)


@functools.cache
def expected(name, case):
    """Return the map of what a case must equal; cases that must equal the same share it."""
    first = next(one for one in SAME if same(SAME[one][1], SAME[case][1]))
    return map_of(name, SAME[case][1]) if first == case else expected(name, first)


def same(one, other):
    if type(one) is not type(other) or one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool((one != other).sum() == 0)


@pytest.mark.parametrize("case", SAME)
def test_what_holds_the_numbers_changes_no_map_and_is_not_written(case):
    given = SAME[case][0]
    before = stored(given)
    for name in ESTIMATORS:
        np.testing.assert_array_equal(map_of(name, given), expected(name, case), err_msg=name)
        assert stored(given) == before, name


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f45_a_memory_map_has_the_map_of_the_table_in_memory(name, tmp_path):
    np.save(tmp_path / "table.npy", WHOLE)
    before = (tmp_path / "table.npy").read_bytes()
    Y = map_of(name, np.load(tmp_path / "table.npy", mmap_mode="r"))
    np.testing.assert_array_equal(Y, expected(name, "f45-read-only"))
    assert (tmp_path / "table.npy").read_bytes() == before


@pytest.mark.parametrize("case", REFUSED)
def test_what_holds_no_table_of_numbers_is_refused(case):
    X, error, text = REFUSED[case]
    for name, estimator in ESTIMATORS.items():
        if name == "robust_pca" and text.startswith("NaN"):
            continue  # takes what is missing as unknown
        with pytest.raises(error, match=text):
            clone(estimator).fit(X)
