"""The study of maps without descent runs from end to end on tiny data."""

import json

from studies import direct_maps


def test_every_direct_map_has_its_excess(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(direct_maps, "TABLES", {"digits": direct_maps._Plan(80, 2, 2)})
    assert direct_maps.main(["--out", str(tmp_path), "--sets", "digits"]) == 0
    found = json.loads((tmp_path / "direct_maps.json").read_text())["digits"]
    assert len(found) == 2
    for one in found:
        assert min(one["at rest"]) >= one["least"] > 0
        assert min(one["UMAP"]) >= 0
        assert set(one["maps"]) == {*direct_maps.METHODS, "UMAP"}
        assert all(made["epsilon"] > -0.05 for made in one["maps"].values())
    assert "epsilon in percent" in capsys.readouterr().out
    assert (tmp_path / "direct_maps.png").stat().st_size > 5000
