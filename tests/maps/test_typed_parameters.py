"""A misspelled parameter is seen by type checkers, which are at hand where the style is checked: `make test-types`."""

import re
import subprocess
import sys
from inspect import signature
from typing import get_args, get_type_hints

import numpy as np
import pytest

import gnomon
from gnomon.methods import METHODS
from gnomon.methods.keywords import MethodParameters

_WRONG = """
import numpy as np
import gnomon

X = np.zeros((5, 3))
gnomon.map(X, metod="umap")
gnomon.map(X, n_neighbours=3)
gnomon.map(X, n_neighbors="many")
gnomon.map(X, method="tsne", perplexity=5, metric="cosine", max_iter=30)
gnomon.UMAP(n_neighbours=3)
gnomon.TSNE(perplexty=30)
gnomon.KernelPCA(gama=1.0)
gnomon.UMAP(n_neighbors=3, min_dist=0.2)
gnomon.map(X).embeding
gnomon.map(X, gnomon.TSNE(), labels=[0] * 5).evaluate().trustworthines
gnomon.map(X).evaluate().trustworthiness
"""
_MISSPELLED = re.compile(r"metod|neighbours|many|perplexty|gama|embeding|trustworthines$")
_CHECKERS = {
    "mypy": ["--follow-imports=silent", "--cache-dir", "{folder}"],
    "pyright": ["--pythonpath", sys.executable],
}


@pytest.mark.parametrize("card", METHODS, ids=lambda card: card.name)
def test_every_parameter_of_a_method_can_be_given_to_a_map(card):
    named = {*signature(gnomon.map).parameters, *MethodParameters.__annotations__}
    own = signature(getattr(gnomon, card.estimator)).parameters
    assert set(own) <= named
    hints = get_type_hints(MethodParameters)
    for name, parameter in own.items():
        if isinstance(parameter.default, (bool, int, float, str)) and name in hints and get_args(hints[name]):
            assert isinstance(parameter.default, get_args(hints[name]))


def test_parameters_of_methods_that_a_map_takes_for_its_own_are_known():
    """They mean the same in both, so that every parameter of a method can be given by `gnomon.map`."""
    own = set(signature(gnomon.map).parameters)
    taken = {name for card in METHODS for name in signature(getattr(gnomon, card.estimator)).parameters} & own
    assert taken == {"n_components", "random_state", "n_jobs", "callback", "blocks"}


@pytest.mark.parametrize(
    ("estimator", "method", "given"),
    [
        (gnomon.TSNE, "tsne", {"evaluation": "exact", "perplexity": 5, "max_iter": 3}),
        (gnomon.Isomap, "isomap", {"n_landmarks": 20, "n_neighbors": 5}),
    ],
)
def test_a_map_gives_a_method_what_the_estimator_takes(estimator, method, given):
    X = np.random.default_rng(0).normal(size=(40, 4))
    expected = estimator(**given, random_state=0).fit_transform(X)
    for made in (
        gnomon.map(X, method=method, scale=None, **given),
        gnomon.map(X, method=estimator(**given, random_state=0), scale=None),
    ):
        np.testing.assert_array_equal(made.embedding, expected.astype(np.float32))


def test_the_rows_that_a_map_fits_are_not_the_landmarks_of_its_method():
    X = np.random.default_rng(0).normal(size=(60, 4))
    made = gnomon.map(X, method="isomap", n_fitted=40, n_landmarks=20, n_neighbors=5)
    assert (len(made.landmarks), made.landmark_map.parameters["n_landmarks"]) == (40, 20)


def test_no_parameter_is_both_a_maps_own_and_a_methods():
    assert not set(signature(gnomon.map).parameters) & set(MethodParameters.__annotations__)


@pytest.mark.slow
@pytest.mark.parametrize("checker", _CHECKERS)
def test_a_type_checker_sees_what_is_misspelled(checker, tmp_path):
    pytest.importorskip(checker)
    file = tmp_path / "misspelled.py"
    file.write_text(_WRONG)
    options = [option.format(folder=tmp_path / "cache") for option in _CHECKERS[checker]]
    checked = subprocess.run(
        [sys.executable, "-m", checker, *options, str(file)], capture_output=True, text=True, check=False, timeout=250
    )
    lines = [int(line) for line in re.findall(r"\.py:(\d+):.* error: ", checked.stdout)]
    assert lines == [line for line, text in enumerate(_WRONG.splitlines(), 1) if _MISSPELLED.search(text)], (
        checked.stdout + checked.stderr
    )
