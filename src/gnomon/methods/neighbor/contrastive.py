"""t-SNE by contrastive estimation: neighbours told from noise, one pair at a time or one among several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Nothing, Real, Rule
from gnomon.affinities import UniformAffinity
from gnomon.initialization import rescale, rescale_to_box
from gnomon.kernels import Cauchy, NoiseContrast
from gnomon.methods.forecast import SPECTRAL_START
from gnomon.methods.neighbor.base import Recipe
from gnomon.methods.neighbor.supervised import SupervisedEmbedder
from gnomon.objectives import CrossEntropy, InfoNCE
from gnomon.optimizers import Adam, SampledDescent

__all__ = ["InfoNCETSNE", "NegTSNE"]

_BOX = 10.0  # the start fills a box of this side, in units of the distance over which the kernel falls
_DRAWS = 64  # points drawn in an epoch


@dataclass(eq=False, repr=False)
class NegTSNE(SupervisedEmbedder):
    """t-SNE by negative sampling, with the normaliser as a free parameter: the link between t-SNE and UMAP.

    Input affinity: the neighbours of each row, all alike. Output kernel: k / (k + c) of the Cauchy kernel k, with
    c = normalization * negative_sample_rate / (n (n - 1)). Loss: cross-entropy with sampled repulsion. Optimizer: Adam
    on all edges and sampled repulsions of every point at once.

    Parameters
    ----------
    n_neighbors : int >= 2, default=15
        Neighbours of each row, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map.
    normalization : float > 0 or None, default=None
        What the similarities are thought to sum to over all ordered pairs. None takes n (n - 1) /
        negative_sample_rate, UMAP's implicit choice; the true sum of a t-SNE map, usually 10 n to 100 n, gives a map
        like t-SNE's; between and beyond lies the attraction-repulsion spectrum.
    negative_sample_rate : int >= 1, default=5
        Repulsions expected for each attraction; with the normaliser of t-SNE, more of them bring the map nearer to it.
    learning_rate : float > 0, default=1.0
        Step size at the start, in units of the distance over which the kernel falls: 1 / sqrt(c), at least 1. It falls
        linearly to 0.
    max_iter : int >= 0, default=500
        Passes over the edges.
    target_weight, target_metric : as in `TSNE`
        A target y given to `fit`; by default it is not used.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `UMAP`
        Distances, start, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    normalization_ : float
        The normaliser used.
    graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`; affinities sum to 1.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least, as in `UMAP`, with the normaliser of the
    fit.

    References
    ----------
    .. [1] Damrich, Böhm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023, section 4.
    """

    n_neighbors: int = 15
    n_components: int = 2
    _: KW_ONLY
    normalization: float | None = None
    negative_sample_rate: int = 5
    learning_rate: float = 1.0
    max_iter: int = 500
    target_weight: float = 0.0
    init: Any = "spectral"

    _stages: ClassVar[Mapping[str, Cost]] = {
        "affinities": Cost(fixed=1e5, row=150.0, neighbor=34.0),
        "initialization": SPECTRAL_START,
        "layout": Cost(fixed=1e5, row=100.0, neighbor=52.0),
    }
    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(2),
        "normalization": Either(Real(0.0, low_open=True), Nothing()),
        "negative_sample_rate": Integer(1),
        "learning_rate": Real(0.0, low_open=True),
        "max_iter": Integer(0),
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        n_pairs, rate = n_samples * (n_samples - 1), parameters["negative_sample_rate"]
        given = parameters["normalization"]
        self.normalization_ = n_pairs / rate if given is None else given
        contrast = self.normalization_ * rate / n_pairs
        unit = max(1.0, contrast**-0.5)
        return Recipe(
            n_neighbors=parameters["n_neighbors"],
            affinity=self._supervised(UniformAffinity(), parameters),
            rescale=partial(rescale_to_box, size=_BOX * unit),
            objective=lambda affinities, inputs: CrossEntropy(
                affinities,
                NoiseContrast(contrast),
                negative_sample_rate=rate,
                repulsion_strength=2.0,  # the drawn points move as well
                n_draws=_DRAWS,
                seed=inputs.seed,
            ),
            optimizer=SampledDescent(max_iter=parameters["max_iter"], learning_rate=parameters["learning_rate"] * unit),
        )


@dataclass(eq=False, repr=False)
class InfoNCETSNE(SupervisedEmbedder):
    """t-SNE by contrastive estimation: each neighbour to be found among a few points drawn at random.

    Input affinity: the neighbours of each row, all alike. Output kernel: Cauchy, 1 / (1 + d^2). Loss: InfoNCE.
    Optimizer: Adam, with new random points in every iteration.

    Parameters
    ----------
    n_neighbors : int >= 2, default=15
        Neighbours of each row, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map.
    n_noise : int >= 1, default=50
        Random points beside each neighbour; the more, the nearer to t-SNE. All neighbours of a row share them, so that
        many cost little.
    learning_rate : float > 0, default=1.0
        Step size of Adam at the start; it falls linearly to 0.
    max_iter : int >= 0, default=750
        Iterations.
    target_weight, target_metric : as in `TSNE`
        A target y given to `fit`; by default it is not used.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `TSNE`
        Named starts are scaled to a standard deviation of 1 along the first axis.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `TSNE`; losses in ``solution_`` are those of the iteration's own sample.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least, the noise replaced by its mean over all
    fitted points.

    References
    ----------
    .. [1] Damrich, Böhm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023, section 3.
    """

    n_neighbors: int = 15
    n_components: int = 2
    _: KW_ONLY
    n_noise: int = 50
    learning_rate: float = 1.0
    max_iter: int = 750
    target_weight: float = 0.0

    _stages: ClassVar[Mapping[str, Cost]] = {
        "affinities": Cost(fixed=1e5, row=150.0, neighbor=34.0),
        "initialization": Cost(fixed=1e5, row=150.0, neighbor=34.0),
        "layout": Cost(fixed=1e5, row=300.0, neighbor=50.0),
    }
    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(2),
        "n_noise": Integer(1),
        "learning_rate": Real(0.0, low_open=True),
        "max_iter": Integer(0),
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        return Recipe(
            n_neighbors=parameters["n_neighbors"],
            affinity=self._supervised(UniformAffinity(), parameters),
            rescale=partial(rescale, standard_deviation=1.0),
            objective=lambda affinities, inputs: InfoNCE(
                affinities, Cauchy(), n_noise=parameters["n_noise"], seed=inputs.seed
            ),
            optimizer=Adam(max_iter=parameters["max_iter"], learning_rate=parameters["learning_rate"], decay="linear"),
        )
