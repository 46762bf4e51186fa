"""Methods that are given the neighbours of rows."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import kneighbors_graph

import gnomon
from gnomon import PHATE, TSNE, UMAP, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding, PaCMAP, TwoKernelPCA
from gnomon.exceptions import ConvergenceWarning, DataWarning, NeighborsWarning
from gnomon.methods import METHODS
from gnomon.methods.given_neighbors import GraphEmbedder
from gnomon.neighbors import as_neighbor_graph, compute_neighbors

_PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 5)).astype(np.float32)
ALIKE = np.concatenate([X, X[:20], X[:8]])  # up to three copies of a row
NEW = rng.normal(size=(4, 5)).astype(np.float32)
TAKING = [
    cls
    for card in METHODS
    if issubclass(cls := getattr(gnomon, card.estimator), GraphEmbedder) and cls is not TwoKernelPCA
]


def _make(cls, **given):
    """Return a quick estimator."""
    known = cls().get_params()
    quick = {"max_iter": 12, "perplexity": 8.0, "sparsity": 0.3, "random_state": 0, "n_jobs": 1}
    return cls(**{name: value for name, value in quick.items() if name in known}, **given)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", TAKING)
def test_the_own_graph_gives_the_same_bytes(cls):
    graph, own = compute_neighbors(X, 85), _make(cls).fit(X)
    for given in (graph, (graph.indices, graph.distances)):
        found = _make(cls, precomputed_knn=given).fit(X)
        assert found.embedding_.tobytes() == own.embedding_.tobytes()
        np.testing.assert_array_equal(found.transform(NEW), own.transform(NEW))
        if hasattr(own, "place"):
            np.testing.assert_array_equal(found.place(NEW), own.place(NEW))
        assert found.graph_.metric == "euclidean"


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.ConvergenceWarning", "ignore::gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("cls", TAKING)
def test_equal_rows_are_merged_and_their_neighbours_with_them(cls):
    graph = compute_neighbors(ALIKE, 110)
    own, found = _make(cls).fit(ALIKE), _make(cls, precomputed_knn=graph).fit(ALIKE)
    assert found.embedding_.tobytes() == own.embedding_.tobytes()


def test_copies_take_the_places_of_neighbours_and_a_warning_says_how_many_are_left():
    with (
        pytest.warns(DataWarning, match="90 distinct rows"),
        pytest.warns(NeighborsWarning, match=r"15 neighbours were asked for and precomputed_knn has \d+; "),
    ):
        found = _make(UMAP, precomputed_knn=compute_neighbors(np.concatenate([X, X]), 12)).fit(np.concatenate([X, X]))
    np.testing.assert_array_equal(found.embedding_[:90], found.embedding_[90:])
    assert 6 <= found.graph_.n_neighbors < 12


@pytest.mark.parametrize("cls", [UMAP, TSNE, Isomap])
def test_rows_of_unequal_numbers_use_what_they_have_with_any_number_of_threads(cls):
    graph = compute_neighbors(X, 40)
    indices, distances = graph.indices.copy(), graph.distances.copy()
    indices[::3, 8:], distances[1::3, 6:] = -1, np.inf
    with pytest.warns(NeighborsWarning, match=r"rows have fewer than \d+ neighbours"):
        maps = [_make(cls, precomputed_knn=(indices, distances)).set_params(n_jobs=n).fit(X) for n in (1, 2)]
    assert maps[0].embedding_.tobytes() == maps[1].embedding_.tobytes()
    assert np.isfinite(maps[0].embedding_).all()


@pytest.mark.parametrize("cls", [LocallyLinearEmbedding, PHATE, PaCMAP, LaplacianEigenmaps])
def test_rows_without_all_their_neighbours_are_mapped(cls):
    graph = compute_neighbors(X, 70)
    indices = np.where(np.arange(70) < rng.integers(14, 70, size=(90, 1)), graph.indices, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeighborsWarning)
        found = _make(cls, precomputed_knn=(indices, graph.distances)).fit(X)
    assert np.isfinite(found.embedding_).all()
    assert np.isfinite(found.place(NEW)).all()


def test_squares_are_refused_and_other_distances_called_out():
    graph = compute_neighbors(X, 20)
    with pytest.raises(ValueError, match=r"^UMAP: precomputed_knn must be .* squares .* values='squared'"):
        _make(UMAP, precomputed_knn=(graph.indices, graph.distances**2)).fit(X)
    told = as_neighbor_graph(graph.indices, graph.distances.astype(float) ** 2, values="squared")
    assert _make(UMAP, precomputed_knn=told).fit(X).graph_.metric == "euclidean"
    with pytest.raises(ValueError, match=r"must be of distances \(all are 1\)\. Make the graph with mode='distance'"):
        _make(UMAP, precomputed_knn=kneighbors_graph(X, 15)).fit(X)
    cosines = compute_neighbors(X, 20, metric="cosine")
    with pytest.raises(ValueError, match=r"they are the cosines .* values='cosine'"):
        _make(UMAP, metric="cosine", precomputed_knn=(cosines.indices, 1 - cosines.distances)).fit(X)
    assert _make(UMAP, metric="cosine", precomputed_knn=cosines).fit(X).graph_.metric == "cosine"
    for other in (cosines, compute_neighbors(X[::-1].copy(), 20)):
        with pytest.warns(NeighborsWarning, match=r"holds other distances than metric='euclidean' .* same order"):
            found = _make(UMAP, precomputed_knn=other).fit(X)
        assert found.graph_.metric == "precomputed"
        np.testing.assert_array_equal(found.graph_.indices, other.indices[:, :15])


def test_given_distances_may_come_with_their_neighbours():
    pairs = np.linalg.norm(X[:, None] - X, axis=2)
    given = {"metric": "precomputed", "init": "spectral"}
    own, found = (
        _make(UMAP, **given),
        _make(UMAP, precomputed_knn=compute_neighbors(pairs, 20, metric="precomputed"), **given),
    )
    assert own.fit(pairs).embedding_.tobytes() == found.fit(pairs).embedding_.tobytes()


def test_phate_looks_no_farther_where_distances_are_of_another_kind():
    twice = compute_neighbors(X, 5)
    with (
        pytest.warns(NeighborsWarning, match="holds other distances"),
        pytest.warns(
            NeighborsWarning, match=r"weights of \d+ rows reach beyond precomputed_knn, whose neighbours alone count"
        ),
    ):
        found = _make(PHATE, decay=2.0, precomputed_knn=(twice.indices, 3 * twice.distances)).fit(X)
    assert found.affinities_.matrix.nnz <= 2 * 90 * 5


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            TSNE(perplexity=20),
            r"^TSNE: precomputed_knn of 10 neighbours must be of at least 20, .* at best 60\. Or lower",
        ),
        (
            LocallyLinearEmbedding(variant="hessian", n_components=4, n_neighbors=20),
            r"^LocallyLinearEmbedding: precomputed_knn of 10 neighbours must be of at least 15",
        ),
        (LaplacianEigenmaps(n_neighbors=20, variant="vle", min_neighbors=12), r"of at least 12"),
        (PaCMAP(n_neighbors=15), r"of at least 15"),
    ],
)
def test_fewer_neighbours_than_other_parameters_need_are_refused(made, text):
    with pytest.raises(ValueError, match=text):
        made.set_params(precomputed_knn=compute_neighbors(X, 10)).fit(X)


def test_neighbours_given_for_pacmap_are_those_in_all_features():
    wide = rng.normal(size=(130, 120)).astype(np.float32)
    given = compute_neighbors(wide, 65)
    found = _make(PaCMAP, precomputed_knn=given).fit(wide)
    assert found.graph_.metric == "euclidean"
    assert _make(PaCMAP).fit(wide).graph_.metric == "euclidean, 100 features"
    np.testing.assert_array_equal(found.graph_.indices, given.nearest(60).indices)


def test_a_method_without_neighbours_takes_none():
    with pytest.raises(TypeError, match=r"^TwoKernelPCA: precomputed_knn=<NeighborGraph> must be None"):
        TwoKernelPCA(precomputed_knn=compute_neighbors(X, 10)).fit(X)


def test_clones_and_files_keep_the_neighbours(tmp_path):
    given = kneighbors_graph(X, 20, mode="distance")
    fitted = clone(_make(UMAP, precomputed_knn=given)).fit(X)
    fitted.save(tmp_path / "umap.gnomon")
    loaded = gnomon.load(tmp_path / "umap.gnomon")
    np.testing.assert_array_equal(loaded.place(NEW), fitted.place(NEW))
    np.testing.assert_array_equal(loaded.transform(NEW), fitted.transform(NEW))
    assert clone(loaded).fit(X).embedding_.tobytes() == fitted.embedding_.tobytes()


def test_derivatives_are_those_of_distances_in_the_data():
    graph = compute_neighbors(X, 85)
    settings = {"perplexity": 8.0, "random_state": 0, "n_jobs": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        own = gnomon.sensitivity(TSNE(**settings).fit(X), X, rows=[3], polish=True)
        found = gnomon.sensitivity(TSNE(precomputed_knn=graph, **settings).fit(X), X, rows=[3], polish=True)
    np.testing.assert_array_equal(found.own, own.own)
    with pytest.warns(NeighborsWarning):
        other = TSNE(precomputed_knn=(graph.indices, 2 * graph.distances), **settings).fit(X)
    with pytest.raises(ValueError, match="metric='precomputed' must be 'euclidean'"):
        gnomon.sensitivity(other, X)


def test_a_map_takes_neighbours_and_keeps_them_for_its_answers(tmp_path):
    graph = compute_neighbors(X, 30)
    given = (graph.indices, graph.distances)
    own = gnomon.map(X, "umap", max_iter=12, n_jobs=1)
    found = gnomon.map(X, "umap", max_iter=12, n_jobs=1, precomputed_knn=given)
    assert found.embedding.tobytes() == own.embedding.tobytes()
    assert found.parameters["precomputed_knn"] == "given"
    np.testing.assert_array_equal(found.graph.indices[:, :15], graph.indices[:, :15])
    found.save(tmp_path / "map.gnomon")
    loaded = gnomon.load(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(loaded.transform(NEW), found.transform(NEW))
    by_hand = gnomon.Map(X=X, embedding=own.embedding, graph=given)
    np.testing.assert_array_equal(by_hand.neighbors().indices, graph.indices)


@pytest.mark.parametrize("form", ["pair", "sparse"])
def test_evaluate_and_explain_take_neighbours(form):
    graph = compute_neighbors(X, 15)
    given = (graph.indices, graph.distances) if form == "pair" else kneighbors_graph(X, 15, mode="distance")
    places = X[:, :2] + 0.1 * X[:, 2:4]
    assert gnomon.evaluate(X, places, graph=given).neighborhood_preservation == pytest.approx(
        gnomon.evaluate(X, places, graph=graph).neighborhood_preservation
    )
    np.testing.assert_allclose(
        gnomon.explain(X, places, graph=given).importance, gnomon.explain(X, places, graph=graph).importance, rtol=1e-5
    )
    for ask in (gnomon.evaluate, gnomon.explain):
        with pytest.raises(ValueError, match=r"X with 90 rows and graph with 40 must be of the same length"):
            ask(X, places, graph=kneighbors_graph(X[:40], 15, mode="distance"))


@pytest.mark.parametrize("library", ["scanpy", "pynndescent", "faiss"])
def test_the_examples_of_the_page_run_where_the_library_is_installed(library):
    pytest.importorskip(library)
    table = rng.normal(size=(400, 6)).astype(np.float32)
    names = {"X": table}
    if library == "scanpy":
        names["adata"] = pytest.importorskip("anndata").AnnData(table, obsm={"X_pca": table})
    (example,) = (text for text in re.findall(r"```py\n(.*?)```", _PAGE.read_text(), re.DOTALL) if library in text)
    exec(example, names)
    found, exact = names["umap"].graph_, compute_neighbors(table, 15)
    assert (found.metric, found.n_neighbors) == ("euclidean", 15)
    assert np.mean([len({*a} & {*b}) / 15 for a, b in zip(found.indices, exact.indices, strict=True)]) > 0.95


def test_a_fit_does_not_hold_given_neighbours_beside_their_graph(monkeypatch):
    held, start = [], UMAP._start

    def watched(self, prepared):
        held.append(prepared.parameters["precomputed_knn"])
        return start(self, prepared)

    monkeypatch.setattr(UMAP, "_start", watched)
    UMAP(n_neighbors=5, max_iter=1, precomputed_knn=compute_neighbors(X, 8), random_state=0).fit(X)
    (given,) = held
    assert len(given.rows) == len(given.columns) == len(given.distances) == 0
    assert given.n_neighbors == 8
