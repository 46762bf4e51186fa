"""LocalMAP: PaCMAP whose last phase follows the map."""

import numpy as np
import pytest

import gnomon
from gnomon import LocalMAP, PaCMAP
from gnomon.affinities import pacmap
from gnomon.methods.neighbor import local_map


@pytest.fixture(scope="module")
def blobs():
    """Six groups of 40 rows that overlap."""
    rng = np.random.default_rng(0)
    centres = 2.5 * rng.normal(size=(6, 8))[np.repeat(np.arange(6), 40)]
    return (centres + rng.normal(size=(240, 8))).astype(np.float32)


def test_without_the_adjustment_it_is_pacmap(blobs):
    expected = PaCMAP(max_iter=90, random_state=3, n_jobs=1).fit(blobs)
    found = LocalMAP(nearby_distance=None, max_iter=90, random_state=3, n_jobs=1).fit(blobs)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    assert found.solution_.loss == expected.solution_.loss
    np.testing.assert_array_equal(found.place(blobs[:5] + 0.1), expected.place(blobs[:5] + 0.1))


def test_before_the_last_phase_it_is_pacmap(blobs):
    seen = {PaCMAP: [], LocalMAP: []}
    for cls, maps in seen.items():
        keep = lambda progress, maps=maps: maps.append(np.array(progress.embedding))  # noqa: E731
        cls(max_iter=225, random_state=0, n_jobs=1, callback=keep).fit(blobs)
    plain, local = (maps[-5:] for maps in seen.values())  # after 50, 100, 150, 200 and 225 iterations
    for one, other in zip(plain[:2], local[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(plain[2], local[2])


def test_partners_are_chosen_once(blobs, monkeypatch):
    found, choose = [], pacmap.near_and_further
    monkeypatch.setattr(pacmap, "near_and_further", lambda *a, **k: found.append(choose(*a, **k)) or found[-1])
    losses, make = [], local_map.NearbyPairs
    monkeypatch.setattr(local_map, "NearbyPairs", lambda *a, **k: losses.append(a) or make(*a, **k))
    LocalMAP(max_iter=9, random_state=0, n_jobs=1).fit(blobs)
    ((near, _, further),) = found
    assert losses[0][0] is near
    assert losses[0][1] is further


def test_threads_do_not_change_a_bit(blobs):
    maps = {LocalMAP(max_iter=90, random_state=1, n_jobs=n).fit_transform(blobs).tobytes() for n in (1, 2)}
    assert len(maps) == 1


def test_more_distance_makes_groups_tighter(blobs):
    groups = np.repeat(np.arange(6), 40)

    def parted(distance):
        Y = LocalMAP(nearby_distance=distance, random_state=0, n_jobs=1).fit_transform(blobs)
        centres = np.array([Y[groups == g].mean(0) for g in range(6)])
        return np.square(Y - centres[groups]).sum() / np.square(Y - Y.mean(0)).sum()

    assert parted(5.0) > 10 * parted(20.0)


def test_new_rows_come_to_lie_in_their_groups(blobs):
    rng = np.random.default_rng(1)
    order = rng.permutation(240)
    fitted = LocalMAP(random_state=0, n_jobs=1).fit(blobs[order[:200]])
    placed, groups = fitted.place(blobs[order[200:]]), np.repeat(np.arange(6), 40)[order]
    nearest = np.square(placed[:, None] - fitted.embedding_).sum(-1).argmin(1)
    of_data = np.square(blobs[order[200:], None] - blobs[order[:200]]).sum(-1).argmin(1)
    right = (groups[:200][nearest] == groups[200:]).mean()
    assert right >= (groups[:200][of_data] == groups[200:]).mean() - 0.05
    np.testing.assert_array_equal(fitted.transform(blobs[order[:200]]), fitted.embedding_)


def test_a_saved_map_places_the_same(blobs, tmp_path):
    fitted = LocalMAP(max_iter=90, random_state=0, n_jobs=1).fit(blobs)
    fitted.save(tmp_path / "map.gnomon")
    again = gnomon.load(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(again.place(blobs[:7] + 0.2), fitted.place(blobs[:7] + 0.2))


def test_bad_parameters_are_refused(blobs):
    with pytest.raises(ValueError, match=r"LocalMAP: nearby_distance=0 must be a number > 0 or None"):
        LocalMAP(nearby_distance=0).fit(blobs)
    with pytest.raises(TypeError, match=r"LocalMAP: low_dist_thres must be written as nearby_distance"):
        LocalMAP(low_dist_thres=5.0)
