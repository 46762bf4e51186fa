"""Figures hold what they say, and leave matplotlib's global state alone."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from gnomon.exceptions import MissingDependencyError
from gnomon.plot import plot_map, save_png
from gnomon.plot.marks import point_style


@pytest.fixture(name="Y")
def some_points():
    return np.random.default_rng(0).normal(size=(300, 2))


def test_every_finite_point_is_drawn_and_classes_are_listed(Y):
    labels = np.arange(300) % 3
    ax = plot_map(Y, labels=labels, title="three").ax_
    (points,) = ax.collections
    offsets = points.get_offsets()
    np.testing.assert_allclose(np.sort(offsets[:, 0]), np.sort(Y[:, 0]))
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [f"{k}  (100)" for k in range(3)]
    assert ax.get_title(loc="left") == "three"
    names = {t.get_text(): t.get_position() for t in ax.texts}
    assert list(names["1"]) in Y[labels == 1].tolist()


def test_each_class_has_one_colour(Y):
    labels = np.where(Y[:, 0] > 0, "right", "left")
    (points,) = plot_map(Y, labels=labels, annotate=False).ax_.collections
    right = points.get_offsets()[:, 0] > 0
    assert len(np.unique(points.get_facecolors()[right], axis=0)) == 1
    assert len(np.unique(points.get_facecolors()[~right], axis=0)) == 1


def test_axes_given_are_the_axes_returned(Y):
    ax = Figure().add_subplot()
    assert plot_map(Y, values=Y[:, 0], ax=ax).ax_ is ax
    assert len(ax.figure.axes) == 2  # with a colour bar


def test_many_points_become_a_density_picture():
    Y = np.random.default_rng(1).normal(size=(200_001, 2))
    ax = plot_map(Y, labels=np.arange(200_001) % 2).ax_
    assert not ax.collections
    (picture,) = ax.images
    alpha = picture.get_array()[..., 3]
    left, right, bottom, top = picture.get_extent()
    cells = set(
        zip(
            ((Y[:, 0] - left) / (right - left) * alpha.shape[1]).astype(int),
            ((Y[:, 1] - bottom) / (top - bottom) * alpha.shape[0]).astype(int),
            strict=True,
        )
    )
    assert abs(int((alpha > 0).sum()) - len(cells)) < 0.001 * len(cells)


def test_lost_points_are_counted(Y):
    Y[4] = np.nan
    ax = plot_map(Y).ax_
    assert any("1 points have no position" in t.get_text() for t in ax.texts)


def test_feature_arrows_keep_their_directions(Y):
    ax = plot_map(Y, arrows={"a": (1.0, 0.0), "b": (0.0, -0.5)}).ax_
    names = {
        t.get_text(): np.array(t.get_position()) - np.median(Y, axis=0)
        for t in ax.texts
        if t.get_text() in "ab" and t.get_text()
    }
    np.testing.assert_allclose(names["a"] / np.linalg.norm(names["a"]), [1, 0], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(names["a"]), 2 * np.linalg.norm(names["b"]))


def test_labels_with_dollar_signs_are_text(Y, tmp_path):
    save_png(tmp_path / "a.png", embedding=Y, labels=np.where(Y[:, 0] > 0, "$x", "_$^"), title="$ {", dpi=40)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (400, 288)


def test_picture_names_scores_and_features(Y, tmp_path):
    evaluation = SimpleNamespace(trustworthiness=0.912, knn_accuracy=None)
    explanation = SimpleNamespace(global_importance=np.array([0.0, 3.0, 1.0]), feature_names=None)
    save_png(
        tmp_path / "a.svg",
        embedding=Y,
        title="map",
        feature_names=["p", "mass", "width"],
        explanation=explanation,
        evaluation=evaluation,
    )
    save_png(tmp_path / "a.png", embedding=Y, title="map", evaluation=evaluation, dpi=50)
    with Image.open(tmp_path / "a.png") as image:
        picture = np.asarray(image.convert("L"))
    assert picture.shape == (360, 500)
    assert (picture < 200).sum() > 300


def test_long_names_of_features_stay_within_the_picture(Y, tmp_path):
    names = [f"{k}: measured at the lower end of the second column, in units of the first" for k in range(6)]
    explanation = SimpleNamespace(global_importance=np.arange(6.0), feature_names=names)
    save_png(tmp_path / "a.png", embedding=Y, title="map", explanation=explanation, dpi=50)
    with Image.open(tmp_path / "a.png") as image:
        picture = np.asarray(image.convert("L"))
    assert picture[:, -3:].min() == 255
    assert (picture[-30:, :450] < 200).any()


def test_footer_text():
    from gnomon.plot.map import _importance_text, _score_text

    explanation = SimpleNamespace(global_importance=np.array([0.0, 3.0, 1.0]))
    assert _importance_text(explanation, ["p", "mass", "width"]) == "mass (75%), width (25%)"
    assert _score_text(SimpleNamespace(trustworthiness=0.912, knn_accuracy=None)) == "trustworthiness 0.91"


def test_pyplot_is_not_needed(Y, tmp_path):
    before = set(sys.modules)
    save_png(tmp_path / "a.png", embedding=Y, dpi=30)
    assert "matplotlib.pyplot" not in set(sys.modules) - before


def test_marks_shrink_with_their_number():
    sizes = [point_style(n) for n in (10, 1000, 10_000, 100_000)]
    assert sizes == sorted(sizes, reverse=True)


def test_missing_matplotlib_is_named(monkeypatch, Y):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"gnomon\[plot\]"):
        plot_map(Y)


def test_wrong_arguments_are_refused(Y):
    with pytest.raises(ValueError, match="embedding of shape"):
        plot_map(Y[:, :1])
    with pytest.raises(ValueError, match="one at a time"):
        plot_map(Y, labels=Y[:, 0], values=Y[:, 0])
    with pytest.raises(ValueError, match="1 labels, 300 rows"):
        plot_map(Y, labels=[1])
