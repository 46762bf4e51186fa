"""What a scorecard says beside its values: intervals, chance, what is left out, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import pearsonr
from scipy.stats import t as student

from gnomon.evaluation import MEASURES, QUALITIES, evaluate, scorecard
from gnomon.evaluation.intervals import Estimate, Sampling
from gnomon.evaluation.subject import Subject
from gnomon.evaluation.taking import Taking
from gnomon.neighbors import compute_neighbors

SAMPLED = [  # measures whose intervals are about the rows that were not drawn
    "auc_rnx",
    "topographic_product",
    "q_global",
    "shepard",
    "pearson",
    "stress",
    "raw_stress",
    "non_metric_stress",
    "random_triplets",
    "trustworthiness",
    "continuity",
    "neighborhood_preservation",
    "q_local",
    "mrre_false",
    "mrre_missing",
    "local_radius_correlation",
    "silhouette",
    "local_r2",
]
ALL_BUT_WALKS = [name for name in MEASURES if name not in ("steadiness", "cohesiveness")]
QUICK = ["trustworthiness", "shepard", "stress", "knn_accuracy", "silhouette", "local_radius_correlation"]


def make(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [5, 4, 1, 1, 1, 1]
    return X, X[:, :2] + 0.5 * rng.normal(size=(n, 2)), np.digitize(X[:, 0], [-3, 3])


@pytest.fixture(scope="module")
def noisy():
    return make()


@pytest.fixture(scope="module")
def card(noisy):
    return scorecard(*noisy)


@pytest.fixture(scope="module")
def few():
    return make(150)


def values(found):
    return {name: one.value for name, one in found.items()}


def test_every_measure_is_taken_or_its_absence_is_told(card):
    assert {*card, *card.skipped} == set(MEASURES)
    assert {*card.skipped} <= {"knn_r2", "topology_h1"}
    assert card.skipped["knn_r2"] == "there are no measured labels"
    assert list(card.by_quality()) == list(QUALITIES)
    assert sum(map(len, card.by_quality().values())) == len(card)
    for name, one in card.items():
        assert one.measure.low <= one.value <= one.measure.high, name
        assert one.exact is (one.interval is None), name
        assert one.exact or name not in SAMPLED, name  # all rows are anchors
        assert one.measure.definition
        assert one.measure.source


def test_a_perfect_map_has_the_best_values_and_a_random_one_its_chance(noisy, few):
    X, _, labels = few
    perfect = scorecard(X, 3 * X + 1, labels)
    for name, one in perfect.items():
        if name in ("intrinsic_dimension", "dimension_ratio", "raw_stress"):
            continue
        if name in ("knn_accuracy", "neighborhood_hit", "silhouette", "distance_consistency"):
            continue  # of classes, which are not told apart without error
        assert one.value == pytest.approx(one.measure.best, abs=0.15 if name == "local_r2" else 1e-6), name
    X, Y, labels = noisy
    shuffled = np.random.default_rng(1).permutation(len(Y))
    labels = labels[np.random.default_rng(2).permutation(len(Y))]
    told = [name for name in ALL_BUT_WALKS if name != "topology_h1"]  # which has no chance
    chance = scorecard(X, Y[shuffled], labels, measures=told)
    for name, one in chance.items():
        if one.chance is not None and name != "centroid_triplets":  # of three centroids
            room = 0.12 if "radius" in name else 0.06
            assert one.value == pytest.approx(one.chance, abs=room), name


def test_measures_shared_with_evaluate_are_the_same(noisy):
    X, Y, labels = noisy
    old, new = evaluate(X, Y, labels=labels), scorecard(X, Y, labels, measures=["trustworthiness", "continuity"])
    assert old.trustworthiness == pytest.approx(new["trustworthiness"].value, abs=1e-12)
    assert old.continuity == pytest.approx(new["continuity"].value, abs=1e-12)
    graph = compute_neighbors(X, 15)
    for n_anchors in (None, 50):
        names = ["neighborhood_preservation", "knn_accuracy"]
        found = scorecard(X, Y, labels, graph=graph, n_anchors=n_anchors, measures=names)
        expected = evaluate(X, Y, labels=labels, graph=graph)
        for name in ("neighborhood_preservation", "knn_accuracy"):
            assert found[name].exact
            assert found[name].value == getattr(expected, name)
            assert found[name].chance == expected.random_map[name]


@pytest.fixture(scope="module", params=["even", "clustered", "curved"])
def judged(request):
    """A map of 300 rows with its exact values, and scorecards from 60 of them."""
    rng = np.random.default_rng(7)
    n = 300
    X, Y, labels = make(n, 3)
    if request.param == "clustered":
        labels = rng.integers(0, 5, n)
        X = 4 * rng.normal(size=(5, 6))[labels] + rng.normal(size=(n, 6))
        Y = 6 * rng.normal(size=(5, 2))[labels] + X[:, :2] + 0.5 * rng.normal(size=(n, 2))
    elif request.param == "curved":
        t, h = rng.uniform(4, 14, n), rng.uniform(0, 10, n)
        X = np.column_stack([t * np.cos(t), t * np.sin(t), h]) + 0.2 * rng.normal(size=(n, 3))
        Y, labels = np.column_stack([t, 0.3 * h]) + 0.2 * rng.normal(size=(n, 2)), (t // 3).astype(int)
    exact = values(scorecard(X, Y, labels, measures=SAMPLED, n_pairs=None))
    seeds = range(1, 21)
    return exact, [scorecard(X, Y, labels, measures=SAMPLED, n_anchors=60, random_state=seed) for seed in seeds]


def test_intervals_hold_the_exact_values_at_the_stated_rate(judged):
    exact, found = judged
    held = {
        name: np.mean([one[name].interval[0] <= value <= one[name].interval[1] for one in found])
        for name, value in exact.items()
    }
    # Of twenty intervals of 95 % fewer than fifteen hold by chance once in three thousand times.
    assert min(held.values()) >= 0.75, held
    assert np.mean(list(held.values())) >= 0.9, held
    for name, value in exact.items():  # and they are no wider than they have to be
        half = np.mean([one[name].interval[1] - one[name].value for one in found])
        assert half < 5.0 * np.std([one[name].value for one in found]) + 1e-9, name
        assert abs(np.mean([one[name].value for one in found]) - value) < half, name
        assert not any(one[name].exact for one in found)


def test_curves_are_the_scores_over_sizes_and_their_bands_shrink(noisy):
    X, Y, _ = noisy
    found = scorecard(X, Y, n_neighbors=9, measures=["trustworthiness", "mrre_false", "neighborhood_preservation"])
    curves, at = found.curves, int(np.searchsorted(found.curves.sizes, 9))
    assert curves.trustworthiness[at] == pytest.approx(found["trustworthiness"].value, abs=1e-12)
    assert curves.mrre_false[at] == pytest.approx(found["mrre_false"].value, abs=1e-12)
    assert curves.q_nx[at] == pytest.approx(found["neighborhood_preservation"].value, abs=1e-12)
    assert all(not half.any() for half in curves.half_widths.values())
    few, many = (scorecard(X, Y, measures="auc_rnx", n_anchors=m).curves.half_widths["q_nx"] for m in (20, 200))
    assert np.all(many[:-1] <= few[:-1])
    assert many.max() > 0


def test_narrower_confidence_gives_narrower_intervals(noisy):
    X, Y, labels = noisy
    given = {"measures": ["auc_rnx", "shepard", "steadiness"], "n_anchors": 60}
    wide, narrow = (scorecard(X, Y, labels, confidence=c, **given) for c in (0.99, 0.5))
    for name in given["measures"]:
        assert wide[name].value == narrow[name].value
        assert np.diff(wide[name].interval) > 2.0 * np.diff(narrow[name].interval)


def test_jackknife_of_a_mean_is_its_standard_error():
    drawn = np.random.default_rng(0).exponential(size=(40, 1))
    sampling = Sampling(100, 40)
    mean = sampling.mean(drawn.ravel())
    same = sampling.of_sums(lambda sums: sums[..., 0] / np.where(sums.ndim == 1, 40.0, 39.0), drawn)
    assert same.value == pytest.approx(mean.value)
    assert same.interval == pytest.approx(mean.interval)
    half = 2.0226909 * np.sqrt(drawn.var(ddof=1) / 40 * (1 - 40 / 100))  # Student's t, 39 degrees
    assert mean.interval[1] - mean.value == pytest.approx(half, rel=1e-6)
    assert Sampling(40, 40).mean(drawn.ravel()).interval is None


@pytest.mark.parametrize("n_anchors", [None, 60])
def test_same_bits_for_any_number_of_threads(noisy, n_anchors):
    some = [part[:150] for part in noisy]
    one, two = (scorecard(*some, n_anchors=n_anchors, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    for name in ("data", "map", "levels"):
        assert getattr(one.shepard, name).tobytes() == getattr(two.shepard, name).tobytes()
    other = scorecard(*noisy, measures="auc_rnx", n_anchors=60, random_state=1)
    assert other["auc_rnx"].value != scorecard(*noisy, measures="auc_rnx", n_anchors=60)["auc_rnx"].value


def test_rows_without_a_place_are_left_out_and_counted(few):
    X, Y, labels = few
    holes, torn = np.array([0, 17, 149]), Y.copy()
    torn[holes, 0] = np.nan
    kept = np.setdiff1d(np.arange(150), holes)
    given = {"measures": ALL_BUT_WALKS}
    found, expected = scorecard(X, torn, labels, **given), scorecard(X[kept], Y[kept], labels[kept], **given)
    assert found.n_left_out == 3
    assert values(found) == values(expected)
    assert "3 rows have no place in the map and are left out" in found.summary()


def test_rows_without_a_label_take_no_part_in_measures_of_classes(noisy):
    X, Y, labels = noisy
    known = np.random.default_rng(0).random(400) < 0.8
    given = np.where(known, labels.astype(object), None)
    found = scorecard(X, Y, given, measures=["silhouette", "distance_consistency", "centroid_triplets"])
    expected = scorecard(X[known], Y[known], labels[known], measures=list(found))
    assert values(found) == pytest.approx(values(expected))
    assert found["silhouette"].n_rows == known.sum()
    near = np.argsort(cdist(Y, Y) + 1e9 * np.eye(400), axis=1)[:, :15]
    same = (known[near] & (labels[near] == labels[:, None])).sum(axis=1) / known[near].sum(axis=1)
    hits = scorecard(X, Y, given, measures="neighborhood_hit")["neighborhood_hit"]
    assert hits.value == pytest.approx(same[known].mean())


def test_labels_that_are_no_classes_are_told(noisy):
    X, Y, _ = noisy
    of_classes = ["centroid_triplets", "knn_accuracy", "neighborhood_hit", "silhouette", "distance_consistency"]
    measured = scorecard(X, Y, Y[:, 0], measures=[*of_classes, "knn_r2"])
    assert list(measured) == ["knn_r2"]
    assert measured["knn_r2"].value == pytest.approx(evaluate(X, Y, labels=Y[:, 0]).knn_r2)
    assert set(measured.skipped.values()) == {"the labels are measured and so no classes"}
    for labels in (None, ["one"] * 400):
        found = scorecard(X, Y, labels, measures=of_classes)
        assert set(found.skipped.values()) == {"there are no labels of two classes"}
        assert found.summary().count("left out: ") == 1
    two = scorecard(X, Y, Y[:, 0] > 0, measures="centroid_triplets")
    assert two.skipped == {"centroid_triplets": "it needs three classes"}


def test_distances_alone_tell_what_they_can(noisy):
    X, Y, labels = noisy
    apart = cdist(X, X)
    given = {"measures": ALL_BUT_WALKS}
    found = scorecard(apart, Y, labels, metric="precomputed", **given)
    expected = scorecard(X, Y, labels, **given)
    assert {"local_r2", "centroid_triplets"} <= found.skipped.keys()
    by_columns = {"intrinsic_dimension", "dimension_ratio"}  # of distances there may be more than there are columns
    told = {name: value for name, value in values(found).items() if name not in by_columns}
    assert told == pytest.approx({name: expected[name].value for name in told}, abs=1e-6)
    assert found["intrinsic_dimension"].value >= expected["intrinsic_dimension"].value


def test_sparse_and_small_numbers_give_the_same(noisy):
    rng = np.random.default_rng(0)
    X = (rng.random((150, 12)) < 0.4) * rng.integers(1, 200, (150, 12)) * 1.0
    Y = X[:, :2] + rng.normal(size=(150, 2))
    names = [*QUICK, "centroid_triplets", "auc_rnx", "local_r2", "topology_h0"]
    labels = np.arange(150) % 4
    expected = values(scorecard(X, Y, labels, measures=names))
    for form in (sp.csr_matrix(X), X.astype(np.float32), X.astype(np.uint8)):
        assert values(scorecard(form, Y, labels, measures=names)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.filterwarnings("ignore:.* places? of the map:gnomon.exceptions.DataWarning")
def test_duplicates_and_collapsed_maps_give_finite_values_or_nan():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 12, axis=0)
    labels = np.repeat(np.arange(10), 12)
    for Y in (X[:, :2], np.zeros((120, 2))):
        found = scorecard(X, Y, labels, n_neighbors=5, measures=ALL_BUT_WALKS)
        for name in ("auc_rnx", "trustworthiness", "random_triplets", "silhouette", "neighborhood_hit", "shepard"):
            assert np.isfinite(found[name].value), name
        assert np.isnan(found["topographic_product"].value)  # distances to neighbours are zero
        assert found.summary()
    assert found["random_triplets"].value == pytest.approx(0.5, abs=0.07)
    assert found.skipped["topology_h0"] == "all rows lie at one place"


@pytest.mark.parametrize("n", [3, 4, 5, 7])
def test_a_few_rows_have_a_scorecard(n):
    X, Y, _ = make(n)
    found = scorecard(X, Y, np.arange(n) % 2)
    assert found.n_neighbors == max(1, (n - 1) // 2)
    assert found["pearson"].exact
    assert found.to_dict()["scores"].keys() == found.scores.keys()


def test_large_tables_are_sampled_and_say_so():
    X, Y, labels = make(2500)
    found = scorecard(X, Y, labels, n_anchors=30, measures=["topology_h0", "steadiness", "shepard", "knn_accuracy"])
    assert found["topology_h0"].n_rows == 1000
    assert found["steadiness"].n_rows == 2000
    assert found["knn_accuracy"].exact
    for name in ("topology_h0", "steadiness", "shepard"):
        assert found[name].interval[0] < found[name].value < found[name].interval[1]
    assert "ranks of 30 of 2,500 rows" in found.summary()


def test_a_table_of_the_scores_has_all_they_say(card):
    pandas = pytest.importorskip("pandas")
    frame = card.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.index) == list(card)
    assert frame.loc["stress", "direction"] == "lower is better"
    assert frame.loc["trustworthiness", "direction"] == "higher is better"
    assert frame.loc["intrinsic_dimension", "direction"] == "describes, does not judge"
    assert frame.loc["shepard", "n_pairs"] == 400 * 399 // 2


def test_wrong_arguments_are_refused(noisy):
    X, Y, labels = noisy
    with pytest.raises(ValueError, match="scorecard: measures='trust' must be one of 'all', 'auc_rnx'"):
        scorecard(X, Y, measures="trust")
    with pytest.raises(ValueError, match="scorecard: measures must be 'all' or at least one name"):
        scorecard(X, Y, measures=[])
    with pytest.raises(ValueError, match=r"scorecard: confidence=1\.0 must be a number > 0 and < 1"):
        scorecard(X, Y, confidence=1.0)
    with pytest.raises(ValueError, match="n_anchors=1 must be an integer >= 2"):
        scorecard(X, Y, n_anchors=1)
    with pytest.raises(ValueError, match="n_pairs=0 must be an integer >= 1"):
        scorecard(X, Y, n_pairs=0)
    with pytest.raises(ValueError, match="X with 400 rows and Y with 399 must be of the same length"):
        scorecard(X, Y[:-1])
    with pytest.raises(ValueError, match="n_neighbors=200 must be below half the number of rows in the map"):
        scorecard(X, Y, n_neighbors=200)
    with pytest.raises(ValueError, match="3 labels, 400 rows"):
        scorecard(X, Y, labels[:3])
    with pytest.raises(ValueError, match=r"X of shape \(400, 6\) must be square, of the distances of all rows"):
        scorecard(X, Y, metric="precomputed")
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(ValueError, match="the first in row 3, column 1"):
        scorecard(hole, Y)


def test_the_page_of_measures_lists_each_in_the_table_of_its_quality():
    page = (Path(__file__).parents[2] / "docs" / "scorecard.md").read_text()
    sections = re.split(r"^### ", page.split("## The measures")[1].split("## What the intervals")[0], flags=re.M)[1:]
    for quality, section in zip(QUALITIES, sections, strict=True):
        listed = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*) \|", section, flags=re.M)))
        assert listed == [name for name, one in MEASURES.items() if one.quality == quality]


def test_the_page_of_measures_tells_the_range_of_each_and_its_best_value():
    page = (Path(__file__).parents[2] / "docs" / "scorecard.md").read_text()
    rows = re.findall(r"^\| (`[^|]*) \|[^|]*\| ([^|]*) \|", page.split("## The measures")[1], flags=re.M)
    told = {name: cell for names, cell in rows for name in re.findall(r"`(\w+)`", names)}
    assert told.keys() == MEASURES.keys()
    for name, one in MEASURES.items():
        span, _, best = told[name].rpartition(", ")
        low, high = re.fullmatch(r"(?:from )?(-?\d)?(?:any)?(?: ?to (\d))?", span).groups()
        assert (one.low, one.high) == (float(low or "-inf"), float(high or "inf")), name
        assert one.best == (None if best == "describes" else float(best)), name


def test_values_of_the_rows_have_the_score_as_their_mean(card):
    by_row = {name: one.by_row for name, one in card.items() if one.by_row is not None}
    assert {"auc_rnx", "trustworthiness", "continuity", "neighborhood_preservation", "local_r2"} <= set(by_row)
    assert not {"stress", "shepard", "q_local"} & set(by_row)
    for name, values in by_row.items():
        assert np.nanmean(values) == pytest.approx(card[name].value, abs=1e-12)
        assert np.count_nonzero(np.isfinite(values)) == card[name].n_rows


def test_measures_can_be_taken_one_by_one(noisy):
    X, Y, labels = noisy
    subject = Subject.of(X, Y, labels, None, 8, "euclidean")
    given = {"metric": "euclidean", "graph": None, "n_anchors": None, "n_pairs": None, "confidence": 0.95, "seed": 0}
    taking = Taking(subject, **given)
    expected = scorecard(X, Y, labels, n_neighbors=8, measures=QUICK)
    assert {name: taking.take(name).estimate.value for name in QUICK} == values(expected)


def test_measures_that_need_no_ranks_find_none(monkeypatch):
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(100, 4)), np.arange(100) % 3
    whole = scorecard(X, X[:, :2], labels)
    monkeypatch.setattr("gnomon.evaluation.taking.rank_anchors", None)
    found = scorecard(X, X[:, :2], labels, measures=["distance_consistency", "silhouette"])
    assert (found.curves, found.shepard, found.local_size) == (None, None, None)
    assert {name: one.value for name, one in found.items()} == {name: whole[name].value for name in found}
    assert found.to_dict()["curves"] is None


@pytest.mark.parametrize("n_anchors", [None, 50])
def test_scores_say_what_they_rest_on_and_what_a_map_without_knowledge_gets(noisy, n_anchors):
    X, Y, labels = noisy
    n, k, m = 400, 15, n_anchors or 400
    found = scorecard(X, Y, labels, n_anchors=n_anchors, n_pairs=500, measures=ALL_BUT_WALKS)
    of_all = {"knn_accuracy", "neighborhood_hit", "distance_consistency", "centroid_triplets", "topology_h0"}
    dimensions = {"intrinsic_dimension", "dimension_ratio"}
    drawn_always = {"topology_h1", *dimensions}
    for name, one in found.items():
        assert one.n_rows == (n if name in of_all | dimensions else 300 if name == "topology_h1" else m), name
        kept_pairs = name in ("shepard", "non_metric_stress")
        assert one.exact == (name in of_all or (m == n and name not in drawn_always and not kept_pairs)), name
    pairs = m * (n - 1) // (2 if m == n else 1)
    assert {name: one.n_pairs for name, one in found.items() if one.n_pairs is not None} == {
        "shepard": m * (500 // m),
        "non_metric_stress": m * (500 // m),
        "pearson": pairs,
        "stress": pairs,
        "raw_stress": pairs,
        "random_triplets": m * (n - 1) * (n - 2) // 2,
        "centroid_triplets": 3,
    }
    counts = np.bincount(labels)
    same = np.sum(counts * (counts - 1)) / (n * (n - 1))
    chances = {name: one.chance for name, one in found.items()}
    assert chances["neighborhood_hit"] == pytest.approx(same)
    assert chances["neighborhood_preservation"] == pytest.approx(k / (n - 1))
    for name in ("auc_rnx", "topology_h0", "shepard", "pearson", "local_radius_correlation", "local_r2"):
        assert chances[name] == 0.0
    for name in ("random_triplets", "centroid_triplets"):
        assert chances[name] == 0.5
    for name in ("topographic_product", *drawn_always):
        assert chances[name] is None


@pytest.mark.parametrize("n_anchors", [None, 50])
def test_shares_kept_near_and_far_have_the_mean_share_of_other_rows_by_chance(noisy, n_anchors):
    X, Y, labels = noisy
    subject = Subject.of(X, Y, labels, None, metric="euclidean", n_neighbors=15)
    given = {"n_anchors": n_anchors, "n_pairs": 500, "confidence": 0.95, "seed": 0}
    taking = Taking(subject, metric="euclidean", graph=None, **given)
    shares = np.arange(1, 400) / 399
    curve = taking.ranks.coranked.sum(axis=0)
    kept = np.cumsum(curve[1:]) / np.arange(1, 400) / len(taking.anchors)
    size = int(np.argmax(kept - shares)) + 1
    assert taking.local_size == size
    for name, part in (("q_local", slice(size)), ("q_global", slice(size - 1, None))):
        assert taking.take(name).chance == pytest.approx(shares[part].mean(), abs=1e-12)
        assert taking.take(name).estimate.value == pytest.approx(kept[part].mean(), abs=1e-12)


def test_scores_of_labels_are_of_all_rows_unless_the_map_has_too_many_axes_for_a_tree(noisy):
    X, Y, labels = noisy
    for given, names in ((labels, ["knn_accuracy", "neighborhood_hit"]), (X[:, 0], ["knn_r2"])):
        few = scorecard(X, np.tile(Y, 4), given, n_anchors=50, measures=names)  # eight axes
        many = scorecard(X, np.tile(Y, 5), given, n_anchors=50, measures=names)  # ten: the same nearest rows
        whole = scorecard(X, np.tile(Y, 5), given, measures=names)
        for name in names:
            assert (few[name].n_rows, few[name].exact, few[name].interval) == (400, True, None)
            assert (whole[name].n_rows, whole[name].exact, whole[name].interval) == (400, True, None)
            assert few[name].value == pytest.approx(whole[name].value, abs=1e-9)
            assert (many[name].n_rows, many[name].exact) == (50, False)
            low, high = many[name].interval
            assert low < many[name].value < high
            assert many[name].chance == whole[name].chance


def test_measured_labels_have_the_r2_of_the_mean_of_their_neighbours():
    """By chance it is -1 / k: the mean of k labels that know nothing has an error of 1 + 1 / k of the variance."""
    rng = np.random.default_rng(0)
    Y, target = rng.normal(size=(60, 2)), 1e6 + rng.normal(size=60)
    near = np.argsort(cdist(Y, Y) + 1e9 * np.eye(60), axis=1)[:, :10]
    expected = 1 - np.sum((target - target[near].mean(axis=1)) ** 2) / np.sum((target - target.mean()) ** 2)
    found = scorecard(Y, Y, target, n_neighbors=3, measures=["knn_r2"])["knn_r2"]
    assert found.value == pytest.approx(expected, abs=1e-6)
    assert found.chance == pytest.approx(-0.1)


def test_a_sample_of_few_values_has_the_intervals_of_the_textbook():
    """Student's intervals of a sample of 6 of 24 rows, with the correction of a finite population."""
    sampling = Sampling(24, 6, 0.9)
    values = np.array([1.0, 2.0, 4.0, 8.0, 9.0, 3.0])
    assert sampling.unseen == 0.75

    def half(variance, degrees):
        return student.ppf(0.95, degrees) * np.sqrt(0.75 * variance)

    def interval(found):
        return found.interval[0] - found.value, found.interval[1] - found.value

    mean = half(values.var(ddof=1) / 6, 5)
    assert sampling.mean(values).value == values.mean()
    assert interval(sampling.mean(values)) == pytest.approx((-mean, mean))
    with_holes = sampling.mean(np.array([*values[:4], np.nan, np.nan]))
    assert with_holes.value == 3.75
    assert interval(with_holes)[1] == pytest.approx(half(values[:4].var(ddof=1) / 4, 3))
    assert sampling.mean(np.array([3.0, np.nan])) == Estimate(3.0)
    assert np.isnan(sampling.mean(np.array([np.nan])).value)

    sums = np.column_stack([values, np.ones(6)])
    jackknife = sampling.of_sums(lambda total: total[..., 0] / total[..., 1], sums)
    assert jackknife.value == pytest.approx(values.mean())
    assert interval(jackknife) == pytest.approx((-mean, mean))
    assert sampling.of_sums(lambda total: total[..., 0] / total[..., 1], sums[:2]) == Estimate(1.5)
    assert interval(sampling.of_sums(lambda total: total[..., 0] / total[..., 1], sums[:3]))[1] == pytest.approx(
        half(values[:3].var(ddof=1) / 3, 2)
    )

    groups = sampling.of_groups(4.0, [*values, np.nan])
    assert groups.value == 4.0
    assert interval(groups) == pytest.approx((-mean, mean))
    assert sampling.of_groups(4.0, [1.0, np.nan]) == Estimate(4.0)
    assert interval(sampling.of_groups(4.0, [1.0, 3.0])) == pytest.approx((-half(1.0, 1), half(1.0, 1)))

    other = np.array([2.0, 1.0, 5.0, 7.0, 9.0, 1.0])
    a, b = (one - one.mean() for one in (values, other))
    r = pearsonr(values, other).statistic
    influence = a * b / (a.std() * b.std()) - r / 2 * (a**2 / a.var() + b**2 / b.var())
    correlation = sampling.of_correlation(values, other)
    assert correlation.value == pytest.approx(r)
    assert interval(correlation)[1] == pytest.approx(half(influence.var() / 6, 5))
    assert np.isnan(sampling.of_correlation(values, np.ones(6)).value)
    assert np.isnan(sampling.of_correlation(values[:1], other[:1]).value)
    assert sampling.of_correlation(values[:2], other[:2]).value == pytest.approx(-1.0)

    for whole in (Sampling(6, 6).mean(values), Sampling(6, 6).of_groups(4.5, values)):
        assert whole == Estimate(4.5)


def test_resampled_groups_of_a_mean_have_about_its_interval():
    values = np.random.default_rng(0).normal(size=(25, 1))
    found = Sampling(10**9, 25).of_resampled(lambda total: total[..., 0] / 25, values, 0)
    assert found.value == pytest.approx(values.mean())
    half = student.ppf(0.975, 24) * values.std(ddof=1) / 5
    assert found.interval[1] - found.value == pytest.approx(half, rel=0.15)
    assert found.value - found.interval[0] == pytest.approx(found.interval[1] - found.value)
    assert found == Sampling(10**9, 25).of_resampled(lambda total: total[..., 0] / 25, values, 0)
    assert found != Sampling(10**9, 25).of_resampled(lambda total: total[..., 0] / 25, values, 1)
    assert Sampling(25, 25).of_resampled(lambda total: total[..., 0], values, 0).interval is None
    assert Sampling(50, 25).of_resampled(lambda total: total[..., 0], values[:2], 0).interval is None


@pytest.mark.parametrize(("n_pairs", "of_each"), [(1, 1), (120, 2), (10**6, 399), (None, 399)])
def test_pairs_are_of_each_anchor_as_many_as_there_are_at_most(noisy, n_pairs, of_each):
    X, Y, _ = noisy
    found = scorecard(X, Y, n_anchors=50, n_pairs=n_pairs, measures=["shepard"])["shepard"]
    assert found.n_pairs == 50 * of_each
    assert not found.exact
    whole = scorecard(X, Y, n_pairs=79800, measures=["shepard"])["shepard"]
    assert (whole.n_pairs, whole.exact) == (79800, True)
    assert not scorecard(X, Y, n_pairs=79799, measures=["shepard"])["shepard"].exact


@pytest.mark.parametrize("n_anchors", [None, 60])
def test_curves_have_half_the_width_of_the_intervals_at_every_size(noisy, n_anchors):
    X, Y, _ = noisy
    names = ["trustworthiness", "continuity", "neighborhood_preservation", "mrre_false", "mrre_missing"]
    found = scorecard(X, Y, n_anchors=n_anchors, measures=names)
    curves = found.curves
    at = int(np.flatnonzero(curves.sizes == 15)[0])
    for name, curve in zip(names, ("trustworthiness", "continuity", "q_nx", "mrre_false", "mrre_missing"), strict=True):
        assert getattr(curves, curve)[at] == pytest.approx(found[name].value)
        low, high = found[name].interval or (0.0, 0.0)
        assert curves.half_widths[curve][at] == pytest.approx((high - low) / 2)
    np.testing.assert_allclose(curves.r_nx[at], (399 * curves.q_nx[at] - 15) / (399 - 15))
    assert curves.sizes[0] == 1
    assert curves.sizes[-1] == 398  # of all 399 others every map keeps every one
    assert np.isnan(curves.trustworthiness[curves.sizes >= 200]).all()
    assert np.isfinite(curves.trustworthiness[curves.sizes < 200]).all()
    plain = curves.to_dict()
    assert plain["trustworthiness"][-1] is None
    assert plain["sizes"] == curves.sizes.tolist()


def test_rows_that_follow_each_other_are_told_with_their_dimension():
    rng = np.random.default_rng(0)
    frames = np.cumsum(rng.normal(size=(200, 3)), axis=0)
    found = scorecard(frames, frames[:, :2], measures=["intrinsic_dimension"])
    assert found.caution.startswith("Rows that follow each other in the table are more alike")
    assert found.caution in found.summary().splitlines()
    assert found.to_dict()["caution"] == found.caution
    half = np.arange(200) < 100
    for name in ("knn_accuracy", "neighborhood_hit", "silhouette", "distance_consistency"):
        told = scorecard(frames, frames[:, :2], half, measures=[name])
        assert "share a label for that alone" in told.caution
        assert scorecard(frames, frames[:, :2], measures=[name]).caution == ""  # no labels, no score
    both = scorecard(frames, frames[:, :2], half, measures=["knn_accuracy", "dimension_ratio"]).caution
    assert both.count("Rows that follow each other") == 1
    assert "not that of the data, and neighbours are those next in order" in both
    assert scorecard(frames, frames[:, :2], measures=["stress"]).caution == ""
    assert scorecard(rng.permutation(frames), frames[:, :2], measures=["dimension_ratio"]).caution == ""


def test_rows_have_no_more_dimensions_than_directions():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    found = scorecard(np.repeat(X, 2, axis=1), X, measures=["intrinsic_dimension", "dimension_ratio"])
    free = scorecard(squareform(pdist(X)), X, metric="precomputed", measures=["intrinsic_dimension"])
    assert free["intrinsic_dimension"].interval[1] > 2
    assert found["intrinsic_dimension"].value <= 2
    assert found["intrinsic_dimension"].interval[1] == 2
    assert found["dimension_ratio"].interval[0] == 1
