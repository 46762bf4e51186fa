"""From attraction to repulsion.

One graph of neighbours, laid out with less and less attraction. What stays from map to map is in the data; what
changes is the method.
"""

from sklearn.datasets import load_digits

import gnomon as gn

X, digits = load_digits(return_X_y=True)
spectrum = gn.attraction_repulsion_spectrum(X[:600], exaggerations=[30, 4, 1], random_state=0)
spectrum.plot(labels=digits[:600], n_columns=2).save("spectrum.png", dpi=100)
