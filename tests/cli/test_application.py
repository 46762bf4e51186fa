"""The program around the commands."""

import json
import subprocess
import sys

import click.testing
import pytest

import gnomon
from gnomon.cli import main


@pytest.fixture
def run():
    return lambda *arguments: click.testing.CliRunner().invoke(main, arguments)


def test_version(run):
    assert run("--version").output == f"gnomon {gnomon.__version__}\n"


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


def test_methods_are_listed_with_their_choices(run):
    lines = run("methods").output.splitlines()
    assert lines[0].split() == ["method", "affinity", "kernel", "loss", "optimizer", "paper"]
    assert [line.split()[0] for line in lines[1:]] == ["umap", "tsne", "pca"]
    assert "van der Maaten & Hinton" in lines[2]


def test_methods_as_json(run):
    methods = json.loads(run("methods", "--json").output)["methods"]
    assert [method["name"] for method in methods] == ["umap", "tsne", "pca"]
    assert all(all(method.values()) for method in methods)


def test_methods_offered_are_those_listed(run):
    from gnomon.cli.map import command
    from gnomon.methods.catalogue import METHODS

    option = next(parameter for parameter in command.params if parameter.name == "method")
    assert list(option.type.choices) == [card.name for card in METHODS]


@pytest.mark.parametrize("arguments", [["--help"], ["map", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from gnomon.cli import main
try:
    main({arguments!r})
finally:
    print([m for m in ("sklearn", "scipy", "pandas", "matplotlib", "narwhals") if m in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
