"""A rolled sheet, by four methods.

PCA looks at the roll from the side. UMAP keeps neighbours and tears the sheet. Isomap and local tangent spaces
unroll it, the latter less evenly.
"""

from sklearn.datasets import make_swiss_roll

import gnomon as gn
from gnomon import plot

X, along = make_swiss_roll(800, random_state=0)
methods = {
    "PCA": gn.PCA(),
    "UMAP": gn.UMAP(random_state=0),
    "Isomap": gn.Isomap(),
    "Local tangent spaces": gn.LocallyLinearEmbedding(variant="ltsa", random_state=0),
}
maps = [method.fit_transform(X) for method in methods.values()]
plot.plot_panels(maps, values=along, titles=list(methods), n_columns=2).save("rolled_sheet.png", dpi=100)
