# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product at the workgroup level, as text: C = A B with A of m x k, B of
k x n, both of `element`, and C of m x n of f32, all in rows without gaps.

Four wavefronts share a tile of C of 128 x 128, two by two. A and B pass through LDS, in
128 bytes of k at a time; the next ones are loaded while the products are computed.
bench/bench-gemm.py models its speed.
"""

from __future__ import annotations

TILE_M = TILE_N = 128
WAVES = 4


def entries(dimension: int, *steps: int) -> list[list[int]]:
    """Entries of a layout that lead along one dimension of two; 0 leads nowhere."""
    return [[step, 0] if dimension == 0 else [0, step] for step in steps]


def layout(registers, lanes, waves) -> str:
    return f"#wavesmith.layout<registers = {registers}, lanes = {lanes}, waves = {waves}>"


def operand_layouts(instruction: int, element: str) -> tuple[str, str, str]:
    """The layouts of A, B and C for a matrix instruction of 32 or 16 rows."""
    # Numbers of K that follow each other in a lane; lanes continue behind them.
    k = (1, 2, 4) if element != "f32" else (1, 2)
    if instruction == 32:
        side, of_lanes = (1, 2, 4, 8, 16), (2 * k[-1],)
        c = layout(entries(0, 1, 2, 8, 16), entries(1, *side) + entries(0, 4),
                   entries(0, 32) + entries(1, 32))
    else:
        side, of_lanes = (1, 2, 4, 8), (2 * k[-1], 4 * k[-1])
        c = layout(entries(0, 1, 2), entries(1, *side) + entries(0, 4, 8),
                   entries(0, 16) + entries(1, 16))
    a = layout(entries(1, *k), entries(0, *side) + entries(1, *of_lanes),
               entries(0, instruction) + entries(0, 0))
    b = layout(entries(0, *k), entries(1, *side) + entries(0, *of_lanes),
               entries(0, 0) + entries(1, instruction))
    return a, b, c


def gemm_text(element: str, instruction: int = 32, vector: int = 1) -> str:
    """The module. `vector` is the number of neighbours that rows of A and B may be
    loaded by: k and n are multiples of it."""
    a, b, c = operand_layouts(instruction, element)
    if element == "f32":
        tile_k, wide = 32, (1, 2)
        load_b = layout(entries(1, *wide), entries(1, 4, 8, 16, 32, 64) + entries(0, 1),
                        entries(0, 2, 4))
    else:
        tile_k, wide = 64, (1, 2, 4)
        # Four numbers of k side by side: 8 bytes to a column of B in LDS.
        load_b = layout(entries(1, *wide) + entries(0, 1, 2),
                        entries(1, 8, 16, 32) + entries(0, 4) + entries(1, 64) + entries(0, 8),
                        entries(0, 16, 32))
    group = 2 * wide[-1]
    load_a = layout(entries(1, *wide),
                    entries(1, group, 2 * group, 4 * group) + entries(0, 1, 2, 4),
                    entries(0, 8, 16))
    a_rows = f"tensor<{TILE_M}x{tile_k}x{element}"
    b_rows = f"tensor<{tile_k}x{TILE_N}x{element}"
    sums = f"tensor<{TILE_M}x{TILE_N}xf32, #c>"
    matrix = f"memref<?x?x{element}, strided<[?, 1]>, #global>"
    return f"""
#load_a = {load_a}
#load_b = {load_b}
#a = {a}
#b = {b}
#c = {c}
#rows = #wavesmith.lds_layout<contiguous = 1, padding = 0, swizzle = [1, 2, 4]>
#columns = #wavesmith.lds_layout<contiguous = 0, padding = 0, swizzle = [9, 18, 36]>
#global = #gpu.address_space<global>

func.func @gemm(%a: memref<?x{element}, #global> {{wavesmith.name = "a"}},
                %b: memref<?x{element}, #global> {{wavesmith.name = "b"}},
                %c: memref<?xf32, #global> {{wavesmith.name = "c", wavesmith.output}},
                %m: index {{wavesmith.name = "m"}}, %n: index {{wavesmith.name = "n"}},
                %k: index {{wavesmith.name = "k"}}) attributes {{rocdl.waves_per_eu = 2 : i32}} {{
  wavesmith.grid_workgroup affine_map<(m, n) -> (n ceildiv {TILE_N}, m ceildiv {TILE_M})>(%m, %n) waves {WAVES} {{
  ^bb0(%column: index, %row: index):
    %c0 = arith.constant 0 : index
    %tile_m = arith.constant {TILE_M} : index
    %tile_n = arith.constant {TILE_N} : index
    %tile_k = arith.constant {tile_k} : index
    %i = arith.muli %row, %tile_m : index
    %j = arith.muli %column, %tile_n : index
    %A = memref.reinterpret_cast %a to offset: [0], sizes: [%m, %k], strides: [%k, 1] : memref<?x{element}, #global> to {matrix}
    %B = memref.reinterpret_cast %b to offset: [0], sizes: [%k, %n], strides: [%n, 1] : memref<?x{element}, #global> to {matrix}
    %C = memref.reinterpret_cast %c to offset: [0], sizes: [%m, %n], strides: [%n, 1] : memref<?xf32, #global> to memref<?x?xf32, strided<[?, 1]>, #global>
    %zero = arith.constant dense<0.0> : {sums}
    %first_a = wavesmith.load_tile %A[%i, %c0] vector {vector} : {matrix} -> {a_rows}, #load_a>
    %first_b = wavesmith.load_tile %B[%c0, %j] vector {vector} : {matrix} -> {b_rows}, #load_b>
    %staged_a = wavesmith.stage_tile %first_a : {a_rows}, #load_a> -> {a_rows}, #rows>
    %staged_b = wavesmith.stage_tile %first_b : {b_rows}, #load_b> -> {b_rows}, #columns>
    %sum, %last_a, %last_b = scf.for %p = %c0 to %k step %tile_k
        iter_args(%acc = %zero, %sa = %staged_a, %sb = %staged_b) -> ({sums}, {a_rows}, #rows>, {b_rows}, #columns>) {{
      // Past the end it is zeros.
      %after = arith.addi %p, %tile_k : index
      %ra = wavesmith.load_tile %A[%i, %after] vector {vector} : {matrix} -> {a_rows}, #load_a>
      %rb = wavesmith.load_tile %B[%after, %j] vector {vector} : {matrix} -> {b_rows}, #load_b>
      %ta = wavesmith.read_tile %sa : {a_rows}, #rows> -> {a_rows}, #a>
      %tb = wavesmith.read_tile %sb : {b_rows}, #columns> -> {b_rows}, #b>
      %next = wavesmith.dot %ta, %tb, %acc : {a_rows}, #a>, {b_rows}, #b>, {sums}
      %next_a = wavesmith.stage_tile %ra into %sa : {a_rows}, #load_a> -> {a_rows}, #rows>
      %next_b = wavesmith.stage_tile %rb into %sb : {b_rows}, #load_b> -> {b_rows}, #columns>
      scf.yield %next, %next_a, %next_b : {sums}, {a_rows}, #rows>, {b_rows}, #columns>
    }}
    wavesmith.store_tile %sum, %C[%i, %j] : {sums}, memref<?x?xf32, strided<[?, 1]>, #global>
  }}
  return
}}
"""
