"""Whatever a file of a method holds that `save` does not write is refused when it is loaded, in one form."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from tests.archives import described, read_parts, write_changed

import gnomon as gn

X = load_digits().data.astype(np.float32)[:60]


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("methods") / "method.gnomon"
    gn.UMAP(max_iter=5, random_state=0).fit(X).save(path)
    return read_parts(path)


def load_changed(content, path, change, *, sealed=True):
    write_changed(path, content, change, sealed=sealed)
    return gn.load(path)


def array_of(name, make):
    """Change the array of a fitted attribute."""

    def change(arrays, description):
        key = description["fitted"][name]["array"]
        arrays[key] = make(arrays[key])

    return change


def neighbor_far_out(arrays, description):
    arrays[description["fitted"]["graph_"]["fields"]["indices"]["array"]][5, 3] = 2**30


CHANGES = {
    "another layout": (described("method_state", value={}), "its description of the method is not"),
    "no method": (described("method", value="Popen"), "'Popen' is no method of gnomon"),
    "an attribute of code": (described("fitted", "transform", value=None), "'transform' is no fitted attribute"),
    "a setting of a run": (described("parameters", "n_jobs", value="all"), "n_jobs='all' must be"),
    "further parameter": (described("parameters", "more", value=1), "parameters of UMAP are"),
    "a callback": (described("parameters", "callback", value="print"), "callback='print' must be None"),
    "no embedding": (described("fitted", "embedding_", value=None), "the method has no positions"),
    "embedding of text": (described("fitted", "embedding_", value="here"), "the method has no positions"),
    "features": (described("fitted", "n_features_in_", value="many"), "the method has 'many' features"),
    "other features": (described("fitted", "n_features_in_", value=3), "keeps other rows than it mapped"),
    "names of fewer": (described("fitted", "feature_names_in_", value={"texts": ["a"]}), "one name for each feature"),
    "rows of fewer": (array_of("embedding_", lambda Y: Y[1:]), "keeps other rows than it mapped"),
    "more arrays": (lambda a, d: a.update(surprise=np.zeros(3)), "arrays and describes"),
    "fewer arrays": (lambda a, d: a.pop("method_0"), "arrays and describes"),
    "count of text": (described("n_arrays", value="7"), "arrays and describes '7'"),
    "shared with a map": (
        described("fitted", "embedding_", value={"shared": "embedding", "dtype": "f4"}),
        "the method cannot be made again",
    ),
    "graph of a map": (
        described("fitted", "embedding_", value={"graph": "indices", "n_neighbors": 3}),
        "refers to 3 neighbours",
    ),
    "optimizer": (
        described("fitted", "solution_", value={"class": "Adam", "fields": {}}),
        "Adam is described by",
    ),
}


@pytest.mark.parametrize(("change", "fact"), CHANGES.values(), ids=CHANGES)
def test_a_file_with_a_wrong_part_is_refused(content, tmp_path, change, fact):
    form = rf"^load: file '.*' must be a complete gnomon-method file \(.*{fact}.*\)\. Save it again\.$"
    with pytest.raises(ValueError, match=form):
        load_changed(content, tmp_path / "x", change)


def test_a_changed_number_is_seen_by_the_checksum(content, tmp_path):
    with pytest.raises(ValueError, match="another checksum"):
        load_changed(content, tmp_path / "x", array_of("embedding_", lambda Y: Y + 1), sealed=False)


def test_row_numbers_out_of_range_are_never_followed(content, tmp_path):
    loaded = load_changed(content, tmp_path / "x", neighbor_far_out)
    with pytest.raises(ValueError, match=r"row 5 has the neighbour 1073741824, outside of \[0, 60\)"):
        loaded.jacobian(X[:1] + 1)


def test_a_newer_layout_says_what_to_do(content, tmp_path):
    with pytest.raises(ValueError, match=r"must be of layout 1 at most \(a newer gnomon wrote layout 2\)\. Update"):
        load_changed(content, tmp_path / "x", described("version", value=2))


def test_what_is_written_again_unchanged_is_loaded(content, tmp_path):
    loaded = load_changed(content, tmp_path / "x", lambda arrays, description: None)
    assert loaded.transform(X[:3]).shape == (3, 2)


def test_a_parameter_that_is_not_in_an_older_file_takes_its_default(content, tmp_path):
    loaded = load_changed(content, tmp_path / "x", lambda arrays, description: description["parameters"].pop("verbose"))
    assert loaded.verbose is False
