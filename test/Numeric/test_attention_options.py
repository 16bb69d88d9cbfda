# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All options of attention on the simulated device against f64, the checker along. A
set of cases in which every two values of two options stand together, each on both
targets in turn; ATTENTION_FULL=n adds n more sets, each drawn anew."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

import numeric_support as support

pytest.importorskip("ml_dtypes")
import attention_support as attention  # noqa: E402
from attention_device import compare, compile_case, launch  # noqa: E402

Case = attention.Case

FACTORS = {
    "type": ["f16", "bf16", "f32"],
    "result": ["f16", "bf16", "f32"],
    "layout": ["bshd", "bhsd", "thd"],
    # Lengths of queries and keys of two sequences; those of thd differ.
    "lengths": [((70, 9), (130, 33)), ((33, 1), (1, 64)), ((20, 3), (70, 0))],
    "heads": [(2, 2), (3, 1), (6, 2)],
    "dims": [(16, 16), (40, 80), (64, 64), (96, 48), (128, 128), (192, 128)],
    "causal": [None, "top_left", "bottom_right"],
    "window": [None, (-1, 0), (10, 3), (64, -1)],
    "softcap": [None, 5.0],
    "bias": [None, "", "bhq", "h", "bq"],
    "alibi": [None, "heads", "batch"],
    "score": [None, *attention.SCORES],
    "mask": [None, *attention.MASKS],
}


def make_case(row) -> Case:
    row = dict(row)
    queries, keys = row.pop("lengths")
    if row["layout"] != "thd":
        queries, keys = (queries[0],) * 2, (keys[0],) * 2
    heads, dims = row.pop("heads"), row.pop("dims")
    return Case(**row, query_lengths=queries, key_lengths=keys, query_heads=heads[0],
                key_heads=heads[1], head_dim=dims[0], value_head_dim=dims[1],
                bias_type=row["type"])


ROWS = attention.cover_pairs(FACTORS, seed=7)
for seed in range(int(os.environ.get("ATTENTION_FULL", "0"))):
    ROWS += attention.cover_pairs(FACTORS, seed=100 + seed)


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_options(tmp_path, number):
    case = make_case(ROWS[number])
    inputs = attention.make_inputs(case, seed=number)
    target = support.TARGETS[number % 2]
    o, lse = launch(compile_case(tmp_path, case, inputs, target), case, inputs)
    compare(case, inputs, o, lse)


#: What each option does alone, on both targets.
ALONE = {
    "softcap": Case(softcap=3.0), "bias": Case(bias="bhq"), "alibi": Case(alibi="batch"),
    "score": Case(score="relative"), "mask": Case(mask="documents"),
    "drop": Case(score="drop", mask="lengths"),
    "thd": Case(layout="thd", query_lengths=(140, 0, 7), key_lengths=(3, 5, 100)),
    "large": Case(head_dim=256, value_head_dim=256, query_lengths=(33,), key_lengths=(70,)),
    "head_dim_40": Case(head_dim=40, value_head_dim=24),
    "no_keys": Case(key_lengths=(0, 0), bias="bhq", alibi="heads", score="relative"),
}


@pytest.mark.parametrize("target", support.TARGETS)
@pytest.mark.parametrize("name", ALONE)
def test_alone(tmp_path, name, target):
    case = dataclasses.replace(ALONE[name], result="bf16", type="bf16")
    inputs = attention.make_inputs(case)
    o, lse = launch(compile_case(tmp_path, case, inputs, target), case, inputs)
    compare(case, inputs, o, lse)


FP8 = [Case(type="f8E4M3FNUZ", head_dim=64, value_head_dim=64, descale=descale,
            query_lengths=(40, 40), key_lengths=(90, 90), causal=causal, result=result)
       for descale, causal, result in [("---", None, "f32"), ("111", "top_left", "f16"),
                                       ("hhh", "bottom_right", "bf16")]]


@pytest.mark.parametrize("case", FP8, ids=lambda case: case.descale)
def test_fp8(tmp_path, case):
    inputs = attention.make_inputs(case)
    o, lse = launch(compile_case(tmp_path, case, inputs, "gfx942"), case, inputs)
    compare(case, inputs, o, lse)


@pytest.mark.parametrize("target", support.TARGETS)
def test_packed_sequences_do_not_see_each_other(tmp_path, target):
    """The bits of a sequence are the same whatever its neighbours hold."""
    case = Case(layout="thd", type="bf16", query_lengths=(5, 40, 9), key_lengths=(70, 33, 20),
                causal="bottom_right", alibi="heads")
    inputs = attention.make_inputs(case)
    kernel = compile_case(tmp_path, case, inputs, target)
    o, lse = launch(kernel, case, inputs)
    spoiled = {name: array.copy() for name, array in inputs.items()}
    spoiled["q"][:5] = spoiled["q"][45:] = 100
    for name in "kv":
        spoiled[name][:70] = spoiled[name][103:] = np.nan
    again, lse_again = launch(kernel, case, spoiled)
    assert o[5:45].tobytes() == again[5:45].tobytes()
    assert lse[:, 5:45].tobytes() == lse_again[:, 5:45].tobytes()


@pytest.mark.parametrize("target", support.TARGETS)
def test_tokens_of_nobody(tmp_path, target):
    """Tokens past the last cumulative length give 0 and -inf."""
    case = Case(layout="thd", query_lengths=(5, 150), key_lengths=(9, 70))
    inputs = attention.make_inputs(case)
    kernel = compile_case(tmp_path, case, inputs, target)
    inputs["cumulative_q"] = np.array([0, 5, 12], np.int32)
    inputs["cumulative_kv"] = np.array([0, 9, 20], np.int32)
    o, lse = launch(kernel, case, inputs)
    compare(case, inputs, o, lse)
    assert np.all(o[12:] == 0) and np.all(np.isneginf(lse[:, 12:]))


def test_permuted_keys(tmp_path):
    case = Case(type="bf16", key_lengths=(100, 100), softcap=4.0)
    inputs = attention.make_inputs(case)
    kernel = compile_case(tmp_path, case, inputs, "gfx942")
    order = np.random.default_rng(0).permutation(100)
    permuted = dict(inputs, k=inputs["k"][:, order], v=inputs["v"][:, order])
    for values in (inputs, permuted):
        compare(case, inputs, *launch(kernel, case, values))


def test_causal_is_a_window(tmp_path):
    """The same bits: the same pairs are masked, in the same tiles."""
    inputs, results = None, []
    for number, options in enumerate([{"causal": "bottom_right"}, {"window": (-1, 0)}]):
        case = Case(query_lengths=(150,), key_lengths=(200,), **options)
        inputs = attention.make_inputs(case)
        folder = tmp_path / str(number)
        folder.mkdir()
        results.append(launch(compile_case(folder, case, inputs, "gfx942"), case, inputs))
    assert results[0][0].tobytes() == results[1][0].tobytes()
    assert results[0][1].tobytes() == results[1][1].tobytes()


def test_doubled_heads(tmp_path):
    """Keys and values written out for each group of queries are the same."""
    grouped = Case(query_heads=6, key_heads=2, alibi="heads", key_lengths=(90, 90))
    inputs = attention.make_inputs(grouped)
    full = dataclasses.replace(grouped, key_heads=6)
    written = dict(inputs, k=np.repeat(inputs["k"], 3, axis=2),
                   v=np.repeat(inputs["v"], 3, axis=2))
    results = []
    for number, (case, values) in enumerate([(grouped, inputs), (full, written)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        results.append(launch(compile_case(folder, case, values, "gfx942"), case, values)[0])
    assert results[0].tobytes() == results[1].tobytes()


def test_split_lengths(tmp_path):
    """Two halves of the keys, put together by their lse, are the whole."""
    def part(case, inputs, name):
        folder = tmp_path / name
        folder.mkdir()
        return launch(compile_case(folder, case, inputs, "gfx942"), case, inputs)

    case = Case(query_lengths=(20,), key_lengths=(120,), key_heads=4, type="f32")
    inputs = attention.make_inputs(case)
    whole, whole_lse = part(case, inputs, "whole")
    half = dataclasses.replace(case, key_lengths=(60,))
    parts = [part(half, dict(inputs, k=inputs["k"][:, at], v=inputs["v"][:, at]), name)
             for at, name in ((slice(0, 60), "first"), (slice(60, 120), "second"))]
    lse = np.logaddexp(parts[0][1], parts[1][1])
    np.testing.assert_allclose(lse, whole_lse, atol=2e-5)
    joined = sum(o * np.exp(own - lse).swapaxes(1, 2)[..., None] for o, own in parts)
    np.testing.assert_allclose(joined, whole, atol=2e-5)


@pytest.mark.parametrize("target", support.TARGETS)
def test_nan_in_padding(tmp_path, target):
    """NaN behind the last key and value, in columns of padding as well."""
    case = Case(head_dim=40, value_head_dim=72, query_lengths=(20,), key_lengths=(71,))
    inputs = attention.make_inputs(case)
    kernel = compile_case(tmp_path, case, inputs, target)
    compare(case, inputs, *launch(kernel, case, inputs, check=False, tail=20000))
