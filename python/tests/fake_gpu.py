# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by test_gpu.py in a process of its own: the fake HIP library of the GoogleTests
(test/unit/Device/FakeHIP.h), named by WAVESMITH_HIP_LIBRARY, and a fake torch. What a
kernel does is a function here, which gets the arguments that the launch packed."""

from __future__ import annotations

import ctypes
import os
import sys

import fake_torch as torch
import numpy as np


class Launch(ctypes.Structure):
    _fields_ = [
        ("kernel", ctypes.c_char_p), ("grid", ctypes.c_uint * 3),
        ("workgroup", ctypes.c_uint * 3), ("dynamic_lds", ctypes.c_uint),
        ("kernarg", ctypes.c_void_p), ("kernarg_size", ctypes.c_size_t),
    ]  # fmt: skip


Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))


class State(ctypes.Structure):
    _fields_ = [
        ("init_result", ctypes.c_int), ("version", ctypes.c_int),
        ("device_count", ctypes.c_int), ("architectures", ctypes.c_char_p * 4),
        ("compute_units", ctypes.c_int), ("milliseconds", ctypes.c_float),
        ("on_launch", Callback), ("launch_result", ctypes.c_int),
        ("launches", ctypes.c_int), ("modules_loaded", ctypes.c_int),
        ("live_allocations", ctypes.c_int), ("live_modules", ctypes.c_int),
        ("live_streams", ctypes.c_int), ("live_events", ctypes.c_int),
        ("current_device", ctypes.c_int), ("last_kernel", ctypes.c_char_p),
        ("last_stream", ctypes.c_void_p), ("device_synchronisations", ctypes.c_int),
    ]  # fmt: skip


library = ctypes.CDLL(os.environ["WAVESMITH_HIP_LIBRARY"])
library.fakeHIPState.restype = ctypes.POINTER(State)
state = library.fakeHIPState().contents
state.version = 60300000
state.device_count = 2
state.architectures[:2] = b"gfx90a:sramecc+:xnack-", b"gfx942:sramecc+:xnack-"
state.compute_units, state.milliseconds = 104, 2.5
torch.cuda.streams.update({0: 0x1000, 1: 0x2000})

sys.modules["torch"] = torch
import wavesmith as ws  # noqa: E402

GPU = torch.device("cuda", 1)
kept: list = []


def on_launch(function) -> None:
    """`function(kernel name, grid, bytes of the arguments)`."""

    def call(pointer) -> None:
        launch = pointer.contents
        data = ctypes.string_at(launch.kernarg, launch.kernarg_size)
        try:
            function(launch.kernel.decode(), list(launch.grid), data)
        except BaseException as error:  # ctypes would only print it
            kept.append(error)

    kept.append(Callback(call))
    state.on_launch = kept[-1]


def at(address: int, shape, dtype) -> np.ndarray:
    """The array at an address of the fake GPU."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * count).from_address(address), dtype).reshape(shape)


def unpack(kernel, data: bytes) -> dict:
    """The words of the arguments by name; all have eight bytes here."""
    words = np.frombuffer(data, np.int64)
    assert len(words) == len(kernel.arguments)
    return {a["name"]: int(word) for a, word in zip(kernel.arguments, words)}


def gpu(array: np.ndarray):
    return torch.Tensor(array, GPU)


def fails(message: str, call) -> None:
    try:
        call()
    except ValueError as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"no error: {message}")


def check_kernels() -> None:
    module = ws.compile(sys.argv[1])
    kernel = module["rhs"]

    def rhs(name, grid, data):
        assert (name, grid) == ("rhs", [-(-70 // kernel.schedule["workgroup_size"]), 1, 1])
        words = unpack(kernel, data)
        sizes = [w for a, w in zip(kernel.arguments, words.values()) if a["kind"] == "zones"]
        assert sizes == [70] and np.int64(words["t"]).view(np.float64) == 2.5
        at(words["dydt"], (3, 70), float)[...] = -at(words["y"], (3, 70), float)

    on_launch(rhs)
    y = np.random.default_rng(0).uniform(size=(3, 70))
    got = kernel(t=2.5, y=gpu(y))
    assert isinstance(got, torch.Tensor) and got.device == GPU
    np.testing.assert_array_equal(got.array, -y)
    assert state.last_stream == 0x2000 and torch.cuda.entered == [1]
    assert (state.launches, state.live_allocations, state.modules_loaded) == (1, 0, 1)
    assert kernel.report is None and state.current_device == 1
    # An array that is not contiguous, and a device of the caller's.
    device = ws.Device("hip", "gfx942", number=1)
    got = kernel(t=2.5, y=gpu(np.asfortranarray(y)), device=device)
    np.testing.assert_array_equal(got.array, -y)

    fails("'y' is on the device 'cuda:1', the kernel is to run on the simulator: y.cpu() is",
          lambda: kernel(t=2.5, y=gpu(y), device="sim"))  # fmt: skip
    other = ws.Device("hip", "gfx90a", number=0)
    fails("the kernel is to run on the GPU 0", lambda: kernel(t=2.5, y=gpu(y), device=other))
    fails("has no input or scalar 'z'", lambda: kernel(t=2.5, y=gpu(y), z=gpu(y)))
    fails("expected elements of type f64, got f32",
          lambda: kernel(t=2.5, y=gpu(y.astype(np.float32))))  # fmt: skip
    fails("'y': expected elements of torch.float64, ", lambda: kernel(t=2.5, y=gpu(y > 0)))
    fails("expected shape [3, zones], got [4, 70]", lambda: kernel(t=2.5, y=gpu(np.ones((4, 70)))))
    fails("needs scalar 't'", lambda: kernel(y=gpu(y)))
    wanted = gpu(y)
    wanted.requires_grad = True
    fails("'y' requires a gradient", lambda: kernel(t=2.5, y=wanted))
    assert not [k for k in kept if isinstance(k, BaseException)], kept


def check_places() -> None:
    @ws.ode_system
    def decay(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(T, reactants=A)

    kernel = decay.compile()["rhs"]
    y, T = np.ones((1, 5)), np.ones((1, 5))
    fails("'parameters' is in host memory, 'y' on the device 'cuda:1': arrays of one call have "
          "to be in one place", lambda: kernel(t=0.0, y=gpu(y), parameters=T))  # fmt: skip
    elsewhere = torch.Tensor(T, torch.device("cuda", 0))
    fails("'parameters' is on the device 'cuda:0', 'y' on the device 'cuda:1'",
          lambda: kernel(t=0.0, y=gpu(y), parameters=elsewhere))  # fmt: skip
    fails("expected a tensor in host memory", lambda: decay.rhs(1.0, gpu(y)))
    torch.version.hip = None
    fails("'y' is on the device 'cuda:1': expected a tensor in host memory",
          lambda: kernel(t=0.0, y=gpu(y), parameters=gpu(T)))  # fmt: skip
    torch.version.hip = "6.3"


def check_attention() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 2, 9, 64)).astype(np.float32) for _ in range(3))
    bias = rng.standard_normal((9, 9)).astype(np.float32)
    lengths = np.array([0, 4, 9], np.int32)
    kernels = []

    def attention(name, grid, data):
        assert name == "attention"
        kernels.append((grid, np.frombuffer(data, np.int64)))

    on_launch(attention)
    # With an option of the compiler, so that it does not go through torch's operator.
    o = ws.attention(gpu(q), gpu(k), gpu(v), bias=gpu(bias), optimization_level=3)
    assert isinstance(o, torch.Tensor) and o.shape == q.shape and o.device == GPU
    grid, words = kernels.pop()
    assert grid == [1, 2, 2]
    np.testing.assert_array_equal(at(int(words[0]), q.shape, np.float32), q)
    # Sizes: batch, queries, keys, and those of the bias.
    assert words[-5:].tolist() == [2, 9, 9, 9, 9]
    # Lengths are looked at in host memory, and go to the GPU.
    packed = [gpu(x[0].swapaxes(0, 1).copy()) for x in (q, k, v)]
    ws.attention(*packed, layout="thd", cumulative_lengths=(lengths, gpu(lengths)),
                 optimization_level=3)  # fmt: skip
    grid, words = kernels.pop()
    assert grid == [1, 2, 3] and words[-3:].tolist() == [2, 9, 9]
    slopes = np.array([0.5, 0.25], np.float32)
    on_gpu = gpu(slopes)

    def alibi(score, b, h, q_idx, kv_idx):
        return score + on_gpu[h] * (kv_idx - q_idx)

    o = ws.flex_attention(gpu(q), gpu(k), gpu(v), alibi)
    assert isinstance(o, torch.Tensor) and o.device == GPU and kernels
    assert not [k for k in kept if isinstance(k, BaseException)], kept


if __name__ == "__main__":
    check_kernels()
    check_places()
    check_attention()
    print("done")
