# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs that other implementations of attention had, each as a test with the report's
name, on the simulated device."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import numpy as np
import pytest

import numeric_support as support

ml_dtypes = pytest.importorskip("ml_dtypes")
import attention_support as attention  # noqa: E402
from attention_device import compare, compile_case, launch  # noqa: E402
import wavesmith as ws  # noqa: E402
from wavesmith import simulator  # noqa: E402

Case = attention.Case
on_targets = pytest.mark.parametrize("target", support.TARGETS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Compile and launch a case; a kernel is compiled once."""
    kernels = {}

    def of(case, inputs, target, **options):
        text = attention.make_module(case, inputs)
        if (text, target) not in kernels:
            folder = tmp_path_factory.mktemp("kernel")
            kernels[text, target] = compile_case(folder, case, inputs, target)
        return launch(kernels[text, target], case, inputs, **options)

    return of


def compile_error(folder, text: str, target: str, *options) -> str:
    """The message of a compilation that must fail, and leave no code."""
    (folder / "module.mlir").write_text(text)
    code_object = folder / "module.hsaco"
    result = subprocess.run(
        [str(support.BUILD / "bin" / "wavesmith-compile"), str(folder / "module.mlir"),
         f"--target={target}", "-o", str(code_object), *options],
        capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert not code_object.exists() and not code_object.with_suffix(".json").exists()
    return result.stderr


# 1. vllm#53856: NaN in the padding of v, times a weight of 0, is in the result.


@on_targets
@pytest.mark.parametrize("dims", [(64, 64), (40, 72)])
@pytest.mark.parametrize("type", ["f32", "f16", "bf16"])
def test_nan_in_padding_vllm_53856(run, type, dims, target):
    """NaN behind the last key and value; head dims that are padded have columns there."""
    case = Case(type=type, head_dim=dims[0], value_head_dim=dims[1], query_lengths=(20,),
                key_lengths=(71,))
    inputs = attention.make_inputs(case)
    o, lse = run(case, inputs, target)
    compare(case, inputs, target, o, lse)
    # The checker would call the NaNs that are read and dropped uninitialised.
    again, lse_again = run(case, inputs, target, check=False, tail=20000)
    assert o.tobytes() == again.tobytes() and lse.tobytes() == lse_again.tobytes()


# 2. rocm-libraries#10309: keys past the last one in the sum that divides.


@on_targets
@pytest.mark.parametrize("type", ["f32", "f16", "bf16"])
def test_keys_that_do_not_fill_a_tile_rocm_libraries_10309(run, type, target):
    """With scores of 0, lse is the logarithm of the number of keys, and o their mean."""
    for keys in (1, 2, 31, 32, 33, 63, 64, 65, 127, 129):
        case = Case(type=type, query_lengths=(3,), key_lengths=(keys,))
        inputs = attention.make_inputs(case)
        inputs["q"][:] = 0
        o, lse = run(case, inputs, target)
        np.testing.assert_allclose(lse, np.log(keys), rtol=2.0**-22, atol=2.0**-22)
        compare(case, inputs, target, o, lse)


# 3. pytorch#147460, pytorch#109517: NaN in rows that are masked as a whole.


@on_targets
@pytest.mark.parametrize("option", ["causal", "window", "mask", "bias", "score", "keys", "thd"])
@pytest.mark.parametrize("type", ["f32", "bf16"])
def test_rows_without_a_key_pytorch_147460_109517(run, type, option, target):
    """O is 0 and LSE -inf, by whatever means the keys are gone; other rows are right."""
    case = Case(type=type, query_lengths=(70, 70), key_lengths=(40, 40))
    case = {
        "causal": dataclasses.replace(case, causal="bottom_right"),
        "window": dataclasses.replace(case, window=(3, 3), window_alignment="top_left"),
        # All keys of the first sequence, as padding on the left.
        "mask": dataclasses.replace(case, mask="lengths"),
        "bias": dataclasses.replace(case, bias="bq"),
        "score": dataclasses.replace(case, score="drop", window=(0, 0)),
        "keys": dataclasses.replace(case, key_lengths=(0, 0)),
        "thd": dataclasses.replace(case, layout="thd", key_lengths=(0, 40),
                                   causal="bottom_right"),
    }[option]
    inputs = attention.make_inputs(case)
    if option == "bias":
        inputs["bias"][:, :, 11] = -np.inf
    o, lse = run(case, inputs, target)
    compare(case, inputs, target, o, lse)
    assert np.any(np.isneginf(lse))


# 4. pytorch#138300, pytorch#173469: sliding windows.


@on_targets
@pytest.mark.parametrize("window,alignment,counts", [
    # 3 queries, 5 keys: how many each query sees.
    ((1, 0), "top_left", [1, 2, 2]), ((1, 0), "bottom_right", [2, 2, 2]),
    ((1, 1), "bottom_right", [3, 3, 2]), ((0, 0), "top_left", [1, 1, 1]),
    ((-1, 1), "top_left", [2, 3, 4]), ((4, -1), "bottom_right", [5, 5, 5]),
    ((-1, -1), "bottom_right", [5, 5, 5]), ((-1, 0), "bottom_right", [3, 4, 5]),
    ((2**62, 2**62), "bottom_right", [5, 5, 5]),
])
def test_edges_of_windows_pytorch_173469(run, window, alignment, counts, target):
    """Edges are inclusive, -1 is no edge, (-1, 0) is causal."""
    case = Case(query_lengths=(3,), key_lengths=(5,), query_heads=1, key_heads=1,
                window=window, window_alignment=alignment)
    inputs = attention.make_inputs(case)
    inputs["q"][:] = 0
    _, lse = run(case, inputs, target)
    np.testing.assert_allclose(lse[0, 0], np.log(counts), rtol=2.0**-22, atol=2.0**-22)


@on_targets
@pytest.mark.parametrize("window", [(64, 0), (130, 0), (131, 0), (300, 300), (63, 64)])
def test_window_as_long_as_the_sequence_pytorch_138300(run, window, target):
    case = Case(type="bf16", query_lengths=(131,), key_lengths=(131,), window=window)
    inputs = attention.make_inputs(case)
    compare(case, inputs, target, *run(case, inputs, target))


# 5. TileOPs#433: masks of -1e9 where fast math does not know infinities.


@on_targets
@pytest.mark.parametrize("type", ["f32", "bf16"])
def test_large_negative_masks_tileops_433(run, type, target):
    """-1e9 takes a key out as -inf does, bit for bit, where a query has others; a query
    that has no others sees all keys of -1e9, and none of -inf."""
    case = Case(type=type, query_lengths=(20,), key_lengths=(90,), bias="q", bias_type="f32")
    inputs = attention.make_inputs(case)
    out = np.random.default_rng(3).random(inputs["bias"].shape) < 0.5
    out[..., 7, :] = True
    out[..., 8, :] = False
    finite, infinite = (dict(inputs, bias=np.where(out, np.float32(mask), inputs["bias"]))
                        for mask in (-1e9, -np.inf))
    o, lse = run(case, finite, target)
    gone, lse_gone = run(case, infinite, target)
    compare(case, infinite, target, gone, lse_gone)
    others = np.arange(20) != 7
    assert o[:, others].tobytes() == gone[:, others].tobytes()
    assert lse[..., others].tobytes() == lse_gone[..., others].tobytes()
    assert np.all(gone[:, 7] == 0) and np.all(np.isneginf(lse_gone[..., 7]))
    np.testing.assert_allclose(lse[..., 7], -1e9, rtol=2.0**-23)
    assert np.all(np.abs(o[:, 7]).sum(axis=-1) > 0)


# 6. aiter#2608, aiter#4126, aiter#2768: offsets in bytes beyond 2^31 and 2^32.

#: Bytes of memory at each place, and how far the places are from the first.
ARENA = 1 << 24
DISTANCES = [2**31 + 2**20, 2**32 + 2**20]


class FarMemory:
    """Two places in the device's memory whose distance is at least so many bytes, with
    nothing between that would take the host's memory. `place` puts two arrays at the same
    offset of each, as parts of one tensor."""

    def __init__(self, distance: int):
        self.memory = simulator.Memory()
        low = self.memory.allocate(ARENA, "low")
        # Addresses are not used again.
        while True:
            at = self.memory.allocate(1 << 26, "between")
            self.memory.release(at)
            if at - low >= distance:
                break
        self.high = self.memory.allocate(ARENA, "high")
        self.low, self.gap, self.used = low, self.high - low, 0

    def reserve(self, nbytes: int) -> int:
        """The address of so many bytes at the first place; it has as many at the second."""
        at = self.low + self.used
        self.used += -(-nbytes // 256) * 256
        assert self.used <= ARENA
        return at

    def place(self, first, second) -> int:
        at = self.reserve(max(array.nbytes for array in (first, second)))
        self.memory.write(at, np.ascontiguousarray(first))
        self.memory.write(at + self.gap, np.ascontiguousarray(second))
        return at

    def read(self, address: int, shape, dtype) -> np.ndarray:
        array = np.empty(shape, dtype)
        self.memory.read(address, array)
        return array


@pytest.fixture(scope="module", params=DISTANCES, ids=["2^31", "2^32"])
def far(request):
    memory = FarMemory(request.param)
    assert memory.gap >= request.param and memory.gap % (1 << 16) == 0
    return memory


#: Workgroup (0, head, batch) computes a sequence's first tile where tiles follow each other.
TILES_IN_TURN = "{schedule = #wavesmith.attention_schedule<version = 1>}"


def launch_far(code_object, far: FarMemory, grid, arguments: dict) -> None:
    """Some of a kernel's workgroups, whose arguments are addresses and sizes."""
    kernel = json.loads(code_object.with_suffix(".json").read_text())["kernels"][0]
    report = simulator.launch(
        code_object.read_bytes(), grid=grid, block=kernel["workgroup_size"][0],
        args=[arguments[a["name"]] for a in kernel["arguments"]], memory=far.memory, check=True)
    assert report.findings == []


@on_targets
def test_far_keys_and_values_aiter_2608(tmp_path, far, target):
    """The second sequence's keys and values are so far from the first's."""
    far.used = 0
    small = Case(query_lengths=(40, 40), key_lengths=(512, 512), query_heads=1, key_heads=1,
                 head_dim=64, value_head_dim=64, causal="top_left")
    inputs = attention.make_inputs(small)
    code_object = compile_case(tmp_path, small, inputs, target)
    o = far.memory.allocate(2 * 40 * 64 * 4, "o")
    lse = far.memory.allocate(2 * 40 * 4, "lse")
    q = far.memory.allocate(inputs["q"].nbytes, "q")
    far.memory.write(q, inputs["q"])
    launch_far(code_object, far, (1, 1, 2), {
        "q": q, "k": far.place(*inputs["k"]), "v": far.place(*inputs["v"]), "o": o, "lse": lse,
        "batch": 2, "queries": 40, "keys": far.gap // (64 * 2)})
    compare(small, inputs, target, far.read(o, (2, 40, 1, 64), np.float32),
            far.read(lse, (2, 1, 40), np.float32))


@on_targets
def test_far_queries_and_result_aiter_4126(tmp_path, far, target):
    far.used = 0
    small = Case(query_lengths=(128, 128), key_lengths=(70, 70), query_heads=1, key_heads=1,
                 head_dim=64, value_head_dim=64, result="f16", lse=False)
    inputs = attention.make_inputs(small)
    code_object = compile_case(tmp_path, small, inputs, target, TILES_IN_TURN)
    k, v = (far.memory.allocate(inputs[name].nbytes, name) for name in "kv")
    far.memory.write(k, inputs["k"])
    far.memory.write(v, inputs["v"])
    o = far.reserve(128 * 64 * 2)
    launch_far(code_object, far, (1, 1, 2), {
        "q": far.place(*inputs["q"]), "k": k, "v": v, "o": o,
        "batch": 2, "queries": far.gap // (64 * 2), "keys": 70})
    got = np.stack([far.read(at, (128, 1, 64), np.float16) for at in (o, o + far.gap)])
    compare(small, inputs, target, got, None)


@on_targets
def test_far_lse(tmp_path, far, target):
    """Of the second head."""
    far.used = 0
    small = Case(query_lengths=(128,), key_lengths=(70,), query_heads=2, key_heads=1)
    inputs = attention.make_inputs(small)
    code_object = compile_case(tmp_path, small, inputs, target, TILES_IN_TURN)
    arguments = {"batch": 1, "queries": far.gap // 4, "keys": 70,
                 "o": far.memory.allocate(128 * 2 * 16 * 4, "o"), "lse": far.reserve(128 * 4)}
    for name in "qkv":
        arguments[name] = far.memory.allocate(inputs[name].nbytes, name)
        far.memory.write(arguments[name], inputs[name])
    launch_far(code_object, far, (1, 2, 1), arguments)
    at = arguments["lse"]
    lse = np.stack([far.read(address, 128, np.float32) for address in (at, at + far.gap)])
    compare(small, inputs, target, far.read(arguments["o"], (1, 128, 2, 16), np.float32),
            lse[None])


@on_targets
def test_far_bias(tmp_path, far, target):
    """Of the second sequence: so many queries' biases of 16,384 keys before it."""
    far.used = 0
    keys = 1 << 14
    small = Case(query_lengths=(32, 32), key_lengths=(128, 128), query_heads=1, key_heads=1,
                 bias="bq", causal="top_left", window=(keys, -1), lse=False)
    inputs = attention.make_inputs(small)
    # With a limit to the left, however far, the first tile comes first.
    code_object = compile_case(tmp_path, small, inputs, target, TILES_IN_TURN)
    queries = far.gap // (keys * 4)
    rows = np.zeros((2, 128, keys), np.float32)
    rows[:, :32, :128] = inputs["bias"][:, 0]
    k, v, q = (np.zeros((2, n, 1, 16), np.float16) for n in (keys, keys, queries))
    for array, name, length in ((k, "k", 128), (v, "v", 128), (q, "q", 32)):
        array[:, :length] = inputs[name]
    arguments = {"batch": 2, "queries": queries, "keys": keys, "bias": far.place(*rows),
                 "bias_size0": 2, "bias_size2": queries, "bias_size3": keys,
                 "o": far.memory.allocate(2 * queries * 16 * 4, "o")}
    for name, array in zip("qkv", (q, k, v)):
        arguments[name] = far.memory.allocate(array.nbytes, name)
        far.memory.write(arguments[name], array)
    launch_far(code_object, far, (1, 1, 2), arguments)
    o = far.read(arguments["o"], (2, queries, 1, 16), np.float32)
    compare(small, inputs, target, o[:, :32], None)


@on_targets
def test_far_captured_tensor(tmp_path, far, target):
    """A score region reads row b of a table whose rows are so long."""
    far.used = 0
    case = Case(query_lengths=(20, 20), key_lengths=(90, 90), query_heads=1, key_heads=1,
                score="far", lse=False)
    region = attention.Region(
        """
        %entry = tensor.extract %table[%b, %j] : TABLE
        %out = arith.addf %s, %entry : f32""",
        lambda s, b, h, i, j, c: s + c["table"].astype(np.float64)[b, j],
        lambda case, rng: {"table": rng.standard_normal((2, 90)).astype(np.float32)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(attention.SCORES, "far", region)
        inputs = attention.make_inputs(case)
        code_object = compile_case(tmp_path, case, inputs, target)
        arguments = {"batch": 2, "queries": 20, "keys": 90, "table": far.place(*inputs["table"]),
                     "table_size0": 2, "table_size1": far.gap // 4,
                     "o": far.memory.allocate(2 * 20 * 16 * 4, "o")}
        for name in "qkv":
            arguments[name] = far.memory.allocate(inputs[name].nbytes, name)
            far.memory.write(arguments[name], inputs[name])
        launch_far(code_object, far, (1, 1, 2), arguments)
        o = far.read(arguments["o"], (2, 20, 1, 16), np.float32)
        compare(case, inputs, target, o, None)


@on_targets
def test_far_in_one_sequence_aiter_2768(tmp_path, far, target):
    """A query that sees the last keys of a sequence that is so long."""
    far.used = 0
    small = Case(query_lengths=(1,), key_lengths=(200,), query_heads=1, key_heads=1,
                 head_dim=64, value_head_dim=64, window=(50, -1))
    inputs = attention.make_inputs(small)
    code_object = compile_case(tmp_path, small, inputs, target)
    nothing = np.full(200 * 64, np.nan, np.float16)
    arguments = {"batch": 1, "queries": 1, "keys": far.gap // (64 * 2) + 200,
                 "k": far.place(nothing, inputs["k"]), "v": far.place(nothing, inputs["v"]),
                 "q": far.memory.allocate(64 * 2, "q"),
                 "o": far.memory.allocate(64 * 4, "o"), "lse": far.memory.allocate(4, "lse")}
    far.memory.write(arguments["q"], inputs["q"])
    launch_far(code_object, far, (1, 1, 1), arguments)
    compare(small, inputs, target, far.read(arguments["o"], (1, 1, 1, 64), np.float32),
            far.read(arguments["lse"], (1, 1, 1), np.float32))


@on_targets
def test_far_packed_sequence(tmp_path, far, target):
    """The second packed sequence has so many keys before it."""
    far.used = 0
    small = Case(layout="thd", query_lengths=(30, 40), key_lengths=(512, 40), query_heads=1,
                 key_heads=1, head_dim=64, value_head_dim=64, causal="top_left")
    inputs = attention.make_inputs(small)
    code_object = compile_case(tmp_path, small, inputs, target)
    first = far.gap // (64 * 2)
    arguments = {"batch": 2, "queries": 70, "keys": first + 40,
                 "o": far.memory.allocate(70 * 64 * 4, "o"),
                 "lse": far.memory.allocate(70 * 4, "lse")}
    for name in "kv":
        arguments[name] = far.place(inputs[name][:512], inputs[name][512:])
    lengths = inputs | {"cumulative_kv": np.array([0, first, first + 40], np.int32)}
    for name in ("q", "cumulative_q", "cumulative_kv"):
        arguments[name] = far.memory.allocate(lengths[name].nbytes, name)
        far.memory.write(arguments[name], lengths[name])
    launch_far(code_object, far, (1, 1, 3), arguments)
    compare(small, inputs, target, far.read(arguments["o"], (70, 1, 64), np.float32),
            far.read(arguments["lse"], (1, 70), np.float32))


# 7. aiter#3257, aiter#4329, iree#16538: more LDS than there is, found at the launch.


@on_targets
def test_lds_is_checked_before_code_generation_iree_16538(tmp_path, target):
    case = Case(type="f32", head_dim=128, value_head_dim=128)
    schedule = "{schedule = #wavesmith.attention_schedule<version = 1, keys = 128, " \
        "waves_per_simd = 1>}"
    message = compile_error(
        tmp_path, attention.make_module(case, attention.make_inputs(case), schedule), target)
    assert f"needs 131072 bytes of LDS; {target} has 65536" in message


# 8. sglang#28455: fp8 of the wrong kind, off by a factor of 2.


def test_fp8_is_fnuz_sglang_28455(run, tmp_path):
    """The code 0x40 is 2 as float8_e4m3fn and 1 as float8_e4m3fnuz; 0x80 is NaN, not -0.
    The other kind is refused."""
    case = Case(type="f8E4M3FNUZ", result="bf16", query_lengths=(1,), key_lengths=(1,))
    inputs = attention.make_inputs(case)
    for code, value in ((0x40, 1.0), (0x7f, 240.0), (0x01, 2.0**-10), (0x80, np.nan)):
        inputs["v"] = np.full(inputs["v"].shape, code, np.uint8).view(ml_dtypes.float8_e4m3fnuz)
        o, _ = run(case, inputs, "gfx942")
        np.testing.assert_array_equal(o.astype(np.float32), np.full(o.shape, np.float32(value)))
    text = attention.make_module(case, inputs).replace("f8E4M3FNUZ", "f8E4M3FN")
    assert "f8E4M3FNUZ type values, but got" in compile_error(tmp_path, text, "gfx942")


# 9. composable_kernel#671: f16 that is computed as bf16, or the other way around.


@on_targets
@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_types_stay_what_they_are_composable_kernel_671(run, tmp_path, type, target):
    """The products are those of the type, and numbers that the other type does not have
    come through."""
    case = Case(type=type, result=type, query_lengths=(1,), key_lengths=(1,))
    inputs = attention.make_inputs(case)
    inputs["v"][:] = {"f16": 1 + 2.0**-10, "bf16": 2.0**100}[type]
    o, _ = run(case, inputs, target)
    assert np.all(o == inputs["v"].flat[0])
    (tmp_path / "module.mlir").write_text(attention.make_module(case, inputs))
    support.run_tool("wavesmith-compile", tmp_path / "module.mlir", f"--target={target}",
                     "--emit=isa", "-o", tmp_path / "module.s")
    products = [line.split()[0] for line in (tmp_path / "module.s").read_text().splitlines()
                if line.strip().startswith("v_mfma_")]
    own, other = ("f16", "bf16") if type == "f16" else ("bf16", "_f16")
    assert products and all(own in name for name in products)
    assert not any(other in name for name in products)


# 10. aiter#3158: an option that the kernel does not have, and that it drops.


@on_targets
@pytest.mark.parametrize("attribute,message", [
    ("window_size = 3", "does not support the attribute 'window_size', got 3 : i64"),
    ("sink = 1.0", "does not support the attribute 'sink', got 1.000000e+00 : f64"),
    ("other.logits", "does not support the attribute 'other.logits', got unit"),
    ("schedule = #wavesmith.attention_schedule<version = 1, dies = 65>",
     "expected dies to be a number from 1 to 64, got 65"),
    ("schedule = #wavesmith.attention_schedule<version = 2>",
     "expected version 1 of the schedule, got 2"),
])
def test_no_attribute_is_dropped_aiter_3158(tmp_path, attribute, message, target):
    case = Case()
    text = attention.make_module(case, attention.make_inputs(case), f"{{{attribute}}}")
    assert message in compile_error(tmp_path, text, target)


def test_what_a_target_does_not_have_aiter_3158(tmp_path):
    case = Case(type="f8E4M3FNUZ")
    text = attention.make_module(case, attention.make_inputs(case))
    assert ("attention of 'f8E4M3FNUZ' is not supported on gfx90a"
            in compile_error(tmp_path, text, "gfx90a"))


# 11. pytorch#197563: dropout whose mask is not the same in both directions.


@on_targets
def test_dropout_is_refused_pytorch_197563(tmp_path, target):
    """There is no dropout; nobody gets a result without it who asked for it, in Python
    neither."""
    x = np.zeros((1, 1, 1, 16), np.float16)
    with pytest.raises(TypeError, match="dropout_p"):
        ws.attention(x, x, x, dropout_p=0.1, target=target, device="sim")
    case = Case()
    text = attention.make_module(case, attention.make_inputs(case), "{dropout = 0.1 : f32}")
    assert ("'wavesmith.attention' op does not support the attribute 'dropout'"
            in compile_error(tmp_path, text, target))


# 12. rocMLIR#1506, composable_kernel#1281: lengths, head dims and groups at the limits.


@on_targets
@pytest.mark.parametrize("type", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [
    {"query_lengths": (1,), "key_lengths": (1,)},
    {"query_lengths": (1,), "key_lengths": (300,), "query_heads": 7, "key_heads": 1},
    {"key_lengths": (0, 0), "bias": "bhq", "alibi": "heads", "score": "relative"},
    {"head_dim": 40, "value_head_dim": 40}, {"head_dim": 80, "value_head_dim": 80},
    {"head_dim": 96, "value_head_dim": 96}, {"head_dim": 192, "value_head_dim": 128},
    {"query_heads": 3, "key_heads": 1}, {"query_heads": 10, "key_heads": 2},
], ids=lambda shape: "-".join(f"{k}={v}" for k, v in shape.items()).replace(" ", ""))
def test_limits_rocmlir_1506_composable_kernel_1281(run, shape, type, target):
    case = Case(**{"type": type, "query_lengths": (33,) * 2, "key_lengths": (70,) * 2} | shape)
    if len(case.query_lengths) != len(case.key_lengths):
        case = dataclasses.replace(case, key_lengths=case.key_lengths[:1] * len(case.query_lengths))
    inputs = attention.make_inputs(case)
    compare(case, inputs, target, *run(case, inputs, target))
