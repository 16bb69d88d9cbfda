# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all tests and sums up what they say: the second half of ./check.

Six suites: the GoogleTest programs build/bin/*Tests and *-tests, lit over test/, pytest over
python/tests, over test/Docs (the tutorials and the reference), over test/Numeric and over
test/Peers (code objects of other compilers). Each writes JUnit XML, from which passed, failed
and skipped tests are counted. A program that ends with a failure that its
XML does not show (a crash, no file, a broken file) counts as one more failure; so
does a suite without a single test. The last line is `N passed, N failed`, with
`, N skipped` where tests were skipped. Exit status 0 if nothing failed, else 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Seconds after which a suite's program is ended; then it counts as failed.
TIMEOUT = 900
#: The simulator's tests once more: with a variable set, those of a filter.
SIMULATOR_TESTS = {
    # Under its checker, which has to be silent on what clang compiles. One test
    # races on purpose.
    "checked": (
        "WAVESMITH_TEST_CHECKED=1",
        "*KernelTest*:*MathTest*:*ArithmeticTest*:*Robustness*:-*WavesThatWaitForEachOther*",
    ),
    # With the code that a host without AVX2 runs.
    "portable": (
        "WAVESMITH_SIMULATOR_PORTABLE=1",
        "*KernelTest*:*InstructionTest*:*LaneAccessTest*:*WideTest*:*ArithmeticTest*",
    ),
}


@dataclass
class Count:
    """Passed, failed and skipped tests, and a line for each failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    messages: list[str] = field(default_factory=list)

    def fail(self, message: str) -> None:
        self.failed += 1
        self.messages.append(message)

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.messages += other.messages

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def count_xml(path: Path) -> Count:
    """The test cases of a JUnit XML file, as GoogleTest, lit or pytest write it.

    Raises OSError or ElementTree.ParseError if there is no such file or it is
    broken.
    """
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if bad is not None:
            count.fail(name)
        elif (
            case.find("skipped") is not None
            # GoogleTest: a disabled test, or one that its filter left out.
            or case.get("status") == "notrun"
            or case.get("result") in ("skipped", "suppressed")
        ):
            count.skipped += 1
        else:
            count.passed += 1
    return count


def describe_status(status: int) -> str:
    if status < 0:
        try:
            return f"ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"ended by signal {-status}"
    return f"ended with status {status}"


def run_program(
    name: str, command: list, xml: Path, log: Path, environment: dict[str, str]
) -> Count:
    """Run one program and count its tests; its output goes to the log."""
    xml.unlink(missing_ok=True)
    with log.open("w") as output:
        try:
            # A group of its own, so that a timeout ends its children too.
            process = subprocess.Popen(
                [str(part) for part in command], cwd=ROOT, env=environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            count = Count()
            count.fail(f"{name}: cannot run {command[0]}: {error.strerror}")
            return count
        try:
            status: int | None = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    try:
        count = count_xml(xml)
    except (OSError, ElementTree.ParseError) as error:
        count = Count()
        count.fail(f"{name}: no result file: {error}")
    if status is None:
        count.fail(f"{name}: not done after {TIMEOUT} s")
    elif status != 0 and not count.failed:
        count.fail(f"{name}: {describe_status(status)}, but no test of it failed")
    if not count.passed and not count.failed and not count.skipped:
        count.fail(f"{name}: no test ran")
    if count.failed:
        text = log.read_text(errors="replace").splitlines()
        count.messages.append("\n".join(
            [f"--- the last lines of {log}:", *text[-60:]]))
    return count


def suites(build: Path, results: Path) -> list[tuple[str, list[tuple]]]:
    """Name of each suite and its programs: (name, command, XML file, log)."""

    def program(name: str, command: list, option: str) -> tuple:
        xml = results / f"{name}.xml"
        return name, [*command, f"{option}{xml}"], xml, results / f"{name}.log"

    def pytest(name: str, *paths: Path, ignore: str = "") -> tuple:
        return program(
            name,
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-config",
             "--color=no", "--durations=10", f"--rootdir={ROOT}",
             *([f"--ignore-glob={ignore}"] if ignore else []), *paths],
            "--junitxml=",
        )

    def gtest(name: str, command: list) -> tuple:
        return program(name, command, "--gtest_output=xml:")

    tests = sorted(
        path for path in (build / "bin").glob("*[Tt]ests") if os.access(path, os.X_OK)
    )
    simulator = build / "bin" / "wavesmith-simulator-tests"
    again = [
        gtest(f"{simulator.name}-{name}", ["env", setting, simulator, f"--gtest_filter={chosen}"])
        for name, (setting, chosen) in SIMULATOR_TESTS.items()
    ]
    lit = Path("/usr/lib/llvm-22/bin/lit")
    numeric = ROOT / "test" / "Numeric"
    matrix = numeric / "test_attention_matrix.py"
    return [
        ("GoogleTest", [gtest(test.name, [test]) for test in tests] + (again if tests else [])),
        ("lit", [program("lit", [lit, "-v", "-j1", build / "test"], "--xunit-xml-output=")]),
        ("pytest", [pytest("pytest", ROOT / "python" / "tests")]),
        ("docs", [pytest("docs", ROOT / "test" / "Docs")]),
        # Attention's take as long as all others together: three programs.
        ("numeric", [
            pytest("numeric", numeric, ignore="*/test_attention_*"),
            pytest("numeric-attention-matrix", matrix),
            pytest("numeric-attention",
                   *sorted(set(numeric.glob("test_attention_*.py")) - {matrix})),
        ]),
        ("peers", [pytest("peers", ROOT / "test" / "Peers")]),
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--suite", action="append",
                        help="GoogleTest, lit, pytest, docs, numeric or peers (default: all)")
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    results = build / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join((str(build / "python"), str(ROOT / "python")))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["WAVESMITH_BUILD"] = str(build)
    environment["PATH"] = f"{build / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"

    all_suites = suites(build, results)
    names = [name for name, _ in all_suites]
    for name in options.suite or []:
        if name not in names:
            parser.error(f"unknown suite {name}, expected one of {', '.join(names)}")
    chosen = [entry for entry in all_suites if not options.suite or entry[0] in options.suite]

    def timed(entry: tuple) -> tuple[Count, float]:
        begin = time.monotonic()
        return run_program(*entry, environment), time.monotonic() - begin

    total = Count()
    # A program for each processor; the last suites take longest and start first.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {
            suite: [pool.submit(timed, entry) for entry in programs]
            for suite, programs in reversed(chosen)
        }
        for suite, _ in reversed(chosen):
            count, seconds = Count(), 0.0
            print(f"{suite:<44} ", end="", flush=True)
            for result in running[suite]:
                part, taken = result.result()
                count.add(part)
                seconds += taken
            if not running[suite]:
                count.fail(f"{suite}: no test program in {build / 'bin'}")
            print(f"{count}, {seconds:.0f} s")
            for message in count.messages:
                print(message)
            total.add(count)
    if not total.passed and not total.failed:
        total.fail("no test ran")
        print(total.messages[-1])
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
