"""Maps of tables whose columns stand in blocks, and maps by Gower's coefficient."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

pd = pytest.importorskip("pandas")

N = 90
QUICK = {"max_iter": 30, "random_state": 0}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, N)
    return pd.DataFrame(
        {
            "age": rng.normal(40.0 + 10.0 * kind, 3.0),
            "income": np.exp(rng.normal(9.0 + kind, 0.3)),
            "country": np.array(["DE", "FR", "IT"])[kind],
            "member": rng.random(N) < 0.4,
            "size": pd.Categorical(np.array(["S", "M", "L"])[rng.integers(0, 3, N)], ["S", "M", "L"], ordered=True),
            **{f"word {j}": rng.poisson(1.0 + kind) for j in range(4)},
            "note": rng.normal(size=N),
        }
    )


@pytest.fixture(scope="module")
def blocks():
    return {
        "person": gn.Block(["income", "country", "size"]),
        "words": gn.Block("word *", metric="cosine", weight=0.5),
        "member": gn.Block("member", metric="gower", weight=0.25),
    }


@pytest.fixture(scope="module")
def made(people, blocks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return gn.map(people, blocks=blocks, **QUICK)


def test_columns_of_blocks_become_features_and_others_metadata(made):
    wanted = ["income", "country = DE", "country = FR", "country = IT", "size (rank)"]
    words = [f"word {j}" for j in range(4)]
    assert made.feature_names == [*wanted, *words, "member"]
    assert {"age", "note", "country"} <= made.metadata.keys()
    assert made.metric == "euclidean"
    assert any("made of blocks of columns (person: 5 columns, euclidean; words" in note for note in made.notes)
    assert "words: 4 columns, cosine, weight 0.5" in made.parameters["blocks"]


def test_each_block_is_scaled_by_itself(made, people):
    assert made.scale.name == "blocks"
    spread = dict(zip(made.feature_names, made.scale.spread, strict=True))
    assert spread["income"] == pytest.approx(people["income"].std(ddof=0))
    shares = people["country"].value_counts(normalize=True)
    assert spread["country = DE"] == pytest.approx(np.sqrt(1 - np.square(shares).sum()))
    assert {spread[f"word {j}"] for j in range(4)} == {1.0}
    assert spread["member"] == 1.0


@pytest.mark.parametrize("scale", ["auto", None])
def test_unlike_units_within_a_block_are_told_by_its_name(scale):
    X = np.random.default_rng(0).normal(size=(60, 6)) * [1, 1, 1, 1, 1, 1e4]
    given = {"like": gn.Block([0, 1, 2], scale=scale), "unlike": gn.Block([3, 4, 5], scale=scale)}
    with pytest.warns(DataWarning, match="in block 'unlike', ") as caught:
        gn.map(X, blocks=given, **QUICK)
    told = [str(one.message) for one in caught if "in block" in str(one.message)]
    assert len(told) == 1
    assert "'like'" not in told[0]


def test_answers_speak_of_all_columns(made, people):
    features = {row["feature"] for row in made.contrast(people["country"] == "IT").to_dict()["features"]}
    assert {"income", "country = IT", "word 0"} <= features
    assert "made of blocks" in made.report()
    assert "standardised block by block" in made.report()


def test_rows_are_placed_in_their_own_units_and_the_file_keeps_that(made, people, tmp_path):
    np.testing.assert_array_equal(made.place(people), made.embedding)
    made.save(tmp_path / "map.gnomon")
    loaded = gn.Map.load(tmp_path / "map.gnomon")
    new = people.head(12).assign(income=lambda frame: 1.1 * frame["income"])
    np.testing.assert_array_equal(loaded.place(new), made.place(new))
    np.testing.assert_array_equal(loaded.transform(new), made.transform(new))
    assert loaded.parameters == made.parameters


def test_a_map_of_one_block_is_that_of_its_columns(people):
    numbers = people[["age", "income", "note"]]
    plain = gn.map(numbers, scale="standard", **QUICK)
    block = gn.map(numbers, blocks={"all": gn.Block("*", scale="standard")}, **QUICK)
    np.testing.assert_array_equal(block.embedding, plain.embedding)
    np.testing.assert_array_equal(block.place(numbers + 1), plain.place(numbers + 1))
    some = gn.map(people, blocks={"some": gn.Block(["age", "note"], scale="standard")}, **QUICK)
    np.testing.assert_array_equal(some.embedding, gn.map(people[["age", "note"]], scale="standard", **QUICK).embedding)


def test_arrays_have_blocks_by_number():
    X = np.random.default_rng(0).normal(size=(60, 5))
    made = gn.map(X, blocks={"a": gn.Block([0, 1]), "b": gn.Block([4])}, **QUICK)
    np.testing.assert_array_equal(made.X, X[:, [0, 1, 4]])


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"drop": ["note"]}, "drop must be left out where blocks are given"),
        ({"features": ["age"]}, "features must be left out where blocks are given"),
        ({"n_pcs": 2}, "blocks must be left out where the map is made of given representation"),
        ({"scale": "robust"}, "scale='robust' must be 'auto' here"),
        ({"blocks": {"a": gn.Block("agee")}}, "block column='agee' must be one of those in the data"),
        ({"metric": "cosine"}, "metric='cosine' must be left out where blocks are given"),
    ],
)
def test_what_does_not_go_with_blocks_is_refused(people, blocks, parameters, text):
    with pytest.raises(ValueError, match=text):
        gn.map(people, **{"blocks": blocks, **parameters}, **QUICK)


def test_methods_without_blocks_say_so(people, blocks):
    with pytest.raises(TypeError, match="blocks must be a parameter of pca"):
        gn.map(people, method="pca", blocks=blocks)
    with pytest.raises(ValueError, match="blocks must be left out where method is an estimator"):
        gn.map(people, method=gn.UMAP(), blocks=blocks)


def _gower(frame):
    total = np.zeros((len(frame), len(frame)))
    for column in ("age", "income", "note", *(f"word {j}" for j in range(4))):
        values = frame[column].to_numpy(dtype=float)
        total += np.abs(values[:, None] - values) / np.ptp(values)
    rank = frame["size"].cat.codes.to_numpy(dtype=float)
    total += np.abs(rank[:, None] - rank) / np.ptp(rank)
    for column in ("country", "member"):
        values = frame[column].to_numpy()
        total += values[:, None] != values
    return total / frame.shape[1]


def test_gower_maps_are_of_gowers_distances(people, tmp_path):
    """Against the definition: distances given as a matrix make the same neighbours, and new rows the same places."""
    made = gn.map(people, metric="gower", **QUICK)
    assert (made.metric, made.scale.name) == ("manhattan", "gower")
    distances = _gower(people)
    np.fill_diagonal(distances, np.inf)
    found = np.take_along_axis(distances, made.neighbors().indices, axis=1)
    np.testing.assert_allclose(found, np.sort(distances, axis=1)[:, : found.shape[1]], atol=1e-6)
    np.testing.assert_allclose(made.neighbors().distances / people.shape[1], found, atol=1e-6)
    np.testing.assert_array_equal(made.place(people), made.embedding)
    made.save(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(gn.Map.load(tmp_path / "map.gnomon").place(people.head(9)), made.embedding[:9])
    assert "Gower's coefficient" in made.report()


def test_gower_has_its_own_scale(people):
    with pytest.raises(ValueError, match=r"scale='standard' must be 'auto' here .*gower"):
        gn.map(people, metric="gower", scale="standard", **QUICK)
    with pytest.raises(ValueError, match="metric='gower' must be used with a map of the features"):
        gn.map(people, metric="gower", n_pcs=2, **QUICK)
