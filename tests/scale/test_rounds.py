"""Rounds: a message is that of its sender's last round, on a cluster as in this process; errors arrive as they are."""

import numpy as np
import pytest

from gnomon.scale import DaskExecutor, LocalExecutor, LocalRounds, RoundsWork, Sent, rounds_of

distributed = pytest.importorskip("distributed")


class Ring(RoundsWork):
    """Each part adds what its left neighbour has; the first part collects in every second round."""

    def __init__(self, n_parts, fails_at=-1):
        self.n_parts, self.fails_at = n_parts, fails_at

    @property
    def on_worker(self):
        return self

    def part(self, number):
        return 10 * number

    def rounds(self, first, last):
        parts = range(self.n_parts)
        pass_on = {part: [((part - 1) % self.n_parts, "value")] for part in parts}
        collect = {0: [(part, "value") for part in parts]}
        return [dict.fromkeys(parts, ()), *[pass_on, collect] * (last - first)]

    def step(self, held, state, read, run):
        if run.number == self.fails_at and held == 10:
            raise ZeroDivisionError("in the second part")
        value = state + sum(one.sum() for one in read) + held
        return Sent(value, {"value": np.full(3, value)})


def plain(n_parts, states, steps):
    """The same without rounds."""
    states = [state + 10 * part for part, state in enumerate(states)]
    for _ in range(steps):
        states = [state + 3 * states[part - 1] + 10 * part for part, state in enumerate(states)]
        states[0] += 3 * sum(states)
    return states


@pytest.fixture(scope="module")
def client():
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=2, **settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_rounds_do_the_same_on_a_cluster_with_any_number_of_parts_on_a_worker(client, n_parts):
    states = list(range(n_parts))
    local, shared = rounds_of(Ring(n_parts), LocalExecutor()), rounds_of(Ring(n_parts), DaskExecutor(client))
    assert isinstance(local, LocalRounds)
    expected = plain(n_parts, states, 4)
    assert local.run(states, 0, 4) == expected
    once = shared.run(states, 0, 4)
    assert once == expected
    assert shared.run(once, 4, 7) == local.run(expected, 4, 7)  # from where they were left
    assert shared.run(states, 0, 4) == expected  # from states that are sent anew
    assert shared.n_restarts == 0


def test_the_error_of_a_part_arrives_and_the_others_do_not_wait_for_it(client):
    rounds = rounds_of(Ring(2, fails_at=3), DaskExecutor(client))
    with pytest.raises(ZeroDivisionError, match="in the second part"):
        rounds.run([0, 1], 0, 400)
    assert client.submit(int, 3).result(timeout=5) == 3
    assert rounds_of(Ring(2), DaskExecutor(client)).run([0, 1], 0, 3) == plain(2, [0, 1], 3)
