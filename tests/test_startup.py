"""A fit begins soon: what it does not need is not loaded, and scikit-learn comes in whenever someone imports it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon

_PROGRAM = '''
import contextlib, json, pickle, sys

_HEAVY = ["sklearn", "pandas", "polars", "pyarrow", "joblib", "narwhals", "matplotlib", "numba", "torch"]
_HEAVY += [f"scipy.{part}" for part in ("stats", "optimize", "spatial", "special", "fft", "interpolate")]
_ANSWERS = [f"gnomon.{room}" for room in ("explanations", "evaluation", "viewer", "plot", "clusters", "server")]
_LATER = ["scipy.sparse", "scipy.linalg", "gnomon.extension.atlas.atlas", "gnomon.maps.saved", "gnomon.scale.dask"]
_OTHERS = [f"gnomon.{part}" for part in ("affinities.gram", "objectives.stress", "optimizers.admm", "maps.landmarks")]
seen = {}

def look(when, names=_HEAVY + _ANSWERS + _LATER + _OTHERS):
    seen[when] = [name for name in names if name in sys.modules]

import gnomon, gnomon.cli
look("import", _HEAVY + _ANSWERS + _LATER + _OTHERS + ["numpy"])
import numpy as np
from gnomon import PCA, UMAP
look("estimator")

class Begun(Exception):
    """The fit was about to begin."""

def begin(*args, **kwargs):
    raise Begun

X = np.random.default_rng(0).normal(size=(60, 5))
np.save("X.npy", X)
UMAP._fit = begin
with contextlib.suppress(Begun):
    gnomon.cli.main(["map", "X.npy", "-o", "map.html"], standalone_mode=False)
    raise SystemExit("the command has not begun a fit")
look("command")
del UMAP._fit

class Mine(UMAP):
    """A user's own class."""

    def transform(self, X):
        return super().transform(X)

many = np.random.default_rng(0).normal(size=(1000, 5))
UMAP(max_iter=1, random_state=0).fit(many)
UMAP(max_iter=1, evaluation="interpolated", random_state=0).fit(many)
look("many rows", _HEAVY + _ANSWERS + _LATER[1:] + _OTHERS + ["scipy.sparse.linalg"])

before = UMAP(n_neighbors=5, max_iter=5, random_state=0)
before.fit(X)
look("map", _HEAVY + _ANSWERS + _LATER[2:] + _OTHERS)
mine = Mine(n_neighbors=5, max_iter=5, random_state=0).fit(X)
before.fit_transform(X), before.transform(X[:3]), PCA().fit_transform(X), pickle.loads(pickle.dumps(before))
look("fit", _HEAVY[:9] + ["scipy.stats"])
gnomon.map(X, method=before).evaluate()
gnomon.explain(X, before.embedding_).top_features()
look("scores", ["scipy.sparse.csgraph"])
gnomon.map(many, method=before).to_html("many.html")
import gnomon.geometry
look("answers", _HEAVY[:9] + ["scipy.stats"])
parameters, stored = list(before.get_params().items()), before.get_params(deep=False)

from sklearn.base import BaseEstimator, TransformerMixin, clone

promises = {
    "an estimator made before is one of scikit-learn": isinstance(before, BaseEstimator),
    "so is its class": issubclass(UMAP, TransformerMixin),
    "so is a user's class": issubclass(Mine, BaseEstimator),
    "parameters are the same": list(before.get_params().items()) == parameters,
    "and nothing is added": before.get_params(deep=False) == stored,
    "it prints as others do": repr(before) == "UMAP(max_iter=5, n_neighbors=5, random_state=0)",
    "it has a picture": "UMAP" in before._repr_html_(),
    "it clones": clone(before).get_params() == before.get_params(),
    "its features have names": list(before.get_feature_names_out()) == ["umap0", "umap1"],
    "set_output holds": type(before.set_output(transform="pandas").fit_transform(X)).__name__ == "DataFrame",
    "also of a user's class": type(mine.set_output(transform="pandas").transform(X)).__name__ == "DataFrame",
    "weights can be routed": callable(before.set_fit_request),
    "it has tags": before.__sklearn_tags__().input_tags.sparse,
}
seen["broken"] = [promise for promise, kept in promises.items() if not kept]
print(json.dumps(seen))
'''


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a new process has loaded by when, and what its estimators are once scikit-learn comes."""
    run = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(run, cwd=tmp_path_factory.mktemp("started"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("when", ["import", "estimator", "command", "many rows", "map", "fit", "scores", "answers"])
def test_nothing_is_loaded_before_it_is_needed(seen, when):
    assert seen[when] == []


def test_estimators_become_those_of_scikit_learn_when_it_is_loaded(seen):
    assert seen["broken"] == []


def test_what_only_scikit_learn_has_brings_it_in():
    program = "from gnomon import PCA; print(PCA(n_components=1).set_output(transform='default'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("PCA(n_components=1)\n", "")


def test_all_names_at_once_leave_those_of_python_alone():
    names: dict[str, object] = {}
    exec("from gnomon import *", names)
    assert {"PCA", "UMAP", "explain", "evaluate"} <= names.keys()
    assert not {"map", "open", "any", "all", "min", "max", "sum", "data", "scale"} & (names.keys() - {"__builtins__"})


def test_rooms_are_reached_by_their_names():
    """``gnomon.evaluation.scorecard``, as the documentation writes it, needs no import of its own."""
    folder = Path(gnomon.__file__).parent
    rooms = {path.parent.name for path in folder.glob("*/__init__.py") if not path.parent.name.startswith("_")}
    assert set(gnomon._ROOMS) == rooms - {"cli", "plot", "storage"}
    for room in gnomon._ROOMS:
        assert gnomon.__getattr__(room).__name__ == f"gnomon.{room}"
        assert room in dir(gnomon)


@pytest.mark.slow
def test_every_module_can_be_the_first_that_is_imported():
    """Rooms that import when they are asked must not depend on who asked first."""
    program = """
import importlib, pathlib, sys
import sklearn.base
import gnomon._core
root = pathlib.Path(gnomon.__file__).parent
names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in sorted(root.rglob("*.py"))]
for name in names:
    for loaded in [one for one in sys.modules if one.startswith("gnomon") and one != "gnomon._core"]:
        del sys.modules[loaded]
    if not name.endswith("__main__"):
        importlib.import_module(name.removesuffix(".__init__"))
print(len(names) > 500)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("True\n", "")
