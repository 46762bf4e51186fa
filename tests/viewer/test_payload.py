"""The file: deterministic, complete, checked before it is written."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from gnomon._run import running
from gnomon.explanations import explain, group_features
from gnomon.maps import Map
from gnomon.viewer import PageContent, document, write_html
from gnomon.viewer.columns import encode_column, stratified_rows
from gnomon.viewer.packing import TEXT, as_text, pack, packed_size
from gnomon.viewer.payload import Payload, encode_features
from gnomon.viewer.write import bundle, preview_png

ALL = 1 << 40


SIGNS = [chr(code) for code in range(33, 127) if chr(code) not in '"&<']


def bytes_of(text):
    """Bytes of printable text: 13 bits are two signs, the last 6 or fewer are one."""
    values = np.array([SIGNS.index(chr(code)) if chr(code) in SIGNS else 99 for code in range(128)], np.uint16)
    found = values[np.frombuffer(text.encode("ascii"), np.uint8)]
    assert (found < 91).all()
    pairs = found[: len(found) // 2 * 2].reshape(-1, 2)
    words = (pairs[:, 0] + 91 * pairs[:, 1]).astype(">u2")
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 16)[:, 3:].ravel()
    if len(found) % 2:
        bits = np.append(bits, np.unpackbits(found[-1:].astype(np.uint8))[2:])
    return np.packbits(bits[: len(bits) // 8 * 8]).tobytes()


def read_page(path):
    """Header and columns of a written page, read as the page's own script does."""
    text = path.read_text(encoding="utf-8")
    groups = {}
    for group, data in re.findall(r'<script type="application/octet-stream" data-group="(\w+)">([^<]*)</script>', text):
        groups[group] = groups.get(group, b"") + gzip.decompress(bytes_of(data))
    header = json.loads(groups.pop("header"))
    columns = {}
    for group, layout in header["groups"].items():
        assert len(groups[group]) == layout["bytes"]
        for name, place in layout["columns"].items():
            assert place["offset"] % 8 == 0
            count = int(np.prod(place["shape"]))
            values = np.frombuffer(groups[group], place["dtype"], count, place["offset"])
            columns[name] = values.reshape(place["shape"])
    return header, columns


def test_columns_survive_the_round_trip(tmp_path, blobs):
    write_html(
        tmp_path / "a.html",
        PageContent(embedding=blobs.Y, labels=blobs.group, X=blobs.X, explanation=blobs.explanation),
    )
    header, columns = read_page(tmp_path / "a.html")
    np.testing.assert_array_equal(columns["embedding"], blobs.Y)
    np.testing.assert_array_equal(columns["top"], blobs.top.indices)
    np.testing.assert_array_equal(columns["r2"], blobs.explanation.r2.astype(np.float32))
    assert header["columns"][0]["categories"] == ["0", "1", "2"]
    assert columns["codes"].shape == blobs.X.shape


def test_groups_larger_than_one_part_survive(monkeypatch, tmp_path):
    monkeypatch.setattr("gnomon.viewer.payload._PART", 1000)
    X = np.random.default_rng(0).integers(0, 256, size=(333, 7), dtype=np.uint8)
    write_html(tmp_path / "a.html", PageContent(embedding=np.zeros((333, 2)) + np.arange(333)[:, None], X=X))
    _, columns = read_page(tmp_path / "a.html")
    np.testing.assert_array_equal(columns["codes"], X)
    np.testing.assert_array_equal(columns["kept"], np.arange(7))


def test_same_input_gives_the_same_bytes(tmp_path, blobs):
    for name in ("a.html", "b.html"):
        write_html(
            tmp_path / name,
            PageContent(embedding=blobs.Y, X=blobs.X, labels=blobs.group, explanation=blobs.explanation),
        )
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_f106_budget_is_said_in_the_page(tmp_path, blobs):
    X = np.random.default_rng(0).normal(size=(blobs.n, 4000)) * np.linspace(2, 1, 4000)
    write_html(tmp_path / "a.html", PageContent(embedding=blobs.Y, X=X), byte_budget=2_000_000)
    header, columns = read_page(tmp_path / "a.html")
    kept = columns["kept"]
    assert 0.1 * 4000 < len(kept) < 0.5 * 4000
    assert kept.mean() < 1500  # the first vary most
    assert any(f"Values of {len(kept):,} of 4,000 features" in note for note in header["notes"])
    assert (tmp_path / "a.html").stat().st_size <= 2_000_000


def test_f102_too_many_points_are_sampled_by_class(monkeypatch, tmp_path):
    """F102: never the first n; every class keeps its share and the page says so."""
    monkeypatch.setattr(document, "MAX_POINTS", 200)
    labels = np.repeat(["common", "rare"], [990, 10])
    Y = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    write_html(
        tmp_path / "a.html", PageContent(embedding=Y, labels=labels, X=Y, point_names=[f"p{i}" for i in range(1000)])
    )
    header, columns = read_page(tmp_path / "a.html")
    rows = columns["rows"]
    assert len(rows) == header["n"] == 200
    assert np.bincount(columns["column0"]).tolist() == [198, 2]
    assert rows[0] > 0 or rows[1] > 1
    np.testing.assert_array_equal(columns["embedding"], Y[rows])
    assert header["pointNames"] == [f"p{i}" for i in rows]
    assert "200 of 1,000 points" in header["notes"][0]


def test_stratified_rows_keep_every_class():
    codes = np.array([0] * 1000 + [1])
    rows = stratified_rows(codes, 1001, 50)
    assert 1000 in rows
    assert len(np.unique(rows)) == len(rows)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"embedding": np.zeros((5, 4))}, "must be numbers of shape"),
        ({"labels": [1, 2]}, r"labels of shape \(2,\) must be of shape \(5,\)"),
        ({"metadata": {"batch": None}}, r"metadata\['batch'\]=None must be 5 values"),
        ({"metadata": {"batch": [1]}}, "batch"),
        ({"X": np.zeros((4, 2))}, "X with 4 rows"),
        ({"X": np.zeros((5, 2)), "feature_names": ["a"]}, "1 feature_names must be 2"),
        ({"X": np.zeros((5, 2)), "image_shape": (2, 2)}, "image_shape"),
        ({"images": np.zeros((5, 2, 2))}, "images"),
        ({"point_names": ["a"]}, "point_names"),
        ({"X": np.array([["a"]] * 5)}, "table of numbers"),
    ],
)
def test_f105_bad_arguments_are_refused_before_anything_is_written(tmp_path, bad, text):
    """F105."""
    with pytest.raises(ValueError, match=text):
        write_html(tmp_path / "a.html", PageContent(**({"embedding": np.zeros((5, 2))} | bad)))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(monkeypatch, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old")
    monkeypatch.setattr(Payload, "parts", lambda self: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_html(path, PageContent(embedding=np.zeros((3, 2))))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_title_is_escaped_and_scripts_are_ours_alone(tmp_path):
    """F109: the page holds no markup that came from the data."""
    evil = "</script><script>alert(1)</script>"
    write_html(
        tmp_path / "a.html",
        PageContent(embedding=np.eye(2), title=evil, method=evil, labels=[evil, "b"], info={evil: evil}),
    )
    assert "alert(1)</script>" not in (tmp_path / "a.html").read_text()


def test_categories_come_in_natural_order_and_missing_is_one():
    assert encode_column([10, 9, 100], 3, name="x", as_label=True).categories == ["9", "10", "100"]
    assert encode_column(["10", "9", "100"], 3, name="x").categories == ["9", "10", "100"]
    assert encode_column(["c10", "c9", "b"], 3, name="x").categories == ["b", "c9", "c10"]
    column = encode_column(["b", None, float("nan"), "a"], 4, name="x")
    assert column.categories == ["a", "b", "(missing)"]
    assert column.codes.tolist() == [1, 2, 2, 0]
    named = encode_column(["(missing)", None, "(no value)"], 3, name="x").categories
    assert len(set(named)) == 3
    assert encode_column(np.linspace(0, 1, 50), 50, name="x", as_label=True).numbers is not None
    assert encode_column(np.arange(50), 50, name="x", as_label=True).categories[-1] == "49"


def test_whole_numbers_that_floats_do_not_hold_stay_exact():
    numbers = 2**53 + np.arange(40)
    assert encode_column(numbers, 40, name="x").categories == [str(one) for one in numbers]
    assert encode_column(numbers - 40, 40, name="x").numbers is not None


def test_modules_join_without_imports_or_clashes():
    script = bundle()
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert "innerHTML" not in script  # text enters the page as text only
    assert max(map(len, script.splitlines())) <= 120


def test_preview_is_a_png_of_the_points():
    png = preview_png(
        np.array([[0.0, 0.0], [1.0, 1.0], [np.nan, 0.0]]), np.full((3, 3), 9, np.uint8), width=40, height=30
    )
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    rows = np.frombuffer(zlib.decompress(png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8]), np.uint8).reshape(
        30, 121
    )
    assert (rows[:, 0] == 0).all()
    assert 3 <= (rows[:, 1::3] == 9).sum() <= 18


def test_a_page_takes_a_map_with_all_that_is_known_of_it(tmp_path, blobs):
    names = [f"p{i}" for i in range(blobs.n)]
    columns = {"depth": np.arange(blobs.n)}
    made = Map(
        blobs.X, blobs.Y, labels=blobs.group, metadata=columns, point_names=names, notes=["a note"], name="Blobs"
    )
    write_html(tmp_path / "a.html", made)
    made.to_html(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    header, found = read_page(tmp_path / "a.html")
    assert header["title"] == "Blobs"
    assert [column["name"] for column in header["columns"]] == ["label", "depth"]
    assert header["pointNames"] == names
    assert header["features"]["names"] == made.feature_names
    assert ["notes", "a note"] in header["info"]
    assert header["captions"].keys() == header["profiles"].keys() == {str(group) for group in np.unique(blobs.group)}
    np.testing.assert_array_equal(found["embedding"], made.embedding)
    write_html(tmp_path / "c.html", made, title="Another")
    assert read_page(tmp_path / "c.html")[0]["title"] == "Another"


@pytest.mark.parametrize("wrong", [np.zeros((5, 2)), None, {"embedding": np.zeros((5, 2))}])
def test_what_is_no_map_is_refused(tmp_path, wrong):
    with pytest.raises(TypeError, match=r"write_html: map must be a Map or a PageContent \(found"):
        write_html(tmp_path / "a.html", wrong)
    assert list(tmp_path.iterdir()) == []


def decode(codes):
    """The table that the codes stand for."""
    if codes.codes is None:
        n = len(codes.indptr) - 1
        dense = np.tile(codes.zero, (n, 1))
        for i in range(n):
            part = slice(codes.indptr[i], codes.indptr[i + 1])
            dense[i, codes.indices[part]] = codes.data[part]
    else:
        dense = codes.codes
    out = np.empty(dense.shape)
    for j, row in enumerate(codes.table_row):
        out[:, j] = dense[:, j] if row < 0 else codes.table[row][dense[:, j]]
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64, bool])
def test_small_integers_are_their_own_codes(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype is bool else 256, size=(500, 7)).astype(dtype)
    codes = encode_features(X.view(np.uint8) if dtype is bool else X, byte_budget=ALL)
    assert (codes.table_row < 0).all()
    assert not codes.rounded
    np.testing.assert_array_equal(decode(codes), X)


def test_up_to_256_distinct_values_are_exact():
    values = np.random.default_rng(1).normal(size=256).astype(np.float32)
    X = np.random.default_rng(2).choice(values, size=(3000, 3))
    np.testing.assert_array_equal(decode(encode_features(X, byte_budget=ALL)), X)


@pytest.mark.parametrize("n", [2000, 50_000])
def test_quantile_codes_keep_order_and_means(n):
    rng = np.random.default_rng(3)
    X = np.stack(
        [rng.normal(size=n), rng.lognormal(sigma=2, size=n), np.where(rng.random(n) < 0.6, 0.0, rng.random(n))], axis=1
    )
    codes = encode_features(X, byte_budget=ALL)
    back = decode(codes)
    np.testing.assert_allclose(back.mean(axis=0), X.mean(axis=0), rtol=1e-6)
    for j in range(3):
        order = np.argsort(X[:, j], kind="stable")
        assert (np.diff(back[order, j]) >= 0).all()
        table = codes.table[codes.table_row[j]]
        assert (np.diff(table[: int(codes.codes[:, j].max()) + 1]) > 0).all()
    assert np.abs(back[:, 0] - X[:, 0]).mean() < 0.02
    np.testing.assert_array_equal(back[:, 2] == 0, X[:, 2] == 0)  # a value that fills whole bins has its own


def test_missing_values_have_a_code_of_their_own():
    X = np.random.default_rng(4).normal(size=(1000, 2))
    X[::7, 0], X[5, 1], X[6, 1] = np.nan, np.inf, -np.inf
    back = decode(encode_features(X, byte_budget=ALL))
    np.testing.assert_array_equal(np.isnan(back), ~np.isfinite(X))


def test_values_that_one_byte_cannot_hold_are_stored_whole_if_asked():
    rng = np.random.default_rng(8)
    X = np.column_stack(
        [rng.integers(0, 9, 500), rng.normal(size=500), rng.choice(rng.normal(size=9), 500), rng.normal(size=500)]
    )
    X[3, 1] = np.inf
    codes = encode_features(X, byte_budget=ALL, whole=True)
    np.testing.assert_array_equal(codes.whole_slots, [1, 3])
    assert codes.whole.dtype == np.float32
    np.testing.assert_allclose(codes.whole[1], X[:, 3], rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(codes.whole[0]), np.arange(500) == 3)
    np.testing.assert_allclose(decode(codes)[:, [0, 2]], X[:, [0, 2]], rtol=1e-6)
    assert not codes.rounded
    rounded = encode_features(X, byte_budget=ALL)
    assert rounded.whole is None
    assert rounded.rounded
    shifted = 2.0**40 + rng.choice(9, (500, 1))  # few values, between which single precision does not tell
    np.testing.assert_array_equal(encode_features(shifted, byte_budget=ALL, whole=True).whole, shifted.T)


def test_a_page_holds_small_tables_whole_as_its_budget_allows(monkeypatch, tmp_path):
    X = np.random.default_rng(9).normal(size=(6000, 20))

    def note_of(**options):
        write_html(tmp_path / "a.html", PageContent(embedding=X[:, :2], X=X), **options)
        header, columns = read_page(tmp_path / "a.html")
        told = "Feature values are rounded to 256 levels each." in header["notes"]
        assert ("whole" in columns) != told
        return told

    assert not note_of()
    size = (tmp_path / "a.html").stat().st_size
    assert note_of(byte_budget=1_000_000)
    monkeypatch.setattr("gnomon.viewer.values._SMALL", X.size - 1)
    assert note_of()
    assert (tmp_path / "a.html").stat().st_size < size


@pytest.mark.parametrize("shift", [0.0, -0.5])
def test_sparse_rows_decode_to_the_same_table(shift):
    rng = np.random.default_rng(5)
    X = sparse.random(800, 60, density=0.05, format="csr", random_state=5, data_rvs=lambda k: rng.random(k) + shift)
    codes = encode_features(X, byte_budget=ALL)
    assert codes.codes is None
    np.testing.assert_allclose(decode(codes), X.toarray().astype(np.float32), atol=1e-7)
    assert codes.data.size == X.nnz


def test_dense_looking_sparse_tables_are_stored_dense():
    X = sparse.csr_matrix(np.random.default_rng(6).integers(1, 9, size=(50, 8)))
    codes = encode_features(X, byte_budget=ALL)
    assert codes.indptr is None
    np.testing.assert_array_equal(decode(codes), X.toarray())


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_over_the_budget_the_most_important_features_stay(container):
    X = np.random.default_rng(7).integers(0, 100, size=(100, 10))
    importance = np.array([1, 9, 2, 8, 3, 7, 4, 6, 5, 0.0])
    codes = encode_features(container(X), byte_budget=350, importance=importance)
    np.testing.assert_array_equal(codes.kept, [1, 3, 5])
    np.testing.assert_array_equal(decode(codes), X[:, [1, 3, 5]])
    X[:, 4] *= 2
    np.testing.assert_array_equal(encode_features(container(X), byte_budget=1).kept, [4])  # else by variance


def test_the_input_is_not_changed():
    X = sparse.csr_matrix(np.array([[0.0, 1.5], [2.5, 0.0]]))
    X.data[0] = 0.0
    before = X.copy()
    encode_features(X, byte_budget=ALL)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indptr, before.indptr)


def test_a_group_of_collinear_features_stands_in_the_place_of_its_representative(tmp_path):
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (200, 2))
    explanation = explain(T[:, [1, 0, 0]], T, n_jobs=1)
    groups = group_features(explanation)
    write_html(tmp_path / "a.html", PageContent(embedding=T, X=T[:, [1, 0, 0]], explanation=explanation, groups=groups))
    header, columns = read_page(tmp_path / "a.html")
    (entry,) = header["featureGroups"]
    assert (entry["feature"], entry["name"], entry["members"]) == (1, "feature 1 + 1 alike", [1, 2])
    np.testing.assert_allclose(columns["global_importance"], [*groups.explanation.global_importance, 0.0], rtol=1e-6)
    assert set(columns["top"].ravel().tolist()) == {0, 1}
    alone = explain(T, T, n_jobs=1)
    for name, given in (("b", group_features(alone)), ("c", None)):
        write_html(tmp_path / f"{name}.html", PageContent(embedding=T, X=T, explanation=alone, groups=given))
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "c.html").read_bytes()


def test_bytes_are_packed_the_smaller_way_and_come_back():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 20, 300_000).astype(np.int8).view(np.uint8)
    text = np.tile(rng.integers(0, 256, 3000, dtype=np.uint8), 100)
    for raw, by_runs in ((noise, True), (text, False), (noise[:999], True), (noise[:0], False)):
        packed = pack(raw.data)
        assert gzip.decompress(packed) == raw.tobytes()
        if len(raw):
            assert len(packed) <= packed_size(raw.data)
        runs = zlib.compressobj(4, zlib.DEFLATED, 31, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
        assert (packed == runs.compress(raw) + runs.flush()) is by_runs


def test_the_number_of_threads_changes_no_byte(monkeypatch, tmp_path, blobs):
    monkeypatch.setattr("gnomon.viewer.payload._ALONE", 100)
    pages = []
    for n_threads in (1, 3):
        with running(n_threads=n_threads):
            write_html(tmp_path / "a.html", PageContent(embedding=blobs.Y, X=blobs.X, labels=blobs.group))
        pages.append((tmp_path / "a.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("kind", ["normal", "wide", "few", "zeros", "missing", "huge"])
def test_values_of_a_bin_lie_between_those_of_its_neighbours(kind):
    rng = np.random.default_rng(0)
    values = {
        "normal": rng.normal(5.0, 1.0, 9000),
        "wide": rng.lognormal(sigma=5.0, size=9000),  # the grid parts few of these
        "few": rng.choice([-1.0, 0.1, 0.1000001, 7e3], 9000),
        "zeros": np.where(rng.random(9000) < 0.8, 0.0, rng.normal(size=9000)),
        "missing": np.where(rng.random(9000) < 0.1, np.nan, rng.normal(size=9000)),
        "huge": rng.choice([-3e38, 3e38], 9000) * rng.random(9000),
    }[kind].astype(np.float32)
    found = encode_features(values[:, None], byte_budget=ALL)
    codes, table = found.codes[:, 0], found.table[0]
    known = np.isfinite(values)
    assert np.isnan(table[codes[~known]]).all()
    order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
    assert (np.diff(codes[order].astype(int)) >= 0).all()
    np.testing.assert_allclose(table[codes[known]].mean(dtype=float), values[known].mean(dtype=float), rtol=1e-4)
    if kind == "few":
        np.testing.assert_array_equal(table[codes], values)
    elif kind == "zeros":
        assert (table[codes[values == 0]] == 0).all()
    else:
        assert np.bincount(codes[known]).max() < 2.5 * known.sum() / 255  # no bin is crowded


@pytest.mark.parametrize("n", [*range(1, 30), 13 * (1 << 15), 13 * (1 << 15) + 1, 500_000])
def test_bytes_are_text_that_html_leaves_alone(n):
    raw = np.random.default_rng(n).integers(0, 256, n, dtype=np.uint8).tobytes()
    text = as_text(raw)
    assert bytes_of(text) == raw
    assert len(text) == pytest.approx(n * TEXT, abs=2)
    assert bytes_of(as_text(b"\xff" * n)) == b"\xff" * n


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_reads_text_as_bytes(tmp_path):
    source = (Path(__file__).resolve().parents[2] / "src/gnomon/viewer/static/data/text.js").read_text()
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 256, n, dtype=np.uint8).tobytes() for n in (*range(1, 30), 4000)]
    call = f"console.log(JSON.stringify({json.dumps([*map(as_text, parts)])}.map((one) => Array.from(bytesOf(one)))))"
    (tmp_path / "text.mjs").write_text(source + call)
    done = subprocess.run([shutil.which("node"), tmp_path / "text.mjs"], check=True, capture_output=True, text=True)
    assert [bytes(one) for one in json.loads(done.stdout)] == parts
