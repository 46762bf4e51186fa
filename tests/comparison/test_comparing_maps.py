"""A comparison: every combination is mapped once, from one graph, as methods map by themselves, and judged alike."""

from __future__ import annotations

import inspect
import re
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.comparison import HEADLINES
from gnomon.comparison.trials import Trials
from gnomon.evaluation import MEASURES, embedding_similarity, scorecard
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.neighbors import compute_neighbors
from gnomon.viewer import write_side_by_side

_FAST = ("pca", "random_projection")


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(4), 40)
    return (6.0 * np.eye(4, 8)[labels] + rng.normal(size=(160, 8))).astype(np.float32), labels


@pytest.fixture(scope="module")
def compared(clusters):
    X, labels = clusters
    grid = {"umap": {"n_neighbors": [5, 15]}, "tsne": {"perplexity": 10.0}}
    return gnomon.compare(X, ("umap", "tsne", "pca"), grid, labels=labels, n_seeds=2)


def test_every_combination_of_values_is_one_map(clusters):
    grid = {"umap": {"n_neighbors": [5, 10], "min_dist": (0.1, 0.5)}}
    found = gnomon.compare(clusters[0], ("umap", "pca"), grid, measures="trustworthiness")
    assert list(found.maps) == [
        "umap, n_neighbors=5, min_dist=0.1",
        "umap, n_neighbors=5, min_dist=0.5",
        "umap, n_neighbors=10, min_dist=0.1",
        "umap, n_neighbors=10, min_dist=0.5",
        "pca",
    ]


def test_the_page_of_a_comparison_has_columns_and_pictures_and_what_moved(compared, tmp_path):
    names = ("auc_rnx", "neighborhood_preservation")
    images = np.arange(160 * 6, dtype=np.int64).astype(np.uint8).reshape(160, 2, 3)
    compared.to_html(tmp_path / "a.html", images=images, metadata={"depth": np.arange(160.0)})
    write_side_by_side(
        tmp_path / "b.html",
        compared.maps,
        captions=[
            " · ".join(f"{name.replace('_', ' ')} {one.scores[name]:.3f}" for name in names) for one in compared.trials
        ],
        labels=compared.labels,
        images=images,
        metadata={"depth": np.arange(160.0)},
    )
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_maps_from_the_shared_graph_are_those_of_the_methods_alone(clusters, compared):
    X, _ = clusters
    assert compared.graph_neighbors == 30  # of the perplexity
    for k in (5, 15):
        alone = gnomon.UMAP(n_neighbors=k, random_state=0).fit_transform(X)
        np.testing.assert_array_equal(compared.maps[f"umap, n_neighbors={k}"], alone)
    alone = gnomon.TSNE(perplexity=10.0, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(compared.maps["tsne, perplexity=10.0"], alone)


def test_all_maps_take_one_search_for_the_most_neighbours(clusters, monkeypatch):
    searched = []

    def counted(X, n_neighbors, **how):
        searched.append(n_neighbors)
        return compute_neighbors(X, n_neighbors, **how)

    monkeypatch.setattr("gnomon.comparison.trials.compute_neighbors", counted)
    monkeypatch.setattr("gnomon.neighbors.compute_neighbors", counted)  # by which a method searches for itself
    gnomon.compare(clusters[0], "umap", {"umap": {"n_neighbors": [5, 12, 7]}}, n_seeds=2, measures="trustworthiness")
    assert searched == [12]
    searched.clear()
    gnomon.recommend(clusters[0][:60], ("pca", "umap"), {"umap": {"n_neighbors": [5, 20]}}, scale=None, n_seeds=1)
    assert searched == [20]


def test_a_graph_is_searched_only_for_as_many_neighbours_as_a_row_has(clusters):
    X = clusters[0][:10]
    grid = {"isomap": {"n_neighbors": [9]}}
    assert gnomon.compare(X, ("isomap", "pca"), grid, scale=None).graph_neighbors == 9
    with pytest.warns(NeighborsWarning, match="a row has only 9 others"):
        found = gnomon.compare(X, ("umap", "pca"), scale=None)
    assert found.graph_neighbors == 0  # a method that asks for more searches for itself
    assert "no shared graph" in found.summary()


def test_equal_rows_share_no_graph_and_each_method_says_what_it_does_with_them(clusters):
    X = np.vstack([clusters[0], clusters[0][:5]])
    with pytest.warns(DataWarning, match="UMAP: 165 rows hold 160 distinct"):
        found = gnomon.compare(X, ("umap", "pca"), measures="trustworthiness")
    assert found.graph_neighbors == 0
    np.testing.assert_array_equal(found.maps["umap"][:5], found.maps["umap"][160:])


def test_scores_are_means_over_seeds_of_the_scorecard(clusters, compared):
    X, labels = clusters
    one = compared.trials[0]
    maps = [gnomon.UMAP(n_neighbors=5, random_state=seed).fit_transform(X) for seed in (0, 1)]
    values = [scorecard(X, Y, labels, measures="auc_rnx")["auc_rnx"].value for Y in maps]
    assert one.scores["auc_rnx"] == pytest.approx(np.mean(values), abs=1e-12)
    assert one.noise["auc_rnx"] == pytest.approx(np.std(values, ddof=1), abs=1e-12)
    assert set(HEADLINES.values()) <= set(one.scores)


def test_agreement_is_symmetric_and_the_similarity_of_each_pair(compared):
    np.testing.assert_array_equal(compared.agreement, compared.agreement.T)
    assert (np.diag(compared.agreement) == 1).all()
    maps = list(compared.maps.values())
    assert compared.agreement[0, 3] == embedding_similarity(maps[0], maps[3], "knn", random_state=0)


@pytest.mark.parametrize(("n", "k"), [(8, 6), (11, 9), (12, 10), (30, 10)])
def test_maps_of_few_rows_are_compared_by_as_many_neighbours_as_there_may_be(clusters, n, k):
    found = gnomon.compare(clusters[0][:: 160 // n][:n], _FAST, measures="trustworthiness", random_state=3)
    one, two = found.maps.values()
    assert found.agreement[0, 1] == embedding_similarity(one, two, "knn", n_neighbors=k, random_state=3)


def test_seconds_are_those_of_the_fit(clusters):
    began = time.perf_counter()
    found = gnomon.compare(clusters[0], _FAST, measures="trustworthiness")
    assert 0 < sum(one.seconds for one in found.trials) < time.perf_counter() - began


def test_a_comparison_draws_as_many_pairs_as_a_scorecard():
    drawn = [inspect.signature(one).parameters["n_pairs"].default for one in (Trials, scorecard)]
    assert drawn[0] == drawn[1]


def test_no_map_of_the_pareto_set_is_excelled_and_each_other_is(compared):
    names, found = list(compared.maps), compared.qualities
    for name, own in zip(names, found, strict=True):
        excelled = any((other >= own).all() and (other > own).any() for other in found)
        assert excelled == (name not in compared.pareto)


def test_headlines_are_measures_of_their_quality_with_best_value_one():
    for quality, name in HEADLINES.items():
        assert (MEASURES[name].quality, MEASURES[name].best) == (quality, 1.0)


def test_best_follows_the_direction_of_the_measure(clusters):
    found = gnomon.compare(clusters[0], _FAST, measures=("stress", "topographic_product"))
    assert found.best("stress").scores["stress"] == min(one.scores["stress"] for one in found.trials)
    near = min(abs(one.scores["topographic_product"]) for one in found.trials)
    assert abs(found.best("topographic_product").scores["topographic_product"]) == near


def test_threads_change_no_bit(clusters):
    one, two = (gnomon.compare(clusters[0], ("umap", "pca"), n_jobs=n).to_dict() for n in (1, 2))
    for found in (one, two):
        for told in found["maps"]:
            del told["seconds"]
    assert one == two


def test_frame_and_summary_tell_every_map(compared):
    frame = compared.to_frame()
    assert list(frame.index) == list(compared.maps)
    assert set(frame.index[frame["pareto"]]) == set(compared.pareto)
    for name in compared.maps:
        (line,) = re.findall(rf"^{name} +(\*?) +[\d.]", compared.summary(), re.MULTILINE)
        assert (line == "*") == (name in compared.pareto)


def test_one_map_is_compared_with_no_other(clusters, compared):
    assert "how alike two maps are" in compared.summary()
    assert "how alike" not in gnomon.compare(clusters[0], "pca").summary()


def test_columns_of_unlike_units_are_standardised_as_for_a_map(clusters):
    X = clusters[0] * np.array([1000.0] + [1.0] * 7, np.float32)
    with pytest.warns(DataWarning, match="'dose' makes .*standardised"):
        found = gnomon.compare(pd.DataFrame(X, columns=["dose", *"abcdefg"]), "pca")
    with pytest.warns(DataWarning, match="standardised"):
        alone = gnomon.map(X, "pca").embedding
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gnomon.compare(X, "pca", scale="standard")  # as was asked for
    np.testing.assert_allclose(found.maps["pca"], alone, rtol=1e-5, atol=1e-5)


def test_progress_tells_the_number_of_maps_before_the_first(clusters):
    told = []
    gnomon.compare(clusters[0], _FAST, callback=lambda one: told.append((one.stage, one.done, one.total)))
    assert [one for one in told if one[0] == "maps"] == [("maps", 0, 2), ("maps", 1, 2), ("maps", 2, 2)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"methods": ("umpa",)}, r"compare: methods='umpa' must be one of"),
        ({"methods": ()}, r"compare: methods must be at least one name"),
        ({"methods": ("pca", "pca")}, r"one comes twice"),
        ({"parameters": {"tsne": {"perplexity": 5}}, "methods": "pca"}, r"compare: parameters of 'tsne' must be"),
        ({"parameters": {"pca": {"perplexity": 5}}, "methods": "pca"}, r"parameters\['pca'\]\['perplexity'\] must be"),
        ({"parameters": {"pca": {"n_components": 3}}, "methods": "pca"}, r"in which maps may differ"),
        ({"n_seeds": 0}, r"compare: n_seeds=0 must be"),
        ({"n_components": 0}, r"compare: n_components=0 must be"),
        ({"measures": "trust"}, r"compare: measures='trust' must be"),
        ({"agreement": "cosine"}, r"compare: agreement='cosine' must be"),
        ({"labels": [1, 2]}, r"compare: labels"),
        ({"n_neighbors": 100, "methods": "pca"}, r"n_neighbors=100"),
    ],
)
def test_wrong_arguments_are_named(clusters, options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        gnomon.compare(clusters[0], **options)


def test_what_all_maps_warn_of_is_told_once(clusters):
    X = clusters[0].copy()
    X[1] = X[0]
    grid = {"isomap": {"n_neighbors": [5, 10]}, "lle": {"n_neighbors": [8, 12]}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gnomon.compare(X, ("isomap", "lle"), grid, measures="trustworthiness", n_seeds=2)
    told = [str(one.message) for one in caught if "distinct rows" in str(one.message)]
    assert len(told) == 1
    assert "160 rows hold 159 distinct rows" in told[0]
    with pytest.raises(DataWarning, match="159 distinct rows"):
        gnomon.compare(X, ("isomap",), measures="trustworthiness")
