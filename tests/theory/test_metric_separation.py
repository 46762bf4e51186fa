"""Equation (8): the estimator on tables whose answer is known, its spread, and what it refuses."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ortho_group

from gnomon.evaluation import SIMILARITY_METRICS, embedding_similarity
from gnomon.theory import metric_separation

CLASSES = {"pca": "classical", "isomap": "classical", "lle": "classical", "tsne": "modern", "umap": "modern"}
CLASSICAL, MODERN = ["pca", "isomap", "lle"], ["tsne", "umap"]


def _noisy(center, noise, seed):
    rng = np.random.default_rng(seed)
    return center + noise * rng.normal(size=center.shape)


@pytest.fixture(scope="module")
def families():
    """Six data sets on which the methods of a class share a map and differ by noise."""
    tables = {}
    for x in range(6):
        rng = np.random.default_rng(x)
        centers = {"classical": rng.normal(size=(120, 2)), "modern": rng.normal(size=(120, 2))}
        tables[f"set {x}"] = {m: _noisy(centers[CLASSES[m]], 0.3, 10 * x + i) for i, m in enumerate(CLASSES)}
    return tables


def test_phi_is_equation_8(families):
    table = {name: families[name] for name in ("set 0", "set 1")}
    found = metric_separation(table, CLASSES, chance_corrected=False)
    for metric, phi, per_data_set in zip(found.metrics, found.phi, found.per_data_set, strict=True):
        expected = []
        for maps in table.values():

            def mean(pairs, maps=maps, metric=metric):
                return np.mean([embedding_similarity(maps[a], maps[b], metric) for a, b in pairs])

            between = [(c, m) for c in CLASSICAL for m in MODERN]
            within = mean(combinations(CLASSICAL, 2)) + mean(combinations(MODERN, 2))
            expected.append(within - 2 * mean(between))
        np.testing.assert_allclose(per_data_set, expected, atol=1e-12)
        assert phi == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(found.cohesion.sum(axis=1), found.phi, atol=1e-12)


def test_unrelated_families_of_copies_reach_two():
    """Copies may be scaled, turned and shifted; the classes of unrelated maps are then as far apart as can be."""
    rng = np.random.default_rng(0)
    center = {name: rng.normal(size=(1500, 2)) for name in ("classical", "modern")}
    maps = {}
    for i, (method, name) in enumerate(CLASSES.items()):
        maps[method] = rng.uniform(0.1, 10) * center[name] @ ortho_group.rvs(2, random_state=i) + rng.normal(size=2)
    found = metric_separation({"one": maps}, CLASSES)
    np.testing.assert_allclose(found.phi, 2, atol=0.05)
    assert found.low == pytest.approx(found.high)  # a single data set has no spread


def test_no_class_no_separation():
    """Where all maps are the same Phi is zero; where all are unrelated it is zero but for the spread."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(100, 2))
    same = metric_separation({"one": {m: (i + 1) * Y for i, m in enumerate(CLASSES)}}, CLASSES)
    np.testing.assert_allclose(same.phi, 0, atol=1e-9)
    unrelated = {f"set {x}": {m: rng.normal(size=(100, 2)) for m in CLASSES} for x in range(8)}
    found = metric_separation(unrelated, CLASSES)
    np.testing.assert_allclose(found.phi, 0, atol=0.05)


def test_the_order_of_the_classes_changes_nothing(families):
    one, two = metric_separation(families, CLASSES), metric_separation(families, dict(reversed(CLASSES.items())))
    assert one.class_names == ("classical", "modern")
    assert two.class_names == ("modern", "classical")
    assert one.metrics == two.metrics
    np.testing.assert_allclose(one.phi, two.phi, atol=1e-9)
    np.testing.assert_allclose(one.within, two.within[:, ::-1], atol=1e-9)


def test_the_measure_that_sees_the_difference_wins():
    """Classes that differ by how far apart two halves lie, each half kept: neighbours do not see it."""
    tables = {}
    for x in range(4):
        rng = np.random.default_rng(x)
        tables[f"set {x}"] = {}
        half = np.arange(200) < 100
        for i, (method, name) in enumerate(CLASSES.items()):
            Y = np.random.default_rng(x).normal(size=(200, 2))
            Y[half] += [100 + i, 0] if name == "classical" else [0, 0]
            Y[~half] = Y[~half] + ([-100, 0] if name == "classical" else [0, 7 + 0.1 * i])
            tables[f"set {x}"][method] = Y + 0.01 * rng.normal(size=Y.shape)
    found = metric_separation(tables, CLASSES, ["knn", "distance_correlation", "procrustes"])
    assert found.metrics[-1] == "knn"
    assert found.best_share[found.best] == 1
    assert found.low[0] > 0
    assert f"{found.best.replace('_', ' ')} separates the classes best, in 100% of resamples." in found.summary()


def test_a_class_without_likeness_of_its_own_is_called_no_family():
    rng = np.random.default_rng(0)
    tables = {}
    for x in range(3):
        center = rng.normal(size=(200, 2))
        tables[f"set {x}"] = {
            m: _noisy(center, 0.1, i) if name == "modern" else rng.normal(size=(200, 2))
            for i, (m, name) in enumerate(CLASSES.items())
        }
    found = metric_separation(tables, CLASSES, ["knn", "cka"])
    np.testing.assert_allclose(found.cohesion[:, 0], 0, atol=0.05)
    assert "classical maps form no family by it" in found.summary()
    assert "modern maps form a family by it" in found.summary()


def test_measures_are_sorted_and_shares_sum_to_one(families):
    found = metric_separation(families, CLASSES)
    assert set(found.metrics) == set(SIMILARITY_METRICS)
    assert list(found.phi) == sorted(found.phi, reverse=True)
    assert found.best == found.metrics[0]
    assert sum(found.best_share.values()) == pytest.approx(1)
    assert np.all(found.low <= found.phi)
    assert np.all(found.phi <= found.high)
    assert np.all(found.low >= found.per_data_set.min(axis=1))


def test_intervals_narrow_with_more_data_sets(families):
    few = metric_separation({name: families[name] for name in list(families)[:3]}, CLASSES, ["knn"])
    many = metric_separation(
        {f"{name} {copy}": maps for copy in range(5) for name, maps in families.items()}, CLASSES, ["knn"]
    )
    assert many.high[0] - many.low[0] < few.high[0] - few.low[0]


def test_leaving_a_method_out_is_a_table_without_it(families):
    found = metric_separation(families, CLASSES)
    rest = {name: {m: Y for m, Y in maps.items() if m != "lle"} for name, maps in families.items()}
    alone = metric_separation(rest, CLASSES)
    for metric, phi in zip(found.metrics, found.without_method["lle"], strict=True):
        assert phi == pytest.approx(alone.phi[alone.metrics.index(metric)])
    assert np.isnan(found.without_method["tsne"]).all()
    assert "Cannot be left out, for lack of a pair in its class: tsne, umap." in found.summary()


def test_a_method_that_decides_is_named():
    """Neighbours see a line bent to an arc as the same, alignment does not: with the arc in a class, "knn" wins."""
    names = {**CLASSES, "sne": "modern"}
    tables = {}
    for x in range(3):
        rng = np.random.default_rng(x)
        t, other = np.sort(rng.uniform(0, 1, 150)), rng.permutation(150)
        straight = np.column_stack([t, np.zeros(150)])
        arc = np.column_stack([np.cos(6 * t), np.sin(6 * t)])
        maps = {m: (straight if name == "classical" else straight[other]) for m, name in names.items()}
        maps["lle"] = arc
        tables[f"set {x}"] = {m: Y + 1e-6 * rng.normal(size=Y.shape) for m, Y in maps.items()}
    # Modern maps lie in the order of `other`; random jumps along the line spoil a few of their neighbours.
    for maps in tables.values():
        for m in ("tsne", "umap", "sne"):
            maps[m][::4] += np.random.default_rng(len(m) + ord(m[0])).normal(size=maps[m][::4].shape) * [0.1, 0]
    found = metric_separation(tables, names, ["knn", "procrustes"], n_neighbors=5)
    assert found.changed_by == {"lle": "procrustes"}
    assert "Without lle it would be procrustes." in found.summary()


def test_seeds_are_averaged_over_their_pairs(families):
    maps = families["set 0"]
    again = _noisy(maps["umap"], 0.2, 99)
    several = metric_separation({"one": {**maps, "umap": [maps["umap"], again]}}, CLASSES, ["procrustes"])
    single = [metric_separation({"one": {**maps, "umap": Y}}, CLASSES, ["procrustes"]) for Y in (maps["umap"], again)]
    assert several.phi[0] == pytest.approx(np.mean([one.phi[0] for one in single]))
    i = several.methods.index("umap")
    assert several.similarities[0, 0, i, i] == pytest.approx(
        embedding_similarity(maps["umap"], again, "procrustes", chance_corrected=True, n_permutations=20)
    )
    assert np.isnan(np.delete(np.diag(several.similarities[0, 0]), i)).all()
    stacked = metric_separation({"one": {**maps, "umap": np.stack([maps["umap"], again])}}, CLASSES, ["procrustes"])
    assert stacked.phi[0] == several.phi[0]


def test_methods_may_be_missing_and_rows_without_a_place(families):
    short = {name: {m: Y.copy() for m, Y in maps.items()} for name, maps in families.items()}
    del short["set 0"]["lle"]
    short["set 1"]["pca"][5] = np.nan
    found = metric_separation(short, CLASSES, ["knn"])
    assert np.isnan(found.similarities[0, 0, found.methods.index("lle")]).all()
    assert np.isfinite(found.per_data_set).all()
    kept = np.arange(120) != 5
    cut = {"set 1": {m: Y[kept] for m, Y in families["set 1"].items()}}
    assert found.per_data_set[0, 1] == pytest.approx(metric_separation(cut, CLASSES, ["knn"]).phi[0])


def test_same_result_for_any_number_of_threads_and_the_same_seed(families):
    one = metric_separation(families, CLASSES, n_jobs=1, random_state=3)
    text = json.dumps(one.to_dict())
    assert "NaN" in text  # methods that cannot be left out
    for n_jobs in (2, 3):
        assert json.dumps(metric_separation(families, CLASSES, n_jobs=n_jobs, random_state=3).to_dict()) == text


def test_wrong_arguments_are_refused(families):
    with pytest.raises(ValueError, match=r"classes with 1 names must be of two names"):
        metric_separation(families, dict.fromkeys(CLASSES, "modern"))
    with pytest.raises(ValueError, match="method 'umap' of set 0 must be in classes"):
        metric_separation(families, {m: name for m, name in CLASSES.items() if m != "umap"})
    lonely = {"one": {m: families["set 0"][m] for m in (*CLASSICAL, "umap")}}
    with pytest.raises(ValueError, match=r"methods of one must be at least two of each class \(umap of class modern\)"):
        metric_separation(lonely, CLASSES)
    uneven = {"one": {**families["set 0"], "umap": families["set 0"]["umap"][:-1]}}
    with pytest.raises(ValueError, match=r"embeddings of one must be of the same length \(found 119, 120 rows\)"):
        metric_separation(uneven, CLASSES)
    flat = {"one": {**families["set 0"], "umap": np.zeros((120, 2))}}
    with pytest.raises(ValueError, match="embedding of one by umap must be of rows at two places or more"):
        metric_separation(flat, CLASSES)
    with pytest.raises(ValueError, match="embeddings of 0 data sets"):
        metric_separation({}, CLASSES)
    with pytest.raises(ValueError, match=r"confidence=1\.0 must be a number > 0 and < 1"):
        metric_separation(families, CLASSES, confidence=1.0)
