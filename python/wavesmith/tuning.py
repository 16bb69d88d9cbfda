# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choose among schedules by their times."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from wavesmith import cache
from wavesmith.arrays import dtype_of
from wavesmith.errors import CompileError
from wavesmith.kernel import (
    CompiledModule,
    Device,
    DeviceError,
    Kernel,
    _library,
    compile,
    version,
)

#: What `autotune` tries where nothing is said.
CANDIDATES: tuple[dict, ...] = tuple(
    {"form": form, "workgroup_size": size}
    for form in ("straight_line", "table")
    for size in (64, 128, 256)
)


@dataclass(frozen=True)
class Trial:
    """One candidate.

    Attributes:
        options: of `wavesmith.compile`.
        milliseconds: None where it does not compile or run.
        kind: "modelled" (by the simulator's model of time, no GPU), "measured" (on a
            GPU, by the device) or "do_bench" (by the caller's function).
        error: why there is no time.
    """

    options: dict
    milliseconds: float | None
    kind: str
    error: str | None = None


@dataclass(frozen=True)
class Tuning:
    """The result of `autotune`.

    Attributes:
        module: the best candidate, compiled.
        best: its trial.
        trials: all, in the order of the candidates.
        pruned: candidates that `perf_model` left out.
        measured: how many times were taken now, and not from the store.
    """

    module: CompiledModule
    best: Trial
    trials: list[Trial]
    pruned: list[dict]
    measured: int

    def __str__(self) -> str:
        rows = []
        for trial in sorted(self.trials, key=_rank):
            options = ", ".join(f"{name}={value}" for name, value in trial.options.items())
            time = (
                f"{trial.milliseconds:12.6f} ms ({trial.kind})"
                if trial.milliseconds is not None
                else f"{'-':>12} ({trial.error.splitlines()[0]})"
            )
            rows.append(f"{time}  {options}")
        return "\n".join(rows)


def _rank(trial: Trial) -> float:
    return trial.milliseconds if trial.milliseconds is not None else float("inf")


@dataclass(frozen=True)
class _Job:
    """What an executor's worker needs; it can be pickled."""

    text: str
    source_name: str
    target: str
    options: dict
    kernel: str | None
    inputs: dict
    device: str
    do_bench: Callable | None

    def run(self) -> Trial:
        kind = "do_bench" if self.do_bench else "modelled"
        try:
            module = compile(
                self.text, self.target, source_name=self.source_name, **self.options
            )
            kernel = _only(module, self.kernel)
            if self.do_bench:
                run = _Run(kernel, self.inputs, self.device)
                return Trial(self.options, float(self.do_bench(run)), kind)
            return Trial(self.options, *_device_time(module, kernel, self.inputs, self.device))
        except (CompileError, ValueError, DeviceError) as error:
            return Trial(self.options, None, kind, str(error))


def _run_job(job: _Job) -> Trial:
    return job.run()


class _Run:
    """One launch, for `do_bench`."""

    def __init__(self, kernel: Kernel, inputs: Mapping, device: str):
        self.kernel, self._inputs, self._device = kernel, inputs, device

    def __call__(self):
        return self.kernel(self._inputs, device=self._device)


def _only(module: CompiledModule, name: str | None) -> Kernel:
    if name is None and len(module) != 1:
        raise ValueError(f"expected kernel=, one of {', '.join(module)}")
    name = name if name is not None else next(iter(module))
    if name not in module:
        raise ValueError(f"there is no kernel '{name}', only {', '.join(module)}")
    return module[name]


def _device_time(module, kernel, inputs, device: str) -> tuple[float, str]:
    """Milliseconds, and whether they are measured or modelled."""
    if device != "sim":
        kernel(inputs, device=device)
        seconds = (kernel.report or {}).get("time", {}).get("seconds")
        if seconds is not None:
            return seconds * 1e3, "measured"
    return modelled_time(module, inputs, kernel=kernel.name) * 1e3, "modelled"


def modelled_time(
    module: CompiledModule, inputs: Mapping, *, kernel: str | None = None
) -> float:
    """The time in seconds that a launch takes by the simulator's model (docs/timing.md):
    no GPU gives it.

    Args:
        module: a compiled module.
        inputs: scalars and inputs of the kernel by name, as for a call of it.
        kernel: its name, where there are several.
    """
    from wavesmith import simulator

    chosen = _only(module, kernel)
    description = next(d for d in module.metadata["kernels"] if d["name"] == chosen.name)
    zones = chosen._find_zones(inputs)
    if not zones:
        raise ValueError("a launch is modelled for inputs that have zones")
    for name in inputs:
        if name not in {a["name"] for a in chosen.arguments if a["kind"] in ("input", "scalar")}:
            raise ValueError(f"kernel '{chosen.name}' has no input or scalar '{name}'")
    per_workgroup = description.get("zones_per_workgroup") or description["workgroup_size"][0]
    workgroups = -(-zones // per_workgroup)
    arguments: list = []
    for argument in chosen.arguments:
        kind, dtype = argument["kind"], dtype_of(argument["type"])
        if kind in ("input", "scalar") and argument["name"] not in inputs:
            raise ValueError(f"kernel '{chosen.name}' needs '{argument['name']}'")
        if kind == "scalar":
            arguments.append(dtype.type(inputs[argument["name"]]))
        elif kind == "input":
            arguments.append(np.ascontiguousarray(inputs[argument["name"]], dtype))
        elif kind == "zones":
            arguments.append(dtype.type(zones))
        else:
            count = zones if kind == "output" else workgroups * per_workgroup
            shape = [count if n == "zones" else n for n in argument["shape"]]
            arguments.append(np.zeros(shape, dtype))
    report = simulator.launch(
        module.asm["hsaco"], chosen.name, grid=workgroups,
        block=description["workgroup_size"], args=arguments,
        model_time=module.metadata.get("chip") or True,
    )  # fmt: skip
    return report.modelled_time["seconds"]


def autotune(
    system,
    inputs: Mapping,
    candidates: Sequence[Mapping] = CANDIDATES,
    *,
    target: str = "gfx942",
    kernel: str | None = None,
    device: str = "auto",
    do_bench: Callable[[Callable[[], object]], float] | None = None,
    perf_model: Callable[[CompiledModule, dict], float] | None = None,
    top_k: int | None = None,
    executor: Executor | None = None,
    store: str | os.PathLike | None = None,
) -> Tuning:
    """Compile candidates, take the time of each, and choose the fastest. The choice
    never changes a bit of the results.

    Args:
        system: a `System` (its right-hand side), MLIR text, or what has `to_mlir()`:
            `system.text("integrate", ...)` for integrations.
        inputs: scalars and inputs of the kernel by name, as `System.inputs` gives
            them. The times are for these.
        candidates: options of `wavesmith.compile`.
        target: "gfx90a" or "gfx942".
        kernel: which one to run, where there are several.
        device: "auto", "hip" or "sim". On a GPU the device measures; on the simulator
            the time is modelled, and labelled so.
        do_bench: takes a function that launches the kernel once and waits; returns
            milliseconds. `testing.do_bench` is one.
        perf_model: takes a compiled candidate and its options; returns a number that
            is lower for a faster one. Then only the `top_k` lowest are run.
        top_k: by default a quarter of the candidates.
        executor: of concurrent.futures, to run candidates in its workers; with
            processes `do_bench` has to be one that can be pickled.
        store: a JSON file that keeps times. Candidates that it has for this text,
            target, inputs, kind of time and build are not run again; others are
            added.

    Raises:
        ValueError: no candidate compiles and runs; the message has the reason of each.
    """
    if not candidates:
        raise ValueError("expected at least one candidate")
    if isinstance(device, Device):
        raise ValueError('autotune takes a device by its name: "auto", "hip" or "sim"')
    text = system.to_mlir() if hasattr(system, "to_mlir") else system
    if not isinstance(text, str):
        raise TypeError(f"expected a system or MLIR text, got {type(system).__name__}")
    name = getattr(system, "source_name", "<text>")
    arrays = {n: np.asarray(v) for n, v in inputs.items()}
    listed = [dict(candidate) for candidate in candidates]

    pruned: list[dict] = []
    if perf_model:
        scores: list[tuple[float, int]] = []
        for i, options in enumerate(listed):
            try:
                module = compile(text, target, source_name=name, **options)
                scores.append((float(perf_model(module, options)), i))
            except CompileError:
                scores.append((float("inf"), i))
        count = top_k if top_k is not None else max(1, len(listed) // 4)
        kept = {i for _, i in sorted(scores)[:count]}
        pruned = [options for i, options in enumerate(listed) if i not in kept]
        listed = [options for i, options in enumerate(listed) if i in kept]
    elif top_k is not None:
        raise ValueError("top_k is for perf_model")

    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    bench = getattr(do_bench, "__qualname__", repr(do_bench)) if do_bench else device
    keys = [
        cache.key_of([text, target, kernel, digest.hexdigest(), bench, version(), _library(),
                      sorted((k, repr(v)) for k, v in options.items())])
        for options in listed
    ]  # fmt: skip
    known = _read(store)
    jobs = {
        key: _Job(text, name, target, options, kernel, arrays, device, do_bench)
        for key, options in zip(keys, listed)
        if key not in known
    }
    if executor:
        futures = {key: executor.submit(_run_job, job) for key, job in jobs.items()}
        done = {key: future.result() for key, future in futures.items()}
    else:
        done = {key: job.run() for key, job in jobs.items()}
    if done:
        _extend(store, done)
    trials = [
        done[key] if key in done else Trial(options, **{
            field: known[key][field] for field in ("milliseconds", "kind", "error")
        })
        for key, options in zip(keys, listed)
    ]  # fmt: skip
    best = min(trials, key=_rank)
    if best.milliseconds is None:
        reasons = "\n".join(f"{trial.options}: {trial.error}" for trial in trials)
        raise ValueError(f"no candidate compiles and runs:\n{reasons}")
    module = compile(text, target, source_name=name, **best.options)
    return Tuning(module, best, trials, pruned, len(done))


def _read(store) -> dict[str, dict]:
    """The trials of a store, by key."""
    if store is None:
        return {}
    try:
        content = json.loads(Path(store).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ValueError(f"{store} is no store of times: {error}") from None
    if not isinstance(content, dict) or content.get("wavesmith_times") != 1:
        raise ValueError(f"{store} is no store of times")
    return content["trials"]


def _extend(store, done: Mapping[str, Trial]) -> None:
    """Add trials to a store; those that others have added meanwhile stay."""
    if store is None:
        return
    import fcntl

    path = Path(store)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        trials = {**_read(store), **{key: asdict(trial) for key, trial in done.items()}}
        text = json.dumps({"wavesmith_times": 1, "trials": trials}, indent=1) + "\n"
        cache.write_file(path, text.encode())
