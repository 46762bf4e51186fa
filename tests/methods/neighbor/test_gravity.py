"""ForceAtlas2 keeps the pieces of a graph together, and leaves a connected graph alone."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import ForceAtlas2

_PIECES = np.random.default_rng(0).normal(size=(3, 60, 4)) + np.array([0.0, 100.0, -100.0])[:, None, None]


def _between(estimator):
    """Return the distances between the middles of the pieces, in lengths of an edge at rest."""
    middles = estimator.embedding_.reshape(3, 60, 2).mean(axis=1)
    edge = np.sqrt(180 * (estimator.n_neighbors + 1.0))
    return np.linalg.norm(middles - np.roll(middles, 1, axis=0), axis=1) / edge


def _fit(gravity, max_iter):
    estimator = ForceAtlas2(gravity=gravity, max_iter=max_iter, random_state=0, n_jobs=1)
    return estimator.fit(_PIECES.reshape(180, 4))


def test_pieces_rest_at_the_distance_that_gravity_asks_for():
    short, long = _fit("auto", 500), _fit("auto", 1000)
    assert long.gravity_ == 0.02
    np.testing.assert_allclose(_between(long), _between(short), rtol=1e-2)
    assert (_between(long) < 8.0).all()
    np.testing.assert_allclose(_between(_fit(0.08, 1000)), _between(long) / 2.0, rtol=0.15)


def test_without_gravity_pieces_drift_apart():
    assert (_between(_fit(0.0, 1000)) > 1.2 * _between(_fit(0.0, 500))).all()


def test_a_connected_graph_has_no_gravity_unless_it_is_asked_for():
    X = _PIECES[0]
    plain, none = (ForceAtlas2(gravity=g, max_iter=50, random_state=0, n_jobs=1).fit(X) for g in ("auto", 0.0))
    assert plain.gravity_ == 0.0
    np.testing.assert_array_equal(plain.embedding_, none.embedding_)
    drawn = ForceAtlas2(gravity=0.5, max_iter=200, random_state=0, n_jobs=1).fit(X)
    assert drawn.embedding_.std() < plain.embedding_.std()


def test_a_new_row_feels_gravity_and_rests_in_its_piece():
    estimator = _fit("auto", 300)
    rows = _PIECES[:, :5].reshape(15, 4) + 0.01
    places = estimator.place(rows)
    middles = estimator.embedding_.reshape(3, 60, 2).mean(axis=1)
    nearest = np.linalg.norm(places[:, None] - middles[None], axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest, np.repeat(np.arange(3), 5))
    assert len(estimator.placement_.loss.repulsions) == 2


def test_a_gravity_below_0_is_refused():
    with pytest.raises(ValueError, match="gravity=-1"):
        ForceAtlas2(gravity=-1.0).fit(_PIECES[0])
