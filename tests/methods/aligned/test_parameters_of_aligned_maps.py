"""Parameters of aligned maps are asked for, set and copied as scikit-learn does."""

import numpy as np
import pytest
from sklearn.base import clone

import gnomon

_TABLES = [np.random.default_rng(k).normal(size=(30, 4)) for k in range(2)]
_FAST = {"n_neighbors": 5, "max_iter": 15}


class Near(gnomon.UMAP):
    """A method that takes neither seed nor threads."""

    def __init__(self, n_neighbors=5):
        super().__init__(n_neighbors=n_neighbors, max_iter=15)


def _maps(aligned):
    return aligned.fit(_TABLES, relations="rows").embeddings_


def test_parameters_are_those_that_were_given():
    aligned = gnomon.AlignedMaps("umap", alignment_weight=1, random_state=3, **_FAST)
    assert aligned.get_params() == {
        "method": "umap",
        "alignment_weight": 1,
        "window": 1,
        "random_state": 3,
        "n_jobs": None,
        "callback": None,
        **_FAST,
    }
    inner = gnomon.AlignedMaps(gnomon.UMAP(**_FAST)).get_params()
    assert inner["method__n_neighbors"] == 5
    assert "method__n_neighbors" not in gnomon.AlignedMaps(gnomon.UMAP(**_FAST)).get_params(deep=False)


@pytest.mark.parametrize("method", ["umap", gnomon.UMAP(**_FAST), Near()], ids=["name", "object", "own class"])
def test_a_copy_makes_the_same_maps(method):
    aligned = gnomon.AlignedMaps(method, random_state=3, **(_FAST if method == "umap" else {}))
    again = clone(aligned)
    assert repr(again) == repr(aligned)
    for one, other in zip(_maps(aligned), _maps(again), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not hasattr(clone(aligned), "embeddings_")


def test_parameters_that_are_set_are_those_of_the_next_fit():
    wanted = _maps(gnomon.AlignedMaps("umap", alignment_weight=0.5, random_state=1, n_neighbors=7, max_iter=15))
    by_name = gnomon.AlignedMaps("umap", random_state=0, **_FAST).fit(_TABLES, relations="rows")
    before = by_name.embeddings_
    assert by_name.set_params(alignment_weight=0.5, random_state=1, n_neighbors=7) is by_name
    assert by_name.embeddings_ is before
    given = gnomon.UMAP(**_FAST)
    of_object = gnomon.AlignedMaps(given).set_params(alignment_weight=0.5, random_state=1, method__n_neighbors=7)
    for aligned in (by_name, of_object):
        for one, other in zip(_maps(aligned), wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    assert given.n_neighbors == 5


@pytest.mark.parametrize(
    ("params", "kind", "text"),
    [
        ({"window": 0}, ValueError, "window=0 must be an integer >= 1"),
        ({"window": 2, "n_neighbours": 3}, ValueError, r"parameter n_neighbours must be .* Did you mean n_neighbors\?"),
        ({"nope": 1}, ValueError, r"parameter nope must be of AlignedMaps, method, .*, or of UMAP .* UMAP takes a, "),
        ({"method": "tsne"}, ValueError, r"parameter n_neighbors must be .*or of TSNE \(method='tsne'\)"),
        ({"n_epochs": 3}, TypeError, "n_epochs must be written as max_iter"),
        ({"method__n_neighbors": 3}, ValueError, r"method__n_neighbors must be .*Pass n_neighbors, since"),
    ],
)
def test_what_is_refused_changes_nothing(params, kind, text):
    aligned = gnomon.AlignedMaps("umap", **_FAST)
    before = aligned.get_params()
    with pytest.raises(kind, match=text):
        aligned.set_params(**params)
    assert aligned.get_params() == before
