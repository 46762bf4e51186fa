"""Clusters that are those of a column beside the data, such as a batch, say so; columns that agree by chance do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.clusters.agreeing import columns_told


def make_labels(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 3, n)


def test_a_column_is_told_with_how_often_it_is_guessed_right():
    rng, labels = make_labels()
    batch = np.array(["a", "b", "b"])[labels]
    batch[:8] = np.where(batch[:8] == "a", "b", "a")
    said = columns_told(labels, {"batch": batch, "noise": rng.integers(0, 2, 400)})
    alone = max(np.mean(batch == one) for one in "ab")
    assert said.startswith("The cluster of a row tells what had no part in finding it: ")
    assert f"'batch' of 98 % of rows ({100 * alone:.0f} % without it). Where" in said
    assert "noise" not in said
    labels[200:] = -1  # rows of none do not count
    assert "'batch' of 96 % of rows" in columns_told(labels, {"batch": batch})


def test_columns_are_told_the_best_first():
    _, labels = make_labels()
    columns = {f"kind {i}": np.where(np.arange(400) < 10 * i, 0, labels) for i in range(5)}
    said = columns_told(labels, columns)
    places = [said.index(f"'kind {i}'") for i in range(3)]
    assert places == sorted(places)
    assert "and 2 more columns" in said
    assert "'kind 0' of 100 % of rows" in said


@pytest.mark.parametrize("n", [60, 400])
def test_columns_that_agree_by_chance_are_not_told(n):
    for seed in range(40):
        rng, labels = make_labels(n, seed)
        labels = labels if seed % 2 else rng.integers(0, 12, n)
        columns = {
            "two": rng.integers(0, 2, n) == 0,
            "many": rng.integers(0, 40, n).astype(str),
            "rare": rng.random(n) < 0.03,
            "number": rng.normal(size=n),
            "name": np.array([f"row {i}" for i in range(n)]),
            "one": np.full(n, "same"),
            "none": np.full(n, np.nan),
        }
        assert columns_told(labels, columns) == ""


def test_a_rare_class_must_be_told_itself():
    _, labels = make_labels()
    rare = np.where((labels == 0) & (np.arange(400) % 2 == 0), "rare", "common")  # half of the rows of one cluster
    assert columns_told(labels, {"rare": rare}) == ""
    assert "'rare' of 100 %" in columns_told(labels, {"rare": np.where(labels == 0, "rare", "common")})


def test_clusters_of_a_map_say_which_columns_they_tell():
    rng = np.random.default_rng(0)
    batch = rng.integers(0, 2, 300)
    table = pd.DataFrame(rng.normal(size=(300, 4)) + 6.0 * batch[:, None] * [1, 1, 1, 0], columns=list("pqrs"))
    table["plate"] = np.array(["left", "right"])[batch]
    made = gn.map(table, "pca", features=["p", "q", "r", "s"])
    found = made.clusters()
    assert len(found) == 2
    assert "'plate' of 100 % of rows" in found.told
    assert found.told in found.summary()
    assert found.to_dict()["told"] == found.told
    assert found.told in made.report(verdicts=False)


def test_columns_that_classes_tell_anyway_are_left_out():
    rng, labels = make_labels()
    side, deal = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    said = columns_told(labels, {"batch": labels}, known=side, known_name="side")
    assert "'batch' of 100 % of rows" in said
    assert "It does not tell 'side'. Where" in said
    assert columns_told(labels, {"copy": labels}, known=labels, known_name="kind") == ""
    both = columns_told(3 * labels + deal, {"batch": deal}, known=labels, known_name="kind")
    assert "'batch' of 100 %" in both
    assert "does not tell" not in both  # it tells the kind as well


def test_the_report_of_a_map_with_labels_names_the_column_that_its_clusters_are():
    rng = np.random.default_rng(0)
    subject, side = np.repeat(np.arange(4), 75), rng.integers(0, 2, 300)
    X = 5.0 * rng.normal(size=(4, 6))[subject] + rng.normal(size=(300, 6)) + 0.3 * side[:, None]
    names, sides = np.array(list("abcd"))[subject], np.array(["left", "right"])[side]
    made = gn.map(X, "pca", labels=sides, label_name="side", metadata={"subject": names, "copy": sides})
    told = made._told_beside_labels()
    assert "'subject' of 100 % of rows" in told
    assert "It does not tell 'side'." in told
    assert f"\nClusters of the data\n  {told}\n" in made.report(verdicts=False)
    plain = gn.map(X, "pca", labels=sides, metadata={"copy": sides, "number": rng.normal(size=300)})
    assert plain._told_beside_labels() == ""
    assert "Clusters of the data" not in plain.report(verdicts=False)
    bare = gn.map(X, "pca", labels=sides)
    assert bare._told_beside_labels() == ""
    assert bare._clusters is None  # none were looked for
