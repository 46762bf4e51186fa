"""A released wheel holds what the one that was built holds."""

from __future__ import annotations

import runpy
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

_SOURCE = Path(__file__).parents[1] / "cmake" / "pack_wheel.py"


def test_the_same_files_with_the_same_rights_and_dates(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "zopfli", SimpleNamespace(ZipFile=zipfile.ZipFile))
    given = tmp_path / "gnomon-1-py3-none-any.whl"
    contents = {
        "gnomon/__init__.py": b"x = 1\n" * 400,
        "gnomon/_core.so": bytes(range(256)),
        "gnomon-1.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(given, "w", zipfile.ZIP_STORED) as wheel:
        for at, (name, content) in enumerate(contents.items()):
            entry = zipfile.ZipInfo(name, date_time=(2020 + at, 1, 2, 3, 4, 6))
            entry.external_attr = (0o100644 + 0o111 * name.endswith(".so")) << 16
            wheel.writestr(entry, content)

    runpy.run_path(str(_SOURCE))["main"](str(given), str(tmp_path / "dist"))

    packed = tmp_path / "dist" / given.name
    assert f"{given.stat().st_size:,} -> {packed.stat().st_size:,} bytes" in capsys.readouterr().out
    assert packed.stat().st_size < given.stat().st_size
    with zipfile.ZipFile(given) as before, zipfile.ZipFile(packed) as after:
        assert [(e.filename, e.date_time, e.external_attr) for e in after.infolist()] == [
            (e.filename, e.date_time, e.external_attr) for e in before.infolist()
        ]
        assert {e.compress_type for e in after.infolist()} == {zipfile.ZIP_DEFLATED}
        assert {name: after.read(name) for name in after.namelist()} == contents
