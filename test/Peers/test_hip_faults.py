# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes planted in hip/faults.hip: the checker names each by its kind and line.
And what a kernel asks of the host (hip/host.hip), of which there is none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from peers_support import HERE, TARGETS, compile_hip, simulator

SOURCE = HERE / "hip" / "faults.hip"


def read_mistakes() -> dict[str, tuple[str, list[int]]]:
    """Kind and lines of the mistake in each kernel."""
    mistakes: dict[str, tuple[str, list[int]]] = {}
    kernel = ""
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if match := re.match(r"KERNEL void (\w+)", line):
            kernel = match[1]
        if match := re.search(r"// MISTAKE: (.*)", line):
            kind, lines = mistakes.setdefault(kernel, (match[1], []))
            assert kind == match[1]
            lines.append(number)
    return mistakes


MISTAKES = read_mistakes()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", MISTAKES)
def test_fault(kernel, target):
    program = compile_hip("faults.hip", target, "-O1", options=("-g",))
    kind, lines = MISTAKES[kernel]
    n = 256
    data = np.arange(n, dtype=np.uint32)
    out = np.zeros(n, np.uint32)
    options = {
        "grid": 2, "block": 128, "args": [data, out], "check": True,
        "dynamic_lds": 4 * 120 if kernel == "lds_out_of_bounds" else 0,
        "max_instructions": 20000,
    }  # fmt: skip
    if kernel == "null_pointer":
        options["args"][0] = None
    if kernel == "uninitialised_global":
        memory = options["memory"] = simulator.Memory()
        options["args"][0] = memory.allocate(4 * n, "in")
    if kernel == "hang":
        with pytest.raises(simulator.DeviceError, match=r"hang|instructions") as raised:
            program.launch(kernel, **options)
        assert f"faults.hip:{lines[0]}:" in str(raised.value)
        return
    findings = program.launch(kernel, **options).findings
    assert findings, "nothing was found"
    for finding in findings:
        assert finding["kind"] == kind
        place = re.search(r"faults\.hip:(\d+):\d+$", finding["source"])
        assert place and int(place[1]) in lines, finding
        assert finding["instruction"] and finding["message"]
        assert 0 <= finding["wave"] < 2 and finding["count"] >= 1


@pytest.mark.parametrize("target", TARGETS)
def test_without_checker(target):
    """An access out of bounds ends a launch that is not checked, and says where."""
    program = compile_hip("faults.hip", target, "-O1", options=("-g",))
    out = np.zeros(128, np.uint32)
    with pytest.raises(simulator.DeviceError, match=r"out_of_bounds.*wavefront 1: lane 61"):
        program.launch("out_of_bounds", grid=1, block=128, args=[out.copy(), out])
    assert not out.any()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("optimization", ("-O0", "-O3"))
@pytest.mark.parametrize("check", (False, True))
@pytest.mark.parametrize(
    ("kernel", "kind", "asked"),
    [
        ("prints", "hostcall", "hidden_hostcall_buffer"),
        ("prints", "buffered", "hidden_printf_buffer"),
        ("allocates", "hostcall", "hidden_heap_v1"),
    ],
)
def test_without_host(kernel, kind, asked, check, optimization, target):
    program = compile_hip("host.hip", target, optimization, options=(f"-mprintf-kind={kind}",))
    out = np.zeros(64, np.uint64)
    with pytest.raises(simulator.DeviceError) as raised:
        program.launch(
            kernel, grid=1, block=64, args=[out], check=check, max_instructions=1 << 20
        )
    assert f"({asked})" in str(raised.value)
    assert "the simulator has no such host" in str(raised.value)
