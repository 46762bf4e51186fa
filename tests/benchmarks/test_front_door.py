"""The benchmark of tables as they come: what it writes can be read back, and one command maps it as well."""

import json
import warnings

import numpy as np
import pytest
from benchmarks.front_door import _LABEL, SPELLINGS, load, main, measure_around, neighbor_accuracy

from gnomon.data import read_table
from gnomon.data.columns import encode_dataset


@pytest.mark.parametrize("spelling", list(SPELLINGS))
def test_every_spelling_is_read_as_the_numbers_that_were_written(spelling, tmp_path):
    table = load("iris")
    SPELLINGS[spelling](table.copy(), tmp_path / "t.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = encode_dataset(read_table(tmp_path / "t.csv", labels=_LABEL, missing="keep"), None, None)
    assert data.labels.tolist() == table[_LABEL].tolist()
    n_levels = 2 if spelling in ("categories", "everything") else 0
    assert data.n_features == 4 + n_levels
    for name in [name for name in load("iris").columns[:4] if name in data.feature_names]:
        found = data.X[:, data.feature_names.index(name)]
        known = np.isfinite(found)
        assert known.mean() > 0.9
        np.testing.assert_allclose(found[known], table[name][known])


def test_accuracy_is_that_of_the_fifteen_nearest_others():
    labels = np.repeat(["a", "b"], 30)
    assert neighbor_accuracy(np.c_[labels == "a", np.arange(60) / 100], labels) == 1.0
    assert neighbor_accuracy(np.zeros((60, 2)) + np.arange(60)[:, None] % 2, labels) < 0.7


@pytest.mark.slow
def test_it_maps_by_one_command_and_writes_what_it_measured(tmp_path, capsys):
    path = tmp_path / "out.json"
    main(["--data", "iris", "--spellings", "everything", "--seeds", "1", "--json", str(path)])
    (case,) = json.loads(path.read_text())
    assert case["as it is"] > 0.9
    assert case["difference"] == pytest.approx(case["as it is"] - case["standardised"])
    assert "iris, everything" in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_around_the_fit_is_timed_against_the_fit(tmp_path):
    found = measure_around("digits", 300, repeats=1)
    assert found["CPU ratio"] == found["whole CPU s"] / found["fit CPU s"] > 1.0
    assert found["page MB"] > 0.1
