"""Amounts below 0 in brackets, as accounts have them, are numbers wherever the sign of the currency stands."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.written import find_writings, read_numbers

AMOUNTS = np.round(np.random.default_rng(0).normal(0.0, 5000.0, 60), 2)
EUROPEAN = str.maketrans(",.", ".,")


def in_dollars(value, below):
    return below.format(f"{abs(value):,.2f}") if value < 0 else f"${value:,.2f}"


def in_euros(value, below, above):
    return (below if value < 0 else above).format(f"{abs(value):,.2f}".translate(EUROPEAN))


@pytest.mark.parametrize("below", ["$({})", "(${})", "$ ({})", "$( {} )", "-${}", "$-{}", "(${} )"])
def test_dollars(below):
    texts = [in_dollars(value, below) for value in AMOUNTS]
    assert find_writings(texts) == ["$0.0"]
    np.testing.assert_array_equal(read_numbers(texts, "$0.0"), AMOUNTS)


@pytest.mark.parametrize(
    ("below", "above", "writing"),
    [
        ("({}) €", "{} €", "0,0 €"),
        ("({})€", "{}€", "0,0 €"),
        ("({} €)", "{} €", "0,0 €"),
        ("({} EUR)", "{} EUR", "0,0 EUR"),
        ("({}) EUR", "{} EUR", "0,0 EUR"),
        ("€ ({})", "€ {}", "€0,0"),
    ],
)
def test_euros(below, above, writing):
    texts = [in_euros(value, below, above) for value in AMOUNTS]
    assert find_writings(texts) == [writing]
    np.testing.assert_array_equal(read_numbers(texts, writing), AMOUNTS)


def test_brackets_that_do_not_pair_make_no_number():
    odd = ["$(5", "$5)", "($(5))", "($5))", "$((5)", "(5) $)", ")5("]
    assert np.isnan(read_numbers(odd, "$0.0")).all()


def test_brackets_within_a_unit_are_of_the_unit():
    texts = ["1.5 g(dry)", "2.5 g(dry)", "(3.5 g(dry))"]
    assert find_writings(texts) == ["0.0 g(dry)"]
    np.testing.assert_array_equal(read_numbers(texts, "0.0 g(dry)"), [1.5, 2.5, -3.5])


@pytest.mark.parametrize("texts", [["(030) Berlin"] * 9, ["1 (a)", "2 (b)", "3 (c)"], ["f(1)", "f(2)", "f(3)"]])
def test_other_texts_with_brackets_are_no_numbers(texts):
    assert find_writings(texts) == []


def test_a_table_of_accounts_is_mapped_by_them(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=60), "balance": [in_dollars(value, "$({})") for value in AMOUNTS]})
    frame.to_csv(tmp_path / "accounts.csv", index=False)
    for X in (frame, gn.read_table(tmp_path / "accounts.csv")):
        with pytest.warns(gn.exceptions.DataWarning, match=r"'balance \(\$\)' makes 100.0% .* are standardised"):
            made = gn.map(X, method="pca", random_state=0)
        assert made.feature_names == ["x", "balance ($)"]
        np.testing.assert_allclose(made.X[:, 1], AMOUNTS, rtol=1e-6)
