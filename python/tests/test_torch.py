# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of torch and the operators of attention, with the torch of this environment,
else with Debian's (python3-torch), which other Pythons of its version can import."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_attention import draw, reference
from test_binding import RHS, SYSTEM, check_rhs, make_zones, ws

DEBIAN = Path("/usr/lib/python3/dist-packages")


@pytest.fixture(scope="module")
def torch():
    is_debian = False
    with warnings.catch_warnings():
        # Debian's was built for NumPy 1; DLPack does without.
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module("torch")
        except ImportError:
            # Behind all else: of its folder only torch is wanted.
            sys.path.append(str(DEBIAN))
            is_debian = True
            try:
                module = importlib.import_module("torch")
                module.ones(1)
            except ImportError as error:
                sys.path.remove(str(DEBIAN))
                pytest.skip(f"torch is not installed ({error}); Debian's python3-torch will do")
    yield module
    if is_debian:
        sys.path.remove(str(DEBIAN))


@pytest.fixture
def operators(torch):
    ws.attention  # The first use after torch was imported registers them.
    return torch.ops.wavesmith


def tensors(torch, *shape, dtype=None):
    arrays = draw(*shape, 64, np.float32)
    return [torch.from_dlpack(a).to(dtype or torch.float32) for a in arrays]


def to_f64(tensor) -> np.ndarray:
    return np.from_dlpack(tensor.to(dtype=__import__("torch").float64))


def causal(scores: np.ndarray) -> np.ndarray:
    return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)


# Arrays ---------------------------------------------------------------------------


def test_kernels_and_systems(torch):
    module = ws.compile(SYSTEM + RHS)
    y = torch.from_dlpack(make_zones())
    wanted = np.from_dlpack(y)
    got = module(t=0.0, y=y, device="sim")
    assert isinstance(got, torch.Tensor) and got.dtype == torch.float64
    check_rhs(np.from_dlpack(got), wanted)
    # Another layout in memory, and one that DLPack cannot tell.
    other = torch.from_dlpack(np.ascontiguousarray(wanted.T)).T
    check_rhs(np.from_dlpack(module(t=0.0, y=other, device="sim")), wanted)
    negated = torch.complex(y, -y).conj().imag
    assert negated.is_neg()
    check_rhs(np.from_dlpack(module(t=0.0, y=negated, device="sim")), wanted)

    @ws.ode_system
    def decay(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(T * 1e-2, reactants=A)

    T = torch.tensor([100.0, 200.0])
    rate = decay.rhs(T, torch.tensor([[1.0, 2.0]]), device="sim")
    assert isinstance(rate, torch.Tensor) and rate.tolist() == [[-1.0, -4.0]]
    assert isinstance(decay.rhs(T, {"A": 1.0}, device="sim"), np.ndarray)
    result = decay.integrate(torch.tensor([1.0]), 0.1, T=100.0, method="tsit5", device="sim")
    assert isinstance(result.y, torch.Tensor)
    assert result.y.item() == pytest.approx(np.exp(-0.1), rel=1e-5)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_attention(torch, name):
    q, k, v = tensors(torch, 1, 4, 2, 9, 9, dtype=getattr(torch, name))
    o, lse = ws.attention(q, k, v, causal=True, return_lse=True, device="sim")
    assert o.dtype == q.dtype and lse.dtype == torch.float32
    wanted, wanted_lse = reference(*map(to_f64, (q, k, v)), causal)
    bound = 0.03 if name == "bfloat16" else 4e-3
    np.testing.assert_allclose(to_f64(o), wanted, atol=bound)
    np.testing.assert_allclose(to_f64(lse), wanted_lse, atol=1e-2)
    # The same numbers as for NumPy's arrays.
    if name != "bfloat16":
        arrays = [np.from_dlpack(x) for x in (q, k, v)]
        same = ws.attention(*arrays, causal=True, device="sim")
        np.testing.assert_array_equal(np.from_dlpack(o), same)
    narrow = ws.attention(q, k, v, causal=True, output_dtype=torch.bfloat16, device="sim")
    assert narrow.dtype == torch.bfloat16
    assert ws.attention(q, k, v, output_dtype=np.float16, device="sim").dtype == torch.float16


def test_flex_attention(torch):
    q, k, v = tensors(torch, 1, 2, 2, 9, 9)
    slopes = torch.tensor([0.5, 0.25])

    def alibi(score, b, h, q_idx, kv_idx):
        return score + slopes[h] * (kv_idx - q_idx)

    o = ws.flex_attention(q, k, v, alibi, device="sim")
    distance = np.arange(9)[None, :] - np.arange(9)[:, None]
    bias = np.array([0.5, 0.25])[:, None, None] * distance
    wanted, _ = reference(*map(to_f64, (q, k, v)), lambda s: s + bias)
    assert isinstance(o, torch.Tensor)
    np.testing.assert_allclose(to_f64(o), wanted, atol=1e-5)


def test_tensors_that_are_not_in_host_memory(torch):
    q, k, v = (x.to("meta") for x in tensors(torch, 1, 2, 2, 9, 9))
    with pytest.raises(ValueError, match=r"'query' is on the device 'meta'.*query\.cpu\(\)|'q' is on"):
        ws.flex_attention(q, k, v, device="sim")
    with pytest.raises(ValueError, match="'y' is on the device 'meta'"):
        ws.compile(SYSTEM + RHS)(t=0.0, y=torch.empty(3, 5, device="meta"), device="sim")


# Operators -------------------------------------------------------------------------


def test_operators(torch, operators):
    q, k, v = tensors(torch, 2, 4, 2, 9, 9)
    o = operators.attention(q, k, v, causal="bottom_right", device_kind="sim")
    both, lse = operators.attention_with_lse(
        q, k, v, causal="bottom_right", device_kind="sim", target="gfx90a"
    )
    wanted, wanted_lse = reference(*map(to_f64, (q, k, v)), causal)
    for got in (o, both):
        np.testing.assert_allclose(to_f64(got), wanted, atol=1e-5)
    np.testing.assert_allclose(to_f64(lse), wanted_lse, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"window": (3, 0), "softcap": 20.0, "scale": 0.1},
        {"bias": np.linspace(-1, 1, 81, dtype=np.float32).reshape(1, 1, 9, 9)},
        {"alibi_slopes": np.array([0.5, 0.25], np.float32), "causal": "top_left"},
        {"layout": "bshd"},
        {"descale": (0.5, 2.0, 1.0)},
    ],
)
def test_options_reach_the_operator(torch, operators, options):
    """The results are those for NumPy's arrays, which go another way."""
    if "descale" in options and not hasattr(torch, "float8_e4m3fnuz"):
        pytest.skip(f"torch {torch.__version__} has no fp8")
    q, k, v = tensors(torch, 2, 9, 9, 9, 9) if "layout" in options else tensors(
        torch, 2, 2, 2, 9, 9
    )
    if "layout" in options:
        q, k, v = (x[:, :, :2].contiguous() for x in (q, k, v))
    if "descale" in options:
        q, k, v = (x.to(torch.float8_e4m3fnuz) for x in (q, k, v))
        from wavesmith.arrays import to_numpy

        arrays = [to_numpy(name, x) for name, x in zip("qkv", (q, k, v))]
    else:
        arrays = [np.from_dlpack(x) for x in (q, k, v)]
    got = ws.attention(q, k, v, return_lse=True, device="sim", **options)
    want = ws.attention(*arrays, return_lse=True, device="sim", **options)
    assert all(isinstance(x, torch.Tensor) for x in got)
    for one, other in zip(got, want):
        np.testing.assert_array_equal(np.from_dlpack(one), other)


def test_packed_sequences(torch):
    q, k, v = (x[0].transpose(0, 1).contiguous() for x in tensors(torch, 1, 2, 2, 9, 9))
    lengths = torch.tensor([0, 4, 9], dtype=torch.int32)
    given = {"layout": "thd", "cumulative_lengths": (lengths, lengths), "return_lse": True}
    o, lse = ws.attention(q, k, v, device="sim", **given)
    arrays = [np.from_dlpack(x) for x in (q, k, v)]
    given["cumulative_lengths"] = (np.from_dlpack(lengths),) * 2
    want, want_lse = ws.attention(*arrays, device="sim", **given)
    np.testing.assert_array_equal(np.from_dlpack(o), want)
    np.testing.assert_array_equal(np.from_dlpack(lse), want_lse)
    meta = torch.ops.wavesmith.attention_with_lse(
        *(x.to("meta") for x in (q, k, v)), layout="thd",
        cumulative_lengths_q=lengths, cumulative_lengths_kv=lengths,
    )  # fmt: skip
    assert [tuple(x.shape) for x in meta] == [o.shape, lse.shape]


def test_meta_tensors(torch, operators):
    """Shapes and types without a computation, as graph capture asks for them."""
    q, k, v = tensors(torch, 2, 4, 2, 9, 7, dtype=torch.bfloat16)
    for layout, swap in (("bhsd", False), ("bshd", True)):
        given = [x.transpose(1, 2).contiguous() if swap else x for x in (q, k, v)]
        real = operators.attention_with_lse(*given, layout=layout, device_kind="sim")
        meta = operators.attention_with_lse(*(x.to("meta") for x in given), layout=layout)
        for one, other in zip(meta, real):
            assert one.device.type == "meta"
            assert (one.shape, one.dtype, one.stride()) == (
                other.shape, other.dtype, other.stride(),
            )  # fmt: skip
    o = operators.attention(*(x.to("meta") for x in (q, k, v)), output_dtype=torch.float32)
    assert o.dtype == torch.float32
    with pytest.raises(ValueError, match="k: expected 4 dimensions with layout 'bhsd'"):
        operators.attention(q.to("meta"), k[0].to("meta"), v.to("meta"))
    with pytest.raises(ValueError, match="layout: expected one of bhsd, bshd, thd, got 'hbsd'"):
        operators.attention(*(x.to("meta") for x in (q, k, v)), layout="hbsd")


def test_gradients_are_refused(torch, operators):
    q, k, v = tensors(torch, 1, 2, 2, 9, 9)
    bias = torch.zeros(9, 9, requires_grad=True)
    wanted = q.clone().requires_grad_()
    message = r"'{}' requires a gradient, and kernels have none here: pass {}\.detach\(\)"
    for name, call in (
        ("q", lambda: ws.attention(wanted, k, v, device="sim")),
        ("v", lambda: ws.attention(q, k, wanted, device="sim")),
        ("bias", lambda: ws.attention(q, k, v, bias=bias, device="sim")),
        ("k", lambda: operators.attention(q, wanted, v, device_kind="sim")),
        ("q", lambda: ws.flex_attention(wanted, k, v, device="sim")),
        ("y", lambda: ws.compile(SYSTEM + RHS)(
            t=0.0, y=torch.ones(3, 5, dtype=torch.float64, requires_grad=True), device="sim")),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message.format(name, name)):
            call()
    with torch.no_grad():
        o = ws.attention(wanted, k, v, device="sim")
    assert not o.requires_grad
    assert torch.equal(o, ws.attention(wanted.detach(), k, v, device="sim"))
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level(), pytest.raises(ValueError, match="'q' requires a gradient"):
        operators.attention(forward_ad.make_dual(q, q), k, v, device_kind="sim")


def test_capture_of_a_graph(torch, operators):
    """The operator is one node of the graph."""
    from torch.fx.experimental.proxy_tensor import make_fx

    q, k, v = tensors(torch, 1, 2, 2, 9, 9)

    def function(q, k, v):
        return ws.attention(q * 2.0, k, v, causal=True, device="sim") + 1.0

    graph = make_fx(function)(q, k, v)
    calls = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert [call.split(".")[-2] for call in calls] == ["mul", "attention", "add"], calls
    assert torch.equal(graph(q, k, v), function(q, k, v))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(torch, operators, backend):
    if not hasattr(torch, "compile"):
        pytest.skip(f"torch {torch.__version__} has no torch.compile")
    q, k, v = tensors(torch, 1, 2, 2, 9, 9)

    def function(q, k, v):
        return ws.attention(q * 2.0, k, v, causal=True, device="sim") + 1.0

    compiled = torch.compile(function, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(q, k, v), function(q, k, v))
    with pytest.raises(Exception, match="'q' requires a gradient"):
        compiled(q.clone().requires_grad_(), k, v)


@pytest.mark.parametrize("name", ["attention", "attention_with_lse"])
def test_torchs_own_check_of_operators(torch, operators, name):
    if not hasattr(torch.library, "opcheck"):
        pytest.skip(f"torch {torch.__version__} has no torch.library.opcheck")
    q, k, v = tensors(torch, 1, 4, 2, 9, 9, dtype=torch.bfloat16)
    done = torch.library.opcheck(
        getattr(operators, name), (q, k, v), {"window": [3, 0], "device_kind": "sim"}
    )
    assert set(done.values()) == {"SUCCESS"}


@pytest.mark.parametrize(
    "lines",
    [
        ["import torch, wavesmith"],
        ["import wavesmith, torch", "wavesmith.attention"],
        ["import wavesmith.torch_op, torch"],
    ],
)
def test_registration(torch, lines):
    script = "\n".join([
        "import sys, warnings; warnings.simplefilter('ignore')", *lines,
        "print(torch.ops.wavesmith.attention.default._schema.returns[0].type)",
        "print('wavesmith.kernel' in sys.modules)",
    ])  # fmt: skip
    paths = [str(Path(ws.__file__).parents[1])]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(DEBIAN)!r})\n{script}"],
        capture_output=True, text=True, env={"PYTHONPATH": ":".join(paths)},
    )  # fmt: skip
    # The operators are registered without loading the library.
    loaded = str(len(lines) > 1)
    assert run.stdout.split() == ["Tensor", loaded], run.stderr[-2000:]
