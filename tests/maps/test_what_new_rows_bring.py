"""What new rows bring beside their features stays with them in the map that grows."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data import open_dataset
from gnomon.exceptions import DataWarning


def _people(n, seed):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2023-01-01") + rng.integers(0, 300, n)
    return pd.DataFrame(
        {
            "customer_id": 1000 * (seed + 1) + np.arange(n),
            "age": rng.normal(40, 9, n),
            "spent": rng.normal(3, 1, n),
            "plan": rng.choice(["basic", "plus"], n),
            "signup": days.astype("datetime64[ns]"),
        }
    )


def _forms(frame):
    return [frame, frame.to_dict("list"), frame.to_dict("records")]


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("form", [0, 1, 2])
def test_metadata_and_labels_of_new_rows_are_their_columns(form):
    old, new = _people(60, 0), _people(20, 1)
    m = gn.map(_forms(old)[form], method="pca", labels="plan")
    for labels in (None, "plan"):
        grown, _ = m.extend(_forms(new)[form], labels=labels)
        assert list(grown.labels[60:]) == list(new["plan"])
        assert list(grown.metadata["customer_id"]) == [*old["customer_id"], *new["customer_id"]]
        dates = np.asarray(grown.metadata["signup"][60:]).astype("datetime64[D]")
        assert (dates == new["signup"].to_numpy().astype("datetime64[D]")).all()


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_metadata_of_new_rows_may_be_a_data_frame():
    old, new = _people(60, 0), _people(20, 1)
    m = gn.map(old[["age", "spent"]], method="pca", metadata=old[["plan"]])
    grown, _ = m.extend(new[["age", "spent"]], metadata=new[["plan"]])
    assert list(grown.metadata["plan"]) == [*old["plan"], *new["plan"]]


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_metadata_that_new_rows_lack_are_named():
    old, new = _people(60, 0), _people(20, 1)
    m = gn.map(old[["age", "spent"]], method="pca", metadata=old[["plan"]])
    with pytest.warns(DataWarning, match="new rows lack are empty there: 'plan'"):
        grown, _ = m.extend(new[["age", "spent"]])
    assert sum("new rows lack" in note for note in grown.notes) == 1
    assert set(grown.metadata["plan"][60:]) == {""}


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_identifiers_and_labels_of_a_file_of_new_rows_are_kept(tmp_path, kind):
    old, new = _people(60, 0), _people(20, 1)
    read = []
    for name, frame in (("old", old), ("new", new)):
        path = str(tmp_path / f"{name}.{kind}")
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        read.append(open_dataset(path))
    m = gn.map(read[0], method="pca", labels="plan")
    grown, _ = m.extend(read[1])
    assert list(grown.metadata["customer_id"]) == [*old["customer_id"], *new["customer_id"]]
    assert list(grown.labels[60:]) == list(new["plan"])
