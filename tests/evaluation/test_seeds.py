"""A seed gives the same draws in every version: each function draws from the stream that is written down here."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import stdtrit

from gnomon._run import running
from gnomon.evaluation import dynamicviz, perturbation, perturbations, remove_features, shuffle_columns
from gnomon.evaluation import steadiness as walks
from gnomon.evaluation.baselines import beside_nulls
from gnomon.evaluation.gaps import saddles
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.intervals import Sampling
from gnomon.evaluation.nulls import null_scores
from gnomon.evaluation.refits import planned, refit
from gnomon.evaluation.structureless import draw_structureless
from gnomon.evaluation.subject import Subject
from gnomon.evaluation.taking import Taking
from gnomon.methods import PCA

SEED = 2**33 + 2**31 + 5  # above what scikit-learn takes: 5 remains for it


@pytest.fixture(name="X", scope="module")
def some_table():
    return np.random.default_rng(0).normal(size=(70, 3))


def test_shuffled_tables_and_methods_without_a_seed(X):
    seen, seeds = [], []

    class Method(PCA):
        def fit_transform(self, X, y=None):
            seeds.append(self.random_state)
            return np.asarray(X)[:, :2]

    def score(table, Y, method):
        seen.append(table)
        return np.zeros(len(table))

    with running(seed=SEED):
        beside_nulls("any", score, Method(random_state=None), X, None, 2, low_is_good=True)
        beside_nulls("any", score, Method(random_state=7), X, None, 1, low_is_good=True)
    for number in (0, 1):
        shuffled = np.random.default_rng((SEED, 0x6E75, number)).permuted(X, axis=0)
        np.testing.assert_array_equal(seen[number], shuffled)
    assert seeds == [5] * 3 + [7] * 2


def test_points_of_dynamicviz(X):
    maps = [X, X**2, X**3]
    others = np.sort(np.random.default_rng((3, 0x6E75)).permutation(70)[:9])
    D = np.array([np.linalg.norm(Y[:, None] - Y[others], axis=2) for Y in maps])
    D[:, others, np.arange(9)] = np.nan
    expected = np.nanmean(np.var(D, axis=0), axis=1) / np.nanmean(D) ** 2
    np.testing.assert_allclose(dynamicviz(maps, n_others=9, random_state=3), expected)
    np.testing.assert_array_equal(dynamicviz(maps, n_others=70, random_state=3), dynamicviz(maps))


def test_orders_of_features_and_shuffled_columns(X):
    np.testing.assert_array_equal(
        shuffle_columns(X, random_state=3), np.random.default_rng((3, 311)).permuted(X, axis=0)
    )
    order = np.argsort(np.random.default_rng((3, 311)).random(X.shape), axis=1)
    changed = X.copy()
    np.put_along_axis(changed, order[:, :2], 0.0, axis=1)
    expected = np.linalg.norm(changed - X, axis=1).mean() / np.linalg.norm(X, axis=1).mean()
    found = remove_features(X, X, np.zeros(3), lambda rows: rows, shares=(0.5,), random_state=3)
    assert found.random[0] == pytest.approx(expected)


def test_seeds_and_rows_of_runs(X):
    seeds = np.random.default_rng((SEED, 0x7275)).choice(2**31, size=10, replace=False)
    assert [one["random_state"] for one in planned("seeds", None, None, None, SEED)] == seeds.tolist()
    plan = planned("bootstrap", 2, None, None, SEED)
    found = refit(PCA(), X, plan, vary="bootstrap", reference=None, seed=SEED)
    for run in (0, 1):
        rows = np.random.default_rng((SEED, 0x7275, run)).integers(70, size=70)
        np.testing.assert_array_equal(np.flatnonzero(found.drawn[run]), np.unique(rows))


def test_resamples_of_groups():
    values = np.random.default_rng(0).normal(size=(6, 2))
    drawn = np.random.default_rng((3, 0x626F)).integers(6, size=(200, 6))
    ratios = [np.divide(*values[one].sum(axis=0)) for one in drawn]
    found = Sampling(24, 6, 0.9).of_resampled(lambda total: total[0] / total[1], values, 3)
    assert found.value == pytest.approx(np.divide(*values.sum(axis=0)))
    half = stdtrit(5, 0.95) * np.sqrt(np.var(ratios, ddof=1) * 6 / 5 * (1 - 6 / 24))
    assert found.interval == pytest.approx((found.value - half, found.value + half))
    assert Sampling(24, 3).of_resampled(lambda total: total[0], values[:3], 3).interval is not None


def test_rows_of_large_tables(X, monkeypatch):
    subject = Subject.of(X, X, None, None, 8, "euclidean")
    given = {"metric": "euclidean", "graph": None, "n_anchors": None, "n_pairs": None, "confidence": 0.95}
    found = Taking(subject, **given, seed=3)._rows(9, 4)
    expected = np.random.default_rng((3, 0x726F, 4)).choice(70, 9, replace=False)
    np.testing.assert_array_equal(found, np.sort(expected))
    ground = Ground.of(X, X, metric="euclidean", max_rows=60, n_nulls=19, seed=3)
    np.testing.assert_array_equal(ground.rows, np.sort(np.random.default_rng(3).choice(70, 60, replace=False)))


def test_walks():
    for name, stream in (("steadiness", 0x7374), ("cohesiveness", 0x636F)):
        mine = np.random.default_rng((3, stream, 2))
        draws = walks._Seeded(3, walks._STREAM[name], 2)
        assert [draws.integer(9) for _ in range(5)] == [int(mine.integers(9)) for _ in range(5)]
        np.testing.assert_array_equal(draws.uniform(4), mine.random(4))


def test_tables_without_gaps(monkeypatch, X):
    drawn = []
    monkeypatch.setattr(
        saddles.Landscape, "of", classmethod(lambda cls, X, k, rest=0.0, most=None: drawn.append((X, rest)) or cls)
    )
    monkeypatch.setattr(saddles.Landscape, "dips", lambda: None, raising=True)
    with running(n_threads=1):
        saddles._of_uniform.__wrapped__(11, 2, 2, 3, 15)
    for number in (0, 1):
        expected = np.random.default_rng((3, 1, number)).uniform(size=(11, 2))
        np.testing.assert_array_equal(drawn[number][0], expected.astype(np.float32))
    drawn.clear()
    wide = 40.0 * X * [3.0, 1.0, 2.0]
    with running(n_threads=1):
        saddles._of_clouds.__wrapped__(saddles._Bytes(wide), 2, 3, 15)
    sizes = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)
    for number in (0, 1):
        expected = np.random.default_rng((3, 0, number)).normal(size=(70, 3)) * sizes / sizes[0]
        np.testing.assert_allclose(drawn[number][0], expected, rtol=1e-6)
        assert drawn[number][1] == pytest.approx(0.0, abs=1e-12)


def test_structureless_tables_of_a_map(X):
    seen = []
    null_scores(X, X, lambda table: seen.append(table) or table, kind="columns", n_nulls=2, random_state=3)
    for number in (0, 1):
        expected = draw_structureless(X, "columns", np.random.default_rng((3, number)))
        np.testing.assert_array_equal(seen[number], expected)


def test_rows_that_are_moved(monkeypatch):
    """Of more than 2000 rows; none is moved here."""

    class Loss(SimpleNamespace):
        def leave_one_out(self, Y):
            return self

    class AskedError(Exception):
        pass

    def stop(move, blocks):
        raise AskedError(blocks)

    X = np.zeros((2100, 1))
    affinities = SimpleNamespace(indices=None, weights=SimpleNamespace(values=None))
    monkeypatch.setattr(perturbation, "loss_of_map", lambda *_: (Loss(X=X, affinities=affinities), X))
    monkeypatch.setattr(perturbation, "in_order", stop)
    with pytest.raises(AskedError) as asked:
        perturbations(None, X, random_state=3)
    expected = np.sort(np.random.default_rng((3, 0x7065)).permutation(2100)[:2000])
    np.testing.assert_array_equal(np.concatenate(asked.value.args[0]), expected)
