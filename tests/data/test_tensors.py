"""Tensors on the CPU are tables without a copy; those that are elsewhere are refused with what to call."""

from types import SimpleNamespace

import numpy as np
import pytest

import gnomon
from gnomon.data import check_table
from gnomon.data.tensors import array_of_tensor, is_tensor
from gnomon.explanations.rows import find_row
from gnomon.geometry.check import check_places

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


class Capsule:
    """What speaks DLPack and nothing else."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class Kind(str):
    """A type of torch, which says whether it is one of fractions."""

    __slots__ = ()

    @property
    def is_floating_point(self):
        return "float" in self


class Device(str):
    """A device of torch, such as cuda:0."""

    __slots__ = ()

    @property
    def type(self):
        return self.partition(":")[0]


class Tensor:
    """A tensor of torch as far as gnomon looks at it: NumPy cannot read it if it has a gradient or is bfloat16."""

    __module__ = "torch"

    def __init__(self, values, dtype=None, device="cpu", requires_grad=False, layout="torch.strided"):
        self.values = values if isinstance(values, Exception) else np.asarray(values)
        self.requires_grad, self.layout = requires_grad, layout
        self.shape, self.ndim = np.shape(self.values), np.ndim(self.values)
        self.dtype, self.device = Kind(dtype or f"torch.{self.values.dtype}"), Device(device)

    def __len__(self):
        return len(self.values)

    def __array__(self, *options, **more):
        return self.numpy()

    def float(self):
        return Tensor(self.values.astype(np.float32))

    def resolve_conj(self):
        return self

    resolve_neg = resolve_conj

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if isinstance(self.values, Exception):
            raise self.values
        if self.dtype in ("torch.bfloat16", "torch.float8_e5m2"):
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


class Module:
    """A module of torch: it takes tensors alone."""

    def __call__(self, X):
        raise TypeError("linear(): argument 'input' must be Tensor, not numpy.ndarray")


Module.__module__ = "torch.nn.modules.module"


def test_labels_columns_and_pictures_may_be_tensors_of_all_kinds_that_rows_may_be():
    kind, loss = np.arange(40) % 2, np.linspace(0.0, 1.0, 40, dtype=np.float32)
    pictures = np.zeros((40, 4, 4), np.uint8)
    columns = {"loss": Tensor(loss, dtype="torch.bfloat16")}
    labels = Tensor(kind.astype(np.float32), dtype="torch.bfloat16")
    made = gnomon.map(X, "pca", labels=labels, metadata=columns, images=Tensor(pictures))
    np.testing.assert_array_equal(made.labels, kind)
    np.testing.assert_array_equal(made.metadata["loss"], loss)
    assert made.images is pictures
    np.testing.assert_array_equal(made.with_features(columns).X[:, 0], loss)
    table = {"a": Tensor(X[:, 0], dtype="torch.bfloat16"), "b": Tensor(X[:, 1])}
    np.testing.assert_array_equal(gnomon.map(table, "pca").X, X[:, :2])
    loose = Tensor(loss, requires_grad=True)
    for options, text in (
        ({"labels": loose}, r"labels must be a tensor without a gradient .*Pass labels\.detach\(\)"),
        ({"metadata": {"loss": loose}}, r"metadata\['loss'\] must be .*Pass metadata\['loss'\]\.detach\(\)"),
        ({"labels": Tensor(loss, device="meta")}, r"labels must be .* device meta, which holds no data"),
    ):
        with pytest.raises(TypeError, match=text):
            gnomon.map(X, "pca", **options)
    with pytest.raises(TypeError, match=r"Pass X\['a'\]\.detach\(\)"):
        gnomon.map({"a": loose}, "pca")


def test_pictures_as_torch_orders_them_are_refused_with_what_turns_them():
    pictures = np.zeros((40, 3, 8, 8), np.uint8)
    for given, call in ((Tensor(pictures), "permute"), (pictures, "transpose")):
        with pytest.raises(ValueError, match=rf"shape \(40, 3, 8, 8\) .*Pass images\.{call}\(0, 2, 3, 1\)"):
            gnomon.Map(X, X[:, :2], images=given)


def test_data_sets_of_torch_are_refused_with_where_their_rows_are():
    class Loader:
        def __iter__(self):
            return iter([X[:20], X[20:]])

        def __len__(self):
            return 2

    class Pairs:
        def __getitem__(self, i):
            if i >= 3:
                raise IndexError
            return X[i], i

        def __len__(self):
            return 3

    held = SimpleNamespace(tensors=(Tensor(X), Tensor(X[:, 0])))
    for wrong, text in (
        (Loader(), r"Loader, whose rows come in parts\)\. Stack them: numpy\.concatenate\(list\(X\)\)"),
        (held, r"of 2 tensors\)\. Pass X\.tensors\[0\]\."),
        (Pairs(), r"Stack its rows, such as numpy\.stack\(\[row\[0\] for row in X\]\)"),
    ):
        with pytest.raises(TypeError, match=text):
            check_table(wrong)


def test_a_module_is_refused_where_a_function_of_rows_is_asked_for_and_its_gradients_too():
    made = gnomon.Map(X, X[:, :2], labels=X[:, 0] > 0)
    i = int(np.flatnonzero(made.labels)[0])
    with pytest.raises(
        TypeError, match=r"found a torch module, Module\)\. Wrap it: lambda X: module\(torch\.as_tensor"
    ):
        made.counterfactual(i, target=False, transform=Module())
    with pytest.raises(TypeError, match=r"transform\(X\) must be a tensor without a gradient"):
        made.counterfactual(i, target=False, transform=lambda rows: Tensor(rows[:, :2], requires_grad=True))


def test_a_row_number_is_what_operator_index_takes():
    class Three:
        def __index__(self):
            return 3

    assert gnomon.Map(X, X[:, :2]).why(Three()).index == find_row(Three(), 40) == 3
    for wrong in (True, 3.0, "3"):
        with pytest.raises(TypeError, match="must be an integer"):
            find_row(wrong, 40)


def test_dlpack_on_the_cpu_is_read_without_a_copy():
    found = check_table(Capsule(X))
    assert np.shares_memory(found.values, X)
    assert np.array_equal(found.values, X)
    backwards = check_table(Capsule(X[::-1, ::-1])).values
    assert np.array_equal(backwards, X[::-1, ::-1])
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # before, NumPy itself did not give read-only arrays away
        fixed = X.copy()
        fixed.flags.writeable = False
        assert np.array_equal(check_table(Capsule(fixed)).values, X)
    assert check_table(Capsule(X.astype(np.float16))).values.dtype == np.float32


def test_dlpack_on_another_device_is_refused():
    with pytest.raises(TypeError, match=r"Capsule on DLPack's device 2.*X\.cpu\(\)"):
        check_table(Capsule(X, device=2))


@pytest.mark.slow
def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(X.copy())
    assert np.shares_memory(check_table(tensor).values, tensor.numpy())
    assert np.array_equal(check_table(tensor.T).values, X.T)
    assert np.array_equal(check_table(tensor.to(torch.bfloat16)).values, tensor.to(torch.bfloat16).float().numpy())
    assert check_table(tensor.half()).values.dtype == np.float32
    assert check_table(tensor.double()).values.dtype == np.float64
    assert check_table(torch.nn.Parameter(tensor).detach()).values.shape == X.shape
    assert np.array_equal(check_table(torch.conj(torch.complex(tensor, -tensor)).imag).values, X)
    fitted = gnomon.PCA().fit(X)
    assert np.array_equal(gnomon.PCA().fit(tensor).transform(tensor), fitted.transform(X))
    for wrong, text in (
        (torch.nn.Parameter(tensor), r"requires_grad=True.*X\.detach\(\)"),
        (tensor.to("meta"), r"on device meta, which holds no data"),
        (tensor.to_sparse(), r"sparse_coo.*X\.to_dense\(\)"),
    ):
        with pytest.raises(TypeError, match=text):
            check_table(wrong)
    with pytest.raises(ValueError, match="Complex data not supported"):
        check_table(torch.complex(tensor, tensor))


def test_places_of_a_map_may_be_a_tensor_and_are_named():
    places = np.random.default_rng(1).normal(size=(len(X), 2))
    assert np.array_equal(check_places(Capsule(places), len(X)), places)
    with pytest.raises(TypeError, match=r"Y must be .*Copy it to the CPU first, for instance with Y\.cpu\(\)\."):
        check_places(Capsule(places, device=2), len(X))


Parameter = type("Parameter", (Tensor,), {"__module__": "torch.nn"})


@pytest.mark.parametrize("kind", ["torch.float16", "torch.float32", "torch.float64", "torch.int64"])
def test_tensors_of_types_that_numpy_has_are_not_converted(kind):
    values = X.astype(kind.removeprefix("torch."))
    for make in (Tensor, Parameter):
        assert array_of_tensor(make(values, kind)) is values


def test_tensors_of_other_fractions_become_float32():
    found = array_of_tensor(Tensor(X.astype(np.float64), "torch.bfloat16"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(check_table(Tensor(X, "torch.float8_e5m2")).values, X)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"device": "cuda:0"},
            "a dense tensor in the memory of the CPU (torch.Tensor on device cuda:0). Pass weights.cpu().",
        ),
        (
            {"requires_grad": True},
            "a tensor without a gradient (torch.Tensor with requires_grad=True). Pass weights.detach().",
        ),
        (
            {"layout": "torch.sparse_coo"},
            "a dense tensor in the memory of the CPU (torch.Tensor of layout torch.sparse_coo). "
            "Pass weights.to_dense().",
        ),
        (
            {"values": TypeError("no numbers.\nmore"), "dtype": "torch.float32"},
            "a dense tensor in the memory of the CPU (torch.Tensor: no numbers).",
        ),
    ],
)
def test_tensors_that_are_no_arrays_are_refused_with_what_to_call(given, text):
    with pytest.raises(TypeError) as caught:
        array_of_tensor(Tensor(**{"values": X, **given}), name="weights")
    assert str(caught.value) == f"gnomon: weights must be {text}"


@pytest.mark.parametrize("device", [1, 3, 11])
def test_dlpack_in_memory_of_the_host_is_read(device):
    class Pinned(Capsule):
        def __dlpack_device__(self):
            return asked.pop(0), 0

    asked = [device, 1, 1]  # NumPy itself asks too, and knows the first alone
    np.testing.assert_array_equal(array_of_tensor(Pinned(X)), X)


def test_what_dlpack_cannot_give_is_told():
    class Broken(Capsule):
        def __dlpack__(self, **options):
            raise BufferError("cannot be exported.")

    with pytest.raises(TypeError) as caught:
        array_of_tensor(Broken(X), name="Y")
    where = f"{__name__.partition('.')[0]}.Broken"
    text = f"Y must be a dense tensor in the memory of the CPU ({where}: cannot be exported)."
    assert str(caught.value) == f"gnomon: {text}"


def test_arrays_and_classes_are_no_tensors():
    assert is_tensor(Capsule(X))
    for other in (X, Capsule, Tensor, [1.0], type("Half", (), {"__dlpack__": print})()):
        assert not is_tensor(other)
    assert is_tensor(Tensor(X))
