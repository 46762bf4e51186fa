"""A table of numbers alone is judged for its scale as such, however its numbers are written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

RNG = np.random.default_rng(0)
NUMBERS = np.round(RNG.normal(size=(60, 4)) * [1, 2, 3, 4], 2)

WRITINGS = {
    "Fortran": lambda value: f"{value:.8E}".replace("E", "D"),
    "currency": lambda value: f"${value:.2f}".replace("$-", "-$"),
    "percent": lambda value: f"{value:.2f} %",
    "decimal comma": lambda value: f"{value:.2f}".replace(".", ","),
}


def mapped(table, **options):
    return gn.map(table, "pca", random_state=0, n_jobs=1, **options)


@pytest.fixture(scope="module")
def plain():
    return mapped(pd.DataFrame(NUMBERS, columns=[*"abcd"]))


def table_written(writing):
    return pd.DataFrame({name: [*map(writing, NUMBERS[:, j])] for j, name in enumerate("abcd")})


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("n_columns", [1, 4])
def test_a_map_is_the_same_however_its_numbers_are_written(writing, n_columns, plain, tmp_path):
    table, other = pd.DataFrame(NUMBERS, columns=[*"abcd"]).astype(object), table_written(WRITINGS[writing])
    table[[*"abcd"][:n_columns]] = other[[*"abcd"][:n_columns]]
    made = mapped(table.infer_objects())
    assert made.scale is None
    np.testing.assert_array_equal(made.embedding, plain.embedding)
    made.save(tmp_path / "m.gnomon")
    again = gn.Map.load(tmp_path / "m.gnomon")
    assert again.scale is None
    np.testing.assert_array_equal(again.transform(table.infer_objects()), plain.transform(NUMBERS))
    features = gn.TablePreprocessor().fit_transform(table.infer_objects())
    np.testing.assert_array_equal(mapped(features).embedding, made.embedding)


def test_a_cell_that_is_no_number_does_not_change_the_scale():
    table = table_written("{:.2f}".format)
    table.loc[7, "b"] = "********"
    with (
        pytest.warns(DataWarning, match=r"'b' has '\*\*\*\*\*\*\*\*' in 1 row: no number"),
        pytest.warns(DataWarning, match="1 of 240 values are missing"),
    ):
        assert mapped(table).scale is None


def test_numbers_in_texts_of_unlike_units_are_standardised_as_numbers_are():
    table = table_written("${:.2f}".format)
    table["d"] = [f"{1e4 * value:.2f} %" for value in NUMBERS[:, 3]]
    with pytest.warns(DataWarning, match="all columns are standardised"):
        made = mapped(table)
    assert made.scale.name == "standard"
    assert "Columns are standardised (standard)." in made.report(verdicts=False)


OTHERS = {
    "category": np.array([*"uvw"] * 20),
    "truth": np.arange(60) % 3 == 0,
    "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 900, 60), "D"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_beside_numbers_are_standardised_and_the_report_says_of_which(kind):
    made = mapped(table_written(WRITINGS["Fortran"]).assign(other=OTHERS[kind]))
    assert made.scale.name == "standard"
    told = "Columns are standardised (standard), as not all are numbers: 'other'."
    assert told in made.report(verdicts=False)


def test_a_block_of_written_numbers_is_judged_as_one_of_numbers():
    table = table_written(WRITINGS["Fortran"])
    blocks = {"first": gn.Block(["a", "b"]), "second": gn.Block(["c", "d"])}
    given = pd.DataFrame(NUMBERS, columns=[*"abcd"])
    found, plain = (mapped_blocks(one, blocks) for one in (table, given))
    np.testing.assert_array_equal(found.embedding, plain.embedding)


def mapped_blocks(table, blocks):
    return gn.map(table, "umap", blocks=blocks, random_state=0, n_jobs=1, max_iter=5)
