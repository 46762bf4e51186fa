"""A map of vectors without meaning, told in the words of the texts or in other features of the rows."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.maps.report import _stretches
from gnomon.viewer import PageContent
from gnomon.viewer.document import Document

TOPICS = {"sport": ["hockey", "goal", "team"], "space": ["orbit", "moon", "rocket"], "food": ["bread", "salt", "oven"]}
COMMON = ["today", "often", "people", "said", "many", "again", "never", "here", "under"]
NUMBERED = re.compile(r"feature\s*\d", re.IGNORECASE)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    labels = np.repeat(list(TOPICS), 42)
    kept = [[*rng.choice(TOPICS[one], 2, replace=False), *rng.choice(COMMON, 4, replace=False)] for one in labels]
    return [" ".join(words) for words in kept], labels


@pytest.fixture(scope="module")
def vectors(texts):
    """A random projection of the counts of words."""
    rng = np.random.default_rng(1)
    words = sorted({word for text in texts[0] for word in text.split()})
    counts = np.array([[word in text.split() for word in words] for text in texts[0]], dtype=float)
    return counts @ rng.normal(size=(len(words), 40)) + 0.1 * rng.normal(size=(len(counts), 40))


@pytest.fixture(scope="module")
def plain(texts, vectors):
    return gn.map(vectors, labels=texts[1], max_iter=100)


@pytest.fixture(scope="module")
def told(plain, texts):
    return plain.with_features(texts[0])


def test_no_answer_report_or_page_speaks_of_numbered_features(plain, told, texts):
    assert NUMBERED.search(plain.report())  # as they would without words
    sides = told.embedding[told.labels == "sport"].mean(axis=0), told.embedding[told.labels == "food"].mean(axis=0)
    answers = [
        told.why(0),
        told.axis(sides),
        told.contrast(told.select("label=sport")),
        told.importance(),
        told.importance(groups="auto"),
        told.counterfactual(0, target="food"),
        *told.importance_by_label().values(),
        *told.profiles().values(),
        *told.captions().values(),
    ]
    for answer in answers:
        assert not NUMBERED.search(f"{answer} {answer.to_dict()}")
        assert set(answer.features) <= {word for text in texts[0] for word in text.split()}
    assert not NUMBERED.search(f"{told.report()} {told.to_dict()}")
    shown = PageContent.of(told)
    assert not NUMBERED.search(f"{shown.feature_names} {shown.explanation.feature_names} {shown.info}")
    assert not NUMBERED.search(str(Document.of(shown, None, byte_budget=1 << 20).payload.header))


def test_the_words_of_each_topic_describe_it(told):
    for topic, profile in told.profiles().items():
        assert set(profile.head(3).features) == set(TOPICS[topic])
    for topic, caption in told.captions().items():
        assert set(caption.features) & set(TOPICS[topic])
        assert not set(caption.features) & set(COMMON), topic
    assert told.contrast(told.select("label=space")).features[0] in TOPICS["space"]


def test_what_is_said_of_the_data_stays(plain, told):
    np.testing.assert_array_equal(told.embedding, plain.embedding)
    np.testing.assert_array_equal(told.neighbors().indices, plain.neighbors().indices)
    assert told.evaluate().to_dict() == plain.evaluate().to_dict()
    assert told.intrinsic_dimension().value == plain.intrinsic_dimension().value
    np.testing.assert_array_equal(told.suspects().scores, plain.suspects().scores)
    assert plain.feature_names[0] == "feature 0"  # the map itself is as it was
    assert "These features are others than those mapped" in told.report()
    assert "Neighbours and scores are in the table that was mapped (40 coordinates)." in told.report()


def test_the_explanation_is_that_by_other_features(plain, told, texts):
    aside = plain.explain(features=texts[0])
    assert told.explain().feature_names == aside.feature_names == told.feature_names
    np.testing.assert_allclose(told.importance().effect, plain.importance(explanation=aside).effect, rtol=1e-6)
    np.testing.assert_allclose(told.explain().r2, aside.r2, atol=1e-6)
    ages = np.random.default_rng(0).uniform(20, 80, (126, 2))
    older = plain.with_features(ages, ["age", "years"])
    assert older.explain().n_neighbors == 60
    assert older.explain().graph.n_neighbors == 60
    by = dict(zip(older.why(4).features, older.why(4).values, strict=True))
    assert by["age"] == ages[4, 0]  # in its own units
    np.testing.assert_allclose(
        older.importance().effect, plain.importance(explanation=plain.explain(ages, ["age", "years"])).effect, rtol=1e-6
    )


def test_words_that_go_together_are_one_and_neighbours_stay_those_of_the_data(plain, texts):
    told = plain.with_features([text.replace("goal", "ice rink") for text in texts[0]])
    groups = told.feature_groups()
    assert list(groups.groups.values()) == [{"ice": pytest.approx(0.5), "rink": pytest.approx(0.5)}]
    np.testing.assert_array_equal(groups.explanation.graph.indices, told.explain().graph.indices)
    assert "ice + 1 alike" in told.report()


def test_a_file_keeps_the_words(told, tmp_path):
    told.save(tmp_path / "m.gnomon")
    found = gn.load(tmp_path / "m.gnomon")
    assert found.feature_names == told.feature_names
    np.testing.assert_array_equal(found.explain().r2, told.explain().r2)
    assert str(found.why(7)) == str(told.why(7))


def test_columns_of_all_kinds_become_features(plain, texts):
    columns = {"text": texts[0], "age": np.arange(126.0), "sex": np.tile(["f", "m"], 63)}
    for given in (columns, pd.DataFrame(columns)):
        assert {"text: hockey", "age", "sex = m"} <= set(plain.with_features(given).feature_names)
    frame = pd.DataFrame({"age": np.arange(126.0), "child": np.arange(126) < 18})
    told = plain.with_features(frame)
    assert told.feature_names == ["age", "child"]
    np.testing.assert_array_equal(told.X, frame.to_numpy(dtype=float))
    gaps = [None if i % 9 == 0 else text for i, text in enumerate(texts[0])]
    assert plain.with_features(pd.Series(gaps)).X[0].sum() == 0
    assert sp.issparse(plain.with_features(sp.csr_array(np.eye(126)[:, :5])).X)


def test_answers_and_conditions_are_in_units_of_the_columns_whatever_stands_beside_them():
    X = np.random.default_rng(0).normal(size=(40, 3))
    age, sex = 50.0 + 9.0 * X[:, 0], np.tile(["f", "m"], 20)
    plain = gn.Map(X, X[:, :2])
    given = pd.DataFrame({"age": age}), pd.DataFrame({"age": age, "sex": sex}), {"age": age}, {"age": age, "sex": sex}
    for told in map(plain.with_features, given):
        assert told.feature_names == ["age", "sex = m"][: told.n_features]
        np.testing.assert_array_equal(told.select("age>52"), age > 52)
        found = told.contrast(age > 52)
        means = age[age > 52].mean(), age[age <= 52].mean()
        assert (found.mean_selected[0], found.mean_rest[0]) == pytest.approx(means)
        np.testing.assert_array_equal(told.X[:, 0], age)  # the page shows these
    np.testing.assert_array_equal(told.select("sex=m"), sex == "m")
    for answer in (told.why(3), plain.why(3, explanation=plain.explain(given[-1]))):
        assert dict(zip(answer.features, answer.values, strict=True))["age"] == age[3]


def test_a_map_in_principal_components_or_standardised_can_be_told_otherwise(vectors, texts):
    for options, name in (
        ({"n_pcs": 10}, "principal components"),
        ({"scale": "standard"}, "the table that was mapped"),
    ):
        made = gn.map(vectors, "pca", labels=texts[1], **options)
        told = made.with_features(texts[0])
        assert told.representation.name == name
        np.testing.assert_array_equal(told.representation.values, made._mapped().values)
        assert told.with_features(np.arange(126.0)[:, None], ["row"]).why(3).features == ["row"]


def test_what_cannot_be_told_is_refused(plain, texts):
    with pytest.raises(ValueError, match=r"^Map: features must be one row for each of the map \(3 rows, 126"):
        plain.with_features(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="feature_names must be None"):
        plain.with_features(texts[0], ["a"])
    with pytest.raises(ValueError, match=r"no word is in 5 of them"):
        plain.with_features([f"only{i}" for i in range(126)])
    sparse = gn.Map(sp.csr_array(plain.X), plain.embedding)
    with pytest.raises(ValueError, match=r"a map of a sparse table.*n_pcs=50"):
        sparse.with_features(texts[0])
    assert sparse.explain(features=texts[0]).feature_names == plain.with_features(texts[0]).feature_names


def test_report_lists_members_of_the_groups_it_names_and_counts_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60)) * np.geomspace(5.0, 1.0, 60)
    X = np.c_[X, X[:, 0] + 0.01 * rng.normal(size=120), X[:, 58:60] + 0.01 * rng.normal(size=(120, 2))]
    text = gn.maps.Map(X, X[:, :2], method="pca").report(verdicts=False)
    named = [line for line in text.splitlines() if " + 1 alike: " in line]
    assert named == ["  feature 0 + 1 alike: feature 0, feature 60"]
    assert "  2 more groups of features that change alike" in text


@pytest.mark.parametrize(("n", "n_features", "is_open"), [(60, 300, True), (400, 5, False)])
def test_no_number_of_components_is_advised_by_a_dimension_that_is_open(n, n_features, is_open):
    made = gn.map(np.random.default_rng(0).normal(size=(n, n_features)), "pca")
    found = made.intrinsic_dimension()
    assert found.is_open == is_open == ("leaves the number open" in found.caution)
    text = made.report(verdicts=False)
    assert "A map of 2 dimensions cannot keep all of this" in text
    assert (f"; n_components={found.n_components} could" in text) != is_open


def test_a_report_tells_alike_columns_side_by_side_as_one_in_lines_of_bounded_length():
    rng = np.random.default_rng(0)
    waves = np.linspace(900.0, 1700.0, 160)
    peaks = np.exp(-0.5 * ((waves - np.array([[1000.0], [1300.0], [1600.0]])) / 60.0) ** 2)
    X = rng.uniform(0.2, 1.0, (120, 3)) @ peaks + rng.normal(0.0, 1e-3, (120, 160))
    names = [f"{wave:.1f}" for wave in waves]
    text = gn.map(pd.DataFrame(X, columns=names), "pca").report(verdicts=False)
    lines = [line for line in text.splitlines() if re.match(r"  \S+ \+ \d+ alike: ", line)]
    stretches = [stretch for line in lines for stretch in re.findall(r"(\S+) to (\S+) \((\d+)\)", line)]
    assert len(stretches) >= 3
    for first, last, count in stretches:
        assert names.index(last) - names.index(first) + 1 == int(count)
    assert max(map(len, text.splitlines())) < 400
    assert _stretches(["c", "a", "b", "e"], list("abcdef")) == "a to c (3), e"
    assert _stretches(list("acegikmoqsu"), list("abcdefghijklmnopqrstu")) == "a, c, e, g, i, k, m, o and 3 more"


@pytest.mark.filterwarnings("ignore:.*alone tells the labels:gnomon.exceptions.DataWarning")
def test_a_label_in_the_middle_is_told_in_a_report_by_what_tells_it_from_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + 8.0 * np.outer(np.arange(90) % 3, [0.0, 0.0, 1.0])
    labels = np.array(["low", "middle", "top"])[np.arange(90) % 3]
    made = gn.maps.Map(X, X[:, 1:], labels=labels, feature_names=[*"abc"])
    (line,) = [line for line in made.report(verdicts=False).splitlines() if line.startswith("  middle  ")]
    assert line == "  middle  medium c, against each other; nothing against all others together"
