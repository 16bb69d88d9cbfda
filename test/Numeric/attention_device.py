# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case of attention_support on the simulated device, and the rule for its errors.
Import numeric_support before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import attention_support as attention
import numeric_support as support
from wavesmith import simulator

#: Queries of a workgroup.
TILE = 128


def compile_case(folder: Path, case, inputs, target: str) -> Path:
    return support.compile_text(folder, attention.make_module(case, inputs), target)


def launch(code_object: Path, case, inputs, check: bool = True, tail: int = 0):
    """o (in its type) and lse. `tail` NaNs follow k and v in memory."""
    kernel = json.loads(code_object.with_suffix(".json").read_text())["kernels"][0]
    if max(case.head_dim, case.value_head_dim) <= 128:
        assert kernel["resources"]["vgpr_spills"] == 0
        assert kernel["resources"]["scratch_bytes"] == 0
    dtype = attention.DTYPES[case.result]
    o = np.full((*inputs["q"].shape[:-1], case.value_head_dim), np.nan, dtype)
    lse = np.full(attention.lse_shape(case), np.nan, np.float32)
    sequence = {"bshd": 1, "bhsd": 2, "thd": 0}[case.layout]
    sizes = {"batch": case.batch, "queries": inputs["q"].shape[sequence],
             "keys": inputs["k"].shape[sequence]}
    for name, array in inputs.items():
        sizes |= {f"{name}_size{d}": size for d, size in enumerate(array.shape)}

    def stored(name):
        array = np.ascontiguousarray(inputs[name])
        if name in "kv":
            nothing = np.full(max(tail, 0 if array.size else 8), np.nan, array.dtype)
            array = np.concatenate([array.ravel(), nothing])
        elif array.size == 0:
            array = np.zeros(8, array.dtype)
        return array.view(np.uint8) if array.dtype.itemsize == 1 else array

    arguments = []
    for argument in kernel["arguments"]:
        name = argument["name"]
        arguments.append(o if name == "o" else lse if name == "lse" else
                         stored(name) if name in inputs else sizes[name])
    grid = (-(-sizes["queries"] // TILE), case.query_heads, case.batch + case.packed)
    assert kernel["grid"][0] == f"queries ceildiv {TILE}"
    assert kernel["grid"][1:] == [str(case.query_heads),
                                  "batch + 1" if case.packed else "batch"]
    report = simulator.launch(code_object.read_bytes(), grid=grid,
                              block=kernel["workgroup_size"][0], args=arguments, check=check)
    if check:
        assert report.findings == []
    return o, lse


def compare(case, inputs, o, lse) -> None:
    """At most twice the error of the computation step by step in the input's type; the
    direction of each row right (not with 8 bits); rows without a pair exact."""
    wanted, wanted_lse = attention.evaluate(case, inputs)
    steps, _ = attention.evaluate(case, inputs, dtype=attention.DTYPES[case.type])
    got = o.astype(np.float64)
    assert not np.any(np.isnan(got))
    # Where the output's type is coarser than the input's its rounding is on top.
    rounding = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[case.result]
    largest = np.max(np.abs(wanted), initial=0.0)
    error = np.max(np.abs(got - wanted), initial=0.0)
    budget = np.max(np.abs(steps - wanted), initial=0.0)
    assert error <= 2 * budget + rounding * largest + 1e-6, (error, budget)
    none = np.isneginf(wanted_lse)
    np.testing.assert_array_equal(np.isneginf(lse), none)
    tolerance = 2e-5 if case.type == "f32" else 2e-3
    np.testing.assert_allclose(lse[~none], wanted_lse[~none], atol=tolerance, rtol=1e-5)
    # lse is heads x positions, o is so with layout bhsd alone.
    if case.layout != "bhsd":
        none = np.swapaxes(none, -1, -2)
    assert np.all(got[none] == 0.0)
    if case.type == "f8E4M3FNUZ":
        return
    got, wanted = (x.reshape(-1, case.value_head_dim) for x in (got, wanted))
    lengths = np.linalg.norm(got, axis=1) * np.linalg.norm(wanted, axis=1)
    rows = lengths > 0
    cosine = (got * wanted).sum(axis=1)[rows] / lengths[rows]
    assert np.all(cosine >= 0.99998), cosine.min()
