"""Sequences: what they must hold, how they are stored, what is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pytest
from test_payload import read_page

from gnomon.viewer import PageContent, Sequence, document, write_html
from gnomon.viewer.content import encode_frames


@pytest.fixture(name="frames")
def drifting_frames():
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(5, 300, 2))
    return [steps[: k + 1].sum(axis=0) * [1.0 + k, 3.0] for k in range(5)]


def decode(columns):
    """Positions that the codes of a page stand for, as its script reads them."""
    planes = columns["planes"].astype(np.uint16)
    codes = np.cumsum(planes[:, :, 0] + (planes[:, :, 1] << 8), axis=0, dtype=np.uint16)
    points = columns["low"][:, :, None] + columns["step"][:, :, None] * codes
    points[codes == 65_535] = np.nan
    return points.transpose(0, 2, 1)


def test_positions_survive_to_a_small_part_of_the_width(frames):
    frames[2] *= 1e-6
    frames[3] += 1e4
    codes = encode_frames(frames)
    for back, Y in zip(decode(vars(codes)), frames, strict=True):
        assert (np.abs(back - Y) <= 0.501 * np.ptp(Y, axis=0) / 2**14).all()


def test_missing_points_stay_missing(frames):
    frames[0][5], frames[3][7, 1] = np.nan, np.inf
    frames[4][:] = np.nan
    back = decode(vars(encode_frames(frames)))
    lost = [np.flatnonzero(np.isnan(Y).any(axis=1)).tolist() for Y in back]
    assert lost == [[5], [], [], [7], list(range(300))]
    one_place = decode(vars(encode_frames([np.ones((3, 2)), np.zeros((3, 2))])))
    np.testing.assert_array_equal(one_place, [np.ones((3, 2)), np.zeros((3, 2))])


def test_the_page_holds_the_sequence(tmp_path, frames):
    sequence = Sequence("epochs", [0, 1.5, "two", None, "<b>"], frames, main=-2)
    write_html(tmp_path / "a.html", PageContent(embedding=frames[3]), sequence=sequence)
    header, columns = read_page(tmp_path / "a.html")
    assert header["sequence"]["labels"] == ["0", "1.5", "two", "None", "<b>"]
    assert header["sequence"]["main"] == 3
    assert header["sequence"]["facts"] == [None] * 5
    assert np.abs(decode(columns) - frames).max() < 1e-2
    write_html(tmp_path / "b.html", PageContent(embedding=frames[3]), sequence=sequence)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_three_bytes_hold_a_point_of_a_frame(tmp_path):
    """20 embeddings of 70,000 points stay under 6 MB: 4.3 bytes a point and frame, as text."""
    rng = np.random.default_rng(1)
    start = rng.normal(size=(7000, 2)) + 6 * rng.normal(size=(10, 2))[rng.integers(0, 10, 7000)]
    goal = start @ [[0.8, 0.6], [-0.6, 0.8]] + rng.normal(scale=0.5, size=start.shape)
    frames = [(1 - t) * start + t * goal + rng.normal(scale=0.1, size=start.shape) for t in np.linspace(0, 1, 20)]
    write_html(tmp_path / "a.html", PageContent(embedding=frames[0]), sequence=Sequence("t", range(20), frames))
    write_html(tmp_path / "b.html", PageContent(embedding=frames[0]))
    more = (tmp_path / "a.html").stat().st_size - (tmp_path / "b.html").stat().st_size
    assert more < 20 * 7000 * 4.3


def test_a_sample_of_the_points_is_the_same_in_every_frame(monkeypatch, tmp_path, frames):
    monkeypatch.setattr(document, "MAX_POINTS", 50)
    write_html(tmp_path / "a.html", PageContent(embedding=frames[0]), sequence=Sequence("t", "abcde", frames))
    _, columns = read_page(tmp_path / "a.html")
    np.testing.assert_allclose(decode(columns), np.array(frames)[:, columns["rows"]], atol=1e-2)


def test_facts_of_other_frames_are_kept_apart(tmp_path, blobs):
    frames = [blobs.Y, blobs.Y[:, ::-1], -blobs.Y]
    scores = [SimpleNamespace(trustworthiness=0.5 + 0.1 * k, per_point={}) for k in range(3)]
    sequence = Sequence("t", "abc", frames, 1, explanations=[None, None, blobs.explanation], evaluations=scores)
    write_html(tmp_path / "a.html", PageContent(embedding=frames[1], explanation=blobs.explanation), sequence=sequence)
    header, columns = read_page(tmp_path / "a.html")
    first, main, last = header["sequence"]["facts"]
    assert first["evaluation"] == {"trustworthiness": 0.5}
    assert [row["grade"] for row in first["trust"]["scores"]] == ["poor"]
    assert main is None  # those of the map itself
    assert header["evaluation"] == {"trustworthiness": 0.6}
    assert header["explanation"] == last["explanation"]
    assert set(header["groups"]["frame2"]["columns"]) <= set(header["groups"]["core"]["columns"])
    np.testing.assert_array_equal(columns["r2"], blobs.explanation.r2.astype(np.float32))


def test_a_sequence_is_frozen_and_plain(frames):
    sequence = Sequence("t", range(5), frames, main=-1)
    assert sequence.labels == ("0", "1", "2", "3", "4")
    assert sequence.main == 4
    assert sequence.facts(2) == (None, None)
    with pytest.raises(FrozenInstanceError):
        sequence.main = 0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": " "}, "name=' ' must be the name"),
        ({"labels": "abc"}, "3 labels must be 5"),
        ({"explanations": [None]}, "1 explanations must be 5"),
        ({"evaluations": ()}, "0 evaluations must be 5"),
        ({"embeddings": [np.zeros((4, 2))]}, "1 embeddings must be at least 2"),
        ({"embeddings": [np.zeros((4, 2))] * 4 + [np.zeros((3, 2))]}, r"embedding 4 of shape \(3, 2\) must be of the"),
        ({"embeddings": [np.zeros((4, 5))] * 5}, "embedding 0 of shape"),
        ({"embeddings": [np.array([["a", "b"]])] * 5}, "must be numbers"),
        ({"main": 5}, "main=5 must be"),
    ],
)
def test_what_cannot_be_a_sequence_is_refused(frames, change, text):
    with pytest.raises(ValueError, match=text):
        Sequence(**({"name": "t", "labels": range(5), "embeddings": frames} | change))


def test_the_main_embedding_must_be_that_of_the_map(tmp_path, frames):
    sequence = Sequence("t", range(5), frames, main=2)
    with pytest.raises(ValueError, match=r"sequence.embeddings\[2\] must be the embedding itself .* reference=2"):
        write_html(tmp_path / "a.html", PageContent(embedding=frames[2][:, ::-1]), sequence=sequence)
    with pytest.raises(ValueError, match="sequence of embeddings of shape"):
        write_html(tmp_path / "a.html", PageContent(embedding=frames[2][1:]), sequence=sequence)
    assert list(tmp_path.iterdir()) == []
    frames[2][4] = np.nan
    write_html(
        tmp_path / "a.html",
        PageContent(embedding=frames[2].astype(np.float32)),
        sequence=Sequence("t", range(5), frames, 2),
    )
