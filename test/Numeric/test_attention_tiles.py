# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on the simulated device against f64, the checker along. The error is at
most twice that of a computation step by step in the input's type."""

from __future__ import annotations

import json

import numpy as np
import pytest

import numeric_support as support

ml_dtypes = pytest.importorskip("ml_dtypes")
from wavesmith import simulator  # noqa: E402  (numeric_support sets the path)

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def attention_text(element, layout, heads, kv_heads, dim, scale, options, v_dim=None) -> str:
    v_dim = v_dim or dim

    def tensor(h, d):
        return f"tensor<?x?x{h}x{d}x{element}>" if layout == "bshd" else \
            f"tensor<?x{h}x?x{d}x{element}>"

    q, k, v = tensor(heads, dim), tensor(kv_heads, dim), tensor(kv_heads, v_dim)
    o, lse = tensor(heads, v_dim), f"tensor<?x{heads}x?xf32>"
    return f"""
func.func @attend(%q: {q}, %k: {k}, %v: {v}) -> ({o}, {lse}) {{
  %o, %lse = wavesmith.attention %q, %k, %v layout {layout} scale {scale} {options}
      : ({q}, {k}, {v}) -> ({o}, {lse})
  return %o, %lse : {o}, {lse}
}}
"""


def allowed(queries: int, keys: int, causal: str | None, window=None) -> np.ndarray:
    """The pairs that take part."""
    i, j = np.arange(queries)[:, None], np.arange(keys)[None, :]
    pairs = np.ones((queries, keys), bool)
    delta = keys - queries
    if causal:
        pairs &= j <= i + (delta if causal == "bottom_right" else 0)
    if window:
        center = 0 if causal == "top_left" else delta
        if window[0] >= 0:
            pairs &= j >= i + center - window[0]
        if window[1] >= 0:
            pairs &= j <= i + center + window[1]
    return pairs


def reference(q, k, v, scale, pairs):
    """O and LSE of (batch, heads, positions, dim) in f64."""
    ratio = q.shape[1] // k.shape[1]
    q = q.astype(np.float64)
    k, v = (np.repeat(x.astype(np.float64), ratio, axis=1) for x in (k, v))
    s = np.where(pairs, scale * (q @ k.transpose(0, 1, 3, 2)), -np.inf)
    m = s.max(axis=-1, keepdims=True, initial=-np.inf)
    safe = np.where(np.isneginf(m), 0.0, m)
    p = np.exp(s - safe)
    total = p.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (safe + np.log(total))[..., 0]
    return (p / np.where(total == 0, 1.0, total)) @ v, lse


def eager(q, k, v, scale, pairs, dtype):
    """The same step by step, every step rounded to the input's type."""
    ratio = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, ratio, axis=1) for x in (k, v))

    def round_(x):
        return x.astype(dtype).astype(np.float32)

    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    s = round_(round_(q @ k.transpose(0, 1, 3, 2)) * np.float32(scale))
    s = np.where(pairs, s, -np.inf).astype(np.float32)
    m = s.max(axis=-1, keepdims=True, initial=-np.inf)
    p = round_(np.exp(s - np.where(np.isneginf(m), 0.0, m)))
    total = p.sum(axis=-1, keepdims=True)
    return round_(round_(p / np.where(total == 0, 1.0, total)) @ v)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """Code objects by text and target, made once."""
    cache = {}

    def get(text, target):
        if (text, target) not in cache:
            path = support.compile_text(tmp_path_factory.mktemp("attention"), text, target)
            cache[text, target] = path
        return cache[text, target]

    return get


def run(path, layout, q, k, v, check=True, tail=0, tile=128):
    """O and LSE as (batch, heads, positions, ...). `tail` NaNs follow k and v."""
    kernel = json.loads(path.with_suffix(".json").read_text())["kernels"][0]
    assert kernel["resources"]["vgpr_spills"] == 0
    assert kernel["resources"]["scratch_bytes"] == 0
    batch, heads, queries, _ = q.shape
    keys, v_dim = v.shape[2], v.shape[3]

    def store(x):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3) if layout == "bshd" else x)

    def flat(x):
        nothing = np.full(max(tail, 0 if x.size else 8), np.nan, x.dtype)
        return np.concatenate([store(x).ravel(), nothing])

    shape = (batch, queries, heads, v_dim) if layout == "bshd" else \
        (batch, heads, queries, v_dim)
    o = np.full(shape, np.nan, q.dtype)
    lse = np.full((batch, heads, queries), np.nan, np.float32)
    size = kernel["workgroup_size"][0]
    assert kernel["grid"] == [f"queries ceildiv {tile}", str(heads), "batch"]
    report = simulator.launch(
        path.read_bytes(), grid=(-(-queries // tile), heads, batch), block=size,
        args=[store(q), flat(k), flat(v), o, lse, batch, queries, keys], check=check)
    if check:
        assert report.findings == []
    return (o.transpose(0, 2, 1, 3) if layout == "bshd" else o), lse


def compare(got, lse, q, k, v, scale, pairs, dtype, lse_error=None):
    wanted, wanted_lse = reference(q, k, v, scale, pairs)
    step_by_step = eager(q, k, v, scale, pairs, dtype)
    error = np.max(np.abs(got.astype(np.float64) - wanted), initial=0.0)
    budget = np.max(np.abs(step_by_step - wanted), initial=0.0)
    assert not np.any(np.isnan(got.astype(np.float32)))
    assert error <= 2 * budget + 1e-6
    np.testing.assert_array_equal(np.isneginf(lse), np.isneginf(wanted_lse))
    finite = np.isfinite(wanted_lse)
    np.testing.assert_allclose(lse[finite], wanted_lse[finite], atol=lse_error or (
        2e-3 if dtype != np.float32 else 2e-5))
    nobody = ~pairs.any(axis=-1)
    assert np.all(got.astype(np.float32)[:, :, nobody] == 0.0)


def draw(seed, batch, heads, kv_heads, queries, keys, dim, dtype, v_dim=None):
    random = np.random.default_rng(seed)
    return (random.standard_normal((batch, heads, queries, dim)).astype(dtype),
            random.standard_normal((batch, kv_heads, keys, dim)).astype(dtype),
            random.standard_normal((batch, kv_heads, keys, v_dim or dim)).astype(dtype))


#: element, layout, heads, kv heads, dim, causal
KINDS = [("f16", "bhsd", 2, 1, 64, None), ("bf16", "bshd", 2, 2, 64, "top_left"),
         ("bf16", "bhsd", 3, 1, 128, "bottom_right"), ("f16", "bshd", 2, 1, 128, None),
         ("f32", "bhsd", 1, 1, 64, "bottom_right")]
#: batch, queries, keys
LENGTHS = [(2, 130, 70), (1, 33, 200), (1, 1, 1), (1, 200, 64), (1, 5, 0)]


@pytest.mark.parametrize("target", support.TARGETS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_attention(kernels, kind, target):
    element, layout, heads, kv_heads, dim, causal = kind
    scale = dim**-0.5
    options = f"causal {causal}" if causal else ""
    path = kernels(attention_text(element, layout, heads, kv_heads, dim, scale, options), target)
    for batch, queries, keys in LENGTHS:
        q, k, v = draw(1, batch, heads, kv_heads, queries, keys, dim, DTYPES[element])
        got, lse = run(path, layout, q, k, v)
        compare(got, lse, q, k, v, scale, allowed(queries, keys, causal), DTYPES[element])


@pytest.mark.parametrize("window", [[10, 3], [-1, 0], [64, -1], [0, 0], [300, 300]])
def test_window(kernels, window):
    text = attention_text("bf16", "bhsd", 1, 1, 64, 0.125, f"window {window}")
    path = kernels(text, "gfx942")
    for queries, keys in [(150, 150), (40, 170), (170, 40)]:
        q, k, v = draw(2, 1, 1, 1, queries, keys, 64, DTYPES["bf16"])
        got, lse = run(path, "bhsd", q, k, v)
        compare(got, lse, q, k, v, 0.125, allowed(queries, keys, None, window),
                DTYPES["bf16"])


@pytest.mark.parametrize("target", support.TARGETS)
def test_nan_in_padding(kernels, target):
    """What lies behind the last key is never part of a sum."""
    text = attention_text("f16", "bhsd", 1, 1, 64, 0.125, "")
    q, k, v = draw(3, 1, 1, 1, 40, 71, 64, np.float16)
    got, lse = run(kernels(text, target), "bhsd", q, k, v, check=False, tail=64 * 64)
    compare(got, lse, q, k, v, 0.125, allowed(40, 71, None), np.float16)


@pytest.mark.parametrize("target", support.TARGETS)
def test_constant_values(kernels, target):
    """A constant v is the answer, whatever the scores."""
    text = attention_text("bf16", "bhsd", 1, 1, 128, 0.3, "")
    for constant in (1.0, -2.984375, 1.5e-3):
        q, k, v = draw(4, 1, 1, 1, 32, 100, 128, DTYPES["bf16"])
        v = np.full_like(v, constant)
        got, _ = run(kernels(text, target), "bhsd", q, k, v)
        np.testing.assert_allclose(got.astype(np.float64), float(v.flat[0]), rtol=2.0**-8)


def test_different_head_dims(kernels):
    text = attention_text("f16", "bhsd", 1, 1, 128, 0.1, "causal top_left", v_dim=64)
    q, k, v = draw(5, 1, 1, 1, 70, 90, 128, np.float16, v_dim=64)
    got, lse = run(kernels(text, "gfx942"), "bhsd", q, k, v)
    compare(got, lse, q, k, v, 0.1, allowed(70, 90, "top_left"), np.float16)


#: What a schedule can say, and its tile of queries.
SCHEDULES = {
    "one-wave": ("waves = 1, keys = 32", 32),
    "two-waves-128-keys": ("waves = 2, keys = 128, waves_per_simd = 1", 64),
    "eight-waves": ("waves = 8, keys = 64", 256),
    "no-prefetch": ("keys = 64, prefetch = 0", 128),
    "lazy-rescale": ("rescale_above = 8", 128),
    "truncate": ("rounding = truncate", 128),
    "one-wave-a-simd": ("waves_per_simd = 1", 128),
}


@pytest.mark.parametrize("target", support.TARGETS)
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_config_schedule(kernels, element, name, target):
    """Results hold to the same bound with every schedule."""
    fields, tile = SCHEDULES[name]
    options = f"causal bottom_right {{schedule = #wavesmith.attention_schedule<version = 1, {fields}>}}"
    path = kernels(attention_text(element, "bhsd", 2, 1, 64, 0.125, options), target)
    for queries, keys in [(130, 270), (33, 5)]:
        q, k, v = draw(6, 1, 2, 1, queries, keys, 64, DTYPES[element])
        got, lse = run(path, "bhsd", q, k, v, tile=tile)
        compare(got, lse, q, k, v, 0.125, allowed(queries, keys, "bottom_right"),
                DTYPES[element], lse_error=2.0**-7 if name == "truncate" else None)


@pytest.mark.parametrize("target", support.TARGETS)
@pytest.mark.parametrize("causal", ["", "causal top_left"])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("element", DTYPES)
def test_config_default(kernels, element, dim, causal, target):
    """The default schedules need no scratch, and leave room for the wavefronts that
    they are made for."""
    path = kernels(attention_text(element, "bshd", 2, 1, dim, 0.1, causal), target)
    resources = json.loads(path.with_suffix(".json").read_text())["kernels"][0]["resources"]
    assert resources["vgpr_spills"] == resources["sgpr_spills"] == 0
    assert resources["scratch_bytes"] == 0
    assert resources["waves_per_simd"] >= (1 if element == "f32" and dim == 128 else 2)


@pytest.mark.parametrize("target", support.TARGETS)
def test_growing_scores(kernels, target):
    """The maximum grows with every key, a little or far: what was summed is scaled."""
    path = kernels(attention_text("bf16", "bhsd", 1, 1, 64, 1.0, ""), target)
    for step in (0.01, 0.5, 20.0):
        q, k, v = draw(7, 1, 1, 1, 40, 300, 64, DTYPES["bf16"])
        q[..., 0], k[..., 0] = 1.0, np.arange(300) * step
        q[..., 1:] *= np.array(0.1).astype(q.dtype)
        got, lse = run(path, "bhsd", q, k, v)
        compare(got, lse, q, k, v, 1.0, allowed(40, 300, None), DTYPES["bf16"])


def test_negative_scale(kernels):
    path = kernels(attention_text("f16", "bhsd", 1, 1, 64, -0.2, "causal top_left"), "gfx942")
    q, k, v = draw(8, 1, 1, 1, 70, 90, 64, np.float16)
    got, lse = run(path, "bhsd", q, k, v)
    compare(got, lse, q, k, v, -0.2, allowed(70, 90, "top_left"), np.float16)
