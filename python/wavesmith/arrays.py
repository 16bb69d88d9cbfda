# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other libraries: the types of elements that kernels have, and the way of
torch's tensors to NumPy and back, by DLPack: the memory is shared, and neither library
has to know the other's interface in C."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

_DTYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
}
#: Types of the package ml_dtypes: its name, which is torch's too, and the unsigned
#: integer of its size.
_MORE_DTYPES: dict[str, tuple[str, np.dtype]] = {
    "bf16": ("bfloat16", np.dtype(np.uint16)),
    "f8E4M3FNUZ": ("float8_e4m3fnuz", np.dtype(np.uint8)),
}
_KINDS = {dtype: kind for kind, dtype in _DTYPES.items()}
_KINDS_BY_NAME = {name: kind for kind, (name, _) in _MORE_DTYPES.items()}
_KINDS_OF_TORCH = {
    f"torch.{name}": kind
    for name, kind in (*((d.name, k) for d, k in _KINDS.items()), *_KINDS_BY_NAME.items())
}


def dtype_of(kind: str) -> np.dtype:
    """The dtype of elements that a kernel's description calls `kind`."""
    if kind in _DTYPES:
        return _DTYPES[kind]
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"NumPy has no type {kind} of its own: install the package ml_dtypes"
        ) from None
    return np.dtype(getattr(ml_dtypes, _MORE_DTYPES[kind][0]))


def kind_of(dtype: np.dtype) -> str | None:
    """The description's name of a dtype; None if kernels have none of it."""
    return _KINDS.get(dtype) or _KINDS_BY_NAME.get(dtype.name)


def plain_integers(array: np.ndarray) -> tuple[np.ndarray, str]:
    """What the buffer protocol knows: elements of ml_dtypes go as integers, with their
    kind; others as they are, with none."""
    if array.dtype in _KINDS:
        return array, ""
    kind = _KINDS_BY_NAME[array.dtype.name]
    return array.view(_MORE_DTYPES[kind][1]), kind


def is_tensor(thing: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.Tensor)


def tensors_among(things: Iterable) -> list:
    """Those that are tensors of torch."""
    torch = sys.modules.get("torch")
    return [] if torch is None else [x for x in things if isinstance(x, torch.Tensor)]


def is_on_gpu(thing: Any) -> bool:
    """Whether it is a tensor in the memory of a GPU, of a torch that is built for ROCm:
    there HIP's devices are called cuda."""
    return (
        is_tensor(thing)
        and thing.device.type == "cuda"
        and sys.modules["torch"].version.hip is not None
    )


class OnGPU:
    """A tensor on a GPU, with the shape and the dtype that NumPy gives an array."""

    def __init__(self, name: str, tensor: Any):
        if tensor.requires_grad and sys.modules["torch"].is_grad_enabled():
            raise no_gradient(name)
        kind = _KINDS_OF_TORCH.get(str(tensor.dtype))
        if kind is None:
            raise ValueError(
                f"'{name}': expected elements of {', '.join(_KINDS_OF_TORCH)}, got {tensor.dtype}"
            )
        self.tensor = tensor
        self.kind: str = kind
        self.shape = tuple(tensor.shape)
        self.ndim = len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.kind)

    def reshape(self, shape: tuple) -> OnGPU:
        return OnGPU("", self.tensor.detach().reshape(shape))


def as_array(name: str, thing: Any) -> np.ndarray | OnGPU:
    """An array where its elements are."""
    if isinstance(thing, OnGPU):
        return thing
    return OnGPU(name, thing) if is_on_gpu(thing) else to_numpy(name, thing)


def to_host(name: str, thing: Any) -> np.ndarray:
    """An array whose elements are looked at; those of a GPU are copied."""
    return to_numpy(name, thing.cpu() if is_on_gpu(thing) else thing)


def empty_on_gpu(shape: Any, kind: str, place: Any) -> Any:
    """A new tensor on the device `place`."""
    torch = sys.modules["torch"]
    name = next(name for name, k in _KINDS_OF_TORCH.items() if k == kind)
    return torch.empty(shape, dtype=getattr(torch, name.split(".")[1]), device=place)


def to_numpy(name: str, thing: Any) -> np.ndarray:
    """A NumPy array on the memory of an array of another library, or a copy.

    Raises:
        ValueError: a tensor that is not in host memory, or one of which a gradient is
            wanted; a masked array; what is no array. `name` is what the message calls it.
    """
    if type(thing) is np.ndarray:
        return thing
    if isinstance(thing, np.ma.MaskedArray):
        raise ValueError(
            f"'{name}' is a masked array: kernels have no masks, {name}.filled(0.0) has none"
        )
    if not is_tensor(thing):
        try:
            return np.asarray(thing)
        except ValueError as error:
            raise ValueError(f"'{name}' is no array: {error}") from None
    import torch

    if thing.requires_grad and torch.is_grad_enabled():
        raise no_gradient(name)
    if thing.device.type != "cpu":
        raise ValueError(
            f"'{name}' is on the device '{thing.device}': expected a tensor in host memory, "
            f"as {name}.cpu() gives"
        )
    tensor = thing.detach()
    if tensor.is_conj() or tensor.is_neg():
        # Bits that say so are unknown to DLPack.
        tensor = tensor.resolve_conj().resolve_neg()
    for kind, (theirs, integer) in _MORE_DTYPES.items():
        if tensor.dtype == getattr(torch, theirs, None):
            # torch has no unsigned integers of 16 bits everywhere.
            bits = torch.int16 if integer.itemsize == 2 else torch.uint8
            return np.from_dlpack(tensor.contiguous().view(bits)).view(dtype_of(kind))
    return np.from_dlpack(tensor)


def no_gradient(name: str) -> ValueError:
    """The error of a tensor that asks for a gradient."""
    return ValueError(
        f"'{name}' requires a gradient, and kernels have none here: pass {name}.detach(), or "
        "make the call under torch.no_grad()"
    )


def to_torch(array: np.ndarray) -> Any:
    """A tensor on the memory of an array that can be written to."""
    import torch

    kind = kind_of(array.dtype)
    if kind in _MORE_DTYPES:
        theirs, integer = _MORE_DTYPES[kind]
        bits = array.view(np.int16 if integer.itemsize == 2 else np.uint8)
        return torch.from_dlpack(bits).view(getattr(torch, theirs))
    return torch.from_dlpack(array)
