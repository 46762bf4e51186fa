"""What iterations of t-SNE on a mesh are said to cost, where the map and the mesh below it are known."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.optimizers.growth import GrowingMesh

MESH = GrowingMesh(
    n_samples=40_000, n_edges=5_000_000, n_terms=0, spacing=0.28, coarsening=2.0, begins=150, settles=225
)
DECAY = 180.0  # iterations after which a map grows 1 / e as fast


def _map(width, height=None):
    """Three points, one at each end and one between that moves on its own, and what stands still but for it."""
    ends = np.array([[0.0, 0.0], [width, width if height is None else height]], dtype=np.float32)
    return np.vstack((ends, ends.mean(axis=0)))


def _speed(speed, other=None):
    return np.vstack((_map(speed, other)[:2] - 7.0, [[50.0, 50.0]]))  # all drift, the ends part


def _told(mesh, width, speed, iteration):
    return mesh.costs(_map(width), _speed(speed), iteration)


def _beyond(costs):
    """What the mesh adds to an iteration, by where costs begin."""
    return {begin: factor - 1.0 for begin, factor in costs}


def _rest(costs):
    """What the mesh adds to an iteration when points are at rest."""
    return costs[-1][1] - 1.0


def test_iterations_grow_dearer_until_points_settle_and_their_mesh_is_finer():
    begins, factors = zip(*_told(MESH, 0.0, 0.0, 0), strict=True)
    assert list(begins) == sorted(set(begins))
    assert begins[-3:] == (225, 226, 231)
    assert list(factors[:-3]) == sorted(factors[:-3])
    assert factors[0] == pytest.approx(1.0, abs=0.01)
    assert factors[-3] > factors[-2] > factors[-1] > factors[-4]  # the first kernel of the fine mesh, more, none


def test_twice_the_rows_and_edges_halve_the_share_of_the_same_mesh():
    twice = replace(MESH, n_samples=80_000, n_edges=10_000_000)
    one, other = (_beyond(_told(mesh, 150.0, 3.0, 150)) for mesh in (MESH, twice))
    assert other == pytest.approx({begin: share / 2 for begin, share in one.items()})


def test_a_map_twice_as_wide_has_four_times_the_nodes():
    narrow, wide = (_rest(_told(MESH, width, 0.0, 150)) for width in (75.0, 150.0))
    assert wide / narrow == pytest.approx(4.0, rel=0.1)  # both have a margin
    upright = MESH.costs(_map(100.0, 225.0), _speed(0.0), 150)
    assert wide == pytest.approx(_rest(upright), rel=0.05)


def test_how_wide_a_map_becomes_is_told_from_how_fast_its_ends_part():
    """It grows ever more slowly, as an exponential, and by what its points still move while they settle."""
    until_rest = DECAY * (1.0 - np.exp(-75 / DECAY)) + 3.3 * np.exp(-75 / DECAY)
    moving, still = (_rest(_told(MESH, *given, 150)) for given in ((100.0, 2.0), (100.0 + 2.0 * until_rest, 0.0)))
    assert moving == pytest.approx(still, rel=1e-5)
    shrinking = _rest(_told(MESH, 100.0, -2.0, 150))
    assert shrinking < _rest(_told(MESH, 100.0, 0.0, 150))
    one_way = MESH.costs(_map(100.0), _speed(0.0, 2.0), 150)
    assert _rest(_told(MESH, 100.0, 0.0, 150)) < _rest(one_way) < moving


def test_the_present_map_counts_only_once_exaggeration_is_over():
    assert _told(MESH, 100.0, 1.0, 100) == _told(MESH, 0.0, 0.0, 0)
    assert _told(MESH, 100.0, 1.0, 150) != _told(MESH, 200.0, 1.0, 150)
    assert _told(MESH, 100.0, 1.0, 150) != _told(MESH, 100.0, 2.0, 150)


def test_a_map_that_grows_as_foreseen_is_told_the_same_all_the_time():
    told = []
    for since in (0, 50, 75):
        left = np.exp(-since / DECAY)
        told.append(_told(MESH, 120.0 + 3.0 * DECAY * (1.0 - left), 3.0 * left, 150 + since))
    assert told[1] == [(begin, pytest.approx(factor, rel=1e-5)) for begin, factor in told[0]]
    assert told[2] == [(begin, pytest.approx(factor, rel=1e-5)) for begin, factor in told[0]]


def test_a_map_that_rests_keeps_its_width_whatever_its_points_do():
    assert _rest(_told(MESH, 300.0, 5.0, 240)) == _rest(_told(MESH, 300.0, 0.0, 240))


def test_a_kernel_that_is_made_anew_costs_more_than_the_iteration_itself():
    """The spacing of a mesh as wide as may be follows the map, and the kernel the spacing."""
    most = replace(MESH, spacing=1e-3)
    work = 62.0 * 40_000 + 1.25 * 5e6
    assert _rest(_told(most, 150.0, 0.0, 150)) == pytest.approx((3.3 + 5.8) * 4096**2 / work, rel=1e-6)
    costs = dict(_told(MESH, 150.0, 0.0, 150))
    assert (costs[225] - 1.0) / (costs[231] - 1.0) == pytest.approx((3.3 + 5.8) / 3.3)
    assert costs[226] == costs[231]  # a map that stands still needs no other kernel


def test_terms_that_are_added_cost_and_hold_a_map_together():
    held = replace(MESH, n_terms=1)
    assert _rest(_told(held, 150.0, 1.0, 150)) < _rest(_told(MESH, 150.0, 1.0, 150))  # of dearer iterations
    share = _rest(_told(held, 0.0, 0.0, 0)) / _rest(_told(MESH, 0.0, 0.0, 0))
    assert 0.7 < share < 0.88**2 * 1.05


def test_a_fit_that_settles_at_once_has_costs():
    assert [begin for begin, _ in _told(replace(MESH, settles=150), 10.0, 0.0, 0)][-3] == 150
    line = np.zeros((40_000, 1), dtype=np.float32)
    assert MESH.costs(line, line, 150)[-1][1] == pytest.approx(1.0, abs=0.01)
