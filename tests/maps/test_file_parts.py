"""What each part of a map may be in a file: what `pack` makes of it, and what `unpack` refuses."""

from __future__ import annotations

import json
import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.archives import described, read_parts, write_changed

import gnomon as gn
from gnomon.exceptions import GnomonWarning
from gnomon.maps.file import VERSION, check_shapes, pack, unpack, version_of
from gnomon.maps.parts import check_picture
from gnomon.twins import MapAlone

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2)) @ RNG.normal(size=(2, 9)) + 0.1 * RNG.normal(size=(N, 9))
Y = X[:, :2].copy()


def again(result, *changes):
    """Return a map from its parts, with entries of the description or arrays that are others."""
    arrays, description = pack(result)
    description = {**json.loads(json.dumps(description)), "version": VERSION}
    for change in changes:
        change(arrays, description)
    return unpack(arrays, description, gn.Map)


def arrayed(name, value):
    """Set an array."""

    def change(arrays, description):
        arrays[name] = value

    return change


def lacking(*names):
    """Leave out arrays or entries."""

    def change(arrays, description):
        for name in names:
            (arrays if name in arrays else description).pop(name)

    return change


@pytest.fixture(scope="module")
def plain():
    return gn.Map(X, Y, metadata={"age": np.arange(N)}, timings={"layout": 0.0, "all": 2})


@pytest.fixture(scope="module", params=["distance", "median"])
def filled(request):
    """Maps of a table that lacked values, of one column more than a byte has bits."""
    gaps = np.zeros(X.shape, dtype=bool)
    gaps[::3, 8] = gaps[1::4, 0] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return gn.map(np.where(gaps, np.nan, X), "pca", missing=request.param)


@pytest.fixture(scope="module")
def distanced():
    gaps = np.zeros(X.shape, dtype=bool)
    gaps[::3, 8] = gaps[1::4, 0] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return gn.map(np.where(gaps, np.nan, X), "pca")


SINCE = {
    **dict.fromkeys(["n_fitted", "scale"], 3),
    **dict.fromkeys(["columns", "completion", "representation", "surface"], 4),
    **dict.fromkeys(["alone", "orders"], 5),
    **{"graph": 1, "method_state": 2, "part": 6, "trust": 7},
}


@pytest.mark.parametrize("entry", SINCE)
def test_an_entry_is_known_since_its_layout_and_in_none_before(plain, entry):
    assert version_of({"X": {}, entry: None}) == max(4, SINCE[entry])
    arrays, description = pack(plain)
    description[entry] = None
    if SINCE[entry] > 1:
        with pytest.raises(ValueError, match=f"^its description lacks or adds {entry}$"):
            unpack(dict(arrays), {**description, "version": SINCE[entry] - 1}, gn.Map)
    with pytest.raises((TypeError, ValueError)) as caught:  # of what it is, which is none of them
        unpack(dict(arrays), {**description, "version": SINCE[entry]}, gn.Map)
    assert "lacks or adds" not in str(caught.value)


def test_a_map_needs_the_layout_of_its_latest_entry_and_this_release_reads_up_to_the_seventh(plain, tmp_path):
    assert version_of({}) == 4
    assert version_of({"graph": 1, "alone": 2, "scale": 3}) == 5
    plain.save(tmp_path / "map.gnomon")
    parts = read_parts(tmp_path / "map.gnomon")
    assert parts[1]["version"] == 4
    write_changed(tmp_path / "later.gnomon", parts, described("version", value=7))
    assert gn.Map.load(tmp_path / "later.gnomon").n_samples == N
    write_changed(tmp_path / "later.gnomon", parts, described("version", value=8))
    with pytest.raises(ValueError, match=r"must be of layout 7 at most \(a newer gnomon wrote layout 8\)"):
        gn.Map.load(tmp_path / "later.gnomon")


def test_a_table_that_was_completed_is_kept_with_how(filled):
    found = again(filled)
    one, other = found.completion, filled.completion
    np.testing.assert_array_equal(one.missing, other.missing)
    np.testing.assert_array_equal(one.donors, other.donors)
    assert (one.how, one.feature_names) == (other.how, filled.feature_names)
    for part in ("center", "spread", "variance"):
        np.testing.assert_array_equal(getattr(one.recipe, part), getattr(other.recipe, part))
    for part in ("n_neighbors", "first", "weight"):
        assert getattr(one.recipe, part) == getattr(other.recipe, part)
    np.testing.assert_array_equal(
        [one.held_out.n_values, one.held_out.error, one.held_out.kept],
        [other.held_out.n_values, other.held_out.error, other.held_out.kept],
    )
    assert (one.recipe.model is None) == (other.how == "median")
    new = np.where(np.arange(9) == 3, np.nan, X[:4])
    assert found.transform(new).tobytes() == filled.transform(new).tobytes()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("noise", True, "described by"),
        ("noise", "1", "described by"),
        ("noise", 0.0, "loadings of shape"),
        ("noise", -0.5, "described by"),
        ("n_values", None, "described by"),
        ("n_values", 2.0, "described by"),
        ("n_values", -1, "described by"),
        ("n_neighbors", None, "described by"),
        ("n_neighbors", 5.0, "described by"),
        ("n_neighbors", 0, "loadings of shape"),
        ("error", math.inf, "described by"),
        ("error", math.nan, "described by"),
        ("kept", -0.1, "described by"),
        ("first", None, "weights None and"),
        ("first", 1.5, "weights 1.5 and"),
        ("weight", None, "weights .* and None"),
        ("weight", 2, "weights .* and 2"),
        ("how", None, "the table was completed by None"),
        ("how", "mode", "the table was completed by 'mode'"),
    ],
)
def test_a_completion_of_other_numbers_is_refused(distanced, key, value, text):
    with pytest.raises(ValueError, match=text):
        again(distanced, described("completion", key, value=value))


@pytest.mark.parametrize(
    ("key", "value"),
    [("n_values", 0), ("n_neighbors", 1), ("error", None), ("kept", 0), ("first", 0), ("first", 1), ("weight", 1.0)],
)
def test_a_completion_of_numbers_at_their_limits_is_read(distanced, key, value):
    found = again(distanced, described("completion", key, value=value)).completion
    got = {**vars(found.recipe), **vars(found.held_out)}[key]
    assert math.isnan(got) if value is None else got == value


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (described("completion", value=[]), "its description of the completion is not how, noise, n_neighbors, first"),
        (described("completion", value={"how": "median"}), "its description of the completion is not how"),
        (arrayed("missing", np.zeros((N, 1), np.uint8)), r"array 'missing' has shape \(24, 1\), and X \(24, 9\)"),
        (arrayed("missing", np.zeros((N, 3), np.uint8)), r"array 'missing' has shape \(24, 3\), and X \(24, 9\)"),
        (arrayed("missing", np.zeros((N, 2), np.int8)), "array 'missing' has shape .* int8"),
        (arrayed("completion_center", np.zeros(8)), "no finite center, spread and variance for 9 features"),
        (arrayed("completion_center", np.r_[np.nan, np.zeros(8)]), "no finite center"),
        (arrayed("completion_variance", np.r_[np.inf, np.ones(8)]), "no finite center"),
        (arrayed("completion_spread", np.ones((9, 1))), "array 'completion_spread' has shape"),
        (arrayed("completion_spread", np.r_[0.0, np.ones(8)]), "a spread that is not > 0"),
        (arrayed("completion_donors", np.array([0, N])), "donors that are none of 24 rows"),
        (arrayed("completion_donors", np.array([-1, 3])), "donors that are none of 24 rows"),
        (arrayed("completion_donors", np.array([], np.int64)), "donors that are none of 24 rows"),
        (arrayed("completion_donors", np.array([1], np.int32)), "array 'completion_donors' has shape"),
        (arrayed("completion_loadings", np.ones((8, 2))), "loadings of shape"),
        (arrayed("completion_loadings", np.r_[np.full((1, 2), np.nan), np.ones((8, 2))]), "loadings of shape"),
        (arrayed("completion_loadings", np.ones(9)), "array 'completion_loadings' has shape"),
        (lacking("completion_loadings"), "array 'completion_loadings' is missing"),
        (lacking("completion"), "it holds arrays that no map has: completion_center, completion_donors"),
    ],
)
def test_a_completion_of_other_arrays_is_refused(distanced, change, text):
    with pytest.raises(ValueError, match=text):
        again(distanced, change)


def test_the_first_and_the_last_row_may_be_donors_and_a_sparse_table_lacks_nothing(distanced):
    found = again(distanced, arrayed("completion_donors", np.array([0, N - 1])))
    assert found.completion.donors.tolist() == [0, N - 1]
    arrays, description = pack(distanced)
    thin = sp.csr_array(distanced.X)
    arrays |= {"X_values": thin.data, "X_indices": thin.indices, "X_indptr": thin.indptr}
    description["X"]["sparse"] = True
    with pytest.raises(ValueError, match="the table was completed by 'distance'"):
        unpack(arrays, {**description, "version": VERSION}, gn.Map)


@pytest.mark.parametrize(
    "surface",
    [
        None,
        "sphere",
        [],
        ["sphere"],
        ["sphere", 1],
        ["sphere", 1.0, 2],
        ["torus", 1.0],
        ["sphere", 0.0],
        [3, 1.0],
        ["sphere", math.inf],
        ["sphere", -1.0],
        ["sphere", -0.5],
        ["sphere", math.nan],
        {"sphere": 1.0},
        [["sphere"], 1.0],
    ],
)
def test_a_surface_is_a_name_and_a_radius(plain, surface):
    with pytest.raises(ValueError, match="its surface is not a name and a radius"):
        again(plain, described("surface", value=surface))


def test_places_on_a_surface_are_kept_with_it():
    ball = np.concatenate([Y, X[:, 2:3]], axis=1)
    ball *= 0.5 / np.linalg.norm(ball, axis=1, keepdims=True)
    made = gn.Map(X, ball.astype(np.float32), surface=gn.surfaces.Sphere(0.5))
    assert pack(made)[1]["surface"] == ["sphere", 0.5]
    assert again(made).surface == made.surface


@pytest.mark.parametrize("part", [3, None, "Y", "raw", "obs/kind", "raw/Y", ["X"]])
def test_a_part_is_a_place_of_a_table(plain, part):
    with pytest.raises(ValueError, match=r"^part is "):
        again(plain, described("part", value=part))


@pytest.mark.parametrize("part", ["raw/X", "layers/counts", "obsm/X_pca"])
def test_the_part_that_a_map_is_made_of_is_kept(plain, part):
    made = again(plain, described("part", value=part))
    assert again(made)._part == part
    assert "part" not in pack(plain)[1]


@pytest.mark.parametrize("rows", [1, N + 1, "3", 3.0, True, None])
def test_the_rows_at_the_front_are_two_at_least_and_all_at_most(plain, rows):
    with pytest.raises(ValueError, match=f"^n_fitted is .*, and there are {N} rows$"):
        again(plain, described("n_fitted", value=rows))
    for number in (2, N):
        assert again(again(plain, described("n_fitted", value=number)))._n_fitted == number
    assert again(plain)._n_fitted is None


@pytest.mark.parametrize("orders", [[], "a", {"labels": "ab"}, {"labels": ["a", 3]}, {"labels": ["a"], "x": None}])
def test_orders_are_lists_of_text_by_name(plain, orders):
    with pytest.raises(ValueError, match=r"^orders is not a dict of lists of text$"):
        again(plain, described("orders", value=orders))


def test_what_the_map_alone_can_show_is_kept(plain):
    made = again(plain)
    assert made._alone is None
    made._alone = MapAlone()
    assert again(made)._alone == MapAlone()


def test_only_what_has_an_order_is_among_the_orders(plain):
    pd = pytest.importorskip("pandas")
    kinds = pd.Categorical(np.resize(["low", "high"], N), ["low", "high"])
    made = gn.Map(X, Y, labels=kinds, metadata={"age": np.arange(N)})
    assert pack(made)[1]["orders"] == {"labels": ["low", "high"]}
    assert "orders" not in pack(plain)[1]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"a": [[[[[[[[1]]]]]]]]}, ""),
        ({"a": [[[[[[[[[1]]]]]]]]]}, "parameter 'a' is neither a number nor text nor a list or dict of them"),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}, ""),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {}}}}}}}}}}, "parameter 'a' is neither"),
        ({"a": (1, 2.5, "b", None, True, [], {})}, ""),
        ({"a": 3, "b": {"c": {1: 2}}}, "parameter 'b' is neither"),
        ({"a": [1, print]}, "parameter 'a' is neither"),
        ({"a": {"b": 1, "c": print}}, "parameter 'a' is neither"),
        ({"a": 1, 2: 3}, "parameters is not a dict with names"),
    ],
)
def test_parameters_are_what_json_holds_up_to_eight_deep(parameters, text):
    made = gn.Map(X, Y, parameters=parameters)
    if not text:
        assert pack(made)[1]["parameters"] == parameters
        return
    with pytest.raises(ValueError, match=rf"^gnomon: a map must be one that a file can hold \({text}"):
        pack(made)


@pytest.mark.parametrize("seconds", [True, "1", None, -0.5, math.inf, math.nan])
def test_timings_are_seconds(plain, seconds):
    with pytest.raises(ValueError, match=r"^timing 'layout' is not a number of seconds$"):
        again(plain, described("timings", "layout", value=seconds))
    assert again(plain).timings == {"layout": 0.0, "all": 2}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        *((key, 3, f"{key} is not text") for key in ("method", "label_name", "name", "metric")),
        *((key, ["a", 3], f"{key} is not a list of text") for key in ("feature_names", "notes")),
        *((key, "ab", f"{key} is not a list of text") for key in ("feature_names", "notes")),
        *((key, [], f"{key} is not a dict with names") for key in ("parameters", "timings")),
        *((key, {"a": 1, 2: 3}, f"{key} is not a dict with names") for key in ("parameters", "timings")),
    ],
)
def test_entries_have_their_types(plain, key, value, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        again(plain, described(key, value=value))


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ([0, 9], r"^image_shape is \[0, 9\]$"),
        ([-3, -3], r"^image_shape is \[-3, -3\]$"),
        ([3, 2**62], r"^image_shape is \[3, 4611686018427387904\]$"),
        ([3, 2**62 - 1], r"image_shape=\(3, 4611686018427387903\) must be"),
        ([3.0, 3], "^image_shape is"),
        ([True, 9], "^image_shape is"),
        ("33", "^image_shape is"),
        ((3, 3), "^image_shape is"),
    ],
)
def test_sizes_of_pictures_are_whole_and_above_zero(plain, sizes, text):
    with pytest.raises(ValueError, match=text):
        again(plain, described("image_shape", value=sizes))
    assert again(plain, described("image_shape", value=[3, 3])).image_shape == (3, 3)
    assert again(plain).image_shape is None


SHAPES = {"embedding": (4, 2), "X_values": (4, 9), "metadata_0": (4,), "method_0": (7, 7)}
DESCRIBED = {"metadata": ["age"], "method_state": {"n_arrays": 1}}


@pytest.mark.parametrize(
    ("description", "shapes", "text"),
    [
        ({}, {}, ""),
        ({}, {"labels": (4,), "coordinates": (4, 3), "completion_center": (9,), "scale_center": (9,)}, ""),
        ({}, {"labels": (3,)}, r"array 'labels' has shape \(3,\), embedding \(4, 2\)"),
        ({}, {"images": (), "labels": (3,)}, r"array 'images' has shape \(\), embedding \(4, 2\)"),
        ({}, {"embedding": (4,)}, r"array 'embedding' has shape \(4,\)"),
        ({}, {"embedding": (4, 2, 1)}, r"array 'embedding' has shape \(4, 2, 1\)"),
        ({}, {"embedding": None}, "array 'embedding' is missing"),
        ({}, {"metadata_1": (4,)}, "it holds arrays that no map has: metadata_1"),
        ({"metadata": None}, {}, "it holds arrays that no map has: metadata_0"),
        ({"metadata": "a"}, {}, "it holds arrays that no map has: metadata_0"),
        ({}, {"method_1": (4,), "any": ()}, "it holds arrays that no map has: any, method_1"),
        ({"method_state": []}, {}, "it holds arrays that no map has: method_0"),
        ({"method_state": {"n_arrays": "1"}}, {}, "it holds arrays that no map has: method_0"),
        ({"method_state": {"n_arrays": True}}, {}, "it holds arrays that no map has: method_0"),
        ({"method_state": {}}, {}, "it holds arrays that no map has: method_0"),
        ({"method_state": {"n_arrays": 0}}, {}, "it holds arrays that no map has: method_0"),
        ({"method_state": {"n_arrays": 2}}, {"method_1": (3,)}, ""),
        ({"method_state": {"n_arrays": 10**7}}, {}, ""),
    ],
)
def test_arrays_are_those_of_one_map_before_they_are_read(description, shapes, text):
    given = {name: shape for name, shape in {**SHAPES, **shapes}.items() if shape is not None}
    start = time.process_time()
    if text:
        with pytest.raises(ValueError, match=f"^{text}$"):
            check_shapes({**DESCRIBED, **description}, given)
    else:
        check_shapes({**DESCRIBED, **description}, given)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            described("X", value={"dtype": "<f8", "shape": [N, 9]}),
            "its description of X is not dtype, shape and sparse",
        ),
        (described("X", "dtype", value="<i4"), "X is described as of type '<i4', sparse False"),
        (described("X", "sparse", value=0), "X is described as of type '<f8', sparse 0"),
        (described("X", "shape", value=[N, 8]), r"X is described as of shape \[24, 8\], and there are 24 x 9"),
        (described("X", "shape", value=[float(N), 9]), r"X is described as of shape \[24.0, 9\], and there are 24 x 9"),
        (described("X", "shape", value=(N, 9)), r"X is described as of shape \(24, 9\), and there are 24 x 9"),
        (arrayed("X_values", X[:, :8]), r"X is described as of shape \[24, 9\] and has \(24, 8\)"),
        (arrayed("X_values", X.astype(np.float32)), r"array 'X_values' has shape \(24, 9\) and type float32"),
        (arrayed("embedding", Y), r"array 'embedding' has shape \(24, 2\) and type float64"),
        (arrayed("metadata_0", np.zeros((N, 1))), r"array 'metadata_0' has shape \(24, 1\) and type float64"),
        (lacking("metadata_0"), "array 'metadata_0' is missing"),
        (lacking("embedding"), "array 'embedding' is missing"),
        (described("metadata", value=["age", "age"]), "metadata is not a list of different names"),
        (described("metadata", value="a"), "metadata is not a list of different names"),
        (arrayed("method_0", Y), "it holds arrays that no map has: method_0"),
        (arrayed("surprise", Y), "it holds arrays that no map has: surprise"),
        (lacking("notes", "name"), "its description lacks or adds name, notes"),
        (described("surprise", value=1), "its description lacks or adds surprise"),
        (described("alone", value={}), "alone is not claims, n_changes"),
        (described("scale", value=3), "its description of scale is not text"),
        (described("representation", value=3), "its description of representation is not text"),
        (described("graph", value=3), "its description of the graph is not metric, method and recall"),
    ],
)
def test_parts_of_another_kind_are_refused(plain, change, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        again(plain, change)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", ["<f4", "<f8", ">f4", ">f8"])
def test_numbers_in_any_byte_order_are_read_in_that_of_the_machine(form, kind):
    made = gn.Map(form(np.where(X > 0, X, 0.0).astype(kind[1:])), Y)

    def turned(arrays, description):
        description["X"]["dtype"] = kind
        for name in ("X_values", "embedding"):
            arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(kind[0]))

    found = again(made, turned)
    assert found.X.dtype == np.dtype(kind[1:])
    assert found.X.dtype.isnative
    assert found.embedding.dtype.isnative
    assert (found.X != made.X).sum() == 0
    np.testing.assert_array_equal(found.embedding, made.embedding)


def test_labels_and_names_of_objects_become_text_that_is_empty_where_there_is_none():
    labels = np.array(["a", None] * (N // 2), dtype=object)
    made = gn.Map(X, Y, labels=labels)
    arrays, _ = pack(made)
    assert arrays["labels"].tolist() == ["a", ""] * (N // 2)
    assert again(made).labels.tolist() == labels.tolist()
    numbers = gn.Map(X, Y, labels=np.arange(N), metadata={"half": np.arange(N) / 2})
    for name, column in pack(numbers)[0].items():
        assert column.dtype.kind == {"labels": "i"}.get(name, "f"), name


def test_a_graph_may_lack_how_sure_its_recall_is(plain):
    made = replace_graph(plain)
    with pytest.raises(ValueError, match=r"^its graph breaks a rule: row 0 has the neighbour 24, outside of \[0, 24\)"):
        again(made, lambda arrays, description: arrays.update(graph_indices=np.full((N, 5), N, np.int32)))
    found = again(made, lambda arrays, description: description["graph"].pop("recall_error"))
    assert found.graph.recall == made.graph.recall
    kept = again(made).graph
    assert (kept.metric, kept.method, kept.recall) == (made.graph.metric, made.graph.method, made.graph.recall)
    assert kept.recall_error == made.graph.recall_error
    np.testing.assert_array_equal(kept.indices, made.graph.indices)


def replace_graph(plain):
    """Return a map with a graph whose recall was estimated."""
    found = gn.neighbors.compute_neighbors(X, 5)
    return gn.Map(X, Y, graph=replace(found, recall=0.9, recall_error=0.01))


def test_a_scale_is_kept_with_its_weights(plain):
    for weight in (None, np.r_[2.0, np.ones(8)]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            made = gn.map(X, "pca", scale="standard", feature_weight=weight)
        found = again(made).scale
        assert found.name == "standard"
        for part in ("center", "spread", "weight"):
            np.testing.assert_array_equal(getattr(found, part), getattr(made.scale, part))


def test_rules_of_columns_and_components_are_kept():
    kinds = {"age": X[:, 0], "kind": np.resize(["a", "b", "c"], N)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        ruled, reduced = gn.map(kinds, "pca"), gn.map(X, "pca", n_pcs=3)
    assert again(ruled).columns == ruled.columns
    found = again(reduced).representation
    assert (found.name, found.has_formula) == ("principal components", True)
    for part in ("values", "center", "components"):
        np.testing.assert_array_equal(getattr(found, part), getattr(reduced.representation, part))
    plain = again(reduced, lacking("coordinates_center", "coordinates_components")).representation
    assert (plain.has_formula, plain.center) == (False, None)


def test_as_many_columns_as_a_byte_has_bits_take_a_byte():
    gaps = np.zeros((N, 8), dtype=bool)
    gaps[::3, 7] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        made = gn.map(np.where(gaps, np.nan, X[:, :8]), "pca", missing="median")
    assert pack(made)[0]["missing"].shape == (N, 1)
    np.testing.assert_array_equal(again(made).completion.missing, gaps)


def test_a_picture_may_be_one_pixel_high():
    assert check_picture((1, 9), 9) == (1, 9)
    assert check_picture([3, 3, 1], 9) == (3, 3, 1)
    for shape in ((0, 9), (9,), (1, 3, 3, 1), (True, 9), (3, 4)):
        with pytest.raises(ValueError, match="of as many pixels as features"):
            check_picture(shape, 9)
