"""Answers that took rows as independent say which metadata, by name or by the features, tell which rows are alike."""

from __future__ import annotations

import click.testing
import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.maps import alike
from gnomon.maps.alike import SidesOfClasses, told_of_units

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


UNIT = np.repeat(np.arange(20), 30)
ALIKE = np.random.default_rng(1).normal(size=(20, 5))[UNIT] + np.random.default_rng(2).normal(size=(600, 5))
DEALT = np.random.default_rng(3).permutation(20)[UNIT] < 10
"""An arm that was dealt to units, of which the features tell nothing."""
FEATURES = [f"x{j}" for j in range(5)]
MEASURED = "Pass units='machine': rows of one machine are alike, and what is compared are whole ones."


def _measured(column, X=ALIKE, arm=DEALT, name="machine", whose=FEATURES):
    told = told_of_units({name: column}, [(arm, ~arm)], (X, whose))
    classes = told_of_units({name: column}, SidesOfClasses(arm.astype(int), [0, 1]), (X, whose))
    assert told == classes
    return told


def test_features_tell_units_whatever_they_are_called():
    texts = np.array([f"M{g}" for g in UNIT])
    for column in (UNIT, UNIT.astype(float), texts, np.where(np.arange(600) % 9, texts, "")):
        assert _measured(column).startswith(MEASURED)
    order = np.random.default_rng(4).permutation(600)
    assert _measured(texts[order], ALIKE[order], DEALT[order]).startswith(MEASURED)
    few = np.where(np.arange(600) % 40 == 0, ~DEALT, DEALT)  # a few rows of each unit on the other side
    assert _measured(texts, arm=few).startswith(MEASURED)
    most = np.where(np.isin(UNIT, np.unique(UNIT[DEALT])[:6]), 0, UNIT + 1)  # the first is most of its side
    assert _measured(most).startswith(MEASURED)


def test_columns_are_no_units_where_the_features_or_the_sides_say_so():
    X = np.random.default_rng(2).normal(size=(600, 5))
    assert _measured(UNIT, X) == ""  # rows of one are not alike
    assert _measured(UNIT, X + 3.0 * DEALT[:, None]) == ""  # nor are they but for the arm
    assert _measured(UNIT, arm=np.arange(600) % 2 == 0) == ""  # every unit is on both sides
    assert _measured(UNIT, arm=UNIT == 3) == ""  # one unit is no draw of units
    assert _measured(UNIT, arm=UNIT > 11) == ""  # what was asked, as ages above 60
    assert _measured(UNIT, name="leiden") == ""
    assert _measured(UNIT // 10) == _measured(np.arange(600)) == ""
    assert _measured(UNIT + 0.5) == ""
    assert _measured(np.where(np.arange(600) % 3, np.nan, UNIT)) == ""  # of most rows nobody knows it
    for n_split, told in ((1, MEASURED), (3, "")):  # of ten units of the arm, of which half of the rows are outside
        split = np.isin(UNIT, np.unique(UNIT[DEALT])[:n_split]) & (np.arange(600) % 2 == 0)
        assert _measured(UNIT, arm=DEALT & ~split).startswith(told)
        assert (_measured(UNIT, arm=DEALT & ~split) == "") == (told == "")
    own = np.column_stack([X[:, :4], UNIT])
    assert _measured(UNIT, own).startswith(MEASURED)
    assert _measured(UNIT, own, whose=[*FEATURES[:4], "machine"]) == ""  # features of the column itself


@pytest.mark.parametrize("seed", range(10))
def test_columns_that_tell_nothing_are_hardly_ever_told(seed):
    rng = np.random.default_rng(seed)
    tails = rng.standard_t(2, size=(600, 5))
    arm = rng.permutation(20)[UNIT] < 10
    assert _measured(rng.permutation(20)[UNIT], tails, arm) == ""
    assert _measured(rng.integers(0, 20, 600), ALIKE, arm) == ""


def test_one_of_many_features_may_differ_by_chance():
    units, rng = np.repeat(np.arange(8), 15), np.random.default_rng(0)
    values = rng.normal(size=(120, 40))
    values[:, 0] += 0.45 * rng.normal(size=8)[units]  # at a chance of less than one in 1,000, but not in 40,000
    assert alike._differ_between(values[:, :1], units, units // 4)
    assert not alike._differ_between(values, units, units // 4)


def test_answers_and_report_name_units_that_the_features_tell():
    made = gn.map(ALIKE, "pca", labels=np.where(DEALT, "odd", "even"), metadata={"machine": UNIT}, n_jobs=1)
    asked = made.contrast("odd")
    assert asked.n_beyond_chance > 0
    assert MEASURED in asked.caution
    assert MEASURED in made.profiles().caution
    assert MEASURED in made.report(verdicts=False)
    assert made.contrast("odd", units="machine").n_beyond_chance == 0
    alone = gn.map(ALIKE, "pca", labels=UNIT.astype(str), metadata={"machine": UNIT}, n_jobs=1)
    assert "Pass units" not in alone.report(verdicts=False)


def test_the_command_line_names_its_option(cells, tmp_path):
    path = str(tmp_path / "m.gnomon")
    cells.save(path)
    for asked in (["contrast", path, "--select", "label=stim"], ["profile", path], ["profile", path, "--captions"]):
        told = click.testing.CliRunner().invoke(main, asked).stdout
        assert told.count(HINT.replace("units='donor_id'", "--units donor_id")) == 1
