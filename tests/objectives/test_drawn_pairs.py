"""Sums over pairs estimated from a few: right on average for every term, decided by seed and epoch alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import running
from gnomon.affinities import Affinities
from gnomon.kernels import EXAMPLES, Cauchy, CustomKernel, CustomLaw, Distance, Gaussian, Linear, UMAPKernel
from gnomon.objectives import (
    ConditionalDivergence,
    CrossEntropy,
    Frobenius,
    KLDivergence,
    LinearAttraction,
    OrdinalStress,
    PairObjective,
    ReconstructionTrace,
    SigmoidStress,
    StatedCrossEntropy,
    Stress,
)
from gnomon.objectives.terms import AllPairs, Draws, EdgePairs, Gravity, TargetPairs
from gnomon.objectives.terms.base import RowShares, drawn_force

N, N_EPOCHS = 45, 400
UMAP = UMAPKernel(1.5769, 0.8951)
CUBE = CustomLaw(lambda k: k**3, lambda k: 3.0 * k**2)
OWN = CustomKernel(lambda s: 1 / (1 + s) ** 2, lambda s: -2 / (1 + s) ** 3, bounded=True)


def _weights(seed, n=N):
    return np.random.default_rng(seed).uniform(0.2, 2.0, n)


def _target(n=N):
    X = np.random.default_rng(5).normal(size=(n, 3))
    return np.exp(-np.square(X[:, None] - X[None]).sum(-1))


def _pair_weights(n=N):
    half = np.random.default_rng(6).random((n, n))
    return np.where(half + half.T > 0.8, half + half.T, 0.0)


TERMS = {
    **{f"all pairs, {law}": (lambda law=law: AllPairs(N, Cauchy(), law, scale=0.7)) for law in ("value", "square")},
    "all pairs, weighted": lambda: AllPairs(N, UMAP, "log_deficit", weights=(_weights(1), _weights(2)), scale=3.0),
    "all pairs, of a law of one's own": lambda: AllPairs(N, Gaussian(), CUBE, weights=(_weights(1), _weights(2))),
    "all pairs, of a kernel of one's own": lambda: AllPairs(N, OWN, "log_deficit"),
    "edges": lambda: EdgePairs(sp.csr_array(_pair_weights()), UMAP, "log", scale=2.0),
    "edges, of a law of one's own": lambda: EdgePairs(sp.csr_array(_pair_weights()), UMAP, CUBE),
    "targets": lambda: TargetPairs(_target(), UMAP, scale=0.3),
    "targets, few": lambda: TargetPairs(np.where(_target() > 0.3, _target(), 0.0), UMAP),
    "targets, none for one row": lambda: TargetPairs(
        np.where(np.arange(N) * np.arange(N)[:, None], _target(), 0), UMAP
    ),
    "targets of either sign": lambda: TargetPairs(_target() - 0.3, Linear()),
    "targets with weights": lambda: TargetPairs(_target(), Gaussian(), weights=_pair_weights()),
    "targets with factors": lambda: TargetPairs(_target(), Gaussian(), weights=_weights(3)),
    "targets, inverse weights": lambda: TargetPairs(_target() + 0.1, Distance(), weights="inverse"),
    "targets, a kernel of one's own": lambda: TargetPairs(_target(), OWN),
    "gravity": lambda: Gravity(_weights(1), 0.5),
}


@pytest.fixture(scope="module")
def lattice():
    """Points of which none are so close that one pair outweighs all others."""
    Y = np.stack(np.meshgrid(np.arange(9), 1.3 * np.arange(5)), axis=-1).reshape(-1, 2)
    return (0.5 * Y + np.random.default_rng(0).uniform(-0.1, 0.1, Y.shape)).astype(np.float32)


def _estimates(term, Y, n_draws, n_epochs=N_EPOCHS):
    return np.array([term.sampled_force(Y, Draws(len(Y), n_draws, 3, t)) for t in range(n_epochs)], dtype=np.float64)


def _every_draw(n):
    """Return draws in which each half of a point's numbers runs through [0, 1): sums over them are expectations."""
    draws, ramp = Draws(n, 2 * 300 * n, 0, 0), (np.arange(300 * n) + 0.5) / (300 * n)
    draws.__dict__["uniform"] = np.broadcast_to(np.concatenate([ramp, ramp]), (n, 2 * 300 * n))
    return draws


@pytest.mark.parametrize("name", TERMS)
def test_the_expectation_of_the_estimate_is_the_force(name, lattice, relative_error):
    term = TERMS[name]()
    force = term.reference(lattice.astype(np.float64))[1]
    assert relative_error(term.sampled_force(lattice, _every_draw(N)), force) < 2e-3


@pytest.mark.parametrize("n_draws", [1, 7])
@pytest.mark.parametrize("name", TERMS)
def test_the_mean_of_many_estimates_is_the_force(name, n_draws, lattice):
    term = TERMS[name]()
    force = term.reference(lattice.astype(np.float64))[1]
    found = _estimates(term, lattice, n_draws)
    error = found.std(axis=0) / np.sqrt(N_EPOCHS)
    off = np.abs(found.mean(axis=0) - force)
    assert np.all(off < 5.0 * error + 1e-4 * np.abs(force).max())


def _memberships(n=N):
    matrix = sp.csr_array((0.5 * _pair_weights(n)).astype(np.float32))
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return Affinities(matrix, "membership")


def _rows_of_sum_one(n=N):
    W = _pair_weights(n)
    np.fill_diagonal(W, 0)
    return sp.csr_array(W / W.sum(1, keepdims=True))


def _own_loss(affinities, kernel):
    return PairObjective(
        [EdgePairs(affinities.matrix, kernel, CUBE, scale=-1.0)],
        [AllPairs(affinities.n_samples, kernel, CustomLaw(np.square, lambda k: 2 * k))],
    )


LOSSES = {
    "cross_entropy": lambda: CrossEntropy(_memberships(), UMAP, evaluation="exact", noise_exponent=0.75),
    "stated_cross_entropy": lambda: StatedCrossEntropy(_memberships(), UMAP),
    "linear_attraction": lambda: LinearAttraction(_memberships(), gravity=0.1),
    "frobenius": lambda: Frobenius(_target(), UMAP),
    "frobenius, weighted": lambda: Frobenius(_target(), UMAP, weights=_pair_weights()),
    "reconstruction": lambda: ReconstructionTrace(_rows_of_sum_one(), UMAP),
    "reconstruction, quadratic": lambda: ReconstructionTrace(_rows_of_sum_one(), UMAP, penalty="quadratic"),
    "sigmoid stress": lambda: SigmoidStress(1 - _target(), EXAMPLES["sketch_map"], EXAMPLES["sketch_map"], mixture=0.4),
    "stress": lambda: Stress(1 - _target()),
    "a loss of one's own": lambda: _own_loss(_memberships(), UMAP),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_expectation_of_a_losss_estimate_is_minus_its_gradient(name, lattice, relative_error):
    objective = LOSSES[name]()
    gradient = objective.reference(lattice)[1]
    assert relative_error(-objective.sampled_force(lattice, _every_draw(N)), gradient) < 2e-3
    found = _estimates(objective, lattice, 16)
    error = found.std(axis=0) / np.sqrt(N_EPOCHS)
    assert np.all(np.abs(found.mean(axis=0) + gradient) < 5.0 * error + 1e-4 * np.abs(gradient).max())


@pytest.mark.parametrize("name", LOSSES)
def test_estimates_are_equal_to_the_bit_for_any_number_of_threads(name, lattice):
    found = set()
    for n_threads in (1, 2, 3):
        with running(n_threads=n_threads):
            found.add(LOSSES[name]().sampled_force(lattice, Draws(N, 16, 4, 9)).tobytes())
    assert len(found) == 1
    other = [LOSSES[name]().sampled_force(lattice, Draws(N, 16, *which)).tobytes() for which in ((4, 10), (5, 9))]
    assert len({*found, *other}) == 3


def test_compiled_sums_of_drawn_pairs_equal_those_in_numpy(lattice, relative_error):
    square = CustomLaw(np.square, lambda k: 2 * k)
    draws = Draws(N, 16, 0, 0)
    compiled, plain = (AllPairs(N, UMAP, law, weights=(_weights(1), _weights(2))) for law in ("square", square))
    assert relative_error(compiled.sampled_force(lattice, draws), plain.sampled_force(lattice, draws)) < 1e-5


def test_more_draws_lower_the_noise(lattice):
    term = AllPairs(N, Cauchy())
    few, many = (_estimates(term, lattice, n_draws, 100).var(axis=0).mean() for n_draws in (4, 16))
    assert many == pytest.approx(few / 4, rel=0.15)


def test_few_large_targets_are_met_more_often_than_by_chance(lattice):
    target = np.zeros((N, N))
    target[np.arange(0, N - 1, 2), np.arange(1, N, 2)] = 8.0
    target += target.T
    term = TargetPairs(target, UMAP)
    by_chance = []
    for epoch in range(200):
        points = Draws(N, 16, 3, epoch).points
        each = np.full(points.shape, N / 16.0)
        own, given = (
            drawn_force(lattice, points, part, law, UMAP, None)
            for law, part in (("square", each), ("value", -2.0 * each * np.take_along_axis(target, points, axis=1)))
        )
        by_chance.append(own + given)
    assert _estimates(term, lattice, 16, 200).var(axis=0).sum() < 0.2 * np.var(by_chance, axis=0).sum()


def test_rows_draw_by_weight_what_they_say_they_do():
    weights = np.random.default_rng(2).random((7, 7)) ** 4
    weights[0, 3:] = 0.0
    weights[1] = 0.0
    shares = RowShares(weights * np.where(np.arange(7) % 2, -1.0, 1.0))
    every = np.broadcast_to(np.arange(7, dtype=np.int32), (7, 7))
    expected = np.where(np.eye(7, dtype=bool), 0.0, weights)
    expected[1] = np.arange(7) != 7
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares.probabilities(every), expected, atol=1e-7)
    uniform = np.broadcast_to((np.arange(20_000) + 0.5) / 20_000, (7, 20_000))
    drawn = shares.draw(uniform)
    counts = np.array([np.bincount(row, minlength=7) for row in drawn])
    np.testing.assert_allclose(counts / 20_000, expected, atol=1e-4)
    ends = shares.draw(np.broadcast_to([0.0, np.nextafter(1.0, 0.0)], (7, 2)))
    assert np.all(np.take_along_axis(expected, ends.astype(np.intp), axis=1) > 0.0)


def test_what_cannot_be_sampled_says_what_and_why(lattice):
    draws = Draws(N, 16, 0, 0)
    rows = Affinities(sp.csr_array(_rows_of_sum_one().astype(np.float32)), "rows")
    for objective, text in (
        (KLDivergence(_memberships()), r"KLDivergence: link='log' must be 'identity' to be sampled \(the logarithm of"),
        (ConditionalDivergence(rows), r"ConditionalDivergence: link='row_log' must be .* CrossEntropy or InfoNCE"),
        (Frobenius(_target(), UMAP, centered=True), r"Frobenius: centered=True must be .*means of whole rows"),
        (OrdinalStress(1 - _target()), r"OrdinalStress: the loss must be .*disparities follow from all pairs"),
    ):
        with pytest.raises(ValueError, match=text):
            objective.sampled_force(lattice, draws)
