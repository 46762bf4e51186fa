"""Progress reaches the callback, its answer reaches the computation, and stages are timed."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest

from gnomon import _progress
from gnomon._progress import Progress, ProgressLines, Reporter


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    times = [0.0]
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: times[0])
    return times


def test_seconds_left_are_in_proportion_and_unknown_at_first():
    assert Progress("layout", 0, 10, 1.0).seconds_left is None
    assert Progress("layout", 2, 10, 1.0).seconds_left == 4.0
    assert Progress("layout", 10, 10, 5.0).seconds_left == 0.0


def test_the_time_left_follows_the_pace_since_half_of_the_work(clock):
    """A stage that prepares for long, or whose units grow dearer, is told without what lies far behind."""
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("neighbors", 100)
    for clock[0], done in ((50.0, 10), (52.0, 20), (54.0, 30), (58.0, 50), (62.0, 60), (66.0, 70)):
        reporter.update(done, 100)
    assert seen[1].seconds_left == 450.0  # nothing else is known yet
    assert seen[3].seconds_left == pytest.approx(70 * 4 / 20)
    assert seen[-1].seconds_left == pytest.approx(30 * 12 / 40)
    reporter.update(5, 100)  # counted anew
    assert seen[-1].seconds_left == pytest.approx(66 * 95 / 5)


def test_a_report_of_no_more_work_keeps_the_pace(clock):
    """Blocks may end that add less than a unit: neither what lies before them is forgotten, nor do they count twice."""
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("eigenvectors", 100)
    for clock[0], done in ((10.0, 10), (20.0, 20), (26.0, 20), (27.0, 20)):
        reporter.update(done, 100)
    assert [one.seconds_left for one in seen[2:]] == [pytest.approx(80.0)] * 3
    clock[0] = 40.0
    reporter.update(40, 100)
    assert seen[-1].seconds_left == pytest.approx(60.0)


def test_what_passes_before_the_first_unit_is_not_its_cost(clock):
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("eigenvectors", 1)
    for clock[0], done in ((50.0, 0), (52.0, 20)):
        reporter.update(done, 100)
    assert seen[-1].seconds_left == pytest.approx(8.0)


def test_a_wish_to_end_is_remembered_until_another_stage(clock):
    reporter = Reporter(lambda progress: progress.done == 3)
    reporter.begin("positions", 10)
    told = []
    for done in (2, 3, 4):
        reporter.update(done, 10)
        told.append(reporter.is_asked_to_end)
    assert told == [False, True, True]
    reporter.begin("layout", 10)
    assert not reporter.is_asked_to_end


def test_the_time_left_counts_what_later_units_cost(clock):
    """Forty units of a second and sixty that take three each: what is left is known from the first report on."""
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", 100)
    clock[0] = 7.0  # what is prepared before the first unit does not count
    reporter.expect(0, [(40, 3.0)])
    took = [1.0] * 40 + [3.0] * 60
    for done in (10, 30, 40, 50, 90):
        clock[0] = 7.0 + sum(took[:done])
        reporter.update(done, 100)
        assert seen[-1].seconds_left == pytest.approx(sum(took[done:]))
    reporter.begin("reduction", 10)  # another stage, whose units cost the same
    clock[0] += 5.0
    reporter.update(5, 10)
    assert seen[-1].seconds_left == 5.0


def test_costs_told_anew_count_for_what_is_done_and_for_what_is_left(clock):
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", 100)
    reporter.expect(0, [(40, 3.0)])
    clock[0] = 60.0
    reporter.reckon([(20, 2.0)])  # 20 units of a second, and 20 of two
    reporter.update(40, 100)
    assert seen[-1].seconds_left == pytest.approx(60 * 2.0)


def test_work_that_goes_on_is_timed_from_where_it_goes_on(clock):
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", 100)
    clock[0] = 3.0
    reporter.expect(80)
    clock[0] = 4.0
    reporter.update(90, 100)
    assert seen[-1].seconds_left == 1.0


def test_a_stage_that_may_end_early_tells_a_time_only_where_its_end_is_known(clock):
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", 300)
    for clock[0], done, end in ((10.0, 10, None), (20.0, 20, 25), (25.0, 25, 25)):
        reporter.update(done, 300, at_most=True, end=end)
    assert [one.seconds_left for one in seen] == [None, None, 5.0, 0.0]
    assert [one.is_over for one in seen] == [False, False, False, True]


def test_lines_of_a_stage_that_may_end_early_say_so(clock, capsys):
    reporter = Reporter(ProgressLines("MDS"))
    reporter.begin("layout", 300)
    for clock[0], done, end in ((10.0, 10, None), (20.0, 20, 25), (25.0, 25, 25)):
        reporter.update(done, 300, at_most=True, end=end)
    assert capsys.readouterr().err.splitlines() == [
        "MDS: layout",
        "MDS: layout, 10 of at most 300",
        "MDS: layout, 20 of at most 300, 5 s left",
        "MDS: layout, 25 of 300, 25.0 s",
    ]


class Notebook:
    """Stands for the standard error of a notebook: no terminal, no file, and text is shown as it is written."""

    encoding = "UTF-8"

    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)
        return len(text)

    def flush(self):
        pass


def test_notebooks_get_plain_lines_each_in_one_piece(clock, monkeypatch):
    """A line that is taken back by a carriage return would be garbled where cells are saved."""
    stream = Notebook()
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    reporter = Reporter(ProgressLines("UMAP"))
    reporter.begin("layout", 10)
    for clock[0], done in ((2.0, 5), (4.0, 10)):
        reporter.update(done, 10)
    assert stream.parts == ["UMAP: layout\n", "UMAP: layout, 5 of 10, 2 s left\n", "UMAP: layout, 10 of 10, 4.0 s\n"]


def test_the_callback_sees_stage_work_time_and_loss(clock):
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", 10)
    clock[0] = 2.0
    reporter.update(5, 10, loss=1.5)
    assert seen == [Progress("layout", 0, 10, 0.0), Progress("layout", 5, 10, 2.0, 1.5)]


@pytest.mark.parametrize(("answer", "stop"), [(None, False), (False, False), (True, True), (1, True)])
def test_a_true_answer_asks_to_stop(answer, stop):
    reporter = Reporter(lambda _: answer)
    reporter.begin("layout")
    assert reporter.update(1, 2) is stop


def test_without_a_callback_nothing_stops_and_stages_are_timed(clock):
    reporter = Reporter()
    reporter.begin("neighbors")
    assert reporter.update(1, 1) is False
    clock[0] = 3.0
    reporter.begin("layout", 5)  # ends the previous stage
    clock[0] = 4.0
    reporter.end()
    reporter.end()  # nothing more to end
    assert reporter.timings == {"neighbors": 3.0, "layout": 1.0}


def test_a_stage_that_comes_twice_is_timed_in_all(clock):
    reporter = Reporter()
    for _ in range(2):
        reporter.begin("neighbors")
        clock[0] += 1.5
        reporter.end()
    assert reporter.timings == {"neighbors": 3.0}


def test_a_callback_cannot_change_the_embedding():
    Y = np.zeros((3, 2), np.float32)
    refused = []

    def meddle(progress):
        if progress.embedding is not None:
            assert np.shares_memory(progress.embedding, Y)
            with pytest.raises(ValueError, match="read-only"):
                progress.embedding[0] = 1
            refused.append(True)

    reporter = Reporter(meddle)
    reporter.begin("layout")
    reporter.update(1, 2, embedding=Y)
    assert refused == [True]
    Y[0] = 1  # the computation itself still can


def test_a_line_is_written_at_begin_and_end_of_a_stage_and_each_second_of_it(clock, capsys):
    reporter = Reporter()
    reporter.listen(ProgressLines("UMAP"))
    reporter.begin("layout", 10)
    for clock[0], done in ((0.4, 2), (2.0, 5), (2.5, 7), (4.0, 10)):
        reporter.update(done, 10, loss=None if done == 5 else 0.125)
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines() == [
        "UMAP: layout",
        "UMAP: layout, 5 of 10, 3 s left",
        "UMAP: layout, 10 of 10, loss 0.125, 4.0 s",
    ]


def test_a_stage_that_tells_nothing_is_named_again_while_it_runs(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_SILENCE", 0.02)
    with ProgressLines("UMAP") as lines:
        lines(Progress("affinities", 0, 1, 0.0))
        time.sleep(0.3)
    written = capsys.readouterr().err.splitlines()
    assert written[0] == "UMAP: affinities"
    assert "UMAP: affinities, 0 s so far" in written[1:]
    time.sleep(0.1)
    assert capsys.readouterr().err == ""  # nothing after the computation


def test_lines_go_to_logging_where_it_takes_them(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="gnomon"):
        ProgressLines("UMAP")(Progress("layout", 0, 10, 0.0))
    assert [record.getMessage() for record in caplog.records] == ["UMAP: layout"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("answers", [(True, None), (None, True), (None, None)])
def test_all_who_listen_are_told_and_any_may_ask_to_end(answers):
    seen = []
    reporter = Reporter(lambda progress: seen.append(progress) or answers[0])
    reporter.listen(lambda progress: seen.append(progress) or answers[1])
    reporter.begin("layout")
    assert reporter.update(1, 2) is any(answers)
    assert len(seen) == 4
