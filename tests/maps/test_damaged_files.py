"""Whatever a map file holds that `Map.save` does not write is refused when it is loaded, in one form."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from tests.archives import described, read_parts, write_changed

import gnomon as gn
from gnomon.neighbors import as_neighbor_graph, compute_neighbors
from gnomon.storage import checksum

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6)).astype(np.float32)
Y = X[:, :2] + 0.5
PIXELS = RNG.integers(0, 256, size=(N, 6)).astype(np.uint8)


def short_graph():
    """Return a graph in which the first rows have fewer neighbours than the others."""
    graph = compute_neighbors(X, 15)
    distances = graph.distances.copy()
    distances[:3, 10:] = np.inf
    with pytest.warns(gn.exceptions.NeighborsWarning):
        return as_neighbor_graph(graph.indices, distances, metric="euclidean", recall=0.9)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Arrays and descriptions of two maps that together have every part a map can have."""
    labels = np.repeat(["a", "b"], N // 2)
    dense = gn.Map(
        X,
        Y,
        method="umap",
        parameters={"n_neighbors": 15, "names": ["a"], "more": {"b": None}},
        labels=labels,
        metadata={"age": np.arange(N), "text": labels},
        point_names=np.array([f"p{i}" for i in range(N)]),
        images=PIXELS.reshape(N, 2, 3),
        image_shape=(2, 3),
        graph=short_graph(),
        timings={"layout": 1.5},
        notes=["a note"],
    )
    sparse = gn.Map(sp.csr_array(np.where(X > 0.0, X, 0.0).astype(np.float64)), Y)
    fitted = gn.map(X, "umap", max_iter=5, n_neighbors=10, init=X[:, 2:4].copy())
    found = {}
    for kind, made in (("dense", dense), ("sparse", sparse), ("fitted", fitted)):
        path = tmp_path_factory.mktemp("maps") / "map.gnomon"
        made.save(path)
        found[kind] = read_parts(path)
    return found


def load_changed(saved, tmp_path, kind, change):
    """Load a map of which `change` altered the arrays or the description."""
    path = tmp_path / "changed.gnomon"
    write_changed(path, saved[kind], change)
    return gn.Map.load(path)


@pytest.mark.parametrize("kind", ["dense", "sparse", "fitted"])
def test_a_file_of_the_first_layout_is_loaded_as_a_function_by_an_atlas(saved, tmp_path, kind):
    def older(arrays, description):
        description["version"] = 1
        description.pop("method_state", None)
        for name in [name for name in arrays if name.startswith("method_")]:
            del arrays[name]

    again = load_changed(saved, tmp_path, kind, older)
    np.testing.assert_array_equal(again.embedding, saved[kind][0]["embedding"])
    assert again.extension_kind == "atlas"


@pytest.mark.parametrize("kind", ["dense", "sparse", "fitted"])
def test_what_is_written_again_unchanged_is_loaded(saved, tmp_path, kind):
    again = load_changed(saved, tmp_path, kind, lambda arrays, description: None)
    np.testing.assert_array_equal(again.embedding, saved[kind][0]["embedding"])
    assert (again._estimator is None) == (kind != "fitted")


def test_rules_coordinates_and_the_size_of_a_part_are_loaded_as_they_were(saved, tmp_path):
    def more(arrays, description):
        ruled()(arrays, description)
        moved(Y)(arrays, description)
        description["n_fitted"] = N

    again = load_changed(saved, tmp_path, "dense", more)
    assert [rule.features for rule in again.columns] == [(name,) for name in again.feature_names]
    np.testing.assert_array_equal(again.representation.values, Y)
    assert (again.representation.name, again.representation.components) == ("X_pca", None)
    assert again._n_fitted == N


@pytest.mark.parametrize(("largest", "stored"), [(255.0, "u1"), (256.0, "f4"), (-1.0, "f4"), (0.5, "f4")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_whole_numbers_up_to_255_take_a_byte_each_and_are_loaded_as_they_were(tmp_path, form, largest, stored):
    counts = RNG.integers(0, 9, size=(N, 6)).astype(np.float32)
    counts[3, 2] = largest
    gn.Map(form(counts), Y).save(tmp_path / "map.gnomon")
    arrays, _ = read_parts(tmp_path / "map.gnomon")
    assert arrays["X_values"].dtype == stored
    again = gn.Map.load(tmp_path / "map.gnomon").X
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again.toarray() if sp.issparse(again) else again, counts)


def entry(place, value):
    """Set an entry of an array."""
    name, *index = place

    def change(arrays, description):
        arrays[name][tuple(index)] = value

    return change


def array(name, make):
    """Replace an array by what `make` makes of it."""

    def change(arrays, description):
        arrays[name] = make(arrays.get(name))

    return change


def without(name):
    def change(arrays, description):
        del arrays[name]

    return change


def undescribed(*keys):
    def change(arrays, description):
        inner = description
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return change


def swap(name, row, one, other):
    def change(arrays, description):
        arrays[name][row, [one, other]] = arrays[name][row, [other, one]]

    return change


def scaled(name, spread, weight=None):
    """Add how columns were standardised and weighed."""

    def change(arrays, description):
        description["scale"] = name
        arrays |= {"scale_center": np.zeros(6), "scale_spread": spread}
        arrays |= {} if weight is None else {"scale_weight": weight}

    return change


def swap_columns(arrays, description):
    """Exchange two column numbers of a sparse row that has two."""
    starts = arrays["X_indptr"]
    start = starts[np.flatnonzero(np.diff(starts) > 1)[0]]
    arrays["X_indices"][[start, start + 1]] = arrays["X_indices"][[start + 1, start]]


DENSE = {
    # graph: what kernels read memory by
    "neighbour far out": (entry(("graph_indices", 5, 3), 2**30), r"row 5 has the neighbour 1073741824, outside"),
    "neighbour below": (entry(("graph_indices", 5, 3), -1_000_000), r"row 5 has the neighbour -1000000, outside"),
    "neighbour n": (entry(("graph_indices", 0, 14), N), r"outside of \[0, 40\)"),
    "own neighbour": (entry(("graph_indices", 7, 2), 7), "row 7 has itself as a neighbour"),
    "twice": (
        lambda a, d: a["graph_indices"].__setitem__((9, 1), a["graph_indices"][9, 0]),
        "row 9 has a neighbour tw",
    ),
    "nan distance": (entry(("graph_distances", 8, 0), np.nan), "row 8 has a distance that is negative or NaN"),
    "negative distance": (entry(("graph_distances", 8, 0), -1.0), "row 8 has a distance that is negative or NaN"),
    "infinite distance": (entry(("graph_distances", 8, 14), np.inf), "row 8 has an infinite distance where"),
    "finite masked": (entry(("graph_distances", 0, 14), 1e9), "row 0 has a finite distance where the mask"),
    "mask turned": (entry(("graph_mask", 8, 14), False), "row 8 has a finite distance where the mask"),
    "no mask": (without("graph_mask"), "row 0, and 2 more has"),
    "not ascending": (swap("graph_distances", 8, 0, 9), "row 8 has distances that do not ascend"),
    "int64 graph": (array("graph_indices", lambda a: a.astype(np.int64)), "'graph_indices' has shape .* type int64"),
    "float64 graph": (array("graph_distances", lambda a: a.astype(np.float64)), "'graph_distances' has shape"),
    "mask of bytes": (array("graph_mask", lambda a: a.astype(np.uint8)), "'graph_mask' has shape"),
    "narrow distances": (array("graph_distances", lambda a: a[:, :-1]), "distances have shape"),
    "narrow mask": (array("graph_mask", lambda a: a[:, :1]), "mask have shape"),
    "graph of fewer": (
        lambda a, d: a.update({key: a[key][:30] for key in ("graph_indices", "graph_distances", "graph_mask")}),
        r"'graph_distances' has shape \(30, 15\), embedding \(40, 2\)",
    ),
    "flat graph": (array("graph_indices", np.ravel), "'graph_indices' has shape"),
    "no indices": (without("graph_indices"), "array 'graph_indices' is missing"),
    "no distances": (without("graph_distances"), "array 'graph_distances' is missing"),
    "graph not described": (undescribed("graph"), "arrays that no map has: graph_distances, graph_indices, graph_mask"),
    "recall": (described("graph", "recall", value=1.5), r"recall is 1.5, not in \[0, 1\]"),
    "recall of text": (described("graph", "recall", value="1"), "recall is '1'"),
    "graph metric": (described("graph", "metric", value=3), "metric is int, not text"),
    "graph method": (described("graph", "method", value=None), "method is NoneType, not text"),
    "graph with more": (described("graph", "more", value=1), "not metric, method and recall"),
    "graph as list": (described("graph", value=[]), "not metric, method and recall"),
    # table
    "infinite X": (entry(("X_values", 3, 3), np.inf), "X must be"),
    "X of integers": (array("X_values", lambda a: a.astype(np.int32)), "'X_values' has shape"),
    "X of text": (array("X_values", lambda a: a.astype(str)), "'X_values' has shape"),
    "X transposed": (
        array("X_values", lambda a: a.T.copy()),
        r"X is described as of shape \[40, 6\] and has \(6, 40\)",
    ),
    "X of fewer rows": (array("X_values", lambda a: a[1:]), r"X is described as of shape \[40, 6\] and has"),
    "X of one axis": (array("X_values", np.ravel), "'X_values' has shape"),
    "X missing": (without("X_values"), "array 'X_values' is missing"),
    "X of objects": (described("X", "dtype", value="|O"), "X is described as of type"),
    "X of other bytes": (described("X", "dtype", value="<f8"), "'X_values' has shape"),
    "X of no type": (described("X", "dtype", value=[]), "X is described as of type"),
    "X sparse": (described("X", "sparse", value=1), "X is described as of type"),
    "X sparse in truth": (described("X", "sparse", value=True), "'X_values' has shape"),
    "shape of X": (described("X", "shape", value=[6, N]), "X is described as of shape"),
    "shape of floats": (described("X", "shape", value=[40.0, 6.0]), "X is described as of shape"),
    "X with more": (described("X", "more", value=1), "its description of X is not"),
    "X a list": (described("X", value=[]), "its description of X is not"),
    # positions
    "no embedding": (without("embedding"), "array 'embedding' is missing"),
    "double embedding": (array("embedding", lambda a: a.astype(np.float64)), "'embedding' has shape"),
    "flat embedding": (array("embedding", np.ravel), "'embedding' has shape"),
    "embedding of no columns": (array("embedding", lambda a: a[:, :0]), "must be of at least one column"),
    "embedding of fewer": (array("embedding", lambda a: a[1:]), r"has shape \(40, 15\), embedding \(39, 2\)"),
    # what belongs to rows and features
    "labels of fewer": (array("labels", lambda a: a[1:]), r"'labels' has shape \(39,\), embedding"),
    "labels in two": (array("labels", lambda a: a[:, None]), "'labels' has shape"),
    "labels of records": (array("labels", lambda a: np.zeros(N, "f4,f4")), "labels.npy does not hold plain numbers"),
    "complex labels": (array("labels", lambda a: np.ones(N, complex)), "Complex data"),
    "names of fewer": (array("point_names", lambda a: a[1:]), r"'point_names' has shape \(39,\), embedding"),
    "metadata of fewer": (array("metadata_1", lambda a: a[1:]), r"'metadata_1' has shape \(39,\), embedding"),
    "metadata missing": (without("metadata_1"), "array 'metadata_1' is missing"),
    "metadata unnamed": (described("metadata", value=["age"]), "arrays that no map has: metadata_1"),
    "metadata twice": (described("metadata", value=["age", "age"]), "metadata is not a list of different names"),
    "metadata of numbers": (described("metadata", value=[1, 2]), "metadata is not a list"),
    "images of floats": (array("images", lambda a: a.astype(np.float32)), "'images' has shape"),
    "images of fewer": (array("images", lambda a: a[1:]), "'images' has shape"),
    "flat images": (array("images", lambda a: a.reshape(N, 6)), "images of shape"),
    "images of four colours": (array("images", lambda a: np.zeros((N, 2, 2, 4), np.uint8)), "images of shape"),
    "image_shape": (described("image_shape", value=[3, 3]), r"image_shape=\(3, 3\) must be"),
    "image_shape below": (described("image_shape", value=[-2, -3]), "image_shape is"),
    "image_shape of one": (described("image_shape", value=[6]), r"image_shape=\(6,\) must be"),
    "image_shape of text": (described("image_shape", value="23"), "image_shape is"),
    "feature names": (described("feature_names", value=["a"]), "and there are 40 x 1"),
    "no feature names": (described("feature_names", value=[]), "and there are 40 x 0"),
    "feature names of numbers": (described("feature_names", value=[1] * 6), "feature_names is not a list of text"),
    # the rest of the description
    "metric": (described("metric", value="no such"), "metric='no such' must be"),
    "scale without arrays": (described("scale", value="standard"), "array 'scale_center' is missing"),
    "center without scale": (array("scale_center", lambda a: np.zeros(6)), "arrays that no map has: scale_center"),
    "scale of no name": (scaled("mean", np.ones(6)), "one of 'standard', 'robust'"),
    "weight of fewer": (scaled("none", np.ones(6), np.ones(5)), "weight of scale must be one finite float64"),
    "weight below 0": (scaled("none", np.ones(6), -np.ones(6)), "weight of scale must be >= 0"),
    "weight of nan": (scaled("none", np.ones(6), np.full(6, np.nan)), "weight of scale must be one finite float64"),
    "weight of 0": (scaled("none", np.ones(6), np.zeros(6)), "infinite for a feature of weight 0"),
    "weight without scale": (array("scale_weight", lambda a: np.ones(6)), "arrays that no map has: scale_weight"),
    "scale of a number": (scaled(2, np.ones(6)), "scale is not text"),
    "scale of fewer": (scaled("standard", np.ones(5)), "spread of scale must be one finite float64"),
    "scale of nan": (scaled("standard", np.full(6, np.nan)), "spread of scale must be one finite float64"),
    "scale of 0": (scaled("standard", np.zeros(6)), "spread of scale must be > 0"),
    "scale of float32": (scaled("standard", np.ones(6, np.float32)), "'scale_spread' has shape"),
    "scale in an older layout": (
        lambda a, d: (d.update(version=2), scaled("standard", np.ones(6))(a, d)),
        "lacks or adds scale",
    ),
    "metric of a number": (described("metric", value=2), "metric is not text"),
    "method": (described("method", value=None), "method is not text"),
    "label name": (described("label_name", value=["a"]), "label_name is not text"),
    "name": (described("name", value={}), "name is not text"),
    "notes": (described("notes", value="a note"), "notes is not a list of text"),
    "parameters": (described("parameters", value=[1]), "parameters is not a dict"),
    "deep parameters": (described("parameters", "deep", value=[[[[[[[[[1]]]]]]]]]), "parameter 'deep' is neither"),
    "timings": (described("timings", value={"layout": "long"}), "timing 'layout' is not a number of seconds"),
    "timings below": (described("timings", value={"layout": -1.0}), "timing 'layout' is not a number of seconds"),
    "timings without end": (described("timings", value={"layout": np.inf}), "timing 'layout' is not a number"),
    "missing entry": (undescribed("timings"), "lacks or adds timings"),
    "further entry": (described("surprise", value=1), "lacks or adds surprise"),
    "further array": (array("surprise", lambda a: np.zeros(3)), "arrays that no map has: surprise"),
    "lone surrogate": (described("name", value="\ud800"), "its description holds surrogates"),
}

RULE = {
    **{"name": "a", "kind": "number", "features": ["a"], "categories": []},
    **{"start": 0.0, "unit": 1.0, "reason": "", "writing": ""},
}


def ruled(**changed):
    """Add the rules by which columns became features, the first of which has other entries."""

    def change(arrays, description):
        names = description["feature_names"]
        description["columns"] = [{**RULE, "name": name, "features": [name]} for name in names]
        description["columns"][0] |= changed

    return change


def moved(values, center=None, components=None):
    """Add the coordinates in which neighbours were found."""

    def change(arrays, description):
        description["representation"] = "X_pca"
        given = {"": values, "_center": center, "_components": components}
        arrays |= {f"coordinates{part}": one for part, one in given.items() if one is not None}

    return change


DENSE |= {
    # how columns became features
    "columns a dict": (described("columns", value={}), "columns is not a list of rules"),
    "columns of numbers": (described("columns", value=[3]), "columns is not a list of rules"),
    "a rule that lacks entries": (described("columns", value=[{"name": "a"}]), "columns is not a list of rules"),
    "a rule with more": (ruled(more=1), "columns is not a list of rules"),
    "a rule of a number": (ruled(kind=3), "a rule of columns is not of texts and categories"),
    "a rule of features of numbers": (ruled(features=[3]), "a rule of columns is not of texts and categories"),
    "a rule of one category": (ruled(categories="a"), "a rule of columns is not of texts and categories"),
    "a rule of lists of categories": (ruled(categories=[[["a"]]]), "a rule of columns is not of texts and categories"),
    "a rule of a list of categories": (ruled(categories=[["a"]]), "a rule of columns is not of texts and categories"),
    "a rule without start": (ruled(start=None), "a rule of columns has no start and unit"),
    "a rule of endless unit": (ruled(unit=np.inf), "a rule of columns has no start and unit"),
    "rules of other features": (ruled(features=["b"]), "columns do not become the features"),
    "rules of no features": (described("columns", value=[]), "columns do not become the features"),
    "a rule of no kind": (ruled(kind="colour"), "has a rule that no column has"),
    "a rule of unit 0": (ruled(kind="date", unit=0.0), "has a rule that no column has"),
    "a category of no values": (ruled(kind="category"), "has a rule that no column has"),
    # coordinates
    "coordinates of a number": (described("representation", value=3), "its description of representation is not text"),
    "no coordinates": (described("representation", value="X_pca"), "array 'coordinates' is missing"),
    "coordinates not described": (array("coordinates", lambda a: Y), "arrays that no map has: coordinates"),
    "coordinates of integers": (moved(Y.astype(np.int32)), "'coordinates' has shape"),
    "coordinates of fewer": (moved(Y[1:]), r"'coordinates' has shape \(39, 2\), embedding"),
    "coordinates of no centre": (moved(Y, components=np.zeros((6, 2))), "'coordinates_center' is missing"),
    "coordinates of no components": (moved(Y, center=np.zeros(6)), "'coordinates_components' is missing"),
    "a flat centre": (moved(Y, np.zeros((6, 1)), np.zeros((6, 2))), "'coordinates_center' has shape"),
    "rows of a part": (described("n_fitted", value=1), "n_fitted is 1, and there are 40 rows"),
    "more rows than all": (described("n_fitted", value=N + 1), "n_fitted is 41, and there are 40 rows"),
}

SPARSE = {
    "column far out": (entry(("X_indices", 4), 2**30), r"a column number of X is outside of \[0, 6\)"),
    "column below": (entry(("X_indices", 4), -1), "a column number of X is outside"),
    "columns in disorder": (swap_columns, "the column numbers of a row of X do not ascend"),
    "fewer columns": (array("X_indices", lambda a: a[1:]), "values and"),
    "fewer values": (array("X_values", lambda a: a[1:]), "the row offsets of X do not lead"),
    "offsets below": (entry(("X_indptr", 0), -1), "the row offsets of X do not lead"),
    "offsets that fall": (entry(("X_indptr", 7), 10**6), "the row offsets of X do not lead"),
    "fewer offsets": (array("X_indptr", lambda a: a[1:]), "the row offsets of X do not lead"),
    "offsets of floats": (array("X_indptr", lambda a: a.astype(float)), "'X_indptr' has shape"),
    "no offsets": (without("X_indptr"), "array 'X_indptr' is missing"),
    "a dense table": (described("X", "sparse", value=False), "'X_values' has shape"),
    "nan": (entry(("X_values", 4), np.nan), "X must be"),
}


def sealed(change):
    """Change a file and give it the checksum of what it then holds."""

    def seal(arrays, description):
        change(arrays, description)
        own = {name: array for name, array in arrays.items() if name.startswith("method_")}
        about = description["method_state"]
        about["sha256"] = checksum(own, {key: value for key, value in about.items() if key != "sha256"})

    return seal


def state(*keys, value):
    """Set an entry of the description of the method."""
    return sealed(described("method_state", *keys, value=value))


def placed(*keys, value):
    """Set a field of what places new rows."""
    return state("fitted", "placement_", "fields", *keys, value=value)


ATTRACTION = ("loss", "fields", "attractions", "tuple", 0, "fields")
FITTED = {
    # by the checksum
    "number": (entry(("method_0", 0), 7), "the method has another checksum"),
    "parameter": (described("method_state", "parameters", "spread", value=3.0), "the method has another checksum"),
    "checksum": (described("method_state", "sha256", value=None), "the method has another checksum"),
    "no array": (without("method_0"), "the method has another checksum"),
    "more arrays": (array("method_9", lambda a: np.zeros(3)), "arrays that no map has: method_9"),
    "no method": (undescribed("method_state"), "arrays that no map has"),
    "method as list": (described("method_state", value=[]), "arrays that no map has"),
    "nothing in it": (
        lambda a, d: (d.update(method_state={}), [a.pop(n) for n in list(a) if n.startswith("method_")]),
        "its description of the method is not",
    ),
    "older layout": (described("version", value=1), "lacks or adds method_state"),
    # by what each value should be, where somebody computed the checksum
    "unknown method": (state("method", value="os.system"), "is no method of gnomon"),
    "class of the package": (state("method", value="Embedder"), "is no method of gnomon"),
    "method of a number": (state("method", value=3), "is no method of gnomon"),
    "parameters as list": (state("parameters", value=[]), "parameters or fitted of the method is not a dict"),
    "further parameter": (state("parameters", "more", value=1), "parameters of UMAP are"),
    "wrong parameter": (state("parameters", "n_components", value="two"), "n_components='two' must be"),
    "callback": (state("parameters", "callback", value=None), "parameters of UMAP are"),
    "a part of more rows": (described("n_fitted", value=10**6), "n_fitted is 1000000"),
    "a part that is no number": (described("n_fitted", value="3"), "n_fitted is '3'"),
    "a method replaced": (state("fitted", "transform", value=None), "'transform' is no fitted attribute"),
    "a private one replaced": (state("fitted", "_place", value=None), "'_place' is no fitted attribute"),
    "dunder": (state("fitted", "__class__", value=None), "'__class__' is no fitted attribute"),
    "property": (state("fitted", "_n_features_out", value=2), "'_n_features_out' is no fitted attribute"),
    "node of no kind": (state("fitted", "seed_", value={"pickle": "x"}), "it holds {'pickle'"),
    "node with more": (state("fitted", "seed_", value={"list": [], "more": 1}), "it holds {'list'"),
    "list of text": (state("fitted", "seed_", value={"list": "abc"}), "where list should be"),
    "deep": (state("fitted", "seed_", value=json.loads('{"list": [' * 20 + "1" + "]}" * 20)), "nested too deep"),
    "scalar of objects": (state("fitted", "seed_", value={"scalar": ["O8", 1]}), "it holds 'O8'"),
    "scalar of text": (state("fitted", "seed_", value={"scalar": ["f8", "1"]}), "where float should be"),
    "unknown array": (
        state("fitted", "seed_", value={"array": "X_values", "order": "C", "lead": 0}),
        "the method cannot be made again",
    ),
    "order": (state("fitted", "seed_", value={"array": "method_0", "order": "K", "lead": 0}), "it holds 'K'"),
    "wide rows": (
        state("fitted", "seed_", value={"array": "method_0", "order": "C", "lead": 2**40}),
        "has rows of 1099511627776 entries",
    ),
    "further neighbours": (
        state("fitted", "seed_", value={"graph": "indices", "n_neighbors": 21}),
        "refers to 21 neighbours",
    ),
    "shared part": (state("fitted", "seed_", value={"shared": "labels", "dtype": "f4"}), "it holds 'labels'"),
    "shared objects": (state("fitted", "seed_", value={"shared": "X", "dtype": "O8"}), "it holds 'O8'"),
    "texts of numbers": (state("fitted", "seed_", value={"texts": [1]}), "where str should be"),
    "matrix": (
        state("fitted", "seed_", value={"csr": ["method_0", "method_0", "method_0"], "shape": [3, 3]}),
        "a matrix is not|row offsets",
    ),
    "class not in the list": (
        state("fitted", "placement_", "class", value="Popen"),
        "it holds 'Popen'",
    ),
    "another class": (state("fitted", "placement_", "class", value="Cauchy"), "Cauchy is described by"),
    "kernel of another kind": (
        placed(*ATTRACTION, "kernel", value={"class": "UniformAffinity", "fields": {"normalization": "total"}}),
        "kernel of PairTerm is UniformAffinity, of another type",
    ),
    "attraction of another kind": (
        placed("loss", "fields", "attractions", value={"tuple": [{"class": "Cauchy", "fields": {}}]}),
        "attractions of RowLoss is tuple, of another type",
    ),
    "rule of another kind": (
        placed("affinities", value={"class": "Cauchy", "fields": {}}),
        "affinities of RowPlacement",
    ),
    "parameter of a kernel": (
        placed(*ATTRACTION, "kernel", "fields", "a", value=-1.0),
        "must be",
    ),
    "places of integers": (placed("Y", value={"graph": "indices", "n_neighbors": 2}), "Y of RowPlacement is ndarray"),
    "rows of other features": (
        placed("rows", value={"shared": "embedding", "dtype": "f4"}),
        "places rows among others",
    ),
    "neighbours of text": (placed("n_neighbors", value="15"), "n_neighbors of RowPlacement is str"),
    "missing field": (placed(value={}), "RowPlacement is described by"),
    "other features": (state("fitted", "n_features_in_", value=7), "maps rows of other features"),
    "other dimension": (state("fitted", "embedding_", value={"shared": "X", "dtype": "f4"}), "of another dimension"),
    "other rows": (state("fitted", "_fitted_rows", value={"shared": "embedding", "dtype": "f4"}), "keeps other rows"),
}


@pytest.mark.parametrize(
    ("kind", "change", "fact"),
    [
        pytest.param(kind, *case, id=f"{kind}: {name}")
        for kind, cases in (("dense", DENSE), ("sparse", SPARSE), ("fitted", FITTED))
        for name, case in cases.items()
    ],
)
def test_a_file_with_a_wrong_part_is_refused(saved, tmp_path, kind, change, fact):
    form = rf"^Map\.load: file '.*changed\.gnomon' must be a complete gnomon-map file \(.*{fact}.*\)\. Save it again\.$"
    with pytest.raises(ValueError, match=form):
        load_changed(saved, tmp_path, kind, change)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: gn.Map(X, X[:, :1]), id="one component"),
        pytest.param(lambda: gn.Map(X, X[:, :5]), id="five components"),
        pytest.param(lambda: gn.Map(X, np.where(np.arange(N)[:, None] < 3, np.nan, Y)), id="rows without a place"),
        pytest.param(lambda: gn.Map(sp.csr_array((N, 3), dtype=np.float32), Y), id="nothing stored"),
        pytest.param(lambda: gn.Map(X, Y, metadata={"day": np.arange(N).astype("M8[D]")}), id="dates"),
        pytest.param(lambda: gn.Map(X, Y, metadata={"old": np.arange(N).astype(">f8")}), id="byte order"),
        pytest.param(lambda: gn.Map(X, Y, labels=[None, "a"] * (N // 2)), id="labels of objects"),
        pytest.param(lambda: gn.Map(X, Y, feature_names=["same"] * 6), id="equal names"),
        pytest.param(lambda: gn.Map(X, Y, parameters={"learning_rate": np.inf, "seed": 2**70}), id="numbers"),
        pytest.param(lambda: gn.Map(X, Y, metric="manhattan"), id="another metric"),
        pytest.param(lambda: gn.Map(X, Y, graph=short_graph()), id="absent neighbours"),
        pytest.param(lambda: gn.Map(PIXELS, Y, image_shape=(1, 2, 3)), id="colours"),
        pytest.param(lambda: gn.map(X, "umap", max_iter=5), id="fitted"),
        pytest.param(lambda: gn.map(sp.csr_array(np.abs(X)), "isomap"), id="fitted to a sparse table"),
    ],
)
def test_whatever_can_be_saved_can_be_loaded(tmp_path, made):
    path = tmp_path / "map.gnomon"
    made().save(path)
    gn.Map.load(path).save(tmp_path / "again.gnomon")
    assert (tmp_path / "again.gnomon").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"images": PIXELS}, "Map: images of shape"),
        ({"image_shape": (7, 7)}, r"Map: image_shape=\(7, 7\) must be"),
        ({"feature_names": ["a"]}, "Map: feature_names must be one for each feature"),
        ({"point_names": ["a"]}, "Map: point_names must be one plain value"),
        ({"metadata": {"a": [1, 2]}}, "Map: metadata 'a' must be one plain value"),
        ({"metric": "no such"}, "Map: metric='no such' must be"),
        ({"graph": compute_neighbors(X[:30], 15)}, "Map: X with 40 rows and a graph with 30"),
        ({"name": 3}, "Map: name must be text"),
    ],
)
def test_a_map_of_parts_that_do_not_fit_is_not_made(parts, text):
    with pytest.raises((TypeError, ValueError), match=text):
        gn.Map(X, Y, **parts)


def test_a_map_whose_parts_were_changed_is_not_saved(tmp_path):
    path = tmp_path / "map.gnomon"
    result = gn.Map(X, Y)
    result.metadata["short"] = np.arange(3)
    with pytest.raises(ValueError, match=r"Map\.save: metadata 'short' must be one plain value"):
        result.save(path)
    result = gn.Map(X, Y, parameters={"callback": print})
    with pytest.raises(ValueError, match=r"Map\.save: a map must be .* \(parameter 'callback' is neither"):
        result.save(path)
    result = gn.Map(X, Y, name="\ud800")
    with pytest.raises(ValueError, match=r"Map\.save: a gnomon-map must be one that a file can hold"):
        result.save(path)
    assert not path.exists()
