"""`gnomon map` with the order of texts, and with cells that list answers, said or forbidden."""

import click.testing
import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = zip(
        rng.choice(["low", "medium", "high"], 60), rng.choice(["a, b", "c", "d"], 60), rng.normal(size=60), strict=True
    )
    (tmp_path / "t.csv").write_text("trust,plan,age\n" + "".join(f'{a},"{b}",{c:.3f}\n' for a, b, c in rows))
    return "t.csv"


def run(*arguments):
    return click.testing.CliRunner().invoke(main, ["map", *arguments, "--method", "pca", "--save", "m.gnomon"])


def names(found):
    assert found.exit_code == 0, found.output
    return sorted(gn.load("m.gnomon").feature_names)


def test_orders_are_read_said_and_forbidden(table):
    plan, trust = ["plan = a, b", "plan = c", "plan = d"], ["trust = high", "trust = low", "trust = medium"]
    assert names(run(table)) == ["age", *plan, "trust (rank)"]
    assert names(run(table, "--ordered", "no")) == ["age", *plan, *trust]
    said = run(table, "--ordered", 'plan=c,"a, b",d', "--ordered", "trust=no")
    assert names(said) == ["age", "plan (rank)", *trust]
    assert "'plan' (rank among 3: c < a, b < d)" in said.output


def test_lists_are_read_said_and_forbidden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    listed = [";".join(one for one in "abcde" if rng.random() < 0.5) or "a" for _ in range(80)]
    rows = zip(listed, rng.choice(["x|y", "x", "z"], 80), rng.normal(size=80), strict=True)
    (tmp_path / "t.csv").write_text("uses,plan,age\n" + "".join(f"{a},{b},{c:.3f}\n" for a, b, c in rows))
    uses, plan = [f"uses = {one}" for one in "abcde"], ["plan = x", "plan = x|y", "plan = z"]
    assert names(run("t.csv")) == ["age", *plan, *uses]
    assert "uses = a;b" in names(run("t.csv", "--lists", "no"))
    said = run("t.csv", "--lists", "plan=|", "--lists", "uses=no")
    assert {"plan = x", "plan = y", "plan = z", "uses = a;b"} < {*names(said)}
    assert "plan = x|y" not in names(said)
    assert "must be COL=SEPARATOR" in run("t.csv", "--lists", "plan=/").output


@pytest.mark.parametrize("text", ["plan", "plan=c", "=c,d"])
def test_an_order_without_column_or_steps_is_refused(table, text):
    found = run(table, "--ordered", text)
    assert found.exit_code != 0
    assert "must be COL=LOW,...,HIGH" in found.output
    both = run(table, "--ordered", "no", "--ordered", "plan=c,d")
    assert "no is for all columns" in both.output


def test_labels_cannot_be_forgotten(table):
    result = run(table, "--labels", "plan", "--forget", "trust,plan")
    assert result.exit_code == 2
    assert "column 'plan' must be left out of --forget where it is --labels" in result.output
