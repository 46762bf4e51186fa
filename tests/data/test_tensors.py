"""Tensors on the CPU are tables without a copy; those that are elsewhere are refused with what to call."""

import numpy as np
import pytest

import gnomon
from gnomon.data import check_table
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
        (tensor.to("meta"), r"on device meta.*X\.cpu\(\)"),
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
