"""A valid call of every binding, small enough to be damaged thousands of times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon import _core

N, K, D, F = 24, 5, 2, 6  # rows, neighbours, components, features


@dataclass(frozen=True)
class Call:
    """What to call, through which further call its result goes, and with which arguments."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def points(n: int = N, d: int = D, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return _rng(seed).normal(size=(n, d)).astype(dtype)


def neighbors(n: int = N, k: int = K) -> np.ndarray:
    rng = _rng(1)
    return np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)], dtype=np.int32)


def edges(n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(n), K)
    half = sp.csr_array((np.full(n * K, 0.5), (rows, neighbors(n).ravel())), shape=(n, n))
    matrix = sp.csr_array(half + half.T)
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


def sparse_table(n: int = N, f: int = F) -> tuple[Any, ...]:
    dense = points(n, f, np.float64, 2)
    matrix = sp.csr_array(np.where(dense > 0.3, dense, 0.0))
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, f


def table() -> np.ndarray:
    return points(N, F, np.float32, 3)


def ones(n: int = N, dtype: Any = np.float32) -> np.ndarray:
    return np.ones(n, dtype)


def _metric_search(name: str, metric: str, base: Any, columns: Any, queries: Any, **rest: Any) -> Any:
    tables = {"base": _core.Table(*base), "queries": _core.Table(*queries)}
    if columns is not None:
        tables["columns"] = _core.Table(*columns)
    return getattr(_core, name)(metric=metric, **tables, **rest)


def _metric_matrix(metric: str, a: Any, b: Any, **rest: Any) -> Any:
    return _core.sparse_metric_distances(metric=metric, a=_core.Table(*a), b=_core.Table(*b), **rest)


def _transposed() -> tuple[Any, ...]:
    offsets, columns, values, f = sparse_table()
    turned = sp.csr_array((values, columns, offsets), shape=(N, f)).T.tocsr()
    return turned.indptr.astype(np.int64), turned.indices.astype(np.int32), turned.data, N


def _metrics() -> Iterator[tuple[str, Call]]:
    own = np.arange(N, dtype=np.int32)
    ranking = {"candidates": neighbors(), "order": own, "scale": 1.0, "k": 3, "n_threads": 2}
    for dtype, metric in ((np.float32, "manhattan"), (np.float64, "wrapped"), (np.uint64, "jaccard")):
        X = np.abs(points(N, F, np.float64)).astype(dtype)
        given = {"metric": metric, "base": X, "queries": X, "parameters": np.full(F, 9, dtype)}
        tag = f"-{np.dtype(dtype)}"
        yield (
            "metric_neighbors" + tag,
            Call(_core.metric_neighbors, {**given, "self": own, "scale": 1.0, "k": 3, "n_threads": 2}),
        )
        yield "metric_rank" + tag, Call(_core.metric_rank, {**given, **ranking})
        matrix = {"metric": metric, "a": X, "b": X[:5], "parameters": given["parameters"], "n_threads": 2}
        yield "metric_distances" + tag, Call(_core.metric_distances, matrix)
    sparse = {"metric": "euclidean", "base": sparse_table(), "queries": sparse_table(), "parameters": np.ones(F)}
    search = {**sparse, "columns": _transposed(), "self": own, "scale": 1.0, "k": 3, "n_threads": 2}
    yield "sparse_metric_neighbors", Call(partial(_metric_search, "sparse_metric_neighbors"), search)
    rank = {**sparse, "columns": None, **ranking}
    yield "sparse_metric_rank", Call(partial(_metric_search, "sparse_metric_rank"), rank)
    matrix = {
        "metric": "chebyshev",
        "a": sparse_table(),
        "b": sparse_table(),
        "parameters": np.empty(0),
        "n_threads": 2,
    }
    yield "sparse_metric_distances", Call(_metric_matrix, matrix)


def _cells(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    return _rng(4).permutation(n).astype(np.int32), np.array([0, n // 3, n // 2, n], dtype=np.int64)


_ALL_ROWS = np.arange(N, dtype=np.int64)
_KERNEL = {"kernel_name": "cauchy", "kernel_a": 1.0, "kernel_b": 1.0, "kernel_scale": 1.0}


def _table(table: Any) -> Any:
    return _core.Table(*table) if isinstance(table, tuple) else _core.Table(table)


def _with_table(function: str, table: Any, **arguments: Any) -> Any:
    return getattr(_core, function)(_table(table), **arguments)


def _with_graph(function: str, offsets: Any, columns: Any, values: Any, **arguments: Any) -> Any:
    return getattr(_core, function)(_core.Graph(offsets, columns, values), **arguments)


def _kernel(a: dict[str, Any]) -> Any:
    return _core.OutputKernel(*(a.pop(name) for name in _KERNEL))


def _with_kernel(function: str, **arguments: Any) -> Any:
    return getattr(_core, function)(kernel=_kernel(arguments), **arguments)


def _on_graph(function: str, offsets: Any, columns: Any, values: Any, **arguments: Any) -> Any:
    graph = _core.Graph(offsets, columns, values)
    return getattr(_core, function)(graph, kernel=_kernel(arguments), **arguments)


def _ordered(offsets: Any, columns: Any, values: Any, Y: Any, n_threads: Any, **arguments: Any) -> Any:
    ordered = _core.OrderedGraph(_core.Graph(offsets, columns, values), Y, n_threads)
    return ordered.cauchy_sums(Y, n_threads=n_threads, **arguments)


def _sampling(a: dict[str, Any]) -> Any:
    names = ("seed", "edge_scale", "repulsion", "n_draws", "force_limit")
    return _core.SamplingParameters(*(a.pop(name) for name in names))


def _sampled_forces(offsets: Any, columns: Any, values: Any, **a: Any) -> Any:
    graph = _core.Graph(offsets, columns, values)
    return _core.sampled_forces(graph, kernel=_kernel(a), parameters=_sampling(a), **a)


def _sampled_epochs(offsets: Any, columns: Any, values: Any, **a: Any) -> Any:
    schedule = _core.SampledSchedule(a.pop("learning_rate"), a.pop("max_epochs"), a.pop("isotropic"))
    graph = _core.Graph(offsets, columns, values)
    return _core.sampled_epochs(graph, kernel=_kernel(a), parameters=_sampling(a), schedule=schedule, **a)


def _surface_epochs(offsets: Any, columns: Any, values: Any, **a: Any) -> Any:
    schedule = _core.SampledSchedule(a.pop("learning_rate"), a.pop("max_epochs"))
    graph, surface = _core.Graph(offsets, columns, values), _core.Surface("sphere", a.pop("radius"))
    return _core.surface_epochs(surface, graph, kernel=_kernel(a), parameters=_sampling(a), schedule=schedule, **a)


def _surface_sums(name: Any, a: Any, radius: Any, **arguments: Any) -> Any:
    kernel = _core.OutputKernel(name, a)
    return _core.surface_pair_sums(_core.Surface("sphere", radius), kernel=kernel, **arguments)


def _all_pairs(points: Any, k: Any, round: Any, n_threads: Any) -> Any:
    search = _core.AllPairs(points, k, n_threads)
    search.run_round(round)
    return search.finish()


def _cell_join(points: Any, probes: Any, order: Any, offsets: Any, rounded: Any, **asked: Any) -> None:
    _core.CellJoin(points, probes, order, offsets, 1, rounded).run(**asked)


def _cell_find(points: Any, cells: Any, starts: Any, rounded: Any, **asked: Any) -> Any:
    return _core.CellJoin(points, np.zeros((len(points), 1), np.int32), cells, starts, 1, rounded).find(**asked)


def _mesh(name: Any, a: Any, spacing: Any, Y: Any, charges: Any, n_threads: Any) -> Any:
    mesh = _core.ParticleMesh(_core.OutputKernel(name, a), spacing)
    return mesh.evaluate(Y, charges, n_threads), mesh.evaluate(Y, charges, n_threads)


def _mesh_of_two(law: Any, Y: Any, charges: Any, others: Any, n_threads: Any) -> Any:
    mesh = _core.ParticleMesh(_core.OutputKernel("umap", 1.5, 0.9), 0.5, law)
    return mesh.evaluate(Y, charges, n_threads, others)


def _mesh_steps(law: Any, Y: Any, extent: Any, totals: Any, charges: Any, others: Any, n_threads: Any) -> Any:
    mesh = _core.ParticleMesh(_core.OutputKernel("umap", 1.5, 0.9), 0.5, law)
    potential = mesh.potential(mesh.charges(Y, extent, charges, n_threads, others), extent, n_threads)
    return mesh.forces(Y, extent, potential, totals, charges, n_threads, others)


def _mesh_meshes(function: Any, mesh: Any, Y: Any, extent: Any, charges: Any) -> Any:
    made = _core.ParticleMesh(_core.OutputKernel("cauchy"), 0.5)
    if function == "potential":
        return made.potential(mesh, extent, 1)
    return made.forces(Y, extent, mesh, (float(len(Y)), 0.0), charges, 1)


def _mark_draws(**a: Any) -> Any:
    return _core.mark_draws(_sampling(a), **a)


def _sampled_epoch_of(offsets: Any, columns: Any, values: Any, **a: Any) -> Any:
    schedule = _core.SampledSchedule(a.pop("learning_rate"), a.pop("max_epochs"))
    graph = _core.Graph(offsets, columns, values)
    return _core.sampled_epoch_of(edges=graph, kernel=_kernel(a), parameters=_sampling(a), schedule=schedule, **a)


def _tree(theta: Any, name: Any, **arguments: Any) -> Any:
    return _core.Tree(theta).evaluate(kernel=_core.OutputKernel(name), **arguments)


def _tree_sums(name: Any, **arguments: Any) -> Any:
    return _core.tree_sums(kernel=_core.OutputKernel(name), **arguments)


def _charts(a: dict[str, Any]) -> Any:
    return _core.AtlasCharts(*(a.pop(name) for name in ("Y", "indices", "coefficients", "chart", "reach")))


def _predict(table: Any, new: Any, **a: Any) -> Any:
    charts = _charts(a)
    return _core.atlas_predict(_table(table), _table(new), charts=charts, **a)


def _sketch(table: Any, center: Any, directions: Any) -> Any:
    return _core.RowSketch(_table(table), center, directions)


def _linearize(table: Any, x: Any, center: Any, directions: Any, **a: Any) -> Any:
    charts, sketch = _charts(a), _sketch(table, center, directions)
    return _core.atlas_linearize(_table(table), sketch, _table(x), charts=charts, **a)


def _invert(table: Any, **a: Any) -> Any:
    charts = _charts(a)
    return _core.atlas_invert(_table(table), charts=charts, **a)


def _placer(a: dict[str, Any]) -> Any:
    terms = [_core.PairTerm(_core.OutputKernel("cauchy"), law, 1.0) for law in ("log", a.pop("law"))]
    names = ("points", "link", "strength", "sources", "charges", "table", "low", "spacing", "max_iter", "tolerance")
    points, *rest = (a.pop(name) for name in names)
    return _core.RowPlacer(points, *terms, *rest)


def _place(**a: Any) -> Any:
    return _placer(a).place(**a)


def _place_losses(**a: Any) -> Any:
    return _placer(a).losses(**a)


def _triplets(others: Any, closer: Any, farther: Any, weights: Any, Y: Any, n_threads: Any) -> Any:
    made = _core.Triplets(others, closer, farther, weights)
    return made.gradient(Y, 1.0, 1.0, n_threads), made.loss(Y, n_threads)


def _momentum(Y: Any, gradient: Any, velocity: Any, gains: Any, n_threads: Any) -> Any:
    return _core.momentum_step(Y, gradient, velocity, gains, _core.MomentumParameters(1, 0.8, 0, True, True), n_threads)


def _adam(Y: Any, gradient: Any, first: Any, second: Any, iteration: Any, n_threads: Any) -> Any:
    return _core.adam_step(Y, gradient, first, second, _core.AdamParameters(1, 0.9, 0.99, 1e-7), iteration, n_threads)


def _factor(shift: Any, X: Any, n_threads: Any, **given: Any) -> Any:
    made = _core.SparseFactor(**given, shift=shift)
    return made.advance(1e9, n_threads), made.solve(X, n_threads), X


def _hoods(**more: Any) -> dict[str, Any]:
    return {"indices": neighbors(), "weights": np.ones((N, K), np.float32), **more, "n_threads": 2}


def cases() -> Iterator[tuple[str, Call]]:
    """Yield an id that names the binding, and its call; a binding may have several."""
    graph = dict(zip(("offsets", "columns", "values"), edges(), strict=True))
    on_graph = graph | _KERNEL
    sampling = {"seed": 0, "edge_scale": 1.0, "repulsion": 5.0, "n_draws": 4, "force_limit": 4.0}
    none = np.empty((0, D), np.float32)
    empty = np.empty(0, np.float32)
    coefficients = points(N, K * D, np.float64, 5)
    charts = {
        "Y": points(dtype=np.float64),
        "indices": neighbors(),
        "coefficients": coefficients,
        "chart": np.arange(N, dtype=np.int32),
        "reach": ones(dtype=np.float64),
    }
    blend = {"count": 2.5, "softness": 1.4, "power": 1.0}
    order, offsets = _cells()

    def call(function: Callable[..., Any], **arguments: Any) -> Call:
        return Call(function, arguments)

    yield "Table", call(_core.Table, rows=table())
    yield (
        "Table-sparse",
        call(_core.Table, **dict(zip(("offsets", "columns", "values", "n_features"), sparse_table(), strict=True))),
    )
    yield "Graph", call(_core.Graph, **graph)
    degrees = {"offsets": graph["offsets"], "values": graph["values"], "n_threads": 2}
    yield "edge_degrees", call(_core.edge_degrees, **degrees)
    yield "OutputKernel", call(_core.OutputKernel, name="umap", a=1.5, b=0.9, scale=1.0)
    yield (
        "gaussian_weights",
        call(_core.gaussian_weights, distances=points(N, K) ** 2, log2_perplexity=1.0, n_threads=2),
    )
    yield (
        "membership_weights",
        call(
            _core.membership_weights,
            distances=np.sort(points(N, K) ** 2),
            local_connectivity=1.0,
            usual_distance=-1.0,
            n_threads=2,
        ),
    )
    symmetrize = {"indices": neighbors(), "weights": np.full((N, K), 0.5, np.float32), "parameter": 0.5, "n_threads": 2}
    yield "symmetrize", call(_core.symmetrize, fuzzy=False, **symmetrize)
    yield "symmetrize-fuzzy", call(_core.symmetrize, fuzzy=True, **symmetrize)
    gaussian = {"indices": neighbors(), "distances": points(N, K) ** 2, "log2_perplexity": 1.5, "n_threads": 2}
    yield "gaussian_affinities", call(_core.gaussian_affinities, **gaussian)
    for kind, rows in {"": table(), "-sparse": sparse_table(), "-bytes": (table() * 20 + 99).astype(np.uint8)}.items():
        new = rows if isinstance(rows, tuple) else rows[:7]
        if isinstance(rows, tuple):
            new = sparse_table(7)
        candidates = neighbors()[:7]
        yield (
            "atlas_predict" + kind,
            call(
                _predict,
                table=rows,
                new=new,
                candidates=candidates,
                **charts,
                **blend,
                consensus=2.0,
                jacobians=True,
                n_threads=2,
            ),
        )
        if kind != "-sparse":
            sketch = {"center": ones(rows.shape[1], dtype=np.float64), "directions": np.eye(2, rows.shape[1])}
            yield "RowSketch" + kind, call(_sketch, table=rows, **sketch)
            one = {"table": rows, "x": rows[:1], "consensus": 2.0, "n_first": 5, "n_most": 12}
            yield "atlas_linearize" + kind, call(_linearize, **one, **sketch, **charts, **blend)
        rows_of = {"rows": np.arange(0, N, 2, dtype=np.int64)}
        half = N // 2

        def on(function: str, rows: Any = rows, /, **arguments: Any) -> Call:
            return Call(partial(_with_table, function), {"table": rows, **arguments})

        yield (
            "local_jacobians" + kind,
            on(
                "local_jacobians",
                Y=points(dtype=np.float64),
                **_hoods(**rows_of, ridge=1e-3, variance_share=0.9, centered=True),
            ),
        )
        yield (
            "feature_effects" + kind,
            on("feature_effects", **_hoods(**rows_of, coefficients=coefficients[:half], n_top=3, all_features=True)),
        )
        some = {"near": neighbors()[:4], "n_threads": 2}
        yield "hood_moments" + kind, on("hood_moments", **some, steps=points(4, K * D, np.float64))
        yield (
            "hood_projections" + kind,
            on(
                "hood_projections",
                **some,
                mean=points(4, F, np.float64),
                weights=points(4, D * F, np.float64),
                scales=points(4, F, np.float64),
            ),
        )
        yield (
            "pooled_effects" + kind,
            on(
                "pooled_effects",
                **_hoods(
                    coefficients=coefficients,
                    places=points(dtype=np.float64),
                    tried=np.array([3, 4], np.int64),
                    rounds=2,
                    n_top=3,
                    all_features=True,
                ),
            ),
        )
        yield (
            "tangent_frames" + kind,
            on("tangent_frames", **_hoods(**rows_of, n_directions=2, vectors=True, variance_share=0.9)),
        )
        yield (
            "expand_frames" + kind,
            on(
                "expand_frames",
                **_hoods(
                    **rows_of,
                    coefficients=coefficients[:half],
                    positions=np.array([0, 3], np.int64),
                    single=True,
                ),
            ),
        )
        yield (
            "frame_importance" + kind,
            on(
                "frame_importance",
                **_hoods(
                    **rows_of,
                    coefficients=coefficients[:half],
                    scales=np.ones((half, D)),
                    defined=np.ones(half, np.uint8),
                    mean_only=False,
                ),
            ),
        )
        yield (
            "local_deviation" + kind,
            on("local_deviation", **_hoods(**rows_of, defined=np.ones(half, np.uint8), mean_only=False)),
        )
        present = np.ones((N - 3, K), np.float32)
        yield (
            "local_spectra" + kind,
            on("local_spectra", first=3, indices=neighbors()[3:], present=present, centred=True, n_threads=2),
        )
        for non_negative in (False, True):
            yield (
                f"reconstruction_weights{kind}-{non_negative}",
                on(
                    "reconstruction_weights",
                    indices=neighbors(),
                    present=np.ones((N, K), np.float32),
                    regularization=1e-3,
                    non_negative=non_negative,
                    n_threads=2,
                ),
            )
        groups = (np.arange(F if isinstance(rows, tuple) else N) % 3 - 1).astype(np.int32)
        yield "group_contrasts" + kind, on("group_contrasts", groups=groups, n_groups=2, n_threads=2)
    yield "nearest_places", call(_core.nearest_places, Y=points(dtype=np.float64), k=3, n_threads=2)
    yield (
        "count_below_in_map",
        call(
            _core.count_below_in_map,
            Y=points(dtype=np.float64),
            rows=np.array([0, 5, 9, 23], np.int64),
            bounds=np.abs(points(3, N, np.float64)),
            sums=np.zeros(N, np.int64),
            squares=np.zeros(N, np.int64),
            n_threads=2,
        ),
    )
    yield (
        "shortest_trees",
        call(
            _core.shortest_trees,
            places=points(dtype=np.float64),
            neighbors=neighbors(),
            used=np.ones((N, K), np.bool_),
            rows=np.array([0, 5, 9, 23], np.int64),
            n_threads=2,
        ),
    )
    yield (
        "reachability_tree",
        call(_core.reachability_tree, products=np.eye(N), squares=np.ones(N), k=3, n_threads=2),
    )
    merges = np.array([[0, 1, 1.0], [2, 4, 2.0], [3, 5, 3.0]])
    yield "density_dips", call(_core.density_dips, radii=np.ones(4), merges=merges, dimension=2.0, n_threads=2)
    yield (
        "atlas_invert",
        call(
            _invert,
            table=table(),
            Y_new=points(7, D, np.float64),
            candidates=neighbors()[:7],
            **charts,
            **blend,
            n_threads=2,
        ),
    )
    for vectors in ("", "_gradient"):
        more = {"spreads": np.ones((N, 3)), "sums": np.ones(N), "slopes": np.ones((N, 3))} if vectors else {}
        name = "edge_spread_gradient" if vectors else "edge_spreads"
        yield (
            name,
            call(
                partial(_on_graph, name),
                **on_graph,
                Y=points(),
                frames=points(N, D * 3, np.float64),
                **more,
                n_threads=2,
            ),
        )
    yield "map_radii", call(partial(_on_graph, "map_radii"), **on_graph, Y=points(), n_threads=2)
    yield (
        "density_correlation",
        call(
            partial(_on_graph, "density_correlation"),
            **on_graph,
            standard=points(N, 1, np.float64)[:, 0],
            shift=0.1,
            Y=points(),
            with_gradient=True,
            n_threads=2,
        ),
    )
    yield (
        "edge_distances",
        call(
            partial(_with_graph, "edge_distances"),
            **graph,
            indices=neighbors(),
            distances=points(N, K) ** 2,
            n_threads=2,
        ),
    )
    yield (
        "embedding_frames",
        call(
            _core.embedding_frames,
            Y=points(),
            indices=neighbors(),
            coefficients=points(N, K * 3),
            ranks=np.full(N, 2, np.int32),
            n_threads=2,
        ),
    )
    symmetric, wide = points(F, F, np.float64), points(F, K, np.float64)
    yield (
        "dense_eigen",
        call(
            _core.dense_eigen,
            matrix=symmetric @ symmetric.T,
            least=0.0,
            values=np.zeros(F),
            vectors=np.zeros((F, 3)),
            n_threads=2,
        ),
    )
    yield (
        "product",
        call(
            _core.product,
            A=symmetric,
            transposed_a=True,
            B=wide,
            transposed_b=False,
            out=np.zeros((F, K)),
            n_threads=2,
        ),
    )
    yield (
        "products",
        call(
            _core.products,
            count=2,
            A=symmetric,
            transposed_a=True,
            B=points(F, K, np.float64),
            transposed_b=False,
            out=np.zeros((2 * F, K)),
            n_threads=2,
        ),
    )
    yield (
        "isotonic_levels",
        call(_core.isotonic_levels, values=points(N, 1, np.float64).ravel(), weights=np.ones(N)),
    )
    yield (
        "row_distances",
        call(
            _core.row_distances,
            A=points(N, D, np.float64),
            B=points(F, D, np.float64),
            squared=False,
            out=np.zeros((N, F)),
            n_threads=2,
        ),
    )
    yield (
        "sparse_product",
        call(
            _core.sparse_product,
            A=_core.Table(*sparse_table()),
            X=points(F, K, np.float64),
            out=np.zeros((N, K)),
            n_threads=2,
        ),
    )
    yield (
        "sparse_by_sparse",
        call(
            _core.sparse_by_sparse,
            A=_core.Table(*sparse_table()),
            B=_core.Table(*sparse_table(F, N)),
            n_threads=2,
        ),
    )
    yield (
        "dense_product",
        call(
            _core.dense_product,
            A=_core.Table(*sparse_table()),
            B=_core.Table(*sparse_table(F, N)),
            out=np.zeros((N, N)),
            n_threads=2,
        ),
    )
    yield (
        "small_svd",
        call(_core.small_svd, columns=points(D, F, np.float64), values=np.zeros(D), right=np.zeros((D, D))),
    )
    yield (
        "eigen_each",
        call(
            _core.eigen_each,
            matrices=points(N * D, D, np.float64),
            values=np.zeros((N, D)),
            vectors=np.zeros((N * D, D)),
            n_threads=2,
        ),
    )
    for name in ("exp", "expm1", "log", "log1p"):
        yield name, call(getattr(_core, name), x=ones(N, np.float64), out=np.zeros(N), n_threads=2)
    yield "power", call(_core.power, x=ones(N, np.float64), p=1.5, out=np.zeros(N), n_threads=2)
    for name, pairs in {"uniform_matrix": (5, 3), "normal_matrix": (4, 2)}.items():
        yield (
            name,
            call(getattr(_core, name), seed=1, stream=2, n_rows=pairs[0], n_columns=pairs[1], n_threads=2),
        )
    yield (
        "plan_fronts",
        call(
            _core.plan_fronts,
            offsets=graph["offsets"],
            columns=graph["columns"],
            order=np.arange(N, dtype=np.int32),
            max_entries=1e6,
        ),
    )
    yield "density_clusters", call(_core.density_clusters, distances=1.0 - np.eye(9), n_core=3, min_size=2)
    yield (
        "SparseFactor",
        call(
            _factor,
            starts=np.array([0, 2, 4], np.int32),  # two fronts; the second takes up the third and fourth row
            parents=np.array([1, -1], np.int32),
            offsets=np.array([0, 1, 1]),
            places=np.array([3], np.int32),
            ranges=np.array([0, 4, 7]),
            rows=np.array([0, 1, 1, 2, 0, 1, 1], np.int32),
            columns=np.array([0, 0, 1, 1, 0, 0, 1], np.int32),
            values=np.array([2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]),
            shift=0.5,
            X=np.ones((4, 3)),
            n_threads=2,
        ),
    )
    yield (
        "frame_overlaps",
        call(
            _core.frame_overlaps,
            frames=points(N, F * D),
            n_directions=D,
            edges=neighbors()[:, :2].copy(),
            nuclear=True,
            n_threads=2,
        ),
    )
    for name, dtype in {"single": np.float32, "double": np.float64}.items():
        yield (
            f"geodesic_distances_{name}",
            call(
                partial(_with_graph, f"geodesic_distances_{name}"),
                **graph,
                vertices=neighbors()[:9, :2].copy(),
                starts=np.ones((9, 2)),
                out=np.empty((9, N), dtype),
                n_threads=2,
            ),
        )
    for dtype in (np.float32, np.float64, np.uint8):
        tag = f"-{np.dtype(dtype).name}"
        X = np.abs(points(N, F)).astype(dtype)
        ranked = neighbors().copy()
        ranked[0, -1] = -1
        yield (
            "rank_candidates" + tag,
            call(
                _core.rank_candidates,
                x=X,
                queries=X,
                candidates=ranked,
                order=np.arange(N, dtype=np.int32),
                scale=1.0,
                k=3,
                n_threads=2,
                lead=2,
            ),
        )
        yield (
            "pair_distances" + tag,
            call(_core.pair_distances, x=X, others=neighbors().copy(), scale=1.0, n_threads=2),
        )
        yield (
            "anchor_squares" + tag,
            call(
                _core.anchor_squares,
                X=X,
                anchors=np.array([0, 5, 9, 23], np.int64),
                means=np.zeros(F),
                scale=1.0,
                out=np.zeros((4, N), np.float32),
                n_threads=2,
            ),
        )
        if dtype != np.uint8:
            yield "to_bytes" + tag, call(_core.to_bytes, X=X, out=np.zeros((N, F), np.uint8), n_threads=2)
            yield "row_hashes" + tag, call(_core.row_hashes, X=X, n_threads=2)
    for dtype in (np.float32, np.float64):
        tag = f"-{np.dtype(dtype).name}"
        yield (
            "score_map" + tag,
            call(
                _core.score_map,
                distances=np.abs(points(4, N, dtype)),
                Y=points(dtype=np.float64),
                anchors=np.array([0, 5, 9, 23], np.int64),
                n_neighbors=3,
                n_nearest=5,
                n_triplets=4,
                seed=0,
                n_threads=2,
            ),
        )
        yield (
            "count_below_bounds" + tag,
            call(
                _core.count_below_bounds,
                distances=np.abs(points(4, N, dtype)),
                bounds=np.sort(np.abs(points(3, N, dtype)), axis=0),
                sums=np.zeros(N, np.int64),
                squares=np.zeros(N, np.int64),
                n_threads=2,
            ),
        )
        yield (
            "count_agreeing" + tag,
            call(
                _core.count_agreeing,
                distances=np.abs(points(4, N, dtype)),
                first=points(dtype=np.float64),
                second=points(dtype=np.float64),
                rows=np.array([0, 5, 9, 23], np.int64),
                pairs=np.array([0, 2], np.int64),
                halves=np.zeros(N, np.int64),
                n_threads=2,
            ),
        )
        yield (
            "inner_products" + tag,
            call(_core.inner_products, B=points(N, F, dtype), out=np.zeros((F, F)), n_threads=2),
        )
        yield (
            "rank_anchors" + tag,
            call(
                _core.rank_anchors,
                distances=np.abs(points(4, N, dtype)),
                Y=points(dtype=np.float64),
                anchors=np.array([0, 5, 9, 23], np.int64),
                sizes=np.array([1, 3, 8], np.int64),
                weights=ones(N, np.float64),
                groups=np.array([0, 1, 0, 1], np.int32),
                n_groups=2,
                n_nearest=5,
                n_pairs=4,
                unit=1.0,
                squared=True,
                seed=0,
                n_threads=2,
            ),
        )
        X, means = points(N, F, dtype), ones(F, np.float64)
        yield "column_means" + tag, call(_core.column_means, X=X, n_threads=2)
        yield "largest_deviation" + tag, call(_core.largest_deviation, X=X, means=means, n_threads=2)
        yield "mark_varying" + tag, call(_core.mark_varying, X=X, n_threads=2)
        yield (
            "centre" + tag,
            call(
                _core.centre,
                X=X,
                means=means,
                scale=2.0,
                columns=np.array([1, 4], np.int64),
                out=np.empty((N, 2), dtype),
            ),
        )
        yield (
            "project" + tag,
            call(
                _core.project,
                X=X,
                means=means,
                directions=points(F, 3, np.float64),
                out=np.empty((N, 3), dtype),
                n_threads=2,
            ),
        )
        yield (
            "scatter_product" + tag,
            call(
                _core.scatter_product,
                X=X,
                means=means,
                vectors=points(F, 3, np.float64),
                out=np.empty((F, 3)),
                n_threads=2,
            ),
        )
        yield "scatter_trace" + tag, call(_core.scatter_trace, X=X, means=means, n_threads=2)
        yield "center_rows" + tag, call(_core.center_rows, x=X, mean=means, scale=1.0, n_threads=2)
        yield (
            "nearest_centered_rows" + tag,
            call(_core.nearest_centered_rows, base=X, mean=means, scale=1.0, queries=points(5, F), k=3, n_threads=2),
        )
        yield (
            "project_rows" + tag,
            call(_core.project_rows, x=X, mean=means, scale=1.0, basis=points(3, F), n_threads=2),
        )
        yield (
            "scan_rows" + tag,
            call(_core.scan_rows, x=X, queries=X[:4], self=np.arange(4, dtype=np.int32), scale=1.0, k=3, n_threads=2),
        )
        state = {"Y": points(dtype=dtype), "gradient": points(dtype=dtype)}
        yield (
            "momentum_step" + tag,
            call(_momentum, **state, velocity=points(dtype=dtype), gains=points(dtype=dtype), n_threads=2),
        )
        yield (
            "adam_step" + tag,
            call(_adam, **state, first=points(dtype=dtype), second=points(dtype=dtype), iteration=3, n_threads=2),
        )
    yield from _metrics()
    yield "random_keys", call(_core.random_keys, seed=0, n=7)
    pixels = np.random.default_rng(0).integers(0, 256, size=(300, F)).astype(np.uint8)
    yield "AllPairs", call(_all_pairs, points=points(300, F), k=5, round=0, n_threads=2)
    yield "AllPairs-bytes", call(_all_pairs, points=pixels, k=5, round=0, n_threads=2)
    yield "nearest_byte_rows", call(_core.nearest_byte_rows, base=pixels, queries=pixels[:5], k=3, n_threads=2)
    for rounded, tag in ((False, ""), (True, "-rounded")):
        yield (
            "CellJoin" + tag,
            call(
                _cell_join,
                points=points(N, F),
                probes=(np.arange(2 * N) % 3).reshape(N, 2).astype(np.int32),
                order=order,
                offsets=offsets,
                rounded=rounded,
                first=0,
                last=3,
                n_probes=2,
                indices=np.empty((N, 4), np.int32),
            ),
        )
        yield (
            "CellJoin-find" + tag,
            call(
                _cell_find,
                points=points(N, F),
                cells=order,
                starts=offsets,
                rounded=rounded,
                queries=points(9, F),
                probes=(np.arange(18) % 3).reshape(9, 2).astype(np.int32),
                order=np.arange(9, dtype=np.int32),
                offsets=np.array([0, 4, 9], np.int64),
                k=3,
                n_threads=2,
            ),
        )
    yield "nearest_rows", call(_core.nearest_rows, base=points(N, F), queries=points(5, F), k=3, n_threads=2)
    for base, tag in ((none, ""), (points(), "-base")):
        yield (
            "edge_sums" + tag,
            call(
                partial(_on_graph, "edge_sums"),
                **on_graph,
                Y=points(),
                law="log",
                scale=1.0,
                base=base,
                base_scale=1.0,
                n_threads=2,
            ),
        )
    yield (
        "OrderedGraph",
        call(_ordered, **graph, Y=points(), scale=1.0, base=points(), base_scale=1.0, n_threads=2),
    )
    yield "edge_energy", call(partial(_on_graph, "edge_energy"), **on_graph, Y=points(), law="value", n_threads=2)
    for weight in (empty, ones()):
        yield (
            f"pair_sums-{len(weight)}",
            call(partial(_with_kernel, "pair_sums"), **_KERNEL, law="log", Y=points(), u=weight, v=weight, n_threads=2),
        )
        pairs = {"law": "value", "Y": points(N, 3), "u": weight, "v": weight, "n_threads": 2}
        yield f"Tree-{len(weight)}", call(_tree, theta=0.5, name="cauchy", **pairs)
        yield f"tree_sums-{len(weight)}", call(_tree_sums, theta=0.5, name="cauchy", **pairs)
        yield (
            f"target_sums-{len(weight)}",
            call(
                partial(_with_kernel, "target_sums"),
                **_KERNEL,
                Y=points(),
                target=points(N, N),
                centred=False,
                weights=np.empty((0, 0), np.float32),
                factors=weight,
                n_threads=2,
            ),
        )
    yield "row_sums", call(partial(_with_kernel, "row_sums"), **_KERNEL, Y=points(), v=weight, n_threads=2)
    for d in (1, 2):
        yield (
            f"ParticleMesh-{d}",
            call(_mesh, name="student_t", a=1.0, spacing=0.5, Y=points(N, d), charges=ones(), n_threads=2),
        )
        yield (
            f"ParticleMesh-two-{d}",
            call(_mesh_of_two, law="log_deficit", Y=points(N, d), charges=ones(), others=ones(), n_threads=2),
        )
    yield (
        "sampled_forces",
        call(_sampled_forces, **on_graph | sampling, u=ones(), v=empty, epoch=1, Y=points(), n_threads=2),
    )
    yield (
        "sampled_epochs",
        call(
            _sampled_epochs,
            **on_graph | sampling,
            learning_rate=1.0,
            max_epochs=20,
            isotropic=False,
            u=ones(),
            v=ones(),
            begin=0,
            end=3,
            Y=points(),
            first_moment=points(),
            second_moment=points(),
            added=none,
            n_threads=2,
        ),
    )
    box = np.stack([points().min(0), points().max(0)])
    steps = {"Y": points(), "extent": box, "totals": (40.0, 40.0), "n_threads": 2}
    yield "ParticleMesh-steps", call(_mesh_steps, law="value", charges=empty, others=None, **steps)
    yield "ParticleMesh-steps-two", call(_mesh_steps, law="log_deficit", charges=ones(), others=ones(), **steps)
    mesh = _core.ParticleMesh(_core.OutputKernel("cauchy"), 0.5).charges(points(), box, empty, 1)
    for function in ("potential", "forces"):
        yield (
            f"ParticleMesh-{function}",
            call(partial(_mesh_meshes, function), mesh=mesh, Y=points(), extent=box, charges=empty),
        )
    bits = np.array([2**64 - 1, 2**36 - 1], np.uint64)
    yield (
        "mark_draws",
        call(_mark_draws, **sampling, epoch=2, begin=64, end=90, n=100, marked=np.zeros(2, np.uint64), n_threads=1),
    )
    yield "take_marked", call(_core.take_marked, marked=bits, values=points(100), n_threads=1)
    yield (
        "sampled_epoch_of",
        call(
            _sampled_epoch_of,
            **on_graph | sampling,
            learning_rate=1.0,
            max_epochs=20,
            first=64,
            u=ones(20),
            halo=np.array([99, 3, 5, 60], np.int32),
            epoch=1,
            n=100,
            known=bits,
            places=points(100),
            Y=points(20),
            first_moment=points(20),
            second_moment=points(20),
            n_threads=2,
        ),
    )
    ball = points(N, 3, np.float64)
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    yield "Surface", call(_core.Surface, name="sphere", radius=2.0)
    yield (
        "surface_epochs",
        call(
            _surface_epochs,
            **on_graph | sampling,
            radius=2.0,
            learning_rate=1.0,
            max_epochs=20,
            u=ones(),
            v=ones(),
            begin=0,
            end=3,
            Y=ball,
            first_moment=np.zeros((N, 3)),
            second_moment=np.zeros(N),
            n_threads=2,
        ),
    )
    yield (
        "surface_pair_sums",
        call(
            _surface_sums,
            name="cauchy",
            a=1.0,
            radius=2.0,
            law="value",
            Z=ball,
            Y=ball,
            v=ones(),
            own=True,
            n_threads=2,
        ),
    )
    yield (
        "info_nce",
        call(
            partial(_on_graph, "info_nce"),
            **on_graph,
            Y=points(),
            shifts=np.array([1, 5, 7], np.int64),
            charges=ones(),
            n_threads=2,
        ),
    )
    for weights in (np.empty((0, 0)), np.ones((3, N))):
        yield (
            f"place_by_distances-{len(weights)}",
            call(
                _core.place_by_distances,
                Y=points(3, D, np.float64),
                anchors=points(dtype=np.float64),
                distances=np.ones((3, N)),
                weights=weights,
                max_iter=5,
                tol=1e-3,
                n_threads=2,
            ),
        )
    yield (
        "place_points",
        call(
            partial(_with_kernel, "place_points"),
            **_KERNEL,
            targets=points(3, N),
            anchors=points(),
            weights=ones(),
            candidates=points(7, D),
            own=np.array([-1, 3, 5], np.int32),
            n_starts=2,
            max_iter=5,
            n_threads=2,
        ),
    )
    placed = {"points": points(), "law": "value", "strength": 1.0, "max_iter": 9, "tolerance": 1e-3}
    by_sources = {"link": "log", "sources": points(), "charges": ones(), "table": np.empty((0, 0))}
    by_table = {"link": "sum", "sources": none, "charges": empty, "table": np.ones((16, 16))}
    for kind, repulsion in {"": by_sources, "-table": by_table}.items():
        rows = {"neighbors": neighbors()[:6], "weights": np.ones((6, K), np.float32), "n_threads": 2}
        grid = {"low": (-4.0, -4.0), "spacing": 0.5}
        yield "RowPlacer.place" + kind, call(_place, **placed, **repulsion, **grid, **rows)
        yield "RowPlacer.losses" + kind, call(_place_losses, **placed, **repulsion, **grid, **rows, positions=points(6))
    yield (
        "place_by_triplets",
        call(
            _core.place_by_triplets,
            points=points(),
            far=points(3, D),
            neighbors=neighbors()[:6],
            weights=np.ones((6, K * 3), np.float32),
            max_iter=5,
            tolerance=1e-3,
            n_threads=2,
        ),
    )
    yield (
        "spectral_vectors",
        call(
            partial(_with_graph, "spectral_vectors"),
            **dict(zip(("offsets", "columns", "values"), edges(40), strict=True)),
            n_wanted=2,
            width=8,
            tolerance=1e-3,
            turn=0.0,
            max_products=40,
            seconds=2.0,
            seed=0,
            n_threads=2,
        ),
    )
    yield (
        "graph_components",
        call(
            partial(_with_graph, "graph_components"),
            **dict(zip(("offsets", "columns", "values"), edges(40), strict=True)),
        ),
    )
    yield (
        "random_others",
        call(_core.random_others, seed=0, stream=1, excluded=neighbors(), count=4, n_threads=2),
    )
    yield (
        "random_others_within",
        call(
            _core.random_others_within,
            seed=0,
            stream=1,
            excluded=neighbors(),
            Y=points(),
            radius=1.0,
            tries=20,
            otherwise=neighbors(k=3),
            n_threads=2,
        ),
    )
    yield (
        "Triplets",
        call(
            _triplets,
            others=neighbors(),
            closer=np.array([0, 1, 2], np.int32),
            farther=np.array([3, 4, 4], np.int32),
            weights=np.ones((N, 3), np.float32),
            Y=points(),
            n_threads=2,
        ),
    )
    yield "wait", call(_core.wait, n_threads=2, n_chunks=3, seconds=0.0)
