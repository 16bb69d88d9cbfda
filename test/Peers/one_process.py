# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads compilers, each with an LLVM of its own, into one process in the order given
and compiles with each, twice around:

    python one_process.py wavesmith,torch,triton,iree

Prints a line for each compilation, and "done". A wrong result is an error.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

X = np.linspace(-1.0, 2.0, 1000, dtype=np.float32)


def use_wavesmith() -> None:
    import wavesmith as ws

    @ws.ode_system
    def decay(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(ws.math.exp(-300.0 / T), reactants=A)

    got = decay.rhs(300.0, np.array([[1.0, 2.0, 3.0]]), device="sim")
    np.testing.assert_allclose(got, [[-np.exp(-1.0) * n for n in (1, 2, 3)]], rtol=1e-14)


def use_torch() -> None:
    import torch

    # By its LLVM, where it has one: PyPI's has, Debian's interprets.
    torch._C._jit_override_can_fuse_on_cpu(torch._C._llvm_enabled())

    @torch.jit.script
    def function(x):
        return (x * 2.0).exp().clamp(0.0, 10.0) + x

    x = torch.from_dlpack(X)
    for _ in range(3):  # It compiles after it has seen the types.
        got = np.from_dlpack(function(x))
    np.testing.assert_allclose(got, np.clip(np.exp(X * 2), 0, 10) + X, rtol=1e-5)
    if "wavesmith" in sys.modules:
        q = torch.ones(1, 1, 2, 16)
        o = torch.ops.wavesmith.attention(q, q, q, device_kind="sim")
        assert torch.equal(o, q)


def use_triton() -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton_kernels import vector_add

    source = ASTSource(
        fn=vector_add,
        signature={"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32",
                   "BLOCK": "constexpr"},
        constexprs={"BLOCK": 256},
    )  # fmt: skip
    compiled = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={})
    assert compiled.asm["hsaco"][:4] == b"\x7fELF"
    if "wavesmith" in sys.modules:
        from wavesmith import simulator

        out = np.zeros_like(X)
        program = simulator.Program(compiled.asm["hsaco"])
        count = len(program.kernels[compiled.metadata.name]["arguments"])
        simulator.launch(
            program, compiled.metadata.name, grid=4,
            block=compiled.metadata.num_warps * compiled.metadata.warp_size,
            args=[X, X, out, X.size, *[None] * (count - 4)],
        )  # fmt: skip
        np.testing.assert_array_equal(out, X + X)


def use_iree() -> None:
    # In the process, unlike iree.compiler.tools.
    from iree.compiler.api import Output, Session, Source

    text = b"""
    func.func @double(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = arith.addf %x, %x : tensor<1000xf32>
      return %0 : tensor<1000xf32>
    }"""
    session = Session()
    session.set_flags("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")
    with session.invocation() as invocation:
        invocation.enable_console_diagnostics()
        source = Source.wrap_buffer(session, text + b"\0")
        assert invocation.parse_source(source)
        assert invocation.execute()
        output = Output.open_membuffer()
        invocation.output_vm_bytecode(output)
        assert len(bytes(output.map_memory())) > 1000


def main() -> None:
    # Debian's torch was built for NumPy 1; DLPack does without.
    warnings.simplefilter("ignore")
    names = sys.argv[1].split(",")
    # All are there before the first one compiles.
    for name in names:
        __import__({"iree": "iree.compiler.api"}.get(name, name))
        if name == "wavesmith":
            __import__("wavesmith.kernel")
    for _ in range(2):
        for name in names:
            globals()[f"use_{name}"]()
            print(name, flush=True)
    print("done")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
