# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code on disk: what is taken from there, what is not, and what several
processes do to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from test_binding import RHS, SPLIT, SYSTEM, check_rhs, make_zones, ws

kernel = pytest.importorskip("wavesmith.kernel")
TEXT = SYSTEM + RHS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WAVESMITH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch):
    """How many texts the library has compiled."""
    calls = []
    compile = kernel._wavesmith.compile

    class Binding:
        def __getattr__(self, name):
            if name == "compile":
                return lambda *a: (calls.append(a), compile(*a))[1]
            return getattr(original, name)

    original = kernel._wavesmith
    monkeypatch.setattr(kernel, "_wavesmith", Binding())
    return calls


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_second_compile_is_taken_from_disk(folder, compiled):
    first = ws.compile(TEXT)
    assert len(compiled) == 1 and len(entries(folder)) == 1
    second = ws.compile(TEXT)
    assert len(compiled) == 1
    assert second.asm["hsaco"] == first.asm["hsaco"] and second.metadata == first.metadata
    y = make_zones(5)
    check_rhs(second(t=0.0, y=y, device="sim"), y)
    # Stages of an entry are made once, and kept.
    text = second.asm["amdgcn"]
    assert "s_endpgm" in text and len(compiled) == 2
    assert ws.compile(TEXT).asm["amdgcn"] == text == first.asm["amdgcn"]
    assert len(compiled) == 2
    assert list(second.asm) == ["source", "mlir", "llvm", "amdgcn", "hsaco"]
    assert second.asm["source"] == TEXT


@pytest.mark.parametrize(
    "change",
    [
        {"target": "gfx90a"}, {"form": "table"}, {"workgroup_size": 128}, {"chip": "mi300a"},
        {"straight_line_limit": 3}, {"code_object_version": 4}, {"optimization_level": 1},
        {"threads_per_zone": 8}, {"source_name": "other.mlir"},
    ],
)  # fmt: skip
def test_what_is_another_entry(folder, compiled, change):
    ws.compile(TEXT)
    ws.compile(TEXT, **change)
    assert len(compiled) == 2 and len(entries(folder)) == 2


def test_another_text_version_or_library(folder, compiled, monkeypatch):
    ws.compile(TEXT)
    ws.compile(TEXT + "\n")
    monkeypatch.setattr(kernel, "version", lambda: "0.0.1")
    ws.compile(TEXT)
    monkeypatch.setattr(kernel, "_library", lambda: [[1, 2]])
    ws.compile(TEXT)
    assert len(compiled) == len(entries(folder)) == 4


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "other"])
def test_a_damaged_entry_counts_as_missing(folder, compiled, damage):
    good = ws.compile(TEXT).asm["hsaco"]
    (path,) = entries(folder)
    data = path.read_bytes()
    path.write_bytes({
        "cut": data[:-7],
        "bit": data[:500] + bytes([data[500] ^ 1]) + data[501:],
        "empty": b"",
        "other": b"something else" * 100,
    }[damage])  # fmt: skip
    assert ws.compile(TEXT).asm["hsaco"] == good and len(compiled) == 2
    assert path.read_bytes() == data
    assert ws.compile(TEXT).asm["hsaco"] == good and len(compiled) == 2


def test_off_and_read_only(tmp_path, monkeypatch, compiled):
    monkeypatch.setenv("WAVESMITH_CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    ws.compile(TEXT)
    ws.compile(TEXT)
    assert len(compiled) == 2 and not entries(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WAVESMITH_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="the cache cannot be written .*WAVESMITH_CACHE_DIR"):
        module = ws.compile(TEXT)
    y = make_zones(3)
    check_rhs(module(t=0.0, y=y, device="sim"), y)
    monkeypatch.delenv("WAVESMITH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    ws.compile(TEXT)
    assert len(entries(tmp_path / "xdg" / "wavesmith")) == 1


def test_errors_are_not_kept(folder):
    for _ in range(2):
        with pytest.raises(ws.CompileError, match="<text>:1:1: error: "):
            ws.compile("nonsense")
    assert not folder.exists() or not entries(folder)


def test_dumps_also_on_a_hit(folder, tmp_path, monkeypatch):
    ws.compile(TEXT)
    dump = tmp_path / "dump"
    monkeypatch.setenv("WAVESMITH_DUMP_IR", str(dump))
    module = ws.compile(TEXT)
    names = sorted(path.name for path in dump.iterdir())
    stem = names[0].split(".")[0]
    assert stem.startswith("rhs-gfx942-")
    endings = ["hsaco", "json", "ll", "rocdl.mlir", "s", "source.mlir"]
    assert names == [f"{stem}.{ending}" for ending in endings]
    assert (dump / f"{stem}.source.mlir").read_text() == TEXT
    assert (dump / f"{stem}.hsaco").read_bytes() == module.asm["hsaco"]
    assert (dump / f"{stem}.ll").read_text() == module.asm["llvm"]
    assert json.loads((dump / f"{stem}.json").read_text()) == module.metadata
    # One kernel by name.
    monkeypatch.setenv("WAVESMITH_DUMP_IR", str(tmp_path / "one"))
    monkeypatch.setenv("WAVESMITH_DUMP_KERNEL", "split")
    ws.compile(TEXT)
    assert not (tmp_path / "one").exists()
    ws.compile(TEXT + SPLIT)
    assert {path.name.split("-")[0] for path in (tmp_path / "one").iterdir()} == {"split"}


def test_many_writers(folder, tmp_path):
    """Processes that compile the same at once, while others damage the entry: each has
    its code, and no half-written file stays."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, hashlib, random, wavesmith as ws\n"
        "from pathlib import Path\n"
        "text = Path(sys.argv[1]).read_text()\n"
        "for i in range(10):\n"
        "    code = ws.compile(text).asm['hsaco']\n"
        "    if i % 3 == int(sys.argv[2]) % 3:\n"
        "        for path in Path(sys.argv[3]).rglob('*.code'):\n"
        "            path.unlink(missing_ok=True)\n"
        "    print(hashlib.sha256(code).hexdigest())\n"
    )
    (tmp_path / "text.mlir").write_text(TEXT)
    package = str(Path(ws.__file__).parents[1])
    runs = [
        subprocess.Popen(
            [sys.executable, script, tmp_path / "text.mlir", str(i), folder],
            env={**os.environ, "PYTHONPATH": package}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for i in range(4)
    ]  # fmt: skip
    outputs = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, outputs
    hashes = {line for out, _ in outputs for line in out.split()}
    assert len(hashes) == 1
    assert all("Warning" not in err for _, err in outputs)
    assert not [path for path in entries(folder) if path.suffix == ".tmp"]


def test_systems_share_entries(folder, compiled, tmp_path, monkeypatch):
    @ws.ode_system
    def net(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(T, reactants=A)

    y = np.ones((1, 4))
    assert np.array_equal(net.rhs(2.0, y, device="sim"), -2.0 * y)
    net.rhs(2.0, y, device="sim")
    assert len(compiled) == 1
    ws.compile(net)
    assert len(compiled) == 1
    # What the system holds already is dumped, too.
    monkeypatch.setenv("WAVESMITH_DUMP_IR", str(tmp_path / "dump"))
    net.rhs(2.0, y, device="sim")
    assert len(list((tmp_path / "dump").iterdir())) == 6
