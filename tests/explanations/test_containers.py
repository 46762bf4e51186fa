"""Data frames of any kind are explained, contrasted and evaluated as their numbers are, under their own names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gnomon.evaluation import evaluate
from gnomon.explanations import explain
from gnomon.explanations.contrast import contrast

X = np.random.default_rng(0).normal(size=(80, 4))
Y = np.ascontiguousarray(X[:, :2])
FRAME = pd.DataFrame(X, columns=list("abcd"))
FRAMES = {
    "pandas": FRAME,
    "nullable": FRAME.convert_dtypes(),
    "arrow-backed": FRAME.astype("double[pyarrow]"),
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_f44_frames_give_what_their_numbers_give_under_their_names(kind):
    explanation = explain(FRAMES[kind], Y)
    np.testing.assert_array_equal(explanation.r2, explain(X, Y).r2)
    assert explanation.feature_names == list("abcd")
    found, plain = contrast(FRAMES[kind], np.arange(20)), contrast(X, np.arange(20))
    np.testing.assert_array_equal(found.effect_size, plain.effect_size)
    assert found.features == ["abcd"[j] for j in plain.indices]
    assert evaluate(FRAMES[kind], Y).scores() == evaluate(X, Y).scores()


def test_f43_columns_without_numbers_are_named():
    with pytest.raises(TypeError, match="'kind'"):
        explain(FRAME.assign(kind="x"), Y)
