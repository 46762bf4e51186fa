"""Where a map keeps neighbours.

A sphere does not fit into a plane. The colour is the share of each row's neighbours in the data that are its
neighbours in the map: low along the cut and where the map folds.
"""

import numpy as np

import gnomon as gn

rng = np.random.default_rng(0)
sphere = rng.normal(size=(1000, 3))
sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
m = gn.map(sphere, method="tsne", random_state=0)
m.plot_points("neighborhood_preservation", title="A sphere laid flat").save("kept_and_torn.png", dpi=100)
