"""What a fit would take is told from the shape of a table, and rises with it."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon._run import running

LINEAR = ["umap", "tsne", "pca", "largevis", "pacmap", "trimap", "laplacian_eigenmaps", "densmap", "featmap"]
PAIRS = ["sne", "symmetric_sne", "kernel_pca", "classical_mds", "mds", "isomap", "phate", "lle", "sketch_map"]


@pytest.mark.parametrize("method", [*LINEAR, *PAIRS])
def test_a_forecast_rises_with_rows_and_columns(method):
    by_rows = [gnomon.forecast((n, 50), method).n_bytes for n in (1000, 4000, 30_000, 100_000)]
    assert by_rows == sorted(by_rows)
    assert by_rows[0] < by_rows[-1]
    by_columns = [gnomon.forecast((6000, d), method).n_bytes for d in (10, 50, 300, 784)]
    assert by_columns == sorted(by_columns)


@pytest.mark.parametrize("method", ["umap", "tsne", "densmap", "featmap", "trimap", "laplacian_eigenmaps"])
def test_the_peak_is_that_of_the_greediest_stage(method):
    found = gnomon.forecast((5000, 20), method)
    assert found.n_bytes == max(found.stages.values())
    assert all(name in str(found) for name in found.stages)
    assert "MB beyond the table at the peak" in str(found)


def test_stages_have_the_names_of_the_timings():
    X = np.random.default_rng(0).normal(size=(200, 4))
    for estimator in (gnomon.UMAP(max_iter=5), gnomon.TSNE(max_iter=5), gnomon.PaCMAP(max_iter=5)):
        assert set(estimator.foresee(200, 4).stages) == set(estimator.fit(X).timings_)


def test_a_table_is_as_good_as_its_shape():
    X = np.zeros((3000, 40))
    told = gnomon.forecast(X, n_neighbors=30)
    assert told == gnomon.forecast((3000, 40), n_neighbors=30) == gnomon.forecast(X, gnomon.UMAP(n_neighbors=30))
    assert told.n_bytes > gnomon.forecast(X, n_neighbors=15).n_bytes
    sparse = sp.random_array((20_000, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    assert gnomon.forecast(sparse).n_bytes < gnomon.forecast((20_000, 40)).n_bytes


def test_given_distances_are_not_searched():
    assert gnomon.forecast((5000, 5000), metric="precomputed").n_bytes < gnomon.forecast((5000, 5000)).n_bytes


@pytest.mark.parametrize(
    ("X", "method", "parameters", "error", "text"),
    [
        ((5, 3, 2), "umap", {}, ValueError, "X must be a table or its shape"),
        ([[1.0]], "umap", {}, ValueError, r"X must be a table or its shape, .* \(list\)"),
        ((1, 3), "umap", {}, ValueError, "n_samples"),
        ((10, 0), "umap", {}, ValueError, "n_features"),
        ((10, 3), "umap", {"perplexity": 3}, TypeError, "perplexity must be a parameter of umap"),
        ((10, 3), "umap", {"n_neighbors": 0}, ValueError, "n_neighbors=0 must be"),
        ((10, 3), "nothing", {}, ValueError, "nothing"),
        ((10, 3), object(), {}, TypeError, "must be one of gnomon's methods"),
        ((10, 3), gnomon.UMAP(), {"n_neighbors": 3}, ValueError, "n_neighbors must be left out"),
        ((10, 3), gnomon.NeighborEmbedding(), {}, ValueError, "must be one that tells what it takes"),
        ((10, 3), "umap", {"then": ("film",)}, ValueError, "then=.* must be a sequence of 'explanation'"),
        ((10, 3), "umap", {"then": "page"}, ValueError, "then=.* must be a sequence"),
    ],
)
def test_bad_input_is_refused(X, method, parameters, error, text):
    with pytest.raises(error, match=text):
        gnomon.forecast(X, method, **parameters)


def test_a_map_of_landmarks_is_forecast_as_it_is_made(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    told = gnomon.forecast(X, n_fitted=120, max_iter=5)
    made = gnomon.map(X, n_fitted=120, max_iter=5)
    assert set(made.timings) <= set(told.durations)
    assert told == gnomon.forecast((400, 5), n_fitted=120, max_iter=5)
    assert told.durations["layout"] == gnomon.forecast((120, 5), max_iter=5).durations["layout"]
    assert (told.n_samples, told.n_landmarks, told.n_workers) == (400, 120, None)


def test_a_map_of_landmarks_is_refused_by_what_is_forecast():
    X = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    needed = gnomon.forecast(X, n_fitted=100).n_bytes
    assert gnomon.map(X, n_fitted=100, max_iter=2, memory_budget=needed * 1.001).n_samples == 500
    with pytest.raises(MemoryError, match="100 landmarks"):
        gnomon.map(X, n_fitted=100, max_iter=2, memory_budget=needed * 0.999)


def test_workers_take_blocks_and_their_memory_from_the_client():
    alone = gnomon.forecast((10**7, 50), n_fitted=10_000, then=("evaluation",))
    shared = gnomon.forecast((10**7, 50), n_fitted=10_000, then=("evaluation",), n_workers=8)
    assert shared.n_bytes < alone.n_bytes
    assert shared.seconds == pytest.approx(alone.seconds)
    assert shared.elapsed[1] < alone.elapsed[1] / 4
    assert shared.worker_bytes == gnomon.forecast((10**9, 50), n_fitted=10_000, n_workers=64).worker_bytes
    assert shared.messages["rows"] == pytest.approx(10**7 * 50 * 4 / 8)
    assert "8 workers" in str(shared)
    assert "workers" not in str(alone)


def test_each_thing_that_follows_has_its_time_and_memory():
    sizes = {"n_fitted": 5000, "n_workers": 2}
    bare, whole = (gnomon.forecast((10**6, 20), then=then, **sizes) for then in ((), ("file", "page", "explanation")))
    assert list(whole.durations)[-3:] == ["explanation", "page", "file"]
    assert whole.seconds > bare.seconds
    assert whole.stages.keys() - bare.stages.keys() == {"explanation", "page", "file"}
    assert whole.n_bytes == max(whole.stages.values())
    assert whole.stages["positions"] == bare.stages["positions"]
    assert whole.stages["file"] - gnomon.forecast((10**6, 20), then=("file",), **sizes).stages["file"] == 73e6


def test_what_ends_is_said():
    text = str(gnomon.forecast((10**9, 50), n_fitted=10_000))
    assert "10,000 landmarks are fitted and 999,990,000 rows placed" in text
    assert "ends at 1,000,000,000 rows: positions in the memory of the client" in text


def test_a_stored_table_is_forecast_with_as_many_landmarks_as_fit(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(400_000, 50))
    assert not hasattr(gnomon.forecast(X), "n_landmarks")
    needed = gnomon.forecast(X.shape, n_fitted=10_000).n_bytes
    for budget, count in ((1.001 * needed, 10_000), (0.999 * needed, 5000)):
        with running(memory=budget):
            found = gnomon.forecast(X)
        assert found.n_landmarks == count
        assert found.n_bytes <= budget


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"n_fitted": 2}, "n_fitted=2 must be"),
        ({"n_fitted": 11}, "n_fitted=11 must be at most n_samples=10"),
        ({"n_fitted": 5, "n_workers": 0}, "n_workers=0 must be"),
        ({"n_workers": 2}, "n_workers=2 must be of a map of landmarks"),
        ({"n_fitted": 5, "method": gnomon.NeighborEmbedding()}, "must be one that tells what it takes"),
    ],
)
def test_landmarks_and_workers_are_checked(given, text):
    with pytest.raises(ValueError, match=text):
        gnomon.forecast((10, 3), **given)


def test_a_map_of_landmarks_fills_a_long_silence_while_rows_are_placed(monkeypatch, capsys):
    from gnomon import _progress
    from gnomon.maps.landmarks import make

    place = make.place_all

    def slowly(*given):
        time.sleep(0.3)
        return place(*given)

    monkeypatch.setattr(_progress, "_SILENCE", 0.05)
    monkeypatch.setattr(make, "place_all", slowly)
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    gnomon.map(X, n_fitted=100, max_iter=2, verbose=True)
    assert any("map: " in line and "s so far" in line for line in capsys.readouterr().err.splitlines())


def test_a_verbose_map_of_landmarks_tells_its_forecast_before_it_begins(capsys):
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    gnomon.map(X, n_fitted=100, max_iter=2, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "100 landmarks are fitted and 200 rows placed"
    told, placed = (next(i for i, line in enumerate(lines) if line.startswith(text)) for text in ("about ", "map: pos"))
    assert told < placed
    gnomon.map(X, n_fitted=100, max_iter=2)
    assert capsys.readouterr().err == ""
