"""Sums over edges have the gradient of their loss only where both directions weigh alike: others are refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import NeighborEmbedding
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy
from gnomon.linalg import check_symmetric
from gnomon.objectives import (
    CrossEntropy,
    FrameCorrelation,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    PairObjective,
    StatedCrossEntropy,
    gradient_error,
)
from gnomon.objectives.terms import AllPairs, EdgePairs

N = 40
_FRAMES = np.broadcast_to(np.eye(2), (N, 2, 2))
LOSSES = {
    "kl": lambda a: KLDivergence(a, Cauchy()),
    "cross_entropy": lambda a: CrossEntropy(a, Cauchy(), evaluation="exact"),
    "sampled": lambda a: CrossEntropy(a, Cauchy()),
    "stated": lambda a: StatedCrossEntropy(a, Cauchy()),
    "linear": lambda a: LinearAttraction(a),
    "info_nce": lambda a: InfoNCE(a, Cauchy()),
    "frames": lambda a: FrameCorrelation(a, np.ones((N, 2)), Cauchy(), frames=_FRAMES),
    "of one's own": lambda a: PairObjective(
        [EdgePairs(a.matrix, Cauchy(), "log")], [AllPairs(N, Cauchy(), "value", scale=0.1)]
    ),
}


def directed(seed=0):
    """Edges to five of the other points each."""
    rng = np.random.default_rng(seed)
    columns = (np.arange(N)[:, None] + np.argsort(rng.random((N, N - 1)), axis=1)[:, :5] + 1) % N
    weights = rng.uniform(0.1, 0.9, 5 * N).astype(np.float32)
    return sp.csr_array((weights, (np.repeat(np.arange(N), 5), columns.ravel())), shape=(N, N))


@pytest.mark.parametrize("loss", LOSSES)
def test_edges_in_one_direction_are_refused_with_the_remedy_that_helps(loss):
    A = directed()
    text = r"affinities must be symmetric \(0\.9 at row \d+, column \d+ and 0 at row .*Pass \(A \+ A\.T\) / 2"
    with pytest.raises(ValueError, match=text.replace("0\\.9", r"0\.[89]\d+")):
        LOSSES[loss](Affinities(A, "membership"))
    LOSSES[loss](Affinities(sp.csr_array((A + A.T) / 2), "membership"))


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_both_directions_has_the_gradient_of_the_loss(seed):
    A = directed(seed)
    Y = np.random.default_rng(seed).normal(size=(N, 2))
    objective = LOSSES["of one's own"](Affinities(sp.csr_array((A + A.T) / 2), "membership"))
    assert gradient_error(objective, Y) < 1e-4
    k = 1.0 / (1.0 + np.square(Y[:, None] - Y[None]).sum(-1))
    expected = np.sum(A.toarray() * -np.log(k)) + 0.1 * (k.sum() - N)  # edges of one direction have the same loss
    assert objective.loss(Y) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", ["kl", "cross_entropy", "info_nce", "linear_attraction"])
@pytest.mark.parametrize("given", ["matrix", "function"])
def test_a_map_of_a_graph_of_nearest_neighbours_as_it_is_is_refused(loss, given):
    X, A = np.random.default_rng(0).normal(size=(N, 3)), directed()
    affinity = A if given == "matrix" else lambda inputs: Affinities(A, "membership")
    with pytest.raises(ValueError, match=r"affinities must be symmetric .* Pass \(A \+ A\.T\) / 2"):
        NeighborEmbedding(affinity=affinity, loss=loss, random_state=0, n_jobs=1).fit(X)


def test_what_rounding_leaves_is_symmetric_and_one_edge_among_many_is_seen():
    rng = np.random.default_rng(1)
    dense = rng.random((N, N))
    dense += dense.T
    for noise, refused in ((1e-6, False), (1e-3, True)):
        noisy = dense * (1.0 + noise * rng.uniform(-1.0, 1.0, (N, N)))
        for dtype in (np.float32, np.float64):
            matrix = sp.csr_array(noisy.astype(dtype))
            if refused:
                with pytest.raises(ValueError, match="W must be symmetric"):
                    check_symmetric(matrix, "W")
            else:
                check_symmetric(matrix, "W")
    dense[3, 7] = 0.0
    with pytest.raises(ValueError, match=rf"W must be symmetric \({dense[7, 3]:.4g} at row 7, column 3 and 0 at row 3"):
        check_symmetric(sp.csr_array(dense), "W")
    signed = dense - dense.mean()
    signed[7, 3] = signed[3, 7]
    check_symmetric(signed, "W")
    check_symmetric(sp.csr_array((N, N)), "W")
    with pytest.raises(ValueError, match=r"W of shape \(3, 4\) must be a square matrix"):
        check_symmetric(np.ones((3, 4)), "W")


@pytest.mark.parametrize(
    ("matrix", "normalization", "error", "text"),
    [
        (sp.eye_array(3, format="csr"), "foo", ValueError, "normalization='foo' must be one of 'total', 'membership'"),
        (np.eye(3), "total", TypeError, r"matrix must be a csr_array \(found ndarray\). Pass scipy.sparse.csr_array"),
        (
            sp.csr_array((3, 4)),
            "rows",
            ValueError,
            r"matrix of shape \(3, 4\) must be of shape \(n_samples",
        ),
    ],
)
def test_affinities_that_are_none_are_refused(matrix, normalization, error, text):
    with pytest.raises(error, match=f"Affinities: {text}"):
        Affinities(matrix, normalization)


def test_affinities_of_rows_are_joined_for_a_loss_of_pairs():
    draw = np.random.default_rng(0)
    own = sp.random_array((30, 30), density=0.3, rng=draw, format="csr", dtype=np.float32)
    own.setdiag(0.0)
    own.eliminate_zeros()
    masses = draw.uniform(0.5, 1.5, size=30)
    for given in (None, masses):
        joined = Affinities(own, "rows", masses=given).of_pairs()
        by_mass = own.toarray() if given is None else masses[:, None] * own.toarray()
        np.testing.assert_allclose(joined.matrix.toarray(), (by_mass + by_mass.T) / 2, rtol=1e-6)
        assert (joined.normalization, joined.symmetric) == ("membership", True)
    union = Affinities(sp.csr_array(own + own.T), "membership")
    assert union.of_pairs() is union


_OF = {"fuzzy": {}, "gaussian": {"perplexity": 15}, "uniform": {}}


@pytest.mark.parametrize("affinity", list(_OF))
def test_what_is_made_as_symmetric_is(affinity):
    X = np.random.default_rng(0).normal(size=(60, 4))
    made = (
        NeighborEmbedding(affinity=affinity, n_neighbors=45, affinity_params=_OF[affinity], random_state=0)
        .fit(X)
        .affinities_
    )
    assert made.symmetric
    check_symmetric(made.matrix, "affinities")
