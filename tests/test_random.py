"""Every random_state becomes one seed that repeats the run."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._random import resolve_seed
from gnomon._run import running


class Tensor:
    """What torch.tensor(7) has in common with arrays."""

    shape = ()

    def __eq__(self, other):
        return other == 7

    def item(self):
        return 7


@pytest.mark.parametrize(
    "value", [0, 7, 2**63 - 1, np.int32(7), np.uint64(7), np.array(7), np.array(7, "u1"), Tensor()]
)
def test_an_integer_is_the_seed_itself(value):
    seed = resolve_seed(value)
    assert seed == value
    assert type(seed) is int


def test_no_seed_draws_another_each_time():
    seeds = {resolve_seed(None) for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_global_generator_is_left_alone():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    resolve_seed(None)
    resolve_seed(np.random.default_rng(0))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_f72_equal_generators_give_equal_seeds_and_one_generator_gives_different_ones(make):
    first, second = make(3), make(3)
    seeds = [resolve_seed(first) for _ in range(20)]
    assert seeds == [resolve_seed(second) for _ in range(20)]
    assert len(set(seeds)) == 20
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("value", [-1, 2**63, 10**400])
def test_integers_out_of_range_are_refused(value):
    with running(name="UMAP"), pytest.raises(ValueError, match=r"^UMAP: random_state=.* must be in \[0, 2\*\*63\)\.$"):
        resolve_seed(value)


@pytest.mark.parametrize("value", [True, 1.0, "0", [0], np.random, np.array(1.0), np.array(True), np.array([7])])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match=r"must be an int, a numpy Generator or RandomState, or None\."):
        resolve_seed(value)
