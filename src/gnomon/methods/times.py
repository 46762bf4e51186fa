"""What methods take of the reference machine's processors, by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon._costs import Cost

__all__ = ["TIMES", "Work"]

_NOTHING = Cost()


@dataclass(frozen=True)
class Work:
    """The processor time of a stage.

    Attributes
    ----------
    once : Cost
        Nanoseconds of one core of the reference machine, see `gnomon.maps.pace`.
    passes : Cost
        Those of one iteration.
    most : int or None, default=None
        Iterations that a fit takes if it may take more; None where it takes all it may.
    """

    once: Cost = _NOTHING
    passes: Cost = _NOTHING
    most: int | None = None

    def seconds(self, n_samples: float, n_features: float, n_neighbors: float, n_iter: int) -> float:
        """Return the seconds for a table and so many iterations at most.

        Parameters
        ----------
        n_samples, n_features, n_neighbors : float
            As for `Cost.of`.
        n_iter : int

        Returns
        -------
        float
        """
        n_passes = n_iter if self.most is None else min(n_iter, self.most)
        shape = n_samples, n_features, n_neighbors
        return 1e-9 * (self.once.of(*shape) + n_passes * self.passes.of(*shape))


TIMES: Mapping[str, Mapping[str, Work]] = {
    "ClassicalMDS": {
        "checks": Work(Cost(fixed=3030000.0, entry=0.2)),
        "eigenvectors": Work(Cost(fixed=1000000.0, entry=30.0, full=0.05)),
    },
    "ClassicalMDS, by distances": {
        "checks": Work(Cost(fixed=3030000.0, pair=0.00497)),
        "distances": Work(Cost(pair=4.0, product=0.19)),
        "eigenvectors": Work(Cost(fixed=6000000.0, pair=18.0)),
    },
    "DensMAP": {
        "affinities": Work(Cost(fixed=508000.0, neighbor=90.9)),
        "checks": Work(Cost(fixed=2650000.0, entry=0.766, square=4.01, neighbor=6.29)),
        "initialization": Work(Cost(entry=0.418, neighbor=137.0)),
        "layout": Work(Cost(row=17200.0), passes=Cost(neighbor=16.3)),
    },
    "FeatMAP": {
        "affinities": Work(Cost(fixed=1620000.0, entry=0.00923, neighbor=42.4)),
        "checks": Work(Cost(fixed=3660000.0, entry=1.03, square=2.25, neighbor=3.5)),
        "initialization": Work(Cost(fixed=293000.0, entry=1.21, neighbor=76.4)),
        "layout": Work(Cost(row=67400.0, entry=321.0), passes=Cost(neighbor=13.7, entry=0.0885)),
    },
    "ForceAtlas2": {
        "affinities": Work(Cost(fixed=612000.0, neighbor=42.5)),
        "checks": Work(Cost(fixed=1110000.0, entry=0.943, square=1.17, neighbor=11.0)),
        "initialization": Work(Cost(fixed=466000.0, neighbor=176.0)),
        "layout": Work(Cost(row=1650.0), passes=Cost(neighbor=24.3)),
    },
    "GradientPCA": {
        "checks": Work(Cost(fixed=871000.0, entry=8.58, square=8.7)),
        "comparison": Work(Cost(row=2010.0, square=120.0)),
        "descent": Work(Cost(entry=41.9), passes=Cost(entry=0.732, row=55.2, full=0.000555), most=579),
        "initialization": Work(Cost(fixed=49100.0, row=1120.0, entry=13.1)),
        "similarity": Work(Cost(row=83.0, entry=3.97)),
    },
    "GraphRobustPCA": {
        "checks": Work(Cost(fixed=190000.0, entry=15.6, neighbor=13.0)),
        "components": Work(Cost(entry=350.0, full=5.32)),
        "decomposition": Work(Cost(fixed=257000000.0), passes=Cost(full=8.13), most=66),
        "preparation": Work(Cost(neighbor=306.0, full=2.56)),
    },
    "HuberPCA": {
        "checks": Work(Cost(fixed=836000.0, entry=0.289, square=0.191)),
        "components": Work(Cost(fixed=1270000.0, row=11600.0, entry=330.0, square=124.0, full=0.12)),
        "game": Work(Cost(fixed=47700000.0, entry=373.0), passes=Cost(entry=12.1, full=0.00623), most=175),
        "preparation": Work(Cost(fixed=753000.0, entry=74.2, square=78.4, full=0.253)),
    },
    "InfoNCETSNE": {
        "affinities": Work(Cost(fixed=827000.0, neighbor=47.3)),
        "checks": Work(Cost(fixed=1150000.0, entry=0.907, square=9.15, neighbor=12.3)),
        "initialization": Work(Cost(fixed=676000.0, entry=11.5, square=46.1, neighbor=8.92)),
        "layout": Work(Cost(row=478.0), passes=Cost(neighbor=19.1)),
    },
    "Isomap": {
        "checks": Work(Cost(fixed=2320000.0, entry=0.448, square=2.88, pair=0.0245)),
        "eigenvectors": Work(Cost(fixed=32700000.0, square=40.8, neighbor=3930.0)),
        "geodesics": Work(Cost(pair=51.7, product=0.00492)),
    },
    "Isomap, by landmarks": {
        "checks": Work(Cost(row=181.0, entry=1.18)),
        "eigenvectors": Work(Cost(row=1220.0, entry=0.216)),
        "geodesics": Work(Cost(row=152000.0)),
        "placement": Work(Cost(row=8610.0)),
    },
    "KernelPCA": {
        "checks": Work(Cost(fixed=652000.0, pair=0.00638, product=0.0029)),
        "eigenvectors": Work(Cost(row=13500.0, pair=8.64, product=0.000377)),
        "similarity": Work(Cost(row=46800.0, entry=73.6, pair=16.1, product=0.0153)),
    },
    "KernelPCA, approximated": {
        "approximation": Work(Cost(row=32300.0)),
        "checks": Work(Cost(row=79.4)),
        "eigenvectors": Work(Cost(row=8420.0)),
        "similarity": Work(Cost(row=2480.0)),
    },
    "LandmarkMDS": {
        "checks": Work(Cost(fixed=1940000.0, entry=0.166)),
        "eigenvectors": Work(Cost(fixed=980000.0, entry=0.441, square=29.8)),
        "landmarks": Work(Cost(fixed=4120000.0, row=2930.0, entry=112.0)),
        "placement": Work(Cost(fixed=350000.0, row=98.0, entry=0.655)),
    },
    "LaplacianEigenmaps": {
        "affinities": Work(Cost(fixed=340000.0, entry=0.0544, neighbor=192.0)),
        "checks": Work(Cost(fixed=3370000.0, entry=0.988, neighbor=5.96)),
        "eigenvectors": Work(Cost(fixed=731000.0, entry=1.45, neighbor=529.0)),
    },
    "LargeVis": {
        "affinities": Work(Cost(neighbor=82.7)),
        "checks": Work(Cost(fixed=1400000.0, entry=1.45, neighbor=1.2)),
        "initialization": Work(Cost(entry=3.99, neighbor=77.3)),
        "layout": Work(Cost(row=24900.0), passes=Cost(neighbor=2.09)),
    },
    "LocalMAP": {
        "affinities": Work(Cost(neighbor=138.0)),
        "checks": Work(Cost(fixed=1630000.0, entry=6.25, square=375.0, neighbor=1.36)),
        "initialization": Work(Cost(fixed=1230000.0, entry=4.41, neighbor=4.29)),
        "layout": Work(Cost(fixed=4880000.0, row=10800.0), passes=Cost(neighbor=3.6)),
    },
    "LocallyLinearEmbedding": {
        "affinities": Work(Cost(fixed=2980000.0, entry=7.47, neighbor=503.0, product=0.000663)),
        "checks": Work(Cost(fixed=2000000.0, square=2.98, pair=0.139)),
        "eigenvectors": Work(Cost(neighbor=3650.0, pair=27.3, product=0.0347)),
    },
    "MDS": {
        "checks": Work(Cost(fixed=1210000.0, entry=0.176, pair=0.015)),
        "distances": Work(Cost(square=23.4, pair=12.0)),
        "initialization": Work(Cost(fixed=1030000.0, entry=21.1, square=43.2, pair=24.0)),
        "layout": Work(passes=Cost(fixed=115000.0, pair=0.941), most=40),
        "stress": Work(Cost(pair=12.8)),
    },
    "NegTSNE": {
        "affinities": Work(Cost(fixed=841000.0, neighbor=48.6)),
        "checks": Work(Cost(fixed=1110000.0, entry=1.25, square=0.478, neighbor=10.9)),
        "initialization": Work(Cost(entry=0.384, neighbor=182.0)),
        "layout": Work(Cost(row=1360.0), passes=Cost(neighbor=7.66)),
    },
    "PCA": {
        "components": Work(Cost(fixed=2320000.0, entry=9.74, square=56.6)),
    },
    "PHATE": {
        "affinities": Work(Cost(pair=2.52)),
        "checks": Work(Cost(pair=2.44, product=0.00186)),
        "diffusion": Work(Cost(pair=600.0)),
        "distances": Work(Cost(pair=63.3, product=0.00479)),
        "initialization": Work(Cost(pair=102.0, product=0.0376)),
        "layout": Work(Cost(pair=1.15), passes=Cost(pair=1.7), most=25),
        "stress": Work(Cost(pair=14.5, product=0.00111)),
    },
    "PHATE, by landmarks": {
        "affinities": Work(Cost(fixed=1460000.0, entry=140.0)),
        "checks": Work(Cost(fixed=1730000.0, entry=16.5)),
        "diffusion": Work(Cost(fixed=2860000000.0)),
        "distances": Work(Cost(fixed=260000000.0, entry=491.0)),
        "initialization": Work(Cost(fixed=624000000.0, entry=551.0)),
        "landmarks": Work(Cost(entry=1670.0)),
        "layout": Work(Cost(fixed=5030000.0), passes=Cost(fixed=3250000.0), most=11),
        "stress": Work(Cost(fixed=22800000.0)),
    },
    "PaCMAP": {
        "affinities": Work(Cost(neighbor=138.0)),
        "checks": Work(Cost(fixed=1630000.0, entry=6.25, square=375.0, neighbor=1.36)),
        "initialization": Work(Cost(fixed=1230000.0, entry=4.41, neighbor=4.29)),
        "layout": Work(Cost(fixed=4880000.0, row=10800.0), passes=Cost(neighbor=1.86)),
    },
    "RandomProjection": {
        "projection": Work(Cost(fixed=902000.0, row=139.0, square=14.1)),
    },
    "RobustPCA": {
        "checks": Work(Cost(fixed=453000.0, row=181.0, entry=0.217, square=0.00602)),
        "components": Work(Cost(fixed=735000.0, row=736.0, entry=30.4, square=481.0)),
        "decomposition": Work(passes=Cost(entry=38.7, row=20.1, fixed=458000.0, full=0.0197), most=45),
        "preparation": Work(Cost(fixed=665000.0, row=764.0, entry=34.4)),
    },
    "SNE": {
        "affinities": Work(Cost(fixed=510000.0, square=0.559, neighbor=50.8)),
        "checks": Work(Cost(fixed=1530000.0, entry=0.427, square=9.59, pair=0.0191)),
        "initialization": Work(Cost(fixed=1330000.0, square=67.3, pair=0.00729, product=0.000799)),
        "layout": Work(Cost(row=5040.0), passes=Cost(pair=1.54)),
    },
    "SketchMap": {
        "affinities": Work(Cost(pair=35.3, product=0.355)),
        "checks": Work(Cost(pair=2.3, product=0.00357)),
        "initialization": Work(Cost(pair=85.6)),
        "landmarks": Work(Cost(pair=36.0, product=0.0717)),
        "layout": Work(Cost(pair=2980.0)),
        "moves": Work(Cost(pair=162.0), passes=Cost(pair=0.344)),
    },
    "SketchMap, by landmarks": {
        "affinities": Work(Cost(fixed=29400000.0)),
        "checks": Work(Cost(row=501.0)),
        "initialization": Work(Cost(fixed=60000000.0)),
        "landmarks": Work(Cost(row=17300.0)),
        "layout": Work(Cost(fixed=525000000.0)),
        "moves": Work(Cost(fixed=371000000.0)),
        "placement": Work(Cost(row=222000.0)),
    },
    "StarMAP": {
        "affinities": Work(Cost(fixed=877000.0, neighbor=71.6, entry=6.5)),
        "checks": Work(Cost(fixed=2290000.0, entry=1.08, square=0.767, neighbor=10.8)),
        "initialization": Work(Cost(fixed=1200000.0, entry=6.35, square=57.5)),
        "layout": Work(Cost(row=46000.0, entry=72.0), passes=Cost(fixed=39100.0, neighbor=6.5)),
    },
    "StiefelPCA": {
        "checks": Work(Cost(fixed=1830000.0, row=58.2)),
        "comparison": Work(Cost(row=466.0, entry=9.4, square=53.1)),
        "descent": Work(Cost(fixed=9540000.0), passes=Cost(fixed=30800.0, full=0.000272), most=150),
        "similarity": Work(Cost(entry=40.9)),
    },
    "SymmetricSNE": {
        "affinities": Work(Cost(neighbor=80.8)),
        "checks": Work(Cost(fixed=1230000.0, entry=1.0, square=0.973, neighbor=4.23)),
        "initialization": Work(Cost(fixed=1260000.0, entry=7.2, square=52.0, neighbor=0.716)),
        "layout": Work(Cost(row=562.0), passes=Cost(neighbor=9.19), most=300),
    },
    "SymmetricSNE, all pairs": {
        "affinities": Work(Cost(neighbor=80.8)),
        "checks": Work(Cost(fixed=1230000.0, entry=1.0, square=0.973, neighbor=4.23)),
        "initialization": Work(Cost(fixed=1260000.0, entry=7.2, square=52.0, neighbor=0.716)),
        "layout": Work(passes=Cost(fixed=4e5, pair=0.44), most=300),
    },
    "TSNE": {
        "affinities": Work(Cost(neighbor=82.0)),
        "checks": Work(Cost(fixed=1710000.0, entry=0.641, square=4.78, neighbor=2.12)),
        "initialization": Work(Cost(fixed=1200000.0, entry=6.35, square=57.5, neighbor=2.03)),
        "layout": Work(Cost(row=1320.0), passes=Cost(fixed=1.0e6, row=30.0, neighbor=2.5)),
    },
    "TSNE, all pairs": {
        "affinities": Work(Cost(neighbor=82.0)),
        "checks": Work(Cost(fixed=1710000.0, entry=0.641, square=4.78, neighbor=2.12)),
        "initialization": Work(Cost(fixed=1200000.0, entry=6.35, square=57.5, neighbor=2.03)),
        "layout": Work(passes=Cost(fixed=7.5e4, pair=0.32)),
    },
    "TriMap": {
        "affinities": Work(Cost(entry=4.04, square=249.0, neighbor=185.0)),
        "checks": Work(Cost(fixed=1530000.0, entry=9.1, square=116.0, neighbor=1.44)),
        "initialization": Work(Cost(fixed=1370000.0, entry=4.55, neighbor=2.73)),
        "layout": Work(Cost(row=14300.0), passes=Cost(neighbor=6.1)),
    },
    "TwoKernelLLE": {
        "affinities": Work(Cost(entry=8.33, neighbor=256.0, pair=0.0583, product=0.000257)),
        "checks": Work(Cost(fixed=2900000.0, entry=0.696, square=6.38, pair=0.00908)),
        "initialization": Work(Cost(fixed=1220000.0, square=84.8, pair=0.0127, product=0.000528)),
        "layout": Work(Cost(row=7770.0), passes=Cost(neighbor=102.0)),
    },
    "TwoKernelLLE, all pairs": {
        "affinities": Work(Cost(entry=8.33, neighbor=256.0, pair=0.0583, product=0.000257)),
        "checks": Work(Cost(fixed=2900000.0, entry=0.696, square=6.38, pair=0.00908)),
        "initialization": Work(Cost(fixed=1220000.0, square=84.8, pair=0.0127, product=0.000528)),
        "layout": Work(passes=Cost(pair=1.5)),
    },
    "TwoKernelPCA": {
        "affinities": Work(Cost(fixed=58300000.0, pair=2.96, product=0.0655)),
        "checks": Work(Cost(fixed=1790000.0, entry=7.08, pair=0.0251)),
        "initialization": Work(Cost(fixed=1020000.0, entry=0.55, square=35.8, product=0.0142)),
        "layout": Work(passes=Cost(fixed=1020000.0, pair=4.72), most=26),
    },
    "UMAP": {
        "affinities": Work(Cost(fixed=877000.0, neighbor=71.6)),
        "checks": Work(Cost(fixed=2290000.0, entry=1.08, square=0.767, neighbor=10.8)),
        "initialization": Work(Cost(fixed=1270000.0, neighbor=150.0)),
        "layout": Work(Cost(row=1200.0), passes=Cost(fixed=39100.0, neighbor=6.5)),
    },
    "UMAP, interpolated": {
        "affinities": Work(Cost(fixed=877000.0, neighbor=71.6)),
        "checks": Work(Cost(fixed=2290000.0, entry=1.08, square=0.767, neighbor=10.8)),
        "initialization": Work(Cost(fixed=1270000.0, neighbor=150.0)),
        "layout": Work(passes=Cost(fixed=7.6e4, row=87.0, neighbor=5.2)),
    },
}
"""By class, with the manner where there are several, and stage.

Fitted, by least squares without negative numbers, to what fits of 1,000 to 70,000 rows of 10 to 784 columns took
(``python -m benchmarks.forecast``); "UMAP, interpolated" to 4,000 to 500,000 rows of 2 and 50 columns.
"""
