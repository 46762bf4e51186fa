"""Controls that turn a text around, or that nobody sees, are shown in names wherever these are read; names stay."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

import gnomon as gn
from gnomon._printed import harmless, harmless_texts, isolated
from gnomon.cli.outputs import tell_notes
from gnomon.maps.printed.markup import tag
from gnomon.viewer.payload import Payload

TURNING = "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
HIDDEN = "\u200b\ufeff\u2060\u2028\x1b\x85\x07"
ODD = re.compile(f"[{TURNING}{HIDDEN}]")


@pytest.mark.parametrize("odd", TURNING + HIDDEN)
def test_each_control_stands_as_json_writes_it(odd):
    told = harmless(f"a{odd}b")
    assert told == f"a\\u{ord(odd):04x}b"
    assert json.loads(f'"{told}"') == f"a{odd}b"
    assert harmless(told) == told


@pytest.mark.parametrize(
    "text", ["naïve", "שלום\u200f", "نام\u200cه", "👩\u200d🔬", "❤\ufe0f", "漢字", "a\tb\nc", "क्\u200dष"]
)
def test_letters_of_all_scripts_and_what_joins_them_stay(text):
    assert harmless(text) == text


def test_what_is_isolated_stays_and_nothing_else_by_marks_of_its_own():
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert isolated("abc 1") == "abc 1"
    kept = f"a, {isolated('שלום')}, {isolated('سلام 2')} and 3 more"
    assert harmless(kept) == kept
    for told, shown in {
        "\u2068ab\u2069": "\\u2068ab\\u2069",  # there is nothing to isolate, and nobody would see it
        "\u2068ש\u202eab\u2069": "\\u2068ש\\u202eab\\u2069",
        "\u2068ש\u200b\u2069": "\u2068ש\\u200b\u2069",
        isolated("ש\u2069ab"): "\u2068ש\u2069ab\\u2069",
        isolated("\u2068שab"): "\\u2068\u2068שab\u2069",
        isolated("ש\nab"): "\\u2068ש\nab\\u2069",
    }.items():
        assert harmless(told) == shown
        assert harmless(shown) == shown


def test_documents_are_harmless_in_keys_lists_and_tuples():
    found = harmless_texts({"a\u202e": ["b\u2066", ("c\x1b", 1.5, None)], "d": True})
    assert found == {"a\\u202e": ["b\\u2066", ["c\\u001b", 1.5, None]], "d": True}


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    kind = np.arange(90) // 45
    X = rng.normal(size=(90, 5)) + 5 * kind[:, None]
    return gn.map(
        X,
        "pca",
        labels=np.array(["one\u202eeno", "two\u2066\x1b[31m"])[kind],
        label_name="ki\u202dnd",
        feature_names=[f"f\u202b{j}\u200b" for j in range(5)],
        point_names=[f"p\u2068{i}" for i in range(90)],
        metadata={"m\u202ax": np.array(["u\u2067", "v"])[kind]},
        name="t\u202eitle",
    )


def test_printed_answers_hold_none(made):
    asked = made.select("ki\u202dnd=one\u202eeno")
    printed = [made.report(), str(made.why(0)), str(made.contrast(asked)), str(made.captions()), str(made.profiles())]
    printed += [str(made.verdicts()), str(made.importance()), made.explain().summary(), str(made.evaluate())]
    printed += [made.clusters().summary(), made.why(0)._repr_html_()]
    for text in printed:
        assert not ODD.search(text), text
    assert "f\\u202b" in str(made.why(0))
    assert made.feature_names[0] == "f\u202b0\u200b"  # the name itself stays


def test_the_page_and_its_data_hold_none(made, tmp_path):
    made.to_html(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert not ODD.search(re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL))
    payload = Payload(header={"features": {"names": made.feature_names}, "captions": {"one\u202eeno": "x"}})
    group, packed = next(payload.packed())
    header = json.loads(gzip.decompress(packed))
    assert group == "header"
    assert header["features"]["names"][0] == "f\\u202b0\\u200b"
    assert [*header["captions"]] == ["one\\u202eeno"]


def test_elements_of_a_report_hold_none():
    found = tag("p", "one\u202eeno", tag("b", "\u2066<"), title="a\u202d")
    assert found == '<p title="a\\u202d">one\\u202eeno<b>\\u2066&lt;</b></p>'


def test_figures_hold_none(made, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from gnomon.plot import plot_answer, save_png
    from gnomon.plot.fonts import add_fonts

    save_png(tmp_path / "m.png", embedding=made.embedding, labels=made.labels, title=made.name)
    for display in (made.plot(title=made.name), plot_answer(made.why(0))):
        display.figure_.canvas.draw()
        for text in display.figure_.findobj(Text):
            assert not ODD.search(text.get_text())

    figure = Figure()
    text = figure.text(0.5, 0.5, "one\u202eeno")
    add_fonts(figure)
    assert text.get_text() == "one\\u202eeno"


def test_commands_tell_none(capsys):
    tell_notes(["of one\u202eeno \x1b[31m"], {}, warned=[])
    assert capsys.readouterr().out == "\nNotes\n  of one\\u202eeno \\u001b[31m\n"
