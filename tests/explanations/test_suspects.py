"""Rows whose neighbours in the data disagree with their label."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import gnomon as gn
from gnomon.explanations.suspects import Suspects, _Sureness, _weight_behind, _weights, find_suspects
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.viewer import PageContent
from gnomon.viewer.document import Document


def line_of(n):
    return np.arange(n, dtype=np.float32)[:, None] ** 1.1


def two_clusters(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    X[100:, 0] += 12.0
    return X, np.repeat(["left", "right"], 100)


def judged(indices, distances, labels, n_top=20, mask=None, small=(None,)):
    """Find suspects where each label but some has twenty more rows, near each other, so that its class is not small."""
    n, k = indices.shape
    more = [label for label in dict.fromkeys(labels) if label not in small]
    ring = [[n + 20 * c + (i + step) % 20 for step in range(1, k + 1)] for c in range(len(more)) for i in range(20)]
    whole = None if mask is None else np.concatenate([mask, np.ones((len(ring), k), np.bool_)])
    graph = NeighborGraph(
        np.concatenate([indices, np.array(ring, np.int32)]),
        np.concatenate([distances, np.ones((len(ring), k), np.float32)]),
        whole,
    )
    return find_suspects(graph, [*labels, *(label for label in more for _ in range(20))], n_top)


def test_the_score_is_the_weight_of_neighbours_with_other_labels():
    distances = np.array([[1.0, 2.0, 4.0]] * 4, dtype=np.float32)
    indices = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], dtype=np.int32)
    found = judged(indices, distances, ["a", "a", "b", "b"])
    near, middle, far = np.exp(-0.5 * np.array([1 / 4, 2 / 4, 1.0]) ** 2)
    total = near + middle + far
    expected = [1 - near / total, 1 - near / total, 1 - far / total, 1 - far / total]
    np.testing.assert_allclose(found.scores[:4], expected, rtol=1e-12)
    assert found.rows.tolist() == [2, 3, 0, 1]  # of equal scores the lower row number first
    assert (found.labels, found.votes) == (["b", "b", "a", "a"], ["a", "a", "b", "b"])
    np.testing.assert_allclose(found.share, 2 / 3)


def test_the_vote_is_that_of_scikit_learn_with_the_row_left_out():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(80, 3)).astype(np.float32), rng.integers(0, 3, 80)
    graph = compute_neighbors(X, 7)
    found = find_suspects(graph, labels, 80)
    for row in range(80):
        kept = np.arange(80) != row
        model = KNeighborsClassifier(7, weights=lambda d: np.exp(-0.5 * (d / d.max(axis=1, keepdims=True)) ** 2))
        model.fit(X[kept], labels[kept])
        chances = dict(zip(model.classes_, model.predict_proba(X[[row]])[0], strict=True))
        assert found.scores[row] == pytest.approx(1 - chances.get(labels[row], 0.0), abs=1e-5)
        listed = np.flatnonzero(found.rows == row)
        assert len(listed) == (model.predict(X[[row]])[0] != labels[row])
        if len(listed):
            assert found.votes[listed[0]] == str(model.predict(X[[row]])[0])


def test_planted_errors_are_listed_first_and_nothing_else():
    X, labels = two_clusters()
    wrong = np.array([3, 50, 120])
    given = labels.copy()
    given[wrong] = np.where(labels[wrong] == "left", "right", "left")
    found = gn.Map(X, X[:, :2], labels=given, point_names=[f"p{i}" for i in range(200)]).suspects()
    assert sorted(found.rows) == wrong.tolist()
    assert found.n_suspects == len(found) == 3
    assert sorted(found.names) == ["p120", "p3", "p50"]
    assert roc_auc_score(given != labels, found.scores) == 1.0
    assert str(found).startswith("3 of 200 labelled rows have another label than their 15 neighbours")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["rows"][0].keys() == {"row", "name", "score", "share", "label", "vote"}
    assert len(found.head(1)) == len(found.columns()["row"][:1]) == 1


def test_the_data_are_asked_and_not_the_map():
    X, labels = two_clusters()
    scattered = np.random.default_rng(1).normal(size=(200, 2))
    assert len(gn.Map(X, scattered, labels=labels).suspects()) == 0
    assert "0 of 200" in str(gn.Map(X, scattered, labels=labels).suspects())


def test_rows_without_a_label_have_no_score_and_no_vote():
    X, labels = two_clusters()
    gaps = labels.astype(object)
    gaps[::2] = None
    gaps[1] = "right"
    found = gn.Map(X, X[:, :2], labels=gaps).suspects()
    assert np.isnan(found.scores[::2]).all()
    assert np.isfinite(found.scores[1::2]).all()
    assert found.rows.tolist() == [1]
    assert found.share.tolist() == [1.0]
    alone = find_suspects(compute_neighbors(line_of(8), 2), ["a", None, None, None, None, None, None, "b"])
    assert np.isnan(alone.scores).all()
    assert len(alone) == 0


def test_copies_and_neighbours_that_are_not_there():
    copies = find_suspects(compute_neighbors(np.zeros((6, 2), np.float32), 3), [0, 0, 0, 0, 1, 1])
    assert copies.rows.tolist() == [4, 5]
    assert copies.scores[5] == 1.0
    indices = np.array([[1, 2, 2], [0, 2, 3], [0, 1, 3], [2, 1, 0]], np.int32)
    distances = np.array([[1, 2, np.inf], [1, 2, 3], [2, 3, 4], [1, 2, 3]], np.float32)
    mask = np.isfinite(distances)
    found = judged(indices, distances, ["a", "a", "b", "b"], mask=mask)
    near, far = np.exp(-0.5 * np.array([1 / 2, 1.0]) ** 2)
    assert found.scores[0] == pytest.approx(far / (near + far))  # the entry that repeats a neighbour has no vote


def test_a_score_colours_the_page():
    X, labels = two_clusters()
    labels[3] = "right"
    made = gn.Map(X, X[:, :2], labels=labels)
    made.metadata["suspect"] = made.suspects().scores
    payload = Document.of(PageContent.of(made), None).payload
    (column,) = (one for one in payload.header["columns"] if one["name"] == "suspect")
    assert column["role"] == "metadata"
    (shown,) = (columns[column["key"]] for columns in payload.groups.values() if column["key"] in columns)
    np.testing.assert_array_equal(shown, made.suspects().scores)
    assert shown[3] == 1.0
    assert shown.min() == 0.0


def test_maps_without_classes_are_refused():
    X, _ = two_clusters()
    with pytest.raises(ValueError, match=r"^suspects: a map must be one with labels"):
        gn.Map(X, X[:, :2]).suspects()
    with pytest.raises(ValueError, match=r"^suspects: .*classes.*numpy\.digitize"):
        gn.Map(X, X[:, :2], labels=X[:, 0].astype(np.float64)).suspects()
    with pytest.raises(ValueError, match=r"n_top=0 must be"):
        gn.Map(X, X[:, :2], labels=np.repeat([0, 1], 100)).suspects(0)
    with pytest.raises(ValueError, match="2 rows"):
        gn.Map(X[:1], X[:1, :2], labels=[0]).suspects()


def test_the_share_counts_the_neighbours_that_vote_and_ties_go_to_the_nearer():
    indices = np.array([[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]], np.int32)
    distances = np.array([[1, 2, 2], [1, 1, 1], [1, 1, 2], [1, 1, 2]], np.float32)
    found = judged(indices, distances, ["a", "b", None, "c"])
    assert found.rows.tolist() == [0, 1, 3]
    assert found.votes == ["b", "a", "a"]  # row 1: a and c have the same weight, and a is nearer
    np.testing.assert_allclose(found.share, [0.5, 0.5, 0.5])  # of two that have a label
    np.testing.assert_allclose(found.scores[:4], [1.0, 1.0, np.nan, 1.0])
    assert judged(indices, distances, ["a", "b", None, "c"], 2).rows.tolist() == [0, 1]


def test_a_row_whose_own_label_has_as_much_weight_is_no_suspect():
    indices = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    found = judged(indices, np.ones((3, 2), np.float32), ["a", "b", "a"])
    np.testing.assert_allclose(found.scores[:3], [0.5, 1.0, 0.5])
    assert found.rows.tolist() == [1]


def test_suspects_are_printed_and_given_as_records():
    found = Suspects(
        rows=np.array([7, 11]),
        names=None,
        score=np.array([1.0, 0.625]),
        scores=np.array([1.0, 0.625, np.nan, 0.0]),
        n_neighbors=3,
        labels=["a", "b"],
        votes=["b", "c"],
        share=np.array([1.0, 2 / 3]),
        n_suspects=2000,
    )
    assert str(found).splitlines() == [
        "2,000 of 3 labelled rows have another label than their 3 neighbours in the data vote for",
        "row  label  neighbours say  their share  score",
        "7        a               b            1      1",
        "11       b               c       0.6667  0.625",
    ]
    assert found.to_dict() == {
        "question": "suspects",
        "n_neighbors": 3,
        "rows": [
            {"row": 7, "score": 1.0, "share": 1.0, "label": "a", "vote": "b"},
            {"row": 11, "score": 0.625, "share": 2 / 3, "label": "b", "vote": "c"},
        ],
        "n_suspects": 2000,
        "n_by_chance": None,
        "n_wrong_at_most": None,
        "n_labelled": 3,
        "n_alone": 0,
        "n_repeats": 0,
        "weakness": "",
    }
    assert "vote for; 1 row has its label alone and is not judged" in replace(found, n_alone=1).headline()
    assert "vote for; 1,200 have theirs alone and are not judged" in replace(found, n_alone=1200).headline()


def test_the_headline_says_how_many_labels_at_random_would_be_suspect():
    rng = np.random.default_rng(0)
    graph, labels = compute_neighbors(rng.normal(size=(400, 4)).astype(np.float32), 15), rng.integers(0, 4, 400)
    found = find_suspects(graph, labels)
    assert abs(found.n_suspects - found.n_by_chance) < 25
    assert str(found).splitlines()[0].endswith(f"vote for; of labels given at random about {found.n_by_chance} would")
    X, sides = two_clusters()
    found = find_suspects(compute_neighbors(X, 15), sides)
    assert (found.n_suspects, found.n_by_chance) == (0, 100)


def _overlapping(n_wrong, seed):
    """Return the neighbours of two classes that overlap, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 400)
    X = rng.normal(size=(1200, 2)) + 3.0 * np.array([[0, 0], [1, 0], [9, 0]])[labels]
    wrong = rng.choice(1200, n_wrong, replace=False)
    labels[wrong] = (labels[wrong] + rng.integers(1, 3, n_wrong)) % 3
    return compute_neighbors(X, 15), labels


def test_wrong_labels_are_bounded_by_the_sure_votes_and_not_by_the_rows_between_classes():
    held = []
    for seed in range(4):
        for n_wrong in (0, 20, 80):
            graph, labels = _overlapping(n_wrong, seed)
            found = find_suspects(graph, labels)
            held.append(found.n_wrong_at_most >= n_wrong)
            assert found.n_wrong_at_most <= 1.5 * n_wrong + 20
            assert n_wrong == 80 or found.n_suspects > found.n_wrong_at_most  # some lie between classes
            told = f"at most about {found.n_wrong_at_most} are wrong" in found.headline()
            assert told == (found.n_suspects > found.n_wrong_at_most)
    assert np.mean(held) >= 0.9


def test_the_share_of_sure_votes_is_that_of_labels_drawn_anew():
    graph, labels = _overlapping(80, 0)
    codes, n = labels[graph.indices], len(labels)
    weights = _weights(graph, codes >= 0)
    shares = np.bincount(labels) / n
    total = weights.sum(axis=1)
    of_label = np.stack([(weights * (codes == c)).sum(axis=1) for c in range(3)], axis=1) / total[:, None]
    vote, best = of_label.argmax(axis=1), of_label.max(axis=1)
    behind = _weight_behind(codes, weights)
    sure = _Sureness(codes, weights, labels, vote, behind, best * total, total, shares)
    for least in (0.5, 0.8):
        expected = np.zeros(n)
        for i in range(n):
            others = [c for c in range(3) if c != labels[i]]
            chosen = [shares[c] for c in others if c != vote[i] and best[i] - of_label[i, c] >= least]
            expected[i] = sum(chosen) / sum(shares[c] for c in others)
        np.testing.assert_allclose(sure._chance_of(least, np.ones(n, dtype=bool)), expected, atol=1e-12)


def test_neighbours_that_know_nothing_of_the_labels_are_called_out():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(400, 3)), rng.integers(0, 4, 400)
    lost = find_suspects(compute_neighbors(X, 15), labels)
    assert str(lost).splitlines()[1].startswith("The neighbours vote for the label of only 2")
    assert lost.to_dict()["weakness"] == lost.weakness != ""
    X[:, 0] += 9 * labels
    known = find_suspects(compute_neighbors(X, 15), labels)
    assert (known.n_suspects, known.weakness) == (0, "")
    labels = np.repeat([0, 1], [360, 40])  # one in five is wrong, nearly as many as chance would doubt of these
    X = rng.normal(size=(400, 3)) + 9.0 * labels[:, None]
    labels[::5] = 1 - labels[::5]
    noisy = find_suspects(compute_neighbors(X, 15), labels)
    assert noisy.n_suspects > 0.5 * noisy.n_by_chance
    assert noisy.weakness == ""


def test_twenty_suspects_are_listed_the_most_doubtful_first():
    rng = np.random.default_rng(0)
    graph, labels = compute_neighbors(rng.normal(size=(90, 2)).astype(np.float32), 9), rng.integers(0, 2, 90)
    found, every = find_suspects(graph, labels), find_suspects(graph, labels, 90)
    assert len(found) == 20 < len(every) == found.n_suspects == every.n_suspects
    assert (np.diff(every.score) <= 0).all()
    np.testing.assert_array_equal(found.rows, every.rows[:20])


def rare_classes(k, seed=0):
    """One large class and five of k rows far from it and from each other."""
    rng = np.random.default_rng(seed)
    rare = [0.5 * rng.normal(size=(k, 6)) + 12 * np.eye(6)[c] for c in range(5)]
    X = np.concatenate([rng.normal(size=(200, 6)), *rare]).astype(np.float32)
    return X, np.array(["main"] * 200 + [f"rare{c}" for c in range(5) for _ in range(k)], dtype=object)


@pytest.mark.parametrize("k", [2, 3, 5, 6, 8])
@pytest.mark.parametrize("n_neighbors", [5, 15])
def test_rows_of_a_small_pure_class_are_not_doubted_for_its_size(k, n_neighbors):
    X, labels = rare_classes(k)
    found = find_suspects(compute_neighbors(X, n_neighbors), labels)
    assert len(found) == 0
    np.testing.assert_array_equal(found.scores[200:], 0.0)


@pytest.mark.parametrize("k", [5, 6, 8])
def test_wrong_labels_are_found_in_small_classes_and_of_small_classes(k):
    X, labels = rare_classes(k)
    given = labels.copy()
    given[[10, 20]] = "rare0"  # rows of the large class
    given[[200 + 2 * k, 200 + 3 * k]] = "main", "rare4"  # rows of rare2 and rare3
    found = find_suspects(compute_neighbors(X, 15), given)
    assert sorted(found.rows) == [10, 20, 200 + 2 * k, 200 + 3 * k]
    assert dict(zip(found.rows.tolist(), found.votes, strict=True))[200 + 2 * k] == "rare2"
    assert roc_auc_score(given != labels, found.scores) == 1.0


def test_the_row_of_a_pair_is_judged_by_the_nearest_row():
    X, labels = rare_classes(2)
    labels[[3, 4]] = "pair"  # in the midst of the large class, not beside each other
    found = find_suspects(compute_neighbors(X, 15), labels)
    assert sorted(found.rows) == [3, 4]
    np.testing.assert_array_equal(found.share, 1.0)


def test_a_row_alone_with_its_label_is_not_judged_and_that_is_said():
    X, labels = two_clusters()
    labels = labels.astype(object)
    labels[[5, 9]] = "one", "two"
    found = find_suspects(compute_neighbors(X, 15), labels)
    assert (len(found), found.n_alone, found.to_dict()["n_labelled"]) == (0, 2, 198)
    assert np.isnan(found.scores[[5, 9]]).all()
    assert str(found).endswith("would; 2 have theirs alone and are not judged")


def test_few_votes_of_a_small_class_do_not_cast_doubt_on_a_large_one():
    """A row whose nearest neighbour has a label of two rows is judged by three."""
    indices = np.array([[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]], np.int32)
    distances = np.array([[1, 2, 2], [1, 2, 2], [1, 2, 2], [1, 2, 2]], np.float32)
    found = judged(indices, distances, ["rare", "main", "main", "main"], small=("rare",))
    assert found.rows.tolist() == []
    near, far = np.exp(-0.125), np.exp(-0.5)
    np.testing.assert_allclose(found.scores[1], near / (near + 2 * far))
