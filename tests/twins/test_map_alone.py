"""What a map was asked of other tables is in its file and on its page, and nothing else changes."""

import copy
import json

import click.testing
import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.twins import MapAlone


def _made():
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b", "c"], 30)
    X = 40.0 * rng.normal(size=(3, 5)).repeat(30, axis=0) + rng.normal(size=(90, 5))
    return gn.map(X, "tsne", perplexity=8, labels=kind, label_name="kind", scale=None, n_jobs=1)


@pytest.fixture(scope="module")
def plain():
    return _made()


@pytest.fixture(scope="module")
def asked():
    made = _made()
    made.blind_spots(n_shifts=0, n_seeds=1)
    made.proves(("wider", "c", "b"), n_seeds=1)
    made.proves(("nearer", "a", "b", "c"), n_seeds=1, n_random=0, budget=2)
    return made


def run(*arguments):
    return click.testing.CliRunner().invoke(main, [str(one) for one in arguments])


def test_a_map_keeps_its_answers_in_its_file_and_shows_the_same_page(asked, tmp_path):
    asked.save(tmp_path / "m.gnomon")
    loaded = gn.Map.load(tmp_path / "m.gnomon")
    assert loaded._alone == asked._alone
    loaded.n_jobs = 1
    for name, one in (("a", asked), ("b", loaded)):
        one.to_html(tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_page_that_nothing_was_asked_for_has_no_panel(plain, asked):
    from gnomon.viewer import PageContent
    from gnomon.viewer.document import Document

    assert "alone" not in Document.of(PageContent.known(plain), None).payload.header
    assert Document.of(PageContent.known(asked), None).payload.header["alone"] == asked._alone.to_dict()


def test_a_claim_takes_masks_row_numbers_and_conditions_as_verdicts_do(plain):
    few = {"n_seeds": 1, "n_random": 0, "budget": 1}
    made = gn.map(plain.X, "pca", labels=plain.labels, label_name="kind", n_jobs=1)
    a, b, c = (plain.labels == name for name in "abc")
    by_mask, by_name = made.proves(("nearer", a, b, c), **few), made.proves(("nearer", "a", "b", "c"), **few)
    assert (by_mask.holds, by_mask.refuted, by_mask.threshold) == (by_name.holds, by_name.refuted, by_name.threshold)
    assert by_mask.claim == by_name.claim.replace("a is nearer to b than to c", "A is nearer to B than to C")
    assert made.proves(("wider", "kind=a", np.flatnonzero(b)), **few).claim == "kind=a is wider than B"
    with pytest.raises(ValueError, match="proves: B with 30 rows of A must be without rows of A"):
        made.proves(("apart", a, a))
    with pytest.raises(ValueError, match=r"\(\('apart', <ndarray of 90>, <ndarray of 90>\)\)\. Pass labels that say"):
        gn.proves(gn.PCA(), plain.X, ("apart", a, b), labels=plain.labels)
    with pytest.raises(ValueError, match=r"\(\('near', <ndarray of 90>, 3\)\)"):
        made.proves(("near", a, 3))


def test_a_claim_asked_again_takes_the_place_of_its_former_answer(asked):
    made = copy.copy(asked)
    made.proves(("wider", "c", "b"), n_seeds=1)
    assert [one["claim"] for one in made._alone.claims] == ["a is nearer to b than to c", "c is wider than b"]
    assert made._alone.pictures == asked._alone.pictures


def test_a_picture_marks_the_changed_rows_and_shows_both_maps_in_one_place(asked):
    picture = next(one["picture"] for one in asked._alone.claims if one["unreadable"])
    rows = set(range(60, 90)) if picture.told.startswith("c ") else set(range(30, 60))
    assert set(picture.changed) == rows
    places = np.array([picture.map, picture.other_map])
    assert np.abs(places[0] - places[1]).max() <= 8  # of 255, for maps of disparity below 0.001
    assert picture.table != picture.other
    assert max(*picture.table, *picture.other) == 255


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda e: e.pop("seen"), "alone is not"),
        (lambda e: e.update(threshold=-1.0), "no threshold"),
        (lambda e: e.update(threshold=True), "no threshold"),
        (lambda e: e.update(n_unseen=e["n_changes"] + 1), "no numbers of changes"),
        (lambda e: e["unseen"].append(3), "unseen is not a list of text"),
        (lambda e: e["pictures"][0].pop("told"), "two tables and two maps"),
        (lambda e: e["pictures"][0]["table"].append(1), "different lengths"),
        (lambda e: e["pictures"][0]["other"].__setitem__(0, 256), "between 0 and 255"),
        (lambda e: e["pictures"][0]["map"].__setitem__(0, 1.5), "whole numbers"),
        (lambda e: e["pictures"][0]["changed"].append(10_000), "not in its picture"),
        (lambda e: e["claims"][0].update(refuted=1), "other types"),
        (lambda e: e["claims"][0].pop("told"), "words, answer and picture"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(asked, change, told):
    entries = json.loads(json.dumps(asked._alone.to_dict()))
    assert MapAlone.from_dict(entries) == asked._alone
    change(entries)
    with pytest.raises(ValueError, match=told):
        MapAlone.from_dict(entries)


def test_features_are_called_as_in_the_map(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    made = gn.map(X, "pca", labels=np.repeat(list("ab"), 30), feature_names=["u", "v", "w"], scale=None)
    made.save(tmp_path / "m.gnomon")
    for asked in (made, gn.load(tmp_path / "m.gnomon")):
        assert asked.blind_spots(n_shifts=1, n_seeds=1).feature_names == ["u", "v", "w"]


def test_commands_answer_and_save_what_the_page_tells(plain, tmp_path):
    file = tmp_path / "m.gnomon"
    plain.save(file)
    found = run("proves", file, "wider", "c", "b", "--seeds", "1", "--save", file, "--threads", "1")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith('"c is wider than b" cannot be read from the map.')
    document = json.loads(run("blind-spots", file, "--shifts", "0", "--seeds", "1", "--save", file, "--json").stdout)
    kept = gn.Map.load(file)._alone
    assert kept.n_changes == len(document["changes"]) == 13
    assert [one["claim"] for one in kept.claims] == ["c is wider than b"]
    document = json.loads(run("proves", file, "near", "0", "1", "--budget", "1", "--random", "0", "--json").stdout)
    assert document["claim"] == "row 1 is a neighbour of row 0"
    assert len(document["tried"]) <= 1
    assert document["same_random"] is None


def test_commands_say_what_is_wrong_with_a_claim(plain, tmp_path):
    file = tmp_path / "m.gnomon"
    plain.save(file)
    for words, told in (
        (["apart", "a"], "apart is about 2 groups, not 1."),
        (["near", "1", "x"], "near is about numbers of rows, counted from 0, not 'x'."),
        (["apart", "a", "z"], "claim must be about groups of a, b, c ('z' is none)."),
    ):
        result = run("proves", file, *words)
        assert result.exit_code == 2
        assert told in result.stderr


def test_a_map_is_asked_as_it_is_made(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{k}" for k in "xy" for a, b in rng.normal(size=(20, 2)) + 9.0 * (k == "y")]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,kind", *rows]) + "\n")
    asked = ["--blind-spots", "--claim", "apart x y", "--json", "--save", tmp_path / "m.gnomon"]
    made = run("map", tmp_path / "t.csv", "--labels", "kind", "--method", "pca", "--threads", "1", *asked)
    assert made.exit_code == 0, made.output
    document = json.loads(made.stdout)
    assert document["proves"][0]["claim"] == "x and y are apart"
    assert document["blind_spots"]["groups"] == ["x", "y"]
    assert len(gn.Map.load(tmp_path / "m.gnomon")._alone.claims) == 1
    refused = run("map", tmp_path / "t.csv", "--claim", "far x y")
    assert refused.exit_code == 2
    assert "must begin with one of apart, empty, nearer" in refused.stderr


def test_a_map_made_with_a_callback_that_cannot_be_copied_is_asked(tmp_path):
    with (tmp_path / "log").open("w") as file:
        method = gn.TSNE(perplexity=5, max_iter=30, random_state=0, callback=lambda progress: bool(file.write("")))
        X = np.random.default_rng(0).normal(size=(40, 3))
        found = gn.proves(method, X, ("near", 0, 1), labels=np.zeros(40), n_seeds=1, budget=1, n_random=0)
    assert found.n_fits >= 2
