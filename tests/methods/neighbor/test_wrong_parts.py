"""Parts of the user's own that are none: one error each, which names the part, what was found and what to do."""

from dataclasses import replace

import numpy as np
import pytest

import gnomon as gn
from gnomon.optimizers import Adam

_X = np.random.default_rng(0).normal(size=(40, 3))


def fit(**parts):
    return gn.NeighborEmbedding(n_neighbors=5, random_state=0, n_jobs=1, **parts).fit(_X)


class Own:
    """An optimizer that returns whatever is made of a solution."""

    max_iter = 5

    def __init__(self, change):
        self.change = change

    def minimize(self, objective, Y0, reporter=None):
        return self.change(Adam(max_iter=5).minimize(objective, Y0))


def _positions(change):
    return Own(lambda solution: replace(solution, embedding=change(solution.embedding.copy())))


def _lost(rows):
    def change(Y):
        Y[rows] = np.nan
        return Y

    return change


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (_lost(slice(None)), ValueError, r"must be finite \(40 of 40 rows hold NaN or infinity, the first is row 0\)"),
        (_lost([7, 9]), ValueError, r"must be finite \(2 of 40 rows hold NaN or infinity, the first is row 7\)"),
        (lambda Y: Y + 1j, TypeError, r"must be an array of numbers of shape \(40, 2\) \(found complex"),
        (lambda Y: Y[:30], ValueError, r"must be an array of numbers of shape \(40, 2\) \(found shape \(30, 2\)\)"),
        (lambda Y: Y[:, :1], ValueError, r"must be an array of numbers of shape \(40, 2\) \(found shape \(40, 1\)\)"),
        (lambda _: None, TypeError, r"must be an array of numbers of shape \(40, 2\) \(found NoneType\)"),
    ],
    ids=["NaN", "two rows", "complex", "short", "narrow", "None"],
)
def test_positions_of_an_optimizer_that_are_none_are_refused_at_the_fit(change, error, text):
    with pytest.raises(error, match=rf"NeighborEmbedding: the embedding of minimize\(\.\.\.\) of Own {text}"):
        fit(optimizer=_positions(change))
    assert fit(optimizer=_positions(lambda Y: Y)).embedding_.shape == (40, 2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda Y: Y * np.nan, r"must be finite \(40 of 40 rows"),
        (_lost([3]), r"must be finite \(1 of 40 rows hold NaN or infinity, the first is row 3\)"),
        (lambda Y: Y[:9], r"of shape \(40, n_components\) \(found shape \(9, 2\)\)"),
        (lambda Y: Y[:, 0], r"of shape \(40, n_components\) \(found shape \(40,\)\)"),
        (lambda Y: Y[:, :0], r"of shape \(40, n_components\) \(found shape \(40, 0\)\)"),
        (lambda Y: Y + 1j, r"of shape \(40, n_components\) \(found complex128\)"),
    ],
    ids=["NaN", "one row", "short", "flat", "empty", "complex"],
)
def test_positions_of_another_estimator_that_are_none_are_refused_at_the_map(change, text):
    class Mine:
        def fit_transform(self, X):
            return change(np.array(X[:, :2]))

    with pytest.raises((ValueError, TypeError), match=rf"map: fit_transform\(X\) of Mine .*{text}"):
        gn.map(_X, method=Mine())


class WithoutLimit:
    def minimize(self, objective, Y0, reporter=None):
        return Adam(max_iter=5).minimize(objective, Y0)


@pytest.mark.parametrize(
    ("optimizer", "text"),
    [
        (Own(lambda solution: solution.embedding), r"minimize\(\.\.\.\) of Own must be a gnomon\.optimizers\.Solution"),
        (WithoutLimit(), "optimizer=WithoutLimit must be an object with .* and max_iter .it has no max_iter"),
        (object(), "or an object with minimize.objective, Y0, reporter=.... and max_iter"),
    ],
    ids=["array", "no max_iter", "no minimize"],
)
def test_an_optimizer_that_is_none_is_refused(optimizer, text):
    with pytest.raises(TypeError, match=f"NeighborEmbedding: .*{text}"):
        fit(optimizer=optimizer)
