"""Maps without descent: what each solves, and how far each is from the best map of UMAP's loss."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_swiss_roll

import gnomon as gn
from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.kernels import UMAPKernel
from gnomon.linalg import procrustes
from gnomon.optimizers import LBFGS, minimize
from gnomon.theory import direct
from gnomon.theory.direct.calibration import with_profile

_KERNEL = UMAPKernel.from_min_dist(0.1)


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data[:300]
    umap = gn.UMAP(random_state=0).fit(X)
    loss = direct.umap_loss(umap.affinities_, umap.kernel_)
    best = minimize(LBFGS(max_iter=400), loss, umap.embedding_).embedding
    return X, umap.affinities_, umap.kernel_, loss, best


def _excess(digits, Y):
    loss, best = digits[3:]
    return loss.loss(Y.astype(np.float32)) / loss.loss(best) - 1.0


def _path(n):
    return Affinities(sp.csr_array(sp.diags_array([np.ones(n - 1, np.float32)] * 2, offsets=[1, -1])), "membership")


def test_a_scaled_map_is_where_the_loss_along_the_ray_is_least(digits):
    X, affinities, kernel, loss, _ = digits
    Y = direct.scaled_map(affinities, kernel, X[:, [20, 43]])
    assert np.allclose(Y.mean(axis=0), 0.0)
    there = loss.loss(Y.astype(np.float32))
    for factor in (0.1, 0.5, 0.9, 1.1, 2.0, 10.0):
        assert loss.loss((factor * Y).astype(np.float32)) > there
    again = direct.scaled_map(affinities, kernel, 300.0 * X[:, [20, 43]] + 5.0)
    assert np.allclose(again, Y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("Y", "said"),
    [(np.zeros((300, 2)), "different places"), (np.ones((5, 2)), "300"), (np.full((300, 2), np.nan), "finite")],
)
def test_a_map_that_has_no_scale_is_refused(digits, Y, said):
    with pytest.raises(ValueError, match=said):
        direct.scaled_map(digits[1], digits[2], Y)


def test_an_eigenmap_is_made_of_eigenvectors_and_ranks_space_them_evenly(digits):
    _, affinities, kernel, *_ = digits
    A = affinities.matrix.astype(np.float64)
    D = sp.diags_array(A.sum(axis=1))
    Y = direct.eigenmap(affinities, kernel)
    # centring shifts each column by a multiple of the trivial vector, which L maps to 0
    LY = (D - A) @ Y
    for column, image in zip(Y.T, LY.T, strict=True):
        with_constant = np.column_stack([D @ column, D @ np.ones(300)])
        rest = image - with_constant @ np.linalg.lstsq(with_constant, image)[0]
        assert np.linalg.norm(rest) < 0.02 * np.linalg.norm(image)
    ranks = direct.eigenmap(affinities, kernel, ranks=1.0)
    for before, after in zip(Y.T, ranks.T, strict=True):
        assert np.array_equal(np.argsort(before, kind="stable"), np.argsort(after, kind="stable"))
        assert np.allclose(np.diff(np.sort(after)), np.diff(np.sort(after))[0])


def test_components_of_a_graph_lie_beside_each_other():
    two = sp.block_diag([_path(30).matrix, _path(20).matrix], format="csr")
    affinities = Affinities(sp.csr_array(two, dtype=np.float32), "membership")
    for Y in (direct.eigenmap(affinities, _KERNEL), direct.balanced_map(affinities, _KERNEL, n_solves=2)):
        assert np.isfinite(Y).all()
        apart = np.linalg.norm(Y[:, None] - Y[None], axis=2) + np.diag(np.full(50, np.inf))
        assert ((apart.argmin(axis=1) < 30) == (np.arange(50) < 30)).all()


def test_springs_hold_the_repulsion_where_the_system_is_solved(digits):
    _, affinities, kernel, loss, best = digits
    Y = best.astype(np.float64) * 1.3
    springs = direct.balance.springs_at(affinities.matrix, kernel, Y)
    Z = Y + direct.balance.step_of_springs(loss, springs, Y)
    attraction, repulsion = loss.forces(Y.astype(np.float32))
    L = sp.diags_array(springs.sum(axis=1)) - springs
    assert np.linalg.norm(-(L @ Y) - attraction) < 1e-3 * np.linalg.norm(attraction)
    assert np.linalg.norm(L @ Z - (repulsion - repulsion.mean(axis=0))) < 1e-3 * np.linalg.norm(repulsion)


def test_a_map_at_rest_stays(digits):
    _, affinities, kernel, _, best = digits
    Y = direct.balanced_map(affinities, kernel, best)
    assert procrustes(Y, best).disparity < 0.01


def test_four_systems_come_within_a_tenth_of_the_best_map_and_eigenvectors_do_not(digits):
    _, affinities, kernel, *_ = digits
    eigen, bent, once, four = (
        _excess(digits, Y)
        for Y in (
            direct.eigenmap(affinities, kernel),
            direct.eigenmap(affinities, kernel, ranks=0.5),
            direct.balanced_map(affinities, kernel),
            direct.balanced_map(affinities, kernel, n_solves=4),
        )
    )
    assert eigen > bent > once > four
    assert bent > 0.2
    assert four < 0.1


def test_a_part_that_hangs_by_a_thread_does_not_fly_away():
    rng = np.random.default_rng(0)
    centres = 30.0 * rng.normal(size=(6, 10))
    X = np.repeat(centres, 40, axis=0) + rng.normal(size=(240, 10))
    umap = gn.UMAP(random_state=0).fit(X)
    matrix = umap.affinities_.matrix.tolil()
    for c in range(5):
        matrix[40 * c, 40 * c + 40] = matrix[40 * c + 40, 40 * c] = 1e-3
    affinities = Affinities(sp.csr_array(matrix.tocsr(), dtype=np.float32), "membership")
    loss = direct.umap_loss(affinities, umap.kernel_)
    best = loss.loss(minimize(LBFGS(max_iter=400), loss, umap.embedding_).embedding)
    collapsed, mapped = (
        loss.loss(Y.astype(np.float32)) / best - 1.0
        for Y in (direct.eigenmap(affinities, umap.kernel_), direct.balanced_map(affinities, umap.kernel_, n_solves=4))
    )
    assert collapsed > 1.0  # eigenvectors are constant on the parts, and so is whatever is made of them
    assert mapped < 0.25


def test_bisection_keeps_the_order_of_a_path_and_gives_each_point_a_box_of_its_own(digits):
    line = direct.bisection_map(_path(64), _KERNEL, n_components=1)[:, 0]
    assert np.allclose(np.abs(np.diff(np.sort(line))), np.ptp(line) / 63)
    assert abs(np.corrcoef(line, np.arange(64))[0, 1]) > 0.95
    Y = direct.bisection_map(digits[1], digits[2])
    assert len(np.unique(Y, axis=0)) == 300
    assert _excess(digits, direct.balanced_map(digits[1], digits[2], Y)) < _excess(digits, Y)


def test_charts_unroll_a_rolled_sheet():
    X, along = make_swiss_roll(700, random_state=0)
    flat = np.column_stack([0.5 * (along * np.sqrt(1 + along**2) + np.arcsinh(along)), X[:, 1]])
    umap = gn.UMAP(n_neighbors=8, random_state=0).fit(X)
    Y = direct.chart_map(umap.affinities_, umap.kernel_, X)
    assert procrustes(Y, flat).disparity < 0.05
    loss = direct.umap_loss(umap.affinities_, umap.kernel_)
    joined = direct.balanced_map(umap.affinities_, umap.kernel_, Y)
    assert loss.loss(joined.astype(np.float32)) < loss.loss(umap.embedding_)
    with pytest.raises(ValueError, match="700 rows"):
        direct.chart_map(umap.affinities_, umap.kernel_, X[:10])


def test_points_that_are_no_landmarks_lie_at_the_mean_of_their_neighbours(digits):
    _, affinities, kernel, *_ = digits
    A = affinities.matrix.astype(np.float64)
    Y = direct.landmark_map(affinities, kernel, share=0.2, seed=3)
    mean = A @ Y / A.sum(axis=1)[:, None]
    apart = np.linalg.norm(mean - Y, axis=1)
    assert 240 <= (apart < 1e-3 * Y.std()).sum() <= 245
    assert _excess(digits, direct.balanced_map(affinities, kernel, Y)) < _excess(digits, Y)


def test_reconstruction_without_a_system_is_locally_linear_embedding(digits):
    _, affinities, kernel, *_ = digits
    A = affinities.matrix.toarray().astype(np.float64)
    rest = np.eye(300) - A / A.sum(axis=1)[:, None]
    vectors = np.linalg.eigh(rest.T @ rest)[1][:, 1:3]
    Y = direct.reconstruction_map(affinities, kernel, ranks=0.0, n_solves=0)
    Y = Y / Y.std(axis=0)
    for mine, theirs in zip(Y.T, vectors.T, strict=True):
        assert abs(np.corrcoef(mine, theirs)[0, 1]) > 0.999
    solved = direct.reconstruction_map(affinities, kernel)
    assert _excess(digits, solved) < _excess(digits, direct.reconstruction_map(affinities, kernel, n_solves=0))


@pytest.mark.parametrize("n_components", [1, 3])
def test_maps_of_one_and_three_dimensions(digits, n_components):
    _, affinities, kernel, *_ = digits
    Y = direct.eigenmap(affinities, kernel, n_components=n_components, ranks=0.5)
    assert direct.balanced_map(affinities, kernel, Y, n_solves=2).shape == (300, n_components)


def test_same_bytes_for_any_number_of_threads(digits):
    X, affinities, kernel, *_ = digits

    def maps():
        yield direct.balanced_map(affinities, kernel, n_solves=2)
        yield direct.bisection_map(affinities, kernel)
        yield direct.chart_map(affinities, kernel, X)

    with running(n_threads=1):
        one = [Y.tobytes() for Y in maps()]
    with running(n_threads=3):
        assert [Y.tobytes() for Y in maps()] == one


def test_a_misspelled_range_is_named(digits):
    with pytest.raises(ValueError, match="eigenmap: ranks"):
        direct.eigenmap(digits[1], digits[2], ranks=2.0)


def test_a_calibrated_map_keeps_directions_and_lowers_the_loss_below_every_neighbour_on_its_lines(digits):
    _, affinities, kernel, loss, _ = digits
    Y = direct.eigenmap(affinities, kernel)
    Z = direct.calibrated_map(affinities, kernel, Y)
    there = loss.loss(Z.astype(np.float32))
    assert there < 0.995 * loss.loss(Y.astype(np.float32))
    for stretch in ([1.5, 1.0], [0.7, 1.0], [1.0, 1.5], [1.0, 0.7]):
        assert loss.loss((Z * stretch).astype(np.float32)) > there
    assert np.allclose(
        direct.calibrated_map(affinities, kernel, Y, n_rounds=0), direct.scaled_map(affinities, kernel, Y)
    )
    circle = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])
    bent = with_profile(circle, 0.5)
    assert np.allclose(np.square(np.linalg.norm(bent, axis=1)) / [1.0, 2.0, 3.0], np.square(bent[0]).sum())
    assert np.square(bent).sum() == pytest.approx(np.square(circle).sum())
