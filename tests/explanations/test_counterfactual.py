"""A counterfactual says the smallest change along the data, and tells the truth about where the changed row lands."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from gnomon.explanations import explain
from gnomon.explanations.counterfactual import counterfactual, search
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.paths import (
    KINDS,
    Candidate,
    Path,
    Placing,
    _rank,
    best_candidate,
    find_paths,
    further_candidates,
    path_graph,
    paths_along,
    shortest_path,
    try_paths,
)
from gnomon.explanations.counterfactual.region import Membership, Region, target_rows
from gnomon.neighbors import NeighborGraph, compute_neighbors


@pytest.fixture(scope="module")
def strip():
    """Rows along feature 0; feature 1 varies by itself, 2 is constant, 3 follows feature 0 along a curve."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 10, 800)
    X = np.stack([t, rng.uniform(-0.5, 0.5, 800), np.full(800, 4.0), np.sin(t / 2)], axis=1)
    labels = np.where(t < 3, "low", np.where(t > 7, "high", "middle"))
    return X, labels


def first_two(rows):
    return np.asarray(rows)[:, :2]


@pytest.fixture(scope="module")
def explanation(strip):
    X, _ = strip
    return explain(X, X[:, :2].copy(), n_jobs=1)


@pytest.fixture(scope="module")
def found(strip, explanation):
    X, labels = strip
    point = int(np.argmin(np.abs(X[:, 0] - 5) + np.abs(X[:, 1])))
    return counterfactual(explanation, point, transform=first_two, target="high", labels=labels, plausible=False)


def test_only_what_must_change_does_and_by_as_little_as_it_takes(strip, found):
    X, _ = strip
    by_name = dict(zip(found.features, found.change, strict=True))
    assert by_name["feature 0"] == pytest.approx(7 - X[found.index, 0], abs=0.25)
    assert abs(by_name["feature 1"]) < 0.3
    assert by_name["feature 2"] == 0
    # The row goes along the curve of the data, not straight through the air.
    assert found.row[3] == pytest.approx(np.sin(found.row[0] / 2), abs=0.1)
    assert found.features[0] == "feature 0"


def test_where_the_row_lands_is_where_transform_puts_it(strip, found):
    assert found.reached
    assert found.label == "high"
    assert found.distance == 0
    np.testing.assert_array_equal(found.landed, first_two(found.row[None])[0])
    np.testing.assert_allclose(found.row[found.indices], found.values + found.change)
    assert found.fidelity > 0.95
    assert found.cosine > 0.99
    assert found.ratio == pytest.approx(1, abs=0.1)


def test_units_of_the_table(strip, found):
    X, _ = strip
    at = found.features.index("feature 0")
    assert found.change_sd[at] == pytest.approx(found.change[at] / X[:, 0].std())
    constant = found.features.index("feature 2")
    assert (
        found.error[constant] == found.effect[constant] == found.spread[constant] == found.local_change[constant] == 0
    )
    assert 0 < found.spread[at] < 0.2
    near = compute_neighbors(X, 15).indices
    own = np.sqrt(np.mean((X[near, 0] - X[:, [0]]) ** 2, axis=1))
    scale = own[np.append(near[found.index], found.index)].mean()
    assert found.local_change[at] == pytest.approx(found.change[at] / scale, rel=1e-4)
    assert found.contribution is found.effect
    document = json.loads(json.dumps(found.head(2).to_dict()))
    assert document["reached"] is True
    assert document["n_needed"] == 1
    first = document["features"][0]
    assert (first["change"], first["contribution"], first["needed"]) == (found.change[0], found.effect[0], True)
    assert "lands at" in str(found)
    assert "3 features that change 1 are enough; the local linear maps predict 100% of the displacement\n" in str(found)


def test_a_target_that_is_not_reached_is_admitted(strip, explanation):
    _X, labels = strip
    nowhere = counterfactual(
        explanation, 0, transform=lambda rows: np.zeros((len(rows), 2)) - 50, target=np.flatnonzero(labels != labels[0])
    )
    assert not nowhere.reached
    assert nowhere.distance > 40
    assert "not in the target" in str(nowhere)
    assert nowhere.n_paths == 0
    assert nowhere.n_needed is None
    assert nowhere.needed_novelty is None
    assert not nowhere.needed.any()
    assert "enough" not in str(nowhere)
    lost = counterfactual(
        explanation, 0, transform=lambda rows: np.full((len(rows), 2), np.nan), target=labels != labels[0]
    )
    assert not lost.reached
    assert lost.distance == np.inf
    assert np.isnan(lost.effect).all()
    assert (np.diff(np.abs(lost.change_sd)) <= 0).all()


def test_a_prediction_that_is_wrong_has_no_fidelity(strip, explanation):
    X, labels = strip
    i = int(np.flatnonzero(labels == "middle")[0])
    mirrored = counterfactual(
        explanation, i, transform=lambda rows: 2 * X[i, :2] - first_two(rows), target="low", labels=labels
    )
    assert not mirrored.reached or (mirrored.fidelity == 0 and "contributions mean little" in mirrored.headline())


@pytest.mark.parametrize("form", [np.float32, sp.csr_array])
def test_rows_are_placed_in_the_form_of_the_data(strip, form):
    X, _labels = strip
    given = form(X) if form is sp.csr_array else X.astype(form)
    seen = []

    def transform(rows):
        seen.append(rows)
        return first_two(rows.toarray() if sp.issparse(rows) else rows)

    answer = counterfactual(
        explain(given, X[:, :2].copy(), n_jobs=1), 3, transform=transform, target=[int(np.argmax(X[:, 0]))]
    )
    assert answer.reached
    assert all(type(rows) is type(given) and rows.dtype == given.dtype for rows in seen)


def test_positions_points_and_threads(strip, explanation):
    X, _labels = strip
    i = int(np.argmin(X[:, 0]))
    place = counterfactual(explanation, i, transform=first_two, position=(5, 0))
    assert place.reached
    assert np.linalg.norm(place.landed - [5, 0]) < 1
    point = int(np.argmin(np.abs(X[:, 0] - 9)))
    near = counterfactual(explanation, i, transform=first_two, target=[point])
    assert near.reached
    assert np.linalg.norm(near.landed - X[point, :2]) < 0.5
    other = counterfactual(explain(X, X[:, :2].copy(), n_jobs=3), i, transform=first_two, position=(5, 0))
    assert other.row.tobytes() == place.row.tobytes()
    assert other.error.tobytes() == place.error.tobytes()
    assert other.needed_row.tobytes() == place.needed_row.tobytes()


def test_a_principal_component_map_lands_where_it_was_foretold():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = rng.normal(size=(300, 8)) + 3 * np.eye(3, 8)[labels]
    pca = PCA(2).fit(X)
    i = int(np.flatnonzero(labels == 0)[0])
    found = counterfactual(
        explain(X, pca.transform(X), n_jobs=1),
        i,
        transform=pca.transform,
        target=1,
        labels=labels,
        novelty=lambda rows: NearestNeighbors(n_neighbors=1).fit(X).kneighbors(rows)[0],
    )
    assert found.reached
    assert found.label == 1
    assert found.novelty >= 0
    by_name = dict(zip(found.features, found.change, strict=True))
    assert by_name["feature 1"] > 0 > by_name["feature 0"]
    np.testing.assert_allclose(pca.transform(found.row[None])[0], found.landed, atol=1e-9)


def test_shortest_paths_are_those_of_dijkstra(strip):
    from scipy.sparse.csgraph import dijkstra

    X, _ = strip
    graph = compute_neighbors(X, 10)
    paths = path_graph(X, graph)
    lengths = paths.lengths_from(np.array([4], dtype=np.int32))[0]
    np.testing.assert_allclose(lengths, dijkstra(paths.matrix, indices=4), rtol=1e-6)
    for end in (0, 100, 799):
        rows = shortest_path(paths, lengths, end)
        assert (rows[0], rows[-1]) == (4, end)
        gone = sum(paths.matrix[a, b] for a, b in itertools.pairwise(rows))
        assert gone == pytest.approx(lengths[end], rel=1e-6)


def test_paths_cross_the_gaps_between_pieces_of_the_graph():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + np.array([30, 0, 0])])
    labels = np.repeat([0, 1], 60)
    found = counterfactual(explain(X, X[:, :2].copy(), n_jobs=1), 0, transform=first_two, target=1, labels=labels)
    assert found.reached
    assert found.features[0] == "feature 0"


def test_a_label_that_is_a_number_may_be_written_as_text():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + np.array([30, 0, 0])])
    labels, explanation = np.repeat([0, 1], 60), explain(X, X[:, :2].copy(), n_jobs=1)
    number, text = (counterfactual(explanation, 0, transform=first_two, target=to, labels=labels) for to in (1, "1"))
    assert text.columns() == number.columns()
    with pytest.raises(ValueError, match=r"target='2' must be one of the labels \(0, 1\)"):
        counterfactual(explanation, 0, transform=first_two, target="2", labels=labels)


def test_wrong_questions_are_refused(strip, explanation):
    X, labels = strip

    def ask(i=0, **options):
        return counterfactual(explanation, i, transform=first_two, **options)

    own = labels[0]
    with pytest.raises(ValueError, match="row 0 must be outside the target"):
        ask(target=own, labels=labels)
    with pytest.raises(ValueError, match="target and position must be one given"):
        ask()
    with pytest.raises(ValueError, match="target='high' must be rows where there are no labels"):
        ask(target="high")
    with pytest.raises(ValueError, match="target='none' must be one of the labels"):
        ask(target="none", labels=labels)
    with pytest.raises(ValueError, match="target with 0 rows"):
        ask(target=np.zeros(800, bool))
    with pytest.raises(ValueError, match=r"position=.* must be 2 finite numbers"):
        ask(position=(1, np.nan))
    with pytest.raises(IndexError, match="row 800 must be below n_samples=800"):
        ask(800, target=[1])
    with pytest.raises(ValueError, match="n_paths=0 must be an integer >= 1"):
        ask(target=[1], n_paths=0)
    with pytest.raises(ValueError, match="minimize='steps' must be"):
        ask(target=[1], minimize="steps")
    with pytest.raises(ValueError, match="sort_by='effect' must be"):
        ask(target=[1], sort_by="effect")
    Y = X[:, :2].copy()
    Y[:2] = np.nan
    half = explain(X, Y, n_jobs=1)
    with pytest.raises(ValueError, match="row 0 must be a point with a place"):
        counterfactual(half, 0, transform=first_two, target=[5])
    with pytest.raises(ValueError, match="target must be rows with a place"):
        counterfactual(half, 5, transform=first_two, target=[0, 1])


def test_the_first_place_in_the_region_is_found_to_the_576th_of_a_path():
    """In steps of a 24th, then between the last outside and the first inside; beyond none it is the nearest."""
    path = Path(np.array([0, 1]), np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([0.0, 1.0]))

    class Edge:
        categories, changed = (), Placing.changed

        def __init__(self, at):
            self.at = at

        def memberships(self, rows):
            return [Membership(row, row[0] >= self.at, max(self.at - row[0], 0.0), None) for row in rows]

    wide = SimpleNamespace(low=np.full(2, -10.0), high=np.full(2, 10.0))
    for edge in (0.01, 0.37, 0.5, 0.999):
        (found,) = try_paths([(path, KINDS[0])], Edge(edge), wide)
        assert found.membership.inside
        assert found.share == pytest.approx(np.ceil(edge * 576 - 1e-9) / 576)
        np.testing.assert_allclose(found.row, found.share * np.array([1.0, 2.0]))
    (found,) = try_paths([(path, KINDS[0])], Edge(1.5), wide)
    assert (found.share, found.membership.distance) == (1.0, 0.5)
    (found,) = try_paths([(path, KINDS[0])], Edge(0.37), SimpleNamespace(low=np.zeros(2), high=np.full(2, 0.2)))
    assert not found.membership.inside  # no feature leaves the range of the data
    assert (found.row <= 0.2).all()


@pytest.mark.parametrize("n_wanted", [3, 40])
def test_a_place_is_in_a_region_where_most_of_its_five_nearest_points_are(n_wanted):
    rng = np.random.default_rng(n_wanted)
    places = rng.normal(size=(150, 2))
    labels = np.where(np.argsort(np.argsort(places[:, 0])) < n_wanted, "left", "right")
    places[7] = np.nan
    wanted = (labels == "left") & np.isfinite(places[:, 0])
    region = Region.of(places, wanted, labels)
    near = {
        i: np.sort(np.linalg.norm(places - places[i], axis=1))[5] for i in np.flatnonzero(wanted)
    }  # itself is first
    assert region.reach == pytest.approx(max(near.values()))
    at = np.concatenate([rng.normal(size=(60, 2)), places[wanted][:1], [[np.nan, 0.0], [-9.0, 0.0]]])
    asked = min(5, int(wanted.sum()))
    found = region.memberships(at, without=11)
    for place, one in zip(at, found, strict=True):
        if np.isnan(place[0]):
            assert (one.inside, one.distance, one.label) == (False, np.inf, None)
            continue
        distance = np.linalg.norm(places - place, axis=1)
        order = [i for i in np.argsort(distance) if i not in (7, 11)][:asked]
        own = distance[wanted].min()
        assert one.distance == pytest.approx(own)
        assert one.inside == (np.mean(wanted[order]) > 0.5 and own <= region.reach)
        assert one.label == ("left" if np.mean(labels[order] == "left") > 0.5 else "right")
    assert {one.inside for one in found} == {True, False}
    core = [
        i
        for i in np.flatnonzero(wanted)
        if np.mean(
            wanted[[j for j in np.argsort(np.linalg.norm(places - places[i], axis=1)) if j not in (i, 7)][:asked]]
        )
        > 0.5
    ]
    assert region.core().tolist() == (core or np.flatnonzero(wanted).tolist())


def test_a_position_stands_for_the_fifteen_nearest_rows_with_a_place():
    places = np.column_stack([np.arange(40.0), np.zeros(40)])
    places[20] = np.nan
    assert (
        np.flatnonzero(target_rows(places, None, (21.1, 0.0), None)).tolist() == [*range(14, 20), *range(21, 30)][:15]
    )
    assert target_rows(places[:12], None, (0.0, 0.0), None).sum() == 12
    with pytest.raises(ValueError, match="target and position"):
        target_rows(places, [1], (0.0, 0.0), None)
    with pytest.raises(ValueError, match="2 finite numbers"):
        target_rows(places, None, (0.0, 0.0, 0.0), None)
    np.testing.assert_array_equal(np.flatnonzero(target_rows(places, [3, 20], None, None)), [3])


def test_paths_through_means_keep_or_lose_what_sets_the_row_apart():
    X = np.random.default_rng(0).normal(size=(60, 3))
    rows = np.array([4, 17, 30, 8])
    for k, used in ((20, 15), (9, 9)):
        graph = compute_neighbors(X, k)
        means = np.array([np.mean(X[[i, *graph.indices[i, :used]]], axis=0) for i in rows])
        own = X[4] - means[0]
        along, fading, through = paths_along(X, graph, rows, RowMetric("euclidean"))
        np.testing.assert_allclose(along.stations, means + own)
        np.testing.assert_allclose(fading.stations, means + own * np.array([[1.0], [2 / 3], [1 / 3], [0.0]]))
        np.testing.assert_allclose(through.stations, X[rows])
        lengths = np.linalg.norm(np.diff(X[rows], axis=0), axis=1)
        np.testing.assert_allclose(through.arc, [0.0, *np.cumsum(lengths)], rtol=1e-6)
        np.testing.assert_allclose(through.at(lengths[0] / lengths.sum()), X[17], atol=1e-6)
        np.testing.assert_allclose(
            through.at((lengths[0] + lengths[1] / 4) / lengths.sum()), X[17] + (X[30] - X[17]) / 4, atol=1e-6
        )
        np.testing.assert_array_equal(through.at(0.0), X[4])
        np.testing.assert_allclose(through.at(1.0), X[8], atol=1e-6)


def candidate(kind, share, inside=True, plausible=True, distance=0.0, row=(0.0,)):
    return Candidate(None, kind, share, Membership(None, inside, distance, None, plausible), np.array(row))


def test_the_first_kind_of_path_that_arrives_is_taken_and_of_it_the_smallest_change():
    metric, own = RowMetric("euclidean"), np.zeros(1)
    means, longer = candidate("means", 0.9, row=(3.0,)), candidate("means", 0.1, row=(4.0,))
    fading, through = candidate("fading", 0.5, row=(2.0,)), candidate("rows", 0.5, row=(1.0,))
    best, alike = best_candidate([through, longer, fading, means], own, metric)
    assert best is means
    assert alike == [longer, means]
    unlikely = [
        candidate("means", 0.2, plausible=False, row=(0.5,)),
        candidate("means", 0.3, plausible=False, row=(0.4,)),
    ]
    assert best_candidate([*unlikely, through], own, metric) == (through, [through])  # what is plausible goes before
    assert best_candidate([*unlikely, candidate("rows", 0.2, inside=False)], own, metric)[0] is unlikely[1]
    outside = [candidate("rows", 0.2, inside=False, distance=d) for d in (3.0, 1.0, 2.0)]
    assert best_candidate(outside, own, metric) == (outside[1], [])


def test_farther_on_a_path_are_three_places_to_its_end_of_which_those_that_arrive_count():
    path = Path(np.array([0, 1]), np.array([[0.0], [8.0]]), np.array([0.0, 8.0]))
    tried = []

    class Until:
        categories, changed = (), Placing.changed

        def memberships(self, rows):
            tried.extend(rows[:, 0].tolist())
            return [Membership(row, True, 0.0, None, row[0] < 6.5) for row in rows]

    wide = SimpleNamespace(low=np.full(1, -10.0), high=np.full(1, 7.5))
    first = Candidate(path, "rows", 0.25, Membership(None, True, 0.0, None), np.array([2.0]))
    end = Candidate(path, "rows", 1.0, Membership(None, True, 0.0, None), np.array([8.0]))
    found = further_candidates([first, end], Until(), wide)
    np.testing.assert_allclose(tried, [4.0, 6.0, 7.5])  # within the range of the data
    assert found[:2] == [first, end]
    np.testing.assert_allclose([one.share for one in found[2:]], [0.5, 0.75])
    np.testing.assert_allclose([one.row[0] for one in found[2:]], [4.0, 6.0])
    assert further_candidates([end], Until(), wide) == [end]


def test_a_target_in_another_piece_of_a_graph_without_distances_is_not_joined():
    X = np.random.default_rng(0).normal(size=(60, 3))
    near = np.array([[(i + s) % 30 + 30 * (i // 30) for s in range(1, 6)] for i in range(60)], np.int32)
    graph = NeighborGraph(near, np.ones(near.shape, np.float32), metric="precomputed")
    explanation = explain(X, X[:, :2].copy(), graph=graph, n_jobs=1)
    with pytest.raises(ValueError, match=r"joined to the point by a path of neighbours .*in pieces"):
        counterfactual(explanation, 0, transform=first_two, target=np.arange(30, 60))


def test_a_counterfactual_is_told_in_full(strip, explanation, monkeypatch):
    X, labels = strip
    i = int(np.argmin(np.abs(X[:, 0] - 5) + np.abs(X[:, 1])))
    asked = {"transform": lambda rows: 1.2 * first_two(rows) - [1.0, 0.3], "target": "high", "labels": labels}
    asked_of, facts = [], search._facts
    monkeypatch.setattr(search, "_facts", lambda *given: asked_of.append(given) or facts(*given))
    found = counterfactual(explanation, i, novelty=lambda rows: rows[:, 0] / 20, **asked)
    step = found.landed - found.start
    np.testing.assert_array_equal(found.start, X[i, :2])
    ((attribution, _, best, *_),) = asked_of
    told = attribution.displacements(best)
    predicted = told.sum(axis=1)
    np.testing.assert_allclose(found.effect, (step / np.linalg.norm(step) @ told)[found.indices], atol=1e-12)
    assert found.fidelity == pytest.approx(1 - np.sum((predicted - step) ** 2) / np.sum(step**2))
    assert 0.3 < found.fidelity < 0.99
    assert found.cosine == pytest.approx(predicted @ step / np.linalg.norm(predicted) / np.linalg.norm(step))
    assert found.ratio == pytest.approx(np.linalg.norm(predicted) / np.linalg.norm(step))
    assert (found.novelty, found.needed_novelty) == (found.row[0] / 20, found.needed_row[0] / 20)
    assert found.n_changed == np.count_nonzero(found.row != X[i]) == np.count_nonzero(found.change)
    assert found.n_needed == found.needed.sum()
    np.testing.assert_array_equal(
        found.needed_row, np.where(np.isin(np.arange(4), found.indices[found.needed]), found.row, X[i])
    )
    landed = "(" + ", ".join(f"{x:.3g}" for x in found.landed) + ")"
    assert found.headline() == (
        f"point {i}, changed, lands at {landed}, in the target, "
        f"among points of label high, novelty {found.novelty:.2f}\n"
        f"of {found.n_changed} features that change {found.n_needed} are enough, novelty {found.needed_novelty:.2f}, "
        f"{found.needed_target_share:.0%} of its nearest rows of the target; "
        f"the local linear maps predict {found.fidelity:.0%} of the displacement"
    )
    low = replace(
        found, fidelity=0.29, n_needed=None, plausible=False, reached=False, distance=2.0, label=None, novelty=None
    )
    assert low.headline() == (
        f"point {i}, changed, lands at {landed}, not in the target but 2 away from it\n"
        "no row on the paths to the target is plausible: none like the data and like those of the target"
        "; the local linear maps predict 29% of the displacement: contributions mean little"
    )
    assert replace(found, fidelity=0.29).headline().endswith("contributions mean little, what is needed holds")
    assert replace(found, fidelity=0.3).headline().endswith("predict 30% of the displacement")
    document = found.to_dict()
    assert document["landed"] == found.landed.tolist()
    assert "needed_row" not in repr(found)
    assert ", row=" not in repr(found)


def test_paths_are_walked_by_their_length_and_stop_at_their_ends():
    path = Path(np.arange(4), np.array([[0.0], [2.0], [2.0], [8.0]]), np.array([0.0, 2.0, 2.0, 8.0]))
    found = [path.at(share)[0] for share in (0.0, 0.125, 0.25, 0.5, 1.0)]
    np.testing.assert_allclose(found, [0.0, 1.0, 2.0, 4.0, 8.0])
    still = Path(np.arange(2), np.array([[3.0], [3.0]]), np.zeros(2))
    assert still.at(1.0)[0] == still.at(0.0)[0] == 3.0
    measured = Path.of(np.arange(3), np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]), RowMetric("precomputed"))
    assert measured.arc.tolist() == [0.0, 5.0, 6.0]


def test_candidates_are_ranked_by_arriving_then_by_being_inside_then_by_nearness():
    told = [
        candidate("rows", 0.2, inside=False, distance=0.5),
        candidate("rows", 0.9, plausible=False),
        candidate("rows", 0.8, plausible=False),
        candidate("rows", 0.95),
        candidate("rows", 0.9),
        candidate("rows", 0.1, inside=False, distance=0.4),
    ]
    assert sorted(range(6), key=lambda at: _rank(told[at])) == [4, 3, 2, 1, 5, 0]


def test_plausible_ends_of_paths_come_first_and_duplicates_of_the_point_are_no_target():
    X = np.concatenate([np.zeros((3, 2)), np.arange(1.0, 13.0)[:, None] * [1.0, 0.0]])
    explanation = explain(X, X.copy(), n_neighbors=4, pooling=0, n_jobs=1)
    wanted = np.arange(15) >= 9
    region, metric = Region.of(X, wanted, None), RowMetric("euclidean")

    class Odd:
        def holds(self, values, rows):
            np.testing.assert_array_equal(values, X[rows])
            return rows % 2 == 1

    def ends(plausibility, n_paths):
        found = find_paths(explanation, 0, region, explanation.graph, n_paths, metric, plausibility)
        assert [kind for _, kind in found[:3]] == ["means", "fading", "rows"]
        return [int(path.rows[-1]) for path, kind in found if kind == "rows"]

    core = region.core().tolist()
    assert ends(None, 3) == core[:3]
    assert ends(Odd(), 4) == [*(i for i in core if i % 2), *(i for i in core if i % 2 == 0)][:4]
    twins = Region.of(X, np.isin(np.arange(15), [1, 2]), None)
    with pytest.raises(ValueError, match="rows other than duplicates of the point"):
        find_paths(explanation, 0, twins, explanation.graph, 5, metric)


@pytest.mark.parametrize("shape", [(1, 2), (24, 3), (24,)])
def test_a_transform_that_places_other_rows_or_in_another_map_is_refused(explanation, shape):
    with pytest.raises(ValueError, match=r"transform that returns an array of shape .* must be a place in the map for"):
        counterfactual(explanation, 0, transform=lambda rows: np.zeros(shape), target=[1], n_paths=1)


def test_the_first_labels_are_named_where_a_target_is_none_and_measured_labels_name_no_place():
    places, few = np.arange(16.0).reshape(8, 2), ["a", "b", "c", "a", "b", "c", "a", "a"]
    with pytest.raises(ValueError, match=r"target='x' must be one of the labels \('a', 'b', 'c'\)"):
        target_rows(places, "x", None, few)
    with pytest.raises(ValueError, match=r"one of the labels \('a', 'b', 'c', \.\.\.\)"):
        target_rows(places, "x", None, [*few[:7], "d"])
    places, wanted = np.arange(80.0).reshape(40, 2), np.arange(40) < 7
    for labels, label in ((np.linspace(0.0, 1.3, 40), None), (few * 5, "a"), (None, None)):
        (found,) = Region.of(places, wanted, labels).memberships(places[:1], without=7)
        assert (found.inside, found.label) == (True, label)


def test_paths_pass_copies_of_rows_once():
    X = np.repeat(np.arange(6.0), 3)[:, None] * [1.0, 0.0]
    graph = compute_neighbors(X, 4)
    paths = path_graph(X, graph)
    lengths = paths.lengths_from(np.array([16], np.int32))[0]
    rows = shortest_path(paths, lengths, 0)
    assert len(set(rows.tolist())) == len(rows)
    assert (rows[-1], lengths[rows[0]]) == (0, 0.0)
    assert (np.diff(lengths[rows]) >= 0).all()


def test_another_graph_can_be_walked(strip, explanation):
    X, labels = strip
    low = int(np.argmin(X[:, 0]))
    order = np.argsort(X[:, 0])
    near = np.empty((800, 2), np.int32)
    near[order] = order[(np.arange(800)[:, None] // 400 * 400) + (np.arange(800)[:, None] + [[1, 2]]) % 400]
    apart = NeighborGraph(near, np.ones((800, 2), np.float32), metric="precomputed")
    asked = {"transform": first_two, "target": "high", "labels": labels}
    with pytest.raises(ValueError, match="in pieces"):
        counterfactual(explanation, low, graph=apart, **asked)
    short = compute_neighbors(X[:700], 5)
    with pytest.raises(ValueError, match="700"):
        counterfactual(explanation, low, graph=short, **asked)


@pytest.fixture(scope="module")
def shop():
    """Groups "a" and "b" differ in the plan, a category of three, and in visits, whole numbers; the rest is noise."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 240)
    plan, visits = np.eye(3)[group], rng.poisson(1.0 + 4.0 * (group == 1))
    X = np.column_stack([plan, visits, rng.normal(size=(240, 2))])
    return X, np.array(list("abc"))[group], explain(X, X[:, :4] @ np.array([[4, 0], [-2, 3], [-2, -3], [0.2, 0.2]]))


def seen(rows):
    return np.asarray(rows)[:, :4] @ np.array([[4, 0], [-2, 3], [-2, -3], [0.2, 0.2]])


def ask_shop(shop, i, **options):
    _, labels, explanation = shop
    return counterfactual(explanation, i, transform=seen, target="b", labels=labels, categories=[[0, 1, 2]], **options)


@pytest.mark.parametrize("plausible", [True, False])
def test_columns_that_have_nothing_to_do_with_the_target_are_not_needed(shop, plausible):
    X, labels, _ = shop
    far = np.flatnonzero(labels == "a")
    far = far[np.argsort(-np.linalg.norm(X[far, 4:], axis=1))[:4]]  # those whose noise is least usual
    for i in far.tolist():
        found = ask_shop(shop, i, plausible=plausible)
        assert found.reached
        assert {f for f, needed in zip(found.indices, found.needed, strict=True) if needed} <= {0, 1, 3}
        assert found.n_needed == found.needed.sum() >= 2


def test_a_changed_row_has_one_whole_category_and_whole_numbers_where_all_are(shop):
    _, labels, _ = shop
    for i in np.flatnonzero(labels == "a")[:6].tolist():
        found = ask_shop(shop, i)
        for row in (found.row, found.needed_row):
            np.testing.assert_array_equal(row[:3], [0, 1, 0])
        assert found.needed[np.isin(found.indices, [0, 1])].all()
        assert found.needed_row[3] == np.round(found.needed_row[3])


def test_no_change_that_is_needed_can_be_left_out(strip, explanation):
    X, labels = strip
    for i in np.flatnonzero(labels == "middle")[:5].tolist():
        found = counterfactual(explanation, i, transform=first_two, target="high", labels=labels, plausible=False)
        region = Region.of(X[:, :2], labels == "high", labels)
        for f in found.indices[found.needed]:
            row = found.needed_row.copy()
            row[f] = X[i, f]
            assert not region.memberships(first_two(row[None]), without=i)[0].inside


def test_features_that_do_not_tell_the_target_stay_where_nearness_to_its_middle_alone_asks_for_them():
    X = np.random.default_rng(0).normal(size=(160, 8))
    labels = np.repeat(["low", "high"], 80)
    X[80:, 0] += 5.0
    X[80:, 1] -= 5.0
    across = np.eye(8)[:, :2] @ [[1.0, 0.0], [-1.0, 0.2]] + 0.02  # of all a little
    explanation = explain(X, X @ across)
    for i in (0, 3, 7, 11):
        found = counterfactual(explanation, i, transform=lambda rows: rows @ across, target="high", labels=labels)
        assert found.reached
        assert found.plausible
        assert set(found.indices[found.needed]) <= {0, 1}
