"""What the documentation names runs: every option of every method, every metric, every example of a docstring."""

from __future__ import annotations

import doctest
import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from kept import ALL, fit

import gnomon
from gnomon._validation import Either, Options
from gnomon.exceptions import GnomonWarning
from gnomon.neighbors import NATIVE_METRICS
from quick import ESTIMATORS

X = np.abs(np.random.default_rng(0).normal(size=(40, 5)))
_SOURCE = Path(gnomon.__file__).parent
_WITH_EXAMPLES = [path for path in sorted(_SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]

# Options that need another parameter, as their errors say: by method, parameter and option.
_WITH = {
    ("kernel", "custom"): None,  # two functions, see test_own_parts.py
    ("kernel", "precomputed"): None,  # similarities in place of rows
    ("variant", "hessian"): {"n_neighbors": 8},
    ("affinity", "gaussian"): {"affinity_params": {"perplexity": 3.0}},
    ("affinity", "conditional"): {"affinity_params": {"perplexity": 3.0}},
    ("two_kernel_pca", "init", "spectral"): None,  # has no graph
    ("two_kernel_lle", "evaluation", "interpolated"): {"kernel": "cauchy"},
    ("densmap", "evaluation", "interpolated"): None,  # added terms join the samples
    ("featmap", "evaluation", "interpolated"): None,
    ("star_map", "evaluation", "interpolated"): None,
    ("scale_map", "evaluation", "interpolated"): None,
    ("densmap", "output_metric", "sphere"): None,  # its term is of flat maps
    ("densmap", "output_metric", "hyperboloid"): None,
    ("featmap", "output_metric", "sphere"): None,
    ("featmap", "output_metric", "hyperboloid"): None,
    ("star_map", "output_metric", "sphere"): {"star_weight": 0.0},
    ("star_map", "output_metric", "hyperboloid"): {"star_weight": 0.0},
    ("scale_map", "output_metric", "sphere"): {"radius_power": 0.0},
    ("scale_map", "output_metric", "hyperboloid"): {"radius_power": 0.0},
}
_OF_OPTIMIZERS = ("loss", "optimizer", "output_metric")  # of NeighborEmbedding, whose quick settings are of one of them
_OF_OTHER_AFFINITIES = ("reconstruction", "conditional_kl", "frobenius")
_UNBOUNDED = ("linear", "inverse_power", "logarithmic", "distance", "short_reach", "sketch_map")  # no similarities


def _options(rule):
    if isinstance(rule, Options):
        return list(rule.options)
    return [one for inner in vars(rule).get("rules", ()) for one in _options(inner)] if isinstance(rule, Either) else []


def _documented(name):
    """Yield parameter, option, and what goes with it."""
    kind = type(ESTIMATORS[name])
    rules = {**getattr(kind, "_common_rules", {}), **kind._rules}
    for parameter in ESTIMATORS[name].get_params():
        for option in _options(rules[parameter]) if parameter in rules else ():
            given = _WITH.get((name, parameter, option), _WITH.get((parameter, option), {}))
            if name == "neighbor_embedding" and parameter in _OF_OPTIMIZERS:
                given = {"optimizer_params": {"max_iter": 5}}
            if name == "neighbor_embedding" and (
                (parameter == "kernel" and option in _UNBOUNDED) or option in _OF_OTHER_AFFINITIES
            ):
                given = None  # of other losses and affinities, see test_every_loss.py
            if name == "neighbor_embedding" and option == "sampled_descent":
                given = {**given, "loss": "cross_entropy"}
            if given is not None:
                yield parameter, option, given


@pytest.mark.parametrize("name", ALL)
def test_12_every_option_of_a_parameter_makes_a_map(name):
    for parameter, option, others in _documented(name):
        Y = fit(name, X, **others, **{parameter: option}).embedding_
        assert np.isfinite(Y).all(), (parameter, option)


@pytest.mark.parametrize(
    "name", [name for name in ALL if "metric" in ESTIMATORS[name].get_params() and name != "two_kernel_pca"]
)
def test_12_every_metric_of_its_own_makes_a_map_of_every_method(name):
    of_sets = ("jaccard", "dice", "sokalsneath", "rogerstanimoto")
    for metric in sorted(set(NATIVE_METRICS.values())):
        rows = X > 0.5 if metric in of_sets else 0.3 * X[:, :2] if metric == "haversine" else X
        params = {"period": 7.0} if metric == "periodic" else None
        model = fit(name, rows, metric=metric, metric_params=params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            assert np.isfinite(model.transform(rows[:4])).all(), metric
        assert np.isfinite(model.embedding_).all(), metric


@pytest.mark.parametrize("path", _WITH_EXAMPLES, ids=lambda path: path.stem)
def test_12_the_examples_of_docstrings_print_what_they_say(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = ".".join(["gnomon", *path.relative_to(_SOURCE).with_suffix("").parts]).removesuffix(".__init__")
    importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    found = [one for one in doctest.DocTestFinder(exclude_empty=True).find(sys.modules[name], name) if one.examples]
    assert found
    for one in found:
        assert runner.run(one, out=lambda _: None).failed == 0, one.name
