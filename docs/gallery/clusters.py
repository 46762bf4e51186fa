"""Clusters found in the data.

No label is given. Clusters are looked for in the data, not in the map, at several levels, and each is named by what
sets it apart in rows that had no part in finding it: here by regions of the pictures.
"""

from sklearn.datasets import load_digits

import gnomon as gn
from gnomon import plot

m = gn.map(load_digits().data, image_shape=(8, 8), random_state=0)
plot.plot_clusters(m.embedding, m.clusters()).save("clusters.png", dpi=100)
