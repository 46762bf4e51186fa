"""Parts of a method print as they are constructed, and are equal if they are constructed alike."""

import copy

import numpy as np
import pytest

import gnomon
from gnomon import kernels, optimizers
from gnomon.kernels import EXAMPLES, CustomKernel, CustomLaw
from gnomon.kernels.inputs import CauchyInput, CosineInput, GaussianInput, LinearInput, PolynomialInput
from gnomon.optimizers import (
    ADMM,
    LBFGS,
    Adam,
    GradientDescent,
    Majorization,
    Newton,
    PolarDescent,
    SafeDescent,
    SampledDescent,
    SampledSurfaceDescent,
    SurfaceDescent,
)

USUAL = (ADMM, LBFGS, Adam, Majorization, Newton, PolarDescent, SafeDescent, SampledDescent)
DESCENTS = [
    *(one() for one in (*USUAL, SampledSurfaceDescent, SurfaceDescent, GradientDescent)),
    *(one(max_iter=7) for one in (*USUAL, SampledSurfaceDescent, SurfaceDescent, GradientDescent)),
    Adam(0.5, decay="linear"),
    GradientDescent.annealed(),
    GradientDescent.annealed(max_iter=7),
]
INPUTS = [LinearInput(), GaussianInput(2.0), CauchyInput(3.0), PolynomialInput((1.0, 2.0), 3.0), CosineInput()]
PARTS = [*DESCENTS, *(kernel for name, kernel in EXAMPLES.items() if name != "custom"), *INPUTS]
NAMES = {**vars(kernels.inputs), **{name: getattr(kernels, name) for name in kernels.__all__}}
NAMES |= {name: getattr(optimizers, name) for name in optimizers.__all__}


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_what_a_part_prints_makes_it_again(number):
    part = PARTS[number]
    again = eval(repr(part), {"__builtins__": {}}, NAMES)
    assert again is not part
    assert again == part
    assert hash(again) == hash(part)
    assert copy.deepcopy(part) == part
    assert [other for other in PARTS if other == part] == [part]
    assert part != repr(part)


def test_what_has_its_default_is_left_out():
    assert repr(Adam()) == "Adam()"
    assert repr(Adam(0.5, max_iter=300)) == "Adam(learning_rate=0.5, max_iter=300)"
    assert "optimizer=LBFGS(max_iter=9)" in repr(gnomon.NeighborEmbedding(optimizer=LBFGS(max_iter=9)))


def _value(s):
    return 1.0 / (1.0 + s)


def _derivative(s):
    return -1.0 / (1.0 + s) ** 2


def test_functions_of_ones_own_stand_by_their_names_and_are_equal_to_themselves():
    own = CustomKernel(_value, _derivative, bounded=True)
    assert repr(own) == "CustomKernel(value=_value, derivative=_derivative, bounded=True)"
    assert repr(CustomLaw(_value, _derivative)) == "CustomLaw(value=_value, derivative=_derivative)"
    assert own == CustomKernel(_value, _derivative, bounded=True)
    assert own != CustomKernel(_value, _derivative)
    assert own != CustomKernel(lambda s: _value(s), _derivative, bounded=True)


def test_arrays_are_compared_by_their_numbers_and_told_by_their_shape():
    one, two = (PolynomialInput(center=np.arange(3.0) + shift) for shift in (0.0, 1.0))
    assert one == PolynomialInput(center=[0, 1, 2])
    assert one not in (two, PolynomialInput())
    assert repr(one) == "PolynomialInput(center=<3 float64>)"
    assert gnomon.Block(range(3)) == gnomon.Block([0, 1, 2])
    assert gnomon.Block(range(3), metric="minkowski", metric_params={"p": 3}) != gnomon.Block(range(3))
    given = {"w": np.ones(3)}
    assert gnomon.Block(range(3), metric_params=given) == gnomon.Block(range(3), metric_params=copy.deepcopy(given))
    assert gnomon.Block(range(3), metric_params=given) != gnomon.Block(range(3), metric_params={"w": np.zeros(3)})


def test_an_optimizer_of_ones_own_that_keeps_its_arguments_elsewhere_is_itself_alone():
    class Own(Adam):
        def __init__(self, speed):
            super().__init__(speed)

    own = Own(2.0)
    assert repr(own).startswith("<")
    assert own == own
    assert own != Own(2.0)
    assert len({own, Own(2.0)}) == 2


def test_a_similarity_matrix_says_what_it_is_of():
    Gram, X = gnomon.affinities.Gram, np.arange(6.0).reshape(3, 2)
    assert repr(Gram.from_matrix(np.eye(3))) == "<Gram of 3 rows, matrix>"
    assert repr(Gram.from_kernel(GaussianInput(2.0), X)) == "<Gram of 3 rows, GaussianInput(sigma=2.0)>"
