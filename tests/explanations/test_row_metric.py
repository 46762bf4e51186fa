"""Changed rows, paths and their neighbours are measured as the neighbours of the map are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import gnomon
from gnomon.data.scaling import fit_scaling
from gnomon.explanations.counterfactual.metric import RowMetric


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(0.1, 1.0, (6, 4))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_steps_are_distances_in_the_metric(rows, metric):
    expected = np.diag(cdist(rows[:-1], rows[1:], metric))
    np.testing.assert_allclose(RowMetric(metric).steps(rows), expected, rtol=1e-5)
    units = np.array([1.0, 100.0, 0.01, 1.0])
    scale = fit_scaling(rows * units, "standard")
    expected = np.diag(cdist(scale.apply(rows[:-1] * units), scale.apply(rows[1:] * units), metric))
    np.testing.assert_allclose(RowMetric(metric, scale).steps(rows * units), expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*out of range")  # of rows tried on the way
def test_a_scaled_map_gives_the_counterfactual_of_the_table_standardised_by_hand():
    rng = np.random.default_rng(0)
    along = rng.uniform(0, 10, (240, 1))
    labels = (along[:, 0] > 5).astype(int)
    plain = along * np.ones(6) + 0.3 * rng.normal(size=(240, 6))
    units = 10.0 ** np.arange(6)
    scale = fit_scaling(plain * units, "standard")
    scaled = gnomon.map(plain * units, labels=labels, scale="standard", random_state=0, n_jobs=1)
    by_hand = gnomon.map(scale.apply(plain * units), labels=labels, random_state=0, n_jobs=1)
    for i in np.flatnonzero(labels == 0)[:2].tolist():
        found, expected = scaled.counterfactual(i, 1), by_hand.counterfactual(i, 1)
        assert found.plausible
        assert (found.route, found.n_needed, found.n_paths) == (expected.route, expected.n_needed, expected.n_paths)
        assert found.share == pytest.approx(expected.share, abs=1e-6)
        np.testing.assert_allclose(scale.apply(found.needed_row[None])[0], expected.needed_row, atol=1e-4)


def test_rows_that_differ_in_length_alone_are_no_change_to_a_cosine_map():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi / 2, 240)
    labels = (angle > np.pi / 4).astype(int)
    X = np.column_stack([np.cos(angle), np.sin(angle), 0.05 * rng.normal(size=(240, 3))])
    X *= rng.uniform(0.5, 2.0, 240)[:, None]
    found = gnomon.map(X, labels=labels, metric="cosine", random_state=0, n_jobs=1)
    start = int(np.argmin(np.abs(angle - 0.5)))
    answer = found.counterfactual(start, 1)
    assert answer.plausible
    near = np.argsort(cdist(answer.needed_row[None], X, "cosine")[0])[:5]
    assert (labels[near] == 1).all()
    longer = RowMetric.of(found.explain(), found.explain().graph).steps(np.stack([X[start], 3.0 * X[start]]))
    assert longer == pytest.approx(0, abs=1e-6)
