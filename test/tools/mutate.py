"""Runs the tools on mutated inputs: none may crash, and each failure has a message.

usage: mutate.py --work FOLDER [--seed N] [--count N] FILE.mlir...

The last file must be one that the whole pipeline accepts.

The files are split at `// -----` into modules. Each of `count` modules is one of
them with a few mutations of its bytes or tokens, or a generic form of it. All go
through wavesmith-opt, plain and with the whole pipeline, many in one process; a
share goes through wavesmith-compile and wavesmith-evaluate, one by one, and runs
of wavesmith-run get mutated .npy, .json and .hsaco files. What fails is written
to the folder, with the command that fails on it. The same seed gives the same
inputs.
"""

import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys

import numpy as np

# The first is what a crash comes to in a tool and in the library.
CRASH = re.compile(
    r"it crashed|LLVM ERROR|Assertion|PLEASE submit a bug report|Cannot select|Stack dump|terminate called|"
    r"AddressSanitizer|runtime error"
)
# Control characters, and what the decoder makes of bytes that are no UTF-8.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
TOKEN = re.compile(
    r"""[%@#!^][\w.:$-]+|"(?:[^"\\\n]|\\.)*"|-?\d+\.\d*(?:[eE][-+]?\d+)?|-?\d+|[A-Za-z_][\w.$]*|->|\s+|."""
)
NUMBERS = (
    ["0", "1", "-1", "2", "7", "63", "65", "1024", "4294967296", "9223372036854775807"]
    + ["-9223372036854775808", "99999999999999999999", "0.0", "-0.0", "1.0", "-1.0", "1.0e-320"]
    + ["1.0e+308", "-1.0e+308", "1.0e+999", "0x7FF0000000000000", "0x7FF8000000000000", "0x0", "0.5"]
)
WORDS = (
    ["f64", "f32", "i1", "i32", "index", "tensor<64xf64>", "tensor<3x?xf64>", "tensor<0x?xf64>"]
    + ["memref<?x?xf64>", "memref<3x?xf64>", "vector<4xf64>", "none", "tuple<>", "?", "-", "*", "dense<1.0>"]
    + ["[", "]", "(", ")", "{", "}", "<", ">", "=", ":", ",", "[]", "{}", "[[]]", "array<f64>", "unit", "@s"]
    + ['""', '"A"', '"T"', '"1"', '"1/s"', '"K"', '"Pa"', '"kmol/m^3"', '"m^"', '"m^99999999999"', '"\\00"']
    + ["math.erf", "math.sqrt", "math.ctlz", "math.fpowi", "arith.addi", "arith.remf", "arith.fptosi"]
    + ["arith.constant", "math.atan2", "tensor.splat", "scf.for", "scf.if", "gpu.barrier", "llvm.fadd"]
    + ["wavesmith.state", "wavesmith.parameter", "wavesmith.time", "wavesmith.term", "wavesmith.table"]
    + ["wavesmith.workgroup", "wavesmith.load_zones", "wavesmith.ode_rhs", "wavesmith.arrhenius"]
    + ["straight_line", "table", "soa", "aos", "gibbs", "fastmath<fast>", "fastmath", "unsigned"]
)


PIPELINES = [[], ["--wavesmith-compile"], ["--wavesmith-compile=form=table target=gfx90a"]]


class Mutator:
    def __init__(self, generator, texts):
        self.random = generator
        self.texts = texts
        self.words = sorted({t for text in texts for t in TOKEN.findall(text) if not t.isspace()})

    def text(self):
        text = self.random.choice(self.texts)
        for _ in range(self.random.choice([1, 1, 1, 2, 3, 6])):
            text = self.random.choice(self.TEXT_MUTATIONS)(self, text)
        # A line that would end this module and begin another.
        return text.replace("// -----", "// ----")

    def tokens(self, text):
        return TOKEN.findall(text)

    def places(self, tokens, pattern=r"\S"):
        return [i for i, t in enumerate(tokens) if re.match(pattern, t)] or [0]

    def swap_tokens(self, text):
        tokens = self.tokens(text)
        a, b = self.random.choice(self.places(tokens)), self.random.choice(self.places(tokens))
        if tokens:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        return "".join(tokens)

    def replace_token(self, text):
        tokens = self.tokens(text)
        if tokens:
            tokens[self.random.choice(self.places(tokens))] = self.random.choice(self.words)
        return "".join(tokens)

    def replace_by_word(self, text):
        tokens = self.tokens(text)
        if tokens:
            tokens[self.random.choice(self.places(tokens))] = self.random.choice(WORDS)
        return "".join(tokens)

    def replace_like(self, text):
        """A token by one of the same sort: most of these modules still parse."""
        tokens = self.tokens(text)
        pattern = self.random.choice([r"%", r'"', r"-?\d", r"[A-Za-z_][\w]*\.", r"tensor|memref|f64|i1|i32|index"])
        place = self.random.choice(self.places(tokens, pattern))
        same = [t for t in tokens if re.match(pattern, t)]
        if same:
            tokens[place] = self.random.choice(same)
        return "".join(tokens)

    def replace_operation(self, text):
        tokens = self.tokens(text)
        place = self.random.choice(self.places(tokens, r"(arith|math)\.[a-z]+f\b|math\."))
        words = [w for w in self.words + WORDS if re.match(r"(arith|math)\.", w)]
        if tokens and re.match(r"(arith|math)\.", tokens[place]):
            tokens[place] = self.random.choice(words)
        return "".join(tokens)

    def number(self, text):
        tokens = self.tokens(text)
        place = self.random.choice(self.places(tokens, r"-?\d"))
        if tokens:
            tokens[place] = self.random.choice(NUMBERS)
        return "".join(tokens)

    def name(self, text):
        tokens = self.tokens(text)
        place = self.random.choice(self.places(tokens, r'"|@'))
        if tokens:
            tokens[place] = self.random.choice(['""', '"A"', '"no such"', '"\\FF"', "@s", "@nowhere", '"' + "x" * 3000 + '"'])
        return "".join(tokens)

    def delete_token(self, text):
        tokens = self.tokens(text)
        if tokens:
            del tokens[self.random.choice(self.places(tokens))]
        return "".join(tokens)

    def delete_line(self, text):
        lines = text.split("\n")
        del lines[self.random.randrange(len(lines))]
        return "\n".join(lines)

    def repeat_line(self, text):
        lines = text.split("\n")
        place = self.random.randrange(len(lines))
        lines[place:place] = [lines[place]] * self.random.choice([1, 2, 100])
        return "\n".join(lines)

    def move_line(self, text):
        lines = text.split("\n")
        line = lines.pop(self.random.randrange(len(lines)))
        lines.insert(self.random.randrange(len(lines) + 1), line)
        return "\n".join(lines)

    def foreign_line(self, text):
        lines = text.split("\n")
        lines.insert(self.random.randrange(len(lines) + 1), self.random.choice(self.random.choice(self.texts).split("\n")))
        return "\n".join(lines)

    def truncate(self, text):
        return text[: self.random.randrange(len(text) + 1)]

    def flip_bytes(self, text):
        data = bytearray(text.encode("utf-8", "surrogateescape"))
        for _ in range(self.random.choice([1, 1, 4])):
            if data:
                data[self.random.randrange(len(data))] = self.random.choice([0, 10, 34, 60, 91, 128, 255, self.random.randrange(256)])
        return data.decode("utf-8", "surrogateescape")

    def nest(self, text):
        depth = self.random.choice([1, 3, 40])
        return "module {\n" * depth + text + "\n}" * depth

    TEXT_MUTATIONS = [swap_tokens, replace_token, replace_by_word, delete_token, delete_line, repeat_line]
    TEXT_MUTATIONS += [move_line, foreign_line, truncate, flip_bytes, nest, name] + 2 * [number] + 4 * [replace_like]
    TEXT_MUTATIONS += 2 * [replace_operation]

    def data(self, data):
        data = bytearray(data)
        kind = self.random.randrange(4)
        if kind == 0:
            return bytes(data[: self.random.randrange(len(data) + 1)])
        if kind == 1:
            place = self.random.randrange(len(data))
            data[place:place] = self.random.randbytes(self.random.choice([1, 8, 4096]))
            return bytes(data)
        # Most of a file's structure is at its beginning.
        end = self.random.choice([16, 64, 256, len(data)])
        for _ in range(self.random.choice([1, 2, 8])):
            place = self.random.randrange(min(end, len(data)))
            data[place] = self.random.choice([0, 1, 127, 128, 255, self.random.randrange(256)])
        return bytes(data)


class Runner:
    def __init__(self, work):
        self.work = work
        self.failures = []
        self.counts = {}

    def run(self, command):
        """Runs a command; returns what is wrong with its end, or None."""
        tool = command[0]
        accepted, refused = self.counts.setdefault(tool, [0, 0])
        try:
            done = subprocess.run(command, capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            return "does not come to an end"
        if tool != "wavesmith-opt" and UNPRINTABLE.search(done.stderr.decode("utf-8", "surrogateescape")):
            return f"quotes what no message should hold: {done.stderr[:3000]!r}"
        errors = done.stderr.decode("utf-8", "replace")
        if done.returncode == 0:
            self.counts[tool][0] += 1
        else:
            self.counts[tool][1] += 1
        if done.returncode < 0 or done.returncode >= 128:
            return f"ends with status {done.returncode}: {errors[-3000:]}"
        if CRASH.search(errors):
            return f"crashes: {errors[:3000]}"
        if done.returncode != 0 and "error" not in errors:
            return f"has status {done.returncode}, but no message: {errors[:300]!r}"
        return None

    def fail(self, problem, command, files):
        folder = self.work / f"failure{len(self.failures)}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in files:
            shutil.copy(file, folder)
        self.failures.append(problem)
        print(f"FAILED: {' '.join(map(str, command))}\n  {problem}\n  input kept in {folder}", flush=True)

    def opt(self, modules, arguments):
        """All modules in one process; only where that fails, by halves."""
        path = self.work / "batch.mlir"
        path.write_bytes("\n// -----\n".join(modules).encode("utf-8", "surrogateescape"))
        command = ["wavesmith-opt", str(path), "-split-input-file", "-o", "/dev/null", *arguments]
        problem = self.run(command)
        if not problem:
            return
        if len(modules) == 1:
            self.fail(problem, command, [path])
            return
        self.opt(modules[: len(modules) // 2], arguments)
        self.opt(modules[len(modules) // 2 :], arguments)


def read_modules(paths):
    modules = []
    for path in paths:
        for text in pathlib.Path(path).read_text().split("// -----"):
            text = "\n".join(l for l in text.split("\n") if not l.strip().startswith("//"))
            systems = re.split(r"(?=^wavesmith\.ode_system)", text, flags=re.M)
            # A file of many systems: one module each.
            modules += [s for s in (systems if len(systems) > 6 else [text]) if s.strip()]
    return modules


def mutate_files(mutator, runner, name, original, command_for, count, keep=()):
    """Runs a command on `count` mutations of a file's bytes."""
    for _ in range(count):
        path = runner.work / name
        path.write_bytes(mutator.data(original))
        command = command_for(str(path))
        problem = runner.run(command)
        if problem:
            runner.fail(problem, command, [path, *keep])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    work = options.work
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    originals = read_modules(options.files)
    mutator = Mutator(random.Random(options.seed), originals)
    runner = Runner(work)

    # What is mutated must be right itself.
    path = work / "original.mlir"
    for text in originals:
        path.write_text(text)
        subprocess.run(["wavesmith-opt", str(path), "-o", "/dev/null"], check=True)
    # And the options: the last file is one that the whole pipeline accepts.
    for arguments in PIPELINES:
        subprocess.run(["wavesmith-opt", options.files[-1], "-o", "/dev/null", *arguments], check=True)
    generic = []
    for text in originals:
        path.write_text(text)
        done = subprocess.run(["wavesmith-opt", str(path), "--mlir-print-op-generic"], capture_output=True, text=True)
        generic.append(done.stdout)
    runner.counts.clear()
    mutator.texts = originals + [g for g in generic if g]

    modules = [mutator.text() for _ in range(options.count)]
    for begin in range(0, len(modules), 50):
        batch = modules[begin : begin + 50]
        for arguments in PIPELINES:
            runner.opt(batch, arguments)

    path, output = work / "one.mlir", work / "one.hsaco"
    for number, text in enumerate(modules[:: max(1, len(modules) // 150)]):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        output.unlink(missing_ok=True)
        form = ["straight_line", "table"][number % 2]
        command = ["wavesmith-compile", str(path), "-o", str(output), f"--form={form}", "-O1"]
        before = runner.counts.get("wavesmith-compile", [0, 0])[1]
        problem = runner.run(command)
        refused = runner.counts["wavesmith-compile"][1] > before
        if not problem and refused and output.exists():
            problem = "writes a code object after an error"
        if problem:
            runner.fail(problem, command, [path])
        command = ["wavesmith-evaluate", str(path), "--scalar=arg0=0", f"--input=arg1={work}/none.npy", f"--output=result0={work}/out.npy"]
        problem = runner.run(command)
        if problem:
            runner.fail(problem, command, [path])

    # Runs of a code object on the simulator.
    path.write_text(
        'wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {\n'
        '  %k = arith.constant 2.0 : f64\n  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]\n}\n'
        "func.func @rhs(%t: f64, %y: tensor<2x?xf64>) -> tensor<2x?xf64> {\n"
        "  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<2x?xf64>) -> tensor<2x?xf64>\n  return %0 : tensor<2x?xf64>\n}\n"
    )
    kernel, description, array = work / "good.hsaco", work / "good.json", work / "good.npy"
    subprocess.run(["wavesmith-compile", str(path), "-o", str(kernel)], check=True)
    np.save(array, np.ones((2, 100)))

    def run_command(kernel=kernel, description=description, array=array):
        return [
            "wavesmith-run", str(kernel), f"--description={description}", "--device=sim", "--scalar=arg0=0",
            f"--input=arg1={array}", f"--output=result0={work}/result.npy",
        ]

    problem = runner.run(run_command())
    if problem or not (work / "result.npy").exists():
        runner.fail(problem or "does not run what is right", run_command(), [kernel, description, array])
    share = max(1, options.count // 20)
    mutate_files(mutator, runner, "bad.npy", array.read_bytes(), lambda p: run_command(array=p), share)
    mutate_files(mutator, runner, "bad.json", description.read_bytes(), lambda p: run_command(description=p), share, [kernel])
    # A mutated branch may loop for ever, as it would on a device: hence a limit.
    for mode in ([], ["--check"], ["--model-time"]):
        limited = lambda p: [*run_command(kernel=p), "--max-instructions=100000", *mode]
        mutate_files(mutator, runner, "bad.hsaco", kernel.read_bytes(), limited, 2 * share, [description])
    evaluate = lambda p: ["wavesmith-evaluate", str(path), "--scalar=arg0=0", f"--input=arg1={p}", f"--output=result0={work}/out.npy"]
    mutate_files(mutator, runner, "bad.npy", array.read_bytes(), evaluate, share)

    for tool, (accepted, refused) in sorted(runner.counts.items()):
        print(f"{tool}: {accepted} runs accepted, {refused} refused")
        # A run that nothing passes, or that refuses nothing, has tested little.
        if tool != "wavesmith-opt" and (accepted == 0 or refused == 0):
            runner.failures.append(f"{tool} was not tested both ways")
    print(f"{len(modules)} mutated modules, {len(runner.failures)} failures")
    return 1 if runner.failures else 0


sys.exit(main())
