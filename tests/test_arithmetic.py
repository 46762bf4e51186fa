"""Own exp, log, powers and products: those of NumPy up to rounding, whatever lies beside a number."""

import numpy as np
import pytest

from gnomon._arithmetic import exp, expm1, inner, log, log1p, power, product
from gnomon._run import running


def _numbers(n: int = 5000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.uniform(-700, 700, n), rng.normal(size=n), 1e-9 * rng.normal(size=50)])


def _units(found, wanted):
    """Largest difference, in units in the last place."""
    return float(np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))))


def test_functions_are_those_of_numpy_to_a_few_units_in_the_last_place():
    x = _numbers()
    positive = np.exp(x)
    assert _units(exp(x), positive) <= 2
    assert _units(expm1(x), np.expm1(x)) <= 6
    assert _units(log(positive), np.log(positive)) <= 2
    assert _units(log1p(positive), np.log1p(positive)) <= 2
    near = positive[5000:]
    assert _units(power(near, 0.7), near**0.7) <= 8


def test_ends_of_the_range():
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(exp([0.0, -np.inf, np.inf, 1e4, np.nan]), [1.0, 0.0, np.inf, np.inf, np.nan])
        np.testing.assert_array_equal(log([1.0, 0.0, np.inf, -1.0, np.nan]), [0.0, -np.inf, np.inf, np.nan, np.nan])
        ends = [-1.0, 0.0, np.inf, -2.0, np.nan]
        np.testing.assert_array_equal(log1p(ends), [-np.inf, 0.0, np.inf, np.nan, np.nan])
        np.testing.assert_array_equal(expm1([-np.inf, 0.0, np.inf, np.nan]), [-1.0, 0.0, np.inf, np.nan])
        np.testing.assert_array_equal(power([0.0, 2.0], 0.0), [1.0, 1.0])
        np.testing.assert_array_equal(power([0.0, 4.0], 1.0), [0.0, 4.0])
    assert log(5e-324) == np.log(5e-324)
    assert exp(-745.0) == 5e-324


def test_a_number_has_the_same_bits_wherever_it_stands():
    x = _numbers(300)
    for function in (exp, expm1, lambda v: power(np.abs(v), 1.3)):
        alone = np.array([function(one) for one in x])
        assert function(x).tobytes() == alone.tobytes()
        assert function(x.reshape(2, -1).T).T.ravel().tobytes() == alone.tobytes()


def test_shapes_types_and_places_of_the_result():
    x = np.ones((3, 2), np.float32)
    assert exp(x).dtype == np.float32
    assert exp(x).shape == (3, 2)
    assert log(2).dtype == np.float64
    out = np.ones((4, 3))
    assert exp(out, out=out) is out
    np.testing.assert_allclose(out, np.e)
    turned = np.ones((4, 3)).T
    np.testing.assert_allclose(log(turned * np.e, out=turned), 1.0)


@pytest.mark.parametrize(("m", "k", "p"), [(70, 300, 40), (5, 40, 2), (40, 5, 1), (3, 0, 4), (0, 3, 2), (1100, 2, 9)])
def test_products_are_those_of_numpy_and_take_transposes(m, k, p):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(m, k)), rng.normal(size=(k, p))
    for left in (A, np.asfortranarray(A), A[:, ::-1][:, ::-1]):
        for right in (B, np.asfortranarray(B)):
            np.testing.assert_allclose(product(left, right), A @ B, atol=1e-12)
    found = []
    for n_threads in (1, 3):
        with running(n_threads=n_threads):
            found.append(product(A, B).tobytes() + product(A, B[:, 0]).tobytes())
    assert found[0] == found[1]
    np.testing.assert_allclose(product(A, B[:, 0]), A @ B[:, 0], atol=1e-12)
    np.testing.assert_allclose(inner(A, A), np.vdot(A, A))
