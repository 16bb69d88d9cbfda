// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of squares of each row.
#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @reduction(%x: tensor<20x3000xf32>) -> tensor<20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<20xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %y = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<20x3000xf32>) outs(%start : tensor<20xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %square = arith.mulf %a, %a : f32
    %r = arith.addf %sum, %square : f32
    linalg.yield %r : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}
