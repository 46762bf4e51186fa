"""The benchmark of counterfactuals asks a forest that has not seen the map's rows."""

from __future__ import annotations

import pytest
from benchmarks.counterfactuals import agreement
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


@pytest.mark.slow
def test_plausible_rows_are_believed_and_need_more_than_the_map_does():
    X, labels = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype("float32")
    plausible, by_map = (agreement(X, labels, 12, plausible=choice) for choice in (True, False))
    assert plausible["real"] > 0.9
    assert plausible["real"] == by_map["real"]
    assert plausible["answered"] == pytest.approx(1, abs=0.2)
    assert plausible["needed"] >= 0.8 * plausible["real"] > by_map["needed"]
    assert plausible["n_needed"] > by_map["n_needed"]
