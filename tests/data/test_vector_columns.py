"""A column that holds a vector in each row becomes a feature for each of its numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gnomon as gn
from gnomon.data import read_table
from gnomon.data.columns.vectors import entries_of, vectors_among, vectors_of

E = np.random.default_rng(0).normal(size=(60, 4))
TEXTS = [f"document {i}" for i in range(60)]
FORMS = {
    "pandas": pd.DataFrame({"text": TEXTS, "embedding": list(E)}),
    "lists": pd.DataFrame({"text": TEXTS, "embedding": E.tolist()}),
    "polars": pl.DataFrame({"text": TEXTS, "embedding": E.tolist()}),
    "polars array": pl.DataFrame({"text": TEXTS, "embedding": E}),
    "arrow": pa.table({"text": TEXTS, "embedding": E.tolist()}),
    "mapping": {"text": TEXTS, "embedding": E},
    "records": [{"text": text, "embedding": list(row)} for text, row in zip(TEXTS, E, strict=True)],
    "written": pd.DataFrame({"text": TEXTS, "embedding": [str(row) for row in E.tolist()]}),
    "written by NumPy": pd.DataFrame({"text": TEXTS, "embedding": [str(list(row)) for row in E]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_map_is_that_of_the_vectors_in_whatever_form_they_come(form):
    made = gn.map(FORMS[form], method="pca")
    np.testing.assert_array_equal(made.embedding, gn.map(E, method="pca").embedding)
    assert made.feature_names == [f"embedding[{j}]" for j in range(4)]
    assert [*made.metadata] == ["text"]
    assert "columns of vectors, a feature for each of their numbers: 'embedding' (4)" in made.notes
    np.testing.assert_allclose(made.transform(FORMS[form]), made.embedding, atol=1e-5)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_files_of_vectors_are_read(tmp_path, end):
    table, path = FORMS["lists"], tmp_path / f"t.{end}"
    table.to_csv(path, index=False) if end == "csv" else table.to_parquet(path)
    made = gn.map(read_table(path), method="pca")
    np.testing.assert_array_equal(made.X, E)
    assert [*made.metadata] == ["text"]
    np.testing.assert_allclose(made.transform(FORMS["pandas"]), made.embedding, atol=1e-5)


def test_a_column_of_vectors_is_used_and_left_out_by_its_name():
    table = FORMS["pandas"].assign(likes=np.arange(60) % 7, score=E[:, 0] ** 2)
    assert gn.map(table, method="pca", features=["embedding"]).feature_names == [f"embedding[{j}]" for j in range(4)]
    for options in ({"drop": ["embedding"]}, {"forget": ["embedding"]}):
        made = gn.map(table, method="pca", **options)
        assert made.feature_names == ["likes", "score"]
        assert [*made.metadata] == ["text"]


def test_vectors_are_all_of_one_length_and_of_numbers():
    def column(values):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found

    np.testing.assert_array_equal(vectors_of(column([[1, 2], (3, 4)])), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(vectors_of(E[:, :2]), E[:, :2])
    assert vectors_of(E[:, :1]) is None
    np.testing.assert_array_equal(vectors_of(column(["[1, 2.5]", " [ 3e0 -4. ]\n"])), [[1, 2.5], [3, -4]])
    others = [[[1, 2], [3]], [[1, 2], None], [[1], [2]], [["a", "b"]] * 2, ["[1, 2]", "[3, x]"], ["[1, 2]", "[3]"]]
    others += [["[1, ..., 2]"] * 2, ["(1, 2)"] * 2, [{"a": 1}] * 2, [1.0, 2.0], [], [None, [1, 2]], [[[1, 2]] * 2] * 2]
    others += [["[1, 2]", None], ["[1, 2]", 3.0]]
    assert [one for one in others if vectors_of(column(one)) is not None] == []
    assert entries_of("e", ["e[0]", "e[1]", "e[3]"]) == ["e[0]", "e[1]"]
    assert vectors_among(["e[1]", "x", "e[0]", "f[0]", "g[1]", "g[2]"]) == {"e": ["e[0]", "e[1]"]}


def test_vectors_that_were_cut_when_written_are_told():
    table = pd.DataFrame({"embedding": [f"[{row[0]} {row[1]} ... {row[2]}]" for row in E], "score": E[:, 3]})
    with pytest.warns(gn.exceptions.DataWarning, match=r"not read \(cut when they were written.*Parquet"):
        assert gn.map(table, method="pca", n_components=1).feature_names == ["score"]


def test_what_is_wrong_with_one_vector_is_told_with_its_row():
    def odd(value):
        return FORMS["pandas"].assign(score=E[:, 0], embedding=[value if i == 5 else row for i, row in enumerate(E)])

    for value, said in ((None, "row 5 no vector that can be read"), (E[0, :3], "row 5 3")):
        with pytest.raises(
            TypeError, match=rf"'embedding' .* of vectors of one length \(row 0 has 4 numbers and {said}"
        ):
            gn.map(odd(value), method="pca")
    made = gn.map(FORMS["pandas"], method="pca")
    with pytest.raises(ValueError, match=r"'embedding' must be of vectors of as many numbers as in fit \(row 0 has 4"):
        made.transform(odd(E[0, :3])[["text", "embedding"]])
    texts = FORMS["written"].assign(score=E[:, 0])
    texts.loc[5, "embedding"] = ""
    with pytest.warns(gn.exceptions.DataWarning, match=r"vectors that are not read \(row 0 has 4 .* row 5 no vector"):
        gn.map(texts, method="pca", n_components=1)


def test_entries_are_named_one_by_one_and_no_column_is_lost():
    table = FORMS["pandas"].assign(a=E[:, 0] ** 2)
    some = gn.map(table, method="pca", features=["a", "embedding[2]"])
    assert some.feature_names == ["a", "embedding[2]"]
    assert [*some.metadata] == ["text"]
    assert "columns of vectors, a feature for each of their numbers: 'embedding' (1)" in some.notes
    rest = gn.map(table, method="pca", drop=["embedding[0]"])
    assert rest.feature_names == [*(f"embedding[{j}]" for j in range(1, 4)), "a"]
    assert [*rest.metadata] == ["text"]
    gone = gn.map(table.assign(b=E[:, 1]), method="pca", forget=["embedding"])
    assert not any("embedding" in note for note in gone.notes)
    for clash in (table.assign(**{"embedding[0]": 1.0}), {"embedding[0]": E[:, 0], "embedding": E}):
        with pytest.raises(ValueError, match=r"column 'embedding\[0\]' is called as one of the numbers of 'embedding'"):
            gn.map(clash, method="pca")


def test_bands_and_codes_that_are_written_as_vectors_stay_texts():
    bands = pd.DataFrame({"band": ["[0, 10]", "[10, 20]", "[20, 30]"] * 20, "score": E[:, 0]})
    assert "band[0]" not in gn.map(bands, method="pca").feature_names
