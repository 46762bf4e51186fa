"""The mosaic study runs from end to end and its grid keeps more than chance."""

import json

import pytest

from studies import picture_mosaic


def test_the_mosaic_from_end_to_end(tmp_path, capsys):
    assert picture_mosaic.main(["--out", str(tmp_path), "--set", "digits", "--rows", "150", "--method", "pca"]) == 0
    figures = json.loads((tmp_path / "picture_mosaic.json").read_text())["figures"]
    assert figures["map"]["same_label"] > figures["grid"]["same_label"] > 2 * figures["random grid"]["same_label"]
    assert (tmp_path / "picture_mosaic.png").read_bytes().startswith(b"\x89PNG")
    assert "random grid: same_label" in capsys.readouterr().out


def test_a_set_without_pictures_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="iris holds no pictures"):
        picture_mosaic.main(["--out", str(tmp_path), "--set", "iris"])
