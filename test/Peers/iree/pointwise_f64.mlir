// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp, tanh and a broadcast, in f64.
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @pointwise(%x: tensor<40x60xf64>, %scale: tensor<40xf64>) -> tensor<40x60xf64> {
  %empty = tensor.empty() : tensor<40x60xf64>
  %y = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scale : tensor<40x60xf64>, tensor<40xf64>) outs(%empty : tensor<40x60xf64>) {
  ^bb0(%a: f64, %s: f64, %o: f64):
    %e = math.exp %a : f64
    %t = math.tanh %s : f64
    %r = arith.mulf %e, %t : f64
    linalg.yield %r : f64
  } -> tensor<40x60xf64>
  return %y : tensor<40x60xf64>
}
