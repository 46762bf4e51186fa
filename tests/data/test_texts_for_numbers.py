"""Texts where a table of numbers is asked for are told as texts, with how they become one; paths stay paths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.texts import TEXTS_TO_NUMBERS, are_sentences, are_texts

TEXTS = ["the cat sat", "a dog ran", "x y z"] * 20


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        lambda texts: np.array(texts, dtype=object),
        lambda texts: [[text] for text in texts],
        lambda texts: texts[:1],
        lambda texts: texts[0],
        lambda texts: [text.split()[0] for text in texts],  # of single words
        lambda texts: [*texts, "a/path.in a text"],
    ],
)
def test_texts_are_told_as_texts(form):
    with pytest.raises(TypeError, match=r"^map: X must be .*found texts.*TfidfVectorizer"):
        gn.map(form(TEXTS))


def test_estimators_say_the_same():
    with pytest.raises(TypeError, match=r"^UMAP: X must be .*get_feature_names_out"):
        gn.UMAP().fit(TEXTS)


def test_a_data_frame_of_texts_alone_says_how_they_become_numbers():
    frame = pd.DataFrame({"text": [f"{text} {i}" for i, text in enumerate(TEXTS)]})
    with pytest.raises(ValueError, match=r"a column that can become a feature.*TfidfVectorizer"):
        gn.map(frame)
    with pytest.raises(ValueError, match=r"a column that can become a feature \(.*\)\.$"):
        gn.map(pd.DataFrame({"code": [f"A-{i}" for i in range(60)]}))


@pytest.mark.parametrize(
    ("paths", "error", "told"),
    [
        ("digits", FileNotFoundError, "file 'digits' must be there"),
        ("no such file.npy", FileNotFoundError, "must be there"),
        (["a.parquet", "b.parquet"], FileNotFoundError, r"file 'a\.parquet' must be there"),
        (["s3://bucket/a b", "s3://bucket/c d"], (ValueError, OSError, ImportError), "."),
    ],
)
def test_what_is_named_as_a_file_is_a_path(paths, error, told):
    with pytest.raises(error, match=told) as caught:
        gn.map(paths)
    assert "texts" not in str(caught.value)


def test_a_file_that_is_there_is_read_whatever_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc")).to_parquet("a table of mine")
    assert gn.data.stored.open_stored(["a table of mine"]).shape == (30, 3)
    with pytest.raises(FileNotFoundError, match="file 'and one that is not there' must be there"):
        gn.map(["a table of mine", "and one that is not there"])


def test_numbers_that_are_written_out_are_no_texts():
    assert are_texts(["1.5", "two words"])
    assert not are_texts(["1.5", "-2e3", "nan", "one"])
    assert not are_texts([])
    assert not are_texts(["a text", 3])
    assert are_texts([b"a text"])
    with pytest.raises(TypeError, match=r"X\.astype\(float\)"):
        gn.map(np.array(["1.5", "2"] * 10))
    with pytest.raises(ValueError, match="Expected 2D array"):
        gn.map(np.array(["1.5", "2"] * 10, dtype=object))
    assert are_sentences(TEXTS)
    assert not are_sentences(["2024-01-01 12:00"] * 3)
    assert not are_sentences([])


def test_what_the_remedy_says_gives_a_map():
    vectorizer = pytest.importorskip("sklearn.feature_extraction.text").TfidfVectorizer()
    X = vectorizer.fit_transform([f"{text} word{i % 7} other{i % 11}" for i, text in enumerate(TEXTS)])
    made = gn.map(X, feature_names=vectorizer.get_feature_names_out(), metric="cosine", method="umap", max_iter=5)
    assert "word3" in made.feature_names
    assert "vectorizer.fit_transform(texts), feature_names=vectorizer.get_feature_names_out()" in TEXTS_TO_NUMBERS
