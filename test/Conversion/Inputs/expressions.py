"""Prints what straight-line code of the workgroup level stores, as formulas.

Reads a module from the standard input and prints, for each wavesmith.store_zones
in order, `function: result[row] = expression`, with y0, y1, ... for rows of the
states, p0, p1, ... for rows of the parameters, and operations by their names:
add, sub, mul, div, neg, fma, exp, log, select(a < b, c, d) and so on. A line
that it does not know is an error.
"""

import re
import sys

BINARY = {"addf": "add", "subf": "sub", "mulf": "mul", "divf": "div", "negf": "neg"}
COMPARE = {"olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "oeq": "==", "une": "!="}


def number(text):
    return repr(float(text))


def main():
    function, arguments, values = "", [], {}
    for line in sys.stdin:
        line = line.split(" loc(")[0].strip()
        signature = re.match(r"func\.func @(\w+)\((.*)\)", line)
        if signature:
            function = signature[1]
            arguments = re.findall(r"(%\w+): ", signature[2])
            values = {arguments[0]: "t"}
            continue
        if not function or line in ("", "}", "return", "// -----") or line.startswith("wavesmith.workgroup"):
            continue
        store = re.match(r"wavesmith\.store_zones (%\w+), (%\w+)\[(%\w+)\]", line)
        if store:
            value, batch, row = store.groups()
            outputs = arguments[-3:-1] if len(arguments) > 5 or "_terms" in function else arguments[-2:-1]
            print(f"{function}: {outputs.index(batch)}[{values[row]}] = {values[value]}")
            continue
        match = re.match(r"(%\w+) = (?:arith|math|wavesmith|tensor)\.(\w+) (.*)", line)
        if not match:
            if line.startswith("module"):
                continue
            sys.exit(f"unknown line: {line}")
        result, operation, rest = match.groups()
        operands = [values.get(name, name) for name in re.findall(r"%\w+", rest)]
        if operation == "constant":
            index = re.match(r"(-?\d+) : index", rest)
            dense = re.match(r"dense<(.*?)> : tensor", rest)
            values[result] = index[1] if index else number(bits(dense[1]))
        elif operation == "load_zones":
            batch, row = re.match(r"(%\w+)\[(%\w+)\]", rest).groups()
            values[result] = "yp"[arguments.index(batch) - 1] + values[row]
        elif operation == "splat":
            values[result] = operands[0]
        elif operation == "cmpf":
            values[result] = f"{operands[0]} {COMPARE[rest.split(',')[0]]} {operands[1]}"
        else:
            values[result] = f"{BINARY.get(operation, operation)}({', '.join(operands)})"


def bits(text):
    """MLIR prints numbers that have no short decimal form as their bits."""
    if not text.startswith("0x"):
        return text
    import struct

    return struct.unpack(">d", bytes.fromhex(text[2:]))[0]


main()
