# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference evaluator of attention against NumPy in f64, properties that attention
has, and corners where implementations go wrong."""

from __future__ import annotations

import dataclasses
import math
import subprocess

import ml_dtypes
import numpy as np
import pytest

from attention_matrix import cover, covers
from attention_support import DTYPES, Case, evaluate, make_inputs, make_module
from numeric_support import BUILD


def run_evaluator(folder, text, inputs, results, *options):
    (folder / "module.mlir").write_text(text)
    command = [str(BUILD / "bin" / "wavesmith-evaluate"), str(folder / "module.mlir"), *options]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        command.append(f"--input={name}={folder / name}.npy")
    command += [f"--output={name}={folder / name}-out.npy" for name in results]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def reference(folder, case, inputs, *options):
    """The results of the evaluator."""
    names = ["o", "lse"] if case.lse else ["o"]
    result = run_evaluator(folder, make_module(case, inputs), inputs, names, *options)
    assert result.returncode == 0, result.stderr[:4000]
    return [np.load(folder / f"{name}-out.npy") for name in names]


def assert_agree(case, inputs, folder):
    results = reference(folder, case, inputs)
    for got, wanted in zip(results, evaluate(case, inputs)):
        assert got.dtype == np.float64
        # Rounding of f64, in sums of some tens of numbers of size 1 to 10.
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)
    return results


FACTORS = {
    "type": ["f32", "f16", "bf16", "f8E4M3FNUZ"],
    "result": ["f32", "f16", "bf16"],
    "layout": ["bshd", "bhsd", "thd"],
    # Of the queries and of the keys: one sequence has no keys, one no query.
    "lengths": [((5, 9, 0), (9, 5, 4)), ((1, 1, 1), (17, 0, 3)), ((6, 13, 7), (6, 13, 7))],
    "heads": [(1, 1), (4, 4), (6, 2), (3, 1), (10, 2)],
    "dims": [(16, 16), (64, 64), (40, 24), (24, 96)],
    "scale": [None, 0.3, -0.2],
    "causal": [None, "top_left", "bottom_right"],
    "window": [None, (3, 2), (-1, 0), (0, -1), (2, 0), (-1, -1)],
    "window_alignment": [None, "top_left", "bottom_right"],
    "softcap": [None, 2.5],
    "bias": [None, "", "bhq", "h", "bq"],
    "bias_type": ["f32", "f16", "bf16"],
    "alibi": [None, "heads", "batch"],
    "descale": ["---", "111", "hhh", "-1h"],
    "score": [None, "relative", "gain", "drop"],
    "mask": [None, "documents", "lengths", "strided"],
    "lse": [True, False],
    "static": [True, False],
}


def is_allowed(row):
    if row.get("descale", "---") != "---" and row.get("type", "f8E4M3FNUZ") != "f8E4M3FNUZ":
        return False
    return not ("window" in row and row["window"] is None and row.get("window_alignment"))


ROWS = cover(FACTORS, 2, allowed=is_allowed, seed=5)


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_all_options(tmp_path, number):
    row = dict(ROWS[number])
    query_lengths, key_lengths = row.pop("lengths")
    if row["layout"] != "thd":
        # All sequences have the lengths of one of those.
        at = number % 3
        query_lengths, key_lengths = (query_lengths[at],) * 2, (key_lengths[at],) * 2
    (query_heads, key_heads), (head_dim, value_head_dim) = row.pop("heads"), row.pop("dims")
    case = Case(query_lengths=query_lengths, key_lengths=key_lengths, query_heads=query_heads,
                key_heads=key_heads, head_dim=head_dim, value_head_dim=value_head_dim, **row)
    assert_agree(case, make_inputs(case, seed=100 + number), tmp_path)


def test_pairs_are_covered():
    names = list(FACTORS)
    for a in names:
        for b in names[names.index(a) + 1:]:
            for x in FACTORS[a]:
                for y in FACTORS[b]:
                    if is_allowed({a: x, b: y}):
                        assert covers(ROWS, {a: x, b: y}), (a, x, b, y)


# Properties.


@pytest.mark.parametrize("value", [1.0, -3.375, 0.0546875, 112.0])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f8E4M3FNUZ"])
def test_constant_values_give_the_constant(tmp_path, dtype, value):
    case = Case(type=dtype, query_lengths=(9,), key_lengths=(33,), softcap=3.0, alibi="heads")
    inputs = make_inputs(case)
    inputs["v"] = np.full_like(inputs["v"], value)
    value = float(inputs["v"].reshape(-1)[0])
    o, _ = reference(tmp_path, case, inputs)
    np.testing.assert_allclose(o, value, rtol=1e-15)


def test_permuted_keys_with_permuted_bias(tmp_path):
    case = Case(layout="bhsd", query_lengths=(6, 6), key_lengths=(21, 21), bias="bhq")
    inputs = make_inputs(case)
    o, lse = reference(tmp_path, case, inputs)
    order = np.random.default_rng(3).permutation(21)
    permuted = inputs | {"k": inputs["k"][:, :, order], "v": inputs["v"][:, :, order],
                         "bias": inputs["bias"][..., order]}
    again, lse_again = reference(tmp_path, case, permuted)
    np.testing.assert_allclose(again, o, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(lse_again, lse, rtol=1e-14)
    # The bias alone is another result.
    other, _ = reference(tmp_path, case, inputs | {"bias": permuted["bias"]})
    assert np.abs(other - o).max() > 0.1


@pytest.mark.parametrize("lengths", [(7, 7), (5, 11), (11, 5)])
@pytest.mark.parametrize("alignment", ["top_left", "bottom_right"])
def test_causal_is_a_window(tmp_path, alignment, lengths):
    case = Case(query_lengths=lengths[:1], key_lengths=lengths[1:], causal=alignment)
    inputs = make_inputs(case)
    window = dataclasses.replace(case, causal=None, window=(-1, 0), window_alignment=alignment)
    for got, wanted in zip(reference(tmp_path, window, inputs), reference(tmp_path, case, inputs)):
        np.testing.assert_array_equal(got, wanted)
    # A causal mask gives its alignment to a window; an unlimited one changes nothing.
    both = dataclasses.replace(case, window=(-1, 0))
    for got, wanted in zip(reference(tmp_path, both, inputs), reference(tmp_path, case, inputs)):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("heads", [(8, 2), (6, 1), (9, 3)])
def test_grouped_heads_are_repeated_heads(tmp_path, heads):
    case = Case(query_heads=heads[0], key_heads=heads[1], causal="bottom_right")
    inputs = make_inputs(case)
    ratio = heads[0] // heads[1]
    repeated = inputs | {name: np.repeat(inputs[name], ratio, axis=2) for name in "kv"}
    full = dataclasses.replace(case, key_heads=heads[0])
    for got, wanted in zip(reference(tmp_path, full, repeated), reference(tmp_path, case, inputs)):
        np.testing.assert_array_equal(got, wanted)


def test_parts_of_the_keys_combine_by_lse(tmp_path):
    case = Case(query_lengths=(4,), key_lengths=(30,))
    inputs = make_inputs(case)
    whole, lse = reference(tmp_path, case, inputs)
    parts = []
    for part in (slice(0, 11), slice(11, 30)):
        piece = inputs | {name: inputs[name][:, part] for name in "kv"}
        parts.append(reference(tmp_path, case, piece))
    total = np.logaddexp(parts[0][1], parts[1][1])
    np.testing.assert_allclose(total, lse, rtol=1e-14)
    combined = sum(o * np.exp(part - total).swapaxes(1, 2)[..., None] for o, part in parts)
    np.testing.assert_allclose(combined, whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_packed_is_one_sequence_after_the_other(tmp_path, layout):
    packed = Case(layout="thd", query_lengths=(5, 0, 8), key_lengths=(9, 4, 3),
                  causal="bottom_right", alibi="heads", window=(4, -1))
    inputs = make_inputs(packed)
    o, lse = reference(tmp_path, packed, inputs)
    for b, (queries, keys) in enumerate(zip(packed.query_lengths, packed.key_lengths)):
        one = dataclasses.replace(packed, layout=layout, query_lengths=(queries,),
                                  key_lengths=(keys,))
        rows = slice(*inputs["cumulative_q"][b:b + 2])
        columns = slice(*inputs["cumulative_kv"][b:b + 2])
        single = {"q": inputs["q"][rows], "k": inputs["k"][columns], "v": inputs["v"][columns]}
        if layout == "bhsd":
            single = {name: array.swapaxes(0, 1) for name, array in single.items()}
        single = {name: array[None] for name, array in single.items()}
        single["alibi"] = inputs["alibi"]
        wanted, wanted_lse = reference(tmp_path, one, single)
        got = o[rows] if layout == "bshd" else o[rows].swapaxes(0, 1)
        np.testing.assert_array_equal(got, wanted[0])
        np.testing.assert_array_equal(lse[:, rows], wanted_lse[0])


# Corners.


def test_scores_by_hand(tmp_path):
    # With q = 0 the scores are the biases alone: lse is the logarithm of a sum of
    # exponentials that can be written down.
    case = Case(query_lengths=(2,), key_lengths=(4,), query_heads=1, key_heads=1,
                alibi="heads")
    inputs = make_inputs(case)
    inputs["q"][:] = 0
    inputs["alibi"][:] = 0.5
    o, lse = reference(tmp_path, case, inputs)
    # Query 0 is level with key 2, query 1 with key 3.
    distances = [[2, 1, 0, 1], [3, 2, 1, 0]]
    weights = np.exp(-0.5 * np.array(distances))
    np.testing.assert_allclose(lse[0, 0], np.log(weights.sum(axis=1)), rtol=1e-15)
    wanted = weights @ inputs["v"][0, :, 0].astype(np.float64) / weights.sum(axis=1)[:, None]
    np.testing.assert_allclose(o[0, :, 0], wanted, rtol=1e-14, atol=1e-16)
    # Softcap comes before the bias: 0 stays 0.
    capped = dataclasses.replace(case, softcap=0.25)
    np.testing.assert_array_equal(reference(tmp_path, capped, inputs)[1], lse)


@pytest.mark.parametrize(
    "alignment,window,counts",
    [
        # 3 queries, 5 keys; keys that each query sees.
        ("top_left", (1, 0), [1, 2, 2]),
        ("bottom_right", (1, 0), [2, 2, 2]),
        ("bottom_right", (1, 1), [3, 3, 2]),
        ("top_left", (0, 0), [1, 1, 1]),
        ("top_left", (-1, 1), [2, 3, 4]),
        ("bottom_right", (4, -1), [5, 5, 5]),
        ("bottom_right", (2**62, 2**62), [5, 5, 5]),
    ],
)
def test_edges_of_windows_are_inclusive(tmp_path, alignment, window, counts):
    case = Case(query_lengths=(3,), key_lengths=(5,), query_heads=1, key_heads=1,
                window=window, window_alignment=alignment)
    inputs = make_inputs(case)
    inputs["q"][:] = 0
    _, lse = reference(tmp_path, case, inputs)
    np.testing.assert_allclose(lse[0, 0], np.log(counts), rtol=1e-15, atol=1e-300)


def test_fully_masked_rows(tmp_path):
    # Bottom right with more queries than keys: the first ones see nothing.
    case = Case(query_lengths=(6,), key_lengths=(4,), causal="bottom_right")
    o, lse = assert_agree(case, make_inputs(case), tmp_path)
    assert (o[:, :2] == 0).all() and (lse[:, :, :2] == -np.inf).all()
    assert (np.abs(o[:, 2:]).sum(axis=-1) > 0).all() and np.isfinite(lse[:, :, 2:]).all()
    # A mask region that takes all keys of the first sequence, and scores of -inf.
    case = Case(mask="lengths")
    o, lse = assert_agree(case, make_inputs(case), tmp_path)
    assert (o[0] == 0).all() and (lse[0] == -np.inf).all()
    case = Case(bias="bq")
    inputs = make_inputs(case)
    inputs["bias"][0, 0, 3] = -np.inf
    o, lse = reference(tmp_path, case, inputs)
    assert (o[0, 3] == 0).all() and (lse[0, :, 3] == -np.inf).all()
    assert np.isfinite(o).all() and np.isfinite(lse[1]).all()


@pytest.mark.parametrize("layout", ["bshd", "bhsd", "thd"])
@pytest.mark.parametrize("lengths", [((3, 3), (0, 0)), ((0, 0), (3, 3)), ((0,), (0,)), ((), ())])
def test_nothing_to_do(tmp_path, layout, lengths):
    case = Case(layout=layout, query_lengths=lengths[0], key_lengths=lengths[1],
                causal="bottom_right")
    inputs = make_inputs(case)
    o, lse = reference(tmp_path, case, inputs)
    assert o.shape == (*inputs["q"].shape[:-1], case.value_head_dim)
    assert (o == 0).all() and (lse == -np.inf).all()


def test_neighbours_and_padding_have_no_influence(tmp_path):
    case = Case(layout="thd", query_lengths=(5, 3, 4), key_lengths=(6, 2, 9))
    inputs = make_inputs(case)
    o, lse = reference(tmp_path, case, inputs)
    # Not-a-number in the sequence between and in tokens past the last one.
    changed = {name: array.copy() for name, array in inputs.items()}
    for name, middle in (("q", slice(5, 8)), ("k", slice(6, 8)), ("v", slice(6, 8))):
        changed[name][middle] = np.nan
        tail = np.full((7, *changed[name].shape[1:]), np.nan, changed[name].dtype)
        changed[name] = np.concatenate([changed[name], tail])
    again, lse_again = reference(tmp_path, case, changed)
    assert np.isnan(again[5:8]).all() and np.isnan(lse_again[:, 5:8]).all()
    for rows in (slice(0, 5), slice(8, 12)):
        np.testing.assert_array_equal(again[rows], o[rows])
        np.testing.assert_array_equal(lse_again[:, rows], lse[:, rows])
    assert (again[12:] == 0).all() and (lse_again[:, 12:] == -np.inf).all()


def test_scores_that_are_not_numbers(tmp_path):
    case = Case(query_lengths=(2,), key_lengths=(3,), bias="q")
    for value in (np.nan, np.inf):
        inputs = make_inputs(case)
        inputs["bias"][0, 0, 1, 2] = value
        o, lse = reference(tmp_path, case, inputs)
        assert np.isfinite(o[:, 0]).all() and np.isfinite(lse[:, :, 0]).all()
        assert np.isnan(o[:, 1]).all() and np.isnan(lse[:, :, 1]).all()
    # Where the pair is masked it does not matter.
    masked = dataclasses.replace(case, causal="top_left")
    inputs["bias"][0, 0, 0, 2] = np.nan
    o, lse = reference(tmp_path, masked, inputs)
    assert np.isfinite(o).all() and np.isfinite(lse).all()


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f8E4M3FNUZ"])
def test_elements_are_decoded_exactly(tmp_path, dtype):
    # With one key o is v.
    bits = {"f8E4M3FNUZ": 8, "f32": 32}.get(dtype, 16)
    rng = np.random.default_rng(4)
    codes = (np.arange(2**bits) if bits < 32
             else np.concatenate([rng.integers(0, 2**32, 4000), [1, 2**31, 0x7f7fffff]]))
    numbers = codes.astype(f"u{bits // 8}").view(DTYPES[dtype])
    with np.errstate(invalid="ignore"):
        numbers = numbers[np.isfinite(numbers.astype(np.float64))]
    numbers = np.concatenate([numbers, np.zeros(-len(numbers) % 16, numbers.dtype)])
    batch = len(numbers) // 16
    case = Case(type=dtype, query_lengths=(1,) * batch, key_lengths=(1,) * batch,
                query_heads=1, key_heads=1)
    inputs = make_inputs(case)
    inputs["v"] = numbers.reshape(batch, 1, 1, 16)
    o, _ = reference(tmp_path, case, inputs)
    np.testing.assert_array_equal(o.reshape(-1), numbers.astype(np.float64))


def test_fp8_is_fnuz(tmp_path):
    # The code 0x40 is 1 here and 2 as float8_e4m3fn.
    case = Case(type="f8E4M3FNUZ", query_lengths=(1,), key_lengths=(1,))
    inputs = make_inputs(case)
    inputs["v"] = np.full(inputs["v"].shape, 0x40, np.uint8).view(ml_dtypes.float8_e4m3fnuz)
    assert (reference(tmp_path, case, inputs)[0] == 1).all()


@pytest.mark.parametrize("result", ["f32", "f16", "bf16"])
def test_results_in_their_types(tmp_path, result):
    case = Case(result=result, query_lengths=(64,), key_lengths=(64,))
    inputs = make_inputs(case)
    o, lse = reference(tmp_path, case, inputs)
    rounded, rounded_lse = reference(tmp_path, case, inputs, "--round-results")
    assert rounded_lse.dtype == np.float32
    np.testing.assert_array_equal(rounded_lse, lse.astype(np.float32))
    rounded = rounded.view(DTYPES[result])
    np.testing.assert_array_equal(rounded.astype(np.float64),
                                  o.astype(DTYPES[result]).astype(np.float64))


@pytest.mark.parametrize("dtype,size", [("f16", 2**-11), ("bf16", 2**-8)])
def test_the_yardstick_of_kernels(tmp_path, dtype, size):
    # An eager computation is off by about the size of its type's rounding, so that
    # kernels may be held to a multiple of its error.
    case = Case(type=dtype, query_lengths=(64,), key_lengths=(64,), softcap=5.0)
    inputs = make_inputs(case)
    o, _ = reference(tmp_path, case, inputs)
    error = np.abs(evaluate(case, inputs, DTYPES[dtype])[0] - o).max()
    assert size / 4 < error < 16 * size


def test_threads_do_not_matter(tmp_path):
    case = Case(mask="documents", score="relative", query_heads=8, key_heads=4)
    inputs = make_inputs(case)
    for got, wanted in zip(reference(tmp_path, case, inputs, "--threads=1"),
                           reference(tmp_path, case, inputs, "--threads=7")):
        np.testing.assert_array_equal(got, wanted)


def test_large_scores(tmp_path):
    # No overflow in exp: scores of a few thousand, all alike but one.
    case = Case(type="f32", query_lengths=(1,), key_lengths=(3,), scale=1.0)
    inputs = make_inputs(case)
    inputs["q"][:] = 20
    inputs["k"][:] = 20
    inputs["k"][0, 1] = 19
    o, lse = reference(tmp_path, case, inputs)
    np.testing.assert_allclose(lse, 16 * 400 + math.log(2), rtol=1e-15)
    v = inputs["v"].astype(np.float64)
    wanted = np.repeat((v[:, 0] + v[:, 2]) / 2, 2, axis=1)
    np.testing.assert_allclose(o[:, 0], wanted, rtol=1e-15)


# What is refused, with the words.


def errors_of(folder, case, inputs, results=("o",), edit=lambda text: text):
    result = run_evaluator(folder, edit(make_module(case, inputs)), inputs, results)
    assert result.returncode == 1
    return result.stderr


@pytest.mark.parametrize(
    "change,message",
    [
        ({"k": (2, 8, 2, 16)}, "argument 'v': expected dimension #1, the keys, to be 8, got 7"),
        ({"v": (3, 7, 2, 16)}, "argument 'v': expected dimension #0, the batch, to be 2, got 3"),
        ({"q": (2, 5, 4, 24)}, "argument 'q': expected f16 [?, ?, 4, 16], got f16 [2, 5, 4, 24]"),
        ({"q": (2, 5, 4)}, "argument 'q': expected f16 [?, ?, 4, 16], got f16 [2, 5, 4]"),
        ({"bias": (2, 4, 6, 7)},
         "argument 'bias': expected dimension #2, the queries, to be 5, got 6"),
        ({"bias": (2, 4, 5, 8)},
         "argument 'bias': expected dimension #3, the keys, to be 7, got 8"),
        ({"alibi": (3, 4)}, "argument 'alibi': expected dimension #0, the batch, to be 2, got 3"),
    ],
)
def test_shapes_that_do_not_fit(tmp_path, change, message):
    case = Case(bias="bhq", alibi="batch")
    inputs = make_inputs(case)
    text = make_module(case, inputs)
    for name, shape in change.items():
        inputs[name] = np.zeros(shape, inputs[name].dtype)
    result = run_evaluator(tmp_path, text, inputs, ["o"])
    assert result.returncode == 1 and message in result.stderr


def test_types_that_do_not_fit(tmp_path):
    case = Case()
    inputs = make_inputs(case)
    text = make_module(case, inputs)
    inputs["q"] = inputs["q"].astype(ml_dtypes.bfloat16)
    result = run_evaluator(tmp_path, text, inputs, ["o"])
    assert result.returncode == 1
    assert ("argument 'q': expected f16 [?, ?, 4, 16], got bf16 [2, 5, 4, 16]"
            in result.stderr)


@pytest.mark.parametrize(
    "name,numbers,message",
    [
        ("cumulative_q", [1, 5, 10], "expected number #0 to be 0, got 1"),
        ("cumulative_q", [0, 6, 5], "expected number #2 to be from 6 to 10, got 5"),
        ("cumulative_kv", [0, 7, 15], "expected number #2 to be from 7 to 14, got 15"),
        ("cumulative_kv", [0, -1, 14], "expected number #1 to be from 0 to 14, got -1"),
        ("cumulative_kv", [0, 14], "expected dimension #0, the batch + 1, to be 3, got 2"),
        ("cumulative_q", [], "expected batch + 1 numbers, got none"),
    ],
)
def test_cumulative_lengths_that_do_not_ascend(tmp_path, name, numbers, message):
    case = Case(layout="thd")
    inputs = make_inputs(case)
    inputs[name] = np.array(numbers, np.int32)
    assert f"argument '{name}': {message}" in errors_of(tmp_path, case, inputs)


def test_bias_shorter_than_a_packed_sequence(tmp_path):
    case = Case(layout="thd", bias="q")
    inputs = make_inputs(case)
    inputs["bias"] = inputs["bias"][..., :6]
    assert ("argument 'bias': expected dimension #3, the keys, to be at least 7, got 6"
            in errors_of(tmp_path, case, inputs))


def test_regions_out_of_range(tmp_path):
    case = Case(mask="documents", causal="top_left")
    inputs = make_inputs(case)
    inputs["ids"] = inputs["ids"][:, :6]
    assert ("tensor.extract: expected index #1 of a captured tensor of shape [2, 6] to be "
            "from 0 to 5, got 6" in errors_of(tmp_path, case, inputs))
    case = Case(score="drop")
    inputs = make_inputs(case)
    text = errors_of(tmp_path, case, inputs,
                     edit=lambda text: text.replace("constant 3 : index", "constant 0 : index"))
    assert "arith.remui: got division by zero" in text


def test_what_else_is_refused(tmp_path):
    case = Case()
    inputs = make_inputs(case)
    assert ("the function has no result 'x'; it has o, lse"
            in errors_of(tmp_path, case, inputs, results=("x",)))
    assert "no result is asked for" in errors_of(tmp_path, case, inputs, results=())
    without = {name: array for name, array in inputs.items() if name != "v"}
    result = run_evaluator(tmp_path, make_module(case, inputs), without, ["o"])
    assert "argument 'v' is missing: pass --input=v=file.npy" in result.stderr
    result = run_evaluator(tmp_path, make_module(case, inputs), inputs, ["o"], "--precision=high")
    assert "--precision=high are for systems" in result.stderr
    text = make_module(case, inputs).replace("  return", "  %c = arith.constant 1.0 : f32\n  return")
    result = run_evaluator(tmp_path, text, inputs, ["o"])
    assert "unsupported operation 'arith.constant'" in result.stderr
