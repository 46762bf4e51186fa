"""New rows in an old map.

The map is made of 1,500 digits; 297 others are placed in it afterwards, and no old point moves. Grey points are the
old ones.
"""

import numpy as np
from sklearn.datasets import load_digits

import gnomon as gn
from gnomon import plot

X, digits = load_digits(return_X_y=True)
umap = gn.UMAP(random_state=0).fit(X[:1500])
placed = umap.place(X[1500:])
both = np.vstack([umap.embedding_, placed])
kinds = [None] * 1500 + digits[1500:].tolist()
plot.plot_map(both, labels=np.array(kinds, dtype=object), title="297 digits, placed").save("new_rows.png", dpi=100)
