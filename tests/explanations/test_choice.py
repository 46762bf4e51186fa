"""The fit of an explanation is the one that predicts rows it has not seen, and the explanation says which."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.explanations import make_map
from benchmarks.known_drivers import driven_manifold, driven_table
from tests.threads import on_threads

from gnomon.evaluation import recovery_of_drivers
from gnomon.explanations import explain
from gnomon.explanations.choice import choose_fit


@pytest.fixture(scope="module")
def sparse_counts():
    table = driven_table("low depth", random_state=0)
    return table, make_map("known", table)


@pytest.fixture(scope="module")
def found_and_forward(sparse_counts):
    """The explanation of sparse counts, as it chooses to be and forward."""
    table, Y = sparse_counts
    return explain(table.X, Y), explain(table.X, Y, fit="forward")


def test_sparse_counts_are_explained_by_neighbours_in_the_map(sparse_counts, found_and_forward):
    table, (found, forward) = sparse_counts[0], found_and_forward
    assert (found.direction, found.neighborhood) == ("inverse", "map")
    assert found.scores[f"inverse {found.n_neighbors}"] > 1.5 * found.scores["forward"]
    assert recovery_of_drivers(found.importance, table.drivers).auc > 0.95
    assert recovery_of_drivers(forward.importance, table.drivers).auc < 0.85


def test_every_answer_is_of_the_chosen_fit(found_and_forward):
    found, _ = found_and_forward
    answer = found.why(5, 3)
    np.testing.assert_allclose(answer.effect, found.importance[5, answer.indices], rtol=1e-5)
    top = found.top_features(12)
    np.testing.assert_allclose(top.importance[5, :3], answer.effect, rtol=1e-5)
    np.testing.assert_allclose(found.axes_error(5, [4]), found.axes_error(5)[:, 4:5])
    assert answer.significant.any()
    said = f"features fitted by place over {found.n_neighbors} neighbours in the map (held-out R2 "
    assert said in found.summary()
    assert said in str(answer)
    assert answer.to_dict()["fit"] == found.describe_fit()
    assert 0.2 < np.median(found.r2) < np.median(found.fit_r2)
    assert np.isfinite(found.semi_axes[found.mask]).all()


def test_a_clean_surface_is_explained_forward_to_the_bit():
    data = driven_manifold("caps", 600, n_features=24, signal_to_noise=10, random_state=0)
    Y = make_map("isomap", data)
    found, plain = explain(data.X, Y), explain(data.X, Y, fit="forward")
    assert found.direction == "forward"
    assert found.importance.tobytes() == plain.importance.tobytes()
    assert found.r2.tobytes() == plain.r2.tobytes()
    assert found.n_neighbors == 15
    assert found.describe_fit() == "place fitted by features over 15 neighbours in the data, averaged 3 times"


def test_an_inverse_fit_can_be_asked_for():
    data = driven_manifold("sheets", 600, n_features=24, random_state=0)
    Y = make_map("known", data)
    found = explain(data.X, Y, fit="inverse")
    assert found.direction == "inverse"
    assert {"forward", f"inverse {found.n_neighbors}"} <= set(found.scores)
    assert recovery_of_drivers(found.importance, data.drivers, counted=~data.faint).auc > 0.97
    few = explain(data.X[:60], Y[:60], fit="inverse")
    assert (few.n_neighbors, few.scores) == (50, {})
    with pytest.raises(ValueError, match="fit"):
        explain(data.X, Y, fit="backward")


def test_a_random_map_is_not_believed_either_way():
    rng = np.random.default_rng(0)
    X, Y = np.log1p(rng.poisson(1.0, (800, 40))).astype(float), rng.normal(size=(800, 2))
    found = explain(X, Y)
    assert found.direction == "forward"
    assert max(found.scores.values()) < 0.05
    assert np.median(explain(X, Y, fit="inverse").r2) < 0.02


def test_the_choice_does_not_depend_on_threads_and_few_rows_are_not_compared(sparse_counts, found_and_forward):
    table, Y = sparse_counts
    graph = found_and_forward[1].graph
    one = on_threads(1, choose_fit)(table.X, Y, graph, ridge=10.0, pooling=3)
    three = on_threads(3, choose_fit)(table.X, Y, graph, ridge=10.0, pooling=3)
    assert one == three
    few = np.arange(0, len(Y), 40)
    assert explain(table.X[few], Y[few]).scores == {}


def test_forward_fits_are_kept_where_the_inverse_ones_predict_no_more():
    data = driven_manifold("tree", 600, n_features=24, signal_to_noise=2, random_state=0)
    found = explain(data.X, make_map("known", data))
    assert found.direction == "forward"
    assert found.scores["forward"] == max(found.scores.values()) > 0.2
    assert f"(held-out R2 {found.scores['forward']:.2f}, inverse " in found.describe_fit()


def test_the_fit_that_predicts_more_held_out_rows_finds_more_drivers():
    data = driven_manifold("tori", 600, n_features=24, signal_to_noise=2, random_state=0)
    Y = make_map("known", data)
    found, forward = explain(data.X, Y), explain(data.X, Y, fit="forward")
    assert found.direction == "inverse"
    assert found.scores["forward"] < found.scores[f"inverse {found.n_neighbors}"] < 1.5 * found.scores["forward"]
    aucs = [recovery_of_drivers(one.importance, data.drivers, counted=~data.faint).auc for one in (found, forward)]
    assert aucs[0] > aucs[1]
