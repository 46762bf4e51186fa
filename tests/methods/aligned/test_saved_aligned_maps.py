"""Aligned maps that go through a file are the same maps, and nothing else that a file holds is taken for ones."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from tests.archives import described, read_parts, write_changed

import gnomon

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(50, 4)), columns=list("abcd"), index=[f"row {i}" for i in range(50)])
LATER = FRAME.iloc[8:].assign(e=1.0) + 0.1
FAST = {"n_neighbors": 5, "max_iter": 15}
NEW_PROCESS = """
import sys
import numpy as np
import gnomon
maps = gnomon.load(sys.argv[1])
(movement,) = maps.movement(n_repeats=1)
placed = [one.place(np.ones((2, one.n_features_in_))) for one in maps.estimators_]
again = maps.fit(maps._tables, ids=[[*map(str, own)] for own in maps.identities_])
np.savez(sys.argv[2], *placed, *again.embeddings_, movement.distances, movement.null, movement.p_values)
"""


def _answers(maps):
    (movement,) = maps.movement(n_repeats=1)
    placed = [one.place(np.ones((2, one.n_features_in_))) for one in maps.estimators_]
    return [*placed, *maps.embeddings_, movement.distances, movement.null, movement.p_values]


@pytest.fixture(scope="module")
def made():
    return gnomon.AlignedMaps("umap", alignment_weight=0.3, random_state=3, **FAST).fit([FRAME, LATER])


@pytest.fixture(scope="module")
def content(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("aligned") / "maps.gnomon"
    made.save(path)
    return read_parts(path)


def test_a_new_process_gives_the_same_bytes(made, tmp_path):
    made.save(tmp_path / "maps.gnomon")
    subprocess.run([sys.executable, "-c", NEW_PROCESS, tmp_path / "maps.gnomon", tmp_path / "a.npz"], check=True)
    found = np.load(tmp_path / "a.npz")
    for key, wanted in zip(found.files, _answers(made), strict=True):
        assert found[key].tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    ("method", "tables", "parameters"),
    [
        ("umap", (FRAME, LATER), FAST),
        (gnomon.TSNE(perplexity=5, max_iter=15), (FRAME.to_numpy(np.float32),) * 3, {}),
        ("pacmap", (sp.csr_array(np.maximum(FRAME.to_numpy() + 1.0, 0.0)), FRAME.to_numpy()[:, :3]), {}),
    ],
    ids=["frames", "object", "sparse"],
)
def test_what_is_loaded_is_what_was_saved(method, tables, parameters, tmp_path):
    maps = gnomon.AlignedMaps(method, random_state=np.random.default_rng(0), **parameters)
    maps.fit(list(tables), **({} if tables[0] is FRAME else {"relations": "rows"})).save(tmp_path / "maps")
    loaded = gnomon.load(tmp_path / "maps")
    assert type(loaded) is gnomon.AlignedMaps
    assert repr(loaded) == repr(maps).replace(f"random_state={maps.random_state!r}", f"random_state={maps.seed_}")
    known, wanted = loaded.get_params(), maps.get_params()
    assert {**wanted, "random_state": maps.seed_, "method": 0} == {**known, "method": 0}
    assert loaded.timings_ == maps.timings_
    for name in ("embeddings_", "identities_"):
        for one, other in zip(getattr(loaded, name), getattr(maps, name), strict=True):
            assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    for one, other in zip(loaded.estimators_, maps.estimators_, strict=True):
        assert one.spring_lengths_.tobytes() == other.spring_lengths_.tobytes()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "maps").read_bytes()


def test_what_a_file_cannot_hold_is_named_with_a_remedy(tmp_path):
    with pytest.raises(NotFittedError):
        gnomon.AlignedMaps().save(tmp_path / "x")
    own = gnomon.AlignedMaps(gnomon.UMAP(**FAST), callback=lambda progress: False).fit([FRAME, LATER])
    with pytest.raises(TypeError, match=r"the maps must be ones .*callback is a function, and a file holds no code"):
        own.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def _table(key, value):
    return described("tables", 1, key, value=value)


def _numbered_twice(arrays, description):
    key = description["tables"][1]["identities"]["array"]
    arrays[key] = np.r_[arrays[key][:-1], arrays[key][0]]


def _with_a_gap(arrays, description):
    for table in description["tables"]:
        key = table["identities"]["array"]
        arrays[key] = arrays[key] + 1


CHANGES = {
    "more": (described("more", value=1), "its description of the maps is not"),
    "parameter": (described("parameters", "window", value=0), "window=0 must be an integer"),
    "further parameter": (described("parameters", "nope", value=0), "are not those of aligned maps"),
    "callback": (described("parameters", "callback", value="print"), "are not those of aligned maps"),
    "method": (described("method", "method", value="PCA"), "(must be the name of a neighbour|parameters of PCA are)"),
    "code": (described("method", "method", value="Popen"), "'Popen' is no method"),
    "name": (described("given", value={"name": "tsn", "parameters": []}), "method='tsn' must be a neighbour embed"),
    "given": (described("given", value={"name": "umap", "parameters": ["nope"]}), "the method is given as"),
    "seed": (described("seed", value=-1), "their seed is -1"),
    "timings": (described("timings", value={"dict": {"layout": "soon"}}), "timings are no seconds"),
    "one table": (lambda a, d: d["tables"].pop(), "not maps of two tables or more"),
    "no table": (_table("values", None), "a table has other rows"),
    "text": (_table("values", {"texts": ["a"]}), "a table has other rows"),
    "other table": (lambda a, d: d["tables"][1].update(values=d["tables"][0]["values"]), "a table has other rows"),
    "other rows": (_table("identities", None), "rows of a table are not numbered"),
    "twice": (_numbered_twice, "each by another number"),
    "gap": (_with_a_gap, "numbered without gaps"),
    "attribute": (described("tables", 0, "method", "fitted", "transform", value=None), "is no fitted attribute"),
    "positions": (described("tables", 0, "method", "fitted", "embedding_", value=None), "has no positions"),
    "shared": (_table("values", {"shared": "X", "dtype": "f4"}), "complete gnomon-aligned-maps file"),
    "more arrays": (lambda a, d: a.update(surprise=np.zeros(3)), "arrays and describes"),
}


@pytest.mark.parametrize(("change", "fact"), CHANGES.values(), ids=CHANGES)
def test_a_file_with_a_wrong_part_is_refused(content, tmp_path, change, fact):
    write_changed(tmp_path / "x", content, change, sealed=True)
    with pytest.raises(ValueError, match=r"^load: file '.*' must be a complete gnomon-aligned-maps file .*") as found:
        gnomon.load(tmp_path / "x")
    found.match(fact)


def test_a_changed_number_is_seen_by_the_checksum(content, tmp_path):
    write_changed(tmp_path / "x", content, lambda a, d: a.update(method_0=a["method_0"] + 1))
    with pytest.raises(ValueError, match="another checksum"):
        gnomon.load(tmp_path / "x")
