# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full set of combinations of attention's options, on the simulated device:

    PYTHONPATH=build/python build/venv/bin/python test/Numeric/attention_full --jobs=2

Every three values of the options of attention_matrix.FACTORS stand together in a row, and
so does every value with each of EDGES and MORE, which have every head dim. Each row runs on
both targets. The rules are those of ./check (attention_device.check_errors). One line for each row that
fails and, at the end, a table of the largest errors; exit status 1 if something failed."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numeric_support  # noqa: E402, F401  (sets the path of the package)
import attention_matrix as matrix  # noqa: E402
import attention_support as attention  # noqa: E402
from attention_device import check_errors, compile_case, launch, measure  # noqa: E402


def make_rows() -> list[dict]:
    """The rows, each with its target."""
    return [row | {"target": target}
            for row in matrix.make_full_rows() for target in matrix.targets_of(row)]


def run_row(number: int, row: dict) -> dict:
    """What became of one row."""
    result = {"number": number, "row": row}
    options = dict(row)
    target = options.pop("target")
    try:
        case = matrix.make_case(options)
        inputs = attention.make_inputs(case, seed=number)
        with tempfile.TemporaryDirectory() as folder:
            code_object = compile_case(Path(folder), case, inputs, target)
            o, lse = launch(code_object, case, inputs)
        errors = measure(case, inputs, target, o, lse)
        result["errors"] = vars(errors)
        check_errors(case, errors)
    except Exception as error:  # noqa: BLE001  (any failure is a result)
        result["failure"] = f"{type(error).__name__}: {error}"[:2000]
    return result


def parse_shard(text: str) -> tuple[int, int]:
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        index, count = 0, 0
    if not 0 <= index < count:
        raise argparse.ArgumentTypeError(f"expected I/N with 0 <= I < N, got {text}")
    return index, count


def summarise(results: list[dict]) -> str:
    """A line for each type and target: how many rows, and the largest of each error."""
    lines = [f"{'type':<12}{'target':<8}{'rows':>6}{'error/eager':>13}{'share':>8}{'lse':>8}"
             f"{'1 - cosine':>12}"]
    groups: dict = {}
    for result in results:
        if "errors" in result:
            row = result["row"]
            groups.setdefault((row["type"], row["target"]), []).append(result["errors"])
    for (name, target), errors in sorted(groups.items()):
        ratio = max((e["error"] / e["eager"] for e in errors if e["eager"]), default=0.0)
        lines.append(
            f"{name:<12}{target:<8}{len(errors):>6}{ratio:>13.3f}"
            f"{max(e['share'] for e in errors):>8.3f}{max(e['lse_share'] for e in errors):>8.3f}"
            f"{max(1 - e['cosine'] for e in errors):>12.2e}")
    return "\n".join(lines)


def write_results(path: Path, shard: str, results: list[dict]) -> None:
    """What became of the rows so far. A run that is cut off leaves the last whole file."""
    failed = sum("failure" in result for result in results)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(json.dumps(
        {"shard": shard, "passed": len(results) - failed, "failed": failed, "rows": results},
        indent=1) + "\n")
    unfinished.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(prog="attention_full", description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--shard", type=parse_shard, default=(0, 1), metavar="I/N",
                        help="run every Nth row from row I on")
    parser.add_argument("--json", type=Path,
                        help="write what became of each row, again after every 100 rows")
    parser.add_argument("--list", action="store_true", help="print the rows as JSON, run none")
    options = parser.parse_args()
    index, count = options.shard
    rows = list(enumerate(make_rows()))[index::count]
    if options.list:
        for _, row in rows:
            print(json.dumps(row))
        return 0
    begin, results = time.monotonic(), []
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(run_row, *zip(*rows)) if rows else ():
            results.append(result)
            if "failure" in result:
                print(f"FAILED {json.dumps(result['row'])}\n  {result['failure']}", flush=True)
            if len(results) % 100 == 0:
                print(f"{len(results)} of {len(rows)}, {time.monotonic() - begin:.0f} s",
                      flush=True)
                if options.json:
                    write_results(options.json, f"{index}/{count}", results)
    failed = sum("failure" in result for result in results)
    print(summarise(results))
    print(f"{len(results) - failed} passed, {failed} failed")
    if options.json:
        write_results(options.json, f"{index}/{count}", results)
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
