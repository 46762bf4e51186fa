"""Parameters of t-SNE and UMAP reach the loss, the descent and standard error."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gnomon as gn
from gnomon.kernels import UMAPKernel
from gnomon.objectives import KLDivergence

X = load_digits().data[:300].astype(np.float32)


def tsne(**parameters):
    return gn.TSNE(**{"perplexity": 10, "random_state": 0, "n_jobs": 1, **parameters}).fit(X)


def test_parameters_of_the_descent_are_those_of_gradient_descent():
    descent = {
        "max_iter": 150,
        "early_exaggeration": 8.0,
        "early_exaggeration_iter": 60,
        "annealing_iter": 20,
        "learning_rate": 40.0,
        "early_momentum": 0.3,
        "momentum": 0.6,
        "max_step_norm": 2.0,
        "min_grad_norm": 1e-9,
        "n_iter_without_progress": 50,
    }
    composed = gn.NeighborEmbedding(
        affinity="gaussian",
        affinity_params={"perplexity": 10},
        loss="kl",
        n_neighbors=30,
        optimizer_params=descent,
        random_state=0,
    )
    expected = composed.fit(X).embedding_
    np.testing.assert_array_equal(tsne(**descent).embedding_, expected)
    for name, value in (("early_momentum", 0.5), ("momentum", 0.5), ("max_step_norm", 0.01)):
        assert not np.array_equal(tsne(**{**descent, name: value}).embedding_, expected)


@pytest.mark.filterwarnings("ignore:TSNE. learning_rate=900 is 3 times")
@pytest.mark.parametrize(
    ("rule", "reason"), [({"min_grad_norm": 10.0}, "min_grad_norm=10"), ({"n_iter_without_progress": 1}, "not fallen")]
)
def test_a_fit_ends_early_by_the_gradient_or_without_progress(rule, reason):
    made = tsne(
        max_iter=3000,
        early_exaggeration_iter=25,
        annealing_iter=25,
        learning_rate=900.0 if "n_iter" in str(rule) else 50.0,
        **rule,
    )
    assert made.n_iter_ < 3000
    assert reason in made.solution_.reason
    if "min_grad_norm" in rule:
        assert made.n_iter_ == 100  # the first look after the annealing


def test_exaggeration_is_part_of_the_loss_that_is_at_rest():
    made = {factor: tsne(exaggeration=factor, max_iter=1500, evaluation="exact") for factor in (1.0, 2.0, 4.0)}
    for factor, one in made.items():
        loss = KLDivergence(one.affinities_, attraction_weight=factor, evaluation="exact")
        attraction, _ = loss.forces(one.embedding_)
        assert np.linalg.norm(loss.gradient(one.embedding_)) < 0.05 * np.linalg.norm(attraction)
        plain = KLDivergence(one.affinities_, evaluation="exact").loss(one.embedding_)
        assert one.kl_divergence_ == pytest.approx(plain, rel=1e-5)
    spread = {factor: float(one.embedding_.std()) for factor, one in made.items()}
    assert spread[4.0] < spread[2.0] < spread[1.0]
    assert made[1.0].kl_divergence_ < made[2.0].kl_divergence_ < made[4.0].kl_divergence_


@pytest.mark.filterwarnings("ignore:TSNE. exaggeration=0.5 is less than 1")
def test_the_learning_rate_follows_the_exaggeration():
    rate = {factor: tsne(exaggeration=factor, max_iter=5).learning_rate_ for factor in (0.5, 1.0, 4.0)}
    assert rate == {0.5: 1200.0, 1.0: 300.0, 4.0: 37.5}
    assert tsne(learning_rate=33.0, max_iter=5).learning_rate_ == 33.0


def test_early_exaggeration_is_the_factor_of_the_first_phase_whatever_comes_after():
    first = {"early_exaggeration": 6.0, "max_iter": 10}  # of the 50 iterations of the first phase
    a, b = tsne(**first), tsne(**first, exaggeration=3.0)
    np.testing.assert_allclose(a.embedding_, b.embedding_, rtol=1e-3, atol=1e-3 * float(a.embedding_.std()))


def test_a_given_learning_rate_is_shorter_under_exaggeration_as_auto_is():
    short = {"max_iter": 40, "early_exaggeration_iter": 20, "annealing_iter": 10}
    auto, given = tsne(**short), tsne(**short, learning_rate=300.0)  # the number of rows
    np.testing.assert_array_equal(given.embedding_, auto.embedding_)
    doubled, given = tsne(**short, exaggeration=2.0), tsne(**short, exaggeration=2.0, learning_rate=75.0)
    np.testing.assert_array_equal(given.embedding_, doubled.embedding_)
    with pytest.raises(
        gn.exceptions.ConvergenceWarning, match=r"learning_rate=29 is .* 300: the map may be unfinished"
    ):
        tsne(**short, learning_rate=29.0)
    with pytest.raises(gn.exceptions.ConvergenceWarning, match=r"learning_rate=460 is .* swing past their places"):
        tsne(**short, learning_rate=460.0)


def test_a_first_phase_that_is_given_ends_before_the_iterations_do():
    with pytest.raises(ValueError, match=r"^TSNE: early_exaggeration_iter=250 must be less than max_iter=250.*=450"):
        tsne(early_exaggeration_iter=250, max_iter=250)
    assert tsne(early_exaggeration_iter=250, min_grad_norm=0.0).n_iter_ == 450
    assert tsne(early_exaggeration_iter=20, min_grad_norm=0.0).n_iter_ == tsne(min_grad_norm=0.0).n_iter_ == 250
    with pytest.raises(ValueError, match=r"early_exaggeration_iter=250 must be less than max_iter=100"):
        tsne(preset="fast", perplexity=None, early_exaggeration_iter=250)
    assert tsne(annealing_iter=500, min_grad_norm=0.0).n_iter_ == 650
    assert tsne(early_exaggeration_iter=9, max_iter=10).n_iter_ == 10
    assert tsne(early_exaggeration_iter=250, early_exaggeration=1.0, max_iter=5).n_iter_ == 5
    assert tsne(max_iter=5).n_iter_ == 5


def test_a_and_b_are_the_kernel():
    quick = {"max_iter": 20, "random_state": 0}
    usual = gn.UMAP(**quick).fit(X)
    given = gn.UMAP(a=usual.kernel_.a, b=usual.kernel_.b, min_dist=0.5, spread=0.2, **quick).fit(X)
    np.testing.assert_array_equal(given.embedding_, usual.embedding_)
    assert gn.DensMAP(a=1.0, b=1.0, **quick).fit(X).kernel_ == UMAPKernel(1.0, 1.0)
    with pytest.raises(
        ValueError, match=r"^UMAP: a=1.0 and b=None must be given together\. Or give min_dist and spread"
    ):
        gn.UMAP(a=1.0).fit(X)
    with pytest.raises(ValueError, match=r"^UMAP: b=0 must be a number > 0 or None"):
        gn.UMAP(a=1.0, b=0).fit(X)


def test_the_fast_preset_is_short_and_of_neighbors_that_count_alike():
    fitted = gn.TSNE(preset="fast", random_state=0, n_jobs=1).fit(X)
    composed = gn.NeighborEmbedding(
        affinity="uniform",
        loss="kl",
        n_neighbors=15,
        optimizer_params={"max_iter": 100, "early_exaggeration_iter": 40, "annealing_iter": 30},
        random_state=0,
    )
    np.testing.assert_array_equal(fitted.embedding_, composed.fit(X).embedding_)
    assert (fitted.graph_.n_neighbors, fitted.n_iter_) == (15, 100)
    assert np.isfinite(fitted.place(X[:3] + 0.5)).all()
    mapped = gn.map(X, method="tsne", preset="fast", random_state=0)
    np.testing.assert_array_equal(np.asarray(mapped.embedding), fitted.embedding_)


def test_a_parameter_given_beside_a_preset_wins():
    fitted = tsne(preset="fast", max_iter=60)  # of perplexity 10
    assert (fitted.graph_.n_neighbors, fitted.n_iter_) == (30, 60)
    np.testing.assert_array_equal(
        fitted.embedding_, tsne(max_iter=60, early_exaggeration_iter=40, annealing_iter=30).embedding_
    )
    known = gn.TSNE(preset="fast").foresee(50_000, 50).seconds
    assert known < 0.5 * gn.TSNE().foresee(50_000, 50).seconds


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="TSNE: preset='quick' must be one of 'fast' or None"):
        tsne(preset="quick")
