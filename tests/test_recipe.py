"""The conda recipe says what pyproject.toml says, under the names that conda has for packages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import gnomon

yaml = pytest.importorskip("yaml")

_ROOT = Path(__file__).parents[1]
_OF_CONDA = {"lazy_loader": "lazy-loader", "matplotlib": "matplotlib-base", "dask[array]": "dask-core"}
_RECIPE = yaml.safe_load((_ROOT / "recipe" / "recipe.yaml").read_text())
_SETTINGS = tomllib.loads((_ROOT / "pyproject.toml").read_text())
_PROJECT = _SETTINGS["project"]


def _bounds(wanted):
    """Return the lower bound of each package by its name; "" for none."""
    found = {}
    for one in wanted:
        if isinstance(one, str) and "${{" not in one:
            name, _, bound = one.replace(" ", "").partition(">=")
            found[_OF_CONDA.get(name, name)] = bound
    return found


def _extra(name):
    """Return what an extra asks for, those that it names included."""
    found = []
    for one in _PROJECT["optional-dependencies"][name]:
        named = re.fullmatch(r"gnomon\[(.*)\]", one)
        found += [inner for part in named[1].split(",") for inner in _extra(part)] if named else [one]
    return found


def test_the_version_and_what_is_said_of_the_package_are_those_of_the_project():
    assert _RECIPE["context"]["version"] == _PROJECT["version"] == gnomon.__version__
    assert _RECIPE["package"]["name"] == _PROJECT["name"]
    assert _RECIPE["about"]["summary"] == _PROJECT["description"]
    assert _RECIPE["about"]["license"] == _PROJECT["license"]
    assert [_RECIPE["about"]["license_file"]] == _PROJECT["license-files"]


def test_commands_are_those_of_the_project():
    scripts = [f"{name} = {what}" for name, what in _PROJECT["scripts"].items()]
    assert _RECIPE["build"]["python"]["entry_points"] == scripts


def test_what_is_needed_to_run_is_what_the_project_depends_on():
    found = _bounds(_RECIPE["requirements"]["run"])
    assert found.pop("python") == _PROJECT["requires-python"].removeprefix(">=")
    assert found == _bounds(_PROJECT["dependencies"])


def test_optional_packages_are_bounded_as_by_the_extras():
    assert _bounds(_RECIPE["requirements"]["run_constraints"]) == _bounds(_extra("all"))


def test_what_builds_is_what_the_project_asks_for():
    found = _bounds(_RECIPE["requirements"]["host"])
    assert {name: found.pop(name) for name in ("python", "pip")} == {"python": "", "pip": ""}
    assert found == _bounds(_SETTINGS["build-system"]["requires"])
    cmake = re.search(r"VERSION (\S+)\)", (_ROOT / "CMakeLists.txt").read_text())
    assert _bounds(_RECIPE["requirements"]["build"])["cmake"] == cmake[1]


def test_it_tries_what_a_wheel_is_tried_with():
    commands = _SETTINGS["tool"]["cibuildwheel"]["test-command"].split(" && ")
    assert _RECIPE["tests"][1]["script"] == commands
