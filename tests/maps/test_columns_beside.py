"""Metadata that had no part in a map, and those that are its features as they came."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.maps.beside import columns_beside


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    days = np.datetime64("2024-01-01") + rng.integers(0, 5, 300)
    lacking = np.array(["a", "b", "c"], dtype=object)[group]
    lacking[rng.random(300) < 0.1] = None
    return pd.DataFrame(
        {
            "brand": np.array(["Alpha", "Beta", "Gamma"])[group],
            "level": pd.Categorical.from_codes(group, ["low", "middle", "high"], ordered=True),
            "lacking": lacking,
            "day": days,
            "price": rng.choice(["$1.50", "$2.50", "$2.5"], 300),
            "spend": group + rng.normal(size=300),
            "visits": rng.poisson(3 + 4 * group),
        }
    )


@pytest.fixture(scope="module")
def batch(table):
    drawn = np.random.default_rng(1).integers(0, 3, len(table))
    return np.where(np.arange(len(table)) % 10 > 0, table.level.cat.codes, drawn)  # nearly the group


@pytest.fixture(scope="module")
def made(table, batch):
    with pytest.warns(gn.exceptions.DataWarning):  # of missing values
        return gn.map(table, method="pca", metadata={"batch": batch}, random_state=0)


def test_columns_that_became_features_had_a_part_in_the_map(made):
    assert made.metadata.keys() == {"brand", "level", "lacking", "day", "price", "batch"}
    assert columns_beside(made).keys() == {"batch"}


def test_a_saved_map_knows_its_features_too(made, tmp_path):
    made.save(tmp_path / "some.gnomon")
    assert columns_beside(gn.load(tmp_path / "some.gnomon")).keys() == {"batch"}


def test_a_map_told_in_other_features_was_made_of_the_first(table, batch):
    first = gn.map(table[["brand", "level", "spend"]], method="pca", metadata={"batch": batch}, random_state=0)
    told = first.with_features({"batch": batch.astype(str), "noise": np.random.default_rng(2).normal(size=300)})
    assert {"batch", "brand", "noise"} <= {*told.metadata, *told.feature_names}
    assert columns_beside(told).keys() == {"batch"}


def test_metadata_of_the_name_of_a_feature_but_other_values_had_no_part(table):
    other = np.random.default_rng(3).permutation(table.brand.to_numpy())
    made = gn.map(table[["brand", "spend"]], method="pca", metadata={"brand": other}, random_state=0)
    assert columns_beside(made).keys() == {"brand"}


def test_metadata_that_were_turned_into_numbers_before_had_a_part(table):
    numbers = pd.get_dummies(table[["brand", "spend"]], dtype=float)
    metadata = {"brand": table.brand, "visits": table.visits, "code": table.level.cat.codes}
    made = gn.map(numbers, method="pca", metadata=metadata, random_state=0)
    assert columns_beside(made).keys() == {"visits"}


def test_a_column_that_was_left_out_had_no_part(table):
    made = gn.map(table[["brand", "spend", "visits"]], method="pca", drop=["brand"], random_state=0)
    assert columns_beside(made).keys() == {"brand"}


def test_clusters_tell_the_batch_and_not_the_brand_that_they_were_found_by(table, batch):
    shifted = table[["brand", "spend"]].assign(spend=20.0 * table.level.cat.codes + table.spend)
    told = gn.map(shifted, method="pca", metadata={"batch": batch}, random_state=0).clusters().told
    assert "'batch' of" in told
    assert "brand" not in told
