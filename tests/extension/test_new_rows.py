"""New rows in a finished map: each a function of itself, at rest, and where its kind lies."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import gnomon as gn
from gnomon import (
    SNE,
    TSNE,
    UMAP,
    ForceAtlas2,
    InfoNCETSNE,
    LargeVis,
    NegTSNE,
    NeighborEmbedding,
    PaCMAP,
    SymmetricSNE,
    TriMap,
    TwoKernelLLE,
    TwoKernelPCA,
)
from gnomon.affinities import Affinities, conditional_affinities, uniform_affinities
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.extension import PlacementField, RowPlacement, tabulate_repulsion
from gnomon.extension.atlas.points import NearestPoints
from gnomon.extension.placement.placement import _evaluation, same_rows, step_tolerance
from gnomon.extension.placement.repulsion_table import _grid, tabulation_bytes
from gnomon.kernels import Cauchy, CustomKernel, CustomLaw, Gaussian, Linear, NoiseContrast, UMAPKernel
from gnomon.kernels.laws import evaluate_law
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import (
    ConditionalDivergence,
    CrossEntropy,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    PairObjective,
    PairTerm,
    ReconstructionTrace,
    Repulsion,
    RowLoss,
    StatedCrossEntropy,
)
from gnomon.objectives.terms import AllPairs, EdgePairs

METHODS = {
    "umap": UMAP(max_iter=60, random_state=0),
    "tsne": TSNE(perplexity=10, max_iter=120, early_exaggeration_iter=15, random_state=0),
    "sne": SNE(perplexity=10, max_iter=60, random_state=0),
    "symmetric_sne": SymmetricSNE(perplexity=10, max_iter=60, random_state=0),
    "largevis": LargeVis(perplexity=10, max_iter=60, random_state=0),
    "force_atlas2": ForceAtlas2(max_iter=60, random_state=0),
    "neg_tsne": NegTSNE(max_iter=60, random_state=0),
    "info_nce_tsne": InfoNCETSNE(max_iter=60, random_state=0),
    "pacmap": PaCMAP(max_iter=90, random_state=0),
    "trimap": TriMap(max_iter=90, random_state=0),
    "two_kernel_lle": TwoKernelLLE(max_iter=100, early_exaggeration_iter=50, random_state=0),
    "two_kernel_pca": TwoKernelPCA(max_iter=30, random_state=0),
    "neighbor_embedding": NeighborEmbedding(optimizer_params={"max_iter": 60}, random_state=0),
}
rng = np.random.default_rng(0)
POINTS = rng.normal(size=(300, 2)).astype(np.float32) * 3
NEIGHBORS = rng.integers(0, 300, size=(40, 7)).astype(np.int32)
WEIGHTS = rng.dirichlet(np.ones(7), size=40).astype(np.float32)
PLACES = rng.normal(size=(40, 2)).astype(np.float32) * 2
_GRAPH = compute_neighbors(POINTS, 7)
_TOTAL, _UNIFORM = uniform_affinities(_GRAPH), uniform_affinities(_GRAPH, normalization="membership")
_RING = sparse.csr_array((np.roll(np.eye(300), 1, axis=1) + np.roll(np.eye(300), 2, axis=1)) / 2)
_SQUARE = CustomKernel(lambda s: 1.0 / (1.0 + s) ** 2, lambda s: -2.0 / (1.0 + s) ** 3, bounded=True)
OBJECTIVES = {
    "divergence": KLDivergence(_TOTAL, Cauchy()),
    "divergence, exaggerated": KLDivergence(_TOTAL, Cauchy(), attraction_weight=4.0),
    "conditional": ConditionalDivergence(conditional_affinities(_GRAPH, perplexity=3.0), Gaussian()),
    "cross_entropy": CrossEntropy(_UNIFORM, UMAPKernel(1.5769, 0.8951)),
    "cross_entropy, all pairs": CrossEntropy(_UNIFORM, UMAPKernel(1.5769, 0.8951), evaluation="exact"),
    "contrast": InfoNCE(_TOTAL, Cauchy()),
    "noise": CrossEntropy(_UNIFORM, NoiseContrast(0.01), negative_sample_rate=10.0),
    "values": ReconstructionTrace(_RING, NoiseContrast(0.1)),
    "springs": LinearAttraction(_UNIFORM),
    "springs and gravity": LinearAttraction(_UNIFORM, gravity=0.3),
    "printed": StatedCrossEntropy(_UNIFORM, Cauchy()),
    "own law": PairObjective(
        [EdgePairs(_UNIFORM.matrix, Cauchy(), CustomLaw(lambda k: -np.sqrt(k), lambda k: -0.5 / np.sqrt(k)))],
        [AllPairs(300, Cauchy(), CustomLaw(lambda k: k**3, lambda k: 3.0 * k**2), scale=0.1)],
    ),
    "own kernel": KLDivergence(_TOTAL, _SQUARE),
    "own kernel, contrast": InfoNCE(_TOTAL, _SQUARE),
    "own kernel, conditional": ConditionalDivergence(conditional_affinities(_GRAPH, perplexity=3.0), _SQUARE),
    "own sum": PairObjective(
        [EdgePairs(_UNIFORM.matrix, Cauchy(), "log"), EdgePairs(_UNIFORM.matrix, Linear(), "value", scale=-0.1)],
        [AllPairs(300, Cauchy(), "value"), AllPairs(300, _SQUARE, "value", scale=0.1)],
    ),
}
LOSSES = {name: objective.row_loss(POINTS) for name, objective in OBJECTIVES.items()}


@pytest.fixture(scope="module")
def fitted(digits):
    found = {}

    def get(name):
        if name not in found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GnomonWarning)
                found[name] = clone(METHODS[name]).set_params(n_jobs=1).fit(digits[0][:300])
        return found[name]

    return get


@pytest.mark.parametrize("name", METHODS)
def test_a_row_is_placed_alike_in_any_batch_by_any_number_of_threads_and_after_pickling(name, fitted, digits):
    estimator, new = fitted(name), digits[0][300:340]
    together = estimator.place(new)
    assert together.dtype == np.float32
    np.testing.assert_array_equal(np.concatenate([estimator.place(new[:3]), estimator.place(new[3:])]), together)
    np.testing.assert_array_equal(estimator.place(new[[17]])[0], together[17])
    copy = pickle.loads(pickle.dumps(estimator))
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(copy.set_params(n_jobs=n_jobs).place(new), together)


@pytest.mark.parametrize("name", METHODS)
def test_fitted_rows_get_their_places_to_the_bit(name, fitted, digits):
    estimator = fitted(name)
    np.testing.assert_array_equal(estimator.place(digits[0][:300]), estimator.embedding_)


@pytest.mark.parametrize("name", ["umap", "tsne", "largevis", "neg_tsne", "info_nce_tsne", "pacmap", "trimap"])
def test_new_digits_lie_among_their_kind(name, digits):
    order = np.random.default_rng(0).permutation(len(digits[1]))  # writers follow each other in the table
    (X, new), (y, y_new) = np.split(digits[0][order[:900]], [600]), np.split(digits[1][order[:900]], [600])
    estimator = clone(METHODS[name]).set_params(n_jobs=1).fit(X)
    classifier = KNeighborsClassifier(5)
    own = cross_val_score(classifier, estimator.embedding_, y, cv=5).mean()
    assert classifier.fit(estimator.embedding_, y).score(estimator.place(new), y_new) > own - 0.05


@pytest.mark.parametrize("name", ["umap", "tsne", "largevis", "neg_tsne", "neighbor_embedding"])
def test_a_row_of_a_cluster_lies_in_that_cluster_and_one_between_two_within_the_map(name):
    noise = np.random.default_rng(1).normal(size=(120, 4))
    X = np.concatenate([noise[:60], np.add(noise[60:], [30, 0, 0, 0])])
    estimator = clone(METHODS[name]).set_params(n_jobs=1).fit(X)
    Y = estimator.embedding_
    left, right = Y[:60].mean(axis=0), Y[60:].mean(axis=0)
    rows = np.array([[0.1, 0.1, 0.0, 0.1], [29.9, 0.0, 0.1, 0.1], [15.0, 0.0, 0.0, 0.0]])
    with pytest.warns(DataWarning, match="1 of 3 rows lie out of range, farther from the rows of the map"):
        placed = estimator.place(rows)
    assert np.linalg.norm(placed[0] - left) < np.linalg.norm(placed[0] - right)
    assert np.linalg.norm(placed[1] - right) < np.linalg.norm(placed[1] - left)
    margin = 0.5 * np.ptp(Y, axis=0)
    assert (placed[2] > Y.min(axis=0) - margin).all()
    assert (placed[2] < Y.max(axis=0) + margin).all()


@pytest.mark.parametrize("n_components", [1, 3, 5])
@pytest.mark.parametrize("name", ["umap", "tsne", "trimap"])
def test_maps_of_any_dimension_place_rows(name, n_components, digits):
    estimator = clone(METHODS[name]).set_params(n_components=n_components, max_iter=20, n_jobs=1).fit(digits[0][:150])
    placed = estimator.place(digits[0][150:160])
    assert placed.shape == (10, n_components)
    assert np.isfinite(placed).all()


@pytest.mark.parametrize("name", ["umap", "tsne", "trimap", "pacmap"])
@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics_and_copies_of_rows_keep_fitted_places(name, metric, digits):
    X = np.concatenate([digits[0][:100], digits[0][:10]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        estimator = clone(METHODS[name]).set_params(metric=metric, max_iter=20, n_jobs=1).fit(X)
    np.testing.assert_array_equal(estimator.place(X), estimator.embedding_)


@pytest.mark.parametrize("name", ["umap", "tsne", "trimap", "two_kernel_lle"])
def test_given_distances_place_rows_as_the_rows_themselves(name, digits):
    from sklearn.metrics import pairwise_distances

    X, new = digits[0][:120].astype(np.float64), digits[0][120:130].astype(np.float64)
    given = {"init": np.random.default_rng(0).normal(size=(120, 2)), "max_iter": 20, "n_jobs": 1}
    if name == "two_kernel_lle":
        given |= {"weights": "membership", "early_exaggeration_iter": 10}
    by_rows = clone(METHODS[name]).set_params(**given).fit(X)
    by_distances = clone(METHODS[name]).set_params(metric="precomputed", **given).fit(pairwise_distances(X))
    by_distances.placement_.Y[:] = by_rows.placement_.Y
    placed = by_distances.place(pairwise_distances(new, X))
    scale = np.abs(by_rows.embedding_).max()
    difference = np.abs(placed - by_rows.place(new)).max(axis=1)
    assert np.median(difference) < 0.05 * scale


def test_sparse_rows_are_placed_as_dense_ones(digits):
    X = digits[0][:120]
    estimator = clone(METHODS["umap"]).set_params(n_jobs=1).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(estimator.place(sparse.csr_array(X)), estimator.embedding_)
    assert np.isfinite(estimator.place(sparse.csr_array(digits[0][120:130]))).all()


def test_affinities_that_know_no_new_rows_are_refused_with_the_reason(digits):
    estimator = NeighborEmbedding(
        affinity=lambda inputs: uniform_affinities(inputs.neighbors), optimizer_params={"max_iter": 5}, n_jobs=1
    )
    with pytest.raises(ValueError, match=r"NeighborEmbedding: place must be used with an affinity.*new_rows"):
        estimator.fit(digits[0][:60]).place(digits[0][60:70])


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_of_the_loss_agrees_with_finite_differences(name):
    field = PlacementField(POINTS, LOSSES[name], evaluation="exact")
    _, gradient = field.losses(NEIGHBORS, WEIGHTS, PLACES)
    h = np.float32(2.0**-7)
    for axis in range(2):
        step = np.zeros(2, dtype=np.float32)
        step[axis] = h
        ahead, behind = (field.losses(NEIGHBORS, WEIGHTS, PLACES + sign * step)[0] for sign in (1, -1))
        np.testing.assert_allclose((ahead - behind) / (2 * h), gradient[:, axis], atol=2e-2 * np.abs(gradient).max())


@pytest.mark.parametrize(
    "name", ["divergence", "cross_entropy", "values", "springs", "printed", "own kernel", "own law", "own sum"]
)
def test_the_loss_is_its_formula(name):
    loss = LOSSES[name]
    found = PlacementField(POINTS, loss, evaluation="exact").losses(NEIGHBORS, WEIGHTS, PLACES)[0]
    away = np.square(PLACES[:, None].astype(float) - POINTS[None].astype(float)).sum(axis=2)
    near = np.take_along_axis(away, NEIGHBORS.astype(int), axis=1)
    expected = np.zeros(len(PLACES))
    for term in loss.attractions:
        expected += term.scale * (WEIGHTS * evaluate_law(term.law, term.kernel, near)[0]).sum(axis=1)
    for part in loss.repulsions:
        charges = np.ones(300) if part.charges is None else part.charges
        expected += part.strength * evaluate_law(part.law, part.kernel, away)[0] @ charges
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(
    "name",
    [
        "divergence",
        "divergence, exaggerated",
        "cross_entropy, all pairs",
        "springs",
        "springs and gravity",
        "printed",
        "own sum",
    ],
)
def test_the_loss_of_one_row_is_what_a_point_more_adds_to_the_loss_of_the_map(name):
    """A new point with the mean affinities: its gradient in the larger map is a constant times that of its own loss."""
    made = {
        "divergence": lambda a: KLDivergence(a, Cauchy()),
        "divergence, exaggerated": lambda a: KLDivergence(a, Cauchy(), attraction_weight=4.0),
        "cross_entropy, all pairs": lambda a: CrossEntropy(a, UMAPKernel(1.5769, 0.8951), evaluation="exact"),
        "springs": lambda a: LinearAttraction(a),
        "springs and gravity": lambda a: LinearAttraction(a, gravity=100.0),
        "printed": lambda a: StatedCrossEntropy(a, Cauchy()),
        "own sum": lambda a: PairObjective(
            [EdgePairs(a.matrix, Cauchy(), "log")],
            [AllPairs(a.n_samples, Cauchy(), "value", weights=(np.full(a.n_samples, 0.7), np.ones(a.n_samples)))],
        ),
    }[name]
    affinities = _TOTAL if name.startswith("divergence") else _UNIFORM
    degree = float(affinities.matrix.sum()) / 300
    matrix = sparse.lil_array((301, 301))
    matrix[:300, :300] = affinities.matrix
    near, weights = np.arange(0, 300, 25, dtype=np.int32)[None], np.full((1, 12), 1 / 12, dtype=np.float32)
    matrix[300, near[0]] = degree / 12
    matrix[near[0], [300] * 12] = degree / 12
    larger = made(Affinities(sparse.csr_array(matrix), affinities.normalization))
    slopes = []
    for place in PLACES[:6]:
        points = np.vstack([POINTS, place]).astype(np.float64)
        own = PlacementField(POINTS, made(affinities).row_loss(POINTS), evaluation="exact")
        slopes.append((larger.reference(points)[1][300], own.losses(near, weights, place[None])[1][0]))
    whole, one = np.array(slopes).transpose(1, 0, 2)
    factor = (whole * one).sum() / (one * one).sum()
    np.testing.assert_allclose(whole, factor * one, atol=2e-2 * np.abs(whole).max())


@pytest.mark.parametrize("name", LOSSES)
def test_the_loss_at_the_place_found_is_no_higher_than_at_the_start_and_at_rest(name):
    field = PlacementField(POINTS, LOSSES[name], evaluation="exact")
    places, losses = field.place(NEIGHBORS, WEIGHTS)
    assert (losses[:, 1] <= losses[:, 0]).all()
    values, gradient = field.losses(NEIGHBORS, WEIGHTS, places)
    np.testing.assert_allclose(values, losses[:, 1], rtol=1e-5)
    start = (WEIGHTS[:, :, None] * POINTS[NEIGHBORS]).sum(axis=1)
    before = np.linalg.norm(field.losses(NEIGHBORS, WEIGHTS, start)[1], axis=1)
    assert np.median(np.linalg.norm(gradient, axis=1)) < 0.05 * np.median(before)


@pytest.mark.parametrize("name", ["divergence", "conditional", "contrast", "values", "cross_entropy", "springs"])
@pytest.mark.parametrize("n_components", [1, 2])
def test_a_table_of_the_repulsion_gives_the_loss_of_the_sum_over_all_points(name, n_components):
    points = np.ascontiguousarray(POINTS[:, :n_components])
    places = np.ascontiguousarray(PLACES[:, :n_components])
    exact, table = (PlacementField(points, LOSSES[name], evaluation=e) for e in ("exact", "table"))
    one, other = (field.losses(NEIGHBORS, WEIGHTS, places) for field in (exact, table))
    singular = name in ("cross_entropy", "springs")  # cut off within one spacing of each point
    tolerance = 2e-2 if singular else 1e-4
    share = 0.8 if singular else 1.0
    assert np.quantile(np.abs(other[0] - one[0]) / np.maximum(np.abs(one[0]), 1.0), share) < tolerance
    off = np.abs(other[1] - one[1]) / np.abs(one[1]).max()
    assert np.quantile(off, share) < 5 * tolerance


@pytest.mark.parametrize("stretch", [(1, 1), (5, 1), (1, 5)])
def test_a_finer_table_is_nearer_to_the_sum(stretch):
    points, place = POINTS * np.float32(stretch), np.array([[0.3, -0.2]], dtype=np.float32)
    push = Repulsion(Cauchy(), "value", 1.0)
    errors = []
    for cells in (16, 64):
        found = tabulate_repulsion(points, push, cells=cells)
        node = np.rint((place[0] - found.low) / found.spacing).astype(int)
        at = np.array(found.low) + node * found.spacing
        c = found.coefficients
        stencil = np.outer([1, 4, 1], [1, 4, 1]) / 36.0
        value = (stencil * c[node[1] - 1 : node[1] + 2, node[0] - 1 : node[0] + 2]).sum()
        errors.append(abs(value - Cauchy().value(np.square(points - at).sum(axis=1)).sum()))
    assert errors[1] < 0.1 * errors[0] + 1e-9


@pytest.mark.parametrize(("n_components", "fewest", "most", "of_half"), [(1, 8192, 32768, 16), (2, 512, 1024, 4)])
def test_tables_have_cells_by_the_width_of_the_kernel_within_bounds(n_components, fewest, most, of_half):
    points = POINTS[:, :n_components] * np.float32([1, 0.5][:n_components])
    extent = float(np.ptp(points.astype(np.float64), axis=0).max())
    for cells in (fewest / 4, 1.5 * fewest, most * 4):
        half = extent * of_half / cells  # where the kernel has fallen by half
        kernel = Gaussian(half**2 / np.log(2.0))
        low, spacing, _ = _grid(points, Repulsion(kernel, "value", 1.0), None)
        assert extent / spacing == pytest.approx(np.clip(cells, fewest, most), abs=1.0)
        assert (round(extent / spacing) in (fewest, most)) == (cells != 1.5 * fewest)
        margin = (points.min(axis=0) - low) / spacing
        np.testing.assert_allclose(margin, 4 + np.ceil(0.25 * round(extent / spacing)), atol=1e-3)


@pytest.mark.parametrize("d", [1, 2])
def test_a_point_rests_by_the_distance_between_neighbours_whatever_their_number(d):
    def told(n, spacing=1.0):
        axes = np.meshgrid(*[spacing * np.arange(n, dtype=np.float32)] * d)
        return step_tolerance(np.stack([axis.ravel() for axis in axes], axis=1))

    assert told(40) == pytest.approx(told(10), rel=0.1)
    assert told(10, 3.0) == pytest.approx(3.0 * told(10))
    assert 0.0 < told(10) < 0.1
    assert told(10, 0.0) > 0.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_of_two_tables_are_the_same_where_all_values_are(make):
    one = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    other = one + np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [-1, 0, 0]])
    assert same_rows(make(one), make(other)).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("n", "d", "many", "compiled", "told"),
    [
        (4096, 2, False, True, "exact"),
        (4097, 2, False, True, "table"),
        (4097, 1, False, True, "table"),
        (4097, 3, False, True, "sample"),
        (4097, 2, False, False, "sample"),
        (100, 2, True, True, "table"),
        (100, 3, True, True, "exact"),
        (100, 2, True, False, "exact"),
    ],
)
def test_repulsions_are_read_off_a_table_where_they_can_be_and_are_many(n, d, many, compiled, told):
    loss = LOSSES["divergence" if compiled else "own kernel"]
    assert _evaluation(n, d, loss, many=many) == told


def test_bytes_of_what_is_made_ready_are_those_of_the_rows_searched_and_of_a_table():
    rows, Y = np.eye(300, 40, dtype=np.float32), POINTS
    for table, nbytes in ((rows, rows.nbytes), (sparse.csr_array(rows), 4 * 40)):
        plain = RowPlacement(table, Y, 10, uniform_weights, LOSSES["divergence"])
        assert plain.ready_bytes == 2.0 * nbytes + 200.0 * 300
        assert replace(plain, loss=None).ready_bytes == plain.ready_bytes
        many = replace(plain, many=True).ready_bytes - plain.ready_bytes
        assert many == tabulation_bytes(Y, LOSSES["divergence"].repulsions[0]) > 1e8
        assert replace(plain, Y=np.repeat(Y, 2, axis=1), many=True).ready_bytes == plain.ready_bytes


def test_a_sample_of_the_points_repels_like_all():
    many = np.random.default_rng(3).normal(size=(6000, 3)).astype(np.float32) * 3
    indices = np.random.default_rng(4).integers(0, 6000, size=(30, 5)).astype(np.int32)
    loss = RowLoss((PairTerm(Cauchy(), "log"),), (Repulsion(Cauchy(), "value", 1.0 / 300),))
    exact, sample = (PlacementField(many, loss, evaluation=e) for e in ("exact", "auto"))
    assert sample.evaluation == "sample"
    weights = np.full((30, 5), 0.2, dtype=np.float32)
    one, other = (field.losses(indices, weights, many[indices[:, 0]])[0] for field in (exact, sample))
    np.testing.assert_allclose(other, one, rtol=0.02)


def test_a_table_of_some_ten_thousand_rows_is_searched_through_cells_whoever_asks_for_how_much(monkeypatch):
    monkeypatch.setattr("gnomon.neighbors.row_search._MANY_FROM", 4000)
    rows = np.random.default_rng(0).normal(size=(4000, 4)).astype(np.float32)
    loss = UMAP(max_iter=5, random_state=0).fit(rows[:100]).placement_.loss

    def placed(n_fitted):
        return RowPlacement(rows[:n_fitted], rows[:n_fitted, :2].copy(), 10, uniform_weights, loss)

    assert placed(3999).search.method == "exact"
    assert NearestPoints(rows, 2).search.method == "cells"
    one = placed(4000)
    assert (one.search.method, one.search.recall >= 0.999) == ("cells", True)
    new = rows[:60] * np.float32(1.01)
    together = one.place(new)
    np.testing.assert_array_equal(np.concatenate([one.place(new[:1]), placed(4000).place(new[1:])]), together)
    np.testing.assert_array_equal(one.place(rows[:20]), rows[:20, :2])


def uniform_weights(rows, new, indices, distances):
    return np.full(indices.shape, 0.1, np.float32)


@pytest.mark.parametrize("make", [lambda X: gn.map(X, random_state=0), lambda X: gn.UMAP(random_state=0).fit(X)])
def test_most_rows_unlike_those_of_the_map_are_told_though_in_range(make):
    draw = np.random.default_rng(0)
    X, new = draw.normal(size=(400, 20)), draw.normal(size=(60, 20))
    m = make(X)
    with pytest.warns(DataWarning, match=r"\d\d of 60 rows are less like the rows of the map than 99% of these"):
        m.transform(1.6 * new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.transform(new)
        m.transform(np.concatenate([new, 1.6 * new[:50]]))  # fewer than half
        m.transform(1.6 * new[:9])
