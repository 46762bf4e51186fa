"""Can a simulation be biased through a map: is each map one smooth function with the right derivative, and a fast one?

A particle moves among the rows of a table at constant energy, by velocity Verlet: in a harmonic potential around their
mean, and pulled towards the place of another row by a spring on the coordinates of the map. The force of the spring
goes through the Jacobian. If that is the derivative of the map and smooth, the energy drifts by a quarter when the step
is halved; a wrong derivative or a jump of the map leaves a drift that no step takes away.

Jumps are looked for along straight paths between rows as well. Each path is divided into sixteen steps, the one that is
longest in the map into sixteen again, and so on five times: along a path without a jump the last ones are short.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.exceptions import GnomonWarning
from gnomon.methods import METHODS
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["energy_drift", "longest_steps", "main"]

Float64 = npt.NDArray[np.float64]
Linearize = Callable[[Float64], tuple[Float64, Float64]]

_ROUNDS, _PARTS = 5, 16
_JUMP = 1e-3  # of the map's radius: a step left after the last round that is longer is a jump
_TIME = 2.0  # of a run, in units of the harmonic oscillation's period over 2 pi
_TIMED = 300  # rows


def energy_drift(
    linearize: Linearize, start: Float64, velocity: Float64, target: Float64, center: Float64, n_steps: int
) -> float:
    """Return how far the energy strays from its first value during a run, as a share of the kinetic energy then.

    Parameters
    ----------
    linearize : callable
        From a row to its place and the derivative there.
    start, velocity, center : ndarray of shape (n_features,)
        Where the particle starts, how fast, and the middle of the harmonic potential of strength 1.
    target : ndarray of shape (n_components,)
        Place that a spring of strength 1 pulls to.
    n_steps : int >= 1
        Of velocity Verlet.
    """

    def forces(x: Float64) -> tuple[float, Float64]:
        place, derivative = linearize(x)
        gap = place - target
        away = x - center
        return 0.5 * float(gap @ gap + away @ away), -(gap @ derivative) - away

    h, x, v = _TIME / n_steps, start.copy(), velocity.copy()
    potential, force = forces(x)
    kinetic = 0.5 * float(v @ v)
    first, drift = potential + kinetic, 0.0
    for _ in range(n_steps):
        v = v + 0.5 * h * force
        x = x + h * v
        potential, force = forces(x)
        v = v + 0.5 * h * force
        drift = max(drift, abs(potential + 0.5 * float(v @ v) - first))
    return drift / kinetic


def longest_steps(transform: Callable[[Float64], Any], starts: Float64, ends: Float64) -> Float64:
    """Return for each straight path the longest step in the map after each round of division, (n_rounds, n_paths)."""
    low, width, found = np.zeros(len(starts)), 1.0, []
    for _ in range(_ROUNDS):
        shares = low[:, None] + width * np.linspace(0.0, 1.0, _PARTS + 1)
        rows = starts[:, None] + shares[:, :, None] * (ends - starts)[:, None]
        places = np.asarray(transform(rows.reshape(-1, starts.shape[1]))).reshape(*shares.shape, -1)
        lengths = np.linalg.norm(np.diff(places, axis=1), axis=2)
        found.append(lengths.max(axis=1))
        low = shares[np.arange(len(low)), lengths.argmax(axis=1)]
        width /= _PARTS
    return np.stack(found)


def _microseconds(linearize: Linearize, rows: Float64) -> float:
    """Return the median time of one row, once warm."""
    for row in rows[: len(rows) // 4]:
        linearize(row)
    taken = []
    for row in rows:
        begun = time.perf_counter()
        linearize(row)
        taken.append(time.perf_counter() - begun)
    return 1e6 * float(np.median(taken))


def _study(fitted: Any, X: Float64, n_steps: int, n_runs: int, n_paths: int, seed: int) -> dict[str, Any]:
    """Return what is found of one map; rows in units of their deviation, the map in units of its radius."""
    Y = np.asarray(fitted.embedding_, dtype=np.float64)
    radius = float(np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean()))
    draw = np.random.default_rng(seed)

    def linearize(x: Float64) -> tuple[Float64, Float64]:
        place, derivative = fitted.linearize(x)
        return place / radius, derivative / radius

    ratios, drifts = [], []
    for _ in range(n_runs):
        i, j, far = draw.integers(0, len(X), 3)
        start = 0.5 * (X[i] + X[j])
        velocity = draw.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
        arguments = (start, velocity, Y[far] / radius, X.mean(axis=0))
        runs = [energy_drift(linearize, *arguments, n_steps * 2**k) for k in range(3)]
        drifts.append(runs)
        ratios.append([runs[0] / runs[1], runs[1] / runs[2]])
    pairs = draw.integers(0, len(X), (2, n_paths))
    steps = longest_steps(fitted.transform, X[pairs[0]], X[pairs[1]]) / radius
    return {
        "drift": np.median(drifts, axis=0),
        "ratios": ratios,
        "ratio": float(np.median([ratio[-1] for ratio in ratios])),
        "jumps": int((steps[-1] > _JUMP).sum()),
        "longest_steps": steps.max(axis=1),
        "microseconds": _microseconds(fitted.linearize, X[draw.integers(0, len(X), _TIMED)] + 1e-3),
    }


def _picture(report: dict[str, dict[str, Any]], n_steps: int) -> Any:
    figure = make_figure(11.5, 4.4)
    left, right = figure.subplots(1, 2)
    for found in report.values():
        left.loglog([n_steps, 2 * n_steps, 4 * n_steps], found["drift"], "-", color="#6273d5", alpha=0.6, lw=1.4)
        path = np.maximum(found["longest_steps"], 1e-12)
        right.semilogy(range(1, _ROUNDS + 1), path, "-", color="#d47719", alpha=0.6, lw=1.4)
    right.axhline(_JUMP, color="0.5", lw=0.8, ls="--")
    left.set_xlabel("steps of a run")
    left.set_title("1  Drift of the energy / kinetic energy", loc="left", fontsize=11, fontweight="bold")
    right.set_xlabel("times that paths are divided by 16")
    right.set_title("2  Longest step in the map / its radius", loc="left", fontsize=11, fontweight="bold")
    dress(left)
    dress(right)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("simulation", __doc__ or "")
    made.add_argument("--set", default="digits", help="data set")
    made.add_argument("--rows", type=int, default=1000, help="rows of it")
    made.add_argument("--methods", nargs="+", default=[card.name for card in METHODS], help="names of the registry")
    made.add_argument("--steps", type=int, default=1000, help="of the coarsest run")
    made.add_argument("--runs", type=int, default=3, help="simulations of each map")
    made.add_argument("--paths", type=int, default=1000, help="straight paths between rows")
    options = parse(made, arguments)
    X = load_rows(options.set, options.rows)[0].astype(np.float64)
    X /= float(np.sqrt(X.var(axis=0).sum()))
    estimators = {card.name: getattr(gnomon, card.estimator) for card in METHODS}
    report: dict[str, dict[str, Any]] = {}
    for name in options.methods:
        one = estimators[name]()
        given = {"n_components": 2, "random_state": options.seed, "n_jobs": options.jobs}
        one.set_params(**{key: value for key, value in given.items() if key in one.get_params()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            report[name] = found = _study(one.fit(X), X, options.steps, options.runs, options.paths, options.seed)
        print(
            f"{name:<20} drift {found['drift'][0]:8.1e}  ratio {found['ratio']:6.2f}  jumps {found['jumps']:4d}  "
            f"{found['microseconds']:8.0f} us",
            flush=True,
        )
    facts = {"set": options.set, "rows": len(X), "steps": options.steps, "paths": options.paths}
    write_json(options.out, "simulation", {**facts, "methods": report})
    write_png(options.out, "simulation", _picture(report, options.steps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
