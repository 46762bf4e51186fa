"""A report that finds clusters and cannot tell islands of the map says how both can be."""

from types import SimpleNamespace

import numpy as np
import pytest

import gnomon as gn
from gnomon.maps import verdicts

TOLD = "not every cluster is such an island"


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3)) + 9.0 * (np.arange(240)[:, None] % 2)
    return gn.Map(X, X[:, :2].astype(np.float32))


@pytest.mark.parametrize(("answers", "told"), [(("yes", "cannot be told"), 1), (("yes", "no"), 1), (("yes", "yes"), 0)])
def test_islands_that_are_no_groups_are_explained_beside_clusters(two, monkeypatch, answers, told):
    gaps = [SimpleNamespace(answer=answer) for answer in answers]
    monkeypatch.setattr(verdicts, "shown_verdicts", lambda result: (gaps, None))
    found = two.clusters()
    assert len(found) == 2
    assert verdicts.islands_beside(two, found).count(TOLD) == told
    assert two.report(verdicts=False).count(TOLD) == 0


@pytest.mark.parametrize(
    ("n_worst", "n_open", "told"),
    [
        (0, 0, "none is surely other in the data than in the map."),
        (1, 0, "1 is surely other in the data than in the map:"),
        (2, 1, "2 are surely other in the data than in the map, and 1 cannot be told:"),
        (3, 0, "3 are surely other in the data than in the map:"),
        (4, 5, "4 are surely other in the data than in the map, and 5 cannot be told, such as:"),
    ],
)
def test_sizes_and_distances_that_are_other_in_the_data_are_counted_and_three_are_named(
    two, monkeypatch, n_worst, n_open, told
):
    class Drawn(list):
        worst = [SimpleNamespace(line=f"line {k}") for k in range(n_worst)]  # noqa: RUF012

    drawn = Drawn(SimpleNamespace(answer="cannot be told" if k < n_open else "yes") for k in range(9))
    gaps = SimpleNamespace(summary=lambda: "gaps")
    monkeypatch.setattr(verdicts, "shown_verdicts", lambda result: (gaps, drawn))
    lines = [f"line {k}" for k in range(min(n_worst, 3))]
    assert verdicts.verdict_lines(two) == ["gaps", f"Of 9 sizes, densities and distances of classes, {told}", *lines]


def test_nothing_is_said_where_islands_are_not_judged_or_there_are_no_clusters(two, monkeypatch):
    monkeypatch.setattr(verdicts, "shown_verdicts", lambda result: None)
    assert verdicts.islands_beside(two, two.clusters()) == ""
    gaps = [SimpleNamespace(answer="no")]
    monkeypatch.setattr(verdicts, "shown_verdicts", lambda result: (gaps, None))
    one = gn.Map(two.X[::2], two.embedding[::2])
    assert len(one.clusters()) == 0
    assert verdicts.islands_beside(one, one.clusters()) == ""
