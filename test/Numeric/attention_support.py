# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of attention: the module, seeded inputs, and an evaluation in NumPy's f64 that
is written for the tests alone, on whole matrices."""

from __future__ import annotations

import dataclasses
import math

import ml_dtypes
import numpy as np

DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "i32": np.int32,
    "i64": np.int64,
}

#: The types of q, k and v.
INPUT_TYPES = ("f32", "f16", "bf16", "f8E4M3FNUZ")

_ARGUMENTS = "%b: index, %h: index, %i: index, %j: index"


@dataclasses.dataclass(frozen=True)
class Region:
    """A region: its operations, which read captures by the names `captures` gives
    and yield %out, and the same in NumPy."""

    body: str
    numpy: object
    #: case, rng -> {name: array}; names are unique over all regions.
    captures: object = lambda case, rng: {}


def _relative(case, rng):
    return {"table": rng.standard_normal((case.query_heads, 63)).astype(np.float32)}


def _documents(case, rng):
    longest = max([*case.query_lengths, *case.key_lengths, 1])
    return {"ids": np.sort(rng.integers(0, 3, (case.batch, longest))).astype(np.int32)}


SCORES = {
    # A bias by the distance, from a table that ends.
    "relative": Region(
        """
        %c31 = arith.constant 31 : index
        %c0 = arith.constant 0 : index
        %c62 = arith.constant 62 : index
        %distance = arith.subi %i, %j : index
        %shifted = arith.addi %distance, %c31 : index
        %low = arith.maxsi %shifted, %c0 : index
        %at = arith.minsi %low, %c62 : index
        %entry = tensor.extract %table[%h, %at] : TABLE
        %out = arith.addf %s, %entry : f32""",
        lambda s, b, h, i, j, c: s
        + c["table"].astype(np.float64)[h, np.clip(i - j + 31, 0, 62)],
        _relative,
    ),
    # A factor for each head, in f16, and one for the sequence.
    "gain": Region(
        """
        %half = tensor.extract %gain[%h] : GAIN
        %wide = arith.extf %half : f16 to f32
        %number = arith.index_cast %b : index to i32
        %real = arith.sitofp %number : i32 to f32
        %tenth = arith.constant 0.125 : f32
        %one = arith.constant 1.0 : f32
        %more = math.fma %real, %tenth, %one : f32
        %factor = arith.mulf %wide, %more : f32
        %out = arith.mulf %s, %factor : f32""",
        lambda s, b, h, i, j, c: s * (c["gain"].astype(np.float64)[h] * (1 + 0.125 * b)),
        lambda case, rng: {"gain": rng.uniform(0.5, 1.5, case.query_heads).astype(np.float16)},
    ),
    # A pair that the score takes out.
    "drop": Region(
        """
        %c3 = arith.constant 3 : index
        %sum = arith.addi %i, %j : index
        %rest = arith.remui %sum, %c3 : index
        %zero = arith.constant 0 : index
        %gone = arith.cmpi eq, %rest, %zero : index
        %minus = arith.constant 0xFF800000 : f32
        %bent = math.tanh %s : f32
        %out = arith.select %gone, %minus, %bent : f32""",
        lambda s, b, h, i, j, c: np.where((i + j) % 3 == 0, -np.inf, np.tanh(s)),
    ),
}

MASKS = {
    "documents": Region(
        """
        %at_i = tensor.extract %ids[%b, %i] : IDS
        %at_j = tensor.extract %ids[%b, %j] : IDS
        %out = arith.cmpi eq, %at_i, %at_j : i32""",
        lambda b, h, i, j, c: c["ids"][b, i] == c["ids"][b, j],
        _documents,
    ),
    # Keys past a length of each sequence, which may be 0.
    "lengths": Region(
        """
        %length = tensor.extract %lengths[%b] : LENGTHS
        %key = arith.index_cast %j : index to i64
        %out = arith.cmpi slt, %key, %length : i64""",
        lambda b, h, i, j, c: j < c["lengths"][b] + 0 * i,
        lambda case, rng: {
            "lengths": np.array(
                [rng.integers(0, n + 1) * (b != 0) for b, n in enumerate(case.key_lengths)],
                dtype=np.int64,
            )
        },
    ),
    "strided": Region(
        """
        %two = arith.constant 2 : index
        %three = arith.constant 3 : index
        %none = arith.constant 0 : index
        %twice = arith.muli %j, %two : index
        %both = arith.addi %i, %twice : index
        %all = arith.addi %both, %h : index
        %rest_m = arith.remui %all, %three : index
        %out = arith.cmpi ne, %rest_m, %none : index""",
        lambda b, h, i, j, c: (i + 2 * j + h) % 3 != 0,
    ),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """What one attention is to do. With layout thd the lengths are those of each
    sequence; else all are the same."""

    type: str = "f16"
    result: str = "f32"
    layout: str = "bshd"
    query_lengths: tuple[int, ...] = (5, 5)
    key_lengths: tuple[int, ...] = (7, 7)
    query_heads: int = 4
    key_heads: int = 2
    head_dim: int = 16
    value_head_dim: int = 16
    scale: float | None = None
    causal: str | None = None
    window: tuple[int, int] | None = None
    window_alignment: str | None = None
    softcap: float | None = None
    #: The dimensions of the bias that are not 1, of "bhq"; None for no bias.
    bias: str | None = None
    bias_type: str = "f32"
    #: "heads" or "batch".
    alibi: str | None = None
    #: Of q, k, v: "1" one number, "h" one a head, "-" none.
    descale: str = "---"
    score: str | None = None
    mask: str | None = None
    lse: bool = True
    static: bool = False

    @property
    def batch(self) -> int:
        return len(self.query_lengths)

    @property
    def packed(self) -> bool:
        return self.layout == "thd"

    @property
    def effective_scale(self) -> float:
        return 1 / math.sqrt(self.head_dim) if self.scale is None else self.scale

    def shape(self, lengths, heads: int, dim: int) -> tuple[int, ...]:
        if self.packed:
            return (sum(lengths), heads, dim)
        length = lengths[0] if lengths else 3
        if self.layout == "bshd":
            return (self.batch, length, heads, dim)
        return (self.batch, heads, length, dim)


def _tensor(case: Case, array: np.ndarray, static=()) -> str:
    """The type of an array; sizes are dynamic but those of the dimensions `static`."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    sizes = [
        str(size) if case.static or dimension in static else "?"
        for dimension, size in enumerate(array.shape)
    ]
    return f"tensor<{'x'.join([*sizes, names[array.dtype]])}>"


def operand_types(case: Case, inputs: dict[str, np.ndarray]) -> dict[str, str]:
    """The type of each operand; what must be static is."""
    heads = 1 if case.layout in ("bhsd", "thd") else 2
    static = {name: (heads, inputs["q"].ndim - 1) for name in ("q", "k", "v")}
    static["bias"] = (1, *(d for d, letter in ((0, "b"), (2, "q"))
                           if case.bias is not None and letter not in case.bias))
    static["alibi"] = (1,) if case.alibi == "batch" else (0,)
    static |= {name: (0,) for name in ("descale_q", "descale_k", "descale_v")}
    return {name: _tensor(case, array, static.get(name, ())) for name, array in inputs.items()}


def make_module(case: Case, inputs: dict[str, np.ndarray], schedule: str = "") -> str:
    """A module whose function @attention takes the inputs in their order."""
    types = operand_types(case, inputs)
    arguments = ", ".join(f'%in_{n}: {t} {{wavesmith.name = "{n}"}}' for n, t in types.items())
    o = types["q"].removesuffix(f"{case.head_dim}x{case.type}>")
    o += f"{case.value_head_dim}x{case.result}>"
    results = [("o", o)]
    if case.lse:
        shape = lse_shape(case)
        sizes = [str(size) if case.static else "?" for size in shape]
        sizes[0 if case.packed else 1] = str(case.query_heads)
        results.append(("lse", f"tensor<{'x'.join(sizes)}xf32>"))
    options = [f"layout {case.layout} scale {case.effective_scale!r}"]
    if case.causal:
        options.append(f"causal {case.causal}")
    if case.window:
        options.append(f"window [{case.window[0]}, {case.window[1]}]")
    if case.window_alignment:
        options.append(f"window_alignment {case.window_alignment}")
    if case.softcap:
        options.append(f"softcap {case.softcap!r}")
    for name in ("bias", "alibi"):
        if name in inputs:
            options.append(f"{name} %in_{name}")
    if case.packed:
        options.append("cumulative_lengths %in_cumulative_q, %in_cumulative_kv")
    for name in ("descale_q", "descale_k", "descale_v"):
        if name in inputs:
            options.append(f"{name} %in_{name}")
    captures = [name for name in inputs if name in _CAPTURE_NAMES]
    if captures:
        options.append(f"captures({', '.join('%in_' + name for name in captures)})")
    if schedule:
        options.append(schedule)
    captured = "".join(f", %{name}: {types[name]}" for name in captures)
    regions = ""
    for keyword, region, first, result in (
        ("score", SCORES.get(case.score), "%s: f32, ", "f32"),
        ("mask", MASKS.get(case.mask), "", "i1"),
    ):
        if region is None:
            continue
        body = region.body
        for name in captures:
            body = body.replace(name.upper(), types[name])
        regions += (f"\n      {keyword} {{\n      ^bb0({first}{_ARGUMENTS}{captured}):{body}\n"
                    f"        wavesmith.yield %out : {result}\n      }}")
    operands = ", ".join(types.values())
    values = ", ".join(f"%{name}_out" for name, _ in results)
    returned = ", ".join(t for _, t in results)
    named = ", ".join(f'{t} {{wavesmith.name = "{n}"}}' for n, t in results)
    return (
        f"func.func @attention({arguments}) -> ({named}) {{\n"
        f"  {values} = wavesmith.attention %in_q, %in_k, %in_v {' '.join(options)}\n"
        f"      : ({operands}) -> ({returned}){regions}\n"
        f"  return {values} : {returned}\n}}\n"
    )


_CAPTURE_NAMES = ("table", "gain", "ids", "lengths")


def lse_shape(case: Case) -> tuple[int, ...]:
    if case.packed:
        return (case.query_heads, sum(case.query_lengths))
    return (case.batch, case.query_heads, case.query_lengths[0] if case.batch else 3)


def make_inputs(case: Case, seed: int = 1) -> dict[str, np.ndarray]:
    """Inputs in the order of the operation's operands."""
    rng = np.random.default_rng(seed)

    def normal(shape, dtype):
        # 1.5 spreads the scores so that softmax is neither flat nor one key.
        return (1.5 * rng.standard_normal(shape)).astype(np.float32).astype(dtype)

    dtype = DTYPES[case.type]
    inputs = {
        "q": normal(case.shape(case.query_lengths, case.query_heads, case.head_dim), dtype),
        "k": normal(case.shape(case.key_lengths, case.key_heads, case.head_dim), dtype),
        "v": normal(case.shape(case.key_lengths, case.key_heads, case.value_head_dim), dtype),
    }
    if case.bias is not None:
        longest_q, longest_k = (max([*lengths, 0]) + (2 if case.packed else 0)
                                for lengths in (case.query_lengths, case.key_lengths))
        shape = (case.batch if "b" in case.bias else 1,
                 case.query_heads if "h" in case.bias else 1,
                 longest_q if "q" in case.bias else 1, longest_k)
        inputs["bias"] = normal(shape, DTYPES[case.bias_type])
    if case.alibi:
        shape = (case.query_heads,) if case.alibi == "heads" else (case.batch, case.query_heads)
        inputs["alibi"] = rng.uniform(0.01, 0.5, shape).astype(np.float32)
    if case.packed:
        for name, lengths in (("q", case.query_lengths), ("kv", case.key_lengths)):
            inputs[f"cumulative_{name}"] = np.cumsum([0, *lengths]).astype(np.int32)
    for name, kind, heads in zip("qkv", case.descale,
                                 (case.query_heads, case.key_heads, case.key_heads)):
        if kind != "-":
            inputs[f"descale_{name}"] = rng.uniform(
                0.5, 1.5, 1 if kind == "1" else heads).astype(np.float32)
    for regions, name in ((SCORES, case.score), (MASKS, case.mask)):
        if name:
            inputs |= regions[name].captures(case, rng)
    return inputs


def _sequence(case: Case, array: np.ndarray, b: int, offsets) -> np.ndarray:
    """heads x positions x dim of one sequence."""
    if case.packed:
        return array[offsets[b]:offsets[b + 1]].swapaxes(0, 1)
    return array[b] if case.layout == "bhsd" else array[b].swapaxes(0, 1)


class Exact:
    """The arithmetic of the meaning: f64."""

    dtype = np.float64

    @staticmethod
    def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b

    @staticmethod
    def rounded(array: np.ndarray) -> np.ndarray:
        return array


class Eager:
    """The arithmetic of an eager computation in the inputs' type: each matrix that it
    would write to memory is rounded to the type; all between is computed in f32, sums one
    number after the other."""

    dtype = np.float32

    def __init__(self, dtype):
        self.storage = dtype

    @staticmethod
    def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        total = np.zeros((*a.shape[:-1], b.shape[-1]), np.float32)
        for k in range(a.shape[-1]):
            total += a[..., k, None] * b[..., None, k, :]
        return total

    def rounded(self, array: np.ndarray) -> np.ndarray:
        if self.storage != DTYPES["f8E4M3FNUZ"]:
            return array.astype(self.storage).astype(np.float32)
        # A type without infinities: what is too large is the largest number, and a score
        # that was taken out stays out.
        finite = np.clip(array, -240, 240).astype(self.storage).astype(np.float32)
        return np.where(np.isneginf(array), array, finite)


@dataclasses.dataclass
class Sequence:
    """What one sequence of a case computes with: heads x queries x keys, and q, k and v
    with a copy for each query head."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    products: np.ndarray
    #: -inf where a pair does not take part.
    scores: np.ndarray
    #: How large the numbers are that add up to a score.
    size: np.ndarray


def _sequence_of(case: Case, inputs: dict[str, np.ndarray], b: int, arithmetic) -> Sequence:
    rounded, dtype = arithmetic.rounded, arithmetic.dtype
    heads = case.query_heads
    parts = []
    for name, offsets in (("q", "cumulative_q"), ("k", "cumulative_kv"), ("v", "cumulative_kv")):
        part = _sequence(case, inputs[name], b, inputs.get(offsets)).astype(dtype)
        if f"descale_{name}" in inputs:
            part *= inputs[f"descale_{name}"].astype(dtype)[:, None, None]
        parts.append(np.repeat(part, heads // len(part), axis=0))
    q, k, v = parts
    queries, keys = q.shape[1], k.shape[1]
    h, i, j = np.ogrid[:heads, :queries, :keys]
    products = rounded(arithmetic.matmul(q, k.swapaxes(1, 2)))
    s = rounded(dtype(case.effective_scale) * products)
    size = abs(case.effective_scale) * (np.abs(q) @ np.abs(k).swapaxes(1, 2))
    if case.softcap:
        s = rounded(dtype(case.softcap) * np.tanh(s / dtype(case.softcap)))
        size = size + case.softcap
    if "bias" in inputs:
        bias = inputs["bias"].astype(dtype)
        bias = bias[b if "b" in case.bias else 0]
        bias = bias[:, :queries if "q" in case.bias else 1, :keys]
        s = rounded(s + bias)
        size = size + np.where(np.isfinite(bias), np.abs(bias), 0)
    if "alibi" in inputs:
        slopes = inputs["alibi"].astype(dtype)
        slopes = slopes if slopes.ndim == 1 else slopes[b]
        penalty = slopes[:, None, None] * np.abs((queries - 1 - i) - (keys - 1 - j)).astype(dtype)
        s = rounded(s - penalty)
        size = size + penalty
    if case.score:
        captured = {name: inputs[name] for name in _CAPTURE_NAMES if name in inputs}
        s = rounded(SCORES[case.score].numpy(s, b, h, i, j, captured).astype(dtype))
        # The regions above enlarge an error by less than 2.
        size = 2 * size + np.abs(np.where(np.isfinite(s), s, 0))
    allowed = np.ones((heads, queries, keys), dtype=bool)
    if case.causal == "top_left":
        allowed &= np.tri(queries, keys, dtype=bool)
    elif case.causal == "bottom_right":
        allowed &= np.tri(queries, keys, keys - queries, dtype=bool)
    if case.window:
        alignment = case.window_alignment or case.causal or "bottom_right"
        ahead = j - i - (keys - queries if alignment == "bottom_right" else 0)
        left, right = case.window
        allowed &= (ahead <= right) if right >= 0 else True
        allowed &= (-ahead <= left) if left >= 0 else True
    if case.mask:
        captured = {name: inputs[name] for name in _CAPTURE_NAMES if name in inputs}
        allowed &= MASKS[case.mask].numpy(b, h, i, j, captured)
    return Sequence(q, k, v, products, np.where(allowed, s, dtype(-np.inf)), size)


def _softmax(scores: np.ndarray):
    """Weights before they are divided by their sum, the sum, and lse."""
    largest = scores.max(axis=-1, initial=-np.inf, keepdims=True)
    p = np.exp(scores - np.where(largest == -np.inf, 0, largest).astype(scores.dtype))
    total = p.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.where(total == 0, -np.inf, largest + np.log(total))
    return p, np.where(total == 0, 1, total).astype(scores.dtype), lse[..., 0]


def _over_sequences(case: Case, inputs: dict[str, np.ndarray], of_sequence):
    """o, or what has its shape, and lse, of `of_sequence(b)` for all sequences; 0 and -inf
    for tokens that belong to none."""
    tokens = inputs["q"].shape
    of_q = inputs.get("cumulative_q")
    o = np.zeros((*tokens[:-1], case.value_head_dim))
    lse = np.full((case.query_heads, tokens[0]) if case.packed else lse_shape(case), -np.inf)
    for b in range(len(of_q) - 1 if case.packed else tokens[0]):
        rows, row_lse = of_sequence(b)
        if case.packed:
            o[of_q[b]:of_q[b + 1]] = rows.swapaxes(0, 1)
            lse[:, of_q[b]:of_q[b + 1]] = row_lse
        else:
            o[b] = rows if case.layout == "bhsd" else rows.swapaxes(0, 1)
            lse[b] = row_lse
    return o, lse


def evaluate(
    case: Case, inputs: dict[str, np.ndarray], dtype=np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """o and lse, as f64. With another `dtype` it is the eager computation in that type,
    whose errors are the yardstick of a kernel's; its o is rounded to the result's type
    where that is coarser."""
    arithmetic = Exact() if dtype == np.float64 else Eager(dtype)

    def of_sequence(b):
        s = _sequence_of(case, inputs, b, arithmetic)
        p, total, lse = _softmax(s.scores)
        return arithmetic.rounded(arithmetic.matmul(arithmetic.rounded(p / total), s.v)), lse

    o, lse = _over_sequences(case, inputs, of_sequence)
    if dtype != np.float64:
        o = o.astype(DTYPES[case.result]).astype(np.float64)
    return o, lse


#: Half a unit in the last place of 1: the largest relative error of a rounding.
UNITS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8, "f8E4M3FNUZ": 2.0**-4}
#: The smallest normal number, and the distance of those that are smaller.
SMALLEST = {"f32": (2.0**-126, 2.0**-149), "f16": (2.0**-14, 2.0**-24),
            "bf16": (2.0**-126, 2.0**-133), "f8E4M3FNUZ": (2.0**-7, 2.0**-10)}


def error_budget(case: Case, inputs: dict[str, np.ndarray], target: str):
    """How far a kernel's o and lse may be from the meaning, element by element: the sum of
    what each of its components may contribute. With f32 u = 2^-24, for a row with weights
    p / l and values v:

    - scores: the products' sums and what is added to them, in f32;
    - weights: p is rounded to the inputs' type once (nothing with f32). Weights below its
      normal numbers lose more; gfx90a's products take such f16 and bf16 numbers as 0;
    - sums over keys, of p and of p v, in f32;
    - the result, rounded once."""
    u = UNITS["f32"]
    normal, step = SMALLEST[case.type]
    flushes = target == "gfx90a" and case.type in ("f16", "bf16")

    def flushed(array):
        return np.where(np.abs(array) < normal, np.abs(array), 0) if flushes else 0 * array

    def of_sequence(b):
        s = _sequence_of(case, inputs, b, Exact)
        p, total, _ = _softmax(s.scores)
        keys, value = s.k.shape[1], np.abs(s.v)
        # A matrix instruction adds at least 4 products at a time (f32: 1 or 2), and its
        # sums may be truncated.
        chunk = 4 if case.type != "f32" else 1
        of_scores = 2 * u * (s.q.shape[2] / chunk + 8) * s.size
        of_scores += abs(case.effective_scale) * (
            flushed(s.q) @ np.abs(s.k).swapaxes(1, 2) + np.abs(s.q) @ flushed(s.k).swapaxes(1, 2))
        # The exponent is a fused product minus the maximum, both times log2(e).
        largest = np.where(p > 0, np.abs(np.where(p > 0, s.scores, 0)), 0)
        of_scores += 4 * u * (largest + largest.max(axis=-1, initial=0, keepdims=True) + 1)
        weights = p / total
        of_lse = (weights * of_scores).sum(axis=-1, keepdims=True)
        relative = np.expm1(of_scores + of_lse)
        if case.type != "f32":
            relative = relative + UNITS[case.type]
        # The exponential itself does not make subnormal numbers of f32.
        lost = np.where(p < normal, p if flushes or case.type == "f32"
                        else np.minimum(p, step / 2), 0) / total
        sums = 2 * u * (keys / chunk + 16)
        size = weights @ value
        rows = (weights * relative + lost) @ value + sums * 2 * size + weights @ flushed(s.v)
        rows += UNITS[case.result] * (np.abs(weights @ s.v) + rows) + SMALLEST[case.result][1] / 2
        with np.errstate(divide="ignore"):
            logarithm = np.abs(np.log(np.where(total > 0, total, 1))) + largest.max(
                axis=-1, initial=0, keepdims=True)
        return rows, (of_lse + sums + 4 * u * (logarithm + 1))[..., 0]

    return _over_sequences(case, inputs, of_sequence)
