"""Added terms join the forces of a descent from their share of the iterations on, without a seam."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.kernels import UMAPKernel
from gnomon.objectives import AddedTerm, CrossEntropy, gradient_error
from gnomon.optimizers import LBFGS, Adam, SampledDescent

KERNEL = UMAPKernel(1.5769, 0.8951)


class Line(AddedTerm):
    """Mean square of the last coordinate: pulls a map onto a line."""

    def __init__(self, weight=1.0, begins=0.0):
        self.weight, self.begins = weight, begins

    def loss(self, Y):
        return float(np.square(Y[:, -1], dtype=np.float64).mean())

    def gradient(self, Y):
        gradient = np.zeros_like(Y)
        gradient[:, -1] = 2 * Y[:, -1] / len(Y)
        return gradient


class Tether(Line):
    """Mean square of the way from the embedding last estimated."""

    every = 7

    def __init__(self, weight=1.0, begins=0.0):
        super().__init__(weight, begins)
        self.calls, self.place = [], 0.0

    def refresh(self, Y, iteration):
        self.calls.append(iteration)
        self.place = Y

    def loss(self, Y):
        return float(np.square(Y - self.place, dtype=np.float64).sum() / len(Y))

    def gradient(self, Y):
        return 2 * (Y - self.place) / len(Y)


@pytest.fixture(scope="module")
def start():
    return np.random.default_rng(5).uniform(0, 10, size=(300, 2))


@pytest.fixture(scope="module")
def make(clusters):
    return lambda *added, **given: CrossEntropy(clusters["membership"], KERNEL, added=added, **given)


def test_loss_gradient_and_forces_of_the_sum_are_sums(make, clusters, start):
    plain, Y = make(evaluation="exact"), start.astype(np.float32)
    total = float(clusters["membership"].matrix.sum())
    objective = make(Line(2.0), Line(0.5), evaluation="exact")
    added, slope = 2.5 * total * Line().loss(Y), 2.5 * total * Line().gradient(Y)
    assert objective.loss(Y) == pytest.approx(plain.loss(Y) + added, rel=1e-6)
    np.testing.assert_allclose(objective.gradient(Y), plain.gradient(Y) + slope, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(sum(objective.forces(Y)), -objective.gradient(Y), rtol=1e-4, atol=1e-4)
    loss, gradient = objective.loss_and_gradient(Y)
    assert loss == pytest.approx(objective.loss(Y), rel=1e-6)
    np.testing.assert_allclose(gradient, objective.gradient(Y), rtol=1e-5, atol=1e-4)
    assert gradient_error(make(Line(30.0), evaluation="exact"), start) < 1e-6


def test_the_sampled_forces_hold_the_term(make, start):
    Y = start.astype(np.float32)
    objective = make(Line(2.0))
    expected = make().gradient(Y) + objective.added.gradient(Y)
    np.testing.assert_allclose(objective.gradient(Y), expected, rtol=1e-5, atol=1e-4)


def test_a_term_of_no_weight_or_not_begun_changes_no_byte(make, start):
    plain = SampledDescent(40).minimize(make(), start).embedding.tobytes()
    for term in (Line(0.0), Line(5.0, begins=1.0)):
        assert SampledDescent(40).minimize(make(term), start).embedding.tobytes() == plain


def test_a_term_acts_from_its_share_of_the_epochs_on(make, start):
    optimizer, late = SampledDescent(40), make(Line(500.0, begins=0.7))
    before, plain = (optimizer.minimize(one, start, stop_after=28) for one in (late, make()))
    np.testing.assert_array_equal(before.embedding, plain.embedding)
    after, plain = (optimizer.minimize(one, start, stop_after=29) for one in (late, make()))
    assert not np.array_equal(after.embedding, plain.embedding)
    assert Line().loss(optimizer.minimize(late, start).embedding) < 0.5 * Line().loss(plain.embedding)


@pytest.mark.parametrize("evaluation", ["sampled", "exact"])
@pytest.mark.parametrize("kind", [Line, Tether])
def test_blocks_and_resumption_leave_no_seam(kind, evaluation, make, start):
    optimizer, whole_term = SampledDescent(40), kind(20.0, begins=0.5)
    whole = optimizer.minimize(make(whole_term, evaluation=evaluation), start)
    np.testing.assert_array_equal(
        whole.embedding,
        SampledDescent(40, block=3).minimize(make(kind(20.0, begins=0.5), evaluation=evaluation), start).embedding,
    )
    for stop in (10, 20, 24, 27, 39, 40):
        part = optimizer.minimize(make(kind(20.0, begins=0.5), evaluation=evaluation), start, stop_after=stop)
        rest = optimizer.minimize(make(kind(20.0, begins=0.5), evaluation=evaluation), start, state=part.state)
        np.testing.assert_array_equal(rest.embedding, whole.embedding)
    if kind is Tether:
        assert whole_term.calls == [20, 27, 34]


def test_terms_act_in_descents_by_full_gradients_too(make, start):
    late = make(Tether(20.0, begins=0.5), Line(500.0, begins=0.7), evaluation="exact")
    optimizer = Adam(0.1, max_iter=40)
    whole = optimizer.minimize(late, start)
    part = optimizer.minimize(late, start, stop_after=30)
    fresh = make(Tether(20.0, begins=0.5), Line(500.0, begins=0.7), evaluation="exact")
    np.testing.assert_array_equal(optimizer.minimize(fresh, start, state=part.state).embedding, whole.embedding)
    assert not np.array_equal(whole.embedding, optimizer.minimize(make(evaluation="exact"), start).embedding)
    with pytest.raises(ValueError, match="LBFGS"):
        LBFGS().minimize(late, start)


def test_equal_bytes_for_any_number_of_threads(make, start):
    results = {
        on_threads(n, SampledDescent(20).minimize)(make(Line(20.0, 0.5)), start).embedding.tobytes()
        for n in (1, 2, 3, 5)
    }
    assert len(results) == 1


@pytest.mark.parametrize(
    ("term", "error", "text"),
    [
        (Line(-1.0), ValueError, r"CrossEntropy: weight=-1\.0 must be a number >= 0"),
        (Line(1.0, 1.5), ValueError, r"CrossEntropy: begins=1\.5 must be a number >= 0 and <= 1"),
        (
            Line,
            TypeError,
            r"CrossEntropy: added=.* must be terms with loss\(Y\) and gradient\(Y\), derived from gnomon",
        ),
    ],
)
def test_what_is_no_term_is_refused(term, error, text, make):
    with pytest.raises(error, match=text):
        make(term)
