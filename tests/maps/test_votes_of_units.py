"""Labels of whole donors are told by neighbours of the same donor: it is said how well others tell them."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.maps.votes import votes_of_units
from gnomon.viewer import PageContent

N_DONORS, N_ROWS, N_COLUMNS = 12, 20, 30
DONORS = np.repeat(np.arange(N_DONORS), N_ROWS)
LABELS = DONORS % 2


def table(seed, of_donor, of_label):
    """Rows of donors, half of them cases, whose means differ by so much, and those of the labels."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(len(DONORS), N_COLUMNS))
    X += of_donor * draw.normal(size=(N_DONORS, N_COLUMNS))[DONORS]
    return X + of_label * (2 * LABELS - 1)[:, None] * np.sign(draw.normal(size=N_COLUMNS))


@pytest.mark.parametrize("seed", range(4))
def test_labels_that_only_rows_of_their_donor_tell_are_told(seed):
    found = votes_of_units(table(seed, 1.5, 0.0), LABELS, DONORS)
    assert found.told > 0.99
    assert found.told_by_others < 0.65
    assert found.same > 0.95
    assert found.by_chance == pytest.approx((N_ROWS - 1) / (N_ROWS * N_DONORS / 2 - 1))


@pytest.mark.parametrize(("of_donor", "of_label"), [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0)])
@pytest.mark.parametrize("seed", range(4))
def test_labels_that_others_tell_too_and_those_that_none_tells_are_not(of_donor, of_label, seed):
    assert votes_of_units(table(seed, of_donor, of_label), LABELS, DONORS) is None


def test_units_have_one_label_each_and_labels_two_units():
    X = table(0, 1.5, 0.0)
    assert votes_of_units(X, np.random.default_rng(0).integers(0, 2, len(X)), DONORS) is None
    assert votes_of_units(X, DONORS, DONORS) is None
    assert votes_of_units(X, LABELS, LABELS) is None
    unknown = np.where(np.arange(len(X)) % 3 == 0, -1, DONORS)
    assert votes_of_units(X, LABELS, unknown).told > 0.99
    assert votes_of_units(X, np.full(len(X), -1), DONORS) is None


def test_by_hand():
    """Two donors of each label on a line, rows of one side by side: others' are of the other label."""
    places = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [20.0], [20.1], [20.2], [21.0], [21.1], [21.2]])
    donors, labels = np.repeat([0, 1, 2, 3], 3), np.repeat([0, 1, 0, 1], 3)
    found = votes_of_units(
        np.repeat(places, 5, axis=0) + np.arange(60)[:, None] * 1e-6, *(np.repeat(one, 5) for one in (labels, donors))
    )
    assert (found.same, found.told, found.told_by_others) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_tables_and_numbers_of_threads_give_the_same(metric):
    X = np.maximum(table(0, 1.5, 0.0), 0.0)
    assert votes_of_units(sp.csr_array(X), LABELS, DONORS, metric) == votes_of_units(X, LABELS, DONORS, metric)


def test_the_map_says_so_wherever_neighbours_tell_labels():
    names = np.array(["case", "control"])[LABELS]
    donors = np.char.add("d", DONORS.astype(str))
    X = table(1, 1.5, 0.0)
    m = gn.map(X, "pca", labels=names, metadata={"Donor_ID": donors})
    told = m.evaluate().caution
    assert told.startswith("Neighbours in the data tell the label of 100% of rows, but of ")
    assert told.endswith("The second number is what to expect of another Donor_ID.")
    assert told in m.suspects().caution
    assert told in m.report(verdicts=False)
    assert m.report(verdicts=False).count(told) == 1
    assert m.scorecard(["neighborhood_hit"]).caution == told
    assert m.scorecard(["trustworthiness"]).caution == ""
    assert m.scorecard(["knn_accuracy"], labels=donors).caution == ""
    other = gn.map(X, "pca", labels=names, metadata={"kind": donors})
    assert other.evaluate().caution == ""
    own = gn.map(X, "pca", labels=donors, metadata={"Donor_ID": donors})
    assert own.evaluate().caution == ""


def test_metadata_that_are_left_out_are_not_spoken_of(tmp_path):
    names, donors = np.array(["case", "control"])[LABELS], np.char.add("d", DONORS.astype(str))
    m = gn.map(table(1, 1.5, 0.0), "pca", labels=names, metadata={"Donor_ID": donors})
    assert "Donor_ID" in m.evaluate().caution
    assert "Donor_ID" in m.suspects().caution
    bare = m.without_metadata(["Donor_ID"])
    assert bare.evaluate().caution == bare.suspects().caution == ""
    m.write_report(tmp_path / "report.html", metadata=False)
    assert "Donor_ID" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    m.metadata["Donor_ID"] = np.full(len(names), "d")
    assert m.evaluate().caution == ""
    assert PageContent.of(m.without_metadata()).doubts == ""


def test_the_page_is_told():
    names, donors = np.array(["case", "control"])[LABELS], np.char.add("d", DONORS.astype(str))
    m = gn.map(table(1, 1.5, 0.0), "pca", labels=names, metadata={"Donor_ID": donors})
    assert PageContent.of(m).doubts == m.evaluate().caution != ""


@pytest.mark.parametrize("name", ["orig.ident", "mouse no.", "sampleName", "PatientID", "subject_code", "Speakers"])
def test_units_may_be_called_by_a_number_or_name_of_theirs(name):
    X, donors = table(1, 1.5, 0.0), np.char.add("d", DONORS.astype(str))
    told = gn.map(X, "pca", labels=np.array(["case", "control"])[LABELS], metadata={name: donors}).evaluate().caution
    assert told.endswith(f"The second number is what to expect of another {name}.")


@pytest.mark.parametrize("name", ["sample_type", "mouse strain", "patient group", "name", "number", "Barcode"])
def test_other_metadata_are_no_units(name):
    X, donors = table(1, 1.5, 0.0), np.char.add("d", DONORS.astype(str))
    m = gn.map(X, "pca", labels=np.array(["case", "control"])[LABELS], metadata={name: donors})
    assert m.evaluate().caution == ""
