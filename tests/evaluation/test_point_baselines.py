"""EMBEDR, scDEED and DynamicViz: sums written out by hand, perfect maps, nulls, and threads that change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA as OtherPCA
from tests.threads import on_threads

from gnomon.evaluation import baselines, compare_runs, dynamicviz, embedr, scdeed
from gnomon.evaluation.baselines import _shuffled, beside_nulls
from gnomon.methods import PCA, UMAP


@pytest.fixture(name="X", scope="module")
def some_table():
    rng = np.random.default_rng(1)
    return np.vstack([8.0 * rng.normal(size=6) + rng.normal(size=(40, 6)) for _ in range(3)])


@pytest.fixture(name="maps", scope="module")
def some_maps():
    return [np.random.default_rng(k).normal(size=(30, 2)) for k in range(4)]


class TestEmbedr:
    def test_scores_are_the_divergences_of_rows(self, X):
        Y = np.random.default_rng(0).normal(size=(120, 2))
        found = embedr(PCA(), X, Y, perplexity=8.0)
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        for i in (0, 17, 119):
            near = np.argsort(D[i], kind="stable")[1:25]

            def weights(beta, i=i, near=near):
                p = np.exp(-beta * (D[i, near] ** 2 - D[i, near].min() ** 2))
                return p / p.sum()

            low, high = 1e-6, 1e3
            for _ in range(200):
                beta = np.sqrt(low * high)
                p = weights(beta)
                low, high = (beta, high) if -np.sum(p * np.log(p + 1e-300)) > np.log(8.0) else (low, beta)
            q = 1.0 / (1.0 + np.sum((Y[i] - Y[near]) ** 2, axis=1))
            expected = np.sum(p * np.log(np.maximum(p, 1e-300) / (q / q.sum())))
            np.testing.assert_allclose(found.scores[i], expected, rtol=2e-3)

    def test_p_values_are_shares_of_pooled_nulls_at_most_the_score(self, X):
        found = embedr(UMAP(random_state=0, max_iter=30), X, n_nulls=2, perplexity=10.0)
        assert found.null.shape == (2, 120)
        expected = [(found.null <= score).mean() for score in found.scores]
        np.testing.assert_allclose(found.p_values, expected)

    def test_rows_of_shuffled_tables_look_like_nulls(self):
        """A table without structure is its own null: p-values are spread evenly."""
        X = np.random.default_rng(0).normal(size=(400, 5))
        found = embedr(PCA(), X, n_nulls=4)
        assert found.p_values.mean() == pytest.approx(0.5, abs=0.06)

    def test_only_unequal_distances_of_neighbors_count(self, X):
        """As in the published program: a row far from all its neighbours alike has weights that are nearly equal."""
        Y = PCA().fit_transform(X)
        Y[3] += 1e6
        D = np.linalg.norm(X - X[3], axis=1)
        near = np.argsort(D, kind="stable")[1:31]
        found = embedr(PCA(), X, Y, perplexity=10.0)
        assert 0 < found.scores[3] <= np.log(len(near) / 10.0) + 1e-3


@pytest.mark.parametrize("low_is_good", [True, False])
def test_null_scores_that_equal_a_score_are_as_good(X, low_is_good):
    found = baselines.beside_nulls("tied", lambda *_: np.zeros(120), PCA(), X, None, 1, low_is_good=low_is_good)
    np.testing.assert_array_equal(found.p_values, 1.0)


class TestScdeed:
    def test_a_map_of_the_data_itself_is_perfect(self):
        X = np.random.default_rng(0).normal(size=(80, 2))
        found = scdeed(PCA(), X, 3.0 * X)
        np.testing.assert_allclose(found.scores, 1.0)

    @pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
    def test_scores_are_correlations_of_distances_in_two_orders(self, X, share):
        Y = np.random.default_rng(0).normal(size=(120, 2))
        found = scdeed(PCA(), X, Y, share=share)
        count = min(int(share * 120), 119)
        for i in (0, 50):
            others = np.delete(np.arange(120), i)
            in_map = np.linalg.norm(Y[others] - Y[i], axis=1)
            in_data = np.linalg.norm(X[others] - X[i], axis=1)
            a, b = in_map[np.argsort(in_data, kind="stable")][:count], np.sort(in_map)[:count]
            np.testing.assert_allclose(found.scores[i], np.corrcoef(a, b)[0, 1])

    def test_verdicts_are_by_the_quantiles_of_nulls(self, X):
        found = scdeed(UMAP(random_state=0, max_iter=30), X, np.random.default_rng(2).normal(size=(120, 2)))
        low, high = np.quantile(found.null, [0.05, 0.95], method="inverted_cdf")
        verdicts = found.verdicts()
        assert set(verdicts[found.scores < low]) <= {"dubious"}
        assert set(verdicts[found.scores > high]) <= {"trustworthy"}
        assert found.p_values[found.scores.argmax()] == (found.null >= found.scores.max()).mean()

    def test_principal_components_are_those_of_each_table(self, X):
        found = scdeed(PCA(), X, n_pcs=3)
        np.testing.assert_allclose(found.scores, scdeed(PCA(), OtherPCA(3).fit_transform(X)).scores, rtol=1e-6)


class TestDynamicViz:
    def test_scores_are_mean_variances_over_the_squared_mean_distance(self, maps):
        D = np.array([np.linalg.norm(Y[:, None] - Y[None], axis=2) for Y in maps])
        others = ~np.eye(30, dtype=bool)
        variances = D.var(axis=0)
        expected = [variances[i][others[i]].mean() for i in range(30)] / D.mean(axis=0)[others].mean() ** 2
        np.testing.assert_allclose(dynamicviz(maps), expected)

    def test_pairs_count_in_the_maps_made_of_both(self, maps):
        drawn = np.random.default_rng(0).random((4, 30)) < 0.7
        D = np.array([np.linalg.norm(Y[:, None] - Y[None], axis=2) for Y in maps])
        D[~(drawn[:, :, None] & drawn[:, None])] = np.nan
        D[:, np.arange(30), np.arange(30)] = np.nan
        times = np.isfinite(D).sum(axis=0)
        means, variances = np.full((30, 30), np.nan), np.full((30, 30), np.nan)
        means[times > 0] = np.nanmean(D[:, times > 0], axis=0)
        variances[times > 1] = np.nanvar(D[:, times > 1], axis=0)
        expected = [np.nanmean(row) if np.isfinite(row).any() else np.nan for row in variances]
        np.testing.assert_allclose(dynamicviz(maps, drawn), np.array(expected) / np.nanmean(means) ** 2)

    def test_motions_and_a_common_scale_do_not_count(self, maps):
        turned = [Y[:, ::-1] * [1.0, -1.0] + k for k, Y in enumerate(maps)]
        np.testing.assert_allclose(dynamicviz([4.0 * Y for Y in turned]), dynamicviz(maps))
        np.testing.assert_allclose(dynamicviz([maps[0], turned[0]]), 0.0, atol=1e-12)

    def test_a_sample_of_points_estimates_all(self):
        maps = [np.random.default_rng(k).normal(size=(400, 2)) for k in range(3)]
        np.testing.assert_allclose(dynamicviz(maps, n_others=200).mean(), dynamicviz(maps).mean(), rtol=0.03)

    def test_runs_count_in_their_own_scale(self, maps):
        found = compare_runs([5.0 * maps[1], maps[2]], reference=maps[0], n_neighbors=5)
        np.testing.assert_allclose(found.dynamicviz(), dynamicviz([maps[0], 5.0 * maps[1], maps[2]]))


@pytest.mark.parametrize("function", [embedr, scdeed])
def test_same_bytes_on_any_number_of_threads(X, function):
    method = UMAP(max_iter=30)
    one, two = (on_threads(n, function)(method, X, random_state=3) for n in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert function(method, X, random_state=4).to_dict() != one.to_dict()


def test_blocks_of_rows_change_nothing_but_rounding_and_threads_nothing(monkeypatch, X, maps):
    whole = dynamicviz(maps), scdeed(PCA(), X).scores
    monkeypatch.setattr(baselines, "_BLOCK", 700)
    one, two = (on_threads(n, dynamicviz)(maps) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, whole[0])
    np.testing.assert_allclose(scdeed(PCA(), X).scores, whole[1])


@pytest.mark.parametrize("sparse", [False, True])
def test_shuffling_keeps_each_column_and_breaks_their_ties(sparse):
    X = np.random.default_rng(0).poisson(1.0, size=(200, 4)).astype(float)
    X[:, 1] = X[:, 0]
    found = _shuffled(csr_array(X) if sparse else X, np.random.default_rng(1))
    found = found.toarray() if sparse else found
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X, axis=0))
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < 0.25


@pytest.mark.parametrize(
    ("function", "options", "text"),
    [
        (embedr, {"perplexity": 1.0}, "embedr: perplexity=1.0 must be a number > 1"),
        (embedr, {"perplexity": 200.0}, r"embedr: perplexity=200.0 must be at most 119 \(120 rows\)"),
        (embedr, {"n_nulls": 0}, "embedr: n_nulls=0 must be an integer >= 1"),
        (
            embedr,
            {"embedding": np.zeros((3, 2))},
            r"embedding of shape \(3, 2\) must be of shape \(120, n_components\)",
        ),
        (scdeed, {"share": 0.0}, "scdeed: share=0.0 must be a number > 0 and <= 1"),
        (scdeed, {"share": 0.01}, r"scdeed: share=0.01 must be at least 0.0167, which is two rows"),
        (scdeed, {"n_pcs": 0}, "scdeed: n_pcs=0 must be an integer >= 1"),
    ],
)
def test_bad_input_is_named(X, function, options, text):
    with pytest.raises(ValueError, match=text):
        function(PCA(), X, **options)


def test_bad_maps_and_levels_are_named(X, maps):
    with pytest.raises(ValueError, match="dynamicviz: embeddings of shapes none must be two or more"):
        dynamicviz([])
    with pytest.raises(ValueError, match=r"drawn of bool and shape \(1, 3\) must be a mask of shape \(4, 30\)"):
        dynamicviz(maps, np.ones((1, 3), dtype=bool))
    with pytest.raises(ValueError, match=r"verdicts: alpha=0.5 must be a number > 0 and < 0.5"):
        embedr(PCA(), X).verdicts(0.5)


@pytest.mark.parametrize(("low_is_good", "expected"), [(True, [0.0, 1 / 3, 1.0]), (False, [1.0, 2 / 3, 0.0])])
def test_p_values_are_shares_of_the_null_scores_that_are_known(low_is_good, expected):
    X = np.random.default_rng(0).normal(size=(4, 3))

    def score(table, Y, method):
        return np.array([0.5, 1.5, 3.5, np.nan] if np.array_equal(table, X) else [1.0, 2.0, 3.0, np.nan])

    found = beside_nulls("name", score, PCA(2), X, None, 2, low_is_good=low_is_good)
    np.testing.assert_allclose(found.p_values, [*expected, np.nan])
    np.testing.assert_array_equal(found.null, [[1.0, 2.0, 3.0, np.nan]] * 2)


def test_without_a_null_score_there_is_no_p_value():
    X = np.random.default_rng(0).normal(size=(4, 3))

    def score(table, Y, method):
        return np.arange(4.0) if np.array_equal(table, X) else np.full(4, np.nan)

    assert np.isnan(beside_nulls("name", score, PCA(2), X, None, 2, low_is_good=True).p_values).all()
