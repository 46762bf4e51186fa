"""Every loss with every kernel it allows: gradients, compiled sums, invariances and equal bytes."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.kernels import EXAMPLES, CustomKernel, Distance, Linear, UMAPKernel
from gnomon.objectives import (
    LOSSES,
    ConditionalDivergence,
    CrossEntropy,
    Frobenius,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    ReconstructionTrace,
    StatedCrossEntropy,
)

ALL_KERNELS = EXAMPLES
BOUNDED = {name: kernel for name, kernel in ALL_KERNELS.items() if kernel.bounded}


def _rows(affinities):
    matrix = sp.csr_array(affinities.matrix)
    sums = np.asarray(matrix.sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / sums) @ matrix)


def _target(n):
    points = np.random.default_rng(5).normal(size=(n, 3))
    return np.exp(-np.square(points[:, None] - points[None]).sum(-1) / 4)


def _make(name, kernel, affinities):
    rows = _rows(affinities)
    signed = sp.csr_array(1.5 * rows - 0.5 * sp.csr_array(rows @ rows))
    return {
        "kl": lambda: KLDivergence(affinities, kernel, evaluation="exact"),
        "conditional_kl": lambda: ConditionalDivergence(
            Affinities(sp.csr_array(rows.astype(np.float32)), "rows"), kernel
        ),
        "cross_entropy": lambda: CrossEntropy(affinities, kernel, noise_exponent=0.75, evaluation="exact"),
        "stated_cross_entropy": lambda: StatedCrossEntropy(affinities, kernel),
        "info_nce": lambda: InfoNCE(affinities, kernel, n_noise=4, seed=2),
        "linear_attraction": lambda: LinearAttraction(affinities, kernel, repulsion_strength=0.5),
        "frobenius": lambda: Frobenius(_target(affinities.n_samples), kernel),
        "frobenius_centered": lambda: Frobenius(_target(affinities.n_samples), kernel, centered=True),
        "reconstruction": lambda: ReconstructionTrace(signed, kernel),
        "reconstruction_quadratic": lambda: ReconstructionTrace(signed, kernel, penalty="quadratic"),
    }[name]()


NEED_BOUNDED = ("kl", "conditional_kl", "cross_entropy", "stated_cross_entropy", "info_nce")
ANY_KERNEL = ("linear_attraction", "frobenius", "frobenius_centered", "reconstruction", "reconstruction_quadratic")
WITHOUT_MINIMUM = ("linear_attraction", "linear")  # it is refused
PAIRS = [(loss, kernel) for loss in NEED_BOUNDED for kernel in BOUNDED] + [
    (loss, kernel) for loss in ANY_KERNEL for kernel in ALL_KERNELS if (loss, kernel) != WITHOUT_MINIMUM
]


def test_every_loss_is_tried():
    assert {name.removesuffix("_centered").removesuffix("_quadratic") for name, _ in PAIRS} == set(LOSSES)


def test_springs_refuse_a_repulsion_that_does_not_fade(random_affinities):
    """Where all points are moved far apart, the loss with it would fall without end, as that of others grows."""
    affinities = random_affinities(12, 4, normalization="membership")
    steeper = CustomKernel(lambda s: -(s**1.5), lambda s: -1.5 * s**0.5)
    slower = CustomKernel(lambda s: -((1.0 + s) ** 0.75), lambda s: -0.75 * (1.0 + s) ** -0.25)
    for kernel in (Linear(), steeper):
        with pytest.raises(
            ValueError, match=r"LinearAttraction: kernel=.* must be a repulsion that fades .* no minimum"
        ):
            LinearAttraction(affinities, kernel)
    LinearAttraction(affinities, Linear(), repulsion_strength=0.0)
    Y = np.random.default_rng(0).normal(size=(12, 2))
    for kernel in (slower, *(ALL_KERNELS[name] for name in ALL_KERNELS if name != "linear")):
        loss = LinearAttraction(affinities, kernel, gravity=1e-3)
        assert loss.loss(1e14 * Y) > loss.loss(1e13 * Y) > 0.0


@pytest.fixture(scope="module")
def small(random_affinities):
    """Twelve points far enough apart that no floor is reached."""
    rng = np.random.default_rng(3)
    Y = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), -1).reshape(-1, 2) + rng.uniform(-0.2, 0.2, (12, 2))
    return random_affinities(12, 4, normalization="membership"), 0.6 * Y


@pytest.mark.parametrize(("loss", "kernel"), PAIRS)
def test_the_gradient_is_the_finite_difference_of_the_loss(loss, kernel, small):
    affinities, Y = small
    objective = _make(loss, ALL_KERNELS[kernel], affinities)
    direction = np.random.default_rng(0).normal(size=Y.shape)
    step = 1e-6
    up, down = (objective.reference(Y + h * direction)[0] for h in (step, -step))
    gradient = objective.reference(Y)[1]
    rounding = 4e-16 * abs(up) / step
    assert (up - down) / (2 * step) == pytest.approx(
        np.sum(gradient * direction), rel=1e-6, abs=1e-7 * np.abs(gradient).sum() + rounding
    )


@pytest.mark.parametrize(("loss", "kernel"), PAIRS)
@pytest.mark.parametrize("n_components", [2, 3, 5])
def test_the_compiled_sums_equal_the_float64_ones(loss, kernel, n_components, random_affinities, relative_error):
    affinities = random_affinities(133, normalization="membership")
    Y = np.random.default_rng(7).normal(size=(133, n_components)).astype(np.float32)
    objective = _make(loss, ALL_KERNELS[kernel], affinities)
    expected, gradient = objective.reference(Y)
    assert objective.loss(Y) == pytest.approx(expected, rel=2e-5, abs=1e-4)
    assert relative_error(objective.gradient(Y), gradient) < 1e-4
    loss_value, both = objective.loss_and_gradient(Y)
    assert loss_value == pytest.approx(expected, rel=2e-5, abs=1e-4)
    assert relative_error(both, gradient) < 1e-4


@pytest.mark.parametrize(("loss", "kernel"), PAIRS)
def test_forces_sum_to_minus_the_gradient_and_the_map_stays_where_it_is(loss, kernel, random_affinities):
    affinities = random_affinities(60, normalization="membership")
    Y = np.random.default_rng(8).normal(size=(60, 2)).astype(np.float32)
    objective = _make(loss, ALL_KERNELS[kernel], affinities)
    attraction, repulsion = objective.forces(Y)
    gradient = objective.gradient(Y)
    size = np.abs(attraction).max() + np.abs(repulsion).max()
    np.testing.assert_allclose(attraction + repulsion, -gradient, atol=2e-5 * size)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-4 * max(np.abs(gradient).sum(), size)


@pytest.mark.parametrize("loss", sorted({name for name, _ in PAIRS}))
def test_any_number_of_threads_gives_the_same_bytes(loss, random_affinities):
    affinities = random_affinities(700, normalization="membership")
    Y = np.random.default_rng(9).normal(size=(700, 2)).astype(np.float32)
    results = []
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            objective = _make(loss, ALL_KERNELS["cauchy"], affinities)
            results.append((objective.loss(Y), objective.gradient(Y).tobytes()))
    assert len(set(results)) == 1


@pytest.mark.parametrize("loss", sorted({name for name, _ in PAIRS}))
def test_a_kernel_of_the_users_own_gives_the_same(loss, random_affinities, relative_error):
    affinities = random_affinities(70, normalization="membership")
    Y = np.random.default_rng(10).normal(size=(70, 2)).astype(np.float32)
    cauchy = ALL_KERNELS["cauchy"]
    own = CustomKernel(cauchy.value, cauchy.derivative, bounded=True)
    compiled, slow = _make(loss, cauchy, affinities), _make(loss, own, affinities)
    assert slow.loss(Y) == pytest.approx(compiled.loss(Y), rel=2e-5, abs=1e-4)
    assert relative_error(slow.gradient(Y), compiled.gradient(Y)) < 1e-4


@pytest.mark.parametrize("loss", NEED_BOUNDED)
def test_a_kernel_that_is_no_similarity_is_refused(loss, random_affinities):
    with pytest.raises(ValueError, match="between 0 and 1"):
        _make(loss, Distance(), random_affinities(20, 4, normalization="membership"))


@pytest.fixture(scope="module")
def values():
    """Independent float64 results on eight points."""
    return json.loads((Path(__file__).parent / "reference.json").read_text())


def _compare(objective, Y, loss, gradient, rel=1e-6):
    found, slope = objective.reference(np.array(Y))
    assert found == pytest.approx(loss, rel=rel)
    np.testing.assert_allclose(slope, np.array(gradient), rtol=10 * rel, atol=rel * np.abs(gradient).max())


def test_two_kernel_losses_equal_the_reference_values(values):
    given = values["two_kernel"]
    kernel = UMAPKernel(given["a"], given["b"])
    X = np.array(values["X8"])
    target = np.exp(-np.square(X[:, None] - X[None]).sum(-1) / 2)
    W = sp.csr_array(np.array(values["lle"]["W"]))
    cases = {
        "frob": Frobenius(target, kernel),
        "frob_centred": Frobenius(target, kernel, centered=True),
        "lle_linear_repulsion_1_over_n_incl_diagonal": ReconstructionTrace(W, kernel),
        "lle_quadratic_repulsion": ReconstructionTrace(W, kernel, penalty="quadratic"),
    }
    for name, objective in cases.items():
        _compare(objective, values["Y8"], given[name]["loss"], given[name]["grad"], rel=2e-6)


def test_raw_stress_equals_the_reference_values(values):
    X = np.array(values["X8"])
    distances = np.sqrt(np.square(X[:, None] - X[None]).sum(-1))
    objective = Frobenius(distances, Distance())
    loss, gradient = values["smacof"]["raw_stress"], np.array(values["smacof"]["grad"])
    _compare(objective, values["Y8"], 2 * loss, 2 * gradient)  # it counts each pair once


def test_sne_and_symmetric_sne_equal_the_reference_values(values):
    X, Y = np.array(values["X8"]), values["Y8"]
    squared = np.square(X[:, None] - X[None]).sum(-1)
    conditional = np.exp(-np.array(values["tsne"]["beta"])[:, None] * squared)
    np.fill_diagonal(conditional, 0)
    conditional /= conditional.sum(1, keepdims=True)
    gaussian = ALL_KERNELS["gaussian"].__class__()
    rows = Affinities(sp.csr_array(conditional), "rows")
    _compare(ConditionalDivergence(rows, gaussian), Y, values["tsne"]["sne"]["kl"], values["tsne"]["sne"]["grad"], 1e-5)
    joint = Affinities(sp.csr_array((conditional + conditional.T) / 16), "total")
    _compare(KLDivergence(joint, gaussian), Y, values["tsne"]["ssne"]["kl"], values["tsne"]["ssne"]["grad"], 1e-5)
    _compare(KLDivergence(joint), Y, values["tsne"]["kl"], values["tsne"]["grad"], 1e-5)


def test_the_stated_cross_entropy_equals_the_reference_values(values):
    given = values["umap"]
    affinities = Affinities(sp.csr_array(np.array(given["mu"])), "membership")
    objective = StatedCrossEntropy(affinities, UMAPKernel(given["a"], given["b"]))
    _compare(objective, values["Y8"], given["ce_ordered_pairs"], given["ce_grad"], 1e-4)
    effective = CrossEntropy(
        affinities, objective.kernel, negative_sample_rate=given["m"], repulsion_strength=2.0, evaluation="exact"
    )
    _compare(effective, values["Y8"], given["effective_loss"], given["effective_grad"], 1e-4)


def test_collapsed_points_have_the_loss_n(random_affinities):
    n = 30
    objective = _make("reconstruction", ALL_KERNELS["cauchy"], random_affinities(n, normalization="membership"))
    assert objective.loss(np.zeros((n, 2), np.float32)) == pytest.approx(n, rel=1e-5)


def test_without_noise_shifts_every_point_is_drawn_once_in_turn(random_affinities):
    objective = InfoNCE(random_affinities(20, 4), n_noise=50, seed=1)
    np.testing.assert_array_equal(objective.shifts(), np.arange(1, 20))
    objective = InfoNCE(random_affinities(20, 4), n_noise=3, seed=1)
    first = objective.shifts()
    objective.at(1, 10)
    assert len(set(first)) == 3
    assert not np.array_equal(first, objective.shifts())
