"""Tensors of torch, and of anything that speaks DLPack, on the CPU become arrays that share their memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["array_of_tensor", "is_module", "is_tensor"]

_RULE = "a dense tensor in the memory of the CPU"
_HOST_DEVICES = (1, 3, 11)  # DLPack's numbers of the CPU, and of memory that CUDA and ROCm pin there


def _comes_of(value: object, module: str, name: str) -> bool:
    return any((kind.__module__, kind.__name__) == (module, name) for kind in type(value).__mro__)


def _is_torch(X: object) -> bool:
    return _comes_of(X, "torch", "Tensor")


def is_tensor(X: object) -> bool:
    """Return whether X is a tensor of torch, or offers DLPack and no ``__array__``; nothing is imported to ask."""
    dlpack = hasattr(X, "__dlpack__") and hasattr(X, "__dlpack_device__") and not hasattr(X, "__array__")
    return _is_torch(X) or (dlpack and not isinstance(X, type))


def is_module(model: object) -> bool:
    """Return whether an object is a module of torch, which takes tensors and no arrays; nothing is imported to ask."""
    return _comes_of(model, "torch.nn.modules.module", "Module")


def array_of_tensor(X: Any, *, name: str = "X") -> npt.NDArray[Any]:
    """Return a tensor as an array without a copy; of types that NumPy lacks, such as bfloat16, a copy in float32.

    Parameters
    ----------
    X : tensor
    name : str, default="X"
        What errors call it.

    Raises
    ------
    TypeError
        If it is on another device, sparse, or part of a graph of gradients; the text says what to pass instead.
    """
    if not _is_torch(X):
        return _of_dlpack(X, name)
    kind = "torch.Tensor"
    if X.device.type == "meta":
        remedy = "Pass one with values, such as that of a model whose weights are loaded."
        raise TypeError(message(name, _RULE, fact=f"{kind} on device meta, which holds no data", remedy=remedy))
    if X.device.type != "cpu":
        raise TypeError(message(name, _RULE, fact=f"{kind} on device {X.device}", remedy=f"Pass {name}.cpu()."))
    if X.requires_grad:
        rule, fact = "a tensor without a gradient", f"{kind} with requires_grad=True"
        raise TypeError(message(name, rule, fact=fact, remedy=f"Pass {name}.detach()."))
    if str(X.layout) != "torch.strided":
        raise TypeError(message(name, _RULE, fact=f"{kind} of layout {X.layout}", remedy=f"Pass {name}.to_dense()."))
    try:
        # NumPy has neither floats of 8 bits nor bfloat16; float32 holds all of their values.
        few = X.dtype.is_floating_point and str(X.dtype) not in ("torch.float16", "torch.float32", "torch.float64")
        return np.asarray((X.float() if few else X).resolve_conj().resolve_neg().numpy())
    except (RuntimeError, TypeError) as error:  # quantized and nested tensors, and types without numbers
        raise TypeError(message(name, _RULE, fact=f"{kind}: {str(error).splitlines()[0].rstrip('.')}")) from error


def _of_dlpack(X: Any, name: str) -> npt.NDArray[Any]:
    kind = f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"
    device = int(X.__dlpack_device__()[0])
    if device not in _HOST_DEVICES:
        remedy = f"Copy it to the CPU first, for instance with {name}.cpu()."
        raise TypeError(message(name, _RULE, fact=f"{kind} on DLPack's device {device}", remedy=remedy))
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(message(name, _RULE, fact=f"{kind}: {str(error).rstrip('.')}")) from error
