"""Answers for each label are a dict and print as text."""

import copy
import html
import pickle

import numpy as np
import pytest

import gnomon
from gnomon.explanations import AnswersByLabel
from gnomon.explanations.blocks import MeansByLabel

X = np.random.default_rng(0).normal(size=(90, 7))
X[:30, 1] += 4.0
X[30:60, 2] -= 4.0
SIDES = np.repeat(["left", "right", "up"], 30)
NAMES = list("abcdefg")


@pytest.fixture(scope="module")
def made():
    return gnomon.map(X, "pca", labels=SIDES, feature_names=NAMES, n_jobs=1)


@pytest.mark.parametrize("question", ["profiles", "captions", "importance_by_label"])
def test_they_are_a_dict_with_all_that_a_dict_can(made, question):
    found = getattr(made, question)()
    assert isinstance(found, dict)
    assert list(found) == ["left", "right", "up"]
    assert found == dict(found)
    for other in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert type(other) is AnswersByLabel
        assert str(other) == str(found)
    assert html.escape(str(found)) in found._repr_html_()


def test_tables_have_the_first_features_under_the_label(made):
    profiles = made.profiles()
    parts = str(profiles).split("\n\n")
    assert parts[:-1] == [f"{label}\n{one.head(5)}" for label, one in profiles.items()]
    assert parts[-1] == "The first 5 features of each label are shown."
    few = AnswersByLabel({label: one.head(2) for label, one in profiles.items()})
    assert str(few) == "\n\n".join(f"{label}\n{one}" for label, one in few.items())
    assert str(made.importance_by_label()).startswith("left\n30 points, mean R2 1.00, weighted by R2; how far")


def test_captions_are_a_line_each(made):
    assert str(made.captions()) == "left: high b\nright: low c\nup: " + made.captions()["up"].text


def test_labels_beyond_twenty_and_none_at_all_are_said(made):
    one = made.captions()["left"]
    many = str(AnswersByLabel((j, one) for j in range(25))).splitlines()
    assert many[19:] == ["19: high b", "... and 5 more labels"]
    assert str(gnomon.map(X, "pca", n_jobs=1).profiles()) == "no labels"
    assert gnomon.map(X, "pca", n_jobs=1).profiles() == {}
    measured = gnomon.map(X, "pca", labels=X[:, 0] / 3, n_jobs=1)
    assert measured.profiles() == {}
    told = "the labels are dates or measured numbers, and so no classes. Sort them into classes, such as numpy.digitize"
    assert str(measured.profiles()).startswith(told)
    y = measured.labels
    quarters = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75])).astype(str)
    assert list(gnomon.map(X, "pca", labels=quarters, n_jobs=1).captions()) == ["0", "1", "2", "3"]
    assert (
        str(gnomon.map(X, "pca", labels=["a"] * len(X), n_jobs=1).profiles())
        == "the labels are not two classes at least"
    )
    assert str(AnswersByLabel({"a": None})) == "a: no answer"


def test_means_of_a_table_read_in_blocks_print_as_a_table():
    found = MeansByLabel(
        [("x", np.array([1.0, 3.0])), ("none", None), ("y", np.array([2.5, 0.5]))], feature_names=NAMES[:2]
    )
    assert str(found) == "mean importance  x    y\nb                3  0.5\na                1  2.5"
    assert pickle.loads(pickle.dumps(found)).feature_names == ["a", "b"]
    assert str(MeansByLabel([("x", None)], feature_names=NAMES)) == "no labels of points that have an explanation"
    wide = MeansByLabel([(j, np.arange(12.0)) for j in range(9)], feature_names=list("abcdefghijkl"))
    assert str(wide).splitlines()[-2:] == ["... and 2 more features", "... and 1 more label"]
