# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case of attention_support on the simulated device, and the rule for its errors.
Import numeric_support before."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np

import attention_support as attention
import numeric_support as support
from wavesmith import simulator


def compile_case(folder: Path, case, inputs, target: str, schedule: str = "") -> Path:
    return support.compile_text(folder, attention.make_module(case, inputs, schedule), target)


def launch(code_object: Path, case, inputs, check: bool = True, tail: int = 0):
    """o (in its type) and lse, which is None where the case has none. `tail` NaNs follow k
    and v in memory."""
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

    outputs = {"o": o, "lse": lse}
    arguments = [outputs[name] if name in outputs else stored(name) if name in inputs
                 else sizes[name] for name in (a["name"] for a in kernel["arguments"])]
    tile = int(re.fullmatch(r"queries ceildiv (\d+)", kernel["grid"][0]).group(1))
    assert kernel["grid"][1:] == [str(case.query_heads),
                                  "batch + 1" if case.packed else "batch"]
    grid = (-(-sizes["queries"] // tile), case.query_heads, case.batch + case.packed)
    # A host does not launch what has no workgroup.
    if 0 not in grid:
        report = simulator.launch(code_object.read_bytes(), grid=grid,
                                  block=kernel["workgroup_size"][0], args=arguments, check=check)
        if check:
            assert report.findings == []
    return o, lse if case.lse else None


@dataclasses.dataclass
class Errors:
    """How far results are from the meaning."""

    #: The largest error of o, and that of the eager computation in the inputs' type.
    error: float
    eager: float
    #: The largest error of o when it is rounded to the inputs' type, in which an eager
    #: computation would give it.
    rounded: float
    #: The largest shares of `attention_support.error_budget`, of o and of lse.
    share: float
    lse_share: float
    #: The smallest cosine of a row and what it should be; 1 where no row has a length.
    cosine: float


def measure(case, inputs, target: str, o, lse) -> Errors:
    """The errors; what has to be exact is asserted: no NaN, rows without a pair."""
    wanted, wanted_lse = attention.evaluate(case, inputs)
    eager, _ = attention.evaluate(case, inputs, dtype=attention.DTYPES[case.type])
    budget, lse_budget = attention.error_budget(case, inputs, target)
    got = o.astype(np.float64)
    assert not np.any(np.isnan(got))
    none = np.isneginf(wanted_lse)
    lse_share = 0.0
    if lse is not None:
        np.testing.assert_array_equal(np.isneginf(lse), none)
        lse_share = np.max(np.abs(lse[~none] - wanted_lse[~none]) / lse_budget[~none], initial=0.0)
    # lse is heads x positions, o is so with layout bhsd alone.
    if case.layout != "bhsd":
        none = np.swapaxes(none, -1, -2)
    assert np.all(got[none] == 0.0)
    share = np.max(np.abs(got - wanted)[~none] / budget[~none], initial=0.0)
    rows, right = (x.reshape(-1, case.value_head_dim) for x in (got, wanted))
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(right, axis=1)
    cosine = (rows * right).sum(axis=1)[lengths > 0] / lengths[lengths > 0]
    rounded = got.astype(attention.DTYPES[case.type]).astype(np.float64)
    return Errors(float(np.max(np.abs(got - wanted), initial=0.0)),
                  float(np.max(np.abs(eager - wanted), initial=0.0)),
                  float(np.max(np.abs(rounded - wanted), initial=0.0)),
                  float(share), float(lse_share), float(np.min(cosine, initial=1.0)))


def check_errors(case, errors: Errors) -> None:
    """The rules: at most twice the error of the eager computation in the inputs' type; the
    budget of each element; rows in the right direction (not with 8 bits: weights of 4 bits
    turn them further). An eager o has the inputs' type, so o of a wider one may be rounded
    to it: where the eager one is exact, f32 would have to be exact in all its digits."""
    assert np.isfinite(errors.eager), errors
    assert min(errors.error, errors.rounded) <= 2 * errors.eager, errors
    assert errors.share <= 1 and errors.lse_share <= 1, errors
    if case.type != "f8E4M3FNUZ":
        assert errors.cosine >= 0.99998, errors


def compare(case, inputs, target: str, o, lse) -> None:
    check_errors(case, measure(case, inputs, target, o, lse))
