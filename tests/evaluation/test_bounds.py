"""Numbers that functions take are bounded as their documentation says: the bound is taken, what lies beyond is not."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from gnomon import evaluation

_X = np.random.default_rng(0).normal(size=(80, 3))
_Y, _PARTS = _X[:, :2], [range(0, 26), range(26, 52), range(52, 80)]
_CALLS = {
    "are_apart": (_X, None, *_PARTS[:2]),
    "compare_embeddings": (_X, _Y),
    "compare_runs": ([_Y, _Y],),
    "continuity_nulls": (None, _X),
    "dynamicviz": ([_Y, _Y],),
    "embedding_similarity": (_X, _Y),
    "embedr": (None, _X),
    "evaluate": (_X, _Y),
    "find_illusions": (_X, _Y, np.arange(80) % 2),
    "is_denser": (_X, None, *_PARTS[:2]),
    "is_nearer": (_X, None, *_PARTS),
    "is_real": (_X, None, _PARTS[0]),
    "judge_gaps": (_X, _Y),
    "local_radius_correlation": (_X, _Y),
    "null_scores": (_X, _Y, len),
    "perturbations": (None, _X),
    "point_changes": (_X, _Y),
    "scdeed": (None, _X),
    "scorecard": (_X, _Y),
    "stability_of_maps": (None, _X),
}
_METHODS = {
    "PointChanges.most": (evaluation.point_changes(_X, _Y).most, evaluation.PointChanges.most, ()),
    "PointNulls.verdicts": (
        evaluation.PointNulls("", *np.full((4, 2), 0.5)).verdicts,
        evaluation.PointNulls.verdicts,
        (),
    ),
    "Singularities.largest": (
        evaluation.Singularities(*np.ones((5, 2))).largest,
        evaluation.Singularities.largest,
        (),
    ),
}
_BOUND = re.compile(r"^(int|float)\b.*?(?:(>=|>) (-?[\d.]+)|in ([\[(])(-?[\d.]+), ([^\])]+)([\])]))")


def _bounds():
    """Yield functions and arguments, a parameter, a number just out of its bounds, and how these are told."""
    listed = {name: (getattr(evaluation, name), getattr(evaluation, name), given) for name, given in _CALLS.items()}
    for name, (function, documented, given) in {**listed, **_METHODS}.items():
        for names, text in re.findall(r"^ *(\w+(?:, \w+)*) : ((?:int|float).*)$", inspect.getdoc(documented), re.M):
            found = _BOUND.match(text)
            if found is None:
                continue
            kind, sign, low, opening, least, most, closing = found.groups()
            low, is_open = low or least, sign == ">" or opening == "("
            a = "an integer" if kind == "int" else "a number"
            told = f"{a} {'>' if is_open else '>='} {float(low):g}"
            if kind == "float" and re.fullmatch(r"[\d.]+", most or ""):
                told += f" and {'<' if closing == ')' else '<='} {float(most):g}"
            step = 1 if kind == "int" else 0.0 if is_open else 1e-9
            out = [float(low) - step] if kind == "float" else [int(low) - 1]
            if kind == "float" and " and " in told:
                out.append(float(most) + (0.0 if closing == ")" else 1e-9))
            for value in out:
                for one in names.split(", "):
                    yield pytest.param(function, given, one, value, told, id=f"{name}-{one}-{value:g}")


@pytest.mark.parametrize(("function", "given", "name", "value", "told"), list(_bounds()))
def test_numbers_are_bounded_as_documented(function, given, name, value, told):
    with pytest.raises(ValueError, match=rf"{name}={re.escape(repr(value))} must be {re.escape(told)}( or None)?\.?$"):
        function(*given, **{name: value})
