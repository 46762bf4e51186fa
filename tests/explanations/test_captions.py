"""Captions tell clusters from each other, in true words, and say so where they cannot."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtr, stdtr
from scipy.stats import false_discovery_control, mannwhitneyu, ttest_ind

from gnomon._false_discoveries import normal_deviations
from gnomon.explanations import cluster_captions
from gnomon.explanations.contrast import contrast, sums
from gnomon.explanations.contrast.captions import (
    _best_feature,
    _caption,
    _told_apart,
)
from gnomon.explanations.contrast.errors import rank_p_values
from gnomon.explanations.contrast.few_rows import FewRows
from gnomon.explanations.contrast.held_out import Repeats
from gnomon.explanations.contrast.moments import ClusterMoments, cluster_moments
from gnomon.explanations.contrast.regions import region_means

NAMES = ["CD3D", "LYZ", "NKG7", "flat"]


@pytest.fixture(scope="module")
def cells():
    """Three clusters along a row: the middle one is high in CD3D and LYZ, which the outer ones share with it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    labels = np.repeat(["a", "b", "c"], 100)
    X[labels != "c", 0] += 5
    X[labels != "a", 1] += 5
    X[:, 3] = 1
    return X, labels


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_clusters_are_told_from_each_other_not_only_from_the_rest(cells, form):
    X, labels = cells
    found = cluster_captions(form(X), labels, feature_names=NAMES)
    assert found["a"].text == "low LYZ"
    assert set(found["b"].text.split(", ")) == {"high CD3D", "high LYZ"}
    assert found["c"].text == "low CD3D"
    assert all(caption.fidelity == 1 and not caption.unseparated for caption in found.values())
    assert dict(zip(found["b"].features, found["b"].against, strict=True)) == {"CD3D": ["c"], "LYZ": ["a"]}
    assert found["b"].effect[0] == pytest.approx(5, abs=0.5)


def test_two_clusters_of_the_same_data_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    labels = np.arange(4000) % 3
    X[labels == 2, 1] += 4
    found = cluster_captions(X, labels)
    assert found[0].text == "low feature 1, like 1"
    assert found[0].unseparated == [1]
    assert found[0].fidelity == 0.5
    assert found[2].text == "high feature 1"
    nothing = cluster_captions(X[labels < 2], labels[labels < 2])
    assert nothing[0].text == "no feature sets it apart, like 1"
    assert nothing[0].fidelity == 0


def test_no_two_clusters_that_differ_have_the_same_caption():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 4))
    labels = np.arange(5000) % 4
    X[labels == 3, 0] += 4
    X[labels == 1, 2] += 0.5  # less than what a phrase takes
    found = cluster_captions(X, labels)
    texts = [caption.text for caption in found.values()]
    assert "less feature 2 than 1" in found[0].text
    assert found[1].text.startswith("low feature 0, more feature 2 than")
    assert set(texts) == {found[0].text, found[1].text, found[3].text}  # the data of 0 and 2 do not differ


def test_at_most_so_many_phrases(cells):
    X, labels = cells
    found = cluster_captions(X, labels, n_phrases=1, feature_names=NAMES)
    assert found["b"].text in ("high CD3D", "high LYZ")
    assert len(found["b"].unseparated) == 1


def test_pictures_are_described_by_regions():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 20, (200, 6, 9))
    labels = np.arange(200) % 2
    X[labels == 1, :2, :3] += 200
    X[labels == 0, 4:, 3:6] += 150
    found = cluster_captions(X.reshape(200, -1), labels, image_shape=(6, 9))
    assert found[1].text in ("bright top left", "dark bottom")
    assert found[1].fidelity == 1
    three = cluster_captions(np.repeat(X[..., None], 3, axis=3).reshape(200, -1), labels, image_shape=(6, 9, 3))
    assert three[1].text == found[1].text


def test_order_and_names_of_features_do_not_matter(cells):
    X, labels = cells
    order = [3, 1, 0, 2]
    found = cluster_captions(X, labels, feature_names=NAMES)
    other = cluster_captions(X[:, order], labels, feature_names=[NAMES[j] for j in order])
    assert {label: caption.text for label, caption in found.items()} == {
        label: caption.text for label, caption in other.items()
    }
    document = json.loads(json.dumps(found["b"].to_dict()))
    assert document["text"] == str(found["b"])


def test_wrong_labels_are_refused(cells):
    X, labels = cells
    with pytest.raises(ValueError, match=r"labels must be one for each row \(299 labels, 300 rows\)"):
        cluster_captions(X, labels[1:])
    with pytest.raises(ValueError, match="labels with 1 value"):
        cluster_captions(X, np.zeros(300))
    with pytest.raises(ValueError, match="n_phrases=0 must be an integer >= 1"):
        cluster_captions(X, labels, n_phrases=0)
    with pytest.raises(ValueError, match=r"image_shape=\(3, 3\) must be of n_features=4 pixels"):
        cluster_captions(X, labels, image_shape=(3, 3))
    with pytest.raises(ValueError, match="at least 3 x 3"):
        cluster_captions(X, labels, image_shape=(2, 2))


def test_high_does_not_set_apart_from_a_cluster_that_is_higher():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = np.zeros((300, 2))
    X[:, 0] = np.array([0.0, 10.0, 6.0])[labels] + rng.normal(size=300) * np.array([1.0, 30.0, 1.0])[labels]
    X[:, 1] = np.array([0.0, 5.0, 0.0])[labels] + rng.normal(size=300)
    found = cluster_captions(X, labels, feature_names=["x", "y"])[2]
    assert found.text == "high x, low y"  # y tells it from cluster 1, whose x is too wide to be apart
    assert found.against == [[0], [1]]
    assert found.unseparated == []


def test_a_cluster_between_others_is_called_medium():
    rng = np.random.default_rng(0)
    labels = np.repeat(["short", "middle", "tall"], 40)
    X = rng.normal(size=(120, 3)) * 0.3
    X[:, 1] += np.repeat([0.0, 2.0, 4.0], 40)
    found = cluster_captions(X, labels, feature_names=["a", "size", "b"])
    assert {label: str(caption) for label, caption in found.items()} == {
        "short": "low size",
        "middle": "medium size",
        "tall": "high size",
    }
    assert found["middle"].fidelity == 1.0
    assert sorted(found["middle"].against[0]) == ["short", "tall"]


def test_each_ninth_of_a_picture_has_a_name_of_its_own():
    labels = np.repeat(np.arange(9), 30)
    pictures = 0.1 * np.random.default_rng(0).normal(size=(270, 3, 3))
    for group in range(9):
        pictures[labels == group, group // 3, group % 3] += 5.0
    found = cluster_captions(pictures.reshape(270, 9), labels, image_shape=(3, 3), n_phrases=1)
    assert len({caption.text for caption in found.values()}) == 9
    with pytest.raises(ValueError, match="at least 3 x 3 to have regions"):
        cluster_captions(pictures[:, :2].reshape(270, 6), labels, image_shape=(2, 3))


@pytest.mark.parametrize("numbers", [1 << 22, 2 * 84, 1])
def test_regions_of_pictures_are_means_of_their_pixels(numbers, monkeypatch):
    monkeypatch.setattr("gnomon.explanations.contrast.regions.BLOCK", numbers)
    pictures = np.random.default_rng(0).normal(
        size=(5, 7, 6, 2)
    )  # two channels; the middle rows are two, the first three
    means, names = region_means(pictures.reshape(5, -1), (7, 6, 2))
    rows, columns = np.split(np.arange(7), [3, 5]), np.split(np.arange(6), 3)
    expected = [pictures[:, r][:, :, c].mean(axis=(1, 2, 3)) for r in rows for c in columns]
    np.testing.assert_allclose(means, np.stack(expected, axis=1), atol=1e-12)
    many = np.random.default_rng(1).normal(size=(20, 9))  # more pictures than pixels
    np.testing.assert_allclose(region_means(many, (3, 3))[0], many, atol=1e-12)
    assert len(names) == 9
    with pytest.raises(ValueError, match="at least 3 x 3"):
        region_means(np.zeros((2, 6)), (2, 3))


@pytest.mark.parametrize("g", [0, 2])
def test_gaps_that_may_be_chance_are_those_of_both_tests_at_the_rate_of_false_discoveries(g):
    rng = np.random.default_rng(1)
    sizes = [12, 30, 2, 1]
    rows = [rng.normal(rng.normal(0.0, 0.8, 6), rng.uniform(0.5, 2.0, 6), (size, 6)) for size in sizes]
    means, variances = (np.stack([f(one, axis=0) for one in rows]) for f in (np.mean, np.var))
    moments = ClusterMoments(means, variances, np.array(sizes), 0.1)
    others = [h for h in range(3) if h != g]
    both = [[ttest_ind(rows[g], rows[h], equal_var=equal).pvalue for equal in (False, True)] for h in others]
    p_values = np.stack([np.maximum(welch, student) for welch, student in both])
    found = false_discovery_control(p_values, axis=None) <= 0.1
    assert 0 < found.sum() < found.size
    assert ((moments.gaps(g) != 0.0)[others] == found.reshape(2, 6)).all()
    assert not moments.gaps(g)[[g, 3]].any()  # itself, and a cluster of one row
    every = ClusterMoments(means, variances, np.array(sizes), None).gaps(g)
    spread = np.sqrt((variances[g] + variances) / 2)
    np.testing.assert_allclose(every, (means[g] - means) / spread)
    np.testing.assert_array_equal(moments.gaps(g)[others][found.reshape(2, 6)], every[others][found.reshape(2, 6)])


@pytest.mark.parametrize(
    ("sizes", "draw"),
    [
        ((3, 97), lambda rng, shape: rng.normal(size=shape)),
        ((8, 92), lambda rng, shape: 1.0 * (rng.random(shape) < 0.7)),
        ((5, 95), lambda rng, shape: 1.0 * rng.poisson(0.1, shape)),
        ((5, 95), lambda rng, shape: np.exp(rng.normal(size=shape))),
    ],
)
def test_few_rows_that_vary_little_by_chance_name_nothing(sizes, draw):
    labels = np.repeat([0, 1], sizes)
    named = 0
    for seed in range(20):
        found = cluster_captions(draw(np.random.default_rng(seed), (100, 50)), labels, alpha=0.05)
        named += any(caption.features for caption in found.values())
    assert named <= 3  # by Welch's test alone more than half


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_label_of_few_rows_is_named_by_what_sets_it_apart(n, form):
    labels = np.repeat(["few", "b", "c"], [n, 100, 100])
    X = np.random.default_rng(n).normal(size=(n + 200, 30))
    X[:n, 4] += 9.0
    assert cluster_captions(form(X), labels)["few"].text == "high feature 4"
    assert cluster_captions(form(-X), labels)["few"].text == "low feature 4"
    assert contrast(X, labels == "few").caption().startswith("more feature 4")


def test_ranks_of_few_rows_are_those_of_the_test_of_mann_and_whitney():
    rng = np.random.default_rng(0)
    X, groups = rng.integers(0, 9, (70, 5)).astype(float), np.repeat([0, 1, 2, -1], [3, 40, 17, 10])
    few = FewRows.of(X, groups, 3)
    assert few.judge(0, 1)
    assert few.judge(1, 0)
    assert not few.judge(0, 2)  # 17 rows: t-tests
    assert not few.judge(1, 2)
    p_values, side = few.chances(0, 1)
    found = [mannwhitneyu(X[groups == 0, f], X[groups == 1, f], method="asymptotic").statistic for f in range(5)]
    np.testing.assert_array_equal(side, np.sign(np.array(found) - 60.0))
    np.testing.assert_array_equal(p_values, rank_p_values(np.array(found) / 120.0, (3, 40)))
    np.testing.assert_array_equal(few.chances(1, 0), [p_values, -side])
    assert FewRows.of(X[3:], groups[3:] - 1, 2) is None


def test_a_label_that_nothing_tells_from_a_single_other_is_told_from_all_together():
    labels = np.repeat(np.arange(30), 3)
    X = np.random.default_rng(1).normal(size=(90, 200))
    X[:3, 6] += 5.0
    found = cluster_captions(X, labels)[0]
    assert str(found) == "high feature 6 against all others together"
    whole = contrast(X, labels == 0)
    assert [found.effect[0], found.error[0]] == pytest.approx([whole.effect[0], whole.error[0]])
    assert (found.against, found.fidelity, len(found.unseparated)) == ([[]], 0.0, 29)
    assert cluster_captions(-X, labels)[0].text == "low feature 6 against all others together"


def test_a_small_label_does_not_head_the_caption_of_a_large_one():
    labels = np.repeat(["small", "b", "c"], [20, 230, 250])
    X = np.random.default_rng(0).normal(size=(500, 4))
    X[labels == "small", 0] -= 6.0
    X[labels == "b", 2] -= 1.5
    found = cluster_captions(X, labels)["c"]
    assert (found.text, found.against) == ("high feature 2, high feature 0", [["b"], ["small"]])


def test_the_best_feature_is_large_for_most_clusters_then_by_gaps_up_to_three_deviations():
    left = np.array([True, True, False])
    gaps = np.array([[0.8, 0.79, 3.0], [0.8, 9.0, 0.0], [9.0, 9.0, 9.0]])
    count, f, rows = _best_feature(gaps, left)
    assert (count, f, rows.tolist()) == (2, 0, [0, 1])
    count, f, rows = _best_feature(gaps[:, 1:], left)  # one each: three deviations, and nine, which count as three
    assert (count, f, rows.tolist()) == (1, 0, [1])
    assert _best_feature(np.array([[2.9, 2.5], [0.0, 0.0], [0.0, 0.0]]), left)[1] == 0
    assert _best_feature(np.array([[2.5, 3.5], [0.0, 0.0], [0.0, 0.0]]), left)[1] == 1
    assert _best_feature(np.full((3, 2), 0.79), left)[0] == 0


def test_a_tiny_cluster_does_not_decide_what_a_caption_leads_with():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], [500, 500, 12])
    X = rng.normal(size=(1012, 3))
    X[labels == "b", 0] += 2.5  # far from a, near c
    X[labels == "c", 0] += 2.3
    X[labels == "b", 1] += 1.5  # from both
    for rows, text in ((labels != "c", "high x"), (labels != "", "high x, high y")):
        caption = cluster_captions(X[rows], labels[rows], feature_names=list("xyz"))["b"]
        assert caption.text == text
    assert caption.against == [["a"], ["c"]]
    X[labels == "c", 0] += 40.0  # beyond both: neither "low" nor "medium" of b
    assert cluster_captions(X, labels, feature_names=list("xyz"))["b"].text.startswith("high x")


def test_large_clusters_count_before_tiny_ones_and_these_where_no_other_is_left():
    left, large = np.array([True, True, True]), np.array([True, False, False])
    gaps = np.array([[1.0, 0.9, 0.0], [0.0, 9.0, 9.0], [0.0, 9.0, 9.0]])
    assert _best_feature(gaps, left, large)[:2] == (1.0, 0)
    assert _best_feature(gaps, left)[1] == 1
    count, f, rows = _best_feature(gaps, left & ~large, large)
    assert 0.0 < count < 1.0
    assert (f, rows.tolist()) == (1, [1, 2])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("numbers", [1 << 22, 7])
def test_moments_are_those_of_the_rows_of_each_cluster(form, numbers, monkeypatch):
    monkeypatch.setattr("gnomon.explanations.contrast.moments.BLOCK", numbers)
    X = np.random.default_rng(0).normal(size=(40, 3)) * (np.random.default_rng(1).random((40, 3)) < 0.5) + [0, 100, 0]
    groups = np.append(np.arange(35) % 3, np.full(5, -1))
    found = cluster_moments(form(X), groups, 3, 0.2)
    for g in range(3):
        np.testing.assert_allclose(found.means[g], X[groups == g].mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.variances[g], X[groups == g].var(axis=0), rtol=1e-9)
    assert (found.sizes.tolist(), found.alpha) == ([12, 12, 11], 0.2)


def three_clusters(means, variances=1.0):
    means = np.array(means, dtype=float)
    return ClusterMoments(means, np.full(means.shape, variances), np.full(len(means), 50), None)


def test_a_phrase_takes_a_gap_of_eight_tenths_and_the_side_of_the_mean():
    names, words = ["a", "b"], ("high", "low", "medium")
    moments = three_clusters([[0.8, 0.0], [0.0, 0.8], [0.0, 0.0]])
    first, second, third = (_caption(g, moments, ["x", "y", "z"], names, words, 3) for g in range(3))
    assert (first.text, second.text, third.text) == ("high a", "high b", "low a, low b")
    assert first.against == [["y", "z"]]
    assert third.against == [["x"], ["y"]]
    np.testing.assert_allclose(third.effect, [-0.8, -0.8])
    np.testing.assert_allclose(third.error, np.sqrt(2 / 50 + 0.64 / (4 * 49)))
    weaker = _caption(0, three_clusters([[0.5, 0.0], [0.0, 0.0], [0.0, 0.0]]), ["x", "y", "z"], names, words, 3)
    assert (weaker.text, weaker.effect.tolist(), weaker.fidelity) == ("high a", [0.5], 1.0)  # a second choice
    below = _caption(0, three_clusters([[0.49, 0.0], [0.0, 0.0], [0.0, 0.0]]), ["x", "y", "z"], names, words, 3)
    assert (below.text, below.fidelity, below.unseparated) == ("no feature sets it apart", 0.0, ["y", "z"])


def test_what_a_cluster_is_high_in_comes_before_what_it_is_low_in_though_it_says_less():
    names, words = ["a", "b", "c"], ("high", "low", "medium")

    def told(own, rivals=0.9, n_phrases=3):
        moments = three_clusters([[0.0, 0.0, own], [rivals, 0.0, 0.0], [0.0, rivals, 0.0]])
        return _caption(0, moments, ["x", "y", "z"], names, words, n_phrases)

    assert (told(0.5).text, told(0.5).against, told(0.5).fidelity) == ("high c", [["y", "z"]], 1.0)
    assert told(0.49).text == "low a, low b"  # less than a second choice takes
    assert told(0.8, rivals=1.61).text == "high c"  # of large differences alone one phrase is better than two
    assert told(0.79, rivals=1.58).text == "high c"
    assert told(0.79, rivals=1.59).text == "low a, low b"  # which say more than twice as much
    one = told(0.79, rivals=1.59, n_phrases=1)
    assert (one.text, one.against, one.unseparated) == ("high c", [["y", "z"]], [])  # no low one tells of z
    none = told(0.6, rivals=0.6)
    assert (none.text, none.unseparated) == ("high c", [])
    alone = _caption(0, three_clusters([[0.0, 0.7], [0.9, 0.0]]), ["x", "y"], ["a", "b"], words, 3)
    assert alone.text == "low a"  # one large difference tells it from all others


def test_one_lack_gives_way_to_what_a_cluster_has_nearly_as_much_more_of():
    names, words = ["a", "b"], ("high", "low", "medium")

    def told(own, rival, others=2):
        moments = three_clusters([[0.0, own], *[[rival, 0.0]] * (others - 1), [rival, 0.1]])
        return _caption(0, moments, list("xyzw")[: others + 1], names, words, 3)

    assert (told(2.11, 3.0, others=1).text, told(2.09, 3.0, others=1).text) == ("high b", "low a")
    found = told(2.11, 9.0)  # a lack of more than three deviations separates no better
    assert (found.text, found.against, found.unseparated) == ("high b", [["y", "z"]], [])
    assert told(2.09, 9.0).text == "low a"  # too little against z
    assert told(0.85, 0.9).text == "low a"  # less than a first choice takes, against z
    assert told(0.91, 0.9).text == "high b"


def test_low_stays_where_no_high_tells_from_a_cluster():
    moments = three_clusters([[0.0, 0.0, 0.6], [0.9, 0.0, 0.6], [0.0, 0.9, 0.0]])
    found = _caption(0, moments, ["x", "y", "z"], ["a", "b", "c"], ("high", "low", "medium"), 3)
    assert (found.text, found.against, found.unseparated) == ("high c, low a", [["z"], ["y"]], [])
    np.testing.assert_allclose(found.effect, [0.6, -0.9])


def test_low_stays_where_high_takes_more_phrases():
    others = [[0.9, 0.0, 0.0, 0.6, 0.6], [0.9, 0.0, 0.6, 0.0, 0.6], [0.0, 0.9, 0.6, 0.6, 0.0]]
    moments = three_clusters([[0.0, 0.0, 0.6, 0.6, 0.6], *others])
    found = _caption(0, moments, list("xyzw"), list("abcde"), ("high", "low", "medium"), 3)
    assert (found.text, found.against) == ("low a, low b", [["y", "z"], ["w"]])


def test_a_topic_of_sparse_words_is_named_by_its_own():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 300)
    shares = np.full((5, 10), 0.01)
    shares[np.arange(5), np.arange(5)] = [0.24, 0.4, 0.4, 0.4, 0.4]  # the first word differs by 0.75 deviations
    found = rng.random((1500, 10)) < shares[labels]
    told = [f"{found[labels == k, k].mean():.0%} have feature {k}" for k in range(5)]  # which is not most rows
    assert [one.text for one in cluster_captions(sp.csr_array(found.astype(np.float32)), labels).values()] == told
    weights = sp.csr_array(found * rng.uniform(0.5, 1.5, found.shape))
    assert [one.text for one in cluster_captions(weights, labels).values()] == [f"high feature {k}" for k in range(5)]


def test_a_printed_caption_says_from_which_clusters_it_does_not_tell():
    labels = [f"T{k}" for k in range(7)]
    means = np.zeros((7, 2))
    means[:2, 0] = 3.0
    words = ("high", "low", "medium")
    moments = three_clusters(means)
    plain = [_caption(g, moments, labels, ["a", "b"], words, 3) for g in range(7)]
    captions = _told_apart(plain, moments, labels, ["a"])
    assert str(captions[0]) == "high a, like T1"  # which it says already
    assert str(captions[2]) == "low a, like T3 (not told from T4, T5, T6)"
    assert captions[2].text == "low a, like T3"
    means[2:, 1] = np.arange(5) / 3
    own = _caption(0, three_clusters(np.vstack([means, means[2]])), [*labels, "T7"], ["a", "b"], words, 3)
    assert str(own) == "high a (not told from T1)"
    many = _caption(0, three_clusters([[1.0], *[[1.0]] * 5, [0.0]]), labels, ["a"], words, 3)
    assert str(many) == "high a (not told from T1, T2, T3 and 2 others)"
    assert str(_caption(0, three_clusters([[0.0]] * 7), labels, ["a"], words, 3)) == "no feature sets it apart"


def test_the_effect_of_a_phrase_is_the_smallest_gap_to_those_it_sets_apart():
    found = _caption(
        0, three_clusters([[3.0], [1.0], [0.0], [2.51]]), list("xyzw"), ["a"], ("high", "low", "medium"), 3
    )
    assert (found.text, found.against, found.unseparated) == ("high a", [["y", "z"]], ["w"])
    np.testing.assert_allclose(found.effect, [2.0])
    assert found.fidelity == pytest.approx(2 / 3)


def test_a_phrase_also_tells_from_clusters_that_differ_by_half_a_deviation_in_what_it_says():
    words = ("high", "low", "medium")

    def told(means):
        labels = list("vwxyz")[: len(means)]
        return _caption(0, three_clusters(means), labels, ["a", "b"], words, 3)

    found = told([[3.0], [1.0], [0.0], [2.5]])
    assert (str(found), found.against, found.unseparated, found.fidelity) == ("high a", [["w", "x", "y"]], [], 1.0)
    np.testing.assert_allclose(found.effect, [0.5])
    assert told([[3.0], [1.0], [0.0], [3.5]]).unseparated == ["y"]  # which is higher: "high a" is no less true of it
    both = told([[3.0, 3.0], [0.0, 3.0], [3.0, 0.0], [2.4, 2.3]])  # with the feature that differs most
    assert (str(both), both.against) == ("high a, high b", [["w"], ["x", "y"]])
    middle = told([[2.0], [0.0], [4.0], [1.4], [2.6]])
    assert (str(middle), middle.against) == ("medium a", [["w", "x", "y", "z"]])  # in either direction
    few = ClusterMoments(np.array([[3.0], [0.0], [2.4]]), np.ones((3, 1)), np.array([50, 50, 4]), 0.05)
    assert _caption(0, few, list("xyz"), ["a"], words, 3).unseparated == ["z"]  # it may be chance


def test_every_cluster_is_either_set_apart_by_a_feature_or_told_as_one_from_which_none_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        moments = ClusterMoments(rng.normal(0.0, 0.7, (9, 3)), np.ones((9, 3)), np.full(9, 100), 0.05)
        for g in range(9):
            found = _caption(g, moments, list(range(9)), ["a", "b", "c"], ("high", "low", "medium"), 3)
            apart = [h for rows in found.against for h in rows]
            assert sorted(apart + found.unseparated) == [h for h in range(9) if h != g]
            signs = [{"high": 1.0, "low": -1.0}.get(phrase.split()[0], 0.0) for phrase in found.text.split(", ")]
            for f, sign in zip(
                found.indices, signs, strict=False
            ):  # without a feature there is a sentence all the same
                gaps = moments.gaps(g)[found.unseparated, f]
                assert ((sign * gaps if sign else np.abs(gaps)) < 0.5).all()
            assert found.fidelity == len(apart) / 8


def test_twins_are_told_apart_by_three_tenths_of_a_deviation():
    words = ("high", "low", "medium")

    def told(means):
        moments = three_clusters(means)
        captions = [_caption(g, moments, ["x", "y", "z"], ["a", "b"], words, 1) for g in range(3)]
        return [one.text for one in _told_apart(captions, moments, ["x", "y", "z"], ["a", "b"])]

    assert told([[0.0, 0.0], [0.0, 0.3], [5.0, 0.0]]) == ["low a, less b than y", "low a, more b than x", "high a"]
    assert told([[0.0, 0.0], [0.0, 0.29], [5.0, 0.0]]) == ["low a, like y", "low a, like x", "high a"]


def test_a_rate_of_false_discoveries_leaves_out_what_may_be_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 30))
    labels = np.arange(16) % 2
    X[labels == 1, 4] += 6.0
    plain, tested = cluster_captions(X, labels, alpha=None), cluster_captions(X, labels)
    assert (tested[1].text, tested[1].fidelity) == ("high feature 4", 1.0)
    few = np.array([-1.0, -0.4, 0.4, 1.0, -0.2, 0.4, 1.2, 1.8])[:, None]  # a large gap, of four rows each
    assert cluster_captions(few, np.repeat([0, 1], 4), alpha=None)[1].text == "high feature 0"
    assert cluster_captions(few, np.repeat([0, 1], 4))[1].text == "no feature sets it apart, like 0"
    assert plain[1].headline() == "fidelity 1"
    for wrong in (0.0, 1.0):
        with pytest.raises(ValueError, match="alpha="):
            cluster_captions(X, labels, alpha=wrong)


def test_labels_at_random_have_captions_that_name_no_feature():
    rng = np.random.default_rng(0)
    found = cluster_captions(rng.normal(size=(400, 100)), rng.integers(0, 4, 400))
    assert [one.text for one in found.values()] == [f"no feature sets it apart, like {k}" for k in (1, 0, 0, 0)]


def test_a_difference_that_is_small_but_no_chance_is_told_without_saying_that_there_is_none():
    X = np.random.default_rng(0).normal(size=(800, 3))
    X[400:, 1] += 0.5
    found = cluster_captions(X, np.repeat(["a", "b"], 400))
    assert [one.text for one in found.values()] == ["less feature 1 than b", "more feature 1 than a"]


def test_the_tails_that_captions_test_by_bound_those_of_student():
    degrees, ratio = np.array([1.0, 3.0, 8.0, 20.0, 200.0])[:, None], np.geomspace(0.01, 8.0, 200)[None, :]
    quotient = ndtr(-normal_deviations(ratio, degrees)) / stdtr(degrees, -ratio)
    assert quotient.min() > 0.99
    assert quotient[1:].max() < 3.0
    assert quotient[3:].max() < 1.2


def test_three_phrases_are_said_unless_more_are_asked_for():
    labels = np.repeat(np.arange(6), 20)
    X = 0.1 * np.random.default_rng(0).normal(size=(120, 5))
    for group in range(1, 6):
        X[labels == group, group - 1] -= 5.0
    texts = [cluster_captions(X, labels, **asked)[0].text for asked in ({}, {"n_phrases": 3}, {"n_phrases": 9})]
    assert [text.count("high") for text in texts] == [3, 3, 5]


def test_infinite_gaps_of_clusters_without_spread_are_found():
    moments = ClusterMoments(np.array([[0.0, 1.0], [2.0, 1.0]]), np.zeros((2, 2)), np.array([5, 5]), 0.05)
    np.testing.assert_array_equal(moments.gaps(0), [[0.0, 0.0], [-np.inf, 0.0]])


def _bits(shares, n=100):
    """Return columns of 0 and 1 that so many of the n rows of each cluster have, and the clusters."""
    blocks = [np.column_stack([np.arange(n) * 7 % n < round(n * one) for one in cluster]) for cluster in shares]
    return np.concatenate(blocks).astype(float), np.repeat(list("abcdefg")[: len(shares)], n)


def _texts(X, labels, **options):
    return [one.text for one in cluster_captions(X, labels, feature_names=["u", "v"][: X.shape[1]], **options).values()]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.uint8), lambda X: X.astype(bool)])
def test_a_bit_is_named_for_what_most_rows_have_or_lack(form):
    X, labels = _bits([(0.45, 0.2), (0.0, 0.6), (0.0, 0.6)])
    assert _texts(form(X), labels)[0] == "low v"  # though u differs more
    X, labels = _bits([(0.4, 0.5), (0.0, 0.5)])
    assert _texts(form(X), labels) == ["40% have u", "low u"]
    X, labels = _bits([(0.6, 0.5), (1.0, 0.5)])
    assert _texts(form(X), labels) == ["only 60% have u", "high u"]
    X, labels = _bits([(0.0,), (0.55,), (1.0,)])
    assert _texts(form(X), labels)[1] == "high u, less u than c"  # a bit is never medium


def test_a_feature_of_two_values_of_which_none_is_zero_has_a_higher_one():
    X, labels = _bits([(0.4, 0.5), (0.0, 0.5)])
    assert _texts(3.0 + 0.1 * X, labels) == ["40% high u", "low u"]
    assert _texts(-X, labels) == ["only 60% high u", "high u"]
    X = np.concatenate([X, X])
    X[-1, 0] = 0.5  # a third value, long after the first rows
    assert _texts(X, np.tile(labels, 2)) == ["high u", "low u"]
    assert _texts(sp.csr_array(X), np.tile(labels, 2)) == ["high u", "low u"]


def test_a_cluster_without_spread_in_the_middle_of_others_is_medium():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cluster_captions(X, np.repeat(["a", "b", "c"], 10))
    assert [found[name].text for name in "abc"] == ["low feature 0", "medium feature 0", "high feature 0"]


def test_moments_are_those_of_all_rows_at_once_to_the_bit(monkeypatch):
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(500, 7)).astype(np.float32)
    groups = np.arange(500) % 3 - 1
    monkeypatch.setattr(sums, "_HELD", 7 * 20)
    found = cluster_moments(X, groups, 2, None)
    for group in range(2):
        rows = X[groups == group].astype(np.float64)
        mean = rows[0] + (rows - rows[0]).sum(axis=0) / len(rows)
        np.testing.assert_array_equal(found.means[group], mean)
        np.testing.assert_array_equal(found.variances[group], ((rows - mean) ** 2).sum(axis=0) / len(rows))


@pytest.mark.parametrize("copies", [1, 2, 4, 8])
def test_chance_is_judged_between_rows_that_do_not_repeat_others(copies):
    named = 0
    for seed in range(6):
        draw = np.random.default_rng(seed)
        X = np.repeat(draw.normal(size=(100, 20)), copies, axis=0)
        labels = np.repeat(draw.integers(0, 3, 100), copies)
        found = cluster_captions(X + 0.05 * draw.normal(size=X.shape), labels)
        named += any(len(caption) for caption in found.values())
    assert named <= 1


def test_repeats_take_no_difference_that_there_is():
    draw = np.random.default_rng(0)
    labels = np.repeat(np.arange(60) % 2, 4)
    X = np.repeat(draw.normal(size=(60, 5)), 4, axis=0) + 3.0 * labels[:, None] * [1, 0, 0, 0, 0]
    found = cluster_captions(X + 0.02 * draw.normal(size=X.shape), labels)
    assert [caption.features for caption in found.values()] == [["feature 0"]] * 2
    alone = cluster_captions(X[::4], labels[::4])
    assert found[0].error == pytest.approx(alone[0].error, rel=0.1)


def test_groups_without_repeats_keep_one_row_of_each_set():
    repeats = Repeats(np.array([0, 0, 1, 1, -1, 2, 2]))
    groups = np.array([0, 0, 0, 1, 1, -1, 1])
    assert repeats.without(groups).tolist() == [0, -1, 0, 1, 1, -1, 1]
