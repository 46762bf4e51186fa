"""Weights of features and of rows in maps: what they count for, and that answers stay in the person's units."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as OtherPCA

import gnomon as gn
from gnomon.data.scaling import Scaling
from gnomon.exceptions import GnomonWarning
from gnomon.maps.printed.sections.sources import _python

RNG = np.random.default_rng(0)
N = 90
X = RNG.normal(size=(N, 4)) * [3, 2, 1, 1] + [50, 0, -7, 1000]
NAMES = ["age", "height", "dose", "year"]
WEIGHTS = np.array([2.0, 0.0, 0.5, 1.0])
TSNE = {"method": "tsne", "perplexity": 8, "max_iter": 60, "early_exaggeration_iter": 30}
FRAME = pd.DataFrame(X, columns=NAMES).assign(country=RNG.choice(["DE", "FR", "IT"], N), n=RNG.integers(0, 4, N))

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")


@pytest.fixture(scope="module")
def weighted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return gn.map(X, feature_names=NAMES, feature_weight=WEIGHTS, scale="standard", **TSNE)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_a_feature_of_weight_two_is_its_column_given_twice_and_one_of_zero_is_none(metric, form):
    table = form(np.abs(X[:, :3]) * (np.abs(X[:, :3]) > 1.0))
    columns = [0, 0, 2]
    one = gn.map(table, method="mds", metric=metric, max_iter=0, feature_weight=[2, 0, 1], scale=None)
    other = gn.map(form(table[:, columns]), method="mds", metric=metric, max_iter=0, scale=None)
    np.testing.assert_array_equal(one.neighbors().indices, other.neighbors().indices)
    np.testing.assert_allclose(one.neighbors().distances, other.neighbors().distances, rtol=1e-5)


def test_weights_count_in_linear_maps_too():
    one = gn.map(X, method="pca", feature_weight=[2, 1, 0, 1], scale=None)
    other = gn.map(X[:, [0, 0, 1, 3]], method="pca", scale=None)
    np.testing.assert_allclose(one.embedding, other.embedding, atol=1e-4)


def test_weights_of_one_change_no_byte():
    plain = gn.map(X, scale=None, **TSNE)
    ones = gn.map(X, scale=None, feature_weight=np.ones(4), sample_weight=np.full(N, 2.0), **TSNE)
    np.testing.assert_array_equal(plain.embedding, ones.embedding)
    assert ones.scale is None


def test_weights_come_after_standardisation(weighted):
    plain = gn.map(X, feature_names=NAMES, scale="standard", **TSNE)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(weighted.scale.spread, plain.scale.spread / np.sqrt(WEIGHTS), rtol=1e-12)
    by_hand = (X - X.mean(axis=0)) / X.std(axis=0) * np.sqrt(WEIGHTS)
    np.testing.assert_allclose(weighted.embedding, gn.map(by_hand, scale=None, **TSNE).embedding, atol=1e-3)


def test_derivatives_are_in_units_of_the_features(weighted):
    rows, steps = X[:6] + 0.01, 1e-4 * X.std(axis=0)
    found = weighted.jacobian(rows)
    for j, step in enumerate(steps):
        change = np.eye(4)[j] * step
        slope = (weighted.transform(rows + change) - weighted.transform(rows - change)) / (2.0 * step)
        np.testing.assert_allclose(found[:, :, j], slope, atol=1e-5 * np.abs(found).max() + 1e-6)
    assert (found[:, :, 1] == 0.0).all()
    place, jacobian = weighted.linearize(rows[0])
    np.testing.assert_allclose(jacobian, found[0], atol=1e-12)
    np.testing.assert_allclose(place, weighted.transform(rows[:1])[0], atol=1e-9)


def test_new_rows_are_measured_with_the_weights(weighted):
    other = X[:9].copy()
    other[:, 1] += 100.0  # counts for nothing
    np.testing.assert_array_equal(weighted.transform(other), weighted.transform(X[:9]))
    np.testing.assert_array_equal(weighted.place(other), weighted.place(X[:9]))
    np.testing.assert_allclose(weighted.place(X), weighted.embedding, atol=1e-4)
    grown, _ = weighted.extend(other)
    np.testing.assert_allclose(grown.embedding[N:], weighted.embedding[:9], atol=1e-3)


def test_what_counts_for_nothing_explains_nothing(weighted):
    explanation = weighted.explain()
    assert explanation.global_importance[1] == 0.0
    assert (explanation.global_importance[[0, 2, 3]] > 0.0).all()
    assert (explanation.axes(3)[:, 1] == 0.0).all()
    assert np.isfinite(explanation.axes_error(3)).all()
    np.testing.assert_array_equal(explanation.why(3).to_dict()["features"][-1]["feature"], "height")
    back = weighted.inverse_transform(weighted.embedding[:5])
    np.testing.assert_allclose(back[:, 1], X[:, 1].mean(), rtol=1e-5)
    assert np.isfinite(back).all()
    answer = weighted.counterfactual(3, [40, 41, 42])
    assert np.isfinite(answer.row).all()
    (height,) = (one for one in answer.to_dict()["features"] if one["feature"] == "height")
    assert height["contribution"] == 0.0
    assert not height["needed"]


def test_weights_are_in_the_file_the_report_and_the_page(weighted, tmp_path):
    weighted.save(tmp_path / "map.gnomon")
    loaded = gn.load(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(loaded.scale.weight, WEIGHTS)
    np.testing.assert_array_equal(loaded.transform(X + 0.1), weighted.transform(X + 0.1))
    assert "Features count in distances by weights: age 2, height 0, dose 0.5." in loaded.report()
    assert loaded.to_dict()["feature_weight"] == {"age": 2.0, "height": 0.0, "dose": 0.5}
    weighted.to_html(tmp_path / "map.html")
    assert (tmp_path / "map.html").stat().st_size > 10_000


def test_a_column_that_became_several_features_is_weighed_by_its_name():
    made = gn.map(FRAME, feature_weight={"country": 3.0, "age": 0.5}, drop=["n"], **TSNE)
    named = dict(zip(made.feature_names, made.scale.weight, strict=True))
    assert named == {
        **dict.fromkeys(("height", "dose", "year"), 1.0),
        **{f"country = {name}": 3.0 for name in ("DE", "FR", "IT")},
        "age": 0.5,
    }


def test_components_are_of_the_weighted_features():
    made = gn.map(X, feature_weight=WEIGHTS, n_pcs=2, scale=None, **TSNE)
    assert (made.representation.components[:, 1] == 0.0).all()
    assert (made.jacobian(X[:3])[:, :, 1] == 0.0).all()


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"agee": 1.0}, ValueError, "feature_weight of 'agee' must be one of a feature"),
        ({"age": -1.0}, ValueError, r"finite numbers >= 0 \('age' has -1\)"),
        ({"age": np.nan}, ValueError, "'age' has nan"),
        ({"age": "much"}, TypeError, "feature_weight of 'age' must be a number"),
        ({"age": True}, TypeError, "must be a number"),
        ([1.0, 2.0], ValueError, r"of shape \(2,\) must be of shape \(n_features,\)"),
        (np.zeros(4), ValueError, "positive for one feature at least"),
        (["a", "b", "c", "d"], TypeError, "a mapping of names to numbers"),
    ],
    ids=["name", "negative", "nan", "text", "truth", "length", "zero", "texts"],
)
def test_wrong_weights_of_features_are_refused(given, error, text):
    with pytest.raises(error, match=text):
        gn.map(X, method="pca", feature_names=NAMES, feature_weight=given)


def test_metrics_that_have_no_weights_are_refused():
    with pytest.raises(ValueError, match=r"feature_weight must be None where .*metric='chebyshev'"):
        gn.map(X, method="mds", metric="chebyshev", feature_weight=WEIGHTS)


def test_a_scaling_without_weight_is_as_it_was():
    scaling = Scaling("standard", X.mean(axis=0), X.std(axis=0))
    np.testing.assert_array_equal(scaling.undo(scaling.apply(X)), scaling.apply(X) * X.std(axis=0) + X.mean(axis=0))


@pytest.mark.parametrize("as_column", [False, True], ids=["array", "column"])
def test_rows_count_by_their_weights(as_column):
    given = FRAME[[*NAMES, "n"]] if as_column else FRAME[NAMES]
    made = gn.map(given, sample_weight="n" if as_column else FRAME["n"], scale="standard", **TSNE)
    present = FRAME["n"].to_numpy() > 0
    assert made.feature_names == NAMES
    np.testing.assert_array_equal(made.metadata["n" if as_column else "sample_weight"], FRAME["n"])
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {name: value for name, value in TSNE.items() if name != "method"}
    alone = gn.TSNE(random_state=0, **options).fit(standardised[present], sample_weight=FRAME["n"][present])
    np.testing.assert_allclose(made.embedding[present], alone.embedding_, atol=1e-3)
    assert np.isfinite(made.embedding).all()
    assert made.n_samples == N


def test_weights_stay_with_their_rows_where_some_are_left_out():
    gaps = FRAME[NAMES].copy()
    gaps.iloc[[3, 50], 1] = np.nan
    weights = np.arange(1.0, N + 1.0)
    made = gn.map(gaps, sample_weight=weights, missing="drop", **TSNE)
    np.testing.assert_array_equal(made.metadata["sample_weight"], np.delete(weights, [3, 50]))


def test_a_map_of_weighted_rows_is_stored_and_places_rows(tmp_path):
    made = gn.map(X, sample_weight=FRAME["n"], **TSNE)
    made.save(tmp_path / "map.gnomon")
    loaded = gn.load(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(loaded.place(X + 0.1), made.place(X + 0.1))
    np.testing.assert_array_equal(loaded.transform(X + 0.1), made.transform(X + 0.1))


def test_wrong_weights_of_rows_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight='m' must be the name of a column \(there are 'age'"):
        gn.map(FRAME, sample_weight="m")
    with pytest.raises(ValueError, match="sample_weight must be left out"):
        gn.map(X, method="trimap", sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="sample_weight"):
        gn.map(X, method=OtherPCA(2), sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="a number for each row"):
        gn.map(FRAME, sample_weight="country")


def test_a_map_of_weighted_rows_says_that_answers_count_every_row_once(tmp_path):
    weights, labels = np.linspace(1, 2, N), np.repeat(["a", "b"], N // 2)
    made = gn.map(X, method="pca", labels=labels, sample_weight=weights, feature_names=NAMES, scale=None)
    made.save(tmp_path / "m.gnomon")
    for one in (made, gn.Map.load(tmp_path / "m.gnomon")):
        told = [note for note in one.notes if "count every row once" in note]
        assert len(told) == 1
        assert one.report().count("count every row once") == 1
        assert "keep each row with a probability in proportion to its weight" in told[0]
        asked = [one.is_denser("a", "b"), one.is_nearer([*range(10)], [*range(20, 30)], [*range(40, 50)])]
        asked += [one.are_apart("a", "b", n_nulls=19), one.verdicts(n_nulls=19), one.illusions()]
        asked += [one.contrast("label=a"), one.profiles()]
        assert [str(answer).count("Rows count once here") for answer in asked] == [1] * len(asked)
        assert all("Rows count once here" in answer.to_dict()["caution"] for answer in asked[:6])


def test_scores_clusters_and_lists_of_weighted_rows_say_so_too():
    """Each answer by itself, once, also in what it writes; the report says it in its notes alone."""
    made = gn.map(X, method="pca", labels=np.repeat(["a", "b"], N // 2), sample_weight=np.linspace(1, 2, N), scale=None)
    ends = [made.embedding[: N // 2].mean(axis=0), made.embedding[N // 2 :].mean(axis=0)]
    asked = {
        "clusters": made.clusters(),
        "importance": made.importance(),
        "axis": made.axis(ends),
        "dimension": made.intrinsic_dimension(),
        "evaluate": made.evaluate(),
        "scorecard": made.scorecard(["trustworthiness"]),
        "outliers": made.outliers(3),
        "suspects": made.suspects(3),
    }
    by_label = {"by label": made.importance_by_label(), "captions": made.captions()}
    drift = made.extend(X[:5] + 0.1)[1]
    told = {name: str(one).count("Rows count once here") for name, one in {**asked, **by_label, "drift": drift}.items()}
    assert told == dict.fromkeys(told, 1)
    assert all("Rows count once here" in answer.to_dict()["caution"] for answer in asked.values())
    assert "Rows count once here" in drift.caution
    assert "Rows count once" not in drift.summary().splitlines()[-1]
    assert "Rows count once here" not in made.report(verdicts=False)


def test_points_scored_first_leave_the_word_on_the_evaluation():
    made = gn.map(X, method="pca", sample_weight=np.linspace(1, 2, N), scale=None)
    made.point_scores()
    assert "Rows count once here" in made.evaluate().caution


def test_weights_that_are_alike_or_none_need_no_word():
    for given in (None, np.full(N, 3.0)):
        made = gn.map(X, method="pca", labels=np.repeat(["a", "b"], N // 2), sample_weight=given, scale=None)
        assert "sample_weight" not in made.parameters
        assert not any("count every row once" in note for note in made.notes)
        assert "count once" not in str(made.contrast("label=a")) + str(made.profiles())
        assert "caution" not in made.contrast("label=a").to_dict()
        assert "count once" not in f"{made.evaluate()}{made.intrinsic_dimension()}{made.outliers(3)}{made.importance()}"
        assert not {"caution"} & {*made.evaluate().to_dict(), *made.importance().to_dict(), *made.outliers(3).to_dict()}


def test_the_column_of_weights_is_named():
    made = gn.map(FRAME, method="pca", sample_weight="n", features=NAMES)
    assert made.parameters["sample_weight"] == "n"
    assert "sample_weight='n'" in _python(made)
    assert "sample_weight=sample_weight" in _python(gn.map(X, method="pca", sample_weight=np.linspace(1, 2, N)))
    assert any("Rows have weights ('n')" in note for note in made.notes)
