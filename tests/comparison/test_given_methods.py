"""Estimators are compared as methods are: copied, seeded, judged on one table, by one scorecard."""

import numpy as np
import pytest
from sklearn.decomposition import PCA as ReferencePCA
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.random_projection import GaussianRandomProjection

import gnomon
from gnomon.comparison.given import requests_of_all
from gnomon.evaluation import scorecard

X = np.random.default_rng(0).normal(size=(60, 5))
_FAST = {"n_neighbors": 7, "max_iter": 15}


class Columns:
    """No estimator of anyone: it takes the leading columns."""

    def __init__(self, count=2):
        self.count = count

    def fit_transform(self, table):
        return table[:, : self.count]


def test_an_estimator_makes_the_map_of_its_name_from_the_same_graph():
    found = gnomon.compare(X, ["umap", gnomon.UMAP(**_FAST)], {"umap": _FAST}, n_seeds=2, scale=None)
    named, given = found.trials
    assert (named.name, given.name) == ("umap, n_neighbors=7, max_iter=15", "UMAP, max_iter=15, n_neighbors=7")
    assert (given.method, given.parameters) == ("UMAP", _FAST)
    assert found.graph_neighbors == 7
    np.testing.assert_array_equal(given.embedding, named.embedding)
    assert given.scores == named.scores
    alone = gnomon.compare(X, gnomon.UMAP(**_FAST), scale=None)
    assert alone.graph_neighbors == 7
    np.testing.assert_array_equal(alone.trials[0].embedding, named.embedding)
    assert alone.best("trustworthiness") is alone.trials[0]


def test_estimators_that_have_a_graph_or_blocks_ask_for_no_other():
    methods = [gnomon.UMAP(n_neighbors=7, **given) for given in ({}, {"precomputed_knn": "one"}, {"blocks": "some"})]
    assert [one.n_neighbors(60) for one in requests_of_all(methods, None, 2)] == [7, None, None]


class Alternating:
    """Its map depends on whether its seed is even."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, random_state):
        self.random_state = random_state

    def fit_transform(self, table):
        first = self.random_state % 2
        return table[:, first : first + 2]


def test_a_seed_that_makes_the_first_map_again_has_its_scores():
    (found,) = gnomon.compare(X, Alternating(), n_seeds=4, scale=None, measures="trustworthiness").trials
    even, odd, *again = found.values["trustworthiness"]
    assert even != odd
    assert again == [even, odd]


def test_estimators_of_ours_take_the_threads_of_the_comparison_unless_they_have_their_own():
    given = [gnomon.UMAP(), gnomon.UMAP(n_neighbors=7, n_jobs=2), SpectralEmbedding()]
    made = [one.estimator(random_state=0, n_jobs=3) for one in requests_of_all(given, None, 2)]
    assert [one.n_jobs for one in made] == [3, 2, None]


def test_names_of_a_dict_are_those_of_the_maps():
    methods = {"ours": gnomon.PCA(), "theirs": ReferencePCA(2), "columns": Columns(), "by name": "pca"}
    found = gnomon.compare(X, methods, scale=None)
    assert list(found.maps) == list(methods)
    np.testing.assert_array_equal(found.maps["ours"], found.maps["by name"])
    np.testing.assert_array_equal(found.maps["columns"], X[:, :2].astype(np.float32))
    for name, value in scorecard(X, found.maps["theirs"], measures=["trustworthiness", "shepard"]).items():
        assert found.trials[1].scores[name] == value.value
    assert found.to_dict()["maps"][2]["method"] == "Columns"


def test_estimators_without_a_seed_get_that_of_the_comparison_and_others_keep_theirs():
    free, bound = GaussianRandomProjection(2), GaussianRandomProjection(2, random_state=9)
    methods = {"free": free, "bound": bound, "steps": make_pipeline(FunctionTransformer(), GaussianRandomProjection(2))}
    found = gnomon.compare(X, methods, random_state=4, n_seeds=2, scale=None, measures="trustworthiness")
    four, nine = (GaussianRandomProjection(2, random_state=s).fit_transform(X).astype(np.float32) for s in (4, 9))
    for name, wanted in (("free", four), ("bound", nine), ("steps", four)):
        np.testing.assert_array_equal(found.maps[name], wanted)
    five, ten = (GaussianRandomProjection(2, random_state=s).fit_transform(X).astype(np.float32) for s in (5, 10))
    for one, again in zip(found.trials, (five, ten, five), strict=True):
        expected = scorecard(X, again, measures=["trustworthiness"], random_state=4)["trustworthiness"].value
        assert one.values["trustworthiness"][1] == expected
    last = gnomon.compare(X, free, random_state=2**31 - 1, n_seeds=2, scale=None, measures="trustworthiness").trials[0]
    none = GaussianRandomProjection(2, random_state=0).fit_transform(X)  # after the last seed comes the first
    expected = scorecard(X, none.astype(np.float32), measures=["trustworthiness"], random_state=2**31 - 1)
    assert last.values["trustworthiness"][1] == expected["trustworthiness"].value
    assert not hasattr(free, "components_")
    assert free.random_state is None


@pytest.mark.parametrize(
    ("methods", "kind", "text"),
    [
        ([gnomon.UMAP(), gnomon.UMAP()], ValueError, r"different names \('UMAP' twice\)\. Pass a dict with a name"),
        ([gnomon.PCA(3)], ValueError, r"n_components=3 of PCA must be 2.*Pass n_components=3"),
        ([Columns(3)], ValueError, r"map by Columns of shape \(60, 3\) must be of shape \(60, 2\)"),
        ([gnomon.PCA], TypeError, r"methods with PCA must be names, .*Pass PCA\(\)"),
        ({"a": 3}, TypeError, r"methods with 3 must be names, or objects with fit_transform \(found int\)"),
        (3, TypeError, r"methods=3 must be names, estimators, or a dict"),
        ({}, ValueError, "at least one name"),
    ],
)
def test_what_cannot_be_compared_is_named(methods, kind, text):
    with pytest.raises(kind, match=f"compare: .*{text}"):
        gnomon.compare(X, methods)


def test_parameters_belong_to_names():
    with pytest.raises(ValueError, match=r"parameters of 'UMAP' must be left out beside estimators"):
        gnomon.compare(X, [gnomon.UMAP()], {"UMAP": {"n_neighbors": [5, 15]}})


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("as_list", [True, False])
def test_of_maps_that_are_made_it_is_said_what_compares_them(is_first, as_list):
    made = gnomon.map(X, "pca")
    given = [made] if as_list else made
    with pytest.raises(
        TypeError, match=r"compare: (X|methods) must be .*found a map\).*compare_embeddings\(a\.embedding"
    ):
        gnomon.compare(*(given, ["pca"]) if is_first else (X, given))
