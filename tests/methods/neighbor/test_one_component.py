"""Maps of one component: points that repel cannot pass each other there, and yet a curve keeps its order."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import gnomon as gn


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(4)
    t = 10.0 * np.sort(rng.random(300))
    return np.column_stack([t, np.sin(t), np.cos(t)]) + 0.02 * rng.normal(size=(300, 3)), t


@pytest.mark.parametrize(
    ("method", "least_trust"),
    [
        pytest.param(gn.UMAP(), 0.997, id="umap"),
        pytest.param(gn.DensMAP(), 0.98, id="densmap"),
        pytest.param(gn.FeatMAP(), 0.99, id="featmap"),
        pytest.param(gn.ScaleMAP(), 0.997, id="scalemap"),
        pytest.param(gn.StarMAP(), 0.997, id="starmap"),
        pytest.param(gn.NegTSNE(), 0.997, id="neg_tsne"),
        pytest.param(gn.LargeVis(), 0.985, id="largevis"),
    ],
)
def test_a_curve_keeps_its_order(method, least_trust, curve):
    X, t = curve
    Y = method.set_params(n_components=1, random_state=0).fit_transform(X)
    assert abs(spearmanr(Y[:, 0], t).statistic) > 0.95
    assert gn.evaluate(X, Y, n_neighbors=10).trustworthiness > least_trust


@pytest.mark.parametrize(("n_components", "step"), [(1, 0.5), (2, 3.0), (3, 3.0)])
def test_large_vis_steps_are_shorter_on_a_line_and_told(n_components, step, curve):
    common = {"n_components": n_components, "max_iter": 5, "random_state": 0}
    auto = gn.LargeVis(**common).fit(curve[0])
    assert auto.learning_rate_ == step
    given = gn.LargeVis(learning_rate=step, **common).fit(curve[0])
    assert given.learning_rate_ == step
    np.testing.assert_array_equal(auto.embedding_, given.embedding_)
