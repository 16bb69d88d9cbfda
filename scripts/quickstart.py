# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job of ./quickstart: GRI-Mech 3.0 from Cantera's file to checked code
objects.

Imports the mechanism, compiles its right-hand side for each target, runs the code
objects over zones of varied temperature, pressure and composition, and compares
every species in every zone with Cantera's net production rates. Prints a table
and writes the same as build/quickstart/<target>.json. Exit status 0 if the
largest relative error of every target is within the bound, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
#: The largest error of a rate relative to the sum of its terms' absolute values.
BOUND = 1e-12


class JobError(Exception):
    """A step failed; the message is for the user."""


def run(command: list[str | os.PathLike]) -> float:
    """Run a tool; the seconds that it took, or its own message as a JobError."""
    begin = time.perf_counter()
    try:
        result = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
    except OSError as error:
        raise JobError(f"cannot run {command[0]}: {error.strerror}") from error
    if result.returncode:
        message = result.stderr.strip() or "no message"
        raise JobError(
            f"{Path(command[0]).name} ended with status {result.returncode}: {message}"
        )
    return time.perf_counter() - begin


def write_json(path: Path, value: dict) -> None:
    """Write the whole file or none of it."""
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=path.name, suffix=".tmp", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            json.dump(value, file, indent=2, allow_nan=False)
            file.write("\n")
            file.flush()
            temporary.chmod(0o644)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def relative_errors(got: np.ndarray, wanted: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """|got - wanted| / scale; 0 where they are equal, infinite where the scale is
    zero or a number is not finite."""
    if got.shape != wanted.shape:
        raise JobError(f"got results of shape {got.shape}, expected {wanted.shape}")
    with np.errstate(all="ignore"):
        errors = np.abs(got - wanted) / scale
    errors[got == wanted] = 0.0
    errors[~np.isfinite(errors) | ~np.isfinite(got) | ~np.isfinite(wanted)] = np.inf
    return errors


def instruction_shares(isa: str) -> dict[str, float]:
    """Shares of the program's instructions, as they stand in the assembly text:
    accesses to scratch memory, and moves between VGPRs and AGPRs."""
    mnemonics = re.findall(r"^\s+([a-z]+_[a-z0-9_]+)(?=\s|$)", isa, re.MULTILINE)
    total = len(mnemonics)
    if not total:
        raise JobError("found no instructions in the assembly text")
    # Scratch is reached by scratch_* on gfx942 and by buffer_load_* and
    # buffer_store_* on gfx90a; these kernels reach all else by global_*.
    scratch = sum(
        name.startswith(("scratch_", "buffer_load_", "buffer_store_"))
        for name in mnemonics
    )
    moves = sum(name.startswith("v_accvgpr_") for name in mnemonics)
    return {"scratch": scratch / total, "agpr_moves": moves / total, "total": total}


def job(target: str, options, folder: Path, zones: dict) -> dict:
    """Compile, run and compare for one target: what goes into its JSON file."""
    tools = options.build / "bin"
    code_object = folder / f"{target}.hsaco"
    compile_command = [
        tools / "wavesmith-compile", folder / "gri30.mlir", f"--target={target}",
        f"--form={options.form}",
    ]
    compile_seconds = run([*compile_command, "-o", code_object])
    description = code_object.with_suffix(".json")
    report_path, result_path = folder / "report.json", folder / "dydt.npy"
    run_seconds = run([
        tools / "wavesmith-run", code_object, f"--description={description}",
        "--scalar=t=0", f"--input=y={folder / 'y.npy'}",
        f"--input=parameters={folder / 'parameters.npy'}",
        f"--output=dydt={result_path}", f"--device={options.device}",
        f"--threads={os.cpu_count() or 1}", f"--report={report_path}",
    ])
    report = json.loads(report_path.read_text())
    errors = relative_errors(np.load(result_path), zones["net"], zones["scale"])
    species, zone = np.unravel_index(np.argmax(errors), errors.shape)
    resources, counters = report["resources"], report.get("counters")
    largest = float(errors.max())
    result = {
        "target": target,
        "mechanism": "gri30.yaml (GRI-Mech 3.0) of Cantera " + zones["cantera"],
        "zones": int(errors.shape[1]),
        "species": int(errors.shape[0]),
        # JSON has no infinity; what is not finite is no error but a failure.
        "max_relative_error": largest if np.isfinite(largest) else None,
        "max_relative_error_at": {
            "species": zones["species"][species], "zone": int(zone),
            "temperature_K": float(zones["T"][0, zone]),
        },
        "bound": BOUND,
        "passed": largest <= BOUND,
        "registers": {
            name: resources[name]
            for name in ("vgprs", "agprs", "unified_vgprs", "sgprs")
            if name in resources
        },
        "spills": resources["vgpr_spills"] + resources["sgpr_spills"],
        "vgpr_spills": resources["vgpr_spills"],
        "sgpr_spills": resources["sgpr_spills"],
        "scratch_bytes": resources["scratch_bytes"],
        "occupancy": report["occupancy"]["waves_per_simd"],
        "occupancy_unit": "waves per SIMD",
        "occupancy_limit": report["occupancy"]["limit"],
        "instructions_per_zone": None,
        "instructions_per_wavefront": None,
        "device": "simulator" if report["device"]["kind"] == "simulator" else "GPU",
        "device_name": report["device"]["name"],
        "device_note": report["device"].get("note"),
        "compile_seconds": round(compile_seconds, 3),
        "run_seconds_of_the_host": round(run_seconds, 3),
        "code_object": str(code_object),
        "code_object_bytes": code_object.stat().st_size,
        "schedule": report.get("schedule"),
        "counters": counters,
    }
    if counters and counters["SQ_WAVES"]:
        result["instructions_per_zone"] = report["instructions_per_zone"]
        result["instructions_per_wavefront"] = (
            counters["instructions"] / counters["SQ_WAVES"]
        )
    if result["spills"] or result["scratch_bytes"]:
        isa = folder / f"{target}.s"
        run([*compile_command, "--emit=isa", "-o", isa])
        shares = instruction_shares(isa.read_text())
        cost = {
            "reason": "registers are spilled" if result["spills"] else
            "intermediate values are kept in arrays of each thread",
            "scratch_bytes_per_zone": result["scratch_bytes"],
            "share_of_static_instructions": shares["scratch"],
            "share_of_static_instructions_that_move_to_agprs": shares["agpr_moves"],
        }
        if counters:
            for name in ("read", "written"):
                cost[f"scratch_bytes_{name}_per_zone"] = (
                    counters[f"scratch_bytes_{name}"] / result["zones"]
                )
            cost["share_of_memory_traffic"] = _share_of_scratch(counters)
        result["spill_cost"] = cost
    return result


def _share_of_scratch(counters: dict) -> float:
    scratch = counters["scratch_bytes_read"] + counters["scratch_bytes_written"]
    both = scratch + counters["global_bytes_read"] + counters["global_bytes_written"]
    return scratch / both if both else 0.0


def table(results: list[dict]) -> str:
    """The results as text, one column a target."""

    def number(value, form="{:,.0f}"):
        return "-" if value is None else form.format(value)

    rows = [("", [r["target"] for r in results])]

    def row(name, value):
        rows.append((name, [value(r) for r in results]))

    row("zones", lambda r: number(r["zones"]))
    row("largest relative error", lambda r: "not finite"
        if r["max_relative_error"] is None else f"{r['max_relative_error']:.2e}")
    row("  bound", lambda r: f"{r['bound']:.0e} ({'met' if r['passed'] else 'MISSED'})")
    row("VGPRs, AGPRs, SGPRs", lambda r: "{vgprs}, {agprs}, {sgprs}".format(**r["registers"]))
    row("spills (VGPRs, SGPRs)", lambda r: f"{r['vgpr_spills']}, {r['sgpr_spills']}")
    row("scratch bytes a zone", lambda r: number(r["scratch_bytes"]))
    if any("spill_cost" in r for r in results):
        def cost(r, key, form):
            return number(r.get("spill_cost", {}).get(key), form)

        row("  read, written", lambda r: cost(r, "scratch_bytes_read_per_zone", "{:,.0f}")
            + ", " + cost(r, "scratch_bytes_written_per_zone", "{:,.0f}"))
        row("  share of memory traffic", lambda r: cost(r, "share_of_memory_traffic", "{:.1%}"))
        row("  share of instructions",
            lambda r: cost(r, "share_of_static_instructions", "{:.1%}"))
    row("occupancy, waves a SIMD", lambda r: f"{r['occupancy']} ({r['occupancy_limit']})")
    row("instructions a zone", lambda r: number(r["instructions_per_zone"], "{:,.1f}"))
    row("instructions a wavefront", lambda r: number(r["instructions_per_wavefront"]))
    row("compile time, s", lambda r: f"{r['compile_seconds']:.2f}")
    row("device", lambda r: r["device"] if r["device"] == "simulator"
        else f"GPU {r['device_name']}")
    width = max(len(cell) for _, cells in rows for cell in cells)
    left = max(len(name) for name, _ in rows)
    return "\n".join(
        name.ljust(left) + "".join("  " + cell.rjust(width) for cell in cells)
        for name, cells in rows
    )


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--targets", default="gfx90a,gfx942", help="separated by commas")
    parser.add_argument("--zones", type=int, default=4096)
    parser.add_argument("--form", default="auto", help="auto, straight_line or table")
    parser.add_argument("--device", default="auto", help="auto, hip or sim")
    options = parser.parse_args(arguments)
    if options.zones < 1:
        parser.error(f"got --zones={options.zones}, expected at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    # Cantera says of a few species that their polynomials do not meet.
    warnings.filterwarnings("ignore", category=UserWarning)
    import cantera

    from wavesmith.importers import from_cantera
    from wavesmith.importers.mlir_text import write_atomically
    from wavesmith.importers.zones import cantera_net_production_rates, sample_zones

    output = options.build / "quickstart"
    output.mkdir(parents=True, exist_ok=True)
    targets = options.targets.split(",")
    results = []
    try:
        # No result of an earlier run may pass for one of this run.
        for target in targets:
            (output / f"{target}.json").unlink(missing_ok=True)
        work = output / "work"
        work.mkdir(exist_ok=True)
        solution = cantera.Solution("gri30.yaml")
        write_atomically(str(work / "gri30.mlir"), from_cantera(solution))
        y, T = sample_zones(solution, options.zones)
        reference = cantera_net_production_rates(solution, y, T)
        np.save(work / "y.npy", y)
        np.save(work / "parameters.npy", T)
        zones = {
            "net": reference.net, "scale": reference.scale, "T": T,
            "species": solution.species_names, "cantera": cantera.__version__,
        }
        print(
            f"GRI-Mech 3.0: {solution.n_species} species, {solution.n_reactions} "
            f"reactions; {T.min():.0f} to {T.max():.0f} K, 0.01 to 100 atm; "
            "compared with Cantera's net_production_rates"
        )
        for target in targets:
            results.append(job(target, options, work, zones))
            write_json(output / f"{target}.json", results[-1])
    except (JobError, OSError) as error:
        if results:
            print(table(results))
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(table(results))
    for result in results:
        if "spill_cost" in result:
            print(f"note: {result['target']} uses scratch memory: "
                  f"{result['spill_cost']['reason']}")
    for note in dict.fromkeys(r["device_note"] for r in results if r["device_note"]):
        print(f"note: {note}")
    print("written: " + ", ".join(str(output / f"{t}.json") for t in targets))
    return 0 if all(r["passed"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
