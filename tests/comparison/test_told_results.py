"""What comparisons and recommendations say of maps whose scores are given: sets, choices, tables and sentences."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gnomon.comparison import HEADLINES, Comparison, Curve, Recommendation
from gnomon.comparison.rule import Rule
from gnomon.comparison.trials import Trial
from gnomon.evaluation import MEASURES
from gnomon.evaluation.scorecard import Score

_NAMES = ("one", "two", "a third")


def _trial(name, values, method="pca", seconds=1.25):
    """Return a map with the values of some measures, a number or one for each seed."""
    values = {measure: np.atleast_1d(np.asarray(found, float)) for measure, found in values.items()}
    card = {measure: Score(MEASURES[measure], v[0], None, None, 9, None, True) for measure, v in values.items()}
    return Trial(name, method, {}, np.zeros((9, 2), np.float32), card, values, seconds)


def _comparison(trials, **given):
    fields = {"agreement_metric": "knn", "labels": None, "n_neighbors": 4, "graph_neighbors": 0, "n_seeds": 1}
    agreement = np.eye(len(trials)) * 0.75 + 0.25
    return Comparison(trials=tuple(trials), agreement=agreement, random_state=5, **fields | given)


def _of_qualities(*rows):
    values = [dict(zip(HEADLINES.values(), row, strict=True)) for row in rows]
    return _comparison([_trial(_NAMES[k], one) for k, one in enumerate(values)])


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([(0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5)], (0, 1)),  # neither excels the other
        ([(0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.6)], (1,)),  # one quality is enough beside ties
        ([(0.6, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.6)], (0, 1)),
        ([(0.4, 0.4, 0.4, 0.4), (0.5, 0.5, 0.5, 0.3), (0.5, 0.5, 0.5, 0.5)], (2,)),
        ([(0.5, 0.5, 0.5, np.nan), (0.5, 0.5, 0.5, 0.1)], (1,)),  # what was not taken counts as the worst
        ([(0.9, 0.5, 0.5, np.nan), (0.5, 0.5, 0.5, 0.1)], (0, 1)),
    ],
)
def test_the_pareto_set_is_of_maps_that_none_equals_or_excels_in_all_and_excels_in_one(rows, kept):
    found = _of_qualities(*rows)
    assert found.pareto == tuple(_NAMES[k] for k in kept)
    lines = found.summary().splitlines()[1 : 1 + len(rows)]
    assert [name for name, line in zip(_NAMES, lines, strict=False) if "*" in line] == list(found.pareto)


@pytest.mark.parametrize("measure", [name for name, one in MEASURES.items() if one.best is not None])
def test_the_best_map_is_that_of_the_value_nearest_the_best_of_a_measure(measure):
    values = (-0.6, 0.3, -0.2) if MEASURES[measure].low < 0 else (0.6, 0.3, 0.9)
    found = _comparison([_trial(name, {measure: value}) for name, value in zip(_NAMES, values, strict=True)])
    wanted = min(values, key=lambda value: abs(value - MEASURES[measure].best))
    assert found.best(measure).scores[measure] == wanted


@pytest.mark.parametrize("measure", ["intrinsic_dimension", "stress", "quality"])
def test_the_best_map_is_asked_for_by_a_measure_that_was_taken_and_judges(measure):
    found = _comparison([_trial("one", {"intrinsic_dimension": 2.0, "continuity": 0.5, "trustworthiness": 0.5})])
    with pytest.raises(ValueError, match=rf"measure='{measure}' must be one of 'continuity', 'trustworthiness'"):
        found.best(measure)


def test_the_table_of_a_comparison_has_each_map_with_the_noise_of_its_seeds():
    names = list(HEADLINES.values())
    one = _trial("one", dict.fromkeys(names, (0.5, 0.6)), seconds=0.5)
    other = _trial("another", dict.fromkeys(names[:3], 0.25))
    told = _comparison([one, other], graph_neighbors=15, n_seeds=2, metric="cosine").summary().splitlines()
    assert told[1] == "one     *" + f"{'0.550 ± 0.071':>27}" * 4 + "      0.50"
    assert told[2] == "another  " + f"{'0.250':>27}" * 3 + f"{'nan':>27}" + "      1.25"
    assert [line.partition(":")[0] for line in told[3:7]] == [name.replace("_", " ") for name in names]
    assert told[7:9] == ["", "how alike two maps are (knn, 1: the same map)"]
    assert told[9:11] == ["  1 one        1.00  0.25", "  2 another    0.25  1.00"]
    assert told[11] == (
        "*: no other map is as good in all four; 4 neighbours in the measures by cosine distances; "
        "one graph of 15 neighbours; 2 fits of each; random_state=5"
    )
    alone = _comparison([one]).summary().splitlines()
    assert alone[-1].startswith(
        "*: no other map is as good in all four; 4 neighbours in the measures; no shared graph;"
    )
    assert len(alone) == 7


def test_the_document_of_a_comparison_is_plain_and_has_no_noise_of_a_single_seed():
    found = _comparison([_trial("one", {"continuity": (0.5, 0.7)}), _trial("two", {"continuity": 0.25})])
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["noise"]["continuity"] for one in told["maps"]] == [pytest.approx(0.02**0.5), None]
    assert [one["scores"]["continuity"] for one in told["maps"]] == [pytest.approx(0.6), 0.25]
    frame = found.to_frame()
    assert list(frame["continuity_noise"].isna()) == [False, True]
    assert (list(frame.index), list(frame["seconds"])) == (["one", "two"], [1.25, 1.25])


def test_results_stand_in_lists_in_a_few_words_without_their_arrays():
    one = _trial("one", {"continuity": 0.5})
    assert repr(one) == "Trial(name='one', method='pca', parameters={}, seconds=1.25)"
    assert repr(_comparison([one, one])) == "Comparison of 2 maps"
    assert repr(_recommendation((), [])) == "Recommendation of a"


def test_panels_have_the_name_of_each_map_and_what_it_keeps_unless_titles_are_given():
    found = _comparison([_trial(name, {"neighborhood_preservation": 0.5}) for name in _NAMES])
    told = [f"{name}\nneighbours kept 0.50" for name in _NAMES]
    assert [ax.get_title(loc="left") for ax in found.plot().axes_] == told
    assert [ax.get_title(loc="left") for ax in found.plot(titles=[1, 2, 3]).axes_] == ["1", "2", "3"]


_MAPS = [
    _trial(name, {"auc_rnx": value, "trustworthiness": 0.9}) for name, value in zip("abcdef", range(6), strict=True)
]


def _recommendation(curves, runner_ups):
    comparison = _comparison(_MAPS)
    fields = {"n_components": 2, "refused": ("f",), "tolerance": 0.01, "intrinsic_dimension": 2.0, "rows": np.arange(9)}
    return Recommendation(
        method="tsne",
        parameters={},
        reasons=("It is good.", "It is simple."),
        curves=curves,
        comparison=comparison,
        chosen=_MAPS[0],
        runner_ups=tuple(runner_ups),
        criterion="auc_rnx",
        **fields,
    )


def test_a_recommendation_prints_its_reasons_its_curves_and_the_next_three():
    curve = Curve("tsne", "perplexity", (5.0, 30.0, 50.0), (0.5, 0.625, 0.75), (0.9, 0.95, 1.0), (1, 2, 2), 30.0, 5.0)
    found = _recommendation((curve, replace(curve, chosen=30.0)), _MAPS[1:5])
    assert str(found).splitlines() == [
        "Use a.",
        "It is good.",
        "It is simple.",
        "",
        "tsne, auc rnx over perplexity",
        "     5.0   0.500   trust 0.900  <- chosen",
        "    30.0   0.625   trust 0.950  (default)",
        "    50.0   0.750   trust 1.000",
        "tsne, auc rnx over perplexity",
        "     5.0   0.500   trust 0.900",
        "    30.0   0.625   trust 0.950  <- chosen",
        "    50.0   0.750   trust 1.000",
        "Next best: b (1.000); c (2.000); d (3.000).",
    ]
    assert "Next best" not in str(_recommendation((curve,), []))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["curves"][0]["values"] == [5.0, 30.0, 50.0]
    assert (told["runner_ups"], told["n_rows"]) == (["b", "c", "d", "e"], 9)


@pytest.mark.parametrize(
    ("best", "trusts", "told"),
    [
        (0.5, (0.9, 0.9, 0.9), []),
        (0.505, (0.9, 0.9, 0.9), ["best has 0.505, above it by less than the tolerance of 0.010: the simpler"]),
        (0.5, (0.9, 0.8, 0.9), ["1 map is refused: its trustworthiness is below 0.850, which is 0.005 below the best"]),
        (0.5, (0.8, 0.8, 0.85), ["2 maps are refused: their trustworthiness is below 0.850"]),
        (0.6, (0.8, 0.8, 0.8), ["best has 0.600, above it", "3 maps are refused: their"]),
    ],
)
def test_reasons_say_what_is_above_the_choice_and_how_many_maps_are_refused(best, trusts, told):
    made = [_trial("some", {"auc_rnx": 0.5, "trustworthiness": trust}) for trust in trusts]
    best = _trial("best", {"auc_rnx": best, "trustworthiness": 0.9})
    found = Rule("auc_rnx", ("pca",), 0.85).reasons(made, best, made[0], 0.01)
    assert found[0].startswith("3 maps were compared by auc rnx (")
    assert found[0].endswith("; some has 0.500.")
    assert len(found[1:]) == len(told)
    assert all(sentence.startswith(start) for sentence, start in zip(found[1:], told, strict=True))
