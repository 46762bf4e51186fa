"""A map on a surface is shown, scored, explained, drawn, stored and grown as what it is, or refused."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.surfaces import Hyperboloid, Sphere
from gnomon.viewer.content import PageContent

METRICS = ("sphere", "hyperboloid")
BOTH = pytest.mark.parametrize("metric", METRICS)


def _rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return (points @ np.eye(3, 5) + 0.02 * rng.normal(size=(n, 5))).astype(np.float32)


X = _rows()


@pytest.fixture(scope="module")
def made():
    return {
        metric: gn.map(X, output_metric=metric, max_iter=100, labels=(X[:, 0] > 0).astype(int)) for metric in METRICS
    }


def test_a_sphere_is_shown_in_space_and_a_hyperboloid_in_the_disk(made):
    ball, disk = made["sphere"], made["hyperboloid"]
    assert isinstance(ball.surface, Sphere)
    assert isinstance(disk.surface, Hyperboloid)
    np.testing.assert_allclose(np.linalg.norm(ball.embedding, axis=1), ball.surface.radius, rtol=1e-6)
    assert disk.embedding.shape == (200, 2)
    assert (np.linalg.norm(disk.embedding, axis=1) < 1).all()
    assert "sphere of radius" in ball.notes[-1]
    assert "Poincare disk" in disk.notes[-1]
    assert gn.map(X, max_iter=5).surface is None


@BOTH
def test_scores_are_of_distances_along_the_surface(made, metric):
    one = made[metric]
    again = gn.evaluate(
        X, one.surface.read(one.embedding), surface=one.surface, labels=one.labels, graph=one.neighbors()
    )
    assert one.evaluate().scores() == again.scores()
    assert one.evaluate().trustworthiness > 0.97


def test_explanations_are_of_the_places_as_shown(made):
    for metric in METRICS:
        one, fitted = made[metric], made[metric]._estimator
        given = gn.explain(X, fitted.embedding_, surface=one.surface, graph=one.neighbors())
        np.testing.assert_allclose(given.importance, one.explain().importance, rtol=1e-4, atol=1e-6)
    ball = made["sphere"]
    axes = np.stack([ball.explain().axes(i) for i in range(0, 200, 5)])
    assert axes.shape == (40, 3, 5)
    outward = np.einsum("ic,icf->if", ball.embedding[::5] / ball.surface.radius, axes)
    share = np.linalg.norm(outward, axis=1) / np.linalg.norm(axes, axis=(1, 2))
    assert np.median(share) < 0.4  # along the sphere, as far as neighbourhoods of 15 in 200 are flat; chance is 0.58


@BOTH
def test_a_stored_map_keeps_its_surface(made, metric, tmp_path):
    one = made[metric]
    one.save(tmp_path / "map.gnomon")
    loaded = gn.Map.load(tmp_path / "map.gnomon")
    assert loaded.surface == one.surface
    new = _rows(5, seed=3)
    assert loaded.place(new).tobytes() == one.place(new).tobytes()
    assert loaded.place(new).shape == (5, one.embedding.shape[1])
    np.testing.assert_allclose(one.place(X[:4]), one.embedding[:4], atol=1e-6)
    assert loaded.evaluate().scores() == one.evaluate().scores()


@BOTH
def test_what_needs_a_flat_map_is_refused(made, metric):
    one = made[metric]
    for question in (
        lambda: one.transform(X[:2]),
        lambda: one.inverse_transform(one.embedding[:2]),
        lambda: one.jacobian(X[0]),
        lambda: one.novelty(X[:2]),
        lambda: one.extend(_rows(3, seed=4)),
    ):
        with pytest.raises(ValueError, match=f"a map on a {metric} must be in flat space .* Place new rows with place"):
            question()


@BOTH
def test_figure_and_page_say_what_is_shown(made, metric):
    pytest.importorskip("matplotlib")
    words = {"sphere": "two halves of a sphere", "hyperboloid": "Poincaré disk"}[metric]
    drawn = made[metric].plot().ax_
    assert any(words in text.get_text() for text in drawn.texts)
    assert made[metric].surface.view in PageContent.of(made[metric]).method
    with pytest.raises(ValueError, match=f"arrows must be None on a {metric}"):
        made[metric].plot(arrows={"a": (1.0, 0.0)})


@BOTH
def test_a_map_told_in_other_features_keeps_its_surface(made, metric):
    told = made[metric].with_features(X[:, :2] ** 2, ["a", "b"])
    assert told.surface == made[metric].surface
    assert told.evaluate().scores() == made[metric].evaluate().scores()


def test_a_damaged_surface_is_named(made, tmp_path):
    from gnomon.maps.file import pack, unpack

    arrays, description = pack(made["sphere"])
    for wrong in (["torus", 1.0], ["sphere", -1.0], ["sphere", float("nan")], "sphere", ["sphere", "1"]):
        with pytest.raises(ValueError, match="its surface is not a name and a radius"):
            unpack(arrays, {**description, "version": 4, "surface": wrong}, gn.Map)


@pytest.mark.parametrize(
    ("surface", "width", "error", "text"),
    [
        ("sphere", 2, TypeError, "surface must be a gnomon.surfaces.Surface or None"),
        (Sphere(), 2, ValueError, r"embedding of shape \(200, 2\) must be of 3 columns on a sphere.*Sphere\.drawn"),
        (Hyperboloid(), 2, ValueError, r"embedding must be inside the unit circle \(row \d+ is not\)"),
    ],
)
def test_positions_that_are_not_of_the_surface_are_named(surface, width, error, text):
    with pytest.raises(error, match=text):
        gn.Map(X, 3 * X[:, :width], surface=surface)
