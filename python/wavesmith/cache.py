# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code on disk.

The folder is `WAVESMITH_CACHE_DIR`, else `wavesmith` in `XDG_CACHE_HOME` or
`~/.cache`; an empty `WAVESMITH_CACHE_DIR` turns the cache off. An entry is one file,
which is written beside its place and renamed: readers and writers of several
processes never see a part of one, and of two writers of an entry, which write the
same, either wins. An entry that is damaged counts as missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
import warnings
from collections.abc import Iterable
from pathlib import Path

_FORMAT = b"wavesmith cache 1\n"


def folder() -> Path | None:
    """The folder of the cache; None if it is turned off."""
    given = os.environ.get("WAVESMITH_CACHE_DIR")
    if given is not None:
        return Path(given) if given else None
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base or Path.home() / ".cache") / "wavesmith"


def key_of(parts: Iterable[object]) -> str:
    """A name for what is made from these parts, and from nothing else."""
    text = json.dumps(list(parts), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _path(key: str, kind: str) -> Path | None:
    base = folder()
    return base / key[:2] / f"{key}.{kind}" if base else None


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that it is at no time incomplete; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Unlike mkstemp's this file has the mode that open() gives.
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass
        raise


def get(key: str, kind: str) -> list[bytes] | None:
    """The pieces of an entry; None if there is none."""
    path = _path(key, kind)
    try:
        data = path.read_bytes() if path else b""
    except OSError:
        return None
    if not data.startswith(_FORMAT):
        return None
    digest, body = data[len(_FORMAT) : len(_FORMAT) + 32], data[len(_FORMAT) + 32 :]
    if hashlib.sha256(body).digest() != digest:
        return None
    pieces = []
    while body:
        length = int.from_bytes(body[:8], "little")
        pieces.append(body[8 : 8 + length])
        body = body[8 + length :]
    return pieces


def put(key: str, kind: str, pieces: Iterable[bytes]) -> None:
    """Keep an entry. That the disk is full or read-only is a warning."""
    path = _path(key, kind)
    if not path:
        return
    body = b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)
    try:
        write_file(path, _FORMAT + hashlib.sha256(body).digest() + body)
    except OSError as error:
        warnings.warn(
            f"the cache cannot be written ({error}); set WAVESMITH_CACHE_DIR to another "
            "folder, or to nothing to turn it off",
            RuntimeWarning,
            stacklevel=4,
        )
