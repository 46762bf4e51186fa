"""Parameters of other libraries are taken under the same name, or refused with the name they have here."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gnomon as gn
from gnomon.methods import METHODS
from gnomon.methods.other_names import METHOD_NAMES

_PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text()
_CASES = [
    ("umap", "UMAP", gn.UMAP),
    ("sklearn.manifold", "TSNE", gn.TSNE),
    ("openTSNE", "TSNE", gn.TSNE),
    ("pacmap", "PaCMAP", gn.PaCMAP),
    ("sklearn.manifold", "Isomap", gn.Isomap),
    ("sklearn.manifold", "LocallyLinearEmbedding", gn.LocallyLinearEmbedding),
    ("sklearn.manifold", "MDS", gn.MDS),
    ("sklearn.manifold", "SpectralEmbedding", gn.LaplacianEigenmaps),
    ("sklearn.decomposition", "PCA", gn.PCA),
    ("sklearn.decomposition", "KernelPCA", gn.KernelPCA),
]


def _rows(library, name):
    """Parameters of a class elsewhere and what the page says stands for each here."""
    head = f"| `{library}.{name}` |"
    table = _PAGE[_PAGE.index(head) :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {their.strip("`"): ours.strip("`") for their, ours, _ in cells}


ROWS = [(ours, their, here) for library, name, ours in _CASES for their, here in _rows(library, name).items()]


@pytest.mark.parametrize(("cls", "their", "here"), ROWS, ids=[f"{cls.__name__}, {their}" for cls, their, _ in ROWS])
def test_each_row_of_the_tables_is_what_the_constructor_does(cls, their, here):
    if their == here:
        assert their in cls().get_params()
        return
    rule = "left out|written as loss_params" if here == "None" else rf"written as {re.escape(here)}\b"
    form = rf"^{cls.__name__}: {their} must be ({rule}).*\.$"
    with pytest.raises(TypeError, match=form):
        cls(**{their: 3})
    with pytest.raises(TypeError, match=form):
        cls().set_params(**{their: 3})
    assert here == "None" or here in cls().get_params()


@pytest.mark.parametrize(("library", "name", "ours"), _CASES, ids=[f"{library}.{name}" for library, name, _ in _CASES])
def test_the_tables_have_every_parameter_of_the_library(library, name, ours):
    module = pytest.importorskip(library)
    theirs = set(inspect.signature(getattr(module, name)).parameters)
    assert theirs <= set(_rows(library, name))


class _Own(gn.UMAP):
    pass


@pytest.mark.parametrize(
    "cls", [_Own, *(one for card in METHODS if (one := getattr(gn, card.estimator))._other_names)], ids=str
)
def test_every_class_that_inherits_names_knows_them_in_its_constructor(cls):
    for name in cls._other_names:
        with pytest.raises(TypeError, match=rf"^{cls.__name__}: {name} must be "):
            cls(**{name: 3})


def test_a_parameter_in_a_pipeline_is_named_too():
    pipe = make_pipeline(StandardScaler(), gn.UMAP())
    with pytest.raises(TypeError, match=r"^UMAP: low_memory must be left out \(memory is foreseen"):
        pipe.set_params(umap__low_memory=True)


@pytest.mark.parametrize(
    ("cls", "given", "meant"), [(gn.UMAP, "n_neighbours", "n_neighbors"), (gn.TSNE, "perplexty", "perplexity")]
)
def test_a_name_that_is_misspelt_is_named_as_it_is_meant(cls, given, meant):
    with pytest.raises(
        TypeError, match=rf"^{cls.__name__}: unexpected keyword argument '{given}'. Did you mean '{meant}'\?$"
    ):
        cls(**{given: 3})


def test_aligned_maps_know_the_names_of_umap_learn():
    with pytest.raises(TypeError, match=r"^AlignedMaps: alignment_window_size must be written as window\.$"):
        gn.AlignedMaps(alignment_window_size=2)


def test_values_of_scikit_learn_are_told_by_their_names_here():
    X = np.eye(6)
    with pytest.raises(ValueError, match="'gaussian' is what scikit-learn calls 'rbf'"):
        gn.KernelPCA(kernel="rbf").fit(X)
    with pytest.raises(ValueError, match="'svd' is what scikit-learn calls 'full'"):
        gn.PCA(solver="full").fit(X)
    with pytest.raises(TypeError, match="variant='ordinal' is what scikit-learn called metric=False"):
        gn.MDS(metric=False).fit(X)


def test_the_gaussian_kernel_of_scikit_learn_is_the_one_that_the_page_says():
    X = np.random.default_rng(0).normal(size=(40, 3))
    theirs = SklearnKernelPCA(2, kernel="rbf", gamma=0.02).fit_transform(X)
    ours = gn.KernelPCA(2, kernel="gaussian", kernel_params={"sigma": (2 * 0.02) ** -0.5}).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8)
    theirs = SklearnKernelPCA(2, kernel="poly", gamma=0.5, degree=3, coef0=1).fit_transform(X)
    given = {"coefficients": (1, 3, 3, 1), "scale": 2.0}
    ours = gn.KernelPCA(2, kernel="polynomial", kernel_params=given).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-6, atol=1e-8)


class _WithTol(gn.PCA):
    def __init__(self, n_components=2, *, tol=0.0):
        super().__init__(n_components)
        self.tol = tol


def test_a_class_of_somebodys_may_have_a_parameter_of_that_name():
    assert _WithTol().set_params(tol=0.5).tol == 0.5
    with pytest.raises(TypeError, match=r"^_WithTol: svd_solver must be written as solver"):
        _WithTol().set_params(svd_solver="full")


def test_a_name_that_nobody_has_stays_an_unexpected_argument():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        gn.TSNE(colour=3)


@pytest.mark.parametrize("cls", [gn.UMAP, gn.DensMAP, gn.FeatMAP, gn.TSNE, gn.PaCMAP])
def test_constructors_keep_their_signature(cls):
    parameters = inspect.signature(cls).parameters
    assert list(parameters) == list(inspect.signature(cls.__init__).parameters)[1:]
    assert set(parameters) == set(cls().get_params())
    assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
    assert clone(cls(n_components=3)).n_components == 3


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_methods_of_other_names_are_told_as_they_are_called_here(name):
    ours = re.match("'(.*?)'", METHOD_NAMES[name].ours)[1]
    assert ours in {card.name for card in METHODS}
    assert name not in {card.name for card in METHODS}
    with pytest.raises(ValueError, match=f"map: method={name!r} must be written as '{ours}'"):
        gn.map(np.arange(40.0).reshape(20, 2) ** 2, method=name)


def test_what_is_told_of_diffusion_maps_makes_one():
    told = METHOD_NAMES["diffusion_map"].ours
    assert "weights='heat', alpha=1 and diffusion_time=1" in told
    X = np.random.default_rng(0).normal(size=(60, 3))
    made = gn.map(X, method="laplacian_eigenmaps", weights="heat", alpha=1, diffusion_time=1, scale=None)
    plain = gn.LaplacianEigenmaps(weights="heat", alpha=1).fit(X)
    np.testing.assert_allclose(made.embedding, plain.embedding_ * (1.0 - plain.eigenvalues_), rtol=1e-4, atol=1e-6)
