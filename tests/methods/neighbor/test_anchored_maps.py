"""Maps with rows held near given positions: they hold, they start there, they refuse what is no position."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import gnomon
from gnomon import SNE, TSNE, UMAP, ForceAtlas2, InfoNCETSNE, LargeVis, NegTSNE, NeighborEmbedding, PaCMAP, TriMap
from gnomon.exceptions import DataWarning
from gnomon.methods.neighbor.anchors import of_distinct_rows, start_at_anchors

METHODS = [
    pytest.param(UMAP(max_iter=100, random_state=0), id="umap"),
    pytest.param(TSNE(max_iter=200, early_exaggeration_iter=60, random_state=0), id="tsne"),
    pytest.param(LargeVis(perplexity=15, max_iter=60, random_state=0), id="largevis"),
    pytest.param(PaCMAP(max_iter=150, random_state=0), id="pacmap"),
    pytest.param(TriMap(max_iter=150, random_state=0), id="trimap"),
    pytest.param(SNE(max_iter=60, random_state=0, init="spectral"), id="sne"),
    pytest.param(ForceAtlas2(max_iter=80, random_state=0), id="force_atlas2"),
    pytest.param(NegTSNE(max_iter=60, random_state=0), id="neg_tsne"),
    pytest.param(InfoNCETSNE(max_iter=80, random_state=0), id="info_nce_tsne"),
    pytest.param(
        NeighborEmbedding(optimizer="lbfgs", optimizer_params={"max_iter": 200}, random_state=0), id="own parts, L-BFGS"
    ),
]


@pytest.fixture(scope="module", name="X")
def _rows(digits):
    return digits[0][:250]


def _turned(Y):
    """Return a map turned by a right angle, reflected and moved away."""
    return (Y - Y.mean(axis=0)) @ np.array([[0.0, 1.0], [1.0, 0.0]]) + 30.0


@pytest.mark.parametrize("estimator", METHODS)
def test_a_map_follows_its_anchors_turned_and_moved(estimator, X):
    from sklearn.base import clone

    plain = clone(estimator).fit_transform(X)
    goal = _turned(plain)
    anchors = np.full_like(goal, np.nan)
    anchors[::3] = goal[::3]
    made = clone(estimator).set_params(anchors=anchors).fit(X)
    spread = np.sqrt(plain.var(axis=0).sum())
    away = made.anchor_distances_
    assert np.isnan(away).sum() == len(X) - len(anchors[::3])
    assert np.nanmedian(away) < 0.25 * spread
    assert np.median(np.linalg.norm(made.embedding_ - goal, axis=1)) < 0.35 * spread
    assert trustworthiness(X, made.embedding_) > trustworthiness(X, plain) - 0.02


def test_more_weight_holds_nearer_and_inf_exactly(X):
    anchors = {0: (0.0, 0.0), 7: (8.0, 0.0), 30: [0.0, 8.0], 99: np.array([8.0, 8.0])}
    far = []
    for weight in (0.01, 0.1, 1.0, np.inf):
        made = UMAP(max_iter=100, anchors=anchors, anchor_weight=weight, random_state=0).fit(X)
        far.append(np.nanmax(made.anchor_distances_))
    assert far[0] > far[1] > far[2] > far[3] == 0.0
    np.testing.assert_array_equal(made.embedding_[7], [8.0, 0.0])


def test_weight_0_and_no_iterations_start_on_the_anchors_in_their_frame(X):
    anchors = {0: (50.0, 50.0), 5: (60.0, 50.0), 9: (50.0, 60.0)}
    start = TSNE(max_iter=0, anchors=anchors, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(start[[0, 5, 9]], np.float32([[50, 50], [60, 50], [50, 60]]))
    assert np.abs(start - 55).max() < 30


def test_the_start_is_turned_and_reflected_to_the_anchors(rng_points):
    goal = _turned(rng_points.astype(np.float64))
    anchors = np.where(np.arange(50)[:, None] % 4 == 0, goal, np.nan)
    np.testing.assert_allclose(start_at_anchors(rng_points, anchors), goal, atol=0.6 * goal.std())


@pytest.fixture
def rng_points():
    return np.random.default_rng(1).standard_normal((50, 2)).astype(np.float32)


@pytest.mark.parametrize("estimator", METHODS[:4])
def test_same_bytes_for_any_number_of_threads(estimator, X):
    from sklearn.base import clone

    own = clone(estimator).set_params(anchors={3: (1.0, 2.0), 50: (5.0, 5.0)})
    maps = [clone(own).set_params(n_jobs=n).fit_transform(X).tobytes() for n in (1, 2)]
    assert maps[0] == maps[1]


def test_no_anchors_change_no_byte_and_a_mapping_is_an_array(X):
    base = UMAP(max_iter=30, random_state=0)
    array = np.full((len(X), 2), np.nan)
    array[4] = 1.0, 2.0
    one = UMAP(max_iter=30, random_state=0, anchors=array).fit_transform(X)
    two = UMAP(max_iter=30, random_state=0, anchors={4: (1.0, 2.0)}).fit_transform(X)
    np.testing.assert_array_equal(one, two)
    assert not hasattr(base.fit(X), "anchor_distances_")


def test_equal_rows_share_the_mean_of_their_anchors(X):
    twice = np.concatenate([X[:60], X[:1]])
    with pytest.warns(DataWarning, match="distinct"):
        made = UMAP(max_iter=30, anchors={0: (0.0, 0.0), 60: (2.0, 4.0)}, anchor_weight=np.inf).fit(twice)
    np.testing.assert_array_equal(made.embedding_[[0, 60]], [[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(made.anchor_distances_[[0, 1, 60]], [0, np.nan, 0])
    found = of_distinct_rows(np.array([[1.0, 1], [np.nan, np.nan], [3, 5]]), np.array([0, 1, 0]))
    np.testing.assert_array_equal(found, [[2, 3], [np.nan, np.nan]])


def test_places_derivatives_and_files_of_such_maps(X, tmp_path):
    made = UMAP(max_iter=60, anchors={4: (1.0, 2.0), 9: (4.0, 4.0)}, anchor_weight=np.inf, random_state=0).fit(X)
    np.testing.assert_allclose(made.place(X[:5]), made.embedding_[:5], atol=1e-4)
    assert np.isfinite(made.transform(X[:3] + 0.1)).all()
    assert made.jacobian(X[:2]).shape == (2, 2, X.shape[1])
    made.save(tmp_path / "a.gnomon")
    again = gnomon.load(tmp_path / "a.gnomon")
    np.testing.assert_array_equal(again.place(X[:5] + 0.1), made.place(X[:5] + 0.1))
    assert again.get_params()["anchors"] == {4: (1.0, 2.0), 9: (4.0, 4.0)}
    assert again.anchor_weight == np.inf


def test_the_divergence_counts_no_springs(X):
    made = TSNE(max_iter=100, early_exaggeration_iter=40, anchors={4: (90.0, 2.0), 7: (0, 0)}, random_state=0).fit(X)
    assert made.kl_divergence_ < made.solution_.loss[-1][1]


def test_gnomon_map_takes_them_and_refuses_them_where_rows_are_dropped(X):
    made = gnomon.map(X, max_iter=30, anchors={4: (1.0, 2.0)}, anchor_weight=np.inf)
    np.testing.assert_array_equal(made.embedding[4], [1.0, 2.0])
    holey = X.copy()
    holey[0, 3] = np.nan
    with pytest.raises(ValueError, match=r"anchors.*missing='drop'"), pytest.warns(DataWarning):
        gnomon.map(holey, missing="drop", max_iter=5, anchors={4: (1.0, 2.0)})


@pytest.mark.parametrize(
    ("anchors", "error", "text"),
    [
        (np.zeros((3, 2)), ValueError, r"anchors of shape \(3, 2\) must be of shape .*=\(250, 2\)"),
        ({250: (0, 0)}, ValueError, "key 250 must be a dict whose keys are numbers of rows, from 0 to 249"),
        ({True: (0, 0)}, ValueError, "key True"),
        ({-1: (0, 0)}, ValueError, "key -1"),
        ({1: (0, 0, 0)}, ValueError, r"anchors\[1\].* must be 2 finite numbers, n_components=2"),
        ({1: (0, np.nan)}, ValueError, "finite numbers"),
        ({1: "ab"}, TypeError, "array of numbers"),
        ({}, ValueError, "given for one row at least"),
        (np.full((250, 2), np.nan), ValueError, "given for one row at least"),
        (np.where(np.eye(250, 2) > 0, np.nan, 0.0), ValueError, "2 rows are not, the first is row 0"),
        (np.full((250, 2), np.inf), ValueError, "250 rows are not"),
        (np.full((250, 2), 1e300), ValueError, "250 rows are not"),
        ("here", TypeError, "anchors='here' must be an array"),
    ],
)
def test_what_is_no_position_is_refused_by_name(X, anchors, error, text):
    with pytest.raises(error, match=f"UMAP: .*{text}"):
        UMAP(anchors=anchors).fit(X)


@pytest.mark.parametrize("weight", [-1, np.nan, -np.inf, "inf", True])
def test_a_weight_is_a_number_from_0_or_inf(X, weight):
    with pytest.raises((ValueError, TypeError), match="anchor_weight"):
        UMAP(anchors={1: (0, 0)}, anchor_weight=weight).fit(X)
