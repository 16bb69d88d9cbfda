# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in Python: on the simulator against NumPy; score and mask functions against
NumPy through the reference evaluator, which knows nothing of Python; mistakes by text."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import subprocess
import textwrap
import types

import numpy as np
import pytest

from conftest import BUILD, REPOSITORY

ws = pytest.importorskip("wavesmith")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("wavesmith._wavesmith")

TARGETS = ["gfx90a", "gfx942"]
_numbers = itertools.count()


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(batch, heads, kv_heads, queries, keys, dim, dtype, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(batch, heads, queries, dim), (batch, kv_heads, keys, dim)] + [
        (batch, kv_heads, keys, dim)
    ]
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def reference(q, k, v, change=lambda s: s, scale=None):
    """O and LSE in f64; `change` turns scores into those that are used."""
    ratio = q.shape[1] // k.shape[1]
    q = q.astype(np.float64)
    k, v = (np.repeat(x.astype(np.float64), ratio, axis=1) for x in (k, v))
    scores = change(q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5))
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(top), 0.0, top))
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.where(np.isneginf(top), 0.0, top) + np.log(total)
    return weights / np.where(total == 0.0, 1.0, total) @ v, lse[..., 0]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_attention(target, dtype):
    q, k, v = draw(2, 4, 2, 37, 50, 64, dtype)
    o, lse = ws.attention(
        q, k, v, causal="bottom_right", window=(30, -1), return_lse=True, target=target,
        device="sim", threads=2,
    )  # fmt: skip
    i, j = np.arange(37)[:, None] + 13, np.arange(50)[None, :]
    wanted, wanted_lse = reference(
        q, k, v, lambda s: np.where((j <= i) & (j >= i - 30), s, -np.inf)
    )
    assert o.dtype == np.dtype(dtype) and o.shape == q.shape and lse.dtype == np.float32
    unit = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(o.astype(np.float64), wanted, atol=max(4 * unit, 2e-6))
    np.testing.assert_allclose(lse, wanted_lse, atol=1e-2 if unit > 1e-6 else 1e-5)


def test_layout_and_scale():
    q, k, v = draw(1, 2, 1, 9, 9, 64, np.float16)
    swapped = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (q, k, v)]
    one = ws.attention(q, k, v, scale=0.3, causal=True, device="sim")
    other = ws.attention(*swapped, scale=0.3, causal=True, layout="bshd", device="sim")
    np.testing.assert_array_equal(one, other.swapaxes(1, 2))
    wanted, _ = reference(q, k, v, lambda s: np.where(np.tri(9, dtype=bool), s, -np.inf), 0.3)
    np.testing.assert_allclose(one, wanted, atol=4e-3)


ROW, COLUMN = np.arange(9)[:, None], np.arange(11)[None, :]
BIAS = np.random.default_rng(3).standard_normal((2, 4, 9, 11)).astype(np.float32)
BATCH_SLOPES = np.array([[0.5, 0.25, 0.125, 0.0625], [1.0, 0.5, 0.25, 0.125]], np.float32)
#: Options, and what they do to the scores; the last query is at the last key.
OPTIONS = {
    "softcap": ({"softcap": 0.5}, lambda s: 0.5 * np.tanh(s / 0.5)),
    "window": ({"window": (2, 1)},
               lambda s: np.where(abs(COLUMN - ROW - 1.5) <= 1.5, s, -np.inf)),
    "window from the top": (
        {"window": (2, -1), "window_alignment": "top_left"},
        lambda s: np.where(COLUMN >= ROW - 2, s, -np.inf)),
    "bias": ({"bias": BIAS}, lambda s: s + BIAS),
    "bias of all heads": ({"bias": BIAS[:1, :1]}, lambda s: s + BIAS[:1, :1]),
    "bias of two dimensions": ({"bias": BIAS[0, 0].astype(np.float16)},
                               lambda s: s + BIAS[0, 0].astype(np.float16)),
    "bias of keys": ({"bias": BIAS[:, :1, :1]}, lambda s: s + BIAS[:, :1, :1]),
    "alibi": ({"alibi_slopes": BATCH_SLOPES[0]},
              lambda s: s - BATCH_SLOPES[0][:, None, None] * abs(COLUMN - ROW - 2)),
    "alibi of batches": ({"alibi_slopes": BATCH_SLOPES},
                         lambda s: s - BATCH_SLOPES[:, :, None, None] * abs(COLUMN - ROW - 2)),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", OPTIONS)
def test_options(target, name):
    options, change = OPTIONS[name]
    q, k, v = draw(2, 4, 2, 9, 11, 64, np.float32)
    o, lse = ws.attention(q, k, v, return_lse=True, target=target, device="sim", **options)
    wanted, wanted_lse = reference(q, k, v, change)
    np.testing.assert_allclose(o, wanted, atol=1e-5)
    np.testing.assert_allclose(lse, wanted_lse, atol=1e-5)


@pytest.mark.parametrize("descale", [(0.5, 2.0, None), ([0.5, 1.0, 0.25, 2.0], None, [1.0, 0.5])])
def test_fp8(descale):
    q, k, v = draw(1, 4, 2, 9, 11, 64, ml_dtypes.float8_e4m3fnuz)
    descale = [x if x is None else np.array(x, np.float32) for x in descale]
    o = ws.attention(q, k, v, descale=tuple(descale), device="sim")
    assert o.dtype == np.float32

    def scaled(array, factor):
        factor = 1.0 if factor is None else np.reshape(factor, (-1, 1, 1))
        return array.astype(np.float64) * factor

    wanted, _ = reference(*map(scaled, (q, k, v), descale))
    # Weights are rounded to three bits of mantissa, too.
    np.testing.assert_allclose(o, wanted, atol=0.08 * np.abs(wanted).max())
    with pytest.raises(ws.CompileError, match="gfx90a"):
        ws.attention(q, k, v, target="gfx90a", device="sim")


@pytest.mark.parametrize("target", TARGETS)
def test_packed_sequences(target):
    """Each sequence is an attention of its own, with its own causal mask; what lies
    behind the last one is none's."""
    q, k, v = (x[0].swapaxes(0, 1).copy() for x in draw(1, 4, 2, 40, 50, 64, np.float32))
    of_queries, of_keys = np.array([0, 7, 7, 38], np.int32), np.array([0, 12, 12, 50], np.int32)
    o, lse = ws.attention(
        q, k, v, layout="thd", cumulative_lengths=(of_queries, of_keys), causal=True,
        return_lse=True, target=target, device="sim", threads=2,
    )  # fmt: skip
    assert o.shape == q.shape and lse.shape == (4, 40)
    for begin, end, first, last in zip(of_queries, of_queries[1:], of_keys, of_keys[1:]):
        if begin == end:
            continue
        i, j = np.arange(end - begin)[:, None], np.arange(last - first)[None, :]
        seen = j <= i + (last - first) - (end - begin)
        wanted, wanted_lse = reference(
            *(x.swapaxes(0, 1)[None] for x in (q[begin:end], k[first:last], v[first:last])),
            lambda s, seen=seen: np.where(seen, s, -np.inf),
        )
        np.testing.assert_allclose(o[begin:end].swapaxes(0, 1)[None], wanted, atol=1e-5)
        np.testing.assert_allclose(lse[:, begin:end][None], wanted_lse, atol=1e-5)
    assert np.all(o[38:] == 0.0) and np.all(np.isneginf(lse[:, 38:]))


def test_nothing_to_do():
    q, k, v = draw(2, 2, 2, 0, 5, 64, np.float16)
    o, lse = ws.attention(q, k, v, return_lse=True, device="sim")
    assert o.shape == (2, 2, 0, 64) and lse.shape == (2, 2, 0)
    q, k, v = draw(1, 2, 2, 3, 0, 64, np.float16)
    o, lse = ws.attention(q, k, v, return_lse=True, device="sim")
    assert np.all(o == 0) and np.all(np.isneginf(lse))


def test_kernel_of_a_grid():
    """The description says what the kernel takes."""
    q, k, v = draw(1, 2, 2, 20, 30, 64, np.float16)
    kernel = ws.compile(ws.attention_mlir(q, k, v))["attention"]
    assert [a["kind"] for a in kernel.arguments[-3:]] == ["dimension"] * 3
    np.testing.assert_array_equal(
        kernel(q=q, k=k, v=v, device="sim"), ws.attention(q, k, v, device="sim")
    )
    assert "zones" not in kernel.report and kernel.report["grid"] == [1, 2, 1]
    with pytest.raises(ValueError, match=r"'v' has 29 keys, input 'k' has 30"):
        kernel(q=q, k=k, v=v[:, :, :29], device="sim")
    with pytest.raises(ValueError, match="has no zones"):
        kernel(q=q, k=k, v=v, zones=3, device="sim")


# Calls that were made before -------------------------------------------------------


@pytest.fixture
def no_checks(monkeypatch):
    """Fails where a call is not taken for one that was made before."""
    from wavesmith import _attention

    def refuse(*_, **__):
        raise AssertionError("checked and described anew")

    with monkeypatch.context() as patched:
        patched.setattr(_attention, "_build", refuse)
        patched.setattr(_attention, "compute", refuse)
        yield


#: Options of calls that are remembered; what they mean is above.
REMEMBERED = {
    "plain": ({}, lambda s: s),
    "window": OPTIONS["window"],
    "softcap": OPTIONS["softcap"],
    "bias": OPTIONS["bias"],
    "bias of two dimensions": OPTIONS["bias of two dimensions"],
    "alibi": OPTIONS["alibi"],
    "bias and alibi": (
        {"bias": BIAS, "alibi_slopes": BATCH_SLOPES[0]},
        lambda s: OPTIONS["alibi"][1](s) + BIAS,
    ),
}


@pytest.mark.parametrize("name", REMEMBERED)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_repeated_calls(request, name, dtype):
    """The second call with the same types and shapes reads its arrays anew, in whatever
    order their elements lie, and gives new arrays."""
    options, change = REMEMBERED[name]
    first = draw(2, 4, 2, 9, 11, 64, dtype)
    before = ws.attention(*first, return_lse=True, device="sim", **options)
    kept = [x.copy() for x in before]
    request.getfixturevalue("no_checks")
    again = ws.attention(*first, return_lse=True, device="sim", **options)
    for old, new in zip(before, again):
        assert old is not new and not np.shares_memory(old, new) and old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)

    second = [x.swapaxes(1, 2).copy().swapaxes(1, 2) for x in draw(2, 4, 2, 9, 11, 64, dtype, 1)]
    second[0] = second[0][:, :, ::-1]
    second[0].flags.writeable = False
    o, lse = ws.attention(*second, return_lse=True, device="sim", **options)
    wanted, wanted_lse = reference(*second, change)
    unit = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(o.astype(np.float64), wanted, atol=max(4 * unit, 1e-5))
    np.testing.assert_allclose(lse, wanted_lse, atol=2e-2 if unit > 1e-6 else 1e-5)
    first[2][...] = 0
    assert np.all(ws.attention(*first, device="sim", return_lse=True, **options)[0] == 0)
    for old, new in zip(kept, before):
        np.testing.assert_array_equal(old, new)


def test_operands_of_repeated_calls(request):
    """Bias and slopes are read at each call."""
    q, k, v = draw(2, 4, 2, 9, 11, 64, np.float32)
    bias, slopes = BIAS.copy(), BATCH_SLOPES[0].copy()
    options = {"bias": bias, "alibi_slopes": slopes, "return_lse": True, "device": "sim"}
    ws.attention(q, k, v, **options)
    request.getfixturevalue("no_checks")
    bias *= 2
    slopes *= 3
    o, _ = ws.attention(q, k, v, **options)
    wanted, _ = reference(
        q, k, v,
        lambda s: s + 2 * BIAS - 3 * BATCH_SLOPES[0][:, None, None] * abs(COLUMN - ROW - 2),
    )  # fmt: skip
    np.testing.assert_allclose(o, wanted, atol=1e-5)


def test_other_calls_are_not_repeated():
    """A call that differs in anything but the contents is a call of its own."""
    q, k, v = draw(1, 2, 1, 20, 20, 64, np.float16)

    def call(*arrays, **options):
        return ws.attention(*(arrays or (q, k, v)), **{"device": "sim", **options})

    for options in ({"causal": True}, {"window": (3, 1)}, {"scale": 1.0}, {"softcap": 1.0}, {}):
        call(**options)  # Now it is remembered.
    i, j = np.arange(20)[:, None], np.arange(20)
    for options, scale, change in (
        ({}, None, lambda s: s),
        ({"causal": True}, None, lambda s: np.where(j <= i, s, -np.inf)),
        ({"window": (3, 1)}, None, lambda s: np.where((j >= i - 3) & (j <= i + 1), s, -np.inf)),
        ({"window": (1, 3)}, None, lambda s: np.where((j >= i - 1) & (j <= i + 3), s, -np.inf)),
        ({"scale": 1.0}, 1.0, lambda s: s),
        ({"scale": 0.5}, 0.5, lambda s: s),
        ({"softcap": 0.5}, None, lambda s: 0.5 * np.tanh(s / 0.5)),
        ({"target": "gfx90a"}, None, lambda s: s),
        ({"device": ws.Device("sim", "gfx942", threads=2)}, None, lambda s: s),
    ):
        wanted, _ = reference(q, k, v, change, scale)
        np.testing.assert_allclose(call(**options), wanted, atol=8e-3, err_msg=str(options))
    for arrays in (
        [x.astype(np.float32) for x in (q, k, v)], [q[:, :, :7], k, v],
        [q, k[:, :, :13], v[:, :, :13]], [q, k, v[..., :32]], [q[..., :32], k[..., :32], v],
    ):  # fmt: skip
        wanted, _ = reference(*arrays)
        o = call(*arrays)
        assert o.dtype == arrays[0].dtype
        np.testing.assert_allclose(o, wanted, atol=4e-3)
    assert isinstance(call(return_lse=True), tuple) and isinstance(call(), np.ndarray)
    assert call(output_dtype="float32").dtype == np.float32 and call().dtype == np.float16

    # Equal to Python, but not the same.
    for options, message in (
        ({"causal": 1}, "causal: expected one of"),
        ({"window": (3, True)}, "window: expected a number of positions"),
        ({"window": (3.0, 1)}, "window: expected a number of positions"),
        ({"scale": True}, "scale: expected a number"),
        ({"softcap": True}, "softcap: expected a number"),
    ):
        with pytest.raises(ValueError, match=message):
            call(**options)
    with pytest.raises(ValueError, match="expected elements of float32"):
        call(*(x.astype(">f2") for x in (q, k, v)))
    with pytest.raises(ValueError, match="from 1 to 1024 threads"):
        call(threads=0)
    with pytest.raises(ws.DeviceError):
        call(device=ws.Device("sim", "gfx90a"))


# Score and mask functions ---------------------------------------------------------

EXAMPLES = load(REPOSITORY / "examples" / "attention_masks.py")
B, H, L = 2, 2, 40
RNG = np.random.default_rng(1)
PREFIX = np.array([7, 21], np.int32)
DOCUMENTS = np.sort(RNG.integers(0, 3, (B, L))).astype(np.int32)
SLOPES = np.array([0.5, 0.0625], np.float32)
TABLE = RNG.standard_normal((H, 17)).astype(np.float32)
I, J = np.arange(L)[:, None], np.arange(L)[None, :]


def masked(pairs):
    return lambda s: np.where(pairs, s, -np.inf)


def strided(b, h, q_idx, kv_idx):
    return ((q_idx - kv_idx) % 3 == h) | (kv_idx // 8 == q_idx // 8)


def mixed(score, b, h, q_idx, kv_idx):
    gain = 1.0 + b / 2
    near = abs(q_idx - kv_idx) < 5
    return gain * score if near else float("-inf") if h == 0 else score**2


#: score_mod, mask_mod, what they mean.
FUNCTIONS = {
    "causal": (None, EXAMPLES.causal, masked(J <= I)),
    "sliding window": (
        None, EXAMPLES.make_sliding_window(9), masked((J <= I) & (I - J <= 9)),
    ),
    "prefix-LM": (
        None, EXAMPLES.make_prefix_lm(PREFIX),
        masked((J < PREFIX[:, None, None, None]) | (J <= I)),
    ),
    "documents": (
        None, EXAMPLES.make_document_mask(DOCUMENTS),
        masked((DOCUMENTS[:, None, :, None] == DOCUMENTS[:, None, None, :]) & (J <= I)),
    ),
    "ALiBi": (
        EXAMPLES.make_alibi(SLOPES), None,
        lambda s: s - SLOPES.astype(np.float64)[:, None, None] * np.abs(I - J),
    ),
    "softcap": (EXAMPLES.make_softcap(2.0), None, lambda s: 2.0 * np.tanh(s / 2.0)),
    "relative bias": (
        EXAMPLES.make_relative_bias(TABLE, 8), EXAMPLES.causal,
        lambda s: np.where(J <= I, s + TABLE.astype(np.float64)[:, np.clip(I - J, -8, 8) + 8],
                           -np.inf),
    ),
    "integers": (
        None, strided,
        masked(((I - J) % 3 == np.arange(H)[:, None, None]) | (I // 8 == J // 8)),
    ),
    "mixed": (
        mixed, None,
        lambda s: np.where(
            np.abs(I - J) < 5, s * (1 + np.arange(B) / 2)[:, None, None, None],
            np.where(np.arange(H)[:, None, None] == 0, -np.inf, s**2),
        ),
    ),
    "or": (
        None, ws.or_masks(EXAMPLES.make_sliding_window(2), strided),
        masked((J <= I) & (I - J <= 2) | ((I - J) % 3 == np.arange(H)[:, None, None])
               | (I // 8 == J // 8)),
    ),
}  # fmt: skip


def make_mask(mask_mod):
    return ws.create_block_mask(mask_mod, B, H, L, L) if mask_mod else None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_against_numpy(tmp_path, name):
    score_mod, mask_mod, change = FUNCTIONS[name]
    q, k, v = draw(B, H, H, L, L, 64, np.float16)
    text = ws.attention_mlir(q, k, v, score_mod=score_mod, block_mask=make_mask(mask_mod))
    (tmp_path / "module.mlir").write_text(text)
    captured = {
        id(a): a for a in (TABLE, SLOPES, DOCUMENTS, PREFIX)
        if f"tensor<{'x'.join(map(str, a.shape))}x{'f32' if a.dtype.kind == 'f' else 'i32'}>"
        in text.splitlines()[0]
    }  # fmt: skip
    command = [str(BUILD / "bin" / "wavesmith-evaluate"), str(tmp_path / "module.mlir")]
    assert text.splitlines()[0].count("%captured") == len(captured) <= 1
    arrays = [q, k, v, *captured.values()]
    evaluator_names = [f"arg{i}" for i in range(len(arrays))]
    for argument, array in zip(evaluator_names, arrays):
        np.save(tmp_path / f"{argument}.npy", array)
        command.append(f"--input={argument}={tmp_path / argument}.npy")
    command.append(f"--output=result0={tmp_path / 'o.npy'}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    wanted, _ = reference(q, k, v, change)
    np.testing.assert_allclose(np.load(tmp_path / "o.npy"), wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_the_simulator(target, name):
    score_mod, mask_mod, change = FUNCTIONS[name]
    q, k, v = draw(B, H, H, L, L, 64, np.float16)
    o = ws.flex_attention(
        q, k, v, score_mod, make_mask(mask_mod), target=target, device="sim", threads=2
    )
    wanted, _ = reference(q, k, v, change)
    np.testing.assert_allclose(o.astype(np.float64), wanted, atol=8e-3)


def inverted(function):
    @functools.wraps(function)
    def call(b, h, q_idx, kv_idx):
        return ~function(b, h, q_idx, kv_idx)

    return call


@inverted
def not_later(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


class Window:
    def __init__(self, width):
        self.width = width

    def __call__(self, b, h, q_idx, kv_idx):
        return abs(q_idx - kv_idx) <= self.width

    def reach(self, b, h, q_idx, kv_idx, by=1):
        return abs(q_idx - kv_idx) <= self.width + by


@pytest.mark.parametrize(
    ("mask_mod", "pairs"),
    [
        (lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, lambda i, j: i >= j),
        (not_later, lambda i, j: i < j),
        (Window(3), lambda i, j: abs(i - j) <= 3),
        (Window(3).reach, lambda i, j: abs(i - j) <= 4),
        (functools.partial(Window(3).reach, by=5), lambda i, j: abs(i - j) <= 8),
        (ws.or_masks(Window(1), not_later), lambda i, j: (abs(i - j) <= 1) | (i < j)),
    ],
)
def test_functions_of_all_kinds(mask_mod, pairs):
    """Whatever Python calls: with its own arguments, and what a decorator made of it."""
    q, k, v = draw(B, H, H, L, L, 16, np.float32)
    o = ws.flex_attention(q, k, v, block_mask=make_mask(mask_mod), device="sim", threads=2)
    wanted, _ = reference(q, k, v, lambda s: np.where(pairs(I, J), s, -np.inf))
    np.testing.assert_allclose(o, wanted, rtol=2e-5, atol=2e-5)


FACTOR = 2.0


def make_functions(slopes, prefix):
    def scaled(score, b, h, q_idx, kv_idx):
        return FACTOR * score - slopes[h] * abs(q_idx - kv_idx)

    return scaled, EXAMPLES.make_prefix_lm(prefix)


def wanted_of_functions(q, k, v, factor, slopes, prefix):
    def change(s):
        s = factor * s - slopes.astype(np.float64)[:, None, None] * np.abs(I - J)
        return np.where((J < prefix[:, None, None, None]) | (J <= I), s, -np.inf)

    return reference(q, k, v, change)[0]


def test_repeated_functions(request, monkeypatch):
    """Arrays that functions read may change between calls; so may numbers, but then the
    functions are read anew."""
    slopes, prefix = SLOPES.copy(), PREFIX.copy()
    functions = make_functions(slopes, prefix)
    first, second = draw(B, H, H, L, L, 64, np.float32), draw(B, H, H, L, L, 64, np.float32, 1)

    def check(arrays, functions, factor, slopes, prefix):
        score_mod, mask_mod = functions
        mask = make_mask(mask_mod)
        o = ws.flex_attention(*arrays, score_mod, mask, device="sim", threads=2)
        wanted = wanted_of_functions(*arrays, factor, slopes, prefix)
        np.testing.assert_allclose(o, wanted, atol=2e-5)

    check(first, functions, 2.0, slopes, prefix)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    check(first, functions, 3.0, slopes, prefix)
    # Functions of the same code on other arrays; these of another type, too.
    others = SLOPES[::-1] * 2, np.array([30, 1], np.int32)
    check(first, make_functions(*others), 3.0, *others)
    check(first, make_functions(slopes, prefix.astype(np.int64)), 3.0, slopes, prefix)
    prefix[...] = 21, 7  # The same range.
    slopes *= 4
    request.getfixturevalue("no_checks")
    check(second, functions, 3.0, slopes, prefix)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    check(second, functions, 2.0, slopes, prefix)
    for change in (
        lambda: monkeypatch.setitem(globals(), "FACTOR", 2.5),
        lambda: monkeypatch.setitem(globals(), "FACTOR", 2),
        lambda: prefix.__setitem__(0, 22),
        lambda: monkeypatch.setitem(globals(), "abs", np.abs),
    ):
        change()
        with pytest.raises(AssertionError, match="described anew"):
            ws.flex_attention(*second, functions[0], make_mask(functions[1]), device="sim")
        monkeypatch.setitem(globals(), "FACTOR", 2.0)
        monkeypatch.delitem(globals(), "abs", raising=False)
        prefix[...] = 21, 7


LIMIT = np.array([5, 9, 1], np.int32)
SETTINGS = types.SimpleNamespace(limit=5)
SWITCH = np.zeros(1, np.float32)


def reads_an_element(b, h, q_idx, kv_idx):
    return kv_idx < int(LIMIT[0])


def reads_an_attribute(b, h, q_idx, kv_idx):
    return kv_idx < SETTINGS.limit


def reads_a_sum(b, h, q_idx, kv_idx):
    return (kv_idx < int(LIMIT.sum()) - 10) & (LIMIT[b] > 0)


def reads_whether_it_is_zero(b, h, q_idx, kv_idx):
    return (kv_idx < 7) & (kv_idx < 5 or SWITCH)


def runs_a_function(b, h, q_idx, kv_idx):
    return kv_idx < current_limit()


def current_limit():
    return SETTINGS.limit


@pytest.mark.parametrize(
    "mask_mod",
    [reads_an_element, reads_an_attribute, reads_a_sum, reads_whether_it_is_zero, runs_a_function],
)
def test_functions_that_are_read_each_time(monkeypatch, mask_mod):
    """What Python computes when a function is read may be another result next time."""
    q, k, v = draw(B, H, H, L, L, 64, np.float32)
    mask = make_mask(mask_mod)
    for limit in (5, 7, 5):
        monkeypatch.setattr(SETTINGS, "limit", limit)
        LIMIT[0] = limit  # The range of all elements stays.
        SWITCH[0] = limit == 7
        o = ws.flex_attention(q, k, v, block_mask=mask, device="sim", threads=2)
        wanted, _ = reference(q, k, v, lambda s, n=limit: np.where(J < n, s, -np.inf))
        np.testing.assert_allclose(o, wanted, atol=1e-5)


# Mistakes -------------------------------------------------------------------------

HEAD = """\
import math
import numpy as np
import wavesmith as ws

q = k = v = np.zeros((2, 4, 16, 64), np.float16)
k = v = np.zeros((2, 4, 24, 64), np.float16)
slopes = np.ones(3, np.float32)
lengths = np.ones(24, np.int32)
wide = np.ones((4, 16), np.float64)
table = np.ones((4, 8), np.float32)

"""
SCORE = "def f(score, b, h, q_idx, kv_idx):\n    {}\n\nws.flex_attention(q, k, v, f)\n"
MASK = "def f(b, h, q_idx, kv_idx):\n    {}\n\nws.create_block_mask(f, 2, 4, 16, 24)\n"

#: Template, the line of the mistake, what is underlined, the message, the remedy.
CASES = {
    "captured array too small": (
        SCORE, "return score - slopes[h] * abs(q_idx - kv_idx)", "h",
        "'slopes' of shape (3,) has the size 3 along dimension 0, but 'h' goes from 0 to 3",
        "make it longer, or keep the index inside",
    ),
    "mask on the wrong axis": (
        MASK, "return (lengths[kv_idx] > 0) & (table[h, q_idx] > 0)", "q_idx",
        "'table' of shape (4, 8) has the size 8 along dimension 1, but 'q_idx' goes from 0 to 15",
        "make it longer",
    ),
    "axes exchanged": (
        MASK, "return wide.astype(np.float32)[q_idx, h] > 0", "q_idx",
        "has the size 4 along dimension 0, but 'q_idx' goes from 0 to 15",
        "dimension 0 is as long as h goes",
    ),
    "relative index below zero": (
        SCORE, "return score + table[h, q_idx - kv_idx]", "q_idx - kv_idx",
        "'q_idx - kv_idx' goes from -23 to 15", "`min(max(q_idx - kv_idx, 0), 7)`",
    ),
    "captured type": (
        SCORE, "return score + wide[h, q_idx]", "wide",
        "the captured array 'wide' has elements of float64", "wide.astype(np.float32)",
    ),
    "too few indices": (
        SCORE, "return score + table[h]", "score + table[h]",
        "'table' has 2 dimensions, got 1 indices", "index it by 2",
    ),
    "too many indices": (
        SCORE, "return score + slopes[b, h]", "slopes[b, h]",
        "'slopes' has 1 dimensions, got 2 indices", "its shape is (3,)",
    ),
    "whole array": (
        SCORE, "return score + slopes", "slopes",
        "expected one number, got an array of shape (3,)", "index it by b, h, q_idx or kv_idx",
    ),
    "list indexed": (
        SCORE, "return score + [1.0, 2.0][b]", "b",
        "is indexed by positions, which are not known", "make it an array",
    ),
    "module indexed": (
        SCORE, "return score + np[b]", "b", "is indexed by positions, which are not known",
        "make it an array",
    ),
    "if on a position": (
        SCORE, "if q_idx < kv_idx: return -math.inf", "q_idx < kv_idx",
        "the condition depends on positions or scores", "x = a if condition else b",
    ),
    "mask gives a number": (
        MASK, "return q_idx - kv_idx", "q_idx - kv_idx",
        "a mask function returns a condition", "return q_idx >= kv_idx",
    ),
    "score gives a condition": (
        SCORE, "return q_idx >= kv_idx", "q_idx >= kv_idx",
        "a score function returns a number, got a condition", "create_block_mask",
    ),
    "nothing returned": (
        MASK, "q_idx >= kv_idx", "q_idx >= kv_idx",
        "the mask function returns nothing", "return a condition",
    ),
    "float index": (
        SCORE, "return score + slopes[score]", "score",
        "expected an integer as the index, got <a score>", "index by b, h, q_idx, kv_idx",
    ),
    "unknown name": (
        SCORE, "return score - slope[h]", "slope", "the name 'slope' is not defined", "'slopes'",
    ),
    "bits of a score": (
        SCORE, "return score & 1", "score & 1", "`&` does not take positions or scores",
        "join conditions only",
    ),
    "division by what may be zero": (
        MASK, "return q_idx // b == 0", "b", "the divisor may be 0", "max(n, 1)",
    ),
    "loop over positions": (
        MASK, "return all(j for j in range(q_idx))", "range(q_idx)", "TypeError", None,
    ),
    "import": (MASK, "import os", "import os", "`import` is not supported", "top of the file"),
    "word of systems": (
        SCORE, "return ws.term(score)", "ws.term(score)", "ws.term is a word of systems",
        "plain arithmetic",
    ),
    "score of a mask": (
        "def f(score, b, h, q_idx, kv_idx):\n    {}\n\nws.create_block_mask(f, 2, 4, 16, 24)\n",
        "return score > 0", None, "expected a function of 4 arguments", "def f(b, h, q_idx, kv_idx)",
    ),
    "arguments exchanged": (
        "def f(b, h, kv_idx, q_idx):\n    {}\n\nws.create_block_mask(f, 2, 4, 16, 24)\n",
        "return q_idx >= kv_idx", None,
        "argument 2 is 'q_idx', but the function calls it 'kv_idx'", "keep the order",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_mistakes(tmp_path, name):
    template, line, underlined, message, remedy = CASES[name]
    path = tmp_path / f"functions_{next(_numbers)}.py"
    path.write_text(HEAD + textwrap.dedent(template.format(line)))
    with pytest.raises(ws.CompileError) as caught:
        load(path)
    error = caught.value
    text = str(error)
    assert message in error.message, text
    assert remedy is None or remedy in (error.remedy or ""), text
    assert error.filename == str(path)
    assert "loc(" not in text and "arith." not in text
    if underlined:
        assert error.text.strip() == line
        assert error.text[error.offset - 1 : error.end_offset - 1] == underlined
    shown = text.splitlines()
    assert any(part.strip().startswith("^") for part in shown), text


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"layout": "sbhd"}, "layout: expected one of bhsd, bshd, thd"),
        ({"causal": "left"}, "causal: expected one of"),
        ({"window": (3, -2)}, "window: expected a number of positions"),
        ({"softcap": "x"}, "softcap: expected a number"),
        ({"bias": np.zeros((24, 16), np.float32)}, "queries and keys are exchanged"),
        ({"bias": np.zeros((16, 24), bool)}, "a mask of booleans goes as np.where"),
        ({"alibi_slopes": np.ones(3, np.float32)}, r"alibi_slopes: expected float32 of shape \[4\]"),
        ({"q": np.zeros((2, 4, 16), np.float16)}, "q: expected 4 dimensions"),
        ({"q": np.zeros((2, 4, 16, 64))}, "q: expected elements of float32"),
        ({"q": np.zeros((2, 4, 16, 64), np.float32)}, "k: expected elements of float32 as q"),
        ({"q": np.zeros((2, 6, 16, 64), np.float16)}, "expected a multiple of k's in dimension 1"),
        ({"k": np.zeros((2, 4, 24, 32), np.float16)}, "k: expected the head dim of q, 64"),
        ({"v": np.zeros((2, 4, 23, 64), np.float16)}, "v: expected the positions of k, 24"),
        ({"cumulative_lengths": ([0], [0])}, "packed sequences"),
        ({"cumulative_lengths": 24}, "cumulative_lengths: expected a tuple of 2, one each for the"),
        ({"descale": (2.0, 3.0)}, "descale: expected a tuple of 3, one each for q, k, v, got"),
        ({"descale": np.ones(3)}, "descale: expected a tuple of 3"),
        ({"causal": "False"}, "causal: expected one of False, True, top_left, bottom_right, got"),
        ({"softcap": "2"}, "softcap: expected a number, got '2'"),
        ({"scale": 1e300}, "scale: expected a number that float32 has, got 1e"),
        ({"window": "3"}, "window: expected a number of positions"),
        ({"bias": np.zeros((16, 24))}, r"np.asarray\(bias, np.float32\) has them"),
        ({"alibi_slopes": np.ones(4)}, r"np.asarray\(alibi_slopes, np.float32\) has the type"),
        ({"q": np.ma.masked_array(np.zeros((2, 4, 16, 64), np.float16))}, "is a masked array"),
    ],
)  # fmt: skip
def test_arguments(arguments, message):
    q = np.zeros((2, 4, 16, 64), np.float16)
    k = v = np.zeros((2, 4, 24, 64), np.float16)
    given = {"q": q, "k": k, "v": v, **arguments}
    with pytest.raises(ValueError, match=message):
        ws.attention(**given, device="sim")


@pytest.mark.parametrize(
    "option, message",
    [
        ("is_causal", "'is_causal': give causal="),
        ("attn_mask", "'attn_mask': give bias=np.where"),
        ("dropout_p", "there is no dropout"),
        ("sofcap", "did you mean 'softcap'"),
        ("num_warps", "got an unexpected keyword argument 'num_warps'$"),
    ],
)
def test_options_that_there_are_not(option, message):
    q = np.zeros((1, 1, 16, 64), np.float16)
    with pytest.raises(TypeError, match=r"^attention\(\) .*" + message):
        ws.attention(q, q, q, **{option: 1}, device="sim")
    with pytest.raises(TypeError, match=r"^flex_attention\(\) .*'kernel_options': they are of"):
        ws.flex_attention(q, q, q, kernel_options={"BLOCK_M": 64}, device="sim")


def test_words_of_flex_attention():
    """What its interface has and kernels do not need."""
    q, k, v = draw(1, 2, 2, 16, 16, 16, np.float32)
    for size in (64, (32, 128)):
        mask = ws.create_block_mask(EXAMPLES.causal, None, None, 16, 16, "cuda", BLOCK_SIZE=size)
        o = ws.flex_attention(q, k, v, block_mask=mask, kernel_options=None, device="sim")
        np.testing.assert_array_equal(o, ws.attention(q, k, v, causal=True, device="sim"))
    with pytest.raises(ValueError, match="BLOCK_SIZE: expected a positive whole number, or a"):
        ws.create_block_mask(EXAMPLES.causal, None, None, 16, 16, BLOCK_SIZE=0)


def test_bias_of_packed_sequences():
    """Each sequence uses as much of it as it is long; less is an error."""
    lengths = np.array([0, 5, 16], np.int32)
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((16, 2, 16)).astype(np.float32) for _ in range(3))
    bias = rng.standard_normal((2, 2, 11, 12)).astype(np.float32)

    def attend(bias):
        return ws.attention(q, k, v, bias=bias, layout="thd", device="sim",
                            cumulative_lengths=(lengths, lengths))  # fmt: skip

    o = attend(bias)
    for number, (first, last) in enumerate(zip(lengths, lengths[1:])):
        n = last - first
        alone = [x[None, first:last].swapaxes(1, 2) for x in (q, k, v)]
        wanted, _ = reference(*alone, lambda s: s + bias[number, :, :n, :n])
        np.testing.assert_allclose(o[first:last].swapaxes(0, 1), wanted[0], atol=1e-5)
    for wrong in (bias[:, :, :10], bias[..., :10], bias[:, :1, :, :1], np.repeat(bias, 2, 0)):
        with pytest.raises(ValueError, match=r"expected shape \(sequences, heads, longest queries, "
                           r"longest keys\) = \[2, 2, 11, 11\]"):  # fmt: skip
            attend(wrong)


def test_windows_of_any_size():
    q, k, v = draw(1, 1, 1, 16, 16, 16, np.float32)
    wanted = ws.attention(q, k, v, device="sim")
    for window in (2**70, (2**62, -1), -1):
        np.testing.assert_array_equal(ws.attention(q, k, v, window=window, device="sim"), wanted)
    np.testing.assert_array_equal(
        ws.attention(q, k, v, causal=np.True_, device="sim"),
        ws.attention(q, k, v, causal=True, device="sim"),
    )


def test_block_mask_of_other_sizes():
    q = np.zeros((2, 4, 16, 64), np.float16)
    mask = ws.create_block_mask(EXAMPLES.causal, None, None, 16, 24)
    with pytest.raises(ValueError, match="its KV_LEN is 24, but the arrays have 16"):
        ws.flex_attention(q, q, q, block_mask=mask)
    with pytest.raises(ValueError, match="expected what create_block_mask gives"):
        ws.flex_attention(q, q, q, block_mask=EXAMPLES.causal)
    with pytest.raises(ValueError, match="enable_gqa=True"):
        ws.flex_attention(q, q[:, :2], q[:, :2])
