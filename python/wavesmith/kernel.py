# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile MLIR text and run the kernels on arrays."""

from __future__ import annotations

import functools
import json
import operator
import os
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wavesmith import cache
from wavesmith.arrays import (
    OnGPU,
    dtype_of,
    empty_on_gpu,
    is_on_gpu,
    is_tensor,
    kind_of,
    plain_integers,
    tensors_among,
    to_numpy,
    to_torch,
)
from wavesmith.errors import CompileError

try:
    from wavesmith import _wavesmith
except ImportError as error:
    raise ImportError(
        "the binding of Wavesmith is not built for this Python "
        f"({error}); install the package with pip, or build it with "
        "-DWAVESMITH_PYTHON=<this Python> and put build/python on PYTHONPATH"
    ) from error

DeviceError = _wavesmith.DeviceError
NoDeviceError = _wavesmith.NoDeviceError
DeviceError.__doc__ = "A device cannot be opened, or a run on it failed."
NoDeviceError.__doc__ = "There is no device of the kind that was asked for."


def version() -> str:
    """The version of the library."""
    return _wavesmith.version()


def _check_text(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected text, got {value!r:.60}")


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, got {value!r:.60}") from None


class Device:
    """A place to run kernels.

    Args:
        kind: "hip" (a GPU), "sim" (the simulator) or "auto" (a GPU of the
            architecture where there is one, else the simulator).
        architecture: "gfx90a" or "gfx942".
        chip: the chip that a simulator stands for, by default the
            architecture's first.
        number: HIP's number of the GPU to take, by default the first.
        threads: host threads of the simulator.

    Raises:
        ValueError: an argument is not one of these.
        NoDeviceError: there is no such device.
        DeviceError: there is one, but it cannot be opened.
    """

    def __init__(
        self,
        kind: str = "auto",
        architecture: str = "gfx942",
        *,
        chip: str | None = None,
        number: int | None = None,
        threads: int = 1,
    ):
        _check_text(kind=kind, architecture=architecture)
        if chip is not None:
            _check_text(chip=chip)
        if number is not None and _whole("number", number) < 0:
            raise ValueError(f"the number of a GPU must not be negative, got {number}")
        if not 1 <= _whole("threads", threads) <= 1024:
            raise ValueError(f"a simulator has from 1 to 1024 threads, got {threads}")
        self.kind = kind
        self.architecture = architecture
        self.number = number
        self._handle = _wavesmith.Device(
            kind, architecture, chip or "", -1 if number is None else number, threads
        )

    def __repr__(self) -> str:
        return f"Device({self.kind!r}, {self.architecture!r})"


@functools.lru_cache(maxsize=16)
def _open_device(
    kind: str, architecture: str, threads: int, number: int | None = None
) -> Device:
    """A device given by its name is opened once a process."""
    return Device(kind, architecture, threads=threads, number=number)


def _no_device(given: Any) -> TypeError:
    return TypeError(f"device: expected 'auto', 'hip', 'sim' or a wavesmith.Device, got {given!r:.60}")


class _Report:
    """What the binding reports of a run; text, and parsed, when it is looked at."""

    def __init__(self, handle=None):
        self._handle = handle

    @functools.cached_property
    def parsed(self) -> dict | None:
        return self._handle and json.loads(self._handle.json)

    @property
    def host_seconds(self) -> float | None:
        return self._handle and self._handle.host_seconds


class _Layout:
    """One argument of a kernel, looked up once: each launch needs it."""

    def __init__(self, described: Mapping):
        self.name: str = described["name"]
        self.kind: str = described["kind"]
        self.type: str = described["type"]
        #: Sizes, and names of sizes; None of an array that has no shape.
        self.shape: tuple | None = (
            tuple(described["shape"]) if "shape" in described else None
        )
        #: Where the names stand.
        self.named = [(i, n) for i, n in enumerate(self.shape or ()) if isinstance(n, str)]
        self.is_integer = self.type in ("i64", "i32")

    @functools.cached_property
    def dtype(self) -> np.dtype:
        # Not before it is needed: the package ml_dtypes may be missing.
        return dtype_of(self.type)


class Kernel:
    """One kernel of a compiled module. Call it with its arguments by name."""

    def __init__(self, module: CompiledModule, description: Mapping):
        self._module = module
        #: Its name in the module.
        self.name: str = description["name"]
        #: The arguments, as docs/devices.md describes them.
        self.arguments: list[dict] = description["arguments"]
        #: Registers, spills, memory and occupancy, as the compiler knows them.
        self.resources: dict = description.get("resources", {})
        #: How the kernel was compiled.
        self.schedule: dict | None = description.get("schedule")
        self._report = _Report()
        self._zones_per_workgroup: int = description.get("zones_per_workgroup", 1)
        self._layouts = [_Layout(argument) for argument in self.arguments]
        self._takes = {
            layout.name: layout
            for layout in self._layouts
            if layout.kind in ("input", "scalar", "dimension")
        }
        self._gives = [
            layout
            for layout in self._layouts
            if layout.kind == "output" and layout.shape is not None
        ]

    def __reduce__(self):
        return operator.getitem, (self._module, self.name)

    @property
    def report(self) -> dict | None:
        """The report of the last run (docs/devices.md), None before."""
        return self._report.parsed

    @property
    def host_seconds(self) -> float | None:
        """How long the kernel of the last run took by the host's clock, without the
        copies of arrays; None before. On the simulator it is the time of the
        simulation, which says nothing of a GPU's."""
        return self._report.host_seconds

    def __repr__(self) -> str:
        taken = ", ".join(
            a["name"] for a in self.arguments if a["kind"] in ("input", "scalar")
        )
        return f"<kernel {self.name}({taken}) for {self._module.target}>"

    def __call__(
        self,
        values: Mapping | None = None,
        /,
        *,
        device: str | Device = "auto",
        zones: int | None = None,
        threads: int = 1,
        **named,
    ):
        """Run the kernel over all zones, or over its grid, and wait for it; on tensors
        of a GPU start it there on torch's current stream, and do not wait.

        Args:
            values: arguments that cannot be given by name, as a mapping.
            device: "auto", "hip", "sim", or a `Device`; for tensors of a GPU it is
                theirs.
            zones: the number of zones, for a kernel without an input that has
                them.
            threads: host threads of the simulator.
            **named: an array for every input, a number for every scalar. Arrays
                have the type and the shape of the kernel's description; one that
                is not in C order is copied. A size that has a name may be given
                as a number; it has to be where no input has it.

        Returns:
            The output, or a tuple if there are several: arrays of NumPy, or tensors of
            torch where an argument is one, on its device. There is no report of a
            run on tensors of a GPU.

        Raises:
            ValueError: an argument is missing, unknown, or of the wrong type or
                shape; there are no zones.
            NoDeviceError, DeviceError: the run failed.
        """
        if values:
            given = dict(values)
            for name, value in named.items():
                if name in given:
                    raise ValueError(f"argument '{name}' is given twice")
                given[name] = value
        else:
            given = named
        sizes: dict[str, int] = {}
        if zones is not None:
            if _whole("zones", zones) <= 0:
                raise ValueError(f"number of zones must be positive, got {zones}")
            sizes["zones"] = zones
        tensors = tensors_among(given.values())
        if any(map(is_on_gpu, tensors)):
            return self._start(given, sizes, device)

        arrays = []
        for name, value in given.items():
            layout = self._layout(name)
            if layout.kind == "input":
                array = _convert_array(name, value)
                if array.ndim == len(layout.shape or ()):
                    for i, size in layout.named:
                        sizes.setdefault(size, array.shape[i])
            else:
                array = _convert_scalar(layout, value)
                if layout.kind == "dimension":
                    sizes[name] = operator.index(value)
            arrays.append((name, *plain_integers(array), False))

        results = []
        for layout in self._gives:
            shape = [sizes.get(n) if isinstance(n, str) else n for n in layout.shape]
            # Where a size is missing the library says what is wrong.
            if None not in shape:
                array = np.empty(shape, layout.dtype)
                results.append(array)
                arrays.append((layout.name, *plain_integers(array), True))
        self._execute(arrays, device, threads, zones or 0)
        if tensors:
            results = [to_torch(array) for array in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _execute(self, arrays: list[tuple], device: str | Device, threads: int, zones: int):
        """Run on buffers (name, array, kind of integers, whether it is a result)."""
        module = self._module
        if isinstance(device, str):
            device = _open_device(device, module.target, threads)
        elif not isinstance(device, Device):
            raise _no_device(device)
        self._report = module._report = _Report(
            _wavesmith.run(device._handle, module._handle.code, self.name, arrays, zones)
        )

    def _layout(self, name: str) -> _Layout:
        layout = self._takes.get(name)
        if layout is None:
            raise ValueError(
                f"kernel '{self.name}' has no input or scalar '{name}'; it has "
                + (", ".join(self._takes) or "none")
            )
        return layout

    def _start(self, given: Mapping, sizes: dict[str, int], device: str | Device):
        """`__call__` on tensors of a GPU."""
        import torch

        first, model = next((n, v) for n, v in given.items() if is_on_gpu(v))
        place = model.device
        if not isinstance(device, (str, Device)):
            raise _no_device(device)
        kind = device if isinstance(device, str) else device.kind
        number = None if isinstance(device, str) else device.number
        if kind == "sim" or number not in (None, place.index):
            raise ValueError(
                f"'{first}' is on the device '{place}', the kernel is to run on "
                + (f"the GPU {number}" if number is not None else "the simulator")
                + f": {first}.cpu() is in host memory"
            )
        if isinstance(device, str):
            device = _open_device("hip", self._module.target, 1, place.index)

        arrays, scalars, kept = [], [], []
        for name, value in given.items():
            layout = self._layout(name)
            if layout.kind != "input":
                scalars.append((name, *plain_integers(_convert_scalar(layout, value))))
                if layout.kind == "dimension":
                    sizes[name] = operator.index(value)
                continue
            if not is_on_gpu(value) or value.device != place:
                where = f"on the device '{value.device}'" if is_tensor(value) else "in host memory"
                raise ValueError(
                    f"'{name}' is {where}, '{first}' on the device '{place}': arrays of one "
                    f"call have to be in one place, as {name}.to({first}.device) is"
                )
            array = OnGPU(name, value)
            tensor = array.tensor.detach().contiguous()
            kept.append(tensor)
            arrays.append((name, tensor.data_ptr(), array.shape, array.kind))
            if array.ndim == len(layout.shape or ()):
                for i, size in layout.named:
                    sizes.setdefault(size, array.shape[i])
        padded = dict(sizes)
        if "zones" in sizes:
            padded["zones"] += -sizes["zones"] % self._zones_per_workgroup
        results = []
        for layout in self._layouts:
            if layout.kind not in ("output", "workspace") or layout.shape is None:
                continue
            known = sizes if layout.kind == "output" else padded
            shape = [known.get(n) if isinstance(n, str) else n for n in layout.shape]
            if None not in shape:
                tensor = empty_on_gpu(shape, layout.type, place)
                # Of what is given back torch does not reuse the memory before later
                # work on this stream.
                (results if layout.kind == "output" else kept).append(tensor)
                arrays.append((layout.name, tensor.data_ptr(), shape, layout.type))
        self._report = self._module._report = _Report()
        with torch.cuda.device(place):
            _wavesmith.launch(
                device._handle, self._module._handle.code, self.name, arrays, scalars,
                sizes.get("zones", 0), torch.cuda.current_stream(place).cuda_stream,
            )  # fmt: skip
        return results[0] if len(results) == 1 else tuple(results)

    def _find_zones(self, given: Mapping) -> int | None:
        """The number of zones that inputs have; None if none has one."""
        for layout in self._takes.values():
            shape = np.shape(given.get(layout.name))
            if layout.kind == "input" and len(shape) == len(layout.shape or ()):
                for i, size in layout.named:
                    if size == "zones":
                        return shape[i]
        return None


class Launch:
    """A call of a kernel on the host's arrays, but for the arrays: made of one call's
    arguments, it serves those with arrays of the same types and shapes. The library
    checks each call as it does any other."""

    def __init__(self, kernel: Kernel, given: Mapping[str, np.ndarray | int], kept: Any = None):
        self._kernel = kernel
        #: What the owner wants to find again.
        self.kept = kept
        sizes: dict[str, int] = {}
        #: Name, shape, type of the buffer where it is not the array's own, its kind.
        self._inputs: list[tuple] = []
        self._scalars: list[tuple] = []
        for name, value in given.items():
            layout = kernel._layout(name)
            if layout.kind == "input":
                plain, kind = plain_integers(_convert_array(name, value))
                self._inputs.append((name, value.shape, plain.dtype if kind else None, kind))
                for i, size in layout.named:
                    sizes.setdefault(size, value.shape[i])
            else:
                self._scalars.append(
                    (name, *plain_integers(_convert_scalar(layout, value)), False)
                )
                if layout.kind == "dimension":
                    sizes[name] = value
        #: Name, shape, type, and the buffer's type and kind as above.
        self._outputs: list[tuple] = []
        for layout in kernel._gives:
            shape = tuple(sizes[n] if isinstance(n, str) else n for n in layout.shape)
            plain, kind = plain_integers(np.empty(0, layout.dtype))
            self._outputs.append(
                (layout.name, shape, layout.dtype, plain.dtype if kind else None, kind)
            )

    def __call__(self, given: Iterable[np.ndarray], device: str | Device, threads: int):
        """Run the kernel on the arrays, in the order of the mapping, and return what
        `Kernel.__call__` does."""
        arrays = []
        for (name, shape, plain, kind), array in zip(self._inputs, given):
            if array.shape != shape:
                array = array.reshape(shape)
            array = np.asarray(array, order="C")
            arrays.append((name, array.view(plain) if plain else array, kind, False))
        arrays += self._scalars
        results = []
        for name, shape, dtype, plain, kind in self._outputs:
            array = np.empty(shape, dtype)
            results.append(array)
            arrays.append((name, array.view(plain) if plain else array, kind, True))
        self._kernel._execute(arrays, device, threads, 0)
        return results[0] if len(results) == 1 else tuple(results)


def _convert_scalar(layout: _Layout, value) -> np.ndarray:
    try:
        if type(value) is not float and np.shape(value) != ():
            raise TypeError
        number = operator.index(value) if layout.is_integer else float(value)
        return np.array(number, layout.dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"scalar '{layout.name}': expected a number of type {layout.type}, "
            f"got {value!r:.60}"
        ) from None


def _convert_array(name: str, value) -> np.ndarray:
    array = to_numpy(name, value)
    if kind_of(array.dtype) is None:
        raise ValueError(
            f"input '{name}': expected an array of float64, float32, float16, bfloat16, "
            "float8_e4m3fnuz, int64 or int32, "
            f"got one of {array.dtype.str if array.dtype.kind in 'fi' else array.dtype}"
        )
    # Unlike np.ascontiguousarray this keeps an array without dimensions so.
    return np.asarray(array, order="C")


class _Code:
    """A code object of the library."""

    def __init__(self, code):
        self.code = code
        self.description: str = code.description

    @property
    def bytes(self) -> bytes:
        return self.code.bytes


class _CachedCode:
    """A code object of the cache, which the library has not seen yet."""

    def __init__(self, data: bytes, description: str):
        self.bytes, self.description = data, description

    @functools.cached_property
    def code(self):
        return _wavesmith.load(self.bytes, self.description)


class Stages(Mapping):
    """The stages of a compilation, by name: "source" (the MLIR text that was
    given), "mlir" (the rocdl dialect), "llvm" (LLVM IR as it goes into the back
    end), "amdgcn" (assembly) and "hsaco" (the code object, as bytes). All but the
    first and the last are made when they are asked for."""

    _NUMBERS = {"mlir": 0, "llvm": 1, "amdgcn": 2}

    def __init__(self, handle, request: _Request | None):
        self._handle = handle
        self._request = request

    def __getitem__(self, name: str):
        if name not in ("source", *self._NUMBERS, "hsaco"):
            raise KeyError(f"there is no stage {name!r}; there are source, mlir, llvm, "
                           "amdgcn and hsaco")  # fmt: skip
        if name == "hsaco":
            return self._handle.bytes
        request = self._request
        if request is None:
            raise ValueError(
                f"a code object that was loaded has no stage {name!r}: expected a "
                "compiled one"
            )
        if name == "source":
            return request.text
        kept = cache.get(request.key, name)
        if kept is not None:
            return kept[0].decode()
        if not self._handle.code.has_text:
            self._handle = _Code(request.compile())
        text = self._handle.code.stage(self._NUMBERS[name])
        cache.put(request.key, name, [text.encode()])
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(["source", *self._NUMBERS, "hsaco"] if self._request else ["hsaco"])

    def __len__(self) -> int:
        return len(list(iter(self)))


class CompiledModule(Mapping):
    """A code object and its kernels, by name: `module["rhs"]`. One with a single
    kernel can be called as the kernel itself."""

    def __init__(self, handle, request: _Request | None = None):
        self._handle = handle
        #: The stages, by name: see `Stages`.
        self.asm = Stages(handle, request)
        #: What the kernels' arguments mean, and what the compiler knows of them
        #: (docs/devices.md).
        self.metadata: dict = json.loads(handle.description)
        #: The architecture, "gfx90a" or "gfx942".
        self.target: str = self.metadata["target"]
        self._report = _Report()
        self._kernels = {
            d["name"]: Kernel(self, d) for d in self.metadata["kernels"]
        }

    def __reduce__(self):
        # What another process cannot have is the library's own object.
        kept = _CachedCode(self.asm["hsaco"], self._handle.description)
        return CompiledModule, (kept, self.asm._request)

    @property
    def report(self) -> dict | None:
        """The report of the last run of any kernel, None before."""
        return self._report.parsed

    def save(self, path: str | os.PathLike) -> None:
        """Write the code object to `path` and its description beside it, with
        the ending .json, as wavesmith-compile does."""
        path = Path(path)
        if path.suffix == ".json":
            raise ValueError(
                f"expected a name for the code object that does not end in .json, got {path}"
            )
        path.write_bytes(self.asm["hsaco"])
        path.with_suffix(".json").write_text(self._handle.description + "\n")

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            raise KeyError(f"there is no kernel {name!r}; there are {', '.join(self) or 'none'}")
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return f"<compiled module for {self.target}: {', '.join(self) or 'no kernel'}>"

    def __call__(self, values: Mapping | None = None, /, **named):
        """Run the only kernel: see `Kernel.__call__`."""
        if len(self) != 1:
            raise ValueError(
                f"expected one kernel to call, got {len(self)} ({', '.join(self)}); "
                'choose one by its name, as in module["rhs"](...)'
            )
        (kernel,) = self._kernels.values()
        return kernel(values, **named)


class _Request:
    """A text with the options that it is compiled with, all checked."""

    def __init__(self, text: str, name: str, options: tuple):
        self.text, self.name, self.options = text, name, options
        self.key = cache.key_of(["code", version(), _library(), text, name, *options])

    def compile(self):
        return _wavesmith.compile(self.text, self.name, *self.options)


@functools.lru_cache(maxsize=1)
def _library() -> list:
    """What tells this build of the library from others of its version."""
    try:
        maps = Path("/proc/self/maps").read_text().splitlines()
        files = {line.split(maxsplit=5)[5] for line in maps if "libwavesmith" in line}
    except (OSError, IndexError):
        files = set()
    states = [os.stat(file) for file in sorted(files or {_wavesmith.__file__})]
    return [[state.st_size, state.st_mtime_ns] for state in states]


def compile(
    system,
    target: str = "gfx942",
    *,
    chip: str | None = None,
    form: str = "auto",
    workgroup_size: int = 0,
    threads_per_zone: int = 0,
    straight_line_limit: int = 200,
    code_object_version: int = 5,
    optimization_level: int = 3,
    source_name: str | None = None,
) -> CompiledModule:
    """Compile a system to a code object, or take it from the cache.

    The cache is in `WAVESMITH_CACHE_DIR` (`wavesmith.cache`). Where
    `WAVESMITH_DUMP_IR` names a folder, every stage is written there, one file
    each; with `WAVESMITH_DUMP_KERNEL` only those of the kernel of this name.

    Args:
        system: MLIR text, a `pathlib.Path` of a file with it, a `System`, a
            function that `ode_system` can read, or an object with a method
            `to_mlir()` that gives the text.
        target: "gfx90a" or "gfx942".
        chip: by default the architecture's first.
        form: "straight_line" or "table" code; "auto" chooses.
        workgroup_size: threads of a workgroup; 0 chooses.
        threads_per_zone: threads that integrate one zone; 0 takes the whole
            workgroup.
        straight_line_limit: the most calls of exp, log and the like in unrolled
            code.
        code_object_version: 4 or 5.
        optimization_level: of the back end, 0 to 3.
        source_name: what diagnostics call the text.

    Raises:
        CompileError: the text does not compile; the message holds the
            diagnostics with their lines and columns, those of a system in Python
            the place there. It is a ValueError.
        ValueError: an option is not one of these.
    """
    name = source_name
    if isinstance(system, types.FunctionType):
        from wavesmith.system import ode_system

        system = ode_system(system)
    if hasattr(system, "to_mlir"):
        text = system.to_mlir()
        name = name or getattr(system, "source_name", f"<{type(system).__name__}>")
    elif isinstance(system, Path):
        text = system.read_text()
        name = name or str(system)
    else:
        text = system
    if not isinstance(text, str):
        raise TypeError(
            "expected MLIR text, a pathlib.Path, a system or an object with to_mlir(), "
            f"got {type(system).__name__}"
        )
    _check_source(text)
    name = name or "<text>"
    _check_text(target=target, chip=chip or "", form=form, source_name=name)
    numbers = {}
    for option, value in (
        ("workgroup_size", workgroup_size),
        ("straight_line_limit", straight_line_limit),
        ("code_object_version", code_object_version),
        ("optimization_level", optimization_level),
        ("threads_per_zone", threads_per_zone),
    ):
        numbers[option] = _whole(option, value)
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"{option}: {value} is out of range")
    options = (target, chip or "", form, *numbers.values())
    request = _Request(text, name, options)
    module = _take_from_cache(request)
    if module is None:
        try:
            handle = request.compile()
        except _wavesmith.CompileError as error:
            explain = getattr(system, "explain", CompileError)
            raise explain(str(error)) from None
        cache.put(request.key, "code", [handle.description.encode(), handle.bytes])
        module = CompiledModule(_Code(handle), request)
    _dump(module, request)
    return module


def _check_source(text: str) -> None:
    """What is no MLIR text at first sight."""
    if "\n" not in text and re.fullmatch(r"\S+\.(mlir|ya?ml|json|py)|/\S*", text.strip()):
        ending = text.strip().rpartition(".")[2]
        remedy = f"pathlib.Path({text!r})" if ending == "mlir" else f"ws.load_mechanism({text!r})"
        raise ValueError(f"expected MLIR text, got the name of a file, {text!r}; give {remedy}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the text cannot be encoded: {error}") from None


def _take_from_cache(request: _Request) -> CompiledModule | None:
    kept = cache.get(request.key, "code")
    if kept is None or len(kept) != 2:
        return None
    # The library reads and decodes it when it is first run.
    return CompiledModule(_CachedCode(kept[1], kept[0].decode()), request)


#: The file endings of the stages in dumps.
_ENDINGS = {
    "source": "source.mlir",
    "mlir": "rocdl.mlir",
    "llvm": "ll",
    "amdgcn": "s",
    "hsaco": "hsaco",
}


def _dump(module: CompiledModule, request: _Request) -> None:
    folder = os.environ.get("WAVESMITH_DUMP_IR")
    if not folder:
        return
    chosen = os.environ.get("WAVESMITH_DUMP_KERNEL")
    for kernel in module:
        if chosen and kernel != chosen:
            continue
        stem = f"{kernel}-{module.target}-{request.key[:8]}"
        for stage, ending in _ENDINGS.items():
            data = module.asm[stage]
            data = data if isinstance(data, bytes) else data.encode()
            cache.write_file(Path(folder) / f"{stem}.{ending}", data)
        text = json.dumps(module.metadata, indent=2) + "\n"
        cache.write_file(Path(folder) / f"{stem}.json", text.encode())


def load(
    path: str | os.PathLike, description: str | os.PathLike | None = None
) -> CompiledModule:
    """Take up a code object file and its description, by default the file beside
    it with the ending .json. Such a module has no stages.

    Raises:
        OSError: a file cannot be read.
        ValueError: they are no code object and description, or do not fit each other.
    """
    path = Path(path)
    beside = Path(description) if description else path.with_suffix(".json")
    code, text = path.read_bytes(), beside.read_text()
    try:
        return CompiledModule(_Code(_wavesmith.load(code, text)))
    except ValueError as error:
        raise ValueError(f"cannot load {path} with {beside}: {error}") from None
