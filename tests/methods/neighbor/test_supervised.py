"""Maps that follow a target."""

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import gnomon
from gnomon import SNE, TSNE, UMAP, DensMAP, FeatMAP, InfoNCETSNE, LargeVis, NegTSNE, SymmetricSNE
from gnomon.data import Target, check_target
from gnomon.exceptions import GnomonWarning, SupervisionWarning

rng = np.random.default_rng(0)
CENTRES = rng.normal(size=(3, 5))
y = np.repeat([0, 1, 2], 50)
X = CENTRES[y] + rng.normal(size=(150, 5))
QUICK = {"max_iter": 60, "random_state": 0, "n_jobs": 1}
T_SNE = [TSNE, SNE, SymmetricSNE, NegTSNE, InfoNCETSNE]


def _short(cls, **given):
    """Return a quick estimator of the t-SNE family."""
    known = cls().get_params()
    quick = {"perplexity": 10, "early_exaggeration_iter": 40, "max_iter": 150, "random_state": 0, "n_jobs": 1}
    return cls(**{**{name: value for name, value in quick.items() if name in known}, **given})


def _own_class(places, classes):
    """Share of the five nearest others in the map that have the row's class."""
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    near = np.argsort(distances, axis=1)[:, 1:6]
    return np.mean(classes[near] == classes[:, None])


@pytest.mark.parametrize("make", [UMAP, DensMAP, FeatMAP, lambda **given: LargeVis(perplexity=10, **given)])
def test_classes_come_together_and_more_so_with_more_weight(make):
    shares = [_own_class(make(target_weight=w, **QUICK).fit_transform(X, y), y) for w in (0.0, 0.2, 0.9)]
    assert shares[0] < shares[1] - 0.03 < shares[2] - 0.03
    assert shares[2] > 0.95


@pytest.mark.parametrize("make", [UMAP, LargeVis])
def test_weight_zero_does_not_use_the_target_and_no_target_leaves_no_figures(make):
    settings = QUICK if make is UMAP else {"perplexity": 10, **QUICK}
    plain = make(**settings).fit(X)
    ignored = make(target_weight=0, **settings).fit(X, y)
    np.testing.assert_array_equal(plain.embedding_, ignored.embedding_)
    assert plain.supervision_ is None
    assert ignored.supervision_ is None


def test_names_of_classes_and_threads_do_not_matter():
    numbers = UMAP(**QUICK).fit_transform(X, y)
    texts = UMAP(**{**QUICK, "n_jobs": 2}).fit_transform(X, np.array(["b", "a", "c"])[y])
    np.testing.assert_array_equal(numbers, texts)


def test_some_labels_draw_the_others_along():
    some = y.astype(object)
    some[rng.random(150) < 0.5] = None
    hidden = np.array([one is None for one in some])
    found = UMAP(target_weight=0.9, **QUICK).fit(X, some)
    plain = UMAP(**QUICK).fit(X)
    assert found.supervision_.n_known == (~hidden).sum()
    assert _own_class(found.embedding_, y) > _own_class(plain.embedding_, y) + 0.03
    minus_one = np.where(hidden, -1, y)
    np.testing.assert_array_equal(found.embedding_, UMAP(target_weight=0.9, **QUICK).fit_transform(X, minus_one))


def test_numbers_order_the_map():
    t = X[:, 4] + 0.2 * rng.normal(size=150)

    def told(places):
        return KNeighborsRegressor(5).fit(places[::2], t[::2]).score(places[1::2], t[1::2])

    plain, found = UMAP(**QUICK).fit_transform(X), UMAP(**QUICK).fit(X, t)
    assert found.supervision_.kind == "numbers"
    assert found.supervision_.chance == pytest.approx(-1 / 149)
    assert told(found.embedding_) > told(plain) + 0.3


def test_new_rows_are_placed_by_the_data_alone():
    fitted = UMAP(**QUICK).fit(X, y)
    np.testing.assert_allclose(fitted.place(X[:5]), fitted.place(X)[:5])
    new = CENTRES[[0, 1, 2]]
    nearest = np.linalg.norm(fitted.place(new)[:, None] - fitted.embedding_, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(y[nearest], [0, 1, 2])


@pytest.mark.parametrize("target", [y, rng.normal(size=150)], ids=["classes", "numbers"])
def test_a_shuffled_target_is_called_out_with_its_figures(target):
    shuffled = np.random.default_rng(3).permutation(target)
    with pytest.warns(SupervisionWarning, match=r"no more than shuffled labels would: .* by chance .* ± ") as said:
        fitted = UMAP(**QUICK).fit(X, shuffled)
    assert said[0].filename == __file__
    assert fitted.supervision_.is_by_chance
    with warnings.catch_warnings():
        warnings.simplefilter("error", GnomonWarning)
        UMAP(**QUICK).fit(X, y)


def test_the_figures_are_the_share_of_like_neighbours_and_that_of_pairs():
    found = UMAP(**QUICK).fit(X, y)
    assert found.supervision_.agreement == pytest.approx(np.mean(y[found.graph_.indices] == y[:, None]))
    assert found.supervision_.chance == pytest.approx(49 / 149)


def test_a_target_without_differences_is_not_used_and_columns_are_refused():
    with pytest.warns(SupervisionWarning, match="have the same one"):
        found = UMAP(**QUICK).fit_transform(X, np.zeros(150))
    np.testing.assert_array_equal(found, UMAP(**QUICK).fit_transform(X))
    with pytest.raises(ValueError, match=r"^UMAP: y must be one-dimensional"):
        UMAP(**QUICK).fit(X, np.eye(3)[y])
    with pytest.raises(ValueError, match=r"^UMAP: y must be of numbers or dates"):
        UMAP(target_metric="l2", **QUICK).fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(ValueError, match=r"^UMAP: target_weight=2 must be"):
        UMAP(target_weight=2, **QUICK).fit(X, y)


def test_equal_rows_have_the_mean_number_or_the_most_frequent_class():
    copies = np.array([0, 0, 0, 1, 1, 2])
    numbers = Target("numbers", np.array([1.0, 2.0, np.nan, 5.0, 5.0, np.nan])).of_distinct_rows(copies)
    np.testing.assert_array_equal(numbers.values, [1.5, 5.0, np.nan])
    classes = Target("classes", np.array([2, 1, 2, 1, 0, -1])).of_distinct_rows(copies)
    np.testing.assert_array_equal(classes.values, [2, 0, -1])


def test_what_a_target_is_taken_for():
    assert check_target([-1, 1, 1], 3).values.tolist() == [0, 1, 1]
    assert check_target([-1, 0, 1], 3).values.tolist() == [-1, 0, 1]
    assert check_target([0.5 * i for i in range(30)], 30).kind == "numbers"
    assert check_target(list(range(30)), 30).kind == "classes"
    assert check_target(list(range(30)), 30, "numbers").kind == "numbers"


def test_a_saved_map_keeps_its_figures_and_is_no_function_of_the_data_alone(tmp_path):
    fitted = UMAP(**QUICK).fit(X, y)
    fitted.save(tmp_path / "map.gnomon")
    loaded = gnomon.load(tmp_path / "map.gnomon")
    assert loaded.supervision_ == fitted.supervision_
    np.testing.assert_array_equal(loaded.place(X[:3]), fitted.place(X[:3]))
    with pytest.raises(ValueError, match="the map must be one of the data alone"):
        gnomon.sensitivity(fitted, X)


@pytest.mark.parametrize("cls", T_SNE)
def test_the_family_of_t_sne_follows_classes_and_more_so_with_more_weight(cls):
    shares = [_own_class(_short(cls, target_weight=w).fit(X, y if w else None).embedding_, y) for w in (0, 0.2, 0.9)]
    assert shares[0] < shares[1] - 0.03 < shares[2] - 0.03
    assert shares[2] > 0.95


@pytest.mark.parametrize("cls", T_SNE)
def test_by_default_the_family_of_t_sne_leaves_a_target_alone_and_says_how_to_follow_it(cls):
    plain = _short(cls).fit_transform(X)
    with pytest.warns(SupervisionWarning, match=r"y is not used: .* To follow y pass target_weight=0\.5") as said:
        found = _short(cls).fit(X, y)
    assert len(said) == 1
    assert found.embedding_.tobytes() == plain.tobytes()
    assert found.supervision_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", GnomonWarning)
        piped = make_pipeline(_short(cls), KNeighborsClassifier()).fit(X, y)
    assert piped[0].embedding_.tobytes() == plain.tobytes()


def test_in_a_pipeline_the_weight_decides_as_well():
    alone = _short(TSNE, target_weight=0.5).fit_transform(X, y)
    piped = make_pipeline(_short(TSNE, target_weight=0.5), KNeighborsClassifier()).fit(X, y)
    np.testing.assert_array_equal(piped[0].embedding_, alone)


@pytest.mark.parametrize("cls", T_SNE)
@pytest.mark.parametrize("target", [y, X[:, 0] + X[:, 1] ** 2], ids=["classes", "numbers"])
def test_a_weight_towards_zero_leads_to_the_plain_map(cls, target):
    settings = {
        "init": "pca",
        "max_iter": 10,
        **({"early_exaggeration_iter": 9} if hasattr(cls, "early_exaggeration_iter") else {}),
    }
    plain = _short(cls, **settings).fit_transform(X)
    apart = [
        float(np.abs(_short(cls, target_weight=w, **settings).fit(X, target).embedding_ - plain).max())
        for w in (1e-2, 1e-4, 1e-8)
    ]
    assert apart[2] <= apart[1] < apart[0]
    assert apart[2] < 2e-4 * np.abs(plain).max()


@pytest.mark.parametrize("cls", T_SNE)
def test_the_family_of_t_sne_takes_some_labels_and_numbers_with_any_number_of_threads(cls):
    some = y.astype(object)
    some[np.random.default_rng(4).random(150) < 0.5] = None
    plain = _short(cls).fit_transform(X)
    found = _short(cls, target_weight=0.9).fit(X, some)
    assert found.supervision_.n_known == sum(one is not None for one in some)
    assert _own_class(found.embedding_, y) > _own_class(plain, y) + 0.03
    t = X[:, 4] + 0.2 * np.random.default_rng(5).normal(size=150)

    def told(places):
        return KNeighborsRegressor(5).fit(places[::2], t[::2]).score(places[1::2], t[1::2])

    followed = [_short(cls, target_weight=0.8, n_jobs=n).fit_transform(X, t) for n in (1, 2)]
    assert followed[0].tobytes() == followed[1].tobytes()
    assert told(followed[0]) > told(plain) + 0.2


@pytest.mark.parametrize("cls", T_SNE)
def test_rows_of_a_followed_map_are_placed_by_the_data_and_a_shuffled_target_is_called_out(cls, tmp_path):
    fitted = _short(cls, target_weight=0.5).fit(X, y)
    classes = np.repeat([0, 1, 2], 60)
    new = CENTRES[classes] + np.random.default_rng(5).normal(size=(180, 5))
    in_map = KNeighborsClassifier(5).fit(fitted.embedding_, y).score(fitted.place(new), classes)
    assert in_map > KNeighborsClassifier(5).fit(X, y).score(new, classes) - 0.1
    fitted.save(tmp_path / "map.gnomon")
    loaded = gnomon.load(tmp_path / "map.gnomon")
    assert loaded.supervision_ == fitted.supervision_
    np.testing.assert_array_equal(loaded.place(new), fitted.place(new))
    with pytest.warns(SupervisionWarning, match=r"no more than shuffled labels would: .* target_weight=0"):
        _short(cls, target_weight=0.5).fit(X, np.random.default_rng(3).permutation(y))
