"""Pictures of the map have the size asked for, and as PNG and as SVG the look of the screen."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.spatial import cKDTree

from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


def pixels(path):
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGBA"), dtype=float)


def differing(a, b):
    """Share of pixels of another colour, where a step aside of one pixel is none."""
    gap = np.full(a.shape[:2], np.inf)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            gap = np.minimum(gap, np.abs(a[..., :3] - np.roll(b[..., :3], (dy, dx), axis=(0, 1))).max(axis=2))
    return (gap > 60).mean()


def only_canvases(opened, visibility):
    """Hide what stands above the map, or show it again."""
    opened.page.evaluate(
        "(visibility) => { for (const node of document.querySelectorAll('#stage > :not(canvas)')) "
        "node.style.visibility = visibility; }",
        visibility,
    )


def drawn(opened, path, size):
    """A picture file as the browser draws it."""
    opened.page.set_viewport_size({"width": size[1], "height": size[0]})
    opened.page.goto(path.as_uri())
    opened.page.screenshot(path=path.with_suffix(".shot.png"))
    return pixels(path.with_suffix(".shot.png"))


@pytest.mark.slow
def test_png_svg_and_screen_look_alike(open_page, blobs_page, tmp_path):
    opened = open_page(blobs_page)
    opened.page.set_viewport_size({"width": 900, "height": 520})
    opened.settle()
    opened.page.mouse.click(*opened.place(3))
    opened.page.mouse.move(5, 500)
    opened.settle()
    only_canvases(opened, "hidden")
    opened.page.screenshot(path=tmp_path / "screen.png")
    only_canvases(opened, "")
    opened.page.evaluate("() => { document.querySelector('#card').style.visibility = 'hidden'; }")
    box = opened.page.locator("#overlay").bounding_box()
    wide, tall = round(box["width"]), round(box["height"])
    names = [
        opened.save(kind, tmp_path / file) for kind, file in [("PNG 1", "a.png"), ("PNG 4", "d.png"), ("SVG", "a.svg")]
    ]
    assert [name.rsplit(".")[-1] for name in names] == ["png", "png", "svg"]
    assert names[0].startswith("blobs-")
    png = pixels(tmp_path / "a.png")
    assert png.shape[:2] == (tall + 64, wide + 200)
    assert pixels(tmp_path / "d.png").shape[:2] == (4 * (tall + 64), 4 * (wide + 200))
    svg = drawn(opened, tmp_path / "a.svg", png.shape)
    painted = (png[..., :3] < 250).any(axis=2).mean()
    assert painted > 0.02
    assert differing(png, svg) < 0.02 * painted
    x, y = round(box["x"]), round(box["y"])
    screen = pixels(tmp_path / "screen.png")[y : y + tall, x : x + wide]
    assert differing(png[64 : 64 + tall, :wide], screen) < 0.02 * painted
    assert opened.problems == []


def test_an_svg_is_text_and_circles_by_colour_and_may_be_transparent(open_page, blobs_page, blobs, tmp_path):
    opened = open_page(blobs_page)
    opened.page.click('#legend [data-class="2"] .class')
    opened.save("SVG", tmp_path / "map.svg")
    root = ET.parse(tmp_path / "map.svg").getroot()
    groups = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}circle") is not None]
    circles = [circle for group in groups for circle in group]
    assert len(circles) == blobs.n
    assert len({group.get("fill") for group in groups}) <= 4  # two colours made pale, and that of the class
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts[0].startswith("Blobs <script")
    assert {"alpha", "gamma"} <= set(texts)
    places = opened.places(range(blobs.n)) - opened.spot(0, 0)
    found = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in circles]) - [0, 64]
    away, circle_of = cKDTree(found).query(places)
    assert away.max() < 0.011
    assert len(set(circle_of)) == blobs.n
    assert root.find(f".//{SVG}script") is None
    # transparent: what lies below shows
    opened.page.click("#export")
    opened.page.get_by_label("Transparent background").check()
    opened.page.keyboard.press("Escape")
    assert opened.page.locator("#save-menu").is_hidden()
    opened.save("PNG 1", tmp_path / "clear.png")
    opened.save("SVG", tmp_path / "clear.svg")
    picture = pixels(tmp_path / "clear.png")
    assert (picture[..., 3] == 0).mean() > 0.5
    assert (picture[..., 3] > 200).any()
    assert "<path" not in (tmp_path / "clear.svg").read_text(encoding="utf-8").split("<text")[0]


@pytest.mark.slow
def test_many_points_and_deep_maps_are_pictures_below_text(open_page, tmp_path):
    rng = np.random.default_rng(0)
    write_html(
        tmp_path / "many.html", PageContent(embedding=rng.normal(size=(20_001, 2)), labels=np.arange(20_001) % 3)
    )
    opened = open_page(tmp_path / "many.html")
    opened.page.set_viewport_size({"width": 900, "height": 520})
    opened.settle()
    opened.save("PNG 1", tmp_path / "a.png")
    opened.save("SVG", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert len(re.findall("<image ", text)) == 1
    assert len(re.findall("<text ", text)) >= 5
    png = pixels(tmp_path / "a.png")
    svg = drawn(opened, tmp_path / "a.svg", png.shape)
    assert np.abs(png - svg)[..., :3].mean() < 4
