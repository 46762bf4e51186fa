"""What a fit tells while it runs: methods that take a callback write the same as lines, and maps stay as they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from quick import ESTIMATORS

X = np.random.default_rng(3).normal(size=(40, 4))
_AT_ONCE = {"pca", "random_projection"}  # one decomposition, or none: no stages
_TELLING = sorted(ESTIMATORS.keys() - _AT_ONCE)


def test_methods_that_tell_their_progress_tell_it_in_both_ways():
    told = {name: {"callback", "verbose"} & one.get_params().keys() for name, one in ESTIMATORS.items()}
    assert told == {name: set() if name in _AT_ONCE else {"callback", "verbose"} for name in ESTIMATORS}


@pytest.mark.parametrize("name", _TELLING)
def test_verbose_writes_the_stages_that_a_callback_sees_and_changes_nothing(name, capsys):
    seen = []
    quiet = clone(ESTIMATORS[name])
    loud = clone(quiet).set_params(verbose=2, callback=lambda progress: seen.append(progress.stage))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations are too few
        quiet.fit(X)
        assert capsys.readouterr() == ("", "")
        loud.fit(X)
    out, err = capsys.readouterr()
    np.testing.assert_array_equal(loud.embedding_, quiet.embedding_)
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == f"{type(loud).__name__}: {seen[0]}"
    assert [line.partition(": ")[2].partition(",")[0] for line in lines if "," not in line] == [
        stage for stage, before in zip(seen, ["", *seen], strict=False) if stage != before
    ]


@pytest.mark.parametrize("name", _TELLING)
def test_verbose_is_a_switch_or_a_number(name):
    one = clone(ESTIMATORS[name]).set_params(verbose="much")
    with pytest.raises(TypeError, match=f"^{type(one).__name__}: verbose='much' must be True or False or an integer"):
        one.fit(X)
