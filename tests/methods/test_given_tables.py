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
        places(name, {"x": 1})
