"""The Fenchel game: classical iterates to the last digits, regrets that certify, bounds that hold in every round."""

import math
from functools import cache

import numpy as np
import pytest

from gnomon.optimizers.fenchel import (
    FTL,
    FTRL,
    OMD,
    BestRespPlus,
    EuclideanBall,
    FenchelGame,
    FTLPlus,
    L1Ball,
    NuclearBall,
    OMDPlus,
    OptimisticFTL,
    Simplex,
    WholeSpace,
    averaged_gradient_descent,
    frank_wolfe,
    heavy_ball,
    nesterov,
)

A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.3]])
C = np.array([[1.0], [-2.0], [0.5]])
X0 = np.full((3, 1), 3.0)
MINIMUM = np.linalg.solve(A, C)
L = float(np.linalg.eigvalsh(A)[-1])
RADIUS = float(np.linalg.norm(X0 - MINIMUM))


class Smooth:
    """1/2 x'Ax - c'x."""

    dtype, n_samples, evaluation = np.float64, 3, "exact"

    def loss(self, x):
        return float(0.5 * np.sum(x * (A @ x)) - np.sum(C * x))

    def gradient(self, x):
        return A @ x - C


class Distance:
    """The sum of absolute differences from a point, with a subgradient."""

    dtype, n_samples, evaluation = np.float64, 3, "exact"
    point = np.array([[0.3], [-1.0], [2.0]])

    def loss(self, x):
        return float(np.abs(x - self.point).sum())

    def gradient(self, x):
        return np.sign(x - self.point)


def _averages(game, objective, start, n_rounds):
    """Return the average after every round."""
    state, averages = None, []
    for t in range(1, n_rounds + 1):
        solution = game.minimize(objective, start, state=state, stop_after=t)
        state = solution.state
        averages.append(solution.embedding)
    return averages


def _momentum(n_rounds, smoothness, ahead):
    """Heavy ball, or Nesterov's method if `ahead`, in their own words."""
    gradient = Smooth().gradient
    before, now, out = X0, X0, []
    for t in range(1, n_rounds + 1):
        eta, beta = t / (2 * (t + 1) * smoothness), (t - 2) / (t + 1) if t > 2 else 0.0
        moved = now + beta * (now - before)
        before, now = now, moved - eta * gradient(moved if ahead else now)
        out.append(now)
    return out


def test_averaged_gradient_descent_is_the_average_of_the_iterates():
    game = averaged_gradient_descent(0.1, max_iter=40)
    x, seen = X0, []
    for average in _averages(game, Smooth(), X0, 40):
        seen.append(x)
        np.testing.assert_allclose(average, np.mean(seen, axis=0), rtol=1e-13)
        x = x - 0.1 * Smooth().gradient(x)


@pytest.mark.parametrize(("recipe", "ahead"), [(heavy_ball, False), (nesterov, True)])
def test_momentum_methods_are_games(recipe, ahead):
    averages = _averages(recipe(L, max_iter=40), Smooth(), X0, 40)
    np.testing.assert_allclose(averages, _momentum(40, L, ahead), rtol=1e-12)


def test_frank_wolfe_is_a_game():
    game = frank_wolfe(L1Ball(1.0), max_iter=40)
    x = np.zeros((3, 1))
    for t, average in enumerate(_averages(game, Smooth(), x, 40), start=1):
        slope = Smooth().gradient(x)
        vertex = np.zeros((3, 1))
        vertex[np.abs(slope).argmax()] = -np.sign(slope[np.abs(slope).argmax()])
        x = x + 2.0 / (t + 1) * (vertex - x)
        np.testing.assert_allclose(average, x, atol=1e-14)


@pytest.mark.parametrize(
    ("game", "start", "expected"),
    [
        (averaged_gradient_descent(1 / (2 * L), max_iter=20), X0, [1.130401709, -1.755257549, 2.740960961]),
        (nesterov(L, max_iter=20), X0, [1.368920808, -3.498620099, 4.188548678]),
        (heavy_ball(L, max_iter=20), X0, [1.404234571, -3.418623487, 4.359405719]),
        (frank_wolfe(L1Ball(1.0), max_iter=20), 0 * X0, [0.2, -0.8, 0.0]),
    ],
    ids=["gradient-descent", "nesterov", "heavy-ball", "frank-wolfe"],
)
def test_values_computed_independently(game, start, expected):
    np.testing.assert_allclose(game.minimize(Smooth(), start).embedding.ravel(), expected, rtol=1e-8, atol=1e-12)


PLAYERS = {
    "FTL": FTL(),
    "FTRL": FTRL(0.05),
    "OMD": OMD(0.05),
    "OptimisticFTL": OptimisticFTL(),
    "FTLPlus": FTLPlus(),
    "OMDPlus": OMDPlus(0.05),
    "BestRespPlus": BestRespPlus(),
}
PAIRS = [(x, y) for x in PLAYERS for y in PLAYERS if not (PLAYERS[x].prescient and PLAYERS[y].prescient)]
DOMAINS = {"ball": EuclideanBall(2.0, 0.5), "l1": L1Ball(2.0)}


@cache
def _least(domain):
    """Return the least loss on a domain, found by the fastest game."""
    game = nesterov(L, domain=DOMAINS[domain], max_iter=1000, certify_every=1000)
    return game.minimize(Smooth(), np.full((3, 1), 0.5)).loss[-1][1]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(("x", "y"), PAIRS)
@pytest.mark.parametrize("weights", ["uniform", "linear"])
def test_the_gap_bounds_the_distance_to_the_minimum_in_every_round(x, y, domain, weights):
    start = np.full((3, 1), 0.5)
    least = _least(domain)
    game = FenchelGame(PLAYERS[x], PLAYERS[y], domain=DOMAINS[domain], weights=weights, max_iter=40)
    for record in game.minimize(Smooth(), start).state.rounds:
        assert record.gap >= record.loss - least - 1e-9
        assert record.gap == pytest.approx(
            (record.regret_x + record.regret_y)
            / (record.number if weights == "uniform" else record.number * (record.number + 1) / 2),
            abs=1e-9,
        )


def test_regrets_are_those_of_the_definition():
    """Summed losses of each player minus those of its best fixed point, the conjugate of the quadratic written out."""
    domain = EuclideanBall(1.0)
    game = FenchelGame(OMD(0.2), FTLPlus(), domain=domain, weights="linear", max_iter=12)
    xs, us, state = [], [], None
    for t in range(1, 13):
        state = game.minimize(Smooth(), 0 * X0, state=state, stop_after=t).state
        xs.append(state.x)
        us.append(state.u)
    alpha = np.arange(1.0, 13.0)
    ys = [Smooth().gradient(u) for u in us]
    conjugate = lambda y: float(0.5 * np.sum((y + C) * np.linalg.solve(A, y + C)))  # noqa: E731  f* of the quadratic
    total = sum(a * y for a, y in zip(alpha, ys, strict=True))
    regret_x = sum(a * float(np.sum(x * y)) for a, x, y in zip(alpha, xs, ys, strict=True)) + np.linalg.norm(total)
    mean = sum(a * x for a, x in zip(alpha, xs, strict=True)) / alpha.sum()
    best = Smooth().gradient(mean)
    paid = sum(a * (conjugate(y) - float(np.sum(x * y))) for a, x, y in zip(alpha, xs, ys, strict=True))
    fixed = sum(a * (conjugate(best) - float(np.sum(x * best))) for a, x in zip(alpha, xs, strict=True))
    assert state.rounds[-1].regret_x == pytest.approx(regret_x, rel=1e-10)
    assert state.rounds[-1].regret_y == pytest.approx(paid - fixed, rel=1e-10)


@pytest.mark.parametrize("n_rounds", [1, 2, 5, 30, 200])
def test_the_known_bounds_hold(n_rounds):
    least = Smooth().loss(MINIMUM)
    smooth = averaged_gradient_descent(1 / (2 * L), max_iter=n_rounds).minimize(Smooth(), X0).loss[-1][1]
    assert smooth - least <= 2 * L * RADIUS**2 / n_rounds
    fast = nesterov(L, max_iter=n_rounds).minimize(Smooth(), X0).loss[-1][1]
    assert fast - least <= 4 * L * RADIUS**2 / (n_rounds * (n_rounds + 1))
    domain = L1Ball(1.0)
    inside = nesterov(L, domain=domain, max_iter=1000, certify_every=1000).minimize(Smooth(), 0 * X0).loss[-1][1]
    slow = frank_wolfe(domain, max_iter=n_rounds).minimize(Smooth(), 0 * X0).loss[-1][1]
    assert slow - inside <= 2 * L * 2.0**2 / (n_rounds + 1)
    distance = float(np.linalg.norm(X0 - Distance.point))
    rate = distance / (math.sqrt(3) * math.sqrt(n_rounds))
    rough = averaged_gradient_descent(rate, max_iter=n_rounds).minimize(Distance(), X0).loss[-1][1]
    assert rough <= distance * math.sqrt(3) / math.sqrt(n_rounds)


def test_the_second_player_needs_no_conjugate():
    """OMD in the geometry of f* steps to a mean of points; done here with the conjugate of the quadratic."""
    game = FenchelGame(FTRL(0.1), OMD(0.5), domain=EuclideanBall(1.0), max_iter=3)
    first = game.minimize(Smooth(), 0 * X0, stop_after=1).state
    second = game.minimize(Smooth(), 0 * X0, state=first, stop_after=2).state
    inverse = np.linalg.inv(A)
    # argmin f*(y) - <x, y> + 2 D_f*(y, y_1): inverse (y + c) - x + 2 inverse (y - y_1) = 0
    y = np.linalg.solve(3 * inverse, first.x - inverse @ C + 2 * inverse @ first.y)
    np.testing.assert_allclose(second.y, y, rtol=1e-12)


def _history(game, start, n_rounds):
    """Return the points of both players, with the start in place 0."""
    xs, us, ys, state = [start], [start], [None], None
    for t in range(1, n_rounds + 1):
        state = game.minimize(Smooth(), start, state=state, stop_after=t).state
        xs.append(state.x)
        us.append(state.u)
        ys.append(state.y)
    return xs, us, ys


def _sum(points, last):
    """Return the sum of alpha_s p_s over s = 1, ..., last for alpha_s = s."""
    return sum((s * points[s] for s in range(1, last + 1)), np.zeros_like(points[1]))


X_RULES = {
    "FTL": lambda ball, xs, ys, t: ball.best(_sum(ys, t - 1)),
    "FTLPlus": lambda ball, xs, ys, t: ball.best(_sum(ys, t)),
    "FTRL": lambda ball, xs, ys, t: ball.proximal(0.05 * _sum(ys, t - 1), xs[0]),
    "OMD": lambda ball, xs, ys, t: ball.proximal(0.05 * (t - 1) * ys[t - 1], xs[t - 1]),
    "OMDPlus": lambda ball, xs, ys, t: ball.proximal(0.05 * t * ys[t], xs[t - 1]),
    "OptimisticFTL": lambda ball, xs, ys, t: ball.best(_sum(ys, t - 1) + t * ys[t - 1]),
    "BestRespPlus": lambda ball, xs, ys, t: ball.best(ys[t]),
}
U_RULES = {  # f*(y) - <x, y> summed is least at the gradient in a weighted mean of the x
    "FTL": lambda us, xs, t: _sum(xs, t - 1) / (t * (t - 1) / 2),
    "FTLPlus": lambda us, xs, t: _sum(xs, t) / (t * (t + 1) / 2),
    "FTRL": lambda us, xs, t: (_sum(xs, t - 1) + us[0] / 0.05) / (t * (t - 1) / 2 + 1 / 0.05),
    "OMD": lambda us, xs, t: ((t - 1) * xs[t - 1] + us[t - 1] / 0.05) / (t - 1 + 1 / 0.05),
    "OMDPlus": lambda us, xs, t: (t * xs[t] + us[t - 1] / 0.05) / (t + 1 / 0.05),
    "OptimisticFTL": lambda us, xs, t: (_sum(xs, t - 1) + t * xs[t - 1]) / (t * (t + 1) / 2),
    "BestRespPlus": lambda us, xs, t: xs[t],
}


@pytest.mark.parametrize("name", X_RULES)
def test_the_first_player_follows_its_rule(name):
    ball = EuclideanBall(1.3, 0.1)
    game = FenchelGame(PLAYERS[name], FTL(), domain=ball, weights="linear", max_iter=6)
    xs, _, ys = _history(game, np.full((3, 1), 0.2), 6)
    for t in range(2, 7):
        np.testing.assert_allclose(xs[t], X_RULES[name](ball, xs, ys, t), rtol=1e-12)


@pytest.mark.parametrize("name", U_RULES)
def test_the_second_player_follows_its_rule(name):
    game = FenchelGame(OMD(0.1), PLAYERS[name], domain=EuclideanBall(1.3, 0.1), weights="linear", max_iter=6)
    xs, us, _ = _history(game, np.full((3, 1), 0.2), 6)
    for t in range(2, 7):
        np.testing.assert_allclose(us[t], U_RULES[name](us, xs, t), rtol=1e-12)


def test_a_resumed_game_is_one_game_bit_for_bit():
    game = nesterov(L, domain=L1Ball(1.0), max_iter=30)
    whole = game.minimize(Smooth(), X0)
    part = game.minimize(Smooth(), X0, stop_after=11)
    rest = game.minimize(Smooth(), X0, state=part.state)
    assert rest.embedding.tobytes() == whole.embedding.tobytes()
    assert rest.state.rounds == whole.state.rounds
    assert len(part.state.rounds) == 11


def test_a_game_ends_where_the_gap_is_small_enough():
    solution = frank_wolfe(L1Ball(1.0), tol=0.05, max_iter=500).minimize(Smooth(), 0 * X0)
    assert solution.converged
    assert solution.state.rounds[-1].gap <= 0.05 < solution.state.rounds[-2].gap
    assert (
        solution.reason == f"The certified gap {solution.state.rounds[-1].gap:.2g} fell to tol=0.05 in round "
        f"{solution.n_iter}."
    )
    short = frank_wolfe(L1Ball(1.0), tol=1e-9, max_iter=5).minimize(Smooth(), 0 * X0)
    assert not short.converged
    assert short.reason == "Round 5 of 5 was reached. Raise max_iter."


def test_certificates_may_be_rare():
    often = frank_wolfe(L1Ball(1.0), max_iter=25).minimize(Smooth(), 0 * X0).state
    rare = frank_wolfe(L1Ball(1.0), max_iter=25, certify_every=10).minimize(Smooth(), 0 * X0).state
    assert [one.number for one in rare.rounds] == [10, 20, 25]
    assert rare.rounds == [often.rounds[number - 1] for number in (10, 20, 25)]


def test_without_bounds_only_a_ball_of_comparison_gives_a_gap():
    assert nesterov(L, max_iter=5).minimize(Smooth(), X0).state.rounds[-1].gap == math.inf
    compared = nesterov(L, domain=WholeSpace(2 * RADIUS, X0), max_iter=50).minimize(Smooth(), X0)
    gap = compared.state.rounds[-1].gap
    assert compared.loss[-1][1] - Smooth().loss(MINIMUM) <= gap < 0.5
    np.testing.assert_array_equal(compared.embedding, nesterov(L, max_iter=50).minimize(Smooth(), X0).embedding)


def _random(domain, generator, shape):
    """Return points of a domain."""
    raw = generator.normal(size=shape)
    if isinstance(domain, EuclideanBall):
        return domain.center + raw * (domain.radius * generator.random() / np.linalg.norm(raw))
    if isinstance(domain, L1Ball):
        return raw * (domain.radius * generator.random() / np.abs(raw).sum())
    if isinstance(domain, Simplex):
        return np.abs(raw) / np.abs(raw).sum()
    return raw * (domain.radius * generator.random() / np.linalg.svd(raw, compute_uv=False).sum())


@pytest.mark.parametrize(
    "domain",
    [EuclideanBall(1.5, 0.2), L1Ball(0.8), Simplex(), NuclearBall(1.3)],
    ids=lambda domain: type(domain).__name__,
)
def test_oracles_and_projections_beat_every_other_point(domain):
    generator = np.random.default_rng(0)
    shape = (4, 3)

    def divergence(z, centre):
        if isinstance(domain, Simplex):
            return float(np.sum(z * np.log(np.maximum(z, 1e-300) / centre)))
        return 0.5 * float(np.sum((z - centre) ** 2))

    for _ in range(5):
        slope, centre = generator.normal(size=shape), _random(domain, generator, shape)
        best, near = domain.best(slope), domain.proximal(slope, centre)
        assert float(np.sum(best * slope)) == pytest.approx(domain.lowest(slope), rel=1e-9)
        if isinstance(domain, EuclideanBall | L1Ball | NuclearBall):
            # no constraint holds there
            deep = 0.3 * centre + (0.14 if isinstance(domain, EuclideanBall) else 0.0)
            np.testing.assert_allclose(domain.proximal(1e-3 * slope, deep), deep - 1e-3 * slope, atol=1e-12)
        for other in [_random(domain, generator, shape) for _ in range(50)] + [best]:
            assert np.sum(best * slope) <= np.sum(other * slope) + 1e-9
            least = float(np.sum(near * slope)) + divergence(near, centre)
            assert least <= float(np.sum(other * slope)) + divergence(other, centre) + 1e-9
            mixed = 0.999 * near + 0.001 * other  # the projection lies in the set, and its neighbours there are worse
            assert least <= float(np.sum(mixed * slope)) + divergence(mixed, centre) + 1e-12


def test_the_nuclear_ball_works_on_both_shapes():
    slope = np.random.default_rng(1).normal(size=(7, 3))
    np.testing.assert_allclose(NuclearBall(2.0).best(slope).T, NuclearBall(2.0).best(slope.T), atol=1e-12)
    assert NuclearBall(2.0).lowest(slope) == pytest.approx(-2.0 * np.linalg.norm(slope, 2), rel=1e-12)
    assert not NuclearBall(2.0).best(np.zeros((3, 2))).any()


def test_what_cannot_be_played_is_refused():
    with pytest.raises(ValueError, match="x_player=OMDPlus and y_player=BestRespPlus must be not prescient both"):
        FenchelGame(OMDPlus(0.1), BestRespPlus())
    with pytest.raises(ValueError, match="WholeSpace: a player that minimises a linear loss must be on a bounded set"):
        FenchelGame(BestRespPlus(), FTL(), max_iter=1).minimize(Smooth(), X0)
    with pytest.raises(ValueError, match=r"OMD: gamma=-1 must be a number > 0"):
        OMD(-1)
    with pytest.raises(ValueError, match=r"FTRL: eta=0 must be a number > 0"):
        FTRL(0)
    with pytest.raises(ValueError, match=r"L1Ball: radius=inf must be a number > 0"):
        L1Ball(math.inf)
    with pytest.raises(ValueError, match=r"weights\(2\)=0\.0 must be a number > 0"):
        FenchelGame(OMD(0.1), FTL(), weights=lambda t: 2.0 - t, max_iter=5).minimize(Smooth(), X0)
    with pytest.raises(TypeError, match=r"x_player='OMD' must be a Player"):
        FenchelGame("OMD", FTL())
    with pytest.raises(FloatingPointError, match=r"x_player=OMD.*Lower the step of OMD"), np.errstate(all="ignore"):
        averaged_gradient_descent(1e200, max_iter=9).minimize(Smooth(), X0)


def test_a_gradient_of_another_shape_is_named():
    class Short:
        dtype, n_samples = np.float64, 3

        def loss(self, x):
            return float(np.square(x).sum())

        def gradient(self, x):
            return 2.0 * x[:2]

    text = r"gradient\(Y\) of Short must be of the shape \(3, 1\) of Y \(found \(2, 1\)\)"
    with pytest.raises(ValueError, match=text):
        frank_wolfe(L1Ball(1.0), max_iter=5).minimize(Short(), np.zeros((3, 1)))
