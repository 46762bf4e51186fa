"""t-SNE whose loss has no minimum says so."""

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import ConvergenceWarning

X = np.random.default_rng(0).normal(size=(60, 4))
QUICK = {"max_iter": 20, "random_state": 0}


def test_less_attraction_than_the_loss_can_hold_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="exaggeration=0.5 is less than 1.*max_iter=20"):
        gn.TSNE(exaggeration=0.5, **QUICK).fit(X)
    with pytest.warns(ConvergenceWarning, match="exaggeration=0.5"):
        gn.DREAMS(exaggeration=0.5, reference_weight=0.0, **QUICK).fit(X)
    with pytest.warns(ConvergenceWarning, match="attraction_weight=0.5 is less than 1"):
        gn.NeighborEmbedding(loss_params={"attraction_weight": 0.5}, random_state=0).fit(X)


def test_a_map_that_something_holds_together_is_not():
    anchors = np.full((60, 2), np.nan)
    anchors[:2] = 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for exaggeration in (1.0, 4.0):
            gn.TSNE(exaggeration=exaggeration, **QUICK).fit(X)
        gn.TSNE(exaggeration=0.5, anchors=anchors, **QUICK).fit(X)
        gn.DREAMS(exaggeration=0.5, **QUICK).fit(X)
