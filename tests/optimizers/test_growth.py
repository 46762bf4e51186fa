"""What iterations of t-SNE on a mesh are said to cost, where the map and the mesh below it are known."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.optimizers.growth import GrowingMesh

MESH = GrowingMesh(
    n_samples=40_000, n_edges=5_000_000, n_terms=0, spacing=0.28, coarsening=2.0, begins=150, settles=225
)


def _map(width, height=None):
    return np.array([[0.0, 0.0], [width, width if height is None else height]], dtype=np.float32)


def _beyond(costs):
    """What the mesh adds to an iteration, by where costs begin."""
    return {begin: factor - 1.0 for begin, factor in costs}


def test_iterations_grow_dearer_until_points_settle_and_their_mesh_is_finer():
    begins, factors = zip(*MESH.costs(_map(0.0), 0), strict=True)
    assert list(begins) == sorted(set(begins))
    assert begins[-1] == 225
    assert list(factors) == sorted(factors)
    assert factors[0] == pytest.approx(1.0, abs=0.01)


def test_twice_the_rows_and_edges_halve_the_share_of_the_same_mesh():
    twice = replace(MESH, n_samples=80_000, n_edges=10_000_000)
    one, other = (_beyond(mesh.costs(_map(150.0), 150)) for mesh in (MESH, twice))
    assert other == pytest.approx({begin: share / 2 for begin, share in one.items()})


def test_a_map_twice_as_wide_has_four_times_the_nodes():
    narrow, wide = (_beyond(MESH.costs(_map(width), 150))[225] for width in (75.0, 150.0))
    assert wide / narrow == pytest.approx(4.0, rel=0.1)  # both have a margin
    assert wide == pytest.approx(_beyond(MESH.costs(_map(100.0, 225.0), 150))[225], rel=0.05)


def test_the_present_map_counts_only_once_exaggeration_is_over():
    assert MESH.costs(_map(100.0), 100) == MESH.costs(_map(0.0), 0)
    assert MESH.costs(_map(100.0), 150) != MESH.costs(_map(200.0), 150)


def test_a_map_that_grows_as_foreseen_is_told_the_same_all_the_time():
    shares = {since: 1.0 - 0.79 * np.exp(-since / 160.0) for since in (0, 50, 75)}
    told = [MESH.costs(_map(600.0 * share), 150 + since) for since, share in shares.items()]
    assert told[1] == [(begin, pytest.approx(factor, rel=1e-5)) for begin, factor in told[0]]
    assert told[2] == [(begin, pytest.approx(factor, rel=1e-5)) for begin, factor in told[0]]
    assert MESH.costs(_map(600.0 * shares[75]), 250)[-1][1] == pytest.approx(told[0][-1][1])  # it rests since


def test_a_kernel_that_is_made_anew_costs_as_much_again():
    """The spacing of a mesh as wide as may be follows the map, and the kernel the spacing."""
    most = replace(MESH, spacing=1e-3)
    widest = _beyond(most.costs(_map(150.0), 150))[225]
    assert widest == pytest.approx(2 * 3.4 * 4096**2 / (66.0 * 40_000 + 0.81 * 5e6), rel=1e-6)


def test_a_map_at_rest_keeps_its_kernel():
    costs = replace(MESH, coarsening=1.0).costs(_map(120.0), 150)
    assert costs[-1][1] < costs[-2][1]  # as fine before, when it grew and its kernel was made anew


def test_a_fit_that_settles_at_once_has_costs():
    assert [begin for begin, _ in replace(MESH, settles=150).costs(_map(10.0), 0)][-1] == 150
    assert MESH.costs(np.zeros((40_000, 1), dtype=np.float32), 150)[-1][1] == pytest.approx(1.0, abs=0.01)
