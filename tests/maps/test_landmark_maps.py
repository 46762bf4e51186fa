"""A map with landmarks is the map of these, and every other row lies where that map places it, whoever works."""

from __future__ import annotations

import copy
import os
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as OtherPCA
from tests.stored import Backwards

import gnomon
from gnomon import _progress
from gnomon._run import current_run
from gnomon.data.stored import ArrayTable
from gnomon.maps.landmarks import make, place
from gnomon.maps.landmarks.count import STEPS, Needs, count_landmarks
from gnomon.neighbors import draw_landmarks
from gnomon.viewer.document import Document

X, LABELS = load_digits(return_X_y=True)
X = X.astype(np.float32)
N = len(X)


class Placeless:
    """A method of another library that places no rows."""

    def fit_transform(self, X):
        return OtherPCA(2).fit_transform(X)


class Small(ArrayTable):
    """A table whose blocks are short."""

    step = 500

    def blocks(self):
        from gnomon.data.stored import RowBlock

        starts = range(0, self.n_samples, self.step)
        return [RowBlock(k, start, min(start + self.step, self.n_samples)) for k, start in enumerate(starts)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "X.npy"
    np.save(path, X)
    return Small(np.load(path, mmap_mode="r"))


@pytest.fixture(scope="module")
def made(stored):
    return gnomon.map(stored, n_fitted=600, labels=LABELS)


def test_drawn_rows_are_those_of_the_smallest_keys_whatever_is_wanted():
    rows = draw_landmarks(100_000, 5_000, seed=3)
    assert len(rows) == 5_000
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < 100_000
    assert set(draw_landmarks(100_000, 500, seed=3)) < set(rows)
    assert np.array_equal(draw_landmarks(7, 7, seed=3), np.arange(7))
    assert not np.array_equal(rows, draw_landmarks(100_000, 5_000, seed=4))
    assert not np.array_equal(rows, draw_landmarks(100_000, 5_000, seed=3, stream=1))


def test_drawn_rows_do_not_depend_on_how_many_keys_are_made_at_a_time(monkeypatch):
    from gnomon.neighbors import landmarks

    rows = draw_landmarks(10_000, 300, seed=5)
    monkeypatch.setattr(landmarks, "_KEYS", 77)
    assert np.array_equal(rows, draw_landmarks(10_000, 300, seed=5))


def test_drawn_rows_are_uniform():
    counts = np.bincount(draw_landmarks(2**17, 2**13, seed=0) >> 10, minlength=128)
    assert abs(counts - 64).max() < 5 * 8  # of a Poisson distribution of mean 64


def test_more_landmarks_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"draw_landmarks: n_landmarks=9 must be at most n_samples=8"):
        draw_landmarks(8, 9)
    with pytest.raises(ValueError, match=r"map: n_fitted=1,798 must be at most n_samples=1,797\. Leave it out"):
        gnomon.map(X, n_fitted=N + 1)
    with pytest.raises(ValueError, match=r"map: n_fitted=2 must be an integer >= 3"):
        gnomon.map(X, n_fitted=2)


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_all_rows_as_landmarks_are_the_ordinary_map(method):
    whole = gnomon.map(X[:500], method)
    found = gnomon.map(X[:500], method, n_fitted=500)
    assert found.embedding.tobytes() == whole.embedding.tobytes()
    assert found.landmark_loss().value == 0.0


def test_landmarks_are_the_map_of_their_rows_and_the_others_are_placed_by_it(made):
    rows = draw_landmarks(N, 600)
    assert np.array_equal(made.landmarks, rows)
    fitted = gnomon.map(X[rows])
    assert made.landmark_map.embedding.tobytes() == fitted.embedding.tobytes()
    assert made.embedding[rows].tobytes() == fitted.embedding.tobytes()
    others = np.setdiff1d(np.arange(N), rows)
    assert np.array_equal(made.embedding[others], fitted.place(X[others]))
    assert np.array_equal(made.landmark_map.labels, LABELS[rows])
    assert np.array_equal(made.labels, LABELS)


def test_repulsions_are_tabulated_for_many_rows_among_few_landmarks(made, stored, tmp_path, monkeypatch):
    assert made.landmark_map._estimator.placement_.field.evaluation == "exact"
    monkeypatch.setattr("gnomon.maps.landmarks.make._MANY", 600 * (N - 600) - 1)
    tabulated = gnomon.map(stored, n_fitted=600, folder=tmp_path)
    for one in (tabulated, gnomon.map(stored, n_fitted=600, folder=tmp_path)):  # and as the folder keeps it
        assert one.landmark_map._estimator.placement_.field.evaluation == "table"
        np.testing.assert_array_equal(one.embedding, tabulated.embedding)
    others = np.setdiff1d(np.arange(N), made.landmarks)
    np.testing.assert_array_equal(tabulated.place(X[others]), tabulated.embedding[others])
    spread = made.embedding.std(axis=0).max()
    moved = np.linalg.norm(tabulated.embedding[others] - made.embedding[others], axis=1)
    assert np.median(moved) < 1e-3 * spread
    assert np.quantile(moved, 0.95) < 0.1 * spread


def test_a_row_that_equals_a_landmark_gets_its_position():
    twice = np.concatenate([X[:400], X[:400]])
    with pytest.warns(gnomon.exceptions.DataWarning, match="equal rows share one position"):
        found = gnomon.map(twice, n_fitted=400)
    at = np.flatnonzero(~np.isin((found.landmarks + 400) % 800, found.landmarks))
    assert len(at) > 50
    rows = found.landmarks[at]
    assert np.array_equal(found.embedding[rows], found.embedding[(rows + 400) % 800])


@pytest.mark.parametrize("options", [{"executor": Backwards()}, {"n_jobs": 1}, {"n_jobs": 2}])
def test_the_bytes_do_not_depend_on_who_works(stored, made, options):
    assert gnomon.map(stored, n_fitted=600, **options).embedding.tobytes() == made.embedding.tobytes()


def test_the_bytes_do_not_depend_on_blocks_or_on_where_the_table_is(stored, made, monkeypatch):
    monkeypatch.setattr(Small, "step", 111)
    monkeypatch.setattr(place, "_TOGETHER", 17)
    assert gnomon.map(stored, n_fitted=600).embedding.tobytes() == made.embedding.tobytes()
    assert gnomon.map(X, n_fitted=600).embedding.tobytes() == made.embedding.tobytes()


class CutError(Exception):
    """What ends a run."""


def _cut(monkeypatch, owner, name, after=0):
    """Let a function raise an error after so many calls."""
    real, calls = getattr(owner, name), []

    def fails(*args, **kwargs):
        calls.append(1)
        if len(calls) > after:
            raise CutError
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, fails)


@pytest.mark.parametrize(
    ("owner", "name", "after", "left"),
    [
        (make, "_draw", 0, set()),
        (make, "fit_map", 0, {"landmarks.npz"}),
        (make.Map, "save", 0, {"landmarks.npz", "scaling.npz"}),
        (place, "_place_block", 2, {"landmarks.npz", "scaling.npz", "fit.gnomon", "positions"}),
    ],
)
def test_a_run_that_was_cut_goes_on_to_the_same_bytes(stored, made, tmp_path, monkeypatch, owner, name, after, left):
    with monkeypatch.context() as patch:
        _cut(patch, owner, name, after)
        with pytest.raises(CutError):
            gnomon.map(stored, n_fitted=600, labels=LABELS, folder=tmp_path)
    assert left <= {path.name for path in tmp_path.iterdir()}
    assert len(list(tmp_path.glob("positions/*.npz"))) == after
    again = gnomon.map(stored, n_fitted=600, labels=LABELS, folder=tmp_path)
    assert again.embedding.tobytes() == made.embedding.tobytes()
    if after:
        _cut(monkeypatch, make, "_draw")
        _cut(monkeypatch, make, "fit_map")
        _cut(monkeypatch, place, "_place_block")
        finished = gnomon.map(stored, n_fitted=600, labels=LABELS, folder=tmp_path)
        assert finished.embedding.tobytes() == made.embedding.tobytes()


@pytest.mark.parametrize(
    ("options", "differs"),
    [
        ({"random_state": 1}, "random_state was"),
        ({"n_neighbors": 9}, "parameter n_neighbors was not given there and is now"),
        ({"point_names": [f"row {i}" for i in range(300)]}, "point_names was not given there and is now"),
        ({"scale": None}, "scale was"),
    ],
)
def test_a_folder_of_another_run_is_refused(tmp_path, options, differs):
    gnomon.map(X[:300], n_fitted=100, folder=tmp_path)
    with pytest.raises(ValueError, match=rf"map: folder .* must be empty or of this run \({differs}"):
        gnomon.map(X[:300], n_fitted=100, folder=tmp_path, **options)


def test_another_table_in_memory_is_told_without_a_file(tmp_path):
    gnomon.map(X[:300], n_fitted=100, folder=tmp_path)
    with pytest.raises(ValueError, match=r"must be empty or of this run \(table was another there\)"):
        gnomon.map(X[300:600], n_fitted=100, folder=tmp_path)


def test_a_file_written_anew_is_another_table(tmp_path):
    path = tmp_path / "X.npy"
    for seed in range(2):
        np.save(path, np.random.default_rng(seed).normal(size=(300, 4)).astype(np.float32))
        os.utime(path, ns=(seed, seed))
        if seed == 0:
            gnomon.map(np.load(path, mmap_mode="r"), "pca", n_fitted=100, folder=tmp_path / "kept")
    with pytest.raises(ValueError, match=rf"\(table was another: {re.escape(str(path))} has been written anew since\)"):
        gnomon.map(np.load(path, mmap_mode="r"), "pca", n_fitted=100, folder=tmp_path / "kept")


def test_columns_are_standardised_by_all_rows():
    table = np.random.default_rng(0).normal(size=(900, 10))
    table[5, 3] = 1e4  # a row that is no landmark
    assert 5 not in draw_landmarks(900, 300)
    with pytest.warns(gnomon.exceptions.DataWarning, match=r"landmarks' range: 1 of 600 placed rows \(row 5\)"):
        found = gnomon.map(table, n_fitted=300, scale="standard")
    np.testing.assert_allclose(found.landmark_map.scale.spread, table.std(axis=0, dtype=np.float64), rtol=1e-6)


def test_columns_of_a_stored_table_are_standardised_by_all_rows(stored):
    found = gnomon.map(stored, n_fitted=600, scale="standard")
    spread = X.std(axis=0, dtype=np.float64)
    np.testing.assert_allclose(found.landmark_map.scale.spread[spread > 0], spread[spread > 0], rtol=1e-6)
    inside = gnomon.map(X, n_fitted=600, scale="standard")
    np.testing.assert_allclose(inside.landmark_map.scale.spread, found.landmark_map.scale.spread, rtol=1e-9)


@pytest.mark.parametrize(
    ("method", "way"),
    [
        ("umap", "where their own part of the loss is least"),
        ("tsne", "where their own part of the loss is least"),
        ("pca", "by the formula of the method"),
        (Placeless(), "by the smooth atlas of the landmarks"),
    ],
)
def test_the_notes_say_how_rows_are_placed(method, way):
    found = gnomon.map(X[:300], method, n_fitted=150)
    assert found.notes[-1] == f"150 of 300 rows, drawn uniformly, are fitted; all others are placed {way}."
    assert np.isfinite(found.embedding).all()


def test_sparse_tables_data_frames_and_estimators_of_other_libraries(made):
    import pandas as pd

    inside = gnomon.map(sp.csr_array(X), n_fitted=600)
    assert np.abs(inside.embedding - made.embedding).max() < 1e-3 * np.ptp(made.embedding)
    frame = pd.DataFrame(X[:300], columns=[f"p{j}" for j in range(64)]).assign(kind=LABELS[:300].astype(str))
    found = gnomon.map(frame, n_fitted=100, labels="kind")
    assert found.landmark_map.feature_names[0] == "p0"
    assert np.array_equal(found.labels, LABELS[:300].astype(str))
    other = gnomon.map(X[:300], OtherPCA(2), n_fitted=100)
    plain = OtherPCA(2).fit(X[:300][other.landmarks])
    np.testing.assert_allclose(other.embedding, plain.transform(X[:300]), rtol=1e-4, atol=1e-3)


def test_missing_values_of_a_table_in_memory_are_filled_in_before():
    holes = np.array(X[:300])
    holes[::7, 20] = np.nan
    with pytest.warns(gnomon.exceptions.DataWarning, match="missing"):
        found = gnomon.map(holes, n_fitted=100)
    assert np.isfinite(found.embedding).all()
    assert any("filled in before landmarks were drawn" in note for note in found.notes)
    holes[4, 20] = np.nan
    with pytest.raises(ValueError, match=r"row 0 of X must be finite numbers"):
        gnomon.map(ArrayTable(holes), n_fitted=300)


def test_a_target_steers_by_the_landmarks_and_rows_keep_what_goes_with_them():
    images = np.arange(300, dtype=np.uint8)[:, None, None] * np.ones((1, 4, 4), np.uint8)
    metadata = {"number": np.arange(300)}
    found = gnomon.map(X[:300], n_fitted=100, target=LABELS[:300], images=images, metadata=metadata)
    assert found.landmark_map.caution
    assert np.array_equal(found.landmark_map.metadata["number"], found.landmarks)
    assert np.array_equal(found.landmark_map.images[:, 0, 0], found.landmarks.astype(np.uint8))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"sample_weight": np.ones(300)}, "sample_weight must be left out where landmarks are fitted"),
        ({"blocks": {"a": gnomon.Block([0, 1])}}, "blocks must be left out where landmarks are fitted"),
        ({"anchors": np.full((300, 2), np.nan)}, "anchors must be left out where landmarks are fitted"),
        ({"init": np.zeros((300, 2))}, "init must be left out where landmarks are fitted"),
    ],
)
def test_what_does_not_go_with_landmarks_is_refused(options, text):
    with pytest.raises(ValueError, match=f"map: {text}"):
        gnomon.map(X[:300], n_fitted=100, **options)


def test_what_only_a_table_in_memory_has_is_refused_of_a_stored_one(stored):
    with pytest.raises(ValueError, match=r"map: neighbors_key must be left out for a table that is read in blocks"):
        gnomon.map(stored, n_fitted=100, neighbors_key="there")
    with pytest.raises(ValueError, match=r"map: point_names of shape \(3,\) must be of 1,797 rows"):
        gnomon.map(stored, n_fitted=100, point_names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"map: folder='there' must be of a map with landmarks"):
        gnomon.map(X, folder="there")


def test_a_stored_table_that_fits_in_memory_has_an_ordinary_map(stored, tmp_path):
    np.save(tmp_path / "X.npy", X[:300])
    for table in (np.load(tmp_path / "X.npy", mmap_mode="r"), ArrayTable(X[:300])):
        found = gnomon.map(table, labels=LABELS[:300])
        assert isinstance(found, gnomon.Map)
        assert found.embedding.tobytes() == gnomon.map(X[:300]).embedding.tobytes()


def test_columns_beside_the_features_are_noted(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    values = np.random.default_rng(0).normal(size=(30, 3))
    columns = {**dict(zip("abc", values.T, strict=True)), "kind": ["x", "y"] * 15, "site": ["s", "t", "u"] * 10}
    parquet.write_table(pa.table(columns), tmp_path / "X.parquet")
    told = "columns stored beside the features are not mapped: {}; gnomon.read_table(path) makes features of them"
    for options, unused in (({}, "'kind', 'site'"), ({"labels": "site"}, "'kind'")):
        made = gnomon.map(tmp_path / "X.parquet", max_iter=3, **options)
        assert told.format(unused) in made.notes
    parquet.write_table(pa.table(columns).drop_columns(["kind"]), tmp_path / "X.parquet")
    assert gnomon.map(tmp_path / "X.parquet", max_iter=3, labels="site").notes == []


def test_as_many_landmarks_as_the_memory_allows():
    class Large(ArrayTable):
        def __init__(self, n):
            super().__init__(np.zeros((1, 50), np.float32))
            self.n_samples = n

    needs = Needs(Large(20_000_000), gnomon.UMAP(), 2)
    counts = []
    for count in STEPS:
        with gnomon.running(memory=needs.with_landmarks(count)):
            counts.append(count_landmarks(needs))
    assert counts == list(STEPS)
    with gnomon.running(memory=1e8):
        assert count_landmarks(needs) == STEPS[-1]
        with pytest.raises(MemoryError, match=r"X of 20,000,000 rows and 50 columns .* \(1,000 landmarks"):
            needs.check(STEPS[-1])
    with gnomon.running(memory=needs.fit(20_000)):
        assert count_landmarks(Needs(Large(20_000), gnomon.UMAP(), 2)) == 20_000


def test_too_little_memory_is_refused_before_anything_is_read(stored, monkeypatch):
    _cut(monkeypatch, type(stored), "read")
    _cut(monkeypatch, type(stored), "take")
    with pytest.raises(
        MemoryError, match=r"map: X of 1,797 rows .*fitted together take .*; 600 landmarks .* Allow 10\.2 MB"
    ):
        gnomon.map(stored, n_fitted=600, memory_budget="10 MB")


def test_progress_is_told_and_a_callback_ends_the_positions(stored):
    heard = []
    gnomon.map(stored, n_fitted=600, callback=lambda one: heard.append((one.stage, one.done, one.total)))
    assert [one for one in heard if one[0] == "positions"] == [("positions", k, N) for k in (0, 500, 1000, 1500, N)]
    found = gnomon.map(stored, n_fitted=600, callback=lambda one: one.stage == "positions" and one.done >= 1000)
    placed = np.isfinite(found.embedding[:, 0])
    assert placed[:1000].all()
    assert placed[found.landmarks].all()
    assert placed.sum() == 1000 + (found.landmarks >= 1000).sum()
    assert "rows have no place: the callback ended" in found.notes[-1]


def test_rows_placed_within_a_block_are_told_by_their_number(monkeypatch):
    """Each placed row takes a second here, and what is made ready for the first one a thousand."""
    now, heard, asked = [0.0], [], []
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(place, "_TOGETHER", 300)
    own = gnomon.Map.place

    def timed(self, rows):
        current_run().reporter.update(1, 2)  # a stage of what places rows, which is not the map's
        now[0] += len(rows) if asked else 1000.0
        asked.append(len(rows))
        return own(self, rows)

    monkeypatch.setattr(gnomon.Map, "place", timed)
    found = gnomon.map(X, n_fitted=600, callback=heard.append)
    told = [one for one in heard if one.stage == "positions"]
    assert [one.total for one in told] == [N] * len(told)
    assert len(told) == 2 + -(-(N - 600) // 300) - 1  # begin, within the block, and its end
    for one in told[1:-1]:
        left = N - 600 - 300 * told.index(one)
        assert one.seconds_left == pytest.approx(left, rel=0.1)
    assert np.isfinite(found.embedding).all()
    ended = gnomon.map(X, n_fitted=600, callback=lambda one: one.stage == "positions" and one.done == told[2].done)
    assert np.isfinite(ended.embedding).all()  # heard at the end of the only block, which is whole by then


def test_the_map_is_near_a_fit_of_all_rows():
    whole, made = gnomon.map(X, labels=LABELS).evaluate(), gnomon.map(X, labels=LABELS, n_fitted=1200)
    found = made.as_map().evaluate()
    assert found.knn_accuracy > whole.knn_accuracy - 0.01
    assert found.trustworthiness > whole.trustworthiness - 0.01


def test_the_loss_is_the_difference_of_the_trust_of_landmarks_and_others(made):
    loss, scores = made.landmark_loss(), gnomon.evaluate(X, made.embedding).per_point["trustworthiness"]
    among = np.isin(np.arange(N), made.landmarks)
    assert loss.n_anchors == 1600
    assert loss.n_rows == N
    assert loss.landmarks == pytest.approx(scores[among].mean(), abs=1e-4)  # equal distances
    assert abs(loss.placed - scores[~among].mean()) < 4 * loss.standard_error
    assert loss.value == pytest.approx(loss.landmarks - loss.placed)
    assert f"{loss.value:+.4f}" in made.summary()


def test_no_row_loses_trust_where_all_are_landmarks(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    made = gnomon.map(X, n_fitted=80, method="pca")
    assert str(made.landmark_loss()) == "all rows are landmarks, and none lost trust by being placed"
    assert "nan" not in made.summary()
    made.write_html(tmp_path / "map.html")


@pytest.mark.parametrize("scale", [None, "standard"])
def test_explain_and_evaluate_are_those_of_all_rows(stored, scale):
    found = gnomon.map(stored, n_fitted=600, labels=LABELS, scale=scale, n_pcs=20 if scale else None)
    whole = found.as_map().evaluate()
    assert found.evaluate().scores() == pytest.approx(whole.scores(), abs=1e-4)  # equal distances
    explanation = found.explain()
    assert explanation.n_samples == N
    assert np.nanmedian(explanation.r2) > 0.5
    assert found.explain() is explanation


def test_new_rows_are_placed_as_the_others_were(made):
    others = np.setdiff1d(np.arange(N), made.landmarks)[:50]
    assert np.array_equal(made.place(X[others]), made.embedding[others])
    assert made.transform(X[others]).shape == (50, 2)


def test_a_map_is_saved_and_loaded(made, stored, tmp_path):
    made.save(tmp_path / "made.gnomon")
    found = gnomon.load(tmp_path / "made.gnomon")
    assert isinstance(found, gnomon.LandmarkMap)
    assert found.embedding.tobytes() == made.embedding.tobytes()
    assert np.array_equal(found.landmarks, made.landmarks)
    assert np.array_equal(found.labels, made.labels)
    assert (found.notes, found.timings, found.random_state) == (made.notes, made.timings, made.random_state)
    assert np.array_equal(found.place(X[:20]), made.place(X[:20]))
    with pytest.raises(ValueError, match=r"the map must be one that has its table .* Call attach\(X\) first"):
        found.evaluate()
    with pytest.raises(ValueError, match=r"LandmarkMap.attach: X must be the table that was mapped"):
        found.attach(X[:-1])
    assert found.attach(stored).landmark_loss() == made.landmark_loss()


@pytest.mark.parametrize("change", [{"landmarks": "reversed"}, {"embedding": "short"}, {"extra": "there"}])
def test_a_damaged_file_is_refused(made, tmp_path, change):
    from gnomon._archive import read_archive, write_archive

    path = tmp_path / "made.gnomon"
    made.save(path)
    arrays, about = read_archive(path, kind="gnomon-landmark-map", version=1, check=lambda *_: None)
    if "landmarks" in change:
        arrays["landmarks"] = np.ascontiguousarray(arrays["landmarks"][::-1])
    elif "embedding" in change:
        arrays["embedding"] = arrays["embedding"][:, :1].copy()
    else:
        arrays["extra"] = np.zeros(3)
    about = {key: value for key, value in about.items() if key not in ("kind", "version")}
    write_archive(path, kind="gnomon-landmark-map", version=1, arrays=arrays, description=about)
    with pytest.raises(ValueError, match="must be a complete gnomon-landmark-map file"):
        gnomon.load(path)


@pytest.mark.parametrize("suffix", [".npy", ".zarr", ".parquet"])
def test_positions_are_written(made, tmp_path, suffix):
    path = tmp_path / f"made{suffix}"
    made.write(path)
    if suffix == ".npy":
        assert np.array_equal(np.load(path), made.embedding)
        with pytest.raises(ValueError, match=r"made.txt' must be one that ends in .npy, .zarr or .parquet"):
            made.write(tmp_path / "made.txt")
        return
    from gnomon.scale import read_results

    found = read_results(path)
    assert np.array_equal(found.read("y"), made.embedding)
    assert np.array_equal(found.read("label"), LABELS)


def test_the_page_shows_a_sample_before_the_density_of_all(made, tmp_path):
    made.write_html(tmp_path / "page.html", n_shown=200, title="Digits")
    text = (tmp_path / "page.html").read_text()
    assert "200 of 1,797 points" in text
    assert "<h1" in text
    assert "Digits" in text
    content = made.page(200)
    assert len(content.embedding) == 200
    assert len(content.all_positions) == N
    assert np.array_equal(content.embedding, made.embedding[content.metadata["row"]])
    assert content.info["landmarks"] == "600"
    assert Document.of(content, None).payload.groups["core"]["density"].sum() == N
    with pytest.raises(ValueError, match=r"all_positions of shape \(10, 2\) must be numbers of shape \(n, 2\)"):
        Document.of(replace(content, all_positions=made.embedding[:10]), None)


def test_an_iterator_of_blocks_is_read_once(made):
    found = gnomon.map((X[start : start + 400] for start in range(0, N, 400)), n_fitted=600)
    assert found.embedding.tobytes() == made.embedding.tobytes()


def test_what_only_a_map_of_all_rows_answers_is_told_with_what_to_take_instead(made):
    for name, instead in {"to_html": "write_html", "report": "summary", "why": "as_map().why"}.items():
        with pytest.raises(AttributeError, match=rf"LandmarkMap has no '{name}', .* Take {re.escape(instead)}"):
            getattr(made, name)
    with pytest.raises(AttributeError, match="'LandmarkMap' object has no attribute 'no_such'"):
        made.no_such  # noqa: B018
    assert copy.deepcopy(made).n_samples == N
    assert "1,797" in made._repr_html_()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"layer": "counts"}, "key='layers/counts'"),
        ({"explain": "raw"}, "key='raw/X'"),
    ],
)
def test_what_is_chosen_of_a_table_in_blocks_is_chosen_where_it_is_opened(given, remedy):
    with pytest.raises(ValueError, match=rf"left out for a table that is read in blocks.*{re.escape(remedy)}"):
        gnomon.map(ArrayTable(X[:60]), n_fitted=40, **given)


def _with_far_group(n_landmarks_there):
    """Return 600 rows, 12 of them far from all others, the latter's numbers, and 150 landmarks with so many of them."""
    table = 0.3 * np.random.default_rng(0).normal(size=(600, 6))
    table[:300, 0] += 3.0
    far = np.arange(7, 600, 50)
    table[far, 1] += 8.0
    others = np.setdiff1d(np.arange(600), far)[::3][:150]
    return table, far, np.sort(np.concatenate([others, far[:n_landmarks_there]]))


@pytest.mark.parametrize("n_there", [0, 1, 3])
@pytest.mark.parametrize("method", ["umap", "trimap", Placeless()])
def test_rows_of_a_far_group_that_few_landmarks_are_drawn_of_are_told(method, n_there):
    table, far, rows = _with_far_group(n_there)
    told = rf"map: out of the landmarks' range: {12 - n_there} of {600 - len(rows)} placed rows \(rows {far[n_there]}, "
    with pytest.warns(gnomon.exceptions.DataWarning, match=told):
        found = gnomon.map(table, method, n_fitted=rows)
    assert np.array_equal(found.out_of_range, far[n_there:])
    assert found.notes[-1].startswith("out of the landmarks' range")
    again = gnomon.map(table, method, n_fitted=np.union1d(found.landmarks, found.out_of_range))
    assert len(again.out_of_range) == 0  # and no warning, which would be an error


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_rows_out_of_range_do_not_depend_on_blocks_and_go_with_the_map(tmp_path, monkeypatch):
    table, far, rows = _with_far_group(1)
    found = gnomon.map(table, n_fitted=rows, folder=tmp_path / "kept")
    monkeypatch.setattr(Small, "step", 70)
    monkeypatch.setattr(place, "_TOGETHER", 9)
    for executor in (None, Backwards()):
        assert np.array_equal(gnomon.map(Small(table), n_fitted=rows, executor=executor).out_of_range, far[1:])
    with monkeypatch.context() as patch:
        _cut(patch, place, "_place_block")
        assert np.array_equal(gnomon.map(table, n_fitted=rows, folder=tmp_path / "kept").out_of_range, far[1:])
    found.save(tmp_path / "made.gnomon")
    assert np.array_equal(gnomon.load(tmp_path / "made.gnomon").out_of_range, far[1:])
    assert np.array_equal(np.flatnonzero(found.as_map().metadata["fitted"] == "placed, out of range"), far[1:])
    found.out_of_range = far[::-1].copy()
    found.save(tmp_path / "made.gnomon")
    with pytest.raises(ValueError, match="out_of_range are no ascending row numbers"):
        gnomon.load(tmp_path / "made.gnomon")


def test_landmarks_that_are_given_are_fitted(tmp_path):
    drawn = gnomon.map(X[:300], n_fitted=100)
    given = gnomon.map(X[:300], n_fitted=drawn.landmarks[::-1].tolist(), folder=tmp_path)
    assert given.embedding.tobytes() == drawn.embedding.tobytes()
    assert given.notes[-1].startswith("100 of 300 rows, as given, are fitted")
    with pytest.raises(ValueError, match=r"must be empty or of this run \(n_fitted was"):
        gnomon.map(X[:300], n_fitted=drawn.landmarks[1:], folder=tmp_path)
    for rows, text in (
        ([0, 1, 300], r"n_fitted must be row numbers from 0 to 299 \(they reach from 0 to 300\)"),
        ([4, 4, 4, 5], r"n_fitted of 2 different rows must be of at least 3"),
        (np.ones(300, dtype=bool), r"a number of rows, or the numbers of rows .* numpy\.flatnonzero\(mask\)"),
        ([[1], [2, 3]], r"a number of rows, or the numbers of rows \(a nested sequence\)"),
        (np.zeros((2, 4), dtype=int), r"a number of rows, or the numbers of rows \(shape \(2, 4\)"),
    ):
        with pytest.raises(ValueError, match=f"map: .*{text}"):
            gnomon.map(X[:300], n_fitted=rows)


def test_classes_of_which_hardly_a_row_is_fitted_are_named():
    labels = np.where(np.arange(300) < 12, "rare", np.where(np.arange(300) % 2, "odd", "even"))
    rows = np.arange(9, 109)
    with pytest.warns(
        gnomon.exceptions.DataWarning, match=r"fewer than 5 rows are fitted: 'rare' \(3 of 12\)\. Their other rows"
    ):
        found = gnomon.map(X[:300], "pca", n_fitted=rows, labels=labels)
    assert any("'rare' (3 of 12)" in note for note in found.notes)
    gnomon.map(X[:300], "pca", n_fitted=np.arange(7, 107), labels=labels)  # five of it, and no warning
    gnomon.map(X[:300], "pca", n_fitted=rows, labels=np.where(labels == "rare", 0.5, np.arange(300) / 7))
