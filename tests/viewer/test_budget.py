"""A page asks for what it shows: within its budget, rounded within stated bounds, and saying what it leaves out."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_payload import read_page

from gnomon.viewer import PageContent, write_html
from gnomon.viewer.budget import file_bytes, usual_budget
from gnomon.viewer.density import count_points
from gnomon.viewer.rounding import POSITION_LEVELS, map_order, round_columns, round_numbers
from gnomon.viewer.side_file import SIGNATURE

N, FEATURES = 24_000, 60
DECODE = """import { restored } from "./rounded.mjs"; import { readFileSync } from "node:fs";
const { columns, n, d, wanted } = JSON.parse(readFileSync(0, "utf8"));
for (const [name, [type, values]] of Object.entries(columns)) columns[name] = globalThis[type].from(values);
const found = restored(columns, n, d);
process.stdout.write(JSON.stringify(wanted.map((name) => Array.from(found[name]))));"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture(scope="module")
def large():
    """24,000 points of six classes in 60 columns of real numbers, with all that a page can say of them."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 6
    X = (rng.normal(size=(N, FEATURES)) + 3.0 * (np.arange(FEATURES) % 6 == group[:, None])).astype(np.float32)
    angle = 2 * np.pi * group / 6
    Y = (np.stack([np.cos(angle), np.sin(angle)], axis=1) * 8 + rng.normal(size=(N, 2))).astype(np.float32)
    Y[17] = np.nan
    arrows = rng.normal(size=(N, 8, 2))
    top = np.argsort(rng.random((N, FEATURES)), axis=1)[:, :8]
    factors = rng.normal(size=(N, 2, 2))
    fits = SimpleNamespace(
        rows=np.arange(N),
        weights=np.ones((N, 15), np.float32),
        indices=(np.arange(N)[:, None] + 6 * np.arange(1, 16)) % N,
        coefficients=rng.normal(size=(N, 15, 2)).astype(np.float32),
        mask=np.ones(N, bool),
        pooling=1,
    )
    explanation = SimpleNamespace(
        r2=rng.random(N),
        ellipses=factors @ factors.transpose(0, 2, 1),
        global_importance=np.linspace(2.0, 1.0, FEATURES),
        top_features=lambda n: SimpleNamespace(
            indices=top[:, :n], arrows=arrows[:, :n], importance=np.linalg.norm(arrows, axis=2)[:, :n]
        ),
        jacobians=fits,
        graph=SimpleNamespace(distances=np.sort(rng.random((N, 15)), axis=1)),
        scale=None,
    )
    content = PageContent(
        embedding=Y,
        labels=np.array(list("abcdef"))[group],
        X=X,
        explanation=explanation,
        evaluation=SimpleNamespace(trustworthiness=0.9, per_point={}),
        points={"outlier": rng.lognormal(size=N), "false_neighbors": rng.integers(0, 16, N).astype(float)},
        metadata={"seen": np.datetime64("2020-01-01T00:00:01") + np.arange(N)},
    )
    return SimpleNamespace(content=content, X=X, Y=Y, group=group, explanation=explanation)


@pytest.fixture(scope="module")
def small_page(large, tmp_path_factory):
    """The page in 3.5 MB, with the rest beside it."""
    path = tmp_path_factory.mktemp("budget") / "map.html"
    write_html(path, large.content, byte_budget=3_500_000, side_file=True)
    return path


def test_a_page_keeps_its_budget_and_says_what_it_leaves_out(large, small_page):
    header, columns = read_page(small_page)
    assert 0.75 * 3_500_000 < small_page.stat().st_size <= 3_500_000
    (said,) = (note for note in header["notes"] if "To keep the page below" in note)
    chosen = columns["valued"]
    assert f"The values of {len(chosen):,} of 24,000 points are in this page." in said
    assert "Open map.data for the rest." in said
    shares = np.bincount(large.group[chosen]) / len(chosen)
    np.testing.assert_allclose(shares, 1 / 6, atol=1e-3)  # every class with its share
    assert columns["codes"].shape == (len(chosen), FEATURES)
    assert 1 <= header["explanation"]["top"] <= 8
    assert columns["top_ordered"].shape == (N, header["explanation"]["top"])
    assert "importance" not in columns  # the lengths of the arrows


def test_what_is_rounded_stays_within_stated_bounds(large, small_page):
    header, columns = read_page(small_page)
    places = columns["places"].astype(int)
    codes = (places[:, 0] + 256 * places[:, 1]).T
    back = columns["places_low"] + columns["places_step"] * codes
    width = np.nanmax(large.Y, axis=0) - np.nanmin(large.Y, axis=0)
    lost = np.isnan(large.Y).any(axis=1)
    assert (np.abs(back - large.Y)[~lost] <= 0.51 * width / POSITION_LEVELS + 1e-6).all()
    assert (codes[lost] == 65_535).all()
    for name, given in (("r2", large.explanation.r2), ("trust0", large.content.points["outlier"])):
        error = columns[f"{name}_levels"][columns[name]] - given
        assert np.abs(error).max() <= np.ptp(given) / 128
    np.testing.assert_array_equal(columns["trust1_levels"][columns["trust1"]], large.content.points["false_neighbors"])
    (day,) = (entry for entry in header["columns"] if entry["name"] == "seen")
    assert columns[day["key"]].dtype == np.float64
    assert np.unique(np.diff(columns[day["key"]])).tolist() == [1.0]  # dates keep their seconds
    top = header["explanation"]["top"]
    arrows = (
        columns["arrows"].reshape(N, top, 2) * columns["arrows_scale_levels"][columns["arrows_scale"]][:, None, None]
    )
    exact = large.explanation.top_features(top).arrows
    largest = np.abs(exact).max()
    assert np.abs(arrows - exact).max() < 0.02 * largest
    shares = exact.reshape(N, -1) / np.abs(large.explanation.top_features(8).arrows).reshape(N, -1).max(axis=1)[:, None]
    assert np.abs(columns["arrows"].reshape(N, -1) / 127 - shares).max() <= 1 / 250


def test_half_of_the_levels_follow_the_values_and_half_the_ranks():
    values = np.random.default_rng(0).lognormal(sigma=2.0, size=50_000)
    values[7] = np.nan
    codes, levels = round_numbers(values)
    assert codes[7] == 255
    assert np.isnan(levels[255])
    known = np.delete(np.arange(50_000), 7)
    assert np.abs(levels[codes[known]] - values[known]).max() <= np.ptp(values[known]) / 128
    assert np.bincount(codes[known]).max() <= 1.5 * len(known) / 128
    order = known[np.argsort(values[known])]
    assert (np.diff(codes[order].astype(int)) >= 0).all()
    few = np.random.default_rng(1).choice([0.0, 0.5, np.pi], 9000)
    codes, levels = round_numbers(few)
    np.testing.assert_array_equal(levels[codes], few.astype(np.float32))
    assert (round_numbers(np.full(5, np.nan))[0] == 255).all()


@pytest.mark.parametrize("d", [2, 3])
def test_the_order_of_the_map_keeps_the_near_near_and_the_lost_last(d):
    rng = np.random.default_rng(0)
    Y = rng.random((4096, d))
    Y[5] = np.nan
    order = map_order(Y)
    assert order[-1] == 5
    np.testing.assert_array_equal(np.sort(order), np.arange(4096))
    step = np.linalg.norm(np.diff(Y[order[:-1]], axis=0), axis=1)
    assert step.mean() < 3.0 * 4096 ** (-1 / d)  # of the width of a point's share; at random it is over 0.5
    np.testing.assert_array_equal(map_order(np.zeros((9, d))), np.arange(9))  # ties as they come


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    """A function that runs static/data/rounded.js under node on columns of a group."""
    folder = tmp_path_factory.mktemp("decoder")
    source = Path(__file__).resolve().parents[2] / "src/gnomon/viewer/static/data/rounded.js"
    (folder / "rounded.mjs").write_text(source.read_text())
    (folder / "run.mjs").write_text(DECODE)

    def restored(columns, n, d, wanted):
        given = {k: [type_name(v), np.ascontiguousarray(v).ravel().tolist()] for k, v in columns.items()}
        command = [shutil.which("node"), str(folder / "run.mjs")]
        text = json.dumps({"columns": given, "n": n, "d": d, "wanted": wanted})
        done = subprocess.run(command, input=text, check=True, capture_output=True, text=True)
        return [np.array(values) for values in json.loads(done.stdout)]

    return restored


def type_name(column):
    return column.dtype.name.capitalize() + "Array"


@needs_node
@pytest.mark.parametrize(("n", "d"), [(300, 2), (70_000, 2), (700, 3), (1, 2)])
def test_the_page_finds_the_order_of_the_map_and_what_is_stored_in_it(decoder, n, d):
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(n, d)).astype(np.float32)
    Y[n // 2] = np.nan if n > 1 else 0.0
    near = rng.integers(0, n, (n, 2)).astype(np.uint32)
    top = rng.integers(0, 300, (n, 3)).astype(np.uint16)
    order = map_order(Y)
    columns = {"embedding": Y, "near": near, "top": top}
    made = round_columns(columns, n, n_features=300, exact=set(), order=order)
    assert made.keys() >= {"places", "near_steps", "top_ordered"}
    back = decoder(made, n, d, ["mapOrder", "near", "top"])
    for found, given in zip(back, (order, near, top), strict=True):
        np.testing.assert_array_equal(found, given.ravel())


def test_a_page_that_fits_holds_everything_as_it_is(tmp_path, large):
    rows = slice(0, 2000)
    content = PageContent(embedding=large.Y[rows], X=large.X[rows], points={"outlier": large.X[rows, 0]}, evaluation=1)
    write_html(tmp_path / "a.html", content)
    write_html(tmp_path / "b.html", content, byte_budget=500_000_000)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    header, columns = read_page(tmp_path / "a.html")
    np.testing.assert_array_equal(columns["embedding"], large.Y[rows])
    np.testing.assert_array_equal(columns["trust0"], large.X[rows, 0])
    assert not any("To keep the page" in note for note in header["notes"])


def test_too_many_points_for_the_budget_are_sampled_before_the_density_of_all(tmp_path, large):
    write_html(tmp_path / "a.html", PageContent(embedding=large.Y, labels=large.group), byte_budget=1_000_000)
    assert not (tmp_path / "a.data").exists()
    many = np.tile(large.Y, (8, 1))
    write_html(tmp_path / "b.html", PageContent(embedding=many, labels=np.tile(large.group, 8)), byte_budget=1_000_000)
    header, columns = read_page(tmp_path / "b.html")
    assert (tmp_path / "b.html").stat().st_size <= 1_000_000
    assert header["n"] < header["samples"] == 8 * N
    assert "the shade behind them counts all" in header["notes"][0]
    low, high = np.array(header["density"]["low"]), np.array(header["density"]["high"])
    finite = np.delete(large.Y.astype(float), 17, axis=0)
    counted = np.histogram2d(finite[:, 1], finite[:, 0], bins=512, range=np.stack([low, high], 1)[::-1])[0]
    assert columns["density"].sum() == 8 * (N - 1)
    assert (columns["density"] != 8 * counted).sum() <= 20  # points on the border of two cells
    assert count_points(np.zeros((4, 3))) is None


def test_the_file_beside_belongs_to_its_page_and_is_the_same_each_time(tmp_path, large, small_page):
    beside = small_page.with_suffix(".data")
    header, _ = read_page(small_page)
    assert header["sideFile"]["name"] == "map.data"
    assert re.fullmatch("[0-9a-f]{16}", header["sideFile"]["id"])
    assert beside.read_bytes().startswith(f"{SIGNATURE}\n".encode())
    write_html(tmp_path / "map.html", large.content, byte_budget=3_500_000, side_file=True)
    first, second = (hashlib.sha256(one.read_bytes()).digest() for one in (beside, tmp_path / "map.data"))
    assert first == second
    with pytest.raises(ValueError, match=r"write_html: side_file=True must be of a map with a table"):
        write_html(tmp_path / "b.html", PageContent(embedding=large.Y), side_file=True)
    with pytest.raises(ValueError, match=r"write_html: byte_budget=10 must be an integer >= 1000000 or None"):
        write_html(tmp_path / "b.html", large.content, byte_budget=10)
    assert not (tmp_path / "b.html").exists()


def test_usual_budgets_and_measured_sizes(large):
    assert usual_budget(70_000) < 25_000_000
    assert usual_budget(10**6) == usual_budget(10**9) < 60_000_000
    column = {"codes": np.random.default_rng(0).integers(0, 100, (N, 3), dtype=np.uint8)}
    assert file_bytes(column, N) == pytest.approx(file_bytes(column, 0), rel=0.02)  # from a sample as from all
