# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of attention: what each says is done, and changes the results within the same
bounds. Which one is the default is in test/Dialect/Wavesmith/Transforms."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest

import numeric_support as support

pytest.importorskip("ml_dtypes")
import attention_support as attention  # noqa: E402
from attention_device import check_errors, compile_case, launch, measure  # noqa: E402

Case = attention.Case
on_targets = pytest.mark.parametrize("target", support.TARGETS)


def describe(code_object) -> dict:
    return json.loads(code_object.with_suffix(".json").read_text())["kernels"][0]


def schedule_text(fields: str) -> str:
    return f"#wavesmith.attention_schedule<version = 1{', ' if fields else ''}{fields}>"


def check(case, code_object, target: str, truncates: bool = False) -> None:
    """Lengths around the tiles, with rows that see nothing."""
    for queries, keys in [(130, 270), (33, 5)]:
        one = dataclasses.replace(case, query_lengths=(queries,), key_lengths=(keys,))
        inputs = attention.make_inputs(one, seed=6)
        o, lse = launch(code_object, one, inputs)
        errors = measure(one, inputs, target, o, lse)
        if truncates:
            # A weight is off by up to twice as much, and lse is that of these weights.
            assert errors.lse_share > 1
            _, wanted = attention.evaluate(one, inputs)
            some = np.isfinite(wanted)
            assert np.all(lse[some] <= wanted[some] + 1e-5)
            assert np.max(wanted[some] - lse[some]) <= 2.0**-7
            errors = dataclasses.replace(errors, share=errors.share / 2, lse_share=0.0)
        check_errors(one, errors)


CASE = Case(type="bf16", result="bf16", layout="bhsd", query_lengths=(3,), key_lengths=(3,),
            query_heads=2, key_heads=1, head_dim=64, value_head_dim=64, causal="bottom_right")

#: What a schedule can say besides its tiles.
FIELDS = ["prefetch = 0", "rescale_above = 8", "rescale_above = 1", "rounding = truncate",
          "waves_per_simd = 1", "waves_per_simd = 0", "priority = 3", "dies = 8", "dies = 3"]


@on_targets
@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("type", ["bf16", "f16"])
def test_config_field(tmp_path, type, fields, target):
    case = dataclasses.replace(CASE, type=type, result=type)
    if fields.startswith("dies"):
        # Heads trade places.
        case = dataclasses.replace(case, query_heads=6, key_heads=3)
    inputs = attention.make_inputs(case)
    text = schedule_text(fields)
    code_object = compile_case(tmp_path, case, inputs, target, f"{{schedule = {text}}}")
    assert describe(code_object)["schedule"] == {"attribute": text}
    # f16 is always rounded to nearest.
    check(case, code_object, target, truncates=fields == "rounding = truncate" and type == "bf16")


TILES = list(itertools.product([1, 2, 4, 8], [32, 64, 128]))


@pytest.mark.parametrize("number", range(len(TILES)))
def test_config_tile(tmp_path, number):
    """Every tile, on the targets in turn."""
    waves, keys = TILES[number]
    target = support.TARGETS[number % 2]
    fields = f"waves = {waves}, keys = {keys}, waves_per_simd = 1"
    inputs = attention.make_inputs(CASE)
    code_object = compile_case(tmp_path, CASE, inputs, target,
                               f"{{schedule = {schedule_text(fields)}}}")
    kernel = describe(code_object)
    assert kernel["workgroup_size"] == [64 * waves, 1, 1]
    assert kernel["grid"][0] == f"queries ceildiv {32 * waves}"
    check(CASE, code_object, target)


@on_targets
@pytest.mark.parametrize("causal", [None, "top_left"])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("type", ["f16", "bf16", "f32"])
def test_config_default(tmp_path, type, dim, causal, target):
    """The default schedules need no scratch memory, leave room for the wavefronts that
    they are made for, and are in the description."""
    case = dataclasses.replace(CASE, type=type, result=type, head_dim=dim, value_head_dim=dim,
                               layout="bshd", causal=causal)
    code_object = compile_case(tmp_path, case, attention.make_inputs(case), target)
    kernel = describe(code_object)
    resources = kernel["resources"]
    assert resources["vgpr_spills"] == resources["sgpr_spills"] == 0
    assert resources["scratch_bytes"] == 0
    assert resources["waves_per_simd"] >= (1 if type == "f32" and dim == 128 else 2)
    assert kernel["schedule"]["attribute"].startswith("#wavesmith.attention_schedule<version = 1")


def test_schedule_is_a_record(tmp_path):
    """The schedule of the description, given to the operation, gives the same code."""
    inputs = attention.make_inputs(CASE)
    code_object = compile_case(tmp_path, CASE, inputs, "gfx942")
    text = describe(code_object)["schedule"]["attribute"]
    (tmp_path / "again").mkdir()
    again = compile_case(tmp_path / "again", CASE, inputs, "gfx942", f"{{schedule = {text}}}")
    assert again.read_bytes() == code_object.read_bytes()
