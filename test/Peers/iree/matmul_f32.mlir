// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that no tile divides.
func.func @matmul(%a: tensor<70x130xf32>, %b: tensor<130x90xf32>) -> tensor<70x90xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<70x90xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<70x90xf32>) -> tensor<70x90xf32>
  %c = linalg.matmul ins(%a, %b : tensor<70x130xf32>, tensor<130x90xf32>) outs(%start : tensor<70x90xf32>) -> tensor<70x90xf32>
  return %c : tensor<70x90xf32>
}
