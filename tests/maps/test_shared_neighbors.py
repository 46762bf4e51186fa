"""One search for neighbours per map, which everything that is asked of the map shares, and one check of its table."""

import importlib
import pkgutil

import numpy as np
import pytest

import gnomon as gn
from gnomon.neighbors import NeighborGraph, compute_neighbors

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(3, 12))
LABELS = np.arange(180) % 3
X = (CENTERS[LABELS] + RNG.normal(size=(180, 12))).astype(np.float32)
_ROOMS = ("evaluation", "explanations", "extension", "geometry", "maps", "methods")


@pytest.fixture
def searches(monkeypatch):
    """Neighbours asked for by each search among the rows; all pairs of a sample, and the map itself, are none."""
    found = []

    def counted(rows, n_neighbors, **options):
        if options.get("method") != "exact" and rows.shape[1] > 2:
            found.append(n_neighbors)
        return compute_neighbors(rows, n_neighbors, **options)

    for info in pkgutil.walk_packages(gn.__path__, "gnomon."):
        if info.name.split(".")[1] in (
            "evaluation",
            "explanations",
            "extension",
            "geometry",
            "maps",
            "methods",
        ):
            module = importlib.import_module(info.name)
            if getattr(module, "compute_neighbors", None) is compute_neighbors:
                monkeypatch.setattr(module, "compute_neighbors", counted)
    monkeypatch.setattr("gnomon.neighbors.compute_neighbors", counted)
    return found


def ask_everything(result):
    result.evaluate()
    result.explain()
    result.intrinsic_dimension()
    result.counterfactual(0, 1)
    result.novelty(X[:3])
    result.report()


@pytest.mark.parametrize(
    ("method", "parameters", "wanted"),
    [
        ("umap", {"max_iter": 30}, 15),
        ("umap", {"max_iter": 30, "n_neighbors": 8}, 8),
        ("umap", {"max_iter": 30, "n_neighbors": 40}, 40),
        ("isomap", {}, 10),
        ("pca", {}, 20),
        ("umap", {"max_iter": 30, "metric": "l2"}, 15),
    ],
)
def test_one_search_serves_the_fit_and_all_questions(searches, method, parameters, wanted):
    result = gn.map(X, method, labels=LABELS, **parameters)
    ask_everything(result)
    assert searches == [wanted]
    assert result.graph.n_neighbors == max(wanted, 20)


def test_questions_share_the_neighbours_of_the_metric_of_the_map(searches):
    result = gn.map(X, "umap", labels=LABELS, metric="cosine", max_iter=30)
    result.explain()
    result.evaluate()
    result.intrinsic_dimension()
    assert searches == [15]
    found = result.counterfactual(0, 1, transform=lambda rows: np.zeros((len(rows), 2)))
    assert found.index == 0
    assert searches == [15]
    assert result.explain().graph.metric == "cosine"
    result.novelty(X[:3])
    assert searches == [15, 15]  # the atlas blends its charts by Euclidean distances


@pytest.mark.parametrize(("n_neighbors", "wanted"), [(15, [15, 60]), (70, [70])])
def test_other_features_are_fitted_to_sixty_neighbours_whoever_finds_them(searches, n_neighbors, wanted):
    result = gn.map(X, "umap", n_neighbors=n_neighbors, max_iter=30)
    found = result.explain(features=X[:, :3])
    assert searches == wanted
    assert found.graph.n_neighbors == 60
    alone = gn.explanations.explain_with_features(X, result.embedding, X[:, :3])
    np.testing.assert_array_equal(found.r2, alone.r2)


def test_neighbours_go_through_the_file(searches, tmp_path):
    result = gn.map(X, "pca", labels=LABELS)
    result.explain()
    result.save(tmp_path / "map.gnomon")
    loaded = gn.Map.load(tmp_path / "map.gnomon")
    ask_everything(loaded)
    assert searches == [20]


@pytest.mark.parametrize("order", [("explain", "evaluate"), ("evaluate", "explain")])
def test_answers_do_not_depend_on_who_asked_first(order):
    result = gn.map(X, "pca", labels=LABELS)
    for name in order:
        getattr(result, name)()
    first = gn.map(X, "pca", labels=LABELS).evaluate()
    np.testing.assert_array_equal(
        result.evaluate().per_point["neighborhood_preservation"], first.per_point["neighborhood_preservation"]
    )
    assert result.graph.n_neighbors == 20


@pytest.mark.parametrize("n_rows", [2, 3, 12, 25])
def test_small_tables_have_all_others_as_neighbours(n_rows):
    result = gn.Map(X[:n_rows], X[:n_rows, :2])
    assert result.neighbors().n_neighbors == min(20, n_rows - 1)
    assert gn.Map(X[:1], X[:1, :2]).neighbors() is None


def test_neighbours_that_were_given_are_kept():
    graph = compute_neighbors(X, 16)
    assert gn.Map(X, X[:, :2], graph=graph).neighbors() is graph


def test_an_estimator_keeps_no_more_neighbours_than_it_used():
    result = gn.map(X, gn.UMAP(max_iter=30, random_state=0))
    method = result._estimator
    alone = gn.UMAP(max_iter=30, random_state=0).fit(X)
    np.testing.assert_array_equal(result.embedding, alone.embedding_)
    assert isinstance(method.graph_, NeighborGraph)
    np.testing.assert_array_equal(method.graph_.indices, alone.graph_.indices)
    np.testing.assert_array_equal(result.graph.indices[:, :15], alone.graph_.indices)
    assert vars(method).keys() == vars(alone).keys()


def test_a_table_is_checked_once_between_the_map_and_its_page(monkeypatch, tmp_path):
    from gnomon.data import table
    from gnomon.geometry import check

    checks = []

    def counted(name, function):
        def counting(values, **options):
            if getattr(values, "shape", None) == X.shape:
                checks.append(name)
            return function(values, **options)

        return counting

    monkeypatch.setattr(table, "check_finite", counted("check_finite", table.check_finite))
    monkeypatch.setattr(check, "check_values", counted("check_values", check.check_values))
    result = gn.map(X, "umap", labels=LABELS, max_iter=30)
    result.to_html(tmp_path / "map.html")
    result.report()
    assert checks == ["check_finite"]
    result.X = X + 1.0
    result.contrast(LABELS == 1)
    assert checks == ["check_finite", "check_finite"]
