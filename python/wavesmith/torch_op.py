# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as operators of PyTorch, which graph capture keeps whole:

    o = torch.ops.wavesmith.attention(q, k, v, causal="bottom_right")
    o, lse = torch.ops.wavesmith.attention_with_lse(q, k, v, window=[127, 0])

`import wavesmith` registers them where torch was imported before, the first use of the
package where it was imported later, and importing this module in any case. The
arguments are those of `wavesmith.attention`, as far as PyTorch's schemas have them:
`causal` is None, "top_left" or "bottom_right", `window` two numbers, and
`cumulative_lengths` and `descale` are tensors of their own for q, k and v, and
`device_kind` is "auto", "hip" or "sim" (by `device` PyTorch means its own).
`wavesmith.attention` on tensors calls them.

There is a kernel for tensors in host memory or on a GPU of ROCm, and one for meta
tensors, which has the shapes and types alone. Gradients are refused where one is asked for: before the
computation, not when it is gone through backwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from wavesmith.arrays import no_gradient, to_torch

__all__ = ["attention"]

_ARGUMENTS = (
    "Tensor q, Tensor k, Tensor v, *, str? causal=None, int[]? window=None, "
    "str? window_alignment=None, float? softcap=None, Tensor? bias=None, "
    'Tensor? alibi_slopes=None, float? scale=None, str layout="bhsd", '
    "Tensor? cumulative_lengths_q=None, Tensor? cumulative_lengths_kv=None, "
    "Tensor? descale_q=None, Tensor? descale_k=None, Tensor? descale_v=None, "
    'ScalarType? output_dtype=None, str target="gfx942", str device_kind="auto", int threads=1'
)
_DIMENSIONS = {"bhsd": 4, "bshd": 4, "thd": 3}


def _compute(
    return_lse: bool, q, k, v, *, target="gfx942", device_kind="auto", threads=1, window=None, cumulative_lengths_q=None,
    cumulative_lengths_kv=None, descale_q=None, descale_k=None, descale_v=None, **options: Any,
):  # fmt: skip
    from wavesmith import _attention

    lengths = (cumulative_lengths_q, cumulative_lengths_kv)
    descales = (descale_q, descale_k, descale_v)
    with torch.no_grad():
        return _attention.compute(
            q, k, v, target=target, device=device_kind, threads=threads, return_lse=return_lse,
            window=window and tuple(window),
            cumulative_lengths=None if lengths == (None, None) else lengths,
            descale=None if descales == (None, None, None) else descales,
            **options,
        )  # fmt: skip


def _shapes(return_lse: bool, q, k, v, *, layout="bhsd", output_dtype=None, **_: Any):
    """The results for meta tensors: sizes may be symbols, so that the kernel checks
    the rest."""
    rank = _DIMENSIONS.get(layout)
    if rank is None:
        raise ValueError(f"layout: expected one of {', '.join(_DIMENSIONS)}, got {layout!r}")
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != rank:
            raise ValueError(
                f"{name}: expected {rank} dimensions with layout '{layout}', got shape "
                f"{list(tensor.shape)}"
            )
        if tensor.dtype != q.dtype:
            raise ValueError(f"{name}: expected elements of {q.dtype} as q has, got {tensor.dtype}")
    if output_dtype is None:
        output_dtype = q.dtype if q.element_size() > 1 else torch.float32
    o = q.new_empty((*q.shape[:-1], v.shape[-1]), dtype=output_dtype)
    if not return_lse:
        return o
    batch, places = q.shape[:-3], {"bhsd": (-3, -2)}.get(layout, (-2, -3))
    lse = q.new_empty((*batch, *(q.shape[place] for place in places)), dtype=torch.float32)
    return o, lse


def _wants_gradient(tensor: torch.Tensor) -> bool:
    from torch.autograd import forward_ad

    if torch.is_grad_enabled() and tensor.requires_grad:
        return True
    level = forward_ad._current_level
    return level >= 0 and forward_ad.unpack_dual(tensor, level=level).tangent is not None


def _below_autograd(name: str):
    """The kernel of autograd: refuses gradients, else goes on to the next one."""
    names = [part.split()[-1].split("=")[0] for part in _ARGUMENTS.replace("*, ", "").split(", ")]

    def call(*arguments: Any, **keywords: Any):
        for argument, value in (*zip(names, arguments), *keywords.items()):
            if isinstance(value, torch.Tensor) and _wants_gradient(value):
                raise no_gradient(argument)
        # An object that holds as long as it lives: torch 1 has no `with` for it.
        below = torch._C._AutoDispatchBelowAutograd()
        try:
            return getattr(torch.ops.wavesmith, name)(*arguments, **keywords)
        finally:
            del below

    return call


#: Kept: the operators live as long as it.
_library = torch.library.Library("wavesmith", "DEF")
for _name, _returns, _with_lse in (
    ("attention", "Tensor", False),
    ("attention_with_lse", "(Tensor, Tensor)", True),
):
    _library.define(f"{_name}({_ARGUMENTS}) -> {_returns}")
    # ROCm's devices are torch's cuda.
    for _key, _function in (("CPU", _compute), ("CUDA", _compute), ("Meta", _shapes)):
        _library.impl(_name, lambda *a, _f=_function, _l=_with_lse, **k: _f(_l, *a, **k), _key)
    _library.impl(_name, _below_autograd(_name), "Autograd")


def attention(
    q, k, v, *, window=None, cumulative_lengths=None, descale=None, return_lse=False,
    output_dtype=None, device="auto", **options: Any,
):  # fmt: skip
    """`wavesmith.attention` of tensors by the operators; `causal` and `window` have to
    be in their form."""

    def tensor(value: Any):
        if isinstance(value, np.ndarray):
            # DLPack refuses what cannot be written to.
            return to_torch(value if value.flags.writeable else value.copy())
        return value if value is None else torch.as_tensor(value)

    for name in ("bias", "alibi_slopes"):
        options[name] = tensor(options.get(name))
    for name, value in zip(("q", "kv"), cumulative_lengths or ()):
        options[f"cumulative_lengths_{name}"] = tensor(value)
    for name, value in zip("qkv", descale or ()):
        options[f"descale_{name}"] = tensor(value)
    if output_dtype is not None and not isinstance(output_dtype, torch.dtype):
        output_dtype = getattr(torch, np.dtype(output_dtype).name)
    operator = (
        torch.ops.wavesmith.attention_with_lse if return_lse else torch.ops.wavesmith.attention
    )
    return operator(
        q, k, v, window=window and list(window), output_dtype=output_dtype, device_kind=device,
        **options,
    )  # fmt: skip
