"""The parameters of all methods, for type checkers: `gnomon.map` hands them to the method that it is told."""

from __future__ import annotations

from typing import Any, TypedDict

__all__ = ["MethodParameters"]


class MethodParameters(TypedDict, total=False):
    """What some method takes beside the parameters of `gnomon.map` itself; the method says which of them, and why."""

    # begin: methods (written by `make lists`)
    a: float | None
    accelerated: bool
    alpha: float
    anchor_weight: float
    anchors: Any
    annealing: tuple[float, ...]
    annealing_iter: int
    approximation: str | None
    b: float | None
    center: str | None
    centered: bool
    decay: float
    density: float | dict[str, Any] | None
    diffusion_time: float | None
    disconnected: str
    dof: float
    early_exaggeration: float
    early_exaggeration_iter: int
    early_momentum: float
    evaluation: str
    exaggeration: float
    frames: float | dict[str, Any] | None
    further_ratio: float
    gamma: float
    global_moves: int
    gradient_bound: float
    gravity: float | str
    high: Any
    init: Any
    input_kernel: Any
    input_kernel_params: dict[str, Any] | None
    inverse: str
    join: str
    kernel: Any
    kernel_params: dict[str, Any] | None
    landmarks: str
    learning_rate: float | str
    local_connectivity: float
    low: Any
    max_iter: int | None
    max_step_norm: float | None
    metric: Any
    metric_params: dict[str, Any] | None
    mid_near_ratio: float
    min_dist: float
    min_grad_norm: float
    min_neighbors: int
    momentum: float | str
    n_init: int | str
    n_iter_without_progress: int
    n_landmarks: Any
    n_neighbors: int | None
    n_noise: int
    n_outliers: int
    n_random: int
    n_stars: int
    nearby_distance: float | None
    negative_sample_rate: int
    normalization: float | None
    normalized: bool
    nuclear_norm: float | str
    output_metric: str
    output_radius: float | None
    penalty: str
    penalty_strength: float | None
    perplexity: float | None
    precomputed_knn: Any
    preset: str | None
    radius: float | None
    radius_power: float
    rank: int | None
    reference: Any
    reference_weight: float
    refine: bool
    regularization: float
    repulsion_strength: float
    set_op_mix_ratio: float
    sigma: Any
    smoothness: float | None
    solver: str
    sparsity: float | None
    spread: float
    star_weight: float
    step: str
    t: Any
    tangent_neighbors: int | None
    target_metric: str
    target_weight: float
    temperature: float
    threshold: float | str
    tol: float
    variance_share: float
    variant: str
    verbose: bool | int
    weights: Any
    whiten: bool
    # end: methods
