"""Long names on a page are cut such that they stay different."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/gnomon/viewer/static/drawing/shorten.js"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def shortened(tmp_path):
    """A function that cuts names to a number of letters under node, each beside all."""

    def cut(names, limit):
        call = f"const names = {json.dumps(names)}; const cut = names.map((one) => shortenName(one, {limit}, names));"
        (tmp_path / "cut.mjs").write_text(f"{SOURCE.read_text()}{call} console.log(JSON.stringify(cut));")
        done = subprocess.run([shutil.which("node"), tmp_path / "cut.mjs"], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    return cut


def test_names_that_end_differently_keep_their_ends(shortened):
    names = [f"Department of Surgery, ward {ward}" for ward in (1, 2, 10)]
    assert shortened(names, 24) == [f"Department of …{end}" for end in ("y, ward 1", "y, ward 2", ", ward 10")]


def test_names_that_differ_in_their_middle_show_it(shortened):
    names = [f"Department of Surgery, ward {ward}, beds 1 to 12 of the wing" for ward in ("North", "South")]
    assert shortened(names, 24) == ["Depart…North, beds 1 to ", "Depart…South, beds 1 to "]


def test_short_names_stay_and_no_name_is_longer_than_asked(shortened):
    names = ["a", "x" * 24, "x" * 25, "\N{GRINNING FACE}" * 30, "x" * 12 + "y" + "x" * 30]
    cut = shortened(names, 24)
    assert cut[:2] == names[:2]
    assert max(map(len, cut)) == 24
    assert len({*cut}) == len(names)
