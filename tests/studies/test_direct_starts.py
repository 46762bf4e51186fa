import json

from studies import direct_starts


def test_the_study_compares_starts_at_all_and_half_the_iterations(tmp_path, monkeypatch):
    monkeypatch.setattr(direct_starts, "_TABLES", {"digits": 150})
    assert direct_starts.main(["--out", str(tmp_path), "--seeds", "1"]) == 0
    found = json.loads((tmp_path / "direct_starts.json").read_text())["digits"]
    for name in ("UMAP", "TSNE"):
        fits = found[name][0]
        assert len(fits) == 4
        assert fits["usual start, half the iterations"]["loss"] > fits["usual start"]["loss"] > 0.0
        for told, fit in fits.items():
            assert fit["cpu_seconds"] >= (found["start_seconds"] if told.startswith("direct") else 0.0)
