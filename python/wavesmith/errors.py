# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is raised where a system or a text does not compile."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A piece of Python source: lines from 1, columns from 1 in characters; the
    end is the column after the last character."""

    filename: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = ""

    @classmethod
    def of(cls, node: ast.AST, filename: str, function: str = "") -> Place:
        """The place of a node whose lines are those of the file."""

        def characters(line: int, offset: int) -> int:
            # The parser counts bytes of UTF-8.
            text = linecache.getline(filename, line).encode()
            return len(text[:offset].decode(errors="replace")) + 1

        return cls(
            filename,
            node.lineno,
            characters(node.lineno, node.col_offset),
            node.end_lineno,
            characters(node.end_lineno, node.end_col_offset),
            function,
        )

    def show(self) -> str:
        """As a traceback shows it: file and line, the text, carets below it."""
        where = f", in {self.function}" if self.function else ""
        head = f'  File "{self.filename}", line {self.line}{where}'
        source = linecache.getline(self.filename, self.line).rstrip("\n")
        text = source.lstrip()
        if not text:
            return head
        indent = len(source) - len(text)
        start = max(self.column - 1 - indent, 0)
        end = self.end_column - 1 - indent if self.end_line == self.line else len(text)
        carets = " " * start + "^" * max(min(end, len(text)) - start, 1)
        return f"{head}\n    {text}\n    {carets}"


class CompileError(ValueError):
    """A text or a Python function is no system that Wavesmith compiles.

    Attributes:
        message: what is wrong, without the place.
        filename, lineno, offset, end_lineno, end_offset: the place in Python
            source, named and counted as in SyntaxError; None where the text was
            MLIR.
        text: the source line, None likewise.
    """

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        *,
        remedy: str | None = None,
        callers: tuple[Place, ...] = (),
    ):
        self.message = message
        self.remedy = remedy
        self.place = place
        #: Where helper functions were called, the outermost first.
        self.callers = callers
        self.filename = place.filename if place else None
        self.lineno = place.line if place else None
        self.offset = place.column if place else None
        self.end_lineno = place.end_line if place else None
        self.end_offset = place.end_column if place else None
        self.text = linecache.getline(place.filename, place.line) if place else None
        super().__init__(message)

    def __str__(self) -> str:
        parts = [self.message]
        parts += [place.show() for place in self.callers]
        if self.place:
            parts.append(self.place.show())
        if self.remedy:
            parts.append(f"  remedy: {self.remedy}")
        return "\n".join(parts)
