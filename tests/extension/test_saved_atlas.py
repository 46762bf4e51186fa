"""An atlas that goes through a file is the same function; a file of anything else is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.archives import read_parts, write_changed

import gnomon as gn
from gnomon.neighbors import compute_neighbors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = X[:, :2] + 0.1 * X[:, 2:4] ** 2
NEW = X[:4] + 0.01


def answers(atlas, rows):
    trip = atlas.round_trip()
    found = [*atlas.predict(rows), atlas.jacobian(rows), atlas.inverse_transform(Y[:3]), atlas.novelty(rows)]
    found += [getattr(trip, name) for name in vars(trip) if isinstance(getattr(trip, name), np.ndarray)]
    return [array.tobytes() for array in found]


@pytest.mark.parametrize(
    ("table", "places", "options"),
    [
        (X, Y, {}),
        (X.astype(np.float32), Y, {"n_neighbors": 7}),
        (np.concatenate([X, X[:9]]), np.concatenate([Y, Y[:9] + 0.1]), {}),
        (X, np.where(np.arange(60)[:, None] < 5, np.nan, Y), {"metric": "manhattan"}),
        (sp.csr_array(np.where(X > 0, X, 0.0)), Y, {}),
        (X, Y, {"graph": compute_neighbors(X, 20, metric="cosine"), "n_jobs": 1}),
        (pd.DataFrame(X, columns=list("abcde")), Y, {}),
    ],
    ids=["float64", "float32", "equal rows", "rows without a place", "sparse", "graph", "names"],
)
def test_a_loaded_atlas_answers_with_the_same_bytes(table, places, options, tmp_path):
    made = gn.AffineAtlas(table, places, **options)
    made.save(tmp_path / "atlas.gnomon")
    rows = table[:4] if isinstance(table, (np.ndarray, pd.DataFrame)) else table[[0, 1, 2, 3]]
    before = answers(made, rows)
    for other in (gn.load(tmp_path / "atlas.gnomon"), pickle.loads(pickle.dumps(made))):
        assert answers(other, rows) == before
        assert other.n_jobs == made.n_jobs
        assert (other.n_neighbors_, other.ridge_, other.law_) == (made.n_neighbors_, made.ridge_, made.law_)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("atlas") / "atlas.gnomon"
    gn.AffineAtlas(pd.DataFrame(X, columns=list("abcde")), Y).save(path)
    return read_parts(path)


def load_changed(content, path, change, *, sealed=True):
    write_changed(path, content, change, sealed=sealed)
    return gn.load(path)


def part(name, make):
    """Change the array of an entry."""

    def change(arrays, description):
        node = description["atlas"][name]
        key = node["fields"]["indices"]["array"] if name == "graph" else node["array"]
        arrays[key] = make(arrays[key])

    return change


def entry(name, value):
    return lambda arrays, description: description["atlas"].update({name: value})


def at(place, value):
    def make(array):
        array[place] = value
        return array

    return make


CHANGES = {
    "checksum": (lambda a, d: a["method_0"].fill(0), "another checksum"),
    "more arrays": (lambda a, d: a.update(method_9=np.zeros(3)), "arrays and describes"),
    "unused array": (
        lambda a, d: (a.update({f"method_{len(a)}": np.zeros(3)}), d.update(n_arrays=len(a))),
        "arrays that no atlas has",
    ),
    "no entries": (lambda a, d: d.update(atlas={}), "the atlas is described by"),
    "entries as a list": (lambda a, d: d.update(atlas=[]), "its description is not"),
    "infinite X": (part("X", at((3, 3), np.inf)), "X must be"),
    "X of text": (entry("X", "rows"), "X must be"),
    "places of fewer": (part("Y", lambda Y: Y[1:]), "the places are not"),
    "places in single precision": (part("Y", lambda Y: Y.astype(np.float32)), "the places are not"),
    "place without end": (part("Y", at((3, 1), np.nan)), "a place is not finite"),
    "members out": (part("members", at(3, 60)), "a number of a point is outside"),
    "members of fewer": (part("members", lambda m: m[:9]), "the numbers of the points"),
    "neighbour out": (part("graph", at((5, 3), 2**30)), "neighbour 1073741824, outside"),
    "no graph": (entry("graph", None), "graph must be a NeighborGraph"),
    "names of fewer": (entry("feature_names", {"texts": ["a"]}), "one name for each feature"),
    "threads": (entry("n_jobs", "all"), "n_jobs is 'all'"),
}


@pytest.mark.parametrize(("change", "fact"), CHANGES.values(), ids=CHANGES)
def test_a_file_with_a_wrong_part_is_refused(content, tmp_path, change, fact):
    form = rf"^AffineAtlas\.load: file '.*' must be a complete gnomon-atlas file \(.*{fact}.*\)\. Save it again\.$"
    with pytest.raises(ValueError, match=form):
        load_changed(content, tmp_path / "x", change, sealed=fact != "another checksum")


def test_what_is_written_again_unchanged_is_loaded(content, tmp_path):
    loaded = load_changed(content, tmp_path / "x", lambda arrays, description: None)
    np.testing.assert_allclose(loaded.transform(X), Y, atol=1e-10)
