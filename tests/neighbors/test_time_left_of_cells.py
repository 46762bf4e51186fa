"""What a search in cells tells while it runs, on a clock by which only what the tests say takes time."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gnomon import _core, _progress
from gnomon._progress import Reporter
from gnomon.neighbors import cells, compute_neighbors
from gnomon.neighbors.cell_plans import Effort, Plan


class _Join:
    """A join whose rows are packed in 1000 seconds, and compared in one for each block of cells."""

    def __init__(self, now, *given):
        self._now, self._join = now, _core.CellJoin(*given)
        now[0] += 1000.0

    def __getattr__(self, name):
        return getattr(self._join, name)

    def run(self, *given):
        self._now[0] += 1.0
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


def test_candidates_and_cells_shift_the_share_of_the_join_in_proportion():
    effort = Effort(20_000, 100, 50, 50.0, 50.0, by_proxy=False, projected=False)

    def odds(n_probes, n_candidates):
        share = effort.joined_share(Plan(n_probes, n_candidates))
        return share / (1.0 - share)

    assert odds(20, 30) == pytest.approx(2 * odds(10, 30))
    assert odds(10, 60) == pytest.approx(odds(10, 30) / 2)
