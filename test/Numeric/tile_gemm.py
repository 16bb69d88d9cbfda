# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product at the workgroup level, as text: C = A B with A of m x k, B of
k x n, both of `element`, and C of m x n of f32, all in rows without gaps.

Four wavefronts share a tile of C of 64 x 64, two by two. A and B pass through LDS.
"""

from __future__ import annotations

TILE_M = TILE_N = 64
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
    load_a = layout(entries(1, 1, 2, 4), entries(1, 8, 16) + entries(0, 1, 2, 4, 8),
                    entries(0, 16, 32))
    load_b = layout(entries(1, 1, 2, 4), entries(1, 8, 16, 32) + entries(0, 1, 2, 4),
                    entries(0, 8, 16))
    return f"""
#load_a = {load_a}
#load_b = {load_b}
#a = {a}
#b = {b}
#c = {c}
#rows = #wavesmith.lds_layout<contiguous = 1, padding = 8>
#columns = #wavesmith.lds_layout<contiguous = 0, padding = 8>
#global = #gpu.address_space<global>

func.func @gemm(%a: memref<?x{element}, #global> {{wavesmith.name = "a"}},
                %b: memref<?x{element}, #global> {{wavesmith.name = "b"}},
                %c: memref<?xf32, #global> {{wavesmith.name = "c", wavesmith.output}},
                %m: index {{wavesmith.name = "m"}}, %n: index {{wavesmith.name = "n"}},
                %k: index {{wavesmith.name = "k"}}) {{
  wavesmith.grid_workgroup affine_map<(m, n) -> (n ceildiv 64, m ceildiv 64)>(%m, %n) waves 4 {{
  ^bb0(%column: index, %row: index):
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %i = arith.muli %row, %c64 : index
    %j = arith.muli %column, %c64 : index
    %A = memref.reinterpret_cast %a to offset: [0], sizes: [%m, %k], strides: [%k, 1] : memref<?x{element}, #global> to memref<?x?x{element}, strided<[?, 1]>, #global>
    %B = memref.reinterpret_cast %b to offset: [0], sizes: [%k, %n], strides: [%n, 1] : memref<?x{element}, #global> to memref<?x?x{element}, strided<[?, 1]>, #global>
    %C = memref.reinterpret_cast %c to offset: [0], sizes: [%m, %n], strides: [%n, 1] : memref<?xf32, #global> to memref<?x?xf32, strided<[?, 1]>, #global>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #c>
    %sum = scf.for %p = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32, #c>) {{
      %ra = wavesmith.load_tile %A[%i, %p] vector {vector} : memref<?x?x{element}, strided<[?, 1]>, #global> -> tensor<64x32x{element}, #load_a>
      %rb = wavesmith.load_tile %B[%p, %j] vector {vector} : memref<?x?x{element}, strided<[?, 1]>, #global> -> tensor<32x64x{element}, #load_b>
      %sa = wavesmith.stage_tile %ra : tensor<64x32x{element}, #load_a> -> tensor<64x32x{element}, #rows>
      %sb = wavesmith.stage_tile %rb : tensor<32x64x{element}, #load_b> -> tensor<32x64x{element}, #columns>
      %ta = wavesmith.read_tile %sa : tensor<64x32x{element}, #rows> -> tensor<64x32x{element}, #a>
      %tb = wavesmith.read_tile %sb : tensor<32x64x{element}, #columns> -> tensor<32x64x{element}, #b>
      %next = wavesmith.dot %ta, %tb, %acc : tensor<64x32x{element}, #a>, tensor<32x64x{element}, #b>, tensor<64x64xf32, #c>
      scf.yield %next : tensor<64x64xf32, #c>
    }}
    wavesmith.store_tile %sum, %C[%i, %j] : tensor<64x64xf32, #c>, memref<?x?xf32, strided<[?, 1]>, #global>
  }}
  return
}}
"""
