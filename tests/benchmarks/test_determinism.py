"""Fingerprints tell different maps apart and one differing hash is noticed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.determinism import CORES, compare, hash_results
from benchmarks.fingerprint import fingerprint, fingerprints_of_maps
from benchmarks.subjects import SUBJECTS
from benchmarks.tables import load_table

from gnomon.evaluation import scorecard
from gnomon.methods import METHODS


def test_a_fingerprint_depends_on_every_bit_and_on_shape_and_type():
    Y = np.zeros((3, 2), np.float32)
    changed = Y.copy()
    changed[2, 1] = -0.0
    prints = {fingerprint(a) for a in (Y, changed, Y.T.copy(), Y.view(np.int32))}
    assert len(prints) == 4
    assert fingerprint(np.asfortranarray(Y)) == fingerprint(Y)


def test_one_differing_hash_is_noticed():
    same = {"umap": {"1": "a", "2": "a"}, "tsne": {"1": "b", "2": "b"}}
    lines, equal = compare({"installed": same, "x86-64": same})
    assert equal
    assert len(lines) == 8 + 2
    lines, equal = compare({"installed": same, "x86-64": {**same, "tsne": {"1": "b", "2": "c"}}})
    assert not equal
    assert lines[-1].split(maxsplit=1)[1] == "DIFFERENT: 2 hashes"


def test_the_child_process_imports_gnomon_and_answers(tmp_path):
    np.savez(tmp_path / "table.npz", X=np.zeros((4, 2), np.float32))
    assert hash_results(tmp_path / "table.npz", [], [1, 2]) == {}


_ON_ANY_PROCESSOR = [
    "pca",
    "umap",
    "trimap",
    "gradient_pca",
    "gradient_pca, Nystrom",
    "robust_pca",
    "graph_robust_pca",
    "huber_pca",
    "kernel_pca",
    "landmark_mds",
    "isomap",
    "laplacian_eigenmaps",
    "conditional_kl",
    "lle",
]


def test_every_method_is_among_the_subjects_and_bits_do_not_depend_on_threads(tmp_path):
    assert {card.name for card in METHODS} <= set(SUBJECTS)
    X, _ = load_table("digits", 160)
    np.savez(tmp_path / "table.npz", X=X)
    hashes = hash_results(tmp_path / "table.npz", list(SUBJECTS), [1, 3], max_iter=5)
    assert set(hashes) == set(SUBJECTS)
    assert [name for name, found in hashes.items() if len(set(found.values())) > 1] == []
    digests = [found["1"] for found in hashes.values()]
    assert len(digests) - len(set(digests)) <= 2  # "tsne" is exact for few rows, others are all different


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_maps_do_not_depend_on_the_processor(tmp_path):
    X, _ = load_table("digits", 610)  # for LLE more rows than eigenvectors of the matrix written out are taken of
    np.savez(tmp_path / "table.npz", X=X)
    on_another = hash_results(tmp_path / "table.npz", _ON_ANY_PROCESSOR, [1], max_iter=5, core="Nehalem")
    on_this = dict(fingerprints_of_maps(X, _ON_ANY_PROCESSOR, 1, max_iter=5))
    assert [name for name in _ON_ANY_PROCESSOR if on_another[name]["1"] != on_this[name]] == []


def _scores(X):
    scores = scorecard(X, X[:, [20, 42]] + X[:, [27, 35]] / 32, measures=["steadiness", "cohesiveness"]).values()
    return [float(number).hex() for score in scores for number in (score.value, score.interval[0])]


_PROGRAM = f"""
import sys
import numpy as np
from gnomon.evaluation import scorecard
{inspect.getsource(_scores)}
print(*_scores(np.load(sys.argv[1])))
"""


def test_scores_of_clusters_do_not_depend_on_the_processor(digits, tmp_path):
    X = digits[0][::9].astype(np.float64)
    np.save(tmp_path / "table.npy", X)
    command, other = [sys.executable, "-c", _PROGRAM, str(tmp_path / "table.npy")], CORES["Nehalem"]
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Nehalem", **other}
    on_another = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()
    assert len(on_another) == 4
    assert on_another == _scores(X)
