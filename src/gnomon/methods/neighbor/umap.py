"""UMAP: fuzzy simplicial set, UMAP(a, b) kernel, cross-entropy, descended by a mesh or by samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from gnomon import initialization, kernels, objectives, optimizers
from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, message
from gnomon.affinities import Affinities, FuzzyAffinity
from gnomon.methods.forecast import SPECTRAL_START, share_of_edges
from gnomon.methods.neighbor.base import Inputs, Recipe, is_wanted
from gnomon.methods.neighbor.kept_structure import DENSITY, FRAMES, density_terms, frame_terms
from gnomon.methods.neighbor.output import OUTPUT_METRIC, OUTPUT_RADIUS, output_surface
from gnomon.methods.neighbor.supervised import SupervisedEmbedder
from gnomon.methods.other_names import UMAP_LEARN, other_names
from gnomon.optimizers.sampled_descent import FLAT_DRAWS, flat_epochs, flat_steps, usual_epochs

if TYPE_CHECKING:
    from gnomon.objectives import AddedTerm
    from gnomon.optimizers import GradientDescent

__all__ = ["UMAP"]

_BOX = 10.0  # the start fills a box of this side
_SURFACE_STEPS: dict[str, Any] = {"learning_rate": 1.0}
_SURFACE_DRAWS = 16
_INTERPOLATED_FROM = 2000  # rows: of fewer, both take a tenth of a second, and samples less on some tables
_MESHES = 2e6  # bytes: of a fine one and a coarse one, each of two charges
_MANY_ROWS = 10_000  # from which the interpolated descent takes fewer iterations and more momentum
_MOST_ROWS = 200_000  # beyond which maps take longer to unfold
_BLOCK = 20  # iterations between reports: one evaluation of the loss


@other_names(UMAP_LEARN)
@dataclass(eq=False, repr=False)
class UMAP(SupervisedEmbedder):
    """Uniform manifold approximation and projection.

    Input affinity: fuzzy simplicial set of the nearest neighbours. Output kernel: 1 / (1 + a d^(2b)). Loss:
    the cross-entropy that sampled repulsion lowers. Optimizer: of many rows, descent with momentum, all repulsions
    summed on a mesh; of few, Adam on all edges and sampled repulsions of every point at once. The same seed gives the
    same map for any number of threads.

    Parameters
    ----------
    n_neighbors : int >= 2, default=15
        Neighbours of each row, the row itself not counted (umap-learn counts it: its 15 is 14 here).
    n_components : int >= 1, default=2
        Dimension of the map; 2 on a surface.
    min_dist : float in [0, spread], default=0.1
        How close points may come in the map, in map units.
    spread : float > 0, default=1.0
        Scale of the map.
    a, b : float > 0 or None, default=None
        The output kernel itself, both or neither; then min_dist and spread are not used.
    blocks : dict of str to gnomon.Block or None, default=None
        Blocks of columns, each with its own metric and weight, instead of one metric of all; columns in no block are
        not used, and one block gives the same bytes as its columns alone. Not together with `density` or `frames`.
    join : {"intersection", "union", "mean"}, default="intersection"
        How blocks are joined: near in all of them, near in one at least, or by the weighted mean of affinities. See
        `gnomon.methods.neighbor.blocks.BlockEmbedder`.
    metric : str or callable, default="euclidean"
        The names in the table of `gnomon.neighbors.compute_neighbors` run natively; other names, and callables,
        are those of scikit-learn's ``NearestNeighbors``; "precomputed" takes distances.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"period": 360}`` of "periodic".
    precomputed_knn : tuple, sparse matrix, object, NeighborGraph or None, default=None
        Neighbours that are known already: ``(indices, distances)``, both of shape (n_samples, n_columns), in any order,
        with or without the row itself, -1 where there is none, distances true and not squared (for others see
        `gnomon.neighbors.as_neighbor_graph`); a sparse matrix of them, as ``adata.obsp["distances"]`` of scanpy or
        ``kneighbors_graph(X, k, mode="distance")`` of scikit-learn; an ``NNDescent`` of pynndescent; or what
        `gnomon.neighbors.compute_neighbors` returns. The nearest n_neighbors are used, or with a warning all if there
        are fewer. X is needed all the same: with the metric it places new rows. None, or a tuple of None alone as
        umap-learn has it, searches.
    local_connectivity : float >= 1, default=1.0
        Neighbours assumed to be fully connected to a row.
    set_op_mix_ratio : float in [0, 1], default=1.0
        1 joins the two directions of an edge by fuzzy union, 0 by intersection.
    repulsion_strength : float >= 0, default=1.0
        Weight of the repulsions. With 0 all points fall together.
    negative_sample_rate : int >= 1, default=5
        Repulsions expected for each attraction.
    evaluation : {"auto", "interpolated", "sampled"}, default="auto"
        How repulsions are summed. "interpolated" sums those of all pairs on a mesh by fast Fourier transform and
        descends without noise: a lower loss in a third or half of the iterations. It is for one and two components in
        flat space, without `density` and `frames`, and with learning_rate="auto". "sampled" draws points at random, as
        umap-learn does. "auto" interpolates from 2000 distinct rows on where it can. The choice made is
        ``evaluation_``.
    learning_rate : "auto" or float > 0, default="auto"
        Of the sampled descent; given, "auto" of `evaluation` is "sampled". Step at the start, in units of the map. It
        falls to 0 in proportion to the passes left, from 400 passes on in proportion to their square. "auto" takes 4
        from 400 passes on and 2 below. On a surface, and of `FeatMAP`, it takes 1, which falls in proportion to the
        passes left. The one used is ``learning_rate_``.
    max_iter : int >= 0 or None, default=None
        Passes over the edges. None takes, where repulsions are interpolated, 100, but 150 up to 10,000 rows and above
        200,000; where they are sampled 500 up to 10,000 rows and 300 above (on a surface 200). The number used is
        ``n_iter_``.
    density : float >= 0, dict or None, default=None
        Weight of a term that keeps the density of the rows, as `DensMAP`, whose weight is 2; None or 0 for none. A dict
        gives some of weight, begins (share of the passes after which it acts, 0.7) and variance_shift (0.1).
    frames : float >= 0, dict or None, default=None
        Weight of a term that keeps the spread along each tangent direction, as `FeatMAP`, whose weight is 0.5; None or
        0 for none. More than two directions weigh as much together as two. A dict gives some of weight, begins (0.7),
        every (passes between two estimates of the map's frames, 10) and variance_shift (0.1). Frames are made of the
        method's own neighbours.
    output_metric : {"euclidean", "sphere", "hyperboloid"}, default="euclidean"
        What distances in the map are: straight, or along a surface. On a "sphere" (umap-learn's "haversine")
        ``embedding_`` is longitude and latitude in radians; on a "hyperboloid", the hyperbolic plane, the place in the
        Poincare disk, inside the unit circle. ``surface_`` gives places in space, distances and pictures of them.
    output_radius : float > 0 or None, default=None
        Radius of the sphere or, on a hyperboloid, of curvature, in units of the map, those of min_dist and spread. None
        takes spread times log10(n_samples) - 1, 1.5 at least, on a sphere and 2 spread on a hyperboloid.
    target_weight : float in [0, 1], default=0.5
        Weight of a target y given to `fit`, against the data; 0 does not use it. See `SupervisedAffinity`.
    target_metric : {"auto", "categorical", "euclidean", "l2"}, default="auto"
        Whether y holds classes ("categorical") or numbers; "auto" takes dates, fractions of more than twelve values and
        whole numbers such as ages, many of few rows each, as numbers.
    init : {"spectral", "pca", "random"} or ndarray of shape (n_samples, n_components), default="spectral"
        Start positions; named ones fill a box of side 10, an array is taken as it is, with a warning where it spreads
        far more than maps do. The start used is ``init_``.
    random_state : int, Generator, RandomState or None, default=None
        The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the layout early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32, float64 on a surface
        The map.
    surface_ : Sphere, Hyperboloid or None
        What the map lies on; None for flat space. See `gnomon.surfaces`.
    graph_ : NeighborGraph
        Nearest neighbours of the distinct rows, with the measured recall.
    affinities_ : Affinities
        Memberships between the distinct rows; with a target those of data and target.
    supervision_ : Supervision or None
        How far a target goes with the data: its agreement among neighbours, that by chance and the error of it.
    kernel_ : UMAPKernel
        The output kernel with a and b, given or fitted to min_dist and spread.
    solution_ : Solution
        Loss history, reason for stopping, times.
    learning_rate_ : float
        The step at the start; of the interpolated descent that of `gnomon.optimizers.GradientDescent` at the end.
    n_iter_, seed_, init_, evaluation_, timings_
        What was used, and seconds by stage.
    radii_, map_radii_, density_correlation_
        With `density`, as in `DensMAP`.
    frames_, embedding_frames_, frame_correlation_
        With `frames`, as in `FeatMAP`.

    Notes
    -----
    The interpolated descent multiplies attractions by 8 for a tenth of the iterations, a factor that falls to 1 over
    the next six tenths, and takes momentum away over the last fifth, on a mesh of half the spacing. The mean force of
    samples on a row grows with its own degree alone; the loss that is descended without samples, of which it is the
    gradient, takes the mean of those of both ends (`gnomon.objectives.CrossEntropy`). Sampled maps of one component
    begin with a thirtieth of the repulsion (`gnomon.optimizers.SampledDescent`, `early_exaggeration`).

    `place` puts a new row where its own part of the loss is least among the fitted points, which stay: its
    memberships to the nearest fitted rows, with one fully connected neighbour less (the row itself), attract, and
    the mean repulsion of all points, m d / (2 n) with the row's degree d, pushes. Nothing is drawn at random.
    ``placement_.search`` says how neighbours were searched and with what recall, ``placement_.field`` how the
    repulsion was summed.

    On a surface forces, steps and starts are those of `gnomon.optimizers.SampledSurfaceDescent`: geodesic distances
    and Riemannian gradients. `place` works as in flat space; `transform`, `inverse_transform`, `jacobian`, sensitivity,
    density and frames are refused there, as they are of flat maps. A callback sees points: unit vectors of space on a
    sphere, places of the disk on a hyperboloid.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018.
    .. [2] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021 (the loss that sampling optimises).

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> gnomon.UMAP(n_neighbors=15, random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    n_neighbors: int = 15
    n_components: int = 2
    _: KW_ONLY
    min_dist: float = 0.1
    spread: float = 1.0
    a: float | None = None
    b: float | None = None
    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    repulsion_strength: float = 1.0
    negative_sample_rate: int = 5
    evaluation: str = "auto"
    learning_rate: float | str = "auto"
    max_iter: int | None = None
    density: float | dict[str, Any] | None = None
    frames: float | dict[str, Any] | None = None
    output_metric: str = "euclidean"
    output_radius: float | None = None
    init: Any = "spectral"

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(2),
        "min_dist": Real(0.0),
        "spread": Real(0.0, low_open=True),
        "a": Either(Real(0.0, low_open=True), Nothing()),
        "b": Either(Real(0.0, low_open=True), Nothing()),
        "local_connectivity": Real(1.0),
        "set_op_mix_ratio": Real(0.0, 1.0),
        "repulsion_strength": Real(0.0),
        "negative_sample_rate": Integer(1),
        "evaluation": Options("auto", "interpolated", "sampled"),
        "learning_rate": Either(Options("auto"), Real(0.0, low_open=True)),
        "max_iter": Either(Integer(0), Nothing()),
        "density": DENSITY,
        "frames": FRAMES,
        "output_metric": OUTPUT_METRIC,
        "output_radius": OUTPUT_RADIUS,
    }

    _stages: ClassVar[Mapping[str, Cost]] = {
        "affinities": Cost(fixed=2e5, row=150.0, neighbor=26.0),
        "initialization": SPECTRAL_START,
        "layout": Cost(fixed=2e5, row=100.0, neighbor=30.0),
    }

    def _n_iterations(self, parameters: dict[str, Any], n_samples: int) -> int:
        wanted = parameters["max_iter"]
        if wanted is not None:
            return int(wanted)
        if self._interpolates(parameters, n_samples):
            return 100 if _MANY_ROWS < n_samples <= _MOST_ROWS else 150
        return flat_epochs(n_samples) if parameters["output_metric"] == "euclidean" else usual_epochs(n_samples)

    def _why_sampled(self, parameters: dict[str, Any]) -> str:
        """Return what in the parameters asks for samples, as a clause; empty if nothing does."""
        if parameters["n_components"] > 2:
            return "a mesh has one or two dimensions"
        if parameters["output_metric"] != "euclidean":
            return "a map on a surface has no mesh"
        kept = [name for name in ("density", "frames") if is_wanted(parameters[name])]
        if kept:
            return f"the term of {kept[0]} joins the samples"
        return "" if parameters["learning_rate"] == "auto" else "learning_rate is a step of the sampled descent"

    def _interpolates(self, parameters: dict[str, Any], n_samples: int) -> bool:
        """Return whether repulsions are summed on a mesh, or raise ValueError where that is asked for and cannot be."""
        why, wanted = self._why_sampled(parameters), parameters["evaluation"]
        if wanted == "interpolated" and why:
            raise ValueError(message("evaluation='interpolated'", "'auto' or 'sampled' here", fact=why))
        return wanted == "interpolated" or (wanted == "auto" and n_samples >= _INTERPOLATED_FROM and not why)

    def _share_of_edges(self, n_features: float) -> float:
        return share_of_edges(n_features)

    def _sums_memory(self, parameters: dict[str, Any], n_samples: int) -> float:
        return _MESHES if self._interpolates(parameters, n_samples) else 0.0

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return ", interpolated" if self._interpolates(parameters, n_samples) else ""

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        max_iter = self._n_iterations(parameters, n_samples)
        self.kernel_ = _kernel(parameters["a"], parameters["b"], parameters["min_dist"], parameters["spread"])
        surface = output_surface(parameters, n_samples, spread=parameters["spread"])
        interpolated = self._interpolates(parameters, n_samples)
        optimizer: Any
        if interpolated:
            optimizer = _noiseless(max_iter, n_samples)
            self.learning_rate_ = optimizer.resolve_learning_rate(n_samples)
        else:
            steps = flat_steps(max_iter) if surface is None else dict(_SURFACE_STEPS)
            if parameters["learning_rate"] != "auto":
                steps["learning_rate"] = parameters["learning_rate"]
            self.learning_rate_ = float(steps["learning_rate"])
            descent = optimizers.SampledDescent if surface is None else optimizers.SampledSurfaceDescent
            optimizer = descent(max_iter, **steps)
        memberships = FuzzyAffinity(parameters["local_connectivity"], parameters["set_op_mix_ratio"])
        return Recipe(
            n_neighbors=parameters["n_neighbors"],
            affinity=self._supervised(memberships, parameters),
            rescale=partial(initialization.rescale_to_box, size=_BOX),
            objective=lambda affinities, inputs: self._loss(parameters)(
                affinities,
                self.kernel_,
                negative_sample_rate=parameters["negative_sample_rate"],
                repulsion_strength=parameters["repulsion_strength"],
                evaluation="interpolated" if interpolated else "sampled",
                n_draws=FLAT_DRAWS if surface is None else _SURFACE_DRAWS,
                added=self._terms(parameters, self._of_data(affinities, memberships, inputs, parameters), inputs),
                seed=inputs.seed,
            ),
            optimizer=optimizer,
            surface=surface,
        )

    def _loss(self, parameters: dict[str, Any]) -> Callable[..., objectives.CrossEntropy]:
        """Return what makes the loss of affinities and a kernel."""
        return objectives.CrossEntropy

    def _terms(self, parameters: dict[str, Any], affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
        """Return the terms that join the cross-entropy."""
        return (
            *density_terms(parameters["density"], affinities, self.kernel_, inputs),
            *frame_terms(parameters["frames"], affinities, self.kernel_, inputs, parameters),
        )


def _noiseless(max_iter: int, n_samples: int) -> GradientDescent:
    """Return the descent of interpolated repulsions."""
    return optimizers.GradientDescent.annealed(
        max_iter=max_iter,
        early_exaggeration=8.0,
        early_exaggeration_iter=max_iter // 10,
        annealing_iter=6 * max_iter // 10,
        settling_iter=max_iter // 5,
        momentum=0.97 if n_samples <= _MANY_ROWS else 0.98,
        block=_BLOCK,
    )


def _kernel(a: float | None, b: float | None, min_dist: float, spread: float) -> kernels.UMAPKernel:
    """Return the output kernel that is given, or else fitted to distances; or raise ValueError."""
    if a is not None and b is not None:
        return kernels.UMAPKernel(a, b)
    if a is not None or b is not None:
        raise ValueError(message(f"a={a} and b={b}", "given together", remedy="Or give min_dist and spread."))
    if min_dist > spread:
        raise ValueError(message(f"min_dist={min_dist}", f"at most spread={spread}"))
    return kernels.UMAPKernel.from_min_dist(min_dist, spread)
