"""A map of single cells that shows how much was read of each cell, and not what the cells are, says so."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data import Representation
from gnomon.data.depth import above_floor, are_even, depth_of_table, find_empty, read_depth, totals_of_counts
from gnomon.exceptions import DataWarning
from gnomon.maps.depth import share_of_leading, share_of_map, share_of_place, share_of_spread, warn_of_depth

anndata = pytest.importorskip("anndata")
N, GENES = 200, 80
WARNED = "map shows mostly the depth of each cell"


def make_counts(kinds=1, spread=0.7, seed=0):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.6, 1.0, GENES) + 0.05
    kind = rng.integers(0, kinds, N)
    rates = rates * np.where(np.arange(GENES) // 10 == kind[:, None], 6.0, 1.0)
    depth = 1500 * np.exp(rng.normal(0, spread, N))
    return rng.poisson(rates / rates.sum(axis=1, keepdims=True) * depth[:, None]).astype(np.float32)


def normalised(counts):
    return np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)


def make_cells(X, components_of=None, **about):
    cells = anndata.AnnData(sp.csr_matrix(X), obs=pd.DataFrame(about, index=[f"c{i}" for i in range(len(X))]))
    if components_of is not None:
        cells.obsm["X_pca"] = gn.PCA(n_components=10).fit_transform(components_of).astype(np.float32)
    return cells


def told(made):
    return [text for text in made.notes if WARNED in text]


@pytest.mark.parametrize("form", ["counts", "logarithms"])
@pytest.mark.parametrize("components", [True, False])
def test_components_of_counts_are_said_to_show_depth(form, components):
    counts = make_counts()
    X = counts if form == "counts" else np.log1p(counts)
    cells = make_cells(X, X if components else None)
    with pytest.warns(DataWarning, match=rf"{WARNED}.*Run scanpy.pp.normalize_total and scanpy.pp.log1p before"):
        made = gn.map(cells, "pca")
    assert len(told(made)) == 1
    assert told(made)[0] in made.report(verdicts=False)


def make_noisy_counts(kinds=1, depths=None, seed=0):
    """Counts with more noise than Poisson's, whose many components hold little of a depth that differs little."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, kinds, 300)
    rates = np.exp(rng.normal(-0.5, 1.2, 200)) * np.where(np.arange(200) // 20 == kind[:, None], 4.0, 1.0)
    rates *= (np.exp(rng.normal(0, 0.35, 300)) * np.asarray(depths or [1.0] * kinds)[kind])[:, None]
    return rng.poisson(rng.gamma(2.0, rates / 2.0)).astype(np.float64)


def with_components(X, **about):
    cells = make_cells(X, **about)
    fitted = gn.PCA(n_components=30).fit(X)
    cells.obsm["X_pca"], cells.varm["PCs"] = fitted.transform(X).astype(np.float32), fitted.components_.T
    return cells


@pytest.mark.parametrize("form", ["counts", "logarithms"])
def test_depth_that_many_noisy_components_dilute_is_told_too(form):
    counts = make_noisy_counts()
    X = counts if form == "counts" else np.log1p(counts)
    cells = with_components(X)
    assert share_of_spread(cells.obsm["X_pca"], counts.sum(axis=1)) < 1 / 3
    with pytest.warns(
        DataWarning, match=r"shows the depth .* not divided by it: the place on the map tells \d\d% of it"
    ):
        gn.map(cells, "pca")


def test_depth_in_one_component_is_told_where_kinds_fill_the_map():
    rng = np.random.default_rng(0)
    counts = make_noisy_counts(kinds=3)
    elsewhere = rng.normal(size=(len(counts), 2))
    with pytest.warns(DataWarning, match=r"not divided by it: it is \d\d% of one of the two coordinates that spread"):
        warn_of_depth(
            counts.sum(axis=1), counts, None, gn.PCA(n_components=30).fit_transform(np.log1p(counts)), elsewhere
        )


@pytest.mark.parametrize("standardised", [True, False])
@pytest.mark.filterwarnings("error:.*depth of each cell")
def test_kinds_that_differ_in_depth_by_nature_are_no_fault_after_normalising(standardised):
    counts = make_noisy_counts(kinds=3, depths=(1.0, 3.0, 2.0))
    X = normalised(counts)
    if standardised:
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    made = gn.map(with_components(X, total_counts=counts.sum(axis=1)), "pca")
    assert share_of_map(made.embedding, np.log1p(counts.sum(axis=1))) > 1 / 2


def test_every_way_to_a_map_says_so():
    counts = make_counts()
    cells = make_cells(counts, counts)
    with pytest.warns(DataWarning, match=WARNED):
        gn.anndata.embed(cells, "pca", key_added="X_plane")
    with pytest.warns(DataWarning, match=WARNED):
        assert told(gn.anndata.to_map(cells, "plane"))


@pytest.mark.parametrize("source", ["total_counts", "n_counts", "layer", "raw"])
def test_depth_is_told_by_what_the_object_keeps(source):
    counts = make_counts()
    cells = make_cells(normalised(counts), counts, **({source: counts.sum(axis=1)} if "counts" in source else {}))
    if source == "layer":
        cells.layers["counts"] = sp.csr_matrix(counts)
    if source == "raw":
        cells.raw = make_cells(counts)
    with pytest.warns(DataWarning, match=WARNED):
        gn.map(cells, "pca")


@pytest.mark.parametrize("kinds", [1, 4])
@pytest.mark.parametrize("components", [True, False])
@pytest.mark.filterwarnings("error:.*depth of each cell")
def test_normalised_cells_are_not_said_to_show_depth(kinds, components):
    counts = make_counts(kinds)
    X = normalised(counts)
    cells = make_cells(X, X if components else None, total_counts=counts.sum(axis=1))
    if components:
        cells.varm["PCs"] = gn.PCA(n_components=10).fit(X).components_.T
    assert not told(gn.map(cells, "pca"))


@pytest.mark.filterwarnings("error:.*depth of each cell")
def test_cells_of_nearly_equal_depth_are_not_said_to_show_it():
    counts = make_counts(spread=0.01)
    assert not told(gn.map(make_cells(counts), "pca"))


@pytest.mark.filterwarnings("error")
def test_coordinates_of_another_tool_that_have_nothing_of_the_depth_are_not_said_to_show_it():
    rng, counts = np.random.default_rng(0), make_counts()
    places = rng.normal(size=(N, 2)).astype(np.float32)
    given = Representation("X_other", rng.normal(size=(N, 10)).astype(np.float32))
    warn_of_depth(counts.sum(axis=1).astype(np.float64), counts, given, None, places)


def test_counts_are_summed_as_they_are_and_after_their_logarithm():
    counts = make_counts()
    expected = counts.sum(axis=1, dtype=np.float64)
    for X in (counts, sp.csr_array(counts)):
        np.testing.assert_array_equal(totals_of_counts(X), expected)
    for X in (np.log1p(counts), sp.csr_array(np.log1p(counts))):
        np.testing.assert_allclose(totals_of_counts(X), expected, rtol=1e-4)
    for changed in (np.log2(1 + counts), np.log10(1 + counts), np.sqrt(counts), 0.73 * counts, np.log(counts + 0.5)):
        for X in (changed, changed.astype(np.float32)):
            np.testing.assert_allclose(totals_of_counts(X), expected, rtol=1e-4)
    assert totals_of_counts(normalised(counts)) is None
    assert are_even(normalised(counts))
    noisy = normalised(make_noisy_counts(kinds=3))
    assert are_even(noisy / np.log(2))
    assert are_even(sp.csr_array(noisy / np.log(10)))
    assert not are_even(np.log2(1 + counts))
    assert are_even(counts / counts.sum(axis=1, keepdims=True))
    assert not are_even(counts)
    assert not are_even(np.log1p(counts))


def standardised(X):
    deviation = X.std(axis=0)
    return np.minimum((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), 10.0).astype(np.float32)


def as_cells(X):
    return anndata.AnnData(np.asarray(X, dtype=np.float32), obs=pd.DataFrame(index=[f"c{i}" for i in range(len(X))]))


@pytest.mark.parametrize("n_answers", [5, 7])
@pytest.mark.filterwarnings("error:.*depth of each cell")
def test_answers_on_a_scale_are_no_counts_however_they_are_written(n_answers):
    rng = np.random.default_rng(n_answers)
    answers = np.clip(np.round(n_answers / 2 + rng.normal(size=(300, 1)) + rng.normal(size=(300, 40))), 1, n_answers)
    for X in (answers, answers - 1, standardised(answers)):
        assert totals_of_counts(X) is None
        assert not told(gn.map(as_cells(X), "pca"))


def test_small_counts_of_few_genes_are_no_answers():
    for seed in range(10):
        for mean in (0.2, 0.5, 1.0, 5.0):
            rng = np.random.default_rng(seed)
            counts = rng.poisson(mean * rng.lognormal(0.0, 0.5, size=(300, 1)) * rng.lognormal(0.0, 1.0, size=(1, 30)))
            np.testing.assert_array_equal(totals_of_counts(counts), counts.sum(axis=1))


def test_counts_are_found_again_after_they_were_shifted_or_standardised():
    counts = make_noisy_counts()
    expected = counts.sum(axis=1) - counts.min(axis=0).sum()  # no gene is in all cells
    np.testing.assert_array_equal(counts.min(axis=0), 0)
    has_floor = (counts == 0).mean(axis=0) >= 0.1
    for X in (standardised(counts), standardised(np.log1p(counts)), np.log1p(counts) - 1, counts - 1.0):
        assert totals_of_counts(X) == pytest.approx(counts[:, has_floor].sum(axis=1), rel=0.1)
    assert np.corrcoef(totals_of_counts(standardised(counts)), expected)[0, 1] > 0.95
    for X in (normalised(counts) - 1, standardised(normalised(counts)), np.random.default_rng(0).normal(size=(50, 9))):
        assert totals_of_counts(X) is None
    assert are_even(normalised(counts) - 1)
    assert above_floor(np.random.default_rng(0).normal(size=(50, 9))) is None
    assert above_floor(counts) is None


@pytest.mark.parametrize(
    "form", [standardised, lambda counts: standardised(np.log1p(counts)), lambda counts: np.log1p(counts) - 1]
)
def test_depth_is_told_of_counts_that_were_standardised_or_shifted(form):
    with pytest.warns(DataWarning, match="shows (mostly )?the depth of each cell"):
        gn.map(as_cells(form(make_noisy_counts())), "pca")


def test_cells_that_hold_nothing_are_named_and_hide_no_depth():
    counts = make_noisy_counts()
    counts[[3, 7]] = 0
    for X in (counts, sp.csr_array(counts), standardised(np.log1p(counts)), counts - 1.0):
        np.testing.assert_array_equal(find_empty(X), [3, 7])
    assert not len(find_empty(make_counts()))
    counts = make_noisy_counts(kinds=3, seed=1)
    counts[[3, 7]] = 0
    with pytest.warns(DataWarning, match="shows the depth of each cell"):
        made = gn.map(make_cells(counts), "pca")
    assert sum("2 of 300 cells hold nothing in the table that explains (c3, c7)" in note for note in made.notes) == 1
    shares = normalised(np.maximum(counts, 1e-30))
    shares[[3, 7]] = 0
    assert are_even(shares)


@pytest.mark.filterwarnings("error:.*depth of each cell")
def test_standardised_genes_are_said_to_be_and_standardised_tables_are_not():
    rng = np.random.default_rng(0)
    cells = as_cells(standardised(normalised(make_noisy_counts())))
    cells.layers["log"] = normalised(make_noisy_counts())
    note = [text for text in gn.map(cells, "pca").notes if "divided by their standard deviations" in text]
    assert len(note) == 1
    assert "pass layer='log'" in note[0]
    for table in (rng.normal(size=(N, GENES)), rng.standard_t(5, size=(N, GENES)), rng.random((N, GENES))):
        scaled = (table - table.mean(axis=0)) / table.std(axis=0)
        assert not any("divided by their" in text for text in gn.map(as_cells(scaled), "pca").notes)
    assert not any("divided by their" in text for text in gn.map(np.asarray(cells.X), "pca").notes)


def test_shares_are_those_of_a_line_and_a_plane():
    rng = np.random.default_rng(0)
    depth = rng.normal(size=N)
    rows = np.column_stack([3 * depth, rng.normal(size=(N, 2))])
    fitted = np.column_stack([np.ones(N), depth])
    left = rows - fitted @ np.linalg.lstsq(fitted, rows, rcond=None)[0]
    expected = 1 - (left**2).sum() / ((rows - rows.mean(axis=0)) ** 2).sum()
    assert share_of_spread(rows, depth) == pytest.approx(expected)
    assert share_of_spread(sp.csr_array(rows), depth) == pytest.approx(expected)
    by_column = [np.corrcoef(column, depth)[0, 1] ** 2 for column in rows.T]
    assert share_of_leading(rows * [1.0, 1.0, 0.1], depth) == pytest.approx(by_column[0])
    assert share_of_leading(rows * [0.01, 1.0, 1.0], depth) == pytest.approx(max(by_column[1:]))
    assert share_of_map(rows[:, :2], depth) == pytest.approx(1.0)
    assert share_of_map(rows[:, 1:], depth) < 0.1


@pytest.mark.parametrize(("share", "told"), [(0.32, False), (0.34, True)])
def test_a_third_of_the_spread_is_said_to_be_depth_and_less_is_not(share, told):
    rng = np.random.default_rng(0)
    depth = np.exp(8.0 + 0.5 * rng.normal(size=N))
    apart = np.linalg.qr(np.column_stack([np.ones(N), np.log1p(depth), depth, rng.normal(size=N)]))[0]
    mapped = np.column_stack([np.sqrt(share) * apart[:, 1], np.sqrt(1.0 - share) * apart[:, 3]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_depth(depth, rng.normal(size=(N, 4)), None, mapped, rng.normal(size=(N, 2)))
    assert (
        any(f"depth of each cell, the counts that were read of it: {share:.0%}" in str(w.message) for w in caught)
        == told
    )


def make_wide_counts():
    """One kind of cells, whose depths differ fortyfold."""
    rng = np.random.default_rng(0)
    rates, depth = np.exp(rng.normal(0.0, 1.2, 200)), np.exp(rng.uniform(np.log(300), np.log(12000), 300))
    return rng.poisson(rng.gamma(5.0, 0.2, (300, 200)) * rates / rates.sum() * depth[:, None]).astype(np.float32)


@pytest.mark.parametrize("told_by", ["total_counts", "log1p_total_counts", "layer", "n_genes", "zeros"])
def test_depth_that_normalising_leaves_in_the_map_is_told(told_by):
    counts = make_wide_counts()
    columns = {
        "total_counts": counts.sum(axis=1),
        "log1p_total_counts": np.log1p(counts.sum(axis=1)),
        "n_genes": (counts > 0).sum(axis=1),
    }
    cells = with_components(normalised(counts), **({told_by: columns[told_by]} if told_by in columns else {}))
    if told_by == "layer":
        cells.layers["counts"] = sp.csr_matrix(counts)
    match = r"the place on the map tells \d\d% of the depth of each cell .* though its counts were divided by it"
    with pytest.warns(DataWarning, match=match):
        made = gn.map(cells, "pca")
    assert any("within its islands too" in note for note in made.notes)


def test_depth_is_read_of_what_the_object_keeps_before_genes_are_counted():
    counts = make_wide_counts()
    totals, genes = counts.sum(axis=1, dtype=np.float64), (counts > 0).sum(axis=1).astype(np.float64)
    X = normalised(counts)
    logarithms = {"log1p_total_counts": np.log1p(totals), "n_genes": genes}
    np.testing.assert_allclose(read_depth(make_cells(X, **logarithms), X, np.asarray), totals, rtol=1e-9)
    np.testing.assert_array_equal(read_depth(make_cells(X, n_genes_by_counts=genes + 1), X, np.asarray), genes + 1)
    np.testing.assert_array_equal(read_depth(make_cells(X), X, np.asarray), genes)
    np.testing.assert_array_equal(read_depth(make_cells(X), sp.csr_array(X), np.asarray), genes)
    unlike = X * np.linspace(0.5, 1.5, len(X))[:, None]  # no counts that were divided by a depth
    assert read_depth(make_cells(unlike), unlike, np.asarray) is None


def test_the_place_tells_what_varies_within_islands():
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(400, 2))
    assert share_of_place(places, 3.0 * places[:, 0] + places[:, 1]) > 0.9
    assert share_of_place(places, rng.normal(size=400)) < 0.1
    kind = np.arange(400) // 200
    apart = places + 5.0 * kind[:, None]
    assert share_of_place(apart, 10.0 * kind + rng.normal(size=400)) < 0.1
    assert share_of_place(apart, 10.0 * kind + 3.0 * apart[:, 0]) > 0.9
    assert share_of_place(apart, np.full(400, 7.0)) == 0.0
    apart[:50] = np.nan
    assert share_of_place(apart, 3.0 * places[:, 0]) > 0.9


def make_catches(deepest=100.0, seed=0):
    """Counts of 60 kinds, common and rare, in 120 samples of which up to `deepest` times as much was read."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(0.3 * np.exp(rng.normal(0, 2, 60)), 120)
    depth = np.exp(rng.uniform(np.log(1000), np.log(1000 * deepest), 120)).astype(int)
    return np.stack([rng.multinomial(n, share) for n, share in zip(depth, shares, strict=True)])


ROWS_TOLD = r"the depth of each row, the sum of its counts: .*\d\d% of .* np.log1p\(1e4 \* X / X.sum"


@pytest.mark.parametrize("form", [pd.DataFrame, np.asarray, sp.csr_array, np.log1p])
@pytest.mark.parametrize("options", [{}, {"n_pcs": 10}], ids=["columns", "components"])
def test_tables_of_counts_of_unequal_depth_are_told_whatever_holds_them(form, options):
    with pytest.warns(DataWarning, match=ROWS_TOLD):
        made = gn.map(form(make_catches()), "pca", **options)
    assert sum("depth of each row" in text for text in made.notes) == 1


@pytest.mark.filterwarnings("error:.*depth of each row")
def test_counts_that_were_divided_or_are_compared_by_their_shares_are_not_told():
    counts = make_catches().astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    ratios = np.log(shares + 1e-4)
    for X in (np.log1p(1e4 * shares), ratios - ratios.mean(axis=1, keepdims=True), make_catches(1.02)):
        gn.map(X, "pca")
    for metric in ("hellinger", "cosine"):
        gn.map(counts, "mds", metric=metric)


CHANGED = {
    "log2 of 1 +": lambda X: np.log2(1.0 + X),
    "log10 of 1 +": lambda X: np.log10(1.0 + X),
    "log of 0.5 +": lambda X: np.log(X + 0.5),
    "log2 of 0.001 +, of 32 bits": lambda X: np.log2(X + 1e-3).astype(np.float32),
    "roots": np.sqrt,
    "roots of a sparse table": lambda X: sp.csr_array(np.sqrt(X)),
    "halves": lambda X: 0.5 * X,
    "log2 of a sparse table": lambda X: sp.csr_array(np.log2(1.0 + X)),
}


@pytest.mark.parametrize("way", CHANGED)
def test_counts_are_known_by_what_they_were_changed_to(way):
    counts = make_catches()
    np.testing.assert_allclose(depth_of_table(CHANGED[way](counts)), counts.sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("way", [np.log1p, np.sqrt, lambda X: 1.0 * X, lambda X: np.log10(X + 0.5)])
def test_counts_are_known_after_their_columns_were_standardised(way):
    counts = make_catches()
    changed = way(counts)
    standardised = (changed - changed.mean(axis=0)) / changed.std(axis=0)
    found = depth_of_table(standardised)
    assert np.corrcoef(np.log(found), np.log(counts.sum(axis=1)))[0, 1] > 0.95  # common columns are not among them
    assert depth_of_table(changed - 3.0) is None


def test_other_numbers_are_no_counts_that_were_changed():
    rng = np.random.default_rng(0)
    amounts = np.exp(2 * rng.normal(size=(200, 1)) + rng.normal(size=(200, 40)) + rng.normal(0, 2, 40))
    rain = np.where(rng.random((200, 40)) < 0.5, 0.0, rng.gamma(0.5, 10.0, (200, 40))).round(1)
    shares = make_catches() / make_catches().sum(axis=1, keepdims=True)
    for table in (
        amounts,
        amounts.round(1),
        np.sqrt(amounts.round(1)),
        np.rint(5 * amounts) / 5,
        rain - rain.mean(axis=0),
        np.where(rng.random(amounts.shape) < 0.4, 0.0, amounts),
        np.maximum(rng.normal(size=(200, 40)), 0.0),
        np.where(rng.random(amounts.shape) < 0.1, np.nan, amounts.round()),
        np.sqrt(shares),
        np.log2(1 + 1e4 * shares),
        *[CHANGED[way](rng.integers(0, 5, (200, 40))) for way in CHANGED],
    ):
        assert depth_of_table(table) is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_even_columns_are_counts_where_rows_share_them_out_otherwise(form):
    rng = np.random.default_rng(0)
    depth = np.exp(rng.uniform(6, 10, (200, 1)))
    samples = rng.poisson(depth * rng.dirichlet(np.full(60, 2.0), 200)).astype(float)
    weekdays = rng.poisson(depth * np.exp(rng.normal(0, 0.3, (200, 60))) / 60).astype(float)
    assert samples.sum(axis=0).max() < 2 * np.median(samples.sum(axis=0))
    np.testing.assert_allclose(depth_of_table(form(samples)), samples.sum(axis=1))
    assert depth_of_table(form(weekdays)) is None
    assert depth_of_table(form(samples + 1)) is None  # nothing that was not found
    assert depth_of_table(form(np.minimum(samples, 200.0))) is None


def test_tables_of_whole_numbers_whose_sums_mean_something_are_no_counts_of_unequal_depth():
    counts = make_catches()
    assert depth_of_table(counts) is not None
    np.testing.assert_allclose(depth_of_table(np.log1p(counts)), counts.sum(axis=1), rtol=1e-9)
    assert depth_of_table(counts[:, :20]) is None  # few columns
    rng = np.random.default_rng(0)
    ability = rng.normal(size=(200, 1))
    answers = np.clip(np.rint(2 + rng.normal(0, 1.5, 60) + ability + rng.normal(size=(200, 60))), 0, 4)
    marks = np.rint(50 + 12 * (ability + rng.normal(size=(200, 60))))
    pixels = np.minimum(np.rint(np.exp(ability) * rng.gamma(1.0, 200.0, 60)), 255.0)
    genotypes = rng.binomial(2, rng.beta(0.3, 3, 400), (200, 400))
    towns = rng.poisson(np.exp(8 + ability) * rng.dirichlet(np.full(40, 50.0), 200))
    beside_age = np.column_stack([rng.integers(20, 80, 200), genotypes])
    for table in (answers, marks, pixels, genotypes, towns, beside_age, counts - 1.0, counts + 0.5):
        assert depth_of_table(np.asarray(table, dtype=float)) is None
