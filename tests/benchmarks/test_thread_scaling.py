"""The model of more cores: Amdahl's law, forwards and backwards."""

import pytest
from benchmarks.scaling import main, predicted, serial_share

from benchmarks import scaling


@pytest.mark.parametrize("share", [0.0, 0.07, 0.5, 1.0])
@pytest.mark.parametrize("cores", [2, 16])
def test_share_of_a_predicted_speed_up_is_the_share(share, cores):
    assert serial_share(predicted(share, cores), cores) == pytest.approx(share, abs=1e-12)


def test_a_stage_as_fast_as_the_machine_allows_has_no_serial_share():
    assert serial_share(1.7, own=1.7) == pytest.approx(0.0)
    assert serial_share(1.9, own=1.7) == 0.0  # noise of the clock


def test_a_stage_that_gets_slower_is_serial():
    assert serial_share(0.9, own=2.0) == 1.0


def test_table_has_the_stages_of_a_fit(capsys, monkeypatch):
    monkeypatch.setattr(scaling, "own_speed_up", lambda n_threads: float(n_threads))
    assert main(["--rows", "300", "--methods", "UMAP", "--threads", "2", "--cores", "16", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| fit" in printed
    assert "| layout" in printed
    assert "on 16" in printed


def test_a_busy_machine_gives_no_figures(capsys, monkeypatch):
    monkeypatch.setattr(scaling, "own_speed_up", lambda n_threads: 1.0)
    assert main(["--threads", "2"]) == 1
    assert "Other programs run" in capsys.readouterr().out


def test_one_thread_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--threads", "1"])
    assert "at least 2" in capsys.readouterr().err
