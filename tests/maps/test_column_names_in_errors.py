"""What is said of new rows and of missing values calls columns by the names of the table, not by numbers."""

import numpy as np
import pandas as pd
import pytest

import gnomon

NAMES = ["age", "income", "height", "weight"]
TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=NAMES)
BAD = TABLE.to_numpy()[:3].copy()
BAD[1, 2] = np.nan


@pytest.fixture(scope="module", params=["pca", "umap"])
def made(request):
    return gnomon.map(TABLE, request.param, n_jobs=1)


@pytest.mark.parametrize("ask", ["transform", "place", "novelty", "jacobian", "extend"])
def test_a_bad_value_of_rows_without_names_is_placed_by_name(made, ask):
    for rows in (BAD, BAD.tolist(), np.where(np.isnan(BAD), "abc", BAD.astype(object))):
        with pytest.raises((TypeError, ValueError), match="at row 1, column 'height'"):
            getattr(made, ask)(rows)


def test_so_is_that_of_one_row(made):
    with pytest.raises(ValueError, match="at row 0, column 'height'"):
        made.linearize(BAD[1])


def test_rows_of_another_width_or_of_a_table_without_names_have_numbers(made):
    with pytest.raises(ValueError, match="at row 1, column 2"):
        made.transform(BAD[:, :3])
    with pytest.raises(ValueError, match="at row 1, column 2"):
        gnomon.map(TABLE.to_numpy(), "pca", n_jobs=1).transform(BAD)


@pytest.mark.parametrize("method", [gnomon.PCA, gnomon.UMAP])
def test_so_do_methods(method):
    with pytest.raises(ValueError, match="at row 1, column 'height'"):
        method(n_jobs=1).fit(TABLE).transform(BAD)


def test_a_completion_knows_the_names_of_its_table(tmp_path):
    gaps = TABLE.copy()
    gaps.iloc[3, 1] = np.nan
    completion = gnomon.complete_missing(gaps, n_jobs=1)
    assert completion.feature_names == NAMES
    assert "in 1 of 4 columns ('income' 1)" in completion.summary()
    assert "('b' 1)" in completion.summary(list("abcd"))
    assert "('feature 1' 1)" in gnomon.complete_missing(gaps.to_numpy(), n_jobs=1).summary()
    with pytest.raises(ValueError, match="column 'height'"):
        completion.fill(np.where(np.isnan(BAD), np.inf, BAD))
    with pytest.raises(ValueError, match="must be in the same order"):
        completion.fill(gaps.iloc[:, ::-1])
    with pytest.warns(gnomon.exceptions.DataWarning, match="missing"):
        made = gnomon.map(gaps, "pca", n_jobs=1)
    made.save(tmp_path / "made.gnomon")
    for one in (made, gnomon.load(tmp_path / "made.gnomon")):
        assert one.completion.summary() == made.completion.summary(NAMES)
