"""What is given beside a table with its rows in another order is refused, not joined by place."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import gnomon as gn

N = 40
NAMES = [f"s{i:02d}" for i in range(N)]
X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), index=NAMES, columns=["a", "b", "c"])
KIND = pd.Series(np.arange(N) % 3, index=NAMES, name="kind")
OTHER = np.random.default_rng(1).permutation(N)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"labels": KIND.iloc[OTHER]}, "labels"),
        ({"metadata": KIND.iloc[OTHER].to_frame()}, "metadata"),
        ({"metadata": {"k": KIND.iloc[OTHER]}}, r"metadata\['k'\]"),
        ({"sample_weight": KIND.iloc[OTHER] + 1.0}, "sample_weight"),
        ({"labels": KIND.iloc[:-5].reindex([*NAMES[:-5], *"vwxyz"])}, "labels"),
    ],
)
def test_series_and_frames_in_another_order_are_refused_with_the_remedy(given, what):
    rule = rf"map: {what} must be in the order of the rows of X \(row \d+ of X is 's\d\d', and '\w+' there"
    with pytest.raises(ValueError, match=rule + rf".*Pass {what}\.loc\[X\.index\]"):
        gn.map(X, method="pca", **given)


def test_the_same_order_other_rows_and_arrays_are_taken_by_their_place():
    for labels in (KIND, KIND.to_numpy(), KIND.reset_index(drop=True), KIND.iloc[OTHER].to_numpy(), [*KIND]):
        made = gn.map(X, method="pca", labels=labels)
        np.testing.assert_array_equal(made.labels, np.asarray(labels))
    shuffled = X.reset_index(drop=True).sample(frac=1.0, random_state=0)
    gn.map(shuffled, method="pca", labels=KIND.reset_index(drop=True)[shuffled.index])
    with pytest.raises(ValueError, match="labels must be in the order of the rows of X"):
        gn.map(shuffled, method="pca", labels=KIND.reset_index(drop=True))
    doubled = X.set_axis([*NAMES[: N // 2], *NAMES[: N // 2]])  # names that repeat tell no order
    gn.map(doubled, method="pca", labels=KIND.set_axis(doubled.index[OTHER]))
    gn.map(X, method="pca", labels=KIND.set_axis([*NAMES[1:], NAMES[1]]))
    with pytest.raises(ValueError, match="Map: embedding must be in the order of the rows of X"):
        gn.Map(X, X.iloc[OTHER, :2])


def test_a_column_of_metadata_with_the_names_in_another_order_is_refused():
    for metadata in ({"sample": np.array(NAMES)[OTHER]}, {"sample": pd.Series(NAMES).iloc[OTHER].to_numpy()}):
        with pytest.raises(
            ValueError, match=r"metadata must be in the order of the rows \(column 'sample' has the names"
        ):
            gn.map(X, method="pca", metadata=metadata)
    gn.map(X, method="pca", metadata={"sample": np.array(NAMES), "half": np.array(NAMES)[OTHER // 2]})


def test_masks_of_rows_in_another_order_are_refused():
    made = gn.map(X, method="pca", labels=KIND)
    mask = KIND == 0
    np.testing.assert_array_equal(made.contrast(mask).effect, made.contrast(mask.to_numpy()).effect)
    with pytest.raises(ValueError, match="contrast: rows must be in the order of the rows of X"):
        made.contrast(mask.iloc[OTHER])


@pytest.mark.parametrize("index", [True, False])
def test_the_command_line_refuses_a_file_of_metadata_in_another_order(tmp_path, index):
    X.rename_axis(None if index else "sample").to_csv(tmp_path / "x.csv")
    sheet = pd.DataFrame({"sample": NAMES, "kind": KIND.to_numpy()})
    sheet.iloc[OTHER].to_csv(tmp_path / "m.csv", index=False)
    words = [sys.executable, "-m", "gnomon", "map", "x.csv", "--method", "pca", "--metadata", "m.csv", "-o", "m.html"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "'sample' has the names of the rows in another order" in done.stderr
