"""A map on a sphere.

Directions in space, seen in ten columns with noise. A flat map has to cut them open; this one lies on a sphere, and is
drawn as its two halves. The colour is one of the columns.
"""

import numpy as np

import gnomon as gn
from gnomon import plot

rng = np.random.default_rng(0)
directions = rng.normal(size=(800, 3))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)
X = directions @ rng.normal(size=(3, 10)) + 0.05 * rng.normal(size=(800, 10))
ball = gn.UMAP(output_metric="sphere", random_state=0).fit(X)
plot.plot_map(ball.embedding_, values=X[:, 0], surface=ball.surface_).save("sphere.png", dpi=100)
