"""Maps of several tables: one loss, tied rows, weight 0 and inf, relations of every kind, movements against chance."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.manifold import trustworthiness

from gnomon import UMAP, AlignedMaps
from gnomon.exceptions import DataWarning
from gnomon.linalg import procrustes
from gnomon.methods.aligned.movement import movement_of
from gnomon.methods.aligned.neighbors_kept import KeptInTables, farther_apart, same_values
from gnomon.methods.aligned.noisy_copies import NoisyCopies, of_lesser_noise
from gnomon.methods.aligned.relations import appearances, identities

QUICK = {
    "umap": {"max_iter": 100},
    "tsne": {"max_iter": 200, "early_exaggeration_iter": 50},
    "pacmap": {"max_iter": 120},
    "trimap": {"max_iter": 120},
}
RELATIONS = [{row: row - 100 for row in range(100, 200)}] * 2


@pytest.fixture(scope="module")
def tables(digits):
    return [digits[0][first : first + 200] for first in (0, 100, 200)]


def test_it_says_what_it_is_and_pickles(tables):
    maps = AlignedMaps("umap", max_iter=5, alignment_weight=0.2, random_state=0)
    assert repr(maps) == "<AlignedMaps(UMAP(max_iter=5), alignment_weight=0.2, random_state=0)>"
    assert repr(AlignedMaps()) == "<AlignedMaps(UMAP())>"
    again = pickle.loads(pickle.dumps(maps.fit(tables, relations=RELATIONS)))
    assert repr(again).endswith(", 3 maps computed>")
    assert all(np.array_equal(a, b) for a, b in zip(again.embeddings_, maps.embeddings_, strict=True))


def _apart(maps):
    """Return how far shared rows lie apart, in spreads of the maps."""
    pairs = zip(maps.embeddings_[:-1], maps.embeddings_[1:], strict=True)
    far = np.concatenate([np.linalg.norm(one[100:] - two[:100], axis=1) for one, two in pairs])
    return float(np.median(far) / np.sqrt(np.mean([Y.var(axis=0).sum() for Y in maps.embeddings_])))


@pytest.mark.parametrize("method", QUICK)
def test_the_heavier_the_nearer_and_inf_is_one_place(method, tables):
    far = {}
    for weight in (0.0, 0.1, 1.0, np.inf):
        maps = AlignedMaps(method, alignment_weight=weight, random_state=0, **QUICK[method])
        maps.fit(tables, relations=RELATIONS)
        far[weight] = _apart(maps)
        for X, Y in zip(tables, maps.embeddings_, strict=True):
            assert trustworthiness(X, Y, n_neighbors=10) > 0.92
    assert far[0.0] > far[0.1] > far[1.0] > far[np.inf] == 0.0
    assert far[0.1] < 0.15
    assert far[1.0] < 0.05


@pytest.mark.parametrize("method", ["umap", "tsne", "pacmap"])
def test_weight_0_is_each_map_by_itself_turned_and_moved(method, tables):
    maps = AlignedMaps(method, alignment_weight=0, random_state=4, **QUICK[method]).fit(tables, relations=RELATIONS)
    for X, Y, own in zip(tables, maps.embeddings_, maps.estimators_, strict=True):
        alone = type(own)(random_state=4, **QUICK[method]).fit_transform(X)
        assert procrustes(alone, Y, scaling=False).disparity < 1e-9
    assert _apart(maps) < 1.0


def test_the_same_bytes_for_any_number_of_threads_and_other_bytes_for_another_seed(tables):
    made = [
        AlignedMaps(max_iter=40, random_state=seed, n_jobs=n).fit_transform(tables, relations=RELATIONS)
        for seed, n in ((0, 1), (0, 2), (1, 1))
    ]
    as_bytes = [b"".join(Y.tobytes() for Y in maps) for maps in made]
    assert as_bytes[0] == as_bytes[1] != as_bytes[2]


def test_time_runs_both_ways(tables):
    """Where all rows are shared, maps of the tables in reverse are the maps in reverse, up to rounding."""
    rng = np.random.default_rng(0)
    three = [tables[0] + rng.standard_normal(tables[0].shape) * noise for noise in (0.0, 1.0, 2.0)]
    there = AlignedMaps(max_iter=15, random_state=0).fit_transform(three, relations="rows")
    back = AlignedMaps(max_iter=15, random_state=0).fit_transform(three[::-1], relations="rows")
    assert procrustes(np.concatenate(back[::-1]), np.concatenate(there), scaling=False).disparity < 1e-3


def test_equal_tables_have_equal_maps_and_springs_at_rest(tables):
    maps = AlignedMaps(max_iter=60, random_state=0).fit([tables[0], tables[0]], relations="rows")
    np.testing.assert_array_equal(*maps.embeddings_)
    assert np.nanmax(maps.estimators_[0].spring_lengths_) == 0.0


def test_rows_of_a_table_that_are_equal_share_a_place_and_their_ties(tables):
    doubled = np.concatenate([tables[0], tables[0][:30]])
    relation = [{row: row for row in range(230)}]
    other = np.concatenate([tables[0], tables[0][:30] + 0.5])
    with pytest.warns(DataWarning, match="230 rows hold 200 distinct"):
        maps = AlignedMaps(max_iter=60, random_state=0).fit([doubled, other], relations=relation)
    np.testing.assert_array_equal(maps.embeddings_[0][:30], maps.embeddings_[0][200:])
    assert maps.embeddings_[1].shape == (230, 2)


def test_tables_may_have_other_features_and_be_sparse(tables):
    from scipy import sparse

    maps = AlignedMaps(max_iter=60, random_state=0)
    maps.fit([tables[0], sparse.csr_array(tables[0][:, 5:40])], relations="rows")
    assert maps.estimators_[1].n_features_in_ == 35
    np.testing.assert_allclose(maps.estimators_[0].place(tables[0][:4]), maps.embeddings_[0][:4], atol=1e-3)


def test_relations_ids_and_indices_say_the_same(tables):
    names = [np.array([f"r{k}" for k in range(first, first + 200)]) for first in (0, 100, 200)]
    pairs = np.stack([np.arange(100, 200), np.arange(100)], axis=1)
    column = np.concatenate([np.full(100, -1), np.arange(100)])
    expected = None
    frames = [pd.DataFrame(X, index=own) for X, own in zip(tables, names, strict=True)]
    for data, given in (
        (tables, {"relations": RELATIONS}),
        (tables, {"relations": [pairs, column]}),
        (tables, {"relations": {(1, 2): pairs, (0, 1): RELATIONS[0]}}),
        (tables, {"ids": names}),
        (frames, {}),
    ):
        made = AlignedMaps(max_iter=20, random_state=0).fit(data, **given)
        expected = made.embeddings_ if expected is None else expected
        for one, two in zip(expected, made.embeddings_, strict=True):
            np.testing.assert_array_equal(one, two)


def test_cells_are_known_by_their_names(tables):
    anndata = pytest.importorskip("anndata")
    names = [[str(k) for k in range(first, first + 200)] for first in (0, 100)]
    cells = [anndata.AnnData(X, obs=pd.DataFrame(index=own)) for X, own in zip(tables, names, strict=False)]
    with pytest.warns(DataWarning, match="100 rows of different tables .* same whole numbers"):
        maps = AlignedMaps(max_iter=5, random_state=0).fit(cells)
    np.testing.assert_array_equal(maps.identities_[0][100:], maps.identities_[1][:100])
    with pytest.raises(ValueError, match="table 0 has no index"):  # names that merely count
        AlignedMaps(max_iter=5).fit([anndata.AnnData(X) for X in tables])


def test_batches_may_all_refer_to_one_and_what_follows_counts():
    found = identities([3, 3, 3], {(0, 1): {0: 2}, (0, 2): {0: 1, 1: 0}}, None, [None] * 3)
    assert found[0][0] == found[1][2] == found[2][1]
    assert found[0][1] == found[2][0]
    assert len(np.unique(np.concatenate(found))) == 6
    first, second = appearances(found, 1)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {(0, 5), (5, 7), (1, 6)}
    assert len(appearances(found, 2)[0]) == 4


def test_slices_of_one_frame_keep_their_numbers_and_whole_frames_have_none():
    whole = pd.DataFrame({"a": np.arange(4.0)})
    with pytest.warns(DataWarning, match="1 row of different tables is taken"):
        found = identities([3, 2], None, None, [whole[:3].index, whole[2:].index])
    assert [own.tolist() for own in found] == [[0, 1, 2], [2, 3]]
    with pytest.raises(ValueError, match="table 0 has no index that names its rows"):
        identities([4, 3], None, None, [whole.index, whole[:3].index])


@pytest.mark.parametrize("kind", [int, str, object])
def test_rows_tied_by_whole_numbers_are_warned_of_unless_they_are_passed_as_ids(kind):
    """Two samples, each counted by itself, lose some rows: the counts that remain agree and mean nothing."""
    first, second = (pd.Index(np.array(rows).astype(kind)) for rows in ([0, 1, 3, 4], [1, 2, 4, 5]))
    with pytest.warns(DataWarning, match=r"2 rows of different tables are taken .* Pass as ids"):
        identities([4, 4], None, None, [first, second])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (one, two) = identities([4, 4], None, [first, second], [None] * 2)
        assert len(np.intersect1d(one, two)) == 2
        named = pd.Index([f"{name}" if name != 4 else "d" for name in first.astype(int)])
        identities([4, 4], None, None, [named, named[::-1]])  # one name that is no count


def test_ids_that_are_missing_name_no_other_row():
    found = identities([2, 2], None, [["a", None], [None, "a"]], [None] * 2)
    assert found[0][0] == found[1][1]
    assert len(np.unique(np.concatenate(found))) == 3
    for missing in (np.nan, np.datetime64("NaT"), pd.NA):
        (first, second) = identities([2, 2], None, [["a", missing], [missing, "a"]], [None] * 2)
        assert first[0] == second[1]
        assert len({*first, *second}) == 3
    names = [pd.array(own, dtype="string") for own in (["a", pd.NA], [pd.NA, "a"])]
    assert len(np.unique(np.concatenate(identities([2, 2], None, names, [None] * 2)))) == 3


def test_tables_without_a_common_row_are_told(tables):
    with pytest.warns(DataWarning, match="groups that share no row: 0, 1; 2"):
        maps = AlignedMaps(max_iter=20, random_state=0).fit(tables, relations=[RELATIONS[0], {}])
    assert np.isfinite(maps.embeddings_[2]).all()


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, ValueError, "relations or ids must be given .table 0 has no index"),
        ({"relations": RELATIONS, "ids": [[1]] * 3}, ValueError, "one without the other"),
        ({"relations": RELATIONS[:1]}, ValueError, "must be 2 of them"),
        ({"relations": "same"}, ValueError, "relations='same' must be 'rows'"),
        ({"relations": [{0: 200}, {}]}, ValueError, "numbers of rows of table 1, from 0 to 199 .found 200"),
        ({"relations": [{-1: 0}, {}]}, ValueError, "numbers of rows of table 0"),
        ({"relations": [{0: 5, 1: 5}, {}]}, ValueError, "rows of table 0 must be of different .*row 0"),
        ({"relations": [{0.5: 1}, {}]}, TypeError, "must be a dict of row numbers"),
        ({"relations": [np.zeros(7, dtype=int), {}]}, ValueError, r"found shape \(7,\)"),
        ({"relations": {(0, 3): {0: 0}}}, ValueError, "key"),
        ({"ids": [np.arange(200)] * 2}, ValueError, "ids of 2 tables"),
        ({"ids": [np.arange(199)] * 3}, ValueError, "ids of table 0 of length 199"),
        ({"ids": [np.zeros(200)] * 3}, ValueError, "occur more than once, such as ids 0.0"),
        ({"y": [0]}, ValueError, "y must be None"),
    ],
)
def test_what_relates_no_rows_is_refused(tables, given, error, text):
    with pytest.raises(error, match=f"AlignedMaps: .*{text}"):
        AlignedMaps(max_iter=5).fit(tables, **given)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"method": "pca"}, ValueError, "a neighbour embedding"),
        ({"method": "nothing"}, ValueError, "a neighbour embedding"),
        ({"method": 3}, TypeError, "method of type int"),
        ({"alignment_weight": 2}, ValueError, "alignment_weight=2 must be a number >= 0 and <= 1 or inf"),
        ({"window": 0}, ValueError, "window"),
        ({"method": UMAP(), "max_iter": 3}, ValueError, "parameters max_iter"),
        ({"method": UMAP(random_state=3)}, ValueError, "Pass random_state to AlignedMaps"),
        ({"anchors": {0: (0, 0)}}, ValueError, "anchors of the method must be left out"),
        ({"init": np.zeros((2, 2))}, ValueError, "init of the method must be the name"),
    ],
)
def test_what_cannot_be_aligned_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        AlignedMaps(**arguments)


def test_tables_and_methods_that_cannot_be_descended_together_are_refused(tables):
    with pytest.raises(ValueError, match="moves each point by its own force"):
        AlignedMaps("two_kernel_pca", max_iter=3).fit(tables, relations=RELATIONS)
    for wrong, found in ((tables[0], "ndarray"), (tables[:1], "a list of 1"), ((), "a tuple of 0"), ("tables", "str")):
        with pytest.raises(ValueError, match=rf"list of two tables or more \(found {found}\)"):
            AlignedMaps().fit(wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="table 1 must be of two distinct rows"):
            AlignedMaps().fit([tables[0], np.ones((5, 3))], relations=[{}])
    with pytest.raises(NotFittedError):
        AlignedMaps().movement()


def test_rows_that_moved_are_told_from_those_that_did_not(tables):
    X = tables[0].copy()
    changed = np.arange(0, 20)
    rng = np.random.default_rng(0)
    later = X + rng.standard_normal(X.shape) * 0.3
    later[changed] = X[rng.permutation(np.arange(100, 120))] + rng.standard_normal((20, X.shape[1])) * 0.3
    maps = AlignedMaps(alignment_weight=0.02, max_iter=150, random_state=0).fit([X, later], relations="rows")
    (found,) = maps.movement(n_repeats=1)
    assert found.rows.shape == (200, 2)
    assert found.null.shape == (2, 200)
    assert found.moved[changed].mean() > 0.7
    assert found.moved[20:].mean() < 0.15
    assert "200 shared rows move" in found.summary()
    again = maps.movement(n_repeats=1)[0]
    np.testing.assert_array_equal(found.null, again.null)


def _of_shares(shares, null_kept, rate, **given):
    """Return the movement of rows that keep these shares of their neighbours, in maps where all go equally far."""
    n = len(shares)
    usual = {
        "distances": np.ones(n),
        "null": np.ones(null_kept.shape),
        "kept": lambda left_out: shares,
        "farther": lambda left_out: np.full(n, np.nan),
        "null_farther": np.full(null_kept.shape, np.nan),
        "n_neighbors": 15,
        "unchanged": np.zeros(n, dtype=bool),
    }
    asked = usual | given
    rows = np.zeros((n, 2), dtype=np.int64)
    return movement_of((0, 1), rows, asked.pop("distances"), asked.pop("null"), rate, null_kept=null_kept, **asked)


def test_rows_too_few_to_be_told_from_chance_are_named():
    rng = np.random.default_rng(0)
    for n_pairs, fewest in ((1, 20), (2, 10), (4, 5), (20, 1)):
        null_kept = 0.2 + 0.8 * rng.random((n_pairs, 400))
        for n_far in (fewest - 1, fewest):
            found = _of_shares(np.where(np.arange(400) < n_far, 0.1, 0.7), null_kept, 0.05)
            assert found.fewest == fewest
            assert found.moved.sum() == (n_far if n_far == fewest else 0)
            goes = "goes" if n_far == 1 else "go"
            said = (
                f"all {null_kept.size:,} rows did by chance, or {goes} farther, but fewer than {fewest} cannot be told"
            )
            assert (said in found.summary()) == (0 < n_far < fewest)


def test_p_values_are_shares_of_chance_and_few_are_chosen_by_chance():
    rng = np.random.default_rng(0)
    null_kept = 1.0 - rng.exponential(size=(4, 500))
    found = _of_shares(1.0 - rng.exponential(size=500), null_kept, 0.05)
    assert abs(np.mean(found.p_values) - 0.5) < 0.05
    assert found.moved.sum() < 5
    far = _of_shares(np.array([-50.0, 1.0]), null_kept, 0.05)
    np.testing.assert_allclose(far.p_values, [1 / 2001, 1.0])
    np.testing.assert_array_equal(far.moved, [True, False])
    assert "no row" in _of_shares(np.empty(0), np.empty((0, 0)), 0.1).summary()


def test_rows_move_only_if_their_values_change_and_they_leave_their_neighbours():
    rng = np.random.default_rng(0)
    null_kept, kept = 0.2 + 0.8 * rng.random((4, 100)), np.where(np.arange(100) % 2, 0.9, 0.1)
    unchanged = np.arange(100) >= 20
    found = _of_shares(kept, null_kept, 0.05, unchanged=unchanged)
    np.testing.assert_array_equal(np.flatnonzero(found.moved), np.arange(0, 20, 2))
    np.testing.assert_array_equal(found.p_values[unchanged], 1.0)
    assert "10 moved" in found.summary()
    assert "80 have the same values in both tables" in found.summary()
    none_known = _of_shares(np.full(2, np.nan), null_kept[:, :2], 0.05)
    np.testing.assert_array_equal(none_known.p_values, 1.0)


def test_rows_that_springs_hold_and_tables_of_much_noise_are_named():
    """Rows 0 to 9 leave their neighbours, of which only 0 to 6 go farther in the maps than by chance."""
    rng = np.random.default_rng(0)
    null, null_kept = rng.random((4, 100)), 0.2 + 0.8 * rng.random((4, 100))
    kept, distances = np.where(np.arange(100) < 10, 0.0, 0.9), np.where(np.arange(100) < 7, 4.0, 0.5)
    found = _of_shares(kept, null_kept, 0.05, null=null, distances=distances)
    np.testing.assert_array_equal(np.flatnonzero(found.held), [7, 8, 9])
    assert "3 of those go no farther in the maps than rows do by chance" in found.summary()
    assert "taken for noise" not in found.summary()
    assert "Rows keep 30% of them in the median, which is taken for noise" in (
        _of_shares(np.full(50, 0.3), null_kept[:, :50], 0.05).summary()
    )


def test_a_row_does_not_move_because_others_left_it():
    """Rows 10 to 19 keep nothing until rows 0 to 9, which move, count no more; rows 20 to 24 until those do neither."""

    def kept(left_out):
        shares = np.full(100, 0.9)
        shares[:10] = 0.0
        shares[10:20] = 0.9 if left_out[:10].all() else 0.0
        shares[20:25] = 0.9 if left_out[:10].all() and not left_out[10:20].any() else 0.0
        return shares

    rng = np.random.default_rng(0)
    found = _of_shares(np.empty(100), 0.2 + 0.8 * rng.random((4, 100)), 0.05, kept=kept)
    np.testing.assert_array_equal(np.flatnonzero(found.moved), np.arange(10))
    np.testing.assert_array_equal(found.kept, np.where(np.arange(100) < 10, 0.0, 0.9))
    assert found.p_values[10:].min() > 0.05


def test_neighbours_that_vanish_are_not_missed_and_equal_values_are_seen(tables):
    from scipy import sparse

    X, kept_rows = tables[0], np.arange(0, 200, 2)
    pairs = np.stack([kept_rows, np.arange(100)], axis=1)
    own = AlignedMaps(max_iter=2, random_state=0).fit([X, X[kept_rows]], relations=[dict(pairs.tolist())]).estimators_
    nobody = np.zeros(100, dtype=bool)
    np.testing.assert_array_equal(KeptInTables(own, (X, X[kept_rows]), pairs)(nobody), 1.0)
    other = X[kept_rows].copy()
    other[3] = X[101]
    for second in (other, sparse.csr_array(other)):
        same = same_values(own[0], (X, second), pairs)
        np.testing.assert_array_equal(np.flatnonzero(~same), [3])
        kept = KeptInTables(own, (X, second), pairs)
        assert kept(nobody)[3] < 0.5
        assert kept(nobody).min() >= 0.0
        np.testing.assert_array_equal(np.flatnonzero(kept(np.arange(100) == 3) < 1.0), [3])  # nobody else changed
        assert np.isnan(kept(~nobody)).all()
    assert not same_values(own[0], (X, other[:, 1:]), pairs).any()
    assert np.isnan(KeptInTables(own, (X, other), pairs[:2])(nobody[:2])).all()


def test_no_row_moves_between_equal_tables_or_by_noise_among_its_neighbours():
    """Springs pull rows from tables further on, and rows that move pull those around them."""
    rng = np.random.default_rng(0)
    centers, state = 4.0 * rng.normal(size=(3, 20)), np.repeat([0, 1, 2], 60)
    first = centers[state] + rng.normal(size=(180, 20))
    later = first + 0.3 * rng.normal(size=(180, 20))
    later[:12] = centers[2] + rng.normal(size=(12, 20))
    noisy = later + 0.3 * rng.normal(size=(180, 20))
    maps = AlignedMaps(max_iter=200, random_state=0).fit([first, first, later, noisy], relations="rows")
    same, moved, noise = maps.movement(n_repeats=2)
    assert same.unchanged.all()
    assert not same.moved.any()
    assert not moved.unchanged.any()
    assert moved.moved[:12].mean() > 0.9
    assert moved.moved[12:].sum() <= 2
    assert np.median(moved.distances[12:]) > np.median(moved.null)
    assert noise.moved.sum() <= 3


def _clusters(noise, n=240, seed=0):
    """Return two tables of three clusters, of which 24 rows change theirs and the others have noise."""
    rng = np.random.default_rng(seed)
    centers, state = 6.0 * rng.normal(size=(3, 8)), np.arange(n) % 3
    first = centers[state] + rng.normal(size=(n, 8))
    later = first + noise * rng.normal(size=(n, 8))
    later[:24] = centers[(state[:24] + 1) % 3] + rng.normal(size=(24, 8))
    return first, later


@pytest.mark.parametrize(("method", "noise"), [("umap", 0.3), ("tsne", 0.0), ("pacmap", 0.3), ("force_atlas2", 0.05)])
def test_rows_that_change_their_cluster_move_and_noise_does_not_in_any_method(method, noise):
    """Also in those whose maps no seed changes, so that the least noise goes farther than other seeds."""
    maps = AlignedMaps(method, max_iter=5, random_state=0).fit(_clusters(noise), relations="rows")
    (found,) = maps.movement(n_repeats=1)
    assert found.moved[:24].all()
    assert found.moved[24:].sum() <= 2


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_of_tables_that_differ_by_noise_alone_no_row_moves(method):
    first = np.random.default_rng(3).normal(size=(200, 6))
    for noise in (1e-3, 0.05):
        later = first + noise * np.random.default_rng(4).normal(size=first.shape)
        maps = AlignedMaps(method, max_iter=5, random_state=0).fit([first, later], relations="rows")
        (found,) = maps.movement(n_repeats=1)
        assert found.moved.sum() <= 1


def test_rows_that_are_drawn_anew_from_their_clusters_do_not_hide_those_that_change_theirs():
    rng = np.random.default_rng(0)
    centers, state = 6.0 * rng.normal(size=(3, 8)), np.arange(450) % 3
    first, later = (centers[state] + rng.normal(size=(450, 8)) for _ in range(2))
    later[:30] = centers[(state[:30] + 1) % 3] + rng.normal(size=(30, 8))
    maps = AlignedMaps(max_iter=5, random_state=0).fit([first, later], relations="rows")
    (found,) = maps.movement(n_repeats=1)
    assert found.n_neighbors == 135
    assert found.moved[:30].all()
    assert found.moved[30:].sum() <= 2
    assert "were most rows to move, they would do the same" in found.summary()


def test_movements_are_told_by_distances_given_and_in_sparse_tables_as_well():
    from scipy import sparse
    from scipy.spatial.distance import cdist

    tables = _clusters(0.2)
    distances = [cdist(X, X) for X in tables]
    for metric, given in (("precomputed", distances), ("cosine", [sparse.csr_array(X) for X in tables])):
        maps = AlignedMaps(metric=metric, max_iter=5, random_state=0).fit(given, relations="rows")
        (found,) = maps.movement(n_repeats=1)
        assert found.moved[:24].mean() > 0.8
        assert found.moved[24:].sum() <= 2


def test_copies_keep_as_many_neighbours_as_asked_for_and_trades_are_permutations():
    from gnomon.methods.aligned.neighbors_kept import nearest_rows, usual_share

    first, later = _clusters(0.0)
    rows = np.arange(240)
    estimator = AlignedMaps(max_iter=2, random_state=0).fit([first, later], relations="rows").estimators_[0]
    near = nearest_rows(estimator, first, rows, 15)
    for target in (0.9, 0.6):
        table, places = (drawn := NoisyCopies(estimator, first, rows, near, 15, target, 0).draw(1))[0]
        assert abs(usual_share(drawn[1]) - target) < 0.05
        np.testing.assert_array_equal(places, rows)
        assert (table != first).any(axis=1).all()
    traded = NoisyCopies(estimator, first, rows, near, 15, 0.1, 0).draw(1)  # more than noise about a place
    (table, places), kept, farther = traded
    assert np.median(farther) == 1.0
    assert table is first
    np.testing.assert_array_equal(np.sort(places), rows)
    np.testing.assert_array_equal(places % 3, rows % 3)  # nobody leaves their cluster
    assert usual_share(kept) < 0.35


@pytest.mark.parametrize("back", [False, True])
def test_rows_that_leave_for_where_nobody_is_or_come_back_move(back):
    """Together they keep their nearest 45 as rows that stay do, of which they are 20 themselves; apart all of them."""
    rng = np.random.default_rng(1)
    base = 3.0 * rng.normal(size=(4, 10))[np.arange(300) % 4]
    first, later = (base + rng.normal(size=base.shape) for _ in range(2))
    apart = later + 0.0
    later[:80:4, :3] += 8.0
    apart[np.arange(12), rng.integers(0, 10, 12)] += 20.0
    for other, who in ((later, np.arange(0, 80, 4)), (apart, np.arange(12))):
        given = [other, first] if back else [first, other]
        (found,) = AlignedMaps(max_iter=2, random_state=0).fit(given, relations="rows").movement(n_repeats=1)
        assert found.moved[who].mean() > 0.9
        assert found.moved.sum() <= len(who) + 2
        assert ", or farther." in found.summary()


def test_how_much_farther_rows_lie_is_that_of_medians_and_no_scale():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(40, 3)), rng.normal(size=(40, 5))
    D = [np.linalg.norm(X[:, None] - X, axis=2) for X in (one, two)]
    near = [np.argsort(d, axis=1)[:, 1:8].astype(np.int32) for d in D]
    rows = np.arange(40)[:, None]
    distances = [[d[rows, J] for J in near] for d in D]
    own = [np.median(distances[t][t], axis=1) for t in (0, 1)]
    lie = [[np.median(distances[t][s], axis=1) / np.median(own[t][near[s]], axis=1) for s in (0, 1)] for t in (0, 1)]
    expected = np.maximum(lie[1][0] / lie[0][0], lie[0][1] / lie[1][1])
    np.testing.assert_allclose(farther_apart(near, distances), expected / np.median(expected))
    scaled = [distances[0], [7.0 * d for d in distances[1]]]
    np.testing.assert_allclose(farther_apart(near, scaled), farther_apart(near, distances))
    few = [np.where(np.arange(7) < 4, J, np.int32(-1)) for J in near]
    assert np.isnan(farther_apart(few, distances)).all()


def test_chance_goes_no_farther_than_in_the_quieter_table_and_spreads_as_usual_rows_do():
    rng = np.random.default_rng(0)
    quiet, loud = np.exp(0.1 * rng.normal(size=(2, 2, 100)))
    loud[:, :30] = 9.0
    one, two = of_lesser_noise(quiet, loud)
    assert (one <= quiet).all()
    assert (two <= loud).all()
    np.testing.assert_array_equal(np.sort(one, axis=None), np.sort(two, axis=None))
    null, kept = np.exp(0.1 * rng.normal(size=(4, 100))), np.full((4, 100), 0.9)
    for scale, who in ((1.0, 10), (4.0, 0)):  # e to the 0.6 is beyond all chance, unless usual rows spread as much
        away = np.exp(0.1 * scale * rng.normal(size=100).clip(-2.0, 2.0))
        away[:10] = np.exp(0.6)
        given = {"farther": lambda left_out, away=away: away, "null_farther": null}
        found = _of_shares(kept[0], kept, 0.05, **given)
        assert found.moved[:10].sum() == who
        assert found.moved[10:].sum() <= 1


def test_of_tables_that_share_no_row_themselves_nothing_is_told(tables):
    """Tables 1 and 2 are linked through table 0 alone."""
    first, second = {row: row for row in range(30)}, {row: row - 30 for row in range(30, 60)}
    maps = AlignedMaps(max_iter=5, random_state=0)
    maps.fit([tables[0][:60], tables[0][:30], tables[0][30:60]], relations={(0, 1): first, (0, 2): second})
    told, nothing = maps.movement(n_repeats=1)
    assert len(told.rows) == 30
    assert nothing.rows.shape == (0, 2)
    assert not len(nothing.moved)
    assert nothing.fewest == 0
    assert nothing.summary().startswith("Tables 1 and 2 share no row: nothing can be told")


def test_the_page_plays_them(tables, tmp_path):
    maps = AlignedMaps(max_iter=20, random_state=0).fit(tables, relations=RELATIONS)
    sequence = maps.sequence(["may", "june", "july"], name="month", main=1)
    assert sequence.embeddings[0].shape == (400, 2)
    assert np.isnan(sequence.embeddings[0]).any(axis=1).sum() == 200
    np.testing.assert_array_equal(sequence.embeddings[1][maps.identities_[1]], maps.embeddings_[1])
    maps.to_html(tmp_path / "page.html", name="month", classes=[np.arange(200) % 3] * 3)
    assert (tmp_path / "page.html").stat().st_size > 10_000
    with pytest.raises(ValueError, match=r"classes\[2\]"):
        maps.to_html(tmp_path / "page.html", classes=[np.arange(7)] * 3)


def test_a_callback_ends_all_maps_at_once(tables):
    seen = []
    maps = AlignedMaps(
        max_iter=100, callback=lambda now: bool(seen.append(now.stage)) or now.done >= 30, random_state=0
    )
    maps.fit(tables, relations=RELATIONS)
    assert {one.n_iter_ for one in maps.estimators_} == {30}
