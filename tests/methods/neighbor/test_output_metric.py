"""Maps on a sphere and on a hyperboloid by the estimators: what fits, places, loads, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import gnomon as gn
from gnomon.optimizers import Adam
from gnomon.surfaces import Hyperboloid, Sphere

BOTH = pytest.mark.parametrize("metric", ["sphere", "hyperboloid"])


def _ball(n, seed=0, noise=0.03):
    """Points all over a sphere, in ten dimensions."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    basis, _ = np.linalg.qr(np.random.default_rng(99).normal(size=(10, 3)))
    return (points @ basis.T + noise * rng.normal(size=(n, 10))).astype(np.float32)


X, NEW = _ball(500), _ball(60, seed=1)


def _kept(distances, data):
    """The share of 10 neighbours in the data that are among 10 in the map; both (rows, others)."""
    near = (np.argsort(table, axis=1, kind="stable")[:, :10] for table in (distances, data))
    return np.mean([len(np.intersect1d(one, other)) / 10 for one, other in zip(*near, strict=True)])


@pytest.fixture(scope="module")
def maps():
    return {metric: gn.UMAP(output_metric=metric, random_state=0).fit(X) for metric in ("sphere", "hyperboloid")}


def test_a_sphere_is_not_torn_where_the_plane_tears(maps):
    ball, flat = maps["sphere"], gn.UMAP(random_state=0).fit_transform(X)
    curved = gn.evaluate(X, ball.embedding_, surface=ball.surface_)
    plane = gn.evaluate(X, flat)
    assert curved.trustworthiness > plane.trustworthiness
    assert curved.continuity > 0.99 > plane.continuity
    assert curved.shepard > 0.95 > plane.shepard + 0.1


def test_coordinates_are_what_is_said(maps):
    longitude, latitude = maps["sphere"].embedding_.T
    assert maps["sphere"].surface_ == Sphere(np.log10(500) - 1)
    assert (np.abs(longitude) <= np.pi).all()
    assert (np.abs(latitude) <= np.pi / 2).all()
    assert np.ptp(longitude) > 6
    assert np.ptp(latitude) > 2.5
    assert maps["hyperboloid"].surface_ == Hyperboloid(2.0)
    assert (np.linalg.norm(maps["hyperboloid"].embedding_, axis=1) < 1).all()
    assert all(one.embedding_.dtype == np.float64 for one in maps.values())


@BOTH
def test_threads_do_not_change_a_byte(maps, metric):
    for n_jobs in (1, 2):
        again = gn.UMAP(output_metric=metric, random_state=0, n_jobs=n_jobs).fit(X)
        assert again.embedding_.tobytes() == maps[metric].embedding_.tobytes()


@BOTH
def test_new_rows_are_placed_among_their_neighbours_by_the_row_alone(maps, metric):
    fitted = maps[metric]
    places = fitted.place(NEW)
    flat = gn.UMAP(random_state=0).fit(X)
    data = np.linalg.norm(NEW[:, None] - X, axis=2)
    straight = np.linalg.norm(flat.place(NEW)[:, None] - flat.embedding_, axis=2)
    assert _kept(fitted.surface_.distances(places, fitted.embedding_), data) > _kept(straight, data) - 0.05
    np.testing.assert_array_equal(fitted.place(NEW[7:9]), places[7:9])
    np.testing.assert_array_equal(fitted.place(X[:5]), fitted.embedding_[:5])


@BOTH
def test_a_loaded_or_pickled_map_places_with_the_same_bytes(maps, metric, tmp_path):
    fitted = maps[metric]
    places = fitted.place(NEW)
    fitted.save(tmp_path / "map.gnomon")
    for other in (gn.load(tmp_path / "map.gnomon"), pickle.loads(pickle.dumps(fitted))):
        assert other.surface_ == fitted.surface_
        assert other.place(NEW).tobytes() == places.tobytes()


def test_a_given_start_is_of_coordinates():
    start = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    fitted = gn.UMAP(output_metric="sphere", init=start, max_iter=0, random_state=0).fit(X)
    np.testing.assert_allclose(fitted.embedding_, start, atol=1e-6)
    with pytest.raises(ValueError, match="latitude must be at most pi/2"):
        gn.UMAP(output_metric="sphere", init=4 * start, max_iter=0).fit(X)


def test_the_radius_is_the_one_given_or_follows_the_spread():
    options = {"output_metric": "hyperboloid", "max_iter": 5, "random_state": 0}
    assert gn.UMAP(output_radius=3.0, **options).fit(X).surface_.radius == 3.0
    assert gn.UMAP(spread=2.0, **options).fit(X).surface_.radius == 4.0


def test_umap_of_parts_is_umap(maps):
    parts = {"affinity": "fuzzy", "kernel": "umap", "loss": "cross_entropy", "init": "spectral"}
    own = gn.NeighborEmbedding(**parts, output_metric="sphere", random_state=0).fit(X)
    assert own.embedding_.tobytes() == maps["sphere"].embedding_.tobytes()


def test_the_exact_loss_of_all_pairs_makes_a_map_too():
    parts = {"affinity": "gaussian", "affinity_params": {"perplexity": 10}, "n_neighbors": 30, "loss": "kl"}
    short = {"max_iter": 30}
    fitted = gn.NeighborEmbedding(**parts, optimizer_params=short, output_metric="sphere", random_state=0).fit(X)
    assert [loss for _, loss in fitted.solution_.loss] == sorted(
        (loss for _, loss in fitted.solution_.loss), reverse=True
    )
    assert gn.evaluate(X, fitted.embedding_, surface=fitted.surface_).continuity > 0.99
    places = fitted.place(X[:3] + 1e-3)
    assert fitted.surface_.distances(places, fitted.embedding_[:3]).diagonal().max() < 0.5 * fitted.surface_.radius


def test_equal_rows_share_a_place_and_a_supervised_map_works():
    table = np.concatenate([X[:120], X[:5]])
    with pytest.warns(gn.exceptions.DataWarning, match="125 rows hold 120 distinct rows"):
        Y = gn.UMAP(output_metric="sphere", max_iter=20, random_state=0).fit_transform(table)
    np.testing.assert_array_equal(Y[120:], Y[:5])
    classes = (X[:, 0] > 0).astype(int)
    fitted = gn.UMAP(output_metric="hyperboloid", max_iter=20, random_state=0).fit(X, classes)
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.supervision_ is not None


@BOTH
def test_what_is_of_flat_maps_is_refused(maps, metric):
    fitted, other = maps[metric], clone(maps[metric])
    for question in (lambda: fitted.transform(NEW), lambda: fitted.jacobian(X[0]), lambda: fitted.linearize(X[0])):
        with pytest.raises(
            ValueError, match=f"output_metric='{metric}' must be 'euclidean' for a function .* with place"
        ):
            question()
    with pytest.raises(ValueError, match="must be 'euclidean' for a function"):
        fitted.inverse_transform(fitted.embedding_[:2])
    with pytest.raises(ValueError, match="must be 'euclidean' for a sensitivity"):
        gn.sensitivity(fitted, X, rows=[0])
    for given in ({"n_components": 3}, {"density": 1.0}, {"frames": {"weight": 0.5}}):
        name = next(iter(given))
        with pytest.raises(ValueError, match=rf"^UMAP: {name}=.* must be .* for output_metric='{metric}'"):
            clone(other).set_params(**given).fit(X)
    with pytest.raises(ValueError, match=f"density=2.0 must be None for output_metric='{metric}'"):
        gn.DensMAP(output_metric=metric).fit(X)


def test_bad_parameters_are_named():
    with pytest.raises(
        ValueError, match=r"output_metric='haversine' must be .*'sphere' is what umap-learn calls 'haversine'"
    ):
        gn.UMAP(output_metric="haversine").fit(X)
    with pytest.raises(ValueError, match=r"output_radius=2\.0 must be None for output_metric='euclidean'"):
        gn.UMAP(output_radius=2.0).fit(X)
    with pytest.raises(ValueError, match=r"output_radius=0.* must be a number > 0"):
        gn.UMAP(output_metric="sphere", output_radius=0.0).fit(X)
    with pytest.raises(TypeError, match="output_metric_kwds must be written as output_radius"):
        gn.UMAP(output_metric_kwds={})
    own = gn.NeighborEmbedding
    with pytest.raises(ValueError, match=r"optimizer='lbfgs' must be one of auto, .* \(output_metric='sphere'\)"):
        own(output_metric="sphere", optimizer="lbfgs").fit(X)
    with pytest.raises(ValueError, match=r"start_spread=1\.0 must be None for output_metric='sphere'"):
        own(output_metric="sphere", start_spread=1.0).fit(X)
    with pytest.raises(ValueError, match=r"optimizer=Adam must be one of auto, .* \(output_metric='sphere'\)"):
        own(output_metric="sphere", optimizer=Adam()).fit(X)
    forecast = own()._forecast(500_000, 10, {**own().get_params(), "output_metric": "sphere"})
    with pytest.raises(ValueError, match=r"500 passes over 500000 x 500000 pairs take about .* hours.*cross_entropy"):
        forecast.check(500_000)
    with pytest.raises(ValueError, match="must be a sum over"):
        own(output_metric="sphere", loss="info_nce").fit(X)
