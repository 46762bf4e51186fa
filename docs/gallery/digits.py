"""A map of handwritten digits.

Each point is a picture of 8 x 8 pixels. Pictures that look alike lie together; the map was not told which digit they
show.
"""

from sklearn.datasets import load_digits

import gnomon as gn

X, digits = load_digits(return_X_y=True)
m = gn.map(X, labels=digits, random_state=0)
m.plot(title="Handwritten digits", subtitle="UMAP of 1,797 rows").save("digits.png", dpi=100)
