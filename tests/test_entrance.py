"""Entrances: the name, the threads and the seed of a run come from what the user called and how."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

import gnomon
from gnomon._entrance import entrance, part
from gnomon._machine import usable_cpus
from gnomon._run import current_run, running
from gnomon._validation import message, warn
from gnomon.exceptions import NeighborsWarning


@pytest.fixture(autouse=True)
def whole_machine(monkeypatch):
    """All threads of the machine, also where workers of the tests have one each."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@entrance("ask")
def ask(X, n_jobs=None):
    """Return the run."""
    return current_run()


@entrance("plain")
def plain():
    return current_run()


@entrance("draw", seeded=True)
def draw(X, *, random_state=0, callback=None, n_jobs=None):
    return current_run()


@entrance("work")
def work(X, *, executor=None):
    return current_run().executor


@entrance("outer")
def outer(X, *, executor=None):
    return current_run().executor, work(X)


@part("inner")
def inner():
    return current_run()


class Maker(TransformerMixin, BaseEstimator):
    """An estimator that notes its runs."""

    def __init__(self, n_jobs=None, random_state=0, callback=None):
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    @entrance(seeded=True)
    def fit(self, X, y=None):
        self.run_ = current_run()
        return self

    @entrance()
    def transform(self, X):
        warn("careful", NeighborsWarning)
        self.transform_run_ = current_run()
        return X

    @part()
    def look(self, *at):
        return current_run()


class Other(Maker):
    """A class of the user's own."""


def test_a_function_has_the_name_it_says_and_a_method_that_of_the_class():
    assert ask(0).name == "ask"
    assert Maker().fit(0).run_.name == "Maker"
    assert Other().fit(0).run_.name == "Other"


def test_a_call_inside_a_call_has_its_own_name_and_gives_the_other_back():
    with running(name="outer") as outer:
        assert ask(0).name == "ask"
        assert current_run() is outer
    assert current_run().name == ""


def test_a_call_that_keeps_the_name_around_it_has_its_own_alone():
    @entrance("shown", keeps_name=True)
    def shown():
        return current_run()

    @entrance("report")
    def report():
        return shown()

    assert (shown().name, shown().within) == ("shown", False)
    assert (report().name, report().within) == ("report", True)


def test_a_call_that_fails_leaves_no_name():
    @entrance("fails")
    def fail():
        raise ValueError(message("a=1", "2"))

    with pytest.raises(ValueError, match=r"^fails: a=1 must be 2\.$"):
        fail()
    assert current_run().name == ""


def test_what_surrounds_names_errors_no_more_than_the_call_does():
    @part("inner")
    def fail():
        raise ValueError(message("a=1", "2"))

    with pytest.raises(ValueError, match=r"^inner: "):
        fail()
    with running(name="ask"), pytest.raises(ValueError, match=r"^ask: "):
        fail()


def test_a_decorated_function_still_looks_like_itself():
    assert list(inspect.signature(ask).parameters) == ["X", "n_jobs"]
    assert (ask.__name__, ask.__doc__) == ("ask", "Return the run.")


@pytest.mark.parametrize("call", [lambda n: ask(0, n), lambda n: ask(0, n_jobs=n), lambda n: ask(X=0, n_jobs=n)])
def test_threads_are_those_of_the_parameter(call):
    assert call(3).n_threads == 3
    assert call(-1).n_threads == usable_cpus()


def test_threads_are_those_of_the_object():
    maker = Maker(n_jobs=3).fit(0)
    assert maker.run_.n_threads == 3
    with pytest.warns(NeighborsWarning):
        maker.transform(0)
    assert maker.transform_run_.n_threads == 3
    assert ask(0).n_threads == usable_cpus()


@pytest.mark.parametrize("who", ["explanation", "result"])
def test_threads_are_those_of_what_is_asked_about(who):
    scope = {}
    exec(f"def question({who}, i):\n    return run()", {"run": current_run}, scope)
    question = entrance("question")(scope["question"])
    assert question(Maker(n_jobs=3), 0).n_threads == 3
    assert question(**{who: Maker(n_jobs=2), "i": 0}).n_threads == 2
    assert question(object(), 0).n_threads == usable_cpus()


def test_other_first_arguments_say_nothing():
    assert ask(Maker(n_jobs=3)).n_threads == usable_cpus()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_without_n_jobs_the_threads_around_the_call_stay(n_jobs):
    expected = n_jobs or 5
    with running(n_threads=5):
        assert ask(0, n_jobs).n_threads == expected
        assert Maker(n_jobs=n_jobs).fit(0).run_.n_threads == expected
        assert draw(0, n_jobs=n_jobs).n_threads == expected
        assert plain().n_threads == 5
        assert inner().n_threads == 5


def test_wrong_n_jobs_are_refused_under_the_name_of_the_call():
    with pytest.raises(ValueError, match=r"^ask: n_jobs=0 must not be 0\."):
        ask(0, 0)
    with pytest.raises(TypeError, match=r"^Other: n_jobs='2' must be an integer or None \(found str\)"):
        Other(n_jobs="2").fit(0)
    assert current_run().name == ""


def test_a_seeded_call_has_a_seed_and_a_reporter_of_its_own():
    def callback(progress):
        return False

    with running(seed=5) as outer:
        one = draw(0, random_state=3, callback=callback)
        assert (one.seed, one.reporter.callback) == (3, callback)
        assert draw(0).seed == 0
        assert draw(0).reporter is not outer.reporter
        assert Maker(random_state=9, callback=callback).fit(0).run_.seed == 9
        assert ask(0).seed == 5
        assert ask(0).reporter is outer.reporter


def test_other_calls_leave_the_seed_and_the_reporter_around_them():
    @entrance("sample")
    def sample(X, random_state=0, callback=None):
        return current_run()

    with running(seed=5) as outer:
        inside = sample(0, random_state=3, callback=print)
    assert (inside.seed, inside.reporter) == (5, outer.reporter)


def test_a_generator_is_asked_for_one_seed_a_call():
    drawn = [draw(0, random_state=rng).seed for rng in [np.random.default_rng(0)] * 2]
    again = [draw(0, random_state=rng).seed for rng in [np.random.default_rng(0)] * 2]
    assert drawn == again
    assert drawn[0] != drawn[1]


def test_a_wrong_seed_is_refused_under_the_name_of_the_call():
    with pytest.raises(ValueError, match=r"^draw: random_state=-1 must be"):
        draw(0, random_state=-1)


def test_a_part_has_a_name_only_where_nothing_surrounds_it():
    assert inner().name == "inner"
    assert Other().look().name == Other().look(3).name == "Other"
    with running(n_threads=3, memory=1e9) as outer:
        assert (inner().name, inner().n_threads, inner().memory) == ("inner", 3, 1e9)
    with running(name="ask") as outer:
        assert inner() is outer
        assert Maker(n_jobs=7).look() is outer
    assert Maker(n_jobs=7).look().n_threads == usable_cpus()


def test_warnings_have_the_name_of_the_call():
    with pytest.warns(NeighborsWarning, match=r"^Other: careful$"):
        Other().transform(0)


@pytest.mark.parametrize("through", ["fit_transform", "set_output", "pipeline"])
def test_warnings_point_at_the_line_of_the_user(through):
    """Rows on a line in three pieces, which UMAP joins with a warning; scikit-learn wraps each of these calls."""
    X = np.sort(np.concatenate([np.linspace(0, 1, 20) + 100 * j for j in range(3)]))[:, None]
    estimator = gnomon.LaplacianEigenmaps(n_neighbors=3, random_state=0)
    if through == "set_output":
        estimator.set_output(transform="default")
    if through == "pipeline":
        estimator = make_pipeline(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        estimator.fit_transform(X)
    assert caught
    for warning in caught:
        assert str(warning.message).startswith("LaplacianEigenmaps: ")
        assert (warning.filename, warning.lineno) == (__file__, line)


def test_who_works_is_who_was_asked_else_who_works_for_the_call_around():
    assert work(0) is None
    assert outer(0) == (None, None)
    asked, within = outer(0, executor="tcp://10.0.0.1:8786")
    assert asked.asked == "tcp://10.0.0.1:8786"
    assert within is asked


def test_what_is_told_of_progress_can_be_called():
    with pytest.raises(
        TypeError, match=r"^UMAP: callback=3 must be a function of a gnomon\.Progress, or None \(found int\)"
    ):
        gnomon.UMAP(callback=3).fit(np.eye(4))


class Worker:
    """Notes whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


def test_who_was_asked_to_work_is_closed_with_the_call_and_no_sooner():
    made = Worker()

    @entrance("hire")
    def hire(X, *, executor=None):
        current_run().executor.opened(lambda asked: made)
        work(X)
        assert not made.closed

    hire(0, executor="tcp://10.0.0.1:8786")
    assert made.closed
    around = Worker()
    with running(executor=around):
        work(0)
    assert not around.closed


def test_memory_is_that_of_the_parameter_else_that_around_the_call():
    @entrance("weigh")
    def weigh(X, *, memory_budget=None):
        return current_run().memory

    with running(memory=5e9):
        assert weigh(0) == 5e9
        assert weigh(0, memory_budget="1 GB") == 1e9
        assert ask(0).memory == 5e9
    with pytest.raises(ValueError, match=r"^weigh: memory_budget=-1 must be"):
        weigh(0, memory_budget=-1)


@entrance("talk", seeded=True)
def talk(X, verbose=False, callback=None):
    current_run().reporter.begin("layout", 2)


class Mute(Maker):
    """One that says how far it is to no one."""

    @entrance(seeded=True)
    def fit(self, X, y=None):
        current_run().reporter.begin("layout", 2)
        return self


class Talker(Mute):
    """One that may be asked to say it."""

    def __init__(self, verbose=False):
        super().__init__()
        self.verbose = verbose


def test_a_seeded_call_writes_its_progress_where_it_is_asked_to(capsys):
    for verbose, lines in ((True, ["talk: layout"]), (2, ["talk: layout"]), (False, []), (0, [])):
        talk(0, verbose)
        assert capsys.readouterr().err.splitlines() == lines
    Talker(verbose=True).fit(0)
    assert capsys.readouterr().err.startswith("Talker: layout")
    for silent in (Talker().fit, Mute().fit, ask, talk):
        silent(0)
        assert capsys.readouterr().err == ""
    for verbose, error in ((-1, ValueError), ("yes", TypeError)):
        with pytest.raises(error, match=r"^talk: verbose=.* must be True or False or an integer >= 0"):
            talk(0, verbose)


def test_a_call_that_is_not_seeded_has_no_progress_of_its_own(capsys):
    @entrance("murmur")
    def murmur(X, verbose=False):
        current_run().reporter.begin("layout", 2)

    murmur(0, verbose=True)
    assert capsys.readouterr().err == ""


def test_calls_within_calls_know_it_and_share_what_was_made():
    @entrance("outer")
    def calls():
        return current_run(), plain(), inner()

    outside, within, of_part = calls()
    assert (outside.within, within.within) == (False, True)
    assert outside.made is not None
    assert within.made is outside.made
    assert of_part is outside
    assert plain().made is not outside.made


@entrance("compare")
def compare(X, *, metric="euclidean"):
    return metric


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"period": 360}, r"Pass metric='periodic\(360\)';"),
        ({"period": [360, 24.5, None]}, r"Pass metric='periodic\(360, 24.5, inf\)';"),
        ({"p": 3}, r"Pass metric='periodic\(360\)';"),
        (None, r"Pass metric='periodic\(360\)';"),
    ],
)
def test_functions_whose_metric_is_a_name_say_how_it_is_given_a_period(given, told):
    with pytest.raises(TypeError, match=rf"^compare: metric_params must be left out .*{told}"):
        compare(1, metric="periodic", metric_params=given)
    assert compare(1, metric="periodic(360)") == "periodic(360)"
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric_parms'"):
        compare(1, metric_parms=given)


@pytest.mark.parametrize("name", ["intrinsic_dimension", "find_clusters", "evaluate", "evaluation.scorecard"])
def test_questions_about_angles_say_how_a_period_is_given(name):
    ask = gnomon
    for part_of_name in name.split("."):
        ask = getattr(ask, part_of_name)
    X = np.random.default_rng(0).uniform(0, 360, (80, 2))
    given = (X,) if name in ("intrinsic_dimension", "find_clusters") else (X, X)
    with pytest.raises(TypeError, match=r"metric_params must be left out .*metric='periodic\(360\)'"):
        ask(*given, metric="periodic", metric_params={"period": 360})
