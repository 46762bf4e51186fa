"""A file is there whole or not at all."""

import os
import stat

import pytest

from gnomon._files import atomic_write, check_writable


def test_written_file_replaces_the_old_one(tmp_path):
    target = tmp_path / "map.html"
    target.write_text("old")
    target.chmod(0o640)
    with atomic_write(target, "w") as file:
        file.write("größe\n")
        assert target.read_text() == "old"
    assert target.read_bytes() == "größe\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["map.html"]


def test_a_new_file_has_ordinary_permissions(tmp_path):
    (tmp_path / "ordinary").touch()
    with atomic_write(tmp_path / "new") as file:
        file.write(b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def write_half(target, error):
    with atomic_write(target) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_f86_nothing_half_written_stays(tmp_path, error):
    target = tmp_path / "map.html"
    target.write_text("old")
    with pytest.raises(error):
        write_half(target, error)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["map.html"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "real")
    with atomic_write(link) as file:
        file.write(b"x")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"x"


def test_only_writing_modes(tmp_path):
    with pytest.raises(ValueError, match="'w' or 'wb'"), atomic_write(tmp_path / "x", "a"):
        pass


def test_f87_what_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch):
    check_writable(tmp_path / "fine.html")
    assert os.listdir(tmp_path) == []
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"map: output file .* must be in an existing folder"):
        check_writable(tmp_path / "missing" / "x.html", who="map")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_writable(tmp_path / "file" / "x.html")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError, match=r"must be writable \(Permission denied\)"):
        check_writable(tmp_path / "x.html")
