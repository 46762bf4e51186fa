"""Identifiers stay the integers or texts that they came as: read, mapped, saved, asked for and exported."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.arrays import exact_integers
from gnomon.data.delimited import read_columns
from gnomon.data.isolated import receive_dataset, send_dataset
from gnomon.data.writers import texts_of
from gnomon.viewer.columns import encode_column

N = 60
LARGE = 2**53 + 1 + 2000 * np.arange(N)  # each rounded in floating point
SHORT = np.arange(100001, 100001 + N)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"customer_id": LARGE, "short_id": SHORT, "a": rng.normal(size=N), "b": rng.normal(size=N)})


def mapped(X, **options):
    with pytest.warns(gn.exceptions.DataWarning):  # of what is left out
        return gn.map(X, method="pca", random_state=0, **options)


def check(column, expected):
    assert [str(value) for value in column.tolist()] == [str(value) for value in expected]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["frame", "records", "csv", "tsv", "parquet"])
def test_identifiers_of_any_source_are_exact_in_the_map_its_file_and_its_table(frame, tmp_path, kind):
    path = tmp_path / f"some.{kind}"
    if kind == "frame":
        X = frame
    elif kind == "records":
        X = {name: frame[name].to_numpy() for name in frame}
    else:
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, sep="," if kind == "csv" else "\t")
        X = gn.read_table(path)
    made = mapped(X)
    made.save(tmp_path / "some.gnomon")
    again = gn.load(tmp_path / "some.gnomon")
    again.export(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("customer_id", "short_id"):
        expected = frame[name].tolist()
        assert made.metadata[name].dtype.kind == "i"
        check(made.metadata[name], expected)
        check(again.metadata[name], expected)
        assert [row[name] for row in rows] == [str(value) for value in expected]
    assert made.feature_names == ["a", "b"]
    assert np.count_nonzero(again.select(f"customer_id={LARGE[3]}")) == 1
    assert np.count_nonzero(again.select(f"customer_id<={LARGE[3] - 1}")) == 3  # the same in floating point
    shown = encode_column(made.metadata["customer_id"], N, name="customer_id")
    assert np.array(shown.categories)[shown.codes].tolist() == [str(value) for value in LARGE]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["frame", "objects", "csv", "parquet"])
def test_identifiers_of_which_some_are_missing_are_texts(frame, tmp_path, kind):
    whole = frame.assign(customer_id=frame.customer_id.astype("Int64"), short_id=frame.short_id.astype("Int64"))
    whole.loc[[2, 5], ["customer_id", "short_id"]] = pd.NA
    path = tmp_path / f"some.{kind}"
    if kind == "csv":
        whole.to_csv(path, index=False)
    elif kind == "parquet":
        whole.to_parquet(path)
    X = whole.astype({"customer_id": object, "short_id": object}) if kind == "objects" else whole
    made = mapped(gn.read_table(path, missing="keep") if kind in ("csv", "parquet") else X)
    made.export(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("customer_id", "short_id"):
        expected = ["" if value is pd.NA else str(value) for value in whole[name]]
        assert [row[name] for row in rows] == expected


def test_integers_of_more_than_64_bits_are_kept_as_texts(frame, tmp_path):
    longer = [str(10**20 + one) for one in range(N)]
    frame.assign(customer_id=longer).to_csv(tmp_path / "some.csv", index=False)
    check(mapped(gn.read_table(tmp_path / "some.csv")).metadata["customer_id"], longer)
    assert exact_integers([2**64 - 1, 0]).dtype == np.uint64
    assert exact_integers([-(2**63), 0]).dtype == np.int64
    assert exact_integers([2**64 - 1, -1]).tolist() == [str(2**64 - 1), "-1"]
    assert exact_integers([2**60, None]).tolist() == [str(2**60), None]


def test_integers_as_labels_row_names_and_columns_beside_the_data_are_exact(frame, tmp_path):
    labels = np.repeat(LARGE[:2], N // 2)
    frame.assign(bank=labels).set_index("customer_id").to_csv(tmp_path / "some.csv", index_label="")
    data = gn.read_table(tmp_path / "some.csv", labels="bank")
    assert data.labels.tolist() == labels.tolist()
    check(data.point_names, LARGE)
    assert not data.integers
    whole = gn.read_table(tmp_path / "some.csv")
    assert mapped(whole, labels="bank").labels.tolist() == labels.tolist()


def test_columns_beside_the_data_on_the_command_line_are_exact(frame, tmp_path):
    frame.to_csv(tmp_path / "some.csv", index=False)
    check(read_columns(tmp_path / "some.csv")["customer_id"], LARGE)


def test_measured_numbers_are_no_integers(frame, tmp_path):
    frame.assign(a=frame.a * 1e20, b=frame.b * 2.0**70).to_csv(tmp_path / "some.csv", index=False)
    assert gn.read_table(tmp_path / "some.csv").integers.keys() == {"customer_id"}


def test_a_process_that_reads_passes_integers_on(frame, tmp_path):
    frame.to_csv(tmp_path / "some.csv", index=False)
    sent = gn.read_table(tmp_path / "some.csv")
    stream = io.BytesIO()
    send_dataset(sent, stream)
    stream.seek(0)
    found = receive_dataset(json.loads(stream.readline()), io.BufferedReader(stream), most_bytes=10**6)
    assert found.integers["customer_id"].tolist() == LARGE.tolist()


def test_floats_are_written_as_floats_unless_they_are_integers_beside_missing_ones():
    assert texts_of(np.array([1.0, 2.0])) == ["1.0", "2.0"]
    assert texts_of(np.array([1.0, np.nan, 3.0])) == ["1", None, "3"]
    assert texts_of(np.array([1.0, np.nan, 2.5])) == ["1.0", None, "2.5"]
    assert texts_of(np.array([np.inf, np.nan])) == ["inf", None]


def test_metadata_beside_a_file_of_texts_leave_its_columns_features(frame, tmp_path):
    frame.assign(kind=np.where(frame.a > 0, "x", "y")).to_csv(tmp_path / "some.csv", index=False)
    made = mapped(gn.read_table(tmp_path / "some.csv"), metadata={"batch": np.arange(N)})
    assert made.feature_names[-1].startswith("kind")
    assert {"batch", "kind"} <= made.metadata.keys()
