"""Dense and sparse groups.

Three groups in ten dimensions, the third four times as wide as the others. UMAP draws them alike; three methods keep
how dense they are.
"""

import numpy as np

import gnomon as gn
from gnomon import plot

rng = np.random.default_rng(0)
kind = np.repeat([0, 1, 2], 250)
X = rng.normal(size=(750, 10)) * np.array([1, 1, 4])[kind, None]
X[:, 0] += np.array([0, 20, 10])[kind]
X[:, 1] += np.array([0, 0, 18])[kind]
methods = {"UMAP": gn.UMAP, "DensMAP": gn.DensMAP, "ScaleMAP": gn.ScaleMAP, "PCA": gn.PCA}
maps = [method(random_state=0).fit_transform(X) for method in methods.values()]
plot.plot_panels(maps, labels=kind, titles=list(methods), n_columns=2).save("density.png", dpi=100)
