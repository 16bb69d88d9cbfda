# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on arrays: `attention` with masks and biases that have names, and
`flex_attention` with score and mask functions in FlexAttention's signatures.

Arrays are NumPy's (with ml_dtypes for bf16 and fp8) or tensors of torch, in host memory
or on a GPU; results are of the same library, in the same place."""

from __future__ import annotations

import difflib
import inspect
import os
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wavesmith import flex
from wavesmith.arrays import (
    OnGPU,
    as_array,
    dtype_of,
    is_on_gpu,
    is_tensor,
    kind_of,
    to_host,
    to_torch,
)
from wavesmith.errors import CompileError
from wavesmith.importers.mlir_text import format_float
from wavesmith.kernel import CompiledModule, Device, Kernel, Launch, compile

__all__ = [
    "BlockMask", "and_masks", "attention", "attention_mlir", "create_block_mask",
    "flex_attention", "or_masks",
]  # fmt: skip

#: Dimensions of q, k, v and o by layout.
_LAYOUTS = {
    "bhsd": ("batch", "heads", "positions", "head dim"),
    "bshd": ("batch", "positions", "heads", "head dim"),
    "thd": ("tokens", "heads", "head dim"),
}
_LARGEST = float(np.finfo(np.float32).max)
_INPUTS = ("f32", "f16", "bf16", "f8E4M3FNUZ")
_ALIGNMENTS = ("top_left", "bottom_right")


def _shape(array: np.ndarray) -> str:
    return "[" + ", ".join(map(str, array.shape)) + "]"


def _tensor(sizes: Sequence, element: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in sizes) + element + ">"


@dataclass
class _Problem:
    """An attention: its text, and the arrays in the order of its arguments."""

    text: str
    names: list[str]
    arrays: list[np.ndarray | OnGPU]
    sizes: dict[str, int]
    o_shape: tuple
    lse_shape: tuple | None
    o_type: str
    #: The captured arrays as functions have them, None where other calls with such arrays
    #: may not be read the same.
    captured: list | None = None

    source_name = "<attention>"

    def with_arrays(self, arrays: list) -> _Problem:
        return _Problem(
            self.text, self.names, arrays, self.sizes, self.o_shape, self.lse_shape, self.o_type
        )

    def to_mlir(self) -> str:
        return self.text

    def explain(self, diagnostics: str) -> CompileError:
        return flex.explain(diagnostics)


def _number(name: str, value: Any) -> float:
    try:
        if isinstance(value, (bool, str)) or np.ndim(value):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a number, got {value!r:.60}") from None
    if not abs(number) <= _LARGEST:
        raise ValueError(f"{name}: expected a number that float32 has, got {number}")
    return number


def _choice(name: str, value: Any, known: Sequence[str]) -> str:
    if not any(value is one or isinstance(value, str) and value == one for one in known):
        raise ValueError(f"{name}: expected one of {', '.join(map(str, known))}, got {value!r:.60}")
    return value


def _output_type(dtype: Any) -> str:
    """The kind of elements of the result, for a dtype of NumPy or torch."""
    name = str(dtype).removeprefix("torch.")
    known = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
    if name not in known:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            pass
    if name not in known:
        raise ValueError(f"output_dtype: expected float32, float16 or bfloat16, got {dtype}")
    return known[name]


def _check_parts(name: str, value: Any, parts: tuple[str, ...]) -> None:
    if value is not None and not (isinstance(value, (tuple, list)) and len(value) == len(parts)):
        raise ValueError(
            f"{name}: expected a tuple of {len(parts)}, one each for {', '.join(parts)}, got "
            f"{value!r:.60}"
        )


def _window(value: Any) -> tuple[int, int]:
    edges = (value, value) if isinstance(value, (int, np.integer)) else value
    try:
        left, right = (int(edge) for edge in edges)
        if any(isinstance(e, (bool, float, str)) for e in edges) or min(left, right) < -1:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            "window: expected a number of positions, or a pair of them to the left and to "
            f"the right where -1 is without an edge, got {value!r:.60}"
        ) from None
    # No sequence is as long as this.
    return min(left, 2**62), min(right, 2**62)


def _build(
    q, k, v, *, layout, scale, causal=None, window=None, window_alignment=None, softcap=None,
    bias=None, alibi_slopes=None, cumulative_lengths=None, descale=None, output_dtype=None,
    score_mod=None, mask_mod=None, return_lse=False, batch_of_regions=None,
) -> _Problem:  # fmt: skip
    _choice("layout", layout, tuple(_LAYOUTS))
    roles = _LAYOUTS[layout]
    inputs = {"q": as_array("q", q), "k": as_array("k", k), "v": as_array("v", v)}
    for name, array in inputs.items():
        if array.ndim != len(roles):
            raise ValueError(
                f"{name}: expected {len(roles)} dimensions ({', '.join(roles)}) with layout "
                f"'{layout}', got shape {_shape(array)}"
            )
        if kind_of(array.dtype) not in _INPUTS:
            raise ValueError(
                f"{name}: expected elements of float32, float16, bfloat16 or float8_e4m3fnuz, "
                f"got {array.dtype}; {name}.astype(np.float32) has them"
            )
    element = kind_of(inputs["q"].dtype)
    for name in ("k", "v"):
        if kind_of(inputs[name].dtype) != element:
            raise ValueError(
                f"{name}: expected elements of {inputs['q'].dtype} as q has, got "
                f"{inputs[name].dtype}"
            )
    axis = {role: i for i, role in enumerate(roles)}
    positions = axis.get("positions", axis.get("tokens"))
    shapes = {name: array.shape for name, array in inputs.items()}
    heads, kv_heads = (shapes[name][axis["heads"]] for name in "qk")
    queries, keys = (shapes[name][positions] for name in "qk")
    dim, v_dim = (shapes[name][axis["head dim"]] for name in "qv")

    def same(name: str, role: str, other: str) -> None:
        if shapes[name][axis[role]] != shapes[other][axis[role]]:
            raise ValueError(
                f"{name}: expected the {role} of {other}, {shapes[other][axis[role]]}, in "
                f"dimension {axis[role]} with layout '{layout}', got shape {_shape(inputs[name])}"
            )

    same("k", "head dim", "q")
    same("v", "heads", "k")
    same("v", roles[positions], "k")
    if layout != "thd":
        same("k", "batch", "q")
        same("v", "batch", "q")
    if kv_heads == 0 or heads % max(kv_heads, 1) or heads == 0:
        raise ValueError(
            f"q has {heads} heads and k {kv_heads}: expected a multiple of k's in dimension "
            f"{axis['heads']} with layout '{layout}'"
        )
    for name, size in (("q", dim), ("v", v_dim)):
        if size < 16 or size > 256 or size % 8:
            raise ValueError(
                f"{name}: expected a head dim from 16 to 256 that is a multiple of 8, got {size} "
                f"in dimension {axis['head dim']} with layout '{layout}'"
            )

    batch = shapes["q"][0] if layout != "thd" else None
    pair: list = []
    longest = (queries, keys)
    if (cumulative_lengths is None) == (layout == "thd"):
        raise ValueError(
            "cumulative_lengths: packed sequences (layout 'thd') have them, other layouts have "
            "none"
        )
    if cumulative_lengths is not None:
        pair = [to_host("cumulative_lengths", c) for c in cumulative_lengths]
        if any(c.dtype != np.int32 or c.ndim != 1 or not c.size for c in pair) \
                or pair[0].size != pair[1].size:  # fmt: skip
            got = " and ".join(f"{c.dtype} of shape {_shape(c)}" for c in pair)
            raise ValueError(
                "cumulative_lengths: expected int32 arrays of batch + 1 numbers, of the queries "
                f"and of the keys, got {got}; np.asarray(lengths, np.int32) has the type"
            )
        for c, end, what in zip(pair, (queries, keys), ("queries", "keys")):
            if c[0] != 0 or np.any(np.diff(c) < 0) or c[-1] > end:
                raise ValueError(
                    f"cumulative_lengths of the {what}: expected numbers that begin with 0 and "
                    f"ascend to at most {end}, got {c.tolist()!s:.80}"
                )
        batch = pair[0].size - 1
        longest = tuple(int(np.diff(c).max(initial=0)) for c in pair)

    def of(sizes: Sequence) -> tuple:
        return tuple("?" if i != axis["heads"] and i != axis["head dim"] else n
                     for i, n in enumerate(sizes))  # fmt: skip

    names, arrays, arguments = ["q", "k", "v"], list(inputs.values()), []
    tensor_types = [_tensor(of(shapes[name]), element) for name in "qkv"]
    clauses = [f"layout {layout} scale {format_float(scale)}"]

    def operand(name: str, array: np.ndarray, type_: str) -> str:
        names.append(name)
        arrays.append(array)
        tensor_types.append(type_)
        return f"%{name}"

    if causal is not None:
        clauses.append(f"causal {causal}")
    if window is not None:
        clauses.append(f"window [{window[0]}, {window[1]}]")
    if window_alignment is not None:
        _choice("window_alignment", window_alignment, _ALIGNMENTS)
        clauses.append(f"window_alignment {window_alignment}")
    if softcap is not None:
        clauses.append(f"softcap {format_float(softcap)}")
    if bias is not None:
        array = as_array("bias", bias)
        if kind_of(array.dtype) not in ("f32", "f16", "bf16"):
            raise ValueError(
                f"bias: expected elements of float32, float16 or bfloat16, got {array.dtype}; "
                + (
                    "a mask of booleans goes as np.where(mask, 0, -np.inf).astype(np.float32)"
                    if array.dtype == bool
                    else "np.asarray(bias, np.float32) has them"
                )
            )
        if array.ndim > 4 or array.ndim < 2:
            raise ValueError(
                f"bias: expected 2 to 4 dimensions (batch, heads, queries, keys), got shape "
                f"{_shape(array)}"
            )
        array = array.reshape((1,) * (4 - array.ndim) + array.shape)
        wanted = (batch, heads, *longest)
        what = ("batch", "heads", "queries", "keys")
        for i, (got, want) in enumerate(zip(array.shape, wanted)):
            # Packed sequences use as much of a bias as they are long.
            enough = got >= want if layout == "thd" and i > 1 else got == want
            if not enough and (got != 1 or i == 3):
                hint = ""
                if array.shape[2:] == longest[::-1]:
                    hint = "; queries and keys are exchanged: bias.swapaxes(-1, -2)"
                shape = "(batch, heads, queries, keys)"
                if layout == "thd":
                    shape = "(sequences, heads, longest queries, longest keys)"
                raise ValueError(
                    f"bias: expected shape {shape} = {list(wanted)} where all but keys may be 1, "
                    f"got {got} {what[i]} in {_shape(array)}{hint}"
                )
        dims = [n if n == 1 or i == 1 else "?" for i, n in enumerate(array.shape)]
        dims[3] = "?"
        clauses.append("bias " + operand("bias", array, _tensor(dims, kind_of(array.dtype))))
    if alibi_slopes is not None:
        array = as_array("alibi_slopes", alibi_slopes)
        fits = array.shape in ((heads,), (batch, heads))
        if array.dtype != np.float32 or not fits:
            raise ValueError(
                f"alibi_slopes: expected float32 of shape [{heads}], one slope a query head, or "
                f"batch x {heads}, got {array.dtype} of shape {_shape(array)}"
                + ("; np.asarray(alibi_slopes, np.float32) has the type" if fits else "")
            )
        dims = [heads] if array.ndim == 1 else ["?", heads]
        clauses.append("alibi " + operand("alibi", array, _tensor(dims, "f32")))
    if pair:
        both = [operand(f"cumulative_{n}", c, "tensor<?xi32>") for n, c in zip(("q", "kv"), pair)]
        clauses.append("cumulative_lengths " + ", ".join(both))
    for name, value in zip("qkv", descale or ()):
        if value is not None:
            array = np.atleast_1d(np.asarray(to_host("descale", value), np.float32))
            count = heads if name == "q" else kv_heads
            if array.shape not in ((1,), (count,)):
                raise ValueError(
                    f"descale of {name}: expected one number or {count}, one a head, got shape "
                    f"{_shape(array)}"
                )
            clauses.append(f"descale_{name} " + operand(f"descale_{name}", array,
                                                        _tensor(array.shape, "f32")))  # fmt: skip

    # Regions.
    captures = flex.Captures()
    extents = batch_of_regions or {"b": batch or 0, "h": heads, "q_idx": queries, "kv_idx": keys}
    read: dict[str, flex.Region] = {}
    repeatable = True
    for keyword, function, roles_ in (
        ("score", score_mod, flex.SCORE_ARGUMENTS),
        ("mask", mask_mod, flex.MASK_ARGUMENTS),
    ):
        if function is not None:
            reader = flex.RegionReader(extents, captures, to_host)
            read[keyword] = reader.read(function, roles_)
            repeatable &= reader.repeatable
    captured = [
        operand(f"captured{i}", np.ascontiguousarray(a), t)
        for i, (a, t) in enumerate(zip(captures.arrays, captures.types()))
    ]
    if captured:
        clauses.append("captures(" + ", ".join(captured) + ")")

    o_type = element if element in ("f32", "f16", "bf16") else "f32"
    if output_dtype is not None:
        o_type = _output_type(output_dtype)
    o_shape = (*shapes["q"][:-1], v_dim)
    results = [_tensor(of(o_shape), o_type)]
    lse_shape = None
    if return_lse:
        lse_shape = (heads, queries) if layout == "thd" else (batch, heads, queries)
        results.append(_tensor([heads, "?"] if layout == "thd" else ["?", heads, "?"], "f32"))
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip(names, tensor_types))
    left = "%o, %lse" if return_lse else "%o"
    returned = ", ".join(results)
    lines = [
        f"func.func @attention({arguments}) -> ({returned}) {{",
        f"  {left} = wavesmith.attention %q, %k, %v {' '.join(clauses)}",
        f"      : ({', '.join(tensor_types)}) -> ({returned})",
    ]
    region_arguments = [f"%array{i}: {t}" for i, t in enumerate(captures.types())]
    for keyword, region in read.items():
        roles_ = flex.SCORE_ARGUMENTS if keyword == "score" else flex.MASK_ARGUMENTS
        block = [f"%{r}: {'f32' if r == 'score' else 'index'}" for r in roles_]
        lines += [f"      {keyword} {{", f"      ^bb0({', '.join(block + region_arguments)}):"]
        lines += [f"        {line}" for line in region.lines]
        kind = "f32" if keyword == "score" else "i1"
        lines += [f"        wavesmith.yield {region.result} : {kind}", "      }"]
    lines += [f"  return {left} : {returned}", "}", ""]
    sizes = {"batch": batch or 0, "queries": queries, "keys": keys}
    return _Problem(
        "\n".join(lines), names, arrays, sizes, o_shape, lse_shape, o_type,
        captures.given if repeatable else None,
    )  # fmt: skip


class _Compiled:
    """A kernel of attention, and what it takes."""

    def __init__(self, module: CompiledModule):
        self.kernel = module["attention"]
        kinds: dict[str, list[str]] = {"input": [], "dimension": [], "scalar": []}
        for argument in self.kernel.arguments:
            kinds.setdefault(argument["kind"], []).append(argument["name"])
        self.inputs, self.dimensions = kinds["input"], kinds["dimension"]
        #: "bias_size2" is the size of the bias's dimension 2.
        self.sizes = [(name, *name.rsplit("_size", 1)) for name in kinds["scalar"]]


#: The kernels last used, by text and options: the cache on disk would have each read and
#: decoded again.
_kernels: dict[tuple, _Compiled] = {}
_MAX_KERNELS = 64


def _compile(problem: _Problem, target: str, options: dict) -> _Compiled:
    key = (problem.text, target, repr(sorted(options.items())) if options else "")
    # Where stages are dumped the cache on disk does it.
    compiled = None if os.environ.get("WAVESMITH_DUMP_IR") else _kernels.pop(key, None)
    if compiled is None:
        compiled = _Compiled(compile(problem, target=target, **options))
    _kernels[key] = compiled
    while len(_kernels) > _MAX_KERNELS:
        _kernels.pop(next(iter(_kernels)), None)
    return compiled


#: Launches of kernels on NumPy's arrays by the keys of their calls: a call whose key is
#: here was checked before, and has nothing left to work out.
_launches: dict[tuple | None, Launch] = {}


def _call_key(q, k, v, others: tuple, options: tuple) -> tuple | None:
    """What decides the kernel of a call and how its arguments lie: types and shapes of
    the arrays, some of `others` may be None, and the options with their types (True is
    not 1 here). None where other things decide, or the stages are to be dumped."""
    if not type(q) is type(k) is type(v) is np.ndarray or "WAVESMITH_DUMP_IR" in os.environ:
        return None
    key = (q.shape, q.dtype, k.shape, k.dtype, v.shape, v.dtype, options, *map(type, options))
    for array in others:
        if array is not None:
            if type(array) is not np.ndarray:
                return None
            key += (array.shape, array.dtype)
        else:
            key += (None,)
    for option in options:
        if type(option) is tuple:
            key += tuple(map(type, option))
    try:
        hash(key)
    except TypeError:
        return None
    return key


#: Types of options that are equal only where they mean the same; 0.0 is -0.0, though.
_KEY_TYPES = frozenset([types.NoneType, bool, int, float, str, type])


def _is_known_by_value(option: Any) -> bool:
    if type(option) is tuple:
        return all(map(_is_known_by_value, option))
    return type(option) in _KEY_TYPES and not (type(option) is float and option == 0.0)


#: Where they stand in a key.
_OPTIONS = 6


def _remember(key: tuple | None, kernel: Kernel, given: dict, kept: Any) -> None:
    """Keep a call that went well."""
    if key is not None and all(map(_is_known_by_value, key[_OPTIONS])):
        if len(_launches) >= _MAX_KERNELS:
            _launches.clear()
        _launches[key] = Launch(kernel, given, kept)


def _run(
    problem: _Problem, model: Any, target: str, device, threads: int, options: dict,
    key: tuple | None = None, kept: Any = None,
):  # fmt: skip
    compiled = _compile(problem, target, options)
    if 0 in problem.o_shape or 0 in problem.sizes.values() and not problem.sizes["queries"]:
        results = [np.zeros(problem.o_shape, dtype_of(problem.o_type))]
        if problem.lse_shape is not None:
            results.append(np.full(problem.lse_shape, -np.inf, np.float32))
    else:
        given: dict[str, Any] = dict(zip(compiled.inputs, problem.arrays))
        for name, array, dimension in compiled.sizes:
            given[name] = given[array].shape[int(dimension)]
        for name in compiled.dimensions:
            given[name] = problem.sizes[name]
        if is_on_gpu(model):
            for name, array in given.items():
                if isinstance(array, OnGPU):
                    given[name] = array.tensor
                elif isinstance(array, np.ndarray):
                    given[name] = to_torch(array).to(model.device)
        found = compiled.kernel(given, device=device, threads=threads)
        _remember(key, compiled.kernel, given, kept)
        results = list(found) if isinstance(found, tuple) else [found]
    if is_tensor(model):
        results = [
            array if is_tensor(array) else to_torch(array).to(model.device) for array in results
        ]
    return results[0] if len(results) == 1 else tuple(results)


def _causal(causal: Any) -> str | None:
    if causal is None:
        return None
    if isinstance(causal, (bool, np.bool_)):
        return "bottom_right" if causal else None
    return _choice("causal", causal, (False, True, *_ALIGNMENTS))


#: Problems of attention without further operands, and without arrays.
_problems: dict[tuple, _Problem] = {}


def _attention_problem(
    q, k, v, causal=None, window=None, window_alignment=None, softcap=None, bias=None,
    alibi_slopes=None, scale=None, return_lse=False, layout="bhsd", cumulative_lengths=None,
    descale=None, output_dtype=None,
) -> _Problem:  # fmt: skip
    _check_parts("cumulative_lengths", cumulative_lengths, ("the queries", "the keys"))
    _check_parts("descale", descale, ("q", "k", "v"))
    if scale is None:
        scale = max(np.shape(q)[-1] if np.ndim(q) else 1, 1) ** -0.5
    options = {
        "layout": layout, "scale": _number("scale", scale), "causal": _causal(causal),
        "window": None if window is None else _window(window),
        "window_alignment": window_alignment,
        "softcap": None if softcap is None else _number("softcap", softcap),
        "output_dtype": output_dtype, "return_lse": return_lse,
    }  # fmt: skip
    others = (bias, alibi_slopes, cumulative_lengths, descale)
    if any(other is not None for other in others):
        return _build(
            q, k, v, bias=bias, alibi_slopes=alibi_slopes, cumulative_lengths=cumulative_lengths,
            descale=descale, **options,
        )  # fmt: skip
    # Without other operands the shapes say all.
    arrays = [as_array(name, x) for name, x in (("q", q), ("k", k), ("v", v))]
    _choice("layout", layout, tuple(_LAYOUTS))
    _choice("window_alignment", window_alignment, (None, *_ALIGNMENTS))
    key = (*(x.shape for x in arrays), *(x.dtype for x in arrays), *options.values())
    problem = _problems.get(key)
    if problem is None:
        problem = _build(*arrays, **options)
        if len(_problems) >= _MAX_KERNELS:
            _problems.clear()
        _problems[key] = problem.with_arrays([])
    return problem.with_arrays(arrays)


_ATTENTION = frozenset(inspect.signature(_attention_problem).parameters)
_COMPILE = frozenset(
    name
    for name, parameter in inspect.signature(compile).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
)
#: What other libraries call it, and what to do here.
_OTHER_NAMES = {
    "is_causal": "give causal=",
    "attn_mask": "give bias=np.where(mask, 0, -np.inf).astype(np.float32), or a function to "
    "flex_attention",
    "attn_bias": "give bias=",
    "dropout_p": "there is no dropout",
    "dropout": "there is no dropout",
    "softmax_scale": "give scale=",
    "sm_scale": "give scale=",
    "window_size": "give window=",
    "cu_seqlens_q": "give cumulative_lengths=(of q, of k and v)",
    "cu_seqlens_k": "give cumulative_lengths=(of q, of k and v)",
    "enable_gqa": "several query heads to a key head are taken as they are",
    "kernel_options": "they are of Triton's kernels; workgroup_size= and others of ws.compile "
    "are options here",
    "return_aux": "give return_lse=True",
}


def _check_options(name: str, options: dict) -> None:
    """Options that are left have to be those of `compile`."""
    for option in options:
        if option not in _COMPILE:
            remedy = _OTHER_NAMES.get(option)
            near = difflib.get_close_matches(option, [*_ATTENTION, *_COMPILE], 1, 0.6)
            if remedy is None and near:
                remedy = f"did you mean {near[0]!r}?"
            raise TypeError(
                f"{name}() got an unexpected keyword argument {option!r}"
                + (f": {remedy}" if remedy else "")
            )


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool | str = False,
    window: int | tuple[int, int] | None = None,
    window_alignment: str | None = None,
    softcap: float | None = None,
    bias: Any = None,
    alibi_slopes: Any = None,
    scale: float | None = None,
    return_lse: bool = False,
    layout: str = "bhsd",
    cumulative_lengths: tuple | None = None,
    descale: tuple | None = None,
    output_dtype: Any = None,
    target: str = "gfx942",
    device: str | Device = "auto",
    threads: int = 1,
    **options,
):
    """softmax(scale q k^T) v, with masks and biases.

    Args:
        q, k, v: float32, float16, bfloat16 or float8_e4m3fnuz, all of one type. The
            heads of q are a multiple of those of k and v.
        causal: a query sees keys up to its own place: "bottom_right" where the last
            query is at the last key (True means this, as in FlashAttention),
            "top_left" where the first is at the first.
        window: the positions to the left and to the right that a query sees, edges
            included, -1 for all; one number stands for both.
        window_alignment: "top_left" or "bottom_right"; by default as `causal` is, else
            bottom right.
        softcap: scores become softcap * tanh(score / softcap).
        bias: added to the scores: (batch, heads, queries, keys), all but the last may
            be 1.
        alibi_slopes: float32, one a query head (or batch x heads): scores fall by it
            with the distance.
        scale: by default 1 / sqrt(head dim).
        return_lse: return the logarithm of the sum of each row's exponentials, too:
            float32, batch x heads x queries.
        layout: "bhsd" (batch, heads, positions, head dim), "bshd", or "thd" for packed
            sequences.
        cumulative_lengths: with "thd": where the sequences of the queries and those of
            the keys begin and end, two int32 arrays of batch + 1 numbers.
        descale: of fp8: three numbers for q, k and v, or arrays with one a head.
        output_dtype: by default that of q, float32 for fp8.
        target, options: see `compile`.
        device, threads: see `Kernel.__call__`.

    Returns:
        The result in the layout of q, or a pair of it and the LSE; a torch tensor
        where q is one.

    Raises:
        ValueError: arrays do not fit one another, or an option has no such value.
        CompileError: the target does not have what is asked for.
    """
    key = None
    if options:
        _check_options("attention", options)
    elif cumulative_lengths is None and descale is None:
        key = _call_key(
            q, k, v, (bias, alibi_slopes),
            (causal, window, window_alignment, softcap, scale, return_lse, layout, output_dtype,
             target),
        )  # fmt: skip
        launch = _launches.get(key)
        if launch is not None:
            arrays = [x for x in (q, k, v, bias, alibi_slopes) if x is not None]
            return launch(arrays, device, threads)
    given: dict[str, Any] = {
        "causal": _causal(causal), "window": None if window is None else _window(window),
        "window_alignment": window_alignment,
        "softcap": None if softcap is None else _number("softcap", softcap), "bias": bias,
        "alibi_slopes": alibi_slopes, "scale": None if scale is None else _number("scale", scale),
        "return_lse": return_lse, "layout": layout, "cumulative_lengths": cumulative_lengths,
        "descale": descale, "output_dtype": output_dtype,
    }  # fmt: skip
    given |= {"target": target, "device": device, "threads": threads}
    if all(map(is_tensor, (q, k, v))) and isinstance(device, str) and not options:
        from wavesmith import torch_op

        _check_parts("cumulative_lengths", cumulative_lengths, ("the queries", "the keys"))
        _check_parts("descale", descale, ("q", "k", "v"))

        return torch_op.attention(q, k, v, **given)
    return compute(q, k, v, key=key, **given, **options)


def compute(
    q: Any, k: Any, v: Any, *, target: str, device, threads: int, key: tuple | None = None,
    **given: Any,
):  # fmt: skip
    """`attention` itself; torch's operators come here, too."""
    options = {name: given.pop(name) for name in list(given) if name not in _ATTENTION}
    problem = _attention_problem(q, k, v, **given)
    return _run(problem, q, target, device, threads, options, key)


def attention_mlir(
    q, k, v, *, causal=False, window=None, window_alignment=None, softcap=None, bias=None,
    alibi_slopes=None, scale=None, return_lse=False, layout="bhsd", cumulative_lengths=None,
    descale=None, output_dtype=None, score_mod=None, block_mask=None,
) -> str:  # fmt: skip
    """The MLIR text that `attention`, or `flex_attention` with `score_mod` and
    `block_mask`, compiles."""
    if score_mod is not None or block_mask is not None:
        return _flex_problem(q, k, v, score_mod, block_mask, scale, True, return_lse).text
    return _attention_problem(
        q, k, v, causal, window, window_alignment, softcap, bias, alibi_slopes, scale,
        return_lse, layout, cumulative_lengths, descale, output_dtype,
    ).text  # fmt: skip


# Flex ----------------------------------------------------------------------------


class BlockMask:
    """A mask function and the sizes it is for: see `create_block_mask`."""

    def __init__(self, mask_mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int):
        self.mask_mod = mask_mod
        self.B, self.H, self.Q_LEN, self.KV_LEN = B, H, Q_LEN, KV_LEN

    @property
    def shape(self) -> tuple:
        """Batches, heads, queries and keys; 1 where the mask does not depend on them."""
        return (self.B or 1, self.H or 1, self.Q_LEN, self.KV_LEN)

    def __repr__(self) -> str:
        name = getattr(self.mask_mod, "__name__", "mask")
        return f"<block mask {name} of shape {self.shape}>"


def _check_function(what: str, function: Any, example: str) -> None:
    if flex.is_function(function):
        return
    if isinstance(function, BlockMask):
        raise ValueError(f"{what}: expected a function, got a block mask; pass it as block_mask=")
    raise ValueError(f"{what}: expected a function {example}, got {function!r:.60}")


def create_block_mask(
    mask_mod: Callable,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: str = "cpu",
    BLOCK_SIZE: int | tuple[int, int] = 128,
) -> BlockMask:
    """A mask for `flex_attention`, of a function `mask_mod(b, h, q_idx, kv_idx)` that
    says whether a pair takes part.

    Args:
        mask_mod: a function that is read, not run; see docs/attention.md.
        B, H: numbers of batches and heads; None where the mask does not depend on them.
        Q_LEN, KV_LEN: numbers of queries and keys.
        device, BLOCK_SIZE: without effect, as FlexAttention has them: the kernel evaluates
            the function, and keeps no blocks.

    Raises:
        CompileError: the function cannot be read, with the place of the mistake.
        ValueError: a size is not positive.
    """
    _check_function("mask_mod", mask_mod, "mask_mod(b, h, q_idx, kv_idx)")
    for name, size in (("B", B), ("H", H), ("Q_LEN", Q_LEN), ("KV_LEN", KV_LEN)):
        if size is None and name in ("B", "H"):
            continue
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"{name}: expected a positive whole number, got {size!r:.60}")
    blocks = BLOCK_SIZE if isinstance(BLOCK_SIZE, (tuple, list)) else (BLOCK_SIZE,) * 2
    if len(blocks) != 2 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in blocks):
        raise ValueError(
            f"BLOCK_SIZE: expected a positive whole number, or a pair of them, got "
            f"{BLOCK_SIZE!r:.60}"
        )
    mask = BlockMask(mask_mod, B, H, Q_LEN, KV_LEN)
    _read_mask(mask)
    return mask


def _read_mask(mask: BlockMask) -> flex.Region:
    extents = {"b": mask.B or 1, "h": mask.H or 1, "q_idx": mask.Q_LEN, "kv_idx": mask.KV_LEN}
    reader = flex.RegionReader(extents, flex.Captures(), to_host)
    return reader.read(mask.mask_mod, flex.MASK_ARGUMENTS)


def and_masks(*masks: Callable) -> flex.JoinedMask:
    """The mask function of the pairs that take part by all of several."""
    return flex.JoinedMask(masks, is_and=True)


def or_masks(*masks: Callable) -> flex.JoinedMask:
    """The mask function of the pairs that take part by any of several."""
    return flex.JoinedMask(masks, is_and=False)


def _flex_problem(query, key, value, score_mod, block_mask, scale, enable_gqa,
                  return_lse) -> _Problem:  # fmt: skip
    if score_mod is not None:
        _check_function("score_mod", score_mod, "score_mod(score, b, h, q_idx, kv_idx)")
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        raise ValueError(
            f"block_mask: expected what create_block_mask gives, got {block_mask!r:.60}; "
            "ws.create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN) makes one of a function"
        )
    shape, kv_shape = np.shape(query), np.shape(key)
    if len(shape) == 4 and len(kv_shape) == 4:
        if shape[1] != kv_shape[1] and not enable_gqa:
            raise ValueError(
                f"query has {shape[1]} heads and key {kv_shape[1]}: several query heads to a key "
                "head go with enable_gqa=True"
            )
        if block_mask is not None:
            sizes = (shape[0], shape[1], shape[2], kv_shape[2])
            given = (block_mask.B, block_mask.H, block_mask.Q_LEN, block_mask.KV_LEN)
            for name, size, got in zip(("B", "H", "Q_LEN", "KV_LEN"), sizes, given):
                if got is not None and got != size and (got != 1 or name in ("Q_LEN", "KV_LEN")):
                    raise ValueError(
                        f"block_mask: its {name} is {got}, but the arrays have {size}; make it "
                        f"by create_block_mask(mask_mod, {', '.join(map(str, sizes))})"
                    )
    if scale is None:
        scale = max(shape[-1] if shape else 1, 1) ** -0.5
    return _build(
        query, key, value, layout="bhsd", scale=_number("scale", scale), score_mod=score_mod,
        mask_mod=block_mask.mask_mod if block_mask else None, return_lse=return_lse,
    )  # fmt: skip


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    *,
    target: str = "gfx942",
    device: str | Device = "auto",
    threads: int = 1,
    **options,
):
    """Attention whose scores a function changes, in FlexAttention's interface.

    Args:
        query, key, value: batch x heads x positions x head dim.
        score_mod: a function `score_mod(score, b, h, q_idx, kv_idx)` that gives the new
            score. It is read, not run; arrays that it names are operands of the kernel.
        block_mask: which pairs take part: `create_block_mask`.
        scale: by default 1 / sqrt(head dim).
        enable_gqa: allow several query heads to a key head.
        return_lse: return the logarithm of the sum of each row's exponentials, too.
        target, device, threads, options: see `attention`.

    Raises:
        CompileError: a function cannot be read, with the place of the mistake.
        ValueError: arrays do not fit one another or the mask.
    """
    known, found = None, flex.Dependencies()
    if options:
        if options.get("kernel_options", 0) is None:
            # What FlexAttention has by default.
            del options["kernel_options"]
        _check_options("flex_attention", options)
    if not options and type(block_mask) in (BlockMask, types.NoneType):
        sizes = mask_mod = None
        if block_mask is not None:
            mask_mod = block_mask.mask_mod
            sizes = (block_mask.B, block_mask.H, block_mask.Q_LEN, block_mask.KV_LEN)
        found.add(score_mod)
        found.add(mask_mod)
        if found.parts is not None:
            known = _call_key(
                query, key, value, (), (scale, enable_gqa, return_lse, target, sizes)
            )
            known = known and (*known, *found.parts)
            launch = _launches.get(known)
            if launch is not None:
                arrays = [query, key, value, *(found.arrays[i] for i in launch.kept[0])]
                return launch(arrays, device, threads)
    problem = _flex_problem(
        query, key, value, score_mod, block_mask, scale, enable_gqa, return_lse
    )
    kept = None
    if problem.captured is None:
        known = None
    elif known is not None:
        numbers = {id(array): i for i, array in enumerate(found.arrays)}
        # The codes because the key has their numbers.
        kept = [numbers[id(array)] for array in problem.captured], found.codes
    return _run(problem, query, target, device, threads, options, known, kept)
