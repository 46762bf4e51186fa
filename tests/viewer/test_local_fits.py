"""The page expands local fits and finds ways through the data as NumPy and SciPy do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import gnomon
from gnomon.explanations.local import each_local_arrows
from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def counts():
    """Whole numbers, which the page holds exactly; the last feature is constant."""
    rng = np.random.default_rng(3)
    latent = rng.uniform(-1, 1, size=(240, 2))
    mixed = latent @ rng.normal(size=(2, 11)) * 40 + rng.normal(size=(240, 11)) * 2 + 128
    X = np.clip(np.round(np.column_stack([mixed, np.full(240, 7.0)])), 0, 255).astype(np.uint8)
    labels = np.where(latent[:, 0] > 0.5, "east", np.where(latent[:, 0] < -0.5, "west", "middle"))
    return X, latent.astype(np.float32), labels


@pytest.fixture(scope="module")
def explained(counts):
    X, Y, _ = counts
    return gnomon.explain(X, Y)


@pytest.fixture(scope="module")
def page(counts, explained, tmp_path_factory):
    X, Y, labels = counts
    path = tmp_path_factory.mktemp("page") / "counts.html"
    write_html(path, PageContent(embedding=Y, X=X, labels=labels, explanation=explained))
    return path


def test_arrows_of_all_features_are_those_of_the_explanation(open_again, page, counts, explained):
    opened = open_again(page)
    X = counts[0].astype(float)
    for i in (0, 17, 239):
        arrows = np.array(opened.page.evaluate("(i) => window.gnomon.arrows(i)", i)).reshape(-1, 2).T
        fits = explained.jacobians

        def deviation(j, fits=fits):
            return np.sqrt(np.square(X[fits.indices[j]] - X[j]).mean(axis=0))

        members = np.append(i, fits.indices[i])
        expected = explained.axes(i) * np.mean([deviation(j) for j in members], axis=0) * (deviation(i) > 0)
        np.testing.assert_allclose(arrows, expected, atol=1e-3 * np.abs(expected).max())
        assert (arrows[:, -1] == 0).all()


def test_arrows_of_standardised_features_are_those_of_the_explanation(open_page, counts, tmp_path):
    X, Y, _ = counts
    raw = X[:, :-1] * np.array([100.0, *[1.0] * 10])
    explained = gnomon.explain(raw, Y, scale="standard")
    path = tmp_path / "scaled.html"
    write_html(path, PageContent(embedding=Y, X=raw, explanation=explained))
    arrows = np.array(open_page(path).page.evaluate("window.gnomon.arrows(17)")).reshape(-1, 2).T
    expected = next(each_local_arrows(explained, np.array([17])))
    np.testing.assert_allclose(arrows, expected, atol=0.02 * np.abs(expected).max())


def test_the_way_to_a_class_is_the_shortest_through_the_neighbours(open_again, page, counts, explained):
    X, _, labels = counts
    fits = explained.jacobians
    n, k = fits.indices.shape
    edges = sp.csr_array(
        (explained.graph.distances[:, :k].ravel(), (np.repeat(np.arange(n), k), fits.indices.ravel())), shape=(n, n)
    )
    start = int(np.flatnonzero(labels == "west")[0])
    lengths = dijkstra(edges, directed=False, indices=start)
    goal = np.flatnonzero(labels == "east")
    opened = open_again(page)
    opened.page.mouse.click(*opened.place(start))
    assert opened.state["pinned"] == start
    opened.page.select_option("#goal", label="east")
    journey = opened.state["journey"]
    path = journey["path"]
    assert path[0] == start
    assert path[-1] == goal[np.argmin(lengths[goal])]
    first = journey["changes"][0]
    deviation = X.astype(float).std(axis=0)
    changes = (X[path[-1]].astype(float) - X[start]) / np.where(deviation > 0, deviation, np.inf)
    assert first["feature"] == int(np.argmax(np.abs(changes)))
    np.testing.assert_allclose(first["change"], changes[first["feature"]], rtol=1e-6)
    assert f"row {path[-1]}" in opened.page.inner_text("#card")
    opened.page.keyboard.press("Escape")
    assert opened.state["journey"] is None
    assert opened.problems == []


def test_a_place_that_no_path_leads_to_is_said(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(80, 4)).astype(np.uint8)
    X[40:] += 200
    labels = np.repeat(["here", "there"], 40)
    Y = rng.normal(size=(80, 2)).astype(np.float32)
    path = tmp_path / "apart.html"
    write_html(path, PageContent(embedding=Y, X=X, labels=labels, explanation=gnomon.explain(X, Y, n_neighbors=5)))
    opened = open_page(path)
    opened.page.mouse.click(*opened.place(3))
    opened.page.select_option("#goal", label="there")
    assert "No path" in opened.page.inner_text("#card")


def test_the_page_colours_by_distortion_and_names_what_is_torn(open_again, page, explained):
    opened = open_again(page)
    channels = opened.page.evaluate("window.gnomon.channels()")
    names = ["Stretch", "Anisotropy", "Torn"]
    values = {channel["name"]: channel["values"] for channel in channels}
    found = explained.distortion
    np.testing.assert_allclose(values[names[0]], found.log_area / np.log(2), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(values[names[1]], found.anisotropy, rtol=1e-5)
    np.testing.assert_array_equal(values[names[2]], found.tear)


def test_captions_stand_under_the_names_of_the_classes(open_page, counts, tmp_path):
    X, Y, labels = counts
    path = tmp_path / "captions.html"
    notes, captions = {"label": "Told from <i>every</i> other."}, {"east": "<b>high</b> feature 3"}
    write_html(path, PageContent(embedding=Y, X=X, labels=labels, captions=captions, column_notes=notes))
    opened = open_page(path)
    legend = opened.page.inner_text("#legend")
    assert "Told from <i>every</i> other." in legend
    assert "<b>high</b> feature 3" in legend
    assert opened.problems == []
