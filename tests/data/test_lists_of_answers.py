"""Cells that list several answers: an indicator for each, what is told, and texts with commas that are no lists."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns.answers import split_by
from gnomon.exceptions import DataWarning

OPTIONS = ("app", "email", "phone", "post", "shop", "web")


def cells(rng, n=120, *, between="; ", share=0.4, options=OPTIONS):
    return [between.join(one for one in options if rng.random() < share) for _ in range(n)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("between", [";", "; ", "|", " | ", ", ", ","])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_lists_are_split_whatever_divides_them(rng, between, share):
    found = cells(rng, between=between, share=share)
    assert split_by(found, 30) == (between.strip(), OPTIONS)
    assert split_by([text and text + between for text in found], 30) == (between.strip(), OPTIONS)  # as forms write it
    assert split_by(found, 5) == ("", ())


def test_answers_that_one_row_has_are_left(rng):
    found = [text if k % 12 else f"{text}; other: thing {k}" for k, text in enumerate(cells(rng))]
    assert split_by(found, 30) == (";", OPTIONS)


FIRST, LAST = ("John", "Mary", "Ann", "Bob", "Eva", "Tom", "Ida"), ("Smith", "Jones", "Lee", "Brown", "Kim", "Khan")
PLACES = {"Berlin": "Germany", "Paris": "France", "Lyon": "France", "Rome": "Italy"}


def pick(rng, *texts):
    return str(rng.choice(texts))


def ordinary():
    """Return columns with commas and other signs that list no answers, as functions of a generator."""
    return {
        "last, first": lambda r: f"{pick(r, *LAST)}, {pick(r, *FIRST)}",
        "last, first, title": lambda r: f"{pick(r, *LAST)}, {pick(r, *FIRST)}{pick(r, '', '', ', Jr.')}",
        "city, country": lambda r: (lambda city: f"{city}, {PLACES[city]}")(pick(r, *PLACES)),
        "city or both": lambda r: (lambda city: pick(r, city, f"{city}, {PLACES[city]}"))(pick(r, *PLACES)),
        "address": lambda r: f"{r.integers(1, 99)} {pick(r, *LAST)} St, {pick(r, *PLACES)}",
        "flat": lambda r: f"{pick(r, *LAST)} St, {pick(r, *PLACES)}{pick(r, '', ', Apt 2')}",
        "decimal": lambda r: f"{r.normal():.2f}".replace(".", ","),
        "digits": lambda r: f"{r.integers(0, 5)},{r.integers(0, 9)}",
        "thousands": lambda r: pick(r, "1,200", "3,400", "500", "1,000,000"),
        "date": lambda r: f"{r.integers(1, 28)} May, 2024",
        "place": lambda r: f"{r.normal():.3f}, {r.normal():.3f}",
        "colour": lambda r: f"{r.integers(9)}, {r.integers(9)}, {r.integers(9)}",
        "lineage": lambda r: ";".join(("Bac", "Firm", pick(r, "c1", "c2"), pick(r, "o1", "o2"))[: r.integers(2, 5)]),
        "path": lambda r: "|".join(("home", pick(r, "a", "b"), pick(r, "x", "y"))[: r.integers(1, 4)]),
        "phased": lambda r: f"{r.integers(0, 2)}|{r.integers(0, 2)}",
        "alleles": lambda r: f"{pick(r, *'ACGT')}|{pick(r, *'ACGT')}",
        "words": lambda r: f"{' '.join(r.choice(FIRST, 6))}, {' '.join(r.choice(LAST, 5))}{pick(r, '', ', so')}",
        "limits": lambda r: pick(r, "Yes, limited a lot", "Yes, limited a little", "No, not limited at all"),
        "family": lambda r: pick(r, "Married, with kids", "Single, with kids", "Single", "Married", "Widowed, alone"),
        "job": lambda r: pick(r, "Manager, Sales", "Manager, HR", "Engineer", "Engineer, Software", "Clerk, Sales"),
        "firm": lambda r: pick(r, "Acme, Inc.", "Foo, LLC", "Bar", "Baz, Inc.", "Quux"),
        "goods": lambda r: pick(r, "Shirt, red", "Shirt, blue", "Hat, red", "Hat", "Shoes, blue"),
        "degree": lambda r: pick(r, "BSc, Physics", "BSc, Maths", "MSc, Physics", "PhD"),
        "opinion": lambda r: pick(r, "I like it, really", "no, thanks", "well, yes, maybe", "ok"),
        "pairs": lambda r: f"{pick(r, 'a', 'b')};{pick(r, 'x', 'y')}",
        "genotype": lambda r: pick(r, "A;B", "A;A", "B;B", "A"),
        "state": lambda r: pick(r, "Portland, OR", "Portland, ME", "Salem, OR", "Austin, TX"),
        "plain": lambda r: pick(r, "red", "green", "blue"),
    }


@pytest.mark.parametrize("name", [*ordinary()])
def test_other_texts_with_such_signs_are_no_lists(name):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        assert split_by([ordinary()[name](rng) for _ in range(150)], 30) == ("", ())


@pytest.fixture
def people(rng):
    made = cells(rng)
    made[3] = "email; carrier pigeon"
    return pd.DataFrame({"contact": made, "age": rng.normal(size=120), "sum": rng.normal(size=120)})


@pytest.mark.filterwarnings("ignore:.*carrier pigeon")
def test_each_answer_has_an_indicator(people):
    made = gn.TablePreprocessor().fit(people)
    X = made.transform(people)
    assert [*made.get_feature_names_out()] == [*(f"contact = {one}" for one in OPTIONS), "age", "sum"]
    for k, option in enumerate(OPTIONS):
        assert np.array_equal(X[:, k] == 1.0, [option in text.split("; ") for text in people["contact"]])
    # As a number, the column makes 2 of the mean squared distance of two rows.
    Z = X[:, :6] / made.spreads_[:6]
    assert 2 * Z.var(axis=0).sum() == pytest.approx(2.0)


def test_answers_that_are_not_known_are_told(people):
    known = people.drop(index=3)
    made = gn.TablePreprocessor().fit(known)
    with pytest.warns(DataWarning, match="'contact' has 'carrier pigeon' in 1 row: taken as none of the answers"):
        X = made.transform(people)
    assert X[3, :6].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore:.*(missing|none of the answers):gnomon.exceptions.DataWarning")
def test_a_map_says_so_keeps_it_and_takes_new_rows(people, tmp_path):
    made = gn.map(people, method="pca")
    assert "'contact' (several answers in a cell, between ';': 6)" in made.notes[0]
    made.save(tmp_path / "m.gnomon")
    new = pd.DataFrame({"contact": ["fax; app", "web;"], "age": [0.0, 1.0], "sum": [1.0, 0.0]})
    assert np.array_equal(gn.load(tmp_path / "m.gnomon").transform(new), made.transform(new))
    assert made.metadata["contact"].tolist() == people["contact"].tolist()


@pytest.mark.filterwarnings("ignore:.*(missing|none of the answers|many categories):gnomon.exceptions.DataWarning")
def test_lists_are_said_or_forbidden(people):
    assert gn.map(people, method="pca", lists=False).feature_names == ["age", "sum"]
    assert gn.map(people, method="pca", lists={"contact": False}).feature_names == ["age", "sum"]
    few = people.assign(plan=[["a|b", "b", "a"][k % 3] for k in range(120)])
    assert [name for name in gn.map(few, method="pca").feature_names if "plan" in name] == [
        "plan = a",
        "plan = a|b",
        "plan = b",
    ]
    said = gn.map(few, method="pca", lists={"plan": "|"}).feature_names
    assert [name for name in said if "plan" in name] == ["plan = a", "plan = b"]
    assert "contact = app" in said
    as_categories = people.assign(contact=people["contact"].astype("category"))
    assert gn.map(as_categories, method="pca").feature_names == ["age", "sum"]


@pytest.mark.parametrize(
    ("lists", "error", "said"),
    [
        ("contact", TypeError, "lists='contact'"),
        ({"contact": "/"}, ValueError, "column 'contact' has '/'"),
        ({"age": ";"}, ValueError, "'age' holds numbers"),
        ({"there": ";"}, ValueError, "there"),
    ],
)
def test_lists_that_cannot_be_are_refused(people, lists, error, said):
    with pytest.raises(error, match=said):
        gn.map(people, method="pca", lists=lists)
