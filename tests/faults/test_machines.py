"""The catalogue of faults of machines and schedules (group F) that need no process of their own."""

import pickle
import re
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.faults.test_fits import ESTIMATORS, NOISE

import gnomon
from gnomon.exceptions import GnomonWarning

THREADED = [name for name, one in ESTIMATORS.items() if "n_jobs" in one.get_params()]
TOLD = [name for name, one in ESTIMATORS.items() if "callback" in one.get_params()]
SAYING = [name for name, one in ESTIMATORS.items() if "verbose" in one.get_params()]
ROOT = Path(__file__).parents[2]


def fit(name, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return clone(ESTIMATORS[name]).set_params(**parameters).fit(X)


def learned(model):
    """Return the bytes of all that a fit has learned."""
    return pickle.dumps({key: value for key, value in vars(model).items() if key.endswith("_")})


def answers(model):
    """Return what a fitted model says of new rows, in all ways that there are."""
    rows = NOISE[:20] + 0.01
    found = [model.transform(rows), model.inverse_transform(model.embedding_[:3]), model.jacobian(rows[:2])]
    return [*found, model.place(rows)] if hasattr(model, "place") else found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f78_readers_in_four_threads_see_one_model_and_change_nothing(name):
    model = fit(name, NOISE)
    expected = answers(pickle.loads(pickle.dumps(model)))
    before = learned(model)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: answers(model), range(4)))
    for one in found:
        for array, wanted in zip(one, expected, strict=True):
            np.testing.assert_array_equal(array, wanted)
    assert learned(model) == before


@pytest.mark.parametrize("name", TOLD)
def test_f75_ctrl_c_leaves_an_estimator_as_it_was(name):
    def press(progress):
        signal.raise_signal(signal.SIGINT)

    model = clone(ESTIMATORS[name]).set_params(callback=press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NOISE)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.transform(NOISE)
    model.set_params(callback=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        model.fit(NOISE)
    before, expected = learned(model), model.transform(NOISE + 0.01)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=press).fit(NOISE[:40, :3])
    assert learned(model) == before
    np.testing.assert_array_equal(model.transform(NOISE + 0.01), expected)
    np.testing.assert_array_equal(model.embedding_, fit(name, NOISE).embedding_)


@pytest.mark.parametrize("name", ["pca", "random_projection"])
def test_f75_a_fit_that_fails_leaves_an_estimator_as_it_was(name, monkeypatch):
    model = fit(name, NOISE)
    before = learned(model)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    home = f"gnomon.methods.linear.{name}"
    monkeypatch.setattr(f"{home}.principal_components" if name == "pca" else f"{home}.project_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NOISE[:40, :3])
    assert learned(model) == before
    fresh = clone(ESTIMATORS[name])
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(NOISE)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)


def test_f75_blocks_that_cannot_be_added_leave_those_before():
    model = gnomon.PCA(2).partial_fit(NOISE[:30])
    before = model.components_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((10, 5), np.nan))
    np.testing.assert_array_equal(model.components_, before)
    np.testing.assert_array_equal(
        model.partial_fit(NOISE[30:]).components_, gnomon.PCA(2).fit_blocks([NOISE[:30], NOISE[30:]]).components_
    )


@pytest.mark.parametrize("name", THREADED)
def test_f80_f83_any_number_of_threads_gives_the_same_bytes(name):
    X = np.concatenate([NOISE, NOISE[:, ::-1], NOISE[::-1] + 1.0, 2 * NOISE, NOISE[:, [1, 0, 3, 2, 4]]])  # 300 rows
    maps = {fit(name, X, n_jobs=n_jobs).embedding_.tobytes() for n_jobs in (1, 16, 3)}
    assert len(maps) == 1


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "neighbor_embedding"])
def test_f84_every_method_is_refused_in_less_memory_than_it_tells_and_fits_in_that(name, monkeypatch):
    model = clone(ESTIMATORS[name])
    told = model.foresee(*NOISE.shape).n_bytes
    less = 0.0 if name == "kernel_pca" else 0.99 * told  # which keeps no similarities where these do not fit
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: less)
    text = r"X of 60 rows must be one whose computation fits in memory, .* take .*\. (Use|Lower) "
    with pytest.raises(MemoryError, match=text):
        model.fit(NOISE)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: 1.01 * told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        assert np.isfinite(model.fit(NOISE).embedding_).all()


@pytest.mark.parametrize("evaluation", ["tree", "interpolated", "exact"])
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(np.zeros((60, 2)), id="f90-one-point"),
        pytest.param(np.column_stack([np.arange(60), np.zeros(60)]), id="f90-line"),
        pytest.param(np.column_stack([2.0 ** -np.arange(60), 2.0 ** -np.arange(60)]), id="f90-nested"),
        pytest.param(np.repeat(2.0 ** np.arange(0, 60, 2)[:, None], 2, axis=0) * [1, 1e-6], id="f90-far-apart"),
    ],
)
def test_no_arrangement_of_points_locks_up_the_sum_of_repulsions(evaluation, start):
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        Y = gnomon.TSNE(
            perplexity=5, max_iter=20, early_exaggeration_iter=5, evaluation=evaluation, init=start, random_state=0
        ).fit_transform(NOISE)
    assert time.perf_counter() - began < 10
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_f91_reports_of_progress_change_nothing_however_few_the_rows(name, n):
    told = []

    def listen(progress):
        told.append(repr(progress))

    X = NOISE[:n, :3]
    try:
        silent = fit(name, X).embedding_
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            fit(name, X, callback=listen)
        return
    np.testing.assert_array_equal(fit(name, X, callback=listen).embedding_, silent)
    assert told


@pytest.mark.parametrize("name", SAYING)
def test_f91_lines_of_progress_change_nothing(name, capsys):
    for n in (4, 6):
        silent = fit(name, NOISE[:n, :3]).embedding_
        assert capsys.readouterr().err == ""
        np.testing.assert_array_equal(fit(name, NOISE[:n, :3], verbose=True).embedding_, silent)
        lines = capsys.readouterr().err.splitlines()
        assert lines
        assert all(re.match(rf"({type(ESTIMATORS[name]).__name__}|MDS): ", line) for line in lines)  # a part of PHATE


def test_f93_kernels_are_compiled_for_any_processor_and_choose_when_they_run():
    recipe = (ROOT / "CMakeLists.txt").read_text()
    assert re.findall(r"-march=\S+", recipe) == ["-march=${GNOMON_ARCH})"]
    assert 'set(GNOMON_ARCH "" CACHE' in recipe  # unless whoever builds it asks for one level
    features = {  # by level: of functions, and of the parts of files; no multiply-adds
        level: re.findall(r'target\("([^"]+)"\)', (ROOT / f"cpp/include/gnomon/{level}.hpp").read_text())
        for level in ("levels", "each_level")
    }
    v3, v4 = features["each_level"]
    assert features["levels"] == [v3, f"{v3},{v4}"]
    assert "avx2" in v3
    assert "avx512f" in v4
    assert "fma" not in v3 + v4
    # The standard library's templates, compiled for new processors, could be linked into programs on old ones.
    levelled = [source.read_text() for source in (ROOT / "cpp/src").glob("*.cpp")]
    kernels = [text.rsplit("\n#else\n", 1)[1] for text in levelled if text.startswith("#ifndef GNOMON_LEVEL\n")]
    assert len(kernels) > 10
    assert not [part for part in kernels if "#include <" in part]


def test_f94_versions_that_are_needed_have_a_lower_bound_and_no_upper_one():
    listed = re.search(r"\ndependencies = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL)
    assert listed is not None
    needed = re.findall(r'"([^"]+)"', listed.group(1))
    assert len(needed) >= 5
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", one) for one in needed)
