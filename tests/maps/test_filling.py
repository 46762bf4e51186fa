"""A map of a table without gaps that fills in what new rows lack, by its own rows."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.completion.recipe import _hide_at_random
from gnomon.exceptions import DataWarning
from gnomon.maps.file import VERSION, pack, unpack


def people(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "size": group + 0.1 * rng.normal(size=n),
            "weight": 60 - 9 * group + 0.5 * rng.normal(size=n),
            "kind": np.array([*"abc"], object)[group],
            "vip": np.array(["no", "yes"], object)[(group > 0) * 1],
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(100 * group + rng.integers(0, 9, n), unit="D"),
        }
    )


@pytest.fixture(scope="module")
def made():
    return gn.map(people(150, 0), "pca", n_jobs=1)


@pytest.fixture(scope="module")
def new():
    """Return rows that lack one value each, of every column in turn, and the same rows without gaps."""
    whole = people(40, 1)
    lacking = whole.astype({"kind": object, "vip": object})
    for i in range(len(whole)):
        lacking.iloc[i, i % 5] = None
    return lacking, whole


def test_rows_with_gaps_come_near_their_true_places(made, new):
    lacking, whole = new
    with pytest.raises(
        ValueError, match=r"X must be finite \(it contains NaN .*m = m\.filling\(\) .*, then m\.transform"
    ):
        made.transform(lacking)
    filling = made.filling()
    assert made.completion is None
    np.testing.assert_array_equal(filling.embedding, made.embedding)
    np.testing.assert_array_equal(filling.transform(whole), made.transform(whole))
    radius = np.sqrt(made.embedding.var(axis=0).sum())
    off = np.linalg.norm(filling.transform(lacking) - made.transform(whole), axis=1)
    assert off.max() < 0.2 * radius  # one value in five tells next to nothing that the others do not
    by_median = np.linalg.norm(made.filling("median").transform(lacking) - made.transform(whole), axis=1)
    assert np.median(by_median) > 5 * np.median(off)
    np.testing.assert_allclose(filling.place(lacking), filling.transform(lacking), atol=1e-6)
    assert filling.novelty(lacking).shape == (40,)


def test_a_row_is_filled_in_by_itself_and_a_file_keeps_how(made, new, tmp_path):
    lacking, _ = new
    filling = made.filling()
    together = filling.transform(lacking)
    for i in (0, 7, 13):
        np.testing.assert_allclose(filling.transform(lacking.iloc[[i]])[0], together[i], rtol=0, atol=1e-6)
    filling.save(tmp_path / "m.gnomon")
    again = gn.load(tmp_path / "m.gnomon")
    assert again.transform(lacking).tobytes() == together.tobytes()
    assert again.completion.held_out.error == filling.completion.held_out.error < 0.2
    assert filling.filling() is filling


def test_a_map_that_fills_in_grows_and_its_report_tells_of_no_gaps_before(made, new):
    lacking, _ = new
    filling = made.filling()
    assert filling.report() == made.report()
    larger, drift = filling.extend(lacking)
    assert drift.missing is not None
    assert larger.completion.missing[:150].sum() == 0
    assert larger.completion.missing[150:].sum() == lacking.isna().to_numpy().sum() + 2 * 8  # kind has three features
    assert "nan%" not in larger.completion.summary()


def test_texts_that_cannot_be_read_are_missing_to_it(made):
    rows = people(3, 2).astype({"size": object})
    rows.loc[1, "size"] = "unknown"
    with pytest.raises(ValueError, match=r"'size' has 'unknown' .* or pass the rows to m\.filling\(\)"):
        made.transform(rows)
    with pytest.warns(DataWarning, match="'size' has 'unknown' in 1 row: no number, taken as missing"):
        found = made.filling().transform(rows)
    rows.loc[1, "size"] = np.nan
    np.testing.assert_array_equal(made.filling().transform(rows), found)


def test_a_map_with_gaps_of_its_own_is_returned_and_a_sparse_one_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    with pytest.raises(ValueError, match="the map must be of a dense table to fill in new rows"):
        gn.map(sp.csr_array(np.abs(X)), "pca").filling()
    with pytest.raises(ValueError, match="missing='drop' must be 'distance' or 'median'"):
        gn.map(X, "pca").filling("drop")
    X[3, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        gaps = gn.map(X, "pca")
    assert gaps.filling() is gaps
    one = gn.map(rng.normal(size=(40, 2))[:, :1], "pca", n_components=1)
    with pytest.warns(DataWarning, match="1 of 1 new row has no value at all: its place says nothing of it"):
        assert np.isfinite(one.filling().transform([[np.nan]])).all()


def test_rows_without_any_value_get_the_means_and_are_told(made, new):
    rows = new[0].copy()
    rows.loc[[3, 8]] = None
    filling = made.filling()
    with pytest.warns(
        DataWarning, match="^Map: 2 of 40 new rows have no value at all: their places say nothing of them"
    ):
        places = filling.transform(rows)
    np.testing.assert_allclose(places[[3, 8]], 0.0, atol=1e-5)  # of principal components
    others = np.delete(np.arange(40), [3, 8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(filling.transform(rows.iloc[others]), places[others], atol=1e-6)
    with pytest.warns(DataWarning, match="of 40 new rows have no value at all"):
        filling.extend(rows)


def test_a_category_of_which_other_columns_tell_nothing_is_filled_in_by_its_shares(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.choice([*"abcd"], 600, p=[0.4, 0.3, 0.2, 0.1])
    made = gn.map(pd.DataFrame({"x": rng.normal(size=600), "y": rng.normal(size=600), "kind": kind}), "pca", n_jobs=1)
    filling = made.filling()
    assert filling.completion.held_out.error > 0.9  # the other indicators of a category do not tell it
    found = filling.completion.fill([[0.1, -0.2, *[np.nan] * 4]])[0, 2:]
    np.testing.assert_allclose(found, made.X[:, 2:].mean(axis=0), atol=0.1)
    filling.save(tmp_path / "m.gnomon")  # with the trust in what is filled in
    again = gn.load(tmp_path / "m.gnomon")
    np.testing.assert_array_equal(again.completion.recipe.trust, filling.completion.recipe.trust)
    np.testing.assert_array_equal(again.completion.fill([[0.1, -0.2, *[np.nan] * 4]])[0, 2:], found)
    arrays, about = pack(filling)
    about = json.loads(json.dumps(about))
    for wrong in (None, [0.5], [0.5] * 5 + [2.0], [1] * 6):
        with pytest.raises(ValueError, match="the trust in what is filled in is"):
            unpack(dict(arrays), {**about, "trust": wrong, "version": VERSION}, gn.Map)


def test_features_of_a_column_are_hidden_together_and_one_in_eight_columns():
    together = np.array([0, 1, 1, 1, *range(2, 20)])
    rows, hidden = _hide_at_random(together, 1000, 5)
    assert len(np.unique(rows)) == len(rows) == 200
    assert (hidden[:, 1:4].sum(axis=1) % 3 == 0).all()
    columns = np.delete(hidden, [2, 3], axis=1)
    assert columns.any(axis=1).all()
    assert columns.mean() == pytest.approx(1 / 8, abs=0.02)
