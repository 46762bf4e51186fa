"""Compare explanations of maps on data whose driving features are known.

python -m benchmarks.explanations --features 40 200 --noise 10 4 2 --maps umap tsne isomap
python -m benchmarks.explanations --tables counts "low depth" binary --maps known umap --seeds 0 1
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/explanations.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.explainers import EXPLAINERS, SLOW
from benchmarks.known_drivers import MANIFOLDS, TABLES, DrivenManifold, KnownMap, driven_manifold, driven_table
from benchmarks.summary import table_of
from gnomon.data.scaling import choose_scaling
from gnomon.evaluation.explanations import push_test, recovery_of_drivers, sign_agreement
from gnomon.explanations import explain

__all__ = ["compare", "main", "make_map", "oracle"]

Floats = npt.NDArray[np.float64]
MAPS = ("umap", "tsne", "isomap", "known")
_ROWS = 150  # rows of each table at which explanations are judged
_PUSH = 0.3  # length of a push, in units of the median distance to the 15th neighbour or, if less, of the surface
_APART = 3.0  # between the pieces in the map of the true coordinates, in units of their length
_TRUSTED = 0.5  # pushes are judged where the local R2 of gnomon's explanation is at least this


def make_map(kind: str, manifold: DrivenManifold) -> Floats:
    """Return a map by UMAP, t-SNE or Isomap, this piece by piece, for it maps connected data; or the true coordinates.

    "known": the true coordinates, with the pieces in a row.
    """
    if kind == "known":
        apart = _APART * np.ptp(manifold.u[:, 0]) * manifold.pieces
        return manifold.u + np.column_stack([apart, np.zeros(len(manifold.u))])
    if kind == "umap":
        return np.asarray(gnomon.UMAP(random_state=0).fit_transform(manifold.X), dtype=np.float64)
    if kind == "tsne":
        return np.asarray(gnomon.TSNE(random_state=0).fit_transform(manifold.X), dtype=np.float64)
    Y = np.zeros((len(manifold.X), 2))
    for piece in np.unique(manifold.pieces):
        here = manifold.pieces == piece
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise may leave single rows apart
            Y[here] = gnomon.Isomap(n_neighbors=15, random_state=0).fit_transform(manifold.X[here])
    return Y


def oracle(manifold: DrivenManifold, known: KnownMap, rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return what can be known at best: the tangent vectors regressed on the true coordinates of 150 rows."""
    from scipy.spatial import cKDTree

    slopes = known.derivative
    axes = np.zeros((len(rows), slopes.shape[1], manifold.X.shape[1]))
    scale = np.ones(manifold.X.shape[1]) if manifold.name in MANIFOLDS else manifold.noise.std(axis=0)
    X = manifold.X / scale
    derivative = manifold.derivative[rows] / scale[:, None]
    metric = dict(zip(rows.tolist(), np.einsum("ifa,ifb->iab", derivative, derivative), strict=True))
    for at, i in enumerate(rows.tolist()):
        frame = np.linalg.cholesky(metric[i])
        region = np.flatnonzero(manifold.regions == manifold.regions[i])
        distance, near = cKDTree(manifold.u[region] @ frame).query(manifold.u[i] @ frame, k=min(150, len(region)))
        U = manifold.u[region[near]] - manifold.u[i]
        root = np.sqrt(np.maximum(1.0 - (distance / distance.max()) ** 2, 0.0))[:, None]
        design = root * np.column_stack([np.ones(len(U)), U])
        slope = np.linalg.lstsq(design, root * X[region[near]], rcond=None)[0][1:3]
        axes[at] = slopes[i] @ np.linalg.pinv(slope.T)
    return np.linalg.norm(axes, axis=1), axes / scale


def _judge(
    answer: tuple[Floats, Floats | None],
    manifold: DrivenManifold,
    known: KnownMap,
    rows: npt.NDArray[np.int64],
    trusted: npt.NDArray[np.bool_],
    features: npt.NDArray[np.int64],
    length: float,
) -> dict[str, float]:
    importance, axes = answer
    drivers = manifold.drivers[rows]
    found = recovery_of_drivers(importance, drivers, counted=~manifold.faint[rows])
    scores = {"auc": found.auc, "precision": found.top_precision}
    if axes is None:
        return scores
    scores["sign"] = sign_agreement(np.swapaxes(axes, 1, 2), known.arrows()[rows], drivers & known.determined()[rows])
    if trusted.any():
        before, after, step = known.pushes(rows[trusted], features[trusted], length)
        predicted, on = np.einsum("iaf,if->ia", axes[trusted], step), known.inside(after)
        push = push_test(before[on], after[on], predicted[on], known.place)
        scores |= {"push cosine": push.cosine, "push R2": push.r2, "push scale": push.scale}
    return scores


def compare(
    manifold: DrivenManifold, Y: Floats, explainers: Sequence[str], n_rows: int = _ROWS
) -> dict[str, dict[str, float]]:
    """Judge explanations of one map at random rows of the surface.

    Parameters
    ----------
    manifold : DrivenManifold
    Y : ndarray of shape (n_samples, 2)
        Its map.
    explainers : sequence of str
        Names in EXPLAINERS.
    n_rows : int

    Returns
    -------
    dict
        By name of the explainer and "oracle": auc, precision; sign, push cosine, push R2 and push scale where the
        explainer knows directions.
    """
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(0)
    on = manifold.on_surface
    rows = np.sort(rng.choice(on, size=min(n_rows, len(on)), replace=False))
    features = np.array([rng.choice(np.flatnonzero(manifold.drivers[i])) for i in rows])
    distances, near = NearestNeighbors(n_neighbors=30).fit(manifold.X).kneighbors()
    length = _PUSH * min(float(np.median(distances[:, 14])), manifold.extent())
    known = KnownMap(manifold, Y)
    r2 = explain(manifold.X, Y, n_jobs=2).r2[rows]
    parts = (manifold, known, rows, r2 >= _TRUSTED, features, length)
    found = {"oracle": _judge(oracle(manifold, known, rows), *parts)}
    for name in explainers:
        found[name] = _judge(EXPLAINERS[name](manifold.X, Y, near, rows), *parts)
    found["oracle"]["trusted"] = float(np.mean(r2 >= _TRUSTED))
    found["oracle"]["determined"] = float(np.mean(known.determined()[rows][manifold.drivers[rows]]))
    return found


def _mean(cases: list[dict[str, dict[str, float]]], name: str, measure: str) -> float:
    values = [case[name][measure] for case in cases if measure in case[name]]
    return float(np.mean(values)) if values else float("nan")


def _tables(results: list[dict[str, Any]]) -> str:
    names = list(results[0]["scores"])
    measures = ["auc", "precision", "sign", "push cosine", "push R2", "push scale"]
    cases = [result["scores"] for result in results]
    rows = [[name, *(f"{_mean(cases, name, m):.3f}" for m in measures)] for name in names]
    lines = ["Means over all maps:", "", table_of(["explanation", *measures], rows)]
    for key in ("map", "noise", "features", "manifold"):
        lines += ["", f"AUC / sign / push cosine of gnomon by {key}, then AUC of the others:", ""]
        rows = []
        for value in dict.fromkeys(result[key] for result in results):
            part = [result["scores"] for result in results if result[key] == value]
            own = [f"{_mean(part, 'gnomon', m):.3f}" for m in ("auc", "sign", "push cosine")]
            trusted, determined = (f"{_mean(part, 'oracle', m):.2f}" for m in ("trusted", "determined"))
            others = [f"{_mean(part, name, 'auc'):.3f}" for name in names if name != "gnomon"]
            rows.append([str(value), " / ".join(own), trusted, determined, *others])
        lines.append(table_of([key, "gnomon", "R2 >= 0.5", "signs known", *(n for n in names if n != "gnomon")], rows))
    weak = [r for r in results if r["scores"]["gnomon"]["auc"] < 0.98 or r["scores"]["gnomon"]["sign"] < 0.95]
    lines += ["", f"Below AUC 0.98 or sign 0.95: {len(weak)} of {len(results)} maps", ""]
    lines += [
        f"- {r['manifold']}, {r['features']} features, noise {r['noise']:g}, {r['map']}: "
        + ", ".join(f"{m} {r['scores']['gnomon'].get(m, float('nan')):.3f}" for m in ("auc", "sign", "push cosine"))
        for r in weak
    ]
    return "\n".join(lines)


def _cases(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], DrivenManifold]]:
    """Yield what is known of each set of rows, and the rows; a table that `gnomon.map` standardises in both ways."""
    for seed in options.seeds:
        for name in options.tables or ():
            raw = driven_table(name, options.rows, random_state=seed)
            scaling, _ = choose_scaling(raw.X, "auto", names=[str(f) for f in range(raw.X.shape[1])])
            for table in [raw] if scaling is None else [raw, raw.standardised(scaling)]:
                facts = {"manifold": table.name, "features": table.X.shape[1], "noise": round(raw.signal_to_noise, 2)}
                yield {**facts, "seed": seed}, table
        for name in () if options.tables else options.manifolds:
            for features in options.features:
                for noise in options.noise:
                    ratio = {"n_features": features, "signal_to_noise": noise}
                    manifold = driven_manifold(name, options.rows, **ratio, random_state=seed)
                    yield {"manifold": name, "features": features, "noise": noise, "seed": seed}, manifold


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explanations", description=__doc__.splitlines()[0])
    parser.add_argument("--manifolds", nargs="+", default=list(MANIFOLDS), choices=MANIFOLDS)
    parser.add_argument("--tables", nargs="+", choices=TABLES, help="these tables, not the manifolds")
    parser.add_argument("--features", nargs="+", type=int, default=[40, 200])
    parser.add_argument("--noise", nargs="+", type=float, default=[10.0, 4.0, 2.0], help="signal-to-noise ratios")
    parser.add_argument("--maps", nargs="+", default=["umap", "tsne", "isomap"], choices=MAPS)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--points", type=int, default=_ROWS, help="rows at which each map is judged")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--fast", action="store_true", help="without " + " and ".join(SLOW))
    parser.add_argument("--keep", type=Path, help="keep the maps in this folder and take from it those that are there")
    parser.add_argument("--json", type=Path, help="also write all scores here")
    options = parser.parse_args(arguments)
    names = [name for name in EXPLAINERS if not (options.fast and name in SLOW)]
    results: list[dict[str, Any]] = []
    for facts, manifold in _cases(options):
        for kind in options.maps:
            case = "_".join(f"{value}" for value in (*facts.values(), kind)).replace(" ", "-")
            kept = options.keep and options.keep / f"{case}.npy"
            Y = np.load(kept) if kept and kept.exists() else make_map(kind, manifold)
            if kept and not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                np.save(kept, Y)
            scores = compare(manifold, Y, names, options.points)
            results.append({**facts, "map": kind, "scores": scores})
            print(f"{case}: {scores['gnomon']}", file=sys.stderr)
    print(_tables(results))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
