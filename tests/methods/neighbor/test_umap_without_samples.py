"""UMAP by interpolated repulsions: when it is chosen, what it promises, and what it refuses."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gnomon as gn
from gnomon.objectives import CrossEntropy

X, y = load_digits(return_X_y=True)
X, y = X[:500].astype(np.float32), y[:500]


def umap(**parameters):
    return gn.UMAP(**{"evaluation": "interpolated", "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def fitted():
    return umap().fit(X)


def exact_loss(fitted):
    return CrossEntropy(fitted.affinities_, fitted.kernel_, evaluation="exact").loss(fitted.embedding_)


def test_it_ends_lower_than_samples_in_fewer_iterations(fitted):
    sampled = gn.UMAP(random_state=0, evaluation="sampled").fit(X)
    assert (fitted.evaluation_, sampled.evaluation_) == ("interpolated", "sampled")
    assert fitted.n_iter_ < sampled.n_iter_ / 2
    assert exact_loss(fitted) < exact_loss(sampled)
    scores = [gn.evaluate(X, one.embedding_, labels=y).scores() for one in (fitted, sampled)]
    for name in ("trustworthiness", "knn_accuracy"):
        assert scores[0][name] > scores[1][name] - 0.01


def test_the_bytes_are_those_of_any_number_of_threads(fitted):
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(umap(n_jobs=n_jobs).fit(X).embedding_, fitted.embedding_)


def test_auto_goes_by_the_rows_and_by_what_has_no_mesh(monkeypatch):
    few = gn.UMAP(random_state=0, max_iter=3)
    assert few.fit(X).evaluation_ == "sampled"
    monkeypatch.setattr("gnomon.methods.neighbor.umap._INTERPOLATED_FROM", 400)
    assert few.fit(X).evaluation_ == "interpolated"
    for samples in (
        {"n_components": 3},
        {"learning_rate": 1.0},
        {"density": 1.0},
        {"frames": 0.5},
        {"output_metric": "sphere"},
        {"evaluation": "sampled"},
    ):
        made = gn.UMAP(random_state=0, max_iter=3, **samples).fit(X)
        assert made.evaluation_ == "sampled"
    for other in (gn.DensMAP, gn.FeatMAP, gn.ScaleMAP, gn.StarMAP):
        assert other(random_state=0, max_iter=3).fit(X).evaluation_ == "sampled"
    plain = gn.StarMAP(random_state=0, max_iter=3, star_weight=0.0).fit(X)
    np.testing.assert_array_equal(plain.embedding_, gn.UMAP(random_state=0, max_iter=3, init="pca").fit_transform(X))


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"n_components": 3}, "one or two dimensions"),
        ({"learning_rate": 1.0}, "learning_rate is a step of the sampled descent"),
        ({"density": 1.0}, "the term of density"),
        ({"output_metric": "hyperboloid"}, "surface"),
    ],
)
def test_what_has_no_mesh_is_refused(given, fact):
    with pytest.raises(ValueError, match=rf"UMAP: evaluation='interpolated' must be 'auto' or 'sampled' here.*{fact}"):
        umap(**given).fit(X)


def test_the_number_of_iterations_is_the_one_asked_for():
    for wanted in (0, 1, 7):
        assert umap(max_iter=wanted).fit(X).n_iter_ == wanted
    assert umap().fit(X[:60]).n_iter_ == 150


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_one_component_weights_copies_anchors_and_targets_are_taken():
    assert umap(n_components=1, max_iter=20).fit(X).embedding_.shape == (500, 1)
    twice = umap(max_iter=20).fit(np.concatenate([X, X[:50]]))
    np.testing.assert_array_equal(twice.embedding_[:50], twice.embedding_[500:])
    weighted = umap(max_iter=20).fit(X, sample_weight=np.where(np.arange(500) < 50, 2.0, 1.0))
    assert np.isfinite(weighted.embedding_).all()
    held = umap(anchors={3: (9.0, -9.0)}, anchor_weight=np.inf, max_iter=20).fit(X)
    np.testing.assert_allclose(held.embedding_[3], (9.0, -9.0), atol=1e-5)
    supervised = umap().fit(X, y)
    assert gn.evaluate(X, supervised.embedding_, labels=y).scores()["knn_accuracy"] > 0.97


def test_new_rows_lie_among_their_neighbours(fitted):
    part = umap().fit(X[:450], y[:450])
    placed = part.place(X[450:])
    nearest = np.linalg.norm(placed[:, None] - part.embedding_[None], axis=2).argmin(axis=1)
    assert (y[:450][nearest] == y[450:]).mean() > 0.85
    kept = fitted.place(X)
    assert np.median(np.linalg.norm(kept - fitted.embedding_, axis=1)) < 0.5


def test_a_callback_is_told_the_loss_and_may_end_the_layout():
    seen = []

    def look(progress):
        if progress.stage == "layout" and progress.done:
            seen.append(progress.done)
        return bool(seen) and seen[-1] >= 40

    ended = umap(callback=look).fit(X)
    assert seen[-1] == 40 == ended.n_iter_
    losses = [loss for _, loss in umap().fit(X).solution_.loss]
    assert losses[-1] == min(losses)
