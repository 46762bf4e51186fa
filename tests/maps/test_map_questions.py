"""A map answers questions about its points, in its own names, and finds rows named in words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.maps import Map
from gnomon.maps.report import describe
from gnomon.viewer import PageContent


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(0)
    kinds = np.repeat(["bread", "cake"], 150)
    X = rng.uniform(0, 1, (300, 6))
    X[150:, 1] += 3
    return Map(
        X,
        X[:, :2].copy(),
        labels=kinds,
        label_name="kind",
        feature_names=["flour", "sugar", "salt", "water", "oil", "yeast"],
        image_shape=(2, 3),
        metadata={"price": np.arange(300) / 10, "shop": np.array(["a", "b", "c"])[np.arange(300) % 3]},
        point_names=np.array([f"n{i}" for i in range(300)]),
        n_jobs=1,
    )


def test_every_question_is_answered_in_the_names_of_the_map(shop):
    assert shop.why(3, 2).features[0] in ("flour", "sugar")
    assert shop.axis([(0.5, 0.1), (0.5, 3.9)], width=0.3).features[0] == "sugar"
    assert shop.contrast(shop.select("kind=cake")).features[0] == "sugar"
    assert shop.captions()["cake"].text == "high sugar"
    important = shop.importance()
    assert important.features[0] in ("flour", "sugar")
    assert important.apart.features == ["sugar"]
    assert str(important).split("\n")[2].startswith("the 2 labels are told apart by 'sugar' 9")
    assert set(shop.importance_by_label()) == {"bread", "cake"}
    assert shop.saliency(3).image.shape == (2, 3)
    found = shop.counterfactual(3, "cake", transform=lambda rows: rows[:, :2])
    assert found.reached
    assert found.features[0] == "sugar"


def test_rows_are_selected_by_words(shop):
    X, price = shop.X, shop.metadata["price"]
    for text, expected in {
        "kind=cake": np.arange(300) >= 150,
        "label!=cake": np.arange(300) < 150,
        "price >= 20": price >= 20,
        "sugar<2": X[:, 1] < 2,
        "shop=a & price<5": (np.arange(300) % 3 == 0) & (price < 5),
        "rows=0:3,10": np.isin(np.arange(300), [0, 1, 2, 10]),
        "rows=290:": np.arange(300) >= 290,
    }.items():
        np.testing.assert_array_equal(shop.select(text), expected, err_msg=text)
    sparse = Map(sp.csr_array(X), shop.embedding, feature_names=shop.feature_names)
    np.testing.assert_array_equal(sparse.select("sugar<2"), X[:, 1] < 2)


def _same(found, expected):
    assert str(found) == str(expected)


@pytest.mark.parametrize("text", ["cake", "kind=cake", "label=cake & price>=0"])
def test_all_questions_take_labels_and_conditions(shop, text):
    cake = shop.select("kind=cake")
    _same(shop.contrast(text), shop.contrast(cake))
    _same(shop.contrast("bread", text), shop.contrast(~cake, cake))
    _same(shop.importance(text), shop.importance(cake))
    _same(shop.axis(direction=(0, 1), at=text), shop.axis(direction=(0, 1), at=cake))
    _same(shop.saliency(text, direction=(0, 1)), shop.saliency(cake, direction=(0, 1)))
    place = lambda rows: rows[:, :2]  # noqa: E731
    _same(shop.counterfactual(3, text, transform=place), shop.counterfactual(3, cake, transform=place))


def test_questions_about_a_point_take_its_name(shop):
    _same(shop.why("n7"), shop.why(7))
    _same(shop.false_neighbors("n7"), shop.false_neighbors(7))
    _same(shop.missing_neighbors("7"), shop.missing_neighbors(7))
    place = lambda rows: rows[:, :2]  # noqa: E731
    _same(shop.counterfactual("n3", "cake", transform=place), shop.counterfactual(3, "cake", transform=place))


def test_a_number_is_a_row_and_a_text_a_label():
    X = np.random.default_rng(0).normal(size=(40, 3))
    made = Map(X, X[:, :2], labels=np.arange(40) % 2)
    _same(made.contrast(1), made.contrast([1]))
    _same(made.contrast("1"), made.contrast(np.arange(40) % 2 == 1))
    with pytest.raises(ValueError, match=r"contrast: group '2' must be a label of the map\. Pass a label, a condition"):
        made.contrast("2")


def test_points_are_found_by_name_and_number(shop):
    assert shop.find("n7") == 7
    assert shop.find("12") == 12
    assert shop.find("-1") == 299


def test_what_cannot_be_selected_is_said(shop):
    for text, error in {
        "cake": "'cake' must be a condition",
        "kinds=cake": "column='kinds' must be one of those in the data .* Did you mean 'kind'",
        "kind>cake": "must be a comparison by = or !=",
        "price=cheap": "must be a comparison with a number",
        "rows=5:900": r"must be rows in \[0, 300\)",
        "rows=x": "must be row numbers and ranges",
        "kind=pie": "must be such that one row at least fits",
    }.items():
        with pytest.raises(ValueError, match=error):
            shop.select(text)
    with pytest.raises(TypeError, match=r"select: text=3 must be a text \(found int\)"):
        shop.select(3)
    with pytest.raises(ValueError, match="point 'nobody' must be a row number or the name of a point"):
        shop.find("nobody")
    with pytest.raises(ValueError, match="point 300 must be below n_samples=300"):
        shop.find("300")


def test_questions_that_need_labels_or_pixels_say_so(shop):
    plain = Map(shop.X, shop.embedding)
    for ask in (plain.captions, plain.importance_by_label):
        with pytest.raises(ValueError, match="must be one with labels"):
            ask()
    with pytest.raises(ValueError, match="must be one whose features are pixels"):
        plain.saliency(3)


def test_collinear_features_are_taken_together_where_asked():
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (200, 2))
    found = gnomon.map(T[:, [0, 0, 1]], "pca", labels=np.arange(200) % 2, n_jobs=1)
    assert found.why(0, groups="auto").groups.keys() == found.importance(groups="auto").groups.keys()
    assert all("0 + 1 alike" in " ".join(one.features) for one in found.importance_by_label(groups="auto").values())
    assert found.why(0).groups is found.importance().groups is None


def test_the_report_names_no_feature_of_labels_at_random():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 30)), np.array(["a", "b"])[rng.integers(0, 2, 60)]
    made = Map(X, X[:, :2], labels=labels)
    assert "  a  no feature sets it apart\n  b  no feature sets it apart\n" in made.report()
    assert f" of 60 (of labels given at random about {made.suspects().n_by_chance} would)" in made.report()


def test_the_report_names_features_that_differ_beyond_chance_but_little():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(3000, 4)), np.repeat(["a", "b"], 1500)
    X[:1500, 2] += 0.25
    told = Map(X, X[:, :2], labels=labels).report()
    assert "  a  no feature sets it strongly apart; beyond chance: feature 2 +0.2 (0.5" in told
    assert "  b  no feature sets it strongly apart; beyond chance: feature 2 -0.2 (0.4" in told


def test_the_report_and_the_page_take_collinear_features_together(tmp_path):
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (120, 2))
    labels = np.where(T[:, 0] > 0.5, "right", "left")
    copies, single = (gnomon.map(T[:, f], "pca", labels=labels, n_jobs=1) for f in ([0, 0, 1], [0, 1]))
    name = "feature 0 + 1 alike"
    assert copies.feature_groups() is copies.feature_groups()
    report = copies.report()
    assert f"{name}: feature 0, feature 1" in report
    assert f"right  {name} +" in report
    assert copies.profiles()["right"].groups is None
    content = PageContent.of(copies)
    assert content.captions == {"left": f"low {name}", "right": f"high {name}"}
    assert content.profiles["right"][0][0] == name
    assert "alike" not in single.report()
    assert "groups" not in describe(single)
    copies.to_png(tmp_path / "map.svg")
    assert "alike" in (tmp_path / "map.svg").read_text()


@pytest.mark.filterwarnings("ignore:.*alone tells the labels:gnomon.exceptions.DataWarning")
def test_categories_of_a_table_are_asked_for_as_a_whole():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 150)
    table = {
        "plan": np.array(["basic", "plus", "pro"])[group],
        "member": np.where(rng.random(150) < 0.5, "yes", "no"),
        "usage": rng.normal(size=150) + 4.0 * (group == 1),
    }
    m = gnomon.map(table, "pca", labels=np.array(list("abc"))[group], random_state=0, n_jobs=1)
    for i in np.flatnonzero(group == 0)[:3].tolist():
        found = m.counterfactual(i, "b")
        named = dict(zip(found.features, found.change.tolist(), strict=True))
        assert (named["plan = basic"], named["plan = plus"], named["plan = pro"]) == (-1.0, 1.0, 0.0)
        assert {change for name, change in named.items() if name.startswith("member")} <= {-1.0, 0.0, 1.0}
        assert dict(zip(found.features, found.needed.tolist(), strict=True))["plan = plus"]


def _map_of_countries(labels=None, of=("DE", "FR", "IT")):
    draw = np.random.default_rng(0)
    country = draw.integers(0, 3, 150)
    table = {"size": draw.normal(size=150), "country": np.array(of)[country]}
    rows = gnomon.map(table, "pca", labels=labels(country) if labels else None, random_state=0)
    places = np.column_stack([20.0 * country, np.zeros(150)]) + draw.normal(size=(150, 2))
    return Map(rows.X, places, labels=rows.labels, feature_names=rows.feature_names, columns=rows.columns)


@pytest.mark.filterwarnings("ignore:.*alone tells the labels:gnomon.exceptions.DataWarning")
def test_what_makes_the_islands_of_a_map_is_named_where_nothing_else_names_it():
    result = _map_of_countries(lambda country: np.arange(150) % 2)
    islands = result.importance().islands
    assert (islands.kind, islands.n_groups, islands.features) == ("islands", 3, ["country"])
    asked = "share of variance between them; whether the data have these gaps, verdicts() tells"
    told = f"the 3 islands of the map are told apart by 'country' 100% ({asked})"
    assert str(result.importance()).split("\n")[2:4] == [
        "no feature has 14% of its variance between the 2 labels",
        told,
    ]
    said = f"What parts groups of points\n  no feature has 14% of its variance between the 2 labels\n  {told}\n"
    assert said in result.report(verdicts=False)
    assert result.to_dict()["islands"] == result.importance().to_dict()["islands"] == islands.to_dict()
    assert PageContent.of(result).apart == f"no feature has 14% of its variance between the 2 labels; {told}"
    named = _map_of_countries(lambda country: country)
    assert named.importance().apart.features == ["country"]
    assert named.importance().islands is None
    in_two = _map_of_countries(lambda country: country, of=["DE", "FR", "DE"])  # one feature, "country = FR"
    assert in_two.feature_names == ["size", "country = FR"]
    assert in_two.importance().apart.features == ["country"]
    assert in_two._columns_judged() == {"size": slice(0, 1), "country": slice(1, 2)}
    scattered = Map(result.X, np.random.default_rng(1).normal(size=(150, 2)), labels=result.labels)
    assert scattered.importance().islands is None


def test_a_condition_on_texts_that_became_numbers_names_their_feature():
    table = {"a": np.arange(20.0) ** 2, "spend": [f"${30 * i}.5" for i in range(20)]}
    made = gnomon.map(table, "pca", scale="standard")
    remedy = r"\(spend holds texts\)\. Compare the numbers that they became: spend \(\$\)>500"
    with pytest.raises(ValueError, match=remedy):
        made.select("spend>500")
    assert np.flatnonzero(made.select("spend ($)>500")).tolist() == [17, 18, 19]


def test_dates_and_numbers_of_single_precision_are_compared_as_they_are_written():
    days = np.datetime64("2024-05-29") + np.arange(6)
    tenths = np.arange(6, dtype=np.float32) / np.float32(10.0)
    made = Map(np.eye(6), np.eye(6)[:, :2], metadata={"day": days, "tenth": tenths})
    assert np.flatnonzero(made.select("day>=2024-05-31")).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(made.select("day=2024-05-31")).tolist() == [2]
    assert np.flatnonzero(made.select("tenth>0.1")).tolist() == np.flatnonzero(tenths.astype(float) > 0.1).tolist()
    with pytest.raises(ValueError, match="day>tomorrow must be a comparison with a date, such as 2024-05-31"):
        made.select("day>tomorrow")


def test_what_tells_groups_apart_is_found_once_and_anew_for_other_labels():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 30)
    made = Map(rng.normal(size=(60, 3)) + 4.0 * (labels == "a")[:, None] * np.eye(3)[1], rng.normal(size=(60, 2)))
    made.labels = labels
    found = made._told_apart()
    assert made._told_apart() is found
    assert found[0].features == ["feature 1"]
    made.labels = labels[rng.permutation(60)]
    assert made._told_apart()[0].features == []


@pytest.mark.parametrize("part", ["-1", "-1:3", "6", "2:7", "3:3", "4:2"])
def test_rows_that_a_map_has_not_are_no_rows_to_select(part):
    made = Map(np.eye(6), np.eye(6)[:, :2])
    with pytest.raises(ValueError, match=rf"rows={part} must be rows in \[0, 6\)"):
        made.select(f"rows=0,{part}")
    assert np.flatnonzero(made.select("rows=0, 3:5,5")).tolist() == [0, 3, 4, 5]
    assert np.flatnonzero(made.select("rows=:2")).tolist() == [0, 1]
    assert np.flatnonzero(made.select("rows=4:")).tolist() == [4, 5]


def test_a_point_is_found_by_its_name_before_its_number_and_from_the_end():
    made = Map(np.eye(4), np.eye(4)[:, :2], point_names=np.array(["2", "b", "c", "c"]))
    assert (made.find("2"), made.find("b"), made.find("1"), made.find("-1"), made.find("-4")) == (0, 1, 1, 3, 0)
    for text, rule in (("c", "the name of one point"), ("4", "below n_samples=4"), ("-5", "below n_samples=4")):
        with pytest.raises(ValueError, match=rule):
            made.find(text)
    with pytest.raises(ValueError, match="a row number or the name of a point"):
        made.find("d")


def test_quotes_are_no_part_of_a_value_that_begins_and_ends_with_the_same():
    texts = np.array(["A & B", "it's", "'", "", "x=1", '"'], dtype=object)
    made = Map(np.eye(6), np.eye(6)[:, :2], metadata={"dept": texts})
    asked = {"'A & B'": [0], '"A & B"': [0], "it's": [1], "'": [2], "''": [3], "'x=1'": [4], "x=1": [4], '"': [5]}
    for value, rows in asked.items():
        assert np.flatnonzero(made.select(f"dept={value}")).tolist() == rows
    assert np.flatnonzero(made.select("dept!='A & B' & rows=0:2")).tolist() == [1]
    assert np.flatnonzero(made.select('dept="A & B" & rows=0:2')).tolist() == [0]


def test_features_beside_those_of_the_columns_are_no_categories():
    made = _map_of_countries()
    assert [one.tolist() for one in made._indicators()] == [[1, 2, 3]]
    assert made._categories() == {"country": slice(1, 4)}
    more = Map(np.column_stack([made.X, np.arange(150.0)]), made.embedding, columns=made.columns)
    assert (more._indicators(), more._categories()) == ([], {})


def test_of_very_many_rows_without_labels_no_clusters_are_looked_for_to_say_what_tells_them_apart(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 9.0 * (np.arange(400) < 200)[:, None]
    few, many = (Map(X, rng.normal(size=(400, 2))) for _ in range(2))
    monkeypatch.setattr("gnomon.maps.importance_questions._MOST_CLUSTERED", 400)
    assert few.importance().apart.kind == "clusters"
    monkeypatch.setattr("gnomon.maps.importance_questions._MOST_CLUSTERED", 399)
    assert many.importance().apart is None
    many.clusters()  # those that are known are taken
    assert many.importance().apart.kind == "clusters"
