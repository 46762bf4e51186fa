"""Parameters are checked against rules; every error says who, what was found, the rule and the remedy."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from fractions import Fraction

import numpy as np
import pytest

from gnomon import affinities, linalg, neighbors
from gnomon._run import running
from gnomon._validation import (
    Boolean,
    Either,
    Having,
    Instance,
    Integer,
    Nothing,
    Options,
    Real,
    check_parameters,
    message,
    pass_on,
    unsaid,
    warn,
)
from gnomon.exceptions import DataWarning, GnomonWarning, NeighborsWarning


def _check(rule, value):
    return check_parameters({"p": rule}, {"p": value}, who="Thing")["p"]


def test_a_message_has_fact_and_remedy_only_if_given():
    assert message("perplexity=50.0", "at most 30", who="TSNE") == "TSNE: perplexity=50.0 must be at most 30."
    full = message("perplexity=50.0", "at most 30", fact="100 rows", remedy="Lower it.", who="TSNE")
    assert full == "TSNE: perplexity=50.0 must be at most 30 (100 rows). Lower it."


@pytest.mark.parametrize("value", [15, 15.0, np.int8(15), np.uint64(15), np.float32(15), Fraction(15)])
def test_whole_numbers_of_any_type_become_int(value):
    checked = _check(Integer(1), value)
    assert checked == 15
    assert type(checked) is int


@pytest.mark.parametrize("value", [True, np.bool_(True), "15", None, 15 + 0j, [15], np.array([15, 16])])
def test_what_is_no_number_is_a_type_error_for_integers(value):
    with pytest.raises(TypeError, match=r"Thing: p=.* must be an integer >= 1 \(found "):
        _check(Integer(1), value)


@pytest.mark.parametrize("value", [0, -3, 1.5, np.nan, np.inf, -np.inf, 11, 10**400, -(10**400)])
def test_numbers_outside_the_rule_are_value_errors_for_integers(value):
    with pytest.raises(ValueError, match=r"Thing: p=.* must be an integer >= 1 and <= 10\."):
        _check(Integer(1, 10), value)


def test_integers_of_any_size_pass_where_no_bound_forbids():
    assert _check(Integer(), 10**400) == 10**400


@pytest.mark.parametrize("value", [0.5, 1, np.float64(0.25), np.int64(1), Fraction(1, 4)])
def test_numbers_become_float(value):
    checked = _check(Real(0, 1, low_open=True), value)
    assert checked == value
    assert type(checked) is float


@pytest.mark.parametrize("value", [0, -0.0, 1.0000001, np.nan, np.inf, 10**400])
def test_numbers_outside_an_interval_are_value_errors(value):
    with pytest.raises(ValueError, match=r"must be a number > 0 and <= 1\."):
        _check(Real(0, 1, low_open=True), value)


def test_open_and_closed_ends_differ_only_at_the_end():
    assert _check(Real(0, 1), 0) == 0.0
    assert _check(Real(0, 1), 1) == 1.0
    with pytest.raises(ValueError, match="must be a number >= 0 and < 1"):
        _check(Real(0, 1, high_open=True), 1)


@pytest.mark.parametrize("value", [True, "0.5", None, 1j])
def test_what_is_no_number_is_a_type_error_for_reals(value):
    with pytest.raises(TypeError, match=r"must be a number \(found "):
        _check(Real(), value)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Integer(1, 1234567), "an integer >= 1 and <= 1234567"),
        (Integer(0, 2**31 - 1), "an integer >= 0 and <= 2147483647"),
        (Real(0.1234567), "a number >= 0.1234567"),
        (Real(0.0, 1e-12), "a number >= 0 and <= 1e-12"),
        (Real(high=1e300), "a number <= 1e+300"),
    ],
)
def test_bounds_are_written_with_all_their_digits(rule, text):
    assert rule.text == text


def test_booleans_are_booleans_alone():
    assert _check(Boolean(), np.bool_(False)) is False
    assert _check(Boolean(), True) is True
    for value in (0, 1, "True", None):
        with pytest.raises(TypeError, match=r"must be True or False \(found "):
            _check(Boolean(), value)


def test_a_class_that_is_merely_called_bool_is_no_boolean():
    with pytest.raises(TypeError):
        _check(Boolean(), type("bool", (), {})())


def test_options_are_listed():
    rule = Options("pca", "spectral")
    assert _check(rule, np.str_("pca")) == "pca"
    with pytest.raises(ValueError, match=r"Thing: p='cpa' must be one of 'pca', 'spectral'\."):
        _check(rule, "cpa")
    with pytest.raises(TypeError, match=r"p=3 must be one of 'pca', 'spectral' \(found int\)"):
        _check(rule, 3)


def test_instances_pass_unchanged():
    value = np.zeros(3)
    assert _check(Instance((np.ndarray,), "an array"), value) is value
    with pytest.raises(TypeError, match=r"p=\[0\] must be an array \(found list\)"):
        _check(Instance((np.ndarray,), "an array"), [0])


def test_objects_have_their_methods_and_are_no_classes():
    rule = Having(("write", "close"), "something to write to")
    value = io.StringIO()
    assert _check(rule, value) is value
    for other in (io.StringIO, "text", None):
        with pytest.raises(TypeError, match=r"must be something to write to \(found \w+\)"):
            _check(rule, other)


def test_either_gives_the_form_of_the_first_rule_that_accepts():
    rule = Either(Integer(1), Options("auto"), Nothing())
    assert _check(rule, 3.0) == 3
    assert _check(rule, "auto") == "auto"
    assert _check(rule, None) is None


def test_either_is_a_value_error_if_one_rule_knows_the_type():
    rule = Either(Integer(1), Options("auto"))
    with pytest.raises(ValueError, match=r"p=0 must be an integer >= 1 or one of 'auto'\."):
        _check(rule, 0)
    with pytest.raises(ValueError, match="p='aut'"):
        _check(rule, "aut")
    with pytest.raises(TypeError, match=r"\(found list\)"):
        _check(rule, [])


def test_only_the_named_parameters_are_checked():
    rules = {"a": Integer(), "b": Integer()}
    assert check_parameters(rules, {"a": 1, "b": "x"}, ["a"], who="Thing") == {"a": 1}


def test_big_values_are_shown_by_type_and_shape():
    with pytest.raises(
        TypeError, match=r"^Thing: p=<ndarray of shape \(100, 2\)> must be an integer \(found ndarray\)\.$"
    ):
        _check(Integer(), np.zeros((100, 2)))
    with pytest.raises(TypeError, match=r"p=<list> must be"):
        _check(Integer(), list(range(1000)))


def test_the_cause_is_not_chained_for_the_reader():
    with pytest.raises(ValueError, match="must be") as caught:
        _check(Integer(1), 0)
    assert caught.value.__suppress_context__


ROWS = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
SEEDED = {
    "pacmap_pairs": lambda graph, seed: affinities.pacmap_pairs(ROWS, graph, n_neighbors=5, seed=seed),
    "trimap_triplets": lambda graph, seed: affinities.trimap_triplets(ROWS, graph, n_inliers=5, seed=seed),
    "principal_components": lambda _, seed: linalg.principal_components(ROWS, 2, seed=seed),
    "nystrom": lambda _, seed: affinities.Gram.from_features(ROWS).approximate("nystrom", rank=3, seed=seed),
    "compute_neighbors": lambda _, seed: neighbors.compute_neighbors(ROWS, 3, seed=seed),
    "draw_landmarks": lambda _, seed: neighbors.draw_landmarks(30, 3, seed=seed),
    "choose_landmarks": lambda _, seed: neighbors.choose_landmarks(ROWS, 3, seed=seed),
}


@pytest.mark.parametrize("part", SEEDED)
def test_seeds_of_parts_are_those_that_kernels_take(part):
    graph = neighbors.compute_neighbors(ROWS, 20)
    SEEDED[part](graph, 2**63 - 1)
    for seed in (-1, 2**63, 2**64):
        with pytest.raises(ValueError, match=rf"seed={seed} must be an integer >= 0 and <= {2**63 - 1}"):
            SEEDED[part](graph, seed)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Real(high=2.0**62), "a number <= 4611686018427387904"),
        (Real(high=2.0**63), "a number <= 9.223372036854776e+18"),
    ],
)
def test_whole_bounds_that_64_bits_hold_have_no_point(rule, text):
    assert rule.text == text


def test_ends_of_an_interval_are_in_it():
    for value in (1, 10):
        assert _check(Integer(1, 10), value) == value
        assert _check(Real(1, 10), value) == value
    inner = Real(1, 10, low_open=True, high_open=True)
    assert _check(inner, 5) == _check(Real(high=10), 5) == _check(Real(1), 5) == 5.0
    for rule, value in ((inner, 10), (inner, 1), (Real(1), 0.5), (Real(1, 10), 0.5), (Real(high=10), 10.5)):
        with pytest.raises(ValueError, match=r"must be a number [><]"):
            _check(rule, value)
    with pytest.raises(ValueError, match="must be an integer <= 10"):
        _check(Integer(high=10), 11)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a" * 78, repr("a" * 78)),
        ("a" * 79, "<str>"),
        (np.eye(2), "<ndarray of shape (2, 2)>"),
        (np.zeros(2), "array([0., 0.])"),
    ],
)
def test_values_are_shown_as_long_as_they_fit_a_line(value, shown):
    with pytest.raises(TypeError) as caught:
        _check(Integer(), value)
    assert str(caught.value).startswith(f"Thing: p={shown} must be an integer (found ")


def test_an_object_has_all_of_the_methods():
    class Half:
        write = print
        close = 3

    with pytest.raises(TypeError, match="must be something to write to"):
        _check(Having(("write", "close"), "something to write to"), Half())


def test_outside_of_any_call_the_library_speaks():
    assert message("a=1", "2") == "gnomon: a=1 must be 2."
    with running(name="UMAP"):
        assert message("a=1", "2") == "UMAP: a=1 must be 2."
        assert message("a=1", "2", who="part") == "part: a=1 must be 2."


def test_warnings_are_collected_where_a_run_collects_them():
    with running(name="UMAP", warned=[]) as run:
        warn("careful", DataWarning)
        pass_on("whole", GnomonWarning)
    assert run.warned == [("UMAP: careful", DataWarning), ("whole", GnomonWarning)]
    with pytest.warns(DataWarning, match=r"^gnomon: careful$") as caught:
        warn("careful", DataWarning)
    assert caught[0].filename == __file__


def test_what_is_left_unsaid_in_a_block_is_said_by_other_threads_and_after_it():
    with running(warned=[]) as run:
        others = ThreadPoolExecutor(1)
        with unsaid(DataWarning):
            warn("told already", DataWarning)
            warn("another kind", NeighborsWarning)
            others.submit(copy_context().run, warn, "handed to a thread", DataWarning).result()
        warn("after it", DataWarning)
    assert [text.partition(": ")[2] for text, _ in run.warned] == ["another kind", "after it"]
    with unsaid(DataWarning), pytest.warns(DataWarning, match="of another thread"):
        others.submit(warn, "of another thread", DataWarning).result()
