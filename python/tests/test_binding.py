# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python binding, on the simulator. Expected values are plain NumPy."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

ws = pytest.importorskip("wavesmith")
try:
    ws.version
except ImportError as error:
    pytest.skip(f"the binding is not built: {error}", allow_module_level=True)

SYSTEM = """
wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}
"""
RHS = """
func.func @rhs(%t: f64 {wavesmith.name = "t"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "dydt"}) {
  %0 = wavesmith.ode_rhs @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}
"""
SPLIT = """
func.func @split(%t: f64 {wavesmith.name = "t"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "production"}, tensor<3x?xf64> {wavesmith.name = "loss"}) {
  %0:2 = wavesmith.ode_production_loss @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  return %0#0, %0#1 : tensor<3x?xf64>, tensor<3x?xf64>
}
"""


def make_zones(count: int = 70, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.0, 1.0, (3, count))


def production_and_loss(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = y
    r1, r2, r3 = 0.04 * a, 3e7 * b * b, 1e4 * b * c
    return np.stack([r3, r1, r2]), np.stack([r1, r2 + r3, 0 * a])


def check_rhs(got: np.ndarray, y: np.ndarray) -> None:
    production, loss = production_and_loss(y)
    assert got.shape == y.shape and got.dtype == np.float64
    # A few roundings of the largest term.
    assert np.all(np.abs(got - (production - loss)) <= 1e-15 * 4 * (production + loss))


@pytest.fixture(scope="module")
def robertson():
    return ws.compile(SYSTEM + RHS, target="gfx942")


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
@pytest.mark.parametrize("form", ["straight_line", "table"])
def test_run(target, form):
    module = ws.compile(SYSTEM + RHS, target=target, form=form)
    y = make_zones()
    check_rhs(module(t=0.0, y=y, device="sim"), y)
    assert module.report["device"]["kind"] == "simulator"
    assert module.report["device"]["architecture"] == target
    assert module.report["zones"] == 70
    assert module["rhs"].schedule["form"] == form


def test_stages(robertson):
    assert list(robertson.asm) == ["source", "mlir", "llvm", "amdgcn", "hsaco"]
    assert robertson.asm["source"] == SYSTEM + RHS
    assert robertson.asm["hsaco"][:4] == b"\x7fELF"
    assert robertson.metadata["target"] == "gfx942"
    assert "rocdl." in robertson.asm["mlir"] and "gpu.module" in robertson.asm["mlir"]
    assert "define amdgpu_kernel void @rhs" in robertson.asm["llvm"]
    assert "s_endpgm" in robertson.asm["amdgcn"] and "gfx942" in robertson.asm["amdgcn"]
    with pytest.raises(KeyError, match="no stage 'ptx'; there are source, mlir"):
        robertson.asm["ptx"]


def test_options():
    old = ws.compile(SYSTEM + RHS, code_object_version=4, workgroup_size=128)
    assert old.metadata["code_object_version"] == 4
    assert old["rhs"].schedule["workgroup_size"] == 128
    # The ABI version of the ELF header: 2 is version 4, 3 is version 5.
    assert old.asm["hsaco"][8] == 2
    assert ws.compile(SYSTEM + RHS).asm["hsaco"][8] == 3


@pytest.mark.parametrize("calls", [200, 201])
def test_form_is_chosen_as_the_tools_choose(calls):
    lines = [f"%k{i} = wavesmith.arrhenius %T A {i + 1}.0 b 0.0 E 100.0\n"
             f'wavesmith.term %k{i} : "1/s" orders ["A" = 1.0] loss ["A" = 1.0]'
             for i in range(calls)]  # fmt: skip
    text = (
        'wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K"] time "s" {\n'
        '%T = wavesmith.parameter "T"\n' + "\n".join(lines) + "\n}\n"
        "func.func @rhs(%t: f64, %y: tensor<1x?xf64>, %p: tensor<1x?xf64>) -> tensor<1x?xf64> {\n"
        "%0 = wavesmith.ode_rhs @s(%t, %y, %p) : (f64, tensor<1x?xf64>, tensor<1x?xf64>) -> "
        "tensor<1x?xf64>\nreturn %0 : tensor<1x?xf64>\n}\n"
    )
    form = ws.compile(text, optimization_level=0)["rhs"].schedule["form"]
    assert form == ("straight_line" if calls <= 200 else "table")


def test_several_kernels():
    module = ws.compile(SYSTEM + RHS + SPLIT)
    assert sorted(module) == ["rhs", "split"]
    y = make_zones(5)
    check_rhs(module["rhs"](t=0.0, y=y, device="sim"), y)
    production, loss = module["split"](t=0.0, y=y, device="sim")
    want = production_and_loss(y)
    np.testing.assert_allclose(production, want[0], rtol=4e-15)
    np.testing.assert_allclose(loss, want[1], rtol=4e-15)
    assert module.report["kernel"] == "split"
    assert module["rhs"].report["kernel"] == "rhs"
    with pytest.raises(ValueError, match="expected one kernel to call, got 2"):
        module(t=0.0, y=y, device="sim")
    with pytest.raises(KeyError):
        module["jacobian"]


def test_other_memory_layouts(robertson):
    y = make_zones(9)
    expected = robertson(t=0.0, y=y, device="sim")
    for same in (np.asfortranarray(y), np.repeat(y, 2, axis=1)[:, ::2], y.tolist()):
        assert np.array_equal(robertson(t=0, y=same, device="sim"), expected)
    y.flags.writeable = False
    assert np.array_equal(robertson({"y": y, "t": np.float64(0)}, device="sim"), expected)


def test_threads_and_device(robertson):
    y = make_zones(300)
    device = ws.Device("sim", "gfx942", chip="mi300a", threads=2)
    check_rhs(robertson(t=0.0, y=y, device=device), y)
    assert robertson.report["device"]["chip"] == "mi300a"
    check_rhs(robertson(t=0.0, y=y, device="sim", threads=2), y)


def test_save_and_load(robertson, tmp_path):
    robertson.save(tmp_path / "k.hsaco")
    loaded = ws.load(tmp_path / "k.hsaco")
    y = make_zones(3)
    check_rhs(loaded(t=0.0, y=y, device="sim"), y)
    assert loaded.asm["hsaco"] == robertson.asm["hsaco"]
    with pytest.raises(ValueError, match="no stage 'amdgcn'"):
        loaded.asm["amdgcn"]
    with pytest.raises(ValueError, match="does not end in .json"):
        robertson.save(tmp_path / "k.json")
    (tmp_path / "k.hsaco").write_bytes(robertson.asm["hsaco"][:100])
    with pytest.raises(ValueError):
        ws.load(tmp_path / "k.hsaco")


def test_sources(tmp_path):
    class System:
        def to_mlir(self):
            return SYSTEM + RHS

    y = make_zones(3)
    check_rhs(ws.compile(System())(t=0.0, y=y, device="sim"), y)
    path = tmp_path / "system.mlir"
    path.write_text(SYSTEM + RHS)
    check_rhs(ws.compile(path)(t=0.0, y=y, device="sim"), y)
    path.write_text("nonsense")
    with pytest.raises(ws.CompileError, match=r"system\.mlir:1:1: error: "):
        ws.compile(path)
    with pytest.raises(TypeError, match="expected MLIR text.*got int"):
        ws.compile(3)


def test_compile_error_has_the_place():
    text = SYSTEM.replace('orders ["A" = 1.0]', 'orders ["X" = 1.0]') + RHS
    with pytest.raises(ws.CompileError) as error:
        ws.compile(text, source_name="bad.mlir")
    assert "bad.mlir:4:" in str(error.value) and "error: " in str(error.value)
    assert "X" in str(error.value) and "^" in str(error.value)
    assert isinstance(error.value, ValueError)
    # The library is as good as before.
    y = make_zones(2)
    check_rhs(ws.compile(SYSTEM + RHS)(t=0.0, y=y, device="sim"), y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "gfx1100"}, "gfx1100"),
        ({"chip": "mi100"}, "mi100"),
        ({"form": "round"}, "unknown form 'round', expected auto, straight_line"),
        ({"code_object_version": 3}, "unknown code object version 3, expected 4 or 5"),
        ({"optimization_level": 4}, "unknown optimisation level 4, expected 0 to 3"),
        ({"workgroup_size": -1}, "must not be negative"),
        ({"workgroup_size": 2**40}, "out of range"),
        ({"threads_per_zone": -1}, "must not be negative"),
    ],
)
def test_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        ws.compile(SYSTEM + RHS, **options)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ws.compile(SYSTEM + RHS, None), TypeError, "target: expected text, got None"),
        (lambda: ws.compile(SYSTEM + RHS, ["gfx942"]), TypeError, "target: expected text"),
        (lambda: ws.compile(SYSTEM + RHS, source_name=5), TypeError, "source_name: expected text"),
        (lambda: ws.compile(SYSTEM + RHS, workgroup_size="64"), TypeError,
         "workgroup_size: expected a whole number, got '64'"),
        (lambda: ws.compile(SYSTEM + RHS, workgroup_size=True), TypeError,
         "workgroup_size: expected a whole number, got True"),
        (lambda: ws.compile("system.mlir"), ValueError,
         r"got the name of a file, 'system.mlir'; give pathlib.Path\('system.mlir'\)"),
        (lambda: ws.compile("gri30.yaml"), ValueError, r"give ws.load_mechanism\('gri30.yaml'\)"),
        (lambda: ws.compile("\ud800"), ValueError, "the text cannot be encoded"),
        (lambda: ws.compile(SYSTEM + RHS)["lhs"], KeyError,
         "there is no kernel 'lhs'; there are rhs"),
        (lambda: ws.Device(None), TypeError, "kind: expected text, got None"),
        (lambda: ws.Device("sim", threads="4"), TypeError, "threads: expected a whole number"),
        (lambda: ws.Device("hip", number=1.5), TypeError, "number: expected a whole number"),
        (lambda: ws.ode_sytem, AttributeError, "did you mean 'ode_system'"),
        (lambda: ws.testing.do_bench(int, quantiles=0.5), ValueError,
         "quantiles: expected a list of numbers, got 0.5"),
    ],
)  # fmt: skip
def test_invalid_types(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_numbers_of_numpy_as_options():
    sizes = {"workgroup_size": np.int64(128), "optimization_level": np.int32(2)}
    module = ws.compile(SYSTEM + RHS, **sizes)
    assert module["rhs"].schedule["workgroup_size"] == 128


def test_a_file_that_is_no_code_object(robertson, tmp_path):
    """Says which."""
    path = tmp_path / "k.hsaco"
    robertson.save(path)
    path.with_suffix(".json").write_text("{")
    with pytest.raises(ValueError, match=r"cannot load .*k.hsaco with .*k.json: \[1:1"):
        ws.load(path)


@pytest.mark.parametrize("is_cached", [False, True])
def test_pickles(monkeypatch, tmp_path, is_cached):
    """Of what was compiled and has run: the copy runs, and has its stages."""
    monkeypatch.setenv("WAVESMITH_CACHE_DIR", str(tmp_path) if is_cached else "")
    for _ in range(2):
        module = ws.compile(SYSTEM + RHS)
    y = make_zones(3)
    check_rhs(module(t=0.0, y=y, device="sim"), y)
    copy = pickle.loads(pickle.dumps(module))
    check_rhs(copy(t=0.0, y=y, device="sim"), y)
    assert copy.asm["hsaco"] == module.asm["hsaco"] and "s_endpgm" in copy.asm["amdgcn"]
    kernel = pickle.loads(pickle.dumps(module["rhs"]))
    check_rhs(kernel(t=0.0, y=y, device="sim"), y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs scalar 't' of type f64"),
        ({"t": 0.0}, "needs input 'y' of type f64 and shape"),
        ({"t": 0.0, "y": make_zones(), "z": 1}, "has no input or scalar 'z'; it has t, y"),
        ({"t": 0.0, "y": make_zones(), "dydt": 1}, "has no input or scalar 'dydt'"),
        ({"t": "x", "y": make_zones()}, "scalar 't': expected a number of type f64, got 'x'"),
        ({"t": [0.0], "y": make_zones()}, "scalar 't': expected a number"),
        ({"t": 1j, "y": make_zones()}, "scalar 't': expected a number"),
        ({"t": 0.0, "y": make_zones().astype(np.float32)}, "'y'.*f64.*f32"),
        ({"t": 0.0, "y": make_zones().astype(np.int64)}, "'y'.*f64.*i64"),
        ({"t": 0.0, "y": make_zones().astype(np.float16)}, "'y'.*expected elements of type f64, got f16"),
        ({"t": 0.0, "y": make_zones().astype(">f8")}, "'y'.*float64.*>f8"),
        ({"t": 0.0, "y": np.array([["a"]])}, "'y'.*expected an array"),
        ({"t": 0.0, "y": make_zones().T}, r"'y'"),
        ({"t": 0.0, "y": make_zones()[0]}, r"'y'.*\[70\]"),
        ({"t": 0.0, "y": make_zones(0)}, "zones"),
        ({"t": 0.0, "y": make_zones(), "zones": 71}, "71"),
        ({"t": 0.0, "y": make_zones(), "zones": 0}, "must be positive, got 0"),
        ({"t": 0.0, "y": make_zones(), "device": "gpu"}, "gpu"),
        ({"t": 0.0, "y": make_zones(), "threads": 0}, "threads, got 0"),
    ],
)
def test_invalid_arguments(robertson, arguments, message):
    with pytest.raises(ValueError, match=message):
        robertson(**{"device": "sim", **arguments})


def test_no_gpu(robertson, monkeypatch, tmp_path):
    # In a process of its own: HIP is looked for once.
    script = (
        "import numpy as np, wavesmith as ws\n"
        "try:\n"
        "    ws.Device('hip', 'gfx942')\n"
        "except ws.NoDeviceError as error:\n"
        "    assert isinstance(error, ws.DeviceError)\n"
        "    print('no device:', error)\n"
        "except ws.DeviceError as error:\n"
        "    print('device error:', error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={
            "PYTHONPATH": ":".join(p for p in sys.path if p),
            "WAVESMITH_HIP_LIBRARY": str(tmp_path / "none.so"),
        },
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "device" in run.stdout and "none.so" in run.stdout


def test_report_of_a_run():
    """It is text when it is looked at, and outlives what made it."""
    module = ws.compile(SYSTEM + RHS)
    assert module.report is None and module["rhs"].report is None
    assert module["rhs"].host_seconds is None
    device = ws.Device("sim", "gfx942")
    kernel = module["rhs"]
    kernel(t=0.0, y=make_zones(5), device=device)
    first = kernel._report
    assert 0.0 < kernel.host_seconds < 60.0
    kernel(t=0.0, y=make_zones(70), device=device)
    del device
    assert kernel.report["zones"] == 70 and module.report is kernel.report
    assert kernel.report is kernel.report
    assert first.parsed["zones"] == 5
    assert "host_seconds" not in kernel.report


def test_another_device_than_the_code_object(robertson):
    with pytest.raises(ws.DeviceError, match="gfx90a"):
        robertson(t=0.0, y=make_zones(), device=ws.Device("sim", "gfx90a"))


def test_python_threads(robertson):
    y = make_zones(40)
    expected = robertson(t=0.0, y=y, device="sim")
    device = ws.Device("sim", "gfx942")
    results: list = []

    def work():
        module = ws.compile(SYSTEM + RHS)
        results.append(module(t=0.0, y=y, device=device))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result, expected) for result in results)


def test_importers_need_no_binding():
    script = (
        "import sys; sys.modules['wavesmith._wavesmith'] = None\n"
        "import wavesmith, wavesmith.importers\n"
        "assert 'wavesmith.kernel' not in sys.modules\n"
        "try:\n"
        "    wavesmith.compile\n"
        "except ImportError as error:\n"
        "    assert 'binding of Wavesmith is not built' in str(error)\n"
        "else:\n"
        "    sys.exit('no error')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY / "python",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
