"""Cells that make the spread of a column by themselves are told; heavy tails are not."""

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.data.scaling import fit_scaling
from gnomon.data.unlike_columns import find_unlike
from gnomon.data.wild_cell_warnings import warn_of_wild_cells, warn_of_wild_rows
from gnomon.data.wild_cells import find_wild_cells
from gnomon.exceptions import DataWarning


def _told(values, scaling):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wild_cells(values, scaling, [f"c{f}" for f in range(values.shape[1])])
    return " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("cells", [[1e6], [1e6, 1e9], [-1e5, 3e5, 2e5]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_far_beyond_all_others_are_found_and_told(cells, dtype):
    values = np.random.default_rng(0).normal(5000, 400, (1000, 2)).astype(dtype)
    assert find_wild_cells(values[:, 0]).tolist() == []
    values[7 : 7 + len(cells), 0] = cells
    assert sorted(find_wild_cells(values[:, 0])) == list(range(7, 7 + len(cells)))
    told = _told(values, fit_scaling(values, "standard"))
    assert told.startswith("gnomon: 'c0' has ")
    assert "(row 7)" in told
    assert "'c1'" not in told
    assert "or pass scale='robust'" in told
    assert _told(values, fit_scaling(values, "robust")) == ""
    assert _told(values, None) == ""


@pytest.mark.parametrize(("n", "share"), [(5000, 0.002), (5000, 0.01), (5000, 0.02), (1000, 0.02), (300, 0.02)])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(50, 10, n),
        lambda rng, n: rng.gamma(9.0, 3.0, n),
        lambda rng, n: np.where(rng.random(n) < 0.5, rng.normal(20, 3, n), rng.normal(60, 3, n)),
    ],
    ids=["normal", "skew", "bimodal"],
)
def test_up_to_one_cell_of_50_in_another_unit_is_found(draw, n, share):
    rng = np.random.default_rng(0)
    values = draw(rng, n)
    wrong = rng.choice(n, int(share * n), replace=False)
    assert len(find_wild_cells(values)) == 0
    values[wrong] *= 100.0
    assert set(find_wild_cells(values).tolist()) == set(wrong.tolist())


def test_wrong_cells_that_stay_near_the_median_do_not_hide_the_others():
    values = np.random.default_rng(0).normal(size=(5000, 1))
    values[:50] *= 100.0
    found = find_wild_cells(values[:, 0])
    assert 34 <= len(found) <= 50
    assert found.max() < 50
    others = np.sort(np.abs(values[found, 0]))[0] / 10.0
    between = int((np.abs(values[:, 0]) > others).sum()) - len(found)
    told = _told(values, fit_scaling(values, "standard"))
    assert f"and {len(found) - 5} more far from all others but {between} (-" in told


def test_the_factor_told_is_that_of_the_standard_deviations():
    values = np.r_[np.tile([-1.0, 1.0], 200), 1000.0][:, None]  # the others have one of 1
    told = _told(values, fit_scaling(values, "standard"))
    assert f"divided by a standard deviation that is {values.std():.0f} times as large as without" in told


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.exp(rng.normal(size=1000)),
        lambda rng: rng.negative_binomial(0.3, 0.02, 1000).astype(float),
        lambda rng: rng.standard_t(3, 1000),
        lambda rng: np.where(rng.random(1000) < 0.999, 0.0, 1.0),
        lambda rng: np.where(rng.random(1000) < 0.98, 0.0, np.exp(rng.normal(3, 1, 1000))),
        lambda rng: np.r_[rng.normal(size=15), 1e6],
        lambda rng: np.where(rng.random(1000) < 0.98, rng.normal(size=1000), rng.normal(20, 1, 1000)),
        lambda rng: rng.normal(size=1000) * np.where(rng.random(1000) < 0.02, 10.0, 1.0),
        lambda rng: np.where(rng.random(1000) < 0.6, 0.0, np.exp(1.5 * rng.normal(size=1000))),
        lambda rng: np.where(rng.random(1000) < 0.985, 0.0, rng.normal(50.0, 5.0, 1000)) + (rng.random(1000) < 0.1),
        lambda rng: np.r_[rng.uniform(-1.0, 1.0, 999), 15.0],
    ],
    ids=[
        *("lognormal", "counts", "t", "rare truths", "mostly zeros", "few rows"),
        *("two groups", "two deviations", "zeros and a tail", "rare large values beside zeros and ones"),
        "far but of little weight",
    ],
)
def test_heavy_tails_and_rare_values_are_none(draw):
    assert not any(len(find_wild_cells(draw(np.random.default_rng(seed)))) for seed in range(40))


HEAVY = {
    "Pareto": lambda rng, n: rng.pareto(1.0, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "lognormal": lambda rng, n: np.exp(3.0 * rng.normal(size=n)),
}
MAY_BE_RIGHT = "may be right, the end of a heavy tail: then "


@pytest.mark.parametrize("draw", HEAVY.values(), ids=HEAVY)
def test_ends_of_heavy_tails_are_told_as_such_and_not_claimed_to_be_wrong(draw):
    told = []
    for seed in range(150):
        values = draw(np.random.default_rng(seed), 1000)[:, None]
        told.append(_told(values, fit_scaling(values, "standard")))
    told = [one for one in told if one]
    assert len(told) >= 5
    logarithms = "take logarithms or " if draw is not HEAVY["Cauchy"] else ""
    end = f"Such cells {MAY_BE_RIGHT}{logarithms}pass scale='robust'. Put NaN in place of cells that are wrong."
    assert np.mean([one.endswith(end) for one in told]) >= 0.95


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(50, 10, n),
        lambda rng, n: rng.gamma(9.0, 3.0, n),
        lambda rng, n: rng.poisson(3.0, n) + 0.0,
        lambda rng, n: np.where(rng.random(n) < 0.5, rng.normal(20, 3, n), rng.normal(60, 3, n)),
    ],
    ids=["normal", "skew", "counts", "bimodal"],
)
@pytest.mark.parametrize("n_wrong", [1, 20])
def test_wrong_cells_of_ordinary_columns_are_no_ends_of_tails(draw, n_wrong):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = draw(rng, 1000)[:, None]
        values[rng.choice(1000, n_wrong, replace=False)] *= 1000.0
        told = _told(values, fit_scaling(values, "standard"))
        assert MAY_BE_RIGHT not in told
        assert told.endswith("Put NaN in place of cells that are wrong, or pass scale='robust'.") or n_wrong == 1


def test_the_preprocessor_names_the_column_whose_cells_may_be_the_end_of_a_tail():
    rng = np.random.default_rng(0)
    table = {"age": rng.normal(50.0, 10.0, 300), "loss": rng.permutation(300.0 / (np.arange(300) + 0.5))}  # of Pareto
    table["age"][7], table["loss"][5] = 5000.0, 6500.0
    with pytest.warns(
        DataWarning, match=rf"Those of 'loss' {MAY_BE_RIGHT}take logarithms or divide by quartiles\. Put"
    ):
        gn.TablePreprocessor().fit(table)


def test_what_does_not_help_is_no_remedy():
    values = np.r_[np.zeros(500), np.ones(50), 1e5][:, None]  # of which the middle half is constant
    for scale in ("standard", "robust"):
        assert _told(values, fit_scaling(values, scale)).endswith("Put NaN in place of cells that are wrong.")


@pytest.mark.parametrize("n_missing", [0, 100])
def test_the_preprocessor_tells_cells_that_make_the_deviation_of_their_column(n_missing):
    rng = np.random.default_rng(0)
    people = {
        "kind": np.where(rng.random(400) < 0.995, "usual", "rare"),
        "age": rng.normal(50.0, 10.0, 400),
        "income": np.exp(rng.normal(size=400)),
    }
    people["age"][:n_missing] = np.nan
    encoder = gn.TablePreprocessor()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.fit(people)
    without = np.nanstd(people["age"])
    people["age"][[399, 203]] = [45000.0, 52000.0]
    times = np.nanstd(people["age"]) / without
    assert times > 100.0
    wanted = (
        r"TablePreprocessor: 'age' has 52000 \(row 203\), 45000 \(row 399\) far from all others \(.*\), and has a "
        rf"standard deviation that is ({times:.0f}|{times - 1:.0f}|{times + 1:.0f}) times as large as without\. Divided"
    )
    with pytest.warns(DataWarning, match=f"^{wanted}.*or divide by quartiles.$") as told:
        made = encoder.fit_transform(people)
    assert len(told) == 1
    np.testing.assert_array_equal(made[:, 1], people["age"])
    huge = people | {"age": people["age"] * 1e303}
    with pytest.warns(DataWarning, match=r"'age' has 5.2e\+307 \(row 203\), .*times as large as without"):
        gn.TablePreprocessor(features=["age"]).fit(huge)  # whole numbers by now


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_a_map_tells_cells_that_erase_their_column_and_keeps_it_with_the_remedy(metric):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) * [400, 20, 10, 4] + [5000, 100, 50, 30]
    X[:, 0] += 5000 * group
    X[7, 0] = 1e6
    names = ["revenue", "orders", "age", "visits"]

    def near(scale):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = gn.map(X, "umap", max_iter=20, random_state=0, metric=metric, feature_names=names, scale=scale)
        rows = made.scale.apply(made.X)
        nearest = np.argsort(((rows[:, None] - rows) ** 2).sum(axis=-1), axis=1)[:, 1:16]
        return (group[nearest] == group[:, None]).mean(), " ".join(str(one.message) for one in caught)

    same, told = near("auto")
    assert same < 0.6
    assert "map: 'revenue' has 1e+06 (row 7) far from all others" in told
    if metric == "gower":
        X[7, 0] = np.nan
    same, told = near("auto" if metric == "gower" else "robust")
    assert same > 0.9
    assert "hardly count" not in told


def _told_undivided(values):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_wild_rows(values, [f"c{f}" for f in range(values.shape[1])])
    return " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_columns_are_judged_without_the_cell_that_is_wrong(column):
    rng = np.random.default_rng(0)
    values, names = rng.normal([75, 172, 14], [12, 9, 1.2], (200, 3)), ["weight", "height", "hb"]
    without = values.copy()
    without[5, column] = np.sort(values[:, column])[99]  # the lower median
    values[5, column] *= 100.0
    found = find_unlike(values, names)
    assert found == find_unlike(without, names)
    assert found.kinds.startswith("'weight' spreads 10")


def test_a_wrong_cell_of_columns_of_one_kind_divides_nothing_and_is_told():
    values = np.random.default_rng(0).normal(75, 12, (200, 3))
    values[5, 1] *= 100.0
    assert find_unlike(values, ["arm (cm)", "leg (cm)", "hip (cm)"]) == ("", "", "")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = gn.map(values, "pca", feature_names=["arm (cm)", "leg (cm)", "hip (cm)"])
    assert made.scale is None
    assert any("map: 'leg (cm)' has" in str(one.message) and "(row 5)" in str(one.message) for one in caught)


def test_a_cell_of_an_undivided_table_is_told_where_it_makes_the_distances_of_its_row():
    values = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 1.0, 50.0]
    values[7, 0] = 200.0
    times = values[:, 0].std() / np.delete(values[:, 0], 7).std()
    told = _told_undivided(values)
    assert told.startswith("gnomon: 'c0' has 200 (row 7) far from all others (")
    assert f"a standard deviation that is {times:.0f} times as large as without. Such cells make most" in told
    about_zero = values - (values.max(axis=0) + values.min(axis=0)) / 2.0
    assert "(row 7) far from all others" in _told_undivided(about_zero)
    values[7, 0] = 65.0  # half the squared distance of two rows is 50^2 + 1^2 + 1^2
    assert len(find_wild_cells(values[:, 0])) == 1
    assert _told_undivided(values) == ""


def test_a_row_that_is_wild_in_several_columns_may_be_a_total():
    values = np.random.default_rng(0).gamma(9.0, size=(200, 3))
    total = np.vstack([values, values.sum(axis=0)])
    remedy = "Leave row 200 out if it is a total, or put NaN in place of cells that are wrong"
    assert _told_undivided(total).endswith(f"{remedy}.")
    assert remedy in _told(total, fit_scaling(total, "standard"))
    values[3, 0], values[4, 1] = 1e4, 1e4
    assert "total" not in _told_undivided(values)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.exp(2.0 * rng.normal(size=(1000, 20))),
        lambda rng: rng.pareto(1.0, (1000, 20)),
        lambda rng: rng.pareto(2.0, (100, 20)),
        lambda rng: np.where(rng.random((1000, 20)) < 0.7, 0.0, np.floor(np.exp(rng.normal(2, 1.5, (1000, 20))))),
        lambda rng: rng.standard_cauchy((1000, 20)),
    ],
    ids=["lognormal", "Pareto", "few of Pareto", "counts with zeros", "Cauchy"],
)
def test_heavy_tails_of_an_undivided_table_are_not_told(draw):
    drawn = [draw(np.random.default_rng(seed)) for seed in range(4)]
    assert not any(map(_told_undivided, drawn))


@pytest.mark.parametrize("scale", ["standard", None])
def test_carriers_of_rare_variants_are_not_far_from_what_was_filled_in(scale):
    rng = np.random.default_rng(0)
    X = rng.binomial(2, rng.beta(0.3, 3, 60), (200, 60)).astype(float)
    X[:, 1:3] = 0.0
    X[[5, 150], [1, 2]] = 1.0  # one carrier each
    X = X[:, np.ptp(X, axis=0) > 0]
    missing = rng.random(X.shape) < 0.05
    missing[[5, 150]] = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gn.map(np.where(missing, np.nan, X), "pca", scale=scale)
    assert any("missing" in str(one.message) for one in caught)
    assert not [one for one in caught if "far from all others" in str(one.message)]


def test_wild_cells_among_values_that_were_filled_in_are_told_by_their_row():
    values = np.random.default_rng(0).normal(50, 10, (300, 2))
    values[200, 0] = 1e6
    filled = np.zeros(values.shape, dtype=bool)
    filled[:100, 0] = True
    values[3, 0] = 5e6  # by whatever it was filled in
    with pytest.warns(DataWarning, match=r"'c0' has 1e\+06 \(row 200\) far from all others \(\d\d"):
        warn_of_wild_cells(values, fit_scaling(values, "standard"), ["c0", "c1"], filled)
    with pytest.warns(DataWarning, match=r"'c0' has 1e\+06 \(row 200\) far from all others \(\d\d"):
        warn_of_wild_rows(values, ["c0", "c1"], filled)
