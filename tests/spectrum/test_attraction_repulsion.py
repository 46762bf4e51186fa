"""The attraction-repulsion spectrum: its two ends, its middle, and what is done with it."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import gnomon as gn
from gnomon.affinities import uniform_affinities
from gnomon.evaluation import embedding_similarity
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.initialization import rescale
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import KLDivergence
from gnomon.optimizers import GradientDescent
from gnomon.spectrum import Spectrum

N_ROWS = 800  # all pairs are summed in every iteration


@pytest.fixture(scope="module")
def rows(digits):
    return digits[0][:N_ROWS]


@pytest.fixture(scope="module")
def graph(rows):
    return compute_neighbors(rows, 15)


@pytest.fixture(scope="module")
def spectrum(rows):
    return gn.attraction_repulsion_spectrum(rows, locate=True, n_jobs=2)


def likeness(A, B):
    return embedding_similarity(A, B, "distance_correlation")


def test_values_fall_from_the_critical_exaggeration_through_one(spectrum):
    values = spectrum.exaggerations
    assert (np.diff(values) < 0).all()
    assert 1.0 in values
    assert values[-1] == 0.5
    assert values[0] == pytest.approx(2 / 3 * spectrum.critical, rel=0.05)
    assert len(spectrum.embeddings) == len(values) == len(spectrum.losses) == len(spectrum.seconds) == 13


def test_the_limit_solves_the_eigenproblem_of_the_random_walk(spectrum, graph):
    P = uniform_affinities(graph).matrix.toarray().astype(float)
    degrees = P.sum(axis=1)
    Y = spectrum.laplacian_eigenmap.astype(float)
    Y = Y - degrees @ Y / degrees.sum()
    moved = (P @ Y) / degrees[:, None]
    factors, *_ = np.linalg.lstsq(Y, moved, rcond=None)
    assert np.linalg.norm(moved - Y @ factors) < 1e-3 * np.linalg.norm(moved)
    eigenvalues = np.sort(np.linalg.eigvalsh(np.diag(degrees**-0.5) @ P @ np.diag(degrees**-0.5)))[::-1]
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(factors).real)[::-1], eigenvalues[1:3], atol=1e-4)
    assert spectrum.critical == pytest.approx(1 / (1 - eigenvalues[2]), rel=1e-2)


def test_strong_attraction_nears_laplacian_eigenmaps(spectrum):
    with_limit = [likeness(spectrum.laplacian_eigenmap, Y) for Y in spectrum.embeddings]
    assert with_limit[0] > 0.92
    assert with_limit == sorted(with_limit, reverse=True)
    assert with_limit[0] > with_limit[spectrum.main] + 0.1


def test_just_above_the_critical_exaggeration_the_second_component_dies(rows, spectrum):
    for share, low, high in ((0.6, 0.3, 1.0), (1.2, 0.0, 0.15)):
        found = gn.attraction_repulsion_spectrum(rows, [share * spectrum.critical], max_iter=600, n_jobs=2)
        Y = found.embeddings[0] - found.embeddings[0].mean(axis=0)
        lengths = np.linalg.svd(Y, compute_uv=False)
        assert low < lengths[1] / lengths[0] < high


def test_at_one_it_is_as_good_a_tsne_as_that_of_the_same_affinities(spectrum, graph, rows):
    objective = KLDivergence(uniform_affinities(graph))
    start = rescale(gn.PCA(2).fit_transform(rows), 1e-4)
    tsne = GradientDescent(max_iter=750).minimize(objective, start)
    assert spectrum.losses[spectrum.main] < tsne.loss[-1][1] + 0.02
    assert spectrum.losses[spectrum.main] == spectrum.losses.min()


def test_losses_are_those_of_the_maps_before_they_were_aligned(spectrum, graph):
    objective = KLDivergence(uniform_affinities(graph))
    for k in (0, spectrum.main, len(spectrum.losses) - 1):
        Y = spectrum.embeddings[k] * np.float32(spectrum.spreads[k] / spectrum.spreads[spectrum.main])
        assert objective.loss(Y) == pytest.approx(spectrum.losses[k], rel=1e-4)


def test_every_map_follows_from_the_one_before(spectrum):
    frames = spectrum.frames
    for before, after in pairwise(frames[1:]):
        assert likeness(before, after) > 0.9
        M = (before - before.mean(0)).T @ (after - after.mean(0))
        np.testing.assert_allclose(M, M.T, atol=1e-3 * np.abs(M).max())  # no turn brings them closer
    spread = [np.sqrt(Y.var(axis=0).sum()) for Y in frames]
    np.testing.assert_allclose(spread, spread[0], rtol=1e-4)


def test_known_methods_lie_in_the_order_of_their_attraction(spectrum):
    marks = {mark.name: mark for mark in spectrum.marks}
    assert list(marks) == ["ForceAtlas2", "UMAP", "NegTSNE"]
    assert marks["ForceAtlas2"].exaggeration > marks["UMAP"].exaggeration > 1
    for mark in marks.values():
        assert mark.similarity == mark.similarities.max() > 0.8
        assert mark.similarities.shape == (14,)
        assert mark.exaggeration == spectrum.exaggerations[mark.similarities.argmax() - 1]
    assert sum("≈ UMAP" in title for title in spectrum.titles) == 1
    assert "UMAP is most like" in spectrum.report()


def test_a_map_of_the_spectrum_is_located_where_it_lies(spectrum):
    turned = 7 * spectrum.embeddings[4][:, ::-1] + 3
    mark = spectrum.locate(turned, "mine")
    assert mark.exaggeration == spectrum.exaggerations[4]
    assert mark.similarity == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(mark.embedding, spectrum.embeddings[4], atol=1e-3)
    assert math.isinf(spectrum.locate(spectrum.laplacian_eigenmap).exaggeration)
    with pytest.raises(ValueError, match=r"Spectrum.locate: embedding of shape \(5, 2\) must be of shape \(800, 2\)"):
        spectrum.locate(turned[:5])


def test_same_bytes_for_any_number_of_threads(digits):
    found = [gn.attraction_repulsion_spectrum(digits[0][:600], [20, 1], max_iter=40, n_jobs=n) for n in (1, 2, 3, 5)]
    assert len({b"".join(Y.tobytes() for Y in one.frames) for one in found}) == 1


def test_values_are_sorted_and_repeated_ones_dropped(digits):
    found = gn.attraction_repulsion_spectrum(digits[0][:200], [1, 8, 3, 8], max_iter=10)
    assert found.exaggerations.tolist() == [8, 3, 1]
    assert found.titles == ["∞ · eigenmaps", "8", "3", "1 · t-SNE"]


def test_a_collapsed_map_unfolds_again(digits):
    found = gn.attraction_repulsion_spectrum(digits[0][:500], [3000, 1])
    direct = gn.attraction_repulsion_spectrum(digits[0][:500], [1])
    assert found.spreads[0] < 0.05
    assert found.losses[1] < direct.losses[0] + 0.05


def test_equal_rows_share_a_position(iris):
    with pytest.warns(DataWarning, match="attraction_repulsion_spectrum: 150 rows hold 149 distinct rows"):
        found = gn.attraction_repulsion_spectrum(iris[0], [5, 1], max_iter=20, locate=["UMAP"])
    assert found.n_samples == 150
    assert len(found.marks[0].embedding) == 150
    for Y in (*found.frames, found.marks[0].embedding):
        np.testing.assert_array_equal(Y[101], Y[142])


def test_a_graph_in_pieces_has_no_critical_exaggeration():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 5)), rng.normal(size=(80, 5)) + 100])
    found = gn.attraction_repulsion_spectrum(X, n_neighbors=6, max_iter=30)
    assert math.isinf(found.critical)
    assert found.exaggerations[0] == 100
    assert "2 connected components" in found.notes[0]
    assert np.isfinite(found.frames).all()


def test_sparse_rows_and_distances_give_the_same_graph(digits):
    X = digits[0][:150].astype(float)
    dense = gn.attraction_repulsion_spectrum(X, [6, 1], max_iter=20)
    rows = gn.attraction_repulsion_spectrum(sparse.csr_array(X), [6, 1], max_iter=20)
    distances = squareform(pdist(X))
    given = gn.attraction_repulsion_spectrum(distances, [6, 1], max_iter=20, metric="precomputed")
    for other in (rows, given):
        np.testing.assert_allclose(other.losses, dense.losses, rtol=1e-3)


def test_few_rows_and_three_components_work():
    X = np.random.default_rng(0).normal(size=(12, 4))
    with pytest.warns(NeighborsWarning, match="15 neighbours were asked for and a row has only 11 others"):
        found = gn.attraction_repulsion_spectrum(X, n_components=3, max_iter=10)
    assert found.embeddings[0].shape == (12, 3)
    assert np.isfinite(found.frames).all()


def test_a_callback_ends_the_spectrum_where_it_is(digits):
    stages = []

    def stop_at_three(progress):
        stages.append(progress.stage)
        return progress.stage == "exaggeration 3" and progress.done > 0

    found = gn.attraction_repulsion_spectrum(digits[0][:200], [9, 3, 1], max_iter=100, callback=stop_at_three)
    assert found.exaggerations.tolist() == [9, 3]
    assert len(found.losses) == len(found.embeddings) == 2
    assert stages[0] == "neighbors"
    assert "exaggeration 1" not in stages


def test_page_and_panels(spectrum, rows, digits, tmp_path):
    labels = digits[1][:N_ROWS]
    spectrum.to_html(tmp_path / "s.html", labels=labels, X=rows, image_shape=(8, 8))
    text = (tmp_path / "s.html").read_text()
    assert "Attraction-repulsion spectrum" in text
    sequence = spectrum.sequence()
    assert sequence.labels[0] == "∞ · eigenmaps"
    assert sequence.labels[sequence.main].startswith("1 · t-SNE")
    titles = [ax.get_title(loc="left") for ax in spectrum.plot(labels=labels, n_panels=7).axes_]
    assert len(titles) == 7 + 3
    assert {"ForceAtlas2", "UMAP"} <= {title.partition("≈ ")[2].partition(" ·")[0] for title in titles}
    assert titles[0] == "∞ · eigenmaps"
    assert any(title.startswith("1 · t-SNE") for title in titles)
    assert titles[6] == "0.5"
    assert titles[-2].startswith("UMAP (like ")
    spectrum.to_png(tmp_path / "s.png", labels=labels, n_panels=3, methods=False, dpi=40)
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_told_to_programs_is_complete(spectrum):
    told = spectrum.to_dict()
    assert told["exaggerations"] == spectrum.exaggerations.tolist()
    assert [mark["name"] for mark in told["marks"]] == ["ForceAtlas2", "UMAP", "NegTSNE"]
    assert isinstance(spectrum, Spectrum)
    assert repr(spectrum).startswith("Spectrum(13 exaggerations from")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"exaggerations": []}, ValueError, "exaggerations of shape (0,) must be a list of one or more numbers"),
        ({"exaggerations": [1, 0]}, ValueError, "exaggerations must be finite numbers > 0 (one is 0)"),
        ({"exaggerations": "many"}, TypeError, "exaggerations of type str must be numbers > 0"),
        ({"n_neighbors": 1}, ValueError, "n_neighbors=1 must be an integer >= 2"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be an integer >= 1"),
        ({"n_components": 99}, ValueError, "n_components=99 must be at most the number of distinct rows less two, 98"),
        ({"locate": ["umap"]}, ValueError, "locate with 'umap' must be a list of 'ForceAtlas2', 'UMAP', 'NegTSNE'"),
        ({"locate": "UMAP"}, TypeError, "locate='UMAP' must be True, False or a list"),
        ({"random_state": -1}, ValueError, "random_state=-1 must be in"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, text, digits):
    with pytest.raises(error) as raised:
        gn.attraction_repulsion_spectrum(digits[0][:100], **arguments)
    assert str(raised.value).startswith(f"attraction_repulsion_spectrum: {text}")
