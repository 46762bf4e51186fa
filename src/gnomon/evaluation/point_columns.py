"""The diagnostics of single points: the one name of each, what it says, which values stand out and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.evaluation.words import title_of

__all__ = ["POINT_SCORES", "PointScore"]


@dataclass(frozen=True)
class PointScore:
    """What is known of a diagnostic of a point before it is computed.

    Attributes
    ----------
    name : str
        Of the column in `Map.point_scores`, in files and on the command line.
    says : str
        What a value says of the point.
    stands_out : {"low", "high", "both"}
        Which values to look at.
    center : float or None
        The value of an ordinary point where both ends stand out: colours diverge from it. None for one ramp.
    flags : (str, str) or None
        What 0 and 1 mean, if the column has nothing else.
    """

    name: str
    says: str
    stands_out: str
    center: float | None = None
    flags: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """What pages, reports and figures call it: as the measure of the whole map, else its name in words."""
        words = title_of(self.name).replace("knn", "kNN")
        return words[0].upper() + words[1:] if not words.startswith("kNN") else words

    @property
    def scale(self) -> str:
        """How it is coloured: "diverging", "flags" or "sequential"."""
        return "flags" if self.flags else "sequential" if self.center is None else "diverging"


POINT_SCORES: dict[str, PointScore] = {
    one.name: one
    for one in (
        PointScore("trustworthiness", "whether its neighbours in the map are near in the data", "low"),
        PointScore("continuity", "whether its neighbours in the data are near in the map", "low"),
        PointScore("neighborhood_preservation", "share of its neighbours in the data that it keeps in the map", "low"),
        PointScore("triplet_accuracy", "share of pairs of rows whose order of distance from it the map keeps", "low"),
        PointScore(
            "knn_accuracy",
            "whether its neighbours in the map vote for its label (1) or not (0)",
            "low",
            flags=("neighbours vote for another label", "neighbours vote for its label"),
        ),
        PointScore(
            "knn_error", "by how much the mean of its neighbours in the map misses its label", "both", center=0.0
        ),
        PointScore("false_neighbors", "neighbours in the map that are none in the data", "high"),
        PointScore("missing_neighbors", "neighbours in the data that are none in the map", "high"),
        PointScore("reach_of_false", "farthest false neighbour, in radii of its neighbourhood in the data", "high"),
        PointScore("reach_of_missing", "farthest missing neighbour, in radii of its neighbourhood in the map", "high"),
        PointScore(
            "radius_ratio",
            "log2 of its radius in the map over that in the data, median 0; above 0 is thinner",
            "both",
            center=0.0,
        ),
        PointScore(
            "stretch", "log2 of the factor by which the map scales area around it, median 0", "both", center=0.0
        ),
        PointScore("anisotropy", "longest over shortest axis of what the map makes of a small circle", "high"),
        PointScore(
            "torn",
            "whether the map tears its neighbourhood apart (1) or not (0)",
            "high",
            flags=("whole", "torn"),
        ),
        PointScore("r2", "share of the displacements around it that the features explain", "low"),
        PointScore("outlier", "local outlier factor in the data; about 1 within the data", "high"),
        PointScore("label_doubt", "weight of its neighbours in the data that is not on its label", "high"),
        PointScore("local_dimension", "intrinsic dimension of the data around it", "both"),
    )
}
"""All diagnostics by name, in the order of the columns."""
