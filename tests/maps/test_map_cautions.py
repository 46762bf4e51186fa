"""Every question of a map carries what is known of its rows against it, in one order; reports and pages say it once."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon._validation import warn
from gnomon.exceptions import DataWarning
from gnomon.maps.order import order_of_rows
from gnomon.maps.printed.sections import about, answers, groups, meaning
from gnomon.maps.printed.subject import Subject
from gnomon.viewer import PageContent

N = 400
OWNERS = "rows repeat 40 sets of values in the columns 'a' and 'b'"
ORDER, WEIGHTS = "Rows that follow each other in the table are more alike", "Rows count once here"
HALVES = np.where(np.arange(N) < N // 2, "first", "second")
FIRST = HALVES == "first"
ORDER_AND_WEIGHTS = {
    "importance": lambda m: m.importance(),  # errors of means
    "importance_by_label": lambda m: m.importance_by_label(),
    "are_apart": lambda m: m.are_apart("first", "second", n_nulls=19),
    "axis": lambda m: m.axis([2 * m.embedding[FIRST].mean(axis=0), 2 * m.embedding[~FIRST].mean(axis=0)]),
    "captions": lambda m: m.captions(),
    "clusters": lambda m: m.clusters(),
    "contrast": lambda m: m.contrast("first"),
    "evaluate": lambda m: m.evaluate(),
    "extend": lambda m: m.extend(m.X[:100] + 0.01)[1],
    "illusions": lambda m: m.illusions(),
    "intrinsic_dimension": lambda m: m.intrinsic_dimension(),
    "is_continuum": lambda m: m.is_continuum("first", "second", n_nulls=19),
    "is_denser": lambda m: m.is_denser("first", "second"),
    "is_nearer": lambda m: m.is_nearer(np.arange(130), np.arange(130, 260), np.arange(260, N)),
    "is_real": lambda m: m.is_real("first", n_nulls=19),
    "profiles": lambda m: m.profiles(),
    "scorecard": lambda m: m.scorecard(["intrinsic_dimension"]),
    "suspects": lambda m: m.suspects(),
    "verdicts": lambda m: m.verdicts(n_nulls=19),
}
NO_WEIGHTS = {"null_scores": lambda m: m.null_scores(n_nulls=2)}  # refused where weights made the map
NO_ORDER = {  # what they tell is of these rows alone, without a chance of it
    "outliers": lambda m: m.outliers(),
}
NEITHER = {
    **dict.fromkeys(("report", "to_dict", "to_html", "widget", "write_report"), "tell the answers, and cautions once"),
    **dict.fromkeys(("counterfactual", "saliency", "why"), "about one point, or the mean over some, as it is drawn"),
    **dict.fromkeys(("false_neighbors", "missing_neighbors", "point_scores"), "of single points, as they are drawn"),
    **dict.fromkeys(("plot", "plot_points", "plot_saliency", "to_png"), "pictures"),
    **dict.fromkeys(
        ("filling", "inverse_transform", "jacobian", "linearize", "novelty", "place", "transform"), "the function"
    ),
    **dict.fromkeys(("explain", "feature_groups", "with_features", "without_metadata"), "what others are made of"),
    **dict.fromkeys(("export", "fingerprint", "load", "save"), "files"),
    **dict.fromkeys(("find", "neighbors", "select"), "rows of the table"),
    "blind_spots": "about the map alone, whatever its rows are",
    "continuity_scores": "about breaks of this map, between these rows",
    "proves": "about the map alone, whatever its rows are",
    "repeats": "about sets of rows so near that other rows hardly come, in any order",
    "stability": "about runs of the method on these rows; it refuses a map that weights made",
}


def _series(weights=None, labels=HALVES, order=None):
    """Return a map of one process that has gone to another well half-way, in its order or another."""
    rng, kept = np.random.default_rng(0), np.exp(-1 / 6.0)
    X = rng.normal(size=(N, 6))
    for i in range(1, N):
        X[i] = kept * X[i - 1] + np.sqrt(1 - kept**2) * X[i]
    X[~FIRST, 0] += 12.0
    return gn.map(X if order is None else X[order], method="pca", labels=labels, sample_weight=weights)


@pytest.fixture(scope="module")
def weighted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        m = _series(np.random.default_rng(1).uniform(0.5, 2.0, N))
        assert m.clusters().levels  # else their order says nothing
        return m


@pytest.fixture(scope="module")
def unlabelled():
    return _series(np.random.default_rng(1).uniform(0.5, 2.0, N), labels=None)


def test_every_question_of_a_map_carries_the_cautions_or_needs_none_for_a_reason():
    public = {name for name in dir(gn.Map) if not name.startswith("_") and callable(getattr(gn.Map, name))}
    known = [*ORDER_AND_WEIGHTS, *NO_WEIGHTS, *NO_ORDER, *NEITHER]
    assert len(known) == len(set(known))
    assert public == set(known)


@pytest.mark.parametrize("name", [*ORDER_AND_WEIGHTS, *NO_ORDER])
def test_cautions_of_order_come_first_and_those_of_weights_last_each_once(weighted, name):
    ask = {**ORDER_AND_WEIGHTS, **NO_ORDER}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        answer = ask(weighted)
    assert answer.caution.count(ORDER) == (name in ORDER_AND_WEIGHTS)
    assert answer.caution.count(WEIGHTS) == 1
    assert answer.caution.startswith((ORDER, "Of the map: " + ORDER) if name in ORDER_AND_WEIGHTS else WEIGHTS)
    assert answer.caution.endswith("and ask that.")
    assert answer.caution in str(answer)


def test_reports_and_pages_say_once_that_rows_are_in_order_and_that_weights_do_not_count(unlabelled, monkeypatch):
    for section, picture in ((about, "plot_map"), (groups, "plot_clusters"), (meaning, "plot_dimension")):
        monkeypatch.setattr(section, picture, lambda *given, **options: None)
        monkeypatch.setattr(section, "drawing", lambda *given, **options: None)  # pictures take seconds
    printed = [about.overview, about.data, meaning.dimension, groups.found_clusters, answers.shown]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)  # the report says what a warning would
        texts = [unlabelled.report()]
        sections = [section(Subject(unlabelled)) for section in printed]
        info = PageContent.of(unlabelled).info
    assert unlabelled.clusters().caution.startswith(ORDER)
    assert ORDER in unlabelled.report().splitlines()[1]
    texts += ["".join(str(one.body) for one in sections), "; ".join(map(str, info.values()))]
    for text in texts:
        assert text.count(ORDER) == 1
        assert len(re.findall("Rows have weights|Rows count once", text)) == 1


@pytest.fixture(scope="module")
def joined():
    rng = np.random.default_rng(0)
    owners = rng.permutation(np.repeat(np.arange(40), N // 40))
    X = pd.DataFrame({"a": rng.normal(size=40)[owners], "b": rng.normal(size=40)[owners]})
    X[["own", "too"]] = rng.normal(size=(N, 2))
    with pytest.warns(DataWarning, match=OWNERS):
        return gn.map(X, method="pca", labels=np.where(X["a"] > 0, "first", "second"))


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("name", [*ORDER_AND_WEIGHTS, *NO_WEIGHTS, *NO_ORDER])
def test_what_is_judged_by_independent_rows_says_once_that_they_repeat_columns(joined, name):
    ask = {**ORDER_AND_WEIGHTS, **NO_WEIGHTS, **NO_ORDER}[name]
    if name == "axis":
        ends = [joined.embedding[joined.labels == one].mean(axis=0) for one in ("first", "second")]
        answer = joined.axis([2 * ends[0], 2 * ends[1]])
    else:
        answer = ask(joined)
    claimed = name not in NO_ORDER and (name != "clusters" or len(answer))
    assert answer.caution.count(OWNERS) == bool(claimed)


def test_what_is_judged_between_owners_has_no_such_caution(joined):
    units = joined.X[:, joined.feature_names.index("a")]
    assert OWNERS in joined.contrast("first").caution
    assert OWNERS not in joined.contrast("first", units=units).caution
    assert OWNERS not in joined.captions(units=units).caution


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_reports_say_once_that_rows_repeat_columns(joined):
    given = gn.Map(X=joined.X, embedding=joined.embedding, feature_names=joined.feature_names)
    for one in (joined, given):
        assert one.report(verdicts=False).count(OWNERS) == 1


@pytest.mark.parametrize("whose", ["with clusters", "without"])
def test_what_else_is_warned_of_clusters_is_warned_of_by_a_report(unlabelled, monkeypatch, whose):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = unlabelled.clusters()

    def clusters(self):
        warn("something else", DataWarning)
        return found if whose == "with clusters" else replace(found, levels=())

    monkeypatch.setattr(gn.Map, "clusters", clusters)
    with pytest.warns(DataWarning, match="something else"):
        unlabelled._clusters_shown()


def test_reports_of_rows_in_random_order_say_nothing_of_it():
    m = _series(labels=None, order=np.random.default_rng(0).permutation(N))
    assert ORDER not in m.report(verdicts=False)
    assert "order of rows" not in PageContent.of(m).info


def test_the_order_is_looked_for_once_whatever_is_asked(monkeypatch):
    from gnomon.neighbors import succession

    looked, look = [], succession._look
    monkeypatch.setattr(succession, "_look", lambda *given: looked.append(0) or look(*given))
    m = _series(labels=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = [m.clusters(random_state=1), m.intrinsic_dimension(), m.clusters()]
        assert ORDER in m.are_apart(FIRST, ~FIRST, n_nulls=19).caution
    assert "dimension" in m.scorecard(["intrinsic_dimension"], random_state=1).caution
    assert len(looked) == 1
    assert all(one.succession == order_of_rows(m) for one in found)
