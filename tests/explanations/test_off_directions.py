"""Outliers of a map name rows off what columns have in common, by which columns; groups are told as groups."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.explanations.off_directions import find_off_directions
from gnomon.geometry.direction_distances import direction_distances
from gnomon.maps.printed.sections.groups import doubts
from gnomon.maps.printed.subject import Subject
from gnomon.neighbors import compute_neighbors


def factors(seed, n=300, p=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p))


def of(X, **more):
    return find_off_directions(X, compute_neighbors(X, 15), [f"c{i}" for i in range(X.shape[1])], **more)


def test_the_map_tells_rows_and_the_columns_by_which_they_stand_out():
    X = factors(0)
    X[[5, 80], [12, 30]] += [6.0, -8.0]
    names = [f"p{i}" for i in range(300)]
    found = gn.Map(X, X[:, :2], point_names=names, feature_names=[f"c{i}" for i in range(40)]).outliers(3)
    off = found.off_directions
    assert (off.rows.tolist(), off.names, off.by) == ([80, 5], ["p80", "p5"], ["off", "off"])
    assert [features[0][0] for features in off.features] == ["c30", "c12"]
    measured = direction_distances(X)
    np.testing.assert_array_equal(off.off, measured.off)
    np.testing.assert_array_equal(off.within_chance, measured.within_chance)
    shares = measured.contributions(X, 80)[0] / measured.off[80]
    share, largest = shares[30], np.argsort(-shares)[:3]
    assert [name for name, _ in off.features[0]] == [f"c{column}" for column in largest]
    assert [told for _, told in off.features[0]] == pytest.approx(shares[largest])
    lines = str(found).splitlines()
    head = "2 rows lie off the 3 directions in which 40 columns go together, or far out within; "
    assert lines[5] == f"{head}of tables without outliers one in 20 at most has such a row"
    assert lines[6].split() == ["row", "name", "off", "within", "chance", "by", "most", "in"]
    assert lines[7].split()[:2] == ["80", "p80"]
    assert f"c30 {share:.0%}" in lines[7]
    told = json.loads(json.dumps(found.to_dict()))["off_directions"]
    assert told["rows"][0] == {name: column[0] for name, column in off.columns().items()}
    assert (told["n_directions"], told["n_columns"], told["together"]) == (3, 40, [])
    assert told["off_limit"] < off.off[5]


def test_the_table_is_the_one_that_was_mapped():
    X = factors(1, p=6)
    X[7, 2] += 30.0
    units = np.array([1.0, 1e3, 1e-3, 1.0, 5.0, 1.0])
    scaled = gn.map(X * units, method="pca", scale="standard")
    values = scaled._standardised().values
    off = scaled.outliers().off_directions
    np.testing.assert_array_equal(off.within, direction_distances(values).within)
    assert 7 in off.rows


def test_a_row_far_out_within_is_told_so():
    X = factors(2, p=5)
    X[9] = 40.0 * X[:, 0].std() * np.array([1.0, 0, 0, 0, 0])
    off = of(X)
    assert (off.rows.tolist(), off.by) == ([9], ["within"])
    assert off.within[9] > off.within_limit
    assert str(off).startswith("1 row lies far out along all directions of 5 columns together; ")


def test_rows_alike_are_a_group_from_nine_on():
    for count in (8, 9):
        X = factors(3, n=600)
        X[:count] += 8.0 * np.random.default_rng(4).normal(size=40)
        off = of(X)
        rows, together = (off.rows.tolist(), off.together.tolist())
        expected = list(range(count))
        assert (sorted(rows), together) == ((expected, []) if count == 8 else ([], expected))
        assert ("9 rows that are odd alike lie so together, rather a group than outliers (most in c" in str(off)) == (
            count == 9
        )


def test_where_no_row_stands_out_it_is_said():
    assert str(of(factors(5))) == "no row lies off the 3 directions in which 40 columns go together, or far out within"
    noise = np.random.default_rng(6).normal(size=(200, 30))
    assert str(of(noise)) == "no row lies far from the middle of 30 columns, which go together in no direction"
    assert of(noise).columns()["row"] == []


def test_tables_that_have_no_such_directions_have_no_answer():
    X = np.abs(factors(7, p=6))
    assert gn.Map(X, X[:, :2]).outliers().off_directions is not None
    for given, metric in [(sp.csr_array(X), "euclidean"), (X > 1.0, "jaccard"), (X[:40], "euclidean")]:
        found = gn.Map(given, X[: given.shape[0], :2], metric=metric).outliers()
        assert found.off_directions is None
        assert "off_directions" not in found.to_dict()
    distances = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    assert gn.Map(distances, X[:, :2], metric="precomputed").outliers().off_directions is None


def test_the_report_lists_them():
    X = factors(8)
    X[5, 12] += 8.0
    told = doubts(Subject(gn.Map(X, X[:, :2], feature_names=[f"c{i}" for i in range(40)]))).body
    assert "1 row lies off the 3 directions in which 40 columns go together" in told
    listed = told.partition("Rows off what columns have in common")[2]
    assert all(text in listed for text in ("row 5", "most in", "c12"))


def test_new_rows_off_what_columns_have_in_common_are_told_beside_their_novelty():
    """Two values of forty are odd, which hardly changes how far the nearest rows are."""
    X = factors(9, n=400)
    X[380:383, [4, 21]] += [3.0, -3.0]
    made = gn.map(X[:380], method="pca", feature_names=[f"c{i}" for i in range(40)])
    drift = made.extend(X[380:])[1]
    off = drift.off_directions
    assert sorted(off.rows.tolist()) == [0, 1, 2]
    assert {name for features in off.features for name, _ in features[:2]} == {"c4", "c21"}
    assert drift.novelty[:3].max() < 1.0
    assert not drift.refit
    told = drift.summary().splitlines()
    assert "3 of 20 new rows (0, 1, 2), as of as many like the old any is in one of 400 draws at most" in told[-2]
    assert told[-1].endswith(" 3 of the new rows lie off what columns of the map have in common: look at them.")
    alone = made.extend(X[380:381])[1]
    assert alone.off_directions.rows.tolist() == [0]
    assert alone.off_directions.off_limit < off.off_limit  # one row has fewer chances
    like = made.extend(X[383:])[1]
    assert (len(like.off_directions), like.off_directions.told_of_new()) == (0, "")
    assert "in common" not in like.summary()


@pytest.mark.parametrize("n_new", [1, 30])
def test_new_rows_like_the_old_are_hardly_ever_told(n_new):
    told = 0
    for seed in range(10):
        X = factors(seed, n=200 + 4 * n_new, p=30)
        measured = direction_distances(X[:200])
        for begin in range(200, len(X), n_new):
            found = measured.of_new(X[begin : begin + n_new], 0.05)
            told += (np.minimum(found.off_chance, found.within_chance) <= 0.025).any()
    assert told <= 4  # of 40 draws, at a level of 0.05 that is 2


def test_new_rows_of_a_series_are_not_judged_so():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(400, 6)), axis=0)
    assert gn.map(X[:350], method="pca").extend(X[350:])[1].off_directions is None


def test_rows_unusual_in_columns_that_hardly_vary_are_told_so():
    X = np.column_stack([factors(2, n=300, p=30), np.zeros((300, 25))])
    X[7, 30:50], X[:20, 54] = 0.5, 1.0
    X[8, 35:55], X[8, 3] = 0.5, X[8, 3] + 9.0
    found = of(X)
    assert found.n_steady == 25
    assert sorted(zip(found.rows.tolist(), found.by, strict=True)) == [(7, "unusual"), (8, "off, unusual")]
    first = {row: features[0] for row, features in zip(found.rows.tolist(), found.features, strict=True)}
    assert first[8][0] == "c3"
    alone, both = np.log(300.0), np.log(150.0)  # columns 30 to 34 are unusual in row 7 alone, the next 15 in row 8 too
    assert first[7] == ("c30", pytest.approx(alone / (5 * alone + 15 * both + np.log(15.0))))
    head = found.headline()
    assert "or have unusual values in many of the 25 that are the same in nine rows of ten" in head
    assert found.columns()["unusual"] == found.unusual[found.rows].tolist()
    json.dumps(found.to_dict())
    without = of(X[:, :30])
    assert (without.n_steady, "nine rows of ten" in without.headline()) == (0, False)
    assert "unusual" not in without.columns()


@pytest.mark.parametrize("seed", range(3))
def test_under_the_cosine_metric_lengths_of_new_rows_mean_nothing(seed):
    draw = np.random.default_rng(seed)
    centers = 1.2 * draw.normal(size=(5, 24))

    def rows(n):
        return centers[draw.integers(0, 5, n)] + draw.normal(size=(n, 24)) * np.linspace(1.0, 0.05, 24)

    def unit(table):
        return table / np.linalg.norm(table, axis=1, keepdims=True)

    X, new = rows(300), rows(60)
    m, other = (gn.Map(table, table[:, :2].copy(), metric="cosine") for table in (unit(X), X))
    assert len(m.outliers().off_directions) == len(other.outliers().off_directions)
    known = m._new_off_directions(unit(new))
    assert len(known) <= 3
    assert m._new_off_directions(draw.uniform(1.0, 9.0, size=(60, 1)) * new).rows.tolist() == known.rows.tolist()
