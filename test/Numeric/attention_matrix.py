# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of attention and sets of cases that cover how they combine.

`cover` makes rows in which every few values of as many options stand together; the same
arguments give the same rows. In ./check it is every two values (test_attention_matrix.py),
in attention_full every three, and every head dim there is."""

from __future__ import annotations

import itertools
import random

from attention_support import MASKS, SCORES, Case

#: The targets that every row runs on.
TARGETS = ("gfx90a", "gfx942")

#: Queries and keys of the sequences around the one that `lengths` gives, with layout thd.
BEFORE, AFTER = (9, 33), (20, 3)

FACTORS = {
    "type": ["f32", "f16", "bf16"],
    "result": ["f32", "f16", "bf16"],
    "layout": ["bshd", "bhsd", "thd"],
    # Queries and keys: decoding, whole tiles of 128 queries and 64 keys, and not.
    "lengths": [(1, 200), (128, 128), (130, 70), (70, 200)],
    # Of queries, and of keys and values.
    "heads": [(2, 2), (4, 1), (6, 2), (5, 1)],
    # Of queries and keys, and of values.
    "dims": [(16, 16), (40, 40), (64, 64), (80, 80), (96, 96), (128, 128), (192, 128),
             (256, 256), (24, 72)],
    "scale": [None, 0.3, -0.2],
    "causal": [None, "top_left", "bottom_right"],
    "window": [None, (-1, -1), (-1, 0), (10, 3), (64, -1)],
    "window_alignment": [None, "top_left", "bottom_right"],
    "softcap": [None, 5.0],
    # Which of batch, heads and queries the bias has; the others are broadcast.
    "bias": [None, "", "b", "h", "q", "bhq"],
    "bias_type": ["f32", "f16", "bf16"],
    "alibi": [None, "heads", "batch"],
    # Of q, k and v: none, one number, one a head.
    "descale": ["---"],
    "score": [None, *SCORES],
    "mask": [None, *MASKS],
    "lse": [True, False],
    "static": [False, True],
}

#: Values that leave a row of scores with one key or none, so that the other options show
#: little: they stand together with every value of every option, but two values of other
#: options have to stand together without them.
EDGES = {"lengths": [(1, 1), (0, 5), (5, 0)], "window": [(0, 0)]}

#: What gfx942 has and gfx90a has not.
FP8 = {"type": ["f8E4M3FNUZ"], "descale": ["111", "hhh", "-1h"]}

#: What the full set has besides: other lengths, and the head dims that FACTORS leaves out.
MORE = {
    "lengths": [(0, 0), (129, 1), (257, 511), (64, 1000)],
    "dims": [*((d, d) for d in range(16, 257, 8) if (d, d) not in FACTORS["dims"]),
             (64, 256), (256, 16), (128, 64)],
}


def is_allowed(row: dict) -> bool:
    """Whether a part of a row means something; values for two options at most decide."""
    if row.get("descale", "---") != "---" and row.get("type", "f8E4M3FNUZ") != "f8E4M3FNUZ":
        return False
    if row.get("window_alignment") and "window" in row and row["window"] is None:
        return False
    if row.get("bias_type", "f32") != "f32" and "bias" in row and row["bias"] is None:
        return False
    # Without packing there is nothing to launch for no query.
    if "lengths" in row and row["lengths"][0] == 0 and row.get("layout", "thd") != "thd":
        return False
    return True


def targets_of(row: dict) -> tuple[str, ...]:
    """The targets that do what the row asks for."""
    return ("gfx942",) if row["type"] in FP8["type"] else TARGETS


def join(factors: dict[str, list], more: dict[str, list]) -> dict[str, list]:
    """The options with further values."""
    return {name: [*values, *more.get(name, [])] for name, values in factors.items()}


def make_case(row: dict) -> Case:
    row = dict(row)
    queries, keys = row.pop("lengths")
    (query_heads, key_heads), (head_dim, value_head_dim) = row.pop("heads"), row.pop("dims")
    sequences = [(queries, keys)] * 2
    if row["layout"] == "thd":
        sequences = [BEFORE, (queries, keys), AFTER]
    query_lengths, key_lengths = zip(*sequences)
    return Case(**row, query_lengths=query_lengths, key_lengths=key_lengths,
                query_heads=query_heads, key_heads=key_heads, head_dim=head_dim,
                value_head_dim=value_head_dim)


def covers(rows: list[dict], chosen: dict) -> bool:
    """Whether a row has all these values."""
    return any(all(row[name] == value for name, value in chosen.items()) for row in rows)


def cover(factors: dict[str, list], strength: int, edges: dict[str, list] | None = None,
          allowed=is_allowed, seed: int = 1, candidates: int = 10) -> list[dict]:
    """Rows with a value for each option, so that every `strength` values of different
    options that `allowed` (of a part of a row) lets together are together in one. With
    `edges` it is only those sets of values that one of these further values is in.

    Greedy: a row begins with what is not covered yet and takes, option by option in an
    order that is drawn, the value that covers most with those before; the best row of some
    is kept. What `allowed` refuses must show in two values."""
    rng = random.Random(seed)
    names = list(factors)
    place = {name: number for number, name in enumerate(names)}
    is_edge = {(name, len(factors[name]) + n)
               for name, values in (edges or {}).items() for n in range(len(values))}
    factors = join(factors, edges or {})

    def entries(chosen):
        return itertools.product(*([(name, n) for n in range(len(factors[name]))]
                                   for name in chosen))

    def is_possible(group):
        return allowed({name: factors[name][n] for name, n in group})

    # In the order in which they are made, so that the rows do not depend on hashes.
    missing = {
        group: None
        for chosen in itertools.combinations(names, strength) for group in entries(chosen)
        if (not edges or not is_edge.isdisjoint(group)) and is_possible(group)
    }
    refused = set()
    for chosen in itertools.permutations(names, 2):
        refused |= {group for group in entries(chosen) if not is_possible(group)}
    rows = []
    while missing:
        best, best_count = None, 0
        start = next(iter(missing))
        for _ in range(candidates):
            row, count = list(start), 1
            rest = [name for name in names if name not in dict(start)]
            rng.shuffle(rest)
            for name in rest:
                # Each choice of values before, with this option's place among them.
                groups = [
                    (group[:at], group[at:])
                    for group in itertools.combinations(
                        sorted(row, key=lambda entry: place[entry[0]]), strength - 1)
                    for at in [sum(place[other] < place[name] for other, _ in group)]
                ]
                values = [(name, n) for n in range(len(factors[name]))
                          if not any(((name, n), entry) in refused for entry in row)]
                if not values:
                    break
                rng.shuffle(values)
                gains = [sum((*low, value, *high) in missing for low, high in groups)
                         for value in values]
                count += max(gains)
                row.append(values[gains.index(max(gains))])
            else:
                if count > best_count:
                    best, best_count = dict(row), count
        assert best is not None, f"no row can have {start}"
        for group in itertools.combinations([(name, best[name]) for name in names], strength):
            missing.pop(group, None)
        rows.append({name: factors[name][best[name]] for name in names})
    return rows


def make_rows() -> list[dict]:
    """The rows of ./check."""
    return (cover(FACTORS, 2) + cover(FACTORS, 2, EDGES)
            + cover(join(FACTORS, EDGES), 2, FP8))


def make_full_rows() -> list[dict]:
    """The rows of the full set: every three values, and every two with one of EDGES and
    MORE."""
    return (cover(FACTORS, 3, candidates=1) + cover(FACTORS, 2, EDGES)
            + cover(FACTORS, 2, MORE) + cover(FACTORS, 3, FP8, candidates=1)
            + cover(join(join(FACTORS, EDGES), MORE), 2, FP8))
