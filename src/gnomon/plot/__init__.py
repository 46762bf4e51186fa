"""Static figures with matplotlib (an extra: it is imported when a figure is drawn)."""

from gnomon.plot.clusters import plot_clusters
from gnomon.plot.forecast import plot_forecast
from gnomon.plot.intervals import plot_dimension, plot_evaluation, plot_nulls, plot_point_nulls, plot_verdicts
from gnomon.plot.map import plot_map, save_png
from gnomon.plot.mosaic import assign_to_grid, mosaic, mosaic_picture
from gnomon.plot.panels import plot_panels, save_panels
from gnomon.plot.points import plot_point_scores, plot_points
from gnomon.plot.recommendation import plot_recommendation
from gnomon.plot.regrets import plot_regrets
from gnomon.plot.saliency import plot_saliency, save_saliency
from gnomon.plot.scorecard import plot_curves, plot_scorecard, plot_shepard, save_scorecard
from gnomon.plot.spectra import plot_spectra
from gnomon.plot.stability import plot_stability

__all__ = [
    "assign_to_grid",
    "mosaic",
    "mosaic_picture",
    "plot_clusters",
    "plot_curves",
    "plot_dimension",
    "plot_evaluation",
    "plot_forecast",
    "plot_map",
    "plot_nulls",
    "plot_panels",
    "plot_point_nulls",
    "plot_point_scores",
    "plot_points",
    "plot_recommendation",
    "plot_regrets",
    "plot_saliency",
    "plot_scorecard",
    "plot_shepard",
    "plot_spectra",
    "plot_stability",
    "plot_verdicts",
    "save_panels",
    "save_png",
    "save_saliency",
    "save_scorecard",
]
