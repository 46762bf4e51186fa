"""Metadata that go with what is compared are told, as what is compared may be theirs; others are not."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.maps import confounded
from gnomon.maps.beside import columns_beside
from gnomon.maps.confounded import confounded_share
from gnomon.viewer import PageContent

N = 120
SAME = "cannot be told apart: each difference may be that of 'plate'"


def counts(sides, values):
    return tuple(np.bincount(values[sides == side], minlength=values.max() + 1) for side in (0, 1))


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


def make(values, *, name="plate", labels=("ctrl", "case"), label_name="disease"):
    draw = np.random.default_rng(1)
    sides = draw.integers(0, 2, N)
    table = pd.DataFrame(draw.normal(size=(N, 6)), columns=list("abcdef"))
    table[["a", "b"]] += 8.0 * sides[:, None]
    table[label_name] = np.array(labels)[sides]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gn.map(table, "pca", labels=label_name, metadata={name: values(sides, draw)}), sides


@pytest.fixture(scope="module")
def same():
    return make(lambda sides, _: np.array(["P1", "P2"])[sides])[0]


@pytest.mark.parametrize("n", [12, 40, 120, 2000])
@pytest.mark.parametrize("n_values", [2, 5, 30])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_columns_that_have_nothing_to_do_with_the_sides_are_not_told(n, n_values, share):
    draw = np.random.default_rng(3)
    for _ in range(200):
        sides = (draw.random(n) < share).astype(int)
        values = draw.integers(0, n_values, n)
        assert confounded_share(*counts(sides, values)) is None


def test_the_share_of_two_values_is_the_difference_of_theirs_less_chance():
    n, p, q = 4000, 0.8, 0.3
    first, second = np.array([p * n, (1 - p) * n]).astype(int), np.array([q * n, (1 - q) * n]).astype(int)
    draw = np.random.default_rng(0)
    values = np.repeat([0, 1], (first + second))
    dealt = [draw.permutation(values)[:n].mean() for _ in range(400)]
    by_chance = np.mean([2 * abs(mean - values.mean()) for mean in dealt])
    assert confounded_share(first, second) == pytest.approx((p - q - by_chance) / (1 - by_chance), abs=2e-3)
    assert confounded_share(first, first) is None


@pytest.mark.parametrize("sizes", [((60, 0), (0, 60)), ((6, 0), (0, 6)), ((40, 0, 0), (0, 30, 30))])
def test_sides_without_a_value_in_common_cannot_be_told_apart(sizes):
    assert confounded_share(*map(np.array, sizes)) == pytest.approx(1.0)


def test_several_values_of_each_side_are_units_and_no_other_name_of_it():
    assert confounded_share(np.array([20, 20, 0, 0]), np.array([0, 0, 20, 20])) is None
    assert confounded_share(np.array([20, 20, 1, 0]), np.array([0, 1, 20, 20])) is None  # mostly
    assert confounded_share(np.array([20, 20, 20]), np.array([0, 0, 60])) is not None


def test_a_side_without_rows_goes_with_nothing():
    assert confounded_share(np.array([3, 4]), np.array([0, 0])) is None


def test_every_answer_about_labels_says_that_the_plate_is_the_label(same, tmp_path):
    for answer in (same.contrast("case"), same.contrast(same.labels == "case"), same.profiles(), same.captions()):
        assert SAME in answer.caution
        assert SAME in str(answer)
    assert same.are_apart("case", "ctrl", n_nulls=19).caution == f"'plate' and the two sides {SAME}."
    assert "'plate' and the two sides" in same.contrast("case", units="plate").caution + same.contrast("case").caution
    assert same.report(verdicts=False).count(SAME) == 1
    same.write_report(tmp_path / "r.html")
    assert "each difference may be that of &#x27;plate&#x27;" in (tmp_path / "r.html").read_text()
    assert PageContent.of(same).info["columns beside"] == f"'plate' and 'disease' {SAME}."


def test_rows_that_are_chosen_by_metadata_go_with_these_by_choice(same):
    case = np.flatnonzero(same.labels == "case")
    ctrl = same.labels == "ctrl"
    assert same.contrast(case[: len(case) // 2 + 1], rest=ctrl).caution.count(SAME) == 1
    assert "cannot be told apart" not in same.contrast(case[: len(case) // 3], rest=ctrl).caution
    assert "plate" not in same.contrast(case[: len(case) // 2 + 1]).caution  # cases are on both sides
    made, _ = make(lambda sides, _: np.array(["P1", "P2"])[sides])
    made.labels = None
    assert "cannot be told apart" not in made.contrast("plate=P1").caution


def test_a_plate_that_goes_partly_with_the_label_is_told_with_its_share():
    made, sides = make(lambda sides, draw: np.where(draw.random(N) < 0.85, sides, 1 - sides))
    told = made.contrast("case").caution
    shares = [np.mean(made.metadata["plate"][sides == side]) for side in (0, 1)]
    found = float(told.split("'plate' (")[1].split(" %")[0]) / 100
    assert abs(shares[1] - shares[0]) - 0.1 < found < abs(shares[1] - shares[0])
    assert "compare rows of one value" in told
    assert "cannot be told apart" not in told


def test_no_word_of_a_balanced_plate_or_of_what_is_no_class():
    for values in (
        lambda _, draw: draw.integers(0, 2, N),
        lambda sides, draw: sides + draw.normal(size=N),
        lambda sides, _: [f"row {i} {side}" for i, side in enumerate(sides)],
        lambda sides, draw: 2 * sides + draw.integers(0, 2, N),  # units
    ):
        made, _ = make(values)
        assert "plate" not in made.contrast("case").caution
        assert "plate" not in made.profiles().caution
        assert "told apart" not in made.report(verdicts=False).replace("are told apart by", "")


@pytest.mark.parametrize(
    ("name", "labels", "label_name", "values"),
    [
        ("disease_id", ("ctrl", "case"), "disease", (1, 2)),
        ("Cell type fine", ("B", "T"), "cell_type", ("naive", "memory")),
        ("celltype_l2", ("B", "T"), "celltype.l1", ("naive", "memory")),
        ("taxon", ("Iris-setosa", "Iris-virginica"), "species", ("setosa", "virginica")),
        ("sex_code", ("f", "m"), "sex", ("1", "2")),
        ("target", ("ctrl", "case"), "disease", (0, 1)),
        ("leiden", ("ctrl", "case"), "disease", ("0", "1")),
    ],
)
def test_other_names_of_the_label_and_clusters_are_no_news(name, labels, label_name, values):
    made, _ = make(lambda sides, _: np.array(values)[sides], name=name, labels=labels, label_name=label_name)
    assert "cannot be told apart" not in made.profiles().caution
    assert "cannot be told apart" not in made.contrast(labels[1]).caution


def test_other_columns_are_told_though_their_names_begin_alike():
    made, _ = make(lambda sides, _: np.array(["x", "y"])[sides], name="cell_batch", label_name="cell_type")
    assert "'cell_batch' and the two sides cannot be told apart" in made.contrast("case").caution


def test_metadata_are_counted_once_and_anew_where_they_or_the_labels_change(monkeypatch):
    result, sides = make(lambda sides, _: np.array(["P1", "P2"])[sides])
    asked = []
    monkeypatch.setattr(confounded, "columns_beside", lambda of: asked.append(of) or columns_beside(of))
    told = confounded.told_of_confounded_labels(result)
    assert SAME in told
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(lambda _: confounded.told_of_confounded_labels(result), range(8))) == {told}
    assert SAME in result.contrast(sides == 1).caution
    assert len(asked) == 1
    result.metadata["well"] = np.array(["A", "B"])[sides]
    assert "'plate', 'well' and the two sides cannot be told apart" in result.contrast(sides == 1).caution
    result.labels = np.random.default_rng(2).permutation(result.labels)
    assert confounded.told_of_confounded_labels(result) == ""
    assert len(asked) == 3


def test_each_label_is_told_as_a_contrast_with_all_other_rows_tells_it():
    draw = np.random.default_rng(4)
    kinds = draw.integers(-1, 3, 400)
    X = draw.normal(size=(400, 4)) + 6.0 * kinds[:, None]
    names = np.array(["a", "b", "c", None], dtype=object)[kinds]
    plate = np.array(["P1", "P2", "P3", "P4"])[np.where(draw.random(400) < 0.8, kinds, draw.integers(0, 4, 400))]
    result = gn.Map(X, X[:, :2], labels=names, metadata={"plate": plate, "run": np.where(kinds == 1, "r1", "r2")})
    told = confounded.told_of_each_label(result)
    assert set(told) == {"a", "b", "c"}
    for k, name in enumerate("abc"):
        assert told[name] == result.contrast(kinds == k).caution != ""
    assert "'run' and the two sides cannot be told apart" in told["b"]
    assert "'run'" not in told["a"].split("'plate'")[0]


def test_nothing_is_said_of_a_single_label():
    X = np.random.default_rng(0).normal(size=(60, 3))
    for labels in (np.repeat("a", 60), None):
        result = gn.Map(X, X[:, :2], labels=labels, metadata={"plate": np.repeat(["P1", "P2"], 30)})
        assert confounded.told_of_confounded_labels(result) == ""
        assert confounded.told_of_each_label(result) == {}
        first = np.arange(60) < 30
        assert confounded.told_of_confounded_sides(result, first, ~first) == ""
