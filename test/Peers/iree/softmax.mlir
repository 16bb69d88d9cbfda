// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @softmax(%x: tensor<12x1000xf32>) -> tensor<12x1000xf32> {
  %empty = tensor.empty() : tensor<12x1000xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<12x1000xf32>) outs(%empty : tensor<12x1000xf32>) -> tensor<12x1000xf32>
  return %y : tensor<12x1000xf32>
}
