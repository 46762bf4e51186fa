"""Every public name of every room stands in the reference, which builds without a warning."""

import re
import subprocess
import sys
import zlib
from pathlib import Path
from runpy import run_path

import pytest

_DOCS = Path(__file__).parents[1] / "docs"
_REFERENCE = run_path(str(_DOCS / "reference.py"))
_ROOMS, _public, _listed, _key = (_REFERENCE[name] for name in ("ROOMS", "public_names", "listed_names", "key_of"))


def _wanted():
    return {f"{room}.{name}": _key(name, value) for room in _ROOMS for name, value in _public(room)}


def test_the_pages_of_the_reference_list_every_public_name():
    listed = _listed((_DOCS / "api.rst").read_text()) | _listed(_REFERENCE["rest_of_reference"]())
    assert [path for path, key in _wanted().items() if key not in listed] == []


def test_what_users_call_stands_on_the_first_page():
    """Names of `gnomon` itself are not left to the page of the rest."""
    rest = _REFERENCE["rest_of_reference"]()
    assert re.findall(r"^\.\. auto\w+:: (gnomon\.\w+)$", rest, re.MULTILINE) == []


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning_and_names_everything(tmp_path):
    pytest.importorskip("pydata_sphinx_theme")
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(_DOCS), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    inventory = (tmp_path / "objects.inv").read_bytes().split(b"\n", 4)[4]
    built = {line.split(" ", 1)[0] for line in zlib.decompress(inventory).decode().splitlines()}
    wanted = _wanted()  # which imports every room
    names = {key for path in built if path.startswith("gnomon.") for key in _keys(path)}
    assert [path for path, key in wanted.items() if key not in names] == []


def _keys(path):
    """Return what a name of the inventory stands for, as `_wanted` has it; nothing for members of classes."""
    room, _, name = path.rpartition(".")
    module = sys.modules.get(room)
    return [] if module is None or not hasattr(module, name) else [_key(name, getattr(module, name))]
