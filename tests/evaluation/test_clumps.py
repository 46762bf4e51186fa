"""Clumps of a map too small for a verdict: counted, beside those of the data, and told wherever gaps are."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import judge_gaps
from gnomon.evaluation.gaps.clumps import Clumps
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.radii import unevenness_of_areas
from gnomon.maps import Map
from gnomon.maps.printed.sections.answers import shown
from gnomon.maps.printed.sections.reading import cautions
from gnomon.maps.printed.subject import Subject


def clumped(n_clumps=15, n=12):
    """Draw clumps of n rows each at the corners of a grid, a hundred of their deviations apart."""
    corners = np.stack(np.meshgrid(range(5), range(-(-n_clumps // 5))), axis=-1).reshape(-1, 2)[:n_clumps]
    return 100.0 * np.repeat(corners, n, axis=0) + np.random.default_rng(0).normal(size=(n_clumps * n, 2))


@pytest.fixture(name="noise", scope="module")
def of_noise():
    return np.random.default_rng(1).normal(size=(180, 6))


def _of(X, Y):
    return Clumps.of(Ground.of(X, Y, metric="euclidean", max_rows=1000, n_nulls=19, seed=0, placed=True), 0.25)


def test_clumps_are_counted_in_map_and_data(noise):
    Y = clumped()
    found = _of(noise, Y)
    assert (found.in_map, found.in_data, found.are_shown, found.are_drawn) == (15, 0, True, True)
    both = _of(Y, Y)
    assert (both.in_map, both.in_data, both.are_shown, both.are_drawn) == (15, 15, True, False)
    assert (found.share, found.are_most, both.are_most) == (1.0, True, False)
    most = [Clumps(9, in_data, 3, share).are_most for in_data, share in ((0, 0.4), (0, 0.5), (4, 0.5), (5, 0.9))]
    assert most == [False, True, True, False]
    assert [Clumps(in_map, 0, 9, 0.1).are_drawn for in_map in (9, 10)] == [False, True]
    assert not _of(clumped(6, 30), clumped(6, 30)).are_shown  # each is an island, which is judged
    even = _of(noise, np.random.default_rng(2).uniform(size=(180, 2)))
    assert (even.are_shown, even.sentence) == (False, "")
    placed = np.where(np.arange(180)[:, None] < 96, Y, np.nan)
    assert _of(noise, placed).in_map == 8
    assert Clumps.of(Ground.of(noise, None, metric="euclidean", max_rows=99, n_nulls=19, seed=0), 0.25).in_map == 0


def test_verdicts_on_a_map_of_clumps_do_not_say_that_it_shows_no_gap(noise):
    found = judge_gaps(noise, clumped(), n_nulls=19)
    told = (
        "The map shows 15 clumps of 5 to 29 rows, too small to judge one by one; the data show none, and tables "
        "without groups at most "
    )
    assert len(found) == 0
    assert found.summary().startswith(told)
    assert re.fullmatch(r"\d\.", found.summary()[len(told) :])
    assert found.to_dict()["clumps"] == found.told_of_clumps == found.clumps.sentence
    labelled = judge_gaps(noise, clumped(), np.arange(180) % 2, n_nulls=19)
    assert labelled.summary().splitlines()[-1].startswith(told)
    assert judge_gaps(noise, noise[:, :2], n_nulls=19).summary() == "The map shows no gap."


def _text(markup):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup))


def test_a_report_grades_gaps_sizes_and_areas_by_clumps_and_radii(noise):
    subject = Subject(Map(noise, clumped(), method="by hand", n_jobs=1))
    assert re.search(
        r"do not read: gaps as gaps in the data \([^)]*The map shows 15 clumps of 5 to 29 rows",
        _text(cautions(subject).body),
    )
    said = _text(shown(subject).body)
    assert said.count("The map shows 15 clumps of 5 to 29 rows") == 1
    assert "The map shows no gap" not in said
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 30)) * np.repeat([0.1, 1.0], 60)[:, None]
    told = _text(cautions(Subject(Map(X, draw.normal(size=(120, 2)), method="by hand", n_jobs=1))).body)
    areas = re.search(r"do not read: areas \(stretched ([\d.]+) times [^)]*, by radii of 15 neighbours\)", told)
    radii = re.search(r"do not read: sizes and densities of groups \([^)]*; radii are stretched ([\d.]+) times", told)
    assert float(radii[1]) ** 2 == pytest.approx(float(areas[1]), rel=0.01)
    assert float(areas[1]) > 50.0  # a tenth of the width, drawn as wide


def test_areas_are_uneven_by_the_square_of_how_radii_change():
    X = np.random.default_rng(0).normal(size=(300, 2))
    assert unevenness_of_areas(X, 7.0 * X, 15) == pytest.approx(1.0, rel=1e-4)
    apart = X + 1e3 * (np.arange(300) < 150)[:, None]
    drawn = np.where((np.arange(300) < 150)[:, None], 5.0 * apart, apart)
    assert unevenness_of_areas(apart, drawn, 15) == pytest.approx(25.0, rel=1e-3)
    assert np.isnan(unevenness_of_areas(np.zeros((30, 2)), X[:30], 15))


def test_noise_at_a_low_perplexity_is_told_as_clumps():
    X = np.random.default_rng(0).normal(size=(200, 50))
    found = gn.map(X, method="tsne", perplexity=2, random_state=0).verdicts(n_nulls=19)
    assert found.clumps.are_drawn
    assert "no gap" not in found.summary()
