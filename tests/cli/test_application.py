"""The program around the commands."""

import contextlib
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict

import click.testing
import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.methods import METHODS


@pytest.fixture
def run():
    return lambda *arguments: click.testing.CliRunner().invoke(main, arguments)


def test_version(run):
    assert run("--version").output == f"gnomon {gnomon.__version__}\n"


def test_the_package_runs_as_a_program():
    shown = subprocess.run([sys.executable, "-m", "gnomon", "--help"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0
    assert shown.stdout.startswith("Usage: python -m gnomon [OPTIONS] COMMAND")
    refused = subprocess.run([sys.executable, "-m", "gnomon", "maps"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "No such command 'maps'" in refused.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_under_standard_output_is_named(monkeypatch):
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:  # which fails once more as it is closed
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(click.ClickException) as refused:
            main(["methods"], standalone_mode=False)
    text = "gnomon: standard output must be writable (No space left on device)."
    assert (refused.value.message, refused.value.exit_code) == (text, 2)


def test_help_names_the_commands(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "map" in result.output
    assert "methods" in result.output
    assert run("-h").output == result.output


def test_unknown_command(run):
    result = run("maps")
    assert result.exit_code == 2
    assert "No such command 'maps'" in result.output


def _tables(output):
    """Read the tables of `gnomon methods` back: cells of lines without a name go on with the method above."""
    tables = []
    for block in output.split("\n\n"):
        head, *lines = block.splitlines()
        starts = [match.start() for match in re.finditer(r"\S+", head)]
        names, rows = ["name", *head.split()[1:]], []
        for line in lines:
            cells = [line[i:j].strip() for i, j in zip(starts, [*starts[1:], None], strict=True)]
            if cells[0]:
                rows.append(cells)
            else:
                rows[-1] = [f"{one} {more}".strip() for one, more in zip(rows[-1], cells, strict=True)]
        tables.append([dict(zip(names, row, strict=True)) for row in rows])
    return tables


@pytest.mark.parametrize("width", [None, 60, 120, 300])
def test_methods_are_listed_with_their_choices(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width or 0))
    output = run("methods").output
    assert max(map(len, output.splitlines())) <= min(max(width or 100, 80), 140)
    parts = zip(*_tables(output), strict=True)
    assert [{**choices, **paper, **limits} for choices, paper, limits in parts] == [asdict(card) for card in METHODS]


def test_methods_as_json(run):
    methods = json.loads(run("methods", "--json").output)["methods"]
    assert methods == [asdict(card) for card in METHODS]
    assert all(all(method.values()) for method in methods)


def test_methods_offered_are_those_listed(run):
    from gnomon.cli.map import map

    option = next(parameter for parameter in map.params if parameter.name == "method")
    assert list(option.type.choices) == [card.name for card in METHODS]


@pytest.mark.parametrize("arguments", [["--help"], ["map", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from gnomon.cli import main
from gnomon.methods import METHODS
try:
    main({arguments!r})
finally:
    print([m for m in ("sklearn", "scipy", "pandas", "matplotlib", "narwhals") if m in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("charset", ["koi8-r", "iso8859-5", "utf-8"])
def test_a_terminal_without_a_sign_gets_others(tmp_path, charset):
    path = str(tmp_path / "m.gnomon")
    X = np.random.default_rng(0).normal(size=(40, 3))
    gnomon.map(X, "pca", feature_names=["a", "b", "é😀"], n_jobs=1).save(path)
    runner = click.testing.CliRunner(charset=charset)
    told = runner.invoke(main, ["why", path, "3"])
    assert (told.exit_code, told.stderr) == (0, "")
    sign, name = (" ± ", "é😀") if charset == "utf-8" else (" +- ", r"\u00e9\ud83d\ude00")
    assert sign in told.stdout
    assert name in told.stdout
    document = json.loads(runner.invoke(main, ["why", path, "3", "--json"]).stdout)
    assert {one["feature"] for one in document["features"]} == {"a", "b", "é😀"}
