"""Under a metric of sets a column without a 0 cannot move a point, and no explanation says that it does."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data.stored import ArrayTable
from gnomon.explanations import explain_by_blocks
from gnomon.neighbors import compute_neighbors

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")

RNG = np.random.default_rng(0)
KINDS = RNG.random((4, 24)) < 0.3
BITS = np.unique([KINDS[i % 4] ^ (RNG.random(24) < 0.2) for i in range(240)], axis=0).astype(np.float64)
N = len(BITS)
Y = BITS @ RNG.normal(size=(24, 2))
ACTIVITY = RNG.normal(6.0, 1.0, N)
GIVEN, READ = np.column_stack([BITS, ACTIVITY]), np.column_stack([BITS, np.ones(N)])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["jaccard", "rogerstanimoto"])
def test_numbers_explain_as_ones_do(form, metric):
    graph = compute_neighbors(BITS, 15, metric="jaccard")
    told, plain = (gn.explain(form(X), Y, graph=graph, metric=metric) for X in (GIVEN, READ))
    np.testing.assert_array_equal(told.importance, plain.importance)
    if metric != "jaccard":  # the graph says what was read
        graph = compute_neighbors(form(GIVEN), 15, metric=metric)
        told = gn.explain(form(GIVEN), Y, graph=graph)
    assert (told.importance[told.mask, -1] == 0.0).all()
    changed = GIVEN[0] + np.append(np.zeros(24), 5.0)
    assert np.abs(told.foretell(0, changed)).max() == 0.0
    assert gn.mean_importance(told).features[-1] == "feature 24"


def test_another_number_than_that_of_a_row_foretells_no_step():
    amounts = np.where(RNG.random(N) < 0.5, 0.0, RNG.integers(1, 9, N))
    told = gn.explain(np.column_stack([BITS, amounts]), Y + 9.0 * (amounts > 0)[:, None], metric="jaccard")
    i = int(np.flatnonzero(told.mask & (amounts > 0))[0])
    more, none = np.append(BITS[i], amounts[i] + 5.0), np.append(BITS[i], 0.0)
    assert told.foretell(i, more).tolist() == [0.0, 0.0]
    assert np.abs(told.foretell(i, none)).min() > 0.0


def test_what_the_metric_reads_as_numbers_is_explained_as_numbers():
    told = gn.explain(GIVEN, np.column_stack([Y[:, 0], ACTIVITY]), metric="ruzicka")
    assert (told.importance[:, -1] > 0.0).any()


def test_tables_in_blocks_are_read_alike():
    whole = gn.explain(GIVEN, Y, metric="jaccard", fit="forward")
    stored = explain_by_blocks(ArrayTable(GIVEN), Y, metric="jaccard", landmarks=len(GIVEN))
    np.testing.assert_allclose(stored.global_importance, whole.global_importance, atol=1e-6)
    assert stored.global_importance[-1] == 0.0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_function_of_a_map_is_flat_along_them(form):
    atlas, plain = (gn.AffineAtlas(form(X), Y, metric="jaccard") for X in (GIVEN, READ))
    asked = np.clip(0.8 * GIVEN[:20] + 0.2 * GIVEN[20:40], 0.0, None)
    asked[:, -1] = 9.0
    ones = np.column_stack([asked[:, :-1], np.ones(20)])
    np.testing.assert_allclose(atlas.transform(form(asked)), plain.transform(form(ones)), atol=1e-9)
    slopes = atlas.jacobian(form(asked))
    assert (slopes[..., -1] == 0.0).all()
    np.testing.assert_allclose(slopes[..., :-1], plain.jacobian(form(ones))[..., :-1], atol=1e-9)
    np.testing.assert_allclose(atlas.transform(form(GIVEN)), Y, atol=1e-9)
