"""Of principal components the cosine is judged as that of the rows; where groups may hide, the words name n_pcs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data import Representation, check_table
from gnomon.evaluation import are_apart
from gnomon.linalg import principal_components
from gnomon.maps.representation import with_directions


def mixture(shares, n_columns=120, seed=0):
    """Rows of mixed amounts of two kinds of columns, with noise, away from zero."""
    rng = np.random.default_rng(seed)
    kinds = np.zeros((2, n_columns))
    kinds[0, :20] = kinds[1, 20:40] = 1.0
    rows = shares[:, None] * kinds[0] + (1.0 - shares[:, None]) * kinds[1]
    return (rows + 0.5 + 0.15 * rng.normal(size=rows.shape)).astype(np.float32)


def mapped(X, shares, **given):
    labels = np.where(shares > 0.5, "a", "b")
    return gn.map(X, metric="cosine", method="umap", max_iter=5, labels=labels, random_state=0, **given)


def cosines(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("n", [2, 6])
def test_given_components_about_a_mean_get_the_directions_of_the_rows(n):
    X = np.random.default_rng(0).normal(size=(40, 6)) + np.arange(6)
    found = principal_components(X, n)
    given = Representation("X_pca", found.transform(X), found.mean, found.components)
    near = given.values @ given.components + given.center  # the rows that the components tell
    values = with_directions(check_table(given.values), given, "cosine").values
    assert values.shape == (40, n + 1)
    np.testing.assert_allclose(cosines(values), cosines(near), atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_components_for_the_cosine_are_singular_vectors_of_rows_of_length_one(sparse):
    rng = np.random.default_rng(0)
    X = rng.random((40, 9)) * (rng.random((40, 9)) < 0.7) + np.eye(40, 9) + 0.5
    X *= np.exp(rng.normal(size=(40, 1)))
    made = gn.map(sp.csr_array(X) if sparse else X, method="umap", metric="cosine", n_pcs=3, max_iter=5, scale=None)
    known = made.representation
    _, _, wanted = np.linalg.svd(X / np.linalg.norm(X, axis=1, keepdims=True))
    np.testing.assert_allclose(known.components.T @ known.components, wanted[:3].T @ wanted[:3], atol=1e-9)
    np.testing.assert_allclose(known.values, X @ known.components.T, atol=1e-9)
    assert not known.center.any()
    table = made._mapped()
    assert with_directions(table, known, "cosine") is table
    np.testing.assert_array_equal(made.place(X[:3]), made.embedding[:3])


def test_all_components_for_the_cosine_make_the_map_of_the_rows_neighbours():
    X = np.random.default_rng(0).normal(size=(60, 6)) + np.arange(6)
    of_rows, of_components = (gn.map(X, method="umap", metric="cosine", n_pcs=n, max_iter=5) for n in (None, 6))
    np.testing.assert_array_equal(of_rows.neighbors().indices, of_components.neighbors().indices)


def test_short_texts_do_not_lie_apart_from_long_ones():
    rng = np.random.default_rng(0)
    lengths = np.exp(rng.uniform(np.log(15), np.log(300), 400)).astype(int)
    kinds = rng.gamma(0.2, size=(3, 600))
    shares = rng.dirichlet(np.ones(3), 400) @ (kinds / kinds.sum(axis=1, keepdims=True))
    counts = np.array([rng.multinomial(n, own / own.sum()) for n, own in zip(lengths, shares, strict=True)])
    words = sp.csr_array(np.log1p(counts))
    made = gn.map(words, method="umap", metric="cosine", n_pcs=10, random_state=0)
    nearest = made.neighbors().indices
    logs = np.log(lengths)
    told = 1.0 - np.square(logs - logs[nearest].mean(axis=1)).mean() / logs.var()
    assert told < 0.3  # about a mean it is over 0.6


def test_other_metrics_and_coordinates_are_as_they_were():
    X = np.random.default_rng(0).normal(size=(40, 6)) + 3.0
    made = gn.map(X, method="umap", n_pcs=3, max_iter=5)
    table = made._mapped()
    assert with_directions(table, made.representation, "euclidean") is table
    assert with_directions(check_table(X), None, "cosine").values.shape == X.shape


@pytest.mark.parametrize("seed", [0, 1])
def test_a_continuum_through_the_mean_is_not_parted(seed):
    shares = np.random.default_rng(seed).random(500)
    made = mapped(mixture(shares, seed=seed), shares, n_pcs=20)
    assert made.are_apart("a", "b", n_nulls=19).answer != "yes"
    assert len(made.clusters()) == 0


def test_groups_that_are_apart_are_told():
    shares = np.repeat([0.0, 1.0], 250)
    made = mapped(mixture(shares), shares, n_pcs=20)
    assert made.are_apart("a", "b", n_nulls=19).answer == "yes"
    assert len(made.clusters()) == 2


def test_where_groups_may_be_hidden_the_words_name_the_argument():
    X = np.random.default_rng(0).normal(size=(200, 120))
    labels = np.repeat(["a", "b"], 100)
    plain = gn.map(X, method="pca", labels=labels)
    assert "120 columns may hide groups" in str(plain.clusters())
    assert "by clusters() of a map with n_pcs=50. Few groups may need fewer (n_pcs=10)." in str(plain.clusters())
    assert "ask about principal components (a map with n_pcs=20)" in plain.are_apart("a", "b", n_nulls=19).sentence
    made = gn.map(X, method="pca", labels=labels, n_pcs=100)
    assert "Noise in 100 coordinates may hide groups: fewer show some" in str(made.clusters())
    assert "(n_pcs=10)" in str(made.clusters())
    assert "n_pcs" not in str(gn.map(X, method="pca", labels=labels, n_pcs=10).clusters())
    sentence = made.are_apart("a", "b", n_nulls=19).sentence
    assert "n_pcs" not in sentence
    assert "fewer coordinates than these 100" in sentence
    assert "n_pcs" not in str(gn.find_clusters(X[:, :99]))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("hellinger", "by clusters() of a map with n_pcs=50 of the roots of shares, numpy.sqrt(X / X.sum("),
        ("jaccard", "by clusters() of a map with n_pcs=50 and metric='cosine', which"),
        ("tanimoto", "by clusters() of a map with n_pcs=50 and metric='cosine', which"),
        ("hamming", None),
    ],
)
def test_the_components_advised_are_those_that_a_map_takes(metric, words):
    X = (np.random.default_rng(0).random((80, 120)) < 0.3).astype(float)
    told = str(gn.find_clusters(X, metric=metric))
    assert told.startswith("No clusters")
    assert ("n_pcs" not in told) if words is None else (words in told)
    roots = {"X": np.sqrt(X / X.sum(axis=1, keepdims=True)), "n_pcs": 20}
    made = gn.map(**(roots if metric == "hellinger" else {"X": X, "metric": "cosine", "n_pcs": 20}), max_iter=5)
    assert made.representation.n_coordinates == 20


def test_a_verdict_by_roots_of_shares_advises_components_of_these():
    X = np.random.default_rng(0).gamma(1.0, size=(200, 120))
    a = np.arange(200) < 100
    sentence = are_apart(X, None, a, ~a, metric="hellinger", n_nulls=19).sentence
    assert "ask about principal components (a map with n_pcs=20 of the roots of shares, numpy.sqrt(X" in sentence
