"""The measures of a scorecard: the quality each belongs to, what it asks, its range and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon._validation import Options, check_parameters, message

__all__ = ["MEASURES", "QUALITIES", "Measure", "check_measures"]

QUALITIES = {
    "manifolds": "works on complex manifolds",
    "reduction": "reduces strongly",
    "neighborhoods": "keeps neighbourhoods",
    "coordinates": "has interpretable coordinates",
}
"""The four qualities of a map that its measures are sorted by."""


@dataclass(frozen=True)
class Measure:
    """What is known of a measure before it is taken.

    Attributes
    ----------
    name : str
    quality : str
        A key of `QUALITIES`.
    best : float or None
        The value of a perfect map; None if the number describes and does not judge.
    low, high : float
        Range.
    definition, source : str
        What it is and where it comes from, in words; k is the number of neighbours.
    """

    name: str
    quality: str
    best: float | None
    low: float
    high: float
    definition: str
    source: str

    @property
    def direction(self) -> str:
        """In words, which values are better."""
        if self.best is None:
            return "describes, does not judge"
        if self.best == 1.0:
            return "higher is better"
        return "lower is better" if self.low == 0.0 else "nearer to 0 is better"


_VENNA = "Venna & Kaski 2001; scikit-learn, ZADU"
_CORANKING = "Lee & Verleysen 2009, 2010"
_STRESS = "Smelser, Miller & Kobourov 2024; ZADU"
_JEON = "Jeon et al. 2021; ZADU"

MEASURES = {
    one.name: one
    for one in (
        Measure(
            "auc_rnx",
            "manifolds",
            1.0,
            -1.0,
            1.0,
            "mean over neighbourhoods of every size, weighted by 1 / size, of the common neighbours beyond chance",
            "Lee, Peluffo-Ordonez & Verleysen 2015",
        ),
        Measure(
            "topographic_product",
            "manifolds",
            0.0,
            -math.inf,
            math.inf,
            "mean log ratio of distances to the j-th neighbours in data and map, j = 1 ... k; below 0 the map has too "
            "few dimensions, above 0 too many",
            "Bauer & Pawelzik 1992; ZADU",
        ),
        Measure(
            "steadiness",
            "manifolds",
            1.0,
            0.0,
            1.0,
            "whether random clusters of the map hold together in the data, by shared neighbours of 2,000 rows at most",
            _JEON,
        ),
        Measure(
            "cohesiveness",
            "manifolds",
            1.0,
            0.0,
            1.0,
            "whether random clusters of the data hold together in the map, by shared neighbours of 2,000 rows at most",
            _JEON,
        ),
        Measure(
            "topology_h0",
            "manifolds",
            1.0,
            -1.0,
            1.0,
            "correlation, over pairs of rows, of the scales at which they come into one piece in data and map, of "
            "1,000 rows at most",
            "Sokal & Rohlf 1962; Carlsson & Mémoli 2010",
        ),
        Measure(
            "topology_h1",
            "manifolds",
            1.0,
            0.0,
            1.0,
            "likeness of the loops and the scales at which they open and close, over the largest distance, of 300 "
            "rows at most; which rows they are does not matter",
            "Edelsbrunner & Harer 2010; Wasserstein distance after Cohen-Steiner et al. 2010; GUDHI",
        ),
        Measure(
            "intrinsic_dimension",
            "reduction",
            None,
            0.0,
            math.inf,
            "coordinates that the data need, with the interval of gnomon.intrinsic_dimension: by how neighbourhoods "
            "grow at all scales, of 2,000 rows at most",
            "gnomon.intrinsic_dimension",
        ),
        Measure(
            "dimension_ratio",
            "reduction",
            None,
            0.0,
            math.inf,
            "dimensions of the map over those that the data need; well below 1 some structure must be lost",
            "gnomon.intrinsic_dimension",
        ),
        Measure(
            "q_global",
            "reduction",
            1.0,
            0.0,
            1.0,
            "mean share of common neighbours over the sizes beyond the one where it is farthest above chance",
            _CORANKING,
        ),
        Measure(
            "shepard",
            "reduction",
            1.0,
            -1.0,
            1.0,
            "rank correlation (Spearman) of the distances of pairs in data and map",
            "Shepard 1962; ZADU",
        ),
        Measure(
            "pearson",
            "reduction",
            1.0,
            -1.0,
            1.0,
            "correlation (Pearson) of the distances of pairs",
            "Geng et al. 2005; ZADU",
        ),
        Measure(
            "stress",
            "reduction",
            0.0,
            0.0,
            1.0,
            "root of the squared errors of distances over their squares, the map at its best scale",
            _STRESS,
        ),
        Measure(
            "raw_stress",
            "reduction",
            0.0,
            0.0,
            math.inf,
            "the same with the map as it is: meaningful only if it is in units of the data",
            "Kruskal 1964; ZADU",
        ),
        Measure(
            "non_metric_stress",
            "reduction",
            0.0,
            0.0,
            1.0,
            "the same about the best increasing function of the distances in the data, over the squares in the map",
            "Kruskal 1964; ZADU",
        ),
        Measure(
            "random_triplets",
            "reduction",
            1.0,
            0.0,
            1.0,
            "share of triplets (i, j, l) for which the nearer of j and l is the same in data and map; ties half",
            "Wang, Huang, Rudin & Shaposhnik 2021",
        ),
        Measure(
            "centroid_triplets",
            "reduction",
            1.0,
            0.0,
            1.0,
            "the same for the centroids of the classes",
            "Wang, Huang, Rudin & Shaposhnik 2021",
        ),
        Measure(
            "trustworthiness",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "whether the k nearest in the map are near in the data, by the excess of their ranks",
            _VENNA,
        ),
        Measure(
            "continuity",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "whether the k nearest in the data are near in the map, by the excess of their ranks",
            _VENNA,
        ),
        Measure(
            "neighborhood_preservation",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "share of the k nearest in the data that are among the k nearest in the map (Q_NX)",
            _CORANKING,
        ),
        Measure(
            "q_local",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "mean share of common neighbours over the sizes up to the one where it is farthest above chance",
            _CORANKING,
        ),
        Measure(
            "mrre_false",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "1 - the mean relative error of the ranks of the k nearest in the map",
            "Lee & Verleysen 2007; ZADU",
        ),
        Measure(
            "mrre_missing",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "1 - the mean relative error of the ranks of the k nearest in the data",
            "Lee & Verleysen 2007; ZADU",
        ),
        Measure(
            "local_radius_correlation",
            "neighborhoods",
            1.0,
            -1.0,
            1.0,
            "correlation of the log radii of the k nearest in data and map: whether densities are kept",
            "Narayan, Berger & Cho 2021",
        ),
        Measure(
            "knn_accuracy",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "share of rows whose 10 nearest in the map, copies of the row in the data left out, vote for its label",
            "van der Maaten, Postma & van den Herik 2009",
        ),
        Measure(
            "knn_r2",
            "neighborhoods",
            1.0,
            -math.inf,
            1.0,
            "share of the variance of measured labels that the mean of the 10 nearest in the map foretells",
            "van der Maaten, Postma & van den Herik 2009",
        ),
        Measure(
            "neighborhood_hit",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "share of the k nearest in the map that have the row's own label",
            "Paulovich, Nonato, Minghim & Levkowitz 2008; ZADU",
        ),
        Measure(
            "silhouette",
            "neighborhoods",
            1.0,
            -1.0,
            1.0,
            "how much nearer rows of the own class are in the map than those of the nearest other class",
            "Rousseeuw 1987; scikit-learn, ZADU",
        ),
        Measure(
            "distance_consistency",
            "neighborhoods",
            1.0,
            0.0,
            1.0,
            "share of rows that lie nearest to the centroid of their own class in the map",
            "Sips et al. 2009; ZADU",
        ),
        Measure(
            "local_r2",
            "coordinates",
            1.0,
            0.0,
            1.0,
            "mean over rows of the share of the places of 20 neighbours that a linear function of the features "
            "predicts, each neighbour from the others; below 0 counts as 0",
            "the R2 of local linear fits, as of gnomon.explain before pooling",
        ),
    )
}
"""All measures by name, in the order of a scorecard."""


def check_measures(measures: str | Sequence[str]) -> list[str]:
    """Return names in the order of a scorecard; raise an error for one that does not exist, or if there is none."""
    names = [measures] if isinstance(measures, str) else list(measures)
    if names == ["all"]:
        return list(MEASURES)
    if not names:
        raise ValueError(message("measures", "'all' or at least one name", fact="it is empty"))
    for name in names:
        check_parameters({"measures": Options("all", *MEASURES)}, {"measures": name})
    return [name for name in MEASURES if name in names or "all" in names]
