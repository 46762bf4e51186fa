"""Displays hold the numbers of the answers they draw, on any ground, at any width, in vectors."""

from __future__ import annotations

import base64
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import gnomon as gn
import gnomon.plot as figures
from gnomon._palette import class_colors
from gnomon.plot.display import _FIGURES
from gnomon.plot.theme import DARK, LIGHT
from gnomon.theory import pca_certificate
from gnomon.viewer.columns import encode_column

rng = np.random.default_rng(0)
LABELS = np.repeat(["a", "b", "c"], 40)
X = rng.normal(size=(120, 5)) + 4 * np.eye(5)[np.repeat([0, 1, 2], 40)]


@pytest.fixture(scope="module", name="m")
def a_map():
    return gn.map(X, method="pca", labels=LABELS, feature_names=["p", "q", "r", "s", "t"], n_jobs=1)


def _values(display):
    return [line.value for line in display.lines]


def test_answers_are_drawn_as_they_are(m):
    for answer in (m.why(3), m.contrast(LABELS == "a"), m.axis([m.embedding[0], m.embedding[-1]]), m.importance()):
        display = figures.Display.from_result(answer)
        assert [line.name for line in display.lines] == answer.features
        assert _values(display) == answer.effect.tolist()
        bars = [bar.get_width() for bar in display.ax_.patches]
        np.testing.assert_allclose(bars, answer.effect)
        np.testing.assert_allclose([one.high - one.low for one in display.lines], 2 * 1.96 * answer.error)
        assert f"{answer.fidelity:.2f}" in display.title


def test_answers_about_groups_are_a_table(m):
    profiles = m.profiles()
    display = figures.plot_answers(profiles, n_top=2)
    assert list(display.rows) == ["a", "b", "c"]
    for row, one in zip(display.values, profiles.values(), strict=True):
        effects = dict(zip(one.features, one.effect, strict=True))
        np.testing.assert_array_equal(row, [effects[name] for name in display.columns])
        assert set(one.features[:2]) <= set(display.columns)
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), display.values)
    assert display.signed


def test_lines_rows_and_routes(m):
    profile = m.axis([m.embedding[0], m.embedding[-1]]).profile("q")
    drawn = figures.plot_profile(profile)
    np.testing.assert_array_equal(drawn.ax_.lines[0].get_xydata(), np.column_stack([profile.t, profile.mean]))
    rows = m.outliers()
    display = figures.plot_rows(rows, n_top=4)
    assert _values(display) == rows.score[:4].tolist()
    found = m.counterfactual(0, "b")
    route = figures.plot_route(m.embedding, found, labels=LABELS).layers[0]
    np.testing.assert_array_equal(route.places, [found.start, found.landed])
    assert figures.plot_explanation(m.explain()).lines[0].name == gn.mean_importance(m.explain()).features[0]


def test_trees_keep_children_within_their_parents():
    level = SimpleNamespace
    one = SimpleNamespace(number=0, name="all", size=6, parent=None)
    two = SimpleNamespace(number=1, name="rest", size=3, parent=None)
    halves = [SimpleNamespace(number=k, name=f"half {k}", size=size, parent=k and 1) for k, size in enumerate((5, 3))]
    found = SimpleNamespace(levels=[level(clusters=(one, two)), level(clusters=halves)], nearest=np.zeros(10))
    display = figures.plot_tree(found)
    np.testing.assert_allclose(display.spans[0], [[0.0, 0.6], [0.6, 0.9]])
    np.testing.assert_allclose(display.spans[1], [[0.0, 0.5], [0.6, 0.9]])
    with pytest.raises(ValueError, match=r"plot_tree: clusters must be with a level at least \(no cluster could be"):
        figures.plot_tree(SimpleNamespace(levels=[], nearest=np.zeros(3)))


def test_movement_and_ellipses_lie_where_they_were_measured():
    first, second = rng.normal(size=(2, 20, 2))
    rows = np.stack([np.arange(15), np.arange(5, 20)], axis=1)
    distances = np.linalg.norm(first[rows[:, 0]] - second[rows[:, 1]], axis=1)
    moved = SimpleNamespace(tables=(0, 1), rows=rows, distances=distances, moved=distances > np.median(distances))
    display = figures.plot_movement(first, second, moved, n_arrows=3)
    farthest = np.argsort(-distances)[:3]
    np.testing.assert_array_equal(display.layers[0].starts, first[rows[farthest, 0]])
    np.testing.assert_array_equal(display.layers[0].ends, second[rows[farthest, 1]])
    np.testing.assert_array_equal(display.colors.values[5:], distances)
    found = gn.distortion(gn.explain(X, X[:, :2] * [3.0, 1.0])._jacobians)
    (ellipses,) = figures.plot_distortion(X[:, :2], found, n_ellipses=7).layers
    ratio = found.semi_axes[ellipses.rows, 0] / found.semi_axes[ellipses.rows, 1]
    np.testing.assert_allclose(ellipses.widths / ellipses.heights, ratio)
    with pytest.raises(ValueError, match="plot_distortion: embedding of shape"):
        figures.plot_distortion(X[:50, :2], found)


def test_theory_is_drawn_by_its_records():
    certificate = pca_certificate(X, max_iter=30)
    loss, distances = figures.Display.from_result(certificate).axes_
    np.testing.assert_array_equal(loss.lines[0].get_ydata(), certificate.loss)
    np.testing.assert_array_equal(distances.lines[1].get_ydata(), certificate.error)
    curves = SimpleNamespace(shares=[0.1, 0.5], deletion=[0.4, 1.0], random=[0.2, 0.9], insertion=[0.1, 0.5])
    assert len(figures.plot_removal(curves).ax_.lines) == 3


def test_embeddings_gaps_and_maps_against_each_other(m):
    other = gn.PCA(n_components=2).fit_transform(X[:, ::-1] ** 3)
    found = gn.evaluation.compare_embeddings(m.embedding, other)
    assert _values(figures.Display.from_result(found)) == list(found.value.values())
    gaps = X.copy()
    gaps[:9, 1], gaps[:3, 4] = np.nan, np.nan
    display = figures.plot_completion(gn.complete_missing(gaps), names=list("pqrst"))
    assert [(line.name, line.value) for line in display.lines] == [("q", 9 / 120), ("t", 3 / 120)]


def test_every_figure_is_listed_and_every_kind_of_answer_exists():
    page = (Path(__file__).parents[2] / "docs" / "figures.md").read_text()
    drawn = [name for name in figures.__all__ if name.startswith("plot_") or name.endswith("Display")]
    assert [name for name in drawn if f"`{name}`" not in page and f"{name}." not in page] == []
    known = set()
    for room in (
        "maps",
        "explanations",
        "evaluation",
        "geometry",
        "theory",
        "comparison",
        "clusters",
        "completion",
        "extension",
        "optimizers",
        "methods",
    ):
        package = importlib.import_module(f"gnomon.{room}")
        modules = (
            [package]
            if not hasattr(package, "__path__")
            else [
                importlib.import_module(one.name)
                for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
            ]
        )
        known |= {name for module in modules for name, value in vars(module).items() if inspect.isclass(value)}
    assert {kind.removeprefix("several ") for kind in _FIGURES} <= known


def test_what_has_no_figure_says_so(m):
    with pytest.raises(TypeError, match="Display: result of type float must be one of Agreement, Answer, "):
        figures.Display.from_result(1.0)
    with pytest.raises(
        TypeError, match=r"MatrixDisplay: result of type Why must be one that MatrixDisplay draws\. Call I"
    ):
        figures.MatrixDisplay.from_result(m.why(3))
    assert isinstance(figures.MapDisplay.from_result(m, theme="dark"), figures.MapDisplay)


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ({"theme": "blue"}, "plot_map: theme='blue' must be one of 'light', 'dark' or None"),
        ({"width": "huge"}, "width='huge' must be a number of inches or one of 'single', 'middle', 'double'"),
        ({"width": 0}, r"width=0 must be in \(0, 100\]"),
        ({"opacity": 1.5}, r"opacity=1.5 must be in \(0, 1\]"),
        ({"font_size": -1}, r"font_size=-1 must be in \(0, 100\]"),
        ({"ax": matplotlib.figure.Figure().add_subplot(), "width": 3}, r"width=3 must be None where ax is given"),
    ],
)
def test_styles_that_do_not_exist_are_refused(style, text):
    with pytest.raises(ValueError, match=text):
        figures.plot_map(X[:, :2], **style)


@pytest.mark.parametrize(("width", "inches"), [("single", 3.5), ("middle", 4.72), ("double", 7.2), (5.0, 5.0)])
def test_figures_have_the_widths_of_columns_and_their_letters(width, inches):
    display = figures.plot_map(X[:, :2], labels=LABELS, width=width, title="map")
    assert display.figure_.get_figwidth() == inches
    assert display.ax_.get_legend().get_texts()[0].get_fontsize() == pytest.approx(7 * 0.833)


def test_axes_given_say_the_theme_and_share_their_place():
    figure = matplotlib.figure.Figure(facecolor="black", layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_facecolor("#222222")
    figures.plot_map(X[:, :2], ax=left, title="map")
    assert to_rgb(left.title.get_color()) == to_rgb("black")  # what was there stays
    assert to_rgb(left._left_title.get_color()) == to_rgb(DARK.ink)
    display = figures.plot_panels([X[:, :2]] * 4, n_columns=2, ax=right, theme="dark")
    figure.canvas.draw()
    assert len(display.axes_) == 4
    place = right.get_position()
    for ax in display.axes_:
        inner = ax.get_position()
        assert place.x0 - 0.02 <= inner.x0 < inner.x1 <= 1.0
    with pytest.raises(ValueError, match="ax must be axes in a grid, for a figure of several panels"):
        figures.plot_panels([X[:, :2]] * 4, ax=figure.add_axes((0, 0, 1, 1)))


def _contrast(color, ground):
    def light(one):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(one)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(color), light(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda one: one.name)
def test_words_can_be_read_and_marks_be_seen_on_the_ground(theme):
    assert _contrast(theme.ink, theme.ground) > 12
    assert _contrast(theme.soft, theme.ground) > 6
    for color in class_colors(40):
        assert _contrast(theme.text(color), theme.ground) > 4.5
        assert _contrast(theme.mark(color), theme.ground) > (1.5 if theme is LIGHT else 3)


def test_dark_figures_are_dark_everywhere(tmp_path):
    display = figures.plot_points(X[:, :2], X[:, 2], "stretch", theme="dark")
    assert to_rgb(display.figure_.get_facecolor()) == to_rgb(DARK.ground)
    assert all(to_rgb(ax.yaxis.get_ticklabels()[0].get_color()) == to_rgb(DARK.ink) for ax in display.figure_.axes[1:])
    display.save(tmp_path / "dark.svg")
    assert f"fill: {DARK.ground}" in (tmp_path / "dark.svg").read_text()
    assert display.plot().figure_.get_facecolor()[:3] == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("n", "rasterized", "pictures"), [(400, None, 0), (5001, None, 1), (400, True, 1), (5001, False, 0)]
)
def test_text_is_text_and_many_points_are_a_picture(n, rasterized, pictures, tmp_path):
    Y, labels = rng.normal(size=(n, 2)), np.repeat(["first $x", "second"], [n // 2, n - n // 2])
    display = figures.plot_map(Y, labels=labels, title="A title", rasterized=rasterized)
    display.save(tmp_path / "a.svg", dpi=60)
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<image") == pictures
    for words in ("A title", "first $x", "second"):
        assert re.search(rf">{re.escape(words)}</text>", text)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_seventy_thousand_points_stay_small(suffix, tmp_path):
    codes = np.arange(70_000) % 10
    Y = 6 * rng.normal(size=(10, 2))[codes] + rng.normal(size=(70_000, 2))
    figures.plot_map(Y, labels=codes, width="double").save(tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").stat().st_size < 3_000_000


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_figure_has_the_same_bytes(suffix, tmp_path):
    for name in "ab":
        figures.plot_map(X[:, :2], labels=LABELS).save(tmp_path / f"{name}.{suffix}", dpi=50)
    one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
    assert one == two
    if suffix == "pdf":
        assert b"/Type /Font" in one
        assert b"CreationDate" not in one


def test_a_display_that_was_not_drawn_draws_itself(tmp_path):
    display = figures.HistogramDisplay({"values": X[:, 0]}, "value")
    assert display._repr_png_().startswith(b"\x89PNG")
    display.save(tmp_path / "a.png", dpi=40)
    heights = display.ax_.patches[0].get_path().vertices
    assert heights.size
    assert not hasattr(figures.HistogramDisplay({}, ""), "ax_")


def test_a_notebook_gets_words_beside_the_picture():
    data, facts = figures.plot_map(X[:, :2], labels=LABELS, title="Three\u202e kinds")._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert facts == {"image/png": {"alt": "Figure (map): Three\\u202e kinds"}}
    histogram = figures.HistogramDisplay({"values": X[:, 0]}, "value")
    assert histogram._repr_mimebundle_()[1]["image/png"]["alt"].startswith("Figure (histogram)")


def test_legends_list_forty_classes_in_columns_and_say_what_they_leave_out():
    codes = np.append(np.arange(60), np.repeat(np.arange(60), np.arange(60)))
    display = figures.plot_map(rng.normal(size=(len(codes), 2)), labels=codes, annotate=False)
    legend = display.ax_.get_legend()
    assert legend.get_title().get_text() == "20 smaller classes are not listed"
    assert [text.get_text() for text in legend.get_texts()] == [f"{k}  ({k + 1})" for k in range(59, 19, -1)]
    assert legend._ncols > 1
    few = figures.plot_map(X[:, :2], labels=LABELS).ax_.get_legend()
    assert few._ncols == 1
    assert len(few.get_texts()) == 3


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (np.repeat(20, 60), "20 more classes are not listed"),
        (np.append(np.repeat(20, 40), 19), "1 smaller class is not listed"),
    ],
)
def test_a_legend_calls_smaller_only_classes_that_are(counts, told):
    codes = np.repeat(np.arange(len(counts)), counts)
    display = figures.plot_map(rng.normal(size=(len(codes), 2)), labels=codes, annotate=False)
    assert display.ax_.get_legend().get_title().get_text() == told


@pytest.mark.parametrize(("names", "told"), [(["a", "b"], "(missing)"), (["a", "(missing)"], "(no value)")])
def test_points_without_a_label_are_called_as_on_a_page(names, told):
    labels = np.array([*names * 3, None], dtype=object)
    legend = figures.plot_map(rng.normal(size=(7, 2)), labels=labels).ax_.get_legend()
    assert legend.get_texts()[-1].get_text() == f"{told}  (1)"
    assert encode_column(labels, 7, name="x").categories[-1] == told
