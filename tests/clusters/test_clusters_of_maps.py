"""Clusters where users meet them: maps, reports, pages, figures, the command line; and captions that test."""

from __future__ import annotations

import contextvars
import json
import threading
import warnings

import click.testing
import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_ind

import gnomon as gn
from gnomon._validation import warn
from gnomon.cli.application import main
from gnomon.exceptions import DataWarning
from gnomon.maps import points
from gnomon.viewer.content import PageContent


def _table():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 6))
    X[:100, 2] += 12.0
    return X


@pytest.fixture(scope="module")
def plain():
    return gn.map(_table(), "pca", feature_names=list("abcdef"))


@pytest.fixture(scope="module")
def noise():
    return gn.map(np.random.default_rng(1).normal(size=(120, 4)), "pca")


def test_a_map_finds_the_clusters_of_its_data_once(plain):
    found = plain.clusters()
    assert plain.clusters() is found
    assert {cluster.name for cluster in found.level().clusters} == {"high c", "low c"}
    mapped = gn.find_clusters(plain._mapped().values, features=plain.X, feature_names=list("abcdef"))
    assert found.to_dict() == mapped.to_dict()
    assert plain.clusters(random_state=1) is not found


@pytest.mark.parametrize(("shape", "asked"), [((2, 3), None), ((3, 2), None), ((3, 3), (3, 3))])
def test_clusters_of_pictures_are_named_by_nine_regions_where_there_are_as_many(shape, asked, plain, monkeypatch):
    seen = []
    monkeypatch.setattr("gnomon.clusters.find_clusters", lambda X, **given: seen.append(given["image_shape"]) or 1 / 0)
    X = np.tile(plain.X, (1, 2))[:, : shape[0] * shape[1]]
    with pytest.raises(ZeroDivisionError):
        gn.Map(X, plain.embedding, image_shape=shape).clusters()
    assert seen == [asked]


def test_clusters_are_of_the_data_and_not_of_the_map(plain):
    elsewhere = gn.Map(plain.X, np.random.default_rng(0).normal(size=(200, 2)), feature_names=list("abcdef"))
    assert elsewhere.clusters().to_dict() == plain.clusters().to_dict()


def test_the_report_tells_clusters_where_there_are_no_labels(plain, noise):
    assert "Clusters of the data\n  2 clusters, checked in 100 rows held out" in plain.report()
    assert plain.to_dict()["clusters"]["n_clusters"] == 2
    assert "labels" not in plain.to_dict()["clusters"]["levels"][0]
    assert "No clusters: none of" in noise.report()
    labelled = gn.Map(plain.X, plain.embedding, labels=np.arange(200) % 2)
    assert "Clusters of the data" not in labelled.report()
    assert labelled.to_dict()["clusters"] is None


def test_while_clusters_are_found_others_may_warn(monkeypatch):
    before, seen = list(warnings.filters), []

    def fit_transform(estimator, X):
        seen.append(list(warnings.filters))
        with pytest.warns(DataWarning, match="elsewhere"):
            contextvars.Context().run(warn, "elsewhere", DataWarning)
        warn("of clusters", DataWarning)  # which are errors in tests
        return np.repeat(np.arange(2.0), 60)[:, None] + np.linspace(0.0, 0.1, 120)[:, None]

    monkeypatch.setattr("gnomon.methods.UMAP.fit_transform", fit_transform)
    gn.find_clusters(np.random.default_rng(0).normal(size=(240, 3)))
    assert seen == [before]


@pytest.mark.parametrize(
    ("n_jobs", "memory", "beside"), [(2, np.inf, True), (1, np.inf, False), (2, 1e9, False), (2, "short", False)]
)
def test_clusters_of_a_page_are_found_beside_its_scores_where_there_are_threads_and_memory(
    monkeypatch, plain, n_jobs, memory, beside
):
    where, find = {}, gn.Map._find_clusters
    score = points.score_points

    def find_here(made, **options):
        where["clusters"] = threading.get_ident()
        return find(made, **options)

    def score_here(made):
        where["scores"] = threading.get_ident()
        return score(made)

    monkeypatch.setattr(gn.Map, "_find_clusters", find_here)
    monkeypatch.setattr("gnomon.maps.points.score_points", score_here)
    if memory == "short":
        monkeypatch.setattr("gnomon.maps.clustering.available_memory", lambda: 1e5)
    made = gn.Map(plain.X, plain.embedding, feature_names=list("abcdef"), n_jobs=n_jobs)
    with gn.running(memory=np.inf if memory == "short" else memory):
        content = PageContent.of(made)
    assert (where["clusters"] != where["scores"]) == beside
    assert where["scores"] == threading.get_ident()
    assert made.clusters().to_dict() == plain.clusters().to_dict()
    np.testing.assert_array_equal(content.labels, plain.clusters().names)


def test_a_page_without_labels_is_coloured_by_clusters(plain, noise):
    content = PageContent.of(plain)
    assert content.apart == str(plain.importance().apart)
    assert "2 clusters are told apart by 'c' 9" in content.apart
    assert content.label_name == "cluster"
    assert set(content.labels) == {"high c", "low c"}
    assert PageContent.of(noise).labels is None
    few = gn.Map(plain.X[:40], plain.embedding[:40])
    assert PageContent.of(few).labels is None


def test_other_levels_are_columns_of_the_page_and_holders_captions():
    draw = np.random.default_rng(0)
    groups, inner = np.arange(480) % 2, np.arange(480) // 2 % 3
    X = draw.normal(size=(480, 8))
    X[groups == 0, 0] += 30.0
    for s in range(3):
        X[inner == s, 1 + s] += 9.0
    content = PageContent.of(gn.map(X, "pca", feature_names=list("abcdefgh")))
    assert len(set(content.labels)) == 6
    assert set(content.metadata["2 clusters"]) == {"high a", "low a"}
    assert set(content.captions.values()) <= {"within high a", "within low a"}


def test_a_figure_has_a_panel_for_each_level(plain, noise):
    figure = gn.plot.plot_clusters(plain.embedding, plain.clusters())
    assert [ax.get_title(loc="left") for ax in figure.axes_] == ["2 clusters"]
    empty = gn.plot.plot_clusters(noise.embedding, noise.clusters())
    assert [ax.get_title(loc="left") for ax in empty.axes_] == ["no clusters could be shown"]
    with pytest.raises(ValueError, match="plot_clusters: embedding with 3 rows must be of the 200 rows of clusters"):
        gn.plot.plot_clusters(np.zeros((3, 2)), plain.clusters())


def test_the_command_takes_data_and_maps(plain, tmp_path):
    saved, data = tmp_path / "m.gnomon", tmp_path / "d.csv"
    plain.save(saved)
    np.savetxt(data, _table(), delimiter=",", header="a,b,c,d,e,f", comments="")
    run = click.testing.CliRunner().invoke
    of_map, of_data = (run(main, ["clusters", str(path)]) for path in (saved, data))
    assert of_map.exit_code == of_data.exit_code == 0
    assert "high c" in of_map.stdout
    assert "2 clusters" in of_data.stdout
    document = json.loads(run(main, ["clusters", str(saved), "--json"]).stdout)
    assert document["n_clusters"] == 2
    assert document["levels"][0]["labels"] == plain.clusters().labels.tolist()
    without = run(main, ["clusters", str(data), "--drop", "c,d", "--labels", "f", "--json"])
    assert json.loads(without.stdout)["n_clusters"] == 0  # what parts them is in c and d
    of_data_alone = run(main, ["clusters", str(saved), "--drop", "c"])
    assert "--drop is for DATA" in of_data_alone.stderr
    refused = run(main, ["clusters", str(saved), "--alpha", "2"])
    assert refused.exit_code == 2
    assert "alpha=2.0" in refused.stderr


def test_captions_test_by_welch_and_benjamini_and_hochberg():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(16, 200)) * np.linspace(1.0, 3.0, 200)
    labels = np.repeat([0, 1], 8)
    X[:8, 7] += 12.0
    p_values = ttest_ind(X[:8], X[8:], equal_var=False).pvalue
    kept = set(np.flatnonzero(false_discovery_control(p_values) <= 0.05).tolist())
    named = gn.cluster_captions(X, labels, n_phrases=200, alpha=0.05)
    assert kept == {7}
    assert all(set(caption.indices.tolist()) == kept for caption in named.values())
    X[:8, 7] -= 12.0
    untested = gn.cluster_captions(X, labels, alpha=None)
    assert all(len(caption) for caption in untested.values())  # chance differences of 16 rows are large
    tested = gn.cluster_captions(X, labels, alpha=0.05)
    assert all(str(caption).startswith("no feature sets it apart") for caption in tested.values())


def test_captions_refuse_a_rate_that_is_none():
    with pytest.raises(ValueError, match=r"cluster_captions: alpha=1\.5 must be"):
        gn.cluster_captions(_table(), np.arange(200) % 2, alpha=1.5)


def test_the_reports_of_a_time_series_say_what_its_order_does_to_clusters_gaps_and_dimension():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    for i in range(1, 300):
        X[i] = 0.97 * X[i - 1] + np.sqrt(1.0 - 0.97**2) * X[i]
    m = gn.map(X, method="pca", random_state=0)
    report = m.report()
    assert "gaps, clusters, dimension and what sets groups apart may be those of one way" in report
    assert PageContent.of(m).info["order of rows"] in report.splitlines()
    assert "no interval holds" in m.intrinsic_dimension().caution
    assert "clusters may be stretches" in m.clusters().caution
    assert "gaps may part stretches" in m.verdicts().caution
