"""Groups that were found in the rows differ in them by construction: answers say so, but not of known groups."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets

import gnomon as gn
from gnomon.maps.found import follows_map, told_of_labels
from gnomon.maps.partition import are_cells, cut_column

TOLD = "groups found in these rows differ in them by construction"


def halves(places):
    """Cut a map in two, as a lasso does."""
    return places[:, 0] > np.median(places[:, 0])


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    return gn.map(rng.normal(size=(400, 12)), method="umap", random_state=0)


def relabelled(m, labels, name="label", **more):
    return gn.Map(m.X, m.embedding, labels=labels, label_name=name, **more)


def test_a_lasso_through_one_cloud_is_told_in_the_headline(cloud):
    found = cloud.contrast(halves(cloud.embedding))
    assert found.n_beyond_chance
    assert "The selection follows the map" in found.headline()
    assert TOLD in found.headline()


def test_a_lasso_that_nothing_sets_apart_needs_no_caution(cloud):
    chosen = np.random.default_rng(1).random(cloud.n_samples) < 0.5
    found = cloud.contrast(chosen)
    assert found.n_beyond_chance == 0
    assert TOLD not in found.headline()


def test_a_selection_by_a_feature_is_not_of_the_map(cloud):
    assert TOLD not in cloud.contrast(cloud.X[:, 0] > 0).headline()


def test_labels_cut_from_the_map_are_told_in_every_answer(cloud):
    m = relabelled(cloud, np.where(halves(cloud.embedding), "right", "left"))
    assert TOLD in m.profiles().caution
    assert TOLD in m.captions().caution
    assert TOLD in m.contrast("left").headline()
    assert m.report(verdicts=False).count(TOLD) == 1
    units = np.arange(m.n_samples) % 40
    assert TOLD in m.profiles(units=units).caution
    assert TOLD in m.contrast("left", units=units).headline()


@pytest.mark.parametrize("name", ["leiden", "louvain_0.5", "Seurat clusters", "kmeans10", "k-means", "RNA_snn_res.0.8"])
def test_labels_named_as_clusters_are_told_though_they_do_not_follow_the_map(cloud, name):
    above = np.where(cloud.X[:, 0] > 0, "a", "b")
    m = relabelled(cloud, above, name)
    assert f"{name} is named as clusters are: {TOLD}" in m.profiles().caution
    assert told_of_labels(relabelled(cloud, np.full(400, "a"), name)) == ""  # one group sets nothing apart
    aside = relabelled(cloud, np.where(cloud.X[:, 1] > 0, "c", "d"), "type", metadata={name: above})
    assert TOLD in aside.contrast(aside.metadata[name] == "a").headline()
    assert TOLD not in aside.contrast("c").headline()
    assert TOLD not in aside.profiles().caution


@pytest.mark.filterwarnings("ignore:.*distinct rows")  # two flowers are equal
@pytest.mark.parametrize("table", ["iris", "digits"])
def test_known_classes_are_not_said_to_be_found(table):
    data = gn.datasets.load_dataset(table)
    m = gn.map(data, random_state=0)
    assert m.profiles().caution == ""
    assert m.captions().caution == ""


def test_known_types_that_the_map_shows_clearer_than_the_noisy_data_are_not_said_to_be_found():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, 400)
    m = gn.map(rng.normal(size=(400, 50)) + 3.0 / np.sqrt(50) * rng.normal(size=(4, 50))[kind], labels=kind)
    assert m.profiles().caution == m.contrast("1").caution == ""


def test_groups_without_a_label_take_no_part():
    """Of two lines of points, what lies between rows of one group is neither of it nor of another."""
    codes = np.repeat([0, 1, -1], 40)
    near = np.tile(np.arange(120)[:, None], (1, 3))
    crossed = near.copy()
    crossed[:40] = 40 + np.arange(3)
    blank = near.copy()
    blank[:40] = 80 + np.arange(3)
    assert follows_map(crossed, near, codes) == (0.5, 1.0)
    assert follows_map(blank, near, codes) is None
    assert follows_map(near, crossed, codes) is None
    assert follows_map(near, near, codes) is None


def by_means(X, n_groups):
    """Part rows as k-means does."""
    means = X[:n_groups]
    for _ in range(100):
        codes = np.square(X[:, None] - means).sum(axis=2).argmin(axis=1)
        means = np.stack([X[codes == code].mean(axis=0) for code in range(n_groups)])
    return codes


@pytest.mark.parametrize("n_groups", [2, 4])
def test_labels_by_means_in_one_cloud_are_told_in_every_answer(n_groups):
    X = np.random.default_rng(n_groups).normal(size=(400, 5))
    m = gn.map(X, method="pca", labels=[f"group {code}" for code in by_means(X, n_groups)], scale=None)
    told = (
        "label parts the rows by their features as k-means does: each row is nearest to the mean of its own, also "
        f"where there is no gap: {TOLD}"
    )
    assert told in m.profiles().caution
    assert told in m.captions().caution
    assert told in m.contrast("group 1").headline()
    assert m.report(verdicts=False).count(told) == 1
    assert TOLD not in m.contrast(m.X[:, 1] > 0).headline()
    standardised = gn.Map(X * [1, 1, 1, 1, 1e4], m.embedding, labels=by_means(X / X.std(axis=0), n_groups).astype(str))
    assert TOLD in standardised.profiles().caution


def test_labels_that_cut_a_column_are_told_by_its_name():
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:, 2] += X[:, 1]
    m = gn.map(X, labels=np.where(X[:, 1] > 0, "above", "below"), feature_names=list("abcd"), method="pca", scale=None)
    told = "label cuts 'b', of which each has a range without a gap between: it sets them apart by construction"
    assert told in m.profiles().caution
    assert told in m.contrast("above").headline()
    assert m.report(verdicts=False).count(told) == 1


def test_groups_with_a_gap_between_and_groups_that_overlap_are_no_cells_and_no_cut():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 100)
    for apart in (0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 20.0):
        X = rng.normal(size=(300, 5)) + apart * np.eye(3, 5)[codes]
        assert not are_cells(X, codes)
        assert cut_column(X, codes) is None
    assert cut_column(rng.normal(size=(300, 5)) + 12.0 * codes[:, None], codes) is None
    assert not are_cells(rng.normal(size=(60, 2000)), codes[::5])  # the mean of few rows is near each, in many columns
    assert not are_cells(rng.normal(size=(300, 5000)), codes)


@pytest.mark.parametrize("table", ["iris", "digits", "wine", "breast_cancer"])
def test_known_classes_are_no_cells_and_no_cut(table):
    values, codes = getattr(sklearn.datasets, f"load_{table}")(return_X_y=True)
    spread = np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    for X in (values, values / spread):
        assert not are_cells(X, codes)
        assert cut_column(X, codes) is None


def test_cells_are_seen_where_some_rows_have_no_class_and_tables_are_sparse():
    X = np.random.default_rng(3).normal(size=(500, 3))
    codes = np.concatenate([by_means(X[:400], 3), np.full(100, -1)])
    assert are_cells(X, codes)
    assert are_cells(scipy.sparse.csr_array(X), codes)
    cut = np.where(np.arange(500) < 400, X[:, 2] > 0.3, -1)
    assert cut_column(X, cut) == cut_column(scipy.sparse.csr_array(X), cut) == 2
    assert cut_column(X.round(), cut) is None  # equal values have one class
