"""Tables that are parameters, such as a start, may come in any form that a table of a fit has."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn

X = np.random.default_rng(0).normal(size=(40, 4))
START = X[:, :2].copy()
FITS = {
    "init": lambda given: gn.UMAP(init=given, max_iter=5, random_state=0, n_neighbors=5),
    "reference": lambda given: gn.DREAMS(reference=given, max_iter=5, random_state=0, perplexity=5, init="random"),
    "anchors": lambda given: gn.UMAP(anchors=given, max_iter=5, random_state=0, n_neighbors=5, init="random"),
    "MDS": lambda given: gn.MDS(init=given, max_iter=3),
    "weights": lambda given: gn.MDS(weights=given, max_iter=3),
    "GradientPCA": lambda given: gn.GradientPCA(n_components=2, init=given, max_iter=3),
}


def places(name, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS[name](given).fit(X).embedding_


@pytest.mark.parametrize("name", FITS)
def test_a_frame_is_as_good_as_an_array(name):
    given = 1.0 + np.abs(START[:, 0]) if name == "weights" else START
    frame = pd.Series(given) if name == "weights" else pd.DataFrame(given, columns=["x", "y"])
    np.testing.assert_array_equal(places(name, frame), places(name, given))
    np.testing.assert_array_equal(places(name, given.tolist()), places(name, given))


@pytest.mark.parametrize("name", FITS)
def test_what_is_no_table_is_refused_by_name(name):
    with pytest.raises(TypeError, match=r"must be .*an array of"):
        places(name, {1, 2})


def test_anchors_may_be_a_frame_and_masked_places_are_free():
    free = np.full((40, 2), np.nan)
    free[:4] = START[:4]
    hidden = np.ma.masked_array(np.where(np.isnan(free), 9.0, free), mask=np.isnan(free))
    fit = {given: places("anchors", table) for given, table in (("plain", free), ("masked", hidden))}
    np.testing.assert_array_equal(fit["masked"], fit["plain"])
    np.testing.assert_array_equal(places("anchors", pd.DataFrame(free)), fit["plain"])


def test_masked_numbers_are_missing():
    for name in ("init", "reference"):
        with pytest.raises(ValueError, match=f"{name} must be finite"):
            places(name, np.ma.masked_array(START, mask=np.arange(80).reshape(40, 2) == 7))
