# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Wavesmith asks of a torch that is built for ROCm, for tests without a GPU.
Tensors "on the GPU" are in host memory, as those of the fake HIP library are."""

from __future__ import annotations

import contextlib
import types

import numpy as np

version = types.SimpleNamespace(hip="6.3")
bfloat16, float16, float32, float64, int32, int64, float8_e4m3fnuz, bool_ = (
    type(name, (), {"__repr__": lambda self: f"torch.{type(self).__name__}"})()
    for name in ("bfloat16", "float16", "float32", "float64", "int32", "int64",
                 "float8_e4m3fnuz", "bool")
)  # fmt: skip


class device:
    def __init__(self, type_: str, index: int | None = None):
        self.type, self.index = type_, index

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __repr__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


class Tensor:
    requires_grad = False

    def __init__(self, array: np.ndarray, place: device):
        self.array, self.device = array, place
        self.shape = array.shape
        self.ndim = array.ndim

    @property
    def dtype(self):
        return globals()[self.array.dtype.name if self.array.dtype != bool else "bool_"]

    def detach(self) -> Tensor:
        return self

    def contiguous(self) -> Tensor:
        return Tensor(np.ascontiguousarray(self.array), self.device)

    def reshape(self, shape) -> Tensor:
        return Tensor(self.array.reshape(shape), self.device)

    def expand(self, shape) -> Tensor:
        return Tensor(np.broadcast_to(self.array, shape), self.device)

    def __getitem__(self, some) -> Tensor:
        return Tensor(self.array[some], self.device)

    def __le__(self, number) -> np.ndarray:
        return self.array <= number

    def __gt__(self, number) -> np.ndarray:
        return self.array > number

    def __rmul__(self, number) -> Tensor:
        return Tensor(number * self.array, self.device)

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def to(self, place: device) -> Tensor:
        return Tensor(self.array.copy(), place)

    def cpu(self) -> Tensor:
        return self.to(device("cpu"))

    def is_conj(self) -> bool:
        return False

    is_neg = is_conj

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def cat(tensors: list[Tensor], axis: int) -> Tensor:
    return Tensor(np.concatenate([x.array for x in tensors], axis), tensors[0].device)


def stack(tensors: list[Tensor], axis: int) -> Tensor:
    return Tensor(np.stack([x.array for x in tensors], axis), tensors[0].device)


def empty(shape, dtype, device) -> Tensor:
    return Tensor(np.full(shape, -1, repr(dtype).split(".")[1]), device)


def from_dlpack(array: np.ndarray) -> Tensor:
    return Tensor(np.from_dlpack(array), device("cpu"))


def is_grad_enabled() -> bool:
    return True


class cuda:
    #: What the current stream of each device is, and the devices that were current.
    streams: dict[int, int] = {}
    entered: list[int] = []
    #: How often something was waited for.
    synchronised = 0

    @staticmethod
    def synchronize(place: device) -> None:
        cuda.synchronised += 1

    @staticmethod
    def current_stream(place: device):
        return types.SimpleNamespace(cuda_stream=cuda.streams[place.index])

    @staticmethod
    @contextlib.contextmanager
    def device(place: device):
        cuda.entered.append(place.index)
        yield
