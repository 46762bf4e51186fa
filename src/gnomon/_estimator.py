"""Estimators of scikit-learn that do not load it: they inherit from its classes as soon as anyone imports it.

Importing scikit-learn takes longer than the fit of a small table, which needs none of it. What only scikit-learn or a
user of it can ask for is therefore left to its own classes: they become the bases of `Estimator` when they are loaded,
by whomever, before the importing program sees them. From then on every estimator, also one made before, is a
``sklearn.base.BaseEstimator`` in each respect.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, TypeVar

from gnomon._validation import message

__all__ = [
    "Estimator",
    "all_or_nothing",
    "changed_parameters",
    "check_is_fitted",
    "copied",
    "refuse_weights",
    "unseeded",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_E = TypeVar("_E", bound="Estimator")

_HOME = "sklearn.base"


class _Later:
    """An attribute of scikit-learn's classes, which are loaded when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        home = importlib.import_module(_HOME)
        if _Plain in Estimator.__bases__:  # another importer than `_AtImport` found it
            _inherit(home)
        return getattr(super(Estimator, owner if instance is None else instance), self._name)


class _Plain:
    """What an estimator is asked for that scikit-learn's classes answer."""

    __repr__: Callable[[Any], str] = _Later()  # type: ignore[assignment]
    __sklearn_tags__ = _Later()
    _repr_html_ = _Later()
    _repr_mimebundle_ = _Later()
    get_feature_names_out = _Later()
    get_metadata_routing = _Later()
    set_output = _Later()
    set_params = _Later()


class Estimator(_Plain):
    """What every estimator inherits; the bases are scikit-learn's once it is loaded."""

    if TYPE_CHECKING:  # what a fit learns, and what methods give to classes that share their code

        def __getattr__(self, name: str) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also those of parameters that are estimators."""
        found: dict[str, Any] = {}
        cls: Any = type(self)
        for name in sorted(_defaults(cls)):
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": one for inner, one in value.get_params().items()}
        return found


def _inherit(home: ModuleType) -> None:
    """Let all estimators inherit from scikit-learn's classes, which look at each subclass when it is defined."""
    Estimator.__bases__ = (home.ClassNamePrefixFeaturesOutMixin, home.TransformerMixin, home.BaseEstimator)
    seen: set[type[Any]] = {Estimator}
    waiting: list[type[Any]] = [Estimator]
    while waiting:
        known: type[Any]
        for known in waiting.pop(0).__subclasses__():
            if known not in seen:
                seen.add(known)
                waiting.append(known)
                super(Estimator, known).__init_subclass__()


class _AtImport(MetaPathFinder):
    """Finds the module of scikit-learn's base classes as others do, and follows up its import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of the module, whose loader then hands it to `_inherit`; None for all others."""
        if fullname != _HOME:
            return None
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((one for one in others if one is not None), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                _inherit(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if _HOME in sys.modules:
    _inherit(importlib.import_module(_HOME))
else:
    sys.meta_path.insert(0, _AtImport())


def refuse_weights() -> NoReturn:
    """Raise ValueError that says what weighs rows instead of a method that does not."""
    remedy = "Use a method that weighs rows, such as UMAP, TSNE, PCA or MDS."
    raise ValueError(message("sample_weight", "left out", fact="this method counts rows alike", remedy=remedy))


def all_or_nothing(fit: Callable[Concatenate[_E, _P], _R]) -> Callable[Concatenate[_E, _P], _R]:
    """Let a fit that does not come to its end leave the estimator as it was.

    An interrupt or an error in the middle would else leave some fitted attributes of the new table beside others of
    the one before, and an estimator that was never fitted would pass for fitted.

    Parameters
    ----------
    fit : callable
        A method that sets attributes and changes none in place.

    Returns
    -------
    callable
        The method; whatever it raises passes through. One that takes no sample_weight refuses weights by name, and
        has no such parameter by which scikit-learn would take it for one that weighs rows.
    """
    weighs_rows = "sample_weight" in inspect.signature(fit).parameters

    @functools.wraps(fit)
    def call(self: _E, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not weighs_rows and kwargs.pop("sample_weight", None) is not None:
            refuse_weights()
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return call


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError if an estimator has no fitted attribute, a name that ends with "_".

    Parameters
    ----------
    estimator : estimator

    Raises
    ------
    NotFittedError, TypeError
        As ``sklearn.utils.validation.check_is_fitted``, which decides where there is none.
    """
    if not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator)):
        from sklearn.utils import validation  # for its error

        validation.check_is_fitted(estimator)


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters whose values print otherwise than their defaults.

    Parameters
    ----------
    estimator : estimator
        Of any library.

    Returns
    -------
    dict
    """
    cls: Any = type(estimator)
    defaults = _defaults(cls)
    values = estimator.get_params(deep=False)
    return {name: one for name, one in values.items() if name not in defaults or repr(one) != repr(defaults[name])}


def copied(estimator: Any) -> Any:
    """Return a copy of an estimator of any library that has its parameters and is not fitted.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    estimator

    Raises
    ------
    TypeError
        If scikit-learn cannot copy it.
    """
    if isinstance(estimator, Estimator):
        return type(estimator)(**estimator.get_params(deep=False))
    clone = importlib.import_module(_HOME).clone
    try:
        return clone(estimator)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        what, rule = f"method of type {type(estimator).__name__}", "one that scikit-learn can copy, to give it a seed"
        raise TypeError(message(what, rule, fact=str(error), remedy="Give it a random_state.")) from error


def unseeded(estimator: Any) -> list[str]:
    """Return the parameters ``random_state`` of an estimator and its parts that are None.

    Parameters
    ----------
    estimator : object
        One without parameters has none.
    """
    known = estimator.get_params() if callable(getattr(estimator, "get_params", None)) else {}
    return [name for name, value in known.items() if value is None and name.split("__")[-1] == "random_state"]


@functools.cache
def _defaults(cls: Any) -> dict[str, Any]:
    """Return the default of each parameter of a class by its name, ``inspect.Parameter.empty`` where there is none.

    Kept, since reading a signature takes longer than to fit a few rows, and ``clone`` asks twice.
    """
    taken = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return {one.name: one.default for one in taken if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
