"""Neighbour embeddings of blocks of columns: the promises of `blocks` and `join`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import gnomon as gn
from gnomon.affinities.blocks import join_blocks
from gnomon.neighbors import compute_neighbors

_RNG = np.random.default_rng(0)
N = 120
GROUPS = _RNG.integers(0, 3, N)
X = np.hstack(
    [
        GROUPS[:, None] + 0.3 * _RNG.normal(size=(N, 3)),
        (_RNG.random((N, 4)) < 0.3 + 0.2 * GROUPS[:, None]),
        _RNG.normal(size=(N, 2)),
    ]
).astype(np.float32)
NUMBERS, CODES = gn.Block([0, 1, 2]), gn.Block([3, 4, 5, 6], metric="hamming", weight=0.5)
TWO = {"numbers": NUMBERS, "codes": CODES}
JOINS = ("intersection", "union", "mean")
QUICK = {"max_iter": 40, "random_state": 0}
ESTIMATORS = {
    "umap": gn.UMAP(**QUICK),
    "tsne": gn.TSNE(**QUICK, perplexity=8.0, early_exaggeration_iter=20),
    "sne": gn.SNE(**QUICK, perplexity=8.0),
    "symmetric_sne": gn.SymmetricSNE(**QUICK, perplexity=8.0),
    "largevis": gn.LargeVis(random_state=0, perplexity=8.0, max_iter=40),
    "force_atlas2": gn.ForceAtlas2(**QUICK),
    "neg_tsne": gn.NegTSNE(**QUICK),
    "info_nce_tsne": gn.InfoNCETSNE(**QUICK),
    "composed": gn.NeighborEmbedding(random_state=0, optimizer_params={"max_iter": 40}),
}


def _fit(name="umap", rows=X, **parameters):
    return clone(ESTIMATORS[name]).set_params(**parameters).fit(rows)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_block_is_its_columns_alone_byte_for_byte(name):
    columns = [5, 0, 8]
    plain, block = _fit(name, X[:, columns]), _fit(name, blocks={"one": gn.Block(columns, weight=0.3)})
    np.testing.assert_array_equal(block.embedding_, plain.embedding_)
    new = X[:9] + np.float32(0.01)
    np.testing.assert_array_equal(block.place(new), plain.place(new[:, columns]))


def test_one_block_has_its_metric_and_its_parameters():
    plain = _fit(rows=X[:, :3], metric="minkowski", metric_params={"p": 3})
    block = _fit(blocks={"one": gn.Block([0, 1, 2], metric="minkowski", metric_params={"p": 3})})
    np.testing.assert_array_equal(block.embedding_, plain.embedding_)
    np.testing.assert_array_equal(block.place(X[:9] + 0.1), plain.place(X[:9, :3] + 0.1))


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_are_placed_by_their_blocks_and_files_keep_that(name, join, tmp_path):
    fitted = _fit(name, blocks=TWO, join=join)
    np.testing.assert_array_equal(fitted.place(X), fitted.embedding_)
    near = X.copy()
    near[:, 7:] += 5.0  # columns in no block
    np.testing.assert_array_equal(fitted.place(near), fitted.embedding_)
    new = X[:20] + np.float32(0.05)
    placed = fitted.place(new)
    np.testing.assert_array_equal(fitted.place(new[4:5]), placed[4:5])
    fitted.save(tmp_path / "method.gnomon")
    np.testing.assert_array_equal(gn.load(tmp_path / "method.gnomon").place(new), placed)


@pytest.mark.parametrize("join", JOINS)
def test_maps_do_not_depend_on_threads(join):
    one, two = (_fit(blocks=TWO, join=join, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.place(X + 1), two.place(X + 1))


@pytest.mark.parametrize("join", JOINS)
def test_a_block_without_weight_has_no_effect(join):
    without = _fit(blocks={"numbers": NUMBERS}, join=join)
    with_it = _fit(blocks={"numbers": NUMBERS, "codes": gn.Block([3, 4], weight=0.0)}, join=join)
    np.testing.assert_array_equal(with_it.embedding_, without.embedding_)
    np.testing.assert_array_equal(with_it.place(X + 0.1), without.place(X + 0.1))


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("name", ["umap", "tsne"])
def test_affinities_are_continuous_in_the_weights(name, join):
    """A small weight is near none, in the sum of all differences, and halfway there is no jump."""

    def affinities(weight):
        both = {"numbers": NUMBERS, "rest": gn.Block([7, 8], weight=weight)}
        return _fit(name, blocks=both, join=join).affinities_.matrix

    def difference(one, other):
        return abs(one - other).sum() / one.sum()

    alone = _fit(name, blocks={"numbers": NUMBERS}, join=join).affinities_.matrix
    assert difference(alone, affinities(1e-7)) < 1e-4
    assert difference(affinities(0.5), affinities(0.5 + 1e-7)) < 1e-4
    assert difference(affinities(0.5), affinities(1.0)) > 1e-2


def test_only_the_ratio_of_weights_counts():
    def blocks(factor):
        return {"numbers": gn.Block([0, 1, 2], weight=2 * factor), "rest": gn.Block([7, 8], weight=factor)}

    np.testing.assert_array_equal(_fit(blocks=blocks(1.0)).embedding_, _fit(blocks=blocks(8.0)).embedding_)


def test_the_intersection_is_the_product_of_memberships():
    """Rows near in one block alone lose: v is largest and sums as UMAP's, and falls with the sum of both distances."""
    fitted = _fit(blocks={"numbers": NUMBERS, "rest": gn.Block([7, 8])})
    graph = fitted.graph_
    assert graph.metric == "euclidean x euclidean"
    scaled = []
    for columns in ([0, 1, 2], [7, 8]):
        rows = X[:, columns].astype(np.float64)
        own = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
        near = compute_neighbors(np.ascontiguousarray(X[:, columns]), graph.n_neighbors).distances.mean(axis=1)
        usual = np.sqrt(np.mean(own**2))
        scaled.append(own / np.maximum(near, 0.25 * usual)[:, None])
    total = sum(scaled)
    np.testing.assert_allclose(graph.distances, np.take_along_axis(total, graph.indices, axis=1), rtol=1e-5)
    weights = fitted.affinities_
    assert weights.matrix.max() <= 1.0
    assert weights.matrix.max(axis=1).toarray() == pytest.approx(1.0, abs=1e-6)


def test_joined_values_are_those_of_the_closed_form():
    indices = np.array([[1, 2, 2, 3], [4, 5, 6, 7]], dtype=np.int32)
    values = np.array([[1.0, 0.5, 0.4, 0.2], [0.1, 0.0, 1.0, 0.3]])
    union = join_blocks(indices, values, (1.0, 0.5), "union")
    np.testing.assert_allclose(union, [[1.0, 1 - 0.5 * 0.8, 0.0, 0.1], [0.1, 0.0, 0.5, 0.15]], rtol=1e-6)
    mean = join_blocks(indices, values, (1.0, 0.5), "mean")
    np.testing.assert_allclose(mean, np.array([[1.0, 0.7, 0.0, 0.1], [0.1, 0.0, 0.5, 0.15]]) / 1.5, rtol=1e-6)


def test_a_union_holds_the_neighbours_of_either_block():
    fitted = _fit(blocks={"numbers": NUMBERS, "rest": gn.Block([7, 8])}, join="union")
    matrix = fitted.affinities_.matrix.toarray()
    for columns in ([0, 1, 2], [7, 8]):
        near = compute_neighbors(np.ascontiguousarray(X[:, columns]), 15).indices
        np.testing.assert_allclose(np.take_along_axis(matrix, near, axis=1)[:, 0], 1.0, rtol=1e-6)


def test_a_mean_of_distributions_is_one():
    total = _fit("tsne", blocks=TWO, join="mean").affinities_
    assert total.normalization == "total"
    assert total.matrix.sum() == pytest.approx(1.0, rel=1e-5)
    rows = _fit("sne", blocks=TWO, join="mean").affinities_
    np.testing.assert_allclose(rows.matrix.sum(axis=1), 1.0, rtol=1e-5)


def test_a_map_follows_what_is_in_both_blocks():
    """Two partitions, one in each block: the intersection shows all four groups, either block alone two."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    rows = np.hstack(
        [4.0 * a[:, None] + rng.normal(size=(200, 2)), 400.0 * b[:, None] + 100 * rng.normal(size=(200, 2))]
    )
    blocks = {"a": gn.Block([0, 1]), "b": gn.Block([2, 3])}
    fitted = gn.UMAP(blocks=blocks, random_state=0, max_iter=100).fit(rows)
    near = compute_neighbors(np.ascontiguousarray(fitted.embedding_), 10).indices
    assert np.mean((a[near] == a[:, None]) & (b[near] == b[:, None])) > 0.85


def test_names_of_a_data_frame_are_those_of_blocks():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        X.astype(float), columns=[f"n{j}" for j in range(3)] + [f"c{j}" for j in range(4)] + ["u", "v"]
    )
    named = {"numbers": gn.Block("n*"), "codes": gn.Block("c?", metric="hamming", weight=0.5)}
    np.testing.assert_array_equal(_fit(rows=frame, blocks=named).embedding_, _fit(rows=frame, blocks=TWO).embedding_)


def test_classes_are_followed_where_blocks_are_intersected():
    y = np.arange(N) % 2
    fitted = clone(ESTIMATORS["umap"]).set_params(blocks=TWO, target_weight=0.9)
    with pytest.warns(gn.exceptions.SupervisionWarning):  # they go with nothing
        fitted.fit(X, y)
    near = compute_neighbors(fitted.embedding_, 5).indices
    assert np.mean(y[near] == y[:, None]) > 0.9


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"metric": "cosine"}, "metric='cosine' must be left out where blocks are given"),
        ({"blocks": {"a": gn.Block([0, 20])}}, "column 20 of a block must be below 9"),
        ({"blocks": {"a": gn.Block([0], scale="robust")}}, "scale='robust' of block 'a' must be 'auto' or None"),
        ({"density": 2.0}, "density=2.0 must be None where several blocks are given"),
        ({"frames": 1.0}, "frames=1.0 must be None where blocks are given"),
        ({"join": "product"}, "join='product' must be one of"),
    ],
)
def test_what_blocks_cannot_do_is_refused(parameters, text):
    with pytest.raises(ValueError, match=text):
        _fit(**{"blocks": TWO, **parameters})


def test_what_has_no_neighbours_or_no_one_metric_is_refused():
    given = np.eye(N, k=1) + np.eye(N, k=-1)
    with pytest.raises(ValueError, match="blocks must be None with affinities that are no weights of neighbours"):
        _fit("composed", blocks=TWO, affinity=given)
    with pytest.raises(ValueError, match="y must be None where blocks are not intersected"):
        clone(ESTIMATORS["umap"]).set_params(blocks=TWO, join="union").fit(X, GROUPS)
    with pytest.raises(ValueError, match="the map must be one in a single metric of all columns"):
        gn.sensitivity(_fit(blocks=TWO), X)
    with pytest.raises(TypeError, match=r"blocks must be a dict of names and gnomon\.Block"):
        _fit(blocks={"a": [0, 1]})
