"""Static figures with matplotlib (an extra: it is imported when a figure is drawn)."""

from gnomon.plot.answers import (
    plot_answer,
    plot_answers,
    plot_distortion,
    plot_explanation,
    plot_groups,
    plot_profile,
    plot_route,
    plot_rows,
)
from gnomon.plot.clusters import TreeDisplay, plot_clusters, plot_tree
from gnomon.plot.comparing import plot_agreement, plot_completion, plot_drift
from gnomon.plot.curves import Curve, CurvesDisplay, HistogramDisplay, ScatterDisplay
from gnomon.plot.descents import (
    plot_alignment,
    plot_certificate,
    plot_effective_loss,
    plot_loss,
    plot_removal,
    plot_separation,
)
from gnomon.plot.display import Display, GridDisplay
from gnomon.plot.forecast import plot_forecast
from gnomon.plot.intervals import (
    IntervalsDisplay,
    Line,
    plot_dimension,
    plot_evaluation,
    plot_nulls,
    plot_point_nulls,
    plot_verdicts,
)
from gnomon.plot.map import MapDisplay, plot_map, save_png
from gnomon.plot.matrix import MatrixDisplay
from gnomon.plot.mosaic import MosaicDisplay, assign_to_grid, mosaic, mosaic_picture
from gnomon.plot.panels import plot_panels, plot_scores, save_panels
from gnomon.plot.points import plot_point_scores, plot_points
from gnomon.plot.recommendation import plot_recommendation
from gnomon.plot.regrets import plot_regrets
from gnomon.plot.saliency import SaliencyDisplay, plot_saliency, save_saliency
from gnomon.plot.scorecard import plot_curves, plot_scorecard, plot_shepard, save_scorecard
from gnomon.plot.spectra import plot_spectra
from gnomon.plot.stability import plot_movement, plot_stability

__all__ = [
    "Curve",
    "CurvesDisplay",
    "Display",
    "GridDisplay",
    "HistogramDisplay",
    "IntervalsDisplay",
    "Line",
    "MapDisplay",
    "MatrixDisplay",
    "MosaicDisplay",
    "SaliencyDisplay",
    "ScatterDisplay",
    "TreeDisplay",
    "assign_to_grid",
    "mosaic",
    "mosaic_picture",
    "plot_agreement",
    "plot_alignment",
    "plot_answer",
    "plot_answers",
    "plot_certificate",
    "plot_clusters",
    "plot_completion",
    "plot_curves",
    "plot_dimension",
    "plot_distortion",
    "plot_drift",
    "plot_effective_loss",
    "plot_evaluation",
    "plot_explanation",
    "plot_forecast",
    "plot_groups",
    "plot_loss",
    "plot_map",
    "plot_movement",
    "plot_nulls",
    "plot_panels",
    "plot_point_nulls",
    "plot_point_scores",
    "plot_points",
    "plot_profile",
    "plot_recommendation",
    "plot_regrets",
    "plot_removal",
    "plot_route",
    "plot_rows",
    "plot_saliency",
    "plot_scorecard",
    "plot_scores",
    "plot_separation",
    "plot_shepard",
    "plot_spectra",
    "plot_stability",
    "plot_tree",
    "plot_verdicts",
    "save_panels",
    "save_png",
    "save_saliency",
    "save_scorecard",
]
