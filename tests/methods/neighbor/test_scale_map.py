"""ScaleMAP: UMAP of differences over local radii."""

import numpy as np
import pytest

import gnomon
from gnomon import UMAP, DensMAP, ScaleMAP
from gnomon.exceptions import DataWarning

QUICK = {"n_neighbors": 10, "max_iter": 60, "random_state": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def blobs():
    """Two groups of 80 rows, one ten times as wide as the other."""
    rows = np.random.default_rng(0).normal(size=(160, 5))
    rows[80:] = 60 + 10 * rows[80:]
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def fitted(blobs):
    return ScaleMAP(n_neighbors=10, max_iter=300, random_state=0, n_jobs=1).fit(blobs)


def area(points):
    return float(np.sqrt(np.linalg.det(np.cov(points.T))))


def test_without_scale_it_is_umap(blobs):
    found = ScaleMAP(radius_power=0, **QUICK).fit(blobs)
    np.testing.assert_array_equal(found.embedding_, UMAP(**QUICK).fit_transform(blobs))
    assert not hasattr(found, "scales_")
    assert not hasattr(found, "radii_")


def test_areas_of_groups_are_in_the_ratio_of_the_data(blobs, fitted):
    plain = UMAP(n_neighbors=10, max_iter=300, random_state=0, n_jobs=1).fit_transform(blobs)
    assert 0.5 < area(plain[80:]) / area(plain[:80]) < 2.0
    assert 50 < area(fitted.embedding_[80:]) / area(fitted.embedding_[:80]) < 200


def test_scales_are_the_radii_of_neighbourhoods_over_their_geometric_mean(blobs, fitted):
    radii = np.sqrt(np.square(fitted.graph_.distances.astype(float)).mean(axis=1))
    np.testing.assert_allclose(fitted.scales_, radii / np.exp(np.log(radii).mean()), rtol=1e-9)
    cubed = ScaleMAP(radius_power=3.0, **QUICK).fit(blobs / 30)
    assert np.ptp(np.log(cubed.scales_)) > 2.5 * np.ptp(np.log(fitted.scales_))


def test_density_is_measured_as_by_densmap(blobs, fitted):
    other = DensMAP(**QUICK).fit(blobs)
    np.testing.assert_allclose(fitted.radii_, other.radii_)
    found = np.corrcoef(fitted.radii_, fitted.map_radii_)[0, 1]
    np.testing.assert_allclose(fitted.density_correlation_, found)
    assert found > 0.9


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_the_unit_of_the_data_does_not_matter(factor, blobs):
    maps = [ScaleMAP(**QUICK).fit_transform(c * blobs) for c in (np.float32(1), np.float32(factor))]
    np.testing.assert_array_equal(*maps)


def test_threads_do_not_change_a_bit(blobs):
    new = blobs[::9] + np.float32(0.3)
    found = [ScaleMAP(**{**QUICK, "n_jobs": n}).fit(blobs) for n in (1, 2)]
    assert len({one.embedding_.tobytes() for one in found}) == 1
    assert len({one.place(new).tobytes() for one in found}) == 1


def test_equal_rows_lie_together(blobs):
    doubled = np.concatenate([blobs, blobs[:30]])
    with pytest.warns(DataWarning, match="190 rows hold 160 distinct rows"):
        found = ScaleMAP(**QUICK).fit(doubled)
    np.testing.assert_array_equal(found.embedding_[:30], found.embedding_[160:])
    assert len(found.scales_) == len(found.radii_) == 190
    with pytest.warns(DataWarning):
        one_place = ScaleMAP(n_neighbors=5, max_iter=5).fit(np.ones((12, 3)))
    np.testing.assert_array_equal(one_place.scales_, np.ones(12))
    assert np.isnan(one_place.radii_).all()
    assert np.isnan(one_place.density_correlation_)


@pytest.mark.parametrize("power", [1.0, 4.0])
def test_radii_over_many_orders_of_magnitude_stay_within_float32(power):
    rng = np.random.default_rng(1)
    rows = 10.0 ** rng.uniform(-8, 8, 200)[:, None] * np.abs(rng.normal(size=(200, 3)))  # as wide as far from 0
    method = ScaleMAP(n_neighbors=8, max_iter=60, radius_power=power, random_state=0, n_jobs=1)
    found = method.fit(rows.astype(np.float32))
    assert np.isfinite(found.embedding_).all()
    assert 1e5 < found.scales_.max() / found.scales_.min() < 1.0001e6
    assert len(np.unique(found.embedding_, axis=0)) == 200


def test_a_new_row_has_a_radius_of_its_own_and_lies_at_its_minimum(blobs, fitted):
    rows = np.random.default_rng(5).normal(size=(12, 5))
    rows[6:] = 60 + 10 * rows[6:]
    rows = rows.astype(np.float32)
    placed = fitted.place(rows)
    for group, places in ((slice(0, 80), placed[:6]), (slice(80, 160), placed[6:])):
        centre = fitted.embedding_[group].mean(axis=0)
        spread = np.sqrt(np.square(fitted.embedding_[group] - centre).sum(axis=1).mean())
        assert np.sqrt(np.square(places - centre).sum(axis=1)).max() < 4 * spread
    np.testing.assert_array_equal(fitted.place(rows[3:5]), placed[3:5])
    np.testing.assert_array_equal(fitted.place(blobs[:5]), fitted.embedding_[:5])

    placement, h = fitted.placement_, 1e-4
    indices, distances = placement.search.find(rows)
    zoom = 1.0 / np.sqrt(placement.radii.of(distances))
    assert zoom[:6].min() > 1.5 * zoom[6:].max()
    weights = placement.affinities(placement.rows, rows, indices, distances)

    def losses(places):
        return placement.field.losses(indices, weights, places, zoom)

    here, slope = losses(placed)
    units = zoom[:, None] ** -2
    assert np.abs(slope * units).max() < 1e-3
    away = placed + (0.3 * units * [0.6, -0.8]).astype(np.float32)
    assert (losses(away)[0] > here).all()
    numeric = (losses(away + np.float32([h, 0]))[0] - losses(away - np.float32([h, 0]))[0]) / (2 * h)
    np.testing.assert_allclose(losses(away)[1][6:, 0], numeric[6:], rtol=2e-2, atol=1e-3)


def test_it_is_found_by_name_and_kept_in_files(blobs, fitted, tmp_path):
    new = blobs[3::40] + np.float32(0.5)
    fitted.save(tmp_path / "method.gnomon")
    np.testing.assert_array_equal(gnomon.load(tmp_path / "method.gnomon").place(new), fitted.place(new))
    assert isinstance(gnomon.map(blobs, "scale_map", n_neighbors=5, max_iter=3, random_state=0), gnomon.Map)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"radius_power": -1}, r"ScaleMAP: radius_power=-1 must be a number >= 0"),
        ({"density": 2.0}, r"ScaleMAP: density=2\.0 must be None or 0 with local radii \(the radii keep the density\)"),
        ({"output_metric": "sphere"}, r"ScaleMAP: output_metric='sphere' must be 'euclidean' with local radii"),
        (
            {"blocks": {"a": gnomon.Block([0, 1]), "b": gnomon.Block([2, 3])}},
            r"radius_power=1\.0 must be 0 where several blocks are given \(their distances have no common unit\)",
        ),
    ],
)
def test_what_does_not_go_with_radii_is_refused(given, text, blobs):
    with pytest.raises(ValueError, match=text):
        ScaleMAP(**{**QUICK, **given}).fit(blobs)


def test_a_sensitivity_is_refused(blobs, fitted):
    with pytest.raises(ValueError, match=r"=1\.0 must be 0 for a sensitivity \(radii follow the data as well\)"):
        gnomon.sensitivity(fitted, blobs, rows=[0])
