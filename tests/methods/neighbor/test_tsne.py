"""t-SNE whose loss has no minimum says so."""

import re
import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import ConvergenceWarning

X = np.random.default_rng(0).normal(size=(60, 4))
QUICK = {"max_iter": 20, "early_exaggeration_iter": 0, "annealing_iter": 0, "random_state": 0}


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


CUT_SHORT = (
    r"max_iter=\d+ ends while attractions count {} times \({}.*not one of the loss\. Raise max_iter well above {}"
)


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (gn.TSNE(max_iter=40), (12, "early_exaggeration_iter=50, annealing_iter=100", 150)),
        (gn.TSNE(max_iter=100), (r"1\.7", "early_exaggeration_iter=50, annealing_iter=100", 150)),
        (gn.TSNE(max_iter=3, early_exaggeration_iter=2, annealing_iter=0, early_exaggeration=4.0), ()),
        (gn.TSNE(max_iter=140), ()),
        (gn.TSNE(max_iter=0), ()),
        (gn.TSNE(max_iter=40, early_exaggeration=1.0), ()),
        (gn.TSNE(max_iter=40, exaggeration=12.0), ()),
        (gn.TSNE(preset="fast"), ()),
        (gn.DREAMS(max_iter=40), (12, "early_exaggeration_iter=50, annealing_iter=100", 150)),
        (gn.SNE(max_iter=20), (4, "early_exaggeration_iter=100", 100)),
        (gn.SymmetricSNE(max_iter=20), (4, "early_exaggeration_iter=100", 100)),
        (gn.TwoKernelLLE(max_iter=20), (10, "early_exaggeration_iter=250", 250)),
        (gn.NeighborEmbedding(optimizer_params={"max_iter": 20}), (12, "early", 150)),
        (gn.NeighborEmbedding(loss="kl", optimizer_params={"early_exaggeration_iter": 300}), (12, "early", 400)),
        *((one(max_iter=9), ()) for one in (gn.UMAP, gn.PaCMAP, gn.LocalMAP, gn.TriMap)),
    ],
    ids=str,
)
def test_a_map_that_ends_in_its_first_phase_says_so(estimator, told):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.set_params(random_state=0).fit(X)
    assert len(seen) == bool(told)
    assert all(re.search(CUT_SHORT.format(*told), str(one.message)) for one in seen)


@pytest.mark.parametrize("method", [gn.SNE, gn.SymmetricSNE, gn.TwoKernelLLE])
def test_a_first_phase_that_takes_all_iterations_is_refused(method):
    n_all = method().max_iter
    with pytest.raises(ValueError, match=rf"_iter={n_all} must be less than max_iter={n_all}, .*Pass"):
        method(early_exaggeration_iter=n_all).fit(X)


def test_a_phase_that_is_cut_short_leaves_a_worse_map_than_none():
    rows = np.random.default_rng(1).normal(size=(200, 4))
    cut = gn.TSNE(max_iter=40, random_state=0).fit(rows)
    plain = gn.TSNE(max_iter=40, early_exaggeration_iter=0, annealing_iter=0, random_state=0).fit(rows)
    assert plain.kl_divergence_ < 0.75 * cut.kl_divergence_
