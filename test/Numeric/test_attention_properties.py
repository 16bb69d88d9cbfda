# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties that attention has whatever its options, on the simulated device with the
checker along."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import numeric_support as support

pytest.importorskip("ml_dtypes")
import attention_support as attention  # noqa: E402
from attention_device import compare, compile_case, launch  # noqa: E402

Case = attention.Case

#: Each type with the targets that have it.
TYPES = [(type, target) for type in attention.INPUT_TYPES for target in support.TARGETS
         if (type, target) != ("f8E4M3FNUZ", "gfx90a")]
of_types = pytest.mark.parametrize("type,target", TYPES)
on_targets = pytest.mark.parametrize("target", support.TARGETS)


@pytest.fixture
def run(tmp_path):
    """Compile and launch a case; a kernel is compiled once for each module."""
    kernels = {}

    def of(case, inputs, target, **options):
        text = attention.make_module(case, inputs)
        if (text, target) not in kernels:
            folder = tmp_path / str(len(kernels))
            folder.mkdir()
            kernels[text, target] = compile_case(folder, case, inputs, target)
        return launch(kernels[text, target], case, inputs, **options)

    return of


@of_types
def test_constant_values(run, type, target):
    """The mean of equal values is that value, in every bit of a 16-bit result, whatever
    the scores: numbers of few and of all bits. Not with 8 bits: the sum that divides is
    that of the weights before they are rounded, which lse is made of."""
    result = "bf16" if type == "f8E4M3FNUZ" else type
    case = Case(type=type, result=result, query_lengths=(33,), key_lengths=(150,),
                causal="bottom_right", alibi="heads", softcap=3.0, head_dim=64)
    inputs = attention.make_inputs(case)
    dtype = attention.DTYPES[type]
    for value in (1.0, -2.984375, 1.5e-2, 1.0 + 2.0**-10, 1.875, 100.0 / 3):
        inputs["v"] = np.full(inputs["v"].shape, value, np.float32).astype(dtype)
        constant = float(inputs["v"].flat[0])
        o, lse = run(case, inputs, target)
        if type == "f8E4M3FNUZ":
            compare(case, inputs, target, o, lse)
        elif type == "f32":
            # The sum of p v is rounded 150 times, and so is the sum of p.
            np.testing.assert_allclose(o, constant, rtol=2.0**-21)
        else:
            assert np.all(o == constant), (constant, np.unique(o))


@of_types
def test_permuted_keys(run, type, target):
    """With their biases; the bias alone is another result."""
    case = Case(type=type, key_lengths=(100, 100), softcap=4.0, bias="bhq")
    inputs = attention.make_inputs(case)
    order = np.random.default_rng(0).permutation(100)
    permuted = dict(inputs, k=inputs["k"][:, order], v=inputs["v"][:, order],
                    bias=inputs["bias"][..., order])
    for values in (inputs, permuted):
        compare(case, inputs, target, *run(case, values, target))
    other, _ = run(case, dict(inputs, bias=permuted["bias"]), target)
    assert np.abs(other - attention.evaluate(case, inputs)[0]).max() > 0.1


@on_targets
@pytest.mark.parametrize("alignment", ["top_left", "bottom_right"])
@pytest.mark.parametrize("lengths", [(150, 200), (200, 150)])
def test_causal_is_a_window(run, lengths, alignment, target):
    """The same bits: the same pairs are masked, in the same tiles."""
    causal = Case(query_lengths=lengths[:1], key_lengths=lengths[1:], causal=alignment)
    window = dataclasses.replace(causal, causal=None, window=(-1, 0), window_alignment=alignment)
    both = dataclasses.replace(causal, window=(-1, -1))
    inputs = attention.make_inputs(causal)
    o, lse = run(causal, inputs, target)
    for case in (window, both):
        again, lse_again = run(case, inputs, target)
        assert o.tobytes() == again.tobytes() and lse.tobytes() == lse_again.tobytes()


@of_types
@pytest.mark.parametrize("heads", [(8, 4), (6, 2)])
def test_doubled_heads(run, heads, type, target):
    """Keys and values written out for each group of queries give the same bits."""
    grouped = Case(type=type, query_heads=heads[0], key_heads=heads[1], alibi="heads",
                   key_lengths=(90, 90))
    inputs = attention.make_inputs(grouped)
    full = dataclasses.replace(grouped, key_heads=heads[0])
    ratio = heads[0] // heads[1]
    written = dict(inputs, k=np.repeat(inputs["k"], ratio, axis=2),
                   v=np.repeat(inputs["v"], ratio, axis=2))
    o, lse = run(grouped, inputs, target)
    again, lse_again = run(full, written, target)
    assert o.tobytes() == again.tobytes() and lse.tobytes() == lse_again.tobytes()


@of_types
def test_split_lengths(run, type, target):
    """Parts of the keys, put together by their lse, are the whole."""
    case = Case(type=type, query_lengths=(20,), key_lengths=(150,))
    inputs = attention.make_inputs(case)
    parts = []
    for at in (slice(0, 60), slice(60, 61), slice(61, 150)):
        keys = at.stop - at.start
        part = dataclasses.replace(case, key_lengths=(keys,))
        values = dict(inputs, k=inputs["k"][:, at], v=inputs["v"][:, at])
        parts.append(run(part, values, target))
    lse = np.logaddexp.reduce([own.astype(np.float64) for _, own in parts])
    joined = sum(o * np.exp(own - lse).swapaxes(1, 2)[..., None] for o, own in parts)
    compare(case, inputs, target, joined, lse)
    compare(case, inputs, target, *run(case, inputs, target))


@on_targets
def test_queries_do_not_see_each_other(run, target):
    """Each query's bits are the same when the others are not there."""
    case = Case(query_lengths=(150,), key_lengths=(90,))
    inputs = attention.make_inputs(case)
    o, lse = run(case, inputs, target)
    for at in (slice(0, 1), slice(130, 150)):
        part = dataclasses.replace(case, query_lengths=(at.stop - at.start,))
        own, own_lse = run(part, dict(inputs, q=inputs["q"][:, at]), target)
        np.testing.assert_array_equal(own, o[:, at])
        np.testing.assert_array_equal(own_lse, lse[:, :, at])


@of_types
def test_packed_sequences_do_not_see_each_other(run, type, target):
    """The bits of a sequence are the same whatever its neighbours hold, however long they
    are, and alone."""
    case = Case(layout="thd", type=type, query_lengths=(5, 40, 9), key_lengths=(70, 33, 20),
                causal="bottom_right", alibi="heads")
    inputs = attention.make_inputs(case)
    o, lse = run(case, inputs, target)
    compare(case, inputs, target, o, lse)
    spoiled = {name: array.copy() for name, array in inputs.items()}
    spoiled["q"][:5] = spoiled["q"][45:] = 100
    for name in "kv":
        spoiled[name][:70] = spoiled[name][103:] = np.nan
    again, lse_again = run(case, spoiled, target)
    assert o[5:45].tobytes() == again[5:45].tobytes()
    assert lse[:, 5:45].tobytes() == lse_again[:, 5:45].tobytes()
    own = {"q": slice(5, 45), "k": slice(70, 103), "v": slice(70, 103)}
    for before, after in (((0, 0), (0, 0)), ((131, 64), (1, 300))):
        lengths = (before, (40, 33), after)
        other = dataclasses.replace(case, query_lengths=tuple(q for q, _ in lengths),
                                    key_lengths=tuple(k for _, k in lengths))
        values = attention.make_inputs(other, seed=2)
        for name, at in own.items():
            first = before[0] if name == "q" else before[1]
            values[name][first:first + at.stop - at.start] = inputs[name][at]
        values["alibi"] = inputs["alibi"]
        again, lse_again = run(other, values, target)
        rows = slice(before[0], before[0] + 40)
        assert o[5:45].tobytes() == again[rows].tobytes()
        assert np.array_equal(lse[:, 5:45], lse_again[:, rows])


@on_targets
def test_packed_is_one_sequence_after_the_other(run, target):
    """The same bits as each sequence with layout bshd."""
    packed = Case(layout="thd", query_lengths=(140, 0, 7, 3), key_lengths=(3, 5, 100, 0),
                  window=(40, -1), alibi="heads")
    inputs = attention.make_inputs(packed)
    o, lse = run(packed, inputs, target)
    for b, (queries, keys) in enumerate(zip(packed.query_lengths, packed.key_lengths)):
        one = dataclasses.replace(packed, layout="bshd", query_lengths=(queries,),
                                  key_lengths=(keys,))
        rows = slice(*inputs["cumulative_q"][b:b + 2])
        columns = slice(*inputs["cumulative_kv"][b:b + 2])
        single = {"q": inputs["q"][None, rows], "k": inputs["k"][None, columns],
                  "v": inputs["v"][None, columns], "alibi": inputs["alibi"]}
        own, own_lse = run(one, single, target)
        np.testing.assert_array_equal(own[0], o[rows])
        np.testing.assert_array_equal(own_lse[0], lse[:, rows])


@on_targets
def test_tokens_of_nobody(run, target):
    """Tokens past the last cumulative length give 0 and -inf."""
    case = Case(layout="thd", query_lengths=(5, 150), key_lengths=(9, 70))
    inputs = attention.make_inputs(case)
    inputs["cumulative_q"] = np.array([0, 5, 12], np.int32)
    inputs["cumulative_kv"] = np.array([0, 9, 20], np.int32)
    o, lse = run(case, inputs, target)
    compare(case, inputs, target, o, lse)
    assert np.all(o[12:] == 0) and np.all(np.isneginf(lse[:, 12:]))


@of_types
def test_growing_scores(run, type, target):
    """The maximum grows with every key, a little or far: what was summed is scaled. The
    last key decides then, to scores of 3,000: above 4,096 an exponent in f32 is coarser
    than a weight in f16."""
    for step in (0.01, 0.5, 10.0):
        case = Case(type=type, query_lengths=(40,), key_lengths=(300,), scale=1.0, bias="")
        inputs = attention.make_inputs(case)
        for name in "qk":
            inputs[name] = (0.1 * inputs[name].astype(np.float32)).astype(inputs[name].dtype)
        inputs["bias"] = (step * np.arange(300, dtype=np.float32)).reshape(1, 1, 1, 300)
        compare(case, inputs, target, *run(case, inputs, target))
