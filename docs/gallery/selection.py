"""What sets a group apart.

A question about a selection of rows: here the eights, against all other digits. A bar to the right is a pixel that is
brighter in the eights; the lines are intervals of 95 %.
"""

from sklearn.datasets import load_digits

import gnomon as gn
from gnomon import plot

X, digits = load_digits(return_X_y=True)
m = gn.map(X, labels=digits, image_shape=(8, 8), random_state=0)
answer = m.contrast(digits == 8)
plot.plot_answer(answer, n_top=8, title="What tells the eights from the rest").save("selection.png", dpi=100)
