"""The printed report: self-contained, complete, the same bytes for the same map, and inert whatever the names are."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.evaluation import MEASURES, POINT_SCORES, are_apart
from gnomon.exceptions import DataWarning
from gnomon.maps import Map, printed

HOSTILE = "<script>window.broken = 1</script>\"'&"
VOID = {"meta", "link", "br", "img", "use", "path", "image", "rect"}


class _Reader(HTMLParser):
    """Keeps the text of elements, their ids, and what is open when it ends."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.open, self.titles, self.links = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src", "xlink:href") if name in given]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["h2"]:
            self.titles.append(data)


@pytest.fixture(scope="module")
def made():
    draw = np.random.default_rng(0)
    kind = np.repeat(["a", "b", HOSTILE], 20)
    X = draw.normal(size=(60, 5))
    X[:20, 0] += 6.0
    X[40:, 1] += 6.0
    X[59] = X[58]
    names = ["p", "q", HOSTILE, "s", "t"]
    return Map(X, X[:, :2], labels=kind, feature_names=names, name=HOSTILE, notes=[HOSTILE], method="pca", n_jobs=1)


@pytest.fixture
def brief(monkeypatch):
    """Reports without pictures, which take most of the time."""
    drawn = ("overview", "points", "curves", "dimension")
    kept = tuple(one for one in printed.SECTIONS if one.__name__ not in drawn)
    monkeypatch.setattr("gnomon.maps.printed.write.SECTIONS", kept)


@pytest.fixture(scope="module")
def text(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.html"
    made.write_report(path)
    return path.read_text()


def test_it_is_whole_and_asks_nothing_of_the_network(text):
    page = _Reader(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    assert not re.search(r"@import|url\((?!#)", text)


def test_names_stay_text(text):
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 5


def test_the_same_map_gives_the_same_bytes(made, text):
    """Also with other threads, of which the report says how many they were."""
    other = Map(made.X, made.embedding, labels=made.labels, feature_names=made.feature_names, method="pca", n_jobs=2)
    other.name, other.notes = made.name, made.notes
    subject = printed.Subject(other, made.scorecard(["shepard", "trustworthiness", "local_r2"]))
    made_again = {make.__name__: make for make in printed.SECTIONS}
    for name in ("data", "method", "classes", "features", "axes", "doubts"):
        assert made_again[name](subject).body.replace("<dd>2</dd>", "<dd>1</dd>") in text
    first, second = (printed.sections.about.overview(subject).body for _ in range(2))
    assert first == second


def test_every_measure_and_every_diagnostic_is_told(made, text):
    card = made.scorecard()
    for name, one in card.items():
        assert f">{name.replace('_', ' ')}<" in text
        assert f">{one.value:.3f}<" in text
    assert set(card) | set(card.skipped) == set(MEASURES)
    for name in made.point_scores():
        assert f">{POINT_SCORES[name].title}<" in text
    for statement in printed.Subject(made).verdict:
        assert statement.text in text


def test_numbers_that_look_alike_are_told_apart(made, text):
    card = made.scorecard()
    for name in ("local_r2", "intrinsic_dimension"):
        assert f" The measure {name.replace('_', ' ')}, {card[name].value:.3g}, is another number: " in text
    alone = printed.Subject(made, made.scorecard(["shepard"]))
    told = [make(alone).body for make in printed.SECTIONS if make.__name__ in ("features", "dimension")]
    assert len(told) == 2
    assert not any("another number" in one for one in told)


def test_what_a_class_has_and_no_other_is_said_in_words_everywhere():
    kind = np.repeat(["a", "b", "c"], 20)
    X = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), kind == "a"])
    result = Map(X, X[:, :2], labels=kind, feature_names=["p", "q", "has"])
    body = next(make for make in printed.SECTIONS if make.__name__ == "classes")(printed.Subject(result)).body
    assert ">high has (without exception)<" in body
    assert "  a  has in all, no other (1.00)" in result.report(verdicts=False)
    assert not re.search(r"\b(inf|nan)\b", body + result.report(verdicts=False))


def test_rows_copies_and_checksums_are_told(made, brief, tmp_path):
    subject = printed.Subject(made)
    assert subject.n_duplicates == 1
    file = tmp_path / "data.bin"
    file.write_bytes(b"abc")
    made.write_report(tmp_path / "r.html", files=[file])
    text = (tmp_path / "r.html").read_text()
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in text
    changed = made.X.copy()
    changed[0, 0] = np.nextafter(changed[0, 0], 10.0)
    assert printed.Subject(Map(changed, made.embedding)).table_checksum != subject.table_checksum


def test_sparse_and_dense_rows_have_one_checksum_and_equal_copies(made):
    import scipy.sparse as sp

    dense = (made.X > 0).astype(np.float64)
    pair = [printed.Subject(Map(X, made.embedding)) for X in (dense, sp.csr_array(dense))]
    assert pair[0].table_checksum == pair[1].table_checksum
    assert pair[0].n_duplicates == pair[1].n_duplicates > 1


def test_what_was_asked_before_is_told_too(made, brief, tmp_path):
    verdict = are_apart(made.X, made.embedding, np.arange(20), np.arange(20, 40), n_nulls=20)
    plain = printed.Subject(made)
    assert printed.sections.answers.found_verdicts(plain) is None
    made.write_report(tmp_path / "r.html", verdicts=[verdict], scorecard=made.scorecard(["trustworthiness", "shepard"]))
    page = _Reader((tmp_path / "r.html").read_text())
    assert "Questions about groups" in " ".join(page.titles)


def test_a_section_is_added_by_one_line(made, tmp_path, monkeypatch):
    extra = lambda subject: printed.Section("Mine", f"<p>{subject.map.n_samples}</p>")  # noqa: E731
    monkeypatch.setattr("gnomon.maps.printed.write.SECTIONS", (*printed.SECTIONS[1:3], extra))
    made.write_report(tmp_path / "r.html")
    assert _Reader((tmp_path / "r.html").read_text()).titles[-1] == "3. Mine"


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 4])
def test_flat_maps_and_those_of_three_dimensions_are_drawn(n_dimensions):
    X = np.random.default_rng(1).normal(size=(60, 5))
    made = Map(X, X[:, :n_dimensions], n_jobs=1)
    body = printed.sections.about.overview(printed.Subject(made, made.scorecard("shepard"))).body
    assert ("<svg" in body) == (n_dimensions in (2, 3))


def test_maps_of_four_dimensions_without_labels_are_told_without_pictures():
    X = np.random.default_rng(1).normal(size=(60, 5))
    made = Map(X, X[:, :4], n_jobs=1)
    subject = printed.Subject(made, made.scorecard("shepard"))
    sections = {make.__name__: make(subject) for make in printed.SECTIONS if make.__name__ != "curves"}
    assert "<svg" not in sections["overview"].body + sections["points"].body
    assert sections["classes"] is None
    assert sections["axes"].body.count("<h3>") == 4


def test_an_axis_along_which_nothing_changes_says_so():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 3))
    for positions, n_none in ((draw.normal(size=(60, 2)), 2), (np.c_[X[:, 0], draw.normal(size=60)], 1), (X[:, :2], 0)):
        made = Map(X, positions, n_jobs=1)
        body = printed.sections.meaning.axes(printed.Subject(made, made.scorecard("shepard"))).body
        assert body.count("No feature changes along it beyond chance.") == n_none
        assert body.count("rank correlation") == 2 - n_none


def test_a_map_on_a_surface_is_told_by_the_scores_that_follow_it(brief, tmp_path):
    X = np.random.default_rng(1).normal(size=(80, 4))
    gn.map(X, output_metric="sphere", random_state=0, n_jobs=1, max_iter=50).write_report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "Distances on the map are those along its surface" in text
    assert "What changes along the axes" not in text


def test_a_steered_map_says_so_and_its_labels_are_no_evidence(brief, tmp_path):
    kind = np.repeat(["a", "b"], 40)
    X = np.random.default_rng(0).normal(size=(80, 5)) + (kind == "a")[:, None]
    made = gn.map(X, labels=kind, target=kind, n_jobs=1, max_iter=50)
    made.write_report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "steered by the target" in text
    assert ">steered<" in text


def test_the_text_says_the_same_sentences(made):
    facts, text = made.to_dict(), made.report()
    assert facts["verdict"]
    assert all(one["text"] in text for one in facts["verdict"])


def test_a_report_counts_what_is_missing_as_the_map_did():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=[*"abc"])
    table["kind"] = rng.choice(["u", "v", "w"], 60)
    table["customer"] = [f"name {i}" for i in range(60)]
    table.loc[:8, "a"] = table.loc[20:25, "kind"] = table.loc[30:40, "customer"] = None
    with pytest.warns(DataWarning, match="15 of 240 values are missing") as told:
        made = gn.map(table, "pca")
    sentence = next(str(one.message) for one in told if "are missing" in str(one.message)).removeprefix("map: ")
    assert sentence.endswith("6 missing values are categories, whose indicators say how likely each is.")
    subject = printed.Subject(made, made.scorecard(["trustworthiness"]))
    told = {one.__name__: one for one in printed.SECTIONS}
    page = html.unescape("".join(told[name](subject).body for name in ("data", "paragraph")))
    counts = re.findall(r"[\d,]+ of [\d,]+ values are missing", page)
    assert counts == ["15 of 240 values are missing"] * 3
    assert page.count(sentence) == 3  # facts, notes, paragraph for a paper


def test_report_page_and_printed_report_tell_distances_between_groups_alike():
    """Of a map that draws the farthest of three classes at 20 instead of 50; the Shepard correlation is high."""
    from gnomon.viewer.columns import evaluation_facts

    X = np.random.default_rng(0).normal(size=(90, 4))
    X[:, 0] += np.repeat([0.0, 10.0, 50.0], 30)
    Y = X[:, :2] - np.repeat([[0.0, 0.0], [30.0, 0.0]], [60, 30], axis=0)
    made = Map(X, Y, labels=np.repeat(["a", "b", "c"], 30), n_jobs=1)
    subject = printed.Subject(made, made.scorecard(["shepard", "trustworthiness"]))
    told = subject.verdict[-1].text
    assert told.startswith("Do not read distances between groups: one is drawn")
    assert subject.scores["shepard"] > 0.9
    assert told in str(made.report())
    facts = evaluation_facts(made.evaluate(), 90, lambda column: column, name="evaluation")
    assert facts.header["trust"]["verdict"][-1] == ["poor", told]
    read = printed.sections.reading.cautions(subject).body
    assert re.search(r'class="poor">do not read: </b>distances between groups \(one is drawn', read)
    assert "over the whole map (rank correlation of distances 0.9" in read
