"""The page of a table of very many columns has those that matter most, and says what was left out."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.viewer import content, document, values
from gnomon.viewer.content import PageContent
from gnomon.viewer.document import Document
from gnomon.viewer.payload import encode_features

N, D = 60, 40


def make(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    X[:, 3] += 8.0 * (np.arange(N) % 2)
    X[:, 4] = X[:, 3] + 0.01 * rng.normal(size=N)
    return X


def header(made):
    return json.loads(gzip.decompress(next(made.payload.packed())[1]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_at_most_so_many_features_are_kept_those_of_largest_importance(form):
    importance = np.random.default_rng(1).random(D)
    codes = encode_features(form(make()), byte_budget=1 << 40, importance=importance, most=7)
    np.testing.assert_array_equal(codes.kept, np.sort(np.argsort(-importance)[:7]))
    few = encode_features(form(make()), byte_budget=3 * N, importance=importance, most=7)
    assert len(few.kept) <= 7
    assert len(encode_features(form(make()), byte_budget=1 << 40).kept) == D


def test_a_wide_page_says_what_it_has_and_groups_nothing_by_itself(monkeypatch):
    made = gn.map(make(), "pca")
    whole = header(Document.of(PageContent.of(made), None))
    assert whole["features"]["kept"] == D
    assert not any("go together" in note for note in whole["notes"])
    monkeypatch.setattr(content, "MOST_GROUPED", 10)
    for room in (document, values):
        monkeypatch.setattr(room, "MOST_FEATURES", 10)
    fresh = gn.map(make(), "pca")
    wide = header(Document.of(PageContent.of(fresh), None))
    assert wide["features"]["kept"] == 10
    assert len(wide["features"]["names"]) == D
    assert fresh._groups is None
    assert f"Values of 10 of {D} features are included (largest importance for this map)." in wide["notes"]
    assert sum("go together was not looked for: each is explained by itself" in note for note in wide["notes"]) == 1
    fresh.feature_groups()  # groups that are known are shown
    assert not any("go together" in note for note in header(Document.of(PageContent.of(fresh), None))["notes"])


def test_a_wide_table_is_measured_by_some_of_its_columns(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(300, 4000)).astype(np.float32)
    whole = values.measure_values(rows, pixels=False)
    monkeypatch.setattr(values, "MOST_FEATURES", 2000)
    monkeypatch.setattr(values, "_MEASURED_FEATURES", 500)
    assert values.measure_values(rows, pixels=False).n_bytes == pytest.approx(whole.n_bytes / 2, rel=0.02)
    assert values.measure_values(rows, pixels=True).n_bytes == whole.n_bytes
