"""One word for one thing: what users call names its parameters as everything else of gnomon does."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass

import pytest

import gnomon
from gnomon.methods import METHODS

_WORDS = {
    "alpha": {"level", "significance", "p_threshold"},
    "init": {"initialization", "init_pos", "start_positions"},
    "kernel": {"similarity"},
    "kernel_params": {"similarity_params", "kernel_kwargs"},
    "learning_rate": {"lr", "eta"},
    "max_iter": {"maxiter", "n_epochs", "max_iterations", "n_iterations"},
    "metric_params": {"metric_kwds", "metric_kwargs"},
    "n_components": {"dim", "n_dims", "embedding_dim"},
    "n_jobs": {"num_threads", "n_cores", "workers"},
    "n_neighbors": {"k_neighbors", "knn", "n_nearest"},
    "n_top": {"top", "top_n"},
    "random_state": {"rng", "random_seed"},
    "tol": {"tolerance", "rtol", "atol", "epsilon_stop"},
    "verbose": {"verbosity"},
}
"""The word, and others for the same thing."""
_OF_METHODS = {
    "evaluation": {"method", "negative_gradient_method"},
    "landmarks": {"selection", "landmark_selection"},
    "max_rows": {"n_rows", "sample_size"},
    "solver": {"eigen_solver", "svd_solver", "algorithm"},
    "variant": {"kind", "type", "flavor"},
}
"""Words of the estimators alone: others may be about something else."""
_ROOMS = [
    info.name for info in pkgutil.iter_modules(gnomon.__path__, "gnomon.") if not info.name.startswith("gnomon._")
]


def _taken(call):
    """Return the names of what a function or class takes; nothing of what has no signature."""
    try:
        return set(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return set()


def _others(words, taken):
    return sorted(f"{name} for {word}" for word, others in words.items() for name in others & taken)


@pytest.mark.parametrize("card", METHODS, ids=lambda card: card.name)
def test_methods_say_one_word_for_one_thing(card):
    assert _others(_WORDS | _OF_METHODS, _taken(getattr(gnomon, card.estimator))) == []


@pytest.mark.parametrize("room", ["gnomon", *_ROOMS])
def test_functions_say_one_word_for_one_thing(room):
    """Of a class its methods, and what makes it if it is no record of results."""
    found = {}
    module = importlib.import_module(room)
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        calls = {name: value} if callable(value) and not is_dataclass(value) else {}
        if inspect.isclass(value):
            calls |= {
                f"{name}.{key}": one for key, one in inspect.getmembers(value, callable) if not key.startswith("_")
            }
        found |= {key: told for key, one in calls.items() if (told := _others(_WORDS, _taken(one)))}
    assert found == {}


def test_another_word_is_seen():
    assert _others(_WORDS, {"tol", "tolerance", "kernel"}) == ["tolerance for tol"]
