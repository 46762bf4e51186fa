"""The kernels of gnomon._core on small drawn tables, some milliseconds of one thread each: functions by name."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["kernel_calls", "main", "serve"]

Call = Callable[[], Any]
Named = Iterator[tuple[str, Call]]

_SIMILARITIES = ("cauchy", "umap", "gaussian", "student_t", "noise_contrast")
_POTENTIALS = ("linear", "inverse_power", "logarithmic", "distance", "sketch_map")
_NO_WEIGHTS = np.empty(0, np.float32)
_NO_ROWS = np.empty((0, 2), np.float32)


class _Tables:
    """What kernels are given, drawn once: rows, a map, neighbours and a symmetric graph of it."""

    def __init__(self, core: Any) -> None:
        self.core, self.rng = core, np.random.default_rng(0)
        self.map = self.normal(20000, 2, 20.0)
        self.small_map = self.normal(2000, 2)
        self.graph = self.graph_of(20000, 15)
        self.umap = self.kernel("umap")
        self.ones = np.ones(20000, np.float32)
        self.charges = (0.5 + self.rng.random(20000)).astype(np.float32)

    def kernel(self, name: str) -> Any:
        return self.core.OutputKernel(name, 1.6, 0.9, 1.0)

    def normal(self, n: int, d: int, scale: float = 1.0) -> Any:
        return np.ascontiguousarray(scale * self.rng.normal(size=(n, d)), dtype=np.float32)

    def others(self, n: int, k: int) -> Any:
        """Return k rows for each of n, none of them its own and none twice, (n, k)."""
        steps = 1 + np.sort(self.rng.permuted(np.tile(np.arange(4 * k), (n, 1)), axis=1)[:, :k], axis=1)
        return ((np.arange(n)[:, None] + steps) % n).astype(np.int32)

    def graph_of(self, n: int, k: int) -> Any:
        weights = self.rng.random((n, k)).astype(np.float32)
        return self.core.Graph(*self.core.symmetrize(self.others(n, k), weights, True, 1.0, 1))


def _sums(t: _Tables) -> Named:
    core, few = t.core, t.small_map
    weights = t.charges[: len(few)]
    laws = [(law, name) for law in ("log", "log_deficit") for name in _SIMILARITIES]
    laws += [(law, name) for law in ("value", "square") for name in (*_SIMILARITIES, *_POTENTIALS)]
    for law, name in laws:
        for energy, suffix in ((True, ""), (False, ", forces alone")):
            yield (
                f"pair_sums {law} {name}{suffix}",
                lambda law=law, name=name, energy=energy: core.pair_sums(
                    law, few, _NO_WEIGHTS, _NO_WEIGHTS, t.kernel(name), 1, energy
                ),
            )
    wide = t.normal(2000, 8)
    for name, Y in (("1-D", few[:, :1].copy()), ("3-D", wide[:, :3].copy()), ("8-D", wide)):
        yield (
            f"pair_sums value cauchy {name}",
            lambda Y=Y: core.pair_sums("value", Y, _NO_WEIGHTS, _NO_WEIGHTS, t.kernel("cauchy"), 1),
        )
    yield "pair_sums weighted", lambda: core.pair_sums("value", few, weights, weights, t.umap, 1)
    yield "row_sums", lambda: core.row_sums(few, _NO_WEIGHTS, t.umap, 1)
    yield "row_sums weighted", lambda: core.row_sums(few, weights, t.umap, 1)
    target = t.normal(2000, 2000)
    none = np.empty((0, 0), np.float32)
    for name in ("distance", "cauchy", "linear"):
        yield (
            f"target_sums {name}",
            lambda name=name: core.target_sums(few, target, t.kernel(name), False, none, _NO_WEIGHTS, 1),
        )
    yield "target_sums centred", lambda: core.target_sums(few, target + target.T, t.umap, True, none, _NO_WEIGHTS, 1)
    yield "target_sums weighted", lambda: core.target_sums(few, target, t.umap, False, none, weights, 1)
    for name in ("cauchy", "umap"):
        yield (
            f"tree value {name}",
            lambda name=name: core.tree_sums(
                "value", t.map[:4000], _NO_WEIGHTS, _NO_WEIGHTS, t.kernel(name), 0.5, 1, True
            ),
        )
    solid = t.normal(2000, 3, 10.0)
    yield (
        "tree value cauchy 3-D, forces alone",
        lambda: core.tree_sums("value", solid, _NO_WEIGHTS, _NO_WEIGHTS, t.kernel("cauchy"), 0.5, 1, False),
    )
    yield (
        "tree log_deficit umap",
        lambda: core.tree_sums("log_deficit", t.map[:2000], t.charges[:2000], t.charges[:2000], t.umap, 0.5, 1, True),
    )


def _meshes(t: _Tables) -> Named:
    core = t.core
    for name in ("cauchy", "gaussian", "umap"):
        mesh = core.ParticleMesh(t.kernel(name), 0.3 if name == "cauchy" else 0.5)
        yield f"mesh {name}", lambda mesh=mesh: mesh.evaluate(t.map, _NO_WEIGHTS, 1)
    line, charged = t.normal(60000, 1, 50.0), core.ParticleMesh(t.kernel("cauchy"), 0.3)
    yield "mesh 1-D", lambda: charged.evaluate(line, _NO_WEIGHTS, 1)
    compact, compact_mesh = t.normal(60000, 2, 2.0), core.ParticleMesh(t.kernel("cauchy"), 0.3)
    yield "mesh of few nodes", lambda: compact_mesh.evaluate(compact, _NO_WEIGHTS, 1)
    two, degrees = core.ParticleMesh(t.kernel("umap"), 0.2, "log_deficit"), t.charges[: len(t.map)]
    yield "mesh of two charges", lambda: two.evaluate(t.map, degrees, 1, degrees[::-1].copy())
    gradient = t.normal(200000, 2)
    for dtype in (np.float32, np.float64):
        Y, moved = gradient.astype(dtype), gradient.astype(dtype)

        def momentum(Y: Any = Y, moved: Any = moved) -> Any:
            parts = Y.copy(), moved, np.zeros_like(Y), np.ones_like(Y)
            core.momentum_step(*parts, core.MomentumParameters(10.0, 0.8, 5.0, True, False), 1)
            return parts

        def adam(Y: Any = Y, moved: Any = moved) -> Any:
            parts = Y.copy(), moved, np.zeros_like(Y), np.zeros_like(Y)
            core.adam_step(*parts, core.AdamParameters(0.1, 0.9, 0.999, 1e-8), 1, 1)
            return parts

        yield f"momentum_step {np.dtype(dtype)}", momentum
        yield f"adam_step {np.dtype(dtype)}", adam


def _edges(t: _Tables) -> Named:
    core, graph = t.core, t.graph
    nothing = np.empty((0, 2), np.float32)
    for law, name in (("log", "cauchy"), ("log", "umap"), ("log", "gaussian"), ("value", "linear")):
        kernel = t.kernel(name)
        yield (
            f"edge_sums {law} {name}",
            lambda law=law, kernel=kernel: core.edge_sums(graph, t.map, kernel, law, 1.0, nothing, 0.0, 1),
        )
    yield "edge_energy log umap", lambda: core.edge_energy(graph, t.map, t.umap, "log", 1)
    wide = t.normal(20000, 8)
    yield "edge_sums 8-D", lambda: core.edge_sums(graph, wide, t.umap, "log", 1.0, wide[:0], 0.0, 1)
    parameters, schedule = core.SamplingParameters(0, 1.0, 1.0, 5, 4.0), core.SampledSchedule(1.0, 200)

    def epochs(Y: Any, kernel: Any, schedule: Any, v: Any = _NO_WEIGHTS) -> Any:
        state = Y.copy(), np.zeros_like(Y), np.zeros_like(Y)
        core.sampled_epochs(graph, t.ones, v, kernel, parameters, schedule, 0, 3, *state, Y[:0], 1)
        return state

    solid = t.normal(20000, 3, 10.0)
    for name in ("umap", "cauchy", "gaussian"):
        yield f"sampled_epochs {name}", lambda name=name: epochs(t.map, t.kernel(name), schedule)
    yield "sampled_epochs isotropic", lambda: epochs(t.map, t.umap, core.SampledSchedule(1.0, 200, True))
    yield "sampled_epochs 3-D", lambda: epochs(solid, t.umap, schedule)
    yield "sampled_epochs weighted", lambda: epochs(t.map, t.umap, schedule, t.charges)
    yield (
        "sampled_forces",
        lambda: core.sampled_forces(graph, t.ones, _NO_WEIGHTS, t.umap, parameters, 1, t.map, 1),
    )
    few, nearer = t.graph_of(4000, 15), t.map[:4000]
    shifts = (1 + 37 * np.arange(64)).astype(np.int64)
    yield "info_nce cauchy", lambda: core.info_nce(few, nearer, t.kernel("cauchy"), shifts, _NO_WEIGHTS, 1)
    yield "info_nce umap charged", lambda: core.info_nce(few, nearer, t.umap, shifts, t.charges[:4000], 1)
    ones = core.Graph(*_with_ones(t))
    standard = t.rng.normal(size=20000)
    yield "density_correlation", lambda: core.density_correlation(ones, t.umap, standard, 0.1, t.map, True, 1)
    frames = t.rng.normal(size=(20000, 4))

    def spreads() -> Any:
        values, sums = core.edge_spreads(graph, t.map, t.umap, frames, 1)
        return values, core.edge_spread_gradient(graph, t.map, t.umap, frames, values, sums, values, 1)

    yield "edge_spreads and their gradient", spreads
    for name in ("sphere", "hyperboloid"):
        yield from _surface(t, name, parameters, schedule)


def _with_ones(t: _Tables) -> Any:
    offsets, columns, values = t.core.symmetrize(t.others(20000, 15), np.ones((20000, 15), np.float32), True, 1.0, 1)
    return offsets, columns, np.ones_like(values)


def _surface(t: _Tables, name: str, parameters: Any, schedule: Any) -> Named:
    core, n = t.core, 2000
    surface, graph = core.Surface(name, 3.0), t.graph_of(n, 15)
    places = t.rng.normal(size=(n, 3))
    if name == "sphere":
        places /= np.linalg.norm(places, axis=1, keepdims=True)
    else:
        places = np.ascontiguousarray(places[:, :2] / np.sqrt(16.0 + np.sum(places[:, :2] ** 2, axis=1, keepdims=True)))
    for law, kernel in (("log_deficit", "umap"), ("value", "cauchy")):
        yield (
            f"surface_pair_sums {name} {law} {kernel}",
            lambda law=law, kernel=kernel: core.surface_pair_sums(
                surface, law, t.kernel(kernel), places, places, _NO_WEIGHTS, True, 1
            ),
        )

    def epochs() -> Any:
        state = places.copy(), np.zeros_like(places), np.zeros(n)
        core.surface_epochs(surface, graph, t.ones[:n], _NO_WEIGHTS, t.umap, parameters, schedule, 0, 5, *state, 1)
        return state

    yield f"surface_epochs {name}", epochs


def _neighbours(t: _Tables) -> Named:
    core = t.core
    for n, d in ((3000, 10), (3000, 50), (1500, 300)):
        X = t.normal(n, d)

        def all_pairs(X: Any = X) -> Any:
            join = core.AllPairs(X, 15, 1)
            for number in range(join.n_rounds):
                join.run_round(number)
            return join.finish()

        pixels = np.clip(40 * X + 128, 0, 255).astype(np.uint8)
        yield f"AllPairs {d} columns", all_pairs
        yield f"AllPairs {d} columns of bytes", lambda pixels=pixels: all_pairs(pixels)
        yield f"nearest_byte_rows {d} columns", lambda P=pixels: core.nearest_byte_rows(P, P[:1000], 15, 1)
        yield f"nearest_rows {d} columns", lambda X=X: core.nearest_rows(X, X[:1000], 15, 1)
    X, wide = t.normal(6000, 50), t.normal(2000, 784)
    order = np.arange(6000, dtype=np.int32)
    offsets = np.arange(0, 6001, 100, dtype=np.int64)
    probes = ((np.arange(6000)[:, None] // 100 + np.arange(8)) % 60).astype(np.int32)

    def cells() -> Any:
        indices = np.empty((6000, 15), np.int32)
        core.CellJoin(X, probes, order, offsets, 1).run(0, 60, probes.shape[1], indices)
        return indices

    yield "CellJoin", cells
    join = core.CellJoin(X, probes, order, offsets, 1)
    yield "CellJoin find", lambda: join.find(X[:2000], probes[:2000], order[:2000], np.minimum(offsets, 2000), 15, 1)
    candidates = t.others(2000, 64)
    for dtype in (np.float32, np.float64):
        rows, kind = wide.astype(dtype), np.dtype(dtype)
        own = np.arange(2000, dtype=np.int32)
        yield (
            f"rank_candidates {kind}",
            lambda rows=rows, own=own: core.rank_candidates(rows, rows, candidates, own, 1.0, 15, 1),
        )
        yield f"pair_distances {kind}", lambda rows=rows: core.pair_distances(rows, candidates, 1.0, 1)
        yield f"scan_rows {kind}", lambda rows=rows, own=own: core.scan_rows(rows, rows[:100], own[:100], 1.0, 15, 1)
        mean = rows.mean(axis=0, dtype=np.float64)
        yield f"center_rows {kind}", lambda rows=rows, mean=mean: core.center_rows(rows, mean, 1.0, 1)
        yield (
            f"nearest_centered_rows {kind}",
            lambda rows=rows, mean=mean: core.nearest_centered_rows(rows, mean, 1.0, wide[:100], 15, 1),
        )
        basis = t.normal(32, 784)
        yield (
            f"project_rows {kind}",
            lambda rows=rows, mean=mean, basis=basis: core.project_rows(rows, mean, 1.0, basis, 1),
        )
        for metric in ("manhattan", "chebyshev", "wrapped", "hamming"):
            columns = np.full(50, 9.0, dtype) if metric == "wrapped" else np.empty(0, dtype)
            base = rows[:1500, :50].copy()
            yield (
                f"metric_neighbors {metric} {kind}",
                lambda metric=metric, base=base, columns=columns: core.metric_neighbors(
                    metric, base, base, np.arange(1500, dtype=np.int32), columns, 1.0, 15, 1
                ),
            )
    bits = t.rng.integers(0, 2**63, (2000, 8), dtype=np.uint64)
    yield (
        "metric_neighbors jaccard bits",
        lambda: core.metric_neighbors(
            "jaccard", bits, bits, np.arange(2000, dtype=np.int32), np.empty(0, np.uint64), 1.0, 15, 1
        ),
    )
    excluded = t.others(20000, 15)
    yield "random_others", lambda: core.random_others(0, 1, excluded, 15, 1)


def _hoods(t: _Tables) -> Named:
    core, n, k = t.core, 1500, 15
    distances = np.sort(np.abs(t.normal(10000, 45)), axis=1)
    yield "gaussian_weights", lambda: core.gaussian_weights(distances, np.log2(15.0), 1)
    yield "membership_weights", lambda: core.membership_weights(distances, 1.0, -1.0, 1)
    near, ones, listed = t.others(n, k), np.ones((n, k), np.float32), np.arange(n, dtype=np.int64)
    places, defined = t.small_map[:n].astype(np.float64), np.ones(n, np.uint8)
    rows = t.normal(n, 200)
    bytes_ = t.rng.integers(0, 256, (n, 200), dtype=np.uint8)
    for dense in (rows, rows.astype(np.float64), bytes_):
        X, kind = core.Table(dense), dense.dtype
        yield f"tangent_frames {kind}", lambda X=X: core.tangent_frames(X, near, ones, listed, 2, True, 0.9, 1)
        yield (
            f"local_jacobians {kind}",
            lambda X=X: core.local_jacobians(X, places, near, ones, listed, 1e-3, 0.9, True, 1),
        )
        yield f"local_spectra {kind}", lambda X=X: core.local_spectra(X, 0, near, ones, True, 1)
        yield f"reconstruction {kind}", lambda X=X: core.reconstruction_weights(X, near, ones, 1e-3, False, 1)
        coefficients = t.rng.normal(size=(n, k * 2))
        yield (
            f"feature_effects {kind}",
            lambda X=X, c=coefficients: core.feature_effects(X, near, ones, listed, c, 5, False, 1),
        )
        yield (
            f"pooled_effects {kind}",
            lambda X=X, c=coefficients: core.pooled_effects(X, near, ones, c, places, listed[:150], 2, 5, False, 1),
        )
        yield (
            f"expand_frames {kind}",
            lambda X=X, c=coefficients: core.expand_frames(X, near, ones, listed, c, listed, True, 1),
        )
        yield (
            f"frame_importance {kind}",
            lambda X=X, c=coefficients: core.frame_importance(X, near, ones, listed, c, places, defined, False, 1),
        )
    X = core.Table(rows)
    yield "reconstruction convex", lambda: core.reconstruction_weights(X, near, ones, 1e-3, True, 1)
    yield "local_deviation", lambda: core.local_deviation(X, near, ones, listed, defined, False, 1)
    frames, edges = t.normal(n, 400), np.stack([listed, (listed * 7 + 1) % n], 1).astype(np.int32)
    many = np.tile(edges, (10, 1))
    yield "frame_overlaps", lambda: core.frame_overlaps(frames, 2, many, True, 1)
    ranks = np.full(n, 2, np.int32)
    flat = t.normal(n, k * 2)
    yield "embedding_frames", lambda: core.embedding_frames(t.small_map[:n], near, flat, ranks, 1)
    charts = core.AtlasCharts(places, near, 0.01 * t.rng.normal(size=(n, k * 2)), near[:, 0].copy(), np.ones(n))
    candidates = t.others(n, 46)
    fresh = core.Table(rows[:300] + np.float32(0.1))
    yield (
        "atlas_predict",
        lambda: core.atlas_predict(X, fresh, candidates[:300], charts, 7.5, 1.4, 1.0, 2.0, True, 1),
    )
    yield (
        "atlas_invert",
        lambda: core.atlas_invert(X, places[:300] + 0.01, candidates[:300], charts, 7.5, 1.4, 1.0, 1),
    )
    groups = t.rng.integers(0, 8, n).astype(np.int32)
    yield "group_contrasts", lambda: core.group_contrasts(X, groups, 8, 1)


def _tables(t: _Tables) -> Named:
    core = t.core
    for dtype in (np.float32, np.float64):
        X, kind = t.normal(8000, 300).astype(dtype), np.dtype(dtype)
        means = X.mean(axis=0, dtype=np.float64)
        yield f"column_means {kind}", lambda X=X: core.column_means(X, 1)
        yield f"largest_deviation {kind}", lambda X=X, means=means: core.largest_deviation(X, means, 1)
        yield f"mark_varying {kind}", lambda X=X: core.mark_varying(X, 1)
        directions, out = t.rng.normal(size=(300, 10)), np.empty((8000, 10), dtype)
        yield (
            f"project {kind}",
            lambda X=X, means=means, directions=directions, out=out: (core.project(X, means, directions, out, 1), out),
        )
        scatter = np.empty((300, 10))
        yield (
            f"scatter_product {kind}",
            lambda X=X, means=means, directions=directions, scatter=scatter: (
                core.scatter_product(X, means, directions, scatter, 1),
                scatter,
            ),
        )
        yield f"scatter_trace {kind}", lambda X=X, means=means: core.scatter_trace(X, means, 1)
        yield f"row_hashes {kind}", lambda X=X: core.row_hashes(X, 1)
        few, whole = np.arange(300, dtype=np.int64), np.empty_like(X)
        yield (
            f"centre {kind}",
            lambda X=X, means=means, few=few, whole=whole: (core.centre(X, means, 1.0, few, whole), whole),
        )
        anchors, near = np.arange(0, 8000, 80, dtype=np.int64), np.empty((100, 8000), np.float32)
        yield (
            f"anchor_squares {kind}",
            lambda X=X, anchors=anchors, means=means, near=near: (
                core.anchor_squares(X, anchors, means, 1.0, near, 1),
                near,
            ),
        )
        products = np.empty((300, 300))
        yield (
            f"inner_products {kind}",
            lambda X=X, products=products: (core.inner_products(X, products, 1), products),
        )
        far, Y = np.abs(X[:100, :200]).repeat(40, axis=1).copy(), t.map[:8000].astype(np.float64)
        yield (
            f"score_map {kind}",
            lambda far=far, Y=Y, anchors=anchors: core.score_map(far, Y, anchors, 15, 15, 50, 0, 1),
        )
    for width in (8, 16, 32):
        yield (
            f"spectral_vectors {width} columns",
            lambda width=width: core.spectral_vectors(t.graph, 2, width, 1e-3, 0.0, 60, 60.0, 0, 1)[:3],
        )
    places = t.map.astype(np.float64)
    yield "nearest_places", lambda: core.nearest_places(places, 15, 1)

    def levels() -> Any:
        found = places[:, 0].copy()
        core.isotonic_levels(found, np.ones(len(found)))
        return found

    yield "isotonic_levels", levels
    yield "normal_matrix", lambda: core.normal_matrix(0, 1, 20000, 50, 1)
    few = t.graph_of(3000, 10)
    sources = np.arange(64, dtype=np.int32)[:, None].copy()

    def geodesics() -> Any:
        out = np.empty((64, 3000), np.float32)
        core.geodesic_distances_single(few, sources, np.zeros((64, 1)), out, 1)
        return out

    yield "geodesic_distances", geodesics
    yield from _sums_of_products(t)


def _sums_of_products(t: _Tables) -> Named:
    core, n = t.core, 20000
    values = t.rng.random((n, 15))
    columns = np.sort(t.others(n, 15), axis=1)

    def first(rows: int) -> Any:
        offsets = np.arange(rows + 1, dtype=np.int64) * 15
        return core.Table(offsets, columns[:rows].ravel(), values[:rows].ravel(), n)

    graph = first(n)
    for width in (1, 8):
        X, out = t.rng.normal(size=(n, width)), np.empty((n, width))
        yield (
            f"sparse_product {width} columns",
            lambda X=X, out=out: (core.sparse_product(graph, X, out, 1), out),
        )
    yield "sparse_by_sparse", lambda: core.sparse_by_sparse(graph, graph, 1)
    few, every = first(1000), np.empty((1000, n))
    yield "dense_product", lambda: (core.dense_product(few, graph, every, 1), every)
    for width in (2, 50):
        rows, far = t.rng.normal(size=(1000, width)), np.empty((1000, 1000))
        yield (
            f"row_distances {width} columns",
            lambda rows=rows, far=far: (core.row_distances(rows, rows, False, far, 1), far),
        )


def _placements(t: _Tables) -> Named:
    core, Y = t.core, t.small_map
    targets, weights = np.abs(t.normal(40, 2000)), np.ones(2000, np.float32)
    own = np.full(40, -1, np.int32)
    for name in ("distance", "sketch_map"):
        yield (
            f"place_points {name}",
            lambda name=name: core.place_points(targets, Y, weights, Y[:50], own, t.kernel(name), 2, 20, 1),
        )
    near, even = t.others(2000, 15)[:300], np.full((300, 15), 1 / 15, np.float32)
    none = np.empty((0, 0))
    for link, law, name in (("log", "value", "cauchy"), ("sum", "log_deficit", "umap")):
        placer = core.RowPlacer(
            Y,
            core.PairTerm(t.kernel(name), "log", 1.0),
            core.PairTerm(t.kernel(name), law, 1.0),
            link,
            0.01,
            Y,
            weights,
            none,
            (0.0, 0.0),
            1.0,
            20,
            1e-4,
        )
        yield f"RowPlacer {link}", lambda placer=placer: placer.place(near, even, 1)
    far, many = t.normal(300, 2, 3.0), np.full((300, 15 * 300), 1e-3, np.float32)
    yield "place_by_triplets", lambda: core.place_by_triplets(Y, far, near, many, 20, 1e-4, 1)
    others = t.others(20000, 20)
    closer, farther = np.repeat(np.arange(10), 5).astype(np.int32), (10 + np.arange(50) % 10).astype(np.int32)
    triplets = core.Triplets(others, closer, farther, np.ones((20000, 50), np.float32))
    yield "Triplets gradient", lambda: triplets.gradient(t.map, 1.0, 1.0, 1)
    yield "Triplets loss", lambda: triplets.loss(t.map, 1)
    anchors, start = t.normal(500, 2).astype(np.float64), t.normal(200, 2).astype(np.float64)
    distances = np.abs(t.normal(200, 500)).astype(np.float64)

    def by_distances() -> Any:
        moved = start.copy()
        core.place_by_distances(moved, anchors, distances, np.empty((0, 0)), 30, 1e-9, 1)
        return moved

    yield "place_by_distances", by_distances


def kernel_calls(core: Any) -> dict[str, Call]:
    """Return functions without arguments that call the kernels of a `gnomon._core`, and give what these give."""
    tables = _Tables(core)
    rooms = (_sums, _meshes, _edges, _neighbours, _hoods, _tables, _placements)
    return {name: call for room in rooms for name, call in room(tables)}


def _load(module: Path) -> Any:
    specification = importlib.util.spec_from_file_location("_core", module)
    core = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(core)
    return core


def _digest(result: Any) -> str:
    state = hashlib.blake2b(digest_size=8)

    def add(value: Any) -> None:
        if isinstance(value, tuple | list):
            for part in value:
                add(part)
        elif value is not None:
            state.update(np.ascontiguousarray(value).tobytes())

    add(result)
    return state.hexdigest()


def serve(module: Path) -> None:
    """Answer lines of a count and a kernel's name with CPU milliseconds of so many calls and a hash of the result."""
    calls = kernel_calls(_load(module))
    print(json.dumps(list(calls)), flush=True)
    for line in sys.stdin:
        count, name = line.strip().split(" ", 1)
        start = time.process_time()
        for _ in range(int(count)):
            result = calls[name]()
        spent = time.process_time() - start
        print(json.dumps([1e3 * spent, _digest(result)]), flush=True)


def main(arguments: Sequence[str]) -> None:
    """Serve an extension, or print the hash of what each of its kernels returns: `EXTENSION hashes`."""
    module, *rest = arguments
    if rest != ["hashes"]:
        serve(Path(module))
        return
    for name, call in kernel_calls(_load(Path(module))).items():
        print(_digest(call()), name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
