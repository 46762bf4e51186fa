"""The judge of pushes on maps whose answer is known."""

import numpy as np
import pytest
from benchmarks.pushes import push, score


@pytest.mark.parametrize("unseen", [False, True])
def test_pushes_in_a_linear_map_go_where_they_are_foretold(unseen):
    X = np.random.default_rng(0).normal(size=(200, 4)) * [3.0, 2.0, 0.1, 0.1]
    found = push(X, "pca", unseen=unseen, n_rows=30)
    assert found.foretold.shape == (30, 3, 2)
    for actual in (found.placed, found.smooth):
        scores = score(found.foretold, actual, found.stated["push_r2"], found.scale)
        assert scores["cosine"] > 0.999
        assert scores["trusted r2"] > 0.99
        assert scores["share"] == 1.0


def test_the_slope_is_one_where_what_is_stated_is_true():
    rng = np.random.default_rng(0)
    stated = rng.uniform(0, 1, 4000)
    actual = rng.normal(size=(4000, 3, 2))
    noise = rng.normal(size=actual.shape) * np.sqrt(1 - stated)[:, None, None]
    scores = score(actual - noise, actual, stated, np.ones(4000))
    assert scores["slope"] == pytest.approx(1.0, abs=0.05)
    assert scores["r2"] == pytest.approx(stated.mean(), abs=0.02)
    assert score(actual - noise, actual, 0.5 * stated, np.ones(4000))["slope"] == pytest.approx(2.0, abs=0.1)
