"""Maps that follow a target: what steers is no feature and no label, and the map says that it was steered."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning, SupervisionWarning
from gnomon.viewer.content import PageContent

QUICK = {"n_jobs": 1, "max_iter": 60}


@pytest.fixture(scope="module")
def flowers():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(3), 40)
    X = 1.5 * rng.normal(size=(3, 4))[kind] + rng.normal(size=(120, 4))
    return pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["x", "y", "z"])[kind], length=rng.random(120))


@pytest.fixture(scope="module")
def steered(flowers):
    return gn.map(flowers, target="kind", **QUICK)


def test_a_named_target_steers_as_fit_does_and_is_no_feature(flowers, steered):
    assert steered.feature_names == ["a", "b", "c", "d", "length"]
    X = flowers.drop(columns="kind")
    for made in (
        gn.map(X, target=flowers["kind"], **QUICK),
        gn.map(X, gn.UMAP(random_state=0, **QUICK), target=list(flowers["kind"])),
    ):
        assert made.embedding.tobytes() == steered.embedding.tobytes()
    fitted = gn.UMAP(random_state=0, **QUICK).fit(X.to_numpy(), flowers["kind"])
    np.testing.assert_array_equal(fitted.embedding_, steered.embedding)
    assert not np.array_equal(gn.map(X, **QUICK).embedding, steered.embedding)


def test_labels_do_not_steer_and_a_target_does_not_label(flowers, steered):
    plain = gn.map(flowers.drop(columns="kind"), **QUICK)
    labelled = gn.map(flowers, labels="kind", **QUICK)
    assert labelled.embedding.tobytes() == plain.embedding.tobytes()
    assert (labelled.label_name, labelled.caution, "kind" in labelled.metadata) == ("kind", "", False)
    assert labelled.labels.tolist() == flowers["kind"].tolist()
    assert steered.labels is None
    assert steered.metadata["kind"].tolist() == flowers["kind"].tolist()
    both = gn.map(flowers, labels="kind", target="kind", **QUICK)
    assert both.embedding.tobytes() == steered.embedding.tobytes()
    with pytest.warns(SupervisionWarning, match="Moran's I"):
        numbers = gn.map(flowers, labels="kind", target="length", target_weight=0.9, **QUICK)
    assert numbers.feature_names == list("abcd")
    assert "with weight 0.9, as numbers" in numbers.notes[-1]


def test_columns_left_out_are_named_where_features_go_with_the_target_by_chance():
    rng = np.random.default_rng(0)
    rank = rng.permutation(200)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(
        rank=rank, kind=np.array(["x", "y"])[rng.integers(0, 2, 200)], y=np.where(rank < 100, "low", "high")
    )
    with pytest.warns(DataWarning, match=r"'rank' \(whole numbers"), pytest.warns(SupervisionWarning) as told:
        gn.map(X, target="y", **QUICK)
    wanted = "map: The features go with the target 'y' by chance, but these columns were left out of them: 'rank'. Pass"
    assert [str(one.message).startswith(wanted) for one in told if one.category is SupervisionWarning] == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.map(X, target="y", features=["rank", "a"], scale="standard", **QUICK)
    with pytest.warns(SupervisionWarning) as told:
        gn.map(X.drop(columns="rank"), target="y", **QUICK)
    assert not any("left out" in str(one.message) for one in told)


def test_the_map_its_report_its_page_and_its_file_say_that_it_was_steered(flowers, steered, tmp_path):
    assert "steered by the target 'kind'" in steered.caution
    assert steered.report().splitlines()[1] == steered.caution
    assert steered.to_dict()["caution"] == steered.caution
    assert PageContent.of(steered).caution == steered.caution
    steered.save(tmp_path / "m.gnomon")
    assert gn.Map.load(tmp_path / "m.gnomon").caution == steered.caution
    assert steered.extend(flowers.head(3).drop(columns="kind"))[0].caution == steered.caution
    assert "In the data the share of neighbours of one class is 0." in steered.notes[-1]


def test_shuffled_labels_are_called_out_in_the_report(flowers):
    shuffled = np.random.default_rng(0).permutation(flowers["kind"])
    with pytest.warns(SupervisionWarning, match="no more than shuffled labels would"):
        made = gn.map(flowers.drop(columns="kind"), target=shuffled, **QUICK)
    assert "no more than shuffled labels would" in made.report()


def test_a_target_of_weight_zero_is_said_not_to_be_used(flowers):
    made = gn.map(flowers, target="kind", target_weight=0.0, **QUICK)
    assert (made.caution, made.notes[-1]) == (
        "",
        "The target 'kind' was not used: the map is made of the features alone.",
    )


def test_rows_that_are_left_out_take_their_target_along(flowers):
    gaps = flowers.assign(a=flowers["a"].where(np.arange(120) % 10 > 0))
    with pytest.warns(DataWarning, match="12 of 120 rows"):
        made = gn.map(gaps, target="kind", missing="drop", **QUICK)
    assert made.metadata["kind"].tolist() == flowers["kind"][np.arange(120) % 10 > 0].tolist()


def test_another_library_gets_numbers_of_classes():
    class Recorder:
        def fit_transform(self, X, y=None):
            self.y = y
            return X[:, :2]

    given = Recorder()
    X = np.random.default_rng(0).normal(size=(40, 3))
    made = gn.map(X, given, target=["b", "a", None, "b"] * 10)
    np.testing.assert_array_equal(given.y[:4], [1, 0, -1, 1])
    assert "steered" in made.caution


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"method": "pca", "target": "kind"}, r"target='kind' must be left out where PCA .*one of 'umap'"),
        ({"target": "kinds"}, r"target='kinds' must be one of .*Did you mean 'kind'"),
        ({"labels": "kinds"}, r"labels='kinds' must be one of .*Did you mean 'kind'"),
        ({"target": [1, 2]}, r"target must be one for each row \(2 labels, 120 rows\)"),
        ({"target": "length", "features": ["a"], "drop": ["lenght"]}, "drop='lenght' must be"),
    ],
)
def test_targets_that_cannot_be_are_refused(flowers, options, rule):
    with pytest.raises(ValueError, match=f"map: {rule}"):
        gn.map(flowers, **options)


@pytest.mark.parametrize("column", ["kind", "length"])
def test_a_target_that_is_a_feature_as_well_is_refused(flowers, column):
    target = flowers[column].map({"x": 5, "y": 1, "z": 3}) if column == "kind" else flowers[column].to_numpy()
    with pytest.raises(ValueError, match=rf"target must be no feature as well \(column '{column}' is the same\)"):
        gn.map(flowers, target=target)
