"""`gnomon map` against a stand-in for the map: what it passes on, what it prints, how it ends."""

import importlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import click.testing
import numpy as np
import pytest

from gnomon._files import atomic_write
from gnomon._progress import Progress
from gnomon.cli import main
from gnomon.cli.console import ProgressBar
from gnomon.exceptions import DataWarning, MissingDependencyError

map_room = importlib.import_module("gnomon.maps")


class FakeMap:
    """Writes and says little, as a map would much."""

    method, parameters, n_samples, n_features = "umap", {"n_neighbors": 14, "random_state": 0}, 150, 4
    notes = ()
    columns = completion = scale = representation = _estimator = None
    metric, metadata = "euclidean", {}
    embedding = np.full((150, 2), np.nan)  # of rows without a place there is nothing to judge

    def to_html(self, path, title):
        with atomic_write(path, "w") as file:
            file.write(f"<title>{title}</title>")

    def fingerprint(self):
        return "0" * 64

    def to_png(self, path, title=None):
        Path(path).write_bytes(b"png")

    def save(self, path):
        Path(path).write_bytes(b"map" * 400_000)

    def report(self, *, verdicts, notes):
        assert not notes
        return "How far to trust it: far."

    def to_dict(self):
        return {"trustworthiness": np.float32(0.5), "per_point": np.array([1.0, np.nan]), "shape": (2, np.int64(3))}


@pytest.fixture
def calls(monkeypatch):
    calls = []

    def fake_map(data, **options):
        calls.append((data, options))
        options["callback"](Progress("layout", 1, 2, 1.0))
        return FakeMap()

    monkeypatch.setattr(map_room, "map", fake_map)
    return calls


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: click.testing.CliRunner().invoke(main, ["map", *arguments])


@pytest.fixture
def failing_map(monkeypatch):
    def install(error):
        def fail(data, **options):
            raise error

        monkeypatch.setattr(map_room, "map", fail)

    return install


def test_everything_is_written_and_told(run, calls):
    result = run("iris", "-o", "map.html", "--png", "map.png", "--save", "iris.gnomon")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "How far to trust it: far.",
        "Wrote map.html (1 kB)",
        "Wrote map.png (1 kB)",
        "Wrote iris.gnomon (1.2 MB)",
    ]
    assert result.stderr == ""
    assert Path("map.html").read_text() == "<title>iris</title>"


@pytest.mark.parametrize("told", ["report", "to_dict", "notes"])
def test_what_is_warned_of_in_telling_is_one_line_and_no_note_repeats_it(run, calls, monkeypatch, told):
    def warning(*arguments, **options):
        warnings.warn("report: beware of the seam", DataWarning, stacklevel=1)
        return {} if told == "to_dict" else "How far"

    monkeypatch.setattr(FakeMap, "notes", ("beware of the seam", "another"))
    if told == "notes":  # outside of what the command itself collects
        monkeypatch.setattr("gnomon.cli.map.tell_notes", warning)
    else:
        monkeypatch.setattr(FakeMap, told, warning)
    result = run("iris", *(["--json"] if told == "to_dict" else []))
    assert result.stderr == "Warning: report: beware of the seam\n"
    if told == "to_dict":
        assert json.loads(result.stdout)["warnings"] == ["report: beware of the seam"]
    elif told == "report":
        assert result.stdout == "How far\n\nNotes\n  another\n"


def test_defaults_are_left_to_the_methods(run, calls):
    run("iris")
    dataset, options = calls[0]
    assert dataset.X.shape == (150, 4)
    assert {key: value for key, value in options.items() if key != "callback"} == {
        "method": "umap",
        "random_state": 0,
        "n_jobs": None,
    }


def test_options_reach_the_method(run, calls):
    arguments = "--method tsne --perplexity 5 --n-components 3 --n-neighbors 9 --min-dist 0.2 --metric cosine"
    run("digits", *arguments.split(), "--seed", "7", "--threads", "2")
    options = calls[0][1]
    options.pop("callback")
    assert options == {
        "method": "tsne",
        "perplexity": 5.0,
        "n_components": 3,
        "n_neighbors": 9,
        "min_dist": 0.2,
        "metric": "cosine",
        "random_state": 7,
        "n_jobs": 2,
    }


def test_blocks_of_columns_are_read_from_the_line_and_from_a_file(run, calls, tmp_path):
    line = ["--block", "sepal=sepal*", "--block", "petal=petal length,petal width:cosine:0.5", "--join", "union"]
    Path("run.toml").write_text(
        'join = "union"\n[block]\nsepal = "sepal*"\npetal = "petal length,petal width:cosine:0.5"'
    )
    for given in (line, ["--config", "run.toml"]):
        assert run("iris", "-o", "m.html", *given).exit_code == 0
        options = calls[-1][1]
        assert options["join"] == "union"
        assert {name: str(block) for name, block in options["blocks"].items()} == {
            "sepal": "'sepal*', euclidean",
            "petal": "'petal length', 'petal width', cosine, weight 0.5",
        }


@pytest.mark.parametrize("text", ["sepal", "=sepal*", "sepal=", "a=b:cosine:1:2", "a=b:cosine:much", "a=b:cosine:-1"])
def test_a_block_that_is_none_is_refused_before_computing(run, calls, text):
    result = run("iris", "-o", "m.html", "--block", text)
    assert result.exit_code != 0
    assert "must be" in result.output
    assert calls == []


def test_empty_cells_are_left_to_the_map_unless_they_are_to_be_refused(run, calls):
    Path("gaps.csv").write_text("a,b\n1,2\n3,\n4,5\n")
    assert run("gaps.csv").exit_code == 0
    dataset, options = calls[0]
    assert np.isnan(dataset.X[1, 1])
    assert "missing" not in options
    assert run("gaps.csv", "--missing", "drop").exit_code == 0
    assert calls[1][1]["missing"] == "drop"
    refused = run("gaps.csv", "--missing", "error")
    assert refused.exit_code != 0
    assert "1 missing value, at line 3, column 'b'" in refused.output


def test_a_target_is_passed_on_beside_the_labels(run, calls):
    Path("t.csv").write_text("a,b,kind,size\n1,2,x,5\n3,4,y,6\n")
    assert run("t.csv", "--labels", "kind", "--target", "size").exit_code == 0
    (dataset, options), *_ = calls
    assert (dataset.label_name, options["target"]) == ("kind", "size")


def test_labels_and_pictures_of_a_file(run, calls):
    Path("t.csv").write_text("kind,a,b,c,d,e,f\nx,1,2,3,4,5,6\ny,6,5,4,3,2,1\n")
    result = run("t.csv", "--labels", "kind", "--images", "3x2", "--title", "Two", "-o", "m.html")
    assert result.exit_code == 0
    dataset = calls[0][0]
    assert dataset.labels.tolist() == ["x", "y"]
    assert dataset.images.shape == (2, 2, 3)
    assert Path("m.html").read_text() == "<title>Two</title>"


@pytest.mark.usefixtures("here")
def test_parts_of_a_file_of_cells_are_chosen_by_name(run, calls):
    anndata = pytest.importorskip("anndata")
    X = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    cells = anndata.AnnData(X, layers={"counts": 2 * X}, obsm={"X_pca": X[:, :3], "X_other": X[:, :2]})
    cells.obs["kind"] = ["a", "b", "a", "b"]
    cells.write_h5ad("c.h5ad")
    arguments = ["--obsm", "X_pca", "--layer", "counts", "--labels", "kind", "--n-pcs", "2"]
    assert run("c.h5ad", *arguments).exit_code == 0
    dataset, options = calls[0]
    np.testing.assert_array_equal(dataset.X, 2 * X)
    assert (dataset.representation.name, dataset.labels.tolist()) == ("X_pca", ["a", "b", "a", "b"])
    np.testing.assert_array_equal(dataset.representation.values, X[:, :3])
    assert options["n_pcs"] == 2
    result = run("iris", "--obsm", "X_pca")
    assert result.exit_code == 2
    assert "obsm='X_pca' must be left out (it has no meaning for a built-in data set" in result.stderr


def test_what_was_decided_in_reading_is_told(run, calls):
    Path("t.csv").write_text("kind,a\nx,1\ny,6\n")
    run("t.csv")
    assert calls[0][0].notes == ["columns without numbers are kept as metadata: 'kind'"]


def test_json_is_for_programs(run, calls):
    result = run("iris", "--json", "-o", "m.html")
    assert json.loads(result.stdout) == {
        "data": {
            "source": "iris",
            "n_samples": 150,
            "n_features": 4,
            "label_name": "species",
            "n_labels": 3,
            "notes": [],
        },
        "map": {"trustworthiness": 0.5, "per_point": [1.0, None], "shape": [2, 3]},
        "warnings": [],
        "files": {"html": "m.html"},
    }


def test_quiet_is_quiet(run, calls):
    result = run("iris", "--quiet", "-o", "m.html")
    assert (result.exit_code, result.output) == (0, "")


def test_warnings_are_told_once_each(run, monkeypatch):
    def warn(data, **options):
        for _ in range(2):
            warnings.warn("2 constant\ncolumns", DataWarning, stacklevel=1)
        warnings.warn("of another library", DeprecationWarning, stacklevel=1)
        return FakeMap()

    monkeypatch.setattr(map_room, "map", warn)
    result = run("iris", "--json")
    assert result.stderr == "Warning: 2 constant columns\n"
    assert json.loads(result.stdout)["warnings"] == ["2 constant columns"]
    monkeypatch.setattr(FakeMap, "notes", ("2 constant\ncolumns", "Pass scale=None to map them in their own units."))
    told = run("iris").stdout
    assert told == "How far to trust it: far.\n\nNotes\n  Pass --scale none to map them in their own units.\n"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("map: perplexity=90 must be\nat most 3."),
        TypeError("map: no"),
        OSError("disk full"),
        MissingDependencyError('pip install "gnomon[plot]"'),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_the_library_are_one_line(run, failing_map, error):
    failing_map(error)
    result = run("iris", "-o", "m.html")
    text = " ".join(str(error).split()) or "MemoryError"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {text}\n")
    assert os.listdir() == []


def test_an_unexpected_error_keeps_its_traceback(run, failing_map):
    failing_map(RuntimeError("bug"))
    result = run("iris")
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError)


def test_the_traceback_can_be_asked_for(run, failing_map, monkeypatch):
    monkeypatch.setenv("GNOMON_TRACEBACK", "1")
    failing_map(ValueError("where"))
    assert isinstance(run("iris").exception, ValueError)


def test_interrupt(run, failing_map):
    failing_map(KeyboardInterrupt())
    result = run("iris", "-o", "m.html")
    assert (result.exit_code, result.stderr) == (130, "Aborted.\n")
    assert os.listdir() == []


OUTPUTS = {"-o": "m.html", "--png": "m.svg", "--save": "m.gnomon"}


@pytest.mark.parametrize("option", OUTPUTS)
def test_outputs_are_checked_before_computing(run, calls, option):
    result = run("iris", option, f"missing/{OUTPUTS[option]}")
    assert result.exit_code == 2
    assert "in an existing folder" in result.stderr
    assert calls == []


@pytest.mark.parametrize(
    ("option", "name", "rule"),
    [
        ("-o", "m.png", ".html or .htm (it ends in '.png'). Name it 'm.html'."),
        ("--png", "m.html", ".png, .pdf, .svg or .jpg (it ends in '.html'). Name it 'm.png'."),
        ("--save", "m", ".gnomon (its name has no ending). Name it 'm.gnomon'."),
    ],
)
def test_an_unknown_suffix_is_refused_before_computing(run, calls, option, name, rule):
    result = run("iris", option, name)
    text = f"Error: gnomon map: output file {name!r} must be one that ends in {rule}\n"
    assert (result.exit_code, result.stderr, calls, os.listdir()) == (2, text, [], [])


@pytest.mark.parametrize("option", ["-o", "--png"])
def test_a_page_or_a_picture_has_two_or_three_dimensions(run, calls, option):
    result = run("iris", option, OUTPUTS[option], "--n-components", "4")
    assert result.exit_code == 2
    assert "--n-components=4 must be 2 or 3 for a page or a picture" in result.stderr
    assert calls == []
    assert run("iris", "--save", "m.gnomon", "--n-components", "4").exit_code == 0
    assert calls[0][1]["n_components"] == 4


def test_what_sums_the_repulsions_is_a_parameter_and_the_method_is_not(run, calls):
    assert run("iris", "--method", "tsne", "-p", "evaluation=exact", "-o", "m.html").exit_code == 0
    assert (calls[0][1]["method"], calls[0][1]["evaluation"]) == ("tsne", "exact")
    refused = run("iris", "--method", "tsne", "-p", "method=exact", "-o", "m.html")
    assert refused.exit_code == 2
    assert "'method=exact' must be given as --method" in refused.stderr


def test_beside_each_output_stands_how_it_came_about(run, calls):
    arguments = ["iris", "--seed", "3", "-p", "spread=2", "--save", "m.gnomon", "--quiet"]
    run(*arguments, "-o", "m.html", "--threads", "1")
    first = Path("m.html.run.json").read_bytes()
    assert Path("m.gnomon.run.json").read_bytes() == first
    run(*arguments, "-o", "other.html", "--threads", "2")
    assert Path("other.html.run.json").read_bytes() == first
    record = json.loads(first)
    assert record["command"] == "map"
    assert record["options"] == {"method": "umap", "parameter": {"spread": 2}, "seed": 3}
    assert (record["data"]["source"], record["data"]["n_samples"], record["data"]["n_features"]) == ("iris", 150, 4)
    assert record["map"]["parameters"] == {"n_neighbors": 14, "random_state": 0}
    assert record["versions"]["numpy"] == np.__version__


CONFIG = """
data = "t.csv"
method = "tsne"
n-neighbors = 9
metric = "cosine"
features = ["a", "b, c"]
quiet = true
[parameter]
dof = 0.5
init = "random"
verbose = false
"""


def test_options_can_come_from_a_file_and_the_command_line_counts_more(run, calls):
    Path("run.toml").write_text(CONFIG)
    Path("t.csv").write_text('a,"b, c",d\n1,2,3\n4,5,7\n')
    result = run("--config", "run.toml", "--metric", "manhattan")
    assert (result.exit_code, result.output) == (0, "")
    options = calls[0][1]
    expected = {
        "method": "tsne",
        "n_neighbors": 9,
        "metric": "manhattan",
        "features": ["a", "b, c"],
        "dof": 0.5,
        "init": "random",
        "verbose": False,
        "random_state": 0,
        "n_jobs": None,
    }
    assert {key: value for key, value in options.items() if key != "callback"} == expected


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "neighbours = 3",
            "--config='run.toml' must be of options of the command alone (it has 'neighbours'; options: ",
        ),
        ("a = = 3", "gnomon map: --config='run.toml' must be a TOML file ("),
        ('n-neighbors = "many"', "'many' is not a valid integer"),
        (None, "gnomon map: --config='run.toml' must be a readable file (No such file or directory)"),
    ],
)
def test_a_wrong_file_of_options_is_refused(run, calls, content, text):
    if content is not None:
        Path("run.toml").write_text(content)
    result = run("iris", "--config", "run.toml")
    assert (result.exit_code, calls, text in result.stderr) == (2, [], True), result.output


def test_one_output_can_go_to_standard_output(run, calls):
    result = run("iris", "-o", "-", "--png", "m.png")
    assert (result.exit_code, result.stdout) == (0, "<title>iris</title>")
    assert result.stderr.splitlines() == ["How far to trust it: far.", "Wrote m.png (1 kB)"]
    for more in (["--png", "-"], ["--json"]):
        refused = run("iris", "-o", "-", *more)
        assert refused.exit_code == 2
        assert "output - must be the only thing written to standard output" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["digts"], "A data set 'digits' is built in."),
        (["iris", "--labels", "colour"], "labels='colour' must be 'species' or left out"),
        (["iris", "--method", "lda"], "'lda' is not one of 'umap', 'tsne', 'pca'"),
        (["iris", "--images", "28"], "must be WIDTHxHEIGHT"),
        (["iris", "--images", "0x3"], "must be WIDTHxHEIGHT"),
        (["iris", "--n-neighbors", "many"], "'many' is not a valid integer"),
        ([], "Missing argument 'DATA'"),
    ],
)
def test_wrong_arguments(run, calls, arguments, text):
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.stderr
    assert "Traceback" not in result.output


def test_progress_is_drawn_on_a_terminal_only(run, calls, monkeypatch):
    assert run("iris").stderr == ""
    stream = io.StringIO()
    with ProgressBar(stream, enabled=True) as bar:
        bar(Progress("neighbors", 0, 4, 0.0))
        bar(Progress("neighbors", 1, 4, 30.0))  # too soon after the first to be drawn
        bar._drawn = 0.0
        bar(Progress("neighbors", 1, 4, 30.0))
        bar(Progress("neighbors", 4, 4, 61.0))
        bar(Progress("layout", 0, 0, 0.0))
        bar(Progress("layout", 1, 100, 40.0))
        bar._drawn = 0.0
        bar(Progress("layout", 1, 100, 40.0))
    lines = [line.split("\r") for line in stream.getvalue().split("\n")]
    drawn = [[" ".join(part.split()) for part in line if part] for line in lines]
    assert drawn == [
        [
            f"neighbors [{'.' * 30}] 0%",
            f"neighbors [{'#' * 8 + '.' * 22}] 25% 1:30 left",
            f"neighbors [{'#' * 30}] 100% 1:01 taken",
        ],
        [f"layout [{'.' * 30}] 0% 0:00 taken", f"layout [{'.' * 30}] 1% 1:06:00 left"],
        [],
    ]


def test_the_bar_of_a_stage_that_may_end_early_fills_to_where_it_is_expected_to_end():
    stream = io.StringIO()
    with ProgressBar(stream, enabled=True) as bar:
        for done, end in ((10, None), (20, 40), (40, 40)):
            bar._drawn = 0.0
            bar(Progress("layout", done, 300, float(done), at_most=True, end=end))
    drawn = [" ".join(part.split()) for part in stream.getvalue().strip("\r\n").split("\r")]
    assert drawn == [
        "layout 10 of at most 300",
        f"layout [{'#' * 15 + '.' * 15}] 50% 0:20 left",
        f"layout [{'#' * 30}] 100% 0:40 taken",
    ]


def test_progress_can_be_switched_off():
    stream = io.StringIO()
    with ProgressBar(stream, enabled=False) as bar:
        bar(Progress("neighbors", 0, 4, 0.0))
    assert stream.getvalue() == ""


def test_ctrl_c_in_a_real_process_leaves_nothing(tmp_path):
    code = """
import importlib, os, signal, sys, time
from gnomon._files import atomic_write
from gnomon.cli import main
import numpy as np

class Slow:
    embedding = np.full((3, 2), np.nan)

    def to_html(self, path, title):
        with atomic_write(path) as file:
            file.write(b"half")
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                time.sleep(0.01)  # (pause would wait for ever if another thread is given the signal)

importlib.import_module("gnomon.maps").map = lambda data, **options: Slow()
main(["map", sys.argv[1], "-o", "m.html"])
"""
    np.save(tmp_path / "x.npy", np.eye(3))
    folder = tmp_path / "made"
    folder.mkdir()
    command = [sys.executable, "-c", code, str(tmp_path / "x.npy")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Aborted.\n")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dates_are_dates_as_labels_and_as_metadata(run, calls, suffix, monkeypatch):
    days = np.arange("2022-03-01", "2022-03-13", dtype="datetime64[D]")
    if suffix == "csv":
        Path("t.csv").write_text("a,when\n" + "".join(f"{i * i},{day}\n" for i, day in enumerate(days)))
    else:
        pa = pytest.importorskip("pyarrow")
        parts = {"a": np.arange(12.0) ** 2, "when": days.astype("datetime64[us]"), "length": (days - days[0])[::-1]}
        table = pa.table({**parts, "length": parts["length"].astype("timedelta64[s]")})
        importlib.import_module("pyarrow.parquet").write_table(table, "t.parquet")
    assert run(f"t.{suffix}", "--labels", "when").exit_code == 0
    np.testing.assert_array_equal(calls[0][0].labels, days)
    assert run(f"t.{suffix}").exit_code == 0
    np.testing.assert_array_equal(calls[1][0].metadata["when"], days)
    if suffix == "parquet":
        assert calls[1][0].metadata["length"].dtype.kind == "m"
    Path("about.csv").write_text("day\n" + "".join(f"{day}\n" for day in days))
    monkeypatch.setattr("gnomon.data.isolated._interpreter", lambda: None)  # the table is read in this process
    assert run(f"t.{suffix}", "--metadata", "about.csv").exit_code == 0
    np.testing.assert_array_equal(calls[2][0].metadata["day"], days)


def test_two_outputs_are_two_files(run, calls):
    result = run("iris", "-o", "same.html", "--report", "./same.html")
    assert (result.exit_code, calls) == (2, [])
    assert "output file 'same.html' must be of one output (named by 2 options)" in result.stderr
