"""The levels of names that a page takes from the clusters of a map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from test_payload import read_page

import gnomon as gn
from gnomon.viewer import PageContent, PageLevel, write_html


@pytest.fixture(scope="module")
def nested():
    """Two groups of three, told by a and by b, c and d."""
    draw = np.random.default_rng(0)
    groups, inner = np.arange(480) % 2, np.arange(480) // 2 % 3
    X = draw.normal(size=(480, 8))
    X[groups == 0, 0] += 30.0
    for s in range(3):
        X[inner == s, 1 + s] += 9.0
    return X, groups


def test_the_page_has_every_level_of_clusters_with_what_drives_them(nested, tmp_path):
    made = gn.map(nested[0], "pca", feature_names=list("abcdefgh"))
    found = made.clusters()
    made.to_html(tmp_path / "m.html")
    header, columns = read_page(tmp_path / "m.html")
    assert {level.unlabelled for level in PageContent.of(made).levels} == {"in no cluster"}
    keys = {column["key"]: column for column in header["columns"]}
    assert [keys[level["key"]]["name"] for level in header["levels"]] == ["2 clusters", "cluster"]
    for level, told in zip(found.levels, header["levels"], strict=True):
        categories = np.array(keys[told["key"]]["categories"])
        names = categories[columns[told["key"]]]
        np.testing.assert_array_equal(names, np.where(level.labels < 0, "in no cluster", level.names))
        for cluster in level.clusters:
            feature, effect = cluster.caption.features[0], cluster.caption.effect[0]
            assert told["captions"][cluster.name].startswith(f"{feature} {effect:+.1f} SD".replace("-", "\u2212"))
    coarse, fine = found.levels
    parents = {one.name: coarse.clusters[one.parent].name for one in fine.clusters}
    assert header["levels"][1]["parents"] == parents
    assert header["levels"][0]["parents"] == {}


def test_the_legend_says_what_captions_and_clusters_tell(nested, tmp_path):
    X, groups = nested
    made = gn.map(X, "pca", metadata={"batch": np.array(["first", "second"])[groups]})
    found = made.clusters()
    assert "'batch'" in found.told
    made.to_html(tmp_path / "clusters.html")
    notes = {one["name"]: one.get("says", "") for one in read_page(tmp_path / "clusters.html")[0]["columns"]}
    named = "Clusters were found in the data. Each is named by what tells it from those beside it."
    assert notes == {"cluster": f"{named} {found.told}", "2 clusters": named, "batch": ""}
    labelled = gn.map(X, "pca", labels=groups.astype(str), label_name="kind")
    labelled.clusters()
    labelled.to_html(tmp_path / "labels.html")
    notes = {one["name"]: one.get("says", "") for one in read_page(tmp_path / "labels.html")[0]["columns"]}
    assert notes["kind"].startswith("Below each class: what tells it from every other one")
    assert notes["clusters within kind"] == named
    content = PageContent(embedding=X[:, :2], labels=groups, column_notes={"other": "a"})
    with pytest.raises(ValueError, match="column_notes with 'other' must be the name of the labels or of a column"):
        write_html(tmp_path / "n.html", content)


def test_rows_in_no_cluster_are_called_so_and_rows_without_a_label_missing(tmp_path):
    Y = np.random.default_rng(0).normal(size=(40, 2))
    kind = np.array(["a", "b", "", "a"], dtype=object)[np.arange(40) % 4]
    levels = [PageLevel("kind"), PageLevel("part", parents={"b": "b"}, unlabelled="in no cluster")]
    content = PageContent(embedding=Y, labels=kind, label_name="kind", metadata={"part": kind}, levels=levels)
    write_html(tmp_path / "m.html", content)
    header, _ = read_page(tmp_path / "m.html")
    assert [column["categories"][-1] for column in header["columns"]] == ["(missing)", "in no cluster"]
    with pytest.raises(ValueError, match="levels with column='other' must be the name of the labels or of a column"):
        write_html(tmp_path / "n.html", PageContent(embedding=Y, labels=kind, levels=[PageLevel("other")]))
    numbers = PageContent(embedding=Y, metadata={"x": Y[:, 0]}, levels=[PageLevel("x")])
    with pytest.raises(ValueError, match="levels with column='x' must be"):
        write_html(tmp_path / "n.html", numbers)


def test_clusters_within_classes_are_a_level_once_the_map_was_asked_for_them(nested):
    X, groups = nested
    made = gn.map(X, "pca", feature_names=list("abcdefgh"), labels=np.array(["even", "odd"])[groups], label_name="kind")
    assert PageContent.of(made).levels == []
    found = made.clusters()
    content = PageContent.of(made)
    classes, inner = content.levels
    assert (classes.column, inner.column) == ("kind", "clusters within kind")
    assert content.label_name == "kind"
    assert set(inner.parents) == {cluster.name for cluster in found.level().clusters}
    for cluster in found.level().clusters:
        held = made.labels[found.labels == cluster.number]
        assert inner.parents[cluster.name] == held[0]
        told = content.metadata[inner.column][found.labels == cluster.number]
        assert set(told[held == held[0]]) == {cluster.name}
        assert set(told[held != held[0]]) <= {""}


def test_a_table_of_words_names_its_clusters_by_words(tmp_path):
    draw = np.random.default_rng(0)
    topics = [["oven", "flour", "butter"], ["goal", "league", "coach"]]
    words = [word for topic in topics for word in topic] + ["the", "and"]
    counts = draw.poisson(0.3, size=(240, len(words))).astype(float)
    for k, topic in enumerate(topics):
        for word in topic:
            counts[k::2, words.index(word)] += draw.poisson(4.0, size=120)
    weights = counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1.0)
    made = gn.map(sparse.csr_matrix(weights), "pca", feature_names=words)
    content = PageContent.of(made)
    names = set(content.labels) - {""}
    assert len(names) == 2
    for name in names:
        told = set(name.replace(",", "").split()) - {"high", "low"}
        assert told <= {word for topic in topics for word in topic}
