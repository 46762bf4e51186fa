"""A map of angles says that its explanations mislead where the angles start again; its function does not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

ANGLES = np.random.default_rng(0).uniform(-180, 180, (60, 3))


ASKED = {"explain": lambda m: m.explain(), "jacobian": lambda m: m.jacobian(ANGLES[0])}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("metric", ["periodic(360)", "manhattan"])
def test_an_explained_map_of_angles_warns_once_of_the_seam(metric, ask, tmp_path):
    made = gn.Map(ANGLES, ANGLES[:, :2], metric=metric)
    told = [text for text in made.notes if "near the seam" in text]
    assert len(told) == metric.startswith("periodic")
    made.save(tmp_path / "m.gnomon")
    assert gn.Map.load(tmp_path / "m.gnomon").notes == made.notes
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            ASKED[ask](made)
    seen = [one for one in caught if one.category is DataWarning and "sine and cosine" in str(one.message)]
    assert len(seen) == len(told) * (ask == "explain")


def test_a_fitted_map_of_angles_has_the_note():
    made = gn.map(ANGLES, metric="periodic", metric_params={"period": 360}, max_iter=5)
    assert any("near the seam" in text for text in made.notes)


UNLIKE = np.column_stack([ANGLES, 1e6 * ANGLES[:, :1]])


@pytest.mark.parametrize("scale", ["standard", "robust"])
@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"metric": "periodic(360)"}, "divided by 4"),
        ({"metric": "periodic", "metric_params": {"period": 360}, "n_fitted": 40}, "divided by 4"),
        ({"method": gn.UMAP(metric="periodic(360)")}, "divided by 4"),
        ({"metric": "jaccard"}, "Pass scale=None"),
    ],
)
def test_a_table_is_not_standardised_under_a_metric_that_reads_its_values(scale, given, remedy):
    with pytest.raises(ValueError, match=rf"scale='{scale}' must be left out .*{remedy}"):
        gn.map(ANGLES, scale=scale, **given)


def test_blocks_explanations_and_recommendations_refuse_it_likewise():
    block = gn.Block([0, 1], metric="periodic(360)", scale="standard")
    for ask in (
        lambda: gn.map(ANGLES, blocks={"a": block}),
        lambda: gn.explain(ANGLES, ANGLES[:, :2], metric="periodic(360)", scale="standard"),
        lambda: gn.recommend(ANGLES, metric="periodic(360)", scale="standard"),
    ):
        with pytest.raises(ValueError, match="scale='standard' must be left out under this metric"):
            ask()


def test_unlike_columns_beside_angles_are_to_be_divided_by_hand():
    metric = "periodic(360, 360, 360, inf)"
    with pytest.warns(DataWarning, match=r"the map shows little else. Divide columns .*, and their periods"):
        made = gn.map(UNLIKE, "classical_mds", metric=metric)
    assert made.scale is None
    by_hand = gn.map(UNLIKE / [1, 4, 1, 1e6], "classical_mds", metric="periodic(360, 90, 360, inf)")
    turned = gn.map(
        (UNLIKE + np.array([0, 77, 0, 0])) / [1, 4, 1, 1e6], "classical_mds", metric="periodic(360, 90, 360, inf)"
    )
    np.testing.assert_allclose(np.abs(by_hand.embedding), np.abs(turned.embedding), atol=1e-2)


@pytest.mark.parametrize("metric", ["periodic(360)", "jaccard", "hamming"])
def test_components_are_not_compared_by_a_metric_that_reads_values(metric):
    with pytest.raises(ValueError, match=r"the map is made of principal components\). Leave n_pcs out"):
        gn.map(ANGLES, n_pcs=2, metric=metric)
    gn.map(ANGLES, n_pcs=2, metric="cosine", max_iter=5)


def test_angles_in_radians_under_a_period_of_360_are_told():
    radians = np.deg2rad(ANGLES)
    with pytest.warns(
        DataWarning, match=r"as angles in radians do. If they are, pass metric='periodic\(6\.28318530717"
    ):
        made = gn.map(radians, metric="periodic(360)", max_iter=5)
    assert any("in radians" in note for note in made.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        gn.map(0.2 * radians, metric="periodic(360)", max_iter=5)  # small angles of improper dihedrals
        gn.map(radians, metric=f"periodic({2 * np.pi})", max_iter=5)
        gn.map(ANGLES, metric="periodic(360)", max_iter=5)
