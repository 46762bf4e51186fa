"""Answers that took rows as independent say which metadata, by its name, may tell which rows are alike."""

from __future__ import annotations

import click.testing
import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.maps.alike import told_of_units

HINT = "Pass units='donor_id' if rows of one donor_id are alike: chance is then judged between these."
DONOR = np.repeat(np.arange(8), 15)
STIM = DONOR < 4


def of_cells(effect):
    X = np.random.default_rng(0).normal(size=(120, 4)) + effect * STIM[:, None] * [1, 0, 0, 0]
    metadata = {"batch": DONOR // 2, "donor_id": DONOR.astype(str), "depth": X[:, 0]}
    return gn.map(X, "pca", labels=np.where(STIM, "stim", "ctrl"), metadata=metadata, n_jobs=1)


@pytest.fixture(scope="module")
def cells():
    return of_cells(3.0)


def test_answers_that_name_features_name_the_metadata_once(cells):
    for answer in (cells.contrast("stim"), cells.contrast(np.arange(60), np.arange(60, 120))):
        assert answer.to_dict()["caution"] == HINT
        assert answer.headline().splitlines()[1:] == [HINT]
    for answers in (cells.profiles(), cells.captions()):
        assert answers.caution == HINT
        assert str(answers).count(HINT) == 1


def test_nothing_is_said_where_units_are_given_or_no_feature_is_named_or_a_side_is_one_donor(cells):
    assert cells.contrast("stim", units="donor_id").caution == ""
    assert cells.profiles(units="donor_id").caution == ""
    assert "Pass" not in cells.captions(units="donor_id").caution
    assert cells.contrast(np.arange(120) % 2 == 0).caution == ""  # nothing sets it apart
    assert cells.contrast("donor_id=0").caution == ""
    others = cells.contrast("donor_id!=0")
    assert others.n_beyond_chance > 0
    assert others.caution == ""
    assert cells.contrast("donor_id=0", "ctrl").caution == cells.contrast("stim", "donor_id=5").caution == ""
    noise = of_cells(0.0)
    assert noise.profiles().caution == noise.captions().caution == ""


@pytest.mark.parametrize("name", ["donor", "Donor_ID", "patient", "subject.id", "mouse", "Sample", "samples", "batch"])
def test_metadata_count_by_their_names(name):
    told = told_of_units({"kind": DONOR, name: DONOR}, [(STIM, ~STIM)])
    assert told.startswith(f"Pass units={name!r} if rows of one {name} are alike")


@pytest.mark.parametrize(
    "metadata",
    [
        {"donor age": DONOR, "cluster": DONOR, "id": DONOR, "sample_weight": DONOR, "louvain": DONOR},
        {"donor": DONOR % 2},  # two of them
        {"sample": np.arange(120).astype(str)},  # a name for each row
        {"sample": np.arange(120) // 9},
        {"donor": np.where(DONOR < 2, DONOR, np.nan)},
    ],
)
def test_other_metadata_do_not(metadata):
    assert told_of_units(metadata, [(STIM, ~STIM)]) == ""


def test_the_command_line_names_its_option(cells, tmp_path):
    path = str(tmp_path / "m.gnomon")
    cells.save(path)
    for asked in (["contrast", path, "--select", "label=stim"], ["profile", path], ["profile", path, "--captions"]):
        told = click.testing.CliRunner().invoke(main, asked).stdout
        assert told.count(HINT.replace("units='donor_id'", "--units donor_id")) == 1
