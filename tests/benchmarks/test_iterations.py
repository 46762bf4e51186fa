"""Iterations are timed as they are, and two functions that differ are not compared."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.iterations import main
from benchmarks.losses import CASES, make_table
from benchmarks.measure import ToolError

from benchmarks import iterations, losses


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return make_table(rng.normal(size=(250, 6)).astype(np.float32))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_loss_evaluates_as_its_oracle(case, table):
    for way in (case.whole, *case.evaluations):
        objective = case.objective(table, way)
        loss, gradient = objective.loss_and_gradient(table.Y)
        expected, expected_gradient = objective.reference(table.Y)
        coarse = 1e-4 if way in ("exact", "sampled") else 0.1
        assert loss == pytest.approx(expected, rel=coarse)
        assert np.linalg.norm(gradient - expected_gradient) <= coarse * np.linalg.norm(expected_gradient)


def test_every_loss_has_a_counterpart_that_reads_what_it_is_given(table):
    """Without PyTorch: names of functions and of arrays, from the source."""
    source = ast.parse(Path(losses.__file__).with_name("torch_losses.py").read_text())
    functions = {node.name: node for node in source.body if isinstance(node, ast.FunctionDef)}
    for case in CASES:
        read = {
            node.slice.value
            for node in ast.walk(functions[case.torch])
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "given"
        }
        given = {name.removesuffix("_entries") for name in case.arrays(table)}
        assert read <= given, case.name


def test_growth_is_measured_and_written(tmp_path, capsys):
    out = tmp_path / "report.json"
    arguments = ["--rows", "200", "100", "--losses", "t-sne", "nce", "--repeats", "1", "--json", str(out)]
    assert main(arguments) == 0
    report = json.loads(out.read_text())
    assert report["rows"] == [100, 200]
    assert {name: set(ways) for name, ways in report["growth"].items()} == {
        "KL, Cauchy (t-SNE)": {"exact", "interpolated", "tree"},
        "InfoNCE": {"sampled"},
    }
    assert all(run["wall"] > 0 for ways in report["growth"].values() for series in ways.values() for run in series)
    assert "| InfoNCE " in capsys.readouterr().out


def test_functions_that_differ_are_not_compared(table):
    case = CASES[0]
    objective = case.objective(table, "exact")
    loss, gradient = objective.loss_and_gradient(table.Y)
    near = iterations._check_agreement(case, objective, table.Y, ({"loss": loss}, gradient * 1.00005))
    assert near["gradient_difference"] == pytest.approx(5e-5, rel=0.01)
    for answer in [
        ({"loss": loss * 1.001}, gradient),
        ({"loss": loss}, gradient * 1.001),
        ({"loss": np.nan}, gradient),
    ]:
        with pytest.raises(ToolError, match="gnomon and PyTorch differ"):
            iterations._check_agreement(case, objective, table.Y, answer)


def test_an_interpreter_without_pytorch_is_reported(capsys):
    if importlib.util.find_spec("torch"):
        pytest.skip("PyTorch is installed")
    arguments = ["--torch-rows", "100", "--losses", "t-sne", "--no-growth", "--torch-python", sys.executable]
    assert main(arguments) == 1
    assert "No module named 'torch'" in capsys.readouterr().err


@pytest.mark.slow
def test_against_pytorch(capsys):
    pytest.importorskip("torch")
    arguments = ["--torch-rows", "300", "--repeats", "1", "--no-growth", "--losses", "raw stress"]
    assert main([*arguments, "--torch-python", sys.executable]) == 0
    assert "| raw stress" in capsys.readouterr().out


@pytest.mark.slow
def test_every_loss_is_that_of_pytorch(table, tmp_path):
    """All of them in one process: to import PyTorch takes longer than to evaluate them."""
    pytest.importorskip("torch")
    for k, case in enumerate(CASES):
        np.savez(tmp_path / f"{k}.npz", Y=table.Y, **case.arrays(table))
    program = """
import sys
import numpy as np, torch
import torch_losses
for k, name in enumerate(sys.argv[1:]):
    points, given = torch_losses._load(f"{k}.npz")
    value = torch_losses.LOSSES[name](points, given)
    (gradient,) = torch.autograd.grad(value, points)
    np.savez(f"found-{k}.npz", loss=value.item(), gradient=gradient.numpy())
"""
    command = [sys.executable, "-c", program, *(case.torch for case in CASES)]
    path = os.pathsep.join([str(Path(losses.__file__).parent), *sys.path])
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    for k, case in enumerate(CASES):
        found = np.load(tmp_path / f"found-{k}.npz")
        answer = {"loss": float(found["loss"])}, found["gradient"]
        iterations._check_agreement(case, case.objective(table, "exact"), table.Y, answer)
