"""Data sets by name: where they are looked for, and what is said when they are nowhere."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets

from gnomon import datasets
from gnomon.data import open_dataset
from gnomon.data.dataset import first_few


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Point both folders into an empty place and cut the network."""
    monkeypatch.delenv("GNOMON_DATA", raising=False)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    calls = []

    def offline(name, **options):
        calls.append(name)
        raise OSError("Network is unreachable")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    return SimpleNamespace(root=tmp_path, cache=tmp_path / "cache", calls=calls)


def test_small_ones_need_no_network():
    digits, iris = datasets.load_digits(), datasets.load_iris()
    assert digits.X.shape == (1797, 64)
    assert digits.images.shape == (1797, 8, 8)
    assert digits.images.max() == 255
    assert len(digits.feature_names) == 64
    assert set(digits.labels) == set("0123456789")
    assert iris.X.shape == (150, 4)
    assert set(iris.labels) == {"setosa", "versicolor", "virginica"}


def test_small_ones_are_those_of_scikit_learn_wherever_it_keeps_them(monkeypatch):
    digits, iris = datasets.load_digits(), datasets.load_iris()
    known = sklearn.datasets.load_digits(), sklearn.datasets.load_iris()
    for elsewhere in (False, True):
        np.testing.assert_array_equal(digits.X, known[0].data)
        np.testing.assert_array_equal(digits.labels, known[0].target.astype(str))
        np.testing.assert_array_equal(iris.X, known[1].data)
        np.testing.assert_array_equal(iris.labels, known[1].target_names[known[1].target])
        assert iris.feature_names == known[1].feature_names
        if not elsewhere:
            monkeypatch.setattr("gnomon.data.datasets.find_spec", lambda _: None)
            digits, iris = datasets.load_digits(), datasets.load_iris()


def test_small_ones_do_not_import_scikit_learn():
    code = "import sys; from gnomon.data import datasets; datasets.load_digits(); datasets.load_iris(); "
    code += "print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_nowhere_says_where_it_looked_and_what_to_do(places):
    with pytest.raises(FileNotFoundError, match=r"mnist\.npz.*Network is unreachable.*Set .* GNOMON_DATA") as caught:
        datasets.fetch_mnist()
    assert str(places.cache) in str(caught.value)
    with pytest.raises(FileNotFoundError, match="OpenML does not have it"):
        datasets.fetch_paul15()


def test_the_folder_comes_before_the_cache(places, monkeypatch):
    monkeypatch.setenv("GNOMON_DATA", str(places.root))
    places.cache.mkdir()
    np.savez(places.cache / "mnist.npz", X=np.zeros((1, 4), np.uint8))
    assert datasets.fetch_mnist().n_samples == 1
    np.savez(places.root / "mnist.npz", X=np.zeros((2, 4), np.uint8), feature_shape=[2, 2])
    data = datasets.fetch_mnist()
    assert data.n_samples == 2
    assert data.images.shape == (2, 2, 2)
    assert data.source == "mnist"
    assert places.calls == []


def test_a_download_is_kept_in_the_cache(places, monkeypatch):
    def online(name, **options):
        places.calls.append(name)
        return SimpleNamespace(data=np.full((2, 784), 7.0), target=np.array(["9", "0"]))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", online)
    first, second = datasets.fetch_fashion_mnist(), datasets.fetch_fashion_mnist()
    assert places.calls == ["Fashion-MNIST"]
    assert os.listdir(places.cache) == ["fashion_mnist.npz"]
    for data in (first, second):
        assert data.X.dtype == np.uint8
        assert data.labels.tolist() == ["Ankle boot", "T-shirt"]
        assert data.image_shape == (28, 28)


def test_f87_a_download_survives_a_cache_that_cannot_be_written(places, monkeypatch, caplog):
    places.cache.write_text("a file where the folder should be")
    bunch = SimpleNamespace(data=np.full((2, 784), 7.0), target=np.array(["9", "0"]))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda name, **options: bunch)
    assert datasets.fetch_mnist().n_samples == 2
    assert "cannot be kept in the cache" in caplog.text


def test_f87_no_home(monkeypatch):
    monkeypatch.delenv("GNOMON_CACHE")
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    with pytest.raises(FileNotFoundError, match="nowhere: GNOMON_DATA is not set"):
        datasets.fetch_mnist()


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", ".cache/gnomon"), ("darwin", "Library/Caches/gnomon"), ("win32", "AppData/Local/gnomon/Cache")],
)
def test_cache_folder_of_the_platform(monkeypatch, tmp_path, platform, folder):
    for name in ("GNOMON_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(FileNotFoundError, match=str(tmp_path / folder / "pbmc4k.npz")):
        datasets.fetch_pbmc4k()


def test_by_name():
    assert open_dataset("digits").source == "digits"
    assert datasets.load_dataset("iris").n_samples == 150
    with pytest.raises(ValueError, match="Did you mean 'fashion_mnist'"):
        datasets.load_dataset("fashion-mnists")
    with pytest.raises(TypeError, match=r"load_dataset: name=5 must be a text \(found int\)"):
        datasets.load_dataset(5)
    with pytest.raises(ValueError, match="labels='colour' must be 'species' or left out"):
        open_dataset("iris", labels="colour")


def test_a_file_comes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iris").touch()
    with pytest.raises(ValueError, match="its name has no ending"):
        open_dataset("iris")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("mnist", (70_000, 784)),
        ("paul15", (2730, 2000)),
        ("pbmc4k", (4271, 2000)),
        ("pbmc68k_reduced", (700, 765)),
        ("cifar10_sample", (5000, 3072)),
    ],
)
def test_the_real_files(name, shape, real_folder, monkeypatch):
    monkeypatch.setenv("GNOMON_DATA", real_folder)
    data = datasets.load_dataset(name)
    assert data.X.shape == shape
    assert len(data.labels) == shape[0]


@pytest.fixture(scope="module")
def real_folder():
    folder = os.environ.get("GNOMON_DATA")
    if not folder:
        pytest.skip("needs the real data in GNOMON_DATA")
    return folder


def test_reading_tables_imports_nothing_heavy():
    code = "import sys, gnomon.data, gnomon.datasets; print([m for m in sys.modules if m in ('sklearn', 'pandas')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("n", "told"),
    [(1, "a0"), (3, "a0; a1; a2"), (4, "a0; a1; a2, and 1 more column"), (1203, "a0; a1; a2, and 1,200 more columns")],
)
def test_the_first_few_are_joined_and_the_others_counted(n, told):
    texts = [f"a{i}" for i in range(n)]
    assert first_few(texts, 3, of="column", between="; ", before=", and") == told
    assert first_few(texts, 3) == told.replace(";", ",").replace(", and", " and").partition(" column")[0]


def test_names_written_from_the_right_stand_in_the_order_of_the_list():
    assert first_few(["גיל", "אורך", "b"]) == "\u2068גיל\u2069, \u2068אורך\u2069, b"
    assert first_few(["a", "גיל", "אורך"], 2) == "a, \u2068גיל\u2069 and 1 more"
    assert first_few(["גיל"]) == "גיל"
