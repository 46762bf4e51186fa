"""The studies run from end to end on tiny data, without PyTorch, and say what they need."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from studies.embedders import CLASSICAL, MODERN, available, embed
from studies.network import Epoch, Snapshot, train
from studies.output import parse, parser, write_json
from studies.reading import read_latent_space
from studies.tables import load_rows

from gnomon.exceptions import MissingDependencyError
from studies import (
    all_methods,
    conjecture_one,
    effective_loss,
    gradient_pca,
    latent_space,
    metric_table,
    outlier_directions,
    pca_dimensions,
    sampled_frobenius,
    two_kernel_maps,
    video_background,
)

PNG = b"\x89PNG"


def test_the_metric_table_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--sets", "digits", "swiss_roll", "--rows", "80", "--seeds", "1"]
    assert metric_table.main([*arguments, "--classical", "pca", "isomap", "--modern", "tsne", "umap"]) == 0
    report = json.loads((tmp_path / "metric_table.json").read_text())
    table = report["tables"]["maps as they are"]
    assert table["data_sets"] == ["digits", "swiss_roll"]
    assert table["methods"] == ["pca", "isomap", "tsne", "umap"]
    assert table["best"] == table["metrics"][0]
    assert table["phi"] == sorted(table["phi"], reverse=True)
    assert (tmp_path / "metric_table.png").read_bytes().startswith(PNG)
    assert "95% interval" in capsys.readouterr().out


def test_all_methods_from_end_to_end(tmp_path):
    arguments = ["--out", str(tmp_path), "--set", "digits", "--rows", "80"]
    assert all_methods.main([*arguments, "--methods", "pca", "two_kernel_pca", "umap"]) == 0
    report = json.loads((tmp_path / "methods.json").read_text())
    assert list(report["methods"]) == ["pca", "two_kernel_pca", "umap"]
    assert all(0.5 < one["trustworthiness"] <= 1 for one in report["methods"].values())
    picture = (tmp_path / "methods.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) < 100_000


@pytest.mark.slow
def test_the_two_kernel_maps_from_end_to_end(tmp_path, capsys):
    assert two_kernel_maps.main(["--out", str(tmp_path), "--set", "digits", "--rows", "200"]) == 0
    runs = json.loads((tmp_path / "two_kernel_maps.json").read_text())["runs"]
    assert [(run["method"], run["init"]) for run in runs[:2]] == [
        ("two-kernel PCA", "pca"),
        ("two-kernel PCA", "random"),
    ]
    assert all(0 <= run["knn_accuracy"] <= 1 for run in runs)
    assert len(runs) == 2 * len(two_kernel_maps.METHODS)
    assert (tmp_path / "two_kernel_maps.png").read_bytes().startswith(PNG)
    assert "two-kernel LLE in one stage" in capsys.readouterr().out


@pytest.mark.slow
def test_the_sampled_frobenius_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--sets", "digits", "--rows", "100", "--seeds", "1"]
    assert sampled_frobenius.main(arguments) == 0
    report = json.loads((tmp_path / "sampled_frobenius.json").read_text())
    assert list(report["means"]["digits"]) == list(sampled_frobenius.METHODS)
    assert all(0 <= score <= 1 for row in report["means"]["digits"].values() for score in row.values())
    assert report["means"]["digits"]["t-SNE"]["t-SNE, layout"] == 1.0
    assert (tmp_path / "sampled_frobenius.png").read_bytes().startswith(PNG)
    assert "the Frobenius loss nearer to UMAP's map" in capsys.readouterr().out


@pytest.mark.slow
def test_umaps_weights_make_umaps_map_of_real_data_and_drawing_alone_does_not(real_data, tmp_path):
    arguments = ["--data", str(real_data), "--out", str(tmp_path), "--sets", "mnist", "--rows", "1000", "--seeds", "1"]
    assert sampled_frobenius.main(arguments) == 0
    means = json.loads((tmp_path / "sampled_frobenius.json").read_text())["means"]["mnist"]
    shared = {name: row["UMAP, neighbours"] for name, row in means.items()}
    assert shared["memberships, sampled"] < shared["memberships, all pairs"]
    assert min(shared["UMAP's weights, all pairs"], shared["UMAP's weights, sampled"]) > 0.8 * shared["UMAP again"]
    assert shared["memberships, all pairs"] < 0.8 * shared["UMAP again"]


@pytest.mark.slow
def test_conjecture_one_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--sets", "digits", "swiss_roll", "--rows", "120", "--permutations", "2"]
    assert conjecture_one.main(arguments) == 0
    report = json.loads((tmp_path / "conjecture_one.json").read_text())
    assert [row["stage"] for row in report["table"]][::4] == list(conjecture_one.STAGES)
    for row in report["table"]:
        assert row["low"] <= row["cosine"] <= row["high"]
    state = report["data_sets"]["digits"]["alignments"]["membership"]["run/random/50"]
    assert state["cosine"] > state["null_mean"]
    assert set(report["data_sets"]["swiss_roll"]["likeness"]) == {"procrustes", "knn"}
    assert (tmp_path / "conjecture_one.png").read_bytes().startswith(PNG)
    assert "null" in capsys.readouterr().out


@pytest.mark.parametrize("name", list(CLASSICAL))
def test_every_classical_method_maps(name):
    X, labels = load_rows("digits", 60)
    assert X.shape == (60, 50)
    assert len(labels) == 60
    Y = embed(name, X, seed=0)
    assert Y.shape == (60, 2)
    assert np.isfinite(Y).all()


def test_modern_methods_are_those_of_the_catalogue():
    from gnomon.methods import METHODS

    assert available() == list(MODERN)
    assert set(available()) <= {card.name for card in METHODS}
    with pytest.raises(ValueError, match=r"no method 'magic'; there are pca, .*, umap"):
        embed("magic", np.zeros((10, 3), np.float32), seed=0)


def _latent(digits, epoch, noise):
    """A latent space in which each digit has a unit of its own, more or less."""
    rng = np.random.default_rng(epoch)
    return np.eye(16)[digits] + noise * rng.normal(size=(len(digits), 16))


def test_a_spoiled_latent_space_is_seen_in_its_reading():
    digits = np.repeat(np.arange(10), 30)
    good = read_latent_space(_latent(digits, 0, 0.1).astype(np.float32), digits)
    twins = np.array(latent_space.TWINS)
    merged = np.minimum(digits, twins[digits])
    spoiled = read_latent_space(_latent(merged, 1, 0.1).astype(np.float32), digits)
    assert good.figures["visible_clusters"] == 10
    assert spoiled.figures["visible_clusters"] == 5
    assert spoiled.figures["visible_separation"] > 0.5
    assert good.figures["knn_accuracy"] > 0.95 > 0.7 > spoiled.figures["knn_accuracy"]
    assert good.figures["worst_pair_told_apart"] > 0.95 > 0.6 > spoiled.figures["worst_pair_told_apart"]
    assert twins[spoiled.worst_pair[0]] == spoiled.worst_pair[1]
    assert set(good.units[:10].tolist()) == set(range(10))
    np.testing.assert_allclose(good.separation[good.units == 3, 3], 1, atol=0.05)


@pytest.mark.slow
def test_the_latent_space_from_end_to_end(tmp_path, monkeypatch, capsys):
    """With a network that needs no training."""

    def snapshots(pictures, labels, held_out, held_out_labels, epochs, **options):
        for number in range(len(epochs) + 1):
            latent = _latent(held_out_labels, number, 0.3).astype(np.float32)
            predicted = latent[:, :10].argmax(axis=1)
            yield Snapshot(number, latent, latent[:, :10] ** 2, predicted, float(np.mean(predicted == held_out_labels)))

    rng = np.random.default_rng(0)
    X = rng.integers(0, 255, (300, 64)).astype(np.uint8)
    np.savez(tmp_path / "mnist.npz", X=X, y=np.arange(300) % 10, feature_shape=np.array([8, 8]))
    monkeypatch.setattr(latent_space, "train", snapshots)
    monkeypatch.setattr(latent_space, "EPOCHS", latent_space.EPOCHS[1:3])
    monkeypatch.setenv("GNOMON_DATA", "")
    assert latent_space.main(["--data", str(tmp_path), "--out", str(tmp_path), "--train", "50", "--test", "200"]) == 0
    report = json.loads((tmp_path / "latent_space.json").read_text())
    assert len(report["epochs"]) == len(latent_space.EPOCHS) + 1
    assert report["epochs"][0]["knn_accuracy"] > 0.8
    assert (tmp_path / "latent_space.png").read_bytes().startswith(PNG)
    assert "worst pair told apart" in capsys.readouterr().out


def test_spoiled_labels_are_as_stated():
    true = np.arange(10_000) % 10
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(Epoch().labels(true, 10, rng), true)
    random = Epoch(wrong_labels=0.9).labels(true, 10, rng)
    assert np.mean(random == true) == pytest.approx(0.19, abs=0.02)  # a tenth of the random ones are right
    twins = np.array(latent_space.TWINS)
    np.testing.assert_array_equal(twins[twins], np.arange(10))
    swapped = Epoch(twins=latent_space.TWINS).labels(true, 10, rng)
    assert np.mean(swapped == true) == pytest.approx(0.5, abs=0.02)
    assert np.all((swapped == true) | (swapped == twins[true]))


def test_without_pytorch_the_install_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    nothing = np.zeros((1, 8, 8), np.uint8)
    with pytest.raises(MissingDependencyError, match=r"the package torch must be installed .* Run: pip install"):
        next(train(nothing, np.zeros(1, int), nothing, np.zeros(1, int), [Epoch()]))


def test_figures_that_are_not_finite_are_null(tmp_path):
    options = parse(parser("name", "What?"), ["--out", str(tmp_path / "new" / "folder")])
    path = write_json(options.out, "figures", {"a": np.array([1.0, np.nan]), "b": {2: np.float32(0.5)}, "c": None})
    assert json.loads(path.read_text()) == {"a": [1.0, None], "b": {"2": 0.5}, "c": None}


@pytest.mark.slow
def test_gradient_pca_from_end_to_end(tmp_path):
    arguments = ["--out", str(tmp_path), "--set", "digits", "--rows", "120"]
    assert gradient_pca.main(arguments) == 0
    report = json.loads((tmp_path / "gradient_pca.json").read_text())
    for step in ("safe", "babylonian"):
        assert float(report["descents"][step]["error_of_the_map"]) < 1e-6
    assert report["descents"]["safe"]["loss_never_rose"]
    for figures in report["low_rank"].values():
        assert figures["broken_condition"].startswith("0 of ")
        assert figures["broken_certificate"].startswith("0 of ")
    assert not report["low_rank"]["nystrom, 20 columns"]["broken_printed_condition"].startswith("0 of ")
    for name in ("gradient_pca", "gradient_pca_low_rank"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)


def test_effective_loss_from_end_to_end(tmp_path):
    assert effective_loss.main(["--out", str(tmp_path), "--set", "digits", "--rows", "150"]) == 0
    report = json.loads((tmp_path / "effective_loss.json").read_text())
    maps = report["of_the_maps"]
    assert report["repulsion_ratio"] > 2
    assert maps["Minimum of the stated loss"]["stated"] < maps["UMAP"]["stated"]
    assert maps["Minimum of the sampled loss"]["sampled"] < maps["UMAP"]["sampled"]
    assert report["along_the_run"]["sampled"][-1] < report["along_the_run"]["sampled"][0]
    assert (tmp_path / "effective_loss.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_the_video_backgrounds_from_end_to_end(tmp_path, capsys):
    arguments = ["--out", str(tmp_path), "--frames", "40", "--size", "16", "24", "--tol", "1e-4", "--jobs", "1"]
    assert video_background.main(arguments) == 0
    report = json.loads((tmp_path / "video_background.json").read_text())
    street = report["videos"]["street"]
    scores = street["methods"]
    assert scores["robust_pca"]["foreground_f1"] > scores["pca"]["foreground_f1"] + 0.05
    assert scores["leading"]["background_error"] < scores["pca"]["background_error"]
    assert street["loss"] < street["plain_program"]["loss"]
    plain = report["videos"]["plain"]["methods"]
    assert plain["robust_pca"]["background_error"] < 0.7 * plain["pca"]["background_error"]
    assert (tmp_path / "video_background.png").read_bytes().startswith(PNG)
    assert "street: 40 frames of 384 pixels" in capsys.readouterr().out


def test_pca_dimensions_from_end_to_end(tmp_path, capsys):
    assert pca_dimensions.main(["--out", str(tmp_path), "--set", "digits", "--rows", "120", "--samples", "1"]) == 0
    report = json.loads((tmp_path / "pca_dimensions.json").read_text())
    scores = report["scores"]
    assert report["dimensions"][0] == 2
    assert scores["PCA"][-1] == pytest.approx(1, abs=0.01)  # all directions: distances are those of the data
    np.testing.assert_allclose(scores["gradient PCA, 100 iterations"][0], scores["PCA"][0], atol=0.01)
    assert scores["random projection"][3] < scores["PCA"][3]
    assert report["best_t"] in pca_dimensions._CANDIDATES
    assert (tmp_path / "pca_dimensions.png").read_bytes().startswith(PNG)
    assert "nearest to print: t = " in capsys.readouterr().out


def test_the_share_of_common_neighbors_counts_sets():
    one = np.array([[1, 2, 3], [0, 2, 3]])
    assert pca_dimensions.t_similarity(one, one[:, ::-1]) == 1.0
    assert pca_dimensions.t_similarity(one, np.array([[1, 4, 5], [0, 3, 2]])) == pytest.approx(4 / 6)


def test_outlier_directions_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(outlier_directions, "_SHARES", (0.0, 0.05))
    assert outlier_directions.main(["--out", str(tmp_path), "--rows", "100", "--draws", "1"]) == 0
    angles = json.loads((tmp_path / "outlier_directions.json").read_text())["angles"]
    assert set(angles) == {"entries", "rows"}
    assert angles["entries"]["0.0"]["PCA"]["median"] < 3
    assert angles["entries"]["0.05"]["robust PCA"]["median"] < 5 < angles["entries"]["0.05"]["PCA"]["median"]
    assert (tmp_path / "outlier_directions.png").read_bytes().startswith(PNG)
