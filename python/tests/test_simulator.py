# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of raw code objects: what fits, and what the errors say. test/Peers has the
code objects of other compilers."""

from __future__ import annotations

import csv
import json
import os
import random
import re
from collections import Counter

import numpy as np
import pytest
from test_binding import RHS, SYSTEM, make_zones, ws

simulator = pytest.importorskip("wavesmith.simulator")

ZONES = 70


@pytest.fixture(scope="module", params=["gfx90a", "gfx942"])
def module(request):
    return ws.compile(SYSTEM + RHS, target=request.param, workgroup_size=64)


@pytest.fixture(scope="module")
def program(module):
    return simulator.Program(module.asm["hsaco"])


def arguments(module, y: np.ndarray, out: np.ndarray) -> list:
    """By the description that the compiler writes."""
    values = {"scalar": 0.0, "input": y, "output": out, "zones": y.shape[1]}
    return [values[a["kind"]] for a in module["rhs"].arguments]


def test_as_the_kernel_itself(module, program):
    y = make_zones(ZONES)
    want = module(t=0.0, y=y, device="sim")
    out = np.zeros_like(y)
    report = program.launch("rhs", grid=2, block=64, args=arguments(module, y, out))
    assert report.findings is None
    assert np.array_equal(out, want)
    assert report.counters == {
        name: count for name, count in module.report["counters"].items()
    }
    # From the bytes, with the checker, on two threads, in memory of the caller's.
    memory = simulator.Memory()
    address = memory.allocate(y.nbytes, "y")
    memory.write(address, y)
    out = np.zeros_like(y)
    args = [address if value is y else value for value in arguments(module, y, out)]
    report = simulator.launch(
        module.asm["hsaco"], grid=2, block=[64], args=args, memory=memory, check=True, threads=2
    )
    assert report.findings == []
    assert np.array_equal(out, want)
    back = np.zeros_like(y)
    memory.read(address, back)
    assert np.array_equal(back, y)
    memory.release(address)
    with pytest.raises(ValueError, match="0x"):
        memory.read(address, back)


def test_modelled_time(module, program):
    y = make_zones(ZONES)
    plain, timed = np.zeros_like(y), np.zeros_like(y)
    launch = {"grid": 2, "block": 64}
    report = program.launch(**launch, args=arguments(module, y, plain))
    assert report.modelled_time is None and report.semantics["exact"] > 0
    chip = {"gfx90a": "mi250x", "gfx942": "mi300a"}[module.target]
    again = program.launch(**launch, args=arguments(module, y, timed), model_time=chip)
    assert np.array_equal(plain, timed)
    assert again.counters == report.counters and again.semantics == report.semantics
    assert again.modelled_time["cycles"] > 0
    assert again.modelled_time["chip"] == chip
    assert again.rocprof_counters["SQ_WAVES"] == report.rocprof_counters["SQ_WAVES"] == 2
    # Beside the disassembly.
    listing = {i["address"]: i["text"].strip() for i in program.disassemble("rhs")}
    hot = again.modelled_time["instructions"]
    assert hot and all(i["instruction"] == listing[i["address"]] for i in hot)
    # The fitted parameters move the time, and nothing else.
    varied = program.launch(
        **launch, args=arguments(module, y, timed), model_time=chip, vary_fitted=True
    )
    assert varied.modelled_time["cycles"] == again.modelled_time["cycles"]
    low, high = varied.modelled_time["varied"]
    assert (low["fitted_scale"], high["fitted_scale"]) == (2 / 3, 4 / 3)
    assert low["cycles"] < again.modelled_time["cycles"] < high["cycles"]
    assert varied.counters == report.counters and np.array_equal(plain, timed)
    with pytest.raises(simulator.DeviceError, match="mi355x"):
        program.launch(**launch, args=arguments(module, y, timed), model_time="mi355x")
    # Checked and timed in one launch.
    both = program.launch(
        **launch, args=arguments(module, y, timed), model_time=chip, check=True
    )
    assert np.array_equal(plain, timed)
    assert both.findings == []
    assert both.modelled_time == again.modelled_time
    assert both.counters == report.counters
    # A mistake is found as in a launch that is only checked: the last zones lie
    # outside of an array that is one row too short.
    short = {}
    for model_time in (False, chip):
        args = [timed[:-1] if value is timed else value for value in arguments(module, y, timed)]
        short[model_time] = program.launch(
            **launch, args=args, model_time=model_time, check=True
        ).findings
    assert short[chip] == short[False]
    assert "out-of-bounds" in {finding["kind"] for finding in short[chip]}


def test_counters_csv(module, program):
    y = make_zones(ZONES)
    report = program.launch(
        grid=2, block=64, args=arguments(module, y, np.zeros_like(y)), model_time=True
    )
    ((row),) = csv.DictReader(report.counters_csv().splitlines())
    assert row.pop("KernelName") == "rhs"
    assert {name: float(value) for name, value in row.items()} == report.rocprof_counters
    assert "GRBM_GUI_ACTIVE" in row and row["SQ_WAVES"] == "2"


def test_description(module, program):
    assert program.target == module.target
    assert program.description["code_object_version"] == 5
    kernel = program.kernels["rhs"]
    assert [a["size"] for a in kernel["arguments"]] == [8] * len(kernel["arguments"])
    assert kernel["max_workgroup_size"] == 64
    json.dumps(program.description)
    listing = program.disassemble("rhs")
    assert listing[-1]["opcode"] == "S_ENDPGM"
    assert all(i["known"] and i["text"] for i in listing)
    assert [i["address"] for i in listing] == sorted(i["address"] for i in listing)


def test_read_only_arrays_are_left_alone(module, program):
    y, out = make_zones(ZONES), np.zeros((3, ZONES))
    out.flags.writeable = False
    program.launch(grid=2, block=64, args=arguments(module, y, out))
    assert not out.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"args": []}, "takes 4 arguments, got 0"),
        ({"args": [0.0, [1.0], None, 1]}, "an array, an address or None for a pointer, got list"),
        ({"args": [0.0, np.zeros((4, 4)).T[1:], None, 1]}, "C order"),
        ({"args": [0.0, np.zeros(0), None, 1]}, "with elements"),
        ({"args": [0.0, np.array([None]), None, 1]}, "plain numbers"),
        ({"args": ["0", None, None, 1]}, "a number or bytes for a value of 8 bytes, got '0'"),
        ({"args": [np.float32(0), None, None, 1]}, "expected 8 bytes, got 4"),
        ({"args": [0.0, None, None, 1 << 64]}, "does not fit in 8 bytes"),
        ({"args": [0.0, -1, None, 1]}, "-1 is out of range"),
        ({"kernel": "missing"}, "kernels rhs, got 'missing'"),
        ({"grid": (1, 1, 1, 1)}, "one to three sizes, got 4"),
        ({"grid": -1}, "grid: -1 is out of range"),
        ({"block": 1 << 32}, "block: 4294967296 is out of range"),
        ({"threads": 0}, "1 to 1024 threads, got 0"),
        ({"dynamic_lds": -4}, "dynamic_lds: -4 is out of range"),
    ],
)
def test_wrong_arguments(program, change, message):
    parameters = {"kernel": "rhs", "grid": 1, "block": 64, "args": [0.0, None, None, 1]}
    with pytest.raises(ValueError, match=message):
        program.launch(**{**parameters, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"block": 128}, "128"),
        ({"grid": 0}, "grid"),
        ({"dynamic_lds": 1 << 20}, "LDS"),
        ({"max_instructions": 3}, "instructions"),
        ({}, "null"),
    ],
)
@pytest.mark.parametrize("check", [False, True])
def test_launches_that_fail(program, change, message, check):
    """A null pointer is found by the checker without an error."""
    parameters = {"kernel": "rhs", "grid": 1, "block": 64, "args": [0.0, None, None, 1]}
    if check and not change:
        report = program.launch(**parameters, check=True)
        assert {(f["kind"], f["kernel"]) for f in report.findings} == {("out-of-bounds", "rhs")}
        return
    with pytest.raises(simulator.DeviceError, match=message):
        program.launch(**{**parameters, **change}, check=check)


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"x" * 1000])
def test_no_code_object(code):
    with pytest.raises(ValueError, match="ELF|code object"):
        simulator.launch(code, grid=1, block=64)


def test_memory():
    memory = simulator.Memory()
    with pytest.raises(ValueError):
        memory.allocate(0, "nothing")
    address = memory.allocate(16, "small")
    memory.write(address, b"0123456789abcdef")
    back = bytearray(8)
    memory.read(address + 4, back)
    assert back == b"456789ab"
    with pytest.raises(ValueError):
        memory.write(address + 9, bytes(8))
    with pytest.raises((BufferError, TypeError, ValueError)):
        memory.read(address, bytes(4))
    memory.release(address)
    with pytest.raises(ValueError):
        memory.release(address)


def test_mutated_code_objects(module):
    """An error that is text, or a result: never a crash, a hang or a UnicodeError."""
    count = int(os.environ.get("WAVESMITH_TEST_MUTATIONS", "400"))
    generator = random.Random(module.target)
    y = make_zones(ZONES)
    outcomes = Counter()
    for round_ in range(count):
        code = bytearray(module.asm["hsaco"])
        # The headers, the note and the symbols stand first; or anywhere.
        end = generator.choice([64, 1024, 2048, len(code)])
        for _ in range(generator.choice([1, 1, 2, 8])):
            code[generator.randrange(end)] = generator.choice([0, 27, 128, 255, generator.randrange(256)])
        mode = [{}, {"check": True}, {"model_time": True}, {"check": True, "model_time": True}][round_ % 4]
        try:
            program = simulator.Program(bytes(code))
            for name in program.kernels:
                program.disassemble(name)
                program.launch(
                    name, grid=2, block=64, args=arguments(module, y, np.zeros_like(y)),
                    max_instructions=100_000, **mode,
                )
        except (simulator.DeviceError, ValueError) as error:
            assert not isinstance(error, UnicodeError)
            message = str(error)
            assert message and "gave up" not in message
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]", message)
            outcomes[type(error).__name__] += 1
        else:
            outcomes["ran"] += 1
    assert outcomes.total() == count
    assert min(outcomes[kind] for kind in ("ran", "ValueError", "DeviceError")) > 0, outcomes
