"""Names that other libraries have for a parameter: given one, the constructor says what it is called here.

The tables are those of `docs/coming-from.md`, which says more of each.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gnomon._validation import message

__all__ = [
    "ALIGNED",
    "DREAMS",
    "EARLY_EXAGGERATIONS",
    "EXAGGERATIONS",
    "INPUT_KERNEL_NAMES",
    "ISOMAP",
    "KERNEL_PCA",
    "LOCALLY_LINEAR",
    "LOCALMAP",
    "MDS",
    "MDS_STARTS",
    "MDS_VARIANTS",
    "METHOD_NAMES",
    "OPENTSNE",
    "PACMAP",
    "PCA",
    "PCA_SOLVERS",
    "REPULSIONS",
    "SCIKIT_LEARN",
    "SPECTRAL",
    "SPECTRAL_WEIGHTS",
    "UMAP_LEARN",
    "OtherName",
    "check_names",
    "other_names",
]

_T = TypeVar("_T")


@dataclass(frozen=True)
class OtherName:
    """What stands here for a parameter of another library.

    Attributes
    ----------
    ours : str
        What to write instead; "" where there is nothing to choose.
    why : str
        How the two differ, or why there is nothing to choose.
    """

    ours: str
    why: str = ""


_SEARCH = OtherName("", "the search is chosen by size; graph_.method and graph_.recall say how exact it was")
_GIVEN = OtherName("precomputed_knn", "it takes neighbours that were searched elsewhere, with any arguments")
_NO_DRAWS = OtherName("", "new rows are placed without random numbers")
_GRID = OtherName(
    "loss_params={'spacing': ...} of NeighborEmbedding(loss='kl')",
    "0.28, twice that until points settle",
)
_TREE = OtherName("loss_params={'theta': ...} of NeighborEmbedding(loss='kl')", "forces are good to about 0.1 %")

UMAP_LEARN = {
    "n_epochs": OtherName("max_iter"),
    "metric_kwds": OtherName("metric_params"),
    "output_metric_kwds": OtherName("output_radius", "it is all that the output metrics sphere and hyperboloid take"),
    "low_memory": OtherName("", "memory is foreseen, and a fit that needs too much is refused at once"),
    "transform_queue_size": _SEARCH,
    "transform_seed": _NO_DRAWS,
    "transform_mode": OtherName("", "the graph of the rows is affinities_"),
    "angular_rp_forest": _SEARCH,
    "force_approximation_algorithm": _SEARCH,
    "target_n_neighbors": OtherName("", "as many rows count as near in the target as in the data"),
    "target_metric_kwds": OtherName("", "numbers are compared by their difference"),
    "tqdm_kwds": OtherName("callback", "it is called with a gnomon.Progress"),
    "unique": OtherName("", "equal rows always share one position, which counts as many times as they come"),
    "densmap": OtherName("density=2.0", "or take DensMAP"),
    "dens_lambda": OtherName("density={'weight': ...}"),
    "dens_frac": OtherName("density={'begins': 1 - dens_frac}", "begins counts the passes before the term acts"),
    "dens_var_shift": OtherName("density={'variance_shift': ...}"),
    "output_dens": OtherName("", "with density the radii are learned as radii_ and map_radii_"),
    "disconnection_distance": OtherName("", "all neighbours count"),
}
"""Of ``umap.UMAP``."""

SCIKIT_LEARN = {
    "method": OtherName("evaluation", "'barnes_hut' is 'tree'; 'auto' takes a grid in two dimensions"),
    "n_iter": OtherName("max_iter", "all iterations; openTSNE's n_iter does not count those of early exaggeration"),
    "angle": _TREE,
}
"""Of ``sklearn.manifold.TSNE``, older names included."""

_BY_SIZE = OtherName("", "it is chosen by size")
_UNCHANGED = OtherName("", "tables that are given are never changed")
_EXACT = OtherName("", "eigenvectors are found to the limit of their numbers")
_RANDOMIZED = OtherName("", "the randomized solver chooses it")
_NEIGHBORS = OtherName("", "the search is chosen by size")

ISOMAP = {
    "radius": OtherName("n_neighbors", "neighbours are counted"),
    "eigen_solver": _BY_SIZE,
    "tol": _EXACT,
    "max_iter": _EXACT,
    "path_method": _BY_SIZE,
    "neighbors_algorithm": _NEIGHBORS,
    "p": OtherName("metric", "'manhattan' is p = 1, 'chebyshev' infinity"),
}
"""Of ``sklearn.manifold.Isomap``."""

LOCALLY_LINEAR = {
    "reg": OtherName("regularization"),
    "eigen_solver": OtherName("solver", "'auto' suits all sizes, 'dense' is the same"),
    "max_iter": _EXACT,
    "method": OtherName("variant", "of the same names"),
    "hessian_tol": OtherName("", "ranks are found by rounding"),
    "modified_tol": OtherName("", "ranks are found by rounding"),
    "neighbors_algorithm": _NEIGHBORS,
}
"""Of ``sklearn.manifold.LocallyLinearEmbedding``."""

MDS = {
    "metric_mds": OtherName("variant", "True is 'metric', False 'ordinal'"),
    "dissimilarity": OtherName("metric", "'precomputed' takes distances there too"),
    "eps": OtherName("tol"),
    "normalized_stress": OtherName("", "stress_ and normalized_stress_ are both kept"),
}
"""Of ``sklearn.manifold.MDS``."""

SPECTRAL = {
    "affinity": OtherName("weights", "of a graph of neighbours; 'precomputed' is for metric, of distances"),
    "gamma": OtherName("sigma", "the root of 1 / gamma"),
    "eigen_solver": _BY_SIZE,
    "eigen_tol": _EXACT,
}
"""Of ``sklearn.manifold.SpectralEmbedding``."""

PCA = {
    "copy": _UNCHANGED,
    "svd_solver": OtherName("solver", "'full' is 'svd', 'covariance_eigh' is 'covariance'; 'arpack' has no equal"),
    "tol": _EXACT,
    "iterated_power": _RANDOMIZED,
    "n_oversamples": _RANDOMIZED,
    "power_iteration_normalizer": _RANDOMIZED,
}
"""Of ``sklearn.decomposition.PCA``."""

KERNEL_PCA = {
    "gamma": OtherName("kernel_params", "for kernel='gaussian', there 'rbf', {'sigma': (2 * gamma) ** -0.5}"),
    "degree": OtherName("kernel_params", "{'coefficients': (1, 3, 3, 1), 'scale': 1 / gamma} is degree 3 with coef0=1"),
    "coef0": OtherName("kernel_params", "{'coefficients': (1, 3, 3, 1), 'scale': 1 / gamma} is degree 3 with coef0=1"),
    "fit_inverse_transform": OtherName("", "inverse_transform works without it"),
    "eigen_solver": _BY_SIZE,
    "tol": _EXACT,
    "max_iter": _EXACT,
    "iterated_power": _EXACT,
    "remove_zero_eig": OtherName("", "a column without variance is 0, and a warning says so"),
    "copy_X": _UNCHANGED,
}
"""Of ``sklearn.decomposition.KernelPCA``."""

ALIGNED = {
    "alignment_regularisation": OtherName("alignment_weight", "of another scale"),
    "alignment_window_size": OtherName("window"),
}
"""Of ``umap.AlignedUMAP``."""

OPENTSNE = {
    "n_iter": SCIKIT_LEARN["n_iter"],
    "theta": _TREE,
    "n_interpolation_points": _GRID,
    "min_num_intervals": _GRID,
    "ints_in_interval": _GRID,
    "initialization": OtherName("init"),
    "initial_momentum": OtherName("early_momentum"),
    "final_momentum": OtherName("momentum"),
    "max_grad_norm": OtherName("max_step_norm", "it bounds the step of a point"),
    "neighbors": _GIVEN,
    "knn_kwargs": _GIVEN,
    "negative_gradient_method": OtherName("evaluation", "'fft' is 'interpolated', 'bh' is 'tree'"),
    "callbacks": OtherName("callback", "one function, called with a gnomon.Progress"),
    "callbacks_every_iters": OtherName("", "the callback is called every 50 iterations"),
}
"""Of ``openTSNE.TSNE``."""

DREAMS = {
    **SCIKIT_LEARN,
    **OPENTSNE,
    "regularization": OtherName("reference_weight", "0 is none"),
    "reg_lambda": OtherName("reference_weight", "which is the lambda of the paper's formula"),
    "reg_embedding": OtherName("reference"),
    "reg_scaling": OtherName("", "the reference is scaled to the map"),
    "reg_scaling_dims": OtherName("", "one factor scales all axes"),
}
"""Of the program of the authors of DREAMS."""

PACMAP = {
    "MN_ratio": OtherName("mid_near_ratio"),
    "FP_ratio": OtherName("further_ratio"),
    "distance": OtherName("metric", "'angular' is 'cosine'"),
    "lr": OtherName("learning_rate"),
    "num_iters": OtherName("max_iter", "the sum of the phases, which take 2/9, 2/9 and 5/9 of it"),
    "pair_neighbors": OtherName("precomputed_knn", "near pairs are chosen among these neighbours"),
    "pair_MN": OtherName("", "the pairs that were used are affinities_"),
    "pair_FP": OtherName("", "the pairs that were used are affinities_"),
    "apply_pca": OtherName(
        "", "Euclidean distances are taken along 100 principal components where there are more features"
    ),
    "intermediate": OtherName("callback", "progress.embedding is the map of the moment, None before there is one"),
    "intermediate_snapshots": OtherName("callback", "progress.embedding is the map of the moment, None before it"),
    "save_tree": OtherName("", "new rows are placed without it"),
    "knn_backend": _SEARCH,
}
"""Of ``pacmap.PaCMAP``."""

LOCALMAP = {
    **PACMAP,
    "low_dist_thres": OtherName("nearby_distance"),
}
"""Of ``pacmap.LocalMAP``."""


_DIFFUSION = OtherName(
    "'laplacian_eigenmaps' with weights='heat', alpha=1 and diffusion_time=1, the parameters of "
    "gnomon.LaplacianEigenmaps",
    "diffusion maps are Laplacian eigenmaps with the density divided out, times powers of the eigenvalues",
)
_SPECTRAL = OtherName("'laplacian_eigenmaps'")
_LLE = OtherName("'lle'")

METHOD_NAMES = {
    **dict.fromkeys(("diffusion_map", "diffusion_maps", "diffusionmap", "diffusion", "diffmap"), _DIFFUSION),
    **dict.fromkeys(("spectral", "spectral_embedding", "laplacian_eigenmap", "eigenmaps"), _SPECTRAL),
    **dict.fromkeys(("locally_linear", "locally_linear_embedding"), _LLE),
    **dict.fromkeys(("t-sne", "t_sne"), OtherName("'tsne'")),
    **dict.fromkeys(("kpca",), OtherName("'kernel_pca'")),
    **dict.fromkeys(("cmds", "pcoa"), OtherName("'classical_mds'")),
    **dict.fromkeys(("nmds", "isomds", "metamds", "nonmetric_mds"), OtherName("'mds' with variant='ordinal'")),
}
"""Of methods, in small letters."""


_LIBSVM = "'{}' is what scikit-learn calls '{}'."

INPUT_KERNEL_NAMES: dict[object, str] = {
    "rbf": _LIBSVM.format("gaussian", "rbf"),
    "poly": _LIBSVM.format("polynomial", "poly"),
    "sigmoid": "It is not positive semidefinite; 'gaussian' and 'polynomial' are.",
}
"""Of scikit-learn's kernels."""

SPECTRAL_WEIGHTS: dict[object, str] = {
    **dict.fromkeys(("rbf", "gaussian"), "'heat' is the Gaussian, exp(-d^2 / sigma^2), of neighbours alone."),
    "nearest_neighbors": "'binary' counts neighbours alike, as scikit-learn's 'nearest_neighbors' does.",
    "precomputed": "metric='precomputed' takes distances, precomputed_knn neighbours.",
    "precomputed_nearest_neighbors": "precomputed_knn takes neighbours that were searched elsewhere.",
}
"""Of ``affinity`` of ``sklearn.manifold.SpectralEmbedding``."""

MDS_STARTS: dict[object, str] = {"classical_mds": _LIBSVM.format("classical", "classical_mds")}
"""Of ``init`` of ``sklearn.manifold.MDS``."""

MDS_VARIANTS: dict[object, str] = dict.fromkeys(
    ("nonmetric", "non-metric", "non_metric"), "'ordinal' is what scikit-learn calls non-metric."
)
"""Of the two forms of ``sklearn.manifold.MDS``."""

PCA_SOLVERS: dict[object, str] = {
    "full": _LIBSVM.format("svd", "full"),
    "covariance_eigh": _LIBSVM.format("covariance", "covariance_eigh"),
    "arpack": "Nothing here is 'arpack': 'auto' suits all sizes, 'randomized' finds few components of many.",
}
"""Of ``svd_solver`` of ``sklearn.decomposition.PCA``."""

REPULSIONS: dict[object, str] = {
    **dict.fromkeys(("barnes_hut", "bh"), "'tree' is the algorithm of Barnes and Hut."),
    "fft": "'interpolated' takes a grid and fast Fourier transforms.",
}
"""Of ``method`` of scikit-learn's t-SNE and ``negative_gradient_method`` of openTSNE's."""

EARLY_EXAGGERATIONS: dict[object, str] = {"auto": "Leave it out: it is 12, as of openTSNE's 'auto'."}
EXAGGERATIONS: dict[object, str] = {None: "Leave it out: it is 1, which is none."}
"""Of openTSNE."""


def check_names(names: Mapping[str, OtherName], given: Iterable[str], who: str) -> None:
    """Raise TypeError if a parameter is given by a name that it has elsewhere."""
    for name in given:
        if name in names:
            other = names[name]
            rule = f"written as {other.ours}" if other.ours else "left out"
            raise TypeError(message(name, rule, fact=other.why, who=who))


def _check_spelling(construct: Callable[..., Any], given: Mapping[str, Any], who: str) -> None:
    """Raise TypeError if a parameter is not known and looks like one that is; the sentence begins as Python's."""
    known = inspect.signature(construct).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for name in given:
        if name not in known and (near := difflib.get_close_matches(name, known, n=1)):
            raise TypeError(f"{who}: unexpected keyword argument {name!r}. Did you mean {near[0]!r}?")


def other_names(names: Mapping[str, OtherName]) -> Callable[[type[_T]], type[_T]]:
    """Let the constructor of a class say what parameters of other libraries are called here, and near misses meant.

    Its signature stays. `Embedder.set_params` reads the names as well.

    Parameters
    ----------
    names : mapping of str to OtherName

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        construct = cls.__init__

        @functools.wraps(construct)
        def construct_by_our_names(self: Any, *args: Any, **kwargs: Any) -> None:
            check_names(names, kwargs, type(self).__name__)
            _check_spelling(construct, kwargs, type(self).__name__)
            construct(self, *args, **kwargs)

        cls.__init__ = construct_by_our_names  # type: ignore[method-assign]
        cls._other_names = names  # type: ignore[attr-defined]
        return cls

    return decorate
