"""The scores of the newest maps: what they are for maps whose quality is known."""

import numpy as np
import pytest
from benchmarks.newest import MAPS, hierarchy, main, quality, winners


def test_a_table_is_a_perfect_map_of_itself_and_noise_is_by_chance():
    X, codes = hierarchy(480)
    perfect = quality(X, X, codes)
    assert all(perfect[name] == pytest.approx(1.0, abs=1e-6) for name in perfect if name != "knn")
    noise = quality(X, np.random.default_rng(0).normal(size=(480, 2)), codes)
    assert noise["triplets"] == pytest.approx(0.5, abs=0.03)
    assert abs(noise["ranks"]) < 0.05
    assert noise["preservation"] < 0.1


def test_groups_of_the_hierarchy_are_nearer_in_lower_levels():
    X, codes = hierarchy(480)
    apart = [np.linalg.norm(X[codes == 0].mean(0) - X[codes == other].mean(0)) for other in (1, 3, 12)]
    assert apart == sorted(apart)


def test_a_map_wins_where_it_is_as_good_as_both():
    base = dict.fromkeys(("preservation", "trust", "knn", "ranks", "triplets", "centroids"), 0.5)
    better = {**base, "knn": 0.6, "ranks": 0.4, "centroids": 0.7}
    found = winners(
        {"a": {"TSNE": base, "UMAP": base, "new": better}, "b": {"TSNE": base, "UMAP": better, "new": base}}
    )
    assert found == {"new": {"local": 1, "global": 1, "both": 1, "sets": 2}}


def test_it_prints_and_writes_the_scores(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(MAPS, "TSNE", lambda X, seed: X[:, :2])
    monkeypatch.setitem(MAPS, "UMAP", lambda X, seed: X[:, 1 + seed : 3 + seed])
    assert (
        main(
            ["--sets", "wine", "--maps", "TSNE", "UMAP", "PCA", "--seeds", "2", "--json", str(tmp_path / "found.json")]
        )
        == 0
    )
    assert "## wine, 178 rows of 13 columns" in capsys.readouterr().out
    assert (tmp_path / "found.json").is_file()
