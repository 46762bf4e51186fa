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
