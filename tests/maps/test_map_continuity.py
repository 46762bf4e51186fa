"""A map scores its points by the leave-one-out map of the method that made it."""

import inspect

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import perturbations, singularities


def test_the_columns_are_those_of_the_method_on_the_table_that_it_mapped():
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1.0, 2.0, 3.0, 100.0]
    result = gn.map(X, "tsne", perplexity=8, scale="standard", random_state=0)
    found = result.continuity_scores(rows=[3, 9])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    method = gn.TSNE(perplexity=8, random_state=0).fit(Z)
    np.testing.assert_allclose(found["singularity"], singularities(method, Z).columns()["singularity"], rtol=1e-2)
    expected = perturbations(method, Z, rows=[3, 9]).scores
    np.testing.assert_allclose(found["perturbation"], expected, rtol=0.05)
    result.metadata.update(found)
    assert np.isfinite(result.metadata["perturbation"]).sum() == 2


def test_a_map_made_elsewhere_has_none():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="one whose method is known"):
        gn.Map(X, X[:, :2]).continuity_scores()


def test_steps_are_as_long_as_those_of_perturbations_where_nobody_says():
    asked, answers = (inspect.signature(f).parameters["length"] for f in (gn.Map.continuity_scores, perturbations))
    assert asked.default == answers.default == 2.0
