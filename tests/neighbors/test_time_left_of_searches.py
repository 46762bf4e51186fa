"""What a search for neighbours tells while it runs, on a clock by which only what the tests say takes time."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gnomon import _core, _progress
from gnomon._progress import Reporter
from gnomon.neighbors import cells, compute_neighbors, euclidean
from gnomon.neighbors.cell_plans import Effort, Plan
from gnomon.neighbors.euclidean import _round_costs


class _Join:
    """A join packed in 1000 seconds, whose blocks of cells are compared in one each, but the first in 500."""

    def __init__(self, now, *given):
        self._now, self._join = now, _core.CellJoin(*given)
        now[0] += 1000.0

    def __getattr__(self, name):
        return getattr(self._join, name)

    def run(self, *given):
        self._now[0] += 1.0 if given[0] else 500.0  # what it writes to is new memory
        self._join.run(*given)


def test_the_time_left_counts_the_ranking_that_follows_and_not_what_was_planned_before(monkeypatch):
    now, seen = [0.0], []
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(Effort, "joined_share", lambda *_: 0.25)  # three times as long are candidates ranked

    class Core:
        CellJoin = staticmethod(lambda *given: _Join(now, *given))

        def __getattr__(self, name):
            return getattr(_core, name)

    monkeypatch.setattr(cells, "_core", Core())
    X = make_blobs(2000, 20, centers=30, random_state=0)[0].astype(np.float32)
    reporter = Reporter(lambda progress: seen.append((progress.done, progress.seconds_left)))
    reporter.begin("neighbors", len(X))
    compute_neighbors(X, 5, method="approximate", reporter=reporter)
    *during, (done, _) = seen[1:]
    assert done == len(X)
    assert during[-1][1] == pytest.approx(3 * len(during), rel=0.1)
    assert max(left for _, left in during) < len(X)  # no row took longer than a block


EFFORT = Effort(20_000, 100, 50, 50.0, 50.0, by_proxy=False, projected=False)


def _odds(n_probes, n_kept, effort=EFFORT):
    """What is joined over what is ranked."""
    share = effort.joined_share(Plan(n_probes, 5), n_kept)
    return share / (1.0 - share)


def test_pairs_shift_the_share_of_the_join_in_proportion_and_candidates_by_those_that_are_kept():
    """The n-th pair is one of the k nearest so far with probability k / n: 2 n pairs keep k log 2 more than n."""
    pairs, ranked = 0.25 + 0.025 * 50, 36.0 + 0.008 * 50
    assert _odds(20, 30) - _odds(10, 30) == pytest.approx((2000 * pairs + 7.0 * 30 * np.log(2)) / (30 * ranked))
    assert _odds(10, 30) - _odds(10, 60) == pytest.approx((2000 * pairs / 60 + 7.0 * np.log(2)) / ranked)


def test_the_share_is_known_where_every_pair_is_kept():
    assert 0.0 < EFFORT.joined_share(Plan(1, 5), 4000) < 1.0


def test_rounded_rows_are_joined_sooner():
    assert _odds(10, 30, replace(EFFORT, projected=True)) < _odds(10, 30)


def test_the_candidates_that_are_kept_count(monkeypatch):
    """Beside those of a plan a few more are kept of rounded rows."""
    counted = []
    monkeypatch.setattr(Effort, "joined_share", lambda _, plan, n_kept: counted.append((plan, n_kept)) or 0.5)
    X = make_blobs(2000, 200, centers=30, random_state=0)[0].astype(np.float32)
    compute_neighbors(X, 5, method="approximate", reporter=Reporter(lambda _: None))
    assert counted
    assert all(n_kept == plan.n_candidates + 8 for plan, n_kept in counted)


def test_rounds_of_all_pairs_cost_what_they_compare_and_keep():
    n, k, rounds, share = 6000, 60, 12, 0.75
    costs = _round_costs(n, 40, k, rounds, share)
    begins, factors = zip(*costs, strict=True)
    assert begins == (*range(0, 4500, 375), 4500)
    assert factors[-1] == 1.0
    assert np.mean(factors[:-1]) == pytest.approx(1.0)
    compared, kept = 50 * 250.0, 400.0 * k  # coordinates of the pairs of a row in a round, those that a candidate costs
    assert factors[0] / factors[1] == pytest.approx(
        (compared + kept * (1.0 + np.log(500 / k))) / (compared + kept * np.log(2.0))
    )
    assert factors[-2] / factors[1] == pytest.approx(
        (compared + kept * np.log(12 / 11)) / (compared + kept * np.log(2))
    )
    assert _round_costs(50, 40, 60, 1, share) == [(0, 1.0), (37, 1.0)]


def test_the_time_left_of_all_pairs_counts_rounds_and_not_what_was_prepared(monkeypatch):
    """On a clock by which rounds take what is said of them, and what is prepared a thousand seconds."""
    now, seen = [0.0], []
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])
    took = iter((4.0, 2.0, 1.0, 1.0, 1.0, 1.0))

    class Search:
        n_rounds = 6

        def __init__(self, *_):
            now[0] += 1000.0

        def run_round(self, _):
            now[0] += next(took)

        def finish(self):
            return None

    monkeypatch.setattr(euclidean, "_core", SimpleNamespace(AllPairs=Search))
    monkeypatch.setattr(
        euclidean, "_round_costs", lambda *_: [(0, 4.0), (100, 2.0), (200, 1.0), (600, 1.0)]
    )  # of 600 units in rounds and 300 after them
    monkeypatch.setattr(euclidean, "_RANKED", 180.0)  # half of what 900 (10 + 3) / 2 coordinates of pairs take
    reporter = Reporter(lambda progress: seen.append(progress.seconds_left))
    reporter.begin("neighbors", 900)
    euclidean._all_pairs(np.zeros((900, 3), np.float32), 15, 0, reporter)
    assert seen[1:] == pytest.approx([9.0, 7.0, 6.0, 5.0, 4.0, 3.0])
