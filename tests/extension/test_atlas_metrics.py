"""An atlas follows the metric of its map: directions have no length, angles no seam, the sphere no pole."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.extension import AffineAtlas, measure_drift
from gnomon.extension.atlas.lifts import lift_of
from gnomon.neighbors import compute_neighbors

pytestmark = pytest.mark.filterwarnings("ignore:.*out of range:gnomon.exceptions.DataWarning")

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(300, 6)) + 1.5
ANGLES = np.column_stack([RNG.uniform(-180, 180, (400, 2)), RNG.normal(scale=50, size=400)])
PLACES = np.radians(ANGLES[:, :2] / [2.1, 1.0])  # latitude and longitude


def on_circles(angles):
    turns = np.radians(angles[:, :2])
    return np.column_stack([np.cos(turns), np.sin(turns), angles[:, 2] / 50])


def on_sphere(places):
    latitude, longitude = places.T
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])


CASES = {
    "cosine": (CLOUD, CLOUD[:, :2] / np.linalg.norm(CLOUD, axis=1)[:, None]),
    "correlation": (CLOUD, CLOUD[:, :2] - CLOUD.mean(axis=1)[:, None]),
    "periodic(360, 360, inf)": (ANGLES, on_circles(ANGLES)),
    "haversine": (PLACES, on_sphere(PLACES)),
}


def made(metric, form=np.asarray):
    X, Y = CASES[metric]
    return AffineAtlas(form(X), Y, metric=metric, n_jobs=1)


@pytest.mark.parametrize(
    ("metric", "form"), [*((m, np.asarray) for m in CASES), ("cosine", sp.csr_array), ("cosine", np.float32)]
)
def test_it_passes_through_the_map_and_has_the_derivative_it_says(metric, form):
    (X, Y), atlas = CASES[metric], made(metric, form)
    np.testing.assert_allclose(atlas.transform(form(X)), Y, atol=1e-12)
    if form is np.float32:
        return
    new, h = 0.9 * X[:15] + 0.1 * X[15:30], 1e-6
    steps = h * np.eye(X.shape[1])
    numbers = [(atlas.transform(form(new + e)) - atlas.transform(form(new - e))) / (2 * h) for e in steps]
    exact = atlas.jacobian(form(new))
    np.testing.assert_allclose(exact, np.stack(numbers, axis=2), atol=1e-6 * np.abs(exact).max())
    place, derivative = atlas.linearize(new[0])
    np.testing.assert_allclose(place, atlas.transform(form(new[:1]))[0], atol=1e-9)
    np.testing.assert_allclose(derivative, exact[0], atol=1e-9)


@pytest.mark.parametrize(
    ("metric", "change"),
    [
        ("cosine", lambda X: 4.0 * X),
        ("correlation", lambda X: 4.0 * X + 8.0),
        ("periodic(360, 360, inf)", lambda X: X + np.array([360.0, -720.0, 0.0])),
        ("haversine", lambda X: X + np.array([0.0, 2 * np.pi * (X[0, 1] < 0)])),
    ],
)
def test_rows_that_the_metric_takes_for_equal_have_one_place(metric, change):
    new = CASES[metric][0][:1] + 0.01
    atlas = made(metric)
    np.testing.assert_allclose(atlas.transform(change(new)), atlas.transform(new), atol=1e-9)
    assert atlas.novelty(change(new)) == atlas.novelty(new)


def test_angles_have_no_seam_in_either_direction():
    atlas = made("periodic(360, 360, inf)")
    either = np.array([[179.999, 10.0, 0.0], [-179.999, 10.0, 0.0]])
    np.testing.assert_allclose(*atlas.transform(either), atol=1e-4)
    np.testing.assert_allclose(*atlas.jacobian(either), atol=1e-4)
    near = atlas.inverse_transform(on_circles(either))
    assert (np.abs(np.abs(near[:, 0]) - 180.0) < 5.0).all()  # the mean of -180 and 180 is none of them
    assert (np.abs(near[:, 1] - 10.0) < 5.0).all()
    assert np.median(atlas.round_trip().relative_data_error) < 1e-3


def test_the_inverse_gives_values_of_the_range_of_the_data():
    X = ANGLES[:, :1] % 360 + 90
    lift = lift_of("periodic(360)", X)
    np.testing.assert_allclose(lift.rows(lift.points(X)), X, atol=1e-9)
    lift = lift_of("haversine", PLACES)
    np.testing.assert_allclose(lift.rows(lift.points(PLACES)), PLACES, atol=1e-9)
    back = made("haversine").inverse_transform(on_sphere(PLACES[:30]))
    np.testing.assert_allclose(on_sphere(back), on_sphere(PLACES[:30]), atol=0.05)


def test_a_row_of_zeros_has_a_place_and_no_derivative():
    atlas = made("cosine")
    assert np.isfinite(atlas.transform(np.zeros((1, 6)))).all()
    assert (atlas.jacobian(np.zeros(6)) == 0.0).all()


@pytest.mark.filterwarnings("ignore:.*compares sets:gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_column_that_a_set_has_or_lacks_whatever_its_number_has_no_derivative(form):
    sets = np.random.default_rng(0).integers(0, 2, (200, 6)).astype(float)
    X = sets * [1, 1, 1, 1, 1, 3]
    atlas, found = (AffineAtlas(form(one), sets[:, :2] + sets[:, 5:], metric="jaccard") for one in (X, sets))
    slopes = atlas.jacobian(form(X[:20]))
    assert (slopes[..., 5] == 0.0).all()
    np.testing.assert_allclose(slopes[..., :5], found.jacobian(form(sets[:20]))[..., :5], atol=1e-12)
    assert np.abs(slopes[..., 0]).max() > 0.1
    np.testing.assert_allclose(atlas.transform(form(X[:20])), found.transform(form(sets[:20])), atol=1e-12)


def test_metrics_that_are_no_lengths_between_points_leave_rows_as_they_are():
    for metric, X in (("euclidean", CLOUD), ("manhattan", CLOUD), ("correlation", sp.csr_array(CLOUD)), ("x", CLOUD)):
        lift = lift_of(metric, X)
        assert lift.points(X) is X
    for metric in ("cosine", "haversine"):  # distances between points order pairs as the metric does
        X = CASES[metric][0]
        near = compute_neighbors(lift_of(metric, X).points(X), 5).indices
        np.testing.assert_array_equal(near, compute_neighbors(X, 5, metric=metric).indices)


def test_estimators_and_maps_follow_their_metric():
    fitted = gn.UMAP(metric="cosine", random_state=0, max_iter=20, init="random").fit(CLOUD)
    np.testing.assert_allclose(fitted.transform(8 * CLOUD[:9]), fitted.embedding_[:9], atol=1e-5)
    mapped = gn.Map(CLOUD, CASES["cosine"][1], metric="cosine")
    np.testing.assert_allclose(mapped.transform(8 * CLOUD[:9]), mapped.embedding[:9], atol=1e-5)
    assert (mapped.novelty(8 * CLOUD) < 1.0).all()
    _, drift = mapped.extend(8 * CLOUD + 0.001)
    assert drift.out_of_range == 0.0
    assert drift.preserved_new > 0.99 * drift.preserved_old
    np.testing.assert_array_equal(drift.novelty, mapped.novelty(8 * CLOUD + 0.001))


def test_drift_by_default_is_euclidean():
    places = CASES["cosine"][1]
    assert measure_drift(CLOUD, places, 8 * CLOUD, places).out_of_range > 0.9
    assert measure_drift(CLOUD, places, 8 * CLOUD, places, metric="cosine").out_of_range == 0.0
