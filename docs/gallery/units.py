"""Why units matter.

The same 178 wines twice. One column, proline, is counted in hundreds, and as measured it alone makes the distances;
with every column divided by its own spread the three kinds mostly come apart.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import gnomon as gn
from gnomon import plot

X, kinds = load_wine(return_X_y=True)
tables = {"as measured": X, "each column by its spread": StandardScaler().fit_transform(X)}
maps = [gn.UMAP(random_state=0).fit_transform(table) for table in tables.values()]
plot.plot_panels(maps, labels=kinds, titles=list(tables)).save("units.png", dpi=100)
