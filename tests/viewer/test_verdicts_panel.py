"""The panel of what was judged in the data, and classes that lie in several parts, as the page tells them in words."""

import click.testing
import numpy as np
from test_payload import read_page

import gnomon as gn
from gnomon.cli import main
from gnomon.maps import Map
from gnomon.viewer import PageContent


def _two_groups():
    draw = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    X = draw.normal(size=(120, 4))
    X[:, 0] += 12.0 * group
    return gn.map(X, "pca", labels=np.array(["left", "right"])[group], scale=None, n_jobs=1)


def test_a_page_tells_the_verdicts_that_were_asked_and_asks_none(open_page, tmp_path):
    made = _two_groups()
    assert PageContent.of(made).verdicts == []
    gaps, drawn = made.verdicts(), made.illusions()
    made.to_html(tmp_path / "m.html")
    told = read_page(tmp_path / "m.html")[0]["verdicts"]
    assert [row[:2] for row in told[0]["rows"]] == [[one.question, one.answer] for one in gaps]
    assert told[0]["rows"][0][1:3] == ["yes", False]
    assert [row[0] for row in told[1]["rows"]] == [one.question for one in drawn.worst]
    opened = open_page(tmp_path / "m.html")
    text = opened.page.inner_text("#verdicts")
    assert f"{gaps[0].question} yes" in text
    assert all(one.sentence in text for one in gaps)
    assert gaps.footing in text
    assert gaps.summary().endswith(gaps.footing)
    assert f"{len(drawn.worst)} of {len(drawn)} " in text
    assert opened.problems == []


def test_the_command_hands_the_page_the_verdicts_of_its_report(tmp_path):
    table = np.column_stack([np.repeat([0.0, 9.0], 40), *np.random.default_rng(0).normal(size=(2, 80))])
    np.save(tmp_path / "t.npy", table)
    given = ["map", str(tmp_path / "t.npy"), "--method", "pca", "-o", str(tmp_path / "m.html")]
    for options, is_told in (([], True), (["--no-verdicts"], False), (["--quiet"], False)):
        assert click.testing.CliRunner().invoke(main, [*given, *options]).exit_code == 0
        assert ("verdicts" in read_page(tmp_path / "m.html")[0]) == is_told


def test_a_class_in_several_parts_is_told_with_the_place_of_each(open_page, tmp_path):
    draw = np.random.default_rng(0)
    corners = np.array([[-9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])
    part = np.repeat([0, 1, 2], [40, 30, 50])
    Y = corners[part] + 0.3 * draw.normal(size=(120, 2))
    Map(Y.astype(np.float64), Y, labels=np.array(["two", "two", "one"])[part]).to_html(tmp_path / "m.html")
    opened = open_page(tmp_path / "m.html")
    opened.page.click("#words > summary")
    opened.page.wait_for_selector("#words .told")
    words = opened.page.inner_text("#words")
    assert "two: 70 points (58 %) in 2 parts, at the lower left and at the upper right." in words
    assert "one: 50 points (42 %) at the upper left, nearest two." in words
    assert opened.page.title() == "A map of 120 rows"
