"""The rule of choice, on maps whose scores are given: who is mapped again, who is taken, and who must stand back."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gnomon
from gnomon.comparison.candidates import SEARCHED, lines_of, with_value
from gnomon.comparison.choice import Choice
from gnomon.comparison.rule import Rule
from gnomon.comparison.search import _fewest_components
from gnomon.comparison.trials import Request, Trial
from gnomon.evaluation import MEASURES
from gnomon.evaluation.scorecard import Score
from gnomon.methods import METHODS

_CRITERION = "neighborhood_preservation"


def _trial(request, kept, trust=(0.95, 0.95), by_row=(0.5, 0.5)):
    """Return a map with a score for each seed, and what each row adds to it."""
    values = {_CRITERION: np.array(kept), "trustworthiness": np.array(trust[: len(kept)])}
    score = Score(MEASURES[_CRITERION], kept[0], None, None, len(by_row), None, True, np.array(by_row))
    places = np.zeros((1000, 2), np.float32)
    return Trial(request.name, request.method, request.parameters, places, {_CRITERION: score}, values, 0.0)


def _with(perplexity):
    return Request("tsne", {} if perplexity == 30.0 else {"perplexity": perplexity})


@pytest.mark.parametrize("method", SEARCHED)
def test_what_is_searched_are_parameters_of_the_method_and_its_default_is_tried(method):
    lines = lines_of([Request(method)], None, 1000)[method]
    assert lines.keys() == SEARCHED[method].keys()
    assert all(Request(method).default(name, 1000) in line for name, line in lines.items())
    assert all(value >= 0 for line in lines.values() for value in line if isinstance(value, (int, float)))


@pytest.mark.parametrize(
    ("method", "n", "line"),
    [("umap", 30, [5, 10]), ("umap", 29, [5]), ("tsne", 90, [5.0, 10.0]), ("tsne", 89, [5.0])],
)
def test_neighbourhoods_of_a_third_of_the_rows_are_tried_and_no_larger_ones_but_the_default(method, n, line):
    request = Request(method)
    parameter, found = next(iter(lines_of([request], None, n)[method].items()))
    assert found == [*line, request.default(parameter, n)]


def test_values_that_are_no_numbers_are_tried_in_the_order_in_which_they_are_given():
    asked = {"umap": {"init": ["spectral", "random"], "density": [True, False], "min_dist": ["small", 0.5]}}
    lines = lines_of([Request("umap")], asked, 1000)["umap"]
    assert lines["init"][:2] == ["spectral", "random"]
    assert lines["density"][:2] == [True, False]
    assert lines["min_dist"] == ["small", 0.5, 0.1]


def test_a_perplexity_asks_for_three_neighbours_a_unit_and_no_part_of_one():
    for perplexity, k in ((10.0, 30), (10.5, 31), (10.6, 31)):
        assert Request("tsne", {"perplexity": perplexity}).n_neighbors(1000) == k


@pytest.mark.parametrize("method", [card.name for card in METHODS])
def test_a_shared_graph_has_the_neighbours_that_a_method_looks_for(method):
    given = Request(method).estimator().get_params()
    wanted = 3 * int(Request(method).default("perplexity", 1000)) if "perplexity" in given else given.get("n_neighbors")
    assert Request(method).n_neighbors(1000) == (wanted if "precomputed_knn" in given else None)
    assert Request(method).n_neighbors(1000, "cosine") == Request(method).in_metric("cosine").n_neighbors(
        1000, "cosine"
    )


def test_the_values_that_are_tried_are_those_that_the_documentation_lists():
    assert gnomon.recommend.__doc__ is not None
    told = re.findall(r'^ *- ("\w+": .*)$', gnomon.recommend.__doc__, re.MULTILINE)
    lines = {method: "; ".join(f"{name} {str(v)[1:-1]}" for name, v in of.items()) for method, of in SEARCHED.items()}
    assert told == [f'"{method}": {line}' for method, line in lines.items()]


@pytest.mark.parametrize(("n_samples", "most"), [(1000, 30.0), (61, 20.0)])
def test_no_perplexity_is_tried_as_the_number_that_it_stands_for(n_samples, most):
    for asked in (None, {"tsne": {"perplexity": [None, 5.0]}}):
        line = lines_of([Request("tsne")], asked, n_samples)["tsne"]["perplexity"]
        assert most in line
        assert None not in line
    found = with_value(Request("tsne", {"perplexity": 5.0}), "perplexity", most, n_samples)
    assert (found.name, found.n_neighbors(n_samples)) == ("tsne", 3 * most)


@pytest.fixture
def rule():
    return Rule(_CRITERION, ("pca", "tsne"), 0.945)


def test_the_better_half_of_the_trustworthy_maps_is_mapped_again(rule):
    scores = {5.0: (0.9, 0.93), 10.0: (0.5, 0.95), 20.0: (0.7, 0.95), 50.0: (0.6, 0.95), 80.0: (0.4, 0.95)}
    made = [(_with(p), _trial(_with(p), [kept], [trust])) for p, (kept, trust) in scores.items()]
    assert rule.better_half(made) == [_with(20.0), _with(50.0), _with(10.0)]


def test_the_error_of_seeds_pools_the_maps_that_chance_moves(rule):
    moved = [_trial(_with(5.0), [0.50, 0.54]), _trial(_with(10.0), [0.60, 0.66])]
    still = [_trial(Request("pca"), [0.4, 0.4]), _trial(_with(20.0), [0.7])]
    variance = (2 * 0.02**2 + 2 * 0.03**2) / 2
    assert rule.seed_error(moved + still) == pytest.approx(np.sqrt(2 * variance / 2))
    assert rule.seed_error(still) == 0.0


def test_the_tolerance_has_the_error_of_rows_that_differ_and_of_seeds(rule):
    one = _trial(_with(5.0), [0.5], by_row=[0.5, 0.7, 0.2, np.nan])
    other = _trial(_with(10.0), [0.5], by_row=[0.4, 0.3, 0.4, 0.9])
    rows = np.std([0.1, 0.4, -0.2], ddof=1) / np.sqrt(3)
    assert rule.tolerance(one, other, 0.2) == pytest.approx(2 * np.sqrt(rows**2 + 0.04))
    assert rule.tolerance(one, one, 0.2) == pytest.approx(0.4)
    assert rule.tolerance(one, one, 0.0) == 0.01
    of_one_row = _trial(_with(5.0), [0.5], by_row=[0.5, np.nan, np.nan, np.nan])
    assert rule.tolerance(of_one_row, other, 0.2) == pytest.approx(0.4)


def test_the_simplest_within_the_tolerance_is_taken(rule):
    made = [
        (_with(30.0), _trial(_with(30.0), [0.60, 0.60])),
        (_with(50.0), _trial(_with(50.0), [0.611, 0.611])),
        (Request("pca"), _trial(Request("pca"), [0.58, 0.58], by_row=[0.5, 0.52])),
    ]
    assert rule.simplest(made, 0.0) is made[1]
    assert rule.simplest(made, 0.006) is made[0]
    assert rule.simplest(made, 0.02) is made[2]
    made[2] = (made[2][0], _trial(Request("pca"), [0.58, 0.58], by_row=[0.5, 0.6]))  # its rows alone leave it open
    assert rule.simplest(made, 0.006) is made[2]
    assert Rule(_CRITERION, ("pca", "tsne"), 0.96).simplest(made, 0.01) is None
    assert Rule(_CRITERION, ("pca", "tsne"), 0.95).simplest(made, 0.02) is made[2]  # as trustworthy as must be


def test_a_map_that_is_worse_by_the_tolerance_is_as_good_as_the_best(rule):
    simple, best = Request("pca"), _with(50.0)
    made = [(simple, _trial(simple, [0.5, 0.5])), (best, _trial(best, [0.75, 0.75]))]
    assert rule.simplest(made, 0.125) is made[0]
    assert rule.simplest(made, 0.124) is made[1]


class _Given:
    """Trials whose scores are given instead of measured."""

    n_seeds, n_samples = 2, 1000

    def __init__(self, scores, held_out, trusts):
        self._scores, self._held_out, self._trusts, self.asked = scores, held_out, trusts, []

    def share(self, requests):
        pass

    def make(self, requests, n_seeds):
        self.asked.append(([one.name for one in requests], n_seeds))
        trusts = [self._trusts.get(one.name, 0.95) for one in requests]
        scores = [self._scores[one.name] for one in requests]
        return [
            _trial(one, [kept] * n_seeds, [trust] * n_seeds)
            for one, kept, trust in zip(requests, scores, trusts, strict=True)
        ]

    def held_out_trust(self, request, n_seeds):
        return np.full(n_seeds, self._held_out[request.name])


def _choice(held_out, trusts=None, perplexities=(10.0, 30.0, 50.0)):
    scores = {"tsne": 0.5, "tsne, perplexity=10.0": 0.6, "tsne, perplexity=50.0": 0.7, "pca": 0.3}
    trials = _Given(scores, held_out, trusts or {})
    lines = {"pca": {}, "tsne": {"perplexity": perplexities}}
    choice = Choice(trials, [Request("pca"), Request("tsne")], lines, _CRITERION)
    return choice, choice.curves()


def test_a_winner_stands_back_if_seeds_that_chose_nothing_do_not_trust_it():
    choice, _ = _choice({"pca": 0.95, "tsne, perplexity=50.0": 0.9449, "tsne, perplexity=10.0": 0.9451})
    request, trial = choice.take()
    assert request == _with(10.0)
    assert choice.refused == ("tsne, perplexity=50.0",)
    told = " ".join(choice.reasons(trial))
    assert "tsne, perplexity=50.0 is refused: with 2 further seeds its trustworthiness is 0.945, and 0.950" in told


def test_the_safest_default_is_left_when_all_others_stand_back():
    held_out = {"pca": 0.95, "tsne": 0.9, "tsne, perplexity=50.0": 0.9, "tsne, perplexity=10.0": 0.9}
    request, _ = _choice(held_out)[0].take()
    assert request == Request("pca")


def test_every_value_is_mapped_once_and_the_curve_says_with_how_many_seeds():
    choice, (curve,) = _choice({})
    assert curve.values == (10.0, 30.0, 50.0)
    assert (curve.chosen, curve.default) == (50.0, 30.0)
    assert curve.criterion == pytest.approx((0.6, 0.5, 0.7))
    asked = choice._trials.asked
    assert asked[0] == (["pca", "tsne"], 2)
    assert asked[2] == (["tsne, perplexity=50.0", "tsne, perplexity=10.0"], 2)


def test_other_maps_are_told_best_first_without_those_that_are_refused():
    choice, _ = _choice({"pca": 0.95, "tsne, perplexity=50.0": 0.9449, "tsne, perplexity=10.0": 0.945})
    _, chosen = choice.take()
    assert chosen.name == "tsne, perplexity=10.0"  # it is below by no more than the rule allows
    assert [one.name for one in choice.runner_ups(chosen)] == ["tsne", "pca"]
    assert choice.tolerance(chosen) == 0.01
    assert not any("above it" in one for one in choice.reasons(chosen))  # what stood back is not the best


def test_a_line_of_maps_that_are_all_refused_is_left_at_the_default():
    refused = dict.fromkeys(("tsne", "tsne, perplexity=10.0", "tsne, perplexity=50.0"), 0.9)
    choice, (curve,) = _choice({}, refused)
    assert (curve.chosen, curve.n_seeds[0], curve.n_seeds[2]) == (30.0, 1, 1)
    assert choice.take()[0] == Request("pca")
    assert choice.refused == ("tsne", "tsne, perplexity=10.0", "tsne, perplexity=50.0")


def test_a_line_of_one_value_is_a_curve():
    _, (curve,) = _choice({}, perplexities=(30.0,))
    assert (curve.values, curve.chosen, curve.default) == ((30.0,), 30.0, 30.0)


class _Kept:
    """Trials of maps that keep so much of the neighbourhoods, by their components."""

    def __init__(self, *kept):
        self._kept = kept

    def make(self, requests):
        return [_trial(one, [kept]) for one, kept in zip(requests, self._kept, strict=False)]


@pytest.mark.parametrize(
    ("dimension", "values", "taken"),
    [(7.0, (1, 2, 3), 3), (2.2, (1, 2, 3), 3), (1.2, (1, 2), 2), (0.4, (1, 2), 2), (np.nan, (1, 2), 2)],
)
def test_the_fewest_components_that_keep_nearly_as_much_as_most_are_taken(dimension, values, taken):
    request, trial, curve = _fewest_components(_CRITERION, _Kept(0.5, 0.9, 1.0), Request("pca"), dimension)
    assert (curve.values, curve.chosen, request.n_components) == (values, taken, taken)
    assert trial.scores[_CRITERION] == curve.criterion[-1]


@pytest.mark.parametrize(
    ("kept", "taken"),
    [
        ((0.5, 0.76, 0.8), 2),
        ((0.5, 0.75, 0.8), 3),
        ((0.38, 0.3, 0.4), 1),
        ((0.9, 0.8, 0.4), 1),
        ((0.3, 0.3, 0.8), 3),
        ((-0.3, -0.2, -0.1), 3),
    ],
)
def test_fewer_components_are_enough_at_95_percent_of_the_most(kept, taken):
    request, trial, curve = _fewest_components(_CRITERION, _Kept(*kept), Request("pca"), 5.0)
    assert (request.n_components, curve.chosen, curve.default) == (taken, taken, 2)
    assert trial.scores[_CRITERION] == kept[taken - 1]
