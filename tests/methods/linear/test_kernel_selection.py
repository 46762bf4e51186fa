"""select_kernel: its ratios and fidelities, what it finds where the answer is known, its rules, plot and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from gnomon.kernels.inputs import CosineInput, GaussianInput, PolynomialInput, SketchMapInput
from gnomon.methods.linear.kernel_pca import KernelPCA
from gnomon.methods.linear.kernel_selection import select_kernel
from gnomon.plot import plot_spectra

angle = np.linspace(0, 2 * np.pi, 150, endpoint=False)
CIRCLE = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.03 * np.random.default_rng(0).normal(size=(150, 2))
CLOUD = np.random.default_rng(1).normal(size=(120, 5))
FEW = ("linear", "polynomial", "cosine", "gaussian")
COUNTS = np.random.default_rng(2).poisson(2.0, size=(90, 12)).astype(np.float64)


def _parabola(n=180):
    draw = np.random.default_rng(0)
    t = draw.uniform(-1, 1, n)
    return np.c_[t, 2 * t**2] + 0.03 * draw.normal(size=(n, 2))


def test_ratios_are_those_of_kernel_pca_far_from_the_origin():
    X = CLOUD + 7.0
    found = select_kernel(X, degrees=[2], n_components=2)
    assert len(found.table) == 8
    for one in found.table:
        model = KernelPCA(2, kernel=one.kernel).fit(X)
        assert one.ratio == pytest.approx(model.explained_ratio_.sum(), rel=1e-9)
        assert one.spectrum.sum() <= 1.0 + 1e-12
        assert one.negative_inertia == 0.0
    assert found.pca.label == "linear"
    assert set(found.spectra) == {one.label for one in found.table}


@pytest.mark.parametrize("name", ["polynomial", "cosine", "cauchy"])
def test_a_choice_is_handed_on_as_a_kernel_or_by_name(name):
    X = CLOUD + 7.0
    best = select_kernel(X, kernels=[name], degrees=[2], n_components=2).best
    whole = KernelPCA(2, kernel=best.kernel, random_state=0).fit_transform(X)
    named = KernelPCA(2, kernel=best.name, kernel_params=best.parameters, random_state=0).fit_transform(X)
    assert best.name == name
    np.testing.assert_array_equal(named, whole)


def test_rows_of_a_line_keep_all_neighbourhoods():
    line = np.sort(np.random.default_rng(0).uniform(size=(60, 1)), axis=0) @ [[1.0, 2.0, -1.0]]
    found = select_kernel(line, kernels=["linear"], n_components=1)
    assert found.best.order == pytest.approx(1.0)
    assert found.best.fidelity == pytest.approx((1.0 + found.best.position) / 2)
    assert found.best.ratio == pytest.approx(1.0)


def test_the_degree_two_unfolds_a_parabola_that_pca_folds():
    found = select_kernel(_parabola(), kernels=FEW, degrees=[2], n_components=1)
    assert found.best.name == "polynomial"
    assert found.best.fidelity > found.pca.fidelity + 0.2
    assert max(one.fidelity for one in found.table) - found.best.fidelity <= found.tolerance


@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_a_subspace_with_noise_is_left_to_pca(law):
    draw = np.random.default_rng(3)
    Z = draw.normal(size=(150, 2)) * [2, 1] if law == "normal" else draw.uniform(-2, 2, (150, 2))
    X = Z @ np.linalg.qr(draw.normal(size=(10, 2)))[0].T + 0.1 * draw.normal(size=(150, 10))
    assert select_kernel(X, kernels=FEW, degrees=[2], n_components=2).best.label == "linear"


def test_the_simplest_of_those_within_the_tolerance_is_chosen():
    for X in (CLOUD, CIRCLE, _parabola()):
        found = select_kernel(X[:120], kernels=FEW, n_components=1)
        highest = max(found.table, key=lambda one: one.fidelity)
        assert found.tolerance == max(0.01, highest.fidelity_error)
        level = [one for one in found.table if one.fidelity >= highest.fidelity - found.tolerance]
        assert found.best in level
        fewest = min(one.n_parameters for one in level)
        assert found.best.n_parameters == fewest
        same = [one for one in level if one.n_parameters == fewest]
        assert found.best.label == "linear" or found.best.ratio == max(one.ratio for one in same)


def test_the_product_is_searched_and_chosen_by_its_rule():
    asked = {"kernels": ["gaussian", "polynomial"], "degrees": [2, 3], "n_components": 1}
    simplest, product = (select_kernel(_parabola(), rule=rule, **asked) for rule in ("simplest", "product"))
    assert product.best.product == max(one.product for one in product.table)
    assert product.best.product >= max(one.product for one in simplest.table) - 0.02
    assert "* " + product.best.label in product.summary()
    assert "highest product" in product.summary()


def test_the_search_finds_at_least_what_a_grid_does():
    X = _parabola()
    found = select_kernel(X, kernels=["polynomial"], degrees=[2], n_components=1).best
    size = np.square(X - X.mean(axis=0)).sum(axis=1).mean()
    grid = [PolynomialInput((1, 2, 1), factor * size, X.mean(axis=0)) for factor in (0.1, 0.3, 1.0, 3.0, 10.0)]
    tried = select_kernel(X, kernels=grid, n_components=1).table
    assert found.fidelity >= max(one.fidelity for one in tried) - found.fidelity_error
    assert found.n_trials > 7
    assert all(one.n_trials == 1 for one in tried)


def test_negative_eigenvalues_leave_the_sum_to_the_positive_ones():
    line = np.linspace(0.0, 3.0, 40)[:, None]
    kernel = SketchMapInput(1.0, 4.0, 4.0)
    found = select_kernel(line, kernels=[kernel], n_components=1).table[0]
    centred = np.eye(40) - 1 / 40
    values = np.linalg.eigvalsh(centred @ kernel.block(line, line) @ centred)
    assert found.ratio == pytest.approx(values[-1] / values[values > 0].sum())
    assert found.negative_inertia == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())


def test_an_outlier_and_a_high_power_drive_the_ratio_to_one_and_are_not_chosen():
    X = np.concatenate([CLOUD, [[30.0, 30.0, 0.0, 0.0, 0.0]]])
    power = PolynomialInput((0.0,) * 8 + (1.0,))
    found = select_kernel(X, kernels=["linear", "gaussian", power], n_components=1)
    spoiled = found.table[-1]
    assert spoiled.ratio > 0.9999
    assert spoiled.ratio == max(one.ratio for one in found.table)
    assert spoiled.fidelity < found.pca.fidelity
    assert found.best is not spoiled


def test_the_ratio_of_the_gaussian_grows_with_its_width_towards_that_of_pca():
    kernels = [GaussianInput(1.5 * factor) for factor in (0.25, 0.5, 1, 2, 4, 8, 50)]
    found = select_kernel(CIRCLE, kernels=kernels, n_components=2)
    ratios = [one.ratio for one in found.table]
    assert ratios == sorted(ratios)
    assert ratios[-1] == pytest.approx(found.pca.ratio, abs=1e-3)
    assert ratios[-1] <= found.pca.ratio


def test_a_kernel_without_similar_rows_is_judged_too():
    matrix = np.eye(120) - 1 / 120  # of which LAPACK may find no eigenvalues at all
    found = select_kernel(CLOUD, kernels=[GaussianInput(1e-3)], n_components=2).table[0]
    np.testing.assert_allclose(found.spectrum, scipy.linalg.eigvalsh(matrix)[: -len(found.spectrum) - 1 : -1] / 119)
    assert abs(found.order) < 0.1


def test_the_front_is_not_surpassed():
    found = select_kernel(CLOUD, kernels=FEW, n_components=2)
    for one in found.table:
        better = [o for o in found.table if o.ratio > one.ratio and o.fidelity > one.fidelity]
        assert one.on_front == (not better)
    assert [one.ratio for one in found.pareto] == sorted((one.ratio for one in found.pareto), reverse=True)


def test_cosines_are_measured_from_the_origin_and_from_the_mean():
    first, second = select_kernel(CLOUD, kernels=["cosine"], n_components=2).table
    assert isinstance(first.kernel, CosineInput)
    assert first.kernel.center is None
    assert second.label == "cosine from mean"
    np.testing.assert_allclose(second.kernel.center, CLOUD.mean(axis=0))


def test_the_default_dimension_leaves_rows_to_fit():
    found = select_kernel(np.random.default_rng(0).normal(size=(40, 500)), kernels=["linear"])
    assert found.intrinsic_dimension > 30
    assert found.n_components == 25


def test_sparse_rows_are_judged_as_dense_ones():
    tables = [
        select_kernel(X, kernels=["polynomial", "cosine", "gaussian"], degrees=[2], n_components=2).table
        for X in (COUNTS, sp.csr_array(COUNTS))
    ]
    for dense, sparse in zip(*tables, strict=True):
        assert sparse.fidelity == pytest.approx(dense.fidelity, abs=0.01)
        assert sparse.ratio == pytest.approx(dense.ratio, rel=0.05)


def test_the_intrinsic_dimension_is_the_default_and_threads_change_nothing():
    plane = np.random.default_rng(0).uniform(size=(400, 2)) @ np.random.default_rng(1).normal(size=(2, 6))
    found = [select_kernel(plane, kernels=["gaussian", "cauchy"], max_rows=150, n_jobs=n) for n in (1, 2)]
    assert found[0].intrinsic_dimension == pytest.approx(2.0, rel=0.2)
    assert found[0].n_components in (2, 3)
    assert found[0].n_rows == 150
    numbers = [[(one.label, one.ratio, one.fidelity, one.spectrum.tobytes()) for one in each.table] for each in found]
    assert numbers[0] == numbers[1]


def test_spectra_and_front_are_drawn():
    pytest.importorskip("matplotlib")
    figure = plot_spectra(select_kernel(CIRCLE, kernels=FEW, degrees=[2], n_components=2), title="circle").figure_
    assert len(figure.axes) == 2
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"kernels": ["rbf"]}, ValueError, "select_kernel: kernels with 'rbf' must be names among 'linear'"),
        ({"kernels": []}, ValueError, "select_kernel: 0 kernels must be at least 1"),
        ({"n_components": 0}, ValueError, "select_kernel: n_components=0 must be an integer >= 1"),
        ({"n_components": 80}, ValueError, "n_components=80 must be less than the rows fitted at a time, 80"),
        ({"rule": "ratio"}, ValueError, "select_kernel: rule='ratio' must be one of 'simplest', 'product'"),
        ({"n_neighbors": 120}, ValueError, "select_kernel: n_neighbors=120 must be at most 119"),
        ({"degrees": [0]}, ValueError, "select_kernel: degrees=0 must be an integer >= 1"),
    ],
)
def test_errors_name_the_argument_and_the_rule(parameters, error, text):
    with pytest.raises(error, match=text):
        select_kernel(CLOUD, **parameters)
