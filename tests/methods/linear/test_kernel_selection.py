"""select_kernel: its ratios and fidelities, why one without the other misleads, its rules, plot and errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from gnomon.kernels.inputs import PolynomialInput
from gnomon.methods.linear.kernel_pca import KernelPCA
from gnomon.methods.linear.kernel_selection import select_kernel
from gnomon.plot import plot_spectra

angle = np.linspace(0, 2 * np.pi, 150, endpoint=False)
CIRCLE = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.03 * np.random.default_rng(0).normal(size=(150, 2))
CLOUD = np.random.default_rng(1).normal(size=(120, 5))


def test_ratio_and_scores_are_those_of_kernel_pca():
    found = select_kernel(CLOUD, kernels=["gaussian", "umap"], scales=[0.5, 2], n_components=2, n_neighbors=8)
    for one in found.table:
        model = KernelPCA(2, kernel=one.kernel).fit(CLOUD)
        assert one.ratio == pytest.approx(model.explained_ratio_.sum(), rel=1e-9)
        assert one.trustworthiness == pytest.approx(trustworthiness(CLOUD, model.embedding_, n_neighbors=8), abs=1e-9)
        assert one.spectrum.sum() <= 1.0 + 1e-12
        assert one.negative_inertia == 0.0
    assert len(found.table) == 4
    assert found.pca.label == "linear"
    assert set(found.spectra) == {one.label for one in found.table}


def test_a_perfect_map_has_fidelity_one():
    found = select_kernel(CLOUD, kernels=["linear"], n_components=5)
    assert found.best.fidelity == pytest.approx(1.0)
    assert found.best.ratio == pytest.approx(1.0)


def test_negative_eigenvalues_leave_the_sum_to_the_positive_ones():
    line = np.linspace(0.0, 3.0, 40)[:, None]
    from gnomon.kernels.inputs import SketchMapInput

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
    found = select_kernel(CIRCLE, kernels=["gaussian"], scales=[0.25, 0.5, 1, 2, 4, 8, 50], n_components=2)
    ratios = [one.ratio for one in found.table]
    assert ratios == sorted(ratios)
    assert ratios[-1] == pytest.approx(found.pca.ratio, abs=1e-3)
    assert ratios[-1] <= found.pca.ratio


def test_the_front_and_both_rules():
    found = select_kernel(CLOUD, n_components=2)
    for one in found.table:
        better = [o for o in found.table if o.ratio > one.ratio and o.fidelity > one.fidelity]
        assert one.on_front == (not better)
    assert found.best.fidelity >= found.pca.fidelity - 1e-9
    ratios = [one.ratio for one in found.table if one.fidelity >= found.pca.fidelity - 1e-9]
    assert found.best.ratio == max(ratios)
    assert [one.ratio for one in found.pareto] == sorted((one.ratio for one in found.pareto), reverse=True)
    product = select_kernel(CLOUD, n_components=2, rule="product")
    assert product.best.product == max(one.product for one in product.table)
    assert "* " + found.best.label in found.summary()


def test_the_intrinsic_dimension_is_the_default_and_threads_change_nothing():
    plane = np.random.default_rng(0).uniform(size=(400, 2)) @ np.random.default_rng(1).normal(size=(2, 6))
    found = [select_kernel(plane, kernels=["gaussian", "cosine"], max_rows=150, n_jobs=n) for n in (1, 2)]
    assert found[0].intrinsic_dimension == pytest.approx(2.0, rel=0.2)
    assert found[0].n_components in (2, 3)
    assert found[0].n_rows == 150
    numbers = [[(one.ratio, one.fidelity, one.spectrum.tobytes()) for one in each.table] for each in found]
    assert numbers[0] == numbers[1]


def test_spectra_and_front_are_drawn():
    pytest.importorskip("matplotlib")
    figure = plot_spectra(select_kernel(CIRCLE, n_components=2), title="circle")
    assert len(figure.axes) == 2
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"kernels": ["rbf"]}, ValueError, "select_kernel: kernels with 'rbf' must be names among 'linear'"),
        ({"kernels": []}, ValueError, "select_kernel: 0 kernels must be at least 1"),
        ({"n_components": 0}, ValueError, "select_kernel: n_components=0 must be an integer >= 1"),
        ({"n_components": 120}, ValueError, "select_kernel: n_components=120 must be less than the rows looked at"),
        ({"rule": "ratio"}, ValueError, "select_kernel: rule='ratio' must be one of 'constrained', 'product'"),
        ({"n_neighbors": 60}, ValueError, "select_kernel: n_neighbors=60 must be at most 59"),
        ({"degrees": [0]}, ValueError, "select_kernel: degrees=0 must be an integer >= 1"),
        ({"scales": [-1.0]}, ValueError, "sigma=.* must be a number > 0"),
    ],
)
def test_errors_name_the_argument_and_the_rule(parameters, error, text):
    with pytest.raises(error, match=text):
        select_kernel(CLOUD, **parameters)
