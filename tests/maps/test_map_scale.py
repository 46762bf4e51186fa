"""Tables of unlike units are standardised, the map says so, and every answer is in units of the data."""

from __future__ import annotations

import json
import warnings
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import gnomon as gn
from gnomon.cli import main
from gnomon.exceptions import DataWarning
from gnomon.viewer.content import PageContent

WINE = load_wine()
SPREAD = WINE.data.std(axis=0)


def make(method="umap", **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return gn.map(WINE.data, method, labels=WINE.target, feature_names=WINE.feature_names, **given)


def agreement(result):
    return cross_val_score(KNeighborsClassifier(10), result.embedding, WINE.target, cv=10).mean()


@pytest.fixture(scope="module")
def standardised():
    return make()


@pytest.fixture(scope="module")
def by_hand():
    """The map of the table that was standardised before."""
    X = StandardScaler().fit_transform(WINE.data)
    return gn.map(X, labels=WINE.target, feature_names=WINE.feature_names)


def test_auto_says_what_it_did_and_which_column_asked_for_it():
    with pytest.warns(DataWarning, match=r"'proline' makes 99.8% .*: all columns are standardised. Pass scale=None"):
        result = gn.map(WINE.data, "pca", feature_names=WINE.feature_names)
    assert any("'proline' makes" in note for note in result.notes)
    assert "Columns are standardised (standard)." in result.report()
    assert result.to_dict()["scale"] == "standard"


def test_none_warns_and_names_the_remedy():
    with pytest.warns(DataWarning, match=r"'proline' makes 99.8% .*: the map shows little else. Pass scale='standard'"):
        result = gn.map(WINE.data, "pca", feature_names=WINE.feature_names, scale=None)
    assert result.scale is None
    np.testing.assert_array_equal(result.embedding, gn.PCA().fit_transform(WINE.data).astype(np.float32))


def test_columns_that_are_left_in_their_own_units_are_noted_with_the_remedy():
    rng = np.random.default_rng(0)
    body = np.column_stack([rng.normal(170, 10, 60), rng.normal(17, 1.5, 60)])
    made = gn.map(body, "pca", feature_names=["height (cm)", "wrist (cm)"])
    assert made.scale is None
    (note,) = made.notes
    assert note.startswith("columns stay in their own units, though 'height (cm)' spreads ")
    assert note.endswith(" times as much as 'wrist (cm)'. If they have unlike units, pass scale='standard'.")
    assert gn.map(body, "pca", scale=None).notes == []


def test_few_named_columns_of_other_kinds_are_standardised_with_a_warning():
    rng = np.random.default_rng(1)
    body = np.column_stack([rng.normal(170, 10, 60), rng.normal(17, 1.5, 60)])
    with pytest.warns(DataWarning, match=r"'height' spreads .* as 'wrist', at another level .*: all columns are stand"):
        made = gn.map(body, "pca", feature_names=["height", "wrist"])
    assert made.scale.name == "standard"


def test_classes_are_told_apart_once_standardised(standardised):
    assert agreement(make(scale=None)) < 0.72
    assert agreement(standardised) > 0.9
    assert agreement(make(scale="robust")) > 0.9


def test_the_map_is_that_of_the_standardised_table(standardised, by_hand):
    np.testing.assert_array_equal(standardised.embedding, by_hand.embedding)
    np.testing.assert_array_equal(standardised.X, WINE.data)
    assert standardised.evaluate().to_dict() == by_hand.evaluate().to_dict()
    assert standardised.intrinsic_dimension().value == by_hand.intrinsic_dimension().value


@pytest.mark.parametrize("kind", ["method", "atlas"])
def test_rows_come_and_go_in_units_of_the_data(standardised, by_hand, kind):
    maps = [standardised, by_hand]
    if kind == "atlas":
        maps = [gn.Map(one.X, one.embedding, scale=one.scale) for one in maps]
    raw, hand = maps
    new, scaled = WINE.data[:5] * 1.01, (WINE.data[:5] * 1.01 - WINE.data.mean(axis=0)) / SPREAD
    np.testing.assert_allclose(raw.transform(new), hand.transform(scaled), atol=1e-5)
    np.testing.assert_allclose(raw.novelty(new), hand.novelty(scaled))
    places = raw.embedding[:4]
    back = hand.inverse_transform(places) * SPREAD + WINE.data.mean(axis=0)
    np.testing.assert_allclose(raw.inverse_transform(places), back, rtol=1e-5)
    np.testing.assert_allclose(raw.jacobian(new[0]) * SPREAD, hand.jacobian(scaled[0]), rtol=1e-4, atol=1e-6)


def test_answers_are_in_units_of_the_data(standardised, by_hand):
    raw, hand = standardised.why(7), by_hand.why(7)
    assert raw.features == hand.features
    np.testing.assert_allclose(raw.effect, hand.effect, rtol=1e-5)
    np.testing.assert_array_equal(raw.values, WINE.data[7, raw.indices])
    raw, hand = standardised.axis(direction=(1, 0)), by_hand.axis(direction=(1, 0))
    order = np.argsort(raw.indices)
    other = np.argsort(hand.indices)
    np.testing.assert_allclose(raw.change[order] / SPREAD, hand.change[other], atol=1e-6)
    np.testing.assert_allclose(raw.push[order], hand.push[other], rtol=1e-4, atol=1e-6)
    assert raw.fidelity == pytest.approx(hand.fidelity, abs=1e-6)
    start = int(np.flatnonzero(WINE.target == 0)[3])
    answer = standardised.counterfactual(start, 1)
    assert answer.reached
    np.testing.assert_array_equal(answer.values, WINE.data[start, answer.indices])
    assert (answer.row <= WINE.data.max(axis=0)).all()
    assert "proline" in standardised.contrast(WINE.target == 0).features


def test_the_file_keeps_the_scale(standardised, tmp_path):
    standardised.save(tmp_path / "wine.gnomon")
    again = gn.Map.load(tmp_path / "wine.gnomon")
    with zipfile.ZipFile(tmp_path / "wine.gnomon") as archive:
        large = [one.filename for one in archive.infolist() if one.file_size >= WINE.data.nbytes]
    assert large == ["X_values.npy"]  # the standardised table is not stored beside it
    assert again.scale.name == "standard"
    np.testing.assert_array_equal(again.scale.spread, standardised.scale.spread)
    new = WINE.data[:6] * 0.99
    assert again.extension_kind == "atlas"
    np.testing.assert_array_equal(again.transform(new), standardised.transform(new))
    np.testing.assert_array_equal(again.explain().global_importance, standardised.explain().global_importance)


def test_a_map_that_grows_keeps_the_scale(standardised):
    larger, drift = standardised.extend(WINE.data[:20] * 1.001)
    assert larger.scale is standardised.scale
    assert drift.unusual < 0.2
    np.testing.assert_array_equal(larger.transform(WINE.data[:3]), standardised.transform(WINE.data[:3]))


def test_the_page_says_it(standardised):
    info = PageContent.of(standardised).info
    assert info["columns"] == "standardised (standard)"
    assert "'proline' makes" in info["notes"]


def test_positions_from_elsewhere_are_explained_without_units(by_hand):
    given = gn.Map(WINE.data, by_hand.embedding, feature_names=WINE.feature_names)
    assert given.scale is None
    np.testing.assert_allclose(given.explain().importance, by_hand.explain().importance, rtol=1e-4, atol=1e-6)


def test_tables_of_one_kind_stay_and_so_do_pictures():
    X, _ = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        result = gn.map(X[:300], "pca")
        wide = (X[:300] + np.random.default_rng(0).normal(size=(300, 64))) * np.where(np.arange(64) == 36, 1000.0, 1.0)
        picture = gn.map(wide, "pca", image_shape=(8, 8))
    assert result.scale is None
    assert result.explain().scale is None
    assert gn.explain(wide, picture.embedding, scale="auto").scale is not None
    assert picture.scale is None
    assert picture.explain().scale is None


def test_estimators_of_other_libraries_get_the_table_as_it_is():
    from sklearn.decomposition import PCA

    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        result = gn.map(WINE.data, PCA(2))
    assert result.scale is None
    assert gn.map(WINE.data, PCA(2), scale="standard").scale.name == "standard"


def test_the_command_line_standardises(tmp_path):
    path = tmp_path / "wine.csv"
    header = ",".join(name.replace("/", "_") for name in WINE.feature_names)
    np.savetxt(path, WINE.data, delimiter=",", header=header, comments="")
    told = {}
    for scale in ("auto", "none", "robust"):
        found = CliRunner().invoke(main, ["map", str(path), "--method", "pca", "--scale", scale, "--json"])
        assert found.exit_code == 0, found.output
        document = json.loads(found.stdout)
        told[scale] = document["map"]["scale"], " ".join(document["warnings"])
    assert told["auto"][0] == "standard"
    assert "all columns are standardised" in told["auto"][1]
    assert told["none"][0] is None
    assert "Pass scale='standard'" in told["none"][1]
    assert told["robust"][0] == "robust"


def test_one_row_and_its_derivative_are_in_units_of_the_data(standardised):
    place, jacobian = standardised.linearize(WINE.data[7])
    np.testing.assert_allclose(place, standardised.transform(WINE.data[7:8])[0], rtol=1e-6)
    np.testing.assert_allclose(jacobian, standardised.jacobian(WINE.data[7]), rtol=1e-10)
    step = 1e-5 * SPREAD
    moved = [standardised.transform(WINE.data[[7]] + sign * np.diag(step)) for sign in (1, -1)]
    np.testing.assert_allclose(
        (moved[0] - moved[1]).T / (2 * step), jacobian, rtol=1e-3, atol=1e-6 * np.abs(jacobian).max()
    )
