"""Rows that repeat the columns of their owners are seen, and columns that follow from each other are none."""

import numpy as np
import pytest
import scipy.sparse

from gnomon.data import find_join
from gnomon.data.columns import ColumnRule


def _joined(n_owners, mean, seed):
    """Return rows of two columns of their own, four of owners and one more of their own, in random order."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(np.repeat(np.arange(n_owners), 1 + rng.poisson(mean - 1, n_owners)))
    owners = np.column_stack(
        [
            rng.normal(size=n_owners).round(3),
            np.exp(5 + rng.normal(size=n_owners)).round(2),
            rng.integers(18, 90, n_owners),
            rng.integers(0, 3, n_owners),
        ]
    )
    return np.column_stack([rng.normal(size=(len(ids), 2)), owners[ids], rng.poisson(3, len(ids))])


@pytest.mark.parametrize("n_owners", [20, 100, 500])
@pytest.mark.parametrize("mean", [3, 10, 30])
def test_the_columns_of_owners_are_named_and_no_others(n_owners, mean):
    for seed in range(3):
        found = find_join(_joined(n_owners, mean, seed), list("abcdefg"))
        assert found.columns == ("c", "d", "e", "f")
        assert 0.98 * n_owners <= found.n_owners <= n_owners  # amounts of two owners may be equal
        assert found.units in ("c", "d")


def test_a_rare_value_of_rows_themselves_is_not_of_the_owners():
    X = _joined(100, 10, 0)
    rare = np.random.default_rng(2).random(len(X)) < 0.03
    assert find_join(np.column_stack([X, rare]), list("abcdefgh")).columns == ("c", "d", "e", "f")


def test_some_cells_of_owners_may_differ():
    X = _joined(100, 10, 0)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.02] += 1e-3
    assert find_join(X, list("abcdefg")).columns[:2] == ("c", "d")


def _ordinary():
    rng = np.random.default_rng(0)
    n = 1000
    x, own = rng.normal(size=(n, 2)), rng.normal(size=n)
    age, hour, degrees = rng.integers(18, 91, n), rng.integers(0, 24, n), (20 + 5 * x[:, 0]).round(1)
    code, recoded = rng.integers(0, 26, n), rng.permutation(26)
    zeros = rng.exponential(size=(n, 4)) * (rng.random(n) < 0.3)[:, None]
    prices = rng.exponential(size=60)[rng.integers(0, 60, n)]
    angle = hour * np.pi / 12
    return {
        "normal": rng.normal(size=(n, 6)),
        "rounded": rng.normal(size=(n, 6)).round(1),
        "answers": rng.integers(1, 6, (n, 10)),
        "counts": rng.poisson(np.exp(1 + x @ rng.normal(size=(2, 8)))),
        "zeros in the same rows": np.column_stack([zeros, own]),
        "functions": np.column_stack([age, 2024 - age, age**2, (age - 50) ** 2, age > 65, own]),
        "units": np.column_stack([degrees, (degrees * 9 / 5 + 32).round(1), np.log(degrees + 40), own]),
        "functions of prices": np.column_stack([prices, np.log(prices), prices**3, np.sin(prices), own]),
        "circle": np.column_stack([np.sin(angle), np.cos(angle), own]),
        "codes": np.column_stack([code, recoded[code], np.bincount(code)[code], own]),
        "indicators": np.column_stack([np.eye(26)[code], own]),
        "border": np.column_stack([np.zeros((n, 5)), rng.integers(0, 256, (n, 10))]),
        "copies": np.repeat(rng.normal(size=(100, 4)), 10, axis=0),
    }


@pytest.mark.parametrize("name", _ordinary())
def test_nothing_is_told_of_ordinary_tables(name):
    assert find_join(np.asarray(_ordinary()[name], dtype=np.float64)) is None


def test_gaps_are_no_owner():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(19, 2))[np.r_[np.arange(19), 0:4]]  # four pairs of rows, and 17 rows without values
    assert find_join(np.column_stack([np.r_[few, np.full((17, 2), np.nan)], rng.normal(size=40)])) is None


def test_in_sparse_tables_nothing_is_looked_for():
    assert find_join(scipy.sparse.csr_array(_joined(40, 10, 0))) is None


def test_a_category_is_named_by_its_column():
    rng = np.random.default_rng(0)
    ids = rng.permutation(np.repeat(np.arange(40), 10))
    region = np.eye(3)[rng.integers(0, 3, 40)][ids]
    X = np.column_stack([rng.normal(size=(40, 2))[ids], region, rng.normal(size=400)])
    rules = [
        ColumnRule("a", "number", ("a",)),
        ColumnRule("b", "number", ("b",)),
        ColumnRule("region", "category", ("region=1", "region=2", "region=3")),
        ColumnRule("own", "number", ("own",)),
    ]
    found = find_join(X, ["a", "b", "region=1", "region=2", "region=3", "own"], rules)
    assert found.columns == ("a", "b", "region")
    assert "repeat 40 sets of values in the columns 'a', 'b' and 'region'" in found.told


def test_columns_computed_from_few_amounts_and_terms_have_no_owners():
    rng = np.random.default_rng(0)
    amount, term = (
        rng.choice([1000.0, 2500.0, 4000.0, 7000.0, 9500.0, 12000.0, 20000.0], 1500),
        rng.choice([12.0, 24.0, 36.0, 60.0], 1500),
    )
    payment = amount * 0.004 / (1.0 - 1.004**-term)
    X = np.column_stack([amount, term, payment, payment * term - amount, rng.normal(size=1500)])
    assert find_join(X) is None
