"""NeighborEmbedding: a method from four choices, those of others and one's own."""

import numpy as np
import pytest
from scipy import sparse

from gnomon import TSNE, UMAP, NeighborEmbedding
from gnomon.affinities import Gram, gaussian_affinities, uniform_affinities
from gnomon.kernels import Cauchy, CustomKernel, UMAPKernel
from gnomon.methods.neighbor.composed import AFFINITIES
from gnomon.neighbors import compute_neighbors
from gnomon.optimizers import GradientDescent

SHORT = {"max_iter": 60, "early_exaggeration_iter": 30}


def test_the_choices_of_tsne_make_tsne(digits):
    X = digits[0][:300]
    expected = TSNE(max_iter=60, early_exaggeration_iter=30, random_state=0).fit_transform(X)
    model = NeighborEmbedding(
        affinity="gaussian",
        kernel="cauchy",
        loss="kl",
        optimizer_params=SHORT,
        random_state=0,
    )
    np.testing.assert_array_equal(model.fit_transform(X), expected)


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_every_affinity_takes_the_neighbours_that_it_needs(affinity, digits):
    """Three for each unit of a perplexity, which few rows lower as they do in t-SNE, and 15 without one."""
    of_perplexity = affinity in ("gaussian", "conditional")
    loss = "conditional_kl" if affinity == "conditional" else "kl"
    known = {"affinity": affinity, "loss": loss, "optimizer": "adam", "optimizer_params": {"max_iter": 2}}
    for n_samples, perplexity, n_neighbors in ((120, 30.0, 90), (31, 10.0, 30), (3, 1.5, 2)):
        model = NeighborEmbedding(**known, random_state=0).fit(digits[0][:n_samples])
        assert model.graph_.n_neighbors == (n_neighbors if of_perplexity else min(15, n_samples - 1))
        assert model.perplexity_ == (perplexity if of_perplexity else None)
    if of_perplexity:
        for form in ({"affinity_params": {"perplexity": 7}}, {"affinity": AFFINITIES[affinity](7)}):
            assert NeighborEmbedding(**{**known, **form}).fit(digits[0][:60]).graph_.n_neighbors == 21
        few = compute_neighbors(digits[0][:60], 5)
        for given in ({"affinity_params": {"perplexity": 70}}, {"n_neighbors": 15}, {"precomputed_knn": few}):
            with pytest.raises(ValueError, match=r"perplexity=.* must be|must be of at least 20, .* lower perplexity"):
                NeighborEmbedding(**{**known, **given}).fit(digits[0][:60])


def test_the_choices_of_umap_make_umap(digits):
    X = digits[0][:300]
    expected = UMAP(max_iter=40, random_state=0).fit_transform(X)
    model = NeighborEmbedding(
        kernel=UMAPKernel.from_min_dist(0.1),
        loss="cross_entropy",
        optimizer_params={"max_iter": 40},
        init="spectral",
        random_state=0,
    )
    np.testing.assert_array_equal(model.fit_transform(X), expected)


@pytest.mark.parametrize("form", ["affinities", "matrix", "callable"])
def test_affinities_of_ones_own_are_used(form, digits):
    X = digits[0][:200]
    own = uniform_affinities(compute_neighbors(X, 15), normalization="membership")
    given = {"affinities": own, "matrix": sparse.csr_matrix(own.matrix), "callable": lambda inputs: own}[form]
    model = NeighborEmbedding(affinity=given, optimizer_params=SHORT, random_state=0).fit(X)
    expected = NeighborEmbedding(
        affinity="uniform", affinity_params={"normalization": "membership"}, optimizer_params=SHORT, random_state=0
    ).fit_transform(X)
    np.testing.assert_array_equal(model.embedding_, expected)


def test_a_kernel_and_an_optimizer_of_ones_own_are_used(digits):
    X = digits[0][:80]
    kernel = CustomKernel(lambda s: 1 / (1 + s), lambda s: -1 / (1 + s) ** 2, bounded=True)
    optimizer = GradientDescent(max_iter=10, early_exaggeration_iter=5)  # later, rounding alone parts two descents
    own, compiled = (
        NeighborEmbedding(kernel=k, optimizer=optimizer, random_state=0).fit(X) for k in (kernel, Cauchy())
    )
    assert own.kernel_ is kernel
    assert own.solution_.loss[-1] == (10, pytest.approx(compiled.solution_.loss[-1][1], rel=1e-6))
    scale = np.abs(compiled.embedding_).max()
    assert scale > 1.0  # far from the start, whose extent is below 0.001
    np.testing.assert_allclose(own.embedding_, compiled.embedding_, rtol=0.0, atol=1e-4 * scale)


def test_a_loss_of_ones_own_is_used(digits):
    from gnomon.objectives import KLDivergence

    seen = []

    def loss(affinities, kernel, **parameters):
        seen.append((affinities, kernel, parameters))
        return KLDivergence(affinities, kernel, evaluation=parameters["evaluation"])

    X = digits[0][:200]
    graph = compute_neighbors(X, 15)
    model = NeighborEmbedding(
        affinity=gaussian_affinities(graph, perplexity=5.0),
        loss=loss,
        loss_params={"evaluation": "exact"},
        optimizer="gradient_descent",
        optimizer_params=SHORT,
        random_state=0,
    ).fit(X)
    assert seen[0][2]["evaluation"] == "exact"
    assert seen[0][0] is model.affinities_
    assert model.evaluation_ == "exact"


@pytest.mark.parametrize("kind", ["array", "gram", "callable"])
def test_frobenius_of_an_input_kernel_is_sampled(kind, digits):
    X = digits[0][:150]
    gram = Gram.from_kernel("gaussian", X)
    K = {"array": gram.dense(), "gram": gram, "callable": lambda inputs: Gram.from_kernel("gaussian", inputs.X)}[kind]

    def fit(seed, n_jobs=1):
        model = NeighborEmbedding(
            affinity=K,
            kernel="umap",
            loss="frobenius",
            optimizer="sampled_descent",
            optimizer_params={"max_iter": 100, "track_loss": True},
            random_state=seed,
            n_jobs=n_jobs,
        )
        return model.fit(X)

    one, other = fit(0), fit(1)
    assert one.evaluation_ == "sampled"
    assert one.solution_.loss[-1][1] < 0.7 * one.solution_.loss[0][1]
    assert one.embedding_.tobytes() == fit(0, n_jobs=3).embedding_.tobytes()
    assert one.embedding_.tobytes() != other.embedding_.tobytes()


def test_same_bytes_for_any_number_of_threads(digits):
    X = digits[0][:600]
    maps = [
        NeighborEmbedding(optimizer_params=SHORT, random_state=0, n_jobs=n).fit_transform(X).tobytes()
        for n in (1, 2, 3, 5)
    ]
    assert len(set(maps)) == 1


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"affinity": "fuzy"}, ValueError, "NeighborEmbedding: affinity='fuzy' must be one of 'fuzzy', 'gaussian'"),
        ({"loss": "ce"}, ValueError, "NeighborEmbedding: loss='ce' must be one of"),
        ({"kernel": 3}, TypeError, "kernel=3 must be one of .* or a kernel, an object with value"),
        ({"kernel": Cauchy(), "kernel_params": {"a": 1}}, ValueError, "kernel_params must be None where kernel is an"),
        ({"optimizer": 3}, TypeError, "optimizer=3 must be one of .* or an object with minimize"),
        ({"optimizer": GradientDescent(), "optimizer_params": {"a": 1}}, ValueError, "optimizer_params must be None"),
        (
            {"optimizer": "adam", "optimizer_params": {"early_exaggeration_iter": 4}},
            ValueError,
            r"optimizer_params must be arguments of 'adam': .*learning_rate.* \(found early_exaggeration_iter\)",
        ),
        ({"loss_params": {"a": 1}}, ValueError, r"loss_params must be arguments of 'kl': .*evaluation.* \(found a\)"),
        *(
            (
                {"affinity": one, "affinity_params": {"perplexity": 5}},
                ValueError,
                "affinity_params must be None where a",
            )
            for one in (AFFINITIES["gaussian"](5), lambda inputs: None, np.eye(100))
        ),
        ({"affinity_params": {"a": 1}}, ValueError, r"affinity_params must be arguments of '\w+': .* \(found a\)"),
        ({"affinity": sparse.eye_array(5)}, ValueError, "affinity of 5 rows must be one row each"),
        ({"affinity": Gram.from_matrix(np.eye(5)), "loss": "frobenius"}, ValueError, "affinity of 5 rows must be one"),
        ({"loss": "kl", "optimizer": "sampled_descent"}, ValueError, "KLDivergence: link='log' must be 'identity'"),
    ],
)
def test_wrong_choices_are_named(parameters, error, text, digits):
    with pytest.raises(error, match=text):
        NeighborEmbedding(**parameters).fit(digits[0][:100])
