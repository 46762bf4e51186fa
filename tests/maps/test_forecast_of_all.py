"""Every method tells memory and time, what follows a fit is counted, and nothing starts that cannot end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon import methods
from gnomon.clusters import halves
from gnomon.evaluation import anchors
from gnomon.explanations import collinear
from gnomon.geometry import dimension
from gnomon.maps import costs, pace
from gnomon.methods import METHODS
from gnomon.neighbors import compute_neighbors

NAMES = [card.name for card in METHODS]
MANY = 50_000_000
# Needs that rise with the landmarks, a sample or a block alone, so that even many rows fit: the rows themselves do not.
LEAST = {"random_projection": 5e8, "landmark_mds": 1e9, "pca": 8e8, "sketch_map": 1e9}


def absurd():
    """Return a table of many rows that takes no memory: all its rows are one."""
    return np.broadcast_to(np.zeros(20, dtype=np.float32), (MANY, 20))


def estimator(name):
    return getattr(methods, methods.find_method(name).estimator)()


@pytest.fixture(autouse=True)
def _pace_of_the_reference(monkeypatch):
    monkeypatch.setattr("gnomon.maps.forecasting.machine_pace", lambda: 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_tells_memory_and_time(name):
    small, large = (gnomon.forecast((n, 30), name) for n in (500, 50_000))
    assert 0.0 < small.n_bytes < large.n_bytes
    assert 0.0 < small.seconds < large.seconds
    assert set(small.durations) - {"checks"}
    assert large.between[0] < large.seconds < large.between[1]


@pytest.mark.parametrize("name", NAMES)
def test_f84_many_rows_are_refused_with_the_figures_and_a_remedy(name, monkeypatch):
    available = LEAST.get(name, 4e9)
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: available)
    found = estimator(name).foresee(MANY, 20)
    with pytest.raises(
        (MemoryError, ValueError), match=rf"X of {MANY:,} rows must be one .* (take|hours).*\. (Use|Lower) "
    ):
        found.check(MANY)


@pytest.mark.parametrize("name", ["pca", "robust_pca", "huber_pca", "stiefel_pca", "gradient_pca", "random_projection"])
def test_f84_methods_of_the_table_refuse_before_they_copy_it(name, monkeypatch):
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: 1e4)
    X = np.random.default_rng(0).normal(size=(3000, 40))
    with pytest.raises(MemoryError, match=rf"{type(estimator(name)).__name__}: X of 3,000 rows must be one whose"):
        estimator(name).fit(X)


def test_a_table_that_takes_no_memory_is_as_good_as_its_shape():
    assert gnomon.forecast(absurd()).n_bytes == pytest.approx(gnomon.forecast((MANY, 20)).n_bytes, rel=0.2)


def test_what_follows_is_counted_in_its_order():
    plain = gnomon.forecast((2000, 30))
    whole = gnomon.forecast((2000, 30), then=("file", "page"))
    assert list(whole.stages) == [*plain.stages, "explanation", "evaluation", "page", "file"]
    assert whole.n_bytes == max(whole.stages.values()) > plain.n_bytes
    assert whole.seconds == pytest.approx(sum(whole.durations.values()))
    assert whole.seconds > plain.seconds
    assert whole.fact.endswith(" of the map")
    printed = gnomon.forecast((2000, 30), then=["report"])
    assert list(printed.stages) == [*plain.stages, "explanation", "evaluation", "report"]
    assert printed.durations["report"] > whole.durations["page"]
    more = gnomon.forecast((200_000, 30), then=["report"])
    assert more.durations["report"] > printed.durations["report"]
    assert more.durations["report"] < 20 * printed.durations["report"]  # what it looks at is a sample of so many
    both = gnomon.forecast((2000, 30), then=["report", "file", "page"])
    assert list(both.stages) == [*plain.stages, "explanation", "evaluation", "page", "report", "file"]
    only = gnomon.forecast((2000, 30), then=["evaluation"])
    assert list(only.stages) == [*plain.stages, "evaluation"]


def test_a_page_is_foreseen_with_its_explanation_where_both_are_made_at_a_time():
    shape = 50_000, 50
    with gnomon.running(n_threads=2):
        together = gnomon.forecast(shape, then=["page"]).stages["page"]
    with gnomon.running(n_threads=1):
        alone = gnomon.forecast(shape, then=["page"]).stages["page"]
    assert 2e7 < together - alone < costs.answer_takes("explanation", *shape, None)[0]


def test_time_follows_iterations_neighbours_and_the_pace(monkeypatch):
    few, many = (gnomon.forecast((5000, 20), "umap", max_iter=n).durations["layout"] for n in (100, 200))
    assert 1.8 * few < many <= 2.0 * few
    assert gnomon.forecast((5000, 20), n_neighbors=30).seconds > gnomon.forecast((5000, 20)).seconds
    for way, usual in (("auto", 150), ("sampled", 500)):
        unsaid, said = (gnomon.forecast((5000, 20), gnomon.UMAP(evaluation=way, max_iter=n)) for n in (None, usual))
        assert unsaid.seconds == said.seconds
    plain = gnomon.forecast((5000, 20))
    monkeypatch.setattr("gnomon.maps.forecasting.machine_pace", lambda: 3.0)
    slow = gnomon.forecast((5000, 20))
    assert slow.seconds == pytest.approx(3.0 * plain.seconds)
    assert slow.n_bytes == plain.n_bytes


def test_the_clock_is_between_all_threads_and_one():
    one, four = (gnomon.forecast((5000, 20), n_jobs=n) for n in (1, 4))
    assert one.elapsed == one.between
    assert four.elapsed == (one.between[0] / 4, one.between[1])
    assert "by the clock on 4 threads" in str(four)
    assert "by the clock on 1 thread" in str(one)


def test_neighbours_that_are_given_take_no_search():
    X = np.random.default_rng(0).normal(size=(60, 3))
    graph = compute_neighbors(X, 20)
    assert gnomon.UMAP(precomputed_knn=graph).foresee(60, 3).durations["neighbors"] == 0.0
    assert gnomon.Isomap().foresee(60, 3).durations["neighbors"] > 0.0


def test_doubles_and_blocks_of_sparse_rows_are_counted():
    X = np.random.default_rng(0).normal(size=(3000, 400))
    double, single = (gnomon.forecast(X.astype(kind), "pca").n_bytes for kind in (np.float64, np.float32))
    assert 1.2 * single < double < 2.0 * single
    assert gnomon.forecast((3000, 400), "pca").n_bytes == double
    sparse = sp.random_array((3000, 400), density=0.01, rng=np.random.default_rng(0), format="csr")
    assert gnomon.forecast(sparse, "pca").n_bytes > double
    written_out = [gnomon.forecast(table, "robust_pca").n_bytes for table in (sparse, X)]
    assert written_out[0] == written_out[1]


def test_what_is_looked_at_for_a_page_is_as_much_as_is_foreseen():
    assert (costs._MOST_ALIKE, costs._FEWEST_ALIKE) == (collinear._NUMBERS, collinear._FEWEST)
    assert costs._ALIKE_TOGETHER == collinear._TOGETHER
    assert (costs._SAMPLED, costs._MOST_NUMBERS) == (dimension._SAMPLE, dimension._NUMBERS)
    assert (costs._LEARNED, costs._ALL_BELOW) == (halves.MOST_ROWS, anchors._ALL_BELOW)


def test_pages_of_wide_tables_are_foreseen_with_the_pairs_of_their_columns():
    found = {d: gnomon.forecast((5000, d), then=("page",)).n_bytes for d in (784, 3072)}
    assert 1.15e8 < found[784] < 1.55e8  # 129 MB of digits were measured, 126 of drawn rows
    assert 3.8e8 < found[3072] < 5.6e8  # 460 MB of pictures


def test_the_pace_is_measured_once(monkeypatch):
    fits = []
    monkeypatch.setattr(methods.UMAP, "fit", lambda self, X: fits.append(len(X)))
    ticks = iter([0.0, 9.0, 10.0, 10.06, 20.0, 29.0])
    monkeypatch.setattr(pace.time, "process_time", lambda: next(ticks))
    pace.machine_pace.cache_clear()
    found = [pace.machine_pace() for _ in range(2)]
    pace.machine_pace.cache_clear()
    assert found == pytest.approx([2.0, 2.0])  # the least of three, over 30 ms
    assert len(fits) == 3


def test_a_report_is_foreseen_of_no_map_of_landmarks_and_refused_where_it_takes_too_much(tmp_path):
    with pytest.raises(ValueError, match=r"then='report' must be left out of a map of landmarks\. Write its page"):
        gnomon.forecast((10**6, 5), n_fitted=1000, then=["report"])
    made = gnomon.Map(np.random.default_rng(0).normal(size=(60, 3)), np.random.default_rng(1).normal(size=(60, 2)))
    with (
        gnomon.running(memory=1e7),
        pytest.raises(MemoryError, match=r"^write_report: a map of 60 rows must .*its report"),
    ):
        made.write_report(tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_pages_of_sparse_tables_are_foreseen_by_the_columns_that_rows_store():
    rng = np.random.default_rng(0)
    parts = rng.random(20_000), (np.repeat(np.arange(1000), 20), rng.integers(0, 2000, 20_000))
    few = sp.csr_array(parts, shape=(1000, 2000))
    wide = sp.csr_array((few.data, few.indices, few.indptr), shape=(1000, 20_000))
    many = sp.csr_array((few.data, 10 * few.indices, few.indptr), shape=(1000, 20_000))
    many.indices += rng.integers(0, 10, many.nnz)
    then = ("explanation", "evaluation", "page")
    told = [gnomon.forecast(X, then=then) for X in (few, wide, many)]
    for name in ("explanation", "page"):
        assert told[0].durations[name] < told[1].durations[name] <= told[2].durations[name]
    assert told[2].durations["page"] > 2.0 * told[1].durations["page"]
    assert told[0].stages["page"] < told[1].stages["page"] < told[2].stages["page"]
    assert told[0].durations["evaluation"] == told[2].durations["evaluation"]
